//! The catalog's rules with their ranges parsed, and numbers for rules and laws alike.

pub mod law;

use std::cell::OnceCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::catalog::Catalog;
use crate::catalog::rows::{Companion, Rule, Subject};
use crate::solve::rowset::RowSet;
use crate::solve::values::{Archs, GpuRequest};
use crate::types::{Constraint, Text, Version};

pub use law::RuleId;

/// Every rule of a catalog, and every law.
#[derive(Debug)]
pub struct Rules<'c> {
    /// Each row with its ranges, which are parsed when somebody asks for it: one question asks for few.
    rows: Vec<(&'c Rule, OnceCell<Option<Rc<Needs<'c>>>>)>,
    /// Where those lie that relate one kind of things to another: whoever asks names both.
    between: FxHashMap<(Subject, Subject), Vec<usize>>,
    /// The numbers of all, and of the laws, by name.
    ids: OnceCell<FxHashMap<&'c str, RuleId>>,
}

/// One rule: where the subject is in `range`, the object must be in `needs`.
#[derive(Debug, Clone)]
pub struct Needs<'c> {
    /// Its number.
    pub id: RuleId,
    /// The row.
    pub row: &'c Rule,
    /// Which subjects it speaks of.
    pub range: Constraint,
    /// What these need.
    pub needs: Constraint,
    /// The GPUs on which alone it holds.
    pub gpu: Option<Constraint>,
    /// The toolkits with which alone it holds.
    pub toolkit: Option<Constraint>,
    /// The CUDA lines beside which alone it holds.
    pub cuda: Option<Constraint>,
}

impl<'c> Needs<'c> {
    /// Parses the ranges of a row. The lint has checked that they parse; one that does not speaks of nothing.
    fn parse(id: RuleId, row: &'c Rule) -> Option<Rc<Self>> {
        let range = |of: &Text| Constraint::parse(of).ok();
        let only = |of: &Option<Text>| of.as_ref().map_or(Some(None), |of| range(of).map(Some));
        Some(Rc::new(Needs {
            id,
            row,
            range: range(&row.range)?,
            needs: range(&row.needs)?,
            gpu: only(&row.gpu)?,
            toolkit: only(&row.toolkit)?,
            cuda: only(&row.cuda)?,
        }))
    }

    /// Whether it speaks of a release that compiles for some architectures and one of these GPUs, by their compute capabilities.
    pub fn speaks_of<'g>(&self, release: &Version, mut gpus: impl Iterator<Item = &'g Version>, archs: Archs) -> bool {
        let heeds = archs == Archs::Listed && self.row.heeds_list.is_some_and(|from| *release >= from);
        !heeds && self.range.admits(release) && self.gpu.as_ref().is_none_or(|of| gpus.any(|gpu| of.admits(gpu)))
    }

    /// Whether it speaks of a GPU: by its compute capability, and if it names boards only of an instance of one.
    pub fn speaks_of_gpu(&self, gpu: &GpuRequest<'_>) -> bool {
        let boards = &self.row.instances;
        let is_one = || gpu.is_instance && boards.iter().any(|board| **board == *gpu.name);
        self.range.admits(&gpu.cc_version) && (boards.is_empty() || is_one())
    }

    /// Whether it speaks of what is loaded beside a framework of a CUDA line; of one without CUDA, only if it does so always.
    pub fn speaks_of_line(&self, line: Option<&Version>) -> bool {
        self.cuda.as_ref().is_none_or(|of| line.is_some_and(|line| of.admits(line)))
    }

    /// Whether a release lets a toolkit compile beside a framework of a CUDA line, of the same major.
    pub fn lets(&self, release: &Version, toolkit: &Version, line: &Version) -> bool {
        let lists = |cuda: &Version| self.row.lists(release, cuda);
        toolkit.cmp_prefix(&line.prefix(2)).is_eq() || lists(toolkit) && lists(line)
    }

    /// Whether it speaks of a release of its package as that comes.
    pub fn binds(&self, row: &Companion) -> bool {
        self.range.admits(&row.version) && (row.systems.is_empty() || !self.row.source_only)
    }

    /// Whether it speaks of what a toolkit compiles.
    pub fn speaks_of_toolkit(&self, toolkit: &Version) -> bool {
        self.toolkit.as_ref().is_none_or(|of| of.admits(toolkit))
    }
}

/// The rules about a package that ask the same thing: few or none.
#[derive(Debug)]
pub struct PackageRules<'a, 'c> {
    /// Each of them.
    pub rules: Vec<&'a Needs<'c>>,
}

impl<'a, 'c> PackageRules<'a, 'c> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &'a Needs<'c>> {
        self.rules.iter().copied()
    }

    /// Those that speak of a release.
    pub fn about(&self, release: &Version) -> impl Iterator<Item = &'a Needs<'c>> {
        self.rules.iter().copied().filter(|rule| rule.range.admits(release))
    }
}

impl<'c> Rules<'c> {
    /// The rules of a catalog.
    pub fn new(catalog: &'c Catalog) -> Self {
        let mut between: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for (at, row) in catalog.rules.iter().enumerate() {
            between.entry((row.subject, row.object)).or_default().push(at);
        }
        let rows = catalog.rules.iter().map(|row| (row, OnceCell::new())).collect();
        Rules { rows, between, ids: OnceCell::new() }
    }

