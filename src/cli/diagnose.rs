//! `gpuenv diagnose`: what a pasted error message means and what to change.

use std::io::{IsTerminal, Read};

use crate::catalog::BUILTIN;
use crate::diagnose;
use crate::report::{Exit, Failure, Report};

use super::args::DiagnoseArgs;
use super::files::reason;

/// More text than this is not read: a log's end can be pasted instead.
const CAP: u64 = 4 << 20;

/// Runs the command.
pub fn run(args: &DiagnoseArgs, report: &Report) -> Result<Exit, Failure> {
    let text = match args.text.as_deref().filter(|text| *text != "-") {
        Some(text) => text.to_string(),
        None => read(report)?,
    };
    if text.len() as u64 > CAP {
        return Err(too_large());
    }
    if text.trim().is_empty() {
        let failure = Failure::new(Exit::BadInput, "no-text", "there is no text to diagnose");
        return Err(failure.help("give the message as an argument, or pipe a log: `gpuenv diagnose < build.log`"));
    }
    let verdict = diagnose::diagnose(&text, &BUILTIN);
    report.diagnosed(&verdict)?;
    Ok(if verdict.findings.is_empty() { Exit::Unknown } else { Exit::Yes })
}

/// All of stdin; logs are not always UTF-8.
fn read(report: &Report) -> Result<String, Failure> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        report.waiting("paste the error message, then press Ctrl-D on a line of its own");
    }
    let mut bytes = Vec::new();
    stdin
        .lock()
        .take(CAP + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::io("read-failed", format!("stdin cannot be read: {}", reason(&error))))?;
    if bytes.len() as u64 > CAP {
        return Err(too_large());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn too_large() -> Failure {
    let message = format!("the text is larger than {} MiB, the most that is read", CAP >> 20);
    Failure::new(Exit::BadInput, "too-large", message).help("give the part around the error")
}
