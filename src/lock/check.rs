//! What each value of a lock looks like. A lock is a file in a repository: a stranger's pull request may have edited it,
//! and what it says goes into scripts, messages and the next lock.
//!
//! Held to here are the characters, and of a value that is one of a few words those; whether a version means anything is
//! asked where it is used. Prose may say anything that can be seen: inputs as they were written, and reasons.

use crate::types::{ArchList, CpuArch, DriverMode, Specifier, address, name};

use super::Grade;
use super::error::LockError;
use super::{
    ArchLists, CatalogStamp, ConstraintLock, DriverLock, FactLock, GpuLock, Lock, OverrideLock, RecommendedLock, Stack,
    TargetLock, Wheel,
};

type Checked = Result<(), LockError>;

const ID: &str = "an id";
const NAME: &str = "a Python package name";
const PROSE: &str = "a text of characters that can be seen";
const SHA256: &str = "64 hexadecimal digits";
const SPECIFIER: &str = "a requirement specifier of pip";
const TARGET: &str = "the name of a target";
const VERSION: &str = "a version";

/// The words of a value, and how they are told.
type Words = (&'static [&'static str], &'static str);

const RUNTIME: Words = (&["bare-metal", "container"], "`bare-metal` or `container`");
const MODE: Words = (&DriverMode::WORDS, "`native`, `minor-version` or `forward-compat`");
const MODULES: Words = (&["open", "proprietary"], "`open` or `proprietary`");
const COVERAGE: Words = (&["native", "jit"], "`native` or `jit`");
const PLATFORM: Words = (&["wsl2"], "`wsl2`");

/// Every value of a lock. The first that cannot be what it stands for is told.
pub fn values(lock: &Lock) -> Checked {
    if let Some(spec) = &lock.spec {
        let ok = name::is_file(spec) && !spec.starts_with('/');
        check(ok, || "spec".into(), spec, "the relative name of a file")?;
    }
    stamp(&lock.catalog)?;
    for (key, value) in &lock.inputs {
        check(name::is_id(key), || "inputs".into(), key, "the path of a key")?;
        check(is_prose(value), || format!("inputs.{key}"), value, PROSE)?;
        if let Some(package) = key.strip_prefix("packages.") {
            check(address::is_package(package), || "inputs".into(), key, NAME)?;
            check(Specifier::parse(value).is_ok(), || format!("inputs.{key}"), value, SPECIFIER)?;
        }
    }
    stack("", &lock.stack)?;
    lists("", lock.arch_list.as_ref())?;
    for (name, one) in &lock.target {
        check(name::is_target(name), || "target".into(), name, TARGET)?;
        target(&format!("target.{name}."), one)?;
    }
    lock.wheel.iter().try_for_each(wheel)?;
    lock.constraint.iter().try_for_each(constraint)?;
    lock.overrides.iter().try_for_each(set_aside)?;
    lock.fact.iter().try_for_each(fact)
}

fn check(ok: bool, key: impl FnOnce() -> String, value: &str, expected: &'static str) -> Checked {
    if ok { Ok(()) } else { Err(LockError::BadValue { key: key(), value: value.to_string(), expected }) }
}

fn stamp(stamp: &CatalogStamp) -> Checked {
    let key = |name: &str| format!("catalog.{name}");
    check(is_version(&stamp.version), || key("version"), &stamp.version, VERSION)?;
    check(is_digest(&stamp.digest), || key("digest"), &stamp.digest, "a digest")?;
    for overlay in &stamp.overlays {
        let ok = overlay
            .rsplit_once(" sha256:")
            .is_some_and(|(file, sha256)| name::is_file(file) && address::is_sha256(sha256));
        check(ok, || key("overlays"), overlay, "a file and its sha256")?;
    }
    Ok(())
}

fn stack(prefix: &str, stack: &Stack) -> Checked {
    for (package, version) in stack {
        check(address::is_package(package), || format!("{prefix}stack"), package, NAME)?;
        check(is_version(version), || format!("{prefix}stack.{package}"), version, VERSION)?;
    }
    Ok(())
}

fn lists(prefix: &str, lists: Option<&ArchLists>) -> Checked {
    let Some(ArchLists { torch, cmake }) = lists else { return Ok(()) };
    let expected = "a list of architectures";
    check(is_torch_list(torch), || format!("{prefix}arch-list.torch"), torch, expected)?;
    check(address::is_cmake_arch_list(cmake), || format!("{prefix}arch-list.cmake"), cmake, expected)
}

