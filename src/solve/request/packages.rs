//! The packages of a spec: those that are solved with, and those that are carried along.

use crate::catalog::rows::FRAMEWORKS;
use crate::spec::{Written, other_names, suggest};
use crate::types::name::STACK_PARTS;
use crate::types::{Constraint, Specifier, nvidia};

use super::reader::Reader;
use crate::solve::problem::Problem;

impl<'c> Reader<'_, 'c> {
    pub(super) fn package(&mut self, name: &str, written: &Written<Constraint>) -> Option<&'c str> {
        let packages = || self.problem.package_names();
        let found = packages().find(|package| *package == name);
        if found.is_none() {
            let (message, help) = self.stranger(name, &written.value);
            self.error("unknown-package", message, Some(help), written);
        }
        found
    }

    /// What is said of a package under `[stack]` that nothing is known of.
    fn stranger(&self, name: &str, asked: &Constraint) -> (String, String) {
        let each = of_each_cuda(self.problem, name);
        let under_packages = format!("put it under [packages]: `{name} = \"{}\"`", ordinary_text(asked));
        let message = format!("unknown package `{name}`: this catalog has no releases of it");
        if let Some(key) = of_stack(self.problem, name) {
            return (message, format!("write `{key} = \"{}\"`", asked.as_str()));
        }
        if !each.is_empty() {
            let each: Vec<String> = each.iter().map(|one| format!("`{one}`")).collect();
            return (message, format!("write one of those for a single CUDA major: {}", each.join(", ")));
        }
        if is_ordinary(self.problem, name) {
            return (format!("`{name}` is an ordinary package: gpuenv does not choose its version"), under_packages);
        }
        if let Some(at) = lies_elsewhere(self.problem, name) {
            let message = format!("unknown package `{name}`: its wheels for CUDA lie at {at}, which nobody has read");
            let help = format!("describe the one that you take by a row in an overlay, or {under_packages}, unchecked");
            return (message, help);
        }
        if let Some(help) = self.of_other_cuda(name) {
            return (message, format!("{help}\nor {under_packages}, unchecked"));
        }
        let near = suggest::slip(name, known(self.problem));
        let near = near.map_or(String::new(), |near| format!("did you mean `{near}`?\n"));
        let help = format!(
            "{near}if it is an ordinary package, {under_packages}\nif it depends on CUDA, an overlay can describe it; \
             `gpuenv catalog list` shows what is known"
        );
        (message, help)
    }

    /// The names by which a package is known for a CUDA, where another name for one CUDA is written: those that projects gave
    /// up (`cupy-cuda116`), and those of releases that are not known.
    fn of_other_cuda(&self, name: &str) -> Option<String> {
        let stem = other_names::without_cuda(name)?;
        if self.problem.package_names().any(|one| one == stem) {
            return Some(format!("write `{stem}`, which is known without a CUDA in its name"));
        }
        let family = of_each_cuda(self.problem, stem);
        let listed = |names: &[&str]| names.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(" or ");
        let major = |one: &str| other_names::cuda_of(one).map(|cuda| cuda.major());
        let same: Vec<&str> = family.iter().copied().filter(|one| major(one) == major(name)).collect();
        match (same.as_slice(), major(name)) {
            ([], _) if family.is_empty() => None,
            ([], Some(cuda)) => Some(format!("for CUDA {cuda} none is known; {stem} is known as {}", listed(&family))),
            ([], None) => Some(format!("{stem} is known as {}", listed(&family))),
            (same, cuda) => {
                let cuda = cuda.map_or_else(String::new, |cuda| format!(" for CUDA {cuda}"));
                Some(format!("write {}, as which {stem} is known{cuda}", listed(same)))
            }
        }
    }

    /// What `[packages]` asks for is none of what is solved with, by whatever name.
    pub(super) fn ordinary(&mut self, name: &str, written: &Written<Specifier>) {
        let is_known = known(self.problem).any(|known| known == name);
        // The CPU's build of a framework that the stack has no other of: users of JAX read their data with it.
        let of_cpu = name.strip_suffix("-cpu").filter(|framework| FRAMEWORKS.contains(framework));
        if of_cpu.is_some_and(|framework| !self.stack.iter().any(|(key, _)| key == framework)) {
            return;
        }
        let (message, keys) = match (is_known, of_stack(self.problem, name)) {
            (true, _) => (format!("gpuenv chooses the version of `{name}`: it belongs under [stack]"), vec![name]),
            (false, Some(key)) => (format!("`{name}` is chosen as `{key}` of the stack"), vec![key]),
            (false, None) => {
                (format!("gpuenv chooses `{name}` by a name for each major of CUDA"), of_each_cuda(self.problem, name))
            }
        };
        if keys.is_empty() {
            return;
        }
        let range = written.value.specifier();
        let range = if Constraint::parse(&range).is_ok() { range } else { "*".to_string() };
        let lines: Vec<String> = keys.iter().map(|key| format!("`{key} = \"{range}\"`")).collect();
        let without = match &written.value.extras[..] {
            [] => String::new(),
            extras => format!("; [stack] has no extras, so put what [{}] brings under [packages]", extras.join(",")),
        };
        let help = format!("move it under [stack]: {}{without}", lines.join(" or "));
        self.error("stack-package", message, Some(help), written);
    }
}

/// Whether a package is known, and nothing is solved with it: it belongs under `[packages]`.
pub fn is_ordinary(problem: &Problem<'_>, name: &str) -> bool {
    let is_solved = || known(problem).any(|one| one == name) || of_stack(problem, name).is_some();
    let is_named = || problem.catalog.asks.iter().any(|row| *row.package == *name || *row.of == *name);
    !is_solved() && of_each_cuda(problem, name).is_empty() && is_named()
}

/// Whether nothing is known of a package, and its name is near to none that `[stack]` knows.
pub fn is_unheard_of(problem: &Problem<'_>, name: &str) -> bool {
    let is_near = || suggest::slip(name, known(problem)).is_some() || of_stack(problem, name).is_some();
    !is_near() && of_each_cuda(problem, name).is_empty() && !is_ordinary(problem, name)
}

/// Where the wheels of a package lie of which no release is known, as its publisher says.
pub fn lies_elsewhere<'c>(problem: &Problem<'c>, name: &str) -> Option<&'c str> {
    problem.catalog.listings.of(name).iter().find_map(|row| row.elsewhere.as_deref())
}

/// What `[stack]` can name.
fn known<'c>(problem: &Problem<'c>) -> impl Iterator<Item = &'c str> {
    problem.package_names().chain(STACK_PARTS.iter().copied())
}

/// The key of `[stack]` that a name of the same package stands for.
fn of_stack(problem: &Problem<'_>, name: &str) -> Option<&'static str> {
    let is_known = |key: &&str| known(problem).any(|known| known == *key);
    nvidia::part_of(name).or_else(|| other_names::other_name(name).filter(is_known))
}

/// The packages that a name is called by for one major of CUDA each.
fn of_each_cuda<'c>(problem: &Problem<'c>, name: &str) -> Vec<&'c str> {
    problem.package_names().filter(|one| other_names::without_cuda(one) == Some(name)).collect()
}

/// What was asked for under `[stack]` as `[packages]` writes it.
fn ordinary_text(asked: &Constraint) -> String {
    let pinned = match asked.single() {
        Some(version) => format!("=={version}.*"),
        None => asked.as_str().split_whitespace().collect(),
    };
    Specifier::parse(&pinned).map_or_else(|_| "*".to_string(), |asked| asked.to_string())
}
