//! Targets that say the same of the same machine are one: the first is explained, the others are named beside it. Whoever
//! writes a fleet into a gpuenv.toml reads one story then, and what it takes to find it does not grow with the fleet.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::solve::compile::classes;
use crate::solve::request::Request;
use crate::spec::Spec;

use super::{Change, target_of};

/// For the first of some targets that are alike, by file order, the names of the others.
#[derive(Debug, Default)]
pub(super) struct Alike {
    of_first: BTreeMap<String, Vec<String>>,
    /// All of them, the first and the others.
    all: HashSet<String>,
}

impl Alike {
    /// Those of a spec, whose request this is.
    pub(super) fn of(spec: &Spec, request: &Request<'_>) -> Alike {
        let mut lines: HashMap<String, Vec<(String, Option<String>)>> = HashMap::new();
        for key in spec.keys() {
            let setting = key.rsplit('.').next().unwrap_or_default().to_string();
            lines.entry(target_of(&key).to_string()).or_default().push((setting, spec.text(&key)));
        }
        for lines in lines.values_mut() {
            lines.sort_unstable();
        }
        let mut class_of: HashMap<&str, usize> = HashMap::new();
        for (at, class) in classes(request).iter().enumerate() {
            class_of.extend(class.members.iter().map(|&member| (request.targets[member].name.as_str(), at)));
        }
        let mut targets: Vec<_> = spec.targets.iter().collect();
        crate::types::sort_by_key(&mut targets, |target| target.span.start);
        let mut first: HashMap<_, &str> = HashMap::new();
        let mut alike = Alike::default();
        for target in targets {
            let says = (class_of.get(target.name.as_str()), lines.get(&target.name));
            match first.get(&says) {
                Some(first) => {
                    alike.all.extend([first.to_string(), target.name.clone()]);
                    alike.of_first.entry(first.to_string()).or_default().push(target.name.clone());
                }
                None => drop(first.insert(says, &target.name)),
            }
        }
        alike
    }

    /// Whether a target is like another.
    pub(super) fn holds(&self, target: &str) -> bool {
        self.all.contains(target)
    }

    /// The spec with the first of each such targets alone: it has an answer where the whole has one.
    pub(super) fn one_of_each(&self, spec: &Spec) -> Spec {
        let others: HashSet<&str> = self.of_first.values().flatten().map(String::as_str).collect();
        let kept = spec.targets.iter().filter(|target| !others.contains(target.name.as_str())).cloned();
        Spec { targets: kept.collect(), ..spec.clone_without_targets() }
    }

    /// The targets that are like those of some keys.
    pub(super) fn others(&self, keys: &[String]) -> Vec<String> {
        let mut targets: Vec<&str> = keys.iter().map(|key| target_of(key)).collect();
        targets.dedup();
        targets.into_iter().filter_map(|target| self.of_first.get(target)).flatten().cloned().collect()
    }

    /// Changes that all targets need of which one does.
    pub(super) fn spread(&self, changes: &[Change]) -> Vec<Change> {
        let mut spread = Vec::new();
        for change in changes {
            let target = target_of(&change.key);
            let setting = change.key.rsplit('.').next().unwrap_or_default();
            let others = self.of_first.get(target).into_iter().flatten();
            let key = |other: &String| format!("target.{other}.{setting}");
            spread.push(change.clone());
            spread.extend(others.map(|other| Change { key: key(other), ..change.clone() }));
        }
        spread
    }
}
