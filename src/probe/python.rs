//! The Python interpreter and what is installed in it: asked by a small script, because only the interpreter knows
//! where it looks. Deeper, torch itself is imported and made to compute.
//!
//! The interpreter runs in the root directory without the variables of Python (`-E`), so that nothing that lies around
//! where the user stands is imported; its own and the user's site-packages count, as they do for the user's programs, and
//! before them the folders of PYTHONPATH outside the project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::host::{ApiError, Probe, ProbeStatus, Python, Record, Torch, packages};
use crate::types::{Version, inflated};

use super::answers;
use super::context::ProbeContext;
use super::loader;
use super::program::{self, Said};

/// How long the interpreter may take to list its packages, in whatever state its disk is.
const LIMIT: Duration = Duration::from_secs(10);
/// How long torch may take to be imported and to compute: seconds where it is in memory, a minute on a slow disk.
const TORCH_LIMIT: Duration = Duration::from_secs(90);

static PACKAGES: LazyLock<String> =
    LazyLock::new(|| inflated(include_bytes!(concat!(env!("OUT_DIR"), "/packages.py.deflate"))));
static TORCH: LazyLock<String> =
    LazyLock::new(|| inflated(include_bytes!(concat!(env!("OUT_DIR"), "/torch.py.deflate"))));

/// What begins a line of ours among whatever else an interpreter prints.
const MARK: &str = "gpuenv=";

/// What names an interpreter that the user has named.
const NAMED: &str = "--python";

/// What the script tells. Whatever is missing, it could not tell.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    version: Option<String>,
    bits: Option<u64>,
    sites: Vec<String>,
    packages: BTreeMap<String, String>,
    origins: BTreeMap<String, String>,
}

/// What torch tells.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TorchTold {
    version: Option<String>,
    cuda: Option<String>,
    arch_list: Vec<String>,
    cudnn: Option<u64>,
    nccl: Option<String>,
    available: Option<bool>,
    computed: Option<bool>,
    copied: Option<bool>,
    reduced: Option<bool>,
    mapped: Vec<String>,
    messages: Vec<String>,
}

/// Finds the interpreter and asks it for its packages.
pub fn look(context: &ProbeContext, record: &mut Record) {
    let began = Instant::now();
    let beside = context.unasked_python().map(|python| {
        let python = python.display();
        format!("{python} lies in the project and was not run: activate its environment, or add `--python {python}`")
    });
    let Some((path, named_by)) = interpreter(context) else {
        record.probes.push(Probe { detail: beside, ..super::told("python", ProbeStatus::Absent, began) });
        return;
    };
    let mut python =
        Python { path: Some(path.display().to_string()), named_by: Some(named_by.to_string()), ..Python::default() };
    let ended = if context.is_here() { ask(context, &path, &mut python) } else { ProbeStatus::Refused };
    let detail = match ended {
        ProbeStatus::Refused if !context.is_here() => Some("another machine's programs are not run here".to_string()),
        _ => python.fault.as_ref().and_then(|fault| fault.message.clone().or(fault.name.clone())).or(beside),
    };
    record.probes.push(Probe { detail, ..super::told("python", ended, began) });
    record.python = Some(python);
}

impl ProbeContext {
    /// The interpreter that the user names, where it is not there.
    pub fn missing_python(&self) -> Option<&Path> {
        let (named, context) = (self.options.python.as_deref().filter(|_| self.is_here())?, self.clone());
        // What a folder holds that may not be entered, or that does not answer, is not known to be missing.
        let is_missing = move || {
            let path = interpreter(&context).map(|(path, _)| path);
            let is_folder = path.as_ref().is_some_and(|path| path.is_dir());
            let path = path.map(|path| path.try_exists());
            // A folder, as that of an environment, is no interpreter.
            path.is_some_and(|exists| exists.is_ok_and(|exists| !exists)) || is_folder
        };
        answers::within(Duration::from_secs(1), is_missing).unwrap_or_default().then_some(named)
    }
}

/// The interpreter: the one the user names, the active environment's, PATH's.
fn interpreter(context: &ProbeContext) -> Option<(PathBuf, &'static str)> {
    if let Some(named) = &context.options.python {
        let is_path = named.components().count() > 1;
        let found = if is_path { None } else { program::on_path(context, &named.to_string_lossy()) };
        let here = std::env::current_dir().unwrap_or_default();
        return Some((found.unwrap_or_else(|| here.join(named)), NAMED));
    }
    if let Some(environment) = context.variable("VIRTUAL_ENV").filter(|value| !value.is_empty()) {
        // Where it is gone the variable still says what the user means.
        return Some((Path::new(environment).join("bin/python"), "VIRTUAL_ENV"));
    }
    let names = ["python3", "python"];
    names.iter().find_map(|name| program::on_path(context, name)).map(|path| (path, "PATH"))
}

