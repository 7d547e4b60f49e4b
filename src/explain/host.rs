//! A spec on one host: what is known of the host is put into the spec's target, and the question is asked anew.

use std::collections::BTreeMap;

use crate::catalog::rows::Class;
use crate::catalog::{Catalog, GpuMatch};
use crate::solve::compile::Locked;
use crate::solve::engine::Steps;
use crate::solve::problem::Problem;
use crate::solve::request::Request;
use crate::solve::resolve::{Resolution, resolve};
use crate::spec::{Observed, ObservedGpu, Runtime, Share, Spec, Target, list_text};
use crate::types::{Cc, Constraint, Version, sort_by_key};

use super::{Change, Explanation, Fix, advice, conflicts, importance};

/// What a spec comes to on one host.
#[derive(Debug, Clone)]
pub struct OnHost {
    /// The target that the host belongs to.
    pub target: String,
    /// The GPUs of that target.
    pub gpus: Vec<String>,
    /// What the host has and the spec does not say, to be written there.
    pub differs: Vec<Change>,
    /// Whether the target was asked by itself, since the spec has no answer as it is, whatever the host has.
    pub alone: bool,
    /// Whether anything runs there.
    pub outcome: Outcome,
}

/// Whether a spec has an answer on a host.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// It has one.
    Solution {
        /// What then runs, by package.
        stack: BTreeMap<String, String>,
        /// What it takes on the host besides, cuda-compat for one.
        advice: Option<String>,
    },
    /// It has none, and why.
    Conflict(Explanation),
    /// Nobody could tell within the limit.
    GaveUp,
}

/// Why a host cannot be put into a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unplaced {
    /// Nothing of what is known of it bears on the spec.
    NothingKnown,
    /// It may belong to any of these targets.
    Ambiguous(Vec<String>),
    /// There is no target of this name, only these.
    NoSuchTarget(Vec<String>),
}

/// Asks a spec what would run on a host. `target` is the target that it belongs to, if that was said.
pub fn on_host<'c>(
    spec: &Spec,
    observed: &Observed,
    target: Option<&str>,
    problem: &'c Problem<'c>,
    steps: &Steps,
) -> Result<OnHost, Unplaced> {
    let catalog = problem.catalog;
    let target = place(spec, observed, target, catalog)?;
    let mut hosted = spec.clone();
    let mut differs = Vec::new();
    for (key, to) in facts(spec, target, observed, catalog) {
        // What cannot be written, such as a driver of a release that is no version, says nothing.
        let Ok(changed) = hosted.with(&key, to.as_deref()) else { continue };
        hosted = changed;
        differs.push(Change { from: spec.text(&key), key, to });
    }
    let asked = !observed.is_empty() && Request::new(&hosted, problem).is_ok();
    let mut outcome = if asked { outcome_of(&hosted, problem, steps) } else { return Err(Unplaced::NothingKnown) };
    // What clashes without this host too is no fault of it.
    let is_of_spec = matches!(outcome, Outcome::Conflict(_)) && (spec.targets.len() > 1 || !differs.is_empty());
    let alone = is_of_spec && has_none(spec, problem, steps);
    if alone {
        let own = hosted.target(&target.name).cloned();
        let own = Spec { targets: own.into_iter().collect(), ..hosted.clone_without_targets() };
        outcome = outcome_of(&own, problem, steps);
    }
    let gpus = target.gpu.iter().flat_map(|gpus| gpus.value.clone()).collect();
    Ok(OnHost { target: target.name.clone(), gpus, differs, alone, outcome })
}

/// What a spec comes to.
fn outcome_of<'c>(spec: &Spec, problem: &'c Problem<'c>, steps: &Steps) -> Outcome {
    let Ok((request, _)) = Request::new(spec, problem) else { return Outcome::GaveUp };
    match resolve(&request, &Locked::new(), steps) {
        Resolution::Solution(answer) => Outcome::Solution {
            stack: answer.common_stack(request.share == Share::Stack),
            advice: advice::compat(&answer),
        },
        Resolution::Conflict => conflicts(spec, problem, steps).map_or(Outcome::GaveUp, Outcome::Conflict),
        Resolution::Undetermined(_) | Resolution::GaveUp => Outcome::GaveUp,
    }
}

/// Whether a spec is proven to have no answer.
fn has_none<'c>(spec: &Spec, problem: &'c Problem<'c>, steps: &Steps) -> bool {
    let request = Request::new(spec, problem).ok();
    request.is_some_and(|(request, _)| matches!(resolve(&request, &Locked::new(), steps), Resolution::Conflict))
}

