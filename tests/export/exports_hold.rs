//! What an export must not do: install something else than was locked, or lose what somebody wrote.

use std::fs;

use crate::common::sandbox::Sandbox;

const BASE: &str = "[stack]\ntorch = \"2.5.1\"\npython = \"3.12\"\n[packages]\ntimm = \">=1\"\n";
const LINUX: &str = "sys_platform == 'linux' and platform_machine == 'x86_64'";
const A100: &str = "[target.prod]\ngpu = \"A100-PCIE-40GB\"\ndriver = \"550\"\n";

fn locked(name: &str, spec: &str) -> Sandbox {
    let sandbox = Sandbox::new(&format!("exports-hold-{name}"), spec);
    sandbox.run(&["lock"]).exits(0);
    sandbox
}

fn read(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(sandbox.path(name)).unwrap()
}

/// A package without an extra would bring a torch along that is none of the locked ones.
#[test]
fn packages_of_targets_that_differ_are_in_their_extras() {
    let spec = "[stack]\ntorch = \"2.9.1\"\n[packages]\ntimm = \"*\"\n[resolve]\nshare = \"versions\"\n\
                [target.ci]\ngpu = \"none\"\n[target.old]\ngpu = \"V100-SXM2-16GB\"\n[target.new]\ngpu = \"NVIDIA B200\"\n";
    let sandbox = locked("extras", spec);
    let ran = sandbox.run(&["export", "uv"]).exits(0);
    let table: toml::Table = ran.out.parse().unwrap();
    let project = &table["project"];
    assert!(project.get("dependencies").and_then(toml::Value::as_array).is_none_or(Vec::is_empty), "{}", ran.out);
    for extra in ["ci", "old", "new"] {
        let of = project["optional-dependencies"][extra].as_array().unwrap();
        assert!(of.iter().any(|one| one.as_str() == Some("timm")), "{extra}: {of:?}");
    }
    assert!(ran.err.contains("uv sync --extra ci"), "{}", ran.err);
}

/// An nvcc of 13.0 takes the NVVM of any later CUDA, and RAPIDS any toolkit of its major: what the lock chose is pinned.
#[test]
fn libraries_that_are_left_open_are_those_of_the_locked_cuda() {
    let jax = locked("jax", &format!("[stack]\njax = \"0.12\"\n{}", A100.replace("550", "580")));
    let formats: &[&[&str]] =
        &[&["uv"], &["requirements"], &["requirements", "--constraints"], &["conda"], &["dockerfile"], &["apptainer"]];
    for arguments in formats {
        let arguments = [&["export"], *arguments].concat();
        let ran = jax.run(&arguments);
        // Without an image there is none to build on.
        if ran.code == 2 && ran.err.contains("no-image") {
            continue;
        }
        let text = ran.exits(0).out;
        for pin in ["nvidia-nvvm==13.0.", "nvidia-cuda-crt==13.0.", "nvidia-nvshmem-cu13==", "nvidia-cuda-nvcc==13.0."]
        {
            assert!(text.contains(pin), "{arguments:?}: {pin}\n{text}");
        }
    }
    let conda = jax.run(&["export", "conda"]).exits(0).out;
    assert!(conda.contains("\"cuda-version=13.0\""), "{conda}");
    // cugraph takes them through cudf, which it requires.
    for package in ["cudf-cu13 = \"*\"", "cugraph-cu13 = \"26.2.0\""] {
        let spec = format!("[stack]\n{package}\ncuda = \"13.0\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\n");
        let text = locked("rapids", &spec).run(&["export", "requirements"]).exits(0).out;
        assert!(text.contains("\ncuda-toolkit==13.0."), "{text}");
    }
}

/// Of one number on two indexes pip takes either.
#[test]
fn pip_is_given_nothing_that_it_cannot_tell_apart() {
    let spec =
        "[stack]\ntorch = \"2.7.1+cu118\"\nvllm = \"*\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\ndriver = \"470\"\n";
    let sandbox = locked("ambiguous", spec);
    for args in [&["export", "requirements"][..], &["export", "requirements", "--constraints"]] {
        sandbox.run(args).exits(2).says("xformers 0.0.31");
    }
    assert!(sandbox.run(&["export", "uv"]).exits(0).out.contains("xformers==0.0.31"));
    let beside = locked(
        "beside",
        &format!("{}torchvision = \"*\"\ntorchaudio = \"*\"\n{A100}", &BASE[..BASE.find("[packages]").unwrap()]),
    );
    beside.run(&["export", "requirements", "--constraints"]).exits(0);
    let arm = locked("ambiguous-arm", &format!("{BASE}[target.prod]\ngpu = \"GH200 480GB\"\n"));
    arm.run(&["export", "requirements", "--constraints"]).exits(2).says("torch 2.5.1");
}

