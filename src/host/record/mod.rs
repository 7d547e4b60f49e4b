//! The record of a host: plain data with a JSON form, `gpuenv schema host`.

mod gpus;
mod software;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::types::Version;

pub use gpus::*;
pub use software::*;

/// The format this program reads and writes.
pub const FORMAT: u32 = 1;

/// Everything that is known of a host. What nobody looked at is absent, never guessed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(test, schemars(extend("required" = ["format"])))]
pub struct Record {
    /// The format.
    pub format: u32,
    /// How the record came to be.
    pub origin: Origin,
    /// Where the text was read, for a host that somebody described in public.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What was tried, in order, and how it ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<Probe>,
    /// The machine below any GPU.
    pub platform: Platform,
    /// The variables that change what a CUDA process sees or loads, as they were set.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// The kernel's side of the driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<KernelModule>,
    /// The NVIDIA display controllers on the PCI bus.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pci: Vec<PciGpu>,
    /// The device nodes a CUDA process opens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Node>,
    /// What the management library tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvml: Option<Nvml>,
    /// What the driver's CUDA library tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub libcuda: Option<Libcuda>,
    /// The cuda-compat packages on this host.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compat: Vec<Compat>,
    /// The CUDA libraries a process would load, each at the place the loader would take it from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<Library>,
    /// The libraries that come with the driver beside libcuda and NVML, each at the place the loader would take it
    /// from: without `libnvidia-ptxjitcompiler.so.1` no PTX is compiled. One that is looked for and not here has no
    /// path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub driver_libraries: Vec<Library>,
    /// Files of CUDA libraries that a pasted report names, whether or not any process would load them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The CUDA toolkits installed here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub toolkits: Vec<Toolkit>,
    /// The host compilers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compilers: Vec<Compiler>,
    /// The Python interpreter the user named, or the one found first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<Python>,
    /// What hands GPUs to containers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    /// The kernels that were run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<Kernel>,
    /// Of a file: which command wrote it. It is no part of what is known of the host.
    #[serde(skip_serializing)]
    #[cfg_attr(test, schemars(skip))]
    pub written: Option<String>,
}

/// More GPUs than in any machine: a record that lists more is nobody's, and would be judged for minutes.
pub const MOST_GPUS: usize = 1_024;

/// How a record came to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Probes looked at the machine itself.
    #[default]
    Observed,
    /// It was read out of text that somebody pasted: no kernel was run, no file was opened.
    Pasted,
}

/// One probe and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Its name: `nvml`, `kernels`.
    pub name: String,
    /// How it ended.
    pub ended: ProbeStatus,
    /// What it was doing when it ended early, and what it said: `SIGSEGV in cuInit of /usr/lib/libcuda.so.1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
}

/// How a probe ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ProbeStatus {
    /// It saw what there is to see.
    Done,
    /// What it looks at is not on this host.
    Absent,
    /// A signal or an abort ended it.
    Crashed,
    /// Its time was up.
    TimedOut,
    /// It answered what makes no sense.
    Garbled,
    /// It was not safe to try.
    Refused,
    /// It could not be started.
    Failed,
    /// Nobody asked for it.
    NotRun,
}

/// Where an error was met that nvidia-smi tells of a library.
pub const BY_SMI: &str = "nvidia-smi";
/// Where an error was met that nvidia-smi tells of one GPU and not of NVML, which answers it for the others.
pub const OF_A_HANDLE: &str = "nvidia-smi (device handle)";

/// An error code that a library or the system gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ApiError {
    /// The function or file that failed: `cuInit`, `dlopen`, `/dev/nvidiactl`.
    pub at: String,
    /// The code, in the numbering of what failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// Its name, `CUDA_ERROR_NO_DEVICE`, `EACCES`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What else was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The machine below any GPU.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Platform {
    /// What kind of system the driver runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<System>,
    /// `x86_64`, `aarch64`, as the kernel says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// The kernel's release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The distribution as the catalog spells it where it can be told: `ubuntu22.04`; else as it names itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
    /// The C library's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glibc: Option<Version>,
    /// What keeps this process apart from the machine: `docker`, `podman`, `kubernetes`, `lxc`, `gvisor`, `other`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Whether it runs as root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<bool>,
    /// The size of /dev/shm in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shm: Option<u64>,
}

/// A kind of system, by how the driver comes onto it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// Linux with a kernel module of its own.
    Linux,
    /// Linux inside Windows, with the driver of Windows.
    Wsl,
    /// Jetson, with the driver of its board support package.
    Tegra,
    /// Windows, in a pasted report.
    Windows,
}

/// The kernel's side of the driver.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct KernelModule {
    /// Its release. None: the module is not loaded, or the system hides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// `open` or `proprietary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flavour: Option<String>,
    /// Whether the unified memory module is loaded too: without it cuInit fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uvm: Option<bool>,
    /// Whether nouveau is loaded, which keeps the device from NVIDIA's driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nouveau: Option<bool>,
    /// The file it was read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// An NVIDIA display controller on the PCI bus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PciGpu {
    /// `0000:65:00.0`
    pub address: String,
    /// The device's number, `2335`, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The kernel driver bound to it: `nvidia`, `nouveau`, `vfio-pci`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
}

/// A device node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// `/dev/nvidiactl`
    pub path: String,
    /// Why it could not be opened: `ENOENT`, `EACCES`, `EPERM`. None: it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<String>,
}

/// Types that are written as strings.
#[cfg(test)]
mod as_text {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator};

    use crate::types::{Cc, Version};

    macro_rules! impl_as_text {
        ($($type:ident),+) => {
            $(impl JsonSchema for $type {
                fn inline_schema() -> bool {
                    true
                }
                fn schema_name() -> Cow<'static, str> {
                    stringify!($type).into()
                }
                fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                    String::json_schema(generator)
                }
            })+
        };
    }

    impl_as_text!(Version, Cc);
}
