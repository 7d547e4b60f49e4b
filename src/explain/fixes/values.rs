//! The values that a key can take instead of the one written, the nearest first.

use crate::catalog::OsMatch;
use crate::words::Version;

use super::{Finder, target_of};

impl Finder<'_, '_, '_> {
    /// Newer releases of the same system first, oldest of them first; then the newest of others.
    pub(super) fn other_systems(&self, key: &str) -> Vec<String> {
        let written = self.written(key).unwrap_or_default();
        // `centos7` is the RHEL 7 of the catalog, and RHEL 8 is what comes after it.
        let written = match self.asker.catalog.os(&written) {
            OsMatch::Found(os) => os.id.to_string(),
            _ => written,
        };
        let split = |id: &str| {
            let family = id.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            (family.to_string(), Version::parse(&id[family.len()..]).ok())
        };
        let (family, release) = split(&written);
        let usable = self.asker.catalog.oses.iter().filter(|os| os.refused.is_none());
        let mut same: Vec<(Option<Version>, &str)> = Vec::new();
        let mut ubuntu: Vec<&str> = Vec::new();
        for os in usable {
            match split(&os.id) {
                (of, release) if of == family => same.push((release, &os.id)),
                (of, _) if of == "ubuntu" => ubuntu.push(&os.id),
                _ => {}
            }
        }
        same.sort();
        let (older, newer): (Vec<_>, Vec<_>) = same.into_iter().partition(|(of, _)| *of <= release);
        let same = newer.into_iter().chain(older.into_iter().rev()).map(|(_, id)| id);
        same.chain(ubuntu.into_iter().rev()).map(str::to_string).collect()
    }

    /// The C libraries of known systems, nearest first.
    pub(super) fn other_glibcs(&self, key: &str) -> Vec<String> {
        let Some(written) = self.written(key).and_then(|text| Version::parse(&text).ok()) else { return Vec::new() };
        let mut known: Vec<Version> = self.asker.catalog.oses.iter().filter_map(|os| os.glibc).collect();
        known.sort();
        known.dedup();
        let (older, newer): (Vec<Version>, Vec<Version>) = known.into_iter().partition(|version| *version < written);
        newer.into_iter().chain(older.into_iter().rev()).map(|version| version.to_string()).collect()
    }

    /// Toolkit lines, those just above what is written first, then those below.
    pub(super) fn other_toolkits(&self, key: &str) -> Vec<String> {
        let target = self.spec.targets.iter().find(|target| target.name == target_of(key));
        let written = target.and_then(|target| target.toolkit.as_ref()).and_then(|written| written.value.iter().max());
        let mut lines: Vec<Version> = self.asker.catalog.toolkits.iter().map(|row| row.version.prefix(2)).collect();
        lines.dedup();
        let (below, above): (Vec<Version>, Vec<Version>) = lines.into_iter().partition(|line| Some(line) < written);
        above.into_iter().chain(below.into_iter().rev()).map(|line| format!("[\"{line}\"]")).collect()
    }

    /// Compiler majors below the one written, newest first.
    pub(super) fn older_compilers(&self, key: &str) -> Vec<String> {
        let written = self.written(key).and_then(|text| Version::parse(&text).ok());
        let major = written.map_or(0, |version| version.major());
        (4..major).rev().map(|major| major.to_string()).collect()
    }

    /// Every version of a package that the catalog knows, ascending.
    pub(super) fn known_versions(&self, package: &str) -> Vec<Version> {
        let catalog = self.asker.catalog;
        let mut versions: Vec<Version> = match package {
            "python" => catalog.pythons.iter().filter(|row| row.stable).map(|row| row.version).collect(),
            _ => {
                let builds = catalog.builds.iter().filter(|row| row.package == package).map(|row| row.version);
                let companions = catalog.companions.iter().filter(|row| row.package == package);
                builds.chain(companions.map(|row| row.version)).collect()
            }
        };
        versions.sort();
        versions.dedup();
        versions
    }
}