    /// The number of the rule or law with a name.
    pub fn id(&self, name: &str) -> Option<RuleId> {
        let ids = self.ids.get_or_init(|| {
            let laws = law::ALL.iter().copied();
            let mut ids = FxHashMap::default();
            for (id, name) in laws.chain(self.rows.iter().map(|(row, _)| &*row.id)).enumerate() {
                ids.entry(name).or_insert(id);
            }
            ids
        });
        ids.get(name).copied()
    }

    /// The numbers of some rules; a name that means none is left out.
    pub fn ids<'n>(&self, names: impl Iterator<Item = &'n str>) -> RowSet {
        let mut ids = RowSet::default();
        for id in names.filter_map(|name| self.id(name)) {
            ids.insert(id);
        }
        ids
    }

    /// The rule with a number; none if that is a law's.
    pub fn of_id(&self, id: RuleId) -> Option<&Rc<Needs<'c>>> {
        self.parsed(id.checked_sub(law::ALL.len())?)
    }

    /// The rule with a name.
    pub fn named(&self, name: &str) -> Option<&Rc<Needs<'c>>> {
        self.of_id(self.id(name)?)
    }

    /// The rules between two kinds of things.
    pub fn between(&self, subject: Subject, object: Subject) -> impl Iterator<Item = &Rc<Needs<'c>>> {
        self.those_between(subject, object, is_proven)
    }

    /// The rules between two kinds of things that speak of this subject.
    pub fn about(&self, subject: Subject, of: &Version, object: Subject) -> impl Iterator<Item = &Rc<Needs<'c>>> {
        self.between(subject, object).filter(|rule| rule.range.admits(of))
    }

    /// What releases of a package need of an object.
    pub fn of_package(&self, package: &str, object: Subject) -> PackageRules<'_, 'c> {
        let speaks = |row: &Rule| is_proven(row) && row.package.as_deref() == Some(package);
        PackageRules { rules: self.those_between(Subject::Package, object, speaks).map(|rule| &**rule).collect() }
    }

    /// The rules that may speak against a package on a GPU, for all that anybody knows.
    pub fn unproven_on<'a>(&'a self, package: &'a str, gpu: &'a Version) -> impl Iterator<Item = &'a Rc<Needs<'c>>> {
        let speaks = move |row: &Rule| row.unproven && row.package.as_deref() == Some(package);
        self.those_between(Subject::Package, Subject::Gpu, speaks).filter(|rule| !rule.needs.admits(gpu))
    }

    /// What parts of a package's releases need of an object.
    pub fn of_parts<'a>(&'a self, package: &'a str, object: Subject) -> impl Iterator<Item = &'a Rc<Needs<'c>>> {
        self.those_between(Subject::Package, object, move |row| row.part && row.package.as_deref() == Some(package))
    }

    /// Whether a package compares the CUDA that compiles with that of its framework.
    pub fn compares(&self, package: &str) -> bool {
        self.of_parts(package, Subject::Toolkit).next().is_some()
    }

    /// Whether a package takes a CUDA that compiles beside a framework of a line, of the same major.
    pub fn takes(&self, row: &Companion, cuda: &Version, line: &Version) -> bool {
        let speaks = |rule: &&Rc<Needs<'_>>| rule.range.admits(&row.version) && rule.speaks_of_line(Some(line));
        let mut speaking = self.of_parts(&row.package, Subject::Toolkit).filter(speaks);
        speaking.all(|rule| rule.lets(&row.version, cuda, line))
    }

    /// Every rule.
    pub fn all(&self) -> impl Iterator<Item = &Rc<Needs<'c>>> {
        self.that(0..self.rows.len(), is_proven)
    }

    /// Every rule about an object.
    pub fn on(&self, object: Subject) -> impl Iterator<Item = &Rc<Needs<'c>>> {
        self.that(0..self.rows.len(), move |row| is_proven(row) && row.object == object)
    }

    /// The rules that what there is of an object breaks.
    pub fn breaking(&self, object: Subject, has: Version) -> impl Iterator<Item = &Rc<Needs<'c>>> {
        self.on(object).filter(move |rule| !rule.needs.admits(&has))
    }

    fn those_between(
        &self,
        subject: Subject,
        object: Subject,
        is: impl Fn(&Rule) -> bool,
    ) -> impl Iterator<Item = &Rc<Needs<'c>>> {
        self.that(self.between.get(&(subject, object)).into_iter().flatten().copied(), is)
    }

    fn that(
        &self,
        at: impl Iterator<Item = usize>,
        is: impl Fn(&Rule) -> bool,
    ) -> impl Iterator<Item = &Rc<Needs<'c>>> {
        at.filter(move |&at| is(self.rows[at].0)).filter_map(|at| self.parsed(at))
    }

    fn parsed(&self, at: usize) -> Option<&Rc<Needs<'c>>> {
        let (row, parsed) = self.rows.get(at)?;
        parsed.get_or_init(|| Needs::parse(law::ALL.len() + at, row)).as_ref()
    }
}

/// Whether a rule refuses what it speaks against: one of which nobody knows whether it holds, or that is about a part, does not.
fn is_proven(row: &Rule) -> bool {
    !row.unproven && !row.part
}
