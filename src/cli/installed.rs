//! Catalogs that the user installed: where they lie, and which one answers.
//!
//! Each lies in the user's data folder under its version. The newest answers if it is newer than the built-in one, of those
//! that `[catalog] version` of the project admits: so a newer gpuenv needs no tidying up. An older one answers the projects that
//! name it in full.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memmap2::MmapOptions;

use crate::catalog::packed::{self, Header};
use crate::catalog::{BUILTIN, Catalog, answer_with};
use crate::probe::answers::answers;
use crate::report::Report;
use crate::types::{Constraint, Version, sort_by_key};
use crate::warning::{CatalogUnusable, Warning};

use super::files::reason;
use super::inputs;
use super::project::shown;
use super::signature;

/// What the name of such a file ends with.
const ENDING: &str = ".catalog";

/// A file in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The version that its name says.
    pub version: Version,
    /// The file.
    pub path: PathBuf,
}

/// The folder of installed catalogs; none where nobody says where the user's data lie.
pub fn folder() -> Option<PathBuf> {
    Some(data_home()?.join("gpuenv").join("catalogs"))
}

/// As the XDG base directory specification has it; Windows has a variable of its own.
fn data_home() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return folder("APPDATA");
    }
    folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local").join("share")))
}

/// The file of a version.
pub fn path_of(folder: &Path, version: &str) -> PathBuf {
    folder.join(format!("{version}{ENDING}"))
}

/// All installed catalogs, newest first.
pub fn all() -> Vec<Installed> {
    // Homes are mounted from elsewhere in many places, and gpuenv can do without.
    let folder = folder().filter(|folder| answers(folder));
    let Some(entries) = folder.and_then(|folder| fs::read_dir(folder).ok()) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let version = name.to_str().and_then(|name| Version::parse(name.strip_suffix(ENDING)?).ok());
        found.extend(version.map(|version| Installed { version, path: entry.path() }));
    }
    sort_by_key(&mut found, |one| std::cmp::Reverse(one.version));
    found
}

/// Whether a catalog is newer than the built-in one.
pub fn is_news(version: &Version) -> bool {
    Version::parse(&BUILTIN.version).is_ok_and(|own| *version > own)
}

/// Whether a catalog is older than the built-in one, and the project names this very one.
fn is_named(version: &Version, admitted: Option<&Constraint>) -> bool {
    let is_older = Version::parse(&BUILTIN.version).is_ok_and(|own| *version < own);
    is_older && admitted.and_then(Constraint::single) == Some(version)
}

/// The installed catalogs of which the first that can be used is to answer: those that are newer than the built-in one and
/// that the project admits, newest first, or the older one that it names; all newer ones where it admits none at hand, for
/// which the project is refused later. Of none the built-in one answers.
fn chosen(admitted: impl FnOnce() -> Option<Constraint>) -> Vec<Installed> {
    let mut there = all();
    let admitted = Some(()).filter(|()| !there.is_empty()).and_then(|()| admitted());
    there.retain(|one| is_news(&one.version) || is_named(&one.version, admitted.as_ref()));
    let Some(admitted) = admitted else { return there };
    let own = Version::parse(&BUILTIN.version).is_ok_and(|own| admitted.admits(&own));
    if own || there.iter().any(|one| admitted.admits(&one.version)) {
        there.retain(|one| admitted.admits(&one.version));
    }
    there
}

/// Lets an installed catalog answer, if one is to. If it cannot be read, the next older one answers, and that is told.
pub fn choose(admitted: impl FnOnce() -> Option<Constraint>, report: Option<&Report>) -> Vec<Warning> {
    if let Some(folder) = folder().filter(|folder| !answers(folder)) {
        let said = format!("{} does not answer: catalogs that were installed there are not used", shown(&folder));
        report.into_iter().for_each(|report| report.note(&said));
    }
    let (mut unused, mut answering) = (Vec::new(), format!("built-in catalog {}", BUILTIN.version));
    for chosen in chosen(admitted) {
        match load(&chosen) {
            Ok(catalog) => {
                answering = format!("installed catalog {}", chosen.version);
                answer_with(Box::leak(Box::new(catalog)));
                break;
            }
            Err(why) => unused.push((chosen, why)),
        }
    }
    let told: Vec<Warning> = unused.iter().map(|(chosen, why)| unusable(chosen, why, &answering)).collect();
    report.into_iter().for_each(|report| told.iter().for_each(|warning| report.aside(warning)));
    told
}

/// The version of the catalog that answers from the next run on.
pub fn usable(admitted: impl FnOnce() -> Option<Constraint>) -> String {
    let chosen = chosen(admitted).into_iter().find(|chosen| load(chosen).is_ok());
    chosen.map_or_else(|| BUILTIN.version.to_string(), |chosen| chosen.version.to_string())
}

/// What an installed file holds; else why it cannot be used.
pub(super) fn load(installed: &Installed) -> Result<Catalog, String> {
    let (bytes, is_own) = bytes(&installed.path).map_err(|error| format!("it cannot be read: {}", reason(&error)))?;
    let header = Header::read(bytes).map_err(|refused| refused.to_string())?;
    if header.version != installed.version.as_str() {
        return Err(format!("it holds catalog {}", header.version));
    }
    if !is_own {
        let (signed, signature) = bytes.split_at_checked(header.length).unwrap_or((bytes, &[]));
        signature::verify(signed, signature).map_err(|why| format!("it is not your file, and {}", why.says()))?;
    }
    packed::unpack(bytes).map_err(|refused| refused.to_string())
}

/// The bytes of a file, and whether it is the user's own. To read what is one's own would cost every run a copy of it; what
/// is somebody else's (root may have the home of a user) could change after it was checked.
fn bytes(path: &Path) -> io::Result<(&'static [u8], bool)> {
    // To open a pipe would wait for whoever writes into it.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    inputs::enter(path);
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.len() > packed::MAX_BYTES {
        return Err(io::Error::other("it is not a regular file of the size of a catalog"));
    }
    if !is_own(&about) {
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(packed::MAX_BYTES).read_to_end(&mut bytes)?;
        return Ok((bytes.leak(), false));
    }
    // SAFETY: gpuenv never writes into such a file, it puts another in its place, and nobody else may write to a file of the
    // user's own folder; who can all the same could change the user's programs too.
    let mapped = unsafe { MmapOptions::new().populate().map(&file) }?;
    Ok((Box::leak(Box::new(mapped)), true))
}

/// Whether a file belongs to whoever runs this.
#[cfg(target_os = "linux")]
fn is_own(about: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    about.uid() == rustix::process::geteuid().as_raw()
}

/// Other systems have no root that verifies in the homes of others.
#[cfg(not(target_os = "linux"))]
fn is_own(_: &Metadata) -> bool {
    true
}

fn unusable(installed: &Installed, why: &str, answering: &str) -> Warning {
    let (file, version) = (shown(&installed.path), installed.version);
    Warning::about(&CatalogUnusable { version: version.as_str(), file: &file, why, answering }, &[])
}
