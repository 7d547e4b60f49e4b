//! Which things go together: every law that is code and every rule of the catalog, asked one pair at a time.
//!
//! Functions that answer for one thing return the rule that refuses it, `None` if nothing does; those that
//! answer for a pair return whether the two fit. A rule set aside by the question refuses nothing.

use std::cmp::Ordering;
use std::hash::Hash;

use crate::catalog::Catalog;
use crate::catalog::rows::{Build, Companion, Extension, Image, Status, Subject, Toolkit};
use crate::coverage::{Coverage, Tegra, covers, covers_targets};
use crate::words::{Arch, ArchList, Cc, Constraint, CpuArch, Suffix, Version};

use super::class::{Class, GpuRules};
use super::driver::DriverRow;
use super::image;
use super::plan::Policy;
use super::platform::Takes;
use super::question::{Ask, Gpus, Question, TargetAsk};
use super::release::Release;
use super::rulebook::{Needs, law};
use super::shared;

/// A refusal that no rule carries: the user's own clause, or a build kept for when nothing else fits.
const NOT_ASKED: &str = "";

pub use crate::catalog::rows::line_of;

/// Why a release cannot be a class's, whatever else is chosen.
pub fn release<'q, 'c>(
    question: &'q Question<'c>,
    class: &'q Class<'_, 'c>,
    framework: usize,
    release: &Release<'c>,
    policy: Policy<'_>,
) -> Option<&'q str> {
    let target = class.target;
    let holds = |rule: &str| question.holds(rule, &target.name);
    let Some(build) = release.on(target.platform) else { return Some(law::PUBLISHED) };
    let constraint = &question.frameworks[framework].constraint;
    let is_cpu = release.is_cpu();
    let cpu_fits = match &target.gpus {
        Gpus::Cpu => true,
        Gpus::Unsaid => constraint.names_variant("cpu"),
        Gpus::These(_) => false,
    };
    if is_cpu && !cpu_fits && holds(law::CPU_BUILD) {
        return Some(law::CPU_BUILD);
    }
    let only_cpu = question.targets.iter().all(TargetAsk::is_cpu) || question.share == crate::spec::Share::Versions;
    if !is_cpu
        && target.is_cpu()
        && only_cpu
        && !constraint.names_variant(release.variant)
        && !policy.unknown
        && has_cpu_builds(question, build)
    {
        return Some(NOT_ASKED);
    }
    if holds(law::GLIBC) && target.glibc.as_ref().zip(build.glibc.as_ref()).is_some_and(|(has, needs)| has < needs) {
        return Some(law::GLIBC);
    }
    if is_cpu {
        return None;
    }
    if let Some(refused) = eligibility(question, constraint, build, target, policy) {
        return Some(refused);
    }
    let line = release.line.map(|line| question.newest_of(line));
    let unasked = |wanted: &Option<Constraint>, has: Option<&Version>| {
        wanted.as_ref().is_some_and(|wanted| !has.map_or(wanted.is_any() || policy.unknown, |has| wanted.admits(has)))
    };
    if question.cuda_line.as_ref().is_some_and(|wanted| line.as_ref().is_none_or(|line| !wanted.admits(line)))
        || !shared::takes_newer(build) && unasked(&question.cudnn, build.cudnn.as_ref())
        || unasked(&question.nccl, build.nccl.as_ref())
    {
        return Some(NOT_ASKED);
    }
    if let Some(refused) = extension_known(question, class, release).or_else(|| compiler(class, build)) {
        return Some(refused);
    }
    let by_gpu = class.gpus.iter().find_map(|gpu| {
        let reach = || question.rules.reach(build, gpu.gpu.cc, tegra(release.toolkit(target.platform)));
        let uncovered = holds(law::COVERAGE) && build.arch_source.is_some() && reach() == Coverage::None;
        let by_coverage = uncovered.then_some(law::COVERAGE);
        by_coverage
            .or_else(|| line.as_ref().and_then(|line| line_refusal(gpu, line)))
            .or_else(|| build.cudnn.as_ref().and_then(|cudnn| cudnn_refusal(gpu, cudnn)))
    });
    by_gpu.or_else(|| (!shared::some_cudnn(question, class, build)).then_some(NOT_ASKED))
}

