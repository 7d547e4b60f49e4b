//! What the types alone cannot refuse: names used twice, sources that do not exist, ranges that mean nothing, facts of
//! different tables that contradict each other.
//!
//! The build script refuses a catalog with findings; overlays are held to almost the same, and `gpuenv catalog check`
//! shows them for both. Each lint has a name, by which reports and annotations call it.

mod alike;
mod asks;
mod cuda;
mod host;
mod images;
mod order;
mod others;
mod practices;
mod published;
mod rules;
mod wheels;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use super::rows::*;
use super::tables::{AnyRow, Catalog, Named};
use crate::types::{Constraint, address, name};

/// What every lint is called.
#[rustfmt::skip]
pub const NAMES: &[&str] = &[
    "architecture", "article-note", "belongs-together", "branch-cuda", "branch-number", "build-archs",
    "build-toolkit", "companion-variant", "compat-base", "compat-branch", "constraint", "cpu-build", "date",
    "date-order", "disagreement", "driver-order", "framework", "gpu-architecture", "gpu-chip", "gpu-class",
    "gpu-driver", "gpu-last-branch", "gpu-rule", "id-spelling", "id-twice", "image-cuda", "image-name",
    "image-os", "image-tag", "image-torch", "index-address", "library-gpu", "library-line", "library-order",
    "list-order", "listing", "name-spelling", "name-twice", "nccl-cuda", "os-order", "os-spelling", "other-build",
    "other-pythons", "package-name", "pins", "practice-count", "ptx-isa-branch", "ptxas", "python-gap",
    "python-order", "read", "require-grammar", "require-line", "requires", "rule-pair", "rule-range",
    "rule-trial", "source-address", "specifier", "toolkit-archs", "toolkit-driver", "toolkit-line",
    "toolkit-nvcc", "toolkit-order", "two-defaults", "unchoosable", "unknown-branch", "unknown-cudnn",
    "unknown-driver", "unknown-nccl", "unknown-ptx-isa", "unknown-require", "unknown-source", "unknown-toolkit",
    "unread-code", "unused-require", "unused-source", "variant", "wheel-address", "wheel-file", "wheel-files",
    "wheel-pythons", "wheel-version", "windows-driver",
];

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The lint's name, `unused-source`.
    pub lint: &'static str,
    /// The row, kind first: `driver 535.183.01`.
    pub row: String,
    /// What is wrong with it.
    pub says: String,
}

impl Finding {
    fn new(lint: &'static str, kind: &str, row: &dyn Display, says: String) -> Finding {
        debug_assert!(NAMES.contains(&lint), "{lint} is not listed");
        Finding { lint, row: format!("{kind} {row}"), says }
    }
}

/// Everything wrong with a catalog that must stand on its own.
pub fn lint(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut say = |lint: &'static str, kind: &str, row: &dyn Display, says: String| {
        findings.push(Finding::new(lint, kind, row, says));
    };
    let rows: Vec<AnyRow<'_>> = catalog.rows().collect();
    names(&rows, &mut say);
    spellings(catalog, &mut say);
    sources(catalog, &rows, &mut say);
    dates(catalog, &mut say);
    host::lint(catalog, &mut say);
    cuda::lint(catalog, &mut say);
    wheels::lint(catalog, &mut say);
    others::lint(catalog, &mut say);
    images::lint(catalog, &mut say);
    rules::lint(catalog, &mut say);
    asks::lint(catalog, &mut say);
    order::lint(catalog, &mut say);
    findings
}

/// The same of the catalog that is built in, whose rows are also held against their neighbours and against published
/// files. Asked when gpuenv is built and tested: whoever lays a row over these knows better.
pub fn lint_built_in(catalog: &Catalog) -> Vec<Finding> {
    let mut findings = lint(catalog);
    let mut say = |lint: &'static str, kind: &str, row: &dyn Display, says: String| {
        findings.push(Finding::new(lint, kind, row, says));
    };
    alike::lint(catalog, &mut say);
    published::lint(catalog, &mut say);
    practices::listings(catalog, &mut say);
    practices::lint(catalog, &mut say);
    findings
}

