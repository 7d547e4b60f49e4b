//! How much of a GPU's memory is in use, as NVML tells it.

use crate::host::Gpu;

use super::check::{Action, Check};

/// More than this of its memory in use is worth a word.
const FULL_PERCENT: u64 = 90;

/// What comes onto a GPU with a process before the process takes any of its memory, in bytes: some hundred MiB.
const CONTEXT: u64 = 1 << 30;

/// Whether it is known that a process has room on a GPU. What an instance of MIG has, the whole GPU does not tell.
pub fn has_room(gpu: &Gpu) -> bool {
    let free = gpu.memory.zip(gpu.memory_used).map(|(total, used)| total.saturating_sub(used));
    gpu.mig != Some(true) && free.is_some_and(|free| free >= CONTEXT)
}

/// Whether others leave a job any of it.
pub fn judge(check: Check, gpu: &Gpu) -> Option<Check> {
    let (total, used) = gpu.memory.zip(gpu.memory_used).filter(|(total, _)| *total > 0)?;
    let percent = used.saturating_mul(100) / total;
    let check = check
        .expected(format!("less than {FULL_PERCENT} % in use"))
        .found(format!("{percent} % of {} MiB", total >> 20));
    Some(match percent > FULL_PERCENT {
        true => check.warn(Action::None, "somebody else fills it: a job that starts now runs out of memory"),
        false => check.pass(),
    })
}
