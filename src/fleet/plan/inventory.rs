//! The hosts of a fleet as a plan sees them: of each record only what decides what can run there, and hosts that are
//! equal in it once.

use std::collections::HashMap;

use crate::catalog::{Catalog, GpuMatch};
use crate::host::{ApiError, Gpu, KernelModule, Libcuda, Nvml, Platform, Record, System, signs};
use crate::init::{self, Value};
use crate::spec::{self, Runtime, Target, Written, list_text};
use crate::types::{Constraint, CpuArch, Version, sort_by_key};
use crate::verify;

use super::model::HostClass;

/// What a plan looks at in a record, what keeps every lock from passing there, and a key under which equal ones are found.
pub type Essence = (Box<Record>, Option<String>, Vec<u8>);

/// The hosts so far.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Each record that differs from all before, with what keeps locks from passing there and the names of its hosts.
    seen: Vec<(Box<Record>, Option<String>, Vec<String>)>,
    places: HashMap<Vec<u8>, usize>,
    /// Hosts of which nothing can be read, each with why.
    pub unreadable: Vec<(String, String)>,
}

/// A class of hosts, as people and as the solver see it.
#[derive(Debug)]
pub struct Known {
    /// For people.
    pub class: HostClass,
    /// The target that it is, of the name that its template has.
    pub target: Target,
    /// Its driver, if its release is known.
    pub driver: Option<Version>,
}

/// Leaves of a record what a plan for a target looks at; an error is why nothing can be planned by it.
pub fn essence(record: Record, template: &Target, catalog: &Catalog) -> Result<Essence, String> {
    if let Some(doubt) = signs::doubt(&record) {
        return Err(doubt);
    }
    let unfit = verify::unfit(&record, template.is_wsl2().then_some("wsl2"), catalog).map(|check| {
        let words = [check.gpu, check.found, check.hint];
        words.into_iter().flatten().collect::<Vec<_>>().join(": ")
    });
    let number = |fault: ApiError| ApiError { at: String::new(), message: None, ..fault };
    // Why a GPU has no name is all that is known of it.
    let gpu = |gpu: Gpu| {
        let fault = gpu.fault.filter(|_| gpu.name.is_none()).map(number);
        Gpu { name: gpu.name, compute_capability: gpu.compute_capability, fault, ..Gpu::default() }
    };
    let nvml = record.nvml.map(|nvml| {
        let mut gpus: Vec<Gpu> = Vec::new();
        for one in nvml.gpus {
            let one = gpu(one);
            if !gpus.contains(&one) {
                gpus.push(one);
            }
        }
        let fault = nvml.fault.map(number);
        let count = nvml.count.filter(|count| *count == 0);
        Nvml { driver: nvml.driver, cuda: nvml.cuda, gpus, fault, count, ..Nvml::default() }
    });
    let libcuda = record.libcuda.map(|libcuda| {
        let mut devices = libcuda.devices;
        for device in &mut devices {
            let (name, cc) = (device.name.take(), device.compute_capability);
            *device = crate::host::CudaDevice { name, compute_capability: cc, ..Default::default() };
        }
        devices.dedup();
        Libcuda { cuda: libcuda.cuda, devices, ..Libcuda::default() }
    });
    let platform = Platform { kernel: None, root: None, shm: None, ..record.platform };
    let mut left =
        Record { format: record.format, origin: record.origin, platform, nvml, libcuda, ..Record::default() };
    left.module = record.module.map(|module| KernelModule { version: module.version, ..KernelModule::default() });
    // Only what the absence of a GPU rests on.
    left.probes =
        record.probes.into_iter().filter(|probe| ["module", signs::BUS].contains(&probe.name.as_str())).collect();
    left.probes.iter_mut().for_each(|probe| (probe.detail, probe.millis) = (None, None));
    left.pci = record.pci.into_iter().take(1).collect();
    left.nodes = record.nodes.into_iter().take(1).collect();
    let key = serde_json::to_vec(&(&left, &unfit)).unwrap_or_default();
    Ok((Box::new(left), unfit, key))
}

impl Inventory {
    /// Adds a host.
    pub fn add(&mut self, name: String, read: Result<Essence, String>) {
        let (record, unfit, key) = match read {
            Ok(read) => read,
            Err(why) => return self.unreadable.push((name, why)),
        };
        let next = self.seen.len();
        let at = *self.places.entry(key).or_insert(next);
        if at == next {
            self.seen.push((record, unfit, Vec::new()));
        }
        self.seen[at].2.push(name);
    }

    /// How many hosts there are.
    pub fn hosts(&self) -> usize {
        self.seen.iter().map(|(.., names)| names.len()).sum::<usize>() + self.unreadable.len()
    }

