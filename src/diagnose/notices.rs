//! Lines behind which a program goes on: it warns or informs, says what it lacks, and takes something else, looks elsewhere
//! or does without. Where something else fails, that is the fault, and such a line is none, unless the fault comes of it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use crate::catalog::rows::{Component, ErrorSignature};

use super::VAGUE;
use super::asides::Aside;
use super::pattern::Pattern;
use super::signatures::Match;
use super::text::{LEVEL, Normalised};

/// What goes on another way, whichever message it is; rows name their own such lines.
static FALLBACK: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"fall(?:s|ing)? ?back (?:to|on) (?:[^n]|n[^o])|switching to |using [a-z]+ backend|cannot use fa version|recommended to upgrade|(?:\.|\bis) disabling |will not be used|answer: continue",
    )
});

/// What says itself that it is no fault.
static NORMAL: LazyLock<Regex> = LazyLock::new(|| ascii(r"\(ignored\)|\(normal if "));

/// What is below an error: warnings of Python's and of loggers, but for NCCL, whose errors are called so; and TensorFlow's own
/// errors of CUDA's start, after which it computes without.
static WARNS: LazyLock<Regex> = LazyLock::new(|| {
    ascii(&format!(
        r"(?-i:[A-Za-z]Warning: |(?:^|[^A-Za-z ]|[^L] )WARN(?:ING)?\b)|(?-i:(?:^(?:{LEVEL})?|: )W [a-z_]+/)|{LEVEL}|failed call to cuini|nvidia-persistenced\["
    ))
});

/// What only informs.
static INFORMS: LazyLock<Regex> = LazyLock::new(|| {
    ascii(&format!(r"(?-i:(?:^|[^L] |[^A-Za-z ])INFO\b)|(?-i:(?:^(?:{LEVEL})*|: )I [a-z_]+/)|{LEVEL}{LEVEL}"))
});

/// Where an error begins in the same line, it is told no longer.
static ERROR: LazyLock<Regex> =
    LazyLock::new(|| ascii(r"(?-i:\b[A-Z]\w*(?:Error|Exception): |\b(?:ERROR|FATAL)\b:? [^(])"));

/// What says nothing of a fault wherever it stands: torch warns of a plan that cuDNN does not have, and takes another; CMake
/// goes on behind what is only for the developers of a project.
static HARMLESS: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"plan failed with a cudnnexception|cudnn_status_not_supported ?\(triggered internally|this warning is for project developers",
    )
});

/// The same of a line that it stands in: the kernel's module asks for an instance of MIG, and JAX for every backend that it knows.
static TRIED: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"nvcheckok\w*: check failed: requested object not found|unable to initialize backend '(?:rocm|tpu|metal|neuron)'",
    )
});

/// A fault, where a line tells one.
static FAULT: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"^.{0,160}?(?:(?-i:\b[A-Z]\w*(?:Error|Exception)\b: ?\S)|terminate called after|(?-i:\b(?:error|ERROR): )|cmake error|configuring incomplete|build stopped|: \*\*\* ).*$",
    )
});

/// A fault that names no cause: that a build failed, a file without its name, a variable that nothing has filled.
static CAUSELESS: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"error: (?:metadata-generation-failed|subprocess-exited-with-error|failed (?:to build|building)|could not build wheels|command errored out|\[winerror 2\]|name \S+ is not defined|list index out of range|.*nonetype)",
    )
});

/// What tells that an extension of Python is built.
static BUILDS: LazyLock<Regex> = LazyLock::new(|| ascii(r"setup\.py|cpp_extension|setuptools|building wheel"));

/// What may fail for want of that which the notice tells of, where its row names nothing.
const OF_GPU: &str = r"cuda|gpu|nvidia|cudnn|cublas|nccl|device|driver|ptx|triton|kernel|attention|memory";

/// What fails because no GPU is in reach: as a rule that is what a warning was about.
const NO_GPU: &str = r"\bno (?:[a-z-]+ ){0,2}(?:gpu|device|driver)s?\b|is_available|not compiled with|device ?>= ?0|(?:cuda|gpu) (?:is )?not available|not able to use|not find a gpu";

/// Memory ran out, so the GPU was there.
static MEMORY: LazyLock<Regex> = LazyLock::new(|| ascii(r"out.?of.?memory|alloc_failed|resource_?exhausted"));

