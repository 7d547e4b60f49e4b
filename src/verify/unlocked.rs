//! What is asked of a host without a lock: what one image needs, and what keeps every lock from passing there.

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::host::{Record, signs};
use crate::lock::{self, CatalogStamp, DriverLock, Lock, TargetLock};
use crate::types::CpuArch;

use super::check::{Check, Status, Verdict};
use super::context::CheckContext;
use super::rests::Against;
use super::{container, probes, seen, torch};

/// The checks that ask about the host alone, whatever is locked.
const OF_HOST: &[&str] = &[
    "platform-system",
    "driver-present",
    "driver-match",
    "driver-flavour",
    "device-nodes",
    "nvml",
    "libcuda",
    "gpu-present",
    "gpu-hidden",
    "gpu-usable",
    "gpu-health",
    "gpu-compute-mode",
    "gpu-mig",
    "gpu-fabric",
    "gpu-confidential",
    "gpu-virtual",
    "environment-visible-devices",
    "probe",
];

/// Judges what one image asks of a host, and nothing else.
pub fn judge_image(reference: &str, record: &Record, catalog: &Catalog) -> Verdict {
    let target = TargetLock { runtime: "container".into(), image: Some(reference.into()), ..nothing(record) };
    let of_image = |context: &CheckContext<'_>| {
        let mut checks = container::of_image(context, reference, true);
        checks.extend(probes::judge(context));
        Verdict::of(reference, checks)
    };
    with(reference, &target, record, catalog, of_image)
}

/// What keeps any lock for GPUs from passing on a host, so that `gpuenv fleet plan` gives it none.
pub fn unfit(record: &Record, platform: Option<&str>, catalog: &Catalog) -> Option<Check> {
    if signs::is_bare(record) {
        return None;
    }
    let target = TargetLock { platform: platform.map(str::to_string), ..nothing(record) };
    let of_host = |context: &CheckContext<'_>| {
        let checks = super::TOPICS.iter().flat_map(|(_, judge)| judge(context));
        let of_torch = record.python.as_ref().and_then(|python| python.torch.as_ref());
        let of_torch = of_torch.and_then(|torch| torch::available(context, torch));
        let mut all = checks.filter(|check| OF_HOST.contains(&check.id)).chain(of_torch);
        all.find(|check| matches!(check.status, Status::Fail | Status::Unknown))
    };
    with("host", &target, record, catalog, of_host)
}

/// A target that asks for a GPU and its driver, whichever they are.
fn nothing(record: &Record) -> TargetLock {
    let driver = DriverLock {
        minimum: Some("0".into()),
        others: Vec::new(),
        except: Vec::new(),
        mode: "native".into(),
        cuda: "unknown".into(),
        compat: None,
        recommended: None,
    };
    TargetLock {
        runtime: "bare-metal".into(),
        arch: record.platform.arch.clone().unwrap_or_else(|| CpuArch::X86_64.to_string()),
        platform: None,
        os: None,
        image: None,
        runtime_image: None,
        toolkit: None,
        driver: Some(driver),
        requires: Vec::new(),
        asks: Vec::new(),
        stack: None,
        arch_list: None,
        gpu: Vec::new(),
    }
}

/// Judges a host before a target of an empty lock.
fn with<T>(
    name: &str,
    target: &TargetLock,
    record: &Record,
    catalog: &Catalog,
    judge: impl FnOnce(&CheckContext<'_>) -> T,
) -> T {
    let lock = Lock {
        spec: None,
        version: lock::FORMAT,
        catalog: CatalogStamp::of(catalog),
        inputs: BTreeMap::new(),
        stack: BTreeMap::new(),
        arch_list: None,
        target: BTreeMap::new(),
        wheel: Vec::new(),
        constraint: Vec::new(),
        overrides: Vec::new(),
        fact: Vec::new(),
    };
    let gpus = seen::Gpus::of(target, record, catalog);
    let against = &Against::new(&lock, catalog);
    judge(&CheckContext { lock: &lock, name, target, record, catalog, against, gpus: &gpus })
}
