//! One program in one folder: writes a step's files, runs `lock` and takes down all that came of it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::generate::Step;

/// A program that takes longer is stopped.
const LIMIT: Duration = Duration::from_secs(30);

/// What came of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Came {
    /// The exit status; none of a run that was stopped, or that a signal ended.
    pub code: Option<i32>,
    pub timed_out: bool,
    /// The document, or the text where it is none.
    pub json: Value,
    pub lock: Option<Vec<u8>>,
}

/// A folder of its own that is gone in the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> std::io::Result<Folder> {
        let path = std::env::temp_dir().join(format!("gpuenv-compare-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path)?;
        Ok(Folder(path))
    }

    /// Does a step with a program.
    pub fn step(&self, program: &Path, step: &Step) -> std::io::Result<Came> {
        for (name, text) in &step.files {
            fs::write(self.0.join(name), text)?;
        }
        let mut command = Command::new(program);
        command.current_dir(&self.0).args(["lock", "--format", "json"]).args(&step.args);
        command.env("SOURCE_DATE_EPOCH", "0").env("COLUMNS", "80").env_remove("GPUENV_REPORT").env("LC_ALL", "C");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let (code, out) = within_limit(command.spawn()?)?;
        let timed_out = code.is_none() && out.is_none();
        let text = out.unwrap_or_default();
        let json = serde_json::from_slice(&text).unwrap_or_else(|_| String::from_utf8_lossy(&text).into_owned().into());
        Ok(Came { code, timed_out, json, lock: fs::read(self.0.join("gpuenv.lock")).ok() })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Waits for the end of a program, but not for ever; its output, none where it was stopped.
fn within_limit(mut child: Child) -> std::io::Result<(Option<i32>, Option<Vec<u8>>)> {
    let (send, receive) = mpsc::channel();
    let mut pipe = child.stdout.take().expect("its output is piped");
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = pipe.read_to_end(&mut text);
        let _ = send.send(read.map(|_| text));
    });
    match receive.recv_timeout(LIMIT) {
        Ok(text) => Ok((child.wait()?.code(), Some(text?))),
        Err(_) => {
            child.kill()?;
            child.wait()?;
            Ok((None, None))
        }
    }
}
