//! Where a stack runs: systems, images, Pythons.

use serde::{Deserialize, Serialize};

use super::{Family, Flavour, List, Text};
use crate::types::{CpuArch, Version};

/// Repositories of which a list of all tags was read.
pub const LISTED: &[&str] = &["nvidia/cuda"];

/// Repositories of which no list of tags could be read: the catalog knows those that public files name, and there are
/// others.
pub const SAMPLED: &[&str] = &["nvcr.io/nvidia/l4t-jetpack", "nvcr.io/nvidia/pytorch", "pytorch/pytorch"];

/// Whether a repository is a public one that the catalog knows: another is named by an overlay alone.
pub fn is_public(repository: &str) -> bool {
    LISTED.contains(&repository) || SAMPLED.contains(&repository)
}

/// Repositories that repeat another one, tag by tag: NVIDIA publishes the CUDA images on both registries
/// (https://gitlab.com/nvidia/container-images/cuda).
const MIRRORS: &[(&str, &str)] = &[("nvcr.io/nvidia/cuda", "nvidia/cuda")];

/// The repository whose tags a repository has: the one that it repeats, else it itself.
pub fn repeated(repository: &str) -> &str {
    MIRRORS.iter().find(|(mirror, _)| *mirror == repository).map_or(repository, |(_, of)| of)
}

impl Image {
    /// As it is pulled: `nvidia/cuda:12.4.1-base-ubuntu22.04`.
    pub fn name(&self) -> String {
        format!("{}:{}", self.repository, self.tag)
    }
}

impl Os {
    /// Whether it is what a board boots, beneath images that are made for any Arm server: a JetPack that takes what those take.
    pub fn is_beneath_images(&self) -> bool {
        !self.boards.is_empty() && !self.own_packages
    }
}

/// An operating system release and what it implies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Os {
    /// `ubuntu22.04`
    pub id: Text,
    /// Other spellings of the same, and systems binary compatible with it: `rocky8` for `rhel8`.
    #[serde(default)]
    pub aliases: List<Text>,
    /// `Ubuntu 22.04 LTS`
    pub name: Text,
    /// Its C library is musl: wheels that were linked with glibc do not load. All of its releases are one row.
    #[serde(default)]
    pub musl: bool,
    /// Its glibc; none = unknown.
    pub glibc: Option<Version>,
    /// The newest GLIBCXX symbols of its libstdc++ (`3.4.19`), where wheels that its glibc admits need newer ones; none =
    /// not known to be in the way.
    pub libstdcxx: Option<Version>,
    /// Its default gcc; none = unknown.
    pub gcc: Option<Version>,
    /// Its default python3.
    pub python: Option<Version>,
    /// The line of its own Linux kernel, the newest that it was given, where drivers need a newer one; none = not known to be in
    /// the way.
    pub kernel: Option<Version>,
    /// The names of this OS in nvidia/cuda tags, the preferred one first: `ubuntu22.04`, `ubi8`, `rockylinux8`.
    #[serde(default)]
    pub images: List<Text>,
    /// Day its standard support ends.
    pub eol: Option<Text>,
    /// The CUDA version of the driver that comes with the system, where one does (Jetson).
    pub cuda: Option<Version>,
    /// The number of that driver, as nvidia-smi shows it: none of those that other machines have. None = unknown.
    pub driver: Option<Version>,
    /// The CPU architecture that it is for, where that is only one (Jetson: aarch64).
    pub cpu: Option<CpuArch>,
    /// The compute capabilities of the boards that it is made for, where it is made for some (Jetson); empty = any.
    #[serde(default)]
    pub boards: List<Version>,
    /// The family whose wheels it takes; none = Linux.
    pub family: Option<Family>,
    /// Understood, but refused for a reason: Windows until its wheels and drivers are solved for.
    pub refused: Option<Text>,
    /// Of packages with machine code it takes only those whose `systems` name it: Jetson, whose GPUs and CUDA are
    /// none that wheels for Linux in general were compiled for.
    #[serde(default)]
    pub own_packages: bool,
    /// The source of glibc.
    pub source: Text,
    /// The source of gcc.
    pub gcc_source: Option<Text>,
    /// The source of `python`, where it is another than that of glibc.
    pub python_source: Option<Text>,
    /// The source of `kernel`.
    pub kernel_source: Option<Text>,
    /// The source of `libstdcxx`.
    pub libstdcxx_source: Option<Text>,
    /// The source of `boards`.
    pub boards_source: Option<Text>,
    /// The source of `driver`.
    pub driver_source: Option<Text>,
    /// What installs a branch of the driver with open kernel modules, `{branch}` its number, as it is told: a command,
    /// and whether it needs NVIDIA's repository.
    pub driver_open: Option<Text>,
    /// The same with proprietary modules.
    pub driver_proprietary: Option<Text>,
    /// The source of both.
    pub driver_package_source: Option<Text>,
    /// The CUDA lines of the cuda-compat packages that serve beside the driver which comes with the system (Jetson).
    #[serde(default)]
    pub compats: List<Version>,
    /// The source of `compats`.
    pub compats_source: Option<Text>,
}

