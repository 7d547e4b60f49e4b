//! Choices between neighbours, each asked on both sides: the toolkit, the image, the driver and the package that are taken,
//! and those next to them that are not.

use crate::common::solver::{Outcome, Short, lock};
use crate::companions::written;

fn tag(text: &str) -> String {
    lock(text).target().tag()
}

/// A CUDA that nothing installed brings is one that every pinned driver knows, up to the very one that it shows.
#[test]
fn a_cuda_left_free_is_the_newest_that_every_driver_knows() {
    let chosen = |drivers: &[&str]| {
        let mut text = "[stack]\ncupy-cuda12x = \"*\"\n".to_string();
        for (name, driver) in ["a", "b"].iter().zip(drivers) {
            text += &format!("[target.{name}]\ngpu = \"A100\"\ndriver = \"{driver}\"\nos = \"ubuntu22.04\"\n");
        }
        lock(&text).targets()[0].has("cuda")
    };
    assert_eq!(chosen(&["550.54.14"]), "12.4.1");
    assert!(chosen(&["570.86.15"]).starts_with("12.8."), "{}", chosen(&["570.86.15"]));
    assert_eq!(chosen(&["550.54.14", "570.86.15"]), "12.4.1");
}

/// The image is of the CUDA that torch pins, whatever JAX beside it would take; where all leave their libraries open, as
/// TensorFlow 2.21 built with 12.5 does, it is the newest of the major.
#[test]
fn an_image_is_of_the_line_that_a_framework_pins_before_one_that_another_leaves_open() {
    let of = |stack: &str, driver: &str| {
        tag(&format!("[stack]\n{stack}\n[target.t]\ngpu = \"A100\"\n{driver}image = \"nvidia/cuda\"\n"))
    };
    for torch in ["torch = \"2.9.1+cu130\"", "torch = \"2.9.1+cu130\"\njax = \"0.9.0\""] {
        assert!(of(torch, "").starts_with("13.0."), "{torch}: {}", of(torch, ""));
    }
    let open = of("tensorflow = \"2.21\"", "driver = \"570.86.15\"\n");
    assert!(open.starts_with("12.8."), "{open}");
}

/// causal-conv1d has a wheel that was compiled beside torch: that JAX is there too compiles nothing.
#[test]
fn a_finished_wheel_beside_one_of_two_frameworks_needs_no_compiler() {
    let stack = "[stack]\ntorch = \"2.7\"\ncausal-conv1d = \"1.6.0\"\npython = \"3.12\"\n";
    for jax in ["", "jax = \"*\"\n"] {
        let tag = tag(&format!("{stack}{jax}[target.t]\ngpu = \"A100\"\nimage = \"nvidia/cuda\"\n"));
        assert!(tag.contains("-base-"), "{tag}");
    }
    let tag =
        tag(&format!("{stack}[target.t]\ngpu = \"A100\"\nimage = \"nvidia/cuda\"\n").replace("1.6.0", "1.5.0.post8"));
    assert!(tag.contains("-devel-"), "{tag}");
}

/// xformers comes as source on Arm and as a wheel elsewhere: a stack for both takes the one here and the other there.
#[test]
fn one_release_is_source_on_one_processor_and_a_wheel_on_the_other() {
    let stack = "[stack]\ntorch = \"2.7.1+cu128\"\nxformers = \"*\"\n";
    let target = |name: &str, gpu: &str| format!("[target.{name}]\ngpu = \"{gpu}\"\nos = \"ubuntu22.04\"\n");
    let targets = lock(&format!("{stack}{}{}", target("arm", "GH200"), target("x86", "H100 NVL"))).targets();
    assert_eq!(targets[0].has("xformers"), targets[1].has("xformers"));
    let comes_as_source = |at: usize| targets[at].wheels().iter().any(|one| one.package == "xformers" && one.sdist);
    assert!(comes_as_source(0) && !comes_as_source(1));
}

/// What packages need of CUDA is nothing to a machine without it.
#[test]
fn a_rule_about_cuda_refuses_no_package_beside_a_cpu_build() {
    for package in ["bitsandbytes = \"0.43.1\"", "mamba-ssm = \"<2.2.6\""] {
        let text = format!("[stack]\ntorch = \"2.5.1+cpu\"\n{package}\n[target.t]\ngpu = \"none\"\n");
        assert_eq!(lock(&text).target().has("torch"), "2.5.1+cpu", "{package}");
    }
}

