//! Whether a lock still answers the spec it lies beside, and if not, why.

use std::collections::BTreeMap;

use crate::catalog::{Catalog, OVERLAY};
use crate::solve::engine::Steps;
use crate::solve::request::Request;
use crate::spec::Spec;
use crate::types::plain::brief;
use crate::types::{Constraint, Version};

use super::renew::{Renewed, follow, renew};
use super::{CatalogStamp, FORMAT, Lock, Upgrade};

/// Why the lock must be made anew; nothing if it is current.
///
/// That the catalog has moved on is no reason. That it corrected or withdrew a fact the lock rests on is.
pub fn staleness(lock: &Lock, inputs: &BTreeMap<String, String>, catalog: &Catalog) -> Vec<String> {
    let mut reasons = changed_inputs(&lock.inputs, inputs);
    if lock.version < FORMAT {
        reasons.push(format!("it has format {}, this gpuenv writes format {FORMAT}", lock.version));
    }
    for then in lock.catalog.overlays.iter().filter(|then| !CatalogStamp::is_of_any(then, catalog)) {
        let name = then.rsplit_once(' ').map_or(then.as_str(), |(name, _)| name);
        // One that is no longer written, or new, is told among the inputs.
        if catalog.overlays.iter().any(|now| *now.name == *name) {
            reasons.push(format!("the overlay {name} has changed"));
        }
    }
    // What an older catalog does not know, it has not withdrawn.
    let facts = if is_newer(lock, catalog) { &[] } else { lock.fact.as_slice() };
    for fact in facts {
        let rests = match fact.supports.as_slice() {
            [] => String::new(),
            [only] => format!(", on which {only} rests"),
            [first, rest @ ..] => format!(", on which {first} and {} more rest", rest.len()),
        };
        match catalog.cited(&fact.id) {
            // The catalog that the lock was made with has withdrawn nothing since.
            None if lock.catalog.version == catalog.version => {
                reasons.push(format!("the catalog has no `{}`{rests}: somebody has edited the lock", fact.id));
            }
            None => reasons.push(format!("the catalog has withdrawn `{}` ({}){rests}", fact.id, fact.source)),
            Some(now) if now.digest != fact.digest && now.placed.as_ref() != Some(&fact.digest) => {
                reasons.push(format!("the catalog has corrected `{}` ({}){rests}", fact.id, now.source));
            }
            Some(_) => {}
        }
    }
    reasons
}

/// The lock that a request gives now: made with the choices of the one at hand, or anew where only that says the same. A
/// lock follows from its spec if either does, whoever asks.
pub fn again(spec: &Spec, request: &Request<'_>, lock: &Lock) -> Renewed {
    let steps = Steps::default();
    let kept = follow(spec, request, lock, &steps);
    let says_same = |renewed: &Renewed| matches!(renewed, Renewed::Lock(again, _) if is_same(again, lock));
    if says_same(&kept) || matches!(kept, Renewed::GaveUp) {
        return kept;
    }
    Some(renew(spec, request, None, &Upgrade::Nothing, &steps)).filter(says_same).unwrap_or(kept)
}

/// Whether a lock that was made again says what one says that is not stale: the spec that it was made from, the spelling of
/// its inputs and the lines of overlays aside.
pub fn is_same(again: &Lock, lock: &Lock) -> bool {
    let mut again = Lock { spec: lock.spec.clone(), inputs: lock.inputs.clone(), ..again.clone() };
    again.catalog.overlays.clone_from(&lock.catalog.overlays);
    for (fact, then) in again.fact.iter_mut().zip(&lock.fact).filter(|(fact, then)| fact.id == then.id) {
        if [&fact.source, &then.source].iter().all(|source| source.starts_with(OVERLAY)) {
            (fact.source, fact.digest) = (then.source.clone(), then.digest.clone());
        }
    }
    let file = |overlay: &Option<String>| overlay.as_ref()?.rsplit_once(':').map(|(file, _)| file.to_string());
    for (one, then) in again.overrides.iter_mut().zip(&lock.overrides) {
        if file(&one.overlay) == file(&then.overlay) {
            one.overlay.clone_from(&then.overlay);
        }
    }
    again == *lock
}

/// Whether a lock was made with a newer catalog than this one.
pub fn is_newer(lock: &Lock, catalog: &Catalog) -> bool {
    is_later(&lock.catalog.version, &catalog.version)
}

/// Whether one version is later than another; of what is no version nothing is later.
fn is_later(one: &str, other: &str) -> bool {
    let version = |text: &str| Version::parse(text).ok();
    version(one).zip(version(other)).is_some_and(|(one, other)| one > other)
}

fn changed_inputs(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let mut reasons = Vec::new();
    for (key, was) in then {
        match now.get(key) {
            None => reasons.push(brief(&format!("`{key}` was `{was}` and is no longer written"))),
            Some(is) if !is_same_input(key, was, is) => {
                reasons.push(brief(&format!("`{key}` was `{was}` and is now `{is}`")));
            }
            Some(_) => {}
        }
    }
    let added = now.iter().filter(|(key, _)| !then.contains_key(*key));
    reasons.extend(added.map(|(key, is)| brief(&format!("`{key}` is new: `{is}`"))));
    reasons
}

/// Whether an input means what it meant: locks of older gpuenvs spell constraints as they were written.
fn is_same_input(key: &str, was: &str, is: &str) -> bool {
    let is_constraint = key.starts_with("stack.") || key.ends_with(".driver") || key == "catalog.version";
    let asked = |text: &str| Constraint::parse(text).ok().filter(|_| is_constraint);
    was == is || asked(was).zip(asked(is)).is_some_and(|(was, is)| was.asks_the_same(&is))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalog_of_an_unread_version_is_not_the_newer_one() {
        assert!(is_later("2026.12.01", "2026.11.27") && !is_later("2026.11.27", "2026.11.27"));
        assert!(!is_later("mine", "2026.11.27"));
    }

    #[test]
    fn every_changed_input_is_named() {
        let map = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let then: BTreeMap<String, String> = map(&[("a", "1"), ("b", "2"), ("c", "3")]);
        let now: BTreeMap<String, String> = map(&[("b", "2"), ("c", "4"), ("d", "5")]);
        assert_eq!(
            changed_inputs(&then, &now),
            ["`a` was `1` and is no longer written", "`c` was `3` and is now `4`", "`d` is new: `5`"]
        );
        assert_eq!(changed_inputs(&then, &then), Vec::<String>::new());
        let then = map(&[("stack.torch", "==2.8.*"), ("stack.cuda", ">=12.4,<13"), ("target.a.driver", "550||535")]);
        let now = map(&[("stack.torch", "2.8"), ("stack.cuda", "<13,>=12.4"), ("target.a.driver", "535||550")]);
        assert_eq!(changed_inputs(&then, &now), Vec::<String>::new());
        let now = map(&[("stack.torch", "2.8.0"), ("stack.cuda", "<13,>=12.4"), ("target.a.driver", "535||550")]);
        assert_eq!(changed_inputs(&then, &now), ["`stack.torch` was `==2.8.*` and is now `2.8.0`"]);
    }
}
