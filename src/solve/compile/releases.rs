//! The releases of a framework that a class of targets can have, whatever else is chosen.

use super::{Class, Framework, Plan};
use crate::catalog::rows::Build;
use crate::solve::coinstall;
use crate::solve::machine::Machine;
use crate::solve::request::{Gpus, ImageRequest, PackageRequest};
use crate::solve::rowset::RowSet;
use crate::solve::rules::law;
use crate::spec::Share;
use crate::types::variant::PLAIN;

/// The releases that a class can have.
pub(super) fn of_class<'c>(
    plan: &Plan<'_, 'c>,
    class: &Class<'_, 'c>,
    framework: &Framework<'c>,
    ask: &PackageRequest<'c>,
) -> RowSet {
    let machine = class.machine();
    let problem = plan.request.problem;
    let of_machine = (&class.off, plan.policy.unknown);
    let rows = RowSet::clone(&machine.hosts(problem, framework, of_machine, &|build| problem.kits_for(build)));
    let mut eligible = Eligible { plan, class, machine, framework, ask, rows };
    eligible.published();
    eligible.cpu_builds();
    eligible.of_arch_list();
    eligible.beside_installed();
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

    fn cpu_builds(&mut self) {
        let (request, target, framework) = (self.plan.request, &self.machine.reading, self.framework);
        let names_cpu = |ask: &PackageRequest<'_>| ask.constraint.names_variant("cpu");
        let fits = match &target.gpus {
            Gpus::Cpu => true,
            Gpus::Unsaid => self.ask.own || names_cpu(self.ask) || request.companions.iter().any(names_cpu),
            // Beside a framework that computes on the GPU another one may leave it alone, where somebody says so.
            Gpus::These(_) => names_cpu(self.ask) && request.frameworks.iter().any(|other| !names_cpu(other)),
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
        // Without the extra that brings them, a wheel is taken where the CUDA and the cuDNN of the system are told.
        let are_told = match &target.image {
            ImageRequest::No => target.toolkits.is_some() && target.cudnn.is_some(),
            ImageRequest::Known(image) => image.cudnn.is_some() || target.cudnn.is_some(),
            _ => false,
        };
        if !are_told {
            self.keep_builds(|build| !build.variant.ends_with(PLAIN));
        }
    }
}
