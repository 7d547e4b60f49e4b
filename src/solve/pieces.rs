//! The CUDA libraries that frameworks leave open (`nvidia-cublas-cu12>=12.1.3.1`), all or some of them: one toolkit release
//! whose components all of them accept is chosen, judged and installed. Left open, an installer takes the newest of each
//! on its day.

use std::cmp::Reverse;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Index, Libraries, Pins, Subject};
use crate::types::nvidia::RUNTIME;
use crate::types::{Constraint, CpuArch, Specifier, Version, distinct};

use super::coinstall;
use super::compile::{Class, Group, Plan};
use super::facts::Facts;
use super::heeded;
use super::kits::{self, Kit, PackageRequest};
use super::libraries::{asked, asked_of, compiles_for};
use super::rules::Needs;

/// The components of one toolkit release that are installed for frameworks which leave them open.
#[derive(Debug, Clone)]
pub struct Pieces<'c> {
    /// The components of the release.
    pub toolkit: &'c Libraries,
    /// Those that are asked for: package and version.
    pub pins: Vec<(&'c str, &'c str)>,
}

impl Pieces<'_> {
    /// Whether the CUDA runtime is one of them.
    pub fn bring_runtime(&self) -> bool {
        self.pins.iter().any(|(package, _)| package.starts_with(RUNTIME))
    }
}

/// What was chosen for a class of machines of a group.
#[derive(Debug)]
pub struct Beside<'c> {
    /// The builds.
    pub builds: Vec<&'c Build>,
    /// The processor.
    pub arch: CpuArch,
    /// The CUDA version of the driver that the machines have, where it is known.
    pub driver_cuda: Option<Version>,
    /// The line of the toolkit that compiles there.
    pub compiler: Option<Version>,
    /// The CUDA release around the wheels, of a toolkit or an image.
    pub around: Option<Version>,
    /// What the other packages ask of libraries.
    pub asks: Vec<(&'c str, Specifier)>,
    /// What parts of them need: no reason for another release of the toolkit.
    pub of_parts: Vec<(&'c str, Specifier)>,
}

/// What speaks against a toolkit release, what weighs most first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct KitRank {
    /// It is not of the line that the spec asks for.
    off_line: Option<bool>,
    /// It is not the toolkit that the spec asks for.
    unwanted: bool,
    /// A package refuses one of its components. Of those beside pinned ones a later release is taken instead.
    refused: bool,
    /// Rules do not allow its compiler the frameworks.
    unsound: bool,
    /// No framework that pins its libraries was built with it.
    of_no_build: bool,
    /// Another toolkit compiles on some of the machines.
    other_compiler: bool,
    /// It is not the one in the lock.
    unlocked: bool,
    /// It is later than some driver knows by itself.
    beyond_drivers: bool,
    /// Within what the drivers know the newest line, beyond it the nearest, as for the rest of what a build pins.
    newest_line: Option<Reverse<Version>>,
    line: Version,
    /// Another release of the line is around the wheels, which then is what the lock calls its CUDA.
    apart: bool,
    /// Of a line in the same order.
    newest: Option<Reverse<Version>>,
    version: Version,
}

