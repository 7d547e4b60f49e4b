//! What releases ask for of packages that nobody asked for: those are installed all the same, so two releases that no
//! release of a third serves do not go together.

use rustc_hash::FxHashMap;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Libraries};
use crate::types::{Specifier, Version};

use super::wants::Want;

/// What a build of a framework asks of nvJitLink, if its release asks for it: that of its toolkit, or one from it on where
/// NVIDIA's metapackage leaves it open.
pub fn of_build<'c>(catalog: &'c Catalog, build: &Build) -> Option<Want<'c>> {
    let asked = |row: &'c Libraries| row.asked().find(|(name, _)| is_nvjitlink(name));
    let of_package = || catalog.libraries.iter().filter(|row| row.package == build.package);
    let is_of_release =
        |row: &&Libraries| row.version == build.version.release() && row.arch.is_none_or(|arch| arch == build.arch);
    of_package().find(is_of_release).and_then(asked)?;
    let kit = |row: &&Libraries| row.package == "cuda-toolkit" && Some(row.version) == build.toolkit;
    let own = catalog.libraries.iter().find(kit).and_then(asked)?;
    // Builds for a CUDA older than any of which that was read leave it open.
    let number = |(_, range): Want<'_>| Version::parse(Libraries::oldest(range)?).ok();
    let oldest = of_package().filter_map(asked).filter_map(number).min()?;
    (number(own)? >= oldest).then_some(own)
}

/// Whether a package is the nvJitLink of a CUDA: since CUDA 13 its name no longer tells which.
pub fn is_nvjitlink(name: &str) -> bool {
    name == "nvidia-nvjitlink" || name.starts_with("nvidia-nvjitlink-cu")
}

/// Whether no release of a third package is what both ask for of it.
pub fn clash(one: Want<'_>, other: Want<'_>) -> bool {
    let read = |want: Want<'_>| Specifier::parse(want.1).ok();
    one.0 == other.0 && read(one).zip(read(other)).is_some_and(|(one, other)| one.excludes(&other))
}

/// The versions of two packages of which some ask a third for what no release of it is.
#[derive(Debug)]
pub struct Thirds<'c> {
    /// What each asks for, by number.
    of: [Vec<Vec<usize>>; 2],
    /// The numbers that do not go together, and the third of which both ask.
    clashes: FxHashMap<(usize, usize), &'c str>,
}

impl<'c> Thirds<'c> {
    /// Of what the versions of the one ask for, and those of the other.
    pub fn new(one: &[Vec<Want<'c>>], other: &[Vec<Want<'c>>]) -> Self {
        let (ones, of_one) = numbered(one);
        let (others, of_other) = numbered(other);
        let mut clashes = FxHashMap::default();
        for (number, asked) in ones.iter().enumerate() {
            let beside = others.iter().enumerate().filter(|(_, other)| clash(*asked, **other));
            clashes.extend(beside.map(|(beside, _)| ((number, beside), asked.0)));
        }
        Thirds { of: [of_one, of_other], clashes }
    }

    /// Whether all go together, beside what is named: that is chosen, and judged by what is chosen.
    pub fn is_empty(&self, named: &[&str]) -> bool {
        self.clashes.values().all(|third| named.contains(third))
    }

    /// Whether two do not go together beside what is named.
    pub fn part(&self, one: usize, other: usize, named: &[&str]) -> bool {
        let [ones, others] = &self.of;
        let clash = |asked: usize, beside: usize| self.clashes.get(&(asked, beside));
        let is_third = |third: &&str| !named.contains(third);
        ones[one].iter().any(|asked| others[other].iter().any(|beside| clash(*asked, *beside).is_some_and(is_third)))
    }

    /// How many versions of the other there are.
    pub fn others(&self) -> usize {
        self.of[1].len()
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
