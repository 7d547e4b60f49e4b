//! Folders that the environment names and that may not answer.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::types::beside;

use super::answers::touch;

/// Variables that name folders, one or several.
const FOLDERS: &[&str] =
    &["PATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"];

/// The folders that the environment names and that do not answer within this time.
pub fn silent(environment: &[(OsString, OsString)], limit: Duration) -> BTreeSet<PathBuf> {
    let named = environment.iter().filter(|(name, _)| FOLDERS.iter().any(|known| name == known));
    let folders = named.flat_map(|(_, value)| std::env::split_paths(value).collect::<Vec<_>>());
    let folders: BTreeSet<PathBuf> = folders.filter(|folder| folder.is_absolute()).collect();
    let (tell, hear) = channel();
    for folder in folders.clone() {
        let tell = tell.clone();
        beside::start(move || {
            touch(&folder);
            // An environment's interpreter is a link into somebody's home.
            touch(&folder.join("bin/python"));
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
    fn folders_that_do_not_answer_are_left_out() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let environment = [pair("PATH", "/dead:/usr/bin"), pair("CUDA_HOME", "/dead"), pair("HOME", "/dead")];
        let left = without(&environment, &BTreeSet::from([PathBuf::from("/dead")]));
        assert_eq!(left, [pair("PATH", "/usr/bin"), pair("HOME", "/dead")]);
        assert!(silent(&environment, Duration::from_secs(10)).is_empty());
    }
}
