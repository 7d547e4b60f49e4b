//! Packages that follow frameworks, and what packages ask for.

use serde::{Deserialize, Serialize};

use super::{CUDA_ONLY, FoundIn, List, Text};
use crate::types::prose::Prose;
use crate::types::{Arch, CpuArch, Specifier, Version};

impl Libraries {
    /// Each package with what is asked for of it, `nvidia-cublas` and `<=13.1.1.3,>=13.1.0.3`; nothing where any does.
    pub fn asked(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pins.split(' ').map(name_and_range)
    }

    /// The oldest release that what is asked for takes: of `==13.0.88` it itself.
    pub fn oldest(asked: &str) -> Option<&str> {
        asked.split(',').find_map(|one| one.strip_prefix("==").or_else(|| one.strip_prefix(">=")))
    }
}

/// The name of a package and what is asked for of it, `nvidia-cublas` and `<=13.1.1.3,>=13.1.0.3`.
fn name_and_range(asked: &str) -> (&str, &str) {
    let begins = |byte: u8| matches!(byte, b'=' | b'<' | b'>' | b'~' | b'!');
    asked.split_at(asked.bytes().position(begins).unwrap_or(asked.len()))
}

/// The CUDA major in the name of a library of NVIDIA's, 12 of `nvidia-nccl-cu12`.
pub fn library_major(package: &str) -> Option<u64> {
    package.strip_prefix("nvidia-")?.rsplit_once("-cu")?.1.parse().ok()
}

/// What stands in place of a processor where a release asks for a package only beside which it runs: in an extra of its own, or
/// by its code.
pub const EXTRA: &str = "extra";

/// What stands behind a package that a release imports and its metadata asks for in extras alone, if at all: it comes along
/// as any other, but exports name it, for no installer is told of it.
const BY_CODE: &str = "; code";

/// The only version that a range admits, `0.0.28.post3` of `==0.0.28.post3`.
pub fn pinned(range: &str) -> Option<&str> {
    range.strip_prefix("==").filter(|version| !version.contains([',', '*']))
}

