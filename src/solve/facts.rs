//! The catalog and its rules, and what is asked of them by themselves, whatever is to be solved.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::catalog::Catalog;
use crate::catalog::rows::{Cudnn, Nccl, Python, Subject, Toolkit};
use crate::types::{Constraint, Specifier, Text, Version};

use super::demand::Demand;
use super::kept::Kept;
use super::kits::Kit;
use super::rules::Rules;
use super::wants::Wants;

/// What is locked, and what `[packages]` asks for as it is written.
pub type Asked = (Vec<(String, Version)>, Vec<(String, String)>);

/// Packages, each with what is asked for of it.
pub type Coming<'c> = BTreeMap<&'c str, Specifier>;

/// The catalog and its rules.
#[derive(Debug)]
pub struct Facts<'c> {
    /// The rows.
    pub catalog: &'c Catalog,
    /// The rules among them.
    pub rules: Rules<'c>,
    /// Driver releases at which some answer can change, whatever the GPU.
    turning_points: OnceCell<Rc<[&'c Version]>>,
    demands: RefCell<FxHashMap<&'c str, Rc<Demand<'c>>>>,
    /// What releases ask for of packages that nothing is solved with, by their package.
    wants: Kept<(String, Option<Version>), Wants<'c>>,
    /// The metapackages of toolkit releases.
    kits: OnceCell<Rc<[Kit<'c>]>>,
    /// Ranges of versions, by their text.
    ranges: Kept<&'static str, Option<Constraint>>,
    /// What comes along with what is locked and asked for.
    pub(super) coming: Kept<Asked, Coming<'c>>,
    /// Whether no release that is asked for of an ordinary package is for a line of Python.
    pub(super) without_release: Kept<(String, String, Version), bool>,
}

impl<'c> Facts<'c> {
    /// Those of a catalog.
    pub fn new(catalog: &'c Catalog) -> Self {
        let rules = Rules::new(catalog);
        Facts {
            catalog,
            rules,
            turning_points: OnceCell::new(),
            demands: RefCell::default(),
            wants: Kept::default(),
            kits: OnceCell::new(),
            ranges: Kept::default(),
            coming: Kept::default(),
            without_release: Kept::default(),
        }
    }

    /// Whether something came out less than a year before the catalog's own day.
    pub fn is_young(&self, date: Option<&str>) -> bool {
        let day = self.catalog.day();
        let Some((year, rest)) = day.split_once('-') else { return false };
        let a_year_before = year.parse::<u32>().map(|year| format!("{}-{rest}", year.saturating_sub(1)));
        date.zip(a_year_before.ok()).is_some_and(|(date, before)| *date > *before)
    }

    /// Whether releases of a package are chosen: of an ordinary one an installer chooses.
    pub fn is_solved(&self, package: &str) -> bool {
        !self.catalog.companions.of(package).is_empty() || !self.catalog.builds.of(package).is_empty()
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

    /// The metapackages of toolkit releases.
    pub fn kits(&self) -> Rc<[Kit<'c>]> {
        self.kits.get_or_init(|| Kit::all(self.catalog).into()).clone()
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

    /// What the releases of a package ask for on every Python, each range read once.
    pub fn wants(&self, package: &str) -> Rc<Wants<'c>> {
        self.wants_on(None, package)
    }

    /// The same on a line of Python.
    pub fn wants_on(&self, python: Option<Version>, package: &str) -> Rc<Wants<'c>> {
        self.wants.get((package.to_string(), python), || Wants::of(self.catalog, package, python))
    }

    /// What a row writes as a range of versions, read once; none where it cannot be read.
    pub fn range(&self, text: Text) -> Rc<Option<Constraint>> {
        self.ranges.get(text.as_str(), || Constraint::parse(&text).ok())
    }

    /// A requirement of images, read once.
    pub fn demand(&self, text: &'c str) -> Rc<Demand<'c>> {
        self.demands.borrow_mut().entry(text).or_insert_with(|| Rc::new(Demand::parse(text))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::BUILTIN;

    /// Lines are compared with lines: `cu12` is of the newest line of CUDA 12, and no release of it.
    #[test]
    fn a_major_takes_the_newest_line() {
        let facts = Facts::new(&BUILTIN);
        let line = |text: &str| facts.newest_of(Version::parse(text).unwrap()).as_str().to_string();
        assert_eq!((line("12").as_str(), line("12.4").as_str(), line("99").as_str()), ("12.9", "12.4", "99"));
    }
}
