//! TOML itself: the tree with its places, and syntax errors in words for people who do not write TOML daily.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeTable;

use super::error::{Refusal, SpecError, clip, line_at, line_of};

/// Beyond this a broken file is reported by its first error alone: recovering costs memory per error.
const MAX_RECOVERED: usize = 256 << 10;

/// What a line is, where nobody knows better what was meant.
const FORM: &str = "correct that line: a table is `[stack]`, a value `KEY = \"VALUE\"`";

/// A file with more broken lines is no TOML.
const MAX_TRANSLATED: usize = 100;

/// The tree as far as it could be read, and what could not be.
pub(super) fn read(source: &str) -> (Option<Spanned<DeTable<'_>>>, Vec<SpecError>) {
    let (tree, errors) = match source.len() <= MAX_RECOVERED {
        true => {
            let (tree, errors) = DeTable::parse_recoverable(source);
            (Some(tree), errors)
        }
        false => match DeTable::parse(source) {
            Ok(tree) => (Some(tree), Vec::new()),
            Err(error) => (None, vec![error]),
        },
    };
    let mut translated: Vec<SpecError> =
        errors.iter().take(MAX_TRANSLATED).map(|error| translate(source, error)).collect();
    SpecError::in_file_order(&mut translated);
    // One mistake often breaks two rules of TOML at once; a line is said to be wrong once.
    let mut last = None;
    translated
        .retain(|error| last.replace(line_at(source, error.span.start).0) != Some(line_at(source, error.span.start).0));
    (tree, translated)
}

/// Markers that git leaves in a file whose merge was not finished.
///
/// They are looked for in the text, not in the tree: inside a multi-line string they would be TOML. A lone row
/// of `=` may be somebody's prose there, so it counts only where it breaks the TOML.
pub(super) fn merge_markers(source: &str, broken: &[SpecError]) -> Vec<SpecError> {
    let mut errors = Vec::new();
    let mut at = 0;
    let mut inside = false;
    for (number, line) in source.split_inclusive('\n').enumerate() {
        let text = line.trim_end_matches(['\n', '\r']);
        let begins =
            |marker: &str| text.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        let (opens, parts, closes) = (begins("<<<<<<<"), text == "=======", begins(">>>>>>>"));
        let breaks = || broken.iter().any(|error| (at..at + line.len()).contains(&error.span.start));
        // One error a conflict: its first marker stands for the others.
        if !inside && errors.len() < MAX_TRANSLATED && (opens || closes || (parts && breaks())) {
            let message = format!("line {} holds a merge-conflict marker: `{}`", number + 1, clip(text));
            let help = "resolve the merge: keep one side of each conflict and delete the marker lines";
            errors.push(Refusal::new("merge-marker", message).help(help).at(at..at + text.len()));
        }
        inside = (inside || opens) && !closes;
        at += line.len();
    }
    errors
}

fn translate(source: &str, error: &toml::de::Error) -> SpecError {
    let span = fit(source, error.span().unwrap_or_else(|| longest_key(source)));
    let number = line_of(source, span.start);
    if error.message() == "duplicate key" {
        let message = format!("line {number}: `{}` is written twice", clip(&source[span.clone()]));
        return Refusal::new("duplicate", message).help("keep one of the two").at(span);
    }
    let (line_start, line) = line_at(source, span.start);
    let said = error.message();
    if let Some(bare) = BareValue::find(line).filter(|bare| line_start + bare.at <= span.end && is_about_values(said)) {
        let at = line_start + bare.at;
        return bare.refusal(number).at(at..at + bare.text.len());
    }
    // `torch: 2.5`, as YAML has it.
    if let Some((key, _)) = line.split_once(':').filter(|(key, _)| is_plain(key.trim()) && !line.contains('=')) {
        let refusal = Refusal::new(
            "toml-syntax",
            format!("line {number}: `{}` is followed by `:`, not by `=`", clip(key.trim())),
        );
        return refusal.help("this file is TOML: tables are `[stack]`, and each line is `KEY = \"VALUE\"`").at(span);
    }
    let words = WORDS.iter().find(|(theirs, _, _)| said.starts_with(theirs));
    let refusal = match words {
        Some((_, message, "")) => Refusal::new("toml-syntax", format!("line {number}: {message}")).help(FORM),
        Some((_, message, help)) => Refusal::new("toml-syntax", format!("line {number}: {message}")).help(*help),
        None => Refusal::new("toml-syntax", format!("line {number}: {said}")).help(FORM),
    };
    refusal.at(span)
}

