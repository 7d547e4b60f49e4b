//! Where a process would find a shared library: the search that the loader (ld.so) makes, made without loading.
//!
//! [`Loader::find`] answers for a name such as `libcuda.so.1` with the file, how it was found (an entry of
//! LD_LIBRARY_PATH, ld.so.cache, a default directory) and the copies it keeps from being loaded. To load it is
//! another matter: whoever runs as root asks [`danger`] first. Search and load happen in a child process
//! ([`super::child`]), because a directory may lie on a file system that hangs.
//!
//! Not followed: DT_RPATH and DT_RUNPATH, which belong to the program that loads (a wheel's are given to
//! [`Loader::before`] and [`Loader::after`]), LD_PRELOAD, and the variants of a library for newer processors.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::host::Shadowed;
use crate::types::{Version, distinct};

use super::context::ProbeContext;

/// How a library was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum By {
    /// A directory that the asking program brings along.
    Own,
    /// An entry of LD_LIBRARY_PATH.
    LibraryPath,
    /// The table that ldconfig makes of the directories in /etc/ld.so.conf.
    Cache,
    /// A directory that is always looked into, last.
    Default,
    /// The active conda environment, whose programs look there by themselves.
    Conda,
}

impl By {
    /// As the record spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            By::Own => "python",
            By::LibraryPath => "LD_LIBRARY_PATH",
            By::Cache => "ld.so.cache",
            By::Default => "default",
            By::Conda => "CONDA_PREFIX",
        }
    }
}

/// A library as the loader would find it. Paths are absolute, as seen from the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it was found: its directory is the entry of LD_LIBRARY_PATH.
    pub path: PathBuf,
    /// The same with links resolved: the file that would be loaded.
    pub file: PathBuf,
    /// How it was found.
    pub by: By,
    /// The files of the same name further down the search, links resolved, and how they would have been found.
    pub shadows: Vec<(PathBuf, By)>,
}

impl Found {
    /// How it was found, for the record.
    pub fn found_by(&self) -> Option<String> {
        Some(self.by.as_str().to_string())
    }

    /// The file, for the record.
    pub fn shown(&self) -> Option<String> {
        Some(self.file.display().to_string())
    }

    /// The release in the file's name: that of the driver in `libcuda.so.535.183.01`.
    pub fn file_version(&self) -> Option<Version> {
        file_version(&self.file)
    }

    /// The copies it shadows, for the record.
    pub fn shadowed(&self) -> Vec<Shadowed> {
        let shadowed = |(file, by): &(PathBuf, By)| Shadowed {
            path: file.display().to_string(),
            found_by: Some(by.as_str().to_string()),
            version: file_version(file),
        };
        self.shadows.iter().map(shadowed).collect()
    }
}

/// The release in a library's name; the one number of a soname is none.
pub fn file_version(file: &Path) -> Option<Version> {
    let (_, version) = file.file_name()?.to_str()?.split_once(".so.")?;
    Version::parse(version).ok().filter(|version| version.len() > 1)
}

/// What a child may load.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Guard {
    trust: bool,
    /// Folders that an empty or relative entry of LD_LIBRARY_PATH stands for.
    unnamed: Vec<PathBuf>,
}

impl Guard {
    /// Of the children of this context.
    pub fn of(context: &ProbeContext) -> Self {
        let mut unnamed = context.unnamed_library_path();
        unnamed.retain(|entry| entry.to_str().is_some());
        Guard { trust: context.trusts_everywhere(), unnamed }
    }

    /// Why a file that was found for this name is not to be loaded, if it is not.
    pub fn refuses(&self, soname: &str, path: &Path) -> Option<String> {
        let file = fs::canonicalize(path).ok();
        let is_from = |folder: &PathBuf| {
            let Ok(found) = fs::canonicalize(folder.join(soname)) else { return false };
            let inside = fs::canonicalize(folder).is_ok_and(|folder| found.starts_with(folder));
            inside && file.as_ref() == Some(&found)
        };
        if self.unnamed.iter().any(is_from) {
            let why = "it is found by an empty or relative entry of LD_LIBRARY_PATH, which may be anybody's folder";
            return Some(format!("{}: {why}: write the folder in full", path.display()));
        }
        danger(path)
            .filter(|_| !self.trust)
            .map(|why| format!("{}: {why}; root loads it only if told to trust the library path", path.display()))
    }
}

/// What a child needs to search and to know what it may load.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Search {
    library_path: Vec<PathBuf>,
    guard: Guard,
}

impl Search {
    /// The search of a process in this context.
    pub fn of(context: &ProbeContext) -> Self {
        // Names that are no UTF-8 cannot travel in JSON; no driver lies in such a folder.
        let mut library_path = context.library_path();
        library_path.retain(|entry| entry.to_str().is_some());
        Search { library_path, guard: Guard::of(context) }
    }

