//! The NVIDIA libraries that builds ask pip for: what their metadata says, and which toolkit release has what all accept.

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Index, Libraries, Pins};
use crate::spec::other_names::cuda_of;
use crate::types::{Constraint, CpuArch, Specifier, Version, nvidia};

use super::coinstall;
use super::described::Described;
use super::facts::Facts;
use super::fits;
use super::kits::{Kit, PackageRequest};
use super::rowset::RowSet;
use super::wants::Want;

/// The lines of CUDA with a release that has the library which somebody asks for.
pub fn lines_with(facts: &Facts<'_>, name: &str, range: &Specifier) -> Vec<Version> {
    let has_it = |kit: &&Kit<'_>| kit.version_of(name).is_some_and(|version| range.admits(version));
    facts.kits().iter().filter(has_it).map(|kit| kit.version.prefix(2)).collect()
}

/// The lines of CUDA that an ordinary package is of: that of its name, or those whose toolkits have the library that is asked
/// for.
pub struct CudaLines {
    /// The lines; none where nothing tells.
    pub all: Vec<Version>,
    /// Whether the name tells it.
    pub by_name: bool,
}

impl CudaLines {
    /// Those of a package.
    pub fn of(facts: &Facts<'_>, name: &str, asked: &Specifier) -> Self {
        let by_name = cuda_of(name);
        let majors = || lines_with(facts, name, asked).into_iter().map(|line| line.prefix(1)).collect();
        CudaLines { by_name: by_name.is_some(), all: by_name.map_or_else(majors, |line| vec![line]) }
    }

    /// How far a build for this line is from it, as far as both tell (of some only the major is known): 0 for the same line, 1 for
    /// another one of the same major, 2 for another major.
    pub fn distance(&self, line: &Version) -> usize {
        let from = |one: &Version| {
            let both = one.len().min(line.len());
            match one.major() == line.major() {
                true => usize::from(one.prefix(both) != line.prefix(both)),
                false => 2,
            }
        };
        self.all.iter().map(from).min().unwrap_or(0)
    }
}

/// The releases of a library that are known: components of toolkits, what builds, packages and other libraries name, and what
/// an index was seen to have. Nobody has read the list of all. None of what no build or toolkit asks for.
pub fn known_of(facts: &Facts<'_>, name: &str) -> Vec<Version> {
    let (rows, listings) = (&facts.catalog.libraries, &facts.catalog.listings);
    let read = |range: &str| Version::parse(Libraries::oldest(range)?).ok();
    let is_it = |(of, _): &(&str, &str)| *of == name;
    let mut known: Vec<Version> =
        rows.iter().flat_map(Libraries::asked).filter(is_it).filter_map(|(_, range)| read(range)).collect();
    known.extend(rows.of(name).iter().map(|row| row.version));
    known.extend(listings.of(name).iter().flat_map(|row| row.releases.iter().copied()));
    if !known.is_empty() {
        let requirements = facts.catalog.companions.iter().flat_map(|row| row.requirements());
        known.extend(requirements.filter(|(of, ..)| *of == name).filter_map(|(_, range, _)| read(range)));
    }
    known
}

/// What a build asks for of a library, as far as its metadata was read.
pub fn metadata_of<'c>(catalog: &'c Catalog, build: &'c Build, arch: CpuArch, library: &str) -> Option<&'c str> {
    read(catalog, build, arch).find(|(name, _)| *name == library).map(|(_, range)| range)
}

/// What the metadata of a build asks for of each library that it shares, as far as it was read.
pub fn read_of<'c>(catalog: &'c Catalog, build: &'c Build) -> Vec<Want<'c>> {
    if build.pins.is_none() {
        return Vec::new();
    }
    read(catalog, build, build.arch).filter(|(_, range)| !range.is_empty()).collect()
}

/// What two ask for of a library of which no release is both: `exclude` tells that of two requirements.
pub fn at_odds<'c>(
    exclude: &dyn Fn(&'c str, &'c str) -> bool,
    one: &[Want<'c>],
    other: &[Want<'c>],
) -> Option<[Want<'c>; 2]> {
    let beside = |name: &str| other.iter().find(|(of, _)| *of == name);
    let clash = |own: &Want<'c>| beside(own.0).filter(|theirs| exclude(own.1, theirs.1)).copied();
    one.iter().find_map(|own| Some([*own, clash(own)?]))
}

/// What was read of a build's metadata: a row that names no variant is of what PyPI has, and of other indexes none was read.
fn read<'c>(catalog: &'c Catalog, build: &'c Build, arch: CpuArch) -> impl Iterator<Item = (&'c str, &'c str)> {
    let is_read = |row: &&'c Libraries| row.variant.is_some() || build.index.contains(&Index::Pypi);
    rows_of(catalog, build, Some(arch)).filter(is_read).flat_map(Libraries::asked)
}

