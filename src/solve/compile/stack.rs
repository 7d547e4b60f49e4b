//! The stack in the network: versions and releases of frameworks, and what is written of them.

use pubgrub::VersionSet;

use crate::catalog::LIBRARIES;
use crate::catalog::rows::Build;
use crate::types::{Version, distinct};

use super::{Class, ForwardCompat, Framework, Group, Package, Plan, ReleaseChoice, releases};
use crate::solve::coinstall;
use crate::solve::failing;
use crate::solve::libraries::{self, compiles_for};
use crate::solve::network::{Order, Var};
use crate::solve::platform::Platform;
use crate::solve::release::Release;
use crate::solve::request::{Direction, GpuRequest, ImageRequest, PackageRequest};
use crate::solve::rowset::RowSet;
use crate::solve::rules::law;

impl<'q, 'c> Plan<'q, 'c> {
    /// A version for each framework and package.
    pub(super) fn add_versions(&mut self) {
        let problem = self.request.problem;
        let asks: Vec<&PackageRequest> = self.request.frameworks.iter().chain(&self.request.companions).collect();
        let mut vars: Vec<Var> = vec![0; asks.len()];
        let (first, others): (Vec<usize>, Vec<usize>) = (0..asks.len()).partition(|&at| asks[at].before_all.is_some());
        let wished = first.len();
        for (place, at) in first.into_iter().chain(others).enumerate() {
            if place == wished {
                self.add_left_out();
                self.add_apart();
            }
            let ask = asks[at];
            let versions = match problem.framework(ask.package) {
                Some(framework) => &framework.versions,
                None => &problem.package(ask.package).expect("only what is known is asked for").versions,
            };
            let order = match ask.before_all {
                Some(Direction::Oldest) => Order::Descending,
                Some(Direction::Newest) => Order::Ascending,
                None => self.sparing.order(ask.package),
            };
            let because = self.asked_by(ask.package);
            vars[at] = self.variable(versions, (order, because), ask.package, |version| version.as_str());
        }
        self.frameworks = self.request.frameworks.iter().filter_map(|ask| problem.framework(ask.package)).collect();
        self.packages = self.request.companions.iter().filter_map(|ask| problem.package(ask.package)).collect();
        self.companions = vars.split_off(self.frameworks.len());
        self.versions = vars;
        self.relate_package_versions();
    }

    /// What goes beside the CUDA of `[packages]` comes before what is newer, as far as any of it does: the builds of one version
    /// may all be ruled out by something else. What an earlier lock chose comes before that.
    fn add_apart(&mut self) {
        let request = self.request;
        let is_settled = request.packages.is_empty() || request.targets.iter().all(|target| target.is_cpu());
        // Where it is asked only whether there is an answer, none comes before another.
        if is_settled || self.policy.forward_compat == ForwardCompat::All {
            return;
        }
        for (at, ask) in request.frameworks.iter().enumerate() {
            let framework = request.problem.framework(ask.package).filter(|_| !self.locked.contains_key(ask.package));
            let costs = framework.and_then(|framework| self.sparing.of_each(framework, |release| ask.takes(release)));
            if let Some(costs) = costs {
                let every = distinct(costs.iter().copied()).len();
                let var = self.network.variable(every, Order::Ascending, RowSet::default(), Vec::new());
                self.apart.push((at, var, costs));
            }
        }
    }

    /// The releases of frameworks, shared or for each class apart, then what goes beside them.
    pub(super) fn add_groups(&mut self) {
        let mut groups = Vec::new();
        for classes in self.together() {
            let mut releases = Vec::new();
            for at in 0..self.frameworks.len() {
                releases.push(self.add_release(&classes, at));
            }
            let off = self.off_in(classes.iter().copied());
            groups.push(Group {
                classes,
                releases,
                off,
                companions: Vec::new(),
                cudnn: None,
                nccl: None,
                cudas: Vec::new(),
            });
        }
        self.add_clauses(&groups);
        self.add_written_libraries(&groups);
        self.add_python(&groups);
        for group in &mut groups {
            self.relate_frameworks(group);
            self.add_packages(group);
            self.relate_tritons(group);
            self.add_system_libraries(group);
            self.add_framework_cudnn(group);
            self.add_framework_nccl(group);
        }
        self.groups = groups;
    }

