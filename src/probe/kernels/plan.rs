//! Which code to run on a GPU, and who compiles it.

use std::cmp::Reverse;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::coverage::{Tegra, sass_runs};
use crate::host::{CudaDevice, Library, Record, Toolkit};
use crate::probe::context::{Depth, ProbeOptions};
use crate::types::{Arch, Cc, Version, sort_by_key};

use super::prebuilt;

/// Some code and who makes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// What is to be loaded.
    pub code: Code,
    /// Who compiles it.
    pub by: By,
    /// Only the trivial program.
    pub trivial: bool,
}

/// What is to be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Code {
    /// Machine code for this architecture.
    Cubin(Arch),
    /// PTX for the driver to compile, for the architecture that the compiler has for a GPU of this capability.
    Ptx(Cc),
    /// The PTX that travels in this program, claiming this ISA; none: the one it has.
    PtxOfIsa(Option<Version>),
}

/// Who compiles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum By {
    /// It was compiled when this program was made.
    BuiltIn,
    /// The NVRTC at this path, of this version as far as it is known.
    Nvrtc(PathBuf, Option<Version>),
    /// The nvcc at this path.
    Nvcc(PathBuf, Option<Version>),
}

/// Everything that is to be run on one GPU, what matters most first.
pub fn jobs(options: &ProbeOptions, record: &Record, device: &CudaDevice) -> Vec<Job> {
    let machine = device.compute_capability.map(|cc| wished(&options.sass, cc)).unwrap_or_default();
    let ready = |arch: &&Arch| prebuilt::cubin(arch.cc).is_some();
    if options.depth == Depth::Quick {
        let best = machine.iter().find(ready).map_or(Code::PtxOfIsa(None), |arch| Code::Cubin(Arch::base(arch.cc)));
        return vec![Job { code: best, by: By::BuiltIn, trivial: true }];
    }
    let mut jobs: Vec<Job> = Vec::new();
    let add = |jobs: &mut Vec<Job>, code: Code, by: By| {
        let job = Job { code, by, trivial: false };
        if !jobs.contains(&job) {
            jobs.push(job);
        }
    };
    for arch in machine.iter().filter(ready) {
        add(&mut jobs, Code::Cubin(Arch::base(arch.cc)), By::BuiltIn);
    }
    add(&mut jobs, Code::PtxOfIsa(None), By::BuiltIn);
    if let Some(isa) = &options.ptx_isa {
        add(&mut jobs, Code::PtxOfIsa(Some(*isa)), By::BuiltIn);
    }
    if let Some(library) = record.libraries.iter().find(|library| compiles(library, options)) {
        let path = PathBuf::from(library.path.clone().unwrap_or_default());
        let by = By::Nvrtc(path, library.file_version.or(library.version));
        machine.iter().for_each(|arch| add(&mut jobs, Code::Cubin(*arch), by.clone()));
        device.compute_capability.into_iter().for_each(|cc| add(&mut jobs, Code::Ptx(cc), by.clone()));
    }
    let by_nvrtc = jobs.iter().any(|job| matches!(job.by, By::Nvrtc(..)));
    // What runs on one kind of GPU alone is not built in: where there is a compiler, it compiles that.
    let alone = !by_nvrtc && machine.first().is_some_and(|arch| *arch != Arch::base(arch.cc));
    let toolkit = record.toolkits.iter().find(|toolkit| (options.build || alone) && builds(toolkit, options));
    if let (Some(toolkit), Some(arch)) = (toolkit, machine.first()) {
        // One is enough: each takes seconds.
        let path = toolkit.nvcc_path.clone().unwrap_or_else(|| format!("{}/bin/nvcc", toolkit.root));
        add(&mut jobs, Code::Cubin(*arch), By::Nvcc(PathBuf::from(path), toolkit.nvcc));
    }
    jobs
}

/// The machine code to run on a GPU of this capability, the best first: what the lock has for it, else what this
/// program has, the best and the least.
fn wished(sass: &[Arch], cc: Cc) -> Vec<Arch> {
    // Code of toolkits whose Jetson code stands apart is loaded nowhere else, so that is what can be expected.
    let loads = |arch: &Arch| sass_runs(*arch, cc, Tegra::Apart);
    let mut locked: Vec<Arch> = sass.iter().copied().filter(loads).collect();
    sort_by_key(&mut locked, |one| Reverse(*one));
    locked.dedup();
    if locked.is_empty() {
        // A GPU that was renamed goes by the name that its driver gives it.
        let same_name = |arch: &Arch| arch.cc.major == cc.major;
        let mut ours = prebuilt::archs().rev().filter(loads).filter(same_name);
        locked = ours.next().into_iter().chain(ours.next_back()).collect();
    }
    locked
}

/// Whether this is the NVRTC of the CUDA line that is locked.
fn compiles(library: &Library, options: &ProbeOptions) -> bool {
    let version = library.version.as_ref().or(library.file_version.as_ref());
    library.name == "nvrtc" && library.path.is_some() && library.fault.is_none() && is_of_line(version, options)
}

/// Whether the nvcc of the CUDA line that is locked is in this toolkit.
fn builds(toolkit: &Toolkit, options: &ProbeOptions) -> bool {
    let version = toolkit.nvcc.as_ref();
    version.is_some() && toolkit.fault.is_none() && is_of_line(version, options)
}

/// Without a locked line any will do, and a version that is not known may be the one.
fn is_of_line(version: Option<&Version>, options: &ProbeOptions) -> bool {
    let (Some(version), Some(line)) = (version, &options.cuda) else { return true };
    version.cmp_prefix(&line.prefix(2)).is_eq()
}

#[cfg(test)]
mod tests;
