//! What an image demands of the driver it is started on.

use crate::catalog::Catalog;
use crate::catalog::rows::{Image, ImageRequire};
use crate::solve::driver_row::DriverRow;
use crate::solve::reading::Reading;
use crate::solve::values::ImageRequest;
use crate::types::require::{self, Subjects};
use crate::types::version::Written;
use crate::types::{CpuArch, Version};

/// An image's `NVIDIA_REQUIRE_CUDA`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirement<'c> {
    /// The row it was read from.
    pub row: &'c ImageRequire,
    /// The text is the image's own; else that of an image of the same CUDA line, which is the best guess.
    pub own: bool,
}

/// The requirement of an image for a platform; none where none of its CUDA line is known.
pub fn requirement<'c>(catalog: &'c Catalog, image: &Image, arch: CpuArch) -> Option<Requirement<'c>> {
    if let Some(row) = own_requirement(catalog, image, arch) {
        return Some(Requirement { row, own: true });
    }
    let rows = &catalog.image_requires;
    let line = image.cuda.prefix(2);
    let of_line = |row: &&ImageRequire| {
        let release = row.id.strip_suffix(arch.as_str()).and_then(|id| id.strip_suffix('@'));
        let beyond = release.and_then(|release| release.strip_prefix(line.as_str()));
        beyond.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    rows.iter().rev().find(of_line).map(|row| Requirement { row, own: false })
}

/// The requirement that is the image's own.
fn own_requirement<'c>(catalog: &'c Catalog, image: &Image, arch: CpuArch) -> Option<&'c ImageRequire> {
    let require = image.require?;
    let id = || [require.as_str(), "@", arch.as_str()].into_iter().flat_map(str::bytes);
    let rows = &catalog.image_requires;
    rows.binary_search_by(|row| row.id.bytes().cmp(id())).ok().map(|at| &rows[at])
}

/// Whether it is known for which platforms an image exists and which drivers it starts on.
pub fn is_known(catalog: &Catalog, image: &Image, arch: CpuArch) -> bool {
    !image.arches.is_empty() && own_requirement(catalog, image, arch).is_some()
}

/// What an image demands of the machine it is started on, read once.
#[derive(Debug, Clone)]
pub struct Demand<'c> {
    requirement: require::Requirement<'c>,
    /// The oldest CUDA version of a driver that may start it, where that is all that is known.
    least: Option<Version>,
}

impl<'c> Demand<'c> {
    /// libnvidia-container's reading.
    pub fn parse(requirement: &'c str) -> Self {
        Demand { requirement: require::Requirement::parse(requirement), least: None }
    }

    /// That of a CUDA line.
    pub(super) fn of_line(least: Version) -> Self {
        Demand { least: Some(least), ..Demand::parse("") }
    }

    /// Whether it starts on a driver, for a GPU of one of these brands and of this compute capability, where they are known. A
    /// driver of which no CUDA version is known fulfils no minimum: to the runtime it would be known.
    pub(super) fn admits(&self, driver: &DriverRow<'_>, (brands, arch): (Option<&[&str]>, Option<&Version>)) -> bool {
        const UNKNOWN: &Version = &Version::of(const { &Written::release("0") });
        let cuda = driver.branch.cuda.as_ref().unwrap_or(UNKNOWN);
        // On Windows the numbers of a branch go on beyond its own, and images except branches by Linux's numbers.
        let is_branch = driver.windows && driver.version.len() == 1;
        let beyond = is_branch.then(|| Version::parse(&(driver.version.major() + 1).to_string()).ok()).flatten();
        let number = beyond.as_ref().unwrap_or(&driver.version);
        let starts = |brand| {
            let subjects = Subjects { cuda: Some(cuda), driver: Some(number), arch, brand };
            self.requirement.holds(&subjects).unwrap_or(false)
        };
        let starts_on_some = match brands {
            None => starts(None),
            Some([]) => starts(Some("")),
            Some(brands) => brands.iter().any(|brand| starts(Some(brand))),
        };
        self.least.as_ref().is_none_or(|least| cuda >= least) && starts_on_some
    }
}

/// Which demand an image makes on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DemandKey<'c> {
    /// That of a text.
    Text(&'c str),
    /// What the machine's lines say of it.
    Written,
    /// Nothing that anybody knows.
    Nothing,
    /// Nobody knows, so it is taken to be a driver of its own CUDA line.
    Line(Version),
}

/// What decides on a machine which of its demands an image makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bearing {
    arch: CpuArch,
    /// The target says itself what its image demands.
    is_written: bool,
    /// It names the tag.
    is_given: bool,
    /// It says which driver the machine has.
    has_driver: bool,
}

impl Bearing {
    /// That of a machine.
    pub fn of(asked: &Reading<'_>) -> Self {
        Bearing {
            arch: asked.arch,
            is_written: asked.image_requires.is_some(),
            is_given: is_given(asked),
            has_driver: asked.pins_driver(),
        }
    }
}

/// What an image demands on a machine. Every requirement known admits the image's own line; what else one of
/// unknown text admits nobody knows, which is enough to keep the user's image but not to choose one.
pub fn of_image<'c>(catalog: &'c Catalog, on: Bearing, image: &Image) -> DemandKey<'c> {
    if on.is_written {
        // What is written is asked of every driver, whichever image is chosen.
        return DemandKey::Nothing;
    }
    match requirement(catalog, image, on.arch) {
        Some(requirement) => DemandKey::Text(text(requirement.row, on.is_given && on.has_driver)),
        None if on.is_given => DemandKey::Nothing,
        None => DemandKey::Line(image.cuda.prefix(2)),
    }
}

/// What a row says; where the image and the driver are given, of whichever build starts there.
fn text(row: &ImageRequire, given: bool) -> &str {
    row.wider.as_deref().filter(|_| given).unwrap_or(&row.require)
}

/// Whether the user named the tag.
pub(super) fn is_given(asked: &Reading<'_>) -> bool {
    matches!(asked.image, ImageRequest::Known(_))
}

#[cfg(test)]
mod tests;
