//! What a GPU needs beyond a stack that runs on it: a flavour of kernel modules, a capability and a driver for
//! torch.compile, code in NCCL; and whether only a driver's compiler makes the stack run.

use crate::catalog::rows::{Build, Companion, Module, Subject, TORCH, TRITON};
use crate::coverage::{Coverage, covers};
use crate::solve::failing::{self, Uncompiled};
use crate::solve::fits;
use crate::solve::modules;
use crate::solve::request::{DriverRequest, GpuRequest, Request, TargetRequest};
use crate::solve::rules::Needs;
use crate::solve::solution::TargetSolution;
use crate::solve::windows;
use crate::types::{Arch, Version};
use crate::warning::{
    CudaGpu, CudaLibrary, JitOnly, KernelModule, NcclGpu, Pools, TritonDriver, TritonGpu, TritonPlatform, TritonPython,
    Vgpu, Warning,
};

use super::About;

/// GPUs that only a driver's compiler makes the stack run on.
pub(super) fn only_ptx(about: &About<'_, '_>) -> Option<Warning> {
    // What compiles its code itself never has the driver do it.
    let unproven = |name: &str| {
        let mut gpus = about.asked.named_gpus().iter().filter(|gpu| gpu.name == name);
        gpus.any(|gpu| about.target.builds.iter().any(|build| about.request.unproven_rule(build, gpu).is_some()))
    };
    let jit = about.target.gpus.iter().filter(|gpu| gpu.coverage == Some(Coverage::Jit) && !unproven(&gpu.name));
    let gpus: Vec<&str> = jit.map(|gpu| gpu.name.as_str()).collect();
    let only = JitOnly { what: "the stack", gpus: &gpus };
    (!gpus.is_empty()).then(|| Warning::about(&only, &about.keys("gpu")))
}

/// GPUs for which the architectures that are insisted on compile PTX alone, beside wheels with machine code.
pub(super) fn only_ptx_compiled(about: &About<'_, '_>) -> Option<Warning> {
    let list = about.request.build.as_ref()?.arch_list.as_ref()?;
    let tegra = fits::tegra(Some(about.target.toolkit?));
    about.gpu_builds().next()?;
    let gpus = about.asked.named_gpus().iter().filter(|gpu| covers(list, gpu.cc, tegra) == Coverage::Jit);
    let only = JitOnly { what: &format!("`arch-list = \"{}\"`", list.torch()), gpus: &[&names(gpus)?] };
    Some(Warning::about(&only, &["build.arch-list".to_string()]))
}

/// What should be known of a target's GPUs.
pub(super) fn warnings<'c>(
    request: &Request<'c>,
    asked: &TargetRequest<'_>,
    target: &TargetSolution<'c>,
) -> Vec<Warning> {
    let mut warnings = flavours(request, asked);
    warnings.extend(parameters(request, asked, target));
    // Where there is no Triton at all no Python helps.
    let elsewhere = triton_elsewhere(request, asked, target);
    warnings.extend(elsewhere.is_none().then(|| without_compiler(request, asked, target)).flatten());
    let missed = [triton, triton_assembler, triton_driver].into_iter().filter_map(|why| why(request, asked, target));
    for mut warning in elsewhere.into_iter().chain(missed) {
        warning.message += &kernels_of_triton(request, target);
        warnings.push(warning);
    }
    warnings.extend(nccl(request, asked, target));
    warnings.extend(virtual_gpus(request, asked, target));
    for loads in loaded(asked, target) {
        warnings.extend(LIBRARIES.iter().filter_map(|library| fails(request, asked, &loads, library)));
    }
    warnings
}

/// What loads libraries of CUDA, and of which line.
struct Loads<'a> {
    package: &'a str,
    release: Version,
    cuda: Version,
    /// The build that brings them.
    by: Option<&'a Build>,
}

