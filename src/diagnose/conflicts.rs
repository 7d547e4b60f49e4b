//! Packages that ask for different releases of another: who asks, what for, and what there is instead, in the words of
//! pip's warning, of `pip check`, of pip's resolver and of uv.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::decode::token;
use super::text::Normalised;
use super::value::{Extract, Value};
use crate::catalog::{Catalog, at_hand};
use crate::types::name::package;
use crate::types::variant::public;
use crate::types::{Specifier, Version};

/// What the packages disagree about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The framework, which the others follow.
    Torch,
    /// A package that the catalog knows.
    Package,
    /// One of NVIDIA's libraries.
    Library,
}

/// The messages that are about conflicts, by their code.
const CODES: &[(&str, About)] = &[
    ("packages-want-other-torch", About::Torch),
    ("packages-want-other-release", About::Package),
    ("packages-want-other-library", About::Library),
];

/// What a message of this code tells of; none if it is about no conflict.
pub fn about(code: &str) -> Option<About> {
    CODES.iter().find(|(known, _)| *known == code).map(|(_, about)| *about)
}

/// One package asks for releases of another.
struct Wish {
    /// Who asks; none where it is the user.
    by: Option<(String, Option<String>)>,
    of: String,
    releases: String,
    /// The release that is installed instead.
    found: Option<String>,
}

/// Ordinary packages ask for a range of these, and that is their own matter.
const ASKED_BY_ALL: &[&str] = &["torch", "torchvision", "torchaudio", "tensorflow", "tensorflow-gpu"];
/// Packages that are named without a table of their own.
const KNOWN: &[&str] = &["cuda-core", "jaxlib", "kt-kernel", "tensordict", "unsloth", "nunchaku"];
/// Names of NVIDIA's libraries; those of a single CUDA major end in it.
const LIBRARIES: &[&str] = &["cuda-toolkit", "cuda-bindings", "cuda-python", "cuda-pathfinder"];
/// More of them tell nothing new.
const WISHES: usize = 256;
/// How far before a wish stands who wishes, and how far after it what is there.
const NEAR: usize = 160;
/// How long a list of releases is.
const RELEASES: usize = 60;

/// A wish, without its blanks.
static WISH: LazyLock<Regex> = LazyLock::new(|| {
    let verb = "(?:hasrequirement|requires|require|dependson|requested)";
    let name = "(?<of>[a-z][a-z0-9._-]*?)";
    let releases = "(?<releases>[<>~!=]=?=?[0-9])";
    ascii(&format!(r"{verb}{name}(?:\[[a-z0-9,._-]{{0,80}}\])?(?:\{{[^}}]{{0,80}}\}})?\(?{releases}"))
});

/// What there is instead; behind it stands the release, in pip's words after the name.
static INSTEAD: LazyLock<Regex> = LazyLock::new(|| {
    let further = r"[.)]{0,2}(?:,[<>=!~][^;,]{1,20})*(?:;.{0,110}?)?,?";
    let told = "butyou.{0,4}?have(?<named>)|installed(?<bare>)[0-9]|but(?<before>)[0-9][0-9a-z.+]{0,30}isinstalled";
    ascii(&format!("^{further}(?:{told})"))
});

/// A text of a resolver that gave up.
static GIVEN_UP: LazyLock<Regex> = LazyLock::new(|| {
    ascii(
        "conflictiscausedby|havingconflict|haveconflict|wecanconclude|unsatisfiable|versionsolvingfailed|areincompatible",
    )
});

fn ascii(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).case_insensitive(true).build().expect("a constant")
}

/// Reads the weightiest conflict of this kind; none if there is none.
pub fn read(text: &Normalised<'_>, kind: About) -> Option<Extract> {
    let catalog = at_hand();
    let clashes = clashes(wishes(text), GIVEN_UP.is_match(text.lower.as_bytes()));
    let clashes: Vec<&Wish> = clashes.iter().filter(|wish| kind_of(wish, catalog).is_some()).collect();
    // What follows torch clashes with it: the conflict over torch is told alone.
    if kind != About::Torch && clashes.iter().any(|wish| kind_of(wish, catalog) == Some(About::Torch)) {
        return None;
    }
    let own = clashes.into_iter().filter(|wish| kind_of(wish, catalog) == Some(kind));
    let first =
        own.min_by_key(|wish| (wish.by.is_none(), !is_exact(&wish.releases), !is_known_asker(wish, catalog)))?;
    Some(told(first, kind))
}

