//! What comes in through others, as the lock lists it: what several targets have in common once.

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::solve::held::{Held, held};
use crate::solve::solution::Solution;

use super::ConstraintLock;

pub use crate::solve::held::BESIDE_TORCH;

/// The constraints of all targets.
pub fn constraints(catalog: &Catalog, answer: &Solution<'_>, alike: &[Vec<usize>]) -> Vec<ConstraintLock> {
    let mut merged: BTreeMap<(Held, &str), Vec<usize>> = BTreeMap::new();
    for group in alike {
        let chosen = &answer.targets[group[0]].chosen;
        for one in held(catalog, chosen) {
            merged.entry((one, chosen.arch.as_str())).or_default().extend(group);
        }
    }
    let mut all = Vec::new();
    for ((held, arch), mut targets) in merged {
        targets.sort_unstable();
        let targets = targets.into_iter().map(|target| answer.targets[target].name.clone()).collect();
        let Held { package, version, index, .. } = held;
        all.push(ConstraintLock { package, version, arch: arch.to_string(), index, targets });
    }
    all
}
