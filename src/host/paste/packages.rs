//! `pip list`, `pip freeze`, `pip show`, `conda list`, and the package lines of collect_env.
//!
//! Seen in <https://github.com/deepspeedai/DeepSpeed/issues/4614> (list), <https://github.com/deepspeedai/DeepSpeed/issues/5312>
//! (show), <https://github.com/vllm-project/vllm/pull/18285> (`[pip3]`, `[conda]`).

use crate::types::name::package;

use super::super::packages;

use super::seen::Seen;

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
        } else if let Some((name, version)) = pair(line)
            && let Some(name) = matters(name)
        {
            found |= known.contains(&name) || add(&name, version, seen);
        }
    }
    found
}

/// A package's name and version, in a line that holds nothing else.
fn pair(line: &str) -> Option<(&str, &str)> {
    let line = ["[pip3]", "[pip]", "[conda]"].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim();
    if let Some((name, version)) = line.split_once("==") {
        // An environment marker may follow.
        return Some((name.trim(), version.split(';').next().unwrap_or(version).trim()));
    }
    let mut words = line.split_whitespace();
    let (name, version, third, fourth) = (words.next()?, words.next()?, words.next(), words.next());
    let is_conda = fourth.is_some() && third.is_some_and(|build| build.contains('_'));
    (third.is_none() || is_conda).then_some((name, version))
}

/// The package's name as indexes compare names, if it matters.
fn matters(name: &str) -> Option<String> {
    let name = package(name);
    let name = if name == "pytorch" { "torch".to_string() } else { name };
    let is_name = name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (is_name && packages::matters(&name)).then_some(name)
}

fn add(name: &str, version: &str, seen: &mut Seen) -> bool {
    let version = version.trim();
    let fits = version.len() <= 64
        && version.starts_with(|c: char| c.is_ascii_digit())
        && version.contains('.')
        && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-_!".contains(&byte));
    if fits {
        seen.package(name, version);
    }
    fits
}
