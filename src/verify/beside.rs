//! What is installed beside the locked packages and decides whether they compute on the GPU: another package with the module
//! of a locked one, the part of JAX that holds its CUDA, the libraries that a wheel pins.

use crate::catalog::rows::{self, Libraries};
use crate::host::Python;
use crate::lock::Wheel;
use crate::spec::other_names::OF_JAX;
use crate::types::address::is_same_version;
use crate::types::{CpuArch, Version, name, nvidia, variant};

use super::check::{Action, Check};
use super::context::CheckContext;
use super::installed::{Build, Wanted, installed};

/// Another package whose wheels hold the module of a locked one: in its place it is what a program imports, beside it either
/// may be.
pub fn sibling(context: &CheckContext<'_>, python: &Python, wanted: &Wanted<'_>) -> Option<Check> {
    let rows = context.catalog.shared_modules.iter().filter(|_| context.needs_gpu() && wanted.constraint.is_none());
    let sharing = rows.filter(|row| row.packages.iter().any(|one| **one == *wanted.name));
    let mut others = sharing.flat_map(|row| row.packages.iter().map(move |one| (&**one, &row.module)));
    let (other, module, found) = others.find_map(|(other, module)| {
        let is_other = other != wanted.name && !context.stack().contains_key(other);
        Some((other, module, installed(python, other).filter(|_| is_other)?))
    })?;
    let check = Check::new("python-package").expected(format!("{} {}", wanted.name, wanted.shown()));
    let check = check.found(format!("{other} {found}")).evidence(python.path.clone());
    let out = format!("both hold the module `{module}`: `pip uninstall {other}`, then install {} again", wanted.name);
    // The same release for CUDA by its old name.
    let is_same = other.strip_suffix("-gpu") == Some(wanted.name) && wanted.is_release(found);
    Some(match installed(python, wanted.name) {
        None if !is_same => check.fail(Action::FixEnvironment, out),
        // Which of the two was written last is not told.
        Some(_) if !is_same => check.unknown(Action::FixEnvironment, out),
        _ => check.warn(Action::FixEnvironment, out),
    })
}

/// What the locked wheels that are installed need beside them.
pub fn of_wheels(context: &CheckContext<'_>, python: &Python) -> Vec<Check> {
    let wheels = context.lock.wheels_of(context.name).filter(|_| context.needs_gpu());
    let is_build = |wheel: &Wheel, found| match Wanted::of_stack(context, &wheel.package) {
        Some(wanted) => matches!(wanted.build(context, python, found), Build::Locked | Build::Relabelled(_)),
        None => is_same_version(&wheel.version, found),
    };
    let is_there = |wheel: &&Wheel| installed(python, &wheel.package).is_some_and(|found| is_build(wheel, found));
    wheels
        .filter(is_there)
        .flat_map(|wheel| pinned(context, python, wheel).into_iter().chain(part_of_jax(context, python, wheel)))
        .chain(doubled(context, python))
        .collect()
}

/// The libraries that a wheel pins, each with its version: as the lock says, else as the package index has the same build.
pub fn pins<'c>(context: &CheckContext<'c>, wheel: &'c Wheel) -> Vec<(&'c str, &'c str)> {
    if !wheel.libraries.is_empty() {
        return wheel.libraries.iter().filter_map(|pin| pin.split_once("==")).collect();
    }
    let (release, label) = variant::parts(&wheel.version);
    let is_of = |arch: CpuArch| arch.as_str() == context.target.arch;
    let mut builds = context.catalog.builds.of(&wheel.package).iter();
    let is_served = |row: &rows::Build| {
        row.default && row.version.as_str() == release && is_of(row.arch) && Some(&*row.variant) == label
    };
    if !builds.any(is_served) {
        return Vec::new();
    }
    let is_it =
        |row: &&Libraries| row.version.as_str() == release && row.variant.is_none() && row.arch.is_none_or(is_of);
    let asked = context.catalog.libraries.of(&wheel.package).iter().filter(is_it).flat_map(Libraries::asked);
    asked.filter_map(|(name, range)| Some((name, range.strip_prefix("==")?))).collect()
}

/// The libraries that a wheel pins, in another release. Those of the stack itself have checks of their own.
fn pinned(context: &CheckContext<'_>, python: &Python, wheel: &Wheel) -> Vec<Check> {
    let other = |(name, wanted): (&str, &str)| {
        let is_told = nvidia::is(nvidia::RUNTIME, name)
            || nvidia::part_of(name).is_some_and(|part| context.stack().contains_key(part));
        let found = installed(python, name).filter(|found| !is_told && !is_same_version(found, wanted))?;
        let check = Check::new("python-package").expected(format!("{name} {wanted}")).found(format!("{name} {found}"));
        let line = |text: &str| Version::parse(text).ok().map(|version| version.prefix(2));
        let is_older = line(found).zip(line(wanted)).is_some_and(|(found, wanted)| found < wanted);
        let hint = format!("{} {} pins another: `pip install '{name}=={wanted}'`", wheel.package, wheel.version);
        Some(match is_older && nvidia::is(nvidia::NVJITLINK, name) {
            // libcusparse asks for symbols of its own release, `__nvJitLinkComplete_12_4`.
            true => check.fail(Action::FixEnvironment, format!("what is linked with it does not load: {hint}")),
            false => check.warn(Action::FixEnvironment, hint),
        })
    };
    let pins: Vec<(&str, &str)> =
        pins(context, wheel).into_iter().filter(|(name, _)| name.starts_with("nvidia-")).collect();
    pins.iter().copied().filter_map(other).collect()
}

