//! What the error numbers of CUDA mean for a host, and what to do about each.
//!
//! The numbers are those of cuda.h, which never change their meaning. What is not in the tables here is no answer to a
//! right call.

use crate::host::{ApiError, Outcome, curesult};

use super::check::{Action, Check, Status};
use super::context::{CheckContext, KILL, KILLED};
use super::seen::Seen;
use super::{environment, hidden, memory, shown};

/// What a number means here.
struct Meaning {
    status: Status,
    action: Action,
    hint: String,
}

impl Meaning {
    fn fail(action: Action, hint: impl Into<String>) -> Self {
        Meaning { status: Status::Fail, action, hint: hint.into() }
    }
}

/// A fault as people look it up: `cuInit: CUDA_ERROR_NO_DEVICE (100)`.
pub fn told(fault: &ApiError) -> String {
    let number = fault.code.map(|code| code.to_string());
    let what = match (&fault.name, number) {
        (Some(name), Some(number)) => format!("{name} ({number})"),
        (Some(name), None) => name.clone(),
        (None, Some(number)) => format!("error {number}"),
        (None, None) => "failed".to_string(),
    };
    let message = fault.message.as_ref().map_or(String::new(), |message| format!(", {message}"));
    format!("{}: {what}{message}", fault.at)
}

/// Whether a library file was not to be found.
pub fn is_missing(fault: &ApiError) -> bool {
    let is_named = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains("ENOENT"));
    let nowhere = fault.message.as_ref().is_some_and(|text| text.ends_with("not found"));
    fault.at.contains("dlopen") && (fault.code == Some(2) || is_named(&fault.name) || nowhere)
}

/// Whether a library file is there and cannot be loaded.
pub fn is_unloadable(fault: &ApiError) -> bool {
    fault.at.contains("dlopen") && !is_missing(fault)
}

/// Ends a check by what the loader says of a file that is there: another library that it needs is missing, or it is
/// no library for this machine.
pub fn unloadable(context: &CheckContext<'_>, check: Check, fault: &ApiError) -> Check {
    let words = fault.message.as_deref().unwrap_or_default();
    let check = check.found(told(fault));
    if words.contains("ELF class") || words.contains("ELF header") || words.contains("file too short") {
        return check.fail(
            Action::FixEnvironment,
            "the file is not a library for this machine (32 bits, another processor or damaged): take its folder out of the \
             search path, or install the driver's libraries again",
        );
    }
    if let Some((needed, _)) = words.split_once(": cannot open shared object file") {
        let needed = needed.rsplit(['/', ' ']).next().unwrap_or(needed);
        return check.fail(
            context.restart(Action::AskAdmin),
            format!("it needs {needed}, which is not here: install the driver's libraries again, all of one release"),
        );
    }
    check.fail(
        context.restart(Action::AskAdmin),
        "the loader refuses the file: install the driver's libraries again, all of one release",
    )
}

/// The name of a fault that is nobody's: the call was ended before it had its full time.
const CUT_OFF: &str = "ECANCELED";

/// Whether a call was ended before it had its full time, so that nothing is known of what it would have answered.
pub fn is_cut_off(fault: &ApiError) -> bool {
    fault.name.as_deref() == Some(CUT_OFF)
}

/// Whether an error says that the GPU itself is at fault: its memory, its links, or that it does not answer.
pub fn is_of_hardware(fault: &ApiError) -> bool {
    matches!(fault.code, Some(214 | 220 | 226)) || fault.name.as_deref() == Some("ETIMEDOUT")
}

/// Ends a check of one GPU on which CUDA does not start where it starts on others: what they share is not at fault.
pub fn alone(context: &CheckContext<'_>, check: Check, gpu: &Seen<'_>, fault: &ApiError) -> Check {
    let of_the_gpu = matches!(fault.code, Some(2 | 46 | 102 | 214 | 220 | 226 | 800 | 801 | 911 | 916));
    let signal = fault.name.as_deref().is_some_and(|name| name.starts_with("SIG"));
    if of_the_gpu || is_cut_off(fault) {
        return on_gpu(context, check, gpu, fault);
    }
    let check = check.found(told(fault));
    if is_of_hardware(fault) {
        let hint =
            "CUDA answers on the other GPUs and not on this one: take it out of service and look into `dmesg` for Xid";
        return check.fail(Action::Drain, hint);
    }
    let hint = "CUDA starts on the other GPUs and not on this one: look into `dmesg` for Xid and reset it (`nvidia-smi \
                --gpu-reset`), or leave it out of CUDA_VISIBLE_DEVICES";
    match signal || fault.name.as_deref() == Some("EPROTO") {
        true => check.unknown(Action::AskAdmin, hint),
        false => check.fail(Action::AskAdmin, hint),
    }
}

