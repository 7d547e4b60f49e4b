//! The releases of a package that follows a framework which a class of targets can have, whatever else is chosen.

use std::rc::Rc;

use pubgrub::VersionSet;

use super::{Class, Package, Plan};
use crate::catalog::rows::{Companion, Subject};
use crate::solve::machine::Machine;
use crate::solve::problem::Along;
use crate::solve::release::Release;
use crate::solve::request::{ImageRequest, PackageRequest, Request};
use crate::solve::rowset::RowSet;
use crate::solve::rules::{Needs, law};
use crate::solve::{fits, heeded, unseen};
use crate::spec::Share;
use crate::types::{Constraint, CpuArch, Version, nvidia};

/// The releases that a class can have.
pub(super) fn of_class<'c>(plan: &Plan<'_, 'c>, class: &Class<'_, 'c>, package: &Package<'c>) -> RowSet {
    let ask = plan.request.companions.iter().find(|ask| ask.package == package.name);
    let rows = RowSet::first(package.releases.len());
    let mut installable = Installable { plan, class, machine: class.machine(), package, ask, rows };
    installable.published();
    installable.with_c_library();
    installable.admitted_by_host();
    installable.covering_gpus();
    installable.serving_installed();
    installable.finding_installed();
    installable.beside_installed();
    // It adds some again.
    installable.of_one_system();
    installable.rows
}

/// The releases of a package that load CUDA's libraries from the toolkits that are installed, for nothing brings them.
pub(super) fn loading_installed<'c>(plan: &Plan<'_, 'c>, class: &Class<'_, 'c>, package: &Package<'c>) -> RowSet {
    let (problem, arch) = (plan.request.problem, class.target.arch);
    let all = Installable { plan, class, machine: class.machine(), package, ask: None, rows: RowSet::default() };
    if all.installed().is_none() {
        return RowSet::default();
    }
    let loads = |_: &Along<'_>, one: &Companion| one.system_cuda.then_some(());
    let comes_along = |row| problem.lacking(package, row, arch, loads).is_some();
    let loading = RowSet::filter(package.releases.len(), |row| {
        package.releases[row].system_cuda || comes_along(row) && !problem.brings_toolkit(package, row, arch)
    });
    loading.minus(&all.kept())
}

/// Whether pip installs a library of NVIDIA's for something beside a package.
fn is_brought(request: &Request<'_>, package: &Package<'_>, arch: CpuArch, is_it: fn(&str) -> bool) -> bool {
    let brings = |ask: &PackageRequest<'_>| {
        let wants = request.problem.wants(ask.package);
        let mut rows = request.catalog.companions.of(ask.package).iter();
        rows.any(|row| wants.at_row(row, &[arch]).iter().any(|(of, _)| is_it(of)))
    };
    let mut others = request.companions.iter().filter(|ask| ask.package != package.name);
    others.any(brings) || request.packages.iter().any(|(name, _)| is_it(name))
}

fn is_cudnn(name: &str) -> bool {
    nvidia::is(nvidia::CUDNN, name)
}

/// The releases of a package that load a cuDNN which a class has beside a build of the one framework: what is installed, else
/// what that brings. All where nobody says what is installed, or knows what is brought. The name of the file tells the major.
pub(super) fn loading_cudnn<'c>(
    plan: &Plan<'_, 'c>,
    class: &Class<'_, 'c>,
    package: &'c Package<'c>,
) -> Option<impl Fn(&Release<'c>) -> RowSet + use<'c>> {
    let (request, target) = (plan.request, &class.machine().reading);
    let in_image = match &target.image {
        ImageRequest::No => None,
        ImageRequest::Known(image) => image.cudnn,
        _ => return None,
    };
    let installed =
        target.cudnn.filter(|_| !target.is_cpu() && !is_brought(request, package, target.arch, is_cudnn))?;
    let there: Vec<Version> = [installed].into_iter().chain(in_image).collect();
    let platform = target.platform;
    let rules = request.rules.of_package(package.name, Subject::Cudnn);
    let rules = rules.iter().filter(|rule| !class.off.has(rule.id));
    let loading: Vec<(Constraint, Rc<RowSet>)> =
        rules.map(|rule| (rule.needs.cut_to(1), package.within(rule))).collect();
    Some(move |release: &Release<'c>| {
        let mut rows = RowSet::first(package.releases.len());
        let Some(build) = release.on(platform) else { return rows };
        let brings = !build.is_cpu() && !build.system_cuda;
        if brings && build.cudnn.is_none() {
            return rows;
        }
        let there = || there.iter().chain(build.cudnn.as_ref().filter(|_| brings));
        let missing = loading.iter().filter(|(needs, _)| !there().any(|has| needs.admits(&has.prefix(1))));
        missing.for_each(|(_, loading)| rows.subtract(loading));
        rows
    })
}

