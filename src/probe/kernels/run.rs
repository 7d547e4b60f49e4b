//! One GPU's part, in a child: each job's code is compiled, loaded and run, and each outcome told at once.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::coverage::ptx_runs;
use crate::host::{ApiError, Kernel, Outcome};
use crate::probe::child::Progress;
use crate::types::{Arch, Cc, Version, sort_by_key};

use super::cuda::{Cuda, Module};
use super::image;
use super::nvcc;
use super::nvrtc::{Form, Nvrtc};
use super::plan::{By, Code, Job};
use super::prebuilt;
use super::programs::{self, Program};
use crate::probe::calls::said;

/// NVRTC_ERROR_INVALID_OPTION: an architecture it does not know.
const NO_SUCH_OPTION: i64 = 5;

/// What the child is asked.
#[derive(Debug, Serialize, Deserialize)]
pub struct KernelRequest {
    /// The driver's CUDA library, the very file.
    pub libcuda: PathBuf,
    /// The device, by CUDA's ordinal.
    pub device: u64,
    /// What to run.
    pub jobs: Vec<Job>,
    /// Where a compiler that needs files may write them.
    pub folder: Option<PathBuf>,
}

/// What the child answers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Reply {
    /// How many jobs were begun, one that was not ended included.
    pub begun: usize,
    /// How many jobs were ended.
    pub ended: usize,
    /// Why no job can be begun.
    pub fault: Option<ApiError>,
    /// The kernels so far.
    pub kernels: Vec<Kernel>,
}

/// The kernel that a job is about, before anything is known of its outcome.
pub fn kernel(device: u64, job: &Job) -> Kernel {
    let (code, ptx_isa) = match &job.code {
        Code::Cubin(arch) => (format!("sm_{}", arch.code()), None),
        Code::Ptx(cc) => (format!("compute_{}", Arch::base(*cc).code()), None),
        Code::PtxOfIsa(isa) => {
            let claims = image::ptx_claims(prebuilt::ptx());
            let target = claims.as_ref().map(|(_, target)| target.code()).unwrap_or_default();
            (format!("compute_{target}"), (*isa).or(claims.map(|(isa, _)| isa)))
        }
    };
    let compiler = |name: &str, version: &Option<Version>| match version {
        Some(version) => format!("{name} {version}"),
        None => name.to_string(),
    };
    let compiler = match &job.by {
        By::BuiltIn => "built-in".to_string(),
        By::Nvrtc(_, version) => compiler("nvrtc", version),
        By::Nvcc(_, version) => compiler("nvcc", version),
    };
    let program = programs::all()[0].name.to_string();
    Kernel { device, code, ptx_isa, compiler, program, outcome: Outcome::Failed, fault: None, micros: None }
}

/// Runs in a child: the jobs of one GPU.
pub fn inside(request: &str, progress: &mut Progress) -> Result<(), String> {
    let request: KernelRequest = serde_json::from_str(request).map_err(|error| error.to_string())?;
    let mut answer = Reply::default();
    let path = request.libcuda.display();
    match Cuda::open(&request.libcuda, request.device, &mut |call| progress.doing(&format!("{call} of {path}"))) {
        Ok(cuda) => {
            for job in &request.jobs {
                answer.begun += 1;
                progress.learnt(&answer);
                let goes_on = Run { cuda: &cuda, request: &request, progress, answer: &mut answer }.job(job);
                answer.ended += 1;
                if !goes_on {
                    break;
                }
            }
        }
        Err(fault) => answer.fault = Some(fault),
    }
    progress.learnt(&answer);
    Ok(())
}

struct Run<'a> {
    cuda: &'a Cuda,
    request: &'a KernelRequest,
    progress: &'a mut Progress,
    answer: &'a mut Reply,
}

