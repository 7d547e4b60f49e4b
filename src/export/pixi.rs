//! `pixi`: a pixi.toml whose PyPI dependencies are the locked wheels, each from its own index.
//!
//! What the driver must be able to run is a system requirement, which pixi checks as the virtual package `__cuda`.

use std::fmt::Write;

use crate::lock::{ConstraintLock, Lock, TargetLock, Wheel};
use crate::types::{CpuArch, DriverMode, Specifier};

use super::format::{self, Format, Installs, Options, Render};
use super::{ExportError, images, ordinary, own, quote, remarks, requirements, valid, wheels};

/// `gpuenv export pixi`
pub const FORMAT: Format = Format {
    name: "pixi",
    help: "A pixi.toml with the locked wheels and what the driver must be able to run",
    file: "pixi.toml",
    options: &[],
    next: |_, file, _| {
        let place =
            if file.contains('/') { format!(" --manifest-path {}", quote::sh_word(file)) } else { String::new() };
        format::by_its_name(file, "pixi.toml", &format!("pixi install{place}"))
    },
    merge: None,
    installs: Some(Installs { by_pip: false, at_once: true }),
    render: Render::Target(render),
};

fn render(lock: &Lock, name: &str, target: &TargetLock, _: &Options) -> Result<String, ExportError> {
    let wheels: Vec<&Wheel> = lock.wheels_of(name).collect();
    let others = ordinary::of(lock, name)?;
    if wheels.is_empty() && others.is_empty() {
        return Err(own::nothing(lock, &[(name, target)]));
    }
    let platform = match valid::cpu_arch(&target.arch)? {
        CpuArch::X86_64 => "linux-64",
        CpuArch::Aarch64 => "linux-aarch64",
    };
    let mut out = "# Written by `gpuenv export pixi`; do not edit.\n".to_string();
    out += &own::comment(lock, name, target);
    out += &remarks::compiled_comment(lock, name, target)?;
    if let Some(capability) = wheels::lowest_capability(&target.gpu)? {
        let _ = write!(
            out,
            "# Where no GPU can be seen, say what the others have: CONDA_OVERRIDE_CUDA for __cuda, CONDA_OVERRIDE_CUDA_ARCH\n\
             # for __cuda_arch ({capability} at least).\n"
        );
    }
    let _ = write!(
        out,
        "\n[workspace]\nname = \"gpu-stack\"\nversion = \"0.0.0\"\nchannels = [\"conda-forge\"]\nplatforms = [\"{platform}\"]\n"
    );
    if let Some(line) = wheels::cuda_beside(lock, name, target).filter(|_| lock.uses_gpu(name, target)) {
        let cuda = required(target, line.as_str())?;
        let _ = write!(
            out,
            "\n[system-requirements]\n# The virtual package __cuda: what the driver can run.\ncuda = \"{cuda}\"\n"
        );
    }
    if let Some(pythons) = wheels::pythons(lock, &[(name, target)])? {
        // A line of conda's has no `==` before its star.
        let asked = if pythons.ends_with(".*") { pythons.trim_start_matches('=') } else { &pythons };
        let _ = write!(out, "\n[dependencies]\npython = {}\n", quote::toml(asked));
        if requirements::later(lock, name, target)?.is_some() {
            out += "# Installs what is compiled afterwards, in `pixi shell`.\npip = \"*\"\n";
        }
    }
    out += "\n[pypi-dependencies]\n";
    for wheel in wheels.iter().filter(|wheel| wheel.unisolated.is_none()) {
        let _ = writeln!(out, "{} = {}", quote::toml_key(valid::package(&wheel.package)?), spec(wheel)?);
    }
    if !others.is_empty() {
        let _ = writeln!(out, "# {}", ordinary::NOTE);
    }
    for (package, asked) in &others {
        let _ = writeln!(out, "{} = {}", quote::toml_key(package), range(asked));
    }
    out += &pypi_options(&wheels, &own::packages_nowhere(lock, name, target)?)?;
    out += &beside(&lock.constraints_of(name).collect::<Vec<_>>())?;
    images::refuse_framework_inside(lock, name, target)?;
    Ok(out)
}

/// The CUDA of the driver at hand; a stack of a newer minor of its major asks for no more than that.
fn required(target: &TargetLock, line: &str) -> Result<String, ExportError> {
    let known = target.driver.as_ref().map(|driver| driver.cuda.as_str()).filter(|cuda| *cuda != "unknown");
    let has_compat = target.driver.as_ref().is_some_and(|driver| driver.mode == DriverMode::MinorVersion.as_str());
    match known.filter(|_| has_compat) {
        Some(cuda) => Ok(valid::release("driver.cuda", cuda)?.to_string()),
        None => Ok(line.to_string()),
    }
}

/// `{ version = "==2.5.1+cu124", index = "…" }`
fn spec(wheel: &Wheel) -> Result<String, ExportError> {
    wheels::pin(wheel)?;
    let mut fields = match &wheel.url {
        Some(url) => vec![format!("url = {}", quote::toml(valid::wheel(url)?))],
        None => vec![format!("version = {}", quote::toml(&format!("=={}", wheel.version)))],
    };
    if let Some(extra) = &wheel.extra {
        fields.push(format!("extras = [{}]", quote::toml(extra)));
    }
    if let Some(index) = &wheel.index {
        fields.push(format!("index = {}", quote::toml(valid::index(index)?)));
    }
    Ok(format!("{{ {} }}", fields.join(", ")))
}

/// `">=4.50"`, `{ version = "*", extras = ["torch"] }`
fn range(asked: &Specifier) -> String {
    let version = if asked.comparisons.is_empty() { "*".to_string() } else { asked.specifier() };
    if asked.extras.is_empty() {
        return quote::toml(&version);
    }
    let extras: Vec<String> = asked.extras.iter().map(|extra| quote::toml(extra)).collect();
    format!("{{ version = {}, extras = [{}] }}", quote::toml(&version), extras.join(", "))
}

/// Builds that somebody installs himself: nothing may bring the wheel of an index in their place.
fn pypi_options(wheels: &[&Wheel], excluded: &[String]) -> Result<String, ExportError> {
    let mut out = String::new();
    if let Some(index) = wheels.iter().find_map(|wheel| wheels::nightlies(wheel)) {
        let index = quote::toml(valid::index(index)?);
        out += "# What a nightly asks for, such as its Triton, often lies beside it alone.\n";
        out += &format!("extra-index-urls = [{index}]\n");
    }
    if !excluded.is_empty() {
        let list: Vec<String> = excluded.iter().map(|package| quote::toml(package)).collect();
        out += &format!("# No wheel of an index stands in for your build.\nno-binary = [{}]\n", list.join(", "));
    }
    Ok(if out.is_empty() { out } else { format!("\n[pypi-options]\n{out}") })
}

/// What other packages may bring in comes from its index in its release. An override installs nothing by itself.
fn beside(constraints: &[&ConstraintLock]) -> Result<String, ExportError> {
    let mut out = String::new();
    for one in constraints {
        let index = one.index.as_deref().map(valid::index).transpose()?;
        let index = index.map_or(String::new(), |index| format!(", index = {}", quote::toml(index)));
        let version = format!("=={}", valid::wheel_version(&one.version)?);
        let package = quote::toml_key(valid::package(&one.package)?);
        let _ = writeln!(out, "{package} = {{ version = {}{index} }}", quote::toml(&version));
    }
    match out.is_empty() {
        true => Ok(out),
        false => Ok(format!(
            "\n# Where another package brings one of these in: it must not be that of another CUDA.\n\
             [pypi-options.dependency-overrides]\n{out}"
        )),
    }
}
