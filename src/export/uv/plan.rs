//! Which wheel, constraint and index is for whom: for all, for the platforms of one processor, or for one target.

use std::collections::{BTreeMap, BTreeSet};

use crate::lock::{ConstraintLock, Lock, Wheel};
use crate::types::{CpuArch, name};

use super::super::format::{Targets, names};
use super::super::ordinary;
use super::super::wheels::{WITH_NIGHTLIES, nightlies};
use super::super::{ExportError, own, valid};

/// Something with those it is for.
#[derive(Debug)]
pub struct Entry<'a, T> {
    pub of: &'a T,
    /// The extra it belongs to; none: it is for all.
    pub extra: Option<String>,
    /// The platform, where it is not for all.
    pub marker: Option<String>,
}

/// Where a package comes from.
#[derive(Debug)]
pub struct Source<'a> {
    pub package: &'a str,
    pub index: &'a str,
    pub extra: Option<&'a String>,
    pub marker: Option<&'a String>,
}

/// The extra, the package, and what tells one entry of both from another.
type Key = (Option<String>, String, String);

/// What is written.
#[derive(Debug, Default)]
pub struct Plan<'a> {
    pub arches: BTreeSet<CpuArch>,
    /// One for each target, where targets on one platform differ.
    pub extras: Vec<String>,
    pub wheels: Vec<Entry<'a, Wheel>>,
    pub constraints: Vec<Entry<'a, ConstraintLock>>,
    /// Requirements of ordinary packages, for all or by extra.
    pub ordinary: Vec<(String, Option<String>)>,
    /// Packages that somebody installs himself: nothing may bring another build of them.
    pub excluded: BTreeSet<String>,
    /// Every wheel.
    pub all: Vec<&'a Wheel>,
}

