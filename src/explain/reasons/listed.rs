//! Which listing tells that something was not published, and on which day it was read.

use crate::catalog::rows::{Build, Index, Listing, Reading};
use crate::solve::request::PackageRequest;
use crate::types::{Constraint, Version};

use super::Explainer;

impl<'c> Explainer<'_, 'c> {
    /// That no release is what is asked for, on the day on which all was read that could hold one; else that none was seen.
    pub(super) fn lacks(&mut self, ask: &PackageRequest<'c>) -> String {
        match self.request.catalog.absent(ask.package, &ask.constraint) {
            Ok(listing) => format!("is not on its index{}", self.as_listed(listing)),
            Err(_) => {
                let read = self.request.catalog.wholly_read(ask.package);
                read.into_iter().for_each(|listing| self.cite_listing(listing));
                "was not seen".to_string()
            }
        }
    }

    /// `; NVIDIA lists none as of 2026-11-20`: that a part of the stack has no release which is asked for, where all that could
    /// tell of one was read.
    pub(super) fn part_lacks(&mut self, part: &str, wanted: &Constraint) -> String {
        let Some(listing) = self.request.catalog.absent_part(part, wanted) else { return String::new() };
        let who = if listing.index == Index::Nvidia { "NVIDIA lists" } else { "the package index has" };
        format!("; {who} none{}", self.as_listed(listing))
    }

    /// The day on which somebody read all files of a release on the package index; that listing is cited.
    pub(super) fn listed(&mut self, package: &str, version: &Version) -> String {
        let listing = self.request.catalog.listing(package, Index::Pypi, version);
        let whole = listing.filter(|listing| listing.reading == Reading::Whole);
        whole.map_or_else(String::new, |listing| self.as_listed(listing))
    }

    /// The day on which the listing was read in which builds lie, that of the newest.
    pub(super) fn builds_listed(&mut self, builds: &[&'c Build]) -> String {
        let catalog = self.request.catalog;
        // Builds of one's own and those for one system lie on no index.
        let on_index = builds.iter().filter(|build| !build.index.is_empty() && !build.is_own());
        let Some(newest) = on_index.max_by_key(|build| &build.version) else { return String::new() };
        match catalog.listing(&newest.package, Index::Pytorch, &newest.version) {
            Some(listing) => self.as_listed(listing),
            None => self.listed(&newest.package, &newest.version),
        }
    }

    /// ` as of 2026-11-22`: what was not published was not, in a listing, on the day on which somebody read it.
    fn as_listed(&mut self, listing: &'c Listing) -> String {
        self.cite_listing(listing);
        self.read_on(&listing.source)
    }

    fn cite_listing(&mut self, listing: &'c Listing) {
        let catalog = self.request.catalog;
        self.fact(catalog.cite(listing).id, catalog.origin_of(listing, &listing.source));
    }

    /// The day on which a source was read, as it ends a sentence.
    pub(super) fn read_on(&self, source: &str) -> String {
        self.request.catalog.source(source).map_or_else(String::new, |source| format!(" as of {}", source.seen))
    }
}
