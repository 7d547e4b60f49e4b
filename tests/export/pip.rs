//! `requirements`: one index, another index, or both without mixing them.

use std::process::Command;

use gpuenv::export::{ExportError, Options, format};
use sha2::{Digest, Sha256};

use crate::common::tools;
use crate::{locks, render};

fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_default_index_needs_no_line() {
    assert_eq!(without_comments(&render("requirements", &locks::public_index()).unwrap()), "torch==2.5.1\n");
}

#[test]
fn one_other_index_replaces_the_default() {
    assert_eq!(
        without_comments(&render("requirements", &locks::container()).unwrap()),
        format!("--index-url {}\ntorch==2.5.1+cu124\n", locks::CU124)
    );
}

#[test]
fn what_the_pins_need_is_looked_for_where_it_is() {
    let mut lock = locks::container();
    lock.wheel[0].asks = vec!["setuptools>=40.8.0".into()];
    assert_eq!(
        without_comments(&render("requirements", &lock).unwrap()),
        format!("--find-links {}/torch/\ntorch==2.5.1+cu124\nsetuptools>=40.8.0\n", locks::CU124)
    );
    // Beside a wheel of which PyPI may have another, PyTorch's own copies have to do; of [packages] it has none.
    lock.wheel[0].version = "2.5.1".into();
    assert!(render("requirements", &lock).unwrap().contains("--index-url"));
    lock.inputs.insert("packages.requests".into(), ">=2".into());
    assert!(matches!(render("requirements", &lock), Err(ExportError::Ambiguous { .. })));
}

/// What lies beside torch and nobody has seen with its label is another build on PyPI: pip takes that where the page lacks it.
#[test]
fn a_pin_without_the_label_of_torch_is_told() {
    let remarks =
        |lock: &gpuenv::lock::Lock, name: &str| format(name).unwrap().remarks(lock, &Options::default()).join("\n");
    let mut lock = locks::container();
    lock.wheel.push(locks::wheel("torchvision", "0.20.1", Some(locks::CU124), &["prod"]));
    // From one index alone nothing else can come.
    assert_eq!(remarks(&lock, "requirements"), "");
    lock.inputs.insert("packages.requests".into(), ">=2".into());
    for name in ["requirements", "conda", "modal", "skypilot", "github-actions"] {
        let told = remarks(&lock, name);
        assert!(told.contains("no file of torchvision 0.20.1 with the label"), "{name}: {told}");
        assert!(told.contains("known: pip may take the build of another CUDA"), "{name}: {told}");
    }
    assert_eq!(remarks(&lock, "uv"), "");
    lock.wheel[1].version = "0.20.1+cu124".into();
    assert_eq!(remarks(&lock, "requirements"), "");
}

#[test]
fn what_has_an_address_of_its_own_is_asked_for_by_that() {
    let mut lock = locks::addressed();
    let text = without_comments(&render("requirements", &lock).unwrap());
    let url = lock.wheel[0].url.clone().unwrap();
    assert_eq!(text, format!("torch@{url}\ntorchvision==0.20.0\n"));
    for bad in ["https://host/a.whl -r x", "https://host/a.whl#sha256=1", "http://host/a.whl", "https://host/a.tar.gz"]
    {
        lock.wheel[0].url = Some(bad.into());
        let refused = |format| render(format, &lock).is_err();
        assert!(refused("requirements") && refused("uv") && refused("dockerfile"), "{bad}");
    }
}

/// The sha256 of the one file at an address stands in the address; of several that it may serve, beside it.
#[test]
fn what_has_an_address_has_its_sha256_once() {
    let mut lock = locks::addressed();
    let url = lock.wheel[0].url.clone().unwrap();
    let (one, other) = ("a".repeat(64), "b".repeat(64));
    lock.wheel[0].sha256 = one.clone();
    lock.wheel[1].sha256 = one.clone();
    let text = with_hashes(&lock).unwrap();
    assert!(text.contains(&format!("torch@{url}#sha256={one}\n")), "{text}");
    lock.wheel[0].sha256 = format!("{one} {other}");
    let text = with_hashes(&lock).unwrap();
    assert!(
        text.contains(&format!("torch@{url} \\\n    --hash=sha256:{one} \\\n    --hash=sha256:{other}\n")),
        "{text}"
    );
}

