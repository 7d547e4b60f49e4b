//! Fetching a file from an address that the user typed: nothing else in gpuenv opens a connection.
//!
//! curl does it. It is the system's own and has the system's certificates; it knows the proxies of the environment, and
//! whoever keeps the system closes its holes. A TLS library in gpuenv would be an eighth of the program and two dozen
//! crates for a command that is typed once a month.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::report::{Exit, Failure, clean};

use super::project;

/// What is asked of curl: https and nothing else, also where it is sent on; no more bytes and no more time than bounds
/// say; the settings of the environment, and none of a file.
const OPTIONS: &[&str] = &[
    "--disable",
    "--silent",
    "--show-error",
    "--fail",
    "--location",
    "--max-redirs",
    "5",
    "--proto",
    "=https",
    "--proto-redir",
    "=https",
    "--connect-timeout",
    "20",
    "--max-time",
    "300",
];

/// Whether a text names an address rather than a file.
pub fn is_address(text: &str) -> bool {
    text.contains("://")
}

/// What lies at an https address; at most `cap` bytes.
pub fn fetch(address: &str, cap: u64) -> Result<Vec<u8>, Failure> {
    let plain = address.bytes().all(|byte| byte.is_ascii_graphic());
    if !address.starts_with("https://") || !plain {
        let message = format!("`{}` is not an https:// address", clean(address));
        return Err(Failure::new(Exit::BadInput, "address", message)
            .help("give an address that begins with https://, or the name of a file"));
    }
    let failed = |why: String| {
        Failure::io("download-failed", format!("{address} could not be fetched: {}", clean(&why)))
            .help("check the address and the proxy (HTTPS_PROXY), or fetch the file another way and name it here")
    };
    let program = curl().ok_or_else(|| failed("there is no curl on the PATH".into()))?;
    let mut command = Command::new(program);
    command.args(OPTIONS).arg("--max-filesize").arg(cap.to_string()).arg("--").arg(address);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(format!("curl could not be started: {error}")))?;
    let bytes = read(&mut child, cap + 1).map_err(&failed)?;
    if bytes.len() as u64 > cap {
        return Err(failed(format!("it is larger than {} MiB", cap >> 20)));
    }
    Ok(bytes)
}

/// What a child prints, if it ends well. One that prints more than the cap is stopped.
fn read(child: &mut Child, cap: u64) -> Result<Vec<u8>, String> {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let listener = thread::spawn(move || {
        let mut said = String::new();
        let _ = err.map(|err| err.take(1 << 12).read_to_string(&mut said));
        said
    });
    let mut bytes = Vec::new();
    let outcome = out.map_or(Ok(0), |out| out.take(cap).read_to_end(&mut bytes));
    if bytes.len() as u64 == cap || outcome.is_err() {
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let said = listener.join().unwrap_or_default();
    outcome.map_err(|error| error.to_string())?;
    if bytes.len() as u64 == cap || status.success() {
        return Ok(bytes);
    }
    let last = said.trim().lines().last().unwrap_or_default();
    let last = last.strip_prefix("curl: ").unwrap_or(last);
    Err(if last.is_empty() { format!("curl ended with {status}") } else { last.to_string() })
}

/// The first curl on the PATH, in an absolute folder outside of the project: a checkout's own is not run.
fn curl() -> Option<PathBuf> {
    let name = if cfg!(windows) { "curl.exe" } else { "curl" };
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .filter(|folder| folder.is_absolute() && !project::is_inside(folder))
        .map(|folder| folder.join(name))
        .find(|program| program.is_file() && !project::is_inside(program))
}
