//! How the best answer is found: first without anything doubtful, then with experimental builds, with builds of
//! unknown contents, and last with forward compatibility for as few targets as possible. What has no answer then is
//! asked once more with everything that nobody has read as it is wished for: only what has none even so is a conflict.

use crate::spec::{Prefer, Share};
use crate::types::Version;

use super::beyond;
use super::compile::{ForwardCompat, Locked, Plan, Policy, classes};
use super::engine::{Outcome, Proof, Selection, Steps};
use super::network::Says;
use super::platform::ITS_JETPACK;
use super::request::Request;
use super::solution::{Solution, TargetAnswer};
use super::unknowns::{self, Unknown};
use super::unread::Unread;
use super::unread_sources;

/// What came of a request.
#[derive(Debug, Clone)]
pub enum Resolution<'c> {
    /// The best answer.
    Solution(Solution<'c>),
    /// There is none.
    Conflict,
    /// There is none among what is known, but one if some of what nobody has read turns out well.
    Undetermined(Vec<Unknown>),
    /// The step limit was reached first.
    GaveUp,
}

/// Subsets of this many classes are tried one by one; beyond, forward compatibility is only made minimal.
const EXACT_CLASSES: usize = 10;

/// Everything allowed: whether a question has any answer at all.
pub const ANYTHING: Policy<'static> =
    Policy { experimental: true, unknown: true, possible: false, forward_compat: ForwardCompat::All, driver_cap: None };

/// The same, and whatever nobody has read as it is wished for: what has no answer then is proven to have none.
const POSSIBLE: Policy<'static> = Policy { possible: true, ..ANYTHING };

/// Nothing that is not the first choice.
const FIRST: Policy<'static> = Policy {
    experimental: false,
    unknown: false,
    possible: false,
    forward_compat: ForwardCompat::Nobody,
    driver_cap: None,
};

/// What is tried, in this order.
const PASSES: &[Policy<'static>] =
    &[FIRST, Policy { experimental: true, ..FIRST }, Policy { experimental: true, unknown: true, ..FIRST }];

/// Compiles a request and solves it, as long as there are steps left.
fn solve<'c, T>(
    request: &Request<'c>,
    policy: Policy<'_>,
    locked: &Locked,
    steps: &Steps,
    read: impl FnOnce(&Plan<'_, 'c>, &Selection) -> T,
) -> Attempt<T> {
    if steps.spent().is_some() {
        return Attempt::GaveUp;
    }
    let request = request.without_left();
    let plan = Plan::new(&request, policy, locked);
    steps.add(plan.work());
    match plan.solve(steps) {
        Outcome::Solved(selection) => Attempt::Solved(read(&plan, &selection)),
        Outcome::Refuted(proof) => Attempt::Nothing(written_keys(&plan, &proof)),
        Outcome::GaveUp => Attempt::GaveUp,
    }
}

/// The keys of gpuenv.toml at the leaves of a derivation: these have no answer together, whatever the others say.
fn written_keys(plan: &Plan<'_, '_>, proof: &Proof) -> Vec<Says> {
    let premises = plan.network.premises();
    let mut says: Vec<Says> = Vec::new();
    let of_premises = proof.premises.iter().map(|&premise| &premises[premise].says);
    let of_variables = proof.variables.iter().flat_map(|&var| plan.network.because(var));
    for one in of_premises.chain(of_variables) {
        if !says.contains(one) {
            says.push(one.clone());
        }
    }
    says
}

/// Whether a request has an answer, or none if what nobody has read may be as it is wished for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It has one.
    Solvable,
    /// It has none, and the keys that PubGrub's derivation rests on have none together: each by its name, or all keys of
    /// a target.
    Conflict(Vec<Culprit>),
    /// The step limit was reached first.
    GaveUp,
}

/// What a derivation rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Culprit {
    /// A key.
    Key(String),
    /// Every key of a target.
    Target(String),
}

/// What counts as an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// What is known or expected.
    Known,
    /// What may be so, for all that anybody has read: what has no answer here is proven to have none.
    Possible,
}

