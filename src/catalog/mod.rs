//! L2, the facts: what exists, what it holds and what it needs, each row with its source.
//!
//! [`BUILTIN`] is the catalog that is built in, in the form by which a catalog travels: what a run does not ask for is not
//! read. [`at_hand`] is what answers: that one, or a newer one that the user installed.

use std::sync::{LazyLock, OnceLock};

pub mod absence;
mod apart;
mod bundled;
mod capture;
mod census;
mod expected;
mod fact;
mod gpus;
pub mod lint;
mod listing;
mod lookup;
mod names;
mod os_names;
pub mod overlay;
pub mod packed;
mod parts;
mod row;
mod row_reader;
pub mod rows;
mod search;
mod table;
pub mod tables;
pub mod wheels;

pub use census::Count;
pub use fact::{Basis, Cite, Fact, FullRow, OVERLAY};
pub use gpus::GpuMatch;
pub use listing::{Known, SHELVES, Shelf};
pub use lookup::OsMatch;
pub use names::{begins, may_become};
pub use os_names::OsName;
pub use parts::LIBRARIES;
pub use search::Hit;
pub use tables::{AnyRow, Catalog, Overlay, Retraction, Row, RowName};

/// The catalog that was built in.
pub static BUILTIN: LazyLock<Catalog> = LazyLock::new(|| {
    let bytes = include_bytes!(concat!(env!("OUT_DIR"), "/catalog.packed"));
    packed::unpack_own(bytes).expect("the catalog was packed by this very build")
});

/// The catalog that this run asks, if it is not the built-in one.
static INSTALLED: OnceLock<&Catalog> = OnceLock::new();

/// The catalog that answers: a newer one that the user installed, else the built-in one. Overlays are laid over it.
pub fn at_hand() -> &'static Catalog {
    INSTALLED.get().copied().unwrap_or(&BUILTIN)
}

/// From now on this catalog answers. Only the first word counts: whoever asked before and after must not be told two
/// stories.
pub fn answer_with(catalog: &'static Catalog) {
    let _ = INSTALLED.set(catalog);
}

#[cfg(test)]
mod tests;
