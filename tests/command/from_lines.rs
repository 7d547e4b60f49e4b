//! `gpuenv init --from`: what several lines ask of one package, which lines count, and that none is lost. Each is after what
//! public projects write; which one stands beside it.

use serde_json::Value;

use super::from::{drafted, left};

/// The reason why a line was left out.
fn why(told: &Value, text: &str) -> String {
    let each = told["left"].as_array().into_iter().flatten();
    let mut found = each.filter(|one| one["text"].as_str().unwrap().contains(text));
    found.next().unwrap_or_else(|| panic!("{text} is not told: {told:#}"))["why"].as_str().unwrap().to_string()
}

fn has(lines: &[String], wanted: &str) -> bool {
    lines.iter().any(|line| line == wanted)
}

#[test]
fn bounds_of_one_package_all_hold() {
    for (list, line, told) in [
        ("torch>=2.0\ntorch<2.4\n", "torch=\">=2.0,<2.4\"", &[][..]),
        ("torch<2.4\ntorch>=2.0\ntorch!=2.1.0\n", "torch=\"<2.4,>=2.0,!=2.1.0\"", &[]),
        ("torch>=1.13.0\ntorch>=2.2.0\n", "torch=\">=2.2.0\"", &[]),
        ("torch>=2.4\ntorch==2.3.1\n", "torch=\"2.3.1\"", &["requirements.txt:1 torch>=2.4"]),
        // Each is for other Pythons: they bound each other no more than the first is bound.
        (
            "torch>=2.0; python_version < \"3.9\"\ntorch<2.6; python_version >= \"3.9\"\n",
            "torch=\">=2.0\"",
            &[
                "requirements.txt:1 torch>=2.0; python_version < \"3.9\"",
                "requirements.txt:2 torch<2.6; python_version >= \"3.9\"",
            ],
        ),
        // As InvokeAI: the version of a build, where that build is.
        (
            "torch~=2.7\ntorch==2.7.1+cu128; platform_machine != 'aarch64'\n",
            "torch=\"2.7.1+cu128\"",
            &["requirements.txt:2 torch==2.7.1+cu128; platform_machine != 'aarch64'"],
        ),
        ("torch\nnumpy<2\nnumpy>=1.20\n", "numpy=\"<2,>=1.20\"", &[]),
        ("torch\nnumpy<2\nnumpy>=2.1\n", "numpy=\"<2\"", &["requirements.txt:3 numpy>=2.1"]),
    ] {
        let (lines, document) = drafted("bounds", &[("requirements.txt", list)], &[]);
        assert!(has(&lines, line), "{list}{lines:#?}");
        assert_eq!(left(&document), told, "{list}");
    }
}

/// As nerfstudio: what its Dockerfile installs is pinned, an extra pins something else, and the order of files is no matter.
#[test]
fn a_pin_of_the_project_comes_before_that_of_an_extra() {
    let docker = (
        "Dockerfile",
        "FROM nvidia/cuda:11.8.0-runtime-ubuntu22.04\nRUN apt-get install python3.10\n\
         RUN pip install torch==2.1.2+cu118 torchvision==0.16.2+cu118\n",
    );
    let project = (
        "pyproject.toml",
        "[project]\nname = \"x\"\nversion = \"1\"\nrequires-python = \">=3.8.0\"\ndependencies = [\"torch>=1.13.1\"]\n\
         [project.optional-dependencies]\ndev = [\"torch==2.7.1\"]\n",
    );
    for files in [[docker, project], [project, docker]] {
        let (lines, told) = drafted("pins", &files, &[]);
        assert!(has(&lines, "torch=\"2.1.2+cu118\"") && has(&lines, "python=\"3.10\""), "{lines:#?}");
        assert_eq!(left(&told), ["pyproject.toml:7 torch==2.7.1"]);
        assert!(why(&told, "2.7.1").contains("`torch = \"2.1.2+cu118\"` is taken instead (Dockerfile:3)"), "{told:#}");
    }
}

/// As alphafold3 has its two lines, and as `pip freeze` lists what JAX is made of.
#[test]
fn the_lines_of_jax_name_its_cuda_together() {
    for list in [
        "jax==0.10.2\njax[cuda12]==0.10.2; sys_platform != \"darwin\"\n",
        "jax[cuda12]\njax==0.10.2\n",
        "jax==0.10.2\njaxlib==0.10.2\njax-cuda12-plugin==0.10.2\njax-cuda12-pjrt==0.10.2\n",
    ] {
        let (lines, _) = drafted("jax", &[("requirements.txt", list)], &[]);
        assert!(has(&lines, "jax=\"0.10.2+cu12\""), "{list}{lines:#?}");
    }
}

