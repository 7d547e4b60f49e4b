//! What is wrong with a gpuenv.toml, as plain data: rendering is the report's business.

use std::ops::Range;

use crate::types::secret::masked;

/// One mistake in a gpuenv.toml and the bytes it was found at.
///
/// The codes are stable: `too-large`, `encoding`, `merge-marker`, `toml-syntax`, `unknown-key`, `type`, `name`,
/// `value`, `constraint`, `image`, `arch-list`, `missing`, `duplicate`, `exclusive`, `too-many`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SpecError {
    /// What kind of mistake.
    pub code: &'static str,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where, in the decoded text.
    pub span: Range<usize>,
    /// What to write instead.
    pub help: Option<String>,
}

impl SpecError {
    /// Mistakes are told as they stand in the file; of those of one place the first found comes first.
    pub fn in_file_order(errors: &mut [SpecError]) {
        errors.sort_by_key(|error| error.span.start);
    }
}

/// A refusal that does not know yet where the text stood: the same words serve files and single edits.
#[derive(Debug)]
pub(super) struct Refusal {
    pub code: &'static str,
    pub message: String,
    pub help: Option<String>,
}

impl Refusal {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Refusal { code, message: message.into(), help: None }
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The error at its place. A terminal must survive every file, so nothing unprintable passes here.
    pub fn at(self, span: Range<usize>) -> SpecError {
        SpecError {
            code: self.code,
            message: printable(&self.message),
            span,
            help: self.help.as_deref().map(printable),
        }
    }
}

/// Nothing a message quotes from a file is longer than this.
const QUOTED: usize = 60;
/// No honest message is longer; a hostile one is cut.
const MESSAGE: usize = 700;

/// The text for a message: escaped, and cut where it would drown the sentence around it.
pub(super) fn clip(text: &str) -> String {
    // Before it is cut: half a password would not be known for one.
    let text = &masked(text);
    let mut clipped: String = text.chars().take(QUOTED).flat_map(escape).collect();
    if text.chars().nth(QUOTED).is_some() {
        clipped.push('…');
    }
    clipped
}

/// The text between backticks.
pub(super) fn quote(text: &str) -> String {
    format!("`{}`", clip(text))
}

fn printable(text: &str) -> String {
    text.chars().take(MESSAGE).flat_map(escape).collect()
}

/// Quotes and backslashes stay as they are: unlike control characters they do no harm, and escaping twice
/// must not change anything.
fn escape(c: char) -> impl Iterator<Item = char> {
    let harmless = matches!(c, '"' | '\'' | '\\');
    harmless.then_some(c).into_iter().chain((!harmless).then(|| c.escape_debug()).into_iter().flatten())
}

/// The number of the line that holds this byte, counted from one.
pub(super) fn line_of(source: &str, at: usize) -> usize {
    1 + source.as_bytes()[..at.min(source.len())].iter().filter(|byte| **byte == b'\n').count()
}

/// The line that holds this byte, without its end, and where it begins.
pub(super) fn line_at(source: &str, at: usize) -> (usize, &str) {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    let start = source[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = source[at..].find('\n').map_or(source.len(), |length| at + length);
    (start, source[start..end.max(start)].trim_end_matches('\r'))
}
