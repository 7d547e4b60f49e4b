//! The GPUs: which a process sees, whether the lock holds code for each, which are hidden and why, and their state.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::host::signs::{Presence, presence};
use crate::host::{CudaDevice, Gpu, Kernel, Outcome};
use crate::types::grouped;

use super::check::{Action, Check};
use super::context::CheckContext;
use super::families::in_words;
use super::seen::{Names, Seen};
use super::shown::{is_empty_mig, label, unshown};
use super::supported::supported;
use super::{cuda_errors, environment, health, hidden, memory};

/// Everything that is to be said of them.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    if !context.needs_gpu() {
        return Vec::new();
    }
    let gpus = context.gpus();
    let mut checks = vec![present(context, gpus)];
    checks.extend(hidden::judge(context, gpus));
    let (builds, mut known) = (OnceCell::new(), HashMap::new());
    for gpu in gpus {
        // GPUs that are called alike are judged once.
        let judged = known.entry((gpu.name, gpu.cc, gpu.cut_off)).or_insert_with(|| supported(context, gpu, &builds));
        checks.push(judged.clone().of(&gpu.label));
        checks.extend(gpu.cuda.and_then(|device| usable(context, gpu, device, gpus)));
        checks.extend(gpu.nvml.into_iter().flat_map(|nvml| state(context, gpu, nvml)));
    }
    // A GPU that fell off the bus is in no list of CUDA's, but NVML has something to say of it; of all of its GPUs where
    // CUDA shows none.
    let shows_none = unshown(context).is_some();
    let mut names = Names::new(context.target, context.record, context.catalog);
    for gpu in context.record.nvml.iter().flat_map(|nvml| &nvml.gpus) {
        let is_told = gpus.iter().any(|seen| seen.nvml.is_some_and(|nvml| nvml.index == gpu.index));
        match (is_told, shows_none) {
            (true, _) => {}
            (false, true) => checks.extend(state(context, &names.seen(gpu.index, None, Some(gpu)), gpu)),
            (false, false) => {
                // One that a variable keeps from the process costs it nothing.
                let listed = context.record.nvml.as_ref().map_or(0, |nvml| nvml.gpus.len());
                let kept = context.variable("CUDA_VISIBLE_DEVICES");
                let is_kept = kept.is_some_and(|value| environment::named_to_cuda(context, value) < listed);
                let of_it = health::judge(context, &label(gpu), gpu);
                checks.extend(of_it.into_iter().map(|check| check.unless(is_kept && has_other(context, gpu))));
            }
        }
    }
    checks
}

/// What CUDA could not do on one device. Where it starts on others by themselves, they are nothing to blame.
fn usable(context: &CheckContext<'_>, gpu: &Seen<'_>, device: &CudaDevice, all: &[Seen<'_>]) -> Option<Check> {
    let fault = device.fault.as_ref()?;
    let check = Check::new("gpu-usable").of(&gpu.label).expected("a device that answers");
    let others = all.iter().filter_map(|seen| seen.cuda).any(|other| other.fault.is_none());
    Some(match device.visible_as.is_some() && others {
        true => cuda_errors::alone(context, check, gpu, fault),
        false => cuda_errors::on_gpu(context, check, gpu, fault),
    })
}

fn present(context: &CheckContext<'_>, gpus: &[Seen<'_>]) -> Check {
    let check = Check::new("gpu-present").expected(in_words(&context.target.gpu));
    if !gpus.is_empty() {
        let half = context
            .unfinished("libcuda")
            .filter(|_| gpus.iter().all(|gpu| gpu.cuda.is_some_and(|device| device.visible_as.is_none())));
        if let Some(detail) = half {
            return check
                .found("not all known")
                .evidence(Some(detail))
                .unknown(Action::None, "libcuda did not answer: see libcuda");
        }
        let names: Vec<&str> = gpus.iter().map(|gpu| gpu.name.unwrap_or("GPU")).collect();
        let check = check.found(counted(&names));
        let attached = context.record.nvml.as_ref().and_then(|nvml| nvml.count).unwrap_or(0);
        return match context.is_pasted() && attached > gpus.len() as u64 {
            true => check.unknown(
                Action::None,
                format!("the text describes {} of {attached} GPUs: add the whole output of `nvidia-smi`", gpus.len()),
            ),
            // Whether one that the lock does not name will do is what gpu-supported tells.
            false if gpus.iter().all(|gpu| gpu.named.is_none()) => check.expected("a GPU").pass(),
            false => check.pass(),
        };
    }
    if let Some(detail) = context.unfinished("libcuda") {
        return check
            .found("not known")
            .evidence(Some(detail))
            .unknown(Action::None, "libcuda did not answer: see libcuda");
    }
    if context.is_pasted() {
        return none_described(context, check);
    }
    let check = check.found(if unshown(context).is_some() { "none, but NVML shows some" } else { "none" });
    if context.is_bare() {
        return check.unknown(Action::None, "there is no driver that could show a GPU");
    }
    if let Some(hides) = environment::hides_every_gpu(context) {
        return check.fail(hides.action, hides.hint());
    }
    match &context.record.libcuda {
        Some(libcuda) if libcuda.fault.is_some() || libcuda.stub == Some(true) => {
            check.unknown(Action::None, "libcuda could not be asked: see libcuda")
        }
        None if !context.was_made("libcuda") => {
            check.unknown(Action::None, "libcuda could not be asked: see the probes")
        }
        _ => match unshown(context) {
            Some((action, hint)) => check.fail(action, hint),
            None => check.fail(context.restart(Action::AskAdmin), why_none(context)),
        },
    }
}

