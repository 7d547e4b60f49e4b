//! A conflict for people: what clashes and where it is written, why, and what would help.

use std::ops::Range;

use crate::explain::{Change, Conflict, Explanation, Fix};
use crate::spec::Spec;

use super::failure::SourceFile;
use super::screen::{Screen, clean};
use super::snippet;

/// Sentences of one conflict; a longer story is told by `--format json`.
const SENTENCES: usize = 6;
/// Ids of facts that a line holds.
const FACTS: usize = 4;
/// Fixes worth reading.
const FIXES: usize = 3;
/// Places marked in the file.
const MARKS: usize = 4;
/// Other conflicts that are told in full beside the first.
const CONFLICTS: usize = 3;

/// The whole report.
pub(super) fn render(screen: &Screen, explanation: &Explanation, spec: &Spec, file: &SourceFile) -> String {
    let mut text = String::new();
    for conflict in explanation.conflicts.iter().take(CONFLICTS) {
        text += &one(screen, conflict, spec, file);
    }
    if let Some(more) = explanation.conflicts.len().checked_sub(CONFLICTS).filter(|more| *more > 0) {
        text += &format!("and {more} more conflicts that do not depend on these\n");
    }
    if explanation.conflicts.is_empty() {
        text += &format!("{} nothing in the catalog satisfies this spec\n", screen.error("error[conflict]:"));
    }
    text += &match explanation.fixes.as_slice() {
        [] => "no change to the file was found that would help\n".to_string(),
        [_] => format!("{}\n", screen.help("a fix, which was solved:")),
        _ => format!("{}\n", screen.help("fixes, each of which was solved:")),
    };
    for (at, fix) in explanation.fixes.iter().take(FIXES).enumerate() {
        text += &render_fix(screen, at + 1, fix, spec);
    }
    text += "no lock was written; `gpuenv lock --format json` names the source of each fact\n";
    text
}

fn one(screen: &Screen, conflict: &Conflict, spec: &Spec, file: &SourceFile) -> String {
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
    let mut marks: Vec<(Range<usize>, String)> =
        conflict.culprits.iter().filter_map(|key| Some((spec.key_span(key)?, String::new()))).take(MARKS).collect();
    marks.sort_by_key(|(span, _)| span.start);
    text += &snippet::render(screen, file, &marks).unwrap_or_default();
    for (at, sentence) in conflict.explanation.iter().take(SENTENCES).enumerate() {
        text += &screen.wrapped(&format!("  {}. ", at + 1), &clean(sentence));
    }
    if !conflict.facts.is_empty() {
        let ids: Vec<_> = conflict.facts.iter().take(FACTS).map(|fact| clean(&fact.id)).collect();
        let more = conflict.facts.len() - ids.len();
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        text += &screen.wrapped("  facts: ", &format!("{}{rest}", ids.join(", ")));
    }
    text
}

/// A change and what then becomes of the packages the spec names, as far as the change does not say it itself.
fn render_fix(screen: &Screen, number: usize, fix: &Fix, spec: &Spec) -> String {
    let changes: Vec<String> = fix.changes.iter().map(|change| render_change(screen, change)).collect();
    let named = |name: &str| spec.stack.iter().any(|(package, _)| package == name);
    let said = |name: &str, version: &str| {
        fix.changes.iter().any(|change| change.key == format!("stack.{name}") && change.to.as_deref() == Some(version))
    };
    let stack = fix.stack.iter().filter(|(name, version)| (named(name) || *name == "python") && !said(name, version));
    let stack: Vec<String> = stack.map(|(name, version)| format!("{name} {version}")).collect();
    let result = if stack.is_empty() { String::new() } else { format!(" => {}", clean(&stack.join(", "))) };
    screen.wrapped(&format!("  {number}. "), &format!("{}{result}", changes.join("; ")))
}

fn render_change(screen: &Screen, change: &Change) -> String {
    let key = clean(&change.key);
    let old = change.from.as_deref().map(|from| screen.before(&clean(from)));
    let new = change.to.as_deref().map(|to| screen.after(&clean(to)));
    match (old, new) {
        (Some(old), Some(new)) => format!("{key}: {old} -> {new}"),
        (None, Some(new)) => format!("add {key} = {new}"),
        (Some(old), None) => format!("remove {key} ({old})"),
        (None, None) => format!("remove {key}"),
    }
}
