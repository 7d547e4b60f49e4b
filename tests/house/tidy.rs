//! The walls of the house, executed: what every file begins with, who may import whom, where facts live, who prints.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use gpuenv::catalog::{BUILTIN, lint};
use gpuenv::solve::rules::law;
use regex::Regex;

/// The modules from the ground up. A module imports from storeys below its own only.
const STOREYS: &[&[&str]] = &[
    &["types", "log_prefix", "nearest"],
    &["coverage", "meaning", "warning"],
    &["artifact", "catalog", "host", "spec"],
    &["solve"],
    &["explain", "lock", "diagnose", "init"],
    &["export", "verify", "matrix"],
    &["fleet"],
    &["probe", "report"],
    &["task"],
    &["cli", "page"],
    &["main", "lib"],
];

/// The lowest modules that may touch files, processes and the environment stand beside this one.
const FIRST_WITH_IO: &str = "report";

/// The module that may look at the clock: what it waits for may never come.
const WITH_LIMITS: &str = "probe";
/// The files that may look at it too: one tells that the catalog is old, one that something takes its time.
const WITH_CLOCK: &[&str] = &["cli/catalog_age.rs", "report/progress.rs"];

/// The file of nothing but examples: what can be typed, below each `--help`.
const EXAMPLES: &str = "cli/help.rs";

/// Texts that look like versions of NVIDIA's or PyTorch's and are none.
const NO_FACTS: &[(&str, &str)] = &[
    ("export/steps.rs", "ghcr.io/astral-sh/uv:0.13.8"),
    ("export/steps.rs", "3.8"),
    ("export/modal.rs", "3.10"),
    ("export/github_actions.rs", "ubuntu-24.04-arm"),
    ("export/modulefile.rs", "#%Module1.0"),
    ("probe/loader/mod.rs", "glibc-ld.so.cache1.1"),
];

/// A file of the program.
pub struct Source {
    /// Relative to `src`.
    pub path: String,
    /// The top-level module it belongs to.
    module: String,
    text: String,
    /// The text without comments and tests.
    pub code: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Every file of the program.
pub fn sources() -> Vec<Source> {
    let src = root().join("src");
    let source = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let path = path.strip_prefix(&src).unwrap().to_str().unwrap().to_string();
        let module = path.split(['/', '.']).next().unwrap().to_string();
        let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
        let code = if is_test { String::new() } else { code_of(&text) };
        Source { path, module, text, code }
    };
    files(&src, "rs").into_iter().map(source).collect()
}

/// Tests stand at the end of a file; comments begin a line or follow two blanks.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.map(|line| line.split("  // ").next().unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

fn storey(module: &str) -> usize {
    let at = STOREYS.iter().position(|storey| storey.contains(&module));
    at.unwrap_or_else(|| panic!("module `{module}` has no storey: give it one in tests/house/tidy.rs"))
}

#[test]
fn every_file_says_what_it_is_for() {
    let tests = files(&root().join("tests"), "rs").into_iter().map(|path| fs::read_to_string(&path).map(|t| (path, t)));
    for (path, text) in tests.map(Result::unwrap) {
        assert!(text.starts_with("//! "), "{} does not open with `//!`", path.display());
    }
    for source in sources() {
        assert!(source.text.starts_with("//! "), "src/{} does not open with `//!`", source.path);
    }
}

/// What is longer holds more than one thing.
#[test]
fn no_file_is_longer_than_a_reader_holds() {
    let long = |source: &Source| (source.text.lines().count() > 500).then(|| source.path.clone());
    let long: Vec<String> = sources().iter().filter_map(long).collect();
    assert!(long.is_empty(), "files of src/ with more than 500 lines: {long:?}");
}

