//! What the reader of stderr can see: colours, Unicode, so many columns.

use std::borrow::Cow;
use std::io::IsTerminal;

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
        let columns = stderr.is_terminal().then(|| terminal_size::terminal_size_of(&stderr)).flatten();
        Screen::new(color.suits(&stderr), stderr.is_terminal(), columns.map(|(width, _)| width.0))
    }

    /// Looks at this process's stdout and environment: where prose itself was asked for.
    pub fn of_stdout(color: Color) -> Self {
        let stdout = std::io::stdout();
        let columns = stdout.is_terminal().then(|| terminal_size::terminal_size_of(&stdout)).flatten();
        Screen::new(color.suits(&stdout), stdout.is_terminal(), columns.map(|(width, _)| width.0))
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

    /// A paragraph behind a head; further lines are indented by so many columns.
    pub fn hanging(&self, head: &str, text: &str, indent: usize) -> String {
        let mut out = head.to_string();
        let mut column = visible(head);
        for (at, word) in text.split_whitespace().enumerate() {
            let length = word.chars().count();
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

/// Characters that must not reach a terminal: controls, and the marks that hide or reorder text.
pub(super) fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Text of unknown origin for a terminal: what must not reach it is spelled out.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let spell = |c: char| match is_hostile(c) {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    Cow::Owned(text.chars().map(spell).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hostile_reaches_a_terminal() {
        assert_eq!(clean("torch 2"), "torch 2");
        assert_eq!(clean("a\x1b[31mb\u{9b}c\u{202e}d\n"), "a\\u{1b}[31mb\\u{9b}c\\u{202e}d\\u{a}");
    }

    #[test]
    fn paragraphs_keep_to_their_width() {
        let screen = Screen { color: true, unicode: false, width: 40, narrated: false };
        let text = screen.wrapped(&screen.warning("  1. "), &"word ".repeat(30));
        assert!(text.lines().all(|line| visible(line) <= 40), "{text}");
        assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("     word")), "{text}");
    }
}
