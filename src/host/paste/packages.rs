//! `pip list`, `pip freeze`, `pip show`, `conda list`, and the package lines of collect_env. Of other lists a row that names a
//! package is only noted: what its columns mean is not told.
//!
//! Seen in <https://github.com/deepspeedai/DeepSpeed/issues/4614> (list), <https://github.com/deepspeedai/DeepSpeed/issues/5312>
//! (show), <https://github.com/vllm-project/vllm/pull/18285> (`[pip3]`, `[conda]`).

use crate::types::Version;
use crate::types::address::version_in;
use crate::types::name::package;
use crate::types::plain::brief;

use super::super::packages;
use super::super::signs::LISTED;

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
        // A row of `uv tree`.
        let row = line.trim_start_matches(is_frame);
        let line = if row.len() < line.len() { row.split(" (").next().unwrap_or(row) } else { line };
        if let Some(name) = line.strip_prefix("Name: ") {
            shown = matters(name);
        } else if let Some(name) = line.strip_prefix("name = \"") {
            shown = matters(name.trim_end_matches('"'));
        } else if line.starts_with("version = \"") {
            // A lock file says what is to be installed.
            shown.take().into_iter().for_each(|name: String| seen.failed(LISTED, format!("{name}: `{line}`")));
        } else if let (Some(version), Some(name)) = (line.strip_prefix("Version: "), shown.take()) {
            found |= add(&name, version, seen);
        } else if let Some((name, version, build)) = entry(line)
            && let Some(name) = matters(name)
        {
            let is_known = known.contains(&name);
            let cuda = build.and_then(cuda_of);
            let label = if cuda.is_none() && build.is_some_and(is_for_cpu) { "+cpu" } else { "" };
            found |= is_known || add(&name, &format!("{version}{label}"), seen);
            if name == "torch" && !is_known {
                fill(&mut seen.torch().cuda, cuda);
            }
        } else if let Some(version) = interpreter(line) {
            fill(&mut seen.python().version, Some(version));
        } else {
            let told = several(line);
            for (name, version) in &told {
                found |= matters(name).is_some_and(|name| add(&name, version, seen));
            }
            if told.is_empty() {
                note(line, seen);
            }
        }
    }
    found
}

/// What frames a row.
fn is_frame(c: char) -> bool {
    c.is_whitespace() || ('\u{2500}'..='\u{257f}').contains(&c) || c == '|'
}

/// The packages that a line names in a sentence or one after another: what pip has installed, what it finds there already or
/// in conflict, what pipdeptree does, and a list as JSON.
fn several<'l>(line: &'l str) -> Vec<(&'l str, &'l str)> {
    if let Some(all) = line.strip_prefix("Successfully installed ") {
        return all.split_whitespace().filter_map(|one| one.rsplit_once('-')).collect();
    }
    let name = |text: &'l str| text.split(['[', '<', '>', '=', '!', '~', ';', ' ']).next().unwrap_or_default();
    let there = line.strip_prefix("Requirement already satisfied: ");
    if let Some((what, version)) = there.and_then(|rest| rest.rsplit_once(" (")) {
        return vec![(name(what), version.trim_end_matches(')'))];
    }
    if let Some((what, version)) = line.split_once(", installed: ").filter(|_| line.contains(" [required: ")) {
        return vec![(name(what), version.trim_end_matches(']'))];
    }
    if let Some((own, other)) = line.split_once(", but you have ").filter(|_| line.contains(" requires ")) {
        let pair = |text: &'l str| {
            let mut words = text.split(' ');
            words.next().zip(words.next())
        };
        return [own, other].into_iter().filter_map(pair).collect();
    }
    line.split('{').skip(1).filter_map(object).collect()
}

/// `"name": "torch", "version": "2.5.1+cpu"`
fn object(text: &str) -> Option<(&str, &str)> {
    let mut texts = text.split('"').skip(1).step_by(2);
    match [texts.next()?, texts.next()?, texts.next()?, texts.next()?] {
        ["name", name, "version", version] => Some((name, version)),
        _ => None,
    }
}

/// Notes a row that begins with a package and its version, whatever follows and whatever frames it.
fn note(line: &str, seen: &mut Seen) {
    let mut words = line.split(is_frame).filter(|word| !word.is_empty());
    let (Some(name), Some(version)) = (words.next().and_then(matters), words.next()) else { return };
    // `NVIDIA-SMI 470.161.03` is none.
    let is_listed = !line.contains("Version:");
    if is_listed && is_release(version.trim_start_matches('v')) {
        seen.failed(LISTED, format!("{name}: `{}`", brief(line)));
    }
}

/// A package's name and version in a line that holds nothing else, and how conda's was built.
fn entry(line: &str) -> Option<(&str, &str, Option<&str>)> {
    let line = ["[pip3]", "[pip]", "[conda]"].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim();
    // uv writes ` + torch==2.5.1` of what it has installed.
    if let Some((name, version)) = line.strip_prefix("+ ").unwrap_or(line).split_once("==") {
        // An environment marker may follow.
        return Some((name.trim(), version.split(';').next().unwrap_or(version).trim(), None));
    }
    if let Some((name, url)) = line.split_once(" @ ") {
        // What came from no index: `torch @ https://…/torch-2.1.2%2Bcu121-cp310-cp310-linux_x86_64.whl#sha256=…`.
        let file = url.split(['#', ';', ' ']).next().filter(|file| file.ends_with(".whl"))?;
        return Some((name.trim(), version_in(file)?, None));
    }
    // `conda list --export`, and `--explicit` by the file's address.
    if let Some((name, rest)) = line.split_once('=').filter(|(name, _)| !name.contains(' ')) {
        return rest.split_once('=').map(|(version, build)| (name, version, Some(build)));
    }
    if let Some(file) = [".conda", ".tar.bz2"].iter().find_map(|end| line.split('#').next()?.strip_suffix(end)) {
        let mut parts = file.rsplit('/').next()?.rsplitn(3, '-');
        let (build, version) = (parts.next(), parts.next()?);
        return Some((parts.next()?, version, build));
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

/// Whether a build of conda's is one for the CPU: `py3.10_cpu_0`, `cpu_generic_py312_hdfc5ba1_2`; TensorFlow's name a library,
/// `mkl_py311h1c7b6b5_0`.
fn is_for_cpu(build: &str) -> bool {
    build.split('_').any(|part| part == "cpu") || ["mkl_", "eigen_"].iter().any(|library| build.starts_with(library))
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
    // `uv tree` writes `v2.6.0`.
    let version = version.trim().trim_start_matches('v').trim_end_matches(".x");
    let version = &version.replace("%2B", "+").replace("%2b", "+");
    let fits = is_release(version);
    if fits {
        seen.package(name, version);
    }
    fits
}

fn is_release(version: &str) -> bool {
    version.len() <= 64
        && version.starts_with(|c: char| c.is_ascii_digit())
        && version.contains('.')
        && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-_!".contains(&byte))
}
