//! The driver's release: of one piece, new enough, and how the stack's CUDA runs on it.

use std::cmp::Ordering;

use crate::catalog::rows::{Class, Subject};
use crate::catalog::{GpuMatch, OsMatch};
use crate::host::Compat;
use crate::lock::DriverLock;
use crate::types::constraint::admits;
use crate::types::{DriverMode, Version};

use super::check::{Action, Check, Status};
use super::context::{ANY, CheckContext};
use super::nvml_errors;
use super::seen::Seen;
use super::served;

/// Numbers of driver branches are greater than this, those of board support packages are not.
const BRANCHES: u64 = 100;

/// Everything that is to be said of it.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    let Some(locked) = &context.target.driver else {
        return if context.needs_gpu() { without_minimum(context) } else { Vec::new() };
    };
    let mut checks = vec![matches(context), minimum(context, locked), offered(context, locked)];
    checks.extend(forward(context, locked));
    checks
}

/// A lock without a minimum, because a rule about drivers is overridden.
fn without_minimum(context: &CheckContext<'_>) -> Vec<Check> {
    let check = Check::new("driver-minimum").expected(ANY);
    let check = match context.driver() {
        Some((version, by)) => check.found(version.as_str()).evidence(Some(format!("reported by {by}"))),
        None => check,
    };
    let mut checks = vec![matches(context), check.skip(set_aside(context).unwrap_or_default())];
    checks.extend(unwanted(context));
    checks
}

/// What the user knows better of the driver.
fn set_aside(context: &CheckContext<'_>) -> Option<String> {
    let one = context.driver_set_aside()?;
    Some(format!("`{}` is set aside in gpuenv.toml: {}", one.rule, one.reason))
}

/// Kernel module and libraries must be of one release, but for a cuda-compat.
fn matches(context: &CheckContext<'_>) -> Check {
    let check = Check::new("driver-match").expected("kernel module and libraries of one release");
    let record = context.record;
    let nvml = record.nvml.as_ref();
    let mismatch = nvml.and_then(|nvml| nvml.fault.as_ref()).filter(|fault| fault.code == Some(18));
    if mismatch.is_none() && context.has_windows_driver() {
        return check.skip("both come with Windows");
    }
    let libcuda = record.libcuda.as_ref().filter(|libcuda| !context.loads_compat() && libcuda.stub != Some(true));
    let parts = [
        ("kernel module", record.module.as_ref().and_then(|module| module.version.as_ref())),
        ("libnvidia-ml", nvml.and_then(|nvml| nvml.file_version.as_ref())),
        ("libcuda", libcuda.and_then(|libcuda| libcuda.file_version.as_ref())),
    ];
    let known: Vec<(&str, &Version)> = parts.iter().filter_map(|(name, version)| Some((*name, (*version)?))).collect();
    let found: Vec<String> = known.iter().map(|(name, version)| format!("{name} {version}")).collect();
    if let Some(fault) = mismatch {
        let check = nvml_errors::of_library(context, check, fault);
        let said = check.found.clone().into_iter().chain(found).collect::<Vec<_>>().join(", ");
        return check.found(said);
    }
    let Some(((_, first), rest)) = known.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return check.skip("only one of them is known");
    };
    let paths = [nvml.and_then(|nvml| nvml.path.as_deref()), libcuda.and_then(|libcuda| libcuda.path.as_deref())];
    let paths: Vec<&str> = paths.into_iter().flatten().collect();
    let check = check.found(found.join(", ")).evidence((!paths.is_empty()).then(|| paths.join(", ")));
    match rest.iter().all(|(_, version)| version == first) {
        true => check.pass(),
        false => check.fail(context.restart(Action::Reboot), nvml_errors::mismatch(context)),
    }
}

