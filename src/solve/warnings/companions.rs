//! Packages beside the frameworks: GPU code of their own that nobody has read or that only a driver's compiler makes run,
//! what is compiled where it is installed, and what comes along from another index.

use crate::catalog::rows::{Build, Companion, Flavour, Subject};
use crate::coverage::Coverage;
use crate::solve::problem::Needs;
use crate::solve::request::{GpuRequest, ImageRequest};
use crate::solve::{fits, own};
use crate::types::{CpuArch, Version};
use crate::warning::{
    BringsOtherCuda, CudnnMissing, JitOnly, Nightly, SourceOnly, SystemCuda, UnknownGpuCode, Warning, When, With,
};

use super::About;

pub(super) fn warnings(about: &About<'_, '_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for row in &about.target.companions {
        warnings.extend(source_only(about, row));
        warnings.extend(compiled_when_used(about, row));
        warnings.extend(brings_other_cuda(about, row));
        warnings.extend(nightly_apart(about, row));
        warnings.extend(system_cuda(about, row));
        warnings.extend(cudnn_missing(about, row));
        if row.gpu_code {
            warnings.extend(gpu_code(about, row));
        }
    }
    warnings
}

fn key(row: &Companion) -> [String; 1] {
    [format!("stack.{}", row.package)]
}

/// GPU code that is not known, or PTX alone.
fn gpu_code(about: &About<'_, '_>, row: &Companion) -> Vec<Warning> {
    let name = format!("{} {}", row.package, row.version);
    let code = |gpu: &GpuRequest<'_>| fits::companion_code(row, about.asked.arch, gpu.cc);
    let gpus = about.asked.named_gpus();
    let mut warnings = Vec::new();
    if gpus.iter().any(|gpu| code(gpu).is_none()) {
        warnings.push(Warning::about(&UnknownGpuCode::Package { name: &name }, &key(row)));
    }
    let jit = gpus.iter().filter(|gpu| code(gpu) == Some(Coverage::Jit));
    let jit: Vec<&str> = jit.map(|gpu| gpu.name.as_str()).collect();
    if !jit.is_empty() {
        warnings.push(Warning::about(&JitOnly { what: &name, gpus: &jit }, &key(row)));
    }
    warnings
}

/// CUDA's libraries that a package takes from the system, where nothing else brings them and nobody says that they are there.
fn system_cuda(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let (asked, target) = (about.asked, about.target);
    let brings = |other: &Companion| other.follows_cuda() && !other.system_cuda;
    let is_brought = target.companions.iter().any(|other| brings(other)) || about.gpu_builds().next().is_some();
    let is_there = asked.toolkits.is_some() || !matches!(asked.image, ImageRequest::No);
    let major = row.cuda.as_ref().filter(|_| row.system_cuda && !asked.is_cpu() && !is_brought && !is_there)?;
    let (name, what) = (format!("{} {}", row.package, row.version), format!("CUDA {major}"));
    let install = SystemCuda::Install { name: &name, what: &what, keys: "`toolkit`" };
    Some(Warning::about(&install, &key(row)))
}

/// A cuDNN that a package loads, where neither a wheel nor the image nor the system has one that does.
fn cudnn_missing(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let target = about.target;
    if about.asked.is_cpu() {
        return None;
    }
    let mut there: Vec<&Version> = target.builds.iter().filter_map(|build| build.cudnn.as_ref()).collect();
    there.extend(target.cudnn.map(|row| &row.version));
    there.extend(target.image.and_then(|image| image.cudnn.as_ref()));
    there.extend(about.asked.cudnn.as_ref());
    let rules = about.request.rules.of_package(&row.package, Subject::Cudnn);
    // Of the cuDNN in some images no version is known.
    let serves = |rule: &Needs<'_>| there.iter().any(|has| rule.needs.admits(has) || has.major() == 0);
    let rule = rules.about(&row.version).find(|rule| !serves(rule))?;
    let missing = CudnnMissing {
        name: &format!("{} {}", row.package, row.version),
        needs: &rule.row.needs,
        has: there.first().copied(),
    };
    Some(Warning::about(&missing, &key(row)))
}

