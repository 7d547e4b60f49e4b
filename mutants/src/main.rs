//! `gpuenv-mutants CHECKOUT [ROOM...]`: mutants of the code compiled in once and chosen by an environment variable.
//!
//! A sample of all single changes of some rooms of src/ is written into a copy of the checkout, each beside the old code;
//! the copy is built once. Every test runs once without a mutant, to learn which mutants it reaches, and then for each of those
//! until one fails. A mutant with which none fails has survived: a test is missing.
//!
//! GPUENV_MUTANTS: how many (100); GPUENV_MUTANTS_SEED: which (1). GPUENV_MUTANTS_ONLY: of these only some, as the numbers
//! that an earlier run printed (`3,17`, `200-`): a run that was cut short goes on, and a new test is tried. GPUENV_MUTANTS_AGAIN:
//! what an earlier run printed; its mutants are asked again although the code has changed since, which changes every sample.

mod build;
mod find;
mod run;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

/// The rooms whose answers users bet on.
const ROOMS: [&str; 5] = ["solve", "coverage", "lock", "verify", "export"];

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let Some(checkout) = args.next().map(PathBuf::from) else { bail!("usage: gpuenv-mutants CHECKOUT [ROOM...]") };
    let rooms: Vec<String> = args.collect();
    let rooms = if rooms.is_empty() { ROOMS.map(str::to_string).to_vec() } else { rooms };
    let (count, seed) = (number("GPUENV_MUTANTS", 100)?, number("GPUENV_MUTANTS_SEED", 1)?);

    let files = build::files(&checkout)?;
    let mut equal = build::Equal::read(include_str!("../equal.txt"))?;
    let all = build::candidates(&files, &rooms, &mut equal)?;
    for change in equal.unused() {
        println!("note: mutants/equal.txt holds what is no change of these rooms: {change}");
    }
    let chosen = match std::env::var("GPUENV_MUTANTS_AGAIN") {
        Ok(path) => build::again(all, &std::fs::read_to_string(&path).context(path)?),
        Err(_) => {
            println!("{} places in {}; {count} of them, seed {seed}", all.len(), rooms.join(", "));
            build::sample(all, count as usize, seed)
        }
    };
    let mut tree = build::Tree::new(&checkout, files)?;
    let programs = tree.build(chosen)?;
    let asked = asked(tree.chosen.len())?;
    let survived = run::survivors(&programs, &tree.chosen, &asked, &tree.folder)?;
    for one in &survived {
        println!("survived: {}", tree.chosen[*one]);
    }
    let all = asked.len();
    println!("{} of {all} were noticed ({} %)", all - survived.len(), (all - survived.len()) * 100 / all.max(1));
    Ok(())
}

/// The mutants that GPUENV_MUTANTS_ONLY names: all, where it is not set.
fn asked(all: usize) -> Result<Vec<usize>> {
    let Ok(text) = std::env::var("GPUENV_MUTANTS_ONLY") else { return Ok((0..all).collect()) };
    let number =
        |text: &str| text.parse::<usize>().with_context(|| format!("GPUENV_MUTANTS_ONLY: {text:?} is no number"));
    let mut numbers = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            Some((first, "")) => numbers.extend(number(first)?..all),
            Some((first, last)) => numbers.extend(number(first)?..=number(last)?),
            None => numbers.push(number(part)?),
        }
    }
    match numbers.iter().find(|number| **number >= all) {
        Some(number) => bail!("GPUENV_MUTANTS_ONLY: {number} is not among the {all} of this sample"),
        None => Ok(numbers),
    }
}

fn number(name: &str, otherwise: u64) -> Result<u64> {
    match std::env::var(name) {
        Ok(text) => text.parse().with_context(|| format!("{name}={text} is no number")),
        Err(_) => Ok(otherwise),
    }
}
