//! L2, the facts: what exists, what it holds and what it needs, each row with its source.

pub mod lint;
pub mod rows;
pub mod tables;

pub use tables::{AnyRow, Catalog, Row, RowName};

/// The generated constants.
#[allow(unused_imports)]
mod builtin {
    use std::borrow::Cow;

    use super::{rows::*, tables::Catalog};
    use crate::words::{Arch, Cc, CpuArch, Suffix, Version};

    include!(concat!(env!("OUT_DIR"), "/catalog.rs"));
}

pub use builtin::BUILTIN;
