//! What compiles, where the lock builds: the toolkit, who points to it, the host compiler.

use crate::catalog::OsMatch;
use crate::catalog::rows::{Subject, TORCH};
use crate::host::{ApiError, Compiler, Toolkit};
use crate::solve::fits;
use crate::solve::rules::law;
use crate::types::{CpuArch, Version, variant};

use super::check::{Action, Check};
use super::context::CheckContext;
use super::cuda_errors;

/// Who may point to a toolkit that a build would then take.
const POINTERS: &[&str] = &["PATH", "CUDA_HOME", "CUDA_PATH"];

/// Everything that is to be said of it.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    let Some(wanted) = context.target.toolkit.as_ref().and_then(|text| Version::parse(text).ok()) else {
        return when_used(context).into_iter().collect();
    };
    if !context.sees_userland() {
        return vec![
            Check::new("toolkit").expected(wanted.as_str()).skip("the image brings it; verify inside the container"),
        ];
    }
    vec![toolkit(context, &wanted), pointers(context, &wanted), compiler(context, &wanted)]
}

fn version(toolkit: &Toolkit) -> Option<&Version> {
    toolkit.version.as_ref().or(toolkit.nvcc.as_ref())
}

/// Why a toolkit that is there does not tell its release: its nvcc did not answer. That is no other release.
fn silence(toolkit: &Toolkit) -> Option<&ApiError> {
    let is_there = |fault: &&ApiError| fault.name.as_deref() != Some("ENOENT");
    toolkit.fault.as_ref().filter(is_there).filter(|_| version(toolkit).is_none())
}

/// Ends a check by it.
fn unanswered(check: Check, root: &str, fault: &ApiError) -> Check {
    let hint = format!(
        "which release is in {root} is not known, because its nvcc did not answer: see the disk it lies on, then verify again"
    );
    check.evidence(Some(cuda_errors::told(fault))).unknown(Action::FixEnvironment, hint)
}

/// Whether a toolkit is the locked release; nvcc's own numbers end with a build, of which the lock knows nothing.
fn is_locked(toolkit: &Toolkit, wanted: &Version) -> bool {
    let same = |found: &Version| found.cmp_prefix(wanted).is_eq() || wanted.cmp_prefix(found).is_eq();
    match (&toolkit.version, &toolkit.nvcc) {
        (Some(version), _) => same(version),
        (None, Some(nvcc)) => nvcc.prefix(2) == wanted.prefix(2),
        (None, None) => false,
    }
}

fn toolkit(context: &CheckContext<'_>, wanted: &Version) -> Check {
    let check = Check::new("toolkit").expected(wanted.as_str());
    let toolkits = &context.record.toolkits;
    if let Some(found) = toolkits.iter().find(|toolkit| is_locked(toolkit, wanted)) {
        return check
            .found(version(found).map_or("", Version::as_str))
            .evidence(Some(&*found.root).filter(|root| !root.is_empty()))
            .pass();
    }
    if toolkits.is_empty() {
        let made = context.was_made("toolkits");
        return match made {
            true => check.found("none").fail(Action::FixEnvironment, format!("install CUDA toolkit {wanted}")),
            false => context.untold(check, "toolkits"),
        };
    }
    // A pasted report tells the version and not the place.
    let named = |toolkit: &Toolkit| {
        let version = version(toolkit).map_or("?", Version::as_str);
        if toolkit.root.is_empty() { version.to_string() } else { format!("{version} in {}", toolkit.root) }
    };
    let all: Vec<String> = toolkits.iter().map(named).collect();
    let check = check.found(all.join(", "));
    let near = toolkits.iter().any(|toolkit| version(toolkit).is_some_and(|found| found.prefix(2) == wanted.prefix(2)));
    let silent = toolkits.iter().find_map(|toolkit| Some((toolkit, silence(toolkit)?)));
    match (near, silent) {
        (true, _) => check.warn(
            Action::FixEnvironment,
            format!("another release of the same line: install {wanted} for the locked one"),
        ),
        (false, Some((toolkit, fault))) => unanswered(check, &toolkit.root, fault),
        (false, None) => check.fail(
            Action::FixEnvironment,
            format!("install CUDA toolkit {wanted}, or name the one here as `toolkit` in gpuenv.toml and lock again"),
        ),
    }
}

/// What is compiled when it is first used, though no `[build]` names a toolkit: torch takes one of its own CUDA's major alone.
fn when_used(context: &CheckContext<'_>) -> Option<Check> {
    let (line, arch) = (context.line()?, CpuArch::parse(&context.target.arch).ok()?);
    let compiled = |(name, locked): (&String, &String)| {
        let locked = Version::parse(variant::public(locked)).ok()?;
        let row = context.catalog.companions.of(name).iter().find(|row| row.version == locked)?;
        let mut compiled = fits::compiled_when_used(context.catalog, row, arch);
        compiled.find(|one| one.sdist && *one.framework == *TORCH).map(|one| &*one.package)
    };
    let is_asked = context.needs_gpu() && context.sees_userland() && context.stack().contains_key(TORCH);
    let toolkits: Vec<&Version> = context.record.toolkits.iter().filter_map(version).collect();
    if !is_asked || toolkits.is_empty() || toolkits.iter().any(|found| found.major() == line.major()) {
        return None;
    }
    let package = context.stack().iter().find_map(compiled).filter(|_| !context.is_set_aside(law::EXTENSION_MAJOR))?;
    let found: Vec<&str> = toolkits.iter().map(|found| found.as_str()).collect();
    let hint = format!(
        "{package} is compiled when it is first used, and torch refuses a toolkit of another CUDA than its own: install CUDA \
         toolkit {line}"
    );
    let check = Check::new("toolkit").expected(format!("CUDA {}", line.major())).found(found.join(", "));
    Some(check.fail(Action::FixEnvironment, hint))
}

