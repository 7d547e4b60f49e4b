//! What a format is: a name, the options that it alone understands, and a pure function from a lock to a text.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::lock::{Lock, TargetLock};
use crate::nearest::nearest;

use super::{ExportError, quote, seal, valid};

/// One thing the lock can be rendered as.
#[derive(Debug)]
pub struct Format {
    /// What is typed: `gpuenv export NAME`.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// The file it usually is.
    pub file: &'static str,
    /// What it can be told beside the target.
    pub options: &'static [Opt],
    /// The command that comes next, once the text stands in a file of this name.
    pub next: fn(lock: &Lock, file: &str, options: &Options) -> String,
    /// Puts a rendered text into a file that people wrote; none: such a file is left alone.
    pub merge: Option<Merge>,
    /// How it installs packages; none where it installs nothing.
    pub(super) installs: Option<Installs>,
    pub(super) render: Render,
}

/// How a format installs packages, as far as what it says of them depends on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Installs {
    /// By pip, which cannot be told from which index one package comes.
    pub by_pip: bool,
    /// All at once: it has no place for what is compiled beside what is installed already.
    pub at_once: bool,
}

impl Installs {
    /// Each package from its index, and one after the other where that is needed.
    pub const IN_ORDER: Option<Installs> = Some(Installs { by_pip: false, at_once: false });
    /// By one call of pip.
    pub const BY_PIP: Option<Installs> = Some(Installs { by_pip: true, at_once: true });
    /// By several calls of pip.
    pub const BY_PIP_IN_ORDER: Option<Installs> = Some(Installs { by_pip: true, at_once: false });
}

/// From the old text of a file and what was rendered to the new one; `name` is what messages call the file.
pub type Merge = fn(old: &str, rendered: &str, name: &str) -> Result<Merged, ExportError>;

/// A file of somebody's with what was rendered in it.
#[derive(Debug, Default)]
pub struct Merged {
    /// Its new text.
    pub text: String,
    /// What its owner has to know, in sentences.
    pub notes: Vec<String>,
    /// What the command that comes next has to say, for what its owner wrote.
    pub argument: Option<String>,
}

/// The folder of a file that a program finds there by its name, as an option; nothing for the one it is called in.
pub(super) fn folder_option(option: &str, file: &str) -> String {
    match file.rsplit_once('/') {
        None | Some((".", _)) => String::new(),
        Some(("", _)) => format!(" {option} /"),
        Some((folder, _)) => format!(" {option} {}", quote::sh_word(folder)),
    }
}

/// A command that reads a file by its usual name, after a word of that name where the file has another one.
pub(super) fn by_its_name(file: &str, usual: &str, command: &str) -> String {
    match file.rsplit('/').next() == Some(usual) {
        true => command.to_string(),
        false => format!("rename it to {usual}, then: {command}"),
    }
}

/// An option of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opt {
    /// As it is typed, without the dashes.
    pub name: &'static str,
    /// What stands for its value in the help; empty for a switch.
    pub value: &'static str,
    /// The values it takes; empty: any that the format accepts.
    pub choices: &'static [&'static str],
    /// One line of help.
    pub help: &'static str,
}

impl Opt {
    /// An option with a value.
    pub const fn value(name: &'static str, value: &'static str, help: &'static str) -> Opt {
        Opt { name, value, choices: &[], help }
    }

    /// An option without one.
    pub const fn switch(name: &'static str, help: &'static str) -> Opt {
        Opt { name, value: "", choices: &[], help }
    }

    /// Whether it is given without a value.
    pub fn is_switch(&self) -> bool {
        self.value.is_empty()
    }
}

/// What the user chose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// `--target NAME`
    pub target: Option<String>,
    /// Options of formats by name; a switch has an empty value.
    pub values: BTreeMap<String, String>,
    /// Where the text will stand, from the project's folder; none: where such a file usually is.
    pub file: Option<String>,
    /// Whether all targets get one Dockerfile: every target asks, and who knows has rendered it for all of them.
    pub is_one_dockerfile: Rc<OnceCell<bool>>,
}

