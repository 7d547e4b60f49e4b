//! `gpuenv probe`: what is on this host or on one that somebody described, without a judgement.

use std::path::{Path, PathBuf};

use crate::host::{Record, anonymous};
use crate::probe::{self, Depth, Scene, Wish};
use crate::report::{Exit, Failure, Report};

use super::args::ProbeArgs;
use super::files::{self, shown};
use super::replace::replace;

/// Runs the command. That there is no GPU is an answer, too.
pub fn run(args: &ProbeArgs, report: &Report) -> Result<Exit, Failure> {
    let record = match &args.from {
        Some(file) => files::read_host(file, report)?,
        None => observe(args, report)?,
    };
    let record = if args.anonymous { anonymous::anonymous(record) } else { record };
    if let Some(file) = &args.output {
        save(file, &record)?;
        report.saved(&shown(file));
    }
    report.host(&record)?;
    Ok(Exit::Yes)
}

/// Looks at the machine, or at the recorded files of another.
fn observe(args: &ProbeArgs, report: &Report) -> Result<Record, Failure> {
    let depth = match (args.quick, args.full) {
        (true, _) => Depth::Quick,
        (_, true) => Depth::Full,
        _ => Depth::Usual,
    };
    let (python, trust) = (args.python.clone(), args.trust_library_path);
    let scene = Scene::here(Wish { depth, python, trust, ..Wish::default() }).map_err(|error| {
        Failure::io("no-program", format!("this program does not find itself, so it has no children: {error}"))
    })?;
    let scene = match &args.root {
        Some(root) => Scene { root: folder(root)?, ..scene },
        None => scene,
    };
    let record = probe::observe(&scene, |name| report.progress(name));
    report.progress_ends();
    Ok(record)
}

/// A folder that holds the recorded files of a machine.
pub fn folder(root: &Path) -> Result<PathBuf, Failure> {
    let found = root.canonicalize().ok().filter(|path| path.is_dir());
    found.ok_or_else(|| {
        let message = format!("--root {} is no folder", shown(root));
        let help = "give the folder that holds the recorded sys, proc, dev, etc and usr of a machine";
        Failure::new(Exit::BadInput, "no-root", message).help(help)
    })
}

/// Writes a record into a file.
pub fn save(file: &Path, record: &Record) -> Result<(), Failure> {
    let unwritten =
        |error: serde_json::Error| Failure::io("write-failed", format!("the record has no JSON form: {error}"));
    let mut text = serde_json::to_string_pretty(record).map_err(unwritten)?;
    text.push('\n');
    replace(file, &text).map(|_| ())
}
