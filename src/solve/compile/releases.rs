//! The releases of a framework that a class of targets can have, whatever else is chosen.

use super::{Class, Framework, Plan};
use crate::catalog::rows::{Build, Subject, Text};
use crate::solve::coinstall;
use crate::solve::libraries::{self, compiles_for};
use crate::solve::machine::Machine;
use crate::solve::request::{Gpus, ImageRequest, PackageRequest};
use crate::solve::rowset::RowSet;
use crate::solve::rules::law;
use crate::spec::Share;
use crate::types::Version;

/// The releases that a class can have.
pub(super) fn of_class<'c>(
    plan: &Plan<'_, 'c>,
    class: &Class<'_, 'c>,
    framework: &Framework<'c>,
    ask: &PackageRequest<'c>,
) -> RowSet {
    let rows = RowSet::first(framework.releases.len());
    let mut eligible = Eligible { plan, class, machine: class.machine(), framework, ask, rows };
    eligible.published();
    eligible.with_c_library();
    eligible.cpu_builds();
    eligible.experimental();
    eligible.read();
    eligible.of_arch_list();
    eligible.beside_installed();
    eligible.admitted_by_rules();
    eligible.rows
}

/// What is left of a framework's releases. Each step takes some away.
struct Eligible<'a, 'q, 'c> {
    plan: &'a Plan<'q, 'c>,
    class: &'a Class<'q, 'c>,
    machine: &'a Machine<'c>,
    framework: &'a Framework<'c>,
    ask: &'a PackageRequest<'c>,
    rows: RowSet,
}

impl<'c> Eligible<'_, '_, 'c> {
    fn holds(&self, rule: usize) -> bool {
        !self.class.off.has(rule)
    }

    /// Whether the release of a row was asked for by its variant.
    fn is_named(&self, row: usize) -> bool {
        self.ask.own || self.ask.constraint.names_variant(self.framework.releases[row].variant)
    }

