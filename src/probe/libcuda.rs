//! The driver's CUDA library: which file a process would load, what it offers, which devices it shows.

use std::ffi::{c_char, c_int, c_uint};
use std::path::Path;
use std::time::Duration;

use crate::host::{CudaDevice, Fault, How, Libcuda, Probe, Record};
use crate::words::Cc;

use super::child::{self, Task, Teller};
use super::foreign::{Foreign, Miss, done, readable};
use super::loader::{Found, Loader, Search};
use super::nvml::{cuda_version, missing};
use super::scene::Scene;
use super::{compat, curesult, environment};

const NAME: &str = "libcuda";
const SONAME: &str = "libcuda.so.1";
const LIMIT: Duration = Duration::from_secs(10);

/// More devices than in any machine: what lies beyond is not looked at.
const MOST: c_int = 1_024;
/// Up to so many devices each is told of as soon as it is known.
const EACH: c_int = 64;
/// The code of the library that serves linking only.
const STUB: i64 = 34;

/// Writes what libcuda tells; under another root, which file it would be.
pub fn look(scene: &Scene, record: &mut Record) {
    record.compat = compat::packages(scene);
    if !scene.is_here() {
        let found = Loader::new(&scene.root, &[]).find(SONAME);
        record.libcuda = found.map(|found| file(&found, compat::note(&scene.root, &found.file).is_some()));
        record.probes.push(Probe { name: NAME.to_string(), ended: How::NotRun, detail: None, millis: None });
        return;
    }
    let environment = environment::of_child(scene);
    let task = Task { program: &scene.program, name: NAME, limit: scene.limit(LIMIT), environment: &environment };
    let reply = child::ask(&task, &Search::of(scene));
    record.libcuda = reply.answer;
    record.probes.push(reply.probe);
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
        compat: Some(noted || within("compat")),
        ..Libcuda::default()
    }
}

/// Asks libcuda, as a child.
pub fn inside(request: &str, teller: &mut Teller) -> Result<(), String> {
    let search: Search = serde_json::from_str(request).map_err(|error| error.to_string())?;
    teller.doing(&format!("the search for {SONAME}"));
    let Some(found) = search.loader().find(SONAME) else {
        teller.learnt(&Libcuda { fault: Some(missing(SONAME)), ..Libcuda::default() });
        teller.absent(&format!("{SONAME} is nowhere the loader looks"));
        return Ok(());
    };
    let mut seen = file(&found, compat::note(Path::new("/"), &found.file).is_some());
    teller.learnt(&seen);
    match search.refuses(SONAME, &found.path) {
        Some(why) => teller.refused(&why),
        None => {
            seen.fault = ask(&found.file, &mut seen, teller).err();
            if seen.fault.as_ref().is_some_and(|fault| fault.code == Some(STUB)) {
                seen.stub = Some(true);
            }
            teller.learnt(&seen);
        }
    }
    Ok(())
}

