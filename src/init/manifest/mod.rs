//! A draft of a project that exists: what its requirement lists, manifests, locks and Dockerfiles ask for.
//!
//! Every line ends in one of three places: in the draft, among the ordinary packages, or among what was left out, with
//! the reason. Nothing is dropped without a word.

mod brought;
mod claims;
mod conda;
mod dockerfile;
mod extras;
mod kind;
mod lines;
mod merge;
mod order;
mod ordinary;
mod pip;
mod pyproject;
mod requirement;
mod setup;
mod shell;
mod sources;
mod uv_lock;

pub use kind::Kind;
pub use merge::{Refused, alone, of_manifests};

use std::collections::BTreeSet;

use serde::Serialize;

use crate::catalog::rows::FRAMEWORKS;
use crate::types::marker::{self, Known};
use crate::types::{CpuArch, Version, name, toml_memory};

/// A file that was read.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// What it is.
    pub kind: Kind,
    /// Its name as it is shown.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A line of a project's file that the spec does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "LeftOut"))]
pub struct Left {
    /// The file.
    pub file: String,
    /// Counted from one.
    pub line: usize,
    /// What stands there.
    pub text: String,
    /// Why it was left out.
    pub why: String,
}

/// What a file asks for.
#[derive(Debug, Default)]
struct Found {
    wanted: Vec<Wanted>,
    /// The image that the result runs in.
    image: Option<(String, usize)>,
    /// The wheel variant that the file's indexes hold, `cpu` or that of a CUDA.
    variant: Option<String>,
    /// The lines of torch that its pages of wheels are made for, each with its line.
    pages: Vec<(String, usize)>,
    /// How the name of the JetPack begins that its index holds wheels for.
    jetpack: Option<(String, usize)>,
    /// The line that installs the Python of the operating system, of whatever release.
    system_python: Option<usize>,
    /// Whether CUDA code is compiled.
    builds: bool,
    /// The release of gcc that conda installs.
    host_compiler: Option<(String, usize)>,
    /// The project that the file describes.
    project: Option<String>,
    /// Those of its groups that are dependency groups, not extras.
    groups: BTreeSet<String>,
    /// Those which an installer takes that is told nothing.
    defaults: BTreeSet<String>,
    /// Its extras and groups that bring others.
    brings: Vec<(String, String)>,
    /// The extras and groups of a project that its lines install.
    installs: Vec<String>,
    /// The line that makes an environment which does not see the packages of the image, and whether conda does.
    apart: Option<(usize, bool)>,
    /// The packages that a line takes out of the image, each with the line and the number of the command.
    uninstalls: Vec<(String, usize, usize)>,
    /// The libraries that an override lays over what others bring: the name, the version and the line.
    overrides: Vec<(String, String, usize)>,
    /// The other files whose packages its lines install.
    lists: Vec<order::List>,
    /// What the names of indexes of one package's own begin with, and the major of the CUDA that these are for.
    owns: Vec<(String, String)>,
    left: Vec<(usize, String, String)>,
    /// The same of lines of its extras and groups, each with its own.
    left_of: Vec<(String, (usize, String, String))>,
}

/// A package that a file asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    /// In the spelling of package indexes: lower case, with hyphens.
    name: String,
    /// What is asked of its version, as the file writes it; empty for any.
    version: String,
    extras: Vec<String>,
    /// The variant that this line asks for beside its version.
    variant: Option<String>,
    line: usize,
    /// The whole requirement, for other tools.
    written: String,
    /// A condition that is not carried over.
    marker: Option<String>,
    /// The extra or group that it is of.
    group: Option<String>,
    /// Whether conda built it for no Python: a library, a compiler.
    is_library: bool,
    /// Whether conda has it, and nobody knows what the package index has by this name.
    is_vague: bool,
    /// Whether conda installs it, whose releases are not those of the package index.
    is_of_conda: bool,
    /// Whether it is what a lock holds.
    is_locked: bool,
    /// Whether it comes from an index of its own, not from the public one.
    is_elsewhere: bool,
    /// Whether a command of its own installs it over what others brought.
    is_over: bool,
    /// Whether its command installs it again where it is there.
    is_forced: bool,
    /// Whether its command takes the newest there is, whatever is there: `pip install -U`.
    is_renewed: bool,
    /// Which command of its file installs it, counted from one.
    at: usize,
    /// Where it comes from under conditions of which nobody decided yet.
    sources: Vec<sources::Source>,
    /// The line of these.
    sources_line: usize,
    /// The major of CUDA that the index of its own is for.
    own_cuda: Option<String>,
    /// The address of the wheel that it is, where it names one.
    address: Option<String>,
    /// The only Python which that wheel is for.
    python: Option<String>,
}

