//! `gpuenv fleet`: many hosts in one answer.

mod check;
mod job;
mod plan;
mod source;

use std::path::PathBuf;

use crate::report::{Exit, Failure, Report};

use super::args::fleet::{FleetArgs, FleetCommand};
use super::common::{Common, Format};

/// Runs the command.
pub fn run(common: &Common, args: &FleetArgs, report: &Report) -> Result<Exit, Failure> {
    match &args.command {
        FleetCommand::Check(args) => check::run(common, args, report),
        FleetCommand::Plan(args) => plan::run(common, args, report),
        FleetCommand::Job(args) => job::run(common, args, report),
    }
}

/// The file that a report is to be written to.
pub fn output(args: &FleetArgs) -> Option<&PathBuf> {
    match &args.command {
        FleetCommand::Check(args) => args.output.as_ref(),
        FleetCommand::Plan(args) => args.output.as_ref(),
        FleetCommand::Job(_) => None,
    }
}

/// Whether a format that few commands have is one of this command's.
pub fn has(args: &FleetArgs, format: Format) -> bool {
    match args.command {
        FleetCommand::Check(_) => matches!(format, Format::Ndjson | Format::Csv | Format::Html),
        FleetCommand::Plan(_) => matches!(format, Format::Csv | Format::Html),
        FleetCommand::Job(_) => false,
    }
}
