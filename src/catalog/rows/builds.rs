//! Builds of frameworks.

use serde::{Deserialize, Serialize};

use super::{Family, Index, List, Pins, Property, Status, Text};
use crate::types::{Arch, CpuArch, Version, variant};

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
    /// Libraries that it loads and that neither pip nor the systems it is made for bring, by their file names; or that pip
    /// installs where it does not look, by their paths; and what it reads of the toolkit's compiler when it runs, by the path
    /// below the toolkit's folder: `nvvm/libdevice/libdevice.10.bc`.
    #[serde(default)]
    pub loads: List<Text>,
    /// The NCCL it pins or bundles.
    pub nccl: Option<Version>,
    /// The triton it pins.
    pub triton: Option<Version>,
    /// The Pythons for which it does, in constraint grammar; none where it does for all.
    pub triton_python: Option<Text>,
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
    /// Of `pythons` those for which all that its extra pins has wheels, where that is not all of them.
    #[serde(default)]
    pub extra_pythons: List<Version>,
    /// The source of its asking for CUDA's memory pools or its management of virtual memory, without which it fails; none
    /// where it asks for neither, or nobody has read it.
    pub pools: Option<Text>,
}

impl Build {
    /// What it reads of the toolkit's compiler when it runs, beyond libraries.
    pub fn reads_of_compiler(&self) -> Option<&str> {
        self.loads.iter().map(|path| &**path).find(|path| path.starts_with("nvvm/"))
    }

    /// One of which nobody has told more.
    pub fn bare(package: Text, version: Version, variant: Text, arch: CpuArch, source: Text) -> Self {
        Build {
            package,
            version,
            variant,
            arch,
            systems: List::default(),
            default: false,
            status: Status::Stable,
            index: List::default(),
            index_url: None,
            url: None,
            wheel: None,
            extra: None,
            pythons: List::default(),
            pythons_partial: false,
            sass: List::default(),
            ptx: List::default(),
            ptx_isa: None,
            glibc: None,
            toolkit: None,
            pins: None,
            cudnn: None,
            cudnn_range: None,
            system_cuda: false,
            loads: List::default(),
            nccl: None,
            triton: None,
            triton_python: None,
            source,
            arch_source: None,
            pins_source: None,
            expected: List::default(),
            expected_pythons: List::default(),
            extra_pythons: List::default(),
            pools: None,
        }
    }

    /// Whether it is one without CUDA.
    pub fn is_cpu(&self) -> bool {
        self.variant == variant::CPU
    }

    /// Why nobody read its GPU code in its own file: of those for CUDA, what the package index has is read.
    pub fn unread(&self) -> Option<&'static str> {
        if self.is_cpu() || self.is_laid() || self.index.contains(&Index::Pypi) {
            None
        } else if self.is_in_image() {
            Some("it stands in an image, and images are not read")
        } else if self.index.is_empty() {
            Some("its wheel lies on an index of its own, which is not read")
        } else {
            Some("its wheel lies on the PyTorch index alone, which is not read")
        }
    }

    /// The CUDA line that it is built for; none without CUDA.
    pub fn line(&self) -> Option<Version> {
        variant::line_of(&self.variant)
    }

    /// Whether it installs on a line of Python: it has a wheel, seen or expected, and so has all that its extra pins.
    pub fn installs_on(&self, line: &Version) -> bool {
        (self.pythons.contains(line) || self.expected_pythons.contains(line)) && self.pins_install_on(line)
    }

    /// Whether all that its extra pins has wheels for a line of Python.
    pub fn pins_install_on(&self, line: &Version) -> bool {
        self.extra_pythons.is_empty() || self.extra_pythons.contains(line)
    }

    /// Whether it is installed from the index of torch for its variant: what lies beside it then comes from there, too.
    pub fn is_of_torch_index(&self) -> bool {
        self.index.contains(&Index::Pytorch) && self.url.is_none() && self.index_url.is_none()
    }

    /// Whether it stands in an image and can be installed from nowhere.
    pub fn is_in_image(&self) -> bool {
        self.systems.iter().any(|system| system.contains(':'))
    }

    /// Whether it was made for single systems, such as a JetPack: it lies on no index, so nobody has read the list of its files.
    pub fn is_of_one_system(&self) -> bool {
        !self.systems.is_empty() && !self.is_in_image()
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

    /// What its extension builder takes beside what that of the release does: NVIDIA's builds for its own systems take what
    /// they are compiled for.
    pub fn own_archs(&self) -> &[Arch] {
        if self.systems.is_empty() { &[] } else { &self.sass }
    }

    /// As the stack has it: with its variant behind a `+`, or as its owner or the image that holds it calls it.
    pub fn shown(&self) -> String {
        match &self.wheel {
            Some(own) if self.is_own() => own.to_string(),
            // The label behind it differs between NVIDIA's tables and what the image prints.
            Some(own) if self.is_in_image() => variant::public(own).to_string(),
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
        self.snapshot().is_some()
    }

    /// The version that such a build carries, and its label: `2.6.0a0` and `ecf3bae`.
    pub fn snapshot(&self) -> Option<(Version, &str)> {
        let (public, label) = variant::parts(self.wheel.as_deref()?);
        let version = Version::parse(public).ok().filter(|it| it.is_prerelease() && !self.is_laid())?;
        Some((version, label.unwrap_or_default()))
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
    /// `cu124`, `cpu`; on Linux the label or directory that tells it apart, `cu121_full`, `cpu.cxx11.abi`, or the variant
    /// where no build of it was read for any release, or none of its release.
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
