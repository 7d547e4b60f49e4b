//! A change that helps keeps what it need not change: the system of an image, the CUDA major of a release.

use crate::common::cases::{Case, case, hold};

const CASES: &[Case] = &[
    // Another image for the libraries of a newer CUDA. Source: github.com/McCloudS/subgen/pull/332.
    case(
        "ctranslate2 = \"4.6.0\"",
        "gpu = \"RTX 5070\"\nimage = \"nvidia/cuda:12.3.2-base-ubuntu22.04\"",
        1,
        &["1. change image from nvidia/cuda:12.3.2-base-ubuntu22.04 to nvidia/cuda:12.9.1-cudnn-runtime-ubuntu22.04"],
    ),
    case(
        "ctranslate2 = \"4.6.0\"",
        "gpu = \"RTX 5070\"\nimage = \"nvidia/cuda:12.3.2-base-ubi9\"",
        1,
        &["to nvidia/cuda:12.9.1-cudnn-runtime-ubi9"],
    ),
    // No image of that CUDA has a system this old, nor does the package run there.
    case(
        "ctranslate2 = \"4.6.0\"",
        "gpu = \"RTX 5070\"\nimage = \"nvidia/cuda:11.3.1-base-ubuntu18.04\"",
        1,
        &["to nvidia/cuda:12.9.1-cudnn-runtime-ubuntu24.04"],
    ),
    // Another variant of the release for the same major of CUDA. Source: github.com/rusty1s/pytorch_scatter/issues/371.
    case(
        "torch = \"1.11.0+cu111\"\ntorch-scatter = \"*\"\npython = \"3.8\"",
        "gpu = \"RTX 2080 Ti\"",
        1,
        &["1. change torch from 1.11.0+cu111 to 1.11.0+cu113", "to 1.10.2+cu111", "!+cu102"],
    ),
    case(
        "torch = \"1.10.0+cu112\"",
        "gpu = \"T4\"",
        1,
        &["1. change torch from 1.10.0+cu112 to 1.10.0+cu111", "!+cu102"],
    ),
    // One of another major, where none of its own serves, or only with a package beside the driver.
    case(
        "torch = \"2.9.0+cu130\"",
        "gpu = \"RTX 3090\"\ndriver = \"550\"",
        1,
        &["1. change torch from 2.9.0+cu130 to 2.9.0+cu128"],
    ),
    case(
        "torch = \"2.4.0+cu126\"",
        "gpu = \"T4\"\ndriver = \"470\"",
        1,
        &["1. change torch from 2.4.0+cu126 to 2.4.0+cu118; resolves"],
    ),
    // One of the major that would be chosen anyway.
    case("torch = \"2.6.0+cu121\"", "gpu = \"RTX 3090\"", 1, &["1. change torch from 2.6.0+cu121 to 2.6.0+cu124"]),
];

#[test]
fn what_need_not_change_is_kept() {
    hold("kept", CASES);
}
