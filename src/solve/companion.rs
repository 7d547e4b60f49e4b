//! Packages that follow a framework, in the plan: a version is chosen for all, and for each group of classes the release
//! of it that goes with the group's variant.

use std::cell::RefCell;
use std::rc::Rc;

use pubgrub::VersionSet;
use rustc_hash::FxHashMap;

use crate::catalog::rows::{Companion, Subject};
use crate::words::Version;

use super::choice::{Choice, Rows};
use super::class::Class;
use super::fits;
use super::plan::{Group, Locked, Plan, numbered};
use super::platform::Takes;
use super::question::{Ask, Question, TargetAsk};
use super::release::Release;
use super::rowset::RowSet;
use super::rulebook::{Bond, Judged, law};
use super::world::{Table, World};

impl<'c> Plan<'_, 'c> {
    /// A version goes with those of a framework that some release of it accepts. Its releases say the same once they
    /// are chosen, but by then many versions would have been tried. Gives the releases of each package.
    pub(super) fn relate_companion_versions(&mut self) -> Vec<Candidates<'c>> {
        let question = self.question;
        let mut all = Vec::new();
        for (choice, ask) in self.companions.iter().zip(&question.companions) {
            let candidates = Candidates { rows: releases(question, ask), accepts: RefCell::default() };
            for (framework, needing) in self.versions.iter().zip(&question.frameworks) {
                let bond = accepts_framework(question, needing);
                let known = question.rules.recall(&framework.rows, &choice.rows, bond);
                self.world.recall(framework.table, choice.table, &known, &mut |world| {
                    let accepts =
                        candidates.of_framework(question, needing, &framework.rows, world.rows(framework.table));
                    let mut releases: FxHashMap<&Version, Vec<usize>> = FxHashMap::default();
                    for (at, row) in candidates.rows.iter().enumerate() {
                        releases.entry(&row.version).or_default().push(at);
                    }
                    let of_version: Vec<&Vec<usize>> = choice.rows.iter().map(|version| &releases[version]).collect();
                    let texts = |row: usize| of_version[row].iter().map(|&release| accepts.text_of[release]);
                    let some =
                        |version, row: usize| of_version[row].iter().any(|&release| accepts.has(version, release));
                    world.relate_to_kinds(framework.table, choice.table, |row| texts(row).collect::<Vec<_>>(), some);
                });
            }
            all.push(candidates);
        }
        all
    }

    /// The releases of other packages: what they accept, and what they hold of their own.
    pub(super) fn add_companions(&mut self, group: &mut Group<'c>, candidates: &[Candidates<'c>]) {
        let question = self.question;
        for ((choice, ask), candidates) in self.companions.iter().zip(&question.companions).zip(candidates) {
            let rows = candidates.rows.clone();
            let table = self.world.table(rows.len());
            let release = Choice { table, rows };
            let classes: Vec<&Class> = group.classes.iter().map(|&class| &self.classes[class]).collect();
            keep_companions(question, &mut self.world, &classes, ask, &release);
            self.world.recall(
                choice.table,
                table,
                &question.rules.recall(&choice.rows, &release.rows, Bond::Parts),
                &mut |world| {
                    let versions = numbered(&choice.rows);
                    world.relate_parts(choice.table, table, |row| versions.get(&release.rows[row].version).copied());
                },
            );
            for (framework, needing) in self.versions.iter().zip(&question.frameworks) {
                let bond = accepts_framework(question, needing);
                let known = question.rules.recall(&framework.rows, &release.rows, bond);
                self.world.recall(framework.table, table, &known, &mut |world| {
                    let left = world.rows(framework.table);
                    let accepts = candidates.of_framework(question, needing, &framework.rows, left);
                    accepts.relate(world, framework.table, table);
                });
            }
            if let Some(python) = &self.python {
                let known = question.rules.recall(&python.rows, &release.rows, accepts_python(question));
                self.world.recall(python.table, table, &known, &mut |world| {
                    let versions: Vec<&Version> = python.rows.iter().map(|line| &line.version).collect();
                    let accepts = candidates.of_python(question, &versions, world.rows(python.table));
                    accepts.relate(world, python.table, table);
                });
            }
            for (releases, needing) in group.releases.iter().zip(&question.frameworks) {
                relate_variants(question, &mut self.world, &classes, (ask, &release), (needing, releases));
            }
            group.companions.push(release);
        }
    }
}

/// Leaves the releases of a package that each of some classes can have.
fn keep_companions<'c>(
    question: &Question<'c>,
    world: &mut World,
    classes: &[&Class<'_, 'c>],
    ask: &Ask<'c>,
    release: &Choice<&'c Companion>,
) {
    let rows = &release.rows;
    let of_gpu = question.rules.of_package(ask.package, Subject::Gpu);
    for class in classes {
        Judged::keep(&question.rules.judged(rows, class, ""), world, release.table, |row| {
            let ran = |cc| of_gpu.admit(question, &class.target.name, rows[row], Some(cc));
            fits::companion(question, class, rows[row]).is_none()
                && class.gpus.iter().all(|gpu| ran(&gpu.gpu.cc_version))
        });
    }
}

