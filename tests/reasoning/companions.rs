//! Packages that follow a framework: which of their releases is chosen, from where, and what is said of it.

use gpuenv::catalog::BUILTIN;
use gpuenv::catalog::rows::Companion;
use gpuenv::explain::{self, why::why};
use gpuenv::solve::compile::Locked;
use gpuenv::solve::engine::Steps;
use gpuenv::solve::finished::Use;
use gpuenv::solve::installs::Install;
use gpuenv::solve::request::Request;
use gpuenv::solve::resolve::{Resolution, resolve};
use gpuenv::solve::warnings;
use gpuenv::types::{Constraint, Version};
use gpuenv::warning::Warning;
use gpuenv::{lock as locks, spec};

use crate::common::solver::{Outcome, Short, culprits, lock, rules};

fn asked(stack: &str, rest: &str) -> String {
    format!("[stack]\n{stack}\n[target.t]\ngpu = \"A100-PCIE-40GB\"\nos = \"ubuntu22.04\"\n{rest}")
}

#[track_caller]
fn wheel(text: &str, package: &str) -> Install {
    let wheels = lock(text).target().wheels();
    wheels.into_iter().find(|wheel| wheel.package == package).expect("the package was asked for")
}

fn given(text: &str) -> Vec<Warning> {
    let spec = spec::parse(text).expect("the spec parses");
    let (request, _) = Request::new(&spec, rules()).expect("its names are known");
    match resolve(&request, &Locked::new(), &Steps::default()) {
        Resolution::Solution(answer) => warnings::warnings(&request, &answer),
        other => panic!("an answer was expected: {other:?}"),
    }
}

/// The lock as it is written.
pub fn written(text: &str) -> locks::Lock {
    let spec = spec::parse(text).expect("the spec parses");
    let (request, _) = Request::new(&spec, rules()).expect("its names are known");
    let Resolution::Solution(answer) = resolve(&request, &Locked::new(), &Steps::default()) else { panic!("{text}") };
    locks::make(&spec, &request, &answer, Vec::new())
}

#[test]
fn the_wheel_made_for_the_variant_is_chosen_from_its_own_index() {
    for (stack, package, version, index) in [
        ("torch = \"2.5.1+cu118\"\nxformers = \"*\"", "xformers", "0.0.29.post1", "/whl/cu118"),
        (
            "torch = \"2.1.0+cu118\"\nxformers = \"*\"\npython = \"3.10\"",
            "xformers",
            "0.0.22.post7+cu118",
            "/whl/cu118",
        ),
        (
            "torch = \"2.7.1+cu128\"\ntorchvision = \"*\"\npython = \"3.11\"",
            "torchvision",
            "0.22.1+cu128",
            "/whl/cu128",
        ),
        // Of these no wheel with a label was seen: the index is asked for the plain version.
        ("torch = \"2.5.1+cu118\"\ntorchvision = \"*\"", "torchvision", "0.20.1", "/whl/cu118"),
    ] {
        let wheel = wheel(&asked(stack, ""), package);
        assert_eq!(wheel.version, version, "{stack}");
        assert!(wheel.index.as_deref().is_some_and(|url| url.ends_with(index)), "{stack}: {wheel:?}");
    }
    // A release without a wheel for the variant is the package index's.
    assert_eq!(wheel(&asked("torch = \"2.0.1\"\nxformers = \"0.0.20\"", ""), "xformers").index, None);
}

/// The address has the processor and the Python in it; the sha256 is found by the label.
#[test]
fn a_wheel_that_lies_beside_a_release_is_locked_by_its_address() {
    let release = "https://github.com/vllm-project/vllm/releases/download";
    for (torch, gpu, file) in [
        ("2.13.0+cu129", "A100-PCIE-40GB", "v0.30.0/vllm-0.30.0+cu129-cp38-abi3-manylinux_2_28_x86_64.whl"),
        ("2.9.0+cu130", "GH200 480GB", "v0.13.0/vllm-0.13.0+cu130-cp38-abi3-manylinux_2_35_aarch64.whl"),
        ("2.4.0+cu118", "A100-PCIE-40GB", "v0.6.0/vllm-0.6.0+cu118-cp311-cp311-manylinux1_x86_64.whl"),
    ] {
        let version = file[1..].split('/').next().unwrap();
        let stack = format!("torch = \"{torch}\"\nvllm = \"=={version}\"\npython = \"3.11\"");
        let found = wheel(&asked(&stack, "").replace("A100-PCIE-40GB", gpu), "vllm");
        assert_eq!((found.url, found.index), (Some(format!("{release}/{file}")), None), "{stack}");
        assert_eq!(found.version, format!("{version}+{}", &torch[torch.len() - 5..]));
    }
    // Beside other variants the wheel of the package index is taken, if its CUDA is theirs.
    assert_eq!(wheel(&asked("torch = \"2.8.0+cu128\"\nvllm = \"==0.11.0\"", ""), "vllm").url, None);
    let text = asked("torch = \"2.13.0+cu129\"\nvllm = \"0.30.0\"\ntorchvision = \"*\"", "");
    let told: Vec<Warning> = given(&text).into_iter().filter(|one| one.code == "brings-other-cuda").collect();
    // torchaudio is held to the index of torch. Nobody asked for torchcodec, and it comes along all the same.
    assert_eq!(told.len(), 1);
    let wanted = "vllm 0.30.0+cu129 requires torchcodec>=0.14, which installers take from the default package index";
    assert!(told[0].message.starts_with(wanted), "{}", told[0].message);
    // Of xformers one for CUDA 11 lies on the index of torch. Source: github.com/vllm-project/vllm/issues/1813.
    let told = given(&asked("vllm = \"0.2.2\"", "driver = \"520.61.05\"").replace("A100-PCIE-40GB", "Tesla T4"));
    let told: Vec<&Warning> = told.iter().filter(|one| one.code == "brings-other-cuda").collect();
    assert!(told.len() == 1 && told[0].message.contains("put it under [stack]"), "{told:?}");
    let lock = written(&text);
    let wheel = lock.wheel.iter().find(|wheel| wheel.package == "vllm").expect("it is locked");
    assert!(wheel.hashes().is_some_and(|mut hashes| hashes.next().is_some_and(|one| one.starts_with("e98cb696"))));
}

/// What comes in through others is held to what goes with torch and with the packages that require it.
#[test]
fn constraints_are_what_the_chosen_packages_require() {
    for (stack, torchvision) in [
        ("vllm = \"0.33.0\"", "0.29.0"),
        ("vllm = \"0.33.0\"\npython = \"3.12\"", "0.29.0+cu130"),
        ("torch = \"2.14.0+cu130\"\npython = \"3.12\"", "0.29.1+cu130"),
        ("vllm = \"0.30.0\"", "0.28.0+cu130"),
        ("torch = \"2.5.1+cu118\"\npython = \"3.12\"", "0.20.1"),
        // 0.29.2 was seen on the package index alone; 0.29.1 on that of other variants of the torch that it was made with.
        ("torch = \"2.14.1+cu126\"", "0.29.1"),
    ] {
        let lock = written(&asked(stack, ""));
        let held = lock.constraint.iter().find(|one| one.package == "torchvision");
        assert_eq!(held.map_or("", |one| one.version.as_str()), torchvision, "{stack}");
    }
}