#[test]
fn mixed_wheels_come_from_their_own_pages() {
    assert_eq!(
        without_comments(&render("requirements", &locks::two_indexes()).unwrap()),
        format!("--find-links {}/torch/\ntorch==2.5.1+cu124\ntensorflow==2.18.0\n", locks::CU124)
    );
}

#[test]
fn mixed_wheels_that_no_label_tells_apart_are_refused() {
    let mut lock = locks::two_indexes();
    lock.wheel[0].version = "2.5.1".into();
    let error = render("requirements", &lock).unwrap_err();
    assert!(matches!(error, ExportError::Ambiguous { .. }), "{error}");
}

#[test]
fn a_wheel_on_no_index_is_named_by_its_address() {
    let requirement = format!("vllm@{}/vllm-0.6.4+cu124-cp38-abi3-manylinux1_x86_64.whl", locks::RELEASE);
    let lock = locks::beside_a_release();
    let text = without_comments(&render("requirements", &lock).unwrap());
    assert_eq!(text, format!("--find-links {}/torch/\ntorch==2.5.1+cu124\n{requirement}\n", locks::CU124));
    assert!(render("uv", &lock).unwrap().contains(&format!("    \"{requirement}\",\n")));
    // After the locked wheels of the other index, with the pins of these beside it.
    let dockerfile = render("dockerfile", &lock).unwrap();
    assert!(dockerfile.contains(&format!("torch==2.5.1+cu124 \\\n    {requirement}\n")), "{dockerfile}");
}

#[test]
fn the_python_is_a_comment_and_no_marker() {
    let text = render("requirements", &locks::container()).unwrap();
    assert!(text.contains("# For Python 3.11 on Linux x86_64.\n"));
    assert!(!text.contains("python_version"));
}

#[test]
fn what_is_compiled_beside_a_framework_is_said() {
    let text = render("requirements", &locks::compiled_beside()).unwrap();
    assert!(text.contains(": flash-attn, torch-scatter, transformer-engine-torch.\n"), "{text}");
    assert!(text.contains("`pip install --no-build-isolation -r` this file"), "{text}");
    // Nothing is missing from the file for that.
    assert!(without_comments(&text).contains("flash-attn==2.8.3\n"), "{text}");
    assert!(!render("requirements", &locks::container()).unwrap().contains("isolation"));
}

/// At once with what it is compiled beside, pip would build it where no torch is.
#[test]
fn what_is_compiled_beside_a_framework_comes_after_it_or_is_left_out() {
    let lock = locks::compiled_beside();
    for name in ["skypilot", "modal"] {
        let text = render(name, &lock).unwrap();
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{name}: no {what}\n{text}"));
        assert!(at("torch==2.5.1+cu124") < at("ninja") && at("ninja") < at("flash-attn==2.8.3"), "{text}");
        assert!(at("flash-attn==2.8.3").abs_diff(at("--no-build-isolation")) < 200, "{text}");
        assert!(format(name).unwrap().remarks(&lock, &Options::default()).is_empty());
    }
    // The compiler is in the image for building.
    assert!(render("modal", &lock).unwrap().contains("devel"));
    let text = render("github-actions", &lock).unwrap();
    let row = |key: &str| text.lines().find(|line| line.trim().trim_start_matches("- ").starts_with(key)).unwrap();
    assert!(row("requirements:").contains("torch==") && !row("requirements:").contains("flash-attn"), "{text}");
    assert!(row("compiled:").contains("flash-attn==2.8.3") && row("tools:").contains("ninja"), "{text}");
    assert!(text.contains("pip install --no-build-isolation -r requirements-compiled.txt"), "{text}");
    for name in ["conda", "pixi"] {
        let text = render(name, &lock).unwrap();
        assert!(!without_comments(&text).contains("flash-attn"), "{text}");
        let command = "pip install --no-build-isolation 'flash-attn==2.8.3' 'torch-scatter==2.8.3' \
                       'transformer-engine[pytorch]==2.8.3'";
        assert!(text.contains(&format!("{command}\n")), "{text}");
        let remarks = format(name).unwrap().remarks(&lock, &Options::default()).concat();
        assert!(remarks.contains("`pip install ninja pip wheel`, then `") && remarks.contains(command), "{remarks}");
    }
}

