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
/// Conflicts that are told; the rest is counted.
const CONFLICTS: usize = 3;
/// What one conflict may take of a small terminal.
const LINES: usize = 25;
/// What several that have nothing to do with each other may take of a terminal.
const LINES_OF_SEVERAL: usize = 40;

/// How much is told. What does not fit the screen is left to `--verbose`.
#[derive(Debug, Clone, Copy)]
struct Detail {
    /// Conflicts.
    conflicts: usize,
    /// Conflicts that would be met next.
    further: usize,
    /// Places of a conflict that are shown in the file.
    marks: usize,
    /// Sentences of a conflict.
    sentences: usize,
    /// Facts named by their id; none = each with its source.
    facts: Option<usize>,
    /// Fixes.
    fixes: usize,
    /// Changes of a fix.
    changes: usize,
    /// Whether a fix shows the whole stack it leads to, or its heart.
    stacks: bool,
}

impl Detail {
    const fn new(sentences: usize, facts: usize, fixes: usize) -> Detail {
        let facts = Some(facts);
        Detail {
            conflicts: CONFLICTS,
            further: CONFLICTS,
            marks: MARKS,
            sentences,
            facts,
            fixes,
            changes: usize::MAX,
            stacks: false,
        }
    }
}

const EVERYTHING: Detail = Detail {
    conflicts: usize::MAX,
    further: usize::MAX,
    marks: MARKS,
    sentences: usize::MAX,
    facts: None,
    fixes: usize::MAX,
    changes: usize::MAX,
    stacks: true,
};

/// Fixes go before sentences: a story that breaks off is not true.
const LESS_AND_LESS: &[Detail] = &[
    Detail::new(6, 4, 3),
    Detail::new(6, 2, 3),
    Detail::new(6, 1, 2),
    Detail::new(6, 1, 1),
    Detail::new(5, 1, 1),
    Detail::new(4, 1, 1),
    Detail::new(3, 1, 1),
    Detail::new(3, 0, 1),
    Detail { changes: 4, ..Detail::new(2, 0, 1) },
    Detail { changes: 2, marks: 2, ..Detail::new(2, 0, 1) },
    Detail { changes: 2, marks: 2, further: 1, ..Detail::new(2, 0, 1) },
    Detail { changes: 2, marks: 1, further: 1, ..Detail::new(2, 0, 1) },
    Detail { changes: 2, marks: 1, further: 0, ..Detail::new(2, 0, 1) },
    Detail { changes: 2, marks: 1, conflicts: 2, further: 0, ..Detail::new(2, 0, 1) },
    LEAST,
];

const LEAST: Detail = Detail { changes: 2, marks: 1, conflicts: 1, further: 0, ..Detail::new(2, 0, 1) };

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
    let room = if explanation.conflicts.len() > 1 { LINES_OF_SEVERAL } else { LINES };
    let mut texts = LESS_AND_LESS.iter().map(|detail| told(screen, explanation, spec, file, *detail));
    let fits = texts.find(|text| text.lines().count() <= room);
    fits.unwrap_or_else(|| told(screen, explanation, spec, file, LEAST))
}

fn told(screen: &Screen, explanation: &Explanation, spec: &Spec, file: &SourceFile, detail: Detail) -> String {
    let mut text = String::new();
    for conflict in explanation.conflicts.iter().take(detail.conflicts) {
        text += &one(screen, conflict, spec, file, detail);
    }
    text += &match explanation.conflicts.len().saturating_sub(detail.conflicts) {
        0 => String::new(),
        1 => "and one more conflict that does not depend on these\n".to_string(),
        more => format!("and {more} more conflicts that do not depend on these\n"),
    };
    for conflict in explanation.further.iter().take(detail.further) {
        text += &next(screen, conflict, detail);
    }
    if explanation.conflicts.is_empty() {
        text += &format!("{} nothing in the catalog satisfies this spec\n", screen.error("error[conflict]:"));
    }
    text += &changes(screen, explanation, spec, detail);
    let fixes = &explanation.fixes;
    let fixes = match fixes.len().saturating_sub(detail.fixes) {
        0 => None,
        1 => Some("one more fix".to_string()),
        more => Some(format!("{more} more fixes")),
    };
    let breaks_off = |conflict: &Conflict| conflict.explanation.len() > detail.sentences;
    let told = explanation.conflicts.iter().take(detail.conflicts);
    let story = told.chain(explanation.further.iter().take(detail.further)).any(breaks_off);
    let more = match (story, fixes) {
        (false, None) => String::new(),
        (true, None) => "the whole story and ".to_string(),
        (false, Some(fixes)) => format!("{fixes} and "),
        (true, Some(fixes)) => format!("the whole story, {fixes} and "),
    };
    if let Some(steps) = explanation.gave_up {
        text += &screen.wrapped("", &format!("gave up after {steps} steps: there may be more conflicts and fixes"));
    }
    text += &match detail.facts {
        None => "no lock was written\n".to_string(),
        Some(_) => {
            screen.wrapped("", &format!("no lock was written; `--verbose` shows {more}every fact with its source"))
        }
    };
    text
}

