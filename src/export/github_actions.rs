//! `github-actions`: a workflow with a job for each target, in its image and with its wheels.

use serde_json::{Value, json};

use crate::lock::{Lock, TargetLock};

use super::format::{Format, Installs, Opt, Options, Render, Targets};
use super::requirements::{self, Later};
use super::steps::{self, INSTALL_GCC, OLDEST_PYTHON, UV};
use super::{ExportError, env, images, own, quote, valid, wheels};

/// `gpuenv export github-actions`
pub const FORMAT: Format = Format {
    name: "github-actions",
    help: "A workflow for GitHub Actions with a job for each target",
    file: ".github/workflows/gpuenv.yml",
    options: &[
        Opt::value("gpu-runner", "LABELS", "The runners with GPUs [default: self-hosted,linux,gpu and x64 or arm64]"),
        Opt::value("cpu-runner", "LABELS", "The runners without [default: GitHub's own]"),
    ],
    next: |_, file, _| format!("git add {file}"),
    merge: None,
    installs: Installs::BY_PIP_IN_ORDER,
    render: Render::Whole(render),
};

/// Actions by the commit of their release, which nobody can move: v4.2.2, v5.6.0 and v9.0.0.
const CHECKOUT: &str = "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683";
const SETUP_PYTHON: &str = "actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065";
const SETUP_UV: &str = "astral-sh/setup-uv@c771a70e6277c0a99b617c7a806ffedaca235ff9";

/// GitHub's own runners.
const RUNNER: &str = "ubuntu-latest";
const ARM_RUNNER: &str = "ubuntu-24.04-arm";

// What a row of the matrix holds reaches the shell as a variable, never as a part of the script.
const INSTALL: &str =
    "printf '%s\\n' \"$REQUIREMENTS\" > requirements-locked.txt\npython3 -m pip install -r requirements-locked.txt\n";
const PREPARE: &str = "\
printf '%s\\n' \"$TOOLS\" > requirements-build.txt
python3 -m pip install -r requirements-build.txt
printf '%s' \"$VARIABLES\" >> \"$GITHUB_ENV\"
";
const COMPILE: &str = "\
printf '%s\\n' \"$REQUIREMENTS\" > requirements-compiled.txt
python3 -m pip install --no-build-isolation -r requirements-compiled.txt
";

const NEWER_LIBCUDA: &str =
    "echo \"LD_LIBRARY_PATH=$COMPAT${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\" >> \"$GITHUB_ENV\"\n";

fn render(lock: &Lock, targets: &Targets, options: &Options) -> Result<String, ExportError> {
    let mut include = Vec::new();
    for (name, target) in targets {
        include.push(row(lock, name, target, options)?);
    }
    let has = |key: &str| include.iter().any(|row| row.get(key).is_some());
    let mut steps = vec![
        json!({ "uses": CHECKOUT, "with": { "persist-credentials": false } }),
        json!({ "uses": SETUP_PYTHON, "if": "matrix.python != ''", "with": { "python-version": "${{ matrix.python }}" } }),
    ];
    if has("compiler") {
        steps.push(json!({ "name": "Install the C compiler that Triton calls", "if": "matrix.compiler != ''",
            "run": INSTALL_GCC.replace("\\\n    ", "") + "\n" }));
    }
    if has("python-by-uv") {
        steps.push(json!({ "uses": SETUP_UV, "if": "matrix.python-by-uv != ''", "env": { "UV_VENV_SEED": "1" },
            "with": { "version": UV, "python-version": "${{ matrix.python-by-uv }}", "activate-environment": true } }));
    }
    steps.push(json!({ "name": "Install the locked wheels", "if": "matrix.requirements != ''",
        "env": { "REQUIREMENTS": "${{ matrix.requirements }}" }, "run": INSTALL }));
    if has("compiled") {
        steps.push(json!({ "name": "Install what the builds below import", "if": "matrix.compiled != ''",
            "env": { "TOOLS": "${{ matrix.tools }}", "VARIABLES": "${{ matrix.variables }}" }, "run": PREPARE }));
        steps.push(json!({ "name": "Compile the rest beside them", "if": "matrix.compiled != ''",
            "env": { "REQUIREMENTS": "${{ matrix.compiled }}" }, "run": COMPILE }));
    }
    if has("compat") {
        steps.push(json!({ "name": "Take the libcuda of the machine's cuda-compat", "if": "matrix.compat != ''",
            "env": { "COMPAT": "${{ matrix.compat }}" }, "run": NEWER_LIBCUDA }));
    }
    steps.push(json!({ "name": "Test", "run": "echo 'Your tests go here.'\n" }));
    // Whoever forks a public repository could run anything on a machine of one's own.
    let is_own = |row: &Value| row["runner"].as_array().into_iter().flatten().any(|label| label == "self-hosted");
    let event = if include.iter().any(is_own) { "push" } else { "pull_request" };
    let job = json!({
        "name": "${{ matrix.target }}",
        "runs-on": "${{ matrix.runner }}",
        "container": "${{ matrix.container }}",
        "timeout-minutes": 60,
        "strategy": { "fail-fast": false, "matrix": { "include": include } },
        "steps": steps,
    });
    let file = json!({
        "name": "gpuenv",
        // A bare `on` is the switch of YAML 1.1.
        "on": { event: {}, "workflow_dispatch": {} },
        "permissions": { "contents": "read" },
        "jobs": { "stack": job },
    });
    let mut head = "# Written by `gpuenv export github-actions`; copy the job to add steps of your own.\n".to_string();
    if let Some(note) = targets.iter().map(|(name, target)| own::comment(lock, name, target)).find(|it| !it.is_empty())
    {
        head += &note;
    }
    Ok(format!("{head}{}", quote::yaml(&file, 0)))
}