/// What of a stack loads libraries of a CUDA that is known: its own, or the newest of its major that is said to be there.
fn loaded<'a>(asked: &TargetRequest<'_>, target: &TargetSolution<'a>) -> Vec<Loads<'a>> {
    let there = |major: u64| {
        let chosen = target.image.map(|image| image.cuda).into_iter().chain(target.cuda.map(|kit| kit.version));
        let all = asked.toolkits.iter().flatten().copied().chain(chosen);
        all.filter(|cuda| cuda.major() == major && cuda.len() > 1).max()
    };
    // What a build leaves open is what pip installs for it.
    let piece = |own: &Version| {
        let pieces = target.pieces.as_ref().map(|pieces| pieces.toolkit.version);
        pieces.filter(|piece| own.len() == 1 && piece.major() == own.major())
    };
    let line = |own: Option<Version>, of_system: bool| {
        let found = own.and_then(|own| if of_system { there(own.major()) } else { piece(&own) });
        found.or(own).filter(|cuda| cuda.len() > 1).map(|cuda| cuda.prefix(2))
    };
    let of_build = |build: &&'a Build| {
        let cuda = line(build.line(), build.system_cuda)?;
        let by = Some(*build).filter(|build| !build.is_own() && !build.is_in_image());
        let by = by.filter(|build| failing::brought_line(build).is_some_and(|line| line.len() > 1));
        Some(Loads { package: &build.package, release: build.version, cuda, by })
    };
    let of_package = |row: &&'a Companion| {
        let cuda = line(row.cuda, row.system_cuda).filter(|_| row.follows_cuda())?;
        Some(Loads { package: &row.package, release: row.version, cuda, by: None })
    };
    let compiled = target.toolkit.filter(|_| target.builds.is_empty() && target.companions.is_empty());
    let compiled = compiled.map(|kit| kit.version.prefix(2));
    let of_toolkit = compiled.map(|cuda| Loads { package: failing::CUDA, release: cuda, cuda, by: None });
    let of_builds = target.builds.iter().filter_map(of_build);
    of_builds.chain(target.companions.iter().filter_map(of_package)).chain(of_toolkit).collect()
}

/// How the libraries of CUDA are called that a build brings.
const LIBRARIES: &[(Subject, CudaLibrary)] = &[
    (Subject::Cufft, CudaLibrary::Cufft),
    (Subject::Nvrtc, CudaLibrary::Nvrtc),
    (Subject::Cublas, CudaLibrary::Cublas),
];

/// GPUs on which a library of CUDA that is loaded does not run, or for which it compiles nothing.
fn fails(
    request: &Request<'_>,
    asked: &TargetRequest<'_>,
    loads: &Loads<'_>,
    (subject, library): &(Subject, CudaLibrary),
) -> Option<Warning> {
    let (cuda, what) = (loads.cuda, (loads.package, &loads.release));
    let refuses =
        |line: &Version, gpu: &GpuRequest<'_>| failing::against_library(request.rules, *subject, what, line, gpu);
    let failing: Vec<&GpuRequest<'_>> = asked.named_gpus().iter().filter(|gpu| refuses(&cuda, gpu).is_some()).collect();
    let until = failing.first().and_then(|gpu| refuses(&cuda, gpu))?.row.until;
    let lines = request.catalog.toolkits.iter().map(|kit| kit.version.prefix(2));
    let from = lines.filter(|line| *line > cuda).find(|line| failing.iter().all(|gpu| refuses(line, gpu).is_none()))?;
    let framework = loads.by.and_then(|build| request.problem.framework(&build.package));
    let releases = framework.map_or(&[][..], |framework| &framework.releases);
    let sisters = releases.iter().filter(|other| *other.version == loads.release && other.line >= Some(from));
    let sisters: Vec<&str> = sisters.filter_map(|other| Some(&*other.on(asked.platform)?.variant)).collect();
    let (release, gpus) = (format!("{} {}", loads.package, loads.release), names(failing.iter().copied())?);
    let sisters = loads.by.map(|_| &sisters[..]);
    let fails = CudaGpu { build: &release, gpus: &gpus, library: *library, cuda, from, until, sisters };
    Some(Warning::about(&fails, &[asked.key("gpu")]))
}

