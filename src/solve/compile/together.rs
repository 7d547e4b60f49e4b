//! What two packages ask of each other.

use crate::solve::problem::Package;
use crate::solve::rowset::RowSet;
use crate::types::{CpuArch, Specifier};

/// Two packages, and what versions of each ask for. All releases of a version ask for the same.
pub(super) struct Together<'c> {
    one: &'c Package<'c>,
    other: &'c Package<'c>,
    /// For each version of the one what it asks for of the other, and the reverse.
    asked: [Vec<Vec<Specifier>>; 2],
}

impl<'c> Together<'c> {
    /// On some processors.
    pub(super) fn new(one: &'c Package<'c>, other: &'c Package<'c>, arches: &[CpuArch]) -> Self {
        let asked = [asked_of(one, other.name, arches), asked_of(other, one.name, arches)];
        Together { one, other, asked }
    }

    /// Whether neither asks anything of the other.
    pub(super) fn is_any(&self) -> bool {
        self.asked.iter().flatten().all(Vec::is_empty)
    }

    /// The versions of the other that go with a version of the one.
    pub(super) fn with(&self, version: usize) -> RowSet {
        let [asks, is_asked] = &self.asked;
        let is = self.one.versions[version];
        RowSet::filter(self.other.versions.len(), |row| {
            asks[version].iter().all(|range| range.admits(self.other.versions[row]))
                && is_asked[row].iter().all(|range| range.admits(is))
        })
    }
}

/// What each version of a package asks for of another one, on some of the processors.
fn asked_of(package: &Package<'_>, name: &str, arches: &[CpuArch]) -> Vec<Vec<Specifier>> {
    let of_version = |releases: &RowSet| -> Vec<Specifier> {
        let Some(row) = releases.rows().next().map(|row| package.releases[row]) else { return Vec::new() };
        let asked = arches.iter().flat_map(|arch| row.asked(*arch)).filter(|(of, _)| *of == name);
        let mut ranges: Vec<&str> = asked.map(|(_, range)| range).collect();
        ranges.dedup();
        ranges.into_iter().filter_map(|range| Specifier::parse(range).ok()).collect()
    };
    package.of_version.iter().map(of_version).collect()
}
