//! A run that is stopped before each of its system calls, to be killed there or to have the call fail. Between two
//! calls nothing changes on a disk, so that whoever kills before each of them has killed at every point there is.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use libc::{c_int, c_long, pid_t};

/// A system call that is about to be made.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    pub number: c_long,
    pub args: [u64; 6],
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It is made.
    Go,
    /// It is not made, and the run is killed.
    Kill,
    /// It is not made, and the run is told this number of an error.
    Fail(c_int),
}

impl Call {
    /// Whether it makes a file.
    pub fn creates(&self) -> bool {
        self.number == libc::SYS_openat && self.args[2] & libc::O_CREAT as u64 != 0
    }

    /// Whether it renames one.
    pub fn renames(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        if self.number == libc::SYS_rename {
            return true;
        }
        self.number == libc::SYS_renameat || self.number == libc::SYS_renameat2
    }
}

/// Runs a command and asks before each system call of its first thread. The exit code; none if it was killed. An error:
/// nothing can be traced here.
pub fn run(command: &mut Command, mut before: impl FnMut(&Call) -> Then) -> io::Result<Option<i32>> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: one system call, which the child may make between fork and exec.
    unsafe {
        command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        });
    }
    let mut child = command.spawn()?;
    let pid = child.id() as pid_t;
    let mut status = wait(pid)?;
    let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
    ask(libc::PTRACE_SETOPTIONS, pid, options as c_long)?;
    let mut failing = None;
    loop {
        let mut signal = 0;
        if libc::WIFEXITED(status) {
            return Ok(Some(libc::WEXITSTATUS(status)));
        } else if libc::WIFSIGNALED(status) {
            return Ok(None);
        } else if libc::WSTOPSIG(status) != libc::SIGTRAP | 0x80 {
            // The trap of exec is ours, every other signal is the run's.
            signal = if libc::WSTOPSIG(status) == libc::SIGTRAP { 0 } else { libc::WSTOPSIG(status) };
        } else if let Some(call) = entered(pid)? {
            match before(&call) {
                Then::Go => {}
                Then::Fail(error) => {
                    registers::pass_over(pid)?;
                    failing = Some(error);
                }
                Then::Kill => {
                    child.kill()?;
                    wait(pid)?;
                    return Ok(None);
                }
            }
        } else if let Some(error) = failing.take() {
            registers::answer(pid, -i64::from(error))?;
        }
        ask(libc::PTRACE_SYSCALL, pid, c_long::from(signal))?;
        status = wait(pid)?;
    }
}

fn ask(what: libc::c_uint, pid: pid_t, data: c_long) -> io::Result<()> {
    // SAFETY: these requests take a number and touch no memory of ours.
    match unsafe { libc::ptrace(what, pid, 0, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn wait(pid: pid_t) -> io::Result<c_int> {
    let mut status = 0;
    // SAFETY: the status is ours to write to.
    match unsafe { libc::waitpid(pid, &mut status, libc::__WALL) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(status),
    }
}

/// The call that the run has stopped before; none: it has stopped after one.
fn entered(pid: pid_t) -> io::Result<Option<Call>> {
    // SAFETY: all zeroes are a value of this plain structure.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    let size = size_of_val(&info);
    // SAFETY: the structure is ours to write to, and no larger than said.
    if unsafe { libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, pid, size, &mut info) } == -1 {
        return Err(io::Error::last_os_error());
    }
    if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
        return Ok(None);
    }
    // SAFETY: that is the part which such a stop fills in.
    let entry = unsafe { info.u.entry };
    Ok(Some(Call { number: entry.nr as c_long, args: entry.args }))
}

/// Making a call fail means to change registers, which have other names on other processors.
#[cfg(target_arch = "x86_64")]
mod registers {
    use super::*;

    pub const KNOWN: bool = true;

    /// Lets a call come to nothing.
    pub fn pass_over(pid: pid_t) -> io::Result<()> {
        change(pid, |registers| registers.orig_rax = u64::MAX)
    }

    /// What the run is told that the call came to.
    pub fn answer(pid: pid_t, value: i64) -> io::Result<()> {
        change(pid, |registers| registers.rax = value as u64)
    }

    fn change(pid: pid_t, to: impl Fn(&mut libc::user_regs_struct)) -> io::Result<()> {
        // SAFETY: all zeroes are a value of this plain structure.
        let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        // SAFETY: the structure is what this request writes to.
        if unsafe { libc::ptrace(libc::PTRACE_GETREGS, pid, 0, &mut registers) } == -1 {
            return Err(io::Error::last_os_error());
        }
        to(&mut registers);
        // SAFETY: the structure is what this request reads.
        match unsafe { libc::ptrace(libc::PTRACE_SETREGS, pid, 0, &registers) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod registers {
    use super::*;

    pub const KNOWN: bool = false;

    pub fn pass_over(_: pid_t) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn answer(_: pid_t, _: i64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Whether calls can be made to fail here.
pub fn can_fail() -> bool {
    registers::KNOWN
}
