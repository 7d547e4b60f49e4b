//! L4, the judge: a host's record held against a lock. Pure: the same record and lock give the same verdict anywhere.

pub mod check;

pub use check::{Action, Check, Status, Verdict};
