//! Variables that change what a CUDA process sees, loads or compiles.

use super::check::{Action, Check};
use super::context::CheckContext;

/// Variables that should not be set for work that counts, and what each does.
const ODD: &[(&str, &str)] = &[
    (
        "CUDA_FORCE_PTX_JIT",
        "it makes the driver compile PTX although machine code is there; where a library has no PTX, it fails",
    ),
    ("CUDA_LAUNCH_BLOCKING", "it makes every launch wait, which is slow"),
    ("CUDA_INJECTION32_PATH", "it loads a tool into every CUDA process"),
    ("CUDA_INJECTION64_PATH", "it loads a tool into every CUDA process"),
    ("NSIGHT_CUDA_DEBUGGER", "it runs every kernel under a debugger"),
    ("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "it writes core dumps"),
    ("CUDA_COREDUMP_FILE", "it writes core dumps"),
    ("CUDA_DEVICE_WAITS_ON_EXCEPTION", "it makes a failed kernel wait for a debugger for ever"),
    ("CUDA_PROFILE", "it profiles every process"),
    ("COMPUTE_PROFILE", "it profiles every process"),
    ("OPENCL_PROFILE", "it profiles every process"),
    ("CUDA_AUTO_BOOST", "it changes the clocks"),
    ("NVIDIA_DISABLE_REQUIRE", "it hides what images ask of the driver"),
];

/// Everything that is to be said of them.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    if !context.needs_gpu() {
        return Vec::new();
    }
    let mut checks = vec![odd(context), jit(context), path(context)];
    checks.extend(preload(context));
    checks.extend(mps(context));
    checks
}

fn odd(context: &CheckContext<'_>) -> Check {
    let check = Check::new("environment-variables").expected("no variable that changes how CUDA works");
    let set: Vec<&(&str, &str)> = ODD.iter().filter(|(name, _)| context.variable(name).is_some()).collect();
    let Some((name, does)) = set.first() else { return check.pass() };
    let names: Vec<&str> = set.iter().map(|(name, _)| *name).collect();
    check.found(names.join(", ")).warn(Action::FixEnvironment, format!("unset {name}: {does}"))
}

/// Without the driver's compiler nothing runs that the lock reaches by PTX.
fn jit(context: &CheckContext<'_>) -> Check {
    let check = Check::new("environment-jit").expected("a driver that may compile PTX");
    let Some(value) = context.variable("CUDA_DISABLE_PTX_JIT").filter(|value| !matches!(*value, "" | "0")) else {
        return check.pass();
    };
    let check = check.found(format!("CUDA_DISABLE_PTX_JIT={value}"));
    match context.target.gpu.iter().find(|gpu| gpu.coverage.as_deref() == Some("jit")) {
        Some(gpu) => {
            check.fail(Action::FixEnvironment, format!("unset it: the lock reaches {} by PTX alone", gpu.name))
        }
        None => check.warn(Action::FixEnvironment, "unset it where PTX is to run; the lock does not need it here"),
    }
}

/// An empty element means the current folder, and a stubs folder holds libraries that only pretend.
fn path(context: &CheckContext<'_>) -> Check {
    let check = Check::new("environment-library-path").expected("an LD_LIBRARY_PATH of absolute folders, if any");
    let Some(value) = context.variable("LD_LIBRARY_PATH").filter(|value| !value.is_empty()) else {
        return check.pass();
    };
    let check = check.found(format!("LD_LIBRARY_PATH={value}"));
    let stub = value.split([':', ';']).find(|element| element.trim_end_matches('/').ends_with("/stubs"));
    if let Some(stub) = stub {
        return check
            .warn(Action::FixEnvironment, format!("take {stub} out of it: libraries there serve linking only"));
    }
    match value.split([':', ';']).any(|element| !element.starts_with('/')) {
        true => check.warn(
            Action::FixEnvironment,
            "an empty or relative element makes the loader take libraries from whatever folder a process starts in: leave it out",
        ),
        false => check.pass(),
    }
}

/// The probes run without it, because it would run somebody's code in them; the job has it.
fn preload(context: &CheckContext<'_>) -> Option<Check> {
    let value = context.variable("LD_PRELOAD").filter(|value| !value.trim().is_empty())?;
    let check = Check::new("environment-preload").expected("no LD_PRELOAD").found(format!("LD_PRELOAD={value}"));
    Some(check.warn(
        Action::None,
        "the checks ran without it, and a job will have it: what it loads into every process was not judged",
    ))
}

/// A process with MPS's variable waits for a daemon that may be dead.
fn mps(context: &CheckContext<'_>) -> Option<Check> {
    let value = context.variable("CUDA_MPS_PIPE_DIRECTORY")?;
    let check = Check::new("environment-mps")
        .expected("no MPS, or a daemon that answers")
        .found(format!("CUDA_MPS_PIPE_DIRECTORY={value}"));
    Some(match &context.record.libcuda {
        Some(libcuda) if libcuda.fault.is_none() => check.pass_with("CUDA starts through MPS"),
        _ => check.warn(Action::FixEnvironment, "start nvidia-cuda-mps-control, or unset it"),
    })
}
