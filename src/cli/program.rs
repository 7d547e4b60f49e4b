//! Programs of the system that gpuenv calls, beside what it looks at: curl and git. Each is an absolute program outside
//! of the project, and is stopped where it takes longer or prints more than a bound.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::types::beside;

use super::project;

/// Of what a program says of its failure no more is read.
const SAID_CAP: u64 = 1 << 12;
/// How often a program that has closed its output is asked whether it has ended.
const LOOK: Duration = Duration::from_millis(5);

/// What a program may take.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// No more is read of what it prints; one that prints more is stopped.
    pub bytes: u64,
    /// One that takes longer is stopped.
    pub time: Duration,
}

/// Why a program printed nothing that counts.
#[derive(Debug)]
pub enum Fault {
    /// It could not be started.
    Unstarted(String),
    /// It was stopped, for it took too long.
    Late,
    /// It ended with an error: its own words where it has some.
    Ended(String),
}

/// The first program of this name on the PATH, in an absolute folder outside of the project around the current folder
/// and of the one around `place`: what a checkout brings along is not run.
pub fn find(name: &str, place: &Path) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let is_brought = |path: &Path| [Path::new("."), place].iter().any(|folder| project::is_inside(folder, path));
    std::env::split_paths(&folders)
        .filter(|folder| folder.is_absolute() && !is_brought(folder))
        .map(|folder| folder.join(name).with_extension(std::env::consts::EXE_EXTENSION))
        .find(|program| program.is_file() && !is_brought(program))
}

/// What a program prints, if it ends well and in time. Of one that prints more than its bound, as much as that and one
/// byte.
pub fn output(mut command: Command, bounds: Bounds) -> Result<Vec<u8>, Fault> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| Fault::Unstarted(error.to_string()))?;
    let out = listen(child.stdout.take(), bounds.bytes + 1);
    let said = listen(child.stderr.take(), SAID_CAP);
    let bytes = out.recv_timeout(bounds.time);
    let is_cut = bytes.as_ref().is_ok_and(|bytes| bytes.len() as u64 > bounds.bytes);
    let is_late = bytes.is_err() || !is_cut && !ends(&mut child, bounds.time);
    if is_cut || is_late {
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| Fault::Ended(error.to_string()))?;
    let bytes = bytes.ok().filter(|_| !is_late).ok_or(Fault::Late)?;
    if is_cut || status.success() {
        return Ok(bytes);
    }
    let said = said.recv_timeout(LOOK * 100).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let told = why(&command, &said).map_or_else(|| status.to_string(), str::to_string);
    Err(Fault::Ended(told))
}

/// The line in which a program says why it failed: the first that it signs with its name, `curl: (60) …`, for advice may
/// follow and warnings come before; else the first that is not empty.
fn why<'s>(command: &Command, said: &'s str) -> Option<&'s str> {
    let name = Path::new(command.get_program()).file_stem()?.to_string_lossy();
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_signed = |line: &&str| line.strip_prefix(&*name).is_some_and(|rest| rest.starts_with(": "));
    lines.clone().find(is_signed).or_else(|| lines.next())
}

/// Reads a pipe beside others. Nobody waits for a reader whose pipe something else holds open.
fn listen(pipe: Option<impl Read + Send + 'static>, cap: u64) -> Receiver<Vec<u8>> {
    let (tell, heard) = channel();
    beside::start(move || {
        let mut bytes = Vec::new();
        let _ = pipe.map(|pipe| pipe.take(cap).read_to_end(&mut bytes));
        let _ = tell.send(bytes);
    });
    heard
}

/// Whether a program that has closed its output ends within this time.
fn ends(child: &mut Child, time: Duration) -> bool {
    let looks = time.as_millis() / LOOK.as_millis();
    (0..looks).any(|_| {
        let goes_on = matches!(child.try_wait(), Ok(None));
        if goes_on {
            thread::sleep(LOOK);
        }
        !goes_on
    })
}
