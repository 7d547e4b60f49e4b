//! A draft of a host: its GPUs, driver and system as facts, the frameworks installed there as what must run.

use std::collections::BTreeSet;

use super::companions;
use super::jetpack::{self, Jetpack};
use super::{Draft, Entry, Value};
use crate::catalog::rows::FRAMEWORKS;
use crate::catalog::{Catalog, GpuMatch, OsMatch};
use crate::host::signs::{Presence, is_wsl1, presence};
use crate::host::{Nvml, Origin, Record, System};
use crate::solve::own;
use crate::solve::request::other_maker;
use crate::types::variant::{self, line_of};
use crate::types::{Cc, CpuArch, Version};

/// The name of the target.
const TARGET: &str = "host";

/// Why code is compiled on a Jetson where nobody says what must run.
const COMPILED: &str = "nothing that can be locked was seen there, and the usual wheels are not made for Jetson";

/// A spec that says what a host is and asks for what is installed there. With `build`, code is compiled there too.
pub fn of_host(record: &Record, catalog: &Catalog, build: bool) -> Draft {
    drawn(record, catalog, build, true)
}

/// The same where what must run is said elsewhere: it asks for nothing that was not seen.
pub fn of_host_beside(record: &Record, catalog: &Catalog, build: bool) -> Draft {
    drawn(record, catalog, build, false)
}

fn drawn(record: &Record, catalog: &Catalog, build: bool, alone: bool) -> Draft {
    let origin = match (&record.source, record.origin) {
        (Some(source), _) => format!("The machine described in {source}"),
        (None, Origin::Pasted) => "The machine of a pasted report".to_string(),
        (None, Origin::Observed) => "The machine that gpuenv looked at".to_string(),
    };
    let mut stack = stack(record, catalog);
    let is_bare = alone && stack.iter().all(|entry| entry.off);
    let compiled = is_bare && record.platform.system == Some(System::Tegra);
    let build_note = (compiled && !build).then_some(COMPILED);
    let build = build || compiled;
    if !build && is_bare {
        let note = if stack.is_empty() { "none was seen there: say what must run" } else { "any that fits" };
        let name = stack.first().map_or(FRAMEWORKS[0].to_string(), |entry| entry.key.clone());
        stack.push(Entry::on(&name, Value::Text("*".to_string()), note));
    }
    stack.extend(python(record));
    let machine = entries(record, catalog, build);
    Draft { origin: Some(origin), stack, build, build_note, target: TARGET.to_string(), machine, ..Draft::default() }
}

/// Why what is drafted of a host will not run there, or not on its GPUs; none where nothing says so.
pub fn unsuited(record: &Record) -> Option<String> {
    let torch = record.python.as_ref().and_then(|python| python.torch.as_ref()?.version.as_deref());
    let maker = |torch: &str| variant::parts(torch).1.and_then(other_maker);
    if let Some((torch, whose)) = torch.and_then(|torch| Some((torch, maker(torch)?))) {
        return Some(format!(
            "torch {torch} of that machine is built for {whose}, and gpuenv locks builds for NVIDIA's"
        ));
    }
    if is_wsl1(record) {
        return Some("that machine runs WSL 1, which has no GPU (`wsl --set-version` makes it WSL 2)".to_string());
    }
    let arch = record.platform.arch.as_deref().filter(|arch| CpuArch::parse(arch).is_err());
    if let Some(arch) = arch {
        return Some(format!("that machine has a processor, {arch}, for which no wheels are known"));
    }
    let os = record.platform.os.as_deref().filter(|os| os.to_ascii_lowercase().starts_with("macos"));
    os.map(|os| format!("that machine runs {os}, and what gpuenv locks runs on Linux"))
}

fn stack(record: &Record, catalog: &Catalog) -> Vec<Entry> {
    let frameworks = FRAMEWORKS.iter().filter_map(|name| framework(name, record, catalog));
    frameworks.chain(companions::of(record, catalog)).collect()
}