/// What the lock holds to the index of torch comes from there; of what was not seen there that is told.
#[test]
fn what_a_wheel_pins_is_held_to_the_index_of_torch_where_it_lies_there() {
    for (stack, held, told) in [
        ("vllm = \"0.25.1+cu129\"", "torchvision", "vllm 0.25.1+cu129 requires torchcodec>=0.14, which"),
        ("vllm = \"0.4.0+cu118\"", "xformers", ""),
        ("vllm = \"0.7.3+cu118\"", "torchvision", "vllm 0.7.3+cu118 requires xformers==0.0.28.post3, which"),
    ] {
        let text = asked(stack, "");
        assert!(written(&text).constraint.iter().any(|one| one.package == held), "{stack}");
        let mut index = given(&text).into_iter().filter(|one| one.message.contains("default package index"));
        assert!(
            index.next().map_or(told.is_empty(), |one| one.message.starts_with(told) && !told.is_empty()),
            "{stack}"
        );
    }
}

/// Releases for variants are there to be installed beside them, not to lead the choice of the variant.
#[test]
fn a_companion_does_not_choose_the_variant() {
    for stack in ["torch = \"2.9\"", "torch = \"2.7\"", "torch = \"2.4\""] {
        let alone = lock(&asked(stack, "")).target();
        let beside = lock(&asked(&format!("{stack}\ntorchvision = \"*\"\ntorchaudio = \"*\""), "")).target();
        assert_eq!(alone.builds, beside.builds, "{stack}");
    }
}

#[test]
fn each_target_gets_the_wheel_of_its_own_variant() {
    let text = "[stack]\ntorch = \"2.7.1\"\ntorchvision = \"*\"\npython = \"3.11\"\n[resolve]\nshare = \"versions\"\n\
                [target.new]\ngpu = \"RTX 5090\"\nos = \"ubuntu22.04\"\n\
                [target.old]\ngpu = \"Tesla P100\"\nos = \"ubuntu22.04\"\n[target.none]\ngpu = \"none\"\nos = \"ubuntu22.04\"\n";
    for target in lock(text).targets() {
        let variant = &target.builds[0].variant;
        let label = target.companions[0].variant.as_ref();
        assert!(label.is_none_or(|label| label == variant), "{}: {label:?} beside {variant}", target.name);
    }
}

/// A wheel beside a release is taken where it runs; where one that does not would be taken, its build is told to compile.
#[test]
fn a_finished_wheel_is_installed_where_it_runs() {
    let glibc = Version::parse("2.31").unwrap();
    for (torch, package, target, becomes) in [
        ("2.8.0+cu128", "flash-attn 2.8.3.post1", "", Some(Use::Taken)),
        ("2.5.1+cu124", "flash-attn 2.8.2", "", Some(Use::Taken)),
        ("2.5.1+cu124", "flash-attn 2.8.2", "os ubuntu20.04", Some(Use::Glibc(glibc))),
        ("2.5.1+cu124", "flash-attn 2.8.2", "image nvidia/cuda:12.4.1-devel-ubuntu20.04", Some(Use::Glibc(glibc))),
        ("2.5.1+cu124", "flash-attn 2.7.4.post1", "os ubuntu20.04", Some(Use::Taken)),
        // The C++ ABI of torch 2.6 differs between its variants, and the wheel that says to be for the older one has the newer.
        ("2.6.0+cu124", "flash-attn 2.8.2", "", Some(Use::Broken)),
        ("2.6.0+cu126", "flash-attn 2.8.2", "", Some(Use::Taken)),
        ("2.6.0+cu124", "flash-attn 2.7.4.post1", "", Some(Use::Taken)),
        ("2.6.0+cu118", "flash-attn 2.7.4.post1", "", None),
        ("2.8.0+cu129", "flash-attn 2.8.3.post1", "arch aarch64", None),
        ("2.9.1+cu128", "flash-attn 2.8.3.post1", "", None),
        ("2.8.0+cu128", "flash-attn 2.8.3.post1", "python 3.9", Some(Use::Unseen)),
        ("2.8.0+cu128", "flash-attn 2.8.3.post1", "list 8.0", None),
        ("2.8.0+cu129", "mamba-ssm 2.3.1", "arch aarch64", Some(Use::Taken)),
        ("2.7.1+cu126", "mamba-ssm 2.3.1", "gpu V100-PCIE-32GB", Some(Use::Taken)),
    ] {
        let (name, version) = package.split_once(' ').unwrap();
        let (key, value) = target.split_once(' ').unwrap_or_default();
        let stack = format!("python = \"3.12\"\ntorch = \"{torch}\"\n{name} = \"=={version}\"");
        let mut text = match key {
            "python" => asked(&stack.replace("3.12", value), ""),
            "list" => asked(&stack, "").replace("[target", &format!("[build]\narch-list = \"{value}\"\n[target")),
            "gpu" => asked(&stack, "").replace("A100-PCIE-40GB", value),
            "os" => asked(&stack, "").replace("ubuntu22.04", value),
            "image" => asked(&stack, "").replace("os = \"ubuntu22.04\"", &format!("image = \"{value}\"")),
            "arch" => asked(&stack, &format!("arch = \"{value}\"")),
            _ => asked(&stack, ""),
        };
        text += "\n";
        let chosen = lock(&text).target();
        let found = chosen.finished[0].map(|finished| finished.use_of);
        assert_eq!(found, becomes, "{text}");
        let wheel = wheel(&text, name);
        let is_file = wheel.url.is_some_and(|url| url.ends_with(".whl") && url.contains(version));
        assert_eq!((is_file, wheel.sdist), (found == Some(Use::Taken), found != Some(Use::Taken)), "{text}");
        let told = given(&text).into_iter().find(|one| one.code == "source-only").map(|one| one.message);
        assert_eq!(told.is_some(), found != Some(Use::Taken), "{text}: {told:?}");
        let told = told.unwrap_or_default();
        assert_eq!(told.contains("so have its build compile"), found.is_some_and(Use::is_refused), "{text}: {told}");
        assert_eq!(told.contains("unless its build finds the wheel"), found == Some(Use::Unseen), "{text}: {told}");
        // What is exported has it compile.
        let made = written(&text);
        let locked = made.wheel.iter().find(|one| one.package == name).expect("it is locked");
        assert_eq!(locked.switch.is_some(), found.is_some_and(Use::is_refused), "{text}: {locked:?}");
    }
}

/// Who need not have the newest is told of the release that need not be compiled.
#[test]
fn an_older_release_with_a_finished_wheel_is_told() {
    for (asked_for, told) in [("2.8.3", true), ("2.8.3.post2", false), ("*", true)] {
        let text = asked(&format!("torch = \"2.8.0\"\nflash-attn = \"{asked_for}\""), "");
        let warnings = given(&text);
        let only = warnings.iter().find(|one| one.code == "source-only").expect("it is told");
        let has = only.message.ends_with("; 2.8.3.post1 has a finished wheel that runs there");
        assert_eq!(has, told, "{only:?}");
    }
}

