//! The drivers a target may have, and what they admit.
//!
//! Of nearly six hundred releases only those matter at which some answer changes: the oldest of each branch
//! and the first at or above each number that a rule names.

use crate::catalog::Catalog;
use crate::catalog::rows::{Branch, Compat, Subject};
use crate::words::{Constraint, Version};

use super::class::Class;
use super::question::{DriverAsk, Question};
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
pub fn candidates<'c>(question: &Question<'c>) -> Vec<&'c Version> {
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
    for target in &question.targets {
        let first_drivers = target.named_gpus().iter().filter_map(|gpu| gpu.row?.first_driver.as_ref());
        first_drivers.for_each(&mut pick_from);
    }
    picked.sort_unstable();
    picked.dedup();
    picked.into_iter().map(|at| &drivers[at].version).collect()
}

/// The drivers a class may have: what is said of them, and of its GPUs.
pub fn rows<'c>(
    question: &Question<'c>,
    class: &Class<'_, 'c>,
    candidates: &[&'c Version],
    forward_compat: bool,
) -> Vec<DriverRow<'c>> {
    let catalog = question.catalog;
    let plain = |version: &Version| {
        branch_of(catalog, version).map(|branch| DriverRow { version: version.clone(), branch, compat: None })
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
            let told = catalog.branches.iter().find(|row| row.cuda.as_ref().is_some_and(|told| told >= cuda));
            told.into_iter()
                .flat_map(|branch| candidates.iter().filter(|version| version.major() == branch.branch.major()))
                .filter_map(|version| plain(version))
                .collect()
        }
    };
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

/// The candidates within the oldest branch a constraint admits: what the hosts have at worst.
fn worst_branch(catalog: &Catalog, constraint: &Constraint, candidates: &[&Version]) -> Vec<Version> {
    let Some(oldest) = catalog.drivers.iter().find(|row| constraint.admits(&row.version)) else {
        let bounds = constraint.comparisons().filter_map(|one| one.version.clone());
        return bounds.min().into_iter().collect();
    };
    let branch = oldest.version.major();
    let within = candidates.iter().filter(|version| version.major() == branch && constraint.admits(version));
    let mut versions: Vec<Version> = within.map(|version| (*version).clone()).collect();
    if versions.iter().all(|version| *version != oldest.version) {
        versions.insert(0, oldest.version.clone());
    }
    versions
}

/// A release that lists the board is a safer minimum than one that merely knows its generation.
fn prefer_drivers_that_list_the_gpu(class: &Class<'_, '_>, rows: &mut Vec<DriverRow<'_>>) {
    let listed = class.gpus.iter().filter_map(|gpu| gpu.gpu.row?.first_driver.as_ref()).max();
    if let Some(first) = listed.filter(|first| rows.iter().any(|row| row.version >= **first)) {
        rows.retain(|row| row.version >= *first);
    }
}

/// Every driver that may be called a minimum: one that lists the GPUs, unless the hosts' own driver, which
/// serves all the same, does not either.
pub fn sufficient<'c>(
    question: &Question<'c>,
    class: &Class<'_, 'c>,
    candidates: &[&'c Version],
    judged: &Version,
) -> Vec<DriverRow<'c>> {
    let mut rows: Vec<DriverRow> = candidates
        .iter()
        .filter_map(|version| {
            let branch = branch_of(question.catalog, version)?;
            Some(DriverRow { version: (*version).clone(), branch, compat: None })
        })
        .collect();
    rows.retain(|row| knows_gpus(class, &row.version));
    if class.gpus.iter().filter_map(|gpu| gpu.gpu.row?.first_driver.as_ref()).all(|first| first <= judged) {
        prefer_drivers_that_list_the_gpu(class, &mut rows);
    }
    rows
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
    let drivers = candidates.iter().filter_map(|version| {
        let branch = branch_of(question.catalog, version)?;
        Some(DriverRow { version: (*version).clone(), branch, compat: None })
    });
    let rows = drivers.filter(|row| knows_gpus(class, &row.version)).flat_map(|row| with_compat(question, class, &row));
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
