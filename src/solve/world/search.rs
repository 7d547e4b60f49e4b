//! The best selection: straight from propagation where nothing must be taken back, else from PubGrub.

use pubgrub::{Dependencies, DependencyProvider, PackageResolutionStatistics, PubGrubError, VersionSet};

use crate::solve::rowset::{Row, RowSet};

use super::relation::Relation;
use super::{Outcome, Steps, Table, World};

impl World {
    /// The best selection.
    pub fn solve(&self, steps: &Steps) -> Outcome {
        let Some(tables) = self.supported(self.tables.clone()) else { return Outcome::Nothing };
        if let Some(choice) = self.straight(tables.clone(), steps) {
            return Outcome::Chosen(choice);
        }
        let (small, leaders) = self.merge_equal_rows(&tables);
        small.solve_as_is(steps, |table, class| leaders[table][class])
    }

    /// The best selection where nothing must be taken back to find it, as it mostly is: from each table the first row
    /// that leaves every other table some row that has partners everywhere.
    fn straight(&self, mut tables: Vec<RowSet>, steps: &Steps) -> Option<Vec<usize>> {
        let mut choice = Vec::new();
        while choice.len() < tables.len() {
            if steps.spent().is_some() {
                return None;
            }
            steps.add(1);
            let row = tables[choice.len()].rows().next()?;
            let mut tried = tables.clone();
            tried[choice.len()] = RowSet::singleton(row as Row);
            match self.supported(tried) {
                Some(left) => {
                    tables = left;
                    choice.push(row);
                }
                None => {
                    tables[choice.len()].remove(row);
                    tables = self.supported(tables)?;
                }
            }
        }
        Some(choice)
    }

    /// The rows that have a partner in every relation, which has one in turn, and so on; none if a table has none.
    fn supported(&self, mut tables: Vec<RowSet>) -> Option<Vec<RowSet>> {
        // Only where a table has become smaller since a relation was looked at, there is anything new.
        let mut sizes: Vec<(usize, usize)> = vec![(usize::MAX, usize::MAX); self.relations.len()];
        let mut narrowed = true;
        while narrowed {
            if tables.iter().any(RowSet::is_empty) {
                return None;
            }
            narrowed = false;
            for (relation, seen) in self.relations.iter().zip(&mut sizes) {
                let size = |tables: &[RowSet]| (tables[relation.from].len(), tables[relation.to].len());
                if size(&tables) != *seen {
                    narrowed |= relation.narrow(&mut tables);
                    *seen = size(&tables);
                }
            }
        }
        Some(tables)
    }

    /// The best selection without merging rows first: the same answer, more slowly. For tests.
    pub fn solve_unmerged(&self, steps: &Steps) -> Outcome {
        if self.is_hopeless() {
            return Outcome::Nothing;
        }
        self.solve_as_is(steps, |_, row| row)
    }

    fn solve_as_is(&self, steps: &Steps, original: impl Fn(Table, usize) -> usize) -> Outcome {
        let mut requires: Vec<Vec<(usize, &Relation)>> = vec![Vec::new(); self.tables.len()];
        for relation in &self.relations {
            requires[relation.from].push((relation.to, relation));
        }
        let provider = Provider { world: self, requires, steps };
        match pubgrub::resolve(&provider, ROOT, 0u32) {
            Ok(selected) => {
                let mut choice = vec![0; self.tables.len()];
                for (package, row) in selected {
                    if package != ROOT {
                        choice[package as usize] = original(package as usize, row as usize);
                    }
                }
                Outcome::Chosen(choice)
            }
            Err(PubGrubError::NoSolution(_)) => Outcome::Nothing,
            Err(_) => Outcome::GaveUp,
        }
    }
}

const ROOT: u32 = u32::MAX;

/// The world in PubGrub's terms: tables are packages, rows are versions, relations are dependencies.
struct Provider<'a> {
    world: &'a World,
    requires: Vec<Vec<(usize, &'a Relation)>>,
    steps: &'a Steps,
}

impl DependencyProvider for Provider<'_> {
    type P = u32;
    type V = Row;
    type VS = RowSet;
    type M = String;
    type Priority = u32;
    type Err = GaveUp;

    /// Earlier tables first, whatever the conflicts so far: this is what makes the answer the optimum.
    fn prioritize(&self, package: &u32, _: &RowSet, _: &PackageResolutionStatistics) -> u32 {
        u32::MAX - package.wrapping_add(1)
    }

    fn choose_version(&self, package: &u32, range: &RowSet) -> Result<Option<Row>, GaveUp> {
        self.steps.add(1);
        if *package == ROOT {
            return Ok(range.has(0).then_some(0));
        }
        Ok(self.world.tables[*package as usize].rows().find(|&row| range.has(row)).map(|row| row as Row))
    }

    fn get_dependencies(&self, package: &u32, row: &Row) -> Result<Dependencies<u32, RowSet, String>, GaveUp> {
        let dependencies = if *package == ROOT {
            self.world.tables.iter().enumerate().map(|(table, rows)| (table as u32, rows.clone())).collect()
        } else {
            self.requires[*package as usize]
                .iter()
                .map(|(to, relation)| (*to as u32, relation.partners(*row as usize).clone()))
                .collect()
        };
        Ok(Dependencies::Available(dependencies))
    }

    fn should_cancel(&self) -> Result<(), GaveUp> {
        if self.steps.spent().is_none() { Ok(()) } else { Err(GaveUp) }
    }
}

/// The step limit was reached.
#[derive(Debug, thiserror::Error)]
#[error("the step limit was reached")]
struct GaveUp;
