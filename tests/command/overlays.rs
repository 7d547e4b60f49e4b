//! Overlays from end to end: what a site adds is locked, exported and told as its own, and what is wrong with its
//! file ends in words.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::common::sandbox::{Ran, Sandbox};

const SOURCE: &str =
    "source = [{ id = \"acme\", at = \"https://wiki.acme.example/\", kind = \"measured\", seen = \"2026-11-18\" }]\n";

const SPEC: &str = "[stack]\ntorch = \"2.7\"\n[target.a]\ngpu = \"H100 NVL\"\nos = \"ubuntu22.04\"\n";

/// A sandbox whose spec reads this overlay.
fn site(name: &str, spec: &str, overlay: &str) -> Sandbox {
    let sandbox = Sandbox::new(&format!("overlay-{name}"), &format!("{spec}\n[catalog]\noverlays = [\"site.toml\"]\n"));
    fs::write(sandbox.path("site.toml"), format!("{SOURCE}{overlay}")).unwrap();
    sandbox
}

fn lock_of(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.path("gpuenv.lock")).unwrap()
}

impl Sandbox {
    /// Locks, then exports with nothing but the lock left.
    fn exported(&self, args: &[&str]) -> Ran {
        self.run(&["lock"]).exits(0);
        fs::remove_file(self.path("site.toml")).unwrap();
        fs::remove_file(self.path("gpuenv.toml")).unwrap();
        self.run(&[&["export"], args].concat()).exits(0)
    }
}

// What can be described

const IMAGE: &str = r#"
image = [{ repository = "registry.acme.example:5000/ml/cuda", tag = "12.6-r3", cuda = "12.6.3", flavour = "base", os = "ubuntu22.04", arches = ["x86_64"], require = "acme", source = "acme" }]
image_require = [{ id = "acme@x86_64", require = "cuda>=12.6", source = "acme" }]
"#;

/// A GPU that is not released yet is known to nothing that is older than the newest generation.
#[test]
fn a_gpu_of_a_later_generation_takes_no_older_cuda() {
    let gpu = "gpu = [{ name = \"RTX 9090\", cc = \"13.0\", class = \"geforce\", architecture = \"Next\", source = \"acme\" }]\n";
    let sandbox = site("later-gpu", "[stack]\ntorch = \"*\"\n[target.a]\ngpu = \"RTX 9090\"\n", gpu);
    sandbox.run(&["lock"]).exits(0).says("jit-only").says("driver       >=580");
    assert!(lock_of(&sandbox).contains("stack.cuda = \"13."), "{}", lock_of(&sandbox));
}

#[test]
fn a_private_image_is_chosen_checked_and_exported() {
    let spec = SPEC.replace("[target.a]", "[target.a]\nimage = \"registry.acme.example:5000/ml/cuda\"");
    let sandbox = site("image", &spec, IMAGE);
    let told = sandbox.run(&["lock"]).exits(0);
    assert!(!told.err.contains("image-not-checked"), "{told:?}");
    assert!(lock_of(&sandbox).contains("target.a.image = \"registry.acme.example:5000/ml/cuda:12.6-r3\""));
    sandbox.exported(&["dockerfile"]).tells("FROM registry.acme.example:5000/ml/cuda:12.6-r3\n");
    // What it asks of the driver counts as for any image.
    let old = spec.replace("[target.a]", "[target.a]\ndriver = \"535.183.01\"");
    let sandbox = site("image-driver", &old.replace("ml/cuda", "ml/cuda:12.6-r3"), IMAGE);
    sandbox.run(&["lock"]).exits(1).says("(your overlay site.toml:3)");
}

/// An image whose torch is no build that anybody has read holds no other torch.
#[test]
fn the_torch_of_an_image_is_the_one_that_runs_there() {
    let image = r#"
image = [{ repository = "acme/torch", tag = "2.7", cuda = "12.9.1", flavour = "runtime", os = "ubuntu22.04", arches = ["x86_64"], torch = "2.7.1", source = "acme" }]
"#;
    let spec = |torch: &str| {
        let spec = SPEC.replace("[target.a]", "[target.a]\nimage = \"acme/torch:2.7\"");
        let line = spec.lines().find(|line| line.starts_with("torch = ")).unwrap();
        spec.replace(line, &format!("torch = \"{torch}\""))
    };
    let told = site("image-torch-other", &spec("2.6"), image).run(&["lock"]).exits(1);
    told.says("acme/torch:2.7 holds torch 2.7.1, built with CUDA 12.9");
    let told = site("image-torch-unread", &spec("2.7"), image).run(&["lock"]).exits(3);
    told.says("for which GPUs, Python and libraries the torch 2.7.1 in `acme/torch:2.7` was built");
    // Nor does anybody know of a build that was not seen published: it may be the one inside, and is no other.
    let image = image.replace("2.7.1", "2.12.0");
    site("image-torch-unseen", &spec("2.12.0+cu129"), &image).run(&["lock"]).exits(3).says("2.12.0+cu129");
    let told = site("image-torch-unseen-other", &spec("2.15.0+cu130"), &image).run(&["lock"]).exits(1);
    told.says("acme/torch:2.7 holds torch 2.12.0, built with CUDA 12.9");
}

