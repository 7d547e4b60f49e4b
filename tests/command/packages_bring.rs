//! What `[packages]` bring along that nobody names: of what `[stack]` knows a release that goes with the locked stack is held or
//! the package is told, and what only code asks for binds what comes along, too.

use crate::common::cases::{Case, case, hold};
use crate::common::checkout::Place;

const A100: &str = "gpu = \"A100-PCIE-40GB\"\nos = \"ubuntu22.04\"";

/// <https://github.com/rishikanthc/Scriberr/issues/413>: `pip install torch==2.8.0 pyannote-audio` takes the newest torchcodec
/// (undefined symbol). METADATA of faster-whisper, whisperx, pyannote-audio and marker-pdf.
const FOLLOWERS: &[Case] = &[
    case(
        "torch = \"2.8.0+cu126\"\n[packages]\npyannote-audio = \"*\"",
        A100,
        0,
        &["!package-brings", "lock: package = \"torchcodec\", version = \"0.7.0\""],
    ),
    // With older releases of it an installer gets by.
    case("torch = \"2.6.0\"\n[packages]\npyannote-audio = \"*\"", A100, 0, &["!package-brings", "!package-excluded"]),
    // Where the newest goes, nothing has to be held.
    case(
        "torch = \"2.14.1+cu130\"\n[packages]\npyannote-audio = \"*\"",
        A100,
        0,
        &["!package-brings", "!lock: package = \"torchcodec\""],
    ),
    // What is named is chosen, and nothing else is said of it.
    case(
        "torch = \"2.8.0+cu126\"\ntorchcodec = \"*\"\n[packages]\npyannote-audio = \"*\"",
        A100,
        0,
        &["!package-brings", "lock: stack.torchcodec = \"0.7.0\""],
    ),
    case(
        "torch = \"2.15.0+cu132\"\n[packages]\nfaster-whisper = \"==1.0.3\"",
        A100,
        0,
        &[
            "package-brings",
            "`faster-whisper = \"==1.0.3\"` brings ctranslate2 >=4.0,<5, of which no known release goes with torch 2.15.0+cu132",
            "write `torch = \"2.14.1\"` and `ctranslate2 = \">=4.0,<5\"` under [stack]",
        ],
    ),
    case("torch = \"2.9.0+cu128\"\n[packages]\nfaster-whisper = \"*\"", A100, 0, &["!package-brings"]),
    // It loads cuDNN 8 beside cuDNN 9.
    case(
        "torch = \"2.9.0+cu128\"\n[packages]\nwhisperx = \"==3.3.1\"",
        A100,
        0,
        &[
            "brings ctranslate2 <4.5.0, of which no known release goes with torch 2.9.0+cu128",
            "write `whisperx = \">=3.5\"` under [packages]",
            "!under [stack]",
        ],
    ),
    case(
        "torch = \"2.13.0+cu130\"\n[packages]\nmarker-pdf = \"==0.1.0\"",
        A100,
        0,
        &["brings bitsandbytes", "of which no known release goes with torch 2.13.0+cu130"],
    ),
    // What brings none is left to installers, and told.
    case(
        "torch = \"2.1.2\"\n[packages]\nf5-tts = \"*\"",
        A100,
        0,
        &[
            "brings torchcodec, of which no known release goes with torch 2.1.2",
            "exports keep to <1.1.10",
            "lock: f5-tts<1.1.10",
        ],
    ),
    // Whatever is locked is held to the same: another framework, or a CUDA alone.
    case(
        "jax = \"*\"\n[packages]\nfaster-whisper = \"*\"",
        A100,
        0,
        &["!package-brings", "lock: stack.jax = \"0.12.0.1+cu12\""],
    ),
    case(
        "cuda = \"13\"\npython = \"3.12\"\n[packages]\nfaster-whisper = \"*\"",
        A100,
        0,
        &["of which no known release goes with CUDA 13.", "write `cuda = \"12.9\"` and `ctranslate2 = \">=4.0,<5\"`"],
    ),
    // Another torch beside which a CTranslate2 of two majors ago is solved is no cure.
    case(
        "torch = \"2.5.1+cu121\"\npython = \"3.11\"\n[packages]\nwhisperx = \"==3.3.1\"",
        "gpu = \"RTX 4090\"\ntoolkit = \"12.1\"\ncudnn = \"9.1\"",
        0,
        &["brings ctranslate2 <4.5.0, of which no known release goes with torch 2.5.1+cu121", "!under [stack]"],
    ),
    // Where nothing is locked that it could be held against, it is held against the targets.
    case(
        "python = \"3.11\"\n[packages]\nfaster-whisper = \"==1.1.0\"",
        "gpu = \"RTX 3090\"\ndriver = \"470\"",
        0,
        &[
            "brings ctranslate2 >=4.0,<5, of which no known release goes with target `t`",
            "under [stack] for the reason",
        ],
    ),
    case(
        "python = \"3.11\"\n[packages]\nfaster-whisper = \"==1.1.0\"",
        "gpu = \"RTX 3090\"\ndriver = \"550\"",
        0,
        &["!package-brings"],
    ),
    case("tensorflow = \"2.20\"\n[packages]\nfaster-whisper = \"*\"", A100, 0, &["!package-brings"]),
    case("cuda = \"12\"\npython = \"3.12\"\n[packages]\nfaster-whisper = \"*\"", A100, 0, &["!package-brings"]),
    // torch's own index has it under the number of the one on PyPI, which is for CUDA 12.
    case(
        "torch = \"2.9.0+cu130\"\n[packages]\nunsloth = \"*\"",
        A100,
        0,
        &[
            "`unsloth = \"*\"` brings xformers, whose build for torch 2.9.0+cu130",
            "write `xformers = \"*\"` under [stack]",
        ],
    ),
    case("torch = \"2.9.0+cu128\"\n[packages]\nunsloth = \"*\"", A100, 0, &["!package-brings"]),
    case("torch = \"2.9.0+cu126\"\n[packages]\nunsloth = \"*\"", A100, 0, &["!package-brings"]),
    case("torch = \"2.6.0+cu126\"\npython = \"3.11\"\n[packages]\nunsloth = \"*\"", A100, 0, &["!package-brings"]),
    case("torch = \"2.9.0+cu130\"\nxformers = \"*\"\n[packages]\nunsloth = \"*\"", A100, 0, &["!package-brings"]),
    // An older one brings another that goes: installers find both by themselves, or do not.
    case("torch = \"2.7.0\"\npython = \"3.12\"\n[packages]\nexecutorch = \"*\"", A100, 0, &["!package-"]),
    case("torch = \"2.1.2+cpu\"\n[packages]\nfaster-whisper = \"*\"", "gpu = \"none\"", 0, &["!package-brings"]),
];

