//! `gpuenv probe`: what is on this host or on one that somebody described, without a judgement.

use std::path::Path;

use crate::host::{Record, anonymous};
use crate::probe::{Depth, Wish};
use crate::report::{Exit, Failure, Report, json_text};

use super::args::ProbeArgs;
use super::files::{self, shown};
use super::observe;
use super::replace::replace;

/// Runs the command. That there is no GPU is an answer, too.
pub fn run(args: &ProbeArgs, report: &Report) -> Result<Exit, Failure> {
    let record = match &args.from {
        Some(file) => files::read_host(file, report)?,
        None => look(args, report)?,
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
fn look(args: &ProbeArgs, report: &Report) -> Result<Record, Failure> {
    let depth = match (args.quick, args.full) {
        (true, _) => Depth::Quick,
        (_, true) => Depth::Full,
        _ => Depth::Usual,
    };
    let (python, trust) = (args.python.clone(), args.trust_library_path);
    observe::observe(Wish { depth, python, trust, ..Wish::default() }, args.root.as_deref(), report)
}

/// Writes a record into a file.
pub fn save(file: &Path, record: &Record) -> Result<(), Failure> {
    let unwritten =
        |error: serde_json::Error| Failure::io("write-failed", format!("the record has no JSON form: {error}"));
    let mut text = json_text(record).map_err(unwritten)?;
    text.push('\n');
    replace(file, &text).map(|_| ())
}
