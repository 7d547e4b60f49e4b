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

fn run(tool: &str, argument: &str) {
    if !can_run() {
        return;
    }
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("catalog/measure").join(tool);
    let ran = Command::new("python3").arg(tool).arg(argument).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{argument}: {said}{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn rows_that_are_taken_out_come_back() {
    // Others are taken out in each process, and which ones a failure names: its seed.
    run("test_refresh.py", &std::process::id().to_string());
}

#[test]
fn what_is_listed_beside_the_index_comes_back() {
    run("test_feeds.py", &std::process::id().to_string());
}

#[test]
fn answers_that_change_are_counted_with_their_reason() {
    run("test_answers.py", "");
}
