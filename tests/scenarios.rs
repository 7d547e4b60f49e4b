//! Real situations that people reported, each a folder of tests/scenarios: its spec in gpuenv.toml, and in
//! expected.toml where it was seen, whether anything fits, which keys are to blame and which change helps.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{LIMIT, Outcome, rules};
use gpuenv::catalog::BUILTIN;
use gpuenv::explain;
use gpuenv::solve::world::Steps;
use gpuenv::spec;
use serde::Deserialize;

/// Different spellings of one key to blame or to change; any of them will do.
type AnyOf = Vec<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
struct Expected {
    /// Where the situation was seen.
    source: String,
    verdict: Verdict,
    /// Sets of keys, one of which is to blame for the first conflict.
    #[serde(default)]
    culprits: Vec<Vec<AnyOf>>,
    /// Sets of keys, one of which some offered fix changes.
    #[serde(default)]
    fixes: Vec<Vec<AnyOf>>,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Conflict,
}

/// Whether each member of the set is among the keys.
fn contained(set: &[AnyOf], keys: &[String]) -> bool {
    set.iter().all(|any| any.iter().any(|key| keys.contains(key)))
}

/// Whether the keys are exactly the set's.
fn same(set: &[AnyOf], keys: &[String]) -> bool {
    contained(set, keys) && keys.iter().all(|key| set.iter().any(|any| any.contains(key)))
}

/// What is wrong with the answer to one situation.
fn complaint(folder: &Path) -> Option<String> {
    let read = |name| fs::read_to_string(folder.join(name)).expect("the scenario's file is there");
    let text = read("gpuenv.toml");
    let expected: Expected = toml::from_str(&read("expected.toml")).expect("expected.toml is well-formed");
    assert!(!expected.source.is_empty(), "{}: without a source", folder.display());
    let verdict = match common::lock(&text) {
        Outcome::Answer(..) => Verdict::Ok,
        Outcome::Conflict => Verdict::Conflict,
        Outcome::Refused(codes) => return Some(format!("refused: {codes:?}")),
    };
    if verdict != expected.verdict {
        return Some(format!("{verdict:?}, not {:?}", expected.verdict));
    }
    if verdict == Verdict::Ok {
        return None;
    }
    let spec = spec::parse(&text).expect("it was parsed before");
    let told = explain::conflicts(&spec, &BUILTIN, rules(), &Steps::new(LIMIT)).expect("it is a conflict");
    let culprits = &told.conflicts[0].culprits;
    if !expected.culprits.iter().any(|set| same(set, culprits)) {
        return Some(format!("blames {culprits:?}, not {:?}", expected.culprits));
    }
    let offered: Vec<Vec<String>> =
        told.fixes.iter().map(|fix| fix.changes.iter().map(|change| change.key.clone()).collect()).collect();
    let helps = offered.iter().any(|keys| expected.fixes.iter().any(|set| contained(set, keys)));
    (!helps).then(|| format!("offers {offered:?}, not {:?}", expected.fixes))
}

#[test]
fn every_reported_situation_gets_the_answer_that_was_found_then() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(root).expect("the folder is there").map(|entry| entry.expect("it is readable").path()).collect();
    folders.sort();
    assert!(folders.len() >= 100, "only {} scenarios", folders.len());
    let complaints: Vec<String> = folders
        .iter()
        .filter_map(|folder| complaint(folder).map(|what| format!("{}: {what}", folder.display())))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
