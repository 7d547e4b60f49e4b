//! What the reader of stderr can see: colours, Unicode, so many columns.

use std::borrow::Cow;
use std::io::IsTerminal;
#[cfg(unix)]
use std::os::fd::AsFd as AsStream;
#[cfg(windows)]
use std::os::windows::io::AsHandle as AsStream;

use crate::types::name::is_unseen;
use crate::types::secret::masked;

use super::project::ProjectFiles;

/// `--color`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Whether this stream is to be coloured.
    pub fn suits(self, stream: &impl IsTerminal) -> bool {
        let plain = variable("NO_COLOR").is_some() || variable("TERM").is_some_and(|term| term == "dumb");
        match self {
            Color::Auto => stream.is_terminal() && !plain,
            Color::Always => true,
            Color::Never => false,
        }
    }
}

/// What the environment says, if it says anything.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The reader's end of stderr.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    /// Whether to colour.
    pub color: bool,
    /// Whether to draw with more than ASCII.
    pub unicode: bool,
    /// How many columns there are.
    pub width: usize,
    /// Whether to say in words what is else drawn: for those who listen.
    pub narrated: bool,
    /// What the files are called that commands are shown for.
    pub project: ProjectFiles,
}

/// Beyond this, prose is hard to follow.
const WIDEST: usize = 110;
/// Where nobody says how wide the reader's screen is: a log, a file.
const USUAL: usize = 80;
/// Below this, wrapping makes things worse.
const NARROWEST: usize = 40;

impl Screen {
    /// Looks at this process's stderr and environment.
    pub fn of_stderr(color: Color) -> Self {
        let stderr = std::io::stderr();
        Screen::new(color.suits(&stderr), stderr.is_terminal(), columns(&stderr))
    }

    /// Looks at this process's stdout and environment: where prose itself was asked for.
    pub fn of_stdout(color: Color) -> Self {
        let stdout = std::io::stdout();
        Screen::new(color.suits(&stdout), stdout.is_terminal(), columns(&stdout))
    }

    /// Whether what is printed on stdout is seen by somebody, rather than kept in a file or read by a program.
    pub fn is_watched() -> bool {
        std::io::stdout().is_terminal()
    }

    /// For a file: no colours, the usual width.
    pub fn plain() -> Self {
        Screen::new(false, false, None)
    }

    fn new(color: bool, terminal: bool, columns: Option<u16>) -> Self {
        let locale = variable("LC_ALL").or_else(|| variable("LC_CTYPE")).or_else(|| variable("LANG"));
        let utf8 = locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        });
        let told = variable("COLUMNS").and_then(|columns| columns.parse().ok());
        let width = told.or(columns.map(usize::from)).unwrap_or(USUAL);
        Screen {
            color,
            unicode: terminal && utf8,
            width: width.clamp(NARROWEST, WIDEST),
            narrated: variable("GPUENV_REPORT").is_some_and(|how| how == "narrated"),
            project: ProjectFiles::default(),
        }
    }

    /// The head of an error.
    pub fn error(&self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// The head of a warning.
    pub fn warning(&self, text: &str) -> String {
        self.paint("1;33", text)
    }

    /// The head of something helpful.
    pub fn help(&self, text: &str) -> String {
        self.paint("1;36", text)
    }

    /// What was there before.
    pub fn before(&self, text: &str) -> String {
        self.paint("31", text)
    }

    /// From what was there to what is there now.
    pub fn change(&self, old: &str, new: &str) -> String {
        let (old, new) = (self.before(&clean(old)), self.after(&clean(new)));
        if self.narrated { format!("from {old} to {new}") } else { format!("{old} -> {new}") }
    }

    /// What is there now.
    pub fn after(&self, text: &str) -> String {
        self.paint("32", text)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    /// A paragraph behind a head; further lines are indented to where the first one's text begins.
    pub fn wrapped(&self, head: &str, text: &str) -> String {
        // Long heads would leave no room: then a small indent says as much.
        let indent = match visible(head) {
            short @ ..=6 => short,
            _ => 4,
        };
        self.hanging(head, text, indent)
    }

    /// The value of a field in a column of such; further lines stay in the column.
    pub fn column(&self, head: &str, text: &str) -> String {
        self.hanging(head, text, visible(head).min(self.width / 2))
    }

    /// A paragraph behind a head; further lines are indented by so many columns.
    pub fn hanging(&self, head: &str, text: &str, indent: usize) -> String {
        let mut out = head.to_string();
        let mut column = visible(head);
        for (at, word) in self.project.named(text).split_whitespace().enumerate() {
            let length = visible(word);
            if at > 0 && column + 1 + length > self.width {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                column = indent;
            } else if at > 0 {
                out.push(' ');
                column += 1;
            }
            out += word;
            column += length;
        }
        out.push('\n');
        out
    }
}

/// How wide a terminal is.
#[cfg(any(unix, windows))]
fn columns(stream: &(impl IsTerminal + AsStream)) -> Option<u16> {
    let size = stream.is_terminal().then(|| terminal_size::terminal_size_of(stream)).flatten();
    size.map(|(width, _)| width.0)
}

/// In a browser there is none.
#[cfg(not(any(unix, windows)))]
fn columns(_: &impl IsTerminal) -> Option<u16> {
    None
}

/// How many columns a text takes, colours aside.
fn visible(text: &str) -> usize {
    let mut count = 0;
    let mut escaped = false;
    for c in text.chars() {
        match c {
            '\x1b' => escaped = true,
            'm' if escaped => escaped = false,
            _ if !escaped => count += 1,
            _ => {}
        }
    }
    count
}

/// Text of unknown origin for a place in a line: what must not reach a terminal is spelled out.
pub fn clean(text: &str) -> Cow<'_, str> {
    spelled_out(text, |_, c| is_unseen(c))
}

