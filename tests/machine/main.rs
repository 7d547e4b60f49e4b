//! What is seen of a machine and judged: probes on drivers that are scripted, hosts that people described.

#[path = "../common/mod.rs"]
mod common;

mod dead_mounts;
mod hosts;
mod kernel_runs;
mod kernels;
mod mutations;
mod pasted;
mod probe;
mod scripted;
mod stack;
mod system_libraries;
mod unrun;
mod verdict_asked;
mod verdict_borders;
mod verdict_faults;
mod verdict_neighbours;
mod verdict_others;
mod verdict_pastes;
mod verdict_texts;
mod verdict_told;
mod verdicts;
mod verify;
mod verify_compat;
mod verify_reports;
mod wrong_locks;
