//! `[packages]`: what nothing is solved with is carried into the lock and every export, and what the locked wheels are
//! known not to run with is told.

use crate::common::cases::{Case, case, hold};
use crate::common::checkout::Place;

const TARGET: &str = "[target.prod]\ngpu = \"A100-PCIE-40GB\"\nos = \"ubuntu22.04\"\nimage = \"nvidia/cuda\"\n";

fn place(name: &str, stack: &str, packages: &str) -> Place {
    Place::with(name, &format!("[stack]\n{stack}\n[packages]\n{packages}\n{TARGET}"))
}

#[test]
fn every_export_that_installs_carries_what_is_written() {
    let written = "transformers = \">=4.50, <5\"\nAccelerate = \"*\"\ndatasets = \"[audio]>=3\"";
    for torch in ["torch = \"2.7.1+cu118\"", "torch = \"2.7.1+cu126\"\npython = \"3.11\""] {
        let place = place("carried", torch, written);
        place.run(&["lock"]).exits(0);
        let lock = place.read("checkout/gpuenv.lock");
        assert!(lock.contains("inputs.\"packages.transformers\" = \">=4.50,<5\"\n"), "{lock}");
        for format in ["requirements", "uv", "dockerfile", "apptainer", "conda", "github-actions"] {
            let text = place.run(&["export", format]).exits(0).out;
            for one in ["transformers>=4.50,<5", "accelerate", "datasets[audio]>=3"] {
                assert!(text.contains(one), "{format} lacks {one}:\n{text}");
            }
        }
        // They are on no index of PyTorch's.
        assert!(!place.run(&["export", "requirements"]).exits(0).out.contains("--index-url"));
        let pixi = place.run(&["export", "pixi"]).exits(0).out;
        for line in [
            "transformers = \">=4.50,<5\"",
            "accelerate = \"*\"",
            "datasets = { version = \">=3\", extras = [\"audio\"] }",
        ] {
            assert!(pixi.contains(line), "{pixi}");
        }
        let (_, json) = place.json(&["export", "json"]);
        assert_eq!(json["packages"]["datasets"], "[audio]>=3", "{json}");
        let constraints = place.run(&["export", "requirements", "--constraints"]).exits(0).out;
        assert!(
            constraints.contains("\ntransformers>=4.50,<5\n") && !constraints.contains("accelerate"),
            "{constraints}"
        );
        place.run(&["lock", "--check"]).exits(0);
        let before = place.read("checkout/gpuenv.toml");
        place.write("checkout/gpuenv.toml", &before.replace("4.50", "4.51"));
        place.run(&["lock", "--check"]).exits(1).says("`packages.transformers` was `>=4.50,<5` and is now `>=4.51,<5`");
    }
}

/// Where nothing but wheels is published, installers find nothing for a Python, a processor or a glibc that these are not for.
#[test]
fn where_only_wheels_are_published_they_bind() {
    let lock = |stack: &str, target: &str| {
        let spec =
            format!("[stack]\ntorch = \"2.9.1\"\n{stack}\n[packages]\nkt-kernel = \"==0.7.2\"\n[target.a]\n{target}\n");
        let place = Place::with("only-wheels", &spec);
        let said = place.run(&["lock"]).exits(0).err;
        (said, place.read("checkout/gpuenv.lock"))
    };
    let (said, locked) = lock("", "os = \"ubuntu22.04\"");
    assert!(!said.contains("package-excluded") && locked.contains("\nstack.python = \"3.12\"\n"), "{said}\n{locked}");
    for (stack, target, says) in [
        (
            "python = \"3.14\"",
            "os = \"ubuntu22.04\"",
            "has nothing but wheels for Python >=3.11,<3.13, and Python 3.14",
        ),
        (
            "",
            "os = \"debian11\"",
            "has nothing but wheels for x86_64 with glibc 2.35, and the target is x86_64 with glibc 2.31",
        ),
        ("", "gpu = \"GH200\"\nos = \"ubuntu24.04\"", "and the target is aarch64 with glibc 2.39"),
    ] {
        let said = lock(stack, target).0.split_whitespace().collect::<Vec<_>>().join(" ").replace(" │ ", " ");
        assert!(said.contains("package-excluded") && said.contains(says) && said.contains("find no release"), "{said}");
    }
}

