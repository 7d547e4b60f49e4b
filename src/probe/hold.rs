//! The device nodes held open while the probes look: a driver that nobody uses starts every GPU anew for each process
//! that comes, which takes seconds a GPU. A child does it, because to open a node of a driver that hangs hangs as well.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal};

use super::child::Progress;
use super::context::ProbeContext;
use super::environment;
use super::group;

/// The child's name.
pub const NAME: &str = "hold";
/// How often the child looks whether it is still wanted, which is for ever: it is ended.
const LOOK: Duration = Duration::from_secs(3600);

/// The child that holds them; it ends with this.
#[derive(Debug, Default)]
pub struct Held(Option<Child>);

/// Holds the nodes of this machine's GPUs, if it has any.
pub fn nodes(context: &ProbeContext) -> Held {
    let is_gpu = |name: &String| {
        let number = name.strip_prefix("nvidia");
        number.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let names = if context.is_here() { context.names("/dev") } else { Vec::new() };
    let paths: Vec<String> = names.iter().filter(|name| is_gpu(name)).map(|name| format!("/dev/{name}")).collect();
    hold(context, &paths)
}

/// Holds these files open.
pub fn hold(context: &ProbeContext, paths: &[String]) -> Held {
    if paths.is_empty() {
        return Held::default();
    }
    let mut command = Command::new(&context.program);
    command.args([super::CHILD, NAME]).env_clear().envs(environment::of_child(context));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Whoever cannot hold them looks a little more slowly.
    let Ok(mut child) = group::start(&mut command) else { return Held::default() };
    if let Some(mut pipe) = child.stdin.take() {
        let _ = pipe.write_all(serde_json::to_string(paths).unwrap_or_default().as_bytes());
    }
    Held(Some(child))
}

/// Opens the files side by side, as a child, and keeps them until it is ended.
pub fn inside(request: &str, _: &mut Progress) -> Result<(), String> {
    let paths: Vec<String> = serde_json::from_str(request).map_err(|error| error.to_string())?;
    for path in paths {
        // Where no thread can be started it is not held.
        let _ = std::thread::Builder::new().spawn(move || {
            let node = rustix::fs::open(&path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty());
            loop {
                std::thread::sleep(LOOK);
                // It is open as long as this thread knows of it.
                let _ = &node;
            }
        });
    }
    loop {
        std::thread::sleep(LOOK);
    }
}

impl Held {
    /// The process that holds them.
    pub fn process(&self) -> Option<u32> {
        self.0.as_ref().map(Child::id)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(child) = &mut self.0 else { return };
        let _ = rustix::process::kill_process_group(Pid::from_child(child), Signal::KILL);
        // One that hangs in the kernel is left to it.
        for _ in 0..20 {
            if !matches!(child.try_wait(), Ok(None)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
