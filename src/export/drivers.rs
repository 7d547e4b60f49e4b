//! Which drivers a lock admits, as schedulers and container runtimes are told.

use crate::lock::{Admitted, Lock, TargetLock};

use super::{ExportError, valid};

/// What is asked of the driver; none where nothing is.
pub fn admitted<'a>(lock: &Lock, name: &str, target: &'a TargetLock) -> Result<Option<Admitted<'a>>, ExportError> {
    let Some(driver) = &target.driver else { return Ok(None) };
    // The container runtime asks no number of a driver that comes with the system, and no such driver has one of these.
    let Some(minimum) = &driver.minimum else { return Ok(None) };
    valid::driver(minimum)?;
    driver.others.iter().chain(&driver.except).try_for_each(|other| valid::driver(other).map(|_| ()))?;
    driver.compat.as_deref().map(valid::compat_line).transpose()?;
    let missing = || ExportError::Incomplete { what: "the cuda-compat package", target: name.to_string() };
    lock.admitted(name, target).map(Some).ok_or_else(missing)
}
