//! Lines that are too long for the screen, cut down to what is marked in them.

use std::collections::BTreeMap;
use std::ops::Range;

/// Stands for what was cut away.
const GONE: &str = "...";
/// What of a line is shown before its first mark, where there is room.
const BEFORE: usize = 8;

/// A text with some of its lines cut, and the marks at their new places.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The text.
    pub text: String,
    /// The marks, in the order they were given in.
    pub marks: Vec<Range<usize>>,
    /// How many characters are gone before what is shown, by line counted from nought.
    pub shifts: BTreeMap<usize, usize>,
}

/// Cuts the lines with marks in them to so many columns. A mark that goes over several lines is left as it is.
pub(super) fn cut(text: &str, marks: &[Range<usize>], columns: usize) -> Cut {
    let mut done = Cut { text: String::with_capacity(text.len()), marks: marks.to_vec(), shifts: BTreeMap::new() };
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let end = start + line.len();
        let body = start..start + line.trim_end_matches('\n').len();
        let inside = |mark: &Range<usize>| body.start <= mark.start && mark.end <= body.end;
        let own: Vec<usize> = (0..marks.len()).filter(|&at| inside(&marks[at])).collect();
        let at = done.text.len();
        let (first, last) = (own.iter().map(|&at| marks[at].start).min(), own.iter().map(|&at| marks[at].end).max());
        match (first, last) {
            (Some(first), Some(last)) if width(&text[body.clone()]) > columns => {
                let window = window(text, &body, first..last, columns);
                let head = if window.start > body.start { GONE } else { "" };
                let tail = if window.end < body.end { GONE } else { "" };
                done.text += head;
                done.text += &text[window.clone()];
                done.text += tail;
                done.text += &text[body.end..end];
                let gone = text[body.start..window.start].chars().count();
                done.shifts.insert(number, gone.saturating_sub(head.len()));
                let place = |byte: usize| at + head.len() + byte.clamp(window.start, window.end) - window.start;
                for mark in own {
                    done.marks[mark] = place(marks[mark].start)..place(marks[mark].end);
                }
            }
            _ => {
                done.text += line;
                for mark in (0..marks.len()).filter(|&mark| (start..end.max(start + 1)).contains(&marks[mark].start)) {
                    let moved = |byte: usize| byte + at - start;
                    done.marks[mark] = moved(marks[mark].start)..moved(marks[mark].end);
                }
            }
        }
        start = end;
    }
    for (mark, was) in done.marks.iter_mut().zip(marks) {
        // What stands behind the last line keeps its distance from the end.
        if was.start >= start {
            *mark = done.text.len()..done.text.len();
        }
    }
    done
}

/// The part of a line that is shown: it begins a little before the first mark, or earlier if all fits.
fn window(text: &str, line: &Range<usize>, marked: Range<usize>, columns: usize) -> Range<usize> {
    let room = columns.saturating_sub(2 * GONE.len()).max(1);
    let start = match width(&text[line.start..marked.end]) + GONE.len() <= columns {
        true => line.start,
        false => back(text, line.start, marked.start, BEFORE.min(room / 2)),
    };
    let mut end = start;
    let mut taken = 0;
    let room = if start == line.start { columns.saturating_sub(GONE.len()) } else { room };
    for c in text[start..line.end].chars() {
        taken += columns_of(c);
        if taken > room {
            break;
        }
        end += c.len_utf8();
    }
    start..end
}

/// So many characters before a place, but not before the line.
fn back(text: &str, line: usize, from: usize, characters: usize) -> usize {
    text[line..from].char_indices().rev().take(characters).last().map_or(from, |(at, _)| line + at)
}

fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// How many columns a character takes: of the wide scripts two, of a tab as many as the drawing gives it.
fn columns_of(c: char) -> usize {
    match c {
        '\t' => 4,
        '\u{1100}'.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
