//! Annotations for GitHub's workflow log: `::error file=…,line=…,col=…,title=…::message`.

use std::fs::OpenOptions;
use std::io::Write;
use std::ops::Range;
use std::path::{Component, PathBuf};

use crate::explain::Explanation;
use crate::fleet::Outcome;
use crate::solve::unknowns::Unknown;
use crate::spec::Spec;
use crate::verify::{Check, Status, Verdict};
use crate::warning::Warning;

use super::Report;
use super::failure::Failure;
use super::outcomes::Exported;
use super::screen::{self, clean};
use super::source_file::SourceFile;

/// What went wrong.
pub(super) fn failure(failure: &Failure) -> String {
    let one = |problem: &super::Problem| {
        let help = problem.help.as_ref().map_or_else(String::new, |help| format!("\n{help}"));
        let place = failure.file.as_ref().map(|file| (file, problem.span.clone()));
        annotation("error", problem.code, place, &format!("{}{help}", problem.message))
    };
    failure.problems.iter().map(one).collect()
}

/// Each conflict, at the first key it blames.
pub(super) fn conflicts(explanation: &Explanation, spec: &Spec, file: &SourceFile) -> String {
    let one = |conflict: &crate::explain::Conflict| {
        let at = conflict.culprits.iter().find_map(|key| spec.key_span(key));
        let told = conflict.explanation.join("\n");
        annotation(
            "error",
            conflict.code.unwrap_or("conflict"),
            Some((file, at)),
            &format!("{}\n{told}", super::conflict::title(conflict, spec)),
        )
    };
    match explanation.conflicts.is_empty() {
        true => annotation("error", "conflict", Some((file, None)), "nothing in the catalog satisfies this spec"),
        false => explanation.conflicts.iter().chain(&explanation.further).map(one).collect(),
    }
}

/// Each thing that nobody has read, at the first key that asks for it.
pub(super) fn unknowns(unknowns: &[Unknown], spec: &Spec, file: &SourceFile) -> String {
    let one = |unknown: &Unknown| {
        let at = unknown.keys.iter().find_map(|key| spec.key_span(key));
        let says = format!("not known: {}\n{}", unknown.fact, unknown.how);
        annotation("error", "undetermined", Some((file, at)), &says)
    };
    unknowns.iter().map(one).collect()
}

/// Each warning, at the first key it is about.
pub(super) fn warnings(warnings: &[Warning], spec: &Spec, file: &SourceFile) -> String {
    let one = |warning: &Warning| {
        let at = warning.keys.iter().find_map(|key| spec.key_span(key));
        annotation("warning", warning.code, Some((file, at)), &warning.message)
    };
    warnings.iter().map(one).collect()
}

/// Why a lock is not current, each reason at the key that it names.
pub(super) fn stale(reasons: &[String], spec: &Spec, file: &SourceFile) -> String {
    let inputs = spec.inputs();
    let mut out = String::new();
    for reason in reasons {
        let named = inputs.keys().find(|key| reason.contains(&format!("`{key}`")));
        out += &annotation("error", "stale", Some((file, named.and_then(|key| spec.key_span(key)))), reason);
    }
    out
}

/// Each file that is not what the lock says.
pub(super) fn outdated(files: &[Exported]) -> String {
    let mut out = String::new();
    for one in files {
        if let Some(reason) = one.reason() {
            let file = SourceFile { name: one.file.clone(), text: String::new() };
            out += &annotation("error", "stale", Some((&file, Some(0..0))), &reason);
        }
    }
    out
}

/// Each check that is no pass, in the order of the checks.
pub(super) fn verdict(verdict: &Verdict) -> String {
    let one = |check: &Check| {
        let level = match check.status {
            Status::Fail => "error",
            Status::Unknown | Status::Warn => "warning",
            Status::Pass | Status::Skip => return None,
        };
        let gpu = check.gpu.as_ref().map_or(String::new(), |gpu| format!("GPU {gpu}: "));
        let parts = [("expected", &check.expected), ("found", &check.found)];
        let parts = parts.iter().filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)));
        let mut message = format!("{gpu}{}", parts.collect::<Vec<_>>().join(", "));
        if let Some(hint) = &check.hint {
            message += &format!("\n{hint}");
        }
        // Names and paths are a driver's words: what a terminal would obey is spelled out.
        let message = message.split('\n').map(clean).collect::<Vec<_>>().join("\n");
        Some(annotation(level, check.id, None, &message))
    };
    verdict.checks.iter().filter_map(one).collect()
}