/// Whether nobody but the user wants a release: then no two packages disagree.
pub fn is_of_user_alone(text: &Normalised<'_>) -> bool {
    let wishes = wishes(text);
    !wishes.is_empty() && wishes.iter().all(|wish| wish.by.is_none())
}

fn wishes(text: &Normalised<'_>) -> Vec<Wish> {
    let mut wishes = Vec::new();
    for captures in WISH.captures_iter(text.text.as_bytes()).take(WISHES) {
        let (whole, of) = (captures.get(0).expect("a match"), captures.name("of").expect("always there"));
        let releases = captures.name("releases").expect("always there");
        let releases_at = releases.start();
        let end = text.text.ceil_char_boundary(releases_at + RELEASES);
        let releases = own_releases(text.original(releases_at, end));
        if releases.is_empty() {
            continue;
        }
        let of = name(&text.text[of.range()]);
        let before = text.text.floor_char_boundary(whole.start().saturating_sub(NEAR));
        // An asterisk counts as a blank.
        let found = found(text, releases_at + releases.replace('*', "").len(), &of);
        wishes.push(Wish { by: asker(text.original(before, whole.start())), of, releases, found });
    }
    wishes
}

/// Releases end where a blank or another word begins, but for the `and` that pip puts between two of them.
fn own_releases(original: &str) -> String {
    let joined = original.replace(" and ", ",");
    let text = joined.split(|c: char| c.is_whitespace() || matches!(c, '`' | '\'' | '"' | ';' | ')')).next();
    let words = text.unwrap_or_default().split(',').take_while(|one| one.starts_with(['<', '>', '=', '!', '~']));
    words.collect::<Vec<_>>().join(",").trim_end_matches('.').to_string()
}

/// Who asks: the words before the verb, `torch 2.3.1` or `torch==2.11.0+cu130`.
fn asker(before: &str) -> Option<(String, Option<String>)> {
    let line = before.replace('\n', " ");
    let mut words = line.split_whitespace().rev().map(|word| word.trim_matches(['`', '\'', '"', ',', ':', '(', ')']));
    let last = words.next()?;
    if let Some(at) = last.find(['=', '<', '>', '~']) {
        let release = last[at..].strip_prefix("==").map(str::to_string);
        return Some((name(&last[..at]), release));
    }
    let is_release = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let (word, release) = match is_release(last) {
        true => (words.next()?, Some(last.to_string())),
        false => (last, None),
    };
    let is_somebody = word.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_user = ["you", "user", "project", "has", "and", "requirements", "which"].contains(&&*word.to_lowercase());
    (is_somebody && !is_user).then(|| (name(word), release))
}

fn name(text: &str) -> String {
    package(text.split(['[', '{']).next().unwrap_or_default())
}

/// The release that is there, as it is told right after a wish.
fn found(text: &Normalised<'_>, at: usize, of: &str) -> Option<String> {
    let end = text.text.ceil_char_boundary(at + NEAR);
    let captures = INSTEAD.captures(&text.text.as_bytes()[at..end])?;
    let group = |name: &str| captures.name(name).map(|group| at + group.start());
    let start = match group("named") {
        Some(start) => (name(text.text.get(start..start + of.len())?) == of).then_some(start + of.len())?,
        None => group("bare").or_else(|| group("before"))?,
    };
    let word = token(text.original(start, text.text.ceil_char_boundary(start + 60)));
    let word = word.trim_end_matches(['.', ',', ';']);
    word.starts_with(|c: char| c.is_ascii_digit()).then(|| word.to_string())
}

