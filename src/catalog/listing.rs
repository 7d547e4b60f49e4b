//! What the catalog knows, by name: for who asks what can be written.

use std::collections::BTreeMap;

use super::rows::{Class, Companion, FRAMEWORKS};
use super::tables::Catalog;
use crate::types::name::STACK_PARTS;
use crate::types::{Version, distinct};

/// Names of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelf {
    /// The kind, as `gpuenv catalog list KIND` names it.
    pub kind: &'static str,
    /// Where such a name is written.
    pub written: &'static str,
    /// Every name with what is to be said of it.
    pub names: Vec<(String, String)>,
    /// The same in a few words.
    pub summary: Vec<String>,
}

/// A package by its releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// The oldest release.
    pub oldest: Version,
    /// The newest release.
    pub newest: Version,
    /// How many releases there are.
    pub releases: usize,
}

/// Every kind, and where a name of it is written.
pub const SHELVES: &[(&str, &str)] = &[
    ("packages", "[stack]"),
    ("gpus", "gpu"),
    ("drivers", "driver"),
    ("systems", "os"),
    ("images", "image"),
    ("rules", "[[override]]"),
];

impl Known {
    /// `1.8.0 to 2.15.0`
    pub fn range(&self) -> String {
        match self.releases {
            1 => self.newest.to_string(),
            _ => format!("{} to {}", self.oldest, self.newest),
        }
    }
}

impl Catalog {
    /// What `[stack]` can name: frameworks, what they run on and load, what follows them, then the rest, by name.
    pub fn packages(&self) -> Vec<Known> {
        let mut known: BTreeMap<&str, Vec<Version>> = BTreeMap::new();
        let mut add = |name, version| known.entry(name).or_default().push(version);
        self.builds.iter().for_each(|row| add(&*row.package, row.version));
        self.companions.iter().for_each(|row| add(&*row.package, row.version));
        STACK_PARTS.into_iter().for_each(|part| self.versions_of(part).into_iter().for_each(|one| add(part, one)));
        let first: Vec<&str> = FRAMEWORKS.iter().copied().chain(STACK_PARTS).collect();
        // What follows no framework comes last.
        let alone = |name: &str| self.companions.of(name).iter().any(Companion::follows_cuda);
        let place =
            |name: &str| first.iter().position(|one| *one == name).unwrap_or(first.len() + usize::from(alone(name)));
        let mut packages: Vec<Known> = known.into_iter().filter_map(|(name, versions)| of(name, versions)).collect();
        packages.sort_unstable_by(|a, b| (place(&a.name), &a.name).cmp(&(place(&b.name), &b.name)));
        packages
    }

    /// The repositories of images, with how many tags of each are known.
    pub fn repositories(&self) -> Vec<(String, usize)> {
        let mut tags: BTreeMap<&str, usize> = BTreeMap::new();
        self.images.iter().for_each(|row| *tags.entry(&*row.repository).or_default() += 1);
        tags.into_iter().map(|(name, tags)| (name.to_string(), tags)).collect()
    }

    /// Everything that has a name to be written in gpuenv.toml.
    pub fn shelves(&self) -> Vec<Shelf> {
        SHELVES.iter().map(|(kind, written)| self.shelf(kind, written)).collect()
    }

    fn shelf(&self, kind: &'static str, written: &'static str) -> Shelf {
        let mut summary = Vec::new();
        let names: Vec<(String, String)> = match kind {
            "packages" => {
                let says = |one: &Known| (one.name.clone(), format!("{}, {} releases", one.range(), one.releases));
                let packages = self.packages();
                summary.extend(packages.iter().map(|one| format!("{} {}", one.name, one.range())));
                packages.iter().map(says).collect()
            }
            "gpus" => {
                summary = self.generations();
                let class = |class| if class == Class::Datacenter { ", data-centre" } else { "" };
                let says = |gpu: &super::rows::Gpu| {
                    format!("compute capability {}, {}{}", gpu.cc, gpu.architecture, class(gpu.class))
                };
                self.gpus.iter().map(|gpu| (gpu.name.to_string(), says(gpu))).collect()
            }
            "drivers" => {
                let cuda = |row: &super::rows::Branch| {
                    row.cuda.as_ref().map_or(String::new(), |cuda| format!("up to CUDA {cuda}"))
                };
                let end = |row: &super::rows::Branch| {
                    row.eol.as_ref().map_or(String::new(), |eol| format!(", support ends {eol}"))
                };
                self.branches.iter().rev().map(|row| (row.branch.to_string(), cuda(row) + &end(row))).collect()
            }
            "systems" => {
                let known = self.oses.iter().filter(|row| row.refused.is_none());
                known.map(|row| (row.id.to_string(), row.name.to_string())).collect()
            }
            "images" => {
                let says = |(name, tags): (String, usize)| (name, format!("{tags} tags"));
                self.repositories().into_iter().map(says).collect()
            }
            _ => self.rules.iter().map(|rule| (rule.id.to_string(), rule.says.to_string())).collect(),
        };
        if summary.is_empty() {
            summary = names.iter().map(|(name, _)| name.clone()).collect();
        }
        Shelf { kind, written, names, summary }
    }

    /// The architectures of GPUs, the newest first, with their products counted: `Hopper (9.0): 12`.
    fn generations(&self) -> Vec<String> {
        let mut counts: BTreeMap<_, usize> = BTreeMap::new();
        self.gpus.iter().for_each(|gpu| *counts.entry((gpu.cc, &*gpu.architecture)).or_default() += 1);
        counts.into_iter().rev().map(|((cc, name), count)| format!("{name} ({cc}): {count}")).collect()
    }
}

fn of(name: &str, versions: Vec<Version>) -> Option<Known> {
    let versions = distinct(versions);
    let (oldest, newest) = (versions.first()?, versions.last()?);
    Some(Known { name: name.to_string(), oldest: *oldest, newest: *newest, releases: versions.len() })
}

#[cfg(test)]
mod tests {
    use super::super::BUILTIN;
    use super::*;

    #[test]
    fn every_kind_has_names_and_packages_begin_with_the_frameworks() {
        let shelves = BUILTIN.shelves();
        assert_eq!(shelves.len(), SHELVES.len());
        for shelf in &shelves {
            assert!(shelf.names.len() > 3 && !shelf.summary.is_empty(), "{}", shelf.kind);
        }
        let packages: Vec<String> = BUILTIN.packages().into_iter().map(|package| package.name).collect();
        assert_eq!(packages[..4], ["torch", "tensorflow", "jax", "python"]);
        assert!(packages.contains(&"vllm".to_string()));
    }
}
