//! Tests of `diagnose::decode`.

use super::*;

#[test]
fn packed_versions_are_decoded() {
    assert_eq!(thousand("11040"), "11.4");
    assert_eq!(thousand("9000"), "9.0");
    assert_eq!(hundred("1108"), "11.8");
    assert_eq!((below("4.10"), below("6")), ("4.9".into(), "5".into()));
    assert_eq!(hundred("12080"), "12.8");
    assert_eq!(cudnn("7102"), "7.1.2");
    assert_eq!(cudnn("6020"), "6.0.20");
    assert_eq!(cudnn("90100"), "9.1.0");
    assert_eq!(packed("120205", 10_000, 100), "12.2.5");
}

#[test]
fn library_names_tell_their_release() {
    for (name, wanted) in [
        ("libcudart.so.11.0", Some("11")),
        ("libcudart.so.10.1", Some("10.1")),
        ("libcublas.so.10", None),
        ("libcublas.so.12", Some("12")),
        ("cudart64_110.dll", Some("11")),
        ("cudart64_101.dll", Some("10.1")),
        ("libcufft.so.10", None),
    ] {
        assert_eq!(runtime_of(name).as_deref(), wanted, "{name}");
    }
    assert_eq!(cudnn_of("libcudnn_ops_infer.so.8").as_deref(), Some("8"));
    assert_eq!(cudnn_of("cudnn64_7.dll").as_deref(), Some("7"));
    assert_eq!(cudnn_of("cudnn_ops64_9.dll").as_deref(), Some("9"));
    assert_eq!(cudnn_of("libcublas.so.11"), None);
}

#[test]
fn wrapped_words_are_joined_and_further_words_cut() {
    assert_eq!(token("libcudnn_ops_in\n  fer.so.8"), "libcudnn_ops_infer.so.8");
    assert_eq!(token("sm_89 a"), "sm_89");
    assert_eq!(token("_ZN3c104cuda9SetDeviceEi\nERROR conda"), "_ZN3c104cuda9SetDeviceEi");
    assert_eq!(token("_ZN3c105ErrorC2ENS_14SourceLocationESs\n\nquit()"), "_ZN3c105ErrorC2ENS_14SourceLocationESs");
    assert_eq!(architecture("compute_92 2"), "compute_92");
    assert_eq!(architecture("sm_12 0a"), "sm_120a");
    assert_eq!(architecture("compute_90 f"), "compute_90");
    assert_eq!(architecture("compute_native error"), "compute_native");
    assert_eq!(
        (architecture("compute_ Traceback"), architecture("compute_ 90")),
        ("compute_".into(), "compute_90".into())
    );
    assert_eq!(architecture("7.5 8.0"), "7.5 8.0");
    assert_eq!(module("flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so"), "flash-attn");
}

/// What the wheels of these libraries hold: pkg:pypi/nvidia-cudss-cu12@0.7.1.6 is the last with libcudss.so.0.
#[test]
fn a_library_that_builds_on_cuda_has_its_own_wheel() {
    for (library, wanted) in [
        ("libcudss.so.0", "`nvidia-cudss-cuXX<1`"),
        ("libcusparseLt.so.0", "`nvidia-cusparselt-cuXX<1`"),
        ("libcutensor.so.2", "`cutensor-cuXX<3`"),
        ("libcutensorMg.so.2", "`cutensor-cuXX<3`"),
        ("libnvshmem_host.so.3", "`nvidia-nvshmem-cuXX<4`"),
        ("libnvcomp.so", "`nvidia-nvcomp-cuXX`"),
    ] {
        assert_eq!(own_wheel(library).as_deref(), Some(wanted));
    }
}
