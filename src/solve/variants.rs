//! Wheels that are taken from the index of a variant: whether anybody saw them there, and which wheel of a release it is
//! whose GPU code was read.

use crate::catalog::Catalog;
use crate::catalog::rows::{Companion, Index};
use crate::coverage::{Coverage, Tegra, covers_targets};
use crate::types::{Cc, Constraint, CpuArch, Version};

use super::fits;
use super::labelled::of_release;
use super::own;
use super::solution::TargetSolution;
use super::unseen;
use crate::types::variant::pytorch_index;

/// A wheel that nobody is known to have seen on the index that it is taken from.
pub struct Unseen {
    /// The variant of that index.
    pub variant: String,
    /// The variants of which wheels of the release were seen for the processor.
    pub others: Vec<String>,
    /// The Pythons for which the variant was seen all the same, as its row says.
    pub pythons: Option<String>,
    /// The newest release before it that goes with the same framework and is known to lie there.
    pub older: Option<Version>,
}

/// The wheel of a package, if nobody is known to have seen it.
pub fn unseen(catalog: &Catalog, target: &TargetSolution<'_>, row: &Companion) -> Option<Unseen> {
    if row.variant.is_some() || !row.systems.is_empty() {
        return None;
    }
    let variant = index_variant(target, row)?;
    let lies = |row: &Companion| unseen::lies(catalog, row, variant, target.arch);
    if lies(row) {
        return None;
    }
    let on_processor = |one: &&Companion| one.is_for_arch(target.arch);
    let of_release: Vec<&Companion> = of_release(catalog, row).filter(on_processor).collect();
    let seen: Vec<&Companion> = of_release.into_iter().filter(|one| one.variant.is_some()).collect();
    let framework = target.build(&row.framework);
    let goes = |text: Option<&str>, version: Option<&Version>| {
        let needs = text.and_then(|text| Constraint::parse(text).ok());
        needs.zip(version).is_none_or(|(needs, version)| needs.admits(version))
    };
    let older = catalog.companions.of(&row.package).iter().filter(on_processor).filter(|one| {
        let is_there = one.variant.as_deref() == Some(variant) || one.variant.is_none() && lies(one);
        let is_plain = one.systems.is_empty() && one.url.is_none() && !catalog.is_yanked(&one.package, &one.version);
        let runs = goes(Some(&one.needs), framework.map(|build| &build.version));
        one.version < row.version && is_there && is_plain && runs && goes(one.python.as_deref(), target.python)
    });
    let others = seen.iter().filter_map(|one| one.variant.as_deref()).filter(|of| *of != variant).map(str::to_string);
    let same = seen.iter().find(|one| one.variant.as_deref() == Some(variant));
    Some(Unseen {
        variant: variant.to_string(),
        others: others.collect(),
        pythons: same.and_then(|one| one.python.as_ref()).map(ToString::to_string),
        older: older.map(|one| one.version).max(),
    })
}

/// The GPU code of a wheel that runs without it as far as it can.
pub enum Code<'c> {
    /// It was read in that wheel, or in another file of the same release and variant.
    Read(Coverage),
    /// It was read in the wheel of another variant alone.
    OfOther {
        /// That variant.
        variant: &'c str,
        /// What that one would do.
        coverage: Coverage,
    },
}

/// How the code that the chosen wheel of a package holds reaches a GPU; none where nobody read any wheel of the release, or
/// the package cannot do without, which is solved with.
pub fn own_code<'c>(
    catalog: &'c Catalog,
    target: &TargetSolution<'_>,
    row: &'c Companion,
    gpu: Cc,
) -> Option<Code<'c>> {
    let holds = |row: &Companion| {
        let (sass, ptx) = fits::companion_targets(row, target.arch);
        let is_read = !sass.is_empty() || !ptx.is_empty();
        is_read.then(|| covers_targets(sass.iter().copied(), ptx.iter().copied(), gpu, Tegra::Apart))
    };
    // What follows torch for all of its variants is compiled for the GPUs that torch is; others choose GPUs kernel by kernel,
    // and do without. A nightly has the code of its own day.
    let is_for_variants = catalog.listing(&row.package, Index::Pytorch, &row.version).is_some();
    let is_nightly = own::day(&row.version).is_some();
    if row.cpu_only.contains(&target.arch) || row.gpu_code || row.sdist || is_nightly || !is_for_variants {
        return None;
    }
    let has_place = row.index_url.is_some() || row.url.is_some() || !row.systems.is_empty();
    if let Some(coverage) = holds(row).filter(|_| row.variant.is_some() || has_place) {
        return Some(Code::Read(coverage));
    }
    let plain = of_release(catalog, row).find(|one| one.variant.is_none() && one.url.is_none())?;
    let coverage = holds(plain).filter(|_| !has_place)?;
    let Some(variant) = index_variant(target, row) else { return Some(Code::Read(coverage)) };
    let read = unseen::usual_variant(catalog, plain, target.arch)?;
    if read == variant { Some(Code::Read(coverage)) } else { Some(Code::OfOther { variant: read, coverage }) }
}

/// Where wheels of a package lie that hold GPU code, of which the chosen one holds none.
pub struct WithCode {
    /// The Pythons for which a wheel of the variant is known.
    pub pythons: Option<String>,
    /// Whether releases of the package lie on the index of variants.
    pub is_on_index: bool,
    /// The release from which on all hold GPU code.
    pub newer: Option<Version>,
}

/// Where wheels of a package for a processor and a variant lie that hold GPU code.
pub fn with_code(catalog: &Catalog, row: &Companion, variant: &str, arch: CpuArch) -> WithCode {
    let is_for = |one: &&Companion| one.is_for_arch(arch);
    let same = of_release(catalog, row).filter(is_for).find(|one| one.variant.as_deref() == Some(variant));
    let is_plain = |one: &&Companion| one.variant.is_none() && one.url.is_none() && one.systems.is_empty();
    let rows = catalog.companions.of(&row.package).iter().filter(is_plain).filter(is_for);
    let mut later: Vec<&Companion> = rows.filter(|one| one.version > row.version).collect();
    later.sort_unstable_by_key(|one| one.version);
    let last_without = later.iter().rposition(|one| one.cpu_only.contains(&arch));
    WithCode {
        pythons: same.and_then(|one| one.python.as_ref()).map(ToString::to_string),
        is_on_index: catalog.listing(&row.package, Index::Pytorch, &row.version).is_some(),
        newer: later.get(last_without.map_or(0, |at| at + 1)).map(|one| one.version),
    }
}

/// The variant whose index a wheel is taken from; none where it is taken from elsewhere.
fn index_variant<'s>(target: &'s TargetSolution<'_>, row: &Companion) -> Option<&'s str> {
    let index = target.wheels().into_iter().find(|wheel| wheel.package == *row.package)?.index?;
    let mut variants = target.builds.iter().map(|build| &*build.variant);
    variants.find(|variant| pytorch_index(variant) == index)
}
