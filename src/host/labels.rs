//! The labels that GPU feature discovery gives to a node of Kubernetes, as values.
//!
//! They describe one product; of several in a machine only one is named. How they are made:
//! <https://github.com/NVIDIA/k8s-device-plugin/tree/main/docs/gpu-feature-discovery>.

use std::collections::BTreeMap;

use super::record::{Gpu, Mig, Nvml};
use crate::types::{Cc, Version, map_of};

/// The beginning of all of them.
pub const OURS: &str = "nvidia.com/";

/// More GPUs than in any machine, and more instances.
const MOST: u64 = 1_024;

/// What a product's label says in place of a profile where the strategy `single` cannot name one.
const INVALID: &str = "INVALID";

/// Labels by their names, with what stands before the slash.
#[derive(Debug, Default)]
pub struct Labels<'a>(BTreeMap<&'a str, &'a str>);

/// What the kubelet tells of a node beside its labels.
#[derive(Debug, Default)]
pub struct Kubelet {
    /// What its condition `Ready` says.
    pub ready: Option<String>,
    /// Whether no new pod is given to it.
    pub is_cordoned: bool,
    /// What it has for pods, `nvidia.com/gpu` where NVIDIA's device plugin runs.
    pub capacity: BTreeMap<String, u64>,
    /// What of it may be given to them: less where the plugin calls GPUs unhealthy.
    pub allocatable: Option<BTreeMap<String, u64>>,
}

impl Kubelet {
    /// Why what its labels tell may be of the time when it last answered.
    pub fn silent(&self) -> Option<String> {
        let ready = self.ready.as_deref().filter(|ready| *ready != "True")?;
        Some(format!("the node is not ready (Ready is {ready}): what its labels say may no longer hold"))
    }

    /// Whether it has GPUs, or parts of them, to give to pods.
    pub fn offers_gpu(&self) -> bool {
        self.capacity.iter().any(|(name, amount)| name.starts_with(OURS) && *amount > 0)
    }

    /// GPUs that the node has and that no pod gets, as the device plugin counts them.
    pub fn withheld(&self, labels: &Labels<'_>) -> Option<String> {
        if self.is_cordoned {
            return Some("the node is cordoned (unschedulable): it gets no new pod".to_string());
        }
        let mut own = self.capacity.iter().filter(|(name, _)| name.starts_with(OURS)).peekable();
        let count = labels.number("gpu.count").filter(|count| *count > 0);
        if let (Some(count), true, false) = (count, own.peek().is_some(), self.offers_gpu()) {
            return Some(format!("the labels tell of {count} GPUs, of which pods are offered none"));
        }
        let allocatable = self.allocatable.as_ref()?;
        own.find_map(|(name, all)| {
            let left = allocatable.get(name).copied().unwrap_or_default();
            (left < *all).then(|| format!("pods may have {left} of {all} {name}: the others are unhealthy"))
        })
    }

    /// GPUs that pods are offered and that no label describes: the labels tell of one product.
    pub fn untold(&self, labels: &Labels<'_>) -> Option<String> {
        let (offered, told) = (*self.capacity.get("nvidia.com/gpu")?, labels.offered()?);
        (offered > told).then(|| {
            format!(
                "its labels describe {told} of the {offered} nvidia.com/gpu of the node: of several products they name one"
            )
        })
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Labels<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(labels: I) -> Self {
        Labels(map_of(labels.into_iter().filter(|(_, value)| !value.is_empty())))
    }
}

impl<'a> Labels<'a> {
    /// What a label says.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).copied()
    }

    /// Every label.
    pub fn all(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().map(|(name, value)| (*name, *value))
    }

