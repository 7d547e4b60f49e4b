//! The kinds of rows a catalog holds. One row is one fact (or the facts one artifact tells), with its source.
//!
//! The same types serve the build script, which turns `catalog/*.toml` into constants, the overlays that are
//! read at run time, and `gpuenv catalog check`. The vocabulary is closed: an unknown field is an error.

use serde::{Deserialize, Serialize};

use crate::words::{Arch, Cc, CpuArch, Version};
pub use crate::words::{List, Text};

/// Packages whose builds come in CUDA variants, most important first.
pub const FRAMEWORKS: &[&str] = &["torch", "tensorflow", "jax"];

/// What a package follows that runs beside any framework of its CUDA major, and alone: cupy, RAPIDS.
pub const CUDA_ONLY: &str = "cuda";

macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $text)] $variant),+ }
        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The word used in files and messages.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

vocabulary! {
    /// How a source knows. Earlier is stronger: where two disagree, the stronger wins.
    SourceKind {
        /// Read out of a published binary, or compiled and tried.
        Measured = "measured",
        /// Told by a package's own metadata or a registry's listing.
        Package = "package",
        /// Told by the vendor's documentation or release scripts.
        Vendor = "vendor",
        /// Told by third parties only.
        Article = "article",
    }
}

vocabulary! {
    /// The market a GPU was made for. Forward compatibility and image requirements depend on it.
    Class {
        /// Tesla and its successors: A100, H100, L4, GH200.
        Datacenter = "datacenter",
        /// Quadro and RTX workstation cards.
        Workstation = "workstation",
        /// GeForce.
        Geforce = "geforce",
        /// TITAN.
        Titan = "titan",
        /// Jetson modules: integrated GPU, L4T driver.
        Jetson = "jetson",
        /// Mining cards (CMP, P10x).
        Mining = "mining",
        /// DGX Spark and other client systems on a chip.
        ClientSoc = "client-soc",
        /// Embedded boards that are not Jetson.
        Embedded = "embedded",
        /// Anything else.
        Other = "other",
    }
}

vocabulary! {
    /// How the first driver of a board is known.
    FirstDriver {
        /// The release's own highlights say that it added the board.
        Added = "added",
        /// It is the first release that was seen to list the board: older ones may run it.
        Listed = "listed",
        /// It is the oldest release that a host with the board was seen to run on.
        Ran = "ran",
    }
}

vocabulary! {
    /// How much of CUDA an image of `nvidia/cuda` holds, smallest first.
    Flavour {
        /// Only the runtime's core library (cudart).
        Base = "base",
        /// All runtime libraries.
        Runtime = "runtime",
        /// Runtime, headers, nvcc.
        Devel = "devel",
    }
}

vocabulary! {
    /// What the publisher says of a build.
    Status {
        /// A build the release notes call stable.
        Stable = "stable",
        /// A build the release notes call experimental, or do not list although it was published.
        Experimental = "experimental",
    }
}

vocabulary! {
    /// The family of systems that a wheel is made for.
    Family {
        /// Linux with glibc.
        Linux = "linux",
        /// Windows itself; inside WSL2 wheels are those for Linux.
        Windows = "windows",
    }
}

vocabulary! {
    /// Where a wheel can be installed from.
    Index {
        /// The Python package index, under the plain version.
        Pypi = "pypi",
        /// The PyTorch wheel index of the variant (`https://download.pytorch.org/whl/<variant>`), as `version+variant`.
        Pytorch = "pytorch",
        /// The PyTorch wheel index of the variant, under the plain version.
        PytorchUnlabelled = "pytorch-unlabelled",
    }
}

vocabulary! {
    /// How much of a listing was read.
    Reading {
        /// From end to end: what it lacks was not published, as of the day its source was read.
        Whole = "whole",
        /// Only what public files name of it: there may be more.
        Seen = "seen",
    }
}

vocabulary! {
    /// What a publisher's practice says something about: the field of a build.
    Property {
        /// Pythons with a wheel.
        Pythons = "pythons",
        /// The CUDA toolkit release.
        Toolkit = "toolkit",
        /// cuDNN.
        Cudnn = "cudnn",
        /// NCCL.
        Nccl = "nccl",
        /// triton.
        Triton = "triton",
    }
}

vocabulary! {
    /// The builds that a practice holds alike.
    Among {
        /// Those of one release and processor, whatever their variant; of libraries only the builds for CUDA.
        Variants = "variants",
        /// Those of one release and variant, whatever their processor.
        Processors = "processors",
        /// Those of one minor release, variant and processor: 2.14.0 and 2.14.1.
        Patches = "patches",
    }
}

vocabulary! {
    /// How a wheel asks pip for NVIDIA's libraries.
    Pins {
        /// For one release of each.
        Exact = "exact",
        /// For a least release of each: pip installs the newest.
        AtLeast = "at-least",
    }
}

vocabulary! {
    /// The two flavours in which the driver's kernel modules come.
    ModuleKind {
        /// Published as source, for GPUs with a system processor of their own.
        Open = "open",
        /// The binary ones NVIDIA has always shipped.
        Proprietary = "proprietary",
    }
}

