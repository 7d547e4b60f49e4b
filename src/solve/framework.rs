//! A framework's releases as a table, and which of them each law refuses: worked out once for all requests.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Listing, Reading, Status};
use crate::coverage::Coverage;
use crate::solve::platform::{Platform, Takes};
use crate::solve::release::{self, Release};
use crate::solve::rowset::{self, RowSet};
use crate::solve::values::GpuRequest;
use crate::solve::{coinstall, fits};
use crate::types::{Arch, Cc, Version};

use super::kept::Kept;
use super::rules::{Needs, RuleId};

/// A framework's releases, newest version first and of one version the preferred variant first.
#[derive(Debug)]
pub struct Framework<'c> {
    /// Its name.
    pub package: &'c str,
    /// The releases.
    pub releases: Rc<[Release<'c>]>,
    /// The versions, newest first.
    pub versions: Rc<[&'c Version]>,
    /// The releases of each version.
    pub of_version: Vec<RowSet>,
    /// The releases without CUDA.
    pub cpu: RowSet,
    /// Those that a spec brings, which nothing takes but the entry that names them.
    pub laid: RowSet,
    /// The indexes of which nobody has read the whole listing.
    unread: Vec<&'c Listing>,
    /// Whether some release needs CUDA and cuDNN of the system, and whether one made for single systems does.
    system_cuda: bool,
    system_cuda_for_systems: bool,
    /// Whether some release reads files of the toolkit's compiler when it runs.
    reads_of_compiler: bool,
    known: Kept<Property<'c>, RowSet>,
    pythons: Kept<(Platform<'c>, Version, bool), RowSet>,
    cudnns: Kept<(Platform<'c>, usize, bool), RowSet>,
    /// The builds for single systems that a kind of machine takes.
    for_systems: Kept<Platform<'c>, [&'c Build]>,
    failing: Kept<(Platform<'c>, Cc, String), [OnceCell<usize>]>,
}

/// A set of releases that a law or a policy speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Property<'c> {
    Yanked,
    Unpublished(Platform<'c>),
    Unseen(Platform<'c>),
    NewerGlibc(Platform<'c>, Version),
    Uncovered(Platform<'c>, Cc),
    Line(RuleId),
    Cudnn(Platform<'c>, RuleId),
    Range(RuleId),
    Experimental(Platform<'c>),
    UnknownCode(Platform<'c>),
    DisputedCode(Platform<'c>, Cc),
    TakesNewerCudnn(Platform<'c>),
    LeavesOpen(Platform<'c>),
}

impl<'c> Framework<'c> {
    /// The releases that the builds of a package make.
    pub(super) fn new(catalog: &'c Catalog, package: &'c str) -> Self {
        let builds = catalog.builds.of(package);
        let releases = release::releases(catalog, builds);
        let (versions, of_version) = rowset::grouped(releases.iter().map(|release| release.version));
        let cpu = RowSet::filter(releases.len(), |row| releases[row].is_cpu());
        let laid = RowSet::filter(releases.len(), |row| releases[row].is_laid());
        let needs_system = |build: &Build| build.system_cuda;
        Framework {
            package,
            system_cuda: releases.iter().any(|release| release.builds().any(needs_system)),
            system_cuda_for_systems: releases.iter().any(|release| release.for_systems().any(needs_system)),
            reads_of_compiler: builds.iter().any(|build| build.reads_of_compiler().is_some()),
            unread: catalog.listings.of(package).iter().filter(|row| row.reading == Reading::Seen).collect(),
            releases: releases.into(),
            versions: versions.into(),
            of_version,
            cpu,
            laid,
            known: Kept::default(),
            pythons: Kept::default(),
            cudnns: Kept::default(),
            for_systems: Kept::default(),
            failing: Kept::default(),
        }
    }

    /// For each release how much of it is known to fail on a GPU on a kind of machine, found when it is first asked for.
    pub fn failing(&self, on: Platform<'c>, gpu: &GpuRequest<'c>) -> Rc<[OnceCell<usize>]> {
        self.failing.get((on, gpu.cc, gpu.name.clone()), || vec![OnceCell::new(); self.releases.len()])
    }

    /// The releases that a constraint on them admits.
    pub fn matching(&self, admits: impl Fn(&Release<'c>) -> bool) -> RowSet {
        RowSet::filter(self.releases.len(), |row| admits(&self.releases[row]))
    }

    /// The versions of some releases.
    pub fn versions_of(&self, releases: &RowSet) -> RowSet {
        RowSet::filter(self.versions.len(), |version| self.of_version[version].meets(releases))
    }

    fn property(&self, key: Property<'c>, holds: impl Fn(&Release<'c>) -> bool) -> Rc<RowSet> {
        self.known.get(key, || self.matching(holds))
    }

    /// The releases with CUDA code whose build for a kind of machine something holds for.
    fn of_builds(&self, key: Property<'c>, on: Platform<'c>, holds: impl Fn(&'c Build) -> bool) -> Rc<RowSet> {
        self.property(key, |release| !release.is_cpu() && release.on(on).is_some_and(&holds))
    }

    /// The releases without a build for a kind of machine.
    pub fn unpublished(&self, on: Platform<'c>) -> Rc<RowSet> {
        self.property(Property::Unpublished(on), |release| release.on(on).is_none())
    }

    /// The releases that their publisher has withdrawn.
    pub fn yanked(&self, catalog: &Catalog) -> Rc<RowSet> {
        let of = |release: &Release<'c>| !release.is_own() && catalog.is_yanked(self.package, release.version);
        self.property(Property::Yanked, of)
    }

    /// The releases that nobody has seen for a kind of machine though they may exist.
    pub fn unseen(&self, on: Platform<'c>) -> Rc<RowSet> {
        self.property(Property::Unseen(on), |release| self.is_unseen(release, on))
    }

    /// Whether there may be a build of a release for a kind of machine that nobody has seen. What is made for single systems
    /// lies on no index, and the catalog has what public files name: there may be others beside those.
    pub fn is_unseen(&self, release: &Release<'c>, on: Platform<'c>) -> bool {
        match on.takes {
            Takes::ForSystem(_) if !on.is_one_system() || release.is_cpu() || release.on(on).is_some() => false,
            Takes::ForSystem(_) => !self.like(release, on).is_empty(),
            _ => release.is_unseen(on),
        }
    }

    /// What such a build would be like: those before and after it for the same machines.
    fn like(&self, release: &Release<'c>, on: Platform<'c>) -> Vec<&'c Build> {
        if !matches!(on.takes, Takes::ForSystem(_)) {
            return release.like(on).to_vec();
        }
        let all = self.for_systems.get(on, || {
            let all = self.releases.iter().flat_map(|other| other.for_systems());
            all.filter(|build| on.takes(build)).collect::<Vec<_>>()
        });
        let all = || all.iter().copied();
        let before = all().filter(|build| build.version < *release.version).max_by_key(|build| build.version);
        let after = all().filter(|build| build.version > *release.version).min_by_key(|build| build.version);
        before.into_iter().chain(after).collect()
    }

    /// The last of those before an unseen build, and the first of those after it.
    pub fn around(&self, release: &Release<'c>, on: Platform<'c>) -> [Option<&'c Build>; 2] {
        let like = self.like(release, on);
        let before = like.iter().copied().filter(|build| build.version < *release.version);
        let after = like.iter().copied().filter(|build| build.version > *release.version);
        [before.max_by_key(|build| build.version), after.min_by_key(|build| build.version)]
    }

    /// Whether all that an unseen build would be like has something against it.
    fn all_alike(&self, release: &Release<'c>, on: Platform<'c>, holds: impl Fn(&Build) -> bool) -> bool {
        if !self.is_unseen(release, on) {
            return false;
        }
        let like = self.like(release, on);
        !like.is_empty() && like.iter().all(|build| holds(build))
    }

    /// The releases that need a newer C library than there is.
    pub fn newer_glibc(&self, on: Platform<'c>, has: Version) -> Rc<RowSet> {
        self.property(Property::NewerGlibc(on, has), |release| {
            let lacks = |build: &Build| build.glibc.is_some_and(|needs| has < needs);
            match release.on(on) {
                Some(build) => lacks(build),
                None => self.all_alike(release, on, lacks),
            }
        })
    }

    /// The releases known to hold no code for a GPU.
    pub fn uncovered(&self, on: Platform<'c>, gpu: Cc) -> Rc<RowSet> {
        // Releases in a row often hold the same code: lists in one place and as long, that somebody has read or nobody.
        type Code = (*const [Arch], *const [Arch], bool, usize);
        let reached: RefCell<FxHashMap<Code, bool>> = RefCell::default();
        self.property(Property::Uncovered(on, gpu), |release| {
            let toolkit = release.toolkit(on);
            let lacks = |build: &Build| {
                let of_toolkit = toolkit.map_or(0, |toolkit| std::ptr::from_ref(toolkit).addr());
                let code = (&raw const *build.sass.0, &raw const *build.ptx.0, build.arch_source.is_some(), of_toolkit);
                let mut reached = reached.borrow_mut();
                *reached.entry(code).or_insert_with(|| fits::coverage(build, toolkit, gpu) == Some(Coverage::None))
            };
            !release.is_cpu()
                && match release.on(on) {
                    Some(build) => lacks(build),
                    None => self.all_alike(release, on, lacks),
                }
        })
    }

    /// The releases whose CUDA line a rule about GPUs refuses.
    pub fn refused_line(&self, rule: &Needs<'c>, newest_of: impl Fn(Version) -> Version) -> Rc<RowSet> {
        self.property(Property::Line(rule.id), |release| {
            release.line.is_some_and(|line| !rule.needs.admits(&newest_of(line)))
        })
    }

    /// The releases whose cuDNN a rule about GPUs refuses.
    pub fn refused_cudnn(&self, on: Platform<'c>, rule: &Needs<'c>) -> Rc<RowSet> {
        let refuses = |build: &Build| build.cudnn.as_ref().is_some_and(|cudnn| rule.range.admits(cudnn));
        self.of_builds(Property::Cudnn(on, rule.id), on, refuses)
    }

    /// The releases with CUDA that a rule about this package speaks of.
    pub fn within(&self, rule: &Needs<'c>) -> Rc<RowSet> {
        self.property(Property::Range(rule.id), |release| !release.is_cpu() && rule.range.admits(release.version))
    }

    /// The releases whose publisher calls them experimental.
    pub fn experimental(&self, on: Platform<'c>) -> Rc<RowSet> {
        let experimental = |build: &Build| build.status == Status::Experimental && !build.default;
        self.of_builds(Property::Experimental(on), on, experimental)
    }

    /// The releases whose GPU code nobody has read.
    pub fn unknown_code(&self, on: Platform<'c>) -> Rc<RowSet> {
        self.of_builds(Property::UnknownCode(on), on, |build| build.arch_source.is_none())
    }

    /// The releases of which evidence differs on whether a GPU loads their code.
    pub fn disputed_code(&self, on: Platform<'c>, gpu: Cc) -> Rc<RowSet> {
        self.property(Property::DisputedCode(on, gpu), |release| {
            let unknown = |build: &Build| fits::coverage(build, release.toolkit(on), gpu).is_none();
            !release.is_cpu() && release.on(on).is_some_and(|build| build.arch_source.is_some() && unknown(build))
        })
    }

    /// The releases that take any newer cuDNN than the one they name.
    pub fn takes_newer_cudnn(&self, on: Platform<'c>) -> Rc<RowSet> {
        self.of_builds(Property::TakesNewerCudnn(on), on, coinstall::takes_newer)
    }

    /// The releases that leave open which libraries pip installs.
    pub fn leaves_open(&self, on: Platform<'c>) -> Rc<RowSet> {
        self.of_builds(Property::LeavesOpen(on), on, coinstall::leaves_open)
    }

    /// Whether some release needs CUDA and cuDNN of the system; with `for_systems` also those made for single systems.
    pub fn takes_system_cuda(&self, for_systems: bool) -> bool {
        self.system_cuda || (for_systems && self.system_cuda_for_systems)
    }

    /// Whether some release reads files of the toolkit's compiler when it runs.
    pub fn reads_of_compiler(&self) -> bool {
        self.reads_of_compiler
    }

    /// The releases with wheels for a line of Python; with `possible` also those for which there may be one.
    pub fn with_python(&self, on: Platform<'c>, line: Version, possible: bool) -> Rc<RowSet> {
        self.pythons.get((on, line, possible), || {
            self.matching(|release| {
                let Some(build) = release.on(on) else {
                    let lacks = |build: &Build| !build.installs_on(&line) && !build.is_of_one_system();
                    return !self.all_alike(release, on, lacks);
                };
                let partial = build.pythons_partial || build.is_of_one_system() || self.may_lie_elsewhere(build);
                let may_exist = possible && partial && build.pins_install_on(&line);
                build.installs_on(&line) || (may_exist && self.series_may_have(build, line))
            })
        })
    }

    /// The cuDNN releases, newest first, with which a release runs; with `possible` also those that may have been published
    /// for its CUDA.
    pub fn cudnns(&self, catalog: &Catalog, on: Platform<'c>, release: usize, possible: bool) -> Rc<RowSet> {
        let find = || coinstall::runs_with(catalog, on, &self.releases[release], possible);
        self.cudnns.get((on, release, possible), find)
    }

    /// Whether an index of the package that nobody has read whole may hold more files of a build than its own.
    fn may_lie_elsewhere(&self, build: &Build) -> bool {
        let lacks = |row: &&Listing| row.from <= build.version.release() && !build.index.contains(&row.index);
        !build.index.is_empty() && self.unread.iter().any(lacks)
    }

    /// Whether a list of Pythons that is not whole may lack one: those that builds of the same minor release have, and newer
    /// ones, which patch releases were seen to add. A project gives up the older ones with a minor release.
    fn series_may_have(&self, build: &Build, line: Version) -> bool {
        let series = build.version.prefix(2);
        let of_series = self.releases.iter().filter(|release| release.version.cmp_prefix(&series).is_eq());
        let builds = of_series.flat_map(|release| release.builds().chain(release.for_systems()));
        let known: Vec<Version> = builds.flat_map(|build| build.pythons.iter().copied()).collect();
        known.contains(&line) || known.iter().all(|has| *has < line)
    }
}
