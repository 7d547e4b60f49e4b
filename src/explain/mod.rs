//! L3, explaining: which written keys clash, the facts that bind them, and which changes would help.

mod advice;
mod alike;
mod ask;
mod core;
mod fixes;
pub mod graph;
pub mod host;
mod reasons;
pub mod topic;
pub mod unlocks;
pub mod why;

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::catalog::rows::{FRAMEWORKS, TRITON};
use crate::solve::engine::Steps;
use crate::solve::problem::Problem;
use crate::solve::request::Request;
use crate::solve::resolve::World;
use crate::spec::{Spec, Target};

use alike::Alike;
use ask::{Asker, Edit};

/// Why a spec has no answer, and what would give it one.
#[derive(Debug, Clone, Default)]
pub struct Explanation {
    /// Each independent conflict, the first by file order first.
    pub conflicts: Vec<Conflict>,
    /// Other sets of as many keys as the first conflict has, equally to blame.
    pub alternatives: Vec<Vec<String>>,
    /// Conflicts that share a key with one of these: who changes another key of that one meets them next.
    pub further: Vec<Conflict>,
    /// Changes after each of which the whole spec has an answer.
    pub fixes: Vec<Fix>,
    /// The steps after which the search for more of all this was given up.
    pub gave_up: Option<u64>,
}

impl Explanation {
    /// That there is no answer, of which nobody could tell why within so many steps.
    pub fn gave_up(steps: u64) -> Explanation {
        Explanation { gave_up: Some(steps), ..Explanation::default() }
    }
}

/// The fewest keys that cannot hold together.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Conflict {
    /// A special kind of conflict: `newer-than-catalog`, `image-tag`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// The keys, in file order.
    pub culprits: Vec<String>,
    /// Targets that are alike with those of the keys in all that matters: the same holds for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// For each key what about its value matters, in a few words; empty where nothing short can be said.
    #[serde(skip)]
    pub labels: Vec<String>,
    /// Why, in plain sentences.
    pub explanation: Vec<String>,
    /// The rows and rules behind the sentences.
    pub facts: Vec<FactNote>,
}

/// A row or rule and where it can be looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Fact"))]
pub struct FactNote {
    /// Its id.
    pub id: String,
    /// A URL or purl.
    pub source: String,
}

/// How a sentence begins that quotes a line of the spec.
const SETS: &str = "gpuenv.toml sets ";

impl Explanation {
    /// The same of a spec in a file of another name: the lines that it quotes stand there.
    pub fn of_file(&self, name: &str) -> Explanation {
        let mut told = self.clone();
        if name.rsplit('/').next() != Some("gpuenv.toml") {
            let conflicts = told.conflicts.iter_mut().chain(&mut told.further);
            for sentence in conflicts.flat_map(|one| &mut one.explanation) {
                if let Some(line) = sentence.strip_prefix(SETS) {
                    *sentence = format!("{name} sets {line}");
                }
            }
        }
        told
    }
}

/// Changes after which the whole spec has an answer: it was solved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fix {
    /// What to change in gpuenv.toml.
    #[cfg_attr(test, schemars(length(min = 1)))]
    pub changes: Vec<Change>,
    /// The stack that it then has, package to version.
    pub stack: BTreeMap<String, String>,
    /// What to do rather than the least that suffices, or what it takes on the hosts besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The warnings by which what is then locked fails as it is: their codes, and the keys that they are about.
    #[serde(skip)]
    pub failing: Vec<(&'static str, Vec<String>)>,
    /// Whether it changes what is installed, and so may bring such a warning.
    #[serde(skip)]
    pub is_of_build: bool,
    /// Whether a part of it does on a GPU on which the rest runs.
    #[serde(skip)]
    pub fails_on_gpu: bool,
    /// Whether what is then locked rests on a build that its publisher calls experimental.
    #[serde(skip)]
    pub experimental: bool,
}

/// A changed key. One that is added or removed has null for what it was or will be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Change {
    /// The key, `stack.torch`.
    pub key: String,
    /// What is written.
    pub from: Option<String>,
    /// What to write.
    pub to: Option<String>,
}

/// Explains a spec that is proven to have no answer; none if it may have one after all, or nobody could tell within the
/// limit.
pub fn conflicts<'c>(spec: &Spec, problem: &'c Problem<'c>, steps: &Steps) -> Option<Explanation> {
    explain(spec, problem, World::Possible, steps)
}

/// Explains why a spec has no answer among what is known.
pub fn obstacles<'c>(spec: &Spec, problem: &'c Problem<'c>, steps: &Steps) -> Option<Explanation> {
    explain(spec, problem, World::Known, steps)
}

fn explain<'c>(spec: &Spec, problem: &'c Problem<'c>, world: World, steps: &Steps) -> Option<Explanation> {
    let whole = Asker::new(spec, problem, world, steps);
    let alike = Alike::of(spec, whole.base()?);
    let one_of_each = alike.one_of_each(spec);
    let asker = Asker::new(&one_of_each, problem, world, steps);
    let cores = core::Cores::find(&asker)?;
    let tell = |culprits: &Vec<String>| Conflict { also: alike.others(culprits), ..reasons::tell(&asker, culprits) };
    let conflicts = cores.independent.iter().map(tell).collect();
    let mut further: Vec<Conflict> = cores.further.iter().map(tell).collect();
    let mut fixes = fixes::find(&asker, &cores);
    fixes.retain(|fix| asks_for_something(spec, fix));
    for fix in &mut fixes {
        fix.advice = advice::on(&asker, fix).or(fix.advice.take());
    }
    fixes.retain_mut(|fix| suits_all(fix, &alike, &whole));
    // Of what is not known that would be no proof.
    if fixes.is_empty() && further.is_empty() && matches!(world, World::Possible) {
        further.extend(cores.independent.first().and_then(|culprits| beneath(&asker, culprits)));
    }
    Some(Explanation { conflicts, alternatives: cores.alternatives, further, fixes, gave_up: steps.spent() })
}

