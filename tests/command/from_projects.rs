//! `gpuenv init --from`, against what real projects made of it: frameworks beside each other, forks of a lock, environments
//! within images, commands in their order, conda's libraries, overrides and conditions.

use serde_json::Value;

use super::from::{drafted, left, project};
use crate::common::sandbox::Sandbox;

fn has(lines: &[String], wanted: &str) -> bool {
    lines.iter().any(|line| line == wanted)
}

fn no_conflict(told: &Value) -> bool {
    told["conflicts"] == serde_json::json!([])
}

/// As openvla and gemma: TensorFlow that reads data on the CPU, beside a torch or JAX that computes on the GPU. Without its
/// extra it brings no CUDA, so both go into one environment.
#[test]
fn a_framework_without_its_cuda_leaves_the_gpu_to_the_other() {
    for (list, stack) in [
        ("torch==2.2.0\ntensorflow==2.15.0\n", ["torch=\"2.2.0\"", "tensorflow=\"2.15.0,<2.15.0.post1,+cpu\""]),
        ("jax[cuda12]==0.4.30\ntensorflow-cpu==2.16.1\n", ["tensorflow=\"2.16.1+cpu\"", "jax=\"0.4.30+cu12\""]),
        ("jax==0.4.30\ntensorflow-cpu==2.16.1\n", ["tensorflow=\"2.16.1+cpu\"", "jax=\"0.4.30\""]),
        // Asked for with their CUDA, both bring it; before TensorFlow had an extra, its wheels were for that of the system.
        ("torch==2.3.1\ntensorflow[and-cuda]==2.16.1\n", ["torch=\"2.3.1\"", "tensorflow=\"2.16.1\""]),
        ("torch==2.0.1\ntensorflow==2.12.0\n", ["torch=\"2.0.1\"", "tensorflow=\"2.12.0\""]),
    ] {
        let (lines, told) = drafted("both", &[("requirements.txt", list)], &["--gpu", "A100-SXM4-80GB"]);
        assert_eq!(lines[1..3], stack, "{list}");
        assert!(list.contains("and-cuda") || left(&told).is_empty() && no_conflict(&told), "{list}{told:#}");
    }
    let sandbox = project("both-locked", &[("requirements.txt", "torch==2.2.0\ntensorflow==2.15.0\n")]);
    sandbox.run(&["init", "--from", "requirements.txt", "--gpu", "A100-SXM4-80GB"]).exits(0);
    sandbox.run(&["lock"]).exits(0).says("tensorflow 2.15.0+cpu").says("torch 2.2.0+cu121");
    let exported = sandbox.run(&["export", "requirements"]).exits(0).out;
    assert!(exported.contains("\ntensorflow==2.15.0\n"), "{exported}");
    // Alone it has nobody to leave a GPU to.
    let alone = Sandbox::new("cpu-alone", "[stack]\ntensorflow = \"2.15.0+cpu\"\n[target.a]\ngpu = \"L4\"\n");
    alone.run(&["lock"]).exits(1).says("holds no GPU code");
}

