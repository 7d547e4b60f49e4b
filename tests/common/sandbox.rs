//! The command in a folder of its own, as users and scripts run it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// A folder with a gpuenv.toml that is gone after the test.
pub struct Sandbox(PathBuf);

/// What a run printed.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Sandbox {
    pub fn new(name: &str, spec: &str) -> Sandbox {
        // Suites that know nothing of each other run side by side.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let own = format!("sandbox-{name}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(own);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("gpuenv.toml"), spec).unwrap();
        Sandbox(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn spec(&self) -> String {
        fs::read_to_string(self.path("gpuenv.toml")).unwrap()
    }

    pub fn write(&self, spec: &str) {
        fs::write(self.path("gpuenv.toml"), spec).unwrap();
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.with(args, &[("COLUMNS", "80")])
    }

    pub fn with(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuenv"));
        command.current_dir(&self.0).args(args).stdin(Stdio::null()).env_remove("NO_COLOR");
        // No catalog that somebody has installed answers here.
        command.env("XDG_DATA_HOME", self.0.join("no-data"));
        command.env_remove("GPUENV_REPORT").env("SOURCE_DATE_EPOCH", "0").envs(variables.iter().copied());
        let output = command.output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs with `--format json` and insists on one document.
    pub fn json(&self, args: &[&str]) -> (i32, Value) {
        let ran = self.run(&[args, &["--format", "json"]].concat());
        let document = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        (ran.code, document)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Ran {
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    #[track_caller]
    pub fn tells(self, part: &str) -> Ran {
        assert!(holds(&self.out, part), "{part:?} in {self:?}");
        self
    }

    #[track_caller]
    pub fn says(self, part: &str) -> Ran {
        assert!(holds(&self.err, part), "{part:?} in {self:?}");
        self
    }
}

/// Lines are wrapped for a screen wherever they grow too long, which depends on where the checkout lies.
fn holds(text: &str, part: &str) -> bool {
    text.contains(part) || text.split_whitespace().collect::<Vec<_>>().join(" ").contains(part)
}
