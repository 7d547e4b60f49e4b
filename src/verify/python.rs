//! The interpreter and what is installed in it, against the lock's wheels.

use std::collections::BTreeMap;

use crate::host::Python;
use crate::lock::Wheel;
use crate::types::address::is_same_version;
use crate::types::name::STACK_PARTS;
use crate::types::{Version, name};

use super::check::{Action, Check, Status};
use super::context::CheckContext;
use super::cuda_errors;

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

/// Each package of the stack that is installed. What is not installed yet is no mistake.
fn packages(context: &CheckContext<'_>, python: &Python) -> Vec<Check> {
    let stack = context.stack().iter().filter(|(name, _)| !STACK_PARTS.contains(&name.as_str()));
    let one = |(name, locked): (&String, &String)| {
        let check = Check::new("python-package").expected(format!("{name} {locked}"));
        let Some(found) = installed(python, name) else {
            if let Some(check) = said(context, &check, python, (name, locked)) {
                return check;
            }
            return check.skip(match context.is_pasted() {
                true => format!("the pasted text does not tell whether {name} is installed"),
                false => format!("{name} is not installed in this interpreter"),
            });
        };
        let wheel = context.lock.wheels_of(context.name).find(|wheel| wheel.package == *name);
        let own = own_release(python, name, found);
        let imported = own.or_else(|| own_build(python, name)).unwrap_or(found);
        let is_listed = imported == found || imported.split_once('+').is_some_and(|(release, _)| release == found);
        let other = if is_same(imported, locked, wheel) { found } else { imported };
        let check = check.evidence(python.path.clone()).found(match is_listed {
            false => format!("{name} {imported} is imported, {found} is listed"),
            true => format!("{name} {imported}"),
        });
        match build(context, python, (name, own.unwrap_or(found)), locked, wheel) {
            Build::Locked | Build::Relabelled(_) if own.is_some() => check
                .warn(Action::FixEnvironment, "what is imported is the locked release: remove the other installation"),
            Build::Locked => check.pass(),
            Build::Relabelled(note) => check.pass_with(note),
            Build::Unclear(note) => check.warn(Action::None, note),
            Build::Other => check.fail(Action::FixEnvironment, install(name, locked, other, wheel)),
        }
    };
    stack.map(one).collect()
}

/// What the torch that is imported says of its release where the list names another: two are installed. With the variant in
/// its version it is told apart further on.
fn own_release<'p>(python: &'p Python, name: &str, listed: &str) -> Option<&'p str> {
    let said = python.torch.as_ref().filter(|_| name == "torch")?.version.as_deref()?;
    let listed = listed.split('+').next().unwrap_or(listed);
    (!said.contains('+') && !is_release(listed, said)).then_some(said)
}

/// What the torch that is imported says of itself, where that tells its build.
fn own_build<'p>(python: &'p Python, name: &str) -> Option<&'p str> {
    let said = python.torch.as_ref().filter(|_| name == "torch")?.version.as_deref();
    said.filter(|said| said.contains('+'))
}

/// A torch that no list of packages names, by what it says of its own release. Its CUDA is another check's.
fn said(context: &CheckContext<'_>, check: &Check, python: &Python, (name, locked): (&str, &str)) -> Option<Check> {
    let said = python.torch.as_ref().filter(|_| name == "torch")?.version.as_deref()?;
    let wheel = context.lock.wheels_of(context.name).find(|wheel| wheel.package == name);
    let release = |text: &'_ str| text.split_once('+').map_or(text.to_string(), |(release, _)| release.to_string());
    let same = match said.contains('+') {
        true => is_same(said, locked, wheel),
        false => is_release(said, &release(locked)),
    };
    let check = check.clone().found(format!("{name} {said}")).evidence(Some("torch.__version__"));
    Some(match same {
        true => check.pass(),
        false => check.fail(Action::FixEnvironment, install(name, locked, said, wheel)),
    })
}

/// Whether what is installed came from the locked files, as far as anybody noted that; of another version or for
/// another Python it cannot have.
fn files(context: &CheckContext<'_>, python: &Python) -> Vec<Check> {
    let locked = context.stack().get("python").and_then(|text| Version::parse(text).ok());
    let other = python.version.as_ref().zip(locked).is_some_and(|(found, locked)| found.cmp_prefix(&locked).is_ne());
    let (mut checks, mut untold) = (Vec::new(), Vec::new());
    for wheel in context.lock.wheels_of(context.name).filter(|_| !other) {
        let locked = context.stack().get(&wheel.package).unwrap_or(&wheel.version);
        match installed(python, &wheel.package).filter(|found| is_same(found, locked, Some(wheel))) {
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

/// What is told of a package, by its name in either spelling.
fn entry<'p>(told: &'p BTreeMap<String, String>, name: &str) -> Option<&'p str> {
    told.iter().find(|(known, _)| name::package(known) == name).map(|(_, text)| text.as_str())
}

/// The version of a package that is installed.
fn installed<'p>(python: &'p Python, name: &str) -> Option<&'p str> {
    entry(&python.packages, name)
}

