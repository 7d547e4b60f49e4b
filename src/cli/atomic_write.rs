//! Replacing a file in one step: a kill at any moment leaves the old file or the new one, never half of either.
//!
//! The new content is written beside the old and renamed over it. While it is being written its file is locked,
//! so that a later run can tell what a killed one left behind and clear it away. Nothing is synced to disk: that
//! guards against power cuts, takes longer than everything else together, and a lock can be made again.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::report::{Exit, Failure};
use crate::spec;

use super::files::reason;
use super::project::shown;

/// Links that are followed before they are taken for a ring.
const MAX_LINKS: usize = 40;
/// Names that are tried before the folder is given up.
const MAX_NAMES: u32 = 100;

/// The files that this run has put in their places, as they are shown.
static PUT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The files that this run has written, in order: where it ends in an error all the same, that is told with it.
pub fn written() -> Vec<String> {
    PUT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Gives the file this text. False: it has it already and was not touched.
pub fn replace(path: &Path, content: &str) -> Result<bool, Failure> {
    replace_bytes(path, content.as_bytes())
}

/// Refuses a place that no file can be written to, be its folder there or not.
pub fn check(path: &Path) -> Result<(), Failure> {
    place(path).map(drop)
}

/// Gives the file this content. False: it has it already and was not touched.
pub fn replace_bytes(path: &Path, content: &[u8]) -> Result<bool, Failure> {
    let prepared = Prepared::new(path, content)?;
    let is_new = prepared.is_some();
    prepared.map_or(Ok(()), Prepared::put)?;
    Ok(is_new)
}

/// A new content that lies beside its file, and is gone again unless it is put there: of several files all are prepared
/// before the first is put in its place.
pub struct Prepared {
    /// As it was named.
    written: PathBuf,
    /// Where it goes.
    path: PathBuf,
    /// Where it lies until then, and the lock that says so.
    beside: PathBuf,
    _locked: File,
}

impl Prepared {
    /// Writes the content beside the file; none where the file has it already.
    pub fn new(written: &Path, content: &[u8]) -> Result<Option<Prepared>, Failure> {
        let path = place(written)?;
        let is_as_long = fs::metadata(&path).is_ok_and(|about| about.len() == content.len() as u64);
        if is_as_long && fs::read(&path).is_ok_and(|old| old == content) {
            return Ok(None);
        }
        // It could be replaced all the same, for that takes a right to its folder only.
        if fs::metadata(&path).is_ok_and(|about| about.permissions().readonly()) {
            let why = io::Error::new(io::ErrorKind::PermissionDenied, "it is marked read-only");
            return Err(refused(written, &why).help("allow writing with `chmod u+w`, or name another file"));
        }
        // Another run may take the half-written file for an orphan in the instant before it is locked.
        let (beside, locked) = write_beside(&path, content)
            .or_else(|error| match error.kind() {
                io::ErrorKind::NotFound if folder(&path).is_dir() => write_beside(&path, content),
                _ => Err(error),
            })
            .map_err(|error| refused(written, &error))?;
        Ok(Some(Prepared { written: written.to_path_buf(), path, beside, _locked: locked }))
    }

    /// Puts it in its place.
    pub fn put(self) -> Result<(), Failure> {
        fs::rename(&self.beside, &self.path).map_err(|error| refused(&self.written, &error))?;
        let (mut put, name) = (PUT.lock().unwrap_or_else(PoisonError::into_inner), shown(&self.written));
        if !put.contains(&name) {
            put.push(name);
        }
        Ok(())
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.beside);
    }
}

/// Where the content of a file goes: through links, and to no device or folder.
fn place(path: &Path) -> Result<PathBuf, Failure> {
    let to = follow(path).map_err(|error| {
        refused(path, &error).help(format!("remove the link {}, or name another file", shown(path)))
    })?;
    match fs::metadata(&to) {
        Ok(about) if !about.is_file() => {
            let (why, help) = match about.is_dir() {
                true => ("it is a folder", "name a file in it"),
                false => (
                    "it is not a regular file",
                    "name another file; where there is a file to name, `-` is the standard output",
                ),
            };
            Err(refused(path, &io::Error::other(why)).help(help))
        }
        _ => Ok(to),
    }
}