/// Whether a framework comes without GPU code at all on a platform. Where such a build of the release at hand was
/// not seen published, its CUDA build does as well, but only when nothing else fits.
pub fn has_cpu_builds(question: &Question<'_>, build: &Build) -> bool {
    let mut of_package = question.catalog.builds.iter().filter(|row| row.package == build.package);
    of_package.any(|row| row.variant == "cpu" && row.arch == build.arch)
}

/// Experimental builds and builds of unknown contents wait until nothing else fits.
fn eligibility(
    question: &Question<'_>,
    constraint: &Constraint,
    build: &Build,
    target: &TargetAsk<'_>,
    policy: Policy<'_>,
) -> Option<&'static str> {
    let named = constraint.names_variant(&build.variant);
    let experimental = build.status == Status::Experimental && !build.default && !named;
    if experimental && !policy.experimental && !question.allow_experimental {
        return Some(NOT_ASKED);
    }
    let unknown = build.arch_source.is_none() && matches!(target.gpus, Gpus::These(_));
    (unknown && !policy.unknown).then_some(NOT_ASKED)
}

/// How a build reaches a GPU; none if the catalog does not know its contents.
pub fn coverage(build: &Build, toolkit: Option<&Toolkit>, gpu: &GpuRules<'_, '_>) -> Option<Coverage> {
    build.arch_source.as_ref()?;
    Some(covers_targets(build.sass.iter().copied(), build.ptx.iter().copied(), gpu.gpu.cc, tegra(toolkit)))
}

/// How integrated GPUs load what a toolkit compiled.
pub fn tegra(toolkit: Option<&Toolkit>) -> Tegra {
    if toolkit.is_some_and(|toolkit| toolkit.tegra_unified) { Tegra::Unified } else { Tegra::Apart }
}

fn line_refusal<'c>(gpu: &GpuRules<'_, 'c>, line: &Version) -> Option<&'c str> {
    gpu.cuda.iter().find(|needs| !needs.needs.admits(line)).map(|needs| &*needs.row.id)
}

/// Why a class's GPUs cannot run a CUDA line.
pub fn line<'c>(_: &Question<'c>, class: &Class<'_, 'c>, line: &Version) -> Option<&'c str> {
    class.gpus.iter().find_map(|gpu| line_refusal(gpu, line))
}

/// What a build's need of Python depends on: builds equal in this have wheels for the same lines.
pub fn pythons_of(build: &Build) -> (&[Version], Option<usize>) {
    // What a list that is not whole may lack is told by other builds of its series.
    (&build.pythons, build.pythons_partial.then(|| std::ptr::from_ref(build).addr()))
}

/// Whether a build has wheels for a Python line.
pub fn python(question: &Question<'_>, build: &Build, line: &Version, policy: Policy<'_>) -> bool {
    // A project chooses its Pythons by release: a list that is not whole may lack some of these, but no others.
    let unseen = || question.rules.release_has_python(question.catalog, build, line);
    build.pythons.contains(line)
        || (build.pythons_partial && policy.unknown && unseen())
        || !question.holds(law::PYTHON, "")
}

