//! Tests of `verify::python`.

use super::*;

#[test]
fn a_wheel_is_known_by_its_version_and_its_label() {
    let wheel = |version: &str| Wheel {
        package: "torch".into(),
        version: version.into(),
        arch: "x86_64".into(),
        index: None,
        url: None,
        extra: None,
        system_cuda: false,
        sdist: false,
        unisolated: None,
        tools: Vec::new(),
        requires: None,
        switch: None,
        archs: None,
        sha256: Wheel::UNKNOWN.into(),
        libraries: Vec::new(),
        python: None,
        asks: Vec::new(),
        targets: Vec::new(),
    };
    for (found, locked, required, same) in [
        ("2.5.1+cu124", "2.5.1+cu124", "2.5.1+cu124", true),
        ("2.5.1", "2.5.1+cu124", "2.5.1", true),
        ("2.5.1", "2.5.1+cu124", "2.5.1+cu124", false),
        ("2.5.1+cpu", "2.5.1+cu124", "2.5.1+cu124", false),
        ("2.5.1+cpu", "2.5.1+cu124", "2.5.1", false),
        ("2.5.0+cu124", "2.5.1+cu124", "2.5.1+cu124", false),
        ("0.20.1+cu124", "0.20.1", "0.20.1", true),
    ] {
        assert_eq!(is_same(found, locked, Some(&wheel(required))), same, "{found} for {locked}");
    }
}
