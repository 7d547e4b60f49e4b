//! Which warnings an answer deserves. Each names the keys it is about; none is given for what is merely as asked. What they
//! say stands in [`crate::warning`].

mod builds;
mod companions;
mod compilers;
mod cures;
mod driver;
mod end_of_life;
mod frameworks;
mod gpu;
mod image;
mod installed;
mod nvcc;
mod packages;
mod system_libraries;
mod wheels;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::catalog::rows::{Build, Companion};
use crate::warning::Warning;

use super::request::{ImageRequest, Request, TargetRequest};
use super::solution::{Solution, TargetSolution};

/// The warnings an answer deserves, by target.
pub fn warnings<'c>(request: &Request<'c>, answer: &Solution<'c>) -> Vec<Warning> {
    warnings_with(request, answer, &Upgrades::new())
}

/// The names behind `gpuenv lock` that cure what is said of a key: a lock keeps what excludes it.
pub type Upgrades = BTreeMap<String, String>;

/// The same of an answer that keeps more than it has to.
pub fn warnings_with<'c>(request: &Request<'c>, answer: &Solution<'c>, upgrades: &Upgrades) -> Vec<Warning> {
    let groups = answer.alike();
    let mut told: Vec<(Warning, usize)> = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let mut warnings: Vec<Warning> = Vec::new();
        let all: Vec<&TargetRequest> = group.iter().map(|&at| &request.targets[at]).collect();
        let about = About { request, asked: all[0], all, target: &answer.targets[group[0]].chosen, upgrades };
        warnings.extend(builds::warnings(&about));
        warnings.extend(companions::warnings(&about));
        warnings.extend(gpu::only_ptx(&about));
        warnings.extend(gpu::only_ptx_compiled(&about));
        warnings.extend(driver::warnings(&about));
        warnings.extend(image::warnings(&about));
        warnings.extend(installed::warnings(&about));
        warnings.extend(end_of_life::warnings(&about));
        for asked in &about.all {
            warnings.extend(gpu::warnings(request, asked, about.target));
        }
        warnings.extend(packages::warnings(&about));
        warnings.extend(frameworks::warning(&about));
        warnings.extend(frameworks::python_bound(&about));
        told.extend(warnings.into_iter().map(|warning| (warning, at)));
    }
    let mut merged = merged(told);
    // One that names no target, and is not of all of them, names the GPUs of those that it is of.
    for (warning, of) in merged.iter_mut().filter(|(_, of)| of.len() < groups.len()) {
        if !warning.keys.iter().any(|key| key.starts_with("target.")) {
            let targets = of.iter().flat_map(|&at| &groups[at]);
            warning.keys.extend(targets.map(|&target| request.targets[target].key("gpu")));
        }
    }
    let sorted = |(mut warning, _): (Warning, Vec<usize>)| {
        warning.keys.sort_unstable();
        warning.keys.dedup();
        warning
    };
    merged.into_iter().map(sorted).collect()
}

/// Equal warnings of several targets are one that names the keys of all, with the groups of targets that it is of.
fn merged(warnings: Vec<(Warning, usize)>) -> Vec<(Warning, Vec<usize>)> {
    let mut at: HashMap<(&'static str, String), usize> = HashMap::new();
    let mut merged: Vec<(Warning, Vec<usize>)> = Vec::new();
    for (warning, group) in warnings {
        let known = *at.entry((warning.code, warning.message.clone())).or_insert(merged.len());
        match merged.get_mut(known) {
            None => merged.push((warning, vec![group])),
            Some((known, of)) => {
                known.keys.extend(warning.keys);
                if of.last() != Some(&group) {
                    of.push(group);
                }
            }
        }
    }
    merged
}

/// Targets that share one choice.
struct About<'a, 'c> {
    request: &'a Request<'c>,
    /// The first of the targets, and all of them.
    asked: &'a TargetRequest<'c>,
    all: Vec<&'a TargetRequest<'c>>,
    target: &'a TargetSolution<'c>,
    upgrades: &'a Upgrades,
}

impl About<'_, '_> {
    /// The key of a setting, for each of the targets.
    fn keys(&self, setting: &str) -> Vec<String> {
        self.all.iter().map(|target| target.key(setting)).collect()
    }

    /// The tables of the targets, where what is missing is no key that they have.
    fn whole(&self) -> Vec<String> {
        self.all.iter().map(|target| format!("target.{}", target.name)).collect()
    }

    /// The image of which nobody has read what it holds. To the solver all such images are alike.
    fn unread_image(&self) -> Option<String> {
        let images = self.all.iter().filter_map(|target| match &target.image {
            ImageRequest::Unchecked(image) => Some(image.to_string()),
            _ => None,
        });
        let images: BTreeSet<String> = images.collect();
        (!images.is_empty()).then(|| Vec::from_iter(images).join("`, `"))
    }

    /// The builds made for CUDA.
    fn gpu_builds(&self) -> impl Iterator<Item = &&Build> {
        self.target.builds.iter().filter(|build| !build.is_cpu())
    }
}

/// The key of gpuenv.toml that asks for a package.
fn key(row: &Companion) -> [String; 1] {
    [format!("stack.{}", row.package)]
}
