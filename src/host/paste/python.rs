//! What somebody asked Python for, behind its prompt, in a notebook or with `-c`, and what it answered: on the same line, or on
//! one of the next behind its warnings.
//!
//! Seen in <https://github.com/pytorch/pytorch/issues/98885>, <https://github.com/pytorch/pytorch/issues/109098>.

use std::collections::VecDeque;

use super::lines::field;
use super::seen::{Seen, fill, version};
use crate::types::Version;

/// How questions end, without the brackets that are closed behind them.
const QUESTIONS: &[&str] = &[
    "torch.cuda.is_available(",
    "torch.cuda.device_count(",
    "torch.cuda.get_arch_list(",
    "torch.version.cuda",
    "torch.__version__",
    "tf.__version__",
    "tf.test.is_built_with_cuda(",
    "tf.test.is_gpu_available(",
    "jax.__version__",
    "jax.default_backend(",
    "get_backend().platform",
    "list_physical_devices('GPU",
    "gpu_device_name(",
    "jax.devices",
    "get_available_providers(",
];
/// What stands between questions that one line asks, and around them.
const BETWEEN: [char; 7] = ['(', ')', '\'', '`', ',', ';', ' '];
/// An answer follows within so many lines.
const NEAR: usize = 8;

/// What was asked and not answered yet.
#[derive(Default)]
struct Asked {
    /// What each of the next lines answers, in their order.
    lines: VecDeque<Vec<&'static str>>,
    /// The line of the last question.
    at: usize,
    /// Something else is printed among them, so that whose an answer is is not told.
    is_mixed: bool,
}

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let (mut found, mut asked, mut has_printed, mut before) = (false, Asked::default(), false, "");
    let is_of_jax = lines.iter().any(|line| line.starts_with("jaxlib:"));
    for (at, raw) in lines.iter().enumerate().filter(|(_, raw)| !raw.trim().is_empty()) {
        let line = raw.trim().replace('"', "'");
        found |= is_of_jax && of_jax(&line, seen);
        if let Some(told) = interpreter(&line).filter(|_| !asks_another(before)) {
            match seen.python().version {
                Some(first) if first.prefix(2) != told.prefix(2) => {
                    seen.quarrel("Python", first.as_str(), told.as_str());
                }
                _ => fill(&mut seen.python().version, Some(told)),
            }
            found = true;
        }
        before = raw;
        let (prints, had_printed) = (line.contains("print("), has_printed);
        has_printed = prints;
        let Some((end, rest)) = last_question(&line) else {
            // What prints something else among others.
            asked.is_mixed |= prints;
            found |= !prints && asked.answered(at, &line, seen);
            continue;
        };
        let rest = rest.trim_start_matches(BETWEEN);
        // `jax.devices (1 total, 1 local): [CpuDevice(id=0)]`
        let own = [": ", "= ", "-> ", "returns "].iter().find_map(|mark| rest.strip_prefix(mark));
        let own = own.or_else(|| Some(rest.split_once("): ")?.1));
        found |= own.is_some_and(|own| answer(end, own, seen));
        // A script prints one line after another; behind a prompt the answer follows.
        if !(had_printed && prints) || line.starts_with(">>>") {
            asked = Asked { is_mixed: had_printed && asked.is_mixed, ..Asked::default() };
        }
        asked.at = at;
        asked.ask(&line);
    }
    found
}

/// The last question of a line and what follows it.
fn last_question(line: &str) -> Option<(&'static str, &str)> {
    let all = QUESTIONS.iter().filter_map(|end| Some((*end, line.rsplit_once(end)?.1)));
    all.min_by_key(|(_, rest)| rest.len())
}

