//! L3, the reading of error messages: which known message a text holds, what it says and what to change.
//!
//! The messages are rows of the catalog. A text is first freed of what surrounds it (see `text`), then every row's
//! patterns look at it; what they and the catalog's clues read out is decoded, and the sentences are filled in.

mod facts;
mod pattern;
mod text;
mod value;

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ops::Range;

use regex_lite::Regex;
use schemars::JsonSchema;
use serde::Serialize;

use crate::catalog::Catalog;
use crate::catalog::rows::{Component, Diagnosis};
use crate::spec::{Observed, ObservedGpu};
use crate::words::Version;

use text::Squeezed;
pub use value::{Extract, Value};

/// What became of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The most probable first; empty if nothing is known of it.
    pub findings: Vec<Finding>,
    /// What was read out of a text that no finding claims.
    pub extract: Extract,
}

/// Components whose faults another choice of versions cannot cure, whatever the host is.
const NO_CHOICE: &[&str] = &["hardware", "container-runtime", "other"];

impl Verdict {
    /// What the text tells of the host that it was printed on, as far as it bears on what can run there.
    pub fn observed(&self) -> Observed {
        let Some(first) = self.findings.first().filter(|first| !NO_CHOICE.contains(&first.component)) else {
            return Observed::default();
        };
        let told = |key: &str| value::text(&first.extract, key).map(str::to_string);
        // The same key holds the toolkit's release where it is the toolkit's fault.
        let driver_cuda = told("cuda_found").filter(|_| first.component == "driver");
        let python = told("python").filter(|_| first.component == "python");
        let names = told("gpu").map(|names| names.split(", ").map(str::to_string).collect::<Vec<String>>());
        let gpu = |name: Option<String>| ObservedGpu { name, compute_capability: told("cc") };
        let gpus = match names {
            Some(names) if names.len() > 1 => {
                names.into_iter().map(|name| ObservedGpu { name: Some(name), compute_capability: None }).collect()
            }
            Some(names) => names.into_iter().map(|name| gpu(Some(name))).collect(),
            None if told("cc").is_some() => vec![gpu(None)],
            None => Vec::new(),
        };
        Observed {
            driver_cuda: driver_cuda.filter(|_| told("driver").is_none()),
            driver: told("driver"),
            gpus,
            python: python.and_then(|text| Some(Version::parse(&text).ok()?.prefix(2).to_string())),
            ..Observed::default()
        }
    }
}

/// A known message, found in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// The row's name.
    pub code: String,
    /// The component's word.
    #[schemars(extend("enum" = Component::ALL.iter().map(|one| one.as_str()).collect::<Vec<_>>()))]
    pub component: &'static str,
    /// What it means.
    pub meaning: String,
    /// What was read out; the first finding holds everything.
    pub extract: Extract,
    /// What to change.
    pub remedies: Vec<String>,
}

/// Rows of less weight count only where nothing else was found.
const LAST_RESORT: u32 = 10;
/// Rows of less weight say that something failed, not what: the number of an error says more.
const VAGUE: u32 = 50;
/// How many matches of one pattern are read: lists end, logs do not.
const MATCHES: usize = 64;

struct Match<'c> {
    row: &'c Diagnosis,
    at: usize,
    extract: Extract,
}

