//! What a text or a record says of a host, and how the host was judged.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::diagnose::{self, Extract, Finding};
use crate::explain::host::{OnHost, Outcome};
use crate::explain::{Change, Conflict, Fix};
use crate::export::json::SHAPE;
use crate::host::Origin;
use crate::report::verdict::{Judged, decisive};
use crate::verify::{Check, Status, Verdict};

/// What a pasted error message means.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Diagnosed<'a> {
    #[cfg_attr(test, schemars(extend("enum" = ["recognised", "unknown"])))]
    status: &'static str,
    /// The most probable first; empty where nothing is known of the text.
    findings: &'a [Finding],
    /// What was read out of a text that nothing claims.
    #[serde(skip_serializing_if = "Extract::is_empty")]
    extract: &'a Extract,
    /// What gpuenv.toml comes to on the host that the text tells of; absent where there is no spec, or the text tells
    /// nothing of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<Hosted<'a>>,
}

/// What gpuenv.toml comes to on a host.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Hosted<'a> {
    #[cfg_attr(test, schemars(extend("enum" = ["ok", "conflict", "gave-up"])))]
    status: &'static str,
    /// The target that the host stands for.
    target: &'a str,
    /// What the host has and gpuenv.toml does not say.
    differs: &'a [Change],
    /// Whether the target was asked by itself, since gpuenv.toml has no answer whatever the host has.
    alone: bool,
    /// With status ok: what then runs, package to version.
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<&'a BTreeMap<String, String>>,
    /// With status ok: what it takes on the host besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'a str>,
    /// With status conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    conflicts: Option<&'a [Conflict]>,
    /// With status conflict: each was solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixes: Option<&'a [Fix]>,
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
        let nothing = Hosted {
            status: "gave-up",
            target: &host.target,
            differs: &host.differs,
            alone: host.alone,
            stack: None,
            advice: None,
            conflicts: None,
            fixes: None,
        };
        match &host.outcome {
            Outcome::GaveUp => nothing,
            Outcome::Solution { stack, advice } => {
                Hosted { status: "ok", stack: Some(stack), advice: advice.as_deref(), ..nothing }
            }
            Outcome::Conflict(explanation) => Hosted {
                status: "conflict",
                conflicts: Some(&explanation.conflicts),
                fixes: Some(&explanation.fixes),
                ..nothing
            },
        }
    }
}

/// How a host was judged against a lock.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Verified<'a> {
    #[cfg_attr(test, schemars(with = "Judgement"))]
    status: Status,
    /// The number of this shape: it grows when a field goes or changes its meaning.
    format: u32,
    /// The target that fits it best, or the one that was named.
    target: &'a str,
    checks: &'a [Check],
    /// The other targets.
    others: Vec<OtherTarget<'a>>,
    /// How the record came to be.
    record: Origin,
}

/// A target that fits the host less well.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OtherTarget<'a> {
    target: &'a str,
    #[cfg_attr(test, schemars(with = "Judgement"))]
    status: Status,
    /// The first check that keeps it from passing.
    check: Option<&'a str>,
}

/// How a whole target ends: no check is left out or merely warned of.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[allow(dead_code)]
enum Judgement {
    Pass,
    Fail,
    Unknown,
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
            format: SHAPE,
            target: &best.target,
            checks: &best.checks,
            others: others.iter().map(other).collect(),
            record: record.origin,
        }
    }
}
