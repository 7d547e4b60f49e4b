//! The NVIDIA libraries that builds ask pip for: what their metadata says, and which toolkit release has what all accept.

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Index, Libraries, Pins};
use crate::types::{Constraint, CpuArch, Specifier, Version};

use super::fits;
use super::machine::Machine;

/// Chosen by themselves, as keys of `[stack]`.
const CHOSEN_APART: [&str; 2] = ["nvidia-cudnn", "nvidia-nccl"];

/// What a framework asks of a library, `nvidia-cublas-cu12` and `>=12.1.3.1`.
pub type PackageRequest<'c> = (&'c str, Constraint);

/// Whether a toolkit release has the component that somebody asks for, or none of that name.
pub fn goes_with(toolkit: &Libraries, name: &str, range: &Specifier) -> bool {
    let version = component(toolkit, name).and_then(|version| Version::parse(version).ok());
    version.is_none_or(|version| range.admits(&version))
}

/// The lines of CUDA with a release that has the library which somebody asks for.
pub fn lines_with(catalog: &Catalog, name: &str, range: &Specifier) -> Vec<Version> {
    let is_it = |text: &str| Version::parse(text).is_ok_and(|version| range.admits(&version));
    toolkits(catalog).filter(|row| component(row, name).is_some_and(is_it)).map(|row| row.version.prefix(2)).collect()
}

/// What a build asks for of a library, as far as its metadata was read: that of the torch of other indexes was not.
pub fn metadata_of<'c>(catalog: &'c Catalog, build: &'c Build, arch: CpuArch, library: &str) -> Option<&'c str> {
    let is_read = |row: &&Libraries| row.variant.is_some() || build.index.contains(&Index::Pypi);
    let of_build = catalog.libraries.iter().filter(|row| row.package == build.package && row.version == build.version);
    of_build.clone().find(is_read)?;
    asked_of(catalog, build, Some(arch)).find(|(name, _)| *name == library).map(|(_, range)| range)
}

/// Whether installers find libraries that are what a build and somebody else ask for, and that know a machine's GPUs.
pub fn are_found(catalog: &Catalog, machine: &Machine<'_>, build: &Build, wanted: &[(&str, &Specifier)]) -> bool {
    let arch = machine.reading.arch;
    let asked = |name: &str| metadata_of(catalog, build, arch, name);
    match build.pins {
        None => true,
        Some(Pins::Exact) => wanted.iter().all(|(name, range)| {
            let text = asked(name).filter(|text| !text.is_empty());
            text.and_then(|text| Specifier::parse(text).ok()).is_none_or(|text| !range.excludes(&text))
        }),
        Some(Pins::AtLeast) => {
            let open = self::asked(catalog, build, arch);
            let concerned = wanted.iter().any(|(name, _)| open.iter().any(|(asked, _)| asked == name));
            let serves = |toolkit: &&Libraries| {
                has_all(toolkit, &open)
                    && wanted.iter().all(|(name, range)| goes_with(toolkit, name, range))
                    && compiles_for(catalog, machine, &toolkit.version)
            };
            !concerned || toolkits(catalog).any(|toolkit| serves(&toolkit))
        }
    }
}

/// Whether some toolkit release of those that are asked for has what a build leaves open, and knows every GPU of some
/// machines; none where it leaves nothing open.
pub fn has_toolkit(
    catalog: &Catalog,
    machines: &[&Machine<'_>],
    build: &Build,
    is_asked: impl Fn(Version) -> bool,
) -> bool {
    let open = if build.pins == Some(Pins::AtLeast) { asked(catalog, build, build.arch) } else { Vec::new() };
    toolkits(catalog).filter(|toolkit| is_asked(toolkit.version)).any(|toolkit| {
        let compiles = |machine: &&Machine<'_>| compiles_for(catalog, machine, &toolkit.version);
        has_all(toolkit, &open) && machines.iter().all(compiles)
    })
}

/// Whether a toolkit release has components for all that is asked for, as far as it has such components.
fn has_all(toolkit: &Libraries, open: &[PackageRequest<'_>]) -> bool {
    let takes = |(name, range): &PackageRequest| {
        let version = component(toolkit, name).and_then(|version| Version::parse(version).ok());
        version.is_none_or(|version| range.admits(&version))
    };
    open.iter().any(|(name, _)| component(toolkit, name).is_some()) && open.iter().all(takes)
}

/// The metapackages of toolkit releases.
pub fn toolkits(catalog: &Catalog) -> impl Iterator<Item = &Libraries> {
    catalog.libraries.iter().filter(|row| row.package == "cuda-toolkit")
}

/// The libraries that a build leaves open.
pub fn asked<'c>(catalog: &'c Catalog, build: &'c Build, arch: CpuArch) -> Vec<PackageRequest<'c>> {
    let apart = |name: &str| CHOSEN_APART.iter().any(|one| name.starts_with(one));
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
    let of_build = move |row: &&'c Libraries| {
        row.package == build.package
            && row.version == build.version
            && row.variant.as_ref().is_none_or(|variant| *variant == build.variant)
            && (row.arch.is_none() || arch.is_none() || row.arch == arch)
    };
    catalog.libraries.iter().filter(of_build).flat_map(Libraries::asked)
}

/// The version that a release pins of a package; of one that it leaves open, the oldest it takes, which is its own.
pub fn component<'c>(toolkit: &'c Libraries, package: &str) -> Option<&'c str> {
    let (_, range) = toolkit.asked().find(|(name, _)| *name == package)?;
    Libraries::oldest(range)
}

/// Whether a toolkit knows every GPU of a machine; of one that is not in the catalog nobody knows.
pub fn compiles_for(catalog: &Catalog, machine: &Machine<'_>, toolkit: &Version) -> bool {
    let Some(row) = catalog.toolkits.iter().find(|row| row.version == *toolkit) else { return true };
    let tegra = fits::tegra(Some(row));
    machine.kinds.iter().all(|kind| fits::best_arch(kind.gpu.cc, &row.sass, &row.sass, tegra).is_some())
}
