//! `dockerfile`: an image with the locked Python and wheels, ready to be built on or copied from.
//!
//! Python comes from uv rather than from the distribution: a distribution has one version, a lock may name
//! any, and uv's builds run on every glibc system alike, Ubuntu, Rocky or UBI.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::lock::{GpuLock, Lock, TargetLock, Wheel};
use crate::words::version::Written;
use crate::words::{Cc, Version};

use super::requirements::pin;
use super::{ExportError, Format, Options, Render, UNCHECKED, misnamed, quote, unisolated, valid};

/// `gpuenv export dockerfile`
pub const FORMAT: Format = Format {
    name: "dockerfile",
    help: "A Dockerfile: the locked image with the locked Python and wheels",
    per_target: true,
    render: Render::Target(render),
};

/// The installer, fixed so that the same lock builds the same way next year.
const UV_IMAGE: &str = "ghcr.io/astral-sh/uv:0.13.8";

/// The oldest Python that this uv can install.
const OLDEST_PYTHON: Version = Version::of(const { &Written::new("3.8") });

/// Beside each other, so that a later stage can take both.
const PYTHON_DIRECTORY: &str = "/opt/python";
const VENV: &str = "/opt/venv";

fn render(lock: &Lock, name: &str, target: &TargetLock, _: &Options) -> Result<String, ExportError> {
    let image = target.image.as_deref().ok_or_else(|| ExportError::NoImage { target: name.to_string() })?;
    let image = valid::image(image)?;
    let runtime_image = target.runtime_image.as_deref().map(valid::image).transpose()?;
    let arch = valid::cpu_arch(&target.arch)?;
    let wheels: Vec<&Wheel> = lock.wheels_of(name).collect();

    let mut out = format!(
        "# Written by `gpuenv export dockerfile`; do not edit. Build it with:\n\
         #   docker build --platform linux/{} .\n\n",
        arch.docker()
    );
    let stage = if runtime_image.is_some() { " AS build" } else { "" };
    let _ = writeln!(out, "FROM {image}{stage}");
    let _ = write!(
        out,
        "\n# The lock holds for this platform only; on another one the build would find other wheels, or none.\n\
         RUN test \"$(uname -m)\" = {arch}\n"
    );
    let from_source = wheels.iter().any(|wheel| wheel.sdist);
    if !wheels.is_empty() {
        out += &python(lock, name, target)?;
        if from_source {
            out += &architectures(lock, target, &wheels)?;
        }
        out += &install(&wheels)?;
    }
    if target.toolkit.is_some() {
        if !from_source {
            out += &architectures(lock, target, &wheels)?;
        }
        out += EXAMPLE;
    }
    if let Some(runtime_image) = runtime_image {
        out += &runtime_stage(runtime_image, !wheels.is_empty());
    }
    out += &gpu_access(name, target)?;
    Ok(out)
}

/// The locked Python and an environment made from it.
fn python(lock: &Lock, name: &str, target: &TargetLock) -> Result<String, ExportError> {
    let missing = || ExportError::Incomplete { what: "the Python version", target: name.to_string() };
    let python = valid::release("python", lock.stack_of(target).get("python").ok_or_else(missing)?)?;
    if Version::parse(python).is_ok_and(|version| version < OLDEST_PYTHON) {
        return Err(ExportError::PythonTooOld { python: python.to_string(), oldest: OLDEST_PYTHON.to_string() });
    }
    Ok(format!(
        "\n# The locked Python, whatever the distribution has: uv brings builds that run on any glibc system.\n\
         COPY --from={UV_IMAGE} /uv /usr/local/bin/uv\n\
         ENV UV_PYTHON_INSTALL_DIR={directory} UV_PYTHON_PREFERENCE=\"only-managed\" UV_LINK_MODE=\"copy\"\n\
         RUN uv python install {python} && uv venv --python {python} {VENV}\n\
         {environment}",
        directory = quote::docker(PYTHON_DIRECTORY),
        environment = environment(),
    ))
}

/// Makes the environment the one that `python` and `uv pip` mean.
fn environment() -> String {
    // `$PATH` is meant to be expanded, so this line is not quoted by `quote::docker`.
    format!("ENV VIRTUAL_ENV={} PATH=\"{VENV}/bin:$PATH\"\n", quote::docker(VENV))
}

/// The locked wheels, each from its own index, then what they depend on.
///
/// The other indexes are asked for exactly the locked wheels (`--no-deps`) and then never again: no
/// dependency can be served by the wrong index, and none is held back by what an index happens to mirror.
///
/// What is compiled without isolation comes last, when all that its build imports is there.
fn install(wheels: &[&Wheel]) -> Result<String, ExportError> {
    let (last, first): (Vec<&Wheel>, Vec<&Wheel>) = wheels.iter().partition(|wheel| wheel.unisolated.is_some());
    let unchecked = match misnamed(wheels).is_empty() {
        true => String::new(),
        false => format!(
            "\n# A file below is named otherwise than its metadata says, which uv takes for a mistake.\nENV {UNCHECKED}=\"1\"\n"
        ),
    };
    let mut out = unchecked + &if first.is_empty() { String::new() } else { fetch(&first)? };
    let (packages, tools) = unisolated(&last)?;
    if !packages.is_empty() {
        let options = packages.iter().map(|package| format!(" --no-build-isolation-package {package}"));
        out +=
            "\n# Compiled beside what is installed now, as the documentation tells: first what such builds import.\n";
        if !tools.is_empty() {
            let _ = writeln!(out, "RUN uv pip install --no-cache {}", tools.join(" "));
        }
        let _ = writeln!(out, "RUN uv pip install --no-cache{} {}", options.collect::<String>(), pins(wheels)?);
    }
    Ok(out)
}

