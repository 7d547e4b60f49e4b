//! The way to a lock: solve with the earlier choices first, see which overrides mattered, write it down.

use crate::solve::compile::Locked;
use crate::solve::engine::Steps;
use crate::solve::request::{Off, Request};
use crate::solve::resolve::{Resolution, resolve, together};
use crate::solve::unknowns::Unknown;
use crate::solve::warnings::warnings;
use crate::spec::{Override, Share, Spec};
use crate::warning::{Kind, PackageExcluded, UnusedOverride, Warning};

use super::locked::{Upgrade, locked};
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

/// Solves a spec's request. Choices of the previous lock that still hold are kept, except what is upgraded.
pub fn renew(spec: &Spec, request: &Request<'_>, previous: Option<&Lock>, upgrade: &Upgrade, steps: &Steps) -> Renewed {
    let renewed = |request: &Request<'_>, upgrade: &Upgrade| match answer(request, previous, upgrade, steps) {
        Resolution::Solution(answer) => {
            let warnings = warnings(request, &answer);
            Renewed::Lock(Box::new(make(spec, request, &answer, Vec::new())), warnings)
        }
        Resolution::Conflict => Renewed::Conflict,
        Resolution::Undetermined(unknowns) => Renewed::Undetermined(unknowns),
        Resolution::GaveUp => Renewed::GaveUp,
    };
    // A Python that an ordinary package leaves out which was not asked for before is not kept, if another one leaves out less.
    let python = Upgrade::Packages(vec!["python".to_string()]);
    let kept = renewed(request, upgrade);
    let left_out = previous.map_or(0, |previous| newly_left_out(spec, previous, &kept));
    let freed = (left_out > 0 && *upgrade == Upgrade::Nothing).then(|| renewed(request, &python));
    let is_better = |one: &Renewed| {
        matches!(one, Renewed::Lock(..))
            && previous.is_some_and(|previous| newly_left_out(spec, previous, one) < left_out)
    };
    let (mut found, upgrade) = match freed.filter(is_better) {
        Some(freed) => (freed, &python),
        None => (kept, upgrade),
    };
    let best = |request: &Request<'_>| renewed(request, upgrade);
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

/// How many packages are left out whose line is another than in the previous lock's spec.
fn newly_left_out(spec: &Spec, previous: &Lock, renewed: &Renewed) -> usize {
    let Renewed::Lock(_, warnings) = renewed else { return 0 };
    let inputs = spec.inputs();
    let is_new = |key: &String| inputs.get(key) != previous.inputs.get(key);
    let left_out = warnings.iter().filter(|warning| warning.code == PackageExcluded::CODE);
    left_out.filter(|warning| warning.keys.iter().any(is_new)).count()
}

/// What the solver answers to a request whose lock is kept as far as it still holds.
pub fn keeping<'c>(request: &Request<'c>, lock: &Lock, steps: &Steps) -> Resolution<'c> {
    answer(request, Some(lock), &Upgrade::Nothing, steps)
}

/// The solver's answer. With `share = "none"` each target is asked alone, for each has choices of its own to keep.
fn answer<'c>(request: &Request<'c>, previous: Option<&Lock>, upgrade: &Upgrade, steps: &Steps) -> Resolution<'c> {
    let keep = |request: &Request<'_>| {
        let names: Vec<&str> = request.targets.iter().map(|target| target.name.as_str()).collect();
        previous.map_or_else(Locked::new, |lock| locked(lock, request.share, &names, upgrade))
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
