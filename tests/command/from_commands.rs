//! `gpuenv init --from`: what a command installs beside its words: lists and projects with the index of the command, in its place,
//! as commands before it left them. Each was lost or got another build in a public project, or in a small file made after one.

use serde_json::Value;

use super::from::{drafted, left};

fn has(lines: &[String], wanted: &str) -> bool {
    lines.iter().any(|line| line == wanted)
}

/// Runs `init` on some files.
fn of(name: &str, files: &[(&str, &str)], more: &[&str]) -> (Vec<String>, Value) {
    let more = [&["--gpu", "A100-PCIE-40GB"], more].concat();
    drafted(&format!("commands-{name}"), files, &more)
}

const INDEX: &str = "https://download.pytorch.org/whl/cu118";

/// As lmdeploy: an index in the command, in the list above or below, in a variable or in the settings of pip.
#[test]
fn an_index_is_that_of_all_that_a_command_installs() {
    let list = ("requirements.txt", "torch==2.3.1\nxformers\n");
    for command in [
        "RUN pip install -r requirements.txt --extra-index-url PLACE",
        "RUN pip install --index-url=PLACE -r requirements.txt && pip cache purge",
        "RUN uv pip install --system --torch-backend=cu118 -r requirements.txt",
        "RUN pip install -f PLACE/torch_stable.html -r requirements.txt",
        "ENV PIP_EXTRA_INDEX_URL=PLACE\nRUN pip install -r requirements.txt",
        "RUN pip config set global.extra-index-url PLACE && pip install -r requirements.txt",
        "RUN pip install -i PLACE torchvision -r requirements.txt",
        "RUN pip install -r requirements.txt torchvision -i PLACE",
    ] {
        let docker = format!("FROM nvidia/cuda:11.8.0-runtime-ubuntu22.04\n{}\n", command.replace("PLACE", INDEX));
        let (lines, told) = of("index", &[("Dockerfile", &docker), list], &[]);
        assert!(has(&lines, "torch=\"2.3.1+cu118\"") && left(&told).is_empty(), "{command}: {lines:#?} {told:#}");
    }
    let option = format!("--extra-index-url {INDEX}\n");
    let (above, below) = (format!("{option}-r base.txt\n"), format!("{option}numpy\n"));
    let conda = format!("dependencies:\n  - python=3.10\n  - pip:\n    - {option}    - -r base.txt\n");
    let project = "[project]\nname = \"x\"\nversion = \"0\"\ndependencies = [\"torch==2.3.1\"]\n";
    let docker = format!("FROM nvidia/cuda:11.8.0-runtime-ubuntu22.04\nRUN pip install . {option}");
    for (name, files) in [
        ("above", [("requirements.txt", above.as_str()), ("base.txt", "torch==2.3.1\n")]),
        ("below", [("requirements.txt", "-r base.txt\ntorch==2.3.1\n"), ("base.txt", &below)]),
        ("conda", [("environment.yml", &conda), ("base.txt", "torch==2.3.1\n")]),
        ("project", [("Dockerfile", &docker), ("pyproject.toml", project)]),
    ] {
        let (lines, told) = of(name, &files, &[]);
        assert!(has(&lines, "torch=\"2.3.1+cu118\""), "{name}: {lines:#?} {told:#}");
    }
    // What is fetched is another project.
    let docker = format!(
        "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN git clone https://example.org/a && cd a && pip install . {option}"
    );
    let (lines, _) = of("fetched", &[("Dockerfile", &docker), ("pyproject.toml", project)], &[]);
    assert!(has(&lines, "torch=\"2.3.1\""), "{lines:#?}");
}

/// As habitat-lab: how conda was activated for years.
#[test]
fn a_line_within_a_line_is_read() {
    for (command, torch) in [
        ("/bin/bash -c \"source activate e && pip install torch==2.3.1\"", "torch=\"2.3.1\""),
        ("bash -lc 'pip install torch==$V'", "torch=\"2.3.1\""),
        ("sh -c \"pip install torch==$V\"", "torch=\"2.3.1\""),
        ("su user -c 'pip install torch==2.3.1'", "torch=\"2.3.1\""),
        ("conda run -n e bash -c \"pip install 'torch==2.3.1' -i PLACE\"", "torch=\"2.3.1+cu118\""),
        ("sh -c \"bash -c 'pip install torch==2.3.1'\"", "torch=\"2.3.1\""),
        ("conda install zsh -c pytorch pytorch==2.3.1", "torch=\"2.3.1\""),
    ] {
        let text = format!("FROM ubuntu:22.04\nARG V=2.3.1\nRUN {}\n", command.replace("PLACE", INDEX));
        let (lines, _) = of("within", &[("Dockerfile", &text)], &[]);
        assert!(has(&lines, torch), "{command}: {lines:#?}");
    }
    let deep = (0..5).fold("pip install torch==2.3.1".to_string(), |line, _| format!("bash -c {line:?}"));
    let (lines, _) = of("deep", &[("Dockerfile", &format!("FROM x\nRUN {deep}\n"))], &[]);
    assert!(has(&lines, "torch=\"2.3.1\""), "{lines:#?}");
    let itself = "FROM x\nARG X='bash -c \"$X\"; bash -c \"$X\"'\nRUN bash -c \"$X\"\n";
    of("itself", &[("Dockerfile", itself)], &[]);
}