fn row(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<Value, ExportError> {
    let has_gpu = lock.uses_gpu(name, target);
    let arm = valid::cpu_arch(&target.arch)?.docker() == "arm64";
    let (option, default) = match (has_gpu, arm) {
        // GitHub gives every runner the label of its processor.
        (true, false) => ("gpu-runner", "self-hosted,linux,x64,gpu"),
        (true, true) => ("gpu-runner", "self-hosted,linux,arm64,gpu"),
        (false, true) => ("cpu-runner", ARM_RUNNER),
        (false, false) => ("cpu-runner", RUNNER),
    };
    let runner = options.get(option).unwrap_or(default);
    let labels: Vec<&str> = valid::option(option, runner, valid::is_request, "labels of runners with a comma between")?
        .split(',')
        .collect();
    let container = match &target.image {
        Some(_) => {
            let gpus = if has_gpu { "--gpus all" } else { "" };
            json!({ "image": images::of(name, target)?, "options": gpus })
        }
        None => "".into(),
    };
    let text = |lines: Vec<String>| lines.into_iter().map(|line| line + "\n").collect::<String>();
    let lines = text(requirements::lines(lock, name, target)?);
    // The image that holds the framework holds the Python it is for.
    let inside = images::framework_inside(lock, name, target).is_some();
    let python = wheels::python(lock, target)?.filter(|_| !inside && !lines.is_empty()).unwrap_or_default();
    let mut row = json!({ "target": valid::target(name)?, "runner": labels, "container": container, "python": python,
        "requirements": lines });
    if !python.is_empty() && !is_on_ubuntu(target, has_gpu) {
        let python = valid::recent_python("uv", python, OLDEST_PYTHON)?;
        (row["python"], row["python-by-uv"]) = ("".into(), python.into());
    }
    if let Some(folder) = env::compat(name, target)? {
        row["compat"] = folder.into();
    }
    // The container may have none.
    if target.image.is_some() && steps::calls_compiler(lock, name, target) {
        row["compiler"] = "gcc".into();
    }
    if let Some(Later { tools, variables, lines }) = requirements::later(lock, name, target)? {
        let variables = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (row["tools"], row["variables"], row["compiled"]) =
            (text(tools).into(), text(variables).into(), text(lines).into());
    }
    Ok(row)
}

/// Whether a job runs on Ubuntu, for which alone actions/setup-python has builds. What an image holds of which nobody knows the
/// system may be another one; a runner of one's own of which nobody tells is taken for one.
fn is_on_ubuntu(target: &TargetLock, has_gpu: bool) -> bool {
    match (&target.os, &target.image) {
        (_, None) if !has_gpu => true,
        (Some(os), _) => os.starts_with("ubuntu"),
        (None, image) => image.is_none(),
    }
}
