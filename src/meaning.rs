//! What the names mean that stand between the brackets of a message, and the words that answers print: the rows of
//! `meanings.toml`, which `catalog/build.rs` wrote down as lists, so that no run reads them.

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// The name.
    pub code: &'static str,
    /// What it means.
    pub says: &'static str,
    /// Of a warning: whether what is locked fails as it is when it is imported or computes.
    pub fails: bool,
}

impl Meaning {
    /// What a row leaves out.
    const EMPTY: Meaning = Meaning { code: "", says: "", fails: false };
}

include!(concat!(env!("OUT_DIR"), "/meanings.rs"));

/// What a name means among those of a kind: [`ERRORS`], [`WARNINGS`], [`CHECKS`] or [`WORDS`].
pub fn find(all: &'static [Meaning], code: &str) -> Option<&'static Meaning> {
    all.iter().find(|one| one.code == code)
}

/// Whether a warning tells that what is locked fails as it is.
pub fn fails(code: &str) -> bool {
    find(WARNINGS, code).is_some_and(|one| one.fails)
}