/// As DeepLabCut's lock: of what was locked several times the extra that is taken decides, and the Python that gets locked.
#[test]
fn forks_of_a_lock_are_decided() {
    let public = "source = { registry = \"https://example.org/simple\" }";
    let row = |name: &str, version: &str, marker: &str| {
        format!("    {{ name = \"{name}\", version = \"{version}\", {public}, marker = \"{marker}\" }},\n")
    };
    let package =
        |name: &str, version: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{public}\n\n");
    let text = [
        "version = 1\nrequires-python = \">=3.10\"\n\n[[package]]\nname = \"demo\"\nversion = \"0\"\n".to_string(),
        "source = { virtual = \".\" }\ndependencies = [\n".to_string(),
        row("torch", "2.0.1", "extra == 'extra-4-demo-old'"),
        row("torch", "2.6.0", "extra == 'extra-4-demo-new' or extra != 'extra-4-demo-old'"),
        row("scipy", "1.15.3", "python_full_version < '3.11'"),
        row("scipy", "1.17.1", "python_full_version == '3.11.*'"),
        row("scipy", "1.18.1", "python_full_version >= '3.12'"),
        "]\n[package.optional-dependencies]\n".to_string(),
        format!("new = [\n{}]\nold = [\n{}]\n\n", row("torch", "2.6.0", ""), row("torch", "2.0.1", "")),
        package("torch", "2.0.1"),
        package("torch", "2.6.0"),
        package("scipy", "1.15.3"),
        package("scipy", "1.17.1"),
        package("scipy", "1.18.1"),
    ]
    .concat();
    let files = [("uv.lock", text.as_str())];
    for (more, torch, python, scipy) in [
        (&["--gpu", "L4"][..], "2.6.0", "python=\"3.13\"", "scipy=\"==1.18.1\""),
        (&["--gpu", "L4", "--extra", "new"], "2.6.0", "python=\"3.13\"", "scipy=\"==1.18.1\""),
        (&["--gpu", "L4", "--extra", "old"], "2.0.1", "python=\"3.10\"", "scipy=\"==1.15.3\""),
        (&["--gpu", "L4", "--python", "3.10"], "2.6.0", "python=\"3.10\"", "scipy=\"==1.15.3\""),
    ] {
        let (lines, told) = drafted("forks", &files, more);
        for line in [&format!("torch=\"{torch}\""), python, scipy] {
            assert!(has(&lines, line), "{more:?} {line}: {lines:#?}");
        }
        let extras = if more.contains(&"--extra") { 1 } else { 2 };
        let told = left(&told).iter().filter(|line| line.contains("torch")).count();
        assert!(told <= extras, "{more:?}: {told}");
    }
}

/// As AReaL and roop: conditions are decided for the machine and the Python that get locked, and left where nothing is.
#[test]
fn conditions_are_decided_by_what_gets_locked() {
    let list = "torch==2.6.0\ntkinterdnd2==0.3.0; sys_platform != 'darwin' and platform_machine != 'arm64'\n\
                tilelang==0.1.6; platform_machine == 'x86_64' and sys_platform == 'linux'\n\
                numpy<2; python_version < '3.13'\nnumpy>=2.1; python_version >= '3.13'\n";
    let (lines, told) = drafted("decided", &[("requirements.txt", list)], &["--gpu", "L4"]);
    for line in ["tkinterdnd2=\"==0.3.0\"", "tilelang=\"==0.1.6\"", "numpy=\">=2.1\"", "python=\"3.13\""] {
        assert!(has(&lines, line), "{line}: {lines:#?}");
    }
    assert_eq!(left(&told), ["requirements.txt:4 numpy<2; python_version < '3.13'"]);
    let (lines, _) = drafted("decided-arm", &[("requirements.txt", list)], &["--gpu", "GH200"]);
    assert!(!lines.iter().any(|line| line.starts_with("tilelang")), "{lines:#?}");
}

/// As aurora, dia and VILA: an environment of its own in an image sees neither the torch nor the Python of the image.
#[test]
fn an_environment_within_an_image_is_its_own() {
    let file = |run: &str| format!("FROM nvcr.io/nvidia/pytorch:24.08-py3\nRUN {run}\nRUN pip install torch==2.6.0\n");
    for (run, python) in [
        ("uv venv --python 3.12", "3.12"),
        ("python3 -m venv /opt/venv", "3.10"),
        ("virtualenv /opt/venv", "3.10"),
        ("conda create -n x python=3.11", "3.11"),
    ] {
        let (lines, told) = drafted("apart", &[("Dockerfile", &file(run))], &["--gpu", "H100 SXM"]);
        assert!(has(&lines, "rule=\"torch-of-image\"") && no_conflict(&told), "{run}: {lines:#?}");
        assert!(has(&lines, &format!("python=\"{python}\"")), "{run}: {lines:#?}");
    }
    for run in ["uv venv --system-site-packages", "python -m pip install virtualenv", "apt-get install python3-venv"] {
        let (lines, _) = drafted("not-apart", &[("Dockerfile", &file(run))], &["--gpu", "H100 SXM"]);
        assert!(!has(&lines, "rule=\"torch-of-image\""), "{run}: {lines:#?}");
    }
}

