//! The GPUs: which a process sees, whether the lock holds code for each, which are hidden and why, and their state.

use crate::catalog::Catalog;
use crate::coverage::{Coverage, covers};
use crate::host::{ApiError, Gpu};
use crate::lock::GpuLock;
use crate::types::Cc;

use super::check::{Action, Check};
use super::context::{CheckContext, Seen, address, is_product};
use super::{cuda_errors, environment};

/// More than this of its memory in use is worth a word.
const FULL_PERCENT: u64 = 90;

/// Everything that is to be said of them.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    if !context.needs_gpu() {
        return Vec::new();
    }
    let gpus = context.gpus();
    let mut checks = vec![present(context, &gpus)];
    checks.extend(hidden(context, &gpus));
    for gpu in &gpus {
        checks.push(supported(context, gpu));
        checks.extend(gpu.cuda.and_then(|device| device.fault.as_ref()).map(|fault| {
            cuda_errors::cuda(context, Check::new("gpu-usable").of(&gpu.label).expected("a device that answers"), fault)
        }));
        checks.extend(gpu.nvml.into_iter().flat_map(|nvml| state(context, &gpu.label, nvml)));
    }
    // A GPU that fell off the bus is in no list of CUDA's, but NVML has something to say of it.
    for gpu in context.record.nvml.iter().flat_map(|nvml| &nvml.gpus) {
        let is_told = gpus.iter().any(|seen| seen.nvml.is_some_and(|nvml| nvml.index == gpu.index));
        if let (false, Some(fault)) = (is_told, &gpu.fault) {
            checks.push(health(context, &label(gpu), fault));
        }
    }
    checks
}

fn label(gpu: &Gpu) -> String {
    format!("{}: {}", gpu.index, gpu.name.as_deref().unwrap_or("GPU"))
}

fn present(context: &CheckContext<'_>, gpus: &[Seen<'_>]) -> Check {
    let wanted: Vec<&str> = context.target.gpu.iter().map(|gpu| gpu.name.as_str()).collect();
    let wanted = if wanted.is_empty() { "a GPU".to_string() } else { wanted.join(" or ") };
    let check = Check::new("gpu-present").expected(wanted);
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
        return check.found(counted(&names)).pass();
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
    let check = check.found("none");
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
        None if !context.was_made("libcuda") => check.unknown(Action::None, "nobody could ask libcuda: see the probes"),
        _ => check.fail(context.restart(Action::AskAdmin), why_none(context)),
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
        _ if context.is_bare() => {
            check.found("not told").unknown(Action::None, format!("the text names neither a GPU nor a driver: {add}"))
        }
        _ => check.found("not told").unknown(Action::None, format!("the text names a driver, but no GPU: {add}")),
    }
}

