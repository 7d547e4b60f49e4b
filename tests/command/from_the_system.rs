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
        &["!warning[system-cuda]", "-cudnn8-devel-"],
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
    // It is chosen before a newer CUDA: no image of CUDA 12.3 or later holds cuDNN 8. Source:
    // github.com/SYSTRAN/faster-whisper/issues/729.
    case(
        "ctranslate2 = \"4.0.0\"",
        "gpu = \"RTX 3090\"\nimage = \"nvidia/cuda\"",
        0,
        &["12.2.2-cudnn8-runtime-ubuntu22.04", "!warning[cudnn-missing]"],
    ),
    case(
        "ctranslate2 = \"4.0.0\"",
        "gpu = \"RTX 3090\"\nimage = \"nvidia/cuda:11.8.0-base-ubuntu22.04\"",
        1,
        &["to nvidia/cuda:12.2.2-cudnn8-runtime-ubuntu22.04; resolves"],
    ),
    // What is compiled where it runs is put where nvcc is. Source: github.com/xorbitsai/inference/issues/3214 (SGLang in an
    // image without it).
    case(
        "vllm = \"0.15.1\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"",
        0,
        &["12.8.1-devel-ubuntu24.04", "!source-only"],
    ),
    case("sglang = \"0.5.2\"", "gpu = \"A100\"\nimage = \"nvidia/cuda\"", 0, &["12.8.1-devel-ubuntu24.04"]),
    case("vllm = \"0.6.0\"", "gpu = \"A100\"\nimage = \"nvidia/cuda\"", 0, &["-base-ubuntu"]),
    case(
        "sglang = \"0.5.2\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda:12.8.1-runtime-ubuntu22.04\"",
        0,
        &["flashinfer-python 0.3.1, which sglang 0.5.2 requires, compiles its kernels", "holds no nvcc"],
    ),
    // torch before 2.2 holds its cuDNN, where ctranslate2 has the loader not look. Source:
    // github.com/MahmoudAshraf97/whisper-diarization/issues/255.
    case(
        "torch = \"2.1.2+cu121\"\nctranslate2 = \"4.4.0\"",
        "gpu = \"RTX 3090\"",
        0,
        &["warning[library-missing]", "libcudnn_ops_infer.so.8", "the folder torch/lib"],
    ),
    // No driver of Windows is proposed with which NVIDIA does not support WSL2.
    case("torch = \"1.10\"", "gpu = \"RTX 3070\"\nplatform = \"wsl2\"", 0, &["driver     >=495", "!warning[wsl2]"]),
    case("cupy-cuda12x = \"*\"\ntorch = \"2.9\"", "gpu = \"A100\"", 0, &["!warning[system-cuda]"]),
    case("cupy-cuda12x = \"*\"", "gpu = \"A100\"\nimage = \"nvidia/cuda\"", 0, &["!warning[system-cuda]"]),
    // What comes as source only is compiled by an nvcc of torch's CUDA. Sources: github.com/bowang-lab/U-Mamba/issues/76 (no
    // nvcc in a runtime image), github.com/deepspeedai/DeepSpeed/issues/3223 (CUDA 12.1 beside torch for 11.8).
    case(
        "torch = \"2.7.0\"\nmamba-ssm = \"2.2.6.post3\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"",
        0,
        &["-devel-", "!holds no nvcc"],
    ),
    // A finished wheel needs none.
    case(
        "torch = \"2.7.0\"\nmamba-ssm = \"2.3.1\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"",
        0,
        &["-base-", "!source-only"],
    ),
    case(
        "torch = \"2.7.0+cu126\"\nmamba-ssm = \"2.2.6.post3\"",
        "gpu = \"A100\"\nimage = \"pytorch/pytorch:2.7.0-cuda12.6-cudnn9-runtime\"",
        0,
        &["pytorch/pytorch:2.7.0-cuda12.6-cudnn9-runtime holds no nvcc (a devel image does, and"],
    ),
    case(
        "torch = \"2.7.0\"\nmamba-ssm = \"2.2.6.post3\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"\n[build]",
        0,
        &["runtime-image"],
    ),
    case(
        "torch = \"2.0.1+cu118\"\ndeepspeed = \"*\"",
        "gpu = \"RTX 3090\"\ntoolkit = \"12.1\"",
        1,
        &["`deepspeed = \"*\"` and `toolkit = \"12.1\"` are incompatible"],
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
    // Of the branch that a GPU or a line asks for, the release that suffices is told. Source: docs.nvidia.com/cuda/archive/
    // 11.0/cuda-toolkit-release-notes: 450.36.06 runs CUDA 11.0 alone, and minor-version compatibility begins at 450.80.02.
    case(
        "torch = \"2.4\"",
        "gpu = \"T4\"\ndriver = \"440.33.01\"",
        1,
        &["upgrade the driver from 440.33.01 to 450.80.02 or newer"],
    ),
    // An image that is named holds the nvcc that does not know the GPU.
    case(
        "torch = \"*\"",
        "gpu = \"RTX 5070\"\nimage = \"nvidia/cuda:12.2.2-devel-ubuntu22.04\"\n[build]",
        1,
        &["nvcc of CUDA 12.2 does not know sm_120; CUDA 12.8 is the first that does"],
    ),
    // A cuDNN that is chosen for what no wheel, image or system brings it is what pip installs; the loader finds it only
    // where it is told to. Sources: github.com/linuxserver/docker-faster-whisper/issues/22 and 42,
    // github.com/jim60105/docker-whisperX/issues/67.
    case(
        "ctranslate2 = \"4.5.0\"\ncudnn = \"9\"",
        "gpu = \"T4\"\nos = \"ubuntu22.04\"\ndriver = \"550\"\ntoolkit = \"12.4\"",
        0,
        &["!warning[cudnn-missing]", "libcudnn_cnn.so.9 by name", "folder nvidia/cudnn/lib"],
    ),
    case(
        "onnxruntime-gpu = \"1.22.0\"\ncudnn = \"9\"",
        "gpu = \"T4\"\nos = \"ubuntu22.04\"\ntoolkit = \"12.8\"",
        0,
        &["!warning[cudnn-missing]", "libcudnn.so.9 by name", "folder nvidia/cudnn/lib"],
    ),
    case(
        "onnxruntime-gpu = \"1.22.0\"\ncudnn = \"9\"",
        "gpu = \"T4\"\nos = \"ubuntu22.04\"\ntoolkit = \"12.8\"\ncudnn = \"9.28\"",
        0,
        &["!warning[cudnn-missing]", "!warning[library-missing]"],
    ),
    // From 1.28 on it is no library that it is linked with.
    case(
        "onnxruntime-gpu = \"1.28.0\"\ncudnn = \"9\"",
        "gpu = \"T4\"\ntoolkit = \"13.0\"",
        0,
        &["!warning[library-missing]"],
    ),
    // The core of these names the parts of cuDNN, and loads the first file of pip's alone. Source:
    // github.com/NVIDIA/TransformerEngine/issues/1853.
    case(
        "torch = \"2.7.0+cu128\"\ntransformer-engine = \"2.3.0\"",
        "gpu = \"H100\"\nos = \"ubuntu24.04\"",
        0,
        &["libcudnn_adv.so.9 and libcudnn_ops.so.9 by name", "folder nvidia/cudnn/lib"],
    ),
    case(
        "torch = \"2.7.0+cu128\"\ntransformer-engine = \"2.3.0\"",
        "gpu = \"H100\"\nos = \"ubuntu24.04\"\ncudnn = \"9.8\"",
        0,
        &["!warning[library-missing]"],
    ),
    case(
        "torch = \"2.7.0+cu128\"\ntransformer-engine = \"2.4.0\"",
        "gpu = \"H100\"\nos = \"ubuntu24.04\"",
        0,
        &["!warning[library-missing]"],
    ),
    case("torch = \"2.6.0\"\ntransformer-engine = \"2.1.0\"", "gpu = \"H100\"", 0, &["!warning[library-missing]"]),
    // No wheel of this one was ever made.
    case(
        "ctranslate2 = \"3.24.0\"\ncudnn = \"8.0\"",
        "gpu = \"T4\"\nos = \"ubuntu22.04\"\ntoolkit = \"11.1\"",
        0,
        &["warning[cudnn-missing]"],
    ),
    case(
        "ctranslate2 = \"3.24.0\"\ncudnn = \"8.0\"",
        "gpu = \"T4\"\nos = \"ubuntu22.04\"\ntoolkit = \"11.8\"",
        1,
        &["cuDNN 8.0 was built for CUDA 10.1, 10.2, 11.0 and 11.1 only", "change toolkit from 11.8 to 11.1"],
    ),
    // CTranslate2 looks for cuBLAS on the system. Source: github.com/Softcatala/whisper-ctranslate2/issues/146.
    case(
        "ctranslate2 = \"4.8.5\"",
        "gpu = \"RTX 3060\"\nos = \"fedora43\"\ntoolkit = \"13.1\"",
        1,
        &["ctranslate2 4.8.5 loads the libraries of CUDA 12 from the system", "CUDA 13.1 is installed there"],
    ),
    // An image of flavour base holds no library but the runtime. Sources: github.com/SYSTRAN/faster-whisper/issues/729,
    // github.com/cupy/cupy/issues/9318.
    case(
        "cupy-cuda12x = \"13.6.0\"",
        "gpu = \"T4\"\nimage = \"nvidia/cuda:12.8.1-base-ubuntu22.04\"",
        0,
        &["nvidia/cuda:12.8.1-base-ubuntu22.04 does not hold: take the image of flavour devel"],
    ),
    case(
        "cupy-cuda12x = \"13.6.0\"",
        "gpu = \"T4\"\nimage = \"nvidia/cuda:12.8.1-devel-ubuntu22.04\"",
        0,
        &["!warning[system-cuda]"],
    ),
    case(
        "cupy-cuda11x = \"13.6.0\"",
        "gpu = \"T4\"\nimage = \"nvidia/cuda:11.8.0-base-ubuntu22.04\"",
        0,
        &["nvidia/cuda:11.8.0-base-ubuntu22.04 is of flavour base"],
    ),
    // numba-cuda asks pip for NVVM and NVRTC with an extra only. Source: its METADATA.
    case(
        "numba-cuda = \"0.30\"",
        "gpu = \"T4\"\ndriver = \"580\"",
        0,
        &["numba-cuda 0.30.4 loads CUDA >=12 from the system"],
    ),
    // What a torch of an older CUDA brings does not serve it. Source: github.com/open-mmlab/OpenPCDet/issues/1386.
    case(
        "numba-cuda = \"0.20\"\ntorch = \"1.7.1+cu101\"",
        "gpu = \"RTX 2080 Ti\"\ntoolkit = \"10.1\"",
        0,
        &["numba-cuda 0.20.1 loads the libraries of CUDA >=12 from the system, and `toolkit` names CUDA 10.1 only"],
    ),
    case(
        "numba-cuda = \"0.20\"\ntorch = \"2.7.1+cu118\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda:11.8.0-devel-ubuntu22.04\"",
        0,
        &["and nvidia/cuda:11.8.0-devel-ubuntu22.04 holds CUDA 11.8, which does not serve"],
    ),
    case("numba-cuda = \"0.20\"\ntorch = \"2.7.1+cu128\"", "gpu = \"A100\"", 0, &["!warning[system-cuda]"]),
    // The runtime that a package asks pip for is the CUDA of the lock. Source: METADATA of faiss-gpu 1.14.3.
    case(
        "faiss-gpu = \"1.14.3\"\ncuda = \"12.4\"",
        "gpu = \"T4\"",
        1,
        &["faiss-gpu 1.14.3 requires nvidia-cuda-runtime-cu12 >=12.6,<13", "change cuda from 12.4 to 12.6"],
    ),
    case(
        "faiss-gpu = \"1.14.3\"\ncuda = \"12.6\"",
        "gpu = \"T4\"",
        0,
        &[
            "lock: nvidia-cuda-runtime-cu12\", version = \"12.6.77\"",
            "lock: nvidia-cublas-cu12\", version = \"12.6.4.1\"",
        ],
    ),
    case(
        "faiss-gpu = \"1.14.3\"\ntorch = \"2.5.1+cu124\"",
        "gpu = \"T4\"",
        1,
        &["torch 2.5.1+cu124 requires nvidia-cublas-cu12 ==12.4.5.8"],
    ),
    case("faiss-gpu = \"1.14.3\"\ntorch = \"2.7.1+cu126\"", "gpu = \"T4\"", 0, &["!nvidia-cublas-cu12"]),
    case("cuml-cu12 = \"26.10\"\ncuda = \"12.4\"", "gpu = \"T4\"", 0, &["lock: cuda-toolkit"]),
    // What pip brings is found by CuPy from 14 on. Source: github.com/NVIDIA/cutile-python/issues/57.
    case(
        "cupy-cuda13x = \"13.6.0\"\ntorch = \"2.9.1+cu130\"",
        "gpu = \"RTX 5080\"\ndriver = \"590\"",
        0,
        &["cupy-cuda13x 13.6.0 loads libnvrtc.so.13 by name"],
    ),
    case(
        "cupy-cuda13x = \"14.2\"\ntorch = \"2.9.1+cu130\"",
        "gpu = \"RTX 5080\"\ndriver = \"590\"",
        0,
        &["!warning[library-missing]"],
    ),
    // The cuDNN that torch brings is of another major: that is missing, and not only out of reach.
    case(
        "ctranslate2 = \"4.4.0\"\ntorch = \"2.5.1+cu124\"",
        "gpu = \"T4\"",
        0,
        &["warning[cudnn-missing]", "!warning[library-missing]"],
    ),
    case(
        "ctranslate2 = \"4.5.0\"\ntorch = \"2.5.1+cu124\"",
        "gpu = \"T4\"",
        0,
        &["!warning[cudnn-missing]", "libcudnn_cnn.so.9 by name"],
    ),
    // It looks for CUDA itself, until 0.40.1. Source: its cuda_setup/main.py; bitsandbytes/issues/551.
    case(
        "torch = \"2.0.1\"\nbitsandbytes = \"0.39.1\"",
        "gpu = \"A100\"\ntoolkit = \"12.2\"",
        1,
        &["bitsandbytes 0.39.1 holds libraries for CUDA 11.0 to 12.1", "change toolkit from 12.2 to 12.1"],
    ),
    case(
        "torch = \"2.0.1\"\nbitsandbytes = \"0.39.1\"",
        "gpu = \"A100\"\ntoolkit = [\"12.2\", \"11.8\"]",
        0,
        &["!warning[system-cuda]"],
    ),
    case(
        "torch = \"2.0.1\"\nbitsandbytes = \"0.39.1\"",
        "gpu = \"A100\"",
        0,
        &["needs CUDA >=11.0,<12.2 there", "set `toolkit`"],
    ),
    case(
        "torch = \"2.0.1\"\nbitsandbytes = \"0.39.1\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"",
        0,
        &["11.7.1-devel-", "!warning[system-cuda]"],
    ),
    case(
        "torch = \"2.0.1\"\nbitsandbytes = \"0.39.1\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda:11.7.1-base-ubuntu22.04\"",
        0,
        &["holds none that it recognizes"],
    ),
    case("torch = \"2.0.1\"\nbitsandbytes = \"0.40.1\"", "gpu = \"A100\"", 0, &["!warning[system-cuda]"]),
    // cuSPARSE inside libtorch serves nobody else. Source: bitsandbytes/issues/1483.
    case(
        "torch = \"2.1.2+cu118\"\nbitsandbytes = \"0.41.3\"",
        "gpu = \"T4\"",
        0,
        &["loads libcusparse.so of CUDA 11, which torch 2.1.2+cu118 has inside"],
    ),
    case(
        "torch = \"2.1.2+cu118\"\nbitsandbytes = \"0.41.3\"",
        "gpu = \"T4\"\ntoolkit = \"12.2\"",
        0,
        &["warning[library-missing]"],
    ),
    case(
        "torch = \"2.1.2+cu118\"\nbitsandbytes = \"0.41.3\"",
        "gpu = \"T4\"\ntoolkit = \"11.8\"",
        0,
        &["!warning[library-missing]"],
    ),
    case("torch = \"2.2.0+cu118\"\nbitsandbytes = \"0.42.0\"", "gpu = \"T4\"", 0, &["!warning[library-missing]"]),
    // So are cuFFT and cuRAND. Source: Deep-Live-Cam/issues/294. Of its CUDA torch 1.13.1 has pip install a part.
    case(
        "torch = \"2.0.1+cu118\"\nonnxruntime-gpu = \"1.16.3\"",
        "gpu = \"RTX 4000 Ada Generation\"",
        0,
        &["loads libcufft.so and libcurand.so of CUDA 11, which torch 2.0.1+cu118 has inside"],
    ),
    case(
        "torch = \"1.13.1\"\nonnxruntime-gpu = \"1.15.1\"",
        "gpu = \"A10\"",
        0,
        &["loads libcufft.so and libcurand.so of CUDA 11, which torch 1.13.1+cu117 has inside"],
    ),
    case(
        "torch = \"2.0.1+cu118\"\nonnxruntime-gpu = \"1.16.3\"",
        "gpu = \"A10\"\ntoolkit = \"11.8\"",
        0,
        &["!loads libcufft.so"],
    ),
    case("torch = \"2.0.1\"\nonnxruntime-gpu = \"1.16.0\"", "gpu = \"A10\"", 0, &["!loads libcufft.so"]),
    // Of 0.40.1 the library for these was left out of the wheel.
    case("torch = \"2.1.2+cu118\"\nbitsandbytes = \"0.40.1\"", "gpu = \"V100\"", 1, &["0.40.2 has it"]),
    case("torch = \"2.1.2+cu121\"\nbitsandbytes = \"0.40.1\"", "gpu = \"V100\"", 0, &[]),
    // Source: github.com/bitsandbytes-foundation/bitsandbytes/issues/1905.
    case(
        "torch = \"2.11.0+cu130\"\nbitsandbytes = \"0.49.2\"",
        "gpu = \"T4\"\ndriver = \"580\"",
        0,
        &["bitsandbytes 0.49.2 loads libnvJitLink.so.13 by name"],
    ),
    case(
        "torch = \"2.11.0+cu126\"\nbitsandbytes = \"0.49.2\"",
        "gpu = \"T4\"\ndriver = \"580\"",
        0,
        &["!warning[library-missing]"],
    ),
    // FlashInfer compiles with nvcc of the CUDA that torch is for. Source: github.com/vllm-project/vllm/issues/50705.
    case(
        "vllm = \"0.25.1\"",
        "gpu = \"RTX PRO 6000 Blackwell Workstation Edition\"\nimage = \"nvidia/cuda:12.8.1-devel-ubuntu22.04\"",
        0,
        &["the nvcc in nvidia/cuda:12.8.1-devel-ubuntu22.04 is of CUDA 12.8.1"],
    ),
    case(
        "vllm = \"0.25.1\"",
        "gpu = \"RTX PRO 6000 Blackwell Workstation Edition\"\nos = \"ubuntu24.04\"\ntoolkit = \"12.8\"",
        0,
        &["a CUDA 13 toolkit, while the target has CUDA 12.8 only", "install one and add it to `toolkit`"],
    ),
    case(
        "vllm = \"0.25.1\"",
        "gpu = \"RTX PRO 6000 Blackwell Workstation Edition\"\nos = \"ubuntu24.04\"\ntoolkit = \"13.0\"",
        0,
        &["!warning[source-only]"],
    ),
    // Whoever names one of the systems that are one to the catalog means its images. Source:
    // github.com/NVIDIA/gpu-operator/issues/1703.
    case(
        "torch = \"2.14.0+cu130\"",
        "gpu = \"H100\"\nimage = \"nvidia/cuda\"\nos = \"ubi9\"",
        0,
        &["nvidia/cuda:13.0.2-base-ubi9"],
    ),
    case(
        "torch = \"2.14.0+cu130\"",
        "gpu = \"H100\"\nimage = \"nvidia/cuda\"\nos = \"rocky9\"",
        0,
        &["nvidia/cuda:13.0.2-base-rockylinux9"],
    ),
    // A written gcc is not the system's own.
    case(
        "cuda = \"11.8\"",
        "gpu = \"RTX 3090\"\nos = \"debian12\"\ngcc = \"14.2\"\ntoolkit = \"11.8\"\n[build]",
        1,
        &["!Debian 12 has gcc 14.2", "gcc 14.2"],
    ),
];

