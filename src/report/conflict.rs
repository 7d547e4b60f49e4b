//! A conflict for people: what clashes and where it is written, why, and what would help.

use std::ops::Range;

use crate::explain::{Change, Conflict, Explanation, FactNote, Fix, importance};
use crate::spec::Spec;
use crate::types::{Version, sort_by_key};

use super::lookup_text::overlay;
use super::screen::{Screen, clean};
use super::setting;
use super::snippet;
use super::source_file::SourceFile;

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
pub(super) struct Detail {
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
    /// Whether the file lacks what was asked, so that a fix is written by hand.
    by_hand: bool,
}

impl Detail {
    /// Where no conflict is told: everything, or as much as fits beside one.
    pub(super) fn alone(verbose: bool, by_hand: bool) -> Detail {
        Detail { by_hand, ..if verbose { EVERYTHING } else { LESS_AND_LESS[0] } }
    }

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
            by_hand: false,
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
    by_hand: false,
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
    by_hand: bool,
) -> String {
    if verbose {
        return told(screen, explanation, spec, file, Detail { by_hand, ..EVERYTHING });
    }
    let several = explanation.conflicts.len() > 1;
    let room = if several { LINES_OF_SEVERAL } else { LINES };
    let mut texts = LESS_AND_LESS.iter().map(|detail| {
        // What would be met next goes before the places of several that are met.
        let further = if several && detail.marks < MARKS { 0 } else { detail.further };
        told(screen, explanation, spec, file, Detail { by_hand, further, ..*detail })
    });
    let fits = texts.find(|text| text.lines().count() <= room);
    fits.unwrap_or_else(|| told(screen, explanation, spec, file, Detail { by_hand, ..LEAST }))
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
    let further: Vec<&Conflict> =
        explanation.further.iter().filter(|one| says_more(one, explanation, detail)).collect();
    for conflict in further.iter().take(detail.further) {
        text += &next(screen, conflict, spec, detail);
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
    let story = further.len() > detail.further || told.chain(further.into_iter().take(detail.further)).any(breaks_off);
    let more = match (story, fixes) {
        (false, None) => String::new(),
        (true, None) => "the whole story and ".to_string(),
        (false, Some(fixes)) => format!("{fixes} and "),
        (true, Some(fixes)) => format!("the whole story, {fixes} and "),
    };
    if let Some(steps) = explanation.gave_up {
        text += &screen.wrapped("", &format!("gave up after {steps} steps: there may be more conflicts and fixes"));
    }
    // What was typed stands in no file that `gpuenv lock` would read.
    let asking = if detail.by_hand { "the same command with `--verbose`" } else { "`gpuenv lock --verbose`" };
    text += &match detail.facts {
        None => "the lock was not changed\n".to_string(),
        Some(_) => {
            screen.wrapped("", &format!("the lock was not changed; {asking} shows {more}every fact with its source"))
        }
    };
    text
}

/// Whether a conflict that comes to light later has a reason that no conflict above has; who asks for everything is told it
/// all the same.
fn says_more(further: &Conflict, explanation: &Explanation, detail: Detail) -> bool {
    let is_told = |sentence: &String| explanation.conflicts.iter().any(|one| one.explanation.contains(sentence));
    detail.facts.is_none() || further.explanation.is_empty() || !further.explanation.iter().all(is_told)
}

/// The fixes alone, where no conflict is told.
pub(super) fn fixes(screen: &Screen, explanation: &Explanation, spec: &Spec, detail: Detail) -> String {
    if explanation.fixes.is_empty() { String::new() } else { changes(screen, explanation, spec, detail) }
}

/// The changes that would help.
fn changes(screen: &Screen, explanation: &Explanation, spec: &Spec, detail: Detail) -> String {
    let fixes = &explanation.fixes;
    let mut text = match fixes.as_slice() {
        [] if explanation.conflicts.len() > 1 => {
            "no change was found that would help against all of them\n".to_string()
        }
        [] => "no change to the file was found that would help\n".to_string(),
        fixes => {
            let head = if fixes.len() == 1 { "fix" } else { "fixes" };
            screen.wrapped(&format!("{} ", screen.help(head)), how_to_apply(fixes.len(), detail.by_hand))
        }
    };
    for (at, fix) in fixes.iter().take(detail.fixes).enumerate() {
        text += &render_fix(screen, at + 1, fix, spec, detail);
    }
    text
}

/// What makes a fix part of the file. The number of one means nothing to `--apply-fix` where the file was not asked alone.
fn how_to_apply(fixes: usize, by_hand: bool) -> &'static str {
    match (fixes, by_hand) {
        (1, false) => "(resolved; apply it with `gpuenv lock --apply-fix 1`):",
        (_, false) => "(each was resolved; apply one with `gpuenv lock --apply-fix N`):",
        (1, true) => {
            "(resolved together with what was typed; change the file, or what you typed, so, then run the command again):"
        }
        (_, true) => {
            "(each was resolved together with what was typed; change the file, or what you typed, so, then run the command again):"
        }
    }
}