/// The wheels of a release for the two processors can need different C libraries.
#[test]
fn wheels_for_each_processor_have_a_glibc_of_their_own() {
    for (gpu, is_refused) in [("GH200", true), ("H100", false)] {
        let spec = format!(
            "[stack]\ntorch = \"2.9.1\"\n[packages]\nwarp-lang = \"==1.10.0\"\n[target.a]\ngpu = \"{gpu}\"\nos = \"debian11\"\n"
        );
        let said = Place::with("each-processor", &spec).run(&["lock"]).exits(0).err;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ").replace(" │ ", " ");
        let told = "Linux with glibc 2.34, and the target is aarch64 with glibc 2.31";
        assert_eq!((said.contains("package-excluded"), said.contains(told)), (is_refused, is_refused), "{said}");
    }
}

/// What is written stands: no installer takes `numpy>=2,<2`. What the pins need where nothing is written against it stays.
#[test]
fn what_the_pins_need_gives_way_to_what_is_written() {
    for (written, exported) in [(">=2", "numpy>=2"), (">=1.26", "numpy>=1.26,<2"), ("*", "numpy<2")] {
        let place = place("gives-way", "torch = \"2.1.2\"\npython = \"3.11\"", &format!("numpy = \"{written}\""));
        let ran = place.run(&["lock"]).exits(0);
        assert_eq!(ran.err.contains("package-excluded"), written == ">=2", "{}", ran.err);
        for format in ["requirements", "uv", "dockerfile", "conda"] {
            let text = place.run(&["export", format]).exits(0).out;
            let asks = |line: &&str| line.trim().trim_matches(['"', '\'', ',', '-', ' ', '\\']) == exported;
            assert!(text.lines().any(|line| asks(&line)), "{format} lacks {exported}:\n{text}");
        }
    }
}

#[test]
fn what_is_left_out_is_said() {
    let place = place("left-out", "torch = \"2.7.1+cu118\"\npython = \"3.11\"", "transformers = \"==4.50.0\"");
    place.run(&["lock"]).exits(0);
    let ran = place.run(&["export", "requirements", "--hashes"]).exits(0);
    let ran = ran.says("note: requirements: transformers==4.50.0 is not in it");
    let pins: Vec<&str> = ran.out.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(!pins.iter().any(|line| line.contains("transformers")), "{}", ran.out);
    assert!(ran.out.contains("#   transformers==4.50.0\n"), "{}", ran.out);
}

/// A sha256 that nobody has read leaves the answer undetermined; what is known is written.
#[test]
fn hashes_that_are_known_are_written() {
    let place = place("hashes", "torch = \"1.12.1+cu113\"\ntorchvision = \"*\"\npython = \"3.10\"", "");
    place.run(&["lock"]).exits(0);
    let ran =
        place.run(&["export", "requirements", "--hashes"]).exits(3).says("the sha256 of torchvision 0.13.1 is not");
    assert!(ran.out.contains("torch==1.12.1+cu113 \\\n    --hash=sha256:"), "{}", ran.out);
    place.run(&["export", "requirements", "--hashes", "-o", "r.txt"]).exits(3);
    place.run(&["export", "requirements", "--hashes", "-o", "r.txt", "--check"]).exits(0);
}

#[test]
fn packages_alone_are_a_project_of_their_own() {
    let text = format!("[packages]\nnumpy = \"*\"\n[build]\n{TARGET}");
    let place = Place::with("alone", &text);
    place.run(&["lock"]).exits(0);
    let dockerfile = place.run(&["export", "dockerfile"]).exits(0).out;
    assert!(dockerfile.contains("uv venv --python") && dockerfile.contains("\n    numpy\n"), "{dockerfile}");
    assert!(place.run(&["export", "requirements"]).exits(0).out.ends_with("\nnumpy\n"));
    assert!(place.run(&["export", "uv"]).exits(0).out.contains("\"numpy\",\n"));
}

#[test]
fn numpy_2_stays_out_where_torch_does_not_run_with_it() {
    for (torch, held) in [("2.2.2+cu118", true), ("1.13.1+cu117", true), ("2.2.2+cpu", true), ("2.3.1+cu118", false)] {
        let gpu = if torch.ends_with("cpu") { "none" } else { "A100-PCIE-40GB" };
        let text = format!("[stack]\ntorch = \"{torch}\"\npython = \"3.10\"\n{TARGET}").replace("A100-PCIE-40GB", gpu);
        let place = Place::with("numpy", &text.replace("image = \"nvidia/cuda\"", "image = \"ubuntu:22.04\""));
        place.run(&["lock"]).exits(0);
        assert_eq!(place.read("checkout/gpuenv.lock").contains("torch-2.2-numpy-1"), held, "{torch}");
        for format in ["requirements", "uv", "dockerfile", "apptainer", "conda", "github-actions"] {
            let text = place.run(&["export", format]).exits(0).out;
            assert_eq!(text.contains("numpy<2"), held, "{torch} {format}:\n{text}");
        }
        let pixi = place.run(&["export", "pixi"]).exits(0).out;
        assert_eq!(pixi.contains("numpy = \"<2\""), held, "{pixi}");
    }
    // Both are one requirement, and what they leave out is told.
    let place = place("numpy-both", "torch = \"2.0.1+cu118\"", "numpy = \">=1.24\"");
    place.run(&["lock"]).exits(0);
    assert!(place.run(&["export", "requirements"]).exits(0).out.contains("\nnumpy>=1.24,<2\n"));
    let spec = place.read("checkout/gpuenv.toml").replace(">=1.24", ">=2");
    place.write("checkout/gpuenv.toml", &spec);
    let ran = place.run(&["lock"]).exits(0);
    ran.says("package-excluded").says("torch 2.0.1");
}

