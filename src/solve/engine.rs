//! The solver: PubGrub, asked for one row of each variable.
//!
//! Variables stand in the order of their importance and rows in the order of preference. PubGrub decides them in that
//! order whatever the conflicts so far, so its solution is the lexicographic optimum: the first variable gets the best
//! row that any solution has, then the second, and so on.
//!
//! A [`Selection`] and a [`Proof`] have no other maker than this module: whatever is called a solution was selected by
//! PubGrub, and whatever is called a conflict was derived by it.

use std::cell::Cell;
use std::sync::Arc;

use pubgrub::{
    Dependencies, DependencyConstraints, DependencyProvider, DerivationTree, External, PackageResolutionStatistics,
    PubGrubError, VersionSet,
};
use rustc_hash::FxHashSet;

use super::network::{Network, Var};
use super::rowset::{Row, RowSet};

/// What came of a network.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The best selection.
    Solved(Selection),
    /// There is none.
    Refuted(Proof),
    /// The step limit was reached before an answer.
    GaveUp,
}

/// A row for each variable, which PubGrub has selected.
#[derive(Debug, Clone)]
pub struct Selection(Vec<usize>);

impl Selection {
    /// The rows, by variable.
    pub fn rows(&self) -> &[usize] {
        &self.0
    }
}

/// Why there is no selection: what PubGrub's derivation rests on.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The premises at its leaves, ascending. They have no solution together, whatever the others say.
    pub premises: Vec<usize>,
    /// The variables at its leaves, ascending.
    pub variables: Vec<Var>,
}

/// How much work a request may be and was: decisions of the solver, what they had to be held against, and what else takes as
/// long.
#[derive(Debug, Clone)]
pub struct Steps {
    limit: u64,
    taken: Cell<u64>,
}

impl Default for Steps {
    fn default() -> Self {
        Steps::new(Self::LIMIT)
    }
}

impl Steps {
    /// What one question of a user's may take: some thirty times what the hardest of the real situations in
    /// `tests/scenarios` takes, and less than two seconds of what is hardest.
    pub const LIMIT: u64 = 300_000;

    /// At most `limit` steps.
    pub fn new(limit: u64) -> Self {
        Steps { limit, taken: Cell::new(0) }
    }

    /// The steps taken so far.
    pub fn taken(&self) -> u64 {
        self.taken.get()
    }

    /// Counts work that is no decision.
    pub fn add(&self, steps: u64) {
        self.taken.set(self.taken.get().saturating_add(steps));
    }

    /// The limit, once it was reached.
    pub fn spent(&self) -> Option<u64> {
        (self.taken.get() >= self.limit).then_some(self.limit)
    }
}

/// The best selection.
pub fn solve(network: &Network<'_>, steps: &Steps) -> Outcome {
    let provider = Provider { network, premises: network.premises().len() as u32, steps };
    match pubgrub::resolve(&provider, ROOT, 0u32) {
        Ok(selected) => {
            let mut rows = vec![0; network.count()];
            for (package, row) in selected {
                if let Some(var) = provider.variable(package) {
                    rows[var] = row as usize;
                }
            }
            Outcome::Solved(Selection(rows))
        }
        Err(PubGrubError::NoSolution(tree)) => Outcome::Refuted(provider.leaves(&tree)),
        Err(_) => Outcome::GaveUp,
    }
}

/// A package of PubGrub's: the root, then the premises, then the variables. Lower ones are decided first.
type Package = u32;

const ROOT: Package = 0;

/// A network in PubGrub's terms: rows are versions, what goes together are dependencies. The root depends on every
/// premise and on every variable.
struct Provider<'a> {
    network: &'a Network<'a>,
    premises: u32,
    steps: &'a Steps,
}

