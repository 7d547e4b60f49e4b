//! The interpreter and what is installed in it, against the lock's wheels.

use crate::catalog::rows::TORCH;
use crate::host::Python;
use crate::host::signs::{LISTED, NAMED};
use crate::lock::Wheel;
use crate::types::address::is_same_version;
use crate::types::name::STACK_PARTS;
use crate::types::{Version, variant};

use super::beside;
use super::check::{Action, Check, Status};
use super::context::CheckContext;
use super::cuda_errors;
use super::installed::{Build, Wanted, begins, entry, installed, option, own_build, own_release};

/// Everything that is to be said of them.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    if !context.stack().contains_key("python") && context.lock.wheels_of(context.name).next().is_none() {
        return Vec::new();
    }
    let check = Check::new("python-version").expected(context.stack().get("python").map_or("a Python", String::as_str));
    if !context.sees_userland() {
        return vec![check.skip("the container brings its own interpreter; verify inside it")];
    }
    let Some(python) = &context.record.python else {
        let rows = |wanted: &Wanted<'_>| unread(context, &package_check(wanted), wanted);
        let unread: Vec<Check> = Wanted::all(context).iter().filter_map(rows).collect();
        if !unread.is_empty() {
            return unread;
        }
        let was_looked_for = context.record.probes.iter().any(|probe| probe.name == "python");
        return vec![match beside(context) {
            Some(beside) => check.skip(beside),
            None if was_looked_for => check.skip("no interpreter was asked; name one with --python"),
            // A quick look asks none, whichever is named.
            None => context.untold(check, "python"),
        }];
    };
    if !is_meant(context, python) {
        return vec![passed_over(context, check, python)];
    }
    let mut checks = vec![version(context, check, python)];
    if python.fault.is_none() {
        checks.extend(bits(python));
        checks.extend(packages(context, python));
        checks.extend(files(context, python));
    }
    checks
}

/// Whether somebody pointed to this interpreter, or it holds something of the stack. The first one on PATH may be
/// the system's own, which no job of this stack will use.
fn is_meant(context: &CheckContext<'_>, python: &Python) -> bool {
    let stack = || context.stack().keys().filter(|name| !STACK_PARTS.contains(&name.as_str()));
    python.named_by.as_deref() != Some("PATH") || stack().any(|name| installed(python, name).is_some())
}

/// What the probe says of an interpreter that lies beside the project and was not asked.
fn beside<'r>(context: &CheckContext<'r>) -> Option<&'r str> {
    let probe = context.record.probes.iter().find(|probe| probe.name == "python")?;
    probe.detail.as_deref().filter(|detail| detail.contains("add `--python "))
}

fn passed_over(context: &CheckContext<'_>, check: Check, python: &Python) -> Check {
    let version = version(context, check, python);
    let name = beside(context).map_or("name the job's own with --python".to_string(), str::to_string);
    match version.status {
        Status::Fail | Status::Unknown => version.warn(
            Action::FixEnvironment,
            format!("this is only the first Python on PATH and holds nothing of the stack: {name}"),
        ),
        _ => version,
    }
}

fn version(context: &CheckContext<'_>, check: Check, python: &Python) -> Check {
    let check = check.evidence(python.path.clone());
    if let Some(fault) = &python.fault {
        return check
            .found(cuda_errors::told(fault))
            .unknown(Action::FixEnvironment, "the interpreter does not answer: name another with --python");
    }
    let wanted = context.stack().get("python").and_then(|text| Version::parse(text).ok());
    let (Some(found), Some(wanted)) = (&python.version, wanted) else {
        return check.skip("its version is not known, or the lock names none");
    };
    let check = check.found(found.as_str());
    match found.cmp_prefix(&wanted).is_eq() {
        true => check.pass(),
        false => check.fail(
            Action::FixEnvironment,
            format!("use Python {wanted}: name its interpreter with --python, or activate the environment it is in"),
        ),
    }
}