impl Asked {
    /// Adds what a line asks: each `print` is answered by a line of its own, several values stand on it one after another.
    fn ask(&mut self, line: &str) {
        let mut statements: Vec<&str> = line.split("print(").collect();
        let prints = statements.len() > 1;
        statements.drain(..usize::from(prints));
        for statement in statements {
            let places = QUESTIONS.iter().flat_map(|end| statement.match_indices(end));
            let mut places: Vec<(usize, &str)> = places.collect();
            places.sort_unstable();
            let mut gaps = statement;
            let mut own = Vec::new();
            let mut is_all = true;
            for (nth, (_, end)) in places.iter().enumerate() {
                let Some((gap, rest)) = gaps.split_once(end) else { continue };
                // Whose it is stands before it: `tf.config.`.
                let gap = gap.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "._".contains(c));
                is_all &= nth == 0 && !prints || gap.trim_matches(BETWEEN).is_empty();
                own.extend(QUESTIONS.iter().find(|one| *one == end));
                gaps = rest;
            }
            is_all &= gaps.trim_matches(BETWEEN).is_empty() && !own.is_empty();
            self.is_mixed |= !is_all;
            self.lines.push_back(own);
        }
    }

    /// Takes a line for the answer to what was asked first; whether it is one.
    fn answered(&mut self, at: usize, line: &str, seen: &mut Seen) -> bool {
        let Some(asked) = self.lines.front().filter(|_| !self.is_mixed && at - self.at <= NEAR) else { return false };
        let is_answer = match &asked[..] {
            [only] => answer(only, line, seen),
            several => {
                let words = line.trim_matches(['(', ')']).split([' ', ',']).filter(|word| !word.is_empty());
                let words: Vec<&str> = words.collect();
                let mut pairs = several.iter().zip(&words);
                words.len() == several.len() && pairs.all(|(question, word)| answer(question, word, seen))
            }
        };
        if is_answer {
            self.lines.pop_front();
        }
        is_answer
    }
}

/// A row of `jax.print_environment_info()`, which names no plugin.
fn of_jax(line: &str, seen: &mut Seen) -> bool {
    match field(line) {
        Some((name @ ("jax" | "jaxlib"), told)) => package(name, told, seen),
        Some(("device info", told)) => jax_finds(told, told.starts_with("cpu"), !told.starts_with("cpu"), seen),
        _ => false,
    }
}

/// What JAX says of its devices.
fn jax_finds(line: &str, is_cpu: bool, is_gpu: bool, seen: &mut Seen) -> bool {
    if is_gpu {
        seen.recognised("jax");
    }
    lists("jax", line, is_cpu, seen) || is_gpu
}

/// Whether a command before it asks another program than the interpreter: `$ python2 --version`.
fn asks_another(line: &str) -> bool {
    let is_python = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        let version = name.strip_prefix('i').unwrap_or(name).strip_prefix("python");
        version.is_some_and(|version| version.is_empty() || version.starts_with('3'))
    };
    line.rsplit_once("$ ").is_some_and(|(_, command)| !command.split_whitespace().any(is_python))
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
    let word = line.strip_prefix("TorchVersion(").map_or(line, |rest| rest.trim_end_matches(')')).trim_matches('\'');
    match (question, word) {
        ("torch.cuda.is_available(", "True") => seen.available(true),
        ("torch.cuda.is_available(", "False") | ("torch.cuda.device_count(", "0") | ("torch.version.cuda", "None") => {
            seen.available(false);
        }
        ("torch.cuda.device_count(", _) if word.parse::<u16>().is_ok() => {}
        ("torch.cuda.get_arch_list(", _) if word.starts_with("['sm_") => {
            let archs = word.split(['[', ']', ',', ' ', '\'']).filter(|arch| !arch.is_empty());
            seen.torch().arch_list = archs.map(str::to_string).collect();
        }
        ("torch.version.cuda", _) if is_release(word) => fill(&mut seen.torch().cuda, version(word)),
        ("torch.__version__", _) if is_release(word) => fill(&mut seen.torch().version, Some(word.to_string())),
        ("tf.__version__", _) => return package("tensorflow", word, seen),
        ("jax.__version__", _) => return package("jax", word, seen),
        ("list_physical_devices('GPU", _) => return lists("tensorflow", line, word == "[]", seen),
        ("gpu_device_name(", _) => return lists("tensorflow", line, word.is_empty(), seen),
        ("tf.test.is_built_with_cuda(" | "tf.test.is_gpu_available(", _) => {
            return lists("tensorflow", line, word == "False", seen);
        }
        ("jax.devices", _) => {
            let is_gpu = ["CudaDevice(", "cuda(id=", "GpuDevice("].iter().any(|device| word.contains(device));
            return jax_finds(line, word.contains("[CpuDevice("), is_gpu, seen);
        }
        ("jax.default_backend(" | "get_backend().platform", _) => {
            return jax_finds(line, word == "cpu", word == "gpu", seen);
        }
        ("get_available_providers(", _) => {
            let is_without = word.starts_with('[') && word.contains("CPUExec") && !word.contains("CUDA");
            return lists("onnxruntime-gpu", line, is_without, seen);
        }
        _ => return false,
    }
    true
}

/// Notes that a framework lists no GPU, where it does.
fn lists(name: &'static str, line: &str, is_without: bool, seen: &mut Seen) -> bool {
    if is_without {
        seen.failed(name, format!("it lists no GPU: `{line}`"));
    }
    is_without
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