impl Wanted {
    fn new(name: &str, version: &str, line: usize) -> Wanted {
        let name = name::package(name);
        let written = match version.chars().next() {
            Some(c) if c.is_ascii_digit() => format!("{name}=={version}"),
            _ => format!("{name}{version}"),
        };
        let version = version.to_string();
        Wanted {
            name,
            version,
            extras: Vec::new(),
            variant: None,
            line,
            written,
            marker: None,
            group: None,
            is_library: false,
            is_vague: false,
            is_of_conda: false,
            is_locked: false,
            is_elsewhere: false,
            is_over: false,
            is_forced: false,
            is_renewed: false,
            at: 0,
            sources: Vec::new(),
            sources_line: 0,
            own_cuda: None,
            address: None,
            python: None,
        }
    }
}

/// More packages of one file are not taken, for each is held against all others. Environments of the largest projects hold
/// a fifth.
const MOST: usize = 5_000;

impl Found {
    fn want(&mut self, wanted: Wanted) {
        if self.wanted.len() <= MOST {
            self.wanted.push(wanted);
        }
    }

    /// A requirement of the project, or of an extra or group of it.
    fn want_of(&mut self, group: Option<&str>, text: &str, line: usize) {
        match (requirement::read(text, line), group) {
            // An extra that brings others of the project's.
            (Ok(wanted), Some(group)) if Some(&wanted.name) == self.project.as_ref() => {
                self.brings.extend(wanted.extras.into_iter().map(|other| (group.to_string(), other)));
            }
            (Ok(wanted), group) => self.want(Wanted { group: group.map(str::to_string), ..wanted }),
            (Err(why), None) => self.leave(line, text, why),
            (Err(why), Some(group)) => self.left_of.push((group.to_string(), (line, text.to_string(), why))),
        }
    }

    fn leave(&mut self, line: usize, text: &str, why: impl Into<String>) {
        if self.left.len() <= MOST {
            self.left.push((line, text.trim().to_string(), why.into()));
        }
    }

    /// The one line of Python that is asked for, if it is one.
    fn python(&self) -> Option<Version> {
        let asked = self.wanted.iter().find(|wanted| wanted.name == "python" && wanted.group.is_none());
        asked.and_then(|wanted| line_of_python(&wanted.version))
    }

    /// Takes the conditions as decided that a line of Python, a processor and the extras that are named decide; whether some
    /// are left that more of these would decide.
    fn decide(&mut self, known: &Known<'_>, named: &BTreeSet<String>) -> bool {
        let pythons = self.pythons(known);
        let known = &Known { pythons: &pythons, ..*known };
        let (installed, mut others, mut is_open) = (extras::installed(named, self), Vec::new(), false);
        let mut of: BTreeSet<String> = installed.iter().map(|extra| name::package(extra)).collect();
        for mut wanted in std::mem::take(&mut self.wanted) {
            // What an extra asks for is asked for where that is installed.
            let own = wanted.group.as_deref().map(name::package).filter(|group| of.insert(group.clone()));
            let on = Known { extras: Some(&of), ..*known };
            let holds = wanted.marker.as_deref().map_or(Some(true), |marker| marker::on(marker, &on));
            let (variants, open) = wanted.choose(&on);
            of.retain(|extra| own.as_ref() != Some(extra));
            match holds {
                Some(false) => others.push(wanted),
                _ => {
                    let is_taken = wanted.group.as_ref().is_none_or(|group| installed.contains(group));
                    if let Some(taken) = wanted.variant.clone().filter(|_| is_taken && !variants.is_empty()) {
                        let text = format!("{}: {}", wanted.name, variants.join(", "));
                        self.leave(wanted.sources_line, &text, format!("`{taken}` was taken of several"));
                    }
                    is_open |= holds.is_none() || open;
                    wanted.marker = wanted.marker.filter(|_| holds.is_none());
                    self.wanted.push(wanted);
                }
            }
        }
        for wanted in others {
            // Of what a lock holds several times one is meant.
            let is_same = |one: &Wanted| (&one.name, &one.group) == (&wanted.name, &wanted.group);
            let is_beside = wanted.group.as_ref().is_some_and(|group| !installed.contains(group));
            if is_beside || wanted.is_locked && self.wanted.iter().any(is_same) {
                continue;
            }
            let is_of_python = wanted.marker.as_deref().is_some_and(marker::speaks_of_python);
            let python = match &pythons[..] {
                [one] => Some(format!("Python {one}")),
                [first, .., last] if is_of_python => Some(format!("Python {first} to {last}")),
                _ => None,
            };
            let what: Vec<String> = python.into_iter().chain(known.arch.map(|arch| arch.to_string())).collect();
            let of_extra = "it is for other extras than those that are taken".to_string();
            let why = if what.is_empty() { of_extra } else { format!("it is not for {}", what.join(" and ")) };
            self.leave(wanted.line, &wanted.written, why);
        }
        // What is left open in a lock is taken as it was locked.
        self.wanted.iter_mut().filter(|wanted| wanted.is_locked).for_each(|wanted| wanted.marker = None);
        is_open
    }

