//! What of a machine and its stack the rules about packages are held against: by the solver those of every release, and by
//! the lock, which cites them, those of the release that was chosen.

use crate::catalog::rows::{Build, Companion, Subject};
use crate::types::Version;

use super::reading::Reading;
use super::request::Request;
use super::rules::Needs;
use super::values::{Archs, ImageRequest};

/// Whether a toolkit that is chosen for a stack is one for a release too: to compile it at once or when it is used, or
/// because it looks for one.
pub fn takes_toolkit(row: &Companion) -> bool {
    row.sdist || row.jit || row.finds_cuda
}

/// The toolkits that are installed where a release looks for one itself, or compiles its kernels with one when they are used.
pub fn installed_toolkits<'a>(asked: &'a Reading<'_>, row: &Companion) -> Option<&'a [Version]> {
    let compiles = row.jit && !row.sdist && asked.has_all_toolkits();
    asked.toolkits.as_deref().filter(|_| (row.finds_cuda || compiles) && !asked.is_cpu())
}

/// The cuDNN that is installed where packages load it, for no framework brings one.
pub fn installed_cudnn(request: &Request<'_>, asked: &Reading<'_>) -> Option<Version> {
    asked.cudnn.filter(|_| loads_system_cudnn(request, asked))
}

/// Whether the cuDNN that packages load is the system's, be it one that is chosen, or that of an image.
fn loads_system_cudnn(request: &Request<'_>, asked: &Reading<'_>) -> bool {
    !request.has_framework && !asked.is_cpu()
}

/// Whether the rules about a release and an object are held against a machine, for which a toolkit was chosen or none.
pub fn bears(request: &Request<'_>, asked: &Reading<'_>, row: &Companion, object: Subject, has_toolkit: bool) -> bool {
    let has_gpu = !asked.named_gpus().is_empty();
    match object {
        Subject::Gpu | Subject::Cuda | Subject::Glibc => has_gpu,
        Subject::Libstdcxx => has_gpu && asked.libstdcxx().is_some(),
        Subject::Gcc => has_toolkit,
        Subject::Toolkit => has_toolkit && takes_toolkit(row) || installed_toolkits(asked, row).is_some(),
        Subject::Cudnn => {
            let is_there = request.cudnn.is_some() || matches!(asked.image, ImageRequest::Choose(_));
            is_there && loads_system_cudnn(request, asked) || installed_cudnn(request, asked).is_some()
        }
        _ => false,
    }
}

/// Whether a rule about a framework and toolkits is held against the one whose parts pip installs for a build.
pub fn bears_on_pieces(rule: &Needs<'_>, asked: &Reading<'_>, build: &Build) -> bool {
    rule.speaks_of(&build.version, asked.named_gpus().iter().map(|gpu| &gpu.cc_version), Archs::Free)
}
