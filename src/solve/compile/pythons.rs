//! Python in the network: which lines there are, and which of them come first.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use pubgrub::VersionSet;
use rustc_hash::FxHashSet;

use crate::catalog::rows::{Companion, Python, TORCH, TRITON};
use crate::types::{Cc, Constraint, CpuArch, Specifier, Version, distinct};

use super::{Choice, Class, Group, Package, Plan};
use crate::solve::failing;
use crate::solve::network::{Order, Var};
use crate::solve::ordinary::coming::coming;
use crate::solve::ordinary::{self, Locked};
use crate::solve::problem::Problem;
use crate::solve::request::{ImageRequest, Request, TargetRequest};
use crate::solve::rowset::RowSet;
use crate::solve::rules::law;

impl<'q, 'c> Plan<'q, 'c> {
    /// A line of Python, the newest that releases have, of those that leave out least of what is asked for: one that is out
    /// for less than a year comes after all others, for most other packages have no wheel for it yet.
    pub(super) fn add_python(&mut self, groups: &[Group<'c>]) {
        let request = self.request;
        let installs = !request.companions.is_empty() || !request.packages.is_empty();
        if request.frameworks.is_empty() && !installs && request.python.is_none() {
            return;
        }
        let lines = request.problem.pythons();
        let wanted = request.python.as_ref();
        // Each line several times: as one with which torch.compile runs, and, of less worth, as one with which it need not; and of
        // less worth than both, as one for which what ordinary packages bring along need not have wheels.
        let copies = if request.packages.is_empty() { COMPILING } else { COMPILING * LEAVING_OUT };
        let copies = if self.frameworks.is_empty() { 1 } else { copies };
        let rows: Rc<[_]> = (0..copies).flat_map(|_| lines.iter().copied()).collect();
        let order = (Order::Ranked(python_ranks(request, rows.clone(), lines.len())), Vec::new());
        // One for which what they bring along has no wheels is not kept, where another one has.
        let kept = self.locked.get("python").map_or_else(RowSet::default, |of| {
            RowSet::filter(rows.len().min(COMPILING * lines.len()), |at| *rows[at].version.as_str() == **of)
        });
        let var = self.network.variable(rows.len(), order.0, kept, order.1);
        let admitted = RowSet::filter(rows.len(), |row| admits_python(wanted, rows[row]));
        match wanted {
            Some(_) => self.clause("python", vec![(var, admitted.clone())]),
            None => self.network.restrict(var, &admitted),
        }
        for group in groups.iter().filter(|group| !group.off.has(law::id::PYTHON)) {
            for at in 0..group.releases.len() {
                self.relate_python(group, at, (var, &rows, &admitted));
            }
        }
        for group in groups {
            self.relate_copies(group, (var, &lines, &rows, &admitted));
        }
        self.relate_left_out((var, &rows));
        let python = Choice { var, rows };
        self.relate_pythons(&python);
        self.python = Some(python);
    }

    /// A release has wheels for some lines of Python, on every kind of machine.
    fn relate_python(
        &mut self,
        group: &Group<'c>,
        at: usize,
        (var, rows, admitted): (Var, &Rc<[&'c Python]>, &RowSet),
    ) {
        let platforms = self.platforms(&group.classes, |_| true);
        let (framework, release, unseen) = (group.releases[at].framework, group.releases[at].var, self.policy.possible);
        let with = move |line: Version| {
            let mut left = RowSet::first(framework.releases.len());
            platforms.iter().for_each(|&on| left.retain(&framework.with_python(on, line, unseen)));
            left
        };
        if self.request.python.is_some() {
            let mut some = RowSet::default();
            admitted.rows().for_each(|line| some.add(&with(rows[line].version)));
            self.clause("python", vec![(self.versions[at], framework.versions_of(&some)), (release, some)]);
        }
        let (rows, admitted) = (rows.clone(), admitted.clone());
        let of_lines: OnceCell<Vec<RowSet>> = OnceCell::new();
        self.network.relate(release, var, move |row| {
            let of_line = |line: usize| if admitted.has(line) { with(rows[line].version) } else { RowSet::default() };
            let of_lines = of_lines.get_or_init(|| (0..rows.len()).map(of_line).collect());
            // What is not admitted is refused by what does not admit it, and need not be asked for here.
            RowSet::filter(rows.len(), |line| !admitted.has(line) || of_lines[line].has(row))
        });
    }

    /// Ordinary packages with no release for a Python count before all else: of those lines, and of the releases that have them,
    /// the ones that leave out the fewest.
    pub(super) fn add_left_out(&mut self) {
        let request = self.request;
        if self.policy.unknown || request.packages.is_empty() || self.locked.contains_key("python") {
            return;
        }
        let rows = request.problem.pythons();
        let asked = rows.iter().filter(|row| admits_python(request.python.as_ref(), row));
        let counts: BTreeSet<usize> = asked.map(|row| packages_left_out(request, row)).collect();
        if counts.len() > 1 {
            let var = self.network.variable(counts.len(), Order::Ascending, RowSet::default(), Vec::new());
            self.left_out = Some((var, counts.into_iter().collect()));
        }
    }

    /// The lines of Python that leave out no more than is let in.
    fn relate_left_out(&mut self, (var, rows): (Var, &Rc<[&'c Python]>)) {
        let Some((of, counts)) = self.left_out.take() else { return };
        let (request, rows) = (self.request, rows.clone());
        let fits = move |at: usize, count: usize| packages_left_out(request, rows[at]) <= count;
        let len = self.network.rows(var).len();
        self.network.relate(of, var, move |row| RowSet::filter(len, |at| fits(at, counts[row])));
    }

    /// The first rows of a line are those with which torch.compile of a release runs, wherever it can, and for which all has wheels
    /// that ordinary packages bring along beside the release.
    fn relate_copies(
        &mut self,
        group: &Group<'c>,
        (var, lines, rows, admitted): (Var, &Rc<[&'c Python]>, &Rc<[&'c Python]>, &RowSet),
    ) {
        let request = self.request;
        // Many machines differ in what does not matter here.
        let mut seen = FxHashSet::default();
        let mut is_other = |class: &&Class<'_, 'c>| {
            let gpus: Vec<Cc> = class.target.named_gpus().iter().map(|gpu| gpu.cc).collect();
            seen.insert((class.target.platform, class.target.is_cpu(), gpus, class.off.clone()))
        };
        let classes = group.classes.iter().map(|&class| &*self.classes[class]);
        let targets: Vec<&TargetRequest<'c>> =
            classes.filter(|class| is_other(class)).map(|class| class.target).collect();
        let arches = distinct(targets.iter().map(|target| target.arch));
        for release in &group.releases {
            let (framework, lines, targets) = (release.framework, lines.clone(), targets.clone());
            let (len, admitted, arches) = (rows.len(), admitted.clone(), arches.clone());
            self.network.relate(release.var, var, move |row| {
                let builds =
                    targets.iter().filter_map(|target| Some((framework.releases[row].on(target.platform)?, target)));
                let uncompiled: Vec<_> =
                    builds.map(|(build, target)| failing::uncompiled(request, build, target)).collect();
                let copy = |line: &Version| {
                    let of = (framework.package.to_string(), *framework.releases[row].version);
                    let on = [of, ("python".to_string(), *line)];
                    let leaves =
                        len > COMPILING * lines.len() && leave_out(request.problem, on, &request.packages, &arches);
                    let fails = uncompiled.iter().any(|why| why(line).is_some());
                    usize::from(fails) + COMPILING * usize::from(leaves)
                };
                let of_line = |at: usize| if admitted.has(at) { copy(&lines[at].version) } else { 0 };
                let first: Vec<usize> = (0..lines.len()).map(of_line).collect();
                RowSet::filter(len, |at| at / lines.len() >= first[at % lines.len()])
            });
        }
    }
}

/// How often each line of Python stands among the rows: with torch.compile and without, and as often again without some of what
/// ordinary packages bring along.
const COMPILING: usize = 2;
const LEAVING_OUT: usize = 2;

/// Which lines of Python come first: 0 is that of the images, as far as it can be told, is out for a year, leaves out nothing
/// that is asked for, and is of the first copy. What all lines leave out counts for none of them.
fn python_ranks<'q, 'c: 'q>(
    request: &'q Request<'c>,
    rows: Rc<[&'c Python]>,
    lines: usize,
) -> Box<dyn Fn(usize) -> usize + 'q> {
    let asked = OnceCell::new();
    let of_images = pythons_of_unread(request);
    let known: Vec<OnceCell<usize>> = vec![OnceCell::new(); rows.len()];
    let find = move |row: &Python| {
        // What has no wheel for it either is refused, whichever line comes first.
        let is_left_out =
            |(package, of): &&(&Package<'c>, RowSet)| request.problem.is_left_out(package, of, &row.version);
        let asked = asked.get_or_init(|| asked_for(request));
        let left_out = asked.iter().filter(is_left_out).count() + packages_left_out(request, row);
        let others = of_images.iter().filter(|python| python.cmp_prefix(&row.version).is_ne()).count();
        let left_out = left_out + others * (asked.len() + request.packages.len() + 1);
        8 * left_out + usize::from(request.problem.is_young(row.date.as_deref()))
    };
    Box::new(move |row| *known[row].get_or_init(|| find(rows[row]) + 2 * (row / lines)))
}

/// What the images that are named for their torch are taken to hold of Python, where nobody has read it.
fn pythons_of_unread(request: &Request<'_>) -> Vec<Version> {
    let unread = request.targets.iter().filter_map(|target| match &target.image {
        ImageRequest::Known(image) if image.python.is_none() => request.catalog.python_nearby(image),
        _ => None,
    });
    unread.filter(|_| request.frameworks.iter().any(|ask| ask.package == TORCH)).collect()
}

/// How many of the packages that `[packages]` asks for have no release for a line of Python.
fn packages_left_out(request: &Request<'_>, row: &Python) -> usize {
    let problem = request.problem;
    let is_left_out = |(name, asked): &&(String, Specifier)| {
        let find = || ordinary::is_excluded(problem, &[("python".to_string(), row.version).into()], name, asked);
        *problem.without_release.get((name.clone(), asked.to_string(), row.version), find)
    };
    request.packages.iter().filter(is_left_out).count()
}

/// The packages that are asked for, and of each the releases that may be it, with code for the GPUs that are named: a line of
/// Python for which none of these gets what it asks for in turn leaves the package out.
fn asked_for<'c>(request: &Request<'c>) -> Vec<(&'c Package<'c>, RowSet)> {
    let gpus = || request.targets.iter().flat_map(|of| of.named_gpus().iter().map(|gpu| (of.arch, gpu.cc)));
    let asks = request.companions.iter();
    let admitted = asks.filter_map(|ask| {
        let package = request.problem.package(ask.package)?;
        let mut releases = package.matching(|row| ask.constraint.admits(&row.version));
        gpus().for_each(|(arch, gpu)| releases.subtract(&package.uncovered(request.catalog, arch, gpu)));
        Some((package, releases)).filter(|(_, releases)| !releases.is_empty())
    });
    admitted.collect()
}

/// Whether a line of Python is asked for: a pre-release only by name.
fn admits_python(wanted: Option<&Constraint>, row: &Python) -> bool {
    let Some(wanted) = wanted else { return row.stable };
    let named = || wanted.single().is_some_and(|single| single.cmp_prefix(&row.version).is_eq());
    wanted.cut_to(row.version.len()).admits(&row.version) && (row.stable || named())
}

/// Whether ordinary packages bring along what goes with a release of a framework, and has wheels for other Pythons only.
fn leave_out(problem: &Problem<'_>, on: [Locked; 2], packages: &[(String, Specifier)], arches: &[CpuArch]) -> bool {
    let coming = coming(problem, &on, packages);
    let [(framework, version), (_, line)] = &on;
    coming.iter().filter(|(name, _)| **name != TRITON).any(|(name, asked)| {
        let Some((package, framework)) = problem.package(name).zip(problem.framework(framework)) else { return false };
        let is_there = |row: &Companion| row.url.is_none() && row.index_url.is_none() && row.gone.is_none();
        let is_wheel = |row: &Companion| arches.iter().all(|arch| row.is_for_arch(*arch)) && !row.sdist;
        let asked = package.matching(|row| is_there(row) && is_wheel(row) && asked.admits(&row.version));
        let going = asked.intersection(&package.accepting(framework.package, version));
        !going.is_empty() && going.is_disjoint(&package.accepting_python(line))
    })
}
