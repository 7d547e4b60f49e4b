//! The catalog's rules with their ranges parsed, and numbers for rules and laws alike.

pub mod law;

use std::cell::OnceCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::catalog::Catalog;
use crate::catalog::rows::{Rule, Subject};
use crate::solve::rowset::RowSet;
use crate::solve::values::GpuRequest;
use crate::types::{Constraint, Text, Version};

pub use law::RuleId;

/// Every rule of a catalog, and every law.
#[derive(Debug)]
pub struct Rules<'c> {
    needs: Vec<Rc<Needs<'c>>>,
    /// Those of which nobody knows whether they hold.
    unproven: Vec<Needs<'c>>,
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

impl Needs<'_> {
    /// Whether it tells what the one kind of thing needs of the other.
    pub fn is_between(&self, subject: Subject, object: Subject) -> bool {
        self.row.subject == subject && self.row.object == object
    }

    /// Whether it speaks of a release and one of these GPUs, by their compute capabilities; `listed` where a list of
    /// architectures is insisted on.
    pub fn speaks_of<'g>(&self, release: &Version, mut gpus: impl Iterator<Item = &'g Version>, listed: bool) -> bool {
        let heeds = listed && self.row.heeds_list.is_some_and(|from| *release >= from);
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

    /// Whether it speaks of what a toolkit compiles.
    pub fn speaks_of_toolkit(&self, toolkit: &Version) -> bool {
        self.toolkit.as_ref().is_none_or(|of| of.admits(toolkit))
    }
}

/// The rules about a package that ask the same thing: few or none.
#[derive(Debug)]
pub struct PackageRules<'a, 'c> {
    rules: Vec<&'a Needs<'c>>,
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
    /// Reads every rule of a catalog. The lint has checked that they parse; one that does not speaks of nothing.
    pub fn new(catalog: &'c Catalog) -> Self {
        let needs = catalog.rules.iter().enumerate().filter_map(|(at, row)| {
            let (range, needs) = (Constraint::parse(&row.range).ok()?, Constraint::parse(&row.needs).ok()?);
            let only = |of: &Option<Text>| of.as_ref().map(|of| Constraint::parse(of)).transpose().ok();
            let (gpu, toolkit, cuda) = (only(&row.gpu)?, only(&row.toolkit)?, only(&row.cuda)?);
            Some(Needs { id: law::ALL.len() + at, row, range, needs, gpu, toolkit, cuda })
        });
        let (unproven, needs): (Vec<_>, Vec<_>) = needs.partition(|rule| rule.row.unproven);
        Rules { needs: needs.into_iter().map(Rc::new).collect(), unproven, ids: OnceCell::new() }
    }

    /// The number of the rule or law with a name.
    pub fn id(&self, name: &str) -> Option<RuleId> {
        let ids = self.ids.get_or_init(|| {
            let laws = law::ALL.iter().enumerate().map(|(at, law)| (*law, at));
            let rules = self.all().chain(&self.unproven).map(|rule| (&*rule.row.id, rule.id));
            let mut ids = FxHashMap::default();
            laws.chain(rules).for_each(|(name, id)| _ = ids.entry(name).or_insert(id));
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

    /// The rules between two kinds of things.
    pub fn between(&self, subject: Subject, object: Subject) -> impl Iterator<Item = &Needs<'c>> {
        self.all().filter(move |rule| rule.is_between(subject, object))
    }

    /// The rules between two kinds of things that speak of this subject.
    pub fn about<'a>(&'a self, subject: Subject, of: &Version, object: Subject) -> impl Iterator<Item = &'a Needs<'c>> {
        self.between(subject, object).filter(|rule| rule.range.admits(of))
    }

    /// What releases of a package need of an object.
    pub fn of_package<'a>(&'a self, package: &str, object: Subject) -> PackageRules<'a, 'c> {
        let speaks = |rule: &&Needs| {
            (rule.row.subject, rule.row.object) == (Subject::Package, object)
                && rule.row.package.as_deref() == Some(package)
        };
        PackageRules { rules: self.all().filter(speaks).collect() }
    }

    /// The rules that may speak against a package on a GPU, for all that anybody knows.
    pub fn unproven_on<'a>(&'a self, package: &'a str, gpu: &'a Version) -> impl Iterator<Item = &'a Needs<'c>> {
        let speaks = move |rule: &&Needs| {
            rule.is_between(Subject::Package, Subject::Gpu)
                && rule.row.package.as_deref() == Some(package)
                && !rule.needs.admits(gpu)
        };
        self.unproven.iter().filter(speaks)
    }

    /// Every rule.
    pub fn all(&self) -> impl Iterator<Item = &Needs<'c>> {
        self.needs.iter().map(|rule| &**rule)
    }

    /// Every rule, to be kept.
    pub fn shared(&self) -> impl Iterator<Item = &Rc<Needs<'c>>> {
        self.needs.iter()
    }

    /// Every rule about an object.
    pub fn on(&self, object: Subject) -> impl Iterator<Item = &Needs<'c>> {
        self.all().filter(move |rule| rule.row.object == object)
    }

    /// The rules that what there is of an object breaks.
    pub fn breaking(&self, object: Subject, has: Version) -> impl Iterator<Item = Rc<Needs<'c>>> {
        self.shared().filter(move |rule| rule.row.object == object && !rule.needs.admits(&has)).cloned()
    }
}
