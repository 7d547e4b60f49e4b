//! Releases older than every one that was read, which may fit a machine for which those are too new: with time packages
//! give up GPUs, and are built for newer CUDA, newer systems and newer Pythons.

use crate::catalog::rows::Subject;
use crate::types::constraint::{Op, least};
use crate::types::{Constraint, Version};

use super::driver::{DriverNeed, Jit};
use super::platform::Takes;
use super::problem::Aged;
use super::request::{PackageRequest, Request, TargetRequest};
use super::rules::Needs;
use super::unknowns::{OVERLAY, Unknown};

/// Whether a release before the oldest that was read may be what is asked for: some machine is too old for that one.
pub fn of<'c>(request: &Request<'c>, ask: &PackageRequest<'c>) -> Option<Unknown> {
    // An older framework needs older packages beside it, of which those that were read do not speak.
    let is_followed = request
        .companions
        .iter()
        .any(|other| request.catalog.companions.of(other.package).iter().any(|row| row.framework == *ask.package));
    let listing = request.catalog.wholly_read(ask.package).filter(|listing| !listing.first)?;
    // Of a release that is known the list has nothing to add.
    let is_known = ask.constraint.single().is_some_and(|one| {
        let mut companions = request.catalog.companions.of(ask.package).iter();
        companions.any(|row| row.version == *one)
            || request.catalog.builds.of(ask.package).iter().any(|row| row.version == *one)
    });
    let reaches_below = |wanted: &Constraint| {
        !is_known && wanted.alternatives().iter().any(|all| least(all).is_none_or(|least| least < listing.from))
    };
    // What is made for one release of a framework which is named is among those that were read, where one of them is.
    let package = request.problem.package(ask.package).filter(|package| package.is_tied());
    let is_settled = package.is_some_and(|one| {
        let mut named = request.frameworks.iter().filter_map(|of| Some((of.package, of.constraint.single()?)));
        named.any(|(of, version)| one.follows(of) && !one.accepting(of, version).is_empty())
    });
    if is_followed || is_settled || ask.constraint.pins_variant() || !reaches_below(&ask.constraint) {
        return None;
    }
    let (package, from) = (ask.package, &listing.from);
    // With time packages are built for more processors and systems: what the first ones that were read were not built for, none
    // before them was.
    let was_built_for = |target: &TargetRequest<'c>| {
        let ages = request.problem.ages(ask.package, target.platform);
        ages.oldest.iter().any(|one| one.version <= from)
    };
    let kept_since = kept_since(request, ask);
    let may_help = |target: &TargetRequest<'c>| {
        let is_too_old = || is_too_old(request, (ask, &kept_since), target);
        was_built_for(target) && is_too_old() && !never_ran_on(request, (package, from), target)
    };
    if !request.targets.iter().any(may_help) {
        return None;
    }
    // A rule may name the last one.
    let refuses = |rule: &Needs<'_>| {
        let mut gpus = request.targets.iter().flat_map(|target| target.named_gpus());
        !rule.needs.only_upper_bounds() && gpus.any(|gpu| !rule.needs.admits(&gpu.cc_version))
    };
    let rules = request.rules.of_package(package, Subject::Gpu);
    let told = rules.about(from).find(|rule| refuses(rule)).map_or("", |rule| &rule.row.says);
    let told = if told.is_empty() { String::new() } else { format!("{}: ", told.trim_end_matches('.')) };
    let fact = format!("whether a {package} older than {from} fits: the list of its releases was read from {from} on");
    let how = format!("{told}look for the last {package} that was made for such a machine; then {OVERLAY}");
    Some(Unknown::of(format!("stack.{package}"), fact, how))
}

/// Whether a rule without a beginning keeps a package from a GPU: then no older release runs there either.
fn never_ran_on(request: &Request<'_>, (package, from): (&str, &Version), target: &TargetRequest<'_>) -> bool {
    let rules = request.rules.of_package(package, Subject::Gpu);
    let is_from_the_first = |range: &Constraint| range.alternatives().iter().any(|all| least(all).is_none());
    let mut against = rules.about(from).filter(|rule| is_from_the_first(&rule.range));
    against.any(|rule| target.named_gpus().iter().any(|gpu| !rule.needs.admits(&gpu.cc_version)))
}

