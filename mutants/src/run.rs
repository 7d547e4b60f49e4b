//! The tests, with each mutant in turn.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

/// Suites that take minutes for what says nothing of the code: mutants of the catalog.
const TOO_SLOW: [&str; 1] = ["mutants-"];

/// What a suite does without a mutant.
struct Suite<'p> {
    program: &'p Path,
    seconds: Duration,
    reaches: BTreeSet<usize>,
    /// How many mutants it has noticed.
    noticed: usize,
}

/// The numbers of those that no suite notices.
pub fn survivors(programs: &[PathBuf], count: usize, folder: &Path) -> Result<Vec<usize>> {
    let mut suites = Vec::new();
    for program in programs {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if TOO_SLOW.iter().any(|suite| name.starts_with(suite)) {
            continue;
        }
        let record = folder.join("../reached");
        File::create(&record)?;
        let begun = Instant::now();
        if !passes(
            program,
            folder,
            Duration::from_secs(900),
            &[("GPUENV_MUTANTS_REACHED", &record.display().to_string())],
        )? {
            println!("not asked, for it fails on the copy: {}", program.display());
            continue;
        }
        let reaches = fs::read_to_string(&record)?.lines().filter_map(|line| line.parse().ok()).collect();
        suites.push(Suite { program, seconds: begun.elapsed(), reaches, noticed: 0 });
    }
    let mut survived = Vec::new();
    for mutant in 0..count {
        // The suite that says most in a second is asked first.
        suites.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
        let mut noticed = false;
        for suite in suites.iter_mut().filter(|suite| suite.reaches.contains(&mutant)) {
            let limit = suite.seconds * 3 + Duration::from_secs(10);
            if !passes(suite.program, folder, limit, &[("GPUENV_MUTANT", &mutant.to_string())])? {
                suite.noticed += 1;
                noticed = true;
                break;
            }
        }
        println!("{mutant}: {}", if noticed { "noticed" } else { "SURVIVED" });
        if !noticed {
            survived.push(mutant);
        }
    }
    Ok(survived)
}

fn worth(suite: &Suite<'_>) -> f64 {
    (suite.noticed + 1) as f64 / (suite.seconds.as_secs_f64() + 0.1)
}

/// Whether a suite passes within a time.
fn passes(program: &Path, folder: &Path, limit: Duration, variables: &[(&str, &str)]) -> Result<bool> {
    let mut command = Command::new(program);
    command.current_dir(folder).envs(variables.iter().copied());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if begun.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        thread::sleep(Duration::from_millis(10));
    }
}
