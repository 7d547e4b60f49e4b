//! From an answer to the lock that holds it.

use std::collections::{BTreeMap, HashMap};

use crate::catalog::rows::{Companion, Compat, Image, Libraries, Os, Pins, TORCH};
use crate::catalog::{Catalog, OsMatch};
use crate::solve::bundled_torch;
use crate::solve::held;
use crate::solve::image;
use crate::solve::installs::Install;
use crate::solve::libraries::asked_of;
use crate::solve::ordinary::{self, Among, Beside};
use crate::solve::recommended::{self, Recommended};
use crate::solve::request::{Request, TargetRequest};
use crate::solve::services;
use crate::solve::solution::{Solution, TargetSolution};
use crate::spec::{ImageRef, Runtime, Share, Spec};
use crate::types::nvidia::TOOLKIT;
use crate::types::{ArchList, Specifier, Version, address, distinct, map_of, variant};

use super::sources::{self, Compiled};
use super::{
    ArchLists, CatalogStamp, DriverLock, FORMAT, GpuLock, Lock, OverrideLock, RecommendedLock, Stack, TargetLock,
    Wheel, constraints, grounds,
};

/// Writes an answer down. `overrides` are those that mattered.
pub fn make<'c>(spec: &Spec, request: &Request<'c>, answer: &Solution<'c>, overrides: Vec<OverrideLock>) -> Lock {
    // Whatever targets have in common by their class is worked out for the first of each class.
    let alike = answer.alike();
    let firsts: Vec<&TargetSolution> = alike.iter().map(|group| &*answer.targets[group[0]].chosen).collect();
    let stacks: Vec<Stack> = firsts.iter().map(|chosen| chosen.stack()).collect();
    let lists: Vec<Option<ArchLists>> = firsts.iter().map(|chosen| chosen.arch_list.as_ref().map(arch_lists)).collect();
    let shared = request.share == Share::Stack;
    let stack = answer.common_stack(shared);
    let arch_list = common_list(&lists, shared);
    let mut systems = Systems::new(spec, request.catalog);
    let mut target: Vec<(String, TargetLock)> = Vec::with_capacity(answer.targets.len());
    for (at, group) in alike.iter().enumerate() {
        let mut lock = target_lock(&request.targets[group[0]], firsts[at]);
        lock.stack = (!shared || stacks[at] != stack).then(|| stacks[at].clone());
        lock.arch_list = lists[at].clone().filter(|own| !shared || Some(own) != arch_list.as_ref());
        lock.asks = asks_of_present(request, firsts[at]);
        for &member in group {
            let name = &answer.targets[member].name;
            // An image that nobody could check is repeated as each target writes it: to the solver they are all alike.
            let image = firsts[at].image_reference(&request.targets[member]);
            let image = image.map(|image| systems.with_digest(name, systems.as_written(name, image)));
            let runtime_image = lock.runtime_image.clone().map(|image| systems.as_written(name, image));
            let os = systems.of(&request.targets[member], firsts[at]);
            // Products that are the same may be named in other words, and those tell which of them are meant.
            let driver = firsts[at].driver.as_ref().map(|driver| &driver.version);
            let requires = requires(request.catalog, &request.targets[member], driver);
            let mut own = TargetLock { os, image, runtime_image, requires, ..lock.clone() };
            let recommended = recommended::driver(request, &request.targets[member], firsts[at]);
            if let Some(driver) = &mut own.driver {
                driver.recommended = recommended.as_ref().map(recommendation);
            }
            target.push((name.clone(), own));
        }
    }
    let target = map_of(target);
    let catalog = CatalogStamp::of(request.catalog);
    let wheel = wheels(request, answer, &alike);
    let constraint = constraints::constraints(request, answer, &alike);
    let fact = grounds::facts(request, answer, &alike);
    Lock {
        spec: None,
        version: FORMAT,
        catalog,
        inputs: spec.inputs(),
        stack,
        arch_list,
        target,
        wheel,
        constraint,
        overrides,
        fact,
    }
}

