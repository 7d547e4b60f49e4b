//! A stranger's checkout beside a home of ours, outside any other work tree.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// A folder that is gone after the test. In it lie `checkout`, which is a git work tree, and `home`.
pub struct Place(PathBuf);

/// What a run printed.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new(name: &str) -> Place {
        // Suites that know nothing of each other run side by side.
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let own = format!("gpuenv-checkout-{name}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(own);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("checkout/.git")).unwrap();
        fs::write(path.join("checkout/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir_all(path.join("home")).unwrap();
        Place(path.canonicalize().unwrap())
    }

    /// With a gpuenv.toml.
    pub fn with(name: &str, spec: &str) -> Place {
        let place = Place::new(name);
        place.write("checkout/gpuenv.toml", spec);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A program that says that it ran by making a file in the home.
    pub fn program(&self, name: &str, mark: &str) {
        let mark = self.path("home").join(mark);
        self.write(name, &format!("#!/bin/sh\ntouch '{}'\n", mark.display()));
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.path(name)).is_ok()
    }

    pub fn link(&self, name: &str, to: impl AsRef<Path>) {
        let path = self.path(name);
        let _ = fs::remove_file(&path);
        symlink(to, path).unwrap();
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// A command in a folder of the checkout.
    pub fn command(&self, folder: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuenv"));
        command.current_dir(self.path(folder)).args(args).stdin(Stdio::null());
        for name in ["NO_COLOR", "GPUENV_REPORT", "VIRTUAL_ENV", "CONDA_PREFIX", "COLUMNS"] {
            command.env_remove(name);
        }
        command.env("SOURCE_DATE_EPOCH", "0").env("HOME", self.path("home"));
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.run_in("checkout", args)
    }

    pub fn run_in(&self, folder: &str, args: &[&str]) -> Ran {
        Ran::of(&mut self.command(folder, args))
    }

    /// Runs with `--format json` and insists on one document.
    pub fn json(&self, args: &[&str]) -> (i32, Value) {
        let ran = self.run(&[args, &["--format", "json"]].concat());
        let document = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        (ran.code, document)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Ran {
    pub fn of(command: &mut Command) -> Ran {
        let output = command.output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    #[track_caller]
    pub fn says(self, part: &str) -> Ran {
        assert!(flat(&self.err).contains(part), "{part:?} in {self:?}");
        self
    }

    #[track_caller]
    pub fn hides(self, part: &str) -> Ran {
        assert!(!flat(&self.err).contains(part) && !self.out.contains(part), "{part:?} in {self:?}");
        self
    }
}

/// Without the breaks that a screen puts in.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