/// Why the driver shows no GPU: one that it no longer drives, one that something else holds, or none at all.
fn why_none(context: &CheckContext<'_>) -> String {
    let branch = context.driver().map(|(driver, _)| driver.major());
    let last = |gpu: &GpuLock| {
        let crate::catalog::GpuMatch::Found(rows) = context.catalog.gpu(&gpu.name) else { return None };
        rows.iter().find_map(|row| row.last_branch)
    };
    for gpu in &context.target.gpu {
        if let (Some(last), Some(branch)) = (last(gpu), branch)
            && branch > last.major()
        {
            return format!(
                "{} is driven by branch {last} and older only, and this is {branch}: install branch {last}",
                gpu.name
            );
        }
    }
    if let Some((gpu, driver)) = context
        .record
        .pci
        .iter()
        .find_map(|gpu| Some((gpu, gpu.driver.as_deref().filter(|&driver| driver != "nvidia")?)))
    {
        return format!("the GPU at {} is bound to {driver}: bind it to nvidia", gpu.address);
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
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match kinds.iter_mut().find(|(kind, _)| kind == name) {
            Some((_, count)) => *count += 1,
            None => kinds.push((name, 1)),
        }
    }
    let one = |(name, count): &(&str, usize)| if *count > 1 { format!("{count} x {name}") } else { name.to_string() };
    kinds.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Whether the lock holds code for a GPU.
fn supported(context: &CheckContext<'_>, gpu: &Seen<'_>) -> Check {
    let check = Check::new("gpu-supported").of(&gpu.label);
    let list = context.arch_list();
    let check = check.expected(match (&list, context.target.gpu.as_slice()) {
        (_, []) => list.as_ref().map_or("a GPU".to_string(), |list| format!("a GPU that {} covers", list.torch())),
        (_, locked) => locked.iter().map(|gpu| gpu.name.as_str()).collect::<Vec<_>>().join(" or "),
    });
    let Some(cc) = gpu.cc else {
        return check.unknown(Action::None, "its compute capability is not known");
    };
    let check = check.found(format!("{} ({cc})", gpu.name.unwrap_or("GPU")));
    let named = context.target.gpu.iter().find(|locked| names(context.catalog, locked, gpu, cc));
    if let Some(named) = named {
        if Cc::parse(&named.compute_capability).is_ok_and(|locked| locked != cc) {
            let hint = format!(
                "the lock holds {} as {}; the driver says {cc}: see what stands between",
                named.name, named.compute_capability
            );
            return check.fail(Action::AskAdmin, hint);
        }
        return check.pass();
    }
    let Some(list) = list else {
        return check.warn(
            Action::ChangeLock,
            "the lock does not name this GPU, nor the code that it holds: name it in gpuenv.toml and lock again",
        );
    };
    let relock = "name it in gpuenv.toml and lock again to be sure";
    match covers(&list, cc, context.tegra()) {
        Coverage::Native => check.warn(
            Action::None,
            format!("the lock does not name this GPU, but its code ({}) runs on it: {relock}", list.torch()),
        ),
        Coverage::Jit => check.warn(
            Action::ChangeLock,
            format!(
                "the lock does not name this GPU, and its driver would have to compile the lock's PTX for it: {relock}"
            ),
        ),
        Coverage::None => check.fail(
            Action::ChangeLock,
            format!(
                "no code for sm_{} in the lock ({}): name this GPU in gpuenv.toml and lock again",
                cc.number(),
                list.torch()
            ),
        ),
    }
}

/// Whether a lock's line means this GPU: by its product's name, or by its capability where it names no product.
fn names(catalog: &Catalog, locked: &GpuLock, gpu: &Seen<'_>, cc: Cc) -> bool {
    match Cc::parse(&locked.name.to_lowercase()) {
        Ok(bare) => bare == cc,
        Err(_) => gpu.name.is_some_and(|name| is_product(catalog, &locked.name, name)),
    }
}

/// GPUs that are there and that a process does not see, each with the reason.
fn hidden(context: &CheckContext<'_>, gpus: &[Seen<'_>]) -> Vec<Check> {
    let record = context.record;
    let nvml = record.nvml.as_ref();
    let listed = nvml.map_or(&[][..], |nvml| &nvml.gpus);
    let mut checks = Vec::new();
    let is_seen = |gpu: &Gpu| gpus.iter().any(|seen| seen.nvml.is_some_and(|nvml| nvml.index == gpu.index));
    let asked = record.libcuda.as_ref().is_some_and(|libcuda| libcuda.fault.is_none()) && !context.is_pasted();
    for gpu in listed.iter().filter(|gpu| asked && !is_seen(gpu) && gpu.fault.is_none()) {
        let check = Check::new("gpu-hidden")
            .of(&label(gpu))
            .expected("every GPU visible to CUDA")
            .found("NVML shows it, CUDA does not");
        checks.push(match context.variable("CUDA_VISIBLE_DEVICES") {
            Some(value) => check.warn(Action::None, format!("CUDA_VISIBLE_DEVICES is `{value}`")),
            None if gpu.mig == Some(true) && !gpu.instances.is_empty() => {
                check.warn(Action::None, "its MIG mode is on, and CUDA takes one instance at a time")
            }
            None if gpu.mig == Some(true) => check.warn(Action::AskAdmin, "its MIG mode is on without instances"),
            None => check.warn(Action::None, "something hides it: its compute mode, MIG, or the container's devices"),
        });
    }
    for gpu in &record.pci {
        let shown = listed.iter().any(|known| known.pci.as_deref().map(address) == Some(address(&gpu.address)))
            || gpus.iter().any(|seen| {
                seen.cuda.and_then(|device| device.pci.as_deref()).map(address) == Some(address(&gpu.address))
            });
        let told = nvml.is_some_and(|nvml| nvml.fault.is_none()) && listed.iter().all(|known| known.pci.is_some());
        if shown || !told {
            continue;
        }
        let check = Check::new("gpu-hidden").of(&gpu.address).expected("every GPU driven by nvidia");
        checks.push(match gpu.driver.as_deref() {
            Some("nvidia") => check.found("bound to nvidia, not shown").warn(
                Action::None,
                "the driver holds it, but does not show it here: it was not given to this container, or the driver does not support it",
            ),
            Some(other) => check.found(format!("bound to {other}")).warn(Action::None, "another driver holds it"),
            None => check.found("bound to no driver").warn(Action::AskAdmin, "the driver did not take it: see `dmesg`"),
        });
    }
    checks
}