/// Up to 2.3 Transformer Engine's build looks for cuDNN's headers in the compiler's folders and CUDNN_PATH alone.
#[test]
fn headers_that_a_build_includes_are_told_where_nothing_brings_them() {
    for (release, more, told) in [
        ("1.11.0", "os = \"ubuntu22.04\"", true),
        ("2.4.0", "os = \"ubuntu22.04\"", false),
        ("1.11.0", "os = \"ubuntu22.04\"\ncudnn = \"9.1\"", false),
        ("1.11.0", "image = \"nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04\"", false),
        ("1.11.0", "image = \"nvidia/cuda:12.4.1-devel-ubuntu22.04\"", true),
    ] {
        let text = asked(&format!("torch = \"2.5.1+cu124\"\ntransformer-engine = \"=={release}\""), "");
        let text = text.replace("os = \"ubuntu22.04\"", more);
        let warnings = given(&text);
        let only = warnings.iter().find(|one| one.code == "source-only").expect("it is told");
        assert_eq!(only.message.contains("CUDNN_PATH"), told, "{text}: {only:?}");
    }
}

/// nvcc that is there compiles for the GPU, or the message says that it does not, and from which CUDA on it does. An nvcc that
/// knows an older GPU whose code this one loads is enough.
#[test]
fn a_toolkit_that_does_not_know_the_gpu_is_told() {
    let with = |gpu: &str, more: &str| {
        format!(
            "[stack]\ntorch = \"2.7.0+cu128\"\nflash-attn = \"2.7.4.post1\"\npython = \"3.12\"\n[target.a]\ngpu = \"{gpu}\"\n{more}\n"
        )
    };
    let devel = "image = \"nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04\"";
    for (gpu, more, told) in [
        ("RTX 5090", "toolkit = [\"12.4\", \"12.8\"]", "a CUDA 12 toolkit >=12.8, as `toolkit` names"),
        ("RTX 5090", devel, "12.4.1-cudnn-devel-ubuntu22.04 holds CUDA 12.4.1, whose nvcc does not know sm_120"),
        ("RTX 5090", "os = \"ubuntu22.04\"", "a CUDA 12 toolkit >=12.8; with a [build] table"),
        ("B300", "toolkit = \"12.8\"", "as `toolkit` names"),
        ("A100", "toolkit = \"12.4\"", "a CUDA 12 toolkit, as `toolkit` names"),
        ("A100", devel, "the toolkit in nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04"),
    ] {
        let text = with(gpu, more);
        let warnings = given(&text);
        let only =
            warnings.iter().find(|one| one.code == "source-only").unwrap_or_else(|| panic!("{text}: {warnings:?}"));
        assert!(only.message.contains(told), "{text}: {only:?}");
    }
    // What is written is all there is.
    let text = with("RTX 5090", "toolkit = \"12.4\"");
    assert!(matches!(lock(&text), Outcome::Conflict), "{text}");
}

/// A chosen image brings the headers that a build includes, of the cuDNN that the framework loads, and of no other major.
#[test]
fn an_image_with_the_headers_that_a_build_includes_is_chosen() {
    for (stack, build, image) in [
        ("torch = \"2.5.1+cu124\"\ntransformer-engine = \"==1.13.0\"", true, "12.4.1-cudnn-devel-ubuntu22.04"),
        ("torch = \"2.5.1+cu124\"\ntransformer-engine = \"==2.3.0\"", false, "12.4.1-cudnn-devel-ubuntu22.04"),
        ("torch = \"2.5.1+cu124\"\ntransformer-engine = \"==2.4.0\"", true, "12.4.1-devel-ubuntu22.04"),
        // Of CUDA 12.1 there are images with cuDNN 8 only, and this torch loads cuDNN 9.
        ("torch = \"2.5.1+cu121\"\ntransformer-engine = \"==1.13.0\"", true, "12.1.1-devel-ubuntu22.04"),
        ("torch = \"2.3.1+cu121\"\ntransformer-engine = \"==1.13.0\"", true, "12.1.1-cudnn8-devel-ubuntu22.04"),
    ] {
        let text = asked(stack, "").replace("os = ", "image = \"nvidia/cuda\"\nos = ");
        let text = if build { text.replace("[target", "[build]\n[target") } else { text };
        let chosen = lock(&text).target();
        assert_eq!(chosen.image.map(|image| &*image.tag), Some(image), "{text}");
        let bare = chosen.runtime_image.is_none_or(|image| image.cudnn.is_none());
        assert!(bare, "what runs needs no headers: {text}");
    }
}

/// What a package brings along must hold code, and be built for the stack's CUDA, where some release of it is.
#[test]
fn what_is_brought_along_goes_with_the_stack() {
    let asked = |stack: &str, gpu: &str, driver: &str| {
        format!("[stack]\n{stack}\n[target.t]\ngpu = \"{gpu}\"\ndriver = \"{driver}\"\nforward-compat = \"never\"")
    };
    let brings_other = |text: &str| {
        let loads = |one: &&Warning| {
            one.code == "brings-other-cuda" && one.message.contains("no release of it")
                || one.message.contains("of which no known release on the package index loads")
        };
        given(text).iter().find(loads).is_some()
    };
    // The newest that takes CUDA 11.8 pins a release of xformers that was seen for CUDA 12 only.
    let chosen = asked("vllm = \"*\"", "V100", "470.256.02");
    assert_ne!(lock(&chosen).target().stack()["vllm"], "0.10.1.1");
    assert!(!brings_other(&chosen));
    for (stack, gpu, told) in [
        ("vllm = \"0.10.1.1+cu118\"", "A100-PCIE-40GB", true),
        ("vllm = \"0.10.1.1\"\ntorch = \"2.7.1+cu126\"", "V100", true),
        ("vllm = \"0.10.1.1\"\ntorch = \"2.7.1+cu126\"", "A100-PCIE-40GB", false),
    ] {
        assert_eq!(brings_other(&asked(stack, gpu, "580.95.05")), told, "{stack} {gpu}");
    }
}

/// Of what a package requires and leaves open exports hold to the releases for the stack's CUDA.
#[test]
fn what_is_made_for_one_cuda_is_held_to_that_of_the_stack() {
    let holds = |stack: &str, driver: &str| {
        let lock = written(&asked(stack, &format!("driver = \"{driver}\"")));
        lock.wheel.into_iter().find(|wheel| wheel.package == "numba-cuda").expect("it was asked for").asks
    };
    assert_eq!(
        holds("torch = \"2.6.0+cu124\"\nnumba-cuda = \"0.30.4\"", "550.54.15"),
        ["numpy<2.5", "cuda-bindings<13.0.0"]
    );
    assert_eq!(holds("numba-cuda = \"0.30.4\"", "550.54.15"), ["numpy<2.5", "cuda-bindings<13.0.0"]);
    assert_eq!(holds("torch = \"2.9.0+cu130\"\nnumba-cuda = \"0.30.4\"", "580.95.05"), ["numpy<2.5"]);
    let named = "torch = \"2.6.0+cu124\"\nnumba-cuda = \"0.30.4\"\ncuda-bindings = \"12\"";
    assert_eq!(holds(named, "550.54.15"), ["numpy<2.5"], "it is locked itself");
    // Those before 0.21 import it, and cuda-core, and ask for both in extras alone: METADATA and __init__.py of
    // pkg:pypi/numba-cuda@0.20.0.
    let by_code = holds("torch = \"2.8.0+cu128\"\nnumba-cuda = \"0.20.0\"", "535.183.01");
    assert_eq!(by_code, ["cuda-core>=0.3,<0.4", "numba<0.66", "cuda-bindings>=12.9.1,<13.0.0"]);
    let of_13 = holds("torch = \"2.9.0+cu130\"\nnumba-cuda = \"0.20.1\"", "580.95.05");
    assert_eq!(of_13, ["numba<0.66", "cuda-core>=0.3.2,<1", "cuda-bindings>=12.9.1"]);
}

