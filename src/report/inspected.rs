//! What a library or wheel holds, for people.

use crate::artifact::{Artifact, Code, Counts, Library, shown};
use crate::catalog::rows::FRAMEWORKS;
use crate::types::distinct;

use super::screen::{Screen, clean};

/// More libraries than this are told in number only.
const LIBRARIES: usize = 20;

/// What was read in a file or folder, and the overlay for it or why there is none.
#[derive(Debug, Clone, Copy)]
pub struct Inspected<'a> {
    /// What was read.
    pub artifact: &'a Artifact,
    /// The overlay, or why there is none.
    pub overlay: Result<&'a str, &'a str>,
    /// What was typed, for the next command.
    pub typed: &'a str,
}

/// All of it.
pub(super) fn render(screen: &Screen, inspected: &Inspected<'_>) -> String {
    let artifact = inspected.artifact;
    let mut text = format!("{}\n", screen.help(&title(artifact)));
    for (name, value) in facts(artifact) {
        text += &screen.column(&format!("  {name:9} "), &clean(&value));
    }
    let holding: Vec<&Library> = artifact.libraries.iter().filter(|library| !library.code.is_empty()).collect();
    if holding.len() > 1 {
        text += "libraries with GPU code\n";
        for library in holding.iter().take(LIBRARIES) {
            text += &format!("  {}\n", clean(&library.name));
            text += &screen.wrapped("    ", &union(&library.code));
        }
        if let Some(more) = holding.len().checked_sub(LIBRARIES).filter(|more| *more > 0) {
            text += &format!("  and {more} more: `--format json` has them all\n");
        }
    }
    match inspected.overlay {
        Ok(_) => {
            let head = format!("{} ", screen.help("next:"));
            let command = format!("gpuenv catalog inspect --overlay {} > site-catalog.toml", clean(inspected.typed));
            text + &screen.wrapped(&head, &format!("`{command}` writes the row for an overlay"))
        }
        Err(why) => text + &screen.wrapped(&format!("{} ", screen.help("note:")), &clean(&format!("no row: {why}"))),
    }
}

/// What it is: the package where it is one, else the file.
fn title(artifact: &Artifact) -> String {
    match &artifact.metadata {
        Some(metadata) => clean(&format!("{} {}", metadata.package, metadata.version)).into_owned(),
        None => clean(&artifact.name).into_owned(),
    }
}

/// The facts of the whole, by name.
fn facts(artifact: &Artifact) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    match artifact.main().zip(artifact.main_code()) {
        Some((library, (code, count))) => {
            let files: u64 = library.code.values().sum();
            let whose = format!("{count} of {files} source files of {}", library.name);
            // What fewer than half were compiled for says little of the whole: a GPU needs some file for each kernel.
            let told = match count * 2 >= files {
                true => format!("{} ({whose})", told(code)),
                false => {
                    format!("{}, by different source files (no more than {whose} alike)", told(&all(&library.code)))
                }
            };
            facts.push(("GPU code", told));
        }
        None if artifact.has_code() => {
            let told = "its libraries run on different GPUs; which of them hold the package's own kernels is not known";
            facts.push(("GPU code", told.to_string()));
        }
        None => facts.push(("GPU code", "none was found".to_string())),
    }
    let cuda = artifact.cuda();
    let packages: Vec<String> = artifact.cuda_packages().map(|one| format!("{}{}", one.package, one.range)).collect();
    match cuda.is_empty() && packages.is_empty() {
        true if !artifact.has_code() => {}
        true => facts.push(("CUDA", "needs none of its libraries: they are linked in, or loaded by name".to_string())),
        false => {
            facts.push(("CUDA", [cuda.join(", "), packages.join(", ")].join("; ").trim_matches([';', ' ']).into()))
        }
    }
    if let Some(glibc) = artifact.least_glibc() {
        let promised = artifact.tags.glibc().filter(|promised| *promised < glibc);
        let but = promised.map_or(String::new(), |promised| format!(" (its tag promises {})", shown(promised)));
        facts.push(("glibc", format!("{} or newer{but}", shown(glibc))));
    }
    if let Some(abi) = artifact.cxx_abi() {
        facts.push(("C++ ABI", abi.as_str().to_string()));
    }
    if let Some(metadata) = &artifact.metadata {
        let asked = metadata.requires_python.clone().unwrap_or_else(|| "any".into());
        facts.push(("Python", format!("{asked} ({})", artifact.tags.pythons.join(", "))));
        facts.push(("platform", artifact.tags.platforms.join(", ")));
        let frameworks = metadata.requires.iter().filter(|one| FRAMEWORKS.contains(&&*one.package));
        facts.extend(frameworks.map(|one| ("needs", format!("{}{}", one.package, one.range))));
    }
    facts
}

/// `sm_80 sm_90, PTX compute_90 (ISA 8.4)`
fn told(code: &Code) -> String {
    let sass: Vec<String> = code.sass.iter().map(|arch| format!("sm_{}", arch.code())).collect();
    let ptx: Vec<String> =
        code.ptx.iter().map(|(arch, isa)| format!("compute_{} (ISA {})", arch.code(), shown(*isa))).collect();
    match (sass.is_empty(), ptx.is_empty()) {
        (_, true) => format!("{}, no PTX", sass.join(" ")),
        (true, false) => format!("PTX only: {}", ptx.join(", ")),
        (false, false) => format!("{}, PTX {}", sass.join(" "), ptx.join(", ")),
    }
}

/// Everything that any source file of a library was compiled for, with the number of files.
fn union(counts: &Counts) -> String {
    format!("{} ({} files)", told(&all(counts)), counts.values().sum::<u64>())
}

/// Everything that any source file of a library was compiled for.
fn all(counts: &Counts) -> Code {
    Code {
        sass: distinct(counts.keys().flat_map(|code| code.sass.iter().copied())),
        ptx: distinct(counts.keys().flat_map(|code| code.ptx.iter().copied())),
    }
}
