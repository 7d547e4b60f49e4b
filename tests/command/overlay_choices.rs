//! What is chosen among rows that a site adds, on both sides of what the built-in catalog has no case of today: an image
//! that nobody has read, a Python that is not out, a build on an index that nobody has read whole.

use std::fs;

use crate::common::sandbox::{Ran, Sandbox};

const SOURCE: &str =
    "source = [{ id = \"acme\", at = \"https://wiki.acme.example/\", kind = \"measured\", seen = \"2026-11-18\" }]\n";

/// What `gpuenv lock` says of a spec that reads this overlay.
fn locked(name: &str, spec: &str, overlay: &str) -> Ran {
    let spec = format!("{spec}\n[catalog]\noverlays = [\"site.toml\"]\n");
    let sandbox = Sandbox::new(&format!("overlay-choices-{name}"), &spec);
    fs::write(sandbox.path("site.toml"), format!("{SOURCE}{overlay}")).unwrap();
    sandbox.with(&["lock"], &[("COLUMNS", "400")])
}

/// An image of which nobody read what it asks for is chosen for drivers that know its CUDA, the oldest included.
#[test]
fn an_image_that_says_nothing_starts_on_a_driver_of_its_own_cuda() {
    let image = "image = [{ repository = \"registry.acme.example/cuda\", tag = \"8.0\", cuda = \"8.0\", flavour = \"runtime\", \
                 os = \"ubuntu16.04\", arches = [\"x86_64\"], source = \"acme\" }]\n";
    let on = |driver: &str| {
        let target = format!("gpu = \"Tesla K80\"\ndriver = \"{driver}\"\nimage = \"registry.acme.example/cuda\"\n");
        locked("image", &format!("[stack]\ncuda = \"8.0\"\n[target.t]\n{target}"), image)
    };
    on("375.26").exits(0).says("registry.acme.example/cuda:8.0").says("it is not known which drivers");
    // Another tag of the registry may start there; of CUDA 8.0 none runs.
    on("352.99").exits(1).says("CUDA 8.0.44 needs driver 367.48 or newer");
}

const BUILD: &str = "status = \"stable\", index = [\"pypi\"], sass = [\"8.0\"], glibc = \"2.28\", source = \"acme\", arch_source = \"acme\"";

/// A Python before its first release is taken by its name, and for no range that holds it.
#[test]
fn a_python_that_is_not_out_is_taken_by_name_alone() {
    let rows = format!(
        "python = [{{ version = \"3.16\", stable = false, source = \"acme\" }}]\n\
         build = [{{ package = \"torch\", version = \"2.15.1\", variant = \"cu132\", arch = \"x86_64\", pythons = [\"3.14\", \"3.16\"], {BUILD} }}]\n"
    );
    let with = |python: &str| {
        locked("python", &format!("[stack]\ntorch = \"2.15.1\"\n{python}[target.t]\ngpu = \"A100\"\n"), &rows).exits(0)
    };
    for (python, chosen) in [("", "3.14"), ("python = \">=3.14\"\n", "3.14"), ("python = \"3.16\"\n", "3.16")] {
        let ran = with(python);
        assert!(ran.err.lines().any(|line| line.split_whitespace().eq(["python", chosen])), "{python}: {}", ran.err);
    }
}

/// The index of PyTorch was not read whole from 2.8.0 on: it may hold more files of a release than another index was seen
/// to hold, from that very release on.
#[test]
fn a_release_on_an_index_that_nobody_read_whole_may_have_more_wheels() {
    let on = |version: &str| {
        let row = format!(
            "build = [{{ package = \"torch\", version = \"{version}\", variant = \"cu117\", arch = \"x86_64\", pythons = [\"3.11\"], {BUILD} }}]\n"
        );
        let spec = format!("[stack]\ntorch = \"{version}+cu117\"\npython = \"3.12\"\n[target.t]\ngpu = \"A100\"\n");
        locked("index", &spec, &row)
    };
    on("2.8.0").exits(3).says("whether torch 2.8.0+cu117 has a wheel for Python 3.12");
    on("2.7.1").exits(1).says("torch 2.7.1+cu117 has wheels for Python 3.11 only");
}

