//! `kubectl get nodes -o json`: what GPU feature discovery and the kubelet tell of each node.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::host::paste::product_of_label;
use crate::host::{Gpu, Mig, Nvml, Origin, PciGpu, Platform, Probe, ProbeStatus, Record, System, record, signs};
use crate::types::{Cc, Version};

use super::Host;

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    items: Vec<Node>,
    metadata: Option<Metadata>,
    status: Option<Status>,
}

#[derive(Deserialize)]
struct Node {
    metadata: Metadata,
    status: Option<Status>,
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
    /// What the kubelet has for pods, `nvidia.com/gpu` where NVIDIA's device plugin runs.
    #[serde(default)]
    capacity: BTreeMap<String, serde_json::Value>,
    /// What of it may be given to them: less where the plugin calls GPUs unhealthy.
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

/// More GPUs than in any machine.
const MOST: u64 = 1_024;

/// The hosts of a list of nodes, or of one node.
pub fn of_list(text: &str) -> Result<Vec<Host>, String> {
    let list: List = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let alone = list.metadata.filter(|metadata| !metadata.name.is_empty());
    let alone = alone.map(|metadata| Node { metadata, status: list.status });
    let nodes: Vec<Node> = list.items.into_iter().chain(alone).collect();
    match nodes.is_empty() {
        true => Err("this is a Kubernetes document without nodes".to_string()),
        false => Ok(nodes.into_iter().map(host).collect()),
    }
}

fn host(node: Node) -> Host {
    let labels = Labels(&node.metadata.labels);
    if let Some(why) = unusable(node.status.as_ref(), &labels) {
        return Host { name: node.metadata.name, record: Err(why) };
    }
    let withheld = node.status.as_ref().and_then(|status| withheld(status, &labels));
    let offers = node.status.as_ref().is_some_and(|status| offers_gpu(&status.capacity));
    let info = node.status.and_then(|status| status.info);
    let arch = info.as_ref().and_then(|info| info.architecture.clone());
    let arch = arch.or_else(|| labels.text("kubernetes.io/arch"));
    let gpus = gpus(&labels);
    let has_gpu = offers || labels.has_gpu();
    let pci = if gpus.is_empty() && has_gpu {
        let address = "unknown".to_string();
        vec![PciGpu { address, device: None, driver: None }]
    } else {
        Vec::new()
    };
    let (driver, cuda) = (labels.driver(), labels.cuda());
    let is_cut = gpus.iter().any(|gpu| gpu.mig == Some(true));
    let count = labels.number("nvidia.com/gpu.count").filter(|_| !is_cut);
    let nvml = Nvml { driver, cuda, count, gpus, ..Nvml::default() };
    let done = |name: &str| Probe { name: name.to_string(), ended: ProbeStatus::Done, detail: None, millis: None };
    let mut probes: Vec<Probe> =
        ["Kubernetes"].into_iter().chain(labels.show_bus().then_some(signs::BUS)).map(done).collect();
    probes.extend(withheld.map(|detail| Probe {
        name: "device plugin".to_string(),
        ended: ProbeStatus::Failed,
        detail: Some(detail),
        millis: None,
    }));
    let record = Record {
        format: record::FORMAT,
        origin: Origin::Pasted,
        probes,
        platform: Platform {
            system: Some(System::Linux),
            arch: arch.map(|arch| processor(&arch).to_string()),
            kernel: info.and_then(|info| info.kernel),
            os: labels.system(),
            ..Platform::default()
        },
        pci,
        nvml: (nvml != Nvml::default()).then_some(nvml),
        ..Record::default()
    };
    Host { name: node.metadata.name, record: Ok(record) }
}

/// Why nothing can be said of a node: what its labels tell is of the time when it last answered, or of Windows.
fn unusable(status: Option<&Status>, labels: &Labels<'_>) -> Option<String> {
    let system = status.and_then(|status| status.info.as_ref()?.system.clone());
    let system = system.or_else(|| labels.text("kubernetes.io/os"));
    if system.is_some_and(|system| system != "linux") {
        return Some("the node does not run Linux, for which the lock's wheels and images are".to_string());
    }
    let ready = status?.conditions.iter().find(|condition| condition.kind == "Ready")?;
    (ready.status != "True")
        .then(|| format!("the node is not ready (Ready is {}): what its labels say may no longer hold", ready.status))
}

/// An amount of a resource, which Kubernetes writes as a text.
fn amount(value: &serde_json::Value) -> u64 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_default()
}

