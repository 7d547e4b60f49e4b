//! What lies beside torch under its number alone or with the label of a variant, and which of the two is installed.

use crate::catalog::Catalog;
use crate::catalog::rows::{BESIDE_TORCH, Build, Companion, TORCH};
use crate::types::constraint::admits;
use crate::types::{CpuArch, Version};

use super::fits;

/// The wheel that is installed for what was chosen: what lies beside torch and is chosen for several processors at once carries
/// the label of torch on those for which it was seen with one.
pub fn labelled<'c>(
    catalog: &'c Catalog,
    row: &'c Companion,
    builds: &[&Build],
    arch: CpuArch,
    python: Option<&Version>,
) -> &'c Companion {
    let torch = fits::build_of(builds, TORCH).filter(|build| build.is_of_torch_index());
    let is_plain = row.variant.is_none() && row.url.is_none() && row.index_url.is_none() && !row.sdist;
    let Some(torch) = torch.filter(|_| is_plain && BESIDE_TORCH.contains(&&*row.package)) else { return row };
    let is_it = |one: &&Companion| {
        let for_python = python.zip(one.python.as_deref()).is_none_or(|(line, needs)| admits(needs, line));
        let is_there = one.url.is_none() && one.index_url.is_none() && one.gone.is_none() && !one.sdist;
        one.variant.as_deref() == Some(&*torch.variant) && one.is_for_arch(arch) && for_python && is_there
    };
    of_release(catalog, row).find(is_it).unwrap_or(row)
}

/// The rows of the release of a package, for machines of no system of their own.
pub fn of_release<'c>(catalog: &'c Catalog, row: &Companion) -> impl Iterator<Item = &'c Companion> {
    let version = row.version;
    catalog.companions.of(&row.package).iter().filter(move |one| one.version == version && one.systems.is_empty())
}
