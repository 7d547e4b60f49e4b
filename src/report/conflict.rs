//! A conflict for people: what clashes and where it is written, why, and what would help.

use std::ops::Range;

use crate::explain::{Change, Conflict, Explanation, FactNote, Fix};
use crate::spec::Spec;

use super::facts::overlay;
use super::failure::SourceFile;
use super::screen::{Screen, clean};
use super::snippet;

/// Places marked in the file.
const MARKS: usize = 4;
/// Other conflicts that are told in full beside the first.
const CONFLICTS: usize = 3;
/// What one conflict may take of a small terminal.
const LINES: usize = 25;

/// How much is told. What does not fit the screen is left to `--verbose`.
#[derive(Debug, Clone, Copy)]
struct Detail {
    /// Sentences of a conflict.
    sentences: usize,
    /// Facts named by their id; none = each with its source.
    facts: Option<usize>,
    /// Fixes.
    fixes: usize,
    /// Whether a fix shows the whole stack it leads to, or its heart.
    stacks: bool,
}

const EVERYTHING: Detail = Detail { sentences: usize::MAX, facts: None, fixes: usize::MAX, stacks: true };

const LESS_AND_LESS: &[Detail] = &[
    Detail { sentences: 6, facts: Some(4), fixes: 3, stacks: false },
    Detail { sentences: 6, facts: Some(2), fixes: 3, stacks: false },
    Detail { sentences: 5, facts: Some(2), fixes: 3, stacks: false },
    Detail { sentences: 5, facts: Some(1), fixes: 2, stacks: false },
    Detail { sentences: 4, facts: Some(1), fixes: 2, stacks: false },
    Detail { sentences: 3, facts: Some(1), fixes: 2, stacks: false },
    Detail { sentences: 3, facts: Some(1), fixes: 1, stacks: false },
];

/// The whole report.
pub(super) fn render(
    screen: &Screen,
    explanation: &Explanation,
    spec: &Spec,
    file: &SourceFile,
    verbose: bool,
) -> String {
    if verbose {
        return told(screen, explanation, spec, file, EVERYTHING);
    }
    let room = LINES * explanation.conflicts.len().clamp(1, CONFLICTS);
    let mut texts = LESS_AND_LESS.iter().map(|detail| told(screen, explanation, spec, file, *detail));
    let least = told(screen, explanation, spec, file, LESS_AND_LESS[LESS_AND_LESS.len() - 1]);
    texts.find(|text| text.lines().count() <= room).unwrap_or(least)
}

fn told(screen: &Screen, explanation: &Explanation, spec: &Spec, file: &SourceFile, detail: Detail) -> String {
    let mut text = String::new();
    for conflict in explanation.conflicts.iter().take(CONFLICTS) {
        text += &one(screen, conflict, spec, file, detail);
    }
    if let Some(more) = explanation.conflicts.len().checked_sub(CONFLICTS).filter(|more| *more > 0) {
        text += &format!("and {more} more conflicts that do not depend on these\n");
    }
    if explanation.conflicts.is_empty() {
        text += &format!("{} nothing in the catalog satisfies this spec\n", screen.error("error[conflict]:"));
    }
    let fixes = &explanation.fixes;
    text += &match fixes.as_slice() {
        [] => "no change to the file was found that would help\n".to_string(),
        [_] => {
            screen.wrapped(&format!("{} ", screen.help("a fix,")), "which was solved (`gpuenv lock --apply-fix 1`):")
        }
        _ => screen
            .wrapped(&format!("{} ", screen.help("fixes,")), "each of which was solved (`gpuenv lock --apply-fix N`):"),
    };
    for (at, fix) in fixes.iter().take(detail.fixes).enumerate() {
        text += &render_fix(screen, at + 1, fix, spec, detail.stacks);
    }
    let more = match fixes.len().saturating_sub(detail.fixes) {
        0 => String::new(),
        1 => "one more fix and ".to_string(),
        more => format!("{more} more fixes and "),
    };
    text += &match detail.facts {
        None => "no lock was written\n".to_string(),
        Some(_) => {
            screen.wrapped("", &format!("no lock was written; `--verbose` shows {more}every fact with its source"))
        }
    };
    text
}

