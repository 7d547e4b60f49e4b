//! What somebody asked Python for, behind its prompt, in a notebook or with `-c`, and what it answered: on the same line, or on
//! one of the next behind its warnings.
//!
//! Seen in <https://github.com/pytorch/pytorch/issues/98885>, <https://github.com/pytorch/pytorch/issues/109098>.

use super::lines::field;
use super::seen::{Seen, fill, version};
use crate::types::Version;

/// How questions end, without the brackets that are closed behind them.
const QUESTIONS: &[&str] = &[
    "torch.cuda.is_available(",
    "torch.cuda.device_count(",
    "torch.version.cuda",
    "torch.__version__",
    "tf.__version__",
    "jax.__version__",
    "list_physical_devices('GPU",
    "jax.devices",
    "get_available_providers(",
];

/// An answer follows within so many lines.
const NEAR: usize = 8;

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let (mut found, mut asked, mut prints) = (false, None, false);
    let is_of_jax = lines.iter().any(|line| line.starts_with("jaxlib:"));
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim().replace('"', "'");
        if let Some((name @ ("jax" | "jaxlib"), told)) = field(&line).filter(|_| is_of_jax) {
            found |= package(name, told, seen);
        }
        if let Some(told) = interpreter(&line) {
            match seen.python().version {
                Some(first) if first.prefix(2) != told.prefix(2) => {
                    seen.quarrel("Python", first.as_str(), told.as_str());
                }
                _ => fill(&mut seen.python().version, Some(told)),
            }
            found = true;
        }
        let has_printed = std::mem::replace(&mut prints, line.contains("print("));
        let question = QUESTIONS.iter().find_map(|end| Some((*end, line.rsplit_once(end)?.1)));
        match (question, asked) {
            // Whose the answers to several are is not told.
            (Some(_), _) if prints && (has_printed || line.matches("print(").count() > 1) => asked = None,
            (Some((end, rest)), _) => {
                let rest = rest.trim_start_matches([')', '(', '\'', ' ']);
                // `jax.devices (1 total, 1 local): [CpuDevice(id=0)]`
                let own = [": ", "= ", "-> "].iter().find_map(|mark| rest.strip_prefix(mark));
                let own = own.or_else(|| Some(rest.split_once("): ")?.1));
                found |= own.is_some_and(|own| answer(end, own, seen));
                asked = rest.is_empty().then_some((end, at));
            }
            (None, Some((end, since))) if at - since <= NEAR && answer(end, &line, seen) => {
                (found, asked) = (true, None)
            }
            _ => {}
        }
    }
    found
}

/// What `python --version` answers, or the first line of the interpreter's banner: `Python 3.8.10 (default, …)`.
fn interpreter(line: &str) -> Option<Version> {
    let rest = line.strip_prefix("Python ")?;
    let told = version(rest).filter(|told| told.len() > 2)?;
    let tail = &rest[told.as_str().len()..];
    (tail.is_empty() || tail.starts_with(" (") || tail.starts_with(" ::") || tail.starts_with(" |")).then_some(told)
}

/// Writes an answer down; whether it is one.
fn answer(question: &str, line: &str, seen: &mut Seen) -> bool {
    let line = line.strip_prefix("Out[").and_then(|rest| rest.split_once("]: ")).map_or(line, |(_, rest)| rest);
    let word = line.trim_matches('\'');
    let mut lists = |name, is_without: bool| {
        if is_without {
            seen.failed(name, format!("it lists no GPU: `{line}`"));
        }
        is_without
    };
    match (question, word) {
        ("torch.cuda.is_available(", "True") => seen.available(true),
        ("torch.cuda.is_available(", "False") | ("torch.cuda.device_count(", "0") | ("torch.version.cuda", "None") => {
            seen.available(false);
        }
        ("torch.version.cuda", _) if is_release(word) => fill(&mut seen.torch().cuda, version(word)),
        ("torch.__version__", _) if is_release(word) => fill(&mut seen.torch().version, Some(word.to_string())),
        ("tf.__version__", _) => return package("tensorflow", word, seen),
        ("jax.__version__", _) => return package("jax", word, seen),
        ("list_physical_devices('GPU", _) => return lists("tensorflow", word == "[]"),
        ("jax.devices", _) => return lists("jax", word.contains("[CpuDevice(")),
        ("get_available_providers(", _) => {
            return lists(
                "onnxruntime-gpu",
                word.starts_with('[') && word.contains("CPUExec") && !word.contains("CUDA"),
            );
        }
        _ => return false,
    }
    true
}

fn package(name: &str, word: &str, seen: &mut Seen) -> bool {
    let is_release = is_release(word);
    if is_release {
        seen.package(name, word);
    }
    is_release
}

/// One word that is a version of more than one number.
fn is_release(word: &str) -> bool {
    !word.contains(' ') && version(word).is_some_and(|version| version.len() > 1)
}
