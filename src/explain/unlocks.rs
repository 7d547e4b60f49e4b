//! What one change would open: each written clause is loosened once, and what the solver then chooses is compared
//! with what it chooses now.

use serde::Serialize;

use crate::catalog::rows::{Branch, FRAMEWORKS};
use crate::solve::solution::Solution;
use crate::spec::{Prefer, Share, Spec};
use crate::types::{Version, distinct, sort_by_key};

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
/// Questions that are asked: each is one of all targets.
const ASKED: usize = 64;

/// The changes that make the most important part of the stack newer, what opens most first.
pub(super) fn find<'c>(asker: &Asker<'_, 'c>, spec: &Spec, answer: &Solution<'c>) -> Vec<Opening> {
    let Some((key, now)) = lead(answer) else { return Vec::new() };
    let is_newest_first = spec.resolve.prefer == Prefer::Newest;
    let mut search = Search { asker, answer, key, now, is_newest_first, left: ASKED, found: Vec::new() };
    // Hundreds of machines are asked of together; of the lines about all of them each may well open something.
    let is_of_target = |change: &Change| change.key.starts_with("target.");
    let changes = variations(asker, spec, answer);
    for alike in changes.chunk_by(|one, next| is_of_target(one) && is_of_target(next)) {
        search.among(alike);
    }
    let mut found = search.found;
    sort_by_key(&mut found, |one| std::cmp::Reverse(one.0));
    found.into_iter().map(|(_, opening)| opening).take(SHOWN).collect()
}

struct Search<'a, 'q, 'c> {
    asker: &'a Asker<'q, 'c>,
    answer: &'a Solution<'c>,
    /// What is to become newer, and what it is now.
    key: String,
    now: Version,
    /// Whether the newest that is admitted is chosen: then what more is admitted makes nothing older.
    is_newest_first: bool,
    /// How many questions may still be asked.
    left: usize,
    found: Vec<(Version, Opening)>,
}

impl<'c> Search<'_, '_, 'c> {
    /// Looks among changes. Where the newest of all that they admit together is not newer, none of them makes it so.
    fn among(&mut self, changes: &[Change]) {
        let (first, rest) = changes.split_at(changes.len() / 2);
        let is_alone = changes.len() == 1;
        if changes.is_empty() || self.left == 0 {
            return;
        }
        if is_alone || self.is_newest_first && one_of_each_key(changes) {
            self.left -= 1;
            let then = self.with(changes);
            let newest = then.as_ref().map(|then| self.newer(then));
            match (then, newest) {
                (Some(then), Some(Some(newest))) if is_alone => return self.opens(&changes[0], &then, newest),
                (_, Some(None)) => return,
                _ if is_alone => return,
                _ => {}
            }
        }
        self.among(first);
        self.among(rest);
    }

    /// The answer with some changes, if they can be asked for and have one.
    fn with(&self, changes: &[Change]) -> Option<Solution<'c>> {
        let edit = |change: &Change| (change.key.clone(), change.to.clone().filter(|to| !to.is_empty()));
        let request = self.asker.vary(&changes.iter().map(edit).collect::<Vec<_>>())?;
        self.asker.best(&request)
    }

    /// What is newer in an answer.
    fn newer(&self, then: &Solution<'c>) -> Option<Version> {
        lead(then).filter(|(same, version)| *same == self.key && *version > self.now).map(|(_, newest)| newest)
    }

    fn opens(&mut self, change: &Change, then: &Solution<'c>, newest: Version) {
        let uses_compat = |answer: &Solution| {
            answer.targets.iter().any(|target| target.driver.as_ref().is_some_and(|driver| driver.compat.is_some()))
        };
        if uses_compat(then) && !uses_compat(self.answer) {
            return;
        }
        // What is shown is asked as it would be written: a driver that suffices for what is new may be one that is judged older.
        let of_branch =
            self.asker.catalog.branches.iter().find(|row| row.cuda.is_some_and(|cuda| cuda >= newest.prefix(2)));
        let written = as_written(change, then, of_branch).into_iter();
        let asked = |change: Change| Some((self.newer(&self.with(std::slice::from_ref(&change))?)?, change));
        let Some((newest, change)) = written.filter_map(asked).next() else { return };
        let advice = match change.to {
            Some(_) if change.key.ends_with(".driver") || change.key.ends_with(".driver-cuda") => {
                advice::branch(self.asker, &[], &change.key)
            }
            _ => None,
        };
        let (key, from) = (self.key.clone(), self.now.to_string());
        self.found.push((newest, Opening { change, key, from, to: newest.to_string(), advice }));
    }
}

/// Whether no two changes are of one key.
fn one_of_each_key(changes: &[Change]) -> bool {
    distinct(changes.iter().map(|change| &change.key)).len() == changes.len()
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

/// A loosened driver as it would be written: what the answer needs at least, else the branch that offers its CUDA.
fn as_written(change: &Change, then: &Solution<'_>, of_branch: Option<&Branch>) -> Vec<Change> {
    if change.to.as_deref() != Some("") {
        return vec![change.clone()];
    }
    let target = change.key.strip_prefix("target.").and_then(|rest| rest.rsplit_once('.')).map_or("", |(name, _)| name);
    let Some(answer) = then.target(target) else { return Vec::new() };
    let least = [answer.minimum, of_branch.map(|row| row.branch)];
    let written = match change.key.ends_with("driver-cuda") {
        true => vec![answer.driver.as_ref().and_then(|driver| driver.branch.cuda.as_ref()).map(ToString::to_string)],
        false => least.map(|least| least.map(|it| format!(">={it}"))).into(),
    };
    let written: Vec<Option<String>> = written.into_iter().filter(Option::is_some).collect();
    let written = if written.is_empty() { vec![None] } else { written };
    written.into_iter().map(|to| Change { to, ..change.clone() }).collect()
}