#[test]
fn nothing_to_install_is_an_error() {
    let mut lock = locks::container();
    lock.wheel.clear();
    // The lock names a torch, no wheel and an image: the image holds it.
    for format in ["requirements", "uv"] {
        assert!(matches!(render(format, &lock), Err(ExportError::AllInImage { .. })), "{format}");
    }
    lock.target.values_mut().for_each(|target| target.image = None);
    assert_eq!(render("requirements", &lock), Err(ExportError::NothingToInstall));
}

#[test]
fn pip_takes_mixed_wheels_from_their_own_pages() {
    let Some(python) = tools::find("python3") else { return };
    if !Command::new(&python).args(["-m", "pip", "--version"]).output().unwrap().status.success() {
        eprintln!("skipped: pip is not installed");
        return;
    }
    let folder = tools::folder("pip");
    let indexes = tools::Indexes::publish(&python, &folder);
    let text = render("requirements", &locks::two_indexes()).unwrap().replace(locks::CU124, &indexes.private);
    std::fs::write(folder.join("requirements.txt"), text).unwrap();
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "--isolated", "--disable-pip-version-check", "download", "--no-cache-dir"]);
    pip.args(["--index-url", &indexes.public, "--dest", "got", "--requirement", "requirements.txt"]);
    tools::succeed(pip.current_dir(&folder));
    let mut got: Vec<String> = std::fs::read_dir(folder.join("got"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|file| file.replace("-py3-none-any.whl", ""))
        .collect();
    got.sort();
    assert_eq!(got, ["nvidia_cublas_cu12-12.4.5.8", "tensorflow-2.18.0", "torch-2.5.1+cu124"]);
}

fn with_hashes(lock: &gpuenv::lock::Lock) -> Result<String, ExportError> {
    format("requirements")?.render(lock, &Options::default().with("hashes", ""))
}

#[test]
fn hashes_are_written_for_all_wheels_or_for_none() {
    let mut lock = locks::public_index();
    assert_eq!(with_hashes(&lock), Err(ExportError::UnknownHash(vec!["torch 2.5.1".into()])));
    lock.wheel[0].sha256 = ["a".repeat(64), "b".repeat(64)].join(" ");
    let pin =
        format!("torch==2.5.1 \\\n    --hash=sha256:{} \\\n    --hash=sha256:{}\n", "a".repeat(64), "b".repeat(64));
    let text = with_hashes(&lock).unwrap();
    assert_eq!(without_comments(&text), pin);
    assert!(text.contains("--no-deps --require-hashes"), "{text}");
    assert_eq!(without_comments(&render("requirements", &lock).unwrap()), "torch==2.5.1\n");
    // Of what `[packages]` asks for alone nothing is known.
    let mut ordinary = locks::public_index();
    ordinary.wheel.clear();
    ordinary.inputs.insert("packages.timm".into(), "*".into());
    assert_eq!(with_hashes(&ordinary), Err(ExportError::UnknownHash(vec!["timm".into()])));
    // What nobody has read is a comment, and said to be unknown.
    let mut some = locks::two_indexes();
    some.wheel[0].sha256 = "a".repeat(64);
    let text = with_hashes(&some).unwrap();
    assert!(text.contains("\n#   tensorflow==2.18.0\n") && !without_comments(&text).contains("tensorflow"), "{text}");
    let undetermined = |lock: &gpuenv::lock::Lock| {
        format("requirements").unwrap().undetermined(lock, &Options::default().with("hashes", ""))
    };
    assert!(undetermined(&some).unwrap().contains("tensorflow 2.18.0"));
    assert_eq!(undetermined(&lock), None);
    lock.wheel[0].sha256 = "$(reboot)".into();
    assert!(matches!(with_hashes(&lock), Err(ExportError::BadValue { .. })));
    let uv = format("uv").unwrap().render(&lock, &Options::default().with("hashes", ""));
    assert_eq!(uv.unwrap_err().code(), "not-an-option");
}

