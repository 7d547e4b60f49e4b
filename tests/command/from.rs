//! `gpuenv init --from`: the spec of a project that exists. The files are written after public ones of the same shape;
//! what each is after stands above it.

use std::fs;

use serde_json::Value;

use crate::common::sandbox::Sandbox;

/// A folder with some files and no gpuenv.toml.
pub(super) fn project(name: &str, files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new(&format!("from-{name}"), "");
    fs::remove_file(sandbox.path("gpuenv.toml")).unwrap();
    for (name, text) in files {
        fs::write(sandbox.path(name), text).unwrap();
    }
    sandbox
}

/// Runs `init --from` with all files and more words; the spec's lines without comments and blanks, and the document.
pub(super) fn drafted(name: &str, files: &[(&str, &str)], more: &[&str]) -> (Vec<String>, Value) {
    let sandbox = project(name, files);
    let mut args = vec!["init", "-o", "-"];
    files.iter().for_each(|(name, _)| args.extend(["--from", name]));
    args.extend(more);
    let (code, told) = sandbox.json(&args);
    assert_eq!(code, 0, "{told:#}");
    let spec = told["spec"].as_str().unwrap();
    let lines = spec.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    (lines.map(|line| line.split("  #").next().unwrap().split_whitespace().collect::<String>()).collect(), told)
}

pub(super) fn left(told: &Value) -> Vec<String> {
    let each = told["left"].as_array().into_iter().flatten();
    each.map(|one| format!("{}:{} {}", one["file"].as_str().unwrap(), one["line"], one["text"].as_str().unwrap()))
        .collect()
}

/// As <https://github.com/CompVis/stable-diffusion/blob/main/environment.yaml>: a release of conda's toolkit, pins of
/// pip, and packages from git.
const DIFFUSION: &str = "\
name: ldm
channels:
  - pytorch
  - defaults
dependencies:
  - python=3.8.5
  - pip=20.3
  - cudatoolkit=11.3
  - pytorch=1.11.0
  - torchvision=0.12.0
  - numpy=1.19.2
  - pip:
    - transformers==4.19.2
    - torchmetrics==0.6.0
    - -e git+https://github.com/CompVis/taming-transformers.git@master#egg=taming-transformers
    - -e .
";

#[test]
fn an_environment_of_conda() {
    let (lines, told) = drafted("conda", &[("environment.yaml", DIFFUSION)], &["--gpu", "V100"]);
    assert_eq!(
        lines,
        [
            "[stack]",
            "torch=\"1.11.0\"",
            "cuda=\"11.3\"",
            "torchvision=\"0.12.0\"",
            "python=\"3.8\"",
            "[packages]",
            "numpy=\"==1.19.2\"",
            "torchmetrics=\"==0.6.0\"",
            "transformers=\"==4.19.2\"",
            "[target.default]",
            "gpu=\"V100\""
        ]
    );
    assert_eq!(told["packages"], serde_json::json!(["numpy==1.19.2", "torchmetrics==0.6.0", "transformers==4.19.2"]));
    assert_eq!(left(&told).len(), 3, "{told:#}");
    assert_eq!(left(&told)[0], "environment.yaml:7 pip=20.3");
    assert!(left(&told)[1].starts_with("environment.yaml:15 -e git+https://"), "{told:#}");
    assert_eq!(told["conflicts"], serde_json::json!([]));
}

/// As in <https://github.com/GradientSpaces/LoopSplat/blob/main/environment.yml>: compilers and a channel of one CUDA.
#[test]
fn compilers_of_conda_mean_that_something_is_built() {
    let text = "dependencies:\n  - python=3.10\n  - nvidia/label/cuda-12.1.0::cuda-toolkit=12.1\n  - pytorch=2.1.2\n  - pytorch-cuda=12.1 \n  - faiss-gpu=1.8.0\n";
    let (lines, told) = drafted("conda-build", &[("environment.yml", text)], &["--gpu", "A100-PCIE-40GB"]);
    assert!(lines.contains(&"[build]".to_string()) && lines.contains(&"cuda=\"12.1\"".to_string()), "{lines:?}");
    // conda's faiss-gpu 1.8.0 is not the package index's, whose 1.7.2 is the last before 1.14.
    assert!(!lines.iter().any(|line| line.starts_with("faiss-gpu")), "{lines:?}");
    assert_eq!(told["conflicts"].as_array().map(Vec::len), Some(0), "{told:#}");
    assert_eq!(left(&told), ["environment.yml:6 faiss-gpu==1.8.0"]);
}