    /// The lines of Python that it may be for: where every framework has a condition, those on which it asks for one.
    fn pythons(&mut self, known: &Known<'_>) -> Vec<Version> {
        let holds = |python: &&Version| {
            let on = Known { pythons: std::slice::from_ref(*python), ..*known };
            let marker =
                |wanted: &&Wanted| wanted.marker.as_deref().is_none_or(|it| marker::on(it, &on) != Some(false));
            self.frameworks().any(|wanted| marker(&wanted))
        };
        let of_it: Vec<Version> = known.pythons.iter().filter(holds).copied().collect();
        let ([first, ..], [.., last]) = (&of_it[..], &of_it[..]) else { return known.pythons.to_vec() };
        if of_it.len() < known.pythons.len() {
            let is_last = known.pythons.last() == Some(last);
            let asked = format!(">={first}{}", if is_last { String::new() } else { format!(",<={last}.*") });
            let line = self.frameworks().next().map_or(1, |wanted| wanted.line);
            self.wanted.push(Wanted::new("python", &asked, line));
        }
        of_it
    }

    fn frameworks(&self) -> impl Iterator<Item = &Wanted> {
        self.wanted.iter().filter(|wanted| wanted.group.is_none() && FRAMEWORKS.contains(&wanted.name.as_str()))
    }

    /// Whether nothing of the file was understood, not even what is left out.
    fn is_empty(&self) -> bool {
        let lists = [self.wanted.len(), self.lists.len(), self.installs.len(), self.uninstalls.len(), self.pages.len()];
        let left = [self.left.len(), self.left_of.len(), self.groups.len(), self.owns.len()];
        let is_said =
            self.image.is_some() || self.variant.is_some() || self.project.is_some() || self.jetpack.is_some();
        !is_said && !self.builds && self.system_python.is_none() && lists.iter().chain(&left).all(|count| *count == 0)
    }

    /// Refuses a file that asks for more than is taken.
    fn bounded(self) -> Result<Found, (usize, String)> {
        let last = self.wanted.get(MOST).map(|wanted| wanted.line).or(self.left.get(MOST).map(|(line, ..)| *line));
        match last {
            Some(line) => Err((line, format!("it lists more than {MOST} packages, the most that are taken of a file"))),
            None => Ok(self),
        }
    }
}

/// Reads a file; an error is why nothing of it can be read, and the line.
fn read(manifest: &Manifest, arch: Option<CpuArch>) -> Result<Found, (usize, String)> {
    let text = manifest.text.as_str();
    let most = manifest.kind.most();
    if text.len() > most << 10 {
        return Err((1, format!("it is larger than {most} KiB, the most that is read of such a file")));
    }
    let mut found = match manifest.kind {
        Kind::Requirements => pip::requirements(text),
        Kind::Pyproject => pyproject::read(text)?,
        Kind::Setup => setup::read(text),
        Kind::UvLock => uv_lock::read(text)?,
        Kind::Conda => conda::read(text)?,
        Kind::Dockerfile => dockerfile::read(text, arch)?,
    };
    if found.is_empty() {
        let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let (first, line) = lines.next().unwrap_or_default();
        found.leave(
            line.max(1),
            first,
            format!("nothing of this file was understood, which is read as {}", manifest.kind),
        );
    }
    found.bounded()
}

