//! Specs beside which another lies that is answered otherwise: what tells the two apart is read, and not only the rest.

use serde_json::Value;

use crate::common::cases::{Case, case, hold};
use crate::common::sandbox::Sandbox;

const CASES: &[Case] = &[
    // A CUDA below all that drivers ever showed is that of the oldest.
    case("torch = \"2.5.1\"", "gpu = \"A100\"\ndriver-cuda = \"5.0\"", 1, &["supports CUDA up to 5.0"]),
    // Bounds that leave nothing over: only one that hides what begins with it is told so.
    case("torch = \">2.5,<2.4\"", "gpu = \"A100\"", 2, &["drop one of its parts", "!leaves out every version"]),
    case("torch = \">2.5,2.5.1\"", "gpu = \"A100\"", 2, &["`>2.5` leaves out every version that begins with 2.5"]),
    // A snapshot's label may be cut short, at its end.
    case(
        "torch = \"2.6.0a0+ecf3bae\"",
        "gpu = \"A100\"\nimage = \"nvcr.io/nvidia/pytorch:25.01-py3\"",
        0,
        &["25.01-py3"],
    ),
    case(
        "torch = \"2.6.0a0+bae40a\"",
        "gpu = \"A100\"\nimage = \"nvcr.io/nvidia/pytorch:25.01-py3\"",
        3,
        &["whether torch 2.6.0a0+bae40a was published"],
    ),
    // Beside a torch that was published nowhere else the image holds its own torchvision: asked for by number it is a wheel.
    case(
        "torch = \"*\"\ntorchvision = \"*\"",
        "gpu = \"A100\"\nimage = \"nvcr.io/nvidia/pytorch:24.01-py3\"",
        0,
        &["[left-to-image]", "what the image holds of torchvision is used"],
    ),
    case(
        "torch = \"*\"\ntorchvision = \"0.17\"",
        "gpu = \"A100\"\nimage = \"nvcr.io/nvidia/pytorch:24.01-py3\"",
        1,
        &["the image holds one of its own", "1. allow any torchvision instead of 0.17"],
    ),
    case(
        "torch = \"*\"\ntorchaudio = \"*\"",
        "gpu = \"A100\"\nimage = \"nvcr.io/nvidia/pytorch:24.01-py3\"",
        1,
        &["it would have to be compiled there"],
    ),
    case(
        "torch = \"*\"\ntorchvision = \"*\"",
        "gpu = \"A100\"\nimage = \"pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel\"",
        0,
        &["torchvision 0.20.1", "![left-to-image]"],
    ),
    // What an image holds that nobody has seen is not bounded by what its framework has published.
    case(
        "torch = \"<2.0\"",
        "gpu = \"H100\"\nimage = \"nvcr.io/nvidia/pytorch:22.12-py3\"",
        3,
        &["whether `nvcr.io/nvidia/pytorch:22.12-py3` exists"],
    ),
    // What lies in the same line is nearer than the next line, and a toolkit is written as it was.
    case("torch = \"2.14.2\"", "gpu = \"H100\"", 3, &["1. change torch from 2.14.2 to 2.14.1+cu130"]),
    case(
        "vllm = \"0.9.0\"",
        "gpu = \"RTX 5090\"",
        1,
        &[
            "vllm 0.9.0.1 holds code for",
            "change vllm from 0.9.0 to 0.9.2 (with the warnings `brings-other-cuda` and `experimental-variant`)",
        ],
    ),
    case(
        "torch = \"2.5.1+cu118\"\n[build]",
        "gpu = \"A100\"\ntoolkit = \"12.4\"",
        1,
        &["change toolkit from 12.4 to 11.8"],
    ),
    // From 2.9 on torch for aarch64 asks pip for NVIDIA's libraries as it does for x86_64: what JAX leaves open follows.
    case(
        "torch = \"2.9.1+cu128\"\njax = \"0.4.37\"",
        "gpu = \"GH200 480GB\"",
        0,
        &["lock: stack.cuda = \"12.8.1\"", "!lock: nvidia-nvjitlink-cu12\", version = \"12.9"],
    ),
    // What a pin brings along has no wheel for the newest Python.
    case("vllm = \"0.24.0\"", "gpu = \"A100\"", 0, &["python 3.13"]),
    case("vllm = \"0.26.0\"", "gpu = \"A100\"", 0, &["python 3.14"]),
    // A repository that nobody knows is told with one whose name is near.
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\nimage = \"nvidai/cuda:12.4.1-base-ubuntu22.04\"",
        0,
        &["did you mean `nvidia/cuda`?"],
    ),
    // 29 February is a day of a leap year, so that this is a nightly.
    case("torch = \"2.3.0.dev20240229+cu121\"", "gpu = \"T4\"", 0, &["[nightly]"]),
    case("torch = \"2.3.0.dev20230229+cu121\"", "gpu = \"T4\"", 1, &["is not on its index"]),
    // Of a build whose cuDNN nobody knows it is told which fact decides.
    case(
        "torch = { version = \"2.5.1\", cuda = \"12.4\" }\ncudnn = \"9.1\"",
        "gpu = \"A100\"",
        3,
        &["which cuDNN comes with your build of torch"],
    ),
    case("torch = { version = \"2.5.1\", cuda = \"12.4\" }\ncudnn = \"*\"", "gpu = \"A100\"", 0, &[]),
    // Where nothing is known of what a system has, that a build for it was not seen proves nothing; a release of another
    // torch proves nothing either.
    case(
        "torch = \"2.10.0\"\ntorchaudio = \"*\"",
        "gpu = \"Jetson AGX Orin\"\nos = \"jetpack6.1\"",
        3,
        &["whether torchaudio 2.10.0 was built for jetpack6.1"],
    ),
    // What lies on a JetPack takes CUDA and cuDNN of the system: an image that is chosen for it holds both.
    case(
        "torch = \"2.5.0\"",
        "gpu = \"Jetson AGX Orin\"\narch = \"aarch64\"\nimage = \"nvidia/cuda\"",
        0,
        &["cudnn-runtime"],
    ),
    // A wheel that holds no GPU code for a processor carries no CUDA there: a driver of the oldest is promised to nobody.
    case(
        "xgboost = \"3.1.2\"",
        "gpu = \"GH200\"\narch = \"aarch64\"\n[[override]]\nrule = \"gpu-code\"\nreason = \"-\"",
        0,
        &["!>=520"],
    ),
    // One that asks for a GPU's driver decides, whatever asks for none beside it.
    case("torch = \"2.5.1\"\njax = \"0.4.34+cpu\"", "arch = \"x86_64\"", 0, &["driver", ">=525.60.13"]),
    // Windows' drivers are no matter where there is none.
    case("torch = \"2.5.1\"", "gpu = \"none\"\nplatform = \"wsl2\"", 0, &["![wsl2]"]),
    case("torch = \"2.5.1\"", "gpu = \"T4\"\ndriver = \"595\"\ndriver-policy = \"long-term\"", 0, &["[driver-policy]"]),
    case(
        "torch = \"2.5.1\"",
        "gpu = \"T4\"\ndriver = \"580\"\ndriver-policy = \"long-term\"",
        0,
        &["![driver-policy]"],
    ),
    // A cuDNN of no known version may be the one that is loaded.
    case(
        "tensorflow = \"2.16.1\"",
        "gpu = \"T4\"\nimage = \"nvidia/cuda:12.9.2-cudnn-runtime-ubuntu22.04\"",
        0,
        &["![library-missing]"],
    ),
    case(
        "tensorflow = \"2.16.1\"",
        "gpu = \"T4\"\nimage = \"nvidia/cuda:12.9.1-runtime-ubuntu22.04\"",
        0,
        &["[library-missing]"],
    ),
    // An image's torch is told with the line of its CUDA, as its label would.
    case(
        "torch = \"2.5.1\"",
        "gpu = \"T4\"\nimage = \"pytorch/pytorch:2.2.0-cuda12.1-cudnn8-devel\"\n[[override]]\nrule = \"torch-of-image\"\nreason = \"-\"",
        0,
        &["holds torch 2.2.0 for CUDA 12.1 of its own"],
    ),
    // Every library that is written is held to, not those alone of which all are asked for.
    case(
        "jax = \"0.6.0\"\n[packages]\nnvidia-cuda-cccl-cu12 = \"*\"\nnvidia-cufft-cu12 = \"<5\"",
        "gpu = \"T4\"",
        1,
        &["jax 0.6.0+cu12 requires nvidia-cufft-cu12 >=11.0.2.54"],
    ),
    // No release of it goes with this Python, so none is proposed.
    case(
        "torch = \"1.10.0\"\npython = \"3.7\"\n[packages]\naudiocraft = \">=1.0\"",
        "gpu = \"T4\"",
        0,
        &["requires Python >=3.8", "use Python >=3.8", "!write `audiocraft"],
    ),
    // An installed package runs the later lines of its major too, as the driver would from which it was taken.
    case(
        "torch = \"2.5.1+cu124\"",
        "gpu = \"A100-SXM4-40GB\"\ndriver = \"470.57.02\"\ncompat = \"12.0\"",
        0,
        &["(forward-compat)"],
    ),
    // Nobody says which C++ ABI a torch has that somebody compiled: no wheel is finished for it.
    case(
        "torch = { version = \"2.5.1\", cuda = \"12.4\", arch-list = \"8.0\" }\nflash-attn = \"2.7.3\"",
        "gpu = \"A100\"\n[build]",
        0,
        &["comes as source only: its CUDA code is compiled", "!lock: finished-wheel"],
    ),
    // Who names a build has it on every target, be the targets of one stack or not.
    case(
        "torch = \"2.5.1+cu124\"",
        "gpu = \"A100\"\n[target.cpu]\ngpu = \"none\"",
        0,
        &["because all targets share one stack", "!`share = \"versions\"` gives it the CPU build"],
    ),
    // What holds no CUDA is refused by no rule about the CUDA of a GPU, where a CPU build is wanted for it.
    case(
        "torch = \"2.5.1+cpu\"",
        "gpu = \"Tesla K80\"\n[[override]]\nrule = \"cpu-build\"\nreason = \"x\"",
        0,
        &["torch 2.5.1+cpu"],
    ),
    // No release lies between these two, be it published or not; a branch of Windows alone is likened to it.
    case("torch = \"*\"", "gpu = \"A100\"\ndriver = \">580.1,<580.2\"", 2, &["`>580.1,<580.2` admits no driver"]),
    case("torch = \"*\"", "gpu = \"A100\"\ndriver = \"528.33\"", 0, &["write `platform = \"wsl2\"` beside it"]),
    case(
        "torch = \"*\"",
        "gpu = \"A100\"\ndriver = \"533.33\"",
        0,
        &["judged as branch R530", "if it is the number of a driver for Windows"],
    ),
    // Of an image that nobody knows that is judged which is written of it, and nothing is said where it is what is known.
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\nimage = \"ghcr.io/acme/x:1\"",
        0,
        &["so nothing of it is checked", "!but what `image-requires` says"],
    ),
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\nimage = \"ghcr.io/acme/x:1\"\nimage-requires = \"cuda>=12.4\"",
        0,
        &["so nothing of it is checked but what `image-requires` says"],
    ),
    case(
        "cuda = \"11.2\"",
        "gpu = \"A100\"\narch = \"aarch64\"\nimage = \"nvidia/cuda:11.2.2-base-ubuntu20.04\"\nimage-requires = \"cuda>=11.2\"",
        0,
        &["!requires something other than `image-requires`"],
    ),
    case(
        "cuda = \"11.2\"",
        "gpu = \"A100\"\narch = \"aarch64\"\nimage = \"nvidia/cuda:11.2.2-base-ubuntu20.04\"\nimage-requires = \"cuda>=11.1\"",
        0,
        &["requires something other than `image-requires`"],
    ),
    // torchvision's nightly is built beside the torch of its own day or of the day before.
    case(
        "torch = \"2.9.0.dev20250801+cu128\"\ntorchvision = \"0.24.0.dev20250802\"",
        "gpu = \"A100\"",
        0,
        &["!the day before"],
    ),
    case(
        "torch = \"2.9.0.dev20250801+cu128\"\ntorchvision = \"0.24.0.dev20250803\"",
        "gpu = \"A100\"",
        0,
        &["torch nightly of its own day or of the day before"],
    ),
    // Support has ended where that of every branch has which the hosts may have, and with the last of them.
    case("torch = \"2.5.1\"", "gpu = \"A100\"\ndriver = \"455 || 460\"", 0, &["!driver-end-of-life"]),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\ndriver = \"470 || 525\"", 0, &["has ended, the last on 2024-07-20"]),
    // A warning quotes what is written: the driver of a list, and what is known by its CUDA says that once.
    case(
        "torch = \"2.7.1+cu128\"",
        "gpu = \"A100\"\ndriver = [\"535\", \"550.54.15\"]",
        0,
        &["[jit-limited]", "driver 535 supports CUDA up to 12.2"],
    ),
    case(
        "torch = \"2.7.1+cu128\"",
        "gpu = \"A100\"\ndriver-cuda = \"12.2\"",
        0,
        &["driver of CUDA 12.2, the stack uses CUDA 12.8", "!supports CUDA up to 12.2"],
    ),
    case(
        "torch = \"2.7.1+cu128\"",
        "gpu = \"A100\"\ndriver = \"550.54.15\"",
        0,
        &["550.54.15 supports CUDA up to 12.4"],
    ),
    // Which CUDA a driver supports that nobody wrote down is no reason for alarm.
    case(
        "cuda = \"8.0\"\n[packages]\nnumba = \"*\"",
        "gpu = \"GTX 1080\"\ndriver = \"370.28\"\ntoolkit = \"8.0\"",
        0,
        &["usually harmless", "!compiles to PTX"],
    ),
    // torch brings a cuDNN: an image need hold none for what is beside it. A toolkit is there to compile a package with.
    case(
        "torch = \"2.7.1\"\nonnxruntime-gpu = \"1.22.0\"\ntorch-scatter = \"*\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"",
        0,
        &["nvidia/cuda:12.6.3-devel-ubuntu24.04", "lock: switch = \"FORCE_CUDA=1\""],
    ),
    // TensorFlow finds CUDA and cuDNN in the image, and torch brings its own: what one needs in it the other does not mind.
    case(
        "tensorflow = \"2.13.0\"\ntorch = \"2.1.2+cu118\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"",
        0,
        &["nvidia/cuda:11.8.0-cudnn8-devel-ubuntu22.04"],
    ),
    case(
        "tensorflow = \"2.16.2\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"",
        0,
        &["nvidia/cuda:12.3.2-base-ubuntu22.04"],
    ),
    // Its finished wheels are for torch up to 2.10: beside a newer one it is compiled, where nvcc has to be.
    case(
        "mamba-ssm = \"2.3.1\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda\"",
        0,
        &["comes as source only", "-devel-ubuntu", "!holds no nvcc"],
    ),
    // The tag tells the major of a cuDNN that nobody has read: its headers are those of what torch loads, or are not.
    case(
        "torch = \"2.2.2+cu121\"\ntransformer-engine-torch = \"1.11.0\"",
        "gpu = \"H100 NVL\"\nimage = \"nvidia/cuda:12.0.0-cudnn8-devel-ubuntu18.04\"",
        0,
        &["comes as source only", "!includes cuDNN's headers"],
    ),
    case(
        "torch = \"2.5.1+cu121\"\ntransformer-engine-torch = \"1.11.0\"",
        "gpu = \"H100 NVL\"\nimage = \"nvidia/cuda:12.0.0-cudnn8-devel-ubuntu18.04\"",
        0,
        &["its build includes cuDNN's headers: install them"],
    ),
    // A library that torch does not ask for is bound by nothing that torch was built with.
    case(
        "torch = \"2.5.1+cu124\"\n[packages]\nnvidia-npp-cu12 = \"==12.0.0.30\"",
        "gpu = \"A100\"",
        0,
        &["torch 2.5.1+cu124"],
    ),
    // A tag that nobody has read is not replaced by one that does not start.
    case(
        "torch = \"*\"",
        "gpu = \"V100-SXM2-32GB\"\ndriver = \"440.33.01\"\nimage = \"nvcr.io/nvidia/pytorch:20.06-py3\"",
        3,
        &["whether `nvcr.io/nvidia/pytorch:20.06-py3` exists", "!23.06"],
    ),
    // What compiles kernels when they are first used says which nvcc it takes: a chosen image has it.
    case(
        "torch = \"2.9.1+cu128\"\nsglang = \"0.5.10.post1\"",
        "gpu = \"RTX PRO 6000 Blackwell Server Edition\"\ndriver = \"580\"\nimage = \"nvidia/cuda\"",
        0,
        &["nvidia/cuda:12.9.", "-devel-", "!source-only"],
    ),
    // The wheel of sglang is for every processor; that of sgl-kernel 0.2.8 is not.
    case(
        "torch = \"2.7.1\"\nsglang = \"0.4.10.post2\"",
        "gpu = \"GB200\"",
        1,
        &["requires sgl-kernel, which has wheels for x86_64 only", "!post2 has wheels"],
    ),
    // Source: srt/server_args.py of pkg:pypi/sglang@0.5.8; 0.5.10 has no such check.
    case(
        "torch = \"2.9.1\"\nsglang = \"0.5.8\"",
        "gpu = \"H200\"",
        0,
        &["warning[part-fails]", "cuDNN 9.10.2.21", "SGLANG_DISABLE_CUDNN_CHECK"],
    ),
    case("torch = \"2.9.1\"\nsglang = \"0.5.10.post1\"", "gpu = \"H200\"", 0, &["!part-fails"]),
    // Who installs another driver takes one that lists the board: the next one would only be warned of.
    case(
        "torch = \"2.0.1+cu118\"",
        "gpu = \"L20\"\ndriver = \"515.65.01\"",
        1,
        &["upgrade the driver from 515.65.01 to 535.154.05 or newer", "!520.56.06"],
    ),
    case("torch = \"2.0.1+cu118\"", "gpu = \"L20\"\ndriver-cuda = \"11.7\"", 1, &["from 11.7 to 12.2"]),
    case(
        "torch = \"2.0.1+cu118\"",
        "gpu = \"L20\"\ndriver = \"515.65\"\nplatform = \"wsl2\"",
        1,
        &["upgrade the driver from 515.65 to 535 or newer"],
    ),
    case(
        "torch = \"2.5.1+cu121\"",
        "gpu = [\"Tesla V100\", \"L20\"]\ndriver = \"470\"",
        1,
        &["upgrade the driver from 470 to 535.154.05 or newer (R580 recommended"],
    ),
    // What the CUDA needs may be more; and the minimum of a driver that is free is what the GPU needs.
    case("torch = \"2.9.1+cu130\"", "gpu = \"L20\"\ndriver = \"515\"", 1, &["to 580.65.06 or newer"]),
    case("torch = \"2.0.1+cu118\"", "gpu = \"L20\"", 0, &["[gpu-not-listed]", ">=520.56.06"]),
    // The ptxas in PATH that some releases of JAX run in place of their own.
    case("jax = \"0.4.38\"", "gpu = \"A100\"\ntoolkit = \"12.1\"", 0, &["[path-ptxas]", "ptxas of CUDA 12.1"]),
    case("jax = \"0.4.38\"", "gpu = \"A100\"\ntoolkit = \"12.4\"", 0, &["![path-ptxas]"]),
    case("jax = \"0.4.38\"", "gpu = \"A100\"", 0, &["![path-ptxas]"]),
    case("jax = \"0.4.38+cpu\"", "gpu = \"none\"\ntoolkit = \"12.1\"", 0, &["![path-ptxas]"]),
    case("jax = \"0.4.36\"", "gpu = \"A100\"\ntoolkit = \"12.1\"", 0, &["![path-ptxas]"]),
    case("jax = \"0.5.1\"", "gpu = \"A100\"\ntoolkit = \"12.1\"", 0, &["![path-ptxas]"]),
    case(
        "jax = \"0.5.0\"",
        "gpu = \"A100\"\nimage = \"nvidia/cuda:12.2.2-devel-ubuntu22.04\"",
        0,
        &["[path-ptxas]", "ptxas of CUDA 12.2.2"],
    ),
    case("jax = \"0.5.0\"", "gpu = \"A100\"\nimage = \"nvidia/cuda:12.2.2-base-ubuntu22.04\"", 0, &["![path-ptxas]"]),
    // A cuDNN that came out before the GPU: the one that is loaded counts, and another only where nothing brings one.
    case(
        "onnxruntime-gpu = \"1.21.0\"",
        "gpu = \"RTX 5080\"\ntoolkit = \"12.8\"\ncudnn = \"9.5\"",
        0,
        &["[cudnn-gpu]", "cuDNN 9.5 is older than RTX 5080: take one of >=9.7"],
    ),
    case(
        "onnxruntime-gpu = \"1.21.0\"",
        "gpu = \"RTX 5080\"\ntoolkit = \"12.8\"\ncudnn = \"9.8\"",
        0,
        &["![cudnn-gpu]"],
    ),
    case(
        "onnxruntime-gpu = \"1.21.0\"",
        "gpu = \"RTX 4080\"\ntoolkit = \"12.8\"\ncudnn = \"9.5\"",
        0,
        &["![cudnn-gpu]"],
    ),
    case("torch = \"2.7.1\"", "gpu = \"RTX 5090\"\ncudnn = \"9.5\"", 0, &["![cudnn-gpu]"]),
    case(
        "torch = { version = \"2.6.0\", cuda = \"12.8\", cudnn = \"9.5.1\", arch-list = \"12.0\" }",
        "gpu = \"RTX 5090\"",
        0,
        &["[cudnn-gpu]", "cuDNN 9.5.1 is older than RTX 5090"],
    ),
    // A Triton that fails on a GPU whichever assembler it is given, and one that only lacks the assembler.
    case(
        "torch = \"2.9.0+cu130\"",
        "gpu = \"B300\"",
        0,
        &["torch.compile of torch 2.9.0 fails on B300: Triton 3.5.0 crashes", "!TRITON_PTXAS_PATH can name"],
    ),
    case("torch = \"2.9.1+cu130\"", "gpu = \"B300\"", 0, &["!Triton 3.5.0", "TRITON_PTXAS_PATH can name"]),
    case("torch = \"2.9.0+cu130\"", "gpu = \"B200\"", 0, &["![triton-gpu]"]),
    case(
        "torch = \"2.6.0+cu118\"",
        "gpu = \"GTX 1080\"",
        0,
        &["does not run on GTX 1080: Triton needs compute capability >=7.0"],
    ),
    // Kernels are what the wheel for the processor holds, before they are of a release of the framework.
    case(
        "torch = \"2.9.0\"\ntorchao = \"0.14.1\"",
        "gpu = \"GB200\"",
        0,
        &["[kernels-skipped]", "for aarch64 holds none of its own kernels"],
    ),
    case(
        "torch = \"2.9.1\"\ntorchao = \"0.14.1\"",
        "gpu = \"GB200\"",
        0,
        &["for aarch64 holds none of its own kernels", "!take torch 2.9.0"],
    ),
    case("torch = \"2.9.0\"\ntorchao = \"0.14.1\"", "gpu = \"B200\"", 0, &["![kernels-skipped]"]),
    // Requirements of images name the brands of some markets; of which brand a mining board is nobody knows.
    case(
        "torch = \"2.6.0+cu124\"",
        "gpu = \"NVIDIA CMP 170HX\"\ndriver = \"535.183.01\"\nimage = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"",
        0,
        &["[image-compat]"],
    ),
    case(
        "torch = \"2.6.0+cu124\"",
        "gpu = \"sm_80\"\ndriver = \"535.183.01\"\nimage = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"",
        1,
        &["starts only on drivers whose CUDA version is 12.4 or newer"],
    ),
    // All of torchao 0.0.1 imports a name that torch has from 2.2 on, though it asks for any.
    case("torch = \"2.0.1\"\ntorchao = \"0.0.1\"", "gpu = \"A100\"", 1, &["torchao 0.0.1"]),
    case("torch = \"2.2.0\"\ntorchao = \"0.0.1\"", "gpu = \"A100\"", 0, &[]),
    case("torch = \"2.9.1\"\ntorchao = \"0.14.1\"", "gpu = \"B200\"", 0, &["take torch 2.9.0"]),
    case("torch = \"2.8.0\"\ntorchao = \"0.12.0\"", "gpu = \"GH200\"", 1, &[]),
    case("torch = \"2.7.1\"\ntorchao = \"0.12.0\"", "gpu = \"GH200\"", 0, &["[operators-on-cpu]"]),
    // An image in the place of another keeps its flavour where one of that CUDA and system has it.
    case(
        "jax = \"0.4.30\"",
        "gpu = \"V100\"\ndriver = \"515.65.01\"\nimage = \"nvidia/cuda:12.2.0-devel-ubuntu22.04\"",
        1,
        &["nvidia/cuda:11.7.1-devel-ubuntu22.04", "!12.0.1-base-ubuntu18.04"],
    ),
    case(
        "jax = \"0.4.30\"",
        "gpu = \"V100\"\ndriver = \"515.65.01\"\nimage = \"nvidia/cuda:12.2.0-base-ubuntu22.04\"",
        1,
        &["nvidia/cuda:11.7.1-base-ubuntu22.04"],
    ),
    // Names for one CUDA that a project gave up.
    case(
        "cupy-cuda116 = \"10.6.0\"",
        "gpu = \"RTX 4080\"",
        2,
        &["write `cupy-cuda11x`, as which cupy is known for CUDA 11"],
    ),
    case(
        "cupy-cuda92 = \"*\"",
        "gpu = \"RTX 4080\"",
        2,
        &["for CUDA 9 none is known; cupy is known as `cupy-cuda11x`"],
    ),
    case("bitsandbytes-cuda117 = \"*\"", "gpu = \"RTX 4080\"", 2, &["write `bitsandbytes`"]),
    case("nothing-cuda116 = \"*\"", "gpu = \"RTX 4080\"", 2, &["if it is an ordinary package"]),
    // A driver older than the toolkit: what is compiled on top of the stack is another matter than the wheels.
    case(
        "torch = \"2.1.0+cu118\"",
        "gpu = \"A100\"\ndriver = \"460.91.03\"\ntoolkit = \"11.8\"\n[build]",
        0,
        &["[jit-limited]", "nvcc without a list writes PTX", "!usually harmless"],
    ),
    case(
        "torch = \"2.1.0+cu118\"",
        "gpu = \"A100\"\ndriver = \"460.91.03\"\ntoolkit = \"11.8\"",
        0,
        &["[jit-limited]", "usually harmless"],
    ),
];

