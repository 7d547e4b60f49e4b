//! What is being done, on a line of its own that the next thing takes: for people who wait, not for logs. What is over
//! within half a second is not told at all.

use std::io::IsTerminal;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::screen::clean;
use super::{Report, draw};

/// Nobody wonders before.
const AFTER: Duration = Duration::from_millis(500);
/// More often than this nobody reads.
const EVERY: Duration = Duration::from_millis(100);

/// A line that says what is being done. It is gone when this is.
#[derive(Debug)]
pub struct Progress(Option<(Arc<Shared>, JoinHandle<()>)>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    over: Condvar,
}

#[derive(Debug, Default)]
struct State {
    text: String,
    is_over: bool,
}

impl Report {
    /// Begins to say what is being done, if somebody sits before a terminal.
    pub fn progress(&self) -> Progress {
        if !self.shows_progress() {
            return Progress(None);
        }
        let shared = Arc::new(Shared::default());
        let of_thread = shared.clone();
        let thread = thread::Builder::new().spawn(move || of_thread.show());
        Progress(thread.ok().map(|thread| (shared, thread)))
    }

    fn shows_progress(&self) -> bool {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        !self.json && !self.quiet && !self.screen.narrated && !dumb && !set("CI") && std::io::stderr().is_terminal()
    }
}

impl Progress {
    /// Says what is being done now.
    pub fn says(&self, what: &str) {
        if let Some((shared, _)) = &self.0 {
            shared.state().text = clean(what).into_owned();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some((shared, thread)) = self.0.take() else { return };
        shared.state().is_over = true;
        shared.over.notify_all();
        let _ = thread.join();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self) {
        let begun = Instant::now();
        let mut shown = String::new();
        let mut state = self.state();
        while !state.is_over {
            let wait = AFTER.saturating_sub(begun.elapsed()).max(EVERY);
            state = self.over.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
            if begun.elapsed() >= AFTER && !state.is_over && state.text != shown {
                shown.clone_from(&state.text);
                draw(&format!("\r\x1b[K{shown}"));
            }
        }
        if !shown.is_empty() {
            draw("\r\x1b[K");
        }
    }
}
