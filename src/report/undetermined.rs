//! A spec of which nobody can tell whether it has an answer, for people: what is not known, and what would do without it.

use std::ops::Range;

use crate::explain::Explanation;
use crate::solve::unknowns::Unknown;
use crate::spec::Spec;

use super::conflict::{self, Detail};
use super::screen::{Screen, clean};
use super::snippet;
use super::source_file::SourceFile;

/// Places marked in the file.
const MARKS: usize = 4;

/// The whole report.
pub(super) fn render(
    screen: &Screen,
    unknowns: &[Unknown],
    known: Option<&Explanation>,
    spec: &Spec,
    file: &SourceFile,
    detail: Detail,
) -> String {
    let head = format!("{} ", screen.error("error[undetermined]:"));
    let mut text =
        screen.wrapped(&head, "whether anything satisfies this spec depends on a fact that the catalog does not know");
    let mut marks: Vec<(Range<usize>, String)> = Vec::new();
    for key in unknowns.iter().flat_map(|unknown| &unknown.keys) {
        let span = spec.key_span(key);
        marks
            .extend(span.filter(|span| marks.iter().all(|(other, _)| other != span)).map(|span| (span, String::new())));
    }
    marks.truncate(MARKS);
    text += &snippet::render(screen, file, marks).unwrap_or_default();
    for unknown in unknowns {
        text += &screen.wrapped("  - ", &format!("not known: {}", clean(&unknown.fact)));
        text += &screen.wrapped("    ", &format!("{} {}", screen.help("to find out:"), clean(&unknown.how)));
    }
    if let Some(known) = known {
        text += &conflict::fixes(screen, known, spec, detail);
    }
    text + "the lock was not changed\n"
}
