//! How long `gpuenv lock` takes as a whole process, beside `/bin/true` in the same run, and how much memory; and
//! how many decisions the solver takes as the catalog grows. It prints and asserts nothing: machines differ.

#[path = "../tests/common/synthetic.rs"]
mod synthetic;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gpuenv::catalog::{BUILTIN, Catalog, packed};
use gpuenv::solve::compile::Locked;
use gpuenv::solve::engine::Steps;
use gpuenv::solve::problem::Problem;
use gpuenv::solve::request::Request;
use gpuenv::solve::resolve::resolve;
use gpuenv::spec;

/// Runs of each command, in turn, so that a busy moment of the machine strikes all alike.
const RUNS: usize = 31;

const TWO_TARGETS: &str = r#"
[stack]
torch = ">=2.4,<2.8"
torchvision = "*"
python = "3.11"
[target.prod]
gpu = ["A100-PCIE-40GB", "H100 NVL"]
driver = "525.116.03"
image = "nvidia/cuda"
os = "ubuntu22.04"
[target.lab]
gpu = "RTX 3090"
os = "ubuntu20.04"
"#;

const CONFLICT: &str = r#"
[stack]
torch = "1.12.1+cu102"
python = "3.10"
[target.prod]
gpu = ["A100-PCIE-40GB", "H100 NVL"]
driver = "525.116.03"
image = "nvidia/cuda"
os = "ubuntu22.04"
"#;

/// No table is empty here: that nothing goes together takes a proof.
const PROOF: &str = r#"
[stack]
torch = "+cu126"
[target.old]
gpu = "RTX 2080 Ti"
driver = "450.80.02"
image = "nvidia/cuda"
"#;

fn main() {
    let folder = std::env::temp_dir().join(format!("gpuenv-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for specs can be made");
    let specs =
        [("two", TWO_TARGETS.to_string()), ("conflict", CONFLICT.to_string()), ("thousand", thousand_targets())];
    for (name, text) in &specs {
        fs::write(spec_file(&folder, name), text).expect("a spec can be written");
    }
    let subjects = [
        ("/bin/true", Command::new("/bin/true")),
        ("lock, 2 targets, fresh", lock(&folder, "two", true)),
        ("the same, installed catalog", with_catalog(&folder, lock(&folder, "two", true))),
        ("lock, 2 targets, again", lock(&folder, "two", false)),
        ("lock, a conflict", lock(&folder, "conflict", false)),
        ("lock, 1,000 targets, fresh", lock(&folder, "thousand", true)),
        ("lock, 1,000 targets, again", lock(&folder, "thousand", false)),
    ];
    println!("{:28} {:>10} {:>8} {:>10}", "whole process", "median ms", "ratio", "peak MB");
    for line in processes(subjects) {
        println!("{line}");
    }
    fs::remove_dir_all(&folder).ok();

    println!("\n{:28} {:>10} {:>8} {:>10}", "decisions of the solver", "builtin", "x10", "x100");
    let (ten, hundred) = (synthetic::grown(10), synthetic::grown(100));
    let proof = [("proof", PROOF.to_string())];
    for (name, text) in specs.iter().chain(&proof) {
        let [one, ten, hundred] = [&BUILTIN, &ten, &hundred].map(|catalog| decisions(catalog, text));
        println!("{name:28} {one:>10} {ten:>8} {hundred:>10}");
    }
}

fn spec_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.toml"))
}

/// Six kinds of machines over and over: what a fleet looks like.
fn thousand_targets() -> String {
    let gpus = ["RTX 3090", "H100 NVL", "L40S", "A10", "A100-PCIE-40GB", "Tesla T4"];
    let drivers = ["570.124.06", "550.54.15", "560.35.05", "535.183.01"];
    let mut text = "[stack]\ntorch = \">=2.4,<2.8\"\npython = \"3.11\"\n".to_string();
    for at in 0..1000 {
        let (gpu, driver) = (gpus[at % gpus.len()], drivers[at % 7 % drivers.len()]);
        let _ = write!(text, "[target.m{at:04}]\ngpu = \"{gpu}\"\ndriver = \"{driver}\"\nos = \"ubuntu22.04\"\n");
    }
    text
}

fn lock(folder: &Path, name: &str, fresh: bool) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuenv"));
    command.arg("lock").arg("--spec").arg(spec_file(folder, name));
    command.arg("--lock").arg(folder.join(format!("{name}.lock"))).args(fresh.then_some("--fresh"));
    command
}

/// The same command of a user who has installed a newer catalog of the same rows.
fn with_catalog(folder: &Path, mut command: Command) -> Command {
    let newer = Catalog { version: "2999.01.01".into(), ..BUILTIN.clone() };
    let catalogs = folder.join("data/gpuenv/catalogs");
    fs::create_dir_all(&catalogs).expect("a folder for catalogs can be made");
    let packed = packed::pack(&newer, packed::SMALL).expect("a catalog can be packed");
    fs::write(catalogs.join("2999.01.01.catalog"), packed).expect("a catalog can be written");
    command.env("XDG_DATA_HOME", folder.join("data"));
    command
}

/// A line for each command: its median time, that in terms of the first one's, and its peak memory.
fn processes<const N: usize>(mut subjects: [(&'static str, Command); N]) -> Vec<String> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); N];
    let mut peaks = [0; N];
    for _ in 0..RUNS {
        for (at, (_, command)) in subjects.iter_mut().enumerate() {
            let (time, peak) = run(command);
            times[at].push(time);
            peaks[at] = peak.max(peaks[at]);
        }
    }
    times.iter_mut().for_each(|times| times.sort());
    let median = |at: usize| times[at][RUNS / 2].as_secs_f64() * 1000.0;
    let line = |at: usize| {
        let (name, ratio, peak) = (subjects[at].0, median(at) / median(0), peaks[at] as f64 / 1024.0);
        format!("{name:28} {:>10.2} {ratio:>8.2} {peak:>10.1}", median(at))
    };
    (0..N).map(line).collect()
}

/// Wall time from start to end, and the peak of resident memory in KiB.
#[allow(clippy::zombie_processes)] // `wait4` below is the wait.
fn run(command: &mut Command) -> (Duration, i64) {
    let start = Instant::now();
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command starts");
    let mut status = 0;
    // SAFETY: `wait4` writes to the two places it is given, and all bits zero is a value of `rusage`. Nobody else
    // waits for this child: the handle is dropped without waiting.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::wait4(child.id() as i32, &mut status, 0, &mut usage);
        usage
    };
    (start.elapsed(), usage.ru_maxrss)
}

fn decisions(catalog: &Catalog, text: &str) -> u64 {
    let rules = Problem::new(catalog);
    let spec = spec::parse(text).expect("the spec parses");
    let (request, _) = Request::new(&spec, &rules).expect("its names are known");
    let steps = Steps::default();
    resolve(&request, &Locked::new(), &steps);
    steps.taken()
}
