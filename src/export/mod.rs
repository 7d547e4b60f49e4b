//! L4, exports: the lock rendered for the tools that act on it. Pure: a lock in, a text out.
//!
//! A lock is a file in a repository, so it can be edited by hand or by a stranger's pull request. Every
//! value is therefore checked against a strict pattern (`valid`) before it is quoted (`quote`) and printed.
//!
//! A format is a file with a `FORMAT` in it, a line in `FORMATS`, and a paragraph in docs/exports.md.

mod apptainer;
mod builds;
mod cmake;
mod compose;
mod conda;
mod devcontainer;
mod dockerfile;
mod drivers;
mod env;
mod error;
mod format;
mod github_actions;
mod images;
pub mod json;
mod kubernetes;
mod modal;
mod modulefile;
mod ordinary;
mod own;
mod pixi;
mod pylock;
pub mod quote;
mod remarks;
mod requirements;
mod seal;
mod services;
mod skypilot;
mod slurm;
mod steps;
mod uv;
pub(crate) mod valid;
mod wheels;

pub use compose::builds;
pub use error::ExportError;
pub use format::{Format, Merge, Merged, Opt, Options};
pub use seal::{EXPORT, Room, WRITTEN, Whose, carried, signed, whose};
pub use slurm::VERIFY_LOCK;

/// Every format, in the order of the help.
pub const FORMATS: &[&Format] = &[
    &uv::FORMAT,
    &pylock::FORMAT,
    &requirements::FORMAT,
    &dockerfile::FORMAT,
    &apptainer::FORMAT,
    &compose::FORMAT,
    &devcontainer::FORMAT,
    &kubernetes::FORMAT,
    &slurm::FORMAT,
    &modulefile::FORMAT,
    &cmake::FORMAT,
    &env::FORMAT,
    &pixi::FORMAT,
    &conda::FORMAT,
    &github_actions::FORMAT,
    &skypilot::FORMAT,
    &modal::FORMAT,
    &json::FORMAT,
];

/// The format of that name.
pub fn format(name: &str) -> Result<&'static Format, ExportError> {
    FORMATS.iter().copied().find(|format| format.name == name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let hint = format::meant(name, &known);
        ExportError::UnknownFormat { name: name.to_string(), hint, known: known.join(", ") }
    })
}

/// Every option of any format, by name; those of one name are one option.
pub fn options() -> Vec<(Opt, Vec<&'static str>)> {
    let mut all: Vec<(Opt, Vec<&'static str>)> = Vec::new();
    for format in FORMATS {
        for option in format.options {
            match all.iter_mut().find(|(known, _)| known.name == option.name) {
                Some((_, formats)) => formats.push(format.name),
                None => all.push((*option, vec![format.name])),
            }
        }
    }
    all
}
