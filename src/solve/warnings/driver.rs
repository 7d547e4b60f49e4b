//! A driver that runs the stack with limits, needs help, does not list the board, or may drop it one day.

use crate::catalog::rows::{Class, Image, Os, Subject, Text};
use crate::coverage::Coverage;
use crate::solve::demand;
use crate::solve::driver_row::DriverRow;
use crate::solve::fits;
use crate::solve::image;
use crate::solve::kernel;
use crate::solve::recommended;
use crate::solve::request::{DriverRequest, GpuRequest, TargetRequest, Told};
use crate::spec::DriverPolicy;
use crate::types::{Constraint, DriverMode, Version, variant};
use crate::warning::{
    DriverDropsGpu, DriverKernel, DriverMinimum, DriverPolicyUnmet, ForwardCompat, GpuNotListed, JetsonDriver,
    JitLimited, SystemUnsaid, Warning,
};

use super::About;

pub(super) fn warnings<'c>(about: &About<'_, 'c>) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = no_minimum(about).into_iter().collect();
    let Some(driver) = &about.target.driver else { return warnings };
    warnings.extend(policy_unmet(about));
    warnings.extend(jetpack_unsaid(about));
    warnings.extend(jit_limited(about, driver));
    warnings.extend(forward_compat(about, driver));
    warnings.extend(jetson(about, driver));
    warnings.extend(not_listed(about, driver));
    warnings.extend(drops_gpu(about, driver));
    warnings.extend(kernel_too_old(about, driver));
    warnings
}

/// A driver that is there, or the least that suffices, which the kernel that comes with the system does not load.
fn kernel_too_old(about: &About<'_, '_>, driver: &DriverRow<'_>) -> Option<Warning> {
    let least = about.target.minimum.filter(|_| !about.asked.pins_driver());
    let driver = &least.unwrap_or(driver.version);
    let too_old = |driver: &Version| kernel::too_old(about.request, about.asked, driver);
    let (rule, os) = (too_old(driver)?, about.asked.os?);
    let newest = &about.request.catalog.branches.iter().rfind(|row| too_old(&row.branch).is_none())?.branch;
    let says = rule.row.says.trim_end_matches('.');
    let older = DriverKernel { driver, newest, os: &os.name, kernel: os.kernel.as_ref()?, says };
    Some(Warning::about(&older, &about.keys("os")))
}

/// A minimum that overridden rules leave unstated.
fn no_minimum(about: &About<'_, '_>) -> Option<Warning> {
    let asked = about.asked;
    if about.target.minimum.is_some() || asked.is_cpu() {
        return None;
    }
    let of_driver =
        |rule: &&str| about.request.rules.named(rule).is_some_and(|rule| rule.row.object == Subject::Driver);
    let off = about.request.off.iter().filter(|off| off.bears_on(&off.rule, &asked.name));
    let rules: Vec<&str> = off.map(|off| off.rule.as_str()).filter(of_driver).collect();
    let unset = DriverMinimum { rules: &rules };
    (!rules.is_empty()).then(|| Warning::about(&unset, &about.keys("driver")))
}

/// A policy by which no branch can be recommended, where one could be without it.
fn policy_unmet<'c>(about: &About<'_, 'c>) -> Vec<Warning> {
    fn is_recommended<'c>(about: &About<'_, 'c>, asked: &TargetRequest<'c>) -> bool {
        recommended::driver(about.request, asked, about.target).is_some()
    }
    let mut warnings = Vec::new();
    for asked in &about.all {
        let kinds = match asked.driver_policy {
            DriverPolicy::Any => continue,
            DriverPolicy::Production => "production or long-term",
            DriverPolicy::LongTerm => "long-term",
        };
        let any = TargetRequest { driver_policy: DriverPolicy::Any, ..(*asked).clone() };
        if !is_recommended(about, asked) && is_recommended(about, &any) {
            let unmet = DriverPolicyUnmet { target: &asked.name, kinds };
            warnings.push(Warning::about(&unmet, &[asked.key("driver-policy")]));
        }
    }
    warnings
}

