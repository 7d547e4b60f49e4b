//! Signs of an NVIDIA GPU or of its driver in a record, and whether a record tells that there is none.

use super::record::{ApiError, OF_A_HANDLE, Origin, Probe, ProbeStatus, Record, System};

/// The name under which a description notes that it lists what is on the bus.
pub const BUS: &str = "pci";
/// The name under which a description notes that it contradicts itself.
pub const PASTE: &str = "paste";
/// The name under which a description notes a row of a list of packages that it could not read.
pub const LISTED: &str = "list of packages";
/// The name under which a description notes a line that names a release of a framework and that no reader took.
pub const NAMED: &str = "line";
/// The probe that looks at the bus of the machine it runs on.
const MODULE: &str = "module";

/// What a record tells of an NVIDIA GPU in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// A GPU or a trace of its driver was seen.
    Seen,
    /// The bus was looked at, and there is no trace of one.
    Absent,
    /// Neither: somebody has described something else.
    Unknown,
}

/// What a record tells of an NVIDIA GPU in the machine.
pub fn presence(record: &Record) -> Presence {
    match (is_bare(record), shows_bus(record)) {
        (false, _) => Presence::Seen,
        (true, true) => Presence::Absent,
        (true, false) => Presence::Unknown,
    }
}

/// Whether it is WSL 1, whose kernel is Windows' own and drives no GPU: that of WSL 2 is a Linux, `…-microsoft-standard-WSL2`.
pub fn is_wsl1(record: &Record) -> bool {
    let kernel = record.platform.kernel.as_deref().unwrap_or_default();
    record.platform.system == Some(System::Wsl) && kernel.ends_with("-Microsoft")
}

/// Whether somebody looked at the machine's bus and wrote down that he did. Inside Windows no GPU is on it.
fn looked_at_bus(record: &Record) -> bool {
    record.platform.system != Some(System::Wsl) && shows_bus(record)
}

/// Whether what is on the machine's bus would stand in the record: somebody looked there.
fn shows_bus(record: &Record) -> bool {
    let name = if record.origin == Origin::Observed { MODULE } else { BUS };
    let ended = |probe: &Probe| matches!(probe.ended, ProbeStatus::Done | ProbeStatus::Absent);
    record.probes.iter().any(|probe| probe.name == name && ended(probe))
}

/// Whether there is no trace of NVIDIA on a host. Where the bus was looked at and holds no GPU, libraries that lie around
/// are none: a driver's package without its GPU, a toolkit's stub, an image's cuda-compat.
pub fn is_bare(record: &Record) -> bool {
    record.pci.is_empty() && !is_driven(record) && (!has_libraries(record) || looked_at_bus(record))
}

/// Why a description is not that of a host as it is: it names two hosts or two states of one, or it lists GPUs whose driver
/// does not answer. Whatever the order of its lines, whoever plans or drafts for it says so.
pub fn doubt(record: &Record) -> Option<String> {
    let is_quarrel = |probe: &&Probe| probe.name == PASTE && probe.ended == ProbeStatus::Garbled;
    let quarrels = record.probes.iter().filter(is_quarrel).filter_map(|probe| probe.detail.as_deref());
    let quarrels = quarrels.collect::<Vec<_>>().join("; ");
    if !quarrels.is_empty() {
        return Some(format!("what describes it names two hosts, or one before and after a change ({quarrels})"));
    }
    let nvml = record.nvml.as_ref().filter(|nvml| record.origin == Origin::Pasted && !nvml.gpus.is_empty())?;
    // One GPU that cannot be asked says nothing of the others.
    let fault = nvml.fault.as_ref().filter(|fault| fault.at != OF_A_HANDLE)?;
    let words = fault.message.as_deref().or(fault.name.as_deref()).unwrap_or("NVML failed");
    Some(format!("what describes it lists its GPUs, and also says that the driver does not answer ({words})"))
}

