//! The cuda-compat packages on this host, by the note in their libcuda; nothing is loaded.
//!
//! The section `.note.cuda.fwd_compatibility` holds, under the name `NVIDIA Corporation`, a JSON text with the CUDA
//! version the package brings and the branches of the kernel module it serves. That of 580.95.05 spells its keys
//! `CUDA version` and `driver`; NVIDIA's container toolkit, which reads them too, heeds no case.

use std::path::Path;

use serde::Deserialize;

use crate::host::Compat;
use crate::types::Version;

use super::context::ProbeContext;
use super::{dynamic, loader};

const SECTION: &str = ".note.cuda.fwd_compatibility";
const OWNER: &[u8] = b"NVIDIA Corporation";
/// Where toolkits and their compat folders lie.
const ROOTS: &str = "/usr/local";

/// What the note says, as far as it matters here.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Note {
    #[serde(default, rename = "CUDA version", alias = "CUDA Version")]
    cuda: Option<Version>,
    #[serde(default, rename = "driver", alias = "Driver")]
    branches: Vec<u64>,
}

/// The packages, by path.
pub fn packages(context: &ProbeContext) -> Vec<Compat> {
    let folders = context.names(ROOTS).into_iter().filter(|name| name == "cuda" || name.starts_with("cuda-"));
    let mut packages: Vec<Compat> = Vec::new();
    for folder in folders.map(|name| format!("{ROOTS}/{name}/compat")) {
        for name in context.names(&folder).into_iter().filter(|name| name.starts_with("libcuda.so.")) {
            let Some(file) = loader::resolve(&context.root, Path::new(&format!("{folder}/{name}"))) else { continue };
            let Some(file_version) = loader::file_version(&file) else { continue };
            let path = file.display().to_string();
            // `cuda` is a link to one of the others.
            if packages.iter().any(|known| known.path == path) {
                continue;
            }
            let Note { cuda, branches } = note(&context.root, &file).unwrap_or_default();
            packages.push(Compat { path, file_version: Some(file_version), cuda, branches });
        }
    }
    packages
}

/// The note in a library under a root. None: it has none that can be read, so it is of no compat package, or of one
/// from before there were notes.
pub fn note(root: &Path, file: &Path) -> Option<Note> {
    read(&dynamic::library(root, file)?.section(SECTION)?)
}

/// A note: the lengths of name and text, a type, then both, each padded to four bytes.
fn read(note: &[u8]) -> Option<Note> {
    let length = |at: usize| Some(u32::from_le_bytes(note.get(at..at + 4)?.try_into().ok()?) as usize);
    let (name, text) = (length(0)?, length(4)?);
    let rest = note.get(12..)?;
    let after = rest.get(name.checked_next_multiple_of(4)?..)?;
    let owner = rest.get(..name)?.split(|byte| *byte == 0).next()?;
    let json = after.get(..text)?.split(|byte| *byte == 0).next()?;
    (owner == OWNER).then(|| serde_json::from_slice(json).ok())?
}

#[cfg(test)]
mod tests;
