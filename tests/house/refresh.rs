//! The tool that keeps the catalog whole: rows that are taken out come back from recorded answers of the index, and of what
//! registries and publishers list beside it.

use std::path::Path;
use std::process::{Command, Stdio};

/// The tool needs Python 3.11 and pip, as docs/catalog.md says.
fn can_run() -> bool {
    let asks = "import sys, tomllib, pip._vendor.packaging.version; sys.exit(sys.version_info < (3, 11))";
    let status = Command::new("python3").args(["-c", asks]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Runs a part of the tool; false where it cannot run here.
fn run(tool: &str, arguments: &[&str]) -> bool {
    if !can_run() {
        return false;
    }
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("catalog/measure").join(tool);
    let ran = Command::new("python3").arg(tool).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{arguments:?}: {said}{}", String::from_utf8_lossy(&ran.stderr));
    true
}

#[test]
fn rows_that_are_taken_out_come_back() {
    // Others are taken out in each process, and which ones a failure names: its seed.
    run("test_refresh.py", &[&std::process::id().to_string()]);
}

#[test]
fn what_is_listed_beside_the_index_comes_back() {
    run("test_feeds.py", &[&std::process::id().to_string()]);
}

#[test]
fn the_program_takes_an_overlay_that_the_tool_wrote() {
    let file = std::env::temp_dir().join(format!("gpuenv-refresh-{}.toml", std::process::id()));
    if run("test_feeds.py", &["overlay", file.to_str().unwrap()]) {
        let checked =
            Command::new(env!("CARGO_BIN_EXE_gpuenv")).args(["catalog", "check"]).arg(&file).output().unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}

#[test]
fn answers_that_change_are_counted_with_their_reason() {
    run("test_answers.py", &[]);
}

#[test]
fn listings_and_metadata_are_read_as_they_are_meant() {
    run("test_reading.py", &[]);
}

#[test]
fn an_index_that_does_not_answer_takes_nothing_away() {
    run("test_answering.py", &[]);
}

#[test]
fn code_of_libraries_that_are_linked_in_does_not_count() {
    run("test_kernels.py", &[]);
}