/// Text in a page or in XML, within quotes too.
pub(super) fn markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Everything that is printed goes through this, last of all: whatever it was made of, nothing is left that a terminal
/// would obey but the ends of lines and, where we colour, colours; nor what the reader of a log would, or a password.
pub(super) fn plain(text: &str, colored: bool) -> Cow<'_, str> {
    let is_color = |at: usize| {
        let rest = text[at..].strip_prefix("\x1b[").unwrap_or_default();
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
    };
    let is_bad = |at: usize, c: char| match c {
        '\n' | '\t' => false,
        '\x1b' if colored => !is_color(at),
        ':' => begins_command(text, at),
        c => is_obeyed(text, at, c),
    };
    without_passwords(spelled_out(text, is_bad))
}

/// The same of annotations, in which each line begins with a command of ours.
pub(super) fn plain_commands(text: &str) -> Cow<'_, str> {
    without_passwords(spelled_out(text, |at, c| !matches!(c, '\n' | '\t') && is_obeyed(text, at, c)))
}

/// A JSON text in which every character that must not reach a terminal or a log is written by its number. Such a character
/// can stand within strings only, where JSON knows that spelling.
pub(super) fn plain_json(text: &str) -> Cow<'_, str> {
    let by_number = |plain: &mut String, c: char| {
        let mut units = [0; 2];
        c.encode_utf16(&mut units).iter().for_each(|unit| *plain += &format!("\\u{unit:04x}"));
    };
    without_passwords(spelled(text, |at, c| c != '\n' && is_obeyed(text, at, c), by_number))
}

/// Without the passwords in addresses.
fn without_passwords(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => masked(text),
        Cow::Owned(text) => Cow::Owned(masked(&text).into_owned()),
    }
}

/// Whether a character is obeyed by a terminal or, as the begin of `##[error]`, `##vso[` or `##teamcity[` anywhere in a line,
/// by who runs jobs and reads their logs.
fn is_obeyed(text: &str, at: usize, c: char) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric();
    match c {
        '#' => text[at..].strip_prefix("##").is_some_and(|rest| rest.trim_start_matches(is_word).starts_with('[')),
        c => is_unseen(c),
    }
}

/// Whether `::` stands there at the begin of a line, blanks aside, where GitHub's runner reads a command: a line may be wrapped
/// before any word.
fn begins_command(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches(|c: char| c.is_whitespace() && c != '\n');
    text[at..].starts_with("::") && (before.is_empty() || before.ends_with('\n'))
}

pub(super) fn spelled_out(text: &str, is_bad: impl Fn(usize, char) -> bool) -> Cow<'_, str> {
    spelled(text, is_bad, |spelled, c| spelled.extend(c.escape_unicode()))
}

fn spelled(text: &str, is_bad: impl Fn(usize, char) -> bool, spell: impl Fn(&mut String, char)) -> Cow<'_, str> {
    if !text.char_indices().any(|(at, c)| is_bad(at, c)) {
        return Cow::Borrowed(text);
    }
    let mut spelled = String::with_capacity(text.len() + 16);
    for (at, c) in text.char_indices() {
        match is_bad(at, c) {
            true => spell(&mut spelled, c),
            false => spelled.push(c),
        }
    }
    Cow::Owned(spelled)
}

#[cfg(test)]
mod tests;
