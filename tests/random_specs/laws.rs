//! The laws: what follows from an answer without knowing whether it is the right one.
//!
//! - A lock is the same to the byte wherever it is made, is current once it is made, and stays as it is when made again.
//! - Every format exports it.
//! - What ends without an answer leaves the lock as it was.
//! - The culprits of a conflict cannot hold together, and each smaller set of them can.
//! - Every fix, once applied, gives a lock with the stack that it promises.

use std::fs;

use serde_json::Value;

use crate::common::sandbox::Sandbox;
use crate::generate::{Case, Step};

/// Fixes of one conflict that are tried.
const FIXES: usize = 4;
/// Keys of a target that can be culprits; what else stands in its table says how it is asked.
const CULPRITS: [&str; 9] = ["gpu", "driver", "driver-cuda", "os", "arch", "image", "glibc", "gcc", "toolkit"];
/// The packages that others follow.
const FRAMEWORKS: [&str; 3] = ["torch", "tensorflow", "jax"];
/// Why a format may refuse a lock that is sound.
const REFUSALS: [(&str, &[&str]); 5] = [
    ("env", &[]),
    ("json", &[]),
    ("uv", &["nothing-to-install", "in-image"]),
    ("requirements", &["nothing-to-install", "ambiguous-index"]),
    ("dockerfile", &["nothing-to-install", "no-image", "python-too-old"]),
];

/// How much was tried.
#[derive(Debug, Default)]
pub struct Tried {
    pub answers: usize,
    pub conflicts: usize,
    pub errors: usize,
    pub relocks: usize,
    pub culprits: usize,
    pub fixes: usize,
    pub exports: usize,
}

impl Tried {
    pub fn add(&mut self, more: &Tried) {
        self.answers += more.answers;
        self.conflicts += more.conflicts;
        self.errors += more.errors;
        self.relocks += more.relocks;
        self.culprits += more.culprits;
        self.fixes += more.fixes;
        self.exports += more.exports;
    }
}

type Law = Result<(), String>;

/// A case on its way: a folder, and all that was written into it so far.
struct Trial<'a> {
    case: &'a Case,
    sandbox: Sandbox,
    files: Vec<(String, String)>,
    tried: Tried,
}

/// Tries a case: what was tried, or the law that is broken.
pub fn judge(case: &Case) -> Result<Tried, String> {
    let sandbox = Sandbox::new(&format!("random-{}", case.name), "");
    let mut trial = Trial { case, sandbox, files: Vec::new(), tried: Tried::default() };
    for (at, step) in case.steps.iter().enumerate() {
        trial.step(step, at == 0).map_err(|why| trial.told(&why))?;
    }
    Ok(trial.tried)
}

