//! What a judgement consists of: checks, each with what was expected, what was found and what to do.

use serde::Serialize;

use crate::types::plain::cut;

/// What is found is longer only where a stranger made it so.
const LONGEST: usize = 2000;

/// How a check, a target or a whole run ended. Skip and unknown are never pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// The check that it follows from: with that one mended it would end otherwise. People are told of it there.
    #[serde(skip)]
    pub because: Option<&'static str>,
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

impl Check {
    /// A check that nobody has judged yet.
    pub fn new(id: &'static str) -> Self {
        let (status, action) = (Status::Skip, Action::None);
        Check { id, status, gpu: None, expected: None, found: None, evidence: None, hint: None, action, because: None }
    }

    /// Of one GPU.
    pub fn of(mut self, gpu: &str) -> Self {
        self.gpu = Some(gpu.to_string());
        self
    }

    /// What is asked for.
    pub fn expected(mut self, what: impl Into<String>) -> Self {
        self.expected = Some(what.into());
        self
    }

    /// What the record says, cut where it is longer than any such value: records are strangers'.
    pub fn found(mut self, what: impl Into<String>) -> Self {
        let what = what.into();
        self.found = Some(cut(&what, LONGEST).unwrap_or(what));
        self
    }

    /// What this rests on, where that is known.
    pub fn evidence(mut self, what: Option<impl Into<String>>) -> Self {
        self.evidence = what.map(Into::into);
        self
    }

    /// It holds.
    pub fn pass(self) -> Self {
        Check { status: Status::Pass, ..self }
    }

    /// It holds, and there is something worth knowing.
    pub fn pass_with(self, note: impl Into<String>) -> Self {
        self.ends(Status::Pass, Action::None, note)
    }

    /// It does not hold.
    pub fn fail(self, action: Action, hint: impl Into<String>) -> Self {
        self.ends(Status::Fail, action, hint)
    }

    /// It holds, but somebody should know something.
    pub fn warn(self, action: Action, hint: impl Into<String>) -> Self {
        self.ends(Status::Warn, action, hint)
    }

    /// Where a failure is nothing to a process, which gets another GPU, it is only told.
    pub fn unless(self, is_left_alone: bool) -> Self {
        match self.status {
            Status::Fail if is_left_alone => Check { status: Status::Warn, ..self },
            _ => self,
        }
    }

    /// It could not be determined.
    pub fn unknown(self, action: Action, hint: impl Into<String>) -> Self {
        self.ends(Status::Unknown, action, hint)
    }

    /// It does not apply here, or nobody asked for it.
    pub fn skip(self, why: impl Into<String>) -> Self {
        self.ends(Status::Skip, Action::None, why)
    }

    /// It ended like this.
    pub fn ends(self, status: Status, action: Action, hint: impl Into<String>) -> Self {
        Check { status, action, hint: Some(hint.into()), ..self }
    }
}

impl Status {
    /// The word in reports and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Skip => "skip",
            Status::Warn => "warn",
            Status::Unknown => "unknown",
            Status::Fail => "fail",
        }
    }
}

impl Action {
    /// The word in reports and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::None => "none",
            Action::FixEnvironment => "fix-environment",
            Action::RestartContainer => "restart-container",
            Action::Reboot => "reboot",
            Action::Drain => "drain",
            Action::ChangeLock => "change-lock",
            Action::AskAdmin => "ask-admin",
        }
    }
}

impl Verdict {
    /// The verdict with one check more, before all others.
    pub fn with_first(mut self, check: Check) -> Self {
        self.checks.insert(0, check);
        Verdict::of(&self.target, self.checks)
    }

    /// The verdict that follows from checks. Where none of them says why it is open, one more does.
    pub fn of(target: &str, mut checks: Vec<Check>) -> Self {
        let decided = |check: &Check| check.status != Status::Skip;
        if !checks.iter().any(decided) {
            let check = Check::new("nothing-checked").expected("something to check");
            checks.push(check.found("every check was skipped").unknown(
                Action::None,
                "nothing that is known of this host tells whether it runs the lock: record it with `gpuenv probe` on the host",
            ));
        }
        let worst = checks.iter().map(|check| check.status).max();
        let status = match worst {
            Some(Status::Fail) => Status::Fail,
            Some(Status::Unknown) | None => Status::Unknown,
            _ => Status::Pass,
        };
        Verdict { target: target.to_string(), status, checks }
    }
}