/// Of two files of one number that are made for the same torch and CUDA, that of the package index is taken.
#[test]
fn pip_takes_from_the_package_index_what_is_the_same_there() {
    for (torch, package, is_refused) in [
        ("2.2.0", "xformers = \"0.0.24\"", false),
        ("2.1.2", "xformers = \"0.0.23.post1\"", false),
        ("2.1.0", "torchtext = \"0.16.0\"", false),
        ("2.10.0+cu128", "xformers = \"0.0.35\"", false),
        ("2.7.0", "xformers = \"0.0.30\"", false),
        // That of the package index is made for CUDA 12.6.
        ("2.7.0+cu128", "xformers = \"0.0.30\"", true),
        ("2.10.0+cu130", "xformers = \"0.0.35\"", true),
    ] {
        let spec = format!("[stack]\ntorch = \"{torch}\"\n{package}\n[packages]\ndiffusers = \"*\"\n{A100}");
        let sandbox = locked("same-there", &spec.replace("driver = \"550\"\n", ""));
        let ran = sandbox.run(&["export", "requirements"]);
        let pin = package.replace(" = \"", "==").replace('"', "");
        match is_refused {
            true => ran.exits(2).says("ambiguous-index"),
            false => ran.exits(0),
        };
        let lines = sandbox.run(&["export", "uv"]).exits(0).out;
        assert!(lines.contains(&pin), "{lines}");
    }
}

/// A wheel of somebody's house is known on one index, and may lie on PyPI under its name: what is said is true of it too.
#[test]
fn a_package_of_an_own_index_is_not_left_to_pip() {
    let sandbox = Sandbox::new("own-index", "");
    let overlay = "source = [{ id = \"w\", at = \"https://w.example\", kind = \"measured\", seen = \"2026-11-18\" }]\n\
                   [[companion]]\npackage = \"my-ops\"\nversion = \"1.0\"\nframework = \"torch\"\nneeds = \">=2.6,<2.7\"\n\
                   index_url = \"https://w.example/simple\"\nsource = \"w\"\n";
    fs::write(sandbox.path("site.toml"), overlay).unwrap();
    sandbox.write(
        "[stack]\ntorch = \"2.6\"\nmy-ops = \"*\"\n[target.a]\ngpu = \"A100\"\nimage = \"nvidia/cuda\"\n\
         [catalog]\noverlays = [\"site.toml\"]\n",
    );
    sandbox.run(&["lock"]).exits(0);
    for args in [&["requirements"][..], &["requirements", "--constraints"], &["conda"], &["github-actions"]] {
        let ran = sandbox.run(&[&["export"], args].concat()).exits(2);
        let said: String = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("my-ops 1.0 from https://w.example/simple") && said.contains("PyPI"), "{said}");
        assert!(said.contains("gpuenv export uv") && !said.contains("several"), "{said}");
    }
    let uv = sandbox.run(&["export", "uv"]).exits(0).out;
    assert!(uv.contains("my-ops = [{ index = \"w-example\" }]"), "{uv}");
    assert!(sandbox.run(&["export", "dockerfile"]).exits(0).out.contains("--default-index https://w.example/simple"));
}

/// The wheels of torchvision for aarch64 had no label on torch's index before 0.25.
#[test]
fn what_is_held_has_a_wheel_for_the_processor() {
    let spec =
        "[stack]\ntorch = \"2.8.0+cu129\"\npython = \"3.12\"\n[packages]\ntimm = \"*\"\n[target.prod]\ngpu = \"GPU\"\n";
    for (gpu, held) in [("GH200 480GB", "\"torchvision==0.23.0\""), ("H100 NVL", "\"torchvision==0.23.0+cu129\"")] {
        let sandbox = locked("held-for-the-processor", &spec.replace("GPU", gpu));
        let uv = sandbox.run(&["export", "uv"]).exits(0).out;
        assert!(uv.contains(held) && uv.contains("torchvision = [{ index = \"pytorch-cu129\" }]"), "{uv}");
    }
}

