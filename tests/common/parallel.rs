//! A table of cases on every core: a test of hundreds of them is one thread to the test harness.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What becomes of each case, in their order. A case that panics fails the test that asked.
pub fn each<T: Sync, R: Send>(cases: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    by(thread::available_parallelism().map_or(1, usize::from), cases, run)
}

/// The same of cases that wait for something most of their time.
pub fn waiting<T: Sync, R: Send>(cases: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    by(8, cases, run)
}

fn by<T: Sync, R: Send>(workers: usize, cases: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(at) else { return done };
            done.push((at, run(case)));
        }
    };
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers.min(cases.len())).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no case panics")).collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Whether what takes long is wanted as well, as `.ci/full` does: every case of a table instead of some.
pub fn full() -> bool {
    std::env::var_os("GPUENV_TEST_FULL").is_some()
}