#[test]
fn what_tells_two_specs_apart_decides() {
    hold("neighbours", CASES);
}

fn locked(name: &str, spec: &str) -> Value {
    let (code, document) = Sandbox::new(&format!("neighbours-{name}"), spec).json(&["lock"]);
    assert_eq!(code, 0, "{document:#}");
    document
}

/// TensorFlow 2.4 takes CUDA and cuDNN of the system, so that targets that share a stack may differ in them. What stands above
/// all of them is that of a machine with a driver, of one that has an image or compiles before others.
#[test]
fn the_first_target_with_a_place_of_its_own_speaks_for_all() {
    const HOST: &str = "gpu = \"T4\"\ndriver = \"470.57.02\"\ntoolkit = \"11.0\"";
    const IMAGE: &str = "image = \"nvidia/cuda:11.0.3-cudnn8-runtime-ubuntu20.04\"";
    let stack = |name: &str, first: &str, second: &str| {
        let spec = format!("[stack]\ntensorflow = \"2.4.1\"\n[target.a]\n{first}\n[target.b]\n{second}\n");
        locked(name, &spec)["stack"]["cuda"].clone()
    };
    let in_image = format!("gpu = \"T4\"\ndriver = \"470.57.02\"\n{IMAGE}");
    assert_eq!(stack("image", HOST, &in_image), "11.0.3");
    assert_eq!(stack("no-gpu", &format!("gpu = \"none\"\n{IMAGE}"), HOST), "11.0");
}

/// How a GPU is reached is told of the framework that takes longest: JAX compiles for a new one, torch holds code for it.
#[test]
fn of_two_frameworks_the_slower_one_tells_how_a_gpu_is_reached() {
    let coverage = |name: &str, stack: &str| {
        let document = locked(name, &format!("[stack]\n{stack}\n[target.t]\ngpu = \"RTX 5090\"\n"));
        document["targets"]["t"]["gpus"][0]["coverage"].clone()
    };
    assert_eq!(coverage("torch", "torch = \"2.7.1\""), "native");
    assert_eq!(coverage("both", "torch = \"2.7.1\"\njax = \"0.4.34\""), "jit");
}

/// A package that has wheels without CUDA keeps nobody from the CPU build.
#[test]
fn what_would_give_a_cpu_build_is_told() {
    let spec =
        "[stack]\ntorch = \"2.5.1\"\ntorchvision = \"*\"\n[target.a]\ngpu = \"A100\"\n[target.b]\ngpu = \"none\"\n";
    let ran = Sandbox::new("neighbours-cpu", spec).with(&["lock"], &[("COLUMNS", "400")]);
    assert!(ran.err.contains("`share = \"versions\"` gives it the CPU build"), "{}", ran.err);
}