/// The releases of a package are made for some builds of the framework they follow.
fn relate_variants<'c>(
    question: &Question<'c>,
    world: &mut World,
    classes: &[&Class<'_, 'c>],
    (ask, package): (&Ask<'c>, &Choice<&'c Companion>),
    (needing, releases): (&Ask<'c>, &Choice<&'c Release<'c>>),
) {
    let targets = classes.iter().map(|class| class.target);
    let unsaid: Vec<&TargetAsk> = targets.filter(|of| of.platform.takes == Takes::Either).collect();
    let bond = Bond::MadeFor {
        framework: needing.package,
        unsaid: unsaid.iter().map(|target| target.platform).collect(),
        off: question.off_everywhere(),
    };
    let known = question.rules.recall(&releases.rows, &package.rows, bond);
    world.recall(releases.table, package.table, &known, &mut |world| {
        let follows = question.holds(law::COMPANION, "");
        let of_cuda = &question.rules.of_package(ask.package, Subject::Cuda);
        let unsaid = &unsaid;
        let own = |release: usize| releases.rows[release].own_builds().next().map(|build| build.systems);
        let fits = |release: usize| {
            let release = releases.rows[release];
            move |row: usize| {
                let row = package.rows[row];
                let beside = || unsaid.iter().all(|target| fits::same_systems(target, row, release));
                row.framework != needing.package
                    || (!follows || fits::made_for(row, release) && beside())
                        && of_cuda.admit(question, "", row, release.line.as_ref())
            }
        };
        let kind = |release: usize| (releases.rows[release].variant, own(release));
        world.relate_kinds(releases.table, package.table, kind, fits);
    });
}

/// What decides which releases accept a version of a framework.
fn accepts_framework<'c>(question: &Question<'c>, framework: &Ask<'c>) -> Bond<'c> {
    Bond::Accepts { of: framework.package, held: question.holds(law::COMPANION, "") }
}

/// What decides which releases accept a line of Python.
fn accepts_python<'c>(question: &Question<'c>) -> Bond<'c> {
    Bond::Accepts { of: "python", held: question.holds(law::PYTHON, "") }
}

/// The releases of a package that are asked for, and what they accept of each framework and of Python.
pub struct Candidates<'c> {
    rows: Rows<&'c Companion>,
    /// By the name of what is accepted: among which of its versions, and what.
    accepts: RefCell<FxHashMap<&'c str, (RowSet, Rc<Accepts>)>>,
}

impl<'c> Candidates<'c> {
    /// What they ask of a framework, of which some versions are left.
    fn of_framework(
        &self,
        question: &Question<'c>,
        framework: &Ask<'c>,
        versions: &[&Version],
        left: &RowSet,
    ) -> Rc<Accepts> {
        let follows = question.holds(law::COMPANION, "");
        self.accepts(question, framework.package, (versions, left), |row| {
            (follows && row.framework == framework.package).then_some(row.needs.as_str())
        })
    }

    /// What they ask of Python, of which some lines are left.
    fn of_python(&self, question: &Question<'c>, lines: &[&Version], left: &RowSet) -> Rc<Accepts> {
        let holds = question.holds(law::PYTHON, "");
        self.accepts(question, "python", (lines, left), |row| row.python.filter(|_| holds).map(|text| text.as_str()))
    }

    fn accepts(
        &self,
        question: &Question<'c>,
        of: &'c str,
        (versions, left): (&[&Version], &RowSet),
        text: impl Fn(&'c Companion) -> Option<&'c str>,
    ) -> Rc<Accepts> {
        let mut known = self.accepts.borrow_mut();
        match known.get(of) {
            Some((among, accepts)) if left.subset_of(among) => accepts.clone(),
            _ => {
                let accepts = Rc::new(Accepts::new(question, (versions, left), &self.rows, text));
                known.insert(of, (left.clone(), accepts.clone()));
                accepts
            }
        }
    }
}

/// Which versions of a framework each release of a package accepts. Many say the same: each text is read once.
struct Accepts {
    /// The text of each row by its number; none accepts everything.
    text_of: Vec<Option<usize>>,
    /// The versions that each text admits.
    of_text: Vec<RowSet>,
}

impl Accepts {
    /// `text` tells what a row asks for; of the versions only those that may still be chosen matter.
    fn new<'c>(
        question: &Question<'c>,
        (versions, left): (&[&Version], &RowSet),
        rows: &[&'c Companion],
        text: impl Fn(&'c Companion) -> Option<&'c str>,
    ) -> Self {
        let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
        let mut of_text = Vec::new();
        let mut number = |text: &'c str| {
            *numbers.entry(text).or_insert_with(|| {
                of_text.push(question.rules.admitted(text, versions, left));
                of_text.len() - 1
            })
        };
        let text_of = rows.iter().map(|row| text(row).map(&mut number)).collect();
        Accepts { text_of, of_text }
    }

    fn has(&self, version: usize, row: usize) -> bool {
        self.text_of[row].is_none_or(|text| self.of_text[text].has(version))
    }

    /// A version goes with the releases that accept it.
    fn relate(&self, world: &mut World, versions: Table, releases: Table) {
        world.relate_to_kinds(versions, releases, |row| self.text_of[row], |version, row| self.has(version, row));
    }
}

/// Every release of a package that is asked for, newest version first and of one version those made for a variant, as
/// the catalog has them from its end.
fn releases<'c>(question: &Question<'c>, ask: &Ask<'c>) -> Rows<&'c Companion> {
    question.rules.companions(ask.identity(), || {
        let of_package = question.catalog.companions.iter().rev().filter(|row| row.package == ask.package);
        of_package.filter(|row| ask.constraint.admits(&row.version)).collect()
    })
}

/// For each package asked for, the versions to choose from.
pub(super) fn companions<'c>(question: &Question<'c>, world: &mut World, locked: &Locked) -> Vec<Choice<&'c Version>> {
    let choice = |ask: &Ask<'c>| {
        let rows = question.rules.versions(ask.identity(), || {
            let mut rows: Vec<&Version> = releases(question, ask).iter().map(|row| &row.version).collect();
            rows.dedup();
            if ask.oldest_first {
                rows.reverse();
            }
            rows
        });
        let rows = rows.locked_first(locked, ask.package, |version| version.to_string());
        Choice { table: world.table(rows.len()), rows }
    };
    question.companions.iter().map(choice).collect()
}
