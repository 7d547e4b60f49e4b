//! A child process for what may hang, crash or print garbage: this program again, with one probe to run.
//!
//! The child speaks in lines on a pipe of its own: `>` what it is doing, `=` what it has learnt so far, as JSON, `!`
//! that it will not go on and why, `~` that what follows may crash it and is not needed, `.` that it has told
//! everything. The last `=` counts, so that a crash costs only what came after it. Its standard output is turned into
//! its standard error before any foreign code runs, so that a library that prints cannot speak for it.
//!
//! The parent waits for an answer and for little else: not for ever for the destructors of foreign libraries, not for a
//! daemon that keeps the pipes open and, where the kernel does not let go of it, not for the child's burial.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Resource, Rlimit, Signal};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::host::{ApiError, Probe, ProbeStatus};
use crate::types::beside;

use super::group::{self, Watched};
use super::{CHILD, INSIDE};

/// More than this of a child's words is not read.
pub(super) const CAP: usize = 4 << 20;
/// How long a look at the pipes lasts at most: a child's end is noticed within it even if others hold them open.
const LOOK: Duration = Duration::from_millis(20);
/// How long a killed child is waited for: one that hangs in a driver's code inside the kernel does not die.
const BURIAL: Duration = Duration::from_millis(500);
/// How long a child that has told everything is waited for at most.
const GRACE: Duration = Duration::from_secs(1);
/// The words of a child's standard error that are kept, its last.
const TAIL: usize = 2_000;

/// What a child is started with.
#[derive(Debug, Clone)]
pub struct Task<'a> {
    /// The program, this one.
    pub program: &'a Path,
    /// The probe's name in [`INSIDE`].
    pub name: &'static str,
    /// How long it may take.
    pub limit: Duration,
    /// Its whole environment.
    pub environment: &'a [(OsString, OsString)],
}

/// What came of a child.
#[derive(Debug)]
pub struct Reply<A> {
    /// The last thing it told, whole or in part.
    pub answer: Option<A>,
    /// How it ended, for the record.
    pub probe: Probe,
    /// What it did last: `cuInit of /usr/lib/libcuda.so.1`.
    pub doing: String,
    /// How long it had said nothing more when it was ended: the time that its last call had.
    pub quiet: Duration,
}

/// The name of a call's fault that had its full time and did not answer.
pub const SILENT: &str = "ETIMEDOUT";
/// The name of a call's fault that was ended before it had its full time.
const CUT_OFF: &str = "ECANCELED";
/// The name of a call's fault whose process ended in it, or told what makes no sense.
const LOST: &str = "EPROTO";

impl<A> Reply<A> {
    /// The fault of the call in which a child came to an early end. Only one that had all of `patience` is silent: the
    /// time of a child may be spent on what comes before.
    pub fn fault(&self, patience: Duration) -> Option<ApiError> {
        let words = self.probe.detail.as_deref();
        let (name, message) = match self.probe.ended {
            ProbeStatus::Done | ProbeStatus::Absent | ProbeStatus::NotRun => return None,
            ProbeStatus::TimedOut if self.quiet < patience => {
                (CUT_OFF.to_string(), Some(format!("ended after {:.1} s in it", self.quiet.as_secs_f32())))
            }
            ProbeStatus::TimedOut => (SILENT.to_string(), words.map(str::to_string)),
            ProbeStatus::Crashed => {
                let signal = words.and_then(|words| words.split(' ').next()).filter(|word| word.starts_with("SIG"));
                (signal.unwrap_or(LOST).to_string(), words.map(str::to_string))
            }
            _ => (LOST.to_string(), words.map(str::to_string)),
        };
        let at = self.doing.split(' ').next().unwrap_or(&self.doing).to_string();
        Some(ApiError { at, code: None, name: Some(name), message })
    }
}

/// A time as people read it.
fn rounded(time: Duration) -> Duration {
    Duration::from_millis((time.as_millis() as u64 + 50) / 100 * 100)
}

