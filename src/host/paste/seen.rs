//! What the readers have seen so far. The first word counts; a second one that differs is noted.

use std::collections::BTreeMap;

use super::super::record::{
    ApiError, BY_SMI, FORMAT, Gpu, Libcuda, Mig, Nvml, Origin, Probe, ProbeStatus, Python, Record, System, Toolkit,
    Torch,
};
use crate::host::signs::PASTE;
use crate::types::{CpuArch, Version, name};

/// No machine has more GPUs, no GPU more instances: a higher number is not theirs.
const MAX_DEVICES: u64 = 256;

/// More that could not be told says nothing new.
const MAX_FAILURES: usize = 64;

/// A record in the making.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub record: Record,
    formats: Vec<&'static str>,
    gpus: BTreeMap<u64, Gpu>,
    quarrels: Vec<String>,
    failures: Vec<(&'static str, String)>,
    /// What stands where the CUDA version of the driver stands.
    offered: Option<String>,
    /// Whether nvidia-smi is of a later branch than the driver, which does not know all that it asks for.
    pub has_newer_smi: bool,
    /// The driver model that a GPU has, as with Windows' driver.
    pub driver_model: Option<&'static str>,
    /// Whether a GPU has a persistence mode, as in the Linux inside Windows and not on Windows itself.
    pub has_persistence: bool,
}

/// Fills what is empty.
pub(super) fn fill<T>(place: &mut Option<T>, value: Option<T>) {
    if place.is_none() {
        *place = value;
    }
}

/// A version at the beginning of a text: `11.4.0` of `11.4.0-1ubuntu1`, `18.1.3` of `18.1.3 (1ubuntu1)`.
pub(super) fn version(text: &str) -> Option<Version> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].trim_end_matches('.');
    Version::parse(number).ok()
}

/// Whether a version in two numbers begins one that has more.
fn is_beginning(short: &str, whole: &str) -> bool {
    short.matches('.').count() == 1 && whole.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'))
}

/// A size in bytes, from `24576 MiB` or `24576MiB`.
pub(super) fn mebibytes(text: &str) -> Option<u64> {
    let number: u64 = text.trim().strip_suffix("MiB")?.trim().parse().ok()?;
    number.checked_mul(1 << 20)
}

/// `00000000:63:00.0`, in the record's spelling: `0000:63:00.0`.
pub(super) fn address(text: &str) -> Option<String> {
    let (domain, rest) = text.split_once(':')?;
    let hex = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let fits = hex(domain) && rest.len() == 7 && rest.split([':', '.']).all(hex);
    let domain = domain.strip_prefix("0000").filter(|rest| rest.len() == 4).unwrap_or(domain);
    fits.then(|| format!("{domain}:{rest}").to_ascii_lowercase())
}

/// A compute mode in the record's words.
pub(super) fn compute_mode(text: &str) -> Option<String> {
    let modes = [
        ("Default", "default"),
        ("Prohibited", "prohibited"),
        ("E. Process", "exclusive-process"),
        ("Exclusive_Process", "exclusive-process"),
        ("E. Thread", "exclusive-thread"),
        ("Exclusive_Thread", "exclusive-thread"),
    ];
    modes.iter().find(|(written, _)| *written == text).map(|(_, mode)| mode.to_string())
}

impl Seen {
    pub fn recognised(&mut self, format: &'static str) {
        self.formats.push(format);
    }

