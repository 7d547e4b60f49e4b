//! `[packages]` beside each other and beside what locked packages bring along: what no installer knows of two ordinary ones.

use crate::common::checkout::Place;

const TARGET: &str = "[target.t]\ngpu = \"H100 80GB HBM3\"\nos = \"ubuntu24.04\"\n";

fn place(name: &str, stack: &str, packages: &str) -> Place {
    Place::with(name, &format!("[stack]\n{stack}\npython = \"3.12\"\n[packages]\n{packages}\n{TARGET}"))
}

/// <https://github.com/sgl-project/sglang/issues/27654>: transformers fails to import beside the kernels that nobody bounds.
#[test]
fn kernels_that_transformers_fails_beside_are_told() {
    for (at, (stack, packages, told)) in [
        ("torch = \"2.9.1\"", "transformers = \"==5.6.0\"\nkernels = \"==0.15.2\"", "transformers==5.6.0 needs"),
        ("torch = \"2.9.1\"", "transformers = \"<5\"\nkernels = \">=0.15\"", "transformers<5 needs"),
        ("torch = \"2.9.1\"", "transformers = \"==4.51.0\"\nkernels = \">=0.16\"", "transformers==4.51.0 needs"),
        ("torch = \"2.9.1\"", "transformers = \"==4.50.3\"\nkernels = \"==0.15.2\"", ""),
        ("torch = \"2.9.1\"", "transformers = \"==5.13.0\"\nkernels = \"==0.15.2\"", ""),
        ("torch = \"2.9.1\"", "transformers = \"*\"\nkernels = \"==0.15.2\"", ""),
        ("torch = \"2.9.1\"", "transformers = \">=4.51\"\nkernels = \"==0.15.2\"", ""),
        ("torch = \"2.9.1\"", "transformers = \"==5.6.0\"\nkernels = \"==0.14.1\"", ""),
        ("torch = \"2.9.1\"", "transformers = \"==5.6.0\"\nkernels = \"*\"", ""),
        ("torch = \"2.9.1\"", "kernels = \"==0.15.2\"", ""),
        ("sglang = \"0.5.12\"", "kernels = \"==0.15.2\"", "the locked sglang 0.5.12"),
        ("sglang = \"0.5.13\"", "kernels = \"==0.15.2\"", "the locked sglang 0.5.13"),
        ("sglang = \"0.5.10\"", "kernels = \"==0.15.2\"", "transformers==5.3.0 needs"),
        ("vllm = \"0.11.0\"", "kernels = \"==0.15.2\"", "transformers>=4.55.2,<5 needs"),
        ("vllm = \"0.8.5.post1\"", "kernels = \"==0.14.1\"", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let ran = place(&format!("kernels-{at}"), stack, packages).run(&["lock"]).exits(0);
        let flat = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(flat.matches("package-excluded").count(), usize::from(!told.is_empty()), "{packages}: {flat}");
        assert!(flat.contains(told), "{packages}: {flat}");
    }
}

/// Where nothing excludes it, exports hold it back; where nobody asks for it, it is not installed.
#[test]
fn kernels_that_are_open_are_held_back() {
    for (at, (stack, packages, held)) in [
        ("torch = \"2.9.1\"", "transformers = \"==5.6.0\"\nkernels = \"*\"", true),
        ("torch = \"2.9.1\"", "transformers = \"<5.13\"\nkernels = \">=0.10\"", true),
        ("torch = \"2.9.1\"", "transformers = \"*\"\nkernels = \"*\"", false),
        ("torch = \"2.9.1\"", "transformers = \"==5.6.0\"", false),
        ("sglang = \"0.5.12\"", "", true),
        ("sglang = \"0.5.11\"", "kernels = \"*\"", true),
        ("sglang = \"0.5.10\"", "", false),
    ]
    .into_iter()
    .enumerate()
    {
        let place = place(&format!("kernels-held-{at}"), stack, packages);
        place.run(&["lock"]).exits(0);
        for format in ["uv", "requirements"] {
            let text = place.run(&["export", format]).exits(0).out;
            assert_eq!(text.contains("<0.15"), held, "{stack} {packages} {format}:\n{text}");
        }
        place.run(&["lock", "--check"]).exits(0);
    }
}

/// What an import loads of an ordinary package is for releases of torch that its metadata does not name.
#[test]
fn libraries_for_another_torch_are_told() {
    for (at, (torch, packages, told, exported)) in [
        // https://github.com/dmlc/dgl/issues/7247 and 7822
        ("2.2.2", "dgl = \"==2.1.0\"", "`dgl = \"==2.1.0\"` needs torch >=2.0.0,<2.2.2", "\"dgl==2.1.0\""),
        ("2.4.1", "dgl = \"*\"", "", "\"dgl<2.1\""),
        ("2.1.2", "dgl = \"==2.1.0\"", "", "\"dgl==2.1.0\""),
        ("2.2.1", "dgl = \"*\"", "", "\"dgl\""),
        // The wheels of its own index go on.
        ("2.4.1", "dgl = \">=2.4\"", "", "\"dgl>=2.4\""),
        // https://github.com/casper-hansen/AutoAWQ/issues/466
        ("2.3.0", "autoawq-kernels = \"==0.0.6\"", "needs torch >=2.1,<2.3", "\"autoawq-kernels==0.0.6\""),
        ("2.3.0", "autoawq = \"==0.1.8\"", "needs torch >=2.1,<2.3", "\"autoawq==0.1.8\""),
        ("2.0.1", "autoawq = \"==0.1.8\"", "needs torch >=2.1,<2.3", "\"autoawq==0.1.8\""),
        ("2.2.0", "autoawq = \"==0.1.8\"", "", "\"autoawq==0.1.8\""),
        ("2.0.1", "autoawq = \"==0.1.5\"", "", "\"autoawq==0.1.5\""),
        ("2.3.1", "autoawq-kernels = \"==0.0.7\"", "", "\"autoawq-kernels==0.0.7\""),
        ("2.4.0", "autoawq-kernels = \"==0.0.9\"", "requires torch >=2.5.1", "\"autoawq-kernels==0.0.9\""),
    ]
    .into_iter()
    .enumerate()
    {
        let stack = format!("torch = \"{torch}\"");
        let spec = format!("[stack]\n{stack}\npython = \"3.11\"\n[packages]\n{packages}\n{TARGET}");
        let place = Place::with(&format!("other-torch-{at}"), &spec);
        let ran = place.run(&["lock"]).exits(0);
        let flat = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(flat.contains("package-excluded"), !told.is_empty(), "{stack} {packages}: {flat}");
        assert!(flat.contains(told), "{stack} {packages}: {flat}");
        let text = place.run(&["export", "uv"]).exits(0).out;
        assert!(text.contains(exported), "{stack} {packages}: {text}");
    }
}

/// What pip refuses is no answer: pkg:pypi/colossalai@0.5.0 pins a transformers that is for newer Pythons.
#[test]
fn what_a_package_pins_holds_its_python() {
    let spec = |colossalai: &str, python: &str| {
        format!("[stack]\ntorch = \"*\"\ncolossalai = \"{colossalai}\"\npython = \"{python}\"\n{TARGET}")
    };
    let place = Place::with("pinned-python", &spec("0.5.0", "3.8"));
    let ran = place.run(&["lock"]).exits(1);
    let flat = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("requires transformers ==4.51.3, which requires Python >=3.9"), "{flat}");
    assert!(!flat.contains("for Python >=3.6 only"), "{flat}");
    for (colossalai, python, locked) in [("0.5.0", "3.9", "0.5.0"), ("*", "3.8", "0.4.9")] {
        let place = Place::with(&format!("pinned-python-{python}"), &spec(colossalai, python));
        let ran = place.run(&["lock"]).exits(0);
        assert!(ran.err.contains(locked) && !ran.err.contains("package-excluded"), "{}", ran.err);
    }
}

