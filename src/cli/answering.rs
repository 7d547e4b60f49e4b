//! Whether the folder one stands in and what was typed lie on file systems that answer: whoever asks a mount whose server
//! is gone waits for ever, and is not told why.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::probe::answers::first_silent;
use crate::report::Failure;

use super::project::shown;

/// How long they may take in all, and where a quick answer is wanted.
const LIMIT: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(3)];

/// No path is longer.
const LONGEST: usize = 4096;

/// Refuses to begin where one of them does not answer.
pub fn check(args: &[OsString]) -> Result<(), Failure> {
    let here = std::env::current_dir().ok();
    let [usual, quick] = LIMIT;
    let limit = if args.iter().any(|arg| arg == "--quick") { quick } else { usual };
    let typed = args.iter().skip(1).filter(|arg| arg.len() < LONGEST).map(path);
    // What is read unasked may be a link to anywhere.
    let own = ["gpuenv.toml", "gpuenv.lock"].map(PathBuf::from);
    let silent = first_silent(here.iter().cloned().chain(own).chain(typed).collect(), limit);
    let Some(silent) = silent else { return Ok(()) };
    let (what, help) = match Some(&silent) == here.as_ref() {
        true => ("the current folder".to_string(), "change to another folder, and see `dmesg` and `mount`"),
        false => (shown(&silent), "see `dmesg` and `mount`: the server that it comes from may be gone"),
    };
    let message = format!("{what} does not answer: the file system that it lies on hangs");
    Err(Failure::io("no-answer", message).help(help))
}

/// What was typed, as a path: `--lock=FILE` names one too, and what names none is simply not there.
fn path(arg: &OsString) -> PathBuf {
    let text = arg.to_string_lossy();
    match text.split_once('=') {
        Some((option, value)) if option.starts_with("--") => value.into(),
        _ => arg.into(),
    }
}
