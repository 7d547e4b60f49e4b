//! What `[packages]` asks for though nobody knows that it exists, what is for another CUDA, what brings a framework along
//! that is not chosen, and which Python is taken where none suits.

use crate::common::cases::{Case, case, hold};

const A100: &str = "gpu = \"A100-PCIE-40GB\"\nos = \"ubuntu22.04\"";

/// Source: the index page of nvidia-cublas and nvidia-cublas-cu12 on PyPI, 2026-11-28: 13.1.0.9, 12.4.5.9 and 99.0 are none.
const LIBRARIES: &[Case] = &[
    case(
        "torch = \"2.12.1+cu130\"\n[packages]\nnvidia-cublas = \"==13.1.0.9\"",
        A100,
        3,
        &["whether nvidia-cublas ==13.1.0.9 was published", "or write `nvidia-cublas = \"*\"`"],
    ),
    // No build is chosen that does without the library: it is installed all the same.
    case(
        "torch = \"2.5.1\"\n[packages]\nnvidia-cublas-cu12 = \"==12.4.5.9\"",
        A100,
        3,
        &["cublas-cu12 ==12.4.5.9 was"],
    ),
    case("torch = \"*\"\n[packages]\nnvidia-cublas = \"==99.0\"", A100, 3, &["the newest known is 13."]),
    case("torch = \"*\"\n[packages]\nnvidia-cusparselt-cu13 = \"==9.9\"", A100, 3, &["nvidia-cusparselt-cu13 ==9.9"]),
    case("torch = \"*\"\n[packages]\nnvidia-nvshmem-cu13 = \"==99\"", A100, 3, &["nvidia-nvshmem-cu13 ==99"]),
    case("jax = \"*\"\n[packages]\nnvidia-cublas = \"==13.0.0.5\"", A100, 3, &["nvidia-cublas ==13.0.0.5"]),
    case(
        "cupy-cuda12x = \"*\"\n[packages]\nnvidia-cublas-cu12 = \"==12.99\"",
        A100,
        3,
        &["nvidia-cublas-cu12 ==12.99"],
    ),
    // What a build pins is another, whether that one exists or not; and no fix leads to a library that nobody knows.
    case(
        "torch = \"2.5.1+cu124\"\n[packages]\nnvidia-cublas-cu12 = \"==12.4.5.9\"",
        A100,
        1,
        &["torch 2.5.1+cu124 requires nvidia-cublas-cu12 ==12.4.5.8", "!2.5.1+cu118"],
    ),
    case("torch = \"2.5.1\"\n[packages]\nnvidia-cublas-cu12 = \"==12.1.3.1\"", A100, 0, &["lock: 2.5.1+cu121"]),
    case("jax = \"*\"\n[packages]\nnvidia-cublas = \"==13.4.1.3\"", A100, 0, &[]),
    // Of a package that no build and no toolkit names nothing is known.
    case("torch = \"*\"\n[packages]\nnvidia-modelopt = \"==99\"", A100, 0, &["!was published"]),
    // The libraries of CUDA 13 have no CUDA in their names.
    case(
        "torch = \"2.12.1+cu126\"\n[packages]\nnvidia-cublas = \"*\"",
        A100,
        0,
        &["nvidia-cublas under [packages] is for CUDA 13, and torch 2.12.1+cu126 is built for CUDA 12.6"],
    ),
    case("torch = \"2.12.1+cu130\"\n[packages]\nnvidia-cublas = \"*\"", A100, 0, &["!package-cuda"]),
];

#[test]
fn a_library_that_nobody_knows_is_not_met_by_a_build_that_does_without() {
    hold("libraries-written", LIBRARIES);
}

const FRAMEWORKS: &[Case] = &[
    // Source: `uv pip compile` of what was exported takes torch 2.15.0 for CUDA 13, which driver 535 does not run.
    case(
        "tensorflow = \"2.15\"\npython = \"3.11\"\n[packages]\nsentence-transformers = \"*\"",
        "gpu = \"RTX 3090\"\ndriver = \"535\"",
        0,
        &[
            "sentence-transformers under [packages] needs torch, and [stack] has none",
            "write `torch = \"*\"` under [stack]",
        ],
    ),
    case(
        "jax = \"*\"\n[packages]\naccelerate = \"*\"\ntransformers = \"[torch]\"",
        A100,
        0,
        &["accelerate and transformers under [packages] need torch"],
    ),
    case(
        "tensorflow = \"2.19\"\n[packages]\nlightning = \"*\"",
        "gpu = \"none\"",
        0,
        &["lightning under [packages] needs"],
    ),
    case(
        "cupy-cuda12x = \"*\"\n[packages]\nultralytics = \"*\"",
        A100,
        0,
        &["ultralytics under [packages] needs torch"],
    ),
    // What is chosen, or stands in the image, or is asked for by no metadata, is not brought along.
    case("torch = \"*\"\n[packages]\naccelerate = \"*\"", A100, 0, &["!package-framework"]),
    case("jax = \"*\"\n[packages]\ntransformers = \"*\"\nnumpy = \"*\"", A100, 0, &["!package-framework"]),
    case(
        "python = \"3.11\"\n[packages]\naccelerate = \"*\"",
        "gpu = \"A100-PCIE-40GB\"\nimage = \"pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime\"",
        0,
        &["!package-framework"],
    ),
];

