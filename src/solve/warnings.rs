//! What an answer should not be taken without knowing.

use super::answer::Answer;
use super::question::{Question, Warning};

/// The warnings an answer deserves.
pub fn warnings(_question: &Question<'_>, _answer: &Answer<'_>) -> Vec<Warning> {
    Vec::new()
}
