//! What can be typed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::catalog::BUILTIN;
use crate::export::{FORMATS, Shell};
use crate::report::Color;

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (catalog {})", env!("CARGO_PKG_VERSION"), BUILTIN.version));

/// Lock GPU, driver, CUDA, cuDNN, PyTorch wheel and image into one consistent, sourced answer.
#[derive(Debug, Parser)]
#[command(
    name = "gpuenv",
    version = VERSION.as_str(),
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 yes, 1 proven no (conflict, stale lock), 2 usage or bad input, \
                  3 could not determine, 4 reading or writing failed\n\
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
    Lock(LockArgs),
    Export(ExportArgs),
    Explain(ExplainArgs),
    Schema(SchemaArgs),
    Diagnose(DiagnoseArgs),
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
    /// A key (`stack.torch`, `target.NAME.driver`), a rule's id, a warning's code, a fact's id [default: everything]
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

/// Render the lock for another tool; reads only the lock
#[derive(Debug, Args)]
pub struct ExportArgs {
    #[arg(value_name = "FORMAT", value_parser = formats(), help = "What to render")]
    pub into: String,
    /// The target, where the outputs differ per target
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// Whose syntax `env` writes
    #[arg(long, value_name = "SHELL", value_parser = shells(), default_value = Shell::Sh.name())]
    pub shell: String,
    /// With `env`: take back what it set
    #[arg(long)]
    pub deactivate: bool,
    /// Write to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Say what a pasted error message means and what to change
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 the message is known, 3 it is not (what could be read out of it is told).\n\
                        Where a gpuenv.toml is found, what the text tells of the host is put into its target, and the \
                        changes that are then\nproposed were solved. Nothing is read from this machine.")]
pub struct DiagnoseArgs {
    /// The message or log; without it, or for `-`, stdin is read (4 MiB at most)
    #[arg(value_name = "TEXT")]
    pub text: Option<String>,
    /// The target of gpuenv.toml that the text comes from, where there are several
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.help)))
}

fn shells() -> PossibleValuesParser {
    PossibleValuesParser::new(Shell::ALL.iter().map(|shell| shell.name()))
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