    /// The loader of this machine.
    pub fn loader(&self) -> Loader {
        Loader::new(Path::new("/"), &self.library_path)
    }

    /// Why a file that was found for this name is not to be loaded, if it is not.
    pub fn refuses(&self, soname: &str, path: &Path) -> Option<String> {
        self.guard.refuses(soname, path)
    }
}

/// What the loader searches, in its order.
#[derive(Debug, Clone, Default)]
pub struct Loader {
    root: PathBuf,
    own: Vec<PathBuf>,
    library_path: Vec<PathBuf>,
    own_after: Vec<PathBuf>,
    cache: Vec<(String, PathBuf)>,
}

/// Where ld.so looks last: its own list depends on the distribution, so all of them, 64 bits first.
const DEFAULTS: &[&str] = &[
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    // Where NixOS puts the driver, for every program that it builds.
    "/run/opengl-driver/lib",
];

/// No ld.so.cache is larger.
const CACHE_CAP: u64 = 64 << 20;
/// Links that are followed before they are taken for a ring, as the kernel does.
const MAX_LINKS: usize = 40;

impl Loader {
    /// The search under this root (`/` for this machine) with these entries of LD_LIBRARY_PATH
    /// (see `search_path::library_path`).
    pub fn new(root: &Path, library_path: &[PathBuf]) -> Self {
        let mut bytes = Vec::new();
        let cache = resolve(root, Path::new("/etc/ld.so.cache")).and_then(|path| File::open(under(root, &path)).ok());
        if let Some(file) = cache {
            // A cache that cannot be read is no cache to the loader either.
            let _ = file.take(CACHE_CAP).read_to_end(&mut bytes);
        }
        let library_path = library_path.to_vec();
        Loader { root: root.to_path_buf(), library_path, cache: read_cache(&bytes), ..Loader::default() }
    }

    /// The same for a program that brings directories along, which are searched first.
    pub fn before(mut self, own: Vec<PathBuf>) -> Self {
        self.own = own;
        self
    }

    /// The same for a program that brings directories along, which are searched after LD_LIBRARY_PATH.
    pub fn after(mut self, own: Vec<PathBuf>) -> Self {
        self.own_after = own;
        self
    }

    /// The library that a process would load for this name.
    pub fn find(&self, soname: &str) -> Option<Found> {
        let mut copies: Vec<(PathBuf, PathBuf, By)> = Vec::new();
        for (path, by) in self.places(soname) {
            let Some(file) = resolve(&self.root, &path) else { continue };
            let is_new = !copies.iter().any(|(_, known, _)| *known == file);
            if is_new && self.is_for_us(&file) {
                copies.push((path, file, by));
            }
        }
        let mut copies = copies.into_iter();
        let (path, file, by) = copies.next()?;
        Some(Found { path, file, by, shadows: copies.map(|(_, file, by)| (file, by)).collect() })
    }

    /// The names that begin so and can be found anywhere in the search, sorted: `libcudart.so.` gives
    /// `libcudart.so.11.0` and `libcudart.so.12` among others.
    pub fn names(&self, prefix: &str) -> Vec<String> {
        let mut names: Vec<String> = self.cache.iter().map(|(name, _)| name.clone()).collect();
        let given = self.own.iter().chain(&self.library_path).chain(&self.own_after);
        let directories = given.cloned().chain(DEFAULTS.iter().map(PathBuf::from));
        for directory in directories {
            let Some(directory) = resolve(&self.root, &directory) else { continue };
            let entries = fs::read_dir(under(&self.root, &directory)).into_iter().flatten().flatten();
            names.extend(entries.filter_map(|entry| entry.file_name().into_string().ok()));
        }
        names.retain(|name| name.starts_with(prefix));
        distinct(names)
    }

    /// Whether there is a file of this name for processes of another word size, which the loader passes over and tells
    /// of where there is no other.
    pub fn has_other_class(&self, soname: &str) -> bool {
        let files = self.places(soname).filter_map(|(path, _)| resolve(&self.root, &path));
        let mut heads = files.filter_map(|file| elf(&under(&self.root, &file)));
        heads.any(|head| head[4] != CLASS_64)
    }

    /// Every place where a name may lie, in order.
    fn places(&self, soname: &str) -> impl Iterator<Item = (PathBuf, By)> {
        let in_each = |directories: &[PathBuf], by| {
            directories.iter().map(|directory| (directory.join(soname), by)).collect::<Vec<_>>()
        };
        let cached = self.cache.iter().filter(|(name, _)| name == soname).map(|(_, path)| (path.clone(), By::Cache));
        let defaults = DEFAULTS.iter().map(|directory| (Path::new(directory).join(soname), By::Default));
        let mut places = in_each(&self.own, By::Own);
        places.extend(in_each(&self.library_path, By::LibraryPath));
        places.extend(in_each(&self.own_after, By::Own));
        places.extend(cached.chain(defaults));
        places.into_iter()
    }

