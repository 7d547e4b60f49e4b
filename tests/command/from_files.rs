//! `gpuenv init --from`: lines that bear on others, in the same file or another one: conditions that all have, the order of
//! commands, overrides, the torch of an image, groups that are installed by default. Each is after what public projects write.

use serde_json::Value;

use super::from::{drafted, left, project};
use crate::common::sandbox::Sandbox;

fn has(lines: &[String], wanted: &str) -> bool {
    lines.iter().any(|line| line == wanted)
}

fn all(lines: &[String], wanted: &[&str]) {
    for line in wanted {
        assert!(has(lines, line), "{line}: {lines:#?}");
    }
}

fn no_conflict(told: &Value) -> bool {
    told["conflicts"] == serde_json::json!([])
}

/// Runs `init` on one file of pyproject.toml, whose project needs some packages and has more tables.
fn pyproject(name: &str, dependencies: &str, more: &str) -> (Vec<String>, Value) {
    let text = format!(
        "[project]\nname = \"demo\"\nversion = \"1\"\nrequires-python = \">=3.10\"\ndependencies = [{dependencies}]\n{more}"
    );
    drafted(name, &[("pyproject.toml", &text)], &["--gpu", "H100 SXM"])
}

/// As CellBender and docling: an image of Python and nothing that needs a framework.
#[test]
fn an_image_of_python_is_no_guess() {
    let (lines, _) =
        drafted("python-image", &[("Dockerfile", "FROM python:3.12-slim\nRUN pip install cellbender\n")], &[]);
    all(&lines, &["torch=\"*\"", "python=\"3.12\"", "cellbender=\"*\""]);
}

/// What a file says and gpuenv.toml cannot hold is a comment with the reason, whatever is left of the draft then.
#[test]
fn a_line_that_no_spec_holds_is_a_comment() {
    let sandbox = Sandbox::new("no-spec-holds", "");
    std::fs::write(sandbox.path("requirements.txt"), "torch>=2,<1\nvllm>=3,<2\n").unwrap();
    let ran = sandbox.run(&["init", "--from", "requirements.txt", "--gpu", "A100", "--force"]).exits(0);
    assert!(ran.err.contains("taken over as a comment"), "{ran:?}");
    let spec = sandbox.spec();
    for line in ["# torch = \">=2,<1\"", "# vllm", "torch = \"*\""] {
        assert!(spec.split_whitespace().collect::<Vec<_>>().join(" ").contains(line), "{line}: {spec}");
    }
}

/// As lists that Poetry exports (LoRAX's): every line has the project's own range of Pythons.
#[test]
fn a_condition_that_all_lines_have_bounds_python() {
    let on = "; python_version >= \"3.9\" and python_version < \"4.0\"";
    let list = format!("torch==2.6.0 {on}\nnumpy==1.26.4 {on}\nsix==1.16.0 ; python_version >= \"3.8\"\n");
    let (lines, told) = drafted("all-lines", &[("requirements.txt", &list)], &["--gpu", "A100-PCIE-40GB"]);
    all(&lines, &["torch=\"2.6.0\"", "python=\">=3.9\"", "numpy=\"==1.26.4\"", "six=\"==1.16.0\""]);
    assert!(left(&told).iter().all(|line| line.contains("torch")), "{told:#}");
    // The same where the stack has no answer, so that no Python is chosen.
    let refused = format!("{list}triton==2.0.0 {on}\n");
    let (lines, told) = drafted("all-lines-refused", &[("requirements.txt", &refused)], &["--gpu", "A100-PCIE-40GB"]);
    all(&lines, &["numpy=\"==1.26.4\"", "six=\"==1.16.0\""]);
    assert!(!no_conflict(&told));
    // What a condition lets in may go with an older Python only: that is the one it is decided for.
    let list = "torch==2.6.0\nnumpy==1.26.4; python_version < \"3.14\"\nsix; python_version < \"3.13\"\n";
    let (lines, _) = drafted("let-in", &[("requirements.txt", list)], &["--gpu", "A100-PCIE-40GB"]);
    all(&lines, &["python=\"3.12\"", "six=\"*\"", "numpy=\"==1.26.4\""]);
}

/// As SkyRL: what an override names is installed over what another package asks for.
#[test]
fn an_override_is_laid_over_what_others_ask_for() {
    let over = "[tool.uv]\noverride-dependencies = [\"flashinfer-python==0.6.13\"]\n";
    let (lines, told) = pyproject("override", "\"vllm==0.26.0\", \"flashinfer-python==0.6.13\"", over);
    all(&lines, &["vllm=\"0.26.0\""]);
    assert!(no_conflict(&told) && !lines.iter().any(|line| line.starts_with("flashinfer")), "{lines:#?}");
    assert_eq!(left(&told), ["pyproject.toml:7 flashinfer-python==0.6.13"]);
}

