//! The messages of the catalog, prepared once, and their search in a text.

use std::ops::Range;
use std::sync::LazyLock;

use crate::catalog::rows::{ErrorSignature, Text};
use crate::catalog::{Catalog, at_hand};
use crate::types::Version;

use super::conflicts::{self, About};
use super::literals::{Hits, LiteralIndex};
use super::pattern::{Compiled, Pattern};
use super::placeholders;
use super::side_by_side;
use super::text::Normalised;
use super::value::{self, Extract};

/// Rows of less weight count only where nothing else was found.
pub const LAST_RESORT: u32 = 10;
/// How many matches of one pattern are read: lists end, logs do not.
const MATCHES: usize = 64;
/// How much of a text around a literal is looked at, before and after it. Messages are shorter.
const BEFORE: usize = 4096;
/// See [`BEFORE`].
const AFTER: usize = 8192;
/// How near must be what forbids a reading: a dozen lines. A log can tell of two GPUs of two makers.
const NEAR: usize = 1024;
/// A log repeats itself: what comes later adds nothing.
const READ: usize = 1 << 16;

/// The messages of the built-in catalog; no overlay can bring others.
pub static SIGNATURES: LazyLock<Signatures> = LazyLock::new(|| Signatures::new(at_hand()));

/// A message, prepared.
struct Signature {
    row: &'static ErrorSignature,
    patterns: Vec<Pattern>,
    context: Context,
}

/// All messages, prepared.
pub struct Signatures {
    all: Vec<Signature>,
    literals: LiteralIndex,
    /// Which message and which of its patterns stand at each place of `literals`.
    owners: Vec<(usize, usize)>,
}

/// A message that was found in a text.
pub struct Match {
    pub row: &'static ErrorSignature,
    /// Where it begins in the normalised text.
    pub at: usize,
    /// What was read of the normalised text; nothing of it for a message that was not found by its words.
    pub places: Vec<Range<usize>>,
    /// What its patterns read out.
    pub extract: Extract,
    /// Which of its patterns matched.
    pub patterns: Vec<usize>,
    /// Whether the program went on behind it, and something else is the fault.
    pub in_passing: bool,
    /// The packages whose message it is.
    pub programs: Vec<String>,
}

impl Match {
    /// A message that was not found by its words.
    pub fn of(row: &'static ErrorSignature) -> Match {
        Match {
            row,
            at: 0,
            places: Vec::new(),
            extract: Extract::new(),
            patterns: Vec::new(),
            in_passing: false,
            programs: Vec::new(),
        }
    }

    /// Whether it was found by words of CUDA's: an Xid is the kernel's, and stands for no error of CUDA.
    pub fn speaks_for_cuda(&self) -> bool {
        self.patterns.is_empty() || self.patterns.iter().any(|&at| !self.row.patterns[at].contains("Xid"))
    }
}