fn minimum(context: &CheckContext<'_>, locked: &DriverLock) -> Check {
    let check = Check::new("driver-minimum");
    let Some(written) = locked.minimum.as_ref().filter(|_| !context.is_tegra()) else {
        return of_jetson(context, check, locked);
    };
    let check = check.expected(format!(">= {written}"));
    let Ok(minimum) = Version::parse(written) else {
        return check.unknown(Action::ChangeLock, "the lock's minimum is not a version: lock again");
    };
    if context.has_other_numbers() {
        return of_other_numbers(context, check);
    }
    let (action, raise) = context.driver_remedy("write this driver into gpuenv.toml and lock again");
    let of_branch = "it is of the branch of the minimum; which release of it was not told";
    if let Some((version, by)) = context.driver() {
        let check = check.found(version.as_str()).evidence(Some(format!("reported by {by}")));
        if let Some(check) = undriven(context, &check, version) {
            return check;
        }
        return match *version >= minimum {
            true => listed(context, check, version),
            // `570` alone is some release of that branch.
            false if version.len() == 1 && version.major() == minimum.major() => {
                match opens_branch(context, &minimum) {
                    true => check.pass(),
                    false => check.unknown(Action::None, of_branch),
                }
            }
            false => check.fail(action, raise),
        };
    }
    // Who knows only the CUDA version that the driver offers knows the branch.
    let branch_cuda = context.catalog.branch_of(&minimum).and_then(|branch| branch.cuda.as_ref());
    if let (Some((cuda, by)), Some(needed)) = (context.offered().filter(|_| !context.loads_compat()), branch_cuda) {
        let check =
            check.found(format!("a driver that offers CUDA {cuda}")).evidence(Some(format!("reported by {by}")));
        return match cuda.cmp_prefix(needed) {
            Ordering::Greater => check.pass(),
            Ordering::Equal if opens_branch(context, &minimum) => check.pass(),
            Ordering::Equal => check.unknown(Action::None, of_branch),
            Ordering::Less => check.fail(action, raise),
        };
    }
    let check = check.found("not known");
    match context.is_bare() {
        true => check.unknown(Action::AskAdmin, "there is no driver to ask"),
        false => check.unknown(Action::None, "the driver's release is not known"),
    }
}

/// A release that is newer than the last branch for a board does not drive it. Windows' numbers go on to those of the next
/// branch, five further.
fn undriven(context: &CheckContext<'_>, check: &Check, has: &Version) -> Option<Check> {
    let torch = context.record.python.as_ref().and_then(|python| python.torch.as_ref()?.available);
    if context.cuda_answers() || torch == Some(true) {
        return None;
    }
    let is_past = |last: &Version| {
        let mut branches = context.catalog.branches.iter().map(|row| row.branch.major());
        branches.any(|branch| last.major() < branch && branch <= has.major())
    };
    let mut judged = context.gpus().iter().filter(|gpu| !context.is_beside(gpu));
    let (name, last) = judged.find_map(|gpu| Some((gpu.name?, context.last_branch(gpu.name?).filter(is_past)?)))?;
    let check = check.clone().expected(format!("branch {last} or older"));
    Some(check.fail(Action::AskAdmin, format!("R{last} is the last branch that drives {name}: install that one")))
}

/// A release from before the first one known to list a board may not know it.
fn listed(context: &CheckContext<'_>, check: Check, has: &Version) -> Check {
    let first_of = |name: &str| match context.catalog.gpu(name) {
        GpuMatch::Found(rows) => rows.iter().map(|row| row.first_driver).min().flatten(),
        _ => None,
    };
    // One that the lock does not name is left alone where it names others.
    let judged = context.gpus().iter().filter(|gpu| !context.is_beside(gpu));
    let seen = judged.filter_map(|gpu| Some((gpu.name?, first_of(gpu.name?)?)));
    let is_told = has.len() > 1 && !context.has_windows_driver();
    let later = seen.filter(|(_, first)| is_told && has < first).max_by_key(|(_, first)| *first);
    match later {
        Some((name, first)) => check.expected(format!(">= {first}")).warn(
            Action::AskAdmin,
            format!("driver {first} is the first known to list {name}: an older one may not recognise it"),
        ),
        None => check.pass(),
    }
}

/// The minimum of a lock for Linux says little of a driver of Windows, and the reverse.
fn of_other_numbers(context: &CheckContext<'_>, check: Check) -> Check {
    let Some((version, by)) = context.driver() else {
        return check.unknown(Action::None, "the driver's release is not known");
    };
    let check = check.found(version.as_str()).evidence(Some(format!("reported by {by}")));
    if let Some(check) = undriven(context, &check, version) {
        return check;
    }
    let Some(least) = context.windows_floor() else {
        let hint = "the lock is for WSL2 and holds a number of Windows' driver: add a target without `platform`";
        return check.unknown(Action::ChangeLock, hint);
    };
    let check = check.expected(format!(">= {least}, a driver of Windows"));
    match *version >= least {
        true if context.is_wsl() => {
            check.pass_with("the lock is for Linux; a target with `platform = \"wsl2\"` is judged by Windows' numbers")
        }
        true => check.pass_with("the lock is for Linux; this is judged by Windows' numbers"),
        false => check.fail(Action::AskAdmin, context.raise_driver()),
    }
}

