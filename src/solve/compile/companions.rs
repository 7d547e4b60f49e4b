//! Packages that follow a framework, in the network: a version is chosen for all, and for each group of classes the release
//! of it that goes with the group's variant.

use std::rc::Rc;

use pubgrub::VersionSet;

use crate::catalog::rows::{Companion, Python, Subject, TRITON};
use crate::types::variant::CPU;
use crate::types::{Cc, CpuArch, distinct};

use super::{Choice, Class, Group, Package, Plan, ReleaseChoice, package_releases, stack_key};
use crate::solve::coinstall;
use crate::solve::fits;
use crate::solve::network::{Order, Var};
use crate::solve::platform::{Platform, Takes};
use crate::solve::release::Release;
use crate::solve::request::PackageRequest;
use crate::solve::rowset::RowSet;
use crate::solve::rules::{Needs, law};

impl<'c> Plan<'_, 'c> {
    /// A version of each package that goes with versions of the frameworks which some release of it accepts. Its releases
    /// say the same once they are chosen, but by then many versions would have been tried.
    pub(super) fn relate_package_versions(&mut self) {
        let arches = distinct(self.classes.iter().map(|class| class.machine().reading.arch));
        let only = if let [only] = arches[..] { Some(only) } else { None };
        for (at, ask) in self.request.companions.iter().enumerate() {
            let (package, var) = (self.packages[at], self.companions[at]);
            let written = written_versions(ask, package);
            let mut admitted = written.clone();
            admitted.add(&self.named_versions(at, &arches));
            if admitted.len() < package.versions.len() {
                self.clause(ask.package, vec![(var, admitted)]);
            }
            for (&of, framework) in self.versions.iter().zip(&self.frameworks) {
                if !self.off.has(law::id::COMPANION) && !self.leaves_triton(package, framework.package) {
                    let framework = *framework;
                    self.network.relate(of, var, move |version| {
                        let version = framework.versions[version];
                        package.versions_accepting(framework.package, version, only).as_ref().clone()
                    });
                }
            }
            for before in 0..at {
                let together = self.request.problem.together(self.packages[before], package, &arches);
                if !self.off.has(law::id::COMPANION) && !together.is_any() {
                    let of_one = written_versions(&self.request.companions[before], self.packages[before]);
                    let of_other = written.clone();
                    let with = move |version: usize| together.with_written(version, &of_one, &of_other);
                    self.network.relate(self.companions[before], var, with);
                }
            }
        }
        self.relate_thirds(&arches);
    }

    /// Whether a package is the triton that builds of a framework pin, of which one without GPU code is asked for: that pins
    /// none.
    fn leaves_triton(&self, package: &Package<'c>, framework: &str) -> bool {
        let is_cpu = |ask: &&PackageRequest<'c>| {
            let mut variants = ask.constraint.comparisons().map(|one| one.variant.as_deref());
            ask.package == framework
                && ask.constraint.pins_variant()
                && variants.all(|it| it.is_none_or(|it| it == CPU))
        };
        package.name == TRITON && self.request.frameworks.iter().any(|ask| is_cpu(&ask))
    }

    /// The pre-releases of a package that another one which is asked for names, and that what is written of it does not rule
    /// out: `*` and `>=0.2.8` take 0.2.9rc2 where something that is installed pins it.
    fn named_versions(&self, at: usize, arches: &[CpuArch]) -> RowSet {
        let (ask, package) = (&self.request.companions[at], self.packages[at]);
        let constraint = ask.constraint.clone().with_prereleases();
        let mut rows = RowSet::default();
        for other in (0..self.packages.len()).filter(|other| *other != at) {
            // One table serves both orders.
            let together =
                self.request.problem.together(self.packages[other.min(at)], self.packages[other.max(at)], arches);
            let (of_later, of_earlier) = together.named();
            rows.add(if at > other { of_later } else { of_earlier });
        }
        rows.filtered(&|row| constraint.admits(package.versions[row]))
    }

    /// What comes along unasked: a release of it must be what all ask for that it comes along with.
    fn relate_thirds(&mut self, arches: &[CpuArch]) {
        let problem = self.request.problem;
        let named = self.named();
        if named.len() < 2 || self.off.has(law::id::COMPANION) {
            return;
        }
        let vars: Vec<Var> = self.versions.iter().chain(&self.companions).copied().collect();
        for (at, (one, to)) in named.iter().zip(&vars).enumerate() {
            for (earlier, from) in named.iter().zip(&vars).take(at) {
                let thirds = problem.thirds(earlier, one, arches);
                if !thirds.is_empty(&named) {
                    let named = named.clone();
                    self.network.relate(*from, *to, move |one| thirds.with(one, &named));
                }
            }
        }
    }

    /// What comes along unasked and is compiled against one release of a framework has wheels for some lines of Python, of
    /// which that framework and what asks for it may have more.
    pub(super) fn relate_pythons(&mut self, python: &Choice<&'c Python>) {
        if [law::id::PYTHON, law::id::COMPANION].iter().any(|law| self.off.has(*law)) {
            return;
        }
        let problem = self.request.problem;
        for (ask, package) in self.request.companions.iter().zip(&self.packages) {
            let asked = Rc::new(package.matching(|row| ask.constraint.admits(&row.version)));
            for (&of, framework) in self.versions.iter().zip(&self.frameworks) {
                if !package.follows(framework.package) || self.leaves_triton(package, framework.package) {
                    continue;
                }
                let (package, framework, asked, lines) = (*package, *framework, asked.clone(), python.rows.clone());
                self.network.relate(of, python.var, move |version| {
                    let beside = (framework.package, framework.versions[version]);
                    RowSet::filter(lines.len(), |line| problem.goes_on((package, &asked), beside, &lines[line].version))
                });
            }
        }
    }

    /// What is asked for by name, frameworks first.
    fn named(&self) -> Vec<&'c str> {
        let frameworks = self.frameworks.iter().map(|one| one.package);
        frameworks.chain(self.packages.iter().map(|one| one.name)).collect()
    }

    /// The releases of packages: what they accept, and what they hold of their own.
    pub(super) fn add_packages(&mut self, group: &mut Group<'c>) {
        for at in 0..self.packages.len() {
            let package = self.packages[at];
            let because = vec![stack_key(package.name)];
            let var = self.network.variable(package.releases.len(), Order::Ascending, RowSet::default(), because);
            self.network.relate(self.companions[at], var, |version| package.of_version[version].clone());
            self.add_variant_clause(at, var, &group.releases);
            let arches = distinct(group.classes.iter().map(|&class| self.classes[class].target.arch));
            for &class in &group.classes {
                let mut rows = package_releases::of_class(self, &self.classes[class], package);
                if arches.len() > 1 {
                    rows.add(&package.wheels_beside(&rows));
                }
                self.given[class].push((var, rows));
            }
            for (&of, framework) in self.versions.iter().zip(&self.frameworks) {
                if !group.off.has(law::id::COMPANION) && !self.leaves_triton(package, framework.package) {
                    let framework = *framework;
                    self.network.relate(of, var, move |version| {
                        package.accepting(framework.package, framework.versions[version]).as_ref().clone()
                    });
                }
            }
            if let Some(python) = self.python.as_ref().filter(|_| !group.off.has(law::id::PYTHON)) {
                let lines = python.rows.clone();
                let problem = self.request.problem;
                self.network.relate(python.var, var, move |line| {
                    problem.for_python(package, &lines[line].version).as_ref().clone()
                });
            }
            for release in &group.releases {
                if !self.may_be_of_any_variant(at) {
                    self.relate_variants(group, release, (package, var));
                }
                self.relate_loaded(group, release, (package, var));
                self.relate_folders(group, release, (package, var));
                self.relate_cudnn(group, release, (package, var));
                if !self.policy.unknown {
                    self.relate_brought(group, release, (package, var));
                }
            }
            group.companions.push(Choice { var, rows: package.releases.clone() });
        }
    }

    /// The variant that is asked for of a package is that of its wheel, and of the framework that the wheel goes with.
    fn add_variant_clause(&mut self, at: usize, var: Var, releases: &[ReleaseChoice<'c>]) {
        let (request, package) = (self.request, self.packages[at]);
        let ask = &request.companions[at];
        if !ask.constraint.pins_variant() || self.may_be_of_any_variant(at) {
            return;
        }
        let rows = package.matching(|row| fits::may_be_variant(request.catalog, row, &ask.constraint));
        let mut admits = vec![(var, rows.clone())];
        for release in releases {
            if package.follows(release.framework.package) {
                let of_variant = |one: &Release<'c>| {
                    let mut own = rows.rows().map(|row| package.releases[row]);
                    ask.constraint.names_variant(one.variant)
                        || own.any(|row| fits::is_own_of(row, one.line.as_ref()) && !one.is_cpu())
                };
                admits.push((release.var, release.framework.matching(of_variant)));
            }
        }
        self.clause(ask.package, admits);
    }

    /// A wheel of a variant that nobody has seen may be there, for whatever that variant goes with.
    fn may_be_of_any_variant(&self, at: usize) -> bool {
        self.policy.possible && self.request.companions[at].names_unseen_variant(self.request.catalog)
    }

    /// The releases of a package are made for some builds of the framework they follow.
    fn relate_variants(
        &mut self,
        group: &Group<'c>,
        release: &ReleaseChoice<'c>,
        (package, var): (&'c Package<'c>, usize),
    ) {
        let request = self.request;
        let framework = release.framework;
        let concerns = move |row: &Companion| row.framework == framework.package || row.follows_cuda();
        if !package.releases.iter().any(|row| concerns(row)) {
            return;
        }
        let classes: Vec<Rc<Class>> = group.classes.iter().map(|&class| self.classes[class].clone()).collect();
        let on: Vec<Rc<Class>> = classes.clone();
        let unsaid: Vec<Rc<Class>> =
            classes.into_iter().filter(|class| class.target.platform.takes == Takes::Either).collect();
        // What follows another framework is not asked, nor what follows CUDA alone where there is none beside it.
        let not_asked = package.matching(|row| !concerns(row));
        let not_asked_beside_cpu = package.matching(|row| !concerns(row) || row.follows_cuda());
        // What loads the system's CUDA may have another minor release than the framework.
        let of_system = package.matching(|row| row.system_cuda);
        let follows = !group.off.has(law::id::COMPANION);
        let possible = self.policy.possible;
        let catalog = request.catalog;
        // That a wheel exists which nobody has seen is the last thing to count on; who names its variant asks for one that does.
        let names_variant =
            request.companions.iter().any(|ask| ask.package == package.name && ask.constraint.pins_variant());
        let own = package.matching(|row| row.url.is_some());
        let is_seen_first = !possible && (names_variant || !self.policy.unknown);
        let rules = self.rules_that_hold(package.name, Subject::Cuda, &group.off);
        self.network.relate(release.var, var, move |row| {
            let release = &framework.releases[row];
            let line = release.line.as_ref();
            let mut rows = match follows {
                true => package.made_for(release.variant).as_ref().clone(),
                false => RowSet::first(package.releases.len()),
            };
            if follows && names_variant {
                rows.add(&own.filtered(&|row| fits::is_own_of(package.releases[row], line)));
            }
            if follows && release.is_own() {
                rows.add(&package.matching(|row| fits::made_whatever_abi(row, release.variant, line)));
            }
            if follows && possible {
                rows.add(&package.may_be_made_for(catalog, release.variant));
            }
            if follows {
                for build in on.iter().filter_map(|class| release.on(class.target.platform)) {
                    rows.subtract(&request.problem.at_odds(package, build));
                    // What torch itself comes from PyPI with is PyPI's, too.
                    if is_seen_first && build.is_of_torch_index() && !build.is_own() && !build.is_in_image() {
                        rows.subtract(&package.unseen_for(catalog, release.variant, build.arch));
                    }
                }
                for class in &unsaid {
                    rows =
                        rows.filtered(&|row| fits::same_systems(class.target.platform, package.releases[row], release));
                }
            }
            // Of a whole major that JAX is made for the newest line is installed.
            let newest = line.map(|line| request.problem.newest_of(*line));
            let refusing = rules.iter().filter(|rule| newest.is_some_and(|line| !rule.needs.admits(&line)));
            for rule in refusing {
                let speaks_of = package.within(rule);
                rows = rows.filtered(&|row| of_system.has(row) || !speaks_of.has(row));
            }
            rows.add(if release.is_cpu() { &not_asked_beside_cpu } else { &not_asked });
            rows
        });
    }

    /// Of several libraries for one CUDA line each, the one that is loaded beside a framework asks for a C library, and holds
    /// code for some GPUs.
    fn relate_loaded(
        &mut self,
        group: &Group<'c>,
        release: &ReleaseChoice<'c>,
        (package, var): (&'c Package<'c>, usize),
    ) {
        let framework = release.framework;
        let [of_glibc, of_gpus] =
            [Subject::Glibc, Subject::Gpu].map(|object| self.request.rules.of_package(package.name, object));
        let loading = of_glibc.iter().chain(of_gpus.iter()).filter(|rule| rule.cuda.is_some());
        let is_broken = |rule: &&Needs| group.classes.iter().any(|&class| breaks(&self.classes[class], rule));
        let broken: Vec<&Needs> = loading.filter(is_broken).collect();
        if broken.is_empty() {
            return;
        }
        let following = package.matching(|row| row.framework == framework.package);
        self.network.relate(release.var, var, move |row| {
            let line = framework.releases[row].line.as_ref();
            let mut rows = RowSet::first(package.releases.len());
            let speaking = broken.iter().filter(|rule| rule.speaks_of_line(line));
            speaking.for_each(|rule| rows.subtract(&package.within(rule).intersection(&following)));
            rows
        });
    }

    /// Beside one framework a package loads the cuDNN that is installed, or the framework's.
    fn relate_cudnn(
        &mut self,
        group: &Group<'c>,
        release: &ReleaseChoice<'c>,
        (package, var): (&'c Package<'c>, usize),
    ) {
        if group.releases.len() > 1 {
            return;
        }
        let classes = group.classes.iter().map(|&class| &*self.classes[class]);
        let loading = classes.filter_map(|class| package_releases::loading_cudnn(self, class, package));
        let (loading, framework): (Vec<_>, _) = (loading.collect(), release.framework);
        if !loading.is_empty() {
            let all = RowSet::first(package.releases.len());
            self.network.relate(release.var, var, move |row| {
                let release = &framework.releases[row];
                loading.iter().fold(all.clone(), |rows, of_class| rows.intersection(&of_class(release)))
            });
        }
    }

    /// What a package brings along is known to go with the rest, as long as something does.
    fn relate_brought(
        &mut self,
        group: &Group<'c>,
        release: &ReleaseChoice<'c>,
        (package, var): (&'c Package<'c>, usize),
    ) {
        let gpus = |class: &Class<'_, 'c>| class.machine().kinds.iter().map(|kind| kind.gpu.cc).collect();
        let classes = group.classes.iter().map(|&class| &*self.classes[class]).filter(|class| !class.target.is_cpu());
        let machines: Vec<(CpuArch, Vec<Cc>)> = distinct(classes.map(|class| (class.target.arch, gpus(class))));
        let arches = distinct(machines.iter().map(|(arch, _)| *arch));
        let framework = release.framework;
        let brought = self.request.problem.brought(package, framework, &arches);
        if !brought.is_nothing() {
            let named = self.named();
            let beside = move |row: usize| brought.beside(&framework.releases[row], &machines, &named);
            self.network.relate(release.var, var, beside);
        }
    }

    /// The libraries that a package asks pip for go beside those of a framework.
    fn relate_folders(
        &mut self,
        group: &Group<'c>,
        release: &ReleaseChoice<'c>,
        (package, var): (&'c Package<'c>, usize),
    ) {
        let platforms = self.platforms(&group.classes, |_| true);
        if !package.asks_for_libraries() || group.off.has(law::id::LIBRARY_CUDA) {
            return;
        }
        let framework = release.framework;
        self.network.relate(release.var, var, move |row| {
            let release = &framework.releases[row];
            let fits = |row: &Companion, on: Platform<'c>| {
                row.asked(on.arch).all(|(of, _)| coinstall::has_folder_for(on, release, of))
            };
            package.matching(|row| platforms.iter().all(|&on| fits(row, on)))
        });
    }
}

/// The versions of a package that what is written of it admits by itself.
fn written_versions(ask: &PackageRequest<'_>, package: &Package<'_>) -> RowSet {
    package.versions_of(&package.matching(|row| ask.constraint.admits(&row.version)))
}

/// Whether the C library of a class's machine, or one of its GPUs, is known to break a rule.
fn breaks(class: &Class<'_, '_>, rule: &Needs<'_>) -> bool {
    let machine = class.machine();
    if machine.reading.is_cpu() || class.off.has(rule.id) {
        return false;
    }
    match rule.row.object {
        Subject::Gpu => machine.kinds.iter().any(|kind| !rule.needs.admits(&kind.gpu.cc_version)),
        _ => machine.reading.glibc.is_some_and(|has| !rule.needs.admits(&has)),
    }
}
