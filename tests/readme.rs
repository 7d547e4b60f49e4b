//! The README is true: its commands are run again and must say what it shows, its figures among them.
//! `UPDATE_EXAMPLES=1 cargo test --test readme` writes what comes out instead.
//!
//! A block of kind `console` holds commands after `$ ` and what they print, stdout and stderr as they come. It starts
//! in a copy of the root spec, its lock and the examples. `cargo run --release --` stands for the command itself.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compares with what is in the README, or writes it there.
fn keep(told: impl Fn(&str) -> String) {
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    let readme = root().join("README.md");
    let kept = fs::read_to_string(&readme).unwrap();
    let told = told(&kept);
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(&readme, told).unwrap();
    } else {
        assert_eq!(kept, told, "UPDATE_EXAMPLES=1 cargo test --test readme rewrites the README");
    }
}

#[test]
fn commands_say_what_is_shown() {
    keep(|readme| {
        let mut told = String::new();
        let mut rest = readme;
        let mut blocks = 0;
        while let Some((before, block)) = rest.split_once("```console\n") {
            let (block, after) = block.split_once("```\n").expect("every block ends");
            let _ = write!(told, "{before}```console\n{}```\n", run(block, blocks));
            (rest, blocks) = (after, blocks + 1);
        }
        assert!(blocks > 5);
        told + rest
    });
}

/// The block with what its commands print now.
fn run(block: &str, number: usize) -> String {
    let mut folder = copy(number);
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

/// A place to run a block in.
fn copy(number: usize) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme").join(number.to_string());
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for file in ["gpuenv.toml", "gpuenv.lock"] {
        fs::copy(root().join(file), folder.join(file)).unwrap();
    }
    for example in fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path()) {
        let into = folder.join("examples").join(example.file_name().unwrap());
        for file in fs::read_dir(&example).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if file.is_file() {
                fs::create_dir_all(&into).unwrap();
                fs::copy(&file, into.join(file.file_name().unwrap())).unwrap();
            }
        }
    }
    folder
}

#[test]
fn every_key_and_format_is_explained() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains("(docs/spec.md)"), "the README does not lead to the keys of gpuenv.toml");
    for format in gpuenv::export::FORMATS {
        assert!(readme.contains(&format!("gpuenv export {}", format.name)), "{}", format.name);
    }
}
