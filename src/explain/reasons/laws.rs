//! The laws where reasons are told: for each one when it can refuse anything at all, what is said where it binds, and which
//! builds it lets pass.

use crate::catalog::rows::{Build, Subject};
use crate::solve::request::{ImageRequest, PackageRequest, Request, TargetRequest};
use crate::solve::rules::{Needs, law};

use super::Explainer;

/// A law, as reasons know it.
pub(super) struct Law {
    name: &'static str,
    concerns: fn(&Request<'_>) -> bool,
    /// Says why it refuses what is asked for.
    pub(super) tells: fn(&mut Explainer<'_, '_>),
    /// Whether its source is named after that; else the telling names it where it has something to say.
    pub(super) is_cited: bool,
    /// Whether it lets a build pass, where it is about builds.
    pub(super) lets_pass: Option<fn(&Explainer<'_, '_>, &Build) -> bool>,
}

impl Law {
    const fn new(name: &'static str, concerns: fn(&Request<'_>) -> bool, tells: fn(&mut Explainer<'_, '_>)) -> Self {
        Law { name, concerns, tells, is_cited: true, lets_pass: None }
    }

    const fn of_builds(self, lets_pass: fn(&Explainer<'_, '_>, &Build) -> bool) -> Self {
        Law { lets_pass: Some(lets_pass), ..self }
    }

    const fn cites_itself(self) -> Self {
        Law { is_cited: false, ..self }
    }
}

/// Every law, in the order of [`law::ALL`].
const LAWS: &[Law] = &[
    Law::new(law::COVERAGE, has_gpus, |it| it.gpu_code()).of_builds(|it, build| it.serves(build)),
    Law::new(law::PTX_DRIVER, always, |it| it.ptx_driver()),
    Law::new(law::CPU_BUILD, always, |it| it.cpu_build()).cites_itself(),
    Law::new(law::PUBLISHED, always, |it| it.published()),
    Law::new(law::COMPANION, has_packages, |it| it.companions()).of_builds(|it, build| it.is_followed(build)),
    Law::new(law::PYTHON, always, |it| it.pythons()).of_builds(|it, build| it.has_python(build)),
    Law::new(law::GLIBC, knows_glibc, |it| it.glibc()).of_builds(|it, build| !it.lacks_glibc(build)),
    Law::new(law::IMAGE_TAG, has_image, |it| it.image_tag()),
    Law::new(law::IMAGE_ARCH, has_image, |it| it.image_arch()),
    Law::new(law::IMAGE_GPU, has_image, |it| it.image_gpu()),
    Law::new(law::IMAGE_OS, has_image, |it| it.image_os()),
    Law::new(law::IMAGE_REQUIRE, has_image_requirement, |it| it.image_requires()),
    Law::new(law::IMAGE_HOLDS, has_image, |it| it.image_holds()),
    Law::new(law::EXTENSION_MAJOR, builds, |it| it.extension_major()),
    Law::new(law::EXTENSION_ARCH, builds, |it| it.extension_arch()),
    Law::new(law::NVCC_ARCH, builds, |it| it.nvcc_arch()),
    Law::new(law::ARCH_LIST, builds, |it| it.arch_list()),
    Law::new(law::NVCC_GCC, builds, |it| it.nvcc_gcc()),
    Law::new(law::PRODUCT_CPU, has_gpus, |it| it.product_cpu()),
    Law::new(law::SYSTEM_BOARDS, has_gpus, |it| it.system_boards()),
    Law::new(law::LIBRARY_CUDA, always, |it| it.library_cuda()),
    Law::new(law::TOGETHER, has_several, |it| it.framework_libraries()),
    Law::new(law::FORWARD_COMPAT, may_use_compat, |_| ()),
    Law::new(law::IMAGE_TORCH, has_image, |it| it.image_torch()).of_builds(|it, build| it.may_be_in_image(build)),
    Law::new(law::KERNEL_MODULE, has_kernel_module, |it| it.kernel_module()),
    Law::new(law::NVCC_CLANG, builds, |it| it.nvcc_clang()),
    Law::new(law::COMPAT_INSTALLED, has_compat, |it| it.compat_installed()),
    Law::new(law::SYSTEM_CUDNN, has_cudnn, |it| it.system_cudnn()),
    Law::new(law::SYSTEM_CUDA, has_toolkit, |it| it.system_cuda()),
    Law::new(law::WSL2_CUDA, is_on_windows, |it| it.wsl2_cuda()),
];