/// Whether the kubelet has GPUs, or parts of them, to give to pods.
fn offers_gpu(capacity: &BTreeMap<String, serde_json::Value>) -> bool {
    capacity.iter().any(|(name, value)| name.starts_with("nvidia.com/") && amount(value) > 0)
}

/// GPUs that the node has and that no pod gets, as the device plugin counts them.
fn withheld(status: &Status, labels: &Labels<'_>) -> Option<String> {
    let mut own = status.capacity.iter().filter(|(name, _)| name.starts_with("nvidia.com/")).peekable();
    let count = labels.number("nvidia.com/gpu.count").filter(|count| *count > 0);
    if let (Some(count), true, false) = (count, own.peek().is_some(), offers_gpu(&status.capacity)) {
        return Some(format!("the labels tell of {count} GPUs, of which pods are offered none"));
    }
    let allocatable = status.allocatable.as_ref()?;
    own.find_map(|(name, value)| {
        let (left, all) = (allocatable.get(name).map_or(0, amount), amount(value));
        (left < all).then(|| format!("pods may have {left} of {all} {name}: the others are unhealthy"))
    })
}

fn processor(arch: &str) -> &str {
    match arch {
        "amd64" => "x86_64",
        "arm64" => "aarch64",
        other => other,
    }
}

fn gpus(labels: &Labels<'_>) -> Vec<Gpu> {
    let Some(product) = labels.text("nvidia.com/gpu.product") else { return Vec::new() };
    // Blanks in the name are dashes.
    let (name, profile) = product_of_label(&product);
    let part = |name: &str| labels.number(&format!("nvidia.com/gpu.compute.{name}"));
    let capability = part("major").zip(part("minor"));
    let memory = labels.number("nvidia.com/gpu.memory").and_then(|mebibytes| mebibytes.checked_mul(1 << 20));
    let count = labels.number("nvidia.com/gpu.count").unwrap_or(1).min(MOST);
    let gpu = |index| Gpu {
        index,
        name: Some(name.to_string()),
        compute_capability: capability
            .and_then(|(major, minor)| Some(Cc::new(major.try_into().ok()?, minor.try_into().ok()?))),
        memory: memory.filter(|_| profile.is_none()),
        ..Gpu::default()
    };
    let Some(profile) = profile else { return (0..count).map(gpu).collect() };
    // Of instances the labels count those, and not the cards.
    let instance = Mig { profile: Some(profile.to_string()), memory, ..Mig::default() };
    vec![Gpu { mig: Some(true), instances: vec![instance; count as usize], ..gpu(0) }]
}

struct Labels<'a>(&'a BTreeMap<String, String>);

impl Labels<'_> {
    fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).cloned()
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.parse().ok()
    }

    /// Whether node feature discovery has seen an NVIDIA GPU on the bus.
    fn has_gpu(&self) -> bool {
        let of_nvidia = |name: &str| {
            let on_the_bus = name.contains("feature.node.kubernetes.io/pci-") && name.contains("10de.present");
            on_the_bus || name == "nvidia.com/gpu.present"
        };
        self.0.iter().any(|(name, value)| value == "true" && of_nvidia(name))
    }

    /// Whether node feature discovery ran there: it labels every display controller on the bus.
    fn show_bus(&self) -> bool {
        self.0.keys().any(|name| name.starts_with("feature.node.kubernetes.io/"))
    }

    fn driver(&self) -> Option<Version> {
        let whole = self.text("nvidia.com/cuda.driver-version.full");
        let parts = ["major", "minor", "rev"].map(|part| self.text(&format!("nvidia.com/cuda.driver.{part}")));
        let joined = || parts.into_iter().collect::<Option<Vec<String>>>().map(|parts| parts.join("."));
        Version::parse(&whole.or_else(joined)?).ok()
    }

    fn cuda(&self) -> Option<Version> {
        let whole = self.text("nvidia.com/cuda.runtime-version.full");
        let parts = ["major", "minor"].map(|part| self.text(&format!("nvidia.com/cuda.runtime.{part}")));
        let joined = || parts.into_iter().collect::<Option<Vec<String>>>().map(|parts| parts.join("."));
        Version::parse(&whole.or_else(joined)?).ok().map(|cuda| cuda.prefix(2))
    }

    /// `ubuntu22.04`
    fn system(&self) -> Option<String> {
        let part = |name: &str| self.text(&format!("feature.node.kubernetes.io/system-os_release.{name}"));
        Some(format!("{}{}", part("ID")?, part("VERSION_ID")?))
    }
}