/// Runs a probe in a child and waits for it, no longer than its limit.
pub fn ask<Q: Serialize, A: DeserializeOwned>(task: &Task<'_>, request: &Q) -> Reply<A> {
    let began = Instant::now();
    let heard = match start(task) {
        Ok(child) => {
            let request = serde_json::to_vec(request).unwrap_or_default();
            listen(child, request, began + task.limit, Some(FINISHED), GRACE.min(task.limit / 10))
        }
        Err(error) => Heard { fate: Fate::Unstarted(error.to_string()), ..Heard::default() },
    };
    let (doing, quiet) = (heard.doing(), heard.quiet);
    let (answer, ended, detail) = heard.judge(task.limit);
    let millis = Some(began.elapsed().as_millis() as u64);
    Reply { answer, doing, quiet, probe: Probe { name: task.name.to_string(), ended, detail, millis } }
}

fn start(task: &Task<'_>) -> io::Result<Child> {
    let mut command = Command::new(task.program);
    command.args([CHILD, task.name]).env_clear().envs(task.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    group::start(&mut command)
}

/// How a child came to its end.
#[derive(Debug, Default)]
pub(super) enum Fate {
    Finished,
    Ended(ExitStatus),
    Overdue,
    TooLoud,
    #[default]
    Lost,
    Unstarted(String),
}

/// What a child left behind.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) fate: Fate,
    /// Its standard output.
    pub(super) told: Vec<u8>,
    /// Its standard error.
    pub(super) said: Vec<u8>,
    /// How long it had told nothing more.
    pub(super) quiet: Duration,
}

/// Feeds the child its request and reads both pipes until it ends, is overdue or tells too much. It must lead a
/// process group of its own, which is ended with it. A child of ours may be ended after the last line it has.
///
/// A child that has told everything gets a moment to end by itself: one that is killed may leave its GPU taken for the
/// next.
pub(super) fn listen(
    mut child: Child,
    request: Vec<u8>,
    until: Instant,
    last: Option<&[u8]>,
    grace: Duration,
) -> Heard {
    let group = Pid::from_child(&child);
    let (_counted, _watched) = (Counted::new(), Watched::new(group));
    if let Some(mut pipe) = child.stdin.take() {
        // Nobody waits for this thread: it ends when the child reads or when its reading end is gone.
        beside::start(move || drop(pipe.write_all(&request)));
    }
    let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) else { return Heard::default() };
    let mut pipes = [Pipe::new(out.into()), Pipe::new(err.into())];
    let (mut told, mut since) = (0, Instant::now());
    let fate = loop {
        let ended = child.try_wait();
        if let Ok(Some(_)) = ended {
            // Whatever it left behind is to add nothing.
            end(group);
        }
        // What a child wrote before its end is still in the pipes then, whoever else holds them open.
        let idle = Pipe::look(&mut pipes);
        if pipes[0].bytes.len() > told {
            (told, since) = (pipes[0].bytes.len(), Instant::now());
        }
        if last.is_some_and(|last| pipes[0].bytes.ends_with(last)) {
            break Fate::Finished;
        }
        let overdue = Instant::now() >= until;
        match ended {
            Ok(Some(status)) if idle || overdue => break Fate::Ended(status),
            Ok(_) if overdue => break Fate::Overdue,
            Err(_) => break Fate::Lost,
            _ => {}
        }
        if pipes.iter().any(|pipe| pipe.bytes.len() > CAP) {
            // A child that ended well is not blamed for what it left behind and does not stop talking.
            break if let Ok(Some(status)) = ended { Fate::Ended(status) } else { Fate::TooLoud };
        }
    };
    let quiet = since.elapsed();
    if matches!(fate, Fate::Finished) {
        wait(&mut child, grace);
    }
    end(group);
    wait(&mut child, BURIAL);
    let [told, said] = pipes.map(|pipe| pipe.bytes);
    Heard { fate, told, said, quiet }
}

/// How many children are listened to.
static THERE: AtomicUsize = AtomicUsize::new(0);

