//! The GPUs that a process would compute on, and which line of the lock means each: found out once for a judgement, and
//! once for all that are called alike.

use std::collections::HashMap;

use crate::catalog::rows::Gpu as Product;
use crate::catalog::{Catalog, GpuMatch};
use crate::host::{CudaDevice, Gpu, Origin, Record};
use crate::lock::{GpuLock, TargetLock};
use crate::types::Cc;

/// A GPU that a process would compute on.
#[derive(Debug, Clone)]
pub struct Seen<'a> {
    /// `0: NVIDIA H100 NVL`
    pub label: String,
    /// Its name.
    pub name: Option<&'a str>,
    /// Its compute capability; if the driver did not tell it, the catalog's for that name.
    pub cc: Option<Cc>,
    /// What CUDA tells of it.
    pub cuda: Option<&'a CudaDevice>,
    /// What NVML tells of it.
    pub nvml: Option<&'a Gpu>,
    /// The line of the lock that names its product.
    pub product: Option<&'a GpuLock>,
    /// The line of the lock that means it: by its product's name, or by its capability where that line names no product.
    pub named: Option<&'a GpuLock>,
    /// Its name is cut off, and those that begin so are of several capabilities: whether the lock names one of them.
    pub cut_off: Option<bool>,
}

/// All of them.
#[derive(Debug)]
pub struct Gpus<'a> {
    /// In CUDA's order.
    pub all: Vec<Seen<'a>>,
    /// Whether one is sound that the lock names.
    pub has_sound: bool,
}

impl<'a> Gpus<'a> {
    /// Those of a record, by CUDA's list, or NVML's where CUDA was not asked.
    pub fn of(target: &'a TargetLock, record: &'a Record, catalog: &'a Catalog) -> Gpus<'a> {
        let mut names = Names::new(target, record, catalog);
        let nvml = record.nvml.as_ref().map_or(&[][..], |nvml| &nvml.gpus);
        let devices = record.libcuda.as_ref().map_or(&[][..], |libcuda| &libcuda.devices);
        let was_asked = record.libcuda.is_some() && record.origin == Origin::Observed;
        let all: Vec<Seen<'a>> = if devices.is_empty() && !was_asked {
            nvml.iter().map(|gpu| names.seen(gpu.index, None, Some(gpu))).collect()
        } else {
            let twins = Twins::new(nvml, nvml.len() == devices.len());
            devices.iter().map(|device| names.seen(device.ordinal, Some(device), twins.of(device))).collect()
        };
        let has_sound = all.iter().any(|seen| seen.named.is_some() && is_sound(seen));
        Gpus { all, has_sound }
    }
}

fn is_sound(seen: &Seen<'_>) -> bool {
    let faulty = seen.nvml.is_some_and(|gpu| gpu.fault.is_some());
    !faulty && seen.cuda.is_none_or(|device| device.fault.is_none())
}

/// What names of GPUs mean, each looked up once.
pub struct Names<'a> {
    catalog: &'a Catalog,
    is_pasted: bool,
    locked: Vec<(&'a GpuLock, Option<Cc>, Called<'a>)>,
    known: HashMap<&'a str, (Option<&'a GpuLock>, Option<Cc>)>,
}

impl<'a> Names<'a> {
    /// Of those that a target may have.
    pub fn new(target: &'a TargetLock, record: &Record, catalog: &'a Catalog) -> Self {
        let is_pasted = record.origin == Origin::Pasted;
        let of = |gpu: &'a GpuLock| (gpu, Cc::parse(&gpu.name.to_lowercase()).ok(), Called::new(catalog, &gpu.name));
        Names { catalog, is_pasted, locked: target.gpu.iter().map(of).collect(), known: HashMap::new() }
    }

