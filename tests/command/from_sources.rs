//! `gpuenv init --from`: from where a package comes, whether a command runs, what an image and a build string name. Each is
//! after what public projects write.

use serde_json::Value;

use super::from::{drafted, left, project};

fn has(lines: &[String], wanted: &str) -> bool {
    lines.iter().any(|line| line == wanted)
}

fn packages(told: &Value) -> Vec<&str> {
    told["packages"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// As openpi: a member of the workspace, a package from git, one of a folder and one of a company's index. None of them is
/// what the public index has by that name.
#[test]
fn what_comes_from_elsewhere_is_no_package_of_the_index() {
    let text = "[project]\nname = \"demo\"\nversion = \"1\"\nrequires-python = \">=3.10\"\n\
                dependencies = [\"torch==2.7.1\", \"member\", \"lerobot\", \"dlimp\", \"corp-lib>=1\", \"mirrored\", \"flash-attn\"]\n\
                [tool.uv.sources]\nmember = { workspace = true }\nlerobot = { git = \"https://example.org/lerobot\" }\n\
                dlimp = { path = \"../dlimp\" }\ncorp-lib = { index = \"corp\" }\nmirrored = { index = \"mirror\" }\n\
                torch = { index = \"corp\" }\n\
                flash-attn = { url = \"https://example.org/flash_attn-2.7.4.post1-cp310-cp310-linux_x86_64.whl\" }\n\
                [[tool.uv.index]]\nname = \"corp\"\nurl = \"https://corp.example/simple\"\n\
                [[tool.uv.index]]\nname = \"mirror\"\nurl = \"https://mirror.example/simple\"\ndefault = true\n";
    let (lines, told) = drafted("elsewhere", &[("pyproject.toml", text)], &[]);
    assert_eq!(packages(&told), ["mirrored"]);
    assert!(has(&lines, "torch=\"2.7.1\"") && has(&lines, "flash-attn=\"2.7.4.post1\""), "{lines:#?}");
    for name in ["member", "lerobot", "dlimp", "corp-lib>=1", "torch==2.7.1", "flash-attn @"] {
        assert!(left(&told).iter().any(|one| one.contains(&format!(" {name}"))), "{name}: {told:#}");
    }
    let poetry = "[tool.poetry.dependencies]\ntorch = \"2.7.1\"\ncorp-lib = { version = \"*\", source = \"corp\" }\n\
                  [[tool.poetry.source]]\nname = \"corp\"\nurl = \"https://corp.example/simple\"\n";
    let (_, told) = drafted("elsewhere-poetry", &[("pyproject.toml", poetry)], &[]);
    assert_eq!((packages(&told), left(&told)), (vec![], vec!["pyproject.toml:3 corp-lib".to_string()]));
}

/// As openpi's and nanochat's locks: sources of their own, extras of what is asked for, and extras that exclude each other.
#[test]
fn a_lock_of_uv_tells_sources_and_extras() {
    let public = "source = { registry = \"https://example.org/simple\" }";
    let package = |name: &str, version: &str, source: &str| {
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{source}\n\n")
    };
    let pytorch = |label: &str| format!("source = {{ registry = \"https://download.pytorch.org/whl/{label}\" }}");
    let row = |version: &str, label: &str, marker: &str| {
        format!("    {{ name = \"torch\", version = \"{version}\", {}, marker = \"{marker}\" }},\n", pytorch(label))
    };
    let own = format!(
        "dependencies = [\n    {{ name = \"lerobot\" }},\n    {{ name = \"fsspec\", extra = [\"gcs\"] }},\n    {{ name = \"corp-lib\" }},\n\
         \x20   {{ name = \"torch\", version = \"2.9.1\", {public}, marker = \"extra != 'extra-3-own-gpu' and extra != 'extra-3-own-cpu'\" }},\n\
         {}]\n[package.optional-dependencies]\ncpu = [\n{}]\ngpu = [\n{}]\n\n",
        row("2.9.1+cu128", "cu128", "extra == 'extra-3-own-gpu'"),
        row("2.9.1+cpu", "cpu", "extra == 'extra-3-own-cpu'"),
        row("2.9.1+cu128", "cu128", "sys_platform == 'linux'"),
    );
    let text = [
        "version = 1\nrequires-python = \">=3.12\"\n\n".to_string(),
        package("own", "1", "source = { editable = \".\" }") + &own,
        package("lerobot", "0.1.0", "source = { git = \"https://example.org/lerobot?rev=0#0\" }"),
        package("fsspec", "2025.3.0", public),
        package("corp-lib", "1.2", "source = { registry = \"https://corp.example/simple\" }"),
        package("torch", "2.9.1", public),
        package("torch", "2.9.1+cpu", &pytorch("cpu")),
        package("torch", "2.9.1+cu128", &pytorch("cu128")),
    ]
    .concat();
    let files = [("uv.lock", text.as_str())];
    let (lines, told) = drafted("lock-sources", &files, &[]);
    assert_eq!(packages(&told), ["fsspec[gcs]==2025.3.0"]);
    assert!(has(&lines, "torch=\"2.9.1\""), "{lines:#?}");
    for name in ["lerobot 0.1.0", "corp-lib==1.2", "cpu: torch==2.9.1+cpu; gpu: torch==2.9.1+cu128"] {
        assert!(left(&told).iter().any(|one| one.ends_with(name)), "{name}: {told:#}");
    }
    for (extra, torch) in [("gpu", "torch=\"2.9.1+cu128\""), ("cpu", "torch=\"2.9.1+cpu\"")] {
        assert!(has(&drafted("lock-extras", &files, &["--extra", extra]).0, torch), "{extra}");
    }
}

/// As nanochat: each of two extras has an index of its own, and what the project itself asks for has none.
#[test]
fn a_source_of_an_extra_is_that_extras() {
    let text = "[project]\nname = \"own\"\nversion = \"1\"\ndependencies = [\"torch==2.9.1\"]\n\
                [project.optional-dependencies]\ncpu = [\"torch==2.9.1\"]\ngpu = [\"torch==2.9.1\"]\n\
                [tool.uv]\nconflicts = [[{ extra = \"cpu\" }, { extra = \"gpu\" }]]\n\
                [tool.uv.sources]\ntorch = [{ index = \"c\", extra = \"cpu\" }, { index = \"g\", extra = \"gpu\" }]\n\
                [[tool.uv.index]]\nname = \"c\"\nurl = \"https://download.pytorch.org/whl/cpu\"\n\
                [[tool.uv.index]]\nname = \"g\"\nurl = \"https://download.pytorch.org/whl/cu128\"\n";
    let files = [("pyproject.toml", text)];
    for (more, torch) in [(&[][..], "2.9.1"), (&["--extra", "gpu"], "2.9.1+cu128"), (&["--extra", "cpu"], "2.9.1+cpu")]
    {
        let (lines, told) = drafted("sources-of-extras", &files, more);
        assert!(has(&lines, &format!("torch=\"{torch}\"")), "{more:?}: {lines:#?}");
        assert_eq!(left(&told).len(), 1, "{told:#}");
    }
}

/// As unsloth, of whose extras hundreds of lines are for other systems: of an extra that nobody installs they are not told.
#[test]
fn an_extra_is_told_in_one_line() {
    let text = "[project]\nname = \"own\"\nversion = \"1\"\ndependencies = [\"torch\"]\n[project.optional-dependencies]\n\
                a = [\"xformers; sys_platform == 'win32'\", \"xformers; sys_platform == 'linux'\"]\n\
                b = [\"x @ git+https://example.org/x\"]\n";
    let (_, told) = drafted("extras-told", &[("pyproject.toml", text)], &[]);
    let all =
        ["pyproject.toml:6 a: xformers; sys_platform == 'linux'", "pyproject.toml:7 b: x @ git+https://example.org/x"];
    assert_eq!(left(&told), all);
    let (_, told) = drafted("extras-taken", &[("pyproject.toml", text)], &["--extra", "a"]);
    assert_eq!(left(&told)[0], "pyproject.toml:6 xformers; sys_platform == 'win32'");
}

#[test]
fn no_password_is_told() {
    let list =
        "--extra-index-url https://me:s3cret@corp.example/simple\ntorch==2.6.0\ngit+https://t0ken@example.org/a.git\n";
    let sandbox = project("password", &[("requirements.txt", list)]);
    let ran = sandbox.run(&["init", "--from", "requirements.txt"]).exits(0).says("@corp.example/simple");
    assert!(!format!("{}{}{}", ran.out, ran.err, sandbox.spec()).contains("cret"), "{ran:?}");
    let (_, told) = drafted("password-json", &[("requirements.txt", list)], &[]);
    assert!(!told.to_string().contains("s3cret") && !told.to_string().contains("t0ken"), "{told:#}");
}

/// As AlphaFold, ESM and DeepSpeed list them: names of conda that the package index does not have, or has for something else.
#[test]
fn a_name_of_conda_is_carried_where_it_is_known() {
    let text = "dependencies:\n  - python=3.10\n  - pytorch=2.5.1\n  - hhsuite=3.3.0\n  - mmseqs2\n  - libaio\n  - rust\n  - openmm=7.5.1\n\
                \x20 - tqdm\n  - beautifulsoup4\n  - ruamel.yaml=0.17\n  - some-tool=1.0=py310h1234567_0\n  - conda=24.11.1\n  - wheel=0.37\n  - pip\n\
                \x20 - setuptools=59.5.0\n";
    let (_, told) = drafted("conda-names-known", &[("environment.yml", text)], &[]);
    let carried = ["beautifulsoup4", "ruamel-yaml==0.17.*", "setuptools==59.5.0", "some-tool==1.0", "tqdm"];
    assert_eq!(packages(&told), carried);
    let all = [
        "environment.yml:13 conda=24.11.1",
        "environment.yml:14 wheel=0.37",
        "environment.yml:4 hhsuite==3.3.0, mmseqs2, libaio, rust, openmm==7.5.1",
    ];
    assert_eq!(left(&told), all);
}

/// As conda-forge calls its builds; what no wheel is built for is told.
#[test]
fn the_cuda_of_a_build_of_conda_is_taken_or_told() {
    for (spec, line, told) in [
        ("pytorch=2.4.1=cuda118_py310h8b36b8a_0", "torch=\"2.4.1+cu118\"", None),
        ("pytorch=2.4.1=*cuda121*", "torch=\"2.4.1+cu121\"", None),
        ("pytorch=2.4.1=*cuda*", "torch=\"2.4.1\"", None),
        ("pytorch=2.4.1=cpu_generic_py310h1_0", "torch=\"2.4.1+cpu\"", None),
        ("pytorch=2.5.1=cuda126_py311h1_0", "torch=\"2.5.1\"", Some("no wheel of that torch is known for `cu126`")),
        ("tensorflow=2.15.1=cuda112py310h1_0", "tensorflow=\"2.15.1\"", Some("taken without its build")),
    ] {
        let text = format!("dependencies:\n  - {spec}\n");
        let (lines, document) = drafted("conda-builds", &[("environment.yml", &text)], &[]);
        assert!(has(&lines, line), "{spec}: {lines:#?}");
        let whys: Vec<&str> =
            document["left"].as_array().into_iter().flatten().filter_map(|one| one["why"].as_str()).collect();
        assert_eq!(whys.len(), usize::from(told.is_some()), "{document:#}");
        assert!(told.is_none_or(|told| whys[0].contains(told)), "{document:#}");
    }
}

/// As LLaMA-Factory: what an argument switches on, which is off unless somebody says so.
#[test]
fn a_command_that_does_not_run_installs_nothing() {
    let install = "pip install flash-attn==2.7.4.post1";
    let command = "Dockerfile:4 pip install flash-attn==2.7.4.post1";
    for (run, runs) in [
        (format!("if [ \"${{A}}\" == \"true\" ]; then pip install ninja && {install}; fi"), Some(false)),
        (format!("--mount=type=cache,target=/x if [ \"$A\" != \"true\" ]; then {install}; fi"), Some(true)),
        (format!("if [ $A = true ]; then echo; elif [ -n \"$B\" ]; then echo; else {install}; fi"), Some(true)),
        (format!("if [ $A = true ]; then {install}; fi; if [[ -z \"$B\" ]]; then echo; fi"), Some(false)),
        (format!("[ \"$A\" != true ] || {install}"), Some(false)),
        (format!("[ \"$A\" = true ] || ( cd /x && {install} )"), Some(true)),
        (format!("test -z \"$B\" && {install}"), Some(true)),
        (format!("$A && {install}"), Some(false)),
        (format!("if ! [ $A = false ]; then {install}; fi"), Some(false)),
        (format!("apt-get update && {install} || true"), Some(true)),
        (format!("for x in 1 2; do {install}; done"), Some(true)),
        (format!("[ -f /x ] && {install}"), None),
        (format!("if [ \"$TARGETARCH\" = arm64 ]; then {install}; fi"), Some(false)),
        (format!("python -c 'import flash_attn' || {install}"), None),
        (format!("case $TARGETARCH in amd64) {install} ;; esac"), Some(true)),
        (format!("case $X in amd64) {install} ;; esac"), None),
    ] {
        let text = format!("FROM ubuntu:22.04\nARG A=false B=\nRUN pip install torch==2.6.0\nRUN {run}\n");
        let (lines, told) = drafted("conditions", &[("Dockerfile", &text)], &[]);
        let taken = lines.iter().any(|line| line.starts_with("flash-attn"));
        assert_eq!(taken, runs != Some(false), "{run}: {lines:#?}");
        assert_eq!(left(&told).iter().any(|one| one == command), runs != Some(true), "{run}: {told:#}");
    }
}

/// As gpt-neox and GPT-2 build on images that others made: what is compiled there goes with the torch inside, and what the
/// image is named after is a better guess than torch.
#[test]
fn an_image_says_what_runs_in_it() {
    for (image, stack) in [
        ("pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel", "torch=\"2.5.1\""),
        ("tensorflow/tensorflow:1.12.0-gpu-py3", "tensorflow=\"1.12.0\""),
        ("tensorflow/tensorflow:2.15.0-gpu", "tensorflow=\"2.15.0\""),
        ("nvcr.io/nvidia/tensorflow:24.03-tf2-py3", "tensorflow=\"*\""),
        ("vllm/vllm-openai:v0.6.3", "vllm=\"0.6.3\""),
        ("huggingface/transformers-pytorch-gpu:4.35.2", "torch=\"*\""),
        ("ubuntu:22.04", "torch=\"*\""),
    ] {
        let (lines, _) =
            drafted("image-names", &[("Dockerfile", &format!("FROM {image}\nRUN pip install numpy\n"))], &[]);
        assert_eq!(lines[1], stack, "{image}: {lines:#?}");
    }
    let file = "FROM pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel\nENV TORCH_CUDA_ARCH_LIST=8.0\nRUN pip install -e detectron2\n";
    let (lines, _) = drafted("image-built", &[("Dockerfile", file)], &[]);
    assert!(has(&lines, "torch=\"2.5.1\"") && has(&lines, "[build]"), "{lines:#?}");
}

/// As verl and text-generation-inference: a library of a command of its own takes the place of the one that torch brings.
#[test]
fn a_library_over_the_frameworks_own_is_told() {
    let file = |torch: &str, run: &str| format!("FROM ubuntu:22.04\nRUN pip install {torch}\nRUN pip install {run}\n");
    let cudnn = "--no-deps nvidia-cudnn-cu12==9.16.0.29";
    let (lines, told) = drafted("over", &[("Dockerfile", &file("torch==2.9.1", cudnn))], &["--gpu", "H200"]);
    assert_eq!(lines[..2], ["[stack]", "torch=\"2.9.1\""]);
    assert_eq!(left(&told), ["Dockerfile:3 nvidia-cudnn-cu12==9.16.0.29"]);
    assert_eq!(told["conflicts"], serde_json::json!([]));
    // What brings none takes that one.
    let cudnn = file("tensorflow==2.12.0", "nvidia-cudnn-cu11==8.6.0.163");
    let (lines, told) = drafted("not-over", &[("Dockerfile", &cudnn)], &[]);
    assert!(has(&lines, "cudnn=\"8.6.0.163\"") && left(&told).is_empty(), "{lines:#?}");
}

/// As Coqui's TTS: the Python of the image decides the conditions of what is installed in it.
#[test]
fn the_python_of_the_files_decides_conditions() {
    let files = [
        ("requirements.txt", "torch\nnumpy==1.22.0;python_version<=\"3.10\"\nnumpy>=1.24.3;python_version>\"3.10\"\n"),
        ("Dockerfile", "FROM python:3.11-slim\n"),
    ];
    let (_, told) = drafted("python-of-files", &files, &[]);
    assert_eq!(packages(&told), ["numpy>=1.24.3"]);
    let list = "torch\nfla-core==0.4.1; platform_machine != 'aarch64'\n";
    for (arch, carried) in [("x86_64", &["fla-core==0.4.1"][..]), ("aarch64", &[])] {
        let (_, told) = drafted("arch-decides", &[("requirements.txt", list)], &["--arch", arch]);
        assert_eq!(packages(&told), carried);
    }
}
