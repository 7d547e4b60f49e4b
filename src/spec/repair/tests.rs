//! Tests of `spec::repair`.

use super::*;

#[test]
fn spellings_of_other_tools_are_understood() {
    for (text, meant) in [
        ("^2.5", Some(">=2.5,<3")),
        ("^0.4.2", Some(">=0.4.2,<0.5")),
        ("^0.0.3", Some(">=0.0.3,<0.0.4")),
        ("^0.0", Some(">=0.0,<0.1")),
        ("~2.5", Some("2.5")),
        ("~2.5.1", Some("~=2.5.1")),
        ("latest", Some("*")),
        ("torch==1.13.1", Some("==1.13.1")),
        ("Torch >= 2.4, < 2.8", Some(">=2.4,<2.8")),
        ("=2.5", Some("==2.5")),
        ("=>2.4", Some(">=2.4")),
        ("v2.5.1", Some("2.5.1")),
        ("2.5.x", Some("2.5")),
        ("535-550", Some(">=535,<=550")),
        ("R535 - R550", Some(">=535,<=550")),
        (">=R535", Some(">=535")),
        ("2.5.1-cu124", Some("2.5.1+cu124")),
        ("cu124", Some("+cu124")),
        ("^2 || ^3", Some(">=2,<3 || >=3,<4")),
        (">=2.4 <2.6", Some(">=2.4,<2.6")),
        (">= 2.4 and < 2.6", Some(">=2.4,<2.6")),
        ("2.5 or 2.6", Some("2.5 || 2.6")),
        ("2.5;2.6", Some("2.5 || 2.6")),
        ("<2.5+cu118", Some("<2.5,+cu118")),
        ("2.5.", Some("2.5")),
        ("2.5.1+CU124", Some("2.5.1+cu124")),
        ("pytorch==2.5", Some("==2.5")),
        ("[2.5,2.7)", Some(">=2.5,<2.7")),
        ("2.5 2.6", None),
        ("535.104.05-1", None),
        ("nightly", None),
        ("^", None),
        ("", None),
        ("é", None),
    ] {
        assert_eq!(constraint("torch", text).as_deref(), meant, "{text}");
    }
}

#[test]
fn free_threaded_pythons_are_known_as_such() {
    assert_eq!(with_gil("python", "3.13t"), Some("3.13"));
    assert_eq!((with_gil("python", "t"), with_gil("torch", "2.5t"), with_gil("python", "3.13")), (None, None, None));
}

#[test]
fn pip_is_told_in_its_own_words() {
    for (text, meant) in [
        ("4.50", Some("==4.50.*")),
        ("4.50.x", Some("==4.50.*")),
        ("^4.50", Some(">=4.50,<5")),
        ("transformers>=4.50", Some(">=4.50")),
        ("latest", Some("*")),
        ("2.8.0+cu126", Some("==2.8.0+cu126")),
        (">=4; python_version < '3.12'", None),
        ("four", None),
    ] {
        assert_eq!(specifier("transformers", text).as_deref(), meant, "{text}");
    }
}

#[test]
fn drivers_and_makers_are_told_apart() {
    for (text, bare) in [("R535", "535"), ("535.x", "535"), ("r550.54", "550.54"), (">=535", ">=535"), ("R", "R")] {
        assert_eq!(driver(text), bare);
    }
    for (text, line) in [
        ("nvidia-driver-535", Some("driver = \"535\"")),
        ("535-server", Some("driver = \"535\"")),
        ("535.183.01-0ubuntu1", Some("driver = \"535.183.01\"")),
        ("550.127.05-open", Some("driver = \"550.127.05\"")),
        ("535+", Some("driver = \">=535\"")),
        ("535.104.05-1", Some("driver = \"535.104.05\"")),
        ("R 535", Some("driver = \"535\"")),
        ("CUDA 12.2", Some("driver-cuda = \"12.2\"")),
        ("32.0.15.6636", Some("driver = \"566.36\"` with `platform = \"wsl2\"")),
        ("new", None),
    ] {
        assert_eq!(driver_named(text).as_deref(), line, "{text}");
    }
    for (text, name) in [
        ("GA102 [GeForce RTX 3090]", Some("GeForce RTX 3090")),
        (
            "01:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)",
            Some("GeForce RTX 3090"),
        ),
        ("GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1b2c)", Some("NVIDIA A100-SXM4-40GB")),
        ("8x H100", Some("H100")),
        ("2 x RTX 4090", Some("RTX 4090")),
        ("H100 x8", Some("H100")),
        ("H100:8", Some("H100")),
        ("gpu:a100:4", Some("a100")),
        ("TITAN X (Pascal)", None),
        ("GTX 1080", None),
        ("NVIDIA A100-SXM4-80GB MIG 1g.10gb", None),
    ] {
        assert_eq!(gpu(text).map(|(name, _)| name), name, "{text}");
    }
    assert!(is_no_gpu("CPU") && is_no_gpu("cpu-only") && !is_no_gpu("CPU 0"));
    assert!(is_machine_type("p4d.24xlarge") && is_machine_type("a2-highgpu-1g") && !is_machine_type("A100"));
    for (name, maker) in [
        ("MI300X", Some("AMD")),
        ("RX 7900 XTX", Some("AMD")),
        ("Arc A770", Some("Intel")),
        ("Iris Xe", Some("Intel")),
        ("M2 Max", Some("Apple")),
    ] {
        assert_eq!(other_maker(name), maker);
    }
    for name in ["RTX 3090", "M10", "M4", "Tesla M40", "NVIDIA A100-SXM4-80GB MIG 1g.10gb", "sm_90", "GTX 1080", "none"]
    {
        assert_eq!(other_maker(name), None, "{name}");
    }
}

#[test]
fn no_number_is_meant_that_is_too_large() {
    assert_eq!(constraint("cuda", "12,4").as_deref(), Some("12.4"));
    assert_eq!(constraint("torch", "699999990,3339993333999399309993333993399"), None);
    assert_eq!(constraint("python", "cp3339993333999399309993"), None);
}