/// A tag of an image repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// `nvidia/cuda`
    pub repository: Text,
    /// `12.4.1-base-ubuntu22.04`
    pub tag: Text,
    /// `12.4.1`
    pub cuda: Version,
    /// How much of CUDA is inside.
    pub flavour: Flavour,
    /// The cuDNN inside; `0` when there is one of unknown version.
    pub cudnn: Option<Version>,
    /// The OS as the tag spells it.
    pub os: Text,
    /// Platforms; empty = unknown.
    pub arches: List<CpuArch>,
    /// The torch that is installed in it, as it tells its version: `2.8.0`, `2.7.0a0+7c8ec84dab`.
    pub torch: Option<Text>,
    /// The Python that torch is installed for, as far as anybody told.
    pub python: Option<Version>,
    /// The tag can no longer be pulled.
    #[serde(default)]
    pub withdrawn: bool,
    /// The requirement (an `image_require` id) for each platform in `arches`.
    pub require: Option<Text>,
    /// Its source.
    pub source: Text,
    /// Packages beside torch that are compiled against it and installed in it too, of whatever release.
    #[serde(default)]
    pub holds: List<Text>,
    /// The source of `holds`.
    pub holds_source: Option<Text>,
    /// The compute capability from which on its publisher supports GPUs in it.
    pub least_gpu: Option<Version>,
    /// The source of that.
    pub least_gpu_source: Option<Text>,
}

/// A `NVIDIA_REQUIRE_CUDA` value that images share, in the grammar of libnvidia-container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageRequire {
    /// The name images refer to; the platform is appended (`12.4.1@x86_64`).
    pub id: Text,
    /// Blank = or, comma = and: `cuda>=12.4 brand=tesla,driver>=470,driver<471`.
    pub require: Text,
    /// What another build of the same tags asks for, which starts wherever this one does and on more. Tags are built again,
    /// and a host keeps the one that it pulled.
    pub wider: Option<Text>,
    /// The source of the wider one.
    pub wider_source: Option<Text>,
    /// Its source.
    pub source: Text,
}

/// The patch release of a line of Python that a package needs, from a release of it on: an environment of an older one
/// cannot hold it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PythonPatch {
    /// `vllm`
    pub package: Text,
    /// The first release this row speaks of; it holds until the next row.
    pub from: Version,
    /// `3.8.10`
    pub python: Version,
    /// The package that needs it in all releases that are asked for; none where its own metadata says so.
    pub by: Option<Text>,
    /// Its source.
    pub source: Text,
}

/// A Python line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Python {
    /// `3.12`
    pub version: Version,
    /// A final release exists.
    pub stable: bool,
    /// The day of the first final release.
    pub date: Option<Text>,
    /// Its source.
    pub source: Text,
}
