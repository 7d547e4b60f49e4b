//! The names of the rules that are code; each is described by a row of `catalog/laws.toml`.

use crate::solve::request::{ImageRequest, Request, TargetRequest};

/// A build runs on a GPU only if it holds machine code or PTX for it.
pub const COVERAGE: &str = "gpu-code";
/// PTX compiles only with a driver that knows its ISA.
pub const PTX_DRIVER: &str = "ptx-isa-driver";
/// A GPU target never gets a CPU build.
pub const CPU_BUILD: &str = "cpu-build";
/// A build exists for a platform only where it was published.
pub const PUBLISHED: &str = "wheel-published";
/// A build has wheels for certain Pythons only.
pub const PYTHON: &str = "wheel-python";
/// A wheel needs at least the glibc its platform tag names.
pub const GLIBC: &str = "wheel-glibc";
/// A companion package follows certain framework releases.
pub const COMPANION: &str = "companion-framework";
/// An image tag must exist.
pub const IMAGE_TAG: &str = "image-tag";
/// An image exists for certain CPU architectures.
pub const IMAGE_ARCH: &str = "image-arch";
/// The OS of an image is the OS asked for.
pub const IMAGE_OS: &str = "image-os";
/// An image states which drivers it may be started on.
pub const IMAGE_REQUIRE: &str = "image-require-cuda";
/// An image must hold what is needed of it: nvcc, cuDNN.
pub const IMAGE_HOLDS: &str = "image-flavour";
/// An image that holds torch is where that torch runs.
pub const IMAGE_TORCH: &str = "torch-of-image";
/// Extensions are compiled by a toolkit of the CUDA major that torch was built with.
pub const EXTENSION_MAJOR: &str = "extension-cuda-major";
/// torch's extension builder knows certain architectures only.
pub const EXTENSION_ARCH: &str = "extension-arch";
/// nvcc knows certain architectures only.
pub const NVCC_ARCH: &str = "nvcc-arch";
/// An architecture list must reach every GPU.
pub const ARCH_LIST: &str = "arch-list-gpu";
/// nvcc refuses newer host compilers.
pub const NVCC_GCC: &str = "nvcc-gcc";
/// Some products come with one CPU architecture only.
pub const PRODUCT_CPU: &str = "gpu-cpu-arch";
/// Some systems are made for some boards only.
pub const SYSTEM_BOARDS: &str = "system-boards";
/// A cuDNN or NCCL release is built for one CUDA major.
pub const LIBRARY_CUDA: &str = "library-cuda-major";
/// Frameworks in one environment share their libraries.
pub const TOGETHER: &str = "framework-libraries";
/// cuda-compat works on data-centre GPUs and listed driver branches only.
pub const FORWARD_COMPAT: &str = "forward-compat";

/// Some GPUs are driven by one flavour of kernel modules only.
pub const KERNEL_MODULE: &str = "kernel-module";
/// nvcc refuses newer host compilers of LLVM's, too.
pub const NVCC_CLANG: &str = "nvcc-clang";
/// A cuda-compat that is installed is loaded where it is newer than the driver, and GPUs may refuse it.
pub const COMPAT_INSTALLED: &str = "compat-installed";
/// What brings no cuDNN needs one of its major that is at least as new as its own.
pub const SYSTEM_CUDNN: &str = "system-cudnn";
/// What brings no CUDA finds the libraries of some releases only.
pub const SYSTEM_CUDA: &str = "system-cuda";

