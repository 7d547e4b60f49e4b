//! Packages that come as source, where the toolkits of a machine are written or chosen: these are all that is there, so each
//! is compiled with one of them, or lies finished somewhere.

use std::rc::Rc;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Companion, FinishedWheel, Toolkit};
use crate::solve::finished;
use crate::solve::network::{Order, Says, Var};
use crate::solve::reading::Reading;
use crate::solve::rowset::RowSet;
use crate::solve::rules::law;
use crate::types::constraint::admits;
use crate::types::{Cc, Version};

use super::{Choice, Group, Package, Plan, ReleaseChoice};

/// How a package gets where it runs.
#[derive(Debug, Clone, Copy)]
pub enum Way<'c> {
    /// It has a wheel.
    Wheel,
    /// It is compiled beside a framework without CUDA.
    WithoutCuda,
    /// A wheel that lies beside its release is taken.
    Finished(&'c FinishedWheel),
    /// A toolkit compiles it, by its row; of the framework's own minor release where the package compares these.
    Compiled(usize, bool),
    /// Finished wheels of it lie where nobody has read which.
    Elsewhere,
}

/// How a package that may come as source gets where it runs.
#[derive(Debug, Clone)]
pub struct Source<'c> {
    /// Its place among those that are asked for.
    pub at: usize,
    /// How.
    pub way: Choice<Way<'c>>,
}

impl<'q, 'c> Plan<'q, 'c> {
    /// How each package that may come as source gets to a class.
    pub(super) fn add_sources(&mut self, class: usize, group: &Group<'c>) {
        let asked = &self.classes[class].target.reading;
        let chosen = self.locals[class].toolkit.clone();
        if chosen.is_none() && !asked.has_all_toolkits() {
            return;
        }
        let (catalog, arch) = (self.request.catalog, asked.arch);
        for (at, ask) in self.request.companions.iter().enumerate() {
            let package = self.packages[at];
            let asked = package
                .releases
                .iter()
                .copied()
                .filter(|row| row.sdist && row.is_for_arch(arch) && ask.constraint.admits(&row.version));
            let sources: Vec<&'c Companion> = asked.collect();
            let follows = |one: &&ReleaseChoice<'c>| package.follows(one.framework.package);
            let of_frameworks: Vec<_> = group.releases.iter().filter(follows).collect();
            // What a toolkit that is chosen has to be is asked of that one, but for its minor release.
            let is_told = chosen.is_some() && !sources.iter().any(|row| same_minor(catalog, row));
            if of_frameworks.is_empty() || sources.is_empty() || is_told {
                continue;
            }
            let way = self.ways(class, &sources);
            self.relate_package(class, (package, group.companions[at].clone()), &way);
            of_frameworks.into_iter().for_each(|release| self.relate_extended(class, release, package, &way));
            self.relate_places(&way, chosen.as_ref().map(|toolkit| toolkit.var));
            self.locals[class].sources.push(Source { at, way });
        }
    }