vocabulary! {
    /// What a `needs` rule is about.
    Subject {
        /// A GPU, by compute capability.
        Gpu = "gpu",
        /// A CUDA line (`12.4`): of a wheel, a toolkit or an image.
        Cuda = "cuda",
        /// A CUDA toolkit release that compiles (`12.4.1`).
        Toolkit = "toolkit",
        /// A driver release; of a pair with cuda-compat, the one whose libcuda is loaded.
        Driver = "driver",
        /// A cuDNN release.
        Cudnn = "cudnn",
        /// The C library of the machine or image.
        Glibc = "glibc",
        /// The GNU host compiler.
        Gcc = "gcc",
        /// A Triton release, the compiler behind torch.compile.
        Triton = "triton",
        /// A release of a package, a framework or what follows one; the rule names which.
        Package = "package",
        /// An NCCL release, through which several GPUs work together.
        Nccl = "nccl",
    }
}

vocabulary! {
    /// The part of a machine or stack that an error message speaks of.
    Component {
        /// The driver on the host, its kernel module included.
        Driver = "driver",
        /// The GPU's generation.
        Gpu = "gpu",
        /// torch, or a package built against another torch.
        Torch = "torch",
        /// nvcc, ptxas and what else compiles.
        Toolkit = "toolkit",
        /// cuDNN.
        Cudnn = "cudnn",
        /// NCCL.
        Nccl = "nccl",
        /// The container image.
        Image = "image",
        /// What hands GPUs to containers.
        ContainerRuntime = "container-runtime",
        /// The C and C++ runtime libraries.
        Glibc = "glibc",
        /// The host compiler, clang and others included.
        Gcc = "gcc",
        /// The Python interpreter or a wheel's tags.
        Python = "python",
        /// Which copy of a library is found, if any.
        LibraryPath = "library-path",
        /// A device: absent, busy or broken.
        Hardware = "hardware",
        /// None of these.
        Other = "other",
    }
}

/// Repositories of which no list of tags could be read: the catalog knows those that public files name, and there are
/// others.
pub const SAMPLED: &[&str] = &["nvcr.io/nvidia/l4t-jetpack", "nvcr.io/nvidia/pytorch", "pytorch/pytorch"];

/// What rules are asked for: what a subject needs of an object. Of another pair a rule would never be heard.
pub const ASKED: &[(Subject, Subject)] = &[
    (Subject::Gpu, Subject::Cuda),
    (Subject::Gpu, Subject::Driver),
    (Subject::Cuda, Subject::Driver),
    (Subject::Toolkit, Subject::Glibc),
    (Subject::Toolkit, Subject::Gcc),
    (Subject::Cudnn, Subject::Gpu),
    (Subject::Triton, Subject::Gpu),
    (Subject::Package, Subject::Gpu),
    (Subject::Package, Subject::Cuda),
    (Subject::Package, Subject::Toolkit),
    (Subject::Package, Subject::Gcc),
    (Subject::Nccl, Subject::Gpu),
];

/// The CUDA line of a variant: `12.4` of `cu124`, `12` of `cu12`; none of `cpu`.
pub fn line_of(variant: &str) -> Option<Version> {
    let digits = variant.strip_prefix("cu")?;
    let split = digits.len().checked_sub(1).filter(|&at| at > 0)?;
    // Two digits are a major of its own (`cu12`) unless they are too great for one (`cu92`).
    if digits.len() == 2 && digits < "50" {
        return Version::parse(digits).ok();
    }
    Version::parse(&[&digits[..split], ".", &digits[split..]].concat()).ok()
}

/// A source: where a fact can be looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The name rows refer to.
    pub id: Text,
    /// A URL or purl. `{version}`, `{package}`, `{arch}` stand for those of the row, `{variant}` also for its CUDA.
    pub at: Text,
    /// How it knows.
    pub kind: SourceKind,
    /// When it was read, `2026-11-20`.
    pub seen: Text,
    /// What a reader should know about it.
    pub note: Option<Text>,
}

/// A GPU product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    /// The name NVML and nvidia-smi print, `NVIDIA A100-PCIE-40GB`.
    pub name: Text,
    /// Other names people or older drivers use.
    #[serde(default)]
    pub aliases: List<Text>,
    /// Its compute capability.
    pub cc: Cc,
    /// Its market.
    pub class: Class,
    /// `Ampere`, `Ada Lovelace`, …
    pub architecture: Text,
    /// The chip, `GA100`.
    pub chip: Option<Text>,
    /// The CPU architecture the product implies (GH200, GB10, Jetson: aarch64).
    pub cpu: Option<CpuArch>,
    /// The first Linux driver known for the board: an upper bound of the true first one.
    pub first_driver: Option<Version>,
    /// How that is known: only what was added is a floor, the rest a hint.
    pub first_driver_by: Option<FirstDriver>,
    /// The last driver branch that supports it; none = still supported.
    pub last_branch: Option<Version>,
    /// The source of name, capability and class.
    pub source: Text,
    /// The source of `first_driver`.
    pub driver_source: Option<Text>,
}