/// A target without a GPU compiles for none, which is no reason to give the others lists of their own.
fn common_list(lists: &[Option<ArchLists>], shared: bool) -> Option<ArchLists> {
    let mut known = lists.iter().filter(|list| !shared || list.is_some());
    let first = known.next()?;
    known.all(|list| list == first).then(|| first.clone()).flatten()
}

fn arch_lists(list: &ArchList) -> ArchLists {
    ArchLists { torch: list.torch(), cmake: list.cmake() }
}

/// A target's lock, but for what is its own.
fn target_lock(asked: &TargetRequest<'_>, chosen: &TargetSolution<'_>) -> TargetLock {
    let runtime = match asked.runtime {
        Runtime::Container => "container",
        Runtime::BareMetal => "bare-metal",
    };
    let gpus = chosen.gpus.iter().map(|gpu| GpuLock {
        name: gpu.name.clone(),
        compute_capability: gpu.cc.to_string(),
        coverage: gpu.coverage.and_then(|coverage| coverage.as_str()).map(str::to_string),
    });
    TargetLock {
        runtime: runtime.to_string(),
        arch: chosen.arch.to_string(),
        platform: asked.windows_driver.then(|| "wsl2".to_string()),
        os: None,
        image: None,
        runtime_image: chosen.runtime_image.map(Image::name),
        toolkit: chosen.toolkit.map(|toolkit| toolkit.version.to_string()),
        driver: driver(asked, chosen),
        requires: Vec::new(),
        asks: Vec::new(),
        stack: None,
        arch_list: None,
        gpu: gpus.collect(),
    }
}

/// What has to be installed beside the driver.
fn requires(catalog: &Catalog, asked: &TargetRequest<'_>, driver: Option<&Version>) -> Vec<String> {
    let rows = services::of_target(catalog, asked, driver);
    distinct(rows.iter().filter_map(|row| row.needs.as_ref()).map(ToString::to_string))
}

/// The OS of each target by its own name, and its image as it is written.
struct Systems<'a> {
    images: HashMap<&'a str, &'a ImageRef>,
    catalog: &'a Catalog,
    written: HashMap<&'a str, &'a str>,
    known: HashMap<&'a str, &'a str>,
}

impl<'a> Systems<'a> {
    fn new(spec: &'a Spec, catalog: &'a Catalog) -> Self {
        let written = spec.targets.iter().filter_map(|target| Some((&*target.name, &*target.os.as_ref()?.value)));
        let images = spec.targets.iter().filter_map(|target| Some((&*target.name, &target.image.as_ref()?.value)));
        Systems { images: images.collect(), catalog, written: written.collect(), known: HashMap::new() }
    }

    /// An image that was pinned is that one, whatever its tag comes to mean.
    fn with_digest(&self, target: &str, image: String) -> String {
        let digest = self.images.get(target).and_then(|written| written.digest.as_ref());
        match digest.filter(|_| !image.contains('@')) {
            Some(digest) => format!("{image}@{digest}"),
            None => image,
        }
    }

    /// A tag of the repository that is written, though the catalog has it of the one that this repeats.
    fn as_written(&self, target: &str, image: String) -> String {
        self.images.get(target).and_then(|written| image::spelt(written, &image)).unwrap_or(image)
    }

    /// As written where the catalog does not know it, else the image's. A Jetson's is the JetPack as which it counts.
    fn of(&mut self, asked: &TargetRequest<'_>, chosen: &TargetSolution<'_>) -> Option<String> {
        let catalog = self.catalog;
        if let Some(written) = self.written.get(&*asked.name) {
            let is_base = |_: &&Os| matches!(catalog.os(written), OsMatch::Found(os) if os.cuda.is_none());
            if let Some(jetpack) = asked.os.filter(|os| os.cuda.is_some()).filter(is_base) {
                return Some(jetpack.id.to_string());
            }
            let known = self.known.entry(written).or_insert_with(|| match catalog.os(written) {
                OsMatch::Found(os) => &os.id,
                OsMatch::Unknown(_) => written,
            });
            return Some(known.to_string());
        }
        let image = chosen.image?;
        Some(catalog.os_of_image(image).map_or(&image.os, |os| &os.id).to_string())
    }
}