/// Source: tensorflow_addons/utils/types.py of 0.14.0 to 0.20.0 imports keras.engine, which keras 2.13.1 has no more. Of axolotl
/// 0.5.2 to 0.16.1 only sources are published, whose build computes what they ask for: `uv pip compile` takes 0.12.2 beside
/// torch 2.6.0.
const READ: &[Case] = &[
    case(
        "tensorflow = \"2.17\"\npython = \"3.11\"\n[packages]\ntensorflow-addons = \"*\"",
        A100,
        0,
        &["`tensorflow-addons = \"*\"` needs tensorflow <2.16", "locked: it fails", "!lock: tensorflow-addons<"],
    ),
    case(
        "tensorflow = \"2.15\"\npython = \"3.11\"\n[packages]\ntensorflow-addons = \"<0.21\"",
        A100,
        0,
        &["needs tensorflow <2.13", "No module named 'keras.engine'"],
    ),
    case(
        "tensorflow = \"2.12\"\npython = \"3.11\"\n[packages]\ntensorflow-addons = \"<0.21\"",
        A100,
        0,
        &["!package-excluded"],
    ),
    case("torch = \"2.6.0\"\npython = \"3.11\"\n[packages]\naxolotl = \"*\"", A100, 0, &["!package-excluded"]),
    case("torch = \"2.6.0\"\npython = \"3.11\"\n[packages]\naxolotl = \"==0.12.2\"", A100, 0, &["package-not-checked"]),
    case("torch = \"2.6.0\"\npython = \"3.11\"\n[packages]\naxolotl = \"==0.5.0\"", A100, 0, &["package-excluded"]),
];

/// Source: METADATA of each. TensorFlow 2.15.1 bounds protobuf by `<5.0.0dev`; vllm asks for numba and setuptools otherwise from
/// Python to Python; torch 2.5.1 for sympy from Python 3.9 on, the oldest that it has wheels for.
const ON_SOME_PYTHONS: &[Case] = &[
    case(
        "tensorflow = \"2.15.1\"\n[packages]\nprotobuf = \"==5.29.5\"",
        A100,
        0,
        &["package-excluded", "<5.0.0", "tensorflow 2.15.1"],
    ),
    case("tensorflow = \"2.15.1\"\n[packages]\nprotobuf = \"==4.25.3\"", A100, 0, &["!package-excluded"]),
    // lmcache 0.5.6 requires protobuf >=6.31.1.
    case("tensorflow = \"2.19\"\nlmcache = \"0.5.6\"\npython = \"3.12\"", "gpu = \"none\"", 1, &["protobuf"]),
    case(
        "vllm = \"0.11.0\"\npython = \"3.12\"\n[packages]\nnumba = \">=0.62\"",
        A100,
        0,
        &["package-excluded", "==0.61.2", "vllm 0.11.0"],
    ),
    case("vllm = \"0.11.0\"\npython = \"3.12\"\n[packages]\nnumba = \"==0.61.2\"", A100, 0, &["!package-excluded"]),
    case("vllm = \"0.11.0\"\npython = \"3.9\"\n[packages]\nnumba = \"==0.60\"", A100, 0, &["!package-excluded"]),
    case(
        "vllm = \"0.33.0\"\npython = \"3.12\"\n[packages]\nsetuptools = \">=82\"",
        "gpu = \"H100\"",
        0,
        &["package-excluded", "<81.0.0"],
    ),
    case(
        "vllm = \"0.33.0\"\npython = \"3.11\"\n[packages]\nsetuptools = \">=82\"",
        "gpu = \"H100\"",
        0,
        &["!package-excluded"],
    ),
    case("torch = \"2.5.1\"\n[packages]\nsympy = \">=1.13.3\"", A100, 0, &["package-excluded", "==1.13.1"]),
];

#[test]
fn what_is_asked_for_on_some_pythons_holds_there() {
    hold("packages-pythons", ON_SOME_PYTHONS);
}

#[test]
fn what_is_read_of_packages_is_told_and_no_more() {
    hold("packages-read", READ);
}

#[test]
fn a_framework_that_packages_bring_along_is_told() {
    hold("frameworks-brought", FRAMEWORKS);
}

const PYTHONS: &[Case] = &[
    // None suits of those that the named release has: the newest that is out for a year, as without the package.
    case(
        "torch = \"2.15\"\n[packages]\nnumpy = \"<1.20\"",
        A100,
        0,
        &["package-excluded", "lock: stack.python = \"3.14\""],
    ),
    case("jax = \"0.12\"\n[packages]\nscipy = \"==1.7\"", A100, 0, &["lock: stack.python = \"3.14\""]),
    case("torch = \"2.15\"\n[packages]\nscikit-learn = \"==1.0\"", A100, 0, &["lock: stack.python = \"3.14\""]),
    // What suits is taken, and of two that suit different ones the line that leaves out one.
    case(
        "torch = \"2.8\"\n[packages]\nscipy = \"==1.11.1\"",
        A100,
        0,
        &["!package-excluded", "lock: stack.python = \"3.11\""],
    ),
    case(
        "torch = \"2.9\"\n[packages]\nscipy = \"==1.11.1\"\nnumpy = \"<1.20\"",
        A100,
        0,
        &["lock: stack.python = \"3.11\""],
    ),
];

#[test]
fn where_packages_suit_no_python_the_young_one_is_not_taken() {
    hold("pythons-left-out", PYTHONS);
}
