//! The drivers a target may have, and what they admit.
//!
//! Of nearly six hundred releases only those matter at which some answer changes: the oldest of each branch
//! and the first at or above each number that a rule names.

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::catalog::rows::{Branch, Compat, Os, Subject};
use crate::words::{Cc, Constraint, Version};

use super::class::Class;
use super::question::{DriverAsk, GpuAsk, Question};
use super::rulebook::law;

/// A driver as the solver sees it: a kernel driver, alone or with cuda-compat before it.
#[derive(Debug, Clone)]
pub struct DriverRow<'c> {
    /// The release.
    pub version: Version,
    /// Its branch's row; of an unlisted branch, the nearest older one's.
    pub branch: &'c Branch,
    /// The compat package whose libcuda is loaded instead of the driver's own.
    pub compat: Option<&'c Compat>,
}

impl<'c> DriverRow<'c> {
    /// The version whose libcuda a process loads.
    pub fn user_mode(&self) -> &Version {
        self.compat.map_or(&self.version, |compat| &compat.branch)
    }

    /// The CUDA version that libcuda tells.
    pub fn cuda(&self) -> Option<&'c Version> {
        match self.compat {
            Some(compat) => Some(&compat.cuda),
            None => self.branch.cuda.as_ref(),
        }
    }
}

/// The row of a driver's branch, or of the nearest older branch known.
pub fn branch_of<'c>(catalog: &'c Catalog, version: &Version) -> Option<&'c Branch> {
    let after = catalog.branches.partition_point(|row| row.branch.major() <= version.major());
    catalog.branches.get(after.saturating_sub(1))
}

/// Releases at which an answer can change, oldest first.
pub fn candidates<'q, 'c>(question: &'q Question<'c>) -> &'q [&'c Version] {
    question.rules.turning_points(|| {
        let drivers = &question.catalog.drivers;
        let mut picked: Vec<usize> = Vec::new();
        let mut pick_from = |bound: &Version| {
            let first = drivers.partition_point(|row| row.version < *bound);
            picked.extend(drivers[first..].iter().position(|row| !row.beta).map(|at| first + at));
        };
        question.catalog.branches.iter().for_each(|row| pick_from(&row.branch));
        question.catalog.compats.iter().flat_map(|row| row.bases.iter()).for_each(&mut pick_from);
        for rule in question.rules.on(Subject::Driver) {
            rule.needs.comparisons().filter_map(|one| one.version.as_ref()).for_each(&mut pick_from);
        }
        picked.sort();
        picked.dedup();
        picked.into_iter().map(|at| &drivers[at].version).collect()
    })
}

/// The drivers a class may have: what is said of them, and of its GPUs.
pub fn rows<'c>(
    question: &Question<'c>,
    class: &Class<'_, 'c>,
    candidates: &[&'c Version],
    forward_compat: bool,
) -> Vec<DriverRow<'c>> {
    let catalog = question.catalog;
    let candidates = &with_first_listings(catalog, class, candidates);
    let plain = |version: &Version| {
        branch_of(catalog, version).map(|branch| DriverRow { version: *version, branch, compat: None })
    };
    let mut rows: Vec<DriverRow> = match &class.target.driver {
        DriverAsk::Exact(version) => plain(version).into_iter().collect(),
        DriverAsk::Free(bound) => candidates
            .iter()
            .filter(|version| bound.as_ref().is_none_or(|bound| bound.admits(version)))
            .filter_map(|version| plain(version))
            .collect(),
        DriverAsk::AtWorst(constraint) => {
            worst_branch(catalog, constraint, candidates).iter().filter_map(plain).collect()
        }
        DriverAsk::Cuda(cuda) => {
            let branch = branch_telling(catalog, cuda);
            let within = candidates.iter().filter(|version| branch.is_some_and(|row| is_of(version, row)));
            within.filter_map(|version| plain(version)).collect()
        }
    };
    if class
        .target
        .named_gpus()
        .iter()
        .any(|gpu| !comes_with(question, class, gpu) || !runs_under(question, class, gpu))
    {
        return Vec::new();
    }
    rows.retain(|row| knows_gpus(class, &row.version));
    if !matches!(class.target.driver, DriverAsk::Exact(_)) {
        prefer_drivers_that_list_the_gpu(class, &mut rows);
    }
    if forward_compat && !matches!(class.target.driver, DriverAsk::Free(_)) {
        let with_compat: Vec<DriverRow> = rows.iter().flat_map(|row| with_compat(question, class, row)).collect();
        rows.extend(with_compat);
    }
    rows
}

fn is_of(version: &Version, branch: &Branch) -> bool {
    version.major() == branch.branch.major()
}

/// The oldest branch whose nvidia-smi shows a CUDA version; of a number that none shows, the next lower one, so
/// that nothing is promised which the hosts may lack.
fn branch_telling<'c>(catalog: &'c Catalog, cuda: &Version) -> Option<&'c Branch> {
    let told = || catalog.branches.iter().filter_map(|row| Some((row.cuda.as_ref()?, row)));
    let shown = told().map(|(shown, _)| shown).filter(|shown| *shown <= cuda).max();
    let shown = shown.or_else(|| told().map(|(shown, _)| shown).min())?;
    told().find(|(known, _)| *known == shown).map(|(_, row)| row)
}

