//! `devcontainer`: a devcontainer.json, which is JSON with comments.

use serde_json::json;

use crate::lock::{Lock, TargetLock};

use super::compose::{self, DOCKERFILE, GPUS, IMAGE, IPC, Origin, SHM};
use super::format::{Format, Options, Render};
use super::{ExportError, valid};

/// `gpuenv export devcontainer`
pub const FORMAT: Format = Format {
    name: "devcontainer",
    help: "A devcontainer.json for editors that work inside the container",
    file: ".devcontainer/devcontainer.json",
    options: &[IMAGE, DOCKERFILE, GPUS, SHM, IPC],
    next: |_, file, _| next(file),
    merge: None,
    installs: None,
    render: Render::Target(render),
};

/// Where the tools look by themselves.
const FOUND: [&str; 2] = [".devcontainer/devcontainer.json", ".devcontainer.json"];

/// A file elsewhere has to be named.
fn next(file: &str) -> String {
    let config = if FOUND.contains(&file) { String::new() } else { format!(" --config {file}") };
    format!("devcontainer up --workspace-folder .{config}")
}

fn render(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let arch = valid::cpu_arch(&target.arch)?;
    let mut arguments = vec![format!("--platform=linux/{}", arch.docker())];
    let size = compose::shm_size(options)?;
    arguments.push(match options.get("ipc") {
        Some("host") => "--ipc=host".to_string(),
        _ => format!("--shm-size={size}"),
    });
    let mut file = json!({ "name": "gpuenv" });
    match compose::origin(lock, name, target, options)? {
        Origin::Image(image) => file["image"] = image.into(),
        Origin::Build => {
            // Both are read from the folder of this file.
            let (context, dockerfile) = (options.way_up(FORMAT.file), compose::dockerfile(options)?);
            let dockerfile = if context == "." { dockerfile.to_string() } else { format!("{context}/{dockerfile}") };
            file["build"] = json!({ "dockerfile": dockerfile, "context": context, "options": [&arguments[0]] });
        }
    }
    if lock.uses_gpu(name, target) {
        let counted = compose::gpus(options)?;
        arguments.push(format!("--gpus={}", counted.unwrap_or("all")));
        // For this the tools ask for all of them, and a count beside it would be a second request.
        if counted.is_none() {
            file["hostRequirements"] = json!({ "gpu": true });
        }
    }
    file["runArgs"] = arguments.into();
    let text = serde_json::to_string_pretty(&file).unwrap_or_default();
    let (command, dockerfile) = (compose::dockerfile_command(lock, name, options)?, compose::dockerfile(options)?);
    let build = format!("// The Dockerfile is that of `{command} -o {dockerfile}`.\n");
    let note = if file.get("build").is_some() { build } else { String::new() };
    Ok(format!("// Written by `gpuenv export devcontainer`; do not edit.\n{note}{text}\n"))
}
