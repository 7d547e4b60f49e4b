//! Packages beside the frameworks: GPU code of their own that nobody has read or that only a driver's compiler makes run,
//! what is compiled where it is installed, and what comes along from another index.

use crate::catalog::rows::{Build, Companion, Flavour, Image, Subject};
use crate::coverage::Coverage;
use crate::solve::brought::{self, Misfit};
use crate::solve::finished::{Use, mistaken};
use crate::solve::held::{held, left_open};
use crate::solve::parts::{self, Breaking};
use crate::solve::problem::Along;
use crate::solve::request::{GpuRequest, PackageRequest};
use crate::solve::rules::Needs;
use crate::solve::{fits, image, own};
use crate::types::constraint::{Comparison, Op};
use crate::types::{Arch, ArchList, Cc, Constraint, Version};
use crate::warning::{
    BringsOtherCuda, CudaOnCpu, JitOnly, KernelsSkipped, LeftToImage, Nightly, OperatorsMissing, OwnBuildAbi,
    PartFails, SourceOnly, UnknownGpuCode, Warning, When, With, Wsl2, Yanked,
};

use super::compilers;
use super::gpu::names;
use super::nvcc::{bounds, has_compiler, without_toolkit};
use super::{About, key, system_libraries, wheels};

pub(super) fn warnings(about: &About<'_, '_>) -> Vec<Warning> {
    let mut warnings = left_to_image(about);
    for row in &about.target.companions {
        warnings.extend(source_only(about, row));
        warnings.extend(compilers::unfit(about, row));
        let name = format!("{} {}", row.package, row.version);
        let is_yanked = about.request.catalog.is_yanked(&row.package, &row.version);
        warnings.extend(is_yanked.then(|| Warning::about(&Yanked { name: &name }, &key(row))));
        warnings.extend(compiled_when_used(about, row));
        warnings.extend(pinned_without_wheel(about, row));
        warnings.extend(brings_other_cuda(about, row));
        warnings.extend(brings_misfit(about, row));
        warnings.extend(nightly_apart(about, row));
        warnings.extend(system_libraries::warnings(about, row));
        warnings.extend(on_cpu(about, row));
        warnings.extend(kernels_skipped(about, row));
        warnings.extend(parts_failing(about, row));
        warnings.extend(part_skipped(about, row));
        warnings.extend(own_build_abi(about, row));
        warnings.extend(on_wsl2(about, row));
        if row.gpu_code {
            warnings.extend(gpu_code(about, row));
        }
        warnings.extend(wheels::warnings(about, row));
    }
    warnings
}

/// What comes along by a pin and has no wheel, or none for the C library of the target: it is compiled, which may do. Of what
/// comes as source itself that is told.
fn pinned_without_wheel(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let (problem, arch) = (about.request.problem, about.asked.arch);
    let major = about.gpu_builds().find_map(|build| build.line())?.major();
    let package = problem.package(&row.package)?;
    let at = package.place_of(row)?;
    let is_named = |of: &str| about.target.companions.iter().any(|one| *one.package == *of);
    let lacks = |along: &Along<'_>, one: &Companion| {
        let needs_newer = |has: &Version| one.needs_newer_glibc(arch, false, *has);
        let is_built = !row.sdist && !is_named(&one.package) && about.request.catalog.is_built_from_source(one);
        let has = about.asked.glibc.filter(needs_newer);
        (along.is_pinned && (is_built || has.is_some())).then_some(has)
    };
    let (compiled, has) = problem.lacking(package, at, arch, lacks)?;
    let (name, by) = (format!("{} {}", compiled.package, compiled.version), format!("{} {}", row.package, row.version));
    let bounds = bounds(about, compiled, major);
    let pinned = SourceOnly {
        name: &name,
        framework: &compiled.framework,
        toolkit: match about.target.toolkit {
            Some(toolkit) => With::Chosen(toolkit.version.as_str()),
            None => With::Any { major, bounds: &bounds, is_written: about.asked.toolkits.is_some() },
        },
        when: When::Pinned(&by, has),
        unisolated: true,
        older: None,
        finished: None,
        unread: None,
        refused: None,
        cudnn_headers: false,
        lacks: without_toolkit(about, compiled, major),
    };
    Some(Warning::about(&pinned, &key(row)))
}

