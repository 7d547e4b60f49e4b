//! `dockerfile`: stages, indexes, and what hadolint says.

use std::process::Command;

use gpuenv::export::ExportError;

use crate::{locks, render, tools};

fn lint(name: &str, text: &str) {
    let Some(hadolint) = tools::find("hadolint") else { return };
    let file = tools::folder(&format!("dockerfile-{name}")).join("Dockerfile");
    std::fs::write(&file, text).unwrap();
    // DL3059 wants one RUN for all: layers apart let a change of one wheel keep the Python below it.
    tools::succeed(Command::new(hadolint).args(["--no-color", "--ignore", "DL3059"]).arg(file));
}

#[test]
fn one_stage_for_wheels() {
    let text = render("dockerfile", &locks::container()).unwrap();
    assert_eq!(text.matches("\nFROM ").count(), 1);
    assert!(text.contains("\nFROM nvidia/cuda:12.4.1-base-ubuntu22.04\n"));
    assert!(text.contains("uv python install 3.11 && uv venv --python 3.11 /opt/venv\n"));
    assert!(text.contains(&format!("--no-deps --default-index {} \\\n    torch==2.5.1+cu124\n", locks::CU124)));
    assert!(text.contains("NVIDIA_DRIVER_CAPABILITIES=\"compute,utility\""));
    assert!(!text.contains("TORCH_CUDA_ARCH_LIST"), "nothing is compiled");
    lint("wheels", &text);
}

#[test]
fn two_stages_for_a_build() {
    let text = render("dockerfile", &locks::container_with_build()).unwrap();
    assert!(text.contains("\nFROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build\n"));
    assert!(text.contains("\nFROM nvidia/cuda:12.4.1-base-ubuntu22.04\n"));
    assert!(text.contains("ENV TORCH_CUDA_ARCH_LIST=\"8.0;9.0+PTX\" CUDAARCHS=\"80-real;90\"\n"));
    assert!(text.contains("\nCOPY --from=build /opt/venv /opt/venv\n"));
    assert!(text.find("NVIDIA_VISIBLE_DEVICES") > text.find("COPY --from=build"), "in the stage that runs");
    lint("build", &text);

    let mut no_python = locks::container_with_build();
    no_python.wheel.clear();
    let text = render("dockerfile", &no_python).unwrap();
    assert!(!text.contains("uv python"));
    lint("no-python", &text);
}

#[test]
fn each_index_is_asked_for_its_own_wheels_only() {
    let text = render("dockerfile", &locks::two_indexes()).unwrap();
    let private = text.split("\nRUN ").find(|step| step.contains("--default-index")).unwrap();
    assert!(!private.contains("tensorflow"), "{private}");
    assert!(!text.contains("extra-index"));
    lint("two-indexes", &text);

    let text = render("dockerfile", &locks::public_index()).unwrap();
    assert!(!text.contains("--default-index"));
}

#[test]
fn what_is_compiled_beside_a_framework_comes_last() {
    let text = render("dockerfile", &locks::compiled_beside()).unwrap();
    let steps: Vec<&str> = text.split("\nRUN ").filter(|step| step.starts_with("uv pip install")).collect();
    let [torch, rest, tools, last] = steps[..] else { panic!("{text}") };
    assert!(torch.contains("torch==2.5.1+cu124") && !torch.contains("flash-attn"), "{text}");
    assert!(rest.contains("deepspeed==0.17.0") && !rest.contains("flash-attn"), "{text}");
    assert_eq!(tools.trim_end(), "uv pip install --no-cache ninja pip wheel", "{text}");
    let options = "--no-build-isolation-package flash-attn --no-build-isolation-package transformer-engine-torch";
    assert!(last.contains(options) && last.contains("flash-attn==2.8.3") && last.contains("torch==2.5.1"), "{text}");
    lint("beside", &text);
    assert!(!render("dockerfile", &locks::container_with_build()).unwrap().contains("isolation-package"));
}

