//! `/proc/driver/nvidia/version`, and the module's own complaint about a library of another release.
//!
//! Seen in <https://github.com/nix-community/nixGL/issues/186> (open and proprietary),
//! <https://github.com/NVIDIA/open-gpu-kernel-modules/issues/326> (built by oneself).

use super::seen::{Seen, fill, version};

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let mut found = false;
    for line in lines {
        let told = line.split_once("NVRM version:").map(|(_, rest)| rest.trim_start());
        if let Some(rest) = told.and_then(|rest| rest.strip_prefix("NVIDIA UNIX")) {
            let module = seen.record.module.get_or_insert_default();
            let flavour = if rest.contains("Open Kernel Module") { "open" } else { "proprietary" };
            fill(&mut module.flavour, Some(flavour.to_string()));
            // `Kernel Module for x86_64  565.57.01  Release Build`, `x86_64 Kernel Module  535.129.03  Thu Oct 19`.
            let is_release = |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
            fill(&mut module.version, rest.split_whitespace().find(is_release).and_then(version));
            found = true;
        } else if let Some((_, rest)) = line.split_once("this kernel module has the version") {
            fill(&mut seen.record.module.get_or_insert_default().version, version(rest.trim_start()));
            found = true;
        }
    }
    found
}
