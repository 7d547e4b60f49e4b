//! Runs two gpuenv programs over many specs and tells in what their answers differ.
//!
//! ```text
//! cargo run --release --example compare -- OLD NEW                      1,000 random specs
//! cargo run --release --example compare -- OLD NEW --seeds 5000..15000  other ones
//! cargo run --release --example compare -- OLD NEW --verdict            only exit code, status, culprits, stack, lock
//! cargo run --release --example compare -- OLD NEW --only fixes,lock    only these categories
//! cargo run --release --example compare -- OLD NEW --specs tests/scenarios --specs examples
//! cargo run --release --example compare -- OLD NEW --show 4711          all of one seed, or of one file
//! cargo run --release --example compare -- --print 4711                 the files and runs of a seed
//! ```
//!
//! `--jobs N` runs N specs at a time, `--names N` lists N seeds of each category. Exit 0: no difference, 1: some.

mod corpus;
mod differ;
#[path = "../generate/mod.rs"]
mod generate;
mod run;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use differ::{Difference, VERDICT, differences, pruned};
use generate::{Case, case};
use run::{Came, Folder};

/// What was asked for on the command line.
#[derive(Debug, Default)]
struct Asked {
    programs: Vec<PathBuf>,
    seeds: Option<Range<u64>>,
    places: Vec<PathBuf>,
    only: Option<Vec<String>>,
    show: Option<String>,
    print: Option<u64>,
    jobs: usize,
    names: usize,
}

/// What was counted over all cases.
#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    steps: usize,
    /// How many steps of the first program ended with each exit code.
    exits: BTreeMap<String, usize>,
    /// The cases that differ, by category; those where the first program gave up apart.
    differ: BTreeMap<String, Vec<String>>,
    gave_up: Vec<String>,
    slow: Vec<String>,
}

fn main() -> ExitCode {
    let asked = match read(std::env::args().skip(1)) {
        Ok(asked) => asked,
        Err(why) => {
            eprintln!("{why}; see the head of tests/random_specs/compare/main.rs");
            return ExitCode::from(2);
        }
    };
    if let Some(seed) = asked.print {
        print_case(&case(seed));
        return ExitCode::SUCCESS;
    }
    let started = Instant::now();
    match compare(&asked) {
        Ok(tally) => {
            told(&tally, &asked, started);
            ExitCode::from(u8::from(!tally.differ.is_empty()))
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(4)
        }
    }
}

fn read(mut words: impl Iterator<Item = String>) -> Result<Asked, String> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut asked = Asked { jobs, names: 12, ..Asked::default() };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("{text} is no number"));
        match word.as_str() {
            "--seeds" => {
                let text = value()?;
                let (first, end) = text.split_once("..").ok_or("--seeds FIRST..END")?;
                asked.seeds = Some(number(first.to_string())?..number(end.to_string())?);
            }
            "--specs" => asked.places.push(value()?.into()),
            "--verdict" => asked.only = Some(VERDICT.iter().map(|category| category.to_string()).collect()),
            "--only" => asked.only = Some(value()?.split(',').map(str::to_string).collect()),
            "--show" => asked.show = Some(value()?),
            "--print" => asked.print = Some(number(value()?)?),
            "--jobs" => asked.jobs = number(value()?)? as usize,
            "--names" => asked.names = number(value()?)? as usize,
            _ if word.starts_with('-') => return Err(format!("{word} is no option")),
            _ => {
                let path = std::path::absolute(&word).map_err(|error| format!("{word}: {error}"))?;
                asked.programs.push(path);
            }
        }
    }
    if asked.print.is_none() && asked.programs.len() != 2 {
        return Err("two programs are needed".to_string());
    }
    Ok(asked)
}

/// The cases that were asked for.
fn cases(asked: &Asked) -> std::io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for place in &asked.places {
        cases.extend(corpus::cases(place)?);
    }
    match &asked.show {
        Some(name) => match name.parse() {
            Ok(seed) => cases = vec![case(seed)],
            Err(_) if asked.places.is_empty() => cases = corpus::cases(Path::new(name))?,
            Err(_) => cases.retain(|case| case.name.contains(name)),
        },
        None if asked.places.is_empty() || asked.seeds.is_some() => {
            cases.extend(asked.seeds.clone().unwrap_or(0..1000).map(case));
        }
        None => {}
    }
    Ok(cases)
}

