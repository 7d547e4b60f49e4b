//! Whether stdout was closed before this program began (`>&-`). The runtime of Rust opens the null device in its place, so
//! that what is written is lost without an error; before that it can be seen.

#[cfg(all(target_os = "linux", feature = "host"))]
mod at_start {
    use std::sync::atomic::{AtomicBool, Ordering};

    static IS_CLOSED: AtomicBool = AtomicBool::new(false);

    /// What is listed in this section runs before the runtime begins.
    #[used]
    // SAFETY: it takes no arguments and rests on nothing that the runtime makes ready.
    #[unsafe(link_section = ".init_array")]
    static LOOKS: extern "C" fn() = look;

    extern "C" fn look() {
        // SAFETY: it asks the kernel, and changes nothing.
        let flags = unsafe { libc::fcntl(1, libc::F_GETFD) };
        IS_CLOSED.store(flags == -1, Ordering::Relaxed);
    }

    pub fn stdout() -> bool {
        IS_CLOSED.load(Ordering::Relaxed)
    }
}

#[cfg(all(target_os = "linux", feature = "host"))]
pub use at_start::stdout;

/// Elsewhere nobody looks.
#[cfg(not(all(target_os = "linux", feature = "host")))]
pub fn stdout() -> bool {
    false
}
