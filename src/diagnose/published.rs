//! Releases that installers do not find because nobody ever published them, where the listing of the index was read whole.

use super::value::{Extract, text};
use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Index, Reading};
use crate::types::variant::line_of;
use crate::types::{CpuArch, Version, distinct, variant};

/// What to say of a release that was never published, and what to take instead.
pub struct Never {
    /// That there is none.
    pub meaning: String,
    /// What there is.
    pub remedies: Vec<String>,
}

/// The release that a text asks for, if it is known that there is none.
pub fn never(extract: &Extract, catalog: &Catalog) -> Option<Never> {
    let (package, asked) = (text(extract, "package")?, text(extract, "version")?);
    let (release, label) = variant::parts(asked);
    let version = Version::parse(release).ok().filter(|version| !version.is_prerelease())?;
    let is_whole = |index: Index| {
        catalog.listing(package, index, &version).is_some_and(|listing| listing.reading == Reading::Whole)
    };
    let builds: Vec<&Build> = catalog.builds.of(package).iter().filter(|row| !row.is_own()).collect();
    let companions = catalog.companions.of(package).iter().map(|row| row.version);
    let known = distinct(builds.iter().map(|row| row.version).chain(companions));
    if !known.iter().any(|known| known.cmp_prefix(&version).is_eq()) {
        let none = || no_release(package, release, &version, &known, extract, catalog);
        return is_whole(Index::Pypi).then(none).flatten();
    }
    let label = label.filter(|label| *label == "cpu" || line_of(label).is_some() && label.starts_with("cu"))?;
    let of_release = builds.iter().filter(|row| row.version.cmp_prefix(&version).is_eq());
    let of_release: Vec<&Build> = of_release.copied().collect();
    // What lies in an image or beside a board's system no installer finds.
    let arch = processor(extract);
    let served = of_release.iter().filter(|row| row.arch == arch && !row.index.is_empty());
    let variants = distinct(served.map(|row| &*row.variant)).join(", ");
    if variants.is_empty() || of_release.iter().any(|row| *row.variant == *label) || !is_whole(Index::Pytorch) {
        return None;
    }
    Some(Never {
        meaning: format!("{package} {release} was never published as +{label}: for {arch} it was as {variants}."),
        remedies: vec![format!("Ask for one of these: {variants}; `gpuenv lock` names the one that fits.")],
    })
}

fn no_release(
    package: &str,
    asked: &str,
    version: &Version,
    known: &[Version],
    extract: &Extract,
    catalog: &Catalog,
) -> Option<Never> {
    // What is newer than all that were read may be newer than the catalog.
    if !known.iter().any(|known| known > version) {
        return None;
    }
    // An installer lists what its Python and platform can have: no other release helps there.
    let listed = offered(extract);
    let here: Vec<&Version> = known.iter().filter(|known| listed.contains(*known)).collect();
    let here: Vec<&Version> = if here.is_empty() { known.iter().collect() } else { here };
    let (before, after) = (here.iter().rfind(|one| **one < version), here.iter().find(|one| **one > version));
    let nearest: Vec<String> = before.into_iter().chain(after).map(ToString::to_string).collect();
    let are = if nearest.len() == 1 { "is" } else { "are" };
    let mut remedies = vec![format!(
        "Ask for a release that there is, the nearest {are} {}; `gpuenv lock` names the one that fits.",
        nearest.join(" and ")
    )];
    if before.is_none() && known.iter().any(|known| known < version) {
        remedies.push("Or take an older Python, which can have older releases than those of the list.".to_string());
    }
    Some(Never {
        meaning: format!("{package} {asked} was never published on PyPI, as of catalog {}.", catalog.version),
        remedies,
    })
}

/// The processor that a text is of: what most people have, where it tells of none.
fn processor(extract: &Extract) -> CpuArch {
    let is_arm = text(extract, "platform").is_some_and(|told| told.contains("aarch64") || told.contains("arm64"));
    if is_arm { CpuArch::Aarch64 } else { CpuArch::X86_64 }
}

/// The releases that the installer lists.
fn offered(extract: &Extract) -> Vec<Version> {
    let release = |one: &str| Version::parse(one.trim().split('+').next().unwrap_or_default()).ok();
    text(extract, "versions_offered").unwrap_or_default().split(',').filter_map(release).collect()
}
