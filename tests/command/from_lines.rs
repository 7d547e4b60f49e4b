//! `gpuenv init --from`: what several lines ask of one package, which lines count, and that none is lost. Each is after what
//! public projects write; which one stands beside it.

use serde_json::Value;

use super::from::{drafted, left, project};

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
        // Each is for other Pythons: the one that gets locked decides.
        (
            "torch>=2.0; python_version < \"3.9\"\ntorch<2.6; python_version >= \"3.9\"\n",
            "torch=\"<2.6\"",
            &["requirements.txt:1 torch>=2.0; python_version < \"3.9\""],
        ),
        // As InvokeAI: the version of a build, where that build is.
        ("torch~=2.7\ntorch==2.7.1+cu128; platform_machine != 'aarch64'\n", "torch=\"2.7.1+cu128\"", &[]),
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
        let (lines, told) = drafted("pins", &files, &["--extra", "dev"]);
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
        ("UV_TORCH_BACKEND=cu124 uv pip install torch==2.6.0 999", "torch=\"2.6.0+cu124\"", &["Dockerfile:2 999"]),
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
        // Nothing says which.
        ("pip install .", &[], &[]),
        ("uv sync --no-dev --extra $UNKNOWN", &[], &[]),
    ] {
        let docker = format!("FROM python:3.12-slim\nRUN {command}\n");
        let (lines, told) = drafted("named", &[("pyproject.toml", EXTRAS), ("Dockerfile", &docker)], &[]);
        let taken = |name: &&str| lines.iter().any(|line| line.starts_with(&format!("{name}=")));
        let seen: Vec<&str> = ["vllm", "deepspeed", "auto-gptq"].into_iter().filter(taken).collect();
        assert_eq!(seen, stack, "{command}");
        let taken: Vec<&str> = told["packages"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        assert_eq!(taken, packages, "{command}");
        assert_eq!(told["conflicts"].as_array().map_or(0, Vec::len), usize::from(stack.len() == 3), "{told:#}");
    }
    let (_, told) = drafted("unnamed", &[("pyproject.toml", EXTRAS)], &[]);
    let known = "quant: auto-gptq==0.5.1; serve: vllm, fastapi; train: deepspeed";
    assert_eq!(
        left(&told),
        [&format!("pyproject.toml:7 {known}"), "pyproject.toml:11 dev: pytest; lint: ruff; more: peft"]
    );
    assert!(why(&told, known).contains("take one with --extra"), "{told:#}");
    // What another extra brings is not told again.
    let (lines, told) = drafted("asked", &[("pyproject.toml", EXTRAS)], &["--extra", "train", "--extra", "serve"]);
    assert!(has(&lines, "vllm=\"*\"") && has(&lines, "deepspeed=\"*\"") && has(&lines, "peft=\"*\""), "{lines:#?}");
    assert_eq!(left(&told).len(), 2, "{told:#}");
    let sandbox = project("no-extra", &[("pyproject.toml", EXTRAS)]);
    sandbox
        .run(&["init", "--from", "pyproject.toml", "--extra", "gpu"])
        .exits(2)
        .says("they have dev, lint, more, quant");
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

/// As the lists of ControlNet and many others: an option of pip behind a requirement. pip reads it on a line of its own only;
/// who wrote it there meant it all the same.
#[test]
fn options_behind_a_requirement_do_not_lose_it() {
    for (list, line, told) in [
        (
            "torch==2.0.1+cu118 -f https://download.pytorch.org/whl/torch_stable.html\ntorchvision==0.15.2\n",
            "torch=\"2.0.1+cu118\"",
            &["requirements.txt:1 -f https://download.pytorch.org/whl/torch_stable.html"][..],
        ),
        ("torch==2.0.1 --extra-index-url https://download.pytorch.org/whl/cu118\n", "torch=\"2.0.1+cu118\"", &[]),
        ("torch==2.0.1 --index-url=https://download.pytorch.org/whl/cu118\n", "torch=\"2.0.1+cu118\"", &[]),
        (
            "jax==0.4.30 -f https://storage.googleapis.com/jax-releases/jax_cuda_releases.html\n",
            "jax=\"0.4.30\"",
            &["requirements.txt:1 -f https://storage.googleapis.com/jax-releases/jax_cuda_releases.html"],
        ),
        ("torch==2.4.0 --hash=sha256:00 \\\n    --hash=sha256:11\n", "torch=\"2.4.0\"", &[]),
    ] {
        let (lines, document) = drafted("behind", &[("requirements.txt", list)], &[]);
        assert!(has(&lines, line), "{list}{lines:#?}");
        assert_eq!(left(&document), told, "{list}");
    }
}

/// As axolotl's docker/Dockerfile-uv-base: what a command sets for itself counts as what ENV sets, and ends with the command.
#[test]
fn variables_of_one_command_count() {
    let index = "https://download.pytorch.org/whl";
    for (run, torch) in [
        ("ARG BACKEND=cu126\nRUN UV_TORCH_BACKEND=$BACKEND uv pip install torch==2.6.0".to_string(), "2.6.0+cu126"),
        (format!("RUN PIP_EXTRA_INDEX_URL={index}/cu121 pip install torch==2.1.0"), "2.1.0+cu121"),
        (format!("RUN export PIP_INDEX_URL={index}/cu121 && pip install torch==2.1.0"), "2.1.0+cu121"),
        ("RUN <<EOF\nexport V=2.1.0\npip install torch==$V\nEOF".to_string(), "2.1.0"),
        ("RUN V=2.1.0; pip install torch==${V}".to_string(), "2.1.0"),
        ("ARG V=\"\"\nRUN pip install torch==${V:-2.1.0}".to_string(), "2.1.0"),
    ] {
        let (lines, told) = drafted("one-command", &[("Dockerfile", &format!("FROM ubuntu:22.04\n{run}\n"))], &[]);
        assert!(has(&lines, &format!("torch=\"{torch}\"")), "{run}: {lines:#?}");
        assert_eq!(left(&told), Vec::<String>::new());
    }
    // What has ended, or what a condition sets, is not known.
    for (run, line) in [
        ("V=2.1.0; echo $V\nRUN pip install torch==$V", 3),
        ("if [ -x a ]; then V=2.0.0; else V=2.1.0; fi; pip install torch==$V", 2),
    ] {
        let (_, told) =
            drafted("one-command-ended", &[("Dockerfile", &format!("FROM ubuntu:22.04\nRUN {run}\n"))], &[]);
        assert_eq!(left(&told), [format!("Dockerfile:{line} torch==$V")]);
    }
    let list = "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN TORCH_CUDA_ARCH_LIST=8.0 pip install torch==2.6.0 .\n";
    assert!(has(&drafted("one-command-list", &[("Dockerfile", list)], &[]).0, "[build]"));
}

/// As the same file: an index that is empty unless somebody sets it.
#[test]
fn an_empty_value_is_a_value() {
    let file = "FROM ubuntu:22.04\nARG INDEX=\"\"\nARG EXTRA\nENV EXTRA=\n\
                RUN uv pip install --index-url \"$INDEX\" torch==2.6.0 torchvision\n\
                RUN pip install $EXTRA --find-links \"$EXTRA\" torchaudio==2.6.0\n";
    let (lines, told) = drafted("empty", &[("Dockerfile", file)], &[]);
    assert!(has(&lines, "torch=\"2.6.0\"") && has(&lines, "torchvision=\"*\""), "{lines:#?}");
    assert!(has(&lines, "torchaudio=\"2.6.0\""), "{lines:#?}");
    assert_eq!(left(&told), Vec::<String>::new());
}

/// As verl and axolotl: of what NVIDIA publishes a framework brings what its own metadata asks for, and nothing else.
#[test]
fn a_framework_brings_what_its_metadata_asks_for() {
    let others = "nvidia-ml-py==12.560.30\nnvidia-modelopt\nnvidia-mathdx\nnvidia-cuda-nvcc-cu12==12.4.131\n";
    let list = format!("torch==2.6.0\nnvidia-cublas-cu12==12.4.5.8\nnvidia-cusparselt-cu12\n{others}");
    let (_, told) = drafted("nvidias", &[("requirements.txt", &list)], &[]);
    let packages = ["nvidia-cuda-nvcc-cu12==12.4.131", "nvidia-mathdx", "nvidia-ml-py==12.560.30", "nvidia-modelopt"];
    assert_eq!(told["packages"], serde_json::json!(packages));
    let brought = ["requirements.txt:2 nvidia-cublas-cu12==12.4.5.8", "requirements.txt:3 nvidia-cusparselt-cu12"];
    assert_eq!(left(&told), brought);
    assert!(why(&told, "cublas").contains("comes with the framework"), "{told:#}");
    // TensorFlow's extra asks for that nvcc; the torch of vLLM is not written.
    for (first, brought) in [("tensorflow[and-cuda]==2.17.0", true), ("vllm==0.6.6", false), ("cupy-cuda12x", false)] {
        let list = format!("nvidia-cuda-nvcc-cu12\nnvidia-ml-py\n{first}\n");
        let (_, told) = drafted("nvidias-first", &[("requirements.txt", &list)], &[]);
        assert_eq!(left(&told).len(), usize::from(brought), "{told:#}");
        assert_eq!(told["packages"].as_array().map(Vec::len), Some(2 - usize::from(brought)), "{told:#}");
    }
    let (_, told) = drafted("nvidias-vllm", &[("requirements.txt", "vllm==0.6.6\nnvidia-cublas-cu12\n")], &[]);
    assert_eq!(left(&told), ["requirements.txt:2 nvidia-cublas-cu12"]);
    let (_, told) = drafted("nvidias-cupy", &[("requirements.txt", "cupy-cuda12x\nnvidia-cuda-nvrtc-cu12\n")], &[]);
    assert_eq!(told["packages"], serde_json::json!(["nvidia-cuda-nvrtc-cu12"]));
}

/// As <https://github.com/pyg-team/pytorch_geometric> and <https://github.com/pytorch/ignite> tell to install them: what conda
/// calls otherwise than the package index, where another package may have the name.
#[test]
fn names_of_conda_mean_their_package() {
    let list = "dependencies:\n  - python=3.10\n  - pytorch=2.1.0\n  - pyg\n  - ignite\n  - pytorch-scatter\n  - pytorch_sparse=0.6.18\n\
                \x20 - apex\n  - libtorch\n";
    let (lines, told) = drafted("conda-names", &[("environment.yml", list)], &[]);
    assert_eq!(told["packages"], serde_json::json!(["pytorch-ignite", "torch-geometric"]));
    assert!(has(&lines, "torch-scatter=\"*\"") && has(&lines, "torch-sparse=\"0.6.18\""), "{lines:#?}");
    assert_eq!(left(&told), ["environment.yml:8 apex, libtorch"]);
    assert!(why(&told, "apex").contains("of conda alone"), "{told:#}");
}

/// As verl's docker/verl0.5-cu126-torch2.7.1-fa2.8.0/Dockerfile.base: the torch of NVIDIA's image goes, and another comes.
#[test]
fn a_torch_that_takes_the_place_of_the_images_is_an_override() {
    let file = "FROM nvcr.io/nvidia/pytorch:24.08-py3\nRUN pip uninstall -y torch torchvision\n";
    let again = format!("{file}RUN pip install torch==2.7.1 torchvision\n");
    let (lines, told) = drafted("uninstalled", &[("Dockerfile", &again)], &[]);
    assert!(has(&lines, "[[override]]") && has(&lines, "rule=\"torch-of-image\""), "{lines:#?}");
    assert_eq!((left(&told), &told["conflicts"]), (Vec::new(), &serde_json::json!([])));
    // Without another one nothing is set aside, and of an image without torch there is nothing to.
    let (lines, told) = drafted("uninstalled-only", &[("Dockerfile", file)], &[]);
    assert!(!has(&lines, "[[override]]") && why(&told, "uninstall").contains("torch-of-image"), "{lines:#?}");
    let none = again.replace("nvcr.io/nvidia/pytorch:24.08-py3", "nvidia/cuda:12.6.3-base-ubuntu22.04");
    assert!(!has(&drafted("uninstalled-none", &[("Dockerfile", &none)], &[]).0, "[[override]]"));
}

/// What bears on a stack is told, wherever it stands; what does not belong to one is none of its packages.
#[test]
fn what_bears_on_a_stack_is_told() {
    let file = "FROM nvidia/cuda:12.3.2-base-ubuntu22.04\nENV CC=gcc-11 CXX=g++-11\n\
                ENV LD_LIBRARY_PATH=/usr/local/cuda/compat:$LD_LIBRARY_PATH\nENV LD_LIBRARY_PATH=/opt/lib CC=cc\n\
                RUN apt-get install -y libcusparse-12-3 libcurl4\nRUN pip install --upgrade pip && pip install torch==2.6.0\n";
    let (_, told) = drafted("bears", &[("Dockerfile", file)], &[]);
    let compat = "Dockerfile:3 LD_LIBRARY_PATH=/usr/local/cuda/compat:$LD_LIBRARY_PATH";
    let all = [
        "Dockerfile:2 CC=gcc-11",
        "Dockerfile:2 CXX=g++-11",
        compat,
        "Dockerfile:5 libcusparse-12-3",
        "Dockerfile:6 pip",
    ];
    assert_eq!(left(&told), all);
    assert_eq!(told["packages"], Value::Null);
}

/// What pip refuses is no version that somebody asked for: it is named, and nothing is made up of it.
#[test]
fn what_pip_cannot_read_is_named() {
    for line in
        ["torch==2.6 2.7", "torch==", "torch===", "torch=2.6", "torch 2.6", "torch~2.6", "torch=>2.6", "torch==2.6,"]
    {
        let (lines, document) = drafted("unread", &[("requirements.txt", &format!("{line}\ntorchvision\n"))], &[]);
        assert!(!lines.iter().any(|one| one.starts_with("torch=")), "{line}: {lines:#?}");
        assert!(why(&document, line).contains("pip cannot read"), "{line}");
    }
    for (line, meant) in
        [("torch == 2.6.0+cu124", "torch=\"2.6.0+cu124\""), ("torch (>= 2.6, < 2.8)", "torch=\">=2.6,<2.8\"")]
    {
        let (lines, document) = drafted("read", &[("requirements.txt", line)], &[]);
        assert!(has(&lines, meant) && left(&document).is_empty(), "{line}: {lines:#?}");
    }
}

/// `[stack]` has no extras: those that nothing in the lock stands for are named.
#[test]
fn extras_of_the_stack_are_named() {
    let list =
        "vllm[audio]==0.8.5\ntorch[opt-einsum]==2.6.0\ncupy-cuda12x[ctk]\ndeepspeed[1bit-mpi]\njax[cuda12,k8s]\n";
    let (_, document) = drafted("stack-extras", &[("requirements.txt", list)], &[]);
    for (text, extra) in [
        ("vllm[audio]", "[audio]"),
        ("torch[opt-einsum]", "[opt-einsum]"),
        ("cupy-cuda12x[ctk]", "[ctk]"),
        ("deepspeed[1bit-mpi]", "[1bit-mpi]"),
        ("jax[cuda12,k8s]", "[k8s]"),
    ] {
        assert!(why(&document, text).contains(extra), "{text}: {document:#}");
    }
    for held in ["transformer-engine[pytorch]", "tensorflow[and-cuda]", "jax[cuda12]"] {
        let (_, document) = drafted("held-extras", &[("requirements.txt", held)], &[]);
        assert!(left(&document).is_empty(), "{held}: {document:#}");
    }
}

/// As environments of RAPIDS: the CUDA of the file gives the name, wherever it stands, and what conda alone has is named.
#[test]
fn the_cuda_of_an_environment_names_its_packages() {
    let file = "dependencies:\n  - rapids=24.12\n  - cudf=24.12\n  - cuml=24.12\n  - dask-cudf\n  - cupy\n  \
                - cuda-version>=12.0,<=12.5\n  - python-graphviz\n  - graphviz\n  - nb_conda_kernels\n  \
                - cuda-libraries-dev\n  - pytorch3d\n  - jax\n  - jaxlib=*=*cuda*\n  - python=3.12\n";
    let (lines, document) = drafted("rapids", &[("environment.yml", file)], &[]);
    for line in
        ["cudf-cu12=\"24.12\"", "cuml-cu12=\"24.12\"", "cupy-cuda12x=\"*\"", "dask-cudf-cu12=\"*\"", "graphviz=\"*\""]
    {
        assert!(has(&lines, line), "{line}: {lines:#?}");
    }
    assert!(why(&document, "rapids").contains("of conda alone"));
    for name in ["nb_conda_kernels", "cuda-libraries-dev", "pytorch3d", "graphviz"] {
        assert!(why(&document, "rapids").contains("of conda alone"), "{name}");
        let text = document["left"].to_string();
        assert!(text.contains(name), "{name}: {text}");
    }
    assert!(why(&document, "jaxlib").contains("it comes with the framework"), "{document:#}");
    // Without a CUDA nobody knows which.
    let (_, document) = drafted("rapids-open", &[("environment.yml", "dependencies:\n  - cudf\n  - dask-cudf\n")], &[]);
    assert!(why(&document, "cudf").contains("for each major of CUDA"), "{document:#}");
}

/// As llama-cpp-python's Dockerfile: what its build is told is named, and asks for `[build]` where it is to compile for CUDA.
#[test]
fn settings_of_a_build_are_named() {
    let file = "FROM nvidia/cuda:12.5.0-devel-ubuntu22.04\nRUN uv venv --python 3.10 /venv\n\
                RUN MAX_JOBS=4 CMAKE_ARGS=\"-DGGML_CUDA=on\" PIP_NO_CACHE_DIR=1 pip install llama-cpp-python\n";
    let (lines, document) = drafted("llama", &[("Dockerfile", file)], &[]);
    assert!(has(&lines, "python=\"3.10\"") && has(&lines, "cuda-extensions=true"), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.starts_with("torch")), "{lines:#?}");
    assert!(why(&document, "CMAKE_ARGS=-DGGML_CUDA=on").contains("a setting of what is built"));
    assert!(why(&document, "MAX_JOBS=4").contains("a setting of what is built"));
    assert!(!document["left"].to_string().contains("PIP_NO_CACHE_DIR"), "{document:#}");
    for line in ["python3.10 -m venv /venv", "python3.10 -m pip install torch", "virtualenv -p python3.10 /venv"] {
        let (lines, _) = drafted("venv", &[("Dockerfile", &format!("FROM ubuntu:22.04\nRUN {line}\n"))], &[]);
        assert!(has(&lines, "python=\"3.10\""), "{line}: {lines:#?}");
    }
}
