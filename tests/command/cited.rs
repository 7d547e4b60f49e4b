//! A lock rests on the rules that are held against what was chosen: where one of them is corrected, it is asked anew.

use gpuenv::catalog::BUILTIN;
use gpuenv::catalog::rows::{Rule, Subject};
use gpuenv::types::{Constraint, Version};

use crate::common::sandbox::Sandbox;

/// A stack, the lines of its target, a rule, and whether the lock cites it.
const CASES: &[(&str, &str, &str, bool)] = &[
    // The cuDNN that no framework brings, whether it is asked for, installed or in the image that is chosen.
    ("onnxruntime-gpu = \"*\"\ncudnn = \"9\"", "gpu = \"RTX 3090\"", "onnxruntime-gpu-cudnn-9", true),
    (
        "onnxruntime-gpu = \"*\"",
        "gpu = \"RTX 3090\"\ncudnn = \"8.9\"\ntoolkit = \"11.8\"",
        "onnxruntime-gpu-cudnn-8",
        true,
    ),
    ("onnxruntime-gpu = \"*\"", "gpu = \"RTX 3090\"\nimage = \"nvidia/cuda\"", "onnxruntime-gpu-cudnn-9", true),
    ("torch = \"2.6.0\"\nonnxruntime-gpu = \"*\"", "gpu = \"RTX 3090\"", "onnxruntime-gpu-cudnn-9", false),
    ("onnxruntime-gpu = \"*\"", "gpu = \"none\"\ncudnn = \"9\"", "onnxruntime-gpu-cudnn-9", false),
    ("onnxruntime-gpu = \"*\"", "gpu = \"RTX 3090\"", "onnxruntime-gpu-cudnn-9", false),
    // The toolkit that is installed, for what looks for one.
    (
        "torch = \"2.3.1\"\nbitsandbytes = \"0.40.0\"",
        "gpu = \"RTX 3090\"\ntoolkit = \"12.2\"",
        "bitsandbytes-0.40.0.post2-toolkit",
        true,
    ),
    ("torch = \"2.3.1\"\nbitsandbytes = \"0.40.0\"", "gpu = \"RTX 3090\"", "bitsandbytes-0.40.0.post2-toolkit", false),
    (
        "torch = \"2.6.0\"\nflash-attn = \"2.7.4.post1\"",
        "gpu = \"RTX 3090\"\ntoolkit = \"12.4\"",
        "flash-attn-2.7-toolkit",
        false,
    ),
    // The one that compiles.
    (
        "torch = \"2.6.0\"\nflash-attn = \"2.7.4.post1\"",
        "gpu = \"RTX 3090\"\ntoolkit = \"12.4\"\n[build]",
        "flash-attn-2.7-toolkit",
        true,
    ),
    // The one whose parts pip installs.
    ("jax = \"0.4.35\"", "gpu = \"H100\"", "jax-0.4-ptxas", true),
    ("jax = \"0.4.35\"", "gpu = \"A100\"", "jax-0.4-ptxas", false),
    ("jax = \"0.4.30\"", "gpu = \"A100\"", "jax-blackwell", true),
    ("jax = \"0.4.30\"", "", "jax-blackwell", false),
];

/// The lock of a spec; none where it has no answer.
fn locked(name: &str, stack: &str, target: &str) -> Option<String> {
    let place = Sandbox::new(name, &format!("[stack]\n{stack}\n[target.t]\n{target}\n"));
    (place.run(&["lock"]).code == 0).then(|| std::fs::read_to_string(place.path("gpuenv.lock")).unwrap())
}

fn cites(lock: &str, rule: &str) -> bool {
    lock.contains(&format!("{{ id = \"{rule}\""))
}

#[test]
fn a_lock_cites_the_rules_that_were_asked() {
    for (at, (stack, target, rule, is_cited)) in CASES.iter().enumerate() {
        let lock = locked(&format!("cited-{at}"), stack, target).unwrap();
        assert_eq!(cites(&lock, rule), *is_cited, "{stack} {target}: {rule}");
    }
}

/// The boards on which rules about some boards are tried.
const BOARDS: &[(&str, &str)] = &[("8.9", "L4"), (">=8.6,<8.9", "RTX 3090"), ("10.3", "B300"), (">=9.0", "H100")];

/// A stack of what a rule is tried with is one that it is asked of.
#[test]
fn each_rule_about_a_cudnn_or_a_toolkit_is_cited() {
    let version = |text: &str| Version::parse(text).unwrap();
    let mut seen = Vec::new();
    // What compares minor releases is cited where it warns.
    let is_asked = |row: &&Rule| !row.unproven && row.minors.is_empty() && row.package.as_deref() != Some("jax");
    for row in BUILTIN.rules.iter().filter(is_asked) {
        let (object, build) = match row.object {
            Subject::Cudnn => ("cudnn", ""),
            Subject::Toolkit => ("toolkit", "\n[build]"),
            _ => continue,
        };
        let Some(package) = row.package.as_deref() else { continue };
        let board = row.gpu.as_deref().map_or(Some("T4"), |of| Some(BOARDS.iter().find(|(ccs, _)| *ccs == of)?.1));
        let range = Constraint::parse(&row.range).unwrap();
        let pairs = row.holds.iter().filter_map(|pair| pair.split_once(' '));
        for (at, (release, has)) in pairs.filter(|(release, _)| range.admits(&version(release))).enumerate() {
            let Some(gpu) = board else { continue };
            let (stack, target) =
                (format!("{package} = \"{release}\""), format!("gpu = \"{gpu}\"\n{object} = \"{has}\""));
            let Some(lock) = locked(&format!("tried-{}-{at}", row.id), &stack, &format!("{target}{build}")) else {
                continue;
            };
            let taken = lock.split_once(&format!("package = \"{package}\", version = \"")).unwrap().1;
            if range.admits(&version(taken.split(['"', '+']).next().unwrap())) {
                assert!(cites(&lock, &row.id), "{}: {stack} {target}{build}", row.id);
                seen.push(&*row.id);
            }
        }
    }
    seen.dedup();
    assert!(seen.len() > 9, "{seen:?}");
}
