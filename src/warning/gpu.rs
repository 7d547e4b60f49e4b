//! What is said of GPUs: whether the wheels hold code for them, and what torch.compile, NCCL and the driver make of them.

use crate::types::Version;

use super::Kind;

/// A target that names no GPU.
pub struct GpuNotChecked<'a> {
    /// The target.
    pub target: &'a str,
}

impl Kind for GpuNotChecked<'_> {
    const CODE: &'static str = "gpu-not-checked";

    fn message(&self) -> String {
        format!(
            "target `{}` sets no `gpu`, so GPU compatibility was not checked: add `gpu = \"RTX 4090\"` or `gpu = \"none\"`",
            self.target
        )
    }
}

/// A board that comes with its own processor beside one that does not.
pub struct GpuArch<'a> {
    /// The target.
    pub target: &'a str,
    /// The board that brings the processor.
    pub gpu: &'a str,
    /// That processor.
    pub arch: &'a str,
    /// The other board.
    pub other: &'a str,
}

impl Kind for GpuArch<'_> {
    const CODE: &'static str = "gpu-arch";

    fn message(&self) -> String {
        let GpuArch { target, gpu, arch, other } = self;
        format!(
            "target `{target}` is for {arch} machines, since {gpu} is in no others: machines with {other} and another processor \
             need a target of their own"
        )
    }
}

/// Of so many boards it is said which driver first lists them.
const BOARDS: usize = 4;

/// A driver from before the first one that is known to list boards, or of which nobody knows whether it drives them.
pub struct GpuNotListed<'a> {
    /// The boards, each with the first driver that lists it, the latest first; none where that is not known, nor the first that
    /// drives their generation.
    pub boards: &'a [(&'a str, Option<Version>)],
    /// The name that is written for them, where it means others too, which the driver lists.
    pub family: Option<&'a str>,
    /// The oldest driver that hosts may have.
    pub driver: &'a Version,
    /// Whether the hosts have some release of its branch, and that one lists all of the boards.
    pub of_branch: bool,
    /// Whether that is one of Windows, which numbers the releases of a branch by itself.
    pub windows: bool,
}

impl Kind for GpuNotListed<'_> {
    const CODE: &'static str = "gpu-not-listed";

    fn message(&self) -> String {
        let GpuNotListed { boards, driver, of_branch, windows, .. } = self;
        let family = self.family.map_or_else(String::new, |name| format!("`{name}` means several boards: "));
        match boards {
            [(_, None), ..] => {
                let names: Vec<&str> = boards.iter().map(|(gpu, _)| *gpu).collect();
                format!(
                    "which driver first drives the generation of {} is not known, so whether {driver} does was not checked",
                    names.join(", ")
                )
            }
            [(gpu, Some(first))] if *windows => format!(
                "{family}{gpu} is first listed in driver {first} of Linux, of branch R{}; {driver} of Windows is of an older branch \
                 and may not know the board",
                first.major()
            ),
            [(gpu, Some(first))] if *of_branch => format!(
                "{family}{gpu} is first listed in driver {first}; an older release of branch R{} may not recognise it",
                first.major()
            ),
            [(gpu, Some(first))] => {
                format!("{family}{gpu} is first listed in driver {first}; {driver} may not recognise it")
            }
            _ => {
                let told = |(gpu, first): &(&str, Option<Version>)| {
                    format!("{gpu} ({})", first.map_or_else(String::new, |first| first.to_string()))
                };
                let shown: Vec<String> = boards.iter().take(BOARDS).map(told).collect();
                let more = boards.len() - shown.len();
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let (of, on) = if *windows { (" of Windows", " of Linux") } else { ("", "") };
                let last = boards.iter().filter_map(|(_, first)| *first).max();
                let last = last.map_or_else(String::new, |last| format!("; driver {last}{on} lists them all"));
                format!(
                    "{family}these are first listed in later drivers, and {driver}{of} may not recognise them: \
                     {}{more}{last}",
                    shown.join(", ")
                )
            }
        }
    }
}

/// A board whose driver comes with its system.
pub struct JetsonDriver<'a> {
    /// The board.
    pub gpu: &'a str,
    /// The CUDA version that the driver must support, where it is known.
    pub cuda: Option<Version>,
    /// The driver minimum of the target's other boards, which have a driver of their own.
    pub minimum: Option<&'a Version>,
}

impl Kind for JetsonDriver<'_> {
    const CODE: &'static str = "jetson-driver";

    fn message(&self) -> String {
        let cuda = self.cuda.map_or(String::new(), |cuda| format!(" whose CUDA is {cuda} or newer"));
        let of_others = |minimum| format!("; the number {minimum} is that of other machines");
        let others = self.minimum.map_or_else(String::new, of_others);
        format!("the driver of {} comes with JetPack: take one{cuda}{others}", self.gpu)
    }
}

/// Code that the driver compiles before it runs.
pub struct JitOnly<'a> {
    /// What holds it: a package with its version, the stack, or `arch-list`.
    pub what: &'a str,
    /// The GPUs that it is compiled for.
    pub gpus: &'a [&'a str],
}

