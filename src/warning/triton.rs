//! What is said of torch.compile: where Triton, which compiles for it, does not serve.

use crate::types::Version;

use super::Kind;

/// GPUs that run the wheel and not what its compiler makes.
pub enum TritonGpu<'a> {
    /// They are too old for Triton.
    TooOld {
        /// The framework and its release.
        build: &'a str,
        /// The GPUs.
        gpus: &'a str,
        /// The compute capabilities that Triton needs.
        capability: &'a str,
    },
    /// This release of Triton fails on them.
    Broken {
        /// The framework and its release.
        build: &'a str,
        /// The GPUs.
        gpus: &'a str,
        /// What the rule says.
        says: &'a str,
    },
    /// They are newer than the assembler that Triton brings.
    TooNew {
        /// The framework and its release.
        build: &'a str,
        /// The GPUs.
        gpus: &'a str,
        /// The release of Triton.
        triton: &'a Version,
        /// The CUDA line of its assembler.
        cuda: Version,
        /// The architecture that it does not know.
        arch: &'a str,
        /// The first CUDA line whose assembler knows it.
        from: Version,
        /// The first CUDA whose assembler Triton does not take.
        takes_below: Option<&'a Version>,
    },
}

impl Kind for TritonGpu<'_> {
    const CODE: &'static str = "triton-gpu";

    fn message(&self) -> String {
        match self {
            TritonGpu::TooOld { build, gpus, capability } => {
                format!("torch.compile of {build} does not run on {gpus}: Triton needs compute capability {capability}")
            }
            TritonGpu::Broken { build, gpus, says } => {
                format!("torch.compile of {build} fails on {gpus}: {}", says.trim_end_matches('.'))
            }
            TritonGpu::TooNew { build, gpus, triton, cuda, arch, from, takes_below } => {
                let then = match takes_below {
                    Some(end) if from >= *end => {
                        format!("takes none of CUDA {}, the first that does: choose a newer torch", from.major())
                    }
                    Some(end) => {
                        format!("TRITON_PTXAS_PATH can name that of CUDA {from} or newer, but none from CUDA {end} on")
                    }
                    None => format!("TRITON_PTXAS_PATH can name that of CUDA {from} or newer"),
                };
                let joint = if then.starts_with("takes") { ", and" } else { ";" };
                format!(
                    "torch.compile of {build} does not run on {gpus}: the ptxas in Triton {triton} is of CUDA {cuda} and \
                     does not know {arch}{joint} {then}"
                )
            }
        }
    }
}

/// A processor for which there is no Triton.
pub struct TritonPlatform<'a> {
    /// The framework and its release.
    pub build: &'a str,
    /// The release of Triton that its other builds bring along.
    pub triton: &'a Version,
    /// The processor.
    pub arch: &'a str,
}

impl Kind for TritonPlatform<'_> {
    const CODE: &'static str = "triton-platform";

    fn message(&self) -> String {
        format!(
            "torch.compile of {} does not run on {}, for which Triton {} has no wheels; a newer torch brings one that has",
            self.build, self.arch, self.triton
        )
    }
}

/// A Python with which torch.compile does not run.
pub struct TritonPython<'a> {
    /// The framework and its release.
    pub build: &'a str,
    /// The Python.
    pub python: &'a Version,
    /// Why it does not.
    pub says: &'a str,
    /// The newest Python with which it does; none where there is none.
    pub serves: Option<&'a Version>,
}

impl Kind for TritonPython<'_> {
    const CODE: &'static str = "triton-python";

    fn message(&self) -> String {
        let cure = self.serves.map_or_else(String::new, |python| {
            format!("; `python = \"{python}\"` under [stack] is the newest with which it does")
        });
        format!("torch.compile of {} does not run with Python {}: {}{cure}", self.build, self.python, self.says)
    }
}