/// Whether a product is sold with the target's kind of CPU: a Grace Hopper module has no x86_64 beside it.
fn comes_with(question: &Question<'_>, class: &Class<'_, '_>, gpu: &GpuAsk<'_>) -> bool {
    let cpu = gpu.row.and_then(|row| row.cpu);
    cpu.is_none_or(|cpu| cpu == class.target.arch) || !question.holds(law::PRODUCT_CPU, &class.target.name)
}

/// Whether the target's system has a driver for a board: a JetPack is made for some Jetsons.
fn runs_under(question: &Question<'_>, class: &Class<'_, '_>, gpu: &GpuAsk<'_>) -> bool {
    let elsewhere = |os: &Os| !os.boards.is_empty() && !os.boards.contains(&gpu.cc_version);
    !class.target.os.is_some_and(elsewhere) || !question.holds(law::SYSTEM_BOARDS, &class.target.name)
}

/// The releases that first list one of a class's boards join the candidates.
fn with_first_listings<'c>(
    catalog: &'c Catalog,
    class: &Class<'_, 'c>,
    candidates: &[&'c Version],
) -> Vec<&'c Version> {
    let listed = class.target.named_gpus().iter().filter_map(|gpu| gpu.row?.first_driver.as_ref());
    let mut all = candidates.to_vec();
    for first in listed {
        let from = catalog.drivers.partition_point(|row| row.version < *first);
        all.extend(catalog.drivers[from..].iter().find(|row| !row.beta).map(|row| &row.version));
    }
    all.sort();
    all.dedup();
    all
}

/// The candidates within the oldest branch a constraint admits: what the hosts have at worst.
fn worst_branch(catalog: &Catalog, constraint: &Constraint, candidates: &[&Version]) -> Vec<Version> {
    let Some(oldest) = catalog.drivers.iter().find(|row| constraint.admits(&row.version)) else {
        let bounds = constraint.comparisons().filter_map(|one| one.version);
        return bounds.min().into_iter().collect();
    };
    let branch = oldest.version.major();
    let within = candidates.iter().filter(|version| version.major() == branch && constraint.admits(version));
    let mut versions: Vec<Version> = within.map(|version| **version).collect();
    if versions.iter().all(|version| *version != oldest.version) {
        versions.insert(0, oldest.version);
    }
    versions
}

/// A release that lists the boards is a safer minimum than one that merely knows their generation. A family name
/// is no reason to ask for the release of its rarest member, so of each capability the board listed first counts.
fn prefer_drivers_that_list_the_gpu(class: &Class<'_, '_>, rows: &mut Vec<DriverRow<'_>>) {
    let mut listed: BTreeMap<Cc, &Version> = BTreeMap::new();
    for gpu in class.target.named_gpus() {
        if let Some(first) = gpu.row.and_then(|row| row.first_driver.as_ref()) {
            let known = listed.entry(gpu.cc).or_insert(first);
            *known = first.min(*known);
        }
    }
    let listing = |row: &DriverRow| listed.values().all(|first| row.version >= **first);
    if rows.iter().any(listing) {
        rows.retain(listing);
    }
}

/// Every driver that knows the generation of a class's GPUs, whether it lists the boards or not, oldest first.
pub fn rows_of_generation<'c>(
    question: &Question<'c>,
    class: &Class<'_, 'c>,
    candidates: &[&'c Version],
) -> Vec<DriverRow<'c>> {
    let drivers = candidates.iter().filter_map(|version| {
        let branch = branch_of(question.catalog, version)?;
        Some(DriverRow { version: **version, branch, compat: None })
    });
    drivers.filter(|row| knows_gpus(class, &row.version)).collect()
}

/// Whether every GPU of a class is driven by a release, as far as rules tell.
fn knows_gpus(class: &Class<'_, '_>, version: &Version) -> bool {
    class.gpus.iter().all(|gpu| gpu.driver.iter().all(|needs| needs.needs.admits(version)))
}

/// Every driver of any branch on which one cuda-compat package serves a class, oldest first.
pub fn rows_with<'c>(
    question: &Question<'c>,
    class: &Class<'_, 'c>,
    candidates: &[&'c Version],
    compat: &Compat,
) -> Vec<DriverRow<'c>> {
    let drivers = rows_of_generation(question, class, candidates);
    let rows = drivers.iter().flat_map(|row| with_compat(question, class, row));
    rows.filter(|row| row.compat.is_some_and(|with| with.cuda == compat.cuda)).collect()
}

/// The same driver with each cuda-compat package that may stand before it.
fn with_compat<'c>(question: &Question<'c>, class: &Class<'_, 'c>, row: &DriverRow<'c>) -> Vec<DriverRow<'c>> {
    let eligible = !class.gpus.is_empty()
        && class.gpus.iter().all(|gpu| gpu.gpu.is_datacenter())
        && question.holds(law::FORWARD_COMPAT, &class.target.name);
    if !eligible {
        return Vec::new();
    }
    let serves = |compat: &&Compat| {
        compat.branch.major() > row.version.major()
            && compat.bases.iter().any(|base| base.major() == row.version.major() && *base <= row.version)
            && knows_gpus(class, &compat.branch)
    };
    let compats = question.catalog.compats.iter().filter(serves);
    compats.map(|compat| DriverRow { compat: Some(compat), ..row.clone() }).collect()
}
