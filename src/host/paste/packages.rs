//! `pip list`, `pip freeze`, `pip show`, `conda list`, and the package lines of collect_env.
//!
//! Seen in <https://github.com/deepspeedai/DeepSpeed/issues/4614> (list), <https://github.com/deepspeedai/DeepSpeed/issues/5312>
//! (show), <https://github.com/vllm-project/vllm/pull/18285> (`[pip3]`, `[conda]`).

use crate::types::Version;
use crate::types::address::version_in;
use crate::types::name::package;

use super::super::packages;

use super::seen::{Seen, fill, version};

/// conda lists what pip has installed into its environment too, and may still name what pip has replaced: where both tell
/// of a package, pip's word is what an interpreter imports.
pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let (conda, pip): (Vec<&str>, Vec<&str>) = lines.iter().partition(|line| line.trim().starts_with("[conda]"));
    let mut found = each(&pip, &[], seen);
    let by_pip: Vec<String> = seen.python().packages.keys().cloned().collect();
    found |= each(&conda, &by_pip, seen);
    found
}

/// The packages in some lines but for those that are known; whether there were any.
fn each(lines: &[&str], known: &[String], seen: &mut Seen) -> bool {
    let (mut found, mut shown) = (false, None);
    for line in lines {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("Name: ") {
            shown = matters(name);
        } else if let (Some(version), Some(name)) = (line.strip_prefix("Version: "), shown.take()) {
            found |= add(&name, version, seen);
        } else if let Some((name, version, build)) = entry(line)
            && let Some(name) = matters(name)
        {
            let is_known = known.contains(&name);
            found |= is_known || add(&name, version, seen);
            if name == "torch" && !is_known {
                fill(&mut seen.torch().cuda, build.and_then(cuda_of));
            }
        } else if let Some(version) = interpreter(line) {
            fill(&mut seen.python().version, Some(version));
        }
    }
    found
}

/// A package's name and version in a line that holds nothing else, and how conda's was built.
fn entry(line: &str) -> Option<(&str, &str, Option<&str>)> {
    let line = ["[pip3]", "[pip]", "[conda]"].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim();
    if let Some((name, version)) = line.split_once("==") {
        // An environment marker may follow.
        return Some((name.trim(), version.split(';').next().unwrap_or(version).trim(), None));
    }
    if let Some((name, url)) = line.split_once(" @ ") {
        // What came from no index: `torch @ https://…/torch-2.1.2%2Bcu121-cp310-cp310-linux_x86_64.whl#sha256=…`.
        let file = url.split(['#', ';', ' ']).next().filter(|file| file.ends_with(".whl"))?;
        return Some((name.trim(), version_in(file)?, None));
    }
    let mut words = line.split_whitespace();
    let (name, version, build, channel) = (words.next()?, words.next()?, words.next(), words.next());
    let is_conda = words.next().is_none() && build.is_some_and(|build| is_build(build, channel.is_some()));
    (build.is_none() || is_conda).then_some((name, version, build))
}

/// `py3.8_cuda11.3_cudnn8.2.0_0`, `h12debd9_0`: conda ends them in a number. Only packages of other channels than its own
/// have the channel behind it.
fn is_build(word: &str, has_channel: bool) -> bool {
    let number = word.rsplit_once('_').map_or("", |(_, number)| number);
    let is_numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if has_channel { word.contains('_') } else { is_numbered }
}

/// The Python that conda has installed, `python 3.8.13 h12debd9_0`.
fn interpreter(line: &str) -> Option<Version> {
    let (name, found, build) = entry(line)?;
    (name == "python" && build.is_some()).then(|| version(found)).flatten()
}

/// The CUDA that a build of conda's is for: `py3.8_cuda11.3_cudnn8.2.0_0`, `cuda112py38h2f3b5c1_0`, `cuda_118_py310`.
fn cuda_of(build: &str) -> Option<Version> {
    let (_, rest) = build.split_once("cuda")?;
    let number: String = rest.trim_start_matches('_').chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    match number.len().checked_sub(1) {
        Some(last) if last > 0 && !number.contains('.') => version(&format!("{}.{}", &number[..last], &number[last..])),
        _ => version(&number).map(|found| found.prefix(2)).filter(|found| found.len() == 2),
    }
}

/// The package's name as indexes compare names, if it matters.
fn matters(name: &str) -> Option<String> {
    let name = package(name);
    let name = if name == "pytorch" { "torch".to_string() } else { name };
    let is_name = name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (is_name && packages::matters(&name)).then_some(name)
}

fn add(name: &str, version: &str, seen: &mut Seen) -> bool {
    let version = &version.trim().replace("%2B", "+").replace("%2b", "+");
    let fits = version.len() <= 64
        && version.starts_with(|c: char| c.is_ascii_digit())
        && version.contains('.')
        && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-_!".contains(&byte));
    if fits {
        seen.package(name, version);
    }
    fits
}