/// PATH, CUDA_HOME and CUDA_PATH must all lead to the locked toolkit.
fn pointers(context: &CheckContext<'_>, wanted: &Version) -> Check {
    let check = Check::new("toolkit-path").expected(format!("{} lead to {wanted}", POINTERS.join(", ")));
    let named = context.record.toolkits.iter().flat_map(|toolkit| {
        let by = toolkit.named_by.iter().filter(|by| POINTERS.contains(&by.as_str()));
        by.map(move |by| (by.as_str(), toolkit))
    });
    let named: Vec<(&str, &Toolkit)> = named.collect();
    if named.is_empty() {
        return check.skip("none of them leads to a toolkit");
    }
    let line = |toolkit: &Toolkit| version(toolkit).is_some_and(|found| found.prefix(2) == wanted.prefix(2));
    let wrong = || named.iter().find(|(_, toolkit)| !line(toolkit) && silence(toolkit).is_none());
    let silent = || named.iter().find_map(|(_, toolkit)| Some((toolkit, silence(toolkit)?)));
    let roots: Vec<String> = named.iter().map(|(by, toolkit)| format!("{by}: {}", toolkit.root)).collect();
    let check = check.found(roots.join(", "));
    if let Some((by, toolkit)) = wrong() {
        let found = version(toolkit).map_or("an unknown release", Version::as_str);
        return check.fail(Action::FixEnvironment, format!("{by} leads to {found}: let it lead to toolkit {wanted}"));
    }
    match silent() {
        Some((toolkit, fault)) => unanswered(check, &toolkit.root, fault),
        None => check.pass(),
    }
}

/// nvcc refuses host compilers that are newer than it knows, and torch's headers older ones. The lock holds the promise; the
/// catalog knows the limits.
fn compiler(context: &CheckContext<'_>, wanted: &Version) -> Check {
    let check = Check::new("host-compiler");
    let clang = context.lock.inputs.contains_key(&format!("target.{}.clang", context.name));
    let (name, cxx, object) = if clang { ("clang", "clang++", Subject::Clang) } else { ("gcc", "g++", Subject::Gcc) };
    let row = context.catalog.toolkit(wanted);
    let limit = row.and_then(|row| if clang { row.clang_max.as_ref() } else { row.gcc_max.as_ref() });
    let Some(limit) = limit else { return check.skip("which compilers this toolkit takes is not known") };
    let check = check.expected(format!("{name} {limit} or older"));
    let Some(Compiler { version: Some(found), path, .. }) = chosen(context, name) else {
        return context.untold(check, "compilers");
    };
    let check = check.found(format!("{name} {found}")).evidence(path.clone());
    if found.major() > limit.major() {
        return check.fail(
            Action::FixEnvironment,
            format!("nvcc {wanted} takes {name} {limit} at most: install {name}-{limit} and set NVCC_CCBIN or CUDAHOSTCXX to its {cxx}"),
        );
    }
    if let Some(rule) = context.broken(object, found) {
        let hint = format!(
            "{} Install {name} {} beside it and set NVCC_CCBIN or CUDAHOSTCXX to its {cxx}",
            rule.says, rule.needs
        );
        return check.expected(format!("{name} {}", rule.needs)).fail(Action::FixEnvironment, hint);
    }
    match promised(context, name).filter(|promised| promised.major() != found.major()) {
        Some(promised) => {
            check.warn(Action::None, format!("the lock was solved for {name} {promised}; nvcc takes this one too"))
        }
        None => check.pass(),
    }
}

/// Who names the host compiler that nvcc calls, the strongest first: nvcc reads NVCC_CCBIN, CMake passes CUDAHOSTCXX on,
/// torch's extensions pass CC on. Nobody passes CXX on.
const CHOOSERS: &[&str] = &["NVCC_CCBIN", "CUDAHOSTCXX", "CC", "PATH"];

/// The host compiler of a name that nvcc would call. A report tells one, and not who points to it.
fn chosen<'a>(context: &CheckContext<'a>, name: &str) -> Option<&'a Compiler> {
    let of_name = || context.record.compilers.iter().filter(|compiler| compiler.name == name);
    let by = |chooser: &&str| of_name().find(|compiler| compiler.named_by.iter().any(|by| by == chooser));
    CHOOSERS.iter().find_map(by).or_else(|| of_name().find(|compiler| compiler.named_by.is_empty()))
}

fn promised(context: &CheckContext<'_>, name: &str) -> Option<Version> {
    let written = context.lock.inputs.get(&format!("target.{}.{name}", context.name));
    let implied = || match context.catalog.os(context.target.os.as_deref()?) {
        OsMatch::Found(row) => row.gcc.filter(|_| name == "gcc"),
        OsMatch::Unknown(_) => None,
    };
    written.and_then(|text| Version::parse(text).ok()).or_else(implied)
}
