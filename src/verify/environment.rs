//! Variables that change what a CUDA process sees, loads or compiles.

use crate::catalog::GpuMatch;
use crate::catalog::rows::Class;
use crate::coverage::{Coverage, covers_targets};
use crate::host::{Gpu, Mig, Node};
use crate::types::Cc;

use super::check::{Action, Check};
use super::context::{CheckContext, held_code};

/// Variables that should not be set for work that counts, and what each does.
const ODD: &[(&str, &str)] = &[
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

/// The variables that have the driver ignore machine code.
const FORCE: [&str; 2] = ["CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT"];
/// Those that forbid it to compile PTX.
const DISABLE: [&str; 2] = ["CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT"];

/// The classes of GPUs on which CUDA refuses a cuda-compat; on Jetson there are packages of its own.
const DESKTOP: &[Class] = &[Class::Geforce, Class::Titan, Class::Workstation, Class::Mining];

/// Everything that is to be said of them.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    if !context.needs_gpu() {
        return Vec::new();
    }
    let mut checks = vec![odd(context), jit(context), path(context)];
    checks.extend(visible(context));
    checks.extend(preload(context));
    checks.extend(mps(context));
    checks
}

/// Whether a variable is set to something else than off.
fn is_on(context: &CheckContext<'_>, name: &str) -> bool {
    context.variable(name).is_some_and(|value| !matches!(value.trim(), "" | "0" | "false"))
}

/// Nothing that is known of these variables is wrong. A described host tells only of those that its text shows: what it
/// does not show may be set all the same.
fn unset<'n>(context: &CheckContext<'_>, check: Check, names: impl IntoIterator<Item = &'n str>) -> Check {
    let shown = |name: &str| Some(format!("{name}={}", context.variable(name)?));
    let shown: Vec<String> = names.into_iter().filter_map(shown).collect();
    match (context.is_pasted(), shown.is_empty()) {
        (true, true) => context.untold(check, "environment"),
        (true, false) => check.found(shown.join(", ")).pass(),
        (false, _) => check.pass(),
    }
}

fn odd(context: &CheckContext<'_>) -> Check {
    let check = Check::new("environment-variables").expected("no variable that changes how CUDA works");
    let set: Vec<&(&str, &str)> = ODD.iter().filter(|(name, _)| is_on(context, name)).collect();
    let Some((name, does)) = set.first() else { return unset(context, check, ODD.iter().map(|(name, _)| *name)) };
    let names: Vec<&str> = set.iter().map(|(name, _)| *name).collect();
    check.found(names.join(", ")).warn(Action::FixEnvironment, format!("unset {name}: {does}"))
}

/// What Slurm writes into CUDA_VISIBLE_DEVICES for a job that asked for no GPU.
const OF_SLURM: &str = "NoDevFiles";

/// A variable that hides every GPU from a process.
pub(super) struct Hides {
    name: &'static str,
    value: String,
    pub action: Action,
}

impl Hides {
    /// What to do about it.
    pub fn hint(&self) -> String {
        let Hides { name, value, action } = self;
        match action {
            Action::RestartContainer => {
                format!("{name} is `{value}`, which gives the container no GPU: start it again with `--gpus all`")
            }
            _ if value == OF_SLURM => {
                format!("{name} is `{value}`: Slurm gave this job no GPU, request one with `--gres=gpu:1` or `--gpus`")
            }
            _ => format!("{name} is `{value}`, which hides every GPU: unset it, or name a GPU that exists"),
        }
    }
}

/// The variable that hides every GPU; none where one is seen all the same.
pub(super) fn hides_every_gpu(context: &CheckContext<'_>) -> Option<Hides> {
    const CONTAINER: &str = "NVIDIA_VISIBLE_DEVICES";
    let record = context.record;
    let torch = record.python.as_ref().and_then(|python| python.torch.as_ref()?.available);
    let devices = record.libcuda.as_ref().is_some_and(|libcuda| !libcuda.devices.is_empty());
    if torch == Some(true) || devices && !context.is_pasted() {
        return None;
    }
    if let Some(hides) = hides_from_cuda(context) {
        return Some(hides);
    }
    // With CDI the variable is `void` in containers that have GPUs: it is to blame only where there are none.
    let unseen = torch == Some(false) || context.gpus().is_empty() && !context.is_bare();
    let value = context.variable(CONTAINER).filter(|value| matches!(value.trim(), "" | "void" | "none") && unseen)?;
    Some(Hides { name: CONTAINER, value: value.to_string(), action: Action::RestartContainer })
}

/// The variable that names no GPU to CUDA.
pub(super) fn hides_from_cuda(context: &CheckContext<'_>) -> Option<Hides> {
    const CUDA: &str = "CUDA_VISIBLE_DEVICES";
    let value = context.variable(CUDA).filter(|value| names_no_gpu(context, value))?;
    Some(Hides { name: CUDA, value: value.to_string(), action: Action::FixEnvironment })
}

