//! Tests of `probe`.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// A folder with the recorded files of a machine.
pub struct Tree(PathBuf);

impl Tree {
    pub fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("gpuenv-{name}-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Tree(folder)
    }

    pub fn with(self, path: &str, text: &str) -> Self {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn link(self, path: &str, to: &str) -> Self {
        std::os::unix::fs::symlink(to, self.0.join(path)).unwrap();
        self
    }

    pub fn context(&self) -> ProbeContext {
        let program = PathBuf::from("/nonexistent");
        ProbeContext { options: ProbeOptions::default(), root: self.0.clone(), program, environment: Vec::new() }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_child_has_a_probe() {
    for (name, _) in INSIDE.iter().filter(|(name, _)| *name != hold::NAME) {
        assert!(PROBES.iter().any(|(known, _, _)| known == name), "{name}");
    }
}

#[test]
fn an_empty_tree_is_observed_without_a_word_of_this_machine() {
    let tree = Tree::new("empty");
    let mut heard = Vec::new();
    let record = observe(&tree.context(), |name| heard.push(name.to_string()));
    assert!(record.environment.is_empty() && record.pci.is_empty() && record.module.is_none());
    assert_eq!(record.platform.root, None);
    assert_eq!(heard.len(), PROBES.iter().filter(|(_, depth, _)| *depth <= Depth::Usual).count());
}
