//! Tests of `host::labels`.

use super::*;

/// Whether MIG is on, on how many cards, and which instances.
fn told(labels: &[(&str, &str)]) -> Vec<(String, Option<bool>, Vec<String>)> {
    let named: Vec<(String, &str)> = labels.iter().map(|(name, value)| (format!("{OURS}{name}"), *value)).collect();
    let labels: Labels = named.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let profiles = |gpu: &Gpu| gpu.instances.iter().filter_map(|one| one.profile.clone()).collect();
    labels.nvml().gpus.iter().map(|gpu| (gpu.name.clone().unwrap(), gpu.mig, profiles(gpu))).collect()
}

const CARD: [(&str, &str); 2] = [("gpu.product", "NVIDIA-A100-SXM4-40GB"), ("gpu.count", "2")];

#[test]
fn instances_of_every_strategy_are_told() {
    let of = |more: &[(&str, &str)]| told(&[&CARD[..], more].concat());
    let card = |mig, profiles: &[&str]| {
        ("NVIDIA-A100-SXM4-40GB".to_string(), mig, profiles.iter().map(ToString::to_string).collect())
    };
    assert_eq!(of(&[]), [card(None, &[]), card(None, &[])]);
    assert_eq!(of(&[("gpu.product", "NVIDIA-A100-SXM4-40GB-SHARED")]), [card(None, &[]), card(None, &[])]);
    let single = [("gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED")];
    assert_eq!(of(&single), [card(Some(true), &["1g.5gb", "1g.5gb"])]);
    let parts = [("mig-1g.5gb.me.count", "1"), ("mig-3g.20gb.count", "1"), ("mig.strategy", "mixed")];
    let cut = card(Some(true), &["1g.5gb+me", "3g.20gb"]);
    assert_eq!(of(&parts), [cut.clone(), card(None, &[])], "one of them is whole");
    assert_eq!(of(&[&parts[..], &[("gpu.replicas", "0")]].concat()), [cut], "none of them is");
    let other = [("mig-1g.6gb.count", "1"), ("mig-1g.6gb.product", "NVIDIA-A30-MIG-1g.6gb")];
    assert_eq!(of(&other)[2], ("NVIDIA-A30".to_string(), Some(true), vec!["1g.6gb".to_string()]));
    assert_eq!(of(&[("gpu.replicas", "0")]), [card(Some(true), &[])]);
    assert_eq!(of(&[("gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-INVALID"), ("gpu.count", "0")]), [card(None, &[])]);
}

#[test]
fn old_drivers_have_two_numbers_and_old_labels_parts() {
    let of = |labels: &[(&str, &str)]| {
        let named: Vec<(String, &str)> = labels.iter().map(|(name, it)| (format!("{OURS}{name}"), *it)).collect();
        let nvml = named.iter().map(|(name, value)| (name.as_str(), *value)).collect::<Labels>().nvml();
        [nvml.driver, nvml.cuda].map(|version| version.map(|version| version.to_string()))
    };
    let old = [("cuda.driver.major", "390"), ("cuda.driver.minor", "48"), ("cuda.driver.rev", "")];
    assert_eq!(of(&old), [Some("390.48".to_string()), None]);
    let new = [("cuda.driver-version.full", "550.54.15"), ("cuda.runtime-version.full", "12.4.1")];
    assert_eq!(of(&new), [Some("550.54.15".to_string()), Some("12.4".to_string())]);
}
