//! What must hold of every answer, whatever it is, tried on random specs over the whole catalog.
//!
//! A quick share of them is tried with every run of the tests. `GPUENV_RANDOM_SPECS=5000..15000` tries those seeds
//! instead; a seed that fails is told with its files. `compare` beside this file holds two programs against each other
//! over the same specs.

#[path = "../common/mod.rs"]
mod common;
mod generate;
mod laws;

use std::ops::Range;

use common::parallel;
use laws::Tried;

/// The seeds that every run tries.
const QUICK: Range<u64> = 0..60;

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("GPUENV_RANDOM_SPECS") else { return QUICK };
    let ends = text.split_once("..").and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?));
    ends.unwrap_or_else(|| panic!("GPUENV_RANDOM_SPECS=FIRST..END, not {text}"))
}

#[test]
fn every_answer_keeps_the_laws() {
    let seeds = seeds();
    let each: Vec<u64> = seeds.clone().collect();
    let judged = parallel::each(&each, |seed| laws::judge(&generate::case(*seed)).map_err(|why| (*seed, why)));
    let (mut wrong, mut tried) = (Vec::new(), Tried::default());
    for judged in judged {
        match judged {
            Ok(one) => tried.add(&one),
            Err(why) => wrong.push(why),
        }
    }
    let told: Vec<String> = wrong.iter().take(5).map(|(seed, why)| format!("seed {seed}: {why}")).collect();
    assert!(wrong.is_empty(), "{} of {seeds:?} break a law\n{}", wrong.len(), told.join("\n\n"));
    println!("{tried:?}");
    let specs = (seeds.end - seeds.start) as usize;
    assert!(specs < 100 || tried.answers > specs / 3 && tried.conflicts > specs / 3, "{tried:?}");
    assert!(specs < 100 || tried.fixes > specs / 2 && tried.relocks > specs / 8, "{tried:?}");
}
