//! The JSON documents.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::diagnose::{Extract, Finding, Verdict};
use crate::explain::host::{OnHost, Outcome};
use crate::explain::{Conflict, Explanation, FactNote};
use crate::export::json::Document;
use crate::lock::Lock;
use crate::solve::question::Warning;

use super::failure::{Failure, SourceFile};

/// A solved lock.
#[derive(Debug, Serialize)]
pub(super) struct Locked<'a> {
    #[serde(flatten)]
    lock: Document<'a>,
    warnings: Vec<Remark<'a>>,
    /// What `--apply-fix` changed in gpuenv.toml before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    applied: Vec<serde_json::Value>,
}

#[derive(Debug, Serialize)]
struct Remark<'a> {
    code: &'a str,
    message: &'a str,
    keys: &'a [String],
}

impl<'a> Locked<'a> {
    pub fn new(lock: &'a Lock, warnings: &'a [Warning], applied: &[crate::explain::Change]) -> Self {
        let remark =
            |warning: &'a Warning| Remark { code: warning.code, message: &warning.message, keys: &warning.keys };
        Locked {
            lock: Document::new(lock),
            warnings: warnings.iter().map(remark).collect(),
            applied: applied.iter().map(super::told::change).collect(),
        }
    }
}

/// A lock that is not current.
#[derive(Debug, Serialize)]
pub(super) struct Stale<'a> {
    pub status: &'static str,
    pub reasons: &'a [String],
}

/// Something rendered for another tool.
#[derive(Debug, Serialize)]
pub(super) struct Rendered<'a> {
    pub status: &'static str,
    pub format: &'a str,
    pub text: &'a str,
}

/// Something rendered into a file.
#[derive(Debug, Serialize)]
pub(super) struct Saved<'a> {
    pub status: &'static str,
    pub format: &'a str,
    pub file: &'a str,
}

/// Help.
#[derive(Debug, Serialize)]
pub(super) struct Help<'a> {
    pub status: &'static str,
    pub text: &'a str,
}

/// There is no answer; the top level repeats the first conflict.
#[derive(Debug, Serialize)]
pub(super) struct NoAnswer<'a> {
    status: &'static str,
    #[serde(flatten)]
    first: Clash<'a>,
    alternatives: &'a [Vec<String>],
    conflicts: Vec<Clash<'a>>,
    fixes: Vec<Fix<'a>>,
    /// The steps after which the search for more was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    gave_up: Option<u64>,
}

#[derive(Debug, Clone, Default, Serialize)]
struct Clash<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    culprits: &'a [String],
    explanation: &'a [String],
    facts: Vec<Fact<'a>>,
}

#[derive(Debug, Clone, Serialize)]
struct Fact<'a> {
    id: &'a str,
    source: &'a str,
}

#[derive(Debug, Serialize)]
struct Fix<'a> {
    changes: Vec<Change<'a>>,
    stack: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Change<'a> {
    key: &'a str,
    from: Option<&'a str>,
    to: Option<&'a str>,
}

impl<'a> NoAnswer<'a> {
    pub fn new(explanation: &'a Explanation) -> Self {
        let conflicts: Vec<Clash> = explanation.conflicts.iter().map(Clash::new).collect();
        NoAnswer {
            status: "conflict",
            first: conflicts.first().cloned().unwrap_or_default(),
            alternatives: &explanation.alternatives,
            conflicts,
            fixes: explanation.fixes.iter().map(Fix::new).collect(),
            gave_up: explanation.gave_up,
        }
    }
}

impl<'a> Fix<'a> {
    fn new(fix: &'a crate::explain::Fix) -> Self {
        let changes = fix.changes.iter().map(Change::new).collect();
        Fix { changes, stack: &fix.stack, advice: fix.advice.as_deref() }
    }
}

impl<'a> Change<'a> {
    fn new(change: &'a crate::explain::Change) -> Self {
        Change { key: &change.key, from: change.from.as_deref(), to: change.to.as_deref() }
    }
}

impl<'a> Clash<'a> {
    fn new(conflict: &'a Conflict) -> Self {
        let fact = |fact: &'a FactNote| Fact { id: &fact.id, source: &fact.source };
        Clash {
            code: conflict.code,
            culprits: &conflict.culprits,
            explanation: &conflict.explanation,
            facts: conflict.facts.iter().map(fact).collect(),
        }
    }
}

/// What a pasted text means.
#[derive(Debug, Serialize)]
pub(super) struct Diagnosed<'a> {
    status: &'static str,
    findings: &'a [Finding],
    /// What was read out of a text that nothing claims.
    #[serde(skip_serializing_if = "Extract::is_empty")]
    extract: &'a Extract,
    /// What gpuenv.toml comes to on the host that the text tells of.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<Hosted<'a>>,
}

#[derive(Debug, Serialize)]
struct Hosted<'a> {
    status: &'static str,
    target: &'a str,
    /// What the host has and gpuenv.toml does not say.
    differs: Vec<Change<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<&'a BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflicts: Option<Vec<Clash<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixes: Option<Vec<Fix<'a>>>,
}

impl<'a> Diagnosed<'a> {
    pub fn new(verdict: &'a Verdict, host: Option<&'a OnHost>) -> Self {
        let status = if verdict.findings.is_empty() { "unknown" } else { "recognised" };
        let host = host.map(Hosted::new);
        Diagnosed { status, findings: &verdict.findings, extract: &verdict.extract, host }
    }
}

impl<'a> Hosted<'a> {
    fn new(host: &'a OnHost) -> Self {
        let differs = host.differs.iter().map(Change::new).collect();
        let nothing = Hosted {
            status: "gave-up",
            target: &host.target,
            differs,
            stack: None,
            advice: None,
            conflicts: None,
            fixes: None,
        };
        match &host.outcome {
            Outcome::GaveUp => nothing,
            Outcome::Answer { stack, advice } => {
                Hosted { status: "ok", stack: Some(stack), advice: advice.as_deref(), ..nothing }
            }
            Outcome::Conflict(explanation) => Hosted {
                status: "conflict",
                conflicts: Some(explanation.conflicts.iter().map(Clash::new).collect()),
                fixes: Some(explanation.fixes.iter().map(Fix::new).collect()),
                ..nothing
            },
        }
    }
}

/// What went wrong.
#[derive(Debug, Serialize)]
pub(super) struct Errors<'a> {
    status: &'static str,
    errors: Vec<Error<'a>>,
}

#[derive(Debug, Serialize)]
struct Error<'a> {
    code: &'a str,
    message: &'a str,
    file: Option<&'a str>,
    span: Option<Span>,
    help: Option<&'a str>,
}

/// Bytes from the file's first, and the line and column of the start, counted from one.
#[derive(Debug, Serialize)]
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
