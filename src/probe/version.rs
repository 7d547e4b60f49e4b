//! What a CUDA library says of itself: loaded in a child of its own and asked by its version function, which no CUDA
//! library needs a driver for.

use std::ffi::{OsStr, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use libloading::os::unix::{Library as Loaded, RTLD_GLOBAL, RTLD_LAZY, RTLD_LOCAL};
use serde::{Deserialize, Serialize};

use crate::host::{ApiError, Library, ProbeStatus};
use crate::types::{Version, distinct};

use super::child::{self, Progress, Task};
use super::context::ProbeContext;
use super::loader::Guard;
use super::question::{ChildRequest, VersionQuestion};

/// How long a library may take to load and answer.
const LIMIT: Duration = Duration::from_secs(10);
/// Of so many other copies the version is asked.
const COPIES: usize = 4;

/// What it said.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Reply {
    version: Option<Version>,
    /// The files of its family in the process after that.
    mapped: Vec<String>,
    fault: Option<ApiError>,
}

/// Asks every library that was found, and its other copies where nothing else tells their versions.
pub(super) fn ask_all(context: &ProbeContext, libraries: &mut [Library]) {
    let environment = super::of_child(context);
    let guard = Guard::of(context);
    for at in 0..libraries.len() {
        // A process has cublasLt before it loads cublas, from where it would load it by itself.
        let major = |soname: &str| soname.rsplit_once(".so.").map(|(_, major)| major.to_string());
        let helps = |other: &&Library| {
            libraries[at].name == "cublas"
                && other.name == "cublaslt"
                && major(&other.soname) == major(&libraries[at].soname)
        };
        let before: Vec<PathBuf> =
            libraries.iter().filter(helps).filter_map(|other| other.path.as_ref().map(PathBuf::from)).collect();
        let library = &mut libraries[at];
        let ask = |path: &str, before: Vec<PathBuf>| {
            let (name, soname) = (library.name.clone(), library.soname.clone());
            let question = VersionQuestion { name, soname, path: path.into(), before, guard: guard.clone() };
            let limit = context.limit(LIMIT);
            let task = Task { program: &context.program, name: "libraries", limit, environment: &environment };
            child::ask::<_, Reply>(&task, &ChildRequest::Ask(question))
        };
        let unknown = library.shadows.iter_mut().filter(|copy| copy.version.is_none());
        for copy in unknown.take(COPIES) {
            copy.version = ask(&copy.path, Vec::new()).answer.and_then(|answer| answer.version);
        }
        let Some(main) = library.path.clone() else { continue };
        let reply = ask(&main, before);
        if let Some(answer) = reply.answer {
            library.version = answer.version;
            library.fault = answer.fault;
            take_over(&mut library.parts, answer.mapped.into_iter().filter(|file| *file != main));
        }
        if reply.probe.ended != ProbeStatus::Done {
            let name = match reply.probe.ended {
                ProbeStatus::TimedOut => Some("ETIMEDOUT".to_string()),
                ProbeStatus::Refused => Some("EPERM".to_string()),
                _ => None,
            };
            let fault = ApiError { at: library.soname.clone(), code: None, name, message: reply.probe.detail };
            library.fault.get_or_insert(fault);
        }
    }
}

/// What was mapped replaces what was expected, part by part.
fn take_over(parts: &mut Vec<String>, mapped: impl Iterator<Item = String>) {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().split(".so").next().map(str::to_string);
    for file in mapped {
        parts.retain(|known| name(known) != name(&file));
        parts.push(file);
    }
    parts.sort_unstable();
}

/// The child's side of it.
pub(super) fn answer(question: &VersionQuestion, progress: &mut Progress) -> Result<(), String> {
    let name_of = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let before = question.before.iter().find_map(|path| question.guard.refuses(&name_of(path), path));
    if let Some(why) = before.or_else(|| question.guard.refuses(&question.soname, &question.path)) {
        progress.refused(&format!("not loaded: {why}"));
        return Ok(());
    }
    for path in &question.before {
        progress.doing(&format!("dlopen of {}", path.display()));
        // Where it cannot be loaded, what comes next says so too.
        let _ = open(path, RTLD_GLOBAL).map(std::mem::forget);
    }
    progress.doing(&format!("dlopen of {}", question.path.display()));
    let mut answer = Reply::default();
    match open(&question.path, RTLD_LOCAL) {
        Ok(library) => {
            answer.version = version(&library, &question.name, progress);
            progress.learnt(&answer);
            if question.name == "cudnn" {
                answer.fault = check_parts(&library, progress);
                answer.mapped = mapped("libcudnn");
            }
            // To unload is not asked of a library that only had to load.
            std::mem::forget(library);
        }
        Err(message) => {
            answer.fault = Some(ApiError { at: "dlopen".into(), code: None, name: None, message: Some(message) });
        }
    }
    progress.learnt(&answer);
    Ok(())
}

fn open(path: &Path, scope: c_int) -> Result<Loaded, String> {
    // SAFETY: the library's constructors run, which is what this child process is for.
    unsafe { Loaded::open(Some(path), RTLD_LAZY | scope) }.map_err(|error| {
        let cause = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        cause.trim().to_string()
    })
}

