//! What several files ask for, made one draft: packages of the catalog into `[stack]`, all others beside it.

mod cuda;
mod image;
mod left;
mod named;
mod package;
mod versions;

use std::collections::{BTreeMap, BTreeSet};

use super::claims::{Claim, Claims, Settled};
use super::shell::file_name;
use super::{
    Found, Kind, Left, Manifest, OTHER_FILE, OTHER_SYSTEM, Wanted, brought, conda, extras, is_variant, order, read,
    setup,
};
use crate::catalog::Catalog;
use crate::catalog::rows::{FRAMEWORKS, TORCH};
use crate::init::{Draft, Entry, Value};
use crate::solve::request::other_maker;
use crate::spec;
use crate::types::marker::Known;
use crate::types::name::STACK_PARTS;
use crate::types::{Constraint, CpuArch, Specifier, Version, intersect, name};

pub use versions::alone;
use versions::{constraint, extra_variant, pythons, with_variant};

/// What comes with JAX, and is pinned by it.
const COMES_ALONG: [&str; 2] = ["jaxlib", spec::other_names::OF_JAX];
/// What NVIDIA calls its library, and the package index another program.
const APEX: &str = "apex";
const NVIDIAS_APEX: &str =
    "NVIDIA's is on no index, and what the package index calls so is another program: install it from its repository";
/// How the names of NVIDIA's packages begin: libraries, which frameworks bring, and whatever else it publishes.
const NVIDIAS: &str = "nvidia-";

/// The extra that brings TensorFlow's CUDA.
const AND_CUDA: &str = "and-cuda";

/// Why the index of a package matters that is taken without it.
const UNTOLD: &str = "which does not tell which CUDA its wheels are for";
/// Why a version is told that uv locked in place of what others ask for.
const OVERRIDDEN: &str =
    "locked by an override over what others ask for: where installers refuse it, tell them the override, too";

/// Why what a framework brings is left out.
const COMES: &str = "it comes with the framework, which pins it";

/// So many bounds of an ordinary package are put together, not more.
const MOST_BOUNDS: usize = 16;

/// Why no draft can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// A file cannot be read at all.
    Unread {
        /// The file.
        file: String,
        /// The line, counted from one.
        line: usize,
        /// Why.
        why: String,
    },
    /// No file has an extra or group that is asked for.
    NoExtra {
        /// That one.
        name: String,
        /// Those that they have.
        known: Vec<String>,
        /// A file whose extras are not read.
        unread: Option<String>,
    },
}

/// A draft of what these files ask for, and the lines that it does not hold; with some of their extras and groups.
pub fn of_manifests<'m>(
    manifests: &'m [Manifest],
    catalog: &'m Catalog,
    extras: &[String],
    (python, arch): (Option<Version>, Option<CpuArch>),
) -> Result<(Draft, Vec<Left>), Refused> {
    let names: Vec<&str> = manifests.iter().map(|manifest| manifest.name.as_str()).collect();
    let mut files: Vec<(&Manifest, Found)> = Vec::new();
    for manifest in manifests {
        let unread = |(line, why)| Refused::Unread { file: manifest.name.clone(), line, why };
        files.push((manifest, read(manifest, arch).map_err(unread)?));
    }
    let known: BTreeSet<&String> = files.iter().flat_map(|(_, found)| extras::all(found)).collect();
    let is_known = |name: &str| known.iter().any(|known| name::package(known) == name);
    if let Some(name) = extras.iter().find(|name| !is_known(name)) {
        let has_more = |found: &Found| found.left.iter().any(|(_, text, _)| text == setup::EXTRAS);
        let unread = files.iter().find(|(_, found)| has_more(found)).map(|(file, _)| file.name.clone());
        let known = known.into_iter().cloned().collect();
        return Err(Refused::NoExtra { name: name.clone(), known, unread });
    }
    // `pip install project[a,b]` names extras of the project's, too.
    let projects: Vec<&String> = files.iter().filter_map(|(_, found)| found.project.as_ref()).collect();
    let of_project =
        files.iter().flat_map(|(_, found)| &found.wanted).filter(|wanted| projects.contains(&&wanted.name));
    let installs = files.iter().flat_map(|(_, found)| &found.installs);
    let mut installs: BTreeSet<String> =
        installs.chain(of_project.flat_map(|wanted| &wanted.extras)).chain(extras).cloned().collect();
    installs.extend(files.iter().flat_map(|(_, found)| named::defaults(catalog, found)));
    let python = python.or_else(|| files.iter().find_map(|(_, found)| found.python()));
    let pythons = pythons(catalog, &files, python);
    let on = Known { pythons: &pythons, arch, extras: None };
    order::by_commands(&mut files);
    let dockerfiles = files.iter_mut().filter(|(file, _)| file.kind == Kind::Dockerfile);
    dockerfiles.for_each(|(_, found)| conda::of_its_own(found));
    let open = files.iter_mut().filter_map(|(_, found)| found.decide(&on, &installs).then_some(())).count();
    let mut merged = Merged {
        catalog,
        known: catalog.packages().into_iter().map(|package| package.name).collect(),
        draft: Draft {
            origin: Some(format!("Made from {}", names.join(", "))),
            of_files: true,
            is_open: open > 0,
            ..Draft::default()
        },
        left: Vec::new(),
        libraries: Vec::new(),
        pythons: Vec::new(),
        torches: Vec::new(),
        system_python: None,
        stack: Claims::default(),
        packages: Claims::default(),
        uninstalled: None,
        overrides: Vec::new(),
        is_renewed: false,
        own_cuda: None,
        apart: None,
        over: Vec::new(),
        nvidias: Vec::new(),
        of_each_cuda: Vec::new(),
        with_cuda: BTreeSet::new(),
        cudas: Vec::new(),
        files: names.iter().map(|name| file_name(name)).collect(),
        installs,
        elsewhere: named::elsewhere(&files),
    };
    files.into_iter().for_each(|(manifest, found)| merged.take(manifest, found));
    Ok(merged.end())
}