#[test]
fn imports_point_down() {
    let mut wrong = Vec::new();
    for source in sources() {
        for (at, prefix) in source.code.match_indices("crate::").chain(source.code.match_indices("gpuenv::")) {
            let rest = &source.code[at + prefix.len()..];
            assert!(!rest.starts_with('{'), "src/{}: one line for each module imported", source.path);
            let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            if name != source.module && storey(&name) >= storey(&source.module) {
                wrong.push(format!("src/{} imports {name}", source.path));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Which files and folders of one folder import each other, and by whom of them. A folder counts as one, its face and what
/// lies inside; what a face and its own inside take from each other is theirs.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let sources = sources();
    let path_of = |source: &Source| source.path.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
    let known: BTreeSet<String> = sources.iter().map(path_of).collect();
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in &sources {
        let own = path_of(source);
        let texts = source.code.split("\nuse ").skip(1).chain(source.code.split("\npub use ").skip(1));
        for path in texts.filter_map(|rest| rest.split(';').next()).flat_map(names) {
            let mut parts: Vec<&str> = own.split("::").collect();
            let mut steps = path.split("::").peekable();
            match steps.peek() {
                Some(&"crate") => parts.clear(),
                Some(&"super") => {}
                _ => continue,
            }
            for step in steps {
                match step {
                    "crate" | "self" => {}
                    "super" => drop(parts.pop()),
                    name => parts.push(name),
                }
            }
            while !parts.is_empty() && !known.contains(&parts.join("::")) {
                parts.pop();
            }
            let own: Vec<&str> = own.split("::").collect();
            let shared = own.iter().zip(&parts).take_while(|(one, other)| one == other).count();
            if shared < own.len() && shared < parts.len() {
                all.entry(own[..=shared].join("::")).or_default().insert(parts[..=shared].join("::"));
            }
        }
    }
    all
}

/// Every path that a `use` names: `a::{b, c::{d}}` is `a::b` and `a::c::d`.
fn names(text: &str) -> Vec<String> {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((head, body)) = text.split_once('{') else { return vec![text.replace(' ', "")] };
    let Some((body, _)) = body.rsplit_once('}') else { return Vec::new() };
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in body.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("there is one").push(c);
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.flat_map(|part| names(&format!("{}{part}", head.trim()))).collect()
}

#[test]
fn files_and_folders_do_not_import_each_other() {
    let imports = imports();
    let reach = |from: &String| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = next.pop() {
            next.extend(imports.get(&module).into_iter().flatten().filter(|of| seen.insert((*of).clone())).cloned());
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = imports.keys().map(|module| (module, reach(module))).collect();
    let circle = |module: &String| -> Vec<String> {
        reached[module]
            .iter()
            .filter(|other| reached.get(other).is_some_and(|back| back.contains(module)))
            .cloned()
            .collect()
    };
    let circles: BTreeSet<Vec<String>> = imports.keys().map(circle).filter(|circle| circle.len() > 1).collect();
    // What several files need belongs into a file below them.
    assert_eq!(circles, BTreeSet::new());
}

#[test]
fn only_the_report_prints() {
    // A child's standard output is the pipe to its parent.
    let prints = |source: &&Source| source.module == "report" || source.path == "probe/child.rs";
    for source in sources().iter().filter(|source| !prints(source)) {
        for word in ["println!", "print!", "eprintln!", "eprint!", "dbg!", "stdout()", "stderr()"] {
            assert!(!source.code.contains(word), "src/{} uses {word}", source.path);
        }
    }
}

#[test]
fn the_lower_storeys_do_no_io() {
    let pure = |source: &&Source| storey(&source.module) < storey(FIRST_WITH_IO);
    for source in sources().iter().filter(pure) {
        for word in ["std::fs", "std::process", "std::env", "std::net", "std::io", "std::os"] {
            assert!(!source.code.contains(word), "src/{} uses {word}", source.path);
        }
    }
}

#[test]
fn nothing_else_reads_the_clock() {
    let reads = |source: &&Source| source.module == WITH_LIMITS || WITH_CLOCK.contains(&source.path.as_str());
    for source in sources().iter().filter(|source| !reads(source)) {
        for word in ["SystemTime", "Instant::now"] {
            assert!(!source.code.contains(word), "src/{} uses {word}", source.path);
        }
    }
}

#[test]
fn facts_live_in_the_catalog() {
    let mut found = Vec::new();
    for source in sources().iter().filter(|source| source.path != EXAMPLES) {
        for literal in literals(&source.code) {
            let known = NO_FACTS.contains(&(source.path.as_str(), literal));
            let said = without_examples(literal);
            if !known && (holds_version(&said) || holds_variant(&said)) {
                found.push(format!("src/{}: {literal:?}", source.path));
            }
        }
    }
    assert_eq!(found, Vec::<String>::new(), "facts belong into catalog/*.toml");
}

/// The insides of a code's string literals.
fn literals(code: &str) -> Vec<&str> {
    let bytes = code.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        match bytes[at] {
            // A quote as a character.
            b'\'' if bytes[at..].starts_with(b"'\"'") => at += 3,
            b'\'' if bytes[at..].starts_with(b"'\\\"'") => at += 4,
            b'"' => {
                let start = at + 1;
                at = start;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                found.push(code.get(start..at.min(bytes.len())).unwrap_or(""));
                at += 1;
            }
            _ => at += 1,
        }
    }
    found
}

/// A message may show how a thing is spelled: `12.4` in backticks or \"12.4\" in quotes is an example.
fn without_examples(literal: &str) -> String {
    let unticked: String = literal.split('`').step_by(2).collect();
    unticked.split("\\\"").step_by(2).collect()
}

/// `12.4`
fn holds_version(text: &str) -> bool {
    let bytes = text.as_bytes();
    (1..bytes.len().saturating_sub(1))
        .any(|at| bytes[at] == b'.' && bytes[at - 1].is_ascii_digit() && bytes[at + 1].is_ascii_digit())
}

/// `cu124`
fn holds_variant(text: &str) -> bool {
    text.match_indices("cu").any(|(at, _)| {
        let before = at.checked_sub(1).map(|at| text.as_bytes()[at]);
        let digits = text[at + 2..].bytes().take_while(u8::is_ascii_digit).count();
        digits >= 2 && !before.is_some_and(|byte| byte.is_ascii_alphanumeric())
    })
}

#[test]
fn every_catalog_file_has_its_reader_and_every_table_a_file() {
    let tables = fs::read_to_string(root().join("src/catalog/tables.rs")).unwrap();
    let block = tables.split("\ntables! {").nth(1).expect("the list of tables");
    let kinds: BTreeSet<&str> = block.lines().filter_map(|line| line.split("= \"").nth(1)?.split('"').next()).collect();
    assert!(kinds.contains("driver") && kinds.len() > 10, "{kinds:?}");
    let mut written = BTreeSet::new();
    for path in files(&root().join("catalog"), "toml") {
        let file: toml::Table = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for key in file.keys() {
            let known =
                kinds.contains(key.as_str()) || ["version", "reader", "sha256", "asks_from"].contains(&key.as_str());
            assert!(known, "{}: nobody reads `{key}`", path.display());
            // Files of an index stand below the source of their sha256.
            written.insert(if key == "sha256" { "wheel".to_string() } else { key.clone() });
        }
    }
    if !root().join("catalog/laws.toml").exists() {
        written.insert("law".to_string());
    }
    let missing: Vec<&&str> = kinds.iter().filter(|kind| !written.contains(**kind)).collect();
    assert!(missing.is_empty(), "no file holds {missing:?}");
}

/// A promise is one as long as something holds it.
#[test]
fn every_promise_of_security_names_tests_that_exist() {
    let page = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let folders = [root().join("tests"), root().join("src")];
    let all: Vec<String> =
        folders.iter().flat_map(|folder| files(folder, "rs")).map(|path| fs::read_to_string(path).unwrap()).collect();
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.ends_with("` |"));
    let mut held = 0;
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit("| ").next().unwrap_or_default();
        for name in tests.split(", ").map(|name| name.trim_matches('`')) {
            let head = format!("fn {name}() {{");
            assert!(all.iter().any(|text| text.contains(&head)), "SECURITY.md names the test `{name}`");
            held += 1;
        }
    }
    assert!(held > 30, "{held}");
}

#[test]
fn every_law_is_described() {
    if root().join("catalog/laws.toml").exists() {
        let described: BTreeSet<&str> = BUILTIN.laws.iter().map(|law| &*law.id).collect();
        assert_eq!(described, law::ALL.iter().copied().collect::<BTreeSet<_>>());
    }
}

/// A lint's name stands between the brackets of an error too.
#[test]
fn every_lint_has_its_name_in_the_list() {
    let said = Regex::new(r#"say\)?\([ \n]*"([a-z]+(?:-[a-z]+)*)""#).unwrap();
    let sources: Vec<Source> =
        sources().into_iter().filter(|source| source.path.starts_with("catalog/lint/")).collect();
    let given: BTreeSet<String> = sources
        .iter()
        .flat_map(|source| said.captures_iter(&source.code).map(|found| found[1].to_string()).collect::<Vec<_>>())
        .collect();
    let known: BTreeSet<String> = lint::NAMES.iter().map(ToString::to_string).collect();
    let other: Vec<_> = given.symmetric_difference(&known).collect();
    assert!(given.len() > 70 && other.is_empty(), "lists of src/catalog/lint/mod.rs and of what lints say: {other:?}");
    assert!(lint::NAMES.iter().is_sorted_by(|one, next| one < next), "not in order, or twice");
}
