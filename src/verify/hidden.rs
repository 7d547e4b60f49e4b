//! GPUs that are in the machine and that a process does not see: each reason is told once, with all that it hides.
//!
//! A variable, a container, a device cgroup and MIG keep GPUs from a process by somebody's will. A GPU that nothing
//! keeps from it, and that is not there all the same, is sick.

use std::collections::HashSet;

use crate::host::{Gpu, PciGpu};
use crate::types::grouped;

use super::check::{Action, Check, Status};
use super::context::CheckContext;
use super::environment::{self, is_kept_from_job};
use super::seen::{Seen, address};
use super::shown::{is_empty_mig, label};

/// Everything that is to be said of them.
pub fn judge(context: &CheckContext<'_>, gpus: &[Seen<'_>]) -> Vec<Check> {
    let mut checks = told("every GPU visible to CUDA", unseen_by_cuda(context, gpus));
    checks.extend(told("every GPU driven by nvidia", unseen_by_nvml(context, gpus)));
    checks
}

/// What keeps a GPU from a process.
#[derive(Debug, PartialEq, Eq)]
struct Reason {
    found: String,
    status: Status,
    action: Action,
    hint: String,
}

/// One check for each reason.
fn told(expected: &str, hidden: Vec<(String, Reason)>) -> Vec<Check> {
    let groups = grouped(hidden.into_iter().map(|(label, reason)| (reason, label)));
    let check = |(reason, labels): (Reason, Vec<String>)| {
        let check = Check::new("gpu-hidden").expected(expected);
        let check = match labels.as_slice() {
            [one] => check.of(one).found(reason.found),
            many => check.found(format!("{} GPUs: {}", many.len(), reason.found)).evidence(Some(many.join(", "))),
        };
        check.ends(reason.status, reason.action, reason.hint)
    };
    groups.into_iter().map(check).collect()
}

/// GPUs that NVML shows and CUDA does not.
fn unseen_by_cuda(context: &CheckContext<'_>, gpus: &[Seen<'_>]) -> Vec<(String, Reason)> {
    let record = context.record;
    let listed = record.nvml.as_ref().map_or(&[][..], |nvml| &nvml.gpus);
    let asked = record.libcuda.as_ref().is_some_and(|libcuda| libcuda.fault.is_none());
    if !asked || gpus.is_empty() || context.is_pasted() || context.unfinished("libcuda").is_some() {
        return Vec::new();
    }
    let is_seen = |gpu: &Gpu| gpus.iter().any(|seen| seen.nvml.is_some_and(|nvml| nvml.index == gpu.index));
    let hidden = listed.iter().filter(|gpu| !is_seen(gpu) && gpu.fault.is_none());
    hidden.map(|gpu| (label(gpu), kept_from_cuda(context, gpu, listed))).collect()
}

fn kept_from_cuda(context: &CheckContext<'_>, gpu: &Gpu, listed: &[Gpu]) -> Reason {
    let reason = |status, action, hint: &str| Reason {
        found: "NVML shows it, CUDA does not".to_string(),
        status,
        action,
        hint: hint.to_string(),
    };
    let variable = context.variable("CUDA_VISIBLE_DEVICES");
    let is_kept = context.record.nodes.iter().any(is_kept_from_job);
    match gpu.mig {
        // A list that names as many as NVML shows hides none of them.
        _ if variable.is_some_and(|value| environment::named_to_cuda(context, value) < listed.len()) => {
            let value = variable.unwrap_or_default();
            reason(Status::Warn, Action::None, &format!("CUDA_VISIBLE_DEVICES is `{value}`"))
        }
        Some(true) if is_empty_mig(context, gpu) => {
            reason(Status::Warn, Action::AskAdmin, "its MIG mode is on without instances")
        }
        // Beside an instance it shows no whole GPU either.
        _ if listed.iter().any(|gpu| gpu.mig == Some(true)) => {
            reason(Status::Warn, Action::None, "MIG mode is on, and CUDA takes one instance at a time")
        }
        _ if gpu.compute_mode.as_deref() == Some("prohibited") => {
            reason(Status::Warn, Action::AskAdmin, "its compute mode is prohibited")
        }
        _ if is_kept => reason(Status::Pass, Action::None, "its device node is closed: it was not given to this job"),
        _ => reason(
            Status::Fail,
            Action::AskAdmin,
            "no variable, MIG or compute mode hides it, and CUDA does not start on it: look into `dmesg`",
        ),
    }
}

/// A GPU that another driver holds, where none is bound to nvidia, and what to do.
pub fn held_elsewhere(context: &CheckContext<'_>) -> Option<String> {
    let drivers = || context.record.pci.iter().filter_map(|gpu| Some((gpu, gpu.driver.as_deref()?)));
    let (gpu, driver) = drivers().next().filter(|_| drivers().all(|(_, driver)| driver != "nvidia"))?;
    let or = if driver == "vfio-pci" { ", or verify in the virtual machine that it is given to" } else { "" };
    Some(format!("the GPU at {} is bound to {driver}: bind it to nvidia{or}", gpu.address))
}

/// GPUs on the bus that neither NVML nor CUDA shows.
fn unseen_by_nvml(context: &CheckContext<'_>, gpus: &[Seen<'_>]) -> Vec<(String, Reason)> {
    let nvml = context.record.nvml.as_ref();
    let listed = nvml.map_or(&[][..], |nvml| &nvml.gpus);
    let told = nvml.is_some_and(|nvml| nvml.fault.is_none()) && listed.iter().all(|known| known.pci.is_some());
    if !told || context.unfinished("nvml").is_some() {
        return Vec::new();
    }
    let by_cuda = gpus.iter().filter_map(|seen| seen.cuda.and_then(|device| device.pci.as_deref()));
    let all = listed.iter().filter_map(|known| known.pci.as_deref()).chain(by_cuda);
    let shown: HashSet<String> = all.map(address).collect();
    let hidden = context.record.pci.iter().filter(|gpu| !shown.contains(&address(&gpu.address)));
    hidden.map(|gpu| (gpu.address.clone(), kept_from_nvml(context, gpu, listed.is_empty()))).collect()
}

fn kept_from_nvml(context: &CheckContext<'_>, gpu: &PciGpu, shows_none: bool) -> Reason {
    let reason = |found: String, status, action, hint: &str| Reason { found, status, action, hint: hint.to_string() };
    let unshown = || "bound to nvidia, not shown".to_string();
    match gpu.driver.as_deref() {
        // Where none is shown at all, gpu-present tells why.
        Some("nvidia") if shows_none => {
            reason(unshown(), Status::Warn, Action::None, "the driver holds it and shows no GPU: see gpu-present")
        }
        Some("nvidia") if context.in_container() => {
            reason(unshown(), Status::Pass, Action::None, "it was not given to this container")
        }
        Some("nvidia") if context.record.nodes.iter().any(is_kept_from_job) => {
            reason(unshown(), Status::Pass, Action::None, "its device node is closed: it was not given to this job")
        }
        Some("nvidia") => reason(
            unshown(),
            Status::Fail,
            Action::Drain,
            "the driver holds it and cannot use it: look into `dmesg` for Xid and RmInitAdapter, and have it checked",
        ),
        Some(other) => reason(
            format!("bound to {other}"),
            Status::Warn,
            Action::AskAdmin,
            "another driver holds it: bind it to nvidia if jobs of this machine are to use it",
        ),
        None => reason(
            "bound to no driver".to_string(),
            Status::Warn,
            Action::AskAdmin,
            "the driver did not take it: see `dmesg`",
        ),
    }
}
