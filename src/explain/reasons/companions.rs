//! What packages that follow a framework say of themselves.

use std::cmp::Reverse;

use crate::catalog::rows::{Asks, Build, Companion, TRITON, library_major};
use crate::coverage::Coverage;
use crate::solve::fits;
use crate::solve::request::PackageRequest;
use crate::solve::thirds;
use crate::solve::wants::Want;
use crate::types::constraint::Op;
use crate::types::nvidia::RUNTIME;
use crate::types::variant::line_of;
use crate::types::{ArchList, Constraint, CpuArch, Version, distinct, sort_by_key};

use super::Explainer;
use super::words::plainly;

/// Of more releases than this the span is told.
const MOST_RELEASES: usize = 2;

impl<'c> Explainer<'_, 'c> {
    /// What the newest admitted releases of the blamed packages say of themselves.
    pub(super) fn companions_say(&mut self, says: impl FnMut(&Companion) -> Option<String>) {
        self.companions_say_of(says, |_, _| String::new());
    }

    /// What was not published of them, as of the day on which their listings were read.
    pub(super) fn companions_lack(&mut self, says: impl FnMut(&Companion) -> Option<String>) {
        self.companions_say_of(says, |it, row| it.listed(&row.package, &row.version));
    }

    fn companions_say_of(
        &mut self,
        mut says: impl FnMut(&Companion) -> Option<String>,
        ends: impl Fn(&mut Self, &Companion) -> String,
    ) {
        for wheels in self.newest_blamed() {
            let said: Vec<Option<String>> = wheels.iter().map(|row| says(row)).collect();
            let first = wheels.iter().zip(said).find_map(|(row, sentence)| Some((*row, sentence?)));
            let Some((row, sentence)) = first else { continue };
            let end = ends(self, row);
            // What holds of one build of a release alone is said of its variant, be the others blamed or not.
            let mut builds = self.request.catalog.companions.of(&row.package).iter();
            let is_other = |one: &Companion| one.version == row.version && !one.sdist;
            let variant = row
                .variant
                .as_deref()
                .filter(|_| builds.any(|one| is_other(one) && says(one).as_ref() != Some(&sentence)));
            let variant = variant.map_or(String::new(), |variant| format!("+{variant}"));
            self.say(format!("{} {}{variant} {sentence}{end}", row.package, row.version));
            let source = row.arch_source.as_ref().unwrap_or(&row.source);
            let source = self.request.catalog.source_of(source, row.version.as_str(), &row.package, "");
            self.fact(format!("{}-{}", row.package, row.version), source);
        }
    }

    /// The releases of a package that what is asked for admits by its versions, as they come on the targets' processors: as
    /// source where all are of the one for which there are no wheels.
    fn admitted_releases(&self, ask: &PackageRequest<'c>) -> impl Iterator<Item = &'c Companion> {
        let rows = || self.request.catalog.companions.of(ask.package).iter();
        let is_on_all = |arch: CpuArch| self.request.targets.iter().all(|target| target.arch == arch);
        let sources: Vec<&Companion> = rows().filter(|row| row.source_for().is_some_and(is_on_all)).collect();
        let comes = move |row: &&Companion| match sources.iter().find(|source| source.version == row.version) {
            Some(source) => source == row || row.arches.iter().any(|arch| source.arches.contains(arch)),
            None => row.source_for().is_none(),
        };
        rows().filter(|row| ask.constraint.admits(&row.version)).filter(comes)
    }

    /// The releases of a package that what is asked for admits, by their versions and variants.
    pub(super) fn asked_releases(&self, ask: &PackageRequest<'c>) -> impl Iterator<Item = &'c Companion> {
        let catalog = self.request.catalog;
        let of_variant =
            |row: &&Companion| !ask.constraint.pins_variant() || fits::may_be_variant(catalog, row, &ask.constraint);
        self.admitted_releases(ask).filter(of_variant)
    }

    /// The newest admitted releases of each blamed package, each as it comes: what speaks for it first.
    fn newest_blamed(&self) -> Vec<Vec<&'c Companion>> {
        let mut newest = Vec::new();
        for ask in self.request.companions.iter().filter(|ask| self.blames(ask.package)) {
            let mut rows: Vec<&Companion> = self.asked_releases(ask).collect();
            rows.reverse();
            // A version can have a release for each variant of its framework: the one asked for speaks for it.
            let named = |row: &Companion| {
                let variant = row.variant.as_deref();
                let mut frameworks = self.request.frameworks.iter();
                variant.map(|variant| frameworks.any(|ask| ask.constraint.names_variant(variant)))
            };
            sort_by_key(&mut rows, |row| {
                (Reverse(row.version), [Some(true), None, Some(false)].iter().position(|of| *of == named(row)))
            });
            // Beside releases that go with what is asked for, nobody asks about the others.
            if rows.iter().any(|row| self.follows(row)) {
                rows.retain(|row| self.follows(row));
            }
            let of_versions = rows.chunk_by(|one, other| one.version == other.version);
            newest.extend(of_versions.take(MOST_RELEASES).map(<[_]>::to_vec));
        }
        newest
    }

    /// Whether no release asked for of some blamed companion holds code for a GPU, and no framework is blamed: then
    /// the frameworks' code says nothing.
    pub(super) fn a_companion_is_enough(&self) -> bool {
        let Some(target) = self.target_with("gpu") else { return false };
        let unreached = |row: &Companion| {
            let none = |cc| fits::companion_code(self.request.catalog, row, target.arch, cc) == Some(Coverage::None);
            target.named_gpus().iter().any(|gpu| none(gpu.cc))
        };
        let blamed = self.request.companions.iter().filter(|ask| self.blames(ask.package));
        let mut alone = blamed.map(|ask| self.admitted_releases(ask).all(unreached));
        self.request.frameworks.iter().all(|ask| !self.blames(ask.package)) && alone.any(|alone| alone)
    }

    pub(super) fn companions_hold(&mut self) {
        self.gpus();
        let arch = self.target().map_or(CpuArch::X86_64, |target| target.arch);
        self.companions_say(|row| {
            row.arch_source.as_ref().filter(|_| row.gpu_code)?;
            let (sass, ptx) = fits::companion_targets(row, arch);
            if row.cpu_only.contains(&arch) {
                return Some(format!("holds no GPU code in its wheel for {arch}, which computes on the CPU only"));
            }
            let names = ArchList::from_targets(sass, ptx).names();
            (!names.is_empty()).then(|| format!("holds code for {} only", names.replace(' ', ", ")))
        });
        self.kept_elsewhere();
    }

    /// Where else the projects of blamed packages keep builds: of what they hold nobody has read anything.
    fn kept_elsewhere(&mut self) {
        for ask in self.request.companions.iter().filter(|ask| self.blames(ask.package)).collect::<Vec<_>>() {
            let newest = self.admitted_releases(ask).map(|row| row.version).max();
            let index = newest.and_then(|newest| self.request.catalog.elsewhere(ask.package, &newest));
            if let Some(index) = index {
                self.say(format!(
                    "that is {} as the package index has it; its project keeps builds with labels of their own at {index}, which \
                     nobody has read",
                    ask.package
                ));
            }
        }
    }

    /// The CUDA of blamed packages that follow no framework: what they are made for, or carry inside.
    pub(super) fn companion_runtimes(&mut self) {
        let (catalog, arch) = (self.request.catalog, self.target().map_or(CpuArch::X86_64, |target| target.arch));
        self.companions_say(|row| {
            let made_for = row.cuda.as_ref().filter(|_| row.follows_cuda());
            let or_newer = if fits::compiled_by(catalog, row, arch).is_some() { "" } else { " or newer" };
            let carried = || fits::carried_line(catalog, row, arch);
            match made_for {
                Some(cuda) => Some(format!("is made for CUDA {cuda}")),
                None => {
                    carried().map(|line| format!("carries the runtime of CUDA {line}{or_newer}, which compiled it"))
                }
            }
        });
    }

    /// The libraries that blamed packages ask for by the name of a CUDA.
    pub(super) fn companion_libraries(&mut self) {
        let arch = self.target().map_or(CpuArch::X86_64, |target| target.arch);
        let asked =
            |row: &Companion| row.asked(arch).map(|(of, _)| of.to_string()).find(|of| library_major(of).is_some());
        let told = self.says.len();
        self.companions_say(|row| Some(format!("requires {}", asked(row)?)));
        if self.says.len() > told {
            self.say("one environment can hold only one copy of each NVIDIA library".into());
        }
    }

    pub(super) fn companion(&mut self) {
        if self.other_abis() {
            return self.blamed_frameworks();
        }
        let request = self.request;
        // Whoever clashes by a library does so whatever CUDA it is of.
        if self.follow_versions() && !request.companions.iter().any(|ask| self.disputes(ask)) {
            self.companion_lines();
        }
        let mut silent = Vec::new();
        for ask in &request.companions {
            let (following, others) = self.by_following(ask);
            let rows = if following.is_empty() { &others } else { &following };
            silent.push(self.what_they_ask(rows));
        }
        // Of a framework nothing need be said where packages clash with each other, unless some of their releases do not.
        let is_blamed = request.frameworks.iter().any(|ask| self.blames(ask.package));
        let are_some_silent = silent.iter().flatten().any(|silent| !silent.is_empty());
        for (ask, silent) in request.companions.iter().zip(silent) {
            let (following, others) = self.by_following(ask);
            match silent {
                Some(silent) if !is_blamed && !silent.is_empty() => self.what_they_need(&silent),
                Some(_) if !is_blamed && !are_some_silent => {}
                None if !is_blamed && self.is_asked_for(ask.package) => {}
                _ => {
                    self.what_they_need(&others);
                    self.what_they_need(&following);
                }
            }
            if let Some(row) = following.last().or(others.last()) {
                self.variants_of(ask, row);
            }
        }
        self.what_torch_brings();
        self.what_frameworks_ask();
        self.blamed_frameworks();
    }

    fn blamed_frameworks(&mut self) {
        for ask in &self.request.frameworks {
            if self.blames(ask.package) {
                self.say_line(ask.package, &ask.constraint);
            }
        }
    }

    /// The releases of a package that are asked for: those that go with what else is, and the others, which clash in another
    /// way where some go.
    pub(super) fn by_following(&self, ask: &PackageRequest<'c>) -> (Vec<&'c Companion>, Vec<&'c Companion>) {
        let mut rows: Vec<&Companion> = self.admitted_releases(ask).collect();
        rows.dedup_by_key(|row| row.version);
        rows.into_iter().partition(|row| self.follows(row))
    }

    /// Whether the newest release that is asked for of a blamed package asks for something that is disputed.
    fn disputes(&self, ask: &PackageRequest<'c>) -> bool {
        let arch = self.target().map_or(CpuArch::X86_64, |target| target.arch);
        let (following, others) = self.by_following(ask);
        let newest = following.last().or(others.last()).filter(|_| self.blames(ask.package));
        newest.is_some_and(|row| {
            let asked = self.request.problem.asked_with_pinned(row, &[arch]);
            asked.into_iter().any(|(_, want)| !self.blames(want.0) && self.is_disputed(want, &row.package))
        })
    }

    /// Whether another blamed package asks for a package: then that says enough of it.
    fn is_asked_for(&self, package: &str) -> bool {
        let arch = self.target().map_or(CpuArch::X86_64, |target| target.arch);
        let mut others =
            self.request.companions.iter().filter(|ask| ask.package != package && self.blames(ask.package));
        others.any(|ask| {
            let (following, others) = self.by_following(ask);
            following.last().or(others.last()).is_some_and(|row| {
                let asked = self.request.problem.asked_with_pinned(row, &[arch]).into_iter().map(|(_, want)| want);
                asked.chain(row.asked_by_extra()).any(|(of, _)| of == package)
            })
        })
    }

    /// What the newest of these releases of a blamed package that asks for another one asks for; and the releases that ask
    /// for none, unless all are such.
    fn what_they_ask(&mut self, rows: &[&'c Companion]) -> Option<Vec<&'c Companion>> {
        let arch = self.target().map_or(CpuArch::X86_64, |target| target.arch);
        let catalog = self.request.catalog;
        let asked = |row: &'c Companion| -> Vec<(&'c Companion, Want<'c>)> {
            let asked = self.request.problem.asked_with_pinned(row, &[arch]).into_iter();
            let along = self.request.problem.untold_along(row).into_iter().map(|asks| (row, (&*asks.of, &*asks.needs)));
            let mut asked: Vec<_> = asked
                .chain(along)
                .filter(|(_, want)| self.blames(want.0) || self.is_disputed(*want, &row.package))
                .collect();
            self.keep_one_dispute(&mut asked, |(_, want)| *want);
            let is_beside =
                |want: &Want| self.blames(want.0) || want.0 == TRITON && self.is_disputed(*want, &row.package);
            let of_extra = row.asked_by_extra().filter(is_beside).map(|want| (row, want));
            asked.into_iter().chain(of_extra).collect()
        };
        let blamed: Vec<_> = rows.iter().copied().filter(|row| self.blames(&row.package)).collect();
        let (silent, asking): (Vec<_>, Vec<_>) = blamed.into_iter().partition(|row| asked(row).is_empty());
        let row = asking.last()?;
        let told = asked(row);
        for (by, (package, range)) in told {
            let is_optional = row.asked_by_extra().any(|extra| extra == (package, range));
            let how = if is_optional { " beside it: its own code was made for that" } else { "" };
            // What only its code says has a sentence of its own.
            let wants = self.request.problem.wants(&row.package);
            let says = |asks: &&Asks| *asks.of == *package && *asks.needs == *range && !asks.says.is_empty();
            let along = self.request.problem.untold_along(row);
            if let Some(asks) = wants.about(&row.version).chain(along).find(says) {
                if asks.package != row.package {
                    self.say(format!("{} {} brings {} along", row.package, row.version, asks.package));
                }
                self.say(asks.says.trim_end_matches('.').to_string());
                self.fact(asks.name(), catalog.source_of(&asks.source, row.version.as_str(), &row.package, ""));
                continue;
            }
            let through = if by.package == row.package {
                String::new()
            } else {
                format!("requires {} {}, which ", by.package, by.version)
            };
            self.say(format!("{} {} {through}requires {package} {range}{how}", row.package, row.version));
            let source = catalog.source_of(&row.source, row.version.as_str(), &row.package, "");
            self.fact(format!("{}-{}", row.package, row.version), source);
        }
        Some(silent)
    }

    /// What blamed builds ask for of packages that come along unasked.
    fn what_frameworks_ask(&mut self) {
        for build in self.newest_left() {
            let (release, wants) =
                (format!("{} {}", build.package, build.version), self.request.problem.wants(&build.package));
            let asked = wants.at(&build.version).map(|want| (release.clone(), want));
            let pinned = thirds::all_of_build(self.request.catalog, build).into_iter();
            let mut asked: Vec<(String, Want)> =
                asked.chain(pinned.map(|want| (build.named().to_string(), want))).collect();
            asked.retain(|(_, want)| self.is_disputed(*want, &build.package));
            self.keep_one_dispute(&mut asked, |(_, want)| *want);
            for (name, (package, range)) in asked {
                self.say(format!("{name} requires {package} {range}"));
            }
        }
    }

    /// Of disputed packages that come along unasked the first by name: both sides of one are told, not one side of all.
    fn keep_one_dispute<'a, T>(&self, asked: &mut Vec<T>, want: impl Fn(&T) -> Want<'a>) {
        let unasked = asked.iter().map(&want).filter(|(of, _)| !self.blames(of));
        let first = unasked.map(|(of, _)| of).min();
        asked.retain(|one| self.blames(want(one).0) || Some(want(one).0) == first);
    }

    /// Of each blamed framework the newest build that is left.
    pub(super) fn newest_left(&self) -> Vec<&'c Build> {
        let of = |package: &str| {
            self.left.iter().copied().filter(|build| *build.package == *package).max_by_key(|build| build.version)
        };
        self.request
            .frameworks
            .iter()
            .filter(|ask| self.blames(ask.package))
            .filter_map(|ask| of(ask.package))
            .collect()
    }

    /// Whether something else that is blamed asks for another release of a package, or brings one along.
    fn is_disputed(&self, want: Want<'_>, by: &str) -> bool {
        let catalog = self.request.catalog;
        let arch = self.target().map_or(CpuArch::X86_64, |target| target.arch);
        // The runtime that pip installs is the CUDA of the stack.
        if want.0.starts_with(RUNTIME) && self.blames("cuda") {
            return true;
        }
        if self.left_with_triton().is_some_and(|(_, triton)| thirds::clash(want, (TRITON, &format!("=={triton}")))) {
            return true;
        }
        let frameworks = self.newest_left().into_iter().filter(|build| *build.package != *by);
        let mut of_builds = frameworks.flat_map(|build| {
            let asked = self.request.problem.wants(&build.package);
            asked.at(&build.version).chain(thirds::of_build(catalog, build, want.0)).collect::<Vec<_>>()
        });
        let others = self.request.companions.iter().filter(|ask| ask.package != by && self.blames(ask.package));
        let mut of_packages = others.flat_map(|ask| {
            let rows = catalog.companions.of(ask.package).iter();
            let newest = rows.filter(|row| ask.constraint.admits(&row.version)).max_by_key(|row| row.version);
            let of_extra = newest.into_iter().flat_map(Companion::asked_by_extra).filter(|(of, _)| *of == TRITON);
            let asked = newest.map(|row| self.request.problem.asked_with_pinned(row, &[arch]));
            asked.into_iter().flatten().map(|(_, want)| want).chain(of_extra).collect::<Vec<_>>()
        });
        of_builds.any(|other| thirds::clash(want, other)) || of_packages.any(|other| thirds::clash(want, other))
    }

    /// What releases of one package need of their framework: each by itself, or many in one sentence.
    fn what_they_need(&mut self, rows: &[&Companion]) {
        if let [first, .., last] = rows
            && rows.len() > MOST_RELEASES
            && let Some(served) = self.followed_by(rows)
        {
            self.say(format!("{} {} to {} work with {served} only", first.package, first.version, last.version));
        }
        for row in rows.iter().rev().filter(|row| row.needs != "*").take(MOST_RELEASES) {
            if rows.len() <= MOST_RELEASES {
                self.say(format!("{} {} requires {} {}", row.package, row.version, row.framework, row.needs));
            }
            let source = self.request.catalog.source_of(&row.source, row.version.as_str(), &row.package, "");
            self.fact(format!("{}-{}", row.package, row.version), source);
        }
        if let Some(row) = rows.last().filter(|row| !self.follows(row)) {
            self.older_language(row);
        }
    }

    /// That a package is compiled as an older C++ than releases of its framework take, where one of them is blamed.
    fn older_language(&mut self, row: &Companion) {
        let Some((build, _)) = self.request.catalog.source_build(row) else { return };
        let needs = Constraint::parse(&row.needs).ok();
        let bound = needs.and_then(|needs| needs.comparisons().find(|one| one.op == Op::Below)?.version);
        let (Some(cxx), Some(bound)) = (&build.cxx, bound) else { return };
        if self.left.iter().any(|left| left.package == row.framework && left.version >= bound) {
            self.say(format!("{} {} is compiled as {cxx}", row.package, row.version));
        }
    }

    /// Whether a release goes with a build that is still in request.
    fn follows(&self, row: &Companion) -> bool {
        let mut builds = self.left.iter().filter(|build| *build.package == *row.framework);
        builds.any(|build| self.goes_with(row, &build.version))
    }

    /// That the releases of its framework with which a blamed package goes were published for the CPU alone on such machines.
    pub(super) fn followed_without_cuda(&mut self) {
        let (catalog, platform) = (self.request.catalog, self.platform());
        let blamed = self.request.companions.iter().filter(|ask| self.blames(ask.package));
        let frameworks = distinct(blamed.flat_map(|ask| self.asked_releases(ask)).map(|row| &*row.framework));
        for framework in frameworks {
            let of_package: Vec<&Build> = catalog.builds.of(framework).iter().collect();
            let is_taken = |build: &&&Build| platform.takes(build) && self.is_followed(build);
            let taken: Vec<&&Build> = of_package.iter().filter(is_taken).collect();
            if taken.iter().all(|build| build.is_cpu()) {
                self.without_cuda(&taken, &of_package);
            }
        }
    }

    /// Whether some release asked for goes with some framework asked for by its version: then their CUDA does not. So it is
    /// with what follows CUDA alone, be the framework one that nobody has seen.
    fn follow_versions(&self) -> bool {
        let is_unseen = self.request.frameworks.iter().any(|ask| self.is_unseen(ask.package));
        is_unseen && self.blames_what_loads_cuda() || self.left.iter().any(|build| self.is_followed(build))
    }

    /// Whether some release that is asked for goes with a build's version.
    pub(super) fn is_followed(&self, build: &Build) -> bool {
        let blamed = self.request.companions.iter().filter(|ask| self.blames(ask.package));
        let mut rows = blamed.flat_map(|ask| self.admitted_releases(ask));
        rows.any(|row| row.follows_cuda() || row.framework == build.package && self.goes_with(row, &build.version))
    }

    pub(super) fn goes_with(&self, row: &Companion, framework: &Version) -> bool {
        let needs = self.request.problem.range(row.needs);
        needs.as_ref().as_ref().is_none_or(|needs| needs.admits_installed(framework))
    }

    /// The framework releases that some of these go with, in words; none if they do not say.
    fn followed_by(&self, rows: &[&Companion]) -> Option<String> {
        let framework = &rows.first()?.framework;
        let known = self.request.catalog.builds.of(framework).iter();
        let builds: Vec<&Build> =
            known.filter(|build| rows.iter().any(|row| self.goes_with(row, &build.version))).collect();
        let open = rows.iter().any(|row| row.needs == "*" || row.framework != *framework);
        (!builds.is_empty() && !open).then(|| plainly(&builds, "", "").trim_end().to_string())
    }

    /// The CUDA of packages that follow a framework.
    fn companion_lines(&mut self) {
        let blamed: Vec<_> = self.request.companions.iter().filter(|ask| self.blames(ask.package)).collect();
        let majors = |ask: &&PackageRequest<'c>| {
            // A label says it too.
            let labels = ask.constraint.comparisons().filter_map(|one| line_of(one.variant.as_deref()?));
            let of_rows = self.asked_releases(ask).filter_map(|row| Some(row.cuda.as_ref()?.major()));
            let majors = distinct(of_rows.chain(labels.map(|line| line.major())));
            (!majors.is_empty()).then_some(majors)
        };
        let mut of_each: Vec<Vec<u64>> = blamed.iter().copied().filter_map(|ask| majors(&ask)).collect();
        let last = of_each.pop().unwrap_or_default();
        // Packages that clash with each other alone do not clash by what they load, if some of that is the same.
        let is_alone = of_each.is_empty() && self.blames_what_loads_cuda();
        let is_shared = !is_alone && last.iter().any(|major| of_each.iter().all(|majors| majors.contains(major)));
        if (last.is_empty() || is_shared) && blamed.len() == self.culprits.len() {
            return;
        }
        self.companions_say(|row| Some(format!("loads the libraries of CUDA {}", row.cuda.as_ref()?)));
    }
}
