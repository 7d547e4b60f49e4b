//! `gpuenv diff`: what changes from one lock to another. Each is a file or a revision of git, which is asked for the lock
//! that it holds. Nothing but the blob is read, and nothing of the checkout is run: neither a git that lies in it nor what
//! its configuration has git call, and a blob that is not there is not fetched.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::lock::{self, Lock, parse};
use crate::probe::project::work_tree;
use crate::report::{Exit, Failure, Report, clean};

use super::args::DiffArgs;
use super::common::Common;
use super::files;
use super::program::{self, Bounds, Fault};

/// What a repository's configuration says of programs, put out of force: whoever shares a folder may have written it.
const OVERRULED: &[&str] = &[
    "protocol.allow=never",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.askPass=",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "credential.helper=",
];
/// The same for what the command line cannot overrule; git before 2.45 knows the second only.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
];
/// How long git may take to print one file.
const TIME: Duration = Duration::from_secs(30);

/// Runs the command.
pub fn run(common: &Common, args: &DiffArgs, report: &Report) -> Result<Exit, Failure> {
    let place = || files::lock_place(common);
    let old = match &args.old {
        Some(old) => read(old, place)?,
        None => of_revision("HEAD", &place()?)?,
    };
    let new = match &args.new {
        Some(new) => read(new, place)?,
        None => of_file(&place()?)?,
    };
    let differences = lock::diff(&old, &new);
    report.differences(&differences)?;
    Ok(if args.exit_code && !differences.is_empty() { Exit::No } else { Exit::Yes })
}

/// A file if there is one of this name, else a revision of git.
fn read(name: &str, place: impl Fn() -> Result<PathBuf, Failure>) -> Result<Lock, Failure> {
    if Path::new(name).exists() {
        return of_file(Path::new(name));
    }
    match place() {
        Ok(place) => of_revision(name, &place),
        // Where there is no project, it can only have been a file.
        Err(failure) if failure.problems.iter().any(|problem| problem.code == "no-lock") => of_file(Path::new(name)),
        Err(failure) => Err(failure),
    }
}

fn of_file(path: &Path) -> Result<Lock, Failure> {
    let lock = files::read_lock(path).map_err(|failure| {
        let is_unread = failure.problems.iter().any(|problem| ["bad-lock", files::NOT_A_LOCK].contains(&problem.code));
        let help = "name two locks, or revisions of git; a lock that is damaged is made anew by `gpuenv lock --fresh`";
        if is_unread { failure.help(help) } else { failure }
    });
    lock?.ok_or_else(|| {
        Failure::new(Exit::BadInput, "no-lock", files::absence(path))
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
    let bytes = blob(&format!("{revision}:./{name}"), folder).map_err(|why| {
        let what = match folder.canonicalize().ok().and_then(|folder| work_tree(&folder)) {
            Some(_) if is_revision(revision, folder) => format!("git has no {} at `{}`", clean(&name), clean(revision)),
            Some(_) => format!("`{}` is neither a file nor a revision of git", clean(revision)),
            None => format!("`{}` is neither a file nor a revision: there is no git repository here", clean(revision)),
        };
        refuse(why.map_or(what, |why| clean(&why).into_owned()))
    })?;
    if bytes.len() as u64 >= files::LOCK_CAP {
        let most = files::LOCK_CAP >> 20;
        return Err(refuse(format!("{} at `{}` is larger than {most} MiB", clean(&name), clean(revision))));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| refuse(format!("the {} of `{}` is not UTF-8", clean(&name), clean(revision))))?;
    parse(&text).map_err(|error| {
        Failure::new(Exit::BadInput, error.code(), format!("{} at `{}`: {error}", clean(&name), clean(revision)))
    })
}

/// What git holds under this name, no filter, pager or text conversion applied.
fn blob(name: &str, folder: &Path) -> Result<Vec<u8>, Option<String>> {
    git(&["cat-file", "blob", name], folder)
}

/// Whether git knows a commit by this name.
fn is_revision(revision: &str, folder: &Path) -> bool {
    git(&["cat-file", "-e", &format!("{revision}^{{commit}}")], folder).is_ok()
}

/// What git answers; an error says why it could not be asked, none that it has no such thing.
fn git(arguments: &[&str], folder: &Path) -> Result<Vec<u8>, Option<String>> {
    let git = program::find("git", folder).ok_or_else(|| "there is no git on the PATH".to_string())?;
    let folder = folder.canonicalize().map_err(|_| None)?;
    let mut command = Command::new(git);
    // Begun elsewhere: a loader may look for libraries where it stands.
    command.current_dir("/").envs(ENVIRONMENT.iter().copied()).arg("-C").arg(folder).arg("--no-pager");
    command.args(OVERRULED.iter().flat_map(|setting| ["-c", setting])).args(arguments);
    let bounds = Bounds { bytes: files::LOCK_CAP, time: TIME };
    program::output(command, bounds).map_err(|fault| match fault {
        Fault::Unstarted(why) => Some(format!("git could not be started: {why}")),
        Fault::Late => Some(format!("git gave no answer within {} s", TIME.as_secs())),
        Fault::Ended(_) => None,
    })
}