/// What a package requires without a range is compiled against one torch: Python, processor and C library are those of
/// that release's wheels, and exports hold it.
#[test]
fn what_is_required_without_a_range_goes_with_the_stack() {
    let text = |stack: &str, target: &str| format!("[stack]\n{stack}\ntorchrec = \"*\"\n[target.t]\n{target}\n");
    let a100 = "gpu = \"A100-PCIE-40GB\"";
    let python = lock(&text("torch = \"2.9.1\"", a100)).target().python.copied().expect("one is chosen");
    assert_eq!(python.as_str(), "3.13", "fbgemm-gpu for torch 2.9 has no wheels for a later one");
    for (stack, target, keys) in [
        ("torch = \"2.9.1\"\npython = \"3.14\"", a100, &["stack.python", "stack.torch", "stack.torchrec"][..]),
        ("torch = \"2.9.1\"", "gpu = \"GH200 480GB\"", &["stack.torchrec", "target.t.gpu"]),
        (
            "torch = \"2.6.0+cu124\"",
            "gpu = \"A100-PCIE-40GB\"\nos = \"centos7\"",
            &["stack.torch", "stack.torchrec", "target.t.os"],
        ),
    ] {
        let mut found = culprits(&text(stack, target));
        found.sort();
        assert_eq!(found, keys, "{stack} {target}");
    }
    // The newest torch that has one with code for the GPU comes before a newer one without.
    let v100 = lock(&text("", "gpu = \"Tesla V100-PCIE-16GB\"")).target();
    assert_eq!(v100.builds[0].version.as_str(), "2.8.0");
    let told = given(&text("torch = \"2.9.1\"", "gpu = \"none\""));
    assert!(told.iter().any(|one| one.code == "cuda-on-cpu" && one.message.contains("fbgemm-gpu 1.4.0")), "{told:?}");
}

/// What follows CUDA alone has no say in which build of a framework a machine without a GPU gets.
#[test]
fn what_follows_cuda_alone_turns_no_cpu_build_into_another() {
    for stack in ["jax = \"*\"", "torch = \"2.9.1\""] {
        let text = format!("[stack]\n{stack}\ncupy-cuda12x = \"*\"\n[target.t]\ngpu = \"none\"\n");
        assert!(lock(&text).target().builds[0].is_cpu(), "{text}");
    }
}

/// A package that carries a CUDA runtime inside needs a driver for it: what compiled its code knows all that it holds
/// code for, and is of the major of the libraries that it asks pip for.
#[test]
fn a_runtime_inside_a_package_needs_its_driver() {
    let asked = |release: &str, driver: &str| {
        format!(
            "[stack]\nxgboost = \"{release}\"\n[target.t]\ngpu = \"A100-PCIE-40GB\"\n{driver}\nforward-compat = \"never\""
        )
    };
    for (release, driver, serves) in [
        ("2.0.3", "470.256.02", true),
        // pkg:pypi/xgboost@2.1.0 asks for NCCL of CUDA 12, and its PTX is of 11.8.
        ("2.1.0", "470.256.02", true),
        ("3.0.1", "470.256.02", false),
        ("3.0.1", "525.105.17", true),
        ("3.4.1", "550.54.15", false),
        ("3.4.1", "580.95.05", true),
    ] {
        let text = asked(release, &format!("driver = \"{driver}\""));
        assert_eq!(matches!(lock(&text), Outcome::Solution(..)), serves, "{text}");
        assert!(serves || culprits(&text).contains(&"stack.xgboost".to_string()), "{text}");
    }
    let minimum = lock(&asked("3.4.1", "")).target().minimum.expect("there is one");
    assert_eq!(minimum.as_str(), "580.65.06");
}

#[test]
fn what_comes_as_source_says_so_and_what_it_needs() {
    for (package, bound) in [("flash-attn", ""), ("deepspeed", ""), ("transformer-engine", " >=12.1")] {
        let text = asked(&format!("torch = \"2.7.1+cu126\"\n{package} = \"*\""), "");
        let told = given(&text);
        let told = told.iter().find(|one| one.code == "source-only").expect("it is told");
        assert_eq!(told.keys, [format!("stack.{package}")]);
        assert!(told.message.contains(&format!("with a CUDA 12 toolkit{bound};")), "{}", told.message);
        // With something to compile the toolkit is chosen, of the wheel's major.
        let built = text.replace("[target", "[build]\n[target");
        let toolkit = lock(&built).target().toolkit.expect("there is one").version;
        assert_eq!(toolkit.prefix(2).as_str(), "12.6");
        let told = given(&built);
        assert!(told.iter().any(|one| one.message.contains(&format!("that was chosen, {toolkit}"))), "{told:?}");
    }
    assert_eq!(
        wheel(&asked("transformer-engine = \"2.9.0\"", ""), "transformer-engine").extra.as_deref(),
        Some("pytorch")
    );
}

#[test]
fn the_sha256_of_a_source_distribution_is_locked() {
    let text = asked("torch = \"2.7.1\"\nflash-attn = \"2.8.3\"", "");
    let spec = spec::parse(&text).expect("the spec parses");
    let (request, _) = Request::new(&spec, rules()).expect("its names are known");
    let Resolution::Solution(answer) = resolve(&request, &Locked::new(), &Steps::default()) else { panic!("{text}") };
    let lock = locks::make(&spec, &request, &answer, Vec::new());
    let wheel = lock.wheel.iter().find(|wheel| wheel.package == "flash-attn").expect("it is locked");
    assert_eq!(wheel.hashes().expect("it is known").count(), 1, "{}", wheel.sha256);
}

#[test]
fn conflicts_of_packages_blame_what_clashes() {
    let t4 = |stack: &str| asked(stack, "").replace("A100-PCIE-40GB", "Tesla T4");
    for (text, keys) in [
        (t4("flash-attn = \"2.8.3\""), &["stack.flash-attn", "target.t.gpu"][..]),
        (t4("transformer-engine = \"*\""), &["stack.transformer-engine", "target.t.gpu"]),
        (t4("torch = \"2.6\"\ntorchtext = \"*\""), &["stack.torch", "stack.torchtext"]),
        (asked("torch = \"2.7.1+cu118\"\nvllm = \"0.9.2\"", ""), &["stack.torch", "stack.vllm"]),
        (asked("flash-attn = \"2.7.3\"", "toolkit = \"11.6\"\n[build]\n"), &["stack.flash-attn", "target.t.toolkit"]),
    ] {
        assert_eq!(culprits(&text), keys, "{text}");
    }
    // FlashAttention 1 is the one for Turing.
    let chosen = lock(&t4("flash-attn = \"*\"")).target().companions[0].version;
    assert!(chosen.major() == 1, "{chosen}");
    assert!(matches!(lock(&t4("torch = \"2.3\"\ntorchtext = \"*\"")), Outcome::Solution(..)));
}

