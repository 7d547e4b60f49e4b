//! GPUs one by one: where CUDA does not start because one of several is sick, and instances of MIG, of which CUDA lists
//! one alone, each is asked by its UUID in a child that sees nothing else.

use std::time::Duration;

use crate::host::{ApiError, CudaDevice, Gpu, Libcuda, ProbeStatus, Record};
use crate::types::beside;

use super::child::Reply;
use super::context::{ENOUGH, ProbeContext};
use super::environment::VISIBLE;
use super::libcuda;

/// No machine has more GPUs and instances; what lies beyond is not looked at.
const MOST: usize = 128;
/// How many are asked at once.
const ABREAST: usize = 16;

/// Errors that are the same whatever is visible: of the library and the driver, not of a GPU.
const OF_THE_DRIVER: &[i64] = &[34, 35, 36, 803, 804];

/// Something that can be made visible by itself.
struct One<'a> {
    uuid: &'a str,
    name: Option<&'a str>,
    gpu: &'a Gpu,
}

/// Writes what libcuda tells, and adds the devices that it tells only by themselves.
pub fn look(context: &ProbeContext, record: &mut Record) {
    libcuda::look(context, record);
    // Whoever has said what a process may see has said it.
    if context.variable(VISIBLE).is_some() || !context.is_here() {
        return;
    }
    let gpus = record.nvml.as_ref().map_or(&[][..], |nvml| &nvml.gpus);
    let Some(libcuda) = record.libcuda.as_mut() else { return };
    let ended = record.probes.last().map(|probe| probe.ended);
    if libcuda.stub == Some(true) || libcuda.path.is_none() || !is_of_a_gpu(libcuda, ended) {
        return;
    }
    let failed = libcuda.fault.is_some() || ended != Some(ProbeStatus::Done);
    let mut ones = ones(gpus);
    if failed {
        // With one alone there is nothing to tell apart.
        if ones.len() < 2 {
            return;
        }
        libcuda.devices.clear();
    } else if gpus.iter().all(|gpu| gpu.mig != Some(true)) {
        return;
    }
    ones.retain(|one| !libcuda.devices.iter().any(|device| device.uuid.as_deref() == Some(one.uuid)));
    ones.truncate(MOST);
    let first = libcuda.devices.len() as u64;
    for (at, reply) in replies(context, &ones).into_iter().enumerate() {
        libcuda.devices.push(told(&ones[at], first + at as u64, reply, context.patience()));
    }
    // A list of nothing but faults tells no more than the first one.
    if failed && libcuda.devices.iter().all(|device| device.fault.is_some()) {
        libcuda.devices.clear();
    }
}

/// Whether a GPU can be what CUDA did not start for.
fn is_of_a_gpu(libcuda: &Libcuda, ended: Option<ProbeStatus>) -> bool {
    let code = libcuda.fault.as_ref().and_then(|fault| fault.code);
    let refused = libcuda.fault.as_ref().is_some_and(|fault| !fault.at.starts_with("cu"));
    let ran =
        matches!(ended, Some(ProbeStatus::Done | ProbeStatus::TimedOut | ProbeStatus::Crashed | ProbeStatus::Garbled));
    ran && !refused && !code.is_some_and(|code| OF_THE_DRIVER.contains(&code))
}

/// The GPUs that are whole, and the instances of those that are not.
fn ones(gpus: &[Gpu]) -> Vec<One<'_>> {
    let mut ones = Vec::new();
    for gpu in gpus {
        let whole = gpu.uuid.as_deref().filter(|_| gpu.mig != Some(true));
        ones.extend(whole.map(|uuid| One { uuid, name: gpu.name.as_deref(), gpu }));
        let instances = gpu.instances.iter().filter_map(|instance| instance.uuid.as_deref());
        ones.extend(instances.map(|uuid| One { uuid, name: gpu.name.as_deref(), gpu }));
    }
    ones
}

fn replies(context: &ProbeContext, ones: &[One<'_>]) -> Vec<Reply<Libcuda>> {
    let mut replies = Vec::new();
    for some in ones.chunks(ABREAST) {
        replies.extend(beside::each(some, |one| libcuda::asked(context, Some(one.uuid), ENOUGH)));
    }
    replies
}

/// The device that answered, or why none did.
fn told(one: &One<'_>, ordinal: u64, reply: Reply<Libcuda>, patience: Duration) -> CudaDevice {
    let died = reply.fault(patience);
    let libcuda = reply.answer.unwrap_or_default();
    let fault = died.or(libcuda.fault);
    let visible_as = Some(one.uuid.to_string());
    match libcuda.devices.into_iter().next().filter(|_| fault.is_none()) {
        Some(device) => CudaDevice { ordinal, visible_as, ..device },
        None => {
            let none = || ApiError { at: "cuDeviceGetCount".to_string(), code: Some(100), name: None, message: None };
            CudaDevice {
                ordinal,
                visible_as,
                uuid: Some(one.uuid.to_string()),
                name: one.name.map(str::to_string),
                pci: one.gpu.pci.clone(),
                compute_capability: one.gpu.compute_capability,
                fault: Some(fault.unwrap_or_else(none)),
                ..CudaDevice::default()
            }
        }
    }
}
