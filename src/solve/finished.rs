//! Finished wheels of packages that come as source: which of them an installer takes, and which its build must not.

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Companion, FinishedWheel};
use crate::coverage::{Coverage, Tegra, covers_targets};
use crate::types::constraint::admits;
use crate::types::{Cc, Version};

use super::fits;
use super::reading::Reading;

/// What lies beside the release of a package that comes as source, for the framework, the CUDA and the processor.
#[derive(Debug, Clone, Copy)]
pub struct Finished<'c> {
    /// The wheel.
    pub wheel: &'c FinishedWheel,
    /// What becomes of it.
    pub use_of: Use,
}

/// What becomes of a finished wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is installed in place of what would be compiled.
    Taken,
    /// Nobody has seen its file for this Python: the build looks for one, and compiles if there is none.
    Unseen,
    /// It does not load at all, though the build would take it.
    Broken,
    /// It does not load with this C library.
    Glibc(Version),
    /// It holds no code for this GPU.
    Uncovered(Cc),
}

impl Finished<'_> {
    /// Why it does not run there, as the end of a sentence that begins with the wheel.
    pub fn refusal(&self) -> Option<String> {
        Some(match self.use_of {
            Use::Taken | Use::Unseen => return None,
            Use::Broken => "does not load".to_string(),
            Use::Glibc(has) => format!("does not load with glibc {has} (it needs {} or newer)", self.wheel.glibc),
            Use::Uncovered(gpu) => format!("holds no code for compute capability {gpu}"),
        })
    }
}

impl Use {
    /// Whether the build has to be told to compile, for it would take a wheel that does not run.
    pub fn is_refused(self) -> bool {
        !matches!(self, Use::Taken | Use::Unseen)
    }
}

/// The finished wheel of a release beside the builds of a machine, with the C library that it has.
pub fn of_release<'c>(
    catalog: &'c Catalog,
    row: &Companion,
    builds: &[&Build],
    machine: (&Reading<'_>, Option<Version>, &[Cc]),
    python: Option<&Version>,
) -> Option<Finished<'c>> {
    let (reading, glibc, gpus) = machine;
    let build = fits::build_of(builds, &row.framework)?;
    let wheel = beside(catalog, row, build, reading).next().filter(|_| row.sdist)?;
    let is_seen = |line: &Version| admits(&wheel.python, line);
    let use_of = match refused(wheel, glibc, gpus) {
        Some(refused) => refused,
        None if python.is_some_and(is_seen) => Use::Taken,
        None => Use::Unseen,
    };
    Some(Finished { wheel, use_of })
}

/// The finished wheels of a release that were made for a build. A torch that somebody else compiled may have another C++ ABI,
/// and a system without glibc loads none of them.
pub fn beside<'c>(
    catalog: &'c Catalog,
    row: &Companion,
    build: &Build,
    reading: &Reading<'_>,
) -> impl Iterator<Item = &'c FinishedWheel> {
    let is_other = build.is_own() || build.is_snapshot();
    let is_published = build.systems.is_empty() && !is_other && !reading.os.is_some_and(|os| os.musl);
    catalog.finished_beside(row, build, reading.arch).filter(move |_| is_published)
}

/// Why a finished wheel does not run on a machine.
pub fn refused(wheel: &FinishedWheel, glibc: Option<Version>, gpus: &[Cc]) -> Option<Use> {
    let covers = |gpu: &&Cc| covers_targets(wheel.sass.iter().copied(), [], **gpu, Tegra::Apart) != Coverage::None;
    if wheel.broken.is_some() {
        return Some(Use::Broken);
    }
    let too_old = glibc.filter(|has| *has < wheel.glibc).map(Use::Glibc);
    too_old.or_else(|| gpus.iter().find(|gpu| !covers(gpu)).map(|gpu| Use::Uncovered(*gpu)))
}

/// What has the build of a package compile beside a snapshot of its framework: it asks for the release that the snapshot
/// counts as, and would take a finished wheel that was compiled with that.
pub fn mistaken<'c>(catalog: &'c Catalog, row: &Companion, builds: &[&Build]) -> Option<&'c str> {
    let build = fits::build_of(builds, &row.framework)?;
    let (source, _) = catalog.source_build(row).filter(|_| row.sdist && build.is_snapshot())?;
    source.force.as_deref()
}

#[cfg(test)]
mod tests;
