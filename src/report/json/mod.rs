//! The JSON documents, a struct each: what is serialised here is what `gpuenv schema` derives its schemas from.

mod answer;
mod fleet;
mod fleet_plan;
mod host;
mod inspected;
mod lookup;
mod matrix;

use serde::{Serialize, Serializer};

use super::failure::Failure;
use super::json_text;
use super::source_file::SourceFile;

pub(super) use answer::{Differences, Exports, Init, Rendered, Stale};
pub(crate) use answer::{Locked, NoAnswer, Undetermined};
pub(super) use fleet::{FleetGroups, FleetHost};
pub(super) use fleet_plan::FleetPlan;
pub(crate) use host::Diagnosed;
pub(super) use host::Verified;
pub(super) use inspected::Inspected;
pub(super) use lookup::{Catalogs, Census, Checked, Explained, Found, Graph, Listed, Schemas, Topics};
pub(crate) use matrix::MatrixCells;

/// What `status` says where all is well.
const OK: &str = "ok";

/// What went wrong.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Errors<'a> {
    #[cfg_attr(test, schemars(extend("const" = "error")))]
    status: &'static str,
    #[cfg_attr(test, schemars(length(min = 1)))]
    errors: Vec<Error<'a>>,
}

/// One mistake.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

/// A document as it is printed, for who has no stdout.
pub(crate) fn text(document: &impl Serialize) -> String {
    // Only a map with keys that are not strings can fail here, and there is none.
    json_text(document).unwrap_or_default() + "\n"
}

/// Writes fields in the order of the alphabet, as some documents always had them.
fn sorted<T: Serialize, S: Serializer>(document: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::to_value(document).map_err(serde::ser::Error::custom)?.serialize(serializer)
}