/// Ends a check by an error of the CUDA driver API, by what was asked of it when it failed.
pub fn cuda(context: &CheckContext<'_>, check: Check, fault: &ApiError) -> Check {
    let mut gpus = context.record.nvml.iter().flat_map(|nvml| &nvml.gpus).peekable();
    if fault.code == Some(2) && fault.at == "cuInit" && gpus.peek().is_some() && gpus.all(memory::has_room) {
        return without_memory(check.found(told(fault)));
    }
    let meaning = meaning(context, fault);
    check.found(told(fault)).ends(meaning.status, meaning.action, meaning.hint)
}

/// The same of one GPU, whose own state may say more than the number.
pub fn on_gpu(context: &CheckContext<'_>, check: Check, gpu: &Seen<'_>, fault: &ApiError) -> Check {
    let state = gpu.nvml;
    let is_pending = state.is_some_and(|gpu| gpu.remapping_pending == Some(true) && gpu.remapping_failed != Some(true));
    let is_unlicensed = state.is_some_and(|gpu| gpu.licence.as_deref().is_some_and(|licence| licence != "licensed"));
    let check = check.found(told(fault));
    match fault.code {
        Some(214) if is_pending => check.fail(
            Action::Reboot,
            "rows of its memory failed and wait to be replaced: end its jobs, then `nvidia-smi --gpu-reset`, or reboot",
        ),
        // A guest without its licence is told that the device is busy.
        Some(46 | 801) if is_unlicensed => {
            cuda(context, check, &ApiError { code: Some(102), ..fault.clone() }).found(told(fault))
        }
        None if fault.at == CONTEXT && fault.name.as_deref() == Some("ETIMEDOUT") && others_compute(context, gpu) => {
            check.fail(
                Action::Drain,
                "a process comes onto the other GPUs and not onto this one: take it out of service and look into `dmesg` for \
                 Xid",
            )
        }
        Some(2) if starts(&fault.at) && state.is_some_and(memory::has_room) => without_memory(check),
        _ => cuda(context, check, fault),
    }
}

/// Ends a check by CUDA that runs out of memory before it takes any of a GPU, of which there is enough.
fn without_memory(check: Check) -> Check {
    check.fail(
        Action::FixEnvironment,
        "it is not the GPU's memory that is short, but what this process may have: raise its limit (`ulimit -v`; in batch \
         systems what a job asks for, as h_vmem or --mem), or free memory of the host",
    )
}

/// The call by which a process comes onto a GPU.
const CONTEXT: &str = "cuDevicePrimaryCtxRetain";

/// Whether kernels ran right on another GPU, so that what the GPUs share is sound.
fn others_compute(context: &CheckContext<'_>, gpu: &Seen<'_>) -> bool {
    let own = gpu.cuda.map(|device| device.ordinal);
    context.record.kernels.iter().any(|kernel| Some(kernel.device) != own && kernel.outcome == Outcome::Right)
}

fn meaning(context: &CheckContext<'_>, fault: &ApiError) -> Meaning {
    let Some(code) = fault.code else { return no_number(fault) };
    let working = if starts(&fault.at) { None } else { working_meaning(code) };
    working.or_else(|| cuda_meaning(context, &fault.at, code)).unwrap_or_else(|| no_meaning(fault))
}

/// Whether a call belongs to the start of CUDA, where the driver and its surroundings are at fault, and not to code
/// that is loaded and run.
fn starts(at: &str) -> bool {
    !["cuModule", "cuLaunch", "cuMem", "cuCtxSynchronize", "kernels"].iter().any(|call| at.starts_with(call))
}

/// A number that a right call is not answered with, or one of a later CUDA than this program knows.
fn no_meaning(fault: &ApiError) -> Meaning {
    let at = &fault.at;
    let is_known =
        fault.code.and_then(|code| i32::try_from(code).ok()).is_some_and(|code| curesult::name(code).is_some());
    let hint = match is_known {
        true => format!(
            "the driver refuses {at}, a call that is right elsewhere: install the driver's libraries again, all of one \
             release"
        ),
        false => format!(
            "the driver failed in {at} with a number that is newer than this gpuenv: look it up in the cuda.h of the \
             driver's CUDA, and look into `dmesg`"
        ),
    };
    Meaning::fail(Action::AskAdmin, hint)
}

