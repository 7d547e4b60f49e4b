//! `gpuenv init --from`: into which environment of an image a command installs, what an image can compile, and what an index
//! or a tag tells. Each is after what public projects write.

use serde_json::Value;

use super::from::{drafted, left, project};

fn has(lines: &[String], wanted: &str) -> bool {
    lines.iter().any(|line| line == wanted)
}

fn no_conflict(told: &Value) -> bool {
    told["conflicts"] == serde_json::json!([])
}

fn docker(name: &str, text: &str, gpu: &str) -> (Vec<String>, Value) {
    drafted(name, &[("Dockerfile", text)], &["--gpu", gpu])
}

/// As fish-speech: a stage knows what the whole file and the stages that it is built on set, not what its neighbours do.
#[test]
fn values_come_from_the_stages_that_one_is_built_on() {
    let text = "ARG VARIANT=cu128\nARG BACKEND=cuda\nFROM nvidia/cuda:12.8.1-runtime-ubuntu24.04 AS base-cuda\nENV RELEASE=2.8.0\n\
                FROM python:3.12-slim AS base-cpu\nENV VARIANT=cpu RELEASE=2.6.0\nFROM base-${BACKEND} AS app\nARG VARIANT\n\
                RUN pip install torch==$RELEASE --index-url https://download.pytorch.org/whl/${VARIANT}\n";
    let (lines, told) = docker("stages", text, "H100 SXM");
    assert!(has(&lines, "torch=\"2.8.0+cu128\"") && no_conflict(&told), "{lines:#?}{told:#}");
}

/// As the Dockerfiles of ktransformers and Megatron-LM: of several environments one is taken, and the lines of the others are named.
#[test]
fn of_several_environments_one_is_taken() {
    let head = "FROM nvidia/cuda:12.8.1-devel-ubuntu24.04\n";
    let two = |one: &str, other: &str, more: &str| {
        format!("{head}{more}RUN {one} install six vllm==0.11.0\nRUN {other} install torch==2.7.1\n")
    };
    let conda = "RUN conda create -n serve python=3.12 -y && conda create -n tune python=3.11 -y\n";
    let venvs = "RUN python3 -m venv /opt/serve && python3 -m venv /opt/tune\n";
    for (name, text) in [
        ("two-conda", two("/opt/conda/envs/serve/bin/pip", "/opt/conda/envs/tune/bin/pip", conda)),
        ("two-venv", two("/opt/serve/bin/pip", "/opt/tune/bin/python -m pip", venvs)),
        ("two-run", two("conda run -n serve pip", "conda run --name=tune pip", conda)),
        ("two-active", two("conda activate serve && pip", ". activate tune && pip", conda)),
        ("two-uv", two("VIRTUAL_ENV=/opt/serve uv pip", "uv pip install --python /opt/tune/bin/python", venvs)),
    ] {
        let text = text.replace("tune/bin/python install", "tune/bin/python");
        let (lines, told) = docker(name, &text, "H100 SXM");
        assert!(has(&lines, "torch=\"2.7.1\"") && no_conflict(&told), "{name}: {lines:#?}");
        assert!(!lines.iter().any(|line| line.starts_with("vllm")), "{name}: {lines:#?}");
        assert!(left(&told).contains(&"Dockerfile:3 vllm==0.11.0".to_string()), "{name}: {told:#}");
        assert_eq!(has(&lines, "python=\"3.11\""), text.contains("conda create"), "{name}: {lines:#?}");
    }
    // What the last stage enters is meant.
    let path = two("pip", "/opt/tune/bin/pip", &format!("{venvs}ENV PATH=\"/opt/serve/bin:$PATH\"\n"));
    let path = path.replace("torch==2.7.1", "awscli").replace("install six", "install torch==2.8.0");
    let (lines, told) = docker("entered", &path, "H100 SXM");
    assert!(has(&lines, "vllm=\"0.11.0\"") && !has(&lines, "awscli=\"*\"") && no_conflict(&told), "{lines:#?}");
}

