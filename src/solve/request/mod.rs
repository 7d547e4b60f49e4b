//! What is asked: the spec with every name looked up in the catalog, nothing solved yet.

mod constraints;
mod from_image;
mod gpus;
mod packages;
mod reader;
mod system;

use std::collections::BTreeSet;
use std::ops::Deref;
use std::rc::Rc;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Companion, FRAMEWORKS};
use crate::spec::{DriverPolicy, Prefer, Share, Spec, SpecError, is_of_nvidia};
use crate::types::constraint::Op;
use crate::types::name::STACK_PARTS;
use crate::types::{ArchList, Constraint, Specifier, Version};
use crate::warning::Warning;

use super::described::GpuKind;
use super::fits;
use super::image;
use super::machine::Machine;
use super::platform::Takes;
use super::problem::Problem;
use super::reading::Reading;
use super::release::Release;
use super::rowset::RowSet;
use super::rules::{Needs, Rules};
use super::values::Archs;

use reader::Reader;

pub use constraints::{admits_nothing, other_maker};
pub use packages::{is_ordinary, is_unheard_of, lies_elsewhere};

pub use super::values::{DriverRequest, GpuRequest, Gpus, ImageRequest, Told};

/// A spec made ready to be solved.
#[derive(Debug, Clone)]
pub struct Request<'c> {
    /// The facts.
    pub catalog: &'c Catalog,
    /// The rules among them.
    pub rules: &'c Rules<'c>,
    /// What requests have in common.
    pub problem: &'c Problem<'c>,
    /// The frameworks asked for, in the order of their importance.
    pub frameworks: Vec<PackageRequest<'c>>,
    /// Whether the spec asks for a framework: then that brings the CUDA and the cuDNN which packages load, be its line left
    /// aside in what is asked.
    pub has_framework: bool,
    /// The other packages asked for, in name order.
    pub companions: Vec<PackageRequest<'c>>,
    /// `stack.python`
    pub python: Option<Constraint>,
    /// `stack.cuda`
    pub cuda: Option<Constraint>,
    /// What `stack.cuda` says of lines, which is all that wheels tell of theirs.
    pub cuda_line: Option<Constraint>,
    /// `stack.cudnn`
    pub cudnn: Option<Constraint>,
    /// `stack.nccl`
    pub nccl: Option<Constraint>,
    /// `[packages]`: what nothing is solved with.
    pub packages: Rc<[(String, Specifier)]>,
    /// `[build]`, if CUDA extensions are compiled.
    pub build: Option<BuildAsk>,
    /// The targets, in name order.
    pub targets: Vec<TargetRequest<'c>>,
    /// `resolve.share`
    pub share: Share,
    /// `resolve.prefer`
    pub prefer: Prefer,
    /// `resolve.allow-experimental`
    pub allow_experimental: bool,
    /// Rules that do not hold: overridden by the user, or set aside to learn what they bind.
    pub off: Vec<Off>,
}

/// A package asked for.
#[derive(Debug, Clone)]
pub struct PackageRequest<'c> {
    /// Its name.
    pub package: &'c str,
    /// Which versions.
    pub constraint: Constraint,
    /// That it is a build of somebody's own, which the spec describes.
    pub own: bool,
    /// That its version is decided before everything else: how a fix finds the one nearest to a wish.
    pub before_all: Option<Direction>,
}

impl PackageRequest<'_> {
    /// Whether a release of the package is what is asked for, or some snapshot of it is.
    pub fn takes(&self, release: &Release<'_>) -> bool {
        let admits = || self.constraint.admits_build(release.version, release.variant);
        let is_snapshot = || release.for_systems().any(|build| self.takes_snapshot(build));
        self.own == release.is_own() && (admits() || self.names_prerelease() && is_snapshot())
    }

    /// Whether a build of the package is what is asked for.
    pub fn takes_build(&self, build: &Build) -> bool {
        let admits = || self.constraint.admits_build(&build.version, &build.variant);
        self.own == build.is_own() && (admits() || self.takes_snapshot(build))
    }

    /// Whether it asks for a release alone, not for a range.
    pub fn names_alone(&self, version: &Version) -> bool {
        self.constraint.comparisons().any(|one| one.op == Op::Prefix && one.version.is_some_and(|it| it == *version))
    }

    /// Whether it is asked for by a variant of which nobody has seen a wheel, of releases that are known.
    pub fn names_unseen_variant(&self, catalog: &Catalog) -> bool {
        let of_version =
            || catalog.companions.of(self.package).iter().filter(|row| self.constraint.admits(&row.version));
        self.constraint.pins_variant()
            && !of_version().any(|row| fits::may_be_variant(catalog, row, &self.constraint))
            && of_version().any(|row| fits::may_lie_unseen(catalog, row, &self.constraint))
    }

    /// Whether it asks for some pre-release by its name.
    pub fn names_prerelease(&self) -> bool {
        self.constraint.comparisons().filter_map(|one| one.version).any(|version| version.is_prerelease())
    }

    /// Whether a build from before its release is asked for by the version that it carries. Labels of such builds are cut
    /// at different places.
    fn takes_snapshot(&self, build: &Build) -> bool {
        let Some((version, label)) = build.snapshot() else { return false };
        let mut wanted = self.constraint.comparisons().filter_map(|one| one.variant.as_deref());
        let written = wanted.find(|wanted| wanted.starts_with(label) || label.starts_with(wanted));
        self.constraint.admits_build(&version, written.unwrap_or(label))
    }

    /// Whether a build is one of those of which one is asked for: published ones, or one's own.
    pub fn is_among(&self, build: &Build) -> bool {
        build.package == *self.package && self.own == build.is_own()
    }
}

