//! The JSON documents, a struct each: what is serialised here is what `gpuenv schema` derives its schemas from.

mod answer;
mod catalogs;
mod fleet;
mod fleet_plan;
mod host;
mod inspected;
mod lookup;
mod matrix;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::explain;
use crate::warning;

use super::failure::Failure;
use super::source_file::SourceFile;

pub(super) use answer::{Differences, Exports, Init, Locked, NoAnswer, Rendered, Stale, Undetermined};
pub(super) use catalogs::Catalogs;
pub(super) use fleet::{FleetGroups, FleetHost};
pub(super) use fleet_plan::FleetPlan;
pub(super) use host::{Diagnosed, Verified};
pub(super) use inspected::Inspected;
pub(super) use lookup::{Census, Checked, Explained, Found, Graph, Listed, Schemas, Topics};
pub(super) use matrix::MatrixCells;

/// What `status` says where all is well.
const OK: &str = "ok";

/// What went wrong.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Errors<'a> {
    #[schemars(extend("const" = "error"))]
    status: &'static str,
    #[schemars(length(min = 1))]
    errors: Vec<Error<'a>>,
}

/// One mistake.
#[derive(Debug, Serialize, JsonSchema)]
struct Error<'a> {
    /// Its stable name.
    code: &'a str,
    /// What is wrong, in a sentence.
    message: &'a str,
    /// The file that it is in.
    file: Option<&'a str>,
    /// Where in that file.
    span: Option<Span>,
    /// What to do.
    help: Option<&'a str>,
}

/// Bytes from the file's first, and the line and column of the start, counted from one.
#[derive(Debug, Serialize, JsonSchema)]
struct Span {
    start: usize,
    end: usize,
    line: usize,
    column: usize,
}

impl<'a> Errors<'a> {
    pub fn new(failure: &'a Failure) -> Self {
        let file = failure.file.as_ref();
        let errors = failure.problems.iter().map(|problem| Error {
            code: problem.code,
            message: &problem.message,
            file: file.map(|file| file.name.as_str()),
            span: problem.span.clone().zip(file).map(|(span, file)| Span::new(span.start, span.end, file)),
            help: problem.help.as_deref(),
        });
        Errors { status: "error", errors: errors.collect() }
    }
}

impl Span {
    fn new(start: usize, end: usize, file: &SourceFile) -> Self {
        let (line, column) = file.position(start);
        Span { start, end, line, column }
    }
}

/// What somebody should know of an answer.
#[derive(Debug, Serialize, JsonSchema)]
struct Warning<'a> {
    /// Its stable name.
    code: &'a str,
    /// What it says.
    message: &'a str,
    /// The keys of gpuenv.toml that it is about.
    keys: &'a [String],
}

fn warnings(warnings: &[warning::Warning]) -> Vec<Warning<'_>> {
    warnings.iter().map(|one| Warning { code: one.code, message: &one.message, keys: &one.keys }).collect()
}

/// The fewest keys that cannot hold together.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
struct Conflict<'a> {
    /// A special kind of conflict: `newer-than-catalog`, `image-tag`.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    /// The keys, in file order.
    culprits: &'a [String],
    /// Targets that are alike with those of the keys in all that matters: the same holds for each.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    also: &'a [String],
    /// Why, in plain sentences.
    explanation: &'a [String],
    /// The rows and rules behind the sentences.
    facts: Vec<Fact<'a>>,
}

/// A row or rule and where it can be looked up.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Fact<'a> {
    /// Its id.
    id: &'a str,
    /// A URL or purl.
    source: &'a str,
}

/// Changes after which the whole spec has an answer: it was solved.
#[derive(Debug, Serialize, JsonSchema)]
struct Fix<'a> {
    /// What to change in gpuenv.toml.
    #[schemars(length(min = 1))]
    changes: Vec<Change<'a>>,
    /// The stack that it then has, package to version.
    stack: &'a std::collections::BTreeMap<String, String>,
    /// What to do rather than the least that suffices, or what it takes on the hosts besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'a str>,
}

/// A changed key. One that is added or removed has null for what it was or will be.
#[derive(Debug, Serialize, JsonSchema)]
struct Change<'a> {
    /// The key, `stack.torch`.
    key: &'a str,
    /// What is written.
    from: Option<&'a str>,
    /// What to write.
    to: Option<&'a str>,
}

impl<'a> From<&'a explain::Conflict> for Conflict<'a> {
    fn from(conflict: &'a explain::Conflict) -> Self {
        let explain::Conflict { code, culprits, also, explanation, facts: notes, labels: _ } = conflict;
        Conflict { code: *code, culprits, also, explanation, facts: facts(notes) }
    }
}

impl<'a> From<&'a explain::Fix> for Fix<'a> {
    fn from(fix: &'a explain::Fix) -> Self {
        Fix { changes: changes(&fix.changes), stack: &fix.stack, advice: fix.advice.as_deref() }
    }
}

impl<'a> From<&'a explain::Change> for Change<'a> {
    fn from(change: &'a explain::Change) -> Self {
        Change { key: &change.key, from: change.from.as_deref(), to: change.to.as_deref() }
    }
}

fn conflicts(conflicts: &[explain::Conflict]) -> Vec<Conflict<'_>> {
    conflicts.iter().map(Conflict::from).collect()
}

fn facts(facts: &[explain::FactNote]) -> Vec<Fact<'_>> {
    facts.iter().map(|fact| Fact { id: &fact.id, source: &fact.source }).collect()
}

fn changes(changes: &[explain::Change]) -> Vec<Change<'_>> {
    changes.iter().map(Change::from).collect()
}

/// Writes fields in the order of the alphabet, as some documents always had them.
fn sorted<T: Serialize, S: Serializer>(document: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::to_value(document).map_err(serde::ser::Error::custom)?.serialize(serializer)
}
