//! Which mutant runs. Put into the copy of the checkout by gpuenv-mutants.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// GPUENV_MUTANT, the number of the one that runs.
static CHOSEN: OnceLock<Option<usize>> = OnceLock::new();
/// Those that were asked for once.
static REACHED: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];

/// Whether it is the one with this number. Where GPUENV_MUTANTS_REACHED names a file, each that is asked for is written there.
pub fn is(number: usize) -> bool {
    if !REACHED[number].swap(true, Ordering::Relaxed)
        && let Some(path) = std::env::var_os("GPUENV_MUTANTS_REACHED")
        && let Ok(mut file) = OpenOptions::new().append(true).open(path)
    {
        let _ = file.write_all(format!("{number}\n").as_bytes());
    }
    *CHOSEN.get_or_init(|| std::env::var("GPUENV_MUTANT").ok()?.parse().ok()) == Some(number)
}
