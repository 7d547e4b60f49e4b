//! Small questions to the catalog: a source in full, the branch of a driver, an operating system by its spelling.

use std::cmp::Ordering;
use std::iter;

use super::Catalog;
use super::rows::{
    Branch, Build, Companion, Compat, Driver, Extension, FinishedWheel, Image, Os, PythonPatch, Source, SourceBuild,
    Toolkit, pinned,
};
use super::tables::in_force;
use crate::types::{CpuArch, Version, calendar};

/// What a spelling of an operating system means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OsMatch<'c> {
    /// This row.
    Found(&'c Os),
    /// No row; these spellings come nearest.
    Unknown(Vec<&'c str>),
}

/// How many suggestions a reader still takes in.
pub(super) const SUGGESTIONS: usize = 3;
/// Longer texts are no slips of the pen, and comparing them costs time.
pub(super) const MAX_COMPARED: usize = 128;

impl Compat {
    /// The package's name, `cuda-compat-12-4`.
    pub fn package(&self) -> String {
        format!("cuda-compat-{}-{}", self.cuda.major(), self.cuda.minor())
    }
}

impl Catalog {
    /// The day on which it was made, `2026-11-22`.
    pub fn day(&self) -> String {
        self.version.replace('.', "-")
    }

    /// Whether a support that ends on this day or month had ended by then.
    pub fn has_ended(&self, end: &str) -> bool {
        calendar::has_ended(end, &self.day())
    }

    /// The source with this id.
    pub fn source(&self, id: &str) -> Option<&Source> {
        self.sources.binary_search_by(|source| (*source.id).cmp(id)).ok().map(|at| &self.sources[at])
    }

    /// Where a row's source is to be found, its placeholders filled in; the bare id if there is no such source.
    pub fn source_of(&self, id: &str, version: &str, package: &str, arch: &str) -> String {
        let Some(source) = self.source(id) else { return id.to_string() };
        let fill = |text: String, (name, value): (&str, &str)| text.replace(name, value);
        // What is about many releases is about the package.
        let at = if version.is_empty() { source.at.replace("@{version}", "") } else { source.at.to_string() };
        [("{version}", version), ("{package}", package), ("{arch}", arch)].into_iter().fold(at, fill)
    }

    /// The same where its address has no placeholders.
    pub fn source_at(&self, id: &str) -> String {
        self.source_of(id, "", "", "")
    }

    /// The branch a driver belongs to: the one with its first number.
    pub fn branch_of(&self, driver: &Version) -> Option<&Branch> {
        self.branches.iter().find(|row| row.branch.major() == driver.major())
    }

    /// The CUDA that a driver offers by itself: as its own row says, else as its branch.
    pub fn cuda_of(&self, driver: &Version) -> Option<&Version> {
        let own = self.drivers.iter().find(|row| row.version == *driver).and_then(|row| row.cuda.as_ref());
        own.or_else(|| self.branch_of(driver)?.cuda.as_ref())
    }

    /// The toolkit release whose runtime a build carries; where only its line is known, the line's oldest.
    pub fn toolkit_of(&self, build: &Build) -> Option<&Toolkit> {
        let (wanted, is_it): (_, fn(&Version, &Version) -> Ordering) = match build.toolkit {
            Some(exact) => (exact, Version::cmp),
            None => (build.line()?, Version::cmp_prefix),
        };
        let first = self.toolkits.partition_point(|row| is_it(&row.version, &wanted).is_lt());
        self.toolkits.get(first).filter(|row| is_it(&row.version, &wanted).is_eq())
    }

    /// The CUDA from which on it is settled how integrated GPUs load what a toolkit compiled.
    pub fn tegra_settled(&self) -> Option<Version> {
        self.toolkits.iter().find(|row| row.tegra_unified).map(|row| row.version.prefix(2))
    }

    /// The patch release of a line of Python that a release of a package needs; none where any will do.
    pub fn python_patch(&self, package: &str, version: &Version, line: &Version) -> Option<&PythonPatch> {
        let of_line = |row: &&PythonPatch| row.package == package && row.python.prefix(2) == *line;
        in_force(self.python_patches.iter().filter(of_line), |row| row.from, version)
    }

    /// What the extension builder of a build accepts.
    pub fn extension_of(&self, build: &Build) -> Option<&Extension> {
        let rows = self.extensions.iter().filter(|row| row.package == build.package);
        in_force(rows, |row| row.from, &build.version)
    }

    /// The releases of the branch of a driver, oldest first, betas apart.
    pub fn drivers_of(&self, branch: &Version) -> impl DoubleEndedIterator<Item = &Driver> {
        let of_branch = &self.drivers[self.drivers.partition_point(|row| row.version.major() < branch.major())..];
        let of_branch = &of_branch[..of_branch.partition_point(|row| row.version.major() == branch.major())];
        of_branch.iter().filter(|row| !row.beta)
    }

    /// The driver release of exactly this number.
    pub fn driver(&self, version: &Version) -> Option<&Driver> {
        self.drivers.iter().find(|row| row.version == *version)
    }

    /// The toolkit release of exactly this number.
    pub fn toolkit(&self, version: &Version) -> Option<&Toolkit> {
        self.toolkits.iter().find(|row| row.version == *version)
    }

    /// How what comes as source is compiled, and which release of it: a package itself, or what it pins
    /// (`transformer-engine-torch` of `transformer-engine[pytorch]`). None where nobody tells.
    pub fn source_build(&self, of: &Companion) -> Option<(&SourceBuild, Version)> {
        let pins =
            of.requirements().filter_map(|(package, range, _)| Some((package, Version::parse(pinned(range)?).ok()?)));
        let pins = pins.filter(|(package, version)| of.sdist || self.has_source_only(package, version));
        let own = of.sdist.then_some((&*of.package, of.version));
        own.into_iter()
            .chain(pins)
            .find_map(|(package, version)| Some((self.build_from_source(package, &version)?, version)))
    }

    /// Whether a release of a package has no wheel for any processor.
    fn has_source_only(&self, package: &str, version: &Version) -> bool {
        let mut rows = self.companions.of(package).iter().filter(|row| row.version == *version).peekable();
        rows.peek().is_some() && rows.all(|row| row.sdist && row.source_for().is_none())
    }

    /// Whether a release has no wheel for any processor, and its build needs what is installed.
    pub fn is_built_from_source(&self, row: &Companion) -> bool {
        self.has_source_only(&row.package, &row.version) && self.build_from_source(&row.package, &row.version).is_some()
    }

    /// The finished wheels beside a release of a package.
    pub fn finished_of(&self, row: &Companion) -> impl Iterator<Item = &FinishedWheel> {
        self.finished_wheels.iter().filter(|wheel| wheel.package == row.package && wheel.version == row.version)
    }

    /// Those of them that were compiled beside the line of a build, for its CUDA and a processor.
    pub fn finished_beside(
        &self,
        row: &Companion,
        build: &Build,
        arch: CpuArch,
    ) -> impl Iterator<Item = &FinishedWheel> {
        let line = build.line();
        self.finished_of(row).filter(move |wheel| {
            wheel.arch == arch
                && wheel.beside == build.version.prefix(2)
                && line.is_some_and(|line| wheel.cuda.major() == line.major())
                && (wheel.variants.is_empty() || wheel.variants.contains(&build.variant))
        })
    }

    /// How a release of a package is compiled; none where nobody tells.
    pub fn build_from_source(&self, package: &str, version: &Version) -> Option<&SourceBuild> {
        let rows = self.source_builds.iter().filter(|row| row.package == package);
        let row = in_force(rows, |row| row.from, version)?;
        row.until.is_none_or(|until| version.release() < until).then_some(row)
    }

    /// The Python of an image of which nobody has read it, as the image of the same repository with the nearest release of
    /// torch holds it: an older one before a newer one.
    pub fn python_nearby(&self, image: &Image) -> Option<Version> {
        let torch_of = |image: &Image| Version::parse(image.torch.as_deref()?).ok();
        let own = torch_of(image)?;
        let alike = self.images.iter().filter(|other| other.repository == image.repository);
        let read: Vec<_> = alike.filter_map(|other| torch_of(other).zip(other.python)).collect();
        let older = read.iter().filter(|(torch, _)| *torch <= own).max_by_key(|(torch, _)| *torch);
        older.or_else(|| read.iter().min_by_key(|(torch, _)| *torch)).map(|(_, python)| *python)
    }

    /// The operating system that an image is made of.
    pub fn os_of_image(&self, image: &Image) -> Option<&Os> {
        self.oses.iter().find(|os| os.images.contains(&image.os))
    }

    /// The system that the name of an image of Docker's own collection tells: `ubuntu:22.04`, `centos:7.9.2009`, and any other
    /// with a part of its tag that is a system's name, `python:3.12-slim-bookworm`.
    pub fn os_named_by(&self, repository: &str, tag: Option<&str>) -> Option<&Os> {
        // What somebody else made may bring a C library along, whatever it is called.
        let tag = tag.unwrap_or_default();
        let is_official = !repository.contains('/');
        let release = tag.split('-').next().unwrap_or_default();
        let whole = format!("{repository}{release}");
        let cut = iter::successors(Some(&*whole), |name| name.rsplit_once('.').map(|(name, _)| name));
        let names = [repository].into_iter().chain(cut).chain(tag.split('-')).filter(|_| is_official);
        let found = |name| match self.os(name) {
            OsMatch::Found(os) => Some(os),
            OsMatch::Unknown(_) => None,
        };
        names.filter_map(found).find(|os| os.refused.is_none())
    }

    /// The system with musl of which this is the name, with the number of a release or without.
    fn musl(&self, name: &str) -> Option<&Os> {
        let is_release = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        self.oses.iter().find(|row| row.musl && name.strip_prefix(&*row.id).is_some_and(is_release))
    }

    /// The operating system that is spelled like this, upper and lower case alike.
    ///
    /// A point release that changes nothing that matters here (`rhel8.7`, `ubuntu22.04.3`) means its release;
    /// where point releases have rows of their own (SLES, openSUSE) only those are known.
    pub fn os(&self, spelling: &str) -> OsMatch<'_> {
        let wanted = spelling.trim().to_lowercase();
        if let Some(row) = self.oses.iter().find(|row| spellings(row).any(|known| known.eq_ignore_ascii_case(&wanted)))
        {
            return OsMatch::Found(row);
        }
        if let Some((release, point)) = wanted.rsplit_once('.') {
            let number = !point.is_empty() && point.bytes().all(|byte| byte.is_ascii_digit());
            let dotted = &wanted[..=release.len()];
            let begins = |known: &str| known.get(..dotted.len()).is_some_and(|head| head.eq_ignore_ascii_case(dotted));
            let has_points = self.oses.iter().flat_map(spellings).any(begins);
            if number && !has_points {
                let mut rows = self.oses.iter();
                if let Some(row) = rows.find(|row| spellings(row).any(|known| known.eq_ignore_ascii_case(release))) {
                    return OsMatch::Found(row);
                }
            }
        }
        // Where the C library says it all, no release says more.
        if let Some(row) = self.musl(&wanted) {
            return OsMatch::Found(row);
        }
        let all = self.oses.iter().flat_map(spellings);
        OsMatch::Unknown(nearest(&wanted, all.map(|known| (known.to_lowercase(), known))))
    }
}

