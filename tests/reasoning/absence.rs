//! What was never published, and what nobody has read: absent is only what lies within what was read whole of every index.

use std::fs;

use gpuenv::explain;
use gpuenv::solve::compile::Locked;
use gpuenv::solve::engine::Steps;
use gpuenv::solve::request::Request;
use gpuenv::solve::resolve::{Resolution, resolve};
use gpuenv::spec;

use crate::common::sandbox::Sandbox;
use crate::common::solver::{lock, rules_of};

fn on(gpu: &str, stack: &str) -> String {
    format!("[stack]\n{stack}\n[target.t]\ngpu = \"{gpu}\"\nos = \"ubuntu20.04\"\n")
}

/// What would have to be read to answer a spec.
#[track_caller]
fn unread(text: &str) -> String {
    let spec = spec::parse(text).expect("the spec parses");
    let (request, _) = Request::new(&spec, rules_of(&spec)).expect("its names are known");
    match resolve(&request, &Locked::new(), &Steps::default()) {
        Resolution::Undetermined(unknowns) => unknowns.into_iter().map(|one| one.fact).collect::<Vec<_>>().join("; "),
        other => panic!("nobody can tell: {text}{other:?}"),
    }
}

/// What is said against a spec.
#[track_caller]
fn against(text: &str) -> String {
    assert!(lock(text).is_conflict(), "{text}");
    let spec = spec::parse(text).expect("the spec parses");
    let why = explain::conflicts(&spec, rules_of(&spec), &Steps::default()).expect("it is a conflict");
    why.conflicts.iter().flat_map(|one| one.explanation.clone()).collect::<Vec<_>>().join("; ")
}

/// https://github.com/pytorch/pytorch/issues/143953
#[test]
fn a_release_that_lies_where_nobody_has_read_was_not_never_published() {
    for stack in ["torch = \"1.8.2+cu111\"", "torch = \"1.8.2\""] {
        let told = unread(&on("RTX 3090", stack));
        assert!(told.contains("torch 1.8.2+cu1") && told.contains("it was published"), "{told}");
    }
    for (stack, place) in [
        ("torch = \"1.8.2+cpu\"", "whl/lts/1.8/"),
        ("torch = \"1.8.2+cu113\"", "whl/lts/1.8/"),
        ("torch = \"1.8.3\"", "whl/lts/1.8/"),
        ("torchvision = \"0.9.2+cu111\"", "the PyTorch index"),
        ("xformers = \"0.0.22.post3\"", "the PyTorch index"),
        ("xformers = \"0.0.22.post2+cu118\"", "the PyTorch index"),
        ("torch = \"2.8.1\"", "the PyTorch index"),
        ("torch = \"2.14.2\"", "the PyTorch index"),
    ] {
        let told = unread(&on("RTX 3090", stack));
        assert!(told.contains(place), "{stack}: {told}");
    }
}

#[test]
fn what_every_listing_lacks_that_was_read_whole_was_never_published() {
    for release in ["2.5.9", "2.2.3", "1.9.2", "2.7.2", "1.8.1+cu113", "2.7.1+cu121"] {
        let told = against(&on("RTX 3090", &format!("torch = \"{release}\"")));
        // The copy of the PyTorch index is the oldest of what proves it.
        assert!(told.contains("as of 2025-07-01"), "{release}: {told}");
    }
    let told = against(&on("RTX 3090", "jax = \"0.4.32.post1\""));
    assert!(told.contains("as of 2026-"), "{told}");
}

#[test]
fn what_was_seen_of_an_index_tells_of_no_variant_that_there_is_none() {
    // The publisher's matrix of a release is no list of what lies on its index: 2.13.0+cu129 is there outside of it.
    let told = unread(&on("A100", "torch = \"2.14.1+cu129\""));
    assert_eq!(told, "whether torch 2.14.1+cu129 was published for x86_64");
    for never in ["2.14.1+cu128", "2.15.0+cu126", "2.8.0+cu130", "2.8.0+cu128"] {
        against(&on("GH200 480GB", &format!("torch = \"{never}\"")));
    }
}

#[test]
fn a_build_that_exists_and_was_not_read_counts_wherever_it_may_fit() {
    let driver = "driver = \"470.82.01\"\nforward-compat = \"never\"\n";
    let told = unread(&(on("RTX 3090", "jax = \"0.4.25\"") + driver));
    assert!(told.contains("what jax 0.4.25+cu11 holds: it was published, and nobody has read it"), "{told}");
    let told = unread(&on("GTX 1080", "torch = \"2.1.2+cu118\"\njax = \"0.4.25\""));
    assert!(told.contains("jax 0.4.25+cu11"), "{told}");
    // Not where its CUDA does not run either, nor beside a framework for another major than its label tells:
    // https://github.com/tensorflow/tensorflow/issues/68290
    for beside in ["tensorflow = \"2.15.0\"\njax = \"0.4.23\"", "torch = \"2.5.1+cu124\"\njax = \"0.4.25+cu11\""] {
        let told = against(&on("V100", &format!("{beside}\npython = \"3.10\"")));
        assert!(told.contains("CUDA 12"), "{beside}: {told}");
    }
    // Nor beside what was read.
    against(&(on("RTX 3090", "jax = \"0.4.26\"") + driver));
    against(&(on("RTX 3090", "jax = \"0.4.25\"") + "driver = \"440.33.01\"\nforward-compat = \"never\"\n"));
    against(&on("RTX 5090", "torch = \"<2\""));
    against(&on("RTX 5090", "torch = \"1.8.2+cu111\""));
    against(&on("RTX 3090", "torch = \"1.8.2\"\npython = \"3.12\""));
}