/// A wheel that carries no label for one processor carries its own for the other.
#[test]
fn what_is_chosen_for_two_processors_is_named_as_on_each() {
    let spec = "[stack]\ntorch = \"2.9.1+cu128\"\ntorchvision = \"*\"\npython = \"3.12\"\n[packages]\nnumpy = \"*\"\n\
                [target.arm]\ngpu = \"GH200 480GB\"\n[target.x]\ngpu = \"H100 NVL\"\n";
    let sandbox = locked("two-processors", spec);
    for (target, pin) in [("x", "torchvision==0.24.1+cu128\n"), ("arm", "torchvision==0.24.1\n")] {
        let ran = sandbox.run(&["export", "requirements", "--target", target]).exits(0);
        assert!(ran.out.contains(pin), "{}", ran.out);
        assert_eq!(ran.err.contains("no file of torchvision"), target == "arm", "{}", ran.err);
    }
    let uv = sandbox.run(&["export", "uv"]).exits(0).out;
    assert!(uv.contains("torchvision==0.24.1+cu128"), "{uv}");
}

/// What stands in an image stays there, and what follows it with it.
#[test]
fn a_framework_in_the_image_is_not_replaced() {
    let image = "image = \"pytorch/pytorch:2.6.0-cuda12.4-cudnn9-runtime\"\n";
    let spec = format!("{}{A100}{image}", BASE.replace("2.5.1", "2.6.0").replace("3.12", "3.11"));
    let sandbox = locked("inside", &spec);
    for format in ["requirements", "github-actions"] {
        assert!(sandbox.run(&["export", format]).exits(0).out.contains("torch==2.6.0"), "{format}");
    }
    let dockerfile = sandbox.run(&["export", "dockerfile"]).exits(0).out;
    assert!(!dockerfile.contains("torchvision=="), "{dockerfile}");
    let alone = locked("inside-alone", &spec.replace("[packages]\ntimm = \">=1\"\n", ""));
    alone.run(&["export", "requirements"]).exits(2).says("holds torch 2.6.0");
}

/// A pyproject.toml of which uv would install something else.
#[test]
fn what_defeats_the_lock_is_refused() {
    let sandbox = locked("defeats", &format!("{BASE}{A100}"));
    let project = "[project]\nname = \"theirs\"\nversion = \"1\"\n";
    for (text, says) in [
        (format!("{project}[tool.uv]\noverride-dependencies = [\"torch==2.4.0\"]\n"), "override-dependencies"),
        (format!("{project}[tool.uv]\noverride-dependencies = [\"Torch_Vision==0.1\", \"TORCH>2\"]\n"), "TORCH>2"),
        (
            format!(
                "{project}[tool.uv.sources]\ntimm = {{ index = \"mine\" }}\nTorchVision = {{ index = \"mine\" }}\n"
            ),
            "TorchVision",
        ),
        (format!("{project}requires-python = \"==3.11.*\"\n"), "requires-python"),
        (
            format!(
                "{project}requires-python = \">=3.11\"\n[tool.uv]\nenvironments = [\"sys_platform == 'darwin'\"]\n"
            ),
            "environments` of pyproject.toml has `sys_platform == 'darwin'`",
        ),
        (format!("{project}dependencies = [\"torch @ git+https://example.org/torch\"]\n"), "an address in place of"),
        (format!("{project}dependencies = [\"Torch@https://example.org/torch.whl\"]\n"), "an address in place of"),
        (format!("{project}[dependency-groups]\ndev = [\"torch@file:///torch.whl\"]\n"), "dependency-groups.dev"),
        (format!("{project}requires-python = \">=3.13\"\n"), "requires-python"),
        // Nobody has 3.12.0 alone.
        (format!("{project}requires-python = \">=3.10, <=3.12\"\n"), "requires-python"),
        (format!("{project}[tool.uv.sources]\nTorch = {{ index = \"mine\" }}\n"), "sources.Torch"),
        (
            format!(
                "{project}[[tool.uv.index]]\nname = \"pytorch-cu124\"\nurl = \"https://download.pytorch.org/whl/cu124\"\n"
            ),
            "explicit = true",
        ),
    ] {
        fs::write(sandbox.path("pyproject.toml"), &text).unwrap();
        sandbox.run(&["export", "uv", "-o", "pyproject.toml"]).exits(2).says(says);
        assert_eq!(read(&sandbox, "pyproject.toml"), text);
    }
    for text in [
        format!("{project}requires-python = \">=3.10\"\n"),
        format!("{project}dependencies = [\"rich @ https://example.org/rich.whl\"]\n"),
        format!("{project}dependencies = [\"torch @ https://example.org/t.whl ; sys_platform == 'darwin'\"]\n"),
        format!("{project}[tool.uv]\nenvironments = [\"{LINUX}\"]\n"),
        format!("{project}[tool.uv]\noverride-dependencies = [\"numpy<2\", \"timm>1\", \"torch==2.5.1\"]\n"),
        format!("{project}[tool.uv]\noverride-dependencies = [\"torch>2 ; platform_machine == 'aarch64'\"]\n"),
        format!(
            "{project}[[tool.uv.index]]\nname = \"pytorch-cu124\"\nurl = \"https://download.pytorch.org/whl/cu124\"\nexplicit = true\n"
        ),
    ] {
        fs::write(sandbox.path("pyproject.toml"), &text).unwrap();
        sandbox.run(&["export", "uv", "-o", "pyproject.toml"]).exits(0);
    }
}

