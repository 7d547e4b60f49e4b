//! The driver's two libraries: whether they load and what they answer.

use crate::host::{ApiError, BY_SMI, Libcuda};

use super::check::{Action, Check};
use super::context::{CheckContext, KILLED};
use super::{cuda_errors, nvml_errors};

/// Everything that is to be said of them.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    match context.needs_gpu() {
        true => vec![nvml(context), libcuda(context)],
        false => Vec::new(),
    }
}

fn nvml(context: &CheckContext<'_>) -> Check {
    let check = Check::new("nvml").expected("libnvidia-ml responds");
    if context.is_bare() {
        return check.skip("there is no NVIDIA driver");
    }
    if let Some(detail) = context.unfinished("nvml") {
        return unfinished(context, check, ("NVML", "nvml"), detail);
    }
    let Some(nvml) = &context.record.nvml else { return context.untold(check, "nvml") };
    let check = check.evidence(nvml.path.clone());
    // What somebody read off an error message is no answer of NVML's.
    let is_asked = nvml.driver.is_some() || nvml.count.is_some() || !nvml.gpus.is_empty() || nvml.path.is_some();
    match &nvml.fault {
        None if context.is_pasted() && !is_asked => context.untold(check, "nvml"),
        None => check.found(nvml.path.as_deref().unwrap_or("responding")).pass(),
        // The two releases are told apart by a check of their own.
        Some(fault) if fault.code == Some(18) => check.found(cuda_errors::told(fault)).skip("see driver-match"),
        Some(fault) if cuda_errors::is_missing(fault) => missing_nvml(context, check, fault),
        Some(fault) if cuda_errors::is_unloadable(fault) => cuda_errors::unloadable(context, check, fault),
        Some(fault) => nvml_errors::of_library(context, check, fault),
    }
}

fn missing_nvml(context: &CheckContext<'_>, check: Check, fault: &ApiError) -> Check {
    let check = check.found(cuda_errors::told(fault));
    let works =
        context.record.libcuda.as_ref().is_some_and(|libcuda| libcuda.fault.is_none() && !libcuda.devices.is_empty());
    let utility = "start the container with `--gpus all`, or a limit of nvidia.com/gpu, and with `utility` in \
                   NVIDIA_DRIVER_CAPABILITIES";
    match (works, context.in_container()) {
        (true, true) => check.warn(Action::RestartContainer, format!("CUDA works, nvidia-smi does not: {utility}")),
        (true, false) => {
            check.warn(Action::AskAdmin, "CUDA works, nvidia-smi does not: install the driver's libraries again")
        }
        (false, true) => {
            check.fail(Action::RestartContainer, format!("the driver's libraries are not in the container: {utility}"))
        }
        (false, false) => {
            check.fail(Action::AskAdmin, "the driver's libraries are not installed: install the whole driver again")
        }
    }
}

fn libcuda(context: &CheckContext<'_>) -> Check {
    let check = Check::new("libcuda").expected("libcuda responds and finds GPUs");
    if context.is_bare() {
        return check.skip("there is no NVIDIA driver");
    }
    if let Some(check) = alone(context, &check) {
        return check;
    }
    if let Some(detail) = context.unfinished("libcuda") {
        return unfinished(context, check, ("libcuda", "libcuda"), detail);
    }
    let Some(libcuda) = &context.record.libcuda else { return context.untold(check, "libcuda") };
    let check = check.evidence(libcuda.path.clone());
    if libcuda.stub == Some(true) {
        let stub =
            ApiError { at: "libcuda".to_string(), code: Some(34), name: None, message: Some("a stub".to_string()) };
        return cuda_errors::cuda(context, check, &stub);
    }
    match &libcuda.fault {
        Some(fault) if cuda_errors::is_missing(fault) => {
            let check = check.found(cuda_errors::told(fault));
            match context.in_container() {
                true => check.fail(
                    Action::RestartContainer,
                    "start the container with `--gpus all` and with `compute` in NVIDIA_DRIVER_CAPABILITIES",
                ),
                false => check.fail(
                    Action::AskAdmin,
                    "install the driver's compute libraries (libcuda), of the driver's own release",
                ),
            }
        }
        Some(fault) if cuda_errors::is_unloadable(fault) => cuda_errors::unloadable(context, check, fault),
        Some(fault) if fault.at == BY_SMI => without_version(context, check, fault),
        Some(fault) => cuda_errors::cuda(context, check, fault),
        None => answers(context, check, libcuda),
    }
}

