//! The releases of a package that follows a framework as a table, and what they accept.

use std::cell::OnceCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::catalog::Catalog;
use crate::catalog::rows::{Asks, BESIDE_TORCH, Companion, FoundIn, Index, TRITON, library_major, pinned};
use crate::coverage::Coverage;
use crate::solve::facts::Facts;
use crate::solve::kept::Kept;
use crate::solve::platform::Platform;
use crate::solve::rowset::{self, RowSet};
use crate::solve::rules::{Needs, RuleId};
use crate::solve::unseen;
use crate::solve::wants::Want;
use crate::solve::{fits, ordinary};
use crate::types::variant::line_of;
use crate::types::{Cc, Constraint, CpuArch, Specifier, Version};

use super::Problem;

/// Whether the wheel for a variant carries no label, and the torch that it was made with is of that variant on the package
/// index: so is the release that lies there.
fn is_like_package_index(catalog: &Catalog, row: &Companion) -> bool {
    let Some(variant) = row.variant.filter(|_| row.url.is_none() && row.index_url.is_none()) else { return false };
    let is_plain = row.carried() == row.version.as_str() && !BESIDE_TORCH.contains(&&*row.package);
    let Some(needs) = Constraint::parse(&row.needs).ok().filter(|_| is_plain) else { return false };
    let made_with = catalog.builds.of(&row.framework).iter().filter(|build| needs.admits(&build.version.release()));
    let oldest = made_with.min_by_key(|build| build.version).map(|build| build.version);
    let mut builds = catalog.builds.of(&row.framework).iter().filter(|build| Some(build.version) == oldest);
    builds.any(|build| build.variant == variant && build.index.contains(&Index::Pypi))
}

