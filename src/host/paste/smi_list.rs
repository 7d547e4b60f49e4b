//! `nvidia-smi -L`: GPUs and their instances with UUIDs.
//!
//! Seen in <https://github.com/rapidsai/dask-cuda/issues/583> (MIG), <https://github.com/vllm-project/vllm/issues/8947>,
//! <https://github.com/vllm-project/vllm/issues/41848> (a GPU without its UUID above an instance).

use super::seen::{Seen, fill};

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let mut last = None;
    for (at, line) in lines.iter().enumerate() {
        // Other programs write `GPU 0: …` too; this one adds the UUID, or somebody took it off above an instance's.
        if line.contains("(UUID: ") || lines.get(at + 1).is_some_and(|next| is_instance(next)) {
            last = device(line, last, seen).or(last);
        }
    }
    last.is_some()
}

fn is_instance(line: &str) -> bool {
    line.trim_start().starts_with("MIG ") && line.contains("(UUID: MIG-")
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
