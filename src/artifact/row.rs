//! The row of an overlay that says what was read in a wheel.

use std::fmt::Write;

use crate::types::{Constraint, Version, address, distinct, variant};

use super::{Artifact, Code, Metadata, Pair, Requirement};

/// What the catalog knows, as far as a row depends on it.
pub struct Known<'k> {
    /// The packages whose builds come in CUDA variants, most important first.
    pub frameworks: &'k [&'k str],
    /// Whether a package is one of the catalog's.
    pub is_package: &'k dyn Fn(&str) -> bool,
    /// Whether a package runs without its GPU code, as torchvision does.
    pub runs_without: &'k dyn Fn(&str) -> bool,
    /// Whether there is a row with this id.
    pub has: &'k dyn Fn(&str) -> bool,
    /// What other releases of a package follow: a framework, or CUDA alone.
    pub follows: &'k dyn Fn(&str) -> Option<String>,
    /// The row that there is of a package, its version and its variant.
    pub held: &'k HeldBy<'k>,
    /// The day, `2026-11-22`.
    pub today: &'k str,
}

/// Finds what is known of a package, its version and its variant.
pub type HeldBy<'k> = dyn Fn(&str, &str, Option<&str>) -> Option<Held> + 'k;

/// What the row says that another one replaces. A file speaks for its own processor and Python; the rest stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    /// The versions of its framework.
    pub needs: String,
    /// The Pythons.
    pub python: Option<Constraint>,
    /// The processors with a wheel.
    pub arches: Vec<String>,
    /// The oldest glibc.
    pub glibc: Option<Version>,
    /// Its other fields, those left out that hold nothing: what is true or a text.
    pub words: Vec<(&'static str, Option<String>)>,
    /// And those that are lists.
    pub lists: Vec<(&'static str, Vec<String>)>,
}

/// Where a wheel can be installed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'p> {
    /// The index that its version speaks of: the Python package index, or that of PyTorch for `2.5.1+cu124`.
    Usual,
    /// The address of the wheel itself.
    File(&'p str),
    /// The address of a wheel index.
    Index(&'p str),
}

/// A row on its way.
struct Row {
    kind: &'static str,
    fields: Vec<(&'static str, String)>,
}

impl Row {
    fn says(&self, key: &str) -> bool {
        self.fields.iter().any(|(said, _)| *said == key)
    }

    /// What the row that is replaced says beyond this one.
    fn keep(&mut self, held: &Held) {
        for (key, list) in &held.lists {
            if !self.says(key) {
                self.list(key, list);
            }
        }
        for (key, word) in &held.words {
            match word {
                _ if self.says(key) => {}
                Some(text) => self.text(key, text),
                None => self.say(key, "true"),
            }
        }
    }

    fn say(&mut self, key: &'static str, value: impl Into<String>) {
        self.fields.push((key, value.into()));
    }

    fn text(&mut self, key: &'static str, value: &str) {
        self.say(key, quoted(value));
    }

    fn list(&mut self, key: &'static str, items: &[String]) {
        let items: Vec<String> = items.iter().map(|item| quoted(item)).collect();
        if !items.is_empty() {
            self.say(key, format!("[{}]", items.join(", ")));
        }
    }

    fn write(&self, text: &mut String) {
        let width = self.fields.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
        let _ = writeln!(text, "\n[[{}]]", self.kind);
        for (key, value) in &self.fields {
            let _ = writeln!(text, "{key:width$} = {value}");
        }
    }
}

/// A text as TOML writes it. What cannot be seen has no place in a row.
fn quoted(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !c.is_control()).take(1024).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

/// What a package follows that is for a CUDA major alone.
const CUDA_ONLY: &str = "cuda";

/// The source that the rows rest on.
const SOURCE: &str = "inspected";

/// The overlay for an artifact; an error says why there is none and what to do.
pub fn overlay(artifact: &Artifact, known: &Known<'_>, place: Place<'_>) -> Result<String, String> {
    let Some(metadata) = &artifact.metadata else {
        return Err("only a wheel, or a folder with its .dist-info, says which package and version it is".into());
    };
    let (version, label) = variant::parts(&metadata.version);
    if Version::parse(version).is_err() || !address::is_package(&metadata.package) {
        return Err(format!("the catalog cannot hold a version like `{}`", metadata.version));
    }
    let release = Release { artifact, metadata, version, label, known, place, source: source_id(metadata) };
    let is_framework = known.frameworks.contains(&metadata.package.as_str());
    let row = if is_framework { release.build()? } else { release.companion()? };
    let mut text = format!("# Read out of {} by `gpuenv catalog inspect`.\n", printable(&artifact.name));
    if artifact.has_code() && artifact.main().is_none() {
        let names: Vec<&str> = artifact.own().iter().map(|library| &*library.name).collect();
        let _ = writeln!(
            text,
            "# Its libraries run on different GPUs, so no `sass` is written: {}.",
            printable(&names.join(", "))
        );
    }
    release.source_row().write(&mut text);
    row.write(&mut text);
    if let Some(row) = release.wheel_row() {
        row.write(&mut text);
    }
    Ok(text)
}

fn source_id(metadata: &Metadata) -> String {
    let plain = |c: char| if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' { c } else { '-' };
    let version: String = metadata.version.to_lowercase().chars().map(plain).collect();
    format!("{SOURCE}-{}-{version}", metadata.package)
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// One release of a package, and what is known of it.
struct Release<'r> {
    artifact: &'r Artifact,
    metadata: &'r Metadata,
    version: &'r str,
    label: Option<&'r str>,
    known: &'r Known<'r>,
    place: Place<'r>,
    source: String,
}

impl Release<'_> {
    fn source_row(&self) -> Row {
        let mut row = Row { kind: "source", fields: Vec::new() };
        row.text("id", &self.source);
        match self.place {
            Place::File(url) | Place::Index(url) => row.text("at", url),
            Place::Usual => row.text("at", &format!("pkg:pypi/{}@{}", self.metadata.package, self.metadata.version)),
        }
        row.text("kind", "measured");
        row.text("seen", self.known.today);
        row
    }

    /// The CUDA variant that the version's label names.
    fn variant(&self) -> Option<&str> {
        self.label.filter(|label| is_variant(label))
    }

    /// What a package that follows a framework asks for and holds.
    fn companion(&self) -> Result<Row, String> {
        let held = (self.known.held)(&self.metadata.package, self.version, self.variant());
        let (framework, needs) = self.follows(held.as_ref())?;
        if self.label.is_some() && self.variant().is_none() && self.place == Place::Usual {
            let message = "its version carries a label that is not a CUDA variant: say with --url where it lies";
            return Err(message.into());
        }
        let mut row = Row { kind: "companion", fields: Vec::new() };
        row.text("package", &self.metadata.package);
        row.text("version", self.version);
        let id = match self.variant() {
            Some(variant) => {
                row.text("variant", variant);
                format!("{}-{}+{variant}", self.metadata.package, self.version)
            }
            None => format!("{}-{}", self.metadata.package, self.version),
        };
        // At an address of its own lies this file alone.
        let beside = held.as_ref().filter(|_| !matches!(self.place, Place::File(_)));
        row.text("framework", &framework);
        row.text("needs", &needs);
        if let Some(python) = self.python(beside) {
            row.text("python", &python);
        }
        row.list("requires", &self.requires(&framework));
        self.say_place(&mut row, self.variant().is_some());
        self.say_contents(&mut row, beside);
        beside.iter().for_each(|held| row.keep(held));
        if (self.known.has)(&id) {
            row.say("replace", "true");
        }
        Ok(row)
    }

    /// What it follows, and the versions of that. Of metadata that names no version, or nothing at all, what is known of this
    /// release or of others holds; else it follows the torch whose libraries it loads, or CUDA, where it holds code for GPUs or
    /// loads CUDA's runtime.
    fn follows(&self, held: Option<&Held>) -> Result<(String, String), String> {
        let asked = self.known.frameworks.iter().find_map(|name| self.asked(name));
        let usual = || (self.known.follows)(&self.metadata.package);
        let is_of_cuda = || self.artifact.cuda_major().is_some() || self.artifact.has_code();
        let loaded = || if self.loads_torch() { Some("torch") } else { Some(CUDA_ONLY).filter(|_| is_of_cuda()) };
        let framework = asked.map(|one| one.package.clone()).or_else(usual).or_else(|| loaded().map(str::to_string));
        let needs = asked.and_then(|one| range(&one.range)).or_else(|| held.map(|held| held.needs.clone()));
        match (framework, needs) {
            (Some(framework), Some(needs)) => Ok((framework, needs)),
            (Some(framework), None) if framework == CUDA_ONLY || asked.is_some() && !self.loads_torch() => {
                Ok((framework, "*".into()))
            }
            (Some(framework), None) => {
                Err(format!("its metadata does not say which {framework} it was built for: write its row by hand"))
            }
            (None, _) => {
                let all = self.known.frameworks.join(", ");
                Err(format!(
                    "its metadata requires none of {all}, and its libraries hold no GPU code and load no CUDA runtime"
                ))
            }
        }
    }

    /// Whether its libraries load torch's, and it is not torch.
    fn loads_torch(&self) -> bool {
        self.artifact.loads_torch && self.metadata.package != "torch"
    }

    /// Processors, glibc and GPU code of a package that follows a framework.
    fn say_contents(&self, row: &mut Row, held: Option<&Held>) {
        let processors: Vec<String> = self.artifact.tags.processors().iter().map(ToString::to_string).collect();
        // A row without processors holds for all.
        if held.is_none_or(|held| !held.arches.is_empty()) {
            let others = held.iter().flat_map(|held| &held.arches);
            row.list("arches", &distinct(processors.iter().chain(others).cloned()));
        }
        self.say_glibc(row, held.and_then(|held| held.glibc));
        let code = self.artifact.own_code();
        let major = self.artifact.cuda_major();
        if let Some(major) = major {
            row.text("cuda", &major.to_string());
        }
        if self.artifact.has_code() && !(self.known.runs_without)(&self.metadata.package) {
            row.say("gpu_code", "true");
        }
        if let Some((code, libraries)) = &code {
            let is_arm = processors == ["aarch64"];
            row.list(if is_arm { "arm_sass" } else { "sass" }, &sass(code));
            if !is_arm {
                row.list("ptx", &ptx(code));
                // Of several libraries each has its own.
                let isa = code.ptx.iter().map(|(_, isa)| *isa).max().filter(|isa| *libraries == 1 && isa.0 > 0);
                if let Some((major, minor)) = isa {
                    row.text("ptx_isa", &format!("{major}.{minor}"));
                }
            }
        }
        row.text("source", &self.source);
        if code.is_some() || major.is_some() {
            row.text("arch_source", &self.source);
        }
    }

    /// What a build of a framework holds and pins.
    fn build(&self) -> Result<Row, String> {
        let variant = match (self.variant(), &self.artifact.built_for) {
            (Some(variant), _) => variant.to_string(),
            (None, Some(cuda)) => format!("cu{}", cuda.replace('.', "")),
            (None, None) if !self.artifact.has_code() => "cpu".to_string(),
            (None, None) => return Err("nothing in it says for which CUDA it was built".into()),
        };
        let [processor] = self.artifact.tags.processors()[..] else {
            return Err("its tags name no processor of Linux, x86_64 or aarch64".into());
        };
        let pythons = self.artifact.tags.lines();
        if pythons.is_empty() {
            return Err("its tags name no Python".into());
        }
        let package = &self.metadata.package;
        let mut row = Row { kind: "build", fields: Vec::new() };
        row.text("package", package);
        row.text("version", self.version);
        row.text("variant", &variant);
        row.text("arch", processor);
        row.text("status", "stable");
        self.say_place(&mut row, self.label.is_some_and(|label| label == variant));
        row.list("pythons", &pythons);
        // One wheel says nothing of those for other Pythons.
        row.say("pythons_partial", "true");
        let code = self.artifact.main_code().filter(|_| variant != "cpu").map(|(code, _)| code);
        if let Some(code) = code {
            row.list("sass", &sass(code));
            row.list("ptx", &ptx(code));
        }
        self.say_glibc(&mut row, None);
        let pins = if variant == "cpu" { Vec::new() } else { self.pins(processor) };
        if !pins.is_empty() {
            row.text("pins", "exact");
        }
        for (key, version) in &pins {
            row.text(key, version);
        }
        row.text("source", &self.source);
        if code.is_some() {
            row.text("arch_source", &self.source);
        }
        if !pins.is_empty() {
            row.text("pins_source", &self.source);
        }
        if (self.known.has)(&format!("{package}-{}-{variant}-linux-{processor}", self.version)) {
            row.say("replace", "true");
        }
        Ok(row)
    }

    /// The one version that is asked for of each of NVIDIA's libraries and of triton.
    fn pins(&self, processor: &str) -> Vec<(&'static str, String)> {
        let stems = [
            ("toolkit", "cuda-toolkit"),
            ("cudnn", "nvidia-cudnn-cu"),
            ("nccl", "nvidia-nccl-cu"),
            ("triton", "triton"),
        ];
        let mut pins = Vec::new();
        for (key, stem) in stems {
            let is_it = |one: &&Requirement| {
                let rest = one.package.strip_prefix(stem);
                rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) && one.counts_on(processor)
            };
            let pinned = self.metadata.requires.iter().find(is_it).and_then(|one| one.range.strip_prefix("=="));
            if let Some(version) = pinned.filter(|version| Version::parse(version).is_ok()) {
                pins.push((key, version.to_string()));
            }
        }
        pins
    }

    /// Where it can be installed from; `labelled`: its version is that of the row and the variant.
    fn say_place(&self, row: &mut Row, labelled: bool) {
        match self.place {
            Place::File(url) => row.text("url", url),
            Place::Index(url) => row.text("index_url", url),
            Place::Usual if row.kind == "build" => {
                let index = if self.label.is_some() { "pytorch" } else { "pypi" };
                row.list("index", &[index.to_string()]);
            }
            Place::Usual => {}
        }
        let plain = self.label.is_none() && row.kind == "companion";
        if self.place != Place::Usual && !labelled && !plain {
            row.text("wheel", &self.metadata.version);
        }
    }

    fn say_glibc(&self, row: &mut Row, held: Option<Version>) {
        let read =
            self.artifact.least_glibc().and_then(|(major, minor)| Version::parse(&format!("{major}.{minor}")).ok());
        // A wheel for aarch64 says nothing of the one that is known beside it.
        let beside = held.filter(|_| self.artifact.tags.processors() == ["aarch64"]);
        if let Some(arm) = read.filter(|read| beside.is_some_and(|held| held != *read)) {
            row.text("arm_glibc", arm.as_str());
        }
        if let Some(glibc) = beside.or(read.max(held)) {
            row.text("glibc", glibc.as_str());
        }
    }

    /// The Pythons that it accepts: those that its tags are for, else those that its metadata asks for; with those that
    /// other files of the release are known for.
    fn python(&self, held: Option<&Held>) -> Option<String> {
        let held = held.and_then(|held| held.python.as_ref());
        let lines = self.artifact.tags.lines();
        if lines.is_empty() {
            return range(self.metadata.requires_python.as_ref()?);
        }
        let is_new =
            |line: &&String| !held.is_some_and(|held| Version::parse(line).is_ok_and(|line| held.admits(&line)));
        let new = lines.iter().filter(is_new).cloned();
        Some(held.map(ToString::to_string).into_iter().chain(new).collect::<Vec<_>>().join(" || "))
    }

    fn asked(&self, package: &str) -> Option<&Requirement> {
        let processor = self.artifact.tags.processors().first().copied().unwrap_or("x86_64");
        self.metadata.requires.iter().find(|one| one.package == package && one.counts_on(processor))
    }

    /// What it asks for of the catalog's other packages.
    fn requires(&self, framework: &str) -> Vec<String> {
        let processor = self.artifact.tags.processors().first().copied().unwrap_or("x86_64");
        let other = |one: &&Requirement| one.package != framework && one.package != self.metadata.package;
        let asked = self.metadata.requires.iter().filter(other).filter(|one| one.counts_on(processor));
        let known = asked.filter(|one| (self.known.is_package)(&one.package));
        let mut all: Vec<String> =
            known.filter_map(|one| Some(format!("{}{}", one.package, range(&one.range)?))).collect();
        all.sort_unstable();
        all.dedup_by(|one, next| {
            one.split(['=', '<', '>', '~', '!']).next() == next.split(['=', '<', '>', '~', '!']).next()
        });
        all
    }

    /// The file with its sha256, where it is one of the Python package index.
    fn wheel_row(&self) -> Option<Row> {
        let usual = self.place == Place::Usual && self.label.is_none();
        let sha256 = self.artifact.sha256.as_ref().filter(|_| usual)?;
        let mut row = Row { kind: "wheel", fields: Vec::new() };
        row.text("file", &self.artifact.name);
        row.text("sha256", sha256);
        row.text("source", &self.source);
        (!(self.known.has)(&format!("wheel {}", self.artifact.name))).then_some(row)
    }
}

/// `cu124`, `cpu`
fn is_variant(label: &str) -> bool {
    let digits = label.strip_prefix("cu").unwrap_or_default();
    label == "cpu" || (2..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A range as the catalog writes it: without labels, and without the single patch releases of Python that some packages
/// exclude. Nothing where any version does, or where it cannot be said.
fn range(specifier: &str) -> Option<String> {
    let is_said = |part: &&str| part.strip_prefix("!=").is_none_or(|version| version.split('.').count() <= 2);
    let parts = specifier.split(',').map(str::trim).filter(|part| !part.is_empty()).filter(is_said);
    let parts: Vec<&str> = parts.map(|part| part.split('+').next().unwrap_or(part)).collect();
    let range = parts.join(",");
    (!range.is_empty() && Constraint::parse(&range).is_ok()).then_some(range)
}

fn sass(code: &Code) -> Vec<String> {
    code.sass.iter().map(ToString::to_string).collect()
}

fn ptx(code: &Code) -> Vec<String> {
    let mut archs: Vec<String> = code.ptx.iter().map(|(arch, _)| arch.to_string()).collect();
    archs.dedup();
    archs
}

/// A version as it is shown.
pub fn shown(pair: Pair) -> String {
    format!("{}.{}", pair.0, pair.1)
}
