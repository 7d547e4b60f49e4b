//! The house itself: its walls, its catalog, what is packed, the corpora of the fuzzing targets.

#[path = "../common/mod.rs"]
mod common;

mod catalog;
mod catalog_form;
mod error_codes;
mod fuzz_seeds;
mod package;
mod refresh;
mod tidy;