/// As Step-Audio, FastAPI's images and NVIDIA's: lists under other names, and with lines taken out.
#[test]
fn a_list_is_what_commands_made_of_it() {
    let list = ("requirements.txt", "torch==2.3.1\nnumpy<2\n");
    for (name, command, is_told) in [
        ("copy", "COPY requirements.txt /tmp/r.txt\nRUN pip install -r /tmp/r.txt -i PLACE", false),
        ("mount", "RUN --mount=type=bind,source=requirements.txt,target=/r.txt pip install -r /r.txt -i PLACE", false),
        ("cp", "RUN cp requirements.txt r.txt && pip install -r r.txt -i PLACE", false),
        ("other", "COPY more/r.txt /tmp/r.txt\nRUN pip install -r /tmp/r.txt -i PLACE", true),
    ] {
        let docker = format!("FROM nvidia/cuda:11.8.0-runtime-ubuntu22.04\n{}\n", command.replace("PLACE", INDEX));
        let (lines, told) = of(name, &[("Dockerfile", &docker), list], &[]);
        assert_eq!(
            (has(&lines, "torch=\"2.3.1+cu118\""), left(&told).is_empty()),
            (!is_told, !is_told),
            "{name}: {told:#}"
        );
    }
    for command in [
        "sed -i '/torch/d' requirements.txt && pip install -r requirements.txt",
        "sed -i -e '/^torch\\(vision\\)\\?==/d;/nothing/d' requirements.txt && pip install -r requirements.txt",
        "sed -E '/torch(vision|)==/d' requirements.txt > /tmp/r.txt && pip install -r /tmp/r.txt",
        "grep -v '^torch' requirements.txt > r.txt && pip install -r r.txt",
        "grep -vE 'torch|apex' requirements.txt | xargs pip install",
        "cat requirements.txt | grep -v torch | pip install -r /dev/stdin",
        "pip install -r <(grep -iv TORCH requirements.txt)",
        "sed -i 's/torch==2.3.1/torch==2.4.0/' requirements.txt && pip install -r requirements.txt",
    ] {
        let docker = format!("FROM nvcr.io/nvidia/pytorch:24.05-py3\nCOPY requirements.txt .\nRUN {command}\n");
        let (lines, told) = of("filtered", &[("Dockerfile", &docker), list], &[]);
        assert!(has(&lines, "numpy=\"<2\"") && told["conflicts"] == serde_json::json!([]), "{command}: {told:#}");
        assert_eq!(left(&told), ["requirements.txt:1 torch==2.3.1"], "{command}");
    }
    // What nobody can tell is not counted.
    let docker = "FROM nvcr.io/nvidia/pytorch:24.05-py3\nRUN sed -i '2,$!d' requirements.txt && pip install -r requirements.txt\n";
    let (_, told) = of("unread", &[("Dockerfile", docker), list], &[]);
    assert_eq!(left(&told), ["requirements.txt:1 torch==2.3.1", "requirements.txt:2 numpy<2"]);
}

#[test]
fn the_newest_takes_the_place_and_what_is_taken_out_is_gone() {
    let list = ("requirements.txt", "torch>=2.0\nxformers==0.0.27\n");
    for (name, command, lines) in [
        (
            "words",
            "pip install -qU torch --index-url https://download.pytorch.org/whl/cu121",
            &["torch=\"+cu121\""][..],
        ),
        (
            "list",
            "pip install --upgrade -r requirements.txt",
            &["torch=\">=2.0\"", "xformers=\"0.0.27,<0.0.27.post1\""],
        ),
    ] {
        let docker = format!("FROM pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime\nRUN {command}\n");
        let files = [("Dockerfile", docker.as_str()), list];
        let (found, told) = of(name, &files[..lines.len()], &[]);
        let wanted = ["rule=\"torch-of-image\"", "python=\"3.10\""].iter().chain(lines);
        wanted.for_each(|line| assert!(has(&found, line), "{name} {line}: {found:#?} {told:#}"));
    }
    let docker = "FROM nvidia/cuda:12.1.1-runtime-ubuntu22.04\nRUN pip install -r requirements.txt && pip uninstall -y xformers\n\
                  RUN pip install torch==2.4.0 --dry-run\n";
    let (lines, told) = of("uninstalled", &[("Dockerfile", docker), list], &[]);
    assert!(has(&lines, "torch=\">=2.0\"") && !lines.iter().any(|line| line.starts_with("xformers")), "{lines:#?}");
    assert_eq!(left(&told), ["requirements.txt:2 xformers==0.0.27"]);
}