#[test]
fn what_the_stack_knows_is_held_or_told() {
    hold("followers-brought", FOLLOWERS);
}

/// Every export that installs holds it.
#[test]
fn what_is_held_stands_in_exports() {
    let spec = format!("[stack]\ntorch = \"2.8.0+cu126\"\n[packages]\npyannote-audio = \"*\"\n[target.t]\n{A100}\n");
    let place = Place::with("followers-held", &spec);
    place.run(&["lock"]).exits(0);
    for format in [&["uv"][..], &["requirements"], &["requirements", "--constraints"]] {
        let text = place.run(&[&["export"], format].concat()).exits(0).out;
        assert!(text.contains("torchcodec==0.7.0"), "{format:?}:\n{text}");
    }
}

/// Source: transformers 5.24.0 utils/import_utils.py ("Disabling PyTorch because PyTorch >= 2.6 is required"); METADATA of trl,
/// peft and sentence-transformers.
const BY_CODE: &[Case] = &[
    case("torch = \"2.1.2\"\n[packages]\ntrl = \"*\"", A100, 0, &["lock: transformers<5.0"]),
    case("torch = \"2.2.2\"\n[packages]\nsentence-transformers = \"*\"", A100, 0, &["lock: transformers<5.1"]),
    // What it asks for does not run: an older one is left to installers.
    case("torch = \"1.13.1\"\n[packages]\ntrl = \"*\"\npeft = \"==0.17.0\"", A100, 0, &["lock: transformers<4.50"]),
    case("torch = \"2.9.1\"\n[packages]\ntrl = \"*\"", A100, 0, &["!lock: transformers<"]),
];

