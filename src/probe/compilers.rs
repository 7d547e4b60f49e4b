//! The host compilers that nvcc and torch's extensions may call, and who points to them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::host::{Compiler, ProbeStatus, Record};
use crate::types::{Version, grouped};

use super::context::ProbeContext;
use super::program::{self, LIMIT, Said};

/// Compilers looked for on PATH.
const NAMES: &[&str] = &["gcc", "g++", "clang", "clang++"];
/// Variables that name one: nvcc reads the first, CMake the second, everybody the others.
const VARIABLES: &[&str] = &["NVCC_CCBIN", "CUDAHOSTCXX", "CXX", "CC"];

/// Looks for host compilers.
pub fn look(context: &ProbeContext, record: &mut Record) {
    let began = Instant::now();
    let by_variable = VARIABLES.iter().filter_map(|variable| {
        let path = named(context, &context.variable(variable)?.to_string_lossy())?;
        Some((path, variable.to_string()))
    });
    let on_path = NAMES.iter().filter_map(|name| Some((program::on_path(context, name)?, "PATH".to_string())));
    let found = grouped(by_variable.chain(on_path));
    record.compilers = found.into_iter().map(|(path, named_by)| compiler(context, &path, named_by)).collect();
    let ended = if record.compilers.is_empty() { ProbeStatus::Absent } else { ProbeStatus::Done };
    record.probes.push(super::told("compilers", ended, began));
}

/// The program that a variable such as CXX names: a path, a name on PATH, arguments after it.
fn named(context: &ProbeContext, value: &str) -> Option<PathBuf> {
    let word = value.split_whitespace().next()?;
    let path = Path::new(word);
    // What lies in the project is not run, whoever names it: a checkout can set variables too, by direnv or a task runner.
    let found = match word.contains('/') {
        true => {
            let place = context.at(word);
            // nvcc takes the directory of a compiler too.
            let inside = path.join("g++");
            match place.is_dir() {
                true => program::is_program(&context.at(&inside.to_string_lossy())).then_some(inside),
                false => (path.is_absolute() && program::is_program(&place)).then(|| path.to_path_buf()),
            }
        }
        false => program::on_path(context, word),
    };
    found.filter(|path| !context.is_of_project(path))
}

fn compiler(context: &ProbeContext, path: &Path, named_by: Vec<String>) -> Compiler {
    let said = match context.is_here() {
        true => program::run(context, path, &["--version"], LIMIT),
        false => Said::default(),
    };
    let (kind, version) = read(&said.out);
    let of_name = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = kind.map_or_else(of_name, str::to_string);
    Compiler { name, path: Some(path.display().to_string()), version, named_by, fault: said.fault }
}

/// What `--version` says: `g++ (Ubuntu 13.3.0-6ubuntu2) 13.3.0`, `Ubuntu clang version 18.1.3 (1ubuntu1)`.
fn read(text: &str) -> (Option<&'static str>, Option<Version>) {
    let first = text.lines().next().unwrap_or_default();
    let parse = |text: &str| Version::parse(text).ok();
    if first.contains("clang version") {
        return (Some("clang"), program::version_after(first, "clang version ").and_then(parse));
    }
    if !text.contains("Free Software Foundation") {
        return (None, None);
    }
    // What stands in brackets is the distribution's name for it, and may hold a version too.
    let after = first.rsplit_once(") ").map_or(first, |(_, after)| after);
    (Some("gcc"), after.split_whitespace().find_map(program::leading_version).and_then(parse))
}

#[cfg(test)]
mod tests;
