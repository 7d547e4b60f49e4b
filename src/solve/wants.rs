//! What releases of a package ask for of those that nothing is solved with.

use crate::catalog::Catalog;
use crate::catalog::rows::{Asks, Companion, FoundIn};
use crate::types::{Constraint, CpuArch, Specifier, Version};

/// A package and what is asked for of it, `tilelang` and `==0.1.9`.
pub type Want<'c> = (&'c str, &'c str);

/// The range of what is asked for; where nothing is said of it, any.
pub fn range(asked: &str) -> Option<Specifier> {
    Specifier::parse(if asked.is_empty() { "*" } else { asked }).ok()
}

/// What the releases of a package ask for of those that nothing is solved with.
#[derive(Debug, Default)]
pub struct Wants<'c> {
    rows: Vec<(Constraint, &'c Asks)>,
    /// What a part of them needs.
    parts: Vec<(Constraint, &'c Asks)>,
    /// What extras of them alone ask for.
    of_extras: Vec<(Constraint, &'c Asks)>,
}

impl<'c> Wants<'c> {
    /// Of one package on a line of Python, or on all that its releases are for. The lint has read every range; one that it lets
    /// pass unread speaks of nothing.
    pub(super) fn of(catalog: &'c Catalog, package: &str, python: Option<Version>) -> Self {
        let is_on =
            |range: &str| python.zip(Constraint::parse(range).ok()).is_some_and(|(line, range)| range.admits(&line));
        let rows = catalog.asks.of(package).iter().filter(|row| row.python.is_none_or(|range| is_on(&range)));
        let read = rows.filter_map(|row| Some((Constraint::parse(&row.range).ok()?, row)));
        let (parts, rows): (Vec<_>, Vec<_>) = read.partition(|(_, row)| row.found_in == FoundIn::Part);
        let (rows, of_extras) = rows.into_iter().partition(|(_, row)| row.extra.is_none());
        Wants { rows, parts, of_extras }
    }

    /// Each range of releases, and what a part of them needs.
    pub fn parts(&self) -> &[(Constraint, &'c Asks)] {
        &self.parts
    }

    /// Each range of releases, and what it asks for.
    pub fn rows(&self) -> &[(Constraint, &'c Asks)] {
        &self.rows
    }

    /// The same with what the extras that somebody asks for bring.
    pub fn with_extras(&self, asked: &Specifier) -> impl Iterator<Item = &(Constraint, &'c Asks)> {
        let is_asked = |row: &Asks| row.extra.as_ref().is_some_and(|extra| asked.has_extra(extra));
        self.rows.iter().chain(self.of_extras.iter().filter(move |(_, row)| is_asked(row)))
    }

    /// Whether rows speak of what an extra brings.
    pub fn knows_extra(&self, extra: &str) -> bool {
        let asked = Specifier { extras: vec![extra.to_string()], ..Specifier::default() };
        self.of_extras.iter().any(|(_, row)| row.extra.as_ref().is_some_and(|extra| asked.has_extra(extra)))
    }

    /// The rows about one release.
    pub fn about(&self, version: &Version) -> impl Iterator<Item = &'c Asks> {
        let version = version.release();
        self.rows.iter().filter(move |(range, _)| range.admits(&version)).map(|(_, row)| *row)
    }

    /// Of one release.
    pub fn at(&self, version: &Version) -> impl Iterator<Item = Want<'c>> {
        self.about(version).filter(|row| &*row.of != "python").map(|row| (&*row.of, &*row.needs))
    }

    /// Of a release of a package that follows a framework, what its own row says too.
    pub fn at_row(&self, row: &'c Companion, arches: &[CpuArch]) -> Vec<Want<'c>> {
        let mut asked: Vec<Want<'c>> = arches.iter().flat_map(|arch| row.asked(*arch)).collect();
        asked.dedup();
        asked.extend(self.at(&row.version));
        asked
    }
}