/// A Jetson of which no system is written: its driver is that of some JetPack for its board.
fn jetpack_unsaid(about: &About<'_, '_>) -> Option<Warning> {
    let asked = about.asked;
    // What was made for some JetPacks asks for the system by itself.
    if asked.os.is_some() || about.target.builds.iter().any(|build| !build.systems.is_empty()) {
        return None;
    }
    let gpu = asked.named_gpus().iter().find(|gpu| gpu.is_jetson())?;
    let is_for_board = |row: &&Os| row.boards.contains(&gpu.cc_version) && row.cuda.is_some();
    let jetpack = about.request.catalog.oses.iter().rfind(is_for_board).filter(|_| about.target.image.is_none())?;
    let unsaid = SystemUnsaid::Nothing { jetpack: &jetpack.id, cuda: jetpack.cuda.as_ref()? };
    Some(Warning::about(&unsaid, &about.keys("gpu")))
}

/// What most people compile kernels with while they run, beside the frameworks.
const NUMBA_CUDA: &str = "numba-cuda";

fn jit_limited(about: &About<'_, '_>, driver: &DriverRow<'_>) -> Option<Warning> {
    let asked = about.asked;
    let compiler = run_time_compiler(about, driver);
    let lines = about.gpu_builds().filter_map(|build| build.line());
    let toolkits = about.target.toolkit.iter().chain(&about.target.cuda).map(|toolkit| toolkit.version.prefix(2));
    let pieces = about.target.pieces.iter().map(|pieces| pieces.toolkit.version.prefix(2));
    let own_code = about.target.companions.iter().filter(|row| row.gpu_code);
    let compiled = own_code.clone().filter_map(|row| fits::compiled_by(about.request.catalog, row, asked.arch));
    let all = lines.chain(toolkits).chain(pieces).chain(compiled).chain(about.target.own_line());
    let uses = compiler.map(|(_, line)| line).or_else(|| all.max());
    // A cuda-compat package may itself be older than the stack.
    let is_older = match about.target.mode() {
        DriverMode::MinorVersion => true,
        DriverMode::ForwardCompat => uses.as_ref().zip(driver.cuda()).is_some_and(|(uses, has)| has < uses),
        DriverMode::Native => false,
    };
    if !asked.pins_driver() || compiler.is_none() && !is_older || about.target.is_beyond_driver() {
        return None;
    }
    let compat = driver.compat.map_or(String::new(), |compat| format!(" with {}", compat.package()));
    let name = as_written(asked, driver) + &compat;
    let packages = own_code.map(|row| format!("{} {}", row.package, row.version)).collect();
    // What has PTX alone for a GPU and was chosen is PTX that this driver compiles.
    let is_jit = about.target.gpus.iter().any(|gpu| gpu.coverage == Some(Coverage::Jit));
    if is_jit && compiler.is_none() && about.target.companions.iter().all(|row| !row.gpu_code) {
        return None;
    }
    let newest = about.request.catalog.companions.of(NUMBA_CUDA).last();
    let linking = newest.and_then(|row| Some((&*row.package, row.nvjitlink?)));
    let mut linked = about.target.companions.iter().filter(|row| row.nvjitlink.is_some());
    let links = linked.next().map(|row| format!("{} {}", row.package, row.version));
    let builds = about.request.build.is_some();
    // What is known by the CUDA that it shows says that itself.
    let is_told = matches!(asked.driver, DriverRequest::Cuda(_, Told::Key(_))) && compat.is_empty();
    let supports = driver.cuda().copied().filter(|_| !is_told);
    let compiler = compiler.and_then(|(name, _)| name);
    let limited = JitLimited { driver: &name, supports, uses, packages, compiler, builds, linking, links };
    Some(Warning::about(&limited, &about.keys(asked.driver_setting())))
}