/// Whether a driver runs, or something that only its GPU brings.
fn is_driven(record: &Record) -> bool {
    let module = record.module.as_ref();
    let kernel = module.is_some_and(|module| module.version.is_some() || module.nouveau == Some(true));
    let nodes = record.nodes.iter().any(|node| node.errno.as_deref() != Some("ENOENT"));
    let nvml = record.nvml.as_ref();
    let nvml = nvml.is_some_and(|nvml| nvml.driver.is_some() || nvml.count.is_some() || !nvml.gpus.is_empty());
    let cuda = record.libcuda.as_ref().is_some_and(|libcuda| !libcuda.devices.is_empty());
    // A Jetson's GPU is on no bus, and there is no Jetson without one.
    let jetson = record.platform.system == Some(System::Tegra);
    kernel || nodes || nvml || cuda || jetson || fails(record)
}

/// Whether a library of the driver did not answer: without a driver they say so at once.
pub fn keeps_waiting(record: &Record) -> bool {
    let waits =
        |probe: &Probe| ["nvml", "libcuda"].contains(&probe.name.as_str()) && probe.ended == ProbeStatus::TimedOut;
    record.probes.iter().any(waits)
}

/// What libraries of the driver answer where no driver runs: NVML that it is not loaded, or as the one for linking that it is
/// not itself; CUDA that there is no device, or as the one for linking.
const NOT_DRIVEN: [&[i64]; 2] = [&[9, 12], &[34, 100]];

/// Whether a library of the driver was found and fails as none does that misses nothing but its driver: with another
/// number, because it does not load, or because it ends or holds up whoever asks it.
pub fn fails(record: &Record) -> bool {
    let nvml = record.nvml.as_ref().map(|nvml| (nvml.path.is_some(), nvml.fault.as_ref()));
    let libcuda = record.libcuda.as_ref().filter(|libcuda| libcuda.stub != Some(true));
    let libcuda = libcuda.map(|libcuda| (libcuda.path.is_some(), libcuda.fault.as_ref()));
    [("nvml", nvml), ("libcuda", libcuda)].into_iter().zip(NOT_DRIVEN).any(|((name, library), not_driven)| {
        let (is_found, fault) = library.unwrap_or_default();
        let ends_badly = |probe: &Probe| match probe.ended {
            ProbeStatus::TimedOut | ProbeStatus::Crashed | ProbeStatus::Garbled => true,
            ProbeStatus::Failed => is_found,
            _ => false,
        };
        let answers = |fault: &ApiError| match fault.code.filter(|_| !fault.at.contains("dlopen")) {
            Some(code) => !not_driven.contains(&code),
            None => is_found,
        };
        fault.is_some_and(answers) || record.probes.iter().any(|probe| probe.name == name && ends_badly(probe))
    })
}

/// Whether a library says that it and the kernel module are of two releases: then there is one, whatever is to be seen.
pub fn meets_module(record: &Record) -> bool {
    let code = |fault: Option<&ApiError>| fault.and_then(|fault| fault.code);
    code(record.nvml.as_ref().and_then(|nvml| nvml.fault.as_ref())) == Some(18)
        || code(record.libcuda.as_ref().and_then(|libcuda| libcuda.fault.as_ref())) == Some(803)
}

/// Whether the driver's libraries are there. An error of their own comes from them, however dead the driver is.
fn has_libraries(record: &Record) -> bool {
    let answers = |fault: &Option<ApiError>| fault.as_ref().is_some_and(|fault| fault.code.is_some());
    let nvml = record.nvml.as_ref().is_some_and(|nvml| {
        nvml.cuda.is_some() || nvml.file_version.is_some() || nvml.path.is_some() || answers(&nvml.fault)
    });
    let libcuda = record.libcuda.as_ref();
    let libcuda =
        libcuda.is_some_and(|libcuda| libcuda.path.is_some() || libcuda.cuda.is_some() || answers(&libcuda.fault));
    nvml || libcuda
}

#[cfg(test)]
mod tests;