/// A package's releases, newest version first and of one version those made for a variant as the catalog has them.
#[derive(Debug)]
pub struct Package<'c> {
    /// Its name.
    pub name: &'c str,
    /// The releases: one version may have one for each variant of its framework.
    pub releases: Rc<[&'c Companion]>,
    /// The versions, newest first.
    pub versions: Rc<[&'c Version]>,
    /// The releases of each version.
    pub of_version: Vec<RowSet>,
    /// Whether it is compiled against one release of torch.
    is_tied: bool,
    needs: OnceCell<Ranges>,
    python: OnceCell<Ranges>,
    known: Kept<Property<'c>, RowSet>,
    /// Of what is asked for and a line of Python.
    unserved: Kept<(*const Asks, Version), Option<FoundIn>>,
    asks_for_libraries: OnceCell<bool>,
    asks_for_triton: OnceCell<bool>,
    pieces: OnceCell<Vec<Vec<Want<'c>>>>,
}

/// A set of releases that a law speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Property<'c> {
    Accepts(&'c str, Version),
    VersionsAccepting(&'c str, Version, Option<CpuArch>),
    MadeFor(&'c str),
    UnseenFor(&'c str, CpuArch),
    MayBeMadeFor(&'c str),
    Elsewhere(Platform<'c>),
    NewerGlibc(CpuArch, Version, bool),
    Gone,
    Yanked,
    Uncovered(CpuArch, Cc),
    Doubtful(CpuArch, Cc),
    Refusing(&'c str, Version, CpuArch),
    ForPython(Version),
    Range(RuleId),
    LackingWheels(CpuArch),
    LackingGlibc(CpuArch, Version),
    AtOdds(&'c str, Version, Option<Version>, CpuArch, bool),
}

/// What each release asks of something, each text read once.
#[derive(Debug)]
struct Ranges {
    /// For each release, which of `ranges` it asks for; none accepts everything.
    of_release: Vec<Option<usize>>,
    ranges: Vec<Constraint>,
}

impl Ranges {
    fn read<'c>(releases: &[&'c Companion], text: impl Fn(&'c Companion) -> Option<&'c str>) -> Self {
        let mut numbers: FxHashMap<&str, Option<usize>> = FxHashMap::default();
        let mut ranges = Vec::new();
        let mut number = |text: &'c str| {
            // The lint has read every text; one that it lets pass unread would ask for nothing.
            let range = || Constraint::parse(text).ok();
            *numbers.entry(text).or_insert_with(|| {
                range().map(|range| {
                    ranges.push(range);
                    ranges.len() - 1
                })
            })
        };
        let of_release = releases.iter().map(|row| text(row).and_then(&mut number)).collect();
        Ranges { of_release, ranges }
    }

    /// The releases that accept a version.
    fn accepting(&self, version: &Version) -> RowSet {
        let accepts: Vec<bool> = self.ranges.iter().map(|range| range.admits_installed(version)).collect();
        RowSet::filter(self.of_release.len(), |row| self.of_release[row].is_none_or(|range| accepts[range]))
    }
}

impl<'c> Package<'c> {
    /// The releases among some rows of the catalog, which are of one package and stand oldest first.
    pub(super) fn new(catalog: &Catalog, rows: &'c [Companion]) -> Self {
        let mut releases: Vec<&Companion> = rows.iter().rev().collect();
        // What lies beside a release and nobody has read comes after what was read. pip is told from which index by a label
        // alone: of two files of one number, that of the package index goes before its like.
        let is_unread =
            |row: &Companion| row.url.is_some() && row.gpu_code && row.sass.is_empty() && row.ptx.is_empty();
        releases.sort_by_cached_key(|row| {
            (std::cmp::Reverse(row.version), is_unread(row), is_like_package_index(catalog, row))
        });
        let (versions, of_version) = rowset::grouped(releases.iter().map(|release| &release.version));
        Package {
            name: &rows[0].package,
            releases: releases.into(),
            versions: versions.into(),
            of_version,
            is_tied: fits::is_tied_to_releases(catalog, &rows[0].package),
            needs: OnceCell::new(),
            python: OnceCell::new(),
            known: Kept::default(),
            unserved: Kept::default(),
            asks_for_libraries: OnceCell::new(),
            asks_for_triton: OnceCell::new(),
            pieces: OnceCell::new(),
        }
    }

    /// The releases for which something holds.
    pub fn matching(&self, holds: impl Fn(&'c Companion) -> bool) -> RowSet {
        RowSet::filter(self.releases.len(), |row| holds(self.releases[row]))
    }

    /// The versions of some releases.
    pub fn versions_of(&self, releases: &RowSet) -> RowSet {
        RowSet::filter(self.versions.len(), |version| self.of_version[version].meets(releases))
    }

    pub(super) fn property(&self, key: Property<'c>, find: impl FnOnce() -> RowSet) -> Rc<RowSet> {
        self.known.get(key, find)
    }

    /// What each release asks for of pieces of the toolkit that installers have as packages, nvJitLink or cuBLAS.
    pub fn pieces(&self, problem: &Problem<'c>) -> &[Vec<Want<'c>>] {
        self.pieces.get_or_init(|| {
            let asks = problem.wants(self.name);
            let is_piece = |name: &str| problem.kits().iter().any(|kit| kit.text_of(name).is_some());
            let of_release = |row: &&'c Companion| {
                let along = problem.untold_along(row).into_iter().map(|asks| (&*asks.of, &*asks.needs));
                asks.at(&row.version).chain(along).filter(|(of, _)| is_piece(of)).collect()
            };
            self.releases.iter().map(of_release).collect()
        })
    }

    /// The releases that accept a version of a framework; those that follow another one accept any.
    pub fn accepting(&self, framework: &'c str, version: &Version) -> Rc<RowSet> {
        self.property(Property::Accepts(framework, *version), || {
            let needs = self.needs.get_or_init(|| Ranges::read(&self.releases, |row| Some(&*row.needs)));
            let accepting = needs.accepting(version);
            RowSet::filter(self.releases.len(), |row| self.releases[row].framework != framework || accepting.has(row))
        })
    }

    /// The versions of which a release accepts a version of a framework, where all machines are of one processor as they come
    /// there.
    pub fn versions_accepting(&self, framework: &'c str, version: &Version, only: Option<CpuArch>) -> Rc<RowSet> {
        let find = || {
            let accepting = self.accepting(framework, version);
            let comes = |row: usize| !only.is_some_and(|arch| self.releases[row].is_source_beside_wheels(arch));
            self.versions_of(&accepting.filtered(&comes))
        };
        self.property(Property::VersionsAccepting(framework, *version, only), find)
    }

    /// The releases that accept a line of Python, by their own metadata and wheels.
    pub fn accepting_python(&self, line: &Version) -> Rc<RowSet> {
        self.property(Property::Accepts("python", *line), || {
            self.python.get_or_init(|| Ranges::read(&self.releases, |row| row.python.as_deref())).accepting(line)
        })
    }

    /// The place of a row among its releases, if it is one of them.
    pub fn place_of(&self, row: &Companion) -> Option<usize> {
        self.releases.iter().position(|one| std::ptr::eq(*one, row))
    }

    /// Whether releases of it go with a framework.
    pub fn follows(&self, framework: &str) -> bool {
        self.releases.iter().any(|row| row.framework == framework)
    }

    /// Whether it is compiled against one release of torch.
    pub fn is_tied(&self) -> bool {
        self.is_tied
    }

    /// Whether a version asks for an ordinary package of which no release that it takes has a wheel for a line of Python.
    pub fn is_unserved(&self, facts: &Facts<'c>, version: &Version, line: &Version) -> bool {
        facts.wants_on(Some(*line), self.name).about(version).any(|row| self.unserved_by(facts, row, line).is_some())
    }

    /// Whether installers refuse a version on a line of Python: its metadata asks for an ordinary package of which no release
    /// that it takes is for it, by theirs, or one that it pins has nothing but wheels. What only lacks a wheel is compiled, and
    /// of what is not pinned another may be published.
    pub fn is_refused_on(&self, facts: &Facts<'c>, version: &Version, line: &Version) -> bool {
        let wants = facts.wants_on(Some(*line), self.name);
        let refuses = |row: &'c Asks| self.unserved_by(facts, row, line).is_some_and(|how| is_refusal(row, how));
        wants.about(version).any(refuses)
    }

    /// The requirements for which installers refuse a version on a line of Python, each with that of what it asks for.
    pub fn refused_by(&self, facts: &Facts<'c>, version: &Version, line: &Version) -> Vec<(&'c Asks, &'c Asks)> {
        let theirs = |row: &'c Asks| {
            let theirs = ordinary::without_wheels(facts, row, line)?.row;
            is_refusal(row, theirs.found_in).then_some((row, theirs))
        };
        let wants = facts.wants_on(Some(*line), self.name);
        wants.about(version).filter_map(theirs).collect()
    }

    /// Who knows that no release of what a row asks for is for a line of Python; none where one is.
    fn unserved_by(&self, facts: &Facts<'c>, row: &'c Asks, line: &Version) -> Option<FoundIn> {
        let lacks = || ordinary::without_wheels(facts, row, line).map(|one| one.row.found_in);
        *self.unserved.get((std::ptr::from_ref(row), *line), lacks)
    }

    /// The releases that a rule about this package speaks of.
    pub fn within(&self, rule: &Needs<'c>) -> Rc<RowSet> {
        self.property(Property::Range(rule.id), || self.matching(|row| rule.binds(row)))
    }

    /// Whether a release asks for libraries of NVIDIA whose names tell a CUDA major, on some processor.
    pub fn asks_for_libraries(&self) -> bool {
        let asks = |row: &Companion| row.requirements().any(|(of, ..)| library_major(of).is_some());
        *self.asks_for_libraries.get_or_init(|| self.releases.iter().any(|row| asks(row)))
    }

    /// Whether a release asks for a triton.
    pub fn asks_for_triton(&self) -> bool {
        let asks = |row: &Companion| row.requirements().any(|(of, ..)| of == TRITON);
        *self.asks_for_triton.get_or_init(|| self.releases.iter().any(|row| asks(row)))
    }

    /// The releases made for a variant of the framework that they follow.
    pub fn made_for(&self, variant: &'c str) -> Rc<RowSet> {
        let line = line_of(variant);
        self.property(Property::MadeFor(variant), || self.matching(|row| fits::made_for(row, variant, line.as_ref())))
    }

    /// The releases that may be made for a variant though nobody has seen it.
    pub fn may_be_made_for(&self, catalog: &Catalog, variant: &'c str) -> Rc<RowSet> {
        self.property(Property::MayBeMadeFor(variant), || {
            self.matching(|row| unseen::may_be_made_for(catalog, &self.releases, row, variant))
        })
    }

    /// The releases that nobody has seen on the index of a variant for a processor.
    pub fn unseen_for(&self, catalog: &Catalog, variant: &'c str, arch: CpuArch) -> Rc<RowSet> {
        self.property(Property::UnseenFor(variant, arch), || {
            self.matching(|row| unseen::is_unseen(catalog, row, variant, arch))
        })
    }

    /// The releases that ask for another version of a package than a framework's build brings along, or whose code runs
    /// beside another only.
    pub fn refusing(&self, name: &'static str, brought: &Version, arch: CpuArch) -> Rc<RowSet> {
        self.property(Property::Refusing(name, *brought, arch), || {
            let admits = |range: &str| Specifier::parse(range).is_ok_and(|range| range.admits(brought));
            let asked = |row: &'c Companion| row.asked(arch).chain(row.asked_by_extra());
            self.matching(|row| asked(row).any(|(of, range)| of == name && !admits(range)))
        })
    }

    /// The releases that were not made for a kind of machine.
    pub fn elsewhere(&self, on: Platform<'c>) -> Rc<RowSet> {
        let takes = |row| if self.is_tied { on.takes_companion(row) } else { on.takes_beside_any_torch(row) };
        self.property(Property::Elsewhere(on), || self.matching(|row| !takes(row)))
    }

    /// The wheels for the other processor of releases that come as source on this one.
    pub fn wheels_beside(&self, sources: &RowSet) -> RowSet {
        let has_source = |version: usize| {
            let mut rows = self.of_version[version].rows().filter(|row| sources.has(*row));
            rows.any(|row| self.releases[row].source_for().is_some())
        };
        let mut wheels = RowSet::default();
        for version in (0..self.versions.len()).filter(|version| has_source(*version)) {
            wheels.add(&self.of_version[version].filtered(&|row| !self.releases[row].sdist));
        }
        wheels
    }

    /// The releases that no installer can install any more.
    pub fn gone(&self) -> Rc<RowSet> {
        self.property(Property::Gone, || self.matching(|row| row.gone.is_some()))
    }

    /// The releases that their publisher has withdrawn.
    pub fn yanked(&self, catalog: &Catalog) -> Rc<RowSet> {
        self.property(Property::Yanked, || self.matching(|row| catalog.is_yanked(self.name, &row.version)))
    }

    /// The releases that need a newer C library than there is.
    pub fn newer_glibc(&self, arch: CpuArch, has: Version, cpu: bool) -> Rc<RowSet> {
        self.property(Property::NewerGlibc(arch, has, cpu), || {
            self.matching(|row| self.glibc_of(row, arch, cpu).is_some_and(|needs| has < needs))
        })
    }

    /// The oldest C library that a release loads with, on a processor, with a GPU or without. Where nobody has told that of one
    /// that stands for its wheels of every variant, it is that of its wheels with a label: the others were made beside them.
    pub fn glibc_of(&self, row: &Companion, arch: CpuArch, cpu: bool) -> Option<Version> {
        let is_plain = |of: &Companion| of.systems.is_empty() && of.url.is_none() && of.index_url.is_none();
        let needs = row.needs_glibc(arch, cpu);
        if needs.is_some() || row.variant.is_some() || row.sdist || !is_plain(row) {
            return needs;
        }
        let is_beside = |of: &&&Companion| of.version == row.version && of.variant.is_some() && of.is_for_arch(arch);
        let labelled = self.releases.iter().filter(is_beside).filter(|of| is_plain(of));
        labelled.map(|of| of.needs_glibc(arch, cpu)).min().flatten()
    }

    /// The releases known to hold no code for a GPU.
    pub fn uncovered(&self, catalog: &Catalog, arch: CpuArch, gpu: Cc) -> Rc<RowSet> {
        self.property(Property::Uncovered(arch, gpu), || {
            self.matching(|row| fits::companion_code(catalog, row, arch, gpu) == Some(Coverage::None))
        })
    }

    /// The releases of which nobody has read the wheel, while those of the same version that were read hold no code for a GPU.
    pub fn doubtful(&self, catalog: &Catalog, arch: CpuArch, gpu: Cc) -> Rc<RowSet> {
        self.property(Property::Doubtful(arch, gpu), || {
            self.matching(|row| fits::read_beside(catalog, row, arch, gpu).is_some())
        })
    }
}

/// Whether installers refuse what a row asks for, where it is known so that no release of that is for a line of Python.
fn is_refusal(asks: &Asks, how: FoundIn) -> bool {
    let is_sure = how == FoundIn::Metadata || how == FoundIn::OnlyWheels && pinned(&asks.needs).is_some();
    asks.found_in == FoundIn::Metadata && is_sure
}

#[cfg(test)]
mod tests {
    use crate::catalog::BUILTIN;
    use crate::solve::problem::Problem;

    #[test]
    fn libraries_are_asked_for_by_names_with_a_major() {
        let problem = Problem::new(&BUILTIN);
        let asks = |name: &str| problem.package(name).unwrap().asks_for_libraries();
        assert!(asks("xgboost") && !asks("torchvision"));
    }
}
