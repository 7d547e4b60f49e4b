//! L4, exports: the lock rendered for the tools that act on it. Pure: a lock in, a text out.
//!
//! A lock is a file in a repository, so it can be edited by hand or by a stranger's pull request. Every
//! value is therefore checked against a strict pattern (`valid`) before it is quoted (`quote`) and printed.

mod dockerfile;
mod env;
mod error;
pub mod json;
mod quote;
mod requirements;
mod uv;
mod valid;

pub use error::ExportError;

use crate::lock::{Lock, TargetLock, Wheel};
use crate::words::address;

/// One thing the lock can be rendered as.
#[derive(Debug)]
pub struct Format {
    /// What is typed: `gpuenv export NAME`.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// What is rendered describes one target, not the whole lock.
    pub per_target: bool,
    render: Render,
}

/// Targets with their names, in the lock's order.
type Targets<'a> = [(&'a str, &'a TargetLock)];

/// What is compiled without isolation, because its documentation says so, and what these builds import or ask for.
fn unisolated<'a>(wheels: &[&'a Wheel]) -> Result<(Vec<&'a str>, Vec<&'a str>), ExportError> {
    let distinct = |names: Vec<&'a String>| -> Result<Vec<&'a str>, ExportError> {
        let mut names = names.into_iter().map(|name| valid::package(name)).collect::<Result<Vec<_>, _>>()?;
        names.sort();
        names.dedup();
        Ok(names)
    };
    let beside = || wheels.iter().filter(|wheel| wheel.unisolated.is_some());
    let tools = distinct(beside().flat_map(|wheel| &wheel.tools).collect())?;
    Ok((distinct(beside().filter_map(|wheel| wheel.unisolated.as_ref()).collect())?, tools))
}

/// Wheels whose file is named after another version than it holds, which uv refuses unless [`UNCHECKED`] is set.
fn misnamed<'a>(wheels: &[&'a Wheel]) -> Vec<&'a str> {
    let told = |wheel: &Wheel| wheel.url.as_deref().and_then(address::version_in).map(str::to_string);
    let is_other = |wheel: &&&Wheel| told(wheel).is_some_and(|told| !address::is_same_version(&told, &wheel.version));
    wheels.iter().filter(is_other).map(|wheel| wheel.package.as_str()).collect()
}

/// Lets uv install wheels named otherwise than their metadata says.
const UNCHECKED: &str = "UV_SKIP_WHEEL_FILENAME_CHECK";

/// How a format reads the lock.
#[derive(Debug)]
enum Render {
    /// Target by target; without `--target` all targets must agree on the result.
    Target(fn(&Lock, &str, &TargetLock, &Options) -> Result<String, ExportError>),
    /// All chosen targets at once.
    Whole(fn(&Lock, &Targets) -> Result<String, ExportError>),
}

/// Every format, in the order of the help.
pub const FORMATS: &[&Format] = &[&env::FORMAT, &dockerfile::FORMAT, &requirements::FORMAT, &uv::FORMAT, &json::FORMAT];

/// What the user chose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// `--target NAME`
    pub target: Option<String>,
    /// `--shell`; only `env` reads it.
    pub shell: Shell,
    /// `--deactivate`; only `env` reads it.
    pub deactivate: bool,
    /// `--hashes`; only `requirements` reads it.
    pub hashes: bool,
}

/// Whose syntax `env` writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shell {
    /// Any POSIX shell: dash, mksh, busybox and the two below.
    #[default]
    Sh,
    /// The same text as for `sh`.
    Bash,
    /// The same text as for `sh`.
    Zsh,
    /// fish has a syntax of its own.
    Fish,
}

impl Shell {
    /// Every shell, in the order of the help.
    pub const ALL: &'static [Shell] = &[Shell::Sh, Shell::Bash, Shell::Zsh, Shell::Fish];

    /// What is typed after `--shell`.
    pub fn name(self) -> &'static str {
        match self {
            Shell::Sh => "sh",
            Shell::Bash => "bash",
            Shell::Zsh => "zsh",
            Shell::Fish => "fish",
        }
    }

    /// Reads a name as typed after `--shell`.
    pub fn parse(name: &str) -> Option<Shell> {
        Shell::ALL.iter().copied().find(|shell| shell.name() == name)
    }
}

/// The format of that name.
pub fn format(name: &str) -> Result<&'static Format, ExportError> {
    FORMATS.iter().copied().find(|format| format.name == name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        ExportError::UnknownFormat { name: name.to_string(), hint: nearest(name, &known), known: known.join(", ") }
    })
}

impl Format {
    /// Renders the lock.
    pub fn render(&self, lock: &Lock, options: &Options) -> Result<String, ExportError> {
        if options.hashes && self.name != requirements::FORMAT.name {
            return Err(ExportError::NoHashes { format: self.name });
        }
        let chosen = choose(lock, options)?;
        match self.render {
            Render::Whole(render) => render(lock, &chosen),
            Render::Target(render) => {
                let results = chosen.iter().map(|(name, target)| render(lock, name, target, options));
                agree(results.collect(), &chosen)
            }
        }
    }
}

/// The targets asked for: the named one, or all.
fn choose<'a>(lock: &'a Lock, options: &Options) -> Result<Vec<(&'a str, &'a TargetLock)>, ExportError> {
    let all: Vec<_> = lock.target.iter().map(|(name, target)| (name.as_str(), target)).collect();
    let Some(wanted) = &options.target else {
        return if all.is_empty() { Err(ExportError::NoTarget) } else { Ok(all) };
    };
    match all.iter().find(|(name, _)| name == wanted) {
        Some(found) => Ok(vec![*found]),
        None => {
            let known = names(&all);
            let hint = nearest(wanted, &known.iter().map(String::as_str).collect::<Vec<_>>());
            Err(ExportError::UnknownTarget { name: wanted.clone(), hint, known: known.join(", ") })
        }
    }
}

/// One result for all targets, if they have one: nobody is asked to choose between equal things.
fn agree(mut results: Vec<Result<String, ExportError>>, targets: &Targets) -> Result<String, ExportError> {
    let differ = results.windows(2).any(|pair| match (&pair[0], &pair[1]) {
        (Ok(left), Ok(right)) => left != right,
        (Err(_), Err(_)) => false,
        _ => true,
    });
    if differ { Err(ExportError::TargetNeeded(names(targets))) } else { results.swap_remove(0) }
}

fn names(targets: &Targets) -> Vec<String> {
    targets.iter().map(|(name, _)| name.to_string()).collect()
}

/// The end of an "unknown" message: what was probably meant.
fn nearest(typed: &str, known: &[&str]) -> String {
    known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(typed, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min()
        .map_or(String::new(), |(_, name)| format!("; did you mean `{name}`?"))
}
