//! The variants of a framework that packages go with: by the label that they are asked for by, and by their C++ ABI.

use crate::catalog::rows::{Build, Companion, Index, Reading, Subject};
use crate::solve::fits;
use crate::solve::request::PackageRequest;
use crate::types::variant::line_of;
use crate::types::{Constraint, Version, distinct};

use super::Explainer;
use super::words::{list, span, versions_of};

impl<'c> Explainer<'_, 'c> {
    /// That a package goes with the variant of its framework that it is asked for by; whether it is.
    fn say_of_variant(&mut self, ask: &PackageRequest<'c>, framework: &str) -> bool {
        let variant = ask.constraint.comparisons().find_map(|one| one.variant.as_ref());
        if let Some(variant) = variant {
            self.say(format!("{} {} goes with {framework} +{variant}", ask.package, ask.constraint));
        }
        variant.is_some()
    }

    /// That a package asked for by its variant goes with that of its framework; whether it is so asked for.
    pub(super) fn companion_of_variant(&mut self, ask: &PackageRequest<'c>) -> bool {
        let catalog = self.request.catalog;
        let mut rows = catalog.companions.of(ask.package).iter();
        let stands_for_all = |row: &Companion| {
            row.variant.is_none() && catalog.listing(ask.package, Index::Pytorch, &row.version).is_some()
        };
        let of_variant = |row: &&Companion| {
            let may_be = || stands_for_all(row) || fits::may_be_variant(catalog, row, &ask.constraint);
            ask.constraint.admits(&row.version) && may_be()
        };
        let Some(row) = rows.find(of_variant).filter(|row| self.say_of_variant(ask, &row.framework)) else {
            return false;
        };
        // Its framework was never published for that.
        let (platform, needs) = (self.platform(), Constraint::parse(&row.needs).unwrap_or_else(|_| Constraint::any()));
        let beside = catalog.builds.of(&row.framework).iter().filter(|build| !build.is_laid() && platform.takes(build));
        let beside: Vec<&Build> = beside.filter(|build| needs.admits(&build.version)).collect();
        if !fits::may_be_variant(catalog, row, &ask.constraint) && !beside.is_empty() {
            self.other_variants(ask, &beside);
            self.cite_builds(&beside);
        }
        if ask.constraint.names_variant("cpu") && self.target_with("gpu").is_some() {
            self.holds_no_gpu_code(&format!("{} +cpu", row.framework));
        }
        true
    }

    /// The variants of a release, where another is asked for: all there are, as far as somebody has read the whole listing,
    /// else those that were seen, and why there is no other.
    pub(super) fn other_variants(&mut self, ask: &PackageRequest<'c>, builds: &[&'c Build]) {
        let (catalog, rules) = (self.request.catalog, &self.request.rules);
        let Some(package) = builds.first().map(|build| &*build.package) else { return };
        let arch = self.platform_name();
        let variants: Vec<&str> = distinct(builds.iter().map(|build| &*build.variant));
        let (versions, variants) = (versions_of(&builds.iter().collect::<Vec<_>>()), list(&variants));
        let listing = |build: &Build| catalog.listing(package, Index::Pytorch, &build.version);
        if builds.iter().all(|build| listing(build).is_none_or(|listing| listing.reading == Reading::Whole)) {
            let as_of = self.builds_listed(builds);
            return self.say(format!("{package} {versions} published for {arch} as {variants} only{as_of}"));
        }
        self.say(format!("{package} {versions} seen for {arch} as {variants}"));
        for asked in ask.constraint.comparisons().filter_map(|one| one.variant.as_deref()) {
            let lacks =
                |build: &&&Build| listing(build).is_some_and(|row| row.lacks(&build.version, asked, build.arch));
            if let Some(build) = builds.iter().find(lacks) {
                let as_of = self.builds_listed(&[*build]);
                self.say(format!("{package} {}+{asked} was not published for {arch}{as_of}", build.version));
                continue;
            }
            let of_package = rules.of_package(package, Subject::Cuda);
            let ended = builds.iter().find_map(|build| {
                let line = line_of(asked)?;
                of_package
                    .about(&build.version)
                    .find(|rule| !rule.needs.admits(&line))
                    .map(|rule| rule.row.id.to_string())
            });
            let of_variant = catalog.builds.of(package).iter().filter(|row| row.variant == asked);
            let mut releases: Vec<&Version> = of_variant.map(|row| &row.version).collect();
            releases.sort_unstable();
            releases.dedup();
            match (ended, releases.is_empty()) {
                (Some(rule), _) => self.cite(&rule),
                (None, true) => self.say(format!("no release of {package} was seen as {asked}")),
                (None, false) => self.say(format!("{asked} was seen of {package} {} only", span(&releases))),
            }
        }
    }

    /// Where a blamed package is asked for by a variant: the builds of its framework that it goes with, or that this was never
    /// published as that.
    pub(super) fn variants_of(&mut self, ask: &PackageRequest<'c>, row: &Companion) {
        if !self.blames(ask.package) || !ask.constraint.pins_variant() {
            return;
        }
        let platform = self.platform();
        let builds = self.request.catalog.builds.of(&row.framework).iter();
        let builds: Vec<&Build> =
            builds.filter(|build| platform.takes(build) && self.goes_with(row, &build.version)).collect();
        if builds.is_empty() {
            return;
        }
        if builds.iter().any(|build| ask.constraint.names_variant(&build.variant)) {
            // A framework that is blamed too says itself which builds are meant.
            if !self.blames(&row.framework) {
                let is_meant =
                    |build: &&Build| build.package != row.framework || ask.constraint.names_variant(&build.variant);
                self.left.retain(is_meant);
                self.say_of_variant(ask, &row.framework);
            }
            return;
        }
        self.other_variants(ask, &builds);
        self.cite_builds(&builds);
    }

    /// Whether packages that go with the release of their framework have the C++ ABI of none of the variants that are asked
    /// for: the newest of each is told.
    pub(super) fn other_abis(&mut self) -> bool {
        let told = self.says.len();
        for ask in &self.request.companions {
            let Some(&row) = self.by_following(ask).0.last() else { continue };
            let of_it = |build: &&&Build| build.package == row.framework && self.goes_with(row, &build.version);
            // Of a build of somebody's own nobody knows it.
            let builds = self.left.iter().filter(of_it).filter(|build| !build.is_own());
            let left: Vec<&str> = builds.map(|build| &*build.variant).collect();
            if left.is_empty() {
                continue;
            }
            let Some(source) = row.abi_source.filter(|_| !left.iter().any(|variant| row.has_abi_of(variant))) else {
                continue;
            };
            let (name, has) = (format!("{} {}", row.package, row.version), row.abi_variants.iter());
            let has: Vec<&str> = has.map(|variant| &**variant).collect();
            let (of, others) = (list(&has), list(&left));
            self.say(format!("{name} requires {} {}", row.framework, row.needs));
            self.say(format!(
                "{name} is compiled with the C++ ABI of {}'s {of} builds, which is not that of {others}",
                row.framework
            ));
            let source = self.request.catalog.source_of(&source, row.version.as_str(), &row.package, "");
            self.fact(format!("{}-{}", row.package, row.version), source);
        }
        self.says.len() > told
    }
}
