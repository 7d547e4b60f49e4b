//! What frameworks share in one environment: each NVIDIA library lies there once, so they must be of one CUDA major and
//! agree on what they ask pip for; and where they ask for a least cuDNN, the one to be installed must serve every GPU.

use rustc_hash::FxHashSet;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Cudnn, Nccl, Pins, library_major};
use crate::types::{Constraint, Version};

use super::platform::Platform;
use super::release::Release;
use super::rowset::RowSet;

/// Whether two frameworks go into one environment on a kind of machine.
pub fn together(on: Platform<'_>, one: &Release<'_>, other: &Release<'_>) -> bool {
    let (Some(line), Some(beside)) = (&one.line, &other.line) else { return true };
    // The label of a build that nobody has read tells its CUDA too.
    line.major() == beside.major() && one.on(on).zip(other.on(on)).is_none_or(|(a, b)| agree(a, b))
}

/// Whether two builds accept one CUDA, cuDNN and NCCL.
pub fn agree(a: &Build, b: &Build) -> bool {
    let parts = [(&a.toolkit, &b.toolkit), (&a.cudnn, &b.cudnn), (&a.nccl, &b.nccl)];
    let asked = parts.into_iter().filter_map(|(a, b)| a.as_ref().zip(b.as_ref()));
    // A range ends somewhere, too.
    let beyond = |a: &Build, b: &Build| b.cudnn.is_some_and(|cudnn| b.pins.is_some() && !asks_for(a, &cudnn));
    if a.pins.is_some() && (beyond(a, b) || beyond(b, a)) {
        return false;
    }
    match (a.pins, b.pins) {
        (Some(Pins::Exact), Some(Pins::Exact)) => asked.into_iter().all(|(a, b)| a == b),
        (Some(Pins::Exact), Some(Pins::AtLeast)) => asked.into_iter().all(|(a, b)| a >= b),
        (Some(Pins::AtLeast), Some(Pins::Exact)) => asked.into_iter().all(|(a, b)| b >= a),
        _ => true,
    }
}

/// Whether a cuDNN is within the end of what a build asks pip for, or above its beginning where it is no end.
fn asks_for(build: &Build, cudnn: &Version) -> bool {
    let range = build.cudnn_range.as_ref().and_then(|text| Constraint::parse(text).ok());
    range.is_none_or(|range| build.cudnn.is_some_and(|least| *cudnn < least) || range.admits(cudnn))
}

/// Whether a library that a package asks pip for goes beside a release on a kind of machine: those of NVIDIA with a CUDA
/// major in their name have one folder, whatever that major, so the last to be installed replaces what the other needs.
pub fn has_folder_for(on: Platform<'_>, release: &Release<'_>, library: &str) -> bool {
    let brings = release.on(on).and_then(|build| build.pins);
    let majors = library_major(library).zip(release.line).filter(|_| brings.is_some());
    majors.is_none_or(|(asked, line)| asked == line.major())
}

/// Whether a build leaves its cuDNN open: it names the oldest that serves and takes any newer, from pip or from the
/// system.
pub fn takes_newer(build: &Build) -> bool {
    leaves_open(build) || build.system_cuda
}

/// Whether a build that takes the system's cuDNN runs with an installed one; a build that brings its own does not ask.
pub fn loads(build: &Build, installed: &Version, wanted: Option<&Constraint>) -> bool {
    let Some(least) = build.cudnn.filter(|_| build.system_cuda) else { return true };
    let as_new = least.major() == installed.major() && least.cmp_prefix(installed).is_le();
    as_new && wanted.is_none_or(|wanted| wanted.cut_to(installed.len()).admits(installed))
}

/// Whether a build that takes the system's CUDA finds its libraries in one of the toolkits that are installed; a build that
/// brings its own does not ask.
pub fn finds_cuda(build: &Build, installed: &[Version]) -> bool {
    let built_with = build.line().filter(|_| build.system_cuda);
    built_with.is_none_or(|built_with| installed.iter().any(|has| are_named_alike(&built_with, has)))
}

/// Whether the libraries of two toolkits have the same file names: libcudart's tells the release before CUDA 11, and
/// libcusolver's differs between 11.0 and what came after it.
fn are_named_alike(built_with: &Version, has: &Version) -> bool {
    let by_release = |one: &Version| one.major() < 11 || (one.major(), one.minor()) == (11, 0);
    let same_release = has.len() < 2 || built_with.prefix(2) == has.prefix(2);
    built_with.major() == has.major() && (same_release || !(by_release(built_with) || by_release(has)))
}

/// Whether a build asks pip for a least release of each library: what is installed is then somebody else's choice.
pub fn leaves_open(build: &Build) -> bool {
    build.pins == Some(Pins::AtLeast)
}

/// The NCCL releases, of some, with which a release runs: the one that it brings, or those that it accepts.
pub fn nccls_of(rows: &[&Nccl], on: Platform<'_>, release: &Release<'_>) -> RowSet {
    let all = RowSet::first(rows.len());
    let Some(build) = release.on(on).filter(|_| !release.is_cpu()) else { return all };
    let (Some(own), Some(line)) = (build.nccl, build.line()) else { return all };
    match build.pins {
        Some(Pins::AtLeast) => {
            let accepted = |row: &Nccl| row.version >= own && line.major() == row.cuda.major();
            RowSet::filter(rows.len(), |row| accepted(rows[row]))
        }
        Some(Pins::Exact) => RowSet::filter(rows.len(), |row| rows[row].version == own),
        None => all,
    }
}

