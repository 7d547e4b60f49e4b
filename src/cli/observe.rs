//! Looking at this machine, for every command that does.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::export::Room;
use crate::host::Record;
use crate::probe::{self, Depth, ProbeContext, ProbeOptions};
use crate::report::{Exit, Failure, Report, json_text};

use super::common::Common;
use super::files::reason;
use super::output::Output;
use super::project::shown;

/// What is on this machine, or among the recorded files of another below `root`.
pub fn observe(options: ProbeOptions, root: Option<&Path>, report: &Report) -> Result<Record, Failure> {
    let mut context = ProbeContext::here(options).map_err(|error| match error.kind() {
        ErrorKind::Unsupported => linux_only(),
        _ => Failure::io("no-program", format!("this program's own file cannot be found: {}", reason(&error))),
    })?;
    if let Some(root) = root {
        context.root = folder(root)?;
    }
    if let Some(python) = context.missing_python() {
        if python.is_dir() {
            let own = ["bin/python", "python"].map(|own| python.join(own)).into_iter().find(|own| own.exists());
            let own = own.map_or_else(String::new, |own| format!(": `--python {}`", shown(&own)));
            return Err(Failure::io("not-found", format!("--python {} is a folder", shown(python)))
                .help(format!("give the path of the interpreter in it{own}")));
        }
        let message = format!("--python {}: there is no such program", shown(python));
        return Err(Failure::io("not-found", message).help("give the path of an interpreter, or its name on PATH"));
    }
    let progress = report.progress();
    let record = probe::observe(&context, |name| progress.says(&format!("looking at {name}")));
    drop(progress);
    // Who uses uv never activates anything, so what to type is told.
    if context.options.depth >= Depth::Usual
        && let Some(python) = context.unasked_python()
    {
        let python = shown(&python);
        report.note(&format!(
            "{python} was not asked: what lies in the project is run only if it is activated or named; add \
             `--python {python}`"
        ));
    }
    Ok(record)
}

/// Other systems have neither the driver nor the libraries that a lock is for.
fn linux_only() -> Failure {
    let message = "`gpuenv probe` and `gpuenv verify` look at this machine on Linux only";
    Failure::new(Exit::Unknown, "linux-only", message)
        .help("run `gpuenv probe -o host.json` on the Linux machine and `gpuenv verify --host host.json` anywhere")
}

/// Writes a host's record into a file.
pub fn save(file: &Output<'_>, record: &Record, common: &Common) -> Result<(), Failure> {
    file.write(common, &text(record)?, Room::Member)
}

/// A host's record as a file holds it.
pub fn text(record: &Record) -> Result<String, Failure> {
    let unwritten =
        |error: serde_json::Error| Failure::io("write-failed", format!("the record has no JSON form: {error}"));
    Ok(json_text(record).map_err(unwritten)? + "\n")
}

/// A folder that holds the recorded files of a machine.
fn folder(root: &Path) -> Result<PathBuf, Failure> {
    let found = root.canonicalize().ok().filter(|path| path.is_dir());
    found.ok_or_else(|| {
        let message = format!("--root {} is not a folder", shown(root));
        let help = "give the folder that holds the recorded sys, proc, dev, etc and usr of a machine";
        Failure::new(Exit::BadInput, "no-root", message).help(help)
    })
}
