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
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use laws::Tried;

/// The seeds that every run tries.
const QUICK: Range<u64> = 0..150;

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("GPUENV_RANDOM_SPECS") else { return QUICK };
    let ends = text.split_once("..").and_then(|(first, end)| Some(first.parse().ok()?..end.parse().ok()?));
    ends.unwrap_or_else(|| panic!("GPUENV_RANDOM_SPECS=FIRST..END, not {text}"))
}

#[test]
fn every_answer_keeps_the_laws() {
    let seeds = seeds();
    let (next, found) = (AtomicU64::new(seeds.start), Mutex::new((Vec::new(), Tried::default())));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let case = generate::case(seed);
            let judged = laws::judge(&case);
            let mut found = found.lock().unwrap();
            match judged {
                Ok(tried) => found.1.add(&tried),
                Err(why) => found.0.push((seed, why)),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let (mut wrong, tried) = found.into_inner().unwrap();
    wrong.sort();
    let told: Vec<String> = wrong.iter().take(5).map(|(seed, why)| format!("seed {seed}: {why}")).collect();
    assert!(wrong.is_empty(), "{} of {seeds:?} break a law\n{}", wrong.len(), told.join("\n\n"));
    println!("{tried:?}");
    let specs = (seeds.end - seeds.start) as usize;
    assert!(specs < 100 || tried.answers > specs / 3 && tried.conflicts > specs / 3, "{tried:?}");
    assert!(specs < 100 || tried.fixes > specs / 2 && tried.relocks > specs / 8, "{tried:?}");
}
