//! `gpuenv probe`: what is on this host or on one that somebody described, without a judgement.

use std::path::PathBuf;
use std::time::Duration;

use crate::host::{Record, anonymous};
use crate::probe::{Depth, ProbeOptions};
use crate::report::{Exit, Failure, Report};

use super::args::ProbeArgs;
use super::common::{Common, Format};
use super::described;
use super::inputs;
use super::load_catalog;
use super::observe;
use super::output;
use super::project::shown;
use super::verify;

/// Runs the command. That there is no GPU is an answer, too.
pub fn run(common: &Common, args: &ProbeArgs, report: &Report) -> Result<Exit, Failure> {
    inputs::enter_named(&args.from);
    let output = output::asked(&args.output, "gpuenv probe", args.replace.force, common)?;
    let record = match &args.from {
        Some(file) => described::read_host(file, report)?,
        None => look(common, args, report)?,
    };
    let record = if args.anonymous { anonymous::anonymous(record) } else { record };
    if let Some(file) = &output {
        observe::save(file, &record, common)?;
        report.saved(&file.name());
    }
    if args.output.is_some() && output.is_none() && common.format == Format::Human {
        report.data(&observe::text(&record)?)?;
        return Ok(Exit::Yes);
    }
    if common.format == Format::Ndjson {
        let line = serde_json::to_string(&record).map_err(unwritten)?;
        report.data(&(line + "\n"))?;
        return Ok(Exit::Yes);
    }
    report.host(&record)?;
    if let Some(file) = output {
        report.next(&format!("`gpuenv verify --host {}`, where the lock is", file.name()));
    }
    Ok(Exit::Yes)
}

/// Looks at the machine, or at the recorded files of another; as a lock asks for it, where one is named.
fn look(common: &Common, args: &ProbeArgs, report: &Report) -> Result<Record, Failure> {
    let depth = match (args.quick, args.full) {
        (true, _) => Depth::Quick,
        (_, true) => Depth::Full,
        _ => Depth::Usual,
    };
    let mut options = match &common.lock {
        Some(_) => {
            let lock = verify::read_lock(common)?;
            let catalog = load_catalog::of_lock(&lock, common, report)?;
            verify::asked(&lock, &verify::chosen(&lock, None)?, &catalog)
        }
        None => ProbeOptions::default(),
    };
    let is_empty = |root: &&PathBuf| !["sys", "proc", "dev", "etc", "usr"].iter().any(|part| root.join(part).exists());
    if let Some(root) = args.root.as_ref().filter(is_empty) {
        report.note(&format!("{} holds none of sys, proc, dev, etc and usr: nothing was recorded there", shown(root)));
    }
    (options.depth, options.python, options.trust) = (depth, args.python.clone(), args.trust_library_path);
    options.limit = args.timeout.map(Duration::from_secs);
    observe::observe(options, args.root.as_deref(), report)
}

fn unwritten(error: serde_json::Error) -> Failure {
    Failure::io("write-failed", format!("the record has no JSON form: {error}"))
}