fn bits(python: &Python) -> Option<Check> {
    let bits = python.bits?;
    let check =
        Check::new("python-bits").expected("64 bits").found(format!("{bits} bits")).evidence(python.path.clone());
    Some(if bits == 64 {
        check.pass()
    } else {
        check.fail(Action::FixEnvironment, "no wheel with CUDA is for it: use a 64-bit Python")
    })
}

/// Each package of the lock that is installed. What is not installed yet is no mistake.
fn packages(context: &CheckContext<'_>, python: &Python) -> Vec<Check> {
    let of_each = Wanted::all(context).into_iter().flat_map(|wanted| {
        let sibling = beside::sibling(context, python, &wanted);
        // What stands in the place of a package is more than that it is not there.
        let own = package(context, python, &wanted);
        let own = own.filter(|own| sibling.is_none() || own.status != Status::Skip);
        own.into_iter().chain(sibling)
    });
    of_each.chain(beside::of_wheels(context, python)).collect()
}

fn package_check(wanted: &Wanted<'_>) -> Check {
    Check::new("python-package").expected(format!("{} {}", wanted.name, wanted.shown()))
}

fn package(context: &CheckContext<'_>, python: &Python, wanted: &Wanted<'_>) -> Option<Check> {
    let name = wanted.name;
    let check = package_check(wanted);
    let Some(found) = installed(python, name) else {
        let is_asked_for = wanted.constraint.is_none();
        let told = said(context, &check, python, wanted).or_else(|| unread(context, &check, wanted));
        return told.or_else(|| {
            is_asked_for.then(|| {
                check.skip(match context.is_pasted() {
                    true => format!("the pasted text does not tell whether {name} is installed"),
                    false => format!("{name} is not installed in this interpreter"),
                })
            })
        });
    };
    let own = own_release(python, name, found);
    let imported = own.or_else(|| own_build(python, name)).unwrap_or(found);
    let is_listed =
        is_same_version(imported, found) || imported.split_once('+').is_some_and(|(release, _)| release == found);
    let other = if wanted.is(context, imported) { found } else { imported };
    let check = check.evidence(python.path.clone()).found(match is_listed {
        false => format!("{name} {imported} is imported, {found} is listed"),
        true => format!("{name} {imported}"),
    });
    Some(match wanted.build(context, python, own.unwrap_or(found)) {
        Build::Locked | Build::Relabelled(_) if own.is_some() => {
            check.warn(Action::FixEnvironment, "what is imported is the locked release: remove the other installation")
        }
        Build::Locked => check.pass(),
        Build::Relabelled(note) => check.pass_with(note),
        Build::Unclear(note) => check.warn(Action::None, note),
        // Nothing that is locked imports it.
        Build::Other if wanted.constraint.is_some_and(|one| !one.brought) => {
            check.warn(Action::FixEnvironment, wanted.install(other))
        }
        Build::Other => check.fail(Action::FixEnvironment, wanted.install(other)),
    })
}

/// A row of a list that nobody reads, which may name another build than the locked one.
fn unread(context: &CheckContext<'_>, check: &Check, wanted: &Wanted<'_>) -> Option<Check> {
    let rows = context.record.probes.iter().filter(|probe| probe.name == LISTED);
    let mut rows = rows.filter_map(|probe| probe.detail.as_deref()?.strip_prefix(wanted.name)?.strip_prefix(": "));
    let row = rows.find(|row| !wanted.shown().contains('+') || !row.contains(wanted.shown()));
    let row = row.or_else(|| named(context, wanted))?;
    let hint = "that is not read further: add the output of `pip list`, or of `conda list`";
    Some(check.clone().found(row).unknown(Action::None, hint))
}

/// A line that names another release of it than the locked one.
fn named<'r>(context: &CheckContext<'r>, wanted: &Wanted<'_>) -> Option<&'r str> {
    let lines = context.record.probes.iter().filter(|probe| probe.name == NAMED);
    let mut told = lines.filter_map(|probe| {
        let rest = probe.detail.as_deref()?.strip_prefix(wanted.name)?.strip_prefix(' ')?;
        rest.split_once(": ")
    });
    let is_other = |version: &str| matches!(wanted.build(context, &Python::default(), version), Build::Other);
    told.find(|(version, _)| is_other(version)).map(|(_, line)| line)
}

