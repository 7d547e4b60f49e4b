//! What is said of a gpuenv.toml that was written to begin with.

use super::Drafted;
use super::screen::{Screen, clean};

/// What to do next: lock it, or look at what cannot hold together there.
pub(super) fn render(screen: &Screen, drafted: &Drafted<'_>) -> String {
    let Some(conflict) = drafted.conflict.and_then(|explanation| explanation.conflicts.first()) else {
        return "`gpuenv lock` solves it\n".to_string();
    };
    let head = screen.warning("warning[conflict]:");
    let keys = conflict.culprits.join(", ");
    let mut text = screen.wrapped(&format!("{head} "), &clean(&format!("as it stands it has no answer: {keys}")));
    for sentence in &conflict.explanation {
        text += &screen.wrapped("  - ", &clean(sentence));
    }
    text + "`gpuenv lock` shows what would help\n"
}
