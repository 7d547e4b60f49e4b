//! What a chosen package brings along: what is known not to go with the rest, and what is chosen with it.

use std::iter;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Companion, Subject, TORCH, pinned};
use crate::types::{Cc, CpuArch, Version, distinct};

use super::fits;
use super::problem::Problem;
use super::problem::brought::{releases, serves};
use super::request::Request;
use super::rules::{Needs, PackageRules};
use super::values::Archs;

/// What a release brings along that is known not to go with a build: what it asks for, and why not.
pub struct Misfit<'c> {
    /// The package and its range, `xformers==0.0.31`.
    pub requires: String,
    /// The CUDA that the newest known release of it loads, none of them that of the build; none where it is their code that
    /// does not do.
    pub cuda: Option<&'c Version>,
    /// What a rule says of it on a GPU.
    pub says: Option<&'c str>,
    /// Whether another index has one that goes with the build: that is installed where it is named.
    pub goes_if_named: bool,
}

/// What a chosen release brings along beside a build, and does not go with it on some GPUs.
pub fn misfits<'c>(
    request: &Request<'c>,
    row: &Companion,
    build: &Build,
    arch: CpuArch,
    gpus: &[Cc],
) -> Vec<Misfit<'c>> {
    let line = build.line();
    let is_named = |of: &str| request.companions.iter().any(|ask| ask.package == of);
    let asked = distinct(row.asked(arch).filter(|(of, _)| !is_named(of)));
    let Some(framework) = request.problem.framework(&build.package) else { return Vec::new() };
    let found = asked.into_iter().filter_map(|(of, range)| {
        // Of a range that nobody names an installer takes what lies on the package index; a pin is held to that of torch.
        let known = releases(request.problem, framework, row, (of, range), arch);
        let is_taken = |one: &&Companion| one.variant.is_none() || pinned(range).is_some();
        let (releases, others): (Vec<&Companion>, Vec<&Companion>) = known.into_iter().partition(is_taken);
        let beside = (&*build.variant, line.as_ref());
        let rules = request.problem.rules.of_package(of, Subject::Gpu);
        let refused = |one: &Companion| gpus.iter().find_map(|gpu| refusing(&rules, one, *gpu));
        let serves_it = |one: &&Companion| serves(request.catalog, one, beside, arch, gpus) && refused(one).is_none();
        if releases.is_empty() || releases.iter().any(serves_it) {
            return None;
        }
        let loads = releases.iter().any(|one| fits::made_for(one, &build.variant, line.as_ref()));
        let cuda = releases.first().and_then(|one| one.cuda.as_ref()).filter(|_| !loads);
        let says = releases.iter().find_map(|one| refused(one));
        let goes_if_named = others.iter().any(serves_it);
        (loads || cuda.is_some()).then(|| Misfit { requires: format!("{of}{range}"), cuda, says, goes_if_named })
    });
    found.collect()
}

/// What a rule says of a release that does not compute on a GPU.
pub(super) fn refusing<'c>(rules: &PackageRules<'_, 'c>, one: &Companion, gpu: Cc) -> Option<&'c str> {
    let cc = gpu.version();
    let mut about = rules.about(&one.version);
    let refuses =
        |rule: &&Needs<'_>| rule.speaks_of(&one.version, iter::once(&cc), Archs::Free) && !rule.needs.admits(&cc);
    about.find(refuses).map(|rule| &*rule.row.says)
}

/// Whether a release lies for a processor on the package index, or on that of a variant of torch.
pub(super) fn is_on_index(row: &Companion, arch: CpuArch, of_torch: Option<&str>) -> bool {
    let is_apart = row.url.is_some() || row.index_url.is_some() || row.gone.is_some();
    (row.variant.is_none() || row.variant.as_deref() == of_torch) && !is_apart && row.is_for_arch(arch)
}

/// Whether a release loads beside a variant of its framework, or one of CUDA, with one of these cuDNNs, and computes on some GPUs, as
/// far as anybody knows.
pub(super) fn loads(
    problem: &Problem<'_>,
    row: &Companion,
    (variant, line): (&str, Option<&Version>),
    cudnns: &[&Version],
    (arch, gpus): (CpuArch, &[Cc]),
) -> bool {
    let rules = problem.rules.of_package(&row.package, Subject::Gpu);
    let is_refused = gpus.iter().any(|gpu| refusing(&rules, row, *gpu).is_some());
    let of_cuda = problem.rules.of_package(&row.package, Subject::Cuda);
    let other_cuda = |line: &Version| of_cuda.about(&row.version).any(|rule| !rule.needs.admits(line));
    let is_refused = is_refused || line.is_some_and(|line| other_cuda(&problem.newest_of(*line)));
    let of_cudnn = problem.rules.of_package(&row.package, Subject::Cudnn);
    let has_cudnn = |rule: &Needs<'_>| cudnns.iter().any(|has| rule.needs.admits(has) || has.major() == 0);
    let lacks_cudnn = !cudnns.is_empty() && of_cudnn.about(&row.version).any(|rule| !has_cudnn(rule));
    serves(problem.catalog, row, (variant, line), arch, gpus) && !is_refused && !lacks_cudnn
}

/// What chosen wheels bring along for a variant of torch, where its wheel lies on no index: nothing holds an installer to
/// that, so it is chosen like what is named.
pub fn files<'c>(
    catalog: &'c Catalog,
    chosen: &[&'c Companion],
    builds: &[&Build],
    arch: CpuArch,
) -> Vec<&'c Companion> {
    let Some(torch) = fits::build_of(builds, TORCH) else { return Vec::new() };
    let pins = chosen.iter().flat_map(|row| row.brings.iter()).filter_map(|pin| pin.split_once("=="));
    let unnamed = pins.filter(|(package, _)| !chosen.iter().any(|row| row.package == **package));
    let file = |(package, version): (&str, &str)| {
        let is_it = |row: &&'c Companion| {
            let is_pin = row.version.as_str() == version && row.variant == Some(torch.variant);
            is_pin && row.url.is_some() && !fits::lacks_wheels(row, arch)
        };
        catalog.companions.of(package).iter().find(is_it)
    };
    unnamed.filter_map(file).collect()
}
