//! Options and words that other commands and other tools have, typed where they are none: what does here what was meant.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::catalog::rows::FRAMEWORKS;
use crate::catalog::{GpuMatch, OsMatch, at_hand};
use crate::export::quote::sh_option;
use crate::types::Constraint;
use crate::types::name::STACK_PARTS;

use super::manifests;
use super::project::LOCK;

/// Commands, options that they do not have, and what to type instead. No command: any.
const OPTIONS: &[(&[&str], &[&str], &str)] = &[
    (&[""], &["-v"], "write `-V` for the versions; commands have `--verbose`"),
    (&[""], &["--verbose"], "write it behind a command: `gpuenv lock --verbose`"),
    (&[], &["--json"], "write `--format json`"),
    (&[" lock"], &["--target"], "leave it out: all targets are locked together"),
    (&[" lock"], &["-n"], "write `--dry-run`"),
    (&[" lock"], &["-U"], "write `--upgrade`"),
    (&[" lock"], &["-P"], "write `--upgrade-package NAME`"),
    (&[" lock"], &["-o", "--output"], "write `--lock FILE`"),
    (&[" init"], &["-y", "--yes"], "leave it out: nothing is asked"),
    (
        &[" init", " target add"],
        &["--cuda"],
        "write `--driver-cuda VERSION` for what nvidia-smi shows; the CUDA of the wheels is `cuda` under [stack]",
    ),
    (&[" init", " target add"], &["--torchvision", "--torchaudio"], "add it afterwards: `gpuenv add NAME`"),
    (&[" add"], &["-r", "--requirement", "--from"], "run `gpuenv init --from FILE`"),
    (&[" add"], &["--gpu", "--driver"], "run `gpuenv target add NAME --gpu GPU`"),
    (&[" probe"], &["--host"], "write `--from FILE`"),
];

/// Files are known by these endings, be they there or not.
const ENDINGS: [&str; 5] = ["lock", "toml", "json", "txt", "whl"];

/// What to type in place of an option that a command does not have.
pub(super) fn option(command: &str, word: &str) -> Option<String> {
    let is_of =
        |(of, words, _): &&(&[&str], &[&str], &str)| (of.is_empty() || of.contains(&command)) && words.contains(&word);
    OPTIONS.iter().find(is_of).map(|(.., help)| help.to_string())
}

/// What a number behind an option is that looks like an option itself.
pub(super) fn number(word: &str, args: &[OsString]) -> Option<String> {
    let digits = word.strip_prefix('-')?;
    let at = args.iter().position(|arg| *arg == *word)?;
    let before = args.get(at.checked_sub(1)?)?.to_str().filter(|before| before.starts_with("--"))?;
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit());
    is_number.then(|| format!("`{before}` takes no number below zero"))
}

/// What to type for words that stand where a command takes none, from the first one on; `args` is all that was typed.
pub(super) fn word(command: &str, word: &str, args: &[OsString]) -> Option<String> {
    let is_superfluous = |end: usize| refused(&args[..=end]).is_some_and(|named| named == word);
    let at = (1..args.len()).find(|at| args[*at] == *word && is_superfluous(*at))?;
    let run: Vec<&str> = args[at..].iter().map_while(|arg| arg.to_str().filter(|arg| !arg.starts_with('-'))).collect();
    let typed = run.join(" ");
    // A name of several words was given its first one alone: `--gpu RTX 4090`.
    if let Some((begins, option, first)) = value_before(args, at) {
        let whole = format!("{first} {typed}");
        let help =
            is_one_value(option, &whole).then(|| offered(args, begins..at + run.len(), option, &whole)).flatten();
        if help.is_some() {
            return help;
        }
    }
    let (all, one) = (at..at + run.len(), at..at + 1);
    let help = match command {
        " diagnose" => "put the whole text into quotes, or pipe it in: `COMMAND 2>&1 | gpuenv diagnose`".to_string(),
        " export" => "a call writes one format: run it again for another".to_string(),
        " lock" if is_package(word) => format!("write `--upgrade-package {word}` to have its newest release chosen"),
        _ if is_one_value("--gpu", &typed) => return offered(args, all, "--gpu", &typed),
        _ if is_file(word) => return of_file(command, word).and_then(|option| offered(args, one, option, word)),
        " init" if FRAMEWORKS.contains(&word) => return offered(args, one, &format!("--{word}"), "*"),
        " matrix" if FRAMEWORKS.contains(&word) => return offered(args, one, "--package", word),
        " verify" => format!("write `--target {word}` for a target of the lock"),
        _ => return None,
    };
    Some(help)
}

