//! Lines behind which a program goes on: it says what it lacks, and takes something else, looks elsewhere or does without.
//! Where something else fails, that is the fault, and such a line is none, unless the fault comes of it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::asides::Aside;
use super::pattern::Pattern;
use super::signatures::Match;
use super::text::Normalised;

/// What goes on another way, whichever message it is; rows name their own such lines.
static FALLBACK: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"fall(?:s|ing)? ?back (?:to|on) |switching to |using [a-z]+ backend|cannot use fa version|recommended to upgrade",
    )
});

/// What says nothing of a fault wherever it stands: torch warns of a plan that cuDNN does not have, and takes another.
static HARMLESS: LazyLock<Regex> =
    LazyLock::new(|| ascii(r"plan failed with a cudnnexception|cudnn_status_not_supported ?\(triggered internally"));

/// A fault, where a line tells one.
static FAULT: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"^.{0,160}?(?:(?-i:\b[A-Z]\w*(?:Error|Exception)\b: ?\S)|terminate called after|(?-i:\b(?:error|ERROR): )|cmake error|configuring incomplete|build stopped|: \*\*\* ).*$",
    )
});

/// What may fail for want of that which the notice tells of, where its row names nothing.
const OF_GPU: &str = r"cuda|gpu|nvidia|cudnn|cublas|nccl|device|driver|ptx|triton|kernel|attention|memory";

/// Memory ran out, so the GPU was there.
static MEMORY: LazyLock<Regex> = LazyLock::new(|| ascii(r"out.?of.?memory|alloc_failed"));

/// What a program does that went on, or a GPU at work.
static WENT_ON: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"^\s*successfully |\b(?:done|finished|completed|saved|saving)\b|100%|built target|runtime path found|cl\.exe\W{0,2} /c|compiling objects|cuda:\d\W{0,2}(?:nvidia|geforce|tesla|quadro|rtx|gtx)|cuda driver version(?: / runtime version)?:? ?\d|xid \(pci:",
    )
});
/// So many different lines without a fault say the same.
const LINES: usize = 30;
/// Rows of less weight tell only that something failed: none of their findings is another fault.
const TELLING: u32 = 8;

fn ascii(pattern: &str) -> Regex {
    let mut pattern = RegexBuilder::new(pattern);
    pattern.unicode(false).case_insensitive(true).multi_line(true).build().expect("a constant")
}

/// Drops what is told in passing where another fault is told or the program went on, and says what that is; beside another
/// finding it stays, as the lesser.
pub fn set_aside(matches: &mut Vec<Match>, text: &Normalised<'_>) -> Option<&'static Aside> {
    let all = matches.len();
    matches.retain(|found| found.places.is_empty() || !all_lines(found, text, &HARMLESS));
    let is_harmless = matches.len() < all;
    for found in matches.iter_mut() {
        found.in_passing =
            !found.places.is_empty() && (is_in_passing(found, text) || all_lines(found, text, &FALLBACK));
    }
    // A lesser reading of such a line says nothing more.
    let passing = matches.iter().filter(|found| found.in_passing && !found.row.goes_on.is_empty());
    let said: Vec<(Range<usize>, u32)> =
        passing.flat_map(|found| lines(found, text).map(|line| (line, found.row.weight))).collect();
    let is_said = |line: &Range<usize>, weight: u32| {
        said.iter().any(|(own, heavier)| weight < *heavier && own.start <= line.start && line.end <= own.end)
    };
    matches.retain(|found| {
        found.in_passing || found.places.is_empty() || !lines(found, text).all(|line| is_said(&line, found.row.weight))
    });
    let before = matches.len();
    let others = matches.iter().filter(|found| !found.in_passing && found.row.weight >= TELLING);
    let others: Vec<Range<usize>> = others.flat_map(|found| lines(found, text)).collect();
    matches.retain_mut(|found| {
        if !found.in_passing {
            return true;
        }
        let end = found.places.iter().map(|place| place.end).max().unwrap_or_default();
        let rest = text.rest(end);
        let faults =
            FAULT.find_iter(&text.plain.as_bytes()[rest..]).map(|fault| rest + fault.start()..rest + fault.end());
        let faults: Vec<_> = faults.collect();
        let is_claimed = |at: usize| others.iter().any(|line| line.contains(&at));
        let brings = Brings::of(found);
        let unclaimed = || faults.iter().filter(|fault| !is_claimed(fault.start));
        let is_cause = |line: &str| brings.hold(line) && !MEMORY.is_match(line.as_bytes());
        found.in_passing = !(unclaimed().any(|fault| is_cause(&text.plain[fault.clone()]))
            || brings.are_told && others.iter().any(|line| !is_said(line, 0) && is_cause(&text.plain[line.clone()])));
        if !found.in_passing || !others.is_empty() {
            return true;
        }
        found.in_passing = false;
        // That it took another way is what is asked about, unless something failed.
        let is_asked = found.row.goes_on.is_empty();
        faults.is_empty() && (is_asked || !went_on(&text.plain[rest..], &text.lower[end..]))
    });
    (is_harmless || matches.len() < before).then_some(&Aside::NOTICE)
}

/// Whether something stands in the rest of a text that a program does which went on, or a fault that is no finding.
fn went_on(rest: &str, lower: &str) -> bool {
    let is_fault = |aside: &Aside| !aside.means.starts_with("a notice");
    WENT_ON.is_match(rest.as_bytes())
        || rest.lines().collect::<BTreeSet<_>>().len() > LINES
        || Aside::told(lower).is_some_and(is_fault)
}

/// What a fault says that can come of what was told in passing.
struct Brings {
    patterns: Vec<Pattern>,
    /// Whether that can have a finding of its own.
    are_told: bool,
}

impl Brings {
    fn of(found: &Match) -> Brings {
        let named = found.row.brings.iter().map(|pattern| Pattern::new(pattern.to_string()));
        let patterns = if found.row.brings.is_empty() { vec![Pattern::new(OF_GPU)] } else { named.collect() };
        Brings { patterns, are_told: !found.row.brings.is_empty() || found.row.goes_on.is_empty() }
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

fn all_lines(found: &Match, text: &Normalised<'_>, notice: &Regex) -> bool {
    found.places.iter().all(|place| notice.is_match(text.lines(place).as_bytes()))
}

/// The lines that a finding was read in.
fn lines<'m>(of: &'m Match, text: &'m Normalised<'_>) -> impl Iterator<Item = Range<usize>> + 'm {
    of.places.iter().map(|place| text.line(place))
}