/// Why a package that follows a framework cannot be a class's, whatever else is chosen.
pub fn companion(question: &Question<'_>, class: &Class<'_, '_>, row: &Companion) -> Option<&'static str> {
    let target = class.target;
    let broken = |rule: &'static str, broken: bool| (broken && question.holds(rule, &target.name)).then_some(rule);
    let elsewhere = !target.platform.takes_companion(row);
    let too_old = target.glibc.as_ref().zip(row.glibc.as_ref()).is_some_and(|(has, needs)| has < needs);
    let unreached =
        || class.gpus.iter().any(|gpu| companion_code(row, target.arch, gpu.gpu.cc) == Some(Coverage::None));
    broken(law::PUBLISHED, elsewhere)
        .or_else(|| broken(law::GLIBC, too_old))
        .or_else(|| broken(law::COVERAGE, unreached()))
}

/// Whether a package was made for a release of its framework: its variant, and a CUDA that goes with its own.
pub fn made_for(row: &Companion, release: &Release<'_>) -> bool {
    row.variant.as_ref().is_none_or(|variant| variant == release.variant) && companion_line(row, release.line.as_ref())
}

/// Whether a package and a release are made for the same systems, beside a target of which nobody has said its own.
pub fn same_systems(target: &TargetAsk<'_>, row: &Companion, release: &Release<'_>) -> bool {
    let systems = || release.on(target.platform).map(|build| build.systems).unwrap_or_default();
    row.sdist || row.systems == systems()
}

/// How the GPU code that a package cannot do without reaches a GPU; none if it has none, or nobody has read it.
pub fn companion_code(row: &Companion, arch: CpuArch, gpu: Cc) -> Option<Coverage> {
    let (sass, ptx) = companion_targets(row, arch);
    let known = row.gpu_code && !(sass.is_empty() && ptx.is_empty());
    known.then(|| covers_targets(sass.iter().copied(), ptx.iter().copied(), gpu, Tegra::Apart))
}

/// The machine code and PTX inside the wheel of a package that follows a framework, as far as they were read.
pub fn companion_targets(row: &Companion, arch: CpuArch) -> (&[Arch], &[Arch]) {
    match arch {
        CpuArch::X86_64 => (&row.sass, &row.ptx),
        CpuArch::Aarch64 => (&row.arm_sass, &[]),
    }
}

/// Whether a package that loads a CUDA runtime runs beside a build: one process holds one CUDA major.
pub fn companion_line(row: &Companion, line: Option<&Version>) -> bool {
    row.cuda.as_ref().is_none_or(|cuda| line.is_some_and(|line| line.cmp_prefix(cuda).is_eq()))
}

/// Whether a library built for one CUDA line or major runs with a CUDA release.
pub fn same_line(question: &Question<'_>, built_for: &Version, release: &Version) -> bool {
    release.cmp_prefix(built_for).is_eq() || !question.holds(law::LIBRARY_CUDA, "")
}

/// What something needs of a driver: worked out once, then asked of many drivers.
#[derive(Debug)]
pub struct DriverNeed<'a> {
    /// Whether no driver will do.
    unmet: bool,
    /// The CUDA line that is to run; none where no GPU is used, and so no cuda-compat either.
    line: Option<Version>,
    /// What the line needs of a driver without cuda-compat.
    needs: Vec<&'a Constraint>,
    /// The first branch whose JIT knows the PTX that is to be compiled.
    jit: Option<&'a Version>,
}

impl DriverNeed<'_> {
    /// Whether a driver will do.
    pub fn is_met_by(&self, driver: &DriverRow<'_>) -> bool {
        let user_mode = driver.user_mode();
        let runs = match (&self.line, driver.compat) {
            (None, compat) => compat.is_none(),
            (Some(line), Some(compat)) => compat.cuda >= *line,
            (Some(_), None) => self.needs.iter().all(|needs| needs.admits(user_mode)),
        };
        runs && !self.unmet && self.jit.is_none_or(|branch| user_mode.major() >= branch.major())
    }

    /// The same beside PTX of a toolkit, which is compiled when it is loaded.
    fn and_jit<'a>(self, question: &'a Question<'_>, class: &Class<'_, '_>, toolkit: Option<&Toolkit>) -> DriverNeed<'a>
    where
        Self: 'a,
    {
        if !question.holds(law::PTX_DRIVER, &class.target.name) && toolkit.is_some() {
            return self;
        }
        let isa = toolkit.and_then(|of| question.catalog.ptx_isas.iter().find(|row| row.isa == of.ptx_isa));
        let jit = isa.and_then(|isa| isa.branch.as_ref());
        DriverNeed { unmet: self.unmet || jit.is_none(), jit, ..self }
    }
}

/// What a release needs of a driver, for every GPU of the class.
pub fn release_driver<'a>(question: &'a Question<'_>, class: &Class<'_, '_>, release: &Release<'_>) -> DriverNeed<'a> {
    let Some(line) = &release.line else {
        return DriverNeed { unmet: false, line: None, needs: Vec::new(), jit: None };
    };
    let need = line_driver(question, class, *line);
    let need = DriverNeed { unmet: release.on(class.target.platform).is_none(), ..need };
    if jits(class, release) { need.and_jit(question, class, release.toolkit(class.target.platform)) } else { need }
}

/// Whether some GPU of the class is reached by a release's PTX only.
fn jits(class: &Class<'_, '_>, release: &Release<'_>) -> bool {
    let platform = class.target.platform;
    let by_ptx = |build: &Build, gpu| coverage(build, release.toolkit(platform), gpu) == Some(Coverage::Jit);
    let build = release.on(platform).filter(|build| !build.ptx.is_empty());
    build.is_some_and(|build| class.gpus.iter().any(|gpu| by_ptx(build, gpu)))
}

