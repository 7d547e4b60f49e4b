//! Ordinary packages, which nothing is solved with: what the locked ones need of them, what they need of the locked ones,
//! and whether what `[packages]` asks for leaves that out.

mod among;
pub mod coming;
pub mod shared;

use std::collections::BTreeSet;

use crate::catalog::rows::{Asks, FoundIn};
use crate::types::constraint::{Op, least};
use crate::types::specifier::around;
use crate::types::{Constraint, CpuArch, Specifier, Version};

use super::facts::Facts;

pub use among::{Among, Taken, newest as newest_of};

/// What is said of a package of `[packages]` beside what is locked.
#[derive(Debug, Clone)]
pub struct Judged<'c> {
    /// The fact.
    pub row: &'c Asks,
    /// What is locked that it is about.
    pub beside: Beside,
    /// What follows.
    pub follows: Follows,
}

/// A package or Python, and the release that is locked of it.
pub type Locked = (String, Version);

/// What is beside an ordinary package: a locked release, or one that comes along with it.
#[derive(Debug, Clone)]
pub struct Beside {
    /// The package and its release.
    pub what: Locked,
    /// The locked one that brings it, or that it is held to; none where it is locked itself.
    pub with: Option<Locked>,
    /// Whether it is there whoever asks for it: locked, or pinned by what is.
    pub sure: bool,
    /// The releases of it that go with what is locked, where nothing holds an installer to one; none where that is there.
    pub going: Option<Vec<Version>>,
}

impl From<Locked> for Beside {
    fn from(what: Locked) -> Self {
        Beside { what, with: None, sure: true, going: None }
    }
}

impl Beside {
    /// The one that is locked.
    pub fn locked(&self) -> &Locked {
        self.with.as_ref().unwrap_or(&self.what)
    }
}

/// What follows for a package of `[packages]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Follows {
    /// Every release that is asked for is left out; what could be asked for instead, if that is known.
    Excluded(Option<String>),
    /// Installers would take a release that does not run with it, for nobody tells them: what holds them back, `<5.1`.
    Held(String),
}

/// What releases of a package need of ordinary ones on a line of Python.
pub fn asked_by<'c>(facts: &Facts<'c>, python: Option<Version>, (package, version): &Locked) -> Vec<&'c Asks> {
    facts.wants_on(python, package).about(version).collect()
}

/// The Python among what is locked.
fn python_of<'l>(mut locked: impl Iterator<Item = &'l Locked>) -> Option<Version> {
    locked.find(|(package, _)| package == "python").map(|(_, version)| *version)
}

/// What all that is locked needs of ordinary packages.
fn asked_by_all<'c>(facts: &Facts<'c>, locked: &[Locked]) -> Vec<&'c Asks> {
    let python = python_of(locked.iter());
    locked.iter().flat_map(|one| asked_by(facts, python, one)).collect()
}

/// What no installer knows of that.
pub fn untold<'c>(facts: &Facts<'c>, package: &str, version: &Version) -> Vec<&'c Asks> {
    facts.wants(package).about(version).filter(|row| row.found_in == FoundIn::Code).collect()
}

/// What a part of a release needs.
pub fn of_parts<'c>(facts: &Facts<'c>, package: &str, version: &Version) -> Vec<&'c Asks> {
    let (wants, version) = (facts.wants(package), version.release());
    wants.parts().iter().filter(|(range, _)| range.admits(&version)).map(|(_, row)| *row).collect()
}

/// The facts that decide what an answer carries or warns of: what locked packages need without saying so, and what
/// follows for packages of `[packages]`, and for those that come along.
pub fn deciding<'c>(facts: &Facts<'c>, beside: &[Beside], packages: &[(String, Specifier)]) -> Vec<(&'c Asks, String)> {
    let of_itself = beside.iter().filter(|one| one.with.is_none());
    let locked: &[Locked] = &of_itself.map(|one| one.what.clone()).collect::<Vec<_>>();
    let mut found = Vec::new();
    for (package, version) in locked {
        found.extend(untold(facts, package, version).into_iter().map(|row| (row, package.clone())));
    }
    for (name, asked) in packages {
        let judged = judged(facts, beside, name, asked).into_iter();
        found.extend(judged.map(|one| (one.row, one.beside.locked().0.clone())));
    }
    let among = Among::of(facts, locked, packages);
    for (package, _) in locked {
        found.extend(among.held_by(facts, package).into_iter().map(|row| (row, package.clone())));
    }
    for (name, asked) in brought(facts, locked, packages) {
        let wants = facts.wants_on(python_of(locked.iter()), &name);
        let held = Releases::judged(wants.with_extras(&asked), beside, &asked);
        let held = held.filter(|one| matches!(one.follows, Follows::Held(_)));
        found.extend(held.map(|one| (one.row, one.beside.locked().0.clone())));
    }
    found
}

