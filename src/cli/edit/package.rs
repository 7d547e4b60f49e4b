//! A package as it is typed behind `gpuenv add`: its name, and what is asked of its version.

use std::path::Path;

use crate::catalog::{Catalog, GpuMatch, OsMatch};
use crate::cli::args::edit::target_keys;
use crate::cli::{manifests, slips};
use crate::export::quote::sh_option;
use crate::report::{Exit, Failure, Problem, clean};
use crate::spec;
use crate::spec::other_names::other_name;
use crate::types::name::STACK_PARTS;
use crate::types::variant::line_of;
use crate::types::{Version, name};

/// What ends a name and begins a constraint. `+` begins the variant of a wheel, which may stand alone.
const BEGINS: [char; 6] = ['<', '>', '=', '!', '~', '+'];

/// The table of gpuenv.toml in which a package stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Those that are solved with.
    Stack,
    /// Ordinary ones, which are carried as they are written.
    Packages,
}

impl Table {
    /// What its header calls it.
    pub fn name(self) -> &'static str {
        match self {
            Table::Stack => "stack",
            Table::Packages => "packages",
        }
    }

    /// The key of one of its packages, `stack.torch`.
    pub fn key(self, package: &str) -> String {
        format!("{}.{package}", self.name())
    }
}

/// The name of `torch>=2.4`, and what stands behind it.
fn parted(word: &str) -> (String, &str) {
    let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c))).unwrap_or(word.len());
    (name::package(&word[..end]), word[end..].trim())
}

/// The name and what is asked of its version, as the table writes it that `table_of` tells for the name; `*` where nothing
/// is asked for.
pub fn read(word: &str, table_of: impl Fn(&str) -> Table) -> Result<(Table, String, String), Failure> {
    let word = word.trim();
    let (name, rest) = parted(word);
    if Version::parse(word).is_ok() {
        return Err(refuse(word, &format!("write the version behind its package, without a blank: `NAME=={word}`")));
    }
    let is_of_project = manifests::is_of_project(Path::new(word));
    if (is_of_project || Path::new(word).extension().is_some())
        && slips::is_file(word)
        && table_of(&name) == Table::Packages
    {
        let message = format!("`{}` is a file, and `gpuenv add` takes packages", clean(word));
        let help = match is_of_project {
            true => format!("take over what it asks for: `gpuenv init {}`", sh_option("--from", word)),
            false => "name a package, as in `gpuenv add torch==2.5.1`".to_string(),
        };
        return Err(Failure::new(Exit::BadInput, "usage", message).help(help));
    }
    if target_keys().iter().any(|key| key.name == name) && table_of(&name) == Table::Packages {
        let help =
            "write it under [target.NAME], or with a new target: `gpuenv target add NAME --help` lists what there is";
        let message = format!("`{name}` is not a package, but a key of a target");
        return Err(Failure::new(Exit::BadInput, "usage", message).help(help));
    }
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(refuse(word, "write a package, `torch`, or one with a version, `torch==2.5.1`"));
    }
    let table = table_of(&name);
    refuse_other_name(word, &name, rest)?;
    if table == Table::Stack {
        return of_stack(word).map(|(name, constraint)| (table, name, constraint));
    }
    let specifier = if rest.is_empty() { "*" } else { rest }.to_string();
    check(table, &name, &specifier).map(|()| (table, name, specifier))
}

/// The name and the constraint of `torch>=2.4,<2.8`.
fn of_stack(word: &str) -> Result<(String, String), Failure> {
    let (name, rest) = parted(word);
    let constraint = match rest.chars().next() {
        None => "*".to_string(),
        Some('@') => return Err(refuse(word, &instead(&name, rest.trim_start_matches('@').trim()))),
        Some('[') => {
            return Err(refuse(
                word,
                &format!("write `{name}` without the extra: gpuenv takes the one that brings CUDA"),
            ));
        }
        Some(_) if rest.contains(';') => {
            return Err(refuse(
                word,
                "leave the part behind `;` out: what differs between machines belongs under their targets",
            ));
        }
        Some('=') if !rest.starts_with("==") => return Err(refuse(word, &instead(&name, &rest[1..]))),
        Some('=') if rest.starts_with("===") => return Err(refuse(word, &instead(&name, &rest[3..]))),
        Some(c) if BEGINS.contains(&c) => bare(rest),
        Some(':') => return Err(refuse(word, &instead(&name, &rest[1..]))),
        Some(_) => return Err(refuse(word, &instead(&name, rest))),
    };
    check(Table::Stack, &name, &constraint).map(|()| (name, constraint))
}

/// `2.5.1` for `==2.5.1`: a bare version is how gpuenv.toml says that.
fn bare(constraint: &str) -> String {
    match constraint.strip_prefix("==") {
        Some(version) if !version.contains([',', '|']) => version.trim().to_string(),
        _ => constraint.to_string(),
    }
}

