//! File systems that may not answer: a mount whose server is gone holds whoever asks it, and cannot be interrupted. So
//! what can meet one is asked in a thread that is left behind if need be.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Variables that name folders, one or several.
const FOLDERS: &[&str] = &["PATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"];

/// What somebody answers within this time.
pub fn within<T: Send + 'static>(limit: Duration, ask: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (tell, hear) = channel();
    let asked = thread::spawn(move || drop(tell.send(ask())));
    match hear.recv_timeout(limit) {
        Ok(answer) => Some(answer),
        Err(RecvTimeoutError::Timeout) => None,
        // Nobody is left to answer: it broke off.
        Err(RecvTimeoutError::Disconnected) => asked.join().map_or_else(|broken| resume_unwind(broken), |()| None),
    }
}

/// The folders that the environment names and that do not answer within this time.
pub fn silent(environment: &[(OsString, OsString)], limit: Duration) -> BTreeSet<PathBuf> {
    let named = environment.iter().filter(|(name, _)| FOLDERS.iter().any(|known| name == known));
    let folders = named.flat_map(|(_, value)| std::env::split_paths(value).collect::<Vec<_>>());
    let folders: BTreeSet<PathBuf> = folders.filter(|folder| folder.is_absolute()).collect();
    let (tell, hear) = channel();
    for folder in folders.clone() {
        let tell = tell.clone();
        thread::spawn(move || {
            let _ = fs::canonicalize(&folder);
            let _ = tell.send(folder);
        });
    }
    let (mut open, until) = (folders, Instant::now() + limit);
    while !open.is_empty() {
        let Ok(folder) = hear.recv_timeout(until.saturating_duration_since(Instant::now())) else { break };
        open.remove(&folder);
    }
    open
}

/// The environment without these folders, in which nobody can look.
pub fn without(environment: &[(OsString, OsString)], silent: &BTreeSet<PathBuf>) -> Vec<(OsString, OsString)> {
    let kept = environment.iter().filter_map(|(name, value)| {
        if silent.is_empty() || !FOLDERS.iter().any(|known| name == known) {
            return Some((name.clone(), value.clone()));
        }
        let left: Vec<PathBuf> = std::env::split_paths(value).filter(|folder| !silent.contains(folder)).collect();
        let joined = std::env::join_paths(&left).ok().filter(|_| !left.is_empty())?;
        Some((name.clone(), joined))
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_does_not_answer_is_left_behind() {
        assert_eq!(within(Duration::from_secs(10), || 7), Some(7));
        let began = Instant::now();
        let hangs = || thread::sleep(Duration::from_secs(20));
        assert_eq!(within(Duration::from_millis(50), hangs), None);
        assert!(began.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn folders_that_do_not_answer_are_left_out() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let environment = [pair("PATH", "/dead:/usr/bin"), pair("CUDA_HOME", "/dead"), pair("HOME", "/dead")];
        let left = without(&environment, &BTreeSet::from([PathBuf::from("/dead")]));
        assert_eq!(left, [pair("PATH", "/usr/bin"), pair("HOME", "/dead")]);
        assert!(silent(&environment, Duration::from_secs(10)).is_empty());
    }
}
