//! Every example is made again by the command itself and must come out as it is kept: what `gpuenv lock` says, the
//! lock, the exports. What any row of the catalog changes (its version, digests, where a fact was looked up) may be
//! older. `UPDATE_EXAMPLES=1 cargo test --test book examples::` writes what comes out instead.
//!
//! A folder of `examples/` holds a README.md, specs (`gpuenv.toml` and, where there is more to tell, others) and what
//! comes of them:
//!
//! | file | what it is |
//! |---|---|
//! | `NAME.txt` | what `gpuenv lock` says of `NAME.toml` |
//! | `NAME.json` | the same for programs, where the answer is no |
//! | `gpuenv.lock` | the lock of `gpuenv.toml` |
//! | `exports/`, `exports/TARGET/` | the lock rendered in every format that suits |

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::{golden, parallel, tools};

/// A file's path within its example, and its content.
type Files = BTreeMap<String, Vec<u8>>;

/// The exports that an example keeps: the file's name and the command's arguments.
const EXPORTS: &[(&str, &[&str])] = &[
    ("Dockerfile", &["dockerfile"]),
    ("requirements.txt", &["requirements"]),
    ("pyproject.toml", &["uv"]),
    ("env.sh", &["env"]),
    ("env.fish", &["env", "--shell", "fish"]),
    ("stack.json", &["json"]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn updating() -> bool {
    std::env::var_os("UPDATE_EXAMPLES").is_some()
}

/// The folders of `examples/`, by name.
fn examples() -> BTreeMap<String, PathBuf> {
    let folders = fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let folders = folders.filter(|path| path.is_dir());
    folders.map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), path)).collect()
}

fn gpuenv(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuenv"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null()).env("SOURCE_DATE_EPOCH", "0").output().unwrap()
}

