//! The kernel's side of the driver: whether it is there, which flavour, whether its device nodes open.

use crate::catalog::rows::ModuleKind;
use crate::host::{Node, Nvml, System, signs, tegra};
use crate::types::constraint::admits;
use crate::types::{Cc, Version};

use super::check::{Action, Check};
use super::context::CheckContext;
use super::cuda_errors;
use super::environment::is_kept_from_job;

/// The name under which a node of Kubernetes notes that it is one.
const NODE: &str = "Kubernetes";

/// Everything that is to be said of it.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    if !context.needs_gpu() {
        return vec![Check::new("driver-present").skip("the target computes on the CPU")];
    }
    vec![present(context), flavour(context), nodes(context)]
}

fn present(context: &CheckContext<'_>) -> Check {
    let wanted = context.wanted_driver();
    let check = Check::new("driver-present").expected(format!("an NVIDIA driver, {wanted}"));
    let module = context.record.module.as_ref();
    let check = check.evidence(module.and_then(|module| module.path.clone()));
    if context.is_bare() {
        return without(context, check, &wanted);
    }
    if is_unclear(context) {
        return check.found("its libraries, which do not work").unknown(
            Action::None,
            "there is a driver, of which only the libraries are to be seen here (gVisor, a sandbox): see nvml and libcuda",
        );
    }
    if module.is_some_and(|module| module.nouveau == Some(true)) && module.is_none_or(|module| module.version.is_none())
    {
        return check
            .found("nouveau")
            .fail(Action::AskAdmin, "nouveau holds the GPU: blacklist it, install NVIDIA's driver and reboot");
    }
    let found = if context.record.pci.is_empty() { "no kernel module" } else { "a GPU, but no kernel module" };
    match (module.and_then(|module| module.version.as_ref()), context.driver()) {
        (Some(version), _) => loaded(context, check.found(format!("kernel module {version}"))),
        (None, Some((version, by))) => {
            let check = check.found(format!("{version}, reported by {by}"));
            match context.record.platform.system {
                _ if context.is_pasted() || context.is_wsl() => check.pass(),
                Some(System::Tegra) => check.pass(),
                // NVML starts with the module only.
                _ if module.is_none() || by == "NVML" || !context.gpus().is_empty() => check.pass_with(
                    "the kernel module's files are hidden here (gVisor, a sandbox); the driver answers all the same",
                ),
                _ => unloaded(check),
            }
        }
        (None, None) if context.is_pasted() => described(context, check),
        (None, None) => match &context.record.libcuda {
            Some(libcuda) if libcuda.cuda.is_some() => check.found("libcuda answers").pass(),
            _ if has_no_library(context) => check.found(found).fail(
                Action::AskAdmin,
                format!("no NVIDIA driver is installed: ask an administrator to install {wanted}"),
            ),
            _ => unloaded(check.found(found)),
        },
    }
}

/// Whether both of the driver's libraries were looked for and are not there.
fn has_no_library(context: &CheckContext<'_>) -> bool {
    let (nvml, libcuda) = (context.record.nvml.as_ref(), context.record.libcuda.as_ref());
    let faults = [nvml.and_then(|nvml| nvml.fault.as_ref()), libcuda.and_then(|libcuda| libcuda.fault.as_ref())];
    faults.iter().all(|fault| fault.is_some_and(cuda_errors::is_missing))
}

/// There is no trace of a driver, or nobody who described the host has named one.
fn without(context: &CheckContext<'_>, check: Check, wanted: &str) -> Check {
    let is_node = context.record.probes.iter().any(|probe| probe.name == NODE);
    match (context.is_pasted(), signs::presence(context.record)) {
        (true, signs::Presence::Absent) => check.found("none").unknown(
            Action::None,
            "this host has no NVIDIA GPU: name a target with `gpu = \"none\"`, or verify on a host that has one",
        ),
        (true, _) if is_node => check.found("not told").unknown(
            Action::None,
            "the node offers no NVIDIA GPU and no label names one: if it has one, run GPU feature discovery or \
             `gpuenv probe` there",
        ),
        (true, _) => check.found("not told").unknown(Action::None, "the pasted text names no NVIDIA driver"),
        (false, _) => check.found("none").unknown(
            Action::AskAdmin,
            format!(
                "this host has no NVIDIA driver: ask an administrator to install {wanted}, or verify on the host that \
                 has the GPU"
            ),
        ),
    }
}