/// A torch that no list of packages names, by what it says of its own release. Its CUDA is another check's.
fn said(context: &CheckContext<'_>, check: &Check, python: &Python, wanted: &Wanted<'_>) -> Option<Check> {
    let said = python.torch.as_ref().filter(|_| wanted.name == TORCH)?.version.as_deref()?;
    let check = check.clone().found(format!("torch {said}")).evidence(Some("torch.__version__"));
    let is_beginning = begins(said, variant::public(wanted.locked));
    Some(match wanted.is(context, said) || !said.contains('+') && wanted.is_release(said) || is_beginning {
        true => check.pass(),
        false => check.fail(Action::FixEnvironment, wanted.install(said)),
    })
}

/// Whether what is installed came from the locked files, as far as anybody noted that; of another version or for
/// another Python it cannot have.
fn files(context: &CheckContext<'_>, python: &Python) -> Vec<Check> {
    let locked = context.stack().get("python").and_then(|text| Version::parse(text).ok());
    let other = python.version.as_ref().zip(locked).is_some_and(|(found, locked)| found.cmp_prefix(&locked).is_ne());
    let (mut checks, mut untold) = (Vec::new(), Vec::new());
    for wheel in context.lock.wheels_of(context.name).filter(|_| !other) {
        match installed(python, &wheel.package).filter(|found| is_locked(context, wheel, found)) {
            None => {}
            Some(_) => match entry(&python.origins, &wheel.package) {
                Some(origin) => checks.push(file(wheel, origin).evidence(python.path.clone())),
                None => untold.push(wheel.package.as_str()),
            },
        }
    }
    if !untold.is_empty() {
        let says =
            format!("not known from which file {} was installed: an index leaves no note of it", untold.join(", "));
        checks.push(Check::new("python-wheel").skip(says));
    }
    checks
}

/// A package whose installer noted whence it is.
fn file(wheel: &Wheel, origin: &str) -> Check {
    let name = format!("{} {}", wheel.package, wheel.version);
    let check = Check::new("python-wheel").found(format!("{name} from {}", origin.replacen(':', " ", 1)));
    let Some(mut hashes) = wheel.hashes() else {
        return check.skip(format!("the lock knows no sha256 of {name}"));
    };
    let check = check.expected(format!("{name} from sha256 {}", wheel.sha256.replace(' ', " or ")));
    match origin.split_once(':') {
        Some((_, sha256)) if hashes.any(|known| known == sha256) => {
            check.found(format!("{name}, the locked file")).pass()
        }
        Some(_) if wheel.sdist => check.warn(
            Action::None,
            "another file than the locked source: a wheel that was compiled elsewhere, perhaps beside other versions",
        ),
        Some(_) => check.fail(
            Action::FixEnvironment,
            format!(
                "the version is the locked one, the file is not: {}; or describe the file that is meant in an overlay",
                reinstall(wheel)
            ),
        ),
        None if origin == "file" => check.skip("the installer noted no sha256 of the file"),
        None => check.warn(
            Action::None,
            format!("compiled from a {origin}, not installed from the locked file: {} brings that", reinstall(wheel)),
        ),
    }
}

/// Whether an installed version is the locked one.
fn is_locked(context: &CheckContext<'_>, wheel: &Wheel, found: &str) -> bool {
    match Wanted::of_stack(context, &wheel.package) {
        Some(wanted) => wanted.is(context, found),
        None => is_same_version(&wheel.version, found),
    }
}

/// The command that puts the locked file in the place of another one.
fn reinstall(wheel: &Wheel) -> String {
    let isolation = if wheel.unisolated.is_some() { " --no-build-isolation" } else { "" };
    format!(
        "`pip install --force-reinstall --no-deps{isolation} '{}'{}`",
        wheel.requirement(),
        option(wheel.index.as_deref())
    )
}
