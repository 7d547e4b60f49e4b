//! What is already installed on a machine and no part of the answer: a cuda-compat package that is not loaded, a cuDNN that
//! nobody loads or that is older than the GPU, a ptxas that a framework runs in place of its own; and what WSL2 does without.

use crate::catalog::rows::{Build, Flavour, Service, Subject};
use crate::solve::driver_row::DriverRow;
use crate::solve::installed::{is_loaded, names_branch};
use crate::solve::request::GpuRequest;
use crate::solve::rules::Needs;
use crate::solve::{by_pip, recommended, services};
use crate::spec::Runtime;
use crate::types::{CpuArch, Version};
use crate::warning::{CompatInstalled, CudnnGpu, CudnnInstalled, PathPtxas, ToolkitGlibc, Warning, Wsl2};

use super::About;
use super::gpu::names;

/// The warnings about targets that share one choice.
pub(super) fn warnings(about: &About<'_, '_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    warnings.extend(compat(about));
    warnings.extend(cudnn(about));
    warnings.extend(cudnn_before_gpu(about));
    warnings.extend(toolkit_on_older_glibc(about));
    warnings.extend(about.gpu_builds().filter_map(|build| ptxas_in_path(about, build)));
    let driver = about.target.driver.as_ref().map(|driver| &driver.version);
    let services = services::of_target(about.request.catalog, about.asked, driver);
    warnings.extend(services.into_iter().filter(|row| row.needs.is_none()).map(|row| wsl2(about, row)));
    warnings.extend(wsl2_elsewhere(about));
    warnings
}

/// WSL2 on a processor for which nobody has told of it: its drivers and its wheels are judged as they are elsewhere.
fn wsl2_elsewhere(about: &About<'_, '_>) -> Option<Warning> {
    let arch = Some(about.asked.arch).filter(|arch| about.asked.windows_driver && *arch != CpuArch::X86_64)?;
    let what = format!("WSL2 on {arch}");
    let says =
        "is not known: NVIDIA's documents that were read tell of x86_64 only, and Windows' driver is judged by those";
    Some(Warning::about(&Wsl2 { what: &what, says }, &about.keys("platform")))
}

/// What WSL2 does without, on some boards or with some drivers.
fn wsl2(about: &About<'_, '_>, row: &Service) -> Warning {
    let boards: Vec<&str> = services::boards(row, about.asked).map(|gpu| gpu.written.as_str()).collect();
    let driver = about.target.driver.as_ref().filter(|_| row.drivers.is_some());
    let (what, key) = match driver {
        Some(driver) => (format!("driver {}", driver.version), "driver"),
        None => (boards.join(", "), "gpu"),
    };
    Warning::about(&Wsl2 { what: &what, says: &row.says }, &about.keys(key))
}

/// A cuda-compat that is not loaded, or of which nobody knows whether it works.
fn compat(about: &About<'_, '_>) -> Option<Warning> {
    let asked = about.asked;
    let compat = asked.compat?;
    // Where the hosts may get another driver, it is the one that is recommended to them.
    let recommended = || {
        DriverRow::plain(about.request.catalog, recommended::driver(about.request, asked, about.target)?.release, false)
    };
    let row = &match asked.pins_driver() {
        true => about.target.driver.clone()?,
        false => recommended().filter(|row| !is_loaded(compat, row))?,
    };
    let (package, driver) = (&*compat.package(), &row.version);
    let unsure = asked.named_gpus().iter().find(|gpu| !gpu.is_datacenter()).map_or("the GPU", |gpu| &gpu.written);
    let installed = if row.windows {
        CompatInstalled::Wsl2 { package }
    } else if !is_loaded(compat, row) {
        CompatInstalled::NotLoaded { package, driver, in_container: asked.runtime == Runtime::Container }
    } else if row.compat.is_none() {
        CompatInstalled::Gpu { package, driver, gpu: unsure }
    } else if !names_branch(compat, driver) {
        CompatInstalled::Branch { package, branch: driver.major() }
    } else {
        return None;
    };
    Some(Warning::about(&installed, &about.keys("compat")))
}

/// A ptxas that a framework finds in PATH and runs in place of its own, though it does not read what that writes: of a toolkit
/// on the machine, or of an image that holds one. Of several toolkits any may come first.
fn ptxas_in_path(about: &About<'_, '_>, build: &Build) -> Option<Warning> {
    let target = about.target;
    let in_image = target.image.filter(|image| image.flavour == Flavour::Devel);
    let (has, key): (Vec<Version>, _) = match (&about.asked.toolkits, in_image) {
        (Some(installed), _) => (installed.clone(), "toolkit"),
        (None, Some(image)) => (vec![image.cuda], "image"),
        (None, None) => (target.toolkit.iter().map(|toolkit| toolkit.version).collect(), "toolkit"),
    };
    let rules = about.request.rules.of_package(&build.package, Subject::Ptxas);
    let binds = |rule: &&Needs<'_>| about.request.holds(&rule.row.id, &about.asked.name);
    let against = |rule: &Needs<'_>| has.iter().copied().find(|cuda| !rule.needs.admits(cuda));
    let found = rules.about(&build.version).filter(binds).find_map(|rule| Some((rule, against(rule)?)));
    let (rule, cuda) = found?;
    let name = format!("{} {}", build.package, build.version);
    let ptxas = PathPtxas { name: &name, cuda: &cuda, needs: &rule.row.needs, says: &rule.row.says };
    Some(Warning::about(&ptxas, &about.keys(key)))
}

