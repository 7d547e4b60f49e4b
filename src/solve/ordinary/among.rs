//! Ordinary packages beside each other: what the code of one that is written or comes along needs of another one.

use crate::catalog::rows::{Asks, FoundIn};
use crate::solve::facts::Facts;
use crate::types::specifier::around;
use crate::types::{Constraint, Specifier, Version};

use super::{Locked, asked_by_all, brought, excludes, untold};

/// What is written and what comes along beside what is locked.
#[derive(Debug)]
pub struct Among<'c> {
    taken: Vec<Taken>,
    /// What the locked packages need of them.
    needed: Vec<&'c Asks>,
    /// Who is locked.
    locked: Vec<String>,
}

/// An ordinary package, and which release of it installers take.
#[derive(Debug, Clone)]
pub struct Taken {
    /// The package.
    pub package: String,
    /// What is asked for of it, by whoever does.
    pub asked: Specifier,
    /// The release, or the nearest to it that a row or the request names; none where rows say nothing of its code.
    version: Option<Version>,
}

impl<'c> Among<'c> {
    /// That of a target.
    pub fn of(facts: &Facts<'c>, locked: &[Locked], packages: &[(String, Specifier)]) -> Self {
        let needed = asked_by_all(facts, locked);
        let written = packages.iter().map(|(name, asked)| {
            let needs = needed.iter().filter(|row| *row.of == **name && !excludes(asked, &row.needs));
            let needs = needs.filter_map(|row| Specifier::parse(&row.needs).ok());
            (name.clone(), needs.fold(asked.clone(), |all, one| all.and(&one)))
        });
        let all = written.chain(brought(facts, locked, packages));
        let taken = all.map(|(package, asked)| {
            let wants = facts.wants(&package);
            let told = wants.rows().iter().filter(|(_, row)| row.found_in == FoundIn::Code);
            Taken { version: newest(told, &asked), package, asked }
        });
        Among { taken: taken.collect(), needed, locked: locked.iter().map(|(name, _)| name.clone()).collect() }
    }

    /// What the code of one of them needs of another, where no locked package needs as much of it.
    pub fn needed_of<'f>(&self, facts: &Facts<'f>, name: &str) -> Vec<(&'f Asks, &Taken)> {
        let mut all = Vec::new();
        for one in &self.taken {
            let Some(version) = &one.version else { continue };
            let rows = untold(facts, &one.package, version).into_iter();
            all.extend(rows.filter(|row| *row.of == *name && !self.is_needed(row)).map(|row| (row, one)));
        }
        all
    }

    /// What exports hold one of them to because of another that needs this locked package, or none of them.
    pub fn held_by<'f>(&self, facts: &Facts<'f>, package: &str) -> Vec<&'f Asks> {
        let needs = |one: &Taken, name: &str| facts.wants(&one.package).rows().iter().any(|(_, row)| *row.of == *name);
        let is_of = |name: &String| *name != "python" && *name != "pip";
        let needs_it = |one: &Taken| {
            needs(one, package) || !self.locked.iter().filter(|name| is_of(name)).any(|name| needs(one, name))
        };
        let all = self.taken.iter().flat_map(|one| self.needed_of(facts, &one.package)).chain(self.imported(facts));
        all.filter(|(_, by)| needs_it(by)).map(|(row, _)| row).collect()
    }

    /// What the code of one of them imports that nothing asks for, of what nothing is solved with.
    fn imported<'f>(&self, facts: &Facts<'f>) -> Vec<(&'f Asks, &Taken)> {
        let is_there = |name: &str| self.taken.iter().any(|one| one.package == name);
        let mut all = Vec::new();
        for one in &self.taken {
            let Some(version) = &one.version else { continue };
            let rows = untold(facts, &one.package, version).into_iter().filter(|row| row.imports);
            let rows = rows.filter(|row| !facts.is_solved(&row.of) && !is_there(&row.of) && !self.is_needed(row));
            all.extend(rows.map(|row| (row, one)));
        }
        all
    }

    /// Whether a locked package needs that too.
    fn is_needed(&self, asks: &Asks) -> bool {
        let Ok(needs) = Specifier::parse(&asks.needs) else { return false };
        let of_it = self.needed.iter().filter(|row| row.of == asks.of);
        of_it.filter_map(|row| Specifier::parse(&row.needs).ok()).any(|known| known.clone().and(&needs) == known)
    }
}

/// The newest release that is asked for, among those that rows and the request name, and those beside them.
pub fn newest<'r, 'c: 'r>(
    rows: impl Iterator<Item = &'r (Constraint, &'c Asks)>,
    asked: &Specifier,
) -> Option<Version> {
    let bounds: Vec<Version> = rows.flat_map(|(range, _)| range.comparisons()).filter_map(|one| one.version).collect();
    let wanted = asked.range().filter(|_| !bounds.is_empty())?;
    let tried = bounds.into_iter().chain(asked.bounds()).flat_map(around);
    tried.filter(|version| wanted.admits(version)).max()
}