/// A build for a JetPack that nobody has seen would be like those right before and after it, not like the first ones.
#[test]
fn an_unseen_build_for_a_jetpack_would_have_the_pythons_of_its_neighbours() {
    let row = |version: &str| {
        format!(
            "{{ package = \"torch\", version = \"{version}\", variant = \"cu126\", arch = \"aarch64\", systems = [\"jetpack6.2\"], \
             status = \"stable\", url = \"https://wheels.acme.example/torch-{version}-cp312-cp312-linux_aarch64.whl\", \
             wheel = \"{version}\", pythons = [\"3.12\"], sass = [\"8.7\"], cudnn = \"9.3.0\", system_cuda = true, \
             source = \"acme\", arch_source = \"acme\", pins_source = \"acme\" }},\n"
        )
    };
    let rows = format!("build = [\n{}{}]\n", row("2.12.0"), row("2.14.0"));
    let on = |torch: &str, python: &str| {
        let target = "[target.t]\ngpu = \"Jetson AGX Orin\"\nos = \"jetpack6.2\"\n";
        locked("jetpack", &format!("[stack]\ntorch = \"{torch}\"\npython = \"{python}\"\n{target}"), &rows)
    };
    on("2.13.0", "3.12").exits(3);
    // Nobody reads the list of what is made for a JetPack whole.
    on("2.13.0", "3.10").exits(3);
    on("2.7.0", "3.10").exits(3);
}

/// GH200 144G is driven by the open modules only, for the processor that is in it; a board without one takes either. Whether both
/// stand in one target, and which name comes first, changes nothing.
#[test]
fn a_board_beside_another_of_its_capability_keeps_its_kernel_modules() {
    let board = |name: &str| {
        format!(
            "gpu = [{{ name = \"NVIDIA {name}\", cc = \"9.0\", class = \"datacenter\", architecture = \"Hopper\", \
             first_driver = \"565.57.01\", first_driver_by = \"listed\", source = \"acme\", driver_source = \"acme\" }}]\n"
        )
    };
    let on = |name: &str, gpus: &str| {
        let target =
            format!("gpu = [{gpus}]\narch = \"aarch64\"\ndriver = \"580.82.07\"\nkernel-module = \"proprietary\"\n");
        locked("modules", &format!("[stack]\ntorch = \"2.8.0\"\n[target.t]\n{target}"), &board(name))
    };
    for name in ["AAA Test", "ZZZ Test"] {
        on(name, &format!("\"{name}\"")).exits(0);
        for gpus in [format!("\"{name}\", \"GH200 144G HBM3e\""), format!("\"GH200 144G HBM3e\", \"{name}\"")] {
            on(name, &gpus).exits(1).says("open kernel modules only");
        }
    }
}

/// What somebody has compiled for a JetPack is not bound by what the package's own build compiles.
#[test]
fn a_wheel_for_a_jetpack_is_told_by_its_own_row() {
    let spec = "[stack]\nflash-attn = \"*\"\n[target.t]\ngpu = \"Orin\"\nos = \"jetpack6.2\"\n";
    let row = "companion = [{ package = \"flash-attn\", version = \"2.7.2\", framework = \"torch\", needs = \">=2.3\", \
               python = \"3.10\", arches = [\"aarch64\"], systems = [\"jetpack6.2\"], sass = [\"8.7\"], gpu_code = true, \
               url = \"https://wheels.acme.example/flash_attn-2.7.2-cp310-cp310-linux_aarch64.whl\", source = \"acme\", \
               arch_source = \"acme\" }]\n";
    let ran = locked("flash-attn", spec, row).exits(0);
    assert!(ran.err.lines().any(|line| line.split_whitespace().eq(["flash-attn", "2.7.2"])), "{}", ran.err);
}

/// A nightly that has a row is what that says; of others the release that they precede tells.
#[test]
fn a_nightly_that_has_a_row_is_judged_by_it() {
    let row = "build = [{ package = \"torch\", version = \"2.15.0.dev20260901\", variant = \"cu130\", arch = \"x86_64\", \
               status = \"stable\", index_url = \"https://download.pytorch.org/whl/nightly/cu130\", pythons = [\"3.12\"], \
               cudnn = \"9.26.0.51\", source = \"acme\", pins_source = \"acme\" }]\n";
    let spec = |cudnn: &str| {
        format!("[stack]\ntorch = \"2.15.0.dev20260901+cu130\"\ncudnn = \"{cudnn}\"\n[target.t]\ngpu = \"H100 PCIe\"\n")
    };
    let ran = locked("nightly", &spec("9.26"), row).exits(0).says("9.26.0.51");
    assert!(!ran.err.contains("is a nightly"), "{}", ran.err);
    locked("nightly-other", &spec("9.10"), row).exits(1);
}

/// A board of a generation that nobody knows is told by no driver.
#[test]
fn a_generation_that_nobody_knows_is_no_free_choice_of_drivers() {
    let row = "gpu = [{ name = \"NVIDIA X100\", cc = \"13.0\", class = \"datacenter\", architecture = \"Feynman\", \
               source = \"acme\" }]\n";
    let spec = "[stack]\ncupy-cuda13x = \"*\"\n[target.t]\ngpu = \"NVIDIA X100\"\ndriver = \"580\"\n";
    locked("generation", spec, row)
        .exits(0)
        .says("which driver first drives the generation of NVIDIA X100 is not known");
}
