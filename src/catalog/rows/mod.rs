//! The kinds of rows a catalog holds. One row is one fact (or the facts one artifact tells), with its source.
//!
//! The same types serve the build script, which packs `catalog/*.toml`, the overlays that are
//! read at run time, and `gpuenv catalog check`. The vocabulary is closed: an unknown field is an error.

mod builds;
mod cuda;
mod hardware;
mod knowledge;
mod packages;
mod places;
mod vocabulary;

pub use crate::types::{List, Text};
pub use builds::*;
pub use cuda::*;
pub use hardware::*;
pub use knowledge::*;
pub use packages::*;
pub use places::*;
pub use vocabulary::*;

/// Packages whose builds come in CUDA variants, most important first.
pub const FRAMEWORKS: &[&str] = &[TORCH, "tensorflow", "jax"];

/// The framework that images hold.
pub const TORCH: &str = "torch";

/// They are made for each CUDA that torch is made for, and lie beside it.
pub const BESIDE_TORCH: [&str; 2] = ["torchaudio", "torchvision"];

/// The package that torch compiles with.
pub const TRITON: &str = "triton";

/// What a package follows that runs beside any framework of its CUDA major, and alone: cupy, RAPIDS.
pub const CUDA_ONLY: &str = "cuda";
