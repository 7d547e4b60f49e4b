//! The sample, and the copy of the checkout that holds it.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::find::{self, Kind, Mutant};

/// A mutant and its file, from the top of the checkout.
pub struct Chosen {
    file: String,
    mutant: Mutant,
    old: String,
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.mutant.line, self.change())
    }
}

impl Chosen {
    fn overlaps(&self, other: &Chosen) -> bool {
        let (one, two) = (&self.mutant.bytes, &other.mutant.bytes);
        self.file == other.file && one.start <= two.end && two.start <= one.end
    }

    fn change(&self) -> String {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{} => {}", one_line(&self.old), one_line(&self.mutant.instead))
    }
}

/// Changes that make no difference, by file and change, with the reason of each: `equal.txt`.
pub struct Equal(Vec<(String, bool)>);

impl Equal {
    /// Each line is `FILE: OLD => NEW`, and the line behind it, indented, says why nobody could notice.
    pub fn read(text: &str) -> Result<Equal> {
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        let mut equal = Vec::new();
        for pair in lines.chunks(2) {
            match pair {
                [change, why] if why.starts_with("    ") => equal.push((change.to_string(), false)),
                _ => bail!("mutants/equal.txt: no reason stands below `{}`", pair[0]),
            }
        }
        Ok(Equal(equal))
    }

    /// Whether a change is one of them.
    fn holds(&mut self, one: &Chosen) -> bool {
        let wanted = format!("{}: {}", one.file, one.change());
        let found = self.0.iter_mut().find(|(change, _)| *change == wanted);
        found.map(|(_, used)| *used = true).is_some()
    }

    /// Those that are of no line of the code any more.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, used)| !used).map(|(change, _)| change.as_str())
    }
}

/// The files of a checkout as they were when the work began.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What git knows of the checkout, and what it would.
pub fn files(checkout: &Path) -> Result<Files> {
    let listed = Command::new("git").current_dir(checkout).args(["ls-files", "-co", "--exclude-standard"]).output()?;
    let mut files = Files::new();
    for name in String::from_utf8(listed.stdout)?.lines() {
        // What was taken away is still known to git.
        if let Ok(bytes) = fs::read(checkout.join(name)) {
            files.insert(name.to_string(), bytes);
        }
    }
    Ok(files)
}

/// Every mutant of some rooms but those that make no difference.
pub fn candidates(files: &Files, rooms: &[String], equal: &mut Equal) -> Result<Vec<Chosen>> {
    let mut all = Vec::new();
    for (file, bytes) in files {
        let is_meant =
            rooms.iter().any(|room| file.starts_with(&format!("src/{room}/")) || *file == format!("src/{room}.rs"));
        let is_test = file.ends_with("/tests.rs") || file.contains("/tests/");
        if !is_meant || is_test || !file.ends_with(".rs") {
            continue;
        }
        let text = std::str::from_utf8(bytes)?;
        for mutant in find::find(text).with_context(|| file.clone())? {
            let old = text[mutant.bytes.clone()].to_string();
            let one = Chosen { file: file.clone(), mutant, old };
            if !equal.holds(&one) {
                all.push(one);
            }
        }
    }
    Ok(all)
}

/// So many of them, of which none holds another.
pub fn sample(mut all: Vec<Chosen>, count: usize, seed: u64) -> Vec<Chosen> {
    let mut random = seed;
    let mut chosen: Vec<Chosen> = Vec::new();
    while chosen.len() < count && !all.is_empty() {
        let one = all.swap_remove((next(&mut random) % all.len() as u64) as usize);
        if !chosen.iter().any(|other| one.overlaps(other)) {
            chosen.push(one);
        }
    }
    in_order(chosen)
}

/// Those that an earlier run printed, as they stand today: the code around them may have moved. What is gone is told.
pub fn again(mut all: Vec<Chosen>, printed: &str) -> Vec<Chosen> {
    let mut chosen: Vec<Chosen> = Vec::new();
    for line in printed.lines() {
        let Some((file, line, change)) = line.find("src/").and_then(|at| place(&line[at..])) else { continue };
        let is_meant = |one: &Chosen| one.file == file && one.change() == change;
        let meant = (0..all.len()).filter(|&at| is_meant(&all[at]));
        match meant.min_by_key(|&at| all[at].mutant.line.abs_diff(line)) {
            Some(at) if !chosen.iter().any(|other| all[at].overlaps(other)) => chosen.push(all.swap_remove(at)),
            _ => println!("gone: {file}:{line}: {change}"),
        }
    }
    in_order(chosen)
}

/// File, line and change of a mutant as it is printed.
fn place(text: &str) -> Option<(&str, usize, &str)> {
    let (file, rest) = text.split_once(':')?;
    let (line, change) = rest.split_once(": ")?;
    Some((file, line.parse().ok()?, change))
}

fn in_order(mut chosen: Vec<Chosen>) -> Vec<Chosen> {
    chosen.sort_by(|a, b| (&a.file, a.mutant.bytes.start).cmp(&(&b.file, b.mutant.bytes.start)));
    chosen
}

/// SplitMix64: the same sample of the same seed everywhere.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The copy.
pub struct Tree {
    files: Files,
    target: PathBuf,
    pub folder: PathBuf,
    pub chosen: Vec<Chosen>,
}