/// The fixes alone, where no conflict is told.
pub(super) fn fixes(screen: &Screen, explanation: &Explanation, spec: &Spec, verbose: bool) -> String {
    if explanation.fixes.is_empty() {
        return String::new();
    }
    changes(screen, explanation, spec, if verbose { EVERYTHING } else { LESS_AND_LESS[0] })
}

/// The changes that would help.
fn changes(screen: &Screen, explanation: &Explanation, spec: &Spec, detail: Detail) -> String {
    let fixes = &explanation.fixes;
    let mut text = match fixes.as_slice() {
        [] if explanation.conflicts.len() > 1 => {
            "no change was found that would help against all of them\n".to_string()
        }
        [] => "no change to the file was found that would help\n".to_string(),
        [_] => {
            screen.wrapped(&format!("{} ", screen.help("a fix,")), "which was solved (`gpuenv lock --apply-fix 1`):")
        }
        _ => screen
            .wrapped(&format!("{} ", screen.help("fixes,")), "each of which was solved (`gpuenv lock --apply-fix N`):"),
    };
    for (at, fix) in fixes.iter().take(detail.fixes).enumerate() {
        text += &render_fix(screen, at + 1, fix, spec, detail);
    }
    text
}

fn one(screen: &Screen, conflict: &Conflict, spec: &Spec, file: &SourceFile, detail: Detail) -> String {
    let head = screen.error(&format!("error[{}]:", conflict.code.unwrap_or("conflict")));
    let mut text = screen.wrapped(&format!("{head} "), &title(conflict));
    // The title names the keys; who listens hears the place first.
    let label = |key: &String| if screen.narrated { key.clone() } else { String::new() };
    let mut marks: Vec<(Range<usize>, String)> =
        conflict.culprits.iter().filter_map(|key| Some((spec.key_span(key)?, label(key)))).take(detail.marks).collect();
    marks.sort_by_key(|(span, _)| span.start);
    text += &snippet::render(screen, file, &marks).unwrap_or_default();
    text + &story(screen, conflict, detail)
}

/// A conflict that somebody would meet next who changes another key of one that was told.
fn next(screen: &Screen, conflict: &Conflict, detail: Detail) -> String {
    screen.wrapped(&format!("{} ", screen.error("and next:")), &title(conflict)) + &story(screen, conflict, detail)
}

/// Which keys clash.
fn title(conflict: &Conflict) -> String {
    let keys: Vec<String> = conflict.culprits.iter().map(|key| clean(key).into_owned()).collect();
    match keys.as_slice() {
        [] => "nothing in the catalog satisfies this spec".to_string(),
        [only] => format!("{only} cannot be satisfied"),
        [first, second] => format!("{first} and {second} cannot both hold"),
        [first @ .., last] if keys.len() <= MARKS => format!("{} and {last} cannot all hold", first.join(", ")),
        _ => format!("{} written keys cannot all hold", keys.len()),
    }
}

/// Why they clash, and the facts behind it.
fn story(screen: &Screen, conflict: &Conflict, detail: Detail) -> String {
    let mut text = String::new();
    for (at, sentence) in conflict.explanation.iter().take(detail.sentences).enumerate() {
        text += &screen.wrapped(&format!("  {}. ", at + 1), &clean(sentence));
    }
    match detail.facts {
        _ if conflict.facts.is_empty() || detail.facts == Some(0) => {}
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
fn render_fix(screen: &Screen, number: usize, fix: &Fix, spec: &Spec, detail: Detail) -> String {
    let shown = fix.changes.iter().take(detail.changes).map(|change| render_change(screen, change));
    let more = fix.changes.len().saturating_sub(detail.changes);
    let more = (more > 0).then(|| format!("and {more} more changes"));
    let changes: Vec<String> = shown.chain(more).collect();
    let named = |name: &str| detail.stacks || name == "python" || spec.stack.iter().any(|(package, _)| package == name);
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
        (Some(old), Some(new)) => {
            let (old, new) = shorter(old, new).unwrap_or((old.to_string(), new.to_string()));
            format!("{key}: {}", screen.change(&old, &new))
        }
        (None, Some(new)) => format!("add {key} = {}", screen.after(&clean(new))),
        (Some(old), None) => format!("remove {key} ({})", screen.before(&clean(old))),
        (None, None) => format!("remove {key}"),
    }
}

/// Two lists without the entries that both hold; none where they have none in common or are no lists.
fn shorter(old: &str, new: &str) -> Option<(String, String)> {
    let entries = |text: &str| -> Option<Vec<String>> {
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        Some(inner.split("\", \"").map(|entry| entry.trim().trim_matches('"').to_string()).collect())
    };
    let (old, new) = (entries(old)?, entries(new)?);
    let apart = |from: &[String], other: &[String]| {
        let left: Vec<String> =
            from.iter().filter(|entry| !other.contains(entry)).map(|e| format!("\"{e}\"")).collect();
        (!left.is_empty() && left.len() < from.len()).then(|| format!("[.., {}]", left.join(", ")))
    };
    Some((apart(&old, &new)?, apart(&new, &old)?))
}
