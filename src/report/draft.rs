//! What is said of a gpuenv.toml that was written to begin with.

use super::Drafted;
use super::screen::{Screen, clean};

/// So much of a line is told again.
const LONGEST: usize = 400;

/// Lines of a project's files that the spec does not hold, each with the reason.
pub(super) fn left(screen: &Screen, drafted: &Drafted<'_>) -> String {
    let mut text = String::new();
    if !drafted.left.is_empty() {
        text += "not taken over as it stands:\n";
    }
    for left in drafted.left {
        let gone = if left.text.chars().nth(LONGEST).is_some() { "..." } else { "" };
        let line: String = left.text.chars().take(LONGEST).collect();
        let says = format!("{}:{} `{line}{gone}`: {}", left.file, left.line, left.why);
        text += &screen.wrapped("  - ", &clean(&says));
    }
    match drafted.packages.len() {
        0 => {}
        1 => text += "1 ordinary package is carried as written: gpuenv does not choose it\n",
        many => text += &format!("{many} ordinary packages are carried as written: gpuenv does not choose them\n"),
    }
    text
}

/// What to do next: lock it, or look at what cannot hold together there.
pub(super) fn render(screen: &Screen, drafted: &Drafted<'_>) -> String {
    let next = screen.help("next:");
    let Some(conflict) = drafted.conflict.and_then(|explanation| explanation.conflicts.first()) else {
        // What was printed is no file yet.
        let save = if drafted.is_stdout { "save it as gpuenv.toml, " } else { "" };
        return screen.wrapped(&format!("{next} "), &format!("{save}edit it as needed, then run `gpuenv lock`"));
    };
    let head = screen.warning("warning[conflict]:");
    let lines: Vec<String> = conflict.culprits.iter().map(|key| line(key, drafted)).collect();
    let (first, others) = lines.split_first().map_or(("", &[][..]), |(first, others)| (first.as_str(), others));
    let says = match others {
        [] => format!("it will not resolve yet: {first} cannot be satisfied"),
        others => format!("it will not resolve yet: {first} is incompatible with {}", others.join(" and ")),
    };
    let mut text = screen.wrapped(&format!("{head} "), &clean(&says));
    for sentence in &conflict.explanation {
        text += &screen.wrapped("  - ", &clean(sentence));
    }
    text + &screen.wrapped(&format!("{next} "), "`gpuenv lock` shows the fixes")
}

/// A key as it is written: `torch = "2.9"`.
fn line(key: &str, drafted: &Drafted<'_>) -> String {
    let name = key.rsplit('.').next().unwrap_or(key);
    match drafted.spec.text(key) {
        Some(text) if text.starts_with('[') => format!("`{name} = {text}`"),
        Some(text) => format!("`{name} = \"{text}\"`"),
        None => format!("`{key}`"),
    }
}