    /// A framework's release for some classes.
    fn add_release(&mut self, classes: &[usize], at: usize) -> ReleaseChoice<'c> {
        let (request, framework) = (self.request, self.frameworks[at]);
        // Of one version the CPU build comes first where nothing else is needed, else last.
        let cpu_first = classes.iter().all(|&class| self.classes[class].target.is_cpu());
        let all = || RowSet::first(framework.releases.len());
        let before = if cpu_first { framework.cpu.clone() } else { all().minus(&framework.cpu) };
        let mut before = self.compiled_alike(classes, framework).map_or(before, |alike| alike.minus(&framework.cpu));
        // Of what is made for a single system a build that is known comes before one that may exist.
        for on in self.platforms(classes, |class| class.target.platform.is_one_system()) {
            before.subtract(&framework.unpublished(on));
        }
        let key = format!("{}.variant{}", framework.package, self.group_name(classes));
        let fails = self.failing(classes, framework);
        let mut left = Vec::new();
        for &class in classes {
            let mut rows = releases::of_class(self, &self.classes[class], framework, &request.frameworks[at]);
            self.leave_out_undriven(class, framework, &mut rows);
            left.push(rows);
        }
        self.leave_out_experimental(classes, at, &*fails, &mut left);
        // Of two variants of one version the one to install is that of which less is known to fail, first of all of what
        // `[packages]` loads beside it.
        let sparing = self.sparing.clone();
        let rank =
            Box::new(move |row: usize| sparing.of_release(framework, row) + usize::from(!before.has(row)) + fails(row));
        let is_locked =
            |of: &String| framework.matching(|one| of.split_once('+') == Some((one.version.as_str(), one.variant)));
        let first = self.locked.get(&key).map_or_else(RowSet::default, is_locked);
        let because = self.asked_by(framework.package);
        let var = self.network.variable(framework.releases.len(), Order::Ranked(rank), first, because);
        if let Some((_, of, costs)) = self.apart.iter().find(|one| one.0 == at && !cpu_first) {
            let costs = costs.clone();
            let (of, every) = (*of, distinct(costs.iter().copied()));
            self.network.relate(of, var, move |row| RowSet::filter(costs.len(), |at| costs[at] <= every[row]));
        }
        for (&class, rows) in classes.iter().zip(left) {
            self.given[class].push((self.versions[at], framework.versions_of(&rows)));
            self.given[class].push((var, rows));
        }
        self.network.relate(self.versions[at], var, |version| framework.of_version[version].clone());
        ReleaseChoice { var, framework }
    }

    /// How much of a release is known to fail on GPUs of these classes, where its own kernels run.
    fn failing(&self, classes: &[usize], framework: &'c Framework<'c>) -> Box<dyn Fn(usize) -> usize + 'q> {
        let problem = self.request.problem;
        let targets = classes.iter().map(|&class| self.classes[class].target);
        let gpus = targets.flat_map(|target| target.named_gpus().iter().map(|gpu| (target.platform, gpu)));
        let mut distinct: Vec<(Platform<'c>, &GpuRequest<'c>)> = Vec::new();
        for (on, gpu) in gpus {
            if !distinct.iter().any(|(other, known)| *other == on && (known.cc, &known.name) == (gpu.cc, &gpu.name)) {
                distinct.push((on, gpu));
            }
        }
        let known = distinct.into_iter().map(|(on, gpu)| (on, gpu, framework.failing(on, gpu))).collect::<Vec<_>>();
        Box::new(move |row| {
            let build = |on| framework.releases[row].on(on);
            let found = |on, gpu| build(on).map_or(0, |build| failing::failures_on(problem, build, gpu));
            known.iter().map(|(on, gpu, of)| *of[row].get_or_init(|| found(*on, gpu))).sum()
        })
    }

    /// Leaves out of what each class can have the builds that their publisher calls experimental, but for those that are named,
    /// and those of which less is known to fail than of every other build of their version.
    fn leave_out_experimental(
        &self,
        classes: &[usize],
        at: usize,
        fails: &dyn Fn(usize) -> usize,
        left: &mut [RowSet],
    ) {
        if self.policy.experimental || self.request.allow_experimental {
            return;
        }
        let (framework, ask) = (self.frameworks[at], &self.request.frameworks[at]);
        let of_classes = classes.iter().map(|&class| framework.experimental(self.classes[class].target.platform));
        let mut experimental = RowSet::default();
        of_classes.for_each(|rows| experimental.add(&rows));
        let is_named = |row: usize| ask.own || ask.constraint.names_variant(framework.releases[row].variant);
        experimental = experimental.filtered(&|row| !is_named(row));
        let common =
            left.iter().fold(framework.matching(|release| ask.takes(release)), |all, rows| all.intersection(rows));
        for of_version in framework.of_version.iter().map(|rows| rows.intersection(&common)) {
            let others = of_version.minus(&experimental).minus(&framework.cpu);
            let mine = of_version.intersection(&experimental);
            let least = if mine.is_empty() { None } else { others.rows().map(fails).min() };
            experimental.subtract(&mine.filtered(&|row| least.is_some_and(|least| fails(row) < least)));
        }
        left.iter_mut().for_each(|rows| rows.subtract(&experimental));
    }

    /// The releases of the CUDA line that each class compiles with, where that is said: torch warns of another minor. Without a
    /// `[build]` that is what comes as source.
    fn compiled_alike(&self, classes: &[usize], framework: &Framework<'c>) -> Option<RowSet> {
        let builds = self.request.build.is_some();
        let is_source = |(package, ask): (&&Package<'c>, &PackageRequest<'c>)| {
            let mut rows = package.releases.iter().filter(|row| ask.constraint.admits(&row.version)).peekable();
            package.follows(framework.package) && rows.peek().is_some() && rows.all(|row| row.sdist)
        };
        if !builds && !self.packages.iter().zip(&self.request.companions).any(is_source) {
            return None;
        }
        let mut alike: Option<RowSet> = None;
        for target in classes.iter().map(|&class| self.classes[class].target) {
            let compilers = match (&target.image, &target.toolkits) {
                (ImageRequest::Known(image), _) if builds => vec![image.cuda],
                (ImageRequest::No, Some(installed)) => installed.clone(),
                _ => continue,
            };
            let is_equal = |line: Version| compilers.iter().any(|has| has.cmp_prefix(&line).is_eq());
            let of_lines = framework.matching(|release| release.line.is_some_and(is_equal));
            alike = Some(alike.map_or(of_lines.clone(), |alike| alike.intersection(&of_lines)));
        }
        alike
    }

    /// A release that none of a machine's drivers runs is none for it, whichever of them is chosen: so PubGrub need not
    /// try each such release beside each driver.
    fn leave_out_undriven(&self, class: usize, framework: &Framework<'c>, rows: &mut RowSet) {
        let class_ = &self.classes[class];
        if class_.target.is_cpu() {
            return;
        }
        let drivers = self.drivers_of(class);
        rows.subtract(&class_.machine().undriven(self.request.problem, framework, drivers, &class_.off));
    }

    /// What `[stack]` says of frameworks, and of what comes inside them.
    fn add_clauses(&mut self, groups: &[Group<'c>]) {
        let request = self.request;
        for (at, ask) in request.frameworks.iter().enumerate() {
            if ask.constraint.is_any() {
                continue;
            }
            let framework = self.frameworks[at];
            let rows = framework.matching(|release| ask.takes(release));
            let versions = (self.versions[at], framework.versions_of(&rows));
            let releases = groups.iter().map(|group| (group.releases[at].var, rows.clone()));
            self.clause(ask.package, std::iter::once(versions).chain(releases).collect());
        }
        self.add_cuda_clause(groups);
        let possible = self.policy.possible;
        // What no release for a CUDA major is called, no build for that comes with.
        let is_for = |cuda: Version, line: Option<Version>| line.is_none_or(|line| line.major() == cuda.major());
        for (library, _) in LIBRARIES {
            let Some(wanted) = request.part(library) else { continue };
            let named = request.catalog.releases_of(library).filter(|one| wanted.admits(&one.version));
            let named: Vec<_> = if possible { named.collect() } else { Vec::new() };
            let may = |line, within: &dyn Fn(&Version) -> bool| {
                wanted.is_any() || named.iter().any(|one| is_for(one.cuda, line) && within(&one.version))
            };
            let is_met = |build: &Build| {
                build.part(library).map_or_else(|| may(build.line(), &|_| true), |has| wanted.admits(has))
            };
            let is_left = if library == "cudnn" { coinstall::takes_newer } else { coinstall::leaves_open };
            let brings = |build: &Build| is_left(build) || is_met(build);
            let admits = self.releases_of(groups, with_builds(library, &brings, &may));
            self.clause_on_releases(library, admits);
        }
    }

    /// What `cuda` says of lines: a build is of its own, and one that leaves its libraries open of that of the toolkit
    /// release which is installed for it.
    fn add_cuda_clause(&mut self, groups: &[Group<'c>]) {
        let request = self.request;
        let Some(wanted) = &request.cuda_line else { return };
        let toolkits = || request.catalog.toolkits.iter().map(|row| row.version);
        let may_be = |line: Version| {
            // Of a line whose releases are known, one that none of them is called is none.
            let mut releases = toolkits().filter(|release| release.cmp_prefix(&line).is_eq()).peekable();
            let named = |release: Version| request.cuda.as_ref().is_none_or(|cuda| cuda.admits(&release));
            wanted.admits(&line) && (releases.peek().is_none() || releases.any(named))
        };
        let plan = &*self;
        let of_line = |group: &Group<'c>, framework: &Framework<'c>, on: Platform<'c>| {
            let problem = request.problem;
            let classes: Vec<&Class> = group.classes.iter().map(|&class| &*plan.classes[class]).collect();
            let is_met = |release: &Release<'c>, line: Version| {
                let is_asked = |kit: Version| kit.major() == line.major() && may_be(kit.prefix(2));
                let serves = |class: &Class<'_, '_>, build, kit: &Version| {
                    let (machine, off) = (class.machine(), &class.off);
                    compiles_for(request.catalog, machine, kit) && libraries::load(problem, machine, off, build, kit)
                };
                let kits = release.on(on).map(|build| (build, problem.kits_for(build)));
                let Some((build, kits)) = kits.filter(|(_, kits)| !kits.is_empty()) else {
                    return may_be(problem.newest_of(line));
                };
                let serves = |kit: &Version| classes.iter().all(|class| serves(class, build, kit));
                kits.iter().any(|kit| is_asked(*kit) && serves(kit))
            };
            framework.matching(|release| release.is_cpu() || release.line.is_some_and(|line| is_met(release, line)))
        };
        let admits = self.releases_of(groups, of_line);
        self.clause_on_releases("cuda", admits);
    }

    /// Releases of every framework, which may be others for each class.
    fn releases_of(
        &self,
        groups: &[Group<'c>],
        admitted: impl Fn(&Group<'c>, &Framework<'c>, Platform<'c>) -> RowSet,
    ) -> Vec<(Var, RowSet)> {
        let mut admits = Vec::new();
        for group in groups {
            for on in self.platforms(&group.classes, |_| true) {
                admits.extend(group.releases.iter().map(|of| (of.var, admitted(group, of.framework, on))));
            }
        }
        admits
    }

    /// What a key says of releases, if there are any.
    fn clause_on_releases(&mut self, name: &str, admits: Vec<(Var, RowSet)>) {
        if !admits.is_empty() {
            self.clause(name, admits);
        }
    }

    /// Frameworks that are asked for together go into one environment.
    fn relate_frameworks(&mut self, group: &Group<'c>) {
        let platforms = self.platforms(&group.classes, |class| !class.off.has(law::id::TOGETHER));
        for (at, one) in group.releases.iter().enumerate() {
            for other in &group.releases[at + 1..] {
                for &on in &platforms {
                    let (problem, of, beside) = (self.request.problem, one.framework, other.framework);
                    let goes = move |row| problem.beside(of, row, beside, on).as_ref().clone();
                    self.network.relate(one.var, other.var, goes);
                }
            }
        }
    }
}

/// Whether a build for a line of CUDA may come with a library among some releases.
type May<'a> = dyn Fn(Option<Version>, &dyn Fn(&Version) -> bool) -> bool + 'a;

/// The releases that have a build for a kind of machine of which something holds, or none with CUDA; of an unseen build it
/// holds where it may for its line of CUDA, with a library no older than in the build before it and no newer than in that
/// after it.
fn with_builds<'a, 'c>(
    library: &'a str,
    holds: &'a dyn Fn(&Build) -> bool,
    may: &'a May<'a>,
) -> impl Fn(&Group<'c>, &Framework<'c>, Platform<'c>) -> RowSet + 'a {
    move |_, framework, on| {
        let of_unseen = |release: &Release<'c>| {
            let around = framework.around(release, on).map(|build| build.and_then(|build| build.part(library)));
            let [before, after] = around;
            let within = |one: &Version| before.is_none_or(|of| of <= one) && after.is_none_or(|of| one <= of);
            !framework.is_unseen(release, on) || may(release.line, &within)
        };
        framework.matching(|release| release.is_cpu() || release.on(on).map_or_else(|| of_unseen(release), holds))
    }
}
