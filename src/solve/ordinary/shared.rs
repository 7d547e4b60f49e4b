//! Packages that install one module between them: an environment holds one of them, and no installer says so.

use crate::catalog::rows::{Asks, FoundIn, SharedModule};
use crate::solve::facts::Facts;
use crate::types::{Constraint, Specifier, Version};

use super::among::newest;
use super::{Locked, asked_by, python_of};

/// A second package with the module of a locked one.
#[derive(Debug)]
pub struct Doubled<'c> {
    /// The fact.
    pub row: &'c SharedModule,
    /// The locked one.
    pub locked: Locked,
    /// The other.
    pub other: &'c str,
    /// Through whom it comes.
    pub by: By<'c>,
}

/// Who asks for a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By<'c> {
    /// `[packages]`.
    Written,
    /// It is locked, too.
    Locked(Version),
    /// A locked package, which requires it.
    Companion(Locked),
    /// A package of `[packages]`, which requires it, and where that is told.
    Ordinary(String, &'c Asks),
}

/// Every such pair beside what is locked.
pub fn doubled<'c>(facts: &Facts<'c>, locked: &[Locked], packages: &[(String, Specifier)]) -> Vec<Doubled<'c>> {
    let mut found = Vec::new();
    for row in facts.catalog.shared_modules.iter() {
        let holds_it = |package: &str| row.packages.iter().any(|one| **one == *package);
        for one in locked.iter().filter(|(package, _)| holds_it(package)) {
            for other in row.packages.iter().filter(|other| ***other != *one.0) {
                let other: &'c str = other;
                let by = by(facts, locked, packages, other);
                // Of two that are locked it is told once.
                let is_told = matches!(by, Some(By::Locked(_))) && *other < *one.0;
                if let Some(by) = by.filter(|_| !is_told) {
                    found.push(Doubled { row, locked: one.clone(), other, by });
                }
            }
        }
    }
    found
}

/// Through whom a package comes into the environment; none where nobody is known to ask for it.
fn by<'c>(facts: &Facts<'c>, locked: &[Locked], packages: &[(String, Specifier)], other: &str) -> Option<By<'c>> {
    if packages.iter().any(|(name, _)| *name == *other) {
        return Some(By::Written);
    }
    if let Some((_, version)) = locked.iter().find(|(package, _)| *package == *other) {
        return Some(By::Locked(*version));
    }
    let asks = |row: &Asks| row.found_in == FoundIn::Metadata && *row.of == *other;
    let python = python_of(locked.iter());
    let requires = |one: &&Locked| asked_by(facts, python, one).into_iter().any(asks);
    if let Some(one) = locked.iter().find(requires) {
        return Some(By::Companion(one.clone()));
    }
    let needs = |(name, asked): &(String, Specifier)| {
        let wants = facts.wants_on(python, name);
        let newest = newest(wants.with_extras(asked).filter(|(_, row)| asks(row)), asked);
        let takes = |range: &Constraint| range.is_any() || newest.is_some_and(|newest| range.admits(&newest));
        let row = wants.with_extras(asked).find(|(range, row)| asks(row) && takes(range));
        row.map(|(_, row)| By::Ordinary(name.clone(), row))
    };
    packages.iter().find_map(needs)
}