/// Why a file was not written, and what to do.
fn refused(path: &Path, error: &io::Error) -> Failure {
    let folder = folder(path);
    let (code, help) = match error.kind() {
        _ if !folder.exists() => ("write-failed", format!("make the folder {} first", shown(folder))),
        io::ErrorKind::PermissionDenied => (
            "permission-denied",
            format!("ask its owner for permission to write in `{}`, or name another file", shown(folder)),
        ),
        io::ErrorKind::ResourceBusy => (
            "write-failed",
            "it is a mount point, which nothing can be put in place of: mount the folder that it lies in instead of the file".into(),
        ),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ("write-failed", format!("make room on the disk of {}", shown(folder)))
        }
        _ => ("write-failed", format!("check that files can be made in {}, or name another file", shown(folder))),
    };
    Failure::io(code, format!("{} cannot be written: {}", shown(path), reason(error))).help(help)
}

/// Gives gpuenv.toml a new text in place of the one that was read. Somebody may have saved the file while it was thought
/// about: their work is worth more than a change of old text.
pub fn replace_spec(path: &Path, old: &str, new: &str) -> Result<bool, Failure> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refused(path, &error)),
        read => read.unwrap_or_default(),
    };
    let mark = if bytes.starts_with("\u{feff}".as_bytes()) { "\u{feff}" } else { "" };
    if !spec::decode(bytes).is_ok_and(|text| text == old) {
        let message = format!("{} was changed by somebody else meanwhile: nothing was written", shown(path));
        return Err(Failure::new(Exit::BadInput, "spec-changed", message).help("run the command once more"));
    }
    replace(path, &format!("{mark}{new}"))
}

/// Takes such a change back: the file is as it was before this run.
pub fn restore_spec(path: &Path, new: &str, old: &str) -> Result<(), Failure> {
    replace_spec(path, new, old)?;
    PUT.lock().unwrap_or_else(PoisonError::into_inner).retain(|name| *name != shown(path));
    Ok(())
}

/// The file a link leads to, be it there or not.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(to) => path = folder(&path).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links form a ring"))
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn write_beside(path: &Path, content: &[u8]) -> io::Result<(PathBuf, File)> {
    let Some(name) = path.file_name() else { return Err(io::Error::other("it has no name")) };
    clear_orphans(path, name);
    let (beside, mut file) = create_beside(path, name)?;
    let written = (|| {
        // Some file systems know no locks; there an orphan stays until it is removed by hand.
        let _ = file.try_lock();
        file.write_all(content)?;
        if let Ok(old) = fs::metadata(path) {
            keep_owner(&file, &old);
            file.set_permissions(old.permissions())?;
        }
        fs::metadata(&beside).map(drop)
    })();
    if let Err(error) = written {
        let _ = fs::remove_file(&beside);
        return Err(error);
    }
    Ok((beside, file))
}

/// Gives a file the owner and the group of the one that it is to replace, as far as whoever runs this may.
#[cfg(unix)]
fn keep_owner(file: &File, old: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    if fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
        let _ = fchown(file, None, Some(old.gid()));
    }
}

/// Other systems keep it themselves.
#[cfg(not(unix))]
fn keep_owner(_: &File, _: &fs::Metadata) {}

/// `.gpuenv.lock.1234-0.tmp`: hidden, and named after this process.
fn create_beside(path: &Path, name: &OsStr) -> io::Result<(PathBuf, File)> {
    let mut attempt = 0;
    loop {
        let mut own = prefix(name);
        own.push(format!("{}-{attempt}{SUFFIX}", std::process::id()));
        let beside = folder(path).join(own);
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => return Ok((beside, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < MAX_NAMES => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

const SUFFIX: &str = ".tmp";

fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// Removes what killed runs left: files of our naming that nobody holds locked.
fn clear_orphans(path: &Path, name: &OsStr) {
    let prefix = prefix(name);
    let Ok(entries) = fs::read_dir(folder(path)) else { return };
    for entry in entries.flatten() {
        let other = entry.file_name();
        let (other, prefix) = (other.as_encoded_bytes(), prefix.as_encoded_bytes());
        let middle = other.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
        let ours = middle.is_some_and(|middle| middle.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-'));
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        if File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
