//! What came of a question, and how much work it was.

use std::cell::Cell;

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The chosen row of each table.
    Chosen(Vec<usize>),
    /// No selection satisfies every relation.
    Nothing,
    /// The step limit was reached before an answer.
    GaveUp,
}

/// How much work a question may be and was: the decisions taken, and what it cost to put it to the solver.
#[derive(Debug, Clone)]
pub struct Steps {
    limit: u64,
    taken: Cell<u64>,
}

impl Steps {
    /// At most `limit` steps.
    pub fn new(limit: u64) -> Self {
        Steps { limit, taken: Cell::new(0) }
    }

    /// The steps taken so far.
    pub fn taken(&self) -> u64 {
        self.taken.get()
    }

    /// Counts work that is no decision.
    pub fn add(&self, steps: u64) {
        self.taken.set(self.taken.get().saturating_add(steps));
    }

    /// The limit, once it was reached.
    pub fn spent(&self) -> Option<u64> {
        (self.taken.get() >= self.limit).then_some(self.limit)
    }
}
