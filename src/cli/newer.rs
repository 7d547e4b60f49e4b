//! A lock that was made with a newer catalog than is at hand. It may rest on facts that nobody here knows: it is kept, and
//! nothing but `--fresh` puts an answer of older facts in its place.

use crate::catalog::Catalog;
use crate::lock::Lock;
use crate::report::{Exit, Failure};
use crate::warning::{LockNewerCatalog, Warning};

/// That it was kept.
pub fn kept(lock: &Lock, catalog: &Catalog) -> Warning {
    Warning::about(&LockNewerCatalog { made_with: &lock.catalog.version, at_hand: &catalog.version }, &[])
}

/// That it would have to change, and was not touched.
pub fn refused(lock: &Lock, catalog: &Catalog) -> Failure {
    let (then, now) = (&lock.catalog.version, &catalog.version);
    let message = format!("gpuenv.lock was made with catalog {then}, and {now} is at hand: nothing was written");
    Failure::new(Exit::BadInput, "lock-newer-catalog", message).help(format!(
        "install the newer catalog (`gpuenv catalog update FILE`) or a newer gpuenv; `gpuenv lock --fresh` resolves anew with \
         catalog {now}"
    ))
}
