//! The way to a lock: solve with the earlier choices first, see which overrides mattered, write it down.

use std::collections::BTreeSet;

use crate::solve::compile::Locked;
use crate::solve::engine::Steps;
use crate::solve::request::{Off, Request};
use crate::solve::resolve::{Resolution, resolve, together};
use crate::solve::unknowns::Unknown;
use crate::solve::warnings::{Upgrades, warnings_with};
use crate::spec::{Override, Share, Spec};
use crate::warning::{Kind, PackageBrings, PackageCuda, PackageExcluded, UnusedOverride, Warning};

use super::locked::{Upgrade, VARIANT, locked};
use super::make::make;
use super::{Lock, OverrideLock};

/// What came of it.
#[derive(Debug, Clone)]
pub enum Renewed {
    /// The lock and what should be known of it.
    Lock(Box<Lock>, Vec<Warning>),
    /// There is no answer.
    Conflict,
    /// There is none unless some of what nobody has read turns out well.
    Undetermined(Vec<Unknown>),
    /// The step limit was reached first.
    GaveUp,
}

/// Solves a spec's request. Choices of the previous lock that still hold are kept, except what is upgraded, and what excludes more
/// of `[packages]` than the answer without it.
pub fn renew(spec: &Spec, request: &Request<'_>, previous: Option<&Lock>, upgrade: &Upgrade, steps: &Steps) -> Renewed {
    let relock = Relock { spec, previous, upgrade, steps };
    let kept = relock.without(request, &[], &Upgrades::new());
    let let_go = relock.let_go(request, &kept);
    let freed = Some(&let_go).filter(|let_go| !let_go.is_empty());
    let freed = freed.map(|let_go| relock.without(request, let_go, &Upgrades::new()));
    match freed {
        Some(freed @ Renewed::Lock(..)) => relock.with_overrides(request, freed, &let_go),
        _ => relock.with_overrides(request, kept, &[]),
    }
}

/// The same of a spec that says what it said: nothing is let go, but it is told what could be.
pub(super) fn follow(spec: &Spec, request: &Request<'_>, lock: &Lock, steps: &Steps) -> Renewed {
    let relock = Relock { spec, previous: Some(lock), upgrade: &Upgrade::Nothing, steps };
    let mut kept = relock.without(request, &[], &Upgrades::new());
    let let_go = relock.let_go(request, &kept);
    if !let_go.is_empty() {
        let names: BTreeSet<&str> = let_go.iter().map(|of| of.trim_end_matches(VARIANT)).collect();
        let names: Vec<String> = names.iter().map(|name| format!("--upgrade-package {name}")).collect();
        let freed = relock.without(request, &let_go, &Upgrades::new());
        let left = excluded(&freed).concat();
        let cured = excluded(&kept).concat().into_iter().filter(|one| !left.contains(one)).flat_map(|one| &one.keys);
        let upgrades = cured.map(|key| (key.clone(), names.join(" "))).collect();
        kept = relock.without(request, &[], &upgrades);
    }
    relock.with_overrides(request, kept, &[])
}

/// What makes a lock of a request.
struct Relock<'a> {
    spec: &'a Spec,
    previous: Option<&'a Lock>,
    upgrade: &'a Upgrade,
    steps: &'a Steps,
}