/// That uv resolves for Linux alone from now on is told once, and not where it already did.
#[test]
fn what_uv_resolves_for_is_told_where_it_changes() {
    let sandbox = locked("platforms", &format!("{BASE}{A100}"));
    let export = || sandbox.run(&["export", "uv", "-o", "pyproject.toml"]).exits(0);
    let told = "not for macOS or Windows";
    let project = "[project]\nname = \"theirs\"\nversion = \"1\"\nrequires-python = \"==3.12.*\"\n";
    fs::write(sandbox.path("pyproject.toml"), project).unwrap();
    export().says(told);
    sandbox.write(&format!("{BASE}{A100}").replace("2.5.1", "2.5.0"));
    sandbox.run(&["lock"]).exits(0);
    let again = export();
    assert!(read(&sandbox, "pyproject.toml").contains("torch==2.5.0") && !again.err.contains(told), "{}", again.err);
    let own = format!("{project}[tool.uv]\nenvironments = [\"{LINUX}\"]\n");
    fs::write(sandbox.path("pyproject.toml"), own).unwrap();
    let ran = export();
    assert!(!ran.err.contains(told), "{}", ran.err);
}

/// What is told of a file names that file.
#[test]
fn a_file_of_another_name_is_called_by_it() {
    let sandbox = locked("named", &format!("{BASE}{A100}"));
    for text in [
        "[tool.poetry]\nname = \"x\"\n",
        "[project]\nname = \"x\"\nversion = \"1\"\ndynamic = [\"dependencies\"]\n",
        "[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"torch<1\"]\n",
        "project = 1\n",
        "not toml",
    ] {
        fs::write(sandbox.path("poetry.toml"), text).unwrap();
        let ran = sandbox.run(&["export", "uv", "-o", "poetry.toml"]).exits(2).says("poetry.toml");
        assert!(!ran.err.contains("pyproject.toml"), "{}", ran.err);
    }
    let text = "[project]\nname = \"x\"\nversion = \"1\"\nrequires-python = \">=3.8\"\n";
    fs::write(sandbox.path("poetry.toml"), text).unwrap();
    let ran = sandbox.run(&["export", "uv", "-o", "poetry.toml"]).exits(0).says("`requires-python` of poetry.toml");
    let ran = ran.says("rename it to pyproject.toml, then: uv sync --python 3.");
    assert_eq!(ran.err.matches("pyproject.toml").count(), 1, "{}", ran.err);
}

/// What somebody wrote keeps its bytes.
#[test]
fn a_merge_keeps_marks_and_ends_of_lines() {
    let sandbox = locked("bytes", &format!("{BASE}{A100}"));
    let text = "\u{feff}[project]\r\nname = \"theirs\" # mine\r\nversion = \"1\"\r\n";
    fs::write(sandbox.path("pyproject.toml"), text).unwrap();
    sandbox.run(&["export", "uv", "-o", "pyproject.toml"]).exits(0);
    let merged = read(&sandbox, "pyproject.toml");
    assert!(merged.starts_with("\u{feff}[project]\r\nname = \"theirs\" # mine\r\nversion = \"1\"\r\n"), "{merged:?}");
    assert_eq!(merged.matches('\n').count(), merged.matches("\r\n").count());
    sandbox.run(&["export", "uv", "-o", "pyproject.toml", "--check"]).exits(0);
    let latin = b"[project]\nname = \"caf\xe9\"\n";
    fs::write(sandbox.path("pyproject.toml"), latin).unwrap();
    sandbox.run(&["export", "uv", "-o", "pyproject.toml"]).exits(2).says("error[encoding]").says("not UTF-8");
    assert_eq!(fs::read(sandbox.path("pyproject.toml")).unwrap(), latin);
}

