//! Tests of `export::valid`.

use super::*;
use crate::types::name;

#[test]
fn texts_have_a_length() {
    let letters = |length: usize| "a".repeat(length);
    let list = |length: usize| (0..length).map(|at| if at % 32 == 5 { ',' } else { 'a' }).collect();
    type Kind = (fn(&str) -> bool, usize, fn(usize) -> String);
    let kinds: [Kind; 10] = [
        (is_label, 63, letters),
        (is_environment, 63, letters),
        (is_user, 32, letters),
        (is_request, 256, letters),
        (is_path, 512, letters),
        (is_list, 256, list),
        (is_resource, 128, |length| "a/".to_string() + &"b".repeat(length - 2)),
        (is_count, 6, |length| "8".repeat(length)),
        (are_numbers, 32, |length| "1.".repeat(length / 2 - 1) + &"2".repeat(2 + length % 2)),
        (|name| target(name).is_ok(), 64, letters),
    ];
    for (is, most, text) in kinds {
        assert!(is(&text(most)) && !is(&text(most + 1)) && !is(""), "{}", text(most));
    }
    assert!(is_count("80") && !is_count("08") && is_time("1-12:30:00") && !is_time("1234567"));
    assert!(is_list("gpu,GPU_long") && !is_list("gpu,$(id)") && !is_list("gpu,"));
    assert!(is_gres("gpu:h100:8,shard:2") && !is_gres("gpu:-1") && !is_gres("gpu:") && !is_gres("2"));
    assert!(is_dns_label("2-gpu") && !is_dns_label("gpu_2") && !is_dns_label(""));
    assert!(is_label("gpu-2") && !is_label("gpu-") && !is_label("-gpu"));
}

#[test]
fn images() {
    let digest = format!("sha256:{}", "0a".repeat(32));
    for good in [
        "ubuntu:22.04",
        "example/train",
        "nvidia/cuda:12.4.1-base-ubuntu22.04",
        "nvcr.io/nvidia/pytorch:24.05-py3",
        "localhost:5000/team/base:1",
        &format!("nvidia/cuda@{digest}"),
        &format!("nvidia/cuda:12.4.1-base-ubuntu22.04@{digest}"),
    ] {
        assert!(image(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "nvidia/cuda:",
        "nvidia/cuda:12 AS x",
        "nvidia/cuda:12\nRUN touch /pwned",
        "nvidia/cuda:12\r",
        "nvidia/cuda:$TAG",
        "--platform=x/y:1",
        "Nvidia/Cuda/UPPER:1",
        "nvidia//cuda:1",
        "nvidia/cuda@sha256:12",
        "nvidia/cuda:1 # comment",
    ] {
        assert!(image(bad).is_err(), "{bad}");
    }
}

#[test]
fn versions_names_and_indexes() {
    for good in ["2.5.1+cu124", "2.15.0rc1", "1.9.0.post1"] {
        assert!(wheel_version(good).is_ok(), "{good}");
    }
    for bad in ["", "2.5.1+", "2.5.1 --pre", "2.5.1\n--index-url", "2.5.1;x", "*", "+cu124", "2.5.1+cu+124"] {
        assert!(wheel_version(bad).is_err(), "{bad}");
    }
    for bad in ["", "-e", "torch @ file", "torch[extra]", "a;b", "torch\n"] {
        assert!(package(bad).is_err(), "{bad}");
    }
    assert!(index("https://download.pytorch.org/whl/cu124").is_ok());
    for bad in [
        "",
        "file:///etc",
        "https://a b",
        "https://x/$(id)",
        "http://a/simple",
        "https://me:secret@host/",
        "https://x/\n-r y",
    ] {
        assert!(index(bad).is_err(), "{bad}");
    }
    assert!(release("toolkit", "12").is_err());
    assert!(release("toolkit", "12.4;id").is_err());
    assert_eq!(major("gcc", "11.4.0").unwrap(), "11");
    for bad in ["", "11.x", "11;id"] {
        assert!(major("gcc", bad).is_err(), "{bad}");
    }
    assert!(driver("535.54.03").is_ok() && driver("535.x").is_err());
}

#[test]
fn targets_are_named_as_gpuenv_toml_may_name_them() {
    let longest = "a".repeat(64);
    for good in ["prod-1_a", "7", &longest] {
        assert!(target(good).is_ok() && name::is_target(good), "{good}");
    }
    for bad in ["", "-prod", "a b", "a.b", "ä", &(longest.clone() + "a")] {
        assert!(target(bad).is_err() && !name::is_target(bad), "{bad}");
    }
}

#[test]
fn lists_and_compat() {
    assert!(torch_arch_list("8.0;9.0+PTX").is_ok());
    assert!(torch_arch_list("8.0;$(id)").is_err());
    assert!(torch_arch_list("").is_err());
    assert!(cmake_arch_list("80-real;90").is_ok());
    assert!(cmake_arch_list("100a-real;120f").is_ok());
    assert!(cmake_arch_list("80;`id`").is_err());
    assert_eq!(arch_variable("A_B_ARCHS=80;120").unwrap(), ("A_B_ARCHS", vec![80, 120]));
    for bad in ["A_ARCHS", "A_ARCHS=", "LD_PRELOAD=80", "A_ARCHS=8x", "a_ARCHS=80", "A_ARCHS=80 B", "A_ARCHS=+80"] {
        assert!(arch_variable(bad).is_err(), "{bad}");
    }
    assert_eq!(compat_line("cuda-compat-12-4").unwrap(), "12.4");
    assert!(compat_line("cuda-compat-12-4; id").is_err());
}
