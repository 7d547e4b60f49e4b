//! The JSON documents.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::diagnose::{self, Extract, Finding};
use crate::explain::host::{OnHost, Outcome};
use crate::explain::{Conflict, Explanation, FactNote};
use crate::export::json::Document;
use crate::host::Origin;
use crate::lock::Lock;
use crate::solve::question::Warning;
use crate::verify::{Check, Status, Verdict};

use super::failure::{Failure, SourceFile};
use super::verdict::{Judged, decisive};

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

impl<'a> Remark<'a> {
    fn new(warning: &'a Warning) -> Self {
        Remark { code: warning.code, message: &warning.message, keys: &warning.keys }
    }
}

impl<'a> Locked<'a> {
    pub fn new(lock: &'a Lock, warnings: &'a [Warning], applied: &[crate::explain::Change]) -> Self {
        Locked {
            lock: Document::new(lock),
            warnings: warnings.iter().map(Remark::new).collect(),
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

/// A gpuenv.toml that was written to begin with.
#[derive(Debug, Serialize)]
pub(super) struct Draft<'a> {
    status: &'static str,
    /// None: it was asked for on stdout.
    file: Option<&'a str>,
    spec: &'a str,
    /// What cannot hold together as it stands.
    conflicts: Vec<Clash<'a>>,
    warnings: Vec<Remark<'a>>,
}

impl<'a> Draft<'a> {
    pub fn new(drafted: &super::Drafted<'a>) -> Self {
        let conflicts = drafted.conflict.into_iter().flat_map(|explanation| &explanation.conflicts);
        Draft {
            status: "ok",
            file: (!drafted.is_stdout).then_some(&drafted.file.name),
            spec: &drafted.file.text,
            conflicts: conflicts.map(Clash::new).collect(),
            warnings: drafted.warnings.iter().map(Remark::new).collect(),
        }
    }
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    further: Vec<Clash<'a>>,
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
            further: explanation.further.iter().map(Clash::new).collect(),
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
    pub fn new(verdict: &'a diagnose::Verdict, host: Option<&'a OnHost>) -> Self {
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

/// How a host was judged.
#[derive(Debug, Serialize)]
pub(super) struct Verified<'a> {
    status: Status,
    target: &'a str,
    checks: &'a [Check],
    others: Vec<OtherTarget<'a>>,
    /// How the record came to be.
    record: Origin,
}

#[derive(Debug, Serialize)]
struct OtherTarget<'a> {
    target: &'a str,
    status: Status,
    /// The first check that keeps it from passing.
    check: Option<&'a str>,
}

impl<'a> Verified<'a> {
    pub fn new(judged: &'a Judged<'a>) -> Self {
        let Judged { best, others, record } = judged;
        let other = |other: &'a Verdict| OtherTarget {
            target: &other.target,
            status: other.status,
            check: decisive(other).map(|check| check.id),
        };
        Verified {
            status: best.status,
            target: &best.target,
            checks: &best.checks,
            others: others.iter().map(other).collect(),
            record: record.origin,
        }
    }
}