fn driver(asked: &TargetRequest<'_>, chosen: &TargetSolution<'_>) -> Option<DriverLock> {
    let (judged, minimum) = (chosen.driver.as_ref()?, chosen.minimum.as_ref()?);
    // Without cuda-compat whatever is newer will do.
    let by_compat = chosen.others.iter().filter(|row| judged.compat.is_some() && row.compat.is_some());
    let others = by_compat.map(|row| row.version).filter(|other| other.major() != minimum.major());
    let others = others.filter(|_| !asked.has_unnumbered_driver());
    Some(DriverLock {
        minimum: (!asked.has_unnumbered_driver()).then(|| minimum.to_string()),
        others: distinct(others).iter().map(ToString::to_string).collect(),
        except: chosen.except.iter().map(ToString::to_string).collect(),
        mode: chosen.mode().as_str().to_string(),
        cuda: judged.branch.cuda.as_ref().map_or_else(|| "unknown".to_string(), ToString::to_string),
        compat: judged.compat.map(Compat::package),
        recommended: None,
    })
}

fn recommendation(driver: &Recommended<'_>) -> RecommendedLock {
    RecommendedLock {
        release: driver.release.to_string(),
        branch: driver.branch.branch.to_string(),
        until: driver.branch.eol.map(|end| end.to_string()),
        modules: driver.modules.map(str::to_string),
    }
}

/// What is installed somewhere: targets with all of this in common share a wheel of the lock. The lock has its wheels in the
/// order of these fields.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct WheelKey<'a> {
    install: Install,
    arch: &'a str,
    sha256: String,
    asks: Vec<String>,
    compiled: Compiled,
    python: Option<String>,
    libraries: Vec<String>,
}

impl WheelKey<'_> {
    fn into_wheel(self, targets: Vec<String>) -> Wheel {
        let WheelKey { install, arch, sha256, asks, compiled, python, libraries } = self;
        let Compiled { unisolated, tools, requires, switch, archs } = compiled;
        let Install { package, version, index, url, extra, system_cuda, sdist } = install;
        Wheel {
            package,
            version,
            arch: arch.to_string(),
            index,
            url: url.map(|url| url.split('#').next().unwrap_or_default().to_string()),
            extra,
            system_cuda,
            sdist,
            unisolated,
            tools,
            requires,
            switch,
            archs,
            sha256,
            libraries,
            python,
            asks,
            targets,
        }
    }
}

/// The wheels of all targets: what several need is listed once.
fn wheels<'c>(request: &Request<'c>, answer: &Solution<'c>, alike: &[Vec<usize>]) -> Vec<Wheel> {
    let catalog = request.catalog;
    let mut merged: BTreeMap<WheelKey<'_>, Vec<usize>> = BTreeMap::new();
    for group in alike {
        let chosen = &answer.targets[group[0]].chosen;
        let ordinary = Ordinary::of(request, chosen);
        for install in installed(catalog, chosen) {
            let version = Version::parse(variant::public(&install.version)).ok();
            let key = WheelKey {
                arch: chosen.arch.as_str(),
                sha256: sha256(catalog, chosen, &install),
                asks: version.map_or_else(Vec::new, |version| ordinary.asks(&install.package, &version)),
                compiled: sources::compiled(catalog, chosen, &install),
                python: python_patch(catalog, chosen, &install),
                libraries: libraries(catalog, chosen, &install),
                install,
            };
            merged.entry(key).or_default().extend(group);
        }
    }
    let wheel = |(key, mut targets): (WheelKey<'_>, Vec<usize>)| {
        targets.sort_unstable();
        key.into_wheel(targets.into_iter().map(|target| answer.targets[target].name.clone()).collect())
    };
    merged.into_iter().map(wheel).collect()
}