/// A driver branch (R535).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// Its number.
    pub branch: Version,
    /// `LTSB`, `PB`, `NFB`, as NVIDIA names its support classes.
    pub kind: Option<Text>,
    /// The CUDA version nvidia-smi shows for it.
    pub cuda: Option<Version>,
    /// Month or day its support ends.
    pub eol: Option<Text>,
    /// The source of kind and end of life.
    pub source: Text,
    /// The source of `cuda`.
    pub cuda_source: Option<Text>,
}

/// A Linux driver release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    /// `535.183.01`
    pub version: Version,
    /// First seen on.
    pub date: Option<Text>,
    /// A side line (Vulkan developer betas): it exists, but nobody should be sent to it.
    #[serde(default)]
    pub beta: bool,
    /// Its source.
    pub source: Text,
}

/// A CUDA toolkit release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toolkit {
    /// `12.4.1`; before 11.0 the build number stands third (`10.2.89`).
    pub version: Version,
    /// The driver the release notes' table asks for (Linux).
    pub driver: Option<Version>,
    /// The driver inside the Linux runfile: newer than asked for at times, never a requirement.
    pub runfile: Option<Version>,
    /// nvcc's own version.
    pub nvcc: Option<Version>,
    /// The PTX ISA its compilers write.
    pub ptx_isa: Version,
    /// Architectures its compilers take for machine code.
    pub sass: List<Arch>,
    /// Architectures its compilers take for PTX.
    pub ptx: List<Arch>,
    /// Its compilers build code for integrated GPUs (Jetson) that discrete ones of the same major share.
    #[serde(default)]
    pub tegra_unified: bool,
    /// Where evidence differs on whether integrated GPUs load the code of discrete ones that it builds: the source that
    /// tells both.
    #[serde(default)]
    pub tegra_disputed: Option<Text>,
    /// Only compiler and runtime packages were published, no toolkit: it can be named, but nothing chooses it.
    #[serde(default)]
    pub components_only: bool,
    /// Greatest gcc major its nvcc accepts.
    pub gcc_max: Option<Version>,
    /// Greatest clang major its nvcc accepts.
    pub clang_max: Option<Version>,
    /// `2024-04`
    pub released: Option<Text>,
    /// The source of existence and drivers.
    pub source: Text,
    /// The source of `sass` and `ptx`.
    pub arch_source: Text,
    /// The source of the compiler limits.
    pub host_source: Option<Text>,
}

/// The oldest driver of Windows that CUDA runs on. Drivers are numbered by themselves there; nothing is solved with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowsDriver {
    /// `12.8.1`, what the release notes' table says of that toolkit; `12`, what does by minor-version compatibility.
    pub cuda: Version,
    /// `572.61`
    pub driver: Version,
    /// Its source.
    pub source: Text,
}

/// A PTX ISA version and the first driver branch whose JIT knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PtxIsa {
    /// `8.4`
    pub isa: Version,
    /// The driver branch; none = not known yet.
    pub branch: Option<Version>,
    /// Its source.
    pub source: Text,
}

/// A cuda-compat package: a newer libcuda for older data-centre drivers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compat {
    /// The CUDA version it brings, `12.4` for cuda-compat-12-4.
    pub cuda: Version,
    /// The driver branch it was built from.
    pub branch: Version,
    /// The base branches it may run on, each from this patch level; a bare branch number where none is named.
    pub bases: List<Version>,
    /// Its source.
    pub source: Text,
}

/// A cuDNN release for one CUDA major.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cudnn {
    /// `9.1.0.70`
    pub version: Version,
    /// The CUDA line it was built for, `12`, or exact lines for old releases, `10.2`.
    pub cuda: Version,
    /// Upload date.
    pub date: Option<Text>,
    /// GPU architectures that its library for x86_64 holds machine code for; empty = nobody has read it.
    #[serde(default)]
    pub sass: List<Arch>,
    /// GPU architectures that it holds PTX for.
    #[serde(default)]
    pub ptx: List<Arch>,
    /// Its source.
    pub source: Text,
    /// The source of `sass` and `ptx`.
    pub arch_source: Option<Text>,
}

/// An NCCL release for one CUDA major.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nccl {
    /// `2.21.5`
    pub version: Version,
    /// The CUDA major its package name carries.
    pub cuda: Version,
    /// The CUDA version it was built with.
    pub built_with: Option<Version>,
    /// Upload date.
    pub date: Option<Text>,
    /// GPU architectures that its library for x86_64 holds machine code for; empty = nobody has read it.
    #[serde(default)]
    pub sass: List<Arch>,
    /// GPU architectures that it holds PTX for.
    #[serde(default)]
    pub ptx: List<Arch>,
    /// Its source.
    pub source: Text,
    /// The source of `built_with`, `sass` and `ptx`.
    pub arch_source: Option<Text>,
}