/// A Jetson's driver comes with its JetPack and is numbered by itself: the CUDA that it offers tells how old it is.
fn of_jetson(context: &CheckContext<'_>, check: Check, locked: &DriverLock) -> Check {
    let cuda_of = |os: Option<&str>| match context.catalog.os(os?) {
        OsMatch::Found(row) => row.cuda,
        OsMatch::Unknown(_) => None,
    };
    // What the lock was solved for is what its own driver offers: the stack may be of a later minor.
    let of_lock = || Version::parse(&locked.cuda).ok().or_else(|| context.line());
    let Some(wanted) = cuda_of(context.target.os.as_deref()).or_else(of_lock) else {
        return check.expected(context.wanted_driver()).skip("the lock names neither a JetPack nor a CUDA line");
    };
    let check = check.expected(match context.wanted_driver() {
        any if any == ANY => format!("a driver that offers CUDA {wanted}"),
        named => named,
    });
    let told = context.offered().map(|(cuda, by)| (*cuda, format!("reported by {by}")));
    let of_system = || Some((cuda_of(context.record.platform.os.as_deref())?, "reported by its JetPack".to_string()));
    // The number of its driver is that of some JetPack, and none of servers' drivers. One between two that are known offers no
    // newer CUDA than the later.
    let of_number = || {
        let (number, by) = context.driver().filter(|(number, _)| number.major() >= BRANCHES)?;
        let known = context.catalog.oses.iter().filter_map(|os| Some((os.driver?, os.cuda?)));
        let (driver, cuda) = known.filter(|(driver, _)| driver >= number).min()?;
        let is_told = driver == *number || cuda.cmp_prefix(&wanted).is_lt();
        is_told.then(|| (cuda, format!("driver {number}, reported by {by}")))
    };
    let Some((cuda, by)) = told.or_else(of_system).or_else(of_number) else {
        return check.unknown(Action::None, "neither its JetPack nor the CUDA of its driver was told");
    };
    let check = check.found(format!("a driver that offers CUDA {cuda}")).evidence(Some(by));
    match cuda.cmp_prefix(&wanted).is_ge() {
        true => check.pass(),
        false => check.fail(Action::AskAdmin, context.newer_driver()),
    }
}

/// Whether every release of the minimum's branch that is known suffices.
fn opens_branch(context: &CheckContext<'_>, minimum: &Version) -> bool {
    context.catalog.drivers_of(minimum).all(|row| row.version >= *minimum)
}

/// How the stack's CUDA runs on the CUDA that the driver offers.
fn offered(context: &CheckContext<'_>, locked: &DriverLock) -> Check {
    let check = Check::new("driver-cuda");
    let Some(line) = context.line() else { return check.skip("the stack has no CUDA line") };
    let check = check.expected(format!("CUDA {line}, or an older one of the same major"));
    let Some((cuda, by)) = context.offered() else { return check.skip("what CUDA the driver offers was not told") };
    let check = check.found(format!("CUDA {cuda}")).evidence(Some(format!("reported by {by}")));
    if cuda.cmp_prefix(&line).is_ge() {
        return check.pass();
    }
    if let Some(why) = set_aside(context) {
        return check.skip(why);
    }
    let same_major = cuda.major() == line.major();
    let limit =
        "minor-version compatibility: PTX of the stack's own CUDA cannot be compiled by this driver, machine code runs";
    if locked.is_forward_compat() {
        return match context.loads_compat() {
            _ if same_major && is_needless(context) => check.pass_with(limit),
            // Whether its package is there is the next check's.
            false => check.skip("a cuda-compat is to bring it"),
            true => check.fail(
                Action::FixEnvironment,
                "the cuda-compat that is loaded is older than the stack: load the locked one",
            ),
        };
    }
    match (same_major, locked.mode == DriverMode::Native.as_str()) {
        (true, true) => check.warn(Action::None, limit),
        (true, false) => check.pass_with(limit),
        (false, _) => {
            let (action, raise) = context.driver_remedy("lock again for the driver that is here");
            check.fail(action, raise)
        }
    }
}