/// What a program does that went on, or a GPU at work.
static WENT_ON: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"^\s*successfully |\b(?:done|finished|completed|saved|saving)\b|100%|built target|runtime path found|cl\.exe\W{0,2} /c|compiling objects|cuda:\d\W{0,2}(?:nvidia|geforce|tesla|quadro|rtx|gtx)|cuda driver version(?: / runtime version)?:? ?\d|xid \(pci:",
    )
});
/// So many different lines without a fault say the same.
const LINES: usize = 30;
/// Longer lines are several.
const LONG: usize = 600;
/// Rows of less weight tell only that something failed: none of their findings is another fault.
const TELLING: u32 = 8;

fn ascii(pattern: &str) -> Regex {
    let mut pattern = RegexBuilder::new(pattern);
    pattern.unicode(false).case_insensitive(true).multi_line(true).build().expect("a constant")
}

/// What became of notices.
#[derive(Default)]
pub struct SetAside {
    /// Whether any was dropped.
    pub aside: Option<&'static Aside>,
    /// What only says what it does without, with nothing behind it: no fault, but what is asked about.
    pub alone: Vec<Match>,
}

/// Drops what is told in passing where another fault is told or the program went on, and says what that is; beside another
/// finding it stays, as the lesser.
pub fn set_aside(matches: &mut Vec<Match>, text: &Normalised<'_>) -> SetAside {
    let mut set_aside = SetAside::default();
    let all = matches.len();
    matches.retain(|found| found.places.is_empty() || !all_lines(found, text, &HARMLESS) && !is_tried(found, text));
    let is_harmless = matches.len() < all;
    for found in matches.iter_mut() {
        found.in_passing = !found.places.is_empty()
            && (is_in_passing(found, text) || only_informs(found, text) || all_marked(found, text, &WARNS));
    }
    // A lesser reading of such a line says nothing more.
    let passing = matches.iter().filter(|found| found.in_passing && !found.row.goes_on.is_empty());
    let said: Vec<(Range<usize>, u32)> =
        passing.flat_map(|found| lines(found, text).map(|line| (line, found.row.weight))).collect();
    let is_said = |line: &Range<usize>, weight: u32| {
        said.iter().any(|(own, heavier)| weight < *heavier && own.start <= line.start && line.end <= own.end)
    };
    matches.retain(|found| {
        let is_own = found.in_passing && !found.row.goes_on.is_empty();
        is_own || found.places.is_empty() || !lines(found, text).all(|line| is_said(&line, found.row.weight))
    });
    let before = matches.len();
    let told = || matches.iter().filter(|found| !found.in_passing && found.row.weight >= TELLING);
    let others = told().flat_map(|found| lines(found, text)).map(|line| (line.clone(), is_said(&line, 0))).collect();
    let others = Others { rows: told().map(|found| found.row).collect(), lines: others };
    for mut found in std::mem::take(matches) {
        match if found.in_passing { judged(&mut found, &others, text) } else { Fate::Told } {
            Fate::Told => matches.push(found),
            Fate::Alone => set_aside.alone.push(found),
            Fate::Nothing => {}
        }
    }
    set_aside.aside = (is_harmless || matches.len() < before).then_some(&Aside::NOTICE);
    set_aside
}

/// What a text tells beside what is told in passing.
struct Others {
    rows: Vec<&'static ErrorSignature>,
    /// The lines of these, and of each whether a notice says it as well.
    lines: Vec<(Range<usize>, bool)>,
}

/// What becomes of what is told in passing.
enum Fate {
    /// It is a finding, the lesser one where it still is in passing.
    Told,
    /// It is no fault, and nothing else is told.
    Alone,
    /// Something else is the fault.
    Nothing,
}

fn judged(found: &mut Match, others: &Others, text: &Normalised<'_>) -> Fate {
    let row = found.row;
    let end = found.places.iter().map(|place| place.end).max().unwrap_or_default();
    let rest = text.rest(end);
    let faults = FAULT.find_iter(&text.plain.as_bytes()[rest..]);
    let faults: Vec<_> = faults.map(|fault| rest + fault.start()..rest + fault.end()).collect();
    let is_claimed = |at: usize| others.lines.iter().any(|(line, _)| line.contains(&at));
    let unclaimed = faults.iter().filter(|fault| !is_claimed(fault.start));
    let brings = Brings::of(found);
    let unsaid = others.lines.iter().filter(|(_, is_said)| brings.are_told && !is_said).map(|(line, _)| line);
    let is_cause = |line: &str| brings.hold(line) && !MEMORY.is_match(line.as_bytes());
    // What says only that a part failed is explained by a warning about the same part.
    let is_vague = |other: &ErrorSignature| other.weight < VAGUE && other.component == row.component;
    let explains = others.rows.iter().any(|other| other.yields_to(&row.code) || is_vague(other));
    found.in_passing = !(explains && !only_informs(found, text)
        || unclaimed.chain(unsaid).any(|line| is_cause(&text.plain[line.clone()])));
    if !found.in_passing || !others.rows.is_empty() {
        return Fate::Told;
    }
    found.in_passing = false;
    let after = &text.plain[rest..];
    // What a build lacked is why it failed, where it names no other reason.
    let is_tool =
        matches!(row.component, Component::Toolkit | Component::Gcc) && BUILDS.is_match(text.plain.as_bytes());
    let names_cause = |fault: &Range<usize>| !is_tool || !CAUSELESS.is_match(text.plain[fault.clone()].as_bytes());
    if faults.iter().any(names_cause) || tells_fault(after) || !row.goes_on.is_empty() && went_on(after) {
        return Fate::Nothing;
    }
    // That it took another way is what is asked about, unless it says that this is no fault, or too little is known of it.
    let is_no_fault = all_lines(found, text, &NORMAL) || row.weight < TELLING && all_lines(found, text, &FALLBACK);
    if is_no_fault { Fate::Alone } else { Fate::Told }
}