/// A call that gave no number: its process died in it, it never answered, or the library has no such call.
fn no_number(fault: &ApiError) -> Meaning {
    let at = &fault.at;
    let unknown = |hint| Meaning { status: Status::Unknown, action: Action::AskAdmin, hint };
    let computes = ["cuLaunchKernel", "cuCtxSynchronize", "cuMemcpyDtoH_v2"].contains(&at.as_str());
    match fault.name.as_deref() {
        Some("ETIMEDOUT") if computes => Meaning::fail(
            Action::Drain,
            "a kernel that ends elsewhere does not end on this GPU: take it out of service and look into `dmesg` for Xid",
        ),
        Some("ETIMEDOUT") => {
            unknown(format!("the driver did not answer in {at}: look into `dmesg`, then verify again"))
        }
        Some(CUT_OFF) => Meaning {
            action: Action::None,
            ..unknown(format!(
                "the time was up before {at} had its own: verify again with a longer `--timeout`, and without `--quick`"
            ))
        },
        Some("EPROTO") => unknown(format!(
            "the driver's library ended the process in {at}: install the driver's libraries again, all of one release"
        )),
        Some(KILL) => unknown(format!("the process in {at} {KILLED}")),
        Some(signal) if signal.starts_with("SIG") => unknown(format!(
            "the driver's library crashed in {at} ({signal}): install the driver's libraries again, all of one release"
        )),
        _ if fault.message.as_ref().is_some_and(|text| text.contains("undefined symbol")) => Meaning::fail(
            Action::AskAdmin,
            format!("this libcuda has no {at}: it is not a driver's, or older than any that the lock admits"),
        ),
        _ => Meaning::fail(Action::AskAdmin, format!("the driver failed in {at}: look into `dmesg`")),
    }
}

/// What a number means once CUDA has started and code is loaded and run; none: the same as before.
fn working_meaning(code: i64) -> Option<Meaning> {
    let fail = |action, hint: &str| Some(Meaning::fail(action, hint));
    match code {
        500 | 913 => fail(
            Action::AskAdmin,
            "the driver does not find a function in code that it has loaded: install the driver's libraries again, all of \
             one release",
        ),
        701 => fail(
            Action::AskAdmin,
            "the GPU has too few resources for a small kernel: see whether MPS or the vGPU profile limits it",
        ),
        702 => fail(
            Action::Drain,
            "the driver broke a small kernel off because it did not end: take the GPU out of service and look into `dmesg`",
        ),
        999 => fail(
            Action::Reboot,
            "the driver failed while a kernel was run: look into `dmesg` for Xid, then reset the GPU or reboot",
        ),
        _ => None,
    }
}

fn cuda_meaning(context: &CheckContext<'_>, at: &str, code: i64) -> Option<Meaning> {
    let fail = |action, hint: &str| Some(Meaning::fail(action, hint));
    let restart = |action, container: &str, host: &str| match context.in_container() {
        true => Some(Meaning::fail(Action::RestartContainer, container)),
        false => Some(Meaning::fail(action, host)),
    };
    match code {
        35 | 36 => {
            let (action, raise) = context.driver_remedy("lock again for the driver that is here");
            fail(action, &raise)
        }
        100 => Some(no_device(context)),
        101 => Some(invalid_device(context)),
        221 => restart(
            Action::FixEnvironment,
            "the driver's PTX compiler is not in the container: start it again with `compute` in NVIDIA_DRIVER_CAPABILITIES",
            "libnvidia-ptxjitcompiler.so.1 is missing: install the driver's libraries again, all of one release",
        ),
        303 | 500 if context.is_wsl() => Some(inside_wsl()),
        304 => restart(
            Action::AskAdmin,
            "the system refuses the device: start the container again with /dev/nvidia-uvm, or see what its sandbox forbids",
            "the system refuses the device: run `nvidia-modprobe -c 0 -u`, and see what a sandbox forbids",
        ),
        802 | 919 => Some(not_ready(context)),
        909 => Some(Meaning {
            status: Status::Unknown,
            action: Action::AskAdmin,
            hint: format!("the driver did not answer in {at} in time: look into `dmesg`, then verify again"),
        }),
        803 if context.loads_compat() => fail(
            Action::FixEnvironment,
            "the cuda-compat that is loaded does not fit the kernel's driver: take its folder out of LD_LIBRARY_PATH and ld.so.conf.d",
        ),
        // Nothing that is loaded is a cuda-compat: the driver takes its own new libraries for one.
        803 | 804 if code == 803 || context.loads_own_libcuda() => restart(
            Action::Reboot,
            "the libraries were put into the container by another driver than the kernel runs now: start the container again",
            "the kernel runs another release than the libraries: reboot, or reload the driver's modules",
        ),
        3 | 999 => Some(without_reason(context, at, code)),
        _ => ALONE.iter().find(|(codes, ..)| codes.contains(&code)).map(|&(_, status, action, hint)| Meaning {
            status,
            action,
            hint: hint.to_string(),
        }),
    }
}

