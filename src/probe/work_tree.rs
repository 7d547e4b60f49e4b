//! The git work tree around a folder.

use std::fs;
use std::path::{Path, PathBuf};

/// The git work tree that encloses a folder, unless it is the home.
pub fn work_tree(folder: &Path) -> Option<PathBuf> {
    let tree = folder.ancestors().find(|folder| fs::symlink_metadata(folder.join(".git")).is_ok());
    tree.filter(|tree| !is_home(tree)).map(Path::to_path_buf)
}

/// Whether a folder is the user's home.
pub(super) fn is_home(folder: &Path) -> bool {
    let home = std::env::var_os("HOME").and_then(|home| fs::canonicalize(home).ok());
    home.is_some_and(|home| home == folder)
}