/// nvidia-smi asks libcuda for its version alone: where it gets none, that library is not there, or is not the driver's. A
/// process may be given another one, as where a device plugin mounts it.
fn without_version(context: &CheckContext<'_>, check: Check, fault: &ApiError) -> Check {
    let check = check.found(fault.message.clone().unwrap_or_default());
    let torch = context.record.python.as_ref().and_then(|python| python.torch.as_ref()?.available);
    if torch == Some(true) || context.cuda_shows_gpus() {
        return check.pass_with("nvidia-smi finds no libcuda, yet a GPU is found through it");
    }
    let hint = match context.has_windows_driver() {
        true => "nvidia-smi finds no libcuda that works: see whether WSL has Windows' own one, in /usr/lib/wsl/lib",
        false => {
            "nvidia-smi finds no libcuda that works: in a container add `compute` to NVIDIA_DRIVER_CAPABILITIES, on a host \
             install the driver's libcuda; take a toolkit's `stubs` out of LD_LIBRARY_PATH"
        }
    };
    check.unknown(Action::FixEnvironment, hint)
}

/// CUDA that does not start with all GPUs, and does with some of them by themselves.
fn alone(context: &CheckContext<'_>, check: &Check) -> Option<Check> {
    let libcuda = context.record.libcuda.as_ref()?;
    let detail =
        libcuda.fault.as_ref().map(cuda_errors::told).or_else(|| context.unfinished("libcuda").map(str::to_string))?;
    let each: Vec<_> = libcuda.devices.iter().filter(|device| device.visible_as.is_some()).collect();
    let faults: Vec<(u64, &ApiError)> =
        each.iter().filter_map(|device| Some((device.ordinal, device.fault.as_ref()?))).collect();
    if each.is_empty() || faults.len() == each.len() {
        return None;
    }
    let check = check.clone().found(format!("{} of {} GPUs answer alone", each.len() - faults.len(), each.len()));
    let check = check.evidence(Some(detail));
    let (late, sick): (Vec<_>, Vec<_>) = faults.into_iter().partition(|(_, fault)| cuda_errors::is_cut_off(fault));
    let listed =
        |some: &[(u64, &ApiError)]| some.iter().map(|(number, _)| number.to_string()).collect::<Vec<_>>().join(", ");
    if sick.is_empty() && !late.is_empty() {
        let hint =
            format!("whether GPU {} answers is not known: verify again with a longer `--timeout`", listed(&late));
        return Some(check.unknown(Action::None, hint));
    }
    if sick.is_empty() {
        let hint = "CUDA starts on each GPU alone, but not with all of them: look into `dmesg`, then reboot";
        return Some(check.fail(Action::Reboot, hint));
    }
    let because = format!("CUDA does not start because of GPU {}", listed(&sick));
    Some(match sick.iter().all(|(_, fault)| cuda_errors::is_of_hardware(fault)) {
        true => check
            .fail(Action::Drain, format!("{because}: take it out of service, or leave it out of CUDA_VISIBLE_DEVICES")),
        false => check.fail(
            Action::AskAdmin,
            format!("{because}: see gpu-usable, or leave it out of CUDA_VISIBLE_DEVICES until that is mended"),
        ),
    })
}

/// A library that was asked in a child which did not come to its end, whatever it had told until then.
fn unfinished(context: &CheckContext<'_>, check: Check, (library, probe): (&str, &str), detail: &str) -> Check {
    let hint = match (context.killed(probe), context.crashed(probe)) {
        (true, _) => format!("the process that asked {library} {KILLED}"),
        (false, true) => format!(
            "{library} crashed: install the driver's libraries again, all of one release, and look into `dmesg`"
        ),
        (false, false) => format!(
            "{library} did not answer: look into `dmesg`; if the GPUs only start slowly (no persistence mode), verify \
             again with a longer `--timeout`"
        ),
    };
    check.found(detail).unknown(Action::AskAdmin, hint)
}

fn answers(context: &CheckContext<'_>, check: Check, libcuda: &Libcuda) -> Check {
    let path = libcuda.path.as_deref().unwrap_or("responding");
    let check = check.found(path);
    // Into a container its runtime puts the libraries of Windows's driver, wherever the image looks for libraries.
    if context.is_wsl() && !context.in_container() && libcuda.path.as_ref().is_some_and(|path| !path.contains("/wsl/"))
    {
        return check.warn(
            Action::FixEnvironment,
            "this is not the libcuda of Windows's driver: remove NVIDIA driver packages inside WSL",
        );
    }
    check.pass()
}
