//! Rows against the files that were published: for which Pythons and processors there are wheels, and what their
//! metadata pins.

use std::collections::{HashMap, HashSet};

use super::super::rows::*;
use super::super::tables::{Catalog, Named};
use super::Say;
use crate::types::{Constraint, CpuArch, Version, nvidia};

pub(super) fn lint(catalog: &Catalog, say: Say<'_>) {
    builds(catalog, say);
    code(catalog, say);
    companions(catalog, say);
    pins(catalog, say);
}

/// A wheel whose sha256 is known is for a Python that its row lists; of the package index every file is known, so
/// there the reverse holds too.
fn builds(catalog: &Catalog, say: Say<'_>) {
    for row in catalog.builds.iter() {
        let knows = |index: &str, python: &Version| {
            let (version, arch) = (row.version.as_str(), row.arch.as_str());
            catalog.wheel_digests.knows(&row.package, version, index, python.as_str(), arch)
        };
        let elsewhere = row.index.iter().any(|index| *index != Index::Pypi);
        let indexes = [row.default.then_some(""), elsewhere.then_some(&*row.variant)];
        for index in indexes.into_iter().flatten() {
            let known: Vec<&Version> =
                catalog.pythons.iter().map(|python| &python.version).filter(|python| knows(index, python)).collect();
            if let Some(python) = known.iter().find(|python| !row.pythons.contains(python)) {
                let says = format!("a wheel for Python {python} is known, which `pythons` lacks");
                say("wheel-pythons", "build", &Named(row), says);
            }
            let unknown =
                |python: &&Version| catalog.pythons.iter().any(|row| row.version == **python) && !knows(index, python);
            // The PyTorch index has wheels for more Pythons at times, be their sha256 known or not.
            if index.is_empty()
                && !elsewhere
                && !known.is_empty()
                && let Some(python) = row.pythons.iter().find(unknown)
            {
                say("wheel-pythons", "build", &Named(row), format!("no wheel for Python {python} is known"));
            }
        }
    }
}

/// What a build on the package index holds was read in its file: nothing less is asked where it can be.
fn code(catalog: &Catalog, say: Say<'_>) {
    let told = |kind| catalog.sources.iter().filter(move |row| row.kind == kind).map(|row| &*row.id);
    let read: HashSet<&str> = told(SourceKind::Measured).chain(told(SourceKind::Package)).collect();
    for row in catalog.builds.iter().filter(|row| !row.is_cpu() && row.unread().is_none()) {
        if !row.arch_source.as_deref().is_some_and(|id| read.contains(id)) {
            let says = "its wheel lies on the package index, and nobody read what it holds";
            say("unread-code", "build", &Named(row), says.into());
        }
    }
}

/// What follows a framework and lies on the package index has its files there, for the processors that it names and
/// for Pythons that it accepts.
fn companions(catalog: &Catalog, say: Say<'_>) {
    if catalog.wheel_digests.is_empty() {
        return;
    }
    let of_index = |row: &&Companion| {
        row.variant.is_none() && row.index_url.is_none() && row.url.is_none() && row.source_for().is_none()
    };
    for row in catalog.companions.iter().filter(of_index) {
        let name = Named(row);
        let (version, digests) = (row.version.as_str(), &catalog.wheel_digests);
        let lines = || catalog.pythons.iter().map(|python| &python.version);
        let files = |python: &Version, platform: &str| digests.of(&row.package, version, "", python.as_str(), platform);
        // Where a row of its own tells of the source, this one tells of wheels.
        let is_its_source = |one: &Companion| one.version == row.version && one.source_for().is_some();
        let is_of_wheels = catalog.companions.of(&row.package).iter().any(is_its_source);
        let has = |platform: &str| {
            lines().any(|python| {
                let found = files(python, platform);
                let is_source = is_of_wheels && found == files(python, "any");
                !found.is_empty() && !is_source
            })
        };
        // Files for any processor, sources among them, may still serve some only.
        let any = has("any");
        let names = |arch: &CpuArch| row.is_for_arch(*arch);
        let right = |arch: &CpuArch| any || has(arch.as_str()) == names(arch);
        if ![CpuArch::X86_64, CpuArch::Aarch64].iter().all(right) {
            let says = "its files on the package index are for other processors than `arches` says, or none is known";
            say("wheel-files", "companion", &name, says.into());
        }
        let Some(python) = row.python.as_ref().and_then(|text| Constraint::parse(text).ok()) else { continue };
        let admits = |line: &Version| python.cut_to(line.len()).admits(line);
        // Processors that came later have wheels for fewer Pythons, or for more: the first one counts.
        let arch = if has(CpuArch::X86_64.as_str()) { CpuArch::X86_64 } else { CpuArch::Aarch64 };
        let knows = |line: &Version| digests.knows(&row.package, version, "", line.as_str(), arch.as_str());
        if let Some(line) = lines().find(|line| knows(line) && !admits(line)) {
            let says = format!("a wheel for Python {line} is known, which `{python}` does not admit");
            say("wheel-pythons", "companion", &name, says);
        }
        // Where each Python has a wheel of its own, those that are admitted have one.
        let each = lines().filter(|line| knows(line)).count() > 1;
        if let Some(line) = lines().find(|line| each && admits(line) && !knows(line)) {
            say("wheel-pythons", "companion", &name, format!("no wheel for Python {line} is known"));
        }
    }
}

