//! Whether a lock is still that of the gpuenv.toml beside it, for commands that read the lock alone.

use crate::catalog::Catalog;
use crate::lock::{Lock, Renewed, again, is_same, staleness};
use crate::report::{Failure, Report};
use crate::solve::problem::Problem;
use crate::solve::request::Request;
use crate::spec::{self, Spec};
use crate::task::lock::required;

use super::common::Common;
use super::files;
use super::load_catalog;
use super::project::shown;

/// That a lock is out of date.
pub struct Stale {
    /// The spec that it is held against, as it is shown.
    pub spec: String,
    /// Why.
    pub reason: String,
    /// Whether it is; else nobody can tell.
    pub is_known: bool,
}

/// Why the lock is out of date, if a spec lies beside it and it is, or why that cannot be told. Whoever insists on a
/// current one (`locked`) has to have its spec.
pub fn reason(common: &Common, lock: &Lock, locked: bool, report: &Report) -> Result<Option<Stale>, Failure> {
    let place = match files::spec_of(lock, common) {
        Ok(Some(place)) if locked || common.spec.is_some() || place.is_file() => place,
        Ok(None) if locked => {
            files::tell_unchecked(common, report);
            return Ok(None);
        }
        Err(failure) if locked => return Err(failure),
        _ => return Ok(None),
    };
    let file = match files::read_spec(&place) {
        Ok(file) => file,
        Err(failure) if locked || common.spec.is_some() => return Err(failure),
        // The lock alone is what is held against a host.
        Err(failure) => {
            let reason = failure.problems.into_iter().next().map(|problem| problem.message);
            let told = |reason| Stale { spec: shown(&place), reason, is_known: false };
            return Ok(reason.map(told));
        }
    };
    let parsed = spec::parse(&file.text);
    let is_known = parsed.is_ok();
    let reason = match parsed {
        Err(errors) if common.spec.is_some() => return Err(Failure::spec(errors, file)),
        Err(_) => Some(format!("{} has mistakes: see `gpuenv lock`", file.name)),
        Ok(spec) => match load_catalog::of_spec(&spec, &file, &place) {
            Ok(catalog) => of(lock, &spec, &file.name, &catalog),
            Err(failure) => failure.problems.into_iter().next().map(|problem| problem.message),
        },
    };
    Ok(reason.map(|reason| Stale { spec: file.name, reason, is_known }))
}

/// Why a lock is not that of a spec of this name, if it is not. The catalog holds the spec's own builds.
pub fn of(lock: &Lock, spec: &Spec, name: &str, catalog: &Catalog) -> Option<String> {
    if let Some(required) = required(spec) {
        return Some(required);
    }
    let reasons = staleness(lock, &spec.inputs(), catalog);
    if let Some(first) = reasons.first() {
        return Some(match reasons.len() {
            1 => first.clone(),
            more => format!("{first}, and {} more", more - 1),
        });
    }
    // Another catalog may choose otherwise, which is no edit.
    if lock.catalog.digest != catalog.digest {
        return None;
    }
    let rules = Problem::new(catalog);
    let (request, _) = Request::new(spec, &rules).ok()?;
    let same = match again(spec, &request, lock) {
        Renewed::Lock(again, _) => is_same(&again, lock),
        Renewed::GaveUp => true,
        Renewed::Conflict | Renewed::Undetermined(_) => false,
    };
    (!same).then(|| {
        format!("it does not follow from {name}: it was edited by hand, or written by another version of gpuenv")
    })
}