/// One published build of a framework: (package, version, variant, CPU architecture), on Linux.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// `torch`, `tensorflow`, `jax`
    pub package: Text,
    /// `2.5.1`
    pub version: Version,
    /// `cu124`, `cpu`
    pub variant: Text,
    /// The platform.
    pub arch: CpuArch,
    /// The systems that it was made for, ids of `os` rows with `own_packages`, and with which alone it is chosen;
    /// empty = Linux in general. Of what stands in an image alone, that image (never written, worked out).
    #[serde(default)]
    pub systems: List<Text>,
    /// The build the package index serves when nothing else is asked, on this platform.
    #[serde(default)]
    pub default: bool,
    /// Stable or experimental.
    pub status: Status,
    /// Where it can be installed from, preferred first.
    #[serde(default)]
    pub index: List<Index>,
    /// The address of a wheel index of its own, in place of `index`: in-house builds.
    pub index_url: Option<Text>,
    /// The address of its only wheel, in place of an index, with `#sha256=` behind it where somebody told that: the
    /// wheel lies on no index, or on one beside which installers prefer the package index's.
    pub url: Option<Text>,
    /// The version its wheel carries there, where it is not `version+variant`: `2.5.0a0+872d972e41.nv24.8`.
    pub wheel: Option<Text>,
    /// The extra that brings its CUDA part, `cuda12` for `jax[cuda12]`; none where the package itself is it.
    pub extra: Option<Text>,
    /// Pythons with a wheel, `3.9`, `3.10`; free-threaded ones are left out.
    pub pythons: List<Version>,
    /// `pythons` is only what was seen; there may be more.
    #[serde(default)]
    pub pythons_partial: bool,
    /// GPU architectures with machine code. Empty and `arch_source` absent = unknown (for CUDA builds).
    #[serde(default)]
    pub sass: List<Arch>,
    /// GPU architectures with PTX.
    #[serde(default)]
    pub ptx: List<Arch>,
    /// The version that its PTX names, where that was read: clang writes an older one than nvcc of the same toolkit. None
    /// = that of its toolkit, which none is above.
    pub ptx_isa: Option<Version>,
    /// The oldest glibc its platform tag or symbols admit.
    pub glibc: Option<Version>,
    /// The CUDA toolkit release whose runtime it pins or bundles, `12.4.1`.
    pub toolkit: Option<Version>,
    /// How it asks pip for toolkit, cuDNN and NCCL; none = they are inside the wheel, or nobody knows.
    pub pins: Option<Pins>,
    /// The cuDNN it pins or bundles; the least one, where `pins` says so.
    pub cudnn: Option<Version>,
    /// What it asks pip for of cuDNN, as its metadata writes it, where `pins` is at least: `<10.0,>=9.8`.
    pub cudnn_range: Option<Text>,
    /// Needs cuDNN (and CUDA libraries) of the system: TensorFlow before `[and-cuda]`.
    #[serde(default)]
    pub system_cuda: bool,
    /// Libraries that it loads and that neither pip nor the systems it is made for bring, by their file names.
    #[serde(default)]
    pub loads: List<Text>,
    /// The NCCL it pins or bundles.
    pub nccl: Option<Version>,
    /// The triton it pins.
    pub triton: Option<Version>,
    /// The source of its existence, platform and Pythons.
    pub source: Text,
    /// The source of `sass` and `ptx`.
    pub arch_source: Option<Text>,
    /// The source of toolkit, cuDNN, NCCL and triton.
    pub pins_source: Option<Text>,
    /// Which of its properties nobody has read: a practice of its publisher tells them. Never written, worked out.
    #[serde(default)]
    pub expected: List<Property>,
    /// Pythons for which no wheel was seen and that its publisher's practice lets expect. Never written, worked out.
    #[serde(default)]
    pub expected_pythons: List<Version>,
}

impl Libraries {
    /// Each package with what is asked for of it, `nvidia-cublas` and `<=13.1.1.3,>=13.1.0.3`; nothing where any does.
    pub fn asked(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pins.split(' ').map(|pin| pin.split_at(pin.find(['=', '<', '>', '~', '!']).unwrap_or(pin.len())))
    }
}

impl Image {
    /// As it is pulled: `nvidia/cuda:12.4.1-base-ubuntu22.04`.
    pub fn name(&self) -> String {
        format!("{}:{}", self.repository, self.tag)
    }
}

impl Build {
    /// Whether it stands in an image and can be installed from nowhere.
    pub fn is_in_image(&self) -> bool {
        self.systems.iter().any(|system| system.contains(':'))
    }

    /// What stands for the source of what a spec says of a build of its owner's.
    pub const OWN: &'static str = "gpuenv.toml";

    /// Whether it is a build of somebody's own, which a spec describes.
    pub fn is_own(&self) -> bool {
        self.source == Build::OWN
    }

    /// Whether it was made before the release of its number.
    pub fn is_nightly(&self) -> bool {
        self.version.as_str().contains(".dev") && !self.is_own()
    }

    /// Whether a spec brings it: no catalog has it, and nothing but the entry that names it takes it.
    pub fn is_laid(&self) -> bool {
        self.is_own() || self.is_nightly()
    }