/// What a release's need of drivers depends on: releases equal in this run on the same drivers.
pub fn driver_need<'c>(class: &Class<'_, '_>, release: &Release<'c>) -> (&'c str, bool, Option<&'c str>) {
    let isa = release.toolkit(class.target.platform).filter(|_| jits(class, release));
    (release.variant, release.on(class.target.platform).is_some(), isa.map(|toolkit| toolkit.ptx_isa.as_str()))
}

/// What a CUDA line needs of a driver.
pub fn line_driver<'a>(question: &'a Question<'_>, class: &Class<'_, '_>, line: Version) -> DriverNeed<'a> {
    let rules = question.rules.about(Subject::Cuda, &line, Subject::Driver);
    let held = rules.filter(|needs| question.holds(&needs.row.id, &class.target.name));
    DriverNeed { unmet: false, line: Some(line.prefix(2)), needs: held.map(|needs| &needs.needs).collect(), jit: None }
}

/// An image as a place to run in.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The image.
    pub image: &'a Image,
    /// The C library found there, as far as anybody knows.
    pub glibc: Option<&'a Version>,
}

/// An image as the place where a class's stack runs.
pub fn place<'a, 'c>(question: &'a Question<'c>, class: &'a Class<'_, 'c>, image: &'c Image) -> Place<'a> {
    let of_image = || question.rules.glibc_in(question.catalog, image);
    Place { image, glibc: class.target.glibc.as_ref().or_else(of_image) }
}

/// What a release's need of images depends on: releases equal in this run in the same images.
pub fn image_need<'c>(class: &Class<'_, '_>, release: &Release<'c>) -> impl Hash + Eq + use<'c> {
    let build = release.on(class.target.platform);
    let system = build.filter(|build| build.system_cuda).map(|build| (release.variant, build.cudnn.as_ref()));
    build.map(|build| (build.glibc.as_ref(), system))
}

/// Whether a release runs in an image.
pub fn release_image(
    question: &Question<'_>,
    class: &Class<'_, '_>,
    release: &Release<'_>,
    Place { image, glibc }: &Place<'_>,
) -> bool {
    let target = class.target;
    let Some(build) = release.on(target.platform) else { return false };
    let glibc_fits = glibc.zip(build.glibc.as_ref()).is_none_or(|(has, needs)| has >= needs);
    let serves = || image::serves(question, class, build, release.line.as_ref(), image);
    (glibc_fits || !question.holds(law::GLIBC, &target.name))
        && (serves() || !question.holds(law::IMAGE_HOLDS, &target.name))
}

/// What torch's extension builder of a release accepts.
pub fn extension_row<'c>(catalog: &'c Catalog, package: &str, version: &Version) -> Option<&'c Extension> {
    let rows = catalog.extensions.iter().filter(|row| row.from <= *version && row.package == package);
    rows.max_by(|a, b| a.from.cmp(&b.from))
}

/// Why a build's extension builder refuses the list insisted on.
fn extension_known(question: &Question<'_>, class: &Class<'_, '_>, release: &Release<'_>) -> Option<&'static str> {
    let list = question.build.as_ref()?.arch_list.as_ref()?;
    let known = release.extension?;
    let refused = list.entries().iter().any(|entry| !known.archs.contains(&entry.arch));
    (refused && question.holds(law::EXTENSION_ARCH, &class.target.name)).then_some(law::EXTENSION_ARCH)
}

/// Why extensions of a build cannot be compiled with a target's host compiler, which is known where something is.
fn compiler<'c>(class: &Class<'_, 'c>, build: &Build) -> Option<&'c str> {
    let of_package = |rule: &&&Needs| rule.row.package.as_deref() == Some(&*build.package);
    let mut rules = class.host.iter().filter(|rule| rule.row.subject == Subject::Package).filter(of_package);
    rules.find(|rule| rule.range.admits(&build.version)).map(|rule| &*rule.row.id)
}

