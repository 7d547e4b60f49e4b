//! Each answer rests on what really stops a spec or lets it pass, and says that and nothing else.

use crate::common::cases::{Case, case, hold};
use crate::common::sandbox::Sandbox;

const NGC: &str = "gpu = \"A100\"\nimage = \"nvcr.io/nvidia/pytorch:24.05-py3\"";

const CASES: &[Case] = &[
    // For which CUDA a release was published is told by its publisher, where nobody has read the whole index.
    case("torch = \"2.8.0+cu118\"", "gpu = \"A100\"", 1, &["torch 2.8 has no builds for CUDA before 12.6"]),
    case("torch = \"2.12.0+cu129\"", "gpu = \"A100\"", 3, &["whether torch 2.12.0+cu129 was published"]),
    // A build that was published and that nobody has read is no conflict.
    case("torch = \"2.8.0+cu128_full\"", "gpu = \"A100\"", 3, &["what torch 2.8.0+cu128_full holds"]),
    case(
        "torch = \"2.0.1+cu117.with.pypi.cudnn\"",
        "gpu = \"A100\"",
        3,
        &["what torch 2.0.1+cu117.with.pypi.cudnn holds"],
    ),
    // Beside the torch of an image runs what is not compiled against it.
    case("jax = \"0.4.35\"", NGC, 0, &["jax 0.4.35+cu12"]),
    case("tensorflow = \"2.18\"", NGC, 0, &["tensorflow 2.18"]),
    case(
        "jax = \"0.4.35\"",
        "gpu = \"A100\"\nimage = \"nvcr.io/nvidia/pytorch:24.05-py3\"\ndriver = \"460.32.03\"",
        1,
        &["CUDA 12 runs on driver 525.60.13 or newer", "!no build of jax"],
    ),
    case("torch = \"2.1.2\"\ntorchvision = \"0.20.1\"", NGC, 1, &["torchvision 0.20.1 requires torch 2.5.1"]),
    // Which of several libraries is loaded decides what C library is needed.
    case("torch = \"2.6.0+cu124\"\nbitsandbytes = \"0.45.5\"", "gpu = \"A100\"\nos = \"debian11\"", 0, &[]),
    case(
        "torch = \"2.6.0+cu126\"\nbitsandbytes = \"0.45.5\"",
        "gpu = \"A100\"\nos = \"debian11\"",
        1,
        &["loads a library that needs glibc 2.34"],
    ),
    // What an extra asks for in another extra of the same package binds too, and what a release pins in one binds what is named.
    case(
        "sglang = \"0.4.6.post5\"\nvllm = \"0.8.5\"",
        "gpu = \"H100\"",
        1,
        &["sglang 0.4.6.post5 requires xgrammar ==0.1.19", "vllm 0.8.5.post1 requires xgrammar ==0.1.18"],
    ),
    // The kernels for Blackwell lie beside the release for CUDA 12.8. Source: github.com/ovg-project/kvcached/issues/111.
    case("sglang = \"0.4.9\"", "gpu = \"B200\"", 0, &["torch 2.7.1+cu128", "lock: sgl_kernel-0.2.7+cu128"]),
    // The toolkits that the driver runs are the ones whose compilers matter. Source: github.com/NVIDIA/cudf/issues/355.
    case(
        "",
        "gpu = \"GTX 1080 Ti\"\ndriver = \"390.87\"\ntoolkit = \"9.2\"\nos = \"ubuntu18.04\"\ngcc = \"7.3\"\n[build]",
        1,
        &["nvcc of CUDA 9.1 accepts gcc up to 6"],
    ),
    // What is not known of an image that stays says nothing of another driver. Source:
    // github.com/isarsoft/yolov4-triton-tensorrt/issues/5.
    case(
        "torch = \"1.7.1+cu110\"",
        "gpu = \"GTX 1080 Ti\"\ndriver = \"418.39\"\nimage = \"nvidia/cuda:11.0.3-base-ubuntu18.04\"",
        1,
        &["upgrade the driver from 418.39 to 450"],
    ),
    case("sglang = \"0.4.7\"\ntorchao = \"*\"", "gpu = \"H100\"", 0, &["torchao 0.9.0"]),
    case("sglang = \"0.4.10\"\nflashinfer-python = \"0.2.9\"", "gpu = \"H100\"", 1, &["flashinfer-python ==0.2.9rc2"]),
    case("vllm = \"0.10.2\"\nflashinfer-python = \"*\"", "gpu = \"B200\"", 0, &["flashinfer-python 0.3.0"]),
    case(
        "vllm = \"0.11.0\"\nflashinfer-python = \"0.7.2\"",
        "gpu = \"B200\"",
        1,
        &["vllm 0.11.0 requires flashinfer-python ==0.3.1 beside it"],
    ),
    // What is pinned is imported too: its rules about drivers hold. Source: github.com/sgl-project/sglang/pull/9021.
    case(
        "sglang = \"0.4.10.post2\"",
        "gpu = \"RTX 4090\"\ndriver = \"535\"",
        1,
        &["sglang 0.4.10.post2 requires sgl-kernel ==0.2.8", "undefined symbol: cuGreenCtxDestroy", "550.40.07"],
    ),
    case("sglang = \"0.4.9.post2\"", "gpu = \"RTX 4090\"\ndriver = \"535\"", 0, &[]),
    case("sglang = \"0.4.10.post2\"", "gpu = \"RTX 4090\"", 0, &["550.40.07", "lock: sgl-kernel-driver"]),
    case("sglang = \"0.4.10.post2\"", "gpu = \"H20\"\ndriver = \"535.161.08\"", 0, &["install cuda-compat-12"]),
    // A wheel that nobody has read does not go before one that is known to hold code for the GPU, nor without a word where
    // the one that was read holds none. Compilers that do not know the GPU tell nothing.
    case("xformers = \"*\"", "gpu = \"V100\"", 0, &["xformers 0.0.30 ", "!operators-missing"]),
    case("xformers = \"0.0.30\"", "gpu = \"GTX 1080 Ti\"", 0, &["xformers 0.0.30", "!operators-missing"]),
    case(
        "xformers = \"0.0.31.post1\"",
        "gpu = \"V100\"",
        0,
        &[
            "wheel of xformers 0.0.31.post1 for cu126 was not read, and the one on the package index holds code for sm_75, sm_80",
            "what runs on V100 may fail",
            "!unknown-gpu-code",
        ],
    ),
    case("vllm = \"0.29.0\"\ntorch = \"*+cu129\"", "gpu = \"GB200\"", 0, &["!operators-missing"]),
    // Host compilers of what comes as source are those of [build]. Source: github.com/deepspeedai/DeepSpeed/issues/7143.
    case(
        "deepspeed = \"0.16.4\"\ntorch = \"2.6.0\"",
        "gpu = \"A100\"\nos = \"rocky8\"\ntoolkit = \"12.4\"",
        0,
        &[
            "warning[source-compiler]",
            "has gcc 8.5.0. Extensions of torch 2.2.2 to 2.11",
            "Install gcc 9 to 13 beside it",
        ],
    ),
    case(
        "deepspeed = \"0.16.4\"\ntorch = \"2.6.0\"",
        "gpu = \"A100\"\nos = \"rocky8\"\ngcc = \"11\"\ntoolkit = \"12.4\"",
        0,
        &["!source-compiler"],
    ),
    case(
        "mamba-ssm = \"2.2.4\"\ntorch = \"2.5.1+cu121\"",
        "gpu = \"A100\"\nos = \"ubuntu24.04\"\ntoolkit = \"12.1\"",
        0,
        &["Ubuntu 24.04 LTS has gcc 13.3.0. nvcc of CUDA 12.1 accepts gcc up to 12. Install gcc 9 to 12"],
    ),
    case(
        "mamba-ssm = \"2.2.4\"\ntorch = \"2.5.1+cu121\"",
        "gpu = \"A100\"\nos = \"ubuntu24.04\"",
        0,
        &["source-only", "!source-compiler"],
    ),
    // What is pinned and comes as source is built beside torch. Source: github.com/flashinfer-ai/flashinfer/issues/1408.
    case(
        "sglang = \"0.4.9.post1\"",
        "gpu = \"H100\"",
        0,
        &[
            "flashinfer-python 0.2.7.post1, which sglang 0.4.9.post1 pins, comes as source only",
            "lock: unisolated = \"flashinfer-python==0.2.7.post1\"",
        ],
    ),
    case("sglang = \"0.4.6.post5\"", "gpu = \"H100\"", 0, &["!source-only", "!lock: unisolated"]),
    case("sglang = \"0.4.10\"", "gpu = \"H100\"", 0, &["!source-only", "!lock: unisolated"]),
    case("vllm = \"0.11.0\"", "gpu = \"B200\"", 0, &["!flashinfer"]),
    case(
        "tensorrt-llm = \"0.20.0\"",
        "gpu = \"H100\"",
        1,
        &["requires xgrammar==0.1.16, which is no longer published"],
    ),
    // Where no nvcc is known FlashInfer takes the CUDA of torch, and refuses it for these GPUs.
    case(
        "sglang = \"0.5.10\"",
        "gpu = \"RTX 5090\"\ndriver = \"570\"",
        0,
        &[
            "CUDA 12 toolkit >=12.9, while torch 2.9.1+cu128 is built for CUDA 12.8, with which it is not compiled; install one and add it to `toolkit`",
        ],
    ),
    // What is compiled before it starts needs nvcc on every GPU. Source: github.com/smg-project/smg/pull/513.
    case(
        "sglang = \"0.5.9\"",
        "gpu = \"H100\"\ndriver = \"570\"",
        0,
        &["sglang 0.5.9 compiles kernels that it starts with when they are first used, with a CUDA 12 toolkit"],
    ),
    case("sglang = \"0.5.9\"", "gpu = \"H100\"\ndriver = \"570\"\ntoolkit = \"12.9\"", 0, &["!source-only"]),
    case("sglang = \"0.5.9\"", "gpu = \"H100\"\nimage = \"nvidia/cuda\"", 0, &["-devel-", "!source-only"]),
    case("sglang = \"0.5.8.post1\"", "gpu = \"H100\"\ndriver = \"570\"", 0, &["!source-only"]),
    // FlashInfer compiles for the very capability of the GPU. Source: its compilation_context.py.
    // https://github.com/flashinfer-ai/flashinfer/pull/3633: 12.9 compiled it beside a torch of CUDA 13, and 12.8 did not for 12.0.
    case(
        "flashinfer-python = \"0.6.18\"\ntorch = \"2.13.0+cu132\"",
        "gpu = \"RTX PRO 6000 Blackwell Server Edition\"\ntoolkit = [\"12.9\"]",
        0,
        &["CUDA 12.9 only, of another major, with which it may or may not compile", "!with which it is not compiled"],
    ),
    case(
        "flashinfer-python = \"0.6.18\"\ntorch = \"2.13.0+cu132\"",
        "gpu = \"RTX PRO 6000 Blackwell Server Edition\"\ntoolkit = [\"12.8\"]",
        1,
        &["and stops with an older toolkit"],
    ),
    case(
        "flashinfer-python = \"0.5.0\"\ntorch = \"2.9.0+cu129\"",
        "gpu = \"GB300\"\ntoolkit = \"12.8\"",
        1,
        &["for compute capability 10.3 that takes"],
    ),
    case(
        "flashinfer-python = \"0.5.0\"\ntorch = \"2.9.0+cu129\"",
        "gpu = \"GB300\"\ntoolkit = \"12.9\"",
        0,
        &["!source-only"],
    ),
    case(
        "flashinfer-python = \"0.5.0\"\ntorch = \"2.9.0+cu128\"",
        "gpu = \"B200\"\ntoolkit = \"12.8\"",
        0,
        &["!source-only"],
    ),
    // A release that was withdrawn stands for no range.
    case("jax = \">=0.4.30,<0.4.33\"", "gpu = \"A100\"", 0, &["jax 0.4.31+cu12", "!yanked"]),
    case("jax = \"0.4.32\"", "gpu = \"A100\"", 0, &["warning[yanked]: jax 0.4.32+cu12 was withdrawn"]),
    case("torchvision = \"0.15.0\"", "gpu = \"A100\"", 0, &["warning[yanked]: torchvision 0.15.0 was withdrawn"]),
    case(
        "jax = \">0.4.31,<0.4.33\"",
        "gpu = \"A100\"",
        1,
        &["jax 0.4.32 was withdrawn (yanked): it must be named alone"],
    ),
    // What comes before a release is made for its Pythons.
    case(
        "torch = { version = \"2.8.0a0+git1234\", cuda = \"12.8\", arch-list = \"8.6\" }",
        "gpu = \"RTX 3090\"",
        0,
        &["python 3.13", "warning[own-build-python]"],
    ),
    case(
        "torch = { version = \"2.8.0\", cuda = \"12.6\", url = \"https://x.example/torch-2.8.0+cu126-cp312-cp312-linux_aarch64.whl\" }",
        "gpu = \"RTX 3090\"",
        1,
        &["is for aarch64 by the name of its file, not for x86_64"],
    ),
    // A board is listed from some release of a branch on.
    case("torch = \"2.7.1\"", "gpu = \"RTX 5050\"\ndriver = \"570.86.15\"", 0, &["warning[gpu-not-listed]", "570.181"]),
    case("torch = \"2.7.1\"", "gpu = \"L40S\"\ndriver = \"535.54.03\"", 0, &["warning[gpu-not-listed]"]),
    case("torch = \"2.7.1\"", "gpu = \"L40S\"\ndriver = \"535.104.05\"", 0, &["!gpu-not-listed"]),
    // Of a branch the hosts may have the oldest release, as the minimum says.
    case(
        "torch = \"2.7.1\"",
        "gpu = \"L40S\"\ndriver = \"535\"",
        0,
        &["warning[gpu-not-listed]", "an older release of branch R535 may not recognise it"],
    ),
    case("torch = \"2.7.1\"", "gpu = \"L40S\"\ndriver = \">=535.104.05\"", 0, &["!gpu-not-listed"]),
    // Where none is written, the minimum that the lock states.
    case(
        "torch = \"2.1\"",
        "gpu = \"L4\"",
        0,
        &["driver       >=525.60.13", "is first listed in driver 525.", "525.60.13 may not recognise it"],
    ),
    case("torch = \"2.9.1+cu130\"", "gpu = \"L4\"", 0, &["!gpu-not-listed"]),
    // Jetsons.
    case("torch = \"*\"", "gpu = \"Jetson Orin Nano\"", 0, &["warning[system-unsaid]", "is a Jetson without `os`"]),
    case(
        "xformers = \"0.0.28\"\ntorch = \"2.11\"",
        "gpu = \"AGX Orin\"\nos = \"jetpack6.2\"",
        3,
        &["whether xformers 0.0.28 was built for jetpack6.2", "!whether torch 2.11.0"],
    ),
    case(
        "sglang = \"*\"",
        "gpu = \"AGX Orin\"\nos = \"jetpack6.2\"\n[target.u]\ngpu = \"GB10\"\ndriver = \"450.80.02\"",
        1,
        &["runs on no other system", "!no wheel of sglang"],
    ),
    // A processor that comes with a board.
    case("vllm = \"0.5.0\"", "gpu = \"GH200\"", 1, &["compute capability 9.0, processor aarch64"]),
    case("bitsandbytes = \"0.41.0\"", "gpu = \"GH200\"", 1, &["!torch *"]),
    // What no machine can have is not told of the processor of one.
    case(
        "torch = \"1.13.1\"\npython = \"3.12\"",
        "gpu = \"GH200\"",
        1,
        &["torch 1.13.1 (cpu, cu116, cu117) has wheels for Python 3.7 to 3.11 only"],
    ),
    // An architecture with `a` is for itself.
    case(
        "torch = \"2.9\"",
        "gpu = \"B300\"\n[build]\narch-list = \"10.0a\"",
        1,
        &["runs on GPUs of that very capability only", "!equal or greater minor"],
    ),
    // Where the numbers would do, what keeps the code of others from integrated GPUs, and theirs from others.
    case(
        "torch = \"2.9.1+cu126\"",
        "gpu = \"AGX Orin\"\nos = \"jetpack7.2\"",
        1,
        &["of 8.7 does not load machine code for 8.0 unless CUDA 13.2 or newer compiled it"],
    ),
    case(
        "torch = \"2.9\"",
        "gpu = \"RTX 4090\"\n[build]\narch-list = \"8.7\"",
        1,
        &["machine code for 8.7, an integrated GPU (Jetson), runs on no other"],
    ),
    case(
        "torch = \"2.9\"",
        "gpu = \"AGX Orin\"\n[build]\narch-list = \"9.0\"",
        1,
        &["compute capability 8.7", "!does not load machine code for"],
    ),
    // As little of a driver as suffices.
    case(
        "torch = \"*\"",
        "gpu = \"RTX 5070 Ti\"\ndriver = \"551.23\"\nplatform = \"wsl2\"\nos = \"ubuntu22.04\"",
        1,
        &["upgrade the driver from 551.23 to 57"],
    ),
    case(
        "torch = \"*\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"\ndriver = \"525\"\n\
         image-requires = \"cuda>=12.8 brand=tesla,driver>=535\"",
        1,
        &["upgrade the driver from 525 to 535"],
    ),
    // Both sides of one library that two ask for otherwise, and nothing of those on which they agree: the first of several,
    // NCCL and not cuDNN, NumPy and not CUDA.
    case(
        "torch = \"2.5.1+cu124\"\nfaiss-gpu = \"1.14.3\"",
        "gpu = \"A100\"",
        1,
        &[
            "faiss-gpu 1.14.3 requires nvidia-cublas-cu12 >=12.6,<13",
            "torch 2.5.1+cu124 requires nvidia-cublas-cu12 ==12.4.5.8",
            "!nvidia-curand",
            "!loads the libraries of CUDA 12",
        ],
    ),
    case(
        "tensorflow = \"2.15.0\"\njax = \"0.4.28\"",
        "gpu = \"A100\"",
        1,
        &["exactly CUDA 12.2 and NCCL 2.16.5", "made for CUDA 12 and NCCL 2.18.1 or newer", "!was published"],
    ),
    case(
        "tensorflow = \"2.15.0\"\ntorch = \"2.9.0\"",
        "gpu = \"A100\"",
        1,
        &["exactly CUDA 12.2 and cuDNN 8.9.4.25", "!NCCL"],
    ),
    case(
        "torch = \"2.1.2\"\njax = \"0.8.0\"",
        "gpu = \"A100\"",
        1,
        &["torch 2.1.2 requires numpy <2", "jax 0.8.0 requires numpy >=2.0", "!published"],
    ),
    // Who has set aside that frameworks share their libraries gets one of those that either accepts.
    case(
        "tensorflow = \"2.15.0\"\njax = \"0.4.28\"\n[[override]]\nrule = \"framework-libraries\"\nreason = \"-\"",
        "gpu = \"A100\"",
        0,
        &["tensorflow   2.15.0.post1+cu122"],
    ),
];

#[test]
fn an_answer_rests_on_what_is_so() {
    hold("grounds", CASES);
}

/// A toolkit that `[build]` has chosen is held to what a required package compiles with, too.
#[test]
fn a_chosen_toolkit_may_not_compile_what_is_required() {
    let spec = "[stack]\nsglang = \"0.5.10\"\ncuda = \"12.8\"\n[build]\n[target.t]\ngpu = \"RTX 5090\"\n";
    let ran = Sandbox::new("chosen-toolkit", spec).run(&["lock"]);
    assert!(ran.err.contains("source-only"), "{}", ran.err);
}
