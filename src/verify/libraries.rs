//! The CUDA libraries a process would load: of the locked release, all of one place, not hidden by another copy.

use std::cmp::Ordering;

use crate::catalog::FullRow;
use crate::catalog::rows::Subject;
use crate::host::{Library, Shadowed};
use crate::lock::Wheel;
use crate::types::{Version, distinct, name, nvidia};

use super::beside;
use super::check::{Action, Check};
use super::context::CheckContext;
use super::cuda_errors;
use super::installed::installed;
use super::taken::{self, Taken};

/// Libraries that stand in the lock under a name of their own: the lock's name, the library's, the check.
const LOCKED: &[(&str, &str, &str)] =
    &[("cuda", "cudart", "library-cudart"), ("cudnn", "cudnn", "library-cudnn"), ("nccl", "nccl", "library-nccl")];

/// Everything that is to be said of them.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    if !context.needs_gpu() {
        return Vec::new();
    }
    if !context.sees_userland() {
        return vec![Check::new("library-cudnn").skip("the container brings its own libraries; verify inside it")];
    }
    let is_loaded = loads(context);
    let libraries: Vec<&Library> = context.record.libraries.iter().filter(|library| is_loaded(library)).collect();
    let mut checks: Vec<Check> =
        LOCKED.iter().filter_map(|(name, library, id)| version(context, &libraries, name, library, id)).collect();
    checks.extend(needed(context));
    checks.extend(libraries.iter().filter_map(|library| missing(context, library)));
    checks.extend(libraries.iter().filter_map(|library| mixed(library)));
    checks.extend(libraries.iter().filter_map(|library| shadowed(context, library)));
    checks.push(jit_compiler(context));
    checks
}

/// Which of the libraries found a process of this stack loads. A report tells what was loaded.
pub fn loads(context: &CheckContext<'_>) -> impl Fn(&Library) -> bool {
    let all = takes_any(context) || context.is_pasted();
    move |library| all || library.found_by.as_deref() == Some("python")
}

/// Whether what is here can be the stack's. Before the locked packages are installed nobody asks for any: they bring
/// their own and look there first, under names that what else lies around may not even have.
fn takes_any(context: &CheckContext<'_>) -> bool {
    let python = context.record.python.as_ref();
    let has = |package: &str| {
        python.is_some_and(|python| python.packages.keys().any(|known| name::package(known) == package))
    };
    let mut wheels = context.lock.wheels_of(context.name).peekable();
    let is_installed = wheels.peek().is_none() || wheels.any(|wheel| has(&wheel.package));
    let is_imported = python.is_some_and(|python| python.torch.is_some());
    // A framework may leave them to the system instead.
    let of_system = context.builds().iter().any(|(.., row)| row.says["system_cuda"].as_bool() == Some(true))
        || context.lock.inputs.contains_key(&format!("target.{}.cudnn", context.name));
    is_installed || is_imported || of_system
}

/// A library without which the framework does not start.
fn missing(context: &CheckContext<'_>, library: &Library) -> Option<Check> {
    let fault = library.fault.as_ref().filter(|fault| fault.at == "ld.so" || fault.at == "dlopen")?;
    let is_told = LOCKED.iter().any(|(name, known, _)| *known == library.name && context.stack().contains_key(*name));
    if is_told {
        return None;
    }
    let check = Check::new("library-missing").expected(&*library.soname).found(cuda_errors::told(fault));
    let torch = context.record.python.as_ref().and_then(|python| python.torch.as_ref());
    Some(match torch.and_then(|torch| torch.computed) {
        Some(true) => check.warn(Action::None, "torch computes all the same: it finds it in a way of its own"),
        _ => check.fail(
            Action::FixEnvironment,
            format!("{} cannot be loaded: install the locked packages again, with all that they need", library.soname),
        ),
    })
}