/// A text without a GPU in it: where nvidia-smi says that there is none, that is an answer.
fn none_described(context: &CheckContext<'_>, check: Check) -> Check {
    let nvml = context.record.nvml.as_ref();
    let add = "add the whole output of `nvidia-smi`, its rows of GPUs included";
    match nvml {
        Some(nvml) if nvml.count == Some(0) => {
            check.found("NVML responds and shows no GPU").fail(context.restart(Action::AskAdmin), why_none(context))
        }
        Some(nvml) if nvml.fault.is_some() => check.skip("NVML failed, see nvml"),
        _ if presence(context.record) == Presence::Absent => {
            check.found("none").unknown(Action::None, "there is no GPU: see driver-present")
        }
        _ if context.is_bare() => {
            check.found("not told").unknown(Action::None, format!("the text names neither a GPU nor a driver: {add}"))
        }
        _ if context.is_tegra() => check
            .found("not told")
            .unknown(Action::None, "the text does not name the Jetson: add the output of `jetson_release`"),
        _ => check.found("not told").unknown(Action::None, format!("the text names a driver, but no GPU: {add}")),
    }
}

/// Why the driver shows no GPU: one that it no longer drives, one that something else holds, or none at all.
fn why_none(context: &CheckContext<'_>) -> String {
    let branch = context.driver().map(|(driver, _)| driver.major());
    for gpu in &context.target.gpu {
        if let (Some(last), Some(branch)) = (context.last_branch(&gpu.name), branch)
            && branch > last.major()
        {
            return format!(
                "{} is driven by branch {last} and older only, and this is {branch}: install branch {last}",
                gpu.name
            );
        }
    }
    if let Some(held) = hidden::held_elsewhere(context) {
        return held;
    }
    match context.in_container() {
        true => "no GPU was given to the container: start it again with `--gpus all`, or a limit of nvidia.com/gpu"
            .to_string(),
        false => {
            "the driver drives no GPU: see whether one is in the machine and is supported by this branch".to_string()
        }
    }
}

