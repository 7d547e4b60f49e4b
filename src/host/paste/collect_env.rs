//! `python -m torch.utils.collect_env`, and vLLM's and others' programs after its model: `Key: value`, in newer ones
//! in columns and under headings.
//!
//! Seen in <https://github.com/pytorch/pytorch/blob/main/torch/utils/collect_env.py>,
//! <https://github.com/vllm-project/vllm/pull/18285> (columns), <https://github.com/vllm-project/vllm/issues/8947>
//! (MIG), <https://github.com/vectorch-ai/ScaleLLM/pull/288> (NCCL).

use std::borrow::Cow;

use super::super::anonymous::without_user;
use super::super::record::{Compiler, IMPORT_TORCH};
use super::lines::{field, told};
use super::seen::{Seen, fill, version};
use super::smi_list;
use super::system::{self, unpacked};

/// The keys by which lines that were folded into one are told apart again.
const KEYS: &[&str] = &[
    "PyTorch version:",
    "Is debug build:",
    "CUDA used to build PyTorch:",
    "ROCM used to build PyTorch:",
    "OS:",
    "GCC version:",
    "Clang version:",
    "CMake version:",
    "Libc version:",
    "Python version:",
    "Python platform:",
    "Is CUDA available:",
    "CUDA runtime version:",
    "CUDA_MODULE_LOADING set to:",
    "GPU models and configuration:",
    "Nvidia driver version:",
    "cuDNN version:",
    "HIP runtime version:",
    "MIOpen runtime version:",
    "Is XNNPACK available:",
    "CPU:",
    "Versions of relevant libraries:",
    "[pip3]",
    "[conda]",
];
/// So many of them in one line are no accident.
const FOLDED: usize = 4;

/// The text with a line a key, where a form or a chat has put all lines into one.
pub(super) fn unfolded(text: &str) -> Cow<'_, str> {
    let is_folded = |line: &str| {
        line.contains("PyTorch version:") && KEYS.iter().filter(|key| line.contains(**key)).count() >= FOLDED
    };
    if !text.lines().any(is_folded) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    for line in text.lines() {
        let mut line = line.to_string();
        if is_folded(&line) {
            // Each GPU of a machine has a line of its own, too, and each of its instances.
            let gpus = (0..16).map(|index| format!("GPU {index}:")).chain(["MIG ".to_string()]);
            for key in KEYS.iter().map(|key| (*key).to_string()).chain(gpus) {
                line = line.replace(&format!(" {key}"), &format!("\n{key}"));
            }
        }
        out += &line;
        out.push('\n');
    }
    Cow::Owned(out)
}

/// What the lines after a key belong to it.
enum Block {
    None,
    Gpus { last: Option<u64> },
    Cudnn,
}

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let keys = ["PyTorch version", "Is CUDA available", "GPU models and configuration"];
    if !lines.iter().filter_map(|line| field(line)).any(|(key, _)| keys.contains(&key)) {
        return false;
    }
    let mut block = Block::None;
    let (mut glibc, mut is_without_cuda) = (None, false);
    for line in lines {
        match field(line) {
            Some(("Libc version", value)) => fill(&mut glibc, value.strip_prefix("glibc-").and_then(version)),
            // torch.version.cuda is None.
            Some(("CUDA used to build PyTorch", "None" | "Could not collect")) => is_without_cuda = true,
            _ => {}
        }
        if let Some((key, value)) = field(line)
            && let Some(next) = entry(key, value, seen)
        {
            block = next;
            continue;
        }
        block = match block {
            Block::Gpus { last } => match smi_list::device(line, last, seen) {
                Some(last) => Block::Gpus { last: Some(last) },
                None => Block::None,
            },
            Block::Cudnn if file(line, seen) => Block::Cudnn,
            _ => Block::None,
        };
    }
    // A Python before 3.8 reads it out of its own file, what that was compiled against and not what is there:
    // <https://github.com/python/cpython/pull/10891>.
    let python = seen.python().version;
    let is_told = python.is_none_or(|python| (python.major(), python.minor()) >= (3, 8));
    fill(&mut seen.record.platform.glibc, glibc.filter(|_| is_told));
    // As the package index would call it.
    if let Some(version) = seen.torch().version.as_mut().filter(|version| is_without_cuda && !version.contains('+')) {
        version.push_str("+cpu");
    }
    true
}

/// One key; none if it is not one of theirs.
fn entry(key: &str, value: &str, seen: &mut Seen) -> Option<Block> {
    let known = told(value);
    match key {
        // So it prints where `import torch` failed.
        "PyTorch version" | "Is CUDA available" if value == "N/A" => {
            let said = format!("{IMPORT_TORCH}it fails, so that collect_env says N/A of it");
            seen.torch().messages = vec![said];
        }
        "PyTorch version" => fill(&mut seen.torch().version, known.map(word).filter(|word| is_release(word))),
        "CUDA used to build PyTorch" => fill(&mut seen.torch().cuda, known.and_then(version)),
        "Is CUDA available" => fill(&mut seen.torch().available, yes(value)),
        "NCCL version" => fill(&mut seen.torch().nccl, known.and_then(version)),
        "OS" => system::name(value, seen),
        "GCC version" if !value.starts_with("gcc version") => compiler("gcc", known, seen),
        "Clang version" => compiler("clang", known, seen),
        "Python version" => fill(&mut seen.python().version, known.and_then(version)),
        "Python platform" => system::platform(value, seen),
        "CUDA runtime version" => seen.nvcc(known.and_then(version)),
        "Nvidia driver version" => seen.driver(known.and_then(version)),
        "vLLM Version" => {
            if let Some(version) = known {
                seen.package("vllm", version.split(['@', ' ']).next().unwrap_or(version));
            }
        }
        "GPU models and configuration" => {
            return Some(Block::Gpus { last: known.and_then(|value| smi_list::device(value, None, seen)) });
        }
        "cuDNN version" => {
            file(value, seen);
            return Some(Block::Cudnn);
        }
        // What stands between the keys that matter here.
        "Is debug build" | "Libc version" | "ROCM used to build PyTorch" | "CMake version" | "HIP runtime version" => {}
        _ => return None,
    }
    Some(Block::None)
}

fn word(value: &str) -> String {
    value.split_whitespace().next().unwrap_or(value).to_string()
}

/// Whether it is `1.9.1+cu111` rather than `1-91+cu111`, as some type over what the program wrote: a release of torch
/// has a dot in its number, and what is none says nothing.
fn is_release(word: &str) -> bool {
    version(word).is_some_and(|version| version.len() > 1)
}

fn yes(value: &str) -> Option<bool> {
    match value {
        "True" | "Yes" => Some(true),
        "False" | "No" => Some(false),
        _ => None,
    }
}

/// A compiler's version stands behind the brackets of its packager: `(Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0`.
fn compiler(name: &str, value: Option<&str>, seen: &mut Seen) {
    let Some(found) = value.and_then(unpacked) else { return };
    if !seen.record.compilers.iter().any(|known| known.name == name) {
        seen.record.compilers.push(Compiler { name: name.to_string(), version: Some(found), ..Compiler::default() });
    }
}

/// A cuDNN file lies there; whether anything loads it is not said.
fn file(line: &str, seen: &mut Seen) -> bool {
    let path = line.trim();
    let is_path = (path.starts_with('/') || path.contains(":\\")) && path.contains("cudnn");
    if is_path && seen.record.files.len() < 64 && !seen.record.files.iter().any(|known| known == path) {
        seen.record.files.push(without_user(path));
    }
    is_path || path.starts_with("Probably")
}