/// An installed cuda-compat runs what the driver that it was taken from runs, and no later major.
#[test]
fn an_installed_compat_package_runs_up_to_its_own_cuda() {
    let on = |torch: &str, driver: &str, compat: &str| {
        let target = format!("gpu = \"A100\"\ndriver = \"{driver}\"\ncompat = \"{compat}\"\nos = \"ubuntu22.04\"\n");
        lock(&format!("[stack]\ntorch = \"{torch}\"\n[target.t]\n{target}"))
    };
    let runs = |outcome: Outcome| matches!(outcome, Outcome::Solution(..));
    assert!(on("2.9.1+cu130", "535.183.01", "12.9").is_conflict() && runs(on("2.9.1+cu130", "535.183.01", "13.0")));
    assert!(on("2.5.1+cu124", "470.82.01", "11.8").is_conflict() && runs(on("2.5.1+cu124", "470.82.01", "12.4")));
}

/// Of the branches that take a cuda-compat package the lock states the first release that does, for that package alone: 565
/// takes that of CUDA 13.0, and none that came later.
#[test]
fn the_minimum_with_forward_compatibility_is_of_the_package_that_is_used() {
    let text =
        "[stack]\ntorch = \"2.9.1+cu130\"\n[target.t]\ngpu = \"A100\"\ndriver = \"565.77\"\nos = \"ubuntu22.04\"\n";
    let target = lock(text).target();
    assert_eq!((target.minimum().as_str(), target.mode().as_str()), ("565.57.01", "forward-compat"));
}

/// The minimum is the first driver that the image's own words admit, between two at which nothing else changes.
#[test]
fn the_minimum_is_the_first_driver_that_a_written_requirement_names() {
    let minimum = |requires: &str, driver: &str| {
        let target = format!("gpu = \"A100\"\n{driver}image = \"acme/x:1\"\nimage-requires = \"{requires}\"\n");
        lock(&format!("[stack]\ntorch = \"2.5.1+cu124\"\n[target.t]\n{target}")).target().minimum()
    };
    assert_eq!(minimum("driver>=535.113", ""), "535.113.01");
    assert_eq!(minimum("driver>=535.129", "driver = \">=535\"\n"), "535.129.03");
    assert_eq!(minimum("cuda>=12.0", ""), "525.60.13");
}

/// A written cuDNN is that of every target that shares the stack: of one whose torch leaves it to the system too, as on a
/// Jetson, beside one whose torch pins it.
#[test]
fn a_written_cudnn_is_installed_on_a_jetson_beside_a_server() {
    let text = "[stack]\ntorch = \"2.8.0\"\ncudnn = \"9.10.2.21\"\n[target.a]\ngpu = \"A100\"\n\
                [target.b]\ngpu = \"Jetson AGX Orin\"\n";
    let told = lock(text).targets().iter().map(|target| target.has("cudnn")).collect::<Vec<_>>();
    assert_eq!(told, ["9.10.2.21", "9.10.2.21"]);
}

/// What two of three targets have in common is not what all have.
#[test]
fn the_stack_of_all_targets_holds_what_each_of_them_has() {
    let text = "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.a]\ngpu = \"A100\"\n[target.b]\ngpu = \"H100 NVL\"\n\
                [target.c]\ngpu = \"none\"\n[resolve]\nshare = \"versions\"\n";
    let lock = written(text);
    assert!(!lock.stack.contains_key("torch") && lock.stack["python"] == "3.11", "{:?}", lock.stack);
    let torch = |target: &str| lock.stack_of(&lock.target[target])["torch"].clone();
    assert_eq!([torch("a"), torch("b"), torch("c")], ["2.5.1+cu124", "2.5.1+cu124", "2.5.1+cpu"]);
}

/// RAPIDS takes its libraries through the metapackage of a toolkit, which is pinned whatever else follows the same CUDA.
#[test]
fn the_toolkit_of_rapids_is_pinned_beside_other_packages_of_its_cuda() {
    for beside in ["", "ctranslate2 = \"*\"\n", "cupy-cuda12x = \"*\"\n"] {
        let text = format!("[stack]\ncudf-cu12 = \"*\"\n{beside}[target.t]\ngpu = \"A100\"\n");
        let lock = written(&text);
        let pinned = lock.wheel.iter().find(|wheel| wheel.package == "cuda-toolkit").map(|wheel| &wheel.version);
        assert_eq!(pinned, lock.stack.get("cuda"), "{beside}");
        assert!(pinned.is_some(), "{beside}");
    }
}