/// `prefix` is `target.prod.`
fn target(prefix: &str, target: &TargetLock) -> Checked {
    let TargetLock { runtime, arch, platform, os, image, runtime_image, toolkit, .. } = target;
    let key = |name: &str| format!("{prefix}{name}");
    one_of(RUNTIME, || key("runtime"), runtime)?;
    check(is_arch(arch), || key("arch"), arch, "a CPU architecture")?;
    if let Some(platform) = platform {
        one_of(PLATFORM, || key("platform"), platform)?;
    }
    if let Some(os) = os {
        check(name::is_os(os), || key("os"), os, "the name of an operating system")?;
    }
    for (field, image) in [("image", image), ("runtime-image", runtime_image)] {
        if let Some(image) = image {
            // An image that nobody could check stands here as it was written, with a tag or without.
            let named = address::is_image(image) || address::is_repository(image);
            check(named, || key(field), image, "an image reference")?;
        }
    }
    if let Some(toolkit) = toolkit {
        check(is_version(toolkit), || key("toolkit"), toolkit, VERSION)?;
    }
    if let Some(driver) = &target.driver {
        self::driver(prefix, driver)?;
    }
    for one in &target.requires {
        let package = one.split(">=").next().unwrap_or_default();
        let least = one.split_once(">=").is_none_or(|(_, least)| is_version(least));
        check(address::is_package(package) && least, || key("requires"), one, "a package")?;
    }
    for one in &target.asks {
        check(Specifier::split(one).is_some(), || key("asks"), one, SPECIFIER)?;
    }
    if let Some(own) = &target.stack {
        stack(prefix, own)?;
    }
    lists(prefix, target.arch_list.as_ref())?;
    target.gpu.iter().try_for_each(|gpu| self::gpu(prefix, gpu))
}

fn driver(prefix: &str, driver: &DriverLock) -> Checked {
    let DriverLock { minimum, others, except, mode, cuda, compat, recommended } = driver;
    let key = |name: &str| format!("{prefix}driver.{name}");
    minimum.iter().try_for_each(|one| check(is_version(one), || key("minimum"), one, VERSION))?;
    others.iter().try_for_each(|other| check(is_version(other), || key("others"), other, VERSION))?;
    let is_branch = |one: &str| one.parse::<u32>().is_ok();
    except.iter().try_for_each(|one| check(is_branch(one), || key("except"), one, "a branch of drivers"))?;
    one_of(MODE, || key("mode"), mode)?;
    check(is_version(cuda) || cuda == "unknown", || key("cuda"), cuda, VERSION)?;
    if let Some(RecommendedLock { release, branch, until, modules }) = recommended {
        check(is_version(release), || key("recommended.release"), release, VERSION)?;
        check(is_version(branch), || key("recommended.branch"), branch, VERSION)?;
        let until = until.as_deref().unwrap_or_default();
        let is_day = until.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        check(is_day && until.len() <= 10, || key("recommended.until"), until, "a day or a month")?;
        let modules = modules.as_deref().unwrap_or("open");
        one_of(MODULES, || key("recommended.modules"), modules)?;
    }
    match compat {
        Some(compat) => check(address::is_package(compat), || key("compat"), compat, "the name of a package"),
        None => Ok(()),
    }
}

fn gpu(prefix: &str, gpu: &GpuLock) -> Checked {
    let GpuLock { name, compute_capability, coverage } = gpu;
    let key = |field: &str| format!("{prefix}gpu.{field}");
    check(name::is_gpu(name), || key("name"), name, "the name of a GPU")?;
    let capability = is_version(compute_capability);
    check(capability, || key("compute-capability"), compute_capability, "a compute capability")?;
    match coverage {
        Some(coverage) => one_of(COVERAGE, || key("coverage"), coverage),
        None => Ok(()),
    }
}

