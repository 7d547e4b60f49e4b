//! The files of a project that `gpuenv init --from` reads.

use std::fs;
use std::path::{Path, PathBuf};

use crate::catalog::Catalog;
use crate::host;
use crate::init::manifest::{Kind, Left, Manifest, Refused, of_manifests};
use crate::init::{Draft, Value};
use crate::report::{Exit, Failure, Report, clean};
use crate::spec;
use crate::types::{CpuArch, Version, name};

use super::files;
use super::project::shown;

/// No list of packages is larger; the lock of a large project is a twentieth of it.
const CAP: u64 = 4 << 20;

/// The files: of several, those that can be read, and the rest is told.
pub fn read(paths: &[PathBuf], report: &Report) -> Result<Vec<Manifest>, Failure> {
    let (mut manifests, mut unknown) = (Vec::new(), Vec::new());
    for path in paths {
        match manifest(path, report)? {
            Ok(manifest) => manifests.push(manifest),
            Err(failure) => unknown.push(failure),
        }
    }
    if manifests.is_empty() && !unknown.is_empty() {
        return Err(unknown.swap_remove(0));
    }
    for problem in unknown.iter().flat_map(|failure| &failure.problems) {
        let help = problem.help.as_deref().unwrap_or_default();
        report.note(&format!("{}, and it is left out: {help}", problem.message));
    }
    Ok(manifests)
}

/// What the files ask for with some of their extras and groups, and the lines that the draft does not hold.
pub fn drafted(
    files: &[Manifest],
    catalog: &Catalog,
    extras: &[String],
    target: (Option<Version>, Option<CpuArch>),
) -> Result<(Draft, Vec<Left>), Failure> {
    let extras: Vec<String> = extras.iter().map(|extra| name::package(extra)).collect();
    of_manifests(files, catalog, &extras, target).map_err(|refused| match refused {
        Refused::Unread { file, line, why } => {
            let message = format!("{file}:{line} cannot be read: {}", clean(&why));
            Failure::new(Exit::BadInput, "bad-manifest", message)
                .help("correct or shorten it there, or leave the file out; nothing was written")
        }
        Refused::NoExtra { name, known, unread } => {
            let message = format!("--extra {}: no file has such an extra or group", clean(&name));
            let help = match unread {
                Some(file) => format!("the extras of {file} are made by a program and not read: write what it brings to a requirements.txt"),
                None if known.is_empty() => "they have none".to_string(),
                None => format!("they have {}", known.join(", ")),
            };
            Failure::new(Exit::BadInput, "usage", message).help(clean(&help))
        }
    })
}

/// `-` is stdin. What has no name of its own, as a pipe, is known by what is in it.
/// Inside, why one is left out that is of no kind which is read.
fn manifest(path: &Path, report: &Report) -> Result<Result<Manifest, Failure>, Failure> {
    let is_stdin = path == Path::new("-");
    let name = if is_stdin { "stdin".to_string() } else { shown(path) };
    if path.is_dir() {
        return Err(Failure::io("not-a-file", format!("{name} is a folder")).help(in_folder(path)));
    }
    if ["https://", "http://"].iter().any(|scheme| name.starts_with(scheme)) {
        return Err(Failure::new(Exit::BadInput, "usage", format!("--from {name}: nothing is fetched"))
            .help("download the file, and name that"));
    }
    let bytes = match is_stdin {
        true => files::read_stdin("a file of the project holds", CAP + 1, report)?,
        false => files::read_or_pipe(path, CAP + 1)?,
    };
    if bytes.len() as u64 > CAP {
        let message = format!("{name} is larger than {} MiB, the most that is read", CAP >> 20);
        return Err(Failure::new(Exit::BadInput, "too-large", message)
            .help("name a file that says what the project asks for, not all that is installed"));
    }
    if let Some((command, help)) = installed(&bytes, path) {
        let message =
            format!("--from {name}: this is the output of `{command}`, which tells what is installed somewhere");
        return Err(Failure::new(Exit::BadInput, "usage", message).help(help));
    }
    let is_nameless = is_stdin || path.starts_with("/dev") || path.starts_with("/proc");
    let of_text = || Kind::of_text(&host::decode(&bytes)).filter(|_| is_nameless && !is_machine(&bytes));
    let Some(kind) = kind(path).or_else(|| of_list(path, &bytes)).or_else(of_text) else {
        let message = format!("--from {name}: it is not known what kind of file this is");
        let help = match is_machine(&bytes) {
            true => format!("it describes a machine: use `gpuenv init --host {}`", shown(path)),
            false if is_nameless => format!("write it to a file of one of these names: {}", Kind::NAMES),
            false => elsewhere(path, &bytes),
        };
        return Ok(Err(Failure::new(Exit::BadInput, "usage", message).help(help)));
    };
    match spec::decode(bytes) {
        Ok(text) => Ok(Ok(Manifest { kind, name, text })),
        Err(error) => Err(Failure::new(Exit::BadInput, "bad-manifest", format!("{name}: {}", error.message))
            .help(error.help.unwrap_or_else(|| "save it again as UTF-8".to_string()))),
    }
}