/// A release of a package that follows a framework: torchvision, torchaudio, vllm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Companion {
    /// `torchvision`
    pub package: Text,
    /// `0.20.1`
    pub version: Version,
    /// The framework it needs, `torch`; `cuda` for what follows none, only a CUDA major, or not even that.
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
    pub url: Option<Prose>,
    /// The version its wheel carries there, where it is not that one: `2.7.4+cu126`. Its own version, of a row for a variant
    /// that names no place and brings something: the wheel of the package index serves the variant too, with that.
    pub wheel: Option<Text>,
    /// Of a wheel for a variant what it asks for that is made for one CUDA too, `torchvision==0.26.0`: an installer takes
    /// that from the package index, where it is for another, unless it is named beside it.
    #[serde(default)]
    pub brings: List<Text>,
    /// What its metadata asks for of other packages that the catalog has, its framework aside: `torchvision==0.29.0`;
    /// `xformers==0.0.28.post3; x86_64` where it does so on one processor only, `flashinfer-python==0.3.1; extra` where an extra
    /// of its own does, or its code calls just those, which binds what is named beside it alone; `cuda-bindings>=12.9.1; code`
    /// where its code does not go without it. And the libraries of NVIDIA that carry a CUDA
    /// major in their name, `nvidia-nccl-cu12`. With a range or without, for then an installer takes the newest.
    #[serde(default)]
    pub requires: List<Text>,
    /// What its metadata pins that the package index no longer has, `apache-tvm-ffi==0.1.0b15`: no installer can install it.
    /// What its build fetches from an index that nobody has read is none: it may lie there.
    pub gone: Option<Text>,
    /// The extra that brings what is for the framework, `pytorch` for `transformer-engine[pytorch]`.
    pub extra: Option<Text>,
    /// Published as source only, it or the part for the framework: it is compiled where it is installed. Where the release has
    /// wheels for one processor alone, a row of its own says so of the other, which `arches` names.
    #[serde(default)]
    pub sdist: bool,
    /// It holds the sources of kernels, and compiles them with nvcc when they are first used: it runs on every GPU that the
    /// toolkit there knows. With `gpu_code`, of kernels without which it does not start; what it compiles for some uses only is
    /// not told.
    #[serde(default)]
    pub jit: bool,
    /// The platforms it has wheels for; empty = it runs wherever the framework does, or nobody has told.
    #[serde(default)]
    pub arches: List<CpuArch>,
    /// The oldest glibc its platform tags admit; the newest that its libraries ask for where that is newer. `arm_glibc` says
    /// where its wheel for aarch64 needs another.
    pub glibc: Option<Version>,
    /// The CUDA major whose runtime its libraries load, before CUDA 11 its line where that is known (`10.2`); none where
    /// they load none, or look for one when they run.
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
    /// The source of `cuda`, `sass`, `ptx`, `arm_sass` and `cpu_only`.
    pub arch_source: Option<Text>,
    /// It loads CUDA's libraries, and asks pip for none: they are those of the system, unless something else brings them.
    #[serde(default)]
    pub system_cuda: bool,
    /// Of what other releases, processors or variants hold GPU code of, the processors whose wheel was read and holds none:
    /// there it computes on the CPU alone, or without `gpu_code` its own operators do.
    #[serde(default)]
    pub cpu_only: List<CpuArch>,
    /// Libraries that it loads and that nothing it requires brings, by their file names.
    #[serde(default)]
    pub loads: List<Text>,
    /// Libraries that it has the loader look for, and that the loader does not find where wheels of NVIDIA bring them:
    /// `nvidia/cudnn/lib/libcudnn_cnn.so.9`, below the folder that packages are installed in. A folder `cu13` is that of the
    /// wheels for this major, and a framework of another loads what it brings itself.
    #[serde(default)]
    pub unreached: List<Text>,
    /// It loads the kernels that it has for the CUDA runtime which it finds in a conda environment, through LD_LIBRARY_PATH or
    /// in /usr/local/cuda, and not for that of its framework: what rules say of a toolkit is about the one that it finds.
    #[serde(default)]
    pub finds_cuda: bool,
    /// Libraries of CUDA that it loads and asks pip for none of, by the names of their wheels: `cusparse`. Some builds of its
    /// framework have pip install them, others have them inside, where nothing else can load them.
    #[serde(default)]
    pub borrows: List<Text>,
    /// The source of its build including cuDNN's headers while it adds no folder that wheels bring them in. None: it does
    /// neither, or nobody has read it.
    pub cudnn_headers: Option<Text>,
    /// The ISA of the PTX of its own kernels in its wheel for x86_64, at the most: that of the CUDA release which compiled them.
    pub ptx_isa: Option<Version>,
    /// The oldest glibc that a second wheel of it loads with, which holds no GPU code; none where it has no such wheel.
    pub cpu_glibc: Option<Version>,
    /// The versions of the framework, in constraint grammar, beside which alone it loads its own kernels: beside another it
    /// runs without them. `<0` = beside none. None = it loads them beside any, or nobody has read it. Of what follows CUDA alone
    /// it speaks of its part for a framework, which is named before: `torch 2.2,+cu121`.
    pub kernels_with: Option<Text>,
    /// The source of `kernels_with`.
    pub kernels_source: Option<Text>,
    /// The source of its asking for CUDA's memory pools or its management of virtual memory, without which it fails; none
    /// where it asks for neither, or nobody has read it.
    pub pools: Option<Text>,
    /// It compiles kernels while it runs, and links them with the nvJitLink of the toolkit from this CUDA on; of an older one
    /// the driver does, which must know its PTX. None where it compiles none so.
    pub nvjitlink: Option<Version>,
    /// It compiles kernels while it runs, and reads the headers of the CUDA runtime for that from this CUDA on: those of a
    /// toolkit, or of the runtime's wheel. None where it needs none that it does not hold.
    pub headers_from: Option<Version>,
    /// The source of `headers_from`.
    pub headers_source: Option<Text>,
    /// What it needs in Linux inside Windows to run at all, as a sentence that goes on after its name; none = nothing that
    /// anybody knows.
    pub wsl2: Option<Text>,
    /// The source of `wsl2`.
    pub wsl2_source: Option<Text>,
    /// `glibc` of its wheel for aarch64, where that one needs another.
    pub arm_glibc: Option<Version>,
    /// Of the row without a variant the variants on whose index its publisher says that its wheels for x86_64 lie, or where
    /// somebody names one, with or without a row of their own.
    #[serde(default)]
    pub offered: List<Text>,
    /// The source of `offered`.
    pub offered_source: Option<Text>,
    /// The variants on whose index wheels for aarch64 were seen that carry no variant in their names.
    #[serde(default)]
    pub arm_offered: List<Text>,
    /// The source of `arm_offered`.
    pub arm_offered_source: Option<Text>,
    /// The variants of the framework for x86_64 that have the C++ ABI which its wheel was compiled with, where a release of
    /// the framework comes with both; empty = all that it otherwise goes with, or nobody has read it.
    #[serde(default)]
    pub abi_variants: List<Text>,
    /// The source of `abi_variants`.
    pub abi_source: Option<Text>,
}

