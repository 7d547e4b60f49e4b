//! What is said and offered of what is near: the nearest change that does not fail, fewer GPUs before fewer packages, and the
//! compiler and the toolkit that are said to be there.

use crate::common::cases::{Case, case, hold};

const CASES: &[Case] = &[
    // A gcc that is too old for torch's headers binds as one that nvcc refuses does.
    case(
        "torch = \"1.13.1+cu117\"\ndeepspeed = \"0.9.2\"",
        "gpu = \"A100\"\ntoolkit = \"11.7\"\ngcc = \"5.4\"",
        1,
        &["are compiled with gcc 6 or newer", "change gcc from 5.4 to 6", "!remove `toolkit"],
    ),
    case(
        "torch = \"1.13.1+cu117\"\ndeepspeed = \"0.9.2\"",
        "gpu = \"A100\"\ntoolkit = \"11.7\"\ngcc = \"7.2\"",
        0,
        &["!source-compiler"],
    ),
    // That of the system alone is one beside which another may be installed.
    case(
        "torch = \"2.0.1+cu118\"\ndeepspeed = \"0.9.5\"",
        "gpu = \"A100\"\ntoolkit = \"11.8\"\nos = \"ubuntu24.04\"",
        0,
        &["[source-compiler]"],
    ),
    // Wheels may lie where nobody has read which.
    case(
        "torch = \"2.6.0\"\nmamba-ssm = \"2.2.4\"\npython = \"3.10\"",
        "gpu = \"A100\"\ntoolkit = \"12.4\"\ngcc = \"8.5\"",
        3,
        &["whether a finished wheel of mamba-ssm 2.2.4", "change gcc from 8.5 to 9"],
    ),
    // A toolkit that is there is there, whoever says so no more.
    case(
        "torch = \"2.0.1+cu118\"\ndeepspeed = \"0.9.5\"",
        "gpu = \"A100\"\ntoolkit = \"11.8\"\ngcc = \"12.2\"",
        1,
        &["nvcc of CUDA 11.8 accepts gcc up to 11", "change gcc from 12.2 to 11", "!remove `toolkit"],
    ),
    // What comes as source is compiled by the toolkit that is there: of two stable builds that of its CUDA is taken.
    case(
        "torch = \"2.5.1\"\ntorch-scatter = \"*\"",
        "gpu = \"A100\"\ntoolkit = \"12.1\"",
        0,
        &["torch 2.5.1+cu121", "!toolkit-minor"],
    ),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\ntoolkit = \"12.1\"", 0, &["torch 2.5.1+cu124"]),
    // The nearest that does not fail, the newest, and the nearest that fails.
    case(
        "torch = \"1.8.1+cu102\"",
        "gpu = \"RTX 4060 Ti\"",
        1,
        &["1. change torch from 1.8.1+cu102 to 2.0.0+cu118;", "3. change torch from 1.8.1+cu102 to 1.8.1+cu111 (with"],
    ),
    case("torch = \"1.8.1+cu102\"", "gpu = \"RTX 3090\"", 1, &["1. change torch from 1.8.1+cu102 to 1.8.1+cu111;"]),
    // Who lists two GPUs and a package that one of them does not run means the package.
    case(
        "torch = \"2.6.0+cu124\"\nvllm = \"0.8.5\"",
        "gpu = [\"RTX 3090\", \"GTX 1080 Ti\"]",
        1,
        &["1. change gpu from [\"RTX 3090\", \"GTX 1080 Ti\"] to RTX 3090", "2. remove `vllm = \"0.8.5\"`"],
    ),
    // A package whose own kernels are Triton's is named wherever Triton fails.
    case(
        "vllm = \"0.11.2\"",
        "gpu = \"GB10\"\ndriver = \"580\"",
        0,
        &["[triton-gpu]", "its engine was seen to end as it started where Triton fails"],
    ),
    case("torch = \"2.9.0+cu130\"", "gpu = \"GB10\"\ndriver = \"580\"", 0, &["[triton-gpu]", "!where Triton fails"]),
    case(
        "torch = \"2.9.0+cu130\"",
        "gpu = \"GB10\"\ndriver = \"580\"\n[packages]\nunsloth = \"*\"",
        0,
        &["[triton-gpu]", "or newer. Unsloth's own kernels are Triton's"],
    ),
    // The cuBLAS of a CUDA that was left open is that of its wheel, and CuPy's that of the machine.
    case(
        "jax = \"0.4.31\"",
        "gpu = \"H20\"\n[packages]\nnvidia-cublas-cu12 = \"==12.1.3.1\"",
        0,
        &["matrix products of jax 0.4.31 crash on H20", "; take CUDA 12.3 or newer"],
    ),
    case("jax = \"0.4.31\"", "gpu = \"H20\"", 0, &["!cuda-gpu"]),
    case("cupy-cuda12x = \"*\"", "gpu = \"H20\"\ntoolkit = \"12.2\"", 0, &["matrix products of cupy-cuda12x"]),
    case("cupy-cuda12x = \"*\"", "gpu = \"H20\"\ntoolkit = \"12.3\"", 0, &["!cuda-gpu"]),
];

#[test]
fn the_nearest_that_does_not_fail_is_offered_first() {
    hold("near", CASES);
}
