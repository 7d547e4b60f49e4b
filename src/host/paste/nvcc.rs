//! `nvcc --version`.
//!
//! Seen in <https://github.com/ollama/ollama/issues/9031>.

use super::seen::{Seen, version};

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let mut found = false;
    for line in lines {
        // `Cuda compilation tools, release 12.8, V12.8.61`
        let Some((_, rest)) = line.split_once("Cuda compilation tools, release ") else { continue };
        let full = rest.split_once(", V").and_then(|(_, full)| version(full));
        if let Some(version) = full.or_else(|| version(rest)) {
            seen.nvcc(Some(version));
            found = true;
        }
    }
    found
}
