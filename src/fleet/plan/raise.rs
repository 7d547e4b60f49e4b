//! Which drivers to raise so that one stack serves more hosts, or all of them a newer one.
//!
//! Every level is a release that is recommended to install. Below it each kind of hosts may be raised to the newest of
//! these that still drives its GPUs, never lowered. The stack that is the best there is then held against every kind
//! with the driver that it has, and with each newer one in turn: so only those are raised that this stack needs raised,
//! and no further than it needs.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::solve::problem::Problem;
use crate::solve::request::TargetRequest;
use crate::solve::rowset::RowSet;
use crate::solve::solution::Solution;
use crate::types::{Version, distinct, sort_by_key};

use super::ask::{self, Asker, Best};
use super::cover::{Family, weight};
use super::inventory::Known;
use super::kinds::Kind;
use super::model::{Raise, Stack, Upgrade};

/// The fleet whose drivers are raised.
pub struct Fleet<'a, 'c> {
    /// What the spec asks.
    pub asker: &'a Asker<'c>,
    /// What requests have in common.
    pub problem: &'c Problem<'c>,
    /// The kinds of hosts.
    pub kinds: &'a [Kind<'c>],
    /// Their classes.
    pub known: &'a [Known],
}

/// A kind with the driver to raise it to, or with its own.
type Raised = Option<Version>;