/// As EasyR1 and verl: the pip of the image installs, so what it installs is for the Python of the image; and a wheel by its
/// file's name is that file.
#[test]
fn what_the_pip_of_an_image_installs_has_its_python() {
    let file =
        "FROM nvcr.io/nvidia/pytorch:24.08-py3\nRUN pip uninstall -y torch torchvision\nRUN pip install torch==2.6.0\n";
    let (lines, told) = drafted("python-of-image", &[("Dockerfile", file)], &["--gpu", "H100 SXM"]);
    assert!(has(&lines, "python=\"3.10\"") && no_conflict(&told), "{lines:#?}");
    let wheel = "flash_attn-2.7.4.post1+cu12torch2.6cxx11abiFALSE-cp310-cp310-linux_x86_64.whl";
    let run = format!(
        "FROM ubuntu:22.04\nRUN pip install torch==2.6.0\nRUN wget https://example.org/{wheel} && pip install {wheel}\n"
    );
    let (lines, told) = drafted("wheel", &[("Dockerfile", &run)], &[]);
    assert!(has(&lines, "flash-attn=\"2.7.4.post1\"") && has(&lines, "python=\"3.10\""), "{lines:#?}");
    assert_eq!(left(&told), [format!("Dockerfile:3 flash-attn @ {wheel}")]);
}

/// As TinyZero and verl: pip replaces what an earlier command installed.
#[test]
fn the_last_pin_of_a_dockerfile_counts() {
    let file = "FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\nRUN pip install torch==2.4.0 transformers==4.40.0 accelerate\n\
                RUN pip install flash-attn==2.7.0.post2\nRUN pip install flash-attn==2.5.8 transformers==4.46.0\n";
    let (lines, told) = drafted("last", &[("Dockerfile", file)], &[]);
    assert!(has(&lines, "flash-attn=\"2.5.8\"") && has(&lines, "transformers=\"==4.46.0\""), "{lines:#?}");
    assert_eq!(left(&told), ["Dockerfile:3 flash-attn==2.7.0.post2", "Dockerfile:2 transformers==4.40.0"]);
}

/// As DiffDock, RFdiffusion and nunchaku: what lies on an index of its own, and nightlies, are told where they are not carried.
#[test]
fn labels_and_nightlies_are_told() {
    for (list, told) in [
        (
            "--find-links https://data.pyg.org/whl/torch-1.13.1+cu117.html\ntorch==1.13.1+cu117\ntorch-scatter==2.1.0+pt113cu117\n",
            &["--find-links https://data.pyg.org/whl/torch-1.13.1+cu117.html", "torch-scatter==2.1.0+pt113cu117"][..],
        ),
        ("torch==1.13.1\nsomebodys==1.0.2+cu116\n", &["somebodys==1.0.2+cu116"]),
        (
            "--pre --index-url https://download.pytorch.org/whl/nightly/cu128\ntorch\n",
            &["--index-url https://download.pytorch.org/whl/nightly/cu128"],
        ),
    ] {
        let (_, document) = drafted("labels", &[("requirements.txt", list)], &[]);
        let all: Vec<String> = left(&document).iter().map(|one| one.split_once(' ').unwrap().1.to_string()).collect();
        assert_eq!(all, told, "{document:#}");
        assert!(!document["packages"].to_string().contains("somebodys"), "{document:#}");
    }
}