fn instead(name: &str, version: &str) -> String {
    let version = version.trim();
    let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && check(Table::Stack, name, version).is_ok();
    match is_version {
        true => format!("write `{name}=={version}`"),
        false => examples(name),
    }
}

fn examples(name: &str) -> String {
    format!("write `{name}` for any version, `{name}==2.5.1`, or a range in quotes, `\"{name}>=2.4,<2.8\"`")
}

/// Refuses the name by which others call a package of the stack, with what to type: nobody has edited a file.
fn refuse_other_name(word: &str, name: &str, rest: &str) -> Result<(), Failure> {
    let Some(meant) = other_name(name) else { return Ok(()) };
    let version = rest.trim_start_matches('=').trim();
    let is_version = version.starts_with(|c: char| c.is_ascii_digit());
    let asked = if is_version { format!("=={version}") } else { rest.to_string() };
    let meant_so = match name.ends_with("-cpu") {
        true if is_version => format!("{meant}{asked}+cpu"),
        true => format!("{meant}+cpu"),
        // A shell would take `>` for a file.
        false if asked.contains(['<', '>', '|', '*', ' ']) => format!("\"{meant}{asked}\""),
        false => format!("{meant}{asked}"),
    };
    let message = format!("`{}` is `{meant}` in gpuenv.toml", clean(word));
    Err(Failure::new(Exit::BadInput, "usage", message).help(clean(&format!("run `gpuenv add {meant_so}`"))))
}

/// Refuses what a table would not take, in its words.
fn check(table: Table, name: &str, constraint: &str) -> Result<(), Failure> {
    let (key, value) = (toml::Value::from(name), toml::Value::from(constraint));
    let line = format!("[{}]\n{key} = {value}\n", table.name());
    let (_, errors) = spec::parse_part(&format!("{line}[build]\n[target.x]\ngpu = \"none\"\n"));
    if errors.is_empty() {
        return Ok(());
    }
    let problem = |error: spec::SpecError| {
        // What is general is told better by examples of this package.
        let is_general = |help: &String| error.code == "constraint" && !help.starts_with("write `");
        let help = error.help.filter(|help| !is_general(help)).or_else(|| Some(examples(name)));
        Problem { code: error.code, message: error.message, span: None, help }
    };
    Err(Failure { exit: Exit::BadInput, problems: errors.into_iter().map(problem).collect(), file: None })
}

/// Refuses what is no package to anybody: whoever registers one of that name would have it installed.
pub fn refuse_other(catalog: &Catalog, word: &str, constraint: &str) -> Result<(), Failure> {
    let Some((what, instead)) = otherwise(catalog, word).filter(|_| constraint == "*") else { return Ok(()) };
    let message = format!("`{}` is {what}, and `gpuenv add` takes packages", clean(word));
    let help = format!("{instead}; a package of that name is added with its version");
    Err(Failure::new(Exit::BadInput, "usage", message).help(clean(&help)))
}

/// Modules by the names that programs import, and the packages that hold them.
const MODULES: [(&str, &str); 5] = [
    ("cv2", "opencv-python"),
    ("pil", "pillow"),
    ("skimage", "scikit-image"),
    ("sklearn", "scikit-learn"),
    ("yaml", "pyyaml"),
];

/// What a word is that no package is meant by, and what to do with it.
fn otherwise(catalog: &Catalog, word: &str) -> Option<(&'static str, String)> {
    let name = name::package(word);
    let at_target =
        |key: &str, value: &str| format!("name it at a target, `gpuenv target add NAME --{key} \"{value}\"`");
    let is_generation = || catalog.gpus.iter().any(|row| name::package(&row.architecture) == name);
    let part = || {
        let part = STACK_PARTS.iter().find_map(|part| Some((part, name.strip_prefix(part)?)));
        part.filter(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()))
    };
    Some(match catalog.gpu(word) {
        GpuMatch::Found(_) | GpuMatch::Ambiguous(_) | GpuMatch::Bare(_) => ("a GPU", at_target("gpu", word)),
        _ if is_generation() => ("a generation of GPUs", at_target("gpu", "…")),
        _ if line_of(&name).is_some() => ("a variant of wheels", format!("run `gpuenv add torch+{name}`")),
        _ if name == "nvcc" => ("a part of the toolkit", at_target("toolkit", "…")),
        _ if name == "nvidia-driver" => ("the driver", at_target("driver", "…")),
        _ if matches!(catalog.os(word), OsMatch::Found(_)) => ("a system", at_target("os", word)),
        _ => match (part(), MODULES.iter().find(|(module, _)| *module == name)) {
            (Some((part, version)), _) => ("a part of the stack", format!("run `gpuenv add {part}=={version}`")),
            (None, Some((_, package))) => ("a module", format!("run `gpuenv add {package}`")),
            (None, None) => return None,
        },
    })
}

fn refuse(word: &str, help: &str) -> Failure {
    let message = format!("`{}` is not a package and a constraint of its version", clean(word));
    Failure::new(Exit::BadInput, "usage", message).help(clean(help))
}

#[cfg(test)]
mod tests;