/// Whether a request has an answer, and what speaks against it.
pub fn judge(request: &Request<'_>, world: World, steps: &Steps) -> Verdict {
    let policy = match world {
        World::Known => ANYTHING,
        World::Possible => POSSIBLE,
    };
    let none = Locked::new();
    let ask = |asked: &Request<'_>| match solve(asked, policy, &none, steps, |_, _| ()) {
        Attempt::Solved(()) => Verdict::Solvable,
        Attempt::Nothing(says) => {
            let classes = classes(asked);
            let culprit = |says: Says| match says {
                Says::Key(key) => Culprit::Key(key),
                Says::Machine(class) => Culprit::Target(classes[class].target.name.to_string()),
            };
            Verdict::Conflict(says.into_iter().map(culprit).collect())
        }
        Attempt::GaveUp => Verdict::GaveUp,
    };
    match request.share {
        Share::None => first_no(parts(request).into_iter().map(|part| judge_together(&part, world, &ask))),
        _ => judge_together(request, world, &ask),
    }
}

/// Whether what was read of a request has an answer: without one of its packages more of it may turn out to be unread.
fn judge_together(request: &Request<'_>, world: World, ask: &dyn Fn(&Request<'_>) -> Verdict) -> Verdict {
    if world == World::Known {
        return ask(request);
    }
    let unread = Unread::of(request);
    if !unread.is_empty() {
        return first_no(unread.rest(request).into_iter().map(|part| judge_together(&part, world, ask)));
    }
    let verdict = match (ask(request), beyond::of(request)) {
        (Verdict::Conflict(_), Some((_, without))) => judge_together(&without, world, ask),
        (verdict, _) => verdict,
    };
    if !matches!(verdict, Verdict::Conflict(_)) {
        return verdict;
    }
    let each = beyond::each_system(request);
    let mut others = each.iter().map(|(_, named)| judge_together(named, world, ask));
    others.find(|other| !matches!(other, Verdict::Conflict(_))).unwrap_or(verdict)
}

/// The first of some verdicts that is a conflict, else one that is no answer.
fn first_no(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    let mut of_all = Verdict::Solvable;
    for verdict in verdicts {
        match verdict {
            Verdict::Solvable => {}
            Verdict::Conflict(_) => return verdict,
            Verdict::GaveUp => of_all = verdict,
        }
    }
    of_all
}

/// Whether a request has an answer among what is known; none if the step limit was reached first.
pub fn is_solvable(request: &Request<'_>, steps: &Steps) -> Option<bool> {
    match judge(request, World::Known, steps) {
        Verdict::Solvable => Some(true),
        Verdict::Conflict(_) => Some(false),
        Verdict::GaveUp => None,
    }
}

/// The best answer to a request.
pub fn resolve<'c>(request: &Request<'c>, locked: &Locked, steps: &Steps) -> Resolution<'c> {
    each_part(request, |part| resolve_together(part, locked, steps, || undetermined(part, locked, steps)))
}

/// The best answer to a request, if it has one among what is known. Where it has none nobody asks why, so this is told
/// sooner.
pub fn best<'c>(request: &Request<'c>, locked: &Locked, steps: &Steps) -> Option<Solution<'c>> {
    match each_part(request, |part| resolve_together(part, locked, steps, || Resolution::Conflict)) {
        Resolution::Solution(answer) => Some(answer),
        _ => None,
    }
}

/// The answer to a request whose parts are answered in some way.
fn each_part<'c>(request: &Request<'c>, answer: impl Fn(&Request<'c>) -> Resolution<'c>) -> Resolution<'c> {
    let parts = (request.share == Share::None).then(|| parts(request));
    let parts = parts.as_deref().unwrap_or(std::slice::from_ref(request));
    match together(parts.iter().map(answer)) {
        Resolution::Solution(mut answer) => {
            let mut unseen = unknowns::of_images(request);
            unseen.extend(unknowns::of_chosen_images(request, &answer));
            unseen.extend(unknowns::of_written_libraries(request));
            unseen.extend(unknowns::of_own_cudnn(request));
            unseen.extend(unknowns::of_older_systems(request));
            if !unseen.is_empty() {
                return Resolution::Undetermined(unseen);
            }
            answer.targets.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            Resolution::Solution(answer)
        }
        other => other,
    }
}