/// A cuDNN that is older than a GPU: the one of the wheels, else the one that is there.
fn cudnn_before_gpu(about: &About<'_, '_>) -> Option<Warning> {
    let target = about.target;
    let own = target.builds.iter().filter(|build| !build.system_cuda).find_map(|build| build.cudnn.as_ref());
    let brought = target.cudnn.map(|row| &row.version).or(own).or_else(|| by_pip::cudnn(&target.by_pip));
    let in_image = target.image.and_then(|image| image.cudnn.as_ref()).filter(|version| version.major() > 0);
    let (cudnn, key) = match (brought, &about.asked.cudnn) {
        (Some(brought), _) => (brought, None),
        (None, Some(installed)) => (installed, Some("cudnn")),
        (None, None) => (in_image?, Some("image")),
    };
    let gpus = about.asked.named_gpus();
    let rules = || about.request.rules.between(Subject::Gpu, Subject::Cudnn);
    let is_newer = |gpu: &&GpuRequest<'_>| {
        let mut about_gpu = rules().filter(|rule| rule.range.admits(&gpu.cc_version));
        about_gpu.any(|rule| !rule.needs.admits(cudnn) && about.request.holds(&rule.row.id, &about.asked.name))
    };
    let newer: Vec<&GpuRequest<'_>> = gpus.iter().filter(is_newer).collect();
    let rule = rules().find(|rule| newer.first().is_some_and(|gpu| rule.range.admits(&gpu.cc_version)))?;
    let named = names(newer.into_iter())?;
    let old = CudnnGpu { gpus: &named, cudnn, needs: &rule.row.needs, says: &rule.row.says };
    let keys = [about.keys("gpu"), key.map(|key| about.keys(key)).unwrap_or_default()].concat();
    Some(Warning::about(&old, &keys))
}

/// A toolkit that is compiled with, or whose libraries are loaded, and of which some need a newer C library than there is.
fn toolkit_on_older_glibc(about: &About<'_, '_>) -> Option<Warning> {
    let (asked, target) = (about.asked, about.target);
    let has = asked.glibc.filter(|_| !asked.is_cpu())?;
    let rules: Vec<_> = about.request.rules.between(Subject::Cublas, Subject::Glibc).collect();
    let broken = |toolkit: &Version| {
        let mut of_toolkit = rules.iter().filter(|rule| rule.range.admits(toolkit) && !rule.needs.admits(&has));
        of_toolkit.find(|rule| about.request.holds(&rule.row.id, &asked.name))
    };
    let is_loaded =
        about.gpu_builds().any(|build| build.system_cuda) || target.companions.iter().any(|row| row.system_cuda);
    let named: Vec<Version> = asked.toolkits.iter().flatten().filter(|_| is_loaded).copied().collect();
    let all = target.toolkit.map_or(named, |toolkit| vec![toolkit.version]);
    let toolkit = *all.iter().max().filter(|_| all.iter().all(|toolkit| broken(toolkit).is_some()))?;
    let rule = broken(&toolkit)?;
    let lines = about.request.catalog.toolkits.iter().map(|row| row.version.prefix(2));
    let instead = lines.filter(|line| *line < toolkit && broken(line).is_none()).max();
    let old = ToolkitGlibc {
        toolkit: &toolkit,
        glibc: &has,
        needs: &rule.row.needs,
        says: &rule.row.says,
        instead: instead.as_ref(),
    };
    let key = match (&asked.toolkits, asked.os) {
        (Some(_), _) => "toolkit",
        (None, Some(_)) => "os",
        (None, None) => "glibc",
    };
    Some(Warning::about(&old, &about.keys(key)))
}

/// A cuDNN that is installed and that no part of the stack loads, or whose libraries mix with those of a wheel.
fn cudnn(about: &About<'_, '_>) -> Option<Warning> {
    let in_image = about.target.image.and_then(|image| image.cudnn.as_ref()).filter(|version| version.major() > 0);
    let (installed, key) = match &about.asked.cudnn {
        Some(installed) => (installed, "cudnn"),
        None => (in_image?, "image"),
    };
    let own = |build: &&&Build| build.cudnn.is_some() && !build.system_cuda;
    let build = about.target.builds.iter().find(own)?;
    // Where the build leaves it open, the one that the lock names.
    let brings = about.target.cudnn.map(|row| &row.version).or(build.cudnn.as_ref())?;
    let name = format!("{} {}+{}", build.package, build.version, build.variant);
    let rules = &about.request.rules;
    let loads = |package: &str| {
        let (rules, mut rows) = (rules.of_package(package, Subject::Cudnn), about.target.companions.iter());
        rows.any(|row| *row.package == *package && rules.about(&row.version).next().is_some())
    };
    let mixed = rules.about(Subject::Cudnn, brings, Subject::Cudnn).find(|rule| {
        let is_there = rule.row.package.as_deref().is_none_or(loads);
        is_there && !rule.needs.admits(installed) && brings.cmp_prefix(installed).is_ne()
    });
    let told = match mixed {
        Some(rule) => CudnnInstalled::Mixed { name: &name, brings, installed, says: &rule.row.says },
        None if key == "cudnn" && brings.major() != installed.major() => {
            CudnnInstalled::Unused { name: &name, brings, installed }
        }
        None => return None,
    };
    Some(Warning::about(&told, &about.keys(key)))
}
