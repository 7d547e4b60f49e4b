//! The CUDA toolkits on this machine: where they are, which release each is, and who points to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::host::{ApiError, ProbeStatus, Record, Toolkit};
use crate::types::Version;

use super::context::ProbeContext;
use super::loader;
use super::program::{self, LIMIT};

/// The directories toolkits are installed in, each as `cuda` or `cuda-12.8`.
const ROOTS: &[&str] = &["/usr/local", "/opt"];
/// Variables that name a toolkit's root.
const VARIABLES: &[&str] = &["CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"];
/// More of a version file is not read.
const CAP: u64 = 1 << 20;

/// Looks for toolkits.
pub fn look(context: &ProbeContext, record: &mut Record) {
    let began = Instant::now();
    let mut found: Vec<Toolkit> = Vec::new();
    for variable in VARIABLES {
        if let Some(value) = context.variable(variable).filter(|value| !value.is_empty()) {
            note(context, &mut found, Path::new(value), variable);
        }
    }
    if let Some(nvcc) = program::on_path(context, "nvcc") {
        let resolved = loader::resolve(&context.root, &nvcc).unwrap_or(nvcc);
        if let Some(root) = root_of(context, &resolved) {
            note(context, &mut found, &root, "PATH");
        }
    }
    for root in usual(context) {
        note(context, &mut found, &root, &root.display().to_string());
    }
    let ended = if found.is_empty() { ProbeStatus::Absent } else { ProbeStatus::Done };
    record.toolkits = found;
    record.probes.push(super::told("toolkits", ended, began));
}

/// The toolkits under the usual directories, by name.
fn usual(context: &ProbeContext) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for root in ROOTS {
        let entries = fs::read_dir(context.at(root)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let is_one = |name: &String| name == "cuda" || name.strip_prefix("cuda-").is_some_and(starts_with_digit);
        found.extend(names.filter(is_one).map(|name| Path::new(root).join(name)));
    }
    found.sort_unstable();
    found
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// Adds a toolkit, or who else points to it. What is not there is told with a fault, where somebody points to it.
fn note(context: &ProbeContext, found: &mut Vec<Toolkit>, path: &Path, by: &str) {
    let Some(root) = loader::resolve(&context.root, path) else {
        if VARIABLES.contains(&by) && by != "CONDA_PREFIX" {
            let fault = ApiError { at: by.to_string(), code: None, name: Some("ENOENT".into()), message: None };
            let root = path.display().to_string();
            found.push(Toolkit { root, named_by: vec![by.to_string()], fault: Some(fault), ..Toolkit::default() });
        }
        return;
    };
    let shown = root.display().to_string();
    if let Some(known) = found.iter_mut().find(|known| known.root == shown) {
        if !known.named_by.iter().any(|name| name == by) {
            known.named_by.push(by.to_string());
        }
        return;
    }
    let toolkit = Toolkit { root: shown, named_by: vec![by.to_string()], ..observe(context, &root) };
    // A conda environment need not hold a toolkit, and a directory called cuda may hold libraries only.
    let says_something = toolkit.version.is_some() || toolkit.nvcc_path.is_some();
    if says_something || (VARIABLES.contains(&by) && by != "CONDA_PREFIX") {
        found.push(toolkit);
    }
}

fn observe(context: &ProbeContext, root: &Path) -> Toolkit {
    let nvcc = root.join("bin/nvcc");
    let file = loader::resolve(&context.root, &nvcc);
    let is_run =
        |file: &PathBuf| program::is_program(&context.at(&file.to_string_lossy())) && !context.is_of_project(&nvcc);
    let nvcc_path = file.filter(is_run);
    let mut toolkit = Toolkit {
        version: release(context, root),
        nvcc_path: nvcc_path.as_ref().map(|file| file.display().to_string()),
        ..Toolkit::default()
    };
    if context.is_here() && nvcc_path.is_some() {
        // By the way it was found: nvcc looks for its parts beside the name it is called with.
        let said = program::run(context, &nvcc, &["--version"], LIMIT);
        let version =
            program::version_after(&said.out, ", V").or_else(|| program::version_after(&said.out, "release "));
        toolkit.nvcc = version.and_then(|text| Version::parse(text).ok());
        toolkit.fault = said.fault.or_else(|| {
            let message = Some("it does not say a version".to_string());
            toolkit.nvcc.is_none().then(|| ApiError { at: "nvcc".into(), code: None, name: None, message })
        });
    }
    toolkit
}

/// The root of the toolkit an nvcc belongs to: conda and Debian keep it outside of one.
fn root_of(context: &ProbeContext, nvcc: &Path) -> Option<PathBuf> {
    let root = nvcc.parent()?.parent()?;
    let holds = |root: &Path| program::is_program(&context.at(&root.join("bin/nvcc").to_string_lossy()));
    holds(root).then(|| root.to_path_buf())
}

/// A toolkit's release, from the files it carries: `version.json`, before 11.1 `version.txt`, else its header.
fn release(context: &ProbeContext, root: &Path) -> Option<Version> {
    let read = |name: &str| {
        let file = fs::File::open(context.at(&root.join(name).to_string_lossy())).ok()?;
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(file, CAP), &mut text).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    };
    of_json(&read("version.json").unwrap_or_default())
        .or_else(|| of_text(&read("version.txt").unwrap_or_default()))
        .or_else(|| of_header(&read("include/cuda.h").unwrap_or_default()))
}

/// `{"cuda": {"name": "CUDA SDK", "version": "12.8.1"}, …}`
fn of_json(text: &str) -> Option<Version> {
    let json: serde_json::Value = serde_json::from_str(text).ok()?;
    Version::parse(json.get("cuda")?.get("version")?.as_str()?).ok()
}

/// `CUDA Version 10.2.89`
fn of_text(text: &str) -> Option<Version> {
    Version::parse(program::version_after(text, "CUDA Version ")?).ok()
}

/// `#define CUDA_VERSION 12080`
fn of_header(text: &str) -> Option<Version> {
    let value = text.lines().find_map(|line| line.strip_prefix("#define CUDA_VERSION "))?;
    let number: u32 = value.trim().parse().ok()?;
    (number >= 1000).then(|| Version::parse(&format!("{}.{}", number / 1000, number % 1000 / 10)).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_from_every_file_that_tells_them() {
        let shown = |version: Option<Version>| version.map(|version| version.to_string());
        assert_eq!(shown(of_json(r#"{"cuda": {"name": "CUDA SDK", "version": "12.8.1"}}"#)), Some("12.8.1".into()));
        assert_eq!(shown(of_text("CUDA Version 10.2.89\n")), Some("10.2.89".into()));
        assert_eq!(shown(of_header("#ifndef X\n#define CUDA_VERSION 12080\n")), Some("12.8".into()));
        for garbage in ["", "{}", r#"{"cuda": 12.8}"#, "\u{1b}[2J", "#define CUDA_VERSION x", "CUDA Version \u{fffd}"] {
            assert_eq!(shown(of_json(garbage)), None);
            assert_eq!(shown(of_text(garbage)), None);
            assert_eq!(shown(of_header(garbage)), None);
        }
    }
}