/// Slices of a board, which lack CUDA's memory pools and its management of virtual memory, beside what asks for them. Sources:
/// <https://docs.nvidia.com/ai-enterprise/release-8/latest/infra-software/vgpu/features/uvm.html> and
/// <https://github.com/AcademySoftwareFoundation/openvdb/issues/2255>.
fn virtual_gpus(request: &Request<'_>, asked: &TargetRequest<'_>, target: &TargetSolution<'_>) -> Vec<Warning> {
    let slices = names(asked.named_gpus().iter().filter(|gpu| request.catalog.is_vgpu(&gpu.written)));
    let Some(gpus) = &slices else { return Vec::new() };
    let about = |package: &str, what: Pools, also: Option<String>| {
        let keys: Vec<String> = [asked.key("gpu")].into_iter().chain(also).collect();
        Warning::about(&Vgpu { gpus, package, what }, &keys)
    };
    let pooling =
        |nccl: &&Version| request.catalog.nccls.iter().any(|row| row.version == **nccl && row.pools.is_some());
    let nccl = nccl_of(target).filter(pooling).map(|nccl| about(&format!("NCCL {nccl}"), Pools::Nccl, None));
    let builds = target.builds.iter().map(|row| (&row.package, &row.version, &row.pools));
    let packages = target.companions.iter().map(|row| (&row.package, &row.version, &row.pools));
    let of_packages = builds.chain(packages).filter(|(.., pools)| pools.is_some()).map(|(package, version, _)| {
        about(&format!("{package} {version}"), Pools::Package, Some(format!("stack.{package}")))
    });
    nccl.into_iter().chain(of_packages).collect()
}

/// The NCCL of a stack: the one that was chosen, else the one that a framework holds.
fn nccl_of<'a>(target: &'a TargetSolution<'_>) -> Option<&'a Version> {
    let bundled = || target.builds.iter().find_map(|build| build.nccl.as_ref());
    target.nccl.map(|row| &row.version).or_else(bundled)
}

/// GPUs that one flavour of kernel modules drives, where nobody can be sure it is the one installed.
fn flavours(request: &Request<'_>, asked: &TargetRequest<'_>) -> Vec<Warning> {
    let warning = |row: &Module| {
        let gpus = asked
            .named_gpus()
            .iter()
            .filter(|gpu| modules::speaks_of(row, gpu) && may_be_wrong(request, row, asked, gpu));
        let flavour = KernelModule::Only { gpus: &names(gpus)?, needs: row.needs.as_str() };
        Some(Warning::about(&flavour, &[asked.key("gpu")]))
    };
    // Who writes the flavour knows of it, and Windows has one only.
    if asked.kernel_module.is_some() || asked.windows_driver {
        return Vec::new();
    }
    request.catalog.modules.iter().filter(|row| row.before.is_none()).filter_map(warning).collect()
}

/// GPUs that the flavour which is there drives with a parameter only.
fn parameters(request: &Request<'_>, asked: &TargetRequest<'_>, target: &TargetSolution<'_>) -> Vec<Warning> {
    let (Some(flavour), Some(driver)) = (asked.kernel_module, target.driver.as_ref()) else { return Vec::new() };
    let is_against = |row: &Module, gpu: &GpuRequest<'_>| {
        modules::is_about(row, &driver.version) && modules::against(request.catalog, gpu, flavour).any(|it| it == row)
    };
    let warning = |row: &Module| {
        let parameter = row.parameter.as_deref()?;
        let gpus = &names(asked.named_gpus().iter().filter(|gpu| is_against(row, gpu)))?;
        let found = KernelModule::With { gpus, driver: &driver.version, flavour: flavour.as_str(), parameter };
        Some(Warning::about(&found, &[asked.key("kernel-module")]))
    };
    request.catalog.modules.iter().filter_map(warning).collect()
}

/// Whether a driver that these hosts may get chooses the wrong flavour by default.
fn may_be_wrong(request: &Request<'_>, row: &Module, asked: &TargetRequest<'_>, gpu: &GpuRequest<'_>) -> bool {
    let Some(from) = &row.from else { return true };
    let dropped = gpu.row.and_then(|product| product.last_branch.as_ref()).is_some_and(|last| last < from);
    let below = match &asked.driver {
        DriverRequest::Exact(version) => version < from,
        DriverRequest::Cuda(cuda, _) => {
            let mut telling = request.catalog.branches.iter().filter(|row| row.cuda.as_ref() == Some(cuda));
            telling.all(|row| row.branch < *from)
        }
        DriverRequest::AtWorst(_) | DriverRequest::Free(_) => false,
    };
    !dropped && !below
}

