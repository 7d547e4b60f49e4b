//! A closed world: finite tables of rows and the pairs of rows that go together. Asking it for the best
//! selection of one row from each table is all the solving there is.
//!
//! Tables stand in the order of their importance and rows in the order of preference, so the answer is the
//! lexicographic optimum: the first table gets the best row any answer has, then the second, and so on.
//!
//! Before solving, rows that no relation can tell apart are merged into one class led by the most preferred:
//! PubGrub learns one row at a time, so its work depends on the number of distinguishable rows only.

mod merge;
mod relation;
mod search;
mod steps;

use std::hash::Hash;
use std::sync::Arc;

use pubgrub::VersionSet;
use rustc_hash::FxHashMap;

use super::rowset::RowSet;

pub use relation::{Kinds, Recall};
pub use steps::{Outcome, Steps};

use relation::{Pairs, Relation};

/// A table's position: the lower, the earlier it is decided.
pub type Table = usize;

/// Tables and relations.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// For each table, the rows that may be chosen.
    tables: Vec<RowSet>,
    relations: Vec<Relation>,
    /// For each table, the number of its rows.
    lens: Vec<usize>,
}

impl World {
    /// Adds a table of `len` rows.
    pub fn table(&mut self, len: usize) -> Table {
        self.tables.push(RowSet::first(len));
        self.lens.push(len);
        self.tables.len() - 1
    }

    /// Keeps only the rows of `table` that `keep` holds for.
    pub fn keep(&mut self, table: Table, keep: impl Fn(usize) -> bool) {
        self.tables[table] = self.tables[table].filtered(&keep);
    }

    /// The rows of `table` that may still be chosen.
    pub fn rows(&self, table: Table) -> &RowSet {
        &self.tables[table]
    }

    /// Number of tables.
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// Whether there is nothing to choose.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Only pairs for which `fits` holds go together.
    pub fn relate(&mut self, a: Table, b: Table, fits: impl Fn(usize, usize) -> bool) {
        let fits = |row: usize, other: usize| if a < b { fits(row, other) } else { fits(other, row) };
        self.add(a.min(b), a.max(b), &mut |row, others, known| {
            known.push(others.filtered(&|other| fits(row, other)));
            known.len() - 1
        });
    }

    /// The same as [`World::relate`] where many rows of `b`, the later table, fit the same rows of `a`: each row of `a`
    /// is asked about one row of each `kind` only.
    pub fn relate_to_kinds<K: Hash + Eq>(
        &mut self,
        a: Table,
        b: Table,
        kind: impl Fn(usize) -> K,
        fits: impl Fn(usize, usize) -> bool,
    ) {
        debug_assert!(a < b, "the later table has the kinds");
        let kinds = Kinds::of(self.tables[b].rows(), kind);
        self.add(a, b, &mut |row, others, known| {
            known.push(others.filtered(&kinds.judged(|other| fits(row, other))));
            known.len() - 1
        });
    }

    /// The same as [`World::relate`] where many rows of `a`, the earlier table, fit the same rows of `b`: what fits is
    /// worked out once for each `kind` of row.
    pub fn relate_kinds<K: Hash + Eq, F: Fn(usize) -> bool>(
        &mut self,
        a: Table,
        b: Table,
        kind: impl Fn(usize) -> K,
        fits: impl Fn(usize) -> F,
    ) {
        debug_assert!(a < b, "the earlier table has the kinds");
        let mut kinds: FxHashMap<K, usize> = FxHashMap::default();
        self.add(a, b, &mut |row, others, known| {
            *kinds.entry(kind(row)).or_insert_with(|| {
                known.push(others.filtered(&fits(row)));
                known.len() - 1
            })
        });
    }

    /// Each row of `b` goes together with one row of `a`, the earlier table, if with any.
    pub fn relate_parts(&mut self, a: Table, b: Table, whole: impl Fn(usize) -> Option<usize>) {
        debug_assert!(a < b, "the wholes come before their parts");
        let mut parts: FxHashMap<usize, RowSet> = FxHashMap::default();
        for part in self.tables[b].rows() {
            if let Some(whole) = whole(part) {
                parts.entry(whole).or_insert_with(RowSet::empty).insert(part);
            }
        }
        self.add(a, b, &mut |row, _, known| {
            known.push(parts.remove(&row).unwrap_or_else(RowSet::empty));
            known.len() - 1
        });
    }

    /// Adds a relation, and leaves out at once what it leaves without a partner: there is less to relate next.
    /// `kind` tells for a row of `from`, and the rows of `to` that are left, which of the sets found so far are its
    /// partners, after adding them if need be.
    fn add(&mut self, from: Table, to: Table, kind: &mut dyn FnMut(usize, &RowSet, &mut Vec<RowSet>) -> usize) {
        if self.is_hopeless() {
            return;
        }
        let mut pairs = Pairs { kinds: vec![0; self.lens[from]], partners: Vec::new() };
        for row in self.tables[from].rows() {
            pairs.kinds[row] = kind(row, &self.tables[to], &mut pairs.partners);
        }
        self.push(Relation { from, to, pairs: Arc::new(pairs) });
    }

    fn push(&mut self, relation: Relation) {
        relation.narrow(&mut self.tables);
        self.relations.push(relation);
    }

    /// A relation that several questions have in common. `relate` adds it where it is not known yet.
    pub fn recall(&mut self, from: Table, to: Table, known: &Recall, relate: &mut dyn FnMut(&mut World)) {
        if self.is_hopeless() {
            return;
        }
        if let Some(pairs) = known.known() {
            return self.push(Relation { from, to, pairs: pairs.clone() });
        }
        if known.is_first() {
            return relate(self);
        }
        let mut whole = World {
            tables: self.lens.iter().map(|&len| RowSet::first(len)).collect(),
            relations: Vec::new(),
            lens: self.lens.clone(),
        };
        relate(&mut whole);
        if let Some(relation) = whole.relations.pop() {
            known.keep(relation.pairs.clone());
            self.push(relation);
        }
    }

    /// Whether some table has no row left, so that nothing can be chosen.
    pub fn is_hopeless(&self) -> bool {
        self.tables.iter().any(RowSet::is_empty)
    }

    /// Whether a selection satisfies every relation and takes only rows that may be chosen.
    pub fn admits(&self, choice: &[usize]) -> bool {
        self.tables.iter().zip(choice).all(|(rows, &row)| rows.has(row))
            && self.relations.iter().all(|relation| relation.partners(choice[relation.from]).has(choice[relation.to]))
    }

    /// The rows of a table that go together with what is chosen in all others but some.
    pub fn beside(&self, table: Table, choice: &[usize], but: &[Table]) -> Vec<usize> {
        let related = |relation: &&Relation| match table {
            _ if relation.from == table => !but.contains(&relation.to),
            _ => relation.to == table && !but.contains(&relation.from),
        };
        let related: Vec<&Relation> = self.relations.iter().filter(related).collect();
        let fits = |row: usize, relation: &Relation| match relation.from == table {
            true => relation.partners(row).has(choice[relation.to]),
            false => relation.partners(choice[relation.from]).has(row),
        };
        self.tables[table].rows().filter(|&row| related.iter().all(|relation| fits(row, relation))).collect()
    }
}

#[cfg(test)]
mod tests;
