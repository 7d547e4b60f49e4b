//! The machine below any GPU: kind of system, CPU architecture, distribution, C library.

use crate::catalog::OsMatch;
use crate::host::System;
use crate::words::{CpuArch, Version};

use super::case::Case;
use super::check::{Action, Check};

/// Everything that is to be said of it.
pub fn judge(case: &Case<'_>) -> Vec<Check> {
    vec![system(case), arch(case), os(case), glibc(case)]
}

fn system(case: &Case<'_>) -> Check {
    let check = Check::new("platform-system").expected("Linux").evidence(case.record.platform.kernel.clone());
    match case.record.platform.system {
        None => case.untold(check, "platform"),
        Some(System::Linux) if case.is_for_wsl2() => check.expected("Linux inside Windows (WSL2)").found("Linux").warn(
            Action::ChangeLock,
            "the target is for WSL2, whose driver is numbered as Windows numbers it: add a target without `platform`",
        ),
        Some(System::Linux) => check.found("Linux").pass(),
        Some(System::Wsl) => check
            .found("Linux inside Windows (WSL)")
            .pass_with("the driver is that of Windows; no NVIDIA driver package may be installed inside WSL"),
        Some(System::Tegra) => check
            .found("Linux on Jetson (Tegra)")
            .pass_with("the driver comes with the board support package and is raised with it"),
        Some(System::Windows) => check.found("Windows").warn(
            Action::None,
            "the lock's wheels are those for Linux; only what does not depend on the system was judged",
        ),
    }
}

fn arch(case: &Case<'_>) -> Check {
    let check = Check::new("platform-arch").expected(&*case.target.arch);
    let Some(found) = &case.record.platform.arch else { return case.untold(check, "platform") };
    let same = match (CpuArch::parse(found), CpuArch::parse(&case.target.arch)) {
        (Ok(here), Ok(locked)) => here == locked,
        _ => *found == case.target.arch,
    };
    let check = check.found(&**found);
    match (same, CpuArch::parse(found)) {
        (true, _) => check.pass(),
        (false, Ok(arch)) => check.fail(
            Action::ChangeLock,
            format!(
                "the lock is for another processor: add a target with `arch = \"{arch}\"` to gpuenv.toml and lock again"
            ),
        ),
        (false, Err(_)) => {
            check.fail(Action::AskAdmin, "no locked build runs on this processor: take an x86_64 or aarch64 machine")
        }
    }
}

fn os(case: &Case<'_>) -> Check {
    let check = Check::new("platform-os");
    let Some(locked) = &case.target.os else { return check.skip("the lock does not say which system it is for") };
    let check = check.expected(&**locked);
    if !case.sees_userland() {
        return check.skip("a container brings its own system");
    }
    let Some(found) = &case.record.platform.os else { return case.untold(check, "platform") };
    let known = |name: &str| match case.catalog.os(name) {
        OsMatch::Found(row) => row.id.to_string(),
        OsMatch::Unknown(_) => name.to_lowercase(),
    };
    let check = check.found(&**found);
    if known(found) == known(locked) {
        return check.pass();
    }
    let hint = match case.target.runtime.as_str() {
        "container" => "this is not the locked image's system; run the image that the lock names",
        _ => "the lock was solved for another system: what depends on it alone (default compiler) may differ",
    };
    check.warn(Action::None, hint)
}

/// The least C library: that of the locked wheels if they are still known as they were locked, else the one the lock
/// was solved for, above which nothing can be missing.
fn glibc(case: &Case<'_>) -> Check {
    let check = Check::new("platform-glibc");
    if !case.sees_userland() {
        return check.skip("a container brings its own C library");
    }
    let (floor, promised) = (wheel_floor(case), promised(case));
    let check = match (&floor, &promised) {
        (Some((floor, wheel)), _) => check.expected(format!(">= {floor}")).evidence(Some(wheel.clone())),
        (None, Some(promised)) => check.expected(format!(">= {promised}")),
        (None, None) => return check.skip("nothing in the lock asks for one"),
    };
    let Some(found) = &case.record.platform.glibc else { return case.untold(check, "platform") };
    let check = check.found(found.as_str());
    match (floor, promised) {
        (Some((floor, _)), _) if *found >= floor => check.pass(),
        (Some((floor, wheel)), _) => check.fail(
            Action::ChangeLock,
            format!(
                "{wheel} loads on glibc {floor} or later: write this system's `os` into gpuenv.toml and lock again, \
                     or run in a container"
            ),
        ),
        (None, Some(promised)) if *found >= promised => check.pass(),
        _ => check.unknown(
            Action::ChangeLock,
            "the lock was solved for a later C library; write this system's `os` into gpuenv.toml and lock again",
        ),
    }
}

/// The highest floor of the target's wheels, from the rows that the lock rests on, as they were then.
fn wheel_floor(case: &Case<'_>) -> Option<(Version, String)> {
    let stack = case.stack();
    let floors = case.lock.fact.iter().filter_map(|fact| {
        let (package, rest) = fact.id.split_once('-').filter(|_| fact.id.contains("-linux-"))?;
        let (version, variant) = stack.get(package)?.split_once('+').map_or((&**stack.get(package)?, ""), |pair| pair);
        let ours = rest.starts_with(&format!("{version}-{variant}")) && rest.ends_with(&*case.target.arch);
        let row = case.catalog.row(&fact.id).filter(|_| ours)?;
        let floor = row.says.get("glibc")?.as_str()?;
        Some((Version::parse(floor).ok().filter(|_| row.fact.digest == fact.digest)?, format!("{package} {version}")))
    });
    floors.max_by(|one, other| one.0.cmp(&other.0))
}

/// The C library that the lock was solved for: written, or what the system implies.
fn promised(case: &Case<'_>) -> Option<Version> {
    let written = case.lock.inputs.get(&format!("target.{}.glibc", case.name));
    let implied = || match case.catalog.os(case.target.os.as_deref()?) {
        OsMatch::Found(row) => row.glibc,
        OsMatch::Unknown(_) => None,
    };
    written.and_then(|text| Version::parse(text).ok()).or_else(implied)
}