/// What a package asks for of another one binds: versions that vllm's metadata names, of companions left open.
#[test]
fn a_package_binds_what_it_asks_for_of_another() {
    let pairs = include_str!("../data/vllm_pairs.tsv").lines().filter(|line| !line.starts_with('#'));
    let (mut seen, mut gone) = (0, 0);
    for pair in pairs.skip(1).map(|line| line.split('\t').collect::<Vec<_>>()) {
        let [vllm, companion, version] = pair[..] else { panic!("{pair:?}") };
        // No installer can install what pins a release that its index no longer has.
        let is_it = |row: &&Companion| &*row.package == "vllm" && row.version.as_str() == vllm;
        if BUILTIN.companions.iter().filter(is_it).all(|row| row.gone.is_some()) {
            gone += 1;
            continue;
        }
        let text = asked(&format!("vllm = \"=={vllm}\"\n{companion} = \"*\""), "");
        let found = wheel(&text, companion).version;
        assert_eq!(found.split('+').next(), Some(version), "vllm {vllm}: {companion} {found}");
        seen += 1;
    }
    assert_eq!((seen, gone), (52, 3));
    let apart = asked("vllm = \"0.33.0\"\ntorchvision = \"0.29.2\"", "");
    assert_eq!(culprits(&apart), ["stack.vllm", "stack.torchvision"]);
}

/// Releases of which the PyTorch index alone has wheels.
const ON_THAT_INDEX_ALONE: &[(&str, &str)] = &[("xformers", "0.0.22.post4")];

/// A wheel for one variant stands beside the release it is a wheel of, and says no more than that. One made for single
/// systems was built beside another torch at times.
#[test]
fn releases_for_variants_agree_with_the_release() {
    let mut seen = 0;
    for row in BUILTIN.companions.iter().filter(|row| row.variant.is_some() && row.systems.is_empty()) {
        let same = |other: &&Companion| {
            other.package == row.package && other.version == row.version && other.variant.is_none()
        };
        if !ON_THAT_INDEX_ALONE.contains(&(&row.package, row.version.as_str())) {
            let plain = BUILTIN.companions.iter().find(same).expect("the package index has it too");
            assert_eq!(plain.needs, row.needs, "{} {}", row.package, row.version);
        }
        let needs = Constraint::parse(&row.needs).expect("it is a constraint");
        let beside = |version: &Version| needs.admits(version);
        let variant = row.variant.as_deref();
        let exists = BUILTIN
            .builds
            .iter()
            .any(|build| build.package == row.framework && Some(&*build.variant) == variant && beside(&build.version));
        assert!(exists, "{} {} {variant:?}", row.package, row.version);
        seen += 1;
    }
    assert!(seen >= 150, "{seen}");
}

/// Sources: symbols that the wheels import and torch's export, read; ray#56695, AutoAWQ#466 (its sister package).
#[test]
fn a_wheel_goes_with_the_torch_whose_symbols_it_imports() {
    let torch = |stack: &str| lock(&asked(stack, "")).target().builds[0].version.to_string();
    assert!(torch("auto-gptq = \"0.5.1\"\ntorch = \"*\"").starts_with("2.1."));
    assert!(torch("auto-gptq = \"0.7.1\"\ntorch = \"*\"").starts_with("2.2."));
    assert!(torch("lmcache = \"0.3.15\"\ntorch = \"*\"").starts_with("2.9."));
    assert!(torch("lmcache = \"0.4.2\"\nvllm = \"0.17.1\"").starts_with("2.10."));
    let clash = |stack: &str| culprits(&asked(stack, ""));
    assert_eq!(clash("auto-gptq = \"0.6.0\"\ntorch = \"2.3.0\""), ["stack.auto-gptq", "stack.torch"]);
    assert_eq!(clash("lmcache = \"0.3.4\"\ntorch = \"2.7.1\""), ["stack.lmcache", "stack.torch"]);
}

/// pkg:pypi/vllm@0.8.2 pins xgrammar==0.1.16, which its index no longer lists; 0.8.3 pins another.
#[test]
fn a_release_whose_pin_is_gone_is_not_chosen() {
    assert_eq!(culprits(&asked("vllm = \"0.8.2\"", "")), ["stack.vllm"]);
    assert!(matches!(lock(&asked("vllm = \"0.8.3\"\npython = \"3.12\"", "")), Outcome::Solution(..)));
}

/// lmdeploy 0.13 to 0.18 hold code for 10.0 alone (sm_100a), which a B300 does not run; xformers has PTX for it.
#[test]
fn code_for_one_gpu_alone_runs_on_no_other() {
    let on = |stack: &str, gpu: &str| lock(&asked(stack, "").replace("A100-PCIE-40GB", gpu));
    assert!(matches!(on("lmdeploy = \"0.18.0\"", "sm_100"), Outcome::Solution(..)));
    assert!(matches!(on("lmdeploy = \"0.18.0\"", "sm_103"), Outcome::Conflict));
    assert!(matches!(on("lmdeploy = \"0.12.1\"", "sm_90"), Outcome::Solution(..)));
}

