//! The record of a host: plain data with a JSON form, `gpuenv schema host`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::words::{Cc, Version};

/// Types that are written as strings.
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

/// The format this program reads and writes.
pub const FORMAT: u32 = 1;

/// Everything that is known of a host. What nobody looked at is absent, never guessed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["format"]))]
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
}

/// How a record came to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Probes looked at the machine itself.
    #[default]
    Observed,
    /// It was read out of text that somebody pasted: no kernel was run, no file was opened.
    Pasted,
}

/// One probe and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Its name: `nvml`, `kernels`.
    pub name: String,
    /// How it ended.
    pub ended: How,
    /// What it was doing when it ended early, and what it said: `SIGSEGV in cuInit of /usr/lib/libcuda.so.1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
}

/// How a probe ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum How {
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

/// An error code that a library or the system gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// `/dev/nvidiactl`
    pub path: String,
    /// Why it could not be opened: `ENOENT`, `EACCES`, `EPERM`. None: it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<String>,
}

/// What the management library tells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Nvml {
    /// The file that was loaded, with links resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How it was found, in the words of [`Library::found_by`].
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
    pub fault: Option<Fault>,
    /// How many GPUs it counts, where that is known apart from the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The GPUs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<Gpu>,
}

/// One GPU, as NVML or nvidia-smi tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// `none`, `pass-through`, `vgpu`, `host-vgpu`, `host-vsga`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtualization: Option<String>,
    /// Its registration with the NVLink fabric: `not-supported`, `not-started`, `in-progress`, `completed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric: Option<String>,
    /// Whether the driver stays loaded without clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistence: Option<bool>,
    /// Whether confidential computing accepts work. None: it is off, or nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidential_ready: Option<bool>,
    /// What could not be asked of it and matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

/// A MIG instance.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Libcuda {
    /// The file that was loaded, with links resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How it was found, in the words of [`Library::found_by`].
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
    pub fault: Option<Fault>,
    /// The devices a CUDA process sees here, in CUDA's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<CudaDevice>,
}

/// A device as a CUDA process sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub fault: Option<Fault>,
}

/// A cuda-compat package, by the note in its libcuda.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// A CUDA library that a process would load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Library {
    /// `cudart`, `nvrtc`, `nvjitlink`, `cublas`, `cublaslt`, `cudnn`, `nccl`.
    pub name: String,
    /// The name asked of the loader, `libcudnn.so.9`.
    pub soname: String,
    /// The file that answers it, with links resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How it was found: `python` (a wheel's own search path), `LD_LIBRARY_PATH`, `ld.so.cache`, `default`.
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
    pub fault: Option<Fault>,
}

/// A copy of a library that another one keeps from being loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub fault: Option<Fault>,
}

/// A host compiler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub fault: Option<Fault>,
}

/// A Python interpreter and what is installed in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub fault: Option<Fault>,
}

/// What torch says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// What hands GPUs to containers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub fault: Option<Fault>,
}

/// A kernel that was run, or was to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub fault: Option<Fault>,
    /// From loading the code to the result, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micros: Option<u64>,
}

/// How a kernel went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The result equals the host's own.
    Right,
    /// It ran and computed something else.
    Wrong,
    /// It could not be compiled, loaded or run.
    Failed,
}

impl_as_text!(Version, Cc);