/// As prime-rl: a wheel of vllm's own releases, by its address, beside a torch of another CUDA of its major.
#[test]
fn a_wheel_that_is_named_keeps_its_label() {
    let sources = "[tool.uv.sources]\ntorch = { index = \"p\" }\n\
                   vllm = { url = \"https://github.com/vllm-project/vllm/releases/download/v0.26.0/vllm-0.26.0+cu129-cp38-abi3-manylinux_2_28_x86_64.whl\" }\n\
                   [[tool.uv.index]]\nname = \"p\"\nurl = \"https://download.pytorch.org/whl/cu128\"\n";
    let (lines, told) = pyproject("own-label", "\"torch==2.11.0\", \"vllm>=0.26.0\"", sources);
    all(&lines, &["torch=\"2.11.0+cu128\"", "vllm=\"0.26.0+cu129\""]);
    assert!(no_conflict(&told), "{told:#}");
    // Nor does it go with another major.
    let spec = "[stack]\ntorch = \"2.11.0+cu130\"\nvllm = \"0.26.0+cu129\"\n[target.a]\ngpu = \"H100 SXM\"\n";
    Sandbox::new("own-label-cu13", spec).run(&["lock"]).exits(1);
}

/// As neuralangelo and Time-Series-Library: what the image's pip installs is beside the torch of the image, on its Python.
#[test]
fn the_torch_of_an_image_stands_beside_what_is_installed_there() {
    let file = |image: &str| format!("FROM {image}\nRUN pip install -r requirements.txt\n");
    for (image, list, torch, python) in [
        ("nvcr.io/nvidia/pytorch:24.08-py3", "open3d\nkornia\n", "torch=\"*\"", "python       3.10"),
        (
            "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime",
            "onnxruntime-gpu==1.20.0\n",
            "torch=\"2.5.1\"",
            "python           3.11",
        ),
        (
            "pytorch/pytorch:2.5.1-cuda12.1-cudnn9-devel",
            "jax==0.8.1\nnumpy\n",
            "torch=\"2.5.1\"",
            "jax          0.8.1+cpu",
        ),
    ] {
        let files = [("Dockerfile", file(image)), ("requirements.txt", list.to_string())];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        let (lines, told) = drafted("of-image", &files, &["--gpu", "A100-PCIE-40GB"]);
        assert!(has(&lines, torch) && no_conflict(&told), "{image}: {lines:#?}");
        let sandbox = project("of-image-locked", &files);
        sandbox
            .run(&["init", "--from", "Dockerfile", "--from", "requirements.txt", "--gpu", "A100-PCIE-40GB"])
            .exits(0);
        sandbox.run(&["lock"]).exits(0).says(python);
    }
    // As CosyVoice: pip replaces the published torch of an image by the one that is asked for.
    let files =
        [("Dockerfile", &*file("pytorch/pytorch:2.3.1-cuda12.1-cudnn8-devel")), ("requirements.txt", "torch==2.5.1\n")];
    let (lines, told) = drafted("over-image", &files, &["--gpu", "A100-PCIE-40GB"]);
    assert!(
        has(&lines, "rule=\"torch-of-image\"") && has(&lines, "python=\"3.10\"") && no_conflict(&told),
        "{lines:#?}"
    );
}

/// As OpenChatKit: facts of wheels say nothing of conda's builds.
#[test]
fn what_conda_builds_itself_is_not_judged_as_a_wheel() {
    let text = "dependencies:\n  - python=3.10\n  - pytorch=2.0.1\n  - pytorch-cuda=11.8\n  - faiss-gpu=1.7.2\n  - dask-core=2024.1.0\n";
    let (lines, told) = drafted("conda-own", &[("environment.yml", text)], &["--gpu", "A100-SXM4-80GB"]);
    assert!(no_conflict(&told) && has(&lines, "dask=\"==2024.1.0\""), "{told:#}");
    assert_eq!(left(&told), ["environment.yml:5 faiss-gpu==1.7.2"]);
}

/// As dreamerv3 and BioNeMo: commands run in their order, whichever file their requirements stand in.
#[test]
fn the_lines_of_a_list_stand_where_its_command_does() {
    let list = "jax[cuda12]==0.4.33\nnumpy==1.26.4\n";
    let file = "FROM ubuntu:22.04\nRUN pip install jax[cuda12]==0.5.0\nRUN pip install -r requirements.txt\nRUN pip install numpy==2.0.0\n";
    let (lines, told) =
        drafted("order", &[("Dockerfile", file), ("requirements.txt", list)], &["--gpu", "A100-PCIE-40GB"]);
    all(&lines, &["jax=\"0.4.33+cu12\"", "numpy=\"==2.0.0\""]);
    assert_eq!(left(&told), ["Dockerfile:2 jax[cuda12]==0.5.0", "requirements.txt:2 numpy==1.26.4"]);
    let file = "FROM nvcr.io/nvidia/pytorch:25.01-py3\n\
                RUN pip install git+https://github.com/facebookresearch/xformers.git@v0.0.29.post1#egg=xformers\nRUN pip install -r requirements.txt\n";
    let files = [("Dockerfile", file), ("requirements.txt", "torch\nxformers\n")];
    let (lines, told) = drafted("built-before", &files, &["--gpu", "H100 SXM"]);
    assert!(!lines.iter().any(|line| line.starts_with("xformers")) && no_conflict(&told), "{lines:#?}");
    assert!(left(&told).iter().any(|line| line == "requirements.txt:2 xformers"), "{told:#}");
}