/// What nobody wrote and installers bring along of what nothing is solved with. What all who are locked bring is as they need
/// it; of others an installer takes an older release where what that asks for is known not to run.
pub fn brought(facts: &Facts<'_>, locked: &[Locked], packages: &[(String, Specifier)]) -> Vec<(String, Specifier)> {
    let of_locked = asked_by_all(facts, locked);
    let beside: Vec<Beside> = locked.iter().cloned().map(Beside::from).collect();
    let loosened = |(name, asked): (&str, Specifier)| {
        let is_free = !of_locked.iter().any(|row| *row.of == *name);
        let is_out = is_free && is_excluded(facts, &beside, name, &asked);
        (name.to_string(), if is_out { Specifier::default() } else { asked })
    };
    let coming = coming::coming(facts, locked, packages);
    let coming = coming.iter().filter(|(name, _)| !facts.is_solved(name));
    coming.map(|(name, asked)| loosened((name, asked.clone()))).collect()
}

/// Whether every release that is asked for of an ordinary package leaves out what is beside it.
pub fn is_excluded(facts: &Facts<'_>, beside: &[Beside], name: &str, asked: &Specifier) -> bool {
    let python = python_of(beside.iter().map(|one| &one.what));
    let judged = Releases::judged(facts.wants_on(python, name).with_extras(asked), beside, asked);
    judged.is_some_and(|one| matches!(one.follows, Follows::Excluded(_)))
}

/// What is said of a package of `[packages]`.
pub fn judged<'c>(facts: &Facts<'c>, beside: &[Beside], name: &str, asked: &Specifier) -> Vec<Judged<'c>> {
    let (mut found, python) = (Vec::new(), python_of(beside.iter().map(|one| &one.what)));
    for one in beside.iter().filter(|one| one.sure) {
        let rows = asked_by(facts, python, &one.what).into_iter();
        for row in rows.filter(|row| *row.of == *name && excludes(asked, &row.needs)) {
            let instead = Follows::Excluded(Some(row.needs.to_string()));
            found.push(Judged { row, beside: one.clone(), follows: instead });
        }
    }
    found.extend(Releases::judged(facts.wants_on(python, name).with_extras(asked), beside, asked));
    found
}

/// The packages of `[packages]`, or that come along, of which every release that is asked for lacks a part beside what is
/// locked: their name, what is asked for, and why.
pub fn without_part<'c>(
    facts: &Facts<'c>,
    locked: &[Locked],
    packages: &[(String, Specifier)],
) -> Vec<(String, Specifier, Judged<'c>)> {
    let all = packages.iter().cloned().chain(brought(facts, locked, packages));
    let beside: Vec<Beside> = locked.iter().cloned().map(Beside::from).collect();
    let lacking = |(name, asked): (String, Specifier)| {
        let is_excluded = |one: &Judged<'_>| matches!(one.follows, Follows::Excluded(_));
        let judged = Releases::judged(facts.wants(&name).parts().iter(), &beside, &asked).filter(is_excluded)?;
        (!self::judged(facts, &beside, &name, &asked).iter().any(is_excluded)).then_some((name, asked, judged))
    };
    all.filter_map(lacking).collect()
}

/// Why what a release asks for of an ordinary package has no release for a line of Python; none where it has, or nobody
/// tells.
pub fn without_wheels<'c>(facts: &Facts<'c>, asks: &Asks, line: &Version) -> Option<Judged<'c>> {
    let python = [("python".to_string(), *line).into()];
    let asked = Specifier::parse(&asks.needs).ok().filter(|_| *asks.of != *"python")?;
    judged(facts, &python, &asks.of, &asked).into_iter().find(|one| matches!(one.follows, Follows::Excluded(_)))
}

/// Why nothing that is asked for of an ordinary package is for a processor and its glibc, where nothing but wheels is published.
pub fn elsewhere<'c>(
    facts: &Facts<'c>,
    (arch, glibc): (CpuArch, Option<Version>),
    name: &str,
    asked: &Specifier,
) -> Option<Judged<'c>> {
    let (python, none) = ("python".to_string(), Version::parse("0").ok()?);
    let fits = |row: &Asks| {
        let is_too_old = row.needs_glibc(arch).zip(glibc).is_some_and(|(needs, has)| has < needs);
        let fits = !is_too_old && (row.arches.is_empty() || row.arches.contains(&arch));
        (row.found_in == FoundIn::OnlyWheels).then(|| ((python.clone(), none).into(), fits))
    };
    Releases::speaking(facts.wants(name).rows().iter(), fits).judge(asked)
}

