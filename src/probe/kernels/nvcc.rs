//! nvcc, the compiler of the toolkit: a program that calls others, the host's compiler among them.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::host::ApiError;
use crate::types::Arch;

use crate::probe::calls::said;
use crate::probe::child::signal_name;

/// The words of its standard error that are kept, its last.
const TAIL: usize = 2_000;

/// Compiles a source to a cubin, with everything it writes in this folder.
pub fn compile(nvcc: &Path, source: &str, arch: Arch, folder: &Path) -> Result<Vec<u8>, ApiError> {
    let (from, to) = (folder.join("kernels.cu"), folder.join("kernels.cubin"));
    std::fs::write(&from, source).map_err(|error| said("nvcc", &format!("no source could be written: {error}")))?;
    let mut command = Command::new(nvcc);
    command.arg("--cubin").arg(format!("--gpu-architecture=sm_{}", arch.code())).arg("--output-file").arg(&to);
    command.arg(&from).env("TMPDIR", folder).current_dir(folder).stdin(Stdio::null());
    let output = command.output().map_err(|error| said("nvcc", &format!("it could not be started: {error}")))?;
    if !output.status.success() {
        let words = &output.stderr[output.stderr.len().saturating_sub(TAIL)..];
        let message = String::from_utf8_lossy(words).trim().to_string();
        let code = output.status.code().map(i64::from);
        let name = output.status.signal().map(signal_name);
        let message = Some(message).filter(|words| !words.is_empty());
        return Err(ApiError { at: "nvcc".to_string(), code, name, message });
    }
    std::fs::read(&to).map_err(|error| said("nvcc", &format!("it ended well and wrote no cubin: {error}")))
}
