//! Small files under the context's root: what /proc, /sys and /etc say.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::context::ProbeContext;
use super::loader;

/// No file that is read as a text is larger.
const CAP: u64 = 1 << 20;

impl ProbeContext {
    /// The place of an absolute path under the root, links followed and none leading out of it. None: it is not there.
    pub fn find(&self, path: &str) -> Option<PathBuf> {
        let inside = loader::resolve(&self.root, Path::new(path))?;
        Some(self.root.join(inside.strip_prefix("/").unwrap_or(&inside)))
    }

    /// Whether something is there.
    pub fn has(&self, path: &str) -> bool {
        self.find(path).is_some()
    }

    /// What a regular file says, without blanks around it. None: it is not there or cannot be read.
    pub fn text(&self, path: &str) -> Option<String> {
        let place = self.find(path)?;
        // A pipe or a device could be read for ever.
        if !fs::metadata(&place).ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(place).ok()?.take(CAP).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_string())
    }

    /// The names in a folder, sorted. Empty: it is not there or cannot be read.
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = self.find(path).and_then(|place| fs::read_dir(place).ok()).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names
    }

    /// The last name in the path that a link holds.
    pub fn link(&self, path: &str) -> Option<String> {
        let (folder, name) = path.rsplit_once('/')?;
        let to = fs::read_link(self.find(folder)?.join(name)).ok()?;
        Some(to.file_name()?.to_string_lossy().into_owned())
    }
}
