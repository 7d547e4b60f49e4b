//! L2, the specification: gpuenv.toml read into values that remember where they were written.
//!
//! Parsing knows no catalog: whether a GPU, an OS or a package exists is asked afterwards.

mod bytes;
mod edit;
mod error;
mod field;
mod image;
mod keys;
mod named;
mod normalise;
mod observed;
pub mod other_names;
mod own;
mod parse;
mod repair;
mod rewrite;
mod slot;
pub mod suggest;
mod syntax;
mod targets;
mod together;
mod value;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub use bytes::decode;
pub use edit::is_of_nvidia;
pub use error::SpecError;
pub use image::{not_an_image, read_image};
pub use keys::{KeyDoc, TableDoc, tables};
pub use named::Targets;
pub use observed::{Observed, ObservedGpu};
pub use own::WheelName;
pub use parse::{parse, parse_part};
pub use repair::{constraint as meant, specifier as meant_specifier};
pub use rewrite::{RewriteError, is_incomplete, rewrite};
pub use slot::Shape;
pub use targets::{add_target, remove_target};
pub use value::list_text;

use crate::types::{ArchList, Constraint, CpuArch, Specifier, Version};

/// A value and the place in gpuenv.toml it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written<T> {
    /// The value.
    pub value: T,
    /// The value's text for messages and fixes: strings without quotes, lists as `["a", "b"]`.
    pub text: String,
    /// The bytes of the value in the file.
    pub span: Range<usize>,
}

/// A whole gpuenv.toml.
#[derive(Debug, Clone, Default)]
pub struct Spec {
    /// `requires-gpuenv`
    pub requires_gpuenv: Option<Written<semver::VersionReq>>,
    /// `[stack]`, in file order: package name and constraint.
    pub stack: Vec<(String, Written<Constraint>)>,
    /// Builds of one's own: for each an entry of `stack` that asks for its version.
    pub own: Vec<OwnBuild>,
    /// `[packages]`, in file order: what nothing is solved with, by name.
    pub packages: Vec<(String, Written<Specifier>)>,
    /// `[build]`
    pub build: Option<Build>,
    /// `[target.*]`, in file order.
    pub targets: Targets,
    /// `[resolve]`
    pub resolve: Resolve,
    /// `[catalog] version`: the catalogs that may answer.
    pub catalog_version: Option<Written<Constraint>>,
    /// `[catalog] overlays`
    pub overlays: Vec<Written<String>>,
    /// `[[override]]`
    pub overrides: Vec<Override>,
    /// `[[silence]]`
    pub silences: Vec<Silence>,
    /// `[export]`, in file order. It bears on no answer, so no lock holds it.
    pub exports: Vec<Export>,
}

/// A build of one's own of a package of `[stack]`. It holds what is said of it.
#[derive(Debug, Clone, Default)]
pub struct OwnBuild {
    /// The package.
    pub package: String,
    /// `version`, as the wheel calls itself, with its label if it has one.
    pub version: Option<Written<String>>,
    /// `cuda`
    pub cuda: Option<Written<OwnCuda>>,
    /// `cudnn`
    pub cudnn: Option<Written<Version>>,
    /// `arch-list`: the GPU code inside; absent = unknown.
    pub arch_list: Option<Written<ArchList>>,
    /// `python`: the line it was built for.
    pub python: Option<Written<Version>>,
    /// `url`: the address of its wheel.
    pub url: Option<Written<String>>,
    /// `index`: the address of the wheel index it lies on.
    pub index: Option<Written<String>>,
}

/// The CUDA of a build of one's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnCuda {
    /// `"none"`: it computes on the CPU.
    None,
    /// `"12.6"`
    Line(Version),
}

/// `[build]`: CUDA code is compiled on top of the stack.
#[derive(Debug, Clone)]
pub struct Build {
    /// `cuda-extensions`, default true. False: as if there were no `[build]`.
    pub cuda_extensions: bool,
    /// `ptx`: also embed PTX of the highest architecture.
    pub ptx: bool,
    /// `arch-list`
    pub arch_list: Option<Written<ArchList>>,
}

impl Default for Build {
    /// An empty `[build]`.
    fn default() -> Self {
        Build { cuda_extensions: true, ptx: false, arch_list: None }
    }
}

