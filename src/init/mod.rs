//! L3, a gpuenv.toml to begin with: from what was typed, from a host as it was seen, from the files of a project, or
//! from nothing.
//!
//! A draft claims nothing of its own. A value from a host stands with the place it was seen at; what the catalog does
//! not know stays in as a comment, so that whoever reads the file can mend it.

mod companions;
mod hints;
mod host;
mod jetpack;
pub mod manifest;
mod text;

use std::collections::BTreeMap;
use std::fmt;

use crate::catalog::Catalog;
use crate::catalog::rows::{FRAMEWORKS, TORCH, TRITON, repeated};
use crate::solve::facts::Facts;
use crate::solve::image;
use crate::solve::ordinary::coming::coming;
use crate::spec::other_names::other_name;
use crate::spec::{ImageRef, read_image};
use crate::types::constraint::admits;
use crate::types::{Specifier, Version};

pub use host::{machine, of_host, of_host_beside, unsuited};
pub use jetpack::open_jetpack;

/// A spec in the making.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// Where it comes from, for its first line; none: it describes no machine yet.
    pub origin: Option<String>,
    /// `[stack]`
    pub stack: Vec<Entry>,
    /// Whether there is a `[build]`.
    pub build: bool,
    /// Why there is one that nobody asked for.
    pub build_note: Option<&'static str>,
    /// The name of the one target.
    pub target: String,
    /// `[target.NAME]`
    pub machine: Vec<Entry>,
    /// `[catalog] overlays`
    pub overlays: Vec<String>,
    /// Requirements of ordinary packages, which gpuenv does not choose.
    pub packages: Vec<String>,
    /// `[[override]]`: rules that do not hold for what its files do, each with the reason.
    pub overrides: Vec<(String, String)>,
    /// Whether conditions of these files are left open that a Python and a processor decide.
    pub is_open: bool,
    /// Whether it was made from the files of a project, which say little of machines.
    pub of_files: bool,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// Where it was seen, or why it is commented out.
    pub note: Option<String>,
    /// Whether the line is a comment.
    pub off: bool,
}

/// A value as gpuenv.toml holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A list of strings.
    List(Vec<String>),
    /// A build of one's own.
    Own {
        /// Its version.
        version: String,
        /// The CUDA that it was built for.
        cuda: String,
    },
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| toml::Value::from(text.replace(['\n', '\r'], " ")).to_string();
        match self {
            Value::Text(text) => write!(f, "{}", quoted(text)),
            Value::List(list) => {
                write!(f, "[{}]", list.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
            }
            Value::Own { version, cuda } => {
                write!(f, "{{ version = {}, cuda = {} }}", quoted(version), quoted(cuda))
            }
        }
    }
}

impl Entry {
    /// A line that counts.
    fn on(key: &str, value: Value, note: impl Into<String>) -> Self {
        Entry { key: key.to_string(), value, note: Some(note.into()), off: false }
    }

    /// A line that is a comment.
    fn off(key: &str, value: Value, note: impl Into<String>) -> Self {
        Entry { off: true, ..Entry::on(key, value, note) }
    }
}

impl Draft {
    /// Sets a key of the stack as it was typed.
    pub fn package(&mut self, name: &str, constraint: &str) {
        set(&mut self.stack, name, Value::Text(constraint.to_string()));
    }

    /// Sets a key of the machine as it was typed.
    pub fn fact(&mut self, key: &str, value: Value) {
        // The two say the same in different words, and what is typed counts.
        let same = match key {
            "driver" => "driver-cuda",
            "driver-cuda" => "driver",
            _ => "",
        };
        self.machine.retain(|entry| entry.key != same);
        set(&mut self.machine, key, value);
    }

    /// Forgets the frameworks that were seen: others are wanted.
    pub fn drop_frameworks(&mut self) {
        self.stack.retain(|entry| entry.key == "python");
    }

    /// Whether a line of Python is within what was asked for so far.
    pub fn admits_python(&self, line: &Version) -> bool {
        let asked = self.stack.iter().find(|entry| entry.key == "python").map(|entry| &entry.value);
        asked.is_none_or(|asked| matches!(asked, Value::Text(asked) if admits(asked, line)))
    }

    /// Sets a line of Python, and why it is that one.
    pub fn bind_python(&mut self, line: Version, why: &str) {
        self.stack.retain(|entry| entry.key != "python");
        self.stack.push(Entry::on("python", Value::Text(line.to_string()), why));
    }

    /// Makes a comment of the line of a key that was taken over, with why it cannot count; whether there is one.
    pub fn comment_out(&mut self, key: &str, why: &str) -> bool {
        let mut entries = self.stack.iter_mut().chain(&mut self.machine);
        let is_it = |entry: &&mut Entry| entry.key == key && !entry.off && entry.note.is_some();
        if let Some(entry) = entries.find(is_it) {
            (entry.off, entry.note) = (true, Some(why.to_string()));
            return true;
        }
        let named = |text: &&mut String| Specifier::split(text).is_some_and(|(name, _)| name == key);
        let package = self.packages.iter_mut().find(named);
        package.map(|text| *text = format!("{text}: {why}")).is_some()
    }

