//! Every format of locks of every kind, as tests/export/printed keeps it: a lock is a file, and a format a part of it.
//!
//! `UPDATE_EXAMPLES=1 cargo test --test export printed` writes them anew. The locks are made by hand, so that no new release
//! changes them.

use std::fs;
use std::path::Path;

use miette::Diagnostic;

use gpuenv::export::{FORMATS, Options, format};
use gpuenv::lock::{Lock, Wheel};

use crate::forms::FORMS;
use crate::locks::{self, CU124};

const OTHER: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";
const SHA256: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A lock with something else in it.
fn with(mut lock: Lock, change: impl Fn(&mut Lock)) -> Lock {
    change(&mut lock);
    lock
}

/// What is printed of each: the lock, the target and its name.
fn all() -> Vec<(&'static str, Lock, &'static str)> {
    vec![
        ("container", locks::container(), "prod"),
        ("build", locks::container_with_build(), "prod"),
        ("bare-metal", locks::bare_metal(), "lab"),
        ("mixed", locks::mixed(), "ci"),
        ("two-platforms", locks::two_platforms(), "arm"),
        ("beside-a-release", locks::beside_a_release(), "prod"),
        ("addressed", locks::addressed(), "prod"),
        ("compiled-beside", locks::compiled_beside(), "prod"),
        ("constrained", locks::constrained(), "prod"),
        ("image-with-torch", locks::image_with_torch(), "prod"),
        ("hashed", hashed(), "prod"),
        ("packages", packages(), "prod"),
        ("packages-alone", with(packages(), |lock| lock.wheel.clear()), "prod"),
        ("several-gpus", several_gpus(), "prod"),
        (
            "forward-compat",
            with(locks::container(), |lock| prod(lock).driver = Some(locks::driver("forward-compat"))),
            "prod",
        ),
        ("nothing-but-gpus", with(locks::bare_metal(), nothing), "lab"),
        ("wsl2", with(locks::bare_metal(), |lock| target(lock, "lab").platform = Some("wsl2".into())), "lab"),
    ]
}

/// Options with their values.
type Given = Vec<(&'static str, &'static str)>;

/// The same with options, beside those of the documents in `forms.rs`.
fn chosen() -> Vec<(&'static str, Lock, &'static str, Given)> {
    vec![
        ("requirements", hashed(), "prod", vec![("hashes", "")]),
        ("requirements", with(hashed(), |lock| lock.wheel.truncate(2)), "prod", vec![("hashes", "")]),
        ("requirements", locks::constrained(), "prod", vec![("constraints", "")]),
        ("dockerfile", packages(), "prod", vec![("user", "app")]),
        ("compose", packages(), "prod", vec![("gpus", "2"), ("ipc", "host"), ("service", "train")]),
        ("compose", locks::container(), "prod", vec![("image", "ghcr.io/acme/train:1")]),
        ("compose", locks::container(), "prod", vec![("dockerfile", "docker/Dockerfile.gpu")]),
        ("kubernetes", several_gpus(), "prod", vec![("dra", ""), ("gpus", "4"), ("image", "ghcr.io/acme/train:1")]),
        ("kubernetes", locks::mixed(), "ci", vec![("dra", ""), ("image", "ghcr.io/acme/train:1")]),
        (
            "kubernetes",
            several_gpus(),
            "prod",
            vec![("kind", "job"), ("runtime-class", "nvidia"), ("image", "ghcr.io/acme/train:1")],
        ),
        (
            "slurm",
            locks::bare_metal(),
            "lab",
            vec![
                ("gres", "gpu:h100:8"),
                ("constraint", "a100|h100"),
                ("partition", "gpu"),
                ("time", "2:00:00"),
                ("nodes", "2"),
            ],
        ),
        ("slurm", locks::bare_metal(), "lab", vec![("modules", "cuda/12.4,gcc/11"), ("venv", "/opt/venv")]),
        ("slurm", locks::container(), "prod", vec![("container", "train.sif")]),
        ("modulefile", locks::bare_metal(), "lab", vec![("syntax", "lua"), ("venv", "/opt/venv")]),
        ("modulefile", locks::bare_metal(), "lab", vec![("syntax", "tcl"), ("toolkit", "/opt/cuda")]),
        ("cmake", locks::bare_metal(), "lab", vec![("host-compiler", "/usr/bin/g++-12")]),
        ("env", locks::bare_metal(), "lab", vec![("deactivate", "")]),
        ("env", locks::bare_metal(), "lab", vec![("deactivate", ""), ("shell", "fish")]),
        ("conda", locks::two_indexes(), "prod", vec![("name", "mine")]),
        ("github-actions", locks::mixed(), "lab", vec![("gpu-runner", "gpu,a100"), ("cpu-runner", "small")]),
    ]
}

