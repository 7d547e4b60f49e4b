//! L4, the judge: a host's record held against a lock. Pure: the same record and lock give the same verdict anywhere.
//!
//! The lock alone decides. The catalog that this program carries explains: what a card is called, which branch was
//! its last, which compilers an nvcc takes.

mod beside;
mod build;
mod causes;
pub mod check;
mod compilers;
mod container;
mod context;
mod cuda_errors;
mod driver;
mod environment;
mod families;
mod fit;
mod gpus;
mod health;
mod hidden;
mod installed;
mod kernels;
mod libcuda;
mod libraries;
mod memory;
mod module;
mod nvml_errors;
mod platform;
mod probes;
mod python;
mod rests;
mod seen;
mod served;
mod shown;
mod supported;
mod taken;
mod torch;
mod unlocked;

use crate::catalog::Catalog;
use crate::host::labels::OURS;
use crate::host::signs::PASTE;
use crate::host::{ProbeStatus, Record};
use crate::lock::Lock;

pub use check::{Action, Check, Status, Verdict};
pub use container::SHM_LEAST;
pub use context::CheckContext;
pub use fit::{best, stale};
pub use rests::Against;
pub use unlocked::{judge_image, unfit};

/// A topic: everything that it has to say of a context.
pub type Topic = fn(&CheckContext<'_>) -> Vec<Check>;

/// Every topic, in the order in which they build on each other.
pub const TOPICS: &[(&str, Topic)] = &[
    ("platform", platform::judge),
    ("module", module::judge),
    ("driver", driver::judge),
    ("libcuda", libcuda::judge),
    ("gpus", gpus::judge),
    ("kernels", kernels::judge),
    ("compilers", compilers::judge),
    ("libraries", libraries::judge),
    ("build", build::judge),
    ("python", python::judge),
    ("torch", torch::judge),
    ("container", container::judge),
    ("environment", environment::judge),
    ("probes", probes::judge),
];

/// Judges a host against one target of a lock; none if the lock has no target of this name.
pub fn judge(lock: &Lock, target: &str, record: &Record, catalog: &Catalog) -> Option<Verdict> {
    judge_target(&Against::new(lock, catalog), target, record)
}

fn judge_target(against: &Against<'_>, target: &str, record: &Record) -> Option<Verdict> {
    let (lock, catalog) = (against.lock, against.catalog);
    let (name, locked) = lock.target.get_key_value(target)?;
    let gpus = seen::Gpus::of(locked, record, catalog);
    let context = CheckContext { lock, name, target: locked, record, catalog, against, gpus: &gpus };
    let mut checks: Vec<Check> = TOPICS.iter().flat_map(|(_, judge)| judge(&context)).collect();
    undecided(record, &mut checks);
    // What a text tells of an error follows from what fails.
    if checks.iter().any(|check| check.status == Status::Fail) {
        let is_error = |check: &Check| check.found.as_deref().is_some_and(|found| found.starts_with(probes::ERROR));
        checks.retain(|check| check.id != "probe" || !is_error(check));
    }
    if context.dropped().is_some() {
        gpus_first(&mut checks);
    }
    causes::mark(&context, &mut checks);
    Some(Verdict::of(name, checks))
}

/// What a text tells in two ways fails nothing.
fn undecided(record: &Record, checks: &mut [Check]) {
    let quarrels = record.probes.iter().filter(|probe| probe.name == PASTE && probe.ended == ProbeStatus::Garbled);
    for quarrel in quarrels.filter_map(|probe| probe.detail.as_deref()) {
        let about: &[&str] = match quarrel.split([':', ' ']).next() {
            Some("driver" | "CUDA") => &["driver-", "forward-", "image-"],
            Some(what) if what.starts_with(OURS) => &["gpu-", "driver-", "forward-"],
            Some(what) if what.starts_with("GPU") => &["gpu-"],
            Some("processor") => &["platform-"],
            _ => &["python-", "torch-"],
        };
        let is_about = |check: &&mut Check| about.iter().any(|start| check.id.starts_with(start));
        for check in checks.iter_mut().filter(|check| check.status == Status::Fail).filter(is_about) {
            check.status = Status::Unknown;
        }
    }
}

/// Where no driver that suffices drives the host's GPUs, the GPUs that the lock is not for are the cause.
fn gpus_first(checks: &mut Vec<Check>) {
    let fails = |check: &Check| check.status == Status::Fail;
    let Some(at) = checks.iter().position(|check| check.id.starts_with("driver-") && fails(check)) else { return };
    let (gpus, mut others): (Vec<Check>, Vec<Check>) =
        checks.drain(..).partition(|check| check.id == "gpu-supported" && fails(check));
    others.splice(at..at, gpus);
    *checks = others;
}
