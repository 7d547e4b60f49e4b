//! The rows of the catalog that a lock rests on: the same for each of its targets and every host, so looked up once.

use std::sync::OnceLock;

use crate::catalog::{Catalog, FullRow};
use crate::lock::{FactLock, Lock, TargetLock};

/// A lock with the catalog that explains it: what hosts are held against.
#[derive(Debug)]
pub struct Against<'a> {
    /// The lock, which alone decides.
    pub lock: &'a Lock,
    /// What explains: names, last branches, limits of compilers.
    pub catalog: &'a Catalog,
    /// By the place of the fact in the lock.
    rows: OnceLock<Vec<(usize, FullRow)>>,
}

impl<'a> Against<'a> {
    /// Of this lock and catalog.
    pub fn new(lock: &'a Lock, catalog: &'a Catalog) -> Self {
        Against { lock, catalog, rows: OnceLock::new() }
    }

    /// The rows of builds and packages, each with the fact that names it; only those that still are as they were locked.
    fn rows(&self) -> impl Iterator<Item = (&'a FactLock, &FullRow)> {
        let rows = self.rows.get_or_init(|| {
            let of_stack = |fact: &FactLock| fact.supports.iter().any(|key| key.starts_with(STACK)) || is_build(fact);
            let facts = self.lock.fact.iter().enumerate().filter(|(_, fact)| of_stack(fact));
            let row = |fact: &FactLock| self.catalog.row(&fact.id).filter(|row| row.fact.digest == fact.digest);
            facts.filter_map(|(at, fact)| Some((at, row(fact)?))).collect()
        });
        rows.iter().map(|(at, row)| (&self.lock.fact[*at], row))
    }

    /// A target's builds by package and version, each with the row that the lock rests on.
    pub fn builds(&self, target: &'a TargetLock) -> Vec<(&'a str, &'a str, &FullRow)> {
        let stack = self.lock.stack_of(target);
        let builds = self.rows().filter_map(|(fact, row)| {
            let (package, rest) = fact.id.split_once('-').filter(|_| is_build(fact))?;
            let (package, locked) = stack.get_key_value(package)?;
            let (version, variant) = locked.split_once('+').unwrap_or((locked, ""));
            let ours = rest.starts_with(&format!("{version}-{variant}")) && rest.ends_with(&*target.arch);
            ours.then_some((package.as_str(), version, row))
        });
        builds.collect()
    }

    /// A target's other packages, likewise.
    pub fn companions(&self, target: &'a TargetLock) -> Vec<(&'a str, &'a str, &FullRow)> {
        let stack = self.lock.stack_of(target);
        let companions = self.rows().filter(|(_, row)| row.kind == "companion").flat_map(|(fact, row)| {
            let packages = fact.supports.iter().filter_map(|key| key.strip_prefix(STACK));
            packages.filter_map(move |package| {
                let (package, locked) = stack.get_key_value(package)?;
                let version = row.says["version"].as_str()?;
                let ours =
                    row.says["package"] == package.as_str() && locked.split('+').next() == version.split('+').next();
                ours.then_some((package.as_str(), locked.as_str(), row))
            })
        });
        companions.collect()
    }
}

/// What the keys of [stack] begin with.
const STACK: &str = "stack.";

fn is_build(fact: &FactLock) -> bool {
    fact.id.contains("-linux-")
}
