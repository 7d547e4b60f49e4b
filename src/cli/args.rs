//! What can be typed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::catalog::BUILTIN;
use crate::export::{self, FORMATS};
use crate::report::Color;

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (catalog {})", env!("CARGO_PKG_VERSION"), BUILTIN.version));

/// Lock GPU, driver, CUDA, cuDNN, PyTorch wheel and image into one consistent, sourced answer.
#[derive(Debug, Parser)]
#[command(
    name = "gpuenv",
    version = VERSION.as_str(),
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 yes, 1 proven no (conflict, stale lock, host does not match), 2 usage or bad input, \
                  3 could not determine, 4 reading or writing failed, 70 a mistake of gpuenv itself, which is worth a report\n\
                  GPUENV_REPORT=narrated says in words what is otherwise drawn, for screen readers; COLUMNS sets the \
                  width of what is printed"
)]
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
    Export(ExportArgs),
    Explain(ExplainArgs),
    Schema(SchemaArgs),
    Diagnose(DiagnoseArgs),
    Catalog(CatalogArgs),
    Probe(ProbeArgs),
    Verify(VerifyArgs),
}

/// The heading of the options that every command takes.
const COMMON: &str = "Options of every command";

/// What every command takes.
#[derive(Debug, Args)]
pub struct Common {
    /// The spec [default: gpuenv.toml here or in the nearest parent]
    #[arg(long, global = true, value_name = "FILE", help_heading = COMMON)]
    pub spec: Option<PathBuf>,
    /// The lock [default: gpuenv.lock beside the spec]
    #[arg(long, global = true, value_name = "FILE", help_heading = COMMON)]
    pub lock: Option<PathBuf>,
    /// How to answer; json is exactly one document on stdout, for errors too; github adds annotations on stdout
    #[arg(long, global = true, value_enum, value_name = "FORMAT", default_value_t, help_heading = COMMON)]
    pub format: Format,
    /// When to use colours; NO_COLOR is respected
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t, help_heading = COMMON)]
    pub color: When,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    #[default]
    Human,
    Json,
    Github,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum When {
    #[default]
    Auto,
    Always,
    Never,
}

/// Write a gpuenv.toml: from this host, from a record or report of another, or from flags
#[derive(Debug, Args)]
#[command(after_help = "Without any option it writes a commented spec that locks as it is. What is typed counts more \
                        than what was seen.\nThe file is written where it does not exist yet, and checked before: \
                        exit 2 names a value that the catalog does not know.")]
pub struct InitArgs {
    /// Look at this host
    #[arg(long, conflicts_with = "host")]
    pub detect: bool,
    /// Look at another host: a record of `gpuenv probe`, or the text of nvidia-smi, collect_env and the like; - = stdin
    #[arg(long, value_name = "FILE")]
    pub host: Option<PathBuf>,
    /// The file to write, - for stdout [default: gpuenv.toml, or what --spec says]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if there is one
    #[arg(long)]
    pub force: bool,
    /// The target's name [default: host where one was looked at, else default]
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// A GPU: a product's name, sm_XX or none; can be repeated
    #[arg(long, value_name = "NAME")]
    pub gpu: Vec<String>,
    /// The driver of the hosts: a release, a branch or a range
    #[arg(long, value_name = "VERSION")]
    pub driver: Option<String>,
    /// The operating system, of the image in a container
    #[arg(long, value_name = "NAME")]
    pub os: Option<String>,
    /// The processor: x86_64 or aarch64
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<String>,
    /// The container image: a repository, or a full reference
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// The versions of torch
    #[arg(long, value_name = "VERSIONS")]
    pub torch: Option<String>,
    /// The versions of tensorflow
    #[arg(long, value_name = "VERSIONS")]
    pub tensorflow: Option<String>,
    /// The versions of jax
    #[arg(long, value_name = "VERSIONS")]
    pub jax: Option<String>,
    /// The versions of Python; with --detect also the interpreter to look at, `.venv/bin/python`
    #[arg(long, value_name = "VERSIONS|PATH")]
    pub python: Option<String>,
    /// CUDA code is compiled too
    #[arg(long)]
    pub build: bool,
}

