//! What packages need of others, where one of the two is not solved with.

use std::collections::HashMap;

use super::super::rows::*;
use super::super::tables::{Catalog, Named};
use super::rules::matches_something;
use super::{Say, constraint};
use crate::types::constraint::Op;
use crate::types::{Constraint, Specifier, Text, Version, address};

/// A package, what it needs, where that was found, the extra that asks for it, and on which Pythons.
type Pair<'c> = (&'c str, &'c str, FoundIn, Option<Text>, Option<Text>);

pub(super) fn lint(catalog: &Catalog, say: Say<'_>) {
    let mut ranges: HashMap<Pair<'_>, Vec<(&Asks, Constraint)>> = HashMap::new();
    for row in catalog.asks.iter() {
        let name = Named(row);
        sides(catalog, row, say);
        if Specifier::parse(&row.needs).is_err() || !address::is_package(&row.of) {
            say("specifier", "asks", &name, format!("`{} {}` is not a requirement", row.of, row.needs));
        }
        let is_part = row.found_in == FoundIn::Part;
        if row.says.is_empty() == (row.found_in == FoundIn::Code || is_part) {
            say("belongs-together", "asks", &name, "what only code says, and nothing else, has a sentence".into());
        }
        if row.found_in == FoundIn::Code && *row.needs == *"*" && !row.imports
            || row.imports && row.found_in != FoundIn::Code
        {
            say("belongs-together", "asks", &name, "code that needs any release of another imports it".into());
        }
        let of_wheels = matches!(row.found_in, FoundIn::Wheels | FoundIn::OnlyWheels);
        let is_placed = !row.arches.is_empty() || row.glibc.is_some() || row.arm_glibc.is_some();
        if of_wheels && *row.of != *"python" || is_placed && row.found_in != FoundIn::OnlyWheels {
            say(
                "belongs-together",
                "asks",
                &name,
                "the tags of wheels tell of Pythons, and of processors where there is nothing else".into(),
            );
        }
        if (row.extra.is_some() || row.python.is_some()) && row.found_in != FoundIn::Metadata {
            say("belongs-together", "asks", &name, "extras and Pythons stand in metadata".into());
        }
        if let Some(python) = &row.python {
            constraint("asks", &name, python, say);
        }
        let Some(range) = constraint("asks", &name, &row.range, say) else { continue };
        read(row, &range, say);
        // Of releases that somebody has not read, another may say more.
        if row.read.is_none() {
            continue;
        }
        ranges.entry((&row.package, &row.of, row.found_in, row.extra, row.python)).or_default().push((row, range));
    }
    for rows in ranges.values() {
        apart(rows, say);
    }
}

/// One of the two is solved with, and the other is not; of two ordinary ones is told what no installer knows, and who brings
/// a module that one of the first has, or what needs them by its code alone.
fn sides(catalog: &Catalog, row: &Asks, say: Say<'_>) {
    let name = Named(row);
    let is_solved = |package: &str| {
        ["python", "pip", "cuda"].contains(&package)
            || !catalog.builds.of(package).is_empty()
            || !catalog.companions.of(package).is_empty()
    };
    let (package, of) = (is_solved(&row.package), is_solved(&row.of));
    // Of a part nothing is solved.
    if package && of && row.found_in != FoundIn::Part {
        say("specifier", "asks", &name, format!("{} is solved with: that is a rule, or `requires`", row.of));
    } else if !package
        && !of
        && row.found_in != FoundIn::Code
        && !shares_module(catalog, &row.of)
        && !by_code(catalog, &row.of)
    {
        say("specifier", "asks", &name, "nothing is solved with either of the two".into());
    }
    if !package && !of {
        return;
    }
    if package && row.extra.is_some() {
        say("belongs-together", "asks", &name, "extras are asked for of what is not solved with".into());
    }
    let (solved, text) = if package { (&row.package, &row.range) } else { (&row.of, &row.needs) };
    let Ok(range) = Constraint::parse(text) else { return };
    let has_one = match &**solved {
        "pip" => true,
        "python" => catalog.pythons.iter().any(|python| range.admits(&python.version)),
        name => matches_something(catalog, Subject::Package, Some(name), &range),
    };
    if has_one {
        return;
    }
    // Releases of old need what is older than the catalog.
    let builds = catalog.builds.of(solved).iter().map(|row| row.version);
    let oldest = builds.chain(catalog.companions.of(solved).iter().map(|row| row.version)).min();
    let ends = range.comparisons().filter(|one| matches!(one.op, Op::Below | Op::AtMost)).filter_map(|one| one.version);
    let is_older = ends.zip(oldest).any(|(end, oldest)| end <= oldest);
    let may_be_older = is_older || range.single().is_some() || range.only_upper_bounds();
    if package || !may_be_older {
        say("rule-range", "asks", &name, format!("no {solved} is in `{text}`"));
    }
}

/// Whether its code needs more than its metadata says, so that it matters who brings it.
fn by_code(catalog: &Catalog, package: &str) -> bool {
    catalog.asks.of(package).iter().any(|row| row.found_in == FoundIn::Code)
}

/// Whether a package that is solved with may have its module.
fn shares_module(catalog: &Catalog, package: &str) -> bool {
    catalog.shared_modules.iter().any(|row| row.packages.iter().any(|one| **one == *package))
}

/// A range whose releases were read begins with the first of them, and the row is named after that one.
fn read(row: &Asks, range: &Constraint, say: Say<'_>) {
    let name = Named(row);
    let Some(read) = &row.read else { return };
    let from = range.comparisons().find(|one| one.op == Op::AtLeast).and_then(|one| one.version);
    let is_first = from.is_none_or(|from| from == *read || (from.len() == 2 && read.cmp_prefix(&from).is_eq()));
    if !range.admits(read) || !is_first {
        say("read", "asks", &name, format!("`{}` does not begin with {read}", row.range));
    }
    if !row.id.is_empty() {
        let spelled = Asks { id: Text::default(), ..row.clone() }.name();
        if *row.id != *spelled {
            say("read", "asks", &name, format!("is `{spelled}`"));
        }
    }
}

/// Of one release one row tells, and those that meet tell different things.
fn apart(rows: &[(&Asks, Constraint)], say: Say<'_>) {
    let end = |range: &Constraint| range.comparisons().find(|one| one.op == Op::Below).and_then(|one| one.version);
    let begin = |range: &Constraint| range.comparisons().find(|one| one.op == Op::AtLeast).and_then(|one| one.version);
    for (row, range) in rows {
        for (other, of) in rows.iter().filter(|(other, _)| other.read != row.read) {
            let starts = |version: &Version| range.admits(version);
            if begin(of).as_ref().is_some_and(starts) || other.read.as_ref().is_some_and(starts) {
                say("read", "asks", &Named(*row), format!("speaks of releases of `{}` too", other.name()));
            } else if end(range).is_some()
                && end(range) == begin(of)
                && (&row.needs, &row.says, &row.arches, &row.glibc, &row.arm_glibc)
                    == (&other.needs, &other.says, &other.arches, &other.glibc, &other.arm_glibc)
            {
                say("read", "asks", &Named(*row), format!("says what `{}` says: they are one", other.name()));
            }
        }
    }
}
