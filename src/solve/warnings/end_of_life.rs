//! What was out of support on the day the catalog speaks of. Never the clock: the same spec and the same catalog
//! give the same warnings for ever.

use crate::catalog::rows::{Branch, Os};
use crate::solve::driver_row::branch_of;
use crate::solve::recommended;
use crate::solve::request::{DriverRequest, ImageRequest};
use crate::types::Constraint;
use crate::warning::{DriverEndOfLife, OsEndOfLife, Warning};

use super::About;

/// What of some targets that share a choice was out of support.
pub(super) fn warnings(about: &About<'_, '_>) -> Vec<Warning> {
    driver_ended(about).into_iter().chain(os_ended(about)).collect()
}

/// Only where every branch the hosts may have has ended: nobody is told of a branch they may not have.
fn driver_ended(about: &About<'_, '_>) -> Option<Warning> {
    // Targets of one choice have equal drivers and systems: the first speaks for all.
    let (request, asked, catalog) = (about.request, about.asked, about.request.catalog);
    let branches = || catalog.branches.iter();
    let (setting, may_have): (&'static str, Vec<&Branch>) = match &asked.driver {
        DriverRequest::Free(None) => return last_ended(about, None),
        // It is supported as long as its system is.
        _ if asked.has_system_driver() => return None,
        DriverRequest::Exact(version) => {
            // An unlisted branch is judged by its neighbour, but its support is its own affair.
            let own = branch_of(catalog, version).filter(|row| row.branch.major() == version.major());
            ("driver", own.into_iter().collect())
        }
        DriverRequest::Free(Some(constraint)) | DriverRequest::AtWorst(constraint) => {
            let of = |row: &&Branch| {
                let branch = row.branch.major();
                let first = catalog.drivers.partition_point(|driver| driver.version.major() < branch);
                let mut releases = catalog.drivers[first..].iter().take_while(|one| one.version.major() == branch);
                constraint.admits(&row.branch) || releases.any(|driver| constraint.admits(&driver.version))
            };
            ("driver", branches().filter(of).collect())
        }
        DriverRequest::Cuda(cuda, _) => {
            ("driver-cuda", branches().filter(|row| row.cuda.as_ref() == Some(cuda)).collect())
        }
    };
    let has_ended = |row: &&Branch| row.eol.as_ref().is_some_and(|end| catalog.has_ended(end));
    let end = may_have.iter().filter_map(|row| row.eol.as_ref()).max()?;
    // Jetsons number their drivers by themselves.
    if asked.is_cpu() || asked.is_jetson() {
        return None;
    }
    if !may_have.iter().all(has_ended) {
        let DriverRequest::Free(bound) = &asked.driver else { return None };
        return last_ended(about, bound.as_ref());
    }
    let next = recommended::branch(request, asked);
    let ended = DriverEndOfLife {
        branches: (&may_have.first()?.branch, &may_have.last()?.branch),
        end,
        next: next.as_ref().map(|branch| (&branch.branch, branch.eol.as_deref())),
        last_for: None,
    };
    Some(Warning::about(&ended, &about.keys(setting)))
}

/// Where any driver may be had: a GPU of which even the last branch that drives it is out of support.
fn last_ended(about: &About<'_, '_>, bound: Option<&Constraint>) -> Option<Warning> {
    let (asked, catalog) = (about.asked, about.request.catalog);
    if asked.is_jetson() {
        return None;
    }
    let admitted = |row: &&Branch| bound.is_none_or(|bound| bound.admits(&row.branch));
    for kind in &asked.machine.kinds {
        let drives = |row: &&Branch| admitted(row) && kind.driver.iter().all(|rule| rule.needs.admits(&row.branch));
        let last = catalog.branches.iter().rfind(drives)?;
        let is_newest = catalog.branches.iter().rfind(admitted).is_some_and(|newest| newest.branch == last.branch);
        let Some(end) = last.eol.as_ref().filter(|end| !is_newest && catalog.has_ended(end)) else { continue };
        let branches = (&last.branch, &last.branch);
        let ended = DriverEndOfLife { branches, end, next: None, last_for: Some(&kind.gpu.name) };
        return Some(Warning::about(&ended, &about.keys("gpu")));
    }
    None
}

fn os_ended(about: &About<'_, '_>) -> Option<Warning> {
    let (asked, catalog) = (about.asked, about.request.catalog);
    let (os, setting): (&Os, &'static str) = match (asked.os, about.target.image) {
        (Some(os), _) => (os, if matches!(asked.image, ImageRequest::Known(_)) { "image" } else { "os" }),
        (None, image) => (catalog.os_of_image(image?)?, "image"),
    };
    let end = os.eol.as_ref().filter(|end| catalog.has_ended(end))?;
    Some(Warning::about(&OsEndOfLife { os: &os.name, end }, &about.keys(setting)))
}
