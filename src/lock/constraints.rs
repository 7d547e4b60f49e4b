//! What comes in through others, as the lock lists it: what several targets have in common once.

use std::collections::BTreeMap;

use crate::catalog::rows::{BESIDE_TORCH, TORCH};
use crate::solve::held::{Held, held};
use crate::solve::request::Request;
use crate::solve::solution::{Solution, TargetSolution};

use super::ConstraintLock;

/// The constraints of all targets.
pub fn constraints(request: &Request<'_>, answer: &Solution<'_>, alike: &[Vec<usize>]) -> Vec<ConstraintLock> {
    let mut merged: BTreeMap<(Held, &str, bool), Vec<usize>> = BTreeMap::new();
    for group in alike {
        let chosen = &answer.targets[group[0]].chosen;
        let brought = !request.packages.is_empty() || follows_torch(chosen);
        for one in held(request.problem, chosen, &request.packages) {
            merged.entry((one, chosen.arch.as_str(), brought)).or_default().extend(group);
        }
    }
    let mut all = Vec::new();
    for ((held, arch, brought), mut targets) in merged {
        targets.sort_unstable();
        let targets = targets.into_iter().map(|target| answer.targets[target].name.clone()).collect();
        let Held { package, version, index, .. } = held;
        all.push(ConstraintLock { package, version, arch: arch.to_string(), index, brought, targets });
    }
    all
}

/// Whether a package is chosen that may bring in what lies beside torch: it follows torch and is none of these itself. What
/// follows another framework or CUDA alone (RAPIDS, CuPy) has nothing to do with it, and nobody knows of `[packages]`.
fn follows_torch(chosen: &TargetSolution<'_>) -> bool {
    chosen.companions.iter().any(|one| one.framework == TORCH && !BESIDE_TORCH.contains(&&*one.package))
}