/// A line that was there before stays when gpuenv.toml no longer asks for it.
#[test]
fn what_somebody_wrote_is_not_taken_for_an_exports_own() {
    let sandbox = locked("theirs", &format!("{BASE}{A100}"));
    let text = "[project]\nname = \"theirs\"\nversion = \"1\"\ndependencies = [\"timm>=1\"]\n";
    fs::write(sandbox.path("pyproject.toml"), text).unwrap();
    sandbox.run(&["export", "uv", "-o", "pyproject.toml"]).exits(0);
    sandbox.write(&format!("{}{A100}", BASE.replace("[packages]\ntimm = \">=1\"\n", "")));
    sandbox.run(&["lock"]).exits(0);
    sandbox.run(&["export", "uv", "-o", "pyproject.toml"]).exits(0);
    assert!(read(&sandbox, "pyproject.toml").contains("\"timm>=1\""));
}

/// What gpuenv reads is no place for what it writes.
#[test]
fn the_spec_and_the_lock_are_not_written_over() {
    let sandbox = locked("own", &format!("{BASE}{A100}"));
    let before = [read(&sandbox, "gpuenv.toml"), read(&sandbox, "gpuenv.lock")];
    for name in ["gpuenv.toml", "gpuenv.lock", "./gpuenv.lock"] {
        for format in ["uv", "requirements"] {
            sandbox.run(&["export", format, "-o", name, "--force"]).exits(2).says("is what gpuenv reads");
        }
    }
    assert_eq!([read(&sandbox, "gpuenv.toml"), read(&sandbox, "gpuenv.lock")], before);
}

/// `[export]` is whole or not done: folders are made first, and each file is one.
#[test]
fn the_files_of_the_spec_are_told_apart_and_placed() {
    let exports = "[export]\nrequirements = \"req.txt\"\ngithub-actions = \".github/workflows/gpuenv.yml\"\n";
    let sandbox = locked("folders", &format!("{exports}{BASE}{A100}"));
    sandbox.run(&["export"]).exits(0);
    assert!(sandbox.path(".github/workflows/gpuenv.yml").is_file() && sandbox.path("req.txt").is_file());
    let twice = format!("[export]\nrequirements = \"aa.txt\"\nconda = \"./aa.txt\"\n{BASE}{A100}");
    let sandbox = locked("twice", &twice);
    sandbox.run(&["export"]).exits(2).says("twice");
    assert!(!sandbox.path("aa.txt").exists());
    // Nor is one written where another cannot be.
    let blocked = format!("[export]\nrequirements = \"aa.txt\"\nenv = \"folder\"\n{BASE}{A100}");
    let sandbox = locked("blocked", &blocked);
    fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox.run(&["export"]).exits(4).says("folder cannot be written");
    assert!(!sandbox.path("aa.txt").exists());
    // What only writing shows, after another file was ready: no such folder can be made, such a name leaves no room for the one beside it.
    fs::write(sandbox.path("file"), "").unwrap();
    for unwritable in ["file/env.sh".to_string(), format!("{}.sh", "x".repeat(250))] {
        sandbox.write(&format!("[export]\nrequirements = \"new/folder/aa.txt\"\nenv = \"{unwritable}\"\n{BASE}{A100}"));
        sandbox.run(&["export"]).exits(4);
        assert!(!sandbox.path("new").exists(), "{unwritable}");
    }
    let left: Vec<_> = fs::read_dir(sandbox.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".tmp")), "{left:?}");
}

/// What builds a Dockerfile builds the one that `[export]` writes.
#[test]
fn compose_builds_the_dockerfile_that_is_written() {
    let exports = "[export]\ndockerfile = \"docker/{target}.Dockerfile\"\ncompose = \"compose.{target}.yaml\"\n\
                   devcontainer = \".devcontainer/{target}.json\"\n";
    let sandbox = locked("dockerfile", &format!("{exports}{BASE}{A100}image = \"nvidia/cuda\"\n"));
    sandbox.run(&["export"]).exits(0);
    assert!(read(&sandbox, "compose.prod.yaml").contains("dockerfile: \"docker/prod.Dockerfile\""));
    assert!(read(&sandbox, ".devcontainer/prod.json").contains("\"../docker/prod.Dockerfile\""));
    let named = sandbox.run(&["export", "compose", "--dockerfile", "images/gpu"]).exits(0).out;
    assert!(named.contains("dockerfile: \"images/gpu\""), "{named}");
    sandbox.run(&["export", "compose", "--dockerfile", "/etc/x y"]).exits(2);
}