/// Takes a finding: the lint, the kind of row, the row, what is wrong.
type Say<'s> = &'s mut dyn FnMut(&'static str, &str, &dyn Display, String);

/// Names are unique within a table, and ids among all of them.
fn names(rows: &[AnyRow<'_>], say: Say<'_>) {
    let mut seen = HashSet::new();
    let mut ids: HashMap<&str, &AnyRow<'_>> = HashMap::new();
    for row in rows {
        if !seen.insert((row.kind, row.name.to_string())) {
            say("name-twice", row.kind, &row.name, "stands twice".into());
        } else if let Some(other) = ids.insert(&row.id, row) {
            let says = format!("its id `{}` is also that of {} {}", row.id, other.kind, other.name);
            say("id-twice", row.kind, &row.name, says);
        }
        const NAMED: [&str; 8] = ["rule", "asks", "module", "service", "shared_module", "law", "practice", "source"];
        if NAMED.contains(&row.kind) && !is_plain(row.id.strip_prefix("source ").unwrap_or(&row.id)) {
            let says = "an id is made of lower-case letters, digits, `.` and `-`, without `-linux-` and `-windows-`";
            say("id-spelling", row.kind, &row.name, says.into());
        } else if !name::is_id(&row.id) {
            say("id-spelling", row.kind, &row.name, "its names hold characters that no such name has".into());
        }
    }
}

/// Names that locks and scripts repeat are made of what such names are made of.
fn spellings(catalog: &Catalog, say: Say<'_>) {
    for row in catalog.gpus.iter().filter(|row| !name::is_gpu(&row.name)) {
        say("name-spelling", "gpu", &Named(row), "no GPU has such a name".into());
    }
    for row in catalog.oses.iter().filter(|row| !name::is_os(&row.id)) {
        say("name-spelling", "os", &Named(row), "no operating system has such an id".into());
    }
    for row in catalog.images.iter().filter(|row| !name::is_os(&row.os)) {
        say("name-spelling", "image", &Named(row), format!("`{}` is not an operating system", row.os));
    }
    let words = |text: &str, marks: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || marks.contains(c));
    for row in catalog.services.iter().filter(|row| row.needs.is_some_and(|needs| !words(&needs, ".-_<>=~!,"))) {
        say("name-spelling", "service", &Named(row), "`needs` is a package and perhaps its releases".into());
    }
    for row in catalog.modules.iter().filter(|row| row.parameter.is_some_and(|one| !words(&one, "_="))) {
        say("name-spelling", "module", &Named(row), "`parameter` is one of nvidia.ko and its value".into());
    }
    let builds = catalog.builds.iter().map(|row| ("build", Named(row), &row.extra));
    let companions = catalog.companions.iter().map(|row| ("companion", Named(row), &row.extra));
    for (kind, row, extra) in builds.chain(companions) {
        if let Some(extra) = extra.as_ref().filter(|extra| !address::is_package(extra)) {
            say("name-spelling", kind, &row, format!("`{extra}` is not an extra of a package"));
        }
    }
}

fn is_plain(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
    !id.is_empty() && id.bytes().all(plain) && !id.contains("-linux-") && !id.contains("-windows-")
}

fn sources(catalog: &Catalog, rows: &[AnyRow<'_>], say: Say<'_>) {
    let known: HashSet<&str> = catalog.sources.iter().map(|source| &*source.id).collect();
    let mut cited: HashSet<&str> = HashSet::new();
    for row in rows {
        for source in &row.cites {
            if !known.contains(source) {
                say("unknown-source", row.kind, &row.name, format!("source `{source}` does not exist"));
            }
            cited.insert(source);
        }
    }
    for source in catalog.sources.iter() {
        let name = Named(source);
        if !cited.contains(&*source.id) {
            say("unused-source", "source", &name, "no row rests on it".into());
        }
        if source.kind == SourceKind::Article && source.note.is_none() {
            let says = "a source of kind `article` needs a note: why nothing better";
            say("article-note", "source", &name, says.into());
        }
        let known = ["https://", "http://", "pkg:"].iter().any(|start| source.at.starts_with(start));
        if !known || !name::is_source(&source.at) {
            say("source-address", "source", &name, format!("`{}` is neither a URL nor a purl", source.at));
        }
    }
}

/// Dates are `2026-11`, `2026-11-20` or a year; nothing else sorts.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let sizes: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let digits = parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let within = |at: usize, most: u32| {
        parts.get(at).is_none_or(|part| part.parse::<u32>().is_ok_and(|number| (1..=most).contains(&number)))
    };
    let days = match parts.get(1) {
        Some(&"02") => 29,
        Some(&("04" | "06" | "09" | "11")) => 30,
        _ => 31,
    };
    digits && [&[4][..], &[4, 2], &[4, 2, 2]].contains(&sizes.as_slice()) && within(1, 12) && within(2, days)
}

/// The first year with a GPU that computes: what is dated before it is a slip.
const FIRST_YEAR: &str = "2006";

fn dates(catalog: &Catalog, say: Say<'_>) {
    let sources = catalog.sources.iter().map(|row| ("source", Named(row), Some(&*row.seen)));
    let drivers = catalog.drivers.iter().map(|row| ("driver", Named(row), row.date.as_deref()));
    let toolkits = catalog.toolkits.iter().map(|row| ("toolkit", Named(row), row.released.as_deref()));
    let libraries = catalog.library_releases().map(|one| (one.subject.as_str(), Named(one.row), one.date));
    let past = sources.chain(drivers).chain(toolkits).chain(libraries).map(|row| (row, true));
    let branches = catalog.branches.iter().map(|row| ("branch", Named(row), row.eol.as_deref()));
    let oses = catalog.oses.iter().map(|row| ("os", Named(row), row.eol.as_deref()));
    let planned = branches.chain(oses).map(|row| (row, false));
    let today = catalog.version.replace('.', "-");
    // Overlays may be younger than the catalog they are laid over.
    let is_later = |date: &str| catalog.overlays.is_empty() && today.get(..date.len()).is_some_and(|day| day < date);
    for ((kind, name, date), has_passed) in past.chain(planned) {
        let Some(date) = date else { continue };
        if !is_date(date) {
            say("date", kind, &name, format!("`{date}` is not a date: 2026-11-20 or 2026-11 is expected"));
        } else if has_passed && (*date < *FIRST_YEAR || is_later(date)) {
            say("date-order", kind, &name, format!("`{date}` is before all CUDA or after the catalog's own day"));
        }
    }
}

/// Months since year zero.
fn months(date: &str) -> Option<u32> {
    let mut parts = date.split('-').map(|part| part.parse::<u32>().ok());
    parts.next()??.checked_mul(12)?.checked_add(parts.next()??)
}

fn constraint(kind: &str, name: &dyn Display, text: &str, say: Say<'_>) -> Option<Constraint> {
    let shown = || text.chars().take(60).collect::<String>();
    Constraint::parse(text).map_err(|error| say("constraint", kind, name, format!("`{}`: {error}", shown()))).ok()
}
