//! The tests, with each mutant in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
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
    noticed: AtomicUsize,
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
    let answers = at_once(asked, |&mutant| {
        let begun = Instant::now();
        let noticed = is_noticed(&suites, mutant, folder)?;
        let word = if noticed { "noticed " } else { "SURVIVED" };
        println!("{mutant:4} {word} {:5.1} s  {}", begun.elapsed().as_secs_f64(), mutants[mutant]);
        Ok(noticed)
    })?;
    Ok(asked.iter().zip(answers).filter(|(_, noticed)| !noticed).map(|(mutant, _)| *mutant).collect())
}

/// What is said of each, in their order; as many are asked at once as there are processors.
fn at_once<T: Sync, A: Send>(all: &[T], ask: impl Fn(&T) -> Result<A> + Sync) -> Result<Vec<A>> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, A)>> {
        let mut said = Vec::new();
        loop {
            let at = next.fetch_add(1, Relaxed);
            match all.get(at) {
                Some(one) => said.push((at, ask(one)?)),
                None => return Ok(said),
            }
        }
    };
    let mut said = Vec::new();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..thread::available_parallelism()?.get()).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            said.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        anyhow::Ok(())
    })?;
    said.sort_by_key(|(at, _)| *at);
    Ok(said.into_iter().map(|(_, answer)| answer).collect())
}

/// Runs each test of a program by itself, to learn how long it takes and which mutants it reaches.
fn learn<'p>(program: &'p Path, folder: &Path) -> Result<Vec<Suite<'p>>> {
    let listed = Command::new(program).current_dir(folder).args(["--list", "--format", "terse"]).output()?;
    let listed = String::from_utf8(listed.stdout)?;
    let names: Vec<&str> = listed.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    let tests = at_once(&names, |name| {
        let record = folder.join("../reached").join(name.replace("::", "."));
        fs::create_dir_all(folder.join("../reached"))?;
        File::create(&record)?;
        let begun = Instant::now();
        let variable = ("GPUENV_MUTANTS_REACHED", record.display().to_string());
        if !passes(program, &[name], folder, Duration::from_secs(900), variable)? {
            println!("not asked, for it fails on the copy: {name} of {}", program.display());
            return Ok(None);
        }
        let reaches = fs::read_to_string(&record)?.lines().filter_map(|line| line.parse().ok()).collect();
        Ok(Some(Test { name: name.to_string(), took: begun.elapsed(), reaches }))
    })?;
    let mut suites: BTreeMap<&str, Suite<'p>> = BTreeMap::new();
    for (name, test) in names.iter().zip(tests) {
        if let Some(test) = test.filter(|test| !test.reaches.is_empty()) {
            let room = name.split_once("::").map_or("", |(room, _)| room);
            let new = || Suite { program, tests: Vec::new(), noticed: AtomicUsize::new(0) };
            suites.entry(room).or_insert_with(new).tests.push(test);
        }
    }
    Ok(suites.into_values().collect())
}

/// Asks the tests that reach a mutant; those of the suite first that says most in a second.
fn is_noticed(suites: &[Suite<'_>], mutant: usize, folder: &Path) -> Result<bool> {
    let mut asked = Vec::new();
    for (at, suite) in suites.iter().enumerate() {
        let reach: Vec<&Test> = suite.tests.iter().filter(|test| test.reaches.contains(&mutant)).collect();
        let took: Duration = reach.iter().map(|test| test.took).sum();
        let worth = (suite.noticed.load(Relaxed) + 1) as f64 / (took.as_secs_f64() + 0.1);
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
            suites[at].noticed.fetch_add(1, Relaxed);
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