    /// The image that it runs in.
    fn image(&self) -> Option<ImageRef> {
        self.machine.iter().find_map(|entry| match &entry.value {
            Value::Text(image) if entry.key == "image" => read_image(image),
            _ => None,
        })
    }

    /// An empty question has no answer: where nothing is asked for, what the image holds will do, or any torch. The line of
    /// what was guessed.
    pub fn ask_for_something(&mut self, catalog: &Catalog) -> Option<String> {
        if self.target.is_empty() {
            self.target = "default".to_string();
        }
        let in_image = self.image().filter(|image| image::holds_torch(catalog, repeated(&image.repository)));
        // What is compiled on top of a torch goes with that one.
        let is_built = self.build && in_image.is_none();
        if is_built || self.stack.iter().any(|entry| !entry.off && entry.key != "python") {
            return None;
        }
        let (entries, is_guess) = match in_image {
            Some(image) => {
                let torch = torch_inside(catalog, &image).unwrap_or_else(|| "*".to_string());
                (vec![Entry::on(TORCH, Value::Text(torch), "the one in the image")], false)
            }
            None => match self.brought(catalog) {
                brought if brought.is_empty() => (vec![self.guess(catalog)], true),
                brought => (brought, false),
            },
        };
        let guess = entries.first().filter(|_| is_guess).map(|entry| format!("{} = {}", entry.key, entry.value));
        self.stack.splice(0..0, entries);
        guess
    }

    /// What will do where nothing is known: what the image is named after, as far as the catalog has it, or any torch.
    fn guess(&self, catalog: &Catalog) -> Entry {
        let known: Vec<String> = catalog.packages().into_iter().map(|package| package.name).collect();
        let named = self.image().and_then(|image| {
            let words = image.repository.split(['/', '-', '_']).map(|word| other_name(word).unwrap_or(word));
            let package = words.rev().find(|word| *word != "python" && known.iter().any(|known| known == word))?;
            let package = package.to_string();
            let tag = image.tag.as_deref().map(|tag| tag.trim_start_matches('v').split('-').next().unwrap_or(tag));
            // A tag numbers the image of a project as its releases, up to the newest; others are numbered by their own.
            let is_its_own = image.repository.rsplit('/').next().is_some_and(|name| name.starts_with(&package));
            let newest = releases(catalog, &package).max().filter(|_| is_its_own);
            let is_release = |tag: &&str| {
                tag.matches('.').count() > 1
                    && Version::parse(tag).ok().zip(newest).is_some_and(|(of, newest)| of <= *newest)
            };
            let release = tag.filter(is_release).unwrap_or("*").to_string();
            Some((package, release))
        });
        match named {
            Some((package, release)) => {
                Entry::on(&package, Value::Text(release), "a guess by the image's name: replace it with what must run")
            }
            None if self.of_files => Entry::on(TORCH, any(), "a guess: replace it with what must run"),
            None => Entry::on(TORCH, any(), "the newest that fits"),
        }
    }

    /// What the ordinary packages bring along that is chosen here: frameworks, and what follows none only where none comes.
    fn brought(&self, catalog: &Catalog) -> Vec<Entry> {
        let facts = Facts::new(catalog);
        let mut found: BTreeMap<&str, String> = BTreeMap::new();
        for (name, asked) in self.packages.iter().filter_map(|text| Specifier::split(text)) {
            let all = coming(&facts, &[], &[(name.to_string(), asked)]);
            for what in all.keys().filter(|what| facts.is_solved(what)) {
                // The wheels of torch pin triton: it comes with them.
                let what = if *what == TRITON { TORCH } else { what };
                found.entry(what).or_insert_with(|| format!("{name} brings it"));
            }
        }
        if found.keys().any(|name| FRAMEWORKS.contains(name)) {
            found.retain(|name, _| FRAMEWORKS.contains(name));
        }
        found.into_iter().map(|(name, note)| Entry::on(name, any(), note)).collect()
    }
}

/// Any version.
fn any() -> Value {
    Value::Text("*".to_string())
}

/// The releases of a package that the catalog knows.
fn releases<'c>(catalog: &'c Catalog, package: &str) -> impl Iterator<Item = &'c Version> {
    let builds = catalog.builds.of(package).iter().map(|row| &row.version);
    builds.chain(catalog.companions.of(package).iter().map(|row| &row.version))
}

/// The release of torch in an image, which tells what has to run; none of a snapshot, which counts as no release of its own.
fn torch_inside(catalog: &Catalog, image: &ImageRef) -> Option<String> {
    let image::TagMatch::Known(row) = image::tag(catalog, &image.repository, image.tag.as_deref()?) else {
        return None;
    };
    image::published_torch(row).map(str::to_string)
}

/// What is typed replaces what was seen, and the comments on it.
fn set(entries: &mut Vec<Entry>, key: &str, value: Value) {
    let at = entries.iter().position(|entry| entry.key == key).unwrap_or(entries.len());
    entries.retain(|entry| entry.key != key);
    entries.insert(at.min(entries.len()), Entry { key: key.to_string(), value, note: None, off: false });
}
