//! A Dockerfile: the image of its last stage, and what `pip` and `conda` install there.

mod environments;
mod flow;
mod image;
mod lists;
mod program;
mod run;
mod values;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::order::List;
use super::pip::{joined, words_of_pip};
use super::shell::{bare, command, here_document, is_shell, python_of, words};
use super::{BUILD_ADDED, Found, MOST, OTHER_FILE, Wanted, conda, extras, is_variant, variant_of};
use crate::spec::read_image;
use crate::types::{CpuArch, name};

use environments::{Environment, chosen};
use image::{holds_packages, is_export, python_of_image};
use lists::Made;
use program::{Program, is_of_file, is_pip, program, targets};
use values::Filled;

/// What such packages begin with that bear on a stack.
const OF_STACKS: [&str; 17] = [
    "cuda-",
    "libcublas",
    "libcudnn",
    "libcufft",
    "libcurand",
    "libcusolver",
    "libcusparse",
    "libnccl",
    "libnpp-",
    "libnvinfer",
    "libnvjitlink",
    "libnvjpeg-",
    "nvidia-",
    "gcc-",
    "g++-",
    "clang-",
    "python3.",
];
/// Variables that bear on a stack by their values: what these hold, and why the line is told.
const SETTINGS: [(&str, &str, &str); 5] = [
    ("CC", "gcc-", HOST_COMPILER),
    ("CXX", "g++-", HOST_COMPILER),
    ("CUDAHOSTCXX", "g++-", HOST_COMPILER),
    ("NVCC_CCBIN", "g", HOST_COMPILER),
    (
        "LD_LIBRARY_PATH",
        "/compat",
        "a cuda-compat of the image: the lock says where one is needed; set `compat` of the target where it is loaded in any case",
    ),
];
const HOST_COMPILER: &str = "the host compiler: set `gcc` of the target where CUDA code is compiled";
const OF_BUILD: &str = "a setting of what is built there, which gpuenv does not carry: set it where that is installed";
const OTHER_PYTHON: &str = "another Python was taken: set `python` under [stack] if it is this one";
const OTHER_STAGE: &str = "its stage compiles CUDA code, the last one does not: [build] belongs into a gpuenv.toml with the image of that stage";
/// What says for which GPUs CUDA code is compiled.
const ARCH_LIST: &str = "TORCH_CUDA_ARCH_LIST";
/// Arguments add no more than this to a file, all together: each may be made of others many times over.
const FILLED_CAP: usize = 1 << 20;
/// More stages are not read, for each is held against those that it copies from.
const MOST_STAGES: usize = 500;

/// Reads one, as it is built for a processor.
pub(super) fn read(text: &str, arch: Option<CpuArch>) -> Result<Found, (usize, String)> {
    let mut reader = Reader { arch, ..Reader::default() };
    let mut lines = joined(text, '\\').into_iter();
    while let Some((line, text)) = lines.next() {
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word.to_ascii_uppercase().as_str() {
            "FROM" if reader.stages.len() == MOST_STAGES => {
                return Err((line, format!("it has more than {MOST_STAGES} stages, the most that are read")));
            }
            "FROM" => reader.from(rest.trim(), line),
            instruction @ ("ARG" | "ENV") => reader.set(rest.trim(), instruction == "ENV", line),
            "RUN" => match here_document(rest) {
                Some((before, end)) => {
                    let inside = lines.by_ref().take_while(|(_, text)| text.trim() != end);
                    let inside = inside.filter(|_| is_shell(before));
                    let all: Vec<(usize, String)> = std::iter::once((line, before.to_string())).chain(inside).collect();
                    reader.run(&all);
                }
                None => reader.run(&[(line, rest.to_string())]),
            },
            "COPY" | "ADD" => reader.copy(rest),
            "SHELL" | "ENTRYPOINT" | "CMD" => reader.starts_in(&command(rest)),
            _ => {}
        }
    }
    Ok(reader.end())
}

/// A stage: its image, or the stage that it begins with.
struct Stage {
    name: String,
    base: String,
    line: usize,
    /// The stage that it begins with.
    on: Option<usize>,
    /// What it sets of ARG and ENV; none: no longer known.
    values: BTreeMap<String, Option<String>>,
    /// What is installed in it, by the name of the environment; that of the image itself has none.
    environments: BTreeMap<String, Environment>,
    /// The environment that commands are in which name none.
    entered: String,
    /// The stages that it copies files from.
    copies: Vec<String>,
    /// Where its commands install into, if that is no environment.
    targets: Vec<String>,
    /// Whether it installs a project with an environment in its folder.
    has_project: bool,
}