#[test]
fn what_comes_along_unasked_binds_too() {
    // Sources: METADATA of pkg:pypi/lmdeploy@0.6.5 (triton==3.0.0) and @0.7.0 (triton<=3.1.0,>=3.0.0), both torch<=2.5.1;
    // torch 2.4.1 requires triton 3.0.0, 2.5.1 3.1.0 and 2.3.1 2.3.1.
    let torch = |stack: &str| lock(&asked(stack, "driver = \"570\"")).target().builds[0].version.to_string();
    assert_eq!(torch("torch = \"*\"\nlmdeploy = \"0.6.5\""), "2.4.1");
    assert_eq!(torch("torch = \"*\"\nlmdeploy = \"0.7.0\""), "2.5.1");
    let clash = |stack: &str| culprits(&asked(stack, "driver = \"570\""));
    assert_eq!(clash("torch = \"2.5.1\"\nlmdeploy = \"0.6.5\""), ["stack.torch", "stack.lmdeploy"]);
    // For Python 3.12 torch 2.3.1 asks for no triton: pkg:pypi/torch@2.3.1, `python_version < "3.12"`.
    let older = "torch = \"2.3.1\"\nlmdeploy = \"0.7.0\"\npython = \"3.11\"";
    assert_eq!(clash(older), ["stack.torch", "stack.lmdeploy", "stack.python"]);
    for python in ["", "\npython = \"3.12\""] {
        let later =
            lock(&asked(&format!("torch = \"2.3.1\"\nlmdeploy = \"0.7.0\"{python}"), "driver = \"570\"")).target();
        assert_eq!((later.has("python").as_str(), later.has("triton").as_str()), ("3.12", ""));
    }
    // It is no way to a newer torch, though: with Python 3.15 none asks for a triton, and none compiles.
    assert_eq!(torch("torch = \"*\"\nbitsandbytes = \"0.45.0\""), "2.5.1");
    // Two that ask for different releases of a third: each release of RAPIDS for rmm's of the same month.
    let rapids = |cuml: &str| format!("python = \"3.12\"\ncudf-cu12 = \"25.12.0\"\ncuml-cu12 = \"{cuml}\"");
    assert_eq!(clash(&rapids("26.2.0")), ["stack.cudf-cu12", "stack.cuml-cu12"]);
    assert!(matches!(lock(&asked(&rapids("25.12.0"), "driver = \"570\"")), Outcome::Solution(..)));
    // Ordinary packages come along too. Sources: METADATA of pkg:pypi/sglang@0.5.12 (tilelang==0.1.8) and of
    // pkg:pypi/lmdeploy@0.18.0 (tilelang==0.1.11); pkg:pypi/tensorflow@2.12.1 (typing-extensions<4.6.0) and of torch since
    // 2.2 (typing-extensions>=4.8.0).
    assert_eq!(clash("torch = \"*\"\nlmdeploy = \"0.18.0\"\nsglang = \"0.5.12\""), ["stack.lmdeploy", "stack.sglang"]);
    // pkg:pypi/vllm@0.25.1 (numba==0.65.0) and pkg:pypi/cudf-cu13@25.12.0 (numba<0.62.0a0,>=0.60.0); pkg:pypi/vllm@0.11.0
    // (outlines_core==0.2.11), and outlines 0.1.11, which pkg:pypi/sglang@0.5.5 pins (outlines_core==0.1.26).
    assert_eq!(clash("vllm = \"0.25\"\ncudf-cu13 = \"25.12\""), ["stack.vllm", "stack.cudf-cu13"]);
    assert_eq!(clash("vllm = \"0.11.0\"\nsglang = \"0.5.5\""), ["stack.vllm", "stack.sglang"]);
    // torch for CUDA 12 pins the nvJitLink of its toolkit: pkg:pypi/torch@2.9.1 (12.8.93), pkg:pypi/libcudf-cu12@26.10.2 (>=12.9).
    let rapids = |torch: &str, of: &str| format!("python = \"3.12\"\ntorch = \"{torch}\"\n{of}");
    let cudf = |version: &str| format!("cudf-cu12 = \"{version}\"");
    assert_eq!(clash(&rapids("2.9.1+cu128", &cudf("26.10.2"))), ["stack.torch", "stack.cudf-cu12"]);
    let beside = |torch: &str, of: &str| lock(&asked(&rapids(torch, of), "")).target().has("torch");
    assert_eq!(beside("2.9.1", &cudf("26.10.2")), "2.9.1+cu129");
    // From 26.2 on it links what CUDA 12.9 compiled, and says so from 26.8 on: github.com/rapidsai/deployment/issues/729. cuml
    // brings it along, and with it what it links.
    for (of, torch) in [
        (cudf("26.4.0"), "2.9.1+cu129"),
        (cudf("25.12.0"), "2.9.1+cu128"),
        ("cuml-cu12 = \"26.2.0\"".to_string(), "2.9.1+cu129"),
    ] {
        assert_eq!(beside("2.9.1", &of), torch, "{of}");
    }
    // For CUDA 13 the metapackages pin it (pkg:pypi/cuda-toolkit@13.0.2) or leave it open upwards (13.0.3, 13.2.1), and
    // pkg:pypi/libcudf-cu13@26.10.2 wants 13.3 or newer: of torch 2.12 cu130 is for 13.0.2, cu132 for 13.2.1.
    let cudf13 = "cudf-cu13 = \"26.10.2\"";
    assert_eq!(clash(&rapids("2.12.0+cu130", cudf13)), ["stack.torch", "stack.cudf-cu13"]);
    assert_eq!(beside("2.12.0", cudf13), "2.12.0+cu132");
    assert_eq!(beside("2.12.0", "cudf-cu13 = \"26.4.0\""), "2.12.0+cu130");
    assert_eq!(beside("2.13.0", cudf13), "2.13.0+cu130");
    // Whatever the processor: for aarch64 torch pins its libraries from 2.9 on, and holds them inside before.
    let on_arm = |torch: &str| asked(&rapids(torch, cudf13), "arch = \"aarch64\"\n");
    assert_eq!(culprits(&on_arm("2.9.1+cu130")), ["stack.torch", "stack.cudf-cu13"]);
    assert_eq!(lock(&on_arm("2.13.0")).target().has("torch"), "2.13.0+cu130");
    // Where the toolkit of the stack is held older, the library comes from the next toolkit that has one which all accept.
    let held = format!("{}\ncuda = \"13.0\"", rapids("2.13.0", "cudf-cu13 = \"26.8\""));
    let lock_of_it = written(&asked(&held, ""));
    let named = |name: &str| lock_of_it.wheel.iter().find(|wheel| wheel.package == name).map(|wheel| &*wheel.version);
    assert_eq!(named("nvidia-nvjitlink"), Some("13.3.33"));
    assert!(lock_of_it.stack["cuda"].starts_with("13.0"));
    // What a package says only in its code: mamba_ssm calls causal_conv1d_cuda with the arguments of one range of releases
    // (read in every source distribution of both).
    let mamba = |mamba: &str, conv: &str| asked(&format!("mamba-ssm = \"{mamba}\"\ncausal-conv1d = \"{conv}\""), "");
    for (ssm, conv) in [("1.0.1", "1.0.2"), ("1.1.1", "1.1.3.post1"), ("2.2.4", "1.5.0.post8"), ("2.2.5", "1.7.0")] {
        assert_eq!(lock(&mamba(ssm, "*")).target().has("causal-conv1d"), conv, "mamba-ssm {ssm}");
    }
    assert_eq!(culprits(&mamba("1.2.0.post1", "1.1.1")), ["stack.mamba-ssm", "stack.causal-conv1d"]);
    assert_eq!(culprits(&mamba("2.2.5", "1.4.0")), ["stack.mamba-ssm", "stack.causal-conv1d"]);
    // What a package pins of others must be for the Python too: pkg:pypi/vllm@0.7.2 requires torchaudio 2.5.1, which has no
    // wheel for 3.13.
    assert_eq!(lock(&asked("vllm = \"0.7.2\"", "driver = \"570\"")).target().has("python"), "3.12");
    assert_eq!(clash("vllm = \"0.7.2\"\npython = \"3.13\""), ["stack.vllm", "stack.python"]);
    // Nor is one chosen for which what it pins is there as source alone: pkg:pypi/outlines-core@0.1.26, which every release
    // of sglang pins.
    for sglang in ["sglang = \"0.5.6\"", "sglang = \"*\""] {
        assert_eq!(lock(&asked(sglang, "")).target().has("python"), "3.12");
    }
    let both = lock(&asked("torch = \"*\"\ntensorflow = \"2.12\"", "driver = \"470\"")).target();
    assert!(both.builds.iter().any(|build| build.package == "tensorflow" && build.version.to_string() == "2.12.0"));
}

