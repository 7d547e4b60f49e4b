//! The management library, libnvidia-ml: the driver's release, the GPUs and what state they are in.
//!
//! It is loaded by nvml-wrapper, whose types name what is asked. Texts and newer or older functions are asked of the
//! library itself, because the wrapper trusts a text to have an end and knows one generation of functions only.

use std::ffi::{OsStr, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::time::Duration;

use nvml_wrapper::Device;
use nvml_wrapper::enum_wrappers::device::{Brand, ComputeMode, GpuVirtualizationMode};
use nvml_wrapper::error::NvmlError;

use crate::host::{ApiError, Gpu, Mig, Nvml, Probe, ProbeStatus, Record};
use crate::types::{Cc, Version};

use super::child::{self, Progress, Task};
use super::context::ProbeContext;
use super::environment;
use super::foreign::{Foreign, Miss};
use super::loader::{Loader, Search};
use super::nvml_health::{licence, recovery, remapping};

const NAME: &str = "nvml";
const SONAME: &str = "libnvidia-ml.so.1";
/// Eight GPUs of a driver that nobody uses take this long to start.
const LIMIT: Duration = Duration::from_secs(20);

/// More GPUs than in any machine: what lies beyond is not looked at.
const MOST: u32 = 1_024;
/// Up to so many GPUs each is told of as soon as it is known.
const EACH: u32 = 64;
/// The driver branch since which the fabric can be asked; older ones are known to crash (gpud).
const FABRIC_SINCE: u64 = 550;

/// Writes what NVML tells; under another root, which file it would be.
pub fn look(context: &ProbeContext, record: &mut Record) {
    if !context.is_here() {
        let found = Loader::new(&context.root, &[]).find(SONAME);
        record.nvml = found.map(|found| Nvml {
            path: found.shown(),
            file_version: found.file_version(),
            found_by: found.found_by(),
            shadows: found.shadowed(),
            ..Nvml::default()
        });
        record.probes.push(Probe { name: NAME.to_string(), ended: ProbeStatus::NotRun, detail: None, millis: None });
        return;
    }
    let environment = environment::of_child(context);
    let task = Task { program: &context.program, name: NAME, limit: context.limit(LIMIT), environment: &environment };
    let reply = child::ask(&task, &Search::of(context));
    record.nvml = reply.answer;
    record.probes.push(reply.probe);
}

/// Asks NVML, as a child.
pub fn inside(request: &str, progress: &mut Progress) -> Result<(), String> {
    let search: Search = serde_json::from_str(request).map_err(|error| error.to_string())?;
    let mut seen = Nvml::default();
    progress.doing(&format!("the search for {SONAME}"));
    let Some(found) = search.loader().find(SONAME) else {
        seen.fault = Some(missing(&search.loader(), SONAME));
        progress.learnt(&seen);
        progress.absent(&format!("{SONAME} is nowhere the loader looks"));
        return Ok(());
    };
    (seen.path, seen.file_version) = (found.shown(), found.file_version());
    (seen.found_by, seen.shadows) = (found.found_by(), found.shadowed());
    progress.learnt(&seen);
    match search.refuses(SONAME, &found.path) {
        Some(why) => progress.refused(&why),
        None => {
            seen.fault = ask(&found.file, &mut seen, progress).err();
            progress.learnt(&seen);
        }
    }
    Ok(())
}

/// The fault of a library that is not there, or not for processes of 64 bits: then in the loader's own words.
pub(super) fn missing(loader: &Loader, soname: &str) -> ApiError {
    let (name, message) = match loader.has_other_class(soname) {
        true => (None, format!("{soname}: wrong ELF class: ELFCLASS32")),
        false => (Some("ENOENT".to_string()), format!("{soname} not found")),
    };
    ApiError { at: "dlopen".to_string(), code: None, name, message: Some(message) }
}

fn ask(file: &Path, seen: &mut Nvml, progress: &mut Progress) -> Result<(), ApiError> {
    let shown = file.display();
    progress.doing(&format!("dlopen of {shown}"));
    let foreign = Foreign::open(file)?;
    progress.doing(&format!("nvmlInit_v2 of {shown}"));
    let begun = nvml_wrapper::Nvml::builder().lib_path(OsStr::new(file)).init();
    // It can be told without a driver, too.
    progress.doing(&format!("nvmlSystemGetCudaDriverVersion of {shown}"));
    seen.cuda = ["nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"]
        .iter()
        // SAFETY: `nvmlReturn_t f(int *version)`
        .find_map(|name| cuda_version(unsafe { foreign.value(name, 0) }.ok()?));
    // Never shut down: that may hang as well, and this process ends.
    let nvml = ManuallyDrop::new(begun.map_err(|error| fault("nvmlInit_v2", miss(error)))?);
    progress.doing(&format!("nvmlSystemGetDriverVersion of {shown}"));
    // SAFETY: `nvmlReturn_t f(char *version, unsigned length)`
    let driver = unsafe { foreign.text("nvmlSystemGetDriverVersion", 80) };
    seen.driver = driver.ok().and_then(|text| Version::parse(&text).ok());
    progress.learnt(seen);
    progress.doing(&format!("nvmlDeviceGetCount_v2 of {shown}"));
    let count = nvml.device_count().map_err(|error| fault("nvmlDeviceGetCount_v2", miss(error)))?;
    seen.count = Some(u64::from(count));
    let driver = seen.driver.as_ref().map_or(0, Version::major);
    let ready = confidential_ready(&foreign);
    let mut devices = Vec::new();
    for index in 0..count.min(MOST) {
        progress.doing(&format!("GPU {index} of {shown}"));
        let (mut gpu, device) = match nvml.device_by_index(index) {
            Ok(device) => (gpu(&foreign, &device), Some(device)),
            Err(error) => {
                let fault = Some(fault("nvmlDeviceGetHandleByIndex_v2", miss(error)));
                (Gpu { fault, ..Gpu::default() }, None)
            }
        };
        (gpu.index, gpu.confidential_ready) = (u64::from(index), ready);
        seen.gpus.push(gpu);
        devices.push(device);
        if count <= EACH {
            progress.learnt(seen);
        }
    }
    progress.learnt(seen);
    // Some drivers end in calls that others are asked for their health: that costs no more than what they would tell.
    progress.may_crash();
    for (at, device) in devices.iter().enumerate().filter_map(|(at, device)| Some((at, device.as_ref()?))) {
        progress.doing(&format!("health of GPU {at} of {shown}"));
        health(&foreign, device, driver, &mut seen.gpus[at]);
        if count <= EACH {
            progress.learnt(seen);
        }
    }
    if count > MOST {
        let message = Some(format!("it counts {count} GPUs, of which {MOST} were looked at"));
        return Err(ApiError { at: "nvmlDeviceGetCount_v2".to_string(), code: None, name: None, message });
    }
    Ok(())
}

/// Everything about one GPU. What it does not support is absent; what fails for a reason that matters is its fault.
fn gpu(foreign: &Foreign, device: &Device<'_>) -> Gpu {
    // SAFETY: the handle is used while the library is loaded, and it is never unloaded.
    let handle: *mut c_void = unsafe { device.handle() }.cast();
    let mut first = None;
    let mut told = Told { first: &mut first };
    let mut gpu = Gpu {
        name: told.take("nvmlDeviceGetName", text(foreign, "nvmlDeviceGetName", handle)),
        uuid: told.take("nvmlDeviceGetUUID", text(foreign, "nvmlDeviceGetUUID", handle)),
        pci: told.take("nvmlDeviceGetPciInfo", pci(foreign, handle)),
        brand: told.ask("nvmlDeviceGetBrand", device.brand()).map(|brand| brand_name(brand).to_string()),
        compute_mode: told
            .ask("nvmlDeviceGetComputeMode", device.compute_mode())
            .map(|mode| mode_name(mode).to_string()),
        virtualization: told
            .ask("nvmlDeviceGetVirtualizationMode", device.virtualization_mode())
            .map(|mode| virtualization_name(mode).to_string()),
        persistence: told.ask("nvmlDeviceGetPersistenceMode", device.is_in_persistent_mode()),
        mig: told.ask("nvmlDeviceGetMigMode", device.mig_mode()).map(|mode| mode.current == 1),
        processes: told.take("nvmlDeviceGetComputeRunningProcesses", processes(foreign, handle)),
        ..Gpu::default()
    };
    let capability = told.ask("nvmlDeviceGetCudaComputeCapability", device.cuda_compute_capability());
    gpu.compute_capability =
        capability.and_then(|cc| Some(Cc::new(cc.major.try_into().ok()?, cc.minor.try_into().ok()?)));
    if let Some([total, _, used]) = told.take("nvmlDeviceGetMemoryInfo", memory(foreign, handle)) {
        (gpu.memory, gpu.memory_used) = (Some(total), Some(used));
    }
    if gpu.mig == Some(true) {
        gpu.instances = instances(foreign, device);
    }
    gpu.fault = first;
    gpu
}

/// What the driver tells of a GPU's health, as far as it knows such questions.
fn health(foreign: &Foreign, device: &Device<'_>, driver: u64, gpu: &mut Gpu) {
    // SAFETY: as above.
    let handle: *mut c_void = unsafe { device.handle() }.cast();
    gpu.recovery = recovery(foreign, handle);
    // The guest of a virtual GPU cannot ask for its rows, and its kernel would complain.
    if gpu.virtualization.as_deref() == Some("vgpu") {
        gpu.licence = licence(foreign, handle);
    } else if let Some([pending, failed]) = remapping(foreign, handle) {
        (gpu.remapping_pending, gpu.remapping_failed) = (Some(pending), Some(failed));
    }
    if driver >= FABRIC_SINCE {
        let mut told = Told { first: &mut gpu.fault };
        gpu.fabric = told.take("nvmlDeviceGetGpuFabricInfoV", fabric(foreign, handle)).and_then(|info| info);
    }
}

/// Takes answers and keeps the first failure that matters.
struct Told<'a> {
    first: &'a mut Option<ApiError>,
}

