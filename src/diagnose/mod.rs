//! L3, the reading of error messages: which known message a text holds, what it says and what to change.
//!
//! The messages are rows of the catalog. A text is first freed of what surrounds it (see `text`), then the patterns of
//! all rows, prepared once, look at it (see `signatures`); what they and the catalog's log fields read out is decoded,
//! and the sentences are filled in.

mod advice;
mod asides;
mod conflicts;
mod decode;
mod fields;
pub mod lint;
mod literals;
mod nearest_build;
mod notices;
mod pattern;
mod placeholders;
mod programs;
mod published;
mod records;
mod side_by_side;
mod signatures;
mod system;
mod template;
mod text;
mod value;

use std::ops::Range;

use serde::Serialize;

use crate::catalog::rows::{Component, ErrorSignature, Text};
use crate::catalog::{Catalog, at_hand};
use crate::host::signs::PASTE;
use crate::host::{self, Probe, ProbeStatus, ReadError, Record};
use crate::spec::{Observed, ObservedGpu};
use crate::types::{Version, map_of, sort_by_key};

pub use asides::Aside;
use fields::LogFields;
use signatures::{LAST_RESORT, Match, SIGNATURES};
use text::Normalised;
pub use value::{Extract, Value, in_words};

/// What became of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The most probable first; empty if nothing is known of it.
    pub findings: Vec<Finding>,
    /// What was read out of a text that no finding claims.
    pub extract: Extract,
    /// What a text that no finding claims tells: known, and no matter of versions.
    #[serde(skip)]
    pub aside: Option<&'static Aside>,
    /// Where that is a notice with nothing behind it: what it means, and what to change if it is in the way.
    #[serde(skip)]
    pub notice: Option<Finding>,
}

/// What is only asked for where something is compiled.
pub const TOOLS: &[&str] = &["toolkit", "gcc"];

/// Components whose faults another choice of versions cannot cure, whatever the host is.
const NO_CHOICE: &[&str] = &["hardware", "container-runtime", "other"];

impl Verdict {
    /// What the text tells of the host that it was printed on, as far as it bears on what can run there.
    pub fn observed(&self) -> Observed {
        let Some(first) = self.findings.first().filter(|first| !NO_CHOICE.contains(&first.component)) else {
            return Observed::default();
        };
        let told = |key: &str| value::text(&first.extract, key).map(str::to_string);
        // Windows numbers drivers by themselves; the CUDA version that one offers means the same everywhere.
        let driver = told("driver").filter(|_| !system::has_windows_driver(&first.extract));
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
            driver_cuda: driver_cuda.filter(|_| driver.is_none()),
            driver,
            gpus,
            python: python.and_then(|text| Some(Version::parse(&text).ok()?.prefix(2).to_string())),
            ..Observed::default()
        }
    }
}

/// A known message, found in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// The row's name.
    pub code: String,
    /// The component's word.
    #[cfg_attr(test, schemars(extend("enum" = Component::ALL.iter().map(|one| one.as_str()).collect::<Vec<_>>())))]
    pub component: &'static str,
    /// What it means.
    pub meaning: String,
    /// What was read out; the first finding holds everything.
    pub extract: Extract,
    /// What to change.
    pub remedies: Vec<String>,
    /// Whether the text itself holds the number of the error that was read out: else the message stands for it.
    #[serde(skip)]
    pub has_number: bool,
    /// Whether it keeps no stack from running on the host: a notice, or a fault of the program that ran.
    #[serde(skip)]
    pub is_harmless: bool,
    /// The packages whose message it is: of what belongs to none of them, none.
    #[serde(skip)]
    pub programs: Vec<String>,
}

/// What fails in the same way on a machine with another maker's GPU.
const OF_ANY_GPU: &[Component] = &[Component::Python, Component::Glibc, Component::Gcc, Component::Image];

/// Rows of less weight say that something failed, not what: the number of an error says more.
const VAGUE: u32 = 50;

