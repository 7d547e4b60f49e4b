//! The tests, with each mutant in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::build::Chosen;

/// Suites that take minutes for what says nothing of the code: mutants of the catalog.
const TOO_SLOW: [&str; 1] = ["mutants-"];

/// A file of tests, or a room of the library: what stands first in the name of a test.
struct Suite<'p> {
    program: &'p Path,
    tests: Vec<Test>,
    /// How many mutants it has noticed.
    noticed: usize,
}

/// What a test does without a mutant.
struct Test {
    name: String,
    took: Duration,
    reaches: BTreeSet<usize>,
}

/// The numbers of those, of the ones that are asked for, that no test notices.
pub fn survivors(programs: &[PathBuf], mutants: &[Chosen], asked: &[usize], folder: &Path) -> Result<Vec<usize>> {
    let mut suites = Vec::new();
    for program in programs {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        if !TOO_SLOW.iter().any(|suite| name.starts_with(suite)) {
            suites.extend(learn(program, folder)?);
        }
    }
    let mut survived = Vec::new();
    for &mutant in asked {
        let what = &mutants[mutant];
        let begun = Instant::now();
        let noticed = is_noticed(&mut suites, mutant, folder)?;
        let word = if noticed { "noticed " } else { "SURVIVED" };
        println!("{mutant:4} {word} {:5.1} s  {what}", begun.elapsed().as_secs_f64());
        if !noticed {
            survived.push(mutant);
        }
    }
    Ok(survived)
}

/// Runs each test of a program by itself, to learn how long it takes and which mutants it reaches.
fn learn<'p>(program: &'p Path, folder: &Path) -> Result<Vec<Suite<'p>>> {
    let listed = Command::new(program).current_dir(folder).args(["--list", "--format", "terse"]).output()?;
    let mut suites: BTreeMap<String, Suite<'p>> = BTreeMap::new();
    for line in String::from_utf8(listed.stdout)?.lines() {
        let Some(name) = line.strip_suffix(": test") else { continue };
        let record = folder.join("../reached");
        File::create(&record)?;
        let begun = Instant::now();
        let variable = ("GPUENV_MUTANTS_REACHED", record.display().to_string());
        if !passes(program, &[name], folder, Duration::from_secs(900), variable)? {
            println!("not asked, for it fails on the copy: {name} of {}", program.display());
            continue;
        }
        let reaches: BTreeSet<usize> =
            fs::read_to_string(&record)?.lines().filter_map(|line| line.parse().ok()).collect();
        if !reaches.is_empty() {
            let room = name.split_once("::").map_or("", |(room, _)| room).to_string();
            let suite = suites.entry(room).or_insert_with(|| Suite { program, tests: Vec::new(), noticed: 0 });
            suite.tests.push(Test { name: name.to_string(), took: begun.elapsed(), reaches });
        }
    }
    Ok(suites.into_values().collect())
}

/// Asks the tests that reach a mutant; those of the suite first that says most in a second.
fn is_noticed(suites: &mut [Suite<'_>], mutant: usize, folder: &Path) -> Result<bool> {
    let mut asked = Vec::new();
    for (at, suite) in suites.iter().enumerate() {
        let reach: Vec<&Test> = suite.tests.iter().filter(|test| test.reaches.contains(&mutant)).collect();
        let took: Duration = reach.iter().map(|test| test.took).sum();
        let worth = (suite.noticed + 1) as f64 / (took.as_secs_f64() + 0.1);
        let names: Vec<String> = reach.iter().map(|test| test.name.clone()).collect();
        if !names.is_empty() {
            asked.push((worth, at, names, took));
        }
    }
    asked.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, at, names, took) in asked {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let limit = took * 3 + Duration::from_secs(10);
        if !passes(suites[at].program, &names, folder, limit, ("GPUENV_MUTANT", mutant.to_string()))? {
            suites[at].noticed += 1;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether some tests of a program pass within a time. The first that fails is answer enough.
fn passes(program: &Path, tests: &[&str], folder: &Path, limit: Duration, variable: (&str, String)) -> Result<bool> {
    let mut command = Command::new(program);
    command.current_dir(folder).arg("--exact").args(tests).env(variable.0, variable.1);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let told = BufReader::new(child.stdout.take().context("its output is read")?);
    let (tell, failed) = mpsc::channel();
    thread::spawn(move || {
        if told.lines().map_while(Result::ok).any(|line| line.ends_with("... FAILED")) {
            let _ = tell.send(());
        }
    });
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if failed.try_recv().is_ok() || begun.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(5));
    }
}