/// From which end versions are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The newest first.
    Newest,
    /// The oldest first.
    Oldest,
}

/// `[build]`
#[derive(Debug, Clone)]
pub struct BuildAsk {
    /// Also embed PTX of the highest architecture.
    pub ptx: bool,
    /// The list insisted on.
    pub arch_list: Option<ArchList>,
}

/// A rule set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Off {
    /// Its id.
    pub rule: String,
    /// Only for this target.
    pub target: Option<String>,
}

impl Off {
    /// Whether it sets this rule aside for this target.
    pub fn bears_on(&self, rule: &str, target: &str) -> bool {
        self.rule == rule && self.target.as_deref().is_none_or(|name| name == target)
    }
}

/// A target with its names looked up.
#[derive(Debug, Clone)]
pub struct TargetRequest<'c> {
    /// Its name.
    pub name: String,
    /// Its lines as values.
    pub reading: Rc<Reading<'c>>,
    /// The machine that these describe, which other targets may share.
    pub machine: Rc<Machine<'c>>,
    /// Which driver may be recommended for it.
    pub driver_policy: DriverPolicy,
}

impl<'c> Deref for TargetRequest<'c> {
    type Target = Reading<'c>;

    fn deref(&self) -> &Reading<'c> {
        &self.reading
    }
}

impl<'c> TargetRequest<'c> {
    /// A target of this name that reads so.
    pub fn new(problem: &Problem<'c>, name: &str, reading: Reading<'c>) -> Self {
        let machine = problem.machine(reading.clone());
        TargetRequest { name: name.to_string(), machine, reading: Rc::new(reading), driver_policy: DriverPolicy::Any }
    }

    /// The key of one of its settings, `target.prod.gpu`.
    pub fn key(&self, setting: &str) -> String {
        ["target.", &self.name, ".", setting].concat()
    }
}

/// The frameworks and the other packages that `[stack]` asks for, and the frameworks that those follow.
fn asked_packages<'c>(spec: &Spec, reader: &mut Reader<'_, 'c>) -> (Vec<PackageRequest<'c>>, Vec<PackageRequest<'c>>) {
    let (mut frameworks, mut companions) = (Vec::new(), Vec::new());
    for (name, constraint) in &spec.stack {
        reader.constraint(name, constraint);
        if STACK_PARTS.contains(&name.as_str()) {
            continue;
        }
        let own = spec.own.iter().any(|own| own.package == *name);
        let Some(package) = reader.package(name, constraint) else { continue };
        let constraint = constraint.value.clone();
        let unreleased = reader.catalog.is_unreleased(package);
        let constraint = if unreleased { constraint.with_prereleases() } else { constraint };
        let ask = PackageRequest { package, constraint, own, before_all: None };
        if FRAMEWORKS.contains(&package) { frameworks.push(ask) } else { companions.push(ask) }
    }
    for companion in &companions {
        let mut rows = reader.catalog.companions.of(companion.package).iter();
        let follows = rows.find(|row| !row.follows_cuda());
        if let Some(row) = follows.filter(|row| frameworks.iter().all(|ask| ask.package != row.framework)) {
            let constraint = Constraint::any();
            frameworks.push(PackageRequest { package: &row.framework, constraint, own: false, before_all: None });
        }
    }
    frameworks.sort_unstable_by_key(|ask| FRAMEWORKS.iter().position(|name| *name == ask.package));
    companions.sort_unstable_by_key(|ask| ask.package);
    (frameworks, companions)
}

/// Machines that differ are judged one by one and against each other: nobody has more kinds of them in one file, and what is
/// made of these must be told within seconds.
const MOST_MACHINES: usize = 1000;