impl Run<'_> {
    /// Compiles, loads and runs; says whether the context can be trusted after it.
    fn job(&mut self, job: &Job) -> bool {
        let mut about = kernel(self.request.device, job);
        let image = match self.compile(job, &mut about) {
            Ok(Some(image)) => image,
            Ok(None) => return true,
            Err(fault) => {
                self.tell(about, Outcome::Failed, Some(fault), None);
                return true;
            }
        };
        let began = Instant::now();
        let what = format!("{} by {}", about.code, about.compiler);
        let progress = &mut *self.progress;
        let module = match self.cuda.load(&image, &mut |call| progress.doing(&format!("{call} of {what}"))) {
            Ok(module) => module,
            Err(fault) => {
                self.tell(about, Outcome::Failed, Some(fault), None);
                return true;
            }
        };
        let loading = began.elapsed().as_micros() as u64;
        let count = if job.trivial { 1 } else { usize::MAX };
        for program in programs::all().iter().take(count) {
            if !self.program(&about, module, program, loading) {
                return false;
            }
        }
        let progress = &mut *self.progress;
        let unloaded = self.cuda.unload(module, &mut |call| progress.doing(&format!("{call} of {what}")));
        unloaded.is_ok()
    }

    fn program(&mut self, about: &Kernel, module: Module, program: &Program, loading: u64) -> bool {
        let about = Kernel { program: program.name.to_string(), ..about.clone() };
        let what = format!("{}, {} by {}", program.name, about.code, about.compiler);
        let began = Instant::now();
        let progress = &mut *self.progress;
        let ran = self.cuda.run(module, program, &mut |call| progress.doing(&format!("{call} of {what}")));
        let micros = Some(loading + began.elapsed().as_micros() as u64);
        match ran.map(|output| program.difference(&output)) {
            Ok(None) => self.tell(about, Outcome::Right, None, micros),
            Ok(Some(difference)) => {
                self.tell(about, Outcome::Wrong, Some(said(program.name, &difference)), micros);
            }
            // After most errors of a launch every later call repeats them: a new process has to go on.
            Err(fault) => {
                self.tell(about, Outcome::Failed, Some(fault), None);
                return false;
            }
        }
        true
    }

    /// The code of a job; writes down what only its compiler knows of it. None: its compiler is older than the
    /// architecture, which is no fault of this machine.
    fn compile(&mut self, job: &Job, about: &mut Kernel) -> Result<Option<Vec<u8>>, ApiError> {
        if job.by != By::BuiltIn {
            self.progress.doing(&format!("{} to {}", about.compiler, about.code));
        }
        match (&job.by, &job.code) {
            (By::BuiltIn, Code::Cubin(arch)) => Ok(prebuilt::cubin(arch.cc).map(<[u8]>::to_vec)),
            (By::Nvrtc(path, _), Code::Cubin(arch)) => nvrtc_cubin(&Nvrtc::open(path)?, *arch),
            (By::Nvcc(path, _), Code::Cubin(arch)) => {
                let folder =
                    self.request.folder.as_deref().ok_or_else(|| said("nvcc", "it has no place for its files"))?;
                of_arch(nvcc::compile(path, prebuilt::SOURCE, *arch, folder)?, "nvcc", *arch).map(Some)
            }
            (By::Nvrtc(path, _), Code::Ptx(cc)) => nvrtc_ptx(&Nvrtc::open(path)?, *cc, about),
            (_, Code::PtxOfIsa(Some(isa))) => Ok(image::with_isa(prebuilt::ptx(), isa).map(String::into_bytes)),
            (_, Code::PtxOfIsa(None) | Code::Ptx(_)) => Ok(Some(prebuilt::ptx().as_bytes().to_vec())),
        }
    }

    fn tell(&mut self, about: Kernel, outcome: Outcome, fault: Option<ApiError>, micros: Option<u64>) {
        self.answer.kernels.push(Kernel { outcome, fault, micros, ..about });
        self.progress.learnt(self.answer);
    }
}

/// The same cubin, if its header names the architecture that was asked for.
fn of_arch(cubin: Vec<u8>, compiler: &str, arch: Arch) -> Result<Vec<u8>, ApiError> {
    match image::sm_number(&cubin) {
        Some(number) if number == arch.cc.number() => Ok(cubin),
        Some(number) => Err(said(compiler, &format!("asked for sm_{} it wrote sm_{number}", arch.code()))),
        None => Err(said(compiler, "what it wrote is not a cubin")),
    }
}

fn nvrtc_cubin(nvrtc: &Nvrtc, arch: Arch) -> Result<Option<Vec<u8>>, ApiError> {
    // One that is too old to say what it knows writes no machine code either: its PTX serves.
    if !nvrtc.has_cubins() || !nvrtc.archs()?.is_some_and(|known| known.contains(&arch.cc)) {
        return Ok(None);
    }
    of_arch(nvrtc.compile(prebuilt::SOURCE, arch, Form::Cubin)?, "nvrtc", arch).map(Some)
}

/// PTX for the greatest architecture that this NVRTC knows and the driver can compile for this GPU.
fn nvrtc_ptx(nvrtc: &Nvrtc, cc: Cc, about: &mut Kernel) -> Result<Option<Vec<u8>>, ApiError> {
    let told = nvrtc.archs()?;
    let mut known: Vec<Arch> = match &told {
        Some(archs) => archs.iter().copied().map(Arch::base).collect(),
        None => prebuilt::archs().collect(),
    };
    known.retain(|arch| ptx_runs(*arch, cc));
    sort_by_key(&mut known, |arch| Reverse(*arch));
    for arch in known {
        let ptx = match nvrtc.compile(prebuilt::SOURCE, arch, Form::Ptx) {
            // It did not say what it knows, so it is tried from the top.
            Err(fault) if told.is_none() && fault.code == Some(NO_SUCH_OPTION) => continue,
            compiled => compiled?,
        };
        let claims = std::str::from_utf8(&ptx).ok().and_then(image::ptx_claims);
        let (isa, target) = claims.ok_or_else(|| said("nvrtc", "what it wrote is not PTX"))?;
        about.code = format!("compute_{}", target.code());
        about.ptx_isa = Some(isa);
        return Ok(Some(ptx));
    }
    Ok(None)
}