impl Trial<'_> {
    fn step(&mut self, step: &Step, is_first: bool) -> Law {
        for (name, text) in &step.files {
            fs::write(self.sandbox.path(name), text).unwrap();
            self.files.retain(|(known, _)| known != name);
            self.files.push((name.clone(), text.clone()));
        }
        let before = lock_of(&self.sandbox);
        let args: Vec<&str> = ["lock"].into_iter().chain(step.args.iter().map(String::as_str)).collect();
        let (code, document) = self.sandbox.json(&args);
        if code != 0 && lock_of(&self.sandbox) != before {
            return Err(format!("exit {code}, and the lock is another one"));
        }
        match (code, document["status"].as_str()) {
            (0, _) => {
                self.tried.answers += 1;
                self.tried.relocks += usize::from(!is_first);
                // What was asked for on the command line is part of the request, and stands in no file.
                let pinned = step.args.iter().any(|arg| arg.contains('='));
                self.answer(&document, before.is_none(), pinned)
            }
            (1, Some("conflict")) => {
                self.tried.conflicts += 1;
                if step.args.iter().any(|arg| arg.contains('=')) {
                    return Ok(());
                }
                self.culprits(&document)?;
                self.fixes(&document, before.is_none())
            }
            (1, Some("stale")) => Ok(()),
            (2 | 3, _) => {
                self.tried.errors += 1;
                Ok(())
            }
            _ => Err(format!("exit {code}: {document:#}")),
        }
    }

    /// A folder with the same files, and the lock if there is one.
    fn copy(&self, name: &str) -> Sandbox {
        let copy = Sandbox::new(&format!("random-{}-{name}", self.case.name), "");
        self.files.iter().for_each(|(name, text)| fs::write(copy.path(name), text).unwrap());
        if let Some(lock) = lock_of(&self.sandbox) {
            fs::write(copy.path("gpuenv.lock"), lock).unwrap();
        }
        copy
    }

    fn answer(&mut self, document: &Value, is_fresh: bool, pinned: bool) -> Law {
        let lock = lock_of(&self.sandbox);
        for args in [&["lock", "--check"][..], &["lock"]].into_iter().filter(|_| !pinned) {
            let (code, again) = self.sandbox.json(args);
            if code != 0 || again != *document || lock_of(&self.sandbox) != lock {
                return Err(format!("exit {code} of {args:?} right after a lock: {again:#}"));
            }
        }
        if is_fresh {
            let copy = self.copy("again");
            fs::remove_file(copy.path("gpuenv.lock")).map_err(|error| format!("no lock: {error}"))?;
            let (code, again) = copy.json(&["lock"]);
            if code != 0 || again != *document || lock_of(&copy) != lock {
                return Err(format!("another lock in another folder: {again:#}"));
            }
        }
        self.exports(document)
    }

    /// Every format, for the first target.
    fn exports(&mut self, document: &Value) -> Law {
        let first = document["targets"].as_object().and_then(|targets| targets.iter().next());
        let (name, target) = first.ok_or("a lock without targets")?;
        // An image that the spec names without a tag stays without one where nobody knows its tags.
        let image = target["image"].as_str().and_then(|image| image.rsplit('/').next());
        let tagged = image.is_none_or(|image| image.contains([':', '@']));
        for (format, refusals) in REFUSALS {
            let (code, exported) = self.sandbox.json(&["export", format, "--target", name]);
            let refusal = exported["errors"][0]["code"].as_str().unwrap_or_default();
            let untagged = format == "dockerfile" && !tagged && refusal == "bad-lock-value";
            if code != 0 && !untagged && !(code == 2 && refusals.contains(&refusal)) {
                return Err(format!("exit {code} of the export as {format}: {exported:#}"));
            }
            self.tried.exports += usize::from(code == 0);
        }
        Ok(())
    }

    fn culprits(&mut self, document: &Value) -> Law {
        if !document["gave_up"].is_null() {
            return Ok(());
        }
        let conflicts = document["conflicts"].as_array().ok_or("a conflict without conflicts")?;
        let spec = self.sandbox.spec();
        for (at, conflict) in conflicts.iter().enumerate() {
            let culprits: Vec<&str> =
                conflict["culprits"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            if culprits.is_empty() {
                return Err("a conflict without culprits".to_string());
            }
            let (code, alone) = self.kept(&culprits);
            if code != 1 {
                return Err(format!("exit {code} of {culprits:?} alone: {alone:#}"));
            }
            // Without a framework that the spec names, what follows it is asked for in another way. That a conflict told
            // beside one of such a framework is the smallest is then nothing that a spec could be written for.
            if at > 0
                && FRAMEWORKS.iter().any(|name| names(&spec, name) && !culprits.contains(&&*format!("stack.{name}")))
            {
                continue;
            }
            for culprit in &culprits {
                let others: Vec<&str> = culprits.iter().copied().filter(|other| other != culprit).collect();
                let (code, left) = self.kept(&others);
                // Without a line that says what a machine is, or what is to run, another question is asked.
                let said = || {
                    let all = with_what_defines(&spec, &others);
                    self.kept(&all.iter().map(String::as_str).collect::<Vec<&str>>()).0
                };
                if code != 0 && said() != 0 {
                    return Err(format!("exit {code} of {culprits:?} without {culprit}: {left:#}"));
                }
            }
            self.tried.culprits += 1;
        }
        Ok(())
    }

    /// What comes of the spec with some keys only.
    fn kept(&self, keys: &[&str]) -> (i32, Value) {
        let copy = self.copy("kept");
        let _ = fs::remove_file(copy.path("gpuenv.lock"));
        copy.write(&with_keys(&copy.spec(), keys));
        copy.json(&["lock"])
    }

    fn fixes(&mut self, document: &Value, is_fresh: bool) -> Law {
        let fixes = document["fixes"].as_array().ok_or("a conflict without a list of fixes")?;
        for (at, fix) in fixes.iter().enumerate().take(FIXES) {
            let number = (at + 1).to_string();
            let copy = self.copy("fixed");
            let (code, fixed) = copy.json(&["lock", "--apply-fix", &number]);
            if code != 0 {
                return Err(format!("exit {code} of fix {number}, {fix}: {fixed:#}\n{}", copy.spec()));
            }
            // A lock that is kept may hold other releases than the best ones, which fixes promise.
            for (package, version) in fix["stack"].as_object().into_iter().flatten().filter(|_| is_fresh) {
                let found = &fixed["stack"][package];
                if !found.is_null() && found != version {
                    return Err(format!(
                        "fix {number} promises {package} {version} and gives {found}\n{}",
                        copy.spec()
                    ));
                }
            }
            self.tried.fixes += 1;
        }
        Ok(())
    }

    /// What is wrong, with all that makes it happen again.
    fn told(&self, why: &str) -> String {
        let steps = self.case.steps.iter().map(|step| {
            let files: String = step.files.iter().map(|(name, text)| format!("==== {name} ====\n{text}")).collect();
            format!("{files}==== gpuenv lock {} ====\n", step.args.join(" "))
        });
        format!("{why}\n{}", steps.collect::<String>())
    }
}