fn one(screen: &Screen, conflict: &Conflict, spec: &Spec, file: &SourceFile, detail: Detail) -> String {
    let head = screen.error(&format!("error[{}]:", conflict.code.unwrap_or("conflict")));
    let mut text = screen.wrapped(&format!("{head} "), &title(conflict, spec));
    let labels = conflict.labels.iter().cloned().chain(std::iter::repeat_with(String::new));
    // Who listens hears the place first.
    let label = |key: &String, label: String| match (screen.narrated, label.is_empty()) {
        (false, _) => label,
        (true, true) => key.clone(),
        (true, false) => format!("{key}, {label}"),
    };
    // What was typed stands in no file.
    let is_there = |key: &str| {
        let written = spec.key_span(key).zip(spec.text(key).filter(|_| detail.by_hand && key.starts_with("stack.")));
        written.is_none_or(|(span, text)| file.text.get(span).is_some_and(|there| there.contains(&text)))
    };
    let marked = conflict.culprits.iter().zip(labels).filter(|(key, _)| is_there(key));
    let marked = marked.filter_map(|(key, says)| Some((spec.key_span(key)?, label(key, says))));
    let marks: Vec<(Range<usize>, String)> = marked.take(detail.marks).collect();
    text += &snippet::render(screen, file, marks).unwrap_or_default();
    text + &story(screen, conflict, detail)
}

/// A conflict that somebody would meet next who changes another key of one that was told.
fn next(screen: &Screen, conflict: &Conflict, spec: &Spec, detail: Detail) -> String {
    let head = format!("{} ", screen.error("once that is fixed:"));
    screen.wrapped(&head, &title(conflict, spec)) + &story(screen, conflict, detail)
}

/// Each conflict in a line, with its reasons, then the fixes: for a page that has room for lists alone.
pub(super) fn listed(explanation: &Explanation, spec: &Spec) -> Vec<String> {
    let screen = Screen::plain();
    let told = |one: &Conflict| format!("{}: {}", title(one, spec), one.explanation.join("; "));
    let fixes = explanation.fixes.iter().take(LESS_AND_LESS[0].fixes);
    let fixes = fixes.map(|fix| format!("fix: {}", fix_text(&screen, fix, spec, LESS_AND_LESS[0])));
    explanation.conflicts.iter().map(told).chain(fixes).collect()
}

/// Which keys clash.
pub(super) fn title(conflict: &Conflict, spec: &Spec) -> String {
    let (lines, target) = setting::lines(&conflict.culprits, &conflict.also, spec);
    match lines.as_slice() {
        [] => "nothing in the catalog satisfies this spec".to_string(),
        [only] => format!("{only} cannot be satisfied{target}"),
        [first, second] => format!("{first} is incompatible with {second}{target}"),
        [first @ .., last] if lines.len() <= MARKS => {
            format!("{} and {last} are incompatible{target}", first.join(", "))
        }
        _ => format!("{} settings are incompatible", lines.len()),
    }
}

