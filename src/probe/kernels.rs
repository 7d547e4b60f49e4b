//! Kernels on every GPU a CUDA process sees: compiled, loaded, launched, their results compared with this program's
//! own. One child for each GPU, side by side; a child that crashes or hangs costs the code it was busy with, and
//! another one goes on with the rest.

mod cuda;
pub mod image;
mod nvcc;
pub mod nvrtc;
mod plan;
pub mod prebuilt;
mod programs;
mod run;

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::host::{ApiError, CudaDevice, Kernel, Probe, ProbeStatus, Record};
use crate::types::beside;

use super::child::{self, Task, ask};
use super::context::{Depth, ProbeContext};
use super::environment;
use plan::{By, Job};
use run::{KernelRequest, Reply};

pub use run::inside;

/// The probe's name.
pub const NAME: &str = "kernels";

/// How long one child may take.
const LIMIT: Duration = Duration::from_secs(20);
/// The same where only the trivial program is run.
const QUICK: Duration = Duration::from_secs(10);
/// How many children one GPU gets, the first included.
const CHILDREN: usize = 4;
/// How many GPUs work at once.
const ABREAST: usize = 16;
/// How many GPUs are tried: no machine has more, but a broken driver may say so.
const MOST: usize = 64;

/// What every child's environment has on top of the usual: with its cache the driver would not compile PTX that it has
/// seen before, and it would write into the user's home; and code that it loads lazily would fail at some later call.
const SET: &[(&str, &str)] = &[("CUDA_CACHE_DISABLE", "1"), ("CUDA_MODULE_LOADING", "EAGER")];

/// Runs the kernels and writes down how each went.
pub fn look(context: &ProbeContext, record: &mut Record) {
    let began = Instant::now();
    let (kernels, mut probe) = match ready(context, record) {
        Ok((libcuda, devices)) => on_all(context, record, libcuda, devices),
        Err(probe) => (Vec::new(), probe),
    };
    probe.millis = Some(began.elapsed().as_millis() as u64);
    record.kernels.extend(kernels);
    record.probes.push(probe);
}

fn ended(ended: ProbeStatus, detail: Option<String>) -> Probe {
    Probe { name: NAME.to_string(), ended, detail, millis: None }
}

/// The library and the devices, or why nothing can be run.
fn ready<'a>(context: &ProbeContext, record: &'a Record) -> Result<(&'a Path, &'a [CudaDevice]), Probe> {
    if !context.is_here() {
        return Err(ended(ProbeStatus::NotRun, None));
    }
    let nothing = |why: &str| ended(ProbeStatus::Absent, Some(why.to_string()));
    let libcuda = record.libcuda.as_ref().ok_or_else(|| nothing("no libcuda"))?;
    let path = libcuda.path.as_deref().ok_or_else(|| nothing("no libcuda"))?;
    let alone = libcuda.devices.iter().any(|device| device.visible_as.is_some() && device.fault.is_none());
    if libcuda.fault.is_some() && !alone || libcuda.stub == Some(true) {
        return Err(nothing("libcuda gives no device"));
    }
    if libcuda.devices.is_empty() {
        return Err(nothing("no device"));
    }
    Ok((Path::new(path), &libcuda.devices))
}

fn on_all(context: &ProbeContext, record: &Record, libcuda: &Path, devices: &[CudaDevice]) -> (Vec<Kernel>, Probe) {
    let mut environment = environment::of_child(context);
    for (name, value) in SET {
        environment::set(&mut environment, name, value);
    }
    let (mut kernels, mut probe) = (Vec::new(), ended(ProbeStatus::Done, None));
    for some in devices[..devices.len().min(MOST)].chunks(ABREAST) {
        let sound = some.iter().filter(|device| device.visible_as.is_none() || device.fault.is_none());
        let gpus = sound.map(|device| OneGpu { context, environment: &environment, libcuda, device });
        let gpus: Vec<OneGpu<'_>> = gpus.collect();
        for (of_one, how) in beside::each(&gpus, |gpu| gpu.run(record)) {
            kernels.extend(of_one);
            // What went wrong first stands for all.
            if probe.ended == ProbeStatus::Done {
                probe = how;
            }
        }
    }
    (kernels, probe)
}

/// The calls that wait for a kernel to end.
const COMPUTES: &[&str] = &["cuLaunchKernel", "cuCtxSynchronize", "cuMemcpyDtoH_v2"];

/// The calls that ask for one GPU before any code is loaded.
const OF_GPU: &[&str] = &["cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"];

/// The call or the compiler in what a child did: `cuLaunchKernel` of `cuLaunchKernel of saxpy, sm_90 by built-in`.
fn call(doing: &str) -> &str {
    doing.split(' ').next().unwrap_or(doing)
}