/// As RoseTTAFold and NeMo: conda's cuDNN, NCCL and toolkit are loaded by conda's packages, not by wheels.
#[test]
fn libraries_of_conda_bind_no_wheel() {
    let of_conda = "dependencies:\n  - python=3.10\n  - pytorch=2.0.1=py3.10_cuda11.8_cudnn8.7.0_0\n  - cudnn=8.8.0.121=hcdd5f01_4\n\
                    \x20 - nccl=2.20.5.1=h6103f9b_0\n  - cudatoolkit=11.8.0\n";
    let (lines, told) = drafted("conda-own", &[("environment.yml", of_conda)], &["--gpu", "A100-SXM4-80GB"]);
    assert!(has(&lines, "torch=\"2.0.1+cu118\"") && has(&lines, "cuda=\"11.8.0\"") && no_conflict(&told), "{lines:#?}");
    assert_eq!(left(&told), ["environment.yml:4 cudnn==8.8.0.121", "environment.yml:5 nccl==2.20.5.1"]);
    // Of two frameworks that conda builds for one toolkit the wheels are for two.
    let two = of_conda.replace("  - cudatoolkit", "  - tensorflow=2.11.0=cuda112py310he87a039_0\n  - cudatoolkit");
    let (lines, told) = drafted("conda-two", &[("environment.yml", &two)], &["--gpu", "A100-SXM4-80GB"]);
    assert!(!lines.iter().any(|line| line.starts_with("cuda=")) && no_conflict(&told), "{lines:#?}");
    let of_pip = "dependencies:\n  - python=3.10\n  - cudatoolkit=11.8.0\n  - pip:\n    - torch==2.7.1\n    - nvidia-nccl-cu12==2.26.2\n";
    let (lines, told) = drafted("conda-pip", &[("environment.yml", of_pip)], &["--gpu", "A100-SXM4-80GB"]);
    assert!(!lines.iter().any(|line| line.starts_with("cuda=")) && no_conflict(&told), "{lines:#?}");
    assert_eq!(left(&told)[0], "environment.yml:3 cudatoolkit=11.8.0");
    // The wheels of TensorFlow before 2.14 load what conda installs.
    let of_system = "dependencies:\n  - cudatoolkit=11.8\n  - cudnn=8.6.0\n  - pip:\n    - tensorflow==2.12.0\n";
    let (lines, _) = drafted("conda-system", &[("environment.yml", of_system)], &[]);
    assert!(has(&lines, "cudnn=\"8.6.0\"") && has(&lines, "toolkit=\"11.8\""), "{lines:#?}");
}

/// As AReaL: uv installs an override in place of what anybody asks for.
#[test]
fn an_override_of_uv_takes_the_place() {
    let text = "[project]\nname = \"x\"\nversion = \"0\"\ndependencies = [\"torch==2.9.1\", \"numpy<2\", \"nvidia-cudnn-cu12==9.16.0.29\"]\n\
                [tool.uv]\noverride-dependencies = [\"nvidia-cudnn-cu12==9.16.0.29\", \"numpy>=2.1\", \"xgrammar==0.1.25\"]\n";
    let (lines, told) = drafted("override", &[("pyproject.toml", text)], &["--gpu", "H100 SXM"]);
    assert!(has(&lines, "numpy=\">=2.1\"") && !lines.iter().any(|line| line.starts_with("cudnn")), "{lines:#?}");
    assert!(no_conflict(&told), "{told:#}");
    assert_eq!(left(&told), ["pyproject.toml:6 xgrammar==0.1.25", "pyproject.toml:6 nvidia-cudnn-cu12==9.16.0.29"]);
}

/// As composer: values within values; what is no image is told, and no error speaks of a file that was never written.
#[test]
fn values_within_values_are_read() {
    let file = "ARG CUDA=11.8.0\nARG OS=22.04\nARG BASE=${CUDA:+\"nvidia/cuda:${CUDA}-cudnn8-devel-ubuntu${OS}\"}\n\
                ARG BASE=${BASE:-\"ubuntu:${OS}\"}\nFROM ${BASE}\nRUN pip install torch==2.1.0\n";
    let image = |file: &str| drafted("nested", &[("Dockerfile", file)], &[]).0;
    assert!(has(&image(file), "image=\"nvidia/cuda:11.8.0-cudnn8-devel-ubuntu22.04\""));
    let none = file.replacen("CUDA=11.8.0", "CUDA=", 1);
    assert!(has(&image(&none), "image=\"ubuntu:22.04\""), "{:#?}", image(&none));
    let (lines, told) = drafted("no-image", &[("Dockerfile", "FROM a:b:c\nRUN pip install torch==2.1.0\n")], &[]);
    assert!(!lines.iter().any(|line| line.starts_with("image")), "{lines:#?}");
    assert_eq!(left(&told), ["Dockerfile:1 FROM a:b:c"]);
}

