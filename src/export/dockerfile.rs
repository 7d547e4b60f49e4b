//! `dockerfile`: an image with the locked Python and wheels, ready to be built on or copied from.

use std::fmt::Write;

use crate::lock::{Lock, TargetLock};

use super::format::{Format, Installs, Opt, Options, Render};
use super::steps::{self, Step, UV_IMAGE, VENV};
use super::{ExportError, quote, valid};

/// `gpuenv export dockerfile`
pub const FORMAT: Format = Format {
    name: "dockerfile",
    help: "A Dockerfile: the locked image with the locked Python and wheels",
    file: "Dockerfile",
    options: &[Opt::value("user", "NAME", "Run as this user instead of root; it is created")],
    next: |_, file, _| format!("docker build -f {file} ."),
    merge: None,
    installs: Installs::IN_ORDER,
    render: Render::Target(render),
};

fn render(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let recipe = steps::recipe(lock, name, target)?;
    let mut out = format!(
        "# Written by `gpuenv export dockerfile`; do not edit. Build it with:\n\
         #   docker build --platform linux/{} .\n\n",
        recipe.arch.docker()
    );
    let stage = if recipe.second.is_some() { " AS build" } else { "" };
    let _ = writeln!(out, "FROM {}{stage}", recipe.first.image);
    out += &written(&recipe.first.steps);
    if let Some(second) = &recipe.second {
        let _ = write!(out, "\n# What runs: the same without the toolkit.\nFROM {}\n", second.image);
        for directory in recipe.carried {
            let _ = writeln!(out, "COPY --from=build {directory} {directory}");
        }
        out += &written(&second.steps);
    }
    out += "\n# What the image was made for.\nLABEL ";
    let labels: Vec<String> =
        recipe.labels.iter().map(|(name, value)| format!("{name}={}", quote::docker(value))).collect();
    out += &(labels.join(" \\\n      ") + "\n");
    if let Some(user) = options.get("user") {
        let user = valid::option("user", user, valid::is_user, "the name of a user other than root, in lower case")?;
        let _ = write!(
            out,
            "\n# The number is beyond those that distributions give.\nRUN useradd --create-home --uid {UID} {user}\nUSER {UID}\n"
        );
    }
    Ok(out)
}

/// Where users are named and not numbered, a host's own user of that number would own the files.
const UID: u32 = 10001;

fn written(steps: &[Step]) -> String {
    let mut out = String::new();
    for step in steps {
        match step {
            Step::Note(text) => {
                out.push('\n');
                for line in text.lines() {
                    let _ = writeln!(out, "# {line}");
                }
            }
            Step::Run(command) => {
                // The distribution keeps one release of a compiler, and none of the older ones.
                if command.contains("apt-get install") {
                    out += "# hadolint ignore=DL3008\n";
                }
                out += &format!("RUN {command}\n");
            }
            Step::Env(variables) => {
                let words: Vec<String> =
                    variables.iter().map(|(name, value)| format!("{name}={}", quote::docker(value))).collect();
                let _ = writeln!(out, "ENV {}", words.join(" "));
            }
            Step::BringUv => out += &format!("COPY --from={UV_IMAGE} /uv /usr/local/bin/uv\n"),
            // `$PATH` is meant to be expanded, so this line is not quoted by `quote::docker`.
            Step::Activate => {
                let _ = writeln!(out, "ENV VIRTUAL_ENV={} PATH=\"{VENV}/bin:$PATH\"", quote::docker(VENV));
            }
        }
    }
    out
}
