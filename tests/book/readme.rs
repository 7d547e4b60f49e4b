//! The README and the pages of docs/ are true: their commands are run again and must say what is shown. Of the catalog's
//! own figures, which every row changes, a twentieth more or less will do; its version and digests may be older.
//! `UPDATE_EXAMPLES=1 cargo test --test book readme::` writes what comes out instead.
//!
//! A block of kind `console` holds commands after `$ ` and what they print, stdout and stderr as they come. It starts
//! in a copy of the root spec and the examples, locked anew; one of kind `console,continues` where the block before it
//! ended.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gpuenv::catalog::BUILTIN;
use gpuenv::meaning;
use gpuenv::nearest::nearest;
use regex::Regex;

use crate::common::{golden, parallel};
use crate::description;

/// Prints figures of the catalog.
const FIGURES: &str = "$ gpuenv catalog\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The README and every page of docs/.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|ending| ending == "md") => pages.push(path),
                false => {}
            }
        }
    }
    pages.sort();
    pages
}

#[test]
fn commands_say_what_is_shown() {
    let locked = locked("shown");
    let wrong = parallel::each(&pages(), |page| checked(page, &locked));
    let mut wrong: Vec<String> = wrong.into_iter().flatten().collect();
    wrong.extend(description::checked());
    assert!(
        wrong.is_empty(),
        "UPDATE_EXAMPLES=1 cargo test --test book readme:: rewrites them\n{}",
        wrong.join("\n\n")
    );
}

/// What a page shows otherwise than it is.
fn checked(page: &Path, locked: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let name = page.strip_prefix(root()).unwrap().display().to_string();
    let (mut told, mut wrong, mut blocks) = (String::new(), Vec::new(), 0);
    let mut folder = PathBuf::new();
    let mut rest = text.as_str();
    while let Some((before, block)) = rest.split_once("```console") {
        let (kind, block) = block.split_once('\n').expect("a block has lines");
        let (block, after) = block.split_once("```\n").expect("every block ends");
        if kind != ",continues" {
            assert!(kind.is_empty(), "{name}: {kind}");
            folder = place(&format!("{}-{blocks}", name.replace(['/', '.'], "-")));
            copy(locked, &folder);
        }
        let found = run(block, &mut folder);
        let [kept, now] = [block, &found].map(golden::about);
        if !(kept == now || block.starts_with(FIGURES) && golden::nearly(&kept, &now)) {
            wrong.push(format!("{name}\nshown\n{block}\nfound\n{found}"));
        }
        let _ = write!(told, "{before}```console{kind}\n{found}```\n");
        (rest, blocks) = (after, blocks + 1);
    }
    if std::env::var_os("UPDATE_EXAMPLES").is_some() && !wrong.is_empty() {
        fs::write(page, told + rest).unwrap();
        return Vec::new();
    }
    wrong
}

#[test]
fn the_readme_is_read_in_five_minutes_and_shows_the_way_to_every_page() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let lines = readme.lines().count();
    assert!(lines <= 200, "{lines} lines");
    assert!(readme.matches("```console").count() >= 4);
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for page in pages() {
        let name = page.strip_prefix(root()).unwrap().to_str().unwrap();
        let Some(name) = name.strip_prefix("docs/").filter(|name| *name != "SUMMARY.md") else { continue };
        assert!(summary.contains(&format!("({name})")), "docs/SUMMARY.md does not name {name}");
        assert!(name == "index.md" || readme.contains(&format!("(docs/{name})")), "README.md does not name {name}");
    }
}

/// What lies on another machine or is not yet there: such a command can at least be typed.
const ELSEWHERE: &[&str] = &["-2026.12.01", " 2026.12.01", "my_ops-1.0", "node.json"];

