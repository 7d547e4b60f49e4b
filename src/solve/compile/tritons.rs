//! The triton that a framework asks for, in the network. Some builds ask for it on some lines of Python only, so which
//! packages go beside a release depends on the line that is chosen too: the choice between asking and not asking is a
//! variable of its own, related to the release, to Python and to the packages.

use std::rc::Rc;

use crate::catalog::rows::{Build, Companion, TRITON};
use crate::types::{Constraint, CpuArch, Version, distinct};

use super::{Group, Package, Plan, ReleaseChoice};
use crate::solve::network::{Order, Var};
use crate::solve::platform::Platform;
use crate::solve::rowset::RowSet;
use crate::solve::rules::law;

/// What a build asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Asks<'c> {
    /// No triton, on any Python.
    Nowhere,
    /// This one, on every Python.
    Everywhere(&'c Version),
    /// This one, on the Pythons of a constraint, one of which is chosen.
    Here(&'c Version, &'c str),
    /// None, for another Python than those of a constraint is chosen.
    Elsewhere(&'c str),
}

impl<'c> Asks<'c> {
    /// What may hold beside a build.
    fn of(build: Option<&'c Build>) -> Vec<Self> {
        match build.and_then(|build| Some((build.triton.as_ref()?, build.triton_python.as_deref()))) {
            None => vec![Asks::Nowhere],
            Some((triton, None)) => vec![Asks::Everywhere(triton)],
            Some((triton, Some(pythons))) => vec![Asks::Here(triton, pythons), Asks::Elsewhere(pythons)],
        }
    }

    fn triton(&self) -> Option<&'c Version> {
        match *self {
            Asks::Everywhere(triton) | Asks::Here(triton, _) => Some(triton),
            Asks::Nowhere | Asks::Elsewhere(_) => None,
        }
    }

    /// Whether a triton is not asked for that is on other Pythons.
    fn is_lacking(&self) -> bool {
        matches!(self, Asks::Elsewhere(_))
    }

    fn goes_with(&self, line: &Version) -> bool {
        let admits = |pythons: &str| Constraint::parse(pythons).is_ok_and(|pythons| pythons.admits(line));
        match *self {
            Asks::Nowhere | Asks::Everywhere(_) => true,
            Asks::Here(_, pythons) => admits(pythons),
            Asks::Elsewhere(pythons) => !admits(pythons),
        }
    }
}

/// The triton that a release needs if there is one.
fn by_extra(row: &Companion) -> impl Iterator<Item = &str> {
    row.asked_by_extra().filter(|(of, _)| *of == TRITON).map(|(_, range)| range)
}

impl<'c> Plan<'_, 'c> {
    /// Packages that ask for a triton go beside what asks for the same one.
    pub(super) fn relate_tritons(&mut self, group: &Group<'c>) {
        let of_triton = |package: &&Package<'c>| package.name == TRITON || package.asks_for_triton();
        let concerned: Vec<usize> = (0..self.packages.len()).filter(|&at| of_triton(&self.packages[at])).collect();
        if concerned.is_empty() || group.off.has(law::id::COMPANION) {
            return;
        }
        for (at, &later) in concerned.iter().enumerate() {
            for &earlier in &concerned[..at] {
                self.relate_two(group, earlier, later);
            }
        }
        for release in &group.releases {
            for on in self.platforms(&group.classes, |_| true) {
                let asks = self.triton_choice(group, release, on);
                for &at in &concerned {
                    let (package, var) = (self.packages[at], group.companions[at].var);
                    self.relate_triton(&asks, (package, var), on.arch);
                }
            }
        }
    }

    /// What one package requires comes whatever a framework asks for, and must do for another that needs it, as far as it is there.
    fn relate_two(&mut self, group: &Group<'c>, earlier: usize, later: usize) {
        let [(one, from), (other, to)] = [earlier, later].map(|at| (self.packages[at], group.companions[at].var));
        let extra = |package: &Package<'c>| package.releases.iter().any(|row| by_extra(row).next().is_some());
        if !extra(one) && !extra(other) {
            return;
        }
        let arches = distinct(group.classes.iter().map(|&class| self.classes[class].target.arch));
        let problem = self.request.problem;
        self.network.relate(from, to, move |row| {
            let excludes = |brings: &'c Companion, needs: &'c Companion| {
                let brought = arches.iter().flat_map(|arch| brings.asked(*arch)).filter(|(of, _)| *of == TRITON);
                brought.into_iter().any(|(_, brought)| by_extra(needs).any(|needed| problem.exclude(brought, needed)))
            };
            let row = one.releases[row];
            other.matching(|it| !excludes(row, it) && !excludes(it, row))
        });
    }

    /// What the release for a kind of machine asks for.
    fn triton_choice(
        &mut self,
        group: &Group<'c>,
        release: &ReleaseChoice<'c>,
        on: Platform<'c>,
    ) -> (Var, Rc<[Asks<'c>]>) {
        let framework = release.framework;
        let all: Rc<[Asks]> = distinct(framework.releases.iter().flat_map(|release| Asks::of(release.on(on)))).into();
        let because = self.asked_by(framework.package);
        let var = self.network.variable(all.len(), Order::Ascending, RowSet::default(), because);
        let rows = all.clone();
        self.network.relate(release.var, var, move |row| {
            let may = Asks::of(framework.releases[row].on(on));
            RowSet::filter(rows.len(), |at| may.contains(&rows[at]))
        });
        let python = self.python.as_ref().filter(|_| !group.off.has(law::id::PYTHON));
        if let Some(python) = python {
            let (rows, lines, request) = (all.clone(), python.rows.clone(), self.request);
            self.network.relate(python.var, var, move |line| {
                // What a new Python lacks it may get yet: only who writes it takes it for that.
                let may_lack = request.python.is_some() || !request.problem.is_young(lines[line].date.as_deref());
                let goes = |asks: &Asks| asks.goes_with(&lines[line].version);
                RowSet::filter(rows.len(), |at| goes(&rows[at]) && (may_lack || !rows[at].is_lacking()))
            });
        }
        // No Python is the first choice for what a build lacks on it, unless it is written.
        if python.is_none() || (self.request.python.is_none() && !self.policy.experimental) {
            self.network.restrict(var, &RowSet::filter(all.len(), |at| !all[at].is_lacking()));
        }
        (var, all)
    }

    /// Beside what asks for a triton goes that one, and what asks for no other.
    fn relate_triton(
        &mut self,
        (asks, rows): &(Var, Rc<[Asks<'c>]>),
        (package, var): (&'c Package<'c>, Var),
        arch: CpuArch,
    ) {
        let rows = rows.clone();
        self.network.relate(*asks, var, move |at| {
            let Some(triton) = rows[at].triton() else { return RowSet::first(package.releases.len()) };
            let other = package.refusing(TRITON, triton, arch);
            package.matching(|row| package.name != TRITON || row.version == *triton).minus(&other)
        });
    }
}