#[test]
fn kernels_that_a_package_pins_are_its_own() {
    // Sources: common_ops of the sgl-kernel or sglang-kernel that each release pins, and reports of what that means:
    // sgl-project/sglang#24224 (T4), #24302 (RTX 2080), opendatalab/MinerU#3416 (V100); for B300 and GB10 the wheels for
    // CUDA 13 were the first, sgl-project/sglang#13900 and #18203: up to 0.5.10 they lie on SGLang's own index.
    let asked = |sglang: &str, gpu: &str| format!("[stack]\nsglang = \"{sglang}\"\n[target.t]\ngpu = \"{gpu}\"\n");
    for (sglang, gpus, runs) in [
        (">=0.5.3", &["Tesla T4", "Tesla V100-PCIE-32GB", "RTX 2080"][..], false),
        // The kernels of older ones, up to sgl-kernel 0.2.8, hold code for Turing.
        ("*", &["Tesla T4", "RTX 2080"], true),
        ("==0.5.6", &["Tesla T4"], false),
        ("==0.5.5", &["NVIDIA B300", "NVIDIA GB10"], false),
        (">=0.5.10,<0.5.11", &["NVIDIA B300", "NVIDIA GB10"], true),
        (
            "==0.5.6",
            &["NVIDIA B300", "NVIDIA GB10", "RTX 3090", "NVIDIA L4", "H100 NVL", "NVIDIA B200", "RTX 5090", "GH200"],
            true,
        ),
        ("==0.5.11", &["RTX 3090", "NVIDIA B200", "NVIDIA B300", "RTX 5090", "NVIDIA GB10", "Jetson AGX Thor"], true),
        ("*", &["NVIDIA L4", "H100 NVL", "NVIDIA B300", "NVIDIA GB10"], true),
    ] {
        for gpu in gpus {
            let text = asked(sglang, gpu);
            match runs {
                true => assert!(matches!(lock(&text), Outcome::Solution(..)), "{text}"),
                false => assert_eq!(culprits(&text), ["stack.sglang", "target.t.gpu"], "{text}"),
            }
        }
    }
    // Up to 0.5.5 they load the runtime of CUDA 12 alone; of later ones the wheel for CUDA 13 is locked though nobody named it.
    let beside = |torch: &str| format!("torch = \"{torch}\"\nsglang = \"==0.5.5\"");
    let h100 = |torch: &str| format!("[stack]\n{}\n[target.t]\ngpu = \"H100 NVL\"\n", beside(torch));
    assert_eq!(culprits(&h100("+cu130")), ["stack.torch", "stack.sglang"]);
    assert_eq!(lock(&h100("2.8.0")).target().has("torch"), "2.8.0+cu128");
    let brought = h100("2.9.1+cu130").replace("0.5.5", "0.5.9");
    let file = "/v0.3.21/sgl_kernel-0.3.21+cu130-cp310-abi3-manylinux2014_x86_64.whl";
    assert!(wheel(&brought, "sgl-kernel").url.is_some_and(|url| url.ends_with(file)));
    assert_eq!(wheel(&brought, "sglang").index, None);
}

#[test]
fn old_releases_of_bitsandbytes_go_with_the_cuda_they_have_a_library_for() {
    // Source: the names of the libraries in each wheel of pkg:pypi/bitsandbytes.
    let asked = |torch: &str, bitsandbytes: &str| {
        // Until 0.40.1 the CUDA is the one that is installed.
        let (line, minor) = torch.split_once("+cu").unwrap().1.split_at(2);
        let stack = format!("torch = \"{torch}\"\nbitsandbytes = \"{bitsandbytes}\"");
        format!("[stack]\n{stack}\n[target.t]\ngpu = \"Tesla T4\"\ntoolkit = \"{line}.{minor}\"\n")
    };
    for (torch, before, chosen) in [
        ("1.12.1+cu113", "0.41.1", "0.40.1.post1"),
        ("1.13.1+cu116", "0.41.1", "0.39.1"),
        ("1.13.1+cu117", "0.41.1", "0.41.0"),
        ("1.10.2+cu111", "0.41.1", "0.41.0"),
        ("2.0.1+cu118", "0.36.0.post2", "0.35.4"),
        ("2.1.0+cu121", "0.40", "0.39.1"),
    ] {
        let text = asked(torch, &format!("<{before}"));
        assert_eq!(lock(&text).target().has("bitsandbytes"), chosen, "{text}");
    }
    for (torch, range) in
        [("1.12.1+cu102", "*"), ("1.8.1+cu101", "*"), ("2.1.0+cu121", "<0.37.2"), ("2.4.1+cu124", "<0.41")]
    {
        let blamed = culprits(&asked(torch, range));
        assert!(blamed.contains(&"stack.bitsandbytes".to_string()), "{torch}: {blamed:?}");
    }
}

/// What public projects install beside torch: each package that holds CUDA code, or is bound to releases of a framework or
/// of NVIDIA's libraries, is solved with; the others belong under `[packages]`.
#[test]
fn what_is_installed_beside_torch_is_taken_where_its_wheels_say() {
    let known: Vec<String> = BUILTIN.packages().into_iter().map(|package| package.name).collect();
    let rows = include_str!("../data/beside_torch.tsv").lines().filter(|line| !line.starts_with('#'));
    let mut counts = [0, 0];
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        let [package, projects, place, wheel, evidence] = cells[..] else { panic!("five cells: {row}") };
        assert!(projects.parse::<u32>().is_ok_and(|count| count >= 2) && !evidence.is_empty(), "{row}");
        assert!(wheel == "-" || wheel.starts_with("pkg:pypi/"), "{row}");
        let stack = format!("[stack]\n{package} = \"*\"\n[target.t]\n");
        let packages = format!("[stack]\npython = \"*\"\n[packages]\n{package} = \"*\"\n[target.t]\n");
        let (right, wrong) = match place {
            "stack" => (stack, packages),
            "packages" => (packages, stack),
            other => panic!("`{other}` is no place: {row}"),
        };
        // A wheel that holds code, and metadata that leaves out a framework, belong under `[stack]`.
        let is_bound = evidence.contains("holds code") || evidence.contains("asks for");
        assert!(place == "stack" || !is_bound, "{row}");
        counts[usize::from(place == "packages")] += 1;
        let told = refused(&wrong);
        assert!(told.contains(&format!("under [{place}]")), "{row}: {told}");
        // NVIDIA's libraries are chosen under a name of their own, `nccl` for nvidia-nccl-cu12.
        if !told.contains("is chosen as") {
            assert_eq!(known.iter().any(|name| name == package), place == "stack", "{row}");
            assert_eq!(refused(&right), "", "{row}");
        }
    }
    assert!(counts[0] >= 20 && counts[0] + counts[1] >= 200, "{counts:?}");
}

/// What names of a spec are refused with, and what to do; nothing where all are known.
fn refused(text: &str) -> String {
    let spec = spec::parse(text).expect("the spec parses");
    match Request::new(&spec, rules()) {
        Ok(_) => String::new(),
        Err(errors) => {
            errors.iter().map(|one| format!("{}: {}", one.message, one.help.as_deref().unwrap_or(""))).collect()
        }
    }
}

/// What pip installs for JAX is what the lock holds and explain tells, beside a torch that has copies of its own inside.
#[test]
fn explain_tells_the_libraries_that_the_lock_holds() {
    let text = asked("torch = \"2.1.2+cu121\"\njax = \"0.7.1\"", "driver = \"550.54.15\"");
    let spec = spec::parse(&text).expect("the spec parses");
    let stack = lock(&text).target().stack();
    let told = why(&spec, rules(), &Locked::new(), &Steps::default()).expect("it has an answer");
    for (name, holder) in [("cudnn", "torch 2.1.2+cu121 holds 8.9.2.26 inside"), ("nccl", "inside"), ("cuda", "jax")] {
        let choice = told.choices.iter().find(|choice| choice.key == format!("stack.{name}")).expect("it is told");
        assert_eq!(choice.chosen, stack[name]);
        assert!(choice.because[0].contains(holder) && choice.because[0].contains("jax 0.7.1+cu12"), "{choice:?}");
        assert!(choice.rejected.is_empty(), "{choice:?}");
    }
}