impl Provider<'_> {
    fn premise(&self, package: Package) -> Option<usize> {
        (1..=self.premises).contains(&package).then(|| package as usize - 1)
    }

    fn variable(&self, package: Package) -> Option<Var> {
        (package as usize).checked_sub(1 + self.premises as usize)
    }

    fn package(&self, of: Var) -> Package {
        1 + self.premises + of as Package
    }

    /// The leaves of a derivation. It is a graph whose nodes are met on many ways: each is read once.
    fn leaves(&self, tree: &DerivationTree<Package, RowSet, String>) -> Proof {
        let mut seen = FxHashSet::default();
        let mut packages = FxHashSet::default();
        let mut open: Vec<&DerivationTree<_, _, _>> = vec![tree];
        while let Some(tree) = open.pop() {
            match tree {
                DerivationTree::External(External::FromDependencyOf(from, _, to, _)) => {
                    packages.extend([*from, *to]);
                }
                DerivationTree::External(_) => {}
                DerivationTree::Derived(derived) => {
                    for cause in [&derived.cause1, &derived.cause2] {
                        if seen.insert(Arc::as_ptr(cause)) {
                            open.push(cause);
                        }
                    }
                }
            }
        }
        let mut packages: Vec<Package> = packages.into_iter().collect();
        packages.sort_unstable();
        Proof {
            premises: packages.iter().filter_map(|&package| self.premise(package)).collect(),
            variables: packages.iter().filter_map(|&package| self.variable(package)).collect(),
        }
    }

    /// What each row depends on; where two relations speak of one variable, both must hold.
    fn dependencies(&self, all: impl Iterator<Item = (Package, RowSet)>) -> Dependencies<Package, RowSet, String> {
        let mut constraints: Vec<(Package, RowSet)> = Vec::new();
        for (package, rows) in all {
            match constraints.iter_mut().rev().find(|(known, _)| *known == package) {
                Some((_, known)) => known.retain(&rows),
                None => constraints.push((package, rows)),
            }
        }
        Dependencies::Available(DependencyConstraints::from_iter(constraints))
    }
}

impl DependencyProvider for Provider<'_> {
    type P = Package;
    type V = Row;
    type VS = RowSet;
    type M = String;
    type Priority = u32;
    type Err = GaveUp;

    fn prioritize(&self, package: &Package, _: &RowSet, _: &PackageResolutionStatistics) -> u32 {
        u32::MAX - package
    }

    fn choose_version(&self, package: &Package, range: &RowSet) -> Result<Option<Row>, GaveUp> {
        let Some(var) = self.variable(*package) else { return Ok(range.has(0).then_some(0)) };
        self.steps.add(1);
        Ok(self.network.preferred(var, range).map(|row| row as Row))
    }

    fn get_dependencies(&self, package: &Package, row: &Row) -> Result<Dependencies<Package, RowSet, String>, GaveUp> {
        if *package == ROOT {
            let given = (1..=self.premises).map(|premise| (premise, RowSet::singleton(0)));
            let variables = (0..self.network.count()).map(|var| (self.package(var), self.network.rows(var).clone()));
            // Of each there is one.
            return Ok(Dependencies::Available(given.chain(variables).collect()));
        }
        if let Some(premise) = self.premise(*package) {
            let admits = self.network.premises()[premise].admits.iter();
            return Ok(self.dependencies(admits.map(|(var, rows)| (self.package(*var), rows.clone()))));
        }
        let var = self.variable(*package).expect("neither the root nor a premise");
        let partners = self.network.partners(var, *row as usize);
        self.steps.add(partners.len() as u64);
        Ok(self.dependencies(partners.map(|(to, rows)| (self.package(to), rows))))
    }

    fn should_cancel(&self) -> Result<(), GaveUp> {
        if self.steps.spent().is_none() { Ok(()) } else { Err(GaveUp) }
    }
}

/// The step limit was reached.
#[derive(Debug, thiserror::Error)]
#[error("the step limit was reached")]
struct GaveUp;

#[cfg(test)]
mod tests;
