//! What the error numbers of NVML mean for a host, and what to do about each. NVML manages, CUDA computes: where CUDA
//! computes all the same, NVML is what fails, and no GPU.

use crate::host::{ApiError, Gpu, OF_A_HANDLE};

use super::check::{Action, Check, Status};
use super::context::CheckContext;
use super::cuda_errors::told;

/// The numbers by which the driver says that a GPU is lost, or waits for a reset.
const UNUSABLE: &[i64] = &[15, 16];

/// NVML_ERROR_UNKNOWN
const UNKNOWN: i64 = 999;

/// Ends a check of the library by an error of NVML. It manages, and computing does not need it.
pub fn of_library(context: &CheckContext<'_>, check: Check, fault: &ApiError) -> Check {
    let ended = nvml(context, check, fault);
    let tells_nothing = context.record.nvml.as_ref().is_none_or(|nvml| nvml.gpus.is_empty());
    if !matches!(ended.status, Status::Fail | Status::Unknown) || !tells_nothing || !context.cuda_answers() {
        return ended;
    }
    let hint = format!("CUDA works, NVML and nvidia-smi do not: {}", ended.hint.as_deref().unwrap_or_default());
    ended.warn(context.restart(Action::AskAdmin), hint)
}

/// Ends a check of one GPU by an error of NVML, which answers for others. Where CUDA computes right on it, NVML may be
/// what fails, unless it says what the GPU needs.
pub fn of_gpu(context: &CheckContext<'_>, check: Check, gpu: &Gpu, fault: &ApiError) -> Check {
    let check = check.expected("a GPU that answers");
    let is_needed = fault.code.is_some_and(|code| UNUSABLE.contains(&code));
    let ended = match fault.code {
        Some(UNKNOWN) | None if !context.in_container() => check.found(told(fault)).unknown(
            Action::Reboot,
            "the driver cannot ask this GPU: look into `dmesg` for Xid, then `nvidia-smi --gpu-reset`, or reboot",
        ),
        _ => nvml(context, check, fault),
    };
    let mut same = context.gpus().iter().filter(|seen| seen.nvml.is_some_and(|nvml| nvml.index == gpu.index));
    if ended.status != Status::Fail || is_needed || !same.any(|seen| context.computes(seen)) {
        return ended;
    }
    let hint =
        format!("CUDA computes right on this GPU, NVML cannot ask it: {}", ended.hint.as_deref().unwrap_or_default());
    ended.unknown(context.restart(Action::AskAdmin), hint)
}

fn nvml(context: &CheckContext<'_>, check: Check, fault: &ApiError) -> Check {
    let check = check.found(told(fault));
    let in_container = context.in_container();
    let lost = "the container has lost its GPU, as happens after `systemctl daemon-reload`: start it again; CDI, or \
                `nvidia-ctk system create-dev-char-symlinks`, prevents it";
    match fault.code {
        Some(1 | 2 | 5 | 7) => check.fail(
            Action::AskAdmin,
            "NVML refuses a call that is right elsewhere: install the driver's libraries again, all of one release",
        ),
        Some(3) => check.skip("NVML does not offer it on this kind of GPU"),
        Some(4) => check.fail(Action::FixEnvironment, "this user may not open /dev/nvidiactl: see its group and permissions"),
        Some(9) => check.fail(
            Action::AskAdmin,
            "the driver's kernel module is not loaded: `modprobe nvidia`; if that fails, see Secure Boot, DKMS and nouveau",
        ),
        Some(8) => check.fail(Action::Drain, "the GPU lacks power: see its power cables and the machine's supply"),
        Some(10) => check.unknown(Action::AskAdmin, "the driver did not answer in time: look into `dmesg`, then verify again"),
        Some(11) => check.fail(Action::Reboot, "the kernel has trouble with the GPU's interrupts: look into `dmesg`, then reboot"),
        Some(25 | 26) => check.skip("NVML knows another version of this function"),
        Some(12 | 13) => check.skip("this driver is older than the function that was asked"),
        Some(14) => check.warn(Action::Drain, "the card's InfoROM is damaged: it computes, but have it checked"),
        Some(15) => check.fail(Action::Drain, "the GPU fell off the bus: drain the machine and power it off and on"),
        Some(16) => check.fail(Action::Reboot, "the GPU waits for a reset: `nvidia-smi --gpu-reset`, or reboot"),
        Some(17) if in_container => check.fail(Action::RestartContainer, lost),
        Some(17) if context.is_wsl() => check.fail(
            Action::AskAdmin,
            "Windows keeps the GPU from WSL: install Windows' NVIDIA driver again, then `wsl --update` and `wsl --shutdown`",
        ),
        Some(17) => check.fail(Action::AskAdmin, "the system refuses the device: see cgroups, and what a sandbox forbids"),
        Some(18) => check.fail(context.restart(Action::Reboot), mismatch(context)),
        Some(19) => check.unknown(Action::None, "another process holds the GPU for a change of its state: verify again when it has ended"),
        Some(6 | 28) => check.fail(
            Action::AskAdmin,
            "NVML does not find the GPU, which was there a moment ago: look into `dmesg` for Xid",
        ),
        Some(21) => check.skip("NVML has nothing to tell of it"),
        Some(22 | 24 | 30) => check.skip("this kind of GPU does not offer it"),
        Some(27) => check.unknown(Action::None, "the GPU is not ready yet, as shortly after a reset: verify again"),
        Some(29) => check.unknown(
            Action::AskAdmin,
            "the driver is in a state that does not admit the call, as while it is installed or unloaded: verify again",
        ),
        Some(20 | 23) => check.unknown(Action::None, "NVML ran out of memory or resources: verify again when the machine is less busy"),
        // NVML has started, and lists a GPU that it cannot reach.
        Some(UNKNOWN) if fault.at == OF_A_HANDLE => check.fail(
            Action::Drain,
            "the driver has lost contact with a GPU: drain the machine, power it off and on, and look into `dmesg` for Xid",
        ),
        Some(UNKNOWN) if in_container => check.fail(Action::RestartContainer, lost),
        // Most who paste this stand in a container and do not say so.
        Some(UNKNOWN) if context.is_pasted() => check.unknown(
            Action::RestartContainer,
            format!("in a container: {lost}; else look into `dmesg`"),
        ),
        _ => check.unknown(Action::AskAdmin, "NVML could not be asked: look into `dmesg`"),
    }
}

/// What to do where kernel and libraries are of two releases.
pub fn mismatch(context: &CheckContext<'_>) -> &'static str {
    match context.in_container() {
        true => "the driver was upgraded below the running container: start the container again",
        false => "the driver was upgraded and its old module still runs: reboot, or unload and load the nvidia modules",
    }
}
