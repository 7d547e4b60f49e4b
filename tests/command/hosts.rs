//! What a host itself has to say: its Python beside torch.compile, its kernel, its JetPack, the driver of Windows, the
//! architectures that are insisted on for its GPU. Each case was answered otherwise once.

use crate::common::cases::{Case, case, hold};

/// With which Python torch.compile runs. Source: torch/_dynamo/eval_frame.py of each wheel of torch.
const COMPILING: &[Case] = &[
    // The chosen Python is one with which it does, on a CPU too; the newest was chosen once.
    case("torch = \"2.9\"", "gpu = \"H100\"", 0, &["python       3.13", "!triton-python"]),
    case("torch = \"2.0.1\"", "gpu = \"A100\"", 0, &["python       3.10", "!triton-python"]),
    case("torch = \"2.5.1+cpu\"", "gpu = \"none\"", 0, &["python  3.12", "!triton-python"]),
    case("torch = \"2.3.1\"", "gpu = \"A100\"", 0, &["python       3.11", "triton       2.3.1", "!triton-python"]),
    // A written one warns, and the newest with which it does is told, those that are expected among it.
    case(
        "torch = \"2.9.1\"\npython = \"3.14\"",
        "gpu = \"H100\"",
        0,
        &[
            "[triton-python]",
            "torch.compile of torch 2.9.1 does not run with Python 3.14: torch 2.6 to 2.9 refuse torch.compile with Python 3.14",
            "`python = \"3.13\"` under [stack] is the newest with which it does",
        ],
    ),
    case(
        "torch = \"2.5.1+cpu\"\npython = \"3.13\"",
        "gpu = \"none\"",
        0,
        &["[triton-python]", "`python = \"3.12\"` under [stack]"],
    ),
    case(
        "torch = \"2.14.1+cu132\"\npython = \"3.15\"",
        "gpu = \"H100\"",
        0,
        &["[triton-python]", "`python = \"3.14\"` under [stack]"],
    ),
    case("torch = \"2.15.0\"\npython = \"3.15\"", "gpu = \"H100\"", 0, &["!triton-python"]),
    // What leaves no other choice is not left out for it.
    case("torch = \"2.9.1\"\npython = \">=3.14\"", "gpu = \"H100\"", 0, &["python       3.14", "[triton-python]"]),
    // Where Triton never runs no Python helps.
    case(
        "torch = \"2.3.1\"\npython = \"3.12\"",
        "gpu = \"Tesla P100-PCIE-16GB\"",
        0,
        &["[triton-gpu]", "!triton-python", "!is the newest with which"],
    ),
];

#[test]
fn the_chosen_python_is_one_with_which_torch_compile_runs() {
    hold("compiling", COMPILING);
}

/// Sources: <https://docs.nvidia.com/cuda/hopper-compatibility-guide>, section 1.4.1; CUDA's guide of PTX.
const LISTS: &[Case] = &[
    case(
        "cuda = \"11.7\"\n[build]\narch-list = \"8.0+PTX\"",
        "gpu = \"H100 80GB HBM3\"\ntoolkit = \"11.7\"\nos = \"rhel9\"\ndriver = \"550.90.07\"\ngcc = \"11.3\"",
        0,
        &["[jit-only]", "toolkit    11.7.1"],
    ),
    case(
        "cuda = \"12.4\"\n[build]\narch-list = \"9.0+PTX\"",
        "gpu = \"RTX 5090\"\ntoolkit = \"12.4\"\nos = \"ubuntu22.04\"\ndriver = \"580.95.05\"",
        0,
        &["[jit-only]"],
    ),
    // Without PTX nothing of it runs there, and without a list nvcc is asked for the GPU's own code.
    case("cuda = \"12.4\"\n[build]\narch-list = \"9.0\"", "gpu = \"RTX 5090\"\ntoolkit = \"12.4\"", 1, &[]),
    case("cuda = \"12.4\"\n[build]", "gpu = \"RTX 5090\"\ntoolkit = \"12.4\"", 1, &["does not know sm_120"]),
];

