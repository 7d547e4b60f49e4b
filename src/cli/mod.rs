//! L5, the desk: the command line, one file a command. Here what is typed is read and handed on.

mod answering;
mod args;
mod atomic_write;
mod catalog;
mod catalog_age;
mod catalog_inspect;
mod catalog_update;
mod common;
mod complete;
mod completions;
mod described;
mod diagnose;
mod diff;
mod download;
mod edit;
mod explain;
mod export;
mod files;
mod fleet;
mod format_options;
mod help;
mod init;
mod inputs;
mod installed;
mod load_catalog;
mod lock;
mod man;
mod manifests;
mod matrix;
mod mistake;
mod newer;
mod observe;
mod origin;
mod output;
mod probe;
mod program;
mod project;
mod schema;
mod signature;
mod slips;
mod stale;
mod standing;
mod turn;
mod usage;
mod verify;

use std::ffi::OsString;

use clap::{ColorChoice, CommandFactory, FromArgMatches, ValueEnum};

#[cfg(target_os = "linux")]
use crate::probe::{CHILD, child};
use crate::report::{Color, Exit, Failure, Report, clean};

use args::{Cli, Command};
use common::{Common, Format};

/// Runs the command line and says how it ended.
pub fn run(args: impl Iterator<Item = OsString>) -> Exit {
    let args: Vec<OsString> = args.collect();
    #[cfg(target_os = "linux")]
    if let [_, word, name] = &args[..]
        && word == CHILD
    {
        return child::serve(&name.to_string_lossy()).map_or(Exit::Unknown, |()| Exit::Yes);
    }
    let early = Report::new(args::asks_for_json(&args), args::asked_color(&args));
    let early = early.for_github(args::asks_for_github(&args));
    mistake::told_by(early.clone());
    mistake::on_demand();
    if let Some(outcome) = completions::asked(&args, &early) {
        return told(outcome, &early);
    }
    let (report, outcome) = match read(args::of_help(&args)) {
        Ok(mut cli) => {
            let report = Report::new(cli.common.is_json(), cli.common.color());
            let report = report.for_github(cli.common.is_github()).verbose(cli.command.is_verbose());
            let report = report.quiet(cli.common.quiet);
            // The name of a file says the format of that file alone, and only where none is typed.
            if let Some(format) = cli.command.format_of_output().filter(|_| args::asked_format(&args).is_none()) {
                cli.common.format = format;
            }
            if let Err(silent) = answering::check(&args) {
                return told(Err(silent), &report);
            }
            let report = report.of(files::named(&cli.common));
            let unusable = match cli.command.asks_a_catalog() {
                true => installed::choose(|| files::admitted_catalogs(&cli.common), Some(&report)),
                false => Vec::new(),
            };
            let report = report.beside(unusable);
            let outcome = match &cli.command {
                command if !command.has(cli.common.format) => {
                    Err(no_such_format(command, &name_of(cli.common.format), &args))
                }
                Command::Init(args) => init::run(&cli.common, args, &report),
                Command::Lock(args) => lock::run(&cli.common, args, &report),
                Command::Add(args) => edit::add(&cli.common, args, &report),
                Command::Remove(args) => edit::remove(&cli.common, args, &report),
                Command::Target(args) => edit::target(&cli.common, args, &report),
                Command::Export(args) => export::run(&cli.common, args, &report),
                Command::Explain(args) => explain::run(&cli.common, args, &report),
                Command::Schema(args) => schema::run(args, &report),
                Command::Diagnose(args) => diagnose::run(&cli.common, args, &report),
                Command::Matrix(args) => matrix::run(&cli.common, args, &report),
                Command::Diff(args) => diff::run(&cli.common, args, &report),
                Command::Catalog(args) => catalog::run(&cli.common, args, &report),
                Command::Probe(args) => probe::run(&cli.common, args, &report),
                Command::Verify(args) => verify::run(&cli.common, args, &report),
                Command::Fleet(args) => fleet::run(&cli.common, args, &report),
                Command::Completions(args) => completions::run(args, &report),
                Command::Man(args) => man::run(&cli.common, args, &report),
            };
            (report, outcome)
        }
        Err(error) => (early.clone(), usage::refuse(&error, &args, &early)),
    };
    told(outcome, &report)
}

/// How a run ended, its failure told with what was written before it.
fn told(outcome: Result<Exit, Failure>, report: &Report) -> Exit {
    outcome.map_err(|failure| failure.after(&atomic_write::written())).unwrap_or_else(|failure| {
        match report.failure(&failure) {
            Ok(()) => failure.exit,
            Err(unwritten) => unwritten.exit,
        }
    })
}

/// As it is typed.
fn name_of(format: Format) -> String {
    format.to_possible_value().map_or(String::new(), |value| value.get_name().to_string())
}

/// A format that a command does not have, with those that it has.
fn no_such_format(command: &Command, typed: &str, args: &[OsString]) -> Failure {
    let has: Vec<String> =
        Format::value_variants().iter().filter(|format| command.has(**format)).map(|format| name_of(*format)).collect();
    let message = format!("this command has no `--format {}`", clean(typed));
    let option = usage::option_named(args, typed).map_or(String::new(), |option| format!("; {option}"));
    Failure::new(Exit::BadInput, "usage", message).help(format!("use one of: {}{option}", has.join(", ")))
}

fn read(args: &[OsString]) -> Result<Cli, clap::Error> {
    // What is printed is rendered by the report, with or without colours.
    let matches = Cli::command().color(ColorChoice::Always).try_get_matches_from(args)?;
    Cli::from_arg_matches(&matches)
}

impl Common {
    fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    fn is_github(&self) -> bool {
        self.format == Format::Github
    }

    fn color(&self) -> Color {
        self.color.into()
    }
}

impl Command {
    fn is_verbose(&self) -> bool {
        match self {
            Command::Lock(args) => args.verbose,
            Command::Explain(args) => args.verbose,
            Command::Verify(args) => args.verbose,
            Command::Catalog(args) => args.is_verbose(),
            Command::Init(_) | Command::Export(_) | Command::Schema(_) | Command::Diagnose(_) => false,
            Command::Probe(_) | Command::Fleet(_) => false,
            Command::Completions(_) | Command::Man(_) | Command::Diff(_) | Command::Matrix(_) => false,
            Command::Add(args) => args.mode.verbose,
            Command::Remove(args) => args.mode.verbose,
            Command::Target(args) => args.mode().verbose,
        }
    }

    /// Whether what it says can depend on the catalog.
    fn asks_a_catalog(&self) -> bool {
        !matches!(self, Command::Schema(_) | Command::Completions(_) | Command::Man(_))
    }

    /// The format that the name of the file says which it is to write: that of `x.html`.
    fn format_of_output(&self) -> Option<Format> {
        let output = match self {
            Command::Matrix(args) => args.output.as_ref(),
            Command::Fleet(args) => fleet::output(args),
            _ => None,
        };
        let ending = output?.extension()?.to_str()?;
        Format::from_str(ending, true).ok().filter(|format| self.has(*format))
    }

    /// Whether it answers in this format; few commands have more than the first three.
    fn has(&self, format: Format) -> bool {
        match (self, format) {
            (_, Format::Human | Format::Json | Format::Github) => true,
            (Command::Probe(_), Format::Ndjson) => true,
            (Command::Matrix(_), Format::Csv | Format::Html | Format::Svg) => true,
            (Command::Fleet(args), format) => fleet::has(args, format),
            _ => false,
        }
    }
}