/// The locked cuda-compat: there, for this kernel's branch, on GPUs that take it, and really loaded.
fn forward(context: &CheckContext<'_>, locked: &DriverLock) -> Vec<Check> {
    let (Some(package), true) = (&locked.compat, locked.is_forward_compat()) else {
        return unwanted(context).into_iter().collect();
    };
    let check = Check::new("forward-compat").expected(&**package);
    if is_needless(context) {
        let found = "the driver offers the stack's CUDA by itself";
        return vec![match context.loads_compat() {
            true => check
                .found(found)
                .warn(Action::FixEnvironment, format!("{package} is not needed on this driver: leave it out")),
            false => check.found(found).pass(),
        }];
    }
    let unserved = served::unserved(context, check.clone(), locked, package);
    let checked = match unserved {
        Some(unserved) if unserved.status == Status::Fail => unserved,
        unserved => {
            let found = package_check(context, check, package);
            unserved.filter(|_| found.status != Status::Fail).unwrap_or(found)
        }
    };
    let mut checks = vec![checked];
    checks.extend(context.gpus().iter().filter_map(|gpu| eligible(context, gpu)));
    checks
}

/// Whether machine code of a CUDA line runs on a driver that offers an older one of its major: from CUDA 11 on, and from
/// the release on that the catalog's rules name.
fn runs_by_minor_version(context: &CheckContext<'_>, line: &Version, offered: &Version) -> bool {
    let rules =
        context.catalog.rules.iter().filter(|row| (row.subject, row.object) == (Subject::Cuda, Subject::Driver));
    let of_line = rules.filter(|row| admits(&row.range, line));
    let runs = |driver: &Version| of_line.into_iter().all(|row| admits(&row.needs, driver));
    // Windows' drivers and board support packages have numbers of their own.
    let driver = context.driver().map(|(driver, _)| driver).filter(|driver| driver.major() >= BRANCHES);
    let driver = driver.filter(|_| !context.has_windows_driver());
    offered.major() == line.major() && driver.is_none_or(runs)
}

/// Whether the driver's own CUDA suffices: as new as the stack's, or of its major where machine code runs alone. A
/// library that is loaded hides what the driver itself would offer, but not its release.
fn is_needless(context: &CheckContext<'_>) -> bool {
    let Some(line) = context.line() else { return false };
    let of_driver = || context.driver().and_then(|(driver, _)| context.catalog.cuda_of(driver));
    let own = match context.loads_compat() {
        true => of_driver(),
        false => context.offered().map(|(cuda, _)| cuda).or_else(of_driver),
    };
    let suffices = |own: &Version| {
        own.cmp_prefix(&line).is_ge() || !context.target.compiles_ptx() && runs_by_minor_version(context, &line, own)
    };
    own.is_some_and(suffices)
}

