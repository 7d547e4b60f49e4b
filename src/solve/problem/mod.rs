//! The catalog compiled for solving: tables of rows, and for each law the rows that it refuses.
//!
//! Every part is worked out when a request first needs it, and never again: a request for a spec, the same without one of
//! its lines, or with another value differ in which parts they join, not in the parts. What a part depends on stands in
//! its key, as values.

mod framework;
pub mod law;
mod package;
mod rules;

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Companion, Cudnn, Nccl, Python, Subject, Toolkit};
use crate::types::Version;

use super::image::{Demand, ImageKey, Images};
use super::machine::{Machine, Reading};
use super::rowset::RowSet;

pub use framework::Framework;
pub use law::RuleId;
pub use package::Package;
pub use rules::{Needs, PackageRules, Rules};

/// Everything that requests have in common.
#[derive(Debug)]
pub struct Problem<'c> {
    /// The facts.
    pub catalog: &'c Catalog,
    /// The rules among them.
    pub rules: Rules<'c>,
    frameworks: Vec<(&'c [Build], OnceCell<Framework<'c>>)>,
    packages: Vec<(&'c [Companion], OnceCell<Package<'c>>)>,
    /// Driver releases at which some answer can change, whatever the GPU.
    turning_points: OnceCell<Rc<[&'c Version]>>,
    machines: RefCell<FxHashMap<Reading<'c>, Rc<Machine<'c>>>>,
    images: RefCell<FxHashMap<ImageKey<'c>, Rc<Images<'c>>>>,
    demands: RefCell<FxHashMap<&'c str, Rc<Demand<'c>>>>,
}

impl<'c> Problem<'c> {
    /// Nothing is worked out yet.
    pub fn new(catalog: &'c Catalog) -> Self {
        let builds = catalog.builds.chunk_by(|one, next| one.package == next.package);
        let companions = catalog.companions.chunk_by(|one, next| one.package == next.package);
        Problem {
            catalog,
            rules: Rules::new(catalog),
            frameworks: builds.map(|builds| (builds, OnceCell::new())).collect(),
            packages: companions.map(|rows| (rows, OnceCell::new())).collect(),
            turning_points: OnceCell::new(),
            machines: RefCell::default(),
            images: RefCell::default(),
            demands: RefCell::default(),
        }
    }

    /// The releases of a framework; none of a name that is no framework's.
    pub fn framework(&self, package: &str) -> Option<&Framework<'c>> {
        let (builds, known) = self.frameworks.iter().find(|(builds, _)| builds[0].package == package)?;
        Some(known.get_or_init(|| Framework::new(self.catalog, builds)))
    }

    /// The releases of a package that follows a framework; none of a name that is none's.
    pub fn package(&self, name: &str) -> Option<&Package<'c>> {
        let (rows, known) = self.packages.iter().find(|(rows, _)| rows[0].package == name)?;
        Some(known.get_or_init(|| Package::new(self.catalog, rows)))
    }

    /// The releases of a package that are for a line of Python, and so is what they pin of others, which comes along.
    pub fn for_python(&self, package: &Package<'c>, line: &Version) -> RowSet {
        let comes = |(pinned, version): (&str, &str)| {
            self.package(pinned).is_none_or(|pinned| pinned.has_for_python(version, line))
        };
        let accepting = package.accepting_python(line);
        accepting.filtered(&|row| package.releases[row].pinned().all(comes))
    }

    /// Every package that `[stack]` may name, frameworks first.
    pub fn package_names(&self) -> impl Iterator<Item = &'c str> {
        let frameworks = self.frameworks.iter().map(|(builds, _)| &*builds[0].package);
        frameworks.chain(self.packages.iter().map(|(rows, _)| &*rows[0].package))
    }

    /// Whether something came out less than a year before the catalog's own day, `2026.11.22`.
    pub fn is_young(&self, date: Option<&str>) -> bool {
        let day = self.catalog.version.replace('.', "-");
        let Some((year, rest)) = day.split_once('-') else { return false };
        let a_year_before = year.parse::<u32>().map(|year| format!("{}-{rest}", year.saturating_sub(1)));
        date.zip(a_year_before.ok()).is_some_and(|(date, before)| *date > *before)
    }

    /// The lines of Python, newest first.
    pub fn pythons(&self) -> Rc<[&'c Python]> {
        self.catalog.pythons.iter().rev().collect()
    }

    /// The releases of cuDNN, newest first.
    pub fn cudnns(&self) -> Rc<[&'c Cudnn]> {
        self.catalog.cudnns.iter().rev().collect()
    }

    /// The releases of NCCL, newest first.
    pub fn nccls(&self) -> Rc<[&'c Nccl]> {
        self.catalog.nccls.iter().rev().collect()
    }

    /// The toolkits, newest first.
    pub fn toolkits(&self) -> Rc<[&'c Toolkit]> {
        self.catalog.toolkits.iter().rev().collect()
    }

    /// A variant that names a major only (`cu12`) takes the newest libraries of that major.
    pub fn newest_of(&self, line: Version) -> Version {
        if line.len() > 1 {
            return line;
        }
        let of_major = self.catalog.toolkits.iter().rev().find(|row| row.version.major() == line.major());
        of_major.map_or(line, |row| row.version.prefix(2))
    }

    /// Driver releases at which an answer can change, oldest first: the oldest of each branch, and the first at or above
    /// each number that a rule or a cuda-compat package names.
    pub fn turning_points(&self) -> Rc<[&'c Version]> {
        let find = || {
            let drivers = &self.catalog.drivers;
            let mut picked: Vec<usize> = Vec::new();
            let mut pick_from = |bound: &Version| {
                let first = drivers.partition_point(|row| row.version < *bound);
                picked.extend(drivers[first..].iter().position(|row| !row.beta).map(|at| first + at));
            };
            self.catalog.branches.iter().for_each(|row| pick_from(&row.branch));
            self.catalog.compats.iter().flat_map(|row| row.bases.iter()).for_each(&mut pick_from);
            for rule in self.rules.on(Subject::Driver) {
                rule.needs.comparisons().filter_map(|one| one.version.as_ref()).for_each(&mut pick_from);
            }
            picked.sort_unstable();
            picked.dedup();
            picked.into_iter().map(|at| &drivers[at].version).collect()
        };
        self.turning_points.get_or_init(find).clone()
    }

    /// The machine that a reading of a target describes.
    pub fn machine(&self, reading: Reading<'c>) -> Rc<Machine<'c>> {
        if let Some(known) = self.machines.borrow().get(&reading) {
            return known.clone();
        }
        let id = self.machines.borrow().len();
        let machine = Rc::new(Machine::new(self, id, reading.clone()));
        self.machines.borrow_mut().insert(reading, machine.clone());
        machine
    }

    /// The images that serve, preferred first.
    pub fn images(&self, key: ImageKey<'c>, find: impl FnOnce() -> Images<'c>) -> Rc<Images<'c>> {
        if let Some(known) = self.images.borrow().get(&key) {
            return known.clone();
        }
        let images = Rc::new(find());
        self.images.borrow_mut().insert(key, images.clone());
        images
    }

    /// A requirement of images, read once.
    pub fn demand(&self, text: &'c str) -> Rc<Demand<'c>> {
        self.demands.borrow_mut().entry(text).or_insert_with(|| Rc::new(Demand::parse(text))).clone()
    }
}