/// Whether a line of the spec is about a package.
fn names(spec: &str, package: &str) -> bool {
    spec.lines().any(|line| line.starts_with(&format!("{package} = ")))
}

fn lock_of(sandbox: &Sandbox) -> Option<String> {
    fs::read_to_string(sandbox.path("gpuenv.lock")).ok()
}

/// Some keys, and every key of a spec that says what is to run or what a machine is.
fn with_what_defines<'s>(spec: &'s str, keys: &[&'s str]) -> Vec<String> {
    let (mut all, mut table) = (keys.iter().map(ToString::to_string).collect::<Vec<String>>(), "");
    for line in spec.lines() {
        if line.starts_with('[') {
            table = line.trim_matches(['[', ']']);
        }
        let key = line.split_once(" = ").map_or("", |(key, _)| key);
        let defines = match table {
            "stack" => FRAMEWORKS.contains(&key),
            _ => table.starts_with("target.") && ["gpu", "os", "arch", "image"].contains(&key),
        };
        if defines {
            all.push(format!("{table}.{key}"));
        }
    }
    all
}

/// The spec without the keys that can be culprits, but for some. One value stands on each line.
fn with_keys(spec: &str, keys: &[&str]) -> String {
    let (mut text, mut table, mut asks) = (String::new(), "", false);
    for line in spec.lines() {
        if line.starts_with('[') {
            table = line.trim_matches(['[', ']']);
        }
        let key = line.split_once(" = ").map_or("", |(key, _)| key);
        let can_be_culprit = match table {
            "stack" => true,
            "build" => key == "arch-list",
            _ => table.starts_with("target.") && CULPRITS.contains(&key),
        };
        if key.is_empty() || !can_be_culprit || keys.contains(&format!("{table}.{key}").as_str()) {
            text += line;
            text.push('\n');
            asks |=
                !key.is_empty() && table == "stack" || line == "[build]" && !spec.contains("cuda-extensions = false");
        }
    }
    // Something must be asked for. Any Python will do, and nothing else follows from it.
    if asks { text } else { text.replacen("[stack]\n", "[stack]\npython = \"*\"\n", 1) }
}
