//! The names under which NVIDIA publishes its libraries as packages of Python: `nvidia-cudnn-cu12` with the major of its
//! CUDA behind, and since CUDA 13 mostly without.

use super::Version;

/// The metapackage of a toolkit release, whose components are its extras.
pub const TOOLKIT: &str = "cuda-toolkit";

/// The CUDA runtime, whose release is that of its toolkit.
pub const RUNTIME: &str = "nvidia-cuda-runtime";

/// cuDNN.
pub const CUDNN: &str = "nvidia-cudnn";

/// NCCL.
pub const NCCL: &str = "nvidia-nccl";

/// The linker of machine code, with whose release the other libraries are linked.
pub const NVJITLINK: &str = "nvidia-nvjitlink";

/// The libraries that are parts of a stack by themselves, each with its package.
pub const PARTS: [(&str, &str); 2] = [("cudnn", CUDNN), ("nccl", NCCL)];

/// Whether a package is this library, of whatever CUDA.
pub fn is(library: &str, package: &str) -> bool {
    package.strip_prefix(library).is_some_and(|rest| rest.is_empty() || rest.starts_with("-cu"))
}

/// The part of a stack that a package is, `cudnn` of `nvidia-cudnn-cu12`.
pub fn part_of(package: &str) -> Option<&'static str> {
    PARTS.into_iter().find(|(_, library)| is(library, package)).map(|(part, _)| part)
}

/// The package of a library that has the major of a CUDA in its name.
pub fn of_major(library: &str, cuda: &Version) -> String {
    format!("{library}-cu{}", cuda.major())
}

/// Whether a package of NVIDIA's is one of CUDA's own libraries that others load, or brings them: NCCL and nvJPEG are none.
pub fn is_of_toolkit(name: &str) -> bool {
    const LOADED: [&str; 4] = ["cuda-toolkit", "nvidia-cublas", "nvidia-cuda-", "nvidia-nvjitlink"];
    LOADED.iter().any(|stem| name.starts_with(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_has_one_package_for_each_cuda() {
        let cuda = Version::parse("12.4").unwrap();
        assert_eq!(of_major(CUDNN, &cuda), "nvidia-cudnn-cu12");
        for package in ["nvidia-cudnn", "nvidia-cudnn-cu11", "nvidia-cudnn-cu12"] {
            assert!(is(CUDNN, package) && !is(NCCL, package) && !is(RUNTIME, package));
        }
        assert!(!is(CUDNN, "nvidia-cudnn-frontend") && !is(RUNTIME, "nvidia-cuda-nvrtc-cu12"));
    }
}