impl<'c> Fleet<'_, 'c> {
    /// Each step that makes more possible than the ones before; `now` is what one stack serves without any.
    pub fn upgrades(&self, now: Option<&Stack>) -> Vec<Upgrade> {
        let levels = distinct(self.kinds.iter().flat_map(|kind| kind.candidates.iter().copied()));
        let mut before: Stack = now.cloned().unwrap_or_default();
        let mut steps: Vec<Upgrade> = Vec::new();
        // First only those that are not served, then all.
        let is_served =
            |kind: &Kind| now.is_some_and(|now| kind.classes.iter().all(|class| now.classes.contains(class)));
        let of_others = levels.iter().map(|level| (*level, true));
        for (level, others_only) in of_others.chain(levels.iter().map(|level| (*level, false))) {
            let to = |kind: &Kind| newest_to(kind, level).filter(|_| !(others_only && is_served(kind)));
            let raised: Vec<Raised> = self.kinds.iter().map(to).collect();
            // Where nobody is raised all is as it was.
            if raised.iter().all(Option::is_none) {
                continue;
            }
            let Some((set, best)) = self.best(&raised) else { continue };
            let hosts = weight(&self.weights(), &set);
            if hosts < before.hosts || (hosts == before.hosts && !is_newer(&best.answer, &before)) {
                continue;
            }
            let Some(step) = self.step(&set, &best.answer, &raised, before.hosts) else { continue };
            before = step.then.clone();
            steps.push(step);
        }
        steps
    }

    fn weights(&self) -> Vec<usize> {
        self.kinds.iter().map(|kind| kind.hosts).collect()
    }

    fn target(&self, kind: usize, raised: Raised) -> TargetRequest<'c> {
        let kind = &self.kinds[kind];
        raised.map_or_else(|| kind.target.clone(), |to| kind.raised(self.problem, to))
    }

    /// The kinds that one stack serves with these drivers, as many hosts as can be, and that stack.
    fn best(&self, raised: &[Raised]) -> Option<(RowSet, Best<'c>)> {
        let targets: Vec<TargetRequest> = (0..raised.len()).map(|kind| self.target(kind, raised[kind])).collect();
        let alone: Vec<usize> =
            (0..targets.len()).filter(|&kind| self.asker.serves(vec![targets[kind].clone()])).collect();
        let some: Vec<TargetRequest> = alone.iter().map(|&kind| targets[kind].clone()).collect();
        let weights: Vec<usize> = alone.iter().map(|&kind| self.kinds[kind].hosts).collect();
        let pick = |set: &RowSet| set.rows().map(|at| some[at].clone()).collect::<Vec<_>>();
        let family = Family::find(&weights, self.asker.bounds(&some), &mut |set| self.asker.serves(pick(set)));
        let (set, _) = family.heaviest(&weights)?;
        let answer = self.asker.best(pick(set))?;
        let mut kinds = RowSet::default();
        set.rows().for_each(|at| kinds.insert(alone[at]));
        Some((kinds, answer))
    }

    /// The least that is to be raised for a stack.
    fn step(&self, set: &RowSet, answer: &Solution<'c>, raised: &[Raised], served: usize) -> Option<Upgrade> {
        let stack = ask::spokesman(answer)?;
        let mut least: Vec<Raised> = Vec::new();
        for kind in set.rows() {
            let candidates = self.kinds[kind].candidates.iter();
            let newer = candidates.filter(|one| raised[kind].is_some_and(|to| **one <= to)).map(|one| Some(*one));
            let options: Vec<Raised> = std::iter::once(None).chain(newer).collect();
            let serves = |to: &Raised, compat| self.asker.serves_with(stack, &self.target(kind, *to), compat);
            // A newer driver does without cuda-compat, if anything does.
            let found =
                options.iter().find(|to| serves(to, false)).or_else(|| options.iter().find(|to| serves(to, true)));
            least.push(found.copied().unwrap_or(raised[kind]));
        }
        let targets = |of: &dyn Fn(usize, usize) -> Raised| -> Vec<TargetRequest<'c>> {
            set.rows().enumerate().map(|(at, kind)| self.target(kind, of(at, kind))).collect()
        };
        // Each was asked for itself: whether they go together is asked once more.
        let mut found = self.asker.best(targets(&|at, _| least[at]));
        if found.as_ref().is_none_or(|found| !self.asker.is_same(&found.answer, answer)) {
            least = set.rows().map(|kind| raised[kind]).collect();
            found = self.asker.best(targets(&|_, kind| raised[kind]));
        }
        let then = told(&found?, self.kinds);
        let raises = self.raises(set.rows().zip(least));
        let more = then.hosts.saturating_sub(served);
        (!raises.is_empty()).then_some(Upgrade { raises, then, more })
    }

    /// The raises of some kinds, those of the most hosts first.
    fn raises(&self, least: impl Iterator<Item = (usize, Raised)>) -> Vec<Raise> {
        let mut of_driver: BTreeMap<(Version, Version), Vec<usize>> = BTreeMap::new();
        for (kind, to) in least {
            let Some(to) = to else { continue };
            for &class in &self.kinds[kind].classes {
                if let Some(from) = self.known[class].driver {
                    of_driver.entry((from, to)).or_default().push(class);
                }
            }
        }
        let hosts = |classes: &[usize]| classes.iter().map(|&class| self.known[class].class.hosts.len()).sum();
        let raise = |((from, to), classes): ((Version, Version), Vec<usize>)| Raise {
            from: from.to_string(),
            to: to.to_string(),
            hosts: hosts(&classes),
            classes,
        };
        let mut raises: Vec<Raise> = of_driver.into_iter().map(raise).collect();
        sort_by_key(&mut raises, |raise| std::cmp::Reverse(raise.hosts));
        raises
    }
}

/// Whether the frameworks of an answer are newer than those of a stack, the first that differs deciding.
fn is_newer(answer: &Solution<'_>, before: &Stack) -> bool {
    let frameworks = ask::frameworks(answer);
    for (package, version) in &frameworks {
        let known = before.frameworks.iter().find(|(known, _)| known == package).map(|(_, known)| known);
        match known.map(|known| version.cmp(known)) {
            None | Some(Ordering::Greater) => return true,
            Some(Ordering::Less) => return false,
            Some(Ordering::Equal) => {}
        }
    }
    frameworks.is_empty() && ask::title(answer) != before.title
}

/// The newest driver that a kind may be raised to up to a level.
fn newest_to(kind: &Kind<'_>, level: Version) -> Raised {
    kind.candidates.iter().copied().filter(|candidate| *candidate <= level).max()
}

/// An answer for some kinds as a plan tells it.
pub fn told(best: &Best<'_>, kinds: &[Kind<'_>]) -> Stack {
    ask::told(best, |name| {
        let kind = kinds.iter().find(|kind| kind.target.name == name);
        kind.map_or((&[], 0), |kind| (kind.classes.as_slice(), kind.hosts))
    })
}
