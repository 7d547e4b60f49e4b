//! The command: run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(gpuenv::cli::run(std::env::args_os()) as u8)
}