/// Reads a text.
pub fn diagnose(raw: &str, catalog: &Catalog) -> Verdict {
    let plain = text::plain(raw);
    let normalised = Normalised::new(&plain);
    let fields = LogFields::read(&plain);
    let mut matches = SIGNATURES.find(&normalised);
    let cause = asides::drop_consequences(&mut matches, &normalised.lower);
    if matches.iter().all(|found| found.row.weight < VAGUE) {
        let numbered = fields.numbered(&normalised);
        matches.extend(numbered.filter(|new| matches.iter().all(|found| found.row.code != new.row.code)));
    }
    let is_of_macos = system::is_of_macos(&plain);
    let other = (!is_of_macos && system::is_of_another_maker(&plain)).then_some(&Aside::OTHER_MAKER);
    if other.is_some() {
        matches.retain(|found| OF_ANY_GPU.contains(&found.row.component));
    }
    let notices::SetAside { aside: noticed, alone } = notices::set_aside(&mut matches, &normalised);
    tell_of_macos(&mut matches, is_of_macos);
    if matches.iter().any(|found| found.row.weight >= LAST_RESORT && !found.in_passing) {
        matches.retain(|found| found.row.weight >= LAST_RESORT);
    }
    drop_vague(&mut matches);
    drop_wordless(&mut matches);
    sort_by_key(&mut matches, |found| (found.in_passing, std::cmp::Reverse(found.row.weight), found.at));
    for found in &mut matches {
        found.programs = programs::named(found, &normalised);
        fields.complete(found);
    }
    drop_yielding(&mut matches);
    let others: Extract = map_of(matches.iter().rev().flat_map(|found| found.extract.clone()));
    if let Some(first) = matches.first_mut() {
        for (key, value) in others {
            first.extract.entry(key).or_insert(value);
        }
    }
    for found in &mut matches {
        value::name_library(&mut found.extract);
    }
    drop_second_readings(&mut matches);
    if let Some(told) = system::told(&plain) {
        for found in &mut matches {
            let name = || Value::Text(told.to_string());
            found.extract.entry("platform".into()).or_insert_with(name);
        }
    }
    let extract = if matches.is_empty() { fields.extract() } else { Extract::new() };
    let versions = || side_by_side::is_all(&normalised).then_some(&Aside::VERSIONS);
    let aside = || other.or(cause).or_else(|| Aside::told(&normalised.lower)).or(noticed).or_else(versions);
    let aside = matches.is_empty().then(aside).flatten();
    let alone = alone.into_iter().filter(|_| aside == Some(&Aside::NOTICE)).max_by_key(|found| found.row.weight);
    let notice = alone.map(|mut found| {
        fields.complete(&mut found);
        value::name_library(&mut found.extract);
        tell(found, catalog)
    });
    let mut findings: Vec<Finding> = matches.into_iter().map(|found| tell(found, catalog)).collect();
    for finding in &mut findings {
        let number = finding.extract.get("cuda_error").map(ToString::to_string);
        let mut runs = plain.split(|c: char| !c.is_ascii_digit());
        finding.has_number = number.is_none_or(|number| runs.any(|run| run == number));
    }
    Verdict { findings, extract, aside, notice }
}

/// The host of a text, with the error that somebody's own text tells beside: whatever else it says, CUDA may not work there.
pub fn host_of(text: &str) -> Result<Record, ReadError> {
    let mut record = host::read_any(text)?;
    // What a table tells of its GPUs is read and judged with them.
    let is_framed =
        |line: &&str| line.trim_start_matches(['>', ' ']).starts_with('|') && line.trim_end().ends_with('|');
    let words: Vec<&str> = text.lines().filter(|line| !is_framed(line)).collect();
    let is_record = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
    if is_record {
        return Ok(record);
    }
    let findings = diagnose(&words.join("\n"), at_hand()).findings;
    // What only compiles is nothing to a lock that compiles nothing, and what is a program's to one without that: of each kind
    // stands the first.
    let kind = |one: &Finding| (TOOLS.contains(&one.component), one.programs.clone());
    let mut told: Vec<&Finding> = Vec::new();
    for one in findings.iter().filter(|one| !one.is_harmless) {
        if !told.iter().any(|other| kind(other) == kind(one)) {
            told.push(one);
        }
    }
    if told.is_empty() {
        told.extend(findings.first());
    }
    for one in told {
        let of = one.programs.join(", ");
        let of = if of.is_empty() { of } else { format!(" ({of})") };
        let detail = Some(format!("{}{of}: {}", one.code, one.meaning));
        let ended = if one.is_harmless { ProbeStatus::Done } else { ProbeStatus::Failed };
        record.probes.push(Probe { name: PASTE.into(), ended, detail, millis: None });
    }
    Ok(record)
}