/// The target that a host belongs to: the one named, the only one, or the only one with its GPU.
fn place<'s>(
    spec: &'s Spec,
    observed: &Observed,
    target: Option<&str>,
    catalog: &Catalog,
) -> Result<&'s Target, Unplaced> {
    let names = |targets: &[&Target]| targets.iter().map(|target| target.name.clone()).collect::<Vec<String>>();
    let all: Vec<&Target> = spec.targets.iter().collect();
    if let Some(name) = target {
        return spec.target(name).ok_or_else(|| Unplaced::NoSuchTarget(names(&all)));
    }
    let own = |target: &&&Target| observed.gpus.iter().any(|gpu| names_gpu(target, gpu, catalog));
    match (all.as_slice(), all.iter().filter(own).copied().collect::<Vec<&Target>>().as_slice()) {
        ([only], _) | (_, [only]) => Ok(only),
        (all, []) => Err(Unplaced::Ambiguous(names(all))),
        (_, several) => Err(Unplaced::Ambiguous(names(several))),
    }
}

/// A key of the spec and what stands there for the host; none removes it.
type Fact = (String, Option<String>);

/// What the host has and the spec does not admit or does not say.
fn facts(spec: &Spec, target: &Target, observed: &Observed, catalog: &Catalog) -> Vec<Fact> {
    let key = |name: &str| format!("target.{}.{name}", target.name);
    let mut facts: Vec<Fact> =
        driver(target, observed, catalog).into_iter().map(|(name, value)| (key(name), value)).collect();
    let unknown = observed.gpus.iter().filter(|gpu| !names_gpu(target, gpu, catalog));
    let unknown: Vec<String> = unknown.filter_map(|gpu| name_of(gpu, catalog)).collect();
    if !unknown.is_empty() {
        let written = target.gpu.iter().flat_map(|gpu| &gpu.value).filter(|name| !name.eq_ignore_ascii_case("none"));
        let all: Vec<String> = written.cloned().chain(unknown).collect();
        facts.push((key("gpu"), Some(list_text(&all))));
    }
    let other =
        |written: Option<String>, seen: &Option<String>| seen.clone().filter(|seen| written.as_ref() != Some(seen));
    // An image brings its own system.
    let own = target.runtime() == Runtime::BareMetal;
    for (name, seen) in [("os", &observed.os), ("glibc", &observed.glibc)].into_iter().filter(|_| own) {
        facts.extend(other(spec.text(&key(name)), seen).map(|seen| (key(name), Some(seen))));
    }
    let python = spec.stack.iter().find(|(name, _)| name == "python").map(|(_, written)| &written.value);
    facts.extend(not_admitted(python, &observed.python).map(|seen| ("stack.python".to_string(), Some(seen))));
    facts
}

/// What is to be said of the driver, by the key's name in its target.
fn driver(target: &Target, observed: &Observed, catalog: &Catalog) -> Vec<(&'static str, Option<String>)> {
    let written = target.driver.as_ref().map(|written| &written.value);
    let written_cuda = target.driver_cuda.as_ref().map(|written| &written.value);
    if let Some(driver) = &observed.driver {
        let branch = Version::parse(driver).ok().and_then(|version| catalog.branch_of(&version));
        let offers = branch.and_then(|row| row.cuda.as_ref());
        if written_cuda.is_some() && offers == written_cuda {
            return Vec::new();
        }
        let Some(driver) = not_admitted(written, &Some(driver.clone())) else { return Vec::new() };
        let replaced = written_cuda.map(|_| ("driver-cuda", None));
        return replaced.into_iter().chain([("driver", Some(driver))]).collect();
    }
    let Some(cuda) = observed.driver_cuda.as_ref().and_then(|cuda| Version::parse(cuda).ok()) else {
        return Vec::new();
    };
    let mut branches = catalog.branches.iter().filter(|row| row.cuda.as_ref() == Some(&cuda));
    if written_cuda == Some(&cuda)
        || written.is_some_and(|written| branches.any(|row| admits_branch(written, &row.branch)))
    {
        return Vec::new();
    }
    let replaced = written.map(|_| ("driver", None));
    replaced.into_iter().chain([("driver-cuda", Some(cuda.to_string()))]).collect()
}

/// Whether some driver of a branch is among those that a target has.
fn admits_branch(written: &Constraint, branch: &Version) -> bool {
    written.admits(branch)
        || written
            .comparisons()
            .any(|one| one.version.as_ref().is_some_and(|version| version.major() == branch.major()))
}

/// What was seen, if what is written does not admit it or nothing is written.
fn not_admitted(written: Option<&Constraint>, seen: &Option<String>) -> Option<String> {
    let seen = seen.as_ref()?;
    let version = Version::parse(seen).ok()?;
    let says = |written: &&Constraint| !written.is_any() && written.admits(&version);
    written.filter(says).is_none().then(|| seen.clone())
}

/// Whether a target has this GPU already, or one that the same software runs on.
fn names_gpu(target: &Target, gpu: &ObservedGpu, catalog: &Catalog) -> bool {
    let seen = name_of(gpu, catalog).map(|name| kinds(&name, catalog)).unwrap_or_default();
    let written = target.gpu.iter().flat_map(|written| &written.value);
    written.flat_map(|name| kinds(name, catalog)).any(|(cc, class)| {
        // Of a bare compute capability no class is known.
        seen.iter().any(|(other, own)| *other == cc && (own.is_none() || class.is_none() || *own == class))
    })
}

