//! The kernel's side of the driver: its module, the GPUs on the PCI bus, the device nodes.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use crate::host::{KernelModule, Node, PciGpu, ProbeStatus, Record, System};
use crate::types::{Version, sort_by_key};

use super::child::{self, Progress, Task};
use super::context::ProbeContext;
use super::ended;
use super::environment;

/// Opening a node of a driver that hangs hangs as well.
const LIMIT: Duration = Duration::from_secs(5);

/// NVIDIA's number among the makers of PCI devices.
const NVIDIA: &str = "0x10de";
/// The classes of PCI devices that compute: VGA and 3D controllers, before the byte of the programming interface.
const DISPLAYS: &[&str] = &["0x0300", "0x0302"];

/// Writes the kernel module and what is on the PCI bus.
pub fn look(context: &ProbeContext, record: &mut Record) {
    ended(record, "module", |record| {
        record.module = module(context);
        record.pci = pci(context);
    });
    if record.module.as_ref().is_none_or(|module| module.version.is_none())
        && let Some(probe) = record.probes.last_mut()
    {
        probe.ended = ProbeStatus::Absent;
    }
}

/// None: the system hides its modules, so nothing is known of them.
fn module(context: &ProbeContext) -> Option<KernelModule> {
    const SYS: &str = "/sys/module/nvidia/version";
    const PROC: &str = "/proc/driver/nvidia/version";
    let told = context.text(PROC);
    let by_sys = context.text(SYS).and_then(|text| Some((Version::parse(&text).ok()?, SYS)));
    let by_proc = || told.as_deref().and_then(|text| Some((release(text)?, PROC)));
    let found = by_sys.or_else(by_proc);
    let loaded = context.text("/proc/modules");
    if found.is_none() && loaded.is_none() && !context.has("/sys/module") {
        return None;
    }
    let has = |name: &str| {
        let listed = loaded.as_ref().map(|text| text.lines().any(|line| line.split(' ').next() == Some(name)));
        if context.has(&format!("/sys/module/{name}")) { Some(true) } else { listed }
    };
    let flavour = told.as_deref().map(|text| if text.contains("Open Kernel Module") { "open" } else { "proprietary" });
    Some(KernelModule {
        path: found.as_ref().map(|(_, path)| (*path).to_string()),
        version: found.map(|(version, _)| version),
        flavour: flavour.map(str::to_string),
        uvm: has("nvidia_uvm"),
        nouveau: has("nouveau"),
    })
}

/// The release in `NVRM version: NVIDIA UNIX x86_64 Kernel Module  <release>  <date>`: the first word that is nothing
/// but numbers and dots.
fn release(text: &str) -> Option<Version> {
    let words = text.lines().find(|line| line.starts_with("NVRM"))?.split_whitespace();
    words.filter(|word| word.contains('.')).find_map(|word| Version::parse(word).ok())
}

fn pci(context: &ProbeContext) -> Vec<PciGpu> {
    const DEVICES: &str = "/sys/bus/pci/devices";
    let gpus = context.names(DEVICES).into_iter().filter_map(|address| {
        let of = |name: &str| format!("{DEVICES}/{address}/{name}");
        let class = context.text(&of("class"))?;
        let is_gpu =
            context.text(&of("vendor"))? == NVIDIA && DISPLAYS.iter().any(|display| class.starts_with(display));
        let device = context.text(&of("device")).map(|number| number.trim_start_matches("0x").to_string());
        let driver = context.link(&of("driver"));
        is_gpu.then_some(PciGpu { address, device, driver })
    });
    gpus.collect()
}

/// Writes the device nodes, really opened where they are this machine's.
pub fn nodes(context: &ProbeContext, record: &mut Record) {
    let paths = paths(context, record.platform.system);
    if !context.is_here() {
        ended(record, "nodes", |record| record.nodes = paths.iter().map(|path| recorded(context, path)).collect());
        return;
    }
    let environment = environment::of_child(context);
    let task =
        Task { program: &context.program, name: "nodes", limit: context.limit(LIMIT), environment: &environment };
    let reply = child::ask::<_, Vec<Node>>(&task, &paths);
    record.nodes = reply.answer.unwrap_or_default();
    record.probes.push(reply.probe);
}

/// The nodes that a CUDA process opens on this kind of system.
fn paths(context: &ProbeContext, system: Option<System>) -> Vec<String> {
    let is_gpu = |name: &String| {
        name.strip_prefix("nvidia")
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut names: Vec<String> = match system {
        Some(System::Wsl) => vec!["dxg".to_string()],
        Some(System::Tegra) => vec!["nvmap".to_string()],
        _ => vec!["nvidiactl".to_string(), "nvidia-uvm".to_string()],
    };
    let mut others = context.names("/dev");
    others.retain(|name| is_gpu(name) || (system == Some(System::Tegra) && name.starts_with("nvhost-")));
    // 2 before 10.
    sort_by_key(&mut others, |name| (name.len(), name.clone()));
    names.extend(others);
    names.iter().map(|name| format!("/dev/{name}")).collect()
}

/// A node among recorded files is there or is not.
fn recorded(context: &ProbeContext, path: &str) -> Node {
    Node { path: path.to_string(), errno: (!context.has(path)).then(|| "ENOENT".to_string()) }
}

/// Opens each node, as a child.
pub fn open(request: &str, progress: &mut Progress) -> Result<(), String> {
    let paths: Vec<String> = serde_json::from_str(request).map_err(|error| error.to_string())?;
    let mut nodes: Vec<Node> = Vec::new();
    progress.learnt(&nodes);
    for path in paths {
        progress.doing(&format!("open of {path}"));
        // Without O_NONBLOCK the driver would start the GPU up before it answers.
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(Path::new(std::ffi::OsStr::from_bytes(path.as_bytes())), flags, Mode::empty());
        nodes.push(Node { path, errno: opened.err().map(errno_name) });
        progress.learnt(&nodes);
    }
    Ok(())
}

/// `ENOENT`
fn errno_name(errno: rustix::io::Errno) -> String {
    use rustix::io::Errno;
    let named = [
        (Errno::NOENT, "ENOENT"),
        (Errno::ACCESS, "EACCES"),
        (Errno::PERM, "EPERM"),
        (Errno::NODEV, "ENODEV"),
        (Errno::NXIO, "ENXIO"),
        (Errno::IO, "EIO"),
        (Errno::BUSY, "EBUSY"),
        (Errno::ROFS, "EROFS"),
        (Errno::INVAL, "EINVAL"),
        (Errno::NOMEM, "ENOMEM"),
    ];
    let name = named.iter().find(|(known, _)| *known == errno);
    name.map_or_else(|| format!("errno {}", errno.raw_os_error()), |(_, name)| (*name).to_string())
}

#[cfg(test)]
mod tests;
