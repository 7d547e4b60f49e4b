//! The files that this run has read: nothing that it makes is written over one of them, by whatever name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What the standard input is called among files, where a file is read through it.
pub const STDIN: &str = "/dev/stdin";

/// A file, whatever its names are.
#[cfg(unix)]
pub type Identity = (u64, u64);
/// Elsewhere by the one way that leads to it.
#[cfg(not(unix))]
pub type Identity = PathBuf;

static READ: Mutex<BTreeSet<Identity>> = Mutex::new(BTreeSet::new());

/// Remembers a file that is read.
pub fn enter(path: &Path) {
    READ.lock().unwrap_or_else(PoisonError::into_inner).extend(identity(path));
}

/// The same of files that are named to be read: before the place is looked at that is written to, so that nobody is told to
/// force what is refused.
pub fn enter_named<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) {
    paths.into_iter().for_each(|path| enter(path));
}

/// Whether this run has read the file.
pub fn holds(path: &Path) -> bool {
    identity(path).is_some_and(|one| READ.lock().unwrap_or_else(PoisonError::into_inner).contains(&one))
}

/// Whether both are one file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// Which file it is; none of one that is not there, or not regular.
#[cfg(unix)]
pub fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let about = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((about.dev(), about.ino()))
}

/// Which file it is; none of one that is not there, or not regular.
#[cfg(not(unix))]
pub fn identity(path: &Path) -> Option<Identity> {
    path.canonicalize().ok().filter(|path| path.is_file())
}
