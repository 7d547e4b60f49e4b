//! From an answer to the lock that holds it.

use std::collections::BTreeMap;

use crate::catalog::{Catalog, OsMatch};
use crate::solve::answer::{Answer, TargetAnswer};
use crate::solve::question::{Question, TargetAsk};
use crate::spec::{Runtime, Share, Spec};
use crate::words::ArchList;

use super::{
    ArchLists, CatalogStamp, DriverLock, FORMAT, GpuLock, Lock, OverrideLock, Stack, TargetLock, Wheel, facts,
};

/// Writes an answer down. `overrides` are those that mattered.
pub fn make(spec: &Spec, question: &Question<'_>, answer: &Answer<'_>, overrides: Vec<OverrideLock>) -> Lock {
    let stacks: Vec<Stack> = answer.targets.iter().map(TargetAnswer::stack).collect();
    let lists: Vec<Option<ArchLists>> =
        answer.targets.iter().map(|target| target.arch_list.as_ref().map(arch_lists)).collect();
    let shared = question.share == Share::Stack;
    let stack = common_stack(answer, &stacks, shared);
    let arch_list = common_list(&lists, shared);
    let mut target = BTreeMap::new();
    for (at, (asked, chosen)) in question.targets.iter().zip(&answer.targets).enumerate() {
        let mut lock = target_lock(spec, question.catalog, asked, chosen);
        lock.stack = (!shared || stacks[at] != stack).then(|| stacks[at].clone());
        lock.arch_list = lists[at].clone().filter(|own| !shared || Some(own) != arch_list.as_ref());
        target.insert(chosen.name.clone(), lock);
    }
    let catalog = CatalogStamp {
        version: question.catalog.version.to_string(),
        digest: question.catalog.digest.to_string(),
        overlays: Vec::new(),
    };
    let wheel = wheels(answer);
    let fact = facts::facts(question, answer);
    Lock { version: FORMAT, catalog, inputs: spec.inputs(), stack, arch_list, target, wheel, overrides, fact }
}

/// What all targets have in common. Targets that share one stack may still differ in what lies below it (the
/// release of a CUDA line, the parts of another platform's wheel): there the first target that compiles or has
/// an image speaks for all, and those that differ carry their own.
fn common_stack(answer: &Answer<'_>, stacks: &[Stack], shared: bool) -> Stack {
    if shared {
        let leads = |target: &TargetAnswer| target.toolkit.is_some() || target.image.is_some();
        let by_place = answer.targets.iter().position(|target| leads(target) && target.driver.is_some());
        let by_driver = answer.targets.iter().position(|target| target.driver.is_some());
        let lead = by_place.or(by_driver).unwrap_or(0);
        return stacks.get(lead).cloned().unwrap_or_default();
    }
    let Some((first, rest)) = stacks.split_first() else { return Stack::new() };
    let mut common = first.clone();
    common.retain(|name, version| rest.iter().all(|stack| stack.get(name) == Some(version)));
    common
}

/// A target without a GPU compiles for none, which is no reason to give the others lists of their own.
fn common_list(lists: &[Option<ArchLists>], shared: bool) -> Option<ArchLists> {
    let mut known = lists.iter().filter(|list| !shared || list.is_some());
    let first = known.next()?;
    known.all(|list| list == first).then(|| first.clone()).flatten()
}

fn arch_lists(list: &ArchList) -> ArchLists {
    ArchLists { torch: list.torch(), cmake: list.cmake() }
}

fn target_lock(spec: &Spec, catalog: &Catalog, asked: &TargetAsk<'_>, chosen: &TargetAnswer<'_>) -> TargetLock {
    let runtime = match asked.runtime {
        Runtime::Container => "container",
        Runtime::BareMetal => "bare-metal",
    };
    let gpus = chosen.gpus.iter().map(|gpu| GpuLock {
        name: gpu.name.clone(),
        compute_capability: gpu.cc.to_string(),
        coverage: gpu.coverage.and_then(|coverage| coverage.as_str()).map(str::to_string),
    });
    TargetLock {
        runtime: runtime.to_string(),
        arch: chosen.arch.to_string(),
        os: os(spec, catalog, asked, chosen),
        image: chosen.image_reference(asked),
        runtime_image: chosen.runtime_image.map(|image| format!("{}:{}", image.repository, image.tag)),
        toolkit: chosen.toolkit.map(|toolkit| toolkit.version.to_string()),
        driver: driver(chosen),
        stack: None,
        arch_list: None,
        gpu: gpus.collect(),
    }
}

/// The OS by its own name: as written where the catalog does not know it, else the image's.
fn os(spec: &Spec, catalog: &Catalog, asked: &TargetAsk<'_>, chosen: &TargetAnswer<'_>) -> Option<String> {
    if let Some(written) = spec.target(&asked.name).and_then(|target| target.os.as_ref()) {
        return Some(match catalog.os(&written.value) {
            OsMatch::Found(os) => os.id.to_string(),
            OsMatch::Unknown(_) => written.value.clone(),
        });
    }
    let image = chosen.image.map(|image| &image.os)?;
    let known = catalog.oses.iter().find(|os| os.images.contains(image));
    Some(known.map_or(image, |os| &os.id).to_string())
}

fn driver(chosen: &TargetAnswer<'_>) -> Option<DriverLock> {
    let judged = chosen.driver.as_ref()?;
    let minimum = chosen.minimum.as_ref().unwrap_or(&judged.version);
    Some(DriverLock {
        minimum: minimum.to_string(),
        mode: chosen.mode().to_string(),
        cuda: judged.branch.cuda.as_ref().map_or_else(|| "unknown".to_string(), ToString::to_string),
        compat: judged.compat.map(|compat| format!("cuda-compat-{}-{}", compat.cuda.major(), compat.cuda.minor())),
    })
}

/// The wheels of all targets: what several need is listed once.
fn wheels(answer: &Answer<'_>) -> Vec<Wheel> {
    let mut merged: BTreeMap<(String, String, String, Option<String>), Vec<String>> = BTreeMap::new();
    for target in &answer.targets {
        for (package, version, index) in target.wheels() {
            let key = (package, version, target.arch.to_string(), index);
            merged.entry(key).or_default().push(target.name.clone());
        }
    }
    let wheel = |((package, version, arch, index), targets)| Wheel { package, version, arch, index, targets };
    merged.into_iter().map(wheel).collect()
}
