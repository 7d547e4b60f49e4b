//! The lines of a file that something is about, with marks under the very places.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode,
    SourceSpan, SpanContents, ThemeCharacters, ThemeStyles,
};

use crate::types::name::is_unseen;
use crate::types::secret::masked;

use super::cut::{Cut, cut};
use super::screen::{Screen, clean};
use super::source_file::SourceFile;

/// A longer line of a mark that goes over several says nothing on a screen.
const LONGEST: usize = 300;
/// Marks with no more lines than this between them stand in one frame.
const NEAR: usize = 40;
/// What is drawn between a line's number and its text, and before the number.
const FRAME: usize = 4;

/// The snippet, with its marks as they stand in the file; none where it would fill the screen.
pub(super) fn render(screen: &Screen, file: &SourceFile, mut marks: Vec<(Range<usize>, String)>) -> Option<String> {
    crate::types::sort_by_key(&mut marks, |(span, _)| span.start);
    let text = printable(&file.text);
    let inside = |span: &Range<usize>| span.start <= span.end && span.end <= text.len();
    if marks.is_empty() || !marks.iter().all(|(span, _)| inside(span) && shows(&text, span)) {
        return None;
    }
    if screen.narrated {
        return Some(narrate(screen, file, &text, &marks));
    }
    let number = text.lines().count().max(1).to_string().len();
    let spans: Vec<Range<usize>> = marks.iter().map(|(span, _)| span.clone()).collect();
    let Cut { text, marks: spans, shifts } = cut(&text, &spans, screen.width.saturating_sub(number + FRAME));
    let labels = spans.iter().zip(&marks).map(|(span, (_, label))| {
        // Miette marks nothing where nothing stands: one byte is the least there is to point at.
        let length = span.len().max(usize::from(span.start < text.len()));
        LabeledSpan::new((!label.is_empty()).then(|| clean(label).into_owned()), span.start, length)
    });
    let labels = labels.collect();
    let snippet = Snippet { source: WholeLines { name: clean(&file.name).into_owned(), text, shifts }, labels };
    let theme = GraphicalTheme {
        characters: if screen.unicode { ThemeCharacters::unicode() } else { ThemeCharacters::ascii() },
        styles: if screen.color { ThemeStyles::ansi() } else { ThemeStyles::none() },
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_context_lines(0)
        .with_links(false)
        .with_width(screen.width)
        .without_syntax_highlighting();
    let mut drawn = String::new();
    handler.render_report(&mut drawn, &snippet).ok()?;
    // The handler's own headline repeats what was said already.
    let (_, lines) = drawn.trim_start_matches('\n').split_once('\n')?;
    let bar = if screen.unicode { '\u{2502}' } else { '|' };
    Some(fold(lines.trim_end(), &marked_lines(&snippet.source.text, &spans), number, bar))
}

/// The numbers of the lines in which a mark stands.
fn marked_lines(text: &str, spans: &[Range<usize>]) -> BTreeSet<usize> {
    let line_of = |at: usize| 1 + text[..at].matches('\n').count();
    spans.iter().flat_map(|span| line_of(span.start)..=line_of(span.end)).collect()
}

/// A drawing without the lines between marks: `...` stands for as many as there are.
fn fold(drawn: &str, marked: &BTreeSet<usize>, number: usize, bar: char) -> String {
    let mut folded = String::new();
    let mut in_gap = false;
    // Where the bar stands follows from the numbers that are drawn, not from those of the whole file.
    let before = |line: &str| Some(without_colors(line).split_once(bar)?.0.to_string());
    let numbered = drawn.lines().filter_map(before).find(|head| head.trim().parse::<usize>().is_ok());
    let column = numbered.map_or(number + 2, |head| head.chars().count());
    for line in drawn.lines() {
        let shown = without_colors(line);
        let line_number = shown.split_once(bar).and_then(|(head, _)| head.trim().parse::<usize>().ok());
        if line_number.is_none_or(|number| marked.contains(&number)) {
            folded += line;
            folded.push('\n');
            in_gap = false;
        } else if !in_gap {
            folded += &format!("{:column$}{bar} ...\n", "");
            in_gap = true;
        }
    }
    folded
}

/// A drawn line without its colours.
fn without_colors(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |shown, part| shown + part.split_once('m').map_or("", |(_, rest)| rest))
}

/// The marked lines in words.
fn narrate(screen: &Screen, file: &SourceFile, text: &str, marks: &[(Range<usize>, String)]) -> String {
    let mut told = String::new();
    for (span, label) in marks {
        let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at);
        let line = 1 + text[..start].matches('\n').count();
        let column = 1 + text[start..span.start].chars().count();
        let of = if label.is_empty() { String::new() } else { format!(", {}", clean(label)) };
        let place = format!("  {}, line {line}, column {column}{of}: ", clean(&file.name));
        told += &screen.wrapped(&place, text[start..end].trim());
    }
    told
}

/// The text with everything hostile replaced by something of equal length, so that spans stay true.
fn printable(text: &str) -> String {
    let safe = |c: char| match c {
        '\n' | '\t' => c,
        '\r' => ' ',
        c if is_unseen(c) => match c.len_utf8() {
            1 => '?',
            2 => '\u{bf}',
            3 => '\u{fffd}',
            _ => '\u{1f5cc}',
        },
        c => c,
    };
    masked(text).chars().map(safe).collect()
}

fn shows(text: &str, span: &Range<usize>) -> bool {
    let (Some(before), Some(after)) = (text.get(..span.start), text.get(span.end..)) else { return false };
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = after.find('\n').map_or(text.len(), |at| span.end + at);
    let lines = text[start..end].lines();
    lines.clone().count() <= 1 || lines.clone().all(|line| line.len() <= LONGEST) && lines.count() <= 6
}

/// A text of which only the marked lines are shown, but these from their first character to their last.
#[derive(Debug)]
struct WholeLines {
    name: String,
    text: String,
    /// How many characters of a line's beginning are not in the text.
    shifts: BTreeMap<usize, usize>,
}

impl SourceCode for WholeLines {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        _: usize,
        _: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let outside = || MietteError::OutOfBounds;
        let before = self.text.get(..span.offset()).ok_or_else(outside)?;
        let after = self.text.get(span.offset() + span.len()..).ok_or_else(outside)?;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = self.text.len() - after.len() + after.find('\n').unwrap_or(after.len());
        let lines = &self.text[start..end];
        let line = before.bytes().filter(|byte| *byte == b'\n').count();
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            lines.as_bytes(),
            (start, end - start).into(),
            line,
            before[start..].chars().count() + self.shifts.get(&line).unwrap_or(&0),
            // Marks that are near to each other stand in one frame.
            lines.lines().count() + NEAR,
        )))
    }
}

#[derive(Debug)]
struct Snippet {
    source: WholeLines,
    labels: Vec<LabeledSpan>,
}

impl fmt::Display for Snippet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("-")
    }
}

impl std::error::Error for Snippet {}

impl Diagnostic for Snippet {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}
