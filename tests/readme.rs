//! The README is true: its commands are run again and must say what it shows, and its figures are counted again.
//! `UPDATE_EXAMPLES=1 cargo test --test readme` writes what comes out instead.
//!
//! A block of kind `console` holds commands after `$ ` and what they print, stdout and stderr as they come. It starts
//! in a copy of the root spec, its lock and the examples. `cargo run --release --` stands for the command itself.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gpuenv::catalog::BUILTIN;
use gpuenv::catalog::rows::SourceKind;

/// Around the figures.
const FIGURES: (&str, &str) = ("<!-- counted by tests/readme.rs -->\n", "<!-- end of what is counted -->");

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
fn figures_are_counted() {
    keep(|readme| {
        let (before, rest) = readme.split_once(FIGURES.0).expect("the figures");
        let (_, after) = rest.split_once(FIGURES.1).expect("the figures end");
        format!("{before}{}{}{}{after}", FIGURES.0, figures(), FIGURES.1)
    });
}

/// How many facts of each kind there are, and how they are known.
fn figures() -> String {
    let kinds: BTreeMap<&str, SourceKind> = BUILTIN.sources.iter().map(|row| (&*row.id, row.kind)).collect();
    let mut cited: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in BUILTIN.rows().filter(|row| row.kind != "source" && row.kind != "law") {
        cited.entry(row.kind).or_default().push(row.cites[0]);
    }
    let codes: Vec<&str> = BUILTIN.builds.iter().filter_map(|row| row.arch_source.as_deref()).collect();
    let pins: Vec<&str> = BUILTIN.builds.iter().filter_map(|row| row.pins_source.as_deref()).collect();
    let mut lines = Vec::new();
    let mut add = |name: &str, sources: &[&str]| {
        let shares = SourceKind::ALL.iter().map(|kind| sources.iter().filter(|id| kinds[**id] == *kind).count());
        let shares: Vec<String> = shares.map(|count| count.to_string()).collect();
        lines.push(format!("| {name} | {} | {} |\n", sources.len(), shares.join(" | ")));
    };
    for (kind, name) in NAMES {
        add(name, &cited.remove(kind).unwrap_or_default());
        if *kind == "build" {
            add("… which GPUs they hold code for", &codes);
            add("… which libraries they pin", &pins);
        }
    }
    assert!(cited.is_empty(), "kinds of facts without a name: {cited:?}");
    let head = "| facts | rows | measured | package | vendor | article |\n|---|--:|--:|--:|--:|--:|\n";
    let sources = format!("\n{} sources, catalog {}.\n", BUILTIN.sources.len(), BUILTIN.version);
    format!("{head}{}{sources}", lines.concat())
}

/// What a kind of row is to readers.
const NAMES: &[(&str, &str)] = &[
    ("gpu", "GPU products"),
    ("branch", "driver branches"),
    ("driver", "driver releases"),
    ("toolkit", "CUDA toolkits"),
    ("ptx_isa", "PTX versions"),
    ("compat", "forward-compatibility packages"),
    ("cudnn", "cuDNN releases"),
    ("nccl", "NCCL releases"),
    ("build", "builds of torch, TensorFlow and JAX"),
    ("companion", "packages that follow one of these"),
    ("extension", "what extension builders accept"),
    ("module", "GPUs that one flavour of kernel modules drives"),
    ("ptxas", "compilers that Triton brings"),
    ("diagnosis", "what messages of programs mean"),
    ("clue", "patterns by which they are recognised"),
    ("python", "Pythons"),
    ("os", "operating systems"),
    ("image", "image tags"),
    ("image_require", "what images ask of the driver"),
    ("rule", "rules of the form “this range needs that range”"),
];

#[test]
fn every_key_and_exit_code_is_explained() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    for key in [
        "requires-gpuenv",
        "torch",
        "python",
        "cuda",
        "cudnn",
        "nccl",
        "cuda-extensions",
        "ptx",
        "arch-list",
        "gpu",
        "driver",
        "driver-cuda",
        "runtime",
        "os",
        "arch",
        "image",
        "forward-compat",
        "glibc",
        "gcc",
        "toolkit",
        "share",
        "prefer",
        "allow-experimental",
        "overlays",
        "rule",
        "target",
        "reason",
    ] {
        assert!(readme.contains(&format!("`{key}`")), "the README does not explain `{key}`");
    }
    for format in gpuenv::export::FORMATS {
        assert!(readme.contains(&format!("gpuenv export {}", format.name)), "{}", format.name);
    }
}