/// Whoever insists on a current lock has to have its spec.
#[test]
fn a_spec_that_cannot_be_read_is_not_taken_for_agreement() {
    let sandbox = locked("locked", &format!("{BASE}{A100}"));
    sandbox.run(&["export", "uv", "--locked"]).exits(0);
    sandbox.run(&["export", "uv", "--locked", "--spec", "nope.toml", "--lock", "gpuenv.lock"]).exits(4);
    fs::remove_file(sandbox.path("gpuenv.toml")).unwrap();
    // A lock may travel without it, but not in silence.
    sandbox
        .run(&["export", "uv", "--locked"])
        .exits(0)
        .says("there is no gpuenv.toml: whether the lock is up to date was");
    fs::create_dir(sandbox.path("gpuenv.toml")).unwrap();
    let ran = sandbox.run(&["export", "uv", "--locked"]);
    assert!(ran.code > 1, "{ran:?}");
    sandbox.run(&["export", "uv"]).exits(0);
}

/// A job compares its node with the lock that it was made of.
#[test]
fn a_job_names_a_lock_of_another_name() {
    let sandbox = locked("slurm", &format!("{BASE}{A100}"));
    let plain = sandbox.run(&["export", "slurm"]).exits(0).out;
    assert!(plain.contains("gpuenv verify --quick --target prod\n"), "{plain}");
    fs::rename(sandbox.path("gpuenv.lock"), sandbox.path("prod.lock")).unwrap();
    let named = sandbox.run(&["--lock", "prod.lock", "export", "slurm"]).exits(0).out;
    assert!(named.contains("gpuenv verify --quick --target prod --lock prod.lock\n"), "{named}");
    let all = sandbox.run(&["--lock", "prod.lock", "export", "slurm", "--nodes", "4"]).exits(0).out;
    assert!(all.contains("\nsrun --ntasks-per-node=1 gpuenv verify --quick"), "{all}");
    for (option, good, bad) in
        [("--time", "1-12:30:00", "abc"), ("--time", "90", "2:00:00:00"), ("--partition", "a,b", "a|b")]
    {
        sandbox.run(&["--lock", "prod.lock", "export", "slurm", option, good]).exits(0);
        sandbox.run(&["--lock", "prod.lock", "export", "slurm", option, bad]).exits(2);
    }
}

/// What a format has no place for is said.
#[test]
fn what_is_compiled_beside_torch_is_said_where_it_cannot_be_written() {
    let spec = "[stack]\ntorch = \"2.8.0\"\nflash-attn = \"2.8.3\"\npython = \"3.12\"\n[build]\n\
                [target.prod]\ngpu = \"A100-PCIE-40GB\"\ndriver = \"570\"\ngcc = \"11\"\n";
    let sandbox = locked("unisolated", spec);
    for format in ["conda", "pixi"] {
        sandbox.run(&["export", format]).exits(0).says("--no-build-isolation");
    }
    let workflow = sandbox.run(&["export", "github-actions"]).exits(0);
    assert!(workflow.out.contains("--no-build-isolation -r") && !workflow.err.contains("isolation"), "{workflow:?}");
    assert!(!sandbox.run(&["export", "uv"]).exits(0).err.contains("cannot say"));
    // What comes next is what the file itself asks for.
    let next = "next: install what the head of r.txt names, then pip install --no-build-isolation -r r.txt";
    sandbox.run(&["export", "requirements", "-o", "r.txt"]).exits(0).says(next);
}

/// What follows CUDA alone brings nothing of torch's, so that nothing of it is asked for.
#[test]
fn what_lies_beside_torch_is_asked_for_where_something_may_bring_it() {
    for (beside, asked) in [("cuml-cu12 = \"25.10.0\"", false), ("", false), ("vllm = \"*\"", true)] {
        let spec = format!(
            "[stack]\ntorch = \"2.6.0+cu124\"\n{beside}\npython = \"3.11\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\n\
             os = \"ubuntu22.04\"\n"
        );
        let sandbox = locked(&format!("asked-{asked}-{}", beside.len()), &spec);
        for format in ["requirements", "conda", "github-actions"] {
            let text = sandbox.run(&["export", format]).exits(0).out;
            assert_eq!(text.contains("torchvision==0.21.0+cu124"), asked, "{beside} {format}: {text}");
        }
        // Whatever comes later is held all the same.
        let constraints = sandbox.run(&["export", "requirements", "--constraints"]).exits(0).out;
        assert!(constraints.contains("torchvision==0.21.0+cu124"), "{constraints}");
    }
}

