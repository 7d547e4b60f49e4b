//! Packages by the names that others call them by.

use crate::types::variant::line_of;
use crate::types::{Version, name};

/// Names of a package that `[stack]` calls by another: conda's, older ones, and parts that it comes with.
const OTHER_NAMES: [(&str, &str); 13] = [
    ("pytorch", "torch"),
    ("pytorch-gpu", "torch"),
    ("torch-gpu", "torch"),
    ("tf", "tensorflow"),
    ("tensorflow-gpu", "tensorflow"),
    ("tensorflow-cpu", "tensorflow"),
    ("jaxlib", "jax"),
    ("flash-attention", "flash-attn"),
    ("flashinfer", "flashinfer-python"),
    ("cudatoolkit", "cuda"),
    ("pytorch-cuda", "cuda"),
    ("cuda-version", "cuda"),
    ("python-version", "python"),
];

/// How the wheels begin that the extras of JAX bring: `jax-cuda12-plugin` and `jax-cuda12-pjrt`, of its own version.
pub const OF_JAX: &str = "jax-cuda";

/// The key of `[stack]` that a name of the same package stands for.
pub fn other_name(word: &str) -> Option<&'static str> {
    let folded = name::package(word);
    let is_it = |name: &str| name == folded || name.replace('-', "") == folded;
    let named = OTHER_NAMES.iter().find(|(name, _)| is_it(name)).map(|(_, meant)| *meant);
    named.or_else(|| folded.starts_with(OF_JAX).then_some("jax"))
}

/// All of those names, each with the key that it stands for.
pub(super) fn other_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    OTHER_NAMES.into_iter()
}

/// The line of CUDA that a package names, `12.6` of `spconv-cu126` and `12` of `cupy-cuda12x`.
pub fn cuda_of(package: &str) -> Option<Version> {
    let (_, cuda) = package.rsplit_once("-cu")?;
    let digits = cuda.strip_prefix("da").unwrap_or(cuda).trim_end_matches('x');
    line_of(&format!("cu{digits}"))
}

/// The package that another is for one CUDA: `cudf-cu12` is `cudf`, `cupy-cuda12x` is `cupy`.
pub fn without_cuda(package: &str) -> Option<&str> {
    let (name, cuda) = package.rsplit_once("-cu")?;
    cuda.strip_prefix("da").unwrap_or(cuda).starts_with(|c: char| c.is_ascii_digit()).then_some(name)
}