/// Whether a law can refuse anything that a question is about.
pub fn concerns(request: &Request<'_>, law: &str) -> bool {
    let any = |of: &dyn Fn(&TargetRequest<'_>) -> bool| request.targets.iter().any(of);
    let placed = || any(&|target| !matches!(target.image, ImageRequest::No));
    match law {
        IMAGE_REQUIRE => placed() || any(&|target| target.image_requires.is_some()),
        IMAGE_TAG | IMAGE_ARCH | IMAGE_OS | IMAGE_HOLDS | IMAGE_TORCH => placed(),
        KERNEL_MODULE => any(&|target| target.kernel_module.is_some()),
        COMPAT_INSTALLED => any(&|target| target.compat.is_some()),
        SYSTEM_CUDNN => any(&|target| target.cudnn.is_some()),
        SYSTEM_CUDA => any(&|target| target.toolkits.is_some()),
        GLIBC => placed() || any(&|target| target.glibc.is_some() || target.os.is_some_and(|os| os.musl)),
        EXTENSION_MAJOR | EXTENSION_ARCH | NVCC_ARCH | NVCC_GCC | NVCC_CLANG | ARCH_LIST => request.build.is_some(),
        COVERAGE | PRODUCT_CPU | SYSTEM_BOARDS => any(&|target| !target.named_gpus().is_empty()),
        FORWARD_COMPAT => any(&|target| target.forward_compat && target.pins_driver()),
        TOGETHER => request.frameworks.len() > 1 || request.libraries().next().is_some(),
        COMPANION => !request.companions.is_empty(),
        _ => true,
    }
}

/// Every law, for the catalog's lint.
pub const ALL: &[&str] = &[
    COVERAGE,
    PTX_DRIVER,
    CPU_BUILD,
    PUBLISHED,
    COMPANION,
    PYTHON,
    GLIBC,
    IMAGE_TAG,
    IMAGE_ARCH,
    IMAGE_OS,
    IMAGE_REQUIRE,
    IMAGE_HOLDS,
    EXTENSION_MAJOR,
    EXTENSION_ARCH,
    NVCC_ARCH,
    ARCH_LIST,
    NVCC_GCC,
    PRODUCT_CPU,
    SYSTEM_BOARDS,
    LIBRARY_CUDA,
    TOGETHER,
    FORWARD_COMPAT,
    IMAGE_TORCH,
    KERNEL_MODULE,
    NVCC_CLANG,
    COMPAT_INSTALLED,
    SYSTEM_CUDNN,
    SYSTEM_CUDA,
];

/// The numbers of the laws.
pub mod id {
    use super::super::RuleId;
    /// [`super::COVERAGE`]
    pub const COVERAGE: RuleId = 0;
    /// [`super::PTX_DRIVER`]
    pub const PTX_DRIVER: RuleId = 1;
    /// [`super::CPU_BUILD`]
    pub const CPU_BUILD: RuleId = 2;
    /// [`super::PUBLISHED`]
    pub const PUBLISHED: RuleId = 3;
    /// [`super::COMPANION`]
    pub const COMPANION: RuleId = 4;
    /// [`super::PYTHON`]
    pub const PYTHON: RuleId = 5;
    /// [`super::GLIBC`]
    pub const GLIBC: RuleId = 6;
    /// [`super::IMAGE_TAG`]
    pub const IMAGE_TAG: RuleId = 7;
    /// [`super::IMAGE_ARCH`]
    pub const IMAGE_ARCH: RuleId = 8;
    /// [`super::IMAGE_OS`]
    pub const IMAGE_OS: RuleId = 9;
    /// [`super::IMAGE_REQUIRE`]
    pub const IMAGE_REQUIRE: RuleId = 10;
    /// [`super::IMAGE_HOLDS`]
    pub const IMAGE_HOLDS: RuleId = 11;
    /// [`super::EXTENSION_MAJOR`]
    pub const EXTENSION_MAJOR: RuleId = 12;
    /// [`super::EXTENSION_ARCH`]
    pub const EXTENSION_ARCH: RuleId = 13;
    /// [`super::NVCC_ARCH`]
    pub const NVCC_ARCH: RuleId = 14;
    /// [`super::ARCH_LIST`]
    pub const ARCH_LIST: RuleId = 15;
    /// [`super::NVCC_GCC`]
    pub const NVCC_GCC: RuleId = 16;
    /// [`super::PRODUCT_CPU`]
    pub const PRODUCT_CPU: RuleId = 17;
    /// [`super::SYSTEM_BOARDS`]
    pub const SYSTEM_BOARDS: RuleId = 18;
    /// [`super::LIBRARY_CUDA`]
    pub const LIBRARY_CUDA: RuleId = 19;
    /// [`super::TOGETHER`]
    pub const TOGETHER: RuleId = 20;
    /// [`super::FORWARD_COMPAT`]
    pub const FORWARD_COMPAT: RuleId = 21;
    /// [`super::IMAGE_TORCH`]
    pub const IMAGE_TORCH: RuleId = 22;
    /// [`super::KERNEL_MODULE`]
    pub const KERNEL_MODULE: RuleId = 23;
    /// [`super::NVCC_CLANG`]
    pub const NVCC_CLANG: RuleId = 24;
    /// [`super::COMPAT_INSTALLED`]
    pub const COMPAT_INSTALLED: RuleId = 25;
    /// [`super::SYSTEM_CUDNN`]
    pub const SYSTEM_CUDNN: RuleId = 26;
    /// [`super::SYSTEM_CUDA`]
    pub const SYSTEM_CUDA: RuleId = 27;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_in_the_list() {
        assert_eq!(ALL[id::COVERAGE], COVERAGE);
        assert_eq!(ALL[id::NVCC_GCC], NVCC_GCC);
        assert_eq!(ALL[id::FORWARD_COMPAT], FORWARD_COMPAT);
        assert_eq!(ALL[id::SYSTEM_CUDA], SYSTEM_CUDA);
    }
}
