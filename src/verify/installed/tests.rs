//! Tests of `verify::installed`.

use super::*;

#[test]
fn a_night_and_a_candidate_are_not_their_release() {
    for (found, release, is_rough, same) in [
        ("2.5.1", "2.5.1", false, true),
        ("2.5", "2.5.0", false, true),
        ("2.8.0.dev20250327", "2.8.0", false, false),
        ("2.5.1rc1", "2.5.1", false, false),
        ("2.5.1.post4", "2.5.1", false, false),
        ("2.5.0a0", "2.5.0", true, true),
    ] {
        assert_eq!(is_release(found, release, is_rough), same, "{found} for {release}");
    }
    assert_eq!(of_conda_forge("torch", "2.5.1.post303"), Some("2.5.1"));
    assert_eq!(
        (of_conda_forge("torch", "2.5.1.post4+cu124"), of_conda_forge("flash-attn", "2.8.3.post2")),
        (None, None)
    );
}

#[test]
fn a_label_names_its_cuda_wherever_it_stands() {
    let version = |text: &str| Some(Version::parse(text).unwrap());
    for (label, told) in [
        ("cu118", Some(version("11.8"))),
        ("pt21cu121", Some(version("12.1"))),
        ("cu122torch2.1cxx11abiFALSE", Some(version("12.2"))),
        ("cuda12.cudnn89", Some(version("12"))),
        ("cpu", Some(None)),
        ("pt21cpu", Some(None)),
        ("rocm6.2", Some(None)),
        ("145a3a7bda.nv25.10", None),
        ("gitba56102", None),
    ] {
        assert_eq!(cuda_of(label), told, "{label}");
    }
}
