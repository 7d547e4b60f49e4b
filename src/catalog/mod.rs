//! L2, the facts: what exists, what it holds and what it needs, each row with its source.

pub mod rows;