/// As Megatron-LM: an environment for a tool takes nothing from the image's torch, and what its pip installs is none of the stack.
#[test]
fn a_tool_of_its_own_does_not_set_the_image_aside() {
    let text = "FROM nvcr.io/nvidia/pytorch:25.06-py3\nRUN pip install einops \"torch>=2.6\"\n\
                RUN python -m venv /opt/tool && /opt/tool/bin/pip install awscli\n";
    let (lines, told) = docker("tool", text, "H100 SXM");
    assert!(!has(&lines, "rule=\"torch-of-image\"") && no_conflict(&told), "{lines:#?}");
    assert!(has(&lines, "einops=\"*\"") && !has(&lines, "awscli=\"*\""), "{lines:#?}");
    assert_eq!(left(&told), ["Dockerfile:3 awscli"]);
    let never = "[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"torch>=2.6\"]\n\
                 [tool.uv]\noverride-dependencies = [\"torch; sys_platform == 'never'\"]\n";
    let sandbox = project("never", &[("pyproject.toml", never)]);
    sandbox.run(&["init", "--from", "pyproject.toml"]).exits(0).says("it comes from the image or the system");
}

/// As infinity: a stage of which one file is copied, so that it runs, holds no environment.
#[test]
fn a_file_that_is_copied_is_no_environment() {
    let text = "FROM nvidia/cuda:12.4.1-base-ubuntu22.04 AS base\nFROM base AS builder\nRUN pip install torch==2.5.1\n\
                FROM builder AS testing\nRUN pip install vllm==0.5.0\nFROM base\nCOPY --from=builder /app /app\n\
                COPY --from=testing /app/result.txt /app/result.txt\n";
    let (lines, told) = docker("file", text, "L4");
    assert!(has(&lines, "torch=\"2.5.1\"") && no_conflict(&told), "{lines:#?}");
    assert!(left(&told).contains(&"Dockerfile:4 FROM builder".to_string()), "{told:#}");
}

/// As ai-toolkit: a list of architectures compiles nothing in an image without nvcc; and GroundingDINO, which installs one.
#[test]
fn an_image_without_nvcc_has_no_build() {
    let text = |flavour: &str| {
        format!(
            "FROM nvidia/cuda:12.8.1-{flavour}-ubuntu24.04\nENV TORCH_CUDA_ARCH_LIST=\"8.0 9.0\"\nRUN pip install torch==2.8.0\n"
        )
    };
    let (lines, told) = docker("runtime", &text("runtime"), "A100-SXM4-80GB");
    assert!(!has(&lines, "[build]") && no_conflict(&told), "{lines:#?}");
    let why = told["left"][0]["why"].as_str().unwrap();
    assert!(why.starts_with("no [build], for 12.8.1-runtime-ubuntu24.04 holds no nvcc"), "{why}");
    let (lines, _) = docker("devel", &text("devel"), "A100-SXM4-80GB");
    assert!(has(&lines, "[build]"), "{lines:#?}");
    let conda =
        "FROM pytorch/pytorch:2.1.2-cuda12.1-cudnn8-runtime\nRUN conda install -y -c nvidia/label/cuda-12.1.1 cuda\n";
    let (lines, told) = docker("labelled", conda, "A100-SXM4-80GB");
    assert!(has(&lines, "cuda=\"12.1\"") && no_conflict(&told), "{lines:#?}");
}

/// As physicsnemo: the index of a range binds what is installed, and the torch of the image meets the range.
#[test]
fn a_range_that_the_image_meets_has_no_index() {
    let project = "[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"torch>=2.6.0\"]\n\
                   [tool.uv.sources]\ntorch = { index = \"pytorch-cu128\" }\n\
                   [[tool.uv.index]]\nname = \"pytorch-cu128\"\nurl = \"https://download.pytorch.org/whl/cu128\"\nexplicit = true\n";
    let image = "FROM nvcr.io/nvidia/pytorch:25.06-py3\nRUN uv pip install --system -r pyproject.toml\n";
    let files = [("Dockerfile", image), ("pyproject.toml", project)];
    let (lines, told) = drafted("range", &files, &["--gpu", "H100 SXM"]);
    assert!(has(&lines, "torch=\">=2.6.0\"") && no_conflict(&told), "{lines:#?}");
    let (lines, _) = drafted("range-alone", &files[1..], &["--gpu", "H100 SXM"]);
    assert!(has(&lines, "torch=\">=2.6.0,+cu128\""), "{lines:#?}");
}

