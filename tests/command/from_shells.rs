//! `gpuenv init --from`: words of a shell as programs are given them, which of its branches run, whose an index is, and what pages,
//! wheels and conda's toolkits say. Each failed in a public project, or in a small file made after one.

use serde_json::Value;

use super::from::drafted;

/// A file, what the draft must hold of it, and what not.
type Case<'t> = (&'t str, &'t str, &'t [&'t str], &'t [&'t str]);

fn holds(file: &str, head: &str, cases: &[Case<'_>]) -> Vec<Value> {
    let one = |(name, text, wanted, not): &Case<'_>| {
        let (lines, told) = drafted(&format!("shells-{name}"), &[(file, &format!("{head}{text}"))], &["--gpu", "A100"]);
        for line in *wanted {
            assert!(lines.iter().any(|one| one == line), "{name}: {line} is not in {lines:#?}");
        }
        for begin in *not {
            assert!(!lines.iter().any(|one| one.starts_with(begin)), "{name}: {begin} is in {lines:#?}");
        }
        assert_eq!(told["conflicts"], serde_json::json!([]), "{name}: {told:#}");
        told
    };
    cases.iter().map(one).collect()
}

const IMAGE: &str = "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\n";

#[test]
fn words_are_read_in_the_order_of_the_shell() {
    let told = holds(
        "Dockerfile",
        IMAGE,
        &[
            // As MatterSim: a command within an option.
            (
                "subst",
                "RUN uv pip install --no-cache --python $(which python3) torch==2.6.0 numpy\n",
                &["torch=\"2.6.0\"", "numpy=\"*\""],
                &[],
            ),
            (
                "site",
                "RUN pip install --target $(python3 -c \"import site; print(site.x()[0])\") torch==2.6.0\n",
                &["torch=\"2.6.0\""],
                &[],
            ),
            (
                "escape",
                "RUN pip install torch\\>=2.5,\\<2.7 numpy\\<2 vllm\\==0.8.4\n",
                &["torch=\">=2.5,<2.7\"", "numpy=\"<2\"", "vllm=\"0.8.4\""],
                &[],
            ),
            (
                "several",
                "ENV P=\"torch==2.6.0 torchvision==0.21.0\" A=\"--index-url https://download.pytorch.org/whl/cu126\"\nRUN pip install $A $P\n",
                &["torch=\"2.6.0+cu126\"", "torchvision=\"0.21.0\""],
                &[],
            ),
            (
                "loop",
                "RUN for p in torch==2.6.0 \"xformers==0.0.29.post3\"; do pip install --no-deps \"$p\" || exit 1; done && pip install einops\n",
                &["torch=\"2.6.0\"", "xformers=\"0.0.29.post3\"", "einops=\"*\""],
                &[],
            ),
            (
                "fields",
                "ARG CUDA=12.6.3\nRUN pip install torch==2.6.0 -i https://download.pytorch.org/whl/cu$(echo $CUDA | cut -d. -f1,2 | tr -d .)\n",
                &["torch=\"2.6.0+cu126\""],
                &[],
            ),
            ("changed", "ARG CUDA=12.6\nRUN pip install torch==2.6.0+cu${CUDA//./}\n", &["torch=\"2.6.0+cu126\""], &[]),
            ("lost", "RUN pip install $(cat /v) 'torch==2.6.0' \"$UNKNOWN\"\n", &["torch=\"2.6.0\""], &[]),
        ],
    );
    assert!(told[0]["left"].is_null(), "{:#}", told[0]);
    let lost: Vec<&str> = told[7]["left"].as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap()).collect();
    assert_eq!(lost, ["$(cat /v)", "$UNKNOWN"]);
}

#[test]
fn an_image_in_quotes_is_one() {
    let text = "FROM \"nvidia/cuda:12.4.1-runtime-ubuntu22.04\" AS a\nRUN pip install torch==2.6.0\nFROM a\n";
    holds(
        "Dockerfile",
        "",
        &[("quoted", text, &["image=\"nvidia/cuda:12.4.1-runtime-ubuntu22.04\"", "torch=\"2.6.0\""], &[])],
    );
}

/// As FastVideo's, whose `uv venv` names its Python by an argument.
#[test]
fn a_python_is_named_by_a_value_too() {
    let run = |make: &str| {
        format!("FROM nvidia/cuda:12.8.1-devel-ubuntu22.04\nARG V=3.11\nRUN {make} && uv pip install torch==2.7.1\n")
    };
    for (name, make) in [
        ("venv", "uv venv --python ${V}"),
        ("venv-p", "uv venv -p $V"),
        ("venv-glued", "uv venv --python=python$V"),
        ("miniconda", "bash Miniconda3-py311_24.1.2-0-Linux-x86_64.sh -b"),
    ] {
        holds("Dockerfile", "", &[(name, &run(make), &["python=\"3.11\""], &[])]);
    }
    let env = "FROM ubuntu:22.04\nENV UV_PYTHON=3.11\nRUN uv venv && uv pip install torch==2.7.1\n";
    // Any package of the system's Python brings it.
    let system = "FROM nvidia/cuda:12.9.1-devel-ubuntu22.04\nRUN apt-get install -y python3-distutils\nRUN python3 get-pip.py && pip3 install torch==2.8.0\n";
    holds(
        "Dockerfile",
        "",
        &[("uv-python", env, &["python=\"3.11\""], &[]), ("apt", system, &["python=\"3.10\""], &[])],
    );
}

#[test]
fn the_processor_decides_its_tests() {
    let two = |test: &str| format!("RUN {test}; then pip install torch==2.6.0; else pip install torch==2.5.1; fi\n");
    let (uname, target) =
        (two("arch=$(uname -m); if [ \"$arch\" = x86_64 ]"), two("if [ \"$TARGETARCH\" != \"arm64\" ]"));
    let case = "RUN case \"$(dpkg --print-architecture)\" in amd64) pip install torch==2.6.0 ;; arm64) pip install torch==2.5.1 ;; esac\n";
    let platform = "ARG TARGETPLATFORM\nRUN case ${TARGETPLATFORM} in \"linux/arm64\"|linux/arm*) V=2.5.1 ;; *) V=2.6.0 ;; esac && pip install torch==$V\n";
    let or = "RUN pip install torch==2.6.0 || pip install torch==2.5.1\n";
    let open = two("if [ \"$FAST\" = 1 ]");
    let wanted: &[&str] = &["torch=\"2.6.0\""];
    let cases = [
        ("uname", &*uname),
        ("target", &*target),
        ("case", case),
        ("platform", platform),
        ("or", or),
        ("open", &*open),
    ];
    for (name, text) in cases {
        holds("Dockerfile", IMAGE, &[(name, text, wanted, &[])]);
        let arm = drafted(
            &format!("shells-arm-{name}"),
            &[("Dockerfile", &format!("{IMAGE}{text}"))],
            &["--arch", "aarch64"],
        )
        .0;
        let of_arm = if ["or", "open"].contains(&name) { "torch=\"2.6.0\"" } else { "torch=\"2.5.1\"" };
        assert!(arm.iter().any(|line| line == of_arm), "{name}: {arm:#?}");
    }
}

#[test]
fn an_index_goes_with_what_is_replaced() {
    let of = |cuda: &str| format!("--index-url https://download.pytorch.org/whl/{cuda}");
    let run = |first: &str, then: &str| format!("RUN pip install {first}\nRUN pip install {then}\n");
    let (old, new) = (of("cu121"), of("cu128"));
    for (name, text, wanted) in [
        ("later-index", run(&format!("torch==2.5.1 {old}"), &format!("torch==2.8.0 {new}")), "torch=\"2.8.0+cu128\""),
        ("later-plain", run(&format!("torch==2.5.1 {old}"), "torch==2.8.0"), "torch=\"2.8.0\""),
        (
            "of-another",
            run(&format!("torchvision==0.21.0 {old}"), "torch==2.8.0 torchvision==0.23.0"),
            "torch=\"2.8.0\"",
        ),
        ("of-any", run(&format!("torch {old}"), "torch==2.6.0"), "torch=\"2.6.0\""),
        ("range", run(&format!("\"torch<2.5\" {old}"), "\"torch>=2.8\""), "torch=\">=2.8\""),
        ("there", run(&format!("torch==2.5.1 {old}"), &format!("torch {new}")), "torch=\"2.5.1+cu121\""),
        ("forced", run("torch==2.8.0", &format!("--force-reinstall torch==2.8.0 {new}")), "torch=\"2.8.0+cu128\""),
        ("brought", run(&format!("torchvision==0.20.1 {old}"), "torch==2.5.1"), "torch=\"2.5.1+cu121\""),
    ] {
        holds("Dockerfile", IMAGE, &[(name, &text, &[wanted], &[])]);
    }
}

/// As Genesis and aphrodite-engine.
#[test]
fn a_stage_counts_for_what_is_taken_of_it() {
    let build = "FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel AS builder\nRUN pip install --prefix=/install cmake==3.31.6 vllm==0.8.4\n\
                 FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\nRUN pip install einops\n";
    let with = |copy: &str| format!("{build}COPY --from=builder {copy}\n");
    let (output, prefix) = (with("/src/build/bin /opt/app/bin"), with("/install /deps"));
    let export = format!("{IMAGE}RUN pip install torch==2.6.0\nFROM scratch AS export\nCOPY --from=0 /w/x.whl /\n");
    let image = "image=\"nvidia/cuda:12.4.1-devel-ubuntu22.04\"";
    holds(
        "Dockerfile",
        "",
        &[
            ("output", &output, &["einops=\"*\""], &["cmake", "vllm"]),
            ("prefix", &prefix, &["vllm=\"0.8.4\""], &[]),
            ("export", &export, &["torch=\"2.6.0\"", image], &[]),
        ],
    );
}

#[test]
fn pages_and_wheels_say_which_torch_and_python_they_are_for() {
    holds(
        "requirements.txt",
        "",
        &[
            (
                "kaolin",
                "-f https://nvidia-kaolin.s3.us-east-2.amazonaws.com/torch-2.1.2_cu118.html\ntorch\nkaolin==0.17.0\n",
                &["torch=\"2.1+cu118\""],
                &[],
            ),
            (
                "pyg",
                "-f https://data.pyg.org/whl/torch-2.3.0+cu121.html\ntorch\ntorch-scatter\n",
                &["torch=\"2.3+cu121\""],
                &[],
            ),
            (
                "mmcv",
                "-f https://download.openmmlab.com/mmcv/dist/cu118/torch2.1/index.html\ntorch\nmmcv==2.1.0\n",
                &["torch=\"2.1+cu118\""],
                &[],
            ),
            (
                "pinned",
                "-f https://data.dgl.ai/wheels/torch-2.4/cu124/repo.html\ntorch==2.6.0\ndgl\n",
                &["torch=\"2.6.0+cu124\""],
                &[],
            ),
            (
                "kaldi",
                "torch==2.4.1\nhttps://x.org/kaldifeat-1.25.5+cuda12.1.torch2.4.1-cp38-cp38-linux_x86_64.whl\n",
                &["python=\"3.8\""],
                &[],
            ),
            // The index has another program by this name.
            ("apex", "torch==2.2.0\napex==0.1\n", &["torch=\"2.2.0\""], &["apex"]),
        ],
    );
}

#[test]
fn the_toolkit_of_conda_is_that_of_what_loads_it() {
    let of = |specs: &str| format!("dependencies:\n  - {}\n", specs.replace('|', "\n  - "));
    // As SLEAP, whose TensorFlow loads any CUDA 11.
    let tf = of("python=3.8|tensorflow=2.7.0|conda-forge::cudatoolkit ==11.3.1|cudnn=8.2.1");
    let pip = of("python=3.9|cudatoolkit=11.8|cudnn=8.6|pip:\n    - tensorflow==2.10.0");
    let label = of(
        "pytorch=2.1.2|pytorch-cuda=11.8|pip:\n    - --extra-index-url https://download.pytorch.org/whl/cu121\n    - xformers==0.0.23.post1",
    );
    let forge = of("python=3.11|pytorch=2.5.1|cuda-version=12.6");
    let glob = of("python=3.11|pytorch=2.5.*=cuda126*|cuda-version=12.6");
    holds(
        "environment.yml",
        "",
        &[
            ("tf", &tf, &["toolkit=\"11.3.1\"", "cudnn=\"8.2.1\""], &["cuda="]),
            ("tf-pip", &pip, &["toolkit=\"11.8\"", "cudnn=\"8.6\""], &["cuda="]),
            ("label", &label, &["torch=\"2.1.2\"", "cuda=\"11.8\""], &[]),
            ("forge", &forge, &["torch=\"2.5.1\""], &["cuda="]),
            ("glob", &glob, &["torch=\"2.5\""], &["cuda="]),
        ],
    );
}

#[test]
fn tables_of_other_tools_are_read() {
    let head = "[project]\nname = \"x\"\n";
    let pixi = "[tool.pixi.dependencies]\npython = \"3.12.*\"\npytorch-gpu = \"2.6.*\"\n[tool.pixi.pypi-dependencies]\nvllm = \"==0.8.4\"\n";
    let rapids = "dependencies = [\"cupy-cuda13x\", \"pylibcugraph==26.10.*,>=0.0.0a0\"]\n[tool.rapids-build-backend]\nbuild-backend = \"x\"\n";
    holds(
        "pyproject.toml",
        head,
        &[
            ("rapids", rapids, &["pylibcugraph-cu13=\"==26.10.*,>=0.0.0a0\""], &["pylibcugraph="]),
            ("pixi", pixi, &["torch=\"2.6\"", "vllm=\"0.8.4\"", "python=\"3.12\""], &[]),
        ],
    );
}
