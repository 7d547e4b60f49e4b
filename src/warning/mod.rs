//! What an answer should not be taken without knowing. A kind of warning is a type: it holds what it speaks of, says it in
//! one sentence, and has a stable code and the text of `gpuenv explain CODE` beside it. When one is given is decided where
//! the answer is known; here stands what is said. A new kind is such a type and its line in [`ALL`].

mod build;
mod companion;
mod driver;
mod excluded;
mod gpu;
mod host;
mod image;
mod lock;
mod system_libraries;
mod together;
mod wheel;

use serde::Serialize;

pub use build::*;
pub use companion::*;
pub use driver::*;
pub use excluded::*;
pub use gpu::*;
pub use host::*;
pub use image::*;
pub use lock::*;
pub use system_libraries::*;
pub use together::*;
pub use wheel::*;

/// A sentence of the catalog behind a colon.
fn inside(says: &str) -> String {
    let says = says.trim_end_matches('.');
    match says.split(' ').next() {
        Some(word @ ("It" | "Its" | "The" | "They" | "Of")) => word.to_lowercase() + &says[word.len()..],
        _ => says.to_string(),
    }
}

/// A kind of warning.
pub trait Kind {
    /// Its stable name, as it stands between brackets.
    const CODE: &'static str;
    /// What it means and what can be done about it, for a reader who has just met it.
    const EXPLAINED: &'static str;
    /// Whether what is locked fails as it is when it is imported or computes: advice that leads there has to say so.
    const FAILS: bool = false;
    /// What it says of the case at hand.
    fn message(&self) -> String;
}

/// What somebody should know of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Warning {
    /// Its stable name.
    pub code: &'static str,
    /// What it says.
    pub message: String,
    /// The keys of gpuenv.toml that it is about.
    pub keys: Vec<String>,
}

impl Warning {
    /// A warning about some keys.
    pub fn about<K: Kind>(kind: &K, keys: &[String]) -> Self {
        Warning { code: K::CODE, message: kind.message(), keys: keys.to_vec() }
    }
}

/// A kind of warning, as it is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// Its stable name.
    pub code: &'static str,
    /// What it means and what can be done about it.
    pub explained: &'static str,
    /// Whether what is locked fails as it is.
    pub fails: bool,
}

const fn listed<K: Kind>() -> Listed {
    Listed { code: K::CODE, explained: K::EXPLAINED, fails: K::FAILS }
}

/// The kind of warning with this code.
pub fn find(code: &str) -> Option<&'static Listed> {
    ALL.iter().find(|one| one.code == code)
}

/// Every kind of warning, in the order of the alphabet: `gpuenv explain CODE` has an answer for each, and a `[[silence]]`
/// may name it.
pub const ALL: &[Listed] = &[
    listed::<BringsOtherCuda>(),
    listed::<CatalogOld>(),
    listed::<CatalogUnusable>(),
    listed::<CompatInstalled>(),
    listed::<CudaGpu>(),
    listed::<CudaOnCpu>(),
    listed::<CudnnGpu>(),
    listed::<CudnnInstalled>(),
    listed::<CudnnMissing>(),
    listed::<DriverDropsGpu>(),
    listed::<DriverEndOfLife>(),
    listed::<DriverKernel>(),
    listed::<DriverMinimum>(),
    listed::<DriverNotListed>(),
    listed::<DriverPolicyUnmet>(),
    listed::<Expected>(),
    listed::<ExperimentalVariant>(),
    listed::<ForwardCompat>(),
    listed::<GpuNotChecked>(),
    listed::<GpuNotListed>(),
    listed::<ImageArchUnknown>(),
    listed::<ImageCompat>(),
    listed::<ImageNotChecked>(),
    listed::<ImagePython>(),
    listed::<ImageRequireUnknown>(),
    listed::<ImageRequires>(),
    listed::<ImageTorch>(),
    listed::<ImageWithdrawn>(),
    listed::<JetsonDriver>(),
    listed::<JitLimited>(),
    listed::<JitOnly>(),
    listed::<KernelModule>(),
    listed::<KernelsSkipped>(),
    listed::<LeftToImage>(),
    listed::<LibraryMissing>(),
    listed::<LockNewerCatalog>(),
    listed::<LockOutdated>(),
    listed::<MinorRefused>(),
    listed::<NcclGpu>(),
    listed::<NewerThanCatalog>(),
    listed::<Nightly>(),
    listed::<OperatorsMissing>(),
    listed::<OperatorsOnCpu>(),
    listed::<OsEndOfLife>(),
    listed::<OsNotListed>(),
    listed::<OsPartsUnknown>(),
    listed::<OwnBuildAbi>(),
    listed::<OwnBuildPython>(),
    listed::<PackageBrings>(),
    listed::<PackageCuda>(),
    listed::<PackageExcluded>(),
    listed::<PackageFramework>(),
    listed::<PackageNotChecked>(),
    listed::<PartFails>(),
    listed::<PartLacks>(),
    listed::<PathPtxas>(),
    listed::<PythonPatch>(),
    listed::<SameModule>(),
    listed::<SnapshotBuild>(),
    listed::<SourceCompiler>(),
    listed::<SourceOnly>(),
    listed::<SystemCuda>(),
    listed::<SystemUnsaid>(),
    listed::<ToolkitGlibc>(),
    listed::<ToolkitMinor>(),
    listed::<TritonDriver>(),
    listed::<TritonGpu>(),
    listed::<TritonPlatform>(),
    listed::<TritonPython>(),
    listed::<TwoCudas>(),
    listed::<TwoCudnns>(),
    listed::<TwoRuntimes>(),
    listed::<TwoTorches>(),
    listed::<UnknownGpuCode>(),
    listed::<UnknownLibrary>(),
    listed::<UnseenWheel>(),
    listed::<UnusedKey>(),
    listed::<UnusedOverride>(),
    listed::<UnusedSilence>(),
    listed::<Vgpu>(),
    listed::<Wsl2>(),
    listed::<Yanked>(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_sorted_and_explained() {
        assert!(ALL.windows(2).all(|pair| pair[0].code < pair[1].code));
        assert!(ALL.iter().all(|one| one.explained.len() > 80 && one.explained.ends_with('.')));
    }
}