/// What is said where there is no CUDA.
const ON_MACOS: &str = "torch-on-macos";

/// On macOS there is no CUDA, whichever sentence says so; and elsewhere nothing is told of it.
fn tell_of_macos(matches: &mut Vec<Match>, is_of_macos: bool) {
    let Some(row) = at_hand().diagnoses.iter().find(|row| row.code == ON_MACOS) else { return };
    for found in matches.iter_mut().filter(|found| is_of_macos && found.row.no_cuda) {
        (found.row, found.patterns) = (row, Vec::new());
    }
    let mut is_told = !is_of_macos;
    matches.retain(|found| found.row.code != ON_MACOS || !std::mem::replace(&mut is_told, true));
}

/// That CUDA did not start says nothing more where another row says why.
fn drop_vague(matches: &mut Vec<Match>) {
    let is_driver = |found: &Match| found.row.component == Component::Driver;
    let says_why = |found: &Match| {
        !found.in_passing && found.row.weight >= VAGUE && (is_driver(found) || !found.row.errors.is_empty())
    };
    if matches.iter().any(says_why) {
        matches.retain(|found| found.row.weight >= VAGUE || !is_driver(found));
    }
}

/// A row that says only that something failed says nothing more beside one that says why; what it read is that one's.
fn drop_yielding(matches: &mut Vec<Match>) {
    let yields =
        |one: &Match, to: &Match| !to.in_passing && to.row.weight > one.row.weight && one.row.yields_to(&to.row.code);
    let dropped = |found: &Match| matches.iter().any(|other| yields(found, other));
    let dropped: Vec<bool> = matches.iter().map(dropped).collect();
    let (gone, mut kept): (Vec<_>, Vec<_>) = std::mem::take(matches).into_iter().zip(dropped).partition(|one| one.1);
    for (found, _) in gone {
        if let Some((heavier, _)) = kept.iter_mut().find(|(other, _)| yields(&found, other)) {
            for (key, value) in found.extract {
                heavier.extract.entry(key).or_insert(value);
            }
        }
    }
    matches.extend(kept.into_iter().map(|(found, _)| found));
}

/// Two releases that a message names because they clash.
const CLASHES: &[(&str, &str)] =
    &[("driver", "nvml_library"), ("cuda_found", "cuda_needed"), ("driver", "driver_needed")];

/// Where two releases that clash were read, the same part's finding that read nothing at all contradicts them: it says only
/// that the part does not answer, and guesses why.
fn drop_wordless(matches: &mut Vec<Match>) {
    let clash = |found: &Match| {
        CLASHES.iter().any(|(one, other)| found.extract.contains_key(*one) && found.extract.contains_key(*other))
    };
    let parts: Vec<Component> = matches.iter().filter(|found| clash(found)).map(|found| found.row.component).collect();
    let is_wordless =
        |found: &Match| found.extract.is_empty() && found.row.gives.is_empty() && !found.places.is_empty();
    matches.retain(|found| !is_wordless(found) || !parts.contains(&found.row.component));
}

/// Of two readings of the same words the heavier says it all; they are sorted by weight.
fn drop_second_readings(matches: &mut Vec<Match>) {
    let mut read: Vec<Range<usize>> = Vec::new();
    matches.retain(|found| {
        let is_read = |place: &Range<usize>| read.iter().any(|one| one.start < place.end && place.start < one.end);
        let says_more = found.places.is_empty() || !found.places.iter().all(is_read);
        read.extend(found.places.iter().cloned());
        says_more
    });
}

