//! Which spec a lock was made from. One of another spec is somebody else's work, and not replaced unasked.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::export::quote;
use crate::lock::{FORMAT, Lock};
use crate::probe::project::work_tree;
use crate::report::{Exit, Failure};
use crate::spec::Spec;
use crate::types::name;

use super::files::{Places, lock_of};
use super::project::shown;

/// What the lock says of its spec: nothing where that lies beside it under its name, else the way to it from the lock.
/// Of a spec outside the lock's project only the name is told: a lock holds no path of a machine.
pub fn of(places: &Places) -> Option<String> {
    let spec_name = places.spec.file_name()?;
    let (spec, lock) = (folder(&places.spec)?, folder(&places.lock)?);
    if spec == lock && places.lock.with_extension("toml").file_name() == Some(spec_name) {
        return None;
    }
    let same_project = work_tree(&lock).is_some_and(|project| spec.starts_with(project));
    let way = if spec.starts_with(&lock) || same_project { way(&lock, &spec) } else { PathBuf::new() };
    let parts: Vec<String> =
        way.join(spec_name).components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    Some(parts.join("/")).filter(|way| name::is_file(way))
}

/// Refuses to replace the lock of another spec, unless that is meant.
pub fn check(lock: &Lock, spec: &Spec, places: &Places, force: bool) -> Result<(), Failure> {
    match other(lock, spec, places) {
        Some(other) if !force => {
            let (lock, spec) = (shown(&places.lock), shown(&places.spec));
            let message = format!("{lock} was made from {other}, not from {spec}: it was not replaced");
            Err(Failure::new(Exit::BadInput, "other-spec", message).help(instead(places)))
        }
        _ => Ok(()),
    }
}

/// What to do with the lock of another spec: that is locked again, or its lock left alone, before it is replaced.
pub fn instead(places: &Places) -> String {
    let (own, beside) = (places.spec.with_extension("lock"), places.lock.with_extension("toml"));
    let mut ways = Vec::new();
    if beside != places.spec && lock_of(&beside) == places.lock && beside.is_file() {
        ways.push(format!("lock the spec beside it with `gpuenv lock --spec {}`", quote::sh_word(&shown(&beside))));
    }
    if own != places.lock && own != places.spec {
        ways.push(format!("write another file: --lock {}", quote::sh_word(&shown(&own))));
    }
    ways.push("replace it with `gpuenv lock --force`".to_string());
    ways.join(", or ")
}

/// The other spec that a lock was made from, as it is shown. Older formats do not tell.
pub fn other(lock: &Lock, spec: &Spec, places: &Places) -> Option<String> {
    if lock.version < FORMAT {
        return None;
    }
    if lock.spec == of(places) {
        let shares_targets = lock.target.keys().any(|name| spec.target(name).is_some());
        let name = lock.spec.as_ref().filter(|_| !shares_targets && is_known_by_name(places))?;
        return Some(format!("another {}", shown(Path::new(name))));
    }
    let beside = || places.lock.with_extension("toml").file_name().map(|name| name.to_string_lossy().into_owned());
    let other = lock.spec.clone().or_else(beside)?;
    // A link to it is the same spec.
    let file = |path: &Path| fs::canonicalize(path).ok();
    let same = file(&places.lock.with_file_name(&other)).zip(file(&places.spec)).is_some_and(|(then, now)| then == now);
    let is_namesake = Path::new(&other) == places.spec;
    let told = if is_namesake { places.lock.with_file_name(&other) } else { PathBuf::from(&other) };
    (!same).then(|| shown(&told))
}

/// Whether the lock tells no more of its spec than the name, which another spec can have: a project that was moved is the
/// same, one with none of its targets is not.
fn is_known_by_name(places: &Places) -> bool {
    let (spec, lock) = (folder(&places.spec), folder(&places.lock));
    spec != lock && of(places).is_some_and(|way| !way.contains('/'))
}

fn folder(file: &Path) -> Option<PathBuf> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::canonicalize(folder).ok()
}

/// The way from one folder to another: `../other`.
fn way(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}
