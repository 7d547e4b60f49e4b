//! What listings tell: how much of each was read, and so whether a release that no row names was never published.

use super::rows::{Index, Listing, Reading};
use super::tables::{Catalog, in_force};
use crate::types::constraint::least;
use crate::types::{Constraint, Version, distinct};

/// Where a release that no row names may lie, for all that anybody has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap<'c> {
    /// On any index: nobody has listed the package.
    Unlisted,
    /// On an index of which only a part was seen.
    Seen(Index),
    /// Before the first release from which a list was read.
    Before(Version),
    /// Where its project keeps releases of which nobody has read the list.
    Elsewhere(&'c str),
}

impl Catalog {
    /// The listing of a package that was read whole and reaches furthest back.
    pub fn wholly_read(&self, package: &str) -> Option<&Listing> {
        self.listings_of(package).filter(|row| row.reading == Reading::Whole).min_by_key(|row| row.from)
    }

    /// Whether a publisher has withdrawn a release.
    pub fn is_yanked(&self, package: &str, version: &Version) -> bool {
        self.listings_of(package).any(|row| row.yanked.contains(version))
    }

    /// How much of an index's listing of a package was read, for a release; none where nobody has told.
    pub fn listing(&self, package: &str, index: Index, version: &Version) -> Option<&Listing> {
        let index = if index == Index::PytorchUnlabelled { Index::Pytorch } else { index };
        in_force(self.listings_of(package).filter(|row| row.index == index), |row| row.from, version)
    }

    /// Where else a project keeps releases as new as one, of which nobody has read the list.
    pub fn elsewhere(&self, package: &str, version: &Version) -> Option<&str> {
        self.in_force(package, Some(version)).into_iter().find_map(|(_, row)| row?.elsewhere.as_deref())
    }

    /// The listing that tells that a package has no release which a constraint admits and no row names, of several the one
    /// that was read first; else where one may lie. Absent is only what lies within what was read whole of every index.
    pub fn absent(&self, package: &str, wanted: &Constraint) -> Result<&Listing, Gap<'_>> {
        // A range may reach into what other rows of an index speak of.
        let within = self.listings_of(package).map(|row| row.from).filter(|from| wanted.admits(from)).map(Some);
        let starts: Vec<Option<Version>> = wanted.alternatives().iter().map(|all| least(all)).chain(within).collect();
        let told: Vec<&Listing> =
            starts.iter().map(|from| self.absent_from(package, from.as_ref())).collect::<Result<_, _>>()?;
        told.into_iter().min_by_key(|row| self.day_of(row)).ok_or(Gap::Unlisted)
    }

    /// The same of CUDA, cuDNN or NCCL, of which NVIDIA publishes a package for each CUDA: the listing of all that was read first.
    pub fn absent_part(&self, part: &str, wanted: &Constraint) -> Option<&Listing> {
        let is_of_part = |package: &str| match part {
            "cuda" => package == "cuda-toolkit",
            _ => {
                package.strip_prefix("nvidia-").and_then(|name| name.strip_prefix(part)?.strip_prefix("-cu")).is_some()
            }
        };
        let packages = self.listings.heads().into_iter().filter(|package| is_of_part(package));
        let told = packages.map(|name| self.absent(name, wanted));
        // Before the first of a package's releases there is nothing to tell.
        let told: Vec<_> = told.filter(|told| *told != Err(Gap::Unlisted)).collect::<Result<_, _>>().ok()?;
        told.into_iter().min_by_key(|row| self.day_of(row))
    }

    /// The same of a release, or of those before every one that is known.
    fn absent_from(&self, package: &str, version: Option<&Version>) -> Result<&Listing, Gap<'_>> {
        let told = self.in_force(package, version);
        let rows = || told.iter().filter_map(|(_, row)| *row);
        if let Some(place) = rows().find_map(|row| row.elsewhere.as_deref()) {
            return Err(Gap::Elsewhere(place));
        }
        if let Some(gap) = told.iter().find_map(|(index, row)| self.gap(package, *index, *row)) {
            return Err(gap);
        }
        rows().min_by_key(|row| self.day_of(row)).ok_or(Gap::Unlisted)
    }

    /// Of each index of a package what tells of a release.
    fn in_force(&self, package: &str, version: Option<&Version>) -> Vec<(Index, Option<&Listing>)> {
        let indexes = distinct(self.listings_of(package).map(|row| row.index));
        let told = |index| version.and_then(|version| self.listing(package, index, version));
        indexes.into_iter().map(|index| (index, told(index))).collect()
    }

    /// Why an index may have a release of which a row tells, or none does.
    fn gap(&self, package: &str, index: Index, told: Option<&Listing>) -> Option<Gap<'_>> {
        let Some(row) = told else {
            // What was seen of an index has no beginning.
            let first = self.listings_of(package).filter(|row| row.index == index).min_by_key(|row| row.from)?;
            return match first.reading {
                Reading::Whole if first.first => None,
                Reading::Whole => Some(Gap::Before(first.from)),
                _ => Some(Gap::Seen(index)),
            };
        };
        (row.reading != Reading::Whole).then_some(Gap::Seen(index))
    }

    fn listings_of(&self, package: &str) -> impl Iterator<Item = &Listing> {
        self.listings.of(package).iter()
    }

    /// The day of what a listing rests on: the earlier, the less it tells.
    fn day_of(&self, row: &Listing) -> Option<&str> {
        self.sources.iter().find(|source| source.id == row.source).map(|source| &*source.seen)
    }
}