/// Reads a text.
pub fn diagnose(raw: &str, catalog: &Catalog) -> Verdict {
    let plain = text::plain(raw);
    let squeezed = Squeezed::new(&plain);
    let clues = Clues::read(&plain, catalog);
    let mut matches: Vec<Match<'_>> = catalog.diagnoses.iter().filter_map(|row| find(row, &squeezed)).collect();
    if matches.iter().all(|found| found.row.weight < VAGUE) {
        matches.extend(clues.numbered(catalog, &squeezed));
    }
    if matches.iter().any(|found| found.row.weight >= LAST_RESORT) {
        matches.retain(|found| found.row.weight >= LAST_RESORT);
    }
    matches.sort_by_key(|found| (std::cmp::Reverse(found.row.weight), found.at));
    for found in &mut matches {
        clues.complete(found, catalog);
    }
    let others: Extract = matches.iter().rev().flat_map(|found| found.extract.clone()).collect();
    if let Some(first) = matches.first_mut() {
        for (key, value) in others {
            first.extract.entry(key).or_insert(value);
        }
    }
    for found in &mut matches {
        value::name_library(&mut found.extract);
    }
    // Two readings of one place: the heavier says it all.
    let mut places = BTreeSet::new();
    matches.retain(|found| places.insert(found.at));
    let extract = if matches.is_empty() { clues.extract() } else { Extract::new() };
    Verdict { findings: matches.into_iter().map(|found| tell(found, catalog)).collect(), extract }
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

fn find<'c>(row: &'c Diagnosis, text: &Squeezed<'_>) -> Option<Match<'c>> {
    let mut found: Option<Match<'c>> = None;
    let company = LazyCell::new(|| Company::of(row));
    for pattern in row.patterns.iter() {
        let pattern = pattern::squeeze(pattern);
        let places = pattern::places(&pattern, text);
        let Some(regex) = (!places.is_empty()).then(|| pattern::compile(&pattern)).flatten() else { continue };
        let mut matches = 0;
        for place in places {
            for captures in regex.captures_iter(&text.text[place.clone()]).take(MATCHES - matches) {
                matches += 1;
                let whole = captures.get(0).expect("a match");
                let at = place.start + whole.start();
                let end = place.start + whole.end();
                // What is read so widely may not join two lines.
                let joins = row.weight < LAST_RESORT && text.joins_lines(at, end);
                if joins || !company.fits(text, at..end) {
                    continue;
                }
                let one = found.get_or_insert_with(|| Match { row, at, extract: Extract::new() });
                one.at = one.at.min(at);
                for (name, range) in pattern::groups(&regex, &captures) {
                    let original = text.original(place.start + range.start, place.start + range.end);
                    value::add(&mut one.extract, name, original);
                }
            }
        }
    }
    // What must stand nearby can hold values, too.
    if let Some(found) = &mut found {
        let around = pattern::around(&text.text, found.at, found.at);
        for pattern in row.with.iter().map(|pattern| pattern::squeeze(pattern)) {
            let Some(regex) = pattern::compile(&pattern) else { continue };
            let Some(captures) = regex.captures(&text.text[around.clone()]) else { continue };
            for (name, range) in pattern::groups(&regex, &captures) {
                let original = text.original(around.start + range.start, around.start + range.end);
                value::add(&mut found.extract, name, original);
            }
        }
    }
    found.filter(|found| row.offered.is_none_or(|wanted| is_offered(&found.extract).is_none_or(|is| is == wanted)))
}

/// What must stand around a match of a row, and what must not stand right by it: each pattern with its word.
struct Company {
    with: Vec<(String, Option<Regex>)>,
    not: Vec<(String, Option<Regex>)>,
}

impl Company {
    fn of(row: &Diagnosis) -> Company {
        let ready = |pattern: &crate::catalog::rows::Text| {
            let pattern = pattern::squeeze(pattern);
            (pattern::needle(&pattern), pattern::compile(&pattern))
        };
        Company { with: row.with.iter().map(ready).collect(), not: row.not.iter().map(ready).collect() }
    }

    fn fits(&self, text: &Squeezed<'_>, place: Range<usize>) -> bool {
        let holds = |(needle, regex): &(String, Option<Regex>), part: &Range<usize>| {
            text.lower[part.clone()].contains(needle.as_str())
                && regex.as_ref().is_some_and(|regex| regex.is_match(&text.text[part.clone()]))
        };
        let around = pattern::around(&text.text, place.start, place.end);
        let near = pattern::near(&text.text, place.start, place.end);
        self.with.iter().all(|pattern| holds(pattern, &around)) && !self.not.iter().any(|pattern| holds(pattern, &near))
    }
}

/// What lines tell in passing.
#[derive(Debug, Default)]
struct Clues {
    extract: Extract,
    /// Every number that the text calls an error of CUDA.
    numbers: Vec<u32>,
    /// Numbers of errors that may be somebody else's: they claim nothing.
    loose: Vec<u32>,
}

impl Clues {
    fn read(plain: &str, catalog: &Catalog) -> Clues {
        let mut clues = Clues::default();
        let lower = plain.to_ascii_lowercase();
        for pattern in catalog.clues.iter().flat_map(|row| row.patterns.iter()) {
            let needle = pattern::needle(pattern);
            let lines = pattern::lines(&lower, &needle, MATCHES);
            let Some(regex) = (!lines.is_empty()).then(|| pattern::compile(pattern)).flatten() else { continue };
            for captures in lines.into_iter().filter_map(|line| regex.captures(&plain[line])) {
                for (name, _) in pattern::groups(&regex, &captures) {
                    let Some(original) = captures.name(name).map(|group| group.as_str()) else { continue };
                    match name {
                        "cuda_error" => clues.numbers.extend(failure(original)),
                        "cuda_error__loose" => clues.loose.extend(failure(original)),
                        _ => value::add(&mut clues.extract, name, original),
                    }
                }
            }
        }
        clues
    }

    /// A finding from the number alone, where the text says that it is CUDA's.
    fn numbered<'c>(&self, catalog: &'c Catalog, text: &Squeezed<'_>) -> Option<Match<'c>> {
        let rows = || catalog.diagnoses.iter();
        let row = self.numbers.iter().find_map(|number| {
            // The heavier rows of a number want more than the number.
            let row = rows().filter(|row| row.errors.contains(number)).min_by_key(|row| row.weight)?;
            let forbidden = row.not.iter().any(|pattern| {
                pattern::compile(&pattern::squeeze(pattern)).is_some_and(|regex| regex.is_match(&text.text))
            });
            (!forbidden && row.with.is_empty()).then_some(row)
        })?;
        Some(Match { row, at: 0, extract: Extract::new() })
    }

    /// Adds what the row implies and what the text tells besides.
    fn complete(&self, found: &mut Match<'_>, catalog: &Catalog) {
        for implied in found.row.gives.iter() {
            if let Some((key, value)) = implied.split_once('=') {
                value::add(&mut found.extract, key, value);
            }
        }
        let mut printed = self.numbers.iter().chain(&self.loose);
        let own = printed.find(|number| found.row.errors.contains(number));
        let named = value::text(&self.extract, "cuda_error_name").and_then(|name| number_of(name, catalog));
        let number = own.or(self.numbers.first()).or(found.row.errors.first()).copied().or(named);
        if let Some(number) = number {
            found.extract.entry("cuda_error".into()).or_insert(Value::Number(number.into()));
        }
        for (key, value) in &self.extract {
            found.extract.entry(key.clone()).or_insert_with(|| value.clone());
        }
        value::complete(&mut found.extract);
    }

    fn extract(&self) -> Extract {
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

/// Today's number of an error that is printed by name.
fn number_of(name: &str, catalog: &Catalog) -> Option<u32> {
    let names = |row: &&Diagnosis| row.patterns.iter().any(|pattern| pattern.contains(name));
    catalog.diagnoses.iter().filter(names).find_map(|row| row.errors.first().copied())
}

fn tell(found: Match<'_>, catalog: &Catalog) -> Finding {
    let filling = facts::filling(&found.extract, catalog);
    let filled = |templates: &[crate::catalog::rows::Text]| -> Vec<String> {
        templates.iter().filter_map(|template| facts::fill(template, &filling)).collect()
    };
    Finding {
        code: found.row.code.to_string(),
        component: found.row.component.as_str(),
        meaning: filled(&found.row.meaning).join(" "),
        remedies: filled(&found.row.remedies),
        extract: found.extract,
    }
}

/// What is wrong with the patterns and sentences of a catalog, a line each.
pub fn lint(catalog: &Catalog) -> Vec<String> {
    let mut wrong = Vec::new();
    for row in catalog.diagnoses.iter() {
        for pattern in row.patterns.iter().chain(row.with.iter()).chain(row.not.iter()) {
            lint_pattern(&row.code, &pattern::squeeze(pattern), &mut wrong);
        }
        for pattern in row.patterns.iter().filter(|pattern| pattern::needle(&pattern::squeeze(pattern)).len() < 4) {
            wrong.push(format!("{}: `{pattern}` holds no word of four letters that every match has", row.code));
        }
        if row.code.bytes().any(|byte| !byte.is_ascii_lowercase() && !byte.is_ascii_digit() && byte != b'-') {
            wrong.push(format!("{}: a code is written in small letters, digits and hyphens", row.code));
        }
        for given in
            row.gives.iter().filter(|given| !given.split_once('=').is_some_and(|(key, _)| value::is_known(key)))
        {
            wrong.push(format!("{}: `{given}` is not of the form key=value", row.code));
        }
        for (name, sentences) in [("meaning", &row.meaning), ("remedies", &row.remedies)] {
            if sentences.iter().all(|sentence| sentence.contains('{')) {
                wrong.push(format!("{}: `{name}` has no sentence that needs no placeholder", row.code));
            }
            for unknown in sentences.iter().flat_map(|sentence| facts::placeholders(sentence)) {
                if !value::is_known(unknown) && !facts::DERIVED.contains(&unknown) {
                    wrong.push(format!("{}: nothing fills `{{{unknown}}}`", row.code));
                }
            }
        }
    }
    for row in catalog.clues.iter() {
        row.patterns.iter().for_each(|pattern| lint_pattern(&row.id, pattern, &mut wrong));
    }
    wrong
}

fn lint_pattern(row: &str, pattern: &str, wrong: &mut Vec<String>) {
    match pattern::compile(pattern) {
        None => wrong.push(format!("{row}: `{pattern}` does not compile")),
        Some(regex) => {
            for group in regex.capture_names().flatten().filter(|group| !value::is_known(group)) {
                wrong.push(format!("{row}: `{group}` is no key that is read out"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::BUILTIN;

    #[test]
    fn the_builtin_messages_are_in_order() {
        assert_eq!(lint(&BUILTIN), Vec::<String>::new());
    }
}