    /// The classes that these hosts are beside a target, the largest first, and those of which too little is known.
    pub fn classes(self, template: &Target, catalog: &Catalog) -> (Vec<Known>, Vec<(String, String)>) {
        let mut unknown = self.unreadable;
        let mut known: Vec<Known> = Vec::new();
        for (record, unfit, names) in self.seen {
            let class = class_of(&record, template, catalog).and_then(|class| unfit.map_or(Ok(class), Err));
            match class {
                Ok(class) => match known.iter_mut().find(|one| is_same(one, &class)) {
                    Some(one) => one.class.hosts.extend(names),
                    None => {
                        known.push(class);
                        known.last_mut().expect("just added").class.hosts = names;
                    }
                },
                Err(why) => unknown.extend(names.into_iter().map(|name| (name, why.clone()))),
            }
        }
        sort_by_key(&mut known, |one| std::cmp::Reverse(one.class.hosts.len()));
        (known, unknown)
    }
}

fn is_same(one: &Known, other: &Known) -> bool {
    let is_on_windows = one.target.is_wsl2() == other.target.is_wsl2();
    let (one, other) = (&one.class, &other.class);
    is_on_windows
        && (&one.gpus, &one.driver, &one.os, &one.glibc, &one.arch)
            == (&other.gpus, &other.driver, &other.os, &other.glibc, &other.arch)
}

fn written<T>(value: T, text: impl Into<String>) -> Option<Written<T>> {
    Some(Written { value, text: text.into(), span: 0..0 })
}

/// The class that a record is of beside a target; else what is not known of it.
fn class_of(record: &Record, template: &Target, catalog: &Catalog) -> Result<Known, String> {
    let entries = init::machine(record, catalog);
    let text = |key: &str| {
        let entry = entries.iter().find(|entry| entry.key == key && !entry.off)?;
        match &entry.value {
            Value::Text(text) => Some(vec![text.clone()]),
            Value::List(list) => Some(list.clone()),
            Value::Own { .. } => None,
        }
    };
    let first = |key: &str| text(key).map(|mut all| all.remove(0));
    let mut target = template.clone();
    let mut gpus = text("gpu").ok_or_else(|| no_gpu(record))?;
    gpus_are_known(record, &gpus, catalog)?;
    gpus.sort_unstable();
    target.gpu = written(gpus.clone(), list_text(&gpus));
    let without_gpu = gpus.iter().all(|gpu| gpu == "none");
    (target.driver, target.driver_cuda) = (None, None);
    let (driver, cuda) = (first("driver"), first("driver-cuda"));
    let mut release = None;
    if let Some(text) = driver.as_ref().filter(|_| !without_gpu) {
        let constraint = Constraint::parse(text).map_err(|error| error.to_string())?;
        release = Version::parse(text).ok();
        target.driver = written(constraint, text);
    } else if let Some(text) = cuda.as_ref().filter(|_| !without_gpu) {
        let version = Version::parse(text).map_err(|error| error.to_string())?;
        target.driver_cuda = written(version, text);
    }
    // What was seen from inside a container is the container's.
    let is_seen = record.platform.container.is_none();
    let (mut os, mut glibc) = (None, None);
    if target.runtime() == Runtime::BareMetal && is_seen {
        (os, glibc) = (first("os"), first("glibc"));
        if os.is_some() || glibc.is_some() {
            target.os = os.clone().and_then(|os| written(os.clone(), os));
            target.glibc = glibc.as_ref().and_then(|text| written(Version::parse(text).ok()?, text.as_str()));
        }
    }
    if let Some(arch) = &record.platform.arch {
        let parsed = CpuArch::parse(arch).map_err(|_| format!("no wheels are known for its processor, {arch}"))?;
        target.arch = written(parsed, arch);
    }
    if !without_gpu && has_driver_of_windows(record, release.as_ref()) {
        target.platform = written(spec::Platform::Wsl2, "wsl2");
    } else if has_driver_of_linux(record, release.as_ref()) {
        target.platform = None;
    }
    let has_driver = target.driver.is_some() || target.driver_cuda.is_some();
    if !has_driver && !without_gpu && !comes_with_driver(&target, catalog) {
        return Err("its driver is not known".to_string());
    }
    let arch = target.arch.as_ref().map(|arch| arch.value).or_else(|| implied_arch(&gpus, &target, catalog));
    let arch = arch.unwrap_or(CpuArch::X86_64).as_str().to_string();
    let driver = driver.or(cuda.map(|cuda| format!("CUDA {cuda}"))).filter(|_| !without_gpu);
    let gpus = if without_gpu { Vec::new() } else { gpus };
    let class = HostClass { gpus, driver, os, glibc, arch, hosts: Vec::new() };
    Ok(Known { class, target, driver: release })
}

