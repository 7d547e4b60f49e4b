//! Tests of `probe::version`.

use super::*;

#[test]
fn numbers_become_versions() {
    let shown = |version: Option<Version>| version.map(|version| version.to_string()).unwrap_or_default();
    for (number, wanted) in [(12040, "12.4"), (11080, "11.8"), (13000, "13.0"), (0, ""), (-1, ""), (999, "")] {
        assert_eq!(shown(thousands(number)), wanted);
    }
    for (number, wanted) in [(8902, "8.9.2"), (90100, "9.1.0"), (91002, "9.10.2"), (2804, "2.8.4"), (22105, "2.21.5")] {
        assert_eq!(shown(packed(number)), wanted);
    }
    for garbage in [0, 7, u64::MAX, 0xffff_ffff_0000] {
        assert_eq!(shown(packed(garbage)), "", "{garbage}");
    }
    assert_eq!(shown(dotted(&[12, 4, 5])), "12.4.5");
    assert_eq!(shown(dotted(&[12, -1])), "");
}

#[test]
fn mapped_parts_take_the_place_of_expected_ones() {
    let mut parts = vec!["/a/libcudnn_ops.so.9".to_string(), "/a/libcudnn_adv.so.9".to_string()];
    take_over(&mut parts, ["/b/libcudnn_ops.so.9.1.0".to_string()].into_iter());
    assert_eq!(parts, ["/a/libcudnn_adv.so.9", "/b/libcudnn_ops.so.9.1.0"]);
}