/// What is asked for of one of the packages that begin so, the CUDA line in its name aside.
fn asked<'r>(row: &'r Libraries, package: &str) -> Option<&'r str> {
    row.asked().find(|(one, _)| nvidia::is(package, one)).map(|(_, range)| range)
}

/// The libraries that a build asks for are those its row names, and its runtime is that of the toolkit; a metapackage is
/// that of a toolkit.
fn pins(catalog: &Catalog, say: Say<'_>) {
    let metapackage = |row: &Libraries| row.package == nvidia::TOOLKIT;
    let kits: HashMap<&Version, &Libraries> =
        catalog.libraries.iter().filter(|row| metapackage(row)).map(|row| (&row.version, row)).collect();
    for row in catalog.libraries.iter() {
        let name = Named(row);
        if metapackage(row) {
            if !catalog.toolkits.iter().any(|kit| kit.version == row.version) {
                say("unchoosable", "libraries", &name, "no toolkit is of this release".into());
            }
            continue;
        }
        if row.package.starts_with("nvidia-") {
            if !is_pinned(catalog, row) {
                say("unchoosable", "libraries", &name, "no release pins this one".into());
            }
            continue;
        }
        let is_it = |build: &&Build| {
            let variant = row.variant.as_ref().map_or(build.default, |variant| *variant == build.variant);
            variant
                && (&build.package, build.version) == (&row.package, row.version)
                && row.arch.is_none_or(|arch| arch == build.arch)
        };
        let mut builds = catalog.builds.iter().filter(is_it).peekable();
        if builds.peek().is_none() {
            say("unchoosable", "libraries", &name, "no build of the package index is of this release".into());
        }
        for build in builds {
            asked_by(build, row, &kits, say);
        }
    }
}

/// Whether some release pins a library.
fn is_pinned(catalog: &Catalog, library: &Libraries) -> bool {
    let is_it = |(name, range): (&str, &str)| {
        *name == *library.package && range.strip_prefix("==") == Some(library.version.as_str())
    };
    catalog.libraries.iter().any(|row| row.asked().any(is_it))
}

/// What one build is said to bring is what its release asks for: the oldest of it, where that is a range.
fn asked_by(build: &Build, row: &Libraries, kits: &HashMap<&Version, &Libraries>, say: Say<'_>) {
    let name = Named(row);
    for (field, package) in nvidia::PARTS.into_iter().chain([(TRITON, TRITON)]) {
        let Some(range) = asked(row, package) else { continue };
        let oldest = Constraint::parse(range)
            .ok()
            .and_then(|range| range.comparisons().filter(|one| one.op.is_lower()).find_map(|one| one.version));
        let same = build.part(field).zip(oldest).is_some_and(|(said, oldest)| said.cmp_prefix(&oldest).is_eq());
        if !same {
            say("pins", "libraries", &name, format!("asks for {package} {range}, which the build's `{field}` is not"));
        }
    }
    let range = asked(row, nvidia::CUDNN).filter(|range| !range.starts_with("=="));
    if range != build.cudnn_range.as_deref() {
        say("pins", "libraries", &name, "asks for another cuDNN than the build's `cudnn_range`".into());
    }
    let runtime = |row: &Libraries| asked(row, nvidia::RUNTIME).map(str::to_string);
    let of_kit = build.toolkit.as_ref().and_then(|toolkit| runtime(kits.get(toolkit)?));
    // The metapackage of 12.5.1 pins the components of 12.5.0, which nobody else does: extras are not held against those.
    if row.variant.is_none() && of_kit.is_some() && of_kit != runtime(row) {
        say("pins", "libraries", &name, "pins a CUDA runtime that is not that of the build's toolkit".into());
    }
}