/// What is asked for and not locked, because the image holds it or nothing does.
fn left_to_image(about: &About<'_, '_>) -> Vec<Warning> {
    let Some(image) = about.target.image.map(Image::name) else { return Vec::new() };
    let asks = about.request.left_to_image(std::slice::from_ref(about.asked));
    let expected = |ask: &PackageRequest<'_>| {
        about.request.expected_in_image(about.asked, ask.package).filter(|_| !ask.constraint.is_any())
    };
    let left = asks.map(|ask| LeftToImage { package: ask.package, image: &image, expected: expected(ask) });
    left.map(|left| Warning::about(&left, &[format!("stack.{}", left.package)])).collect()
}

/// A package that goes with one C++ ABI of a framework, beside a build of which nobody tells its own.
fn own_build_abi(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let build = about.target.build(&row.framework).filter(|build| build.is_own())?;
    let variants: Vec<&str> = row.abi_variants.iter().map(|variant| &**variant).collect();
    let name = format!("{} {}", row.package, row.version);
    let unknown = OwnBuildAbi { name: &name, package: &build.package, version: build.shown(), variants: &variants };
    (!variants.is_empty()).then(|| Warning::about(&unknown, &key(row)))
}

/// GPU code that is not known, or PTX alone.
fn gpu_code(about: &About<'_, '_>, row: &Companion) -> Vec<Warning> {
    let name = format!("{} {}", row.package, row.version);
    let code = |gpu: &GpuRequest<'_>| fits::companion_code(about.request.catalog, row, about.asked.arch, gpu.cc);
    let gpus = about.asked.named_gpus();
    let mut warnings = Vec::new();
    let read = |gpu: &GpuRequest<'_>| fits::read_beside(about.request.catalog, row, about.asked.arch, gpu.cc);
    let missed = names(gpus.iter().filter(|gpu| read(gpu).is_some()));
    if let Some((other, missed)) = gpus.iter().find_map(read).zip(missed) {
        let (sass, ptx) = fits::companion_targets(other, about.asked.arch);
        let missing = OperatorsMissing::Other {
            name: &name,
            variant: row.variant.as_deref(),
            read: other.variant.as_deref(),
            code: &ArchList::from_targets(sass, ptx).names(),
            gpus: &missed,
        };
        warnings.push(Warning::about(&missing, &key(row)));
    } else if let Some(warning) = disputed_code(about, row, &name) {
        warnings.push(warning);
    } else if gpus.iter().any(|gpu| code(gpu).is_none() && !is_documented(about, row, gpu)) {
        let needs = row.needs_glibc(about.asked.arch, false);
        let glibc = about.asked.glibc.is_some() && needs.is_none() && !row.sdist;
        warnings.push(Warning::about(&UnknownGpuCode::Package { name: &name, glibc }, &key(row)));
    }
    let jit = gpus.iter().filter(|gpu| code(gpu) == Some(Coverage::Jit));
    let jit: Vec<&str> = jit.map(|gpu| gpu.name.as_str()).collect();
    if !jit.is_empty() {
        warnings.push(Warning::about(&JitOnly { what: &name, gpus: &jit }, &key(row)));
    }
    warnings
}

/// Code of which evidence differs on whether a GPU loads it.
fn disputed_code(about: &About<'_, '_>, row: &Companion, name: &str) -> Option<Warning> {
    let (catalog, arch) = (about.request.catalog, about.asked.arch);
    let disputed = |gpu: &GpuRequest<'_>| fits::disputed_code(catalog, row, arch, gpu.cc);
    let (gpu, source) = about.asked.named_gpus().iter().find_map(|gpu| Some((gpu, disputed(gpu)?)))?;
    let source = catalog.source_at(source).to_string();
    let settled = catalog.tegra_settled();
    // Packages have no such table; what PyTorch's says is of the same code.
    let table = "PyTorch's table of such code";
    let disputed = UnknownGpuCode::Disputed { name, table, gpu: &gpu.name, source: &source, settled };
    Some(Warning::about(&disputed, &key(row)))
}