/// As many lists of training code: an index of PyTorch's, wheels by address, packages from git, and a freeze of NVIDIA's
/// libraries.
const REQUIREMENTS: &str = "\
# training
--extra-index-url https://download.pytorch.org/whl/cu121
torch==2.3.1
torchvision  # whichever
transformers>=4.40,<5
https://github.com/Dao-AILab/flash-attention/releases/download/v2.5.8/flash_attn-2.5.8+cu122torch2.3cxx11abiFALSE-cp310-cp310-linux_x86_64.whl
nvidia-cublas-cu12==12.1.3.1
nvidia-cudnn-cu12==8.9.2.26
uvloop==0.19.0 ; sys_platform != 'win32'
pywin32 ; sys_platform == 'win32'
numpy==1.26.4 \\
    --hash=sha256:0000000000000000000000000000000000000000000000000000000000000000
git+https://github.com/huggingface/peft.git
-r dev.txt
-e .
";

#[test]
fn a_list_of_requirements() {
    let (lines, told) = drafted("pip", &[("requirements.txt", REQUIREMENTS)], &[]);
    assert_eq!(
        lines,
        [
            "[stack]",
            "torch=\"2.3.1+cu121\"",
            "torchvision=\"*\"",
            "flash-attn=\"2.5.8\"",
            "cudnn=\"8.9.2.26\"",
            "python=\"3.10\"",
            "[packages]",
            "numpy=\"==1.26.4\"",
            "transformers=\">=4.40,<5\"",
            "uvloop=\"==0.19.0\"",
            "[target.default]"
        ]
    );
    let packages = serde_json::json!(["numpy==1.26.4", "transformers>=4.40,<5", "uvloop==0.19.0"]);
    assert_eq!(told["packages"], packages);
    let wanted = [
        // Its version and its Python are taken, its address is not.
        "requirements.txt:6 flash-attn @ https://github.com/Dao-AILab/flash-attention/releases/download/v2.5.8/flash_attn-2.5.8+cu122torch2.3cxx11abiFALSE-cp310-cp310-linux_x86_64.whl",
        "requirements.txt:7 nvidia-cublas-cu12==12.1.3.1",
        "requirements.txt:10 pywin32 ; sys_platform == 'win32'",
        "requirements.txt:13 git+https://github.com/huggingface/peft.git",
        "requirements.txt:14 -r dev.txt",
        "requirements.txt:15 -e .",
    ];
    let mut seen = left(&told);
    seen.sort_by_key(|line| line.split([':', ' ']).nth(1).and_then(|line| line.parse::<u32>().ok()));
    assert_eq!(seen, wanted);
}

/// Packages of NVIDIA's whose names begin like that of a library are others.
#[test]
fn a_package_beside_a_library_is_not_the_library() {
    let (lines, _) = drafted("frontend", &[("requirements.txt", "torch==2.3.1\nnvidia-cudnn-frontend==1.5.2\n")], &[]);
    assert!(lines.iter().all(|line| !line.starts_with("cudnn=")), "{lines:?}");
}