/// Why a toolkit cannot compile for a class, whatever else is chosen.
pub fn toolkit<'c>(question: &Question<'c>, class: &Class<'_, 'c>, toolkit: &'c Toolkit) -> Option<&'c str> {
    let target = class.target;
    let holds = |rule: &str| question.holds(rule, &target.name);
    let installed = target.toolkits.as_ref();
    if installed.is_some_and(|installed| installed.iter().all(|has| toolkit.version.cmp_prefix(has).is_ne())) {
        return Some(NOT_ASKED);
    }
    let too_new = |has: &Version, most: &Version| has.major() > most.major();
    if holds(law::NVCC_GCC)
        && target.gcc.as_ref().zip(toolkit.gcc_max.as_ref()).is_some_and(|(gcc, most)| too_new(gcc, most))
    {
        return Some(law::NVCC_GCC);
    }
    let mut rules = class.host.iter().filter(|rule| rule.row.subject == Subject::Toolkit);
    if let Some(rule) = rules.find(|rule| rule.range.admits(&toolkit.version)) {
        return Some(&rule.row.id);
    }
    let by_arch = match &question.build.as_ref()?.arch_list {
        Some(list) => arch_list_refusal(question, class, toolkit, list),
        None => {
            let reaches = |gpu: &GpuRules| question.rules.compiles(toolkit, &toolkit.sass, gpu.gpu.cc).is_some();
            (holds(law::NVCC_ARCH) && !class.gpus.iter().all(reaches)).then_some(law::NVCC_ARCH)
        }
    };
    by_arch.or_else(|| line(question, class, &toolkit.version.prefix(2)))
}

fn arch_list_refusal(
    question: &Question<'_>,
    class: &Class<'_, '_>,
    toolkit: &Toolkit,
    list: &ArchList,
) -> Option<&'static str> {
    let holds = |rule: &str| question.holds(rule, &class.target.name);
    let known = |entry: &crate::words::ArchEntry| {
        toolkit.sass.contains(&entry.arch) && (!entry.ptx || toolkit.ptx.contains(&entry.arch))
    };
    if holds(law::NVCC_ARCH) && !list.entries().iter().all(known) {
        return Some(law::NVCC_ARCH);
    }
    let reached = |gpu: &GpuRules| covers(list, gpu.gpu.cc, tegra(Some(toolkit))) != Coverage::None;
    (holds(law::ARCH_LIST) && !class.gpus.iter().all(reached)).then_some(law::ARCH_LIST)
}

/// What a release's need of toolkits that build extensions depends on: releases equal in this take the same ones.
pub fn extension_need(class: &Class<'_, '_>, release: &Release<'_>) -> Option<(u64, usize)> {
    release.on(class.target.platform)?;
    let known = release.extension.map_or(0, |known| std::ptr::from_ref(known).addr());
    Some((release.line.map_or(0, |line| line.major()), known))
}

/// What a toolkit's use to extension builders depends on: toolkits equal in this serve the same releases.
pub fn extension_kind(toolkit: &Toolkit) -> (u64, usize, Tegra) {
    (toolkit.version.major(), toolkit.sass.as_ptr().addr(), tegra(Some(toolkit)))
}

/// Whether torch builds extensions with a toolkit.
pub fn extension<'c>(
    question: &Question<'c>,
    class: &Class<'_, 'c>,
    release: &Release<'c>,
    toolkit: &'c Toolkit,
) -> bool {
    if release.on(class.target.platform).is_none() {
        return false;
    }
    let Some(line) = &release.line else { return true };
    let holds = |rule: &str| question.holds(rule, &class.target.name);
    // Old builders do not look, and what they build does not run.
    let same_major = line.major() == toolkit.version.major();
    if !same_major && holds(law::EXTENSION_MAJOR) {
        return false;
    }
    let Some(known) = release.extension else { return true };
    let listed = question.build.as_ref().is_some_and(|build| build.arch_list.is_some());
    let reaches = |gpu: &GpuRules| question.rules.compiles(toolkit, &known.archs, gpu.gpu.cc).is_some();
    listed || class.gpus.iter().all(reaches) || !holds(law::EXTENSION_ARCH)
}

/// What code that a toolkit compiles needs of a driver.
pub fn toolkit_driver<'a>(question: &'a Question<'_>, class: &Class<'_, '_>, toolkit: &Toolkit) -> DriverNeed<'a> {
    let list = question.build.as_ref().and_then(|build| build.arch_list.as_ref());
    let jits = list.is_some_and(|list| {
        class.gpus.iter().any(|gpu| covers(list, gpu.gpu.cc, tegra(Some(toolkit))) == Coverage::Jit)
    });
    let need = line_driver(question, class, toolkit.version.prefix(2));
    if jits { need.and_jit(question, class, Some(toolkit)) } else { need }
}