    /// A GPU by what CUDA and NVML tell of it.
    pub fn seen(&mut self, number: u64, cuda: Option<&'a CudaDevice>, nvml: Option<&'a Gpu>) -> Seen<'a> {
        let name = cuda.and_then(|device| device.name.as_deref()).or_else(|| nvml?.name.as_deref());
        // What no GPU has is a number of something else in a text: what CUDA and NVML answer is as it is.
        let of_nvml = nvml.and_then(|nvml| nvml.compute_capability);
        let of_nvml = of_nvml.filter(|cc| !self.is_pasted || self.catalog.gpus.iter().any(|row| row.cc == *cc));
        let told = cuda.and_then(|device| device.compute_capability).or(of_nvml);
        let memory = nvml.and_then(|nvml| nvml.memory);
        let cut = name.and_then(|name| self.cut(name, told, memory));
        let (product, usual) = match (&cut, name) {
            (Some(cut), _) => (cut.product, cut.cc),
            (None, name) => name.map_or((None, None), |name| self.known(name)),
        };
        let cc = told.or(usual);
        let cut_off = cut.filter(|_| cc.is_none()).map(|cut| cut.may_be_locked);
        let is_named = |(locked, bare, _): &&(&'a GpuLock, Option<Cc>, Called<'a>)| match bare {
            Some(_) => cc == *bare,
            None => product.is_some_and(|product| std::ptr::eq(product, *locked)),
        };
        let named = self.locked.iter().find(is_named).map(|(locked, ..)| *locked);
        let label = format!("{number}: {}", name.unwrap_or("GPU"));
        Seen { label, name, cc, cuda, nvml, product, named, cut_off }
    }

    /// What a name means that nvidia-smi has cut off: any of the products that begin so, as far as their names agree with
    /// the memory and with a capability that was told.
    fn cut(&self, name: &str, told: Option<Cc>, memory: Option<u64>) -> Option<Cut<'a>> {
        let start = Called::new(self.catalog, name.strip_suffix("...")?).plain;
        let begins = |(locked, bare, called): &&(&'a GpuLock, Option<Cc>, Called<'a>)| match bare {
            Some(_) => false,
            None => called.plain.starts_with(start.trim_end_matches('-')) && fits(&locked.name, memory),
        };
        let lines: Vec<&'a GpuLock> = self.locked.iter().filter(begins).map(|(locked, ..)| *locked).collect();
        let rows = match self.catalog.gpu(name) {
            GpuMatch::Found(rows) | GpuMatch::Ambiguous(rows) => rows,
            _ => Vec::new(),
        };
        let is_it = |row: &&&Product| fits(&row.name, memory) && told.is_none_or(|told| row.cc == told);
        let rows = rows.iter().filter(is_it).map(|row| row.cc);
        let mut codes: Vec<Cc> = rows.chain(lines.iter().filter_map(|line| cc_of(line))).collect();
        codes.sort_unstable();
        codes.dedup();
        let cc = codes.first().copied().filter(|_| codes.len() == 1);
        let product = lines.iter().copied().find(|line| cc.is_some() && cc_of(line) == cc);
        let may_be_locked =
            !lines.is_empty() || self.locked.iter().any(|(_, bare, _)| bare.is_some_and(|cc| codes.contains(&cc)));
        Some(Cut { product, cc, may_be_locked })
    }

    /// The line of the lock that names a product, and its compute capability: the lock's, else the catalog's.
    fn known(&mut self, name: &'a str) -> (Option<&'a GpuLock>, Option<Cc>) {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let called = Called::new(self.catalog, name);
        let product = self.locked.iter().find(|(.., locked)| called.means(locked)).map(|(locked, ..)| *locked);
        let locked = product.and_then(cc_of);
        let of_catalog = || match self.catalog.gpu(name) {
            GpuMatch::Found(gpus) => gpus.first().map(|gpu| gpu.cc),
            GpuMatch::Bare(cc) => Some(cc),
            GpuMatch::Ambiguous(gpus) if gpus.iter().all(|gpu| gpu.cc == gpus[0].cc) => Some(gpus[0].cc),
            _ => None,
        };
        let known = (product, locked.or_else(of_catalog));
        self.known.insert(name, known);
        known
    }
}

