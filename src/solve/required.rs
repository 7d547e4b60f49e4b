//! What a package requires of another one that is asked for, where no row names a release for it and one may lie where
//! nobody has read: of such a release anything may be true, so it is no proof that the two do not go together.

use crate::types::{Constraint, Specifier, Version, distinct};

use super::request::{PackageRequest, Request};
use super::unknowns::{OVERLAY, Unknown};

/// A release of a package that another one requires, which may exist for all that anybody has read, and which is not known.
pub fn of<'c>(request: &Request<'c>, ask: &PackageRequest<'c>) -> Option<Unknown> {
    let package = ask.package;
    let arches = distinct(request.targets.iter().map(|target| target.arch));
    let written = ask.constraint.clone().with_prereleases();
    for other in request.companions.iter().filter(|other| other.package != package) {
        let unmet = request.problem.unmet(package, other.package, &arches);
        let mut admitted = unmet.iter().filter(|(row, _)| other.constraint.admits(&row.version));
        let unread = admitted.find(|(_, range)| may_exist(request, package, range, &written));
        if let Some((row, range)) = unread {
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

/// Whether a range that no known release is admits one that what is written admits and that may have been published.
fn may_exist(request: &Request<'_>, package: &str, range: &str, written: &Constraint) -> bool {
    let Ok(specifier) = Specifier::parse(range) else { return false };
    let named: Vec<Version> = specifier.bounds();
    let is_wished = |version: &&Version| specifier.admits(version) && written.admits(version);
    let Some(wanted) = named.iter().find(is_wished) else { return false };
    // Listings tell of releases, not of what precedes them.
    let unlisted = || specifier.range().is_none_or(|range| request.catalog.absent(package, &range).is_err());
    wanted.is_prerelease() || unlisted()
}