impl Relock<'_> {
    /// The lock that keeps what it can of the previous one, but for some choices.
    fn without(&self, request: &Request<'_>, let_go: &[String], upgrades: &Upgrades) -> Renewed {
        match answer(request, self.previous, (self.upgrade, let_go), self.steps) {
            Resolution::Solution(answer) => {
                let warnings = warnings_with(request, &answer, upgrades);
                Renewed::Lock(Box::new(make(self.spec, request, &answer, Vec::new())), warnings)
            }
            Resolution::Conflict => Renewed::Conflict,
            Resolution::Undetermined(unknowns) => Renewed::Undetermined(unknowns),
            Resolution::GaveUp => Renewed::GaveUp,
        }
    }

    /// The fewest choices without which no more of `[packages]` is excluded than in an answer that keeps none; a Python goes
    /// before a package, and the build of a release before the release.
    fn let_go(&self, request: &Request<'_>, kept: &Renewed) -> Vec<String> {
        let count = |one: &Renewed| match one {
            Renewed::Lock(..) => excluded(one).map(|keys| keys.len()),
            _ => [usize::MAX; 2],
        };
        let most = count(kept);
        let is_any = matches!(kept, Renewed::Lock(..)) && most > [0, 0];
        let Some(previous) = self.previous.filter(|_| is_any) else { return Vec::new() };
        let names = request.targets.iter().map(|target| target.name.as_str());
        let kept: BTreeSet<String> =
            names.flat_map(|name| locked(previous, request.share, &[name], self.upgrade).into_keys()).collect();
        let choices: BTreeSet<&str> =
            kept.iter().map(|key| choice_of(key)).filter(|of| !of.starts_with("target.")).collect();
        let mut let_go: Vec<String> = choices.iter().map(ToString::to_string).collect();
        let least = count(&self.without(request, &let_go, &Upgrades::new()));
        if least >= most {
            return Vec::new();
        }
        let mut choices = Vec::from_iter(choices);
        choices.sort_by_key(|of| (*of == "python", of.ends_with(VARIANT)));
        for choice in choices {
            let fewer: Vec<String> = let_go.iter().filter(|of| *of != choice).cloned().collect();
            if count(&self.without(request, &fewer, &Upgrades::new())) <= least {
                let_go = fewer;
            }
        }
        let_go
    }

    /// A lock with what it needs to be set aside, and a warning of what it does not.
    fn with_overrides(&self, request: &Request<'_>, mut found: Renewed, let_go: &[String]) -> Renewed {
        let spec = self.spec;
        let best = |request: &Request<'_>| self.without(request, let_go, &Upgrades::new());
        if let Renewed::Lock(lock, warnings) = &mut found {
            // An exception admits more and forbids nothing: where nothing changes without some of them, nothing does without
            // any one of these.
            let is_same_without = |some: &[Off]| {
                let mut without = request.clone();
                without.off.retain(|off| !some.contains(off));
                matches!(best(&without), Renewed::Lock(same, _) if choices(&same) == choices(lock))
            };
            let mut used = Vec::new();
            for one in request.catalog.retractions.iter() {
                if !is_same_without(&[Off { rule: one.rule.to_string(), target: None }]) {
                    let (rule, reason) = (one.rule.to_string(), one.reason.to_string());
                    used.push(OverrideLock { rule, target: None, overlay: Some(one.at.to_string()), reason });
                }
            }
            let off = |one: &Override| Off {
                rule: one.rule.value.clone(),
                target: one.target.as_ref().map(|target| target.value.clone()),
            };
            let offs: Vec<Off> = spec.overrides.iter().map(off).collect();
            // What an overlay has set aside already, gpuenv.toml need not.
            let asked: Vec<Off> =
                offs.iter().filter(|off| request.catalog.retraction(&off.rule).is_none()).cloned().collect();
            let needed = needed(&asked, &is_same_without);
            for (one, off) in spec.overrides.iter().zip(offs) {
                match needed.contains(&off) {
                    true => {
                        let (Off { rule, target }, reason) = (off, one.reason.value.clone());
                        used.push(OverrideLock { rule, target, overlay: None, reason });
                    }
                    false => warnings.push(unused(&off)),
                }
            }
            used.sort_unstable_by(|a, b| (&a.rule, &a.target).cmp(&(&b.rule, &b.target)));
            lock.overrides = used;
        }
        found
    }
}

/// Those without which the lock would be another one; of many that make no difference most are found in one question.
fn needed(offs: &[Off], is_same_without: &impl Fn(&[Off]) -> bool) -> Vec<Off> {
    if offs.is_empty() || is_same_without(offs) {
        return Vec::new();
    }
    if let [one] = offs {
        return vec![one.clone()];
    }
    let (first, rest) = offs.split_at(offs.len() / 2);
    [needed(first, is_same_without), needed(rest, is_same_without)].concat()
}

/// What is said of packages that installers refuse beside the rest, and of what would load another CUDA.
fn excluded(renewed: &Renewed) -> [Vec<&Warning>; 2] {
    let Renewed::Lock(_, warnings) = renewed else { return Default::default() };
    let of = |codes: &[&str]| warnings.iter().filter(|warning| codes.contains(&warning.code)).collect();
    [of(&[PackageExcluded::CODE]), of(&[PackageCuda::CODE, PackageBrings::CODE])]
}

/// What a key of a lock's choices is about: `torch.variant.prod` is about the build of torch, whichever target has it.
fn choice_of(key: &str) -> &str {
    key.find(VARIANT).map_or(key, |at| &key[..at + VARIANT.len()])
}

/// What the solver answers to a request whose lock is kept as far as it still holds.
pub fn keeping<'c>(request: &Request<'c>, lock: &Lock, steps: &Steps) -> Resolution<'c> {
    answer(request, Some(lock), (&Upgrade::Nothing, &[]), steps)
}

/// The solver's answer. With `share = "none"` each target is asked alone, for each has choices of its own to keep.
fn answer<'c>(
    request: &Request<'c>,
    previous: Option<&Lock>,
    (upgrade, let_go): (&Upgrade, &[String]),
    steps: &Steps,
) -> Resolution<'c> {
    let keep = |request: &Request<'_>| {
        let names: Vec<&str> = request.targets.iter().map(|target| target.name.as_str()).collect();
        let mut kept = previous.map_or_else(Locked::new, |lock| locked(lock, request.share, &names, upgrade));
        kept.retain(|key, _| !let_go.iter().any(|of| *of == *choice_of(key)));
        kept
    };
    if request.share != Share::None || previous.is_none() {
        return resolve(request, &keep(request), steps);
    }
    together(request.targets.iter().map(|target| {
        let alone = request.of(vec![target.clone()]);
        resolve(&alone, &keep(&alone), steps)
    }))
}

/// Everything a lock chose, without what it rests on.
fn choices(lock: &Lock) -> Lock {
    Lock { fact: Vec::new(), overrides: Vec::new(), ..lock.clone() }
}

fn unused(off: &Off) -> Warning {
    let unused = UnusedOverride { rule: &off.rule, target: off.target.as_deref() };
    Warning::about(&unused, &[format!("override.{}", off.rule)])
}