    /// The first format that was recognised.
    pub fn first(&self) -> Option<&'static str> {
        self.formats.first().copied()
    }

    pub fn nvml(&mut self) -> &mut Nvml {
        self.record.nvml.get_or_insert_default()
    }

    pub fn libcuda(&mut self) -> &mut Libcuda {
        self.record.libcuda.get_or_insert_default()
    }

    pub fn python(&mut self) -> &mut Python {
        self.record.python.get_or_insert_default()
    }

    pub fn torch(&mut self) -> &mut Torch {
        self.python().torch.get_or_insert_default()
    }

    /// Whether torch finds a GPU that it can use.
    pub fn available(&mut self, now: bool) {
        let first = *self.torch().available.get_or_insert(now);
        if first != now {
            self.quarrel("torch.cuda.is_available()", &first.to_string(), &now.to_string());
        }
    }

    /// The driver's release, in whosever words.
    pub fn driver(&mut self, version: Option<Version>) {
        let Some(version) = version else { return };
        match self.nvml().driver {
            None => self.nvml().driver = Some(version),
            Some(first) if first != version => self.quarrel("driver", first.as_str(), version.as_str()),
            Some(_) => {}
        }
    }

    /// The CUDA version that the driver offers, as nvidia-smi tells it, or what it writes where libcuda does not answer.
    pub fn offers(&mut self, told: &str) {
        let told = told.trim();
        let found = version(told);
        let is_refused = ["N/A", "ERR!", "Not Found"].contains(&told);
        let Some(said) = found.map(|found| found.to_string()).or(is_refused.then(|| told.to_string())) else { return };
        match self.offered.clone() {
            Some(first) if first != said => return self.quarrel("CUDA Version", &first, &said),
            Some(_) => return,
            None => self.offered = Some(said),
        }
        fill(&mut self.nvml().cuda, found);
        let message = is_refused.then(|| format!("CUDA Version: {told}"));
        let fault =
            message.map(|message| ApiError { at: BY_SMI.into(), code: None, name: None, message: Some(message) });
        fill(&mut self.libcuda().fault, fault);
    }

    /// The processor, in whosever words.
    pub fn processor(&mut self, name: &str) {
        let name = CpuArch::parse(&name.replace('-', "_")).map_or(name, |arch| arch.as_str());
        let first = self.record.platform.arch.get_or_insert_with(|| name.to_string()).clone();
        if first != name {
            self.quarrel("processor", &first, name);
        }
    }

    /// A GPU by its number; none where no machine has such a number.
    pub fn gpu(&mut self, index: u64) -> Option<&mut Gpu> {
        let new = || Gpu { index, ..Gpu::default() };
        (index < MAX_DEVICES).then(|| self.gpus.entry(index).or_insert_with(new))
    }

    /// A GPU of which something was told.
    pub fn listed(&mut self, index: u64) -> Option<&mut Gpu> {
        self.gpus.get_mut(&index)
    }

    /// A GPU's name; the whole name where another block has cut it off.
    pub fn name(&mut self, index: u64, name: &str) {
        // So the driver of a Jetson calls what it drives.
        if name.ends_with("(nvgpu)") {
            fill(&mut self.record.platform.system, Some(System::Tegra));
        }
        let Some(gpu) = self.gpu(index) else { return };
        let first = gpu.name.get_or_insert_with(|| name.to_string());
        if first.strip_suffix("...").is_some_and(|start| name.starts_with(start.trim_end())) {
            *first = name.to_string();
        }
        let (first, start) = (first.clone(), name.strip_suffix("...").unwrap_or(name));
        if !first.starts_with(start.trim_end()) {
            self.quarrel(&format!("GPU {index}"), &first, name);
        }
    }

    /// A MIG instance by its number on its GPU.
    pub fn instance(&mut self, gpu: u64, number: u64) -> Option<&mut Mig> {
        let gpu = self.gpu(gpu).filter(|_| number < MAX_DEVICES)?;
        let number = usize::try_from(number).ok()?;
        if gpu.instances.len() <= number {
            gpu.instances.resize(number + 1, Mig::default());
        }
        gpu.mig = Some(true);
        gpu.instances.get_mut(number)
    }

    /// Somebody looked for instances of the GPUs whose MIG is on, and found none beside those that are listed.
    pub fn no_more_instances(&mut self) {
        let empty = self.gpus.values_mut().filter(|gpu| gpu.mig == Some(true) && gpu.instances.is_empty());
        empty.for_each(|gpu| fill(&mut gpu.instance_count, Some(0)));
    }

    /// A package of the interpreter.
    pub fn package(&mut self, name: &str, version: &str) {
        let known = self.python().packages.entry(name.to_string()).or_insert_with(|| version.to_string());
        // People type `torch 2.4`, programs print all of it.
        if is_beginning(known, version) {
            *known = version.to_string();
        } else if known != version && !is_beginning(version, known) {
            let known = known.clone();
            self.quarrel(name, &known, version);
        }
    }

    /// A toolkit, by what its nvcc answers.
    pub fn nvcc(&mut self, version: Option<Version>) {
        let Some(version) = version else { return };
        let known = self.record.toolkits.iter().filter_map(|toolkit| toolkit.nvcc.as_ref());
        // One program tells the release only, another all of the version.
        if !known.clone().any(|known| known.cmp_prefix(&version).is_eq()) {
            self.record
                .toolkits
                .retain(|toolkit| toolkit.nvcc.as_ref().is_none_or(|known| version.cmp_prefix(known).is_ne()));
            self.record.toolkits.push(Toolkit { nvcc: Some(version), ..Toolkit::default() });
        }
    }

    /// Somebody who looked says that it could not be told, and why.
    pub fn failed(&mut self, who: &'static str, why: String) {
        if self.failures.len() < MAX_FAILURES {
            self.failures.push((who, why));
        }
    }

    /// Two things are told that cannot both be of one host.
    pub fn quarrel(&mut self, what: &str, first: &str, then: &str) {
        let said = format!("{what}: {first}, elsewhere {then}");
        if self.quarrels.len() < 16 && !self.quarrels.contains(&said) {
            self.quarrels.push(said);
        }
    }

    /// The record.
    pub fn finish(mut self) -> Record {
        if !self.gpus.is_empty() && self.record.nvml.as_ref().is_some_and(|nvml| nvml.count == Some(0)) {
            self.quarrel("GPUs", &format!("{} listed", self.gpus.len()), "no device found");
        }
        // What is used in WSL2 has WDDM; TCC is for no more than Windows itself.
        let is_inside = self.has_persistence && self.driver_model != Some("TCC");
        let system = self.driver_model.map(|_| if is_inside { System::Wsl } else { System::Windows });
        fill(&mut self.record.platform.system, system);
        let mut record = self.record;
        record.format = FORMAT;
        record.origin = Origin::Pasted;
        if !self.gpus.is_empty() {
            record.nvml.get_or_insert_default().gpus = self.gpus.into_values().collect();
        }
        let probe = |name: &str, ended, detail| Probe { name: name.to_string(), ended, detail, millis: None };
        without_blanks(&mut record);
        record.probes = self.formats.iter().map(|format| probe(format, ProbeStatus::Done, None)).collect();
        let failed = self.failures.into_iter().map(|(who, why)| probe(who, ProbeStatus::Failed, Some(why)));
        record.probes.extend(failed);
        record.probes.extend(self.quarrels.into_iter().map(|said| probe(PASTE, ProbeStatus::Garbled, Some(said))));
        record
    }
}

/// What was opened to write into and got nothing is as good as absent.
fn without_blanks(record: &mut Record) {
    if let Some(python) = &mut record.python {
        // What is not installed yet cannot be imported.
        let is_listed = python.packages.keys().any(|known| name::package(known) == "torch");
        python.torch.iter_mut().filter(|_| !is_listed).for_each(|torch| torch.messages.clear());
        python.torch.take_if(|torch| *torch == Torch::default());
    }
    record.python.take_if(|python| *python == Python::default());
    record.nvml.take_if(|nvml| *nvml == Nvml::default());
    record.libcuda.take_if(|libcuda| *libcuda == Libcuda::default());
}
