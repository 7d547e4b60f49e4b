//! Where libraries are searched for: the entries of search paths, and who searches.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The entries of LD_LIBRARY_PATH, made absolute: to the loader an empty one is the current directory.
pub(super) fn library_path(value: &OsStr, here: &Path) -> Vec<PathBuf> {
    if value.is_empty() {
        return Vec::new();
    }
    let entries = value.as_bytes().split(|byte| matches!(byte, b':' | b';'));
    entries.map(|entry| here.join(OsStr::from_bytes(entry))).collect()
}

/// Whether this process may do more than its user should lose: it is root, and no mere root of a user namespace.
pub fn is_root() -> bool {
    let everyone = |map: String| map.split_whitespace().eq(["0", "0", "4294967295"]);
    rustix::process::geteuid().is_root() && fs::read_to_string("/proc/self/uid_map").map_or(true, everyone)
}

/// The directories of a search path. What is not absolute once `$ORIGIN` is known depends on where one stands, and what
/// holds other words on the processor: both are left out.
pub(super) fn of_library(paths: &str, origin: &Path) -> Vec<PathBuf> {
    let origin = origin.to_string_lossy();
    let entries = paths.split(':').filter(|entry| !entry.is_empty());
    let expanded = entries.map(|entry| entry.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin));
    expanded.filter(|entry| entry.starts_with('/') && !entry.contains('$')).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_paths_are_taken_apart() {
        let folders = of_library("$ORIGIN/../lib:${ORIGIN}:/opt/x::rel:$LIB/y", Path::new("/a/b"));
        assert_eq!(folders, ["/a/b/../lib", "/a/b", "/opt/x"].map(PathBuf::from));
    }

    #[test]
    fn an_empty_entry_is_the_current_directory() {
        let entries = library_path(OsStr::new("/a::rel;/b"), Path::new("/here"));
        assert_eq!(entries, ["/a", "/here/", "/here/rel", "/b"].map(PathBuf::from));
        assert_eq!(library_path(OsStr::new(""), Path::new("/here")), Vec::<PathBuf>::new());
    }
}
