//! The document of `catalog update`.

use serde::Serialize;

use crate::report::catalogs::CatalogState;

/// The catalogs that are at hand.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Catalogs<'a> {
    /// What was done: `current` where it was there already.
    #[cfg_attr(test, schemars(extend("enum" = ["installed", "current", "rolled-back", "listed"])))]
    status: &'static str,
    /// Newest first.
    catalogs: &'a [CatalogState],
}

impl<'a> Catalogs<'a> {
    pub fn new(done: &'static str, states: &'a [CatalogState]) -> Self {
        Catalogs { status: done, catalogs: states }
    }
}
