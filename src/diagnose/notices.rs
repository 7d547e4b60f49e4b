//! Lines in which a program says what it lacks and what it takes instead: where something else fails later, that is the
//! fault, and the notice is none.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::asides::Aside;
use super::signatures::Match;
use super::text::Normalised;

/// What goes on another way.
static FALLBACK: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r"fall(?:s|ing)? ?back (?:to|on) |switching to |using [a-z]+ backend|cannot use fa version|recommended to upgrade|nvidia-smi: (?:command )?not found",
    )
});

/// What says nothing of a fault wherever it stands: torch warns of a plan that cuDNN does not have, and takes another.
static HARMLESS: LazyLock<Regex> =
    LazyLock::new(|| ascii(r"plan failed with a cudnnexception|cudnn_status_not_supported ?\(triggered internally"));

/// A fault, where a line tells one.
static FAULT: LazyLock<Regex> = LazyLock::new(|| {
    ascii(r"^.{0,160}?(?-i:\b[A-Z]\w*(?:Error|Exception)\b: ?\S.*|terminate called after|error: \(-).*$")
});

/// What may fail for want of that which the notice tells of.
static OF_GPU: LazyLock<Regex> =
    LazyLock::new(|| ascii(r"cuda|gpu|nvidia|cudnn|cublas|nccl|device|driver|ptx|triton|kernel|attention|memory"));

fn ascii(pattern: &str) -> Regex {
    let mut pattern = RegexBuilder::new(pattern);
    pattern.unicode(false).case_insensitive(true).multi_line(true).build().expect("a constant")
}

/// Drops what only notices tell that stand before another fault, and says what they are.
pub fn set_aside(matches: &mut Vec<Match>, text: &Normalised<'_>) -> Option<&'static Aside> {
    let before = matches.len();
    matches.retain(|found| {
        let all = |notice: &Regex| found.places.iter().all(|place| notice.is_match(text.lines(place).as_bytes()));
        let is_notice = || all(&HARMLESS) || all(&FALLBACK) && fails_later(found, text);
        found.places.is_empty() || !is_notice()
    });
    (matches.len() < before).then_some(&Aside::NOTICE)
}

/// Whether something fails after it that has nothing to do with GPUs.
fn fails_later(found: &Match, text: &Normalised<'_>) -> bool {
    let last = found.places.iter().map(|place| place.end).max().unwrap_or_default();
    let rest = text.after(last).as_bytes();
    let mut faults = FAULT.find_iter(rest).map(|fault| fault.as_bytes()).peekable();
    faults.peek().is_some() && faults.all(|fault| !OF_GPU.is_match(fault))
}