fn version(
    context: &CheckContext<'_>,
    libraries: &[&Library],
    name: &str,
    library: &str,
    id: &'static str,
) -> Option<Check> {
    let locked = context.stack().get(name)?;
    let check = Check::new(id).expected(locked.as_str());
    let wanted = Version::parse(locked).ok()?;
    let library = match taken::of(context, name) {
        Some(taken) => match taken.found(library, &wanted) {
            Some(found) => found,
            None => return Some(absent(context, check, &taken, &wanted)),
        },
        None => match libraries.iter().find(|one| one.name == library) {
            Some(found) => found,
            None => return Some(package(context, check, (name, takes_any(context)), &wanted)),
        },
    };
    let check = check.evidence(library.path.clone());
    if let Some(fault) = &library.fault {
        return Some(
            check
                .found(cuda_errors::told(fault))
                .fail(Action::FixEnvironment, "it cannot be loaded: install the locked release again"),
        );
    }
    let Some(found) = library.version.as_ref().or(library.file_version.as_ref()) else {
        return Some(check.skip("its version is not known"));
    };
    // cudart answers with its line alone, and cuDNN with three numbers of four.
    let length = if name == "cuda" { 2 } else { found.len().min(wanted.len()) };
    let order = found.prefix(length).cmp(&wanted.prefix(length));
    if order == Ordering::Less && name == "cudnn" && suffices(context, found) {
        let says = "an older cuDNN than the locked one is loaded, not older than the framework was built with";
        return Some(check.found(found.as_str()).warn(Action::None, says));
    }
    Some(compare(check.found(found.as_str()), library, found.major() == wanted.major(), order))
}

/// The cuDNN that a package loads, where what is locked has none that does: of this `gpuenv lock` warns.
fn needed(context: &CheckContext<'_>) -> Option<Check> {
    let locked = context.stack().get("cudnn").and_then(|locked| Version::parse(locked).ok());
    let of_stack = context.needs_of(Subject::Cudnn);
    let (rule, needs) = of_stack.into_iter().find(|(_, needs)| locked.is_none_or(|has| !needs.admits(&has)))?;
    let least = needs.comparisons().find_map(|one| one.version)?;
    let check = Check::new("library-cudnn").expected(&*rule.needs);
    let mut found = context.record.libraries.iter().filter(|one| one.name == "cudnn" && one.fault.is_none());
    let is_it = |library: &&Library| {
        let version = library.version.or(library.file_version);
        version.map_or(library.soname.ends_with(&format!(".so.{}", least.major())), |version| needs.admits(&version))
    };
    if let Some(library) = found.find(is_it) {
        return Some(check.found(library.path.as_deref().unwrap_or(&library.soname)).pass());
    }
    if let Some((wheel, version)) = installed_wheel(context, "cudnn")
        && Version::parse(version).is_ok_and(|version| needs.admits(&version))
    {
        return Some(check.found(format!("{wheel} {version}")).pass());
    }
    Some(Taken::cudnn(context, rule.package.as_deref()?).absent(check, &least))
}

/// A library that the system must have and the loader does not find: a wheel that happens to be installed may hold it.
fn absent(context: &CheckContext<'_>, check: Check, taken: &Taken<'_>, wanted: &Version) -> Check {
    match installed_wheel(context, taken.name) {
        Some(_) => package(context, check, (taken.name, true), wanted),
        None => taken.absent(check, wanted),
    }
}

/// Whether every framework leaves cuDNN to the system, and was built with none later than this one of its major: what the
/// lock names is the one that was expected there.
fn suffices(context: &CheckContext<'_>, found: &Version) -> bool {
    let built_with = |row: &FullRow| Version::parse(row.says["cudnn"].as_str()?).ok();
    let is_enough = |row: &FullRow| {
        row.says["system_cuda"].as_bool() == Some(true)
            && built_with(row).is_some_and(|least| least.major() == found.major() && *found >= least)
    };
    let builds = context.builds();
    !builds.is_empty() && builds.iter().all(|(.., row)| is_enough(row))
}

/// The wheels that hold a library, by its name in the lock: with the CUDA major behind it, in CUDA 13 without.
const WHEELS: &[(&str, &str)] = &[("cuda", nvidia::RUNTIME), ("cudnn", nvidia::CUDNN), ("nccl", nvidia::NCCL)];

