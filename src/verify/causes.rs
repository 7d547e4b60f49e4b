//! One cause is told once: which checks fail, warn or are open only because an earlier one fails.

use super::check::{Check, Status};
use super::context::CheckContext;

/// What may be at the bottom of others, the deepest first.
const CAUSES: &[&str] = &[
    "driver-present",
    "driver-match",
    "device-nodes",
    "nvml",
    "libcuda",
    "gpu-present",
    "gpu-compute-mode",
    "driver-minimum",
    "driver-cuda",
    "forward-compat",
    "python-package",
    "torch-cuda",
];

/// Notes with each check which other it follows from.
pub fn mark(context: &CheckContext<'_>, checks: &mut [Check]) {
    for cause in CAUSES {
        let is_cause = |check: &&Check| check.id == *cause && check.because.is_none() && is_cause(check);
        let causes: Vec<Check> = checks.iter().filter(is_cause).cloned().collect();
        for check in checks.iter_mut().filter(|check| check.because.is_none() && check.id != *cause) {
            let is_open = check.status > Status::Skip && check.status != Status::Pass;
            let of_it = causes.iter().find(|cause| is_open && explains(context, cause, check));
            check.because = of_it.map(|cause| cause.id);
        }
    }
}

/// A driver of which only its libraries are to be seen is no cause: what they say is told by their own checks.
fn is_cause(check: &Check) -> bool {
    let is_missing = matches!(check.found.as_deref(), Some("none" | "not told"));
    check.status == Status::Fail || check.status == Status::Unknown && (check.id != "driver-present" || is_missing)
}

/// Whether a check would end otherwise if the cause were mended, as far as anybody knows.
fn explains(context: &CheckContext<'_>, cause: &Check, check: &Check) -> bool {
    let record = context.record;
    let number = |fault: Option<&crate::host::ApiError>| fault.and_then(|fault| fault.code);
    let cuda = number(record.libcuda.as_ref().and_then(|libcuda| libcuda.fault.as_ref()));
    let nvml = number(record.nvml.as_ref().and_then(|nvml| nvml.fault.as_ref()));
    let found = |words: &str| cause.found.as_deref().is_some_and(|found| found.contains(words));
    let is_open = check.status == Status::Unknown;
    let torch = record.python.as_ref().and_then(|python| python.torch.as_ref());
    let is_without_cuda = torch.is_some_and(|torch| torch.cuda.is_none());
    match (cause.id, check.id) {
        ("nvml", "gpu-present") => false,
        // Both tell of what hides the GPUs.
        ("libcuda", "gpu-present") => is_open || check.hint == cause.hint,
        (_, "gpu-present") => is_open,
        ("nvml", "kernel-native") => false,
        // Of one GPU it says more than that there is none.
        (_, "kernel-native") => is_open && check.gpu.is_none(),
        ("driver-present", "device-nodes" | "nvml" | "libcuda" | "gpu-hidden") => cause.status == Status::Fail,
        ("driver-present", "driver-minimum" | "driver-cuda" | "forward-compat" | "image-require") => is_open,
        ("driver-match", "libcuda") => matches!(cuda, Some(803 | 804)),
        ("device-nodes", "driver-present") => check.status == Status::Warn && found("nvidia-uvm"),
        ("device-nodes", "nvml") => matches!(nvml, Some(4 | 17 | 999)),
        ("device-nodes", "libcuda") => matches!(cuda, Some(100 | 304 | 999)),
        ("libcuda", "driver-present") => check.status == Status::Warn && matches!(cuda, Some(304 | 999)),
        // What it says is to repair what else fails.
        (
            "driver-minimum" | "driver-cuda" | "forward-compat" | "driver-present" | "driver-match" | "device-nodes",
            "torch-available",
        )
        | ("nvml" | "libcuda" | "gpu-present", "torch-available") => cause.status == Status::Fail,
        ("python-package", "torch-cuda") => cause.status == Status::Fail && found("torch "),
        ("python-package", "torch-available") => cause.status == Status::Fail && found("torch ") && is_without_cuda,
        ("torch-cuda", "torch-available") => cause.status == Status::Fail && is_without_cuda,
        ("gpu-compute-mode", "gpu-usable") => cause.status == Status::Fail && cause.gpu == check.gpu,
        ("libcuda" | "gpu-present", "gpu-hidden") => check.status == Status::Warn && context.gpus().is_empty(),
        ("nvml" | "libcuda", "probe") => check.found.as_deref().is_some_and(|found| found.starts_with(cause.id)),
        _ => false,
    }
}
