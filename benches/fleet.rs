//! How long `gpuenv fleet check` and `gpuenv fleet plan` take as whole processes, and how much memory: 100,000 records of
//! 2 KB of 30 and of 3,000 kinds, and plans for 10,000 hosts. It prints and asserts nothing: machines differ.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

const SPEC: &str = "[stack]\ntorch = \"2.5.1\"\npython = \"3.11\"\n[target.h100]\ngpu = \"H100 NVL\"\n[target.a100]\n\
                    gpu = \"A100-SXM4-80GB\"\n[target.old]\ngpu = [\"T4\", \"V100\", \"P100\"]\n";

const GPUS: &[(&str, &str)] = &[
    ("NVIDIA H100 NVL", "9.0"),
    ("NVIDIA A100-SXM4-80GB", "8.0"),
    ("Tesla T4", "7.5"),
    ("Tesla V100-SXM2-32GB", "7.0"),
    ("NVIDIA L40S", "8.9"),
    ("NVIDIA A10", "8.6"),
    ("NVIDIA H100 80GB HBM3", "9.0"),
    ("NVIDIA A100-PCIE-40GB", "8.0"),
    ("Tesla P100-PCIE-16GB", "6.0"),
    ("NVIDIA RTX A6000", "8.6"),
];
const DRIVERS: &[&str] = &[
    "550.54.15",
    "535.104.05",
    "535.183.01",
    "525.116.03",
    "470.57.02",
    "560.35.05",
    "570.124.06",
    "550.127.05",
    "545.23.08",
    "515.65.01",
];
const SYSTEMS: &[(&str, &str)] = &[("ubuntu22.04", "2.35"), ("ubuntu20.04", "2.31"), ("rhel8", "2.28")];

fn main() {
    let folder = std::env::temp_dir().join(format!("gpuenv-bench-fleet-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    fs::write(folder.join("gpuenv.toml"), SPEC).expect("a spec can be written");
    run(&folder, &["lock"]);
    println!("{:44} {:>9} {:>9}", "whole process", "seconds", "peak MB");
    for (hosts, kinds, command) in
        [(100_000, 30, "check"), (100_000, 3_000, "check"), (10_000, 30, "plan"), (10_000, 300, "plan")]
    {
        let file = folder.join("hosts.ndjson");
        let bytes = write(&file, hosts, kinds);
        let mut args = vec!["fleet", command, "hosts.ndjson"];
        if command == "plan" {
            args.extend(["--target", "h100"]);
        }
        let (seconds, peak) = run(&folder, &args);
        let what = format!("{command}: {hosts} hosts, {kinds} kinds, {} B each", bytes / hosts);
        println!("{what:44} {seconds:>9.2} {:>9.1}", peak as f64 / 1024.0);
    }
    fs::remove_dir_all(&folder).ok();
}

/// Writes so many records of so many kinds; how many bytes they are.
fn write(path: &Path, hosts: usize, kinds: usize) -> usize {
    let healthy: Value = serde_json::from_str(include_str!("../tests/verify/healthy.json")).expect("it is JSON");
    let mut file = BufWriter::new(File::create(path).expect("a file can be made"));
    let mut record = healthy.clone();
    let all = record.as_object_mut().expect("a record is a table");
    for part in ["compat", "driver_libraries", "compilers", "container", "python", "toolkits"] {
        all.remove(part);
    }
    for (part, left) in [("libraries", 1), ("kernels", 1), ("probes", 4)] {
        all[part].as_array_mut().expect("a list").truncate(left);
    }
    let mut bytes = 0;
    for at in 0..hosts {
        let kind = at % kinds;
        let (gpu, driver) = (GPUS[kind % GPUS.len()], DRIVERS[kind / GPUS.len() % DRIVERS.len()]);
        let system = SYSTEMS[kind / (GPUS.len() * DRIVERS.len()) % SYSTEMS.len()];
        let uuid = format!("GPU-{at:032x}");
        record["platform"]["os"] = json!(system.0);
        record["platform"]["glibc"] = json!(system.1);
        record["platform"]["shm"] = json!(kind / (GPUS.len() * DRIVERS.len() * SYSTEMS.len()) * 1024);
        record["module"]["version"] = json!(driver);
        record["nvml"]["driver"] = json!(driver);
        for (part, list) in [("nvml", "gpus"), ("libcuda", "devices")] {
            record[part]["file_version"] = json!(driver);
            let one = &mut record[part][list][0];
            one["name"] = json!(gpu.0);
            one["compute_capability"] = json!(gpu.1);
            one["uuid"] = json!(uuid);
        }
        let line = json!({ "host": format!("node{at:05}"), "record": record }).to_string();
        bytes += line.len() + 1;
        writeln!(file, "{line}").expect("a line can be written");
    }
    file.flush().expect("the file can be written");
    bytes
}

/// Wall time in seconds from start to end, and the peak of resident memory in KiB.
#[allow(clippy::zombie_processes)] // `wait4` below is the wait.
fn run(folder: &Path, args: &[&str]) -> (f64, i64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuenv"));
    command.current_dir(folder).args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let child = command.spawn().expect("the command starts");
    let mut status = 0;
    // SAFETY: `wait4` writes to the two places it is given, and all bits zero is a value of `rusage`. Nobody else
    // waits for this child: the handle is dropped without waiting.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::wait4(child.id() as i32, &mut status, 0, &mut usage);
        usage
    };
    (start.elapsed().as_secs_f64(), usage.ru_maxrss)
}