impl Companion {
    /// Whether it is made for a processor. On the index of a variant those for aarch64 long had no `+cu129` in their names.
    pub fn is_for_arch(&self, arch: CpuArch) -> bool {
        self.arches.is_empty() || self.arches.contains(&arch)
    }

    /// Whether it has the C++ ABI of a variant of its framework, as far as that is known.
    pub fn has_abi_of(&self, variant: &str) -> bool {
        self.abi_variants.is_empty() || self.abi_variants.iter().any(|of| *of == variant)
    }

    /// The oldest glibc that it loads with on a processor, on a machine without a GPU or on another.
    pub fn needs_glibc(&self, arch: CpuArch, cpu: bool) -> Option<Version> {
        let of_arm = self.arm_glibc.filter(|_| arch == CpuArch::Aarch64);
        self.cpu_glibc.filter(|_| cpu).or(of_arm).or(self.glibc)
    }

    /// Whether no wheel of it loads with a C library, on a processor.
    pub fn needs_newer_glibc(&self, arch: CpuArch, cpu: bool, has: Version) -> bool {
        self.needs_glibc(arch, cpu).is_some_and(|needs| has < needs)
    }

    /// Each package that it asks for, with the range, and the processor on which alone it does, or `EXTRA`.
    pub fn requirements(&self) -> impl Iterator<Item = (&str, &str, Option<&str>)> {
        self.requires.iter().map(|text| {
            let text = text.strip_suffix(BY_CODE).unwrap_or(text);
            let (asked, only) = text.split_once("; ").map_or((text, None), |(asked, only)| (asked, Some(only)));
            let (of, range) = name_and_range(asked);
            (of, range, only)
        })
    }

    /// Each package that it asks for on a processor, with the range.
    pub fn asked(&self, arch: CpuArch) -> impl Iterator<Item = (&str, &str)> {
        let on = self.requirements().filter(move |(.., only)| only.is_none_or(|only| only == arch.as_str()));
        on.map(|(of, range, _)| (of, range))
    }

    /// Each package that an extra of its own asks for, with the range: it comes along with nothing, but beside it its own
    /// code wants that one.
    pub fn asked_by_extra(&self) -> impl Iterator<Item = (&str, &str)> {
        self.requirements().filter(|(.., only)| *only == Some(EXTRA)).map(|(of, range, _)| (of, range))
    }

    /// Whether it asks for a package by its code alone, so that no installer is told.
    pub fn asks_by_code(&self, of: &str) -> bool {
        let by_code = self.requires.iter().filter_map(|text| text.strip_suffix(BY_CODE)?.strip_prefix(of));
        by_code.into_iter().any(|range| !range.starts_with(|next: char| next.is_alphanumeric() || next == '-'))
    }

    /// The processor for which it comes as source, where the release has wheels for the other.
    pub fn source_for(&self) -> Option<CpuArch> {
        match *self.arches {
            [CpuArch::Aarch64] if self.sdist => Some(CpuArch::Aarch64),
            _ => None,
        }
    }

    /// Whether it is the source of a release that has wheels for a processor: there nobody compiles it.
    pub fn is_source_beside_wheels(&self, arch: CpuArch) -> bool {
        self.source_for().is_some_and(|source| source != arch)
    }

    /// Whether it is known to lie on the index of a variant for a processor, though no row tells for which Pythons.
    pub fn is_offered_for(&self, variant: &str, arch: CpuArch) -> bool {
        let offered = match arch {
            CpuArch::X86_64 => &self.offered,
            CpuArch::Aarch64 => &self.arm_offered,
        };
        offered.iter().any(|of| *of == variant)
    }

