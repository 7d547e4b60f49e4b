//! The driver's CUDA library: which file a process would load, what it offers, which devices it shows.

use std::ffi::{c_char, c_int, c_uint};
use std::path::Path;
use std::time::Duration;

use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute, CUresult, CUuuid};

use crate::host::{ApiError, CudaDevice, Libcuda, Probe, ProbeStatus, Record};
use crate::types::Cc;

use super::calls::{self, calls};
use super::child::{self, Progress, Reply, Task};
use super::context::{ENOUGH, ProbeContext};
use super::curesult::check;
use super::foreign::readable;
use super::loader::{Found, Loader, Search};
use super::nvml::{cuda_version, missing};
use super::{compat, environment};

calls!(Calls: CUresult {
    cuDriverGetVersion(*mut c_int);
    cuInit(c_uint);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut CUdevice, c_int);
    cuDeviceGetName(*mut c_char, c_int, CUdevice);
    cuDeviceGetAttribute(*mut c_int, CUdevice_attribute, CUdevice);
    cuDeviceTotalMem_v2(*mut usize, CUdevice);
} later {
    cuDeviceGetPCIBusId(*mut c_char, c_int, CUdevice);
    cuDeviceGetUuid(*mut CUuuid, CUdevice);
    cuDeviceGetUuid_v2(*mut CUuuid, CUdevice);
});

const NAME: &str = "libcuda";
const SONAME: &str = "libcuda.so.1";
/// Eight GPUs of a driver that nobody uses take this long to start.
const LIMIT: Duration = Duration::from_secs(20);

/// More devices than in any machine: what lies beyond is not looked at.
const MOST: c_int = 1_024;
/// Up to so many devices each is told of as soon as it is known.
const EACH: c_int = 64;
/// The folder of a toolkit that a compat package lies in.
const COMPAT: &str = "compat";
/// The code of the library that serves linking only.
const STUB: i64 = 34;

/// Writes what libcuda tells; under another root, which file it would be.
pub fn look(context: &ProbeContext, record: &mut Record) {
    record.compat = compat::packages(context);
    if !context.is_here() {
        let found = Loader::new(&context.root, &[]).find(SONAME);
        let noted = |found: &Found| compat::note(&context.root, &found.file).is_some();
        record.libcuda = found.map(|found| told_apart(file(&found, noted(&found)), record));
        record.probes.push(Probe { name: NAME.to_string(), ended: ProbeStatus::NotRun, detail: None, millis: None });
        return;
    }
    // What one of several GPUs does is asked of each alone then.
    let several = record.nvml.as_ref().is_some_and(|nvml| nvml.gpus.len() > 1);
    let reply = asked(context, None, if several { ENOUGH * 2 } else { Duration::ZERO });
    record.libcuda = reply.answer.map(|libcuda| told_apart(libcuda, record));
    record.probes.push(reply.probe);
}

/// The driver's own libcuda may hold the note of a compat package too, as that of 580.159.04 does: of the kernel
/// module's release, and in no folder of compat packages, it is no package's.
fn told_apart(mut libcuda: Libcuda, record: &Record) -> Libcuda {
    let module = record.module.as_ref().and_then(|module| module.version.as_ref());
    let in_folder = libcuda.path.as_deref().is_some_and(|path| Path::new(path).iter().any(|part| part == COMPAT));
    if module.is_some() && module == libcuda.file_version.as_ref() && !in_folder {
        libcuda.compat = Some(false);
    }
    libcuda
}

/// What a child tells, which leaves the others this time; with this alone to be seen, where it is given.
pub(super) fn asked(context: &ProbeContext, visible: Option<&str>, others: Duration) -> Reply<Libcuda> {
    let mut environment = environment::of_child(context);
    if let Some(visible) = visible {
        environment::set(&mut environment, environment::VISIBLE, visible);
    }
    let limit = context.limit_before(others, LIMIT);
    let task = Task { program: &context.program, name: NAME, limit, environment: &environment };
    child::ask(&task, &Search::of(context))
}

/// What can be said of a file without loading it.
fn file(found: &Found, noted: bool) -> Libcuda {
    let within =
        |folder: &str| found.file.components().chain(found.path.components()).any(|part| part.as_os_str() == folder);
    Libcuda {
        path: found.shown(),
        file_version: found.file_version(),
        found_by: found.found_by(),
        shadows: found.shadowed(),
        stub: Some(within("stubs")),
        compat: Some(noted || within(COMPAT)),
        ..Libcuda::default()
    }
}

/// Asks libcuda, as a child.
pub fn inside(request: &str, progress: &mut Progress) -> Result<(), String> {
    let search: Search = serde_json::from_str(request).map_err(|error| error.to_string())?;
    progress.doing(&format!("the search for {SONAME}"));
    let Some(found) = search.loader().find(SONAME) else {
        progress.learnt(&Libcuda { fault: Some(missing(&search.loader(), SONAME)), ..Libcuda::default() });
        progress.absent(&format!("{SONAME} is nowhere the loader looks"));
        return Ok(());
    };
    let mut seen = file(&found, compat::note(Path::new("/"), &found.file).is_some());
    progress.learnt(&seen);
    match search.refuses(SONAME, &found.path) {
        Some(why) => progress.refused(&why),
        None => {
            seen.fault = ask(&found.file, &mut seen, progress).err();
            if seen.fault.as_ref().is_some_and(|fault| fault.code == Some(STUB)) {
                seen.stub = Some(true);
            }
            progress.learnt(&seen);
        }
    }
    Ok(())
}