/// No wheel carries what the torch of an image needs: the target does, as beside a wheel of that torch.
const IN_IMAGES: &[Case] = &[
    case(
        "torch = \"*\"\n[packages]\ntransformers = \"*\"",
        "gpu = \"A100-PCIE-40GB\"\nimage = \"pytorch/pytorch:2.3.0-cuda12.1-cudnn8-runtime\"",
        0,
        &["lock: target.t.asks = [\"setuptools>=40.8.0\", \"transformers<5.1\"]"],
    ),
    case(
        "torch = \"*\"\n[packages]\ntrl = \"*\"",
        "gpu = \"A100-PCIE-40GB\"\nimage = \"nvcr.io/nvidia/pytorch:24.01-py3\"",
        0,
        &["lock: asks = [\"numpy<2\", \"setuptools>=40.8.0\", \"transformers<5.1\"]"],
    ),
    // Where nothing is installed, nothing is held.
    case(
        "torch = \"*\"",
        "gpu = \"A100-PCIE-40GB\"\nimage = \"nvcr.io/nvidia/pytorch:24.01-py3\"",
        0,
        &["!lock: asks = "],
    ),
];

#[test]
fn what_the_torch_of_an_image_needs_is_held() {
    hold("asks-of-images", IN_IMAGES);
    let spec = "[stack]\ntorch = \"*\"\n[packages]\ntransformers = \"*\"\n[target.t]\ngpu = \"A100-PCIE-40GB\"\n\
                image = \"pytorch/pytorch:2.3.0-cuda12.1-cudnn8-runtime\"\n";
    let place = Place::with("image-asks", spec);
    place.run(&["lock"]).exits(0);
    for format in ["requirements", "dockerfile"] {
        let text = place.run(&["export", format]).exits(0).out;
        assert!(text.contains("transformers<5.1"), "{format}:\n{text}");
    }
}

#[test]
fn what_code_asks_for_binds_what_comes_along() {
    hold("brought-by-code", BY_CODE);
}

/// <https://github.com/daydreamlive/scope/issues/1007>: peft 0.19.0 import_utils.py:131; torchtune 0.6.1 __init__.py.
const TORCHAO: &[Case] = &[
    case(
        "torch = \"2.9.1+cu128\"\ntorchao = \"0.15.0\"\n[packages]\npeft = \">=0.17.1\"",
        A100,
        0,
        &["lock: peft<0.19", "!package-excluded"],
    ),
    case(
        "torch = \"2.9.1+cu128\"\ntorchao = \"0.15.0\"\n[packages]\npeft = \"==0.19.1\"",
        A100,
        0,
        &["package-excluded", "Found an incompatible version of torchao"],
    ),
    case("torch = \"2.9.1+cu128\"\n[packages]\npeft = \">=0.17.1\"", A100, 0, &["!lock: peft<0.19"]),
    case(
        "torch = \"2.7.1\"\n[packages]\ntorchtune = \"==0.6.1\"",
        A100,
        0,
        &[
            "`torchtune = \"==0.6.1\"` needs torchao, which its metadata does not name: it fails to import",
            "torchao not installed",
        ],
    ),
    case("torch = \"2.7.1\"\ntorchao = \"*\"\n[packages]\ntorchtune = \"*\"", A100, 0, &["!package-brings"]),
];

#[test]
fn what_code_alone_needs_of_torchao_is_told() {
    hold("torchao-by-code", TORCHAO);
}

/// Source: PEP 440, `==1.6.5` does not match 1.6.5.post0; pip 24.1 and newer refuse the metadata of pytorch-lightning 1.6.5.
const POST_RELEASES: &[Case] = &[
    case("torch = \"1.12.1\"\n[packages]\npytorch-lightning = \"==1.6.5\"", A100, 0, &["has metadata that only pip"]),
    case(
        "torch = \"1.12.1\"\n[packages]\npytorch-lightning = \"==1.6.5.post0\"",
        A100,
        0,
        &["!has metadata that only"],
    ),
    case("torch = \"1.12.1\"\n[packages]\npytorch-lightning = \"==1.6.*\"", A100, 0, &["!has metadata that only"]),
];

#[test]
fn a_release_is_not_the_post_release_of_it() {
    hold("post-releases", POST_RELEASES);
}