/// Refuses a GPU of which the catalog knows nothing that could be judged.
fn gpus_are_known(record: &Record, gpus: &[String], catalog: &Catalog) -> Result<(), String> {
    if let Some(gpu) = untold_gpu(record, catalog) {
        return Err(match (&gpu.name, &gpu.fault) {
            (Some(name), _) => unknown_gpu(name),
            (None, Some(fault)) => unanswered(fault),
            (None, None) => format!("the name of its GPU {} was not told", gpu.index),
        });
    }
    for name in gpus {
        if let GpuMatch::Bare(cc) = catalog.gpu(name)
            && !catalog.knows_capability(cc)
        {
            return Err(format!("the catalog knows no GPU of its compute capability {cc}"));
        }
    }
    Ok(())
}

/// Whether its driver has a number of Windows', and is judged by Windows' floors.
fn has_driver_of_windows(record: &Record, release: Option<&Version>) -> bool {
    let is_windows = matches!(record.platform.system, Some(System::Wsl | System::Windows));
    let is_numbered = release.is_none_or(|release| release.len() <= 2);
    is_windows && is_numbered && record.platform.arch.as_deref().is_none_or(|arch| arch == "x86_64")
}

/// Whether its driver is one of Linux, whatever the template says: its system tells it, or a number that Windows has none of.
fn has_driver_of_linux(record: &Record, release: Option<&Version>) -> bool {
    match record.platform.system {
        Some(System::Linux | System::Tegra) => true,
        Some(System::Wsl | System::Windows) => false,
        None => release.is_some_and(|release| release.len() > 2),
    }
}

/// The processor that comes with its GPUs or its system, as it is solved for.
fn implied_arch(gpus: &[String], target: &Target, catalog: &Catalog) -> Option<CpuArch> {
    let of_gpu = |name: &String| match catalog.gpu(name) {
        GpuMatch::Found(rows) => rows.iter().find_map(|row| row.cpu),
        GpuMatch::Bare(cc) => catalog.cpu_of(cc),
        _ => None,
    };
    let of_system = || match catalog.os(&target.os.as_ref()?.value) {
        crate::catalog::OsMatch::Found(row) => row.cpu,
        crate::catalog::OsMatch::Unknown(_) => None,
    };
    gpus.iter().find_map(of_gpu).or_else(of_system)
}

/// Whether a target's system brings its driver, as on Jetson.
fn comes_with_driver(target: &Target, catalog: &Catalog) -> bool {
    let of_system = |os: &str| match catalog.os(os) {
        crate::catalog::OsMatch::Found(row) => row.cuda.is_some(),
        crate::catalog::OsMatch::Unknown(_) => false,
    };
    target.os.as_ref().is_some_and(|os| of_system(&os.value))
}

/// Why nothing is known of a host's GPU.
fn no_gpu(record: &Record) -> String {
    let names = record.nvml.iter().flat_map(|nvml| &nvml.gpus).filter_map(|gpu| gpu.name.as_deref());
    let of_gpu = record.nvml.iter().flat_map(|nvml| &nvml.gpus).find_map(|gpu| gpu.fault.as_ref());
    let fault = of_gpu.or_else(|| record.nvml.as_ref()?.fault.as_ref());
    match names.collect::<Vec<_>>().as_slice() {
        [] if fault.is_some() => fault.map(unanswered).unwrap_or_default(),
        [] if !record.pci.is_empty() || !record.nodes.is_empty() => {
            "it has an NVIDIA GPU, but its driver did not answer".to_string()
        }
        [] if record.nvml.as_ref().is_some_and(|nvml| nvml.count == Some(0)) => {
            "its driver answers and shows no GPU".to_string()
        }
        [] => "its record does not tell whether it has a GPU".to_string(),
        [name, ..] => unknown_gpu(name),
    }
}

fn unknown_gpu(name: &str) -> String {
    format!("the catalog does not know its GPU `{name}`, and its compute capability was not seen")
}

fn unanswered(fault: &ApiError) -> String {
    format!("its GPU or its driver does not answer: {}", fault.name.as_deref().unwrap_or("NVML failed"))
}

/// A GPU of which neither the product nor the capability is known.
fn untold_gpu<'r>(record: &'r Record, catalog: &Catalog) -> Option<&'r Gpu> {
    let devices = record.libcuda.iter().flat_map(|libcuda| &libcuda.devices);
    let has_capability = |name: &str| {
        let mut same = devices.clone().filter(|device| device.name.as_deref() == Some(name));
        same.any(|device| device.compute_capability.is_some())
    };
    let untold = |gpu: &&Gpu| {
        let name = gpu.name.as_deref().unwrap_or_default();
        gpu.compute_capability.is_none() && !has_capability(name) && !matches!(catalog.gpu(name), GpuMatch::Found(_))
    };
    record.nvml.iter().flat_map(|nvml| &nvml.gpus).find(untold)
}