fn python(record: &Record) -> Option<Entry> {
    let version = record.python.as_ref()?.version.as_ref()?;
    Some(Entry::on("python", Value::Text(version.prefix(2).to_string()), format!("{version} runs there")))
}

/// The build installed there, if any. One that the catalog does not have is one of their own where torch says for which
/// CUDA it was built, as those of NVIDIA's images do; else it is a comment.
fn framework(name: &str, record: &Record, catalog: &Catalog) -> Option<Entry> {
    let python = record.python.as_ref()?;
    let torch = python.torch.as_ref().filter(|_| name == "torch");
    let installed = torch.and_then(|torch| torch.version.as_ref()).or(python.packages.get(name))?;
    let (release, variant) = match installed.split_once('+') {
        Some((release, variant)) => (release, Some(variant.to_string())),
        None => (installed.as_str(), torch.and_then(|torch| torch.cuda.as_ref()).map(variant_of)),
    };
    // A nightly that is named is judged as the release that it precedes, whatever CUDA that one is built for.
    let dated = Version::parse(release).ok().filter(|version| name == "torch" && own::day(version).is_some());
    let nightly = dated.filter(|_| variant.as_deref().is_some_and(|one| one == "cpu" || line_of(one).is_some()));
    let of = nightly.map_or_else(|| release.to_string(), |version| own::precedes(&version).to_string());
    let known = |variant: Option<&str>| {
        let mut rows = catalog.builds.of(name).iter().filter(|row| row.version.as_str() == of);
        rows.any(|row| nightly.is_some() || variant.is_none_or(|variant| row.variant == variant))
    };
    let seen = format!("{installed} is installed there");
    Some(match variant {
        Some(variant) if known(Some(&variant)) => Entry::on(name, Value::Text(format!("{release}+{variant}")), seen),
        // Built by a distribution or from source: the release is the catalog's all the same.
        None if known(None) => Entry::on(name, Value::Text(release.to_string()), seen),
        _ => match torch.and_then(|torch| torch.cuda.as_ref()) {
            Some(cuda) => {
                let own = Value::Own { version: installed.clone(), cuda: cuda.prefix(2).to_string() };
                Entry::on(name, own, format!("{seen}: a build that is not in the catalog"))
            }
            None => {
                let whose = variant::parts(installed).1.and_then(other_maker);
                let why =
                    whose.map_or("the catalog has no such build".to_string(), |whose| format!("it is for {whose}"));
                Entry::off(name, Value::Text(installed.clone()), format!("{seen}; {why}"))
            }
        },
    })
}

/// The name of the wheels built with a CUDA: `cu` and its first two numbers.
fn variant_of(cuda: &Version) -> String {
    format!("cu{}{}", cuda.major(), cuda.minor())
}

/// What a host is: its GPUs, driver and system as lines of a target.
pub fn machine(record: &Record, catalog: &Catalog) -> Vec<Entry> {
    entries(record, catalog, false)
}

fn entries(record: &Record, catalog: &Catalog, build: bool) -> Vec<Entry> {
    let mut entries = gpus(record, catalog);
    let platform = match record.platform.system {
        Some(System::Wsl) => Some("Linux inside Windows: the driver is that of Windows"),
        // The wheels are for Linux, and Windows numbers its drivers by itself.
        Some(System::Windows) => Some("the wheels run in Linux inside Windows, with the driver of Windows"),
        _ => None,
    };
    entries.extend(platform.map(|note| Entry::on("platform", Value::Text("wsl2".to_string()), note)));
    entries.extend(driver(record));
    if let Some(container) = &record.platform.container {
        let note = format!("it was seen from inside a container ({container}), so `os` is that of the image");
        entries.push(Entry::on("runtime", Value::Text("container".to_string()), note));
    }
    entries.extend(system(record, catalog));
    if build {
        entries.extend(tools(record));
    }
    entries
}