/// Whether a child, which has a limit of its own, is waited for.
pub(super) fn are_there() -> bool {
    THERE.load(Ordering::Relaxed) > 0
}

/// One that is listened to.
struct Counted;

impl Counted {
    fn new() -> Self {
        THERE.fetch_add(1, Ordering::Relaxed);
        Counted
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        THERE.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits for a child's end, no longer than this.
fn wait(child: &mut Child, limit: Duration) {
    let until = Instant::now() + limit;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Ends a child and all it started that stayed with it.
fn end(group: Pid) {
    let _ = rustix::process::kill_process_group(group, Signal::KILL);
}

/// The last line of a child that has told everything.
const FINISHED: &[u8] = b"\n.\n";

struct Pipe {
    end: Option<std::fs::File>,
    bytes: Vec<u8>,
}

impl Pipe {
    fn new(end: OwnedFd) -> Self {
        Pipe { end: Some(end.into()), bytes: Vec::new() }
    }

    /// Reads what is there, waits a moment for it, and says whether there was nothing.
    fn look(pipes: &mut [Pipe; 2]) -> bool {
        let mut open: Vec<&mut Pipe> = pipes.iter_mut().filter(|pipe| pipe.end.is_some()).collect();
        if open.is_empty() {
            std::thread::sleep(Duration::from_millis(1));
            return true;
        }
        let ends = open.iter().filter_map(|pipe| pipe.end.as_ref());
        let mut fds: Vec<PollFd<'_>> = ends.map(|end| PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN)).collect();
        let wait = Timespec { tv_sec: 0, tv_nsec: LOOK.as_nanos() as i64 };
        if poll(&mut fds, Some(&wait)).unwrap_or(0) == 0 {
            return true;
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        for (pipe, _) in open.iter_mut().zip(ready).filter(|(_, ready)| *ready) {
            pipe.read();
        }
        false
    }

    /// One read, which does not block: something is there, or the end.
    fn read(&mut self) {
        let mut buffer = [0; 64 << 10];
        match self.end.as_mut().map(|end| end.read(&mut buffer)) {
            Some(Ok(count)) if count > 0 => self.bytes.extend_from_slice(&buffer[..count]),
            Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => self.end = None,
        }
    }
}

impl Heard {
    /// What the child said last that it does.
    fn doing(&self) -> String {
        let told = String::from_utf8_lossy(&self.told);
        let step = told.lines().filter_map(|line| line.strip_prefix('>')).next_back();
        step.unwrap_or("starting").to_string()
    }

    /// The answer, how the child ended, and what a person should know about that.
    fn judge<A: DeserializeOwned>(self, limit: Duration) -> (Option<A>, ProbeStatus, Option<String>) {
        let told = String::from_utf8_lossy(&self.told);
        // A line without its end was cut off by whatever ended the child.
        let lines = told.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let (mut doing, mut learnt, mut stopped, mut may_crash) = ("starting", None, None, false);
        for line in lines {
            match line.split_at_checked(1) {
                Some((">", step)) => doing = step,
                Some(("=", json)) => learnt = Some(json),
                Some(("!", why)) => stopped = Some(why),
                Some(("~", _)) => may_crash = true,
                _ => {}
            }
        }
        let answer: Option<Result<A, _>> = learnt.map(serde_json::from_str);
        let said = String::from_utf8_lossy(&self.said[self.said.len().saturating_sub(TAIL)..]);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let with_words = |text: String| if said.is_empty() { text } else { format!("{text}: {said}") };
        let (ended, detail) = match &self.fate {
            Fate::Finished => match (&answer, stopped) {
                (Some(Err(error)), _) => (ProbeStatus::Garbled, Some(format!("its answer makes no sense: {error}"))),
                (_, Some(why)) => why.split_once(' ').map_or((ProbeStatus::Failed, None), |(how, why)| {
                    (if how == ABSENT { ProbeStatus::Absent } else { ProbeStatus::Refused }, Some(why.to_string()))
                }),
                _ => (ProbeStatus::Done, None),
            },
            Fate::Ended(status) if status.success() => {
                (ProbeStatus::Garbled, Some(with_words(format!("it ended without an answer in {doing}"))))
            }
            Fate::Ended(status) => match status.signal() {
                Some(signal) => {
                    let ended = if may_crash { ProbeStatus::Done } else { ProbeStatus::Crashed };
                    (ended, Some(with_words(format!("{} in {doing}", signal_name(signal)))))
                }
                None => (ProbeStatus::Failed, Some(with_words(format!("failed in {doing}")))),
            },
            Fate::Overdue => (ProbeStatus::TimedOut, Some(format!("no answer within {:?} in {doing}", rounded(limit)))),
            Fate::TooLoud => (ProbeStatus::Garbled, Some(format!("it printed more than {} MiB in {doing}", CAP >> 20))),
            Fate::Lost => (ProbeStatus::Failed, Some(format!("it was lost in {doing}"))),
            Fate::Unstarted(error) => (ProbeStatus::Failed, Some(format!("it could not be started: {error}"))),
        };
        (answer.and_then(Result::ok), ended, detail)
    }
}

/// The words of a `!`.
const ABSENT: &str = "absent";
const REFUSED: &str = "refused";

/// `SIGSEGV`
pub(super) fn signal_name(number: i32) -> String {
    let named = [
        (Signal::SEGV, "SIGSEGV"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::ILL, "SIGILL"),
        (Signal::FPE, "SIGFPE"),
        (Signal::SYS, "SIGSYS"),
        (Signal::KILL, "SIGKILL"),
        (Signal::TERM, "SIGTERM"),
        (Signal::TRAP, "SIGTRAP"),
    ];
    let name = named.iter().find(|(signal, _)| signal.as_raw() == number);
    name.map_or_else(|| format!("signal {number}"), |(_, name)| (*name).to_string())
}

/// A child's side of the pipe.
pub struct Progress {
    pipe: std::fs::File,
}

impl Progress {
    /// Says what comes next, for whoever reads of a crash in it: a function's name and the file it is of.
    pub fn doing(&mut self, step: &str) {
        self.line('>', step);
    }

    /// Says what is known so far.
    pub fn learnt(&mut self, answer: &impl Serialize) {
        if let Ok(json) = serde_json::to_string(answer) {
            self.line('=', &json);
        }
    }

    /// Says that all that is needed is told, and that what comes next may crash it: it has answered all the same then.
    pub fn may_crash(&mut self) {
        self.line('~', "");
    }

    /// Says that what it is to look at is not on this host: the probe ends as [`ProbeStatus::Absent`].
    pub fn absent(&mut self, why: &str) {
        self.line('!', &format!("{ABSENT} {why}"));
    }

    /// Says that it is not safe to go on: the probe ends as [`ProbeStatus::Refused`].
    pub fn refused(&mut self, why: &str) {
        self.line('!', &format!("{REFUSED} {why}"));
    }

    fn finished(&mut self) {
        let _ = self.pipe.write_all(FINISHED);
    }

    /// A parent that is gone has no use for the rest, and its end has ended this process too.
    fn line(&mut self, mark: char, text: &str) {
        let _ = self.pipe.write_all(format!("{mark}{}\n", text.replace('\n', " ")).as_bytes());
    }
}

/// Runs the probe of this name in this process, which is a child of [`ask`]. None: it failed, and has told why.
pub fn serve(name: &str) -> Option<()> {
    let (_, inside) = INSIDE.iter().find(|(known, _)| *known == name)?;
    // A crash that is expected leaves no file behind, and takes no time to write it.
    let _ = rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let pipe = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3).ok()?;
    rustix::stdio::dup2_stdout(io::stderr()).ok()?;
    let mut progress = Progress { pipe: pipe.into() };
    let mut request = String::new();
    io::stdin().take(CAP as u64).read_to_string(&mut request).ok()?;
    inside(&request, &mut progress).map_err(|why| progress.doing(&why)).ok()?;
    progress.finished();
    Some(())
}