/// `[target.NAME]`: one kind of machine.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Where the table's header is.
    pub span: Range<usize>,
    /// `gpu`: the names as written; a list even where one string was written.
    pub gpu: Option<Written<Vec<String>>>,
    /// `driver`
    pub driver: Option<Written<Constraint>>,
    /// `driver-cuda`
    pub driver_cuda: Option<Written<Version>>,
    /// `runtime`; absent = container if `image` is given, else bare metal.
    pub runtime: Option<Runtime>,
    /// `os`
    pub os: Option<Written<String>>,
    /// `arch`
    pub arch: Option<Written<CpuArch>>,
    /// `image`
    pub image: Option<Written<ImageRef>>,
    /// `forward-compat`
    pub forward_compat: ForwardCompat,
    /// `driver-policy`
    pub driver_policy: DriverPolicy,
    /// `glibc`
    pub glibc: Option<Written<Version>>,
    /// `gcc`
    pub gcc: Option<Written<Version>>,
    /// `clang`
    pub clang: Option<Written<Version>>,
    /// `toolkit`: releases or lines installed there; a list even where one string was written.
    pub toolkit: Option<Written<Vec<Version>>>,
    /// `cudnn`: the one installed there.
    pub cudnn: Option<Written<Version>>,
    /// `compat`: the CUDA line of the cuda-compat package that is installed there.
    pub compat: Option<Written<Version>>,
    /// `kernel-module`
    pub kernel_module: Option<Written<KernelModule>>,
    /// `platform`
    pub platform: Option<Written<Platform>>,
    /// `image-requires`: the text of the image's NVIDIA_REQUIRE_CUDA.
    pub image_requires: Option<Written<String>>,
}

impl Target {
    /// Where the stack runs: as written, else a container if an image is given.
    pub fn runtime(&self) -> Runtime {
        self.runtime.unwrap_or(if self.image.is_some() { Runtime::Container } else { Runtime::BareMetal })
    }

    /// Whether it is Linux inside Windows, whose driver it then uses.
    pub fn is_wsl2(&self) -> bool {
        self.platform.as_ref().is_some_and(|written| written.value == Platform::Wsl2)
    }
}

/// `runtime`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// `"container"`
    Container,
    /// `"bare-metal"`
    BareMetal,
}

/// `kernel-module`: the flavour of NVIDIA's kernel modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KernelModule {
    /// `"open"`
    Open,
    /// `"proprietary"`
    Proprietary,
}

impl KernelModule {
    /// Its spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            KernelModule::Open => "open",
            KernelModule::Proprietary => "proprietary",
        }
    }
}

/// `platform`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Platform {
    /// `"linux"`
    Linux,
    /// `"wsl2"`: Linux inside Windows.
    Wsl2,
}

/// `forward-compat`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForwardCompat {
    /// `"auto"`: where the whole spec has no answer without it.
    #[default]
    Auto,
    /// `"never"`
    Never,
}

/// `driver-policy`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DriverPolicy {
    /// `"any"`: a branch for production, else whichever fits.
    #[default]
    Any,
    /// `"production"`: production and long-term support branches.
    Production,
    /// `"long-term"`: long-term support branches.
    LongTerm,
}

/// An image as written: a repository, or a full reference with tag or digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageRef {
    /// What is written before the repository and says no more than Docker Hub: `docker.io/`, `library/`; mostly nothing.
    pub hub: String,
    /// `nvidia/cuda`, `nvcr.io/nvidia/pytorch`, without `hub`.
    pub repository: String,
    /// `12.4.1-base-ubuntu22.04`
    pub tag: Option<String>,
    /// `sha256:…`
    pub digest: Option<String>,
}

/// `[resolve]`
#[derive(Debug, Clone, Default)]
pub struct Resolve {
    /// `share`
    pub share: Share,
    /// `prefer`
    pub prefer: Prefer,
    /// `allow-experimental`
    pub allow_experimental: bool,
}

/// `share`: what the targets have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Share {
    /// One wheel set for all targets.
    #[default]
    Stack,
    /// The same versions; the variant and what follows from it may differ.
    Versions,
    /// Each target by itself.
    None,
}

/// `prefer`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prefer {
    /// The newest of everything.
    #[default]
    Newest,
    /// The lowest highest driver minimum first.
    OldestDriver,
}

/// `[[override]]`: the user knows better.
#[derive(Debug, Clone)]
pub struct Override {
    /// The rule's id.
    pub rule: Written<String>,
    /// Only for this target.
    pub target: Option<Written<String>>,
    /// Why.
    pub reason: Written<String>,
}

/// An entry of `[[override]]` or `[[silence]]` as it is read.
#[derive(Debug, Default)]
struct Exception {
    /// The rule or the warning.
    about: Option<Written<String>>,
    target: Option<Written<String>>,
    reason: Option<Written<String>>,
}

/// An entry of `[export]`: a file that `gpuenv export` writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Export {
    /// The format, as written; whether there is one of that name is asked later.
    pub format: String,
    /// Where the entry is.
    pub span: Range<usize>,
    /// `file`, beside gpuenv.toml; `{target}` may stand in it.
    pub file: Option<Written<String>>,
    /// `target`
    pub target: Option<Written<String>>,
    /// Options of the format; a switch that is on has an empty value.
    pub options: Vec<(String, String)>,
}

/// `[[silence]]`: a warning that the user knows about. It bears on no answer, so no lock holds it.
#[derive(Debug, Clone)]
pub struct Silence {
    /// The warning's code.
    pub warning: Written<String>,
    /// Only for this target.
    pub target: Option<Written<String>>,
    /// Why.
    pub reason: Written<String>,
}