fn ask(file: &Path, seen: &mut Libcuda, teller: &mut Teller) -> Result<(), Fault> {
    let shown = file.display();
    teller.doing(&format!("dlopen of {shown}"));
    let cuda = Foreign::open(file)?;
    // It needs no driver, so it is asked before and apart from what does.
    teller.doing(&format!("cuDriverGetVersion of {shown}"));
    // SAFETY: `CUresult f(int *version)`
    let version = unsafe { cuda.value("cuDriverGetVersion", 0) };
    seen.cuda = version.ok().and_then(cuda_version);
    teller.learnt(seen);
    teller.doing(&format!("cuInit of {shown}"));
    // SAFETY: `CUresult f(unsigned flags)`
    unsafe { cuda.call("cuInit", 0) }.map_err(|missed| fault("cuInit", missed))?;
    let version = version.map_err(|missed| fault("cuDriverGetVersion", missed))?;
    if seen.cuda.is_none() {
        return Err(nonsense("cuDriverGetVersion", format!("it answers {version}, which is no CUDA version")));
    }
    teller.doing(&format!("cuDeviceGetCount of {shown}"));
    // SAFETY: `CUresult f(int *count)`
    let count: c_int =
        unsafe { cuda.value("cuDeviceGetCount", 0) }.map_err(|missed| fault("cuDeviceGetCount", missed))?;
    for ordinal in 0..count.min(MOST) {
        teller.doing(&format!("device {ordinal} of {shown}"));
        seen.devices.push(device(&cuda, ordinal));
        if count <= EACH {
            teller.learnt(seen);
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
fn device(cuda: &Foreign, ordinal: c_int) -> CudaDevice {
    let mut device = CudaDevice { ordinal: u64::from(ordinal.unsigned_abs()), ..CudaDevice::default() };
    match handle(cuda, ordinal) {
        Ok(handle) => describe(cuda, handle, &mut device),
        Err(missed) => device.fault = Some(fault("cuDeviceGet", missed)),
    }
    device
}

fn handle(cuda: &Foreign, ordinal: c_int) -> Result<c_int, Miss> {
    type Get = unsafe extern "C" fn(*mut c_int, c_int) -> c_int;
    let mut handle = 0;
    // SAFETY: this is its signature.
    done(unsafe { cuda.function::<Get>("cuDeviceGet")?(&mut handle, ordinal) })?;
    Ok(handle)
}

fn describe(cuda: &Foreign, handle: c_int, device: &mut CudaDevice) {
    let mut first = None;
    let mut note = |at: &str, missed: Miss| {
        if let Miss::Code(_) = missed {
            first.get_or_insert_with(|| fault(at, missed));
        }
    };
    let name = text(cuda, "cuDeviceGetName", handle);
    device.name = name.map_err(|missed| note("cuDeviceGetName", missed)).ok();
    device.pci = text(cuda, "cuDeviceGetPCIBusId", handle).ok().map(|address| address.to_lowercase());
    let is_mig = device.name.as_ref().is_some_and(|name| name.contains(" MIG "));
    device.uuid = uuid(cuda, handle).ok().map(|bytes| spelled(&bytes, is_mig));
    device.memory = memory(cuda, handle).map_err(|missed| note("cuDeviceTotalMem", missed)).ok();
    let mut attribute =
        |number| attribute(cuda, handle, number).map_err(|missed| note("cuDeviceGetAttribute", missed)).ok();
    device.integrated = attribute(INTEGRATED).map(|value| value != 0);
    let capability = attribute(CAPABILITY_MAJOR).zip(attribute(CAPABILITY_MINOR));
    device.compute_capability =
        capability.and_then(|(major, minor)| Some(Cc::new(major.try_into().ok()?, minor.try_into().ok()?)));
    device.fault = first;
}

/// `CUdevice_attribute`
const INTEGRATED: c_int = 18;
const CAPABILITY_MAJOR: c_int = 75;
const CAPABILITY_MINOR: c_int = 76;

fn attribute(cuda: &Foreign, handle: c_int, number: c_int) -> Result<c_int, Miss> {
    type Attribute = unsafe extern "C" fn(*mut c_int, c_int, c_int) -> c_int;
    let mut value = 0;
    // SAFETY: this is its signature.
    done(unsafe { cuda.function::<Attribute>("cuDeviceGetAttribute")?(&mut value, number, handle) })?;
    Ok(value)
}

fn text(cuda: &Foreign, name: &str, handle: c_int) -> Result<String, Miss> {
    type Text = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
    const ROOM: usize = 256;
    let mut buffer = [0; ROOM];
    // SAFETY: this is the signature of those that are asked here; one more byte than it is told of stays zero.
    done(unsafe { cuda.function::<Text>(name)?(buffer.as_mut_ptr(), ROOM as c_int - 1, handle) })?;
    Ok(readable(&buffer, ROOM as c_uint))
}

/// The second version knows MIG instances.
fn uuid(cuda: &Foreign, handle: c_int) -> Result<[u8; 16], Miss> {
    type Uuid = unsafe extern "C" fn(*mut [u8; 16], c_int) -> c_int;
    let name = if cuda.has("cuDeviceGetUuid_v2") { "cuDeviceGetUuid_v2" } else { "cuDeviceGetUuid" };
    let mut bytes = [0; 16];
    // SAFETY: this is the signature of both.
    done(unsafe { cuda.function::<Uuid>(name)?(&mut bytes, handle) })?;
    Ok(bytes)
}

fn memory(cuda: &Foreign, handle: c_int) -> Result<u64, Miss> {
    type Memory = unsafe extern "C" fn(*mut usize, c_int) -> c_int;
    let mut bytes = 0;
    // SAFETY: this is its signature.
    done(unsafe { cuda.function::<Memory>("cuDeviceTotalMem_v2")?(&mut bytes, handle) })?;
    Ok(bytes as u64)
}

/// `GPU-8932f937-d72c-4106-c12f-20bd9faed9f6`
fn spelled(bytes: &[u8; 16], is_mig: bool) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    format!("{}-{}", if is_mig { "MIG" } else { "GPU" }, parts.join("-"))
}

fn fault(at: &str, missed: Miss) -> Fault {
    let (code, name, message) = match missed {
        Miss::NoSymbol => (None, None, Some("the library has no such function".to_string())),
        Miss::Code(code) => (Some(code), i32::try_from(code).ok().and_then(curesult::name), None),
    };
    Fault { at: at.to_string(), code, name: name.map(str::to_string), message }
}

fn nonsense(at: &str, message: String) -> Fault {
    Fault { at: at.to_string(), code: None, name: None, message: Some(message) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn uuids_are_spelled_as_nvml_does() {
        let bytes = std::array::from_fn(|at| at as u8 * 17);
        assert_eq!(spelled(&bytes, false), "GPU-00112233-4455-6677-8899-aabbccddeeff");
        assert_eq!(spelled(&bytes, true), "MIG-00112233-4455-6677-8899-aabbccddeeff");
    }

    #[test]
    fn stubs_and_compat_are_told_by_their_folders() {
        let of = |path: &str| {
            let found = Found {
                path: PathBuf::from(path),
                file: PathBuf::from(path),
                by: super::super::loader::By::Cache,
                shadows: vec![],
            };
            let file = file(&found, false);
            (file.stub, file.compat, file.file_version.map(|version| version.to_string()))
        };
        assert_eq!(of("/usr/local/cuda/lib64/stubs/libcuda.so"), (Some(true), Some(false), None));
        assert_eq!(
            of("/usr/local/cuda-12.4/compat/libcuda.so.550.54"),
            (Some(false), Some(true), Some("550.54".into()))
        );
        assert_eq!(of("/usr/lib/libcuda.so.1"), (Some(false), Some(false), None));
    }
}