/// The metapackage of the chosen CUDA, where packages that follow no framework take their libraries through it
/// (`cuda-toolkit[nvrtc]==13.*` of RAPIDS), be it through others, and no framework pins them: it holds nothing itself, and its
/// extras are exact.
fn toolkit_package(catalog: &Catalog, chosen: &TargetSolution<'_>) -> Option<Install> {
    // What a framework pins is of one release of it already.
    let is_pinned = chosen.builds.iter().any(|build| build.pins == Some(Pins::Exact));
    let open = chosen.pieces.as_ref().filter(|_| !is_pinned).map(|pieces| pieces.toolkit.version);
    let version = chosen.cuda.filter(|_| chosen.builds.is_empty()).map(|cuda| cuda.version).or(open)?;
    let asks = |package: &str| catalog.asks.of(package).iter().any(|row| *row.of == *TOOLKIT);
    let through = |one: &Companion| one.requirements().any(|(of, ..)| asks(of));
    if !chosen.companions.iter().any(|one| one.follows_cuda() && (asks(&one.package) || through(one))) {
        return None;
    }
    let row = catalog.libraries.of(TOOLKIT).iter().find(|row| row.version == version)?;
    Some(Install::from_pypi(TOOLKIT.to_string(), row.version.to_string()))
}

/// Whether the image holds it already, the framework or a library that this asks for: a second one beside it would be the one
/// that is loaded, or not.
fn is_in_image(catalog: &Catalog, chosen: &TargetSolution<'_>, install: &Install) -> bool {
    let holding = chosen.image.and_then(|image| Some((image, image.torch.as_deref()?)));
    let torch = chosen.builds.iter().find(|build| *build.package == *TORCH);
    let Some(((image, inside), build)) = holding.zip(torch) else { return false };
    let mut libraries = asked_of(catalog, build, Some(chosen.arch));
    let is_its = install.package == *build.package || libraries.any(|(name, _)| install.package == name);
    is_its && bundled_torch::is_inside(image, inside, build)
}

/// The sha256 of the file that serves a target's Python, or that it is unknown.
fn sha256(catalog: &Catalog, chosen: &TargetSolution<'_>, install: &Install) -> String {
    if let Some(sha256) = install.url.as_deref().and_then(|url| address::wheel(url)?.1) {
        return sha256.to_string();
    }
    // What somebody built is another file than the published one of that name.
    if chosen.builds.iter().any(|build| build.is_own() && build.package == install.package) {
        return Wheel::UNKNOWN.to_string();
    }
    let version = variant::public(&install.version);
    // The PyTorch index has a directory for each variant; a file on no index is told apart by the label in its name.
    let label = install.url.as_deref().and_then(address::version_in).and_then(|version| variant::parts(version).1);
    let directory = install.index.as_deref().and_then(|url| url.rsplit('/').next());
    let index = directory.or(label).unwrap_or_default();
    let python = chosen.python.map_or("", |python| python.as_str());
    let found = catalog.wheel_digests.of(&install.package, version, index, python, chosen.arch.as_str());
    if found.is_empty() { Wheel::UNKNOWN.to_string() } else { found.join(" ") }
}

/// The first patch release of the chosen Python that a package can be installed with.
fn python_patch(catalog: &Catalog, chosen: &TargetSolution<'_>, install: &Install) -> Option<String> {
    let version = Version::parse(variant::public(&install.version)).ok()?;
    Some(catalog.python_patch(&install.package, &version, chosen.python?)?.python.to_string())
}