    /// Whether it follows no framework, only a CUDA major.
    pub fn follows_cuda(&self) -> bool {
        self.framework == CUDA_ONLY
    }

    /// Whether the wheel for its variant is that of the package index, and only what it brings is another.
    pub fn is_of_package_index(&self) -> bool {
        let is_plain = self.wheel.is_some_and(|wheel| *wheel == *self.version.as_str());
        self.variant.is_some() && is_plain && !self.brings.is_empty() && self.index_url.is_none() && self.url.is_none()
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

/// A finished wheel of a package that comes as source: it lies beside a release of its project, on no index, and holds what
/// was compiled beside one line of the framework.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinishedWheel {
    /// The companion.
    pub package: Text,
    /// Its release.
    pub version: Version,
    /// The line of the framework that it was compiled beside, `2.8`.
    pub beside: Version,
    /// The CUDA major of its runtime, `12`.
    pub cuda: Version,
    /// The variants of the framework with its C++ ABI, where a line has both; empty = all of that CUDA major.
    #[serde(default)]
    pub variants: List<Text>,
    /// The processor.
    pub arch: CpuArch,
    /// The Pythons whose files were seen, in constraint grammar.
    pub python: Text,
    /// Its address, where `{python}` stands for the Python as file names spell it, `312`.
    pub url: Text,
    /// The oldest glibc that it loads with.
    pub glibc: Version,
    /// GPU architectures that it holds machine code for.
    pub sass: List<Arch>,
    /// Its source.
    pub source: Text,
    /// The source of `sass`.
    pub arch_source: Text,
    /// The source of `glibc`.
    pub glibc_source: Text,
    /// The source of its not loading at all; none where it does.
    pub broken: Option<Text>,
}

impl FinishedWheel {
    /// The address of the file for a Python.
    pub fn file(&self, python: &Version) -> String {
        self.url.replace("{python}", &python.as_str().replace('.', ""))
    }
}

/// How a package that comes as source is compiled, from a release on: beside an installed framework and without the
/// isolation that installers build in, because its own documentation tells to, or its build imports the framework.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceBuild {
    /// The companion.
    pub package: Text,
    /// The first release this row speaks of; it holds until the next row.
    pub from: Version,
    /// The first release of which it speaks no more, where the build does in isolation again; none = it goes on.
    pub until: Option<Version>,
    /// What the build imports or asks for, in order; the framework and CUDA aside.
    pub tools: List<Text>,
    /// What the built package requires, in order, which installers learn otherwise by running its build; `{version}` is its
    /// own, and `{cuda}` the CUDA major of the framework that it is built beside.
    pub requires: List<Text>,
    /// The variable that says for which GPUs, and all it takes, `FLASH_ATTN_CUDA_ARCHS=80;90;100;120`; none where the
    /// framework's extension builder decides, or nothing is compiled for a GPU.
    pub archs: Option<Text>,
    /// What has it compiled for CUDA where no GPU is seen, `FORCE_CUDA=1`; none where the toolkit decides.
    pub switch: Option<Text>,
    /// Its source.
    pub source: Text,
    /// What has its build compile where a finished wheel lies beside the release, `FLASH_ATTENTION_FORCE_BUILD=TRUE`.
    pub force: Option<Text>,
    /// The C++ that its build asks the compilers for, where newer releases of its framework do not take that, in words; none
    /// where the framework decides.
    pub cxx: Option<Text>,
    /// Where finished wheels of it lie that nobody has read, by its address; none where none are known, or those that there
    /// are have rows of their own.
    pub unread: Option<Text>,
    /// It refuses to be imported where another minor release of CUDA compiled it than its framework.
    #[serde(default)]
    pub same_minor: bool,
}

impl SourceBuild {
    /// One of the requirements of a release that is built beside a framework of a CUDA major; none where that is missing, or
    /// it is none.
    pub fn requirement(&self, one: &str, version: &Version, cuda: &str) -> Option<String> {
        let told = one.replace("{version}", version.as_str()).replace("{cuda}", cuda);
        (!cuda.is_empty() || !one.contains("{cuda}")).then_some(told).filter(|told| Specifier::split(told).is_some())
    }
}

