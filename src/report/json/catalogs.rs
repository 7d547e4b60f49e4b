//! The document of `catalog update`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::report::catalogs::CatalogState;

/// The catalogs that are at hand.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::report) struct Catalogs<'a> {
    /// What was done: `current` where it was there already.
    #[schemars(extend("enum" = ["installed", "current", "rolled-back", "listed"]))]
    status: &'static str,
    /// Newest first.
    catalogs: &'a [CatalogState],
}

impl<'a> Catalogs<'a> {
    pub fn new(done: &'static str, states: &'a [CatalogState]) -> Self {
        Catalogs { status: done, catalogs: states }
    }
}
