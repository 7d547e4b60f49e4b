//! `gpuenv export`: what each format prints, what it refuses, and what real tools make of it.
//!
//! A tool that is not installed skips its test with a message; `.ci/run` installs them.

#[path = "../common/mod.rs"]
mod common;

mod dockerfile;
mod env;
mod exports;
mod exports_borders;
mod exports_hold;
mod forms;
mod hostile;
mod json;
mod locks;
mod pip;
mod plain_readers;
mod printed;
mod readers;
mod resolves;
mod sites;
mod targets;
mod uv;

use gpuenv::export::{ExportError, Options, format};
use gpuenv::lock::Lock;

/// Renders without options.
fn render(name: &str, lock: &Lock) -> Result<String, ExportError> {
    format(name)?.render(lock, &Options::default())
}

/// Renders for one target.
fn render_for(name: &str, lock: &Lock, target: &str) -> Result<String, ExportError> {
    format(name)?.render(lock, &Options { target: Some(target.into()), ..Options::default() })
}
