//! Real situations that people reported, and one for each rule of the catalog, each a folder of tests/scenarios: its
//! spec in gpuenv.toml, and in expected.toml where it was seen or what says so, whether anything fits, which keys are
//! to blame, which change helps and which rules it is about.

use std::fs;
use std::path::{Path, PathBuf};

use gpuenv::catalog::BUILTIN;
use gpuenv::catalog::rows::Subject;
use gpuenv::explain;
use gpuenv::solve::compile::Locked;
use gpuenv::solve::engine::Steps;
use gpuenv::solve::request::{GpuRequest, Request};
use gpuenv::solve::resolve::{Resolution, resolve};
use gpuenv::solve::warnings;
use gpuenv::spec;
use gpuenv::warning::Warning;
use serde::Deserialize;

use crate::common::parallel;
use crate::common::solver::{Outcome, lock, rules, rules_of};

/// Different spellings of one key to blame or to change; any of them will do.
type AnyOf = Vec<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
struct Expected {
    /// Where the situation was seen; for a rule, what it rests on.
    source: String,
    /// Rules of the catalog that the situation is about.
    #[serde(default)]
    rules: Vec<String>,
    /// Warnings that the answer comes with.
    #[serde(default)]
    warnings: Vec<String>,
    /// What exports hold ordinary packages to beside the locked ones.
    #[serde(default)]
    carries: Vec<String>,
    verdict: Verdict,
    /// Sets of keys, one of which is to blame for the first conflict.
    #[serde(default)]
    culprits: Vec<Vec<AnyOf>>,
    /// Sets of keys, one of which some offered fix changes.
    #[serde(default)]
    fixes: Vec<Vec<AnyOf>>,
    /// The keys that the first fix changes: what somebody who knows the matter would do first.
    #[serde(default)]
    first: Vec<AnyOf>,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Conflict,
    Undetermined,
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
    let verdict = match lock(&text) {
        Outcome::Solution(..) => Verdict::Ok,
        Outcome::Conflict => Verdict::Conflict,
        Outcome::Undetermined => Verdict::Undetermined,
        Outcome::Refused(codes) => return Some(format!("refused: {codes:?}")),
    };
    if verdict != expected.verdict {
        return Some(format!("{verdict:?}, not {:?}", expected.verdict));
    }
    let spec = spec::parse(&text).expect("it was parsed before");
    if verdict == Verdict::Ok {
        let untouched = expected.rules.iter().chain(&expected.warnings).find(|rule| !bears_on(rule, &spec));
        let carried = carried(&spec);
        let left_out = expected.carries.iter().find(|one| !carried.contains(one));
        return untouched
            .map(|rule| format!("has nothing to do with {rule}"))
            .or_else(|| left_out.map(|one| format!("carries {carried:?}, without {one}")));
    }
    if verdict == Verdict::Undetermined {
        return unread(&spec, &expected);
    }
    let told = explain::conflicts(&spec, rules_of(&spec), &Steps::default()).expect("it is a conflict");
    let facts: Vec<&str> = told.conflicts.iter().flat_map(|one| &one.facts).map(|fact| fact.id.as_str()).collect();
    if let Some(rule) = expected.rules.iter().find(|rule| !facts.contains(&rule.as_str())) {
        return Some(format!("is told without {rule}, by {facts:?}"));
    }
    let culprits = &told.conflicts[0].culprits;
    if !expected.culprits.iter().any(|set| same(set, culprits)) {
        return Some(format!("blames {culprits:?}, not {:?}", expected.culprits));
    }
    let offered: Vec<Vec<String>> =
        told.fixes.iter().map(|fix| fix.changes.iter().map(|change| change.key.clone()).collect()).collect();
    let helps = offered.iter().any(|keys| expected.fixes.iter().any(|set| contained(set, keys)));
    if !helps {
        return Some(format!("offers {offered:?}, not {:?}", expected.fixes));
    }
    let first = offered.first().filter(|_| !expected.first.is_empty());
    first.filter(|keys| !same(&expected.first, keys)).map(|keys| format!("offers {keys:?} before {:?}", expected.first))
}

/// What is wrong with what nobody has read: the keys that ask for it, and the changes that do without it.
fn unread(spec: &spec::Spec, expected: &Expected) -> Option<String> {
    let (request, _) = Request::new(spec, rules_of(spec)).expect("it was asked before");
    let Resolution::Undetermined(unknowns) = resolve(&request, &Locked::new(), &Steps::default()) else {
        return Some("another answer the second time".into());
    };
    let keys: Vec<String> = unknowns.into_iter().flat_map(|unknown| unknown.keys).collect();
    if !expected.culprits.iter().any(|set| same(set, &keys)) {
        return Some(format!("does not know {keys:?}, not {:?}", expected.culprits));
    }
    let told = explain::obstacles(spec, rules_of(spec), &Steps::default()).expect("it has no answer");
    let offered: Vec<Vec<String>> =
        told.fixes.iter().map(|fix| fix.changes.iter().map(|change| change.key.clone()).collect()).collect();
    let helps = offered.iter().any(|keys| expected.fixes.iter().any(|set| contained(set, keys)));
    (!helps).then(|| format!("offers {offered:?}, not {:?}", expected.fixes))
}

