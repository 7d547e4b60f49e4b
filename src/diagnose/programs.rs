//! Whose message it is: the packages that it names. What one of them lacks, or was built for, is nothing to a stack without it;
//! what is said of the driver, a GPU or the system is something to every stack.

use super::decode;
use super::signatures::Match;
use super::text::Normalised;
use crate::catalog::rows::Component;
use crate::host::packages::program;
use crate::types::name::package;

/// What belongs to a program: how it was built, and which libraries it finds.
const OF_PROGRAMS: &[Component] = &[
    Component::Torch,
    Component::Toolkit,
    Component::Cudnn,
    Component::Nccl,
    Component::Gcc,
    Component::Python,
    Component::LibraryPath,
];

/// The package that was read out, else those that the row's code and the lines of the message name.
pub fn named(found: &Match, text: &Normalised<'_>) -> Vec<String> {
    if !OF_PROGRAMS.contains(&found.row.component) {
        return Vec::new();
    }
    let implied = || found.row.gives.iter().find_map(|given| given.strip_prefix("package="));
    if let Some(named) = super::value::text(&found.extract, "package").or_else(implied) {
        return vec![package(named)];
    }
    let mut named: Vec<String> = program(&found.row.code).into_iter().map(str::to_string).collect();
    for place in &found.places {
        let words = text.plain[text.line(place)].split(|c: char| !c.is_ascii_alphanumeric() && !"_-".contains(c));
        let of_line = words.map(decode::module).filter_map(|word| program(&word));
        named.extend(of_line.map(str::to_string));
    }
    named.sort_unstable();
    named.dedup();
    named
}
