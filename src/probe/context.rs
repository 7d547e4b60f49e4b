//! What every probe is given: where to look, how deeply, and for what.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{answers, patience, search_path};

pub use super::options::{Depth, ProbeOptions};

/// The variable that has root load libraries from anywhere, like [`ProbeOptions::trust`].
const TRUST: &str = "GPUENV_TRUST_LIBRARY_PATH";

/// The variable that shortens every child's time, in milliseconds.
const LIMIT: &str = "GPUENV_PROBE_LIMIT_MS";

/// How long a quick look may take in all, whatever hangs: it promises five seconds.
const QUICK: Duration = Duration::from_millis(4_300);
/// How long a usual look may take in all: health checks of clusters end what takes a minute.
const USUAL: Duration = Duration::from_secs(56);
/// How long the looks may go on then, which end by themselves unless a file system does not answer.
const AFTER: [Duration; 2] = [Duration::from_millis(300), Duration::from_secs(2)];
/// How long a folder that the environment names may take to answer.
const ANSWER: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];
/// The part of the time that is left that one child of a quick look may take.
const SHARE: f32 = 0.6;
/// What every child gets.
const LEAST: Duration = Duration::from_millis(100);
/// A call that ends at once elsewhere and that has not ended after so long does not end.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a child takes to come to such a call and to have that time.
pub(super) const ENOUGH: Duration = Duration::from_secs(11);

/// The machine, as probes are to see it.
#[derive(Debug, Clone)]
pub struct ProbeContext {
    /// What is asked.
    pub options: ProbeOptions,
    /// Where /sys, /proc, /dev, /etc and /usr begin: `/`, or the recorded files of another machine. With another root
    /// no library is loaded and no program run, because those would be this machine's.
    pub root: PathBuf,
    /// This program, for children.
    pub program: PathBuf,
    /// The environment of this process.
    pub environment: Vec<(OsString, OsString)>,
}

impl ProbeContext {
    /// This machine.
    pub fn here(options: ProbeOptions) -> io::Result<ProbeContext> {
        let program = std::env::current_exe()?;
        Ok(ProbeContext { options, root: PathBuf::from("/"), program, environment: std::env::vars_os().collect() })
    }

    /// Whether it is the machine this program runs on.
    pub fn is_here(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Whether libraries are loaded from directories that others than root can write to: not by root, unless told so.
    pub fn trusts_everywhere(&self) -> bool {
        self.options.trust || self.variable(TRUST).is_some_and(|value| value == "1") || !search_path::is_root()
    }

    /// The entries of LD_LIBRARY_PATH, absolute.
    pub fn library_path(&self) -> Vec<PathBuf> {
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        self.variable("LD_LIBRARY_PATH").map(|value| search_path::library_path(value, &here)).unwrap_or_default()
    }

    /// Those of them that nobody named in full: an empty or relative entry is whatever folder one stands in.
    pub fn unnamed_library_path(&self) -> Vec<PathBuf> {
        let named = self.variable("LD_LIBRARY_PATH").map(|value| search_path::library_path(value, Path::new("")));
        let all = named.unwrap_or_default().into_iter().zip(self.library_path());
        all.filter(|(named, _)| !named.is_absolute()).map(|(_, absolute)| absolute).collect()
    }

    /// The place of an absolute path under the root.
    pub fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The same context as the look at it begins: from now on time runs out.
    pub fn begun(&self) -> ProbeContext {
        let budget = match self.options.depth {
            Depth::Quick => Some(QUICK),
            Depth::Usual => Some(USUAL),
            Depth::Full => None,
        };
        // Who sets a limit for each child has more patience than that.
        let budget = budget.filter(|_| self.options.limit.is_none());
        // What was waited for before is part of the time that was promised.
        let budget = budget.map(|budget| budget.saturating_sub(answers::waited()));
        let mut context = self.clone();
        context.options.until = budget.map(|budget| Instant::now() + budget);
        if self.is_here() {
            context.options.silent = patience::silent(&self.environment, self.of_depth(ANSWER));
            context.environment = patience::without(&self.environment, &context.options.silent);
        }
        context
    }

    /// The first for a quick look, else the second.
    fn of_depth(&self, [quick, usual]: [Duration; 2]) -> Duration {
        if self.options.depth == Depth::Quick { quick } else { usual }
    }

    /// How long a look may go on at most; none where nobody waits for it with a watch.
    pub fn longest(&self) -> Option<Duration> {
        let left = self.options.until?.saturating_duration_since(Instant::now());
        Some(left + self.of_depth(AFTER))
    }

    /// How long a child may take where others follow that need this much, each GPU its own: never so little that its
    /// silence could not be told from haste.
    pub fn limit_before(&self, others: Duration, usual: Duration) -> Duration {
        let limit = self.limit(usual);
        match self.options.until.filter(|_| self.options.limit.is_none() && self.options.depth != Depth::Quick) {
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                limit.min(left.saturating_sub(others).max(ENOUGH))
            }
            None => limit,
        }
    }

    /// How long a child may take: as long as the user says, else usually this long, less where a test cannot wait or
    /// where something has to be left for those that follow.
    pub fn limit(&self, usual: Duration) -> Duration {
        if let Some(limit) = self.options.limit {
            return limit;
        }
        let usual = self.told_limit().map_or(usual, |told| usual.min(told));
        let Some(until) = self.options.until else { return usual };
        let left = until.saturating_duration_since(Instant::now());
        let share = if self.options.depth == Depth::Quick { left.mul_f32(SHARE) } else { left };
        usual.min(share.max(LEAST))
    }

    /// How long a call must have had before its silence is its own, and not that of whoever ended it: less where a
    /// test cannot wait.
    pub fn patience(&self) -> Duration {
        self.told_limit().map_or(PATIENCE, |told| PATIENCE.min(told / 2))
    }

    fn told_limit(&self) -> Option<Duration> {
        let millis = self.variable(LIMIT)?.to_str()?.parse().ok()?;
        Some(Duration::from_millis(millis))
    }

    /// A variable of the environment.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NVML took nineteen seconds to start, and one of sixteen GPUs hangs: it is set apart, and the others compute.
    #[test]
    fn a_gpu_that_hangs_leaves_time_for_the_others() {
        let (usual, second) = (Duration::from_secs(20), Duration::from_secs(1));
        let context = |left: u64| {
            let until = Some(Instant::now() + Duration::from_secs(left));
            let options = ProbeOptions { until, ..ProbeOptions::default() };
            ProbeContext { options, root: "/".into(), program: "/".into(), environment: Vec::new() }
        };
        let all = context(37).limit_before(ENOUGH * 2, usual);
        assert!(all > ENOUGH && all < ENOUGH + 5 * second, "{all:?}");
        let alone = context(22).limit_before(ENOUGH, usual);
        assert!(alone > PATIENCE && alone <= ENOUGH, "{alone:?}");
        assert_eq!(context(56).limit_before(ENOUGH * 2, usual), usual);
    }
}