/// Each host that does not pass, by what keeps it from that.
pub(super) fn host(name: &str, outcome: &Outcome) -> String {
    let level = match outcome.status {
        Status::Fail => "error",
        Status::Unknown => "warning",
        Status::Pass | Status::Warn | Status::Skip => return String::new(),
    };
    let cause = outcome.causes.first();
    let found = outcome.found.as_ref().map_or_else(String::new, |found| format!(": {found}"));
    let hint = cause.map_or_else(String::new, |cause| format!("\n{}", cause.hint));
    // Names are those of other machines: what a terminal would obey is spelled out.
    let message = format!("{name}{found}{hint}").split('\n').map(clean).collect::<Vec<_>>().join("\n");
    annotation(level, cause.map_or("fleet", |cause| &cause.check), None, &message)
}

fn annotation(level: &str, title: &str, place: Option<(&SourceFile, Option<Range<usize>>)>, message: &str) -> String {
    let mut properties: Vec<String> = Vec::new();
    if let Some((file, span)) = place {
        properties.push(format!("file={}", property(&in_workspace(&file.name))));
        if let Some((line, column)) = span.map(|span| file.position(span.start)) {
            properties.push(format!("line={line},col={column}"));
        }
    }
    properties.push(format!("title={}", property(title)));
    format!("::{level} {}::{}\n", properties.join(","), data(message))
}

/// A path as GitHub finds it: relative to the checkout, wherever in it the command runs.
fn in_workspace(name: &str) -> String {
    let (Ok(here), Some(workspace)) = (std::env::current_dir(), std::env::var_os("GITHUB_WORKSPACE")) else {
        return name.to_string();
    };
    let mut path = PathBuf::new();
    for part in here.join(name).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path.strip_prefix(workspace).map_or_else(|_| name.to_string(), |path| path.to_string_lossy().into_owned())
}

/// Adds to the page that GitHub shows of a step, in Markdown; without such a page nothing is lost.
pub(super) fn summarise(text: &str) {
    let Some(file) = std::env::var_os("GITHUB_STEP_SUMMARY") else { return };
    if let Ok(mut file) = OpenOptions::new().append(true).create(true).open(file) {
        let _ = file.write_all(text.as_bytes());
    }
}

/// A list under a heading, as Markdown shows it: what has a meaning there is spelled out.
pub(super) fn listed<'t>(heading: &str, lines: impl Iterator<Item = &'t str>) -> String {
    let mut out = format!("### {heading}\n\n");
    for line in lines {
        out += &format!("- {}\n", markdown(line));
    }
    out + "\n"
}

/// Text in Markdown, on one line.
fn markdown(text: &str) -> String {
    let mut out = String::new();
    let line = text.replace(['\n', '\r'], " ");
    for character in clean(&line).chars() {
        match character {
            '<' => out += "&lt;",
            '&' => out += "&amp;",
            '*' | '_' | '[' | ']' | '|' | '\\' | '#' | '!' => out.extend(['\\', character]),
            _ => out.push(character),
        }
    }
    out
}

/// A message: what would end it or begin a command is spelled by number.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property: likewise what would end it.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

impl Report {
    /// Annotations are for a program, be it run on a terminal: there are no colours in them.
    pub(super) fn annotate(&self, text: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.github { self.write(&screen::plain_commands(&text())) } else { Ok(()) }
    }

    /// A list for the page that GitHub shows of a step.
    pub(super) fn summarise(&self, heading: &str, lines: &[String]) {
        if self.github {
            summarise(&listed(heading, lines.iter().map(String::as_str)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_shows_text_as_text() {
        let told = listed("Lock", ["a `b` <script> ![x](y)\n# c | d"].into_iter());
        assert_eq!(told, "### Lock\n\n- a `b` &lt;script> \\!\\[x\\](y) \\# c \\| d\n\n");
    }

    #[test]
    fn nothing_breaks_out_of_an_annotation() {
        let file = SourceFile { name: "a,b:c.toml".into(), text: "x = 1\n  y = 2\n".into() };
        let line = annotation("error", "t:i,t", Some((&file, Some(8..9))), "100%\r\n::stop, and: go");
        assert_eq!(line, "::error file=a%2Cb%3Ac.toml,line=2,col=3,title=t%3Ai%2Ct::100%25%0D%0A::stop, and: go\n");
        assert_eq!(annotation("warning", "w", None, "m"), "::warning title=w::m\n");
    }
}
