//! Listings that were read, and what publishers always do: counted again, so that no number of theirs is older than the
//! rows it was counted over.

use std::collections::BTreeMap;

use super::super::expected;
use super::super::rows::*;
use super::super::tables::{Catalog, Named};
use super::Say;
use crate::types::{Version, map_of};

/// A listing is that of an index, and what was read whole is known whole.
pub(super) fn listings(catalog: &Catalog, say: Say<'_>) {
    for row in catalog.listings.iter() {
        if row.index == Index::PytorchUnlabelled {
            let says = "the PyTorch index has one listing, `pytorch`, whatever the labels of its files";
            say("listing", "listing", &Named(row), says.into());
        }
        let has = [!row.builds_for.is_empty(), row.builds_at.is_some(), row.builds_source.is_some()];
        if has.contains(&true) && (has.contains(&false) || row.index != Index::Pypi) {
            let says =
                "where builds for other CUDAs lie is told of the package index, with both `builds_for` and `builds_at`";
            say("listing", "listing", &Named(row), says.into());
        }
        let builds = || catalog.builds.of(&row.package).iter().map(|one| one.version);
        let is_known = |version: &Version| {
            builds().chain(catalog.companions.of(&row.package).iter().map(|one| one.version)).any(|one| one == *version)
        };
        for version in row.yanked.iter().filter(|version| !is_known(version)) {
            say("listing", "listing", &Named(row), format!("no release of {} is the withdrawn {version}", row.package));
        }
    }
    let lacked = |build: &&Build| {
        let row = catalog.listing(&build.package, Index::Pytorch, &build.version);
        row.is_some_and(|row| build.systems.is_empty() && row.lacks(&build.version, &build.variant, build.arch))
    };
    for build in catalog.builds.iter().filter(lacked) {
        say("listing", "build", &Named(build), "its listing says in `lacks` that there is none".into());
    }
    let renamed = catalog.listings.iter().filter_map(|row| Some((row, row.now.as_ref()?)));
    for (row, now) in renamed.filter(|(_, now)| catalog.companions.of(now).is_empty()) {
        say("listing", "listing", &Named(row), format!("no release of {now} is known"));
    }
    for build in catalog.builds.iter().filter(|build| build.pythons_partial && build.systems.is_empty()) {
        let whole = |index: &Index| {
            let row = catalog.listing(&build.package, *index, &build.version);
            row.is_some_and(|row| row.reading == Reading::Whole)
        };
        if !build.index.is_empty() && build.index.iter().all(whole) {
            let says = "`pythons_partial`, although the listings of all its indexes were read whole";
            say("listing", "build", &Named(build), says.into());
        }
    }
}

/// Every build lies in a listing that somebody has told of, and practices are what the rows say.
pub(super) fn lint(catalog: &Catalog, say: Say<'_>) {
    for build in catalog.builds.iter().filter(|build| build.systems.is_empty()) {
        let untold = |index: &&Index| catalog.listing(&build.package, **index, &build.version).is_none();
        if let Some(index) = build.index.iter().find(untold) {
            say("listing", "build", &Named(build), format!("no `listing` tells how `{index}` was read"));
        }
    }
    for practice in catalog.practices.iter() {
        let groups = groups(catalog, practice);
        let broken: Vec<&str> = groups.iter().filter(|(_, same)| !**same).map(|(group, _)| group.as_str()).collect();
        let holds = groups.len() - broken.len();
        if (practice.holds as usize, practice.of as usize) != (holds, groups.len()) {
            let says = format!("holds in {holds} of {} groups of builds, not as it says", groups.len());
            say("practice-count", "practice", &Named(practice), says);
        }
        let named: Vec<&str> = practice.exceptions.iter().map(|group| &**group).collect();
        if named != broken {
            let says = format!("its exceptions are: {}", broken.join(", "));
            say("practice-count", "practice", &Named(practice), says);
        }
    }
}

/// The groups in which the property of two builds or more is known, and whether it is the same in all.
fn groups(catalog: &Catalog, practice: &Practice) -> BTreeMap<String, bool> {
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let of_package = |build: &&Build| build.package == practice.package && build.systems.is_empty();
    for build in catalog.builds.iter().filter(of_package) {
        let Some(value) = told(build, practice.property) else { continue };
        known.entry(expected::group(build, practice.among)).or_default().push(value);
    }
    let several = known.into_iter().filter(|(_, values)| values.len() > 1);
    map_of(several.map(|(group, values)| (group, values.windows(2).all(|pair| pair[0] == pair[1]))))
}

/// What a build is known to have; a list of Pythons that is not whole tells nothing.
fn told(build: &Build, property: Property) -> Option<String> {
    if property == Property::Pythons {
        let list = || build.pythons.iter().map(|line| line.as_str()).collect::<Vec<_>>().join(" ");
        return (!build.pythons_partial).then(list);
    }
    expected::told(build, property).map(|pin| pin.to_string())
}
