//! A driver as the solver sees it.

use crate::catalog::Catalog;
use crate::catalog::rows::{Branch, Compat};
use crate::types::{Constraint, Version};

/// A driver as the solver sees it: a kernel driver, alone or with cuda-compat before it.
#[derive(Debug, Clone)]
pub struct DriverRow<'c> {
    /// The release.
    pub version: Version,
    /// Its branch's row; of an unlisted branch, the nearest older one's.
    pub branch: &'c Branch,
    /// The compat package whose libcuda is loaded instead of the driver's own.
    pub compat: Option<&'c Compat>,
    /// Whether that package is there already, wanted or not.
    pub installed: bool,
    /// Whether it is a driver of Windows, whose releases are numbered by themselves.
    pub windows: bool,
}

impl<'c> DriverRow<'c> {
    /// A driver without cuda-compat, of Linux or of Windows; none where no branch is known.
    pub fn plain(catalog: &'c Catalog, version: Version, windows: bool) -> Option<Self> {
        let branch = branch_of(catalog, &version)?;
        Some(DriverRow { version, branch, compat: None, installed: false, windows })
    }

    /// The compat package that is to be put before it, for where none is installed.
    pub fn added(&self) -> Option<&'c Compat> {
        self.compat.filter(|_| !self.installed)
    }

    /// The version whose libcuda a process loads.
    pub fn user_mode(&self) -> &Version {
        self.compat.map_or(&self.version, |compat| &compat.branch)
    }

    /// Whether a rule about drivers admits it: its kernel module drives the GPU, and the libcuda that is loaded knows it
    /// too. What a rule calls the last branch ends for Windows with that branch too, under numbers of its own; a number
    /// between two branches may be one of these, and is judged as the older one.
    pub fn is_admitted(&self, needs: &Constraint) -> bool {
        let is_between = self.version.major() != self.branch.branch.major();
        let by_branch = (self.windows || is_between) && needs.admits(&self.branch.branch);
        by_branch || needs.admits(&self.version) && needs.admits(self.user_mode())
    }

    /// The CUDA version that libcuda tells.
    pub fn cuda(&self) -> Option<&'c Version> {
        match self.compat {
            Some(compat) => Some(&compat.cuda),
            None => self.branch.cuda.as_ref(),
        }
    }
}

/// The row of a driver's branch, or of the nearest older branch known.
pub fn branch_of<'c>(catalog: &'c Catalog, version: &Version) -> Option<&'c Branch> {
    let after = catalog.branches.partition_point(|row| row.branch.major() <= version.major());
    catalog.branches.get(after.saturating_sub(1))
}