/// A function of the library, if it has one of this name.
fn function<'l, F>(library: &'l Loaded, name: &str, progress: &mut Progress) -> Option<libloading::os::unix::Symbol<F>>
where
    F: 'l,
{
    // SAFETY: the types are those of NVIDIA's headers, which have not changed in any release.
    let found = unsafe { library.get::<F>(name.as_bytes()) }.ok()?;
    progress.doing(name);
    Some(found)
}

type Out1 = unsafe extern "C" fn(*mut c_int) -> c_int;
type Out2 = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
type Property = unsafe extern "C" fn(c_int, *mut c_int) -> c_int;
type Plain = unsafe extern "C" fn() -> usize;
type Status = unsafe extern "C" fn() -> c_int;

fn version(library: &Loaded, name: &str, progress: &mut Progress) -> Option<Version> {
    let (mut first, mut second): (c_int, c_int) = (0, 0);
    match name {
        "cudart" => {
            let ask = function::<Out1>(library, "cudaRuntimeGetVersion", progress)?;
            // SAFETY: one integer is written.
            let ended = unsafe { ask(&mut first) };
            (ended == 0).then(|| thousands(first)).flatten()
        }
        "nvrtc" | "nvjitlink" => {
            let symbol = if name == "nvrtc" { "nvrtcVersion" } else { "nvJitLinkVersion" };
            let ask = function::<Out2>(library, symbol, progress)?;
            // SAFETY: two integers are written.
            let ended = unsafe { ask(&mut first, &mut second) };
            (ended == 0).then(|| dotted(&[first, second])).flatten()
        }
        "cublas" | "cublaslt" => {
            let symbol = if name == "cublas" { "cublasGetProperty" } else { "cublasLtGetProperty" };
            let ask = function::<Property>(library, symbol, progress)?;
            let numbers = [0, 1, 2].map(|property| {
                let mut value = -1;
                // SAFETY: one integer is written; the properties are major, minor and patch level.
                unsafe { ask(property, &mut value) };
                value
            });
            dotted(&numbers)
        }
        "cudnn" => {
            let ask = function::<Plain>(library, "cudnnGetVersion", progress)?;
            // SAFETY: it takes nothing.
            let number = unsafe { ask() };
            packed(u64::try_from(number).ok()?)
        }
        "nccl" => {
            let ask = function::<Out1>(library, "ncclGetVersion", progress)?;
            // SAFETY: one integer is written.
            let ended = unsafe { ask(&mut first) };
            (ended == 0).then(|| packed(u64::try_from(first).ok()?)).flatten()
        }
        _ => None,
    }
}

/// Makes cuDNN load its parts and compare their versions with its own. The first that does not fit is told.
fn check_parts(library: &Loaded, progress: &mut Progress) -> Option<ApiError> {
    const CHECKS: &[&str] = &[
        "cudnnGraphVersionCheck",
        "cudnnOpsVersionCheck",
        "cudnnCnnVersionCheck",
        "cudnnAdvVersionCheck",
        "cudnnOpsInferVersionCheck",
        "cudnnOpsTrainVersionCheck",
        "cudnnCnnInferVersionCheck",
        "cudnnCnnTrainVersionCheck",
        "cudnnAdvInferVersionCheck",
        "cudnnAdvTrainVersionCheck",
    ];
    let mut fault = None;
    for name in CHECKS {
        let Some(check) = function::<Status>(library, name, progress) else { continue };
        // SAFETY: it takes nothing.
        let code = unsafe { check() };
        if code != 0 && fault.is_none() {
            fault = Some(ApiError { at: (*name).to_string(), code: Some(i64::from(code)), name: None, message: None });
        }
    }
    fault
}

/// The files in this process whose names begin so, each once.
fn mapped(prefix: &str) -> Vec<String> {
    let maps = std::fs::read("/proc/self/maps").unwrap_or_default();
    let paths = maps.split(|byte| *byte == b'\n').filter_map(|line| {
        let start = line.iter().position(|byte| *byte == b'/')?;
        Some(Path::new(OsStr::from_bytes(&line[start..])))
    });
    let named =
        paths.filter(|path| path.file_name().is_some_and(|name| name.as_bytes().starts_with(prefix.as_bytes())));
    distinct(named.map(|path| path.display().to_string()))
}

/// `12040` is 12.4.
fn thousands(number: c_int) -> Option<Version> {
    (1_000..=999_990).contains(&number).then(|| dotted(&[number / 1000, number % 1000 / 10])).flatten()
}

/// `8902` is 8.9.2, `90100` is 9.1.0: since 2.9 (NCCL) and 9 (cuDNN) the major version stands before four digits.
pub(super) fn packed(number: u64) -> Option<Version> {
    let thousands = if number < 10_000 { 1_000 } else { 10_000 };
    let parts = [number / thousands, number % thousands / 100, number % 100];
    let parts = parts.map(|part| c_int::try_from(part).unwrap_or(-1));
    (number >= 1_000).then(|| dotted(&parts)).flatten()
}

/// Numbers with dots between them; none where a library answered what is no version.
fn dotted(numbers: &[c_int]) -> Option<Version> {
    let sensible = numbers.iter().all(|number| (0..=9_999).contains(number)) && numbers[0] > 0;
    let text = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
    sensible.then(|| Version::parse(&text).ok()).flatten()
}

#[cfg(test)]
mod tests;
