//! Rules about a part of a package: they refuse nothing, and say what does not run there.

use crate::common::cases::{Case, case, hold};

const CASES: &[Case] = &[
    // https://github.com/vllm-project/vllm/issues/18967: _moe_C alone needs glibc 2.29.
    case(
        "vllm = \"0.10.0\"",
        "gpu = \"A100\"\nos = \"rocky8\"",
        0,
        &["[part-fails]", "glibc 2.28: of vLLM", "lock: vllm-0.9-moe-glibc"],
    ),
    case("vllm = \"0.9.0\"", "gpu = \"A100\"\nglibc = \"2.28\"", 0, &["[part-fails]"]),
    case("vllm = \"0.11.2\"\ntorch = \"+cu129\"", "gpu = \"A100\"\nos = \"rhel8\"", 0, &["[part-fails]"]),
    case("vllm = \"0.11.0\"", "gpu = \"A100\"\nos = \"rocky9\"", 0, &["!part-fails", "!lock: vllm-0.9-moe-glibc"]),
    case("vllm = \"0.12.0\"", "gpu = \"A100\"\nos = \"rocky8\"", 1, &["needs glibc 2.31"]),
    case("vllm = \"0.8.5.post1\"", "gpu = \"A100\"\nos = \"rocky8\"", 0, &["!part-fails"]),
    // Below 2.28 torch does not load.
    case("vllm = \"0.10.0\"", "gpu = \"A100\"\nos = \"centos7\"", 1, &["glibc 2.17"]),
    // https://github.com/bitsandbytes-foundation/bitsandbytes/issues/538: 4-bit runs on Hopper, 8-bit does not.
    case(
        "torch = \"2.5.1\"\nbitsandbytes = \"0.44.1\"",
        "gpu = \"H100 80GB HBM3\"",
        0,
        &["[part-fails]", "LLM.int8", "on H100 80GB HBM3: 8-bit"],
    ),
    case("torch = \"2.0.1+cu118\"\nbitsandbytes = \"0.40.2\"", "gpu = \"H100 PCIe\"", 0, &["[part-fails]"]),
    case("torch = \"2.5.1\"\nbitsandbytes = \"0.45.0\"", "gpu = \"H100 80GB HBM3\"", 0, &["!part-fails"]),
    case("torch = \"2.5.1\"\nbitsandbytes = \"0.44.1\"", "gpu = \"L40S\"", 0, &["!part-fails", "!lock: int8"]),
    case(
        "torch = \"2.5.1\"\nbitsandbytes = \"0.44.1\"",
        "gpu = [\"A100\", \"H200\"]",
        0,
        &["[part-fails]", "on H200: 8-bit"],
    ),
    case("torch = \"2.5.1\"\nbitsandbytes = \">=0.43\"", "gpu = \"H100 80GB HBM3\"", 0, &["!part-fails"]),
];

/// DeepSpeed compares the minor release of nvcc with that of torch, and has a list of those that go together.
/// <https://github.com/deepspeedai/DeepSpeed/issues/924>, and op_builder/builder.py of each release.
const MINORS: &[Case] = &[
    case(
        "torch = \"1.8.1+cu111\"\ndeepspeed = \"0.3.13\"",
        "gpu = \"RTX 3090\"\ntoolkit = \"11.2\"",
        0,
        &[
            "[part-fails]",
            "with CUDA 11.2 (CUDA 11.1 serves beside torch for CUDA 11.1): DeepSpeed",
            "lock: deepspeed-0.3-minor",
        ],
    ),
    case(
        "torch = \"1.8.1+cu111\"\ndeepspeed = \"0.4.0\"",
        "gpu = \"RTX 3090\"\ntoolkit = \"11.2\"",
        0,
        &["!part-fails"],
    ),
    case("torch = \"1.8.1+cu102\"\ndeepspeed = \"0.3.13\"", "gpu = \"V100\"\ntoolkit = \"10.1\"", 0, &["[part-fails]"]),
    case("torch = \"1.7.1+cu110\"\ndeepspeed = \"0.3.13\"", "gpu = \"A100\"\ntoolkit = \"11.1\"", 0, &["!part-fails"]),
    case(
        "torch = \"2.3.1+cu121\"\ndeepspeed = \"0.14.0\"",
        "gpu = \"A100\"\ntoolkit = \"12.4\"",
        0,
        &["[part-fails]", "CUDA 12.0 to 12.3 serve", "DS_SKIP_CUDA_CHECK=1"],
    ),
    case(
        "torch = \"2.3.1+cu121\"\ndeepspeed = \"0.14.0\"",
        "gpu = \"A100\"\ntoolkit = [\"12.4\", \"12.3\"]",
        0,
        &["!part-fails"],
    ),
    case("torch = \"2.8.0+cu129\"\ndeepspeed = \"0.16.4\"", "gpu = \"H100\"\ntoolkit = \"12.8\"", 0, &["[part-fails]"]),
    case("torch = \"2.8.0+cu129\"\ndeepspeed = \"0.17.2\"", "gpu = \"H100\"\ntoolkit = \"12.8\"", 0, &["!part-fails"]),
    case(
        "torch = \"2.10.0+cu130\"\ndeepspeed = \"0.18.9\"",
        "gpu = \"H100\"\ntoolkit = \"13.1\"",
        0,
        &["[part-fails]"],
    ),
    case("torch = \"2.10.0+cu130\"\ndeepspeed = \"0.18.9\"", "gpu = \"H100\"", 0, &["!part-fails"]),
    case(
        "torch = \"2.9.1+cu130\"\ndeepspeed = \"0.18.9\"",
        "gpu = \"H100\"\ntoolkit = \"13.2\"\n[build]",
        0,
        &["[part-fails]", "CUDA 13.0 serves"],
    ),
    // Of what is open the one that serves, though the driver knows the other by itself.
    case(
        "torch = \"2.3.1+cu121\"\ndeepspeed = \"0.14.0\"",
        "gpu = \"A100\"\ntoolkit = [\"12.4\", \"12.2\"]\n[build]",
        0,
        &["!part-fails", "toolkit 12.2"],
    ),
    case(
        "torch = \"2.6.0+cu126\"\ndeepspeed = \"0.15.2\"",
        "gpu = \"A100\"\ntoolkit = [\"12.5\", \"12.6\"]\n[build]",
        0,
        &["!part-fails", "toolkit 12.6"],
    ),
    // Where no toolkit is named, those that serve are.
    case(
        "torch = \"1.8.1+cu111\"\ndeepspeed = \"0.3.13\"",
        "gpu = \"RTX 3090\"",
        0,
        &["!part-fails", "a CUDA 11 toolkit ==11.1"],
    ),
    case(
        "torch = \"2.3.1+cu121\"\ndeepspeed = \"0.14.0\"",
        "gpu = \"A100\"",
        0,
        &["!part-fails", "a CUDA 12 toolkit >=12.0,<=12.3"],
    ),
    // Of 0.19.8 nothing compares what is compiled when it is used.
    case("torch = \"2.10.0+cu130\"\ndeepspeed = \"0.19.8\"", "gpu = \"H100\"\ntoolkit = \"13.1\"", 0, &["!part-fails"]),
    case(
        "torch = \"1.8.1+cu111\"\ndeepspeed = \"0.5.0\"",
        "gpu = \"RTX 3090\"\ntoolkit = \"11.5\"",
        0,
        &["[part-fails]", "CUDA 11.0 to 11.3 serve", "lock: deepspeed-0.12-minor"],
    ),
];