/// The line of Python that a version names, `3.11`; none of a range.
pub fn line_of_python(asked: &str) -> Option<Version> {
    let line = asked.trim_start_matches('=').trim_end_matches(".*");
    Version::parse(line).ok().filter(|version| version.len() > 1).map(|version| version.prefix(2))
}

/// Why a package is left out that its marker keeps from every Linux.
const OTHER_SYSTEM: &str = "it is for another system than Linux";

/// Why a line is told that installs what another file says, which nobody named.
const OTHER_FILE: &str = "it stands in another file: name that with --from too";

/// Why a package is left out that no index has.
const FOLDER: &str = "it comes from an address or a folder";

/// How the reason begins of a line that asks for `[build]`.
const BUILD_ADDED: &str = "[build] is added";

/// A file of TOML as a table.
fn table(text: &str) -> Result<toml::Table, (usize, String)> {
    if toml_memory::memory(text) > toml_memory::MOST {
        return Err((1, "it holds more tables and values than are read".to_string()));
    }
    let wrong = |error: toml::de::Error| {
        (error.span().map_or(1, |span| line_of(text, span.start)), error.message().to_string())
    };
    text.parse().map_err(wrong)
}

/// The wheel variant that an address of an index ends in: the one that PyTorch's indexes are named after.
fn variant_of(address: &str) -> Option<String> {
    let address = address.replace("%2B", "+").replace("%2b", "+");
    let (_, path) = address.split_once("/whl")?;
    let words = path.split(['/', '+', '_']).map(|word| word.split(".html").next().unwrap_or(word));
    words.map(str::to_string).find(|word| is_variant(word))
}

/// The same of any other index: a folder of its address begins with the CUDA, `cu126_torch260`, `jp6/cu126`.
fn cuda_of_index(address: &str) -> Option<String> {
    let (_, path) = address.split_once("://")?;
    let folders = path.split('/').skip(1).map(|folder| folder.trim_end_matches(".html"));
    // `torch-2.1.2_cu118.html`
    let first = |folder: &'_ str| if folder.starts_with("torch") { usize::MAX } else { 1 };
    let words = folders.flat_map(|folder| folder.split(['_', '+', '-']).take(first(folder)));
    variant_of(address).or_else(|| words.map(str::to_string).find(|word| is_variant(word) && word != "cpu"))
}

/// What the names of packages begin with that an index has alone, and the major of the CUDA of these: `onnxruntime-cuda-12`.
fn own_of(address: &str) -> Option<(String, String)> {
    let (_, path) = address.split_once("://")?;
    let own = |folder: &str| {
        let (name, major) = folder.split_once("-cuda-")?;
        let is_major = (1..=2).contains(&major.len()) && major.bytes().all(|byte| byte.is_ascii_digit());
        (is_major && !name.is_empty()).then(|| (name.to_string(), major.to_string()))
    };
    path.split('/').find_map(own)
}

/// The line of torch that the wheels of a page are made for, by its address: `torch-2.1.2_cu118.html`, `torch2.1/`.
fn torch_of_page(address: &str) -> Option<String> {
    let mut behind =
        address.match_indices("torch").map(|(at, word)| address[at + word.len()..].trim_start_matches(['-', '_']));
    behind.find_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        line_of_python(rest[..end].trim_end_matches('.')).map(|line| line.to_string())
    })
}

/// Whether it is `cpu`, or `cu` and digits.
fn is_variant(word: &str) -> bool {
    let digits = word.strip_prefix("cu").unwrap_or_default();
    word == "cpu" || (digits.len() >= 2 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// How well a variant goes with a question about GPUs: CUDA before none, the newest first, `cpu` last.
fn rank(variant: Option<&str>) -> (u8, u32) {
    match variant {
        None => (1, 0),
        Some(variant) => match variant.strip_prefix("cu").and_then(|digits| digits.parse().ok()) {
            Some(number) => (2, number),
            None => (0, 0),
        },
    }
}

/// The line of a byte, counted from one.
fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests;
