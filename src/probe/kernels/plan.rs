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
mod tests {
    use super::*;

    fn device(cc: &str) -> CudaDevice {
        CudaDevice { compute_capability: Cc::parse(cc).ok(), ..CudaDevice::default() }
    }

    fn archs(texts: &[&str]) -> Vec<Arch> {
        texts.iter().map(|text| Arch::parse(text).unwrap()).collect()
    }

    fn told(jobs: &[Job]) -> Vec<String> {
        let told = jobs.iter().map(|job| {
            let by = match &job.by {
                By::BuiltIn => "",
                By::Nvrtc(..) => " nvrtc",
                By::Nvcc(..) => " nvcc",
            };
            match &job.code {
                Code::Cubin(arch) => format!("sm_{}{by}", arch.code()),
                Code::Ptx(cc) => format!("ptx {cc}{by}"),
                Code::PtxOfIsa(None) => "ptx".to_string(),
                Code::PtxOfIsa(Some(isa)) => format!("ptx {isa}"),
            }
        });
        told.collect()
    }

    fn host() -> Record {
        let nvrtc = |version: &str| Library {
            name: "nvrtc".into(),
            path: Some(format!("/lib/libnvrtc.so.{version}")),
            version: Version::parse(version).ok(),
            ..Library::default()
        };
        let toolkit =
            Toolkit { root: "/usr/local/cuda".into(), nvcc: Version::parse("12.4.131").ok(), ..Toolkit::default() };
        Record { libraries: vec![nvrtc("12.8"), nvrtc("12.4")], toolkits: vec![toolkit], ..Record::default() }
    }

    #[test]
    fn quick_runs_one_trivial_program() {
        let quick =
            ProbeOptions { depth: Depth::Quick, sass: archs(&["8.0", "8.6", "9.0"]), ..ProbeOptions::default() };
        let jobs_of = |cc: &str| jobs(&quick, &host(), &device(cc));
        assert_eq!(told(&jobs_of("8.9")), ["sm_86"]);
        assert!(jobs_of("8.9")[0].trivial);
        assert_eq!(told(&jobs_of("7.5")), ["sm_75"], "the lock has nothing for it");
        assert_eq!(told(&jobs_of("13.0")), ["ptx"], "nothing is built for it");
        assert_eq!(told(&jobs(&quick, &host(), &CudaDevice::default())), ["ptx"]);
    }

    #[test]
    fn a_lock_says_what_runs_and_who_compiles() {
        let options = ProbeOptions {
            sass: archs(&["7.5", "8.0", "9.0a", "9.0"]),
            ptx_isa: Version::parse("8.4").ok(),
            cuda: Version::parse("12.4.1").ok(),
            build: true,
            ..ProbeOptions::default()
        };
        let told = told(&jobs(&options, &host(), &device("9.0")));
        assert_eq!(told, ["sm_90", "ptx", "ptx 8.4", "sm_90a nvrtc", "sm_90 nvrtc", "ptx 9.0 nvrtc", "sm_90a nvcc"]);
        let plain = ProbeOptions { build: false, cuda: Version::parse("11.8").ok(), ..options };
        assert_eq!(super::tests::told(&jobs(&plain, &host(), &device("8.6"))), ["sm_80", "ptx", "ptx 8.4"]);
    }

    #[test]
    fn without_a_lock_the_best_and_the_least_are_run() {
        let told = told(&jobs(&ProbeOptions::default(), &Record::default(), &device("8.9")));
        assert_eq!(told, ["sm_89", "sm_80", "ptx"]);
        let thor = super::tests::told(&jobs(&ProbeOptions::default(), &Record::default(), &device("11.0")));
        assert_eq!(thor, ["sm_110", "ptx"]);
    }
}
