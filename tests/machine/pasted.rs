//! Verdicts on a text that somebody pasted of a host.

use gpuenv::catalog::BUILTIN;
use gpuenv::diagnose;
use gpuenv::lock::Lock;
use gpuenv::verify::Status::{self, Pass, Unknown};
use gpuenv::verify::{self, Verdict};

use crate::common::judge::worst;

/// What nvidia-smi prints of one GPU.
pub fn table(driver: &str, cuda: &str, gpu: &str) -> String {
    format!(
        "| NVIDIA-SMI {driver}    Driver Version: {driver}    CUDA Version: {cuda}     |\n\
         |   0  {gpu} Off  | 00000000:01:00.0 Off |                  N/A |\n"
    )
}

/// The same of a host on which nothing is wrong.
pub fn sound() -> String {
    table("550.120", "12.4", "NVIDIA GeForce RTX 3090")
}

/// The verdict on the host of a text for the only target of a lock.
#[track_caller]
pub fn judged(lock: &Lock, text: &str) -> Verdict {
    let record = diagnose::host_of(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let target = lock.target.keys().next().unwrap();
    verify::judge(lock, target, &record, &BUILTIN).unwrap()
}

/// The worst check of this id ends so and says so, and nothing else decides whether the host passes.
#[track_caller]
pub fn ends(lock: &Lock, text: &str, id: &str, status: Status, says: &str) {
    let verdict = judged(lock, text);
    let check = worst(&verdict, id);
    let words = format!("{:?} {:?}", check.found, check.hint);
    assert!(check.status == status && words.contains(says), "{text}\nexpected {id} {status:?} {says:?}: {verdict:#?}");
    assert_eq!(verdict.status == Pass, status < Unknown, "{text}\n{verdict:#?}");
}

#[track_caller]
pub fn passes(lock: &Lock, text: &str) {
    let verdict = judged(lock, text);
    assert_eq!(verdict.status, Pass, "{text}\n{verdict:#?}");
}
