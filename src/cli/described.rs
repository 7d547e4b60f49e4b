//! A host as a file describes it: a record, or what somebody pasted.

use std::path::Path;

use crate::diagnose;
use crate::host::{self, ReadError, Record};
use crate::report::{Exit, Failure, Problem, Report, SourceFile};

use super::files::{read_or_pipe, read_stdin};
use super::project::shown;

/// No host is larger: sixteen GPUs with every kernel make a hundredth of it, the longest collect_env less.
const HOST_CAP: u64 = 16 << 20;

/// Reads a host: a record, or what somebody pasted. `-` is stdin.
pub fn read_host(path: &Path, report: &Report) -> Result<Record, Failure> {
    let is_stdin = path == Path::new("-");
    let name = if is_stdin { "stdin".to_string() } else { shown(path) };
    let bytes = match is_stdin {
        true => read_stdin("describes the host", HOST_CAP + 1, report)?,
        false => read_or_pipe(path, HOST_CAP + 1)?,
    };
    if bytes.len() as u64 > HOST_CAP {
        let message = format!("{name} is larger than {} MiB, the most that is read", HOST_CAP >> 20);
        return Err(Failure::new(Exit::BadInput, "too-large", message).help("give the part that describes the host"));
    }
    let text = host::decode(&bytes);
    if let Some(what) = own_file(&text) {
        let message = format!("{name} is {what}, and what a host is and has is read here");
        let help = "name a record (`gpuenv probe --format json`) or a text such as that of nvidia-smi";
        return Err(Failure::new(Exit::BadInput, "not-a-record", message).help(help));
    }
    diagnose::host_of(&text).map_err(|error| bad_host(name, text, &error))
}

/// What a text is, where it is another file of gpuenv's than a record.
fn own_file(text: &str) -> Option<&'static str> {
    // What was pasted may hold either somewhere.
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'))?;
    match first {
        _ if first.starts_with("version = ") && text.contains("\ncatalog.version = ") => Some("a lock"),
        "[stack]" => Some("a gpuenv.toml"),
        _ => None,
    }
}

fn bad_host(name: String, text: String, error: &ReadError) -> Failure {
    let span = match error {
        ReadError::Malformed { line, column, .. } => Some(byte_at(&text, *line, *column)),
        _ => None,
    };
    let span = span.map(|at| at..at);
    let problem =
        Problem { code: error.code(), message: error.to_string(), span, help: Some(error.help().to_string()) };
    Failure { exit: Exit::BadInput, problems: vec![problem], file: Some(SourceFile { name, text }) }
}

/// The byte of a place, both counted from one.
fn byte_at(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let mut at = (before + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
