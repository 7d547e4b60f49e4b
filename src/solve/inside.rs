//! Images that hold a torch of their own: what becomes of it beside the stack, or without one.

use crate::catalog::rows::{Build, Image, Subject, line_of};
use crate::coverage::Coverage;

use super::answer::Chosen;
use super::fits;
use super::machine::gpu_rules;
use super::platform::Platform;
use super::problem::Framework;
use super::question::{Question, TargetAsk, Warning};
use super::rowset::RowSet;

/// The framework that images hold.
const TORCH: &str = "torch";

/// What is to be said of the torch in the image of a target.
pub fn warnings<'c>(
    question: &Question<'c>,
    asked: &TargetAsk<'c>,
    target: &Chosen<'c>,
    keys: &[String],
) -> Vec<Warning> {
    let Some(image) = target.image else { return Vec::new() };
    let name = image.name();
    let Some(inside) = image.torch.as_deref() else {
        let holds_some =
            question.catalog.images.iter().any(|one| one.repository == image.repository && one.torch.is_some());
        let installed = target.builds.iter().find(|build| build.package == TORCH).filter(|_| holds_some);
        let warning = |build: &&Build| {
            let message = format!(
                "{name} holds a torch of its own, of which nobody knows the release, and torch {}+{} is installed beside it",
                build.version, build.variant
            );
            Warning::new("two-torches", message, keys)
        };
        return installed.map(warning).into_iter().collect();
    };
    if let Some(build) = target.builds.iter().find(|build| build.package == TORCH) {
        if is_inside(image, inside, build) {
            return Vec::new();
        }
        let message = format!(
            "{name} holds torch {inside} for CUDA {} of its own, and torch {}+{} is installed beside it: a program \
             that is not started with the locked Python meets the image's",
            image.cuda.prefix(2),
            build.version,
            build.variant
        );
        return vec![Warning::new("two-torches", message, keys)];
    }
    let unfit = no_code(question, asked, image, inside).or_else(|| no_driver(question, asked, target, image));
    let message = unfit.map(|why| format!("the torch {inside} that {name} holds does not run here: {why}"));
    message.map(|message| Warning::new("image-torch", message, keys)).into_iter().collect()
}

/// Whether the image holds this very build.
pub fn is_inside(image: &Image, inside: &str, build: &Build) -> bool {
    if build.is_in_image() {
        return build.wheel.as_deref() == Some(inside);
    }
    build.version.as_str() == inside && line_of(&build.variant).is_some_and(|line| image.cuda.cmp_prefix(&line).is_eq())
}

/// For each of some images, whether the torch in it is one of the releases: of others nobody knows what they hold, and
/// another torch may be installed beside it.
pub fn holding(framework: &Framework<'_>, on: Platform<'_>, images: &[&Image]) -> RowSet {
    let held = |image: &Image| {
        let Some(inside) = image.torch.as_deref() else { return false };
        framework.releases.iter().filter_map(|release| release.on(on)).any(|build| is_inside(image, inside, build))
    };
    let held = |image: &Image| framework.package == TORCH && held(image);
    RowSet::filter(images.len(), |row| held(images[row]))
}

/// Whether a build runs in an image that holds one of the releases: it is the one inside.
pub fn runs_in(image: &Image, build: &Build) -> bool {
    match image.torch.as_deref() {
        Some(inside) => build.is_own() || is_inside(image, inside, build),
        None => !build.is_in_image(),
    }
}

/// A GPU that the image's torch holds no code for, where its release is one whose code is known.
fn no_code<'c>(question: &Question<'c>, asked: &TargetAsk<'c>, image: &Image, inside: &str) -> Option<String> {
    let of_image =
        |build: &&Build| build.package == TORCH && asked.platform.takes(build) && is_inside(image, inside, build);
    let build = question.catalog.builds.iter().find(of_image)?;
    let gpus = gpu_rules(question, asked);
    let toolkit = question.toolkit_of(build);
    let gpu = gpus.iter().find(|gpu| fits::coverage(build, toolkit, gpu.gpu.cc) == Some(Coverage::None))?;
    Some(format!("it has no code for {} (compute capability {})", gpu.gpu.name, gpu.gpu.cc))
}

/// A driver that is older than the CUDA line of the image. On data-centre GPUs the image may bring cuda-compat along.
fn no_driver(question: &Question<'_>, asked: &TargetAsk<'_>, target: &Chosen<'_>, image: &Image) -> Option<String> {
    let driver = target.driver.as_ref().filter(|_| asked.pins_driver() && !asked.has_system_driver())?;
    let gpus = asked.named_gpus();
    if gpus.is_empty() || gpus.iter().all(super::question::GpuAsk::is_datacenter) {
        return None;
    }
    let line = image.cuda.prefix(2);
    let mut rules = question.rules.about(Subject::Cuda, &line, Subject::Driver);
    let needs = rules.find(|needs| !needs.needs.admits(driver.user_mode()))?;
    Some(format!("its CUDA {line} needs driver {}, and the hosts have {}", needs.row.needs, driver.version))
}
