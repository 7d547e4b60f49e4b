//! Every code that the sources give an error is explained. Wherever an error is made, what stands in the place of its code
//! has to be understood here: a way of giving one that nobody reads would let a code slip through.

use std::collections::{BTreeMap, BTreeSet};

use gpuenv::meaning::{self, ERRORS, Meaning, WARNINGS};
use regex::Regex;

use crate::tidy::{Source, sources};

/// What makes an error wherever it is called, and which of its arguments is the code.
const MAKERS: &[(&str, usize)] =
    &[("Failure::new", 1), ("Failure::io", 0), ("Refusal::new", 0), ("Mistake::new", 0), ("self.error", 0)];

#[test]
fn every_error_has_its_code_in_the_table() {
    let sources = sources();
    let named = Regex::new(r#"const ([A-Z_]+): &str = "([a-z-]+)";"#).unwrap();
    let constants: BTreeMap<String, String> = sources
        .iter()
        .flat_map(|source| named.captures_iter(&source.code))
        .map(|found| (found[1].to_string(), found[2].to_string()))
        .collect();
    let (mut codes, mut strange) = (BTreeSet::new(), Vec::new());
    for source in &sources {
        for place in places(source) {
            match given(place, source, &constants) {
                Some(found) => codes.extend(found),
                None => strange.push(format!("src/{}: {place}", source.path)),
            }
        }
    }
    assert!(strange.is_empty(), "codes of errors that this test cannot read: {strange:#?}");
    for code in [
        "not-found",
        "permission-denied",
        "catalog-format",
        "not-a-lock",
        "target-in-use",
        "newer-record",
        "stale",
        "image-tag",
    ] {
        assert!(codes.contains(code), "{code} is given, and not seen");
    }
    let known = |code: &str| meaning::find(ERRORS, code).is_some();
    let missing: Vec<_> = codes.iter().filter(|code| !known(code)).collect();
    assert!(codes.len() > 90 && missing.is_empty(), "not in src/meanings.toml: {missing:?}");
    let is_given = |code: &str| sources.iter().any(|source| source.code.contains(&format!("\"{code}\"")));
    let idle: Vec<_> = ERRORS.iter().map(|one| one.code).filter(|code| !is_given(code)).collect();
    assert!(idle.is_empty(), "no source gives: {idle:?}");
}

#[test]
fn names_stand_in_order_and_are_explained() {
    let is_sorted = |all: &[Meaning]| all.is_sorted_by(|one, next| one.code < next.code);
    assert!(is_sorted(ERRORS) && is_sorted(WARNINGS), "not in order, or twice");
    assert!(WARNINGS.iter().all(|one| one.says().len() > 80 && one.says().ends_with('.')));
}

/// What stands wherever a source says the code of an error.
fn places(source: &Source) -> Vec<&str> {
    let code = &source.code;
    let mut found = Vec::new();
    for (name, at) in makers(source) {
        let call = Regex::new(&format!(r"(?:^|[^A-Za-z_:.]){}\(", regex::escape(&name))).unwrap();
        for begin in call.find_iter(code).filter(|found| !code[..found.end()].ends_with(&format!("fn {name}("))) {
            found.extend(parts(&code[begin.end()..], b',').get(at).copied());
        }
    }
    let field = Regex::new(r"(?:Problem|SpecError|Mistake) \{[ \n]*code(?:: )?").unwrap();
    found.extend(field.find_iter(code).map(|field| match parts(&code[field.end()..], b',')[0] {
        "" => "code",
        value => value,
    }));
    // What is said of an error, of a conflict of its own kind, and what it is printed as.
    let said = Regex::new(r"fn (?:code|special)\(&(?:mut )?self\) -> (?:Option<)?&'static str>? \{").unwrap();
    found.extend(said.find_iter(code).map(|said| parts(&code[said.end()..], b'}')[0]));
    let kind = Regex::new(r"Unknown \{[ \n]*code: Some\(").unwrap();
    found.extend(kind.find_iter(code).map(|kind| parts(&code[kind.end()..], b',')[0]));
    let printed = Regex::new(r#"error\("(error\[[a-z-]+\]):"#).unwrap();
    found.extend(printed.captures_iter(code).map(|found| found.get(1).map_or("", |place| place.as_str())));
    found
}

/// The calls that make an error in a source: everybody's, and its own that are handed a code.
fn makers(source: &Source) -> Vec<(String, usize)> {
    let own = Regex::new(r"\n *fn ([a-z_]+)(?:<[^>]*>)?\(([^{]*?code: &'static str)").unwrap();
    let of_own = own.captures_iter(&source.code).map(|found| {
        let before = found[2].split(", ").filter(|one| !one.ends_with("self")).count() - 1;
        (found[1].to_string(), before)
    });
    let of_all = MAKERS.iter().map(|(name, at)| (name.to_string(), *at));
    of_all.chain(of_own.filter(|(name, _)| name != "new" && name != "error")).collect()
}

/// The codes that stand in a place; none where it cannot be told.
fn given(place: &str, source: &Source, constants: &BTreeMap<String, String>) -> Option<Vec<String>> {
    let literal = Regex::new(r#""([a-z]+(?:-[a-z]+)*)"|error\[([a-z-]+)\]"#).unwrap();
    let literals = |text: &str| -> Vec<String> {
        let each = literal.captures_iter(text);
        each.filter_map(|found| Some(found.get(1).or(found.get(2))?.as_str().to_string())).collect()
    };
    let here = literals(place);
    if !here.is_empty() {
        return Some(here);
    }
    let constant = place.rsplit("::").next().and_then(|name| constants.get(name));
    if let Some(code) = constant {
        return Some(vec![code.clone()]);
    }
    // An error that was made elsewhere, or a lint, whose names another test lists.
    if [".code", ".code()", ".lint"].iter().any(|end| place.ends_with(end)) || place.starts_with("refusal") {
        return Some(Vec::new());
    }
    if place != "code" {
        return None;
    }
    // `let code = if … { "not-found" } else { "read-failed" };`, or `let (code, help) = match … ;`
    // `fn unknown_gpu(…) -> (&'static str, String, String) { … }`
    let chosen = r"let \(?code(?:, [a-z]+)*\)? =|-> \(&'static str, String, String\) \{";
    let chosen = Regex::new(chosen).unwrap();
    let mut codes: Vec<String> = Vec::new();
    for choice in chosen.find_iter(&source.code) {
        let code = &source.code[choice.end()..];
        let many = if choice.as_str().ends_with('{') { usize::MAX } else { 1 };
        codes.extend(parts(code, b';').into_iter().take(many).flat_map(literals));
    }
    let is_handed = source.code.contains("code: &'static str");
    let of_lints = source.code.contains("|(code, message)| problem(code, message)");
    (!codes.is_empty() || is_handed || of_lints).then_some(codes)
}

/// What stands between marks, up to the bracket that closes: marks within brackets and texts do not part.
fn parts(text: &str, mark: u8) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut found, mut from, mut at, mut depth) = (Vec::new(), 0, 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'\'' if bytes.get(at + 2) == Some(&b'\'') => at += 2,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => break,
            b')' | b']' | b'}' => depth -= 1,
            byte if byte == mark && depth == 0 => {
                found.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    found.push(text[from..at.min(text.len())].trim());
    found
}
