//! `json`: the lock for programs, in the shape that `gpuenv lock --format json` prints.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::lock::{ArchLists, DriverLock, Lock, OverrideLock, RecommendedLock, Stack, TargetLock, Wheel};
use crate::types::map_of;

use super::ExportError;
use super::format::{Format, Options, Render, Targets};

/// `gpuenv export json`
pub const FORMAT: Format = Format {
    name: "json",
    help: "The lock as JSON, in the shape of `gpuenv lock --format json`",
    file: "stack.json",
    options: &[],
    next: |_, file, _| format!("jq .targets {file}"),
    merge: None,
    installs: None,
    render: Render::Whole(render),
};

/// The number of the documents' shape.
pub const SHAPE: u32 = 1;

/// What a solved lock looks like to programs. Absent things are `null` where the shape promises a key.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Document<'a> {
    #[cfg_attr(test, schemars(extend("const" = "ok")))]
    status: &'static str,
    /// The number of this shape: it grows when a field goes or changes its meaning.
    format: u32,
    stack: &'a Stack,
    arch_list: Option<&'a ArchLists>,
    targets: BTreeMap<&'a str, Target<'a>>,
    wheels: Vec<&'a Wheel>,
    /// What `[packages]` asks for, by name, as it is written.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    packages: BTreeMap<&'a str, &'a str>,
    overrides: &'a [OverrideLock],
    #[cfg_attr(test, schemars(skip))]
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Target<'a> {
    #[cfg_attr(test, schemars(extend("enum" = ["container", "bare-metal"])))]
    runtime: &'a str,
    #[cfg_attr(test, schemars(extend("enum" = ["x86_64", "aarch64"])))]
    arch: &'a str,
    /// `wsl2` for Linux inside Windows: then the driver's numbers are those of Windows.
    #[serde(skip_serializing_if = "Option::is_none")]
    platform: Option<&'a str>,
    os: Option<&'a str>,
    gpus: Vec<Gpu<'a>>,
    driver: Option<Driver<'a>>,
    image: Option<&'a str>,
    runtime_image: Option<&'a str>,
    toolkit: Option<&'a str>,
    /// What the machine needs beside the driver, `nvidia-fabricmanager`.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    requires: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<&'a Stack>,
    /// There where `stack` is; null where nothing has GPU code.
    #[serde(skip_serializing_if = "Option::is_none")]
    arch_list: Option<Option<&'a ArchLists>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Gpu<'a> {
    name: &'a str,
    compute_capability: &'a str,
    #[cfg_attr(test, schemars(extend("enum" = ["native", "jit", null])))]
    coverage: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Driver<'a> {
    /// None where the driver comes with the system.
    minimum: Option<&'a str>,
    /// The branches after the minimum's on which the image is not started.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    except: &'a [String],
    #[cfg_attr(test, schemars(extend("enum" = crate::types::DriverMode::WORDS)))]
    mode: &'a str,
    cuda: &'a str,
    compat: Option<&'a str>,
    /// The driver to install where another may be installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    recommended: Option<&'a RecommendedLock>,
}

impl<'a> Document<'a> {
    /// The whole lock.
    pub fn new(lock: &'a Lock) -> Document<'a> {
        let targets: Vec<_> = lock.target.iter().map(|(name, target)| (name.as_str(), target)).collect();
        Document::of(lock, &targets)
    }

    /// Some of its targets. What one target has is what "all" have in common.
    fn of(lock: &'a Lock, targets: &Targets<'a>) -> Document<'a> {
        let (stack, arch_list) = match targets {
            [(_, only)] => (lock.stack_of(only), lock.arch_list_of(only)),
            _ => (&lock.stack, lock.arch_list.as_ref()),
        };
        let has = |name: &str| targets.binary_search_by(|(one, _)| one.cmp(&name)).is_ok();
        let is_chosen = |wheel: &&Wheel| wheel.targets.iter().any(|name| has(name));
        Document {
            status: "ok",
            format: SHAPE,
            stack,
            arch_list,
            targets: map_of(targets.iter().map(|(name, target)| (*name, Target::new(lock, target)))),
            wheels: lock.wheel.iter().filter(is_chosen).collect(),
            packages: map_of(lock.packages()),
            overrides: &lock.overrides,
            written: None,
        }
    }
}

impl<'a> Target<'a> {
    fn new(lock: &'a Lock, target: &'a TargetLock) -> Target<'a> {
        Target {
            runtime: &target.runtime,
            arch: &target.arch,
            platform: target.platform.as_deref(),
            os: target.os.as_deref(),
            gpus: target.gpu.iter().map(Gpu::new).collect(),
            driver: target.driver.as_ref().map(Driver::new),
            image: target.image.as_deref(),
            runtime_image: target.runtime_image.as_deref(),
            toolkit: target.toolkit.as_deref(),
            requires: &target.requires,
            stack: target.stack.as_ref(),
            arch_list: target.stack.as_ref().map(|_| lock.arch_list_of(target)),
        }
    }
}

impl<'a> Gpu<'a> {
    fn new(gpu: &'a crate::lock::GpuLock) -> Gpu<'a> {
        Gpu { name: &gpu.name, compute_capability: &gpu.compute_capability, coverage: gpu.coverage.as_deref() }
    }
}

impl<'a> Driver<'a> {
    fn new(driver: &'a DriverLock) -> Driver<'a> {
        Driver {
            minimum: driver.minimum.as_deref(),
            except: &driver.except,
            mode: &driver.mode,
            cuda: &driver.cuda,
            compat: driver.compat.as_deref(),
            recommended: driver.recommended.as_ref(),
        }
    }
}

fn render(lock: &Lock, targets: &Targets, _: &Options) -> Result<String, ExportError> {
    // Only a map with keys that are not strings can fail here, and there is none.
    let document = Document { written: Some("by `gpuenv export json`"), ..Document::of(lock, targets) };
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    Ok(text + "\n")
}