const WHEELS: &str = r#"
[[companion]]
package = "flash-attn"
version = "2.8.3.post2"
variant = "cu126"
framework = "torch"
needs = ">=2.6,<2.8"
index_url = "https://wheels.acme.example/simple"
wheel = "2.8.3.post2+cu126torch2.7"
source = "acme"

[[build]]
package = "torch"
version = "2.7.1.7"
variant = "cu126"
arch = "x86_64"
default = true
status = "stable"
index_url = "https://wheels.acme.example/simple"
wheel = "2.7.1+cu126.acme"
pythons = ["3.12"]
sass = ["9.0"]
glibc = "2.28"
toolkit = "12.6.3"
source = "acme"
arch_source = "acme"
pins_source = "acme"
"#;

/// Only of a release that was published without CUDA there is a CPU build to go to.
#[test]
fn a_cpu_build_that_nobody_made_is_not_promised() {
    let told = |name: &str, torch: &str| {
        let spec = format!("{}[target.cpu]\ngpu = \"none\"\n", SPEC.replace("2.7", torch));
        let ran = site(name, &spec, WHEELS).with(&["lock"], &[("COLUMNS", "400")]);
        ran.exits(0).says("because all targets share one stack").err
    };
    assert!(told("cpu-build", "2.7.0").contains("gives it the CPU build"));
    assert!(!told("no-cpu-build", "2.7.1.7").contains("gives it the CPU build"));
}

#[test]
fn in_house_wheels_come_from_their_own_index() {
    let sandbox = site("wheels", &SPEC.replace("[target", "flash-attn = \"*\"\n[target"), WHEELS);
    sandbox.run(&["lock"]).exits(0);
    let lock = lock_of(&sandbox);
    for part in [
        "stack.torch = \"2.7.1.7+cu126\"",
        "{ package = \"torch\", version = \"2.7.1+cu126.acme\", arch = \"x86_64\", index = \"https://wheels.acme.example/simple\"",
        "{ id = \"flash-attn-2.8.3.post2+cu126\", source = \"your overlay site.toml:3 (https://wiki.acme.example/)\"",
    ] {
        assert!(lock.contains(part), "{part}\n{lock}");
    }
    sandbox.run(&["explain", "--verbose", "stack.torch"]).exits(0).tells("your overlay site.toml:13");
    let (_, told) = sandbox.json(&["explain", "stack.flash-attn"]);
    let facts = told["choices"][0]["facts"].to_string();
    assert!(facts.contains("your overlay site.toml:3 ("), "{facts}");
    sandbox
        .exported(&["requirements"])
        .tells("--index-url https://wheels.acme.example/simple\n")
        .tells("flash-attn==2.8.3.post2+cu126torch2.7\ntorch==2.7.1+cu126.acme\n");
    sandbox.run(&["export", "uv"]).exits(0).tells("url = \"https://wheels.acme.example/simple\"");
}

#[test]
fn a_gpu_not_yet_released_is_locked_and_compiled_for() {
    let gpu = "gpu = [{ name = \"NVIDIA X100\", cc = \"12.0\", class = \"datacenter\", architecture = \"Blackwell\", source = \"acme\" }]\n";
    let spec = SPEC.replace("H100 NVL", "X100") + "[build]\n";
    let sandbox = site("gpu", &spec, gpu);
    sandbox.run(&["lock"]).exits(0);
    let lock = lock_of(&sandbox);
    assert!(
        lock.contains("{ name = \"NVIDIA X100\", compute-capability = \"12.0\", coverage = \"native\" }"),
        "{lock}"
    );
    assert!(lock.contains("id = \"gpu NVIDIA X100 12.0\", source = \"your overlay site.toml:2 ("), "{lock}");
    sandbox.run(&["catalog", "show", "x100"]).exits(0).tells("your overlay site.toml:2");
    sandbox.run(&["catalog", "search", "x100"]).exits(0).tells("gpu NVIDIA X100 12.0");
    sandbox.exported(&["env"]).tells("TORCH_CUDA_ARCH_LIST=12.0");
}

/// A capability that no wheel has machine code for is reached by PTX, or is refused with the overlay's place.
#[test]
fn a_gpu_of_a_new_capability_is_judged_by_what_it_needs() {
    let gpu = "gpu = [{ name = \"NVIDIA Y1\", cc = \"14.0\", class = \"datacenter\", architecture = \"Later\", source = \"acme\" }]\n";
    let sandbox = site("capability", &SPEC.replace("H100 NVL", "Y1").replace("2.7", "2.7.1+cu128"), gpu);
    let lock = || lock_of(&sandbox);
    sandbox.run(&["lock"]).exits(0).says("jit");
    assert!(lock().contains("coverage = \"jit\""), "{}", lock());
    sandbox.write(&sandbox.spec().replace("2.7.1+cu128", "2.7.1+cu126"));
    sandbox.run(&["lock"]).exits(1).says("(your overlay site.toml:2)");
}

// Judging and drafting