/// METADATA and wheels of whisperx 3.2.0 to 3.8.6, ctranslate2 4.4.0 and 4.5.0, unsloth 2024.8 to 2026.10.9, xformers 0.0.29.post3,
/// and <https://github.com/unslothai/unsloth/issues/2686>; uv finds nothing for the Pythons that are left out.
const PYTHONS: &[Case] = &[
    case("torch = \"2.6.0+cu124\"\n[packages]\nwhisperx = \"*\"", A100, 0, &["lock: stack.python = \"3.12\""]),
    case(
        "torch = \"2.6.0+cu124\"\n[packages]\nunsloth = \"*\"",
        A100,
        0,
        &["lock: stack.python = \"3.12\"", "!package-brings"],
    ),
    case(
        "torch = \"2.6.0+cu124\"\npython = \"3.13\"\n[packages]\nwhisperx = \"*\"",
        A100,
        0,
        &["`whisperx = \"*\"` brings ctranslate2 ==4.4.0"],
    ),
    case(
        "torch = \"2.6.0+cu124\"\npython = \"3.13\"\n[packages]\nunsloth = \">=2024.9\"",
        A100,
        0,
        &[
            "brings xformers >=0.0.27.post2, whose releases for torch 2.6.0+cu124 have wheels for Python 3.9, 3.10, 3.11, 3.12 only, and \
             Python 3.13 is locked: use one of those",
        ],
    ),
    // What bars it is the GPU, and a release whose metadata asks for nothing is none that does without.
    case(
        "torch = \"2.7.1+cu128\"\n[packages]\nunsloth = \"*\"",
        "gpu = \"NVIDIA RTX PRO 6000 Blackwell Workstation Edition\"",
        0,
        &[
            "brings xformers >=0.0.27.post2, whose releases for torch 2.7.1+cu128 fail on a GPU of the target: xformers 0.0.30",
            "!exports keep to",
            "!lock: unsloth<",
        ],
    ),
    case("torch = \"2.6.0\"\n[packages]\nk2 = \">=1.7\"", A100, 0, &["package-excluded", "!k2 = \"<0.3.5\""]),
];

#[test]
fn a_python_is_chosen_that_what_comes_along_has_wheels_for() {
    hold("followers-pythons", PYTHONS);
}

/// Of what lies before the first release that was read, or tells nothing of what it needs, nothing is known. pip: "No matching
/// distribution" for unsloth 2024.4 and xxhash 0.8.2.
const UNREAD: &[Case] = &[
    case(
        "torch = \"2.3.0+cu121\"\n[packages]\nunsloth = \"==2024.4\"\nxxhash = \"==0.8.2\"",
        A100,
        0,
        &[
            "nothing is known of `unsloth = \"==2024.4\"`, `xxhash = \"==0.8.2\"`",
            "!has wheels for",
            "!package-excluded",
        ],
    ),
    case("torch = \"1.11.0\"\n[packages]\nk2 = \"*\"", A100, 0, &["nothing is known of `k2 = \"<0.3.5\"`"]),
    case("torch = \"1.13.1\"\n[packages]\nk2 = \"*\"", A100, 0, &["!package-not-checked"]),
];

#[test]
fn what_nobody_has_read_is_told() {
    hold("packages-unread", UNREAD);
}

/// The requirements of SadTalker: wheels of scikit-image 0.19.3 are for Python 3.10 and older, of NumPy 1.23.4 for 3.11 and older.
const PINNED: &[Case] = &[
    case(
        "torch = \"*\"\n[packages]\nscikit-image = \"==0.19.3\"\nnumpy = \"==1.23.4\"",
        A100,
        0,
        &["lock: stack.python = \"3.10\"", "lock: stack.torch = \"2.14.1+cu130\"", "!package-excluded"],
    ),
    // Where torch is pinned it stays.
    case(
        "torch = \"2.15.0+cu132\"\n[packages]\nscikit-image = \"==0.19.3\"",
        A100,
        0,
        &["lock: stack.torch = \"2.15.0+cu132\"", "package-excluded"],
    ),
];

#[test]
fn an_open_torch_goes_with_the_pythons_of_pinned_packages() {
    hold("packages-pinned", PINNED);
}