    /// Those whose build satisfies something, or has none here.
    fn keep_builds(&mut self, serves: impl Fn(&'c Build) -> bool) {
        let (framework, on) = (self.framework, self.machine.reading.platform);
        self.rows = self.rows.filtered(&|row| framework.releases[row].on(on).is_none_or(&serves));
    }

    fn published(&mut self) {
        let (framework, ask, on) = (self.framework, self.ask, self.machine.reading.platform);
        let mut missing = framework.unpublished(on).as_ref().clone();
        // Of what is made for single systems only a release that somebody names is thought of.
        let is_named = ask.constraint.single().is_some();
        if self.plan.policy.possible && (is_named || !on.is_one_system()) {
            missing.subtract(&framework.unseen(on));
        }
        self.rows.subtract(&missing);
        self.rows.subtract(
            &framework
                .yanked(self.plan.request.catalog)
                .filtered(&|row| !ask.names_alone(framework.releases[row].version)),
        );
        // A snapshot that is asked for by its name is no other build of its release.
        if ask.names_prerelease() {
            self.keep_builds(|build| ask.takes_build(build));
        }
        self.rows.subtract(&framework.laid.filtered(&|row| !ask.takes(&framework.releases[row])));
    }

    fn with_c_library(&mut self) {
        if !self.holds(law::id::GLIBC) {
            return;
        }
        let reading = &self.machine.reading;
        if let Some(has) = reading.glibc {
            self.rows.subtract(&self.framework.newer_glibc(reading.platform, has));
            self.with_wheels_of_cuda(has);
        }
        if reading.os.is_some_and(|os| os.musl) {
            self.rows = RowSet::default();
        }
    }

    /// Those for which some release of what they leave open knows the GPUs and has wheels for the C library.
    fn with_wheels_of_cuda(&mut self, has: Version) {
        let (problem, machine, off) = (self.plan.request.problem, self.machine, &self.class.off);
        let is_new =
            |text: &Text| text.split(' ').nth(1).is_some_and(|needs| Version::parse(needs).is_ok_and(|it| it > has));
        if !problem.kits().iter().any(|kit| kit.row.newer_glibc.iter().any(is_new)) {
            return;
        }
        self.keep_builds(|build| {
            let kits = problem.kits_for(build);
            let mut knowing = kits.iter().filter(|kit| compiles_for(problem.catalog, machine, kit)).peekable();
            knowing.peek().is_none() || knowing.any(|kit| libraries::load(problem, machine, off, build, kit))
        });
    }

    fn cpu_builds(&mut self) {
        let (request, target, framework) = (self.plan.request, &self.machine.reading, self.framework);
        let names_cpu = |ask: &PackageRequest<'_>| ask.constraint.names_variant("cpu");
        let fits = match &target.gpus {
            Gpus::Cpu => true,
            Gpus::Unsaid => self.ask.own || names_cpu(self.ask) || request.companions.iter().any(names_cpu),
            Gpus::These(_) => false,
        };
        if !fits && self.holds(law::id::CPU_BUILD) {
            self.rows.subtract(&framework.cpu);
        }
        let only_cpu = || request.share == Share::Versions || request.targets.iter().all(|target| target.is_cpu());
        // Where no such build of a release was seen, its CUDA build does as well, but only when nothing else fits.
        if target.is_cpu() && only_cpu() && !self.plan.policy.unknown {
            self.rows = self.rows.filtered(&|row| framework.cpu.has(row) || self.is_named(row));
        }
    }

    fn experimental(&mut self) {
        if !self.plan.policy.experimental && !self.plan.request.allow_experimental {
            let experimental = self.framework.experimental(self.machine.reading.platform);
            self.rows.subtract(&experimental.filtered(&|row| !self.is_named(row)));
        }
    }

    /// Those whose GPU code is known, and that no rule speaks against which nobody has proven.
    fn read(&mut self) {
        let (machine, framework, on) = (self.machine, self.framework, self.machine.reading.platform);
        if self.plan.policy.unknown || !matches!(machine.reading.gpus, Gpus::These(_)) {
            return;
        }
        self.rows.subtract(&framework.unknown_code(on));
        for kind in &machine.kinds {
            self.rows.subtract(&framework.disputed_code(on, kind.gpu.cc));
            let unproven = self.plan.request.rules.unproven_on(framework.package, &kind.gpu.cc_version);
            for rule in unproven.filter(|rule| !self.class.off.has(rule.id)) {
                self.rows.subtract(&framework.within(rule));
            }
        }
    }

    /// Those that compile extensions for all of the list that is asked for.
    fn of_arch_list(&mut self) {
        let list = self.plan.request.build.as_ref().and_then(|build| build.arch_list.as_ref());
        let Some(list) = list.filter(|_| self.holds(law::id::EXTENSION_ARCH)) else { return };
        let (framework, on) = (self.framework, self.machine.reading.platform);
        self.rows = self.rows.filtered(&|row| {
            let archs = framework.releases[row].extension_archs(on).filter(|_| !framework.cpu.has(row));
            archs.is_none_or(|archs| list.entries().iter().all(|entry| archs.contains(&entry.arch)))
        });
    }

    /// Those that run with the cuDNN and the toolkits that are installed.
    fn beside_installed(&mut self) {
        let (request, target) = (self.plan.request, &self.machine.reading);
        if let Some(installed) = target.cudnn.filter(|_| self.holds(law::id::SYSTEM_CUDNN)) {
            let runs = self.machine.takes_cudnn(&installed, &self.class.off);
            let wanted = request.cudnn.as_ref();
            self.keep_builds(|build| (runs || !build.system_cuda) && coinstall::loads(build, &installed, wanted));
        }
        // In an image it is the image's.
        let installed = target.toolkits.as_ref().filter(|_| matches!(target.image, ImageRequest::No));
        if let Some(installed) = installed.filter(|_| self.holds(law::id::SYSTEM_CUDA)) {
            self.keep_builds(|build| coinstall::finds_cuda(build, installed));
        }
    }

    /// Those that the rules about this host and its GPUs admit.
    fn admitted_by_rules(&mut self) {
        let (request, machine, framework) = (self.plan.request, self.machine, self.framework);
        let (on, off) = (machine.reading.platform, &self.class.off);
        for rule in machine.host.iter().filter(|rule| rule.row.subject == Subject::Package && !off.has(rule.id)) {
            if rule.row.package.as_deref() == Some(framework.package) && rule.toolkit.is_none() {
                self.rows.subtract(&framework.within(rule));
            }
        }
        let of_package = request.rules.of_package(framework.package, Subject::Gpu);
        for kind in &machine.kinds {
            if !off.has(law::id::COVERAGE) {
                self.rows.subtract(&framework.uncovered(on, kind.gpu.cc));
            }
            for rule in of_package.iter().filter(|rule| !off.has(rule.id) && !rule.needs.admits(&kind.gpu.cc_version)) {
                self.rows.subtract(&framework.within(rule));
            }
            for rule in kind.cuda.iter().filter(|rule| !off.has(rule.id)) {
                self.rows.subtract(&framework.refused_line(rule, |line| request.problem.newest_of(line)));
            }
            for rule in kind.cudnn.iter().filter(|rule| !off.has(rule.id)) {
                self.rows.subtract(&framework.refused_cudnn(on, rule));
            }
        }
    }
}
