//! What is said of the builds of frameworks: which one was taken, what is known of it, and what it brings along.

use crate::types::Version;

use super::Kind;

/// A target without a GPU that gets a wheel made for CUDA.
pub enum CudaOnCpu<'a> {
    /// It shares the stack of targets with GPUs.
    Shared {
        /// The build.
        name: &'a str,
        /// Whether it would get a CPU build if it did not.
        has_cpu_build: bool,
    },
    /// A package beside it goes with no CPU build.
    Beside {
        /// The build.
        name: &'a str,
        /// The package and its release.
        package: &'a str,
    },
    /// A package that computes on GPUs alone.
    NeedsGpu {
        /// The package and its release.
        name: &'a str,
    },
    /// A package made for CUDA, of which nobody knows whether it does without a GPU.
    Unknown {
        /// The package and its release.
        name: &'a str,
        /// The CUDA that it loads; none where it is compiled for the one that is there.
        cuda: Option<&'a Version>,
    },
    /// No other build was seen for its processor.
    NoneSeen {
        /// The framework and its release.
        release: &'a str,
        /// The processor.
        arch: &'a str,
    },
}

impl Kind for CudaOnCpu<'_> {
    const CODE: &'static str = "cuda-on-cpu";

    fn message(&self) -> String {
        match self {
            CudaOnCpu::Shared { name, has_cpu_build } => {
                let instead = if *has_cpu_build { "; `share = \"versions\"` gives it the CPU build" } else { "" };
                format!("the target has no GPU but installs {name}, because all targets share one stack{instead}")
            }
            CudaOnCpu::Beside { name, package } => {
                format!("the target has no GPU but installs {name}, because {package} goes with no CPU build")
            }
            CudaOnCpu::NeedsGpu { name } => {
                format!("{name} computes on GPUs only: the target, which has none, can install it but not use it")
            }
            CudaOnCpu::Unknown { name, cuda } => {
                let cuda = cuda.map_or_else(String::new, |cuda| format!(" {cuda}"));
                format!(
                    "{name} is made for CUDA{cuda}, and it is not known to run without a GPU, which the target lacks"
                )
            }
            CudaOnCpu::NoneSeen { release, arch } => format!("no build of {release} without CUDA was seen for {arch}"),
        }
    }
}

/// A cuDNN installed on the target that does not run, or that is not known.
pub enum CudnnInstalled<'a> {
    /// The catalog does not list it.
    Unknown {
        /// What is written.
        installed: &'a Version,
    },
    /// The wheel brings its own.
    Unused {
        /// The build.
        name: &'a str,
        /// The one it brings.
        brings: &'a Version,
        /// The one that is installed.
        installed: &'a Version,
    },
    /// The wheel brings another one, some of whose libraries are looked for on the system.
    Mixed {
        /// The build.
        name: &'a str,
        /// The one it brings.
        brings: &'a Version,
        /// The one that is installed.
        installed: &'a Version,
        /// What a rule says of the two.
        says: &'a str,
    },
}

impl Kind for CudnnInstalled<'_> {
    const CODE: &'static str = "cudnn-installed";

    fn message(&self) -> String {
        match self {
            CudnnInstalled::Unknown { installed } => {
                format!("cuDNN {installed} is not in the catalog: it is judged by its number")
            }
            CudnnInstalled::Unused { name, brings, installed } => format!(
                "{name} brings cuDNN {brings} and does not use the installed {installed}: keep that one off the library path"
            ),
            CudnnInstalled::Mixed { name, brings, installed, says } => {
                format!("{name} brings cuDNN {brings} beside the installed {installed}. {says}")
            }
        }
    }
}

/// What a practice of the publisher tells of a build that was not read.
pub struct Expected<'a> {
    /// The build.
    pub name: &'a str,
    /// What is expected.
    pub what: &'a [String],
    /// The practice.
    pub practice: &'a str,
    /// How often it was followed, and how often it could have been.
    pub counted: (u32, u32),
}

impl Kind for Expected<'_> {
    const CODE: &'static str = "expected";

    fn message(&self) -> String {
        let (what, practice, (holds, of)) = (self.what.join(", "), self.practice.trim_end_matches('.'), self.counted);
        format!(
            "{}: {what} is assumed, because nobody has read this build itself. {practice} ({holds} of {of} times). If it does \
             not install or load, take another variant or release",
            self.name
        )
    }
}

/// A build that its publisher calls experimental.
pub struct ExperimentalVariant<'a> {
    /// The build.
    pub name: &'a str,
    /// More is known to fail of a stable build of its release.
    pub fails_less: bool,
}

impl Kind for ExperimentalVariant<'_> {
    const CODE: &'static str = "experimental-variant";

    fn message(&self) -> String {
        let why = match self.fails_less {
            true => "of the stable ones of its release more is known to fail on these GPUs",
            false => "nothing else fits",
        };
        format!("{} is an experimental build; {why}", self.name)
    }
}