/// As verl and others write them; a value is no package, in whichever form the option stands.
#[test]
fn values_of_options_are_no_packages() {
    for options in [
        "--resume-retries 999 --root-user-action ignore --use-feature fast-deps --exists-action i --report out.json",
        "--keyring-provider disabled --uploaded-prior-to 2026-01-01 --install-option x --build-option=--cpp_ext",
        "--link-mode copy -p 3.11 --prerelease allow --resolution highest --exclude-newer 2026-01-01 --color never",
        "--allow-insecure-host x --fork-strategy fewest --no-build-isolation-package flash-attn --config-file uv.toml",
        "-p3.11 -qU --python 3.11 -C a=b --no-binary :all: -t/x",
    ] {
        let text = format!("FROM x\nRUN pip install {options} torch==2.6.0 > /dev/null 2>&1\n");
        let (lines, told) = drafted("options", &[("Dockerfile", &text)], &[]);
        assert_eq!(lines[..3], ["[stack]", "torch=\"2.6.0\"", "[target.default]"], "{options}");
        assert_eq!(left(&told), Vec::<String>::new(), "{options}");
    }
    for (command, line, told) in [
        ("uv pip install --torch-backend cu124 torch==2.6.0", "torch=\"2.6.0+cu124\"", &[][..]),
        ("uv pip install --torch-backend=auto torch==2.6.0", "torch=\"2.6.0\"", &[]),
        ("UV_TORCH_BACKEND=cu124 uv pip install torch==2.6.0 999", "torch=\"2.6.0\"", &["Dockerfile:2 999"]),
        ("pip install -qr base.txt torch==2.6.0", "torch=\"2.6.0\"", &["Dockerfile:2 -r base.txt"]),
        ("pip install torch==2.6.0 && uv pip sync all.txt", "torch=\"2.6.0\"", &["Dockerfile:2 all.txt"]),
    ] {
        let (lines, document) = drafted("backend", &[("Dockerfile", &format!("FROM x\nRUN {command}\n"))], &[]);
        assert!(has(&lines, line), "{command}: {lines:#?}");
        assert_eq!(left(&document), told, "{command}");
    }
    let setting = "FROM x\nENV UV_TORCH_BACKEND=cu124\nRUN uv pip install torch==2.6.0\n";
    let (lines, _) = drafted("setting", &[("Dockerfile", setting)], &[]);
    assert!(has(&lines, "torch=\"2.6.0+cu124\""), "{lines:#?}");
}

/// As text-generation-inference: kernels are compiled in one stage and copied into an image that has no compiler.
#[test]
fn a_build_belongs_to_the_stage_that_compiles() {
    let text = |last: &str| {
        format!(
            "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04 AS base\nENV TORCH_CUDA_ARCH_LIST=8.0\nRUN pip install torch==2.7.0\n\
             FROM base AS kernels\nRUN make install\nFROM {last}\nCOPY --from=kernels /x /x\n"
        )
    };
    let run = text("nvidia/cuda:12.4.0-base-ubuntu22.04");
    let (lines, told) = drafted("stages", &[("Dockerfile", &run)], &["--gpu", "A100-PCIE-40GB"]);
    assert!(!has(&lines, "[build]") && has(&lines, "torch=\"2.7.0\""), "{lines:#?}");
    assert_eq!(told["conflicts"], serde_json::json!([]));
    assert!(why(&told, "TORCH_CUDA_ARCH_LIST").contains("the image of that stage"), "{told:#}");
    let (lines, _) = drafted("one-stage", &[("Dockerfile", &text("kernels"))], &["--gpu", "A100-PCIE-40GB"]);
    assert!(has(&lines, "[build]"), "{lines:#?}");
}

