//! The machine below any GPU: kind of system, CPU architecture, distribution, C library.

use crate::catalog::rows::Subject;
use crate::catalog::{FullRow, OsMatch};
use crate::host::System;
use crate::host::signs::is_wsl1;
use crate::types::{CpuArch, Version};

use super::check::{Action, Check};
use super::context::CheckContext;

/// Everything that is to be said of it.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    vec![system(context), arch(context), os(context), glibc(context)]
}

fn system(context: &CheckContext<'_>) -> Check {
    let check = Check::new("platform-system").expected("Linux").evidence(context.record.platform.kernel.clone());
    match context.record.platform.system {
        None => context.untold(check, "platform"),
        Some(System::Linux) if context.is_for_wsl2() => check.expected("Linux inside Windows (WSL2)").found("Linux").warn(
            Action::ChangeLock,
            "the target is for WSL2, whose driver is numbered as Windows numbers it: add a target without `platform`",
        ),
        Some(System::Linux) => check.found("Linux").pass(),
        Some(System::Wsl) if is_wsl1(context.record) && context.needs_gpu() => check
            .found("Linux inside Windows (WSL 1)")
            .fail(Action::AskAdmin, "WSL 1 has no GPU: `wsl --set-version` makes it WSL 2"),
        Some(System::Wsl) => check
            .found("Linux inside Windows (WSL)")
            .pass_with("the driver is that of Windows; no NVIDIA driver package may be installed inside WSL"),
        Some(System::Tegra) => check
            .found("Linux on Jetson (Tegra)")
            .pass_with("the driver comes with the board support package and is raised with it"),
        Some(System::Windows) => {
            let hint = "the lock's wheels are those for Linux; only what does not depend on the system was judged";
            let check = check.found("Windows");
            match context.is_for_wsl2() {
                true => check.warn(Action::None, hint),
                false => check.unknown(Action::ChangeLock, format!("{hint}: for the Linux inside give its target `platform = \"wsl2\"`")),
            }
        }
    }
}

fn arch(context: &CheckContext<'_>) -> Check {
    let check = Check::new("platform-arch").expected(&*context.target.arch);
    let Some(found) = &context.record.platform.arch else { return context.untold(check, "platform") };
    let same = match (CpuArch::parse(found), CpuArch::parse(&context.target.arch)) {
        (Ok(here), Ok(locked)) => here == locked,
        _ => *found == context.target.arch,
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

fn os(context: &CheckContext<'_>) -> Check {
    let check = Check::new("platform-os");
    let Some(locked) = &context.target.os else { return check.skip("the lock does not say which system it is for") };
    let check = check.expected(&**locked);
    if !context.sees_userland() {
        return check.skip("a container brings its own system");
    }
    let Some(found) = &context.record.platform.os else { return context.untold(check, "platform") };
    let check = check.found(&**found);
    if context.same_os() == Some(true) {
        return check.pass();
    }
    let hint = match context.target.is_for_container() {
        true => "this is not the locked image's system; run the image that the lock names",
        false => "the lock was solved for another system: what depends on it alone (default compiler) may differ",
    };
    check.warn(Action::None, hint)
}

/// The least C library: that of the locked wheels if they are still known as they were locked, else the one the lock
/// was solved for, above which nothing can be missing.
fn glibc(context: &CheckContext<'_>) -> Check {
    let check = Check::new("platform-glibc");
    if !context.sees_userland() {
        return check.skip("a container brings its own C library");
    }
    let (floor, promised) = (wheel_floor(context), promised(context));
    let check = match (&floor, &promised) {
        (Some((floor, wheel)), _) => check.expected(format!(">= {floor}")).evidence(Some(wheel.clone())),
        (None, Some(promised)) => check.expected(format!(">= {promised}")),
        (None, None) => return check.skip("nothing in the lock needs one"),
    };
    let Some(found) = &found_glibc(context) else { return without_glibc(context, check) };
    let check = check.found(found.as_str());
    if let Some(rule) = context.broken(Subject::Glibc, found).filter(|_| context.needs_gpu()) {
        return check.expected(&*rule.needs).evidence(None::<String>).fail(Action::ChangeLock, rule.says.to_string());
    }
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

/// The C library that is here: of a system that somebody described without it the one that it comes with.
fn found_glibc(context: &CheckContext<'_>) -> Option<Version> {
    let platform = &context.record.platform;
    let of_system = || match context.catalog.os(platform.os.as_deref().filter(|_| context.is_pasted())?) {
        OsMatch::Found(row) => row.glibc,
        OsMatch::Unknown(_) => None,
    };
    platform.glibc.or_else(of_system)
}

/// A system whose C library is not told, or another one.
fn without_glibc(context: &CheckContext<'_>, check: Check) -> Check {
    let is_musl = |os: &Option<String>| {
        os.as_deref().is_some_and(|os| match context.catalog.os(os) {
            OsMatch::Found(row) => row.musl,
            OsMatch::Unknown(_) => os.starts_with("musl"),
        })
    };
    match is_musl(&context.record.platform.os) && !is_musl(&context.target.os) {
        true => check.found("musl").fail(
            Action::ChangeLock,
            "wheels that were linked with glibc do not load on musl: run in a container of another system",
        ),
        false => context.untold(check, "platform"),
    }
}

/// The highest floor of the target's wheels, from the rows that the lock rests on, as they were then.
fn wheel_floor(context: &CheckContext<'_>) -> Option<(Version, String)> {
    let on_cpu = !context.needs_gpu();
    let on_arm = context.target.arch == CpuArch::Aarch64.as_str();
    let floor = |row: &FullRow, key: &str| Version::parse(row.says.get(key)?.as_str()?).ok();
    let rows = [context.builds(), context.companions()].concat();
    let floors = rows.iter().filter_map(|(package, version, row)| {
        // A second wheel without GPU code may load on more systems.
        let cpu = floor(row, "cpu_glibc").filter(|_| on_cpu);
        let of_arm = || floor(row, "arm_glibc").filter(|_| on_arm);
        Some((cpu.or_else(of_arm).or_else(|| floor(row, "glibc"))?, format!("{package} {version}")))
    });
    floors.max_by(|one, other| one.0.cmp(&other.0))
}

/// The C library that the lock was solved for: written, or what the system implies.
fn promised(context: &CheckContext<'_>) -> Option<Version> {
    let written = context.lock.inputs.get(&format!("target.{}.glibc", context.name));
    let implied = || match context.catalog.os(context.target.os.as_deref()?) {
        OsMatch::Found(row) => row.glibc,
        OsMatch::Unknown(_) => None,
    };
    written.and_then(|text| Version::parse(text).ok()).or_else(implied)
}
