//! What changes from one lock to another, and for whom: the drivers that hosts need come first.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Lock, TargetLock};

/// One choice that two locks make differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// The target it is about; null = all of them alike.
    pub target: Option<String>,
    /// `driver`, `image`, the name of a package.
    pub part: String,
    /// Null where the first lock has none.
    pub from: Option<String>,
    /// Null where the second has none.
    pub to: Option<String>,
}

/// A part, and its choices in both locks.
type Change = (String, Option<String>, Option<String>);

/// Every choice that two locks make differently: drivers, then targets that came or went, then the rest by name. What
/// changes for all targets alike is told once.
pub fn diff(old: &Lock, new: &Lock) -> Vec<Difference> {
    let names: BTreeSet<&String> = old.target.keys().chain(new.target.keys()).collect();
    let mut by_change: BTreeMap<Change, Vec<&String>> = BTreeMap::new();
    for &name in &names {
        let (before, after) = (choices(old, name), choices(new, name));
        let parts: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for part in parts {
            let (from, to) = (before.get(part), after.get(part));
            if from != to {
                by_change.entry((part.clone(), from.cloned(), to.cloned())).or_default().push(name);
            }
        }
    }
    let mut differences: Vec<Difference> = Vec::new();
    for ((part, from, to), targets) in by_change {
        let all = targets.len() == names.len() && names.len() > 1;
        let told: Vec<Option<String>> = if all { vec![None] } else { targets.into_iter().cloned().map(Some).collect() };
        let each = told.into_iter().map(|target| Difference {
            target,
            part: part.clone(),
            from: from.clone(),
            to: to.clone(),
        });
        differences.extend(each);
    }
    differences.sort_unstable_by(|one, other| {
        let key = |it: &Difference| (it.part != DRIVER, it.part != TARGET, it.target.clone(), it.part.clone());
        key(one).cmp(&key(other))
    });
    differences
}

const DRIVER: &str = "driver";
const TARGET: &str = "target";

/// Everything a lock chose for a target; nothing if it has no such target.
fn choices(lock: &Lock, name: &str) -> BTreeMap<String, String> {
    let Some(target) = lock.target.get(name) else { return BTreeMap::new() };
    let mut choices: BTreeMap<String, String> = lock.stack_of(target).clone();
    let TargetLock { runtime, arch, platform, os, image, runtime_image, toolkit, driver, requires, .. } = target;
    let mut put = |part: &str, value: Option<String>| {
        choices.extend(value.map(|value| (part.to_string(), value)));
    };
    put(TARGET, Some(format!("{runtime}, {arch}")));
    put("platform", platform.clone());
    put("os", os.clone());
    put("image", image.clone());
    put("runtime-image", runtime_image.clone());
    put("toolkit", toolkit.clone());
    put(DRIVER, driver.as_ref().map(|driver| format!(">={} ({})", driver.minimum, driver.mode)));
    put("requires", (!requires.is_empty()).then(|| requires.join(", ")));
    let gpus: Vec<&str> = target.gpu.iter().map(|gpu| gpu.name.as_str()).collect();
    put("gpu", (!gpus.is_empty()).then(|| gpus.join(", ")));
    let list = target.arch_list.as_ref().or(lock.arch_list.as_ref());
    put("arch-list", list.map(|list| list.torch.clone()));
    choices
}
