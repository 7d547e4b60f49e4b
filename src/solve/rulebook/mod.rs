//! The catalog's rules made ready to be asked, and what was found out by asking them.

mod known;
pub mod law;
mod memo;
mod recall;

use crate::catalog::Catalog;
use crate::catalog::rows::{Companion, Rule, Subject};
use crate::words::{Constraint, Version};

use super::question::Question;

use known::Known;

pub use recall::{Bond, Judged};

/// The catalog's `needs` rules with their ranges parsed.
#[derive(Debug)]
pub struct RuleBook<'c> {
    needs: Vec<Needs<'c>>,
    known: Known<'c>,
}

/// One rule: where the subject is in `range`, the object must be in `needs`.
#[derive(Debug, Clone)]
pub struct Needs<'c> {
    /// The row.
    pub row: &'c Rule,
    /// Which subjects it speaks of.
    pub range: Constraint,
    /// What these need.
    pub needs: Constraint,
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

    /// Those that speak of a release.
    pub fn about(&self, release: &Version) -> impl Iterator<Item = &'a Needs<'c>> {
        self.rules.iter().copied().filter(|rule| rule.range.admits(release))
    }

    /// One of those that hold for a target, if it refuses a release.
    pub fn refusal(
        &self,
        question: &Question<'_>,
        target: &str,
        release: &Version,
        object: Option<&Version>,
    ) -> Option<&'c str> {
        let refuses = |rule: &&Needs| object.is_some_and(|object| !rule.needs.admits(object));
        let mut refusing = self.about(release).filter(refuses);
        refusing.find(|rule| question.holds(&rule.row.id, target)).map(|rule| &*rule.row.id)
    }

    /// Whether none of those that hold for a target refuses a release.
    pub fn admit(&self, question: &Question<'_>, target: &str, row: &Companion, object: Option<&Version>) -> bool {
        self.refusal(question, target, &row.version, object).is_none()
    }
}

impl<'c> RuleBook<'c> {
    /// Reads every rule of a catalog. The lint has checked that they parse; one that does not speaks of nothing.
    pub fn new(catalog: &'c Catalog) -> Self {
        let needs = catalog.rules.iter().filter_map(|row| {
            let (range, needs) = (Constraint::parse(&row.range).ok()?, Constraint::parse(&row.needs).ok()?);
            Some(Needs { row, range, needs })
        });
        RuleBook { needs: needs.collect(), known: Known::of(catalog) }
    }

    /// The rules between two kinds of things.
    pub fn between(&self, subject: Subject, object: Subject) -> impl Iterator<Item = &Needs<'c>> {
        self.needs.iter().filter(move |rule| rule.row.subject == subject && rule.row.object == object)
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
        PackageRules { rules: self.needs.iter().filter(speaks).collect() }
    }

    /// Whether a rule can refuse anything that a question is about: of packages, boards and toolkits that are not in it
    /// nothing needs to be known.
    pub fn concerns(&self, question: &Question<'_>, rule: &Needs<'_>) -> bool {
        let mut gpus = question.targets.iter().flat_map(|target| target.named_gpus()).map(|gpu| &gpu.cc_version);
        match (rule.row.subject, rule.row.object) {
            (Subject::Gpu, _) => gpus.any(|cc| rule.range.admits(cc)),
            (Subject::Package, _) => {
                let mut asked = question.frameworks.iter().chain(&question.companions);
                asked.any(|ask| rule.row.package.as_deref() == Some(ask.package))
            }
            (Subject::Toolkit, _) => question.build.is_some(),
            (_, Subject::Gpu) => gpus.any(|cc| !rule.needs.admits(cc)),
            _ => true,
        }
    }

    /// Every rule.
    pub fn all(&self) -> impl Iterator<Item = &Needs<'c>> {
        self.needs.iter()
    }

    /// Every rule about an object.
    pub fn on(&self, object: Subject) -> impl Iterator<Item = &Needs<'c>> {
        self.needs.iter().filter(move |rule| rule.row.object == object)
    }
}
