//! What a stack takes from the machine or the image rather than from wheels: CUDA's libraries by their file names, and the
//! compiler of what comes as source only. A lock that is silent about them installs what computes on the CPU, or nothing.

use crate::common::cases::{Case, case, hold};
use crate::common::sandbox::Sandbox;

const CASES: &[Case] = &[
    // TensorFlow before 2.14 brings no CUDA. Sources: github.com/tensorflow/tensorflow/issues/46975, 45319 (2.4 looks for
    // libcusolver.so.10, which CUDA 11.0 alone has), 34287 (2.1 looks for libcudart.so.10.1), 60646 (2.12 beside 12.1).
    case(
        "tensorflow = \"2.4\"",
        "gpu = \"GeForce RTX 3070\"\ntoolkit = \"11.2\"\ncudnn = \"8.1.0\"",
        1,
        &[
            "`tensorflow = \"2.4\"` is incompatible with `toolkit = \"11.2\"`",
            "tensorflow 2.4.0 to 2.4.4 load the libraries of CUDA 11.0 from the system",
            "CUDA 11.2 is installed there, whose libraries have other file names",
        ],
    ),
    case(
        "tensorflow = \"2.1\"",
        "gpu = \"Tesla T4\"\ntoolkit = \"10.2\"\ncudnn = \"7.6\"",
        1,
        &["CUDA 10.1 from the system"],
    ),
    case(
        "tensorflow = \"2.12\"",
        "gpu = \"A100\"\ntoolkit = \"12.1\"\ncudnn = \"8.9\"",
        1,
        &["CUDA 11.8 from the system"],
    ),
    case(
        "tensorflow = \"2.4\"",
        "gpu = \"GeForce RTX 3090\"\ntoolkit = [\"11.2\", \"11.0\"]\ncudnn = \"8.0.5\"",
        0,
        &["!warning[system-cuda]"],
    ),
    case("tensorflow = \"2.6\"", "gpu = \"A100\"\ntoolkit = \"11.4\"\ncudnn = \"8.2\"", 0, &["!warning[system-cuda]"]),
    case(
        "tensorflow = \"2.12\"",
        "gpu = \"A100\"\ntoolkit = \"11.2\"\ncudnn = \"8.9\"",
        0,
        &["was built with CUDA 11.8 and would load the libraries of CUDA 11.2"],
    ),
    case(
        "tensorflow = \"2.12\"",
        "gpu = \"A100\"\ntoolkit = [\"11.2\", \"12.4\"]\ncudnn = \"8.9\"",
        0,
        &["would load the libraries of CUDA 11.2"],
    ),
    case(
        "tensorflow = \"2.4\"",
        "gpu = \"GeForce RTX 3090\"",
        0,
        &["loads CUDA 11.0 and cuDNN 8.0 or a later one of that major from the system", "set `toolkit` and `cudnn`"],
    ),
    case(
        "tensorflow = \"2.4\"",
        "gpu = \"GeForce RTX 3090\"\ntoolkit = \"11.0\"",
        0,
        &["loads cuDNN 8.0 or", "set `cudnn`"],
    ),
    case(
        "tensorflow = \"2.12\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"",
        0,
        &["!warning[system-cuda]", "-cudnn8-runtime-"],
    ),
    case("tensorflow = \"2.12\"", "gpu = \"none\"", 0, &["!warning[system-cuda]"]),
    case("tensorflow = \"2.16\"", "gpu = \"A100\"\ntoolkit = \"10.0\"", 0, &["!warning[system-cuda]"]),
    // CuPy and onnxruntime-gpu ask pip for none of CUDA's libraries, their extras aside.
    case("cupy-cuda12x = \"*\"", "gpu = \"A100\"", 0, &["loads CUDA 12 from the system and brings none"]),
    case("cupy-cuda12x = \"*\"", "gpu = \"A100\"\ntoolkit = \"12.4\"", 0, &["!warning[system-cuda]"]),
    // A chosen image holds the cuDNN that a package loads.
    case(
        "onnxruntime-gpu = \"1.20\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"",
        0,
        &["-cudnn-runtime-", "!warning[cudnn-missing]"],
    ),
    case(
        "onnxruntime-gpu = \"1.16\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"",
        0,
        &["-cudnn8-runtime-", "!warning[cudnn-missing]"],
    ),
    // No driver of Windows is proposed with which NVIDIA does not support WSL2.
    case("torch = \"1.10\"", "gpu = \"RTX 3070\"\nplatform = \"wsl2\"", 0, &["driver     >=495", "!warning[wsl2]"]),
    case("cupy-cuda12x = \"*\"\ntorch = \"2.9\"", "gpu = \"A100\"", 0, &["!warning[system-cuda]"]),
    case("cupy-cuda12x = \"*\"", "gpu = \"A100\"\nimage = \"nvidia/cuda\"", 0, &["!warning[system-cuda]"]),
    // What comes as source only is compiled by an nvcc of torch's CUDA. Sources: github.com/bowang-lab/U-Mamba/issues/76 (no
    // nvcc in a runtime image), github.com/deepspeedai/DeepSpeed/issues/3223 (CUDA 12.1 beside torch for 11.8).
    case(
        "torch = \"2.7.0\"\nmamba-ssm = \"*\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"",
        0,
        &["-devel-", "!holds no nvcc"],
    ),
    case(
        "torch = \"2.7.0+cu126\"\nmamba-ssm = \"*\"",
        "gpu = \"A100\"\nimage = \"pytorch/pytorch:2.7.0-cuda12.6-cudnn9-runtime\"",
        0,
        &["pytorch/pytorch:2.7.0-cuda12.6-cudnn9-runtime holds no nvcc (a devel image does)"],
    ),
    case(
        "torch = \"2.7.0\"\nmamba-ssm = \"*\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"\n[build]",
        0,
        &["runtime-image"],
    ),
    case(
        "torch = \"2.0.1+cu118\"\ndeepspeed = \"*\"",
        "gpu = \"RTX 3090\"\ntoolkit = \"12.1\"",
        0,
        &["while the target has CUDA 12.1 only, with which it is not compiled"],
    ),
    case(
        "torch = \"2.0.1+cu118\"\ndeepspeed = \"*\"",
        "gpu = \"RTX 3090\"\ntoolkit = [\"12.1\", \"11.8\"]",
        0,
        &["!while the target"],
    ),
    // Transformer Engine 2 is compiled with CUDA 12.1 or newer, whatever torch was built with.
    case(
        "torch = \"2.5.1\"\ntransformer-engine = \"2\"",
        "gpu = \"RTX 4090\"\ntoolkit = \"12.0\"\n[build]",
        1,
        &["12.1"],
    ),
    // nvcc is made for glibc. Source: github.com/NVIDIA/nvidia-docker/issues/509.
    case(
        "cuda = \"12\"",
        "gpu = \"RTX 3060\"\nos = \"alpine3.19\"\n[build]",
        1,
        &["nvcc is published for glibc", "musl"],
    ),
    // Who installs another driver needs no package beside it.
    case(
        "torch = \"1.2.0\"",
        "gpu = \"Tesla K40c\"\ndriver = \"340.29\"",
        1,
        &["upgrade the driver from 340.29 to 396.37 or newer", "!cuda-compat"],
    ),
    // An image that is named holds the nvcc that does not know the GPU.
    case(
        "torch = \"*\"",
        "gpu = \"RTX 5070\"\nimage = \"nvidia/cuda:12.2.2-devel-ubuntu22.04\"\n[build]",
        1,
        &["nvcc of CUDA 12.2 does not know sm_120; CUDA 12.8 is the first that does"],
    ),
];

#[test]
fn what_is_taken_from_the_system_is_told() {
    hold("system", CASES);
}

#[test]
fn a_system_cuda_stays_on_the_library_path() {
    let spec = "[stack]\ntensorflow = \"2.4\"\n[target.t]\ngpu = \"A100\"\ntoolkit = \"11.0\"\ncudnn = \"8.0.5\"\n";
    let sandbox = Sandbox::new("system-path", spec);
    assert_eq!(sandbox.with(&["lock"], &[]).code, 0);
    let exported = sandbox.with(&["export", "env"], &[]);
    assert_eq!(exported.code, 0, "{}", exported.err);
    assert!(!exported.out.contains("LD_LIBRARY_PATH=$"), "{}", exported.out);
}
