//! Questions about classes of hosts, put to the solver: whom one stack serves, and which stack is the best for them.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::meaning;
use crate::solve::compile::{ForwardCompat, Locked, Plan, Policy};
use crate::solve::engine::{Outcome, Steps};
use crate::solve::request::{Request, TargetRequest};
use crate::solve::resolve::ANYTHING;
use crate::solve::resolve::{Resolution, Verdict, World, judge, resolve};
use crate::solve::rowset::RowSet;
use crate::solve::solution::{Solution, TargetSolution};
use crate::solve::warnings::warnings;
use crate::spec::Share;
use crate::types::{Constraint, Version, sort_by_key};
use crate::warning::Warning;

use super::model::Stack;

/// Asks about hosts.
pub struct Asker<'c> {
    /// What is asked of them all, without any of them.
    base: Request<'c>,
    /// The most that one request may take.
    limit: u64,
    /// Whether some request took more.
    pub gave_up: Cell<bool>,
}

/// An answer, and to what.
pub struct Best<'c> {
    request: Request<'c>,
    /// What was chosen.
    pub answer: Solution<'c>,
}

impl<'c> Asker<'c> {
    /// Asks what a request asks of other targets, one stack for all of them.
    pub fn new(request: &Request<'c>, limit: u64) -> Self {
        let mut base = request.of(Vec::new());
        // Where every target may have its own, there is nothing to plan.
        if base.share == Share::None {
            base.share = Share::Stack;
        }
        Asker { base, limit, gave_up: Cell::new(false) }
    }

    fn told(&self, verdict: Verdict) -> bool {
        if verdict == Verdict::GaveUp {
            self.gave_up.set(true);
        }
        verdict == Verdict::Solvable
    }

    /// Whether one stack serves all of these.
    pub fn serves(&self, targets: Vec<TargetRequest<'c>>) -> bool {
        self.told(judge(&self.base.of(targets), World::Known, &Steps::new(self.limit)))
    }

    /// Whether nothing serves a target, whatever what nobody has read turns out to be.
    pub fn is_refused(&self, target: &TargetRequest<'c>) -> bool {
        let verdict = judge(&self.base.of(vec![target.clone()]), World::Possible, &Steps::new(self.limit));
        !self.told(verdict)
    }

    /// Whether two answers are of one stack, as far as its targets share one.
    pub fn is_same(&self, one: &Solution<'c>, other: &Solution<'c>) -> bool {
        match self.base.share {
            Share::Versions if !frameworks(one).is_empty() => frameworks(one) == frameworks(other),
            _ => title(one) == title(other),
        }
    }

    /// Whether a stack that was chosen serves another target too; `compat`: if need be with a cuda-compat package.
    pub fn serves_with(&self, stack: &TargetSolution<'c>, target: &TargetRequest<'c>, compat: bool) -> bool {
        let (pinned, nothing) = (pinned(&self.base, stack, vec![target.clone()]), Locked::new());
        let forward_compat = if compat { ForwardCompat::All } else { ForwardCompat::Nobody };
        let plan = Plan::new(&pinned, Policy { forward_compat, ..ANYTHING }, &nothing);
        match plan.solve(&Steps::new(self.limit)) {
            Outcome::Solved(_) => true,
            Outcome::Refuted(_) => false,
            Outcome::GaveUp => {
                self.gave_up.set(true);
                false
            }
        }
    }

