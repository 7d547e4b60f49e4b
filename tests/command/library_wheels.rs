//! NVIDIA's own wheels, which the lock pins beside a framework or alone: they are for a C library too. Source of the releases:
//! the tags of their files on the package index (nvidia-cudnn-cu12 9.5.0.50 manylinux2014, 9.6.0.74 manylinux_2_27;
//! nvidia-nccl-cu12 2.27.7 manylinux2014, 2.31.2 manylinux_2_18, 2.32.3 manylinux_2_27; nvidia-cublas-cu12 12.6.4.1
//! manylinux2014 for x86_64 and manylinux_2_27 for aarch64, 12.8.3.14 manylinux_2_27).

use crate::common::cases::{Case, case, hold};

const CASES: &[Case] = &[
    // The newest that the system takes, of each.
    case(
        "jax = \"0.4.30\"",
        "gpu = \"A100\"\nos = \"centos7\"",
        0,
        &[
            "lock: nvidia-cudnn-cu12\", version = \"9.5.0.50\"",
            "lock: nvidia-nccl-cu12\", version = \"2.27.7\"",
            "lock: nvidia-cublas-cu12\", version = \"12.6.4.1\"",
        ],
    ),
    case(
        "jax = \"0.4.30\"",
        "gpu = \"T4G\"\nos = \"amazonlinux2\"\narch = \"aarch64\"",
        0,
        &["lock: nvidia-nccl-cu12\", version = \"2.31.2\"", "lock: nvidia-cublas-cu12\", version = \"12.6.3.3\""],
    ),
    case(
        "jax = \"0.4.30\"",
        "gpu = \"A100\"\nos = \"ubuntu20.04\"",
        0,
        &["lock: nvidia-nccl-cu12\", version = \"2.32.3\"", "lock: nvidia-cublas-cu12\", version = \"12.9"],
    ),
    case(
        "tensorflow = \"2.20\"",
        "gpu = \"A100\"\nos = \"sles15.2\"",
        0,
        &["lock: nvidia-cudnn-cu12\", version = \"9.5.0.50\"", "!lock: nvidia-cublas-cu12\", version = \"12.8"],
    ),
    case(
        "cupy-cuda12x = \"*\"\ncudnn = \"*\"\nnccl = \"*\"",
        "gpu = \"A100\"\nos = \"centos7\"",
        0,
        &["lock: nvidia-cudnn-cu12\", version = \"9.5.0.50\"", "lock: nvidia-nccl-cu12\", version = \"2.27.7\""],
    ),
    // An older release where the newest asks for what the system does not take. Source: METADATA of jax-cuda12-plugin 0.7.0
    // (nvidia-cudnn-cu12 <10.0,>=9.8).
    case("jax = \"*\"", "gpu = \"A100\"\nos = \"centos7\"", 0, &["jax 0.5.3+cu12"]),
    case(
        "jax = \"0.7.0\"",
        "gpu = \"A100\"\nos = \"centos7\"",
        1,
        &["jax 0.7.0+cu12 requires cuDNN 9.8 or newer, whose wheels need glibc 2.27 or newer", "has glibc 2.17"],
    ),
    // What is asked for by its number, a toolkit, and one that the GPU needs.
    case(
        "cupy-cuda12x = \"*\"\ncudnn = \"9.10\"",
        "gpu = \"A100\"\nos = \"centos7\"",
        1,
        &["the wheels of cuDNN 9.10 need glibc 2.27 or newer"],
    ),
    case(
        "jax = \"0.4.30\"\nnccl = \">=2.28\"",
        "gpu = \"A100\"\nos = \"centos7\"",
        1,
        &["the wheels of NCCL >=2.28 need glibc 2.18 or newer"],
    ),
    case(
        "jax = \"0.5.3\"\ncuda = \"12.8\"",
        "gpu = \"A100\"\nos = \"centos7\"",
        1,
        &[
            "`jax = \"0.5.3\"`, `cuda = \"12.8\"` and `os = \"centos7\"` are incompatible",
            "from CUDA 12.8.0 on need glibc 2.27",
        ],
    ),
    case(
        "jax = \"0.5.3\"",
        "gpu = \"RTX 5090\"\nos = \"amazonlinux2\"",
        1,
        &["requires nvidia-cublas-cu12, whose wheels from CUDA 12.8.0 on need glibc 2.27 or newer"],
    ),
    // What packages ask pip for, where no framework brings it. Source: METADATA of faiss-gpu-cu12 1.14.1.post1
    // (nvidia-cublas-cu12>=12.1.3.1).
    case(
        "faiss-gpu-cu12 = \"*\"",
        "gpu = \"A100\"\nos = \"centos7\"",
        0,
        &["lock: nvidia-cublas-cu12\", version = \"12.6.4.1\""],
    ),
    case(
        "faiss-gpu-cu12 = \"*\"\ncuda = \"12.8\"",
        "gpu = \"A100\"\nos = \"centos7\"",
        1,
        &["requires nvidia-cublas-cu12, whose wheels for CUDA 12.8 need glibc 2.27 or newer"],
    ),
    // What stands on the system is no wheel.
    case("cupy-cuda12x = \"*\"\ncudnn = \"9.10\"", "gpu = \"A100\"\nos = \"centos7\"\ncudnn = \"9.10.2\"", 0, &[]),
];

