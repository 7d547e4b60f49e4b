//! What commands did, as a report is told of it.

use serde::Serialize;

use crate::explain::Explanation;
use crate::init::manifest::Left;
use crate::spec::Spec;
use crate::warning::Warning;

use super::source_file::SourceFile;

/// A gpuenv.toml that was written to begin with.
#[derive(Debug, Clone, Copy)]
pub struct Drafted<'a> {
    /// Its name and text.
    pub file: &'a SourceFile,
    /// What it says.
    pub spec: &'a Spec,
    /// Whether it goes to stdout.
    pub is_stdout: bool,
    /// Why it has no answer as it stands.
    pub conflict: Option<&'a Explanation>,
    /// What was remarked on it.
    pub warnings: &'a [Warning],
    /// Requirements of ordinary packages, which gpuenv does not choose.
    pub packages: &'a [String],
    /// Lines of a project's files that it does not hold.
    pub left: &'a [Left],
}

/// How a lock stands to its spec.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "LockStanding"))]
pub struct Standing {
    /// The lock as it is shown.
    #[serde(skip)]
    pub lock: String,
    /// How it stands.
    #[cfg_attr(test, schemars(extend("enum" = ["current", "stale", "missing"])))]
    pub status: &'static str,
    /// Why it is not current.
    pub reason: Option<String>,
}

/// What became of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It was current and was left alone.
    Current,
    /// It was made anew and came out the same.
    Same,
    /// It was written.
    Written,
    /// It would be written.
    Planned,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It was written.
    Now,
    /// It was so already.
    Same,
    /// It says something else, and was only looked at.
    Differs,
    /// As before, and it is not as gpuenv wrote it: only `--force` replaces it.
    Kept,
    /// It is not there, and was only looked for.
    Missing,
}

/// A file that was rendered, or compared with what would be.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "ExportedFile"))]
pub struct Exported {
    /// The format's name.
    pub format: &'static str,
    /// The file as it is shown.
    pub file: String,
    /// What became of it.
    #[serde(skip)]
    pub fate: Written,
    /// The command that comes next.
    #[serde(skip)]
    pub next: String,
}
