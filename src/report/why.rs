//! What `gpuenv explain` tells people: the choices, what one change would open, and things looked up by name.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::explain::FactNote;
use crate::explain::topic::{RuleTopic, Topic};
use crate::explain::why::{Choice, Opening, Rejected, Why};

use super::screen::{Screen, clean};

/// Sentences of a rejected value; the rest is for `--verbose`.
const SENTENCES: usize = 4;

/// The choices of an answer. `locked` is what the lock holds where that is another.
pub(super) fn render(screen: &Screen, why: &Why, locked: &BTreeMap<String, String>, verbose: bool) -> String {
    let mut text = String::new();
    for choice in &why.choices {
        text += &one(screen, choice, locked, verbose);
    }
    if !why.openings.is_empty() {
        text += &format!("{}\n", screen.help("one change would open:"));
        why.openings.iter().for_each(|opening| text += &open(screen, opening));
    }
    text
}

fn one(screen: &Screen, choice: &Choice, locked: &BTreeMap<String, String>, verbose: bool) -> String {
    let part = if matches!(choice.part, "version" | "tag" | "release") { "" } else { choice.part };
    let name = format!("{} {part}", clean(&choice.key));
    let mut text = format!("{}: {}\n", screen.help(name.trim_end()), screen.after(&clean(&choice.chosen)));
    for sentence in &choice.because {
        text += &screen.wrapped("  ", &clean(sentence));
    }
    choice.rejected.iter().for_each(|rejected| text += &reject(screen, rejected, verbose));
    if let Some(held) = locked.get(&choice.key).filter(|_| part.is_empty()) {
        let says =
            format!("the lock holds {}, an earlier choice that still serves: `gpuenv lock --upgrade`", clean(held));
        text += &screen.wrapped("  ", &says);
    }
    text + &facts(&choice.facts, verbose)
}

fn reject(screen: &Screen, rejected: &Rejected, verbose: bool) -> String {
    let keys: Vec<_> = rejected.culprits.iter().map(|key| clean(key)).collect();
    let against = if keys.is_empty() { String::new() } else { format!(" beside {}", keys.join(", ")) };
    let mut text = screen.wrapped("  ", &format!("not {}{against}:", clean(&rejected.value)));
    let most = if verbose { usize::MAX } else { SENTENCES };
    for sentence in rejected.because.iter().take(most) {
        text += &screen.wrapped("    - ", &clean(sentence));
    }
    if let Some(more) = rejected.because.len().checked_sub(most).filter(|more| *more > 0) {
        text += &format!("    - and {more} more facts\n");
    }
    text + &facts(&rejected.facts, verbose)
}

fn facts(facts: &[FactNote], verbose: bool) -> String {
    let line = |fact: &FactNote| format!("    fact {}: {}\n", clean(&fact.id), clean(&fact.source));
    if verbose { facts.iter().map(line).collect() } else { String::new() }
}

fn open(screen: &Screen, opening: &Opening) -> String {
    let change = &opening.change;
    let what = match (change.from.as_deref(), change.to.as_deref()) {
        (Some(_), Some(to)) if change.key.ends_with(".driver") => format!("raise {} to {to}", change.key),
        (Some(from), Some(to)) => format!("change {} from {from} to {to}", change.key),
        (None, Some(to)) => format!("add {} = {to}", change.key),
        (from, None) => format!("drop {} ({})", change.key, from.unwrap_or("as written")),
    };
    let name = opening.key.strip_prefix("stack.").unwrap_or(&opening.key);
    let advice = opening.advice.as_ref().map_or_else(String::new, |advice| format!(" ({advice})"));
    let says = format!("{what} and {name} {} is open{advice}", opening.to);
    screen.wrapped("  - ", &clean(&says))
}

/// Things looked up by name.
pub(super) fn topics(screen: &Screen, topics: &[Topic]) -> String {
    let each = topics.iter().map(|topic| match topic {
        Topic::Rule(rule) => render_rule(screen, rule),
        Topic::Warning(code) => {
            let mut text = format!("{}\n", screen.help(&format!("warning {}", code.code)));
            text += &screen.wrapped("  ", code.says);
            text += &screen.wrapped("  ", "To silence it where it is known and accepted, write in gpuenv.toml:");
            text += "\n    [[silence]]\n";
            text += &format!("    warning = \"{}\"\n    # target = \"NAME\"   only for one machine\n", code.code);
            text + "    reason = \"why it is no matter here\"\n"
        }
        Topic::Check(id, says) => {
            format!("{}\n{}", screen.help(&format!("check {id}")), screen.wrapped("  ", says))
        }
        Topic::Row(fact, row) => {
            let mut text = format!("{}\n", screen.help(&clean(&fact.id)));
            for (field, value) in row.as_object().into_iter().flatten() {
                text += &screen.wrapped(&format!("  {field}: "), &clean(&plain(value)));
            }
            text + &format!("  looked up in: {}\n  digest: {}\n", clean(&fact.source), fact.digest)
        }
    });
    each.collect::<Vec<_>>().join("\n")
}

fn render_rule(screen: &Screen, rule: &RuleTopic) -> String {
    let mut text = format!("{}\n", screen.help(&format!("rule {}", clean(&rule.id))));
    text += &screen.wrapped("  ", &clean(&rule.says));
    if let (Some((subject, range)), Some((object, needs))) = (&rule.range, &rule.needs) {
        text += &screen.wrapped("  ", &format!("where {subject} is {range}, {object} must be {needs}"));
    } else {
        text += &screen.wrapped("  ", "this rule is code, not a row of the catalog");
    }
    text += &format!("  source: {}\n", clean(&rule.source));
    if let Some(note) = &rule.note {
        text += &screen.wrapped("    ", &clean(note));
    }
    for (name, pairs) in [("holds", &rule.holds), ("fails", &rule.fails)] {
        if !pairs.is_empty() {
            text += &screen.wrapped(&format!("  {name} for: "), &clean(&pairs.join(", ")));
        }
    }
    text + &screen.wrapped("  ", "An `[[override]]` with its id and a reason sets it aside.")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
