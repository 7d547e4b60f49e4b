//! `gpuenv probe`: what is on a host, without a judgement.

use crate::report::{Exit, Failure, Report};

use super::args::ProbeArgs;
use super::files;

/// Runs the command.
pub fn run(args: &ProbeArgs, report: &Report) -> Result<Exit, Failure> {
    let record = files::read_host(&args.from, report)?;
    report.host(&record)?;
    Ok(Exit::Yes)
}