    /// As the stack has it: with its variant behind a `+`, or as its owner or the image that holds it calls it.
    pub fn shown(&self) -> String {
        match &self.wheel {
            Some(own) if self.is_own() => own.to_string(),
            // The label behind it differs between NVIDIA's tables and what the image prints.
            Some(own) if self.is_in_image() => own.split('+').next().unwrap_or(own).to_string(),
            _ => format!("{}+{}", self.version, self.variant),
        }
    }

    /// In the middle of a sentence: `torch 2.5.1+cu124`, `your build of torch 2.8.0`.
    pub fn named(&self) -> String {
        let yours = if self.is_own() { "your build of " } else { "" };
        format!("{yours}{} {}", self.package, self.shown())
    }

    /// What an answer takes of it that nobody has read, beside a line of Python.
    pub fn expected_of(&self, python: Option<&Version>) -> Vec<Property> {
        let rests = |property: &&Property| match property {
            Property::Pythons => python.is_some_and(|line| self.expected_pythons.contains(line)),
            _ => true,
        };
        self.expected.iter().filter(rests).copied().collect()
    }

    /// Whether its wheel calls itself older than the release that it is counted as: `2.5.0a0` is not yet 2.5.0.
    pub fn is_snapshot(&self) -> bool {
        let public = self.wheel.as_ref().and_then(|wheel| wheel.split('+').next());
        let is_earlier = public.and_then(|public| Version::parse(public).ok()).is_some_and(|it| it.is_prerelease());
        is_earlier && !self.is_laid()
    }
}

/// A build of a framework that exists and that nothing is solved with, so that a refusal can say so: one for Windows,
/// or one for Linux beside the usual one of its variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherBuild {
    /// `torch`, `tensorflow`, `jax`
    pub package: Text,
    /// `2.5.1`
    pub version: Version,
    /// `cu124`, `cpu`; on Linux the label or directory that tells it apart, `cu121_full`, `cpu.cxx11.abi`.
    pub variant: Text,
    /// The systems it is for.
    pub os: Family,
    /// The processors it is for.
    pub arch: CpuArch,
    /// The build the package index serves when nothing else is asked, on this platform.
    #[serde(default)]
    pub default: bool,
    /// Pythons with a wheel; free-threaded ones are left out.
    pub pythons: List<Version>,
    /// `pythons` is only what was seen; there may be more.
    #[serde(default)]
    pub pythons_partial: bool,
    /// The source of its existence, platform and Pythons.
    pub source: Text,
}

/// A release of a package that follows a framework: torchvision, torchaudio, vllm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Companion {
    /// `torchvision`
    pub package: Text,
    /// `0.20.1`
    pub version: Version,
    /// The framework it needs, `torch`; `cuda` for what follows none, only a CUDA major.
    pub framework: Text,
    /// The versions of it that it accepts, in constraint grammar: `2.5.1`, `>=2.14`.
    pub needs: Text,
    /// Pythons it accepts, in constraint grammar.
    pub python: Option<Text>,
    /// The variant of the framework it was built beside, `cu118`, and with which alone it is chosen; such a wheel lies
    /// on the PyTorch index of that variant as `version+variant`. None = the release that the package index serves.
    pub variant: Option<Text>,
    /// The systems that its wheel was made for, as for builds of frameworks.
    #[serde(default)]
    pub systems: List<Text>,
    /// The address of a wheel index of its own, in place of what `variant` says: in-house builds.
    pub index_url: Option<Text>,
    /// The address of its wheel where it lies on no index, but beside a release of its project or among those for a
    /// system. `{arch}` and `{python}` stand for the processor and the Python as file names spell them: `x86_64`, `310`;
    /// `#sha256=` may stand behind the address of a single wheel.
    pub url: Option<Text>,
    /// The version its wheel carries there, where it is not that one: `2.7.4+cu126`.
    pub wheel: Option<Text>,
    /// Of a wheel for a variant what it asks for that is made for one CUDA too, `torchvision==0.26.0`: an installer takes
    /// that from the package index, where it is for another, unless it is named beside it.
    #[serde(default)]
    pub brings: List<Text>,
    /// What its metadata asks for of other packages that the catalog has, its framework aside: `torchvision==0.29.0`;
    /// `xformers==0.0.28.post3; x86_64` where it does so on one processor only.
    #[serde(default)]
    pub requires: List<Text>,
    /// The extra that brings what is for the framework, `pytorch` for `transformer-engine[pytorch]`.
    pub extra: Option<Text>,
    /// Published as source only, it or the part for the framework: it is compiled where it is installed.
    #[serde(default)]
    pub sdist: bool,
    /// Of a package that comes as source the lines of the framework and CUDA majors for which wheels for x86_64 lie beside
    /// its releases, on no index, `2.7+cu12`: its build takes one that fits. Only those that were seen; told, never chosen.
    #[serde(default)]
    pub finished: List<Text>,
    /// The platforms it has wheels for; empty = it runs wherever the framework does, or nobody has told.
    #[serde(default)]
    pub arches: List<CpuArch>,
    /// The oldest glibc its platform tags admit; the newest that its libraries ask for where that is newer.
    pub glibc: Option<Version>,
    /// The CUDA major whose runtime its libraries load; none where they load none, or look for one when they run.
    pub cuda: Option<Version>,
    /// It holds GPU code of its own, and runs on a GPU only with it. Without an `arch_source` its contents are unknown.
    #[serde(default)]
    pub gpu_code: bool,
    /// GPU architectures that the kernels of its wheel for x86_64 hold machine code for. Without `gpu_code` nothing is
    /// solved with it: a GPU runs the rest (torchvision), and a wheel of another index holds other code.
    #[serde(default)]
    pub sass: List<Arch>,
    /// GPU architectures that its kernels hold PTX for; likewise.
    #[serde(default)]
    pub ptx: List<Arch>,
    /// The machine code of its wheel for aarch64, of which `sass` and `ptx` say nothing; empty = nobody has read it.
    #[serde(default)]
    pub arm_sass: List<Arch>,
    /// Its source.
    pub source: Text,
    /// The source of `cuda`, `sass`, `ptx` and `arm_sass`.
    pub arch_source: Option<Text>,
    /// The source of `finished`.
    pub finished_source: Option<Text>,
}