/// The architecture to compile for a GPU: its own, else the highest whose code it loads, among those that both
/// lists hold. Never one with a suffix: that is asked for, not assumed.
pub fn best_arch(gpu: crate::words::Cc, toolkit: &[Arch], builder: &[Arch], tegra: Tegra) -> Option<Arch> {
    let runs = |arch: &Arch| arch.suffix == Suffix::None && crate::coverage::sass_runs(*arch, gpu, tegra);
    toolkit.iter().copied().filter(|arch| runs(arch) && builder.contains(arch)).max()
}

/// The toolkit release whose runtime a build carries; where only its line is known, the line's oldest.
pub fn toolkit_of<'c>(catalog: &'c Catalog, build: &Build, line: Option<&Version>) -> Option<&'c Toolkit> {
    let toolkits = &catalog.toolkits;
    let (wanted, is_it): (_, fn(&Version, &Version) -> Ordering) = match &build.toolkit {
        Some(exact) => (exact, Version::cmp),
        None => (line?, Version::cmp_prefix),
    };
    let first = toolkits.partition_point(|row| is_it(&row.version, wanted).is_lt());
    toolkits.get(first).filter(|row| is_it(&row.version, wanted).is_eq())
}

impl<'c> Question<'c> {
    /// The toolkit release whose runtime a build carries; where only its line is known, the line's oldest.
    pub fn toolkit_of(&self, build: &Build) -> Option<&'c Toolkit> {
        toolkit_of(self.catalog, build, line_of(&build.variant).as_ref())
    }

    /// A variant that names a major only (`cu12`) takes the newest libraries of that major.
    fn newest_of(&self, line: Version) -> Version {
        if line.len() > 1 {
            return line;
        }
        let of_major = self.catalog.toolkits.iter().rev().find(|row| row.version.major() == line.major());
        of_major.map_or(line, |row| row.version.prefix(2))
    }

    /// Whether some release of a framework asked for needs CUDA and cuDNN of the system.
    pub fn takes_system_cuda(&self) -> bool {
        let releases = |ask: &Ask<'_>| self.rules.releases(self.catalog, ask.package);
        let own = self.targets.iter().any(|target| target.platform.takes != Takes::General);
        let needs = |release: &Release<'_>| {
            release.builds().chain(release.own_builds().filter(|_| own)).any(|build| build.system_cuda)
        };
        self.frameworks.iter().any(|ask| releases(ask).iter().any(needs))
    }

    /// The cuDNN wanted of the system: asked for where no framework brings its own.
    pub fn system_cudnn(&self) -> Option<&Constraint> {
        self.cudnn.as_ref().filter(|_| self.frameworks.is_empty())
    }
}

/// Whether a cuDNN release serves every GPU of a class.
pub fn cudnn_serves(class: &Class<'_, '_>, cudnn: &Version) -> bool {
    class.gpus.iter().all(|gpu| cudnn_refusal(gpu, cudnn).is_none())
}

/// Which rule keeps a cuDNN release from a GPU.
fn cudnn_refusal<'c>(gpu: &GpuRules<'_, 'c>, cudnn: &Version) -> Option<&'c str> {
    gpu.cudnn.iter().find(|needs| needs.range.admits(cudnn)).map(|needs| &*needs.row.id)
}

impl TargetAsk<'_> {
    /// Whether anything definite is said of the driver.
    pub fn pins_driver(&self) -> bool {
        !matches!(self.driver, super::question::DriverAsk::Free(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_names_its_cuda_line() {
        for (variant, line) in [
            ("cu124", "12.4"),
            ("cu102", "10.2"),
            ("cu92", "9.2"),
            ("cu80", "8.0"),
            ("cu118", "11.8"),
            ("cu130", "13.0"),
            ("cu12", "12"),
        ] {
            assert_eq!(line_of(variant).unwrap().as_str(), line, "{variant}");
        }
        assert!(line_of("cpu").is_none() && line_of("cu").is_none() && line_of("rocm6").is_none());
    }
}
