//! `apptainer`: a definition file, made of the same steps as the Dockerfile.

use std::fmt::Write;

use crate::lock::{Lock, TargetLock};

use super::format::{Format, Installs, Options, Render};
use super::steps::{self, Recipe, Stage, Step, UV_IMAGE, VENV};
use super::{ExportError, quote};

/// `gpuenv export apptainer`
pub const FORMAT: Format = Format {
    name: "apptainer",
    help: "An Apptainer definition: the locked image with the locked Python and wheels",
    file: "stack.def",
    options: &[],
    next: |_, file, _| format!("apptainer build stack.sif {file}"),
    merge: None,
    installs: Installs::IN_ORDER,
    render: Render::Target(render),
};

fn render(lock: &Lock, name: &str, target: &TargetLock, _: &Options) -> Result<String, ExportError> {
    let recipe = steps::recipe(lock, name, target)?;
    let mut out =
        "# Written by `gpuenv export apptainer`; do not edit. Run what it builds with `apptainer exec --nv`.\n"
            .to_string();
    let brings_uv = recipe.first.steps.iter().any(|step| matches!(step, Step::BringUv));
    if brings_uv {
        let _ = write!(out, "\nBootstrap: docker\nFrom: {UV_IMAGE}\nStage: uv\n");
    }
    out += &head(&recipe.first, "build");
    if brings_uv {
        out += "\n%files from uv\n    /uv /usr/local/bin/uv\n";
    }
    out += &post(&recipe.first.steps);
    let last = recipe.second.as_ref().unwrap_or(&recipe.first);
    if let Some(second) = &recipe.second {
        out += &head(second, "run");
        if !recipe.carried.is_empty() {
            out += "\n%files from build\n";
            for directory in recipe.carried {
                let _ = writeln!(out, "    {directory} {directory}");
            }
        }
        out += &post(&second.steps);
    }
    out += &environment(&last.steps);
    Ok(out + &labels(&recipe))
}

/// Apptainer takes a tag or a digest, not both; the digest says more.
fn head(stage: &Stage, name: &str) -> String {
    let image = match stage.image.split_once('@') {
        Some((tagged, digest)) => {
            let (path, last) = tagged.rsplit_once('/').unwrap_or(("", tagged));
            format!("{path}/{}@{digest}", last.split(':').next().unwrap_or(last))
        }
        None => stage.image.clone(),
    };
    format!("\nBootstrap: docker\nFrom: {image}\nStage: {name}\n")
}

fn post(steps: &[Step]) -> String {
    let mut out = "\n%post\n    set -eu\n".to_string();
    for step in steps {
        match step {
            Step::Note(text) => {
                for line in text.lines() {
                    let _ = writeln!(out, "    # {line}");
                }
            }
            Step::Run(command) => {
                let _ = writeln!(out, "    {}", command.replace("\n    ", "\n        "));
            }
            Step::Env(_) | Step::Activate => out += &exports(step),
            Step::BringUv => {}
        }
    }
    out
}

/// What holds when the container runs.
fn environment(steps: &[Step]) -> String {
    let lines: String = steps.iter().map(exports).collect();
    if lines.is_empty() { String::new() } else { format!("\n%environment\n{lines}") }
}

fn exports(step: &Step) -> String {
    match step {
        Step::Env(variables) => {
            variables.iter().map(|(name, value)| format!("    export {name}={}\n", quote::sh(value))).collect()
        }
        Step::Activate => format!("    export VIRTUAL_ENV={VENV}\n    export PATH={VENV}/bin:$PATH\n"),
        _ => String::new(),
    }
}

fn labels(recipe: &Recipe) -> String {
    let mut out = "\n%labels\n".to_string();
    for (name, value) in &recipe.labels {
        let _ = writeln!(out, "    {name} {value}");
    }
    out
}