impl Companion {
    /// Each package that it asks for on a processor, with the range.
    pub fn asked(&self, arch: CpuArch) -> impl Iterator<Item = (&str, &str)> {
        let on = move |text: &&Text| text.split_once("; ").is_none_or(|(_, only)| only == arch.as_str());
        self.requires.iter().filter(on).map(|text| {
            let asked = text.split_once("; ").map_or(&**text, |(asked, _)| asked);
            asked.split_at(asked.find(['=', '<', '>', '~', '!']).unwrap_or(asked.len()))
        })
    }

    /// Whether it follows no framework, only a CUDA major.
    pub fn follows_cuda(&self) -> bool {
        self.framework == CUDA_ONLY
    }

    /// The version that its wheel carries where it is installed from.
    pub fn carried(&self) -> String {
        let labelled = || self.variant.as_ref().map(|variant| format!("{}+{variant}", self.version));
        self.wheel.as_ref().map(ToString::to_string).or_else(labelled).unwrap_or_else(|| self.version.to_string())
    }

    /// The address of the wheel that serves a processor and a Python, where it lies on no index.
    pub fn file(&self, arch: CpuArch, python: Option<&Version>) -> Option<String> {
        let python = python.map_or(String::new(), |python| python.as_str().replace('.', ""));
        Some(self.url.as_ref()?.replace("{arch}", arch.as_str()).replace("{python}", &python))
    }
}

/// How a package that comes as source is compiled, from a release on: beside an installed framework and without the
/// isolation that installers build in, because its own documentation tells to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceBuild {
    /// The companion.
    pub package: Text,
    /// The first release this row speaks of; it holds until the next row.
    pub from: Version,
    /// What is compiled: the package, or `transformer-engine-torch` for `transformer-engine[pytorch]`.
    pub compiles: Text,
    /// What the build imports or asks for, in order; the framework and CUDA aside.
    pub tools: List<Text>,
    /// The variable that says for which GPUs, and all it takes, `FLASH_ATTN_CUDA_ARCHS=80;90;100;120`; none where the
    /// framework's extension builder decides, or nothing is compiled for a GPU.
    pub archs: Option<Text>,
    /// Its source.
    pub source: Text,
}

/// The NVIDIA libraries that a release asks for, as its metadata writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Libraries {
    /// `torch`, the build that the package index serves; `jax`, `tensorflow`; `cuda-toolkit`, the metapackage of a toolkit
    /// release.
    pub package: Text,
    /// Its version.
    pub version: Version,
    /// The variant whose extra asks for them, `cu12` of jax; none where the release itself does.
    pub variant: Option<Text>,
    /// The platform; none where it is the same everywhere.
    pub arch: Option<CpuArch>,
    /// `nvidia-cublas-cu12==12.4.5.8`, `nvidia-cudnn-cu12<10.0,>=9.8`, …, with blanks between.
    pub pins: Text,
    /// Its source.
    pub source: Text,
}

/// A published wheel and its sha256.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WheelFile {
    /// The file's name, which says package, version, Python and platform.
    pub file: Text,
    /// The directory of the PyTorch index it lies in, `cu124`, or the label of one that lies on no index; none = the
    /// Python package index.
    pub index: Option<Text>,
    /// Its sha256, in lower case.
    pub sha256: Text,
    /// Its source.
    pub source: Text,
}

/// How much of what an index holds of a package was read, from a release on. Only of a listing that was read whole is
/// known what was not published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// `torch`
    pub package: Text,
    /// The index: `pypi`, or `pytorch` for all of the PyTorch index.
    pub index: Index,
    /// The first release this row speaks of; it holds until the next row of the package and index.
    pub from: Version,
    /// How much of it was read.
    pub reading: Reading,
    /// Its source, which tells the day.
    pub source: Text,
}