/// As uv's guide to PyTorch (<https://docs.astral.sh/uv/guides/integration/pytorch/>): sources by system and by extra.
const PYPROJECT: &str = "\
[project]
name = \"x\"
version = \"0.1.0\"
requires-python = \">=3.10,<3.13\"
dependencies = [\"torch>=2.4\", \"jax[cuda12]>=0.4.30\", \"transformers\"]

[project.optional-dependencies]
serve = [\"vllm==0.6.6\", \"fastapi\"]

[tool.uv.sources]
torch = [
  { index = \"pytorch-cpu\", marker = \"sys_platform == 'darwin'\" },
  { index = \"pytorch-cu124\", marker = \"sys_platform == 'linux'\" },
]
own = { path = \"../own\" }

[[tool.uv.index]]
name = \"pytorch-cpu\"
url = \"https://download.pytorch.org/whl/cpu\"

[[tool.uv.index]]
name = \"pytorch-cu124\"
url = \"https://download.pytorch.org/whl/cu124\"
explicit = true

[tool.pixi.dependencies]
cmake = \"*\"
";

#[test]
fn a_pyproject_of_uv() {
    let (lines, told) = drafted("uv", &[("pyproject.toml", PYPROJECT)], &["--extra", "serve"]);
    assert_eq!(
        lines[..5],
        [
            "[stack]",
            "torch=\">=2.4,+cu124\"",
            "jax=\">=0.4.30,+cu12\"",
            "vllm=\"0.6.6,<0.6.6.post1\"",
            "python=\">=3.10,<3.13\""
        ]
    );
    // An extra is taken whole.
    assert_eq!(told["packages"], serde_json::json!(["cmake", "fastapi", "transformers"]));
    let left = left(&told);
    assert!(left.iter().any(|line| line.contains("own")), "{left:?}");
}

#[test]
fn an_extra_that_is_asked_for_is_taken_whole() {
    let text = "[project]\nname = \"x\"\nversion = \"1\"\ndynamic = [\"dependencies\"]\n\
                [project.optional-dependencies]\ntrain = [\"deepspeed\", \"wandb>=0.16\"]\ndev = [\"pytest\", \"ruff\"]\n\
                [dependency-groups]\ngpu = [\"nvidia-cudnn-cu12==9.1.0.70\", \"einops\"]\ndocs = [\"sphinx\"]\n\
                [tool.uv]\ndev-dependencies = [\"mypy\"]\nconstraint-dependencies = [\"numpy<2\"]\n";
    let (lines, told) = drafted("extras", &[("pyproject.toml", text)], &["--extra", "train", "--extra=gpu"]);
    assert!(
        lines.contains(&"deepspeed=\"*\"".to_string()) && lines.contains(&"cudnn=\"9.1.0.70\"".to_string()),
        "{lines:?}"
    );
    assert_eq!(told["packages"], serde_json::json!(["einops", "wandb>=0.16"]));
    let mut left = left(&told);
    left.sort();
    assert_eq!(
        left,
        [
            "pyproject.toml:13 numpy<2",
            "pyproject.toml:4 dynamic = [\"dependencies\"]",
            // uv's dev-dependencies are the group of that name.
            "pyproject.toml:7 dev: pytest, ruff, mypy; docs: sphinx",
        ]
    );
}

#[test]
fn groups_and_extras_of_poetry_are_taken_likewise() {
    let text = "[tool.poetry.dependencies]\ntorch = \"2.4.0\"\nvllm = { version = \"*\", optional = true }\n\
                fastapi = { version = \">=0.110\", optional = true }\n\
                sphinx = { version = \"*\", optional = true }\n\n\
                [tool.poetry.extras]\nserve = [\"vllm\", \"fastapi\"]\ndocs = [\"sphinx\"]\n\n\
                [tool.poetry.group.train.dependencies]\ndeepspeed = \"*\"\nwandb = \"*\"\n\n\
                [tool.poetry.group.dev.dependencies]\npytest = \"*\"\n";
    let (lines, told) = drafted("poetry-extras", &[("pyproject.toml", text)], &["--extra", "serve,train"]);
    assert!(lines.contains(&"vllm=\"*\"".to_string()) && lines.contains(&"deepspeed=\"*\"".to_string()), "{lines:?}");
    assert_eq!(told["packages"], serde_json::json!(["fastapi>=0.110", "wandb"]));
    assert_eq!(left(&told), ["pyproject.toml:16 dev: pytest; docs: sphinx"]);
}

#[test]
fn a_pyproject_of_poetry() {
    let text = "[tool.poetry.dependencies]\npython = \"^3.10\"\ntorch = { version = \"^2.4\", source = \"cu121\" }\n\
                vllm = { git = \"https://github.com/x/vllm.git\" }\ntransformers = \"*\"\n\n\
                [tool.poetry.group.dev.dependencies]\npytest = \"*\"\n\n\
                [[tool.poetry.source]]\nname = \"cu121\"\nurl = \"https://download.pytorch.org/whl/cu121\"\n";
    let (lines, told) = drafted("poetry", &[("pyproject.toml", text)], &[]);
    assert_eq!(lines[..3], ["[stack]", "torch=\">=2.4,<3,+cu121\"", "python=\">=3.10,<4\""]);
    assert_eq!(told["packages"], serde_json::json!(["transformers"]));
    assert_eq!(left(&told).len(), 2, "{told:#}");
}

/// As uv writes it of a project with a build of torch for each extra.
const UV_LOCK: &str = "\
version = 1
requires-python = \">=3.12\"

[[package]]
name = \"filelock\"
version = \"3.18.0\"
source = { registry = \"https://example.org/simple\" }

[[package]]
name = \"app\"
version = \"0.1.0\"
source = { virtual = \".\" }
dependencies = [
    { name = \"transformers\" },
    { name = \"torchvision\" },
]

[package.optional-dependencies]
cpu = [
    { name = \"torch\", version = \"2.7.1+cpu\" },
]
cu128 = [
    { name = \"torch\", version = \"2.7.1+cu128\" },
]

[[package]]
name = \"torch\"
version = \"2.7.1\"
source = { registry = \"https://example.org/simple\" }
resolution-markers = [
    \"python_full_version >= '3.13' and sys_platform == 'darwin'\",
    \"python_full_version < '3.13' and sys_platform == 'darwin'\",
]

[[package]]
name = \"torch\"
version = \"2.7.1+cpu\"
source = { registry = \"https://download.pytorch.org/whl/cpu\" }

[[package]]
name = \"torch\"
version = \"2.7.1+cu128\"
source = { registry = \"https://download.pytorch.org/whl/cu128\" }

[[package]]
name = \"torchvision\"
version = \"0.22.1+cu128\"
source = { registry = \"https://download.pytorch.org/whl/cu128\" }

[[package]]
name = \"transformers\"
version = \"4.52.4\"
source = { registry = \"https://example.org/simple\" }

[[package]]
name = \"triton\"
version = \"3.3.1\"
source = { registry = \"https://example.org/simple\" }
";

#[test]
fn a_lock_of_uv() {
    let (lines, told) = drafted("uv-lock", &[("uv.lock", UV_LOCK)], &["--gpu", "RTX 5090", "--extra", "cu128"]);
    assert_eq!(lines[..4], ["[stack]", "torch=\"2.7.1+cu128\"", "torchvision=\"0.22.1\"", "python=\">=3.12\""]);
    assert_eq!(told["packages"], serde_json::json!(["transformers==4.52.4"]));
    assert_eq!(left(&told).len(), 1, "{told:#}");
    assert!(left(&told)[0].ends_with(" cpu: torch==2.7.1+cpu"), "{told:#}");
    assert_eq!(told["conflicts"], serde_json::json!([]));
}

/// As uv writes what a project has for one system alone.
#[test]
fn what_a_lock_of_uv_holds_for_another_system_is_left() {
    let wanted = "{ name = \"torchvision\" }";
    let marked = UV_LOCK.replacen(wanted, "{ name = \"torchvision\", marker = \"sys_platform == 'win32'\" }", 1);
    assert_ne!(marked, UV_LOCK);
    let (lines, told) = drafted("uv-lock-elsewhere", &[("uv.lock", &marked)], &["--gpu", "RTX 5090"]);
    assert!(!lines.iter().any(|line| line.starts_with("torchvision")), "{lines:?}");
    assert!(left(&told).iter().any(|one| one.ends_with("torchvision 0.22.1+cu128")), "{told:#}");
}

/// As the images of inference servers are built: a stage that compiles, one that runs, versions as arguments.
const DOCKERFILE: &str = "\
# syntax=docker/dockerfile:1
ARG CUDA_VERSION=12.4.1
FROM nvidia/cuda:${CUDA_VERSION}-devel-ubuntu22.04 AS build
ARG TORCH_CUDA_ARCH_LIST=\"8.0 9.0\"
RUN --mount=type=cache,target=/root/.cache/pip pip wheel ./kernels

FROM nvidia/cuda:${CUDA_VERSION}-base-ubuntu22.04 AS run
ENV DEBIAN_FRONTEND=noninteractive \\
    LANG=C.UTF-8
ARG TORCH_VERSION=2.5.1
RUN apt-get update && apt-get install -y python3-pip && rm -rf /var/lib/apt/lists/*
RUN --mount=type=cache,target=/root/.cache/pip \\
    python3 -m pip install --no-cache-dir \"torch==${TORCH_VERSION}\" torchvision \\
    --index-url https://download.pytorch.org/whl/cu124
RUN (uv pip install \"transformers>=4.45\" -r requirements.txt) && echo done
";

#[test]
fn a_dockerfile() {
    let (lines, told) = drafted("docker", &[("Dockerfile", DOCKERFILE)], &["--gpu", "A100-PCIE-40GB"]);
    assert_eq!(
        lines,
        [
            "[stack]",
            "torch=\"2.5.1+cu124\"",
            "torchvision=\"*\"",
            "python=\"3.10\"",
            "[packages]",
            "transformers=\">=4.45\"",
            "[target.default]",
            "image=\"nvidia/cuda:12.4.1-base-ubuntu22.04\"",
            "gpu=\"A100-PCIE-40GB\""
        ]
    );
    assert_eq!(told["packages"], serde_json::json!(["transformers>=4.45"]));
    let left = left(&told);
    assert!(left.contains(&"Dockerfile:15 -r requirements.txt".to_string()), "{left:?}");
    assert!(left.contains(&"Dockerfile:3 FROM nvidia/cuda:12.4.1-devel-ubuntu22.04".to_string()), "{left:?}");
    // What a stage compiles that nothing is copied from is no concern of the last one's.
    assert_eq!(told["conflicts"], serde_json::json!([]));
}

#[test]
fn several_files_are_one_project() {
    let files = [
        ("requirements.txt", "torch>=2.4\nvllm==0.6.6\n"),
        ("uv.lock", UV_LOCK),
        ("Dockerfile", "FROM python:3.12-slim\nRUN pip install torch==2.6.0\n"),
    ];
    let (lines, told) = drafted("several", &files, &["--extra", "cu128"]);
    // The one version says more than the range, and comes before that of an extra, which is told.
    assert!(
        lines.contains(&"torch=\"2.6.0\"".to_string()) && lines.contains(&"vllm=\"0.6.6,<0.6.6.post1\"".to_string()),
        "{lines:?}"
    );
    assert!(lines.contains(&"image=\"python:3.12-slim\"".to_string()), "{lines:?}");
    assert!(left(&told).iter().any(|one| one.ends_with("torch==2.7.1+cu128")), "{told:#}");
    // vllm 0.6.6 needs another torch: it was locked in memory.
    let conflict = told["conflicts"][0]["culprits"].as_array().expect("a conflict");
    assert!(conflict.contains(&"stack.vllm".into()), "{told:#}");
}

/// pip's `==2.4` is 2.4.0, `>2.4` admits 2.4.1 and `<=2.4` does not, and a post release is another release.
#[test]
fn versions_mean_what_pip_means() {
    for (asked, line, locked) in [
        ("torch>2.4,<2.5", "torch=\">2.4.0,<2.5\"", "2.4.1"),
        ("torch<=2.4", "torch=\"<=2.4.0\"", "2.4.0"),
        ("torch==2.4", "torch=\"2.4.0\"", "2.4.0"),
        ("torch!=2.4,<2.4.2", "torch=\"!=2.4.0,<2.4.2\"", "2.4.1"),
        ("torch==2.4.*", "torch=\"2.4\"", "2.4.1"),
        ("vllm==0.5.0", "vllm=\"0.5.0,<0.5.0.post1\"", "0.5.0"),
    ] {
        let sandbox = project("meant", &[("requirements.txt", &format!("{asked}\n"))]);
        sandbox.run(&["init", "--from", "requirements.txt", "--gpu", "A100-PCIE-40GB"]).exits(0);
        let spec: String =
            sandbox.spec().lines().map(|line| line.split_whitespace().collect::<String>() + "\n").collect();
        assert!(spec.contains(line), "{asked}: {spec}");
        sandbox.run(&["lock"]).exits(0);
        let (package, lock) = (
            &asked[..asked.find(['<', '>', '=', '!']).unwrap()],
            fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap(),
        );
        let chosen = format!("\n{package} = \"{locked}");
        let exact = |lock: &str| lock.split(&chosen).nth(1).is_some_and(|rest| rest.starts_with(['"', '+']));
        assert!(exact(&lock.replace("stack.", "")), "{asked}: {lock}");
    }
}

/// A list without any framework is no question; what stands in for one is told.
#[test]
fn a_framework_that_nobody_asked_for_is_called_a_guess() {
    let sandbox = project("guess", &[("requirements.txt", "numpy\n")]);
    let ran = sandbox.run(&["init", "--from", "requirements.txt", "--gpu", "A100-PCIE-40GB"]).exits(0);
    ran.says("`torch = \"*\"` is a guess");
    assert!(sandbox.spec().contains("a guess: replace it"), "{}", sandbox.spec());
    let sandbox = project("no-guess", &[("requirements.txt", "torch==2.5.1\n")]);
    let ran = sandbox.run(&["init", "--from", "requirements.txt", "--gpu", "A100-PCIE-40GB"]).exits(0);
    assert!(!ran.err.contains("guess"), "{ran:?}");
}

/// What the ordinary packages bring is no guess: frameworks, and what follows none only where none comes.
#[test]
fn what_packages_bring_is_asked_for() {
    for (list, asked) in [
        ("faster-whisper>=1.0\nrequests\n", "ctranslate2=\"*\""),
        ("sentence-transformers\n", "torch=\"*\""),
        ("openai-whisper\n", "torch=\"*\""),
        ("faster-whisper\nsentence-transformers\n", "torch=\"*\""),
    ] {
        let (lines, told) = drafted("brought", &[("requirements.txt", list)], &[]);
        assert_eq!(lines[..3], ["[stack]", asked, "[packages]"], "{list}");
        assert!(told["spec"].as_str().unwrap().contains(" brings it\n"), "{list}: {told:#}");
    }
}

/// A build for the CPU beside one for GPUs: installers take both, whatever the order of the lines.
#[test]
fn builds_of_two_kinds_go_together() {
    for (lists, stack, is_cpu) in [
        (
            ["tensorflow-cpu==2.16.1", "torch==2.4.0+cu121"],
            ["torch=\"2.4.0+cu121\"", "tensorflow=\"2.16.1+cpu\""],
            false,
        ),
        // A torch that another package brings is there, too.
        (["tensorflow==2.16.1", "xformers==0.0.24"], ["tensorflow=\"2.16.1+cpu\"", "xformers=\"0.0.24\""], false),
        (["jax[cuda12]==0.4.30", "torch==2.4.0+cpu"], ["torch=\"2.4.0+cpu\"", "jax=\"0.4.30+cu12\""], false),
        (["tensorflow[and-cuda]==2.16.1", "torch==2.4.0+cpu"], ["torch=\"2.4.0+cpu\"", "tensorflow=\"2.16.1\""], false),
        // What the index has of torch is for GPUs.
        (["jax[cpu]==0.4.30", "torch==2.4.0"], ["torch=\"2.4.0\"", "jax=\"0.4.30+cpu\""], false),
        (["jax[cpu]==0.4.30", "torch==2.4.0+cpu"], ["torch=\"2.4.0+cpu\"", "jax=\"0.4.30+cpu\""], true),
    ] {
        for list in [format!("{}\n{}\n", lists[0], lists[1]), format!("{}\n{}\n", lists[1], lists[0])] {
            let (lines, told) = drafted("kinds", &[("requirements.txt", &list)], &[]);
            assert_eq!(lines[1..=2], stack, "{list}");
            assert_eq!(lines.contains(&"gpu=\"none\"".to_string()), is_cpu, "{list}");
            assert!(left(&told).is_empty() && told["conflicts"] == serde_json::json!([]), "{list}{told:#}");
        }
    }
}

#[test]
fn a_build_for_the_cpu_says_so() {
    let (lines, _) = drafted(
        "cpu",
        &[("requirements.txt", "--index-url https://download.pytorch.org/whl/cpu\ntorch==2.5.1\n")],
        &[],
    );
    assert_eq!(lines, ["[stack]", "torch=\"2.5.1+cpu\"", "[target.default]", "gpu=\"none\""]);
}

/// A line of a package that another line already took is told, unless what was taken is what it admits.
#[test]
fn no_line_is_dropped_without_a_word() {
    let exact = ["torch==2.3.1", "torch==2.3.1+cu121", "https://example.org/torch-2.3.1-cp310-cp310-linux_x86_64.whl"];
    for (other, is_told) in [
        ("torch>=2.4", true),
        ("torch<2.3", true),
        ("torch!=2.3.1", true),
        ("torch==2.4.0", true),
        ("torch>=2.3", false),
        ("torch>=2,<2.6", false),
        ("torch", false),
    ] {
        for exact in exact {
            for list in [format!("{other}\n{exact}\n"), format!("{exact}\n{other}\n")] {
                let (_, told) = drafted("dropped", &[("requirements.txt", &list)], &[]);
                let spec = told["spec"].as_str().unwrap();
                let left = left(&told);
                // Of two single versions the first is taken.
                let gone = if other.contains("==") { list.lines().nth(1).unwrap() } else { other };
                let line = 1 + list.lines().position(|line| line == gone).unwrap();
                let is_left = left.iter().any(|one| one.starts_with(&format!("requirements.txt:{line} ")));
                // Of an address the file is told of in any case.
                assert!(is_left == is_told || gone.contains("://"), "{list}{left:?}\n{spec}");
            }
        }
    }
}

#[test]
fn people_are_told_what_was_left_out_and_what_is_next() {
    let sandbox =
        project("told", &[("requirements.txt", REQUIREMENTS), ("environment.yml", "a: [\n"), ("notes.md", "")]);
    let ran = sandbox.run(&["init", "--from", "requirements.txt", "--gpu", "A100-PCIE-40GB"]).exits(0);
    let ran = ran.says("created gpuenv.toml").says("requirements.txt:15 `-e .`: a package of this project");
    ran.says("3 ordinary packages are carried as written").says("next: edit it as needed, then run `gpuenv lock`");
    assert!(sandbox.spec().contains("\ntransformers = \">=4.40,<5\"\n"), "{}", sandbox.spec());
    sandbox.run(&["lock"]).exits(0);
    for (args, wanted) in [
        (&["--host", "requirements.txt"][..], "use `gpuenv init --from requirements.txt`"),
        (&["--from", "notes.md"], "--from reads requirements.txt, pyproject.toml, setup.py"),
        (&["--from", "environment.yml"], "environment.yml:"),
    ] {
        sandbox.run(&[&["init", "-o", "other.toml"], args].concat()).exits(2).says(wanted);
    }
    sandbox.run(&["init", "-o", "other.toml", "--from", "missing/uv.lock"]).exits(4);
    assert!(!sandbox.path("other.toml").exists());
}

#[test]
fn the_machine_comes_from_a_host_and_the_stack_from_the_project() {
    let smi = "| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4 |\n|   0  NVIDIA A100-SXM4-40GB  On |\n";
    let sandbox = project("host", &[("requirements.txt", "torch==2.5.1\n"), ("smi.txt", smi)]);
    sandbox.run(&["init", "--from", "requirements.txt", "--host", "smi.txt"]).exits(0);
    let spec = sandbox.spec();
    assert!(spec.contains("torch = \"2.5.1\"") && spec.contains("driver = \"550.54.15\""), "{spec}");
    sandbox.run(&["lock"]).exits(0);
}

/// Requirements with blanks, as flux and nerfstudio write them; what `[packages]` cannot say is told, never a comment.
#[test]
fn ordinary_packages_are_carried_or_told() {
    let text = "torch == 2.5.1\nnumpy ==1.26.4\nscipy (>=1.10)\nuvicorn [standard] >= 0.20\n\
                pandas==2.0; python_version<=\"3.10\"\nmine @ https://x.org/mine-1.0-py3-none-any.whl\n\
                # pip install jax && \\\neinops\n";
    let (spec, told) = drafted("blanks", &[("requirements.txt", text)], &["--gpu", "L4"]);
    for line in ["numpy=\"==1.26.4\"", "scipy=\">=1.10\"", "uvicorn=\"[standard]>=0.20\"", "einops=\"*\""] {
        assert!(spec.iter().any(|one| one == line), "{line}: {spec:#?}");
    }
    let left = left(&told);
    assert_eq!(left.len(), 2, "{left:#?}");
    assert!(left[0].contains("pandas") && left[1].contains("mine @"), "{left:#?}");
    let poetry =
        "[tool.poetry.dependencies]\npython = \"^3.10\"\ntorch = \"2.5.1\"\ntransformers = \"^4.41\"\nfoo = \"~1.2\"\n";
    let (spec, told) = drafted("poetry-ranges", &[("pyproject.toml", poetry)], &["--gpu", "L4"]);
    for line in ["transformers=\">=4.41,<5\"", "foo=\"==1.2.*\""] {
        assert!(spec.iter().any(|one| one == line), "{line}: {spec:#?}");
    }
    assert_eq!(told["left"].as_array().map_or(0, Vec::len), 0, "{told:#}");
}

/// What `conda env export` lists beside packages of Python, as in GroundingDINO's environment.yaml.
#[test]
fn libraries_of_conda_are_no_packages() {
    let text = "dependencies:\n  - python=3.10.13=h955ad1f_0\n  - cudatoolkit=11.8.0=h6a678d5_0\n  - numpy=1.26.4=py310h5f9d8c6_0\n\
                \x20 - tqdm=4.66.1=pyhd8ed1ab_0\n  - openssl=3.1.3=h7f8727e_0\n  - ucrt=10.0.22621.0=h57928b3_0\n";
    let (spec, told) = drafted("conda-libraries", &[("environment.yml", text)], &[]);
    for line in ["numpy=\"==1.26.4\"", "tqdm=\"==4.66.1\"", "cuda=\"11.8.0\"", "python=\"3.10\""] {
        assert!(spec.iter().any(|one| one == line), "{line}: {spec:#?}");
    }
    assert_eq!(left(&told), ["environment.yml:7 ucrt==10.0.22621.0", "environment.yml:6 openssl==3.1.3"]);
}

/// A build for the CPU or for another maker's GPUs is never taken for one for CUDA.
#[test]
fn builds_for_other_processors_stay_what_they_are() {
    for rocm in ["torch==2.4.0+rocm6.0\n", "torch==2.4.0+xpu\n"] {
        let (spec, told) = drafted("rocm", &[("requirements.txt", rocm)], &["--gpu", "L4"]);
        assert!(!spec.iter().any(|line| line.contains("2.4.0")), "{spec:#?}");
        assert!(told["left"][0]["why"].as_str().unwrap().contains("it is built for"), "{told:#}");
    }
    for (file, text, line) in [
        ("requirements.txt", "tensorflow-cpu==2.16.1\n", "tensorflow=\"2.16.1+cpu\""),
        ("requirements.txt", "jax[cpu]==0.4.30\n", "jax=\"0.4.30+cpu\""),
        ("environment.yml", "dependencies:\n  - pytorch=2.1.0=py3.10_cpu_0\n  - cpuonly\n", "torch=\"2.1.0+cpu\""),
    ] {
        let (spec, _) = drafted("cpu-builds", &[(file, text)], &[]);
        assert!(spec.iter().any(|one| one == line) && spec.iter().any(|one| one == "gpu=\"none\""), "{spec:#?}");
    }
    let both = "torch==2.4.0+cu121\ntensorflow-cpu==2.16.1\n";
    let (spec, _) = drafted("cpu-beside", &[("requirements.txt", both)], &["--gpu", "L4"]);
    assert!(spec.contains(&"tensorflow=\"2.16.1+cpu\"".to_string()), "{spec:#?}");
}

/// What tools print of what is installed is told as that, not line by line.
#[test]
fn a_list_of_what_is_installed_is_no_project() {
    let conda = "# packages in environment at /opt/conda:\n#\n# Name                    Version                   Build  Channel\n\
                 pytorch                   1.11.0          py3.8_cuda11.3_cudnn8.2.0_0    pytorch\n";
    let pip = "Package            Version\n------------------ ---------\ntorch              2.3.0+cu121\n";
    let exported = "# This file may be used to create an environment using:\n# $ conda create --name <env> --file <this file>\n\
                    # platform: linux-64\nnumpy=1.21.5=py38_1\n";
    for (file, text, command, help) in [
        ("list.txt", conda, "`conda list`", "`gpuenv init --host list.txt`"),
        ("list.txt", pip, "`pip list`", "`gpuenv init --host list.txt`"),
        ("requirements.txt", conda, "`conda list`", "`gpuenv init --host - < requirements.txt`"),
        ("requirements.txt", exported, "`conda list --export`", "conda env export > environment.yml"),
    ] {
        let sandbox = project("installed", &[(file, text)]);
        sandbox.run(&["init", "--from", file]).exits(2).says(command).says(help);
    }
    // What is asked for is taken as ever.
    drafted("asked", &[("requirements.txt", "# Name of the project\ntorch==2.3.0\n")], &[]);
}

/// Keys are written with and without blanks and quotes, and again in other tables.
#[test]
fn the_lines_of_poetrys_keys_are_told() {
    let poetry = "[tool.other]\ntorch = 1\n[tool.poetry]\nname = \"x\"\n[tool.poetry.dependencies]\npython=\"^3.10\"\n\
                  \"torch\" = \"^2.3\"\n[tool.poetry.group.dev.dependencies]\ntorchvision   = \"*\"\n";
    let sandbox = project("poetry-lines", &[("pyproject.toml", poetry)]);
    sandbox.run(&["init", "--from", "pyproject.toml", "--extra", "dev"]).exits(0);
    let spec: Vec<String> = sandbox.spec().lines().map(str::to_string).collect();
    for (key, place) in [("python", ":6"), ("torch ", ":7"), ("torchvision", ":9")] {
        let line = spec.iter().find(|line| line.starts_with(key)).unwrap();
        assert!(line.contains(&format!("pyproject.toml{place}")), "{line}");
    }
}

#[test]
fn an_environment_that_is_no_yaml_is_called_that() {
    let sandbox = project("no-yaml", &[("environment.yml", "hello: [\n")]);
    let ran = sandbox.run(&["init", "--from", "environment.yml"]).exits(2);
    ran.says("this is not YAML").says("correct or shorten it there, or leave the file out; nothing was written");
}

/// `poetry export` writes the Pythons of the project behind each line: one that is typed decides them.
#[test]
fn conditions_on_python_are_decided_by_the_one_that_is_typed() {
    let exported = "numpy==1.26.4 ; python_version >= \"3.10\" and python_version < \"3.13\"\n\
                    torch==2.5.1 ; python_version >= \"3.10\" and python_version < \"3.13\"\n\
                    tomli==2.0.1 ; python_version < \"3.11\"\n";
    let files = [("requirements.txt", exported)];
    let (spec, told) = drafted("markers", &files, &["--python", "3.11"]);
    assert!(spec.contains(&"numpy=\"==1.26.4\"".to_string()), "{spec:#?}");
    assert!(!spec.iter().any(|line| line.starts_with("tomli")), "{spec:#?}");
    assert_eq!(left(&told), ["requirements.txt:3 tomli==2.0.1 ; python_version < \"3.11\""]);
    // Of a range, and of none, the one that gets locked decides.
    for (python, line) in [(&["--python", ">=3.10"][..], "python=\">=3.10\""), (&[], "python=\"3.12\"")] {
        let (spec, told) = drafted("markers-open", &files, python);
        assert!(spec.contains(&"numpy=\"==1.26.4\"".to_string()) && spec.contains(&line.to_string()), "{spec:#?}");
        assert_eq!(left(&told), ["requirements.txt:3 tomli==2.0.1 ; python_version < \"3.11\""]);
    }
}
