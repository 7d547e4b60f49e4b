//! The cuDNN and NCCL that pip installs because they were chosen: what a framework leaves open, or pip would take whatever is
//! newest when it is installed; and what packages load that follow no framework, which comes from nowhere else unless the
//! target has it or no wheel of it is known.

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Companion, Cudnn, Nccl};
use crate::types::Version;

use super::coinstall;

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
