//! Children that end when this process does. They lead groups of their own, so that whatever they start can be ended with
//! them, which neither a terminal's Ctrl-C nor who ends this process by its number reaches.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Once;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::{Pid, Signal, set_parent_process_death_signal};

/// The groups that are there, 0 where there is none. The leaders of more than these are ended by the kernel alone.
static GROUPS: [AtomicI32; 64] = [const { AtomicI32::new(0) }; 64];

/// Starts a child as the leader of a group, from the root directory. The kernel ends it when this process is gone, however
/// that came about; what it has started in turn only a signal that can be caught ends with it.
pub fn start(command: &mut Command) -> io::Result<Child> {
    let end_with_parent = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: between fork and exec it makes one system call and nothing else.
    unsafe { command.pre_exec(end_with_parent) };
    command.current_dir("/").process_group(0).spawn()
}

/// A group that signals to this process end, too, as long as this is kept.
pub struct Watched(Option<&'static AtomicI32>);

impl Watched {
    /// That of a child.
    pub fn new(group: Pid) -> Self {
        static CATCHES: Once = Once::new();
        CATCHES.call_once(catch);
        let group = group.as_raw_nonzero().get();
        let take = |place: &&AtomicI32| place.compare_exchange(0, group, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        Watched(GROUPS.iter().find(take))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            place.store(0, Ordering::SeqCst);
        }
    }
}

/// Has the signals that people end programs with pass through [`end_all`]. What is ignored (`nohup`) stays so.
fn catch() {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler reads atomics and makes system calls that handlers may make.
        unsafe {
            let before = libc::signal(signal, end_all as extern "C" fn(i32) as libc::sighandler_t);
            if before != libc::SIG_DFL {
                libc::signal(signal, before);
            }
        }
    }
}

/// Ends all groups, then this process as the signal would have.
extern "C" fn end_all(signal: i32) {
    for group in GROUPS.iter().map(|place| place.load(Ordering::SeqCst)).filter(|group| *group > 0) {
        // SAFETY: a system call, which handlers may make.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    // SAFETY: the same. The signal takes effect when this returns.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