/// TensorRT 8 asks installers for any cuDNN and loads that of major 8.
#[test]
fn the_cudnn_that_tensorrt_loads_is_held() {
    for (release, held) in [("8.5.3.1", "nvidia-cudnn-cu11<9"), ("8.6.0", "nvidia-cudnn-cu12<9")] {
        let place = Place::with("tensorrt", &format!("[stack]\ntensorrt = \"{release}\"\n{TARGET}"));
        place.run(&["lock"]).exits(0);
        let text = place.run(&["export", "requirements"]).exits(0).out;
        assert!(text.lines().any(|line| line == held), "{text}");
    }
}

/// No installer knows of the check in its code; a pinned range is left as it is.
#[test]
fn transformers_that_would_disable_torch_stays_out_of_an_open_range() {
    let place = place("held-back", "torch = \"2.3.0\"\npython = \"3.11\"", "transformers = \">=4.43.3\"");
    place.run(&["lock"]).exits(0);
    for format in ["requirements", "uv", "dockerfile", "apptainer", "conda", "github-actions", "pixi"] {
        let text = place.run(&["export", format]).exits(0).out;
        assert!(text.contains(">=4.43.3,<5.1"), "{format}:\n{text}");
    }
    assert!(place.read("checkout/gpuenv.lock").contains("transformers-5.1.0-torch-code"));
    place.run(&["lock", "--check"]).exits(0);
    let spec = place.read("checkout/gpuenv.toml").replace(">=4.43.3", "==5.3.0");
    place.write("checkout/gpuenv.toml", &spec);
    let ran = place.run(&["lock"]).exits(0);
    let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["`transformers = \"==5.3.0\"` needs torch >=2.4", "torch 2.3.0 is locked", "`transformers = \"<5.1\"`"]
    {
        assert!(told.contains(part), "{}", ran.err);
    }
    let text = place.run(&["export", "requirements"]).exits(0).out;
    assert!(text.contains("\ntransformers==5.3.0\n"), "{text}");
}

