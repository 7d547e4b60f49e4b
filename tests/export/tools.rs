//! The real tools, where they are installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program, looked for in `$GPUENV_TEST_TOOLS/bin` and on PATH; says so if it is missing.
pub fn find(program: &str) -> Option<PathBuf> {
    let tools = std::env::var_os("GPUENV_TEST_TOOLS").map(|tools| Path::new(&tools).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = tools.into_iter().chain(std::env::split_paths(&path)).map(|directory| directory.join(program));
    let found = found.into_iter().find(|candidate| candidate.is_file());
    if found.is_none() {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// A new empty folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("export").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs it and fails with all it said unless it succeeds.
pub fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
