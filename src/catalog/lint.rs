//! What the types alone cannot refuse: names used twice, sources that do not exist, ranges that mean nothing.
//!
//! The build script refuses a catalog with findings; `gpuenv catalog check` shows them for overlays.

use std::collections::{HashMap, HashSet};

use super::rows::*;
use super::tables::{Catalog, Row};
use crate::words::{Arch, Constraint, Requirement, Version};

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The row, kind first: `driver 535.183.01`.
    pub row: String,
    /// What is wrong with it.
    pub says: String,
}

/// Everything wrong with a catalog that must stand on its own.
pub fn lint(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut say = |kind: &str, row: &dyn std::fmt::Display, says: String| {
        findings.push(Finding { row: format!("{kind} {row}"), says });
    };
    names_and_sources(catalog, &mut say);
    dates(catalog, &mut say);
    order_of_drivers(catalog, &mut say);
    references(catalog, &mut say);
    ranges(catalog, &mut say);
    findings
}

type Say<'s> = &'s mut dyn FnMut(&str, &dyn std::fmt::Display, String);

fn names_and_sources(catalog: &Catalog, say: Say<'_>) {
    let known: HashSet<&str> = catalog.sources.iter().map(|source| &*source.id).collect();
    let mut seen = HashSet::new();
    let mut cited: HashSet<&str> = HashSet::new();
    for row in catalog.rows() {
        if !seen.insert(format!("{} {}", row.kind, row.name)) {
            say(row.kind, &row.name, "stands twice".into());
        }
        for source in row.cites {
            if !known.contains(source) {
                say(row.kind, &row.name, format!("source `{source}` does not exist"));
            }
            cited.insert(source);
        }
    }
    for source in catalog.sources.iter() {
        if !cited.contains(&*source.id) {
            say("source", &source.row_name(), "no row rests on it".into());
        }
        if source.kind == SourceKind::Article && source.note.is_none() {
            say("source", &source.row_name(), "a source of kind `article` needs a note: why nothing better".into());
        }
    }
}

/// Dates are `2026-11`, `2026-11-20` or a year; nothing else sorts.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let sizes: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let digits = parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    digits && [&[4][..], &[4, 2], &[4, 2, 2]].contains(&sizes.as_slice())
}

fn dates(catalog: &Catalog, say: Say<'_>) {
    let sources = catalog.sources.iter().map(|row| ("source", row.row_name(), Some(&row.seen)));
    let branches = catalog.branches.iter().map(|row| ("branch", row.row_name(), row.eol.as_ref()));
    let drivers = catalog.drivers.iter().map(|row| ("driver", row.row_name(), row.date.as_ref()));
    let toolkits = catalog.toolkits.iter().map(|row| ("toolkit", row.row_name(), row.released.as_ref()));
    let cudnns = catalog.cudnns.iter().map(|row| ("cudnn", row.row_name(), row.date.as_ref()));
    let nccls = catalog.nccls.iter().map(|row| ("nccl", row.row_name(), row.date.as_ref()));
    let oses = catalog.oses.iter().map(|row| ("os", row.row_name(), row.eol.as_ref()));
    let all = sources.chain(branches).chain(drivers).chain(toolkits).chain(cudnns).chain(nccls).chain(oses);
    for (kind, name, date) in all {
        if let Some(date) = date.filter(|date| !is_date(date)) {
            say(kind, &name, format!("`{date}` is no date: 2026-11-20 or 2026-11 is expected"));
        }
    }
}

/// Months a driver may be dated before a lower number of its branch: side lines are numbered apart.
const SLACK_MONTHS: u32 = 12;

/// Within a branch, greater numbers are not much older: a date in the wrong row shows here.
fn order_of_drivers(catalog: &Catalog, say: Say<'_>) {
    let mut latest: HashMap<u64, u32> = HashMap::new();
    let mut rows: Vec<&Driver> = catalog.drivers.iter().filter(|row| !row.beta).collect();
    rows.sort_by(|left, right| left.version.cmp(&right.version));
    for row in rows {
        let Some(month) = row.date.as_deref().and_then(months) else { continue };
        let newest = latest.entry(row.version.major()).or_insert(month);
        if month + SLACK_MONTHS < *newest {
            say("driver", &row.row_name(), "is dated long before a lower number of its branch".into());
        }
        *newest = month.max(*newest);
    }
}

/// Months since year zero.
fn months(date: &str) -> Option<u32> {
    let mut parts = date.split('-').map(|part| part.parse::<u32>().ok());
    Some(parts.next()?? * 12 + parts.next()??)
}

