//! The catalog's patterns, made ready to search: compiled only when a word they cannot do without is in the text.

use std::iter::Peekable;
use std::ops::Range;

use regex_lite::{Captures, Regex};

use super::text::Squeezed;

/// How much of a text around a pattern's word is looked at, before and after it. Messages are shorter.
const BEFORE: usize = 4096;
/// See [`BEFORE`].
const AFTER: usize = 8192;
/// A log repeats itself: what comes later adds nothing.
const READ: usize = 1 << 17;

/// A pattern without the blanks that are there for its reader, optional ones (` ?`) included.
pub fn squeeze(pattern: &str) -> String {
    pattern.replace(" ?", "").replace(' ', "")
}

/// The longest text that every match holds, in lower case; empty if there is none.
pub fn needle(pattern: &str) -> String {
    sequence(&mut pattern.chars().peekable())
}

type Chars<'p> = Peekable<std::str::Chars<'p>>;

/// The same for what stands between two parentheses, or in the whole pattern.
fn sequence(chars: &mut Chars<'_>) -> String {
    let (mut best, mut run, mut choice) = (String::new(), String::new(), false);
    while let Some(c) = chars.next() {
        let (mut literal, mut inner) = (None, String::new());
        match c {
            ')' => break,
            '(' => {
                skip_name(chars);
                inner = sequence(chars);
            }
            '|' => choice = true,
            '\\' => literal = chars.next().filter(|next| !next.is_ascii_alphanumeric()),
            '[' => skip_class(chars),
            '{' => while chars.next().is_some_and(|c| c != '}') {},
            '.' | '+' | '?' | '*' | '^' | '$' => {}
            c => literal = Some(c),
        }
        // What is optional or counted is no part of the word.
        let optional = matches!(chars.peek(), Some('?' | '*' | '{'));
        match literal.filter(|_| !optional) {
            Some(c) => run.push(c.to_ascii_lowercase()),
            None => keep_longer(&mut best, std::mem::take(&mut run)),
        }
        if !optional {
            keep_longer(&mut best, inner);
        }
    }
    keep_longer(&mut best, run);
    if choice { String::new() } else { best }
}

fn keep_longer(best: &mut String, other: String) {
    if other.len() > best.len() {
        *best = other;
    }
}

/// What makes a group one: `?:`, `?-i:`, `?<name>`.
fn skip_name(chars: &mut Chars<'_>) {
    if chars.next_if_eq(&'?').is_some() {
        let end = if chars.peek() == Some(&'<') { '>' } else { ':' };
        while chars.next().is_some_and(|c| c != end) {}
    }
}

fn skip_class(chars: &mut Chars<'_>) {
    chars.next_if_eq(&'^');
    chars.next_if_eq(&']');
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            ']' => return,
            _ => {}
        }
    }
}

/// Compiles, whatever the case of the text.
pub fn compile(pattern: &str) -> Option<Regex> {
    Regex::new(&format!("(?i){pattern}")).ok()
}

/// Where a pattern may match: the surroundings of its word.
pub fn places(pattern: &str, text: &Squeezed<'_>) -> Vec<Range<usize>> {
    let needle = needle(pattern);
    let mut places: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while let Some(at) = text.lower.get(from..).and_then(|rest| rest.find(&needle)).map(|at| at + from) {
        let around = around(&text.lower, at, at + needle.len());
        from = at + needle.len().max(1);
        let seen: usize = places.iter().map(Range::len).sum();
        match places.last_mut() {
            Some(last) if around.start <= last.end => last.end = around.end,
            _ => places.push(around),
        }
        if needle.is_empty() || seen > READ {
            break;
        }
    }
    places
}

/// The surroundings of a part, cut between characters.
pub fn around(text: &str, start: usize, end: usize) -> Range<usize> {
    let (mut start, mut end) = (start.saturating_sub(BEFORE), (end + AFTER).min(text.len()));
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

/// What the named groups of a match hold, by name and place.
pub fn groups<'r>(regex: &'r Regex, found: &Captures<'_>) -> Vec<(&'r str, Range<usize>)> {
    regex.capture_names().flatten().filter_map(|name| Some((name, found.name(name)?.range()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_needle_is_in_every_match() {
        for (pattern, wanted) in [
            (r"Driver is too old \(found (?<x>\d+)", "driveristooold(found"),
            ("colou?rs and more", "rsandmore"),
            ("(?:either|or)", ""),
            ("one|other", ""),
            ("a(?<x>whole[0-9]group)b?", "whole"),
            ("a(?:whole)?b ?cd", "bcd"),
            ("ab{2,3}cdef", "cdef"),
            (r"[]a^]xyz\d+q", "xyz"),
        ] {
            assert_eq!(needle(&squeeze(pattern)), wanted, "{pattern}");
        }
    }
}