/// As DragGAN: conda's toolkit beside a torch that no wheel has for it; and yolov10, whose TensorFlow finds no CUDA of its own
/// beside that torch.
#[test]
fn what_is_beside_torch_does_not_choose_its_cuda() {
    let conda = |torch: &str| format!("dependencies:\n  - pytorch{torch}\n  - cudatoolkit=11.1\n");
    let (lines, told) = drafted("idle", &[("environment.yml", &conda(">=2.0.1"))], &["--gpu", "A100-SXM4-80GB"]);
    assert!(!lines.iter().any(|line| line.starts_with("cuda=")) && no_conflict(&told), "{lines:#?}");
    assert_eq!(left(&told), ["environment.yml:3 cudatoolkit=11.1"]);
    let (lines, _) = drafted("chosen", &[("environment.yml", &conda("=1.8.0"))], &["--gpu", "A100-SXM4-80GB"]);
    assert!(has(&lines, "cuda=\"11.1\""), "{lines:#?}");
    let image = "FROM pytorch/pytorch:2.2.0-cuda12.1-cudnn8-runtime\nRUN pip install \"tensorflow<=2.13.1\"\n";
    let (lines, told) = docker("beside", image, "T4");
    assert!(has(&lines, "tensorflow=\"<=2.13.1,+cpu\"") && no_conflict(&told), "{lines:#?}{told:#}");
    let (lines, _) = drafted("newer", &[("requirements.txt", "torch>=1.8\ntensorflow<=2.13.1\n")], &["--gpu", "T4"]);
    assert!(lines.iter().any(|line| line.starts_with("tensorflow=") && line.contains("+cpu")), "{lines:#?}");
}

/// As lmdeploy and yolov10 for Jetsons: the tag of an image and the path of an index tell the JetPack.
#[test]
fn a_jetpack_is_read_from_what_tells_it() {
    let (lines, told) =
        docker("l4t", "FROM nvcr.io/nvidia/l4t-base:r36.2.0\nRUN pip install torch\n", "Jetson AGX Orin 64GB");
    assert!(has(&lines, "os=\"jetpack6.0\"") && no_conflict(&told), "{lines:#?}");
    let image = "FROM nvcr.io/nvidia/l4t-pytorch:r35.2.1-pth2.0-py3\nRUN pip install ultralytics\n";
    let (lines, told) = docker("l4t-torch", image, "Jetson AGX Xavier");
    assert!(has(&lines, "os=\"jetpack5.1\"") && has(&lines, "torch=\"2.0\"") && no_conflict(&told), "{lines:#?}");
    let list = "--extra-index-url https://pypi.example/jp6/cu126/+simple/\ntorch\n";
    let (lines, told) = drafted("jetson", &[("requirements.txt", list)], &["--gpu", "Jetson AGX Orin 64GB"]);
    assert!(has(&lines, "os=\"jetpack6.2\"") && has(&lines, "torch=\"+cu126\"") && no_conflict(&told), "{lines:#?}");
}

/// As cosmos-predict2 and Protenix: an index and an image are named after what they hold.
#[test]
fn the_folder_of_an_index_and_a_tag_tell_what_they_hold() {
    let text = |name: &str, url: &str| {
        format!(
            "[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"torch==2.6.0\", \"natten==0.21.0\"]\n[tool.uv.sources]\n\
             torch = {{ index = \"{name}\" }}\nnatten = {{ index = \"{name}\" }}\n[[tool.uv.index]]\nname = \"{name}\"\nurl = \"{url}\"\n"
        )
    };
    for (name, url) in
        [("own", "https://x.example/deps/cu126_torch260/simple"), ("own-cu126", "https://x.example/simple")]
    {
        let (lines, told) = drafted("index", &[("pyproject.toml", &text(name, url))], &["--gpu", "A100-SXM4-80GB"]);
        assert!(has(&lines, "torch=\"2.6.0+cu126\""), "{name}: {lines:#?}");
        // What else lies there is none of the public index.
        assert!(!lines.iter().any(|line| line.starts_with("natten")) || !left(&told).is_empty(), "{told:#}");
    }
    let tag = "FROM example.com/preset/pytorch:2.7.1-cu12.6.3-py3.11-ubuntu22.04\nRUN pip install torch==2.7.1\n";
    let (lines, _) = docker("tag", tag, "A100-SXM4-80GB");
    assert!(has(&lines, "python=\"3.11\""), "{lines:#?}");
    let (lines, _) = docker("py3", &tag.replace("py3.11", "py3"), "A100-SXM4-80GB");
    assert!(!lines.iter().any(|line| line.starts_with("python")), "{lines:#?}");
}

