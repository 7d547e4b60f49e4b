//! What two packages ask of each other.

use crate::solve::problem::Package;
use crate::solve::rowset::RowSet;
use crate::types::{Constraint, CpuArch, Version};

/// Two packages, and what versions of each ask for. All releases of a version ask for the same.
pub(super) struct Together<'c> {
    one: &'c Package<'c>,
    other: &'c Package<'c>,
    /// For each version of the one what it asks for of the other, and the reverse.
    asked: [Vec<Vec<Asked>>; 2],
}

/// What is asked for, as metadata means it: `==0.0.31` is no prefix, 0.0.31.post1 is another release.
struct Asked {
    range: Constraint,
    exactly: Option<Version>,
}

impl Asked {
    fn parse(text: &str) -> Option<Asked> {
        let exactly = text.strip_prefix("==").and_then(|version| Version::parse(version).ok());
        Some(Asked { range: Constraint::parse(text).ok()?, exactly })
    }

    fn admits(&self, version: &Version) -> bool {
        self.exactly.is_none_or(|exactly| exactly == *version) && self.range.admits(version)
    }
}

impl<'c> Together<'c> {
    /// On some processors.
    pub(super) fn new(one: &'c Package<'c>, other: &'c Package<'c>, arches: &[CpuArch]) -> Self {
        let of = |package: &'c Package<'c>, name: &str| -> Vec<Vec<Asked>> {
            let asked = requirements(package, arches).into_iter();
            asked
                .map(|all| {
                    all.into_iter().filter(|(of, _)| *of == name).filter_map(|(_, range)| Asked::parse(range)).collect()
                })
                .collect()
        };
        let asked = [of(one, other.name), of(other, one.name)];
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

/// What each version of a package asks for of others, on some of the processors.
fn requirements<'c>(package: &'c Package<'c>, arches: &[CpuArch]) -> Vec<Vec<(&'c str, &'c str)>> {
    let of_version = |releases: &RowSet| {
        let Some(row) = releases.rows().next().map(|row| package.releases[row]) else { return Vec::new() };
        let mut asked: Vec<(&str, &str)> = arches.iter().flat_map(|arch| row.asked(*arch)).collect();
        asked.dedup();
        asked
    };
    package.of_version.iter().map(of_version).collect()
}