/// As Kokoro-FastAPI: a source under the condition of a processor or a Python.
#[test]
fn a_source_counts_where_its_condition_holds() {
    let index = |name: &str, cuda: &str| {
        format!(
            "[[tool.uv.index]]\nname = \"{name}\"\nurl = \"https://download.pytorch.org/whl/{cuda}\"\nexplicit = true\n"
        )
    };
    let text = |first: &str, second: &str| {
        let (old, new) = (index("a", "cu126"), index("b", "cu129"));
        format!(
            "[project]\nname = \"x\"\nversion = \"0\"\nrequires-python = \">=3.10\"\ndependencies = [\"torch==2.8.0\"]\n\
             [tool.uv.sources]\ntorch = [{{ index = \"a\", marker = \"{first}\" }}, {{ index = \"b\", marker = \"{second}\" }}]\n{old}{new}"
        )
    };
    let of_arch = text("platform_machine == 'x86_64'", "platform_machine == 'aarch64'");
    let of_python = text("python_version < '3.13'", "python_version >= '3.13'");
    for (name, text, more, torch) in [
        ("x86", &of_arch, &[][..], "torch=\"2.8.0+cu126\""),
        ("arm", &of_arch, &["--arch", "aarch64", "--gpu", "GH200"], "torch=\"2.8.0+cu129\""),
        ("old", &of_python, &["--python", "3.12"], "torch=\"2.8.0+cu126\""),
        ("new", &of_python, &["--python", "3.13"], "torch=\"2.8.0+cu129\""),
    ] {
        let gpu = if more.contains(&"--gpu") { &[][..] } else { &["--gpu", "A100-PCIE-40GB"] };
        let (lines, told) = drafted(&format!("sources-{name}"), &[("pyproject.toml", text)], &[gpu, more].concat());
        assert!(has(&lines, torch) && left(&told).is_empty(), "{name}: {lines:#?} {told:#}");
    }
}

/// As Step-Audio and NeMo Automodel: ONNX Runtime for another CUDA, and a cuBLAS laid over that of torch.
#[test]
fn what_is_not_the_public_indexs_is_not_judged_as_that() {
    let list = "--extra-index-url https://example.org/_packaging/onnxruntime-cuda-12/pypi/simple/\ntorch==2.3.1\nonnxruntime-gpu==1.18.1\n";
    let (lines, told) = of("own-index", &[("requirements.txt", list)], &[]);
    assert!(has(&lines, "cuda=\"12\"") && !lines.iter().any(|line| line.starts_with("onnx")), "{lines:#?}");
    assert_eq!(left(&told).len(), 2, "{told:#}");
    let text = "[project]\nname = \"x\"\nversion = \"0\"\nrequires-python = \">=3.12\"\n\
                dependencies = [\"torch==2.10.0\", \"transformer-engine[pytorch]==2.15.0\"]\n[tool.uv]\n\
                override-dependencies = [\"nvidia-cublas==CUBLAS; sys_platform == 'linux'\"]\n[tool.uv.sources]\ntorch = { index = \"t\" }\n\
                [[tool.uv.index]]\nname = \"t\"\nurl = \"https://download.pytorch.org/whl/cu130\"\nexplicit = true\n";
    for (cublas, conflicts) in [("13.4.1.1", 0), ("13.1.0.3", 1)] {
        let (_, told) = of("laid-over", &[("pyproject.toml", &text.replace("CUBLAS", cublas))], &[]);
        assert_eq!(told["conflicts"].as_array().map_or(0, Vec::len), conflicts, "{cublas}: {told:#}");
    }
}

/// As UNO and SAM 2.
#[test]
fn a_python_and_a_setup_are_read_as_installers_do() {
    let text = "[project]\nname = \"x\"\nversion = \"0\"\nrequires-python = \">=3.10, <=3.12\"\ndependencies = [\"torch>=2.4.0\"]\n";
    let (lines, _) = of("python", &[("pyproject.toml", text)], &[]);
    assert!(has(&lines, "python=\">=3.10,<3.12\""), "{lines:#?}");
    let text = "# Required dependencies\nREQUIRED = [\n    \"torch==2.6.0\",\n]\nsetup(name=\"x\", install_requires=REQUIRED)\n";
    for text in [text, text.split_once('\n').unwrap().1] {
        let (lines, told) = of("setup", &[("setup.py", text)], &[]);
        assert!(has(&lines, "torch=\"2.6.0\"") && left(&told).is_empty(), "{lines:#?} {told:#}");
    }
    let file = "FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\nRUN apt-get install -y python3-pip\n\
                RUN python3 -m venv /v && /v/bin/python -m pip install torch==2.3.1\n";
    assert!(has(&of("venv", &[("Dockerfile", file)], &[]).0, "python=\"3.10\""));
    let project = "[project]\nname = \"x\"\nversion = \"0\"\ndependencies = []\n[project.optional-dependencies]\ngpu = [\"torch==2.3.1\"]\n";
    for command in ["uv export --extra gpu -o r.txt && uv pip install -r r.txt", "pip install \"x[gpu] @ file:///app\""]
    {
        let docker = format!("FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\nRUN {command}\n");
        let (lines, told) = of("exported", &[("Dockerfile", &docker), ("pyproject.toml", project)], &[]);
        assert!(has(&lines, "torch=\"2.3.1\""), "{command}: {lines:#?} {told:#}");
    }
}
