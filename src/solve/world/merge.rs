//! Rows that nothing can tell apart, merged: PubGrub learns one row at a time.

use std::sync::Arc;

use pubgrub::VersionSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::solve::rowset::RowSet;

use super::relation::{Pairs, Relation};
use super::{Table, World};

impl World {
    /// The world of some rows with one row for each set of indistinguishable ones, and the row that leads each.
    pub(super) fn merge_equal_rows(&self, tables: &[RowSet]) -> (World, Vec<Vec<usize>>) {
        let mut leaders: Vec<Vec<usize>> = tables.iter().map(|rows| rows.rows().collect()).collect();
        let mut world = self.renumbered(&leaders);
        for table in 0..world.tables.len() {
            if let Some(kept) = world.without_repeats(table) {
                world.shrink(&mut leaders, &kept);
            }
        }
        loop {
            let kept: Vec<Vec<usize>> = (0..world.tables.len()).map(|table| world.distinct(table)).collect();
            if kept.iter().zip(&leaders).all(|(kept, leaders)| kept.len() == leaders.len()) {
                return (world, leaders);
            }
            world.shrink(&mut leaders, &kept);
        }
    }

    fn shrink(&mut self, leaders: &mut [Vec<usize>], kept: &[Vec<usize>]) {
        for (leaders, kept) in leaders.iter_mut().zip(kept) {
            *leaders = kept.iter().map(|&row| leaders[row]).collect();
        }
        *self = self.renumbered(kept);
    }

    /// The rows of all tables without those of `table` that only repeat a preferred one, if there are any.
    ///
    /// Each version has releases of its own, so no two versions are alike to the letter. But a version whose
    /// releases are what a newer one's are to everything else is never needed, nor are they.
    fn without_repeats(&self, table: Table) -> Option<Vec<Vec<usize>>> {
        let is_own = |relation: &&Relation| relation.from == table && relation.parts_its_targets();
        let owned: Vec<&Relation> = self.relations.iter().filter(is_own).collect();
        if owned.is_empty() {
            return None;
        }
        let mut keys: Vec<(Vec<RowSet>, Vec<Vec<usize>>)> =
            self.keys(table, &owned).into_iter().map(|key| (key, Vec::new())).collect();
        for relation in &owned {
            let mut kinds: FxHashMap<Vec<RowSet>, usize> = FxHashMap::default();
            let next = self.keys(relation.to, &[relation]).into_iter().map(|key| {
                let fresh = kinds.len();
                *kinds.entry(key).or_insert(fresh)
            });
            let kinds: Vec<usize> = next.collect();
            for (row, (_, parts)) in keys.iter_mut().enumerate() {
                let mut of_row: Vec<usize> = relation.partners(row).rows().map(|part| kinds[part]).collect();
                of_row.sort();
                of_row.dedup();
                parts.push(of_row);
            }
        }
        let mut seen = FxHashSet::default();
        let kept: Vec<usize> = (0..keys.len()).filter(|&row| seen.insert(&keys[row])).collect();
        let rows_of = |other: Table| {
            let rows = self.tables[other].rows();
            match owned.iter().find(|relation| relation.to == other) {
                Some(relation) => {
                    rows.filter(|&part| kept.iter().any(|&row| relation.partners(row).has(part))).collect()
                }
                None if other == table => kept.clone(),
                None => rows.collect(),
            }
        };
        (kept.len() < keys.len()).then(|| (0..self.tables.len()).map(rows_of).collect())
    }

    /// The most preferred of each set of rows of a table of which every relation says the same.
    fn distinct(&self, table: Table) -> Vec<usize> {
        let mut seen = FxHashSet::default();
        let keys = self.keys(table, &[]).into_iter().enumerate();
        keys.filter_map(|(row, key)| seen.insert(key).then_some(row)).collect()
    }

    /// What every relation but some says of each row of a table.
    fn keys(&self, table: Table, but: &[&Relation]) -> Vec<Vec<RowSet>> {
        let len = self.tables[table].rows().count();
        let mut keys: Vec<Vec<RowSet>> = vec![Vec::new(); len];
        for relation in self.relations.iter().filter(|one| but.iter().all(|other| !std::ptr::eq(*one, *other))) {
            if relation.from == table {
                for (row, key) in keys.iter_mut().enumerate() {
                    key.push(relation.partners(row).clone());
                }
            }
            if relation.to == table {
                let mut columns = vec![RowSet::empty(); len];
                for (from, &kind) in relation.pairs.kinds.iter().enumerate() {
                    for to in relation.pairs.partners[kind].rows() {
                        columns[to].insert(from);
                    }
                }
                for (key, column) in keys.iter_mut().zip(columns) {
                    key.push(column);
                }
            }
        }
        keys
    }

    /// The world with only these rows, numbered anew.
    fn renumbered(&self, kept: &[Vec<usize>]) -> World {
        let relations = self.relations.iter().map(|relation| {
            let new = |set: &RowSet| RowSet::filter(kept[relation.to].len(), |at| set.has(kept[relation.to][at]));
            let kinds = kept[relation.from].iter().map(|&row| relation.pairs.kinds[row]).collect();
            let pairs = Arc::new(Pairs { kinds, partners: relation.pairs.partners.iter().map(new).collect() });
            Relation { pairs, ..*relation }
        });
        let lens: Vec<usize> = kept.iter().map(Vec::len).collect();
        World { tables: lens.iter().map(|&len| RowSet::first(len)).collect(), relations: relations.collect(), lens }
    }
}
