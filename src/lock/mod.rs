//! L3, the lock: one answer with everything that forced it, self-contained for `export` and `verify`.
//!
//! Plain data. Reading, writing and staleness live in the files beside this one.

mod check;
mod constraints;
mod diff;
mod drivers;
mod error;
mod grounds;
mod locked;
mod make;
mod read;
mod renew;
mod sources;
mod stale;
mod text;

pub use crate::catalog::rows::{BESIDE_TORCH, FRAMEWORKS};
pub use diff::{Difference, diff};
pub use drivers::Admitted;
pub use error::LockError;
pub use locked::{Upgrade, locked};
pub use make::make;
pub use read::{MAX_BYTES, is_readable, parse, readable_percent};
pub use renew::{Renewed, keeping, renew};
pub use stale::{again, is_newer, is_same, staleness};
pub use text::{head, is_remnant, to_text};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;

/// The format this program writes.
pub const FORMAT: u32 = 2;
/// The oldest format it reads: what format 2 added may be missing.
pub const OLDEST_FORMAT: u32 = 1;

/// A whole gpuenv.lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Lock {
    /// The format.
    pub version: u32,
    /// The spec it was made from, relative to the lock; none: the one that lies beside it under its name, as
    /// gpuenv.toml beside gpuenv.lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// The catalog it was solved with.
    pub catalog: CatalogStamp,
    /// The normalised inputs: key path to canonical text.
    pub inputs: BTreeMap<String, String>,
    /// What all targets have in common.
    pub stack: Stack,
    /// The architecture list all targets have in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arch_list: Option<ArchLists>,
    /// The targets.
    pub target: BTreeMap<String, TargetLock>,
    /// The wheels to install, for every stack and platform in this lock.
    #[serde(default)]
    pub wheel: Vec<Wheel>,
    /// The versions of packages that nobody asked for, where something else brings them in.
    #[serde(default)]
    pub constraint: Vec<ConstraintLock>,
    /// Rules set aside by the user.
    #[serde(default, rename = "override")]
    pub overrides: Vec<OverrideLock>,
    /// The facts the choices rest on.
    #[serde(default)]
    pub fact: Vec<FactLock>,
}

/// Which catalog, and what was laid over it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogStamp {
    /// Its version, a date: `2026.11.20`.
    pub version: String,
    /// The digest of its content.
    pub digest: String,
    /// Overlay files with their digests, `site-catalog.toml sha256:…`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<String>,
}

/// Package to version as users write it: `torch` = `2.5.1+cu124`, `cuda` = `12.4.1`, `python` = `3.11`.
pub type Stack = BTreeMap<String, String>;

/// One architecture list in the spellings the builders want.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ArchLists {
    /// `8.0;9.0+PTX`
    pub torch: String,
    /// `80-real;90`
    pub cmake: String,
}

/// One target's part of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TargetLock {
    /// `container` or `bare-metal`.
    pub runtime: String,
    /// `x86_64` or `aarch64`.
    pub arch: String,
    /// `wsl2` for Linux inside Windows, whose driver it uses: then `driver` holds numbers of Windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The OS of the machine, or of the image in a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
    /// The image to run in, a full reference; with `[build]` the one to compile in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// With `[build]`, the smaller image to run in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_image: Option<String>,
    /// With `[build]`, the CUDA toolkit release to compile with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolkit: Option<String>,
    /// The driver; none for a CPU target, and where a rule about drivers is set aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DriverLock>,
    /// What the machine needs beside the driver: `nvidia-fabricmanager`, `nvidia-container-toolkit>=1.17.7`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// What is locked and not installed, for it is there, needs of packages that its metadata does not name: `transformers<5.1`
    /// beside the torch of an image.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
    /// The stack where it differs from the common one: complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<Stack>,
    /// The architecture list where it differs from the common one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arch_list: Option<ArchLists>,
    /// The GPU products, each of which runs it alone. Empty: CPU only, or nothing was said.
    #[serde(default)]
    pub gpu: Vec<GpuLock>,
}

/// One GPU product of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GpuLock {
    /// NVML's name, `NVIDIA A100-PCIE-40GB`, or `sm_90`.
    pub name: String,
    /// `8.0`
    pub compute_capability: String,
    /// `native` or `jit`; none where nothing of the stack holds GPU code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<String>,
}