impl Told<'_> {
    fn ask<T>(&mut self, at: &str, answer: Result<T, NvmlError>) -> Option<T> {
        match answer {
            // A newer driver has a newer word for it.
            Err(NvmlError::UnexpectedVariant(_)) => None,
            other => self.take(at, other.map_err(miss)),
        }
    }

    fn take<T>(&mut self, at: &str, answer: Result<T, Miss>) -> Option<T> {
        match answer {
            Ok(value) => return Some(value),
            Err(missed) if matters(missed) => {
                self.first.get_or_insert_with(|| fault(at, missed));
            }
            Err(_) => {}
        }
        None
    }
}

/// What an older driver, a virtual or an integrated GPU cannot say is no failure.
fn matters(missed: Miss) -> bool {
    const HARMLESS: &[&str] = &[
        "NVML_ERROR_INVALID_ARGUMENT",
        "NVML_ERROR_NOT_SUPPORTED",
        "NVML_ERROR_NOT_FOUND",
        "NVML_ERROR_FUNCTION_NOT_FOUND",
        "NVML_ERROR_NO_DATA",
        "NVML_ERROR_ARGUMENT_VERSION_MISMATCH",
        "NVML_ERROR_DEPRECATED",
    ];
    match missed {
        Miss::NoSymbol => false,
        Miss::Code(code) => !name(code).is_some_and(|name| HARMLESS.contains(&name)),
    }
}

