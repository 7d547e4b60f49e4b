//! `skypilot`: a task that installs the locked wheels on the machine that SkyPilot finds, or runs an image that holds them.

use serde_json::json;

use crate::lock::{Lock, TargetLock};

use super::compose::IMAGE;
use super::format::{Format, Installs, Opt, Options, Render};
use super::{ExportError, images, own, quote, requirements, valid, wheels};

/// `gpuenv export skypilot`
pub const FORMAT: Format = Format {
    name: "skypilot",
    help: "A task for SkyPilot that installs the locked wheels and looks at the machine before it runs",
    file: "sky.yaml",
    options: &[ACCELERATORS, IMAGE],
    next: |_, file, _| format!("sky launch {file}"),
    merge: None,
    installs: Installs::BY_PIP,
    render: Render::Target(render),
};

/// Services name their GPUs each in their own way, and none as NVML does.
pub const ACCELERATORS: Opt = Opt::value(
    "accelerators",
    "GPUS",
    "The GPUs as the service names them, a comma between what will do: H100:8,A100-80GB:8",
);

/// `H100:8`, `A100`: each will do.
pub fn accelerators(options: &Options) -> Result<Vec<&str>, ExportError> {
    let is_one = |one: &str| {
        let (name, count) = one.split_once(':').unwrap_or((one, "1"));
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_name && name.starts_with(|first: char| first.is_ascii_alphabetic()) && valid::is_count(count)
    };
    let Some(value) = options.get(ACCELERATORS.name) else { return Ok(Vec::new()) };
    if !value.split(',').all(is_one) {
        let expected = "names of GPUs such as H100:8, with a comma between";
        return Err(ExportError::bad_option(ACCELERATORS.name, value, expected));
    }
    Ok(value.split(',').collect())
}

fn render(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let target_name = valid::target(name)?;
    valid::cpu_arch(&target.arch)?;
    let mut head = "# Written by `gpuenv export skypilot`; copy it to say what is run.\n".to_string();
    let mut resources = json!({});
    let accelerators = accelerators(options)?;
    if lock.uses_gpu(name, target) && accelerators.is_empty() {
        head += "# It asks for no GPU yet: name those that will do with --accelerators.\n";
    }
    if !accelerators.is_empty() {
        resources["accelerators"] = json!(accelerators);
    }
    let mut task = json!({ "name": format!("gpuenv-{}", valid::dns_label(name)?), "workdir": "." });
    let activate = match options.get(IMAGE.name) {
        Some(image) => {
            valid::option(IMAGE.name, image, |image| valid::image(image).is_ok(), "an image reference")?;
            resources["image_id"] = format!("docker:{}", images::qualified(image)?).into();
            ""
        }
        None => {
            head += &own::comment(lock, name, target);
            task["setup"] = setup(lock, name, target)?.into();
            ". .venv/bin/activate\n"
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
    if lines.is_empty() {
        return Err(own::nothing(lock, &[(name, target)]));
    }
    images::refuse_framework_inside(lock, name, target)?;
    let python = wheels::python(lock, target)?.map_or(String::new(), |python| format!(" --python {python}"));
    let lines: Vec<String> = lines.iter().map(|line| quote::sh(line)).collect();
    Ok(format!(
        "set -e\nuv venv --allow-existing{python} .venv\nprintf '%s\\n' \\\n  {} > requirements-locked.txt\n\
         uv pip install --python .venv -r requirements-locked.txt\n",
        lines.join(" \\\n  ")
    ))
}