/// What a part asks for of another package, for which no metadata does.
const ASKING: &[Case] = &[
    // https://github.com/pytorch/audio/issues/4123: load and save of torchaudio 2.9 are torchcodec's.
    case(
        "torch = \"2.9.0\"\ntorchaudio = \"2.9.0\"",
        "gpu = \"RTX 4090\"",
        0,
        &[
            "[part-lacks]",
            "a part of torchaudio 2.9.0 does not work where torchcodec is missing",
            "`torchcodec = \"*\"`",
            "!lock: torchcodec",
        ],
    ),
    case("torch = \"2.10.0\"\ntorchaudio = \"*\"", "gpu = \"A100\"", 0, &["[part-lacks]"]),
    case("torch = \"2.10.0\"\ntorchaudio = \"*\"\ntorchcodec = \"*\"", "gpu = \"A100\"", 0, &["!part-lacks"]),
    case("torch = \"2.8.0\"\ntorchaudio = \"*\"", "gpu = \"A100\"", 0, &["!part-lacks"]),
    // What vllm brings along loads nothing by itself.
    case("vllm = \"0.13.0\"", "gpu = \"A100\"", 0, &["!part-lacks"]),
    // rxn4chemistry/rxnmapper#70: transformers 4.52 loads pytorch_model.bin with torch 2.6 and newer only.
    case(
        "torch = \"2.4.1\"\npython = \"3.11\"",
        "gpu = \"RTX 4090\"\n[packages]\ntransformers = \"==4.52.3\"",
        0,
        &[
            "[part-lacks]: a part of `transformers = \"==4.52.3\"` does not work beside torch 2.4.1",
            "!lock: transformers<",
        ],
    ),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\n[packages]\ntransformers = \"==5.0.0\"", 0, &["[part-lacks]"]),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\n[packages]\ntransformers = \">=4.53,<5\"", 0, &["[part-lacks]"]),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\n[packages]\ntransformers = \">=4.51\"", 0, &["!part-lacks"]),
    case("torch = \"2.5.1\"", "gpu = \"A100\"\n[packages]\ntransformers = \"==4.51.3\"", 0, &["!part-lacks"]),
    case("torch = \"2.6.0\"", "gpu = \"A100\"\n[packages]\ntransformers = \"==4.52.3\"", 0, &["!part-lacks"]),
    // That one does not take this torch at all.
    case(
        "torch = \"2.5.1\"",
        "gpu = \"A100\"\n[packages]\ntransformers = \"==5.20.0\"",
        0,
        &["[package-excluded]", "!part-lacks"],
    ),
];

#[test]
fn a_part_that_asks_for_another_package_is_told() {
    hold("part-asks", ASKING);
}

#[test]
fn a_part_that_does_not_run_is_told_and_refuses_nothing() {
    hold("parts", CASES);
}

#[test]
fn a_minor_release_of_cuda_that_a_package_refuses_is_told() {
    hold("part-minors", MINORS);
}
