//! The driver to install on hosts that may get another: the newest release of a branch that is still in support, or of one
//! that no longer is where no other drives the GPUs or is admitted by the range that is written for a target. It says nothing
//! about what runs: that is the minimum.

use std::collections::BTreeMap;

use crate::catalog::rows::Branch;
use crate::spec::DriverPolicy;
use crate::types::{Constraint, Version};

use super::kernel;
use super::modules;
use super::request::{DriverRequest, GpuRequest, Request, TargetRequest, Told};
use super::solution::TargetSolution;

/// A driver to install.
#[derive(Debug, Clone)]
pub struct Recommended<'c> {
    /// The release.
    pub release: Version,
    /// Its branch.
    pub branch: &'c Branch,
    /// The flavour of kernel modules: as written, else the one that alone drives the GPUs.
    pub modules: Option<&'static str>,
}

/// NVIDIA's words for its kinds of branches.
const PRODUCTION: &str = "PB";
const LONG_TERM: &str = "LTSB";

/// The driver to install for a target; none where its driver is what it is, or it has none.
///
/// Branches for production come first, the newest of them; new-feature branches only where no other serves. One that is out of
/// support, or of which no release is known to list every board, is better than none.
pub fn driver<'c>(
    request: &Request<'c>,
    asked: &TargetRequest<'c>,
    chosen: &TargetSolution<'c>,
) -> Option<Recommended<'c>> {
    let minimum = chosen.minimum?;
    let bound: Option<&Constraint> = match &asked.driver {
        DriverRequest::Exact(_) => return None,
        // A Jetson's comes with its system image.
        _ if asked.is_cpu() || asked.has_unnumbered_driver() || asked.is_jetson() => return None,
        DriverRequest::Free(bound) => bound.as_ref(),
        DriverRequest::AtWorst(bound) => Some(bound),
        DriverRequest::Cuda(..) => None,
    };
    let best = |may_be: &dyn Fn(&'c Branch) -> Option<bool>, listing: bool| {
        // A driver that shows no less than the hosts' is no step back for them.
        let shown = |branch: &Branch| match &asked.driver {
            DriverRequest::Cuda(_, Told::Key(written)) => branch.cuda.is_some_and(|cuda| cuda >= *written),
            _ => true,
        };
        let lists = |version: &Version| !listing || lists_boards(asked, version);
        let serves = |version: &Version| {
            *version >= minimum && bound.is_none_or(|bound| bound.admits(version)) && lists(version)
        };
        let newest_of = |for_production| {
            let branches = request.catalog.branches.iter().rev().filter(|branch| shown(branch));
            let mut may_be = branches.filter(|branch| may_be(branch) == Some(for_production));
            may_be.find_map(|branch| Some((branch, newest(request, asked, branch, serves)?)))
        };
        newest_of(true).or_else(|| newest_of(false))
    };
    let found = [true, false].into_iter().find_map(|listing| {
        let in_support = best(&|branch| may_be(request, asked, branch), listing);
        in_support.or_else(|| best(&|branch| fits_policy(asked, branch), listing))
    });
    found.map(|(branch, release)| Recommended { release, branch, modules: flavour(request, asked) })
}

/// The newest release of a branch that drives a target's GPUs and does what else is asked of it.
fn newest(
    request: &Request<'_>,
    asked: &TargetRequest<'_>,
    branch: &Branch,
    serves: impl Fn(&Version) -> bool,
) -> Option<Version> {
    let rules = || asked.machine.kinds.iter().flat_map(|kind| &kind.driver);
    let drives = |version: &Version| {
        let runs_there = kernel::too_old(request, asked, version).is_none();
        runs_there && rules().all(|rule| rule.needs.admits(version)) && serves(version)
    };
    if asked.windows_driver {
        // Which releases Windows has of it is not known; all of them have at least its number.
        return Some(branch.branch).filter(drives);
    }
    request.catalog.drivers_of(&branch.branch).map(|row| row.version).rfind(drives)
}

/// Whether a branch is for production, if it is in support and the policy of a target admits it.
fn may_be(request: &Request<'_>, asked: &TargetRequest<'_>, branch: &Branch) -> Option<bool> {
    let in_support = branch.eol.as_ref().is_some_and(|end| !request.catalog.has_ended(end));
    fits_policy(asked, branch).filter(|_| in_support)
}

