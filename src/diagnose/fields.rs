//! What the lines of a text tell in passing: a driver, a GPU, a Python, the number of an error.

use std::ops::Range;
use std::sync::LazyLock;

use crate::catalog::{Catalog, at_hand};

use super::literals::LiteralIndex;
use super::pattern::Pattern;
use super::signatures::{Match, SIGNATURES};
use super::text::{LEVEL, Normalised};
use super::value::{self, Extract, Value};

/// How many lines are read by one pattern: lists end, logs do not.
const LINES: usize = 64;
/// How much of a line around a literal is looked at, before and after it. Few lines are longer.
const LINE: usize = 4096;

/// The fields of the built-in catalog; no overlay can bring others.
static FIELDS: LazyLock<Fields> = LazyLock::new(|| Fields::new(at_hand()));

/// The patterns of all fields, prepared.
struct Fields {
    patterns: Vec<Pattern>,
    literals: LiteralIndex,
}

impl Fields {
    fn new(catalog: &'static Catalog) -> Fields {
        let all = catalog.clues.iter().flat_map(|row| row.patterns.iter());
        let patterns: Vec<Pattern> = all.map(|pattern| Pattern::new(pattern.to_string())).collect();
        let literals = LiteralIndex::new(patterns.iter());
        Fields { patterns, literals }
    }
}

/// What was read out of the lines of a text.
#[derive(Debug, Default)]
pub struct LogFields {
    extract: Extract,
    /// Every number that the text calls an error of CUDA.
    pub numbers: Vec<u32>,
    /// Numbers of errors that may be somebody else's: they claim nothing.
    loose: Vec<u32>,
}

impl LogFields {
    /// Reads a plain text, line by line.
    pub fn read(plain: &str) -> LogFields {
        let mut fields = LogFields::default();
        let lower = plain.to_ascii_lowercase();
        let hits = FIELDS.literals.search(&lower);
        for id in FIELDS.literals.candidates(&hits) {
            let Some(compiled) = FIELDS.patterns[id].compiled() else { continue };
            for line in lines(&lower, &FIELDS.literals.places(id, &hits)) {
                let line = plain[line].trim_start_matches(LEVEL);
                let Some(captures) = compiled.regex.captures(line.as_bytes()) else { continue };
                for (name, range) in compiled.groups(&captures) {
                    let original = line.get(range).unwrap_or_default();
                    match name {
                        "cuda_error" => fields.numbers.extend(failure(original)),
                        "cuda_error__loose" => fields.loose.extend(failure(original)),
                        _ => value::add(&mut fields.extract, name, original),
                    }
                }
            }
        }
        fields
    }

    /// A finding from the number alone, where the text says that it is CUDA's.
    pub fn numbered(&self, text: &Normalised<'_>) -> Option<Match> {
        self.numbers.iter().find_map(|number| SIGNATURES.of_number(*number, text))
    }

    /// Adds what the message implies and what the text tells besides.
    pub fn complete(&self, found: &mut Match) {
        for implied in found.row.gives.iter() {
            let (given, of) = implied.split_once(' ').unwrap_or((implied, ""));
            let symbol = value::text(&found.extract, "symbol").unwrap_or_default();
            let holds = of.is_empty() || Pattern::new(of).is_in(symbol, &symbol.to_ascii_lowercase());
            if let Some((key, value)) = given.split_once('=').filter(|_| holds) {
                value::add(&mut found.extract, key, value);
            }
        }
        let mut printed = self.numbers.iter().chain(&self.loose);
        let own = printed.find(|number| found.row.errors.contains(number));
        let named = value::text(&self.extract, "cuda_error_name").and_then(|name| SIGNATURES.number_of(name));
        // A text can print the errors of several faults: what another message stands for is no number of this one.
        let free = self.numbers.iter().find(|number| found.row.errors.is_empty() || !SIGNATURES.is_claimed(**number));
        let implied = found.row.errors.first().filter(|_| found.speaks_for_cuda());
        let number = own.or(free.filter(|_| found.speaks_for_cuda())).or(implied).copied().or(named);
        if let Some(number) = number {
            found.extract.entry("cuda_error".into()).or_insert(Value::Number(number.into()));
        }
        for (key, value) in &self.extract {
            found.extract.entry(key.clone()).or_insert_with(|| value.clone());
        }
        value::complete(&mut found.extract);
    }

    /// What was read, where no message is known.
    pub fn extract(&self) -> Extract {
        let mut extract = self.extract.clone();
        if let Some(number) = self.numbers.first() {
            extract.insert("cuda_error".into(), Value::Number((*number).into()));
        }
        value::complete(&mut extract);
        extract
    }
}

/// The number of an error; zero is none.
fn failure(number: &str) -> Option<u32> {
    number.parse().ok().filter(|number| *number != 0)
}

/// The first lines that hold literals; of an overlong one, what is around them.
fn lines(lower: &str, literals: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    for literal in literals {
        if lines.last().is_some_and(|last| literal.end <= last.end) {
            continue;
        }
        if lines.len() == LINES {
            break;
        }
        let from = lower.floor_char_boundary(literal.start.saturating_sub(LINE));
        let until = lower.ceil_char_boundary(literal.end + LINE);
        let start = lower[from..literal.start].rfind('\n').map_or(from, |end| from + end + 1);
        let end = lower[literal.end..until].find('\n').map_or(until, |end| literal.end + end);
        lines.push(start..end);
    }
    lines
}

#[cfg(test)]
mod tests;