fn ask(context: &ProbeContext, path: &Path, python: &mut Python) -> ProbeStatus {
    let said = run(context, path, python, &PACKAGES, LIMIT);
    let told: Option<Told> = last(&said.out);
    python.fault = said.fault;
    let Some(told) = told else {
        if python.fault.is_none() {
            let message = Some("it printed nothing that makes sense".to_string());
            python.fault = Some(ApiError { at: "python".into(), code: None, name: None, message });
            return ProbeStatus::Garbled;
        }
        return ended(&python.fault);
    };
    python.version = told.version.and_then(|text| Version::parse(&text).ok());
    python.bits = told.bits;
    python.sites = told.sites;
    python.packages = told.packages;
    python.packages.retain(|name, _| packages::matters(name) || context.options.packages.contains(name));
    python.origins = told.origins;
    python.origins.retain(|name, _| python.packages.contains_key(name));
    ended(&python.fault)
}

/// Imports torch in the interpreter that was found and has it compute on every GPU.
pub fn look_at_torch(context: &ProbeContext, record: &mut Record) {
    let began = Instant::now();
    let Some(python) = record.python.as_mut().filter(|python| python.packages.contains_key("torch")) else {
        record.probes.push(super::told("torch", ProbeStatus::Absent, began));
        return;
    };
    let path = PathBuf::from(python.path.clone().unwrap_or_default());
    let said = run(context, &path, python, &TORCH, TORCH_LIMIT);
    let told: Option<TorchTold> = last(&said.out);
    let answered = told.is_some();
    let told = told.unwrap_or_default();
    let version = |text: Option<String>| text.and_then(|text| Version::parse(&text).ok());
    let mut messages = told.messages;
    if let Some(fault) = &said.fault {
        let parts = [fault.name.clone(), fault.code.map(|code| format!("exit code {code}")), fault.message.clone()];
        messages.push(parts.into_iter().flatten().collect::<Vec<_>>().join(": "));
    }
    python.torch = Some(Torch {
        version: told.version,
        cuda: version(told.cuda),
        arch_list: told.arch_list,
        cudnn: told.cudnn.and_then(super::version::packed),
        nccl: version(told.nccl),
        available: told.available,
        computed: told.computed,
        copied: told.copied,
        reduced: told.reduced,
        mapped: told.mapped,
        messages,
    });
    let ended = if said.fault.is_none() && !answered { ProbeStatus::Garbled } else { ended(&said.fault) };
    let detail = said.fault.and_then(|fault| fault.message.or(fault.name));
    record.probes.push(Probe { detail, ..super::told("torch", ended, began) });
}

/// Runs a script in the interpreter.
fn run(context: &ProbeContext, path: &Path, python: &Python, script: &str, limit: Duration) -> Said {
    let folders = python_path(context);
    let args: Vec<&str> = ["-E", "-B", "-c", script].into_iter().chain(folders.iter().map(String::as_str)).collect();
    match python.named_by.as_deref() {
        Some(NAMED) => program::run_trusted(context, path, &args, limit),
        _ => program::run(context, path, &args, limit),
    }
}

/// The folders of PYTHONPATH, from which a program imports before it looks into site-packages: as modules of clusters and
/// `pip install --target` leave them. Those that depend on where one stands or lie in the project are left out, and for
/// root those that others can write to.
fn python_path(context: &ProbeContext) -> Vec<String> {
    let Some(value) = context.variable("PYTHONPATH") else { return Vec::new() };
    let is_safe = |folder: &Path| context.trusts_everywhere() || loader::danger(folder).is_none();
    let folders = std::env::split_paths(value).filter(|folder| folder.is_absolute());
    let ours = folders.filter(|folder| !context.is_folder_of_project(folder) && is_safe(folder));
    ours.filter_map(|folder| folder.into_os_string().into_string().ok()).collect()
}

/// The last line of ours in what was printed.
fn last<T: for<'de> Deserialize<'de>>(out: &str) -> Option<T> {
    let ours = out.lines().rev().filter_map(|line| line.strip_prefix(MARK));
    ours.filter_map(|json| serde_json::from_str(json).ok()).next()
}

fn ended(fault: &Option<ApiError>) -> ProbeStatus {
    match fault {
        None => ProbeStatus::Done,
        Some(fault) => match fault.name.as_deref() {
            Some("ETIMEDOUT") => ProbeStatus::TimedOut,
            Some("EPERM") => ProbeStatus::Refused,
            Some(name) if name.starts_with("SIG") => ProbeStatus::Crashed,
            _ => ProbeStatus::Failed,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_line_is_found_in_garbage() {
        let told: Option<Told> = last("\u{1b}[31mhello\ngpuenv={\"bits\": 32}\ngpuenv={\"bits\": 64}\ngpuenv={\"bi");
        assert_eq!(told.and_then(|told| told.bits), Some(64));
        assert!(last::<Told>("gpuenv").is_none());
        assert!(last::<Told>("gpuenv=[1, 2]\nbye").is_none());
    }
}