/// What came of several parts of a request, whichever of them was asked first: what has no answer in one of them has none,
/// though of others that is not known; and of several that depend on what nobody has read, all of it is told.
pub fn together<'c>(parts: impl IntoIterator<Item = Resolution<'c>>) -> Resolution<'c> {
    let (mut targets, mut undetermined, mut gave_up) = (Vec::<TargetAnswer>::new(), None::<Vec<Unknown>>, false);
    for part in parts {
        match part {
            Resolution::Solution(answer) => targets.extend(answer.targets),
            Resolution::Conflict => return Resolution::Conflict,
            Resolution::Undetermined(unknowns) => {
                let known = undetermined.get_or_insert_default();
                unknowns.into_iter().for_each(|one| match known.contains(&one) {
                    true => {}
                    false => known.push(one),
                });
            }
            Resolution::GaveUp => gave_up = true,
        }
    }
    match undetermined {
        Some(unknowns) => Resolution::Undetermined(unknowns),
        None if gave_up => Resolution::GaveUp,
        None => Resolution::Solution(Solution { targets }),
    }
}

/// With `share = "none"` every target is a question of its own; those that ask the same are one.
fn parts<'c>(request: &Request<'c>) -> Vec<Request<'c>> {
    let members = classes(request).into_iter().map(|class| class.members.clone());
    members.map(|members| request.of(members.iter().map(|&at| request.targets[at].clone()).collect())).collect()
}

fn resolve_together<'c>(
    request: &Request<'c>,
    locked: &Locked,
    steps: &Steps,
    otherwise: impl FnOnce() -> Resolution<'c>,
) -> Resolution<'c> {
    let attempt = |policy: Policy<'_>| solve(request, policy, locked, steps, Solution::read);
    match attempt(PASSES[0]) {
        Attempt::Solved(answer) => return finish(request, PASSES[0], answer, &attempt),
        Attempt::GaveUp => return Resolution::GaveUp,
        Attempt::Nothing(_) => {}
    }
    match is_solvable(request, steps) {
        Some(true) => {}
        Some(false) => return otherwise(),
        None => return Resolution::GaveUp,
    }
    for policy in &PASSES[1..] {
        match attempt(*policy) {
            Attempt::Solved(answer) => return finish(request, *policy, answer, &attempt),
            Attempt::GaveUp => return Resolution::GaveUp,
            Attempt::Nothing(_) => {}
        }
    }
    with_forward_compat(request, &attempt)
}

/// What has no answer among what is known: what would have to be read to tell, or nothing if none of it would help.
fn undetermined<'c>(request: &Request<'c>, locked: &Locked, steps: &Steps) -> Resolution<'c> {
    let unread = Unread::of(request);
    if !unread.is_empty() {
        let rest = unread.rest(request);
        let mut unknowns = unread.unknowns;
        // What is known to have an answer depends on nothing else.
        for part in rest.iter().filter(|part| is_solvable(part, steps) != Some(true)) {
            match undetermined(part, locked, steps) {
                Resolution::Undetermined(more) => {
                    unknowns.extend(more.into_iter().filter(|one| !unknowns.contains(one)).collect::<Vec<_>>())
                }
                other => return other,
            }
        }
        return Resolution::Undetermined(unknowns);
    }
    let read = |plan: &Plan<'_, 'c>, selection: &Selection| {
        [unknowns::of(plan, selection), unread_sources::of(plan, selection)].concat()
    };
    match solve(request, POSSIBLE, locked, steps, read) {
        Attempt::Solved(unknowns) => Resolution::Undetermined(unknowns),
        Attempt::Nothing(_) => match beyond_catalog(request, locked, steps) {
            Resolution::Conflict => on_each_system(request, locked, steps),
            other => other,
        },
        Attempt::GaveUp => Resolution::GaveUp,
    }
}

