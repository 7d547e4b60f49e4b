//! Lines that name a framework's release, or say that no GPU is available, in a form that no reader knows: the banners of
//! programs, and people's own words. They are no facts; what of them contradicts a lock, the judge tells with the line.

use crate::types::plain::brief;

use super::super::signs::NAMED;
use super::seen::{Seen, fill, version};

/// By what they are called, the name of the package.
const FRAMEWORKS: [&str; 3] = ["torch", "tensorflow", "jax"];

/// What stands in lines about releases that need not be there.
const ELSEWHERE: &[&str] = &[
    "require",
    "install ",
    "installing",
    "uninstall",
    "collecting",
    "download",
    "cached",
    "http",
    ".whl",
    "built",
    "compiled",
    "depend",
    "you have",
    "since",
    "upgrade",
];

/// Longer lines are code, JSON or a log.
const LONGEST: usize = 240;

pub(super) fn note(lines: &[&str], seen: &mut Seen) {
    let python = seen.record.python.as_ref();
    let torch = python.and_then(|python| python.torch.as_ref());
    let is_told = torch.is_some_and(|torch| torch.available.is_some());
    let is_known = |name: &str| {
        name == "torch" && torch.is_some_and(|torch| torch.version.is_some())
            || python.is_some_and(|python| python.packages.contains_key(name))
    };
    let unknown: Vec<&str> = FRAMEWORKS.into_iter().filter(|name| !is_known(name)).collect();
    let has_block = lines.iter().any(|line| line.trim() == "* CUDA:");
    for line in lines.iter().map(|line| line.trim()).filter(|line| line.len() <= LONGEST) {
        let lower = line.to_ascii_lowercase();
        if !ELSEWHERE.iter().any(|words| lower.contains(words)) {
            for name in &unknown {
                if let Some(version) = named(&lower, name) {
                    seen.failed(NAMED, format!("{name} {version}: `{}`", brief(line)));
                }
            }
        }
        let of_cuda = lower.split_once(':').filter(|(key, _)| key.contains("torch") && key.ends_with("cuda version"));
        if let Some(cuda) = of_cuda.and_then(|(_, told)| version(told.trim())) {
            fill(&mut seen.torch().cuda, Some(cuda));
        }
        if !is_told
            && (is_without(&lower) || has_block && lower.starts_with("- available:") && lower.ends_with("false"))
        {
            let name = if lower.contains("num gpus") { "tensorflow" } else { "torch" };
            seen.failed(name, format!("no GPU is available to it: `{}`", brief(line)));
        }
    }
}

/// The release that a line names a framework with, in as many numbers as it publishes: `Torch version: 2.3.1+cu118`.
fn named<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    line.match_indices(name).find_map(|(at, _)| {
        let before = line[..at].strip_suffix("py").unwrap_or(&line[..at]);
        if before.ends_with(|c: char| !c.is_whitespace() && !"`'\"(|*".contains(c)) {
            return None;
        }
        let rest = &line[at + name.len()..];
        let value = rest.trim_start_matches([' ', '_', '-']);
        let value = value.strip_prefix("version").unwrap_or(value).trim_start();
        let value = value.strip_prefix('(').and_then(|said| said.split_once(')')).map_or(value, |(_, value)| value);
        let value = value.trim_start_matches([' ', ':', '=', '-', '`', '\'', '*', 'v']);
        let version = release(value);
        let is_whole = version.matches('.').count() > 1 || version.contains('+');
        let is_it = version.starts_with(|c: char| c.is_ascii_digit()) && is_whole && value.len() < rest.len();
        is_it.then_some(version).or_else(|| labelled(rest))
    })
}

/// A release with its build, whatever parts it from a name in front: `,2.6.0+cu124`, `版本：2.6.0+cu124`, ` -> 2.6.0+cpu`.
fn labelled(rest: &str) -> Option<&str> {
    let is_between = |c: char| !c.is_ascii_alphanumeric();
    let rest = rest.trim_start_matches(is_between);
    let version = release(rest.strip_prefix("version").unwrap_or(rest).trim_start_matches(is_between));
    let is_build = ["+cu", "+cpu"].iter().any(|label| version.contains(label));
    (is_build && version.starts_with(|c: char| c.is_ascii_digit())).then_some(version)
}

/// What of a text can be a release.
fn release(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !".+".contains(c)).unwrap_or(text.len());
    text[..end].trim_end_matches('.')
}

/// `CUDA available: False`, `Num GPUs Available:  0`, `torch.cuda.is_available() returns False`
fn is_without(line: &str) -> bool {
    let Some((before, rest)) = line.split_once("available") else { return false };
    let before = before.trim_end_matches([' ', '_']);
    let asks = ["cuda", "gpu", "gpus", "cuda.is", "`is"].iter().any(|end| before.ends_with(end));
    let is_code = ["if ", "elif ", "assert ", "while "].iter().any(|word| line.starts_with(word));
    let mut words = rest.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let said = words.find(|word| !["pytorch", "tensorflow", "returns", "is", "it"].contains(word));
    asks && !is_code && said.is_some_and(|said| ["false", "no", "0"].contains(&said))
}