/// Whether a rule tells the oldest and the newest GPUs that a release runs on; or the oldest alone, where nothing else of it is
/// unread and the first toolkit of its CUDA knows the GPU: to "and later" belongs what there was then.
fn is_documented(about: &About<'_, '_>, row: &Companion, gpu: &GpuRequest<'_>) -> bool {
    let rules = about.request.rules.of_package(&row.package, Subject::Gpu);
    let is_upper = |one: &Comparison| matches!(one.op, Op::Below | Op::AtMost);
    let mut toolkits = about.request.catalog.toolkits.iter();
    let cuda = row.cuda.filter(|_| row.needs_glibc(about.asked.arch, false).is_some());
    let first = cuda.and_then(|cuda| toolkits.find(|kit| kit.version.cmp_prefix(&cuda).is_eq()));
    let is_of_then = first.is_some_and(|kit| kit.sass.contains(&Arch::base(gpu.cc)));
    rules.about(&row.version).any(|rule| {
        let is_bounded = is_of_then || rule.needs.comparisons().any(is_upper);
        is_bounded && rule.needs.comparisons().any(|one| one.op.is_lower())
    })
}

/// A package made for GPUs where there is none: what needs one of a compute capability needs one at all.
fn on_cpu(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    if !about.asked.is_cpu() {
        return None;
    }
    let name = format!("{} {}", row.package, row.version);
    let rules = about.request.rules.of_package(&row.package, Subject::Gpu);
    let needs_gpu = rules.about(&row.version).any(|rule| rule.cuda.is_none() && !rule.needs.only_upper_bounds());
    // What holds code for the CPU beside that for GPUs takes CUDA from the system, or has it inside.
    let is_for_cuda = if row.gpu_code { row.cuda.is_some() && !row.system_cuda } else { row.follows_cuda() };
    let on_cpu = match (needs_gpu, is_for_cuda) {
        (true, _) => CudaOnCpu::NeedsGpu { name: &name },
        (false, true) => CudaOnCpu::Unknown { name: &name, cuda: row.cuda.as_ref() },
        (false, false) => {
            // Nor may what it brings along.
            let brings = left_open(about.request.problem, about.target, row).into_iter().map(|one| one.newest);
            let one = brings.into_iter().find(|one| one.gpu_code && one.cuda.is_some() && !one.system_cuda)?;
            let name = format!("{} {}, which {name} requires,", one.package, one.version);
            let brought = CudaOnCpu::Unknown { name: &name, cuda: one.cuda.as_ref() };
            return Some(Warning::about(&brought, &key(row)));
        }
    };
    Some(Warning::about(&on_cpu, &key(row)))
}

/// What stands in the catalog for a package that loads its own kernels beside no release.
const NO_RELEASE: &str = "<0";

/// A package that leaves its own kernels out beside the release of its framework.
fn kernels_skipped(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let with = row.kernels_with.as_deref()?;
    let loads = Constraint::parse(with).ok()?;
    let build = about.gpu_builds().find(|build| build.package == row.framework && !build.is_nightly())?;
    let (name, of) = (format!("{} {}", row.package, row.version), format!("{} {}", build.package, build.version));
    let arch = about.asked.arch;
    if row.cpu_only.contains(&arch) {
        let without = KernelsSkipped::NotInWheel { name: &name, arch: arch.as_str() };
        return Some(Warning::about(&without, &key(row)));
    }
    let with = if with == NO_RELEASE { String::new() } else { format!("{} {with}", row.framework) };
    let skipped = KernelsSkipped::Beside { name: &name, build: &of, with: &with, jit: row.jit };
    (!loads.admits_build(&build.version, &build.variant))
        .then(|| Warning::about(&skipped, &[format!("stack.{}", row.package), format!("stack.{}", row.framework)]))
}

