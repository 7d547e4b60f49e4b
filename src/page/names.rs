//! What can be written into the form: names of the catalog with what is said of each.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::catalog::rows::FRAMEWORKS;
use crate::catalog::{BUILTIN, GpuMatch, begins, may_become};
use crate::export::FORMATS;

/// Words that begin the names of half of all products and that nobody types.
const MAKER: &[&str] = &["NVIDIA", "GeForce", "Tesla"];

/// Everything that a field can be completed from.
#[derive(Debug, Serialize)]
struct Names {
    catalog: String,
    version: &'static str,
    gpus: Vec<Board>,
    packages: Vec<Name>,
    frameworks: &'static [&'static str],
    drivers: Vec<Name>,
    systems: Vec<Name>,
    images: Vec<Name>,
    pythons: Vec<Name>,
    formats: Vec<Format>,
}

/// A name and what is said of it.
#[derive(Debug, Serialize)]
struct Name {
    name: String,
    about: String,
}

/// A GPU.
#[derive(Debug, Serialize)]
struct Board {
    /// What is written.
    name: String,
    about: String,
    /// What else it is called.
    also: String,
}

/// A format of `gpuenv export`.
#[derive(Debug, Serialize)]
struct Format {
    name: &'static str,
    about: &'static str,
    file: &'static str,
}

/// All names but the releases of packages, as JSON.
pub fn names() -> String {
    let pythons = BUILTIN.pythons.iter().rev();
    let format =
        |format: &&'static crate::export::Format| Format { name: format.name, about: format.help, file: format.file };
    let names = Names {
        catalog: BUILTIN.version.to_string(),
        version: env!("CARGO_PKG_VERSION"),
        gpus: gpus(),
        packages: shelf("packages"),
        frameworks: FRAMEWORKS,
        drivers: shelf("drivers"),
        systems: shelf("systems"),
        images: shelf("images"),
        pythons: pythons.map(|row| Name { name: row.version.to_string(), about: String::new() }).collect(),
        formats: FORMATS.iter().map(format).collect(),
    };
    serde_json::to_string(&names).unwrap_or_default()
}

/// The most names that are listed below a field.
const LISTED: usize = 40;

/// The `gpus` or `packages` that can become of what was typed, those that begin so first, then the shorter, as a JSON
/// list.
pub fn matching(kind: &str, typed: &str) -> String {
    let known: Vec<(Name, String)> = match kind {
        "gpus" => gpus().into_iter().map(|one| (Name { name: one.name, about: one.about }, one.also)).collect(),
        _ => shelf(kind).into_iter().map(|one| (one, String::new())).collect(),
    };
    let is_meant = |(one, also): &(Name, String)| may_become(typed, &format!("{} {also}", one.name));
    let mut found: Vec<Name> = known.into_iter().filter(is_meant).map(|(one, _)| one).collect();
    found.sort_by_cached_key(|one| (!begins(typed, &one.name), one.name.len(), one.name.clone()));
    found.truncate(LISTED);
    serde_json::to_string(&found).unwrap_or_default()
}

fn shelf(kind: &str) -> Vec<Name> {
    let shelf = BUILTIN.shelves().into_iter().find(|shelf| shelf.kind == kind);
    let names = shelf.map(|shelf| shelf.names).unwrap_or_default();
    names.into_iter().map(|(name, about)| Name { name, about }).collect()
}

/// Each product under the shortest name that still names it: `RTX 4090` for the NVIDIA GeForce RTX 4090.
fn gpus() -> Vec<Board> {
    let mut seen = BTreeSet::new();
    let mut boards = Vec::new();
    let none = Board { name: "none".into(), about: "CPU only".into(), also: "cpu".into() };
    for gpu in BUILTIN.gpus.iter() {
        let words = gpu.name.split(' ').skip_while(|word| MAKER.contains(word));
        let short = words.collect::<Vec<_>>().join(" ");
        let names_it =
            matches!(BUILTIN.gpu(&short), GpuMatch::Found(found) if found.iter().any(|one| one.name == gpu.name));
        let name = if names_it { short } else { gpu.name.to_string() };
        if seen.insert(name.clone()) {
            let about = format!("{}, compute capability {}, {}", gpu.name, gpu.cc, gpu.architecture);
            let also: Vec<&str> = gpu.aliases.iter().map(|alias| &**alias).chain([&*gpu.name]).collect();
            boards.push(Board { name, about, also: also.join(" ") });
        }
    }
    boards.push(none);
    boards
}

/// The releases of a package, the newest first, each with its variants behind it, as a JSON list.
pub fn releases(package: &str) -> String {
    let mut known = BTreeSet::new();
    for row in BUILTIN.builds.of(package) {
        known.insert((row.version, row.variant.to_string()));
    }
    for row in BUILTIN.companions.of(package) {
        known.insert((row.version, String::new()));
    }
    known.extend(BUILTIN.versions_of(package).into_iter().map(|version| (version, String::new())));
    let mut listed = Vec::new();
    let mut last = None;
    for (version, variant) in known.into_iter().rev() {
        if last != Some(version) {
            listed.push(version.to_string());
            last = Some(version);
        }
        if !variant.is_empty() {
            listed.push(format!("{version}+{variant}"));
        }
    }
    serde_json::to_string(&listed).unwrap_or_default()
}

#[cfg(test)]
mod tests;
