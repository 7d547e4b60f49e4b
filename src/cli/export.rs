//! `gpuenv export`: the lock rendered for another tool.

use std::path::Path;

use crate::export::{self, ExportError, Options, Shell};
use crate::report::{Exit, Failure, Report};

use super::args::{Common, ExportArgs};
use super::files::{self, shown};
use super::replace::replace;

/// Runs the command.
pub fn run(common: &Common, args: &ExportArgs, report: &Report) -> Result<Exit, Failure> {
    let format = export::format(&args.into).map_err(refused)?;
    let place = files::lock_place(common)?;
    let lock = files::read_lock(&place)?.ok_or_else(|| missing(common, &place))?;
    let options = Options {
        target: args.target.clone(),
        shell: Shell::parse(&args.shell).unwrap_or_default(),
        deactivate: args.deactivate,
        hashes: args.hashes,
    };
    let text = format.render(&lock, &options).map_err(refused)?;
    match args.output.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => {
            replace(path, &text)?;
            report.exported(format.name, &shown(path))?;
        }
        None => report.export(format.name, &text)?,
    }
    Ok(Exit::Yes)
}

/// A file that was named must be there; without a name there is simply no lock yet.
fn missing(common: &Common, place: &Path) -> Failure {
    let exit = if common.lock.is_some() { Exit::Io } else { Exit::BadInput };
    Failure::new(exit, "no-lock", format!("{} does not exist", shown(place))).help("run `gpuenv lock` first")
}

fn refused(error: ExportError) -> Failure {
    let exit = if matches!(error, ExportError::UnknownHash(_)) { Exit::Unknown } else { Exit::BadInput };
    Failure::new(exit, error.code(), error.to_string())
}