fn package_check(context: &CheckContext<'_>, check: Check, package: &str) -> Check {
    let in_container = context.target.is_for_container();
    if in_container && !context.in_container() {
        return check.skip("the image brings it; verify inside the container");
    }
    let install = match in_container {
        true => "it is not in this container: run the locked image, or install it there",
        false => "install the package and put its folder first in LD_LIBRARY_PATH",
    };
    let cuda = package.strip_prefix("cuda-compat-").map(|cuda| cuda.replace('-', "."));
    let of_line = |compat: &&Compat| compat.cuda.as_ref().map(|found| found.prefix(2).to_string()) == cuda;
    let Some(compat) = context.record.compat.iter().find(of_line) else {
        let others: Vec<String> = context.record.compat.iter().map(|compat| compat.path.clone()).collect();
        if others.is_empty() && context.is_pasted() {
            let is_told =
                context.record.libcuda.as_ref().is_none_or(|libcuda| libcuda.path.is_none()) && context.loads_compat();
            let told = context.offered().filter(|_| is_told).map(|(told, _)| told.prefix(2).to_string());
            return match told == cuda {
                true => check.found(format!("CUDA {}, which is not the driver's own", told.unwrap_or_default())).pass(),
                false => check.unknown(Action::None, "the pasted text does not tell whether it is installed"),
            };
        }
        let check = check.found(if others.is_empty() { "none".to_string() } else { others.join(", ") });
        return check.fail(Action::FixEnvironment, install);
    };
    let check = check.found(&*compat.path).evidence(Some(&*compat.path));
    let Some((driver, _)) = context.driver() else {
        return check.unknown(Action::None, "the kernel's driver is not known");
    };
    // The number of a Jetson's driver is none of those that the package names.
    let is_named = compat.branches.contains(&driver.major()) || context.is_tegra();
    if !compat.branches.is_empty() && !is_named {
        let branches: Vec<String> = compat.branches.iter().map(u64::to_string).collect();
        return check.fail(
            Action::AskAdmin,
            format!(
                "it supports the branches {} only, and this kernel runs {driver}: change the driver's branch",
                branches.join(", ")
            ),
        );
    }
    let loaded = context.record.libcuda.as_ref().and_then(|libcuda| libcuda.path.as_deref());
    match loaded {
        Some(loaded) if loaded != compat.path => check.fail(
            Action::FixEnvironment,
            format!("{loaded} is loaded instead: put the folder of the package first in LD_LIBRARY_PATH"),
        ),
        _ if compat.branches.is_empty() && !context.is_tegra() => {
            check.unknown(Action::None, "its note does not say which branches it supports")
        }
        _ => check.pass(),
    }
}

/// GPUs that the lock names were found eligible when it was made; of others the catalog knows the market.
fn eligible(context: &CheckContext<'_>, gpu: &Seen<'_>) -> Option<Check> {
    let name = gpu.name?;
    if gpu.product.is_some() {
        return None;
    }
    let check = Check::new("forward-compat-gpu").of(&gpu.label).expected("a data-centre GPU").found(name);
    Some(match context.catalog.gpu(name) {
        GpuMatch::Found(rows) if rows.iter().all(|row| row.class == Class::Datacenter) => check.pass(),
        _ if context.is_tegra() => return None,
        GpuMatch::Found(_) => {
            check.fail(Action::AskAdmin, "cuda-compat is refused on this GPU (804): raise the driver instead")
        }
        _ => check.unknown(
            Action::ChangeLock,
            "whether it takes cuda-compat is not known: name it in gpuenv.toml and lock again",
        ),
    })
}

/// A cuda-compat that nobody locked: it works until the driver is newer than it.
fn unwanted(context: &CheckContext<'_>) -> Option<Check> {
    if !context.loads_compat() {
        return None;
    }
    let path = context.record.libcuda.as_ref().and_then(|libcuda| libcuda.path.clone());
    let offered =
        || context.offered().map_or(String::new(), |(cuda, _)| format!("CUDA {cuda}, which is not the driver's own"));
    let check = Check::new("forward-compat")
        .expected("the driver's own libcuda")
        .found(path.clone().unwrap_or_else(offered))
        .evidence(path.clone());
    let take_out = "take its folder out of LD_LIBRARY_PATH and ld.so.conf.d";
    let torch = context.record.python.as_ref().and_then(|python| python.torch.as_ref()?.available);
    // Of a libcuda that was asked its own check tells.
    let is_open = path.is_none() && torch != Some(true) && !context.cuda_shows_gpus();
    let refuses = |gpu: &&Seen<'_>| match gpu.name.map(|name| context.catalog.gpu(name)) {
        Some(GpuMatch::Found(rows) | GpuMatch::Ambiguous(rows)) => {
            rows.iter().all(|row| matches!(row.class, Class::Geforce | Class::Titan))
        }
        _ => false,
    };
    if let Some(gpu) = context.gpus().iter().find(refuses).filter(|_| is_open) {
        let hint = format!(
            "a cuda-compat is loaded, which CUDA refuses on {} (804): {take_out}, or raise the driver",
            gpu.name.unwrap_or_default()
        );
        return Some(check.fail(Action::FixEnvironment, hint));
    }
    let hint = format!(
        "a cuda-compat that is not locked is loaded; it fails (803) once the driver is newer, and on GPUs that are no \
         data-centre ones (804): {take_out}"
    );
    Some(check.warn(Action::FixEnvironment, hint))
}