/// A library that nobody looked at, by the wheel in the list of packages that holds it; with the name whether that may be
/// the stack's.
fn package(context: &CheckContext<'_>, check: Check, (name, is_taken): (&str, bool), wanted: &Version) -> Check {
    let untold = match context.is_pasted() {
        true => "the pasted text does not tell it",
        false => "it is not installed here, or was not looked for",
    };
    let Some((wheel, found)) = installed_wheel(context, name) else {
        return match without_extra(context, name).filter(|_| is_taken) {
            Some(hint) => check.found("none").fail(Action::FixEnvironment, hint),
            None => check.skip(untold),
        };
    };
    let check = check.found(format!("{wheel} {found}"));
    if !is_taken {
        return check.skip("it came with another package: the locked ones are not installed yet, and bring their own");
    }
    let Ok(found) = Version::parse(found) else { return check.skip("its version is not known") };
    // The lock names the toolkit's release, of which the runtime's own number tells two parts.
    let length = if name == "cuda" { 2 } else { found.len().min(wanted.len()) };
    let release = if name == "cuda" { format!("{}.*", wanted.prefix(2)) } else { wanted.to_string() };
    // A wheel for another CUDA than the stack's is not the one that is to be had in another release.
    let how = match is_of_line(context, name, wheel) {
        true => format!("`pip install '{wheel}=={release}'`"),
        false => "install the locked packages again, with all that they need".to_string(),
    };
    let says = format!("another release of {wheel} than the locked one is installed: {how}");
    // As of a library that was loaded: one of an earlier minor than a wheel pins lacks what that was linked with.
    let mut pins = context.lock.wheels_of(context.name).flat_map(|of| beside::pins(context, of));
    let is_pinned = pins.any(|(pin, _)| pin == name::package(wheel));
    let lacks = name != "cuda" && is_pinned && found.prefix(2) < wanted.prefix(2);
    match (found.major() == wanted.major(), found.prefix(length) == wanted.prefix(length)) {
        (true, true) => check.pass(),
        (true, false) if !lacks => check.warn(Action::FixEnvironment, says),
        _ => check.fail(Action::FixEnvironment, says),
    }
}

/// What is installed without the extra that brings its CUDA libraries, where they were looked for and nothing else has them.
fn without_extra(context: &CheckContext<'_>, name: &str) -> Option<String> {
    let python = context.record.python.as_ref().filter(|_| !context.is_pasted() && context.was_made("libraries"))?;
    let has = |wheel: &&Wheel| wheel.extra.is_some() && installed(python, &wheel.package).is_some();
    let wheel = context.lock.wheels_of(context.name).find(has).filter(|_| name != "nccl")?;
    Some(format!("{} finds no CUDA library: `pip install '{}'`", wheel.package, wheel.requirement()))
}

/// Whether a wheel is for the CUDA of the stack, by its name.
fn is_of_line(context: &CheckContext<'_>, name: &str, wheel: &str) -> bool {
    let Some(major) = context.line().map(|line| line.major()) else { return true };
    let begin = WHEELS.iter().find(|(library, _)| *library == name).map_or("", |of| of.1);
    let wheel = name::package(wheel);
    let tail = wheel.strip_prefix(begin).unwrap_or_default();
    tail == format!("-cu{major}") || (tail.is_empty() && major >= 13)
}

/// The wheel for the CUDA of the stack, else the only one that is listed.
fn installed_wheel<'r>(context: &CheckContext<'r>, name: &str) -> Option<(&'r str, &'r str)> {
    let packages = &context.record.python.as_ref()?.packages;
    let wheel = WHEELS.iter().find(|(library, _)| *library == name)?.1;
    let is_of = |known: &str, tail: &str| name::package(known).strip_prefix(wheel) == Some(tail);
    let line = context.line().map(|line| format!("-cu{}", line.major()));
    let tails = line.into_iter().chain(["".to_string()]).chain((11..=13).map(|major| format!("-cu{major}")));
    for tail in tails {
        if let Some((known, version)) = packages.iter().find(|(known, _)| is_of(known, &tail)) {
            return Some((known, version));
        }
    }
    None
}

fn compare(check: Check, library: &Library, same_major: bool, order: Ordering) -> Check {
    let name = &library.name;
    match order {
        Ordering::Equal => check.pass(),
        Ordering::Greater if same_major => {
            check.warn(Action::None, format!("a later {name} than the locked one is loaded"))
        }
        // What was built against one minor of cudart runs with every other.
        Ordering::Less if same_major && name == "cudart" => {
            check.warn(Action::None, "an older CUDA line than the locked one is loaded")
        }
        _ => check.fail(Action::FixEnvironment, instead(library)),
    }
}

fn instead(library: &Library) -> String {
    let own = library.path.as_deref().map_or("", folder);
    let elsewhere = library.parts.iter().map(|part| folder(part)).find(|place| *place != own);
    let by = match (library.found_by.as_deref(), elsewhere) {
        (Some("LD_LIBRARY_PATH"), _) => ": take its folder out of LD_LIBRARY_PATH".to_string(),
        (_, Some(place)) => {
            format!(": parts of it come from {place}, so take that out of the search path (LD_LIBRARY_PATH)")
        }
        _ => ": install the locked release".to_string(),
    };
    format!("another {} than the locked one is loaded{by}", library.name)
}