/// What has no answer where Jetsons name no system: nothing is known of it where that is so on one that they may have, of which
/// the newest is told.
fn on_each_system<'c>(request: &Request<'c>, locked: &Locked, steps: &Steps) -> Resolution<'c> {
    for (os, named) in beyond::each_system(request).iter().rev() {
        match undetermined(named, locked, steps) {
            Resolution::Undetermined(mut unknowns) => {
                for unknown in &mut unknowns {
                    unknown.fact = unknown.fact.replace(&*os.id, ITS_JETPACK);
                    unknown.how = unknown.how.replace(&*os.id, ITS_JETPACK);
                }
                return Resolution::Undetermined(unknowns);
            }
            Resolution::Conflict => {}
            other => return other,
        }
    }
    Resolution::Conflict
}

/// What has no answer with machines as they are judged: nothing is known of it where one is beyond the catalog and would do
/// as something else.
fn beyond_catalog<'c>(request: &Request<'c>, locked: &Locked, steps: &Steps) -> Resolution<'c> {
    let Some((mut unknowns, without)) = beyond::of(request) else { return Resolution::Conflict };
    if without.targets.is_empty() || is_solvable(&without, steps) == Some(true) {
        return Resolution::Undetermined(unknowns);
    }
    match undetermined(&without, locked, steps) {
        Resolution::Undetermined(more) => {
            unknowns.extend(more);
            Resolution::Undetermined(unknowns)
        }
        other => other,
    }
}

enum Attempt<T> {
    Solved(T),
    Nothing(Vec<Says>),
    GaveUp,
}

/// The fewest targets that must use forward compatibility, and the best answer for them.
fn with_forward_compat<'c>(
    request: &Request<'c>,
    attempt: &dyn Fn(Policy<'_>) -> Attempt<Solution<'c>>,
) -> Resolution<'c> {
    let classes = classes(request);
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
    subsets.sort_unstable_by_key(|these| (weight(these), these.clone()));
    for these in &subsets {
        for pass in PASSES {
            let policy = Policy { forward_compat: ForwardCompat::These(these), ..*pass };
            match attempt(policy) {
                Attempt::Solved(answer) => return finish(request, policy, answer, attempt),
                Attempt::GaveUp => return Resolution::GaveUp,
                Attempt::Nothing(_) => {}
            }
        }
    }
    Resolution::Conflict
}

/// A set from which no class can be left out.
fn minimal_subset<'c>(may: &[usize], attempt: &dyn Fn(Policy<'_>) -> Attempt<Solution<'c>>) -> Vec<usize> {
    let mut these = may.to_vec();
    for class in may.iter().rev() {
        let fewer: Vec<usize> = these.iter().copied().filter(|other| other != class).collect();
        let policy = Policy { forward_compat: ForwardCompat::These(&fewer), ..ANYTHING };
        if matches!(attempt(policy), Attempt::Solved(_)) {
            these = fewer;
        }
    }
    these
}

/// With `prefer = "oldest-driver"`, the lowest cap on drivers under which there still is an answer.
fn finish<'c>(
    request: &Request<'c>,
    policy: Policy<'_>,
    answer: Solution<'c>,
    attempt: &dyn Fn(Policy<'_>) -> Attempt<Solution<'c>>,
) -> Resolution<'c> {
    if request.prefer != Prefer::OldestDriver {
        return Resolution::Solution(answer);
    }
    let caps = request.problem.turning_points();
    let (mut low, mut high, mut best) = (0, caps.len(), answer);
    while low < high {
        let middle = (low + high) / 2;
        let cap: &Version = caps[middle];
        match attempt(Policy { driver_cap: Some(cap), ..policy }) {
            Attempt::Solved(answer) => {
                best = answer;
                high = middle;
            }
            _ => low = middle + 1,
        }
    }
    Resolution::Solution(best)
}
