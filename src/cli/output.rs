//! The door to files that reports, jobs and exports go to: nothing that gpuenv reads, and nothing of somebody else's, is
//! written over.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::report::{Exit, Failure};

use super::atomic_write::replace;
use super::common::Common;
use super::files;
use super::project::{LOCK, SPEC, shown};

/// How much of a file's begin and end is looked at.
const LOOKED_AT: u64 = 2048;

/// What the files begin with, blanks aside: documents and tables.
const BEGINS: [&str; 4] = ["{\"format\":", "host,status,target,", "host,gpu,driver,os,", "package,build,gpu,driver,"];
/// What stands in their first lines: jobs, pages, pictures, reports of tests.
const NEAR_THE_BEGIN: [&str; 4] =
    ["Made by `gpuenv", "<title>gpuenv ", "What runs on what: ", "<testsuites name=\"gpuenv"];
/// What the texts for people end with.
const NEAR_THE_END: [&str; 4] =
    [" can run the spec", " can run the lock", "cannot run the lock", "native: machine code for the GPU"];

/// The file that is asked for; none where a dash, or a name that systems have for it, says the standard output.
pub fn named(asked: &Option<PathBuf>) -> Option<&Path> {
    asked.as_deref().filter(|path| !is_stdout(path))
}

/// Whether it is the standard output by name.
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Writes a report, where nothing is lost by it.
pub fn write(path: &Path, common: &Common, text: &str) -> Result<(), Failure> {
    check(path, common)?;
    replace(path, text).map(drop)
}

/// Refuses a place for a report before the work for it is begun.
pub fn check(path: &Path, common: &Common) -> Result<(), Failure> {
    refuse_own(path, common)?;
    // What cannot be read, or is no file, `replace` has its words for.
    let is_free = ends(path).is_none_or(|(begin, end)| is_report(&begin, &end));
    if !is_free {
        let message = format!("{} exists already, and gpuenv did not write it", shown(path));
        return Err(Failure::new(Exit::BadInput, "exists", message).help("name another file, or remove it first"));
    }
    Ok(())
}

/// A file that gpuenv reads is no place for what is made of it.
pub fn refuse_own(path: &Path, common: &Common) -> Result<(), Failure> {
    let lock = files::lock_place(common).ok();
    let spec = common.spec.clone().or_else(|| files::beside_lock(common).ok());
    let place = place_of(path);
    let is_named_so = place.file_name().is_some_and(|name| name == SPEC || name == LOCK);
    let is_own = |own: &PathBuf| own.exists() && place_of(own) == place;
    if !is_named_so && ![lock, spec].iter().flatten().any(is_own) {
        return Ok(());
    }
    let message = format!("{} is what gpuenv reads: it was not written over", shown(path));
    Err(Failure::new(Exit::BadInput, "exists", message).help("name another file"))
}

/// A file by the one way that leads to it.
pub fn place_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.components().collect());
    let there = folder.join(path.file_name().unwrap_or_default());
    fs::canonicalize(&there).unwrap_or(there)
}

/// How a file begins and ends.
fn ends(path: &Path) -> Option<(String, String)> {
    let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut file = File::open(path).ok()?;
    let mut part = |from: u64| {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from)).ok()?;
        (&mut file).take(LOOKED_AT).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).split_whitespace().collect::<Vec<_>>().join(" "))
    };
    Some((part(0)?, part(about.len().saturating_sub(LOOKED_AT))?))
}

/// Whether a file holds nothing, or what an earlier run wrote in whatever format.
fn is_report(begin: &str, end: &str) -> bool {
    let begins = begin.replacen("{ ", "{", 1);
    begin.is_empty()
        || BEGINS.iter().any(|known| begins.starts_with(known))
        || NEAR_THE_BEGIN.iter().any(|known| begin.contains(known))
        || NEAR_THE_END.iter().any(|known| end.contains(known))
}
