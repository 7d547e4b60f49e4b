//! More specs beside which another lies that is answered otherwise: at the ends of what is known, and of several at once.

use crate::common::cases::{Case, case, hold};

const CASES: &[Case] = &[
    // Versions side by side are meant as one or the other; beside a bound nobody knows.
    case("torch = \"2.5,2.6\"", "gpu = \"A100\"", 2, &["for one or the other write `2.5 || 2.6`"]),
    case("torch = \"2.5,>=2.6\"", "gpu = \"A100\"", 2, &["drop one of its parts", "!for one or the other"]),
    // A board that brings its processor decides it for those beside it.
    case(
        "torch = \"*\"",
        "gpu = [\"GB200\", \"H100\"]",
        0,
        &["[gpu-arch]", "target `t` is for aarch64 machines", "need a target of their own"],
    ),
    case("torch = \"*\"", "gpu = [\"GB200\", \"H100\"]\narch = \"aarch64\"", 0, &["![gpu-arch]"]),
    case("torch = \"*\"", "gpu = [\"GB200\", \"GH200\"]", 0, &["![gpu-arch]"]),
    // A branch that is not known is told by the lower bound that names it; one beyond all is of neither system.
    case(
        "torch = \"*\"",
        "gpu = \"A100\"\ndriver = \">=533.1,<534\"",
        0,
        &["driver branch R533 is not in the catalog", "!R534"],
    ),
    case(
        "torch = \"*\"",
        "gpu = \"A100\"\ndriver = \"600.10\"",
        0,
        &["driver branch R600 is not in the catalog", "`platform = \"wsl2\"`"],
    ),
    case(
        "torch = \"*\"",
        "gpu = \"A100\"\ndriver = \"999.10\"",
        0,
        &["driver branch R999 is not in the catalog", "!`platform = \"wsl2\"`"],
    ),
    // Of several installed toolkits the newest of the major is loaded.
    case(
        "tensorflow = \"2.5.0\"",
        "gpu = \"T4\"\ndriver = \"470.57.02\"\ntoolkit = [\"11.0\", \"11.2\"]\ncudnn = \"8.1\"",
        0,
        &["!install CUDA 11.2 too"],
    ),
    case(
        "tensorflow = \"2.5.0\"",
        "gpu = \"T4\"\ndriver = \"470.57.02\"\ntoolkit = [\"11.0\", \"11.1\"]\ncudnn = \"8.1\"",
        0,
        &["would load the libraries of CUDA 11.1, which may lack what it calls: install CUDA 11.2 too"],
    ),
    case(
        "tensorflow = \"2.5.0\"",
        "gpu = \"T4\"\ndriver = \"470.57.02\"\ntoolkit = [\"11.0\", \"11.2\", \"12.4\"]\ncudnn = \"8.1\"",
        0,
        &["!install CUDA 11.2 too"],
    ),
    // What a build holds that nobody has read may be what is asked for, if it is a release at all.
    case("torch = \"1.8.2+cu111\"\ncudnn = \"8.0.5\"", "gpu = \"A100\"", 3, &["what torch 1.8.2+cu111 holds"]),
    case("torch = \"1.8.2+cu111\"\ncudnn = \"*\"", "gpu = \"A100\"", 3, &["what torch 1.8.2+cu111 holds"]),
    case("torch = \"1.8.2+cu111\"\nnccl = \"*\"", "gpu = \"A100\"", 3, &["what torch 1.8.2+cu111 holds"]),
    case("torch = \"1.8.1+cu111\"\ncudnn = \"8.0.4\"", "gpu = \"A100\"", 1, &["brings cuDNN 8.0.5"]),
    // A label that was published for one processor is what one of the targets asks for.
    case(
        "torch = \"2.3.1+cpu.cxx11.abi\"",
        "gpu = \"A100\"\n[target.u]\ngpu = \"GH200 480GB\"\narch = \"aarch64\"",
        3,
        &["what torch 2.3.1+cpu.cxx11.abi holds"],
    ),
    case(
        "torch = \"2.3.1+cpu.cxx11.abi\"",
        "gpu = \"GH200 480GB\"\narch = \"aarch64\"",
        1,
        &["torch 2.3.1 was published for aarch64 as cpu only"],
    ),
    // An older release may help where some machine is too old for every one that was read.
    case(
        "torch = \"*\"",
        "gpu = \"Tesla C2050\"\n[target.u]\ngpu = \"A100\"",
        3,
        &["whether a torch older than 0.4.1 fits"],
    ),
    case("torch = \"*\"\ncuda = \"7.0\"", "gpu = \"P100\"", 3, &["whether a torch older than 0.4.1 fits"]),
    case("torch = \"*\"\ncuda = \"9.1\"", "gpu = \"P100\"", 1, &["torch 0.4.1 to", "!whether a torch older"]),
    case("torch = \"*\"\ncuda = \"7.0 || 9.1\"", "gpu = \"P100\"", 1, &["torch 0.4.1 to", "!whether a torch older"]),
    // A list of architectures changes what is compiled only for what reads it: the toolkit has to know the GPU all the same.
    case(
        "flash-attn = \"2.7.3\"\n[build]\narch-list = \"8.9\"",
        "gpu = \"RTX 4090\"\ntoolkit = \"11.6\"",
        1,
        &["1. change toolkit from 11.6 to 11.8"],
    ),
    case(
        "flash-attn = \"2.7.3\"\n[build]\narch-list = \"8.9\"",
        "gpu = \"RTX 4090\"\ntoolkit = \"11.8\"",
        0,
        &["lock: id = \"flash-attn-2.7-toolkit\""],
    ),
    // Pre-releases that nothing written admits come in by their name alone; where all are pre-releases any is taken.
    case(
        "flash-attn-4 = \"*\"\nsglang = \"<0.5.10\"",
        "gpu = \"H100\"",
        0,
        &["!lock: stack.flash-attn-4 = \"4.0.0b3\""],
    ),
    case("flash-attn-4 = \"*\"\nsglang = \"0.5.14\"", "gpu = \"H100\"", 0, &["flash-attn-4 4.0.0b15"]),
    // TensorFlow 2.11 to 2.13 read libdevice, which is of nvcc. Source: github.com/tensorflow/tensorflow/issues/58681.
    case(
        "tensorflow = \"2.10.0\"",
        "gpu = \"T4\"\nimage = \"nvidia/cuda\"",
        0,
        &["nvidia/cuda:11.2.2-cudnn8-runtime-ubuntu20.04", "![system-cuda]"],
    ),
    case(
        "tensorflow = \"2.11.0\"",
        "gpu = \"T4\"\nimage = \"nvidia/cuda\"",
        0,
        &["nvidia/cuda:11.2.2-cudnn8-devel-ubuntu20.04", "![system-cuda]"],
    ),
    case(
        "tensorflow = \"2.11.0\"",
        "gpu = \"T4\"\nimage = \"nvidia/cuda:11.2.2-cudnn8-runtime-ubuntu20.04\"",
        0,
        &["[system-cuda]", "reads nvvm/libdevice/libdevice.10.bc of CUDA's compiler", "image of flavour devel"],
    ),
    case("tensorflow = \"2.11.0\"", "gpu = \"T4\"", 0, &["[system-cuda]", "CUDA 11.2 with nvcc"]),
    // What code takes of an installed package without asking for it: where one of the two is open it is chosen within. Sources:
    // github.com/facebookresearch/xformers/issues/1267, github.com/bitsandbytes-foundation/bitsandbytes/issues/1492.
    case(
        "torch = \"2.7.0\"\nxformers = \"*\"\nflash-attn = \"*\"",
        "gpu = \"A100\"",
        0,
        &["flash-attn 2.7.4.post1", "!flash-attn 2.8"],
    ),
    case("torch = \"2.6.0\"\nxformers = \"*\"\nflash-attn = \"2.7.4.post1\"", "gpu = \"A100\"", 0, &["0.0.29.post3"]),
    case(
        "torch = \"2.6.0\"\nbitsandbytes = \"0.44.1\"",
        "gpu = \"A100\"",
        1,
        &["bitsandbytes 0.44.1 requires triton <3.2 beside it", "torch 2.6.0 requires triton 3.2.0"],
    ),
    case("torch = \"2.6.0+cpu\"\nbitsandbytes = \"0.44.1\"", "gpu = \"none\"", 0, &["!triton"]),
    case("torch = \"2.4.0\"\ndeepspeed = \"0.14.4\"", "gpu = \"A100\"", 0, &["!error"]),
    case("torch = \"2.4.0\"\ndeepspeed = \"0.14.3\"", "gpu = \"A100\"", 1, &["deepspeed 0.14.3 requires torch <2.4"]),
    // A rule that is set aside for one target decides which images the others may take.
    case(
        "cuda = \"11.8\"\ncudnn = \"8\"",
        "gpu = \"Tesla K80\"\nimage = \"nvidia/cuda\"\n[target.u]\ngpu = \"Tesla K80\"\nimage = \"nvidia/cuda\"\n[[override]]\nrule = \"cudnn-8.8-gpu\"\ntarget = \"t\"\nreason = \"-\"",
        0,
        &[
            "lock: target.t.image = \"nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04\"",
            "lock: target.u.image = \"nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu18.04\"",
            "![unused-override]",
        ],
    ),
    case(
        "cuda = \"11.8\"\ncudnn = \"8\"",
        "gpu = \"Tesla K80\"\nimage = \"nvidia/cuda\"\n[target.u]\ngpu = \"Tesla K80\"\nimage = \"nvidia/cuda\"\n[[override]]\nrule = \"cudnn-8.8-gpu\"\ntarget = \"u\"\nreason = \"-\"",
        0,
        &["ended 2023-05-31 (target `t`)", "![unused-override]"],
    ),
    // What is set aside for a target is so for what its packages need as well, and for what several share where it is set
    // aside for each of them.
    case(
        "torch = \"2.5.1\"\ndeepspeed = \"*\"\n[build]",
        "gpu = \"RTX 4090\"\ntoolkit = \"11.7\"\n[[override]]\nrule = \"deepspeed-8.9-toolkit\"\ntarget = \"t\"\nreason = \"-\"",
        0,
        &["![unused-override]"],
    ),
    case(
        "torch = \"2.4.1+cu124\"\nbitsandbytes = \"0.43.0\"",
        "gpu = \"RTX 4090\"\n[[override]]\nrule = \"bitsandbytes-0.43.0-cuda\"\ntarget = \"t\"\nreason = \"-\"",
        0,
        &["![unused-override]"],
    ),
    case(
        "torch = \"2.4.1+cu124\"\nbitsandbytes = \"0.43.0\"",
        "gpu = \"RTX 4090\"\n[target.u]\ngpu = \"L4\"\n[[override]]\nrule = \"bitsandbytes-0.43.0-cuda\"\ntarget = \"t\"\nreason = \"-\"",
        1,
        &["bitsandbytes = \"0.43.0\""],
    ),
    // A library that no toolkit release has is no reason against any of them.
    case(
        "jax = \"0.6.0\"\n[packages]\nnvidia-nvshmem-cu12 = \"*\"",
        "gpu = \"A100\"",
        0,
        &["cuda 12.9.2", "(minor-version)"],
    ),
    case(
        "torch = \"2.9.0+cu128\"\njax = \"*\"\n[packages]\nnvidia-cutensor-cu12 = \"*\"",
        "gpu = \"A100\"",
        0,
        &["lock: nvidia-cuda-nvcc-cu12\", version = \"12.8."],
    ),
    // Of a build for Windows whose Pythons were read in part nobody knows which it was not published for.
    case(
        "torch = \"2.9.1\"\npython = \"3.9\"",
        "gpu = \"A100\"\nos = \"windows\"",
        3,
        &["torch 2.9.1 is known so far for Windows x86_64", "!but not for Python"],
    ),
    case(
        "torch = \"1.13.1\"\npython = \"3.12\"",
        "gpu = \"A100\"\nos = \"windows\"",
        3,
        &["cu116, cu117, but not for Python 3.12"],
    ),
    // A toolkit compiles beside a build of its own major: a newer one, for which the system's gcc would do, does not help.
    case(
        "torch = \"1.10.2+cu102\"\ntorch-scatter = \"*\"",
        "gpu = \"T4\"\nos = \"ubuntu24.04\"",
        0,
        &[
            "torch-scatter 2.1.2 does not compile on this target",
            "nvcc of CUDA 10.2 accepts gcc up to 8",
            "Install gcc 5 to 8",
        ],
    ),
    case(
        "torch = \"2.1.2+cu118\"\nmamba-ssm = \"1.0.1\"",
        "gpu = \"T4\"\nos = \"ubuntu24.04\"",
        0,
        &["nvcc of CUDA 11.8 accepts gcc up to 11", "Install gcc 6 to 11 beside it"],
    ),
    case(
        "torch = \"1.10.2+cu102\"\ntorch-scatter = \"*\"",
        "gpu = \"T4\"\nos = \"ubuntu18.04\"",
        0,
        &["![source-compiler]"],
    ),
    // A wheel that was read is no wheel that nobody read, though its rule is set aside.
    case(
        "fbgemm-gpu = \"1.0.0\"",
        "gpu = \"P100\"\n[[override]]\nrule = \"gpu-code\"\nreason = \"-\"",
        0,
        &["![operators-missing]"],
    ),
    // Of the newest CUDA whose images were listed every tag is known; of a later one those of Ubuntu are, and of what was
    // published after both none is.
    case("torch = \"*\"", "gpu = \"A100\"\nimage = \"nvidia/cuda:13.1.0-base-debian12\"", 1, &["as of 2025-12"]),
    case("torch = \"*\"", "gpu = \"A100\"\nimage = \"nvidia/cuda:13.3.1-base-ubuntu99.04\"", 1, &["has no tag"]),
    // Red Hat's own images where the system is called by its name, and those of the clone that is named.
    case("torch = \"2.9.1\"", "gpu = \"A100\"\nimage = \"nvidia/cuda\"\nos = \"rhel9\"", 0, &["base-ubi9"]),
    case("torch = \"2.9.1\"", "gpu = \"A100\"\nimage = \"nvidia/cuda\"\nos = \"rocky9\"", 0, &["base-rockylinux9"]),
    case("torch = \"2.9.1\"", "gpu = \"A100\"\nimage = \"nvidia/cuda\"\nos = \"ol9\"", 0, &["-ubi9"]),
    case("torch = \"*\"", "gpu = \"A100\"\nimage = \"nvidia/cuda:99.1.0-base-ubuntu99.04\"", 3, &["exists"]),
    // Red Hat's own images where the system is called by its name, and those of the clone that is named.
    case("torch = \"2.9.1\"", "gpu = \"A100\"\nimage = \"nvidia/cuda\"\nos = \"rhel9\"", 0, &["-base-ubi9"]),
    case("torch = \"2.9.1\"", "gpu = \"A100\"\nimage = \"nvidia/cuda\"\nos = \"rocky9\"", 0, &["-base-rockylinux9"]),
    // Of the variants of a release one of which nothing fails on the GPU: cuBLAS of CUDA 12.1 crashes on the H20. What is
    // named stays, and of those for CUDA 12.8 and 12.6 none is better; what serves is experimental, and named.
    case("torch = \"2.1.0\"", "gpu = \"H20\"", 0, &["torch        2.1.0+cu118", "![cuda-gpu]"]),
    case("torch = \"2.1.0\"", "gpu = \"H100\"", 0, &["torch        2.1.0+cu121"]),
    case("torch = \"2.1.0+cu121\"", "gpu = \"H20\"", 0, &["torch        2.1.0+cu121", "[cuda-gpu]"]),
    case(
        "torch = \"2.1.0\"",
        "gpu = \"H100\"\n[target.u]\ngpu = \"H20\"",
        0,
        &["torch        2.1.0+cu118", "![cuda-gpu]"],
    ),
    case(
        "torch = \"2.10.0+cu128\"",
        "gpu = \"GB10\"",
        0,
        &["torch        2.10.0+cu128", "take a build for CUDA 12.9 or newer: +cu130 or +cu129"],
    ),
    // An experimental build of which less fails comes before a stable one.
    case(
        "torch = \"2.10.0\"",
        "gpu = \"GB10\"",
        0,
        &["torch        2.10.0+cu130", "[experimental-variant]", "![cuda-gpu]"],
    ),
    case(
        "torch = \"2.10.0\"\n[resolve]\nallow-experimental = true",
        "gpu = \"GB10\"",
        0,
        &["torch        2.10.0+cu130", "![cuda-gpu]"],
    ),
    case(
        "torch = \"2.10.0\"\n[resolve]\nallow-experimental = true",
        "gpu = \"RTX 5090\"",
        0,
        &["torch        2.10.0+cu128"],
    ),
    // paddlepaddle-gpu was built with cuDNN 7.6 from 1.7 on, and no wheel brings it along. Sources:
    // github.com/PaddlePaddle/Paddle/issues/23922, 24327, 22996.
    case(
        "paddlepaddle-gpu = \"1.7.1\"",
        "gpu = \"Tesla P40\"\ntoolkit = \"10.0\"\ncudnn = \"7.3\"",
        0,
        &["[cudnn-missing]", "needs cuDNN >=7.6,<8, and the stack has 7.3"],
    ),
    case(
        "paddlepaddle-gpu = \"1.7.0\"",
        "gpu = \"GTX 1080 Ti\"\ntoolkit = \"10.0\"",
        0,
        &["nothing in the stack brings one"],
    ),
    case(
        "paddlepaddle-gpu = \"1.7.2\"",
        "gpu = \"Tesla P40\"\ntoolkit = \"10.0\"\ncudnn = \"7.6\"",
        0,
        &["![cudnn-missing]"],
    ),
    // RAPIDS gave up Pascal with 24.02, before the oldest release that was read; older boards it never ran on.
    case(
        "cudf-cu12 = \"*\"",
        "gpu = \"GTX 1060\"",
        3,
        &["whether a cudf-cu12 older than 24.12.0 fits", "23.12 was the last release for Pascal: look for the last"],
    ),
    case("rmm-cu12 = \"*\"", "gpu = \"Tesla P100\"", 3, &["older than 24.12.0"]),
    case("cudf-cu12 = \">=24.2\"", "gpu = \"GTX 1060\"", 1, &["cudf-cu12-gpu"]),
    case("tensorrt = \"8.6.1\"", "gpu = \"sm_35\"", 1, &[]),
    // What its build fetches from an index that nobody has read is not gone: NVIDIA/TensorRT#3050 found it there.
    case("tensorrt = \"8.6.1\"", "gpu = \"Tesla T4\"", 0, &["!no longer published"]),
    case("tensorrt = \"8.6.1\"\npython = \"3.10\"", "gpu = \"Tesla P100\"", 0, &["!no longer published"]),
    // microsoft/onnxruntime#15697: 8.5.3 was the last for Maxwell.
    case("tensorrt = \"8.6.1\"", "gpu = \"Tesla M60\"", 1, &["tensorrt-8.6-gpu", "!no longer published", "8.5.3.1"]),
    case("tensorrt = \"8.6.0\"", "gpu = \"Tesla M60\"", 1, &["tensorrt-8.6-gpu"]),
    case("tensorrt = \"8.5.3.1\"", "gpu = \"Tesla M60\"", 0, &[]),
    // Where no other release helps, why not.
    case(
        "vllm = \"0.8.1\"",
        "gpu = \"Tesla P40\"",
        1,
        &["xgrammar==0.1.16", "once that is fixed: `vllm = \"0.8.1\"` is incompatible with `gpu = \"Tesla P40\"`"],
    ),
    case("vllm = \"0.8.1\"", "gpu = \"A100\"", 1, &["xgrammar==0.1.16", "!once that is"]),
    case("tensorrt-llm = \"0.10.0\"", "gpu = \"Tesla P100\"", 1, &[]),
    case("tensorrt-llm = \"0.15\"", "gpu = \"Tesla V100\"", 1, &[]),
    case("cudf-cu12 = \"24.12\"", "gpu = \"GTX 1060\"", 1, &["23.12 was the last release for Pascal"]),
    case("cudf-cu12 = \"*\"", "gpu = \"GTX 980\"", 1, &["`gpu = \"GTX 980\"`"]),
    case("cudf-cu13 = \"*\"", "gpu = \"Tesla V100\"", 1, &[]),
    case("cuml-cu12 = \"*\"", "gpu = \"Tesla V100\"", 0, &[]),
    // Under WSL2 a driver that is told by its CUDA is judged as one that is told by its number. Source:
    // github.com/tensorflow/tensorflow/issues/70960.
    case(
        "tensorflow = \"2.13.1+cu118\"",
        "gpu = \"GTX 1650\"\nplatform = \"wsl2\"\ndriver-cuda = \"11.4\"",
        0,
        &["[wsl2]", "from R495 on", "minor-version"],
    ),
    case(
        "tensorflow = \"2.13.1+cu118\"",
        "gpu = \"GTX 1650\"\nplatform = \"wsl2\"\ndriver = \"472.39\"",
        0,
        &["[wsl2]", "from R495 on", "minor-version"],
    ),
    case(
        "tensorflow = \"2.15.1\"",
        "gpu = \"GTX 1650\"\nplatform = \"wsl2\"\ndriver-cuda = \"11.4\"",
        1,
        &["CUDA 12 needs driver 528.33 of Windows or a newer one", "!once that is fixed"],
    ),
    case("torch = \"1.10.2+cu113\"", "gpu = \"GTX 1650\"\nplatform = \"wsl2\"\ndriver-cuda = \"11.2\"", 0, &["[wsl2]"]),
    case(
        "torch = \"1.10.2+cu113\"",
        "gpu = \"GTX 1650\"\nplatform = \"wsl2\"\ndriver-cuda = \"11.0\"",
        1,
        &["CUDA 11.1.0 needs driver 456.38 of Windows"],
    ),
    case(
        "torch = \"1.12.1+cu113\"",
        "gpu = \"GTX 1650\"\nplatform = \"wsl2\"\ndriver-cuda = \"11.5\"",
        0,
        &["![wsl2]"],
    ),
    // Nobody is told to install such a driver.
    case("torch = \"1.12.1+cu113\"", "gpu = \"GTX 1650\"\nplatform = \"wsl2\"", 0, &["![wsl2]", "!472"]),
    // A fix never leaves out what a machine is; it may be another machine. Sources: github.com/NVIDIA/DALI/issues/2507,
    // github.com/tensorflow/tensorflow/issues/70960.
    case("nvidia-dali-cuda110 = \"*\"", "gpu = \"Jetson Xavier NX\"\nos = \"jetpack4.4\"", 3, &["!remove `os"]),
    case(
        "torch = \"1.10.2+cu113\"",
        "gpu = \"GTX 1650\"\nplatform = \"wsl2\"\ndriver = \"451.48\"",
        1,
        &["change platform from wsl2 to linux", "!remove `platform"],
    ),
    case(
        "torch = \"2.8.0\"",
        "gpu = \"A100\"\nglibc = \"2.17\"",
        1,
        &["change glibc from 2.17 to 2.28", "!remove `glibc"],
    ),
    case(
        "torch = \"2.8.0\"",
        "gpu = \"A100\"\nos = \"centos7\"",
        1,
        &["change os from centos7 to rhel8", "!remove `os"],
    ),
    case(
        "torch = \"2.8.0\"",
        "gpu = \"GH200\"\narch = \"x86_64\"",
        1,
        &["change arch from x86_64 to aarch64", "!remove `arch"],
    ),
    // One part of Open3D is for torch, of the minor and the CUDA that it was compiled with. Sources: open3d/_build_config.py of
    // its wheels, github.com/syguan96/NeuroFluid/issues/15.
    case(
        "open3d = \"0.13.0\"\ntorch = \"1.8.1+cu111\"",
        "gpu = \"RTX 3090\"",
        0,
        &["[kernels-skipped]", "for torch was compiled for torch 1.7+cu110: beside torch 1.8.1+cu111 its import fails"],
    ),
    case(
        "open3d = \"0.19.0\"\ntorch = \"2.2.0+cu118\"",
        "gpu = \"RTX 3090\"",
        0,
        &["[kernels-skipped]", "beside torch 2.2.0+cu118 it computes on the CPU"],
    ),
    case("open3d = \"0.19.0\"\ntorch = \"2.2.1+cu121\"", "gpu = \"RTX 3090\"", 0, &["![kernels-skipped]"]),
    case("open3d = \"0.19.0\"", "gpu = \"RTX 3090\"", 0, &["![kernels-skipped]"]),
    // Its check of the release is the same for the CPU, for which it holds code too (Open3D-ML issue 635, and
    // open3d/ml/torch/__init__.py).
    case(
        "open3d = \"0.15.2\"\ntorch = \"2.0.1+cpu\"",
        "gpu = \"none\"",
        0,
        &["[kernels-skipped]", "compiled for torch 1.8: beside torch 2.0.1 its import fails"],
    ),
    case("open3d = \"0.19.0\"\ntorch = \"2.6.0\"", "gpu = \"none\"", 0, &["[kernels-skipped]"]),
    case("open3d = \"0.19.0\"\ntorch = \"2.2.0+cpu\"", "gpu = \"none\"", 0, &["![kernels-skipped]"]),
    // CUDA 9.1 came with driver 387.26. Source: the name of NVIDIA's installer, cuda_9.1.85_387.26_linux.
    case("cuda = \"9.1\"", "gpu = \"GTX 1070\"\ndriver = \"387.34\"", 0, &[">=387.26"]),
    case("cuda = \"9.1\"", "gpu = \"GTX 1070\"\ndriver = \"384.145\"", 1, &["CUDA 9.1 needs driver 387.26"]),
];

#[test]
fn what_lies_on_the_other_side_is_answered_otherwise() {
    hold("borders", CASES);
}
