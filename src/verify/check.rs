//! What a judgement consists of: checks, each with what was expected, what was found and what to do.

use serde::Serialize;

/// How a check, a target or a whole run ended. Skip and unknown are never pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It holds.
    Pass,
    /// It does not apply here, or nobody asked for it.
    Skip,
    /// It holds, but somebody should know something.
    Warn,
    /// It could not be determined.
    Unknown,
    /// It does not hold.
    Fail,
}

/// Who has to do something, and how drastic it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Nothing.
    None,
    /// Whoever started the process: variables, paths, packages.
    FixEnvironment,
    /// Start the container again, or with other options.
    RestartContainer,
    /// Restart the machine or reload its driver.
    Reboot,
    /// Take the machine out of service: the hardware is at fault.
    Drain,
    /// Change gpuenv.toml and lock again.
    ChangeLock,
    /// Ask whoever administers the machine.
    AskAdmin,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its stable name, `driver-minimum`.
    pub id: &'static str,
    /// How it ended.
    pub status: Status,
    /// The GPU it is about, `0: NVIDIA H100 NVL`; none where it is about the whole host.
    pub gpu: Option<String>,
    /// What the lock, or a working machine, asks for.
    pub expected: Option<String>,
    /// What the record says.
    pub found: Option<String>,
    /// The path, symbol or code that this rests on.
    pub evidence: Option<String>,
    /// What to do, in a sentence or two.
    pub hint: Option<String>,
    /// Who has to do it.
    pub action: Action,
}

/// The judgement of a host against one target of a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The target.
    pub target: String,
    /// Fail if any check fails, else unknown if any is, else pass.
    pub status: Status,
    /// The checks, in the order in which they build on each other.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// The verdict that follows from checks.
    pub fn of(target: &str, checks: Vec<Check>) -> Self {
        let worst = checks.iter().map(|check| check.status).max();
        let status = match worst {
            Some(Status::Fail) => Status::Fail,
            Some(Status::Unknown) | None => Status::Unknown,
            // Where nothing was found to hold, nothing was proven.
            _ if !checks.iter().any(|check| matches!(check.status, Status::Pass | Status::Warn)) => Status::Unknown,
            _ => Status::Pass,
        };
        Verdict { target: target.to_string(), status, checks }
    }
}
