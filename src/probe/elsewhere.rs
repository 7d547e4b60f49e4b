//! The probes where there are none: they look at Linux. What other systems ask of this module says so.

use std::io;
use std::path::PathBuf;

use crate::host::Record;

#[path = "answers.rs"]
pub mod answers;
#[path = "options.rs"]
mod options;
#[path = "work_tree.rs"]
mod work_tree;

pub use options::{Depth, ProbeOptions};

/// The project around a folder.
pub mod project {
    pub use super::work_tree::{GIT, called_so, is_home, work_tree};
}

/// The machine, as probes would see it.
#[derive(Debug, Clone)]
pub struct ProbeContext {
    /// What is asked.
    pub options: ProbeOptions,
    /// Where the files of a machine begin.
    pub root: PathBuf,
}

impl ProbeContext {
    /// This machine: of no use, because nothing here looks at it.
    pub fn here(_: ProbeOptions) -> io::Result<ProbeContext> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// No interpreter was left out, because none is asked.
    pub fn unasked_python(&self) -> Option<PathBuf> {
        None
    }
}

/// Nothing is seen.
pub fn observe(_: &ProbeContext, _: impl FnMut(&str)) -> Record {
    Record::default()
}
