//! What is installed on a host: libraries, toolkits, Python, containers; and what kernels did there.

use crate::types::Version;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::ApiError;

/// A CUDA library that a process would load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Library {
    /// `cudart`, `nvrtc`, `nvjitlink`, `cublas`, `cublaslt`, `cudnn`, `nccl`.
    pub name: String,
    /// The name asked of the loader, `libcudnn.so.9`.
    pub soname: String,
    /// The file that answers it, with links resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How it was found: `python` (a wheel's own search path), `LD_LIBRARY_PATH`, `ld.so.cache`, `default`,
    /// `CONDA_PREFIX` (where none of these has it).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
    /// What its own version function answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// The version in its path or package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_version: Option<Version>,
    /// The files of its parts that the process would load with it, where it has any (cuDNN, NVRTC), links resolved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// Other copies, which it keeps from being loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<Shadowed>,
    /// Why it could not be loaded or asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ApiError>,
}

/// A copy of a library that another one keeps from being loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Shadowed {
    /// The file, with links resolved.
    pub path: String,
    /// How it would have been found, in the words of [`Library::found_by`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
    /// The version in its path or package, else what its own version function answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
}

/// An installed CUDA toolkit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Toolkit {
    /// Its root, with links resolved. Empty: nobody told.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub root: String,
    /// Its release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// What its nvcc answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvcc: Option<Version>,
    /// Its nvcc, with links resolved; none where it has none that can be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvcc_path: Option<String>,
    /// Who points to it, by what: `PATH`, `CUDA_HOME`, `CUDA_PATH`, `CONDA_PREFIX`, `/usr/local/cuda`. `PATH` means
    /// that the first nvcc there is its.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named_by: Vec<String>,
    /// Why it tells no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ApiError>,
}

/// A host compiler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Compiler {
    /// `gcc` or `clang`
    pub name: String,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// Who points to it: `PATH`, or a variable, `CXX`, `NVCC_CCBIN`, `CUDAHOSTCXX`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named_by: Vec<String>,
    /// Why it tells no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ApiError>,
}

/// A Python interpreter and what is installed in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Python {
    /// Where it is, links not resolved: those of a virtual environment lead out of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Who points to it: `--python`, `VIRTUAL_ENV`, `.venv`, `PATH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named_by: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// The width of its pointers, 64 or 32: no CUDA wheel is for 32.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits: Option<u64>,
    /// The directories it finds its packages in, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<String>,
    /// Packages that matter with their versions, `torch` = `2.5.1+cu124`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub packages: BTreeMap<String, String>,
    /// Whence packages were installed that came from no index, as their installer noted: `sha256:…` of the file,
    /// `file` without its sha256, `repository`, `folder`. An index leaves no note.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub origins: BTreeMap<String, String>,
    /// What torch says of itself once imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torch: Option<Torch>,
    /// Why it tells no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ApiError>,
}

/// What torch says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Torch {
    /// `2.5.1+cu124`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The CUDA it was built with; none for a CPU build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda: Option<Version>,
    /// `torch.cuda.get_arch_list()`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arch_list: Vec<String>,
    /// The cuDNN it loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cudnn: Option<Version>,
    /// The NCCL it loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nccl: Option<Version>,
    /// `torch.cuda.is_available()`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available: Option<bool>,
    /// Whether a small computation on each visible GPU came out right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computed: Option<bool>,
    /// Whether copies between all pairs of GPUs arrived unchanged. None: there is one GPU, or nobody tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copied: Option<bool>,
    /// Whether NCCL's all-reduce over all GPUs came out right. None: there is one GPU, or nobody tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduced: Option<bool>,
    /// The CUDA libraries in its process after that, links resolved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mapped: Vec<String>,
    /// What it warned of or failed with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
}

/// How is begun to tell why torch could not be imported.
pub const IMPORT_TORCH: &str = "import torch: ";

/// What hands GPUs to containers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Container {
    /// Runtimes found, `docker`, `podman`, `containerd`, with their versions where they told them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub runtimes: BTreeMap<String, String>,
    /// The NVIDIA Container Toolkit's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toolkit: Option<Version>,
    /// Its mode: `auto`, `legacy`, `cdi`, `csv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The runtimes that docker's configuration names, `nvidia`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub docker_runtimes: Vec<String>,
    /// The runtime docker takes where none is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docker_default: Option<String>,
    /// Whether docker's configuration turns CDI on or off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docker_cdi: Option<bool>,
    /// Who sets up cgroups: `systemd`, `cgroupfs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup_driver: Option<String>,
    /// The version of the cgroup tree, 1 or 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup_version: Option<u64>,
    /// Whether every NVIDIA device node has its link in /dev/char; without them runc's systemd cgroups lose the GPUs
    /// at `systemctl daemon-reload`. None: there is no such node, or nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dev_char: Option<bool>,
    /// CDI specifications of NVIDIA devices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cdi: Vec<Cdi>,
}

/// A CDI specification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Cdi {
    /// Its file.
    pub path: String,
    /// What it is for, `nvidia.com/gpu`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its devices: `all`, `0`, `GPU-…`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// The driver release in the names of the files it injects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<Version>,
    /// Files it injects that are not there, the first few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Why it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ApiError>,
}

/// A kernel that was run, or was to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// The device, by CUDA's ordinal.
    pub device: u64,
    /// What was loaded: `sm_90` (a cubin) or `compute_75` (PTX, compiled by the driver).
    pub code: String,
    /// The PTX ISA that the PTX claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx_isa: Option<Version>,
    /// Who compiled it: `built-in`, `nvrtc 12.8.93`, `nvcc 12.8`.
    pub compiler: String,
    /// The program: `saxpy`, `reduce`, `matmul`.
    pub program: String,
    /// How it went.
    pub outcome: Outcome,
    /// Why it failed, or what was wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<ApiError>,
    /// From loading the code to the result, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micros: Option<u64>,
}

/// How a kernel went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The result equals the host's own.
    Right,
    /// It ran and computed something else.
    Wrong,
    /// It could not be compiled, loaded or run.
    Failed,
}
