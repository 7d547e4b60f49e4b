//! What is asked of the probes: how deeply they look, and for what.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::types::{Arch, Version};

/// How much is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Files, the driver's libraries, one built-in kernel per GPU: a few seconds at most.
    Quick,
    /// Also the CUDA libraries, toolkits, the interpreter's packages, every kernel: less than a minute.
    #[default]
    Usual,
    /// Also torch itself and the container runtime.
    Full,
}

/// What is asked of the probes. Without a lock it is the default: everything that can be looked at.
#[derive(Debug, Clone, Default)]
pub struct ProbeOptions {
    /// How much is looked at.
    pub depth: Depth,
    /// The interpreter to ask, where the user names one.
    pub python: Option<PathBuf>,
    /// The machine code to run on each GPU that can load it. Empty: the best that GPU can load.
    pub sass: Vec<Arch>,
    /// The PTX ISA that the locked toolkit writes.
    pub ptx_isa: Option<Version>,
    /// The CUDA line that is locked, `12.8`: whose NVRTC and nvcc are to compile, where they are here.
    pub cuda: Option<Version>,
    /// The packages that are locked: they matter whatever they are called.
    pub packages: BTreeSet<String>,
    /// Whether code is compiled on this machine, so that toolkits and host compilers matter.
    pub build: bool,
    /// Whether root is to load libraries from directories that others can write to.
    pub trust: bool,
    /// How long each child may take, where the user says so.
    pub limit: Option<Duration>,
    /// When all of it has to be over, set as it begins.
    pub until: Option<Instant>,
    /// The folders that the environment names and that do not answer, found as it begins.
    pub silent: BTreeSet<PathBuf>,
}
