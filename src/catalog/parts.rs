//! The parts of a stack below its frameworks, by the names that `[stack]` has for them. Of these cuDNN and NCCL are alike:
//! NVIDIA publishes each by itself, for one CUDA.

use super::rows::{Build, Subject, TRITON};
use super::tables::{Catalog, Row};
use crate::types::{Arch, Version};

/// cuDNN and NCCL: what `[stack]` calls them, and what they are to readers.
pub const LIBRARIES: [(&str, &str); 2] = [("cudnn", "cuDNN"), ("nccl", "NCCL")];

/// A release of cuDNN or NCCL: what the rows of both tell.
pub struct LibraryRelease<'c> {
    pub subject: Subject,
    pub row: &'c dyn Row,
    pub version: Version,
    pub cuda: Version,
    pub date: Option<&'c str>,
    pub sass: &'c [Arch],
    pub ptx: &'c [Arch],
    pub glibc: Option<Version>,
    pub source: &'c str,
    pub arch_source: Option<&'c str>,
}

macro_rules! release {
    ($subject:expr) => {
        |row| LibraryRelease {
            subject: $subject,
            row,
            version: row.version,
            cuda: row.cuda,
            date: row.date.as_deref(),
            sass: &row.sass,
            ptx: &row.ptx,
            glibc: row.glibc,
            source: &row.source,
            arch_source: row.arch_source.as_deref(),
        }
    };
}

impl Catalog {
    /// The releases of cuDNN and NCCL.
    pub fn library_releases(&self) -> impl Iterator<Item = LibraryRelease<'_>> {
        let cudnns = self.cudnns.iter().map(release!(Subject::Cudnn));
        cudnns.chain(self.nccls.iter().map(release!(Subject::Nccl)))
    }

    /// The releases of one of them.
    pub fn releases_of(&self, library: &str) -> impl Iterator<Item = LibraryRelease<'_>> {
        self.library_releases().filter(move |one| one.subject.as_str() == library)
    }

    /// The releases of Python, CUDA, cuDNN or NCCL, the oldest first.
    pub fn versions_of(&self, part: &str) -> Vec<Version> {
        match part {
            "python" => self.pythons.iter().map(|row| row.version).collect(),
            "cuda" => self.toolkits.iter().map(|row| row.version).collect(),
            _ => self.releases_of(part).map(|one| one.version).collect(),
        }
    }
}

impl Build {
    /// What it holds or asks pip for of a library.
    pub fn part(&self, name: &str) -> Option<&Version> {
        let part = match name {
            "toolkit" => &self.toolkit,
            "cudnn" => &self.cudnn,
            "nccl" => &self.nccl,
            TRITON => &self.triton,
            _ => &None,
        };
        part.as_ref()
    }
}
