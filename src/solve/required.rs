//! What a package requires of another one that is asked for, where no row names a release for it and one may lie where
//! nobody has read: of such a release anything may be true, so it is no proof that the two do not go together.

use crate::types::{Constraint, Specifier, Version};

use super::request::{PackageRequest, Request};
use super::unknowns::{OVERLAY, Unknown};

/// A release of a package that another one requires, which may exist for all that anybody has read, and which is not known.
pub fn of(request: &Request<'_>, ask: &PackageRequest<'_>) -> Option<Unknown> {
    let (catalog, package) = (request.catalog, ask.package);
    let known: Vec<Version> = catalog.companions.of(package).iter().map(|row| row.version).collect();
    if known.is_empty() {
        return None;
    }
    let arches: Vec<_> = request.targets.iter().map(|target| target.arch).collect();
    let written = ask.constraint.clone().with_prereleases();
    for other in request.companions.iter().filter(|other| other.package != package) {
        let rows = catalog.companions.of(other.package).iter();
        for row in rows.filter(|row| row.gone.is_none() && other.constraint.admits(&row.version)) {
            let on = arches.iter().flat_map(|arch| row.asked(*arch)).chain(row.asked_by_extra());
            let mut ranges = on.filter(|(of, _)| *of == package).map(|(_, range)| range);
            let Some(range) = ranges.find(|range| may_exist(request, package, range, &known, &written)) else {
                continue;
            };
            return Some(Unknown {
                code: None,
                fact: format!(
                    "whether {package} {range} was published, which {} {} requires",
                    other.package, row.version
                ),
                keys: vec![format!("stack.{}", other.package), format!("stack.{package}")],
                how: format!("look for it where {package} is published; if it is there, {OVERLAY}"),
            });
        }
    }
    None
}

/// Whether a range admits no release that is known, and one that what is written admits and that may have been published.
fn may_exist(request: &Request<'_>, package: &str, range: &str, known: &[Version], written: &Constraint) -> bool {
    let Ok(specifier) = Specifier::parse(range) else { return false };
    if known.iter().any(|version| specifier.admits(version)) {
        return false;
    }
    let named: Vec<Version> = specifier.bounds();
    let is_wished = |version: &&Version| specifier.admits(version) && written.admits(version);
    let Some(wanted) = named.iter().find(is_wished) else { return false };
    // Listings tell of releases, not of what precedes them.
    let unlisted = || specifier.range().is_none_or(|range| request.catalog.absent(package, &range).is_err());
    wanted.is_prerelease() || unlisted()
}
