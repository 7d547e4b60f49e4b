//! What can be typed.

pub mod catalog;
pub mod edit;
pub mod fleet;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::catalog::BUILTIN;
use crate::catalog::rows::FRAMEWORKS;
use crate::export::FORMATS;
use crate::init::manifest::Kind;
use crate::report::Color;

use super::common::Common;
use super::format_options::FormatOptions;
use super::{complete, help};
use catalog::CatalogArgs;
use edit::{AddArgs, RemoveArgs, TargetArgs};
use fleet::FleetArgs;

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (catalog {})", env!("CARGO_PKG_VERSION"), BUILTIN.version));

/// Find and lock a compatible set of driver, CUDA, PyTorch and container image for your GPUs
#[derive(Debug, Parser)]
#[command(name = "gpuenv", version = VERSION.as_str(), after_help = help::GPUENV)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Init(InitArgs),
    Lock(LockArgs),
    Add(AddArgs),
    Remove(RemoveArgs),
    Target(TargetArgs),
    Explain(ExplainArgs),
    Export(ExportArgs),
    Verify(VerifyArgs),
    Fleet(FleetArgs),
    Diagnose(DiagnoseArgs),
    Matrix(MatrixArgs),
    Diff(DiffArgs),
    Probe(ProbeArgs),
    Catalog(CatalogArgs),
    Schema(SchemaArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Create a gpuenv.toml from flags, a project's files or a machine
#[derive(Debug, Args)]
#[command(after_help = help::INIT)]
pub struct InitArgs {
    #[arg(long, value_name = "FILE")]
    #[arg(help = format!("Use what a project asks for: {}; - = stdin; can be repeated", Kind::NAMES))]
    pub from: Vec<PathBuf>,
    /// Take an extra or group of the project, which no line of its files installs; can be repeated
    #[arg(long, value_name = "NAME", requires = "from", value_delimiter = ',')]
    pub extra: Vec<String>,
    /// Use the GPUs, driver and operating system of this machine
    #[arg(long, conflicts_with = "host")]
    pub detect: bool,
    /// Use those of another machine: a record of `gpuenv probe`, or the output of nvidia-smi, collect_env and the like; - = stdin
    #[arg(long, value_name = "FILE")]
    pub host: Option<PathBuf>,
    /// The file to write, - for stdout [default: gpuenv.toml, or the one of --spec]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if there is one
    #[arg(long)]
    pub force: bool,
    /// The name of the target [default: host with --detect or --host, else default]
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// A GPU: its name ("RTX 4090", H100), a compute capability (sm_90), or none; can be repeated
    #[arg(long, value_name = "NAME", add = complete::gpus())]
    pub gpu: Vec<String>,
    /// The installed driver: a release (550.54.15), a branch (550) or a range
    #[arg(long, value_name = "VERSION", add = complete::drivers())]
    pub driver: Option<String>,
    /// The CUDA version that nvidia-smi shows, where the driver's own is not known
    #[arg(long, value_name = "VERSION", conflicts_with = "driver")]
    pub driver_cuda: Option<String>,
    /// What runs the Linux system: linux, or wsl2, whose driver is the one that Windows has
    #[arg(long, value_name = "NAME")]
    pub platform: Option<String>,
    /// The operating system; with --image, that of the image
    #[arg(long, value_name = "NAME", add = complete::systems())]
    pub os: Option<String>,
    /// The processor: x86_64 or aarch64
    #[arg(long, value_name = "ARCH", add = complete::processors())]
    pub arch: Option<String>,
    /// The container image: a repository, or a full reference
    #[arg(long, value_name = "IMAGE", add = complete::images())]
    pub image: Option<String>,
    /// The version of torch: a release, a build (+cu128) or a range
    #[arg(long, value_name = "VERSION", add = complete::releases("torch"))]
    pub torch: Option<String>,
    /// The version of tensorflow
    #[arg(long, value_name = "VERSION", add = complete::releases("tensorflow"))]
    pub tensorflow: Option<String>,
    /// The version of jax
    #[arg(long, value_name = "VERSION", add = complete::releases("jax"))]
    pub jax: Option<String>,
    /// The version of Python; with --detect also the interpreter to ask, `.venv/bin/python`
    #[arg(long, value_name = "VERSION|PATH", add = complete::pythons())]
    pub python: Option<String>,
    /// CUDA code is compiled too: adds [build]
    #[arg(long)]
    pub build: bool,
}

/// Resolve gpuenv.toml into gpuenv.lock and print what changed
#[derive(Debug, Args)]
#[command(after_help = help::LOCK)]
pub struct LockArgs {
    /// Change nothing; exit 1 if the lock is out of date or missing
    #[arg(long, conflicts_with_all = ["upgrade", "upgrade_package", "fresh"])]
    pub check: bool,
    /// Replace every locked version by the newest that fits
    #[arg(long, conflicts_with_all = ["upgrade_package", "fresh"])]
    pub upgrade: bool,
    /// Upgrade one package, or move it to this version; can be repeated
    #[arg(long, value_name = "NAME[=VERSION]", add = complete::packages())]
    pub upgrade_package: Vec<String>,
    /// Ignore the existing lock, whatever is in the file
    #[arg(long, conflicts_with = "upgrade_package")]
    pub fresh: bool,
    /// Replace a lock that was made from another spec; with --fresh also a file of another name than gpuenv.lock that is no lock
    #[arg(long, conflicts_with = "check")]
    pub force: bool,
    /// Show what would change and write nothing
    #[arg(long, conflicts_with = "check")]
    pub dry_run: bool,
    /// On a conflict: write fix number N into gpuenv.toml, then lock
    #[arg(long, value_name = "N", conflicts_with_all = ["check", "upgrade", "upgrade_package"])]
    pub apply_fix: Option<usize>,
    /// On a conflict: show every fix, and every fact with its source
    #[arg(short, long)]
    pub verbose: bool,
}

/// Show why these versions were chosen, or why nothing fits
#[derive(Debug, Args)]
#[command(after_help = help::EXPLAIN)]
pub struct ExplainArgs {
    /// A key (`stack.torch`, `target.NAME.driver`) or a package of the spec, a rule's id, a warning's code, a check's id, a fact's id, a GPU, a release (`torch 2.8`, `cu126`, `R580`) [default: everything]
    #[arg(add = complete::topics(), value_parser = said)]
    pub what: Vec<String>,
    /// Draw what needs what, as a diagram in this language
    #[arg(long, value_enum, value_name = "LANGUAGE", conflicts_with = "what")]
    pub graph: Option<Drawn>,
    /// Show every fact with its source
    #[arg(short, long)]
    pub verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Drawn {
    Mermaid,
    Dot,
}

/// Print the JSON Schema of gpuenv.toml or of a JSON document
#[derive(Debug, Args)]
#[command(after_help = help::SCHEMA)]
pub struct SchemaArgs {
    /// The name of the schema [default: list the names]
    #[arg(add = complete::schemas())]
    pub name: Option<String>,
}

/// What is typed behind `help` up to its first option: clap's own `help` knows none.
pub fn of_help(args: &[OsString]) -> &[OsString] {
    let is_help = args.get(1).is_some_and(|word| word == "help");
    let is_option = |word: &OsString| word.to_string_lossy().starts_with('-') && word != "-h" && word != "--help";
    let end = args.iter().position(is_option).filter(|_| is_help);
    &args[..end.unwrap_or(args.len())]
}

/// Write the lock for the tool that installs it (uv, pip, Docker ...)
#[derive(Debug, Args)]
#[command(after_help = help::EXPORT)]
pub struct ExportArgs {
    #[arg(value_name = "FORMAT", value_parser = formats(), help = "The format to write [default: all of [export]]")]
    pub into: Option<String>,
    /// The target, where the outputs differ per target
    #[arg(long, value_name = "NAME", requires = "into", add = complete::targets())]
    pub target: Option<String>,
    /// Write to a file instead of stdout
    #[arg(short, long, value_name = "FILE", requires = "into")]
    pub output: Option<PathBuf>,
    /// Write nothing; exit 1 if a file is not what would be written
    #[arg(long)]
    pub check: bool,
    /// Replace a file that gpuenv did not write; one that is merged into (pyproject.toml) keeps what is not gpuenv's
    #[arg(long, conflicts_with = "check")]
    pub force: bool,
    /// Exit 1 if the lock is not what gpuenv.toml beside it asks for
    #[arg(long)]
    pub locked: bool,
    #[command(flatten)]
    pub options: FormatOptions,
}

/// Explain an error message and what to change
#[derive(Debug, Args)]
#[command(after_help = help::DIAGNOSE)]
pub struct DiagnoseArgs {
    /// The message, or the name of a log file; without it, or for `-`, stdin is read
    #[arg(value_name = "TEXT")]
    pub text: Option<String>,
    /// The target of gpuenv.toml that the message comes from, where there are several
    #[arg(long, value_name = "NAME", add = complete::targets())]
    pub target: Option<String>,
    /// The machine that the message comes from: a record of `gpuenv probe`, or the output of nvidia-smi or collect_env
    #[arg(long, value_name = "FILE")]
    pub host: Option<PathBuf>,
}

/// Show what is on this machine: driver, GPUs, libraries (Linux only)
#[derive(Debug, Args)]
#[command(after_help = help::PROBE)]
pub struct ProbeArgs {
    /// Read another machine instead: a record, or the output of nvidia-smi, collect_env and the like; - = stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "full", "python", "root", "timeout"])]
    pub from: Option<PathBuf>,
    /// Write the record to a file too, as JSON
    #[arg(short, long, visible_alias = "record", value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub replace: Replace,
    /// Replace the GPUs' UUIDs by numbers
    #[arg(long)]
    pub anonymous: bool,
    /// Look only at what takes a few seconds at most: files and the driver's libraries
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Look also at what takes its time: torch, the container runtime
    #[arg(long)]
    pub full: bool,
    /// How long each probe may take, in seconds [default: 20 for the driver's libraries, less with --quick]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: Option<u64>,
    /// The interpreter whose packages count [default: that of the active virtual environment, else the first on PATH]
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
    /// Look at the recorded files of another machine: its sys, proc, dev, etc and usr below this folder
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// As root, load libraries from folders too that other users can write to (GPUENV_TRUST_LIBRARY_PATH=1)
    #[arg(long)]
    pub trust_library_path: bool,
}

/// Check that a machine can run the lock (this one: Linux only)
#[derive(Debug, Args)]
#[command(after_help = help::VERIFY)]
pub struct VerifyArgs {
    /// The target to check against [default: all]
    #[arg(long, value_name = "NAME", add = complete::targets())]
    pub target: Option<String>,
    /// Check less: driver and GPUs, one kernel each, in less than five seconds
    #[arg(long, conflicts_with_all = ["full", "host"])]
    pub quick: bool,
    /// Check more: compute with torch, ask the container runtime
    #[arg(long, conflicts_with = "host")]
    pub full: bool,
    /// How long each probe may take, in seconds [default: 20 for the driver's libraries, less with --quick]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600), conflicts_with = "host")]
    pub timeout: Option<u64>,
    /// Write what was observed to this file, for --host
    #[arg(long, value_name = "FILE", conflicts_with = "host")]
    pub record: Option<PathBuf>,
    /// Check another machine by its record, or by the output of nvidia-smi, collect_env and the like; - = stdin
    #[arg(long, value_name = "FILE")]
    pub host: Option<PathBuf>,
    /// Check against this spec instead of a lock; it is locked in memory first
    #[arg(long, value_name = "SPEC", conflicts_with = "image")]
    pub against: Option<PathBuf>,
    /// Check only what this image requires of the driver
    #[arg(long, value_name = "REF", conflicts_with = "target")]
    pub image: Option<String>,
    /// The interpreter that is to run the stack [default: that of the active virtual environment, else the first on PATH]
    #[arg(long, value_name = "PATH", conflicts_with = "host")]
    pub python: Option<PathBuf>,
    /// Look at the files of another machine below this folder; no library is loaded then
    #[arg(long, value_name = "DIR", conflicts_with = "host")]
    pub root: Option<PathBuf>,
    /// As root, load libraries from folders too that other users can write to (GPUENV_TRUST_LIBRARY_PATH=1)
    #[arg(long)]
    pub trust_library_path: bool,
    /// Fail where the lock is stale for the gpuenv.toml beside it
    #[arg(long, conflicts_with_all = ["against", "image"])]
    pub locked: bool,
    /// Also write the checks as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    #[command(flatten)]
    pub replace: Replace,
    /// Show every check in full
    #[arg(short, long)]
    pub verbose: bool,
}

/// Print the script that completes commands and names on TAB
#[derive(Debug, Args)]
#[command(after_help = help::COMPLETIONS)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_parser = ["bash", "zsh", "fish", "powershell", "elvish"])]
    pub shell: String,
}

/// Show what runs on what: releases, CUDA variants, GPUs, drivers
#[derive(Debug, Args)]
#[command(after_help = help::MATRIX)]
pub struct MatrixArgs {
    /// A GPU: its name ("RTX 4090", H100) or a compute capability (sm_90); can be repeated
    #[arg(long, value_name = "NAME", add = complete::gpus())]
    pub gpu: Vec<String>,
    /// A release of torch: its builds for every GPU generation, or with --gpu for every driver branch
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["tensorflow", "jax", "package"], add = complete::releases("torch"))]
    pub torch: Option<String>,
    /// A release of tensorflow, likewise
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["jax", "package"], add = complete::releases("tensorflow"))]
    pub tensorflow: Option<String>,
    /// A release of jax, likewise
    #[arg(long, value_name = "VERSION", conflicts_with = "package", add = complete::releases("jax"))]
    pub jax: Option<String>,
    /// The framework, where no release of one is asked for
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(FRAMEWORKS), default_value = FRAMEWORKS[0])]
    pub package: String,
    /// The installed driver to judge with: a release (550.54.15), a branch (550) or a range
    #[arg(long, value_name = "VERSION", add = complete::drivers())]
    pub driver: Option<String>,
    /// The processor: x86_64 or aarch64 [default: what the GPU implies, else x86_64]
    #[arg(long, value_name = "ARCH", add = complete::processors())]
    pub arch: Option<String>,
    /// Show every release, not only the newest of each minor version
    #[arg(short, long)]
    pub all: bool,
    /// Write to a file instead of stdout; its ending (.json, .csv, .html, .svg) says the format where --format does not
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub replace: Replace,
}

