//! Written specs instead of random ones: every gpuenv.toml below a folder, and specs inside text files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::generate::{Case, Step};

/// Between spec and report in tests/reports.
const REPORT: &str = "\n==== stderr ====\n";

/// Every spec at a place. A folder is searched with those below it. Of a text file each part that opens with
/// `# NAME expect …` is a spec.
pub fn cases(place: &Path) -> std::io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for file in files(place)? {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let name = file.display().to_string();
        if let Some((spec, _)) = text.split_once(REPORT) {
            cases.push(locked(name, spec, Vec::new()));
        } else if text.starts_with("# ") && text.lines().next().is_some_and(|line| line.contains(" expect ")) {
            cases.extend(parts(&name, &text));
        } else if is_spec(&text) {
            cases.push(locked(name, &text, beside(&file, &text)?));
        }
    }
    Ok(cases)
}

fn files(place: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !place.is_dir() {
        return Ok(vec![place.to_path_buf()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(place)? {
        let path = entry?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if matches!(ending, Some("toml" | "txt")) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn is_spec(text: &str) -> bool {
    let table = |head: &str| text.lines().any(|line| line.trim_start().starts_with(head));
    table("[target") && (table("[stack") || table("[build"))
}

/// The overlays that a spec names, and its lock, which stands beside it.
fn beside(file: &Path, text: &str) -> std::io::Result<Vec<(String, String)>> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let lock = name == "gpuenv.lock" && file.ends_with("gpuenv.toml");
        let wanted = lock || path != file && text.contains(&format!("\"{name}\""));
        if let (true, Ok(text)) = (wanted && path.is_file(), fs::read_to_string(&path)) {
            found.push((name.to_string(), text));
        }
    }
    Ok(found)
}

/// Locks afresh, then again with the lock that came of it; where one was there already, with that one first.
fn locked(name: String, spec: &str, mut files: Vec<(String, String)>) -> Case {
    let has_lock = files.iter().any(|(name, _)| name == "gpuenv.lock");
    files.push(("gpuenv.toml".to_string(), spec.to_string()));
    let mut steps = vec![Step { files, args: Vec::new() }];
    if has_lock {
        steps.push(Step { files: Vec::new(), args: vec!["--fresh".to_string()] });
    }
    Case { name, steps }
}

fn parts(file: &str, text: &str) -> Vec<Case> {
    let mut cases: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("# ").and_then(|rest| rest.split_once(" expect ")) {
            Some((id, _)) => cases.push((format!("{file}:{id}"), String::new())),
            None => {
                if let Some((_, spec)) = cases.last_mut() {
                    *spec += line;
                    spec.push('\n');
                }
            }
        }
    }
    cases.into_iter().map(|(name, spec)| locked(name, &spec, Vec::new())).collect()
}
