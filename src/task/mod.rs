//! L5, the tasks: what a command does between reading its files and telling what came of it. No files and no printing,
//! so that the command line and a page do the same.

pub mod diagnose;
pub mod fix;
pub mod lock;
pub mod matrix;
pub mod typed;

use crate::report::{Exit, Failure};
use crate::solve::engine::Steps;

/// Nobody could tell within the limit.
pub fn gave_up() -> Failure {
    let message =
        format!("gave up after {} steps: neither an answer was found nor a proof that there is none", Steps::LIMIT);
    Failure::new(Exit::Unknown, "step-limit", message)
        .help("pin a version under [stack], or ask for fewer targets at once")
}