/// A nightly that is more than a day younger than the nightly of torch beside it.
fn nightly_apart(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let torch = about.target.builds.iter().find(|build| build.is_nightly() && build.package == row.framework)?;
    let younger = own::day(&row.version)? - own::day(&torch.version)?;
    let name = format!("{} {}", row.package, row.version);
    (younger > 1).then(|| Warning::about(&Nightly::Apart { name: &name, torch: &torch.version }, &key(row)))
}

/// What a wheel for a variant brings along from the package index, where it may be for another CUDA.
fn brings_other_cuda(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let named = |pin: &str| {
        let mut asked = about.request.companions.iter().filter_map(|ask| pin.strip_prefix(ask.package));
        asked.any(|rest| rest.starts_with(['=', '>']))
    };
    let brings: Vec<&str> = row.brings.iter().map(|pin| &**pin).filter(|pin| !named(pin)).collect();
    let name = format!("{} {}+{}", row.package, row.version, row.variant.as_deref()?);
    let brought = BringsOtherCuda { name: &name, requires: &brings, framework: &row.framework };
    (!brings.is_empty()).then(|| Warning::about(&brought, &key(row)))
}

/// A package whose kernels are compiled when they are first used, where there may be no compiler: asked for itself, or
/// required by one that is put into an image without.
fn compiled_when_used(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let (target, catalog) = (about.target, about.request.catalog);
    let major = about.gpu_builds().find_map(|build| fits::line_of(&build.variant))?.major();
    let has_compiler = target.image.is_some_and(|image| image.flavour == Flavour::Devel);
    if target.toolkit.is_some() || has_compiler || about.asked.is_cpu() {
        return None;
    }
    let compiled = fits::compiled_when_used(catalog, row, about.asked.arch)?;
    let is_named = target.companions.iter().any(|one| one.package == compiled.package);
    let by = (!row.jit).then(|| format!("{} {}", row.package, row.version));
    // Outside of images nobody says that there is no compiler.
    if by.is_some() && (is_named || target.image.is_none()) {
        return None;
    }
    let name = format!("{} {}", compiled.package, compiled.version);
    let toolkit = With::Any { major, bounds: "" };
    let when = When::FirstUsed(by.as_deref());
    let used = SourceOnly { name: &name, framework: &compiled.framework, toolkit, when, finished: None, lacks: None };
    Some(Warning::about(&used, &key(row)))
}

/// Why the target has no toolkit of a CUDA major, as far as gpuenv.toml and its image tell.
fn without_toolkit(about: &About<'_, '_>, major: u64) -> Option<String> {
    if let Some(image) = about.target.image {
        let name = format!("{}:{}", image.repository, image.tag);
        return (image.flavour != Flavour::Devel).then(|| format!("{name} holds no nvcc (a devel image does)"));
    }
    let installed = about.asked.toolkits.as_ref()?;
    let names: Vec<&str> = installed.iter().map(Version::as_str).collect();
    let lacks = installed.iter().all(|toolkit| toolkit.major() != major);
    lacks.then(|| format!("the target has CUDA {} only, with which it is not compiled", names.join(", ")))
}

/// A package that is compiled where it is installed, and with what.
fn source_only(about: &About<'_, '_>, row: &Companion) -> Option<Warning> {
    let lined = |build: &&Build| Some((fits::line_of(&build.variant)?, build.version.prefix(2)));
    let mut of_framework = about.gpu_builds().filter(|build| build.package == row.framework);
    let (line, release) = of_framework.find_map(lined).filter(|_| row.sdist)?;
    let major = line.major();
    let bounds = about.request.rules.of_package(&row.package, Subject::Toolkit);
    let bounds: String = bounds.about(&row.version).map(|needs| format!(" {}", needs.row.needs)).collect();
    let made_for = format!("{release}+cu{major}");
    let is_finished = row.finished.iter().any(|one| *one == made_for) && about.asked.arch == CpuArch::X86_64;
    let source_only = SourceOnly {
        name: &format!("{} {}", row.package, row.version),
        framework: &row.framework,
        toolkit: match about.target.toolkit {
            Some(toolkit) => With::TargetSolution(toolkit.version.as_str()),
            None => With::Any { major, bounds: &bounds },
        },
        when: When::Installed,
        finished: is_finished.then(|| (release.to_string(), major)),
        lacks: without_toolkit(about, major),
    };
    Some(Warning::about(&source_only, &key(row)))
}
