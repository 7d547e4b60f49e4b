//! The cuDNN and NCCL that pip installs because they were chosen: what a framework leaves open, or pip would take whatever is
//! newest when it is installed; and what packages load that follow no framework, which comes from nowhere else unless the
//! target has it or no wheel of it is known.

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Companion, Cudnn, Nccl};
use crate::types::nvidia::{self, CUDNN, NCCL, of_major};
use crate::types::{Constraint, Version, distinct};

use super::coinstall;
use super::facts::Facts;
use super::kits;
use super::pieces;
use super::wants::{self, Want};

/// The libraries that were chosen for a class of machines, beside the packages that load them.
#[derive(Debug, Clone, Copy)]
pub struct Chosen<'a, 'c> {
    /// The builds of frameworks.
    pub builds: &'a [&'c Build],
    /// The packages that follow them, or a CUDA major only.
    pub companions: &'a [&'c Companion],
    /// cuDNN.
    pub cudnn: Option<&'c Cudnn>,
    /// NCCL.
    pub nccl: Option<&'c Nccl>,
    /// Whether a cuDNN is installed there.
    pub has_cudnn: bool,
}

/// What pip installs of them: package and version.
pub fn libraries(catalog: &Catalog, chosen: Chosen<'_, '_>) -> Vec<(String, Version)> {
    let open = chosen.builds.iter().any(|build| coinstall::leaves_open(build));
    let alone = chosen.builds.is_empty() && chosen.companions.iter().any(|row| row.follows_cuda());
    let is_wanted = |source: &str, is_there: bool| open || (alone && !is_there && is_on_index(catalog, source));
    let cudnn = chosen.cudnn.filter(|row| is_wanted(&row.source, chosen.has_cudnn));
    let nccl = chosen.nccl.filter(|row| is_wanted(&row.source, false));
    let cudnn = cudnn.map(|row| (of_major(CUDNN, &row.cuda), row.version));
    cudnn.into_iter().chain(nccl.map(|row| (of_major(NCCL, &row.cuda), row.version))).collect()
}

/// Whether the package index has what a row of cuDNN or NCCL is about. No field of the row says so: it was read there, or where
/// archives, images and wheels are. Who cites such a row anew changes what is locked.
fn is_on_index(catalog: &Catalog, source: &str) -> bool {
    catalog.source(source).is_some_and(|source| source.at.starts_with("pkg:pypi/nvidia-"))
}

/// The components of a toolkit that packages ask for, or what they bring along does: those of that release, or of the nearest
/// later one where somebody refuses them.
pub fn components<'c>(facts: &Facts<'c>, toolkit: &Version, wants: &[Want<'c>]) -> Vec<(String, Version)> {
    let kits = facts.kits();
    let pin =
        |name: &'c str| Some((name, kits::component(&kits, toolkit, name, |version| admitted(wants, name, version))?));
    let mut pins: Vec<(&str, &str)> =
        distinct(wants.iter().map(|(name, _)| *name)).into_iter().filter_map(pin).collect();
    if let Some(kit) = kits.iter().find(|kit| kit.version == *toolkit) {
        pieces::bring_along(facts.catalog, kit, &mut pins);
    }
    let read = |(name, text): (&str, &str)| Some((name.to_string(), Version::parse(text).ok()?));
    pins.into_iter().filter_map(read).collect()
}

/// The NCCL that packages ask for, by the name that they give it, where no framework chooses one: the locked one, or the newest
/// that all of them take and that the C library loads.
pub fn nccl<'c>(
    catalog: &'c Catalog,
    wants: &[Want<'_>],
    asked: Option<&Constraint>,
    locked: Option<&str>,
    loads: impl Fn(Option<Version>) -> bool,
) -> Option<&'c Nccl> {
    let serves = |row: &&'c Nccl| {
        let name = of_major(NCCL, &row.cuda);
        let is_asked = asked.is_none_or(|asked| asked.admits(&row.version));
        is_asked && loads(row.glibc) && wants.iter().any(|(of, _)| *of == name) && admitted(wants, &name, &row.version)
    };
    let serving = catalog.nccls.iter().filter(serves);
    serving.max_by_key(|row| (locked == Some(row.version.as_str()), row.version))
}

/// Whether all who ask for a package take a release of it.
fn admitted(wants: &[Want<'_>], name: &str, version: &Version) -> bool {
    let asked = wants.iter().filter(|(of, _)| *of == name);
    asked.filter_map(|(_, range)| wants::range(range)).all(|range| range.admits(version))
}

/// The cuDNN among them.
pub fn cudnn(libraries: &[(String, Version)]) -> Option<&Version> {
    libraries.iter().find(|(package, _)| nvidia::is(CUDNN, package)).map(|(_, version)| version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::BUILTIN;

    /// What releases pin is installed from the package index, whatever else was read of it.
    #[test]
    fn libraries_that_releases_pin_are_on_the_index() {
        let catalog = &*BUILTIN;
        let pins: Vec<&str> = catalog.libraries.iter().flat_map(|row| row.pins.split(' ')).collect();
        let is_pinned = |name: &str, cuda: &Version, version: &Version| {
            pins.contains(&&*format!("{}=={version}", of_major(name, cuda)))
        };
        let cudnns = catalog.cudnns.iter().filter(|row| is_pinned(CUDNN, &row.cuda, &row.version));
        let nccls = catalog.nccls.iter().filter(|row| is_pinned(NCCL, &row.cuda, &row.version));
        let sources: Vec<&str> = cudnns.map(|row| &*row.source).chain(nccls.map(|row| &*row.source)).collect();
        assert!(sources.len() > 20, "{}", sources.len());
        assert!(sources.iter().all(|source| is_on_index(catalog, source)), "{sources:?}");
    }
}
