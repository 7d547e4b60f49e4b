//! What was typed and is no command: the help where it was asked for or nothing was typed, else what was meant.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, CommandFactory, ValueEnum};

use crate::catalog::BUILTIN;
use crate::report::{Exit, Failure, Report, clean};

use super::args::{Cli, asked_format};
use super::common::Format;
use super::installed;
use super::slips;

/// Commands of other tools, and what does the same here.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["install", "sync", "run", "build"], "gpuenv does not install: `gpuenv export uv` or `gpuenv export dockerfile`"),
    (&["version", "ver"], "run `gpuenv --version`"),
    (&["solve", "resolve", "compile", "generate", "freeze"], "run `gpuenv lock`"),
    (&["update", "upgrade"], "run `gpuenv lock --upgrade`"),
    (
        &["check", "doctor", "test", "validate"],
        "run `gpuenv lock --check` for the lock, `gpuenv verify` for this machine",
    ),
    (&["new", "create"], "run `gpuenv init`"),
    (&["detect", "info", "scan", "status"], "run `gpuenv probe`"),
    (&["why", "tree"], "run `gpuenv explain`"),
    (&["list", "ls", "gpus", "packages"], "run `gpuenv catalog list`"),
    (&["search", "show", "find"], "run `gpuenv catalog show NAME` or `gpuenv catalog search WORDS`"),
    (&["completion", "complete"], "run `gpuenv completions SHELL`"),
    (
        &["lint"],
        "run `gpuenv catalog check FILE` for an overlay; `cargo build` in a checkout checks the catalog itself",
    ),
    (&["refresh"], "run `gpuenv catalog update FILE`; docs/catalog.md tells how a checkout reads the indexes again"),
    (&["rollback"], "run `gpuenv catalog update --rollback VERSION`"),
    (&["fix"], "run `gpuenv lock`, then `gpuenv lock --apply-fix N`"),
    (&["edit"], "run `gpuenv add PACKAGE` or `gpuenv target add NAME`, or edit gpuenv.toml and run `gpuenv lock`"),
];

/// Tools and files, and the format of `gpuenv export` that is for them.
const FORMATS_ELSEWHERE: &[(&[&str], &str)] = &[
    (&["pip", "requirements.txt", "txt"], "requirements"),
    (&["docker", "podman", "containerfile", "image"], "dockerfile"),
    (&["docker-compose"], "compose"),
    (&["pyproject", "pyproject.toml", "toml"], "uv"),
    (&["pylock.toml", "pep751"], "pylock"),
    (&["mamba", "micromamba", "environment.yml", "yaml"], "conda"),
    (&["singularity"], "apptainer"),
    (&["k8s", "helm"], "kubernetes"),
    (&["github", "actions", "ci"], "github-actions"),
    (&["sbatch"], "slurm"),
    (&["lmod", "module"], "modulefile"),
    (&["shell", "sh", "bash", "dotenv"], "env"),
];

/// Less alike than this is no slip of the pen.
const ALIKE: f64 = 0.8;

/// Help and versions are asked for; everything else that clap reports is bad usage.
pub fn refuse(error: &clap::Error, args: &[OsString], report: &Report) -> Result<Exit, Failure> {
    let rendered = error.render();
    // clap stops reading where help is asked for.
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
        && let Some(word) = asked_format(args).filter(|word| Format::from_str(word, false).is_err())
    {
        let message = format!("help has no `--format {}`", clean(word));
        return Err(Failure::new(Exit::BadInput, "usage", message).help("use one of: human, json, github"));
    }
    match error.kind() {
        ErrorKind::DisplayVersion => {
            let line = versions();
            return report.help(&line, &line).map(|()| Exit::Yes);
        }
        ErrorKind::DisplayHelp => {
            return report.help(&rendered.to_string(), &rendered.ansi().to_string()).map(|()| Exit::Yes);
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            return no_command(error, report);
        }
        ErrorKind::InvalidSubcommand => {
            if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) {
                let (whole, mut commands) = asked(error);
                // `gpuenv help --help`
                if ["--help", "-h"].contains(&word.as_str()) {
                    let help = commands.render_help();
                    return report.help(&help.to_string(), &help.ansi().to_string()).map(|()| Exit::Yes);
                }
                return Err(unknown_command(word, &whole, &commands));
            }
        }
        ErrorKind::UnknownArgument => return Err(unknown_option(error, args)),
        ErrorKind::InvalidValue => {
            if let Some(failure) = unknown_format(error, args) {
                return Err(failure);
            }
        }
        _ => {}
    }
    // clap's own words come in paragraphs: the error, a tip, the usage, where to read more.
    let text = rendered.to_string();
    let mut paragraphs = text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let first = paragraphs.next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(&first);
    let message = message.replace("invalid digit found in string", "expected a number");
    if let Some(help) = meant_format(error) {
        return Err(Failure::new(
            Exit::BadInput,
            "usage",
            clean(message.split(" [possible").next().unwrap_or(&message)),
        )
        .help(help));
    }
    let advice = match said(error, ContextKind::SuggestedValue) {
        Some(_) => alike(error, (ContextKind::InvalidValue, ContextKind::SuggestedValue)),
        None => paragraphs.find_map(|part| part.strip_prefix("tip: ").map(str::to_string)),
    };
    let advice = advice.unwrap_or_else(|| way_out(error.kind(), args));
    Err(Failure::new(Exit::BadInput, "usage", clean(&message)).help(clean(&advice)))
}

