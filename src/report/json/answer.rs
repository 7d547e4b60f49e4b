//! What became of a spec: a lock, a conflict, a draft, something rendered.

use serde::Serialize;

use crate::explain::{Change, Conflict, Explanation, Fix};
use crate::export::json::{Document, SHAPE};
use crate::init::manifest::Left;
use crate::lock::{Difference, Lock};
use crate::report::{Drafted, Exported};
use crate::solve::unknowns::Unknown;
use crate::warning::Warning;

use super::{OK, sorted};

/// A solved lock.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Locked<'a> {
    #[serde(flatten)]
    lock: Document<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Vec<Warning>"))]
    warnings: Option<&'a [Warning]>,
    /// What --apply-fix, `add`, `remove` or `target` changed in gpuenv.toml before, or with --dry-run would; absent where nothing was.
    #[serde(skip_serializing_if = "<[Change]>::is_empty", serialize_with = "sorted")]
    #[cfg_attr(test, schemars(with = "Vec<Change>"))]
    applied: &'a [Change],
}

impl<'a> Locked<'a> {
    pub fn new(lock: &'a Lock, warnings: &'a [Warning], applied: &'a [Change]) -> Self {
        Locked { lock: Document::new(lock), warnings: Some(warnings), applied }
    }
}

/// A lock that is not current.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Stale<'a> {
    #[cfg_attr(test, schemars(extend("const" = "stale")))]
    status: &'static str,
    /// The number of this shape: it grows when a field goes or changes its meaning.
    format: u32,
    /// Why, in sentences.
    #[cfg_attr(test, schemars(length(min = 1)))]
    reasons: &'a [String],
}

impl<'a> Stale<'a> {
    pub fn new(reasons: &'a [String]) -> Self {
        Stale { status: "stale", format: SHAPE, reasons }
    }
}

/// Something rendered: its text, or the file that it went into.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Rendered<'a> {
    #[cfg_attr(test, schemars(extend("const" = OK)))]
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
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Exports<'a> {
    #[cfg_attr(test, schemars(extend("const" = OK)))]
    status: &'static str,
    files: &'a [Exported],
}

impl<'a> Exports<'a> {
    pub fn new(files: &'a [Exported]) -> Self {
        Exports { status: OK, files }
    }
}

/// A gpuenv.toml that was written to begin with.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Init<'a> {
    #[cfg_attr(test, schemars(extend("const" = OK)))]
    status: &'static str,
    /// Where it was written; null: it went to stdout.
    file: Option<&'a str>,
    /// Its text.
    spec: &'a str,
    /// What cannot hold together as it stands; empty where `lock` finds an answer.
    conflicts: &'a [Conflict],
    warnings: &'a [Warning],
    /// With --from: requirements of ordinary packages, which gpuenv does not choose.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    packages: &'a [String],
    /// With --from: lines of the files that the spec does not hold.
    #[serde(skip_serializing_if = "<[Left]>::is_empty")]
    left: &'a [Left],
}

impl<'a> Init<'a> {
    pub fn new(drafted: &Drafted<'a>) -> Self {
        Init {
            status: OK,
            file: (!drafted.is_stdout).then_some(&drafted.file.name),
            spec: &drafted.file.text,
            conflicts: drafted.conflict.map_or(&[], |explanation| &explanation.conflicts),
            warnings: drafted.warnings,
            packages: drafted.packages,
            left: drafted.left,
        }
    }
}

/// A spec without an answer; the top level repeats the first conflict.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NoAnswer<'a> {
    #[cfg_attr(test, schemars(extend("const" = "conflict")))]
    status: &'static str,
    /// The number of this shape: it grows when a field goes or changes its meaning.
    format: u32,
    #[serde(flatten)]
    first: Conflict,
    /// Other sets of as many keys, equally to blame.
    alternatives: &'a [Vec<String>],
    /// Each independent conflict.
    conflicts: &'a [Conflict],
    /// Conflicts that share a key with one of `conflicts`: who changes another key of that one meets them next.
    #[serde(skip_serializing_if = "<[Conflict]>::is_empty")]
    further: &'a [Conflict],
    fixes: &'a [Fix],
    /// The steps after which the search for more conflicts and fixes was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    gave_up: Option<u64>,
    /// What was changed in gpuenv.toml all the same, or with --dry-run would be: the conflict was there before. Absent where nothing was written.
    #[serde(skip_serializing_if = "<[Change]>::is_empty", serialize_with = "sorted")]
    #[cfg_attr(test, schemars(with = "Vec<Change>"))]
    applied: &'a [Change],
}

impl<'a> NoAnswer<'a> {
    pub fn new(explanation: &'a Explanation, applied: &'a [Change]) -> Self {
        NoAnswer {
            status: "conflict",
            format: SHAPE,
            first: explanation.conflicts.first().cloned().unwrap_or_default(),
            alternatives: &explanation.alternatives,
            conflicts: &explanation.conflicts,
            further: &explanation.further,
            fixes: &explanation.fixes,
            gave_up: explanation.gave_up,
            applied,
        }
    }
}

/// A spec of which nobody can tell whether it has an answer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Undetermined<'a> {
    #[cfg_attr(test, schemars(extend("const" = "undetermined")))]
    status: &'static str,
    /// The number of this shape: it grows when a field goes or changes its meaning.
    format: u32,
    /// What nobody has read, and what the answer depends on.
    unknowns: &'a [Unknown],
    /// Changes that do without it.
    fixes: &'a [Fix],
    /// What was changed in gpuenv.toml all the same, or with --dry-run would be: it was not known before either. Absent where nothing was written.
    #[serde(skip_serializing_if = "<[Change]>::is_empty", serialize_with = "sorted")]
    #[cfg_attr(test, schemars(with = "Vec<Change>"))]
    applied: &'a [Change],
}

impl<'a> Undetermined<'a> {
    pub fn new(unknowns: &'a [Unknown], known: Option<&'a Explanation>, applied: &'a [Change]) -> Self {
        let fixes = known.map_or(&[][..], |known| &known.fixes);
        Undetermined { status: "undetermined", format: SHAPE, unknowns, fixes, applied }
    }
}

/// What two locks choose differently.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Differences<'a> {
    #[cfg_attr(test, schemars(extend("const" = OK)))]
    status: &'static str,
    /// Each choice, the drivers first.
    differences: &'a [Difference],
}

impl<'a> Differences<'a> {
    pub fn new(differences: &'a [Difference]) -> Self {
        Differences { status: OK, differences }
    }
}