/// What code is compiled with. nvcc's own number tells its toolkit's first two.
fn tools(record: &Record) -> Vec<Entry> {
    let mut entries = Vec::new();
    let gcc = record.compilers.iter().find(|one| one.name == "gcc").and_then(|one| one.version.as_ref());
    if let Some(version) = gcc {
        entries.push(Entry::on("gcc", Value::Text(version.to_string()), "the host compiler there"));
    }
    let toolkits = record.toolkits.iter().filter_map(|one| one.nvcc.as_ref().or(one.version.as_ref()));
    let toolkits: BTreeSet<String> = toolkits.map(|version| version.prefix(2).to_string()).collect();
    if !toolkits.is_empty() {
        entries.push(Entry::on("toolkit", one_or_more(toolkits.into_iter().collect()), "installed there"));
    }
    entries
}

/// The GPUs by the names the catalog knows them by, else by their capability.
fn gpus(record: &Record, catalog: &Catalog) -> Vec<Entry> {
    let mut names: Vec<String> = Vec::new();
    let mut unknown: Vec<String> = Vec::new();
    let mut capabilities = BTreeSet::new();
    for (name, cc) in cards(record) {
        match (name, cc) {
            (Some(name), _) if matches!(catalog.gpu(&name), GpuMatch::Found(_)) => names.push(name),
            (name, Some(cc)) => {
                capabilities.insert(cc);
                names.push(format!("sm_{}", cc.number()));
                unknown.extend(name);
            }
            (name, None) => unknown.extend(name),
        }
    }
    for list in [&mut names, &mut unknown] {
        let mut seen = BTreeSet::new();
        list.retain(|name| seen.insert(name.clone()));
    }
    let mut entries = Vec::new();
    if !names.is_empty() {
        entries.push(Entry::on("gpu", one_or_more(names), source_of_gpus(record)));
    } else if without_gpu(record) {
        entries.push(Entry::on("gpu", Value::Text("none".to_string()), "no NVIDIA device is on its bus"));
    }
    if !unknown.is_empty() {
        let why = match unknown.iter().any(|name| name.ends_with("...")) {
            true => "cut off: write the whole name, or the capability as sm_XX",
            false if capabilities.is_empty() => "not in the catalog: write the capability as sm_XX",
            false => "its own name, which the catalog does not know",
        };
        entries.push(Entry::off("gpu", one_or_more(unknown), why));
    }
    entries
}

/// Names and capabilities, from the management library where it told, else as CUDA sees them.
fn cards(record: &Record) -> Vec<(Option<String>, Option<Cc>)> {
    let devices = record.libcuda.iter().flat_map(|libcuda| &libcuda.devices);
    let seen = |name: &Option<String>| devices.clone().find(|device| device.name == *name);
    let nvml = record.nvml.iter().flat_map(|nvml| &nvml.gpus);
    let told: Vec<_> = nvml
        .map(|gpu| {
            let cc = gpu.compute_capability.or_else(|| seen(&gpu.name)?.compute_capability);
            (gpu.name.clone(), cc)
        })
        .collect();
    match told.is_empty() {
        true => devices.clone().map(|device| (device.name.clone(), device.compute_capability)).collect(),
        false => told,
    }
}

fn source_of_gpus(record: &Record) -> String {
    match record.nvml.as_ref().map(|nvml| nvml.gpus.len()) {
        Some(1) => "as the driver names it".to_string(),
        Some(count) if count > 1 => format!("as the driver names them; there are {count}"),
        _ => "as CUDA names it".to_string(),
    }
}

