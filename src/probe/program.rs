//! Programs that are not ours: run with a time limit, a cap on what they print, and nothing of ours to hold on to.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::host::ApiError;

use super::child::{CAP, Fate, Heard, listen, signal_name};
use super::context::ProbeContext;
use super::group;
use super::loader;

/// How long a program may take to say its version.
pub const LIMIT: Duration = Duration::from_secs(5);
/// The words of an error that are kept, its last.
const TAIL: usize = 500;

/// What a program printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// On its standard output.
    pub out: String,
    /// On its standard error.
    pub err: String,
    /// Why it did not end well, if it did not. What it printed before may still serve.
    pub fault: Option<ApiError>,
}

/// Runs a program from the root directory, in the environment of a child of ours, and waits for it, no longer than the
/// limit. Nothing is fed to it.
pub fn run(context: &ProbeContext, program: &Path, args: &[&str], limit: Duration) -> Said {
    if !context.trusts_everywhere()
        && let Some(danger) = loader::danger(program)
    {
        let (name, message) = (Some("EPERM".to_string()), Some(format!("not run as root: {danger}")));
        return Said { fault: Some(ApiError { at: shown(program), code: None, name, message }), ..Said::default() };
    }
    run_trusted(context, program, args, limit)
}

/// The same for a program that the user has named, who is then believed that it can be trusted.
pub fn run_trusted(context: &ProbeContext, program: &Path, args: &[&str], limit: Duration) -> Said {
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(super::of_child(context));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let limit = context.limit(limit);
    let heard = match group::start(&mut command) {
        Ok(child) => listen(child, Vec::new(), Instant::now() + limit, None, Duration::ZERO),
        Err(error) => Heard { fate: Fate::Unstarted(error.to_string()), ..Heard::default() },
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&heard.told), text(&heard.said));
    let tail = || {
        let start = err.char_indices().rev().nth(TAIL).map_or(0, |(at, _)| at);
        let lines: Vec<&str> = err[start..].lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        Some(lines.join("; ")).filter(|text| !text.is_empty())
    };
    let fault = |name: Option<String>, code: Option<i64>, message: Option<String>| {
        Some(ApiError { at: shown(program), code, name, message })
    };
    let fault = match heard.fate {
        Fate::Finished => None,
        Fate::Ended(status) if status.success() => None,
        Fate::Ended(status) => match status.signal() {
            Some(signal) => fault(Some(signal_name(signal)), None, tail()),
            None => fault(None, status.code().map(i64::from), tail()),
        },
        Fate::Overdue => fault(Some("ETIMEDOUT".into()), None, Some(format!("no answer within {} s", limit.as_secs()))),
        Fate::TooLoud => fault(None, None, Some(format!("it printed more than {} MiB", CAP >> 20))),
        Fate::Lost => fault(None, None, Some("it was lost".into())),
        Fate::Unstarted(error) => fault(None, None, Some(format!("it could not be started: {error}"))),
    };
    Said { out, err, fault }
}

/// A program's name without its directory.
fn shown(program: &Path) -> String {
    program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()
}

/// Whether a file can be run at all: a regular one that somebody may execute and that holds something.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.is_file() && about.len() > 0 && about.permissions().mode() & 0o111 != 0)
}

/// The first program of this name in the directories of PATH, as seen from the root. Entries that are not absolute
/// depend on where one stands and are passed over, and so is what lies in the project.
pub fn on_path(context: &ProbeContext, name: &str) -> Option<PathBuf> {
    let path: OsString = context.variable("PATH")?.to_os_string();
    std::env::split_paths(&path).filter(|folder| folder.is_absolute()).find_map(|folder| {
        let candidate = folder.join(name);
        let resolved = loader::resolve(&context.root, &candidate)?;
        let is_it = is_program(&context.at(&resolved.to_string_lossy())) && !context.is_of_project(&candidate);
        is_it.then_some(candidate)
    })
}

/// The first version in a text that stands after these words: `12.8.93` after `V`.
pub fn version_after<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    text.match_indices(words).find_map(|(at, _)| leading_version(&text[at + words.len()..]))
}

/// The version that a text begins with: numbers with at least one dot between them.
pub fn leading_version(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let version = text[..end].trim_end_matches('.');
    (version.contains('.') && version.starts_with(|c: char| c.is_ascii_digit())).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        let nvcc = "Cuda compilation tools, release 12.8, V12.8.93\nBuild cuda_12.8.r12.8/compiler.35583870_0";
        assert_eq!(version_after(nvcc, ", V"), Some("12.8.93"));
        assert_eq!(version_after(nvcc, "release "), Some("12.8"));
        assert_eq!(version_after("release\u{1b}[31m 12.8", "release "), None);
        assert_eq!(version_after("", "release "), None);
        for (text, wanted) in [("12.8.", Some("12.8")), ("12", None), (".5", None), ("13.3.0-6", Some("13.3.0"))] {
            assert_eq!(leading_version(text), wanted, "{text}");
        }
    }
}