impl Kind for JitOnly<'_> {
    const CODE: &'static str = "jit-only";

    fn message(&self) -> String {
        format!(
            "{} holds only PTX for {}: the driver compiles it at the first start, which is slow and needs a driver that \
             knows that PTX version",
            self.what,
            self.gpus.join(", ")
        )
    }
}

/// GPUs that one flavour of kernel modules does not drive.
pub enum KernelModule<'a> {
    /// Only one flavour does.
    Only {
        /// The GPUs.
        gpus: &'a str,
        /// The flavour.
        needs: &'a str,
    },
    /// The other does with a parameter.
    With {
        /// The GPUs.
        gpus: &'a str,
        /// The driver.
        driver: &'a Version,
        /// The flavour that is there.
        flavour: &'a str,
        /// The parameter of its module.
        parameter: &'a str,
    },
}

impl Kind for KernelModule<'_> {
    const CODE: &'static str = "kernel-module";

    fn message(&self) -> String {
        let (gpus, needs) = match self {
            KernelModule::Only { gpus, needs } => (gpus, needs),
            KernelModule::With { gpus, driver, flavour, parameter } => {
                return format!(
                    "the {flavour} kernel modules of driver {driver} find {gpus} only if nvidia.ko is loaded with \
                     {parameter}; set it, take the other modules, or a newer driver"
                );
            }
        };
        let (other, it) = match *needs {
            "open" => ("proprietary", "NVIDIA's open kernel modules"),
            _ => ("open", "NVIDIA's proprietary kernel modules"),
        };
        format!("{gpus} needs {it}; with the {other} ones the driver finds no GPU")
    }
}

/// GPUs that NCCL holds no code for: each of them computes, but no two of them together.
pub struct NcclGpu<'a> {
    /// The GPUs.
    pub gpus: &'a str,
    /// The NCCL of the stack.
    pub nccl: &'a Version,
    /// The compute capabilities that it holds code for.
    pub capability: &'a str,
}

impl Kind for NcclGpu<'_> {
    const CODE: &'static str = "nccl-gpu";

    fn message(&self) -> String {
        format!(
            "several {} cannot work together: NCCL {} holds code for compute capability {}; one alone computes",
            self.gpus, self.nccl, self.capability
        )
    }
}

/// Code of which it is not known which GPUs it is for.
pub enum UnknownGpuCode<'a> {
    /// A build of one's own without an `arch-list`.
    OwnBuild {
        /// The build.
        name: &'a str,
    },
    /// A published build that nobody has read.
    Build {
        /// The build.
        name: &'a str,
        /// The processor it is for.
        arch: &'a str,
    },
    /// A package with GPU code of its own that nobody has read.
    Package {
        /// The package and its release.
        name: &'a str,
        /// Whether the system has a glibc that is known and its wheel may need another: nobody has read that either.
        glibc: bool,
    },
    /// A wheel of which only that of another variant was read, which does not serve every GPU.
    OtherVariant {
        /// The package and its release.
        name: &'a str,
        /// The variant that was read.
        read: &'a str,
        /// The GPUs.
        gpus: &'a [&'a str],
    },
    /// A package of which a row of an overlay says nothing.
    Unsaid {
        /// The package and its release.
        name: &'a str,
    },
    /// A build or package of which evidence differs.
    Disputed {
        /// What it is.
        name: &'a str,
        /// What says that the GPU does not load it.
        table: &'a str,
        /// The GPU.
        gpu: &'a str,
        /// Where the evidence is.
        source: &'a str,
        /// The CUDA line from which on it is settled.
        settled: Option<Version>,
    },
    /// A build that a rule may speak against.
    Unproven {
        /// The build.
        name: &'a str,
        /// The GPU.
        gpu: &'a str,
        /// What is known and what is not.
        says: &'a str,
        /// Where it is from.
        source: &'a str,
    },
}

impl Kind for UnknownGpuCode<'_> {
    const CODE: &'static str = "unknown-gpu-code";

    fn message(&self) -> String {
        match self {
            UnknownGpuCode::OwnBuild { name } => {
                format!("{name} has no `arch-list`, so it is not known which GPUs it supports")
            }
            UnknownGpuCode::Build { name, arch } => format!("it is not known which GPUs {name} for {arch} supports"),
            UnknownGpuCode::Package { name, glibc } => {
                let nor = if *glibc { ", nor which glibc its wheel needs" } else { "" };
                format!("it is not known which GPUs {name} supports{nor}")
            }
            UnknownGpuCode::OtherVariant { name, read, gpus } => format!(
                "it is not known whether {name} holds code for {}: only its wheel for {read} was read, which holds no \
                 machine code for it; what the package computes itself may fail there with \"no kernel image is available\"",
                gpus.join(", ")
            ),
            UnknownGpuCode::Unsaid { name } => format!(
                "the row of {name} in your overlay says nothing of GPU code, so its wheel was not checked against the GPUs: \
                 add `gpu_code`, `sass` and `arch_source` to the row if it holds any"
            ),
            UnknownGpuCode::Disputed { name, table, gpu, source, settled } => {
                let settled =
                    settled.map_or_else(String::new, |cuda| format!("; builds of CUDA {cuda} and newer are certain"));
                format!(
                    "it is not certain that {gpu} loads the code in {name}: {table} says it does not, \
                     while tests on such a board passed ({source}){settled}"
                )
            }
            UnknownGpuCode::Unproven { name, gpu, says, source } => {
                format!("it is not known whether {name} computes on {gpu}: {says} ({source})")
            }
        }
    }
}

