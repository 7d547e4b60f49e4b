//! What the driver says of a GPU's health: whether it answers, what it needs first, what of its memory is broken.

use crate::host::Gpu;

use super::check::{Action, Check};
use super::context::CheckContext;
use super::nvml_errors;

/// Everything that is to be said of it.
pub fn judge(context: &CheckContext<'_>, label: &str, gpu: &Gpu) -> Vec<Check> {
    let check = || Check::new("gpu-health").of(label);
    let mut checks: Vec<Check> =
        gpu.fault.iter().map(|fault| nvml_errors::of_gpu(context, check(), gpu, fault)).collect();
    checks.extend(gpu.recovery.as_deref().map(|action| needs(check(), action)));
    if gpu.remapping_failed == Some(true) {
        let check = check().expected("broken rows of memory replaced").found("some could not be");
        checks.push(check.warn(
            Action::Drain,
            "its memory has more broken rows than it can replace: it computes, but have it exchanged",
        ));
    }
    if gpu.remapping_pending == Some(true) && gpu.remapping_failed != Some(true) {
        let check = check().expected("broken rows or pages of memory replaced").found("some wait for a reset");
        checks.push(check.warn(
            Action::Reboot,
            "rows or pages of its memory failed and wait to be replaced: it computes; when its jobs have ended, `nvidia-smi \
             --gpu-reset`",
        ));
    }
    checks
}

/// As DCGM judges it: peers that have to be drained stop no job on one GPU, everything else does.
fn needs(check: Check, action: &str) -> Check {
    let check = check.expected("no recovery needed").found(action);
    match action {
        "drain-p2p" => check.warn(
            Action::Drain,
            "the driver wants all peer-to-peer traffic to end: end the jobs on several GPUs, then ask nvidia-smi again",
        ),
        "drain-and-reset" => check.fail(
            Action::Drain,
            "the driver wants no new work on this GPU: let its jobs end, then `nvidia-smi --gpu-reset`",
        ),
        "reset" => check.fail(Action::Reboot, "the GPU waits for a reset: `nvidia-smi --gpu-reset`, or reboot"),
        _ if action.contains("reboot") => {
            check.fail(Action::Reboot, "the GPU's fault may have damaged the system's state: reboot")
        }
        _ => check.fail(
            Action::AskAdmin,
            "the driver wants the GPU recovered first: see `nvidia-smi -q`, GPU Recovery Action",
        ),
    }
}