impl Stage {
    fn of(&mut self, environment: &str) -> &mut Environment {
        self.environments.entry(environment.to_string()).or_default()
    }

    fn found(&mut self) -> &mut Found {
        &mut self.of("").found
    }
}

#[derive(Default)]
struct Reader {
    /// The processor that it is built for, if that is not the usual one.
    arch: Option<CpuArch>,
    /// How often commands of loops were read.
    turns: usize,
    /// Values of ARG before the first stage.
    values: BTreeMap<String, String>,
    /// The environments that some line enters.
    entered: BTreeSet<String>,
    /// The one that a command of this RUN entered.
    inside: Option<String>,
    /// How many commands were read.
    commands: usize,
    /// How many lines of a shell within each other are being read.
    depth: usize,
    /// The files in the image that are made of those of the project.
    files: Vec<Made>,
    /// How many patterns their lines were held against.
    patterns: usize,
    /// Whether a command of this RUN went to another folder or fetched one: a project there is not the one of these files.
    is_away: bool,
    /// What the command before prints for this one.
    piped: Option<Made>,
    /// How much they have added by now.
    filled: Cell<usize>,
    stages: Vec<Stage>,
    left: Vec<(usize, String, String)>,
}

impl Reader {
    fn from(&mut self, rest: &str, line: usize) {
        let platform = rest.split_whitespace().find_map(|word| word.strip_prefix("--platform="));
        if let Some(platform) = platform.filter(|platform| platform.starts_with("linux/arm64")) {
            let why = "it is for aarch64: write `arch = \"aarch64\"` for the target".to_string();
            self.left.push((line, format!("--platform={platform}"), why));
        }
        let each: Vec<String> = words(rest).into_iter().filter(|word| !word.starts_with("--")).collect();
        let written = each.first().cloned().unwrap_or_default();
        let name = each.get(2).map(|name| bare(name).to_ascii_lowercase()).unwrap_or_default();
        // What a stage sets is unknown here and in those that are not built on it.
        let base = self.filled_on(&written, None).unwrap_or_else(|why| {
            self.left.push((line, format!("FROM {}", bare(&written)), why));
            String::new()
        });
        let on = self.stages.iter().rposition(|stage| !stage.name.is_empty() && base.eq_ignore_ascii_case(&stage.name));
        let entered = on.map_or(String::new(), |on| self.stages[on].entered.clone());
        let (values, environments, copies, targets) = (BTreeMap::new(), BTreeMap::new(), Vec::new(), Vec::new());
        self.stages.push(Stage {
            name,
            base,
            line,
            on,
            values,
            environments,
            entered,
            copies,
            targets,
            has_project: false,
        });
    }

    /// What is copied may hold packages that were installed in another stage.
    fn copy(&mut self, rest: &str) {
        let from = rest.split_whitespace().find_map(|word| word.strip_prefix("--from=")).map(str::to_ascii_lowercase);
        let paths = rest.split_whitespace().filter(|word| !word.starts_with("--"));
        let mut paths: Vec<String> = paths.map(|path| path.replace(['[', ']', '"', ','], "")).collect();
        paths.iter_mut().for_each(|path| *path = self.filled(path).unwrap_or_default());
        let target = paths.pop().unwrap_or_default();
        if from.is_none() {
            self.copied(&paths, &target, true);
        }
        let Some(of) = from.as_ref().and_then(|from| self.stages.iter().find(|stage| stage.name == *from)) else {
            return;
        };
        let holds = paths.iter().any(|path| holds_packages(path, &target, of));
        if let (Some(from), Some(stage)) = (from.filter(|_| holds), self.stages.last_mut()) {
            stage.copies.push(from);
        }
    }

    fn set(&mut self, rest: &str, is_env: bool, line: usize) {
        let mut words = words(rest);
        // The old form of ENV: a name, a blank and the value.
        if let [name, value @ ..] = &words[..]
            && !name.contains('=')
            && is_env
            && !value.is_empty()
        {
            words = vec![format!("{name}={}", value.join(" "))];
        }
        for word in &words {
            if let (Some(name), Some(stage)) = (self.entered_by(&bare(word)), self.stages.last_mut()) {
                stage.entered.clone_from(&name);
                self.entered.insert(name);
            }
            self.assign(word, line);
        }
    }

