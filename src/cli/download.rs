//! Fetching a file from an address that the user typed: nothing else in gpuenv opens a connection.
//!
//! curl does it. It is the system's own and has the system's certificates; it knows the proxies of the environment, and
//! whoever keeps the system closes its holes. A TLS library in gpuenv would be an eighth of the program and two dozen
//! crates for a command that is typed once a month.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::report::{Exit, Failure, clean};

use super::program::{self, Bounds, Fault};

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
/// curl ends by itself before that.
const TIME: Duration = Duration::from_secs(310);

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
        Failure::io("download-failed", format!("{} could not be fetched: {}", clean(address), clean(&why))).help(
            "check the address, the proxy (HTTPS_PROXY) and, where that or the server has a certificate of its own, \
                 CURL_CA_BUNDLE or SSL_CERT_DIR; or fetch the file another way and name it here",
        )
    };
    let program = program::find("curl", Path::new(".")).ok_or_else(|| failed("there is no curl on the PATH".into()))?;
    let mut command = Command::new(program);
    command.args(OPTIONS).arg("--max-filesize").arg(cap.to_string()).arg("--").arg(address);
    let bytes = program::output(command, Bounds { bytes: cap, time: TIME }).map_err(|fault| match fault {
        Fault::Unstarted(why) => failed(format!("curl could not be started: {why}")),
        Fault::Late => failed(format!("curl gave no answer within {} s", TIME.as_secs())),
        Fault::Ended(said) => match said.strip_prefix("curl: ") {
            Some(words) => failed(words.to_string()),
            None => failed(format!("curl ended with {said}")),
        },
    })?;
    if bytes.len() as u64 > cap {
        return Err(failed(format!("it is larger than {} MiB", cap >> 20)));
    }
    Ok(bytes)
}