/// What is known of the law with a name; none of the catalog's rules.
pub(super) fn of(name: &str) -> Option<&'static Law> {
    LAWS.iter().find(|law| law.name == name)
}

/// The laws that can refuse something that a question is about.
pub(super) fn concerning<'r>(request: &'r Request<'_>) -> impl Iterator<Item = &'r str> {
    LAWS.iter().filter(|law| (law.concerns)(request)).map(|law| law.name)
}

/// Whether a rule of the catalog can refuse anything that a question is about: of packages, boards and toolkits that are
/// not in it nothing needs to be known.
pub(super) fn rule_concerns(request: &Request<'_>, rule: &Needs<'_>) -> bool {
    let mut gpus = request.targets.iter().flat_map(|target| target.named_gpus()).map(|gpu| &gpu.cc_version);
    match (rule.row.subject, rule.row.object) {
        (Subject::Gpu, _) => gpus.any(|cc| rule.range.admits(cc)),
        (Subject::Package, _) => {
            let Some(package) = rule.row.package.as_deref() else { return false };
            let rows = |ask: &PackageRequest<'_>| request.catalog.companions.of(ask.package).iter();
            let comes_along = |ask: &PackageRequest<'_>| {
                let mut required = rows(ask).flat_map(|row| row.requirements());
                rule.row.object == Subject::Driver && required.any(|(of, ..)| of == package)
            };
            let mut asked = request.frameworks.iter().chain(&request.companions);
            asked.any(|ask| ask.package == package || comes_along(ask))
        }
        (Subject::Toolkit, _) => builds(request),
        (_, Subject::Gpu) => gpus.any(|cc| !rule.needs.admits(cc)),
        _ => true,
    }
}

fn some(request: &Request<'_>, target: impl Fn(&TargetRequest<'_>) -> bool) -> bool {
    request.targets.iter().any(target)
}

fn always(_: &Request<'_>) -> bool {
    true
}

/// Whether something is compiled with toolkits that are chosen, or that are written.
fn builds(request: &Request<'_>) -> bool {
    request.build.is_some() || !request.companions.is_empty() && some(request, |target| target.has_all_toolkits())
}

/// Whether there may be one that asks for something of another.
fn has_packages(request: &Request<'_>) -> bool {
    !request.companions.is_empty() || request.frameworks.len() > 1
}

fn has_several(request: &Request<'_>) -> bool {
    request.frameworks.len() > 1 || request.libraries().next().is_some()
}

fn has_gpus(request: &Request<'_>) -> bool {
    some(request, |target| !target.named_gpus().is_empty())
}

fn has_image(request: &Request<'_>) -> bool {
    some(request, |target| !matches!(target.image, ImageRequest::No))
}

fn has_image_requirement(request: &Request<'_>) -> bool {
    has_image(request) || some(request, |target| target.image_requires.is_some())
}

fn knows_glibc(request: &Request<'_>) -> bool {
    has_image(request) || some(request, |target| target.glibc.is_some() || target.os.is_some_and(|os| os.musl))
}

fn may_use_compat(request: &Request<'_>) -> bool {
    some(request, |target| target.forward_compat && target.pins_driver())
}

fn has_kernel_module(request: &Request<'_>) -> bool {
    some(request, |target| target.kernel_module.is_some())
}

fn has_compat(request: &Request<'_>) -> bool {
    some(request, |target| target.compat.is_some())
}

fn has_cudnn(request: &Request<'_>) -> bool {
    some(request, |target| target.cudnn.is_some())
}

fn is_on_windows(request: &Request<'_>) -> bool {
    some(request, |target| target.windows_driver)
}

fn has_toolkit(request: &Request<'_>) -> bool {
    some(request, |target| target.toolkits.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_is_told() {
        assert_eq!(LAWS.iter().map(|law| law.name).collect::<Vec<_>>(), law::ALL);
    }
}