/// The build that brings a Triton along, and that Triton.
fn compiling<'a>(target: &'a TargetSolution<'_>) -> Option<(&'a Build, &'a Version)> {
    let build = target.builds.iter().find(|build| build.triton.is_some())?;
    Some((build, target.triton?))
}

/// What rules say of packages whose own kernels are Triton's, behind what is said of torch.compile.
fn kernels_of_triton(request: &Request<'_>, target: &TargetSolution<'_>) -> String {
    let chosen = target.companions.iter().map(|row| (&*row.package, Some(row.version)));
    let all = chosen.chain(request.packages.iter().map(|(name, _)| (&**name, None)));
    let rules = all.flat_map(|(package, release)| {
        let rules = request.rules.of_package(package, Subject::Triton).rules.into_iter();
        rules.filter(move |rule| release.is_none_or(|release| rule.range.admits(&release)))
    });
    rules.map(|rule| format!(". {}", rule.row.says.trim_end_matches('.'))).collect()
}

/// A Python with which torch.compile does not run.
fn without_compiler<'c>(
    request: &Request<'c>,
    asked: &TargetRequest<'_>,
    target: &TargetSolution<'c>,
) -> Option<Warning> {
    let (build, python) = (target.builds.iter().find(|build| build.package == TORCH)?, target.python?);
    let why = failing::uncompiled(request, build, asked);
    let found = why(python)?;
    let lines = request.catalog.pythons.iter().map(|row| &row.version);
    // An image has one Python.
    let serves = lines.filter(|line| !build.is_in_image() && build.installs_on(line) && why(line).is_none()).max();
    let says = match &found {
        Uncompiled::Refused(rule) => rule.row.says.trim_end_matches('.').to_string(),
        Uncompiled::NoTriton(triton) => format!("it brings no Triton {triton} for it"),
    };
    let without = TritonPython { build: &release(build), python, says: &says, serves };
    Some(Warning::about(&without, &[asked.key("gpu")]))
}

/// A processor for which the Triton that the release pins elsewhere was not published.
fn triton_elsewhere(request: &Request<'_>, asked: &TargetRequest<'_>, target: &TargetSolution<'_>) -> Option<Warning> {
    let catalog = request.catalog;
    // Of nightlies nobody knows.
    let lacks = |build: &&&Build| !build.is_cpu() && build.triton.is_none() && !build.is_nightly();
    let build = target.builds.iter().find(lacks)?;
    let is_sister = |other: &&Build| (other.version, &other.variant) == (build.version, &build.variant);
    let triton = catalog.builds.of(&build.package).iter().filter(is_sister).find_map(|other| other.triton.as_ref())?;
    let row = catalog.companions.of(TRITON).iter().find(|row| row.version == *triton)?;
    let elsewhere = TritonPlatform { build: &release(build), triton, arch: build.arch.as_str() };
    (!row.is_for_arch(build.arch)).then(|| Warning::about(&elsewhere, &[asked.key("gpu")]))
}

/// GPUs that run the wheel but not what its compiler makes.
fn triton(request: &Request<'_>, asked: &TargetRequest<'_>, target: &TargetSolution<'_>) -> Option<Warning> {
    let build = target.builds.iter().find(|build| build.triton.is_some())?;
    let triton = build.triton.as_ref()?;
    let against = |gpu: &GpuRequest<'_>| failing::against_triton(request.rules, triton, gpu);
    let rule = asked.named_gpus().iter().find_map(against)?;
    let refused = |gpu: &&GpuRequest<'_>| against(gpu).is_some_and(|found| found.row.id == rule.row.id);
    let (release, gpus) = (release(build), names(asked.named_gpus().iter().filter(refused))?);
    let capability = rule.needs.to_string();
    let refused = match rule.needs.comparisons().all(|one| one.op.is_lower()) {
        true => TritonGpu::TooOld { build: &release, gpus: &gpus, capability: &capability },
        false => TritonGpu::Broken { build: &release, gpus: &gpus, says: &rule.row.says },
    };
    Some(Warning::about(&refused, &[asked.key("gpu")]))
}

