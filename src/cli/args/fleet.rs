//! What can be typed behind `gpuenv fleet`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Replace;
use crate::cli::{complete, help};

/// Judge many hosts at once, or plan their stacks and drivers
#[derive(Debug, Args)]
#[command(after_help = help::FLEET)]
pub struct FleetArgs {
    #[command(subcommand)]
    pub command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    Check(CheckArgs),
    Plan(PlanArgs),
    Job(JobArgs),
}

/// Judge every host against the lock, grouped by cause
#[derive(Debug, Args)]
#[command(after_help = help::FLEET_CHECK)]
pub struct CheckArgs {
    /// Files and folders [default: stdin]
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<PathBuf>,
    /// The target to judge every host for [default: the one that fits it best]
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// Judge against this spec instead of a lock: it is locked in memory first
    #[arg(long, value_name = "SPEC")]
    pub against: Option<PathBuf>,
    /// Write to a file instead of stdout; its ending (.json, .ndjson, .csv, .html) says the format where --format does not
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub replace: Replace,
    /// Name every host of a group
    #[arg(short, long)]
    pub verbose: bool,
}

/// Plan the fewest stacks for all hosts, and which drivers to raise
#[derive(Debug, Args)]
#[command(after_help = help::FLEET_PLAN)]
pub struct PlanArgs {
    /// Files and folders [default: stdin]
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<PathBuf>,
    /// The target that says what the hosts do not: runtime, image, what is compiled [default: the only one]
    #[arg(long, value_name = "NAME", add = complete::targets())]
    pub target: Option<String>,
    /// Write to a file instead of stdout; its ending (.json, .csv, .html) says the format where --format does not
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub replace: Replace,
    /// Name every class and every host
    #[arg(short, long)]
    pub verbose: bool,
}

/// Print the job that runs `gpuenv probe` on every node
#[derive(Debug, Args)]
#[command(after_help = help::FLEET_JOB)]
pub struct JobArgs {
    /// Who runs it
    #[arg(value_enum)]
    pub engine: Engine,
    /// Slurm: the partition
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Slurm: how many nodes, or a range [default: 1]
    #[arg(long, value_name = "N")]
    pub nodes: Option<String>,
    /// Slurm: the GPUs that a node's part of the job asks for, `gpu:8`
    #[arg(long, value_name = "GRES")]
    pub gres: Option<String>,
    /// Kubernetes: an image that holds gpuenv
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// Kubernetes: the namespace
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Kubernetes: the runtime class that gives pods the GPUs [default: nvidia]
    #[arg(long, value_name = "NAME")]
    pub runtime_class: Option<String>,
    /// The command that runs gpuenv on the nodes
    #[arg(long, value_name = "PATH", default_value = "gpuenv")]
    pub gpuenv: String,
    /// Look only at what takes a few seconds at most
    #[arg(long)]
    pub quick: bool,
    /// Write to a file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub replace: Replace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// A batch script for sbatch
    Slurm,
    /// A DaemonSet, and a ConfigMap with the lock
    Kubernetes,
}