/// An option, or a word too many.
fn unknown_option(error: &clap::Error, args: &[OsString]) -> Failure {
    let word = said(error, ContextKind::InvalidArg).unwrap_or_default();
    let what = if word.starts_with('-') { "unknown option" } else { "unexpected argument" };
    let (_, named) = typed_command(args);
    let of = if named.is_empty() { String::new() } else { format!(" for `gpuenv{named}`") };
    let help = slips::option(&named, &word)
        .or_else(|| slips::number(&word, args))
        .or_else(|| slips::word(&named, &word, args).filter(|_| !word.starts_with('-')))
        .or_else(|| alike(error, (ContextKind::InvalidArg, ContextKind::SuggestedArg)))
        .unwrap_or_else(|| format!("`gpuenv{named} --help` lists what it takes"));
    Failure::new(Exit::BadInput, "usage", format!("{what} `{}`{of}", clean(&word))).help(clean(&help))
}

/// A `--format` that no command has, told of the one that was typed: each has some of them.
fn unknown_format(error: &clap::Error, args: &[OsString]) -> Option<Failure> {
    const OPTION: &str = "--format";
    said(error, ContextKind::InvalidArg).filter(|option| option.starts_with(OPTION))?;
    let word = said(error, ContextKind::InvalidValue).filter(|word| !word.is_empty())?;
    let near = alike(error, (ContextKind::InvalidValue, ContextKind::SuggestedValue));
    let near = near.and_then(|_| Format::from_str(&said(error, ContextKind::SuggestedValue)?, false).ok());
    let joined = format!("{OPTION}={word}");
    let is_value = |at: usize| at > 0 && args[at - 1] == OPTION && args[at] == *word;
    let without = args.iter().enumerate().map(|(at, one)| match one {
        _ if is_value(at) => "human".into(),
        one if *one == *joined => format!("{OPTION}=human").into(),
        one => one.clone(),
    });
    let cli = super::read(&without.collect::<Vec<_>>()).ok()?;
    // A slip of the pen is told as one.
    let is_slip = near.is_some_and(|near| cli.command.has(near));
    (!is_slip).then(|| super::no_such_format(&cli.command, &word, args))
}

/// An option of the command that was typed which is called as a format was: `--junit`.
pub fn option_named(args: &[OsString], word: &str) -> Option<String> {
    let (command, _) = typed_command(args);
    let option = command.get_arguments().find(|option| option.get_long() == Some(word))?;
    let value =
        option.get_value_names().and_then(|names| names.first()).map_or(String::new(), |name| format!(" {name}"));
    Some(format!("`--{word}{value}` is an option of its own"))
}

/// What clap says of an error, where that is one text or the first of several.
fn said(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

/// What clap takes a word for, if that is near: it is content with less.
fn alike(error: &clap::Error, (word, near): (ContextKind, ContextKind)) -> Option<String> {
    let (word, near) = (said(error, word)?, said(error, near)?);
    // That both begin with dashes makes them no more alike.
    let bare = |word: &str| word.trim_start_matches('-').to_lowercase();
    let is_slip = !slips::is_name(&bare(&word));
    (is_slip && strsim::jaro_winkler(&bare(&word), &bare(&near)) > ALIKE).then(|| format!("did you mean `{near}`?"))
}

/// The versions of gpuenv and of the catalog that answers where no project asks for another one.
fn versions() -> String {
    let (own, newest) = (&BUILTIN.version, installed::usable(|| None));
    let catalog = match newest == **own {
        true => newest,
        false => format!("{newest}, installed; {own} is built in"),
    };
    format!("gpuenv {} (catalog {catalog})\n", env!("CARGO_PKG_VERSION"))
}

/// What to type instead: where something is missing, the first example of the command; else what shows its options.
fn way_out(kind: ErrorKind, args: &[OsString]) -> String {
    let (command, named) = typed_command(args);
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let example = examples.lines().map(str::trim).find(|line| line.starts_with("gpuenv "));
    match example.filter(|_| kind == ErrorKind::MissingRequiredArgument) {
        Some(example) => format!("for example `{example}`"),
        None if named.is_empty() => "run `gpuenv --help`".to_string(),
        None => format!("run `gpuenv help{named}`"),
    }
}

/// The command that was typed, and its name behind `gpuenv`: ` catalog show`.
fn typed_command(args: &[OsString]) -> (clap::Command, String) {
    let (mut command, mut named) = (Cli::command(), String::new());
    for word in args.iter().skip(1) {
        if let Some(found) = command.find_subcommand(word).cloned() {
            named += &format!(" {}", found.get_name());
            command = found;
        }
    }
    (command, named)
}

/// What serves a tool that was named as a format of `gpuenv export` and is none.
fn meant_format(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.to_lowercase()),
        _ => None,
    };
    let word =
        text(ContextKind::InvalidValue).filter(|_| text(ContextKind::InvalidArg).as_deref() == Some("[format]"))?;
    let (_, format) = FORMATS_ELSEWHERE.iter().find(|(words, _)| words.contains(&word.as_str()))?;
    Some(format!("write `gpuenv export {format}`"))
}

