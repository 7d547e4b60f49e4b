//! Builds of somebody's own of which the lock does not know where they lie: no format can install them, and each says so.

use crate::lock::{Lock, TargetLock};
use crate::types::distinct;

use super::format::Targets;
use super::{ExportError, images, valid};

/// Those of a target, `torch 2.8.0`.
pub fn nowhere(lock: &Lock, name: &str, target: &TargetLock) -> Vec<String> {
    builds_nowhere(lock, name, target).map(|(package, version)| format!("{package} {version}")).collect()
}

/// Their packages: an installer that resolves must leave them out, or it takes those of an index.
pub fn packages_nowhere(lock: &Lock, name: &str, target: &TargetLock) -> Result<Vec<String>, ExportError> {
    builds_nowhere(lock, name, target).map(|(package, _)| Ok(valid::package(package)?.to_string())).collect()
}

fn builds_nowhere<'a>(lock: &'a Lock, name: &str, target: &'a TargetLock) -> impl Iterator<Item = (&'a str, &'a str)> {
    let has_wheel = move |package: &str| lock.wheels_of(name).any(|wheel| wheel.package == package);
    let stack = lock.stack_of(target);
    let own = lock.own_builds().filter(move |package| !has_wheel(package));
    own.filter_map(|package| Some((package, stack.get(package)?.as_str())))
}

/// What the text of a format says of them, a line without its sign; empty where there are none.
pub fn note(lock: &Lock, name: &str, target: &TargetLock) -> String {
    match nowhere(lock, name, target).as_slice() {
        [] => String::new(),
        own => format!(
            "Not in here, because gpuenv.toml does not say where it is: your build of {}. Install it first.",
            own.join(" and of ")
        ),
    }
}

/// What keeps pip from another build of theirs, a line each: it takes no wheel of them from any index, whoever asks for one,
/// and what is installed already stays. They have no source there that would build.
pub fn pip_lines(lock: &Lock, name: &str, target: &TargetLock) -> Result<Vec<String>, ExportError> {
    let packages = packages_nowhere(lock, name, target)?;
    Ok(packages.iter().map(|package| format!("--no-binary {package}")).collect())
}

/// Their locked releases as constraints, which name nothing to install: later installs keep to what is there.
pub fn constraints(lock: &Lock, name: &str, target: &TargetLock) -> Result<String, ExportError> {
    let mut lines = String::new();
    for (package, version) in builds_nowhere(lock, name, target) {
        lines += &format!("{}=={}\n", valid::package(package)?, valid::wheel_version(version)?);
    }
    Ok(lines)
}

/// The same as a comment of its own.
pub fn comment(lock: &Lock, name: &str, target: &TargetLock) -> String {
    let note = note(lock, name, target);
    if note.is_empty() { note } else { format!("# {note}\n") }
}

/// Nothing is left to install: for want of an address, or because nobody asked for anything.
pub fn nothing(lock: &Lock, targets: &Targets) -> ExportError {
    let own: Vec<String> = targets.iter().flat_map(|(name, target)| nowhere(lock, name, target)).collect();
    if let Some(first) = own.first() {
        return ExportError::OwnBuild(first.clone());
    }
    let mut inside =
        targets.iter().filter_map(|(name, target)| Some((images::framework_inside(lock, name, target)?, target)));
    match inside.next() {
        Some(((package, version), target)) => ExportError::AllInImage {
            package: package.to_string(),
            version: version.to_string(),
            image: target.image.clone().unwrap_or_default(),
        },
        None => ExportError::NothingToInstall,
    }
}

/// What a format leaves out, in words for whoever runs it.
pub fn left_out(lock: &Lock, targets: &Targets) -> Option<String> {
    let own = distinct(targets.iter().flat_map(|(name, target)| nowhere(lock, name, target)));
    (!own.is_empty()).then(|| {
        format!(
            "your build of {} is not in it, for gpuenv.toml does not say where it is: give it `url` or `index`, or install it \
             first",
            own.join(" and of ")
        )
    })
}