/// Resolve gpuenv.toml into gpuenv.lock and print what changed
#[derive(Debug, Args)]
pub struct LockArgs {
    /// Change nothing; exit 1 if the lock is stale or missing
    #[arg(long, conflicts_with_all = ["upgrade", "upgrade_package", "fresh"])]
    pub check: bool,
    /// Give up every locked choice for the best one
    #[arg(long, conflicts_with_all = ["upgrade_package", "fresh"])]
    pub upgrade: bool,
    /// Give up the locked choice of a package, or take this version of it; can be repeated
    #[arg(long, value_name = "NAME[=VERSION]")]
    pub upgrade_package: Vec<String>,
    /// Do as if there were no lock, whatever is in the file
    #[arg(long, conflicts_with = "upgrade_package")]
    pub fresh: bool,
    /// Where there is no answer: write the fix of this number into gpuenv.toml, then lock
    #[arg(long, value_name = "N", conflicts_with_all = ["check", "upgrade", "upgrade_package"])]
    pub apply_fix: Option<usize>,
    /// Where there is no answer: show every fix, and every fact with its source
    #[arg(short, long)]
    pub verbose: bool,
}

/// Say why the answer is this and not a better one, or why there is none; look up a rule, a warning or a fact
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A key (`stack.torch`, `target.NAME.driver`) or a package of the spec, a rule's id, a warning's code, a check's id, a fact's id [default: everything]
    pub what: Option<String>,
    /// Draw who needs what
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

/// Print the JSON Schema of a document that `--format json` prints, or of gpuenv.toml
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Whose [default: list the names]
    pub name: Option<String>,
}

/// Render the lock for another tool, or write everything that [export] names; reads only the lock
#[derive(Debug, Args)]
#[command(
    after_help = "Without a format, every file that [export] of gpuenv.toml names is written. A file that gpuenv did not \
                        write is not replaced without --force; `uv` merges into a pyproject.toml.\nExit codes: 0 written, \
                        or all as it would be written; 1 --check found a difference; 2 bad input; 3 a fact is missing; 4 \
                        reading or writing failed."
)]
pub struct ExportArgs {
    #[arg(value_name = "FORMAT", value_parser = formats(), help = "What to render [default: all of [export]]")]
    pub into: Option<String>,
    /// The target, where the outputs differ per target
    #[arg(long, value_name = "NAME", requires = "into")]
    pub target: Option<String>,
    /// Write to a file instead of stdout
    #[arg(short, long, value_name = "FILE", requires = "into")]
    pub output: Option<PathBuf>,
    /// Write nothing; exit 1 if a file is not what would be written
    #[arg(long)]
    pub check: bool,
    /// Replace a file that gpuenv did not write
    #[arg(long, conflicts_with = "check")]
    pub force: bool,
    /// Exit 1 if the lock is not what gpuenv.toml beside it asks for
    #[arg(long)]
    pub locked: bool,
    #[command(flatten)]
    pub options: FormatOptions,
}

/// The options that formats have beside these, by name.
#[derive(Debug, Clone, Default)]
pub struct FormatOptions(pub BTreeMap<String, String>);

impl Args for FormatOptions {
    fn augment_args(command: clap::Command) -> clap::Command {
        let mut command = command;
        for (option, formats) in export::options() {
            let formats: Vec<String> = formats.iter().map(|name| format!("`{name}`")).collect();
            let help = format!("With {}: {}", formats.join(", "), lower(option.help));
            let arg = clap::Arg::new(option.name).long(option.name).help(help).help_heading(FORMAT_OPTIONS);
            let arg = arg.requires("into");
            command = command.arg(match (option.is_switch(), option.choices) {
                (true, _) => arg.action(clap::ArgAction::SetTrue),
                (false, []) => arg.value_name(option.value),
                (false, choices) => arg.value_name(option.value).value_parser(PossibleValuesParser::new(choices)),
            });
        }
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for FormatOptions {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
        let mut options = FormatOptions::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        for (option, _) in export::options() {
            if option.is_switch() {
                if matches.get_flag(option.name) {
                    self.0.insert(option.name.to_string(), String::new());
                }
            } else if let Some(value) = matches.get_one::<String>(option.name) {
                self.0.insert(option.name.to_string(), value.clone());
            }
        }
        Ok(())
    }
}

/// The heading of the options that one format has, or some.
const FORMAT_OPTIONS: &str = "Options of single formats";

/// A line of help in the middle of a sentence.
fn lower(text: &str) -> String {
    let mut text = text.to_string();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    text
}

/// Say what a pasted error message means and what to change
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 the message is known, 3 it is not (what could be read out of it is told).\n\
                        Where a gpuenv.toml is found, what the text tells of the host is put into its target, and the \
                        changes that are then\nproposed were solved. Nothing is read from this machine.")]
pub struct DiagnoseArgs {
    /// The message, or the name of a log; without it, or for `-`, stdin is read
    #[arg(value_name = "TEXT")]
    pub text: Option<String>,
    /// The target of gpuenv.toml that the text comes from, where there are several
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// The host that the text comes from: a record of `gpuenv probe`, or a pasted nvidia-smi or collect_env
    #[arg(long, value_name = "FILE")]
    pub host: Option<PathBuf>,
}

/// The facts, each with its source; without a command: what there is and how it is known
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "`show` and `search` see the overlays of the gpuenv.toml here or in the nearest parent, too."
)]
pub struct CatalogArgs {
    #[command(subcommand)]
    pub command: Option<CatalogCommand>,
}