#[test]
fn a_list_that_reaches_the_gpu_by_ptx_needs_no_newer_toolkit() {
    hold("lists", LISTS);
}

/// Sources: <https://github.com/ultralytics/ultralytics/blob/main/docker/Dockerfile-jetson-jetpack4>, which has a wheel of torch
/// 1.11.0 for Python 3.8; <https://github.com/dusty-nv/jetson-containers/issues/1557>.
const JETPACKS: &[Case] = &[
    case(
        "torch = \">=1.8\"\npython = \"3.8\"",
        "gpu = \"Jetson Nano\"\nos = \"jetpack4.6\"",
        3,
        &["whether torch 1.11.0+cu102 has a wheel for Python 3.8", "where wheels for jetpack4.6 are kept"],
    ),
    case("torch = \"2.6\"\npython = \"3.11\"", "gpu = \"Jetson Orin Nano\"\nos = \"jetpack6.2\"", 3, &["not known"]),
    case("torch = \"1.11\"\npython = \"3.6\"", "gpu = \"Jetson Nano\"\nos = \"jetpack4.6\"", 0, &[]),
    // One that nobody has seen would be for the CUDA of its JetPack, not for that of other machines.
    case(
        "torch = \"1.13\"",
        "gpu = \"Jetson Nano\"\nos = \"jetpack4.6\"",
        3,
        &["whether torch 1.13.1 was built for jetpack4.6"],
    ),
    // Of a version that was seen there it is another Python, or what goes beside it, that nobody knows of.
    case(
        "torch = \"2.8.0\"\npython = \"3.12\"",
        "gpu = \"Jetson Orin Nano\"\nos = \"jetpack6.2\"",
        3,
        &["whether torch 2.8.0+cu126 has a wheel for Python 3.12", "!whether torch 2.8.0 was built"],
    ),
    case(
        "torch = \"2.8.0+cu129\"",
        "gpu = \"Jetson Orin Nano\"\nos = \"jetpack6.2\"",
        3,
        &["whether torch 2.8.0+cu129 was built for jetpack6.2"],
    ),
    case(
        "torch = \"2.11\"\ntorchaudio = \"*\"",
        "gpu = \"Jetson Orin Nano\"\nos = \"jetpack6.2\"",
        3,
        &["whether torchaudio 2.11.1 was built for jetpack6.2", "!whether torch 2.11", "!for Python"],
    ),
    case(
        "torch = \"*\"",
        "gpu = \"Jetson AGX Thor\"\nimage = \"nvcr.io/nvidia/l4t-jetpack:r36.4.0\"",
        1,
        &["is made for boards of compute capability 8.7 only", "Jetson AGX Thor has compute capability 11.0"],
    ),
];

#[test]
fn nobody_has_read_the_list_of_what_was_made_for_a_jetpack() {
    hold("jetpacks", JETPACKS);
}