/// The cuDNN releases that a build accepts, where it takes any newer than one; newest first.
pub fn accepted<'c>(catalog: &'c Catalog, build: &Build) -> Option<impl Iterator<Item = &'c Cudnn>> {
    let line = build.line()?;
    Some(new_enough(catalog, build)?.filter(move |row| line.cmp_prefix(&row.cuda).is_eq()))
}

/// The same for whatever CUDA they were published. A build loads the library by the name of the major that it was compiled
/// with, whatever its metadata leaves open.
pub fn new_enough<'c>(catalog: &'c Catalog, build: &Build) -> Option<impl Iterator<Item = &'c Cudnn>> {
    let least = build.cudnn.filter(|_| takes_newer(build))?;
    let newest_first = catalog.cudnns.iter().rev();
    let range = build.cudnn_range.as_ref().and_then(|text| Constraint::parse(text).ok());
    Some(newest_first.filter(move |row| {
        range.as_ref().is_none_or(|range| range.admits(&row.version))
            && row.version >= least
            && row.version.major() == least.major()
    }))
}

/// Whether the cuDNN that pip would take must be replaced by another: by the user's wish, or for some GPU's sake.
pub fn must_choose(
    catalog: &Catalog,
    build: &Build,
    wanted: Option<&Constraint>,
    takes: impl Fn(&Version) -> bool,
) -> bool {
    let Some(mut rows) = accepted(catalog, build) else { return false };
    let asked = wanted.is_some_and(|wanted| !wanted.is_any());
    asked || rows.next().is_none_or(|newest| !takes(&newest.version))
}

/// The releases of cuDNN that were seen for a line of CUDA.
#[derive(Debug)]
pub struct PublishedFor<'c> {
    /// Ascending.
    seen: Vec<&'c Version>,
}

impl<'c> PublishedFor<'c> {
    /// Those of a line.
    pub fn line(catalog: &'c Catalog, line: Version) -> Self {
        let of_line = catalog.cudnns.iter().filter(|row| line.cmp_prefix(&row.cuda).is_eq());
        let mut seen: Vec<&Version> = of_line.map(|row| &row.version).collect();
        seen.sort_unstable();
        PublishedFor { seen }
    }

    /// Whether a release may have been published for the line too, though it was seen for another one only: no list of what
    /// NVIDIA keeps of it was read whole, and there are older and newer ones for that line.
    pub fn perhaps(&self, row: &Cudnn) -> bool {
        let place = self.seen.binary_search(&&row.version);
        place.is_err_and(|among| (1..self.seen.len()).contains(&among))
    }
}

/// The cuDNN releases, newest first, with which a release runs: that which it brings, or those that it accepts; with
/// `possible` also those that may have been published for its CUDA.
pub fn runs_with(catalog: &Catalog, on: Platform<'_>, release: &Release<'_>, possible: bool) -> RowSet {
    let all = RowSet::first(catalog.cudnns.len());
    let Some(build) = release.on(on).filter(|_| !release.is_cpu()) else { return all };
    let newest_first = |row: usize| &catalog.cudnns[catalog.cudnns.len() - 1 - row];
    match new_enough(catalog, build).zip(build.line()) {
        Some((rows, line)) => {
            let published = possible.then(|| PublishedFor::line(catalog, line));
            let perhaps = |row: &Cudnn| published.as_ref().is_some_and(|published| published.perhaps(row));
            let is_for = |row: &&Cudnn| line.cmp_prefix(&row.cuda).is_eq() || perhaps(row);
            let accepted: FxHashSet<*const Cudnn> = rows.filter(is_for).map(std::ptr::from_ref).collect();
            RowSet::filter(all.len(), |row| accepted.contains(&std::ptr::from_ref(newest_first(row))))
        }
        None if build.pins.is_none() => all,
        None => RowSet::filter(all.len(), |row| build.cudnn.is_none_or(|own| own == newest_first(row).version)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::BUILTIN;

    fn build(package: &str, version: &str, variant: &str) -> &'static Build {
        let is_it = |row: &&Build| row.version.as_str() == version && row.variant == variant;
        BUILTIN.builds.of(package).iter().find(is_it).unwrap_or_else(|| panic!("{package} {version}+{variant}"))
    }

    /// jax 0.4.28 asks for a cuDNN below 9; torch brings 8.9 with 2.3 and 9.1 with 2.4, exactly.
    #[test]
    fn what_one_build_pins_is_within_what_the_other_asks_for() {
        let jax = build("jax", "0.4.28", "cu12");
        for (torch, agree_) in [("2.3.1", true), ("2.4.0", false)] {
            let torch = build("torch", torch, "cu121");
            assert_eq!([agree(torch, jax), agree(jax, torch)], [agree_, agree_], "{}", torch.version);
        }
        // And each brings the one NCCL and cuDNN that it was built for.
        let [new, old] = ["2.4.0", "2.3.1"].map(|version| build("torch", version, "cu121"));
        assert!(agree(new, new) && !agree(new, old) && !agree(old, new));
    }
}