/// Parts of a package that do not run with the C library, the cuDNN, the GPUs or the toolkit of the target.
fn parts_failing(about: &About<'_, '_>, row: &Companion) -> Vec<Warning> {
    let request = about.request;
    let told = |rule: &Needs<'_>, on: &str| {
        let name = format!("{} {}", row.package, row.version);
        Warning::about(&PartFails { name: &name, on, says: &rule.row.says }, &key(row))
    };
    let mut warnings = Vec::new();
    for (rule, breaking) in parts::broken(request, about.asked, about.target, row) {
        let gpus = || names(about.asked.named_gpus().iter().filter(|gpu| !rule.needs.admits(&gpu.cc_version)));
        let on = match breaking {
            Breaking::Glibc(has) => Some(format!("on glibc {has}")),
            Breaking::Cudnn(has) => Some(format!("with cuDNN {has}")),
            Breaking::Gpus => gpus().map(|gpus| format!("on {gpus}")),
            Breaking::Toolkit(has, line) => {
                let serving = parts::serving(request, rule, &row.version, &line);
                Some(format!("with CUDA {has} ({serving} beside {} for CUDA {line})", row.framework))
            }
        };
        warnings.extend(on.map(|on| told(rule, &on)));
    }
    warnings
}

/// A package that follows CUDA alone, and whose part for a framework was compiled for another release or CUDA of that.
fn part_skipped(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let (framework, with) = row.kernels_with.as_deref().filter(|_| row.follows_cuda())?.split_once(' ')?;
    let loads = Constraint::parse(with).ok()?;
    let is_there = !row.cpu_only.contains(&about.asked.arch);
    let mut builds = about.target.builds.iter();
    let build = builds.find(|build| is_there && build.package == framework && !build.is_nightly())?;
    let fails = !loads.comparisons().filter_map(|one| one.version).any(|of| build.version.cmp_prefix(&of).is_eq());
    // It holds code for the CPU too, which goes with the release of the framework alone.
    let on_cpu = build.is_cpu();
    let with = if on_cpu { with.split(',').next()? } else { &with.replace(",+", "+") };
    let named = if on_cpu { format!("{framework} {}", build.version) } else { build.named() };
    let (name, with) = (format!("{} {}", row.package, row.version), format!("{framework} {with}"));
    let skipped = KernelsSkipped::Part { name: &name, of: framework, build: &named, with: &with, fails };
    (fails || !on_cpu && !loads.admits_build(&build.version, &build.variant))
        .then(|| Warning::about(&skipped, &[format!("stack.{}", row.package), format!("stack.{framework}")]))
}

/// What a package needs in Linux inside Windows.
fn on_wsl2(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let says = row.wsl2.as_deref().filter(|_| about.asked.windows_driver && !about.asked.is_cpu())?;
    Some(Warning::about(&Wsl2 { what: &format!("{} {}", row.package, row.version), says }, &key(row)))
}

/// A nightly that is more than a day younger than the nightly of torch beside it.
fn nightly_apart(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let torch = about.target.build(&row.framework).filter(|build| build.is_nightly())?;
    let younger = own::day(&row.version)? - own::day(&torch.version)?;
    let name = format!("{} {}", row.package, row.version);
    (younger > 1).then(|| Warning::about(&Nightly::Apart { name: &name, torch: &torch.version }, &key(row)))
}