/// Whether the rest of a text tells of a fault that is no finding.
fn tells_fault(rest: &str) -> bool {
    Aside::all_told(&Normalised::new(rest).lower).any(|aside| !aside.means.starts_with("a notice"))
}

/// Whether something stands there that a program does which went on.
fn went_on(rest: &str) -> bool {
    WENT_ON.is_match(rest.as_bytes()) || rest.lines().collect::<BTreeSet<_>>().len() > LINES
}

/// What a fault says that can come of what was told in passing.
struct Brings {
    patterns: Vec<Pattern>,
    /// Whether that can have a finding of its own.
    are_told: bool,
}

impl Brings {
    fn of(found: &Match) -> Brings {
        let row = found.row;
        let named = row.brings.iter().map(|pattern| Pattern::new(pattern.to_string()));
        let patterns = match (row.brings.is_empty(), row.goes_on.is_empty()) {
            (false, _) => named.collect(),
            (true, false) => vec![Pattern::new(OF_GPU)],
            (true, true) => vec![Pattern::new(NO_GPU)],
        };
        let is_of_gpu = !matches!(row.component, Component::Glibc | Component::Gcc | Component::Python);
        Brings { patterns, are_told: !row.brings.is_empty() || row.goes_on.is_empty() && is_of_gpu }
    }

    fn hold(&self, line: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.is_in(line, &line.to_ascii_lowercase()))
    }
}

/// Whether its row says of all that was read that a program goes on behind it.
fn is_in_passing(found: &Match, text: &Normalised<'_>) -> bool {
    let patterns: Vec<Pattern> = found.row.goes_on.iter().map(|pattern| Pattern::normalised(pattern)).collect();
    let is_one = |place: &Range<usize>| {
        patterns.iter().any(|pattern| pattern.is_in(&text.text[place.clone()], &text.lower[place.clone()]))
    };
    found.places.iter().all(is_one)
}

/// Whether a program says of all that was read that it does without, or that this is no more than news.
fn only_informs(found: &Match, text: &Normalised<'_>) -> bool {
    let is_said_before =
        |place: &Range<usize>| text.plain[..text.line(place).start].trim_end().ends_with("support is disabled.");
    [&*FALLBACK, &*NORMAL].iter().any(|words| all_lines(found, text, words))
        || all_marked(found, text, &INFORMS)
        || found.places.iter().all(is_said_before)
}

fn all_lines(found: &Match, text: &Normalised<'_>, notice: &Regex) -> bool {
    found.places.iter().all(|place| notice.is_match(text.lines(place).as_bytes()))
}

/// Whether all that was read stands in lines of that kind; a log that was pasted as one line is none.
fn is_tried(found: &Match, text: &Normalised<'_>) -> bool {
    let mut lines = lines(found, text).map(|line| &text.plain[line]);
    lines.all(|line| line.len() < LONG && TRIED.is_match(line.as_bytes()))
}

/// Whether all that was read stands behind such a mark, in the line of it and before an error.
fn all_marked(found: &Match, text: &Normalised<'_>, mark: &Regex) -> bool {
    found.places.iter().all(|place| {
        let said = text.line_until(place).as_bytes();
        mark.find_iter(said).last().is_some_and(|mark| !ERROR.is_match(&said[mark.end()..]))
    })
}

/// The lines that a finding was read in.
fn lines<'m>(of: &'m Match, text: &'m Normalised<'_>) -> impl Iterator<Item = Range<usize>> + 'm {
    of.places.iter().map(|place| text.line(place))
}