#[test]
fn a_label_does_not_hide_which_framework_a_package_asks_for() {
    for (gpu, stack, needs) in [
        ("H100", "torchvision = \"0.13.1+cu116\"", "torchvision 0.13.1 requires torch 1.12.1"),
        ("RTX 5090", "torchvision = \"0.12.0+cu113\"", "torchvision 0.12.0 requires torch 1.11.0"),
        ("RTX 5090", "xformers = \"0.0.22.post4+cu118\"", "xformers 0.0.22.post4 requires torch 2.1.0"),
    ] {
        let told = against(&on(gpu, stack));
        assert!(told.contains(needs) && !told.contains("builds of torch 0.4.1"), "{stack}: {told}");
    }
}

#[test]
fn a_list_of_architectures_that_is_told_is_whole() {
    let built = |list: &str| on("B200", "torch = \"2.8.0\"") + "[build]\narch-list = \"" + list + "\"\n";
    let told = against(&built("10.0f"));
    assert!(told.contains("9.0a") && told.contains("10.0a"), "{told}");
    let told = against(&built("11.0"));
    assert!(!told.contains("9.0a"), "{told}");
}

/// What is said where a release of sglang pins a FlashInfer that no row names, and the exit status.
#[track_caller]
fn pinned(release: &str) -> (i32, String) {
    const SPEC: &str = "[stack]\nsglang = \"0.5.99\"\nflashinfer-python = \"*\"\n[target.t]\ngpu = \"H100\"\n\
                        [catalog]\noverlays = [\"site.toml\"]\n";
    let sandbox = Sandbox::new(&format!("pinned-{release}"), SPEC);
    let rows = format!(
        "source = [{{ id = \"acme\", at = \"https://wiki.acme.example/\", kind = \"measured\", seen = \"2026-11-18\" }}]\n\
         companion = [{{ package = \"sglang\", version = \"0.5.99\", framework = \"torch\", needs = \"2.9.1\", \
         requires = [\"flashinfer-python=={release}\"], arches = [\"x86_64\"], gpu_code = true, cuda = \"12\", \
         sass = [\"9.0\"], source = \"acme\", arch_source = \"acme\" }}]\n"
    );
    fs::write(sandbox.path("site.toml"), rows).unwrap();
    let ran = sandbox.with(&["lock"], &[("COLUMNS", "4000")]);
    (ran.code, format!("{} {}", ran.out, ran.err))
}

#[test]
fn a_pin_on_what_may_have_been_published_is_no_proof() {
    let (status, said) = pinned("0.5.0rc2");
    assert!(status == 3 && said.contains("whether flashinfer-python ==0.5.0rc2 was published"), "{status} {said}");
    // The package index has no 0.5.9: its list was read whole.
    let (status, said) = pinned("0.5.9");
    assert!(status == 1 && said.contains("requires flashinfer-python ==0.5.9"), "{status} {said}");
    // A pre-release that is known comes with what names it, and with nothing else.
    let (status, said) = pinned("0.4.0rc3");
    assert!(status == 0 && said.contains("flashinfer-python  0.4.0rc3"), "{status} {said}");
}

/// CUDA, cuDNN and NCCL: a conflict names who was read and when, and what a user may have from elsewhere is not known.
#[test]
fn a_part_is_absent_only_where_the_list_of_it_was_read_whole() {
    for (stack, says) in [
        (
            "torch = \"*\"\ncudnn = \"9.10.99\"",
            "no known release of cudnn matches `9.10.99`; the nearest are 9.10.2.21",
        ),
        ("torch = \"2.0.1\"\ncudnn = \"8.9.9\"", "the package index has none as of 2026-"),
        ("jax = \"*\"\ncudnn = \"9.10.99\"", "the package index has none as of 2026-"),
        ("tensorflow = \"2.18\"\ncudnn = \"9.9.99\"", "the package index has none as of 2026-"),
        ("torch = \"*\"\nnccl = \"2.14.99\"", "the package index has none as of 2026-"),
        ("torch = \"*\"\ncuda = \"12.10\"", "; NVIDIA lists none as of 2026-"),
        ("torch = \"*\"\ncuda = \"11.9\"", "; NVIDIA lists none as of 2026-"),
        ("torch = \"*\"\ncuda = \"10.3\"", "; NVIDIA lists none as of 2026-"),
        ("torch = \"*\"\ncuda = \"12.4.9\"", "; NVIDIA lists none as of 2026-"),
        ("torch = \"*\"\ncudnn = \"9.99\"", "; the catalog is of "),
    ] {
        let told = against(&on("A100-PCIE-40GB", stack));
        assert!(told.contains(says), "{stack}: {told}");
    }
    for (stack, fact) in [
        ("cudnn = \"9.10.99\"", "whether cudnn 9.10.99 was published"),
        ("nccl = \"2.18.5\"", "whether nccl 2.18.5 was published"),
        ("tensorflow = \"2.10\"\ncudnn = \"8.9.9\"", "whether cudnn 8.9.9 was published"),
    ] {
        let told = unread(&on("A100-PCIE-40GB", stack));
        assert!(told.contains(fact), "{stack}: {told}");
    }
}