impl<'c> Request<'c> {
    /// Looks up every name of a spec. Errors are about names that mean nothing; they carry spans.
    pub fn new(spec: &Spec, problem: &'c Problem<'c>) -> Result<(Request<'c>, Vec<Warning>), Vec<SpecError>> {
        Request::of_machines(spec, problem, MOST_MACHINES)
    }

    /// The same with another bound on the machines that differ.
    pub fn of_machines(
        spec: &Spec,
        problem: &'c Problem<'c>,
        most: usize,
    ) -> Result<(Request<'c>, Vec<Warning>), Vec<SpecError>> {
        let catalog = problem.catalog;
        let mut reader = Reader { catalog, problem, stack: &spec.stack, errors: Vec::new(), warnings: Vec::new() };
        let (frameworks, companions) = asked_packages(spec, &mut reader);
        reader.own_builds(spec);
        reader.nightlies(spec);
        for (name, written) in &spec.packages {
            reader.ordinary(name, written);
            reader.specifier(name, written);
        }
        let part =
            |name: &str| spec.stack.iter().find(|(key, _)| key == name).map(|(_, written)| written.value.clone());
        let build = spec.build.as_ref().filter(|build| build.cuda_extensions).map(|build| BuildAsk {
            ptx: build.ptx,
            arch_list: build.arch_list.as_ref().map(|written| written.value.with_ptx(build.ptx)),
        });
        let mut off = reader.overrides(&spec.overrides);
        // What overlays have retracted holds for no target.
        off.extend(catalog.retractions.iter().map(|one| Off { rule: one.rule.to_string(), target: None }));
        let mut targets = reader.targets(&spec.targets, build.is_some(), &off, most);
        targets.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        reader.silences(&spec.silences);
        if !reader.errors.is_empty() {
            SpecError::in_file_order(&mut reader.errors);
            return Err(reader.errors);
        }
        let request = Request {
            catalog,
            rules: &problem.rules,
            problem,
            has_framework: !frameworks.is_empty(),
            frameworks,
            companions,
            python: part("python"),
            cuda: part("cuda"),
            cuda_line: part("cuda").map(|cuda| cuda.cut_to(2)),
            cudnn: part("cudnn"),
            nccl: part("nccl"),
            packages: spec.packages.iter().map(|(name, written)| (name.clone(), written.value.clone())).collect(),
            build,
            targets,
            share: spec.resolve.share,
            prefer: spec.resolve.prefer,
            allow_experimental: spec.resolve.allow_experimental,
            off,
        };
        Ok((request, reader.warnings))
    }