fn compare(asked: &Asked) -> std::io::Result<Tally> {
    let cases = cases(asked)?;
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    let work = || -> std::io::Result<()> {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let name = format!("{:?}", std::thread::current().id()).replace(['(', ')'], "-");
            let folders = [Folder::new(&format!("{name}a"))?, Folder::new(&format!("{name}b"))?];
            for (at, step) in case.steps.iter().enumerate() {
                let left = folders[0].step(&asked.programs[0], step)?;
                let right = folders[1].step(&asked.programs[1], step)?;
                let found = wanted(differences(&left, &right), asked);
                let mut tally = tally.lock().expect("no thread panicked");
                tally.count(case, at, &left, &found);
                if asked.show.is_some() {
                    show(case, at, &left, &right, &found);
                }
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..asked.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no thread panicked"))
    })?;
    Ok(tally.into_inner().expect("no thread panicked"))
}

fn wanted(mut found: Vec<Difference>, asked: &Asked) -> Vec<Difference> {
    if let Some(only) = &asked.only {
        found.retain(|difference| only.contains(&difference.category));
    }
    found
}

impl Tally {
    fn count(&mut self, case: &Case, at: usize, left: &Came, found: &[Difference]) {
        let name = if at == 0 { case.name.clone() } else { format!("{}#{}", case.name, at + 1) };
        self.cases += usize::from(at == 0);
        self.steps += 1;
        let exit = left.code.map_or("none".to_string(), |code| code.to_string());
        *self.exits.entry(exit).or_default() += 1;
        let gave_up = !left.json["gave_up"].is_null() || left.code == Some(3);
        if gave_up {
            self.gave_up.push(name.clone());
        }
        if left.timed_out {
            self.slow.push(name.clone());
        }
        for difference in found {
            let apart = if gave_up { " (the first gave up)" } else { "" };
            self.differ.entry(format!("{}{apart}", difference.category)).or_default().push(name.clone());
        }
    }
}

fn told(tally: &Tally, asked: &Asked, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    let rate = tally.cases as f64 / seconds;
    println!("{} specs, {} runs of each program, {seconds:.1} s, {rate:.1} specs a second", tally.cases, tally.steps);
    let exits: Vec<String> = tally.exits.iter().map(|(code, count)| format!("{count} × exit {code}")).collect();
    println!("the first program: {}", exits.join(", "));
    listed("the first program gave up", &tally.gave_up, asked);
    listed("the first program took too long", &tally.slow, asked);
    if tally.differ.is_empty() {
        println!("no difference");
    }
    for (category, names) in &tally.differ {
        listed(category, names, asked);
    }
}

fn listed(what: &str, names: &[String], asked: &Asked) {
    if !names.is_empty() {
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_by_key(|name| (name.len(), name.as_str()));
        let shown: Vec<&str> = sorted.iter().take(asked.names).map(|name| name.as_str()).collect();
        let more = if names.len() > shown.len() { " …" } else { "" };
        println!("{what}: {} ({}{more})", names.len(), shown.join(" "));
    }
}

fn print_case(case: &Case) {
    for step in &case.steps {
        step.files.iter().for_each(|(name, text)| println!("==== {name} ====\n{text}"));
        println!("==== gpuenv lock {} ====", step.args.join(" "));
    }
}

/// All of a step: what was asked, what differs.
fn show(case: &Case, at: usize, left: &Came, right: &Came, found: &[Difference]) {
    print_case(&Case { name: case.name.clone(), steps: vec![case.steps[at].clone()] });
    println!("exit {:?} and {:?}", left.code, right.code);
    for difference in found {
        let (left, right) = pruned(difference);
        println!("-- {}\nfirst:\n{left}\nsecond:\n{right}", difference.category);
    }
    if found.is_empty() {
        println!("no difference; {}", serde_json::to_string_pretty(&left.json).unwrap_or_default());
    }
}