#[test]
fn pip_checks_the_hashes_of_mixed_wheels() {
    let Some(python) = tools::find("python3") else { return };
    if !Command::new(&python).args(["-m", "pip", "--version"]).output().unwrap().status.success() {
        eprintln!("skipped: pip is not installed");
        return;
    }
    let folder = tools::folder("pip-hashes");
    let indexes = tools::Indexes::publish(&python, &folder);
    let mut lock = locks::two_indexes();
    for (wheel, file) in lock.wheel.iter_mut().zip([
        "private/torch/torch-2.5.1+cu124-py3-none-any.whl",
        "public/tensorflow/tensorflow-2.18.0-py3-none-any.whl",
    ]) {
        wheel.sha256 =
            Sha256::digest(std::fs::read(folder.join(file)).unwrap()).iter().map(|b| format!("{b:02x}")).collect();
    }
    let download = |text: String| {
        std::fs::write(folder.join("requirements.txt"), text.replace(locks::CU124, &indexes.private)).unwrap();
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "--isolated", "--disable-pip-version-check", "download", "--no-cache-dir"]);
        pip.args(["--no-deps", "--require-hashes", "--index-url", &indexes.public, "--dest", "got"]);
        pip.args(["--requirement", "requirements.txt"]).current_dir(&folder);
        pip
    };
    tools::succeed(&mut download(with_hashes(&lock).unwrap()));
    lock.wheel[0].sha256 = "0".repeat(64);
    let refused = download(with_hashes(&lock).unwrap()).output().unwrap();
    assert!(!refused.status.success(), "a wheel with another sha256 was taken");
}

