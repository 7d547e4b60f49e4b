//! `gpuenv diff`: what changes from one lock to another. Each is a file or a revision of git, which is asked for the lock
//! that it holds; nothing but the blob is read, and nothing of the checkout is run.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::lock::{self, Lock, parse};
use crate::report::{Exit, Failure, Report, clean};

use super::args::{Common, DiffArgs};
use super::files::{self, shown};

/// Runs the command.
pub fn run(common: &Common, args: &DiffArgs, report: &Report) -> Result<Exit, Failure> {
    let place = files::lock_place(common)?;
    let old = read(args.old.as_deref().unwrap_or("HEAD"), &place)?;
    let new = match &args.new {
        Some(new) => read(new, &place)?,
        None => of_file(&place)?,
    };
    let differences = lock::diff(&old, &new);
    report.differences(&differences)?;
    Ok(if args.exit_code && !differences.is_empty() { Exit::No } else { Exit::Yes })
}

/// A file if there is one of this name, else a revision of git.
fn read(name: &str, place: &Path) -> Result<Lock, Failure> {
    if Path::new(name).exists() { of_file(Path::new(name)) } else { of_revision(name, place) }
}

fn of_file(path: &Path) -> Result<Lock, Failure> {
    files::read_lock(path)?.ok_or_else(|| {
        Failure::new(Exit::BadInput, "no-lock", format!("{} does not exist", shown(path)))
            .help("run `gpuenv lock` first, or name two files or revisions of git")
    })
}

/// The lock that a revision holds in the place of this one.
fn of_revision(revision: &str, place: &Path) -> Result<Lock, Failure> {
    let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let refuse = |message: String| {
        Failure::new(Exit::BadInput, "no-revision", message)
            .help("name a file, or a revision of git as in `gpuenv diff HEAD~1`")
    };
    let plain = !revision.is_empty() && !revision.starts_with('-') && !revision.contains([':', '\0', '\n']);
    if !plain {
        return Err(refuse(format!("`{}` is neither a file nor a revision of git", clean(revision))));
    }
    // The blob itself: no filter, pager or text conversion that the checkout may have configured.
    let mut git = Command::new("git");
    git.args(["--no-pager", "cat-file", "blob"]).arg(format!("{revision}:./{name}")).current_dir(folder);
    let output = git.stdin(Stdio::null()).output();
    let output = output.map_err(|error| refuse(format!("git cannot be run: {error}")))?;
    if !output.status.success() {
        return Err(refuse(format!("git has no {} at `{}`", clean(&name), clean(revision))));
    }
    let text = String::from_utf8(output.stdout)
        .map_err(|_| refuse(format!("the {} of `{}` is not UTF-8", clean(&name), clean(revision))))?;
    parse(&text).map_err(|error| {
        Failure::new(Exit::BadInput, error.code(), format!("{} at `{}`: {error}", clean(&name), clean(revision)))
    })
}