#[test]
fn every_misuse_says_what_to_write() {
    for (stack, packages, code, help) in [
        ("torch = \"2.7\"", "torch = \">=2.4\"", "stack-package", "move it under [stack]: `torch = \">=2.4\"`"),
        ("torch = \"2.7\"", "vllm = \"==0.8.5\"", "stack-package", "`vllm = \"==0.8.5\"`"),
        ("torch = \"2.7\"", "python = \"*\"", "stack-package", "move it under [stack]: `python = \"*\"`"),
        ("torch = \"2.7\"", "nvidia-cudnn-cu12 = \"==9.1.0.70\"", "stack-package", "`cudnn = \"==9.1.0.70\"`"),
        ("torch = \"2.7\"", "transformers = \"4.50\"", "requirement", "write `transformers = \"==4.50.*\"`"),
        ("torch = \"2.7\"", "transformers = \"^4.50\"", "requirement", "write `transformers = \">=4.50,<5\"`"),
        ("torch = \"2.7\"", "transformers = \">=4 ; x\"", "requirement", "holds for all targets"),
        ("torch = \"2.7\"", "transformers = \"@ https://a.b/c.whl\"", "requirement", "package index"),
        ("torch = \"2.7\"", "transformers = \">=4.50 --pre\"", "requirement", "is not a version"),
        ("torch = \"2.7\"", "transformers = 4.50", "type", "write `transformers = \"==4.50.*\"`"),
        ("torch = \"2.7\"", "\"a b\" = \"*\"", "name", "letters, digits"),
        ("torch = \"2.7\"", "a_b = \"*\"\na-b = \"*\"", "duplicate", "keep one of the two"),
        ("tqdm = \"*\"", "x = \"*\"", "unknown-package", "under [packages]: `tqdm = \"*\"`"),
        ("megatron-core = \"*\"", "x = \"*\"", "unknown-package", "`megatron-core` is an ordinary package"),
        // Why nothing is known of them, and where they lie.
        (
            "llama-cpp-python = \"*\"",
            "x = \"*\"",
            "unknown-package",
            "lie at https://abetlen.github.io/llama-cpp-python/whl/, which nobody has read",
        ),
        ("pyg-lib = \"*\"", "x = \"*\"", "unknown-package", "lie at https://data.pyg.org/whl/, which nobody has read"),
        ("transformers = \"4.50\"", "x = \"*\"", "unknown-package", "`transformers = \"==4.50.*\"`"),
    ] {
        let place = place("misuse", stack, packages);
        let ran = place.run(&["lock"]).exits(2);
        let told = ran.err.replace("\n", " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&format!("error[{code}]")) && told.contains(help), "{stack} {packages}:\n{}", ran.err);
        assert!(!told.contains("did you mean"), "{}", ran.err);
    }
}

#[test]
fn a_package_explains_itself() {
    let place = place("explained", "torch = \"2.2.2\"", "numpy = \"<2\"\ntransformers = \"*\"");
    for (name, part) in
        [("transformers", "nothing is solved with it"), ("packages.numpy", "NumPy 1"), ("torch-2.2-numpy-1", "numpy")]
    {
        let told = place.run(&["explain", name]).exits(0).out;
        assert!(told.contains(part), "{name}: {told}");
    }
    let (_, json) = place.json(&["explain", "transformers"]);
    assert_eq!(
        (json["topics"][0]["kind"].as_str(), json["topics"][0]["id"].as_str()),
        (Some("package"), Some("transformers"))
    );
    // What exports add beyond what is written has its reason there.
    let place = self::place("explained-pin", "vllm = \"0.9.2\"", "transformers = \">=4.50\"");
    place.run(&["lock"]).exits(0);
    assert!(place.run(&["export", "uv"]).exits(0).out.contains("transformers>=4.50,<5"));
    let told = place.run(&["explain", "transformers"]).exits(0).out;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("Exports add `transformers<5`, which vllm 0.9.2 of the lock needs"), "{told}");
}

/// A package that needs NumPy 1 leaves Python at a line which that has wheels for: one of every release that is asked for, one
/// of those that have code for the GPU, one of `[packages]`; and a Python that is written is kept, with a warning.
const NUMPY_1: &[Case] = &[
    case("xgboost = \"0.90\"", "gpu = \"Tesla K80\"", 0, &["lock: stack.python = \"3.12\"", "![package-excluded]"]),
    case("xgboost = \"1.5.2\"", "gpu = \"GTX 1080\"", 0, &["lock: stack.python = \"3.12\""]),
    case("xgboost = \"1.6.0\"", "gpu = \"GTX 1080\"", 0, &["lock: stack.python = \"3.14\""]),
    case("xgboost = \"<1.7\"", "gpu = \"GTX 1080\"", 0, &["xgboost      1.6.2", "lock: stack.python = \"3.14\""]),
    case("xgboost = \"*\"", "gpu = \"Tesla K40m\"", 0, &["1.5.2", "lock: stack.python = \"3.12\""]),
    case("xgboost = \"*\"", "gpu = \"A100\"", 0, &["lock: stack.python = \"3.14\""]),
    case(
        "xgboost = \"1.5.2\"\npython = \"3.13\"",
        "gpu = \"GTX 1080\"",
        0,
        &["[package-excluded]", "xgboost 1.5.2 requires numpy <2", "use Python >=3.9,<3.13"],
    ),
    case("xgboost = \"1.5.2\"\npython = \"3.11\"", "gpu = \"GTX 1080\"", 0, &["![package-excluded]"]),
    case("torch = \"2.6.0\"\n[packages]\nnumpy = \"<2\"", "gpu = \"A100\"", 0, &["lock: stack.python = \"3.12\""]),
    case("torch = \"2.6.0\"\n[packages]\nnumpy = \"<3\"", "gpu = \"A100\"", 0, &["lock: stack.python = \"3.13\""]),
];

#[test]
fn numpy_1_keeps_python_to_the_lines_that_it_has_wheels_for() {
    hold("numpy-1", NUMPY_1);
    let place = place("numpy-1", "xgboost = \"1.5.2\"", "scikit-learn = \"*\"");
    place.run(&["lock"]).exits(0);
    assert!(place.run(&["export", "requirements"]).exits(0).out.contains("numpy<2"));
}