/// A library of which it is not known which release a build brings.
pub struct UnknownLibrary<'a> {
    /// The library.
    pub library: &'a str,
    /// The build.
    pub name: &'a str,
    /// Whether the spec constrains it.
    pub is_asked_for: bool,
}

impl Kind for UnknownLibrary<'_> {
    const CODE: &'static str = "unknown-library";

    fn message(&self) -> String {
        let so = if self.is_asked_for { "what is asked of it is not checked" } else { "the lock names none" };
        format!("it is not known which {} comes with {}: {so}", self.library, self.name)
    }
}

/// GPUs that are slices of a board, which a hypervisor shares out, and a package that asks for what they may lack.
pub struct Vgpu<'a> {
    /// Their names.
    pub gpus: &'a str,
    /// The package or library, and its release.
    pub package: &'a str,
    /// What that is.
    pub what: Pools,
}

/// What asks for CUDA's memory pools.
pub enum Pools {
    /// A package.
    Package,
    /// NCCL, which does so wherever a process joins others.
    Nccl,
}

impl Kind for Vgpu<'_> {
    const CODE: &'static str = "vgpu";

    fn message(&self) -> String {
        let (uses, fails) = match self.what {
            Pools::Package => ("uses CUDA's memory pools or its management of virtual memory", "it fails"),
            Pools::Nccl => ("makes a memory pool of CUDA for each communicator", "torch.distributed with NCCL fails"),
        };
        format!(
            "{} {uses}, which {}, a virtual GPU, has only if its host enables unified memory for it: else {fails} \
             (`operation not supported`)",
            self.package, self.gpus
        )
    }
}

/// A library of CUDA that may be older than a GPU.
#[derive(Clone, Copy)]
pub enum CudaLibrary {
    /// It computes FFTs.
    Cufft,
    /// It compiles kernels while a program runs.
    Nvrtc,
    /// It multiplies matrices.
    Cublas,
}

/// GPUs that a framework's kernels run on, and a library of CUDA that it brings does not.
pub struct CudaGpu<'a> {
    /// The framework and its release.
    pub build: &'a str,
    /// The GPUs.
    pub gpus: &'a str,
    /// Which library.
    pub library: CudaLibrary,
    /// The CUDA line.
    pub cuda: Version,
    /// The first whose library runs on them.
    pub from: Version,
    /// The first release of the framework that does without.
    pub until: Option<Version>,
    /// The variants of the same release for such a line; none where the library comes with no build.
    pub sisters: Option<&'a [&'a str]>,
}

impl Kind for CudaGpu<'_> {
    const CODE: &'static str = "cuda-gpu";

    fn message(&self) -> String {
        let CudaGpu { build, gpus, cuda, from, .. } = self;
        let package = build.split(' ').next().unwrap_or_default();
        let newer = self.until.map_or(String::new(), |release| format!("{package} {release} or newer, or "));
        let (what, why) = match self.library {
            CudaLibrary::Nvrtc => (
                format!(
                    "what {build} compiles while it runs, fused TorchScript and `torch.prod` among it, fails on {gpus} (`nvrtc: \
                     error: invalid value for --gpu-architecture`)"
                ),
                format!("the NVRTC of CUDA {cuda} does not know it"),
            ),
            CudaLibrary::Cublas => (
                format!("matrix products of {build} crash on {gpus} (`Floating point exception`)"),
                format!("the cuBLAS of CUDA {cuda} does not run there"),
            ),
            CudaLibrary::Cufft => (
                format!("FFTs of {build} fail on {gpus} (CUFFT_INTERNAL_ERROR)"),
                format!("the cuFFT of CUDA {cuda} does not run there"),
            ),
        };
        let sisters: Vec<String> =
            self.sisters.iter().copied().flatten().map(|variant| format!("+{variant}")).collect();
        let sisters = if sisters.is_empty() { String::new() } else { format!(": {}", sisters.join(" or ")) };
        let a_build = if self.sisters.is_some() { "a build for " } else { "" };
        format!("{what}: {why}; take {newer}{a_build}CUDA {from} or newer{sisters}")
    }
}

/// What NVIDIA does not support under WSL2, or what a package needs there.
pub struct Wsl2<'a> {
    /// The boards, the driver or the package.
    pub what: &'a str,
    /// What the row of the catalog says of it.
    pub says: &'a str,
}

impl Kind for Wsl2<'_> {
    const CODE: &'static str = "wsl2";

    fn message(&self) -> String {
        let then = if self.says.starts_with(char::is_uppercase) || self.says.ends_with('"') { ":" } else { "" };
        format!("{}{then} {}", self.what, self.says.trim_end_matches('.'))
    }
}