/// What a publisher always does, or nearly so: builds of a group that have the same in a field. What is not known of one
/// build is expected to be as in the others of its group; that a build exists is never expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Practice {
    /// Its stable name.
    pub id: Text,
    /// The package.
    pub package: Text,
    /// What is the same.
    pub property: Property,
    /// In which builds.
    pub among: Among,
    /// In how many groups of the catalog, of those in which two builds or more are known, it holds.
    pub holds: u32,
    /// How many such groups there are.
    pub of: u32,
    /// The groups in which it does not hold: `1.5.0 x86_64`.
    #[serde(default)]
    pub exceptions: List<Text>,
    /// The practice in one plain sentence.
    pub says: Text,
    /// Its source.
    pub source: Text,
}

/// An operating system release and what it implies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Os {
    /// `ubuntu22.04`
    pub id: Text,
    /// Other spellings of the same, and systems binary compatible with it: `rocky8` for `rhel8`.
    #[serde(default)]
    pub aliases: List<Text>,
    /// `Ubuntu 22.04 LTS`
    pub name: Text,
    /// Its C library is musl: wheels that were linked with glibc do not load. All of its releases are one row.
    #[serde(default)]
    pub musl: bool,
    /// Its glibc; none = unknown.
    pub glibc: Option<Version>,
    /// Its default gcc; none = unknown.
    pub gcc: Option<Version>,
    /// Its default python3.
    pub python: Option<Version>,
    /// The names of this OS in nvidia/cuda tags: `ubuntu22.04`, `rockylinux8`, `ubi8`.
    #[serde(default)]
    pub images: List<Text>,
    /// Day its standard support ends.
    pub eol: Option<Text>,
    /// The CUDA version of the driver that comes with the system, where one does (Jetson).
    pub cuda: Option<Version>,
    /// The CPU architecture that it is for, where that is only one (Jetson: aarch64).
    pub cpu: Option<CpuArch>,
    /// The compute capabilities of the boards that it is made for, where it is made for some (Jetson); empty = any.
    #[serde(default)]
    pub boards: List<Version>,
    /// The family whose wheels it takes; none = Linux.
    pub family: Option<Family>,
    /// Understood, but refused for a reason: Windows until its wheels and drivers are solved for.
    pub refused: Option<Text>,
    /// Of packages with machine code it takes only those whose `systems` name it: Jetson, whose GPUs and CUDA are
    /// none that wheels for Linux in general were compiled for.
    #[serde(default)]
    pub own_packages: bool,
    /// The source of glibc.
    pub source: Text,
    /// The source of gcc.
    pub gcc_source: Option<Text>,
    /// The source of `boards`.
    pub boards_source: Option<Text>,
}

/// A tag of an image repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// `nvidia/cuda`
    pub repository: Text,
    /// `12.4.1-base-ubuntu22.04`
    pub tag: Text,
    /// `12.4.1`
    pub cuda: Version,
    /// How much of CUDA is inside.
    pub flavour: Flavour,
    /// The cuDNN inside; `0` when there is one of unknown version.
    pub cudnn: Option<Version>,
    /// The OS as the tag spells it.
    pub os: Text,
    /// Platforms; empty = unknown.
    pub arches: List<CpuArch>,
    /// The torch that is installed in it, as it tells its version: `2.8.0`, `2.7.0a0+7c8ec84dab`.
    pub torch: Option<Text>,
    /// The Python that torch is installed for, as far as anybody told.
    pub python: Option<Version>,
    /// The tag can no longer be pulled.
    #[serde(default)]
    pub withdrawn: bool,
    /// The requirement (an `image_require` id) for each platform in `arches`.
    pub require: Option<Text>,
    /// Its source.
    pub source: Text,
}

/// A `NVIDIA_REQUIRE_CUDA` value that images share, in the grammar of libnvidia-container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageRequire {
    /// The name images refer to; the platform is appended (`12.4.1@x86_64`).
    pub id: Text,
    /// Blank = or, comma = and: `cuda>=12.4 brand=tesla,driver>=470,driver<471`.
    pub require: Text,
    /// Its source.
    pub source: Text,
}

/// What torch's extension builder accepts in `TORCH_CUDA_ARCH_LIST`, from a release on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    /// The framework.
    pub package: Text,
    /// The first release this row speaks of; it holds until the next row.
    pub from: Version,
    /// Architectures it knows.
    pub archs: List<Arch>,
    /// Whether it stops the build where the toolkit is of another CUDA major. What others let pass does not run.
    pub same_major: bool,
    /// Its source.
    pub source: Text,
}

/// Which GPUs are driven by one flavour of kernel modules only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// Its stable name.
    pub id: Text,
    /// The compute capabilities it speaks of, in constraint grammar.
    pub gpus: Text,
    /// Only products that imply this CPU architecture.
    pub cpu: Option<CpuArch>,
    /// Only drivers before this one.
    pub before: Option<Version>,
    /// The only flavour that drives them.
    pub needs: ModuleKind,
    /// The first driver branch whose installer chooses the other flavour by default; none = there is no safe default.
    pub from: Option<Version>,
    /// The fact in one plain sentence.
    pub says: Text,
    /// Its source.
    pub source: Text,
}

vocabulary! {
    /// Where a machine's need of something beside its driver arises.
    Place {
        /// Wherever the board is.
        Host = "host",
        /// Where the stack runs in a container.
        Container = "container",
        /// Linux inside Windows.
        Wsl2 = "wsl2",
    }
}