/// Whether somebody looked and there is none.
fn without_gpu(record: &Record) -> bool {
    let looked = record.origin == Origin::Observed && record.platform.system == Some(System::Linux);
    let is_linux = record.platform.system.is_none_or(|system| system == System::Linux);
    let failed = |nvml: &Nvml| nvml.fault.as_ref().is_some_and(|fault| fault.code.is_some());
    let no_gpu = record.nvml.as_ref().is_none_or(|nvml| nvml.gpus.is_empty() && !failed(nvml));
    // A driver may be installed where its GPU is not.
    let only_driver = looked && record.pci.is_empty() && record.nodes.is_empty() && no_gpu;
    only_driver || is_linux && presence(record) == Presence::Absent
}

fn driver(record: &Record) -> Option<Entry> {
    let nvml = record.nvml.as_ref();
    let text = |version: &Version| Value::Text(version.to_string());
    let module = record.module.as_ref().and_then(|module| module.version.as_ref());
    if record.platform.system == Some(System::Tegra) {
        // Its driver comes with the board support package and is numbered by itself.
        let own = nvml.and_then(|nvml| nvml.driver.as_ref()).or(module)?;
        return Some(Entry::off("driver", text(own), "of its board support package, not of a release for servers"));
    }
    if let Some(version) = nvml.and_then(|nvml| nvml.driver.as_ref()) {
        return Some(Entry::on("driver", text(version), "as nvidia-smi tells it"));
    }
    if let Some(version) = module {
        return Some(Entry::on("driver", text(version), "the kernel module's release"));
    }
    let offered = nvml.and_then(|nvml| nvml.cuda.as_ref());
    let offered = offered.or(record.libcuda.as_ref().and_then(|libcuda| libcuda.cuda.as_ref()))?;
    Some(Entry::on("driver-cuda", text(&offered.prefix(2)), "what the driver offers; its release is not known"))
}

/// The operating system, or what of it can be told.
fn system(record: &Record, catalog: &Catalog) -> Vec<Entry> {
    let platform = &record.platform;
    let mut entries = Vec::new();
    let glibc = |note: &str| {
        let version = platform.glibc.as_ref()?;
        Some(Entry::on("glibc", Value::Text(version.to_string()), note))
    };
    let jetpack = jetpack::of(record, catalog);
    if let Jetpack::Known(row, others) = &jetpack {
        let others: Vec<String> = others.iter().map(|other| format!("or {}", other.id)).collect();
        let note = match others.is_empty() {
            true => row.name.to_string(),
            false => format!("a Jetson with this JetPack {}: what was told does not say which", others.join(" ")),
        };
        entries.push(Entry::on("os", Value::Text(row.id.to_string()), note));
    } else if let Some(os) = platform.os.as_ref().filter(|_| !matches!(jetpack, Jetpack::Open(_))) {
        let value = Value::Text(os.clone());
        match catalog.os(os) {
            OsMatch::Found(row) if row.refused.is_none() => {
                entries.push(Entry::on("os", value, row.name.to_string()));
                if platform.glibc.as_ref().is_some_and(|seen| row.glibc.as_ref().is_some_and(|own| seen != own)) {
                    entries.extend(glibc("another than this system usually has"));
                }
            }
            found => {
                let is_known = matches!(found, OsMatch::Found(_));
                let why = if is_known { "no wheels or images of it are in the catalog" } else { "not in the catalog" };
                entries.push(Entry::off("os", value, why));
                entries.extend(glibc("what wheels ask of a system"));
            }
        }
    } else {
        entries.extend(glibc("what wheels ask of a system"));
    }
    if let Some(arch) = &platform.arch {
        match CpuArch::parse(arch) {
            Ok(CpuArch::X86_64) => {}
            Ok(CpuArch::Aarch64) => entries.push(Entry::on("arch", Value::Text(arch.clone()), "its processor")),
            Err(_) => entries.push(Entry::off("arch", Value::Text(arch.clone()), "no wheels are known for it")),
        }
    }
    entries
}

fn one_or_more(mut names: Vec<String>) -> Value {
    if names.len() == 1 { Value::Text(names.remove(0)) } else { Value::List(names) }
}
