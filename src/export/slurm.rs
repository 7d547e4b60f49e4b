//! `slurm`: a batch script that asks for the GPUs, sets the environment up and looks before it runs. Sites differ in how
//! they name GPUs and features, so what is asked for comes from options.

use std::fmt::Write;

use crate::lock::{Lock, TargetLock};

use super::env::{self, Plan};
use super::format::{Format, Opt, Options, Render};
use super::{ExportError, valid};

/// `gpuenv export slurm`
pub const FORMAT: Format = Format {
    name: "slurm",
    help: "A batch script for Slurm: asks for GPUs, verifies the node, runs what it is given",
    file: "job.sh",
    options: &[
        Opt::value("gres", "GRES", "What to ask for, as the site names it: gpu:h100:8 [default: gpu:1]"),
        Opt::value("constraint", "FEATURES", "Features that the nodes must have: \"a100|h100\""),
        Opt::value("partition", "NAME", "The partition"),
        Opt::value("time", "LIMIT", "The time limit: 2:00:00"),
        Opt::value("nodes", "N", "How many nodes"),
        Opt::value("modules", "NAMES", "Modules to load, in place of the toolkit's path; a comma between"),
        Opt::value("venv", "DIR", "The virtual environment with the locked wheels"),
        Opt::value(VERIFY_LOCK, "FILE", "The lock that the nodes are compared with [default: the one that is read]"),
        Opt::value("container", "FILE", "Run inside this image of Apptainer, made of `gpuenv export apptainer`"),
    ],
    next: |_, file, _| format!("sbatch {file} COMMAND"),
    merge: None,
    installs: None,
    render: Render::Target(render),
};

/// The option that the command line sets where the lock has another name than the usual one.
pub const VERIFY_LOCK: &str = "verify-lock";

/// An option, what its values look like, and how that is said.
type Asked = (&'static str, fn(&str) -> bool, &'static str);

/// Options that are lines of the head.
const HEAD: [Asked; 5] = [
    ("gres", valid::is_gres, "resources as Slurm names them, such as gpu:h100:8"),
    ("constraint", valid::is_request, "features as Slurm names them, such as a100|h100"),
    ("partition", valid::is_list, "names of partitions with a comma between"),
    ("time", valid::is_time, "a time such as 30, 2:00:00 or 1-12:00:00"),
    ("nodes", valid::is_count, "a number of nodes"),
];

fn render(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let name = valid::target(name)?;
    let mut out = format!(
        "#!/bin/bash\n# Written by `gpuenv export slurm`; do not edit. Run a command in it:\n#   sbatch {} python train.py\n",
        options.place(FORMAT.file)
    );
    let _ = writeln!(out, "#SBATCH --job-name={name}");
    for (option, is_valid, expected) in HEAD {
        let default = (option == "gres" && lock.uses_gpu(name, target)).then_some("gpu:1");
        if let Some(value) = options.get(option).or(default) {
            let _ = writeln!(out, "#SBATCH --{option}={}", valid::option(option, value, is_valid, expected)?);
        }
    }
    out += "set -euo pipefail\n";
    out += &environment(lock, name, target, options)?;
    out += "\n# A node that cannot run the lock ends the job here, and says why.\n";
    let lock_file = match options.get(VERIFY_LOCK) {
        Some(file) => format!(" --lock {}", valid::option(VERIFY_LOCK, file, valid::is_path, "a path without blanks")?),
        None => String::new(),
    };
    // Each node is looked at, not only the one that the script runs on.
    let each = if options.get("nodes").is_some_and(|nodes| nodes != "1") { "srun --ntasks-per-node=1 " } else { "" };
    let _ = writeln!(out, "{each}gpuenv verify --quick --target {name}{lock_file}");
    let run = match options.get("container") {
        Some(image) => {
            let image = valid::option("container", image, valid::is_path, "a path without blanks")?;
            let gpu = if lock.uses_gpu(name, target) { "--nv " } else { "" };
            format!("srun apptainer exec {gpu}{image} \"$@\"")
        }
        None => "srun \"$@\"".to_string(),
    };
    let _ = write!(out, "\nif [ \"$#\" -gt 0 ]; then\n  {run}\nfi\n");
    Ok(out)
}

/// Modules of the site, else what `gpuenv export env` would set; then the environment with the wheels.
fn environment(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let mut out = String::new();
    let mut plan = Plan::new(lock, name, target)?;
    if let Some(modules) = options.get("modules") {
        plan = plan.beside_modules();
        for module in modules.split(',') {
            let module = valid::option("modules", module, valid::is_path, "names of modules with a comma between")?;
            let _ = writeln!(out, "module load {module}");
        }
    }
    if options.get("container").is_none() {
        let lines = env::lines(&plan);
        if !lines.is_empty() {
            out += "\n# As `gpuenv export env` sets it.\n";
            out += &lines;
        }
    }
    if let Some(venv) = options.get("venv") {
        if options.get("container").is_some() {
            let why = "the image holds the wheels";
            return Err(ExportError::Beside { name: "venv", beside: "--container", why });
        }
        let venv = valid::option("venv", venv, valid::is_path, "a path without blanks")?;
        let _ = writeln!(out, ". {venv}/bin/activate");
    }
    Ok(out)
}
