//! Hosts as people described them in public, as records: they read, their names are known, and the spec that `init`
//! drafts from each has the outcome that was reported.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gpuenv::catalog::{BUILTIN, GpuMatch};
use gpuenv::draft;
use gpuenv::explain;
use gpuenv::host::{Origin, Record, read_any};
use gpuenv::solve::plan::Locked;
use gpuenv::solve::question::Question;
use gpuenv::solve::resolve::{Resolution, resolve};
use gpuenv::solve::rulebook::RuleBook;
use gpuenv::solve::world::Steps;
use gpuenv::spec;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    host: Vec<Told>,
}

/// What was told of a host.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    id: String,
    works: String,
    why: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts")
}

fn told() -> Vec<Told> {
    let text = fs::read_to_string(folder().join("hosts.toml")).unwrap();
    toml::from_str::<Index>(&text).unwrap().host
}

fn text(id: &str) -> String {
    fs::read_to_string(folder().join(format!("{id}.json"))).unwrap_or_else(|error| panic!("{id}: {error}"))
}

fn record(id: &str) -> Record {
    read_any(&text(id)).unwrap_or_else(|error| panic!("{id}: {error}"))
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Answer,
    Conflict(Vec<String>),
}

/// What becomes of the spec that is drafted from a host.
fn outcome(record: &Record) -> (String, Outcome) {
    let text = draft::of_host(record, &BUILTIN, false).text();
    let spec = spec::parse(&text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    let rules = RuleBook::new(&BUILTIN);
    let (question, _) = Question::new(&spec, &BUILTIN, &rules).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    let outcome = match resolve(&question, &Locked::new(), &Steps::new(1_000_000)) {
        Resolution::Answer(_) => Outcome::Answer,
        Resolution::Conflict => {
            let told = explain::conflicts(&spec, &BUILTIN, &rules, &Steps::new(1_000_000)).unwrap();
            Outcome::Conflict(told.conflicts.into_iter().flat_map(|one| one.culprits).collect())
        }
        Resolution::GaveUp => panic!("the step limit was reached:\n{text}"),
    };
    (text, outcome)
}

#[test]
fn survey() {
    let mut count: BTreeMap<(String, bool), usize> = BTreeMap::new();
    for told in told() {
        let record = record(&told.id);
        let (text, outcome) = outcome(&record);
        *count.entry((told.works.clone(), outcome == Outcome::Answer)).or_default() += 1;
        if outcome != Outcome::Answer && told.works != "false" || outcome == Outcome::Answer && told.works == "false" {
            println!("=== {} works {}: {:?}\n{}\n{text}", told.id, told.works, outcome, told.why);
        }
    }
    println!("{count:?}");
}

#[test]
fn names() {
    for told in told() {
        let record = record(&told.id);
        for gpu in record.nvml.iter().flat_map(|nvml| &nvml.gpus) {
            let name = gpu.name.as_deref().unwrap_or("");
            if !matches!(BUILTIN.gpu(name), GpuMatch::Found(_)) {
                println!("{}: gpu {name}", told.id);
            }
        }
        if let Some(driver) = record.nvml.as_ref().and_then(|nvml| nvml.driver.as_ref())
            && BUILTIN.driver(driver).is_none()
        {
            println!("{}: driver {driver} (branch {})", told.id, BUILTIN.branch_of(driver).is_some());
        }
        if let Some(torch) = record.python.as_ref().and_then(|python| python.torch.as_ref()?.version.as_ref())
            && !BUILTIN
                .builds
                .iter()
                .any(|row| row.package == "torch" && torch.split('+').next() == Some(row.version.as_str()))
        {
            println!("{}: torch {torch}", told.id);
        }
    }
    let _ = Origin::Pasted;
}
