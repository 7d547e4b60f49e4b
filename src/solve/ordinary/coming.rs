//! What installers bring along that nobody wrote: for the metadata of what is locked asks for it, or that of what `[packages]`
//! asks for, be it through others.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::catalog::rows::{Asks, FoundIn};
use crate::solve::facts::{Coming, Facts};
use crate::types::constraint::Op;
use crate::types::specifier::around;
use crate::types::{Constraint, Specifier, Version};

use super::{Beside, Locked, asked_by_all, python_of, range_of};

/// Each package that comes along, with what all who bring it ask for, as far as that is known of the releases that an
/// installer takes of them. Many machines have one stack, and many things are asked of each.
pub fn coming<'c>(facts: &Facts<'c>, locked: &[Locked], packages: &[(String, Specifier)]) -> Rc<Coming<'c>> {
    let written = packages.iter().map(|(name, asked)| (name.clone(), asked.to_string())).collect();
    facts.coming.get((locked.to_vec(), written), || find(facts, locked, packages))
}

fn find<'c>(facts: &Facts<'c>, locked: &[Locked], packages: &[(String, Specifier)]) -> Coming<'c> {
    let of_locked = of_locked(facts, locked, packages);
    let is_written = |name: &str| packages.iter().any(|(written, _)| *written == *name);
    let is_known = |name: &str| {
        ["python", "pip"].contains(&name) || is_written(name) || locked.iter().any(|(one, _)| *one == *name)
    };
    let mut found = of_locked.clone();
    // What a package is asked for decides which release of it is taken, and that what it asks for in turn.
    for _ in 0..DEEPEST {
        let mut next = of_locked.clone();
        let there = found.iter().map(|(name, asked)| (*name, asked));
        for (name, asked) in packages.iter().map(|(name, asked)| (name.as_str(), asked)).chain(there) {
            for row in brings(facts, locked, name, asked).into_iter().filter(|row| !is_known(&row.of)) {
                let Ok(needs) = Specifier::parse(&row.needs) else { continue };
                // Of two that exclude each other an installer keeps one, by an older release of who asks for the other.
                let both = match next.remove(row.of.as_str()) {
                    Some(all) if all.excludes(&needs) => all,
                    Some(all) => all.and(&needs),
                    None => needs,
                };
                next.insert(row.of.as_str(), both);
            }
        }
        if next == found {
            break;
        }
        found = next;
    }
    found
}

/// How many packages may ask for each other in a row.
const DEEPEST: usize = 8;

/// What the metadata of locked packages brings along: as all that is locked needs it.
fn of_locked<'c>(
    facts: &Facts<'c>,
    locked: &[Locked],
    packages: &[(String, Specifier)],
) -> BTreeMap<&'c str, Specifier> {
    let rows = asked_by_all(facts, locked);
    let is_written = |name: &str| name == "python" || packages.iter().any(|(written, _)| *written == *name);
    let names = rows.iter().filter(|row| row.found_in == FoundIn::Metadata && !is_written(&row.of));
    let needs = |name: &str| {
        let needs = rows.iter().filter(|row| *row.of == *name).filter_map(|row| Specifier::parse(&row.needs).ok());
        needs.reduce(|all, one| all.and(&one))
    };
    names.filter_map(|row| Some((row.of.as_str(), needs(&row.of)?))).collect()
}

/// What the metadata of the release asks for that an installer takes of an ordinary package.
fn brings<'c>(facts: &Facts<'c>, locked: &[Locked], name: &str, asked: &Specifier) -> Vec<&'c Asks> {
    let rows = taken_rows(facts, locked, name, asked).into_iter();
    rows.filter(|row| row.found_in == FoundIn::Metadata).collect()
}

/// What is solved with that the release does not start without though its metadata does not ask for it, and that nobody names.
pub fn missing<'c>(
    facts: &Facts<'c>,
    locked: &[Locked],
    packages: &[(String, Specifier)],
) -> Vec<(String, Specifier, &'c Asks)> {
    let all = packages.iter().cloned().chain(super::brought(facts, locked, packages));
    let is_there =
        |name: &str| locked.iter().any(|(one, _)| *one == *name) || packages.iter().any(|(one, _)| *one == *name);
    let lacking = |(name, asked): (String, Specifier)| {
        let rows = taken_rows(facts, locked, &name, &asked).into_iter();
        let left = rows.filter(|row| row.imports && facts.is_solved(&row.of) && !is_there(&row.of));
        left.map(|row| (name.clone(), asked.clone(), row)).collect::<Vec<_>>()
    };
    all.flat_map(lacking).collect()
}

/// The rows about the newest release that is asked for and that installers do not know to be against what is locked.
fn taken_rows<'c>(facts: &Facts<'c>, locked: &[Locked], name: &str, asked: &Specifier) -> Vec<&'c Asks> {
    let wants = facts.wants_on(python_of(locked.iter()), name);
    let told: Vec<(Constraint, &'c Asks)> = wants.with_extras(asked).cloned().collect();
    let beside: Vec<Beside> = locked.iter().cloned().map(Beside::from).collect();
    let Some(version) = taken(&told, &beside, asked) else { return Vec::new() };
    told.iter().filter(|(range, _)| range.admits(&version)).map(|(_, row)| *row).collect()
}

/// The newest of the releases that rows and the request name, and of those right beside them.
fn taken(told: &[(Constraint, &Asks)], beside: &[Beside], asked: &Specifier) -> Option<Version> {
    let wanted = asked.range()?;
    let bounds = || told.iter().flat_map(|(range, _)| range.comparisons());
    let last = bounds().filter(|one| one.op == Op::AtMost).filter_map(|one| one.version).max();
    let is_against = |row: &Asks| {
        let has = beside.iter().find(|one| *row.of == *one.what.0);
        let fits = |one: &Beside| range_of(&row.needs).is_none_or(|needs| needs.admits(&one.what.1.release()));
        row.found_in <= FoundIn::OnlyWheels && has.is_some_and(|one| !fits(one))
    };
    let against: Vec<&Constraint> = told.iter().filter(|(_, row)| is_against(row)).map(|(range, _)| range).collect();
    let tried: BTreeSet<Version> =
        bounds().filter_map(|one| one.version).chain(asked.bounds()).flat_map(around).collect();
    let serves = |version: &&Version| {
        wanted.admits(version)
            && asked.admits(version)
            && last.is_none_or(|last| **version <= last)
            && !against.iter().any(|range| range.admits(version))
    };
    tried.iter().rev().find(serves).copied()
}
