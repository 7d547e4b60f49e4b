//! The labels of GPU feature discovery, as `kubectl describe node` and `kubectl get node -o yaml` print them.
//!
//! How a product's name becomes a label: <https://github.com/NVIDIA/gpu-feature-discovery/issues/54>.

use std::collections::BTreeMap;

use super::seen::{Seen, fill, version};
use crate::types::Cc;

/// The beginning of all of them.
const OURS: &str = "nvidia.com/";

/// A product's label: its name, and the profile where the node is of instances of one. Sharing is noted behind both.
pub fn product_of_label(label: &str) -> (&str, Option<&str>) {
    let label = label.trim_end_matches("-SHARED");
    label.split_once("-MIG-").map_or((label, None), |(name, profile)| (name, Some(profile)))
}

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let mut labels: BTreeMap<&str, &str> = BTreeMap::new();
    for line in lines {
        let Some(at) = line.find(OURS) else { continue };
        if let Some((name, value)) = line[at + OURS.len()..].split_once(['=', ':']) {
            labels.insert(name.trim(), value.trim().trim_matches(['"', '\'']));
        }
    }
    let Some(product) = labels.get("gpu.product") else { return false };
    let number = |name: &str| labels.get(name).and_then(|value| value.parse::<u64>().ok());
    let (name, profile) = product_of_label(product);
    let part = |name: &str| labels.get(name).and_then(|value| value.parse::<u8>().ok());
    let capability =
        part("gpu.compute.major").zip(part("gpu.compute.minor")).map(|(major, minor)| Cc::new(major, minor));
    let memory = number("gpu.memory").and_then(|mebibytes| mebibytes.checked_mul(1 << 20));
    // Of instances the labels count those, and not the cards.
    for index in 0..number("gpu.count").unwrap_or(1) {
        let card = if profile.is_some() { 0 } else { index };
        seen.name(card, name);
        let Some(gpu) = seen.gpu(card) else { break };
        fill(&mut gpu.compute_capability, capability);
        match profile {
            None => fill(&mut gpu.memory, memory),
            Some(profile) => {
                let Some(instance) = seen.instance(card, index) else { break };
                fill(&mut instance.profile, Some(profile.to_string()));
                fill(&mut instance.memory, memory);
            }
        }
    }
    let joined = |names: [&str; 3]| {
        let parts: Vec<&str> = names.iter().filter_map(|name| labels.get(name).copied()).collect();
        version(&parts.join("."))
    };
    let whole = labels.get("cuda.driver-version.full").and_then(|text| version(text));
    let driver = whole.or_else(|| joined(["cuda.driver.major", "cuda.driver.minor", "cuda.driver.rev"]));
    driver.into_iter().for_each(|driver| seen.driver(driver));
    let cuda = labels.get("cuda.runtime-version.full").and_then(|text| version(text));
    let cuda = cuda.or_else(|| joined(["cuda.runtime.major", "cuda.runtime.minor", ""]));
    fill(&mut seen.nvml().cuda, cuda.map(|cuda| cuda.prefix(2)));
    true
}