/// Blocks of kind `sh` show what depends on the machine: their commands of gpuenv are run, what they print is not kept.
#[test]
fn commands_whose_output_is_not_shown_run() {
    let locked = locked("run");
    let mut seen = 0;
    for (at, page) in pages().into_iter().enumerate() {
        let text = fs::read_to_string(&page).unwrap();
        for (number, block) in text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).enumerate() {
            let folder = place(&format!("sh-{at}-{number}"));
            copy(&locked, &folder);
            for line in block.lines().filter(|line| line.starts_with("gpuenv ") || line.starts_with("mkdir ")) {
                let is_elsewhere = ELSEWHERE.iter().any(|name| line.contains(name));
                let typed = line.split(['>', '|', '#', ';', '&']).next().unwrap().trim_end();
                let command = if is_elsewhere { format!("{typed} --help") } else { line.to_string() };
                let home = format!(
                    "export HOME=\"$PWD/home\" PROFILE=\"$PWD/profile\"; mkdir -p home; {command}\necho \"exit code $?\""
                );
                let told = printed(&folder, &home);
                let code = told.trim_end().rsplit(' ').next().unwrap().to_string();
                // A machine without a driver cannot be judged, and fits no lock.
                assert!(["0", "1", "3"].contains(&code.as_str()), "{}: `{line}`\n{told}", page.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

/// Names beside those of the program that look like slips of one.
const OTHERS: &[&str] = &["cuda-toolkit", "image-tags", "pytorch-cuda"];

/// What a page shows of the program is run: no block is a picture of it, and no sentence names a rule, warning, error, check or
/// message that there is not.
#[test]
fn what_pages_name_is_there() {
    let of_kind = Regex::new(r"(?:rule|law|warning|error|check|message)s?[ \n]+`([^`]+)`").unwrap();
    let alike = Regex::new("`([a-z][a-z0-9.]*(?:-[a-z0-9.]+)+)`").unwrap();
    let rules = BUILTIN.rules.iter().map(|row| &*row.id).chain(BUILTIN.laws.iter().map(|row| &*row.id));
    let codes = [meaning::ERRORS, meaning::WARNINGS, meaning::CHECKS].concat();
    let ids: BTreeSet<&str> = rules.chain(BUILTIN.diagnoses.iter().map(|row| &*row.code)).collect();
    let ids: BTreeSet<&str> = ids.into_iter().chain(codes.iter().map(|one| one.code)).collect();
    let mut wrong = Vec::new();
    for page in pages().into_iter().filter(|page| !page.starts_with(root().join("docs/reference"))) {
        let text = fs::read_to_string(&page).unwrap();
        assert!(!text.contains("```text"), "{}: show what is run as `console`", page.display());
        let prose: String = text.split("```").step_by(2).collect();
        let named = of_kind.captures_iter(&prose).filter(|found| !ids.contains(&found[1]));
        let slips = alike.captures_iter(&prose).filter(|found| {
            let word = &found[1];
            !ids.contains(word) && !OTHERS.contains(&word) && nearest(word, ids.iter().copied()).is_some()
        });
        wrong.extend(named.chain(slips).map(|found| format!("{}: {}", page.display(), &found[0])));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Links between files of the project lead to files that exist, and to headings that they have.
#[test]
fn no_link_is_dead() {
    let mut others: Vec<PathBuf> =
        ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "examples/README.md"].map(|name| root().join(name)).into();
    others.extend(pages());
    let (mut seen, mut dead) = (0, Vec::new());
    for page in others {
        let text = fs::read_to_string(&page).unwrap();
        for (at, _) in text.match_indices("](") {
            let to = text[at + 2..].split(')').next().unwrap();
            if to.contains("://") || to.starts_with("mailto:") {
                continue;
            }
            seen += 1;
            let (file, heading) = to.split_once('#').unwrap_or((to, ""));
            let file = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let found = file.exists() && (heading.is_empty() || has_heading(&file, heading));
            if !found {
                dead.push(format!("{}: {to}", page.display()));
            }
        }
    }
    assert!(dead.is_empty() && seen > 60, "{seen} links\n{}", dead.join("\n"));
}

/// Whether a page has a heading of this anchor.
fn has_heading(page: &Path, anchor: &str) -> bool {
    let text = fs::read_to_string(page).unwrap();
    let anchor_of = |heading: &str| -> String {
        let kept = heading.to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
    };
    text.lines()
        .filter(|line| line.starts_with('#'))
        .any(|line| anchor_of(line.trim_start_matches(['#', ' '])) == anchor)
}

/// The block with what its commands print now; `folder` is where it begins and then where it ends.
fn run(block: &str, folder: &mut PathBuf) -> String {
    let mut told = String::new();
    for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let _ = writeln!(told, "$ {line}");
        match line.strip_prefix("cd ") {
            Some(into) => folder.push(into),
            None => told += &printed(folder, line),
        }
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

/// What a block begins with: the root spec and the examples with locks of this catalog. Each test has its own, for they run
/// beside each other.
fn locked(test: &str) -> PathBuf {
    let folder = place(&format!("locked-{test}"));
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
fn every_format_is_explained() {
    let page = fs::read_to_string(root().join("docs/exports.md")).unwrap();
    for format in gpuenv::export::FORMATS {
        assert!(page.contains(&format!("| `{}` |", format.name)), "docs/exports.md does not tell of {}", format.name);
    }
}
