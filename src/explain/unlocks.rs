//! What one change would open: each written clause is loosened once, and what the solver then chooses is compared
//! with what it chooses now.

use serde::Serialize;

use crate::catalog::rows::FRAMEWORKS;
use crate::solve::solution::Solution;
use crate::spec::{Share, Spec};
use crate::types::{Version, sort_by_key};

use super::alike::Alike;
use super::ask::Asker;
use super::{Change, advice, target_of};

/// A single change and what becomes possible with it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Opening {
    /// The change.
    pub change: Change,
    /// What becomes newer.
    pub key: String,
    /// What it is now.
    pub from: String,
    /// What it would be.
    pub to: String,
    /// What to do rather than the least that suffices.
    pub advice: Option<String>,
}

/// More openings than these are not read.
const SHOWN: usize = 5;
/// Clauses that are tried: a spec of a thousand targets is not asked a thousand times.
const TRIED: usize = 64;

/// The changes that make the most important part of the stack newer, what opens most first.
pub(super) fn find(asker: &Asker<'_, '_>, spec: &Spec, answer: &Solution<'_>) -> Vec<Opening> {
    let Some((key, now)) = lead(answer) else { return Vec::new() };
    let mut found: Vec<(Version, Opening)> = Vec::new();
    for change in variations(asker, spec, answer).into_iter().take(TRIED) {
        // One at a time: each is a request of all targets.
        let edit = (change.key.clone(), change.to.clone().filter(|to| !to.is_empty()));
        let request = asker.vary(&[edit]);
        let Some(then) = request.and_then(|request| asker.best(&request)) else { continue };
        let uses_compat = |answer: &Solution| {
            answer.targets.iter().any(|target| target.driver.as_ref().is_some_and(|driver| driver.compat.is_some()))
        };
        let Some((_, newest)) = lead(&then).filter(|(same, version)| *same == key && *version > now) else { continue };
        if uses_compat(&then) && !uses_compat(answer) {
            continue;
        }
        let change = as_written(change, &then);
        let advice = match change.to {
            Some(_) if change.key.ends_with(".driver") || change.key.ends_with(".driver-cuda") => {
                advice::branch(asker, &[], &change.key)
            }
            _ => None,
        };
        let opening = Opening { change, key: key.clone(), from: now.to_string(), to: newest.to_string(), advice };
        found.push((newest, opening));
    }
    sort_by_key(&mut found, |one| std::cmp::Reverse(one.0));
    found.into_iter().map(|(_, opening)| opening).take(SHOWN).collect()
}

/// What is compared: the first framework, else the CUDA release that compiles.
fn lead(answer: &Solution<'_>) -> Option<(String, Version)> {
    let builds = || answer.targets.iter().flat_map(|target| target.builds.iter());
    let framework = FRAMEWORKS.iter().find(|name| builds().any(|build| build.package == **name));
    if let Some(name) = framework {
        let oldest = builds().filter(|build| build.package == *name).map(|build| build.version).min()?;
        return Some((format!("stack.{name}"), oldest));
    }
    let release = answer.targets.iter().filter_map(|target| target.cuda_release()).min()?;
    Some(("stack.cuda".to_string(), release))
}

/// Every way to loosen one clause. Of targets that are alike none is loosened: what limits one limits the others.
fn variations(asker: &Asker<'_, '_>, spec: &Spec, answer: &Solution<'_>) -> Vec<Change> {
    let mut variations = Vec::new();
    let mut vary = |key: &str, to: Option<String>| {
        variations.push(Change { from: spec.text(key), key: key.to_string(), to });
    };
    let alike = asker.base().map(|request| Alike::of(spec, request)).unwrap_or_default();
    for key in spec.keys().into_iter().filter(|key| !alike.holds(target_of(key))) {
        match key.rsplit('.').next().unwrap_or("") {
            _ if key.starts_with("stack.") => vary(&key, Some("*".into())),
            // Not naming the GPU is no way out; not having one of several may be.
            "gpu" => fewer_gpus(spec, &key).into_iter().for_each(|left| vary(&key, Some(left))),
            // What the hosts would need is told by the answer.
            "driver" | "driver-cuda" => vary(&key, Some(String::new())),
            // What was made for one system runs on no other, whether it is named or not.
            "os" if is_one_system(asker, target_of(&key)) => {}
            _ => vary(&key, None),
        }
    }
    if answer.targets.len() > 1 {
        for share in ["versions", "none"] {
            if spec.resolve.share != Share::None && spec.text("resolve.share").as_deref() != Some(share) {
                vary("resolve.share", Some(share.into()));
            }
        }
    }
    variations
}

/// Whether a target takes only what was made for its system.
fn is_one_system(asker: &Asker<'_, '_>, target: &str) -> bool {
    asker.base().and_then(|request| request.target(target)).is_some_and(|target| target.platform.is_one_system())
}

/// The lists of GPUs that lack one of those written.
fn fewer_gpus(spec: &Spec, key: &str) -> Vec<String> {
    let gpus = spec.target(target_of(key)).and_then(|target| target.gpu.as_ref());
    let Some(gpus) = gpus.map(|written| &written.value).filter(|gpus| (2..=8).contains(&gpus.len())) else {
        return Vec::new();
    };
    let without = |at: usize| {
        let left = gpus.iter().enumerate().filter(|(other, _)| *other != at);
        let quoted: Vec<String> = left.map(|(_, name)| format!("{name:?}")).collect();
        format!("[{}]", quoted.join(", "))
    };
    (0..gpus.len()).map(without).collect()
}

/// A loosened driver as it would be written: what the answer needs at least.
fn as_written(change: Change, then: &Solution<'_>) -> Change {
    if change.to.as_deref() != Some("") {
        return change;
    }
    let target = change.key.strip_prefix("target.").and_then(|rest| rest.rsplit_once('.')).map_or("", |(name, _)| name);
    let answer = then.target(target);
    let to = match change.key.ends_with("driver-cuda") {
        true => answer.and_then(|answer| answer.driver.as_ref()?.branch.cuda.as_ref()).map(ToString::to_string),
        false => answer.and_then(|answer| answer.minimum.as_ref()).map(|minimum| format!(">={minimum}")),
    };
    Change { to, ..change }
}