/// What machines with some GPUs need beside a driver, or do without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Its stable name.
    pub id: Text,
    /// The boards it speaks of, by their names; none: those of `gpus`.
    #[serde(default)]
    pub boards: List<Text>,
    /// The compute capabilities it speaks of, in constraint grammar.
    pub gpus: Option<Text>,
    /// Where.
    pub place: Place,
    /// What has to be installed, `nvidia-fabricmanager`; none where nothing helps.
    pub needs: Option<Text>,
    /// The fact in one plain sentence.
    pub says: Text,
    /// Its source.
    pub source: Text,
}

/// The compilers that a release of Triton brings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ptxas {
    /// The release of Triton.
    pub triton: Version,
    /// The CUDA release of its ptxas.
    pub ptxas: Version,
    /// The CUDA release of a second one, for newer GPUs.
    pub newer: Option<Version>,
    /// The first compute capability that the second one is for.
    pub newer_from: Option<Cc>,
    /// Its source.
    pub source: Text,
}

impl Ptxas {
    /// The CUDA release of the compiler that makes code for a GPU.
    pub fn release_for(&self, cc: Cc) -> &Version {
        let newer = self.newer.as_ref().filter(|_| self.newer_from.is_some_and(|from| cc >= from));
        newer.unwrap_or(&self.ptxas)
    }
}

/// A Python line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Python {
    /// `3.12`
    pub version: Version,
    /// A final release exists.
    pub stable: bool,
    /// The day of the first final release.
    pub date: Option<Text>,
    /// Its source.
    pub source: Text,
}

/// A rule that holds for a range: where `subject` is in `range`, `object` must be in `needs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its stable name, used in overrides and explanations.
    pub id: Text,
    /// What it speaks of.
    pub subject: Subject,
    /// The package, where that is what it speaks of: `flash-attn`.
    pub package: Option<Text>,
    /// Which of it, in constraint grammar.
    pub range: Text,
    /// What that needs.
    pub object: Subject,
    /// The range needed, in constraint grammar.
    pub needs: Text,
    /// The rule in one plain sentence.
    pub says: Text,
    /// Its source.
    pub source: Text,
    /// Pairs `subject object` that satisfy it.
    pub holds: List<Text>,
    /// Pairs that break it.
    pub fails: List<Text>,
}

/// What releases of a package need of another one that the catalog has no releases of, and that their metadata does not
/// say. Nothing is solved with it: what installs the one installs the other accordingly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asks {
    /// Its stable name.
    pub id: Text,
    /// The package, `torch`.
    pub package: Text,
    /// Which of its releases, in constraint grammar.
    pub range: Text,
    /// The other package, `numpy`.
    pub of: Text,
    /// What is needed of it, a requirement specifier of pip: `<2`.
    pub needs: Text,
    /// The need in one plain sentence.
    pub says: Text,
    /// Its source.
    pub source: Text,
}

/// A rule that is code (a wall of five ideas: few of them), described so that users can read and override it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Law {
    /// Its stable name.
    pub id: Text,
    /// The law in one or two plain sentences.
    pub says: Text,
    /// Its source.
    pub source: Text,
}

/// A message that programs print when something does not fit, and what it means.
///
/// Patterns are matched against a text without blanks and quotes (see `diagnose`), so blanks in them are only for
/// the reader. Named groups are the keys of what is read out; `key__form` says how the text is to be decoded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorSignature {
    /// Its stable name, `driver-too-old`.
    pub code: Text,
    /// What the message speaks of.
    pub component: Component,
    /// Regular expressions; one must match.
    pub patterns: List<Text>,
    /// Regular expressions that must match nearby as well.
    #[serde(default)]
    pub with: List<Text>,
    /// Regular expressions that must not match nearby.
    #[serde(default)]
    pub not: List<Text>,
    /// The CUDA error numbers it stands for: today's first, then those of older releases.
    #[serde(default)]
    pub errors: List<u32>,
    /// Counts only if the release asked for is among those the message lists, or only if it is not.
    pub offered: Option<bool>,
    /// Counts only if this holds of the majors of two values that were read out: `cuda_torch > cuda_found`, or `!=`.
    pub majors: Option<Text>,
    /// What the message implies where it does not print it, `nvml_error=18`.
    #[serde(default)]
    pub gives: List<Text>,
    /// Plain sentences; one with a `{placeholder}` that nothing fills is left out.
    pub meaning: List<Text>,
    /// What to change, most promising first; likewise.
    pub remedies: List<Text>,
    /// Of several findings the heaviest comes first; one below ten counts only where there is no other.
    pub weight: u32,
    /// Where the message is produced or documented.
    pub source: Text,
    /// A public thread that shows it.
    pub seen: Option<Text>,
}

/// What a log tells in passing: a driver, a GPU, a Python. It explains nothing, but belongs to the picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogField {
    /// Its stable name.
    pub id: Text,
    /// Regular expressions, matched line by line; named groups as in a diagnosis.
    pub patterns: List<Text>,
    /// Who prints such lines.
    pub source: Text,
}