/// Every file below a folder, by its path there.
fn files_below(folder: &Path) -> Files {
    let mut files = Files::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if path.is_dir() {
            files.extend(files_below(&path).into_iter().map(|(below, content)| (format!("{name}/{below}"), content)));
        } else {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    files
}

/// What somebody wrote, as opposed to what gpuenv makes of it.
fn is_written(path: &str) -> bool {
    path == "README.md" || (path.ends_with(".toml") && !path.contains('/'))
}

/// All that comes of an example's specs, made in a folder of its own.
fn made(example: &str, written: &Files) -> Files {
    let folder = tools::folder(&format!("../examples/{example}"));
    let mut files = Files::new();
    for (path, content) in written {
        fs::write(folder.join(path), content).unwrap();
    }
    for spec in written.keys().filter_map(|path| path.strip_suffix(".toml")) {
        let (toml, lock) = (format!("{spec}.toml"), format!("{spec}.lock"));
        let files_of = ["lock", "--fresh", "--spec", &toml, "--lock", &lock];
        let said = gpuenv(&folder, &files_of);
        assert!(said.stdout.is_empty(), "{example}/{toml}");
        files.insert(format!("{spec}.txt"), said.stderr);
        if !said.status.success() {
            assert_ne!(spec, "gpuenv", "{example}: the main spec has no answer");
            files.insert(
                format!("{spec}.json"),
                gpuenv(&folder, &[&files_of[..], &["--format", "json"]].concat()).stdout,
            );
        }
    }
    files.insert("gpuenv.lock".into(), fs::read(folder.join("gpuenv.lock")).expect("gpuenv.toml is locked"));
    files.extend(exports(&folder));
    files
}

/// The lock in every format that suits: once, or for each target where they differ.
fn exports(folder: &Path) -> Files {
    let lock: serde_json::Value = serde_json::from_slice(&gpuenv(folder, &["export", "json"]).stdout).unwrap();
    let targets = lock["targets"].as_object().unwrap();
    let mut files = Files::new();
    for (file, arguments) in EXPORTS {
        let export = [&["export"], *arguments].concat();
        let common = gpuenv(folder, &export);
        let differs = String::from_utf8_lossy(&common.stderr).contains("[target-needed]");
        for (name, target) in targets {
            // Without a toolkit there is little to set, and in a container the Dockerfile does it.
            if arguments[0] == "env" && (target["toolkit"].is_null() || target["runtime"] != "bare-metal") {
                continue;
            }
            let (path, output) = if differs {
                (format!("exports/{name}/{file}"), gpuenv(folder, &[&export[..], &["--target", name]].concat()))
            } else {
                (format!("exports/{file}"), common.clone())
            };
            // A format that cannot say what is locked refuses; that is no example of it.
            if output.status.success() {
                files.insert(path, output.stdout);
            }
        }
    }
    files
}

/// Writes what was made and removes what is no longer made.
fn rewrite(folder: &Path, made: &Files) {
    for path in files_below(folder).keys().filter(|path| !is_written(path) && !made.contains_key(*path)) {
        fs::remove_file(folder.join(path)).unwrap();
    }
    for (path, content) in made {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

#[test]
fn every_example_comes_out_as_it_is_kept() {
    let examples: Vec<(String, PathBuf)> = examples().into_iter().collect();
    parallel::each(&examples, |(example, folder)| comes_out_as_kept(example, folder));
}

fn comes_out_as_kept(example: &str, folder: &Path) {
    let (written, kept): (Files, Files) = files_below(folder).into_iter().partition(|(path, _)| is_written(path));
    assert!(written.contains_key("README.md") && written.contains_key("gpuenv.toml"), "{example}");
    let made = made(example, &written);
    if updating() {
        return rewrite(folder, &made);
    }
    let names = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&kept), names(&made), "{example}: other files; UPDATE_EXAMPLES=1 rewrites them");
    for (path, content) in &made {
        let [kept, made] = [&kept[path], content].map(|text| golden::about(&String::from_utf8_lossy(text)));
        assert_eq!(kept, made, "examples/{example}/{path}; UPDATE_EXAMPLES=1 rewrites it");
    }
}

#[test]
fn the_root_spec_has_its_lock() {
    let folder = tools::folder("../examples-root");
    fs::copy(root().join("gpuenv.toml"), folder.join("gpuenv.toml")).unwrap();
    assert!(gpuenv(&folder, &["lock", "--fresh"]).status.success());
    let made = fs::read_to_string(folder.join("gpuenv.lock")).unwrap();
    if updating() {
        fs::write(root().join("gpuenv.lock"), made).unwrap();
    } else {
        let kept = fs::read_to_string(root().join("gpuenv.lock")).unwrap();
        assert_eq!(golden::about(&kept), golden::about(&made));
    }
}

#[test]
fn every_example_is_listed() {
    let list = fs::read_to_string(root().join("examples/README.md")).unwrap();
    for example in examples().keys() {
        assert!(list.contains(&format!("({example}/)")), "examples/README.md does not link {example}");
    }
    assert_eq!(list.matches("/)").count(), examples().len(), "examples/README.md links what is not there");
}

#[test]
fn the_tools_that_read_the_exports_accept_them() {
    if updating() {
        return; // The files are being written.
    }
    // DL3059 wants one RUN for all: layers apart let a change of one wheel keep the Python below it.
    check("Dockerfile", "hadolint", &["--no-color", "--ignore", "DL3059"]);
    check("env.sh", "bash", &["-n"]);
    check("env.sh", "shellcheck", &["--norc"]);
    check("env.fish", "fish", &["--no-execute"]);
    // Reads the requirements as pip does and asks no index: every pin must be one that can be understood.
    check("requirements.txt", "python3", &["-c", REQUIREMENTS]);
    for file in exported("pyproject.toml") {
        let project: toml::Table = toml::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert!(project.contains_key("project"), "{}", file.display());
    }
    for file in exported("stack.json") {
        let stack: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(stack["status"], "ok", "{}", file.display());
    }
}

const REQUIREMENTS: &str = r#"
import sys
try:
    import pip
except ImportError:
    sys.exit()
from pip._internal.network.session import PipSession
from pip._internal.req.req_file import parse_requirements
from pip._vendor.packaging.requirements import Requirement
found = [Requirement(line.requirement) for line in parse_requirements(sys.argv[1], session=PipSession())]
# What a wheel asks for beside it is a range; everything that is locked is one release.
ranges = ["numpy", "setuptools"]
assert found and all(each.name in ranges or str(each.specifier).startswith("==") for each in found), found
"#;

fn exported(file: &str) -> Vec<PathBuf> {
    let of = |folder: PathBuf| files_below(&folder).into_keys().map(move |path| folder.join(path)).collect::<Vec<_>>();
    let files: Vec<PathBuf> = examples().into_values().flat_map(of).filter(|path| path.ends_with(file)).collect();
    assert!(!files.is_empty(), "no example exports {file}");
    files
}

fn check(file: &str, program: &str, arguments: &[&str]) {
    let Some(program) = tools::find(program) else { return };
    for file in exported(file) {
        tools::succeed(Command::new(&program).args(arguments).arg(file));
    }
}
