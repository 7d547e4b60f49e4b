//! When an answer is warned of and when it is not: specs that differ in one thing, and whether a warning is given.

use gpuenv::catalog::BUILTIN;
use gpuenv::catalog::rows::{Class, Subject};
use gpuenv::solve::rules::Rules;
use gpuenv::types::{Arch, Version};

use crate::common::solver::{Short, fixes, lock, warned, warnings};

/// A spec, the warning it is about, and whether it is given.
type Case<'s> = (&'s str, &'static str, bool);

#[track_caller]
fn try_all(cases: &[Case<'_>]) {
    let mut wrong = Vec::new();
    for (spec, code, given) in cases {
        let spec = spec.replace(" | ", "\n");
        let codes = warned(&spec);
        if codes.contains(code) != *given {
            wrong.push(format!("{code} {}:\n{spec}\n{codes:?}", if *given { "is not given" } else { "is given" }));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The toolkit that is there is the CUDA of what loads its libraries, and of two builds that of its minor is taken; each
/// framework has a cuDNN of its own where one holds it inside its wheel and the other's is of another major.
#[test]
fn no_alarm_is_given_for_what_was_chosen_to_fit() {
    try_all(&[
        (
            "[stack] | cupy-cuda12x = \"14.0\" | [target.a] | gpu = \"A100\" | driver = \"525.147.05\" | toolkit = \"12.0\"",
            "jit-limited",
            false,
        ),
        (
            "[stack] | cupy-cuda12x = \"14.0\" | [target.a] | gpu = \"A100\" | driver = \"525.147.05\" | toolkit = \"12.8\"",
            "jit-limited",
            true,
        ),
        (
            "[stack] | torch = \"2.5.1\" | [build] | [target.a] | gpu = \"A100\" | toolkit = \"12.1\"",
            "toolkit-minor",
            false,
        ),
        (
            "[stack] | torch = \"2.5.1\" | [build] | [target.a] | gpu = \"A100\" | toolkit = \"12.6\"",
            "toolkit-minor",
            true,
        ),
        (
            "[stack] | jax = \"0.12\" | [build] | [target.a] | gpu = \"A100\" | driver = \"570.133.20\"",
            "jit-limited",
            false,
        ),
        ("[stack] | jax = \"0.4.33\" | torch = \"2.1.1\" | [target.a] | gpu = \"A100\"", "two-cudnns", false),
        // Sources: github.com/jax-ml/jax/issues/18032 and 18172; 0.4.26 asks for what this torch holds, or newer.
        ("[stack] | jax = \"0.4.23\" | torch = \"2.1.2\" | [target.a] | gpu = \"A100\"", "two-cudas", true),
        ("[stack] | jax = \"0.4.24\" | torch = \"2.1.0\" | [target.a] | gpu = \"A100\"", "two-cudas", true),
        ("[stack] | jax = \"0.4.26\" | torch = \"2.1.2\" | [target.a] | gpu = \"A100\"", "two-cudas", false),
        ("[stack] | tensorflow = \"2.16.2\" | torch = \"2.1.1\" | [target.a] | gpu = \"A100\"", "two-cudas", false),
        ("[stack] | tensorflow = \"2.16.2\" | torch = \"2.1.1\" | [target.a] | gpu = \"A100\"", "two-cudnns", true),
    ]);
}

/// What a newer nvcc compiles names functions that the wheel's older CUDA runtime lacks; one that is as old or older is no
/// matter where nothing is built by hand. Source: github.com/sgl-project/sglang/issues/5695.
#[test]
fn a_toolkit_newer_than_the_wheels_is_told_where_a_package_is_compiled() {
    let told = |stack: &str, toolkits: &str| {
        let text =
            format!("[stack]\ntorch = \"2.6.0+cu124\"\n{stack}\n[target.a]\ngpu = \"H100\"\ntoolkit = [{toolkits}]\n");
        let told = warnings(&text).into_iter().find(|one| one.code == "toolkit-minor");
        told.is_some_and(|one| one.message.contains("may not load"))
    };
    let compiled = "flashinfer-python = \"0.2.5\"";
    assert!(told(compiled, "\"12.8\"") && told(compiled, "\"11.8\", \"12.5\""));
    for toolkits in ["\"12.4\"", "\"12.1\"", "\"12.4\", \"12.8\""] {
        assert!(!told(compiled, toolkits), "{toolkits}");
    }
    // Its wheel holds compiled code.
    assert!(!told("bitsandbytes = \"0.45.1\"", "\"12.8\""));
    let built = |toolkit: &str| {
        let text =
            format!("[stack]\ntorch = \"2.6.0+cu124\"\n[build]\n[target.a]\ngpu = \"H100\"\ntoolkit = \"{toolkit}\"\n");
        warnings(&text).into_iter().find(|one| one.code == "toolkit-minor").expect("it is another minor").message
    };
    assert!(built("12.8").contains("may not load") && built("12.1").contains("usually works"));
}

/// What a package requires is installed all the same: what a rule says of that on a GPU is told, though nobody named it.
#[test]
fn what_is_required_and_does_not_compute_on_a_gpu_is_told() {
    let told = |stack: &str, gpu: &str| {
        let told = warnings(&format!("[stack]\n{stack}\n[target.a]\ngpu = \"{gpu}\"\n"));
        let told = told.into_iter().filter(|one| one.code == "brings-other-cuda").map(|one| one.message);
        told.into_iter().find(|message| message.contains("fails on a GPU"))
    };
    // METADATA of pkg:pypi/torch-tensorrt@2.5.0 (tensorrt-cu12==10.3.0); github.com/NVIDIA/TensorRT/issues/3826.
    let tensorrt = told("torch-tensorrt = \"2.5.0\"", "Tesla P40").expect("TensorRT 10 is for Volta and later");
    assert!(tensorrt.contains("tensorrt-cu12==10.3.0") && tensorrt.contains("Volta"), "{tensorrt}");
    assert_eq!(told("torch-tensorrt = \"2.5.0\"", "A100"), None);
    // pkg:pypi/vllm@0.10.0 (xformers==0.0.31); github.com/vllm-project/vllm/issues/23231.
    assert!(told("vllm = \"0.10.0\"", "RTX 5090").is_some_and(|told| told.contains("xformers==0.0.31")));
    assert_eq!(told("vllm = \"0.10.0\"", "RTX 4090"), None);
}

/// CuPy compiles with headers of CUDA that images of flavour runtime lack. Source: github.com/cupy/cupy/issues/8466.
#[test]
fn headers_that_kernels_are_compiled_with_are_in_the_image_or_told() {
    let asked = |cupy: &str, image: &str| format!("[stack]\n{cupy}\n[target.a]\ngpu = \"A100\"\nimage = \"{image}\"\n");
    let told = |cupy: &str, image: &str| {
        warnings(&asked(cupy, image))
            .into_iter()
            .any(|one| one.code == "system-cuda" && one.message.contains("headers"))
    };
    let (newer, older) = ("cupy-cuda12x = \"13.2.0\"", "cupy-cuda11x = \"13.2.0\"");
    assert!(
        told(newer, "nvidia/cuda:12.4.1-runtime-ubuntu22.04") && told(newer, "nvidia/cuda:12.4.1-base-ubuntu22.04")
    );
    assert!(
        !told(newer, "nvidia/cuda:12.4.1-devel-ubuntu22.04") && !told(newer, "nvidia/cuda:12.1.1-runtime-ubuntu22.04")
    );
    assert!(!told(older, "nvidia/cuda:11.8.0-runtime-ubuntu22.04"));
    let image = |cupy: &str| lock(&asked(cupy, "nvidia/cuda")).target().tag();
    assert!(image(newer).contains("-devel-") && image(older).contains("-runtime-"));
    // torch brings them along in the wheel of the runtime.
    assert!(image(&format!("{newer}\ntorch = \"2.6\"")).contains("-base-"));
}

/// Numba gives the driver PTX of the toolkit that it finds; numba-cuda links with that toolkit's nvJitLink from 12.3 on.
#[test]
fn what_compiles_to_ptx_is_told_where_the_driver_does_not_take_it() {
    let told = |stack: &str, toolkit: &str, driver: &str| {
        let machine = format!("gpu = \"A100\"\ndriver = \"{driver}\"\ntoolkit = [\"{toolkit}\"]\nos = \"ubuntu22.04\"");
        let told = warnings(&format!("{stack}\n[target.a]\n{machine}\n"));
        told.iter().any(|one| one.message.contains("so all of its kernels fail"))
    };
    let numba = |cuda: &str| format!("[stack]\ncuda = \"{cuda}\"\n[packages]\nnumba = \"*\"");
    assert!(told(&numba("12.1"), "12.1", "525.105.17"));
    assert!(!told(&numba("12.0"), "12.0", "525.105.17"));
    // Of another major all the more, which numba-cuda does not help either.
    for (toolkit, driver) in [("12.4", "470.256.02"), ("13.0", "570.133.20")] {
        assert!(told("[stack]\npython = \"3.11\"\n[packages]\nnumba = \"*\"", toolkit, driver), "{toolkit} {driver}");
    }
    // Of two that are there the older one is found, or may be made to be.
    assert!(!told("[stack]\ntorch = \"2.5.1+cu118\"\n[packages]\nnumba = \"*\"", "11.8\", \"12.6", "535.104.05"));
    // The toolkit that is there is newer than the driver, the framework's CUDA is not.
    assert!(told("[stack]\ntorch = \"2.5.1+cu118\"\n[packages]\nnumba = \"*\"", "12.6", "535.104.05"));
    let numba_cuda = |cuda: &str| format!("[stack]\ncuda = \"{cuda}\"\nnumba-cuda = \"*\"");
    assert!(!told(&numba_cuda("12.6"), "12.6", "525.105.17"));
    // What nothing else compiles is a conflict; on a data-centre board the libcuda of a cuda-compat compiles it.
    let asked = |gpu: &str, at: &str, driver: &str| {
        format!("[stack]\nnumba-cuda = \"0.19.1\"\n[target.a]\ngpu = \"{gpu}\"\n{at}\ndriver = \"{driver}\"\n")
    };
    for at in ["toolkit = \"12.2\"", "image = \"nvidia/cuda:12.2.2-runtime-ubuntu22.04\""] {
        assert!(lock(&asked("RTX 3090", at, "525.105.17")).is_conflict(), "{at}");
        assert!(!lock(&asked("RTX 3090", at, "535.104.05")).is_conflict(), "{at}");
        assert!(warned(&asked("A100", at, "525.105.17")).contains(&"forward-compat"), "{at}");
    }
    let offered = fixes(&asked("RTX 3090", "toolkit = \"12.2\"", "525.105.17"));
    assert_eq!(offered, [["target.a.toolkit -> 12.3"], ["target.a.driver -> >=535.43.02"]]);
    // What links kernels does so where it finds the library alone: github.com/googlecolab/colabtools/issues/5081, and
    // _linker.py of pkg:pypi/cuda-core@0.3.2 ("falling back to the cuLink* driver APIs").
    for version in ["0.19.0", "0.30.4"] {
        let stack = format!("[stack]\ncuda = \"12.5\"\nnumba-cuda = \"{version}\"");
        let machine = "gpu = \"T4\"\ndriver = \"550.54.15\"\ntoolkit = [\"12.5\"]\nos = \"ubuntu22.04\"";
        let told = warnings(&format!("{stack}\n[target.a]\n{machine}\n"));
        let limited = told.iter().find(|one| one.code == "jit-limited").expect("12.5 is newer than 12.4");
        assert!(limited.message.contains("where it finds none the driver gets the PTX"), "{}", limited.message);
    }
    // The wheels of a framework may bring that library.
    let stack = "torch = \"2.5.1+cu121\"\nnumba-cuda = \"0.19.1\"";
    let machine = "gpu = \"RTX 3090\"\ndriver = \"525.105.17\"\ntoolkit = \"12.2\"";
    let told = warnings(&format!("[stack]\n{stack}\n[target.a]\n{machine}\n"));
    assert!(told.iter().any(|one| one.message.contains("where it finds none the driver gets the PTX")), "{told:?}");
}

/// dgl of the package index computes on the CPU alone: github.com/dmlc/dgl/issues/5427.
#[test]
fn what_the_index_has_for_the_cpu_alone_is_told_where_there_is_a_gpu() {
    try_all(&[
        (
            "[stack] | torch = \"2.2.1+cu121\" | [packages] | dgl = \"*\" | [target.a] | gpu = \"A100\"",
            "part-lacks",
            true,
        ),
        (
            "[stack] | torch = \"2.2.1+cu121\" | [packages] | dgl = \"==2.1.0\" | [target.a] | gpu = \"A100\"",
            "part-lacks",
            true,
        ),
        (
            "[stack] | torch = \"2.2.1+cu121\" | [packages] | dgl = \"==2.1.0+cu121\" | [target.a] | gpu = \"A100\"",
            "part-lacks",
            false,
        ),
        (
            "[stack] | torch = \"2.2.1+cpu\" | [packages] | dgl = \"*\" | [target.a] | gpu = \"none\"",
            "part-lacks",
            false,
        ),
    ]);
}

/// An image alone, whose CUDA has left the GPU behind or does not know it yet, is told; what brings its own CUDA runs in it.
#[test]
fn the_cuda_of_an_image_that_does_not_serve_the_gpu_is_told() {
    let cuda13 = "image = \"nvidia/cuda:13.0.1-runtime-ubuntu22.04\"";
    try_all(&[
        (&format!("[stack] | [target.a] | gpu = \"V100\" | {cuda13}"), "image-cuda", true),
        (&format!("[stack] | [target.a] | gpu = \"GTX 1080 Ti\" | {cuda13}"), "image-cuda", true),
        (&format!("[stack] | [target.a] | gpu = \"RTX 4090\" | {cuda13}"), "image-cuda", false),
        (&format!("[stack] | [target.a] | gpu = \"none\" | {cuda13}"), "image-cuda", false),
        (&format!("[stack] | torch = \"2.7.1+cu126\" | [target.a] | gpu = \"V100\" | {cuda13}"), "image-cuda", false),
        (
            "[stack] | [target.a] | gpu = \"RTX 5090\" | image = \"nvidia/cuda:11.8.0-base-ubuntu22.04\"",
            "image-cuda",
            true,
        ),
    ]);
}

/// What the message says to do is what helps.
#[test]
fn kernels_that_are_left_out_are_told_with_what_brings_them_back() {
    let told = warnings("[stack]\ntorch = \"2.14\"\ndeepspeed = \"0.18.9\"\n[target.a]\ngpu = \"A100\"\n");
    let about = |says: &str| told.iter().any(|one| one.message.contains(says));
    assert!(about("compiles its kernels beside torch <2.14 only") && about("take torch <2.14"), "{told:?}");
}

/// Installers choose the open modules from driver 560 on: who has an older one, or a GPU that none of them drives, cannot
/// go wrong.
#[test]
fn a_flavour_of_kernel_modules_is_told_where_the_wrong_one_may_be_installed() {
    try_all(&[
        (
            "[stack] | torch = \"*\" | [target.a] | gpu = \"V100-SXM2-32GB\" | driver = \"550.54.15\"",
            "kernel-module",
            false,
        ),
        (
            "[stack] | torch = \"*\" | [target.a] | gpu = \"V100-SXM2-32GB\" | driver = \"560.28.03\"",
            "kernel-module",
            true,
        ),
        (
            "[stack] | torch = \"*\" | [target.a] | gpu = \"V100-SXM2-32GB\" | driver = \"560.00\"",
            "kernel-module",
            true,
        ),
        ("[stack] | torch = \"*\" | [target.a] | gpu = \"V100-SXM2-32GB\" | driver = \">=550\"", "kernel-module", true),
        (
            "[stack] | torch = \"*\" | [target.a] | gpu = \"V100-SXM2-32GB\" | driver-cuda = \"12.4\"",
            "kernel-module",
            false,
        ),
        (
            "[stack] | torch = \"*\" | [target.a] | gpu = \"V100-SXM2-32GB\" | driver-cuda = \"12.6\"",
            "kernel-module",
            true,
        ),
        (
            "[stack] | torch = \"*\" | [target.a] | gpu = \"V100-SXM2-32GB\" | driver-cuda = \"12.7\"",
            "kernel-module",
            true,
        ),
        ("[stack] | cuda = \"11.4\" | [target.a] | gpu = \"Tesla K80\"", "kernel-module", false),
        ("[stack] | torch = \"*\" | [target.a] | gpu = \"RTX 5090\" | driver = \"570.133.07\"", "kernel-module", true),
        (
            "[stack] | torch = \"*\" | [target.a] | gpu = \"RTX 5090\" | driver = \"570.133.07\" | kernel-module = \"open\"",
            "kernel-module",
            false,
        ),
    ]);
}

/// An image that is newer than the driver counts on the cuda-compat in it, which only data-centre GPUs take.
#[test]
fn an_image_that_leans_on_its_cuda_compat_is_told() {
    try_all(&[
        (
            "[stack] | cuda = \"12.8\" | [target.a] | gpu = \"RTX 4090\" | driver = \"550.54.15\" | image = \"nvidia/cuda:12.8.1-base-ubuntu22.04\" | [[override]] | rule = \"image-require-cuda\" | reason = \"x\"",
            "image-compat",
            true,
        ),
        (
            "[stack] | cuda = \"12.8\" | [target.a] | gpu = \"H100 NVL\" | driver = \"550.54.15\" | image = \"nvidia/cuda:12.8.1-base-ubuntu22.04\"",
            "image-compat",
            false,
        ),
        (
            "[stack] | cuda = \"12.8\" | [target.a] | gpu = [\"H100 NVL\", \"RTX 4090\"] | driver = \"550.54.15\" | image = \"nvidia/cuda:12.8.1-base-ubuntu22.04\" | [[override]] | rule = \"image-require-cuda\" | reason = \"x\"",
            "image-compat",
            true,
        ),
        (
            "[stack] | cuda = \"12.8\" | [target.a] | gpu = \"RTX 4090\" | driver = \"570.86.15\" | image = \"nvidia/cuda:12.8.1-base-ubuntu22.04\"",
            "image-compat",
            false,
        ),
        (
            "[stack] | cuda = \"12.8\" | [target.a] | gpu = \"RTX 4090\" | image = \"nvidia/cuda:12.8.1-base-ubuntu22.04\"",
            "image-compat",
            false,
        ),
    ]);
}

/// What an image asks of the driver: its own words are known, those of its line, or none.
#[test]
fn an_image_of_which_nobody_read_what_it_asks_for_is_told() {
    try_all(&[
        (
            "[stack] | cuda = \"12.4\" | [target.a] | gpu = \"H100 NVL\" | image = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"",
            "image-require-unknown",
            false,
        ),
        (
            "[stack] | torch = \"*\" | [target.a] | gpu = \"none\" | image = \"nvidia/cuda:12.4.1-base-ubuntu22.04\"",
            "image-require-unknown",
            false,
        ),
    ]);
}

/// Libraries are found by the names of their files, which tell the major.
#[test]
fn what_loads_cuda_asks_for_one_where_none_is_named() {
    try_all(&[
        ("[stack] | onnxruntime-gpu = \"1.17.1\" | [target.a] | gpu = \"T4\"", "system-cuda", true),
        (
            "[stack] | onnxruntime-gpu = \"1.17.1\" | [target.a] | gpu = \"T4\" | toolkit = \"11.8\"",
            "system-cuda",
            false,
        ),
        (
            "[stack] | cupy-cuda12x = \"*\" | [target.a] | gpu = \"T4\" | toolkit = [\"11.8\", \"12.4\"]",
            "system-cuda",
            false,
        ),
    ]);
}

/// What runs on a CPU as well is no matter there.
#[test]
fn packages_for_gpus_are_told_where_there_is_none() {
    try_all(&[
        ("[stack] | vllm = \"*\" | [target.a] | gpu = \"none\"", "cuda-on-cpu", true),
        ("[stack] | vllm = \"0.2.2\" | [target.a] | gpu = \"none\"", "cuda-on-cpu", true),
        ("[stack] | tensorrt-cu12 = \"*\" | [target.a] | gpu = \"none\"", "cuda-on-cpu", true),
        ("[stack] | flash-attn = \"*\" | [build] | [target.a] | gpu = \"none\"", "cuda-on-cpu", true),
        ("[stack] | mamba-ssm = \"*\" | [target.a] | gpu = \"none\"", "cuda-on-cpu", true),
        ("[stack] | causal-conv1d = \"*\" | [target.a] | gpu = \"none\"", "cuda-on-cpu", true),
        ("[stack] | cupy-cuda12x = \"*\" | [target.a] | gpu = \"none\"", "cuda-on-cpu", true),
        ("[stack] | numba-cuda = \"*\" | [target.a] | gpu = \"none\"", "cuda-on-cpu", true),
        ("[stack] | xgboost = \"*\" | [target.a] | gpu = \"none\"", "cuda-on-cpu", false),
        ("[stack] | onnxruntime-gpu = \"*\" | [target.a] | gpu = \"none\"", "cuda-on-cpu", false),
        ("[stack] | torch = \"*\" | [target.a] | gpu = \"none\"", "cuda-on-cpu", false),
        ("[stack] | vllm = \"*\" | [target.a] | gpu = \"A100\"", "cuda-on-cpu", false),
    ]);
}

/// What a build of another processor pins is not there for this one.
#[test]
fn a_triton_that_was_published_for_other_processors_is_missed() {
    try_all(&[
        ("[stack] | torch = \"2.5.1\" | [target.a] | gpu = \"GH200 480GB\"", "triton-platform", true),
        ("[stack] | torch = \"2.5.1\" | [target.a] | gpu = \"A100\"", "triton-platform", false),
        ("[stack] | torch = \"2.9.1\" | [target.a] | gpu = \"GH200 480GB\"", "triton-platform", false),
    ]);
}

/// torchcodec 0.11.1 loads none of its own.
#[test]
fn a_library_that_nothing_brings_is_told() {
    try_all(&[
        ("[stack] | torchcodec = \"0.11.0\" | [target.a] | gpu = \"A100\"", "library-missing", true),
        ("[stack] | torchcodec = \"0.11.1\" | [target.a] | gpu = \"A100\"", "library-missing", false),
    ]);
}

/// TensorFlow 2.16.1 does not look where pip installs its libraries; before and after it does.
#[test]
fn libraries_that_a_framework_does_not_find_are_told() {
    try_all(&[
        ("[stack] | tensorflow = \"2.16.1\" | [target.a] | gpu = \"A100\"", "library-missing", true),
        ("[stack] | tensorflow = \"2.16.1\" | [target.a] | gpu = \"none\"", "library-missing", false),
        (
            "[stack] | tensorflow = \"2.16.1\" | [target.a] | gpu = \"A100\" | toolkit = \"12.3\" | cudnn = \"8.9.7\"",
            "library-missing",
            false,
        ),
        ("[stack] | tensorflow = \"2.15.1\" | [target.a] | gpu = \"A100\"", "library-missing", false),
        ("[stack] | tensorflow = \"2.17.0\" | [target.a] | gpu = \"A100\"", "library-missing", false),
    ]);
}

/// Of what loads CUDA from the system, a release for the one that is there is taken, unless another is asked for.
#[test]
fn a_release_for_the_installed_cuda_is_taken() {
    let there = "[target.a] | gpu = \"RTX 3090\" | os = \"ubuntu22.04\" | toolkit";
    for installed in ["\"12.1\" | cudnn = \"9.1\"", "\"11.8\" | cudnn = \"8.9\""] {
        let spec = format!("[stack] | onnxruntime-gpu = \"*\" | {there} = {installed}").replace(" | ", "\n");
        let codes = warned(&spec);
        assert!(!codes.iter().any(|code| ["system-cuda", "cudnn-missing"].contains(code)), "{spec}\n{codes:?}");
    }
}

/// A slice of a board lacks CUDA's memory pools, which few packages use, and NCCL from 2.23 on; the board and its MIG instances have them.
#[test]
fn what_virtual_gpus_lack_is_told() {
    try_all(&[
        ("[stack] | xgboost = \"3.0.0\" | [target.a] | gpu = \"NVIDIA A40-24C\"", "vgpu", true),
        ("[stack] | lmdeploy = \"0.6.4\" | [target.a] | gpu = \"GRID T4-8Q\"", "vgpu", true),
        ("[stack] | xgboost = \"2.1.4\" | [target.a] | gpu = \"NVIDIA A40-24C\"", "vgpu", false),
        ("[stack] | torch = \"2.6.0\" | [target.a] | gpu = \"NVIDIA A40-24C\"", "vgpu", false),
        ("[stack] | torch = \"2.7.1\" | [target.a] | gpu = \"NVIDIA A40-24C\"", "vgpu", true),
        ("[stack] | torch = \"2.7.1\" | [target.a] | gpu = \"A40\"", "vgpu", false),
        ("[stack] | xgboost = \"3.0.0\" | [target.a] | gpu = \"A40\"", "vgpu", false),
        ("[stack] | xgboost = \"3.0.0\" | [target.a] | gpu = \"A100-SXM4-40GB MIG 3g.20gb\"", "vgpu", false),
    ]);
}

/// nvcc that is there and does not compile a package for its GPU does not count.
#[test]
fn a_toolkit_that_compiles_a_package_for_no_such_gpu_is_told() {
    try_all(&[
        // Where no toolkit is named, that of torch's CUDA counts.
        (
            "[stack] | flashinfer-python = \"0.6.14\" | torch = \"2.9.1+cu128\" | [target.a] | gpu = \"RTX 5090\"",
            "source-only",
            true,
        ),
        (
            "[stack] | flashinfer-python = \"0.6.14\" | torch = \"2.9.1\" | [target.a] | gpu = \"RTX 5090\" | toolkit = \"12.9\"",
            "source-only",
            false,
        ),
        (
            "[stack] | flashinfer-python = \"0.6.14\" | torch = \"2.9.1\" | [target.a] | gpu = \"RTX 4090\" | toolkit = \"12.8\"",
            "source-only",
            false,
        ),
    ]);
}

/// Wheels that lie where nobody has read them.
#[test]
fn gpu_code_that_nobody_has_read_is_told() {
    try_all(&[
        ("[stack] | tensorrt-cu12 = \"10.9\" | [target.a] | gpu = \"RTX 5090\"", "unknown-gpu-code", true),
        // Its notes name the oldest GPUs and those that are later, and CUDA 12.0 knows this one.
        ("[stack] | tensorrt-cu12 = \"10.9\" | [target.a] | gpu = \"A100\"", "unknown-gpu-code", false),
        ("[stack] | tensorrt-llm = \"1.0.0\" | [target.a] | gpu = \"A100\"", "unknown-gpu-code", true),
        // Of these NVIDIA names the oldest and the newest.
        ("[stack] | tensorrt-cu12 = \"10.4\" | [target.a] | gpu = \"A100\"", "unknown-gpu-code", false),
        ("[stack] | vllm = \"0.2.2\" | [target.a] | gpu = \"A100\"", "unknown-gpu-code", false),
    ]);
}

/// Whose operations run on the CPU, though the framework has GPU code. Source: github.com/pytorch/vision/issues/9330.
#[test]
fn operators_without_gpu_code_are_told() {
    try_all(&[
        (
            "[stack] | torch = \"2.9.1+cu130\" | torchvision = \"*\" | [target.a] | gpu = \"GH200 480GB\"",
            "operators-on-cpu",
            true,
        ),
        ("[stack] | torch = \"2.9.1+cu130\" | [target.a] | gpu = \"GH200 480GB\"", "operators-on-cpu", false),
        (
            "[stack] | torch = \"2.9.1+cu130\" | torchvision = \"*\" | [target.a] | gpu = \"A100\"",
            "operators-on-cpu",
            false,
        ),
        (
            "[stack] | torch = \"2.9.1+cpu\" | torchvision = \"*\" | [target.a] | arch = \"aarch64\"",
            "operators-on-cpu",
            false,
        ),
    ]);
}

/// A bound may leave out the number of a branch and still mean its releases; one that admits none of them means another.
#[test]
fn a_branch_whose_support_ended_is_told_however_it_is_bounded() {
    try_all(&[
        (
            "[stack] | torch = \"2.5.1\" | [target.a] | gpu = \"A100\" | driver = \">=550.54,<551\"",
            "driver-end-of-life",
            true,
        ),
        ("[stack] | torch = \"2.5.1\" | [target.a] | gpu = \"A100\" | driver = \">=580\"", "driver-end-of-life", false),
    ]);
}

/// JAX compiles for a GPU by itself, whatever is installed beside it.
#[test]
fn a_build_whose_code_is_not_known_is_not_told_to_be_compiled_by_the_driver() {
    try_all(&[
        ("[stack] | jax = \"0.5.0\" | torch = \"2.7.1\" | [target.a] | gpu = \"RTX 5090\"", "unknown-gpu-code", true),
        ("[stack] | jax = \"0.5.0\" | torch = \"2.7.1\" | [target.a] | gpu = \"RTX 5090\"", "jit-only", false),
    ]);
}

/// Wheels of the index of a variant: what a public lock file or the publisher's own commands name is known to be there.
#[test]
fn a_wheel_that_nobody_has_seen_on_the_index_of_its_variant_is_told() {
    const UNSEEN: &str = "unseen-wheel";
    let spec = |torch: &str, with: &str, gpu: &str| {
        format!("[stack]\ntorch = \"{torch}\"\n{with} = \"*\"\n[target.a]\ngpu = \"{gpu}\"\n")
    };
    let told = |torch: &str, with: &str, gpu: &str| warned(&spec(torch, with, gpu)).contains(&UNSEEN);
    assert!(told("2.14.1+cu126", "torchvision", "V100-SXM2-32GB"));
    assert!(told("2.13.0+cu132", "torchaudio", "A100-PCIE-40GB"));
    // The wheel of the package index is of the default variant.
    assert!(!told("2.15.0", "torchvision", "A100-PCIE-40GB"));
    assert!(!told("2.14.1+cu130", "torchvision", "A100-PCIE-40GB"));
    // Public lock files name some, and pytorch.org tells how to install the others.
    assert!(!told("2.10.0+cu126", "torchvision", "A100-PCIE-40GB"));
    for torch in ["2.6.0+cu118", "2.2.2+cu118", "2.0.1+cu117", "1.13.1+cu116", "1.10.1+cu113", "2.12.1+cu132"] {
        assert!(!told(torch, "torchvision", "A100-PCIE-40GB"), "{torch}");
    }
    // Those for aarch64 lie there without the variant in their names.
    assert!(!told("2.9.1+cu130", "torchvision", "GH200 480GB"));
    // One that was seen comes first; who names another is told that it may be missing, and what is there.
    assert!(!told("2.14.0+cu126", "torchvision", "V100-SXM2-32GB"));
    let named = spec("2.14.0+cu126", "torchvision", "V100-SXM2-32GB").replace("\"*\"", "\"0.29.1\"");
    let told = warnings(&named);
    let message = &told.iter().find(|one| one.code == UNSEEN).expect("it is told").message;
    assert!(
        message.contains("0.29.1 for cu126 and x86_64")
            && message.ends_with("or take 0.29.0, which is known to be there")
    );
}

/// The code that packages beside torch hold themselves, which a published torch has in common with them, and a build of
/// one's own has not.
#[test]
fn own_code_of_packages_beside_torch_is_held_against_the_gpus() {
    const V100: &str = "[target.a] | gpu = \"V100-SXM2-32GB\"";
    let own = |version: &str, cuda: &str, list: &str| {
        format!(
            "[stack] | torch = {{ version = \"{version}\", cuda = \"{cuda}\", arch-list = \"{list}\" }} | torchvision = \"*\" | "
        )
    };
    let pascal = own("2.9.1", "12.8", "6.1") + "[target.a] | gpu = \"GTX 1080\"";
    let volta = own("2.9.1", "12.8", "7.0") + V100;
    const BLACKWELL: &str = "[target.a] | gpu = \"RTX 5090\"";
    // Beside a torch that nobody publishes lies the wheel of the package index: all that it has for later GPUs is PTX.
    let ptx = own("2.5.1", "12.8", "12.0") + BLACKWELL;
    // Nobody has read the wheel of this variant, whose published torch has code for the GPU.
    let likely = own("2.7.1", "12.8", "12.0") + BLACKWELL;
    let unread = own("2.9.1", "12.6", "6.1") + "[target.a] | gpu = \"GTX 1080\"";
    let published = format!("[stack] | torch = \"2.14.1+cu126\" | torchvision = \"*\" | {V100}");
    let older = format!("[stack] | torch = \"2.10.0+cu126\" | torchvision = \"*\" | {V100}");
    try_all(&[
        (&pascal, "operators-missing", true),
        (&volta, "operators-missing", false),
        (&ptx, "jit-only", true),
        (&likely, "unknown-gpu-code", false),
        (&unread, "unknown-gpu-code", true),
        (&published, "unknown-gpu-code", true),
        (&older, "unknown-gpu-code", false),
    ]);
}

/// torchcodec's wheels of the package index decode on the CPU alone before 0.14; those of the index of torch do not.
/// Source: github.com/meta-pytorch/torchcodec/issues/445 and 1437.
#[test]
fn a_wheel_without_gpu_code_gives_way_to_one_with_it() {
    let spec = |torch: &str, codec: &str, python: &str| {
        let stack = format!("[stack]\ntorch = \"{torch}\"\ntorchcodec = \"{codec}\"\npython = \"{python}\"\n");
        warnings(&(stack + "[target.a]\ngpu = \"RTX 4090\"\n"))
    };
    let on_cpu = |torch: &str, codec: &str, python: &str| {
        spec(torch, codec, python).into_iter().find(|one| one.code == "operators-on-cpu").map(|one| one.message)
    };
    assert_eq!(on_cpu("2.10.0+cu128", "0.10.0", "3.12"), None);
    let other_python = on_cpu("2.10.0+cu128", "0.10.0", "3.13").expect("it is told");
    assert!(other_python.contains("take Python 3.10 or 3.12") && other_python.ends_with("or take 0.14.0 or newer"));
    let nowhere = on_cpu("2.8.0+cu128", "0.7.0", "3.12").expect("it is told");
    assert!(nowhere.contains("look for a wheel with GPU code at https://download.pytorch.org/whl/cu128"), "{nowhere}");
    assert_eq!(on_cpu("2.14.0+cu130", "0.16.0", "3.12"), None);
}

/// torch has NVRTC compile for the very GPU, with CUDA 11.8 and later: whichever GPU that one does not know though machine
/// code for an older one of its major runs there, a rule speaks of.
#[test]
fn a_rule_speaks_of_every_gpu_that_an_nvrtc_does_not_know() {
    let first = Version::parse("11.8").unwrap();
    let rules = Rules::new(&BUILTIN);
    let boards = || BUILTIN.gpus.iter().filter(|gpu| gpu.class != Class::Jetson);
    for kit in BUILTIN.toolkits.iter().filter(|kit| kit.version >= first) {
        let line = kit.version.prefix(2);
        for gpu in boards().filter(|gpu| !kit.sass.contains(&Arch::base(gpu.cc))) {
            let is_older = |arch: &Arch| arch.cc.major == gpu.cc.major && arch.cc < gpu.cc;
            let refused =
                rules.about(Subject::Nvrtc, &line, Subject::Gpu).any(|rule| !rule.needs.admits(&gpu.cc.version()));
            assert!(refused || !kit.sass.iter().any(is_older), "CUDA {} and {}", kit.version, gpu.name);
        }
    }
}

/// A library of CUDA that is older than a GPU is told whoever brings it, where it is that which is loaded.
#[test]
fn a_library_of_cuda_that_is_older_than_a_gpu_is_told_whoever_brings_it() {
    let own = "[stack] | torch = { version = \"1.11.0\", cuda = \"11.7\", arch-list = \"8.0\", python = \"3.9\" } | [target.a] | gpu = ";
    let tf = "[stack] | tensorflow = \"2.9.1\" | [target.a] | gpu = \"L40\" | cudnn = \"8.6\" | toolkit = ";
    let build = "[stack] | cuda = \"11.3\" | [build] | [target.a] | toolkit = \"11.3\" | gpu = ";
    try_all(&[
        (&format!("{own}\"L4\""), "cuda-gpu", true),
        (&format!("{own}\"A10\""), "cuda-gpu", false),
        (&format!("{tf}\"11.2\""), "cuda-gpu", true),
        (&format!("{tf}\"11.8\""), "cuda-gpu", false),
        (&format!("{build}\"RTX 4090\""), "cuda-gpu", true),
        (&format!("{build}\"RTX 3090\""), "cuda-gpu", false),
        // It calls no cuFFT.
        (
            "[stack] | ctranslate2 = \"3.24\" | [target.a] | gpu = \"L4\" | toolkit = \"11.7\" | cudnn = \"8.9\"",
            "cuda-gpu",
            false,
        ),
    ]);
}

/// What is required and loads the system's CUDA asks for it as if it were named, unless pip brings that.
#[test]
fn what_is_required_and_loads_cuda_asks_for_one_where_none_is_named() {
    try_all(&[
        ("[stack] | cudf-cu12 = \"25.4\" | [target.a] | gpu = \"A100\"", "system-cuda", true),
        ("[stack] | cudf-cu12 = \"25.4\" | [target.a] | gpu = \"A100\" | toolkit = \"12.4\"", "system-cuda", false),
        ("[stack] | cudf-cu12 = \"26.10\" | [target.a] | gpu = \"A100\"", "system-cuda", false),
        (
            "[stack] | cudf-cu12 = \"25.4\" | torch = \"2.6.0+cu124\" | [target.a] | gpu = \"A100\"",
            "system-cuda",
            false,
        ),
    ]);
}

/// Parts of cuDNN 9 that are loaded by name are of one release with the wheel's.
#[test]
fn a_cudnn_beside_that_of_a_wheel_is_told_where_parts_of_both_are_loaded() {
    let with = "[stack] | torch = \"2.5.1\" | ctranslate2 = \"4.5.0\" | [target.a] | gpu = \"A30\" | cudnn = ";
    try_all(&[
        (&format!("{with}\"9.6.0\""), "cudnn-installed", true),
        (&format!("{with}\"9.1.0\""), "cudnn-installed", false),
        ("[stack] | torch = \"2.5.1\" | [target.a] | gpu = \"A30\" | cudnn = \"9.6.0\"", "cudnn-installed", false),
        // It has no cuDNN any more.
        (
            "[stack] | torch = \"2.5.1\" | ctranslate2 = \"4.6.3\" | [target.a] | gpu = \"A30\" | cudnn = \"9.6.0\"",
            "cudnn-installed",
            false,
        ),
    ]);
}

/// What an image holds is not to be installed.
#[test]
fn a_cuda_compat_that_the_image_holds_is_not_to_be_installed() {
    let told = |more: &str| {
        let spec = format!("[stack]\ntorch = \"2.11.0+cu130\"\n[target.a]\ngpu = \"A100\"\ndriver = \"550\"\n{more}");
        let all = warnings(&spec);
        all.into_iter().find(|warning| warning.code == "forward-compat").expect("it needs one").message
    };
    assert!(told("image = \"nvidia/cuda:13.0.1-base-ubuntu22.04\"\n").contains("nothing is to be installed"));
    assert!(told("").contains("install cuda-compat-13-0"));
}
