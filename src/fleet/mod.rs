//! L4, many hosts at once: what they are called, which are alike, how each is judged, and what groups of them have in
//! common. Pure: bytes come in, verdicts and groups go out.

mod alike;
mod blocks;
mod elements;
mod hosts;
mod labelled;
mod nodes;
pub mod plan;
mod split;
mod tally;
mod text;

pub use alike::digest;
pub use elements::Elements;
pub use hosts::of_document;
pub use labelled::{Labelled, begins_labelled};
pub use split::{CAP, Piece};
pub use tally::{Cause, Group, Outcome, Tally};
pub use text::of_text;

use crate::host::Record;

/// A host, and what is known of it.
#[derive(Debug, Clone)]
pub struct Host {
    /// Its name, or where its record stands.
    pub name: String,
    /// What was seen, or why that cannot be read.
    pub record: Result<Record, String>,
}