    /// The best answer for these, which one stack serves.
    pub fn best(&self, targets: Vec<TargetRequest<'c>>) -> Option<Best<'c>> {
        let request = self.base.of(targets);
        match resolve(&request, &Locked::new(), &Steps::new(self.limit)) {
            Resolution::Solution(answer) => Some(Best { request, answer }),
            Resolution::GaveUp => {
                self.gave_up.set(true);
                None
            }
            _ => None,
        }
    }

    /// The releases of the first framework that a target can have, whatever else is chosen; their versions where each
    /// target may have its own variant. None where no framework is asked for.
    pub fn releases(&self, target: &TargetRequest<'c>) -> Option<RowSet> {
        let (request, nothing) = (self.base.of(vec![target.clone()]), Locked::new());
        let plan = Plan::new(&request, ANYTHING, &nothing);
        let release = plan.groups.first()?.releases.first()?;
        let rows = plan.network.admitted(release.var);
        Some(if self.base.share == Share::Versions { release.framework.versions_of(&rows) } else { rows })
    }

    /// The sets of targets that no stack goes beyond: whoever shares a stack can have one release of the first framework.
    pub fn bounds(&self, targets: &[TargetRequest<'c>]) -> Vec<RowSet> {
        let mut of_release: Vec<RowSet> = Vec::new();
        for (at, target) in targets.iter().enumerate() {
            let Some(rows) = self.releases(target) else { return vec![RowSet::first(targets.len())] };
            for row in rows.rows() {
                if of_release.len() <= row {
                    of_release.resize(row + 1, RowSet::default());
                }
                of_release[row].insert(at);
            }
        }
        of_release.retain(|set| !set.is_empty());
        sort_by_key(&mut of_release, |set| std::cmp::Reverse(set.len()));
        of_release.dedup();
        of_release
    }
}

/// The same asked of other targets, with what a stack is made of in place of what may be.
fn pinned<'c>(base: &Request<'c>, stack: &TargetSolution<'c>, targets: Vec<TargetRequest<'c>>) -> Request<'c> {
    let mut request = base.of(targets);
    let exactly = |text: String| Constraint::parse(&format!("=={text}")).unwrap_or_else(|_| Constraint::any());
    for ask in &mut request.frameworks {
        if let Some(build) = stack.build(ask.package) {
            let variant = if base.share == Share::Versions { "" } else { &*build.variant };
            let plus = if variant.is_empty() { "" } else { "+" };
            ask.constraint = exactly(format!("{}{plus}{variant}", build.version));
        }
    }
    for ask in &mut request.companions {
        if let Some(row) = stack.companions.iter().find(|row| row.package == *ask.package) {
            ask.constraint = exactly(row.version.to_string());
        }
    }
    request.python = stack.python.map(|python| exactly(python.to_string())).or(request.python);
    request
}

/// What decides a stack: its frameworks.
pub fn title(answer: &Solution<'_>) -> String {
    let Some(chosen) = spokesman(answer) else { return "nothing".to_string() };
    let mut parts: Vec<String> = Vec::new();
    for build in &chosen.builds {
        let same = |target: &TargetSolution<'_>| {
            target.builds.iter().any(|other| other.package == build.package && other.variant == build.variant)
        };
        let shared = answer.targets.iter().all(|target| same(target));
        let variant = if shared { format!("+{}", build.variant) } else { String::new() };
        parts.push(format!("{} {}{variant}", build.package, build.version));
    }
    if parts.is_empty() {
        parts.extend(chosen.stack().into_iter().map(|(name, version)| format!("{name} {version}")));
    }
    parts.join(", ")
}

/// The releases of an answer's frameworks, which all of its targets have.
pub fn frameworks(answer: &Solution<'_>) -> Vec<(String, Version)> {
    let builds = spokesman(answer).map_or(&[][..], |chosen| &chosen.builds);
    builds.iter().map(|build| (build.package.to_string(), build.version)).collect()
}

/// The first target with a GPU, whose wheels all share; else the first.
pub fn spokesman<'a, 'c>(answer: &'a Solution<'c>) -> Option<&'a TargetSolution<'c>> {
    let with_gpu = answer.targets.iter().find(|target| !target.gpus.is_empty());
    with_gpu.or(answer.targets.first()).map(|target| &*target.chosen)
}

/// An answer as a plan tells it. `hosts` tells of a target its classes and how many hosts these have.
pub fn told<'k>(Best { request, answer }: &Best<'_>, hosts: impl Fn(&str) -> (&'k [usize], usize)) -> Stack {
    let mut stack: Option<BTreeMap<String, String>> = None;
    let mut told = Stack { title: title(answer), frameworks: frameworks(answer), ..Stack::default() };
    let mut drivers = BTreeSet::new();
    for target in &answer.targets {
        let (classes, count) = hosts(&target.name);
        told.classes.extend(classes);
        told.hosts += count;
        drivers.extend(target.minimum);
        if let Some(compat) = target.driver.as_ref().and_then(|driver| driver.compat) {
            *told.compat.entry(compat.package()).or_default() += count;
        }
        let own = target.stack();
        match &mut stack {
            None => stack = Some(own),
            Some(shared) => shared.retain(|name, version| own.get(name) == Some(version)),
        }
    }
    told.classes.sort_unstable();
    told.driver = drivers.last().map(|driver| driver.to_string());
    told.least = drivers.first().filter(|_| drivers.len() > 1).map(|driver| driver.to_string());
    told.stack = stack.unwrap_or_default();
    let fails = |warning: &Warning| meaning::fails(warning.code);
    told.fails = warnings(request, answer).into_iter().filter(fails).map(|warning| warning.message).collect();
    told
}