fn target<'l>(lock: &'l mut Lock, name: &str) -> &'l mut gpuenv::lock::TargetLock {
    lock.target.get_mut(name).unwrap()
}

fn prod(lock: &mut Lock) -> &mut gpuenv::lock::TargetLock {
    target(lock, "prod")
}

/// Files whose sha256 is known: one of an index, one of the default index that may be either of two, and one that is not.
fn hashed() -> Lock {
    with(locks::container(), |lock| {
        lock.wheel[0].sha256 = SHA256.into();
        lock.wheel
            .push(Wheel { sha256: format!("{SHA256} {OTHER}"), ..locks::wheel("triton", "3.1.0", None, &["prod"]) });
        lock.wheel.push(locks::wheel("tensorflow", "2.18.0", None, &["prod"]));
        lock.wheel.push(Wheel { extra: Some("cuda12".into()), ..locks::wheel("jax", "0.4.35", None, &["prod"]) });
    })
}

/// What `[packages]` asks for beside the stack, and what the stack asks of it.
fn packages() -> Lock {
    with(locks::constrained(), |lock| {
        lock.inputs.insert("packages.timm".into(), ">=1".into());
        lock.inputs.insert("packages.numpy".into(), "*".into());
        lock.wheel[0].asks = vec!["numpy<2".into()];
    })
}

/// Boards of two capabilities on two platforms, a machine that needs more than its driver, and a nightly.
fn several_gpus() -> Lock {
    with(locks::container(), |lock| {
        let prod = prod(lock);
        prod.gpu.push(locks::gpu("NVIDIA A100-SXM4-80GB", "8.0"));
        prod.gpu.push(locks::gpu("NVIDIA H200", "9.0"));
        prod.requires = vec!["nvidia-container-toolkit>=1.17.7".into(), "nvidia-fabricmanager".into()];
        prod.driver.as_mut().unwrap().cuda = "unknown".into();
        let nightly = "https://download.pytorch.org/whl/nightly/cu124";
        lock.wheel = vec![locks::wheel("torch", "2.6.0.dev20241112+cu124", Some(nightly), &["prod"])];
        lock.wheel.push(locks::wheel("torchvision", "0.20.1+cu124", Some(CU124), &["prod"]));
    })
}

/// A target that installs nothing.
fn nothing(lock: &mut Lock) {
    (lock.stack, lock.wheel, lock.arch_list) = (Default::default(), Vec::new(), None);
    let lab = target(lock, "lab");
    (lab.toolkit, lab.driver) = (None, None);
}

fn part(name: &str, lock: &Lock, options: Options) -> String {
    let printed = format(name).unwrap().render(lock, &options).unwrap_or_else(|error| {
        let help = error.help().map_or(String::new(), |help| format!("help: {help}\n"));
        format!("refused: {error}\n{help}")
    });
    let options: Vec<String> = options.values.iter().map(|(name, value)| format!(" --{name} {value}")).collect();
    format!("==== {name}{} ====\n{printed}\n", options.concat().trim_end())
}

#[test]
fn printed_as_kept() {
    let mut files: Vec<(String, String)> = Vec::new();
    for (name, lock, target) in all() {
        let options = || Options { target: Some(target.into()), ..Options::default() };
        let parts = FORMATS.iter().map(|format| part(format.name, &lock, options()));
        files.push((name.to_string(), parts.collect()));
    }
    let documents = FORMS.iter().filter(|(_, values, _)| !values.is_empty());
    let documents = documents.map(|(name, values, _)| (*name, packages(), "prod", values.to_vec()));
    let parts = chosen().into_iter().chain(documents).map(|(name, lock, target, values)| {
        let options = Options { target: Some(target.into()), ..Options::default() };
        part(name, &lock, values.into_iter().fold(options, |options, (name, value)| options.with(name, value)))
    });
    files.push(("options".into(), parts.collect()));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/export/printed");
    let mut wrong = Vec::new();
    for (name, text) in files {
        let path = folder.join(name).with_extension("txt");
        if std::env::var_os("UPDATE_EXAMPLES").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        if let Some((line, (new, old))) = text.lines().zip(kept.lines()).enumerate().find(|(_, (new, old))| new != old)
        {
            wrong.push(format!("{}:{}: {new:?}, not {old:?}", path.display(), line + 1));
        } else if text != kept {
            wrong.push(format!("{} is of another length", path.display()));
        }
    }
    assert!(
        wrong.is_empty(),
        "UPDATE_EXAMPLES=1 cargo test --test export printed writes them anew\n{}",
        wrong.join("\n")
    );
}