/// What `uv pip compile` locks of what is open beside these pins, in November 2026: METADATA of audiocraft, jax, deepspeed, torch,
/// tf-keras, vllm and cuequivariance-ops-torch-cu12.
const SPARED: &[Case] = &[
    case(
        "torch = \"*\"\n[packages]\naudiocraft = \"==1.2.0\"",
        A100,
        0,
        &["!package-excluded", "lock: stack.torch = \"2.1.0+"],
    ),
    case(
        "jax = \"+cu12\"\n[packages]\nnumpy = \"<2\"",
        A100,
        0,
        &["!package-excluded", "lock: stack.jax = \"0.7.1+cu12\""],
    ),
    case(
        "torch = \"1.13.1\"\ndeepspeed = \"*\"\n[packages]\npydantic = \"==1.10.2\"",
        A100,
        0,
        &["!package-excluded", "lock: stack.deepspeed = \"0.14.5\""],
    ),
    case("torch = \"*\"\n[packages]\nsetuptools = \"==59.5.0\"", A100, 0, &["lock: stack.torch = \"2.12.1+"]),
    case("tensorflow = \"*\"\n[packages]\ntf-keras = \"==2.16.0\"", A100, 0, &["lock: stack.tensorflow = \"2.16.2+"]),
    case("vllm = \"*\"\n[packages]\ntransformers = \"==4.48.0\"", A100, 0, &["lock: stack.vllm = \"0.7.0\""]),
    // A pin that nothing suits leaves the others what they are.
    case(
        "jax = \"+cu12\"\n[packages]\nnumpy = \"<2\"\nscipy = \"==0.1\"",
        A100,
        0,
        &["package-excluded", "lock: stack.jax = \"0.7.1+cu12\""],
    ),
    case(
        "torch = \"*\"\n[packages]\ncuequivariance-ops-torch-cu12 = \"*\"",
        A100,
        0,
        &["!package-cuda", "lock: stack.cuda = \"12."],
    ),
    // NVIDIA's own pin goes beside the newest torch that pins it, not beside a build for another CUDA.
    case(
        "torch = \"*\"\n[packages]\nnvidia-cublas = \"==13.1.0.3\"",
        A100,
        0,
        &["!package-cuda", "lock: stack.torch = \"2.12.1+cu130\""],
    ),
    case(
        "torch = \"*\"\n[packages]\nnvidia-cublas-cu12 = \"==12.4.5.8\"",
        A100,
        0,
        &["!package-cuda", "lock: stack.torch = \"2.6.0+cu124\""],
    ),
    case(
        "torch = \"2.14\"\n[packages]\nnvidia-cublas = \"==13.1.0.3\"",
        A100,
        0,
        &["package-cuda", "lock: stack.torch = \"2.14.1+cu126\""],
    ),
    // What installers refuse comes before that.
    case(
        "torch = \"*\"\n[packages]\naudiocraft = \"==1.2.0\"\nnvidia-cublas = \"==13.1.0.3\"",
        A100,
        0,
        &["!package-excluded", "package-cuda", "lock: stack.torch = \"2.1.0+"],
    ),
    // What comes along binds the build as what is named does.
    case(
        "torch = \"2.11.0\"\n[packages]\nfaster-whisper = \"*\"",
        A100,
        0,
        &["!package-brings", "lock: stack.torch = \"2.11.0+cu128\""],
    ),
    case(
        "torch = \"*\"\n[packages]\nfaster-whisper = \"*\"",
        A100,
        0,
        &["!package-brings", "lock: stack.torch = \"2.14.1+cu126\""],
    ),
    // No torch is for CUDA 12.0: another CUDA 12 is nearer than 13.
    case("torch = \"*\"\n[packages]\nspconv-cu120 = \"*\"", A100, 0, &["package-cuda", "lock: stack.cuda = \"12."]),
    // Where it is pinned it stays.
    case(
        "torch = \"2.15.0\"\n[packages]\naudiocraft = \"==1.2.0\"",
        A100,
        0,
        &["package-excluded", "lock: stack.torch = \"2.15.0+"],
    ),
];

#[test]
fn what_is_open_spares_the_packages() {
    hold("packages-spared", SPARED);
}

/// tensorrt-llm 0.12.0 is known, though the list was read from 0.18.0 on; of vllm 0.12.0 the wheel for CUDA 13 alone is for x86_64 only.
const NAMED: &[Case] = &[
    case(
        "tensorrt-llm = \"==0.12.0\"\ncuda = \"11.8\"\npython = \"3.10\"",
        A100,
        1,
        &["tensorrt-llm 0.12.0 loads the libraries of CUDA 12"],
    ),
    case(
        "vllm = \"0.12.0\"\ntorch = \"2.9.0+cu130\"",
        "gpu = \"GB10\"\ndriver = \"580\"",
        1,
        &["vllm 0.12.0+cu130 has wheels for x86_64 only"],
    ),
    case("cudf-cu11 = \"*\"", A100, 2, &["or put it under [packages]: `cudf-cu11 = \"*\"`, unchecked"]),
];

#[test]
fn what_is_named_is_known_by_its_build() {
    hold("packages-named", NAMED);
}