/// What a target's driver must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverLock {
    /// The oldest release that suffices; none where the driver comes with the system and is numbered by itself: a Jetson's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<String>,
    /// With cuda-compat, of each other branch that is listed the oldest release that suffices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// The branches after the minimum's on which the image is not started: it names older ones one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
    /// `native`, `minor-version` or `forward-compat`.
    pub mode: String,
    /// The CUDA version of the driver the mode was judged at.
    pub cuda: String,
    /// The cuda-compat package, with mode `forward-compat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compat: Option<String>,
    /// The driver to install where another may be installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended: Option<RecommendedLock>,
}

/// A driver to install: the newest release of a branch in support, or of another where the range that is written admits none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RecommendedLock {
    /// The release.
    pub release: String,
    /// Its branch.
    pub branch: String,
    /// The month or day on which support of the branch ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// `open` or `proprietary`, where one flavour of kernel modules alone drives the GPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modules: Option<String>,
}

/// A wheel to install.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    /// `torch`
    pub package: String,
    /// The version a requirement must name on this index: `2.5.1+cu124`, or `2.5.1` where it carries no label.
    pub version: String,
    /// The platform, `x86_64`.
    pub arch: String,
    /// The wheel index, `https://download.pytorch.org/whl/cu124`; none = the Python package index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// The address of the wheel itself, where it lies on no index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The extra that brings its CUDA part: `cuda13` for `jax[cuda13]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<String>,
    /// It loads CUDA and cuDNN of the system and brings none.
    #[serde(default, rename = "system-cuda", skip_serializing_if = "std::ops::Not::not")]
    pub system_cuda: bool,
    /// It, or the part of it that the extra brings, comes as source only and is compiled where it is installed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sdist: bool,
    /// What is compiled beside an installed framework, without the isolation that installers build in, because its
    /// documentation asks for that, or its build imports the framework: `flash-attn`, `transformer-engine-torch` for
    /// `transformer-engine[pytorch]`, with `==1.9.0` behind it where that is of another release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unisolated: Option<String>,
    /// What that build imports or asks for, the framework and CUDA aside; empty where nobody told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// What the built package requires, which installers learn otherwise by running that build; none where nobody told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires: Option<Vec<String>>,
    /// What has that build compile: `FORCE_CUDA=1`, or in place of a finished wheel `FLASH_ATTENTION_FORCE_BUILD=TRUE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// The variable that tells it for which GPUs to compile, with all it takes: `FLASH_ATTN_CUDA_ARCHS=80;90;100;120`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archs: Option<String>,
    /// The sha256 of the file, or of the files with a blank between; `unknown` where the catalog has none.
    #[serde(default = "unknown")]
    pub sha256: String,
    /// The libraries it asks for in exact versions, `nvidia-cublas-cu12==12.4.5.8`; empty where they are inside the
    /// wheel, or not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<String>,
    /// The first patch release of the locked Python that it can be installed with, `3.8.10`; none where any will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// What it needs of packages that its metadata does not name, `numpy<2`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
    /// The targets it is for, by name.
    pub targets: Vec<String>,
}

/// The version of a package that follows a framework and that nobody asked for: whatever brings it in must not bring
/// the build of another CUDA.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstraintLock {
    /// `torchvision`
    pub package: String,
    /// `0.22.1+cu118`, or `0.22.1` where its wheel carries no label, or nobody told.
    pub version: String,
    /// The platform, `x86_64`.
    pub arch: String,
    /// The wheel index, as for wheels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Something that is installed may bring it in; else only what comes later may.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub brought: bool,
    /// The targets it is for, by name.
    pub targets: Vec<String>,
}

fn unknown() -> String {
    Wheel::UNKNOWN.to_string()
}

impl Wheel {
    /// What is compiled beside an installed framework, and which release of it.
    pub fn compiled(&self) -> Option<(&str, &str)> {
        let unisolated = self.unisolated.as_deref()?;
        Some(unisolated.split_once("==").unwrap_or((unisolated, &self.version)))
    }

    /// What is written where the catalog has no sha256.
    pub const UNKNOWN: &str = "unknown";

    /// What installers are asked for: `torch==2.5.1+cu124`, or `torch@https://…` where it lies on no index. It holds no
    /// blank, so that it is one word of a command.
    pub fn requirement(&self) -> String {
        let extra = self.extra.as_ref().map_or(String::new(), |extra| format!("[{extra}]"));
        match &self.url {
            Some(url) => format!("{}{extra}@{url}", self.package),
            None => format!("{}{extra}=={}", self.package, self.version),
        }
    }

    /// The sha256 of each file that may be meant; none where the catalog has none.
    pub fn hashes(&self) -> Option<impl Iterator<Item = &str>> {
        (self.sha256 != Wheel::UNKNOWN).then(|| self.sha256.split(' '))
    }
}