struct Merged<'c> {
    catalog: &'c Catalog,
    /// Packages of the catalog.
    known: Vec<String>,
    draft: Draft,
    left: Vec<Left>,
    /// What the file at hand takes from conda that package indexes do not have, each with its line.
    libraries: Vec<(usize, String)>,
    /// The Pythons that wheels are for which were named by their addresses, each with its place.
    pythons: Vec<(String, String)>,
    /// The lines of torch that such wheels are for, likewise.
    torches: Vec<(String, String)>,
    /// Where the Python of an image's system is installed.
    system_python: Option<String>,
    /// What is asked for that gpuenv chooses.
    stack: Claims<Constraint>,
    /// What is asked for beside it.
    packages: Claims<Specifier>,
    /// Where the torch of an image is taken out.
    uninstalled: Option<(String, usize)>,
    /// The libraries that a file lays over what others bring, each with its version and the place.
    overrides: Vec<(String, String, String)>,
    /// Whether a line installs the newest torch that it takes, whatever is there.
    is_renewed: bool,
    /// The major of CUDA that the index of a package of its own is for, and the place.
    own_cuda: Option<(String, String)>,
    /// Where an environment is made that does not see the packages of the image, and whether conda makes it.
    apart: Option<(String, usize, bool)>,
    /// What has a name for each major of CUDA, each with its file: the major is known when all is.
    of_each_cuda: Vec<(&'c Manifest, Wanted)>,
    /// Parts of the stack that a command of their own installs: over those that a framework brings, when all is known.
    over: Vec<(&'c Manifest, Wanted)>,
    /// NVIDIA's among that, each with its file: what a framework brings is told apart when all is known.
    nvidias: Vec<(String, Wanted)>,
    /// The frameworks of which some line asks for the CUDA that they bring.
    with_cuda: BTreeSet<String>,
    /// The lines of CUDA that the image or torch brings, one of which what loads CUDA from the system would have to be for.
    cudas: Vec<Version>,
    /// The names of all files.
    files: Vec<&'c str>,
    /// The extras and groups that lines install, or somebody asks for.
    installs: BTreeSet<String>,
    /// What lines install from an address, each with its place.
    elsewhere: BTreeMap<String, String>,
}

impl<'c> Merged<'c> {
    fn take(&mut self, manifest: &'c Manifest, mut found: Found) {
        let file = manifest.name.as_str();
        for (line, text, why) in std::mem::take(&mut found.left) {
            // What another file says that is read is not left out.
            let is_read = |word: &str| {
                let of_project = ["uv", "poetry", "pdm"].contains(&file_name(word));
                let named = if of_project { "pyproject.toml" } else { file_name(word) };
                self.files.contains(&named)
            };
            if why != OTHER_FILE || !text.split_whitespace().any(is_read) {
                self.leave(file, line, &text, why);
            }
        }
        self.draft.build |= found.builds;
        for (key, word, what) in [("image", "FROM", found.image.take()), ("gcc", "gcc", found.host_compiler.take())] {
            let Some((value, line)) = what else { continue };
            match self.draft.machine.iter().any(|entry| entry.key == key) {
                true => self.leave(file, line, &format!("{word} {value}"), format!("another {key} was taken before")),
                false => self.draft.machine.push(Entry::on(key, Value::Text(value), place(file, line))),
            }
        }
        let pages = std::mem::take(&mut found.pages).into_iter();
        self.torches
            .extend(pages.map(|(torch, line)| (torch, format!("{}, whose wheels are for it", place(file, line)))));
        let system = found.system_python.map(|line| place(file, line));
        self.system_python = self.system_python.take().or(system);
        if let Some((jetpack, line)) = found.jetpack.take() {
            let of_line = || found.wanted.iter().find_map(|wanted| wanted.variant.clone());
            let variant = found.variant.clone().or_else(of_line);
            self.jetpack_of_index(&jetpack, variant.as_deref(), &place(file, line));
        }
        if let Some((_, line, _)) = found.uninstalls.iter().find(|(name, ..)| name == TORCH) {
            self.uninstalled.get_or_insert((file.to_string(), *line));
        }
        let overrides = std::mem::take(&mut found.overrides).into_iter();
        self.overrides.extend(overrides.map(|(name, version, line)| (name, version, place(file, line))));
        self.apart = self.apart.take().or(found.apart.map(|(line, by_conda)| (file.to_string(), line, by_conda)));
        // Extras are alternatives as often as not: one is taken where somebody says so.
        let installed = extras::installed(&self.installs, &found);
        let is_taken = |wanted: &Wanted| wanted.group.as_ref().is_none_or(|group| installed.contains(group));
        let (wanted, mut beside): (Vec<_>, Vec<_>) = std::mem::take(&mut found.wanted).into_iter().partition(is_taken);
        let taken: BTreeSet<_> = wanted.iter().map(|one| (&one.written, &one.variant)).collect();
        beside.retain(|one| !taken.contains(&(&one.written, &one.variant)));
        for (group, (line, text, why)) in std::mem::take(&mut found.left_of) {
            if installed.contains(&group) {
                self.leave(file, line, &text, why);
            } else if why != OTHER_SYSTEM {
                beside.push(Wanted { group: Some(group), written: text, ..Wanted::new("", "", line) });
            }
        }
        for mut wanted in wanted {
            let variant = wanted.variant.take().or_else(|| found.variant.clone());
            self.package(manifest, wanted, variant);
        }
        self.leave_groups(file, &beside);
        self.leave_libraries(file);
    }

    /// Whether it is something that gpuenv chooses.
    fn is_chosen(&self, wanted: &Wanted) -> bool {
        let name = self.name_of(wanted);
        STACK_PARTS.contains(&name) || self.known.iter().any(|known| known == name)
    }

    /// The Python and the torch of the wheels that were named by their addresses, where nothing else says another.
    fn python_of_wheels(&mut self) {
        let (pythons, torches) = (std::mem::take(&mut self.pythons), std::mem::take(&mut self.torches));
        let are_alike = pythons.windows(2).all(|pair| pair[0].0 == pair[1].0);
        let python = pythons.first().filter(|_| are_alike).map(|one| ("python", one));
        // A wheel installs no torch itself.
        let torches = torches.iter().filter(|_| self.stack.has(TORCH)).map(|one| (TORCH, one)).collect::<Vec<_>>();
        for (name, (version, at)) in python.into_iter().chain(torches) {
            self.ask_for(name, version, at.clone());
        }
    }

    /// Asks for a version that something tells which no line asks for, if all lines admit it.
    fn ask_for(&mut self, name: &str, version: &str, note: String) {
        let Ok(asked) = Constraint::parse(version) else { return };
        if self.stack.of(name).all(|other| intersect(other, &asked).is_some()) {
            let line = (String::new(), 0, version.to_string());
            self.stack.push(name, Claim { asked, is_exact: true, group: None, condition: None, line, note });
        }
    }

    fn end(mut self) -> (Draft, Vec<Left>) {
        self.python_of_wheels();
        self.python_of_system();
        self.cuda_of_own_index();
        self.named_by_cuda();
        self.jetpack_of_image();
        self.torch_of_image();
        self.toolkit_of_conda();
        self.idle_toolkits();
        self.settle_all();
        self.laid_over();
        self.torch_beside_image();
        self.build_in_image();
        self.rules_of_overrides();
        for (file, wanted) in std::mem::take(&mut self.nvidias) {
            match brought::is_brought(self.catalog, &self.draft.stack, &wanted.name) {
                true => self.leave(&file, wanted.line, &wanted.written, COMES.to_string()),
                false => self.aside(&file, &wanted.name.clone(), wanted),
            }
        }
        for (name, settled) in std::mem::take(&mut self.packages).settled(both) {
            let text = settled.asked.to_string();
            let text = format!("{name}{}", if text == "*" { "" } else { &text });
            self.leave_refused(&text, &settled);
            self.draft.packages.push(text);
        }
        let first = |key: &str| FRAMEWORKS.iter().position(|name| *name == key).unwrap_or(FRAMEWORKS.len());
        self.draft.stack.sort_by_key(|entry| (first(&entry.key), entry.key == "python"));
        self.draft.packages.sort_unstable();
        (self.draft, self.left)
    }

    fn settle_all(&mut self) {
        self.cudas = self.cudas_of_image().unwrap_or_else(|| self.cudas_of_torch());
        let stack = std::mem::take(&mut self.stack).settled(intersect);
        let frameworks = || stack.iter().filter(|(name, _)| FRAMEWORKS.contains(&name.as_str()));
        let is_cpu = |settled: &Settled<Constraint>| settled.asked.names_variant("cpu");
        let driving =
            frameworks().find(|(name, settled)| self.drives_gpus(name, settled)).map(|(name, _)| name.clone());
        // A torch that a package brings is there as one of a line of its own is.
        let follows = |name: &str| self.catalog.companions.of(name).iter().any(|row| *row.framework == *TORCH);
        let is_brought = || !stack.iter().any(|(name, _)| name == TORCH) && stack.iter().any(|(name, _)| follows(name));
        let for_gpus = driving.or_else(|| is_brought().then(|| TORCH.to_string()));
        let are_for_cpu = frameworks().next().is_some() && frameworks().all(|(_, settled)| is_cpu(settled));
        if are_for_cpu && !self.draft.machine.iter().any(|entry| entry.key == "gpu") {
            let note = "the wheels are builds for the CPU";
            self.draft.machine.insert(0, Entry::on("gpu", Value::Text("none".to_string()), note));
        }
        for (name, settled) in stack {
            self.settle(name, settled, for_gpus.as_deref());
        }
    }

    /// A part that a command of its own installs takes the place of what a framework brings; where none does, it is one of the
    /// stack.
    fn laid_over(&mut self) {
        for (manifest, wanted) in std::mem::take(&mut self.over) {
            let name = self.name_of(&wanted);
            let is_brought = brought::is_brought(self.catalog, &self.draft.stack, &wanted.name)
                || brought::is_asked(self.catalog, &self.draft.stack, name);
            if is_brought || self.draft.stack.iter().any(|entry| entry.key == name) {
                let why = "installed over the one that others bring: install it again behind what the lock names";
                self.leave(&manifest.name, wanted.line, &wanted.written, why.to_string());
            } else {
                self.package(manifest, Wanted { is_over: false, ..wanted }, None);
            }
        }
        self.settle_all();
    }

    /// A framework that is asked for without its CUDA leaves the GPU to another one that drives it.
    fn settle(&mut self, name: String, mut settled: Settled<Constraint>, for_gpus: Option<&str>) {
        let beside = for_gpus.filter(|other| *other != name && self.is_bare(&name, &settled));
        let without = beside.and_then(|other| Some((other, with_variant(&settled.asked, "cpu")?)));
        let mut note = settled.note();
        if let Some(asked) = self.met_in_image(&name, &settled.asked) {
            note += ", which the image's torch meets, whatever its index";
            settled.asked = asked;
        }
        if let Some((other, asked)) = without {
            settled.asked = asked;
            note += &format!(": no line asks for its CUDA, so it leaves the GPU to {other}");
        }
        for Claim { line: (file, line, text), .. } in settled.of.iter().filter(|claim| claim.condition.is_some()) {
            self.leave(file, *line, text, "taken for all targets, without its condition".to_string());
        }
        self.leave_refused(&format!("{name} = \"{}\"", settled.asked.as_str()), &settled);
        self.draft.stack.push(Entry::on(&name, Value::Text(settled.asked.as_str().to_string()), note));
    }
}

/// The claim of a line.
fn claim<T>(asked: T, is_exact: bool, file: &str, wanted: Wanted, note: String) -> Claim<T> {
    let line = (file.to_string(), wanted.line, wanted.written);
    Claim { asked, is_exact, group: wanted.group, condition: wanted.marker, line, note }
}

/// What two requirements of an ordinary package ask for together. Hundreds of bounds say nothing that these do not.
fn both(one: &Specifier, other: &Specifier) -> Option<Specifier> {
    let is_long = one.comparisons.len() > MOST_BOUNDS;
    (!is_long && !one.excludes(other)).then(|| one.clone().and(other).pinned())
}

/// Whether it is one version: nothing is left to choose. Pythons and CUDAs are told apart by their first two numbers.
fn is_exact(name: &str, constraint: &Constraint) -> bool {
    let text = constraint.as_str();
    let first = text.split(',').next().unwrap_or(text).trim_start_matches('=');
    let dots = if ["python", "cuda"].contains(&name) { 1 } else { 2 };
    first.starts_with(|c: char| c.is_ascii_digit()) && !text.contains(['|', '*']) && first.matches('.').count() >= dots
}

fn place(file: &str, line: usize) -> String {
    format!("{file}:{line}")
}

#[cfg(test)]
mod tests;