/// What is left of a package's releases. Each step takes some away.
struct Installable<'a, 'q, 'c> {
    plan: &'a Plan<'q, 'c>,
    class: &'a Class<'q, 'c>,
    machine: &'a Machine<'c>,
    package: &'a Package<'c>,
    /// What `[stack]` asks for of it.
    ask: Option<&'a PackageRequest<'c>>,
    rows: RowSet,
}

impl<'a, 'c> Installable<'a, '_, 'c> {
    fn holds(&self, rule: usize) -> bool {
        !self.class.off.has(rule)
    }

    /// The rules about the package and something else, whatever CUDA is loaded, which the target does not set aside.
    fn rules_about(&self, object: Subject) -> Vec<&'a Needs<'c>> {
        let rules = self.plan.request.rules.of_package(self.package.name, object);
        rules.iter().filter(|rule| rule.cuda.is_none() && self.holds(rule.id)).collect()
    }

    fn published(&mut self) {
        let (package, arch, ask) = (self.package, self.machine.reading.arch, self.ask);
        self.rows = self.rows.filtered(&|row| !package.releases[row].is_source_beside_wheels(arch));
        if !self.holds(law::id::PUBLISHED) {
            return;
        }
        self.rows.subtract(&package.elsewhere(self.machine.reading.platform));
        self.rows.subtract(&package.gone());
        let is_named = |row: usize| ask.is_some_and(|ask| ask.names_alone(&package.releases[row].version));
        self.rows.subtract(&package.yanked(self.plan.request.catalog).filtered(&|row| !is_named(row)));
        self.rows.subtract(&self.plan.request.problem.lacking_wheels(package, arch));
    }

    fn with_c_library(&mut self) {
        if !self.holds(law::id::GLIBC) {
            return;
        }
        let (package, reading) = (self.package, &self.machine.reading);
        if let Some(has) = reading.glibc {
            self.rows.subtract(&package.newer_glibc(reading.arch, has, reading.is_cpu()));
            self.rows.subtract(&self.plan.request.problem.lacking_glibc(package, reading.arch, has));
        }
        if reading.os.is_some_and(|os| os.musl) {
            self.rows = self.rows.filtered(&|row| package.releases[row].sdist);
        }
    }

    /// Those that the rules about the libraries of the host admit.
    fn admitted_by_host(&mut self) {
        let reading = &self.machine.reading;
        for (object, has) in [(Subject::Libstdcxx, reading.libstdcxx()), (Subject::Glibc, reading.glibc)] {
            let Some(has) = has.filter(|_| !reading.is_cpu()) else { continue };
            for rule in self.rules_about(object).into_iter().filter(|rule| !rule.needs.admits(&has)) {
                self.rows.subtract(&self.package.within(rule));
            }
        }
    }

    /// Those that hold code for the GPUs, and that the rules about these admit.
    fn covering_gpus(&mut self) {
        let (package, catalog, arch) = (self.package, self.plan.request.catalog, self.machine.reading.arch);
        let rules = self.rules_about(Subject::Gpu);
        for kind in &self.machine.kinds {
            if self.holds(law::id::COVERAGE) {
                self.rows.subtract(&package.uncovered(catalog, arch, kind.gpu.cc));
                if !self.plan.policy.unknown {
                    self.rows.subtract(&package.doubtful(catalog, arch, kind.gpu.cc));
                }
            }
            for rule in rules.iter().filter(|rule| !rule.needs.admits(&kind.gpu.cc_version)) {
                self.rows.subtract(&package.within(rule));
            }
        }
    }

    /// Those that the CUDA and the cuDNN which are installed serve, where they load those.
    fn serving_installed(&mut self) {
        let (request, package, target) = (self.plan.request, self.package, &self.machine.reading);
        let off = &self.class.off;
        // What looks for CUDA itself finds what is installed.
        let rules = request.rules.of_package(package.name, Subject::Toolkit);
        let archs = request.archs();
        for rule in rules.iter().filter(|rule| !off.has(rule.id)) {
            let serves = |installed: &[Version]| installed.iter().any(|toolkit| rule.needs.admits(toolkit));
            let gpus = || self.machine.kinds.iter().map(|kind| &kind.gpu.cc_version);
            let finds = |row: &Companion| {
                let installed = heeded::installed_toolkits(target, row);
                installed.is_some_and(|has| !serves(has)) && rule.speaks_of(&row.version, gpus(), archs)
            };
            self.rows.subtract(&package.within(rule).intersection(&package.matching(finds)));
        }
        // What no framework brings is what is installed, whichever GPUs that holds code for.
        let installed = heeded::installed_cudnn(request, target);
        if installed.is_some_and(|has| !self.machine.takes_cudnn(&has, off)) {
            let loading = request.rules.of_package(package.name, Subject::Cudnn);
            self.rows = self.rows.filtered(&|row| loading.about(&package.releases[row].version).next().is_none());
        }
    }

    /// Whether packages load the CUDA and the cuDNN of the system: there is no framework that brings any, and no image.
    fn loads_of_system(&self) -> bool {
        let target = &self.machine.reading;
        !self.plan.request.has_framework && !target.is_cpu() && matches!(target.image, ImageRequest::No)
    }

    /// The toolkits of which a package loads the libraries: all that are there, unless pip installs them.
    fn installed(&self) -> Option<&'a [Version]> {
        let target = &self.machine.reading;
        let toolkits = target.toolkits.as_deref();
        let bind = self.loads_of_system() && self.holds(law::id::SYSTEM_CUDA);
        toolkits.filter(|_| bind && !is_brought(self.plan.request, self.package, target.arch, nvidia::is_of_toolkit))
    }

    /// Builds that their project may keep elsewhere for a CUDA that is installed: of these nobody knows what they load.
    fn kept(&self) -> RowSet {
        let Some(has) = self.installed().filter(|_| self.plan.policy.possible) else { return RowSet::default() };
        let catalog = self.plan.request.catalog;
        self.package.matching(|row| !fits::finds_cuda(row, has) && unseen::kept_for_any(catalog, row, has).is_some())
    }

    /// Those that find the CUDA and the cuDNN which they load among what is installed, unless pip installs it.
    fn finding_installed(&mut self) {
        let (request, package, target) = (self.plan.request, self.package, &self.machine.reading);
        if !self.loads_of_system() {
            return;
        }
        let installed = self.installed();
        let finds = |row: &Companion| installed.is_none_or(|installed| fits::finds_cuda(row, installed));
        let kept = self.kept();
        self.rows.subtract(&package.matching(|row| !finds(row)).minus(&kept));
        let misses = |_: &Along<'_>, one: &Companion| (!finds(one)).then_some(());
        self.rows = self.rows.filtered(&|row| {
            request.problem.lacking(package, row, target.arch, misses).is_none()
                || request.problem.brings_toolkit(package, row, target.arch)
        });
        // The name of the file tells the major; an older release of it is warned of, for it may do.
        let is_there = || request.cudnn.is_none() && !is_brought(request, package, target.arch, is_cudnn);
        let cudnn = target.cudnn.filter(|_| is_there());
        if let Some(major) = cudnn.map(|installed| installed.prefix(1)) {
            let is_of_another = |rule: &&&Needs| !rule.needs.cut_to(1).admits(&major);
            for rule in self.rules_about(Subject::Cudnn).iter().filter(is_of_another) {
                self.rows.subtract(&package.within(rule).minus(&kept));
            }
        }
    }

    /// Of a package that loads what is installed, those for that, if any of those that are asked for is.
    fn beside_installed(&mut self) {
        let (request, package, target) = (self.plan.request, self.package, &self.machine.reading);
        let is_system = self.loads_of_system();
        let Some(ask) = self.ask.filter(|_| is_system && !self.plan.policy.unknown) else { return };
        let loading = request.rules.of_package(package.name, Subject::Cudnn);
        let finds_cuda = |row: &Companion, toolkits: &[Version]| row.system_cuda && fits::finds_cuda(row, toolkits);
        let finds_cudnn =
            |row: &Companion, cudnn: &Version| loading.about(&row.version).all(|rule| rule.needs.admits(cudnn));
        let finds: [&dyn Fn(&Companion) -> bool; 2] =
            [&|row| target.toolkits.as_ref().is_none_or(|toolkits| finds_cuda(row, toolkits)), &|row| {
                target.cudnn.is_none_or(|cudnn| finds_cudnn(row, &cudnn))
            }];
        for finds in finds {
            let found = self.rows.filtered(&|row| finds(package.releases[row]));
            if found.rows().any(|row| ask.constraint.admits(&package.releases[row].version)) {
                self.rows = found;
            }
        }
    }

    /// What is made for a single system lies where nobody has read all: that a wheel was not seen proves nothing, and what
    /// the others hold tells nothing of it. Machines of other systems can never share it.
    fn of_one_system(&mut self) {
        let (plan, on) = (self.plan, self.machine.reading.platform);
        let is_alone =
            plan.request.share != Share::Stack || plan.classes.iter().all(|other| other.target.platform == on);
        if plan.policy.possible && on.is_one_system() && is_alone {
            self.rows.add(&self.package.elsewhere(on));
        }
    }
}