/// Whether a rule shows in an answer: as a warning of its name or with its words, or by speaking of a GPU of the spec or of a package in the
/// answer.
fn bears_on(rule: &str, spec: &spec::Spec) -> bool {
    let (request, mut warnings) = Request::new(spec, rules_of(spec)).expect("it was asked before");
    let mut of_package = false;
    if let Resolution::Solution(answer) = resolve(&request, &Locked::new(), &Steps::default()) {
        warnings.extend(warnings::warnings(&request, &answer));
        let companions = || answer.targets.iter().flat_map(|target| &target.companions);
        let builds = || answer.targets.iter().flat_map(|target| &target.builds);
        let packages =
            || companions().map(|row| (row.package, row.version)).chain(builds().map(|row| (row.package, row.version)));
        of_package = rules().rules.all().filter(|one| one.row.id == rule).any(|one| {
            packages().any(|(package, version)| one.row.package == Some(package) && one.range.admits(&version))
        });
    }
    let of_gpu = rules().rules.all().any(|one| {
        let speaks = |gpu: &GpuRequest<'_>| one.row.subject == Subject::Gpu && one.range.admits(&gpu.cc_version);
        one.row.id == rule && request.targets.iter().any(|target| target.named_gpus().iter().any(speaks))
    });
    // Some are told by a warning alone, in their own words.
    let says = BUILTIN.rules.iter().find(|row| row.id == rule).map(|row| row.says.trim_end_matches('.'));
    // One of a library of CUDA by the warning of all of them, which names the library.
    let library = BUILTIN.rules.iter().find(|row| row.id == rule).map(|row| row.subject.as_str());
    let names = |warning: &Warning| library.is_some_and(|library| warning.message.to_lowercase().contains(library));
    let told = |warning: &Warning| {
        warning.code == rule
            || warning.code == "cuda-gpu" && names(warning)
            // Behind a colon a sentence begins with a small letter.
            || says.is_some_and(|says| warning.message.contains(&says[1..]))
    };
    of_gpu || of_package || warnings.iter().any(told)
}

/// What the lock holds ordinary packages to.
fn carried(spec: &spec::Spec) -> Vec<String> {
    let (request, _) = Request::new(spec, rules_of(spec)).expect("it was asked before");
    let Resolution::Solution(answer) = resolve(&request, &Locked::new(), &Steps::default()) else { return Vec::new() };
    let lock = gpuenv::lock::make(spec, &request, &answer, Vec::new());
    lock.wheel.into_iter().flat_map(|wheel| wheel.asks).collect()
}

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(root).expect("the folder is there").map(|entry| entry.expect("it is readable").path()).collect();
    folders.sort();
    folders
}

#[test]
fn every_rule_has_a_situation() {
    let listed: Vec<String> = folders()
        .iter()
        .map(|folder| fs::read_to_string(folder.join("expected.toml")).expect("the scenario's file is there"))
        .flat_map(|text| toml::from_str::<Expected>(&text).expect("expected.toml is well-formed").rules)
        .collect();
    let needs = BUILTIN.rules.iter().map(|rule| &*rule.id);
    let all: Vec<&str> = needs.chain(BUILTIN.laws.iter().map(|law| &*law.id)).collect();
    let missing: Vec<&&str> = all.iter().filter(|id| !listed.iter().any(|rule| rule == **id)).collect();
    assert!(missing.is_empty(), "no folder of tests/scenarios names {missing:?} under `rules`");
    let unknown: Vec<&String> = listed.iter().filter(|rule| !all.contains(&rule.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?} are no rules");
}

#[test]
fn every_reported_situation_gets_the_answer_that_was_found_then() {
    let folders = folders();
    assert!(folders.len() >= 100, "only {} scenarios", folders.len());
    let told = parallel::each(&folders, |folder| complaint(folder).map(|what| format!("{}: {what}", folder.display())));
    let complaints: Vec<String> = told.into_iter().flatten().collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// What an answer holds, written into gpuenv.toml, has that answer again: whoever pins what was locked is not refused.
#[test]
fn what_an_answer_holds_may_be_written() {
    let told = parallel::each(&folders(), |folder| {
        let text = fs::read_to_string(folder.join("gpuenv.toml")).expect("the scenario's file is there");
        let refused = refused_when_written(&text)?;
        Some(format!("{}: {refused}", folder.display()))
    });
    let told: Vec<String> = told.into_iter().flatten().collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// What of an answer is refused where it is written; none if all is well, or targets have stacks of their own.
fn refused_when_written(text: &str) -> Option<String> {
    let spec = spec::parse(text).ok()?;
    let Outcome::Solution(answer, _) = lock(text) else { return None };
    let stack = answer.targets[0].stack();
    let is_shared = answer.targets.iter().all(|target| target.stack() == stack);
    if !is_shared || !spec.own.is_empty() {
        return None;
    }
    let (mut edits, builds) = (Vec::new(), &answer.targets[0].builds);
    for (name, version) in stack.iter().filter(|(name, _)| *name != "triton") {
        // The toolkit that compiles may be of another minor than the wheels; and one of two frameworks may have other
        // libraries inside than pip installs for the other one.
        let value = match name.as_str() {
            "cuda" if spec.build.is_some() => continue,
            "cuda" | "cudnn" | "nccl" if builds.len() > 1 => continue,
            "cuda" => version.split('.').take(2).collect::<Vec<_>>().join("."),
            _ => version.clone(),
        };
        edits.push((format!("stack.{name}"), Some(value)));
    }
    let written = spec.edited(&edits).expect("what was chosen can be written");
    let (request, _) = Request::new(&written, rules_of(&written)).expect("its names are known");
    match resolve(&request, &Locked::new(), &Steps::default()) {
        Resolution::Solution(again) if again.targets[0].builds == *builds => None,
        Resolution::Solution(again) => Some(format!("{stack:?}, then {:?}", again.targets[0].stack())),
        _ => Some(format!("{stack:?} is refused")),
    }
}
