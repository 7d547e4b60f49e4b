//! What an answer should not be taken without knowing of what is already installed on a machine: a cuda-compat package that
//! is loaded or not, a cuDNN that nobody loads.

use crate::catalog::rows::Build;

use super::answer::Chosen;
use super::installed;
use super::question::{Question, TargetAsk, Warning};
use super::services;

/// The warnings about targets that share one choice.
pub(super) fn warnings<'c>(question: &Question<'c>, all: &[&TargetAsk<'c>], target: &Chosen<'c>) -> Vec<Warning> {
    let asked = all[0];
    let keys = |setting: &str| -> Vec<String> { all.iter().map(|one| one.key(setting)).collect() };
    let mut warnings = Vec::new();
    warnings.extend(compat(asked, target).map(|says| Warning::new("compat-installed", says, &keys("compat"))));
    warnings.extend(cudnn(asked, target).map(|says| Warning::new("cudnn-installed", says, &keys("cudnn"))));
    for row in services::of_target(question.catalog, asked).into_iter().filter(|row| row.needs.is_none()) {
        let boards: Vec<&str> = services::boards(row, asked).map(|gpu| gpu.written.as_str()).collect();
        let says = format!("{}: {}", boards.join(", "), row.says.trim_end_matches('.'));
        warnings.push(Warning::new("wsl2", says, &keys("gpu")));
    }
    warnings
}

/// A cuda-compat that is not loaded, or of which nobody knows whether it works.
fn compat(asked: &TargetAsk<'_>, target: &Chosen<'_>) -> Option<String> {
    let (compat, driver) = (asked.compat?, target.driver.as_ref().filter(|_| asked.pins_driver())?);
    let package = compat.package();
    if driver.windows {
        return Some(format!("forward compatibility does not exist under WSL2: {package} is not counted on"));
    }
    if !installed::is_loaded(compat, driver) {
        let where_loaded = match asked.runtime {
            crate::spec::Runtime::Container => {
                "the container toolkit does not use it; a library path that names it makes CUDA fail (error 803)"
            }
            crate::spec::Runtime::BareMetal => "remove it: a library path that names it makes CUDA fail (error 803)",
        };
        return Some(format!("driver {} is as new as {package} or newer: {where_loaded}", driver.version));
    }
    if driver.compat.is_some() {
        let unlisted = !installed::names_branch(compat, &driver.version);
        return unlisted.then(|| {
            format!("NVIDIA does not name branch R{} among those that {package} runs on", driver.version.major())
        });
    }
    let unsure = asked.named_gpus().iter().find(|gpu| !gpu.is_datacenter()).map_or("the GPU", |gpu| &gpu.written);
    Some(format!(
        "{package} is newer than driver {}, so its libcuda is loaded; whether {unsure} takes it is not known, and the answer \
         counts on the driver alone",
        driver.version
    ))
}

/// A cuDNN that is installed and that no part of the stack loads.
fn cudnn(asked: &TargetAsk<'_>, target: &Chosen<'_>) -> Option<String> {
    let installed = asked.cudnn?;
    let own = |build: &&&Build| build.cudnn.is_some() && !build.system_cuda;
    let build = target.builds.iter().find(own)?;
    let brings = build.cudnn.filter(|brings| brings.major() != installed.major())?;
    Some(format!(
        "{} {}+{} brings cuDNN {brings} and does not use the installed {installed}: keep that one off the library path",
        build.package, build.version, build.variant
    ))
}
