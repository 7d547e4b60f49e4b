//! What nvidia-smi, nvcc and torch say of CUDA, told side by side without any message: which number is whose.
//!
//! A number belongs to the label that touches it: one before it (`nvcc 11.5`), or one in parentheses or behind `from`
//! (`CUDA 11.5 (nvcc)`, `12.8 from nvidia-smi`). What belongs to one is nobody else's.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::text::Normalised;
use super::value::{self, Extract, Value};
use crate::catalog::at_hand;
use crate::types::Version;

/// The messages that are read so.
const CODES: &[&str] = &["torch-newer-than-driver", "toolkit-not-of-torch"];
/// A text that only tells versions is short.
const SHORT: usize = 4096;
/// How far from its label a number may stand.
const NEAR: usize = 60;

/// Labels and numbers: `of` names the key of the label's number, `weak` is one that others take over.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let driver = r"(?<cuda_found>nvidia-smi|cuda umd version)|(?<weak>cuda version)";
    let others = r"(?<cuda_toolkit>nvcc|cuda compilation tools)|(?<cuda_torch>torch(?:\.version\.cuda)?)";
    let nobody = r"(?<nobody>gcc|g\+\+|glibc|clang|cudnn|python|ubuntu)";
    ascii(&format!(r"{driver}|{others}|{nobody}|\+cu(?<variant>\d{{2,3}})|(?<number>(?:8|9|1\d)\.\d)\b"))
});

/// What may stand between a label and the number that it touches.
static TOUCHES: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        r#"^(?:\s|says|shows?|reports?|uses|has|is|was|are|built|compiled|with|for|cuda|version|release|that|supports|up|to|at|most|[:=>(|`'"*]|--)*$"#,
    )
});

/// What stands between a number and the label behind it that it belongs to.
static BEHIND: LazyLock<Regex> =
    LazyLock::new(|| ascii(r#"^[`'"*]*\s*(?:[(\[{]|(?:from|in|by|per|according to)\s)\s*(?:the |by |from )?[`'"*]*$"#));

/// The driver's release, as people and nvidia-smi tell it.
static DRIVER: LazyLock<Regex> =
    LazyLock::new(|| ascii(r"driver(?: version)?(?: is)?\s*[:=]?\s*v?(?<driver>\d{3}\.\d+(?:\.\d+)?)"));

fn ascii(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).case_insensitive(true).build().expect("a constant")
}

/// Whether a message of this code is about versions told side by side.
pub fn is_about(code: &str) -> bool {
    CODES.contains(&code)
}

/// A label or a number, where it stands.
struct Word<'t> {
    kind: &'static str,
    place: Range<usize>,
    text: &'t str,
}

/// Whether a text tells versions and nothing that failed.
pub fn is_all(text: &Normalised<'_>) -> bool {
    let fails = ["error", "exception", "traceback", "fail", "fatal", "assert", "cannot", "unable"];
    text.plain.len() <= SHORT && !fails.iter().any(|word| text.lower.contains(word)) && read(text).is_some()
}

/// The versions, each under its key; none where fewer than two are told.
pub fn read(text: &Normalised<'_>) -> Option<Extract> {
    let mut extract = Extract::new();
    for (key, version) in bound(text.plain) {
        extract.entry(key.to_string()).or_insert(Value::Text(version));
    }
    believe_driver(text.plain, &mut extract);
    (extract.keys().filter(|key| *key != "driver").count() > 1).then_some(extract)
}

/// A driver's release tells what the driver offers, whatever number was read as that.
fn believe_driver(plain: &str, extract: &mut Extract) {
    let told = || {
        let captures = DRIVER.captures(plain.as_bytes())?;
        let driver = plain.get(captures.name("driver")?.range())?;
        let offers = at_hand().branch_of(&Version::parse(driver).ok()?)?.cuda?;
        Some((driver, offers))
    };
    let Some((driver, offers)) = told() else { return };
    extract.insert("driver".to_string(), Value::Text(driver.to_string()));
    // With cuda-compat nvidia-smi shows more than the driver itself offers.
    let shown = value::text(extract, "cuda_found").and_then(|text| Version::parse(text).ok());
    if shown.is_none_or(|shown| shown < offers) {
        extract.insert("cuda_found".to_string(), Value::Text(offers.to_string()));
    }
}

/// Which number is whose, in the order of the text.
fn bound(plain: &str) -> Vec<(&'static str, String)> {
    let words = words(plain);
    let mut bound = Vec::new();
    // The label whose number was not told yet.
    let mut label: Option<&Word<'_>> = None;
    let mut taken = None;
    for (at, word) in words.iter().enumerate() {
        let gap = label.and_then(|label| plain.get(label.place.end..word.place.start));
        let touches = gap.is_some_and(|gap| TOUCHES.is_match(gap.as_bytes()));
        match word.kind {
            "variant" => {
                let is_near = |word: &&Word<'_>| word.kind == "cuda_torch";
                let torch = words[..at].iter().rfind(is_near).filter(|torch| word.place.start - torch.place.end < NEAR);
                bound.extend(torch.map(|_| ("cuda_torch", super::decode::ten(word.text))));
                label = label.filter(|label| label.kind != "cuda_torch");
            }
            "number" => {
                let behind = words.get(at + 1).filter(|next| is_label(next));
                let between = behind.and_then(|next| plain.get(word.place.end..next.place.start));
                let behind = behind.filter(|_| between.is_some_and(|between| BEHIND.is_match(between.as_bytes())));
                let is_near = |label: &&Word<'_>| {
                    let far = gap.is_none_or(|gap| gap.len() > NEAR || gap.bytes().any(|byte| byte.is_ascii_digit()));
                    touches || !far && label.kind != "cuda_torch"
                };
                let strong = label.filter(|label| touches && label.kind != "weak");
                let owner = strong.or(behind).or(label.filter(is_near));
                bound.extend(owner.map(|owner| (key_of(owner.kind), word.text.to_string())));
                taken = behind.filter(|_| strong.is_none()).map(|_| at + 1);
                label = None;
            }
            // `torch CUDA version: 12.4` is torch's.
            "weak" if touches => {}
            _ if taken == Some(at) => {}
            _ => label = Some(word),
        }
    }
    bound.retain(|(key, _)| *key != "nobody");
    bound
}

fn is_label(word: &&Word<'_>) -> bool {
    !matches!(word.kind, "number" | "variant")
}

fn key_of(kind: &'static str) -> &'static str {
    if kind == "weak" { "cuda_found" } else { kind }
}

/// The labels and numbers of a text.
fn words(plain: &str) -> Vec<Word<'_>> {
    const KINDS: &[&str] = &["cuda_found", "weak", "cuda_toolkit", "cuda_torch", "nobody", "variant", "number"];
    let mut words = Vec::new();
    for captures in WORDS.captures_iter(plain.as_bytes()) {
        let found = KINDS.iter().find_map(|kind| Some((*kind, captures.name(kind)?.range())));
        let Some((kind, place)) = found else { continue };
        // `2.12.4` and `310.1` are no CUDA release.
        let before = place.start.checked_sub(1).and_then(|at| plain.as_bytes().get(at));
        if kind == "number" && before.is_some_and(|byte| *byte == b'.' || byte.is_ascii_digit()) {
            continue;
        }
        words.push(Word { kind, text: &plain[place.clone()], place });
    }
    words
}

#[cfg(test)]
mod tests;
