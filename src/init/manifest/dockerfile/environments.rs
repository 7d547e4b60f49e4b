//! Into which environment of an image a command installs: the one that its program lies in, that it names, or that was entered
//! before it. A gpuenv.toml describes one of them: that which the last stage enters, or which holds the frameworks.

use std::collections::{BTreeMap, BTreeSet};

use super::super::shell::{Made, activates, environment, file_name, is_conda, makes_environment};
use super::{Found, Reader};

/// What brings a Python of its own.
const PYTHONS: [&str; 4] = ["conda", "mambaforge", "miniforge", "pyenv"];

/// What is installed into one.
#[derive(Default)]
pub(super) struct Environment {
    pub found: Found,
    /// Its Python, where it was asked for by its number.
    pub python: Option<(String, usize)>,
    /// The line that makes it.
    pub made: Option<(usize, Made)>,
    /// Whether a command brings a Python that is not the system's.
    has_other_python: bool,
}

impl Environment {
    /// Whether it was made for what follows: nothing but a Python was put into it by name.
    fn is_empty(&self) -> bool {
        self.made.is_some() && self.found.wanted.iter().all(|wanted| wanted.name == "python")
    }

    fn holds_framework(&self) -> bool {
        self.found.frameworks().next().is_some()
    }

    /// Puts what stages before it, or the image itself, hold of it before its own.
    pub fn follows(&mut self, before: Environment) {
        let (own, other) = (&mut self.found, before.found);
        own.wanted.splice(0..0, other.wanted);
        own.uninstalls.extend(other.uninstalls);
        own.lists.extend(other.lists);
        own.pages.extend(other.pages);
        own.builds |= other.builds;
        own.variant = own.variant.take().or(other.variant);
        own.jetpack = own.jetpack.take().or(other.jetpack);
        own.host_compiler = own.host_compiler.take().or(other.host_compiler);
        own.system_python = own.system_python.or(other.system_python);
        self.has_other_python |= before.has_other_python;
        self.python = self.python.take().or(before.python);
        self.made = self.made.take().or(before.made);
    }
}

impl Reader {
    /// The environment of a command, by its name; it is empty for the image's own.
    pub(super) fn environment_of(&mut self, words: &[String], line: usize) -> String {
        let made = makes_environment(words);
        let named = made.as_ref().map(|made| made.name.clone()).or_else(|| self.named(words));
        let Some(stage) = self.stages.last_mut() else { return String::new() };
        let is_other = |word: &String| PYTHONS.iter().any(|one| word.to_ascii_lowercase().contains(one));
        stage.of("").has_other_python |= words.iter().any(is_other);
        if let Some(made) = made {
            stage.of(&made.name.clone()).made.get_or_insert((line, made));
        }
        let name = named.or_else(|| self.inside.clone()).unwrap_or_else(|| stage.entered.clone());
        if name == "base" { String::new() } else { name }
    }

    /// The one that a command names: `/x/bin/pip`, `conda run -n x`, `uv pip install --python /x`.
    fn named(&self, words: &[String]) -> Option<String> {
        let by_conda = words.iter().any(|word| is_conda(word));
        let options: &[&str] = if by_conda { &["-n", "--name", "-p", "--prefix"] } else { &["-p", "--python"] };
        let of_program = |word: &'_ str| {
            let (path, program) = word.rsplit_once("/bin/")?;
            let is_one = ["pip", "python", "uv"].iter().any(|one| program.starts_with(one));
            (is_one && self.is_environment(path)).then(|| environment(path).to_string())
        };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let (option, glued) = word.split_once('=').map_or((word.as_str(), None), |(one, value)| (one, Some(value)));
            let value = match options.contains(&option) {
                true => glued.or_else(|| rest.next().map(String::as_str)),
                false => None,
            };
            let is_one = |path: &&str| by_conda && !path.contains('/') || self.is_environment(path);
            let of_value = value.filter(is_one).map(|path| environment(path).to_string());
            if let Some(name) = of_program(value.unwrap_or(word)).or(of_value) {
                return Some(name);
            }
        }
        None
    }

    /// Whether a folder is an environment, and not where the system or conda itself keeps its programs.
    fn is_environment(&self, path: &str) -> bool {
        let name = environment(path);
        let is_made = |stage: &super::Stage| stage.environments.get(name).is_some_and(|one| one.made.is_some());
        let parent = path.trim_end_matches('/').rsplit_once('/').map_or("", |(parent, _)| file_name(parent));
        name.contains("venv") || parent == "envs" || self.stages.iter().any(is_made)
    }

    /// The one that a variable enters: `PATH=/x/bin:$PATH`.
    pub(super) fn entered_by(&self, word: &str) -> Option<String> {
        let (name, value) = word.split_once('=')?;
        if ["VIRTUAL_ENV", "CONDA_DEFAULT_ENV"].contains(&name) {
            let path = self.filled(value).ok().filter(|path| !path.is_empty())?;
            return Some(environment(&path).to_string());
        }
        let now = self.inside.as_ref().or(self.stages.last().map(|stage| &stage.entered));
        let of_part = |part: &str| match part {
            "$PATH" | "${PATH}" => now.filter(|now| !now.is_empty()).cloned(),
            _ => {
                let part = self.filled(part.split("${PATH").next().unwrap_or(part)).ok()?;
                let path = part.trim_end_matches('/').strip_suffix("/bin")?;
                self.is_environment(path).then(|| environment(path).to_string())
            }
        };
        value.split(':').filter(|_| name == "PATH").find_map(of_part)
    }

    /// Goes where a command of the shell leads, for the rest of a RUN; for good where it is written down.
    pub(super) fn enter(&mut self, by_variable: Option<String>, words: &[String]) {
        let Some(name) = by_variable.or_else(|| activates(words).map(str::to_string)) else { return };
        let is_written = words.first().is_some_and(|word| ["echo", "printf", "sed"].contains(&word.as_str()));
        match self.stages.last_mut().filter(|_| is_written) {
            Some(stage) => stage.entered.clone_from(&name),
            None => self.inside = Some(name.clone()),
        }
        self.entered.insert(name);
    }

    /// Where the shell, or what the image starts, runs in an environment: `SHELL ["conda", "run", "-n", "x", …]`.
    pub(super) fn starts_in(&mut self, words: &[String]) {
        if let (Some(name), Some(stage)) = (self.named(&self.each_filled(words).words), self.stages.last_mut()) {
            stage.entered.clone_from(&name);
            self.entered.insert(name);
        }
    }
}