/// cuDNN and NCCL of another CUDA beside those of the locked one, in whose files the number of no CUDA stands: which were
/// written last is not told, and with older ones than the stack needs it does not start.
pub fn doubled(context: &CheckContext<'_>, python: &Python) -> Vec<Check> {
    let line = context.line().filter(|_| context.needs_gpu());
    let of_part = |(part, library): (&str, &str)| {
        let (line, locked) = (line?, context.stack().get(part)?);
        let is_own = |name: &str| name == nvidia::of_major(library, &line) || name == library && line.major() >= 13;
        let packages = python.packages.iter().map(|(name, version)| (name::package(name), name, version.as_str()));
        let packages = packages.filter(|(plain, ..)| nvidia::is(library, plain));
        let (own, others): (Vec<_>, Vec<_>) = packages.partition(|(plain, ..)| is_own(plain));
        let (_, other, found) = others.first()?;
        let (own, wanted) = match own.first() {
            Some((own, _, installed)) => (own.clone(), *installed),
            None => (nvidia::of_major(library, &line), locked.as_str()),
        };
        let check = Check::new("python-package").expected(format!("{own} {wanted} alone"));
        let check = check.found(format!("{other} {found}"));
        let hint = format!("both write the same files: `pip uninstall {other}`, then install {own} again");
        let release = |text: &str| Version::parse(text).ok().map(|version| version.prefix(3));
        let is_older = release(found).zip(release(wanted)).is_some_and(|(found, wanted)| found < wanted);
        // Of a library that was loaded the version is known, and judged by itself.
        let is_seen = context.record.libraries.iter().any(|one| one.name == part && one.version.is_some());
        Some(match is_older && !is_seen {
            true => check.unknown(Action::FixEnvironment, hint),
            false => check.warn(Action::FixEnvironment, hint),
        })
    };
    nvidia::PARTS.into_iter().filter_map(of_part).collect()
}

/// Whether what is not listed is not there: a report of chosen rows tells nothing of that, and a device of CUDA tells the other.
fn lists_all(context: &CheckContext<'_>) -> bool {
    !context.is_pasted() || context.was_made("pip list") && !context.was_made("collect_env") && !context.was_made("jax")
}

/// JAX computes on the CPU where the package is missing that holds its CUDA, or is of another release than jaxlib, and does not
/// start with a jaxlib of another line (each pins those of its time, pkg:pypi/jax@0.5.3). Only a list
/// that names jaxlib would name it.
fn part_of_jax(context: &CheckContext<'_>, python: &Python, wheel: &Wheel) -> Option<Check> {
    let extra = wheel.extra.as_deref().filter(|_| wheel.package == "jax")?.strip_prefix("cuda")?;
    let jaxlib = installed(python, "jaxlib")?;
    let line = |text: &str| Version::parse(variant::public(text)).ok().map(|version| version.prefix(2));
    if line(jaxlib) != line(&wheel.version) {
        let check = Check::new("python-package").expected(format!("jaxlib for jax {}", wheel.version));
        let hint = format!("JAX refuses a jaxlib of another line: `pip install '{}'`", wheel.requirement());
        return Some(check.found(format!("jaxlib {jaxlib}")).fail(Action::FixEnvironment, hint));
    }
    let major = extra.split(|c: char| !c.is_ascii_digit()).next()?;
    // Before there were plugins the label of jaxlib told of its CUDA.
    if variant::parts(jaxlib).1.is_some_and(|label| label != "cpu") {
        return None;
    }
    let jaxlib = variant::public(jaxlib);
    let name = format!("{OF_JAX}{major}-plugin");
    let check = Check::new("python-package").expected(format!("{name} {jaxlib}"));
    let release = |text: &str| Version::parse(text).ok().map(|version| version.prefix(3));
    let install = format!("JAX computes on the CPU without it: `pip install '{}'`", wheel.requirement());
    match installed(python, &name) {
        None if !lists_all(context) => None,
        None => Some(check.found("none").fail(Action::FixEnvironment, install)),
        Some(found) if release(found) != release(jaxlib) => {
            Some(check.found(format!("{name} {found}")).fail(Action::FixEnvironment, install))
        }
        Some(_) => None,
    }
}
