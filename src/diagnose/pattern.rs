//! The catalog's patterns, prepared once: what a match cannot do without is known beforehand, so that most patterns are
//! never tried, and each is compiled when a text first holds its words.

use std::iter::Peekable;
use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder};

/// The bytes that any character may have, as good as always.
const CHARACTER: usize = 3;
/// How often repeats what may repeat for ever: names of symbols are long.
const ENDLESS: usize = 400;
/// A set of more words than this is no better than none.
const ALTERNATIVES: usize = 24;

/// A regular expression of the catalog, prepared.
pub struct Pattern {
    /// As it is searched for.
    text: String,
    /// Every match holds one of these, in lower case. Empty if there is nothing that a match must hold.
    pub literals: Vec<String>,
    /// How many bytes a match has at most, as far as messages go.
    pub reach: usize,
    compiled: OnceLock<Option<Compiled>>,
}

/// What is made of a pattern when a text first holds its words.
pub struct Compiled {
    pub regex: Regex,
    groups: Vec<(usize, String)>,
}

impl Pattern {
    /// Prepares a pattern as it stands.
    pub fn new(text: impl Into<String>) -> Pattern {
        let text = text.into();
        Pattern { literals: required_literals(&text), reach: longest(&text), text, compiled: OnceLock::new() }
    }

    /// Prepares a pattern that is searched in a normalised text: without the blanks that are there for its reader,
    /// optional ones (` ?`) included.
    pub fn normalised(pattern: &str) -> Pattern {
        Pattern::new(pattern.replace(" ?", "").replace(' ', ""))
    }

    /// The compiled pattern; none if it is not one, which the catalog's lint refuses.
    pub fn compiled(&self) -> Option<&Compiled> {
        let compile = || {
            let regex = RegexBuilder::new(&self.text).unicode(false).case_insensitive(true).build().ok()?;
            let names = regex.capture_names().enumerate();
            let groups = names.filter_map(|(at, name)| Some((at, name?.to_string()))).collect();
            Some(Compiled { regex, groups })
        };
        self.compiled.get_or_init(compile).as_ref()
    }

    /// Whether it matches somewhere in a part of a text; `lower` is that part in lower case.
    pub fn is_in(&self, text: &str, lower: &str) -> bool {
        let possible = self.literals.is_empty() || self.literals.iter().any(|literal| lower.contains(literal.as_str()));
        possible && self.compiled().is_some_and(|compiled| compiled.regex.is_match(text.as_bytes()))
    }
}

impl Compiled {
    /// The names of its groups.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|(_, name)| name.as_str())
    }

    /// What the named groups of a match hold, by name and place.
    pub fn groups<'r>(&'r self, found: &Captures<'_>) -> impl Iterator<Item = (&'r str, Range<usize>)> {
        self.groups.iter().filter_map(|(at, name)| Some((name.as_str(), found.get(*at)?.range())))
    }
}

type Chars<'p> = Peekable<std::str::Chars<'p>>;

/// The words of which every match holds one, in lower case: the longest there are. Empty if there are none.
fn required_literals(pattern: &str) -> Vec<String> {
    alternatives(&mut pattern.chars().peekable())
}

/// The same for what stands between two parentheses, or in the whole pattern: each branch has its own words.
fn alternatives(chars: &mut Chars<'_>) -> Vec<String> {
    let (mut all, mut free) = (Vec::new(), false);
    loop {
        let (words, ended) = branch(chars);
        free |= words.is_empty();
        all.extend(words);
        if ended {
            break;
        }
    }
    all.sort_unstable();
    all.dedup();
    if free || all.len() > ALTERNATIVES { Vec::new() } else { all }
}

/// The words of a branch, and whether it was the last.
fn branch(chars: &mut Chars<'_>) -> (Vec<String>, bool) {
    let (mut best, mut run) = (Vec::new(), String::new());
    let ended = loop {
        let Some(c) = chars.next() else { break true };
        let (mut literal, mut inner) = (None, Vec::new());
        match c {
            ')' => break true,
            '|' => break false,
            '(' => {
                skip_name(chars);
                inner = alternatives(chars);
            }
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
            None => keep_better(&mut best, vec![std::mem::take(&mut run)]),
        }
        if !optional {
            keep_better(&mut best, inner);
        }
    };
    keep_better(&mut best, vec![run]);
    (best, ended)
}

/// Words are the better, the longer the shortest of them is.
fn keep_better(best: &mut Vec<String>, other: Vec<String>) {
    let shortest = |words: &[String]| words.iter().map(String::len).min().unwrap_or(0);
    if shortest(&other) > shortest(best) {
        *best = other;
    }
}

/// How many bytes a match has at most, as far as messages go.
fn longest(pattern: &str) -> usize {
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

#[cfg(test)]
mod tests;
