//! What became of a spec: a lock, a conflict, a draft, something rendered.

use schemars::JsonSchema;
use serde::Serialize;

use crate::explain::{self, Explanation};
use crate::export::json::Document;
use crate::init::manifest::Left;
use crate::lock::{self, Lock};
use crate::report::Drafted;
use crate::solve::unknowns::Unknown;
use crate::warning;

use super::{Change, Conflict, Fix, OK, Warning, changes, conflicts, sorted, warnings};

/// A solved lock.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::report) struct Locked<'a> {
    #[serde(flatten)]
    lock: Document<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Warning>")]
    warnings: Option<Vec<Warning<'a>>>,
    /// What --apply-fix changed in gpuenv.toml before.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "sorted")]
    #[schemars(with = "Vec<Change>")]
    applied: Vec<Change<'a>>,
}

impl<'a> Locked<'a> {
    pub fn new(lock: &'a Lock, remarks: &'a [warning::Warning], applied: &'a [explain::Change]) -> Self {
        Locked { lock: Document::new(lock), warnings: Some(warnings(remarks)), applied: changes(applied) }
    }
}

/// A lock that is not current.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::report) struct Stale<'a> {
    #[schemars(extend("const" = "stale"))]
    status: &'static str,
    /// Why, in sentences.
    #[schemars(length(min = 1))]
    reasons: &'a [String],
}

impl<'a> Stale<'a> {
    pub fn new(reasons: &'a [String]) -> Self {
        Stale { status: "stale", reasons }
    }
}

/// Something rendered: its text, or the file that it went into.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::report) struct Rendered<'a> {
    #[schemars(extend("const" = OK))]
    status: &'static str,
    /// The format; absent for help.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
}

impl<'a> Rendered<'a> {
    pub fn text(format: Option<&'a str>, text: &'a str) -> Self {
        Rendered { status: OK, format, text: Some(text), file: None }
    }

    pub fn file(format: &'a str, file: &'a str) -> Self {
        Rendered { status: OK, format: Some(format), text: None, file: Some(file) }
    }
}

/// The files that `[export]` names.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::report) struct Exports<'a> {
    #[schemars(extend("const" = OK))]
    status: &'static str,
    files: Vec<ExportedFile<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ExportedFile<'a> {
    format: &'a str,
    file: &'a str,
}

impl<'a> Exports<'a> {
    pub fn new(files: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        Exports { status: OK, files: files.map(|(format, file)| ExportedFile { format, file }).collect() }
    }
}

/// A gpuenv.toml that was written to begin with.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::report) struct Init<'a> {
    #[schemars(extend("const" = OK))]
    status: &'static str,
    /// Where it was written; null: it went to stdout.
    file: Option<&'a str>,
    /// Its text.
    spec: &'a str,
    /// What cannot hold together as it stands; empty where `lock` finds an answer.
    conflicts: Vec<Conflict<'a>>,
    warnings: Vec<Warning<'a>>,
    /// With --from: requirements of ordinary packages, which gpuenv does not choose.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    packages: &'a [String],
    /// With --from: lines of the files that the spec does not hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<LeftOut<'a>>,
}

/// A line of a project's file that the spec does not hold.
#[derive(Debug, Serialize, JsonSchema)]
struct LeftOut<'a> {
    file: &'a str,
    /// Counted from one.
    line: usize,
    text: &'a str,
    /// Why it was left out.
    why: &'a str,
}

impl<'a> Init<'a> {
    pub fn new(drafted: &Drafted<'a>) -> Self {
        Init {
            status: OK,
            file: (!drafted.is_stdout).then_some(&drafted.file.name),
            spec: &drafted.file.text,
            conflicts: drafted.conflict.map_or_else(Vec::new, |explanation| conflicts(&explanation.conflicts)),
            warnings: warnings(drafted.warnings),
            packages: drafted.packages,
            left: drafted.left.iter().map(left_out).collect(),
        }
    }
}

fn left_out(left: &Left) -> LeftOut<'_> {
    LeftOut { file: &left.file, line: left.line, text: &left.text, why: &left.why }
}

/// A spec without an answer; the top level repeats the first conflict.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::report) struct NoAnswer<'a> {
    #[schemars(extend("const" = "conflict"))]
    status: &'static str,
    #[serde(flatten)]
    first: Conflict<'a>,
    /// Other sets of as many keys, equally to blame.
    alternatives: &'a [Vec<String>],
    /// Each independent conflict.
    conflicts: Vec<Conflict<'a>>,
    /// Conflicts that share a key with one of `conflicts`: who changes another key of that one meets them next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    further: Vec<Conflict<'a>>,
    fixes: Vec<Fix<'a>>,
    /// The steps after which the search for more conflicts and fixes was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    gave_up: Option<u64>,
}

impl<'a> NoAnswer<'a> {
    pub fn new(explanation: &'a Explanation) -> Self {
        let conflicts = conflicts(&explanation.conflicts);
        NoAnswer {
            status: "conflict",
            first: conflicts.first().cloned().unwrap_or_default(),
            alternatives: &explanation.alternatives,
            conflicts,
            further: super::conflicts(&explanation.further),
            fixes: explanation.fixes.iter().map(Fix::from).collect(),
            gave_up: explanation.gave_up,
        }
    }
}

/// A spec of which nobody can tell whether it has an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::report) struct Undetermined<'a> {
    #[schemars(extend("const" = "undetermined"))]
    status: &'static str,
    /// What nobody has read, and what the answer depends on.
    unknowns: Vec<UnknownFact<'a>>,
    /// Changes that do without it.
    fixes: Vec<Fix<'a>>,
}

/// Something that nobody has read.
#[derive(Debug, Serialize, JsonSchema)]
struct UnknownFact<'a> {
    /// What it is.
    fact: &'a str,
    /// The keys that ask for it.
    keys: &'a [String],
    /// How it can be found out.
    how: &'a str,
}

impl<'a> Undetermined<'a> {
    pub fn new(unknowns: &'a [Unknown], known: Option<&'a Explanation>) -> Self {
        let fact = |one: &'a Unknown| UnknownFact { fact: &one.fact, keys: &one.keys, how: &one.how };
        let fixes = known.map_or_else(Vec::new, |known| known.fixes.iter().map(Fix::from).collect());
        Undetermined { status: "undetermined", unknowns: unknowns.iter().map(fact).collect(), fixes }
    }
}

/// What two locks choose differently.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::report) struct Differences<'a> {
    #[schemars(extend("const" = OK))]
    status: &'static str,
    /// Each choice, the drivers first.
    differences: Vec<Difference<'a>>,
}

/// One choice that two locks make differently.
#[derive(Debug, Serialize, JsonSchema)]
struct Difference<'a> {
    /// The target it is about; null = all of them alike.
    target: Option<&'a str>,
    /// `driver`, `image`, the name of a package.
    part: &'a str,
    /// Null where the first lock has none.
    from: Option<&'a str>,
    /// Null where the second has none.
    to: Option<&'a str>,
}

impl<'a> Differences<'a> {
    pub fn new(differences: &'a [lock::Difference]) -> Self {
        let one = |one: &'a lock::Difference| Difference {
            target: one.target.as_deref(),
            part: &one.part,
            from: one.from.as_deref(),
            to: one.to.as_deref(),
        };
        Differences { status: OK, differences: differences.iter().map(one).collect() }
    }
}
