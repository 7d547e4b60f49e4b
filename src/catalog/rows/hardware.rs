//! GPUs, the drivers that run them, and what runs beside drivers.

use serde::{Deserialize, Serialize};

use super::{Class, FirstDriver, List, ModuleKind, Place, Text};
use crate::types::prose::Prose;
use crate::types::{Cc, CpuArch, Version};

/// A GPU product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    /// The name NVML and nvidia-smi print, `NVIDIA A100-PCIE-40GB`.
    pub name: Text,
    /// Other names people or older drivers use.
    #[serde(default)]
    pub aliases: List<Text>,
    /// Its compute capability.
    pub cc: Cc,
    /// Its market.
    pub class: Class,
    /// `Ampere`, `Ada Lovelace`, …
    pub architecture: Text,
    /// The chip, `GA100`.
    pub chip: Option<Text>,
    /// The CPU architecture the product implies (GH200, GB10, Jetson: aarch64).
    pub cpu: Option<CpuArch>,
    /// The first Linux driver known for the board: an upper bound of the true first one.
    pub first_driver: Option<Version>,
    /// How that is known: only what was added is a floor, the rest a hint.
    pub first_driver_by: Option<FirstDriver>,
    /// The last driver branch that supports it; none = still supported.
    pub last_branch: Option<Version>,
    /// The source of name, capability and class.
    pub source: Text,
    /// The source of `first_driver`.
    pub driver_source: Option<Text>,
}

/// A driver branch (R535).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// Its number.
    pub branch: Version,
    /// `LTSB`, `PB`, `NFB`, as NVIDIA names its support classes.
    pub kind: Option<Text>,
    /// The CUDA version nvidia-smi shows for it.
    pub cuda: Option<Version>,
    /// Month or day its support ends.
    pub eol: Option<Text>,
    /// The source of kind and end of life.
    pub source: Text,
    /// The source of `cuda`.
    pub cuda_source: Option<Text>,
}

/// A Linux driver release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    /// `535.183.01`
    pub version: Version,
    /// First seen on.
    pub date: Option<Text>,
    /// A side line (Vulkan developer betas): it exists, but nobody should be sent to it.
    #[serde(default)]
    pub beta: bool,
    /// The CUDA version that it offers, where that is not its branch's.
    pub cuda: Option<Version>,
    /// Its source.
    pub source: Text,
    /// The source of `cuda`.
    pub cuda_source: Option<Text>,
}

/// The oldest driver of Windows that CUDA runs on. Drivers are numbered by themselves there; nothing is solved with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowsDriver {
    /// `12.8.1`, what the release notes' table says of that toolkit; `12`, what does by minor-version compatibility.
    pub cuda: Version,
    /// `572.61`
    pub driver: Version,
    /// Its source.
    pub source: Text,
}

/// Which GPUs are driven by one flavour of kernel modules only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// Its stable name.
    pub id: Text,
    /// The compute capabilities it speaks of, in constraint grammar.
    pub gpus: Text,
    /// Only products that imply this CPU architecture.
    pub cpu: Option<CpuArch>,
    /// Only drivers before this one.
    pub before: Option<Version>,
    /// The only flavour that drives them.
    pub needs: ModuleKind,
    /// The first driver branch whose installer chooses the other flavour by default; none = there is no safe default.
    pub from: Option<Version>,
    /// The fact in one plain sentence.
    pub says: Prose,
    /// Its source.
    pub source: Text,
    /// Only products of these markets.
    #[serde(default)]
    pub classes: List<Class>,
    /// The parameter of nvidia.ko with which the other flavour drives them all the same.
    pub parameter: Option<Text>,
}

/// What machines with some GPUs need beside a driver, or do without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Its stable name.
    pub id: Text,
    /// The boards it speaks of, by their names; none: those of `gpus`.
    #[serde(default)]
    pub boards: List<Text>,
    /// The compute capabilities it speaks of, in constraint grammar; none: the row is of `boards`, or of `drivers` alone.
    pub gpus: Option<Text>,
    /// Where.
    pub place: Place,
    /// What has to be installed, `nvidia-fabricmanager`; none where nothing helps.
    pub needs: Option<Text>,
    /// On which machines with these boards, where that is not all: `on machines with NVSwitches`.
    pub condition: Option<Text>,
    /// The fact in one plain sentence.
    pub says: Prose,
    /// Its source.
    pub source: Text,
    /// The drivers it speaks of, in constraint grammar; none: any.
    pub drivers: Option<Text>,
    /// Of drivers for Windows and WSL2: whether these have no CUDA there at all.
    #[serde(default)]
    pub refuses: bool,
}
