//! Which of a lock's targets a host is held against: the one that fits it best.

use crate::host::Record;
use crate::host::signs::{Presence, presence};

use super::check::{Action, Check, Status, Verdict};
use super::context;
use super::rests::Against;

/// The host's verdict for the target that fits it best, and those for the others, best first; none where the lock has
/// no such target. `named`: the user has said which.
///
/// A target for the CPU fits every host. On one with a GPU it would hide a driver that is dead, so it answers by itself
/// only where the bus was looked at and holds none; else where it was named. Where nobody looked, it can only be proposed:
/// one that fails is not, though it has the fewest checks to fail, and what the host lacks is told of a target with a GPU.
pub fn best(against: &Against<'_>, targets: &[&str], named: bool, record: &Record) -> Option<(Verdict, Vec<Verdict>)> {
    let (lock, gpu) = (against.lock, presence(record));
    let is_for_cpu = |name: &str| {
        lock.target.get(name).is_some_and(|target| context::is_for_cpu(lock, name, target, against.catalog))
    };
    let judged = targets.iter().filter_map(|name| super::judge_target(against, name, record));
    let mut verdicts: Vec<Verdict> = judged.collect();
    crate::types::sort_by_key(&mut verdicts, |verdict| {
        let (failures, ..) = rank(verdict);
        let is_last = gpu == Presence::Seen || gpu == Presence::Unknown && failures > 0;
        (is_last && is_for_cpu(&verdict.target), rank(verdict))
    });
    if verdicts.is_empty() {
        return None;
    }
    let mut best = verdicts.remove(0);
    if !named && gpu != Presence::Absent && is_for_cpu(&best.target) {
        let check = unnamed(&best.target, gpu);
        best = best.with_first(check);
    }
    Some((best, verdicts))
}

/// Fewest failures, then fewest questions left open, then fewest warnings.
fn rank(verdict: &Verdict) -> (usize, usize, usize) {
    let count = |status| verdict.checks.iter().filter(|check| check.status == status).count();
    (count(Status::Fail), count(Status::Unknown), count(Status::Warn))
}

fn unnamed(target: &str, gpu: Presence) -> Check {
    let check = Check::new("target-choice").found(format!("`{target}`, a target without a GPU"));
    let (check, says) = match gpu {
        Presence::Seen => (check.expected("a target with a GPU"), "this host has an NVIDIA GPU or its driver"),
        _ => (
            check.expected("a host that is known to have no NVIDIA GPU"),
            "what is known of this host does not show whether it has an NVIDIA GPU (`gpuenv probe` on the host does)",
        ),
    };
    check.unknown(Action::None, format!("{says}: add `--target {target}` to judge it as a CPU host"))
}

/// What is to be said of a lock that is out of date; `strict`: it must not be.
pub fn stale(spec: &str, reason: &str, strict: bool) -> Check {
    let check = Check::new("stale-lock").expected(format!("a lock that is up to date with {spec}")).found(reason);
    let hint = "the lock is out of date: run `gpuenv lock`, then verify again";
    if strict { check.fail(Action::ChangeLock, hint) } else { check.warn(Action::ChangeLock, hint) }
}
