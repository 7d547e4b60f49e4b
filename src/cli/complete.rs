//! What completes an argument on TAB: names of the catalog, and of the gpuenv.toml here.
//!
//! A name is offered in a spelling without blanks, `RTX-4090`: no shell has to quote it, and the catalog reads it like
//! the one that drivers print. Whoever types a part of a name (`4090`, `3060ti`) is offered every name with words that
//! begin so.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};

use crate::catalog::rows::Gpu;
use crate::catalog::{GpuMatch, at_hand, begins, may_become};
use crate::meaning;
use crate::report::schema;
use crate::spec::{self, Spec};
use crate::types::{CpuArch, first};

use super::common::Common;
use super::files;

/// Words that begin the names of half of all products and that nobody types.
const MAKER: &[&str] = &["NVIDIA", "GeForce", "Tesla"];

/// GPUs for `--gpu`.
pub fn gpus() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let mut found = vec![CompletionCandidate::new("none").help(Some("CPU only".into()))];
        let mut seen = BTreeSet::new();
        for gpu in at_hand().gpus.iter() {
            let name = spelling(gpu);
            if seen.insert(name.clone()) && names_it(&name, gpu) {
                let about = format!("{}, compute capability {}", gpu.name, gpu.cc);
                found.push(CompletionCandidate::new(name).help(Some(about.into())));
            }
        }
        let typed = typed.to_string_lossy();
        found.retain(|one| may_become(&typed, &one.get_value().to_string_lossy()));
        first(found, |one| begins(&typed, &one.get_value().to_string_lossy()))
    })
}

/// The shortest spelling without blanks: `RTX-4090` for the NVIDIA GeForce RTX 4090.
fn spelling(gpu: &Gpu) -> String {
    let words = gpu.name.split(|c: char| c.is_whitespace() || "()/".contains(c)).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.skip_while(|word| MAKER.contains(word)).collect();
    words.join("-")
}

/// Whether the catalog reads this spelling as the product, and perhaps as others that are like it.
fn names_it(name: &str, gpu: &Gpu) -> bool {
    matches!(at_hand().gpu(name), GpuMatch::Found(found) if found.iter().any(|one| one.name == gpu.name))
}

/// Packages that `[stack]` can name.
pub fn packages() -> ArgValueCompleter {
    of(|| at_hand().packages().into_iter().map(|package| (package.name.clone(), package.range())).collect())
}

/// Packages that the gpuenv.toml here asks for.
pub fn asked_packages() -> ArgValueCompleter {
    of(|| {
        let Spec { stack, packages, .. } = here();
        let ordinary = packages.into_iter().map(|(name, specifier)| (name, specifier.text));
        stack.into_iter().map(|(name, constraint)| (name, constraint.text)).chain(ordinary).collect()
    })
}

/// Releases of a package, the newest first.
pub fn releases(package: &'static str) -> ArgValueCompleter {
    of(move || {
        let versions: BTreeSet<_> =
            at_hand().builds.iter().filter(|row| row.package == package).map(|row| &row.version).collect();
        versions.into_iter().rev().map(|version| (version.to_string(), String::new())).collect()
    })
}

/// Pythons, the newest first.
pub fn pythons() -> ArgValueCompleter {
    of(|| at_hand().pythons.iter().rev().map(|row| (row.version.to_string(), String::new())).collect())
}

/// Driver branches, the newest first.
pub fn drivers() -> ArgValueCompleter {
    of(|| {
        let cuda = |row: &crate::catalog::rows::Branch| {
            row.cuda.as_ref().map_or(String::new(), |cuda| format!("up to CUDA {cuda}"))
        };
        at_hand().branches.iter().rev().map(|row| (row.branch.to_string(), cuda(row))).collect()
    })
}

/// Operating systems.
pub fn systems() -> ArgValueCompleter {
    of(|| {
        let known = at_hand().oses.iter().filter(|row| row.refused.is_none());
        known.map(|row| (row.id.to_string(), row.name.to_string())).collect()
    })
}

/// Repositories of images.
pub fn images() -> ArgValueCompleter {
    of(|| at_hand().repositories().into_iter().map(|(name, tags)| (name, format!("{tags} tags"))).collect())
}

/// Processors.
pub fn processors() -> ArgValueCompleter {
    of(|| [CpuArch::X86_64, CpuArch::Aarch64].map(|arch| (arch.to_string(), String::new())).to_vec())
}

/// Targets of the gpuenv.toml here.
pub fn targets() -> ArgValueCompleter {
    of(|| target_names().into_iter().map(|name| (name, String::new())).collect())
}

/// What can be looked up: packages, keys of targets, rules, warnings, errors and checks.
pub fn topics() -> ArgValueCompleter {
    of(|| {
        let mut topics: Vec<(String, String)> =
            at_hand().packages().into_iter().map(|package| (package.name.clone(), package.range())).collect();
        for name in target_names() {
            topics.extend(["gpu", "driver", "image"].map(|key| (format!("target.{name}.{key}"), String::new())));
        }
        topics.extend(at_hand().rules.iter().map(|rule| (rule.id.to_string(), rule.says.to_string())));
        let named = [meaning::ERRORS, meaning::WARNINGS, meaning::CHECKS].concat();
        topics.extend(named.iter().map(|one| (one.code.to_string(), one.says().to_string())));
        topics
    })
}

/// Names of schemas.
pub fn schemas() -> ArgValueCompleter {
    of(|| schema::ALL.iter().map(|schema| (schema.name.to_string(), schema.about.to_string())).collect())
}

/// The gpuenv.toml here; an empty one where there is none that can be read.
fn here() -> Spec {
    let common = Common::default();
    let Ok(Some(place)) = files::spec_place(&common) else { return Spec::default() };
    files::read_spec(&place).map_or_else(|_| Spec::default(), |file| spec::parse_part(&file.text).0)
}

/// The names of the targets of the gpuenv.toml here.
fn target_names() -> Vec<String> {
    let here = here();
    let names = here.targets.iter().map(|target| target.name.clone());
    // A name that would have to be quoted is none that a spec may have.
    names.filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))).collect()
}

/// Names with what is said of each.
fn of(names: impl Fn() -> Vec<(String, String)> + Send + Sync + 'static) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let candidate = |(name, about): (String, String)| {
            CompletionCandidate::new(name).help((!about.is_empty()).then(|| about.into()))
        };
        begun(names().into_iter().map(candidate).collect(), typed)
    })
}

/// The candidates of which a word begins with what was typed, upper and lower case alike; those that begin so
/// themselves come first.
fn begun(candidates: Vec<CompletionCandidate>, typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str().map(str::to_lowercase) else { return Vec::new() };
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for candidate in candidates {
        let name = candidate.get_value().to_string_lossy().to_lowercase();
        if name.starts_with(&typed) {
            first.push(candidate);
        } else if name.match_indices('-').any(|(at, _)| name[at + 1..].starts_with(&typed)) {
            later.push(candidate);
        }
    }
    first.extend(later);
    first
}

#[cfg(test)]
mod tests;
