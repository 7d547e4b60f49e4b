//! A record for people: what is on a host, in a few aligned lines.

use crate::host::{ApiError, CudaDevice, Gpu, Origin, ProbeStatus, Record, System};

use super::screen::{Screen, clean};

/// Room for the names of the rows.
const NAMES: usize = 12;

/// The whole record, shortened.
pub(super) fn render(screen: &Screen, record: &Record) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: String| text += &screen.wrapped(&format!("{name:<NAMES$}"), &clean(&value));
    row("host", platform(record));
    row("driver", driver(record));
    if let Some(nvml) = &record.nvml
        && let Some(what) = library(&nvml.path, &nvml.fault)
    {
        row("nvml", what);
    }
    if let Some(libcuda) = &record.libcuda {
        let offers = libcuda.cuda.as_ref().map(|cuda| format!("CUDA {cuda}"));
        let kind = match (libcuda.stub, libcuda.compat) {
            (Some(true), _) => Some("a stub, for linking only".to_string()),
            (_, Some(true)) => Some("of cuda-compat".to_string()),
            _ => None,
        };
        row("libcuda", joined([offers, kind, library(&libcuda.path, &libcuda.fault)]));
    }
    let gpus = record.nvml.iter().flat_map(|nvml| &nvml.gpus);
    gpus.for_each(|gpu| row(&format!("GPU {}", gpu.index), described(gpu)));
    let devices = record.libcuda.iter().flat_map(|libcuda| &libcuda.devices);
    devices.for_each(|device| row(&format!("CUDA {}", device.ordinal), seen(device)));
    if record.nvml.as_ref().is_none_or(|nvml| nvml.gpus.is_empty()) {
        record.pci.iter().for_each(|gpu| {
            let driver =
                gpu.driver.as_deref().map_or("bound to no driver".to_string(), |driver| format!("bound to {driver}"));
            row("PCI", joined([Some(gpu.address.clone()), gpu.device.clone(), Some(driver)]));
        });
    }
    for node in &record.nodes {
        if let Some(errno) = node.errno.as_ref().filter(|errno| *errno != "ENOENT") {
            row("node", format!("{}: {errno}", node.path));
        }
    }
    for probe in &record.probes {
        if !matches!(probe.ended, ProbeStatus::Done | ProbeStatus::Absent | ProbeStatus::NotRun) {
            let detail = probe.detail.as_deref().unwrap_or("it did not come to its end");
            text += &screen.wrapped(&screen.warning(&format!("{:<NAMES$}", probe.name)), &clean(detail));
        }
    }
    text
}

fn platform(record: &Record) -> String {
    let platform = &record.platform;
    let system = match platform.system {
        Some(System::Wsl) => Some("WSL"),
        Some(System::Tegra) => Some("Tegra"),
        Some(System::Windows) => Some("Windows"),
        Some(System::Linux) | None => None,
    };
    joined([
        platform.os.clone(),
        platform.arch.clone(),
        system.map(str::to_string),
        platform.kernel.as_ref().map(|kernel| format!("kernel {kernel}")),
        platform.glibc.as_ref().map(|glibc| format!("glibc {glibc}")),
        platform.container.as_ref().map(|container| format!("in {container}")),
        (record.origin == Origin::Pasted).then(|| "from a pasted text".to_string()),
    ])
}

fn driver(record: &Record) -> String {
    let module = record.module.as_ref();
    let version = module.and_then(|module| module.version.as_ref());
    let told = record.nvml.as_ref().and_then(|nvml| nvml.driver.as_ref());
    let Some(version) = version.or(told) else {
        return if module.is_some_and(|module| module.nouveau == Some(true)) {
            "nouveau"
        } else if record.origin == Origin::Pasted {
            "not told"
        } else {
            "none"
        }
        .to_string();
    };
    let offers = record.nvml.as_ref().and_then(|nvml| nvml.cuda.as_ref());
    joined([
        Some(version.to_string()),
        module.and_then(|module| Some(format!("{} kernel module", module.flavour.as_ref()?))),
        offers.map(|cuda| format!("CUDA {cuda}")),
    ])
}

/// A library, and why it tells no more.
fn library(path: &Option<String>, fault: &Option<ApiError>) -> Option<String> {
    let fault = fault.as_ref().map(told);
    (path.is_some() || fault.is_some()).then(|| joined([path.clone(), fault]))
}

/// `cuInit: CUDA_ERROR_NO_DEVICE (100)`
fn told(fault: &ApiError) -> String {
    let code = fault.code.map(|code| code.to_string());
    let what = match (&fault.name, code) {
        (Some(name), Some(code)) => format!("{name} ({code})"),
        (Some(name), None) => name.clone(),
        (None, Some(code)) => format!("error {code}"),
        (None, None) => String::new(),
    };
    joined([Some(format!("{}: {what}", fault.at).trim_end_matches(": ").to_string()), fault.message.clone()])
}

fn described(gpu: &Gpu) -> String {
    let cut = (gpu.mig == Some(true)).then(|| {
        let profiles: Vec<&str> = gpu.instances.iter().filter_map(|instance| instance.profile.as_deref()).collect();
        if profiles.is_empty() { "MIG without instances".to_string() } else { format!("MIG {}", profiles.join(" ")) }
    });
    joined([
        gpu.name.clone(),
        gpu.compute_capability.map(|cc| cc.to_string()),
        gpu.memory.map(|memory| format!("{} MiB", memory >> 20)),
        gpu.pci.clone(),
        cut,
        gpu.compute_mode.clone().filter(|mode| mode != "default"),
        gpu.fault.as_ref().map(told),
    ])
}

fn seen(device: &CudaDevice) -> String {
    joined([
        device.name.clone(),
        device.compute_capability.map(|cc| cc.to_string()),
        device.memory.map(|memory| format!("{} MiB", memory >> 20)),
        device.pci.clone(),
        device.fault.as_ref().map(told),
    ])
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