/// The code and the pattern of everything that matches in a text, whatever becomes of it.
pub fn matched_patterns(raw: &str) -> Vec<(&'static str, &'static str)> {
    let plain = text::plain(raw);
    let matches = SIGNATURES.find(&Normalised::new(&plain));
    let patterns = |found: &Match| {
        let row = found.row;
        found.patterns.iter().map(|&at| (&*row.code, &*row.patterns[at])).collect::<Vec<_>>()
    };
    matches.iter().flat_map(patterns).collect()
}

/// What a message means and what to change, by its code, where no text tells more.
pub fn of_code(code: &str) -> Option<Finding> {
    let catalog = at_hand();
    let row = catalog.diagnoses.iter().find(|row| row.code == code)?;
    Some(tell(Match::of(row), catalog))
}

fn tell(found: Match, catalog: &Catalog) -> Finding {
    let filled = |templates: &[Text]| filled(templates, &found.extract, &[], catalog);
    let remedies = |templates: &[Text]| remedies(templates, &found.extract, &[], catalog);
    // Nothing of what an installer lists tells that a release never was.
    if let Some(never) = found.row.offered.and_then(|_| published::never(&found.extract, catalog)) {
        return Finding {
            code: "no-such-release".to_string(),
            component: Component::Torch.as_str(),
            meaning: never.meaning,
            remedies: never.remedies,
            extract: found.extract,
            has_number: true,
            is_harmless: false,
            programs: found.programs,
        };
    }
    Finding {
        code: found.row.code.to_string(),
        component: found.row.component.as_str(),
        meaning: filled(&found.row.meaning).join(" ") + under_wsl(found.row, &found.extract),
        remedies: remedies(&found.row.remedies),
        is_harmless: found.row.harmless || is_the_same(&found, catalog),
        extract: found.extract,
        has_number: true,
        programs: found.programs,
    }
}

/// Whether a warning about a GPU changes nothing, for torch runs there all the same: that answers the row that says so, and
/// no other one of the text.
fn is_the_same(found: &Match, catalog: &Catalog) -> bool {
    const SAME: &str = "{torch_all_the_same}";
    let says = found.row.meaning.iter().any(|one| one.starts_with(SAME));
    says && template::fill(SAME, &placeholders::filling([SAME].into_iter(), &found.extract, &[], catalog)).is_some()
}

/// What is added to what is told of a driver under WSL2, if that does not speak of it.
fn under_wsl(row: &ErrorSignature, extract: &Extract) -> &'static str {
    let is_told = row.meaning.iter().any(|one| one.contains("WSL"));
    let is_added = row.component == Component::Driver && system::is_of_wsl(extract) && !is_told;
    if is_added { system::DRIVER_UNDER_WSL } else { "" }
}

/// What can be said of sentences of the catalog.
fn filled(templates: &[Text], extract: &Extract, boards: &[String], catalog: &Catalog) -> Vec<String> {
    let filling = placeholders::filling(templates.iter().map(|template| &**template), extract, boards, catalog);
    let filled = templates.iter().filter_map(|template| template::fill(template, &filling));
    if system::is_of_wsl(extract) { filled.map(|one| system::under_wsl(&one)).collect() } else { filled.collect() }
}

/// What can be advised: of what only Linux has nothing to those on Windows.
fn remedies(templates: &[Text], extract: &Extract, boards: &[String], catalog: &Catalog) -> Vec<String> {
    let all = filled(templates, extract, boards, catalog);
    let mut own: Vec<String> = all.iter().filter(|one| !system::is_of_another(one, extract)).cloned().collect();
    if own.len() < all.len() && system::is_of_wsl(extract) && !own.iter().any(|one| one.contains("Windows")) {
        own.push(system::INSTEAD_UNDER_WSL.to_string());
    }
    if own.is_empty() { all } else { own }
}

impl Finding {
    /// What to change on a machine with these GPUs.
    pub fn remedies_on(&self, boards: &[String], catalog: &Catalog) -> Vec<String> {
        match catalog.diagnoses.iter().find(|row| row.code == self.code) {
            Some(row) => remedies(&row.remedies, &self.extract, boards, catalog),
            None => self.remedies.clone(),
        }
    }
}
