//! A plan in the making: as the hosts are, then with drivers raised.

use crate::explain;
use crate::solve::engine::Steps;
use crate::solve::problem::Problem;
use crate::solve::request::TargetRequest;
use crate::solve::rowset::RowSet;
use crate::spec::{Spec, SpecError, Target};

use super::ask::Asker;
use super::cover::Family;
use super::inventory::{Inventory, Known};
use super::kinds::{self, Kind};
use super::model::{Plan, Stack, Unserved};
use super::raise::{Fleet, told};

/// So many classes that nothing serves are told with their reasons; each takes a search of its own.
const EXPLAINED: usize = 40;

/// Plans for the hosts of an inventory what a spec asks of one of its targets; `limit`: the most steps of one request.
pub fn plan<'c>(
    spec: &Spec,
    template: &Target,
    problem: &'c Problem<'c>,
    inventory: Inventory,
    limit: u64,
) -> Result<Plan, Vec<SpecError>> {
    let hosts = inventory.hosts();
    let (known, unknown) = inventory.classes(template, problem.catalog);
    let (request, kinds) = kinds::find(spec, template, problem, &known)?;
    let asker = Asker::new(&request, limit);
    let (alone, refused): (Vec<usize>, Vec<usize>) =
        (0..kinds.len()).partition(|&kind| asker.serves(vec![kinds[kind].target.clone()]));
    let mut plan = Plan { target: template.name.clone(), hosts, kinds: kinds.len(), unknown, ..Plan::default() };
    as_they_are(&mut plan, &asker, &kinds, &alone);
    plan.unserved = unserved(spec, template, problem, &asker, (&kinds, &known, &refused), limit);
    let fleet = Fleet { asker: &asker, problem, kinds: &kinds, known: &known };
    plan.upgrades = fleet.upgrades(plan.most.as_ref());
    plan.gave_up = asker.gave_up.get();
    plan.classes = known.into_iter().map(|one| one.class).collect();
    Ok(plan)
}

/// The fewest stacks and the one that serves most, of kinds that some stack serves each.
fn as_they_are<'c>(plan: &mut Plan, asker: &Asker<'c>, kinds: &[Kind<'c>], alone: &[usize]) {
    if alone.is_empty() {
        return;
    }
    let targets: Vec<TargetRequest> = alone.iter().map(|&kind| kinds[kind].target.clone()).collect();
    let weights: Vec<usize> = alone.iter().map(|&kind| kinds[kind].hosts).collect();
    let pick = |set: &RowSet| set.rows().map(|at| targets[at].clone()).collect::<Vec<_>>();
    let family = Family::find(&weights, asker.bounds(&targets), &mut |set| asker.serves(pick(set)));
    if let Some((set, at_most)) = family.heaviest(&weights) {
        plan.at_most = at_most;
        plan.most = asker.best(pick(set)).map(|answer| told(&answer, kinds));
    }
    let cover = family.cover(&weights);
    plan.at_least = cover.at_least;
    // Whom several could serve is served by the first; the others are then the better for their own.
    let mut left = RowSet::first(alone.len());
    for at in cover.chosen {
        let own = RowSet::filter(alone.len(), |kind| left.has(kind) && family.sets[at].has(kind));
        left.subtract(&own);
        let answer = asker.best(pick(&own));
        plan.fewest.extend(answer.map(|answer| told(&answer, kinds)));
    }
    plan.fewest.sort_by_key(|stack: &Stack| std::cmp::Reverse(stack.hosts));
}

/// The kinds that no stack serves, with why.
fn unserved<'c>(
    spec: &Spec,
    template: &Target,
    problem: &'c Problem<'c>,
    asker: &Asker<'c>,
    (kinds, known, refused): (&[Kind<'c>], &[Known], &[usize]),
    limit: u64,
) -> Vec<Unserved> {
    let mut told: Vec<(Vec<String>, Unserved)> = Vec::new();
    let mut asked = 0;
    for kind in refused.iter().map(|&kind| &kinds[kind]) {
        let proven = asker.is_refused(&kind.target);
        for &class in &kind.classes {
            // As one would write it: the hosts' own lines in the target of the spec.
            let one = Target { name: template.name.clone(), ..known[class].target.clone() };
            let alone = kinds::asked_of(spec, template, vec![one]);
            let conflict =
                (asked < EXPLAINED).then(|| explain::first_conflict(&alone, problem, &Steps::new(limit))).flatten();
            asked += 1;
            let (why, facts) = conflict.map_or_else(Default::default, |found| (found.explanation, found.facts));
            // One cause is told once, whichever boards and drivers it strikes, with the numbers of each.
            let rules = problem.rules.ids(facts.iter().map(|fact| fact.id.as_str()));
            let cause: Vec<String> =
                if rules.is_empty() { why.clone() } else { rules.rows().map(|rule| rule.to_string()).collect() };
            let at = told.iter().position(|(known, other)| other.proven == proven && *known == cause);
            let at = at.unwrap_or_else(|| {
                told.push((cause, Unserved { proven, ..Unserved::default() }));
                told.len() - 1
            });
            let (_, unserved) = &mut told[at];
            unserved.classes.push(class);
            unserved.hosts += known[class].class.hosts.len();
            let new: Vec<String> = why.iter().filter(|says| !unserved.why.contains(says)).cloned().collect();
            unserved.why.extend(new);
            unserved.own.insert(class, why);
        }
    }
    let mut told: Vec<Unserved> = told.into_iter().map(|(_, one)| one).collect();
    crate::types::sort_by_key(&mut told, |one| std::cmp::Reverse(one.hosts));
    told
}
