//! What comes in through other packages must not bring the build of another CUDA: of the packages that lie on torch's
//! own index too, the release that goes with the locked torch and with the packages beside it, whether anybody asked for
//! it or not.
//!
//! The package index serves each of them for one CUDA only. A package that asks for `torchvision` gets that one from an
//! installer that is told nothing, and it refuses to load beside a torch of another.

use crate::catalog::Catalog;
use crate::catalog::rows::{BESIDE_TORCH, Build, Companion, Index, TORCH, TRITON, pinned};
use crate::types::constraint::admits;
use crate::types::{Constraint, CpuArch, Specifier, Version, variant};

use super::fits;
use super::followers::{Follower, followers};
use super::installs::Install;
use super::ordinary::Beside;
use super::problem::Problem;
use super::solution::TargetSolution;

/// What installs, where rows are about it.
pub const PIP: &str = "pip";

/// A package that is held to one release where others bring it in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// Its name.
    pub package: String,
    /// The version that a constraint names.
    pub version: String,
    /// The wheel index that it is taken from; none = the Python package index.
    pub index: Option<String>,
    /// Whether it lies there, as far as anybody knows.
    pub seen: bool,
}

/// What is held of a choice, first what lies beside torch.
pub fn held(problem: &Problem<'_>, chosen: &TargetSolution<'_>, packages: &[(String, Specifier)]) -> Vec<Held> {
    let torch = chosen.builds.iter().find(|build| build.package == TORCH);
    // In-house builds and those for one system have companions of their own, or none.
    if torch.is_some_and(|torch| torch.url.is_some() || torch.index_url.is_some()) {
        return Vec::new();
    }
    let wheels = chosen.wheels();
    let install = wheels.iter().find(|wheel| wheel.package == TORCH);
    let mut found = match (torch, install) {
        (Some(torch), Some(install)) => held_to(problem, chosen, torch, install, &wheels),
        (Some(_), None) => return Vec::new(),
        (None, _) => Vec::new(),
    };
    let index = install.and_then(|install| install.index.clone());
    let is_held = |one: &Follower<'_>| one.going.is_none() && !one.is_elsewhere;
    for one in followers(problem, chosen, packages).into_iter().filter(is_held) {
        let (package, version) = (one.row.package.to_string(), one.row.carried());
        let index = one.row.variant.as_ref().and(index.clone());
        found.push(Held { package, version, index, seen: true });
    }
    found
}

/// What is held to a torch.
fn held_to(
    problem: &Problem<'_>,
    chosen: &TargetSolution<'_>,
    torch: &Build,
    install: &Install,
    wheels: &[Install],
) -> Vec<Held> {
    let mut found = Vec::new();
    let index = install.index.clone();
    let variant = torch.index.contains(&Index::Pytorch).then_some(&*torch.variant);
    let is_locked = |package: &str| wheels.iter().any(|wheel| wheel.package == package);
    for package in BESIDE_TORCH.into_iter().filter(|package| !is_locked(package)) {
        let required = required(problem, chosen, package);
        let runs = |row: &Companion| row.is_for_arch(chosen.arch);
        if let Some(row) = beside(problem, package, runs, torch.version, variant, chosen.python, &required) {
            let (package, version) = (package.to_string(), row.carried());
            found.push(Held { package, version, index: index.clone(), seen: true });
        }
    }
    let triton = chosen.triton.filter(|_| !is_locked(TRITON));
    found.extend(triton.and_then(|triton| elsewhere(problem, triton, chosen.arch)));
    for companion in &chosen.companions {
        for (package, version) in companion.brings.iter().filter_map(|pin| pin.split_once("==")) {
            let is_pin = |row: &Companion| row.version.as_str() == version && row.is_for_arch(chosen.arch);
            let seen = releases(problem, package).any(|row| is_pin(row) && lies_on(problem, row, variant));
            // Of another index it would be for another CUDA: better none than that.
            if !is_locked(package) && !found.iter().any(|one| one.package == package) {
                let (package, version) = (package.to_string(), version.to_string());
                found.push(Held { package, version, index: index.clone(), seen });
            }
        }
    }
    found
}

