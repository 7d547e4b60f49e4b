//! The rules that are code, by name and number; each is described by a row of `catalog/laws.toml`.

/// The number of a rule: the laws come first, in the order of [`ALL`], then the rows of the catalog.
pub type RuleId = usize;

/// For each law its name as a constant, and its place in [`ALL`] as one in [`id`].
macro_rules! laws {
    ($(#[doc = $doc:literal] $law:ident = $name:literal;)+) => {
        $(#[doc = $doc] pub const $law: &str = $name;)+

        /// Every law, in the order in which reasons are told.
        pub const ALL: &[&str] = &[$($law),+];

        /// The numbers of the laws.
        pub mod id {
            use super::RuleId;

            #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names are those of the constants")]
            enum Place { $($law),+ }

            $(#[doc = $doc] pub const $law: RuleId = Place::$law as RuleId;)+
        }
    };
}

laws! {
    /// A build runs on a GPU only if it holds machine code or PTX for it.
    COVERAGE = "gpu-code";
    /// PTX compiles only with a driver that knows its ISA.
    PTX_DRIVER = "ptx-isa-driver";
    /// A GPU target never gets a CPU build.
    CPU_BUILD = "cpu-build";
    /// A build exists for a platform only where it was published.
    PUBLISHED = "wheel-published";
    /// A companion package follows certain framework releases.
    COMPANION = "companion-framework";
    /// A build has wheels for certain Pythons only.
    PYTHON = "wheel-python";
    /// A wheel needs at least the glibc its platform tag names.
    GLIBC = "wheel-glibc";
    /// An image tag must exist.
    IMAGE_TAG = "image-tag";
    /// An image exists for certain CPU architectures.
    IMAGE_ARCH = "image-arch";
    /// The publisher of an image says from which GPU on it runs.
    IMAGE_GPU = "image-gpu";
    /// The OS of an image is the OS asked for.
    IMAGE_OS = "image-os";
    /// An image states which drivers it may be started on.
    IMAGE_REQUIRE = "image-require-cuda";
    /// An image must hold what is needed of it: nvcc, cuDNN.
    IMAGE_HOLDS = "image-flavour";
    /// Extensions are compiled by a toolkit of the CUDA major that torch was built with.
    EXTENSION_MAJOR = "extension-cuda-major";
    /// torch's extension builder knows certain architectures only.
    EXTENSION_ARCH = "extension-arch";
    /// nvcc knows certain architectures only.
    NVCC_ARCH = "nvcc-arch";
    /// An architecture list must reach every GPU.
    ARCH_LIST = "arch-list-gpu";
    /// nvcc refuses newer host compilers.
    NVCC_GCC = "nvcc-gcc";
    /// Some products come with one CPU architecture only.
    PRODUCT_CPU = "gpu-cpu-arch";
    /// Some systems are made for some boards only.
    SYSTEM_BOARDS = "system-boards";
    /// A cuDNN or NCCL release is built for one CUDA major.
    LIBRARY_CUDA = "library-cuda-major";
    /// Frameworks in one environment share their libraries.
    TOGETHER = "framework-libraries";
    /// cuda-compat works on data-centre GPUs and listed driver branches only.
    FORWARD_COMPAT = "forward-compat";
    /// An image that holds torch is where that torch runs.
    IMAGE_TORCH = "torch-of-image";
    /// Some GPUs are driven by one flavour of kernel modules only.
    KERNEL_MODULE = "kernel-module";
    /// nvcc refuses newer host compilers of LLVM's, too.
    NVCC_CLANG = "nvcc-clang";
    /// A cuda-compat that is installed is loaded where it is newer than the driver, and GPUs may refuse it.
    COMPAT_INSTALLED = "compat-installed";
    /// What brings no cuDNN needs one of its major that is at least as new as its own.
    SYSTEM_CUDNN = "system-cudnn";
    /// What brings no CUDA finds the libraries of some releases only.
    SYSTEM_CUDA = "system-cuda";
    /// Linux inside Windows has CUDA from some driver of Windows on.
    WSL2_CUDA = "wsl2-cuda";
}
