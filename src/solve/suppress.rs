//! Warnings that the user has heard and answered: left out, and those that answer nothing are told in turn.

use crate::spec::{Silence, Spec};

use crate::warning::{CatalogOld, Kind, UnusedSilence, Warning};

/// Stays even where everything else is silenced, unless it is silenced by name itself.
const UNUSED: &str = UnusedSilence::CODE;

/// Given on stderr by the day: that it was not given today is no reason to delete its silence.
const OF_THE_DAY: &str = CatalogOld::CODE;

/// What is left of the warnings. A silence for one target takes away that target's part of a warning only.
pub fn heard(spec: &Spec, warnings: Vec<Warning>) -> Vec<Warning> {
    let mut used: Vec<bool> = spec.silences.iter().map(|silence| silence.warning.value == OF_THE_DAY).collect();
    let mut heard = Vec::new();
    for mut warning in warnings {
        let mut silenced = false;
        for (silence, used) in spec.silences.iter().zip(&mut used) {
            if silence.warning.value != warning.code {
                continue;
            }
            let Some(target) = &silence.target else {
                (silenced, *used) = (true, true);
                continue;
            };
            let before = warning.keys.len();
            warning.keys.retain(|key| !is_of(key, &target.value));
            if warning.keys.len() < before {
                *used = true;
                // Of a warning about no target any more the keys of packages say nothing.
                silenced |= !warning.keys.iter().any(|key| key.starts_with("target."));
            }
        }
        if !silenced {
            heard.push(warning);
        }
    }
    let unused = spec.silences.iter().zip(used).filter(|(_, used)| !used).map(|(silence, _)| silence);
    // One that silences this very warning is unused where it has none to silence.
    let (own, others): (Vec<&Silence>, Vec<&Silence>) = unused.partition(|one| one.warning.value == UNUSED);
    let told = match (own.is_empty(), others.is_empty()) {
        (true, _) => others,
        (false, true) => own,
        (false, false) => Vec::new(),
    };
    heard.extend(told.into_iter().map(self::unused));
    heard
}

fn is_of(key: &str, target: &str) -> bool {
    let rest = key.strip_prefix("target.").and_then(|rest| rest.strip_prefix(target));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn unused(silence: &Silence) -> Warning {
    let unused = UnusedSilence {
        warning: &silence.warning.value,
        target: silence.target.as_ref().map(|target| target.value.as_str()),
    };
    Warning::about(&unused, &[format!("silence.{}", silence.warning.value)])
}

#[cfg(test)]
mod tests;
