//! What packages require of each other that no known release is.

use crate::catalog::Catalog;
use crate::catalog::rows::Companion;
use crate::types::{CpuArch, Specifier, Version};

/// What a release requires of another package, where no release is known that is it.
pub type Unmet<'c> = (&'c Companion, &'c str);

/// What the releases of one package require of another on some processors, where no release of that is known that is it.
pub(super) fn of<'c>(catalog: &'c Catalog, of: &str, by: &str, arches: &[CpuArch]) -> Vec<Unmet<'c>> {
    let known: Vec<Version> = catalog.companions.of(of).iter().map(|row| row.version).collect();
    let is_met =
        |range: &str| Specifier::parse(range).is_ok_and(|range| known.iter().any(|version| range.admits(version)));
    let rows = catalog.companions.of(by).iter().filter(|row| row.gone.is_none() && !known.is_empty());
    let asked = rows.flat_map(|row| {
        let on = arches.iter().flat_map(|arch| row.asked(*arch)).chain(row.asked_by_extra());
        on.filter(|(name, _)| *name == of).map(move |(_, range)| (row, range))
    });
    asked.filter(|(_, range)| !is_met(range)).collect()
}
