//! Options and words that other commands and other tools have, typed where they are none: what does here what was meant.

use std::ffi::OsString;
use std::path::Path;

use crate::catalog::rows::FRAMEWORKS;
use crate::catalog::{GpuMatch, at_hand};
use crate::types::Version;
use crate::types::name::STACK_PARTS;

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

/// What to type for a word that stands alone where a command takes none.
pub(super) fn word(command: &str, word: &str) -> Option<String> {
    let is_file = Path::new(word).is_file();
    let is_gpu = || matches!(at_hand().gpu(word), GpuMatch::Found(_) | GpuMatch::Ambiguous(_));
    let help = match command {
        " diagnose" => "put the whole text into quotes, or pipe it in: `COMMAND 2>&1 | gpuenv diagnose`".to_string(),
        " lock" if is_file => format!("write `--spec {word}`"),
        " lock" if is_package(word) => format!("write `--upgrade-package {word}` to have its newest release chosen"),
        " init" if is_file => format!("write `--from {word}`"),
        " init" if FRAMEWORKS.contains(&word) => format!("write `--{word} \"*\"`"),
        " init" | " target add" | " matrix" if is_gpu() => format!("write `--gpu \"{word}\"`"),
        " matrix" if FRAMEWORKS.contains(&word) => format!("write `--package {word}`"),
        " verify" if is_file => format!("write `--host {word}`"),
        " verify" => format!("write `--target {word}` for a target of the lock"),
        " probe" if is_file => format!("write `--from {word}`"),
        " export" => "a call writes one format: run it again for another".to_string(),
        " catalog show" if Version::parse(word).is_ok() => format!("write it as one word, `torch-{word}`"),
        _ => return None,
    };
    Some(help)
}

/// Whether a word is the name of something by itself, and so no misspelling of another name.
pub(super) fn is_name(word: &str) -> bool {
    STACK_PARTS.contains(&word) || is_package(word)
}

fn is_package(word: &str) -> bool {
    let catalog = at_hand();
    !catalog.builds.of(word).is_empty() || !catalog.companions.of(word).is_empty()
}
