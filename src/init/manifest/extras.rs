//! Which extras and groups of a project are installed, where a line says so: `pip install .[a,b]`, `uv sync --extra a`.

use std::collections::{BTreeMap, BTreeSet};

use crate::types::name;

use super::Found;

/// What stands for all extras, or all groups, among the named ones.
const ALL_EXTRAS: &str = "--all-extras";
const ALL_GROUPS: &str = "--all-groups";
/// What stands there for uv's own choice among the groups.
const DEFAULT: (&str, &str) = ("--default-groups", "dev");

/// The extras that a path to a project names: `.[a,b]`.
pub(super) fn of_folder(word: &str) -> Vec<String> {
    match word.split_once('[').and_then(|(_, rest)| rest.split_once(']')) {
        Some((names, _)) if folder(word).is_some() => of_option(names),
        _ => Vec::new(),
    }
}

/// The folder of a project that a word names: `.`, `./x[a]`, `x[a] @ file:///x`.
pub(super) fn folder(word: &str) -> Option<&str> {
    let path = word.split_once("file://").map_or(word, |(_, path)| path);
    let path = path.split(['[', ';']).next()?.trim();
    let is_file = [".whl", ".gz", ".zip"].iter().any(|ending| path.ends_with(ending));
    (path.starts_with(['.', '/']) && !path.contains("://") && !is_file).then_some(path)
}

/// The names in the value of an option: one, several with commas or blanks, a group behind the file that it stands in.
pub(super) fn of_option(value: &str) -> Vec<String> {
    let value = value.rsplit_once(':').map_or(value, |(_, group)| group);
    value.split([',', ' ']).filter(|name| !name.is_empty()).map(name::package).collect()
}

/// What a command names that installs a project as its own files say.
pub(super) fn of_sync(words: &[String]) -> Vec<String> {
    let mut named = Vec::new();
    let is_uv = words.windows(2).any(|pair| pair[0].rsplit('/').next() == Some("uv") && pair[1] == "sync");
    if is_uv {
        let is_off = |word: &String| ["--no-dev", "--no-default-groups", "--only-group"].contains(&word.as_str());
        named.extend((!words.iter().any(is_off)).then(|| DEFAULT.0.to_string()));
    }
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, glued) = word.split_once('=').map_or((word.as_str(), None), |(one, value)| (one, Some(value)));
        match option {
            ALL_EXTRAS | ALL_GROUPS => named.push(option.to_string()),
            "--extra" | "--extras" | "-E" | "--group" | "--only-group" | "-G" | "--with" => {
                let value = glued.or_else(|| words.next().map(String::as_str));
                named.extend(value.map(of_option).unwrap_or_default());
            }
            _ => {}
        }
    }
    named
}

/// The extras and groups of a file.
pub(super) fn all(found: &Found) -> BTreeSet<&String> {
    let brought = found.brings.iter().map(|(group, _)| group).chain(found.left_of.iter().map(|(group, _)| group));
    found.wanted.iter().filter_map(|one| one.group.as_ref()).chain(brought).collect()
}

/// Those of them that are installed, with those that they bring.
pub(super) fn installed(named: &BTreeSet<String>, found: &Found) -> BTreeSet<String> {
    let all = all(found);
    let is_named = |group: &&&String| {
        let is_group = found.groups.contains(**group);
        let is_default = is_group && **group == DEFAULT.1 && named.contains(DEFAULT.0);
        is_default
            || named.contains(&name::package(group))
            || named.contains(if is_group { ALL_GROUPS } else { ALL_EXTRAS })
    };
    let mut installed: BTreeSet<String> = all.iter().filter(is_named).map(|group| (**group).clone()).collect();
    let mut by_name: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    all.iter().for_each(|group| by_name.entry(name::package(group)).or_default().push(group));
    let mut brought: BTreeMap<&String, Vec<&String>> = BTreeMap::new();
    found.brings.iter().for_each(|(group, other)| brought.entry(group).or_default().push(other));
    let mut open: Vec<String> = installed.iter().cloned().collect();
    while let Some(group) = open.pop() {
        let others = brought.remove(&group).unwrap_or_default().into_iter();
        for other in others.filter_map(|other| by_name.get(other)).flatten() {
            if installed.insert((*other).clone()) {
                open.push((*other).clone());
            }
        }
    }
    installed
}

#[cfg(test)]
mod tests;