    /// The target of this name.
    pub fn target(&self, name: &str) -> Option<&TargetRequest<'c>> {
        let found = self.targets.binary_search_by(|target| (*target.name).cmp(name));
        found.ok().map(|at| &self.targets[at])
    }

    /// The same without what it asks of some packages.
    pub fn without(&self, packages: &[&str]) -> Request<'c> {
        let mut rest = self.of(self.targets.clone());
        rest.frameworks.retain(|ask| !packages.contains(&ask.package));
        rest.companions.retain(|ask| !packages.contains(&ask.package));
        rest
    }

    /// What is asked of Python, CUDA, cuDNN or NCCL.
    pub fn part(&self, name: &str) -> Option<&Constraint> {
        let part = match name {
            "python" => &self.python,
            "cuda" => &self.cuda,
            "cudnn" => &self.cudnn,
            "nccl" => &self.nccl,
            _ => &None,
        };
        part.as_ref()
    }

    /// Leaves out what is asked of some of CUDA, cuDNN and NCCL.
    pub fn forget(&mut self, parts: &[&str]) {
        if parts.contains(&"cuda") {
            (self.cuda, self.cuda_line) = (None, None);
        }
        if parts.contains(&"cudnn") {
            self.cudnn = None;
        }
        if parts.contains(&"nccl") {
            self.nccl = None;
        }
    }

    /// The same asked of these targets.
    pub fn of(&self, targets: Vec<TargetRequest<'c>>) -> Request<'c> {
        Request {
            targets,
            frameworks: self.frameworks.clone(),
            companions: self.companions.clone(),
            python: self.python.clone(),
            cuda: self.cuda.clone(),
            cuda_line: self.cuda_line.clone(),
            cudnn: self.cudnn.clone(),
            nccl: self.nccl.clone(),
            packages: self.packages.clone(),
            build: self.build.clone(),
            off: self.off.clone(),
            ..*self
        }
    }

    /// The rule that may speak against a build on a GPU, for all that anybody knows.
    pub fn unproven_rule<'a>(&'a self, build: &'a Build, gpu: &'a GpuRequest<'_>) -> Option<&'a Rc<Needs<'c>>> {
        let mut rules = self.rules.unproven_on(&build.package, &gpu.cc_version);
        rules.find(|rule| !build.is_cpu() && rule.range.admits(&build.version))
    }

    /// What `[packages]` asks for of NVIDIA's libraries.
    pub fn libraries(&self) -> impl Iterator<Item = (&str, &Specifier)> {
        let of_nvidia = |(name, _): &&(String, Specifier)| is_of_nvidia(name);
        self.packages.iter().filter(of_nvidia).map(|(name, range)| (name.as_str(), range))
    }

    /// What it compiles for.
    pub fn archs(&self) -> Archs {
        let list = self.build.as_ref().and_then(|build| build.arch_list.as_ref());
        if list.is_some() { Archs::Listed } else { Archs::Free }
    }

    /// The rules that are set aside for every target.
    pub fn off_everywhere(&self) -> RowSet {
        let everywhere = self.off.iter().filter(|off| off.target.is_none());
        self.rules.ids(everywhere.map(|off| off.rule.as_str()))
    }

    /// The rules that are set aside for a target alone.
    pub fn off_for(&self, target: &str) -> RowSet {
        let own = self.off.iter().filter(|off| off.target.as_deref() == Some(target));
        self.rules.ids(own.map(|off| off.rule.as_str()))
    }

    /// All rules that are set aside for a target.
    pub fn off_at(&self, target: &str) -> RowSet {
        let mut off = self.off_everywhere();
        off.add(&self.off_for(target));
        off
    }

    /// The cuDNN wanted of the system: asked for where no framework brings its own.
    pub fn system_cudnn(&self) -> Option<&Constraint> {
        self.cudnn.as_ref().filter(|_| self.frameworks.is_empty())
    }

    /// What must be in an image for its stack.
    pub fn inside_images(&self) -> image::Inside<'_> {
        image::Inside { needs: self.needs_of_images(), cudnn: self.system_cudnn() }
    }

    /// What its stack needs of an image.
    pub fn needs_of_images(&self) -> image::Needs {
        let own = self.targets.iter().any(|target| target.platform.takes != Takes::General);
        let frameworks = || self.frameworks.iter().filter_map(|ask| self.problem.framework(ask.package));
        // What an image had better hold matters where one is chosen.
        let is_chosen = self.targets.iter().any(|target| matches!(target.image, ImageRequest::Choose(_)));
        let compiles = || self.build.is_none() && self.companions.iter().any(|ask| self.may_need_toolkit(ask));
        let with_headers =
            || self.companions.iter().any(|ask| self.admitted(ask).any(|row| row.cudnn_headers.is_some()));
        image::Needs {
            compiler: self.build.is_some(),
            libraries: self.frameworks.is_empty(),
            system_cuda: frameworks().any(|framework| framework.takes_system_cuda(own)),
            compiler_files: frameworks().any(|framework| framework.reads_of_compiler()),
            compiles: is_chosen && compiles(),
            cudnn_headers: is_chosen && with_headers(),
        }
    }

    /// The releases that are asked for of a package that follows a framework.
    fn admitted<'a>(&'a self, ask: &'a PackageRequest<'c>) -> impl Iterator<Item = &'c Companion> + 'a {
        let package = self.problem.package(ask.package).into_iter();
        let rows = package.flat_map(|package| package.releases.iter().copied());
        rows.filter(|row| ask.constraint.admits(&row.version))
    }

    /// Whether a release that is asked for of a package had better find a toolkit: it may be compiled where it is installed or
    /// used, itself or what it requires, or looks for one.
    fn may_need_toolkit(&self, ask: &PackageRequest<'c>) -> bool {
        let of_releases = self.admitted(ask).flat_map(Companion::requirements);
        let required: BTreeSet<&str> = of_releases.map(|(package, ..)| package).collect();
        self.admitted(ask).any(|row| row.sdist || row.jit || row.finds_cuda || row.headers_from.is_some())
            || required.into_iter().any(|package| self.catalog.companions.of(package).iter().any(|row| row.jit))
    }

    /// The GPUs that a target names, one for each kind that rules can tell apart, with the rules about them that hold.
    pub fn gpu_rules(&self, target: &TargetRequest<'c>) -> Vec<GpuKind<'c>> {
        let holds = |rules: &[Rc<Needs<'c>>]| -> Vec<Rc<Needs<'c>>> {
            rules.iter().filter(|rule| self.holds(&rule.row.id, &target.name)).cloned().collect()
        };
        let kinds = target.machine.kinds.iter();
        kinds
            .map(|kind| GpuKind {
                gpu: kind.gpu.clone(),
                cuda: holds(&kind.cuda),
                driver: holds(&kind.driver),
                cudnn: holds(&kind.cudnn),
            })
            .collect()
    }

    /// Whether a rule holds for a target.
    pub fn holds(&self, rule: &str, target: &str) -> bool {
        !self.off.iter().any(|off| off.bears_on(rule, target))
    }
}
