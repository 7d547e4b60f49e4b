//! `skypilot`: a task that installs the locked wheels on the machine that SkyPilot finds, or runs an image that holds them.

use std::fmt::Write;

use serde_json::json;

use crate::lock::{Lock, TargetLock};

use super::compose::{self, IMAGE};
use super::format::{Format, Installs, Options, Render};
use super::requirements::{self, Later};
use super::services::{ACCELERATORS, accelerators};
use super::{ExportError, builds, env, images, own, quote, valid, wheels};

/// `gpuenv export skypilot`
pub const FORMAT: Format = Format {
    name: "skypilot",
    help: "A task for SkyPilot that installs the locked wheels and looks at the machine before it runs",
    file: "sky.yaml",
    options: &[ACCELERATORS, IMAGE],
    next: |_, file, _| format!("sky launch {file}"),
    merge: None,
    installs: Installs::BY_PIP_IN_ORDER,
    render: Render::Target(render),
};

fn render(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let target_name = valid::target(name)?;
    valid::cpu_arch(&target.arch)?;
    let mut head = "# Written by `gpuenv export skypilot`; copy it to say what is run.\n".to_string();
    let mut resources = json!({});
    let (accelerators, note) = accelerators(lock, name, target, options)?;
    head += note;
    if !accelerators.is_empty() {
        resources["accelerators"] = json!(accelerators);
    }
    let mut task = json!({ "name": format!("gpuenv-{}", valid::dns_label(name)?), "workdir": "." });
    let activate = match compose::image(options)? {
        Some(image) => {
            resources["image_id"] = format!("docker:{image}").into();
            String::new()
        }
        None => {
            head += &own::comment(lock, name, target);
            task["setup"] = setup(lock, name, target)?.into();
            let newer = env::compat(name, target)?.map(|folder| {
                format!(
                    "# The driver is older than the stack, which takes the libcuda of the machine's cuda-compat.\n\
                     export LD_LIBRARY_PATH={folder}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\n"
                )
            });
            format!(". .venv/bin/activate\n{}", newer.unwrap_or_default())
        }
    };
    task["resources"] = resources;
    let look = format!(
        "# Where gpuenv is installed, a machine that cannot run the lock ends the task here.\n\
         if command -v gpuenv > /dev/null; then gpuenv verify --quick --target {target_name}; fi\n"
    );
    task["run"] = format!("set -e\n{activate}{look}echo 'Your command goes here.'\n").into();
    Ok(head + &quote::yaml(&task, 0))
}

/// What is installed, with the uv that SkyPilot's machines have.
fn setup(lock: &Lock, name: &str, target: &TargetLock) -> Result<String, ExportError> {
    let lines = requirements::lines(lock, name, target)?;
    let later = requirements::later(lock, name, target)?;
    if lines.is_empty() {
        return Err(own::nothing(lock, &[(name, target)]));
    }
    images::refuse_framework_inside(lock, name, target)?;
    let python = wheels::python(lock, target)?.map_or(String::new(), |python| format!(" --python {python}"));
    let mut out = format!("set -e\nuv venv --allow-existing{python} .venv\n");
    out += &install(&lines, "");
    if let Some(Later { tools, variables, lines }) = later {
        out += &install(&tools, "");
        if !variables.is_empty() {
            let _ = writeln!(out, "export {}", builds::assigned(&variables));
        }
        out += &install(&lines, " --no-build-isolation");
    }
    Ok(out)
}

fn install(lines: &[String], options: &str) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = lines.iter().map(|line| quote::sh(line)).collect();
    format!(
        "printf '%s\\n' \\\n  {} > requirements-locked.txt\n\
         uv pip install --python .venv{options} -r requirements-locked.txt\n",
        lines.join(" \\\n  ")
    )
}