/// Takes what one environment holds, and tells of what the others do; its Python.
///
/// What names none is in the one that is entered somewhere, or, where none is, in one that was made and left empty.
pub(super) fn chosen(
    mut all: BTreeMap<String, Environment>,
    last: &str,
    entered: &BTreeSet<String>,
    found: &mut Found,
) -> Option<(String, usize)> {
    let own = all.remove("").unwrap_or_default();
    let is_entered = all.keys().any(|name| entered.contains(name));
    let takes_own = |name: &str, one: &Environment| if is_entered { entered.contains(name) } else { one.is_empty() };
    let rank = |(name, one): &(&String, &Environment)| {
        let takes = takes_own(name, one);
        (one.holds_framework() || takes && own.holds_framework(), *name == last, takes, one.found.wanted.len())
    };
    let any_takes = all.iter().any(|(name, one)| takes_own(name, one));
    let best = all.iter().max_by_key(rank).map(|best| (best.0.clone(), rank(&best)));
    // The image's own is one of them where no other holds what is installed there.
    let of_own = (own.holds_framework(), false, false, own.found.wanted.len());
    let best = best.filter(|(_, best)| any_takes || *best > of_own);
    let takes = best.as_ref().is_none_or(|(name, _)| all.get(name).is_some_and(|one| takes_own(name, one)));
    let name = best.map(|(name, _)| name).unwrap_or_default();
    let mut one = all.remove(&name).unwrap_or_default();
    // A Python that is put beside them is there for each that says none.
    one.python = one.python.take().or_else(|| own.python.clone());
    // A venv has the Python of whoever makes it.
    if one.made.as_ref().is_some_and(|(_, made)| !made.by_conda) {
        one.found.system_python = one.found.system_python.or(own.found.system_python);
        one.has_other_python |= own.has_other_python;
    }
    match takes {
        true => one.follows(own),
        false => drop(all.insert(String::new(), own)),
    }
    let unnamed = || all.values().filter(|other| other.found.wanted.is_empty()).find_map(|other| other.made.clone());
    let made = one.made.take().or_else(|| unnamed().filter(|_| !name.is_empty()));
    found.apart = made.filter(|(_, made)| !made.is_open).map(|(line, made)| (line, made.by_conda));
    for (other, of) in all {
        found.builds |= of.found.builds;
        let place = if other.is_empty() { "that of the image".to_string() } else { format!("`{other}`") };
        let why = format!("it is installed into another environment, {place}: a gpuenv.toml describes one");
        found.lists.extend(of.found.lists);
        of.found.wanted.into_iter().for_each(|wanted| found.leave(wanted.line, &wanted.written, why.as_str()));
    }
    let Environment { found: of, python, has_other_python, .. } = one;
    found.system_python = of.system_python.filter(|_| python.is_none() && !has_other_python);
    found.wanted = of.wanted;
    found.wanted.sort_by_key(|wanted| wanted.at);
    found.lists.extend(of.lists);
    found.lists.sort_by_key(|list| list.at);
    found.builds |= of.builds;
    (found.variant, found.jetpack) = (of.variant, of.jetpack);
    (found.uninstalls, found.host_compiler, found.pages) = (of.uninstalls, of.host_compiler, of.pages);
    python
}