fn text(foreign: &Foreign, name: &str, handle: *mut c_void) -> Result<String, Miss> {
    // SAFETY: `nvmlReturn_t f(nvmlDevice_t device, char *text, unsigned length)`; the documented room is 96.
    unsafe { foreign.text_of(name, handle, 96) }
}

/// The beginnings of `nvmlPciInfo_t`, which all its versions share: a text of 16 bytes, domain, bus, device. The rest is
/// room for what follows.
#[derive(Clone, Copy)]
#[repr(C)]
struct PciInfo {
    old_address: [u8; 16],
    domain: c_uint,
    bus: c_uint,
    device: c_uint,
    rest: [u64; 32],
}

/// `0000:65:00.0`, as the kernel writes it.
fn pci(foreign: &Foreign, handle: *mut c_void) -> Result<String, Miss> {
    let blank = PciInfo { old_address: [0; 16], domain: 0, bus: 0, device: 0, rest: [0; 32] };
    let names = ["nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"];
    let name = names.iter().find(|name| foreign.has(name)).ok_or(Miss::NoSymbol)?;
    // SAFETY: `nvmlReturn_t f(nvmlDevice_t device, nvmlPciInfo_t *pci)`, and there is more room than any version needs.
    let info = unsafe { foreign.value_of(name, handle, blank) }?;
    Ok(format!("{:04x}:{:02x}:{:02x}.0", info.domain, info.bus, info.device))
}

/// Total, free and used bytes, by the first version of this function, which every driver has.
fn memory(foreign: &Foreign, handle: *mut c_void) -> Result<[u64; 3], Miss> {
    // SAFETY: `nvmlReturn_t f(nvmlDevice_t device, nvmlMemory_t *memory)`, three numbers of 64 bits.
    unsafe { foreign.value_of("nvmlDeviceGetMemoryInfo", handle, [0; 3]) }
}