    fn ours(&self, name: &str) -> Option<&'a str> {
        self.text(&format!("{OURS}{name}"))
    }

    /// A number of ours: `gpu.count`.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.ours(name)?.parse().ok()
    }

    /// The product's name, in which blanks are dashes, and the profile where the labels tell of instances instead of GPUs.
    fn product(&self) -> Option<(&'a str, Option<&'a str>)> {
        self.ours("gpu.product").map(split)
    }

    /// Whether there is a product, or what it can do where its name was left out.
    pub fn describe_gpu(&self) -> bool {
        self.product().is_some() || self.number("gpu.compute.major").is_some()
    }

    /// Why the labels describe no GPU that a pod could get.
    pub fn closed(&self) -> Option<String> {
        let is_invalid = self.product()?.1 == Some(INVALID);
        is_invalid.then(|| {
            "its labels say MIG-INVALID, and pods are given no GPU: the MIG strategy `single` wants all GPUs cut into \
             instances of one profile, or none"
                .to_string()
        })
    }

    /// How many GPUs, or instances, pods can have by what the labels tell: shared ones count several times.
    pub fn offered(&self) -> Option<u64> {
        let is_shared = self.ours("gpu.product")?.ends_with(SHARED) || self.ours("mps.capable") == Some("true");
        let replicas = self.number("gpu.replicas").or((!is_shared).then_some(1))?;
        self.number("gpu.count")?.checked_mul(replicas.max(1))
    }

    /// Driver, CUDA and GPUs.
    pub fn nvml(&self) -> Nvml {
        let gpus = self.gpus();
        let is_cut = gpus.iter().any(|gpu| gpu.mig == Some(true));
        let count = self.number("gpu.count").filter(|_| !is_cut && self.closed().is_none());
        let driver = self.version("cuda.driver-version.full", ["major", "minor", "rev"].map(|part| ("driver", part)));
        let cuda = self.version("cuda.runtime-version.full", [("runtime", "major"), ("runtime", "minor")]);
        Nvml { driver, cuda: cuda.map(|cuda| cuda.prefix(2)), count, gpus, ..Nvml::default() }
    }

    /// A version that newer releases write whole, and older ones in parts, of which the last may be empty.
    fn version<const N: usize>(&self, whole: &str, parts: [(&str, &str); N]) -> Option<Version> {
        let part = |(of, part): (&str, &str)| self.ours(&format!("cuda.{of}.{part}"));
        let joined = || parts.into_iter().map_while(part).collect::<Vec<_>>().join(".");
        Version::parse(&self.ours(whole).map_or_else(joined, str::to_string)).ok()
    }

    fn gpus(&self) -> Vec<Gpu> {
        if !self.describe_gpu() {
            return Vec::new();
        }
        let (name, profile) = self.product().unwrap_or_default();
        let part = |name: &str| self.ours(&format!("gpu.compute.{name}")).and_then(|part| part.parse().ok());
        let compute_capability = part("major").zip(part("minor")).map(|(major, minor)| Cc::new(major, minor));
        let memory = self.memory("gpu").filter(|_| profile.is_none());
        let own = || Some(name.to_string()).filter(|name| !name.is_empty());
        let gpu = |index| Gpu { index, name: own(), compute_capability, memory, ..Gpu::default() };
        let count = self.number("gpu.count").unwrap_or(1).min(MOST);
        match profile {
            Some(INVALID) => vec![gpu(0)],
            // Of instances the labels count those, and not the cards.
            Some(profile) => vec![cut(gpu(0), vec![self.instance(profile, "gpu"); count as usize])],
            None => self.with_mixed((0..count).map(gpu).collect(), name),
        }
    }

    /// The instances of the strategy `mixed`. Which card holds which is not told: they stand on the first of their product.
    fn with_mixed(&self, whole: Vec<Gpu>, name: &str) -> Vec<Gpu> {
        let mut of_card: BTreeMap<&str, Vec<Mig>> = BTreeMap::new();
        let counts = self.all().filter_map(|(label, count)| {
            let kind = label.strip_prefix(OURS)?.strip_suffix(".count")?;
            Some((kind, kind.strip_prefix("mig-")?, count.parse::<u64>().ok()?.min(MOST)))
        });
        for (kind, profile, count) in counts {
            let card = self.ours(&format!("{kind}.product")).map_or(name, |label| split(label).0);
            let instances = of_card.entry(card).or_default();
            instances.extend((0..count).map(|_| self.instance(profile, kind)));
            instances.truncate(MOST as usize);
        }
        // Those that are all cut into instances are not replicated, not even once.
        let all_cut = self.number("gpu.replicas") == Some(0);
        let mut whole = whole.into_iter();
        let mut gpus: Vec<Gpu> = whole.next().into_iter().collect();
        if let Some(first) = gpus.first_mut() {
            let own = of_card.remove(name).unwrap_or_default();
            let knows_none = own.is_empty() && self.ours("mig.strategy") == Some("mixed");
            if all_cut || !own.is_empty() {
                let instance_count = knows_none.then_some(0);
                *first = Gpu { instance_count, ..cut(first.clone(), own) };
            }
        }
        gpus.extend(whole.filter(|_| !all_cut));
        for (index, (card, instances)) in (gpus.len() as u64..).zip(of_card) {
            gpus.push(cut(Gpu { index, name: Some(card.to_string()), ..Gpu::default() }, instances));
        }
        gpus
    }

    fn instance(&self, profile: &str, kind: &str) -> Mig {
        // No label holds a plus.
        Mig { profile: Some(profile.replace("gb.", "gb+")), memory: self.memory(kind), ..Mig::default() }
    }

    fn memory(&self, kind: &str) -> Option<u64> {
        self.number(&format!("{kind}.memory")).and_then(|mebibytes| mebibytes.checked_mul(1 << 20))
    }
}

/// What stands behind the name of a product that pods share.
const SHARED: &str = "-SHARED";

/// A product's label: its name, and the profile where it is of instances of one.
fn split(label: &str) -> (&str, Option<&str>) {
    let label = label.trim_end_matches(SHARED);
    label.split_once("-MIG-").map_or((label, None), |(name, profile)| (name, Some(profile)))
}

/// A GPU that is cut into these.
fn cut(gpu: Gpu, instances: Vec<Mig>) -> Gpu {
    Gpu { mig: Some(true), memory: None, instances, ..gpu }
}

#[cfg(test)]
mod tests;
