//! The rows that a question asks for, preferred first: lists that it shares with all that ask for the same.

use crate::catalog::rows::{Python, Toolkit};
use crate::words::{Constraint, Version};

use super::choice::Rows;
use super::question::{Ask, Question};
use super::release::Release;

/// The versions of a framework that are asked for, preferred first.
pub(super) fn versions<'c>(question: &Question<'c>, ask: &Ask<'c>) -> Rows<&'c Version> {
    question.rules.versions(ask.identity(), || {
        let mut rows: Vec<&Version> = published(question, ask).map(|release| release.version).collect();
        rows.dedup();
        if ask.oldest_first {
            rows.reverse();
        }
        rows
    })
}

/// The releases of a framework that are asked for, newest version first. A version's variants are in order already,
/// but for whether the CPU build comes first or last.
pub(super) fn releases<'c>(question: &Question<'c>, ask: &Ask<'c>, cpu_first: bool) -> Rows<&'c Release<'c>> {
    question.rules.asked_releases(ask.identity() + if cpu_first { "cpu" } else { "" }, || {
        let mut rows: Vec<&Release> = published(question, ask).collect();
        for of_version in rows.chunk_by_mut(|one, next| one.version == next.version) {
            of_version.sort_by_key(|release| release.is_cpu() != cpu_first);
        }
        rows
    })
}

/// Every published release of a framework that is asked for, newest version first.
fn published<'c>(question: &Question<'c>, ask: &Ask<'c>) -> impl Iterator<Item = &'c Release<'c>> {
    let known = question.rules.releases(question.catalog, ask.package).iter();
    known.filter(|release| ask.constraint.admits_build(release.version, release.variant))
}

/// The toolkits that `cuda` admits, newest first. A line of which only components were published is not offered
/// to somebody who did not name it, in `cuda` or as installed.
pub(super) fn toolkits<'c>(question: &Question<'c>, installed: Option<&[Version]>) -> Vec<&'c Toolkit> {
    let wanted = question.cuda.as_ref();
    let names_line = |row: &Toolkit, version: &Version| version.len() > 1 && row.version.cmp_prefix(version).is_eq();
    let asked_for = |row: &Toolkit| {
        let mut bounds = wanted.into_iter().flat_map(Constraint::comparisons).filter(|one| one.op.is_lower());
        bounds.any(|one| one.version.as_ref().is_some_and(|version| names_line(row, version)))
            || installed.into_iter().flatten().any(|version| names_line(row, version))
    };
    let rows = question.catalog.toolkits.iter().rev();
    let admitted = rows.filter(|row| wanted.is_none_or(|wanted| wanted.admits(&row.version)));
    admitted.filter(|row| !row.components_only || asked_for(row)).collect()
}

/// The lines of Python that are asked for, newest first; none where nothing runs on Python.
pub(super) fn pythons<'c>(question: &Question<'c>) -> Option<Rows<&'c Python>> {
    if question.frameworks.is_empty() && question.companions.is_empty() && question.python.is_none() {
        return None;
    }
    let wanted = question.python.as_ref();
    let named =
        |line: &Version| wanted.and_then(Constraint::single).is_some_and(|single| single.cmp_prefix(line).is_eq());
    let admitted = |row: &&Python| match wanted {
        None => row.stable,
        Some(wanted) => wanted.cut_to(row.version.len()).admits(&row.version) && (row.stable || named(&row.version)),
    };
    let asked = wanted.map_or_else(String::new, Constraint::to_string);
    let newest_first = || question.catalog.pythons.iter().rev();
    Some(question.rules.pythons(asked, || newest_first().filter(admitted).collect()))
}