/// How many processes compute on it: asked with no room, the function answers how much it would need.
fn processes(foreign: &Foreign, handle: *mut c_void) -> Result<u64, Miss> {
    type Processes = unsafe extern "C" fn(*mut c_void, *mut c_uint, *mut c_void) -> i32;
    const INSUFFICIENT_SIZE: i32 = 7;
    const BASE: &str = "nvmlDeviceGetComputeRunningProcesses";
    let names = [format!("{BASE}_v3"), format!("{BASE}_v2"), BASE.to_string()];
    let name = names.iter().find(|name| foreign.has(name)).ok_or(Miss::NoSymbol)?;
    let mut count = 0;
    // SAFETY: this is its signature; with a count of 0 nothing is written to where the processes would go.
    match unsafe { foreign.function::<Processes>(name)?(handle, &mut count, std::ptr::null_mut()) } {
        0 | INSUFFICIENT_SIZE => Ok(u64::from(count)),
        code => Err(Miss::Code(i64::from(code))),
    }
}

/// The instances that a GPU is cut into. Its numbers have gaps.
fn instances(foreign: &Foreign, device: &Device<'_>) -> Vec<Mig> {
    let most = device.mig_device_count().unwrap_or(0).min(MOST);
    let instance = |index| {
        let instance = device.mig_device_by_index(index).ok()?;
        // SAFETY: as for the GPU itself.
        let handle: *mut c_void = unsafe { instance.handle() }.cast();
        let name = text(foreign, "nvmlDeviceGetName", handle).unwrap_or_default();
        Some(Mig {
            // `NVIDIA A100-SXM4-40GB MIG 1g.5gb`
            profile: name.split_once("MIG ").map(|(_, profile)| profile.trim().to_string()),
            uuid: text(foreign, "nvmlDeviceGetUUID", handle).ok(),
            memory: memory(foreign, handle).ok().map(|[total, ..]| total),
        })
    };
    (0..most).filter_map(instance).collect()
}

/// `nvmlGpuFabricInfo_v2_t`
#[derive(Clone, Copy)]
#[repr(C)]
struct FabricInfo {
    version: c_uint,
    cluster: [u8; 16],
    status: c_uint,
    clique: c_uint,
    state: u8,
    health: c_uint,
}

/// Its registration with the NVLink fabric; none for a state that this program does not know.
fn fabric(foreign: &Foreign, handle: *mut c_void) -> Result<Option<String>, Miss> {
    let version = size_of::<FabricInfo>() as c_uint | 2 << 24;
    let blank = FabricInfo { version, cluster: [0; 16], status: 0, clique: 0, state: 0, health: 0 };
    // SAFETY: `nvmlReturn_t f(nvmlDevice_t device, nvmlGpuFabricInfoV_t *info)`, which reads the version it is given.
    let info = unsafe { foreign.value_of("nvmlDeviceGetGpuFabricInfoV", handle, blank) }?;
    let states = ["not-supported", "not-started", "in-progress", "completed"];
    let state = states.get(usize::from(info.state)).copied();
    Ok(match (state, i64::from(info.status)) {
        // It has come to its end, which was a failure. The number is the registration's, and says nothing of NVML.
        (Some("completed"), code) if code != 0 => {
            Some(name(code).map_or_else(|| format!("failed ({code})"), |name| format!("failed ({name})")))
        }
        _ => state.map(str::to_string),
    })
}

/// Whether confidential computing, where it is on, accepts work. It holds for all GPUs together.
fn confidential_ready(foreign: &Foreign) -> Option<bool> {
    // SAFETY: `nvmlReturn_t f(nvmlConfComputeSystemState_t *state)`: environment, feature, tools, each an unsigned.
    let [_, feature, _] = unsafe { foreign.value("nvmlSystemGetConfComputeState", [0 as c_uint; 3]) }.ok()?;
    if feature != 1 {
        return None;
    }
    // SAFETY: `nvmlReturn_t f(unsigned *accepting)`
    let accepting = unsafe { foreign.value("nvmlSystemGetConfComputeGpusReadyState", 0 as c_uint) }.ok()?;
    Some(accepting == 1)
}

/// `12.4` for 12040. None: no such version exists.
pub(super) fn cuda_version(number: i32) -> Option<Version> {
    (1_000..=99_990)
        .contains(&number)
        .then(|| Version::parse(&format!("{}.{}", number / 1000, number % 1000 / 10)).ok())?
}