/// The command whose commands were asked for, by what stands behind it in the usage: `gpuenv fleet [OPTIONS] …`.
fn asked(error: &clap::Error) -> (String, clap::Command) {
    let mut root = Cli::command().color(ColorChoice::Always);
    // So that every command's usage names it whole.
    root.build();
    // Where nothing was typed behind it, its help is what clap has rendered.
    let rendered = error.render().to_string();
    let usage = rendered.lines().find(|line| line.starts_with("Usage: ")).unwrap_or_default();
    let words: Vec<&str> = usage.split_whitespace().collect();
    let named = root.get_subcommands().find(|command| words.contains(&command.get_name()) && command.has_subcommands());
    match named {
        Some(command) => (format!("gpuenv {}", command.get_name()), command.clone()),
        None => ("gpuenv".to_string(), root),
    }
}

/// Nothing was typed: the help says what can be. A program gets an error as ever.
fn no_command(error: &clap::Error, report: &Report) -> Result<Exit, Failure> {
    let (whole, mut command) = asked(error);
    if report.is_json() {
        return Err(Failure::new(Exit::BadInput, "usage", "no command given").help(format!("run `{whole} --help`")));
    }
    let help = command.render_help();
    report.help_instead(&help.to_string(), &help.ansi().to_string());
    Ok(Exit::BadInput)
}

fn unknown_command(word: &str, whole: &str, commands: &clap::Command) -> Failure {
    let help = match meant(word, commands) {
        Some(name) => format!("did you mean `{whole} {name}`?"),
        // What is elsewhere for the program is nothing for the commands within one.
        None if whole.contains(' ') && !whole.ends_with(" catalog") => format!("`{whole} --help` lists the commands"),
        None => {
            let further = || Some(format!("did you mean `{}`?", below(word, whole, commands)?));
            let help = elsewhere(word).map(str::to_string).or_else(further);
            help.unwrap_or_else(|| format!("`{whole} --help` lists the commands"))
        }
    };
    Failure::new(Exit::BadInput, "usage", format!("unknown command `{}`", clean(word))).help(help)
}

/// The command of which a word is a slip of the pen.
fn meant(word: &str, commands: &clap::Command) -> Option<String> {
    if elsewhere(word).is_some() {
        return None;
    }
    let names = commands.get_subcommands().map(|command| command.get_name().to_string());
    let scored = names.map(|name| (strsim::jaro_winkler(&word.to_lowercase(), &name), name));
    let best = scored.filter(|(likeness, _)| *likeness > ALIKE).max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, name)| name)
}

/// The command within another one, else the option, that is called so: `fleet plan`, `explain --graph`.
fn below(word: &str, whole: &str, commands: &clap::Command) -> Option<String> {
    let has = |command: &clap::Command| {
        command.get_arguments().any(|one| one.get_long() == Some(word) && !one.is_global_set())
    };
    let mut option = None;
    for command in commands.get_subcommands() {
        let whole = format!("{whole} {}", command.get_name());
        if let Some(inner) = command.find_subcommand(word) {
            return Some(format!("{whole} {}", inner.get_name()));
        }
        let inner = command.get_subcommands().find(|inner| has(inner)).map(|inner| inner.get_name());
        let of_inner = inner.map(|inner| format!("{whole} {inner} --{word}"));
        option = option.or(has(command).then(|| format!("{whole} --{word}"))).or(of_inner);
    }
    option
}

fn elsewhere(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    ELSEWHERE.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, says)| *says)
}
