//! Every direction in which one key can be loosened: the nearest versions, variants, drivers, images and systems.

use crate::catalog::rows::{Companion, FRAMEWORKS, Subject};
use crate::explain::{Fix, advice, target_of};
use crate::solve::own;
use crate::solve::recommended;
use crate::solve::request::{Direction, DriverRequest, GpuRequest, Request, Told};
use crate::solve::solution::Solution;
use crate::solve::windows;
use crate::spec::other_names::without_cuda;
use crate::types::constraint::admits;
use crate::types::variant::line_of;
use crate::types::{ArchEntry, ArchList, Constraint, Version, distinct, sort_by_key, variant};

use super::written::{chosen, cuda_of, minimum, outermost};
use super::{Edit, Finder, PASSED_BY, set, unset};

impl<'c> Finder<'_, 'c> {
    /// Every direction in which one key can be loosened.
    pub(super) fn try_key(&mut self, key: &str) {
        let (section, name) = key.split_once('.').unwrap_or((key, ""));
        match section {
            "stack" if name == "cuda" => self.try_values_or_none(key, &self.near_lines(key)),
            "stack" if name == "cudnn" => self.try_values_or_none(key, &self.near_cudnns(key)),
            "stack" if name != "nccl" => {
                let has = |base: &Request<'c>| base.targets.iter().any(|target| base.has_from_image(target, name));
                if self.asker.base().is_some_and(has) {
                    self.try_values(key, &["*".into()]);
                }
                self.try_variants(key, name);
                self.try_versions(key, name);
            }
            "target" => match key.rsplit('.').next().unwrap_or("") {
                "driver" | "driver-cuda" => self.try_driver(key),
                "image" => self.try_image(key),
                "os" => {
                    self.try_compiler(target_of(key));
                    match self.strange_image(target_of(key)) {
                        Some(image) => self.try_together(&[key.to_string(), image], &[]),
                        None => self.try_values(key, &self.other_systems(key)),
                    }
                }
                "glibc" => self.try_values(key, &self.other_glibcs(key)),
                "gcc" => self.try_values(key, &self.other_compilers(target_of(key))),
                "clang" => self.try_values(key, &self.other_clangs(key)),
                "kernel-module" => self.try_values(key, &["open".into(), "proprietary".into()]),
                "cudnn" => self.try_values(key, &self.newer_cudnns(key)),
                "arch" => self.try_values(key, &["x86_64".into(), "aarch64".into()]),
                "platform" => self.try_values(key, &["linux".into()]),
                "toolkit" => self.try_values(key, &self.other_toolkits(key)),
                _ => self.try_together(&[key.to_string()], &[]),
            },
            _ => {
                self.try_together(&[key.to_string()], &[]);
                if key == "build.arch-list" {
                    self.try_shorter_lists();
                }
            }
        }
    }

    /// The same package for another CUDA major, which has another name: cupy-cuda12x in place of cupy-cuda13x; or under
    /// the name that it has now, where no release under the written one helps.
    pub(super) fn try_siblings(&mut self, key: &str) {
        let Some(package) = key.strip_prefix("stack.") else { return };
        let catalog = self.asker.catalog;
        let stays = |fix: &Fix| fix.changes.iter().any(|change| change.key == *key && change.to.is_some());
        let listed = catalog.listings.of(package).first().filter(|_| !self.found.iter().any(stays));
        let now = listed.and_then(|row| row.now.as_deref());
        let known = catalog.companions.heads().into_iter();
        let is_kin = |name: &&str| {
            *name == package
                || Some(*name) == now
                || without_cuda(package).is_some_and(|stem| without_cuda(name) == Some(stem))
        };
        let family = distinct(known.filter(is_kin));
        let own = family.iter().position(|name| *name == package).unwrap_or_default();
        let mut siblings: Vec<(usize, &str)> = family.into_iter().enumerate().filter(|(at, _)| *at != own).collect();
        // The nearest CUDA first.
        sort_by_key(&mut siblings, |(at, name)| (at.abs_diff(own), *name));
        for other in siblings.into_iter().map(|(_, name)| format!("stack.{name}")) {
            if self.written(&other).is_some() {
                continue;
            }
            let Some(found) = self.answer(&[unset(key), set(&other, "*")], None) else { continue };
            let Some(version) = chosen(&found, &other) else { continue };
            let edits = [unset(key), set(&other, version)];
            // Without either there may be an answer too, but nothing of what was asked for.
            let Some(answer) = self.answer(&edits, None) else { continue };
            if self.keep(&edits, self.changes(&edits), &answer) {
                return;
            }
        }
    }

    /// The nearest of these values; else whatever is chosen where the key is left out.
    fn try_values_or_none(&mut self, key: &str, values: &[String]) {
        let before = self.found.len();
        self.try_values(key, values);
        if self.found.len() == before {
            self.try_together(&[key.to_string()], &[]);
        }
    }

    /// The line of a CUDA release that is written, then those above it, nearest first. In place of a line that is not
    /// known, the last one of its major.
    fn near_lines(&self, key: &str) -> Vec<String> {
        let own = self.newest_wish(key).filter(|wish| wish.len() > 1).and_then(|wish| {
            let mut lines = self.asker.catalog.toolkits.iter().map(|row| row.version.prefix(2));
            lines.rfind(|line| *line <= wish.prefix(2) && line.major() == wish.major())
        });
        let own = own.map(|line| line.to_string());
        own.into_iter().chain(self.newer_lines(key)).collect()
    }

    /// The CUDA lines above the one written, nearest first.
    pub(super) fn newer_lines(&self, key: &str) -> Vec<String> {
        let wish = self.newest_wish(key);
        let mut newer: Vec<Version> = self.asker.catalog.toolkits.iter().map(|row| row.version.prefix(2)).collect();
        newer.retain(|line| wish.as_ref().is_some_and(|wish| line.cmp_prefix(wish).is_gt()));
        newer.dedup();
        newer.iter().map(Version::to_string).collect()
    }

    /// The same version in another variant, the same variant in the nearest versions, and the nearest of both.
    fn try_versions(&mut self, key: &str, package: &str) {
        // In place of a build of one's own the published ones nearest to it.
        let own = self.spec.own.iter().find(|own| own.package == package).and_then(own::published);
        let written = own.or_else(|| self.written(key).and_then(|text| Constraint::parse(&text).ok()));
        let Some(written) = written else { return };
        let variant = written.comparisons().find_map(|one| one.variant.clone());
        let known = self.known_versions(package);
        let admitted = known.iter().filter(|version| {
            written.comparisons().all(|one| one.version.is_none()) || admits_any_variant(&written, version)
        });
        let named: Vec<Version> = written.comparisons().filter_map(|one| one.version).collect();
        if variant.is_some() && named.is_empty() {
            return;
        }
        let (low, high) = match (admitted.clone().min(), admitted.max()) {
            (Some(low), Some(high)) => (*low, *high),
            _ => match named.iter().max() {
                Some(version) => (*version, *version),
                None => return,
            },
        };
        let same = variant.as_ref().map(|name| (self.same_release(key, package, &written, name), Direction::Newest));
        let stays = same.is_some_and(|same| self.try_version(key, package, &written, same));
        // The nearest of its own line, else the nearest above; the newest, and the nearest below.
        let (above, below) = (format!(">{high}"), format!("<{low}"));
        let (later, earlier) = (format!("{above},{}", high.prefix(2)), format!("{below},{}", low.prefix(2)));
        let is_known = |bounds: &str| Constraint::parse(bounds).is_ok_and(|of| known.iter().any(|one| of.admits(one)));
        for variant in variant.as_deref().map(Some).into_iter().chain([None]) {
            let mut serves = |bounds: &str, from| {
                let wish = match variant {
                    _ if !is_known(bounds) => None,
                    Some(name) if FRAMEWORKS.contains(&package) => {
                        self.nearest_with_variant(key, package, name, bounds, from, &known)
                    }
                    _ if package == "python" => self.nearest_python(key, bounds, from, &known),
                    _ => Some(bounds.to_string()),
                };
                wish.is_some_and(|wish| self.try_version(key, package, &written, (wish, from)))
            };
            let is_beside = !stays && (serves(&later, Direction::Oldest) | serves(&earlier, Direction::Newest));
            if !is_beside {
                serves(&above, Direction::Oldest);
            }
            serves(&above, Direction::Newest);
            serves(&below, Direction::Newest);
        }
    }

    /// The releases that are written, in another variant than one that they were not published in: the nearest of its CUDA
    /// major, where what would be chosen is of another one and such a variant serves.
    fn same_release(&self, key: &str, package: &str, written: &Constraint, variant: &str) -> String {
        let any = versions_only(written);
        let is_plain = FRAMEWORKS.contains(&package) && !any.contains("||") && !self.is_published(package, written);
        let Some(major) = line_of(variant).filter(|_| is_plain).map(|line| line.major()) else {
            return any;
        };
        let is_of_major = |variant: &str| line_of(variant).is_some_and(|line| line.major() == major);
        let answer = self.answer(&[set(key, &any)], Some((&[package], Direction::Newest)));
        let taken = answer.and_then(|answer| chosen(&answer, key));
        let Some(taken) = taken.as_deref().and_then(|taken| variant::parts(taken).1) else { return any };
        if is_of_major(taken) {
            return any;
        }
        let others = self.other_variants(package, variant).into_iter().filter(|other| is_of_major(other));
        let mut wishes = others.map(|other| format!("+{other},{any}"));
        // One that needs a package beside the driver serves less well than another major that needs none.
        let serves = |wish: &String| {
            let answer = self.has_answer(&[set(key, wish)]).then(|| self.answer(&[set(key, wish)], None)).flatten();
            answer.is_some_and(|answer| advice::compat(&answer).is_none())
        };
        wishes.find(serves).unwrap_or(any)
    }

    /// The first version that a wish admits, from one end, where it has an answer; and where that fails as it is, the first one
    /// behind it that does not. Whether one is offered.
    fn try_version(
        &mut self,
        key: &str,
        package: &str,
        written: &Constraint,
        (mut wish, from): (String, Direction),
    ) -> bool {
        let beyond = match (wish.chars().next(), from) {
            (Some('>'), Direction::Oldest) => Some('>'),
            (Some('<'), Direction::Newest) => Some('<'),
            _ => None,
        };
        let older = wish.starts_with('<');
        let mut is_offered = false;
        for _ in 0..PASSED_BY {
            let Some(answer) = self.answer(&[set(key, &wish)], Some((&[package], from))) else { break };
            if older && self.is_untold(&answer, key, package) && !self.predates(&answer, package, written) {
                break;
            }
            let value = chosen(&answer, key).or_else(|| outermost(&answer, package, older));
            let Some(value) = value.filter(|value| self.offer(&[set(key, value)])) else { break };
            let fails = self.found.last().is_some_and(|fix| !fix.failing.is_empty());
            if fails && is_offered {
                self.found.pop();
            }
            is_offered = true;
            match beyond.filter(|_| fails) {
                Some(beyond) => wish = format!("{wish},{beyond}{}", variant::public(&value)),
                None => break,
            }
        }
        is_offered
    }

    /// Whether a package clashes with its framework or a GPU, and an older release of it would only not say so: it sets no upper
    /// bound on the framework, for of what is younger than itself it could not know. Where something else is in its way, as a
    /// driver or a C library, it is the way out that it looks like.
    fn is_untold(&self, answer: &Solution<'_>, key: &str, package: &str) -> bool {
        let framework = self.asker.catalog.companions.of(package).first().map(|row| format!("stack.{}", row.framework));
        let clashes = self.cores.independent.iter().chain(&self.cores.alternatives).chain(&self.cores.further);
        let mut own = clashes.filter(|keys| keys.iter().any(|one| one == key));
        let is_younger = |one: &String| one.ends_with(".gpu") || Some(one) == framework.as_ref();
        own.any(|keys| keys.iter().any(is_younger)) && takes_any_newer(answer, package)
    }

    /// Whether the framework of an answer is older than what every admitted release of a package accepts: what came out
    /// before these knew it.
    fn predates(&self, answer: &Solution<'_>, package: &str, written: &Constraint) -> bool {
        let companions = self.asker.catalog.companions.of(package).iter();
        let mut admitted = companions.filter(|row| written.admits(&row.version)).peekable();
        let builds = || answer.targets.iter().flat_map(|target| &target.builds);
        let too_old = |row: &Companion| {
            let Ok(needs) = Constraint::parse(&row.needs) else { return false };
            let lower: Vec<Version> =
                needs.comparisons().filter(|one| one.op.is_lower()).filter_map(|one| one.version).collect();
            let mut of_framework = builds().filter(|build| build.package == row.framework);
            of_framework.any(|build| lower.iter().any(|bound| build.version < *bound))
        };
        admitted.peek().is_some() && admitted.all(too_old)
    }

    /// The Python nearest to a bound that has an answer.
    fn nearest_python(&self, key: &str, bounds: &str, from: Direction, known: &[Version]) -> Option<String> {
        let bounds = Constraint::parse(bounds).ok()?;
        let mut versions: Vec<&Version> = known.iter().filter(|version| bounds.admits(version)).collect();
        if from == Direction::Newest {
            versions.reverse();
        }
        versions.into_iter().map(Version::to_string).find(|value| self.has_answer(&[set(key, value)]))
    }

    /// Where a variant stands alone: the nearest other one; in place of the CPU's, which none is near, whichever fits.
    fn try_variants(&mut self, key: &str, package: &str) {
        let Some(written) = self.written(key) else { return };
        let Some(variant) = written.strip_prefix('+') else { return };
        let values: Vec<String> = match variant == "cpu" || !FRAMEWORKS.contains(&package) {
            true => vec!["*".into()],
            false => self.other_variants(package, variant).into_iter().map(|variant| format!("+{variant}")).collect(),
        };
        self.try_values(key, &values);
    }

    /// The version nearest to a bound that has an answer in a given variant.
    fn nearest_with_variant(
        &self,
        key: &str,
        package: &str,
        variant: &str,
        bounds: &str,
        from: Direction,
        known: &[Version],
    ) -> Option<String> {
        // Where no version within the bounds will do, one question tells so of all.
        if !self.has_answer(&[set(key, format!("+{variant},{bounds}"))]) {
            return None;
        }
        let bounds = Constraint::parse(bounds).ok()?;
        let builds = self.asker.catalog.builds.of(package);
        let built = |version: &&Version| {
            bounds.admits(version) && builds.iter().any(|row| row.variant == variant && row.version == **version)
        };
        let mut versions: Vec<&Version> = known.iter().filter(built).collect();
        if from == Direction::Newest {
            versions.reverse();
        }
        versions
            .into_iter()
            .map(|version| format!("{version}+{variant}"))
            .find(|value| self.has_answer(&[set(key, value)]) && self.answer(&[set(key, value)], None).is_some())
    }

    /// The oldest driver that suffices; where the pinned one is too new, the newest branch that still serves.
    fn try_driver(&mut self, key: &str) {
        let target = target_of(key);
        let asked = self.asker.base();
        // Whoever wants another driver on a Jetson installs another JetPack.
        if asked.as_ref().is_some_and(|request| is_of_jetson(request, target)) {
            return;
        }
        let (served, unserved) = self.listed_drivers(key);
        let newest = |list: &[Constraint]| {
            list.iter().filter_map(|one| one.comparisons().filter_map(|it| it.version).max()).max()
        };
        // Whoever raises the drivers of a list raises those on which nothing runs.
        let pinned = newest(&unserved).or_else(|| newest(&served));
        let pinned = pinned.or_else(|| asked.and_then(|request| pinned_driver(request, target)));
        let catalog = self.asker.catalog;
        let write = |driver: Version| match key.ends_with("driver-cuda") {
            true => cuda_of(catalog, &driver),
            false => Some(format!(">={driver}")),
        };
        let on_windows = self.spec.target(target).is_some_and(|target| target.is_wsl2());
        // What the rest asks for may be less than any rule does: an image of its own names branches.
        let free = self.answer(&[unset(key)], None);
        let asked_for = free.as_ref().and_then(|answer| minimum(answer, target)).filter(|_| !on_windows);
        let floors = pinned.iter().flat_map(|pinned| match on_windows {
            true => self.windows_floors_above(pinned),
            false => self.floors_above(pinned, target),
        });
        let floors = distinct(floors.chain(asked_for.filter(|least| pinned.is_some_and(|pinned| pinned < *least))));
        let before = self.found.len();
        // Who installs another driver installs one that needs no package beside it, and of a branch one that suffices.
        let alone = |floor: &Version| -> Option<Vec<String>> {
            let answer = self.answer(&[set(key, write(*floor)?)], None)?;
            let least = minimum(&answer, target).map_or(*floor, |minimum| minimum.max(*floor));
            let values = distinct([self.listing(&answer, target, least), least]);
            advice::compat(&answer).is_none().then(|| values.into_iter().rev().filter_map(write).collect())
        };
        let values = match floors.iter().find_map(alone) {
            Some(alone) => alone,
            None => floors.into_iter().filter_map(write).collect(),
        };
        self.try_values(key, &values);
        self.try_fewer_drivers(key, &served, &unserved);
        if self.found.len() > before {
            return;
        }
        let Some(answer) = free else { return };
        let Some(minimum) = minimum(&answer, target) else { return };
        if pinned.is_none_or(|pinned| pinned < minimum) {
            let values = distinct([self.listing(&answer, target, minimum), minimum]);
            let values: Vec<String> = values.into_iter().rev().filter_map(write).collect();
            self.try_values(key, &values);
            return;
        }
        self.try_values(key, &self.newest_branches(key));
    }

    /// A driver that suffices for an answer, or a newer one that is the first to list its boards.
    pub(super) fn listing(&self, answer: &Solution<'c>, target: &str, suffices: Version) -> Version {
        let Some(request) = self.asker.base() else { return suffices };
        let (Some(asked), Some(chosen)) = (request.target(target), answer.target(target)) else { return suffices };
        // Of boards that a fix replaces nothing is written yet.
        let stays = |gpu: &&GpuRequest<'_>| chosen.gpus.iter().any(|of| of.name == gpu.name);
        recommended::listing(asked, asked.named_gpus().iter().filter(stays), suffices)
    }

    /// What to write for each branch of the driver, the newest first.
    pub(super) fn newest_branches(&self, key: &str) -> Vec<String> {
        let branches = self.asker.catalog.branches.iter().rev();
        let values =
            branches.map(|row| if key.ends_with("driver-cuda") { row.cuda.as_ref() } else { Some(&row.branch) });
        values.flatten().map(Version::to_string).collect()
    }

    /// Every driver that some rule asks for, above a host's, lowest first: who must change a driver wants to know
    /// how little suffices.
    fn floors_above(&self, pinned: &Version, target: &str) -> Vec<Version> {
        let rules = self.asker.catalog.rules.iter().filter(|rule| rule.object == Subject::Driver);
        let needs = rules.filter_map(|rule| Constraint::parse(&rule.needs).ok());
        let of_rules = needs.flat_map(|needs| needs.comparisons().filter_map(|one| one.version).collect::<Vec<_>>());
        // An image may take several branches, of which the lowest is enough.
        let image = self.spec.target(target).and_then(|target| target.image_requires.as_ref());
        let words = image.into_iter().flat_map(|written| written.value.as_str().split([' ', ',']));
        let of_image = words.filter_map(|word| Version::parse(word.strip_prefix("driver>=")?).ok());
        distinct(of_rules.chain(of_image).filter(|floor| floor > pinned))
    }

    /// The same of Windows' drivers, which are numbered by themselves.
    fn windows_floors_above(&self, pinned: &Version) -> Vec<Version> {
        let known = windows::turning_points(self.asker.catalog);
        known.into_iter().filter(|floor| *floor > pinned).copied().collect()
    }

    /// Another compiler beside the one that comes with the system, where nothing is said of it yet.
    fn try_compiler(&mut self, target: &str) {
        let key = format!("target.{target}.gcc");
        let builds = self.spec.build.as_ref().is_some_and(|build| build.cuda_extensions);
        if !builds || self.written(&key).is_some() {
            return;
        }
        let mut values = self.other_compilers(target).into_iter();
        if let Some(gcc) = values.find(|gcc| self.offer(&[set(&key, gcc)]))
            && let Some(fix) = self.found.last_mut()
        {
            fix.advice.get_or_insert(format!("install gcc {gcc} alongside the default one and build with it"));
        }
    }

    /// The first of some values with which the spec has an answer.
    pub(super) fn try_values(&mut self, key: &str, values: &[String]) {
        for value in values {
            if self.offer(&[set(key, value)]) {
                return;
            }
        }
    }

    /// The written list without what nothing else knows.
    fn try_shorter_lists(&mut self) {
        let Some(list) = self.spec.build.as_ref().and_then(|build| build.arch_list.as_ref()) else { return };
        let entries = list.value.entries();
        let kept = |entry: &&ArchEntry| {
            let alone = set("build.arch-list", ArchList::new([**entry]).torch());
            let keys = self.spec.keys();
            let gpus = keys.iter().filter(|key| key.ends_with(".gpu")).map(|key| unset(key));
            self.answer(&[alone].into_iter().chain(gpus).collect::<Vec<Edit>>(), None).is_some()
        };
        let shorter = ArchList::new(entries.iter().filter(kept).copied());
        if !shorter.is_empty() && shorter != list.value {
            self.offer(&[set("build.arch-list", shorter.torch())]);
        }
    }

    /// Settings that are no clash by themselves but open another way out.
    pub(super) fn try_switches(&mut self) {
        for target in self.spec.targets.iter() {
            if target.forward_compat == crate::spec::ForwardCompat::Never {
                self.offer(&[set(&format!("target.{}.forward-compat", target.name), "auto")]);
            }
        }
        if self.spec.targets.len() > 1 {
            self.try_values("resolve.share", &["versions".into(), "none".into()]);
        }
    }
}