/// What a name that is cut off means.
struct Cut<'a> {
    /// The line of the lock, where all that begin so are of its capability.
    product: Option<&'a GpuLock>,
    /// The capability of all.
    cc: Option<Cc>,
    /// Whether the lock names one of them.
    may_be_locked: bool,
}

fn cc_of(line: &GpuLock) -> Option<Cc> {
    Cc::parse(&line.compute_capability).ok()
}

/// Whether a board may have so much memory by the size in its name: `A100-SXM4-40GB` shows a little less than 40 GiB.
fn fits(board: &str, memory: Option<u64>) -> bool {
    let mut sizes = board.split([' ', '-']).filter_map(|word| word.strip_suffix("GB")?.parse::<u64>().ok());
    let (Some(size), Some(memory)) = (sizes.next(), memory) else { return true };
    // A GH200 is called by the memory of its processor.
    memory.abs_diff(size << 30) <= size << 27 || memory >> 30 < size / 4
}

/// A product's name, as others are compared with it: `NVIDIA` in front, `MIG …` behind and case aside, with dashes for blanks as
/// labels of Kubernetes have them; or by two names that
/// the catalog has for it, as `Orin` and `Orin (nvgpu)`.
struct Called<'a> {
    plain: String,
    row: Option<&'a Product>,
}

impl<'a> Called<'a> {
    fn new(catalog: &'a Catalog, name: &str) -> Self {
        let plain = name.to_ascii_lowercase();
        let plain = plain.split(" mig ").next().unwrap_or(&plain).trim().replace(' ', "-");
        let row = match catalog.gpu(name) {
            GpuMatch::Found(rows) if rows.len() == 1 => Some(rows[0]),
            _ => None,
        };
        Called { plain: plain.strip_prefix("nvidia-").unwrap_or(&plain).to_string(), row }
    }

    fn means(&self, other: &Called<'_>) -> bool {
        let same = |(one, other): (&Product, &Product)| std::ptr::eq(one, other);
        self.plain == other.plain || self.row.zip(other.row).is_some_and(same)
    }
}

/// What NVML tells of the GPUs of CUDA. An instance of MIG has a UUID of its own, but its card's address.
struct Twins<'a> {
    nvml: &'a [Gpu],
    places: HashMap<Key<'a>, usize>,
    by_number: bool,
}

/// What both tell.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Uuid(&'a str),
    Address(String),
    Number(u64),
}

impl<'a> Twins<'a> {
    fn new(nvml: &'a [Gpu], by_number: bool) -> Self {
        let mut places = HashMap::new();
        for (at, gpu) in nvml.iter().enumerate() {
            let instances = gpu.instances.iter().filter_map(|instance| instance.uuid.as_deref());
            let uuids = gpu.uuid.as_deref().into_iter().chain(instances).map(Key::Uuid);
            let others = gpu.pci.as_deref().map(|pci| Key::Address(address(pci))).into_iter();
            for key in uuids.chain(others).chain([Key::Number(gpu.index)]) {
                places.entry(key).or_insert(at);
            }
        }
        Twins { nvml, places, by_number }
    }

    fn of(&self, device: &'a CudaDevice) -> Option<&'a Gpu> {
        let by_uuid = device.uuid.as_deref().and_then(|uuid| self.places.get(&Key::Uuid(uuid)));
        let by_pci = device.pci.as_deref().and_then(|pci| self.places.get(&Key::Address(address(pci))));
        let by_number = || self.places.get(&Key::Number(device.ordinal)).filter(|_| self.by_number);
        let at = by_uuid.into_iter().chain(by_pci).min().or_else(by_number)?;
        self.nvml.get(*at)
    }
}

/// A PCI address in one spelling: NVML writes domains with eight digits, the kernel with four.
pub fn address(text: &str) -> String {
    let text = text.to_ascii_lowercase();
    match text.split_once(':') {
        Some((domain, rest)) if rest.contains(':') => format!("{}:{rest}", domain.trim_start_matches('0')),
        _ => format!(":{text}"),
    }
}

#[cfg(test)]
mod tests;
