//! What is installed on a host beside its frameworks: packages that a lock can hold, at the releases that run there.

use super::manifest::alone;
use super::{Entry, Value};
use crate::catalog::Catalog;
use crate::catalog::rows::{FRAMEWORKS, TORCH, TRITON};
use crate::host::Record;
use crate::solve::request::other_maker;
use crate::types::Version;
use crate::types::variant;

/// Those packages, by name: a release that the catalog has as a line, any other as a comment.
pub(super) fn of(record: &Record, catalog: &Catalog) -> Vec<Entry> {
    let Some(python) = &record.python else { return Vec::new() };
    let has_torch = python.torch.is_some() || python.packages.contains_key(TORCH);
    // The wheels of torch pin triton: it comes with them.
    let is_elsewhere = |name: &str| FRAMEWORKS.contains(&name) || has_torch && name == TRITON;
    let known =
        python.packages.iter().filter(|(name, _)| !is_elsewhere(name) && !catalog.companions.of(name).is_empty());
    known.map(|(name, installed)| entry(name, installed, catalog)).collect()
}

fn entry(name: &str, installed: &str, catalog: &Catalog) -> Entry {
    let (release, label) = variant::parts(installed);
    let seen = format!("{installed} is installed there");
    let off = |why: &str| Entry::off(name, Value::Text(installed.to_string()), format!("{seen}; {why}"));
    if let Some(whose) = label.and_then(other_maker) {
        return off(&format!("it is for {whose}"));
    }
    let is_known = Version::parse(release)
        .is_ok_and(|release| catalog.companions.of(name).iter().any(|row| row.version == release));
    match is_known {
        // Its variant follows that of the framework. A bare `0.8.5` admits 0.8.5.post1, another build than what runs there.
        true => {
            let only = alone(catalog, name, release).unwrap_or_else(|| release.to_string());
            Entry::on(name, Value::Text(only), seen)
        }
        false => off("the catalog has no such release"),
    }
}