/// As ModernBERT and GroundingDINO: conda's library beside its module, and an environment of Windows.
#[test]
fn conda_s_libraries_are_no_modules() {
    let text = "dependencies:\n  - python=3.9\n  - pytorch=2.0.1=py3.9_cuda11.8_cudnn8_0\n  - libopencv=4.5.3=py39h488c12c_8\n\
                \x20 - xxhash=0.8.2\n  - python-xxhash=3.5.0=py39h2bbff1b_0\n  - pywin32=305=py39h2bbff1b_0\n";
    let (lines, told) = drafted("modules", &[("environment.yml", text)], &[]);
    assert!(has(&lines, "xxhash=\"==3.5.0\""), "{lines:#?}");
    let told = left(&told);
    assert!(told.contains(&"environment.yml:7 pywin32==305".to_string()), "{told:#?}");
    assert!(told.iter().any(|line| line.contains("libopencv==4.5.3, xxhash==0.8.2")), "{told:#?}");
}

/// As open-instruct, HunyuanDiT, faster-whisper, IOPaint and infinity.
#[test]
fn what_the_draft_cannot_hold_is_named() {
    let index = "--extra-index-url https://pypi.ngc.nvidia.com\ntorch==2.5.1\n";
    let sandbox = project("index", &[("requirements.txt", index)]);
    sandbox
        .run(&["init", "--from", "requirements.txt"])
        .exits(0)
        .says("for what it alone has, name it to the installer");
    let made = project("extras", &[("setup.py", "setup(install_requires=['torch'], extras_require=more())\n")]);
    let ran = made.run(&["init", "--from", "setup.py", "--extra", "gpu"]).exits(2);
    ran.says("the extras of setup.py are made by a program");
    let image = "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nRUN pip install torch==2.5.1\n";
    let (lines, _) = drafted("name", &[("GPUDockerfile", image)], &[]);
    assert!(has(&lines, "torch=\"2.5.1\""), "{lines:#?}");
    let wheel =
        "RUN pip install https://x.example/flash_attn-2.8.3+cu12torch2.8cxx11abiFALSE-cp310-cp310-linux_x86_64.whl\n";
    let project = "[project]\nname = \"x\"\nversion = \"1\"\nrequires-python = \">=3.9,<3.14\"\ndependencies = [\"torch==2.8.0\"]\n";
    let files = [("Dockerfile", &*format!("FROM ubuntu:22.04\n{wheel}")), ("pyproject.toml", project)];
    let (lines, _) = drafted("wheel-python", &files, &[]);
    assert!(lines.iter().any(|line| line.starts_with("python=\"3.10")), "{lines:#?}");
    let open = files.map(|(name, text)| (name, text.replace("torch==2.8.0", "torch>=2.2")));
    let (lines, _) = drafted("wheel-torch", &[(open[0].0, &open[0].1), (open[1].0, &open[1].1)], &[]);
    assert!(lines.iter().any(|line| line.starts_with("torch=\"2.8")), "{lines:#?}");
    let system =
        "FROM nvidia/cuda:11.6.2-cudnn8-devel-ubuntu20.04\nRUN apt-get install -y python3-pip\nRUN pip install torch\n";
    let (lines, _) = drafted("system", &[("Dockerfile", system)], &[]);
    assert!(has(&lines, "python=\"3.8\""), "{lines:#?}");
    let conda = system.replace("RUN pip", "RUN /opt/conda/bin/pip");
    let (lines, _) = drafted("system-conda", &[("Dockerfile", &conda)], &[]);
    assert!(!has(&lines, "python=\"3.8\""), "{lines:#?}");
}

/// As open-instruct's lock: a version that an override put there is told as one.
#[test]
fn an_override_of_a_lock_is_named() {
    let public = "source = { registry = \"https://example.org/simple\" }";
    let text = format!(
        "version = 1\nrequires-python = \">=3.12\"\n\n[manifest]\noverrides = [{{ name = \"transformers\", specifier = \">=5.4.0\" }}]\n\n\
         [[package]]\nname = \"demo\"\nversion = \"0\"\nsource = {{ virtual = \".\" }}\ndependencies = [\n    {{ name = \"transformers\" }},\n    {{ name = \"torch\" }},\n]\n\n\
         [[package]]\nname = \"transformers\"\nversion = \"5.4.0\"\n{public}\n\n[[package]]\nname = \"torch\"\nversion = \"2.10.0\"\n{public}\n"
    );
    let (lines, told) = drafted("override", &[("uv.lock", &text)], &[]);
    assert!(has(&lines, "transformers=\"==5.4.0\""), "{lines:#?}");
    assert!(left(&told).iter().any(|line| line.ends_with("transformers==5.4.0")), "{told:#}");
}