/// Packages of which each installs the same module, so that an environment holds one of them: the files of another replace
/// its own, and no installer says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedModule {
    /// Its stable name, `module-onnxruntime`.
    pub id: Text,
    /// What is imported, `onnxruntime`.
    pub module: Text,
    /// Whose wheels hold it, in order.
    pub packages: List<Text>,
    /// Its source.
    pub source: Text,
}

/// The NVIDIA libraries that a release asks for, as its metadata writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Libraries {
    /// `torch`, the build that the package index serves; `jax`, `tensorflow`; `cuda-toolkit`, the metapackage of a toolkit
    /// release; a library, `nvidia-cusolver`, of which the others that it asks for are told.
    pub package: Text,
    /// Its version.
    pub version: Version,
    /// The variant whose extra asks for them, `cu12` of jax; none where the release itself does.
    pub variant: Option<Text>,
    /// The platform; none where it is the same everywhere.
    pub arch: Option<CpuArch>,
    /// `nvidia-cublas-cu12==12.4.5.8`, `nvidia-cudnn-cu12<10.0,>=9.8`, …, with blanks between.
    pub pins: Text,
    /// Of a toolkit release the components whose wheels admit no glibc as old as 2.17, each with the oldest that they admit, and
    /// the processor where it is one: `nvidia-cublas-cu12 2.27 aarch64`.
    #[serde(default)]
    pub newer_glibc: List<Text>,
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

/// What releases of a package need of another one, where the catalog has releases of one of the two only: torch of NumPy,
/// transformers of torch or of Python. Nothing is solved with it: what installs the one installs the other accordingly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asks {
    /// The package, `torch`.
    pub package: Text,
    /// Its stable name; empty where the releases were read, for it follows from the other fields: see [`Asks::name`].
    #[serde(default)]
    pub id: Text,
    /// Which of its releases, in constraint grammar.
    pub range: Text,
    /// The other package, `numpy`, or `python`; `pip` where newer ones refuse the metadata of the releases.
    pub of: Text,
    /// What is needed of it, a requirement specifier of pip: `<2`.
    pub needs: Text,
    /// The need in one plain sentence, where only its code has it; else empty.
    #[serde(default)]
    pub says: Prose,
    /// Its source.
    pub source: Text,
    /// Where it stands; in its metadata, where nothing is said.
    #[serde(default)]
    pub found_in: FoundIn,
    /// Whether its code imports the other one, for which its metadata does not ask: it does not start without it.
    #[serde(default)]
    pub imports: bool,
    /// The first release of the range, where each of them was read.
    pub read: Option<Version>,
    /// The extra of the package that alone asks for it, `cuda12x` of `spacy[cuda12x]`; none where the package itself does.
    pub extra: Option<Text>,
    /// Where nothing but its wheels is published, the processors of Linux that they are for; empty where they are for all.
    #[serde(default)]
    pub arches: List<CpuArch>,
    /// Likewise the oldest glibc, where not every system has it.
    pub glibc: Option<Version>,
    /// That of the wheels for aarch64, where it is another.
    pub arm_glibc: Option<Version>,
    /// The lines of Python on which alone it is asked for, of those that the releases are for, `>=3.10`; none where it is on all.
    pub python: Option<Text>,
}

impl Asks {
    /// The oldest glibc that its wheels for a processor need, where nothing but wheels is published.
    pub fn needs_glibc(&self, arch: CpuArch) -> Option<Version> {
        self.arm_glibc.filter(|_| arch == CpuArch::Aarch64).or(self.glibc)
    }

    /// Its stable name, `torch-2.9.0-sympy`.
    pub fn name(&self) -> String {
        let Some(read) = self.read.filter(|_| self.id.is_empty()) else { return self.id.to_string() };
        let how = if self.found_in == FoundIn::Metadata { String::new() } else { format!("-{}", self.found_in) };
        let extra = self.extra.map_or_else(String::new, |extra| format!("-{extra}"));
        let spelled = |python: Text| python.replace('<', "before-").replace(',', "-").replace(">=", "");
        let on = self.python.map_or_else(String::new, |python| format!("-{}", spelled(python)));
        format!("{}-{read}-{}{how}{extra}{on}", self.package, self.of)
    }
}