impl Signatures {
    fn new(catalog: &'static Catalog) -> Signatures {
        let prepare = |row: &'static ErrorSignature| {
            let normalised = |patterns: &[Text]| patterns.iter().map(|text| Pattern::normalised(text)).collect();
            let context =
                Context { with: normalised(&row.with), not: normalised(&row.not), denied: normalised(&row.denied) };
            Signature { row, patterns: normalised(&row.patterns), context }
        };
        let all: Vec<Signature> = catalog.diagnoses.iter().map(prepare).collect();
        let literals = LiteralIndex::new(all.iter().flat_map(|signature| &signature.patterns));
        let mut owners = Vec::new();
        for (at, signature) in all.iter().enumerate() {
            owners.extend((0..signature.patterns.len()).map(|pattern| (at, pattern)));
        }
        Signatures { all, literals, owners }
    }

    /// All messages that a text holds, in the catalog's order.
    pub fn find(&self, text: &Normalised<'_>) -> Vec<Match> {
        let hits = self.literals.search(&text.lower);
        let candidates = self.literals.candidates(&hits);
        let (mut matches, mut denied) = (Vec::new(), Vec::new());
        for of_one in candidates.chunk_by(|one, other| self.owners[*one].0 == self.owners[*other].0) {
            let signature = &self.all[self.owners[of_one[0]].0];
            let mut found = Match::of(signature.row);
            for &id in of_one {
                self.read(id, &hits, text, &mut found);
            }
            if found.patterns.is_empty() {
                continue;
            }
            if signature.context.is_denied(text) {
                denied.extend(found.places);
                continue;
            }
            signature.context.read(text, &mut found);
            if !read_conflict(text, &mut found) {
                continue;
            }
            let offered = |wanted: bool| is_offered(&found.extract).is_none_or(|is| is == wanted);
            let compared = |condition: &Text| majors_hold(condition, &found.extract);
            if signature.row.offered.is_none_or(offered) && signature.row.majors.as_ref().is_none_or(compared) {
                matches.push(found);
            }
        }
        // What is denied is so however it is read.
        let is_denied = |place: &Range<usize>| {
            denied.iter().any(|one: &Range<usize>| one.start < place.end && place.start < one.end)
        };
        matches.retain(|found: &Match| found.places.is_empty() || !found.places.iter().all(is_denied));
        matches
    }

    /// Adds what one pattern finds in a text.
    fn read(&self, id: usize, hits: &Hits, text: &Normalised<'_>, found: &mut Match) {
        let (signature, at) = self.owners[id];
        let Signature { row, patterns, context } = &self.all[signature];
        let Some(compiled) = patterns[at].compiled() else { return };
        let mut matches = 0;
        for place in surroundings(&self.literals.places(id, hits), patterns[at].reach, &text.lower) {
            let (part, mut from) = (text.text[place.clone()].as_bytes(), 0);
            while let Some(captures) = compiled.regex.captures_at(part, from).filter(|_| matches < MATCHES) {
                let whole = captures.get(0).expect("a match").range();
                (from, matches) = (whole.end, matches + 1);
                // Patterns read bytes, and may end within a character.
                let (start, end) = (place.start + whole.start, place.start + whole.end);
                let whole = text.text.floor_char_boundary(start)..text.text.ceil_char_boundary(end);
                // What is read so widely may not join two lines, nor be a warning; what begins later may stand in one.
                let is_loose = || text.joins_lines(whole.start, whole.end) || text.is_warning(&whole);
                if row.weight < LAST_RESORT && is_loose() {
                    (from, matches) = (start - place.start + 1, matches - 1);
                    continue;
                }
                let is_cut = captures.name("end").is_some_and(|end| !text.ends_word(place.start + end.start()));
                if is_cut || !context.fits(text, &whole) {
                    continue;
                }
                found.at = if found.patterns.is_empty() { whole.start } else { found.at.min(whole.start) };
                if found.patterns.last() != Some(&at) {
                    found.patterns.push(at);
                }
                found.places.push(whole);
                add_groups(compiled, &captures, place.start, text, &mut found.extract);
            }
        }
    }

    /// The lightest message that a number of a CUDA error stands for: the heavier ones want more than the number.
    pub fn of_number(&self, number: u32, text: &Normalised<'_>) -> Option<Match> {
        let rows = self.all.iter().filter(|signature| signature.row.errors.contains(&number));
        let Signature { row, context, .. } = rows.min_by_key(|signature| signature.row.weight)?;
        let forbidden = context.not.iter().any(|pattern| pattern.is_in(&text.text, &text.lower));
        (!forbidden && context.with.is_empty()).then(|| Match::of(row))
    }

    /// Whether some message stands for the number of a CUDA error.
    pub fn is_claimed(&self, number: u32) -> bool {
        self.all.iter().any(|signature| signature.row.errors.contains(&number))
    }

    /// Today's number of an error that is printed by name.
    pub fn number_of(&self, name: &str) -> Option<u32> {
        let names = |signature: &&Signature| signature.row.patterns.iter().any(|pattern| pattern.contains(name));
        self.all.iter().filter(names).find_map(|signature| signature.row.errors.first().copied())
    }
}

/// What must stand around a match, what must not stand right by it, and what must stand nowhere.
struct Context {
    with: Vec<Pattern>,
    not: Vec<Pattern>,
    denied: Vec<Pattern>,
}

impl Context {
    fn fits(&self, text: &Normalised<'_>, place: &Range<usize>) -> bool {
        let holds =
            |pattern: &Pattern, part: &Range<usize>| pattern.is_in(&text.text[part.clone()], &text.lower[part.clone()]);
        let around = widened(&text.text, place, BEFORE, AFTER);
        let near = widened(&text.text, place, NEAR, NEAR);
        self.with.iter().all(|pattern| holds(pattern, &around)) && !self.not.iter().any(|pattern| holds(pattern, &near))
    }