/// What a wheel for a variant brings along from the package index, where it may be for another CUDA: what the lock holds
/// to the index of torch is not.
fn brings_other_cuda(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    if row.brings.is_empty() {
        return None;
    }
    let chosen = about.target.companions.iter().map(|one| one.package.to_string());
    let request = about.request;
    let held = held(request.problem, about.target, &request.packages)
        .into_iter()
        .filter(|one| one.seen)
        .map(|one| one.package);
    let told: Vec<String> = chosen.chain(held).collect();
    let is_told = |pin: &str| {
        let mut rests = told.iter().filter_map(|package| pin.strip_prefix(&**package));
        rests.any(|rest| rest.starts_with(['=', '>']))
    };
    let name = format!("{} {}+{}", row.package, row.version, row.variant.as_deref()?);
    // Of what has no release that goes with it a sentence of its own tells.
    let misfits = misfits(about, row);
    let is_misfit = |pin: &str| misfits.iter().any(|(_, misfit)| misfit.requires == *pin);
    let brings: Vec<&str> =
        row.brings.iter().map(|pin| &**pin).filter(|pin| !is_told(pin) && !is_misfit(pin)).collect();
    let brought = BringsOtherCuda::Index { name: &name, requires: &brings, framework: &row.framework };
    (!brings.is_empty()).then(|| Warning::about(&brought, &key(row)))
}

/// What a package requires that nobody asked for, where every release that may be installed loads another CUDA than the
/// framework does, or holds no code for a GPU.
fn brings_misfit(about: &About<'_, '_>, row: &Companion) -> Vec<Warning> {
    let name = format!("{} {}", row.package, row.carried());
    let told = |(build, misfit): (&Build, Misfit<'_>)| {
        let (name, requires, build) = (&*name, &*misfit.requires, &*build.named());
        let brings = match misfit.cuda {
            Some(_) if misfit.goes_if_named => {
                BringsOtherCuda::Index { name, requires: &[requires], framework: &row.framework }
            }
            Some(cuda) => BringsOtherCuda::Loads { name, requires, cuda, build },
            None => BringsOtherCuda::OnGpu { name, requires, says: misfit.says },
        };
        Warning::about(&brings, &key(row))
    };
    misfits(about, row).into_iter().map(told).collect()
}

/// Each of them, with the build that it does not go with.
fn misfits<'a, 'c>(about: &'a About<'_, 'c>, row: &Companion) -> Vec<(&'a Build, Misfit<'c>)> {
    let gpus: Vec<Cc> = about.asked.named_gpus().iter().map(|gpu| gpu.cc).collect();
    let of = |build: &Build| brought::misfits(about.request, row, build, about.asked.arch, &gpus).into_iter();
    about.gpu_builds().flat_map(|build| of(build).map(move |misfit| (&**build, misfit))).collect()
}

/// A package whose kernels are compiled when they are first used, where there may be no compiler of its CUDA: asked for
/// itself, or required by one that is put where there is none. Of what comes as source that is told for itself.
fn compiled_when_used(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let major = about.gpu_builds().find_map(|build| build.line())?.major();
    if about.asked.is_cpu() || row.sdist && row.jit {
        return None;
    }
    let mut compiled = fits::compiled_when_used(about.request.catalog, row, about.asked.arch);
    compiled.find_map(|compiled| compiled_with(about, row, compiled, major))
}

/// The toolkit with which a package that another one requires, or itself, compiles kernels when they are first used, where the
/// target is not known to have it.
fn compiled_with(about: &About<'_, '_>, row: &Companion, compiled: &Companion, major: u64) -> Option<Warning> {
    if has_compiler(about, compiled, major) {
        return None;
    }
    let is_named = about.target.companions.iter().any(|one| one.package == compiled.package);
    let by = (compiled.package != row.package).then(|| format!("{} {}", row.package, row.version));
    let lacks = without_toolkit(about, compiled, major);
    // Where nothing is said of compilers, nobody says that there is none.
    if by.is_some() && (is_named || lacks.is_none()) {
        return None;
    }
    let name = format!("{} {}", compiled.package, compiled.version);
    let bounds = bounds(about, compiled, major);
    // No toolkit is chosen for what is required only.
    let is_written = about.asked.toolkits.is_some() || by.is_some() && !bounds.is_empty();
    let toolkit = With::Any { major, bounds: &bounds, is_written };
    let when = When::FirstUsed { by: by.as_deref(), all: !compiled.gpu_code };
    let used = SourceOnly {
        name: &name,
        framework: &compiled.framework,
        toolkit,
        when,
        unisolated: false,
        older: None,
        finished: None,
        unread: None,
        refused: None,
        cudnn_headers: false,
        lacks,
    };
    Some(Warning::about(&used, &key(row)))
}

