//! What happens when gpuenv itself is wrong: a panic is told as what it is, with an exit code of its own.

use std::panic;
use std::process;

use crate::report::{Exit, Failure, Report};

/// In debug builds this variable brings one about, so that a test sees what becomes of it.
#[cfg(debug_assertions)]
const ON_DEMAND: &str = "GPUENV_TEST_PANIC";

/// From now on a panic ends the run with a request to report it.
pub fn told_by(report: Report) {
    panic::set_hook(Box::new(move |info| {
        let what = info.payload_as_str().unwrap_or("nothing was said");
        // Of another crate's file only the end: the rest is where it was built.
        let place = info.location().map_or(String::new(), |place| {
            let parts: Vec<&str> = place.file().rsplit('/').take(3).collect();
            let file: Vec<&str> = parts.into_iter().rev().collect();
            format!(" ({}:{})", file.join("/"), place.line())
        });
        let message = format!("gpuenv {} stopped at a mistake of its own: {what}{place}", env!("CARGO_PKG_VERSION"));
        let help = "this is a bug: please report it with the command and the files it was given";
        let _ = report.failure(&Failure::new(Exit::Internal, "internal-error", message).help(help));
        // To unwind would end in 101, to abort in a signal: neither says anything.
        process::exit(Exit::Internal as i32);
    }));
}

/// Panics where a test asks for it.
pub fn on_demand() {
    #[cfg(debug_assertions)]
    if let Some(message) = std::env::var_os(ON_DEMAND) {
        panic!("{}", message.to_string_lossy());
    }
}