/// Rows that point at rows of other tables.
fn references(catalog: &Catalog, say: Say<'_>) {
    let branches: HashSet<u64> = catalog.branches.iter().map(|row| row.branch.major()).collect();
    for row in catalog.drivers.iter() {
        if !branches.contains(&row.version.major()) {
            say("driver", &row.row_name(), format!("branch {} does not exist", row.version.major()));
        }
    }
    for row in catalog.gpus.iter() {
        let first = row.first_driver.iter().chain(row.last_branch.iter());
        for version in first.filter(|version| !branches.contains(&version.major())) {
            say("gpu", &row.row_name(), format!("branch {} does not exist", version.major()));
        }
        if row.first_driver.is_some() != row.driver_source.is_some() {
            say("gpu", &row.row_name(), "first_driver and driver_source belong together".into());
        }
    }
    for row in catalog.compats.iter() {
        for base in [&row.branch].into_iter().chain(row.bases.iter()) {
            if !branches.contains(&base.major()) {
                say("compat", &row.row_name(), format!("branch {base} does not exist"));
            }
        }
    }
    let isas: HashSet<&Version> = catalog.ptx_isas.iter().map(|row| &row.isa).collect();
    for row in catalog.toolkits.iter() {
        if !isas.contains(&row.ptx_isa) {
            say("toolkit", &row.row_name(), format!("PTX ISA {} does not exist", row.ptx_isa));
        }
        if row.sass.is_empty() || row.ptx.is_empty() {
            say("toolkit", &row.row_name(), "compiles for no architecture".into());
        }
    }
    let known: HashSet<&Arch> = catalog.toolkits.iter().flat_map(|row| row.sass.iter().chain(row.ptx.iter())).collect();
    for row in catalog.builds.iter() {
        for arch in row.sass.iter().chain(row.ptx.iter()).filter(|arch| !known.contains(arch)) {
            say("build", &row.row_name(), format!("no toolkit compiles for {arch}"));
        }
    }
    for row in catalog.image_requires.iter() {
        if let Some(unreadable) = Requirement::parse(&row.require).unreadable() {
            say("image_require", &row.row_name(), unreadable.to_string());
        }
    }
    let requires: HashSet<&str> = catalog.image_requires.iter().map(|row| &*row.id).collect();
    for row in catalog.images.iter() {
        for arch in row.arches.iter() {
            let wanted = row.require.as_ref().map(|id| format!("{id}@{arch}"));
            if let Some(id) = wanted.filter(|id| !requires.contains(id.as_str())) {
                say("image", &row.row_name(), format!("image_require `{id}` does not exist"));
            }
        }
    }
    spellings(catalog, say);
}

/// An operating system's spellings lead to one row only.
fn spellings(catalog: &Catalog, say: Say<'_>) {
    let mut owner: HashMap<String, &str> = HashMap::new();
    for row in catalog.oses.iter() {
        for spelling in [&row.id].into_iter().chain(row.aliases.iter()) {
            if let Some(other) = owner.insert(spelling.to_lowercase(), &row.id) {
                say("os", &row.row_name(), format!("`{spelling}` is also a spelling of {other}"));
            }
        }
    }
}

fn ranges(catalog: &Catalog, say: Say<'_>) {
    for row in catalog.rules.iter() {
        let range = constraint("rule", &row.row_name(), &row.range, say);
        constraint("rule", &row.row_name(), &row.needs, say);
        if let Some(range) = range.filter(|range| !matches_something(catalog, row.subject, range)) {
            say("rule", &row.row_name(), format!("no {} is in `{range}`", row.subject.as_str()));
        }
        for (pair, wanted) in
            row.holds.iter().map(|pair| (pair, true)).chain(row.fails.iter().map(|pair| (pair, false)))
        {
            if row.judges(pair) != Some(wanted) {
                let list = if wanted { "holds" } else { "fails" };
                say("rule", &row.row_name(), format!("`{pair}` stands under {list}, but the rule says otherwise"));
            }
        }
        if row.holds.is_empty() || row.fails.is_empty() {
            say("rule", &row.row_name(), "a rule needs a pair that holds and one that fails".into());
        }
    }
    for row in catalog.modules.iter() {
        constraint("module", &row.row_name(), &row.gpus, say);
    }
    for row in catalog.companions.iter() {
        for text in [Some(&row.needs), row.python.as_ref()].into_iter().flatten() {
            constraint("companion", &row.row_name(), text, say);
        }
    }
}

fn constraint(kind: &str, name: &dyn std::fmt::Display, text: &str, say: Say<'_>) -> Option<Constraint> {
    Constraint::parse(text).map_err(|error| say(kind, name, format!("`{text}`: {error}"))).ok()
}

/// Whether any row of the subject's table is in the range. Host compilers and C libraries have no table.
fn matches_something(catalog: &Catalog, subject: Subject, range: &Constraint) -> bool {
    let numbers = |number: &dyn std::fmt::Display| Version::parse(&number.to_string()).is_ok_and(|v| range.admits(&v));
    match subject {
        Subject::Gpu => catalog.gpus.iter().any(|row| numbers(&row.cc)),
        Subject::Cuda | Subject::Toolkit => catalog.toolkits.iter().any(|row| range.admits(&row.version)),
        Subject::Driver => catalog.drivers.iter().any(|row| range.admits(&row.version)),
        Subject::Cudnn => catalog.cudnns.iter().any(|row| range.admits(&row.version)),
        Subject::Triton => catalog.builds.iter().any(|row| row.triton.as_ref().is_some_and(|it| range.admits(it))),
        Subject::Glibc | Subject::Gcc => true,
    }
}

impl Rule {
    /// Judges a pair `subject object`, as `holds` and `fails` write it; none if the pair or the rule does not parse.
    ///
    /// A subject outside the rule's range satisfies it.
    pub fn judges(&self, pair: &str) -> Option<bool> {
        let (subject, object) = pair.split_once(' ')?;
        let (subject, object) = (Version::parse(subject).ok()?, Version::parse(object).ok()?);
        let (range, needs) = (Constraint::parse(&self.range).ok()?, Constraint::parse(&self.needs).ok()?);
        Some(!range.admits(&subject) || needs.admits(&object))
    }
}
