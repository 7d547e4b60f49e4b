//! The cuDNN and NCCL that pip installs because they were chosen: what a framework leaves open, or pip would take whatever is
//! newest when it is installed; and what packages load that follow no framework, which comes from nowhere else unless the
//! target has it or no wheel of it is known.

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Companion, Cudnn, Nccl};
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
    let on_index =
        |source: &str| catalog.source(source).is_some_and(|source| source.at.starts_with("pkg:pypi/nvidia-"));
    let is_wanted = |source: &str, is_there: bool| open || (alone && !is_there && on_index(source));
    let cudnn = chosen.cudnn.filter(|row| is_wanted(&row.source, chosen.has_cudnn));
    let nccl = chosen.nccl.filter(|row| is_wanted(&row.source, false));
    let cudnn = cudnn.map(|row| (package(CUDNN, &row.cuda), row.version));
    cudnn.into_iter().chain(nccl.map(|row| (package(NCCL, &row.cuda), row.version))).collect()
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
        let name = package(NCCL, &row.cuda);
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
    libraries.iter().find(|(package, _)| package.starts_with(CUDNN)).map(|(_, version)| version)
}

/// The package of a library for a CUDA line: its major ends the name.
fn package(library: &str, cuda: &Version) -> String {
    format!("{library}{}", cuda.major())
}

/// The package of cuDNN, without the CUDA major.
const CUDNN: &str = "nvidia-cudnn-cu";

/// The package of NCCL, without the CUDA major.
const NCCL: &str = "nvidia-nccl-cu";
