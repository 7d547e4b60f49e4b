//! What a stack with `[build]` gets: the image, the toolkit and the cuDNN are those that its packages load, too.

use crate::common::cases::{Case, case, hold};

const IN_IMAGE: &str = "gpu = \"A100\"\nimage = \"nvidia/cuda\"\n[build]";
const BARE: &str = "gpu = \"A100\"\n[build]";

const CASES: &[Case] = &[
    // A chosen image spares the warning about it.
    case("cupy-cuda12x = \"*\"", IN_IMAGE, 0, &["nvidia/cuda:12.9.1-devel-", "!system-cuda"]),
    case(
        "ctranslate2 = \"4.0.0\"",
        IN_IMAGE,
        0,
        &["nvidia/cuda:12.2.2-cudnn8-devel-", "!cudnn-missing", "!system-cuda"],
    ),
    case("onnxruntime-gpu = \"1.20\"", IN_IMAGE, 0, &["nvidia/cuda:12.9.1-cudnn-devel-", "!cudnn-missing"]),
    case("tensorflow = \"2.11\"", IN_IMAGE, 0, &["nvidia/cuda:11.2.2-cudnn8-devel-"]),
    case("tensorflow = \"2.15\"", IN_IMAGE, 0, &["nvidia/cuda:12.2.2-devel-"]),
    // The cuDNN that is asked for is that of the image.
    case("cudnn = \"8.9\"", IN_IMAGE, 0, &["nvidia/cuda:12.2.2-cudnn8-devel-", "lock: stack.cudnn = \"8.9.6.50\""]),
    case(
        "cuda = \"12.4\"\ncudnn = \"9\"",
        IN_IMAGE,
        0,
        &["nvidia/cuda:12.4.1-cudnn-devel-", "lock: stack.cudnn = \"9.1.0.70\""],
    ),
    case(
        "cudnn = \"8.9\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda:12.9.1-cudnn-devel-ubuntu24.04\"\n[build]",
        1,
        &["nvidia/cuda:12.9.1-cudnn-devel-ubuntu24.04 holds cuDNN 9.", "!has no nvcc"],
    ),
    case(
        "cudnn = \"8.9\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda:12.4.1-devel-ubuntu22.04\"\n[build]",
        1,
        &["nvidia/cuda:12.4.1-devel-ubuntu22.04 holds no cuDNN"],
    ),
    case(
        "cudnn = \"8.9\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda:12.2.2-cudnn8-runtime-ubuntu22.04\"\n[build]",
        1,
        &["has no nvcc", "!holds cuDNN"],
    ),
    // Of a chosen image, too, nobody may have read which cuDNN it holds.
    case(
        "faiss-gpu-cu12 = \"*\"\ncuda = \"12.8\"\ncudnn = \"9.1\"",
        "gpu = \"RTX 4090\"\nimage = \"nvcr.io/nvidia/pytorch\"",
        3,
        &["which cuDNN `nvcr.io/nvidia/pytorch:25.03-py3` holds, and so whether it is 9.1"],
    ),
    case(
        "faiss-gpu-cu12 = \"*\"\ncuda = \"12.8\"",
        "gpu = \"RTX 4090\"\nimage = \"nvcr.io/nvidia/pytorch\"",
        0,
        &["nvcr.io/nvidia/pytorch:25.03-py3"],
    ),
    case("cudnn = \"8.9\"", BARE, 0, &["lock: stack.cudnn = \"8.9.7.29\""]),
    // On bare metal the toolkit that compiles is the one whose libraries are loaded.
    case("cupy-cuda12x = \"*\"", BARE, 0, &["lock: target.t.toolkit = \"12.9", "!system-cuda"]),
    case("cupy-cuda12x = \"*\"\ncuda = \"13\"", BARE, 1, &["it loads the libraries of CUDA 12"]),
    case("cupy-cuda13x = \"*\"\nctranslate2 = \"4.0.0\"", BARE, 1, &["loads the libraries of CUDA 12"]),
    case("cupy-cuda13x = \"*\"\nctranslate2 = \"4.0.0\"", IN_IMAGE, 1, &["loads the libraries of CUDA 12"]),
    // Several toolkits may stand side by side.
    case(
        "cupy-cuda12x = \"*\"",
        "gpu = \"A100\"\ntoolkit = \"13.0\"\n[build]",
        1,
        &["loads the libraries of CUDA 12 from the system", "CUDA 13.0 is installed there"],
    ),
    // A framework that follows a major alone has its pieces of the CUDA that compiles.
    case("jax = \"*\"", IN_IMAGE, 0, &["!toolkit-minor"]),
    case(
        "tensorflow = \"2.18\"",
        "gpu = \"A100\"\ntoolkit = \"12.2\"\n[build]",
        0,
        &["toolkit-minor", "!torch prints a warning"],
    ),
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\ntoolkit = \"12.6\"\n[build]",
        0,
        &["toolkit-minor", "torch prints a warning"],
    ),
    // cuBLAS, cuSOLVER and NPP of CUDA 12.8 and newer need a newer C library than nvcc. Source: github.com/spack/spack/pull/49561.
    case(
        "",
        "gpu = \"A100\"\nos = \"rhel7\"\ntoolkit = \"12.8\"\n[build]",
        0,
        &["[toolkit-glibc]", "need glibc >=2.27, and the target has 2.17: take CUDA 12.6 or older"],
    ),
    case(
        "",
        "gpu = \"A100\"\nos = \"amzn2\"\ntoolkit = \"12.9\"\n[build]",
        0,
        &["[toolkit-glibc]", "the target has 2.26"],
    ),
    case("", "gpu = \"A100\"\nos = \"rhel7\"\ntoolkit = \"12.6\"\n[build]", 0, &["![toolkit-glibc]"]),
    case("", "gpu = \"A100\"\nos = \"ubuntu18.04\"\ntoolkit = \"12.8\"\n[build]", 0, &["![toolkit-glibc]"]),
    case("cupy-cuda12x = \"13.6.0\"", "gpu = \"A100\"\nos = \"rhel7\"\ntoolkit = \"12.8\"", 0, &["[toolkit-glibc]"]),
    // What brings its own CUDA loads none of the toolkit's.
    case("torch = \"2.3.1\"", "gpu = \"A100\"\nos = \"rhel7\"\ntoolkit = \"12.8\"", 0, &["![toolkit-glibc]"]),
];

#[test]
fn what_compiles_is_what_is_loaded() {
    hold("compiling", CASES);
}
