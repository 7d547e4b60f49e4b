//! CUDA: toolkits, what travels with them, and the libraries that are released beside them.

use serde::{Deserialize, Serialize};

use super::{List, Text};
use crate::types::{Arch, Cc, Version};

/// A CUDA toolkit release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toolkit {
    /// `12.4.1`; before 11.0 the build number stands third (`10.2.89`).
    pub version: Version,
    /// The driver the release notes' table asks for (Linux).
    pub driver: Option<Version>,
    /// The driver inside the Linux runfile: newer than asked for at times, never a requirement.
    pub runfile: Option<Version>,
    /// nvcc's own version.
    pub nvcc: Option<Version>,
    /// The PTX ISA its compilers write.
    pub ptx_isa: Version,
    /// Architectures its compilers take for machine code.
    pub sass: List<Arch>,
    /// Architectures its compilers take for PTX.
    pub ptx: List<Arch>,
    /// Its compilers build code for integrated GPUs (Jetson) that discrete ones of the same major share.
    #[serde(default)]
    pub tegra_unified: bool,
    /// Where evidence differs on whether integrated GPUs load the code of discrete ones that it builds: the source that
    /// tells both.
    #[serde(default)]
    pub tegra_disputed: Option<Text>,
    /// Only compiler and runtime packages were published, no toolkit: it can be named, but nothing chooses it.
    #[serde(default)]
    pub components_only: bool,
    /// Greatest gcc major its nvcc accepts.
    pub gcc_max: Option<Version>,
    /// Greatest clang major its nvcc accepts.
    pub clang_max: Option<Version>,
    /// `2024-04`
    pub released: Option<Text>,
    /// The source of existence and drivers.
    pub source: Text,
    /// The source of `sass` and `ptx`.
    pub arch_source: Text,
    /// The source of the compiler limits.
    pub host_source: Option<Text>,
}

/// A PTX ISA version and the first driver branch whose JIT knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PtxIsa {
    /// `8.4`
    pub isa: Version,
    /// The driver branch; none = not known yet.
    pub branch: Option<Version>,
    /// Its source.
    pub source: Text,
}

/// A cuda-compat package: a newer libcuda for older data-centre drivers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compat {
    /// The CUDA version it brings, `12.4` for cuda-compat-12-4.
    pub cuda: Version,
    /// The driver branch it was built from.
    pub branch: Version,
    /// The base branches it may run on, each from this patch level; a bare branch number where none is named.
    pub bases: List<Version>,
    /// Its source.
    pub source: Text,
}

/// A cuDNN release for one CUDA major.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cudnn {
    /// `9.1.0.70`
    pub version: Version,
    /// The CUDA line it was built for, `12`, or exact lines for old releases, `10.2`.
    pub cuda: Version,
    /// Upload date.
    pub date: Option<Text>,
    /// GPU architectures that its library for x86_64 holds machine code for; empty = nobody has read it.
    #[serde(default)]
    pub sass: List<Arch>,
    /// GPU architectures that it holds PTX for.
    #[serde(default)]
    pub ptx: List<Arch>,
    /// The oldest glibc that the tags of its wheels admit; none = nobody has read them, or it has no wheels.
    pub glibc: Option<Version>,
    /// Its source.
    pub source: Text,
    /// The source of `sass` and `ptx`.
    pub arch_source: Option<Text>,
}

/// An NCCL release for one CUDA major.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nccl {
    /// `2.21.5`
    pub version: Version,
    /// The CUDA major its package name carries.
    pub cuda: Version,
    /// The CUDA version it was built with.
    pub built_with: Option<Version>,
    /// Upload date.
    pub date: Option<Text>,
    /// GPU architectures that its library for x86_64 holds machine code for; empty = nobody has read it.
    #[serde(default)]
    pub sass: List<Arch>,
    /// GPU architectures that it holds PTX for.
    #[serde(default)]
    pub ptx: List<Arch>,
    /// The oldest glibc that the tags of its wheels admit; none = nobody has read them.
    pub glibc: Option<Version>,
    /// Its source.
    pub source: Text,
    /// The source of `built_with`, `sass` and `ptx`.
    pub arch_source: Option<Text>,
    /// The source of its making a memory pool of CUDA for each communicator; none where it does not.
    pub pools: Option<Text>,
}

/// What torch's extension builder accepts in `TORCH_CUDA_ARCH_LIST`, from a release on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    /// The framework.
    pub package: Text,
    /// The first release this row speaks of; it holds until the next row.
    pub from: Version,
    /// Architectures it knows.
    pub archs: List<Arch>,
    /// Whether it stops the build where the toolkit is of another CUDA major. What others let pass does not run.
    pub same_major: bool,
    /// Its source.
    pub source: Text,
}

/// The compilers that a release of Triton brings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ptxas {
    /// The release of Triton.
    pub triton: Version,
    /// The CUDA release of its ptxas.
    pub ptxas: Version,
    /// The CUDA release of a second one, for newer GPUs.
    pub newer: Option<Version>,
    /// The first compute capability that the second one is for.
    pub newer_from: Option<Cc>,
    /// Its source.
    pub source: Text,
    /// The first CUDA whose ptxas it does not take, where one is named to it; none where it takes any.
    pub takes_below: Option<Version>,
}

impl Ptxas {
    /// The CUDA release of the compiler that makes code for a GPU.
    pub fn release_for(&self, cc: Cc) -> &Version {
        let newer = self.newer.as_ref().filter(|_| self.newer_from.is_some_and(|from| cc >= from));
        newer.unwrap_or(&self.ptxas)
    }
}