/// A package that vllm 0.6 requires is for Python 3.8.10 and newer in every release: an older patch resolves to nothing.
#[test]
fn a_patch_of_python_that_a_package_needs_is_asked_for() {
    let spec = |vllm: &str, python: &str| {
        format!(
            "[stack]\nvllm = \"{vllm}\"\npython = \"{python}\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\nos = \"ubuntu22.04\"\n"
        )
    };
    let sandbox = locked("patch", &spec("0.6.3", "3.8"));
    let range = ">=3.8.10,<3.9";
    for (format, says) in [
        ("uv", format!("requires-python = \"{range}\"")),
        ("pixi", format!("python = \"{range}\"")),
        ("conda", format!("\"python{range}\"")),
        ("requirements", format!("# For Python 3.8 ({range}) on")),
    ] {
        let text = sandbox.run(&["export", format]).exits(0).out;
        assert!(text.contains(&says), "{format}: {text}");
    }
    // A project that admits more is held to it.
    let project = "[project]\nname = \"a\"\nversion = \"1\"\nrequires-python = \">=3.8\"\n";
    std::fs::write(sandbox.path("pyproject.toml"), project).unwrap();
    sandbox.run(&["export", "uv", "-o", "pyproject.toml"]).exits(0).says("`uv sync --python 3.8`");
    let held = read(&sandbox, "pyproject.toml");
    assert!(held.contains("python_version == '3.8' and python_full_version >= '3.8.10'"), "{held}");
    sandbox.run(&["export", "uv", "-o", "pyproject.toml", "--check"]).exits(0);
    for (name, vllm, python) in [("patch-line", "0.6.3", "3.9"), ("patch-release", "0.5.5", "3.8")] {
        let text = locked(name, &spec(vllm, python)).run(&["export", "uv"]).exits(0).out;
        assert!(text.contains(&format!("requires-python = \"=={python}.*\"")), "{text}");
    }
}

/// Of several Dockerfiles that of the target is built, and it is found from the folder of the file that names it.
#[test]
fn what_builds_a_dockerfile_finds_that_of_its_target() {
    let first = "{ file = \"a.Dockerfile\", target = \"prod\" }";
    let second = ", { file = \"docker/b.Dockerfile\", target = \"lab\" }";
    let builds = "compose = { file = \"docker/compose.yaml\", target = \"lab\" }\n\
                  devcontainer = { file = \".devcontainer/lab/devcontainer.json\", target = \"lab\" }\n";
    let stack =
        format!("{BASE}{A100}image = \"nvidia/cuda\"\n[target.lab]\ngpu = \"H100 NVL\"\nimage = \"nvidia/cuda\"\n");
    let sandbox = locked("of-target", &format!("[export]\ndockerfile = [{first}{second}]\n{builds}{stack}"));
    let ran = sandbox.run(&["export"]).exits(0);
    ran.says("devcontainer up --workspace-folder . --config .devcontainer/lab/devcontainer.json");
    let compose = read(&sandbox, "docker/compose.yaml");
    assert!(
        compose.contains("context: \"..\"\n") && compose.contains("dockerfile: \"docker/b.Dockerfile\""),
        "{compose}"
    );
    let json = read(&sandbox, ".devcontainer/lab/devcontainer.json");
    assert!(json.contains("\"context\": \"../..\"") && json.contains("\"../../docker/b.Dockerfile\""), "{json}");
    // What is typed stands somewhere too.
    sandbox.run(&["export", "devcontainer", "--target", "lab", "-o", ".devcontainer.json"]).exits(0);
    let json = read(&sandbox, ".devcontainer.json");
    assert!(json.contains("\"context\": \".\"") && json.contains("\"dockerfile\": \"Dockerfile\""), "{json}");
    sandbox.write(&format!("[export]\ndockerfile = {first}\n{builds}{stack}"));
    sandbox.run(&["export"]).exits(2).says("writes no Dockerfile for target `lab`");
    sandbox.write(&format!(
        "[export]\ndockerfile = {first}\n{}{stack}",
        builds.replace("target = ", "image = \"x/y:1\", target = ")
    ));
    sandbox.run(&["export"]).exits(0);
}

