//! Builds of torch that were really made, for a CUDA release that somebody has.

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Status};
use crate::coverage::{Coverage, Tegra, covers_targets};
use crate::types::{Cc, CpuArch, Version, distinct};

/// Builds of torch for the platform most people have.
pub fn torch_builds(catalog: &Catalog) -> impl Iterator<Item = &Build> {
    catalog.builds.of("torch").iter().filter(|row| row.arch == CpuArch::X86_64 && !row.is_cpu())
}

/// Builds of torch that are installed on a processor, those of single systems among them: what stands in an image is not.
pub fn installed_on(arch: CpuArch, catalog: &Catalog) -> impl Iterator<Item = &Build> {
    catalog.builds.of("torch").iter().filter(move |row| row.arch == arch && !row.is_cpu() && !row.is_in_image())
}

/// The variant of a build, and the systems that alone take it.
pub fn variant_of(row: &Build, catalog: &Catalog) -> String {
    let systems = catalog.oses.iter().filter(|os| row.systems.contains(&os.id));
    let systems: Vec<&str> = systems.map(|os| &*os.name).collect();
    if systems.is_empty() { row.variant.to_string() } else { format!("{} for {}", row.variant, systems.join(" and ")) }
}

/// Whether it is neither a pre-release nor withdrawn.
pub fn is_stable(row: &&Build) -> bool {
    row.status == Status::Stable
}

/// The CUDA lines of the same major that torch was built for and published with, for this Python.
fn lines(cuda: &Version, python: Option<&Version>, catalog: &Catalog) -> Vec<Version> {
    let serves = |row: &&Build| {
        !row.index.is_empty() && python.is_none_or(|python| row.pythons.is_empty() || row.pythons.contains(python))
    };
    let all = torch_builds(catalog).filter(is_stable).filter(serves).filter_map(Build::line);
    distinct(all.filter(|line| line.major() == cuda.major()))
}

/// The line itself, where there are builds of it.
pub fn exact(cuda: &Version, python: Option<&Version>, catalog: &Catalog) -> Option<String> {
    let line = lines(cuda, python, catalog).into_iter().find(|line| line.cmp_prefix(cuda).is_eq())?;
    Some(line.to_string())
}

/// The nearest line of the same major where there are none of it, of two the newer.
pub fn near(cuda: &Version, python: Option<&Version>, catalog: &Catalog) -> Option<String> {
    let lines = lines(cuda, python, catalog).into_iter();
    let nearest = lines.min_by_key(|line| (line.minor().abs_diff(cuda.minor()), std::cmp::Reverse(*line)))?;
    Some(nearest.to_string())
}

/// The CUDA line a build of torch was made for.
pub fn torch_cuda(torch: &Version, catalog: &Catalog) -> Option<String> {
    let text = torch.as_str();
    let (release, variant) = text.split_once('+')?;
    let row = torch_builds(catalog).find(|row| row.version.as_str() == release && row.variant == variant)?;
    Some(row.toolkit.as_ref()?.prefix(2).to_string())
}

/// Whether a build holds machine code that a GPU runs.
pub fn holds_code(row: &Build, cc: Cc) -> bool {
    covers_targets(row.sass.iter().copied(), row.ptx.iter().copied(), cc, Tegra::Apart) == Coverage::Native
}
