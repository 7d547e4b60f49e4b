//! Builds that nothing is solved with, and the drivers of Windows.

use std::collections::{HashMap, HashSet};

use super::super::rows::*;
use super::super::tables::{Catalog, Named};
use super::Say;
use crate::types::Version;
use crate::types::variant::line_of;

pub(super) fn lint(catalog: &Catalog, say: Say<'_>) {
    kinds(catalog, say);
    pythons(catalog, say);
    defaults(catalog, say);
    drivers(catalog, say);
}

/// They stand beside builds of a release that is known, or of which nobody has read any, and are none of those that are
/// solved with.
fn kinds(catalog: &Catalog, say: Say<'_>) {
    let releases: HashSet<(&str, &Version)> = catalog.builds.iter().map(|row| (&*row.package, &row.version)).collect();
    for row in catalog.other_builds.iter() {
        let name = Named(row);
        let is_read = releases.contains(&(&*row.package, &row.version));
        if !is_read && row.os != Family::Linux {
            let says = format!("no build of {} {} for Linux is known", row.package, row.version);
            say("other-build", "other_build", &name, says);
        }
        let usual = row.variant == "cpu" || line_of(&row.variant).is_some();
        let line = |kit: &Toolkit| line_of(&row.variant).is_some_and(|line| kit.version.cmp_prefix(&line).is_eq());
        match row.os {
            // Of a CUDA for which nobody has read any build of the package there is nothing to solve with.
            Family::Linux
                if usual && is_read && catalog.builds.of(&row.package).iter().any(|one| one.variant == row.variant) =>
            {
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
        let name = Named(row);
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
            say("two-defaults", "other_build", &Named(row), says.into());
        }
    }
}

/// The branch that a driver of Windows is of: those of Linux, under greater numbers.
fn branch_of(catalog: &Catalog, windows: &Version) -> Option<u64> {
    catalog.branches.iter().map(|row| row.branch.major()).filter(|branch| *branch <= windows.major()).max()
}

/// What Windows is asked for grows as what Linux is asked for, and is of the same branch.
fn drivers(catalog: &Catalog, say: Say<'_>) {
    let mut rows: Vec<&WindowsDriver> = catalog.windows_drivers.iter().collect();
    rows.sort_unstable_by_key(|one| one.cuda);
    let releases: Vec<&WindowsDriver> = rows.iter().filter(|row| row.cuda.len() > 1).copied().collect();
    for pair in releases.windows(2).filter(|pair| pair[1].driver < pair[0].driver) {
        let says = format!("driver {} is less than {} of {}", pair[1].driver, pair[0].driver, pair[0].cuda);
        say("windows-driver", "windows_driver", &Named(pair[1]), says);
    }
    for row in rows {
        let kits = catalog.toolkits.iter().filter(|kit| kit.version.cmp_prefix(&row.cuda).is_eq());
        let linux = kits.filter_map(|kit| kit.driver.as_ref()).min();
        if linux.map(Version::major) != branch_of(catalog, &row.driver) {
            let says = format!("driver {} is not of the branch that Linux needs", row.driver);
            say("windows-driver", "windows_driver", &Named(row), says);
        }
    }
}
