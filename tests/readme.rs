//! The README is true: its commands are run again and must say what it shows. Of the catalog's own figures, which every
//! row changes, a twentieth more or less will do; its version and digests may be older.
//! `UPDATE_EXAMPLES=1 cargo test --test readme` writes what comes out instead.
//!
//! A block of kind `console` holds commands after `$ ` and what they print, stdout and stderr as they come. It starts
//! in a copy of the root spec and the examples, locked anew. `cargo run --release --` stands for the command itself.

#[path = "common/golden.rs"]
mod golden;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Prints figures of the catalog.
const FIGURES: &str = "$ gpuenv catalog\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn commands_say_what_is_shown() {
    let file = root().join("README.md");
    let readme = fs::read_to_string(&file).unwrap();
    let locked = locked();
    let (mut told, mut wrong, mut blocks) = (String::new(), Vec::new(), 0);
    let mut rest = readme.as_str();
    while let Some((before, block)) = rest.split_once("```console\n") {
        let (block, after) = block.split_once("```\n").expect("every block ends");
        let found = run(block, &locked, blocks);
        let [kept, now] = [block, &found].map(golden::about);
        if !(kept == now || block.starts_with(FIGURES) && golden::nearly(&kept, &now)) {
            wrong.push(format!("shown\n{block}\nfound\n{found}"));
        }
        let _ = write!(told, "{before}```console\n{found}```\n");
        (rest, blocks) = (after, blocks + 1);
    }
    assert!(blocks > 5);
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(&file, told + rest).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "UPDATE_EXAMPLES=1 cargo test --test readme rewrites it\n{}", wrong.join("\n\n"));
}

/// The block with what its commands print now.
fn run(block: &str, locked: &Path, number: usize) -> String {
    let mut folder = place(&number.to_string());
    copy(locked, &folder);
    let mut told = String::new();
    for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let _ = writeln!(told, "$ {line}");
        if let Some(into) = line.strip_prefix("cd ") {
            folder.push(into);
            continue;
        }
        let command = line.replace("cargo run --release --", "gpuenv");
        told += &printed(&folder, &command);
    }
    told
}

fn printed(folder: &Path, command: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_gpuenv")).parent().unwrap().to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path))).unwrap();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(folder)
        .env("PATH", path)
        .env_remove("GPUENV_CUDA_HOME")
        // No catalog is old on the day that all counting begins with.
        .env("SOURCE_DATE_EPOCH", "0")
        .stdin(Stdio::null());
    String::from_utf8(shell.output().unwrap().stdout).unwrap()
}

/// An empty folder.
fn place(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// What a block begins with: the root spec and the examples with locks of this catalog.
fn locked() -> PathBuf {
    let folder = place("locked");
    fs::copy(root().join("gpuenv.toml"), folder.join("gpuenv.toml")).unwrap();
    printed(&folder, "gpuenv lock --fresh");
    copy(&root().join("examples"), &folder.join("examples"));
    for example in fs::read_dir(folder.join("examples")).unwrap().map(|entry| entry.unwrap().path()) {
        if example.is_dir() {
            printed(&example, "gpuenv lock --fresh");
            assert!(example.join("gpuenv.lock").exists(), "{}", example.display());
        }
    }
    folder
}

fn copy(from: &Path, into: &Path) {
    fs::create_dir_all(into).unwrap();
    for path in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let copied = into.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, copied).unwrap();
        }
    }
}

#[test]
fn every_key_and_format_is_explained() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains("(docs/spec.md)"), "the README does not lead to the keys of gpuenv.toml");
    for format in gpuenv::export::FORMATS {
        assert!(readme.contains(&format!("gpuenv export {}", format.name)), "{}", format.name);
    }
}