/// As rllm, NeMo and Qwen-VL: of several files those that can be read are, and one that is named is not asked for again.
#[test]
fn several_files_are_read_as_far_as_they_can_be() {
    let dynamic = "[project]\nname = \"x\"\nversion = \"1\"\ndynamic = [\"dependencies\"]\n\
                   [tool.setuptools.dynamic]\ndependencies = { file = [\"requirements.txt\"] }\n";
    let files = [
        ("poetry.lock", "# made\n"),
        (
            "Dockerfile",
            "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\nCOPY requirements.txt .\nRUN pip install -r requirements.txt\nRUN uv sync\n",
        ),
        ("requirements.txt", "torch==2.5.1\n"),
        ("pyproject.toml", dynamic),
    ];
    let sandbox = project("several", &files);
    let mut named = vec!["init"];
    files.iter().for_each(|(name, _)| named.extend(["--from", name]));
    let ran = sandbox.run(&named).exits(0).says("poetry.lock: it is not known what kind of file this is");
    assert!(!ran.err.contains("name that with --from too"), "{ran:?}");
    assert!(sandbox.spec().contains("torch = \"2.5.1\""), "{}", sandbox.spec());
    project("alone", &files[..1]).run(&["init", "--from", "poetry.lock"]).exits(2);
    let (_, told) = drafted("dynamic", &files[3..], &[]);
    assert_eq!(left(&told), ["pyproject.toml:4 dynamic = [\"dependencies\"] requirements.txt"]);
    let poetry = "[tool.poetry.dependencies]\npython = \"^3.10\"\ntorch = \"=2.7.0\"\nnumpy = \"=1.26.4\"\n";
    let (lines, told) = drafted("poetry-equals", &[("pyproject.toml", poetry)], &[]);
    assert!(
        has(&lines, "torch=\"==2.7.0\"") && has(&lines, "numpy=\"==1.26.4\"") && left(&told).is_empty(),
        "{lines:#?}"
    );
}

/// As graphcast and stardist: what stands in setup.py and setup.cfg as it is, and what the program makes.
#[test]
fn a_setup_is_read_as_far_as_it_stands_there() {
    let literal = "from setuptools import setup\n# install_requires=[\"no\"]\nsetup(\n    install_requires=[\n        \"torch>=2.1\",  # ours\n\
                   \x20       'numpy<2',\n    ],\n    extras_require={\"dev\": [\"pytest\"]},\n    python_requires=\">=3.9\",\n)\n";
    let (lines, told) = drafted("setup", &[("setup.py", literal)], &[]);
    for line in ["torch=\">=2.1\"", "numpy=\"<2\"", "python=\">=3.9\""] {
        assert!(has(&lines, line), "{line}: {lines:#?}");
    }
    assert_eq!(left(&told), ["setup.py:8 extras_require"]);
    let named = "needs = [\n    \"torch>=2.1\",\n]\nsetup(install_requires=needs, name=\"x\")\n";
    for (text, is_read) in [(named.to_string(), true), (named.replace("]\n", "]\nneeds.append(\"x\")\n"), false)] {
        let (lines, told) = drafted("setup-named", &[("setup.py", &format!("import x\n{text}"))], &[]);
        assert_eq!((has(&lines, "torch=\">=2.1\""), left(&told).is_empty()), (is_read, is_read), "{text}{lines:#?}");
    }
    for made in ["install_requires=read(\"x\")", "install_requires=[\"torch\"] + more", "install_requires=[torch]"] {
        let (_, told) = drafted("setup-made", &[("setup.py", &format!("setup({made})\n"))], &[]);
        assert_eq!(left(&told), ["setup.py:1 install_requires"], "{made}");
    }
    let config = "[metadata]\nname = x\n[options]\npython_requires = >=3.9\ninstall_requires =\n    torch>=2.1\n    # why\n    numpy<2\n\
                  packages = find:\n";
    let (lines, told) = drafted("setup-cfg", &[("setup.cfg", config)], &[]);
    assert!(has(&lines, "torch=\">=2.1\"") && has(&lines, "numpy=\"<2\"") && left(&told).is_empty(), "{lines:#?}");
    let file = "[options]\ninstall_requires = file: requirements.txt\n";
    assert_eq!(left(&drafted("setup-file", &[("setup.cfg", file)], &[]).1), ["setup.cfg:2 file: requirements.txt"]);
}
