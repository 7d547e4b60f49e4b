//! Silent answers and false conflicts that fresh eyes found: each case is a law that was missing.

use crate::common::cases::{Case, case, hold};

const CASES: &[Case] = &[
    // What loads the system's cuDNN asks for nothing of the one that torch brings.
    case(
        "torch = \"2.5.1\"\ntensorflow = \"*\"\npython = \"3.10\"",
        "gpu = \"RTX 3060\"",
        0,
        &["lock: stack.tensorflow = \"2.12"],
    ),
    // A triton that torch asks for on some Python binds where none is written: bitsandbytes 0.45.0 imports triton.ops.
    case("bitsandbytes = \"0.45.0\"", "gpu = \"RTX 4090\"", 0, &["lock: stack.triton = \"3.1.0\""]),
    // Nobody knows the brand of a GB10: <https://github.com/ggml-org/llama.cpp/issues/22561>.
    case(
        "cuda = \"13.1\"\n[build]",
        "gpu = \"NVIDIA GB10\"\ndriver = \"580.142\"\nimage = \"nvidia/cuda:13.1.0-devel-ubuntu24.04\"",
        0,
        &["[jit-limited]"],
    ),
    // That code would load says nothing of the libraries beside it.
    case("cuda = \"9.2\"\n[build]\narch-list = \"7.0\"", "gpu = \"T4\"", 1, &["CUDA libraries know Turing"]),
    // Tags that nobody read are of a CUDA that has no cuDNN 8.
    case(
        "cuda = \">=12.4\"\ncudnn = \"8\"",
        "gpu = \"V100\"\nruntime = \"container\"\nimage = \"nvidia/cuda\"\nos = \"ubuntu22.04\"",
        1,
        &["!13.5.0"],
    ),
    // xformers for that torch has wheels for other Pythons, and older releases of others ask for what goes.
    case(
        "torch = \"2.6.0\"\n[packages]\nunsloth = \"*\"",
        "gpu = \"A100\"",
        0,
        &["!package-brings", "!lock: unsloth<"],
    ),
    case(
        "torch = \"2.9.1\"\n[packages]\nautotrain-advanced = \"*\"",
        "gpu = \"A100\"",
        0,
        &["!lock: package = \"bitsandbytes\""],
    ),
    // What fails is told of the release that installers take, not of newer ones that they pass over.
    case(
        "torch = \"2.1.0\"\npython = \"3.10\"\n[packages]\ntransformers = \">=5\"",
        "gpu = \"T4\"",
        0,
        &["needs torch >=2.6", "!requires Python >=3.11"],
    ),
];

#[test]
fn what_fresh_eyes_found() {
    hold("fresh-eyes", CASES);
}