    /// The loader passes over libraries for other machines, but stumbles over files that are none.
    fn is_for_us(&self, file: &Path) -> bool {
        let place = under(&self.root, file);
        if place.is_dir() {
            return false;
        }
        let Some(head) = elf(&place) else { return true };
        // Another root may be another machine's.
        let ours = self.root != Path::new("/") || MACHINE.is_none_or(|machine| machine == [head[18], head[19]]);
        head[4] == CLASS_64 && ours
    }
}

/// The beginning of a file, if it is ELF's.
fn elf(place: &Path) -> Option<[u8; 20]> {
    let mut head = [0; 20];
    // To open a pipe waits for whoever writes into it.
    let mut file = File::open(place).ok().filter(|_| place.is_file())?;
    file.read_exact(&mut head).ok().filter(|()| head.starts_with(b"\x7fELF"))?;
    Some(head)
}

/// ELF's word for 64 bits.
const CLASS_64: u8 = 2;
/// ELF's number of the machine this program was built for.
const MACHINE: Option<[u8; 2]> = if cfg!(target_arch = "x86_64") {
    Some([62, 0])
} else if cfg!(target_arch = "aarch64") {
    Some([183, 0])
} else {
    None
};

/// Why it is not safe for root to load this file, if it is not: somebody else can replace it or what leads to it.
/// `path` is absolute; links are followed.
pub fn danger(path: &Path) -> Option<String> {
    // Both ways lead to the file: the one asked for and the one it has without links.
    let file = fs::canonicalize(path).ok()?;
    let folders = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    let ancestors = file.ancestors().chain(folders.iter().flat_map(|folder| folder.ancestors()));
    ancestors.map(|path| (path, fs::metadata(path))).find_map(|(path, about)| {
        let Ok(about) = about else { return Some(format!("{} cannot be looked at", path.display())) };
        let (mode, shown) = (about.permissions().mode(), path.display());
        // In a directory with the sticky bit nobody replaces what another owns.
        let shared = mode & 0o022 != 0 && !(about.is_dir() && mode & 0o1000 != 0);
        match about.uid() {
            0 if shared => Some(format!("{shown} can be changed by users other than root")),
            0 => None,
            owner => Some(format!("{shown} belongs to the user with the number {owner}, not to root")),
        }
    })
}

/// A path under a root with its links followed, none leading out of it; absolute as seen from the root. None: there
/// is no such file.
pub fn resolve(root: &Path, path: &Path) -> Option<PathBuf> {
    if root == Path::new("/") {
        return fs::canonicalize(path).ok();
    }
    let mut done = PathBuf::from("/");
    let mut rest: Vec<std::ffi::OsString> = steps(path);
    let mut links = 0;
    while let Some(step) = rest.pop() {
        if step == ".." {
            done.pop();
            continue;
        }
        done.push(&step);
        if let Ok(to) = fs::read_link(under(root, &done)) {
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            done.pop();
            if to.is_absolute() {
                done = PathBuf::from("/");
            }
            rest.extend(steps(&to));
        }
    }
    fs::symlink_metadata(under(root, &done)).is_ok().then_some(done)
}

/// A path's names, the last first.
fn steps(path: &Path) -> Vec<std::ffi::OsString> {
    let names = path.components().rev().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    names.map(|part| part.as_os_str().to_os_string()).collect()
}

/// The place of an absolute path under a root.
pub(super) fn under(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The names and paths of ld.so.cache, in its order. What does not fit the format is passed over.
///
/// The format: this head, two numbers (how many entries, how long the strings), then from byte 48 on entries of 24
/// bytes: flags, where the name begins, where the path begins, a number no longer used, and the processor it needs.
/// An older table may stand before all that.
fn read_cache(bytes: &[u8]) -> Vec<(String, PathBuf)> {
    const HEAD: &[u8] = b"glibc-ld.so.cache1.1";
    let Some(start) = bytes.windows(HEAD.len()).position(|window| window == HEAD) else { return Vec::new() };
    let table = &bytes[start..];
    let number = |at: usize| Some(u32::from_le_bytes(table.get(at..at + 4)?.try_into().ok()?) as usize);
    let text = |at: usize| table.get(at..)?.split(|byte| *byte == 0).next();
    let entry = |at: usize| {
        let for_any_processor = table.get(at + 16..at + 24)?.iter().all(|byte| *byte == 0);
        let name = std::str::from_utf8(text(number(at + 4)?)?).ok()?;
        let path = PathBuf::from(OsStr::from_bytes(text(number(at + 8)?)?));
        (for_any_processor && path.is_absolute()).then(|| (name.to_string(), path))
    };
    let count = number(HEAD.len()).unwrap_or(0).min(table.len() / 24);
    (0..count).filter_map(|index| entry(48 + 24 * index)).collect()
}

#[cfg(test)]
mod tests;
