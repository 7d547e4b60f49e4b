//! Classes of hosts as targets of one request, and those of them that the solver cannot tell apart as one.

use crate::catalog::rows::{Os, Subject};
use crate::solve::problem::Problem;
use crate::solve::reading::Reading;
use crate::solve::recommended;
use crate::solve::request::{DriverRequest, GpuRequest, Gpus, ImageRequest, Request, TargetRequest};
use crate::spec::{Override, Spec, SpecError, Target};
use crate::types::Version;

use super::inventory::Known;

/// Classes that the solver cannot tell apart.
#[derive(Debug)]
pub struct Kind<'c> {
    /// What they are.
    pub target: TargetRequest<'c>,
    /// Positions of the classes.
    pub classes: Vec<usize>,
    /// How many hosts they have.
    pub hosts: usize,
    /// Newer drivers to raise them to, oldest first.
    pub candidates: Vec<Version>,
}

/// The spec that asks the same of other targets than its own.
pub fn asked_of(spec: &Spec, template: &Target, targets: Vec<Target>) -> Spec {
    let mut asked = spec.clone_without_targets();
    asked.targets = targets.into_iter().collect();
    // What is overridden for the template is for every host; what is for other targets is for none.
    asked.overrides.retain(|one| one.target.as_ref().is_none_or(|target| target.value == template.name));
    asked.overrides = asked.overrides.into_iter().map(|one| Override { target: None, ..one }).collect();
    asked
}

/// The question for some classes, and their kinds.
pub fn find<'c>(
    spec: &Spec,
    template: &Target,
    problem: &'c Problem<'c>,
    known: &[Known],
) -> Result<(Request<'c>, Vec<Kind<'c>>), Vec<SpecError>> {
    // Targets are answered in the order of their names.
    let named = |(at, one): (usize, &Known)| Target { name: format!("{at:08}"), ..one.target.clone() };
    let targets = known.iter().enumerate().map(named).collect();
    let (request, _) = Request::of_machines(&asked_of(spec, template, targets), problem, usize::MAX)?;
    let mut boards: Vec<GpuRequest<'c>> = Vec::new();
    let mut kinds: Vec<Kind> = Vec::new();
    for (at, (target, one)) in request.targets.iter().zip(known).enumerate() {
        let alike = TargetRequest {
            driver_policy: target.driver_policy,
            ..TargetRequest::new(problem, &target.name, as_judged(problem, &target.reading, &mut boards))
        };
        let (class, hosts) = (at, one.class.hosts.len());
        match kinds.iter_mut().find(|kind| kind.target.machine.id == alike.machine.id) {
            Some(kind) => {
                kind.classes.push(class);
                kind.hosts += hosts;
            }
            None => kinds.push(Kind { target: alike, classes: vec![class], hosts, candidates: Vec::new() }),
        }
    }
    for kind in &mut kinds {
        let drivers: Option<Vec<Version>> = kind.classes.iter().map(|&class| known[class].driver).collect();
        // Nobody is sent to a driver who may have a newer one.
        let newest = drivers.and_then(|drivers| drivers.into_iter().max());
        let newer = |version: &Version| newest.is_some_and(|newest| *version > newest);
        kind.candidates = recommended::candidates(&request, &kind.target).into_iter().filter(newer).collect();
    }
    Ok((request, kinds))
}

/// What a target reads like to the laws: of boards that no law can tell apart the first, of drivers and C libraries between
/// which no answer changes the oldest, and no system of which only these count. An image may tell them apart by its own
/// words.
fn as_judged<'c>(problem: &Problem<'c>, reading: &Reading<'c>, boards: &mut Vec<GpuRequest<'c>>) -> Reading<'c> {
    let mut judged = reading.clone();
    if !matches!(reading.image, ImageRequest::No | ImageRequest::Unchecked(_) | ImageRequest::UnseenTag(..)) {
        return judged;
    }
    if let Gpus::These(gpus) = &mut judged.gpus {
        for gpu in gpus.iter_mut() {
            match boards.iter().find(|known| is_alike(known, gpu)) {
                Some(known) => *gpu = known.clone(),
                None => boards.push(gpu.clone()),
            }
        }
        gpus.sort_unstable_by(|a, b| (a.cc, &a.name).cmp(&(b.cc, &b.name)));
        gpus.dedup_by(|a, b| a.name == b.name);
    }
    let is_plain = |os: &Os| !os.musl && !os.own_packages && os.cuda.is_none() && os.boards.is_empty();
    judged.os = reading.os.filter(|os| !is_plain(os));
    judged.glibc = reading.glibc.map(|glibc| oldest_like(problem, glibc));
    if let DriverRequest::Exact(version) = &mut judged.driver {
        let turning = problem.turning_points();
        let before = turning.partition_point(|point| **point <= *version);
        let point = before.checked_sub(1).map(|at| *turning[at]);
        if let Some(point) = point.filter(|point| point.major() == version.major()) {
            *version = point;
        }
    }
    judged
}

/// The oldest C library on which the same wheels run as on this one, and which breaks the same rules.
fn oldest_like(problem: &Problem<'_>, glibc: Version) -> Version {
    let catalog = problem.catalog;
    let builds = catalog.builds.iter().filter_map(|build| build.glibc);
    let asked =
        builds.chain(catalog.companions.iter().flat_map(|row| [row.glibc, row.cpu_glibc, row.arm_glibc]).flatten());
    let Some(oldest) = asked.filter(|needs| *needs <= glibc).max() else { return glibc };
    let broken = |glibc| problem.rules.breaking(Subject::Glibc, glibc).map(|rule| rule.id).collect::<Vec<_>>();
    if broken(oldest) == broken(glibc) { oldest } else { glibc }
}

/// Whether no law can tell two boards apart.
fn is_alike(one: &GpuRequest<'_>, other: &GpuRequest<'_>) -> bool {
    let market = |gpu: &GpuRequest<'_>| {
        let row = gpu.row?;
        let part = gpu.is_instance.then(|| row.name.to_string());
        Some((row.class, row.cpu, row.last_branch, row.first_driver, row.architecture.to_string(), part))
    };
    one.cc == other.cc && market(one) == market(other)
}

impl<'c> Kind<'c> {
    /// The same with another driver.
    pub fn raised(&self, problem: &Problem<'c>, to: Version) -> TargetRequest<'c> {
        let reading = Reading { driver: DriverRequest::Exact(to), ..Reading::clone(&self.target.reading) };
        let policy = self.target.driver_policy;
        TargetRequest { driver_policy: policy, ..TargetRequest::new(problem, &self.target.name, reading) }
    }
}
