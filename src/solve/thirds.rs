//! What releases ask for of packages that nobody asked for: those are installed all the same, so two releases that no
//! release of a third serves do not go together.

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Libraries};
use crate::types::{Specifier, Version, nvidia};

use super::rowset::RowSet;
use super::wants::Want;

/// What a build of a framework asks of a piece of the toolkit such as nvJitLink or cuBLAS, if its release asks for any: that of
/// its toolkit, or one from it on where NVIDIA's metapackage leaves it open. Of the builds for one processor, which bring their
/// libraries along on another, those that pin libraries ask for it.
pub fn of_build<'c>(catalog: &'c Catalog, build: &Build, piece: &str) -> Option<Want<'c>> {
    let piece = without_cuda(piece);
    let asked = |row: &'c Libraries| row.asked().find(|(name, _)| without_cuda(name) == piece);
    let of_package = || catalog.libraries.of(&build.package).iter();
    let is_read_there = |row: &Libraries| row.arch.is_none_or(|arch| arch == build.arch);
    let is_of_release =
        |row: &&Libraries| row.version == build.version.release() && (build.pins.is_some() || is_read_there(row));
    of_package().find(is_of_release)?;
    // What its own metadata says goes before what its toolkit tells.
    let is_own = |row: &&'c Libraries| row.version == build.version && row.variant.as_ref() == Some(&build.variant);
    if let Some(own) = of_package().filter(is_own).find_map(asked) {
        return Some(own);
    }
    let own = kit_of(catalog, build).and_then(asked)?;
    // Builds for a CUDA older than any of which that was read leave it open, whatever other builds of the release ask for.
    let line = |(_, range): Want<'_>| Some(Version::parse(Libraries::oldest(range)?).ok()?.prefix(2));
    let oldest = of_package().filter_map(asked).filter_map(line).min()?;
    (line(own)? >= oldest).then_some(own)
}

/// What a build asks of all pieces of its toolkit.
pub fn all_of_build<'c>(catalog: &'c Catalog, build: &Build) -> Vec<Want<'c>> {
    let pieces = kit_of(catalog, build).into_iter().flat_map(Libraries::asked);
    pieces.filter_map(|(piece, _)| of_build(catalog, build, piece)).collect()
}

/// NVIDIA's metapackage of the toolkit that a build was made with.
fn kit_of<'c>(catalog: &'c Catalog, build: &Build) -> Option<&'c Libraries> {
    catalog.libraries.of(nvidia::TOOLKIT).iter().find(|row| Some(row.version) == build.toolkit)
}

/// The name of a piece without the CUDA that it is of: since CUDA 13 names no longer tell it.
fn without_cuda(name: &str) -> &str {
    let cut = name.rsplit_once("-cu").filter(|(_, major)| major.bytes().all(|byte| byte.is_ascii_digit()));
    cut.map_or(name, |(piece, _)| piece)
}

/// Whether no release of a third package is what both ask for of it.
pub fn clash(one: Want<'_>, other: Want<'_>) -> bool {
    let read = |want: Want<'_>| Specifier::parse(want.1).ok();
    one.0 == other.0 && read(one).zip(read(other)).is_some_and(|(one, other)| one.excludes(&other))
}

/// The versions of two packages of which some ask a third for what no release of it is.
#[derive(Debug)]
pub struct Thirds<'c> {
    /// What each version of the one asks for, by number.
    of: Vec<Vec<usize>>,
    /// By the same numbers, the third that is asked for and the versions of the other that ask it for something else.
    clashes: Vec<(&'c str, RowSet)>,
    others: usize,
}

impl<'c> Thirds<'c> {
    /// Of what the versions of the one ask for, and those of the other.
    pub fn new(one: &[Vec<Want<'c>>], other: &[Vec<Want<'c>>]) -> Self {
        let (ones, of) = numbered(one);
        let (others, of_other) = numbered(other);
        let clashing = |asked: &Want<'c>| {
            let clashes: Vec<bool> = others.iter().map(|beside| clash(*asked, *beside)).collect();
            let rows = RowSet::filter(other.len(), |at| of_other[at].iter().any(|&beside| clashes[beside]));
            (asked.0, rows)
        };
        Thirds { of, clashes: ones.iter().map(clashing).collect(), others: other.len() }
    }

    /// Whether all go together, beside what is named: that is chosen, and judged by what is chosen.
    pub fn is_empty(&self, named: &[&str]) -> bool {
        self.clashes.iter().all(|(third, rows)| rows.is_empty() || named.contains(third))
    }

    /// The versions of the other that go with one, beside what is named.
    pub fn with(&self, one: usize, named: &[&str]) -> RowSet {
        let mut rows = RowSet::first(self.others);
        let asked = self.of[one].iter().map(|&asked| &self.clashes[asked]);
        asked.filter(|(third, _)| !named.contains(third)).for_each(|(_, clashing)| rows.subtract(clashing));
        rows
    }
}

/// What stands in some lists, each once, and for each list the places of what it holds.
fn numbered<T: Copy + PartialEq>(lists: &[Vec<T>]) -> (Vec<T>, Vec<Vec<usize>>) {
    let mut all: Vec<T> = Vec::new();
    let mut number = |one: &T| {
        all.iter().position(|known| known == one).unwrap_or_else(|| {
            all.push(*one);
            all.len() - 1
        })
    };
    let numbers = lists.iter().map(|list| list.iter().map(&mut number).collect()).collect();
    (all, numbers)
}