    /// A variable and its value, `NAME=value`; what it was before.
    fn assign(&mut self, word: &str, line: usize) -> Option<(String, Option<String>)> {
        let (name, written) = word.split_once('=')?;
        let (word, value) = (&bare(word), bare(written));
        if name == ARCH_LIST
            && let Some(stage) = self.stages.last_mut()
        {
            stage.found().builds = true;
            stage.found().leave(line, word, format!("{BUILD_ADDED}; the lock derives the list from the GPUs"));
        }
        // CMake is told so to compile for CUDA: `-DGGML_CUDA=on`.
        if name == "CMAKE_ARGS"
            && let Some(stage) = self.stages.last_mut()
        {
            let is_on = |word: &str| {
                let (switch, value) = word.split_once('=').unwrap_or_default();
                switch.starts_with("-D")
                    && switch.contains("CUDA")
                    && ["on", "1", "true", "yes"].contains(&&*value.to_lowercase())
            };
            stage.found().builds |= value.split_whitespace().any(is_on);
            stage.found().leave(line, word, OF_BUILD);
        }
        if let Some((.., why)) = SETTINGS.iter().find(|(of, part, _)| *of == name && value.contains(part))
            && let Some(stage) = self.stages.last_mut()
        {
            stage.found().leave(line, word, *why);
        }
        let value = self.filled(written).ok();
        if let (Some(value), Some(stage)) = (value.as_ref().filter(|_| name == "UV_PYTHON"), self.stages.last_mut()) {
            of_system(&format!("python{}", value.trim_start_matches("python")), line, stage.of(""));
        }
        let variant = value.as_ref().and_then(|value| variant_of_setting(name, value));
        if let (Some(variant), Some(stage)) = (variant, self.stages.last_mut()) {
            stage.found().variant.get_or_insert(variant);
        }
        let before = self.value(name, self.stages.len().checked_sub(1));
        self.put(name, value);
        Some((name.to_string(), before))
    }

    /// What one command installs, or takes out of the image; `shown` is how it stands there.
    fn installed(&mut self, filled: &Filled, shown: &str, line: usize) {
        let words = &filled.words;
        self.commands += 1;
        let at = self.commands;
        let environment = self.environment_of(words, line);
        if let (Some(python), Some(stage)) = (python_of(words), self.stages.last_mut()) {
            of_system(&python, line, stage.of(&environment));
        }
        let Some(stage) = self.stages.last_mut() else { return };
        if let Some(verb) = words.iter().position(|word| word == "uninstall").filter(|at| is_pip(&words[..*at])) {
            let gone = &mut stage.of(&environment).found.uninstalls;
            let names =
                words[verb + 1..].iter().filter(|word| !word.starts_with('-')).take(MOST - gone.len().min(MOST));
            return gone.extend(names.map(|name| (name::package(name), line, at)));
        }
        if let Some(variant) = variant_of_config(words) {
            return stage.found().variant = stage.found().variant.take().or(Some(variant));
        }
        if is_of_file(words) {
            if filled.unknown.is_empty() {
                stage.found().installs.extend(extras::of_sync(words));
            }
            stage.has_project = true;
            return stage.found().leave(line, shown, OTHER_FILE);
        }
        let Some((program, verb)) = program(words).filter(|_| !words.iter().any(|word| word == "--dry-run")) else {
            return;
        };
        let (known, told) = filled.known(verb + 1);
        let is_on_stacks = |word: &str| OF_STACKS.iter().any(|one| word.starts_with(one));
        let told = told.into_iter().filter(|(word, _)| program != Program::System || is_on_stacks(word));
        match program {
            // `uv python install 3.12`
            Program::Other("python") => {
                let releases = known.iter().filter(|word| !word.starts_with('-'));
                releases.for_each(|release| of_system(&format!("python{release}"), line, stage.of("")));
                return told.for_each(|(word, why)| stage.found().leave(line, &word, why));
            }
            Program::Other(script) if script.ends_with(".py") => {
                return stage.found().leave(line, shown, "a package of this project or of a folder");
            }
            Program::Other(name) => {
                let why = format!("what `{name}` installs is not read: put it under [stack] or [packages]");
                return stage.found().leave(line, shown, why);
            }
            _ => told.for_each(|(word, why)| stage.found().leave(line, &word, why)),
        }
        stage.targets.extend(targets(&known));
        let found = &mut stage.of(&environment).found;
        let (count, lists) = (found.wanted.len(), found.lists.len());
        match program {
            Program::System => return known.iter().for_each(|word| of_system(word, line, stage.of(""))),
            Program::Pip => of_pip(&known, line, found),
            _ => of_conda(&known, line, found),
        }
        found.wanted[count..].iter_mut().for_each(|one| one.at = at);
        let lists = found.lists.split_off(lists);
        let lists = lists.into_iter().filter(|list| !list.is_project || !self.is_away);
        let lists: Vec<_> = lists.map(|list| self.placed(list, at)).collect();
        if let Some(stage) = self.stages.last_mut() {
            stage.of(&environment).found.lists.extend(lists);
        }
    }