#[test]
fn what_is_taken_from_the_system_is_told() {
    hold("system", CASES);
}

/// What is chosen under `[stack]` is what exports install, unless the system has it or no wheel of it is known.
#[test]
fn a_library_that_nothing_else_brings_is_installed() {
    let cases = [
        ("ctranslate2 = \"4.5.0\"\ncudnn = \"9.10\"", "", "nvidia-cudnn-cu12==9.10.", true),
        ("onnxruntime-gpu = \"1.22.0\"\ncudnn = \"9.10\"", "toolkit = \"12.8\"", "nvidia-cudnn-cu12==9.10.", true),
        ("onnxruntime-gpu = \"1.22.0\"\ncudnn = \"9.10\"", "cudnn = \"9.10.2\"", "nvidia-cudnn", false),
        ("ctranslate2 = \"3.24.0\"\ncudnn = \"8.0\"", "", "nvidia-cudnn", false),
        ("cupy-cuda12x = \"14\"\nnccl = \"2.27\"", "", "nvidia-nccl-cu12==2.27.", true),
    ];
    for (at, (stack, target, line, is_there)) in cases.into_iter().enumerate() {
        let spec = format!("[stack]\n{stack}\n[target.t]\ngpu = \"T4\"\nos = \"ubuntu22.04\"\n{target}\n");
        let sandbox = Sandbox::new(&format!("by-pip-{at}"), &spec);
        assert_eq!(sandbox.with(&["lock"], &[]).code, 0, "{spec}");
        let exported = sandbox.with(&["export", "requirements"], &[]);
        assert_eq!(exported.out.contains(line), is_there, "{spec}\n{}{}", exported.out, exported.err);
    }
}

#[test]
fn a_system_cuda_is_on_the_library_path() {
    let spec = "[stack]\ntensorflow = \"2.4\"\n[target.t]\ngpu = \"A100\"\ntoolkit = \"11.0\"\ncudnn = \"8.0.5\"\n";
    let sandbox = Sandbox::new("system-path", spec);
    assert_eq!(sandbox.with(&["lock"], &[]).code, 0);
    let exported = sandbox.with(&["export", "env"], &[]);
    assert_eq!(exported.code, 0, "{}", exported.err);
    for line in ["/usr/local/cuda-11.0}", "LD_LIBRARY_PATH=\"$CUDA_HOME/lib64\""] {
        assert!(exported.out.contains(line), "{}", exported.out);
    }
}