/// Whether the target is known to have cuDNN where compilers find it: an image that holds it beside nvcc, or what is written.
fn has_cudnn_headers(about: &About<'_, '_>) -> bool {
    let loaded = about.gpu_builds().find_map(|build| build.cudnn.as_ref());
    let catalog = about.request.catalog;
    let is_inside = |image| image::has_cudnn_headers(catalog, image, loaded);
    about.asked.cudnn.is_some() || about.target.image.is_some_and(is_inside)
}

/// The newest release before one that has to be compiled which is asked for as well and has a wheel for the target.
fn older_wheel(about: &About<'_, '_>, row: &Companion) -> Option<String> {
    let ask = about.request.companions.iter().find(|ask| *ask.package == *row.package)?;
    let rows = about.request.catalog.companions.of(&row.package).iter().rev();
    let older = rows.filter(|one| one.version < row.version && ask.constraint.admits(&one.version));
    let is_taken = |one: &&Companion| {
        let finished = about.target.finished_wheel(about.request, &about.asked.reading, one);
        finished.is_some_and(|finished| finished.use_of == Use::Taken)
    };
    older.into_iter().find(is_taken).map(|one| one.version.to_string())
}

/// Why a finished wheel does not run beside a snapshot, as the end of a sentence that begins with the wheel.
const WITH_RELEASE: &str =
    "is compiled with that release and not with this snapshot, beside which it may not load (\"undefined symbol\")";

/// A package that is compiled where it is installed, and with what.
fn source_only(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let lined = |build: &&Build| Some((build.line()?, build.version.prefix(2)));
    let mut of_framework = about.gpu_builds().filter(|build| build.package == row.framework);
    let (line, release) = of_framework.find_map(lined).filter(|_| row.sdist)?;
    let finished = about.target.finished_of(&row.package);
    if finished.is_some_and(|finished| finished.use_of == Use::Taken) {
        return None;
    }
    let major = line.major();
    let bounds = bounds(about, row, major);
    let holds_it = |image: &&Image| image.flavour == Flavour::Devel && has_compiler(about, row, major);
    let image = about.target.image.filter(holds_it).map(|image| format!("{}:{}", image.repository, image.tag));
    let build = about.request.catalog.source_build(row).map(|(build, _)| build);
    let force = build.and_then(|build| build.force.as_deref());
    let has_rows = about.request.catalog.finished_of(row).any(|wheel| wheel.broken.is_none());
    let refusal = finished.and_then(|finished| finished.refusal());
    let refused = match (refusal, mistaken(about.request.catalog, row, &about.target.builds)) {
        (Some(why), _) => Some((why, force)),
        (None, force) => force.map(|force| (WITH_RELEASE.to_string(), Some(force))),
    };
    let on = row.source_for().map_or(String::new(), |arch| format!(" on {arch}"));
    let source_only = SourceOnly {
        name: &format!("{} {}{on}", row.package, row.version),
        framework: &row.framework,
        toolkit: match (about.target.toolkit, &image) {
            (Some(toolkit), _) => With::Chosen(toolkit.version.as_str()),
            (None, Some(image)) => With::Image(image),
            (None, None) => With::Any { major, bounds: &bounds, is_written: about.asked.toolkits.is_some() },
        },
        when: When::Installed,
        unisolated: build.is_some(),
        older: older_wheel(about, row),
        finished: finished.filter(|_| refused.is_none()).map(|_| (release.to_string(), major)),
        refused: refused.map(|(why, force)| (release.to_string(), major, why, force)),
        unread: build.and_then(|build| Some((build.unread.as_deref()?, force))).filter(|_| !has_rows),
        cudnn_headers: row.cudnn_headers.is_some() && !has_cudnn_headers(about),
        lacks: without_toolkit(about, row, major),
    };
    Some(Warning::about(&source_only, &key(row)))
}
