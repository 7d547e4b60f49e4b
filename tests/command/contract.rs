//! What the contract says of an answer, where an answer was another once.

use crate::common::cases::{Case, case, hold};
use crate::common::sandbox::Sandbox;

/// Of tags, labels, bounds and products: each was a false conflict, a silent yes or a thing that was lost.
#[test]
fn what_is_written_is_answered_by_what_was_read() {
    hold("contract", CASES);
}

const CASES: &[Case] = &[
    // A list tells nothing of what was published after it. Source: public Dockerfiles
    // begin `FROM nvcr.io/nvidia/cuda:13.2.0-devel-rockylinux8` and `FROM nvidia/cuda:13.0.3-devel-rockylinux9`.
    case(
        "torch = \"2.15.0\"",
        "gpu = \"H100 NVL\"\nimage = \"nvcr.io/nvidia/cuda:13.2.0-devel-rockylinux8\"",
        3,
        &["whether `nvcr.io/nvidia/cuda:13.2.0-devel-rockylinux8` exists"],
    ),
    case("torch = \"2.15.0\"", "gpu = \"H100 NVL\"\nimage = \"nvidia/cuda:13.0.3-devel-rockylinux9\"", 3, &["exists"]),
    case(
        "torch = \"2.15.0\"\ncuda = \"13.2.1\"",
        "gpu = \"H100 NVL\"\nimage = \"nvidia/cuda\"\nos = \"rockylinux9\"",
        3,
        &["whether nvidia/cuda has tags of CUDA 13.2.1 for RHEL"],
    ),
    case(
        "torch = \"2.15.0\"\ncuda = \"13.5.0\"",
        "gpu = \"H100 NVL\"\nimage = \"nvidia/cuda\"",
        3,
        &["whether nvidia/cuda has tags of CUDA 13.5.0"],
    ),
    // The tags of Ubuntu were read later than all others.
    case(
        "torch = \"2.15.0\"\ncuda = \"13.2.1\"",
        "gpu = \"H100 NVL\"\nimage = \"nvidia/cuda\"\nos = \"ubuntu20.04\"",
        1,
        &["no tag of nvidia/cuda for Ubuntu 20.04"],
    ),
    // A label as people write it, and one that nobody has seen.
    case(
        "torch = \"+cu12.4\"",
        "gpu = \"A100\"",
        2,
        &["`+cu12.4` is not a wheel variant", "write `torch = \"+cu124\"`"],
    ),
    case("torch = \"2.5.1+cu12.4\"", "gpu = \"A100\"", 2, &["write `torch = \"2.5.1+cu124\"`"]),
    case("torch = \"+abc\"", "gpu = \"A100\"", 3, &["+abc was published"]),
    // A bound within the line of Python that is chosen is none that the lock holds.
    case(
        "torch = \"2.6.0\"\npython = \"<3.11.5\"",
        "gpu = \"A100\"",
        0,
        &["Python <3.11.5 admits some patch releases of 3.11 only"],
    ),
    case("torch = \"2.6.0\"\npython = \"~=3.11.4\"", "gpu = \"A100\"", 0, &["[python-patch]"]),
    case("torch = \"2.6.0\"\npython = \">=3.8.1,<3.13\"", "gpu = \"A100\"", 0, &["![python-patch]"]),
    case("torch = \"2.6.0\"\npython = \">=3.11.0,<3.12\"", "gpu = \"A100\"", 0, &["![python-patch]"]),
    // A product that is named is meant, whatever family stands beside it.
    case("torch = \"2.9.1\"", "gpu = [\"H100\", \"H100 80GB HBM3\"]", 0, &["requires nvidia-fabricmanager"]),
    case("torch = \"2.9.1\"", "gpu = [\"H100\", \"H100 PCIe\"]", 0, &["!nvidia-fabricmanager"]),
    // Who sets the rule of a major aside is not told that kernels of that run all the same.
    case(
        "torch = \"2.6.0+cu124\"",
        "gpu = \"A100\"\ndriver = \"460.32.03\"\nforward-compat = \"never\"\n[[override]]\nrule = \"cuda-12-driver\"\nreason = \"-\"",
        0,
        &["[jit-limited]", "rests on the override alone", "!harmless"],
    ),
    // An image that is chosen offers its own torch alone.
    case(
        "torch = { version = \"2.8.0\", cuda = \"12.6\" }",
        "gpu = \"A100\"\nimage = \"pytorch/pytorch\"",
        1,
        &["your build of torch 2.8.0 is incompatible with `image = \"pytorch/pytorch\"`"],
    ),
];

/// Who asks why there is no answer is told first that the lock is of another spec.
#[test]
fn a_lock_that_is_out_of_date_is_told_before_a_conflict() {
    let spec = |torch: &str| format!("[stack]\ntorch = \"{torch}\"\n[target.t]\ngpu = \"A100\"\ndriver = \"550\"\n");
    let place = Sandbox::new("stale-conflict", &spec("2.6.0"));
    place.run(&["lock"]).exits(0);
    for (torch, code) in [("2.9.0+cu999", 1), ("2.9.0+abc", 3)] {
        place.write(&spec(torch));
        let ran = place.run(&["explain"]).exits(code);
        assert!(ran.err.starts_with("warning[stale-lock]: gpuenv.lock is out of date"), "{ran:?}");
    }
}

/// The stack that a fix promises is the one that the lock then holds, also where targets differ in what lies below it.
#[test]
fn the_stack_of_a_fix_is_that_of_the_lock_it_makes() {
    let targets =
        "[target.a]\ngpu = \"A100\"\ntoolkit = \"12.8.0\"\n[target.b]\ngpu = \"A100\"\ntoolkit = \"12.8.1\"\n";
    let place = Sandbox::new("fix-stack", &format!("[stack]\ntorch = \"2.9.0+cu130\"\n[build]\n{targets}"));
    let (code, document) = place.json(&["lock"]);
    let promised = document["fixes"][0]["stack"].clone();
    assert!(code == 1 && promised["cuda"] == "12.8.0", "{document}");
    let (code, document) = place.json(&["lock", "--apply-fix", "1"]);
    assert_eq!((code, &document["stack"]), (0, &promised), "{document}");
}