/// Whether an installed version is the locked one. A wheel may carry its variant in its name or not; one that carries
/// another is another build.
fn is_same(found: &str, locked: &str, wheel: Option<&Wheel>) -> bool {
    if found == locked || wheel.is_some_and(|wheel| is_same_version(&wheel.version, found)) {
        return true;
    }
    let (found, label) = found.split_once('+').map_or((found, None), |(version, label)| (version, Some(label)));
    let (locked, variant) =
        locked.split_once('+').map_or((locked, None), |(version, variant)| (version, Some(variant)));
    let labelled = wheel.is_none_or(|wheel| wheel.version.contains('+'));
    let version = match (Version::parse(found), Version::parse(locked)) {
        (Ok(found), Ok(locked)) => found.cmp_prefix(&locked).is_eq(),
        _ => found == locked,
    };
    version
        && match (label, variant) {
            (None, _) => !labelled,
            (Some(label), Some(variant)) => label == variant,
            (Some(_), None) => true,
        }
}

/// What an installed package is of the locked build.
enum Build {
    Locked,
    /// The locked build by the name that another index gives it.
    Relabelled(String),
    /// It may be the locked build.
    Unclear(String),
    Other,
}

/// An installed package against the locked build. An index may serve a build without the variant in its name, and then
/// what torch says of itself decides, else which build the package index serves by default.
fn build(
    context: &CheckContext<'_>,
    python: &Python,
    (name, found): (&str, &str),
    locked: &str,
    wheel: Option<&Wheel>,
) -> Build {
    let torch = python.torch.as_ref().filter(|_| name == "torch");
    if let Some(said) = own_build(python, name) {
        let (same, listed) = (is_same(said, locked, wheel), is_same(found, locked, wheel));
        return match (same, listed) {
            (true, true) => Build::Locked,
            // A list that names another variant is of another installation.
            (true, false) if found.contains('+') => Build::Other,
            (true, false) => {
                Build::Relabelled(format!("torch says of itself that it is {said}: the build is the same"))
            }
            (false, _) => Build::Other,
        };
    }
    if is_same(found, locked, wheel) {
        return Build::Locked;
    }
    let Some((release, variant)) = locked.split_once('+').filter(|(release, _)| is_release(found, release)) else {
        return Build::Other;
    };
    if let Some(cuda) = torch.and_then(|torch| torch.cuda.as_ref()) {
        let line = cuda.prefix(2).to_string().replace('.', "");
        return match variant.strip_prefix("cu") == Some(line.as_str()) {
            true => Build::Relabelled(format!("torch says of itself that it was built for CUDA {cuda}")),
            false => Build::Other,
        };
    }
    match default_variant(context, name, release) {
        Some(default) if default == variant => {
            Build::Relabelled(format!("what the package index serves as {name} {release} is the {variant} build"))
        }
        Some(_) => Build::Other,
        // A companion without a variant in its name comes from where such a torch came from.
        None => match (installed(python, "torch"), context.stack().get("torch")) {
            (Some(torch), Some(locked)) if name != "torch" && !torch.contains('+') => {
                let wheel = context.lock.wheels_of(context.name).find(|wheel| wheel.package == "torch");
                match build(context, python, ("torch", torch), locked, wheel) {
                    Build::Other => Build::Other,
                    _ => Build::Unclear(format!(
                        "{name} {found} comes from another index: which build it is was not told"
                    )),
                }
            }
            _ => Build::Other,
        },
    }
}

/// Whether an installed version without a variant is this release.
fn is_release(found: &str, release: &str) -> bool {
    match (Version::parse(found), Version::parse(release)) {
        (Ok(found), Ok(release)) => found.cmp_prefix(&release).is_eq(),
        _ => found == release,
    }
}

/// The variant that the package index serves without being asked for one, on the locked processor.
fn default_variant<'c>(context: &CheckContext<'c>, name: &str, release: &str) -> Option<&'c str> {
    let of_release = |row: &&crate::catalog::rows::Build| {
        row.version.as_str() == release && row.arch.as_str() == context.target.arch
    };
    context.catalog.builds.of(name).iter().find(|row| row.default && of_release(row)).map(|row| &*row.variant)
}

/// The command that puts the locked file in the place of another one.
fn reinstall(wheel: &Wheel) -> String {
    let isolation = if wheel.unisolated.is_some() { " --no-build-isolation" } else { "" };
    format!("`pip install --force-reinstall --no-deps{isolation} '{}'{}`", wheel.requirement(), index(wheel))
}

fn index(wheel: &Wheel) -> String {
    wheel.index.as_ref().map_or(String::new(), |index| format!(" --index-url {index}"))
}

fn install(name: &str, locked: &str, found: &str, wheel: Option<&Wheel>) -> String {
    let requirement = wheel.map_or_else(|| format!("{name}=={locked}"), Wheel::requirement);
    let index = wheel.map_or(String::new(), index);
    let what = if found.ends_with("+cpu") { "the CPU build is installed" } else { "another build is installed" };
    format!("{what}: `pip install '{requirement}'{index}`")
}

#[cfg(test)]
mod tests;
