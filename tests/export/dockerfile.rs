//! `dockerfile`: stages, indexes, and what hadolint says.

use std::process::Command;

use miette::Diagnostic;

use gpuenv::export::ExportError;

use crate::common::tools;
use crate::{locks, render};

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
    assert!(text.contains("\nFROM docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04\n"));
    assert!(text.contains("uv python install 3.11 && uv venv --python 3.11 /opt/venv\n"));
    assert!(text.contains(&format!("--no-deps --default-index {} \\\n    torch==2.5.1+cu124\n", locks::CU124)));
    assert!(text.contains("NVIDIA_DRIVER_CAPABILITIES=\"compute,utility\""));
    assert!(!text.contains("TORCH_CUDA_ARCH_LIST"), "nothing is compiled");
    lint("wheels", &text);
}

#[test]
fn two_stages_for_a_build() {
    let text = render("dockerfile", &locks::container_with_build()).unwrap();
    assert!(text.contains("\nFROM docker.io/nvidia/cuda:12.4.1-devel-ubuntu22.04 AS build\n"));
    assert!(text.contains("\nFROM docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04\n"));
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

/// Of an image that nobody knows it is not known whether it holds the toolkit that the lock compiles with.
#[test]
fn a_toolkit_in_an_unknown_image_is_looked_for() {
    let mut lock = locks::container_with_build();
    assert!(!render("dockerfile", &lock).unwrap().contains("nvcc --version"));
    let target = lock.target.get_mut("prod").unwrap();
    (target.image, target.runtime_image) = (Some("ubuntu:22.04".into()), None);
    lock.fact.clear();
    let text = render("dockerfile", &lock).unwrap();
    let (looked, wheels) = (text.find("nvcc --version").unwrap(), text.find("uv pip install").unwrap());
    assert!(looked < wheels && text.contains("*\"release 12.4,\"*"), "{text}");
    lint("unknown-image", &text);
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
    let built = ["flash-attn", "torch-scatter", "transformer-engine-torch"];
    let options = built.map(|package| format!("--no-build-isolation-package {package}")).join(" ");
    assert!(last.contains(&options) && last.contains("flash-attn==2.8.3") && last.contains("torch==2.5.1"), "{text}");
    lint("beside", &text);
    // What is compiled comes from the source that was locked, too.
    let mut hashed = locks::compiled_beside();
    hashed.wheel[0].sha256 = "a".repeat(64);
    let text = render("dockerfile", &hashed).unwrap();
    let file = format!("'flash-attn==2.8.3 --hash=sha256:{}'", "a".repeat(64));
    assert!(text.contains(&file) && text.contains("--requirements /tmp/locked-source.txt"), "{text}");
    lint("beside-hashed", &text);
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

/// podman and buildah look up no short names.
#[test]
fn images_have_their_registry_and_digest() {
    let digest = format!("sha256:{}", "0a".repeat(32));
    for (written, from) in [
        ("ubuntu:22.04", "docker.io/library/ubuntu:22.04".to_string()),
        ("example/train", "docker.io/example/train".to_string()),
        ("localhost:5000/a/b:1", "localhost:5000/a/b:1".to_string()),
        ("nvcr.io/nvidia/cuda:12.4", "nvcr.io/nvidia/cuda:12.4".to_string()),
        (&format!("nvidia/cuda:12.4@{digest}"), format!("docker.io/nvidia/cuda:12.4@{digest}")),
    ] {
        let mut lock = locks::container();
        lock.target.get_mut("prod").unwrap().image = Some(written.to_string());
        let text = render("dockerfile", &lock).unwrap();
        assert!(text.contains(&format!("\nFROM {from}\n")), "{text}");
        // hadolint wants a tag where nobody wrote one, and cannot read a port beside one.
        if written.contains(':') && !written.starts_with("localhost") {
            lint("registry", &text);
        }
    }
}

/// An image with the framework in it gets no second Python and no second framework.
#[test]
fn an_image_that_holds_torch_keeps_it() {
    let text = render("dockerfile", &locks::image_with_torch()).unwrap();
    assert!(!text.contains("uv python install") && !text.contains("/opt/venv"), "{text}");
    assert!(text.contains("assert torch.__version__.startswith('2.5.1')"), "{text}");
    assert!(text.contains("UV_SYSTEM_PYTHON=\"1\"") && text.contains("transformers==4.50.0"), "{text}");
    assert!(text.contains(">> /opt/constraints.txt"), "{text}");
    lint("image-with-torch", &text);
    let mut nothing_else = locks::image_with_torch();
    nothing_else.wheel.clear();
    let text = render("dockerfile", &nothing_else).unwrap();
    assert!(!text.contains("uv") && text.contains("assert torch"), "{text}");
}

#[test]
fn extras_are_quoted_and_known_hashes_are_checked() {
    let mut lock = locks::public_index();
    lock.wheel[0] =
        gpuenv::lock::Wheel { extra: Some("cuda13".into()), ..locks::wheel("jax", "0.6.0", None, &["prod"]) };
    assert!(render("dockerfile", &lock).unwrap().contains("'jax[cuda13]==0.6.0'"));
    lock.wheel[0].sha256 = "a".repeat(64);
    let text = render("dockerfile", &lock).unwrap();
    assert!(text.contains(&format!("'jax[cuda13]==0.6.0 --hash=sha256:{}'", "a".repeat(64))), "{text}");
    lint("hashes", &text);
    let mut lock = locks::beside_a_release();
    lock.wheel[1].sha256 = "b".repeat(64);
    for format in ["dockerfile", "uv", "requirements"] {
        let text = render(format, &lock).unwrap();
        assert!(text.contains(&format!("x86_64.whl#sha256={}", "b".repeat(64))), "{text}");
    }
}

#[test]
fn what_the_host_must_have_stands_in_the_image() {
    let text = render("dockerfile", &locks::container()).unwrap();
    assert!(text.contains("ENV NVIDIA_REQUIRE_CUDA=\"driver>=550.54.14,arch>=9.0\"\n"), "{text}");
    assert!(text.contains("gpuenv.driver-minimum=\"550.54.14\""), "{text}");
    let user = |name: &str| {
        let options = gpuenv::export::Options::default().with("user", name);
        gpuenv::export::format("dockerfile").unwrap().render(&locks::container(), &options)
    };
    let text = user("app").unwrap();
    assert!(
        text.contains("--uid 10001 app\n")
            && text.ends_with("\nUSER 10001\n")
            && !render("dockerfile", &locks::container()).unwrap().contains("USER")
    );
    lint("user", &text);
    assert_eq!(user("x; rm").unwrap_err().code(), "bad-option");
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

/// Run for real: of two builds of one release the one of the locked CUDA, for whatever is installed later too.
#[test]
fn what_others_bring_in_is_that_of_the_locked_cuda() {
    let text = render("dockerfile", &locks::constrained()).unwrap();
    assert!(text.contains(&format!("UV_FIND_LINKS=\"{}/torchvision/\"", locks::CU124)), "{text}");
    lint("constrained", &text);
    let (Some(uv), Some(python)) = (tools::find("uv"), tools::find("python3")) else { return };
    let folder = tools::folder("dockerfile-constrained");
    let indexes = tools::Indexes::publish(&python, &folder);
    tools::timm(&python, &folder);
    let text = text.replace(locks::CU124, &indexes.private).replace("/opt/", &format!("{}/", folder.display()));
    let environment = folder.join("venv");
    tools::succeed(Command::new(&uv).args(["venv", "--offline", "--no-python-downloads"]).arg(&environment));
    let mut script = String::from("set -eu\n");
    for step in text.split("\n").collect::<Vec<_>>().join("\n").split("\nRUN ").skip(1) {
        let (command, rest) = step.split_once("\nENV ").unwrap_or((step, ""));
        let command = command.split("\n\n").next().unwrap();
        if command.starts_with("uv pip") || command.starts_with("printf") {
            script += &format!("{command}\n");
        }
        if rest.starts_with("UV_CONSTRAINT") {
            script += &format!("export {}\n", rest.lines().next().unwrap());
        }
    }
    script += "uv pip install --no-cache timm\n";
    let path = std::env::join_paths([uv.parent().unwrap(), "/usr/bin".as_ref(), "/bin".as_ref()]).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env("PATH", &path).env("VIRTUAL_ENV", &environment);
    tools::succeed(command.env("UV_DEFAULT_INDEX", &indexes.public).current_dir(&folder));
    let mut freeze = Command::new(&uv);
    let listed = tools::succeed(freeze.args(["pip", "freeze"]).env("VIRTUAL_ENV", &environment).current_dir(&folder));
    let listed = String::from_utf8_lossy(&listed.stdout).to_string();
    assert!(listed.contains("torch==2.5.1+cu124\ntorchvision==0.20.1+cu124\n"), "{listed}");
}

#[test]
fn a_machine_without_gpu_gets_no_gpu_lines() {
    let lock = locks::without_gpu(locks::container());
    assert!(!render("dockerfile", &lock).unwrap().contains("NVIDIA"));
}

/// Where nothing else is installed, the image's own Python will do if it is the locked one.
#[test]
fn a_locked_python_is_there_whatever_else_is_installed() {
    let mut lock = locks::container();
    lock.wheel.clear();
    lock.constraint.clear();
    lock.stack.retain(|name, _| ["python", "cuda"].contains(&name.as_str()));
    let python = lock.stack["python"].clone();
    let command = format!("uv venv --system-site-packages --python {python} /opt/venv");
    for format in ["dockerfile", "apptainer"] {
        assert!(render(format, &lock).unwrap().contains(&command), "{format}");
    }
    assert!(render("compose", &lock).unwrap().contains("dockerfile:"));
    // What a second stage takes over cannot lean on the first one's image.
    let target = lock.target.values_mut().next().unwrap();
    target.runtime_image = Some("nvidia/cuda:12.4.1-base-ubuntu22.04".into());
    assert!(render("dockerfile", &lock).unwrap().contains(&format!("uv python install {python} && uv venv --python")));
    lock.stack.remove("python");
    assert!(!render("dockerfile", &lock).unwrap().contains("uv "));
}

#[test]
fn what_cannot_be_built_says_what_to_change() {
    let error = render("dockerfile", &locks::bare_metal()).unwrap_err();
    assert_eq!(error.code(), "no-image");
    let help = error.help().unwrap().to_string();
    assert!(help.contains("[target.lab] in gpuenv.toml"), "{help}");

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

/// Triton compiles when it runs, so the compiler is in the image that runs.
#[test]
fn triton_finds_a_compiler_where_it_runs() {
    let with_triton = |mut lock: gpuenv::lock::Lock| {
        lock.stack.insert("triton".into(), "3.1.0".into());
        lock
    };
    let gcc = "apt-get install -y --no-install-recommends gcc libc6-dev";
    let text = render("dockerfile", &with_triton(locks::container())).unwrap();
    assert_eq!(text.matches(gcc).count(), 1, "{text}");
    lint("triton", &text);
    let text = render("dockerfile", &with_triton(locks::container_with_build())).unwrap();
    assert!(text.matches(gcc).count() == 1 && text.find(gcc) > text.find("COPY --from=build"), "{text}");
    lint("triton-build", &text);
    assert!(render("apptainer", &with_triton(locks::container_with_build())).unwrap().contains(gcc));
    let cpu = with_triton(locks::without_gpu(locks::container()));
    for lock in [cpu, locks::container()] {
        assert!(!render("dockerfile", &lock).unwrap().contains("gcc"));
    }
}

/// A build of one's own is installed by whoever made it: what depends on it must not bring that of an index.
#[test]
fn a_build_of_ones_own_is_left_to_its_owner() {
    let text = render("dockerfile", &locks::own_build()).unwrap();
    assert!(text.contains("RUN printf '%s\\n' torch > /opt/excluded.txt\n"), "{text}");
    assert!(text.contains("uv pip install --excludes /opt/excluded.txt --no-cache"), "{text}");
    lint("own", &text);
}