fn ask(file: &Path, seen: &mut Libcuda, progress: &mut Progress) -> Result<(), ApiError> {
    let shown = file.display();
    progress.doing(&format!("dlopen of {shown}"));
    let cuda = Calls::of(calls::open(file)?)?;
    // It needs no driver, so it is asked before and apart from what does.
    progress.doing(&format!("cuDriverGetVersion of {shown}"));
    let mut number = 0;
    // SAFETY: it points to an integer.
    let version = check("cuDriverGetVersion", unsafe { (cuda.cuDriverGetVersion)(&mut number) });
    seen.cuda = version.is_ok().then(|| cuda_version(number)).flatten();
    progress.learnt(seen);
    progress.doing(&format!("cuInit of {shown}"));
    // SAFETY: no flags are defined.
    check("cuInit", unsafe { (cuda.cuInit)(0) })?;
    version?;
    if seen.cuda.is_none() {
        return Err(nonsense("cuDriverGetVersion", format!("it answers {number}, which is not a CUDA version")));
    }
    progress.doing(&format!("cuDeviceGetCount of {shown}"));
    let mut count = 0;
    // SAFETY: it points to an integer.
    check("cuDeviceGetCount", unsafe { (cuda.cuDeviceGetCount)(&mut count) })?;
    for ordinal in 0..count.min(MOST) {
        progress.doing(&format!("device {ordinal} of {shown}"));
        seen.devices.push(device(&cuda, ordinal));
        if count <= EACH {
            progress.learnt(seen);
        }
    }
    match count {
        0..=MOST => Ok(()),
        _ => Err(nonsense(
            "cuDeviceGetCount",
            format!("it counts {count} devices, of which {MOST} at most were looked at"),
        )),
    }
}

/// Everything about one device. What an older driver cannot say is absent.
fn device(cuda: &Calls, ordinal: c_int) -> CudaDevice {
    let mut device = CudaDevice { ordinal: u64::from(ordinal.unsigned_abs()), ..CudaDevice::default() };
    let mut handle = 0;
    // SAFETY: it points to a device.
    match check("cuDeviceGet", unsafe { (cuda.cuDeviceGet)(&mut handle, ordinal) }) {
        Ok(()) => describe(cuda, handle, &mut device),
        Err(fault) => device.fault = Some(fault),
    }
    device
}

fn describe(cuda: &Calls, handle: CUdevice, device: &mut CudaDevice) {
    let mut first = None;
    let mut note = |fault: ApiError| {
        first.get_or_insert(fault);
    };
    device.name = text("cuDeviceGetName", cuda.cuDeviceGetName, handle).map_err(&mut note).ok();
    let address = cuda.cuDeviceGetPCIBusId.and_then(|call| text("cuDeviceGetPCIBusId", call, handle).ok());
    device.pci = address.map(|address| address.to_lowercase());
    let is_mig = device.name.as_ref().is_some_and(|name| name.contains(" MIG "));
    device.uuid = uuid(cuda, handle).map(|bytes| spelled(&bytes, is_mig));
    let mut bytes = 0;
    // SAFETY: it points to a size.
    let memory = check("cuDeviceTotalMem", unsafe { (cuda.cuDeviceTotalMem_v2)(&mut bytes, handle) });
    device.memory = memory.map_err(&mut note).ok().map(|()| bytes as u64);
    let mut attribute = |attribute: CUdevice_attribute| {
        let mut value = 0;
        // SAFETY: it points to an integer.
        let told = unsafe { (cuda.cuDeviceGetAttribute)(&mut value, attribute, handle) };
        check("cuDeviceGetAttribute", told).map_err(&mut note).ok().map(|()| value)
    };
    device.integrated = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED).map(|value| value != 0);
    let major = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    let minor = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    device.compute_capability =
        major.zip(minor).and_then(|(major, minor)| Some(Cc::new(major.try_into().ok()?, minor.try_into().ok()?)));
    device.fault = first;
}

/// A call that writes a text into the room it is given.
type Text = unsafe extern "C" fn(*mut c_char, c_int, CUdevice) -> i32;

fn text(at: &str, call: Text, handle: CUdevice) -> Result<String, ApiError> {
    const ROOM: usize = 256;
    let mut buffer = [0; ROOM];
    // SAFETY: one more byte than it is told of stays zero.
    check(at, unsafe { call(buffer.as_mut_ptr(), ROOM as c_int - 1, handle) })?;
    Ok(readable(&buffer, ROOM as c_uint))
}

/// The second version knows MIG instances.
fn uuid(cuda: &Calls, handle: CUdevice) -> Option<[u8; 16]> {
    let call = cuda.cuDeviceGetUuid_v2.or(cuda.cuDeviceGetUuid)?;
    let mut uuid = CUuuid { bytes: [0; 16] };
    // SAFETY: it points to a UUID.
    check("cuDeviceGetUuid", unsafe { call(&mut uuid, handle) }).ok()?;
    Some(uuid.bytes.map(|byte| byte as u8))
}

/// `GPU-8932f937-d72c-4106-c12f-20bd9faed9f6`
fn spelled(bytes: &[u8; 16], is_mig: bool) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    format!("{}-{}", if is_mig { "MIG" } else { "GPU" }, parts.join("-"))
}

fn nonsense(at: &str, message: String) -> ApiError {
    ApiError { at: at.to_string(), code: None, name: None, message: Some(message) }
}

#[cfg(test)]
mod tests;