/// CUDA does not say why it fails: whether NVML works tells where to look.
fn without_reason(context: &CheckContext<'_>, at: &str, code: i64) -> Meaning {
    const RELOAD: &str = "reload the module nvidia_uvm (`modprobe -r nvidia_uvm && modprobe nvidia_uvm`), else reboot";
    let nvml_fails = context.record.nvml.as_ref().is_some_and(|nvml| nvml.fault.is_some());
    let (action, container, host) = match (code, nvml_fails) {
        (3, _) => (
            Action::AskAdmin,
            "CUDA could not be started and does not say why: start the container again with all device nodes, \
             /dev/nvidia-uvm among them"
                .to_string(),
            format!("CUDA could not be started and does not say why: look into `dmesg`, then {RELOAD}"),
        ),
        (_, true) => (
            Action::Reboot,
            format!("{at} fails, and NVML does too: see nvml, then start the container again"),
            format!("{at} fails, and NVML does too: see nvml, look into `dmesg` for Xid, then reboot"),
        ),
        (_, false) => (
            Action::Reboot,
            format!("{at} fails where NVML works: start the container again with /dev/nvidia-uvm in it"),
            format!("{at} fails where NVML may work: {RELOAD}"),
        ),
    };
    match context.in_container() {
        true => Meaning::fail(Action::RestartContainer, container),
        false => Meaning::fail(action, host),
    }
}

/// Numbers whose remedy is the same on every host.
#[rustfmt::skip]
const ALONE: &[(&[i64], Status, Action, &str)] = &[
    (&[2], Status::Unknown, Action::None,
     "the GPU's memory is full, which says nothing of versions: see with nvidia-smi who uses it, then verify again"),
    (&[4], Status::Unknown, Action::None,
     "CUDA was shutting down in the process that asked it, as where MPS or the driver ends: verify again"),
    (&[34], Status::Fail, Action::FixEnvironment,
     "take the stubs folder out of LD_LIBRARY_PATH and ld.so.conf: it serves linking only"),
    (&[46, 216], Status::Fail, Action::FixEnvironment,
     "another process holds the GPU alone: end it, share through MPS, or set its compute mode back with `nvidia-smi -c 0`"),
    (&[102], Status::Fail, Action::AskAdmin,
     "the virtual GPU has no licence: see the licence server in gridd.conf"),
    (&[200, 218, 225, 812], Status::Fail, Action::FixEnvironment,
     "the driver refuses the code as malformed: use compiler, libraries and driver of one CUDA release"),
    (&[209], Status::Fail, Action::ChangeLock,
     "the code holds nothing for this GPU: name the GPU in gpuenv.toml and lock again, so that its architecture is built for"),
    (&[214, 220, 226], Status::Fail, Action::Drain,
     "the GPU reports errors of its memory or links: take it out of service and have it checked"),
    (&[222], Status::Fail, Action::ChangeLock,
     "the driver does not know the PTX version of this toolkit: raise the driver, or build machine code for this GPU"),
    (&[223], Status::Warn, Action::FixEnvironment,
     "CUDA_DISABLE_PTX_JIT forbids the driver to compile: unset it where PTX is to run"),
    (&[300, 301, 302, 500], Status::Fail, Action::AskAdmin,
     "the driver lacks a file or symbol of its own: install the driver's libraries again, all of one release"),
    (&[303], Status::Fail, Action::FixEnvironment,
     "a library of the driver could not be initialised: install the driver's libraries again, all of one release"),
    (&[700, 710, 714, 715, 716, 717, 718, 719, 721], Status::Fail, Action::Drain,
     "a kernel that is right elsewhere was broken off here: take the GPU out of service and look into `dmesg` for Xid"),
    (&[800], Status::Fail, Action::AskAdmin,
     "the system does not permit it: counters and virtual GPUs are released by the administrator"),
    (&[801], Status::Fail, Action::AskAdmin,
     "this GPU, or the profile of its virtual GPU, does not offer CUDA: have it given another profile"),
    (&[804], Status::Fail, Action::FixEnvironment,
     "cuda-compat works on data-centre GPUs only: take its folder out of LD_LIBRARY_PATH and ld.so.conf.d, and raise \
      the driver instead"),
    (&[805, 806, 807, 810], Status::Fail, Action::FixEnvironment,
     "the MPS daemon does not answer: start nvidia-cuda-mps-control, or unset CUDA_MPS_PIPE_DIRECTORY"),
    (&[224], Status::Fail, Action::FixEnvironment,
     "MPS gives this process a share that the GPU does not offer: unset CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"),
    (&[811], Status::Fail, Action::FixEnvironment,
     "MPS does not run code that launches kernels by itself: verify without CUDA_MPS_PIPE_DIRECTORY"),
    (&[911], Status::Unknown, Action::AskAdmin,
     "a device outside of CUDA that the GPU waited for reported an error, and the GPU none: look into `dmesg`, then verify \
      again"),
    (&[916], Status::Unknown, Action::AskAdmin,
     "confidential computing changed its keys and failed in it: verify again, and start the virtual machine again if it stays"),
    (&[808, 809], Status::Fail, Action::FixEnvironment,
     "MPS serves as many clients as it can: end some, or verify again when fewer run"),
];

