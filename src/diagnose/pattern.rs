//! The catalog's patterns, made ready to search: compiled only when a word they cannot do without is in the text.

use std::iter::Peekable;
use std::ops::Range;

use regex_lite::{Captures, Regex};

use super::text::Squeezed;

/// How much of a text around a pattern's word is looked at, before and after it. Messages are shorter.
const BEFORE: usize = 4096;
/// See [`BEFORE`].
const AFTER: usize = 8192;
/// How near must be what forbids a reading: a dozen lines. A log can tell of two GPUs of two makers.
const NEAR: usize = 1024;
/// The bytes that any character may have, as good as always.
const CHARACTER: usize = 3;
/// How often repeats what may repeat for ever: names of symbols are long.
const ENDLESS: usize = 400;
/// How much of a line around a pattern's word is looked at, before and after it. Few lines are longer.
const LINE: usize = 4096;
/// A log repeats itself: what comes later adds nothing.
const READ: usize = 1 << 16;

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

/// How many bytes a match has at most, as far as messages go.
pub fn longest(pattern: &str) -> usize {
    longest_sequence(&mut pattern.chars().peekable())
}

/// The same for what stands between two parentheses, or in the whole pattern.
fn longest_sequence(chars: &mut Chars<'_>) -> usize {
    let (mut longest, mut branch) = (0, 0);
    while let Some(c) = chars.next() {
        let one = match c {
            ')' => break,
            '(' => {
                skip_name(chars);
                longest_sequence(chars)
            }
            '|' => {
                longest = longest.max(std::mem::take(&mut branch));
                continue;
            }
            '\\' => {
                chars.next();
                1
            }
            '[' => {
                skip_class(chars);
                CHARACTER
            }
            '^' | '$' => 0,
            '.' => CHARACTER,
            c => c.len_utf8(),
        };
        branch += one * repeated(chars);
    }
    longest.max(branch)
}

/// How often what stands before may repeat, and past what says so.
fn repeated(chars: &mut Chars<'_>) -> usize {
    let times = match chars.peek() {
        Some('?') => 1,
        Some('*' | '+') => ENDLESS,
        Some('{') => {
            let counts: String = chars.by_ref().take_while(|c| *c != '}').collect();
            let most = counts.rsplit(['{', ',']).next().and_then(|most| most.parse().ok()).unwrap_or(ENDLESS);
            chars.next_if_eq(&'?');
            return most;
        }
        _ => return 1,
    };
    chars.next();
    chars.next_if_eq(&'?');
    times
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
    // One more, so that no match begins or ends where the part was cut.
    let reach = longest(pattern) + 1;
    let mut places: Vec<Range<usize>> = Vec::new();
    let (mut from, mut seen) = (0, 0);
    while let Some(at) = text.lower.get(from..).and_then(|rest| rest.find(&needle)).map(|at| at + from) {
        let end = at + needle.len();
        let around = cut(&text.lower, at.saturating_sub(reach.min(BEFORE)), end + reach.min(AFTER));
        from = at + needle.len().max(1);
        if needle.is_empty() || seen > READ {
            places.push(around);
            break;
        }
        match places.last_mut() {
            Some(last) if around.start <= last.end => {
                seen += around.end - last.end;
                last.end = around.end;
            }
            _ => {
                seen += around.len();
                places.push(around);
            }
        }
    }
    places
}

/// The first lines that hold a word; of an overlong one, what is around the word.
pub fn lines(lower: &str, needle: &str, most: usize) -> Vec<Range<usize>> {
    let (mut lines, mut from) = (Vec::new(), 0);
    while lines.len() < most {
        let Some(at) = lower.get(from..).and_then(|rest| rest.find(needle)).map(|at| at + from) else { break };
        let word = at..at + needle.len();
        let near = cut(lower, at.saturating_sub(LINE), word.end + LINE);
        let start = lower[near.start..at].rfind('\n').map_or(near.start, |end| near.start + end + 1);
        let end = lower[word.end..near.end].find('\n').map_or(near.end, |end| word.end + end);
        lines.push(start..end);
        if end == lower.len() {
            break;
        }
        from = if lower.as_bytes()[end] == b'\n' { end + 1 } else { end };
    }
    lines
}

/// What belongs to a part of a text.
pub fn around(text: &str, start: usize, end: usize) -> Range<usize> {
    cut(text, start.saturating_sub(BEFORE), end + AFTER)
}

/// What stands right by a part of a text.
pub fn near(text: &str, start: usize, end: usize) -> Range<usize> {
    cut(text, start.saturating_sub(NEAR), end + NEAR)
}

/// A part of a text, cut between characters.
fn cut(text: &str, mut start: usize, end: usize) -> Range<usize> {
    let mut end = end.min(text.len());
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
    fn lines_are_found_by_their_word() {
        let text = "first one\nnothing\nlast one";
        let found = |needle| lines(text, needle, 9).into_iter().map(|line| &text[line]).collect::<Vec<_>>();
        assert_eq!(found("one"), ["first one", "last one"]);
        assert_eq!(found("nothing"), ["nothing"]);
        assert_eq!(found("no such"), [""; 0]);
        assert_eq!(lines(text, "one", 1).len(), 1);
    }

    #[test]
    fn one_endless_line_is_read_in_part() {
        let endless = "ünd gpu 0: é ".repeat(300_000);
        let read: usize = lines(&endless, "gpu", 64).iter().map(Range::len).sum();
        assert!(read <= 64 * (2 * LINE + 16), "{read} of {}", endless.len());
        let text = Squeezed::new(&endless);
        let read: usize = places("gpu0:", &text).iter().map(Range::len).sum();
        assert!(read <= 2 * READ, "{read} of {}", text.text.len());
        let last = format!("{} driver 7", "x".repeat(1 << 20));
        assert!(lines(&last, "driver", 64).iter().any(|line| last[line.clone()].ends_with("driver 7")));
    }

    #[test]
    fn no_match_is_longer() {
        for (pattern, wanted) in [
            (r"abc", 3),
            (r"ab?c\.", 4),
            (r"(?:one|three)x", 6),
            (r"a(?<x>\d{2,3})b", 5),
            (r"a.{0,10}?b[^)x]z{3}", 2 + 30 + 3 + 3),
            (r"a\d+?b", 2 + ENDLESS),
            (r"^(?:a|[]b-d])*$", 3 * ENDLESS),
        ] {
            assert_eq!(longest(pattern), wanted, "{pattern}");
        }
    }

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