/// The word by which clap refuses what was typed, where that is one too many.
fn refused(args: &[OsString]) -> Option<String> {
    let error = super::read(args).err().filter(|error| error.kind() == ErrorKind::UnknownArgument)?;
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(word) => Some(word.clone()),
        _ => None,
    }
}

/// The option whose value stands before a word, where it begins, and that value: `--gpu RTX`, `--gpu=RTX`.
fn value_before(args: &[OsString], at: usize) -> Option<(usize, &str, &str)> {
    let before = args[at - 1].to_str()?;
    if before.starts_with("--") {
        return before.split_once('=').map(|(option, value)| (at - 1, option, value));
    }
    let option = args.get(at.checked_sub(2)?)?.to_str()?;
    option.starts_with("--").then_some((at - 2, option, before))
}

/// Whether words are one value of an option: the name of a GPU or system, or a version or range.
fn is_one_value(option: &str, words: &str) -> bool {
    match option {
        "--gpu" => matches!(at_hand().gpu(words), GpuMatch::Found(_) | GpuMatch::Ambiguous(_)),
        "--os" => matches!(at_hand().os(words), OsMatch::Found(_)),
        "--driver" | "--python" => Constraint::parse(words).is_ok(),
        _ => {
            option.strip_prefix("--").is_some_and(|name| FRAMEWORKS.contains(&name)) && Constraint::parse(words).is_ok()
        }
    }
}

/// The option of a command that reads a file of this kind.
fn of_file(command: &str, name: &str) -> Option<&'static str> {
    let path = Path::new(name);
    match path.extension().and_then(OsStr::to_str) {
        _ if manifests::is_of_project(path) => (command == " init").then_some("--from"),
        Some("lock") if command == " init" && name != LOCK => Some("--from"),
        Some("lock") => Some("--lock"),
        Some("toml") => Some("--spec"),
        _ if command == " probe" => Some("--from"),
        _ => Some("--host"),
    }
}

/// Whether a word names a file: one that is there, or by its ending.
pub(super) fn is_file(word: &str) -> bool {
    let ending = Path::new(word).extension().and_then(OsStr::to_str);
    ending.is_some_and(|ending| ENDINGS.contains(&ending)) || Path::new(word).is_file()
}

/// An option with its value in the place of words, if the command takes them so.
fn offered(args: &[OsString], words: Range<usize>, option: &str, value: &str) -> Option<String> {
    let put = [option.into(), value.into()];
    let mended = [&args[..words.start], &put, &args[words.end..]].concat();
    let error = super::read(&mended).err();
    // What else is wrong is told by the next run.
    let is_taken = |error: clap::Error| {
        error.kind() == ErrorKind::UnknownArgument && refused(&mended).is_some_and(|word| word != option)
    };
    let shown = || match is_one_value(option, value) {
        true => format!("write `{option} \"{value}\"`"),
        false => format!("write `{}`", sh_option(option, value)),
    };
    error.is_none_or(is_taken).then(shown)
}

/// Whether a word is the name of something by itself, and so no misspelling of another name.
pub(super) fn is_name(word: &str) -> bool {
    STACK_PARTS.contains(&word) || is_package(word)
}

fn is_package(word: &str) -> bool {
    let catalog = at_hand();
    !catalog.builds.of(word).is_empty() || !catalog.companions.of(word).is_empty()
}
