//! `compose`: a service with GPUs, for Docker Compose. Every string is quoted: YAML takes `3.10` for a number else.

use std::fmt::Write;

use crate::lock::{Lock, TargetLock};

use super::format::{Format, Opt, Options, Render, choose};
use super::{ExportError, dockerfile, images, quote, steps, valid};

/// `gpuenv export compose`
pub const FORMAT: Format = Format {
    name: "compose",
    help: "A service for Docker Compose, with GPUs and shared memory",
    file: "compose.yaml",
    options: &[
        IMAGE,
        DOCKERFILE,
        Opt::value("service", "NAME", "The name of the service [default: app]"),
        GPUS,
        SHM,
        IPC,
    ],
    next: |_, file, options| format!("docker compose -f {file} run --rm {}", options.get("service").unwrap_or("app")),
    merge: None,
    installs: None,
    render: Render::Target(render),
};

/// The image that is run, where it was built already.
pub const IMAGE: Opt =
    Opt::value("image", "REF", "Run this image, built from `gpuenv export dockerfile` [default: build it, or install]");
/// The Dockerfile that is built. Under `[export]` it is the one of the entry `dockerfile`.
pub const DOCKERFILE: Opt =
    Opt::value("dockerfile", "FILE", "The Dockerfile to build, from the project's folder [default: Dockerfile]");
/// How many GPUs.
pub const GPUS: Opt =
    Opt::value("gpus", "N", "How many GPUs; `all` where nothing counts them [default: all, of kubernetes 1]");
/// PyTorch's data loaders hand over batches in shared memory, of which a container has 64 MB.
pub const SHM: Opt = Opt::value("shm-size", "SIZE", "The size of /dev/shm, such as 16g [default: 8g]");
/// In place of a size.
pub const IPC: Opt =
    Opt { name: "ipc", value: "MODE", choices: &["private", "host"], help: "Whose shared memory [default: private]" };

/// Where the image of a target comes from.
pub enum Origin {
    /// An image.
    Image(String),
    /// What `gpuenv export dockerfile` wrote.
    Build,
}

/// The image that was named; else what must be built; else the locked image, where nothing is installed into it.
pub fn origin(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<Origin, ExportError> {
    if options.has(DOCKERFILE.name) && options.has(IMAGE.name) {
        let why = "it is built already";
        return Err(ExportError::Beside { name: DOCKERFILE.name, beside: "--image", why });
    }
    let locked = images::of(name, target)?;
    match image(options)? {
        Some(image) => Ok(Origin::Image(image)),
        None if steps::adds(lock, name, target) => Ok(Origin::Build),
        None => Ok(Origin::Image(locked)),
    }
}

/// The image that was named.
pub fn image(options: &Options) -> Result<Option<String>, ExportError> {
    let Some(image) = options.get(IMAGE.name) else { return Ok(None) };
    valid::option(IMAGE.name, image, |image| valid::image(image).is_ok(), "an image reference")?;
    images::qualified(image).map(Some)
}

/// Whether a Dockerfile is built for one of the chosen targets.
pub fn builds(lock: &Lock, options: &Options) -> bool {
    let builds = |name: &str, target: &TargetLock| matches!(origin(lock, name, target, options), Ok(Origin::Build));
    choose(lock, options).is_ok_and(|chosen| chosen.iter().any(|(name, target)| builds(name, target)))
}

/// The command that writes what is built for a target, which it has to name where other targets get something else.
pub fn dockerfile_command(lock: &Lock, name: &str, options: &Options) -> Result<String, ExportError> {
    let of_all = || dockerfile::FORMAT.render(lock, &Options::default());
    let is_one = options.is_one_dockerfile.get_or_init(|| !matches!(of_all(), Err(ExportError::TargetNeeded(_))));
    let target = if *is_one { String::new() } else { format!(" --target {}", valid::target(name)?) };
    Ok(format!("gpuenv export dockerfile{target}"))
}

/// The Dockerfile, from the project's folder.
pub fn dockerfile(options: &Options) -> Result<&str, ExportError> {
    let file = options.get("dockerfile").unwrap_or("Dockerfile");
    valid::option(
        "dockerfile",
        file,
        |file| valid::is_path(file) && !file.starts_with('/'),
        "a path in the project, without blanks",
    )
}

/// A size as Docker and Kubernetes read it: `8g`.
pub fn shm_size(options: &Options) -> Result<&str, ExportError> {
    if options.get(IPC.name) == Some("host") && options.has(SHM.name) {
        let why = "the host's own /dev/shm is used";
        return Err(ExportError::Beside { name: SHM.name, beside: "--ipc host", why });
    }
    let size = options.get("shm-size").unwrap_or("8g");
    let is_size = |size: &str| {
        let number = size.strip_suffix(['m', 'g']).unwrap_or_default();
        valid::is_count(number)
    };
    valid::option("shm-size", size, is_size, "a number with m or g, such as 16g")
}

/// How many GPUs were asked for.
pub fn gpus(options: &Options) -> Result<Option<&str>, ExportError> {
    let count = options.get("gpus").filter(|count| *count != "all");
    count.map(|count| valid::option("gpus", count, valid::is_count, "a number of GPUs, or all")).transpose()
}

fn render(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let arch = valid::cpu_arch(&target.arch)?;
    let service = valid::option("service", options.get("service").unwrap_or("app"), valid::is_label, "a name")?;
    let mut out = "# Written by `gpuenv export compose`; do not edit.\nservices:\n".to_string();
    let _ = writeln!(out, "  {}:", quote::json(service));
    match origin(lock, name, target, options)? {
        Origin::Image(image) => {
            let _ = writeln!(out, "    image: {}", quote::json(&image));
        }
        Origin::Build => {
            // Compose reads the first from the folder of this file, and the second from the first.
            let (context, dockerfile) = (options.way_up(FORMAT.file), dockerfile(options)?);
            let _ = write!(
                out,
                "    build:\n      context: {}\n      # Made by `{} -o {dockerfile}`.\n      dockerfile: {}\n",
                quote::json(&context),
                dockerfile_command(lock, name, options)?,
                quote::json(dockerfile)
            );
        }
    }
    let _ = writeln!(out, "    platform: \"linux/{}\"", arch.docker());
    let size = shm_size(options)?;
    match options.get(IPC.name) {
        Some("host") => out += "    ipc: \"host\"\n",
        _ => {
            out += &format!(
                "    # Data loaders hand over batches there.\n    shm_size: {}\n",
                quote::json(&format!("{size}b"))
            )
        }
    }
    if lock.uses_gpu(name, target) {
        let count = gpus(options)?.unwrap_or("\"all\"");
        let _ = write!(
            out,
            "    ulimits:\n      memlock: -1\n      stack: 67108864\n    \
             deploy:\n      resources:\n        reservations:\n          devices:\n            \
             - driver: \"nvidia\"\n              count: {count}\n              capabilities: [\"gpu\"]\n"
        );
    }
    Ok(out)
}