/// What NVML says of a GPU's state.
fn state(context: &CheckContext<'_>, label: &str, gpu: &Gpu) -> Vec<Check> {
    let mut checks = Vec::new();
    let new = |id| Check::new(id).of(label);
    checks.extend(gpu.fault.as_ref().map(|fault| health(context, label, fault)));
    if let Some(mode) = gpu.compute_mode.as_deref() {
        let check = new("gpu-compute-mode").expected("default").found(mode);
        let reset = format!("set it back: `nvidia-smi -i {} -c DEFAULT`", gpu.index);
        checks.push(match (mode, gpu.processes.unwrap_or(0)) {
            ("default", _) => check.pass(),
            ("prohibited", _) => check.fail(Action::AskAdmin, format!("no process may compute on it: {reset}")),
            (_, 0) => check.warn(Action::None, "one process at a time may compute on it"),
            (_, users) => check.found(format!("{mode}, in use by {users}")).fail(
                Action::AskAdmin,
                format!("another process holds the GPU alone: end it, share through MPS, or {reset}"),
            ),
        });
    }
    if gpu.mig == Some(true) {
        checks.push(mig(new("gpu-mig"), gpu));
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
    if let Some(kind) = gpu.virtualization.as_deref().filter(|&kind| kind != "none" && kind != "pass-through") {
        checks.push(new("gpu-virtual").expected("a whole GPU").found(kind).warn(
            Action::None,
            "a virtual GPU: it needs a licence, a profile with CUDA, and a guest driver that suits the hypervisor's",
        ));
    }
    checks.extend(memory(new("gpu-memory"), gpu));
    if gpu.persistence == Some(false) {
        let check = new("gpu-persistence").expected("on").found("off");
        checks.push(check.pass_with("the driver is loaded anew for each first client, which costs a second or more"));
    }
    checks
}

fn mig(check: Check, gpu: &Gpu) -> Check {
    let profiles: Vec<&str> = gpu.instances.iter().filter_map(|instance| instance.profile.as_deref()).collect();
    match gpu.instances.is_empty() {
        true => check.expected("instances").found("MIG is on without instances").fail(
            Action::AskAdmin,
            "nothing can compute on it: create instances (`nvidia-smi mig -cgi … -C`) or turn MIG off",
        ),
        false => check
            .expected("a whole GPU")
            .found(counted(&profiles))
            .warn(Action::None, "a process gets one instance: its share of memory and processors, and no peer access"),
    }
}

/// Registration with the fabric matters where CUDA waits for it; a machine without switches computes without.
fn fabric_state(context: &CheckContext<'_>, check: Check, state: &str) -> Check {
    let waits = context
        .record
        .libcuda
        .as_ref()
        .and_then(|libcuda| libcuda.fault.as_ref())
        .is_some_and(|fault| fault.code == Some(802));
    match state {
        "completed" => check.pass(),
        _ if waits => check.fail(
            Action::AskAdmin,
            "CUDA waits for the fabric: `systemctl start nvidia-fabricmanager`, of the driver's own release",
        ),
        _ => check.warn(Action::AskAdmin, "peers beyond this GPU cannot be reached: see nvidia-fabricmanager"),
    }
}

fn memory(check: Check, gpu: &Gpu) -> Option<Check> {
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

fn health(context: &CheckContext<'_>, label: &str, fault: &ApiError) -> Check {
    cuda_errors::nvml(context, Check::new("gpu-health").of(label).expected("a GPU that answers"), fault)
}