impl Options {
    /// Options of a format by name.
    pub fn of(values: impl Iterator<Item = (String, String)>) -> Options {
        Options { values: values.collect(), ..Options::default() }
    }

    /// With one more option.
    pub fn with(mut self, name: &str, value: &str) -> Options {
        self.values.insert(name.to_string(), value.to_string());
        self
    }

    /// The value of an option.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Where the text will stand, from the project's folder, as it is typed in a command.
    pub(super) fn place<'o>(&'o self, usual: &'o str) -> &'o str {
        self.file.as_deref().filter(|file| valid::is_path(file)).unwrap_or(usual)
    }

    /// From the folder that the text will stand in up to the project's: `.`, `..`, `../..`.
    pub(super) fn way_up(&self, usual: &str) -> String {
        let depth = self.file.as_deref().unwrap_or(usual).matches('/').count();
        if depth == 0 { ".".to_string() } else { vec![".."; depth].join("/") }
    }

    /// Whether a switch is on.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }
}

/// Targets with their names, in the lock's order.
pub(super) type Targets<'a> = [(&'a str, &'a TargetLock)];

/// How a format reads the lock.
#[derive(Debug)]
pub(super) enum Render {
    /// Target by target; without `--target` all targets must agree on the result.
    Target(fn(&Lock, &str, &TargetLock, &Options) -> Result<String, ExportError>),
    /// All chosen targets at once.
    Whole(fn(&Lock, &Targets, &Options) -> Result<String, ExportError>),
}

impl Format {
    /// Renders the lock.
    pub fn render(&self, lock: &Lock, options: &Options) -> Result<String, ExportError> {
        self.check(options)?;
        let chosen = choose(lock, options)?;
        let text = match self.render {
            Render::Whole(render) => render(lock, &chosen, options),
            Render::Target(render) => {
                let results = chosen.iter().map(|(name, target)| render(lock, name, target, options));
                agree(results.collect(), &chosen)
            }
        }?;
        // What is merged says by itself which parts are gpuenv's.
        Ok(if self.merge.is_some() { text } else { seal::sealed(text, seal::EXPORT) })
    }

    /// An option of another format must not look as if it had done something.
    pub fn check(&self, options: &Options) -> Result<(), ExportError> {
        for (name, value) in &options.values {
            let Some(option) = self.options.iter().find(|option| option.name == name) else {
                let known = self.options.iter().map(|option| option.name).collect();
                return Err(ExportError::NotAnOption { name: name.clone(), format: self.name, known });
            };
            let suits = match option.choices {
                [] => option.is_switch() == value.is_empty(),
                choices => choices.contains(&value.as_str()),
            };
            if !suits {
                let expected = match option.choices {
                    [] if option.is_switch() => "no value, in gpuenv.toml `true`".to_string(),
                    [] => format!("a value ({})", option.help),
                    choices => choices.join(", "),
                };
                return Err(ExportError::bad_option(option.name, value, &expected));
            }
        }
        Ok(())
    }
}

/// The targets asked for: the named one, or all.
pub(super) fn choose<'a>(lock: &'a Lock, options: &Options) -> Result<Vec<(&'a str, &'a TargetLock)>, ExportError> {
    let all: Vec<_> = lock.target.iter().map(|(name, target)| (name.as_str(), target)).collect();
    let Some(wanted) = &options.target else {
        return if all.is_empty() { Err(ExportError::NoTarget) } else { Ok(all) };
    };
    match all.iter().find(|(name, _)| name == wanted) {
        Some(found) => Ok(vec![*found]),
        None => {
            let known = names(&all);
            let hint = meant(wanted, &known.iter().map(String::as_str).collect::<Vec<_>>());
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

pub(super) fn names(targets: &Targets) -> Vec<String> {
    targets.iter().map(|(name, _)| name.to_string()).collect()
}

/// What was probably meant by an unknown name.
pub(super) fn meant(typed: &str, known: &[&str]) -> Option<String> {
    nearest(typed, known.iter().copied()).map(|name| format!("did you mean `{name}`?"))
}