/// Whether libraries that fail are all that is to be seen of a driver: they are there, and it may be hidden.
fn is_unclear(context: &CheckContext<'_>) -> bool {
    let record = context.record;
    let module = record.module.as_ref().is_some_and(|module| module.version.is_some() || module.nouveau == Some(true));
    let answers = record.nvml.as_ref().is_some_and(|nvml| nvml.driver.is_some() || nvml.count.is_some());
    let is_elsewhere = context.is_pasted() || matches!(record.platform.system, Some(System::Wsl | System::Tegra));
    let is_hidden = record.pci.is_empty() || signs::meets_module(record);
    let is_seen = module || answers || !context.gpus().is_empty() || is_elsewhere;
    !is_seen && is_hidden && signs::fails(record)
}

/// A driver whose release no text has named, by what else of it answered.
fn described(context: &CheckContext<'_>, check: Check) -> Check {
    let nvml = context.record.nvml.as_ref();
    let offered = context.offered().map(|(cuda, _)| format!("a driver that supports CUDA {cuda}"));
    match (nvml, offered) {
        _ if !context.gpus().is_empty() => {
            check.found("its release was not told").pass_with("the pasted text lists GPUs that it drives")
        }
        (_, Some(offered)) => check.found(offered).pass(),
        (Some(nvml), _) if nvml.fault.is_some() => check.skip("NVML failed, see nvml"),
        (Some(nvml), _) if nvml.count.is_some() => {
            check.found("its release was not told").pass_with("nvidia-smi responds")
        }
        _ if context.record.platform.os.as_deref().is_some_and(|os| os.starts_with(tegra::PREFIX)) => {
            check.found("that of its JetPack").pass()
        }
        _ => check.found("not told").unknown(Action::None, "what was told names neither a driver nor a GPU"),
    }
}

/// Where CUDA has started it found all modules that it needs: a Jetson's has no nvidia_uvm.
fn loaded(context: &CheckContext<'_>, check: Check) -> Check {
    let is_needed = context.record.platform.system != Some(System::Tegra) && !context.cuda_answers();
    match context.record.module.as_ref().and_then(|module| module.uvm) {
        Some(false) if is_needed => check.warn(
            Action::AskAdmin,
            "the module nvidia_uvm is not loaded: cuInit loads it if it may, else `nvidia-modprobe -c 0 -u` does",
        ),
        _ => check.pass(),
    }
}

fn unloaded(check: Check) -> Check {
    check.fail(
        Action::AskAdmin,
        "the driver's kernel module is not loaded: `modprobe nvidia`; if that fails, see Secure Boot, DKMS and nouveau",
    )
}

/// Some GPUs are driven by one flavour only; with the other the driver does not show them at all.
fn flavour(context: &CheckContext<'_>) -> Check {
    let check = Check::new("driver-flavour");
    let Some(found) = context.record.module.as_ref().and_then(|module| module.flavour.as_deref()) else {
        return check.skip("the flavour of the kernel module is not known");
    };
    let check = check.found(found);
    let locked = context.target.gpu.iter().filter_map(|gpu| Cc::parse(&gpu.compute_capability).ok());
    let present: Vec<Cc> = context.gpus().iter().filter_map(|gpu| gpu.cc).collect();
    // A GPU that answers is driven, whatever is written about it.
    let silent = locked.filter(|cc| !present.contains(cc));
    let is_silent = !context.record.pci.is_empty()
        || context.record.nvml.as_ref().is_some_and(|nvml| nvml.count == Some(0) && nvml.gpus.is_empty());
    let rule = silent.filter_map(|cc| needed(context, cc)).find(|rule| rule.needs.as_str() != found);
    match rule {
        Some(rule) if present.is_empty() && is_silent => {
            check.expected(rule.needs.as_str()).evidence(Some(context.catalog.source_at(&rule.source))).fail(
                Action::AskAdmin,
                format!("{} Install the {} modules of the same driver.", rule.says, rule.needs.as_str()),
            )
        }
        Some(rule) if present.is_empty() && context.is_pasted() => {
            let says = format!("whether it drives the GPU is not known, which needs the {} one", rule.needs.as_str());
            check.expected(rule.needs.as_str()).skip(says)
        }
        _ => check.pass(),
    }
}