/// Whether a branch is for production, if the policy of a target admits it.
fn fits_policy(asked: &TargetRequest<'_>, branch: &Branch) -> Option<bool> {
    let kind = branch.kind.as_deref().unwrap_or_default();
    let for_production = [PRODUCTION, LONG_TERM].contains(&kind);
    let fits = match asked.driver_policy {
        DriverPolicy::Any => true,
        DriverPolicy::Production => for_production,
        DriverPolicy::LongTerm => kind == LONG_TERM,
    };
    fits.then_some(for_production)
}

/// The releases to install on hosts that are as a target says but for their driver: the newest of each branch that is
/// still in support and drives their GPUs, oldest first. New-feature branches only where no other does.
pub fn candidates<'c>(request: &Request<'c>, asked: &TargetRequest<'c>) -> Vec<Version> {
    if asked.is_cpu() || asked.has_unnumbered_driver() || asked.is_jetson() {
        return Vec::new();
    }
    let mut found: Vec<(bool, Version)> = Vec::new();
    for branch in request.catalog.branches.iter() {
        let Some(for_production) = may_be(request, asked, branch) else { continue };
        found.extend(
            newest(request, asked, branch, |version| lists_boards(asked, version))
                .map(|newest| (for_production, newest)),
        );
    }
    let for_production = found.iter().any(|(for_production, _)| *for_production);
    found.retain(|(own, _)| *own == for_production);
    let mut versions: Vec<Version> = found.into_iter().map(|(_, version)| version).collect();
    versions.sort_unstable();
    versions
}

/// The branch to move to from one that is out of support: the newest that drives a target's GPUs.
pub(super) fn branch<'c>(request: &Request<'c>, asked: &TargetRequest<'c>) -> Option<&'c Branch> {
    let rules = || asked.machine.kinds.iter().flat_map(|kind| &kind.driver);
    let drives = |branch: &&Branch| {
        let runs_there = kernel::too_old(request, asked, &branch.branch).is_none();
        runs_there && rules().all(|rule| rule.needs.admits(&branch.branch))
    };
    let serving = request.catalog.branches.iter().filter(drives);
    let serving = serving.filter_map(|branch| Some((may_be(request, asked, branch)?, branch)));
    serving.max_by_key(|(for_production, branch)| (*for_production, branch.branch)).map(|(_, branch)| branch)
}

/// Whether a release is not older than the first one seen to list each board.
fn lists_boards(asked: &TargetRequest<'_>, version: &Version) -> bool {
    let mut firsts = asked.named_gpus().iter().filter_map(|gpu| gpu.row?.first_driver.as_ref());
    firsts.all(|first| first <= version)
}

/// A driver that suffices, or the first one seen to list the boards where that is of a newer branch and drives them all: who
/// installs another driver takes one of a branch that knows the board. Of a family one member that is listed is enough. Windows numbers its
/// releases by itself, so there the branch counts.
pub fn listing<'a>(
    asked: &TargetRequest<'_>,
    gpus: impl Iterator<Item = &'a GpuRequest<'a>>,
    suffices: Version,
) -> Version {
    let mut firsts: BTreeMap<&str, Option<Version>> = BTreeMap::new();
    for gpu in gpus {
        let first = gpu.row.and_then(|row| row.first_driver);
        // What nobody has seen listed is less than anything.
        firsts.entry(&gpu.written).and_modify(|least| *least = (*least).min(first)).or_insert(first);
    }
    let Some(first) = firsts.into_values().flatten().max() else { return suffices };
    let first = if asked.windows_driver { first.prefix(1) } else { first };
    let mut rules = asked.machine.kinds.iter().flat_map(|kind| &kind.driver);
    let is_taken = first.major() > suffices.major() && rules.all(|rule| rule.needs.admits(&first));
    if is_taken { first } else { suffices }
}

/// The flavour of kernel modules that is there, else the one without which some GPU of a target is not found.
fn flavour(request: &Request<'_>, asked: &TargetRequest<'_>) -> Option<&'static str> {
    if asked.windows_driver {
        return None;
    }
    let needed = || asked.named_gpus().iter().find_map(|gpu| modules::of_gpu(request.catalog, gpu).next());
    asked.kernel_module.map(|flavour| flavour.as_str()).or_else(|| needed().map(|row| row.needs.as_str()))
}