const EXTRAS: &str = "\
[project]
name = \"own\"
version = \"1\"
dependencies = [\"torch>=2.6\"]
[project.optional-dependencies]
serve = [\"vllm\", \"fastapi\"]
quant = [\"auto-gptq==0.5.1\"]
train = [\"deepspeed\", \"own[more]\"]
more = [\"peft\"]
[dependency-groups]
dev = [\"pytest\", { include-group = \"lint\" }]
lint = [\"ruff\"]
";

/// As trl, text-generation-inference and lerobot name theirs, and as axolotl, whose Dockerfile does not say which.
#[test]
fn what_is_installed_of_a_project_chooses_its_extras() {
    let all = ["fastapi", "peft", "pytest", "ruff"];
    for (command, stack, packages) in [
        ("pip install 'own[train]'", &["deepspeed"][..], &["own[train]", "peft"][..]),
        ("pip install -e .[serve]", &["vllm"], &["fastapi"]),
        ("uv sync --no-dev --extra serve --extra=train", &["vllm", "deepspeed"], &["fastapi", "peft"]),
        ("uv sync --frozen", &[], &["pytest", "ruff"]),
        ("uv sync --all-extras", &["vllm", "deepspeed", "auto-gptq"], &all),
        // Nothing says which: those that ask for something that gpuenv chooses, without one that contradicts the rest.
        ("pip install .", &["vllm", "deepspeed"], &["fastapi"]),
        ("uv sync --extra $UNKNOWN", &["vllm", "deepspeed"], &["fastapi"]),
    ] {
        let docker = format!("FROM python:3.12-slim\nRUN {command}\n");
        let (lines, told) = drafted("named", &[("pyproject.toml", EXTRAS), ("Dockerfile", &docker)], &[]);
        let taken = |name: &&str| lines.iter().any(|line| line.starts_with(&format!("{name}=")));
        let seen: Vec<&str> = ["vllm", "deepspeed", "auto-gptq"].into_iter().filter(taken).collect();
        assert_eq!(seen, stack, "{command}");
        assert_eq!(told["packages"], serde_json::json!(packages), "{command}");
        assert_eq!(told["conflicts"].as_array().map_or(0, Vec::len), usize::from(stack.len() == 3), "{told:#}");
    }
    let (_, told) = drafted("at-odds", &[("pyproject.toml", EXTRAS)], &[]);
    assert!(
        why(&told, "auto-gptq").contains("the extra or group `quant`, which does not go with the rest"),
        "{told:#}"
    );
}

/// As mmdetection3d installs with mim; what installs nothing of Python's is not told.
#[test]
fn commands_that_are_not_read_are_named() {
    for (command, told) in [
        ("pip install openmim && mim install 'mmcv>=2.0.0rc4'", &["Dockerfile:2 mim install mmcv>=2.0.0rc4"][..]),
        ("python setup.py install", &["Dockerfile:2 python setup.py install"]),
        ("poetry add torch", &["Dockerfile:2 poetry add torch"]),
        ("npm install -g x && make -j8 install && git lfs install && apk add curl && install -m 755 a b", &[]),
    ] {
        let (_, document) = drafted("commands", &[("Dockerfile", &format!("FROM x\nRUN {command}\n"))], &[]);
        assert_eq!(left(&document), told, "{command}");
    }
    let text =
        "FROM x\nRUN --mount=type=cache,target=/x uv python install 3.11\nRUN conda create -y -n a pytorch=2.1\n";
    let (lines, told) = drafted("creates", &[("Dockerfile", text)], &[]);
    assert!(has(&lines, "python=\"3.11\"") && has(&lines, "torch=\"2.1\""), "{lines:#?}");
    assert_eq!(left(&told), Vec::<String>::new());
}

/// As openfold and RFdiffusion list them.
#[test]
fn what_conda_alone_has_is_no_requirement() {
    let text = "dependencies:\n  - gcc=12.4\n  - gxx_linux-64=12.4\n  - bioconda::hhsuite\n  - conda-forge::pandas\n\
                \x20 - dgl-cuda11.1\n  - magma-cuda121\n  - compilers\n  - xformers::xformers\n  - pytorch=2.5\n";
    let (lines, told) = drafted("conda-alone", &[("environment.yml", text)], &[]);
    assert_eq!(told["packages"], serde_json::json!(["pandas"]));
    assert!(has(&lines, "gcc=\"12.4\"") && has(&lines, "xformers=\"*\""), "{lines:#?}");
    assert_eq!(left(&told), ["environment.yml:4 bioconda::hhsuite, dgl-cuda11.1, magma-cuda121, compilers"]);
    let (lines, told) = drafted("no-release", &[("environment.yml", "dependencies:\n  - gxx\n  - pytorch=2.5\n")], &[]);
    assert!(!lines.iter().any(|line| line.starts_with("gcc")), "{lines:#?}");
    assert!(why(&told, "gxx").contains("set `gcc` of the target"), "{told:#}");
}