/// Parts of one library from several places never fit each other for long.
fn mixed(library: &Library) -> Option<Check> {
    if library.parts.is_empty() {
        return None;
    }
    let folders = distinct(library.path.iter().chain(&library.parts).map(|path| folder(path)));
    let check = Check::new("library-mixed")
        .expected(format!("all of {} from one folder", library.name))
        .found(folders.join(", "));
    Some(match folders.len() {
        1 => check.pass(),
        // It asks for them by the number of its own CUDA line, so those of another folder are of that line too.
        _ if library.name == "nvrtc" => check
            .evidence(Some(library.parts.join(", ")))
            .warn(Action::None, "nvrtc takes its builtins from another folder, of the same CUDA line"),
        _ => check.evidence(Some(library.parts.join(", "))).fail(
            Action::FixEnvironment,
            format!(
                "parts of {} come from several places: leave one of these folders in the search path",
                library.name
            ),
        ),
    })
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Other copies. One that LD_LIBRARY_PATH puts before the wheel's own is loaded by the wheel.
fn shadowed(context: &CheckContext<'_>, library: &Library) -> Option<Check> {
    let path = library.path.as_deref().unwrap_or(&library.soname);
    let own = library.shadows.iter().find(|copy| copy.found_by.as_deref() == Some("python"));
    let version = library.version.as_ref().or(library.file_version.as_ref());
    if let (Some("LD_LIBRARY_PATH"), Some(own)) = (library.found_by.as_deref(), own) {
        let check = Check::new("library-shadowed").expected(&*own.path).found(path);
        let check = check.evidence(context.variable("LD_LIBRARY_PATH").map(|value| format!("LD_LIBRARY_PATH={value}")));
        let hint = format!("take {} out of LD_LIBRARY_PATH: it hides the wheel's own {}", folder(path), library.name);
        let same = version.zip(own.version.as_ref()).is_some_and(|(one, other)| {
            let length = one.len().min(other.len());
            one.prefix(length) == other.prefix(length)
        });
        let is_later =
            version.zip(own.version.as_ref()).is_some_and(|(one, own)| one.major() == own.major() && one > own);
        let torch = context.record.python.as_ref().and_then(|python| python.torch.as_ref());
        // A later one of its major serves what was built with an earlier one, where torch has shown it. That one GPU computed
        // says nothing of NCCL.
        let has_shown = torch.is_some_and(|torch| match library.name.as_str() {
            "nccl" => torch.reduced == Some(true),
            _ => torch.computed == Some(true),
        });
        let serves = is_later && has_shown;
        return Some(match same || serves {
            true => check.warn(Action::FixEnvironment, hint),
            false => check.fail(Action::FixEnvironment, hint),
        });
    }
    // What a wheel's library is loaded by comes before all that the loader finds, and what it finds is for other programs.
    let is_apart = |copy: &&Shadowed| {
        library.found_by.as_deref() == Some("python") && !matches!(copy.found_by.as_deref(), None | Some("python"))
    };
    let others: Vec<&str> =
        library.shadows.iter().filter(|copy| !is_apart(copy)).map(|copy| copy.path.as_str()).collect();
    let copy = *others.first()?;
    let check =
        Check::new("library-duplicates").expected("one copy").found(format!("{path}, beside {}", others.join(", ")));
    Some(
        check
            .evidence(Some(copy))
            .warn(Action::None, format!("several copies of {}: the first one is loaded", library.name)),
    )
}

/// Without its compiler library the driver takes no PTX.
fn jit_compiler(context: &CheckContext<'_>) -> Check {
    let check = Check::new("driver-jit-compiler").expected("libnvidia-ptxjitcompiler");
    let Some(library) =
        context.record.driver_libraries.iter().find(|library| library.soname.contains("ptxjitcompiler"))
    else {
        return check.skip("it was not looked for");
    };
    match &library.path {
        Some(path) => check.found(path.as_str()).pass(),
        None if context.is_bare() => check.skip("there is no NVIDIA driver"),
        None => {
            let jit = context.target.compiles_ptx();
            let (action, hint) = match context.in_container() {
                true => (Action::RestartContainer, "start the container with `compute` in NVIDIA_DRIVER_CAPABILITIES"),
                false => (Action::AskAdmin, "install the driver's libraries again, all of one release"),
            };
            let check = check.found("not here");
            if jit { check.fail(action, hint) } else { check.warn(action, format!("no PTX can be compiled: {hint}")) }
        }
    }
}