/// The compute capabilities that a name means, each with the class of its boards.
fn kinds(name: &str, catalog: &Catalog) -> Vec<(Cc, Option<Class>)> {
    match catalog.gpu(name) {
        GpuMatch::Found(boards) | GpuMatch::Ambiguous(boards) => {
            boards.into_iter().map(|board| (board.cc, Some(board.class))).collect()
        }
        GpuMatch::Bare(cc) => vec![(cc, None)],
        GpuMatch::Cpu | GpuMatch::Unknown => Vec::new(),
    }
}

/// A GPU as it can be written into a spec; none if its name means nothing and nothing else is known of it.
fn name_of(gpu: &ObservedGpu, catalog: &Catalog) -> Option<String> {
    let named = gpu.name.clone().filter(|name| matches!(catalog.gpu(name), GpuMatch::Found(_)));
    named.or_else(|| gpu.compute_capability.clone().filter(|cc| matches!(catalog.gpu(cc), GpuMatch::Bare(_))))
}

/// Fixes that are told as remedies; all of them stand in the JSON document.
const TOLD: usize = 3;
/// Sentences of the first conflict, likewise.
const SENTENCES: usize = 4;

impl OnHost {
    /// What to do, in sentences.
    pub fn remedies(&self) -> Vec<String> {
        let host = match self.differs.is_empty() {
            true => format!("With target `{}` of gpuenv.toml, which describes this host", self.target),
            false => {
                let (removed, new): (Vec<&Change>, Vec<&Change>) =
                    self.differs.iter().partition(|change| change.to.is_none());
                let instead = removed.first().map(|change| format!(" in place of `{}`", name(change)));
                let instead = instead.unwrap_or_default();
                let lines = list(new.into_iter().map(written));
                format!("With {lines}{instead} in gpuenv.toml for this host (target `{}`)", self.target)
            }
        };
        let of = if self.alone { format!("`{}` alone", self.target) } else { "the spec".to_string() };
        let unsolved = "gpuenv.toml does not resolve without this host's values either: `gpuenv lock` says why.";
        let first = self.alone.then(|| unsolved.to_string()).into_iter();
        match &self.outcome {
            Outcome::GaveUp => Vec::new(),
            Outcome::Solution { stack, advice } => {
                let stack = listed(stack);
                let advice = advice.as_ref().map(|advice| format!(" ({advice})")).unwrap_or_default();
                let run = "Run `gpuenv lock` and install what it names.";
                let run = if self.alone { "" } else { run };
                let told = format!("{host}, {of} resolves to {stack}{advice}. {run}");
                first.chain([told.trim_end().to_string()]).collect()
            }
            Outcome::Conflict(explanation) => {
                let told = explanation.fixes.iter().take(TOLD).map(told);
                first.chain([self.why_not(&host, &of, explanation)]).chain(told).collect()
            }
        }
    }

    /// That nothing runs on the host, and why.
    fn why_not(&self, host: &str, of: &str, explanation: &Explanation) -> String {
        let first = explanation.conflicts.first();
        let because = first
            .map(|conflict| conflict.explanation.iter().take(SENTENCES).cloned().collect::<Vec<_>>().join("; "))
            .unwrap_or_default();
        let end = if explanation.fixes.is_empty() { ". No change to the file was found that would help." } else { "." };
        format!("{host}, {of} does not resolve: {because}{end}")
    }
}

/// A fix as a sentence.
fn told(fix: &Fix) -> String {
    let stack = listed(&fix.stack);
    let advice = fix.advice.as_ref().map_or_else(String::new, |advice| format!(" ({advice})"));
    let changes = list(fix.changes.iter().map(|change| match (&change.from, &change.to) {
        (Some(from), Some(to)) => format!("{} from {from} to {to}", name(change)),
        _ => written(change),
    }));
    format!("Change {changes}{advice}: it then resolves to {stack}.")
}

/// What stands before the equals sign.
fn name(change: &Change) -> &str {
    change.key.rsplit('.').next().unwrap_or(&change.key)
}

/// What to write for a key.
fn written(change: &Change) -> String {
    match &change.to {
        Some(to) if to.starts_with('[') => format!("`{} = {to}`", name(change)),
        Some(to) => format!("`{} = {to:?}`", name(change)),
        None => format!("no `{}`", name(change)),
    }
}

/// A stack in a line, what matters most first.
fn listed(stack: &BTreeMap<String, String>) -> String {
    let mut packages: Vec<(&String, &String)> = stack.iter().collect();
    sort_by_key(&mut packages, |(name, _)| importance(name));
    list(packages.into_iter().map(|(name, version)| format!("{name} {version}")))
}

fn list(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<String>>().join(", ")
}
