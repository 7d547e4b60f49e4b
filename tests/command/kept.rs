//! A change that helps keeps what it need not change: the system of an image.

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
];

#[test]
fn what_need_not_change_is_kept() {
    hold("kept", CASES);
}
