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
    let message = format!("gpuenv.lock {}: nothing was written", made(lock, catalog));
    Failure::new(Exit::BadInput, "lock-newer-catalog", message).help(help(catalog))
}

/// Why `gpuenv lock` would not write it, among the reasons for which it is out of date.
pub fn reason(lock: &Lock, catalog: &Catalog) -> String {
    format!("it {}", made(lock, catalog))
}

fn made(lock: &Lock, catalog: &Catalog) -> String {
    format!("was made with catalog {}, and {} is at hand", lock.catalog.version, catalog.version)
}

/// What to do: plain `gpuenv lock` would write nothing.
pub fn help(catalog: &Catalog) -> String {
    format!(
        "install the newer catalog (`gpuenv catalog update FILE`) or a newer gpuenv; `gpuenv lock --fresh` resolves anew with \
         catalog {}",
        catalog.version
    )
}