/// GPUs that are newer than the assembler Triton brings.
fn triton_assembler(request: &Request<'_>, asked: &TargetRequest<'_>, target: &TargetSolution<'_>) -> Option<Warning> {
    let (build, triton) = compiling(target)?;
    // Where Triton itself fails on a GPU, no other assembler helps.
    let generates = |gpu: &GpuRequest<'_>| failing::against_triton(request.rules, triton, gpu).is_none();
    let too_old =
        |gpu: &GpuRequest<'_>| failing::assembler_too_old(request.catalog, triton, gpu).filter(|_| generates(gpu));
    let unknown = |gpu: &&GpuRequest<'_>| too_old(gpu).is_some();
    let newer = asked.named_gpus().iter().find(unknown)?;
    let row = too_old(newer)?;
    let first = request.catalog.toolkits.iter().find(|kit| kit.sass.contains(&Arch::base(newer.cc)))?;
    let too_new = TritonGpu::TooNew {
        build: &release(build),
        gpus: &names(asked.named_gpus().iter().filter(unknown))?,
        triton,
        cuda: row.release_for(newer.cc).prefix(2),
        arch: &Arch::base(newer.cc).to_string(),
        from: first.version.prefix(2),
        takes_below: row.takes_below.as_ref(),
    };
    Some(Warning::about(&too_new, &[asked.key("gpu")]))
}

/// GPUs that the NCCL in the stack holds no code for: each of them computes, but no two of them together.
fn nccl(request: &Request<'_>, asked: &TargetRequest<'_>, target: &TargetSolution<'_>) -> Option<Warning> {
    let nccl = nccl_of(target)?;
    let rules: Vec<_> = request.rules.about(Subject::Nccl, nccl, Subject::Gpu).collect();
    let too_old = |gpu: &&GpuRequest| rules.iter().any(|rule| !rule.needs.admits(&gpu.cc_version));
    let gpus = names(asked.named_gpus().iter().filter(too_old))?;
    let capability = rules.iter().map(|rule| rule.needs.to_string()).next()?;
    let too_old = NcclGpu { gpus: &gpus, nccl, capability: &capability };
    Some(Warning::about(&too_old, &[asked.key("gpu")]))
}

/// A driver that runs the wheel and not what its compiler makes. Where the driver is free nobody has one yet.
fn triton_driver(request: &Request<'_>, asked: &TargetRequest<'_>, target: &TargetSolution<'_>) -> Option<Warning> {
    let (build, triton) = compiling(target)?;
    let row = request.catalog.ptxases.iter().find(|row| row.triton == *triton)?;
    let driver = target.driver.as_ref().filter(|driver| asked.pins_driver() && driver.compat.is_none())?;
    let compiles = |gpu: &&GpuRequest<'_>| failing::against_triton(request.rules, triton, gpu).is_none();
    let missed = |gpu: &GpuRequest<'_>| {
        let cuda = row.release_for(gpu.cc).prefix(2);
        let mut rules = request.rules.about(Subject::Cuda, &cuda, Subject::Driver);
        // Drivers of Windows are numbered by themselves.
        if asked.windows_driver {
            let floor = |rule: &Needs<'_>| windows::floor(request.catalog, rule);
            let rule = rules.find(|rule| windows::is_too_old(floor(rule), rule, &driver.version))?;
            let least = floor(rule).map(|row| row.driver).or_else(|| Some(windows::least_on_linux(rule)?.prefix(1)))?;
            return Some((cuda, format!(">={least} of Windows")));
        }
        let needs = rules.map(|rule| &rule.needs).find(|needs| !needs.admits(&driver.version))?.to_string();
        Some((cuda, needs))
    };
    let (cuda, needs) = asked.named_gpus().iter().filter(compiles).find_map(missed)?;
    let missed = TritonDriver { build: &release(build), needs: &needs, triton, cuda };
    Some(Warning::about(&missed, &[asked.key(asked.driver_setting())]))
}

fn release(build: &Build) -> String {
    format!("{} {}", build.package, build.version)
}

pub(super) fn names<'a>(gpus: impl Iterator<Item = &'a GpuRequest<'a>>) -> Option<String> {
    let mut written: Vec<&str> = gpus.map(|gpu| gpu.written.as_str()).collect();
    written.dedup();
    (!written.is_empty()).then(|| written.join(", "))
}