#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    Show(ShowArgs),
    Search(SearchArgs),
    Check(CheckArgs),
}

/// Everything about one thing
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// `torch@2.8.0+cu128`, `cuda@12.8`, `driver@570`, `cudnn@9.10`, `image@nvidia/cuda:TAG`, a GPU or system by its
    /// name, the id of a rule, a source or a fact
    pub what: String,
}

/// The facts in which every word occurs; exit 1 if there is none
#[derive(Debug, Args)]
pub struct SearchArgs {
    #[arg(required = true, value_name = "WORDS")]
    pub words: Vec<String>,
}

/// Try every lint on the built-in catalog and on overlays; exit 1 if one finds anything
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Overlays, laid one over the other in this order
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Say what is on this host: driver, GPUs, libraries; judges nothing
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 it was looked, whatever is here; 2 bad input; 4 the record cannot be written.\n\
                        What loads a driver's library runs in a child process with a time limit. The record holds no \
                        serial number, no secret of the environment and no user name.")]
pub struct ProbeArgs {
    /// Read another host instead: a record, or the text of nvidia-smi, collect_env and the like; - = stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "full", "python", "root"])]
    pub from: Option<PathBuf>,
    /// Write the record to a file too, as JSON
    #[arg(short, long, visible_alias = "record", value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the GPUs' UUIDs by numbers
    #[arg(long)]
    pub anonymous: bool,
    /// Look only at what takes a few seconds at most: files and the driver's libraries
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// Look also at what takes its time: torch, the container runtime
    #[arg(long)]
    pub full: bool,
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

/// Prove that this host, or a recorded one, can run the lock: look at the driver, run kernels on every GPU
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the host can run the target, 1 proven that it cannot, 3 it could not be determined \
                        (no driver to ask, a probe that crashed), 2 bad input, 4 reading or writing failed.\n\
                        Of several targets all are tried, and the one that matches is told in full. `gpuenv explain \
                        CHECK-ID` says what a check asks."
)]
pub struct VerifyArgs {
    /// The target to judge [default: all]
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// Look less: driver and GPUs, one kernel each, in less than five seconds
    #[arg(long, conflicts_with_all = ["full", "host"])]
    pub quick: bool,
    /// Look more: let torch compute, ask the container runtime
    #[arg(long, conflicts_with = "host")]
    pub full: bool,
    /// Write what was observed to this file, for --host
    #[arg(long, value_name = "FILE", conflicts_with = "host")]
    pub record: Option<PathBuf>,
    /// Judge a recorded host instead of this one: a record, or the text of nvidia-smi, collect_env and the like; - = stdin
    #[arg(long, value_name = "FILE")]
    pub host: Option<PathBuf>,
    /// Judge against this spec instead of a lock: it is locked in memory first
    #[arg(long, value_name = "SPEC", conflicts_with = "image")]
    pub against: Option<PathBuf>,
    /// Judge only what this image asks of the driver
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
    /// Also write the checks as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Tell every check in full
    #[arg(short, long)]
    pub verbose: bool,
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.help)))
}

impl From<When> for Color {
    fn from(when: When) -> Color {
        match when {
            When::Auto => Color::Auto,
            When::Always => Color::Always,
            When::Never => Color::Never,
        }
    }
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
