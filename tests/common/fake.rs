//! Libraries that stand in for NVIDIA's, built from tests/fake with the C compiler that is here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds a source of tests/fake, or any other, as the library of this name in a folder of its own. None: there is no
/// C compiler, and the test says that it is skipped.
pub fn library(test: &str, source: &Path, name: &str) -> Option<PathBuf> {
    library_with(test, source, name, &[])
}

/// The same with options for the compiler.
pub fn library_with(test: &str, source: &Path, name: &str, options: &[&str]) -> Option<PathBuf> {
    let folder = folder(test);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake").join(source);
    let file = folder.join(name);
    let mut command = Command::new("cc");
    command
        .args(["-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"])
        .args(options)
        .arg("-o")
        .arg(&file)
        .arg(&source);
    let Ok(output) = command.output() else {
        println!("skipped: {test}: no cc");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(file)
}

/// An empty folder for this test.
pub fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fake-{test}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The same from a source that is written out here.
pub fn library_of(test: &str, source: &str, name: &str) -> Option<PathBuf> {
    let file = folder(&format!("{test}-source")).join("fake.c");
    fs::write(&file, source).unwrap();
    library(test, &file, name)
}