    /// The ways in which some releases may get to a class.
    fn ways(&mut self, class: usize, sources: &[&'c Companion]) -> Choice<Way<'c>> {
        let (request, class_) = (self.request, self.classes[class].clone());
        let (toolkits, asked) = (request.problem.toolkits(), &class_.target.reading);
        let list = request.build.as_ref().and_then(|build| build.arch_list.as_ref());
        let mut compiling = RowSet::first(toolkits.len());
        let machine = request.problem.machine(with_compiler(asked));
        machine.refused_toolkits(request.problem, list).apply(&mut compiling, &class_.off);
        let gpus: Vec<Cc> = asked.named_gpus().iter().map(|gpu| gpu.cc).collect();
        let finished = sources.iter().flat_map(|row| request.catalog.finished_of(row));
        let finished = finished.filter(|wheel| finished::refused(wheel, asked.glibc, &gpus).is_none());
        let of_toolkits = compiling.rows().flat_map(|kit| [false, true].map(|same| Way::Compiled(kit, same)));
        let ways = [Way::Wheel, Way::WithoutCuda].into_iter().chain(finished.map(Way::Finished)).chain(of_toolkits);
        let ways = ways.chain(self.policy.possible.then_some(Way::Elsewhere));
        let rows: Rc<[Way<'c>]> = ways.collect();
        let var = self.network.variable(rows.len(), Order::Ascending, RowSet::default(), vec![Says::Machine(class)]);
        self.given[class].push((var, RowSet::first(rows.len())));
        Choice { var, rows }
    }

    /// How a release of the package gets there.
    fn relate_package(
        &mut self,
        class: usize,
        (package, companion): (&'c Package<'c>, Choice<&'c Companion>),
        way: &Choice<Way<'c>>,
    ) {
        let (catalog, toolkits) = (self.request.catalog, self.request.problem.toolkits());
        let compares = !self.classes[class].off.has(law::id::EXTENSION_MAJOR);
        let (compiles, ways) = (self.compiling(class, package.name), way.rows.clone());
        self.network.relate(companion.var, way.var, move |row| {
            let row = companion.rows[row];
            let serves = |kit: &Toolkit| compiles.as_ref().is_none_or(|compiles| compiles(row, kit));
            let compares = compares && same_minor(catalog, row);
            RowSet::filter(ways.len(), |at| match ways[at] {
                Way::Wheel => !row.sdist,
                _ if !row.sdist => false,
                Way::WithoutCuda => true,
                Way::Finished(wheel) => wheel.version == row.version,
                Way::Compiled(kit, same) => same == compares && serves(toolkits[kit]),
                Way::Elsewhere => kept_at(catalog, row).is_some(),
            })
        });
    }

    /// How it gets there beside a release of its framework.
    fn relate_extended(
        &mut self,
        class: usize,
        release: &ReleaseChoice<'c>,
        package: &'c Package<'c>,
        way: &Choice<Way<'c>>,
    ) {
        let (request, framework, ways) = (self.request, release.framework, way.rows.clone());
        let (class_, toolkits) = (self.classes[class].clone(), request.problem.toolkits());
        let machine = request.problem.machine(with_compiler(&class_.target.reading));
        let extends = self.extending(class, framework, toolkits.clone(), machine);
        let takes = move |build: &Build, wheel: &FinishedWheel| {
            let mut sources = package.releases.iter().filter(|row| row.sdist && row.version == wheel.version);
            let beside = |row| finished::beside(request.catalog, row, build, &class_.target.reading);
            sources.any(|row| beside(row).any(|one| std::ptr::eq(one, wheel)))
        };
        let on = self.classes[class].target.platform;
        self.network.relate(release.var, way.var, move |row| {
            let (release, going) = (&framework.releases[row], extends(row));
            let line = release.line.filter(|line| line.len() > 1).map(|line| line.prefix(2));
            let is_of = |cuda: &Version| line.is_none_or(|line| cuda.cmp_prefix(&line).is_eq());
            RowSet::filter(ways.len(), |at| match ways[at] {
                Way::Wheel | Way::Elsewhere => true,
                Way::WithoutCuda => release.line.is_none(),
                Way::Finished(wheel) => release.on(on).is_some_and(|build| takes(build, wheel)),
                Way::Compiled(kit, same) => going.has(kit) && (!same || is_of(&toolkits[kit].version)),
            })
        });
    }

    /// A finished wheel is for some lines of Python, of which not all were seen, and the toolkit that is chosen is the one that
    /// compiles.
    fn relate_places(&mut self, way: &Choice<Way<'c>>, toolkit: Option<Var>) {
        if let Some(python) = &self.python {
            let (ways, lines, possible) = (way.rows.clone(), python.rows.clone(), self.policy.possible);
            self.network.relate(python.var, way.var, move |line| {
                let is_seen = |wheel: &FinishedWheel| possible || admits(&wheel.python, &lines[line].version);
                RowSet::filter(ways.len(), |at| !matches!(ways[at], Way::Finished(wheel) if !is_seen(wheel)))
            });
        }
        if let Some(toolkit) = toolkit {
            let ways = way.rows.clone();
            self.network.relate(toolkit, way.var, move |row| {
                RowSet::filter(ways.len(), |at| !matches!(ways[at], Way::Compiled(kit, _) if kit != row))
            });
        }
    }
}

/// A machine with the compiler for what comes as source.
fn with_compiler<'c>(asked: &Reading<'c>) -> Reading<'c> {
    Reading { gcc: asked.compiler(), ..asked.clone() }
}

/// Whether a release refuses to be imported where another minor release of CUDA compiled it than its framework.
fn same_minor(catalog: &Catalog, row: &Companion) -> bool {
    row.sdist && catalog.source_build(row).is_some_and(|(build, _)| build.same_minor)
}

/// Where finished wheels of a release may lie, of which nobody has read the list: at an address that is told, or beside the
/// release, where those of others lie and its build looks for them.
pub fn kept_at<'c>(catalog: &'c Catalog, row: &Companion) -> Option<&'c str> {
    let build = catalog.source_build(row).map(|(build, _)| build);
    let unread = build.and_then(|build| build.unread.as_deref());
    let beside = || {
        let is_read = build.is_none_or(|build| build.force.is_none()) || catalog.finished_of(row).next().is_some();
        let mut others = catalog.finished_wheels.iter().filter(|wheel| !is_read && wheel.package == row.package);
        others.next()?.url.split("/download/").next()
    };
    unread.or_else(beside).or_else(|| catalog.elsewhere(&row.package, &row.version))
}
