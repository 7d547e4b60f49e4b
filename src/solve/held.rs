//! What comes in through other packages must not bring the build of another CUDA: of the packages that lie on torch's
//! own index too, the release that goes with the locked torch and with the packages beside it, whether anybody asked for
//! it or not.
//!
//! The package index serves each of them for one CUDA only. A package that asks for `torchvision` gets that one from an
//! installer that is told nothing, and it refuses to load beside a torch of another.

use crate::catalog::Catalog;
use crate::catalog::rows::{Companion, Index};
use crate::types::{Constraint, Specifier, Version};

use super::solution::TargetSolution;
use super::thirds::Wants;

/// They are made for each CUDA that torch is made for, and lie beside it.
pub const BESIDE_TORCH: [&str; 2] = ["torchaudio", "torchvision"];

/// A package that is held to one release where others bring it in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// Its name.
    pub package: String,
    /// The version that a constraint names.
    pub version: String,
    /// The wheel index that it is taken from; none = the Python package index.
    pub index: Option<String>,
}

/// What is held of a choice, first what lies beside torch.
pub fn held(catalog: &Catalog, chosen: &TargetSolution<'_>) -> Vec<Held> {
    let mut found = Vec::new();
    let Some(torch) = chosen.builds.iter().find(|build| build.package == "torch") else { return found };
    // In-house builds and those for one system have companions of their own, or none.
    if torch.url.is_some() || torch.index_url.is_some() {
        return found;
    }
    let wheels = chosen.wheels();
    let Some(install) = wheels.iter().find(|wheel| wheel.package == "torch") else { return found };
    let index = install.index.clone();
    let variant = torch.index.contains(&Index::Pytorch).then_some(&*torch.variant);
    let is_locked = |package: &str| wheels.iter().any(|wheel| wheel.package == package);
    for package in BESIDE_TORCH.into_iter().filter(|package| !is_locked(package)) {
        let required = required(catalog, chosen, package);
        if let Some(row) = beside(catalog, package, torch.version, variant, chosen.python, &required) {
            found.push(Held { package: package.to_string(), version: row.carried(), index: index.clone() });
        }
    }
    for companion in &chosen.companions {
        for (package, version) in companion.brings.iter().filter_map(|pin| pin.split_once("==")) {
            let of_pin = |row: &&Companion| *row.package == *package && row.version.as_str() == version;
            let lies_there = catalog.companions.iter().filter(of_pin).any(|row| lies_on(catalog, row, variant));
            if lies_there && !is_locked(package) && !found.iter().any(|known| known.package == package) {
                found.push(Held { package: package.to_string(), version: version.to_string(), index: index.clone() });
            }
        }
    }
    found
}

/// What the chosen packages require of one that nobody asked for.
fn required(catalog: &Catalog, chosen: &TargetSolution<'_>, package: &str) -> Vec<Specifier> {
    let mut found = Vec::new();
    for row in &chosen.companions {
        let asked = Wants::of(catalog, &row.package).at_row(row, &[chosen.arch]).into_iter();
        let ranges = asked.filter(|(of, _)| *of == package).map(|(_, range)| range);
        found.extend(ranges.filter_map(|range| Specifier::parse(range).ok()));
    }
    found
}

/// The newest release that goes with this torch and with what is required: one that was seen on the index of its variant,
/// else any that lies there.
fn beside<'c>(
    catalog: &'c Catalog,
    package: &str,
    torch: Version,
    variant: Option<&str>,
    python: Option<&Version>,
    required: &[Specifier],
) -> Option<&'c Companion> {
    let admits = |text: &str, version: &Version| Constraint::parse(text).is_ok_and(|needs| needs.admits(version));
    let fits = |row: &&Companion| {
        row.package == package
            && row.framework == "torch"
            && row.url.is_none()
            && row.index_url.is_none()
            && admits(&row.needs, &torch)
            && python.is_none_or(|python| row.python.as_ref().is_none_or(|needs| admits(needs, python)))
            && required.iter().all(|asked| asked.admits(&row.version))
            && lies_on(catalog, row, variant)
    };
    catalog.companions.iter().filter(fits).max_by(|one, other| {
        one.variant.is_some().cmp(&other.variant.is_some()).then_with(|| one.version.cmp(&other.version))
    })
}

/// Whether a release lies on the index of a variant, or on the package index, as far as anybody knows: it was seen there,
/// for whichever Python; or it is made for one release of torch alone, with which it is published for each of its variants.
fn lies_on(catalog: &Catalog, row: &Companion, variant: Option<&str>) -> bool {
    let Some(variant) = variant else { return row.variant.is_none() };
    if row.variant.is_some() {
        return row.variant.as_deref() == Some(variant);
    }
    let is_beside = BESIDE_TORCH.contains(&&*row.package);
    let of_one_torch = || is_beside && Constraint::parse(&row.needs).is_ok_and(|needs| needs.single().is_some());
    let is_it = |one: &Companion| one.package == row.package && one.version == row.version;
    let was_seen = |one: &Companion| is_it(one) && one.variant.as_deref() == Some(variant) && one.url.is_none();
    of_one_torch() || catalog.companions.iter().any(was_seen)
}