/// As NVIDIA_REQUIRE_* spells it.
fn brand_name(brand: Brand) -> &'static str {
    match brand {
        Brand::Unknown => "unknown",
        Brand::Quadro => "quadro",
        Brand::Tesla => "tesla",
        Brand::NVS => "nvs",
        Brand::GRID => "grid",
        Brand::GeForce => "geforce",
        Brand::Titan => "titan",
        Brand::VApps => "nvidiavapps",
        Brand::VPC => "nvidiavpc",
        Brand::VCS => "nvidiavcs",
        Brand::VWS => "nvidiavws",
        Brand::CloudGaming | Brand::VGaming => "nvidiacloudgaming",
        Brand::QuadroRTX => "quadrortx",
        Brand::NvidiaRTX => "nvidiartx",
        Brand::Nvidia => "nvidia",
        Brand::GeForceRTX => "geforcertx",
        Brand::TitanRTX => "titanrtx",
    }
}

fn mode_name(mode: ComputeMode) -> &'static str {
    match mode {
        ComputeMode::Default => "default",
        ComputeMode::ExclusiveThread => "exclusive-thread",
        ComputeMode::Prohibited => "prohibited",
        ComputeMode::ExclusiveProcess => "exclusive-process",
    }
}

fn virtualization_name(mode: GpuVirtualizationMode) -> &'static str {
    match mode {
        GpuVirtualizationMode::Bare => "none",
        GpuVirtualizationMode::PassThrough => "pass-through",
        GpuVirtualizationMode::Vgpu => "vgpu",
        GpuVirtualizationMode::HostVgpu => "host-vgpu",
        GpuVirtualizationMode::HostVsga => "host-vsga",
    }
}

/// What the wrapper calls an error, as the library's code.
fn miss(error: NvmlError) -> Miss {
    match error {
        NvmlError::FailedToLoadSymbol(_) => Miss::NoSymbol,
        NvmlError::UnexpectedVariant(code) => Miss::Code(i64::from(code)),
        other => Miss::Code(i64::from(u32::from(other))),
    }
}

fn fault(at: &str, missed: Miss) -> ApiError {
    let (code, name, message) = match missed {
        Miss::NoSymbol => (None, None, Some("the library has no such function".to_string())),
        Miss::Code(code) => (Some(code), name(code).map(str::to_string), None),
    };
    ApiError { at: at.to_string(), code, name, message }
}

/// The names of NVML's codes: the position is the code, from nvml.h as pkg:cargo/nvml-wrapper-sys@0.10.0 has it.
const NAMES: &[&str] = &[
    "NVML_SUCCESS",
    "NVML_ERROR_UNINITIALIZED",
    "NVML_ERROR_INVALID_ARGUMENT",
    "NVML_ERROR_NOT_SUPPORTED",
    "NVML_ERROR_NO_PERMISSION",
    "NVML_ERROR_ALREADY_INITIALIZED",
    "NVML_ERROR_NOT_FOUND",
    "NVML_ERROR_INSUFFICIENT_SIZE",
    "NVML_ERROR_INSUFFICIENT_POWER",
    "NVML_ERROR_DRIVER_NOT_LOADED",
    "NVML_ERROR_TIMEOUT",
    "NVML_ERROR_IRQ_ISSUE",
    "NVML_ERROR_LIBRARY_NOT_FOUND",
    "NVML_ERROR_FUNCTION_NOT_FOUND",
    "NVML_ERROR_CORRUPTED_INFOROM",
    "NVML_ERROR_GPU_IS_LOST",
    "NVML_ERROR_RESET_REQUIRED",
    "NVML_ERROR_OPERATING_SYSTEM",
    "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
    "NVML_ERROR_IN_USE",
    "NVML_ERROR_MEMORY",
    "NVML_ERROR_NO_DATA",
    "NVML_ERROR_VGPU_ECC_NOT_SUPPORTED",
    "NVML_ERROR_INSUFFICIENT_RESOURCES",
    "NVML_ERROR_FREQ_NOT_SUPPORTED",
    "NVML_ERROR_ARGUMENT_VERSION_MISMATCH",
    "NVML_ERROR_DEPRECATED",
    "NVML_ERROR_NOT_READY",
    "NVML_ERROR_GPU_NOT_FOUND",
    "NVML_ERROR_INVALID_STATE",
    "NVML_ERROR_RESET_TYPE_NOT_SUPPORTED",
];

fn name(code: i64) -> Option<&'static str> {
    const UNKNOWN: i64 = 999;
    if code == UNKNOWN { Some("NVML_ERROR_UNKNOWN") } else { NAMES.get(usize::try_from(code).ok()?).copied() }
}

#[cfg(test)]
mod tests;
