//! Which hosts are alike: two whose records differ in nothing that a judgement looks at are judged once.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::host::Record;
use crate::host::record::MOST_GPUS;
use crate::verify::SHM_LEAST;

/// Above this part of its memory in use, in hundredths, a judgement says so.
const FULL: u64 = 90;

/// The record without what tells one host of a kind from another: names, numbers of single cards, times. What the
/// judgement says of it holds for every host with the same digest.
pub fn digest(mut record: Record) -> (Record, [u8; 32]) {
    record.source = None;
    record.probes.iter_mut().for_each(|probe| probe.millis = None);
    record.kernels.iter_mut().for_each(|kernel| kernel.micros = None);
    record.platform.kernel = None;
    // Whether it is enough is all that is asked of it.
    record.platform.shm = record.platform.shm.map(|size| if size < SHM_LEAST { 0 } else { SHM_LEAST });
    cards(&mut record);
    let text = serde_json::to_vec(&record).unwrap_or_default();
    (record, Sha256::digest(&text).into())
}

/// UUIDs and addresses by the order in which they come, and states as a judgement tells them apart.
fn cards(record: &mut Record) {
    let mut known: HashMap<String, String> = HashMap::new();
    let mut numbered = |text: &mut Option<String>| {
        if let Some(text) = text {
            let next = known.len();
            let kind = text.split_once('-').map_or("", |(kind, _)| kind).to_string();
            let number = known.entry(std::mem::take(text)).or_insert_with(|| format!("{kind}-#{next}"));
            text.clone_from(number);
        }
    };
    for gpu in record.nvml.iter_mut().flat_map(|nvml| &mut nvml.gpus) {
        numbered(&mut gpu.uuid);
        for instance in &mut gpu.instances {
            numbered(&mut instance.uuid);
        }
        gpu.processes = gpu.processes.map(|count| count.min(1));
        if let (Some(total), Some(used)) = (gpu.memory, gpu.memory_used) {
            let full = used.saturating_mul(100) / total.max(1) > FULL;
            gpu.memory_used = Some(if full { total } else { 0 });
        }
    }
    for device in record.libcuda.iter_mut().flat_map(|libcuda| &mut libcuda.devices) {
        numbered(&mut device.uuid);
        numbered(&mut device.visible_as);
    }
    for name in ["CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"] {
        if let Some(value) = record.environment.get_mut(name) {
            let elements = value.split(',').enumerate();
            let renamed: Vec<&str> =
                elements.map(|(at, one)| if at < MOST_GPUS { renamed(&known, one) } else { one }).collect();
            *value = renamed.join(",");
        }
    }
}

/// A GPU in a list of devices, by the beginning of its UUID as CUDA takes it too; what means none of them stays.
fn renamed<'a>(known: &'a HashMap<String, String>, element: &'a str) -> &'a str {
    let name = element.trim();
    let is_uuid = name.starts_with("GPU-") || name.starts_with("MIG-");
    let mut means = known.iter().filter(|(uuid, _)| is_uuid && uuid.starts_with(name));
    match (means.next(), means.next()) {
        (Some((_, number)), None) => number,
        _ => element,
    }
}

#[cfg(test)]
mod tests;
