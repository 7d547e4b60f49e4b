//! Which listing tells that something was not published, and on which day it was read.

use crate::catalog::rows::{Build, Index, Listing, Reading, Subject};
use crate::solve::request::PackageRequest;
use crate::solve::rules::Needs;
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

    /// Of releases whose listing nobody has read whole: the rules that tell that they have no build for the CUDA that is asked for.
    pub(super) fn lines_that_ended(&mut self, ask: &PackageRequest<'c>, builds: &[&'c Build]) {
        let (request, catalog) = (self.request, self.request.catalog);
        let Some(cuda) = request.cuda.as_ref().filter(|_| self.blames("cuda")) else { return };
        let is_open = |build: &&&Build| {
            let listing = catalog.listing(ask.package, Index::Pytorch, &build.version);
            listing.is_some_and(|listing| listing.reading != Reading::Whole)
        };
        let open: Vec<&Version> = builds.iter().filter(is_open).map(|build| &build.version).collect();
        let asked =
            || catalog.toolkits.iter().map(|row| row.version.prefix(2)).filter(|line| cuda.cut_to(2).admits(line));
        let refuses = |rule: &Needs<'_>| {
            open.iter().any(|it| rule.range.admits(it)) && asked().all(|line| !rule.needs.admits(&line))
        };
        let rules = request.rules.of_package(ask.package, Subject::Cuda);
        let ended: Vec<&Needs> = rules.iter().filter(|rule| refuses(rule)).collect();
        if let [only] = ended[..] {
            return self.cite(&only.row.id);
        }
        ended.iter().for_each(|rule| self.fact(rule.row.id.to_string(), catalog.source_at(&rule.row.source)));
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