impl<'a> Plan<'a> {
    pub fn new(lock: &'a Lock, targets: &Targets<'a>) -> Result<Plan<'a>, ExportError> {
        let mut plan = Plan::default();
        let mut of_arch: BTreeMap<CpuArch, &'a str> = BTreeMap::new();
        let mut differ = false;
        for (name, target) in targets {
            let arch = valid::cpu_arch(&target.arch)?;
            plan.arches.insert(arch);
            match of_arch.get(&arch) {
                Some(first) => differ |= what(lock, first) != what(lock, name),
                None => drop(of_arch.insert(arch, name)),
            }
        }
        let mut wheels: Vec<(&'a Wheel, Option<String>, CpuArch)> = Vec::new();
        let mut beside: Vec<(&'a ConstraintLock, Option<String>, CpuArch)> = Vec::new();
        if differ {
            plan.extras = extras(targets)?;
            for ((name, target), extra) in targets.iter().zip(&plan.extras) {
                let arch = valid::cpu_arch(&target.arch)?;
                wheels.extend(lock.wheels_of(name).map(|wheel| (wheel, Some(extra.clone()), arch)));
                beside.extend(lock.constraints_of(name).map(|one| (one, Some(extra.clone()), arch)));
            }
        } else {
            for (arch, name) in &of_arch {
                wheels.extend(lock.wheels_of(name).map(|wheel| (wheel, None, *arch)));
                beside.extend(lock.constraints_of(name).map(|one| (one, None, *arch)));
            }
        }
        plan.ordinary(lock, targets, differ)?;
        if wheels.is_empty() && plan.ordinary.is_empty() {
            return Err(own::nothing(lock, targets));
        }
        for (name, target) in targets {
            plan.excluded.extend(own::packages_nowhere(lock, name, target)?);
        }
        plan.all = wheels.iter().map(|(wheel, _, _)| *wheel).collect();
        plan.excluded.retain(|package| !plan.all.iter().any(|wheel| wheel.package == *package));
        plan.wheels = plan.distinct(wheels, |wheel| (wheel.requirement(), wheel.package.clone()));
        plan.wheels
            .sort_by(|one, other| (&one.of.package, &one.of.version).cmp(&(&other.of.package, &other.of.version)));
        plan.constraints = plan.distinct(beside, |one| (one.version.clone(), one.package.clone()));
        Ok(plan)
    }

    /// What `[packages]` asks for and wheels need: in the extras, where there are some, for without one of them it would
    /// bring a framework along that is not the locked one.
    fn ordinary(&mut self, lock: &Lock, targets: &Targets<'a>, differ: bool) -> Result<(), ExportError> {
        if differ {
            for ((name, _), extra) in targets.iter().zip(&self.extras) {
                let lines = ordinary::lines(&ordinary::of(lock, name)?);
                self.ordinary.extend(lines.into_iter().map(|line| (line, Some(extra.clone()))));
            }
            return Ok(());
        }
        for (name, _) in targets {
            self.ordinary.extend(ordinary::lines(&ordinary::of(lock, name)?).into_iter().map(|line| (line, None)));
        }
        self.ordinary.sort_unstable();
        self.ordinary.dedup();
        Ok(())
    }

    /// Those that differ in `key`, each with the marker of its platforms; no marker if it is for all.
    fn distinct<T>(
        &self,
        rows: Vec<(&'a T, Option<String>, CpuArch)>,
        key: impl Fn(&T) -> (String, String),
    ) -> Vec<Entry<'a, T>> {
        let mut found: BTreeMap<Key, (&'a T, BTreeSet<CpuArch>)> = BTreeMap::new();
        for (of, extra, arch) in rows {
            let (what, package) = key(of);
            found.entry((extra, package, what)).or_insert((of, BTreeSet::new())).1.insert(arch);
        }
        let mut entries = Vec::new();
        for ((extra, _, _), (of, arches)) in found {
            let one = arches.first().filter(|_| arches.len() < self.arches.len());
            entries.push(Entry { of, extra, marker: one.map(|arch| marker(*arch)) });
        }
        entries
    }

    /// The index of nightlies, where torch comes from one. All those for GPUs have the same Tritons, and the one for the CPU
    /// asks for none: what holds without an extra will do for all.
    pub fn nightlies(&self) -> Option<&str> {
        let all = || self.wheels.iter().filter_map(|entry| nightlies(entry.of));
        all().find(|index| !index.trim_end_matches('/').ends_with("/cpu")).or_else(|| all().next())
    }

    /// Which package comes from which index.
    pub fn sources(&self) -> Vec<Source<'_>> {
        let mut sources = Vec::new();
        for Entry { of, extra, marker } in &self.wheels {
            let Some(index) = of.index.as_deref() else { continue };
            let shared = |other: &&Entry<Wheel>| {
                other.of.package == of.package && other.extra == *extra && other.of.index == of.index
            };
            // A version of its own for each platform, all from one index: one source says it.
            let marker = marker.as_ref().filter(|_| self.wheels.iter().filter(shared).count() < self.arches.len());
            sources.push(Source { package: &of.package, index, extra: extra.as_ref(), marker });
        }
        if let Some(index) = self.nightlies() {
            let of = |package| Source { package, index, extra: None, marker: None };
            sources.extend(WITH_NIGHTLIES.map(of));
        }
        for Entry { of, extra, marker } in &self.constraints {
            let Some(index) = of.index.as_deref() else { continue };
            sources.push(Source { package: &of.package, index, extra: extra.as_ref(), marker: marker.as_ref() });
        }
        sources
    }

    /// A name for every index in use: what follows the host, `pytorch-cu124` without what says nothing.
    pub fn indexes(&self) -> Result<BTreeMap<String, String>, ExportError> {
        let mut named: BTreeMap<String, String> = BTreeMap::new();
        for source in self.sources() {
            let host_and_path = valid::index(source.index)?.split_once("://").map_or("", |(_, rest)| rest);
            let words: Vec<&str> = host_and_path
                .split(|character: char| !character.is_ascii_alphanumeric())
                .filter(|word| !matches!(*word, "" | "download" | "www" | "org" | "com" | "whl" | "simple"))
                .collect();
            let base = if words.is_empty() { "index".to_string() } else { words.join("-") };
            // Two addresses may shorten to one name, which uv refuses.
            let taken = |name: &String| named.iter().any(|(other, taken)| other != source.index && taken == name);
            let mut numbered = (1..).map(|n| if n == 1 { base.clone() } else { format!("{base}-{n}") });
            let name = numbered.find(|name| !taken(name)).unwrap_or_else(|| base.clone());
            named.entry(source.index.to_string()).or_insert(name);
        }
        Ok(named)
    }
}

/// What a target installs, and from where.
fn what(lock: &Lock, target: &str) -> BTreeSet<(String, Option<String>)> {
    lock.wheels_of(target).map(|wheel| (wheel.requirement(), wheel.index.clone())).collect()
}

/// The names of the targets as names of extras.
fn extras(targets: &Targets) -> Result<Vec<String>, ExportError> {
    let mut extras = Vec::new();
    for (name, _) in targets {
        let extra = name::package(valid::package(name)?);
        if extras.contains(&extra) {
            return Err(ExportError::TargetNeeded(names(targets)));
        }
        extras.push(extra);
    }
    Ok(extras)
}

/// What is true on Linux of this processor only.
pub fn marker(arch: CpuArch) -> String {
    format!("sys_platform == 'linux' and platform_machine == '{arch}'")
}
