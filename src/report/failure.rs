//! What can go wrong before there is an answer, and how it is said.

use std::ops::Range;

use miette::Diagnostic;

use crate::export::ExportError;
use crate::spec::SpecError;

use super::screen::{Screen, clean};
use super::snippet;
use super::source_file::SourceFile;
use super::was;

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Yes.
    Yes = 0,
    /// Proven no: a conflict, a stale lock.
    No = 1,
    /// Bad usage or bad input.
    BadInput = 2,
    /// It could not be determined.
    Unknown = 3,
    /// Reading or writing failed.
    Io = 4,
    /// A mistake of gpuenv itself. As far from the others as sysexits.h puts it.
    Internal = 70,
}

/// A run that ended before an answer.
#[derive(Debug, Clone)]
pub struct Failure {
    /// How the run ends.
    pub exit: Exit,
    /// Everything that is wrong.
    pub problems: Vec<Problem>,
    /// The file that the spans point into.
    pub file: Option<SourceFile>,
}

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub struct Problem {
    /// Its stable name.
    pub code: &'static str,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where, in bytes.
    pub span: Option<Range<usize>>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Problem {
    /// Why a lock was not rendered.
    pub fn of_export(error: &ExportError) -> Self {
        let help = error.help().map_or_else(|| "name one of those".to_string(), |help| help.to_string());
        let help = Some(help);
        Problem { code: error.code(), message: error.to_string(), span: None, help }
    }
}

impl Failure {
    /// The same, with a place in a file for what has none.
    pub fn within(mut self, span: Range<usize>, file: &SourceFile) -> Failure {
        if self.file.is_none() {
            self.file = Some(file.clone());
            for problem in &mut self.problems {
                problem.span.get_or_insert(span.clone());
            }
        }
        self
    }
}

/// More errors than this are not read, but counted.
const SHOWN: usize = 12;
/// More of one file are not told to programs either: for each its line is looked for.
const TOLD: usize = 200;

impl Failure {
    /// One problem without a place.
    pub fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        let problem = Problem { code, message: message.into(), span: None, help: None };
        Failure { exit, problems: vec![problem], file: None }
    }

    /// Why a lock was not rendered.
    pub fn of_export(exit: Exit, error: &ExportError) -> Self {
        Failure { exit, problems: vec![Problem::of_export(error)], file: None }
    }

    /// Something that could not be read or written.
    pub fn io(code: &'static str, message: impl Into<String>) -> Self {
        Failure::new(Exit::Io, code, message)
    }

    /// The same with advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        if let Some(problem) = self.problems.last_mut() {
            problem.help = Some(help.into());
        }
        self
    }

    /// The same after these files were written, which its message ends with.
    pub fn after(mut self, files: &[String]) -> Self {
        if let Some(problem) = self.problems.last_mut().filter(|_| !files.is_empty()) {
            problem.message += &format!("; {} written", was(files));
        }
        self
    }

    /// Whether it says what another one does, and at most what was done beside it.
    pub(super) fn is_same(&self, other: &Failure) -> bool {
        let mut pairs = self.problems.iter().zip(&other.problems);
        self.problems.len() == other.problems.len() && pairs.all(|(one, other)| one.message.starts_with(&other.message))
    }

    /// The mistakes of a gpuenv.toml. What is not supported yet is no mistake.
    pub fn spec(errors: Vec<SpecError>, file: SourceFile) -> Self {
        let mistaken = errors.iter().any(|error| error.code != "not-supported-yet");
        // One more is the reader's own word for what it left off.
        let left_off = errors.len().saturating_sub(TOLD + 1);
        let problems = errors.into_iter().take(TOLD + 1).map(|error| Problem {
            code: error.code,
            message: error.message,
            // The empty span of an undecoded file points nowhere.
            span: (error.span != (0..0)).then_some(error.span),
            help: error.help,
        });
        let mut problems: Vec<Problem> = problems.collect();
        if left_off > 0 {
            let message = format!("{left_off} more errors are not shown");
            problems.push(Problem { code: "too-many", message, span: None, help: None });
        }
        let exit = if mistaken { Exit::BadInput } else { Exit::Unknown };
        Failure { exit, problems, file: Some(file) }
    }
}

/// The failure for people.
pub(super) fn render(screen: &Screen, failure: &Failure) -> String {
    let mut text = String::new();
    for problem in failure.problems.iter().take(SHOWN) {
        let head = screen.error(&format!("error[{}]:", problem.code));
        let place = failure.file.as_ref().map_or(String::new(), |file| format!("{}: ", clean(&file.name)));
        let snippet = failure
            .file
            .as_ref()
            .zip(problem.span.clone())
            .and_then(|(file, span)| snippet::render(screen, file, vec![(span, String::new())]));
        match snippet {
            Some(snippet) => text += &(screen.wrapped(&format!("{head} "), &clean(&problem.message)) + &snippet),
            None => text += &screen.wrapped(&format!("{head} "), &format!("{place}{}", clean(&problem.message))),
        }
        for help in problem.help.iter().flat_map(|help| help.lines()) {
            text += &screen.wrapped(&format!("  {} ", screen.help("help:")), &clean(help));
        }
    }
    if let Some(more) = failure.problems.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        text += &format!("and {more} more errors\n");
    }
    text
}