fn one(screen: &Screen, conflict: &Conflict, spec: &Spec, file: &SourceFile, detail: Detail) -> String {
    let head = screen.error(&format!("error[{}]:", conflict.code.unwrap_or("conflict")));
    let keys: Vec<String> = conflict.culprits.iter().map(|key| clean(key).into_owned()).collect();
    let title = match keys.as_slice() {
        [] => "nothing in the catalog satisfies this spec".to_string(),
        [only] => format!("{only} cannot be satisfied"),
        [first, second] => format!("{first} and {second} cannot both hold"),
        [first @ .., last] if keys.len() <= MARKS => format!("{} and {last} cannot all hold", first.join(", ")),
        _ => format!("{} written keys cannot all hold", keys.len()),
    };
    let mut text = screen.wrapped(&format!("{head} "), &title);
    // The title names the keys; who listens hears the place first.
    let label = |key: &String| if screen.narrated { key.clone() } else { String::new() };
    let mut marks: Vec<(Range<usize>, String)> =
        conflict.culprits.iter().filter_map(|key| Some((spec.key_span(key)?, label(key)))).take(MARKS).collect();
    marks.sort_by_key(|(span, _)| span.start);
    text += &snippet::render(screen, file, &marks).unwrap_or_default();
    for (at, sentence) in conflict.explanation.iter().take(detail.sentences).enumerate() {
        text += &screen.wrapped(&format!("  {}. ", at + 1), &clean(sentence));
    }
    match detail.facts {
        _ if conflict.facts.is_empty() => {}
        None => {
            for fact in &conflict.facts {
                text += &format!("  fact {}: {}\n", clean(&fact.id), clean(&fact.source));
            }
        }
        Some(most) => {
            // Facts of the user's own are named with their place: there they can be corrected.
            let named = |fact: &FactNote| match overlay(&fact.source) {
                Some(place) => format!("{} ({})", clean(&fact.id), clean(place)),
                None => clean(&fact.id).into_owned(),
            };
            let ids: Vec<_> = conflict.facts.iter().take(most).map(named).collect();
            let more = conflict.facts.len() - ids.len();
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            text += &screen.wrapped("  facts: ", &format!("{}{rest}", ids.join(", ")));
        }
    }
    text
}

/// A change and what then becomes of the packages the spec names, as far as the change does not say it itself.
fn render_fix(screen: &Screen, number: usize, fix: &Fix, spec: &Spec, whole: bool) -> String {
    let changes: Vec<String> = fix.changes.iter().map(|change| render_change(screen, change)).collect();
    let named = |name: &str| whole || name == "python" || spec.stack.iter().any(|(package, _)| package == name);
    let said = |name: &str, version: &str| {
        fix.changes.iter().any(|change| change.key == format!("stack.{name}") && change.to.as_deref() == Some(version))
    };
    let stack = fix.stack.iter().filter(|(name, version)| named(name) && !said(name, version));
    let stack: Vec<String> = stack.map(|(name, version)| format!("{name} {version}")).collect();
    let result = match (stack.is_empty(), screen.narrated) {
        (true, _) => String::new(),
        (_, true) => format!(", which gives {}", clean(&stack.join(", "))),
        _ => format!(" => {}", clean(&stack.join(", "))),
    };
    let advice = fix.advice.as_ref().map_or_else(String::new, |advice| format!(" ({})", clean(advice)));
    screen.wrapped(&format!("  {number}. "), &format!("{}{advice}{result}", changes.join("; ")))
}

/// A change in one line.
pub(super) fn render_change(screen: &Screen, change: &Change) -> String {
    let key = clean(&change.key);
    match (change.from.as_deref(), change.to.as_deref()) {
        (Some(old), Some(new)) => format!("{key}: {}", screen.change(old, new)),
        (None, Some(new)) => format!("add {key} = {}", screen.after(&clean(new))),
        (Some(old), None) => format!("remove {key} ({})", screen.before(&clean(old))),
        (None, None) => format!("remove {key}"),
    }
}
