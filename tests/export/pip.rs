//! `requirements`: one index, another index, or both without mixing them.

use std::process::Command;

use gpuenv::export::ExportError;

use crate::{locks, render, tools};

fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_default_index_needs_no_line() {
    assert_eq!(without_comments(&render("requirements", &locks::public_index()).unwrap()), "torch==2.5.1\n");
}

#[test]
fn one_other_index_replaces_the_default() {
    assert_eq!(
        without_comments(&render("requirements", &locks::container()).unwrap()),
        format!("--index-url {}\ntorch==2.5.1+cu124\n", locks::CU124)
    );
}

#[test]
fn mixed_wheels_come_from_their_own_pages() {
    assert_eq!(
        without_comments(&render("requirements", &locks::two_indexes()).unwrap()),
        format!("--find-links {}/torch/\ntorch==2.5.1+cu124\ntensorflow==2.18.0\n", locks::CU124)
    );
}

#[test]
fn mixed_wheels_that_no_label_tells_apart_are_refused() {
    let mut lock = locks::two_indexes();
    lock.wheel[0].version = "2.5.1".into();
    let error = render("requirements", &lock).unwrap_err();
    assert!(matches!(error, ExportError::Ambiguous { .. }), "{error}");
}

#[test]
fn the_python_is_a_comment_and_no_marker() {
    let text = render("requirements", &locks::container()).unwrap();
    assert!(text.contains("# For Python 3.11 on Linux x86_64.\n"));
    assert!(!text.contains("python_version"));
}

#[test]
fn nothing_to_install_is_an_error() {
    let mut lock = locks::container();
    lock.wheel.clear();
    assert_eq!(render("requirements", &lock), Err(ExportError::NothingToInstall));
    assert_eq!(render("uv", &lock), Err(ExportError::NothingToInstall));
}

#[test]
fn pip_takes_mixed_wheels_from_their_own_pages() {
    let Some(python) = tools::find("python3") else { return };
    if !Command::new(&python).args(["-m", "pip", "--version"]).output().unwrap().status.success() {
        eprintln!("skipped: pip is not installed");
        return;
    }
    let folder = tools::folder("pip");
    let indexes = tools::Indexes::publish(&python, &folder);
    let text = render("requirements", &locks::two_indexes()).unwrap().replace(locks::CU124, &indexes.private);
    std::fs::write(folder.join("requirements.txt"), text).unwrap();
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "--isolated", "--disable-pip-version-check", "download", "--no-cache-dir"]);
    pip.args(["--index-url", &indexes.public, "--dest", "got", "--requirement", "requirements.txt"]);
    tools::succeed(pip.current_dir(&folder));
    let mut got: Vec<String> = std::fs::read_dir(folder.join("got"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|file| file.replace("-py3-none-any.whl", ""))
        .collect();
    got.sort();
    assert_eq!(got, ["nvidia_cublas_cu12-12.4.5.8", "tensorflow-2.18.0", "torch-2.5.1+cu124"]);
}
