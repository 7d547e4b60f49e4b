//! Situations that people reported and that tests/scenarios do not hold, in tests/situations: where each was seen, what
//! was seen, and whether it can be. What is said of each, the keys to blame and the changes that would help among it, was
//! read once and is kept in tests/data/situations.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::common::parallel;
use crate::told;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Situations {
    situation: Vec<Situation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Situation {
    /// The address of the thread, or the purl of what was read.
    source: String,
    /// What was seen there, in a few words.
    seen: String,
    /// `ok`, `conflict`, or `undetermined` where it rests on what nobody has read.
    verdict: String,
    /// A gpuenv.toml.
    spec: String,
}

#[test]
fn of_compiling_are_judged_as_they_were_seen() {
    judge("compiling");
}

#[test]
fn of_images_are_judged_as_they_were_seen() {
    judge("images");
}

#[test]
fn of_inference_are_judged_as_they_were_seen() {
    judge("inference");
}

#[test]
fn of_jetson_are_judged_as_they_were_seen() {
    judge("jetson");
}

#[test]
fn of_tensorflow_and_jax_are_judged_as_they_were_seen() {
    judge("tensorflow_and_jax");
}

#[test]
fn of_torch_are_judged_as_they_were_seen() {
    judge("torch");
}

#[test]
fn of_others_are_judged_as_they_were_seen() {
    judge("others");
}

#[test]
fn every_file_is_judged() {
    let entries = fs::read_dir(folder()).unwrap();
    let files: BTreeSet<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let judged = ["compiling", "images", "inference", "jetson", "others", "tensorflow_and_jax", "torch"];
    assert_eq!(files, judged.iter().map(|name| format!("{name}.toml")).collect());
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/situations")
}

/// Asks each situation of a file.
fn judge(name: &str) {
    let text = fs::read_to_string(folder().join(name).with_extension("toml")).unwrap();
    let all = toml::from_str::<Situations>(&text).unwrap().situation;
    let told: Vec<(&str, String)> = parallel::each(&all, |one| match told::answer(&one.spec) {
        Some(answer) => ("ok", answer),
        None => told::refusal(&one.spec),
    });
    let (mut wrong, mut text) = (Vec::new(), String::new());
    for (one, (verdict, told)) in all.iter().zip(told) {
        let has_source = ["https://", "pkg:"].iter().any(|kind| one.source.starts_with(kind));
        assert!(has_source && !one.seen.is_empty(), "{}: without a source", one.spec);
        if *verdict != one.verdict {
            wrong.push(format!("{verdict}, not {}: {} ({})\n{}", one.verdict, one.source, one.seen, one.spec));
        }
        text += &format!("{}\n  {verdict}: {}\n{told}\n", one.source, one.seen);
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), all.len(), wrong.join("\n\n"));
    told::is_kept(&format!("situations/{name}.txt"), &text);
}
