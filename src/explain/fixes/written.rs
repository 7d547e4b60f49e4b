//! What an answer chose, as it would be written into the file.

use crate::catalog::Catalog;
use crate::explain::target_of;
use crate::solve::solution::Solution;
use crate::types::{ArchList, Version, variant};

use super::Finder;

/// What an answer chose for a key, as it would be written.
pub(super) fn chosen(answer: &Solution<'_>, key: &str) -> Option<String> {
    if key == "build.arch-list" {
        // Targets that share nothing have lists of their own, and the one that is written must hold them all.
        let lists = answer.targets.iter().filter_map(|target| target.arch_list.as_ref());
        let all = ArchList::new(lists.flat_map(|list| list.entries().iter().copied()));
        return (!all.is_empty()).then(|| all.torch());
    }
    if let Some(package) = key.strip_prefix("stack.") {
        let version = common_version(answer, package)?;
        let line = || Version::parse(&version).map(|version| version.prefix(2).to_string()).ok();
        return if package == "cuda" { line() } else { Some(version) };
    }
    let target = answer.target(target_of(key))?;
    match key.rsplit('.').next()? {
        "toolkit" => target.toolkit.map(|toolkit| toolkit.version.prefix(2).to_string()),
        "image" => target.image.map(|image| format!("{}:{}", image.repository, image.tag)),
        _ => None,
    }
}

/// The version of a package in all targets alike: with its variant where that is the same too.
fn common_version(answer: &Solution<'_>, package: &str) -> Option<String> {
    let versions = versions_of(answer, package)?;
    let first = versions.first()?;
    let plain = variant::public(first);
    if versions.iter().all(|version| version == first) {
        return Some(first.clone());
    }
    versions.iter().all(|version| variant::public(version) == plain).then(|| plain.to_string())
}

/// Where targets that are free to differ do: the newest version among them, or the oldest of older ones, which may
/// serve the others as well.
pub(super) fn outermost(answer: &Solution<'_>, package: &str, older: bool) -> Option<String> {
    let versions = versions_of(answer, package)?;
    let versions = versions.iter().filter_map(|version| Version::parse(variant::public(version)).ok());
    if older { versions.min() } else { versions.max() }.map(|version| version.to_string())
}

/// The version of a package in every target; none if one goes without.
fn versions_of(answer: &Solution<'_>, package: &str) -> Option<Vec<String>> {
    answer.targets.iter().map(|target| target.stack().remove(package)).collect()
}

/// What to write for a loosened key so that this answer comes out.
pub(super) fn written_down<'c>(finder: &Finder<'_, 'c>, answer: &Solution<'c>, key: &str) -> Option<String> {
    match key.rsplit('.').next() {
        // What is written may be too new: then there is no least that suffices.
        Some("driver") if key.starts_with("target.") => {
            let minimum = minimum(answer, target_of(key)).filter(|minimum| is_raised(finder, key, minimum));
            minimum.map(|minimum| format!(">={}", finder.listing(answer, target_of(key), minimum)))
        }
        Some("driver-cuda") => {
            let minimum = minimum(answer, target_of(key));
            let listing = minimum.map(|minimum| finder.listing(answer, target_of(key), minimum));
            let cuda = listing.and_then(|listing| cuda_of(finder.asker.catalog, &listing));
            cuda.filter(|cuda| Version::parse(cuda).is_ok_and(|cuda| is_raised(finder, key, &cuda)))
        }
        // A package that was asked for stays asked for, whichever version each target then gets.
        _ if key.starts_with("stack.") => chosen(answer, key).or(Some("*".into())),
        Some("image") => finder.image_of(answer, key),
        _ => chosen(answer, key),
    }
}

/// Whether a value lies above what a key says.
fn is_raised(finder: &Finder<'_, '_>, key: &str, value: &Version) -> bool {
    finder.newest_wish(key).is_none_or(|written| written < *value)
}

pub(super) fn minimum(answer: &Solution<'_>, target: &str) -> Option<Version> {
    answer.target(target)?.minimum
}

/// The CUDA version that a driver shows.
pub(super) fn cuda_of(catalog: &Catalog, driver: &Version) -> Option<String> {
    catalog.branch_of(driver)?.cuda.as_ref().map(Version::to_string)
}