/// The components for the machines of a group, which share one set of wheels; none where nothing is left open.
pub fn choose<'c>(plan: &Plan<'_, 'c>, group: &Group<'c>, chosen: &[Beside<'c>]) -> Option<Pieces<'c>> {
    let catalog = plan.request.catalog;
    let (mut asks, mut fixed) = (Vec::new(), Vec::new());
    let loaded = loaded(chosen);
    let is_open = loaded.iter().any(|(build, _)| coinstall::leaves_open(build));
    for &(build, arch) in &loaded {
        match build.pins {
            Some(Pins::AtLeast) => asks.extend(asked(catalog, build, arch)),
            Some(Pins::Exact) => {
                fixed.push(build);
                asks.extend(left_open(catalog, build, arch));
            }
            None => {}
        }
    }
    // What another framework pins by itself comes in with it.
    let of_fixed = fixed.iter().flat_map(|build| asked_of(catalog, build, None));
    let pinned: Vec<&str> = of_fixed.filter(|(_, range)| range.starts_with("==")).map(|(name, _)| name).collect();
    let kits = plan.request.problem.kits();
    let mut beside = asked_beside(plan.request.problem, chosen, &fixed, &asks);
    beside.retain(|name| !pinned.contains(name));
    if asks.is_empty() && beside.is_empty() {
        return None;
    }
    let is_of_builds = |kit: &Kit<'c>| fixed.iter().all(|build| build.toolkit.is_none_or(|own| own == kit.version));
    let serves = |kit: &&Kit<'c>| {
        (kit.has_all(&asks) || asks.is_empty() && is_of_builds(kit))
            && plan.request.libraries().all(|(name, range)| kit.goes_with(name, range))
            && group.classes.iter().all(|&class| serve(catalog, &plan.classes[class], kit, &asks, &beside))
    };
    let kit = kits.iter().filter(serves).min_by_key(|kit| {
        let (version, line) = (kit.version, kit.version.prefix(2));
        let beyond_drivers = chosen.iter().any(|one| one.driver_cuda.is_some_and(|cuda| line > cuda));
        let refused = || chosen.iter().any(|one| one.asks.iter().any(|(name, range)| !kit.goes_with(name, range)));
        KitRank {
            off_line: plan.request.cuda_line.as_ref().map(|wanted| !wanted.admits(&line)),
            unwanted: plan.request.cuda.as_ref().is_some_and(|wanted| !wanted.admits(&version)),
            refused: fixed.is_empty() && refused(),
            unsound: !is_sound(plan, group, &loaded, &version),
            of_no_build: fixed.iter().all(|build| build.toolkit != Some(version)),
            other_compiler: chosen.iter().any(|one| one.compiler.is_some_and(|compiler| line != compiler)),
            unlocked: plan.locked.get("cuda").is_none_or(|locked| *version.as_str() != **locked),
            beyond_drivers,
            newest_line: (!beyond_drivers && is_open).then_some(Reverse(line)),
            line,
            apart: chosen.iter().any(|one| one.around.is_some_and(|release| release != version)),
            newest: (!beyond_drivers && is_open).then_some(Reverse(version)),
            version,
        }
    })?;
    let mut pins = released_with(plan.request.problem, kit, chosen, &asks, &beside);
    pins.retain(|(name, _)| !pinned.contains(name));
    pins.sort_unstable();
    pins.dedup();
    Some(Pieces { toolkit: kit.row, pins })
}

