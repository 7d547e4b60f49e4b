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
    catalogs: Vec<AtHand<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AtHand<'a> {
    version: &'a str,
    /// The file that it was installed into; null: it is built in.
    file: Option<&'a str>,
    /// Whether it answers.
    in_use: bool,
}

impl<'a> Catalogs<'a> {
    pub fn new(done: &'static str, states: &'a [CatalogState]) -> Self {
        let one = |state: &'a CatalogState| AtHand {
            version: &state.version,
            file: state.file.as_deref(),
            in_use: state.is_used,
        };
        Catalogs { status: done, catalogs: states.iter().map(one).collect() }
    }
}
