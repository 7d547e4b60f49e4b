//! Which drivers a lock admits, as schedulers and container runtimes are told.

use crate::lock::{Lock, TargetLock};

use super::{ExportError, valid, wheels};

/// The drivers that a lock admits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admitted<'a> {
    /// This release and every later one.
    From(&'a str),
    /// With cuda-compat: those of the minimum's branch, which is the one that the package was chosen for, and those
    /// that bring the CUDA of the stack by themselves. What lies between is not known to take the package.
    OfBranch {
        /// The oldest release of the branch.
        minimum: &'a str,
        /// The number that ends it.
        next: u64,
        /// The CUDA that a driver without the package must offer: `13.0`, or `13.1` where it compiles PTX of that.
        cuda: String,
    },
}

/// What is asked of the driver; none where nothing is.
pub fn admitted<'a>(lock: &Lock, name: &str, target: &'a TargetLock) -> Result<Option<Admitted<'a>>, ExportError> {
    let Some(driver) = &target.driver else { return Ok(None) };
    let minimum = valid::driver(&driver.minimum)?;
    if driver.mode != "forward-compat" {
        return Ok(Some(Admitted::From(minimum)));
    }
    let missing = || ExportError::Incomplete { what: "the cuda-compat package", target: name.to_string() };
    let branch: u64 = minimum.split('.').next().and_then(|major| major.parse().ok()).ok_or_else(missing)?;
    let line = match wheels::cuda_line(lock, name, target) {
        Some(line) => line.to_string(),
        None => valid::compat_line(driver.compat.as_deref().ok_or_else(missing)?)?.to_string(),
    };
    let compiles = target.gpu.iter().any(|gpu| gpu.coverage.as_deref() == Some("jit"));
    let major = line.split('.').next().unwrap_or(&line);
    let cuda = if compiles { line.clone() } else { format!("{major}.0") };
    Ok(Some(Admitted::OfBranch { minimum, next: branch + 1, cuda }))
}
