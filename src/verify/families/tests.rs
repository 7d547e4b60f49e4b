//! Tests of `verify::families`.

use super::*;

#[test]
fn families_are_told_one_by_one() {
    let of = |names: &[(&str, &str)]| {
        let gpu = |(name, cc): &(&str, &str)| GpuLock {
            name: name.to_string(),
            compute_capability: cc.to_string(),
            coverage: None,
        };
        in_words(&names.iter().map(gpu).collect::<Vec<_>>())
    };
    let ampere = ["NVIDIA A100 80GB PCIe", "NVIDIA A100-PCIE-40GB", "NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB"];
    let hopper = ["NVIDIA H100 NVL", "NVIDIA H100 PCIe", "NVIDIA H100 80GB HBM3", "NVIDIA H100 64GB HBM2"];
    let all = ampere.iter().map(|name| (*name, "8.0")).chain(hopper.iter().map(|name| (*name, "9.0")));
    let told = of(&all.collect::<Vec<_>>());
    assert!(told.contains("any NVIDIA H100 (9.0)") && told.contains("any NVIDIA A100 (8.0)"), "{told}");
    assert_eq!(of(&[("NVIDIA L4", "8.9"), ("Tesla T4", "7.5")]), "NVIDIA L4 or Tesla T4");
    assert_eq!(of(&[]), "a GPU");
}