/// The line of the system's toolkit where something compiles kernels with it while it runs, the driver is older, and PTX is what
/// it gets: from Numba's own target of CUDA, which is named, or from what links them itself with newer toolkits only, and beside
/// a framework may find the library that does.
/// Sources: <https://numba.readthedocs.io/en/stable/cuda/minor_version_compatibility.html> and
/// <https://github.com/numba/numba/issues/8961>.
fn run_time_compiler(about: &About<'_, '_>, driver: &DriverRow<'_>) -> Option<(Option<&'static str>, Version)> {
    let chosen = about.target.toolkit.or(about.target.cuda).map(|toolkit| toolkit.version);
    let installed = || about.asked.toolkits.iter().flatten().copied().min();
    let line = chosen.or_else(installed)?.prefix(2);
    let supports = driver.cuda().filter(|supports| line > **supports)?;
    let by_numba = || about.request.packages.iter().any(|(name, _)| name == "numba");
    match about.target.companions.iter().find_map(|row| row.nvjitlink) {
        Some(first) => (line < first && line.major() == supports.major()).then_some((None, line)),
        None => by_numba().then_some((Some("Numba"), line)),
    }
}

/// A driver by what is written, which says more than the release that it was judged at: 535, not 535.43.02. Of several,
/// that which admits it.
pub(super) fn as_written(asked: &TargetRequest<'_>, driver: &DriverRow<'_>) -> String {
    match &asked.driver {
        DriverRequest::Cuda(_, Told::System) => format!("of {}", asked.os.map_or("", |os| &os.name)),
        DriverRequest::Cuda(_, Told::Jetson(number)) => number.to_string(),
        DriverRequest::Cuda(cuda, Told::Key(_)) => format!("of CUDA {cuda}"),
        DriverRequest::AtWorst(constraint) => match one_of(constraint, &driver.version) {
            Some(single) => single.to_string(),
            None if constraint.as_str().contains('.') => driver.version.to_string(),
            None => driver.version.major().to_string(),
        },
        _ => driver.version.to_string(),
    }
}

/// The version that is written alone, or as one of several that may be, and admits this one.
fn one_of(constraint: &Constraint, version: &Version) -> Option<Version> {
    let parts = constraint.as_str().split("||").filter_map(|part| Constraint::parse(part).ok());
    parts.filter(|part| part.admits(version)).find_map(|part| part.single().copied())
}

fn forward_compat(about: &About<'_, '_>, driver: &DriverRow<'_>) -> Option<Warning> {
    let added = driver.added()?;
    let (catalog, arch) = (about.request.catalog, about.asked.arch);
    // One of which nobody has read what it states is judged as its neighbour. NVIDIA's own with a torch begin with the
    // package where the driver is older: <https://github.com/NVIDIA/nvidia-docker/issues/1479>.
    let is_nvidias = |torch: &Text| variant::parts(torch).1.is_some();
    let is_judged = |image: &Image| {
        image.torch.as_ref().is_none_or(is_nvidias) && demand::requirement(catalog, image, arch).is_some()
    };
    let holds =
        |image: &&Image| image.cuda.cmp_prefix(&added.cuda).is_eq() && (image::holds_compat(image) || is_judged(image));
    let image = about.target.image.filter(holds).map(Image::name);
    let (name, package) = (as_written(about.asked, driver), added.package());
    let compat = ForwardCompat { driver: &name, package: &package, image: image.as_deref() };
    Some(Warning::about(&compat, &about.keys(about.asked.driver_setting())))
}

fn jetson(about: &About<'_, '_>, driver: &DriverRow<'_>) -> Option<Warning> {
    let minimum = about.target.minimum.as_ref().filter(|_| !about.asked.has_system_driver())?;
    let minimum = Some(minimum).filter(|_| !about.asked.has_unnumbered_driver());
    let gpu = about.asked.named_gpus().iter().find(|gpu| gpu.is_jetson())?;
    let systems = about.request.catalog.oses.iter().filter(|os| os.boards.contains(&gpu.cc_version));
    let inside = about.target.image.filter(|image| image.torch.is_some());
    let inside = inside.and_then(|image| Version::parse(&format!("{}.0", image.cuda.major())).ok());
    let first = systems.filter_map(|os| os.cuda).min().max(inside);
    let jetson = JetsonDriver { gpu: &gpu.name, cuda: driver.branch.cuda.max(first), minimum };
    Some(Warning::about(&jetson, &about.keys("gpu")))
}

