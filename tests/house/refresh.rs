//! The tool that keeps the catalog whole: rows that are taken out come back from recorded answers of the index.

use std::path::Path;
use std::process::{Command, Stdio};

/// The tool needs Python 3.11 and pip, as docs/catalog.md says.
fn can_run() -> bool {
    let asks = "import sys, tomllib, pip._vendor.packaging.version; sys.exit(sys.version_info < (3, 11))";
    let status = Command::new("python3").args(["-c", asks]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn rows_that_are_taken_out_come_back() {
    if !can_run() {
        return;
    }
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("catalog/measure/test_refresh.py");
    // Others are taken out in each process, and which ones a failure names.
    let seed = std::process::id().to_string();
    let ran = Command::new("python3").arg(tool).arg(&seed).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "seed {seed}: {said}{}", String::from_utf8_lossy(&ran.stderr));
}