/// Source: <https://github.com/NVIDIA/open-gpu-kernel-modules>, README.md and nv-linux.h of 550.163.01 and 555.42.02.
const KERNELS: &[Case] = &[
    case(
        "torch = \"2.6.0+cu124\"",
        "gpu = \"A100\"\nos = \"centos7\"",
        0,
        &["!R595", "!recommended", "!driver-kernel"],
    ),
    case("torch = \"2.6.0+cu124\"", "gpu = \"A100\"\nos = \"debian9\"", 0, &["!R595", "!recommended"]),
    case("torch = \"2.6.0+cu124\"", "gpu = \"A100\"\nos = \"sles12.5\"", 0, &["!R595", "!recommended"]),
    case(
        "torch = { version = \"2.7.1\", cuda = \"12.8\", arch-list = \"12.0\" }",
        "gpu = \"RTX 5090\"\nos = \"centos7\"",
        0,
        &[
            "[driver-kernel]",
            "Drivers from 555.42.02 on need Linux 4.15 or newer, and RHEL / CentOS 7 comes with Linux 3.10",
            "driver 570.26 cannot be installed on it, and R550 is the newest branch that can",
        ],
    ),
    case(
        "torch = { version = \"2.5.1\", cuda = \"12.4\", arch-list = \"8.0\" }",
        "gpu = \"A100\"\nos = \"sles15.1\"\ndriver = \"570.86.15\"",
        0,
        &["[driver-kernel]", "SLES 15 SP1 comes with Linux 4.12: driver 570.86.15", "R550"],
    ),
    case(
        "torch = { version = \"2.5.1\", cuda = \"12.4\", arch-list = \"8.0\" }",
        "gpu = \"A100\"\nos = \"opensuse-leap15.2\"\ndriver = \"570.86.15\"",
        0,
        &["!driver-kernel"],
    ),
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\nos = \"centos7\"\ndriver = \"535.183.01\"",
        0,
        &["!driver-kernel", "!consider R", "[driver-end-of-life]"],
    ),
    // Oracle Linux 7 has a newer kernel, and of a container's system nobody takes the kernel.
    case("torch = \"2.5.1\"", "gpu = \"A100\"\nos = \"ol7\"\ndriver = \"570.86.15\"", 0, &["!driver-kernel"]),
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\nos = \"centos7\"\nruntime = \"container\"\ndriver = \"570.86.15\"",
        0,
        &["!driver-kernel"],
    ),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\nos = \"rhel8\"\ndriver = \"570.86.15\"", 0, &["!driver-kernel"]),
];

#[test]
fn a_driver_needs_a_kernel_that_its_system_has() {
    hold("kernels", KERNELS);
}

/// Source of Windows' numbers: CUDA's release notes and its guide of minor-version compatibility.
const WINDOWS: &[Case] = &[
    case(
        "torch = \"2.6\"",
        "gpu = \"RTX 3090\"\nplatform = \"wsl2\"\ndriver = \"527.41\"",
        0,
        &["[triton-driver]", ">=528.33 of Windows", "!525.60.13"],
    ),
    case("torch = \"2.6\"", "gpu = \"RTX 3090\"\nplatform = \"wsl2\"\ndriver = \"528.33\"", 0, &["!triton-driver"]),
];

#[test]
fn torch_compile_under_wsl2_asks_for_a_driver_of_windows() {
    hold("windows", WINDOWS);
}

/// Sources: <https://github.com/sgl-project/sglang/issues/6801>, <https://github.com/NVIDIA/nvbandwidth/issues/39>,
/// <https://github.com/ppc64le/pyeco/issues/106>.
const OTHERS: &[Case] = &[
    case(
        "torch = \"2.6.0\"\nsglang = \"*\"\npython = \"3.11\"",
        "gpu = \"NVIDIA A40\"\nos = \"rhel8\"\ntoolkit = \"12.6\"\ndriver = \"560.35.03\"",
        0,
        &["[source-compiler]", "flashinfer-python 0.2.5, which sglang 0.4.6.post5 requires, does not compile"],
    ),
    case(
        "torch = \"2.9.0+cu130\"",
        "gpu = \"H200\"\ndriver = \"560.35.03\"\nimage = \"nvidia/cuda\"",
        1,
        &["NVIDIA does not name R560 among the driver branches that cuda-compat-13-0 runs on"],
    ),
    case("torch = \"*\"", "gpu = \"V100-SXM2-32GB\"\narch = \"ppc64le\"", 2, &["POWER", "!write `arch"]),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\nos = \"opensuse-tumbleweed\"", 0, &["!os-not-listed"]),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\nos = \"dgxos7\"", 0, &["!os-not-listed"]),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\nos = \"linuxmint22\"", 0, &["!os-not-listed"]),
    // A vGPU is of the brand of its licence.
    case(
        "torch = \"2.5.1\"",
        "gpu = \"GRID A16-16C\"\nimage = \"example.org/x:1\"\nimage-requires = \"cuda>=12.0 brand=vcs\"\ndriver = \"570.86.15\"",
        0,
        &[],
    ),
];

#[test]
fn what_hosts_have_is_told() {
    hold("hosts", OTHERS);
}