/// A build of a day.
pub enum Nightly<'a> {
    /// It is judged as a release.
    AsRelease {
        /// The build.
        name: &'a str,
        /// The release that it precedes.
        release: &'a Version,
    },
    /// That release has none like it.
    Unread {
        /// The build.
        name: &'a str,
        /// The release that it precedes.
        release: &'a Version,
        /// The variant and the processor.
        of: (&'a str, &'a str),
    },
    /// A package of another day than the torch beside it.
    Apart {
        /// The package and its version.
        name: &'a str,
        /// The torch beside it.
        torch: &'a Version,
    },
}

impl Kind for Nightly<'_> {
    const CODE: &'static str = "nightly";

    fn message(&self) -> String {
        match self {
            Nightly::AsRelease { name, release } => {
                format!("{name} is a nightly and judged as the release {release}, which may differ from it")
            }
            Nightly::Unread { name, release, of: (variant, arch) } => format!(
                "{name} is a nightly, and no {variant} build of the release {release} is known for {arch}: what it holds and \
                 brings is not known"
            ),
            Nightly::Apart { name, torch } => format!(
                "{name} is a nightly that needs the torch nightly of its own day or of the day before, and may refuse \
                 {torch}"
            ),
        }
    }
}

/// A build of one's own that does not say for which Python it is.
pub struct OwnBuildPython<'a> {
    /// The framework.
    pub package: &'a str,
    /// Its version, as its owner calls it.
    pub version: &'a str,
}

impl Kind for OwnBuildPython<'_> {
    const CODE: &'static str = "own-build-python";

    fn message(&self) -> String {
        format!(
            "it is not known for which Python your build of {} {} is, so those of the published release are assumed",
            self.package, self.version
        )
    }
}

/// A build from before the release that it counts as.
pub enum SnapshotBuild<'a> {
    /// The one in an image.
    InImage {
        /// The build.
        name: &'a str,
        /// The release.
        release: &'a Version,
    },
    /// A wheel.
    Wheel {
        /// The build.
        name: &'a str,
        /// The version that the wheel carries.
        carried: &'a str,
    },
}

impl Kind for SnapshotBuild<'_> {
    const CODE: &'static str = "snapshot-build";

    fn message(&self) -> String {
        match self {
            SnapshotBuild::InImage { name, release } => format!(
                "the {name} in the image is a snapshot from before release {release}, as which it counts here: what needs \
                 that release may refuse it"
            ),
            SnapshotBuild::Wheel { name, carried } => {
                format!("{name} is a snapshot from before that release, {carried}; nothing else fits")
            }
        }
    }
}

/// A target that does not say which JetPack it has.
pub enum SystemUnsaid<'a> {
    /// A wheel was made for some of them.
    Build {
        /// The build.
        name: &'a str,
        /// The systems that it was made for.
        systems: &'a [&'a str],
    },
    /// The target names no system.
    Nothing {
        /// The newest JetPack for the board.
        jetpack: &'a str,
        /// The CUDA that this JetPack's driver supports.
        cuda: &'a Version,
    },
    /// The target names the system that a JetPack is based on.
    Base {
        /// What is written.
        os: &'a str,
        /// The newest JetPack for the board that is based on it: the target counts as one.
        jetpack: &'a str,
        /// The CUDA that this JetPack's driver supports.
        cuda: &'a Version,
    },
    /// The target names a system that no JetPack for the board is known to be based on.
    NoBase {
        /// What is written.
        os: &'a str,
    },
}

impl Kind for SystemUnsaid<'_> {
    const CODE: &'static str = "system-unsaid";

    fn message(&self) -> String {
        match self {
            SystemUnsaid::Build { name, systems } => {
                format!("{name} is made for {}, but the target does not set `os`", systems.join(", "))
            }
            SystemUnsaid::Nothing { jetpack, cuda } => format!(
                "the target is a Jetson without `os`: its driver comes with its JetPack, and that of {jetpack} supports CUDA up to \
                 {cuda}. Write `os = \"{jetpack}\"`, or the JetPack it has"
            ),
            SystemUnsaid::Base { os, jetpack, cuda } => format!(
                "the target is a Jetson with `os = \"{os}\"`: it counts as {jetpack}, the newest JetPack on that system, whose driver \
                 supports CUDA up to {cuda}. Write `os = \"{jetpack}\"`, or the JetPack it has"
            ),
            SystemUnsaid::NoBase { os } => format!(
                "the target is a Jetson with `os = \"{os}\"`, on which no known JetPack for its board is based, so its driver was not \
                 checked. Write the JetPack it has"
            ),
        }
    }
}
