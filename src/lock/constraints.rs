//! What comes in through other packages must not bring the build of another CUDA: of the packages that lie on torch's
//! own index too, the release that goes with the locked torch and with the packages beside it, whether anybody asked for
//! it or not.
//!
//! The package index serves each of them for one CUDA only. A package that asks for `torchvision` gets that one from an
//! installer that is told nothing, and it refuses to load beside a torch of another.

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::catalog::rows::{Companion, Index};
use crate::solve::solution::{Solution, TargetSolution};
use crate::solve::thirds::Wants;
use crate::types::{Constraint, Specifier, Version};

use super::ConstraintLock;

/// They are made for each CUDA that torch is made for, and lie beside it.
pub const BESIDE_TORCH: [&str; 2] = ["torchaudio", "torchvision"];

/// The constraints of all targets: what several have in common is listed once.
pub fn constraints(catalog: &Catalog, answer: &Solution<'_>, alike: &[Vec<usize>]) -> Vec<ConstraintLock> {
    let mut merged: BTreeMap<(String, String, &str, Option<String>), Vec<usize>> = BTreeMap::new();
    for group in alike {
        let chosen = &answer.targets[group[0]].chosen;
        for (package, version, index) in of(catalog, chosen) {
            merged.entry((package, version, chosen.arch.as_str(), index)).or_default().extend(group);
        }
    }
    let mut all = Vec::new();
    for ((package, version, arch, index), mut targets) in merged {
        targets.sort();
        let targets = targets.into_iter().map(|target| answer.targets[target].name.clone()).collect();
        all.push(ConstraintLock { package, version, arch: arch.to_string(), index, targets });
    }
    all
}

/// Package, version and index of each constraint of a choice.
fn of(catalog: &Catalog, chosen: &TargetSolution<'_>) -> Vec<(String, String, Option<String>)> {
    let mut found = Vec::new();
    let Some(torch) = chosen.builds.iter().find(|build| build.package == "torch") else { return found };
    // In-house builds and those for one system have companions of their own, or none.
    if torch.url.is_some() || torch.index_url.is_some() {
        return found;
    }
    let wheels = chosen.wheels();
    let Some(install) = wheels.iter().find(|wheel| wheel.package == "torch") else { return found };
    let index = install.index.clone();
    let is_locked = |package: &str| wheels.iter().any(|wheel| wheel.package == package);
    for package in BESIDE_TORCH.into_iter().filter(|package| !is_locked(package)) {
        let variant = torch.index.contains(&Index::Pytorch).then_some(&*torch.variant);
        let required = required(catalog, chosen, package);
        if let Some(row) = beside(catalog, package, torch.version, variant, chosen.python, &required) {
            found.push((package.to_string(), row.carried(), index.clone()));
        }
    }
    for companion in &chosen.companions {
        for pin in companion.brings.iter().filter_map(|pin| pin.split_once("==")) {
            let (package, version) = (pin.0.to_string(), pin.1.to_string());
            if !is_locked(&package) && !found.iter().any(|(known, _, _)| *known == package) {
                found.push((package, version, index.clone()));
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
/// else any.
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
            && (row.variant.is_none() || row.variant.as_deref() == variant)
            && admits(&row.needs, &torch)
            && python.is_none_or(|python| row.python.as_ref().is_none_or(|needs| admits(needs, python)))
            && required.iter().all(|asked| asked.admits(&row.version))
    };
    catalog.companions.iter().filter(fits).max_by(|one, other| {
        one.variant.is_some().cmp(&other.variant.is_some()).then_with(|| one.version.cmp(&other.version))
    })
}