/// What the parser gives no place to is a key with too many dots: the one that has most.
fn longest_key(source: &str) -> Range<usize> {
    let lines = source.split_inclusive('\n').scan(0, |at, line| {
        let begin = *at;
        *at += line.len();
        Some(begin..begin + line.split(['=', '#']).next().map_or(0, |key| key.trim_end().len()))
    });
    lines.max_by_key(|key| source[key.clone()].matches('.').count()).unwrap_or_default()
}

/// Whether it is what a key may be without quotes.
fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// The parser's words, ours, and what to do.
const WORDS: &[(&str, &str, &str)] = &[
    ("key with no value", "a key has no value", "write `KEY = \"VALUE\"`, with `=` between them"),
    ("extra `=`", "there is one `=` too many", "write `KEY = \"VALUE\"`"),
    ("unclosed array", "a list is not closed", "a list ends with `]`"),
    ("unclosed table", "a table's header is not closed", "a header is `[NAME]`, or `[[override]]`"),
    ("unclosed inline table", "an inline table is not closed", "it ends with `}`"),
    (
        "invalid basic string",
        "a string is not closed or holds a raw control character",
        "close it with `\"` on the line where it begins",
    ),
    (
        "invalid literal string",
        "a string is not closed or holds a raw control character",
        "close it with `'` on the line where it begins",
    ),
    ("invalid multi-line basic string", "a multi-line string is not closed", "it ends with `\"\"\"`"),
    ("invalid multi-line literal string", "a multi-line string is not closed", "it ends with `'''`"),
    ("missing escaped value", "`\\` starts no known escape", "double it, or write the string between single quotes"),
    ("missing comma between array elements", "a comma is missing between two entries", ""),
    ("extra comma", "there is one comma too many", ""),
    ("string values must be quoted", "a string needs quotes", "write it between `\"` and `\"`"),
    (
        "cannot recurse further",
        "lists or tables are nested too deeply",
        "nothing in gpuenv.toml nests deeper than a list",
    ),
    ("recursion limit", "a key has too many dots", "nothing in gpuenv.toml nests that deep"),
    ("unquoted keys cannot be empty", "a name is missing", ""),
    ("invalid unquoted key", "a key holds characters that need quotes", "keys are letters, digits, `-` and `_`"),
    ("invalid key-value pair", "this is not TOML", "each line is `KEY = \"VALUE\"`, a `[table]` or a `# comment`"),
    ("unexpected key or value", "something stands after the end of this entry", "each entry has a line of its own"),
];

fn is_about_values(said: &str) -> bool {
    [
        "string values",
        "invalid float",
        "invalid boolean",
        "unexpected leading zero",
        "`_` may only",
        "unexpected key or value",
    ]
    .iter()
    .any(|theirs| said.starts_with(theirs))
        || ["invalid integer", "invalid date", "invalid time", "invalid offset"]
            .iter()
            .any(|theirs| said.starts_with(theirs))
}

/// `torch = >=2.4`: by far the most frequent slip, so the whole value is shown as it should be written.
struct BareValue<'s> {
    key: &'s str,
    text: &'s str,
    at: usize,
}

impl<'s> BareValue<'s> {
    fn find(line: &'s str) -> Option<Self> {
        let (key, rest) = line.split_once('=')?;
        let text = rest.split('#').next().unwrap_or(rest).trim();
        let plain = !text.starts_with(['"', '\'', '[', '{']) && !text.ends_with(['"', '\'']);
        let at = line.len() - rest.len() + (rest.len() - rest.trim_start().len());
        plain.then_some(BareValue { key: key.trim(), text, at })
    }

    fn refusal(&self, number: usize) -> Refusal {
        let key = clip(self.key);
        let refusal = |what: &str| Refusal::new("toml-syntax", format!("line {number}: the value of `{key}` {what}"));
        let bare = self.text.trim_matches(['“', '”', '„', '‘', '’', ';', ',']);
        if bare.is_empty() {
            return refusal("is missing").help(format!("write `{key} = \"VALUE\"`"));
        }
        match bare.to_ascii_lowercase().as_str() {
            word @ ("true" | "false") => refusal("is not TOML").help(format!("write `{key} = {word}`")),
            _ => refusal("is not between quotes").help(format!("write `{key} = \"{}\"`", clip(bare))),
        }
    }
}

/// The parser's spans end where its input does, but a renderer slices with ours.
fn fit(source: &str, span: Range<usize>) -> Range<usize> {
    let down = |mut at: usize| {
        at = at.min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = down(span.start);
    start..down(span.end).max(start)
}