/// Linux's own driver packages inside WSL hide the ones of Windows.
fn inside_wsl() -> Meaning {
    Meaning::fail(
        Action::FixEnvironment,
        "remove NVIDIA driver packages inside WSL, so that the libcuda of /usr/lib/wsl/lib is loaded, and update the driver of Windows",
    )
}

/// cuInit sees no GPU: a variable hides them, or they are not there.
fn no_device(context: &CheckContext<'_>) -> Meaning {
    let hides = environment::hides_from_cuda(context).or_else(|| environment::hides_every_gpu(context));
    if let Some(hides) = hides {
        return Meaning::fail(hides.action, hides.hint());
    }
    if let Some(node) = context.record.nodes.iter().find(|node| node.errno.as_deref() == Some("EACCES")) {
        let hint = format!("this user may not open {}: see device-nodes", node.path);
        return Meaning::fail(Action::FixEnvironment, hint);
    }
    if let Some((action, hint)) = shown::unshown(context).filter(|_| context.in_container() || !context.is_wsl()) {
        return Meaning::fail(action, hint);
    }
    if let Some(held) = hidden::held_elsewhere(context) {
        return Meaning::fail(Action::AskAdmin, held);
    }
    if context.in_container() {
        let hint = "no GPU was given to the container: start it again with `--gpus all`, or a limit of nvidia.com/gpu";
        return Meaning::fail(Action::RestartContainer, hint);
    }
    if context.is_wsl() {
        return inside_wsl();
    }
    let hint = "the driver drives no GPU: see whether one is in the machine, is supported by this branch and has its /dev/nvidia*";
    Meaning::fail(Action::AskAdmin, hint)
}

/// A device that was named and that there is not: by the variable, as an instance of MIG, or by the driver itself.
fn invalid_device(context: &CheckContext<'_>) -> Meaning {
    let gpus = context.record.nvml.iter().flat_map(|nvml| &nvml.gpus);
    if gpus.clone().any(|gpu| shown::is_empty_mig(context, gpu)) {
        return Meaning::fail(
            Action::AskAdmin,
            "MIG is on without instances: create instances (`nvidia-smi mig -cgi … -C`) or turn MIG off",
        );
    }
    if let Some(hint) = environment::misnames(context) {
        return Meaning::fail(Action::FixEnvironment, hint);
    }
    Meaning::fail(
        Action::AskAdmin,
        "neither MIG nor CUDA_VISIBLE_DEVICES explains it, the driver counts a GPU that it does not give out: look into `dmesg` for Xid, then `nvidia-smi --gpu-reset`, or reboot",
    )
}

/// Fabric or confidential computing keep the GPUs back.
fn not_ready(context: &CheckContext<'_>) -> Meaning {
    let gpus = context.record.nvml.iter().flat_map(|nvml| &nvml.gpus);
    let hint = match gpus.clone().any(|gpu| gpu.confidential_ready == Some(false)) {
        true => "confidential computing does not accept work yet: `nvidia-smi conf-compute -srs 1`",
        false => {
            "the GPUs wait for their fabric: start nvidia-fabricmanager (`systemctl start nvidia-fabricmanager`), of the \
             driver's own release"
        }
    };
    Meaning::fail(Action::AskAdmin, hint)
}