/// The compute capabilities from which alone a package runs since some release that lies before the oldest that is known, where
/// one before it may be what is asked for: machines with older GPUs were given up then.
fn kept_since(request: &Request<'_>, ask: &PackageRequest<'_>) -> Vec<Version> {
    let (catalog, package) = (request.catalog, ask.package);
    let builds = catalog.builds.of(package).iter().map(|row| row.version);
    let companions = catalog.companions.of(package).iter().map(|row| row.version);
    let Some(oldest) = builds.chain(companions).min() else { return Vec::new() };
    let begin = |range: &Constraint| range.alternatives().iter().map(|all| least(all)).min().flatten();
    let reaches =
        |from: Version| ask.constraint.alternatives().iter().any(|all| least(all).is_none_or(|wanted| wanted < from));
    let rules = request.rules.of_package(package, Subject::Gpu);
    let since =
        rules.about(&oldest).filter(|rule| begin(&rule.range).is_some_and(|from| from < oldest && reaches(from)));
    since.filter_map(|rule| begin(&rule.needs)).collect()
}

/// Whether a machine is too old for the oldest release that was read for its like.
fn is_too_old<'c>(
    request: &Request<'c>,
    (ask, kept_since): (&PackageRequest<'c>, &[Version]),
    target: &TargetRequest<'c>,
) -> bool {
    // What an image or a system brings is the one that is there.
    if target.platform.takes != Takes::General {
        return false;
    }
    let ages = request.problem.ages(ask.package, target.platform);
    if ages.oldest.is_empty() {
        return false;
    }
    let is_gpu = || {
        ages.least_gpu.is_some_and(|least| target.named_gpus().iter().any(|gpu| gpu.cc < least))
            || target.named_gpus().iter().any(|gpu| kept_since.iter().any(|needed| gpu.cc_version < *needed))
    };
    let all = |is_it: &dyn Fn(&Aged<'_>) -> bool| ages.oldest.iter().all(is_it);
    let is_driver = || ages.has_many_majors && target.pins_driver() && all(&|one| refuses(request, target, one));
    let is_glibc = || target.glibc.zip(ages.least_glibc).is_some_and(|(has, needs)| has < *needs);
    let newest_python = request.python.as_ref().and_then(newest);
    let is_python = || all(&|one| newest_python.zip(one.python).is_some_and(|(asked, needs)| asked < *needs));
    let newest_cuda = request.cuda.as_ref().and_then(newest);
    let is_cuda = || all(&|one| newest_cuda.zip(one.line).is_some_and(|(asked, needs)| asked.prefix(2) < needs));
    let newest_toolkit = target.toolkits.iter().flatten().max();
    let is_toolkit =
        || all(&|one| newest_toolkit.zip(one.line).is_some_and(|(has, needs)| has.major() < needs.major()));
    is_gpu() || is_driver() || is_glibc() || is_python() || is_cuda() || is_toolkit()
}

/// The newest version that a constraint names, where it admits none beyond those it names.
fn newest(wanted: &Constraint) -> Option<Version> {
    let is_bound = |op: Op| matches!(op, Op::Prefix | Op::Compatible | Op::Below | Op::AtMost);
    let bounded = wanted.alternatives().iter().all(|all| all.iter().any(|one| is_bound(one.op)));
    wanted.comparisons().filter_map(|one| one.version).max().filter(|_| bounded)
}

/// Whether every driver that a machine may have is too old for a release.
fn refuses<'c>(request: &Request<'c>, target: &TargetRequest<'c>, release: &Aged<'_>) -> bool {
    let Some(line) = release.line else { return false };
    let off = request.off_at(&target.name);
    let machine = &target.machine;
    let admitted = machine.drivers(request.problem).admitted(&off, false);
    let mut left = admitted.clone();
    machine.refused_by(request.problem, DriverNeed::Line(line, Jit::Nothing)).apply(&mut left, &off);
    !admitted.is_empty() && left.is_empty()
}
