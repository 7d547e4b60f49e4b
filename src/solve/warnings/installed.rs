//! What is already installed on a machine and no part of the answer: a cuda-compat package that is not loaded, a cuDNN that
//! nobody loads; and what WSL2 does without.

use crate::catalog::rows::{Build, Service, Subject};
use crate::solve::driver_row::DriverRow;
use crate::solve::installed::{is_loaded, names_branch};
use crate::solve::{recommended, services};
use crate::spec::Runtime;
use crate::warning::{CompatInstalled, CudnnInstalled, Warning, Wsl2};

use super::About;

/// The warnings about targets that share one choice.
pub(super) fn warnings(about: &About<'_, '_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    warnings.extend(compat(about));
    warnings.extend(cudnn(about));
    let driver = about.target.driver.as_ref().map(|driver| &driver.version);
    let services = services::of_target(about.request.catalog, about.asked, driver);
    warnings.extend(services.into_iter().filter(|row| row.needs.is_none()).map(|row| wsl2(about, row)));
    warnings
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
    let mixed = rules.about(Subject::Cudnn, brings, Subject::Cudnn).find(|rule| !rule.needs.admits(installed));
    let told = match mixed {
        Some(rule) => CudnnInstalled::Mixed { name: &name, brings, installed, says: &rule.row.says },
        None if key == "cudnn" && brings.major() != installed.major() => {
            CudnnInstalled::Unused { name: &name, brings, installed }
        }
        None => return None,
    };
    Some(Warning::about(&told, &about.keys(key)))
}
