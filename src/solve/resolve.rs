//! How the best answer is found: first without anything doubtful, then with experimental builds, with builds of
//! unknown contents, and last with forward compatibility for as few targets as possible.

use crate::spec::{Prefer, Share};
use crate::words::Version;

use super::answer::{Answer, TargetAnswer};
use super::driver;
use super::plan::{ForwardCompat, Locked, Plan, Policy};
use super::question::{Question, TargetAsk};
use super::world::{Outcome, Steps};

/// What came of a question.
#[derive(Debug, Clone)]
pub enum Resolution<'c> {
    /// The best answer.
    Answer(Answer<'c>),
    /// There is none.
    Conflict,
    /// The step limit was reached first.
    GaveUp,
}

/// Subsets of this many classes are tried one by one; beyond, forward compatibility is only made minimal.
const EXACT_CLASSES: usize = 10;

/// Everything allowed: whether a question has any answer at all.
const ANYTHING: Policy<'static> =
    Policy { experimental: true, unknown: true, forward_compat: ForwardCompat::All, driver_cap: None };

/// What is tried, in this order.
const PASSES: &[Policy<'static>] = &[
    Policy { experimental: false, unknown: false, forward_compat: ForwardCompat::Nobody, driver_cap: None },
    Policy { experimental: true, unknown: false, forward_compat: ForwardCompat::Nobody, driver_cap: None },
    Policy { experimental: true, unknown: true, forward_compat: ForwardCompat::Nobody, driver_cap: None },
];

/// The steps that a plan costs for each class of targets, decisions apart: about what it takes to build it.
const PLAN: u64 = 20;

/// Builds a plan and solves it, as long as there are steps left.
fn solve<'q, 'c, T>(
    question: &'q Question<'c>,
    policy: Policy<'_>,
    locked: &Locked,
    steps: &Steps,
    read: impl FnOnce(&Plan<'q, 'c>, Vec<usize>) -> T,
) -> Attempt<T> {
    if steps.spent().is_some() {
        return Attempt::GaveUp;
    }
    let plan = Plan::new(question, policy, locked);
    steps.add(PLAN * plan.classes.len() as u64);
    match plan.solve(steps) {
        Outcome::Chosen(choice) => Attempt::Chosen(read(&plan, choice)),
        Outcome::Nothing => Attempt::Nothing,
        Outcome::GaveUp => Attempt::GaveUp,
    }
}

/// Whether a question has an answer; none if the step limit was reached first.
pub fn is_solvable(question: &Question<'_>, steps: &Steps) -> Option<bool> {
    let fewer = without_undemanding(question);
    let question = fewer.as_ref().unwrap_or(question);
    // Variations of a spec have most parts in common, and often ask the same in the end.
    let ask = |asked: &Question<'_>| {
        question.rules.has_answer(asked.identity(), || match solve(asked, ANYTHING, &Locked::new(), steps, |_, _| ()) {
            Attempt::Chosen(()) => Some(true),
            Attempt::Nothing => Some(false),
            Attempt::GaveUp => None,
        })
    };
    match question.share {
        Share::None => parts(question).iter().map(ask).find(|found| *found != Some(true)).unwrap_or(Some(true)),
        _ => ask(question),
    }
}

/// The question without the targets of which nothing is said, if there are any beside one with a GPU: whatever
/// serves that one serves them, with the newest driver. Who drops keys to find those that clash leaves many such.
fn without_undemanding<'c>(question: &Question<'c>) -> Option<Question<'c>> {
    let undemanding: Vec<bool> = question.targets.iter().map(|target| target.demands_nothing()).collect();
    let serves = |of: &TargetAsk| {
        let mut others = question.targets.iter().zip(&undemanding).filter(|(_, undemanding)| !**undemanding);
        others.any(|(other, _)| other.arch == of.arch && !other.is_cpu() && other.toolkits.is_none())
    };
    let alike = question.off.iter().all(|off| off.target.is_none());
    let left_out = |(target, undemanding): (&TargetAsk, &bool)| *undemanding && alike && serves(target);
    let asked = question.targets.iter().zip(&undemanding);
    let kept: Vec<&TargetAsk> = asked.filter(|one| !left_out(*one)).map(|(target, _)| target).collect();
    (kept.len() < question.targets.len()).then(|| question.of(kept.into_iter().cloned().collect()))
}

