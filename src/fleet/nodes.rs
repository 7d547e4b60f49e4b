//! `kubectl get nodes -o json`: what GPU feature discovery and the kubelet tell of each node.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::host::labels::{Kubelet, Labels};
use crate::host::{Nvml, Origin, PciGpu, Platform, Probe, ProbeStatus, Record, System, record, signs};

use super::Host;

#[derive(Deserialize)]
struct List {
    /// None of what is no list.
    items: Option<Vec<Node>>,
    metadata: Option<Metadata>,
    #[serde(default)]
    spec: Spec,
    status: Option<Status>,
}

#[derive(Deserialize)]
struct Node {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
    status: Option<Status>,
}

#[derive(Default, Deserialize)]
struct Spec {
    #[serde(default)]
    unschedulable: bool,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Status {
    #[serde(rename = "nodeInfo")]
    info: Option<Info>,
    #[serde(default)]
    capacity: BTreeMap<String, serde_json::Value>,
    allocatable: Option<BTreeMap<String, serde_json::Value>>,
    #[serde(default)]
    conditions: Vec<Condition>,
}

#[derive(Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

#[derive(Deserialize)]
struct Info {
    architecture: Option<String>,
    #[serde(rename = "kernelVersion")]
    kernel: Option<String>,
    #[serde(rename = "operatingSystem")]
    system: Option<String>,
}

/// The hosts of a list of nodes, or of one node.
pub fn of_list(text: &str) -> Result<Vec<Host>, String> {
    let list: List = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let alone = list.metadata.filter(|metadata| !metadata.name.is_empty());
    let alone = alone.map(|metadata| Node { metadata, spec: list.spec, status: list.status });
    // A selector that matches nothing gives an empty list.
    if list.items.is_none() && alone.is_none() {
        return Err("this is a Kubernetes document without nodes".to_string());
    }
    Ok(list.items.into_iter().flatten().chain(alone).map(host).collect())
}

fn host(node: Node) -> Host {
    let labels: Labels = node.metadata.labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let kubelet = kubelet(node.spec.unschedulable, node.status.as_ref());
    if let Some(why) = of_windows(node.status.as_ref(), &labels).or_else(|| kubelet.silent()) {
        return Host { name: node.metadata.name, record: Err(why) };
    }
    let withheld = kubelet.withheld(&labels);
    let untold = labels.closed().or_else(|| kubelet.untold(&labels));
    let offers = kubelet.offers_gpu();
    let info = node.status.and_then(|status| status.info);
    let arch = info.as_ref().and_then(|info| info.architecture.clone());
    let arch = arch.or_else(|| labels.text("kubernetes.io/arch").map(str::to_string));
    let nvml = labels.nvml();
    let has_gpu = offers || has_gpu(&labels);
    let pci = if nvml.gpus.is_empty() && has_gpu {
        let address = "unknown".to_string();
        vec![PciGpu { address, device: None, driver: None }]
    } else {
        Vec::new()
    };
    let done = |name: &str| Probe { name: name.to_string(), ended: ProbeStatus::Done, detail: None, millis: None };
    let mut probes: Vec<Probe> =
        ["Kubernetes"].into_iter().chain(show_bus(&labels).then_some(signs::BUS)).map(done).collect();
    for (who, why) in [("device plugin", withheld), ("GPU feature discovery", untold)] {
        let failed = |why| Probe { ended: ProbeStatus::Failed, detail: Some(why), ..done(who) };
        probes.extend(why.map(failed));
    }
    let record = Record {
        format: record::FORMAT,
        origin: Origin::Pasted,
        probes,
        platform: Platform {
            system: Some(System::Linux),
            arch: arch.map(|arch| processor(&arch).to_string()),
            kernel: info.and_then(|info| info.kernel),
            os: system(&labels),
            ..Platform::default()
        },
        pci,
        nvml: (nvml != Nvml::default()).then_some(nvml),
        ..Record::default()
    };
    Host { name: node.metadata.name, record: Ok(record) }
}

/// Why nothing can be said of a node.
fn of_windows(status: Option<&Status>, labels: &Labels<'_>) -> Option<String> {
    let system = status.and_then(|status| status.info.as_ref()?.system.clone());
    let system = system.or_else(|| labels.text("kubernetes.io/os").map(str::to_string));
    let is_other = system.is_some_and(|system| system != "linux");
    is_other.then(|| "the node does not run Linux, for which the lock's wheels and images are".to_string())
}

fn kubelet(is_cordoned: bool, status: Option<&Status>) -> Kubelet {
    let Some(status) = status else { return Kubelet { is_cordoned, ..Kubelet::default() } };
    let ready = status.conditions.iter().find(|condition| condition.kind == "Ready");
    let amounts = |all: &BTreeMap<String, serde_json::Value>| {
        all.iter().map(|(name, value)| (name.clone(), amount(value))).collect()
    };
    Kubelet {
        ready: ready.map(|condition| condition.status.clone()),
        is_cordoned,
        capacity: amounts(&status.capacity),
        allocatable: status.allocatable.as_ref().map(amounts),
    }
}

/// An amount of a resource, which Kubernetes writes as a text.
fn amount(value: &serde_json::Value) -> u64 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_default()
}

fn processor(arch: &str) -> &str {
    match arch {
        "amd64" => "x86_64",
        "arm64" => "aarch64",
        other => other,
    }
}

/// Whether node feature discovery has seen an NVIDIA GPU on the bus.
fn has_gpu(labels: &Labels<'_>) -> bool {
    let of_nvidia = |name: &str| {
        let on_the_bus = name.contains("feature.node.kubernetes.io/pci-") && name.contains("10de.present");
        on_the_bus || name == "nvidia.com/gpu.present"
    };
    labels.all().any(|(name, value)| value == "true" && of_nvidia(name))
}

/// Whether node feature discovery ran there: it labels every display controller on the bus.
fn show_bus(labels: &Labels<'_>) -> bool {
    labels.all().any(|(name, _)| name.starts_with("feature.node.kubernetes.io/"))
}

/// `ubuntu22.04`
fn system(labels: &Labels<'_>) -> Option<String> {
    let part = |name: &str| labels.text(&format!("feature.node.kubernetes.io/system-os_release.{name}"));
    Some(format!("{}{}", part("ID")?, part("VERSION_ID")?))
}
