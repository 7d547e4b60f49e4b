//! Tests of `verify::seen`.

use super::*;
use crate::catalog::BUILTIN;

#[test]
fn addresses_have_one_spelling() {
    assert_eq!(address("00000000:65:00.0"), address("0000:65:00.0"));
    assert_eq!(address("0000:C1:00.0"), address("C1:00.0"));
    assert_ne!(address("0001:65:00.0"), address("0000:65:00.0"));
}

#[test]
fn products_are_compared_without_their_maker() {
    let is_product =
        |catalog: &Catalog, one: &str, other: &str| Called::new(catalog, one).means(&Called::new(catalog, other));
    assert!(is_product(&BUILTIN, "NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"));
    assert!(is_product(&BUILTIN, "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA A100-SXM4-40GB"));
    assert!(!is_product(&BUILTIN, "NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB"));
    assert!(is_product(&BUILTIN, "Orin", "Orin (nvgpu)"));
    assert!(!is_product(&BUILTIN, "NVIDIA GeForce RTX 3060 ...", "NVIDIA GeForce RTX 3060 Laptop GPU"));
}
