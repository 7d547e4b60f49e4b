//! What people read is what the program says: the README, docs/, the examples, the reports on conflicts.

#[path = "../common/mod.rs"]
mod common;

mod description;
mod examples;
mod golden;
mod picture;
mod readme;
mod reference;
mod reports;
mod spec_reference;