fn wheel(wheel: &Wheel) -> Checked {
    let Wheel {
        package,
        version,
        arch,
        index,
        url,
        extra,
        system_cuda: _,
        sdist: _,
        unisolated: _,
        tools,
        requires,
        switch,
        archs,
        sha256,
        libraries,
        python,
        asks,
        targets,
    } = wheel;
    let key = |name: &str| format!("wheel.{name}");
    for name in [package].into_iter().chain(extra).chain(tools) {
        check(address::is_package(name), || key("package"), name, NAME)?;
    }
    if let Some((package, of)) = wheel.compiled() {
        check(address::is_package(package) && is_version(of), || key("unisolated"), package, NAME)?;
    }
    check(is_version(version), || key("version"), version, VERSION)?;
    check(is_arch(arch), || key("arch"), arch, "a CPU architecture")?;
    if let Some(index) = index {
        check(address::is_index(index), || key("index"), index, "the https:// address of a wheel index")?;
    }
    if let Some(url) = url {
        check(address::wheel(url).is_some(), || key("url"), url, "the address of a wheel")?;
    }
    if let Some(archs) = archs {
        check(address::arch_variable(archs).is_some(), || key("archs"), archs, "a variable with architectures")?;
    }
    if let Some(switch) = switch {
        check(address::switch(switch).is_some(), || key("switch"), switch, "a variable, `FORCE_CUDA=1`")?;
    }
    for one in requires.iter().flatten() {
        check(Specifier::split(one).is_some(), || key("requires"), one, SPECIFIER)?;
    }
    let known = wheel.hashes().is_none_or(|mut hashes| hashes.all(address::is_sha256));
    check(known, || key("sha256"), sha256, SHA256)?;
    for library in libraries {
        let pin = library.split_once("==");
        let ok = pin.is_some_and(|(name, version)| address::is_package(name) && is_version(version));
        check(ok, || key("libraries"), library, "a package with its version")?;
    }
    let known = python.as_deref().is_none_or(is_version);
    check(known, || key("python"), python.as_deref().unwrap_or_default(), "a release of Python")?;
    for one in asks {
        check(Specifier::split(one).is_some(), || key("asks"), one, SPECIFIER)?;
    }
    targets.iter().try_for_each(|target| check(name::is_target(target), || key("targets"), target, TARGET))
}

fn constraint(one: &ConstraintLock) -> Checked {
    let ConstraintLock { package, version, arch, index, brought: _, targets } = one;
    let key = |name: &str| format!("constraint.{name}");
    check(address::is_package(package), || key("package"), package, NAME)?;
    check(is_version(version), || key("version"), version, VERSION)?;
    check(is_arch(arch), || key("arch"), arch, "a CPU architecture")?;
    if let Some(index) = index {
        check(address::is_index(index), || key("index"), index, "the https:// address of a wheel index")?;
    }
    targets.iter().try_for_each(|target| check(name::is_target(target), || key("targets"), target, TARGET))
}

fn set_aside(one: &OverrideLock) -> Checked {
    let key = |name: &str| format!("override.{name}");
    check(name::is_id(&one.rule), || key("rule"), &one.rule, ID)?;
    check(is_prose(&one.reason), || key("reason"), &one.reason, PROSE)?;
    if let Some(target) = &one.target {
        check(name::is_target(target), || key("target"), target, TARGET)?;
    }
    if let Some(overlay) = &one.overlay {
        let ok = overlay.rsplit_once(':').is_some_and(|(file, line)| name::is_file(file) && address::is_number(line));
        check(ok, || key("overlay"), overlay, "a file and a line")?;
    }
    Ok(())
}

fn fact(fact: &FactLock) -> Checked {
    let FactLock { id, source, digest, supports, grade } = fact;
    let key = |name: &str| format!("fact.{name}");
    check(name::is_id(id), || key("id"), id, ID)?;
    check(name::is_source(source), || key("source"), source, "a URL or a purl")?;
    check(is_digest(digest), || key("digest"), digest, "a digest")?;
    let known = grade.as_deref().is_none_or(|grade| [Grade::EXPECTED, Grade::UNSEEN].contains(&grade));
    check(known, || key("grade"), grade.as_deref().unwrap_or_default(), "`expected` or `unseen`")?;
    supports.iter().try_for_each(|one| check(name::is_id(one), || key("supports"), one, "the path of a key"))
}

/// Of whatever: a package with its label, a driver, CUDA.
fn is_version(text: &str) -> bool {
    address::is_wheel_version(text)
}

/// Whether this program knows it is asked where it matters.
/// A word that this gpuenv writes: of any other nobody could say what it means.
fn one_of((words, expected): Words, key: impl FnOnce() -> String, text: &str) -> Checked {
    check(words.contains(&text), key, text, expected)
}

fn is_arch(text: &str) -> bool {
    CpuArch::parse(text).is_ok()
}

fn is_prose(text: &str) -> bool {
    !text.chars().any(|c| name::is_unseen(c) && !matches!(c, '\n' | '\r' | '\t'))
}

fn is_digest(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 && address::all(text, b"")
}

fn is_torch_list(list: &str) -> bool {
    address::all(list, b".;+") && ArchList::parse_torch(list).is_ok()
}

#[cfg(test)]
mod tests;
