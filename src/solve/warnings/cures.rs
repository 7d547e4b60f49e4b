//! What has a package that comes along with `[packages]`, or has to, go with the rest: solved before it is told.

use std::rc::Rc;

use crate::meaning;
use crate::solve::compile::Locked;
use crate::solve::engine::Steps;
use crate::solve::held::all_beside;
use crate::solve::ordinary::{Follows, judged};
use crate::solve::reading::Reading;
use crate::solve::request::{ImageRequest, PackageRequest, Request, TargetRequest};
use crate::solve::resolve::{Verdict, World, best, judge};
use crate::solve::solution::Solution;
use crate::types::{Constraint, Specifier};

use super::{About, Upgrades, companions};

/// Whether it is known that a package would not go with these targets, were it written under `[stack]`.
pub(super) fn is_refused<'c>(about: &About<'_, 'c>, of: &str, asked: &Specifier) -> bool {
    let Some(mut named) = asked.range().and_then(|range| naming(about.request, of, range)) else { return false };
    // A tag that was chosen is judged as one that is written.
    let in_image = |target: &&TargetRequest<'c>| {
        let mut target = TargetRequest::clone(target);
        if let Some(image) = about.target.image {
            let reading = Reading { image: ImageRequest::Known(image), ..Reading::clone(&target.reading) };
            target.machine = about.request.problem.machine(reading.clone());
            target.reading = Rc::new(reading);
        }
        target
    };
    named.targets = about.all.iter().map(in_image).collect();
    matches!(judge(&named, World::Possible, &Steps::default()), Verdict::Conflict(_))
}

/// A request that asks for a package under `[stack]` as well; none of one of which no release is known.
fn naming<'c>(request: &Request<'c>, of: &str, constraint: Constraint) -> Option<Request<'c>> {
    let package = request.problem.package(of)?.name;
    let mut named = request.clone();
    named.companions.push(PackageRequest { package, constraint, own: false, before_all: None });
    named.companions.sort_by_key(|ask| ask.package);
    Some(named)
}

/// What is to be written that has an answer: the package under `[stack]`, else that with another release of a framework.
pub(super) fn of_package(about: &About<'_, '_>, of: &str, needs: &str) -> Option<String> {
    let written = format!("`{of} = \"{needs}\"`");
    let named = naming(about.request, of, Constraint::parse(needs).ok()?)?;
    if answer(&named, of).is_some() {
        return Some(format!("write {written} under [stack]"));
    }
    let of_framework = |at: usize| {
        let mut other = named.clone();
        other.frameworks[at].constraint = Constraint::any();
        let framework = other.frameworks[at].package;
        let version = answer(&other, of)?.targets[0].chosen.build(framework)?.version;
        Some(format!("write `{framework} = \"{version}\"` and {written} under [stack]"))
    };
    let of_cuda = || {
        let other = Request { cuda: None, cuda_line: None, ..named.clone() };
        let line = answer(&other, of)?.targets[0].chosen.cuda?.version.prefix(2);
        Some(format!("write `cuda = \"{line}\"` and {written} under [stack]"))
    };
    (0..named.frameworks.len()).find_map(of_framework).or_else(of_cuda)
}

/// The answer to a request that does not fail by that package, nor goes back to a major of it before the newest that is asked
/// for: what brings it along was written for that one.
fn answer<'c>(request: &Request<'c>, of: &str) -> Option<Solution<'c>> {
    let answer = best(request, &Locked::new(), &Steps::default())?;
    let ask = request.companions.iter().find(|ask| ask.package == of)?;
    let rows = &request.problem.package(of)?.releases;
    let newest = rows.iter().map(|row| row.version).filter(|version| ask.constraint.admits(version)).max()?;
    let mut chosen = answer.targets.iter().flat_map(|target| &target.chosen.companions);
    if chosen.any(|row| *row.package == *of && row.version.major() < newest.major()) {
        return None;
    }
    let upgrades = &Upgrades::new();
    let fails = answer.targets.iter().zip(&request.targets).any(|(target, asked)| {
        let about = About { request, asked, all: vec![asked], target: &target.chosen, upgrades };
        let key = format!("stack.{of}");
        let mut warned = companions::warnings(&about).into_iter().filter(|one| one.keys.contains(&key));
        warned.any(|one| meaning::fails(one.code))
    });
    (!fails).then_some(answer)
}

/// Whether other releases of a package of `[packages]` go with what is locked and with what they bring.
pub(super) fn goes(about: &About<'_, '_>, name: &str, instead: &str) -> bool {
    let Ok(asked) = Specifier::parse(instead) else { return false };
    let mut packages = about.request.packages.to_vec();
    packages.iter_mut().filter(|(written, _)| *written == *name).for_each(|one| one.1 = asked.clone());
    let beside = all_beside(about.request.problem, about.target, &packages);
    let is_out = |one: &Follows| matches!(one, Follows::Excluded(_));
    !judged(about.request.problem, &beside, name, &asked).iter().any(|one| is_out(&one.follows))
}