/// A list of what is installed, as tools print it for people: by which command, and what to do with it.
fn installed(bytes: &[u8], path: &Path) -> Option<(&'static str, String)> {
    let text = host::decode(bytes);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let head: Vec<String> =
        lines.by_ref().take(4).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let command = match head.first().map(String::as_str)? {
        _ if head.iter().any(|line| line.starts_with("# $ conda create --name")) => {
            let help = "write it with `conda env export > environment.yml`, then `gpuenv init --from environment.yml`";
            return Some(("conda list --export", help.to_string()));
        }
        first if first.starts_with("# packages in environment at") => "conda list",
        _ if head.iter().any(|line| line.starts_with("# Name Version Build")) => "conda list",
        "Package Version" | "Package Version Editable project location" => "pip list",
        _ => return None,
    };
    // A name such as requirements.txt is not taken for a machine.
    let host = if kind(path).is_some() { format!("- < {}", shown(path)) } else { shown(path) };
    Some((command, format!("use `gpuenv init --host {host}`")))
}

/// The files of a folder that can be read, as they are named.
fn in_folder(folder: &Path) -> String {
    let files = folder.read_dir().into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let files = files.filter(|path| kind(path).is_some() && path.is_file());
    let mut named: Vec<String> = files.map(|path| format!("`--from {}`", shown(&path))).collect();
    named.sort_unstable();
    if named.is_empty() {
        format!("name a file in it: --from reads {}", Kind::NAMES)
    } else {
        format!("write {}", named.join(" or "))
    }
}

/// What to do with a file whose name tells nothing, or that another tool reads.
fn elsewhere(path: &Path, bytes: &[u8]) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let write = |command: &str| format!("`{command} > requirements.txt` writes what is read here");
    match &*name {
        "poetry.lock" => write("poetry export --without-hashes"),
        "Pipfile" | "Pipfile.lock" => write("pipenv requirements"),
        _ if name.ends_with(".sh") => "write what its `pip install` lines name to a requirements.txt".to_string(),
        _ if path.extension().is_none() && Kind::of_text(&host::decode(bytes)).is_some() => {
            format!("what it holds tells the kind where it has no name: `gpuenv init --from - < {}`", shown(path))
        }
        _ => format!("--from reads {}", Kind::NAMES),
    }
}

/// What kind of file it is by its name.
fn kind(path: &Path) -> Option<Kind> {
    Kind::of(&path.file_name()?.to_string_lossy())
}

/// Whether a file is one of a project, by its name or as a list of packages.
pub fn is_of_project(path: &Path) -> bool {
    let is_list = || path.is_file() && fs::read(path).is_ok_and(|bytes| of_list(path, &bytes).is_some());
    kind(path).is_some() || is_list()
}

/// A list of requirements by any name, `requirements/base.txt` or what `-r more.txt` leads to.
fn of_list(path: &Path, bytes: &[u8]) -> Option<Kind> {
    let is_list = path.extension().is_some_and(|ending| ending == "txt" || ending == "in");
    (is_list && !is_machine(bytes)).then_some(Kind::Requirements)
}

/// Whether a text tells of a GPU or its driver, as no list of packages does.
fn is_machine(bytes: &[u8]) -> bool {
    let record = host::read_any(&host::decode(bytes)).ok();
    record.is_some_and(|host| host.nvml.is_some() || host.module.is_some() || !host.pci.is_empty())
}

/// Refuses a file of a project where the description of a machine is expected.
pub fn refuse_as_host(path: &Path) -> Result<(), Failure> {
    if kind(path).is_none() {
        return Ok(());
    }
    let name = shown(path);
    let message = format!("--host {name}: it tells what a project asks for, not what a machine has");
    Err(Failure::new(Exit::BadInput, "usage", message).help(format!("use `gpuenv init --from {name}`")))
}

/// The machine of one draft and the stack of another: what a project asks for counts more than what is installed.
pub fn joined(host: Option<Draft>, files: Draft) -> Draft {
    let Some(mut draft) = host else { return files };
    let python = draft.stack.iter().find(|entry| entry.key == "python").cloned();
    let origin = files.origin.iter().chain(&draft.origin).cloned().collect::<Vec<_>>().join(". ");
    let is_cpu = |value: &Value| *value == Value::Text("none".to_string());
    for entry in files.machine {
        // What the wheels are built for does not say that a machine has no GPU.
        let known = draft.machine.iter().any(|known| known.key == entry.key && !known.off);
        let says_nothing = entry.key == "gpu" && is_cpu(&entry.value);
        if !known && !says_nothing {
            draft.machine.push(entry);
        }
    }
    draft.stack = files.stack;
    if !draft.stack.iter().any(|entry| entry.key == "python") {
        draft.stack.extend(python);
    }
    draft.build |= files.build;
    let Draft { packages, overrides, .. } = files;
    Draft { origin: Some(origin), packages, overrides, ..draft }
}
