//! The door to files that reports, jobs and exports go to: nothing that gpuenv reads is written over, and of what stands
//! there that alone is replaced unasked which the same command wrote and nobody changed since.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::export::{self, Room, Whose};
use crate::report::{Exit, Failure};

use super::atomic_write::replace;
use super::common::Common;
use super::files;
use super::inputs::{self, Identity};
use super::project::{LOCK, SPEC, shown};

/// How much of a file's begin and end is looked at before the whole is.
const LOOKED_AT: u64 = 1024;

/// The file that is asked for; none where a dash, or a name that systems have for it, says the standard output.
pub fn named(asked: &Option<PathBuf>) -> Option<&Path> {
    asked.as_deref().filter(|path| !is_stdout(path))
}

/// Whether it is the standard output by name.
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// A place that a command writes to.
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    path: &'a Path,
    /// The command, and the option where it has several.
    command: &'static str,
    force: bool,
}

/// The place that is asked for, where something may be written to it; none where that is the standard output. Asked before the
/// work is begun, too.
pub fn asked<'a>(
    asked: &'a Option<PathBuf>,
    command: &'static str,
    force: bool,
    common: &Common,
) -> Result<Option<Output<'a>>, Failure> {
    named(asked).map(|path| Output::new(path, command, force, common)).transpose()
}

impl<'a> Output<'a> {
    /// This place, where something may be written to it.
    pub fn new(path: &'a Path, command: &'static str, force: bool, common: &Common) -> Result<Self, Failure> {
        let output = Output { path, command, force };
        output.check(common).map(|()| output)
    }

    /// As it is shown.
    pub fn name(&self) -> String {
        shown(self.path)
    }

    /// Whether both are one file.
    pub fn is_same(&self, other: &Output<'_>) -> bool {
        place_of(self.path) == place_of(other.path) || inputs::is_same(self.path, other.path)
    }

    /// Which file an earlier run left there, where this one may replace it unasked: it is no source of what is written anew.
    pub fn earlier(&self) -> Option<Identity> {
        inputs::identity(self.path).filter(|_| self.standing().is_none())
    }

    /// Writes a report, where nothing is lost by it.
    pub fn write(&self, common: &Common, text: &str, room: Room) -> Result<(), Failure> {
        self.check(common)?;
        replace(self.path, &export::signed(text, self.command, room)).map(drop)
    }

    fn check(&self, common: &Common) -> Result<(), Failure> {
        refuse_own(self.path, common)?;
        let Some(why) = self.standing().filter(|_| !self.force) else { return Ok(()) };
        let message = format!("{} {why}", self.name());
        let help = "name another file, or replace it with --force";
        Err(Failure::new(Exit::BadInput, "exists", message).help(help))
    }

    /// Why what stands there is not replaced unasked. What cannot be read, or is no file, `replace` has its words for.
    fn standing(&self) -> Option<String> {
        let begin_and_end = ends(self.path)?;
        let whose = match export::whose(&begin_and_end, self.command) {
            Whose::Theirs => Whose::Theirs,
            _ => export::whose(&String::from_utf8_lossy(&fs::read(self.path).ok()?), self.command),
        };
        match whose {
            _ if begin_and_end.trim().is_empty() => None,
            Whose::Ours => None,
            Whose::Edited => Some("was edited after gpuenv wrote it, and the edits would be lost".to_string()),
            Whose::Theirs => Some(format!("exists already, and `{}` did not write it", self.command)),
        }
    }
}

/// A file that gpuenv reads is no place for what is made of it.
pub fn refuse_own(path: &Path, common: &Common) -> Result<(), Failure> {
    let lock = files::lock_place(common).ok();
    let spec = common.spec.clone().or_else(|| files::beside_lock(common).ok());
    let place = place_of(path);
    let is_named_so = place.file_name().is_some_and(|name| name == SPEC || name == LOCK);
    let is_own = |own: &PathBuf| own.exists() && place_of(own) == place;
    if !is_named_so && ![lock, spec].iter().flatten().any(is_own) && !inputs::holds(path) {
        return Ok(());
    }
    Err(is_read(path))
}

/// That a file is what this run reads.
pub fn is_read(path: &Path) -> Failure {
    let message = format!("{} is what gpuenv reads: it was not written over", shown(path));
    Failure::new(Exit::BadInput, "exists", message).help("name another file")
}

/// A file by the one way that leads to it.
pub fn place_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.components().collect());
    let there = folder.join(path.file_name().unwrap_or_default());
    fs::canonicalize(&there).unwrap_or(there)
}

/// How a file begins and ends.
fn ends(path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut file = File::open(path).ok()?;
    let mut bytes = Vec::new();
    for from in [0, about.len().saturating_sub(LOOKED_AT)] {
        file.seek(SeekFrom::Start(from)).ok()?;
        (&mut file).take(LOOKED_AT).read_to_end(&mut bytes).ok()?;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