/// Why they clash, and the facts behind it.
fn story(screen: &Screen, conflict: &Conflict, detail: Detail) -> String {
    let mut text = String::new();
    for sentence in conflict.explanation.iter().take(detail.sentences) {
        text += &screen.wrapped("  - ", &clean(sentence));
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
    screen.wrapped(&format!("  {number}. "), &fix_text(screen, fix, spec, detail))
}

fn fix_text(screen: &Screen, fix: &Fix, spec: &Spec, detail: Detail) -> String {
    let advice = fix.advice.as_ref().map_or_else(String::new, |advice| format!(" ({})", clean(advice)));
    // What is recommended of a driver stands behind its change, be there others.
    let is_driver = |change: &Change| change.key.ends_with(".driver") || change.key.ends_with(".driver-cuda");
    let advised = fix.changes.iter().take(detail.changes).rposition(is_driver);
    let tell = |(at, change)| match advised == Some(at) {
        true => told_change(screen, change, spec) + &advice,
        false => told_change(screen, change, spec),
    };
    let shown = fix.changes.iter().take(detail.changes).enumerate().map(tell);
    let more = fix.changes.len().saturating_sub(detail.changes);
    let more =
        (more > 0).then(|| if more == 1 { "one more change".to_string() } else { format!("{more} more changes") });
    let changes: Vec<String> = shown.chain(more).collect();
    let named = |name: &str| detail.stacks || name == "python" || spec.stack.iter().any(|(package, _)| package == name);
    let said = |name: &str, version: &str| {
        fix.changes.iter().any(|change| change.key == format!("stack.{name}") && change.to.as_deref() == Some(version))
    };
    let mut stack: Vec<(&String, &String)> =
        fix.stack.iter().filter(|(name, version)| named(name) && !said(name, version)).collect();
    sort_by_key(&mut stack, |(name, _)| importance(name));
    let stack: Vec<String> = stack.into_iter().map(|(name, version)| format!("{name} {version}")).collect();
    let result = match stack.is_empty() {
        true => String::new(),
        false => format!("; resolves to {}", clean(&stack.join(", "))),
    };
    let advice = if advised.is_some() { String::new() } else { advice.clone() };
    let changes = match changes.as_slice() {
        [one, two] => format!("{one} and {two}"),
        [first @ .., last] if !first.is_empty() => format!("{}, and {last}", first.join(", ")),
        changes => changes.concat(),
    };
    format!("{changes}{advice}{result}")
}

/// Whether a driver is newer than what is written of one; where that is no number, it is taken to be.
fn is_above(new: &str, old: &str) -> bool {
    let number = |text: &str| Version::parse(text.trim_start_matches(['>', '=', '<', ' ', 'R'])).ok();
    number(new).zip(number(old)).is_none_or(|(new, old)| new.cmp_prefix(&old).is_ge())
}

/// A change in words; the target is named where there are several.
fn told_change(screen: &Screen, change: &Change, spec: &Spec) -> String {
    let name = clean(change.key.rsplit('.').next().unwrap_or(&change.key));
    let of = match setting::target(&change.key) {
        target if !target.is_empty() && spec.targets.len() > 1 => format!(" of target `{}`", clean(target)),
        _ => String::new(),
    };
    let raised = change.to.as_deref().filter(|_| name == "driver").and_then(|to| to.strip_prefix(">="));
    let raised = raised.filter(|new| change.from.as_deref().is_none_or(|old| is_above(new, old)));
    let own = spec.own.iter().any(|own| change.key.strip_prefix("stack.") == Some(&*own.package));
    match (change.from.as_deref(), change.to.as_deref()) {
        (Some(old), Some(_)) if raised.is_some_and(|new| !new.contains([',', '|'])) => {
            let (old, new) = (screen.before(&clean(old)), screen.after(&clean(raised.unwrap_or_default())));
            format!("upgrade the driver{of} from {old} to {new} or newer")
        }
        (Some(_), Some(new)) if own => {
            format!("take the published {name} {} in place of your build", screen.after(&clean(new)))
        }
        (Some(old), Some("*")) => format!("allow any {name}{of} instead of {}", screen.before(&clean(old))),
        (Some(old), Some(new)) => {
            let (old, new) = shorter(old, new).unwrap_or((old.to_string(), new.to_string()));
            format!("change {name}{of} from {} to {}", screen.before(&clean(&old)), screen.after(&clean(&new)))
        }
        (None, Some(new)) => {
            let line = format!("{name} = {}", setting::value(new));
            format!("set `{}` under {}", screen.after(&line), table(&change.key))
        }
        (Some(old), None) => {
            let line = format!("{name} = {}", setting::value(old));
            format!("remove `{}`{of}", screen.before(&line))
        }
        (None, None) => format!("remove {}", clean(&change.key)),
    }
}

/// The table that holds a key: `[target.lab]`.
fn table(key: &str) -> String {
    let of = key.rsplit_once('.').map_or("", |(table, _)| table);
    format!("[{}]", clean(of))
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