/// What a command takes that writes reports.
#[derive(Debug, Args)]
pub struct Replace {
    /// Replace a file that this command did not write, or that was edited since
    #[arg(long)]
    pub force: bool,
}

/// Show what changes from one lock to another
#[derive(Debug, Args)]
#[command(after_help = help::DIFF)]
pub struct DiffArgs {
    /// The first lock: a file or a revision of git [default: HEAD]
    #[arg(value_name = "OLD")]
    pub old: Option<String>,
    /// The second one [default: the lock here]
    #[arg(value_name = "NEW")]
    pub new: Option<String>,
    /// Exit with 1 if anything differs
    #[arg(long)]
    pub exit_code: bool,
}

/// Print a manual page, or write all of them
#[derive(Debug, Args)]
#[command(after_help = help::MAN)]
pub struct ManArgs {
    /// The command whose page to print [default: that of gpuenv itself]
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    pub command: Vec<String>,
    /// Write the pages of all commands into this folder
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub replace: Replace,
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.help)))
}

/// Whether JSON is asked for, known before anything else: bad usage must be told in it too.
pub fn asks_for_json(args: &[OsString]) -> bool {
    value_of(args, "--format").is_some_and(|value| value == "json")
}

/// Whether annotations are asked for, likewise.
pub fn asks_for_github(args: &[OsString]) -> bool {
    value_of(args, "--format").is_some_and(|value| value == "github")
}

/// The colours asked for, likewise.
pub fn asked_color(args: &[OsString]) -> Color {
    match value_of(args, "--color") {
        Some("always") => Color::Always,
        Some("never") => Color::Never,
        _ => Color::Auto,
    }
}

/// A word that says something.
fn said(word: &str) -> Result<String, String> {
    match word.trim().is_empty() {
        true => Err("it is empty".to_string()),
        false => Ok(word.to_string()),
    }
}

/// The format asked for, whether or not it is one.
pub fn asked_format(args: &[OsString]) -> Option<&str> {
    value_of(args, "--format")
}

fn value_of<'a>(args: &'a [OsString], option: &str) -> Option<&'a str> {
    let mut words = args.iter().skip(1).filter_map(|arg| arg.to_str()).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        if word == option {
            return words.next();
        }
        if let Some(value) = word.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
            return Some(value);
        }
    }
    None
}