#[test]
fn wheels_of_nvidia_are_for_a_c_library() {
    hold("library-wheels", CASES);
}

/// What follows CUDA brings no library that its metadata does not ask for. Source: METADATA of xgboost 2.1.4 (nvidia-nccl-cu12),
/// cuda-bindings 12.9 (cuda-pathfinder), nvidia-dali-cuda120 2.4.0 (nvJPEG), tensorrt-cu12-libs (nvidia-cuda-runtime-cu12);
/// github.com/michaelfeil/infinity/pull/460.
const BESIDE: &[Case] = &[
    case(
        "onnxruntime-gpu = \"1.19\"\nxgboost = \"2.1\"",
        "gpu = \"A10\"\ncudnn = \"9.5\"",
        0,
        &["warning[system-cuda]"],
    ),
    case(
        "onnxruntime-gpu = \"1.19\"\ncuda-bindings = \"*\"",
        "gpu = \"A10\"\ncudnn = \"9.5\"",
        0,
        &["warning[system-cuda]"],
    ),
    case(
        "ctranslate2 = \"4.5\"\nnvidia-dali-cuda120 = \"*\"",
        "gpu = \"A10\"\ncudnn = \"9.5\"",
        0,
        &["warning[system-cuda]"],
    ),
    case(
        "onnxruntime-gpu = \"1.19\"\ntensorrt-cu12 = \"10.4\"",
        "gpu = \"A10\"\ncudnn = \"9.5\"\ntoolkit = \"11.8\"",
        3,
        &["whether onnxruntime-gpu 1.19.2 was published for CUDA 11.8"],
    ),
    case(
        "onnxruntime-gpu = \"1.19\"\nxgboost = \"2.1\"",
        "gpu = \"A10\"\ncudnn = \"9.5\"\nimage = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"",
        0,
        &["is of flavour base"],
    ),
    // METADATA of faiss-gpu-cu12 1.14.1 (nvidia-cublas-cu12), and of libcuml-cu12 26.10.0 (cuda-toolkit with its libraries).
    case(
        "onnxruntime-gpu = \"1.19\"\nfaiss-gpu-cu12 = \"*\"",
        "gpu = \"A10\"\ncudnn = \"9.5\"",
        0,
        &["!warning[system-cuda]"],
    ),
    case("cupy-cuda12x = \"*\"\ncuml-cu12 = \"*\"", "gpu = \"A10\"", 0, &["!warning[system-cuda]"]),
];

#[test]
fn what_follows_cuda_brings_what_it_asks_for() {
    hold("follows-cuda-brings", BESIDE);
}

/// What nobody has read of a wheel is told, its C library too. Source: github.com/NVIDIA/TensorRT-LLM/issues/2795.
const UNREAD: &[Case] = &[
    case(
        "tensorrt-llm = \"1.0.0\"",
        "gpu = \"A10G\"\nos = \"rocky8\"",
        0,
        &["which GPUs tensorrt-llm 1.0.0 supports, nor which glibc its wheel needs"],
    ),
    case("tensorrt-llm = \"1.0.0\"", "gpu = \"A10G\"", 0, &["!nor which glibc"]),
];

#[test]
fn a_c_library_that_nobody_has_read_is_told() {
    hold("unread-glibc", UNREAD);
}

/// Builds for a CUDA that lie on the PyTorch index, which was not read whole. Source: docs.pytorch.org/TensorRT (installation),
/// github.com/pytorch/TensorRT/pull/3105.
const ON_THE_PYTORCH_INDEX: &[Case] = &[
    case("torch = \"2.11.0+cu128\"\ntorch-tensorrt = \"2.11.0\"", "gpu = \"RTX 4090\"", 3, &["published for cu128"]),
    case("torch = \"2.5.1+cu118\"\ntorch-tensorrt = \"2.5.0\"", "gpu = \"T4\"", 3, &["published for cu118"]),
    case("torch = \"2.6.0+cu126\"\ntorch-tensorrt = \"2.6.0\"", "gpu = \"RTX 4090\"", 3, &["published for cu126"]),
    case("torch = \"2.6.0+cu124\"\ntorch-tensorrt = \"2.6.0\"", "gpu = \"RTX 4090\"", 0, &[]),
];

#[test]
fn torch_tensorrt_may_lie_on_the_pytorch_index() {
    hold("torch-tensorrt", ON_THE_PYTORCH_INDEX);
}