/// The wishes that something else stands against: what is installed, or in a resolver's words another wish.
fn clashes(wishes: Vec<Wish>, given_up: bool) -> Vec<Wish> {
    let mut others: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut asked: BTreeMap<String, String> = BTreeMap::new();
    for wish in &wishes {
        others.entry(wish.of.clone()).or_default().push(wish.releases.clone());
        if wish.by.is_none() && is_exact(&wish.releases) {
            asked.entry(wish.of.clone()).or_insert(wish.releases.clone());
        }
    }
    let stands_against = |wish: &Wish| {
        // What the user asks for stays: who wants anything else is in its way, and nobody who agrees.
        if let Some(asked) = asked.get(&wish.of).filter(|_| given_up && wish.by.is_some()) {
            return (!is_admitted(asked, &wish.releases)).then(|| asked.clone());
        }
        // An exact release against another is the plainest clash.
        let other = others.get(&wish.of)?.iter().filter(|other| **other != wish.releases);
        other.min_by_key(|other| !is_exact(other)).filter(|_| given_up).cloned()
    };
    let clash = |mut wish: Wish| {
        wish.found = wish.found.take().or_else(|| stands_against(&wish));
        wish.found.is_some().then_some(wish)
    };
    wishes.into_iter().filter_map(clash).collect()
}

/// Whether an exact release is among those that are wished for; a label names a build, and has no order.
fn is_admitted(exact: &str, wished: &str) -> bool {
    let plain = |text: &str| text.split(',').map(public).collect::<Vec<_>>().join(",");
    let version = Version::parse(public(exact.trim_start_matches('='))).ok();
    let wished = Specifier::parse(&plain(wished)).ok();
    version.zip(wished).is_none_or(|(version, wished)| wished.admits(&version))
}

fn is_exact(releases: &str) -> bool {
    releases.starts_with("==") && !releases.contains(',')
}

fn is_known_asker(wish: &Wish, catalog: &Catalog) -> bool {
    wish.by.as_ref().is_some_and(|(name, _)| is_package(name, catalog))
}

/// What a clash is about; none where it is nobody's here.
fn kind_of(wish: &Wish, catalog: &Catalog) -> Option<About> {
    let of = wish.of.as_str();
    let ours = !ASKED_BY_ALL.contains(&of) || is_exact(&wish.releases) || is_known_asker(wish, catalog);
    if is_library(of, catalog) {
        return Some(About::Library);
    }
    let kind = if of == "torch" { About::Torch } else { About::Package };
    (ours && is_package(of, catalog)).then_some(kind)
}

fn is_package(name: &str, catalog: &Catalog) -> bool {
    let heads = catalog.companions.heads().into_iter().chain(catalog.builds.heads());
    heads.chain(KNOWN.iter().copied()).any(|known| known == name)
}

fn is_library(name: &str, catalog: &Catalog) -> bool {
    let pinned =
        |pins: &str| pins.split_whitespace().any(|pin| pin.split(['=', '<', '>', '~', '!']).next() == Some(name));
    LIBRARIES.contains(&name) || name.starts_with("nvidia-") && catalog.libraries.iter().any(|row| pinned(&row.pins))
}

/// What is read out of a conflict.
fn told(wish: &Wish, kind: About) -> Extract {
    let wanted = wish.releases.strip_prefix("==").filter(|_| is_exact(&wish.releases)).unwrap_or(&wish.releases);
    let found = wish.found.as_deref().map(|found| found.strip_prefix("==").unwrap_or(found));
    let mut extract = Extract::new();
    let mut put = |key: &str, value: &str| extract.insert(key.to_string(), Value::Text(value.to_string()));
    if let Some((by, release)) = &wish.by {
        put("package", by);
        release.as_ref().map(|release| put("version", release));
    }
    let (needed, has) = match kind {
        About::Torch => ("torch_needed", "torch"),
        _ => ("dependency_needed", "dependency_found"),
    };
    if kind != About::Torch {
        put("dependency", &wish.of);
    }
    put(needed, wanted);
    found.map(|found| put(has, found));
    extract
}

#[cfg(test)]
mod tests;