/// What somebody installs himself comes from nowhere else.
#[test]
fn a_build_of_ones_own_is_not_replaced() {
    let own = "[stack]\ntorch = { version = \"2.8.0\", cuda = \"12.6\", arch-list = \"8.0\", python = \"3.12\" }\n\
               [packages]\ntimm = \"*\"\n";
    let sandbox = locked("own-build", &format!("{own}{A100}").replace("550", "570"));
    let ran = sandbox.run(&["export", "uv"]).exits(0);
    assert!(ran.out.contains("exclude-dependencies = [\n    \"torch\",\n]"), "{}", ran.out);
    ran.says("then: uv sync --inexact");
}

/// A number that an own index and the public one share is told apart by the label that torch's index gives it.
#[test]
fn pip_takes_what_lies_beside_torch() {
    for (torch, gpu, page) in
        [("2.9.1", "none", "cpu/torchvision"), ("2.9.1+cu126", "A100-PCIE-40GB", "cu126/torchvision")]
    {
        let spec = format!(
            "[stack]\ntorch = \"{torch}\"\ntorchvision = \"*\"\npython = \"3.12\"\n[packages]\ntimm = \"*\"\n[target.prod]\ngpu = \"{gpu}\"\n"
        );
        let sandbox = locked(&format!("beside-{gpu}"), &spec);
        for format in ["requirements", "conda", "github-actions"] {
            let text = sandbox.run(&["export", format]).exits(0).out;
            assert!(text.contains(page), "{format}: {text}");
        }
    }
}

/// A program that finds its file by name in a folder is told of the folder, or that the file has another name.
#[test]
fn what_comes_next_reads_the_file_that_was_written() {
    let sandbox = locked("folder", &format!("{BASE}{A100}"));
    fs::create_dir(sandbox.path("env")).unwrap();
    for (format, file, next) in [
        ("uv", "env/pyproject.toml", "next: uv sync --project env"),
        ("uv", "./other.toml", "next: rename it to pyproject.toml, then: uv sync\n"),
        ("uv", "pyproject.toml", "next: uv sync\n"),
        ("pixi", "env/pixi.toml", "next: pixi install --manifest-path env/pixi.toml\n"),
        ("pixi", "pixi.toml", "next: pixi install\n"),
    ] {
        sandbox.run(&["export", format, "-o", file]).exits(0).says(next);
    }
    sandbox.run(&["export", "json"]).exits(0).says("next: save it as stack.json, then: jq .targets stack.json");
}

/// What an extra or a group alone asked for is installed by everybody once the project itself asks for it.
#[test]
fn an_extra_that_becomes_a_dependency_is_told() {
    let spec = "[stack]\ntorch = \"2.8\"\nvllm = \"*\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\n";
    let sandbox = locked("extra", spec);
    let project = |extras: &str| {
        let project = format!("[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"torch>=2\"]\n{extras}");
        fs::write(sandbox.path("pyproject.toml"), project).unwrap();
        sandbox.run(&["export", "uv", "-o", "pyproject.toml"]).exits(0)
    };
    let told = project("[project.optional-dependencies]\nserve = [\"vllm>=0.9\"]\nnumbers = [\"numpy\"]\n");
    let words: String = told.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("vllm of `project.optional-dependencies.serve` is now among the `dependencies`"), "{words}");
    // It is said once, and of nothing that stays where it was.
    let again = sandbox.run(&["export", "uv", "-o", "pyproject.toml"]).exits(0);
    assert!(!again.err.contains("is now among"), "{}", again.err);
    let none = project("[project.optional-dependencies]\nnumbers = [\"numpy\", \"torch\"]\n");
    assert!(!none.err.contains("now among"), "{}", none.err);
}

/// What stands above pages stands above pages alone.
#[test]
fn constraints_of_the_package_index_speak_of_no_page() {
    let head = "# Each page below";
    let printed = |sandbox: &Sandbox| sandbox.run(&["export", "requirements", "--constraints"]).exits(0).out;
    let of_index = locked("no-pages", "[stack]\ntorch = \"2.8\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\n");
    let text = printed(&of_index);
    assert_eq!(text.contains(head), text.contains("--find-links"), "{text}");
    let newest = locked("no-pages-newest", "[stack]\ntorch = \"*\"\n[target.prod]\ngpu = \"A100-PCIE-40GB\"\n");
    let text = printed(&newest);
    assert_eq!(text.contains(head), text.contains("--find-links"), "{text}");
    let elsewhere = locked("pages", &format!("{BASE}{A100}").replace("2.5.1", "2.5.1+cu121"));
    assert!(printed(&elsewhere).contains(head));
}
