//! Work that is done beside the rest: in threads, or one after the other where no more of them are allowed (`ulimit -u`,
//! `pids.max`), for to start one is a call that fails like any other.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, scope};

/// Does work beside what follows. None: no thread could be started, and it is done.
pub fn start(work: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    let work = Arc::new(Mutex::new(Some(work)));
    let of_thread = work.clone();
    let started = Builder::new().spawn(move || once(&of_thread)).ok();
    if started.is_none() {
        once(&work);
    }
    started
}

fn once(work: &Mutex<Option<impl FnOnce()>>) {
    let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(work) = work {
        work();
    }
}

/// What is made of each, side by side, in their order. What breaks off is left out.
pub fn each<'a, I: Sync, T: Send>(of: &'a [I], make: impl Fn(&'a I) -> T + Sync) -> Vec<T> {
    let make = &make;
    scope(|scope| {
        let started = of.iter().map(|one| Builder::new().spawn_scoped(scope, move || make(one)).map_err(|_| make(one)));
        let started: Vec<_> = started.collect();
        started.into_iter().filter_map(|one| one.map_or_else(Some, |thread| thread.join().ok())).collect()
    })
}
