//! Which rules a clash needs, found like the clash itself: by asking again with rules set aside, until no fewer refuse.

use std::rc::Rc;

use crate::catalog::rows::Subject;
use crate::solve::request::{Off, Request};
use crate::solve::rules::{Needs, law};
use crate::spec::{Spec, list_text};
use crate::types::Version;

use crate::explain::ask::Asker;

use super::laws;

/// Lists with more boards than this are told as they are.
const MOST_BOARDS: usize = 64;

/// The spec without the boards of its lists that are not needed for it to clash.
pub(super) fn fewest_boards(asker: &Asker<'_, '_>, mut spec: Spec, culprits: &[String]) -> Spec {
    let targets: Vec<String> = spec.targets.iter().map(|target| target.name.clone()).collect();
    for target in targets {
        let key = format!("target.{target}.gpu");
        let named = spec.target(&target).and_then(|target| target.gpu.as_ref()).map(|gpu| gpu.value.clone());
        let Some(mut names) = named.filter(|names| culprits.contains(&key) && (2..=MOST_BOARDS).contains(&names.len()))
        else {
            continue;
        };
        for name in names.clone() {
            let fewer: Vec<String> = names.iter().filter(|other| **other != name).cloned().collect();
            let Ok(changed) = spec.with(&key, Some(&list_text(&fewer))) else { continue };
            let clashes = asker.question(&changed).and_then(|request| asker.is_refuted(&request));
            if !fewer.is_empty() && clashes == Some(true) {
                (names, spec) = (fewer, changed);
            }
        }
    }
    spec
}

/// One rule about the GPUs that says it all, where the rules that were found say it in several steps.
pub(super) fn shortest(asker: &Asker<'_, '_>, request: &Request<'_>, binding: Vec<String>) -> Vec<String> {
    let is_rule = |id: &&String| request.rules.named(id).is_some();
    if binding.iter().filter(is_rule).count() < 2 || binding.iter().any(|id| law::ALL.contains(&id.as_str())) {
        return binding;
    }
    let gpus: Vec<&Version> =
        request.targets.iter().flat_map(|target| target.named_gpus()).map(|gpu| &gpu.cc_version).collect();
    let about = |rule: &&Rc<Needs<'_>>| {
        rule.row.subject == Subject::Gpu
            && rule.row.object == Subject::Cuda
            && gpus.iter().any(|cc| rule.range.admits(cc))
    };
    let alone = |rule: &&Rc<Needs<'_>>| {
        let mut asked = request.clone();
        let others = law::ALL.iter().copied().chain(request.rules.all().map(|rule| &*rule.row.id));
        let others = others.filter(|id| *id != &*rule.row.id);
        asked.off.extend(others.map(|id| Off { rule: id.to_string(), target: None }));
        asker.is_refuted(&asked) == Some(true)
    };
    match request.rules.all().filter(about).find(alone) {
        Some(rule) => vec![rule.row.id.to_string()],
        None => binding,
    }
}

/// The rules that a clash needs, in the order of the telling: without any one of them there is no clash.
pub(super) fn binding_rules(asker: &Asker<'_, '_>, request: &Request<'_>) -> Vec<String> {
    // Rules that only restate what code coverage says come last here, so they are the first to be given up.
    let needs = request.rules.all().filter(|rule| laws::rule_concerns(request, rule)).map(|rule| &*rule.row.id);
    let all: Vec<&str> = laws::concerning(request).chain(needs).collect();
    let mut asked = request.clone();
    let written = asked.off.len();
    let mut clashes = |found: &[usize], prefix: usize| {
        asked.off.truncate(written);
        let set_aside = (prefix..all.len()).filter(|rule| !found.contains(rule));
        asked.off.extend(set_aside.map(|rule| Off { rule: all[rule].to_string(), target: None }));
        asker.is_refuted(&asked) == Some(true)
    };
    let mut binding = least_set(all.len(), &mut clashes);
    binding.sort_unstable();
    binding.into_iter().map(|rule| all[rule].to_string()).collect()
}

/// A set of positions below `len` of which none can be spared, preferring early ones. `clashes` tells whether
/// what was found and all before some position clash.
///
/// The last member of such a set ends the shortest prefix that clashes. With that member given, the shortest
/// prefix that clashes beside it ends with the next, and so on until what is found clashes by itself.
fn least_set(len: usize, clashes: &mut dyn FnMut(&[usize], usize) -> bool) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut end = len;
    while !clashes(&found, 0) {
        let (mut low, mut high) = (0, end);
        while low < high {
            let middle = (low + high) / 2;
            match clashes(&found, middle + 1) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        if low == end {
            break; // Nothing clashes: somebody asked about a spec that has an answer.
        }
        found.push(low);
        end = low;
    }
    found
}

/// Where several CUDA lines each need a newer driver than there is, the one that needs least tells it.
pub(super) fn least_demanding<'r>(request: &Request<'_>, binding: &'r [String]) -> Vec<&'r String> {
    let floor = |id: &&String| {
        let rule = request.rules.named(id)?;
        let of_driver = rule.row.subject == Subject::Cuda && rule.row.object == Subject::Driver;
        rule.needs.comparisons().find_map(|one| one.version).filter(|_| of_driver)
    };
    let least = binding.iter().filter_map(|id| floor(&id)).min();
    binding.iter().filter(|id| floor(id).is_none_or(|floor| Some(floor) == least)).collect()
}