/// What is beside ordinary packages: what is locked, what that pins, and what exports hold to it where others bring it in.
pub fn all_beside(problem: &Problem<'_>, chosen: &TargetSolution<'_>, packages: &[(String, Specifier)]) -> Vec<Beside> {
    let mut all: Vec<Beside> = chosen.locked().into_iter().map(Beside::from).collect();
    let mut add = |package: &str, version: &str, with: &str, (sure, going): (bool, Option<Vec<Version>>)| {
        let is_known = all.iter().any(|one| one.what.0 == package);
        let with = all.iter().find(|one| one.what.0 == with).map(|one| one.what.clone());
        if let Some(version) = Version::parse(variant::public(version)).ok().filter(|_| !is_known && with.is_some()) {
            all.push(Beside { what: (package.to_string(), version), with, sure, going });
        }
    };
    for row in &chosen.companions {
        let pins = row.asked(chosen.arch).filter_map(|(of, range)| Some((of, pinned(range)?)));
        let brought = row.brings.iter().filter_map(|pin| pin.split_once("=="));
        pins.chain(brought).for_each(|(of, version)| add(of, version, &row.package, (true, None)));
    }
    // What ordinary packages ask for of it was read as on x86_64, where alone some of them do.
    let triton = chosen.triton.filter(|_| chosen.arch == CpuArch::X86_64);
    if let Some(triton) = triton {
        add(TRITON, triton.as_str(), TORCH, (true, None));
    }
    // What follows no framework that is locked is held with the first that is, or with Python.
    let first = chosen.builds.first().map_or("python", |build| &*build.package);
    let with = |package: &str| {
        let mut rows = problem.package(package).into_iter().flat_map(|package| package.releases.iter());
        rows.find_map(|row| chosen.build(&row.framework)).map_or(first, |build| &*build.package)
    };
    let held = held(problem, chosen, packages);
    held.iter().for_each(|one| add(&one.package, &one.version, with(&one.package), (false, None)));
    for one in followers(problem, chosen, packages).into_iter().filter(|one| one.going.is_some()) {
        add(&one.row.package, one.row.version.as_str(), with(&one.row.package), (false, one.going));
    }
    // Whoever installs has a newer pip than any that rows name.
    add(PIP, "9999", "python", (false, None));
    all
}

/// The triton that torch requires, where the package index has none for the processor and torch's own index does.
fn elsewhere(problem: &Problem<'_>, triton: &Version, arch: CpuArch) -> Option<Held> {
    let is_it = |row: &&Companion| row.version == *triton && row.systems.is_empty() && row.is_for_arch(arch);
    let mut rows = releases(problem, TRITON).filter(is_it).peekable();
    let index = rows.peek()?.index_url;
    let is_nowhere_else = rows.all(|row| row.index_url.is_some());
    let held = || Held {
        package: TRITON.to_string(),
        version: triton.to_string(),
        index: index.as_ref().map(ToString::to_string),
        seen: true,
    };
    is_nowhere_else.then(held)
}

/// What the chosen packages require of one that nobody asked for.
fn required(problem: &Problem<'_>, chosen: &TargetSolution<'_>, package: &str) -> Vec<Specifier> {
    let mut found = Vec::new();
    for row in &chosen.companions {
        let asked = problem.wants(&row.package).at_row(row, &[chosen.arch]).into_iter();
        let ranges = asked.filter(|(of, _)| *of == package).map(|(_, range)| range);
        found.extend(ranges.filter_map(|range| Specifier::parse(range).ok()));
    }
    found
}

/// The newest release that goes with this torch and with what is required: one that was seen on the index of its variant,
/// else any that lies there.
fn beside<'c>(
    problem: &Problem<'c>,
    package: &str,
    runs: impl Fn(&Companion) -> bool,
    torch: Version,
    variant: Option<&str>,
    python: Option<&Version>,
    required: &[Specifier],
) -> Option<&'c Companion> {
    let fits = |row: &&Companion| {
        runs(row)
            && row.framework == TORCH
            && row.url.is_none()
            && row.index_url.is_none()
            && admits(&row.needs, &torch)
            && python.is_none_or(|python| row.python.as_ref().is_none_or(|needs| admits(needs, python)))
            && required.iter().all(|asked| asked.admits(&row.version))
            && lies_on(problem, row, variant)
    };
    let package = problem.package(package)?;
    let mut seen =
        package.releases.iter().copied().filter(|row| row.variant.is_some() && row.variant.as_deref() == variant);
    seen.find(fits).or_else(|| package.releases.iter().copied().filter(|row| row.variant.is_none()).find(fits))
}

/// The releases of a package, oldest first.
fn releases<'c>(problem: &Problem<'c>, package: &str) -> impl Iterator<Item = &'c Companion> {
    problem.package(package).into_iter().flat_map(|package| package.releases.iter().rev().copied())
}

/// Whether a release lies on the index of a variant, or on the package index, as far as anybody knows: it was seen there,
/// for whichever Python, or what lies beside torch is published for the variants of the torch that it was made with.
fn lies_on(problem: &Problem<'_>, row: &Companion, variant: Option<&str>) -> bool {
    let Some(variant) = variant else { return row.variant.is_none() };
    if row.variant.is_some() {
        return row.variant.as_deref() == Some(variant) && row.url.is_none();
    }
    let is_it = |one: &&Companion| one.version == row.version && one.url.is_none();
    let same = releases(problem, &row.package).filter(is_it);
    let mut seen_for = same.filter_map(|one| one.variant.as_deref()).peekable();
    let was_seen = seen_for.peek().is_some();
    seen_for.any(|of| of == variant)
        || BESIDE_TORCH.contains(&&*row.package) && goes_along(problem.catalog, row, variant, was_seen)
}