/// What is compiled is told for which GPUs before it is; each build in its own words, of the architectures it takes.
#[test]
fn builds_from_source_know_the_gpus() {
    let at = |text: &str, what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    let mut lock = locks::compiled_beside();
    let text = render("dockerfile", &lock).unwrap();
    let first = at(&text, "ENV TORCH_CUDA_ARCH_LIST=\"8.0;9.0+PTX\" CUDAARCHS=\"80-real;90\"\n");
    let own = at(&text, "ENV FA_ARCHS=\"90\"\n");
    assert!(first < own && own < at(&text, "flash-attn==2.8.3") && own < at(&text, "deepspeed=="), "{text}");
    assert_eq!(text.matches("ARCH_LIST").count(), 1, "{text}");
    // Without anything to compile they come after the wheels, which do not depend on them.
    let text = render("dockerfile", &locks::container_with_build()).unwrap();
    assert!(at(&text, "ENV TORCH_CUDA_ARCH_LIST") > at(&text, "torch==2.5.1+cu124") && !text.contains("FA_ARCHS"));
    // Machine code of one major runs on what comes later in it; what the build cannot reach, it is not told.
    let gpu = &mut lock.target.get_mut("prod").unwrap().gpu;
    gpu.extend(["8.6", "8.9", "10.3"].map(|cc| locks::gpu("x", cc)));
    assert!(render("dockerfile", &lock).unwrap().contains("ENV FA_ARCHS=\"80;90;100\"\n"));
    lock.target.get_mut("prod").unwrap().gpu.push(locks::gpu("x", "12.0"));
    assert!(!render("dockerfile", &lock).unwrap().contains("FA_ARCHS"));
    lock.target.get_mut("prod").unwrap().gpu.clear();
    assert!(!render("dockerfile", &lock).unwrap().contains("FA_ARCHS"));
}

/// What an earlier gpuenv locked names no tools: nothing is made up.
#[test]
fn without_tools_none_are_installed() {
    let mut lock = locks::compiled_beside();
    lock.wheel.iter_mut().for_each(|wheel| wheel.tools.clear());
    let text = render("dockerfile", &lock).unwrap();
    assert_eq!(text.matches("\nRUN uv pip install").count(), 3, "{text}");
    lint("no-tools", &text);
    lock.wheel[0].tools = vec!["a; rm".into()];
    assert!(render("dockerfile", &lock).is_err());
    lock.wheel[0].tools.clear();
    lock.wheel[0].archs = Some("PATH=/x".into());
    assert!(render("dockerfile", &lock).is_err());
}

#[test]
fn forward_compatibility_is_checked_while_building() {
    let mut lock = locks::container();
    lock.target.get_mut("prod").unwrap().driver = Some(locks::driver("forward-compat"));
    let text = render("dockerfile", &lock).unwrap();
    assert!(text.contains("\nRUN test -e /usr/local/cuda-12.4/compat/libcuda.so.1\n"));
    lint("compat", &text);

    lock.target.get_mut("prod").unwrap().driver.as_mut().unwrap().compat = None;
    assert!(matches!(render("dockerfile", &lock), Err(ExportError::Incomplete { .. })));
}

#[test]
fn a_machine_without_gpu_gets_no_gpu_lines() {
    let mut lock = locks::container();
    lock.target.get_mut("prod").unwrap().driver = None;
    assert!(!render("dockerfile", &lock).unwrap().contains("NVIDIA"));
}

#[test]
fn what_cannot_be_built_says_what_to_change() {
    let error = render("dockerfile", &locks::bare_metal()).unwrap_err();
    assert_eq!(error.code(), "no-image");
    assert!(error.to_string().contains("[target.lab] in gpuenv.toml"), "{error}");

    let mut old = locks::container();
    old.stack.insert("python".into(), "3.7".into());
    assert!(matches!(render("dockerfile", &old), Err(ExportError::PythonTooOld { .. })));

    old.stack.remove("python");
    assert!(matches!(render("dockerfile", &old), Err(ExportError::Incomplete { .. })));
}

/// The installing lines, run for real in a virtual environment, with folders in place of indexes.
#[test]
fn the_install_lines_work_and_take_each_wheel_from_its_own_index() {
    let (Some(uv), Some(python)) = (tools::find("uv"), tools::find("python3")) else { return };
    let folder = tools::folder("dockerfile-install");
    let indexes = tools::Indexes::publish(&python, &folder);
    let text = render("dockerfile", &locks::two_indexes()).unwrap().replace(locks::CU124, &indexes.private);
    let installs: Vec<&str> = text
        .split("\nRUN ")
        .filter(|step| step.starts_with("uv pip install"))
        .map(|step| step.split("\n\n").next().unwrap())
        .collect();
    assert_eq!(installs.len(), 2, "{text}");

    let environment = folder.join("venv");
    tools::succeed(Command::new(&uv).args(["venv", "--offline", "--no-python-downloads"]).arg(&environment));
    let path = std::env::join_paths([uv.parent().unwrap(), "/usr/bin".as_ref(), "/bin".as_ref()]).unwrap();
    for install in installs {
        let mut command = Command::new("sh");
        command.args(["-c", install]).env("PATH", &path).env("VIRTUAL_ENV", &environment);
        tools::succeed(command.env("UV_DEFAULT_INDEX", &indexes.public).current_dir(&folder));
    }
    let listed =
        tools::succeed(Command::new(&uv).args(["pip", "freeze"]).env("VIRTUAL_ENV", &environment).current_dir(&folder));
    assert_eq!(
        String::from_utf8_lossy(&listed.stdout),
        "nvidia-cublas-cu12==12.4.5.8\ntensorflow==2.18.0\ntorch==2.5.1+cu124\n"
    );
}
