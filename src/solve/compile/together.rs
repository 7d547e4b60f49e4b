//! What two packages ask of each other, and of a third that nobody asked for: it is installed with them all the same.

use std::collections::HashSet;

use crate::solve::ordinary;
use crate::solve::problem::Package;
use crate::solve::rowset::RowSet;
use crate::types::{Constraint, CpuArch, Specifier, Version};

/// Two packages, and what versions of each ask for. All releases of a version ask for the same.
pub(super) struct Together<'c> {
    one: &'c Package<'c>,
    other: &'c Package<'c>,
    /// For each version of the one what it asks for of the other, and the reverse.
    asked: [Vec<Vec<Asked>>; 2],
    thirds: Thirds,
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
    /// On some processors, in a request that names some packages.
    pub(super) fn new(
        one: &'c Package<'c>,
        other: &'c Package<'c>,
        arches: &[CpuArch],
        is_named: &dyn Fn(&str) -> bool,
    ) -> Self {
        let of = |package: &'c Package<'c>, name: &str| -> Vec<Vec<Asked>> {
            let asked = requirements(package, arches).into_iter();
            asked
                .map(|all| {
                    all.into_iter().filter(|(of, _)| *of == name).filter_map(|(_, range)| Asked::parse(range)).collect()
                })
                .collect()
        };
        let asked = [of(one, other.name), of(other, one.name)];
        let not_named = |package: &'c Package<'c>| -> Vec<Vec<(&'c str, &'c str)>> {
            let asked = requirements(package, arches).into_iter();
            asked.map(|all| all.into_iter().filter(|(of, _)| !is_named(of)).collect()).collect()
        };
        Together { one, other, asked, thirds: Thirds::new(&not_named(one), &not_named(other)) }
    }

    /// Whether neither asks for anything that the other could lack.
    pub(super) fn is_any(&self) -> bool {
        self.asked.iter().flatten().all(Vec::is_empty) && self.thirds.clashes.is_empty()
    }

    /// The versions of the other that go with a version of the one.
    pub(super) fn with(&self, version: usize) -> RowSet {
        let [asks, is_asked] = &self.asked;
        let is = self.one.versions[version];
        RowSet::filter(self.other.versions.len(), |row| {
            asks[version].iter().all(|range| range.admits(self.other.versions[row]))
                && is_asked[row].iter().all(|range| range.admits(is))
                && !self.thirds.clash(version, row)
        })
    }
}

/// What the versions of two packages ask for of third ones, by numbers, and which of it no release can be.
struct Thirds {
    of: [Vec<Vec<usize>>; 2],
    clashes: HashSet<(usize, usize)>,
}

impl Thirds {
    fn new(one: &[Vec<(&str, &str)>], other: &[Vec<(&str, &str)>]) -> Self {
        let (ones, of_one) = numbered(one);
        let (others, of_other) = numbered(other);
        let mut clashes = HashSet::new();
        for (number, (name, range)) in ones.iter().enumerate() {
            let Ok(specifier) = Specifier::parse(range) else { continue };
            for (beside, (of, needs)) in others.iter().enumerate() {
                if name == of && ordinary::excludes(&specifier, needs) {
                    clashes.insert((number, beside));
                }
            }
        }
        Thirds { of: [of_one, of_other], clashes }
    }

    fn clash(&self, version: usize, other: usize) -> bool {
        let [one, two] = &self.of;
        one[version].iter().any(|asked| two[other].iter().any(|beside| self.clashes.contains(&(*asked, *beside))))
    }
}

/// What stands in some lists, each once, and for each list the places of what it holds.
fn numbered<T: Copy + PartialEq>(lists: &[Vec<T>]) -> (Vec<T>, Vec<Vec<usize>>) {
    let mut all: Vec<T> = Vec::new();
    let mut number = |one: &T| {
        all.iter().position(|known| known == one).unwrap_or_else(|| {
            all.push(*one);
            all.len() - 1
        })
    };
    let numbers = lists.iter().map(|list| list.iter().map(&mut number).collect()).collect();
    (all, numbers)
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
