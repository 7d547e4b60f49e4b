//! What was never published, or is newer than the catalog, and what there is instead.

use crate::catalog::rows::{Build, Companion, Cudnn, Index, Property, Reading, TORCH};
use crate::catalog::{LIBRARIES, Row};
use crate::solve::coinstall;
use crate::solve::fits;
use crate::solve::own;
use crate::solve::platform::Takes;
use crate::solve::request::{DriverRequest, ImageRequest, PackageRequest};
use crate::solve::unread::is_above;
use crate::spec::Share;
use crate::types::constraint::Op;
use crate::types::name::STACK_PARTS;
use crate::types::{Constraint, Version, distinct};

use super::Explainer;
use super::words::{describe, list, named, nearest_to, nearest_versions, span, version_matches, versions_of};

impl<'c> Explainer<'_, 'c> {
    /// Clashes of a kind that deserve a code of their own.
    pub(super) fn special(&mut self) -> Option<&'static str> {
        let (request, catalog) = (self.request, self.request.catalog);
        let of_build =
            |package: &str| catalog.builds.of(package).iter().filter(|row| !row.is_laid()).map(|row| row.version).max();
        let of_companion = |package: &str| catalog.companions.of(package).iter().map(|row| row.version).max();
        let above = |ask: &PackageRequest<'_>, newest: Option<Version>| {
            self.blames(ask.package) && !ask.own && newest.is_some_and(|newest| is_above(&ask.constraint, &newest))
        };
        let newer = request.frameworks.iter().any(|ask| above(ask, of_build(ask.package)))
            || request.companions.iter().any(|ask| above(ask, of_companion(ask.package)))
            || self.parts_above();
        let no_tag = self.target_with("image").is_some_and(|target| matches!(target.image, ImageRequest::NoSuchTag(_)));
        match (newer, no_tag) {
            (true, _) => Some("newer-than-catalog"),
            (_, true) => Some("image-tag"),
            _ => None,
        }
    }

    fn parts_above(&self) -> bool {
        let catalog = self.request.catalog;
        let is_above_all = |name: &&str| {
            let asked = self.request.part(name).zip(catalog.versions_of(name).pop());
            self.blames(name) && asked.is_some_and(|(wanted, newest)| is_above(wanted, &newest))
        };
        STACK_PARTS.iter().any(is_above_all)
    }

    /// No build of that version, variant and platform was ever published: what was?
    pub(super) fn nothing_published(&mut self) {
        for ask in &self.request.frameworks {
            if self.blames(ask.package) {
                self.framework_published(ask);
            }
        }
        for ask in &self.request.companions {
            if self.blames(ask.package) {
                self.companion_published(ask);
            }
        }
        self.parts();
        self.toolkits_installed();
        self.driver_admitted();
        self.image_missing();
    }

    /// What was published of a package, held against what is asked for.
    fn companion_published(&mut self, ask: &PackageRequest<'c>) {
        if self.companion_of_system(ask) || self.companion_of_variant(ask) {
            return;
        }
        if self.target_with("image").is_some() && !self.torch_elsewhere().is_empty() {
            return self.image_torch();
        }
        let catalog = self.request.catalog;
        let of_package = || catalog.companions.of(ask.package).iter();
        // Of the newest release what is for the machine in question: wheels, else its source.
        let is_here = |row: &&Companion| self.platform().takes_companion(row);
        let Some(newest) = of_package().next_back() else { return };
        let of_newest = || of_package().filter(|row| row.version == newest.version).filter(is_here);
        let newest = of_newest().find(|row| !row.sdist).or_else(|| of_newest().next()).unwrap_or(newest);
        self.withdrawn(ask, of_package().map(|row| &row.version));
        self.for_other_processors(ask);
        let admitted = of_package().rfind(|row| ask.constraint.admits(&row.version));
        let goes_with = |row: &Companion| match (row.follows_cuda(), &row.cuda) {
            (true, Some(cuda)) => format!("loads the libraries of CUDA {cuda}"),
            (true, None) => "names no CUDA that it needs".to_string(),
            _ if row.needs == "*" => format!("goes with any {}", row.framework),
            _ => format!("is for {} {}", row.framework, row.needs),
        };
        let sentence = match admitted {
            Some(row) if !ask.constraint.is_any() => format!("{} {} {}", ask.package, row.version, goes_with(row)),
            None if !is_above(&ask.constraint, &newest.version) => {
                let nearest = nearest_versions(&ask.constraint, of_package().map(|row| &row.version));
                let lacks = self.lacks(ask);
                format!("{} {} {lacks}{nearest}", ask.package, ask.constraint)
            }
            _ => {
                let as_of = if admitted.is_none() { self.as_of() } else { String::new() };
                format!("the newest {} known is {}; it {}{as_of}", ask.package, newest.version, goes_with(newest))
            }
        };
        self.say(sentence);
    }

    /// Which of the releases that a range admits have wheels for other processors only, where others have them for all.
    fn for_other_processors(&mut self, ask: &PackageRequest<'c>) {
        let arch = self.platform().arch;
        let (lacking, serving): (Vec<&Companion>, Vec<&Companion>) =
            self.asked_releases(ask).partition(|row| fits::lacks_wheels(row, arch));
        let lacking: Vec<&Companion> =
            lacking.into_iter().filter(|row| serving.iter().all(|other| other.version != row.version)).collect();
        let Some(last) = lacking.last().filter(|_| !serving.is_empty()) else { return };
        let versions: Vec<&Version> = lacking.iter().map(|row| &row.version).collect();
        let arches: Vec<&str> = last.arches.iter().map(|arch| arch.as_str()).collect();
        let have = if lacking.iter().all(|row| row.version == last.version) { "has" } else { "have" };
        self.say(format!("{} {} {have} wheels for {} only", ask.package, span(&versions), list(&arches)));
    }

    /// Which of the releases that a range admits their publisher has withdrawn.
    fn withdrawn<'v>(&mut self, ask: &PackageRequest<'c>, known: impl Iterator<Item = &'v Version>) {
        let catalog = self.request.catalog;
        let is_left_out = |version: &&Version| {
            ask.constraint.admits(version) && !ask.names_alone(version) && catalog.is_yanked(ask.package, version)
        };
        for version in distinct(known.filter(is_left_out)) {
            self.say(format!("{} {version} was withdrawn (yanked): it must be named alone", ask.package));
        }
    }

    /// What is known of a package for a system that takes only what was made for it; whether the clash is about one.
    fn companion_of_system(&mut self, ask: &PackageRequest<'c>) -> bool {
        let (platform, name) = (self.platform(), self.platform_name());
        if !matches!(platform.takes, Takes::ForSystem(_)) {
            return false;
        }
        if platform.image().is_some() && !fits::is_tied_to_releases(self.request.catalog, ask.package) {
            return false;
        }
        if platform.image().is_some() {
            let Some(target) = self.target_with("image") else { return false };
            let instead = match self.request.has_from_image(target, ask.package) {
                true => "the image holds one of its own, whose release cannot be chosen",
                false => "it would have to be compiled there",
            };
            self.image_torch();
            self.say(format!(
                "wheels of {} are built for published releases of torch, not for the one in the image: {instead}",
                ask.package
            ));
            return true;
        }
        let rows = self.request.catalog.companions.of(ask.package).iter();
        let rows: Vec<&Companion> = rows.filter(|row| platform.takes_companion(row)).collect();
        let admitted = || rows.iter().filter(|row| ask.constraint.admits(&row.version));
        let versions: Vec<&Version> = rows.iter().map(|row| &row.version).collect();
        self.say(match (versions.as_slice(), admitted().next()) {
            ([], _) if self.shares_with_others() => format!(
                "a wheel of {} for {name} runs on no other system, and all targets share one (`share = \"stack\"`)",
                ask.package
            ),
            ([], _) => format!("no wheel of {} for {name} is known", ask.package),
            (known, None) => {
                format!("no wheel of {} {} for {name} is known, only {}", ask.package, ask.constraint, span(known))
            }
            (known, Some(_)) => {
                format!(
                    "wheels of {} for {name} are special builds, {}: no other target can use them",
                    ask.package,
                    span(known)
                )
            }
        });
        let origin = |row: &Companion| (row.id(), self.request.catalog.origin_of(row, &row.source));
        let cited: Vec<_> = rows.iter().rev().take(2).map(|row| origin(row)).collect();
        cited.into_iter().for_each(|(id, source)| self.fact(id, source));
        true
    }

    /// Whether targets of other systems are to have the same wheels as the one in question.
    fn shares_with_others(&self) -> bool {
        let (platform, share) = (self.platform(), self.request.share);
        share == Share::Stack && self.request.targets.iter().any(|other| other.platform != platform)
    }

    /// What was published of a framework, held against what is asked for.
    fn framework_published(&mut self, ask: &PackageRequest<'c>) {
        let catalog = self.request.catalog;
        let (platform, arch) = (self.platform(), &self.platform_name());
        let constraint = &ask.constraint;
        let of_package: Vec<&Build> = catalog.builds.of(ask.package).iter().filter(|row| ask.is_among(row)).collect();
        let newest = of_package.iter().rev().find(|row| ask.own || !row.is_laid());
        let Some(newest) = newest else { return };
        if ask.own {
            return self.own_build(newest);
        }
        self.withdrawn(ask, of_package.iter().map(|row| &row.version));
        if platform.image().is_some() && ask.package == TORCH {
            return self.image_torch();
        }
        if is_above(constraint, &newest.version) {
            // `2.51` for 2.5.1
            let undotted =
                |row: &&&Build| constraint.to_string().replace('.', "") == row.version.as_str().replace('.', "");
            let meant = of_package.iter().find(undotted);
            let meant = meant.map_or(String::new(), |row| format!("; was {} meant?", row.version));
            self.say(format!("the newest {} known is {}{}{meant}", ask.package, newest.version, self.as_of()));
            self.begins_with(constraint, &newest.version);
            self.as_table(ask);
            self.cite_builds(&[*newest]);
            return;
        }
        let same_version: Vec<&&Build> =
            of_package.iter().filter(|row| platform.takes(row) && version_matches(constraint, &row.version)).collect();
        let variants: Vec<&str> = same_version.iter().map(|row| &*row.variant).collect();
        if same_version.is_empty() {
            self.no_such_release(ask, &of_package);
        } else if constraint.pins_variant() && same_version.iter().all(|row| !constraint.names_variant(&row.variant)) {
            let builds: Vec<&Build> = same_version.iter().map(|row| **row).collect();
            self.other_variants(ask, &builds);
        } else if variants.iter().all(|variant| *variant == "cpu") {
            self.without_cuda(&same_version, &of_package);
        } else if self.blames("cuda") && constraint.pins_variant() {
            self.lines();
        } else {
            let lines: Vec<&str> = variants.into_iter().filter(|variant| *variant != "cpu").collect();
            let gpu_builds = same_version.iter().map(|row| **row).filter(|row| !row.is_cpu()).collect();
            let gpu_builds = taken_or_all(ask, gpu_builds);
            let problem = self.request.problem;
            let kits: Vec<Version> = gpu_builds.iter().flat_map(|build| problem.kits_for(build).to_vec()).collect();
            if let Some((oldest, newest)) = kits.iter().min().zip(kits.iter().max()).filter(|_| self.blames("cuda")) {
                let who = describe(&gpu_builds, "takes", "take");
                self.say(format!("{who} CUDA libraries from pip that are those of CUDA {oldest} to {newest}"));
            // Where a library is what clashes, the variants say nothing.
            } else if self.blames("cuda") || !self.libraries(&gpu_builds) {
                self.say(format!(
                    "{} {} published for {arch} as {}",
                    ask.package,
                    versions_of(&same_version),
                    list(&lines)
                ));
                self.libraries(&gpu_builds);
                self.lines_that_ended(ask, &gpu_builds);
            }
        }
        self.cite_builds(&taken_or_all(ask, same_version.into_iter().copied().collect()));
    }

    /// That a release has builds for the CPU alone on a kind of machine, and whether any other of its package has more there.
    pub(super) fn without_cuda(&mut self, builds: &[&&'c Build], of_package: &[&'c Build]) {
        let (platform, arch) = (self.platform(), self.platform_name());
        let plain: Vec<&Build> = builds.iter().map(|row| **row).collect();
        let Some(first) = plain.first() else { return };
        let (package, as_of) = (&first.package, self.builds_listed(&plain));
        self.say(format!("{package} {} published for {arch} without CUDA only{as_of}", versions_of(builds)));
        if of_package.iter().all(|row| row.is_cpu() || !platform.takes(row)) {
            self.say(format!("no release of {package} is known that was published for {arch} with CUDA"));
        }
    }

    /// That no release of these builds is what is asked for.
    fn no_such_release(&mut self, ask: &PackageRequest<'c>, of_package: &[&'c Build]) {
        let (platform, arch) = (self.platform(), self.platform_name());
        let (package, constraint) = (ask.package, &ask.constraint);
        let known = || of_package.iter().filter(|row| platform.takes(row)).map(|row| &row.version);
        let wish = constraint.comparisons().filter_map(|one| one.version.as_ref()).max();
        let versions: Vec<&Version> = known().collect();
        let says = match (wish, known().min()) {
            // Nobody lists all that was made for one system.
            _ if platform.is_one_system() => match versions.is_empty() {
                true => format!("no build of {package} for {arch} is known"),
                false => format!("no build of {package} {constraint} for {arch} is known, only {}", span(&versions)),
            },
            // Of what is older than the catalog nobody says that it was not published.
            (Some(wish), Some(oldest)) if wish < oldest => {
                format!("{package} {constraint} is older than the catalog, whose oldest for {arch} is {oldest}")
            }
            _ => {
                let nearest = nearest_versions(constraint, known());
                match of_package.iter().find(|row| version_matches(constraint, &row.version)) {
                    Some(build) => {
                        let listing = self.request.catalog.listing(package, Index::Pytorch, &build.version);
                        let lacks = match listing.is_none_or(|listing| listing.reading == Reading::Whole) {
                            true => format!("is not on its index for {arch}{}", self.builds_listed(&[*build])),
                            false => format!("was not seen for {arch}"),
                        };
                        format!("{package} {constraint} {lacks}{nearest}")
                    }
                    None => format!("{package} {constraint} {}{nearest}", self.lacks(ask)),
                }
            }
        };
        self.say(says);
    }

    /// What a build of one's own is made for.
    fn own_build(&mut self, build: &'c Build) {
        let here = self.platform().arch;
        let mut others = self.request.catalog.builds.of(&build.package).iter().filter(|row| row.is_own());
        if others.all(|row| row.arch != here) {
            let of_file = format!("{} is for {} by the name of its file, not for {here}", build.named(), build.arch);
            return self.say(of_file);
        }
        if build.is_cpu() {
            return self.say(format!("{} computes on the CPU", build.named()));
        }
        if !self.libraries(&[build]) {
            let line = build.line().map_or(String::new(), |line| line.to_string());
            self.say(format!("{} is built for CUDA {line}", build.named()));
        }
    }

    /// The cuDNN or NCCL that builds bring, where that is what clashes; whether there was any to tell.
    fn libraries(&mut self, builds: &[&'c Build]) -> bool {
        let mut told = false;
        for (name, title) in LIBRARIES {
            let brought = distinct(builds.iter().filter_map(|build| build.part(name)));
            if !self.blames(name) || brought.is_empty() {
                continue;
            }
            let words: Vec<&str> = brought.iter().map(|version| version.as_str()).collect();
            let words = list(&words);
            let system = name == "cudnn" && builds.iter().any(|build| build.system_cuda);
            self.say(match system {
                true => {
                    let need = named(self.request.catalog, builds, "needs", "need");
                    format!("{need} the system's {title} {words} or a later one of the same major")
                }
                false => {
                    let property = if name == "cudnn" { Property::Cudnn } else { Property::Nccl };
                    let (one, many) = match builds.iter().any(|build| build.expected.contains(&property)) {
                        true => ("is expected to bring", "are expected to bring"),
                        false => ("brings", "bring"),
                    };
                    format!("{} {title} {words}", named(self.request.catalog, builds, one, many))
                }
            });
            told = true;
        }
        if self.blames("cudnn") {
            self.cudnn_of_another_cuda(builds);
        }
        told
    }

    /// What the builds that are left bring of a library that is blamed, where nothing told so far speaks of it: a package asks
    /// for its framework, and it is what that brings which clashes.
    pub(super) fn libraries_left(&mut self) {
        let is_told = |it: &Self, title: &str| it.says.iter().any(|sentence| sentence.contains(title));
        let untold = LIBRARIES.into_iter().find(|(name, title)| self.blames(name) && !is_told(self, title));
        let Some((name, wanted)) = untold.and_then(|(name, _)| Some((name, self.request.part(name)?))) else { return };
        let left = self.left.clone();
        if self.libraries(&left) {
            self.say_line(name, wanted);
            let newest: Vec<&Build> = left.into_iter().rev().take(1).collect();
            self.cite_builds(&newest);
        }
    }

    /// That the cuDNN which is asked for is new enough for builds that leave it open, but was published for another CUDA.
    fn cudnn_of_another_cuda(&mut self, builds: &[&'c Build]) {
        let catalog = self.request.catalog;
        let Some(wanted) = &self.request.cudnn else { return };
        let asked = |build: &&'c Build| coinstall::new_enough(catalog, build).into_iter().flatten();
        let asked: Vec<&Cudnn> = builds.iter().flat_map(asked).filter(|row| wanted.admits(&row.version)).collect();
        let lines = distinct(builds.iter().filter_map(|build| build.line()).map(|line| line.prefix(1)));
        let is_there = |line: &Version| asked.iter().any(|row| line.cmp_prefix(&row.cuda.prefix(1)).is_eq());
        let [line] = lines.as_slice() else { return };
        if asked.is_empty() || is_there(line) {
            return;
        }
        let cudas: Vec<&str> = distinct(asked.iter().map(|row| row.cuda)).iter().map(|cuda| cuda.as_str()).collect();
        let version = asked[0].version;
        self.say(format!("cuDNN {version} is known for CUDA {} only, not for CUDA {line}", list(&cudas)));
        let row = asked[0];
        self.fact(row.id(), catalog.origin_of(row, &row.source));
    }

    /// `cuda`, `cudnn`, `nccl`, `python` that match nothing known.
    fn parts(&mut self) {
        let catalog = self.request.catalog;
        for name in ["cuda", "cudnn", "nccl", "python"] {
            let Some(wanted) = self.request.part(name).filter(|_| self.blames(name)) else {
                continue;
            };
            let known = catalog.versions_of(name);
            // Of Pythons the releases within a line are not known; of the others every release is.
            let of_known =
                |version: &Version| if name == "python" { wanted.cut_to(version.len()) } else { wanted.clone() };
            if known.iter().any(|version| of_known(version).admits(version)) {
                self.say_line(name, wanted);
            } else {
                let above = known.iter().max().is_some_and(|newest| is_above(wanted, newest));
                let as_of = if above { self.as_of() } else { self.part_lacks(name, wanted) };
                let nearest = nearest_versions(wanted, known.iter());
                self.say(format!("no known release of {name} matches `{wanted}`{nearest}{as_of}"));
            }
        }
    }

    /// That `>2` leaves out 2.15 too, for who means what pip means by it.
    fn begins_with(&mut self, constraint: &Constraint, newest: &Version) {
        let above = constraint.comparisons().filter(|one| one.op == Op::Above).filter_map(|one| one.version);
        if let Some(bound) = above.filter(|bound| newest.cmp_prefix(bound).is_eq()).max() {
            self.say(format!("`>{bound}` leaves out every version that begins with {bound}; `>={bound}` takes them"));
        }
    }

    /// How a nightly is written that precedes no release which is known.
    fn as_table(&mut self, ask: &PackageRequest<'c>) {
        let nightly = ask.constraint.single().filter(|version| own::is_told_by_its_release(ask.package, version));
        if nightly.is_some() {
            self.say(format!(
                "a nightly is judged as the release that it precedes; before that one is known, {}",
                own::AS_TABLE
            ));
        }
    }

    /// Something newer than everything that is known may have been published since.
    fn as_of(&self) -> String {
        format!("; the catalog is of {}", self.request.catalog.version)
    }

    fn toolkits_installed(&mut self) {
        let Some(target) = self.target_with("toolkit") else { return };
        let Some(installed) = &target.toolkits else { return };
        let known = &self.request.catalog.toolkits;
        let unknown = |version: &&Version| known.iter().all(|row| row.version.cmp_prefix(version).is_ne());
        let released = || known.iter().filter(|row| !row.components_only).map(|row| &row.version);
        let versions: Vec<Version> = installed.iter().filter(unknown).copied().collect();
        for version in &versions {
            let lacks = Constraint::parse(version.as_str()).map(|wanted| self.part_lacks("cuda", &wanted));
            let nearest = nearest_to(version, released());
            self.say(format!("no CUDA toolkit {version} is known{nearest}{}", lacks.unwrap_or_default()));
        }
    }

    /// A bound that no driver is within which is known.
    fn driver_admitted(&mut self) {
        let Some(target) = self.target_with("driver").filter(|target| !target.windows_driver) else { return };
        let DriverRequest::Free(Some(bound)) = &target.driver else { return };
        let known = &self.request.catalog.drivers;
        if let Some(oldest) = known.first().filter(|_| !known.iter().any(|row| bound.admits(&row.version))) {
            let sentence =
                format!("`driver = \"{bound}\"` admits no driver that is known; the oldest is {}", oldest.version);
            self.say(sentence);
        }
    }
}

/// Of some builds those that are asked for, or all if none is: what other variants bring says nothing of the one asked for.
fn taken_or_all<'c>(ask: &PackageRequest<'_>, builds: Vec<&'c Build>) -> Vec<&'c Build> {
    let taken: Vec<&Build> = builds.iter().copied().filter(|build| ask.takes_build(build)).collect();
    if taken.is_empty() { builds } else { taken }
}
