//! `nvidia-smi -L`: GPUs and their instances with UUIDs.
//!
//! Seen in <https://github.com/rapidsai/dask-cuda/issues/583> (MIG), <https://github.com/vllm-project/vllm/issues/8947>.

use super::seen::{Seen, fill};

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let mut last = None;
    for line in lines {
        // Other programs write `GPU 0: …` too; this one always adds the UUID.
        if line.contains("(UUID: ") {
            last = device(line, last, seen).or(last);
        }
    }
    last.is_some()
}

/// A line of a GPU or of an instance of the one before; which GPU it is about.
pub(super) fn device(line: &str, last: Option<u64>, seen: &mut Seen) -> Option<u64> {
    let line = line.trim();
    let (line, uuid) = match line.split_once("(UUID: ") {
        Some((line, uuid)) => (line.trim_end(), Some(uuid.trim_end_matches(')').trim().to_string())),
        None => (line, None),
    };
    if let Some(rest) = line.strip_prefix("GPU ") {
        let (index, name) = rest.split_once(':')?;
        let index: u64 = index.parse().ok()?;
        seen.gpu(index)?;
        if !name.trim().is_empty() {
            seen.name(index, name.trim());
        }
        fill(&mut seen.gpu(index)?.uuid, uuid);
        return Some(index);
    }
    // `MIG 1g.12gb     Device  0:`
    let (profile, rest) = line.strip_prefix("MIG ")?.trim_start().split_once(' ')?;
    let number = rest.trim_start().strip_prefix("Device")?.trim().trim_end_matches(':').parse().ok()?;
    let instance = seen.instance(last?, number)?;
    fill(&mut instance.profile, Some(profile.to_string()));
    fill(&mut instance.uuid, uuid);
    last
}