/// What exports hold ordinary packages to beside one locked package, `transformers<5.1`, or what comes along with it: those that
/// are written or come along.
pub fn held(facts: &Facts<'_>, locked: &str, beside: &[Beside], packages: &[(String, Specifier)]) -> Vec<String> {
    let (there, python) = (beside, python_of(beside.iter().map(|one| &one.what)));
    let beside: Vec<Beside> = beside.iter().filter(|one| one.locked().0 == *locked).cloned().collect();
    let mut all = Vec::new();
    for (name, asked) in packages {
        let judged = Releases::judged(facts.wants_on(python, name).with_extras(asked), &beside, asked);
        // Older releases may be for older Pythons, or leave out the rest.
        let judged = judged.filter(|_| !is_excluded(facts, there, name, asked));
        if let Some(Follows::Held(below)) = judged.map(|one| one.follows) {
            all.push(format!("{name}{below}"));
        }
    }
    all
}

/// What the releases of an ordinary package need of what is locked.
struct Releases<'c> {
    rows: Vec<Speaks<'c>>,
    /// The newest release that was read, where later ones may need something else.
    last: Option<Version>,
    /// The oldest release that is judged: the first that was read, where rows begin with it, or that which older ones have no
    /// wheel either as of, for a Python that is newer than all of its own.
    first: Option<Version>,
    /// The releases whose metadata asks for anything but Python: that of others tells nothing of what they run with.
    telling: Vec<Constraint>,
}

/// A row about what is locked.
struct Speaks<'c> {
    row: &'c Asks,
    range: Constraint,
    beside: Beside,
    /// Whether the locked release is one that it needs.
    fits: bool,
}

