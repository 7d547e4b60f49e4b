//! Whose turn it is: who edits a project reads, resolves and writes gpuenv.toml and gpuenv.lock alone, or one of two edits
//! at once would be lost.
//!
//! What is locked is the folder of the spec. Nothing is made for it, so that nothing is left behind, and the system gives
//! the lock back when a run ends, be it killed. Where a folder cannot be locked (Windows, some network file systems), an
//! edit is as safe as the comparison in `replace_spec` makes it.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::report::{Failure, Report};

use super::project::shown;

/// Between two looks at whether the others are done.
const PAUSE: Duration = Duration::from_millis(25);
/// Looks until a person would wonder: a second.
const QUIET: u32 = 40;
/// Looks until the wait is given up: a minute, in which hundreds of edits are made.
const MOST: u32 = 2400;

/// A turn, which ends when this goes; none where a folder cannot be locked.
#[must_use]
pub struct Turn(#[expect(dead_code, reason = "it holds the lock")] Option<File>);

impl Turn {
    /// Waits for those who edit the project of a spec. A link to it is the same spec.
    pub fn take(spec: &Path, report: &Report) -> Result<Turn, Failure> {
        let spec = fs::canonicalize(spec).unwrap_or_else(|_| spec.to_path_buf());
        let folder = spec.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(file) = File::open(folder) else { return Ok(Turn(None)) };
        for look in 0..MOST {
            match file.try_lock() {
                Ok(()) => return Ok(Turn(Some(file))),
                Err(TryLockError::Error(_)) => return Ok(Turn(None)),
                Err(TryLockError::WouldBlock) if look == 0 && is_held_for_us(&file) => return Ok(Turn(None)),
                Err(TryLockError::WouldBlock) if look == QUIET => {
                    report.waiting(&format!("waiting for another gpuenv that edits {}", shown(&spec)));
                }
                Err(TryLockError::WouldBlock) => {}
            }
            thread::sleep(PAUSE);
        }
        let message = format!("{} is held by another program: nothing was written", shown(folder));
        let help = format!("let the other gpuenv finish or end it, then try again; `lsof {}` names it", shown(folder));
        Err(Failure::io("busy", message).help(help))
    }
}

/// Whether whoever started this run holds the folder for it, as `flock . gpuenv lock` does: the lock is that of a file which
/// was handed on.
#[cfg(target_os = "linux")]
fn is_held_for_us(folder: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |about: fs::Metadata| (about.dev(), about.ino());
    let own = folder.metadata().map(place).ok();
    fs::read_dir("/proc/self/fd").into_iter().flatten().flatten().any(|entry| {
        let locks = Path::new("/proc/self/fdinfo").join(entry.file_name());
        own.is_some_and(|own| fs::metadata(entry.path()).map(place).is_ok_and(|other| other == own))
            && fs::read_to_string(locks).is_ok_and(|locks| locks.contains("FLOCK"))
    })
}

/// Elsewhere it cannot be told.
#[cfg(not(target_os = "linux"))]
fn is_held_for_us(_: &File) -> bool {
    false
}
