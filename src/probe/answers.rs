//! File systems that may not answer: a mount whose server is gone holds whoever asks it, and cannot be interrupted. So
//! what can meet one is asked in a thread that is left behind if need be.

use std::collections::BTreeMap;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::types::beside;

/// How long a folder that is not needed, but read where it is there, may take to answer.
const MOMENT: Duration = Duration::from_secs(1);

/// How long is waited before it is seen whether others work.
const PART: Duration = Duration::from_millis(100);

/// Milliseconds that were spent on waiting for file systems, of which whoever keeps to a limit has to know.
static WAITED: AtomicU64 = AtomicU64::new(0);

/// What somebody answers within this time.
pub fn within<T: Send + 'static>(limit: Duration, ask: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    within_own(limit, || false, ask)
}

/// What somebody answers who may take this time for himself, and any time while `busy` says that others work for him.
pub fn within_own<T: Send + 'static>(
    limit: Duration,
    busy: impl Fn() -> bool,
    ask: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (tell, hear) = channel();
    let asked = beside::start(move || drop(tell.send(ask())));
    let mut left = limit;
    while left > Duration::ZERO {
        let (part, began) = (left.min(PART), Instant::now());
        match hear.recv_timeout(part) {
            Ok(answer) => return Some(answer),
            Err(RecvTimeoutError::Timeout) if busy() => {}
            Err(RecvTimeoutError::Timeout) => left = left.saturating_sub(began.elapsed()),
            // Nobody is left to answer: it broke off.
            Err(RecvTimeoutError::Disconnected) => {
                return asked?.join().map_or_else(|broken| resume_unwind(broken), |()| None);
            }
        }
    }
    None
}

/// Asks a file system for what is there: what it remembers of a folder is not asked of its server.
pub fn touch(path: &Path) {
    let _ = fs::canonicalize(path);
    if fs::metadata(path).is_ok_and(|about| about.is_dir()) {
        let _ = fs::read_dir(path).map(|mut entries| entries.next().is_some());
    }
}

/// Whether a folder answers in a moment, be it that there is none. Each is asked once.
pub fn answers(folder: &Path) -> bool {
    static KNOWN: Mutex<BTreeMap<PathBuf, bool>> = Mutex::new(BTreeMap::new());
    let known = |known: &mut BTreeMap<PathBuf, bool>| known.get(folder).copied();
    if let Some(known) = KNOWN.lock().ok().and_then(|mut all| known(&mut all)) {
        return known;
    }
    let answers = first_silent(vec![folder.to_path_buf()], MOMENT).is_none();
    KNOWN.lock().into_iter().for_each(|mut all| all.extend([(folder.to_path_buf(), answers)]));
    answers
}

/// The first of these that has not answered when they all should have.
pub fn first_silent(paths: Vec<PathBuf>, limit: Duration) -> Option<PathBuf> {
    let (tell, hear) = channel();
    let (asked, began) = (paths.clone(), Instant::now());
    beside::start(move || {
        for path in asked {
            touch(&path);
            let _ = tell.send(());
        }
    });
    let silent = paths.into_iter().find(|_| hear.recv_timeout(limit.saturating_sub(began.elapsed())).is_err());
    WAITED.fetch_add(began.elapsed().as_millis() as u64, Ordering::Relaxed);
    silent
}

/// How long was waited for file systems since this was last asked.
pub fn waited() -> Duration {
    Duration::from_millis(WAITED.swap(0, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use std::thread;

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
    fn what_is_not_there_answers_too() {
        let paths = ["/", "/nonexistent", "/proc/self/mem", "x\0"].map(PathBuf::from).to_vec();
        assert!(paths.iter().all(|path| answers(path)));
        assert_eq!(first_silent(paths, Duration::from_secs(10)), None);
    }
}
