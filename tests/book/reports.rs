//! What people read when nothing fits: typical conflicts and the very words they get, as files in tests/reports.
//!
//! A file holds the spec and below it what stderr says, but for the catalog's version. `UPDATE_REPORTS=1` writes the
//! latter anew.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{golden, parallel};

/// Between the spec and the report.
const DIVIDER: &str = "\n==== stderr ====\n";
/// What fits a screen.
const LINES: usize = 25;
/// The same where several conflicts that have nothing to do with each other are told.
const LINES_OF_SEVERAL: usize = 40;
const COLUMNS: usize = 80;
/// Words of solvers that say nothing to people.
const JARGON: &[&str] = &["unsat", "clause", "core", "constraint solver", "derived", "leaf"];

#[test]
fn typical_conflicts_read_as_written_down() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports");
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 40, "there are {} reports", files.len());
    let wrong: Vec<String> = parallel::each(&files, |file| complaints(file)).into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What is wrong with a report; where they are written anew, only what none may be.
fn complaints(file: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    let name = file.file_stem().unwrap().to_str().unwrap();
    let text = fs::read_to_string(file).unwrap();
    let (spec, expected) = text.split_once(DIVIDER).unwrap_or((text.trim_end(), ""));
    let found = report(name, spec);
    if std::env::var_os("UPDATE_REPORTS").is_some() {
        fs::write(file, format!("{spec}{DIVIDER}{found}")).unwrap();
    } else if golden::about(&found) != golden::about(expected) {
        wrong.push(format!("{name}: expected\n{expected}\nfound\n{found}"));
    }
    let columns = found.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let conflicts = found.lines().filter(|line| line.starts_with("error[")).count();
    let most = if conflicts > 1 { LINES_OF_SEVERAL } else { LINES };
    if found.lines().count() > most || columns > COLUMNS {
        wrong.push(format!("{name} has {} lines and {columns} columns:\n{found}", found.lines().count()));
    }
    wrong.extend(JARGON.iter().filter(|word| found.contains(*word)).map(|word| format!("{name} says {word:?}")));
    wrong
}

/// What stderr says of a spec that has no answer.
fn report(name: &str, spec: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("report-{name}"));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("gpuenv.toml"), spec).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuenv"));
    command.current_dir(&folder).arg("lock").stdin(Stdio::null()).env("LC_ALL", "C").env("SOURCE_DATE_EPOCH", "0");
    let output = command.output().unwrap();
    let found = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{name}: {found}");
    assert!(!folder.join("gpuenv.lock").exists(), "{name}");
    fs::remove_dir_all(&folder).unwrap();
    found
}