impl Tree {
    pub fn new(checkout: &Path, files: Files) -> Result<Tree> {
        let target = checkout.canonicalize()?.join("target/mutants");
        Ok(Tree { files, folder: target.join("tree"), target, chosen: Vec::new() })
    }

    /// Builds the tests with these mutants in them; those that do not compile are left out.
    pub fn build(&mut self, chosen: Vec<Chosen>) -> Result<Vec<PathBuf>> {
        self.chosen = chosen;
        loop {
            let lines = self.write()?;
            let (programs, errors) = self.compile()?;
            if errors.is_empty() {
                return Ok(programs);
            }
            let wrong: HashSet<usize> = errors
                .iter()
                .filter_map(|(file, line)| {
                    lines.iter().position(|(of, from, to)| of == file && (from..=to).contains(&line))
                })
                .collect();
            if wrong.is_empty() {
                bail!("the copy does not build: {errors:?}");
            }
            println!("{} do not compile and are left out", wrong.len());
            let mut number = 0;
            self.chosen.retain(|_| {
                number += 1;
                !wrong.contains(&(number - 1))
            });
        }
    }

    /// The copy with the mutants, and the lines on which each stands now.
    fn write(&self) -> Result<Vec<(String, usize, usize)>> {
        let mut lines = vec![(String::new(), 0, 0); self.chosen.len()];
        let mut of_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, one) in self.chosen.iter().enumerate() {
            of_file.entry(&one.file).or_default().push(number);
        }
        for (file, bytes) in &self.files {
            let mut bytes = bytes.clone();
            if let Some(numbers) = of_file.get(file.as_str()) {
                let text = String::from_utf8(bytes)?;
                let (mut written, mut done) = (String::new(), 0);
                for number in numbers {
                    let mutant = &self.chosen[*number].mutant;
                    written.push_str(&text[done..mutant.bytes.start]);
                    let begins = line(&written);
                    written.push_str(&beside(mutant, &text[mutant.bytes.clone()], *number));
                    lines[*number] = (file.clone(), begins, line(&written));
                    done = mutant.bytes.end;
                }
                written.push_str(&text[done..]);
                bytes = written.into_bytes();
            }
            if file == "src/lib.rs" {
                bytes.extend_from_slice(b"\n#[doc(hidden)]\n#[allow(missing_docs)]\npub mod mutant;\n");
            }
            // The build script is made of some of the same files; no mutant is chosen while it runs.
            if file == "catalog/build.rs" {
                bytes.extend_from_slice(b"\n#[allow(dead_code)]\n#[path = \"../src/mutant.rs\"]\nmod mutant;\n");
            }
            replace(&self.folder.join(file), &bytes)?;
        }
        replace(&self.folder.join("src/mutant.rs"), include_bytes!("../chosen.rs"))?;
        self.forget(&self.folder)?;
        Ok(lines)
    }

    /// Takes away what an earlier copy had and the checkout has no more: a test would read it.
    fn forget(&self, folder: &Path) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            let name = path.strip_prefix(&self.folder)?.to_string_lossy().into_owned();
            if entry.file_type()?.is_dir() {
                // What tests have built stays; of other folders those are left that something lies in.
                if name != "target" {
                    self.forget(&path)?;
                    let _ = fs::remove_dir(&path);
                }
            } else if name != "src/mutant.rs" && !self.files.contains_key(&name) {
                fs::remove_file(&path).with_context(|| path.display().to_string())?;
            }
        }
        Ok(())
    }

    /// The test programs, and the places of errors.
    fn compile(&self) -> Result<(Vec<PathBuf>, Vec<(String, usize)>)> {
        let output = Command::new("cargo")
            .current_dir(&self.folder)
            .args(["test", "--no-run", "--quiet", "--message-format=json"])
            .env("CARGO_TARGET_DIR", self.target.join("target"))
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("RUSTFLAGS", "--cap-lints=allow")
            .stderr(Stdio::inherit())
            .output()?;
        let (mut programs, mut errors) = (Vec::new(), Vec::new());
        for message in
            String::from_utf8(output.stdout)?.lines().filter_map(|one| serde_json::from_str::<Value>(one).ok())
        {
            if let Some(program) = message["executable"].as_str().filter(|_| message["profile"]["test"] == true) {
                programs.push(PathBuf::from(program));
            }
            if message["message"]["level"] == "error" {
                let spans = message["message"]["spans"].as_array().into_iter().flatten();
                errors.extend(spans.filter_map(|span| {
                    Some((span["file_name"].as_str()?.to_string(), usize::try_from(span["line_start"].as_u64()?).ok()?))
                }));
            }
        }
        if programs.is_empty() && errors.is_empty() {
            bail!("nothing was built");
        }
        Ok((programs, errors))
    }
}

/// The old code and the new, of which one runs.
fn beside(mutant: &Mutant, old: &str, number: usize) -> String {
    let new = &mutant.instead;
    match mutant.kind {
        Kind::Expression => format!("(if crate::mutant::is({number}) {{ {new} }} else {{ {old} }})"),
        Kind::Body => format!("if crate::mutant::is({number}) {{ {new} }}\n"),
    }
}

fn line(text: &str) -> usize {
    text.matches('\n').count() + 1
}

/// Writes what is new: what is not keeps its time, and cargo builds only what changed.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().context("a file has a folder")?)?;
    fs::write(path, bytes).with_context(|| path.display().to_string())
}