/// What is told of `packages` beside `stack`, on a GPU and Python.
fn told(name: &str, stack: &str, packages: &str, gpu: &str) -> String {
    let target = format!("[target.t]\ngpu = \"{gpu}\"\nos = \"ubuntu22.04\"\n");
    let spec = format!("[stack]\n{stack}\npython = \"3.10\"\n[packages]\n{packages}\n{target}");
    let ran = Place::with(name, &spec).run(&["lock"]).exits(0);
    ran.err.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn hold(name: &str, cases: &[(&str, &str, &str, &str)], code: &str) {
    for (at, (stack, packages, gpu, part)) in cases.iter().enumerate() {
        let flat = told(&format!("{name}-{at}"), stack, packages, gpu);
        assert_eq!(flat.matches(code).count(), usize::from(!part.is_empty()), "{stack} {packages}: {flat}");
        assert!(flat.contains(part), "{stack} {packages}: {flat}");
    }
}

/// What nobody named comes along all the same: the triton that torch pins, the torchvision that belongs to it, and what other
/// locked packages pin. <https://github.com/openai/whisper/pull/2307>
#[test]
fn what_comes_along_with_the_stack_is_compared_too() {
    let triton = "requires triton >=2.0.0,<3, and torch 2.4.0 brings triton 3.0.0: installers refuse both together";
    let vision = "requires torchvision >=0.10,<0.14, and torch 1.13.1 goes with torchvision 0.14.1";
    let cases = [
        ("torch = \"2.4.0\"", "openai-whisper = \"==20231117\"", "A100", triton),
        (
            "torch = \"2.4.0\"",
            "openai-whisper = \"==20231117\"",
            "A100",
            "name `triton = \">=2.0.0,<3\"` under [stack]",
        ),
        ("torch = \"2.4.0+cpu\"", "openai-whisper = \"==20231117\"", "none", ""),
        ("torch = \"2.3.1\"", "openai-whisper = \"==20231117\"", "A100", ""),
        ("torch = \"2.4.0\"", "openai-whisper = \"*\"", "A100", ""),
        ("torch = \"1.13.1\"", "torchgeo = \"==0.3.0\"", "A100", vision),
        ("torch = \"1.12.1\"", "torchgeo = \"==0.3.0\"", "A100", ""),
        ("torch = \"1.13.1\"", "torchgeo = \"==0.4.0\"", "A100", ""),
        ("torch = \"1.13.1\"", "torchgeo = \"*\"", "A100", ""),
        // The other way round: what a locked package pins needs something of what is written.
        (
            "vllm = \"0.13.0\"",
            "nvidia-cutlass-dsl = \"==4.1.0\"",
            "A100",
            "excludes nvidia-cutlass-dsl >=4.2.1, and vllm 0.13.0 brings flashinfer-python 0.5.3, which needs that",
        ),
        ("vllm = \"0.13.0\"", "nvidia-cutlass-dsl = \"==4.2.1\"", "A100", ""),
    ];
    hold("along", &cases, "package-excluded");
}

/// <https://github.com/explosion/spaCy/discussions/13681>: what an extra alone asks for holds where that extra is asked for.
#[test]
fn what_an_extra_asks_for_is_compared_where_it_is_asked_for() {
    let cupy = "`spacy = \"[cuda12x]==3.8.2\"` requires cupy-cuda12x >=11.5.0,<13.0.0, and cupy-cuda12x 13.6.0 is locked: installers refuse both together; use cupy";
    let cases = [
        ("cupy-cuda12x = \"13.6.0\"", "spacy = \"[cuda12x]==3.8.2\"", "A100", cupy),
        ("cupy-cuda12x = \"13.6.0\"", "spacy = \"==3.8.2\"", "A100", ""),
        ("cupy-cuda12x = \"13.6.0\"", "spacy = \"[lookups]==3.8.2\"", "A100", ""),
        ("cupy-cuda12x = \"12.3.0\"", "spacy = \"[cuda12x]==3.8.2\"", "A100", ""),
        ("torch = \"2.1.2\"", "transformers = \"[torch]==4.56.0\"", "A100", "requires torch >=2.2, and torch 2.1.2"),
        ("torch = \"2.1.2\"", "transformers = \"==4.56.0\"", "A100", ""),
        ("torch = \"2.2.2\"", "transformers = \"[torch]==4.56.0\"", "A100", ""),
    ];
    hold("extra", &cases, "package-excluded");
}

/// <https://github.com/Lightning-AI/pytorch-lightning/issues/20220>: since 24.1 pip refuses `torch (>=1.9.*)`.
#[test]
fn metadata_that_pip_refuses_is_told() {
    let told = "has metadata that only pip <24.1 takes, and uv: write `pytorch-lightning = \">=1.8.4\"`";
    let cases = [
        ("torch = \"1.13.1\"", "pytorch-lightning = \"==1.8.3\"", "A100", told),
        ("torch = \"1.13.1\"", "pytorch-lightning = \"==1.6.3\"", "A100", "only pip <24.1 takes, and uv"),
        ("torch = \"1.13.1\"", "pytorch-lightning = \"==1.8.6\"", "A100", ""),
        // pip passes the others over.
        ("torch = \"1.13.1\"", "pytorch-lightning = \">=1.6\"", "A100", ""),
    ];
    hold("pip", &cases, "package-excluded");
}

/// Names that a release imports and a later one of another package lacks: <https://github.com/hustvl/YOLOS/issues/7>,
/// <https://github.com/meta-pytorch/botorch/pull/3276>, <https://github.com/tensorflow/probability/issues/1774>,
/// <https://github.com/vladmandic/sdnext/issues/4878>, and setuptools 82, which has no pkg_resources.
#[test]
fn what_is_imported_and_gone_is_told() {
    let excluded = [
        ("torch = \"1.9.0+cu111\"\npython = \"3.8\"", "timm = \"==0.3.2\"", "cannot import name 'container_abcs'"),
        ("torch = \"1.8.1+cu111\"\npython = \"3.8\"", "timm = \"==0.3.2\"", ""),
        ("torch = \"1.9.0+cu111\"\npython = \"3.8\"", "timm = \"==0.4.5\"", ""),
        ("jax = \"0.10.0\"\npython = \"3.12\"", "numpyro = \"==0.20.0\"", "cannot import name 'xla_pmap_p'"),
        ("jax = \"0.9.2\"\npython = \"3.12\"", "numpyro = \"==0.20.0\"", ""),
        ("jax = \"0.10.0\"\npython = \"3.12\"", "numpyro = \"==0.21.0\"", ""),
        ("jax = \"0.7.0\"\npython = \"3.12\"", "flax = \"==0.8.0\"", "cannot import name 'maps'"),
        ("tensorflow = \"2.16.1\"\npython = \"3.11\"", "tensorflow-probability = \"==0.23.0\"", "Keras 3"),
        (
            "tensorflow = \"2.4.1\"\npython = \"3.8\"",
            "tensorflow-probability = \"==0.21.0\"",
            "TensorFlow version >= 2.13",
        ),
        ("tensorflow = \"2.15.0\"\npython = \"3.11\"", "tensorflow-probability = \"==0.23.0\"", ""),
        ("torch = \"2.4.1\"\npython = \"3.11\"", "lightning = \"==2.1.4\"\nsetuptools = \"==82.0.0\"", "pkg_resources"),
        ("torch = \"2.4.1\"\npython = \"3.11\"", "lightning = \"==2.4.0\"\nsetuptools = \"==82.0.0\"", ""),
    ];
    for (at, (stack, packages, part)) in excluded.into_iter().enumerate() {
        let spec = format!("[stack]\n{stack}\n[packages]\n{packages}\n[target.t]\ngpu = \"A100\"\n");
        let ran = Place::with(&format!("gone-{at}"), &spec).run(&["lock"]).exits(0);
        let flat = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(flat.matches("package-excluded").count(), usize::from(!part.is_empty()), "{spec}: {flat}");
        assert!(flat.contains(part), "{spec}: {flat}");
    }
    let of_torch_2_4 = [
        ("torch = \"2.4.1\"", "diffusers = \"==0.37.1\"", "A100", "Parameter q has unsupported type"),
        ("torch = \"2.5.1\"", "diffusers = \"==0.37.1\"", "A100", ""),
        ("torch = \"2.4.1\"", "diffusers = \"==0.36.0\"", "A100", ""),
    ];
    hold("part", &of_torch_2_4, "part-lacks");
}

/// Exports that install the one hold the other back.
#[test]
fn setuptools_without_pkg_resources_is_held_back() {
    for (at, (package, held)) in [
        ("pytorch-lightning = \"==2.0.9\"", true),
        ("pytorch-lightning = \"==2.4.0\"", false),
        ("tensorboard = \"==2.14.0\"", true),
        ("torchmetrics = \"==0.11.4\"", true),
    ]
    .into_iter()
    .enumerate()
    {
        let place = place(&format!("setuptools-{at}"), "torch = \"2.4.1\"", package);
        place.run(&["lock"]).exits(0);
        let text = place.run(&["export", "requirements"]).exits(0).out;
        assert_eq!(text.contains("setuptools<82"), held, "{package}:\n{text}");
    }
}

/// What metadata asks for in a line for some Pythons and another line for the others holds as far as both say it:
/// pkg:pypi/tensorflow@2.16.1 and 2.17.0 ask for numpy <2.0.0 on each.
#[test]
fn what_is_asked_for_on_every_python_is_compared() {
    for (tensorflow, release, is_told) in [
        ("2.16.1", ">=2", true),
        ("2.16.2", "==2.0.2", true),
        ("2.17.0", "==2.1.*", true),
        ("2.17.1", "==1.26.4", false),
        ("2.18.0", "==2.0.2", false),
    ] {
        let (stack, packages) = (format!("tensorflow = \"{tensorflow}\""), format!("numpy = \"{release}\""));
        let flat = told(&format!("every-python-{tensorflow}"), &stack, &packages, "A100");
        assert_eq!(flat.contains("package-excluded"), is_told, "{stack} {packages}: {flat}");
        let needs = format!("excludes what the locked tensorflow {tensorflow} needs, numpy <2.0.0");
        assert_eq!(flat.contains(&needs), is_told, "{stack} {packages}: {flat}");
    }
}

/// Of what nobody has read one warning tells, whatever the number of packages and targets.
#[test]
fn packages_of_which_nothing_is_known_are_told_once() {
    let torch = "torch = \"2.6.0\"";
    let llama = "nothing is known of `llama-cpp-python` (its wheels for CUDA lie at https://abetlen.github.io/";
    let cases = [
        (torch, "colpali-engine = \"==0.3.10\"", "A100", "nothing is known of `colpali-engine`: not checked"),
        (
            torch,
            "my-lib = \"*\"\nllama-cpp-python = \"*\"\ntransformers = \"*\"",
            "A100",
            "known of `my-lib`, `llama-cpp-python` (its wheels",
        ),
        (torch, "llama-cpp-python = \"*\"", "A100", llama),
        (torch, "transformers = \"*\"\nnumpy = \"*\"\nloguru = \"*\"\nxgrammar = \"*\"", "A100", ""),
        // Nor where there is no framework: https://github.com/apache/mxnet/issues/19520
        ("", "mxnet-cu102 = \"*\"", "RTX 3090", "nothing is known of `mxnet-cu102`: not checked"),
        ("", "my-lib = \"*\"", "none", "nothing is known of `my-lib`: not checked"),
        ("", "transformers = \"*\"", "none", ""),
        // https://github.com/dmlc/dgl/issues/7433: from 2.2 on the package index has no file for Linux.
        ("torch = \"2.3.0\"", "dgl = \"==2.2.1\"", "A100", "nothing is known of `dgl = \"==2.2.1\"`: not checked"),
        ("torch = \"2.3.0\"", "dgl = \">2.2\"", "A100", "nothing is known of `dgl = \">2.2\"`: not checked"),
        ("torch = \"2.2.1\"", "dgl = \"==2.1.0\"", "A100", ""),
        ("torch = \"2.2.1\"", "dgl = \">=2.1\"", "A100", ""),
        // What is newer than the last release that was read; what asks for nothing is no matter.
        (torch, "transformers = \"==99.1\"", "A100", "nothing is known of `transformers = \"==99.1\"`: not checked"),
        (torch, "transformers = \">=99\"", "A100", "nothing is known of `transformers = \">=99\"`: not checked"),
        (torch, "numpy = \"==99.1\"", "A100", "nothing is known of `numpy = \"==99.1\"`: not checked"),
        (torch, "transformers = \">=5\"\naccelerate = \"!=0.1\"\nsix = \"==99.1\"", "A100", ""),
        // Extras of which no row says what they ask for.
        (torch, "unsloth = \"[cu128-torch280]\"", "A100", "nothing is known of `unsloth[cu128-torch280]`: not checked"),
        (torch, "transformers = \"[torch,no-such]>=4.50\"", "A100", "nothing is known of `transformers[no-such]`"),
        (torch, "transformers = \"[torch]>=4.50\"", "A100", ""),
    ];
    hold("unknown", &cases, "package-not-checked");
    let nine = (1..10).map(|at| format!("lib-{at} = \"*\"\n")).collect::<String>();
    let flat = told("unknown-many", torch, &nine, "A100");
    assert!(flat.contains("`lib-8` and 1 more: not checked"), "{flat}");
}