/// The file holds what others bring in; and a constraints file says it of later installs.
#[test]
fn what_others_bring_in_is_that_of_the_locked_cuda() {
    let text = without_comments(&render("requirements", &locks::constrained()).unwrap());
    assert!(text.contains(&format!("--find-links {}/torchvision/\n", locks::CU124)), "{text}");
    assert!(text.ends_with("torchvision==0.20.1+cu124\n"), "{text}");
    for format in ["conda", "github-actions"] {
        assert!(render(format, &locks::constrained()).unwrap().contains("torchvision==0.20.1+cu124"), "{format}");
    }
    let remarks = |lock: &gpuenv::lock::Lock| format("conda").unwrap().remarks(lock, &Options::default()).join(" ");
    let mut unseen = locks::constrained();
    unseen.constraint[0].version = "0.20.1".into();
    assert!(
        remarks(&unseen).contains("no file of torchvision 0.20.1 with the label")
            && remarks(&locks::constrained()).is_empty()
    );
    // Where torch itself has no label, or is on no index, there is no index of its CUDA to be passed over.
    for (version, index) in [("2.5.1", Some(locks::CU124)), ("2.5.1+cu124", None)] {
        let mut other = unseen.clone();
        other.wheel[0] = locks::wheel("torch", version, index, &["prod"]);
        other.wheel[1] = locks::wheel("vllm", "0.6.4+cu124", Some(locks::CU124), &["prod"]);
        assert!(remarks(&other).is_empty(), "{version} {index:?}");
    }
    let mut alone = locks::constrained();
    alone.constraint[0].brought = false;
    let torch = without_comments(&render("requirements", &alone).unwrap());
    assert!(!torch.contains("torchvision=="), "nothing brings it: {torch}");
    alone.constraint[0].version = "0.20.1".into();
    assert!(remarks(&alone).is_empty(), "what nothing brings is told of nobody");
    let constraints = Options::default().with("constraints", "");
    let text = format("requirements").unwrap().render(&locks::constrained(), &constraints).unwrap();
    let text = without_comments(&text);
    assert!(text.contains("torch==2.5.1+cu124\ntensorflow==2.18.0\ntorchvision==0.20.1+cu124\n"), "{text}");

    let Some(python) = tools::find("python3") else { return };
    let folder = tools::folder("pip-constrained");
    let indexes = tools::Indexes::publish(&python, &folder);
    tools::timm(&python, &folder);
    // A release that does not name one torch goes with any.
    tools::publish(&python, &folder, &[("public", "torchvision", "0.21.0", "torch>=2.5")]);
    let pip = |arguments: &[&str], file: &str, text: String| {
        std::fs::write(folder.join(file), text.replace(locks::CU124, &indexes.private)).unwrap();
        let _ = std::fs::remove_dir_all(folder.join("got"));
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "--isolated", "--disable-pip-version-check", "download", "--no-cache-dir"]);
        pip.args(["--index-url", &indexes.public, "--dest", "got"]).args(arguments);
        tools::succeed(pip.current_dir(&folder));
        let files = std::fs::read_dir(folder.join("got")).unwrap();
        let mut got: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        got.retain(|file| file.starts_with("torch"));
        got.sort();
        got
    };
    let want = ["torch-2.5.1+cu124-py3-none-any.whl", "torchvision-0.20.1+cu124-py3-none-any.whl"];
    let plain = render("requirements", &locks::constrained()).unwrap();
    assert_eq!(pip(&["-r", "requirements.txt", "timm"], "requirements.txt", plain), want);
    assert_eq!(pip(&["-c", "constraints.txt", "timm"], "constraints.txt", text), want);
    // Told nothing, pip takes the default index's build: the check can fail.
    let naive = render("requirements", &locks::two_indexes()).unwrap();
    assert_ne!(pip(&["-r", "requirements.txt", "timm"], "requirements.txt", naive), want);
}

/// What somebody installs himself comes from no index, whoever depends on it.
#[test]
fn pip_takes_no_other_build_of_ones_own() {
    let own = locks::own_build();
    for format in ["requirements", "conda", "github-actions"] {
        assert!(render(format, &own).unwrap().contains("--no-binary torch"), "{format}");
    }
    assert!(render("pixi", &own).unwrap().contains("\nno-binary = [\"torch\"]\n"));
    let constraints = Options::default().with("constraints", "");
    let text = format("requirements").unwrap().render(&own, &constraints).unwrap();
    assert!(without_comments(&text).contains("torch==2.5.1+cu124\n"), "{text}");

    let Some(python) = tools::find("python3") else { return };
    let folder = tools::folder("pip-own");
    let indexes = tools::Indexes::publish(&python, &folder);
    tools::timm(&python, &folder);
    let pip = |text: &str| {
        std::fs::write(folder.join("requirements.txt"), text).unwrap();
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "--isolated", "--disable-pip-version-check", "download", "--no-cache-dir"]);
        pip.args(["--index-url", &indexes.public, "--dest", "got", "-r", "requirements.txt"]).current_dir(&folder);
        pip.output().unwrap().status.success()
    };
    let text = render("requirements", &own).unwrap();
    assert!(!pip(&text), "the torch of an index stands in for it");
    assert!(pip(&text.replace("--no-binary torch\n", "")), "the check can fail");
}