/// What a build pins of a library though nobody has read its metadata: the component of the toolkit that it was built with, as
/// nearly all exact pins that were read are. None where the metadata was read, or nothing is to be expected.
pub fn expected<'c>(facts: &Facts<'c>, build: &Build, library: &str) -> Option<&'c str> {
    let is_unread = read(facts.catalog, build, build.arch).next().is_none() && build.pins == Some(Pins::Exact);
    let toolkit = build.toolkit.filter(|_| is_unread)?;
    facts.kits().iter().find(|kit| kit.version == toolkit)?.text_of(library)
}

/// Whether installers find libraries that are what a build and somebody else ask for, and that know a machine's GPUs; with
/// `possible` also where that is only not ruled out.
pub fn are_found(
    facts: &Facts<'_>,
    machine: &Described<'_>,
    build: &Build,
    wanted: &[(&str, &Specifier)],
    possible: bool,
) -> bool {
    let catalog = facts.catalog;
    let arch = machine.reading.arch;
    let asked = |name: &str| {
        let expected = || Some(format!("=={}", expected(facts, build, name).filter(|_| !possible)?));
        metadata_of(catalog, build, arch, name).map(String::from).or_else(expected)
    };
    match build.pins {
        None => true,
        Some(Pins::Exact) => wanted.iter().all(|(name, range)| {
            let text = asked(name).filter(|text| !text.is_empty());
            text.and_then(|text| Specifier::parse(&text).ok()).is_none_or(|text| !range.excludes(&text))
        }),
        Some(Pins::AtLeast) => {
            let open = self::asked(catalog, build, arch);
            let concerned = wanted.iter().any(|(name, _)| open.iter().any(|(asked, _)| asked == name));
            let serves = |kit: &Kit<'_>| {
                kit.has_all(&open)
                    && wanted.iter().all(|(name, range)| kit.goes_with(name, range))
                    && compiles_for(catalog, machine, &kit.version)
            };
            !concerned || facts.kits().iter().any(serves)
        }
    }
}

/// The toolkit releases that have all which a build leaves open; none where it leaves nothing open.
pub fn kits_with_all<'c>(facts: &Facts<'c>, build: &'c Build) -> Vec<Version> {
    if !coinstall::leaves_open(build) {
        return Vec::new();
    }
    let open = asked(facts.catalog, build, build.arch);
    facts.kits().iter().filter(|kit| kit.has_all(&open)).map(|kit| kit.version).collect()
}

/// The libraries that a build leaves open.
pub fn asked<'c>(catalog: &'c Catalog, build: &'c Build, arch: CpuArch) -> Vec<PackageRequest<'c>> {
    // Those are chosen by themselves.
    let apart = |name: &str| nvidia::PARTS.iter().any(|(_, library)| name.starts_with(library));
    let all = asked_of(catalog, build, Some(arch)).filter(|(name, _)| !apart(name));
    let any = |range: &'c str| if range.is_empty() { "*" } else { range };
    all.filter_map(|(name, range)| Some((name, Constraint::parse(any(range)).ok()?))).collect()
}

/// What the metadata of a build asks for.
pub fn asked_of<'c>(
    catalog: &'c Catalog,
    build: &'c Build,
    arch: Option<CpuArch>,
) -> impl Iterator<Item = (&'c str, &'c str)> {
    rows_of(catalog, build, arch).flat_map(Libraries::asked)
}

fn rows_of<'c>(catalog: &'c Catalog, build: &'c Build, arch: Option<CpuArch>) -> impl Iterator<Item = &'c Libraries> {
    let of_build = move |row: &&'c Libraries| {
        row.version == build.version
            && row.variant.as_ref().is_none_or(|variant| *variant == build.variant)
            && (row.arch.is_none() || arch.is_none() || row.arch == arch)
    };
    catalog.libraries.of(&build.package).iter().filter(of_build)
}

/// Whether the wheels of what a build leaves open, of a toolkit release, are for the C library of a machine.
pub fn load(facts: &Facts<'_>, machine: &Described<'_>, off: &RowSet, build: &Build, toolkit: &Version) -> bool {
    let arch = machine.reading.arch;
    let loads = |kit: &Kit<'_>| {
        let mut names = asked_of(facts.catalog, build, Some(arch)).map(|(name, _)| name);
        names.all(|name| machine.loads(kit.needs_glibc(name, arch), off))
    };
    facts.kits().iter().find(|kit| kit.version == *toolkit).is_none_or(loads)
}

/// Whether a toolkit knows every GPU of a machine; of one that is not in the catalog nobody knows.
pub fn compiles_for(catalog: &Catalog, machine: &Described<'_>, toolkit: &Version) -> bool {
    let Some(row) = catalog.toolkits.iter().find(|row| row.version == *toolkit) else { return true };
    let tegra = fits::tegra(Some(row));
    machine.kinds.iter().all(|kind| fits::best_arch(kind.gpu.cc, &row.sass, &row.sass, tegra).is_some())
}