/// Where no change helps: what the packages to blame would clash with in any other release.
fn beneath(asker: &Asker<'_, '_>, culprits: &[String]) -> Option<Conflict> {
    let packages = culprits.iter().filter(|key| key.starts_with("stack."));
    let edits: Vec<Edit> = packages.map(|key| (key.clone(), Some("*".to_string()))).collect();
    let spec = asker.spec.edited(&edits).ok().filter(|_| !edits.is_empty())?;
    let told = first_of(&spec, asker.file, asker.problem, World::Possible, asker.steps)?;
    let is_next = told.culprits != culprits && told.culprits.iter().any(|key| culprits.contains(key));
    is_next.then_some(told)
}

/// Makes a fix one for all targets that are alike, and says whether the whole spec has an answer then.
fn suits_all(fix: &mut Fix, alike: &Alike, whole: &Asker<'_, '_>) -> bool {
    let mut changes = alike.spread(&fix.changes);
    if changes.len() == fix.changes.len() {
        return true;
    }
    let keys = whole.spec.keys();
    let place: HashMap<&str, usize> = keys.iter().enumerate().map(|(at, key)| (key.as_str(), at)).collect();
    crate::types::sort_by_key(&mut changes, |change| place.get(change.key.as_str()).copied().unwrap_or(keys.len()));
    let edits: Vec<Edit> = changes.iter().map(|change| (change.key.clone(), change.to.clone())).collect();
    fix.changes = changes;
    whole.has_answer(&edits)
}

/// A spec that asks for nothing is solved by anything, which helps nobody.
fn asks_for_something(spec: &Spec, fix: &Fix) -> bool {
    let is_package = |change: &Change| change.key.starts_with("stack.") && change.from.is_none();
    let gone = |key: &str| fix.changes.iter().any(|change| change.key == key && change.to.is_none());
    let builds = spec.build.as_ref().is_some_and(|build| build.cuda_extensions);
    let image = |target: &Target| target.image.is_some() && !gone(&format!("target.{}.image", target.name));
    let is_left = || match spec.stack.as_slice() {
        [] => spec.targets.iter().any(image),
        stack => stack.iter().any(|(name, _)| !gone(&format!("stack.{name}"))),
    };
    builds || fix.changes.iter().any(is_package) || is_left()
}

/// The first clash of a spec alone, without what would help.
pub fn first_conflict<'c>(spec: &Spec, problem: &'c Problem<'c>, steps: &Steps) -> Option<Conflict> {
    conflict_beside(spec, spec, problem, steps)
}

/// The first conflict of a spec that was made of the user's own: what was forced upon it is quoted as no line of the file.
fn conflict_beside<'c>(spec: &Spec, file: &Spec, problem: &'c Problem<'c>, steps: &Steps) -> Option<Conflict> {
    let alike = Alike::of(spec, &Request::new(spec, problem).ok()?.0);
    first_of(&alike.one_of_each(spec), file, problem, World::Known, steps)
}

/// The same in a world.
fn first_of<'c>(spec: &Spec, file: &Spec, problem: &'c Problem<'c>, world: World, steps: &Steps) -> Option<Conflict> {
    let mut asker = Asker::new(spec, problem, world, steps);
    asker.file = file;
    let cores = core::Cores::find(&asker)?;
    cores.independent.first().map(|culprits| reasons::tell(&asker, culprits))
}

/// Those of some things that something needs: what is left when, many at once and at last one by one, all others were
/// left out. `suffices` tells whether some are enough; none where nobody could tell.
fn needed<T: Clone>(all: &[T], mut suffices: impl FnMut(&[T]) -> Option<bool>) -> Option<Vec<T>> {
    let mut kept = all.to_vec();
    let mut many = kept.len().div_ceil(2);
    while many > 0 {
        let mut at = 0;
        while at < kept.len() {
            let end = kept.len().min(at + many);
            let fewer = [&kept[..at], &kept[end..]].concat();
            if suffices(&fewer)? {
                kept = fewer;
            } else {
                at = end;
            }
        }
        many /= 2;
    }
    Some(kept)
}

/// The order in which packages are told.
pub fn importance(name: &str) -> (usize, String) {
    let place = |among: &[&str]| among.iter().position(|one| *one == name);
    // What a user named himself stands between the frameworks and the libraries below them.
    let below = place(&["python", TRITON, "cuda", "cudnn", "nccl"]).map(|place| FRAMEWORKS.len() + 1 + place);
    (place(FRAMEWORKS).or(below).unwrap_or(FRAMEWORKS.len()), name.to_string())
}

/// The target that a key belongs to; empty for those of none.
fn target_of(key: &str) -> &str {
    key.strip_prefix("target.").and_then(|rest| rest.rsplit_once('.')).map_or("", |(target, _)| target)
}
