//! What is asked of packages, before anything is looked up: constraints that admit nothing, and builds for other makers'
//! GPUs.

use crate::catalog::rows::FRAMEWORKS;
use crate::spec::Written;
use crate::types::constraint::{Comparison, Op};
use crate::types::{Constraint, Specifier, Version};
use crate::warning::PythonPatch;

use super::reader::Reader;

/// The labels of builds for other makers' GPUs begin so, and for whose they are.
const OTHER_MAKERS: [(&str, &str); 2] = [("rocm", "AMD's GPUs"), ("xpu", "Intel's GPUs")];

/// Whose GPUs a build with this label is for, if not NVIDIA's.
pub fn other_maker(label: &str) -> Option<&'static str> {
    OTHER_MAKERS.iter().find(|(start, _)| label.starts_with(start)).map(|(_, whose)| *whose)
}

impl Reader<'_, '_> {
    /// A constraint that nothing can meet, or that only what is made for other GPUs could, is a slip of its own.
    pub(super) fn constraint(&mut self, name: &str, written: &Written<Constraint>) {
        let wanted = &written.value;
        if let Some(empty) = wanted.alternatives().iter().find(|all| admits_nothing(all)) {
            let message = format!("`{name} = \"{}\"` admits no version: `,` means and", wanted.as_str().escape_debug());
            self.error("empty-constraint", message, Some(help_for(empty)), written);
        }
        if name == "python" {
            let named = wanted.comparisons().filter(|one| one.op == Op::Prefix).filter_map(|one| one.version);
            for written in named.filter(|version| version.len() > 2 && !version.is_prerelease()) {
                let patch = PythonPatch { written: written.as_str(), line: written.prefix(2) };
                self.warn(&patch, "stack.python".to_string());
            }
        }
        let mut labels = wanted.comparisons().filter_map(|one| one.variant.as_deref());
        if let Some(whose) = labels.find_map(other_maker).filter(|_| FRAMEWORKS.contains(&name)) {
            let message =
                format!("`{name} = \"{}\"` is for {whose}, which gpuenv does not know", wanted.as_str().escape_debug());
            let help = "gpuenv resolves builds for NVIDIA's GPUs (`+cu126`) and for CPUs (`+cpu`) only".to_string();
            self.error("out-of-scope", message, Some(help), written);
        }
    }
}

impl Reader<'_, '_> {
    /// The same of an ordinary package.
    pub(super) fn specifier(&mut self, name: &str, written: &Written<Specifier>) {
        if written.value.comparisons.len() > 1 && written.value.excludes(&Specifier::default()) {
            let message = format!("`{name} = \"{}\"` admits no version: `,` means and", written.value);
            self.error(
                "empty-constraint",
                message,
                Some("drop one of its parts, or move a bound".to_string()),
                written,
            );
        }
    }
}

/// Whether no version, known or not, meets some comparisons at once. The edges of what each admits are tried.
pub fn admits_nothing(all: &[Comparison]) -> bool {
    let bounds: Vec<Version> = all.iter().filter_map(|one| one.version).collect();
    let edges = bounds.iter().flat_map(|bound| [Some(*bound), beside(bound, 1), beside(bound, -1)]).flatten();
    let mut tried = edges.chain(Version::parse("0"));
    bounds.len() > 1 && !tried.any(|version| all.iter().all(|one| one.admits(&version)))
}

/// The version next to one: its last number higher or lower by one.
fn beside(version: &Version, step: i64) -> Option<Version> {
    let mut numbers: Vec<u64> = version.components().collect();
    let last = numbers.last_mut()?;
    *last = last.checked_add_signed(step)?;
    let text: Vec<String> = numbers.iter().map(u64::to_string).collect();
    Version::parse(&text.join(".")).ok()
}

fn help_for(all: &[Comparison]) -> String {
    let versions = || all.iter().filter_map(|one| one.version);
    let above = all.iter().filter(|one| one.op == Op::Above).filter_map(|one| one.version);
    let hides =
        above.into_iter().find(|bound| versions().any(|other| other.cmp_prefix(bound).is_eq() && other != *bound));
    match hides {
        Some(bound) => format!("`>{bound}` leaves out every version that begins with {bound}: write `>={bound}`"),
        None if all.iter().all(|one| one.op == Op::Prefix) => {
            let listed: Vec<String> = versions().map(|version| version.to_string()).collect();
            // `2,4`, as many countries write it.
            let decimal = listed.len() == 2 && listed.iter().all(|number| !number.contains('.'));
            let decimal = if decimal { format!("for a release write `{}`, ", listed.join(".")) } else { String::new() };
            format!("{decimal}for one or the other write `{}`", listed.join(" || "))
        }
        None => "drop one of its parts, or move a bound".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_admits_nothing_is_told_from_what_nobody_has_published() {
        let is_empty =
            |text: &str| Constraint::parse(text).unwrap().alternatives().iter().any(|all| admits_nothing(all));
        for text in [">2.6,<2.5", "2.5.1,2.6", "2,<1.9", ">2,<2.5", ">=2.0,<2.1,!=2.0", "2.5 || >3,<3"] {
            assert!(is_empty(text), "{text}");
        }
        for text in
            ["*", "99", ">=2.5,<2.6", "2,2.5", ">2.5.1,<2.6", "<2,!=1.9", "~=2.4,<2.5", ">=2.5,!=2.5", "<=2,>=2"]
        {
            assert!(!is_empty(text), "{text}");
        }
        for text in ["<0.1", ">=0,<0.0.1", "2.5+cu124,!=2.5.0", ">=2.0.0,<2.0.1,!=2.0.0.post1"] {
            assert!(!is_empty(text), "{text}");
        }
    }
}
