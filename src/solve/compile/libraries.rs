//! CUDA, cuDNN and NCCL in the network, where no framework brings its own, and the cuDNN that frameworks leave open.

use std::rc::Rc;

use pubgrub::VersionSet;

use crate::catalog::rows::{Build, Companion, Cudnn, Nccl, Subject, Toolkit};
use crate::types::nvidia::RUNTIME;
use crate::types::{Constraint, Specifier, Version, distinct};

use super::{Choice, Class, Group, Package, PackageRequest, Plan, package_releases, stack_key};
use crate::solve::coinstall;
use crate::solve::driver_row::DriverRow;
use crate::solve::fits;
use crate::solve::kits::Kit;
use crate::solve::libraries;
use crate::solve::network::{Order, Says, Var};
use crate::solve::platform::Platform;
use crate::solve::request::{ImageRequest, Request};
use crate::solve::rowset::RowSet;
use crate::solve::rules::law;
use crate::solve::unseen;
use crate::solve::wants::Want;

impl<'c> Plan<'_, 'c> {
    /// Without a framework that brings its own, CUDA, cuDNN and NCCL are those of the system.
    pub(super) fn add_system_libraries(&mut self, group: &mut Group<'c>) {
        let request = self.request;
        if !request.frameworks.is_empty() {
            return;
        }
        let gpu_classes: Vec<usize> =
            group.classes.iter().copied().filter(|&class| !self.classes[class].target.is_cpu()).collect();
        let inside_image = gpu_classes
            .iter()
            .any(|&class| matches!(self.classes[class].target.image, ImageRequest::Known(_) | ImageRequest::Choose(_)));
        if request.cudnn.is_some() && !inside_image {
            let cudnn = self.cudnn(&gpu_classes);
            self.relate_packages_to_cudnn(group, &cudnn);
            group.cudnn = Some(cudnn);
        }
        if request.nccl.is_some() {
            group.nccl = Some(self.nccl(&gpu_classes));
        }
        // Those that carry their CUDA inside take none from the system, and those that compute on the CPU there need none.
        let takes = |row: &Companion| {
            let platforms = gpu_classes.iter().map(|&class| self.classes[class].target.platform);
            let is_on_gpus =
                |on: &Platform<'_>| on.takes_companion(row) && !(row.gpu_code && row.cpu_only.contains(&on.arch));
            row.follows_cuda()
                && platforms.filter(is_on_gpus).any(|on| fits::carried_line(request.catalog, row, on.arch).is_none())
        };
        let follow_cuda = || {
            let mut asked = self.packages.iter().zip(&request.companions);
            asked.any(|(package, ask)| {
                package.releases.iter().any(|row| ask.constraint.admits(&row.version) && takes(row))
            })
        };
        let asked = || request.cuda.is_some() || request.cudnn.is_some() || request.nccl.is_some();
        // Where something is compiled, a toolkit is chosen for that; what its packages load is of one CUDA all the same.
        let is_chosen = follow_cuda() || request.build.is_none() && asked();
        if is_chosen && !gpu_classes.is_empty() {
            for classes in self.with_one_cuda(&gpu_classes) {
                let rows = request.problem.toolkits();
                let order = Order::before(self.preferred_toolkits(&classes, &rows));
                let var = self.variable(&rows, (order, vec![stack_key("cuda")]), "cuda", |row| row.version.as_str());
                self.add_toolkit_clause(var, &rows, None);
                for &class in &classes {
                    let (machine, off) = (self.classes[class].machine(), &self.classes[class].off);
                    let runs = RowSet::filter(rows.len(), |row| machine.takes_line(&rows[row].version, off));
                    self.given[class].push((var, runs));
                }
                let cuda = Choice { var, rows };
                self.add_written_pieces(&cuda);
                self.relate_libraries(group, &cuda);
                self.relate_packages_to_cuda(group, &classes, &cuda);
                group.cudas.push((classes, cuda));
            }
        }
    }

    /// The classes that have one CUDA: all of them; but where those that are there, in images or as toolkits, are of several
    /// lines, each line's by themselves. A wheel that follows a CUDA major runs with each; of what pip brings there is one.
    fn with_one_cuda(&self, classes: &[usize]) -> Vec<Vec<usize>> {
        let named = |class: usize| -> Vec<Version> {
            let target = self.classes[class].target;
            match &target.image {
                ImageRequest::Known(image) => vec![image.cuda],
                ImageRequest::No => target.toolkits.iter().flat_map(|toolkits| toolkits.iter().copied()).collect(),
                _ => Vec::new(),
            }
        };
        let lines = distinct(classes.iter().map(|&class| named(class)));
        if lines.len() < 2 || self.brings_cuda() {
            return vec![classes.to_vec()];
        }
        lines.iter().map(|lines| classes.iter().copied().filter(|&class| named(class) == *lines).collect()).collect()
    }

    /// Whether pip brings some of CUDA for a package: of that there is one in an environment.
    pub(super) fn brings_cuda(&self) -> bool {
        let brings = |(&package, ask): (&&'c Package<'c>, &PackageRequest<'_>)| {
            let mut releases = package.releases.iter().zip(package.pieces(self.request.problem));
            releases.any(|(row, asks)| ask.constraint.admits(&row.version) && !asks.is_empty())
        };
        self.packages.iter().zip(&self.request.companions).any(brings)
    }

    /// The toolkits of the system that are tried first: those that are there, for what loads them or compiles with them does
    /// so with these, if the GPU may, and of them those that the drivers know; where none of them does for the packages, those
    /// that the drivers know.
    fn preferred_toolkits(&self, classes: &[usize], rows: &[&Toolkit]) -> RowSet {
        let request = self.request;
        let asked = self.packages.iter().zip(&request.companions);
        let asked = asked.map(|(package, ask)| -> Vec<&Companion> {
            package.releases.iter().filter(|one| ask.constraint.admits(&one.version)).copied().collect()
        });
        let asked: Vec<_> = asked.collect();
        let is_followed = |row: usize| {
            let follows = |one: &&Companion| fits::companion_line(one, Some(&rows[row].version));
            asked.iter().all(|releases| releases.iter().any(follows))
        };
        let installed = |row: usize| {
            classes.iter().all(|&class| {
                let (target, off) = (self.classes[class].target, &self.classes[class].off);
                let is_there = match &target.image {
                    ImageRequest::No => is_among(&rows[row].version, target.toolkits.as_deref()),
                    ImageRequest::Known(image) => is_among(&rows[row].version, Some(&[image.cuda])),
                    _ => false,
                };
                is_there && self.classes[class].machine().takes_line(&rows[row].version, off)
            })
        };
        let reached = RowSet::filter(rows.len(), |row| self.is_reached(classes, &rows[row].version));
        let there = RowSet::filter(rows.len(), |row| is_followed(row) && installed(row));
        let both = [there.intersection(&reached), there, reached];
        both.into_iter().find(|rows| !rows.is_empty()).unwrap_or_default()
    }

    /// Whether every driver that is pinned knows a CUDA by itself: no newer one is chosen freely.
    fn is_reached(&self, classes: &[usize], cuda: &Version) -> bool {
        let targets = classes.iter().map(|&class| self.classes[class].target).filter(|target| target.pins_driver());
        let mut known = targets.filter_map(|target| {
            let drivers = target.machine.drivers(self.request.problem);
            drivers.rows.first().and_then(DriverRow::cuda).copied()
        });
        known.all(|known| cuda.prefix(2) <= known)
    }

    /// The toolkits that `cuda` admits. A line of which only components were published is not offered to somebody who did
    /// not name it, in `cuda` or as installed.
    pub(super) fn add_toolkit_clause(&mut self, var: Var, rows: &Rc<[&'c Toolkit]>, installed: Option<&[Version]>) {
        let wanted = self.request.cuda.as_ref();
        let offered = RowSet::filter(rows.len(), |row| {
            !rows[row].components_only || names_line(wanted, installed, &rows[row].version)
        });
        self.network.restrict(var, &offered);
        if let Some(wanted) = wanted {
            let admitted = RowSet::filter(rows.len(), |row| wanted.admits(&rows[row].version));
            self.clause("cuda", vec![(var, admitted)]);
        }
    }

    /// A release of cuDNN for some classes.
    fn cudnn(&mut self, classes: &[usize]) -> Choice<&'c Cudnn> {
        let request = self.request;
        let cudnn = self.library("cudnn", request.problem.cudnns(), |row| &row.version, request.cudnn.as_ref());
        self.admit_cudnn(classes, &cudnn);
        cudnn
    }

    /// A release of NCCL for some classes.
    fn nccl(&mut self, classes: &[usize]) -> Choice<&'c Nccl> {
        let request = self.request;
        let nccl = self.library("nccl", request.problem.nccls(), |row| &row.version, request.nccl.as_ref());
        for &class in classes {
            let of = &self.classes[class];
            let loads = RowSet::filter(nccl.rows.len(), |row| of.machine().loads(nccl.rows[row].glibc, &of.off));
            self.given[class].push((nccl.var, loads));
        }
        nccl
    }

    /// A release of a library, as `[stack]` asks for it.
    fn library<T>(
        &mut self,
        name: &str,
        rows: Rc<[&'c T]>,
        version: impl Fn(&T) -> &Version,
        wanted: Option<&Constraint>,
    ) -> Choice<&'c T> {
        let order = (Order::Ascending, vec![stack_key(name)]);
        let var = self.variable(&rows, order, name, |row| version(row).as_str());
        if let Some(wanted) = wanted {
            let admitted = RowSet::filter(rows.len(), |row| wanted.admits(version(rows[row])));
            self.clause(name, vec![(var, admitted)]);
        }
        Choice { var, rows }
    }

    /// Some cuDNN releases have left GPUs behind, and the wheels of some are for newer systems.
    fn admit_cudnn(&mut self, classes: &[usize], Choice { var, rows }: &Choice<&'c Cudnn>) {
        for &class in classes {
            let (machine, off) = (self.classes[class].machine(), &self.classes[class].off);
            let mut takes = RowSet::filter(rows.len(), |row| machine.takes_cudnn(&rows[row].version, off));
            // Where no framework brings one, what is installed is the one; a release that nobody knows is no row.
            let alone = self.request.frameworks.is_empty() && !off.has(law::id::SYSTEM_CUDNN);
            if let Some(installed) = machine.reading.cudnn.filter(|_| alone) {
                let same = RowSet::filter(rows.len(), |row| rows[row].version.cmp_prefix(&installed).is_eq());
                if !same.is_empty() {
                    takes.retain(&same);
                }
            } else {
                takes = takes.filtered(&|row| machine.loads(rows[row].glibc, off));
            }
            self.given[class].push((*var, takes));
        }
    }

    /// A library built for one CUDA line or major runs with its releases.
    pub(super) fn relate_libraries(&mut self, group: &Group<'c>, toolkit: &Choice<&'c Toolkit>) {
        if group.off.has(law::id::LIBRARY_CUDA) {
            return;
        }
        let problem = self.request.problem;
        if let Some(Choice { var, rows }) = group.cudnn.clone() {
            // Of cuDNN nobody knows that a release was not published for one CUDA line more.
            let possible = self.policy.possible;
            self.network.relate(var, toolkit.var, move |row| {
                let of_line = problem.toolkits_of(rows[row].cuda);
                if possible { of_line.union(&problem.toolkits_perhaps_of(rows[row])) } else { RowSet::clone(&of_line) }
            });
        }
        if let Some(Choice { var, rows }) = group.nccl.clone() {
            self.network.relate(var, toolkit.var, move |row| RowSet::clone(&problem.toolkits_of(rows[row].cuda)));
        }
    }

    /// The cuDNN that is asked for is the one that packages load: it is one that they can.
    fn relate_packages_to_cudnn(&mut self, group: &Group<'c>, cudnn: &Choice<&'c Cudnn>) {
        for (chosen, &package) in group.companions.iter().zip(&self.packages) {
            let rules = self.rules_that_hold(package.name, Subject::Cudnn, &group.off);
            if rules.is_empty() {
                continue;
            }
            let cudnns = cudnn.rows.clone();
            self.network.relate(cudnn.var, chosen.var, move |row| {
                let mut loading = RowSet::first(package.releases.len());
                let refusing = rules.iter().filter(|rule| !rule.needs.admits(&cudnns[row].version));
                refusing.for_each(|rule| loading.subtract(&package.within(rule)));
                loading
            });
        }
    }

    /// A package that follows a CUDA major runs with its releases, as far as its rules admit them.
    fn relate_packages_to_cuda(&mut self, group: &Group<'c>, classes: &[usize], cuda: &Choice<&'c Toolkit>) {
        let follows = !group.off.has(law::id::COMPANION);
        for (chosen, &package) in group.companions.iter().zip(&self.packages) {
            let rules = self.rules_that_hold(package.name, Subject::Cuda, &group.off);
            let (packages, toolkits) = (chosen.rows.clone(), cuda.rows.clone());
            let (catalog, possible) = (self.request.catalog, self.policy.possible);
            let (kits, pieces) = (self.request.problem.kits(), package.pieces(self.request.problem));
            let classes: Vec<Rc<Class>> = classes.iter().map(|&class| self.classes[class].clone()).collect();
            let loading = classes.iter().map(|class| package_releases::loading_installed(self, class, package));
            let loading: Vec<(Rc<Class>, RowSet)> = classes.iter().cloned().zip(loading).collect();
            let lacks = move |kit: &Kit<'_>, piece: &str| {
                let needs = |class: &Class<'_, '_>| kit.needs_glibc(piece, class.machine().reading.arch);
                classes.iter().any(|class| !class.machine().loads(needs(class), &class.off))
            };
            self.network.relate(cuda.var, chosen.var, move |row| {
                let line = toolkits[row].version;
                // What pip installs as the runtime for a package is the CUDA that the lock names.
                let kit = kits.iter().find(|kit| kit.version == line);
                let refuses = |(piece, range): &Want<'_>| {
                    let range = Specifier::parse(range).ok().filter(|_| piece.starts_with(RUNTIME));
                    let goes = |kit: &Kit<'_>| range.is_none_or(|range| kit.goes_with(piece, &range));
                    kit.is_some_and(|kit| lacks(kit, piece) || !goes(kit))
                };
                let may_be_for = |row: &Companion| possible && unseen::kept_for(catalog, row, &line).is_some();
                let is_for = |row: &Companion| fits::companion_line(row, Some(&line)) || may_be_for(row);
                let goes = |at: usize| is_for(packages[at]) && !pieces[at].iter().any(refuses);
                let mut rows = RowSet::filter(packages.len(), |at| !follows || goes(at));
                let refusing = rules.iter().filter(|rule| !rule.needs.admits(&line));
                refusing.for_each(|rule| rows.subtract(&package.within(rule)));
                let lacks_it = |class: &Class<'_, '_>| !is_among(&line, class.target.toolkits.as_deref());
                let elsewhere = loading.iter().filter(|(class, _)| lacks_it(class));
                elsewhere.for_each(|(_, loading)| rows.subtract(loading));
                rows
            });
        }
    }

    /// Where frameworks ask for a least cuDNN, the one to be installed: a lock that left it open would be judged with one
    /// and installed with another.
    pub(super) fn add_framework_cudnn(&mut self, group: &mut Group<'c>) {
        let request = self.request;
        let classes: Vec<Rc<Class>> = group.classes.iter().map(|&class| self.classes[class].clone()).collect();
        let open = group.releases.iter().any(|release| {
            let mut rows = self.given_to(group, release.var);
            rows.retain(&self.network.admitted(release.var));
            classes.iter().any(|class| {
                must_choose(request, class, release.framework, &rows)
                    || release.framework.leaves_open(class.target.platform).meets(&rows)
            })
        });
        if !open {
            return;
        }
        let cudnn = self.cudnn(&group.classes);
        let platforms = self.platforms_of_shared(group);
        for release in &group.releases {
            // Beside one that brings its own, what loads the system's asks for nothing of that.
            let others = group.releases.iter().filter(|other| other.var != release.var);
            let apart = others.into_iter().any(|other| !other.framework.takes_system_cuda(false));
            for &on in &platforms {
                let (catalog, framework, may) = (request.catalog, release.framework, self.policy.possible);
                let partners = move |row: usize| {
                    let brings = |build: &Build| build.pins.is_some();
                    match apart && framework.releases[row].on(on).is_some_and(|build| !brings(build)) {
                        true => RowSet::first(catalog.cudnns.len()),
                        false => framework.cudnns(catalog, on, row, may).as_ref().clone(),
                    }
                };
                self.network.relate(release.var, cudnn.var, partners);
            }
        }
        group.cudnn = Some(cudnn);
    }

    /// The kinds of machines on which what is installed of a library must be one that every framework accepts: of one
    /// framework all, of several where nobody has set aside that they share it.
    fn platforms_of_shared(&self, group: &Group<'c>) -> Vec<Platform<'c>> {
        let alone = group.releases.len() == 1;
        self.platforms(&group.classes, |class| alone || !class.off.has(law::id::TOGETHER))
    }

    /// Where frameworks ask for a least NCCL, the one to be installed.
    pub(super) fn add_framework_nccl(&mut self, group: &mut Group<'c>) {
        let platforms = self.platforms(&group.classes, |_| true);
        let open = group.releases.iter().any(|release| {
            let mut rows = self.given_to(group, release.var);
            rows.retain(&self.network.admitted(release.var));
            platforms.iter().any(|&on| release.framework.leaves_open(on).meets(&rows))
        });
        if !open || group.nccl.is_some() {
            return;
        }
        let nccl = self.nccl(&group.classes);
        let platforms = self.platforms_of_shared(group);
        for release in &group.releases {
            for &on in &platforms {
                let (framework, rows) = (release.framework, nccl.rows.clone());
                let partners = move |row: usize| coinstall::nccls_of(&rows, on, &framework.releases[row]);
                self.network.relate(release.var, nccl.var, partners);
            }
        }
        group.nccl = Some(nccl);
    }

    /// What `[packages]` says of NVIDIA's libraries: an environment has one of each, so it must be one that the frameworks
    /// accept.
    pub(super) fn add_written_libraries(&mut self, groups: &[Group<'c>]) {
        if self.off.has(law::id::TOGETHER) {
            return;
        }
        let request = self.request;
        let written: Vec<(&str, &Specifier)> = request.libraries().collect();
        for at in 0..written.len() {
            let mut admits = Vec::new();
            for (release, &class) in groups.iter().flat_map(|group| {
                group.releases.iter().flat_map(|release| group.classes.iter().map(move |class| (release, class)))
            }) {
                let (on, machine) = (self.classes[class].target.platform, self.classes[class].machine());
                let found = |build: &Build| {
                    libraries::are_found(request.problem, machine, build, &written[..=at], self.policy.possible)
                };
                admits.push((release.var, release.framework.matching(|of| of.on(on).is_none_or(found))));
            }
            if !admits.is_empty() {
                self.network.premise(Says::Key(format!("packages.{}", written[at].0)), admits);
            }
        }
    }

    /// What no framework brings is of the CUDA whose pieces `[packages]` names, where it names any.
    fn add_written_pieces(&mut self, cuda: &Choice<&'c Toolkit>) {
        for (name, range) in self.request.libraries() {
            let lines = libraries::lines_with(self.request.problem, name, range);
            if !lines.is_empty() {
                let of_line = RowSet::filter(cuda.rows.len(), |row| lines.contains(&cuda.rows[row].version.prefix(2)));
                self.network.premise(Says::Key(format!("packages.{name}")), vec![(cuda.var, of_line)]);
            }
        }
    }

    /// What the machines of a group admit of a variable.
    fn given_to(&self, group: &Group<'c>, var: Var) -> RowSet {
        let mut rows = self.network.rows(var).clone();
        for &class in &group.classes {
            self.given[class].iter().filter(|(of, _)| *of == var).for_each(|(_, admitted)| rows.retain(admitted));
        }
        rows
    }
}

/// Whether for some of a framework's releases the newest cuDNN that it accepts does not do.
fn must_choose<'c>(
    request: &Request<'c>,
    class: &Class<'_, 'c>,
    framework: &super::Framework<'c>,
    rows: &RowSet,
) -> bool {
    let on = class.target.platform;
    let mut open = framework.takes_newer_cudnn(on).as_ref().clone();
    open.retain(rows);
    let takes = |cudnn: &Version| class.machine().takes_cudnn(cudnn, &class.off);
    let builds = open.rows().filter_map(|row| framework.releases[row].on(on));
    builds.into_iter().any(|build| coinstall::must_choose(request.catalog, build, request.cudnn.as_ref(), takes))
}

/// Whether a toolkit is one of those that are installed.
fn is_among(toolkit: &Version, installed: Option<&[Version]>) -> bool {
    installed.into_iter().flatten().any(|has| toolkit.cmp_prefix(has).is_eq())
}

/// Whether a toolkit's line is named, in `cuda` or as installed.
fn names_line(wanted: Option<&Constraint>, installed: Option<&[Version]>, toolkit: &Version) -> bool {
    let named = |version: &Version| version.len() > 1 && toolkit.cmp_prefix(version).is_eq();
    let mut bounds = wanted.into_iter().flat_map(Constraint::comparisons).filter(|one| one.op.is_lower());
    bounds.any(|one| one.version.as_ref().is_some_and(named)) || installed.into_iter().flatten().any(named)
}