/// A host of that GPU and driver, as probes would write it down.
fn host(sandbox: &Sandbox, gpu: &str, driver: &str) {
    let nvml = format!(r#"{{ "driver": "{driver}", "cuda": "12.8", "gpus": [{{ "index": 0, "name": "{gpu}" }}] }}"#);
    let platform = r#"{ "system": "linux", "arch": "x86_64", "os": "ubuntu22.04", "glibc": "2.35" }"#;
    let text = format!(r#"{{ "format": 1, "platform": {platform}, "nvml": {nvml} }}"#);
    fs::write(sandbox.path("host.json"), text).unwrap();
}

/// How a check of a JSON verdict ended; the worst of several.
fn status(verdict: &Value, id: &str) -> String {
    let checks = verdict["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["id"] == id).unwrap_or_else(|| panic!("{id}: {verdict:#}"));
    check["status"].as_str().unwrap().to_string()
}

#[test]
fn verify_judges_with_the_facts_the_lock_was_made_with() {
    let image = "registry.acme.example:5000/ml/cuda:12.6-r3";
    let spec = SPEC.replace("[target.a]", &format!("[target.a]\nimage = \"{image}\""));
    let sandbox = site("verify", &spec, IMAGE);
    sandbox.run(&["lock"]).exits(0);
    host(&sandbox, "NVIDIA H100 NVL", "570.86.15");
    let verify = ["verify", "--host", "host.json"];
    let judged = |args: &[&str]| sandbox.json(&[&verify, args].concat()).1;
    assert_eq!(status(&judged(&[]), "image-require"), "pass");
    assert_eq!(status(&judged(&["--against", "gpuenv.toml"]), "image-require"), "pass");
    assert_eq!(status(&judged(&["--image", image]), "image-require"), "pass");
    assert_eq!(sandbox.run(&verify).err, "");
    // An overlay that is another one by now, or gone, is no fact of this lock.
    fs::write(sandbox.path("site.toml"), format!("{SOURCE}{}", IMAGE.replace("12.6\"", "99\""))).unwrap();
    assert_ne!(status(&judged(&[]), "image-require"), "pass");
    let changed = sandbox.run(&verify).says("was made with site.toml, which has changed since");
    changed.tells("the overlay site.toml has changed");
    fs::remove_file(sandbox.path("site.toml")).unwrap();
    let gone = sandbox.run(&verify).says("was made with site.toml, and site.toml cannot be read");
    assert!(!gone.tells("site.toml cannot be read").out.contains("withdrawn"));
    sandbox.run(&[&verify[..], &["--spec", "gpuenv.toml"]].concat()).exits(4).says("site.toml cannot be read");
    // A lock that needs none reads none.
    let plain = Sandbox::new("overlay-verify-plain", SPEC);
    plain.run(&["lock"]).exits(0);
    plain.write(&format!("{SPEC}[catalog]\noverlays = [\"site.toml\"]\n"));
    host(&plain, "NVIDIA H100 NVL", "570.86.15");
    assert_eq!(plain.run(&verify).err, "");
}

const X100: &str = "gpu = [{ name = \"NVIDIA X100\", cc = \"12.0\", class = \"datacenter\", architecture = \"Blackwell\", source = \"acme\" }]\n";

#[test]
fn init_and_diagnose_know_what_the_overlays_here_know() {
    let sandbox = site("init", SPEC, X100);
    host(&sandbox, "NVIDIA X100", "570.86.15");
    sandbox.run(&["init", "--host", "host.json", "-o", "new.toml"]).exits(0);
    let draft = fs::read_to_string(sandbox.path("new.toml")).unwrap();
    assert!(draft.contains("\n[catalog]\noverlays = [\"site.toml\"]\n"), "{draft}");
    assert!(draft.contains("\ngpu ") && draft.contains("\"NVIDIA X100\""), "{draft}");
    sandbox.run(&["lock", "--spec", "new.toml", "--lock", "new.lock"]).exits(0);

    let message = "NVIDIA X100 with CUDA capability sm_120 is not compatible with the current PyTorch installation.";
    let known = sandbox.run(&["diagnose", message]).exits(0);
    assert!(!known.err.contains("X100"), "{known:?}");
    // What is wrong with an overlay is no reason to say nothing, unless its spec was named.
    fs::remove_file(sandbox.path("site.toml")).unwrap();
    sandbox.run(&["diagnose", message]).exits(0);
    sandbox.run(&["diagnose", message, "--spec", "gpuenv.toml"]).exits(4);
    sandbox.run(&["init", "--host", "host.json", "-o", "old.toml"]).says("the overlays of gpuenv.toml are left aside");
}

// Replacing and retracting

const REPLACED: &str =
    "driver = [{ version = \"570.26\", date = \"2025-01-02\", replace = true, source = \"acme\" }]\n";

#[test]
fn a_replaced_fact_is_told_as_the_overlays() {
    let sandbox = site("replace", SPEC, REPLACED);
    sandbox.run(&["catalog", "show", "driver 570.26"]).exits(0).tells("2025-01-02").tells("your overlay site.toml:2");
    sandbox.run(&["catalog", "show", "driver 570.86.15"]).exits(0);
    let (_, counted) = sandbox.json(&["catalog"]);
    let drivers = counted["tables"].as_array().unwrap().iter().find(|table| table["kind"] == "driver").unwrap();
    assert_eq!(drivers["rows"], gpuenv::catalog::BUILTIN.drivers.len());
}

#[test]
fn nothing_is_overridden_in_silence() {
    let sandbox = site("silent", SPEC, &REPLACED.replace("replace = true, ", ""));
    sandbox
        .run(&["lock"])
        .exits(2)
        .says("error[overlay-exists]")
        .says("the built-in catalog: site.toml:2")
        .says("replace = true");
    fs::write(sandbox.path("site.toml"), format!("{SOURCE}{}", REPLACED.replace("570.26", "570.27"))).unwrap();
    sandbox.run(&["lock"]).exits(2).says("error[overlay-replaces-nothing]").says("there is no `driver 570.27`");
    // An id says what, then which release, then which build.
    let row = "build = [{ package = \"torch\", version = \"2.6.0\", variant = \"cu123\", arch = \"x86_64\", replace = true, status = \"stable\", index = [\"pypi\"], pythons = [\"3.12\"], source = \"acme\" }]\n";
    fs::write(sandbox.path("site.toml"), format!("{SOURCE}{row}")).unwrap();
    sandbox.run(&["lock"]).exits(2).says("the nearest id is `torch-2.6.0-cu124-linux-x86_64`");
    // A second overlay may not override the first either.
    let row = "driver = [{ version = \"570.27\", source = \"acme\" }]\n";
    fs::write(sandbox.path("site.toml"), format!("{SOURCE}{row}")).unwrap();
    fs::write(sandbox.path("team.toml"), format!("\n{row}")).unwrap();
    sandbox.write(&sandbox.spec().replace("\"site.toml\"", "\"site.toml\", \"team.toml\""));
    sandbox.run(&["lock"]).exits(2).says("already in site.toml:2: team.toml:2");
    fs::write(sandbox.path("team.toml"), row.replace("source", "replace = true, source")).unwrap();
    sandbox.run(&["lock"]).exits(0);
    sandbox.run(&["catalog", "show", "driver@570.27"]).tells("your overlay team.toml:1");
}

#[test]
fn a_retracted_rule_binds_nobody_and_is_recorded_where_it_mattered() {
    let retract = "[[retract]]\nrule = \"cuda-12-driver\"\nreason = \"measured here\"\n";
    let old = SPEC
        .replace("[target.a]", "[target.a]\ndriver = \"470.256.02\"\nforward-compat = \"never\"")
        .replace("2.7", "2.1.2+cu121")
        .replace("H100 NVL", "A100-PCIE-40GB");
    let sandbox = site("retract", &old, "");
    fs::write(sandbox.path("site.toml"), "").unwrap();
    sandbox.run(&["lock"]).exits(1).says("cuda-12-driver");
    fs::write(sandbox.path("site.toml"), retract).unwrap();
    sandbox.run(&["lock"]).exits(0);
    let recorded = "{ rule = \"cuda-12-driver\", overlay = \"site.toml:1\", reason = \"measured here\" }";
    assert!(lock_of(&sandbox).contains(recorded), "{}", lock_of(&sandbox));
    sandbox
        .run(&["explain", "cuda-12-driver"])
        .exits(0)
        .tells("your overlay site.toml:1 has set it aside: measured here");
    sandbox.run(&["lock", "--check"]).exits(0);
    // An override beside it has nothing left to do.
    let doubled = format!("{}\n[[override]]\nrule = \"cuda-12-driver\"\nreason = \"too\"\n", sandbox.spec());
    sandbox.write(&doubled);
    sandbox.run(&["lock"]).exits(0).says("warning[unused-override]");
    // What a line needs is told by nobody any more, unless another rule tells it.
    let unstated = sandbox.run(&["lock"]).exits(0);
    assert!(
        unstated.err.contains("[driver-minimum]") && !lock_of(&sandbox).contains("driver.minimum"),
        "{}",
        unstated.err
    );
    let free = site("retract-unused", SPEC, "");
    fs::write(free.path("site.toml"), retract.replace("cuda-12-driver", "cudnn-9.0-gpu")).unwrap();
    free.run(&["lock"]).exits(0);
    assert!(!lock_of(&free).contains("override = ["), "{}", lock_of(&free));
    // Nor does one matter because another rule is set aside beside it.
    let beside =
        site("retract-beside", &format!("{old}[[override]]\nrule = \"cuda-12-driver\"\nreason = \"too\"\n"), "");
    fs::write(beside.path("site.toml"), retract.replace("cuda-12-driver", "cudnn-9.0-gpu")).unwrap();
    beside.run(&["lock"]).exits(0);
    let lock = lock_of(&beside);
    assert!(lock.contains("{ rule = \"cuda-12-driver\", reason = \"too\" }") && !lock.contains("overlay = "), "{lock}");
    for (wrong, says) in [
        (retract.replace("cuda-12-driver", "cuda-12-drivre"), "did you mean `cuda-12-driver`?"),
        (retract.replace("measured here", " "), "needs a reason"),
        (retract.repeat(2), "retracted twice"),
        (retract.replace("reason", "why"), "unknown field `why`"),
    ] {
        fs::write(free.path("site.toml"), wrong).unwrap();
        free.run(&["lock"]).exits(2).says(says);
    }
}

// Staleness

#[test]
fn a_changed_overlay_makes_the_lock_stale() {
    let sandbox = site("stale", SPEC, REPLACED);
    sandbox.run(&["lock"]).exits(0);
    sandbox.run(&["lock", "--check"]).exits(0);
    let lock = lock_of(&sandbox);
    let digest = lock.lines().find(|line| line.starts_with("catalog.overlays = [\"site.toml sha256:"));
    assert_eq!(digest.map_or(0, str::len), "catalog.overlays = [\"site.toml sha256:\"]".len() + 64);
    // Comments and layout say nothing, and locks of older gpuenvs hold the sha256 of the file.
    let digest = digest.unwrap().to_string();
    fs::write(sandbox.path("site.toml"), format!("# ours\n{SOURCE}\n\n# boards\n{REPLACED}")).unwrap();
    sandbox.run(&["lock", "--check"]).exits(0);
    sandbox.run(&["export", "requirements", "--locked"]).exits(0);
    let text = fs::read(sandbox.path("site.toml")).unwrap();
    let file: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    let older = lock.replace(&digest, &format!("catalog.overlays = [\"site.toml sha256:{file}\"]"));
    assert_ne!(older, lock);
    fs::write(sandbox.path("gpuenv.lock"), older).unwrap();
    sandbox.run(&["lock", "--check"]).exits(0);
    fs::write(sandbox.path("gpuenv.lock"), &lock).unwrap();
    fs::write(sandbox.path("site.toml"), format!("{SOURCE}{}", REPLACED.replace("01-02", "01-03"))).unwrap();
    sandbox.run(&["lock", "--check"]).exits(1).says("the overlay site.toml has changed");
    sandbox.run(&["export", "requirements"]).exits(0);
    sandbox.run(&["lock"]).exits(0);
    assert_ne!(lock_of(&sandbox), lock);
    fs::remove_file(sandbox.path("site.toml")).unwrap();
    sandbox.run(&["lock", "--check"]).exits(4).says("site.toml cannot be read").says("gpuenv.toml:8");
    let unchecked =
        "site.toml cannot be read: No such file or directory: whether gpuenv.lock is up to date was not checked";
    sandbox.run(&["export", "requirements"]).exits(0).says(unchecked);
    sandbox.run(&["export", "requirements", "--locked"]).exits(4).says("site.toml cannot be read");
    sandbox.write(SPEC);
    sandbox
        .run(&["lock", "--check"])
        .exits(1)
        .says("`catalog.overlays` was `[\"site.toml\"]` and is no longer written");
}

/// The lock is the same wherever the folder lies and says nothing of it.
#[test]
fn a_lock_holds_names_as_written() {
    let sandbox = site("names", SPEC, REPLACED);
    fs::create_dir(sandbox.path("sub")).unwrap();
    fs::copy(sandbox.path("gpuenv.toml"), sandbox.path("sub/gpuenv.toml")).unwrap();
    let spec = fs::read_to_string(sandbox.path("sub/gpuenv.toml")).unwrap().replace("site.toml", "../site.toml");
    fs::write(sandbox.path("sub/gpuenv.toml"), spec).unwrap();
    sandbox.run(&["lock", "--spec", "sub/gpuenv.toml"]).exits(0);
    let lock = fs::read_to_string(sandbox.path("sub/gpuenv.lock")).unwrap();
    assert!(lock.contains("catalog.overlays = [\"../site.toml sha256:"), "{lock}");
    assert!(!lock.contains(env!("CARGO_TARGET_TMPDIR")), "{lock}");
    for path in ["/etc/site.toml", "~/site.toml", "C:/site.toml", "\\\\\\\\host\\\\site.toml"] {
        sandbox.write(&format!("{SPEC}[catalog]\noverlays = [\"{path}\"]\n"));
        sandbox.run(&["lock"]).exits(2).says("is not relative to gpuenv.toml");
    }
    sandbox.write(&format!("{SPEC}[catalog]\noverlays = [\"site.toml\", \"site.toml\"]\n"));
    sandbox.run(&["lock"]).exits(2).says("names `site.toml` twice");
}

// Bad input

/// An overlay's text after the source, and what is said of it.
const WRONG: &[(&str, &str)] = &[
    ("gpus = []", "there is no kind of row called `gpus`"),
    ("gpu = {}", "`gpu` must be a list of rows"),
    ("gpu = [1]", "a row of `gpu` must be a table"),
    ("version = \"2026.01.01\"", "an overlay cannot have `version`"),
    ("[[law]]\nid = \"gpu-code\"\nsays = \"no\"\nsource = \"acme\"", "a law is code"),
    ("driver = [{ version = \"570.27\", colour = \"red\", source = \"acme\" }]", "unknown field `colour`"),
    ("driver = [{ version = \"570.27\" }]", "missing field `source`"),
    ("driver = [{ version = \"570.27\", source = \"nowhere\" }]", "source `nowhere` does not exist"),
    ("driver = [{ version = \"570.27\", replace = 1, source = \"acme\" }]", "`replace` must be true or false"),
    ("driver = [{ version = 570.27, source = \"acme\" }]", "invalid type: floating point"),
    ("driver = [{ version = \"new\", source = \"acme\" }]", "`new` is not a version"),
    ("driver = [{ version = \"570.27\", date = \"soon\", source = \"acme\" }]", "`soon` is not a date"),
    ("driver = [{ version = \"999.27\", source = \"acme\" }]", "branch 999 does not exist"),
    (
        "driver = [{ version = \"570.27\", source = \"acme\" }, { version = \"570.27\", source = \"acme\" }]",
        "stands twice",
    ),
    ("driver = [{ version = \"570.27\", source = \"acme\"", "line 2:"),
    (
        "[[rule]]\nid = \"loop\"\nsubject = \"gcc\"\nrange = \"9\"\nobject = \"gcc\"\nneeds = \"10\"\nsays = \"x\"\nsource = \"acme\"\nholds = [\"8 8\"]\nfails = [\"9 9\"]",
        "nothing asks what a gcc needs of a gcc",
    ),
    (
        "[[rule]]\nid = \"r\"\nsubject = \"cuda\"\nrange = \"12\"\nobject = \"driver\"\nneeds = \">=600\"\nsays = \"x\"\nsource = \"acme\"\nholds = [\"12.4 535.54.03\"]\nfails = []",
        "the rule says otherwise",
    ),
    (
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"a\"\nneeds = \"1\"\nsource = \"acme\"",
        "`a` is not a framework",
    ),
    (
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \">=99\"\nsource = \"acme\"",
        "no torch is in `>=99`",
    ),
    (
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.7+cu126\"\nsource = \"acme\"",
        "names a variant",
    ),
    (
        "[[companion]]\npackage = \"Flash_Attn\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.7\"\nsource = \"acme\"",
        "lower case",
    ),
    (
        "[[companion]]\npackage = \"a\"\nversion = \"1\"\nframework = \"torch\"\nneeds = \"2.7\"\nindex_url = \"https://me:secret@x/\"\nsource = \"acme\"",
        "is not the address of a wheel index",
    ),
    (
        "image = [{ repository = \"acme/a b\", tag = \"1\", cuda = \"12.6.3\", flavour = \"base\", os = \"ubuntu22.04\", arches = [], source = \"acme\" }]",
        "no registry takes",
    ),
    (
        "image = [{ repository = \"acme/a\", tag = \"1\", cuda = \"12.6.3\", flavour = \"base\", os = \"acmelinux\", arches = [], source = \"acme\" }]",
        "`acmelinux` is in no `images` list",
    ),
    (
        "image = [{ repository = \"acme/a\", tag = \"1\", cuda = \"77.1\", flavour = \"base\", os = \"ubuntu22.04\", arches = [], source = \"acme\" }]",
        "no toolkit is of CUDA 77.1",
    ),
    (
        "gpu = [{ name = \"NVIDIA X1\", cc = \"9.0\", class = \"datacenter\", architecture = \"Ada Lovelace\", source = \"acme\" }]",
        "is Hopper, not Ada Lovelace",
    ),
    (
        "gpu = [{ name = \"NVIDIA \\u001b[31mX1\", cc = \"9.0\", class = \"datacenter\", architecture = \"Hopper\", source = \"acme\" }]",
        "characters that cannot be seen",
    ),
];

#[test]
fn what_is_wrong_with_an_overlay_is_told_at_its_place() {
    let sandbox = site("wrong", SPEC, "");
    for (overlay, says) in WRONG {
        fs::write(sandbox.path("site.toml"), format!("{SOURCE}{overlay}\n")).unwrap();
        let ran = sandbox.run(&["lock"]).exits(2);
        let words = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(says), "{overlay}\n{says}\n{}", ran.err);
        assert!(ran.err.contains("site.toml:") && !ran.err.contains('\u{1b}'), "{overlay}\n{}", ran.err);
        let (_, told) = sandbox.json(&["lock"]);
        let places = told["errors"].as_array().unwrap().iter().filter(|error| !error["span"]["line"].is_null());
        assert!(places.count() > 0, "{told:#}");
        assert!(!sandbox.path("gpuenv.lock").exists());
    }
    // The same by `catalog check`: what could not be read is bad input, what contradicts itself a finding.
    for (overlay, code) in [(WRONG[0].0, 2), (WRONG[12].0, 1)] {
        fs::write(sandbox.path("site.toml"), format!("{SOURCE}{overlay}\n")).unwrap();
        sandbox.run(&["catalog", "check", "site.toml"]).exits(code).says("site.toml:2");
    }
    sandbox
        .run(&["catalog", "check", "site.toml", "--format", "github"])
        .exits(1)
        .tells("::error file=site.toml,line=2,col=11,title=unknown-branch::");
}

/// Whoever asks a catalog with a broken overlay is told of it: as an error, or where something else was asked as a note.
#[test]
fn a_broken_overlay_is_told_by_every_command() {
    let sandbox = site("broken-everywhere", SPEC, "");
    fs::write(sandbox.path("site.toml"), "").unwrap();
    sandbox.run(&["lock"]).exits(0);
    let cycle = "companion = [\n\
                 { package = \"a\", version = \"1\", framework = \"b\", needs = \"1\", source = \"acme\" },\n\
                 { package = \"b\", version = \"1\", framework = \"a\", needs = \"1\", source = \"acme\" },\n]\n";
    let long = format!(
        "companion = [{{ package = \"a\", version = \"1\", framework = \"torch\", needs = \"{}>=1\", source = \"acme\" }}]",
        ">=1,".repeat(900)
    );
    let row = "gpu = [{ name = \"X\", cc = \"12.0\", class = \"geforce\", architecture = \"Blackwell\" }]";
    for (wrong, says) in [
        ("colour = []", "no kind of row called"),
        (row, "missing field `source`"),
        (cycle, "`b` is not a framework"),
        (&long, "at most 64 comparisons"),
        ("driver = [{ version = \"535.183.01\", source = \"acme\" }]", "in silence"),
    ] {
        fs::write(sandbox.path("site.toml"), format!("{SOURCE}{wrong}\n")).unwrap();
        for command in [
            &["lock"][..],
            &["explain"],
            &["explain", "stack.torch"],
            &["verify", "--quick", "--against", "gpuenv.toml"],
            &["diagnose", "--spec", "gpuenv.toml", "no kernel image is available for execution on the device"],
        ] {
            let told = sandbox.run(command).exits(2);
            assert!(told.err.contains("site.toml") && told.err.len() < 3000, "{command:?}: {told:?}");
            let flat = told.err.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains(says), "{command:?}: {told:?}");
        }
        let told = sandbox.run(&["diagnose", "no kernel image is available for execution on the device"]).exits(0);
        assert_eq!(told.err.matches("was left aside").count(), 1, "{told:?}");
        // The lock was made without any row of it: it is judged as it stands.
        assert_ne!(sandbox.run(&["verify", "--quick"]).code, 2);
    }
}

/// In-house wheels may be made for any Pythons.
#[test]
fn sites_need_not_do_as_publishers_do() {
    let wheels = WHEELS.replace("pythons = [\"3.12\"]", "pythons = [\"3.9\", \"3.12\"]");
    let sandbox = site("own-pythons", SPEC, &wheels);
    sandbox.run(&["catalog", "check", "site.toml"]).exits(0);
}

#[test]
fn paths_that_play_tricks_are_refused_at_once() {
    let sandbox = site("tricks", SPEC, "");
    fs::create_dir(sandbox.path("folder")).unwrap();
    symlink("round", sandbox.path("loop")).unwrap();
    symlink("loop", sandbox.path("round")).unwrap();
    symlink("/dev/zero", sandbox.path("zero")).unwrap();
    let up = "../".repeat(40);
    let begun = Instant::now();
    for (path, says, exit) in [
        ("folder", "folder is a folder", 4),
        (".", "is a folder", 4),
        ("loop", "loop cannot be read", 4),
        ("zero", "zero is a link to /dev/zero", 2),
        (&format!("{up}dev/zero"), "is not a regular file", 4),
        ("nowhere.toml", "nowhere.toml cannot be read: No such file", 4),
    ] {
        sandbox.write(&format!("{SPEC}[catalog]\noverlays = [\"{path}\"]\n"));
        let ran = sandbox.run(&["lock"]).exits(exit);
        let words = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(says) && ran.err.contains("gpuenv.toml:7"), "{path}: {}", ran.err);
    }
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_million_rows_end_in_a_word() {
    let sandbox = site("many", SPEC, "");
    let begun = Instant::now();
    let row = "[[retract]]\n";
    fs::write(sandbox.path("site.toml"), row.repeat(1_000_000)).unwrap();
    sandbox.run(&["lock"]).exits(2).says("4 MiB");
    fs::write(sandbox.path("site.toml"), row.repeat(300_000)).unwrap();
    sandbox.run(&["lock"]).exits(2).says("300000 rows are too many: all overlays together may have 20000");
    fs::write(sandbox.path("site.toml"), "[[rule]]\n".repeat(501)).unwrap();
    sandbox.run(&["lock"]).exits(2).says("501 rules are too many");
    fs::write(sandbox.path("site.toml"), format!("gpu = [{{ aliases = [{}] }}]\n", "\"a\", ".repeat(300))).unwrap();
    sandbox.run(&["lock"]).exits(2).says("has too many items");
    // As many as are taken are still locked.
    let drivers: String = (1..20_000).map(|n| format!("{{version=\"570.26.{n}\",source=\"acme\"}},\n")).collect();
    fs::write(sandbox.path("site.toml"), format!("{SOURCE}driver = [\n{drivers}]\n")).unwrap();
    sandbox.run(&["lock"]).exits(0);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    fs::write(sandbox.path("site.toml"), format!("x = {}", "[".repeat(1_000_000))).unwrap();
    sandbox.run(&["lock"]).exits(2);
    fs::write(sandbox.path("site.toml"), [0xff, 0xfe, b'a', 0]).unwrap();
    sandbox.run(&["lock"]).exits(2).says("UTF-16");
}

/// GPU code of which a row for a CUDA variant says nothing is not taken for none.
#[test]
fn a_companion_that_says_nothing_of_gpu_code_is_told() {
    let spec = SPEC.replace("torch = \"2.7\"", "torch = \"2.7.1+cu126\"\nacme-ops = \"*\"");
    let row = "[[companion]]\npackage = \"acme-ops\"\nversion = \"1.0\"\nvariant = \"cu126\"\nframework = \"torch\"\nneeds = \"2.7\"\n\
               index_url = \"https://wheels.acme.example/simple\"\nsource = \"acme\"\n";
    let told = "acme-ops 1.0 in your overlay says nothing of GPU code";
    site("unsaid", &spec, row).run(&["lock"]).exits(0).says(told);
    let said = format!("{row}gpu_code = true\nsass = [\"9.0\"]\narch_source = \"acme\"\n");
    assert!(!site("said", &spec, &said).run(&["lock"]).exits(0).err.contains("unknown-gpu-code"));
    // One for any variant is taken for a package without GPU code.
    let plain = row.replace("variant = \"cu126\"\n", "");
    assert!(!site("plain", &spec, &plain).run(&["lock"]).exits(0).err.contains("unknown-gpu-code"));
}

/// What is said of the catalog here includes the overlays of the gpuenv.toml here, or that they are not in it.
#[test]
fn what_overlays_hold_is_not_left_out_in_silence() {
    let overlay = "driver = [{ version = \"580.999.1\", date = \"2026-11-18\", source = \"acme\" }]\n";
    let sandbox = site("nearby", SPEC, overlay);
    sandbox.run(&["catalog", "check"]).exits(0).tells("site.toml: 2 rows, nothing found");
    fs::write(sandbox.path("site.toml"), "nonsense = [{ x = 1 }]\n").unwrap();
    sandbox.run(&["catalog", "check"]).exits(2).says("site.toml");
    fs::write(sandbox.path("site.toml"), format!("{SOURCE}{}", overlay.replace("2026-11-18", "1999-01-01"))).unwrap();
    sandbox.run(&["catalog", "check"]).exits(1).says("site.toml");
    for broken in [format!("{}x = = 1\n", sandbox.spec()), format!("[catalog]\noverlays = 3\n{SPEC}")] {
        fs::write(sandbox.path("gpuenv.toml"), &broken).unwrap();
        sandbox.run(&["catalog", "check"]).exits(2).says("gpuenv.toml");
        for args in [&["catalog", "list"][..], &["matrix", "--gpu", "T4"], &["catalog", "show", "driver@580"]] {
            sandbox.run(args).exits(0).says("note: what overlays of gpuenv.toml hold is left out");
        }
    }
    // One that names none loses nothing.
    fs::write(sandbox.path("gpuenv.toml"), "x = = 1\n").unwrap();
    sandbox.run(&["catalog", "check"]).exits(0);
    assert!(!sandbox.run(&["catalog", "list"]).exits(0).err.contains("overlays"));
}

/// Nor is a spec that was named and cannot be read, by any command.
#[test]
fn a_named_spec_with_mistakes_is_an_error() {
    let sandbox = Sandbox::new("named-broken", SPEC);
    sandbox.run(&["lock"]).exits(0);
    let commands: &[&[&str]] = &[
        &["catalog", "list"],
        &["catalog", "check"],
        &["catalog", "show", "driver@580"],
        &["catalog", "search", "torch"],
        &["matrix", "--gpu", "T4"],
        &["explain", "cuda-12-driver"],
        &["export", "requirements"],
        &["verify", "--quick"],
        &["verify", "--image", "nvidia/cuda:12.4.1-base-ubuntu22.04"],
        &["fleet", "check", "gpuenv.toml"],
    ];
    for (broken, code) in
        [("x = [", "toml-syntax"), ("[stack]\nfoo.bar = 1\n[target.a]\ngpuu = \"T4\"\n", "unknown-key")]
    {
        fs::write(sandbox.path("gpuenv.toml"), broken).unwrap();
        for command in commands {
            let named = [*command, &["--spec", "gpuenv.toml"]].concat();
            sandbox.run(&named).exits(2).says(&format!("error[{code}]"));
        }
    }
    // One that has yet to say what must run is no mistake.
    fs::write(sandbox.path("gpuenv.toml"), "[catalog]\noverlays = []\n").unwrap();
    sandbox.run(&["catalog", "list", "--spec", "gpuenv.toml"]).exits(0);
}

/// The example of the documentation is a whole overlay.
#[test]
fn the_documented_overlay_is_sound() {
    let docs = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/overlays.md")).unwrap();
    let overlay = docs.split("```toml\n# site-catalog.toml\n").nth(1).unwrap().split("```").next().unwrap();
    let sandbox = site("documented", &SPEC.replace("[target", "flash-attn = \"*\"\n[target"), "");
    fs::write(sandbox.path("site.toml"), overlay).unwrap();
    sandbox.run(&["catalog", "check", "site.toml"]).exits(0).tells("site.toml: 8 rows, nothing found");
    sandbox.run(&["lock"]).exits(0);
    assert!(lock_of(&sandbox).contains("2.7.1+cu126.acme"), "{}", lock_of(&sandbox));
}

/// cuDNN is chosen by the key `cudnn`: a row of its wheel's name would have it locked twice, in two releases.
#[test]
fn no_row_names_what_another_key_chooses() {
    for (package, says) in [
        ("nvidia-cudnn-cu12", "is what `cudnn` of [stack] chooses"),
        ("nvidia-nccl-cu12", "is what `nccl` of [stack] chooses"),
        // pip knows no such name: it would never be asked for.
        ("flash--attn", "with one `-` between words"),
    ] {
        let row = format!(
            "[[companion]]\npackage = \"{package}\"\nversion = \"9.20.0.1\"\nframework = \"torch\"\nneeds = \">=2.0\"\nindex_url = \"https://acme.example/simple\"\nsource = \"acme\"\n"
        );
        site("chosen", SPEC, &row).run(&["lock"]).exits(2).says(says);
    }
}