/// `8 x NVIDIA H100 NVL`
fn counted(names: &[&str]) -> String {
    let kinds = grouped(names.iter().map(|name| (*name, ())));
    let one = |(name, each): &(&str, Vec<()>)| match each.len() {
        1 => name.to_string(),
        count => format!("{count} x {name}"),
    };
    kinds.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// What NVML says of a GPU's state.
fn state(context: &CheckContext<'_>, seen: &Seen<'_>, gpu: &Gpu) -> Vec<Check> {
    let label = &seen.label;
    let mut checks = Vec::new();
    let new = |id| Check::new(id).of(label);
    checks.extend(health::judge(context, label, gpu));
    let mode = gpu.compute_mode.as_deref().map(|mode| compute_mode(context, seen, gpu, mode));
    checks.extend(mode.map(|check| check.unless(has_other(context, gpu))));
    if gpu.mig == Some(true) {
        checks.push(mig(context, new("gpu-mig"), gpu).unless(has_other(context, gpu)));
    }
    if let Some(fabric) = gpu.fabric.as_deref().filter(|&fabric| fabric != "not-supported") {
        checks.push(fabric_state(context, new("gpu-fabric").expected("completed").found(fabric), fabric));
    }
    if let Some(ready) = gpu.confidential_ready {
        let check = new("gpu-confidential").expected("accepts work");
        checks.push(match ready {
            true => check.found("it does").pass(),
            false => check.found("it does not").fail(
                Action::AskAdmin,
                "confidential computing does not accept work yet: `nvidia-smi conf-compute -srs 1`",
            ),
        });
    }
    checks.extend(virtual_gpu(context, new("gpu-virtual"), seen, gpu));
    checks.extend(memory::judge(new("gpu-memory"), gpu));
    if gpu.persistence == Some(false) {
        let check = new("gpu-persistence").expected("on").found("off");
        checks.push(
            check.warn(Action::None, "the driver is loaded anew for each first client, which costs a second or more"),
        );
    }
    checks
}

/// A virtual GPU. Without its licence it computes for a while after it has started, and then no more.
fn virtual_gpu(context: &CheckContext<'_>, check: Check, seen: &Seen<'_>, gpu: &Gpu) -> Option<Check> {
    const NEEDS: &str =
        "a virtual GPU: it needs a licence, a profile with CUDA, and a guest driver that suits the hypervisor's";
    const SERVER: &str = "see its licence server (/etc/nvidia/gridd.conf or a client token) and nvidia-gridd";
    let kind = gpu.virtualization.as_deref().unwrap_or(if gpu.licence.is_some() { "vgpu" } else { "none" });
    if kind == "none" || kind == "pass-through" {
        return None;
    }
    let check = check.expected("a whole GPU").found(kind);
    if kind.starts_with("host-") && !context.computes(seen) {
        let hint = "the driver is a hypervisor's, which hands this GPU to virtual machines: verify inside one of them";
        return Some(check.unknown(Action::None, hint));
    }
    match gpu.licence.as_deref() {
        Some("unlicensed-restricted") if !context.computes(seen) => {
            let hint = format!("it has no licence, and its driver keeps CUDA from it: {SERVER}");
            return Some(check.expected("a licence").found("unlicensed, restricted").fail(Action::AskAdmin, hint));
        }
        Some(licence) if licence != "licensed" => {
            let hint =
                format!("it has no licence: some minutes after its start the driver keeps CUDA from it: {SERVER}");
            return Some(check.expected("a licence").found("unlicensed").warn(Action::AskAdmin, hint));
        }
        _ => {}
    }
    let name = gpu.name.as_deref().unwrap_or_default();
    // A profile's name is not its board's.
    let is_board = context.target.gpu.iter().any(|locked| locked.name == name);
    let profile = name.trim_start_matches("NVIDIA ").trim_start_matches("GRID ");
    Some(match !is_board && asks_for(context, profile) {
        true => check.expected(name).pass_with(NEEDS),
        false => check.warn(Action::None, NEEDS),
    })
}

/// Whether what is written in the spec as the target's GPU names this: the lock's own lines name boards.
fn asks_for(context: &CheckContext<'_>, what: &str) -> bool {
    let written = context.lock.inputs.get(&format!("target.{}.gpu", context.name));
    !what.is_empty() && written.is_some_and(|written| written.contains(what))
}

/// A process that computed was admitted, whoever else is there: so it is with MPS.
fn compute_mode(context: &CheckContext<'_>, seen: &Seen<'_>, gpu: &Gpu, mode: &str) -> Check {
    let check = Check::new("gpu-compute-mode").of(&seen.label).expected("default").found(mode);
    let reset = format!("set it back: `nvidia-smi -i {} -c DEFAULT`", gpu.index);
    let ran = |kernel: &Kernel| {
        seen.cuda.is_some_and(|device| device.ordinal == kernel.device) && kernel.outcome != Outcome::Failed
    };
    let admitted = context.record.kernels.iter().any(ran)
        || context.variable("CUDA_MPS_PIPE_DIRECTORY").is_some() && context.cuda_answers();
    match (mode, gpu.processes.unwrap_or(0)) {
        ("default", _) => check.pass(),
        ("prohibited", _) => check.fail(Action::AskAdmin, format!("no process may compute on it: {reset}")),
        (_, 0) => check.warn(Action::None, "one process at a time may compute on it"),
        (_, users) => {
            let check = check.found(format!("{mode}, in use by {users}"));
            match admitted {
                true => check
                    .expected("a mode that admits this process")
                    .pass_with("this process computes on it all the same, as through MPS"),
                false => check.fail(
                    Action::AskAdmin,
                    format!("another process holds the GPU alone: end it, share through MPS, or {reset}"),
                ),
            }
        }
    }
}

/// Whether its mode lets no other process compute on it.
fn is_shut(gpu: &Gpu) -> bool {
    match gpu.compute_mode.as_deref() {
        None | Some("default") => false,
        Some("prohibited") => true,
        Some(_) => gpu.processes.unwrap_or(0) > 0,
    }
}

/// Whether a process gets another GPU that the lock means: then this one is left alone.
fn has_other(context: &CheckContext<'_>, gpu: &Gpu) -> bool {
    let takes = |other: &Gpu| {
        other.index != gpu.index
            && other.fault.is_none()
            && other.recovery.is_none()
            && !is_empty_mig(context, other)
            && !is_shut(other)
    };
    let is_meant = |seen: &Seen<'_>| seen.named.is_some() || context.target.gpu.is_empty();
    context.gpus().iter().any(|seen| is_meant(seen) && seen.nvml.is_some_and(takes))
}

fn mig(context: &CheckContext<'_>, check: Check, gpu: &Gpu) -> Check {
    let profiles: Vec<&str> = gpu.instances.iter().filter_map(|instance| instance.profile.as_deref()).collect();
    let instances = match (profiles.is_empty(), gpu.instances.len()) {
        (true, 1) => "1 instance".to_string(),
        (true, count) => format!("{count} instances"),
        (false, _) => counted(&profiles),
    };
    if gpu.instances.is_empty() && !is_empty_mig(context, gpu) {
        return check.expected("instances").found("MIG is on").unknown(
            Action::None,
            "whether it has instances was not told: add the whole output of `nvidia-smi`, its box of MIG devices included",
        );
    }
    match gpu.instances.is_empty() {
        true => check.expected("instances").found("MIG is on without instances").fail(
            Action::AskAdmin,
            "nothing can compute on it: create instances (`nvidia-smi mig -cgi … -C`) or turn MIG off",
        ),
        false if asks_for(context, "MIG ") || asks_for(context, "-MIG-") => {
            check.expected("instances").found(instances).pass()
        }
        false => check
            .expected("a whole GPU")
            .found(instances)
            .warn(Action::None, "a process gets one instance: its share of memory and processors, and no peer access"),
    }
}

/// CUDA waits (802) for the registration of a GPU that asks for a fabric. Where it was seen to work it does not, as on a
/// machine without switches.
fn fabric_state(context: &CheckContext<'_>, check: Check, state: &str) -> Check {
    // What torch says counts where nobody asked CUDA itself.
    let torch = context.record.python.as_ref().and_then(|python| python.torch.as_ref()?.available);
    let torch_sees = context.record.libcuda.is_none() && torch == Some(true);
    match state {
        "completed" => check.pass(),
        _ if context.cuda_answers() || torch_sees => {
            check.warn(Action::AskAdmin, "peers beyond this GPU cannot be reached: see nvidia-fabricmanager")
        }
        _ => check.fail(
            Action::AskAdmin,
            "CUDA waits for the fabric: `systemctl start nvidia-fabricmanager`, of the driver's own release",
        ),
    }
}
