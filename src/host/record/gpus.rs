//! What drivers tell of GPUs: NVML, libcuda, and the cuda-compat beside them.

use serde::{Deserialize, Serialize};

use crate::types::{Cc, Version};

use super::{ApiError, Shadowed};

/// What the management library tells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Nvml {
    /// The file that was loaded, with links resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How it was found, in the words of [`super::Library::found_by`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
    /// Other copies, which it keeps from being loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<Shadowed>,
    /// The driver release in that file's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_version: Option<Version>,
    /// The driver's release, as NVML or nvidia-smi tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<Version>,
    /// The CUDA version the driver offers, `12.4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda: Option<Version>,
    /// Why it tells no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ApiError>,
    /// How many GPUs it counts, where that is known apart from the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The GPUs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<Gpu>,
}

/// One GPU, as NVML or nvidia-smi tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Gpu {
    /// Its number in NVML's order.
    pub index: u64,
    /// `NVIDIA H100 NVL`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its brand as NVIDIA_REQUIRE_* spells it: `tesla`, `geforcertx`, `nvidiartx`, `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<String>,
    /// `GPU-…`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// `0000:65:00.0`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pci: Option<String>,
    /// Its compute capability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute_capability: Option<Cc>,
    /// Its memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The memory in use, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<u64>,
    /// `default`, `prohibited`, `exclusive-process`, `exclusive-thread`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute_mode: Option<String>,
    /// How many processes compute on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// Whether it is cut into instances, and into which. None: it cannot be, or nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mig: Option<bool>,
    /// Its instances.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<Mig>,
    /// How many instances it has, where that is known apart from the list: a text that lists none need not mean none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_count: Option<u64>,
    /// `none`, `pass-through`, `vgpu`, `host-vgpu`, `host-vsga`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtualization: Option<String>,
    /// Its registration with the NVLink fabric: `not-supported`, `not-started`, `in-progress`, `completed`, or
    /// `failed` with the status that it ended with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric: Option<String>,
    /// Whether the driver stays loaded without clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistence: Option<bool>,
    /// Whether confidential computing accepts work. None: it is off, or nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidential_ready: Option<bool>,
    /// What the driver asks for before more work is given to it: `reset`, `reboot`, `drain-p2p`, `drain-and-reset`.
    /// None: nothing, or nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<String>,
    /// Whether rows of its memory that failed could not be replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remapping_failed: Option<bool>,
    /// Whether rows or pages of its memory that failed wait for a reset to be replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remapping_pending: Option<bool>,
    /// Of a virtual GPU: `licensed`, `unlicensed`, or `unlicensed-restricted` where CUDA is kept from it already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// What could not be asked of it and matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ApiError>,
}

/// A MIG instance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Mig {
    /// `1g.10gb`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// `MIG-…`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Its memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
}

/// What the driver's CUDA library tells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Libcuda {
    /// The file that was loaded, with links resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How it was found, in the words of [`super::Library::found_by`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
    /// Other copies, which it keeps from being loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<Shadowed>,
    /// The driver release in that file's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_version: Option<Version>,
    /// Whether it is the library that serves linking only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stub: Option<bool>,
    /// Whether it comes from a cuda-compat package instead of the driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compat: Option<bool>,
    /// The CUDA version it offers, `12.4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda: Option<Version>,
    /// Why it tells no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ApiError>,
    /// The devices a CUDA process sees here, in CUDA's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<CudaDevice>,
}

/// A device as a CUDA process sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CudaDevice {
    /// Its number in CUDA's order.
    pub ordinal: u64,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `GPU-…` or `MIG-…`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// `0000:65:00.0`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pci: Option<String>,
    /// Its compute capability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute_capability: Option<Cc>,
    /// Its memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The CUDA_VISIBLE_DEVICES with which alone a process sees it: an instance of MIG, or one beside a GPU that is sick.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_as: Option<String>,
    /// Whether it shares the machine's memory (Jetson and its like).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrated: Option<bool>,
    /// What could not be asked of it and matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ApiError>,
}

/// A cuda-compat package, by the note in its libcuda.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Compat {
    /// Its libcuda, with links resolved.
    pub path: String,
    /// The driver release in that file's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_version: Option<Version>,
    /// The CUDA version it brings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda: Option<Version>,
    /// The branches of the kernel module it serves; none where the note does not say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<u64>,
}