/// An override that was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OverrideLock {
    /// The rule's id.
    pub rule: String,
    /// Only for this target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The overlay that retracted it, `site.toml:12`; none where gpuenv.toml overrides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay: Option<String>,
    /// Why.
    pub reason: String,
}

/// A fact the answer rests on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactLock {
    /// The row or rule.
    pub id: String,
    /// Its source, a URL or purl.
    pub source: String,
    /// The digest of its content: a corrected row makes the lock stale.
    pub digest: String,
    /// The choices that rest on it, `stack.torch`, `target.prod.driver`.
    pub supports: Vec<String>,
    /// `expected` where nobody has read some of it, but a practice of its publisher tells it; `unseen` of a package whose
    /// wheel nobody is known to have seen on the index that it is taken from; else nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<String>,
}

/// How well a fact is known, where it is not known.
pub struct Grade;

impl Grade {
    /// A practice of its publisher tells a part of it.
    pub const EXPECTED: &'static str = "expected";
    /// Nobody is known to have seen the wheel.
    pub const UNSEEN: &'static str = "unseen";
}

impl CatalogStamp {
    /// The stamp of a catalog and of what is laid over it.
    pub fn of(catalog: &Catalog) -> Self {
        let (version, digest) = (catalog.version.to_string(), catalog.digest.to_string());
        let overlays = catalog.overlays.iter().map(|overlay| format!("{} sha256:{}", overlay.name, overlay.digest));
        CatalogStamp { version, digest, overlays: overlays.collect() }
    }

    /// Whether an overlay of a lock says what one at hand says. Locks of older gpuenvs hold the sha256 of its file.
    pub fn is_of_any(overlay: &str, catalog: &Catalog) -> bool {
        catalog.overlays.iter().any(|now| {
            let Some(sha256) = overlay.strip_prefix(&*now.name).and_then(|rest| rest.strip_prefix(" sha256:")) else {
                return false;
            };
            now.digest == *sha256 || now.file == *sha256
        })
    }
}

impl Lock {
    /// What `[packages]` asks for, by name, as it is written.
    pub fn packages(&self) -> impl Iterator<Item = (&str, &str)> {
        self.inputs_of("packages.")
    }

    /// The builds of one's own among the inputs, by package.
    pub fn own_builds(&self) -> impl Iterator<Item = &str> {
        self.inputs_of("stack.").filter(|(_, text)| text.starts_with('{')).map(|(package, _)| package)
    }

    /// The inputs of a table, without its name: of a lock of many targets most are theirs.
    fn inputs_of(&self, table: &'static str) -> impl Iterator<Item = (&str, &str)> {
        let from = self.inputs.range(table.to_string()..);
        from.map_while(move |(key, text)| Some((key.strip_prefix(table)?, text.as_str())))
    }

    /// The stack a target runs: its own, else the common one.
    pub fn stack_of<'a>(&'a self, target: &'a TargetLock) -> &'a Stack {
        target.stack.as_ref().unwrap_or(&self.stack)
    }

    /// Whether a target computes on GPUs. Where rules about drivers are set aside it has no driver here all the same.
    pub fn uses_gpu(&self, name: &str, target: &TargetLock) -> bool {
        let unsaid = || !self.inputs.contains_key(&format!("target.{name}.gpu"));
        let is_of_cuda = || self.stack_of(target).contains_key("cuda");
        target.driver.is_some() || !target.gpu.is_empty() || unsaid() && is_of_cuda()
    }

    /// The architecture list of a target: its own, else the common one.
    pub fn arch_list_of<'a>(&'a self, target: &'a TargetLock) -> Option<&'a ArchLists> {
        target.arch_list.as_ref().or(self.arch_list.as_ref())
    }

    /// The constraints of a target, in the lock's order.
    pub fn constraints_of<'a>(&'a self, target: &'a str) -> impl Iterator<Item = &'a ConstraintLock> {
        self.constraint.iter().filter(move |one| holds(&one.targets, target))
    }

    /// The wheels of a target, in the lock's order.
    pub fn wheels_of<'a>(&'a self, target: &'a str) -> impl Iterator<Item = &'a Wheel> {
        self.wheel.iter().filter(move |wheel| holds(&wheel.targets, target))
    }
}

/// Whether a list of names in order has one.
fn holds(names: &[String], name: &str) -> bool {
    names.binary_search_by(|one| one.as_str().cmp(name)).is_ok()
}
