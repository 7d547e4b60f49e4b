//! How old machines may be for the oldest release of a package that was read.

use std::collections::BTreeSet;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Companion};
use crate::types::{Cc, Version};

use crate::solve::platform::Platform;

/// A release as far as its age bears on a machine.
#[derive(Debug)]
pub struct Aged<'c> {
    /// Its version.
    pub version: &'c Version,
    /// The least GPU that it holds code for, where that is known.
    gpu: Option<Cc>,
    /// The line of CUDA that it was built for, where that is known.
    pub line: Option<Version>,
    /// The oldest glibc that it loads with, where that is known.
    glibc: Option<&'c Version>,
    /// The oldest Python that it has a wheel for, where that is known.
    pub python: Option<&'c Version>,
}

/// What the releases of a package tell of their age on a kind of machine.
#[derive(Debug)]
pub struct Ages<'c> {
    /// The oldest that was read, as each of its builds; empty where there is none.
    pub oldest: Vec<Aged<'c>>,
    /// The least GPU that it holds code for, if later ones gave that up: who never gave up a GPU did not begin with older ones.
    pub least_gpu: Option<Cc>,
    /// The oldest glibc that any release loads with of which that is known: of a source distribution nobody reads it.
    pub least_glibc: Option<&'c Version>,
    /// Whether they were built for several majors of CUDA: what was always built for one, which many have in their name, was
    /// never built for an older one.
    pub has_many_majors: bool,
}

impl<'c> Ages<'c> {
    pub(super) fn new(catalog: &'c Catalog, package: &str, on: Platform<'c>) -> Self {
        let mut known = releases(catalog, package, on);
        let (oldest, newest) = (known.iter().map(|one| one.version).min(), known.iter().map(|one| one.version).max());
        let least_gpu = |version: Option<&Version>| {
            let of = known.iter().filter(|one| Some(one.version) == version);
            of.map(|one| one.gpu).min().flatten()
        };
        let (first, last) = (least_gpu(oldest), least_gpu(newest));
        let majors: BTreeSet<u64> = known.iter().filter_map(|one| Some(one.line?.major())).collect();
        let least_gpu = first.filter(|first| last.is_some_and(|last| last > *first));
        let least_glibc = known.iter().filter_map(|one| one.glibc).min();
        known.retain(|one| Some(one.version) == oldest);
        Ages { oldest: known, least_gpu, least_glibc, has_many_majors: majors.len() > 1 }
    }
}

/// What is known of a package on a kind of machine.
fn releases<'c>(catalog: &'c Catalog, package: &str, on: Platform<'c>) -> Vec<Aged<'c>> {
    let of_build = |row: &'c Build| Aged {
        version: &row.version,
        gpu: row.sass.iter().chain(row.ptx.iter()).map(|arch| arch.cc).min(),
        line: row.line(),
        glibc: row.glibc.as_ref(),
        python: row.pythons.iter().min(),
    };
    let of_companion = |row: &'c Companion| Aged {
        version: &row.version,
        gpu: row.sass.iter().chain(row.ptx.iter()).filter(|_| row.gpu_code).map(|arch| arch.cc).min(),
        line: row.cuda,
        glibc: row.glibc.as_ref(),
        python: None,
    };
    let builds = catalog.builds.of(package).iter().filter(|row| on.takes(row) && !row.is_cpu());
    let companions = catalog.companions.of(package).iter().filter(|row| on.takes_companion(row));
    builds.map(of_build).chain(companions.map(of_companion)).collect()
}
