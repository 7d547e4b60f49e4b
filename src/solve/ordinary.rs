//! Ordinary packages, which nothing is solved with: what the locked ones need of them, and whether what `[packages]` asks
//! for leaves that out.

use crate::catalog::Catalog;
use crate::catalog::rows::Asks;
use crate::types::{Constraint, Specifier, Version};

use super::solution::TargetSolution;

/// What releases of a package need of ordinary ones.
pub fn asked_by<'c>(catalog: &'c Catalog, package: &str, version: &Version) -> Vec<&'c Asks> {
    let speaks = |row: &&Asks| {
        row.package == package && Constraint::parse(&row.range).is_ok_and(|range| range.admits(&released(version)))
    };
    catalog.asks.iter().filter(speaks).collect()
}

/// A pre-release is compiled as the release it precedes.
fn released(version: &Version) -> Version {
    if version.is_prerelease() { version.prefix(version.len()) } else { *version }
}

/// What everything that a target installs needs of ordinary packages.
pub fn asked_of<'c>(catalog: &'c Catalog, chosen: &TargetSolution<'_>) -> Vec<(&'c Asks, String)> {
    let builds = chosen.builds.iter().map(|build| (&*build.package, &build.version));
    let companions = chosen.companions.iter().map(|row| (&*row.package, &row.version));
    let mut found = Vec::new();
    for (package, version) in builds.chain(companions) {
        found.extend(asked_by(catalog, package, version).into_iter().map(|row| (row, format!("{package} {version}"))));
    }
    found
}

/// Whether no release can be what both ask for. Asked of the versions that they name, and of those right beside them.
pub fn excludes(asked: &Specifier, needs: &str) -> bool {
    let Ok(needs) = Specifier::parse(needs) else { return false };
    let both: Vec<&String> = asked.comparisons.iter().chain(&needs.comparisons).collect();
    let Ok(range) = Constraint::parse(&both.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(",")) else {
        return false;
    };
    let mut tried: Vec<Version> = Vec::new();
    for bound in range.comparisons().filter_map(|one| one.version) {
        let numbers: Vec<u64> = bound.components().collect();
        let last = numbers.len() - 1;
        let with = |number: u64, end: &str| {
            let before: String = numbers[..last].iter().map(|one| format!("{one}.")).collect();
            Version::parse(&format!("{before}{number}{end}")).ok()
        };
        tried.push(bound);
        tried.extend(with(numbers[last] + 1, ""));
        tried.extend(with(numbers[last], ".1"));
        tried.extend(numbers[last].checked_sub(1).and_then(|before| with(before, ".999")));
    }
    !tried.is_empty() && !tried.iter().any(|version| range.admits(version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_share_no_release_exclude_each_other() {
        for (asked, needs, excluded) in [
            (">=2", "<2", true),
            ("==2.1.*", "<2", true),
            (">=1.26", "<2", false),
            ("*", "<2", false),
            ("<2", "<2", false),
            ("==1.26.4", "<2", false),
            ("~=2.0", "<2", true),
            ("!=1.24", "<2", false),
        ] {
            assert_eq!(excludes(&Specifier::parse(asked).unwrap(), needs), excluded, "{asked}");
        }
    }
}
