//! A driver that runs the stack with limits, needs help, does not list the board, or may drop it one day.

use crate::catalog::rows::Class;
use crate::solve::driver::DriverRow;
use crate::solve::fits;
use crate::solve::machine::gpu_rules;
use crate::solve::request::{DriverRequest, GpuRequest};
use crate::warning::{DriverDropsGpu, ForwardCompat, GpuNotListed, JetsonDriver, JitLimited, Warning};

use super::About;

pub(super) fn warnings<'c>(about: &About<'_, 'c>) -> Vec<Warning> {
    let Some(driver) = &about.target.driver else { return Vec::new() };
    let mut warnings = Vec::new();
    warnings.extend(jit_limited(about, driver));
    warnings.extend(forward_compat(about, driver));
    warnings.extend(jetson(about, driver));
    warnings.extend(not_listed(about, driver));
    warnings.extend(drops_gpu(about, driver));
    warnings
}

fn jit_limited(about: &About<'_, '_>, driver: &DriverRow<'_>) -> Option<Warning> {
    let asked = about.asked;
    if !asked.pins_driver() || about.target.mode() != "minor-version" {
        return None;
    }
    let of_system = asked.os.filter(|_| asked.has_system_driver());
    let name = of_system.map_or_else(|| driver.version.to_string(), |os| format!("of {}", os.name));
    let lines = about.gpu_builds().filter_map(|build| fits::line_of(&build.variant));
    let uses = lines.chain(about.target.toolkit.iter().map(|toolkit| toolkit.version.prefix(2))).max();
    let limited = JitLimited { driver: &name, supports: driver.branch.cuda, uses };
    Some(Warning::about(&limited, &about.keys(asked.driver_setting())))
}

fn forward_compat(about: &About<'_, '_>, driver: &DriverRow<'_>) -> Option<Warning> {
    let package = driver.added()?.package();
    let compat = ForwardCompat { driver: &driver.version, package: &package };
    Some(Warning::about(&compat, &about.keys(about.asked.driver_setting())))
}

fn jetson(about: &About<'_, '_>, driver: &DriverRow<'_>) -> Option<Warning> {
    let minimum = about.target.minimum.as_ref().filter(|_| !about.asked.has_system_driver())?;
    let is_jetson = |gpu: &&GpuRequest<'_>| gpu.row.is_some_and(|row| row.class == Class::Jetson);
    let gpu = about.asked.named_gpus().iter().find(is_jetson)?;
    let jetson = JetsonDriver { gpu: &gpu.name, cuda: driver.branch.cuda, minimum };
    Some(Warning::about(&jetson, &about.keys("gpu")))
}

/// A family name is fine as long as the driver lists any member of it.
fn not_listed(about: &About<'_, '_>, driver: &DriverRow<'_>) -> Option<Warning> {
    let is_listed = |gpu: &GpuRequest<'_>| {
        let first = gpu.row.and_then(|row| row.first_driver.as_ref());
        first.is_none_or(|first| driver.version.major() >= first.major())
    };
    let gpus = about.asked.named_gpus();
    for gpu in gpus {
        let family_listed = gpus.iter().any(|other| other.written == gpu.written && is_listed(other));
        let Some(first) = gpu.row.and_then(|row| row.first_driver.as_ref()).filter(|_| !family_listed) else {
            continue;
        };
        let not_listed = GpuNotListed { gpu: &gpu.name, first, driver: &driver.version };
        let keys = [about.keys("gpu"), about.keys(about.asked.driver_setting())].concat();
        return Some(Warning::about(&not_listed, &keys));
    }
    None
}

/// Branches that the hosts may have and that no longer drive the GPU.
fn drops_gpu(about: &About<'_, '_>, driver: &DriverRow<'_>) -> Option<Warning> {
    let DriverRequest::AtWorst(constraint) = &about.asked.driver else { return None };
    let gpus = gpu_rules(about.request, about.asked);
    for row in about.request.catalog.branches.iter().filter(|row| constraint.admits(&row.branch)) {
        let dropped = gpus.iter().find(|gpu| gpu.driver.iter().any(|needs| !needs.needs.admits(&row.branch)));
        let Some(dropped) = dropped else { continue };
        let drops = DriverDropsGpu { branch: &row.branch, admitted_by: constraint, gpu: &dropped.gpu.name };
        let later = row.branch > driver.branch.branch;
        return later.then(|| Warning::about(&drops, &about.keys(about.asked.driver_setting())));
    }
    None
}
