//! Packages that follow a framework, in the plan: a version is chosen for all, and for each group of classes the release
//! of it that goes with the group's variant.

use rustc_hash::FxHashMap;

use crate::catalog::rows::{Companion, Python, Subject};
use crate::words::{Constraint, Version};

use super::fits;
use super::plan::{Choice, Group, Locked, Plan, locked_first, numbered};
use super::platform::Takes;
use super::question::{Question, TargetAsk};
use super::rowset::RowSet;
use super::rulebook::law;
use super::world::World;

impl<'c> Plan<'_, 'c> {
    /// A version goes with those of a framework that some release of it accepts. Its releases say the same once they
    /// are chosen, but by then many versions would have been tried. Gives the releases of each package.
    pub(super) fn relate_companion_versions(&mut self) -> Vec<Candidates<'c>> {
        let question = self.question;
        let mut all = Vec::new();
        for (choice, ask) in self.companions.iter().zip(&question.companions) {
            // Newest first and of one version those made for a variant, as the catalog has them from its end.
            let rows = companion_rows(question, ask.package, &ask.constraint);
            let mut releases: FxHashMap<&Version, Vec<usize>> = FxHashMap::default();
            for (at, row) in rows.iter().enumerate() {
                releases.entry(&row.version).or_default().push(at);
            }
            let of_version: Vec<&Vec<usize>> = choice.rows.iter().map(|version| &releases[version]).collect();
            let mut frameworks = Vec::new();
            for (framework, needing) in self.versions.iter().zip(&question.frameworks) {
                let left = (framework.rows.as_slice(), self.world.rows(framework.table));
                let accepts = Accepts::framework(question, needing.package, left, &rows);
                let texts = |row: usize| of_version[row].iter().map(|&release| accepts.text_of[release]);
                let some = |version, row: usize| of_version[row].iter().any(|&release| accepts.has(version, release));
                self.world.relate_to_kinds(framework.table, choice.table, |row| texts(row).collect::<Vec<_>>(), some);
                frameworks.push(accepts);
            }
            let left = self.python.as_ref().map(|python| (python.rows.as_slice(), self.world.rows(python.table)));
            let python = left.map(|left| Accepts::python(question, left, &rows));
            all.push(Candidates { rows, frameworks, python });
        }
        all
    }

    /// The releases of other packages: what they accept, and what they hold of their own.
    pub(super) fn add_companions(&mut self, group: &mut Group<'c>, candidates: &[Candidates<'c>]) {
        let question = self.question;
        for ((choice, ask), candidates) in self.companions.iter().zip(&question.companions).zip(candidates) {
            let rows = candidates.rows.clone();
            let table = self.world.table(rows.len());
            let of_gpu = question.rules.of_package(ask.package, Subject::Gpu);
            self.world.keep(table, |row| {
                let mut classes = group.classes.iter().map(|&class| &self.classes[class]);
                classes.all(|class| {
                    let ran = |cc| of_gpu.admit(question, &class.target.name, rows[row], Some(cc));
                    fits::companion(question, class, rows[row]).is_none()
                        && class.gpus.iter().all(|gpu| ran(&gpu.gpu.cc_version))
                })
            });
            let versions = numbered(&choice.rows);
            self.world.relate_parts(choice.table, table, |row| versions.get(&rows[row].version).copied());
            let frameworks = self.versions.iter().map(|choice| choice.table).zip(&candidates.frameworks);
            let python = self.python.as_ref().map(|choice| choice.table).zip(candidates.python.as_ref());
            for (of, accepts) in frameworks.chain(python) {
                self.world.relate_to_kinds(of, table, |row| accepts.text_of[row], |of, row| accepts.has(of, row));
            }
            let of_cuda = question.rules.of_package(ask.package, Subject::Cuda);
            let unsaid = || group.classes.iter().map(|&class| self.classes[class].target);
            let unsaid: Vec<&TargetAsk> = unsaid().filter(|of| of.platform.takes == Takes::Either).collect();
            for (releases, ask) in group.releases.iter().zip(&question.frameworks) {
                let follows = question.holds(law::COMPANION, "");
                let (rows, of_cuda, unsaid) = (&rows, &of_cuda, &unsaid);
                let own = |release: usize| releases.rows[release].own_builds().next().map(|build| build.systems);
                let fits = |release: usize| {
                    let release = releases.rows[release];
                    move |row: usize| {
                        let row = rows[row];
                        let beside = || unsaid.iter().all(|target| fits::same_systems(target, row, release));
                        row.framework != ask.package
                            || (!follows || fits::made_for(row, release) && beside())
                                && of_cuda.admit(question, "", row, release.line.as_ref())
                    }
                };
                self.world.relate_kinds(
                    releases.table,
                    table,
                    |release| (releases.rows[release].variant, own(release)),
                    fits,
                );
            }
            group.companions.push(Choice { table, rows });
        }
    }
}

/// The releases of a package that are asked for, and what they accept of each framework and of Python.
pub struct Candidates<'c> {
    rows: Vec<&'c Companion>,
    frameworks: Vec<Accepts>,
    python: Option<Accepts>,
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

    /// What rows ask of a framework.
    fn framework<'c>(
        question: &Question<'c>,
        framework: &str,
        versions: (&[&Version], &RowSet),
        rows: &[&'c Companion],
    ) -> Self {
        let follows = question.holds(law::COMPANION, "");
        Self::new(question, versions, rows, |row| (follows && row.framework == framework).then_some(row.needs.as_str()))
    }

    /// What rows ask of Python.
    fn python<'c>(question: &Question<'c>, (lines, left): (&[&Python], &RowSet), rows: &[&'c Companion]) -> Self {
        let holds = question.holds(law::PYTHON, "");
        let versions: Vec<&Version> = lines.iter().map(|line| &line.version).collect();
        Self::new(question, (&versions, left), rows, |row| row.python.filter(|_| holds).map(|text| text.as_str()))
    }

    fn has(&self, version: usize, row: usize) -> bool {
        self.text_of[row].is_none_or(|text| self.of_text[text].has(version))
    }
}

/// Every release of a package that a constraint admits, newest version first.
fn companion_rows<'c>(question: &Question<'c>, package: &str, constraint: &Constraint) -> Vec<&'c Companion> {
    let of_package = question.catalog.companions.iter().rev().filter(|row| row.package == package);
    of_package.filter(|row| constraint.admits(&row.version)).collect()
}

/// For each package asked for, the versions to choose from.
pub(super) fn companions<'c>(question: &Question<'c>, world: &mut World, locked: &Locked) -> Vec<Choice<&'c Version>> {
    let mut choices = Vec::new();
    for ask in &question.companions {
        let rows = companion_rows(question, ask.package, &ask.constraint);
        let mut rows: Vec<&Version> = rows.into_iter().map(|row| &row.version).collect();
        rows.dedup();
        if ask.oldest_first {
            rows.reverse();
        }
        locked_first(&mut rows, locked, ask.package, |version| version.to_string());
        choices.push(Choice { table: world.table(rows.len()), rows });
    }
    choices
}