fn needed<'a>(context: &CheckContext<'a>, cc: Cc) -> Option<&'a crate::catalog::rows::Module> {
    let version = Version::parse(&cc.to_string()).ok()?;
    let speaks = |row: &&crate::catalog::rows::Module| {
        let cpu = row.cpu.is_none_or(|cpu| cpu.as_str() == context.target.arch);
        row.before.is_none() && cpu && admits(&row.gpus, &version)
    };
    let rows = context.catalog.modules.iter();
    rows.into_iter().find(speaks).filter(|row| row.needs == ModuleKind::Open || row.needs == ModuleKind::Proprietary)
}

/// Device nodes and why they do not open. Each GPU needs one of its own, all need nvidiactl and nvidia-uvm.
fn nodes(context: &CheckContext<'_>) -> Check {
    let check = Check::new("device-nodes").expected("device nodes that open");
    let answers = context.cuda_answers();
    let (others, own): (Vec<&Node>, Vec<&Node>) =
        context.record.nodes.iter().partition(|node| answers && is_kept_from_job(node));
    let shut = own.iter().find_map(|node| Some((node, node.errno.as_deref()?)));
    let Some((node, errno)) = shut else {
        return match (own.is_empty(), others.is_empty()) {
            (true, true) if context.is_wsl() => check.skip("WSL has none"),
            (true, true) => check.skip("none were looked at"),
            (_, true) => check.found(format!("{} open", own.len())).pass(),
            _ => check
                .found(format!("{} open, {} closed", own.len(), others.len()))
                .pass_with("CUDA answers: the closed ones are those of GPUs that this process was not given"),
        };
    };
    let check = check.found(format!("{}: {errno}", node.path)).evidence(Some(node.path.clone()));
    if context.is_bare() {
        return check.skip("there is no NVIDIA driver");
    }
    match errno {
        // Sandboxes keep nodes from sight that a process reaches all the same.
        "ENOENT" if answers => check.warn(Action::None, "it does not exist, yet CUDA starts and shows GPUs"),
        "ENOENT" if hidden(context, &own) => {
            check.warn(Action::None, "it does not exist, yet the driver's libraries reach one: a sandbox keeps it from sight")
        }
        "ENOENT" if is_unclear(context) => check.skip("it does not exist, or a sandbox hides it: see driver-present"),
        "EACCES" => check.fail(Action::FixEnvironment, "this user may not open it: see its group and permissions"),
        "EPERM" if context.in_container() => check.fail(
            Action::RestartContainer,
            "the container has lost the right to open it, as happens after `systemctl daemon-reload`: start it again; CDI, \
             or `nvidia-ctk system create-dev-char-symlinks`, prevents it",
        ),
        "EPERM" => check.fail(Action::AskAdmin, "a device cgroup forbids it: have the job given the GPU"),
        "ENOENT" if node.path.ends_with("nvidia-uvm") && context.in_container() => {
            check.fail(Action::RestartContainer, "start the container again with this device in it")
        }
        "ENOENT" if node.path.ends_with("nvidia-uvm") => {
            check.fail(Action::AskAdmin, "create it: `nvidia-modprobe -c 0 -u`")
        }
        "ENOENT" => check.fail(
            context.restart(Action::AskAdmin),
            "it does not exist: `nvidia-modprobe` creates it on a host, `--gpus all` gives it to a container",
        ),
        _ => check.fail(Action::AskAdmin, format!("it cannot be opened: {}", cuda_errors::told(&fault(node.path.clone(), errno)))),
    }
}

/// Whether nodes are only kept from sight: NVML shows GPUs through one that is not there, or the driver keeps it waiting.
fn hidden(context: &CheckContext<'_>, nodes: &[&Node]) -> bool {
    let is_gone = |node: &&Node| node.path == "/dev/nvidiactl" && node.errno.as_deref() == Some("ENOENT");
    let shows = |nvml: &Nvml| nvml.fault.is_none() && !nvml.gpus.is_empty();
    let is_there = context.record.nvml.as_ref().is_some_and(shows) || signs::keeps_waiting(context.record);
    nodes.iter().any(is_gone) && is_there && !context.is_pasted()
}

fn fault(at: String, errno: &str) -> crate::host::ApiError {
    crate::host::ApiError { at, code: None, name: Some(errno.to_string()), message: None }
}