/// A pin takes the place of the bounds that it meets: beside one of these no installer takes a release that was withdrawn.
#[test]
fn one_version_says_more_than_the_bounds_around_it() {
    let files =
        [("requirements.txt", "torch\nwandb>=0.24.0\n"), ("more-requirements.txt", "wandb==0.24.0\nv1>=v2025.1.3\n")];
    all(&drafted("pinned", &files, &[]).0, &["wandb=\"==0.24.0\"", "v1=\">=2025.1.3\""]);
}

/// What uv, PDM and Poetry say of the whole project.
#[test]
fn settings_of_a_project_are_taken() {
    let index = "[[tool.pdm.source]]\nname = \"p\"\nurl = \"https://download.pytorch.org/whl/cu121\"\n";
    all(&pyproject("pdm", "\"torch==2.5.1\"", index).0, &["torch=\"2.5.1+cu121\""]);
    all(&pyproject("backend", "\"torch\"", "[tool.uv.pip]\ntorch-backend = \"cu126\"\n").0, &["torch=\"+cu126\""]);
    let bounds = "[tool.uv]\nconstraint-dependencies = [\"torch<2.6\", \"numpy<2\"]\n";
    let (lines, told) = pyproject("bounds", "\"torch\"", bounds);
    assert!(has(&lines, "torch=\"<2.6\""), "{lines:#?}");
    assert_eq!(left(&told), ["pyproject.toml:7 numpy<2"]);
    let groups = "[dependency-groups]\ntrain = [\"torch==2.5.1\", { include-group = \"base\" }]\nbase = [\"transformers\"]\n\
                  docs = [\"mkdocs\"]\n[tool.uv]\ndefault-groups = [\"train\", \"docs\"]\n";
    let (lines, told) = pyproject("groups", "\"numpy\"", groups);
    all(&lines, &["torch=\"2.5.1\"", "numpy=\"*\"", "transformers=\"*\""]);
    assert!(left(&told).iter().any(|line| line.ends_with("docs: mkdocs")), "{told:#}");
    let poetry = "[tool.poetry.dependencies]\npython = \">=3.10,<3.12\"\ntorch = { version = \">=2.0\", python = \">=3.10\" }\n\
                  six = { version = \"*\", python = \"^3.12\" }\n\
                  torchvision = [{ version = \"0.18.1\", markers = \"sys_platform == 'linux'\" },\n\
                  { version = \"0.18.0\", platform = \"darwin\" }]\n";
    let (lines, told) = drafted("poetry-forks", &[("pyproject.toml", poetry)], &[]);
    all(&lines, &["torch=\">=2.0\"", "torchvision=\"0.18.1\""]);
    assert_eq!(left(&told).len(), 2, "{told:#}");
}

/// As AQLM's setup.cfg, uv's commands and a stage whose Python is copied.
#[test]
fn extras_of_setuptools_and_pythons_of_commands_are_read() {
    let text = "[metadata]\nname = a\n[options]\ninstall_requires =\n    torch==2.3.1\n[options.extras_require]\ngpu =\n\
                \x20   deepspeed==0.14.4\n    # more\ndev = pytest\n";
    let (lines, told) = drafted("setup-extras", &[("setup.cfg", text)], &["--extra", "gpu"]);
    all(&lines, &["torch=\"2.3.1\"", "deepspeed=\"0.14.4\""]);
    assert_eq!(left(&told), ["setup.cfg:10 dev: pytest"]);
    let file = "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\nRUN uv sync --frozen --python 3.11\nRUN pip install torch==2.5.1\n";
    all(&drafted("uv-python", &[("Dockerfile", file)], &[]).0, &["python=\"3.11\""]);
    let file = "FROM python:3.11-slim AS b\nRUN pip install torch==2.5.1\nFROM nvidia/cuda:12.4.1-runtime-ubuntu22.04\n\
                COPY --from=b /usr/local /usr/local\n";
    all(&drafted("copied-python", &[("Dockerfile", file)], &[]).0, &["python=\"3.11\"", "torch=\"2.5.1\""]);
}

/// As xlstm-jax and octo: a build of torch for the CPU pins no triton, and a framework that nobody has read may drive the GPU.
#[test]
fn builds_without_gpu_code_bind_less() {
    let spec = "[stack]\ntorch = \"2.4.1+cpu\"\ntriton = \"3.1.0\"\n[target.a]\ngpu = \"none\"\n";
    Sandbox::new("free-triton", spec).run(&["lock"]).exits(0).says("triton  3.1.0");
    let spec = "[stack]\ntensorflow = \"2.15.0+cpu\"\njax = \"0.4.20\"\n[target.a]\ngpu = \"A100-PCIE-40GB\"\n";
    Sandbox::new("leaves-to-unread", spec).run(&["lock"]).exits(3).says("jax 0.4.20");
}