impl<'c> Releases<'c> {
    /// What follows from what is asked for; nothing where nothing that is told of it is against what is locked.
    fn judged<'r>(
        told: impl Iterator<Item = &'r (Constraint, &'c Asks)>,
        beside: &[Beside],
        asked: &Specifier,
    ) -> Option<Judged<'c>>
    where
        'c: 'r,
    {
        Self::beside(told, beside).judge(asked)
    }

    /// What rows say of what is beside a package.
    fn beside<'r>(told: impl Iterator<Item = &'r (Constraint, &'c Asks)>, beside: &[Beside]) -> Self
    where
        'c: 'r,
    {
        let about = |row: &Asks| {
            // What any release will do for says nothing of it, but where none goes.
            let is_it = |one: &&Beside| *row.of == *one.what.0 && (*row.needs != *"*" || one.going.is_some());
            let (beside, needs) = (beside.iter().find(is_it)?, range_of(&row.needs)?);
            let fits = match &beside.going {
                Some(going) => going.iter().any(|version| needs.admits(version)),
                None => needs.admits(&beside.what.1.release()),
            };
            Some((beside.clone(), fits))
        };
        Self::speaking(told, about)
    }

    /// The same of what rows are about and whether that fits, where they speak of it.
    fn speaking<'r>(
        told: impl Iterator<Item = &'r (Constraint, &'c Asks)>,
        fits: impl Fn(&Asks) -> Option<(Beside, bool)>,
    ) -> Self
    where
        'c: 'r,
    {
        let (mut rows, mut telling, mut read) = (Vec::new(), Vec::new(), Vec::new());
        for (range, row) in told {
            read.extend(first_read(range, row));
            if *row.of != *"python" && row.found_in == FoundIn::Metadata {
                telling.push(range.clone());
            }
            let Some((beside, fits)) = fits(row) else { continue };
            rows.push(Speaks { row, range: range.clone(), beside, fits });
        }
        let ends = rows.iter().flat_map(|one| one.range.comparisons()).filter(|one| one.op == Op::AtMost);
        let last = ends.filter_map(|one| one.version).max();
        let begins = |one: &Speaks| one.range.comparisons().find(|one| one.op.is_lower()).and_then(|one| one.version);
        let oldest = rows.iter().min_by_key(|one| begins(one)).filter(|one| one.is_too_old());
        let first = oldest.and_then(begins).max(read.into_iter().min());
        Releases { rows, last, first, telling }
    }

    /// What follows from what is asked for.
    fn judge(&self, asked: &Specifier) -> Option<Judged<'c>> {
        if self.rows.iter().all(|one| one.fits) {
            return None;
        }
        let (all, admitted) = self.admitted(asked)?;
        let (oldest, newest) = (admitted.first()?, admitted.last()?);
        // Of the release that they would take is told what it fails for.
        let taken = admitted.iter().rev().find(|version| !self.is_passed_over(version)).unwrap_or(newest);
        if let Some(against) = self.against(taken)
            && admitted.iter().all(|version| self.against(version).is_some())
        {
            // What does not ask for it tells nothing where it asks for nothing at all.
            let is_meant = |version: &Version| !against.is_asked_for() || self.tells(version);
            let others: Vec<Version> = all.into_iter().filter(is_meant).collect();
            // Which other releases have the extra nobody tells.
            let instead = self.instead(&others, *oldest, *newest).filter(|_| against.row.extra.is_none());
            return Some(against.judged(Follows::Excluded(instead)));
        }
        // What its metadata is against is passed over by whoever installs; below that the newest is taken.
        let (mut newest, mut held): (Option<&Speaks>, Option<&Speaks>) = (None, None);
        for version in admitted.iter().rev() {
            match self.against(version) {
                Some(one) if one.known_by() <= FoundIn::OnlyWheels => {}
                Some(one) if one.known_by() == FoundIn::Code => {
                    newest = newest.or(Some(one));
                    held = Some(one);
                }
                None if !self.tells(version) && held.is_some_and(Speaks::is_asked_for) => {
                    return newest.map(|one| one.judged(Follows::Excluded(None)));
                }
                _ => break,
            }
        }
        let held = held?;
        let from = held.range.comparisons().find(|one| one.op == Op::AtLeast)?.version?;
        Some(held.judged(Follows::Held(format!("<{from}"))))
    }

    /// The releases that are known, or stand for such, oldest first, and those among them that are asked for.
    fn admitted(&self, asked: &Specifier) -> Option<(Vec<Version>, Vec<Version>)> {
        let wanted = asked.range()?;
        let all = self.tried(&wanted);
        let admitted = all.iter().copied().filter(|version| wanted.admits(version) && asked.admits(version)).collect();
        Some((all, admitted))
    }

    /// What installers take where all that tells what it needs needs something else than is locked: what tells nothing, as `<0.3.5`.
    fn left_untold(&self, asked: &Specifier) -> Option<String> {
        let (_, admitted) = self.admitted(asked)?;
        let newest = admitted.last().filter(|newest| self.tells(newest))?;
        let taken = admitted.iter().rev().find(|version| !self.is_passed_over(version))?;
        let is_asked_for = self.against(newest)?.is_asked_for() && !self.tells(taken);
        let begins = self.telling.iter().flat_map(Constraint::comparisons).filter(|one| one.op.is_lower());
        let from = begins.filter_map(|one| one.version).filter(|from| from > taken).min()?;
        is_asked_for.then(|| format!("<{from}"))
    }

    /// Whether the metadata of a release asks for anything but Python.
    fn tells(&self, version: &Version) -> bool {
        self.telling.iter().any(|range| range.admits(version))
    }

    /// Whether installers know that a release does not fit: they pass it over.
    fn is_passed_over(&self, version: &Version) -> bool {
        self.against(version).is_some_and(|one| one.known_by() <= FoundIn::OnlyWheels)
    }

    /// The row that is against a release, what installers know before the rest.
    fn against(&self, version: &Version) -> Option<&Speaks<'c>> {
        let against = self.rows.iter().filter(|one| !one.fits && one.range.admits(version));
        against.min_by_key(|one| one.known_by())
    }

    /// Versions of every range, oldest first: those that rows and the request name, and those right beside them.
    fn tried(&self, wanted: &Constraint) -> Vec<Version> {
        let ranges = self.rows.iter().map(|one| &one.range).chain([wanted]);
        let mut tried: BTreeSet<Version> = BTreeSet::new();
        for bound in ranges.flat_map(Constraint::comparisons).filter_map(|one| one.version) {
            tried.extend(around(bound));
        }
        tried.extend(self.first);
        let was_read = |version: &Version| {
            self.last.is_none_or(|last| *version <= last) && self.first.is_none_or(|first| *version >= first)
        };
        tried.into_iter().filter(was_read).collect()
    }

    /// What could be asked for instead: the nearest release that a row says to fit, the later one first.
    fn instead(&self, all: &[Version], oldest: Version, newest: Version) -> Option<String> {
        let known = |version: &&Version| self.rows.iter().any(|one| one.range.admits(version));
        let later = all.iter().filter(|version| **version > newest && self.against(version).is_none()).find(known);
        if let Some(version) = later {
            return Some(format!(">={version}"));
        }
        let end =
            all.iter().rev().filter(|version| **version < oldest).take_while(|version| self.against(version).is_some());
        let end = end.last().copied().unwrap_or(oldest);
        let has_earlier = all.iter().any(|version| *version < end);
        has_earlier.then(|| format!("<{end}"))
    }
}