/// Whether a list of devices names none.
fn names_no_gpu(context: &CheckContext<'_>, value: &str) -> bool {
    named_to_cuda(context, value) == 0
}

/// More devices than any list names.
const MOST: usize = 1_024;

/// How many devices a list names: CUDA takes those before the first that does not exist.
pub(super) fn named_to_cuda(context: &CheckContext<'_>, value: &str) -> usize {
    value.split(',').take(MOST).take_while(|element| may_exist(context, element.trim())).count()
}

/// Whether an element of such a list names a GPU, as far as the GPUs are known.
fn may_exist(context: &CheckContext<'_>, element: &str) -> bool {
    let gpus = context.record.nvml.as_ref().map_or(&[][..], |nvml| &nvml.gpus);
    match element.parse::<u64>() {
        Ok(number) => gpus.is_empty() || gpus.iter().any(|gpu| gpu.index >= number),
        // A beginning of an UUID is enough, but for an empty one.
        Err(_) if element.starts_with("GPU-") && element != "GPU-" => {
            let known = || gpus.iter().filter_map(|gpu| gpu.uuid.as_deref());
            known().count() == 0 || known().count() < gpus.len() || known().any(|uuid| uuid.starts_with(element))
        }
        Err(_) => element.starts_with("MIG") && (gpus.is_empty() || gpus.iter().any(|gpu| may_hold(gpu, element))),
    }
}

/// Whether an instance of MIG may be one of a GPU's. Drivers before R470 name it by its card: `MIG-GPU-…/7/0`.
fn may_hold(gpu: &Gpu, element: &str) -> bool {
    let is_it = |instance: &Mig| instance.uuid.as_deref().is_none_or(|uuid| uuid.starts_with(element));
    let is_old = element.starts_with("MIG-GPU-");
    gpu.mig != Some(false) && (is_old || gpu.instances.is_empty() || gpu.instances.iter().any(is_it))
}

/// What in the variables makes CUDA refuse a device's number.
pub(super) fn misnames(context: &CheckContext<'_>) -> Option<String> {
    const ORDERS: [&str; 2] = ["FASTEST_FIRST", "PCI_BUS_ID"];
    let order = context.variable("CUDA_DEVICE_ORDER").filter(|order| !ORDERS.contains(order));
    if let Some(order) = order {
        return Some(format!("CUDA_DEVICE_ORDER is `{order}`: unset it, or take {} or {}", ORDERS[0], ORDERS[1]));
    }
    let value = context.variable("CUDA_VISIBLE_DEVICES")?;
    let named: Vec<&str> = value.split(',').take(MOST).map(str::trim).collect();
    let is_twice = named.iter().enumerate().any(|(at, one)| named[..at].contains(one));
    Some(match is_twice {
        true => format!("CUDA_VISIBLE_DEVICES is `{value}`, which names a GPU twice: name each once"),
        false => format!(
            "CUDA_VISIBLE_DEVICES is `{value}`, which names a GPU or instance that is not here: correct it \
             (`nvidia-smi -L`)"
        ),
    })
}

/// Of a host that somebody described; on this host the GPUs that are missing name the variable themselves.
fn visible(context: &CheckContext<'_>) -> Option<Check> {
    let names = ["CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"];
    let set = names.iter().find_map(|name| Some(format!("{name}={}", context.variable(name)?)));
    let set = set.filter(|_| context.is_pasted())?;
    let check = Check::new("environment-visible-devices").expected("GPUs that a process may see");
    Some(match hides_every_gpu(context) {
        Some(hides) => check.found(format!("{}={}", hides.name, hides.value)).fail(hides.action, hides.hint()),
        None => check.found(set).pass(),
    })
}

