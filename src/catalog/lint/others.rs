//! Builds that nothing is solved with, and the drivers of Windows.

use std::collections::{HashMap, HashSet};

use super::super::rows::*;
use super::super::tables::{Catalog, Row};
use super::{Say, constraint};
use crate::words::{Constraint, Version};

pub(super) fn lint(catalog: &Catalog, say: Say<'_>) {
    kinds(catalog, say);
    pythons(catalog, say);
    defaults(catalog, say);
    drivers(catalog, say);
    rules(catalog, say);
}

/// They stand beside builds of a release that is known, and are none of those that are solved with.
fn kinds(catalog: &Catalog, say: Say<'_>) {
    let releases: HashSet<(&str, &Version)> = catalog.builds.iter().map(|row| (&*row.package, &row.version)).collect();
    for row in catalog.other_builds.iter() {
        let name = row.row_name();
        if !releases.contains(&(&*row.package, &row.version)) {
            let says = format!("no build of {} {} for Linux is known", row.package, row.version);
            say("other-build", "other_build", &name, says);
        }
        let usual = row.variant == "cpu" || line_of(&row.variant).is_some();
        let line = |kit: &Toolkit| line_of(&row.variant).is_some_and(|line| kit.version.cmp_prefix(&line).is_eq());
        match row.os {
            Family::Linux if usual => {
                say("other-build", "other_build", &name, "a usual build for Linux is a `build`".into());
            }
            Family::Windows if !usual => {
                say("variant", "other_build", &name, "a variant is `cpu`, or `cu` and the CUDA line".into());
            }
            Family::Windows if row.variant != "cpu" && !catalog.toolkits.iter().any(line) => {
                say("unknown-toolkit", "other_build", &name, "no toolkit is of its line".into());
            }
            _ => {}
        }
    }
}

/// A project makes the wheels of a release for one platform with the same Pythons, some of those that Linux has.
fn pythons(catalog: &Catalog, say: Say<'_>) {
    let mut of_linux: HashMap<(&str, &Version), HashSet<&Version>> = HashMap::new();
    for row in catalog.builds.iter() {
        of_linux.entry((&row.package, &row.version)).or_default().extend(row.pythons.iter());
    }
    let mut whole: HashMap<(&str, &Version, _, _), &OtherBuild> = HashMap::new();
    for row in catalog.other_builds.iter().filter(|row| row.os == Family::Windows && !row.pythons_partial) {
        whole.entry((&row.package, &row.version, row.os, row.arch)).or_insert(row);
    }
    for row in catalog.other_builds.iter() {
        let name = row.row_name();
        let known = of_linux.get(&(&*row.package, &row.version));
        let strange = row.pythons.iter().find(|one| known.is_some_and(|known| !known.contains(one)));
        if let Some(python) = strange {
            let says = format!("no wheel for Linux of {} {} is for Python {python}", row.package, row.version);
            say("other-pythons", "other_build", &name, says);
        }
        if row.pythons.is_empty() || row.pythons.windows(2).any(|pair| pair[0] >= pair[1]) {
            say("list-order", "other_build", &name, "Pythons are written once each, in order, and one at least".into());
        }
        let Some(first) = whole.get(&(&*row.package, &row.version, row.os, row.arch)) else { continue };
        if !row.pythons_partial && row.pythons != first.pythons {
            let says = format!("{} of the same release and platform has other Pythons", first.variant);
            say("other-pythons", "other_build", &name, says);
        }
    }
}

fn defaults(catalog: &Catalog, say: Say<'_>) {
    let mut seen = HashSet::new();
    for row in catalog.other_builds.iter().filter(|row| row.default) {
        if !seen.insert((&row.package, &row.version, row.os, row.arch)) {
            let says = "another build is the default of this release and platform too";
            say("two-defaults", "other_build", &row.row_name(), says.into());
        }
    }
}

/// The branch that a driver of Windows is of: those of Linux, under greater numbers.
fn branch_of(catalog: &Catalog, windows: &Version) -> Option<u64> {
    catalog.branches.iter().map(|row| row.branch.major()).filter(|branch| *branch <= windows.major()).max()
}

/// What Windows is asked for grows as what Linux is asked for, and is of the same branch.
fn drivers(catalog: &Catalog, say: Say<'_>) {
    let mut told: Vec<(&Toolkit, &Version)> =
        catalog.toolkits.iter().filter_map(|row| Some((row, row.windows_driver.as_ref()?))).collect();
    told.sort_by(|one, other| one.0.version.cmp(&other.0.version));
    for pair in told.windows(2).filter(|pair| pair[1].1 < pair[0].1) {
        let says = format!("windows_driver {} is less than {} of {}", pair[1].1, pair[0].1, pair[0].0.version);
        say("toolkit-order", "toolkit", &pair[1].0.row_name(), says);
    }
    for (row, windows) in told {
        if branch_of(catalog, windows) != row.driver.as_ref().map(Version::major) {
            let says = format!("windows_driver {windows} is not of the branch of its driver for Linux");
            say("windows-driver", "toolkit", &row.row_name(), says);
        }
    }
}

fn rules(catalog: &Catalog, say: Say<'_>) {
    for row in catalog.rules.iter() {
        let (name, Some(windows)) = (row.row_name(), &row.windows) else { continue };
        if row.subject != Subject::Cuda || row.object != Subject::Driver {
            say("windows-driver", "rule", &name, "only what CUDA needs of a driver is another on Windows".into());
        }
        let floor = |range: &Constraint| range.comparisons().find_map(|one| one.version.clone());
        let on_windows = constraint("rule", &name, windows, say).and_then(|range| floor(&range));
        let on_linux = constraint("rule", &name, &row.needs, say).and_then(|range| floor(&range));
        let branch = on_windows.and_then(|floor| branch_of(catalog, &floor));
        if branch != on_linux.map(|floor| floor.major()) {
            let says = format!("`{windows}` is not of the branch of `{}`", row.needs);
            say("windows-driver", "rule", &name, says);
        }
    }
}