/// Boards that the worst driver which hosts may have does not list. Where none is written that is the minimum which the lock
/// states; a family name means each of its products.
fn not_listed(about: &About<'_, '_>, driver: &DriverRow<'_>) -> Vec<Warning> {
    let is_free = matches!(about.asked.driver, DriverRequest::Free(_));
    let least = about.target.minimum.filter(|_| is_free).unwrap_or(driver.version);
    let first = |gpu: &GpuRequest<'_>| gpu.row.and_then(|row| row.first_driver);
    let is_listed = |gpu: &GpuRequest<'_>| match first(gpu) {
        Some(first) if driver.windows => least.major() >= first.major(),
        Some(first) => least >= first,
        None => !is_of_unknown_generation(about, gpu),
    };
    let gpus = about.asked.named_gpus();
    let mut boards: Vec<&GpuRequest<'_>> = gpus.iter().filter(|gpu| !is_listed(gpu)).collect();
    boards.sort_by(|a, b| first(b).cmp(&first(a)).then_with(|| a.name.cmp(&b.name)));
    boards.dedup_by(|a, b| a.name == b.name);
    let (known, unknown): (Vec<_>, Vec<_>) = boards.into_iter().partition(|gpu| first(gpu).is_some());
    let is_number = is_free || matches!(about.asked.driver, DriverRequest::Exact(_));
    let keys = [about.keys("gpu"), about.keys(about.asked.driver_setting())].concat();
    let warning = |boards: Vec<&GpuRequest<'_>>| {
        let newest = first(boards.first()?);
        let of_branch = !is_number && newest.is_some_and(|first| least.major() == first.major());
        let written = &*boards[0].written;
        let is_one = boards.iter().all(|gpu| gpu.written == written);
        let has_others = gpus.iter().any(|gpu| gpu.written == written && is_listed(gpu));
        let family = Some(written).filter(|_| is_one && has_others);
        let boards: Vec<_> = boards.iter().map(|gpu| (&*gpu.name, first(gpu))).collect();
        let not_listed = GpuNotListed { boards: &boards, family, driver: &least, of_branch, windows: driver.windows };
        Some(Warning::about(&not_listed, &keys))
    };
    [known, unknown].into_iter().filter_map(warning).collect()
}

/// Whether nothing says which drivers drive GPUs of a capability: no rule does, and they are none of Jetsons, whose driver
/// comes with the system.
fn is_of_unknown_generation(about: &About<'_, '_>, gpu: &GpuRequest<'_>) -> bool {
    let mut rules = about.request.rules.between(Subject::Gpu, Subject::Driver);
    let mut boards = about.request.catalog.gpus.iter().filter(|row| row.cc == gpu.cc);
    !rules.any(|rule| rule.range.admits(&gpu.cc_version)) && boards.any(|row| row.class != Class::Jetson)
}

/// Branches that the hosts may have and that no longer drive the GPU.
fn drops_gpu(about: &About<'_, '_>, driver: &DriverRow<'_>) -> Option<Warning> {
    let DriverRequest::AtWorst(constraint) = &about.asked.driver else { return None };
    let gpus = about.request.gpu_rules(about.asked);
    let branches = &about.request.catalog.branches;
    for branch in branches.iter().map(|row| &row.branch).filter(|branch| constraint.admits(branch)) {
        let dropped = gpus.iter().find(|gpu| gpu.driver.iter().any(|needs| !needs.needs.admits(branch)));
        let Some(dropped) = dropped else { continue };
        let drops = DriverDropsGpu { branch, admitted_by: constraint, gpu: &dropped.gpu.name };
        let later = *branch > driver.branch.branch;
        return later.then(|| Warning::about(&drops, &about.keys(about.asked.driver_setting())));
    }
    None
}