/// Everything that is installed for a choice.
fn installed<'a>(catalog: &'a Catalog, chosen: &'a TargetSolution<'_>) -> impl Iterator<Item = Install> {
    let brought = sources::brought(catalog, chosen).into_iter().map(|(_, row)| Install {
        sdist: true,
        ..Install::from_pypi(row.package.to_string(), row.version.to_string())
    });
    let all = chosen.wheels().into_iter().chain(toolkit_package(catalog, chosen)).chain(brought);
    all.filter(|install| !is_in_image(catalog, chosen, install))
}

/// What is locked and installed by nobody, for the image holds it or its owner has it, needs of packages that are installed
/// beside it.
fn asks_of_present<'c>(request: &Request<'c>, chosen: &TargetSolution<'c>) -> Vec<String> {
    let installed: Vec<String> = installed(request.catalog, chosen).map(|install| install.package).collect();
    let mut present = chosen.locked();
    present.retain(|(package, _)| !installed.contains(package));
    // Python needs nothing by itself: what follows no framework is held with it where there is none.
    let is_python_alone = present.iter().all(|(package, _)| package == "python") && !chosen.builds.is_empty();
    if is_python_alone || installed.is_empty() && request.packages.is_empty() {
        return Vec::new();
    }
    let ordinary = Ordinary::of(request, chosen);
    distinct(present.iter().flat_map(|(package, version)| ordinary.asks(package, version)))
}

/// The ordinary packages beside a choice.
struct Ordinary<'a, 'c> {
    request: &'a Request<'c>,
    chosen: &'a TargetSolution<'c>,
    /// What is there beside them.
    there: Vec<Beside>,
    /// Those that are written or come along.
    beside: Vec<(String, Specifier)>,
    among: Among<'c>,
}

impl<'a, 'c> Ordinary<'a, 'c> {
    fn of(request: &'a Request<'c>, chosen: &'a TargetSolution<'c>) -> Self {
        let (problem, packages) = (request.problem, &request.packages);
        let locked = chosen.locked();
        let mut beside = packages.to_vec();
        beside.extend(ordinary::brought(problem, &locked, packages));
        let among = Among::of(problem, &locked, packages);
        Ordinary { request, chosen, there: held::all_beside(problem, chosen, packages), beside, among }
    }

    /// What no installer knows of packages beside a locked one: what that needs of them, and those of it or of what is there
    /// through it, and which of those that it requires go with the stack.
    fn asks(&self, package: &str, version: &Version) -> Vec<String> {
        let problem = self.request.problem;
        let rows = ordinary::untold(problem, package, version);
        let mut all: Vec<String> = rows.into_iter().map(|row| format!("{}{}", row.of, row.needs)).collect();
        all.extend(ordinary::held(problem, package, &self.there, &self.beside));
        let others = self.among.held_by(problem, package).into_iter();
        all.extend(others.map(|row| format!("{}{}", row.of, row.needs)));
        let companions = self.chosen.companions.iter().filter(|row| *row.package == *package);
        let others = companions.flat_map(|row| held::left_open(problem, self.chosen, row));
        all.extend(others.map(|other| other.told()));
        all
    }
}

/// What the build of the package index pins; what it leaves open is no pin. Of the components that the extras of a metapackage
/// pin, one that is chosen for itself comes through no extra.
fn libraries(catalog: &Catalog, chosen: &TargetSolution<'_>, install: &Install) -> Vec<String> {
    let same = |row: &&Libraries| {
        row.variant.is_none() && row.version.as_str() == install.version && row.arch.is_none_or(|of| of == chosen.arch)
    };
    let row = catalog
        .libraries
        .of(&install.package)
        .iter()
        .filter(|_| install.index.is_none() && install.url.is_none())
        .find(same);
    let is_other = |name: &str, version: &str| {
        let mut by_pip = chosen.by_pip.iter();
        install.package == TOOLKIT && by_pip.any(|(of, own)| of == name && *own.as_str() != version[2..])
    };
    let exact = row.into_iter().flat_map(Libraries::asked).filter(|(_, range)| range.starts_with("=="));
    exact.filter(|(name, range)| !is_other(name, range)).map(|(name, range)| [name, range].concat()).collect()
}
