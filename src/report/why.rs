//! What `gpuenv explain` tells people: the choices, and which change would give a newer version.

use std::collections::BTreeMap;

use crate::explain::FactNote;
use crate::explain::unlocks::Opening;
use crate::explain::why::{Choice, Rejected, Why};
use crate::types::grouped;

use super::Standing;
use super::screen::{Screen, clean};

/// Sentences of a rejected value; the rest is for `--verbose`.
const SENTENCES: usize = 4;

/// What is to be known of the lock before anything is explained. One that cannot be read was told already.
pub(super) fn standing(screen: &Screen, standing: &Standing) -> String {
    let lock = clean(&standing.lock);
    match (standing.status, &standing.reason) {
        ("stale", Some(_)) => {
            outdated(screen, standing, "what follows is not what is locked, but what `gpuenv lock` would choose")
        }
        ("missing", _) => {
            let says = format!("{lock} does not exist; what follows is what `gpuenv lock` would choose");
            screen.wrapped(&format!("{} ", screen.help("note:")), &says)
        }
        _ => String::new(),
    }
}

/// That a lock is out of date, and what it is in spite of which the rest is told.
pub(super) fn outdated(screen: &Screen, standing: &Standing, then: &str) -> String {
    let Some(reason) = standing.reason.as_ref().filter(|_| standing.status == "stale") else { return String::new() };
    let head = screen.warning("warning[stale-lock]:");
    screen.wrapped(&format!("{head} "), &format!("{} is out of date: {}; {then}", clean(&standing.lock), clean(reason)))
}

/// The choices of an answer. `locked` is what the lock holds where that is another.
pub(super) fn render(
    screen: &Screen,
    why: &Why,
    (locked, standing): (&BTreeMap<String, String>, &Standing),
    verbose: bool,
) -> String {
    let mut text = String::new();
    for (choice, others) in alike(&why.choices, locked) {
        text += &one(screen, choice, (locked, standing), verbose);
        if !others.is_empty() {
            let targets = if others.len() > 1 { "targets" } else { "target" };
            text += &screen.wrapped("  ", &format!("the same for {targets} {}", clean(&others.join(", "))));
        }
    }
    if !why.openings.is_empty() {
        text += &format!("{}\n", screen.help("to get a newer version:"));
        why.openings.iter().for_each(|opening| text += &open(screen, opening));
    }
    text
}

/// Each choice with the other targets for which just the same is to be said.
fn alike<'a>(choices: &'a [Choice], locked: &BTreeMap<String, String>) -> Vec<(&'a Choice, Vec<&'a str>)> {
    let each = choices.iter().map(|choice| {
        let target = choice.key.strip_prefix("target.").and_then(|rest| rest.split('.').next()).unwrap_or("");
        let told = match locked.contains_key(&choice.key) {
            false if !target.is_empty() => {
                story(choice).replace(&format!("target.{target}."), "target..").replace(&format!("`{target}`"), "``")
            }
            _ => choice.key.clone() + choice.part,
        };
        (told, (choice, target))
    });
    let others = |same: &[(&Choice, &'a str)]| same[1..].iter().map(|(_, target)| *target).collect();
    grouped(each).into_iter().map(|(_, same)| (same[0].0, others(&same))).collect()
}

/// All that is told of a choice.
fn story(choice: &Choice) -> String {
    let mut told = vec![choice.key.as_str(), choice.part, &choice.chosen];
    told.extend(choice.because.iter().map(String::as_str));
    for rejected in &choice.rejected {
        told.push(&rejected.value);
        told.extend(rejected.culprits.iter().chain(&rejected.because).map(String::as_str));
    }
    told.join("\n")
}

fn one(
    screen: &Screen,
    choice: &Choice,
    (locked, standing): (&BTreeMap<String, String>, &Standing),
    verbose: bool,
) -> String {
    let part = if matches!(choice.part, "version" | "tag" | "release") { "" } else { choice.part };
    let name = format!("{} {part}", clean(&choice.key));
    let mut text = format!("{}: {}\n", screen.help(name.trim_end()), screen.after(&clean(&choice.chosen)));
    for sentence in &choice.because {
        text += &screen.wrapped("  ", &clean(sentence));
    }
    choice.rejected.iter().for_each(|rejected| text += &reject(screen, rejected, verbose));
    if let Some(held) = locked.get(&choice.key).filter(|_| ["", "minimum"].contains(&part)) {
        let held = clean(held);
        let says = match standing.status {
            "current" => {
                format!(
                    "the lock holds {held}, an earlier choice that still works; `gpuenv lock --upgrade` replaces it"
                )
            }
            _ => format!("the lock holds {held} and is out of date: `gpuenv lock` replaces it"),
        };
        text += &screen.wrapped("  ", &says);
    }
    text + &facts(&choice.facts, verbose)
}

fn reject(screen: &Screen, rejected: &Rejected, verbose: bool) -> String {
    let keys: Vec<_> = rejected.culprits.iter().map(|key| clean(key)).collect();
    let against = if keys.is_empty() { String::new() } else { format!(" with {}", keys.join(", ")) };
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
        (Some(_), Some(to)) if change.key.ends_with(".driver") => format!("upgrade {} to {to}", change.key),
        (Some(from), Some(to)) => format!("change {} from {from} to {to}", change.key),
        (None, Some(to)) => format!("set {} = {to}", change.key),
        (from, None) => format!("remove {} ({})", change.key, from.unwrap_or("as written")),
    };
    let name = opening.key.strip_prefix("stack.").unwrap_or(&opening.key);
    let advice = opening.advice.as_ref().map_or_else(String::new, |advice| format!(" ({advice})"));
    let says = format!("{what}: allows {name} {}{advice}", opening.to);
    screen.wrapped("  - ", &clean(&says))
}