impl<'c> Speaks<'c> {
    /// Who knows that it does not fit. That what it brings along goes with nothing that is locked no installer knows.
    fn known_by(&self) -> FoundIn {
        if self.beside.going.is_none() { self.row.found_in } else { FoundIn::Code }
    }

    /// Whether metadata asks for something else than Python.
    fn is_asked_for(&self) -> bool {
        self.row.found_in == FoundIn::Metadata && *self.row.of != *"python"
    }

    /// Whether it is of wheels for Pythons that are all older than the locked one.
    fn is_too_old(&self) -> bool {
        let of_wheels = matches!(self.row.found_in, FoundIn::Wheels | FoundIn::OnlyWheels);
        let newest =
            range_of(&self.row.needs).and_then(|needs| needs.comparisons().filter_map(|one| one.version).max());
        of_wheels && !self.fits && newest.is_some_and(|newest| newest <= self.beside.what.1)
    }

    fn judged(&self, follows: Follows) -> Judged<'c> {
        Judged { row: self.row, beside: self.beside.clone(), follows }
    }
}

/// The first release of all that were read, of a row that begins with it: of older ones nothing is known.
fn first_read(range: &Constraint, row: &Asks) -> Option<Version> {
    row.read.filter(|_| range.alternatives().iter().any(|all| least(all).is_none()))
}

/// What installers fall back to of an ordinary package, `<0.3.5`, where that is known of no release that tells what it needs: of
/// those that tell nothing nobody knows whether they run.
pub fn left_untold(facts: &Facts<'_>, beside: &[Beside], name: &str, asked: &Specifier) -> Option<String> {
    let wants = facts.wants_on(python_of(beside.iter().map(|one| &one.what)), name);
    Releases::beside(wants.with_extras(asked), beside).left_untold(asked)
}

/// Whether all that is asked for of an ordinary package lies outside of every range of its releases that was read, is older than
/// the first or newer than the last of them, where that is told. Of one whose metadata asks for nothing it is no matter.
pub fn is_unread(facts: &Facts<'_>, name: &str, asked: &Specifier) -> bool {
    let wants = facts.wants(name);
    let rows: Vec<_> = wants.rows().iter().chain(wants.parts()).collect();
    let asks_nothing = |row: &Asks| (&*row.of, &*row.needs) == ("python", "*") && row.found_in == FoundIn::Metadata;
    // Of ranges without an end what they need at the least is known of later releases, too.
    let ends = rows.iter().filter(|(_, row)| row.read.is_some()).flat_map(|(range, _)| range.comparisons());
    let last = ends.filter(|one| one.op == Op::AtMost).filter_map(|one| one.version).max();
    let first = rows.iter().filter_map(|(range, row)| first_read(range, row)).min();
    let is_newer = last.is_some_and(|last| excludes(asked, &format!("<={last}")));
    let is_older = first.is_some_and(|first| excludes(asked, &format!(">={first}")));
    let is_outside = |row: &Asks| is_newer || excludes(asked, &row.range) || is_older && row.read.is_some();
    !rows.is_empty() && rows.iter().all(|(_, row)| (is_older || !asks_nothing(row)) && is_outside(row))
}

/// The extras that are asked for of an ordinary package and of which no row speaks: what they ask for nobody has read.
pub fn unread_extras<'a>(facts: &Facts<'_>, name: &str, asked: &'a Specifier) -> impl Iterator<Item = &'a String> {
    let wants = facts.wants(name);
    asked.extras.iter().filter(move |extra| !wants.knows_extra(extra))
}

/// Whether no release can be what both ask for.
pub fn excludes(asked: &Specifier, needs: &str) -> bool {
    Specifier::parse(needs).is_ok_and(|needs| asked.excludes(&needs))
}

/// What a specifier of a row admits.
fn range_of(needs: &str) -> Option<Constraint> {
    Specifier::parse(needs).ok()?.range()
}

#[cfg(test)]
mod tests;
