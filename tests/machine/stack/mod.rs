//! The probes of the software stack, on trees the tests build: libraries that cc compiles, interpreters and compilers
//! that are shell scripts, configurations as they were seen in public.

mod container;
mod libraries;
mod tools;
mod wheels;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use gpuenv::host::{ProbeStatus, Record};
use gpuenv::probe::{Depth, ProbeContext, ProbeOptions};

/// A directory of a test's own, gone at its end.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("gpuenv-stack-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Scratch(fs::canonicalize(folder).unwrap())
    }

    /// The place of a path in it, its directory made.
    pub fn at(&self, path: &str) -> PathBuf {
        let place = self.0.join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        place
    }

    pub fn shown(&self, path: &str) -> String {
        self.0.join(path).display().to_string()
    }

    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let place = self.at(path);
        fs::write(&place, text).unwrap();
        place
    }

    /// A shell script that can be run.
    pub fn script(&self, path: &str, text: &str) -> PathBuf {
        let place = self.write(path, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        place
    }

    /// This machine with these variables, looked at through this directory's eyes.
    pub fn context(&self, variables: &[(&str, &str)]) -> ProbeContext {
        ProbeContext {
            options: ProbeOptions { depth: Depth::Full, ..ProbeOptions::default() },
            root: PathBuf::from("/"),
            program: PathBuf::from(env!("CARGO_BIN_EXE_gpuenv")),
            environment: variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect(),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How a probe of a record ended.
pub fn ended(record: &Record, name: &str) -> ProbeStatus {
    record.probes.iter().find(|probe| probe.name == name).unwrap_or_else(|| panic!("no probe {name}")).ended
}

/// Compiles a shared library. None, and said so, where there is no compiler.
pub fn compile(place: &Path, source: &str, args: &[&str]) -> Option<()> {
    let input = place.with_extension("c");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(&input, source).unwrap();
    let run = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(place).arg(&input).args(args).output();
    fs::remove_file(&input).unwrap();
    match run {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(())
        }
        Err(_) => {
            println!("skipped: no cc to compile {}", place.display());
            None
        }
    }
}