    /// Whether the text itself denies it.
    fn is_denied(&self, text: &Normalised<'_>) -> bool {
        self.denied.iter().any(|pattern| pattern.is_in(&text.text, &text.lower))
    }

    /// Adds what the words around a match hold.
    fn read(&self, text: &Normalised<'_>, found: &mut Match) {
        let around = widened(&text.text, &(found.at..found.at), BEFORE, AFTER);
        for compiled in self.with.iter().filter_map(Pattern::compiled) {
            if let Some(captures) = compiled.regex.captures(text.text[around.clone()].as_bytes()) {
                add_groups(compiled, &captures, around.start, text, &mut found.extract);
            }
        }
    }
}

/// Adds what packages disagree about, or which versions are told side by side, where a message is about that. A finding needs
/// it, but where torch is named.
fn read_conflict(text: &Normalised<'_>, found: &mut Match) -> bool {
    if side_by_side::is_about(&found.row.code) {
        return side_by_side::read(text).map(|read| found.extract.extend(read)).is_some();
    }
    let Some(about) = conflicts::about(&found.row.code) else { return true };
    match conflicts::read(text, about) {
        Some(read) => found.extract.extend(read),
        None => return about == About::Torch && !conflicts::is_of_user_alone(text),
    }
    true
}

/// Adds what the groups of a match hold, as it stood before the text was normalised.
fn add_groups(
    compiled: &Compiled,
    captures: &regex::bytes::Captures<'_>,
    start: usize,
    text: &Normalised<'_>,
    extract: &mut Extract,
) {
    for (name, range) in compiled.groups(captures) {
        value::add(extract, name, &text.words(start + range.start, start + range.end));
    }
}

/// The parts of a text in which a pattern can match: what is around its literals, as far as a match reaches.
fn surroundings(literals: &[Range<usize>], reach: usize, lower: &str) -> Vec<Range<usize>> {
    // One more, so that no match begins or ends where the part was cut.
    let (before, after) = ((reach + 1).min(BEFORE), (reach + 1).min(AFTER));
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut seen = 0;
    for literal in literals {
        let around = widened(lower, literal, before, after);
        let new = match parts.last_mut() {
            Some(last) if around.start <= last.end => {
                let new = around.end.saturating_sub(last.end);
                last.end = last.end.max(around.end);
                new
            }
            _ => {
                parts.push(around.clone());
                around.len()
            }
        };
        seen += new;
        if seen > READ {
            break;
        }
    }
    parts
}

/// A part of a text with what stands before and after it, cut between characters.
fn widened(text: &str, part: &Range<usize>, before: usize, after: usize) -> Range<usize> {
    let start = text.floor_char_boundary(part.start.saturating_sub(before));
    start..text.ceil_char_boundary(part.end + after)
}

/// Whether the release asked for is among those that pip lists, or follows one of its own line there: then the Python
/// that asks is not at fault. None if that is not known.
fn is_offered(extract: &Extract) -> Option<bool> {
    let (version, offered) = (value::text(extract, "version")?, value::text(extract, "versions_offered")?);
    let release = |text: &str| Version::parse(text.trim().split('+').next().unwrap_or_default()).ok();
    let version = release(version)?;
    let precedes = |one: Version| one <= version && one.prefix(2) == version.prefix(2);
    Some(offered.split(',').filter_map(release).any(precedes))
}

/// The parts of `one > other`, or of the same with `!=`.
pub fn comparison(condition: &str) -> Option<(&str, &str, &str)> {
    let mut words = condition.split(' ');
    let parts = (words.next()?, words.next()?, words.next()?);
    (words.next().is_none() && matches!(parts.1, ">" | "!=")).then_some(parts)
}

/// Whether a condition holds of the majors of two values; what is not known holds nothing. A driver counts by itself: a
/// CUDA release is greater if it needs a newer one.
fn majors_hold(condition: &str, extract: &Extract) -> bool {
    let version = |key: &str| Version::parse(value::text(extract, key)?).ok();
    let hold = || {
        let (one, relation, other) = comparison(condition)?;
        if other == "driver" {
            return placeholders::needs_newer_driver(&version(one)?, &version(other)?, at_hand());
        }
        let (one, other) = (version(one)?.major(), version(other)?.major());
        Some(if relation == ">" { one > other } else { one != other })
    };
    hold().unwrap_or(false)
}

#[cfg(test)]
mod tests;