/// Whether a release was made with a torch that has a variant: the only one that it takes; or the oldest, where it was seen
/// on the index of another variant. A patch that takes several may lie on the package index alone.
fn goes_along(catalog: &Catalog, row: &Companion, variant: &str, was_seen: bool) -> bool {
    let Ok(needs) = Constraint::parse(&row.needs) else { return false };
    let oldest = || needs.comparisons().find(|one| one.op.is_lower()).and_then(|one| one.version);
    let Some(with) = needs.single().copied().or_else(|| oldest().filter(|_| was_seen)) else { return false };
    let mut builds = catalog.builds.of(&row.framework).iter();
    builds.any(|build| build.version.cmp_prefix(&with).is_eq() && build.variant == variant)
}

/// What a chosen package leaves open, of which an installer that is told nothing would take a release that does not go with
/// the stack.
pub struct LeftOpen<'c> {
    /// The newest release that goes with it.
    pub newest: &'c Companion,
    /// The first that does not, of what is made for each CUDA anew (`cuda-bindings<14,>=12.9.1`); none of what is compiled
    /// against one release of the framework, of which no other goes with it.
    pub before: Option<&'c Companion>,
    /// What its code alone asks for, so that no installer is told: `>=12.9.1`.
    pub by_code: Option<String>,
}

impl LeftOpen<'_> {
    /// What an installer is told: `cuda-bindings<13.0`, `fbgemm-gpu==1.4.0`.
    pub fn told(&self) -> String {
        match (&self.by_code, self.before) {
            (Some(needs), Some(before)) => format!("{}{needs},<{}", before.package, before.version),
            (Some(needs), None) => format!("{}{needs}", self.newest.package),
            (None, Some(before)) => format!("{}<{}", before.package, before.version),
            (None, None) => format!("{}=={}", self.newest.package, self.newest.version),
        }
    }
}

/// What a chosen package leaves open.
pub fn left_open<'c>(problem: &Problem<'c>, chosen: &TargetSolution<'_>, row: &Companion) -> Vec<LeftOpen<'c>> {
    let is_chosen = |of: &str| chosen.companions.iter().any(|one| *one.package == *of);
    let mut found = Vec::new();
    let is_open = |of: &str, range: &str| !is_chosen(of) && !BESIDE_TORCH.contains(&of) && pinned(range).is_none();
    for (of, needs) in row.asked(chosen.arch).filter(|(of, range)| is_open(of, range)) {
        let range = Specifier::parse(needs).ok();
        let Some(package) = problem.package(of) else { continue };
        let admitted = |one: &&Companion| range.as_ref().is_none_or(|range| range.admits(&one.version));
        let releases: Vec<&Companion> = releases(problem, of).filter(admitted).collect();
        let open = if package.is_tied() { of_framework(chosen, &releases) } else { of_cuda(chosen, &releases) };
        found.extend(match (row.asks_by_code(of), open, releases.last()) {
            (false, open, _) => open,
            (true, Some(open), _) => Some(LeftOpen { by_code: Some(needs.to_string()), ..open }),
            (true, None, newest) => {
                newest.map(|newest| LeftOpen { newest, before: None, by_code: Some(needs.to_string()) })
            }
        });
    }
    found
}

/// Of what is compiled against one release of a framework: the newest that goes with it, of its CUDA where there is one.
fn of_framework<'c>(chosen: &TargetSolution<'_>, releases: &[&'c Companion]) -> Option<LeftOpen<'c>> {
    let mut going: Vec<(bool, &'c Companion)> = Vec::new();
    for one in releases.iter().filter(|one| one.variant.is_none() && one.url.is_none() && one.index_url.is_none()) {
        let Some(build) = chosen.build(&one.framework) else { continue };
        let for_python = chosen.python.zip(one.python.as_deref()).is_none_or(|(line, needs)| admits(needs, line));
        if for_python && one.is_for_arch(chosen.arch) && admits(&one.needs, &build.version) {
            going.push((fits::companion_line(one, build.line().as_ref()), *one));
        }
    }
    let newest = going.into_iter().max_by_key(|(loads, one)| (*loads, one.version))?.1;
    (releases.len() > 1).then_some(LeftOpen { newest, before: None, by_code: None })
}

/// Of what follows a CUDA alone.
fn of_cuda<'c>(chosen: &TargetSolution<'_>, releases: &[&'c Companion]) -> Option<LeftOpen<'c>> {
    let of_build = chosen.builds.iter().find_map(|build| build.line());
    let of_system = || chosen.cuda.map(|toolkit| toolkit.version).filter(|_| chosen.builds.is_empty());
    let line = of_build.or_else(of_system)?;
    let following: Vec<&&Companion> = releases.iter().filter(|one| one.follows_cuda()).collect();
    let newest = following.iter().rev().find(|one| fits::companion_line(one, Some(&line)))?;
    let before = following.iter().find(|one| one.version > newest.version)?;
    Some(LeftOpen { newest, before: Some(before), by_code: None })
}