/// Without the driver's compiler nothing runs that the lock reaches by PTX, and forced to use it nothing that has none.
fn jit(context: &CheckContext<'_>) -> Check {
    let check = Check::new("environment-jit").expected("a driver that may compile PTX, and need not");
    // The driver reads no other value of these: `2`, `yes` and `true` change nothing.
    let set = |names: [&'static str; 2]| names.into_iter().find(|name| context.variable(name) == Some("1"));
    if let Some(name) = set(FORCE) {
        return forced(context, check.found(format!("{name}=1")));
    }
    let Some(name) = set(DISABLE) else { return unset(context, check, FORCE.into_iter().chain(DISABLE)) };
    let check = check.found(format!("{name}=1"));
    match context.target.gpu.iter().find(|gpu| gpu.compiles_ptx()) {
        Some(gpu) => {
            check.fail(Action::FixEnvironment, format!("unset it: the lock reaches {} by PTX alone", gpu.name))
        }
        None => check.warn(Action::FixEnvironment, "unset it where PTX is to run; the lock does not need it here"),
    }
}

/// The driver ignores machine code: seen on an H100 with driver 580, where torch ends with "no kernel image".
fn forced(context: &CheckContext<'_>, check: Check) -> Check {
    let tegra = context.tegra();
    let without = context.builds().into_iter().find_map(|(package, version, row)| {
        let (sass, ptx) = held_code(row);
        let lacks = |cc: &Cc| covers_targets(Vec::new(), ptx.clone(), *cc, tegra) == Coverage::None;
        let cc = context.gpus().iter().filter_map(|gpu| gpu.cc).find(lacks).filter(|_| !sass.is_empty())?;
        Some(format!("the locked {package} {version} holds no PTX for sm_{}", cc.number()))
    });
    match without {
        Some(without) => {
            check.fail(Action::FixEnvironment, format!("unset it: the driver ignores machine code with it, and {without}"))
        }
        None => check.warn(
            Action::FixEnvironment,
            "unset it: it makes the driver compile PTX although machine code is there; where a library has no PTX, it fails",
        ),
    }
}

/// An empty element means the current folder, and a stubs folder holds libraries that only pretend.
fn path(context: &CheckContext<'_>) -> Check {
    let check = Check::new("environment-library-path").expected("an LD_LIBRARY_PATH of absolute folders, if any");
    let Some(value) = context.variable("LD_LIBRARY_PATH").filter(|value| !value.is_empty()) else {
        return unset(context, check, ["LD_LIBRARY_PATH"]);
    };
    let check = check.found(format!("LD_LIBRARY_PATH={value}"));
    let stub = value.split([':', ';']).find(|element| element.trim_end_matches('/').ends_with("/stubs"));
    if let Some(stub) = stub {
        return check
            .warn(Action::FixEnvironment, format!("take {stub} out of it: libraries there serve linking only"));
    }
    if let Some(folder) = compat_folder(context, value) {
        return unwanted_compat(context, check, folder);
    }
    // The record writes the user's home so.
    let is_absolute = |element: &str| element.starts_with(['/', '~']);
    match value.split([':', ';']).any(|element| !is_absolute(element)) {
        true => check.warn(
            Action::FixEnvironment,
            "an empty or relative element makes the loader take libraries from whatever folder a process starts in: leave it out",
        ),
        false => check.pass(),
    }
}

/// The folder of a cuda-compat that a process would load its libcuda from, where the lock wants none and nobody has
/// seen another libcuda loaded.
fn compat_folder<'v>(context: &CheckContext<'_>, value: &'v str) -> Option<&'v str> {
    let is_wanted = context.target.driver.as_ref().is_some_and(|driver| driver.compat.is_some());
    let is_known = context.record.libcuda.as_ref().is_some_and(|libcuda| libcuda.path.is_some());
    let is_compat = |element: &&str| element.split('/').any(|part| part == "compat");
    value.split([':', ';']).find(is_compat).filter(|_| !is_wanted && !is_known)
}

/// On GPUs for desktops CUDA does not start with it (804), on others it depends on the driver's branch (803).
fn unwanted_compat(context: &CheckContext<'_>, check: Check, folder: &str) -> Check {
    let works = context.record.python.as_ref().and_then(|python| python.torch.as_ref()?.available) == Some(true);
    let is_desktop = |name: &str| match context.catalog.gpu(name) {
        GpuMatch::Found(rows) => rows.iter().all(|row| DESKTOP.contains(&row.class)),
        _ => false,
    };
    let gpus = context.gpus();
    let desktop = gpus.iter().filter_map(|gpu| gpu.name).find(|name| is_desktop(name));
    match desktop.filter(|_| !works) {
        Some(name) => check.fail(
            Action::FixEnvironment,
            format!("take {folder} out of it: with cuda-compat CUDA does not start on {name} (error 804)"),
        ),
        None => check.warn(
            Action::FixEnvironment,
            format!(
                "take {folder} out of it: the lock wants no cuda-compat, and on a driver that it does not fit CUDA does \
                 not start (error 803)"
            ),
        ),
    }
}

/// The probes run without it, because it would run somebody's code in them; the job has it.
fn preload(context: &CheckContext<'_>) -> Option<Check> {
    let value = context.variable("LD_PRELOAD").filter(|value| !value.trim().is_empty())?;
    let check = Check::new("environment-preload").expected("no LD_PRELOAD").found(format!("LD_PRELOAD={value}"));
    if let Some(stub) = value.split([':', ' ']).find(|file| file.contains("/stubs/")) {
        let hint = format!("take {stub} out of it: CUDA does not start with it (error 34), for it serves linking only");
        return Some(check.fail(Action::FixEnvironment, hint));
    }
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

/// Whether this is the node of one GPU, which the system refuses to open: so a device cgroup keeps the GPUs of others from
/// a job.
pub fn is_kept_from_job(node: &Node) -> bool {
    let number = node.path.strip_prefix("/dev/nvidia").unwrap_or_default();
    let is_of_gpu = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_of_gpu && matches!(node.errno.as_deref(), Some("EPERM" | "EACCES"))
}