/// Whether a toolkit release knows the GPUs of a class, and the wheels of what is asked for are for its C library.
fn serve(
    catalog: &Catalog,
    class: &Class<'_, '_>,
    kit: &Kit<'_>,
    asks: &[PackageRequest<'_>],
    beside: &[&str],
) -> bool {
    let (machine, off) = (class.machine(), &class.off);
    let loads = |name: &str| machine.loads(kit.needs_glibc(name, machine.reading.arch), off);
    let mut names = asks.iter().map(|(name, _)| *name).chain(beside.iter().copied());
    compiles_for(catalog, machine, &kit.version) && names.all(loads)
}

/// The releases of what builds leave open, of what is asked for beside them, and of what those ask for in turn.
fn released_with<'c>(
    facts: &Facts<'c>,
    kit: &Kit<'c>,
    chosen: &[Beside<'c>],
    asks: &[PackageRequest<'c>],
    beside: &[&'c str],
) -> Vec<(&'c str, &'c str)> {
    let (kits, any) = (facts.kits(), Constraint::any());
    let mut pins: Vec<(&str, &str)> = Vec::new();
    for (name, range) in asks {
        let version = component(&kits, kit, (name, range), chosen);
        let version = version.or_else(|| released_apart(facts, name, range));
        pins.extend(version.map(|version| (*name, version)));
    }
    pins.extend(beside.iter().filter_map(|name| Some((*name, component(&kits, kit, (name, &any), chosen)?))));
    bring_along(facts.catalog, kit, &mut pins);
    pins
}

/// The release of a component of a toolkit, or of a later one where another package refuses that.
fn component<'c>(
    kits: &[Kit<'c>],
    kit: &Kit<'c>,
    (name, range): (&str, &Constraint),
    chosen: &[Beside<'c>],
) -> Option<&'c str> {
    let taken = |version: &Version| {
        let mut asks = chosen.iter().flat_map(|one| one.asks.iter().chain(&one.of_parts)).filter(|(of, _)| *of == name);
        range.admits(version) && asks.all(|(_, asked)| asked.admits(version))
    };
    kits::component(kits, &kit.version, name, taken).or_else(|| kit.text_of(name))
}

/// What other packages ask for of the components of toolkits, or libraries do that a build pins, and no build does: those are
/// installed as well.
fn asked_beside<'c>(
    facts: &Facts<'c>,
    chosen: &[Beside<'c>],
    fixed: &[&'c Build],
    asks: &[PackageRequest<'c>],
) -> Vec<&'c str> {
    let (catalog, kits) = (facts.catalog, facts.kits());
    let of_packages = chosen.iter().flat_map(|one| &one.asks).map(|(name, _)| *name);
    // The metadata of other indexes was not read.
    let read = fixed.iter().filter(|build| build.index.contains(&Index::Pypi));
    let pinned = read.flat_map(|build| asked_of(catalog, build, Some(build.arch)));
    // Of a metapackage its extras are asked for, which stand among what the build pins.
    let is_pin = |row: &Libraries, (name, range): (&str, &str)| {
        name.starts_with("nvidia-") && range.strip_prefix("==") == Some(row.version.as_str())
    };
    let bringing = pinned.flat_map(|pin| catalog.libraries.of(pin.0).iter().filter(move |row| is_pin(row, pin)));
    let all = of_packages.chain(bringing.flat_map(Libraries::asked).map(|(name, _)| name));
    let is_open = |name: &&str| asks.iter().all(|(asked, _)| asked != name);
    let is_component = |name: &&str| kits.iter().any(|kit| kit.version_of(name).is_some());
    distinct(all.filter(|name| is_open(name) && is_component(name)))
}

/// What a build leaves open that pins the rest: CUDA's metapackages do so with what later releases serve as well.
fn left_open<'c>(catalog: &'c Catalog, build: &'c Build, arch: CpuArch) -> Vec<PackageRequest<'c>> {
    let exact =
        |name: &str| asked_of(catalog, build, Some(arch)).any(|(of, range)| of == name && range.starts_with("=="));
    // The metadata of other indexes was not read.
    let all = if build.index.contains(&Index::Pypi) { asked(catalog, build, arch) } else { Vec::new() };
    all.into_iter().filter(|(name, _)| name.starts_with("nvidia-") && !exact(name)).collect()
}

/// The builds of a group, each once: hundreds of machines load the same few.
fn loaded<'c>(chosen: &[Beside<'c>]) -> Vec<(&'c Build, CpuArch)> {
    let mut loaded: Vec<(&Build, CpuArch)> = Vec::new();
    for (build, arch) in chosen.iter().flat_map(|one| one.builds.iter().map(|build| (*build, one.arch))) {
        if !loaded.iter().any(|(known, of)| std::ptr::eq(*known, build) && *of == arch) {
            loaded.push((build, arch));
        }
    }
    loaded
}

/// Whether the compiler of a toolkit is one that rules allow the frameworks on the GPUs of a group.
fn is_sound(plan: &Plan<'_, '_>, group: &Group<'_>, loaded: &[(&Build, CpuArch)], toolkit: &Version) -> bool {
    loaded.iter().all(|(build, _)| {
        let rules = plan.request.rules.of_package(&build.package, Subject::Toolkit);
        group.classes.iter().map(|&class| &plan.classes[class]).all(|class| {
            let asked = &class.machine().reading;
            let binds = |rule: &&Needs<'_>| !class.off.has(rule.id) && heeded::bears_on_pieces(rule, asked, build);
            rules.iter().filter(binds).all(|rule| rule.needs.admits(toolkit))
        })
    })
}

/// The components that those which are asked for need in turn: their own metadata leaves the version open, and a driver
/// for CUDA 13.0 cannot follow what the NVVM of a later CUDA writes.
pub fn bring_along<'c>(catalog: &'c Catalog, kit: &Kit<'c>, pins: &mut Vec<(&'c str, &'c str)>) {
    let mut next = 0;
    while let Some((package, version)) = pins.get(next).copied() {
        next += 1;
        let asking = |row: &&Libraries| row.version.as_str() == version;
        let asked = catalog.libraries.of(package).iter().find(asking).into_iter().flat_map(Libraries::asked);
        for (name, _) in asked {
            if pins.iter().all(|(pinned, _)| *pinned != name) {
                pins.extend(kit.text_of(name).map(|version| (name, version)));
            }
        }
    }
}

/// The newest known release of what no toolkit has as a component (NVSHMEM): one that some release pins.
fn released_apart<'c>(facts: &Facts<'c>, package: &str, range: &Constraint) -> Option<&'c str> {
    if facts.kits().iter().any(|kit| kit.version_of(package).is_some()) {
        return None;
    }
    let pinned = facts.catalog.libraries.iter().flat_map(Libraries::asked).filter(|(name, _)| *name == package);
    let known = pinned.filter_map(|(_, range)| Libraries::oldest(range));
    let known = known.filter_map(|text| Some((Version::parse(text).ok()?, text)));
    known.filter(|(version, _)| range.admits(version)).max().map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::BUILTIN;

    #[test]
    fn what_a_toolkit_has_is_released_with_it() {
        let facts = Facts::new(&BUILTIN);
        let newest = |package| released_apart(&facts, package, &Constraint::parse("*").unwrap());
        assert!(newest("nvidia-nvshmem-cu12").is_some() && newest("nvidia-cublas-cu12").is_none());
    }
}