/// A JAX that leaves its libraries open is of the CUDA line whose libraries are installed for it.
#[test]
fn jax_is_of_any_line_whose_libraries_it_takes() {
    let on = |cuda: &str, gpu: &str| {
        lock(&format!(
            "[stack]\njax = \"0.7.1\"\ncuda = \"{cuda}\"\n[target.t]\ngpu = \"{gpu}\"\ndriver = \"580.95.05\""
        ))
    };
    for (cuda, release) in [("12.6", "12.6.3"), ("12.9", "12.9.1"), ("12.8", "12.8.1")] {
        let chosen = on(cuda, "A100").target().stack();
        assert!(chosen["cuda"].starts_with(cuda), "{release} {chosen:?}");
    }
    // Below what its metadata asks for, and what does not know the GPU.
    assert!(on("12.0", "A100").is_conflict());
    assert!(on("12.6", "B200").is_conflict());
}

/// The snapshot of torch in an image is asked for by the version that it carries, label or not.
#[test]
fn the_snapshot_in_an_image_goes_by_its_own_version() {
    let on = |torch: &str, place: &str| {
        lock(&format!("[stack]\ntorch = \"{torch}\"\n[target.t]\ngpu = \"A100\"\ndriver = \"550.54.15\"\n{place}"))
    };
    let image = "image = \"nvcr.io/nvidia/pytorch:25.01-py3\"";
    for written in ["2.6.0a0", "2.6.0a0+ecf3bae40a.nv25.01", "2.6"] {
        assert!(on(written, image).target().has("torch").starts_with("2.6.0a0"), "{written}");
    }
    assert!(on("2.6.0a0", "").is_undetermined(), "nobody has read the list of snapshots");
    assert!(!matches!(on("2.7.0a0", image), Outcome::Solution(..)));
}

/// An image that is changed keeps its system, and a package that no release helps moves with what follows it.
#[test]
fn a_fix_keeps_the_system_and_takes_along_what_follows() {
    let fixes = |text: &str| {
        let spec = spec::parse(text).expect("the spec parses");
        explain::conflicts(&spec, rules(), &Steps::default()).expect("there is a conflict").fixes
    };
    let text = "[stack]\ntorch = \"2.9.0+cu130\"\n[build]\n[target.t]\ngpu = \"V100\"\ndriver = \"580\"\n\
                image = \"nvidia/cuda:13.0.1-devel-ubuntu22.04\"";
    let images: Vec<String> = fixes(text)
        .iter()
        .flat_map(|fix| fix.changes.iter().filter(|change| change.key == "target.t.image"))
        .filter_map(|change| change.to.clone())
        .collect();
    assert!(!images.is_empty() && images.iter().all(|image| image.ends_with("-devel-ubuntu22.04")), "{images:?}");
    // No torch for CUDA 11 has wheels for this Python: another one takes the image along.
    let text = "[stack]\ntorch = \"2.6.0+cu118\"\npython = \"3.14\"\n[build]\n[target.t]\ngpu = \"A100\"\n\
                driver = \"580\"\nimage = \"nvidia/cuda:11.8.0-devel-ubuntu22.04\"";
    let together = |fix: &explain::Fix| {
        ["stack.torch", "target.t.image"].iter().all(|key| fix.changes.iter().any(|change| change.key == *key))
    };
    assert!(fixes(text).iter().any(together));
}

/// Of several libraries in one wheel the CUDA line of the torch beside it tells which is loaded, and a lock rests on what is
/// known of that one.
#[test]
fn a_lock_rests_on_what_is_known_of_the_library_that_is_loaded() {
    for (stack, rule, rests) in [
        ("torch = \"2.6.0+cu126\"\nbitsandbytes = \"0.45.5\"", "bitsandbytes-0.45-glibc", true),
        ("torch = \"2.6.0+cu124\"\nbitsandbytes = \"0.45.5\"", "bitsandbytes-0.45-glibc", false),
        ("torch = \"2.7.1+cu128\"\nbitsandbytes = \"0.46.1\"", "bitsandbytes-0.46-gpu", true),
        ("torch = \"2.7.1+cu126\"\nbitsandbytes = \"0.46.1\"", "bitsandbytes-0.46-gpu", false),
    ] {
        assert_eq!(written(&asked(stack, "")).fact.iter().any(|fact| fact.id == rule), rests, "{stack}");
    }
}

/// xgboost carries its CUDA inside, and had no GPU code for aarch64 before 3.1.3: what a release lacks there it takes from no
/// system either.
#[test]
fn what_carries_its_cuda_takes_none_from_the_system() {
    let on = |version: &str, gpus: &[&str]| {
        let target = |gpu: &&str| format!("[target.{}]\ngpu = \"{gpu}\"\n", gpu.to_lowercase());
        let targets: String = gpus.iter().map(target).collect();
        lock(&format!("[stack]\nxgboost = \"{version}\"\n{targets}"))
    };
    for gpus in [&["H100"][..], &["GH200"], &["GH200", "H100"]] {
        for target in on("*", gpus).targets() {
            assert_eq!((target.has("cuda").as_str(), target.has("xgboost").is_empty()), ("", false), "{gpus:?}");
        }
    }
    assert!(on("2.1.4", &["GH200", "H100"]).is_conflict(), "it computes on the CPU there");
}

/// jax before 0.4.36 takes the ptxas that is there, and those before CUDA 12.6.3 compile wrongly for an H100: beside a torch of
/// an older CUDA, which asks for no ptxas, it gets a newer one.
#[test]
fn jax_gets_a_ptxas_that_compiles_rightly_whatever_torch_pins() {
    let ptxas = |gpu: &str| {
        let text = format!("[stack]\ntorch = \"2.5.1+cu124\"\njax = \"0.4.31\"\n[target.t]\ngpu = \"{gpu}\"\n");
        Version::parse(&wheel(&text, "nvidia-cuda-nvcc-cu12").version).unwrap()
    };
    assert!(ptxas("H100") >= Version::parse("12.6.85").unwrap(), "{}", ptxas("H100"));
    assert_eq!(ptxas("A100-PCIE-40GB").as_str(), "12.4.131");
}

/// That nobody knows on which drivers the image of one machine starts is no reason against what helps another.
#[test]
fn what_nobody_knows_of_another_machine_hides_no_fix() {
    let text = "[stack]\ntorch = \">=2.0\"\nvllm = \"0.8.*\"\n[target.cpu]\ngpu = \"none\"\nos = \"ubuntu26.04\"\n\
                image = \"nvidia/cuda\"\n[target.gpu]\ngpu = \"RTX 5090\"\ndriver = \"390.46\"\nos = \"ubuntu24.04\"\n\
                [resolve]\nshare = \"none\"";
    let spec = spec::parse(text).expect("the spec parses");
    let told = explain::conflicts(&spec, rules(), &Steps::default()).expect("there is a conflict");
    let both = |fix: &explain::Fix| {
        fix.changes.iter().map(|change| change.key.as_str()).eq(["stack.vllm", "target.gpu.driver"])
    };
    assert!(told.fixes.iter().any(both), "{:?}", told.fixes);
}
