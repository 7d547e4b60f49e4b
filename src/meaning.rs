//! What the names mean that stand between the brackets of a message, and the words that answers print: the rows of
//! `meanings.toml`, which `catalog/build.rs` wrote down as lists, so that no run reads them.

use std::sync::LazyLock;

use crate::types::inflated;

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// The name.
    pub code: &'static str,
    /// Where among all texts stands what it means: see [`Meaning::says`].
    says: (usize, usize),
    /// Of a warning: whether what is locked fails as it is when it is imported or computes.
    pub fails: bool,
}

impl Meaning {
    /// What a row leaves out.
    const EMPTY: Meaning = Meaning { code: "", says: (0, 0), fails: false };

    /// What it means.
    pub fn says(&self) -> &'static str {
        &SAID[self.says.0..self.says.1]
    }
}

/// What all names mean, unpacked when it is first asked for.
static SAID: LazyLock<String> =
    LazyLock::new(|| inflated(include_bytes!(concat!(env!("OUT_DIR"), "/meanings.deflate"))));

include!(concat!(env!("OUT_DIR"), "/meanings.rs"));

/// What a name means among those of a kind: [`ERRORS`], [`WARNINGS`], [`CHECKS`] or [`WORDS`].
pub fn find(all: &'static [Meaning], code: &str) -> Option<&'static Meaning> {
    all.iter().find(|one| one.code == code)
}

/// Whether a warning tells that what is locked fails as it is.
pub fn fails(code: &str) -> bool {
    find(WARNINGS, code).is_some_and(|one| one.fails)
}