/// The best answer to a question.
pub fn resolve<'c>(question: &Question<'c>, locked: &Locked, steps: &Steps) -> Resolution<'c> {
    let parts = (question.share == Share::None).then(|| parts(question));
    let mut targets: Vec<TargetAnswer> = Vec::new();
    for part in parts.as_deref().unwrap_or(std::slice::from_ref(question)) {
        // Who varies one target asks of all others the same again.
        let resolution = match locked.is_empty() && parts.is_some() {
            true => question.rules.resolution(part.wish(), || resolve_together(part, locked, steps)),
            false => resolve_together(part, locked, steps),
        };
        match resolution {
            Resolution::Answer(answer) => targets.extend(answer.targets),
            other => return other,
        }
    }
    targets.sort_by(|a, b| a.name.cmp(&b.name));
    Resolution::Answer(Answer { targets })
}

/// With `share = "none"` every target is a question of its own.
fn parts<'c>(question: &Question<'c>) -> Vec<Question<'c>> {
    let alone = |target: &TargetAsk<'c>| question.of(vec![target.clone()]);
    question.targets.iter().map(alone).collect()
}

fn resolve_together<'c>(question: &Question<'c>, locked: &Locked, steps: &Steps) -> Resolution<'c> {
    let attempt =
        |policy: Policy<'_>| solve(question, policy, locked, steps, |plan, choice| Answer::read(plan, &choice));
    match attempt(PASSES[0]) {
        Attempt::Chosen(answer) => return finish(question, PASSES[0], answer, &attempt),
        Attempt::GaveUp => return Resolution::GaveUp,
        Attempt::Nothing => {}
    }
    match is_solvable(question, steps) {
        Some(true) => {}
        Some(false) => return Resolution::Conflict,
        None => return Resolution::GaveUp,
    }
    for policy in &PASSES[1..] {
        match attempt(*policy) {
            Attempt::Chosen(answer) => return finish(question, *policy, answer, &attempt),
            Attempt::GaveUp => return Resolution::GaveUp,
            Attempt::Nothing => {}
        }
    }
    with_forward_compat(question, &attempt)
}

enum Attempt<T> {
    Chosen(T),
    Nothing,
    GaveUp,
}

/// The fewest targets that must use forward compatibility, and the best answer for them.
fn with_forward_compat<'c>(
    question: &Question<'c>,
    attempt: &dyn Fn(Policy<'_>) -> Attempt<Answer<'c>>,
) -> Resolution<'c> {
    let classes = super::class::classes(question);
    let may: Vec<usize> = (0..classes.len())
        .filter(|&class| classes[class].target.forward_compat && classes[class].target.pins_driver())
        .collect();
    let weight = |these: &[usize]| these.iter().map(|&class| classes[class].members.len()).sum::<usize>();
    let mut subsets: Vec<Vec<usize>> = if may.len() <= EXACT_CLASSES {
        let subset = |bits: usize| (0..may.len()).filter(|at| bits >> at & 1 == 1).map(|at| may[at]).collect();
        (1usize..1 << may.len()).map(subset).collect()
    } else {
        vec![minimal_subset(&may, attempt)]
    };
    subsets.sort_by_key(|these| (weight(these), these.clone()));
    for these in &subsets {
        for pass in PASSES {
            let policy = Policy { forward_compat: ForwardCompat::These(these), ..*pass };
            match attempt(policy) {
                Attempt::Chosen(answer) => return finish(question, policy, answer, attempt),
                Attempt::GaveUp => return Resolution::GaveUp,
                Attempt::Nothing => {}
            }
        }
    }
    Resolution::Conflict
}

/// A set from which no class can be left out.
fn minimal_subset<'c>(may: &[usize], attempt: &dyn Fn(Policy<'_>) -> Attempt<Answer<'c>>) -> Vec<usize> {
    let mut these = may.to_vec();
    for class in may.iter().rev() {
        let fewer: Vec<usize> = these.iter().copied().filter(|other| other != class).collect();
        let policy = Policy { forward_compat: ForwardCompat::These(&fewer), ..ANYTHING };
        if matches!(attempt(policy), Attempt::Chosen(_)) {
            these = fewer;
        }
    }
    these
}

/// With `prefer = "oldest-driver"`, the lowest cap on drivers under which there still is an answer.
fn finish<'c>(
    question: &Question<'c>,
    policy: Policy<'_>,
    answer: Answer<'c>,
    attempt: &dyn Fn(Policy<'_>) -> Attempt<Answer<'c>>,
) -> Resolution<'c> {
    if question.prefer != Prefer::OldestDriver {
        return Resolution::Answer(answer);
    }
    let caps = driver::candidates(question);
    let (mut low, mut high, mut best) = (0, caps.len(), answer);
    while low < high {
        let middle = (low + high) / 2;
        let cap: &Version = caps[middle];
        match attempt(Policy { driver_cap: Some(cap), ..policy }) {
            Attempt::Chosen(answer) => {
                best = answer;
                high = middle;
            }
            _ => low = middle + 1,
        }
    }
    Resolution::Answer(best)
}