/// Whether a release of a companion sets no upper bound on its framework.
fn takes_any_newer(answer: &Solution<'_>, package: &str) -> bool {
    let companions = answer.targets.iter().flat_map(|target| &target.companions);
    let mut of_package = companions.filter(|row| &*row.package == package);
    let beyond = Version::parse("9999").ok();
    let unbounded = |needs: &str| {
        let needs = Constraint::parse(needs).ok();
        needs.zip(beyond.as_ref()).is_some_and(|(needs, beyond)| needs.admits(beyond))
    };
    of_package.any(|row| unbounded(&row.needs))
}

fn is_of_jetson(request: &Request<'_>, target: &str) -> bool {
    let asked = request.target(target);
    asked.is_some_and(|asked| asked.is_jetson() || matches!(asked.driver, DriverRequest::Cuda(_, Told::Jetson(_))))
}

fn pinned_driver(request: &Request<'_>, target: &str) -> Option<Version> {
    match &request.target(target)?.driver {
        DriverRequest::Exact(version) => Some(*version),
        DriverRequest::AtWorst(constraint) => constraint.comparisons().filter_map(|one| one.version).min(),
        DriverRequest::Cuda(cuda, _) => {
            let branch = request.catalog.branches.iter().find(|row| row.cuda.as_ref() == Some(cuda));
            branch.map(|row| row.branch)
        }
        DriverRequest::Free(_) => None,
    }
}

fn admits_any_variant(constraint: &Constraint, version: &Version) -> bool {
    admits(&versions_only(constraint), version)
}

/// The constraint without its variants: `2.5.1+cu124` is `2.5.1`.
fn versions_only(constraint: &Constraint) -> String {
    let cut = |part: &str| variant::public(part).trim().to_string();
    let alternatives = constraint.as_str().split("||").map(|alternative| {
        let parts: Vec<String> = alternative.split(',').map(cut).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { "*".to_string() } else { parts.join(",") }
    });
    alternatives.collect::<Vec<String>>().join(" || ")
}