/// Wheels that nothing has to be compiled for.
fn fetch(wheels: &[&Wheel]) -> Result<String, ExportError> {
    let mut indexes: Vec<&str> = wheels.iter().filter_map(|wheel| wheel.index.as_deref()).collect();
    indexes.sort();
    indexes.dedup();
    let mut out = String::new();
    for index in &indexes {
        let mine: Vec<&Wheel> = wheels.iter().copied().filter(|wheel| wheel.index.as_deref() == Some(index)).collect();
        let _ = write!(
            out,
            "\n# Exactly the locked wheels from this index, and nothing else.\n\
             RUN uv pip install --no-cache --no-deps --default-index {} {}\n",
            valid::index(index)?,
            pins(&mine)?
        );
    }
    let _ = write!(
        out,
        "\n# {} The pins stand here so that nothing is replaced.\n\
         RUN uv pip install --no-cache {}\n",
        if indexes.is_empty() {
            "The locked wheels and what they depend on."
        } else {
            "The rest and all dependencies, from the default index."
        },
        pins(wheels)?
    );
    Ok(out)
}

fn pins(wheels: &[&Wheel]) -> Result<String, ExportError> {
    let pins = wheels.iter().map(|wheel| pin(wheel)).collect::<Result<Vec<_>, _>>()?;
    Ok(pins.iter().map(|pin| format!("\\\n    {pin}")).collect::<Vec<_>>().join(" "))
}

/// Where the user's own code goes.
const EXAMPLE: &str = "\n# Compile your CUDA code here, for example:\n\
    #   COPY . /src\n\
    #   RUN uv pip install --no-build-isolation /src\n";

/// What tells builds to compile for the locked GPUs.
fn architectures(lock: &Lock, target: &TargetLock, wheels: &[&Wheel]) -> Result<String, ExportError> {
    let Some(lists) = lock.arch_list_of(target) else { return Ok(String::new()) };
    let torch = quote::docker(valid::torch_arch_list(&lists.torch)?);
    let cmake = quote::docker(valid::cmake_arch_list(&lists.cmake)?);
    let mut out = "\n# Read by PyTorch's extension builder and by CMake.\n".to_string();
    let _ = writeln!(out, "ENV TORCH_CUDA_ARCH_LIST={torch} CUDAARCHS={cmake}");
    for (package, archs) in wheels.iter().filter_map(|wheel| Some((&wheel.package, wheel.archs.as_ref()?))) {
        let (variable, taken) = valid::arch_variable(archs)?;
        if let Some(chosen) = within(&target.gpu, &taken) {
            let _ = writeln!(out, "# Read by the build of {}.", valid::package(package)?);
            let _ = writeln!(out, "ENV {variable}={}", quote::docker(&chosen));
        }
    }
    Ok(out)
}

/// Those of the architectures that a build takes which the locked GPUs need: of each GPU's major the highest that is
/// not beyond it. None if a GPU needs another, or nothing is known of the GPUs: then the build compiles for all.
fn within(gpus: &[GpuLock], taken: &[u32]) -> Option<String> {
    let need = |gpu: &GpuLock| {
        let own = Cc::parse(&gpu.compute_capability).ok()?.number();
        taken.iter().copied().filter(|taken| taken / 10 == own / 10 && *taken <= own).max()
    };
    let needed: BTreeSet<u32> = gpus.iter().map(need).collect::<Option<_>>()?;
    let words: Vec<String> = needed.iter().map(ToString::to_string).collect();
    (!words.is_empty()).then(|| words.join(";"))
}

/// The smaller image that runs what the first stage has built.
fn runtime_stage(image: &str, has_python: bool) -> String {
    let mut out = format!("\n# What runs: the same without compilers.\nFROM {image}\n");
    if has_python {
        let _ = writeln!(out, "COPY --from=build {PYTHON_DIRECTORY} {PYTHON_DIRECTORY}");
        let _ = writeln!(out, "COPY --from=build {VENV} {VENV}");
        out += &environment();
    } else {
        out += "# Take over what you have compiled, for example:\n#   COPY --from=build /src/build/app /usr/local/bin/app\n";
    }
    out
}

/// What the container runtime reads to let the GPU in.
fn gpu_access(name: &str, target: &TargetLock) -> Result<String, ExportError> {
    let Some(driver) = &target.driver else { return Ok(String::new()) };
    let mut out = String::new();
    if driver.mode == "forward-compat" {
        let missing = || ExportError::Incomplete { what: "the cuda-compat package", target: name.to_string() };
        let package = driver.compat.as_deref().ok_or_else(missing)?;
        let line = valid::compat_line(package)?;
        let _ = write!(
            out,
            "\n# The host's driver is older than the stack: it runs with the libcuda of {package}.\n\
             # NVIDIA's images hold that package, and the NVIDIA Container Toolkit loads it where the driver\n\
             # needs it. Where yours does not, run with -e LD_LIBRARY_PATH=/usr/local/cuda-{line}/compat.\n\
             # It is not set here: on a newer driver the older libcuda would fail.\n\
             RUN test -e /usr/local/cuda-{line}/compat/libcuda.so.1\n"
        );
    }
    out += "\n# Lets the container runtime bring in the GPUs and the driver's libraries.\n\
        ENV NVIDIA_VISIBLE_DEVICES=\"all\" NVIDIA_DRIVER_CAPABILITIES=\"compute,utility\"\n";
    Ok(out)
}
