//! Which rows of two tables go together, and rows that are alike.

use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use pubgrub::VersionSet;
use rustc_hash::FxHashMap;

use crate::solve::rowset::RowSet;

use super::Table;

/// Which rows of `to` go together with each row of `from`.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    pub(super) from: Table,
    pub(super) to: Table,
    pub(super) pairs: Arc<Pairs>,
}

/// The partners of rows.
#[derive(Debug)]
pub(super) struct Pairs {
    /// For each row, which of `partners` are its own. Many rows have the same.
    pub(super) kinds: Vec<usize>,
    pub(super) partners: Vec<RowSet>,
}

/// The pairs that several questions have in common. Who asks first works out only what is left to choose from; for the
/// second they are worked out whole, and kept.
#[derive(Debug, Default)]
pub struct Recall {
    asked: AtomicBool,
    pairs: OnceLock<Arc<Pairs>>,
}

impl Recall {
    /// The pairs, if they are known.
    pub(super) fn known(&self) -> Option<&Arc<Pairs>> {
        self.pairs.get()
    }

    /// Whether nobody has asked before.
    pub(super) fn is_first(&self) -> bool {
        !self.asked.swap(true, Ordering::Relaxed)
    }

    /// Keeps the pairs of all rows.
    pub(super) fn keep(&self, pairs: Arc<Pairs>) {
        // Who came first had the same.
        let _ = self.pairs.set(pairs);
    }
}

impl Relation {
    /// The rows of `to` that go together with a row of `from`.
    pub(super) fn partners(&self, row: usize) -> &RowSet {
        &self.pairs.partners[self.pairs.kinds[row]]
    }

    /// Leaves out the rows of two tables that have no partner in the other; whether there were any.
    pub(super) fn narrow(&self, tables: &mut [RowSet]) -> bool {
        let (mut from, mut to) = (RowSet::empty(), RowSet::empty());
        let (mut seen, mut paired) = (RowSet::empty(), RowSet::empty());
        for row in tables[self.from].rows() {
            let kind = self.pairs.kinds[row];
            if !seen.has(kind) {
                seen.insert(kind);
                if to.add_common(&self.pairs.partners[kind], &tables[self.to]) {
                    paired.insert(kind);
                }
            }
            if paired.has(kind) {
                from.insert(row);
            }
        }
        let narrowed = from != tables[self.from] || to != tables[self.to];
        (tables[self.from], tables[self.to]) = (from, to);
        narrowed
    }

    /// Whether no row of `to` goes together with two rows of `from`.
    pub(super) fn parts_its_targets(&self) -> bool {
        let mut seen = RowSet::empty();
        let mut fresh = |row: usize| {
            !seen.has(row) && {
                seen.insert(row);
                true
            }
        };
        self.pairs.kinds.iter().all(|&kind| self.pairs.partners[kind].rows().all(&mut fresh))
    }
}

/// Rows that are alike, so that one of them can be judged for all.
pub struct Kinds {
    of_row: Vec<usize>,
    firsts: Vec<usize>,
}

impl Kinds {
    /// Rows in ascending order by their kinds.
    pub fn of<K: Hash + Eq>(rows: impl Iterator<Item = usize>, kind: impl Fn(usize) -> K) -> Kinds {
        let mut known: FxHashMap<K, usize> = FxHashMap::default();
        let mut kinds = Kinds { of_row: Vec::new(), firsts: Vec::new() };
        for row in rows {
            let fresh = known.len();
            let kind = *known.entry(kind(row)).or_insert(fresh);
            if kind == fresh {
                kinds.firsts.push(row);
            }
            kinds.of_row.resize(row, 0);
            kinds.of_row.push(kind);
        }
        kinds
    }

    /// What holds for the first row of each kind holds for all.
    pub fn judged<F: Fn(usize) -> bool>(&self, holds: F) -> impl Fn(usize) -> bool + use<'_, F> {
        let of_kind: Vec<bool> = self.firsts.iter().map(|&first| holds(first)).collect();
        move |row| of_kind[self.of_row[row]]
    }
}