/// The program in what a child did, the first one where it had not come to any.
fn program(doing: &str) -> String {
    let all = programs::all();
    let known = all.iter().find(|program| doing.contains(&format!(" of {}, ", program.name)));
    known.unwrap_or(&all[0]).name.to_string()
}

/// A GPU and what its children need.
struct OneGpu<'a> {
    context: &'a ProbeContext,
    environment: &'a [(OsString, OsString)],
    libcuda: &'a Path,
    device: &'a CudaDevice,
}

impl OneGpu<'_> {
    fn run(&self, record: &Record) -> (Vec<Kernel>, Probe) {
        let jobs = plan::jobs(&self.context.options, record, self.device);
        let usual = if self.context.options.depth == Depth::Quick { QUICK } else { LIMIT };
        let limit = self.context.limit(usual);
        let folder = jobs.iter().any(|job| matches!(job.by, By::Nvcc(..))).then(|| self.folder()).flatten();
        let (mut kernels, mut left, mut probe) = (Vec::new(), &jobs[..], ended(ProbeStatus::Done, None));
        let began = Instant::now();
        for _ in 0..CHILDREN {
            let asked = self.child(left, limit, folder.as_deref());
            let next = self.outcome(&asked, left, &mut kernels);
            let (how_ended, doing) = (asked.probe.ended, &asked.doing);
            if how_ended != ProbeStatus::Done && probe.ended == ProbeStatus::Done {
                let detail = asked.probe.detail.as_deref().unwrap_or_default();
                probe = ended(how_ended, Some(format!("device {}: {detail}", self.device.ordinal)));
            }
            left = &left[next..];
            // A kernel that hangs keeps its GPU busy, and whoever hangs once may hang again: one limit is for all that
            // comes after the first child.
            let stuck = how_ended == ProbeStatus::TimedOut && COMPUTES.contains(&call(doing));
            if left.is_empty() || next == 0 || stuck || began.elapsed() >= limit * 2 {
                break;
            }
        }
        if let Some(folder) = folder {
            let _ = std::fs::remove_dir_all(folder);
        }
        (kernels, probe)
    }

    fn child(&self, jobs: &[Job], limit: Duration, folder: Option<&Path>) -> child::Reply<Reply> {
        let (libcuda, folder) = (self.libcuda.to_path_buf(), folder.map(Path::to_path_buf));
        let mut environment = self.environment.to_vec();
        // One that is reached only by itself is the first of its process.
        let device = match &self.device.visible_as {
            Some(uuid) => {
                environment::set(&mut environment, environment::VISIBLE, uuid);
                0
            }
            None => self.device.ordinal,
        };
        let request = KernelRequest { libcuda, device, jobs: jobs.to_vec(), folder };
        let task = Task { program: &self.context.program, name: NAME, limit, environment: &environment };
        let mut reply: child::Reply<Reply> = ask(&task, &request);
        let kernels = reply.answer.iter_mut().flat_map(|answer| &mut answer.kernels);
        kernels.for_each(|kernel| kernel.device = self.device.ordinal);
        reply
    }

    /// Adds what a child told, and what can be told of one that told no more; gives how many jobs are done with.
    fn outcome(&self, asked: &child::Reply<Reply>, jobs: &[Job], kernels: &mut Vec<Kernel>) -> usize {
        let failed = |job: &Job, fault: &ApiError| {
            let fault = Some(fault.clone());
            Kernel { fault, ..run::kernel(self.device.ordinal, job) }
        };
        let Some(answer) = &asked.answer else {
            // It came to no code. What it asked of this GPU, in a driver that had started, is told of it.
            let died = asked.fault(self.context.patience()).filter(|_| OF_GPU.contains(&call(&asked.doing)));
            kernels.extend(died.iter().flat_map(|fault| jobs.iter().map(|job| failed(job, fault))));
            return if died.is_some() { jobs.len() } else { 0 };
        };
        kernels.extend(answer.kernels.iter().cloned());
        if let Some(fault) = &answer.fault {
            // Without a context nothing runs, whoever compiled it.
            kernels.extend(jobs.iter().map(|job| failed(job, fault)));
            return jobs.len();
        }
        let busy = answer.begun.min(jobs.len());
        let died = asked.fault(self.context.patience()).filter(|_| answer.begun > answer.ended);
        if let Some((fault, at)) = died.zip(busy.checked_sub(1)) {
            let program = program(&asked.doing);
            kernels.push(Kernel { program, ..failed(&jobs[at], &fault) });
        }
        busy
    }

    /// A folder that nobody else can read or write. None: there is no place for one.
    fn folder(&self) -> Option<PathBuf> {
        let place = self.context.variable("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let path = place.join(format!("gpuenv-{}-{}", std::process::id(), self.device.ordinal));
        // One that is there already is somebody else's.
        DirBuilder::new().mode(0o700).create(&path).ok().map(|()| path)
    }
}