fn spellings(row: &Os) -> impl Iterator<Item = &str> {
    [&*row.id].into_iter().chain(row.aliases.iter().map(|alias| &**alias))
}

/// The names whose folded form is nearest to what was written, the nearest first.
///
/// A number says more than the letters around it: names with all the numbers that were written come before others.
pub(super) fn nearest<T: PartialEq>(wanted: &str, names: impl Iterator<Item = (String, T)>) -> Vec<T> {
    if wanted.len() > MAX_COMPARED {
        return Vec::new();
    }
    let (folded, names): (Vec<String>, Vec<T>) = names.unzip();
    let mut names: Vec<Option<T>> = names.into_iter().map(Some).collect();
    let mut best: Vec<T> = Vec::new();
    for at in by_likeness(wanted, &folded) {
        let name = names[at].take().expect("each place is told once");
        if best.len() < SUGGESTIONS && !best.contains(&name) {
            best.push(name);
        }
    }
    best
}

/// The places of the folded names that are like what was written, the most like first.
fn by_likeness(wanted: &str, folded: &[String]) -> Vec<usize> {
    let numbers = |text: &str| -> Vec<String> {
        text.split_whitespace().filter(|word| word.contains(|c: char| c.is_ascii_digit())).map(str::to_string).collect()
    };
    let asked = numbers(wanted);
    let shares = |folded: &str| {
        let own = numbers(folded);
        asked.iter().all(|number| own.contains(number))
    };
    let score = |folded: &str| (shares(folded), strsim::jaro_winkler(wanted, folded));
    let mut scored: Vec<((bool, f64), usize)> = folded.iter().map(|name| score(name)).zip(0..).collect();
    // A board is known by its number, whatever words stand around it.
    scored.retain(|((shared, likeness), _)| *likeness > 0.75 || *shared && !asked.is_empty());
    scored.sort_by(|((left, a), _), ((right, b), _)| right.cmp(left).then(b.total_cmp(a)));
    scored.into_iter().map(|(_, at)| at).collect()
}

#[cfg(test)]
mod tests;