    /// What the last stage holds, with the stages that it is built on, and what was installed in those it copies from: an
    /// environment is often made in one stage and copied into another.
    fn end(mut self) -> Found {
        let mut found = Found { left: std::mem::take(&mut self.left), ..Found::default() };
        let (mut wanted_base, mut of_copied) = (None, None);
        let mut copied: Vec<String> = Vec::new();
        let mut environments: BTreeMap<String, Environment> = BTreeMap::new();
        while self.stages.len() > 1 && self.stages.last().is_some_and(is_export) {
            self.stages.pop();
        }
        let last = self.stages.last().map_or(String::new(), |stage| stage.entered.clone());
        for stage in self.stages.into_iter().rev() {
            let is_of_it = wanted_base.as_ref().is_none_or(|base: &String| *base == stage.name);
            let is_copied = !stage.name.is_empty() && copied.contains(&stage.name);
            if !is_of_it && !is_copied {
                let from = format!("FROM {}", stage.base);
                found.leave(stage.line, &from, "a stage that the last one is neither built on nor copies from");
                continue;
            }
            let is_elsewhere = |why: &str| !is_of_it && why.starts_with(BUILD_ADDED);
            for (name, mut of) in stage.environments {
                found.left.extend(of.found.left.drain(..).map(|(line, text, why)| match is_elsewhere(&why) {
                    true => (line, text, OTHER_STAGE.to_string()),
                    false => (line, text, why),
                }));
                found.installs.append(&mut of.found.installs);
                if !is_of_it {
                    of.found.builds = false;
                    of.found.uninstalls.clear();
                }
                environments.entry(name).or_default().follows(of);
            }
            copied.extend(stage.copies);
            if !is_of_it {
                // What is copied runs with the Python that is copied, too.
                of_copied = of_copied.or_else(|| Some((python_of_image(&stage.base)?, stage.line)));
                let why = "its packages are taken, for they are copied from it, and its image is not";
                found.leave(stage.line, &format!("FROM {}", stage.base), why);
                copied.push(stage.base.to_ascii_lowercase());
                continue;
            }
            let is_image = read_image(&stage.base).is_some();
            if !is_image && !stage.base.is_empty() {
                found.leave(stage.line, &format!("FROM {}", stage.base), "it is not an image reference");
            }
            found.image = Some((stage.base.clone(), stage.line)).filter(|(image, _)| is_image && image != "scratch");
            wanted_base = Some(stage.base.to_ascii_lowercase());
        }
        let of_system = chosen(environments, &last, &self.entered, &mut found).or(of_copied);
        if let Some((image, line)) = &found.image
            && let Some(python) = python_of_image(image)
        {
            found.wanted.insert(0, Wanted::new("python", &python, *line));
        }
        // That of an environment, or of such an image, comes before the system's.
        if let Some((python, line)) = of_system {
            match found.wanted.iter().find(|wanted| wanted.name == "python") {
                Some(known) if known.version.trim_start_matches('=').starts_with(&python) => {}
                Some(_) => found.leave(line, &format!("python{python}"), OTHER_PYTHON),
                None => found.wanted.insert(0, Wanted::new("python", &python, line)),
            }
        }
        found
    }
}

