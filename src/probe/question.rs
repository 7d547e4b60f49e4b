//! What a child that looks at CUDA's libraries is asked.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::types::Version;

use super::loader::Guard;

/// What the child is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ChildRequest {
    /// Search.
    Search(Place),
    /// Load one library and ask it.
    Ask(VersionQuestion),
}

/// Where the child is to search.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Place {
    pub root: PathBuf,
    pub library_path: Vec<PathBuf>,
    pub python: Option<PathBuf>,
    pub sites: Vec<PathBuf>,
    pub conda: Option<PathBuf>,
    pub cuda: Option<Version>,
}

/// The library to load, and those it is to find already loaded.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct VersionQuestion {
    pub name: String,
    pub soname: String,
    pub path: PathBuf,
    pub before: Vec<PathBuf>,
    /// Where they may lie.
    pub guard: Guard,
}
