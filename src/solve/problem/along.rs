//! What comes along with a release of a package because its metadata asks for it, where it is known which releases may:
//! the one that is pinned; or of what is compiled against one release of the framework, those for a release that both take.

use pubgrub::VersionSet;

use super::package::Package;
use super::{Problem, RowSet};
use crate::catalog::rows::{Companion, pinned};
use crate::types::{CpuArch, Specifier, Version};

/// A package that a release requires.
#[derive(Debug)]
pub struct Along<'c> {
    /// Its name.
    pub package: &'c str,
    /// Its releases of which one comes along; never none.
    pub releases: RowSet,
    /// Whether it is pinned. What has no wheel is compiled then, if its source is published; else an installer takes another
    /// release that has one.
    pub is_pinned: bool,
    /// The processor on which alone it is required; none = it is on each.
    only: Option<&'c str>,
}

impl Along<'_> {
    /// Whether it is required on a processor.
    pub fn is_on(&self, arch: CpuArch) -> bool {
        self.only.is_none_or(|only| only == arch.as_str())
    }

    /// Whether no wheel of what comes along is for a C library.
    pub fn needs_newer_glibc(&self, release: &Companion, arch: CpuArch, has: Version) -> bool {
        !self.is_pinned && release.needs_newer_glibc(arch, false, has)
    }

    /// Whether it is required whatever the processor.
    pub fn is_everywhere(&self) -> bool {
        self.only.is_none()
    }
}

/// What comes along with each release of a package.
pub(super) fn of_package<'c>(problem: &Problem<'c>, package: &Package<'c>) -> Vec<Vec<Along<'c>>> {
    let of_row = |(row, release): (usize, &&'c Companion)| {
        let asked = release.requirements();
        let along = asked.filter_map(|(of, range, only)| {
            let releases = coming(problem, package, row, problem.package(of)?, range)?;
            Some(Along { package: of, releases, is_pinned: pinned(range).is_some(), only })
        });
        along.collect()
    };
    package.releases.iter().enumerate().map(of_row).collect()
}

/// The releases of one package that may come along with a release of another; none where that is not known.
fn coming<'c>(
    problem: &Problem<'c>,
    package: &Package<'c>,
    row: usize,
    other: &Package<'c>,
    range: &str,
) -> Option<RowSet> {
    if let Some(version) = pinned(range) {
        let known = other.versions.iter().position(|one| one.as_str() == version)?;
        return Some(other.of_version[known].clone());
    }
    let range = Specifier::parse(range).ok();
    let asking = package.releases[row];
    let is_there = |arch: CpuArch| asking.is_for_arch(arch);
    let admits = |one: &Companion| {
        one.url.is_none()
            && one.source_for().is_none_or(is_there)
            && range.as_ref().is_none_or(|range| range.admits(&one.version))
    };
    // What follows CUDA alone goes with any framework.
    if other.releases.iter().all(|one| one.follows_cuda()) {
        let releases = other.matching(|one| admits(one) && one.gone.is_none());
        return (!releases.is_empty()).then_some(releases);
    }
    let framework = problem.framework(&asking.framework).filter(|_| other.is_tied())?;
    let name = framework.package;
    let admitted = other.matching(|one| one.framework == name && admits(one));
    let both = |version: &&&Version| package.accepting(name, version).has(row);
    let mut releases = RowSet::default();
    for version in framework.versions.iter().filter(both) {
        releases.add(&other.accepting(name, version).intersection(&admitted));
    }
    (!releases.is_empty()).then_some(releases)
}