/// The wheel variant that a setting of pip or uv names: these are their options under other names.
fn variant_of_setting(name: &str, value: &str) -> Option<String> {
    match name {
        "UV_TORCH_BACKEND" => Some(value.to_string()).filter(|value| is_variant(value)),
        "PIP_INDEX_URL"
        | "PIP_EXTRA_INDEX_URL"
        | "PIP_FIND_LINKS"
        | "UV_DEFAULT_INDEX"
        | "UV_EXTRA_INDEX_URL"
        | "UV_FIND_LINKS"
        | "UV_INDEX"
        | "UV_INDEX_URL" => variant_of(value),
        _ => None,
    }
}

/// The same of `pip config set global.extra-index-url …`.
fn variant_of_config(words: &[String]) -> Option<String> {
    let at = words.windows(2).position(|pair| pair[0] == "config" && pair[1] == "set")?;
    let [key, value, ..] = &words[at + 2..] else { return None };
    let name = key.rsplit('.').next().unwrap_or(key).to_ascii_uppercase().replace('-', "_");
    variant_of_setting(&format!("PIP_{name}"), value).filter(|_| is_pip(&words[..at]))
}

/// The words behind `pip install`: an index is that of what this command installs.
fn of_pip(words: &[String], line: usize, found: &mut Found) {
    let (count, lists, of_all) = (found.wanted.len(), found.lists.len(), found.variant.take());
    words_of_pip(words, line, found);
    let (variant, owns) = (std::mem::replace(&mut found.variant, of_all), std::mem::take(&mut found.owns));
    let of_it = &mut found.wanted[count..];
    let is_over = of_it.iter().all(|wanted| wanted.name.starts_with("nvidia-"));
    let is_forced = words
        .iter()
        .any(|word| ["--force-reinstall", "--ignore-installed", "--reinstall", "-I"].contains(&word.as_str()));
    let is_letter = |word: &&str| !word.starts_with('-') && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let has_letter = |word: &str| word.strip_prefix('-').filter(is_letter).is_some_and(|word| word.contains('U'));
    let is_renewed = words.iter().any(|word| word == "--upgrade" || has_letter(word));
    for wanted in of_it {
        (wanted.is_over, wanted.is_forced, wanted.is_renewed) = (is_over, is_forced, is_renewed);
        wanted.variant = wanted.variant.take().or_else(|| variant.clone());
        wanted.owned_by(&owns);
    }
    let is_alone = words.iter().any(|word| word == "--no-deps");
    let of_it = found.lists.split_off(lists).into_iter().filter(|list| !list.is_project || !is_alone);
    let with_options = |list| List { variant: variant.clone(), owns: owns.clone(), is_forced, is_renewed, ..list };
    found.lists.extend(of_it.map(with_options).collect::<Vec<_>>());
}

/// The words behind `conda install` and `conda create`.
fn of_conda(words: &[String], line: usize, found: &mut Found) {
    let label = words.iter().map(String::as_str).find(|word| conda::is_label(word));
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, glued) = word.split_once('=').map_or((word.as_str(), None), |(option, file)| (option, Some(file)));
        match option {
            "-c" | "--channel" | "-n" | "--name" | "-p" | "--prefix" if glued.is_none() => drop(words.next()),
            "-f" | "--file" => {
                let file = glued.map(str::to_string).or_else(|| words.next().cloned()).unwrap_or_default();
                found.file(line, format!("{option} {file}"), &file, false);
            }
            option if option.starts_with('-') => {}
            _ => conda::package(&conda::labelled(label, word), line, found),
        }
    }
}

/// A package of the operating system: `python3.9` and its parts say which Python there is.
fn of_system(word: &str, line: usize, environment: &mut Environment) {
    // It comes with each of its packages.
    let package = word.split('=').next().unwrap_or(word);
    if package == "python3" || package == "python-is-python3" || package.starts_with("python3-") {
        environment.found.system_python.get_or_insert(line);
    }
    if !OF_STACKS.iter().any(|one| word.starts_with(one)) {
        return;
    }
    let minor = word.strip_prefix("python3.").map(|rest| rest.split(['-', '=', '.']).next().unwrap_or(rest));
    let is_number = |minor: &&str| !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit());
    let Some(minor) = minor.filter(is_number) else {
        let why = "a package of the operating system: set `toolkit`, `cudnn`, `gcc` or `driver` of the target where it matters";
        return environment.found.leave(line, word, why);
    };
    let python = format!("3.{minor}");
    match &environment.python {
        Some((known, _)) if *known != python => environment.found.leave(line, word, OTHER_PYTHON),
        _ => environment.python = Some((python, line)),
    }
}

#[cfg(test)]
mod tests;
