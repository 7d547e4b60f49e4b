//! The JSON documents as texts, for who has no stdout: to the byte what [`Report`](super::Report) prints.

use serde::Serialize;

use crate::diagnose::Verdict;
use crate::explain::Explanation;
use crate::explain::host::OnHost;
use crate::lock::Lock;
use crate::matrix::Matrix;
use crate::solve::unknowns::Unknown;
use crate::warning::Warning;

use super::failure::Failure;
use super::{json, json_text};

/// A lock and what should be known of it.
pub fn locked(lock: &Lock, warnings: &[Warning]) -> String {
    text(&json::Locked::new(lock, warnings, &[]))
}

/// Why there is no answer.
pub fn conflict(explanation: &Explanation) -> String {
    text(&json::NoAnswer::new(explanation))
}

/// What nobody has read, and which changes do without it.
pub fn undetermined(unknowns: &[Unknown], known: Option<&Explanation>) -> String {
    text(&json::Undetermined::new(unknowns, known))
}

/// What a pasted text means.
pub fn diagnosed(verdict: &Verdict, host: Option<&OnHost>) -> String {
    text(&json::Diagnosed::new(verdict, host))
}

/// What runs on what, a cell each.
pub fn matrix(matrix: &Matrix) -> String {
    text(&json::MatrixCells::new(matrix))
}

/// What went wrong.
pub fn failure(failure: &Failure) -> String {
    text(&json::Errors::new(failure))
}

/// One document as it is printed.
pub(super) fn text(document: &impl Serialize) -> String {
    // Only a map with keys that are not strings can fail here, and there is none.
    json_text(document).unwrap_or_default() + "\n"
}
