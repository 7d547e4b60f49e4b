//! What two packages ask of each other.

use pubgrub::VersionSet;
use rustc_hash::FxHashMap;

use super::Problem;
use super::package::Package;
use crate::solve::rowset::RowSet;
use crate::types::{CpuArch, Specifier, Version};

/// Two packages, and which versions of each go with those of the other. All releases of a version ask for the same.
#[derive(Debug)]
pub struct Together {
    /// For each version of the one the versions of the other that it asks for; none where it asks for nothing.
    asks: Vec<Option<RowSet>>,
    /// The reverse.
    is_asked: Vec<Option<RowSet>>,
    /// The pre-releases of the other that some version of the one asks for by their name.
    named: RowSet,
    /// The reverse.
    is_named: RowSet,
}

impl Together {
    /// On some processors.
    pub(super) fn new<'c>(
        problem: &Problem<'c>,
        (one, other): (&Package<'c>, &Package<'c>),
        arches: &[CpuArch],
    ) -> Self {
        let asked = |one, other| asked_of(problem, one, other, arches);
        let (asks, is_asked) = (asked(one, other), asked(other, one));
        let (named, is_named) = (named(other, &asks), named(one, &is_asked));
        Together { asks, is_asked, named, is_named }
    }

    /// Whether neither asks anything of the other.
    pub fn is_any(&self) -> bool {
        self.asks.iter().chain(&self.is_asked).all(Option::is_none)
    }

    /// The same beside what the spec admits of each by itself. Installers take a pre-release that nothing written admits
    /// only where what is installed asks for it by its name.
    pub fn with_written(&self, version: usize, of_one: &RowSet, of_other: &RowSet) -> RowSet {
        let mut rows = self.with(version);
        if self.asks[version].is_none() {
            rows.subtract(&self.named.minus(of_other));
        }
        if self.is_named.has(version) && !of_one.has(version) {
            rows = rows.filtered(&|row| self.is_asked[row].is_some());
        }
        rows
    }

    /// The pre-releases of the other and of the one that are asked for by their names.
    pub fn named(&self) -> (&RowSet, &RowSet) {
        (&self.named, &self.is_named)
    }

    /// The versions of the other that go with a version of the one.
    pub fn with(&self, version: usize) -> RowSet {
        let admits = |row: usize| self.is_asked[row].as_ref().is_none_or(|admitted| admitted.has(version));
        let rows = RowSet::filter(self.is_asked.len(), admits);
        match &self.asks[version] {
            Some(admitted) => rows.intersection(admitted),
            None => rows,
        }
    }
}

/// The versions of another package that each version of a package asks for, itself or through what it pins, on some of the
/// processors. Many ask for the same: each range is read once.
fn asked_of<'c>(
    problem: &Problem<'c>,
    package: &Package<'c>,
    other: &Package<'c>,
    arches: &[CpuArch],
) -> Vec<Option<RowSet>> {
    let mut known: FxHashMap<&str, RowSet> = FxHashMap::default();
    let mut of_version = Vec::new();
    for releases in &package.of_version {
        let row = releases.rows().next().map(|row| package.releases[row]);
        let rows = row.map_or_else(Vec::new, |row| problem.with_pinned(row, arches));
        let always = rows.iter().flat_map(|row| arches.iter().flat_map(|arch| row.asked(*arch)));
        let asked = always.chain(row.iter().flat_map(|row| row.asked_by_extra()));
        let mut admitted: Option<RowSet> = None;
        for (_, range) in asked.filter(|(of, _)| *of == other.name) {
            let rows = known.entry(range).or_insert_with(|| admitted_by(range, &other.versions));
            admitted = Some(admitted.map_or(rows.clone(), |before| before.intersection(rows)));
        }
        of_version.push(admitted);
    }
    of_version
}

/// The pre-releases among the versions of a package that somebody asks for: a range admits one only where it names one.
fn named(package: &Package<'_>, asked: &[Option<RowSet>]) -> RowSet {
    let mut all = RowSet::default();
    asked.iter().flatten().for_each(|rows| all.add(rows));
    all.filtered(&|row| package.versions[row].is_prerelease())
}

/// The versions that a range admits; all where it is none that pip would read.
fn admitted_by(range: &str, versions: &[&Version]) -> RowSet {
    match Specifier::parse(range) {
        Ok(range) => RowSet::filter(versions.len(), |row| range.admits(versions[row])),
        Err(_) => RowSet::first(versions.len()),
    }
}
