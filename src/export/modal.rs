//! `modal`: a Python file with the locked wheels as an image of Modal's, on the locked image where there is one.

use std::fmt::Write;

use crate::lock::{Lock, TargetLock};
use crate::types::version::Written;
use crate::types::{CpuArch, Version};

use super::compose::{self, IMAGE};
use super::format::{Format, Installs, Options, Render};
use super::requirements::{self, Later};
use super::services::{ACCELERATORS, accelerators};
use super::{ExportError, images, own, quote, steps, valid, wheels};

/// `gpuenv export modal`
pub const FORMAT: Format = Format {
    name: "modal",
    help: "A Python file for Modal: an image with the locked wheels, and a function that prints what it holds",
    file: "gpu_stack.py",
    options: &[ACCELERATORS, IMAGE],
    next: |_, file, _| format!("modal run {file}"),
    merge: None,
    installs: Installs::BY_PIP_IN_ORDER,
    render: Render::Target(render),
};

/// The oldest Python that any of Modal's image builders takes.
const OLDEST_PYTHON: Version = Version::of(const { &Written::release("3.10") });

fn render(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let mut out =
        "\"\"\"Written by `gpuenv export modal`; do not edit. Import `app`, `image` and `GPU` from it.\"\"\"\n\n\
                   import modal\n\n"
            .to_string();
    if valid::cpu_arch(&target.arch)? != CpuArch::X86_64 {
        return Err(ExportError::OtherCpu { target: name.to_string(), arch: target.arch.clone() });
    }
    match compose::image(options)? {
        Some(image) => {
            let _ = writeln!(out, "image = modal.Image.from_registry({})", quote::json(&image));
        }
        None => {
            out += &own::comment(lock, name, target);
            out += &installed(lock, name, target)?;
        }
    }
    let (accelerators, note) = accelerators(lock, name, target, options)?;
    out += note;
    let list: Vec<String> = accelerators.iter().map(|one| quote::json(one)).collect();
    let gpu = if list.is_empty() { "None".to_string() } else { format!("[{}]", list.join(", ")) };
    let app = quote::json(&format!("gpuenv-{}", valid::dns_label(name)?));
    let mut packages = Vec::new();
    for wheel in lock.wheels_of(name) {
        packages.push(quote::json(valid::package(&wheel.package)?));
    }
    let _ = write!(
        out,
        "GPU = {gpu}\napp = modal.App({app}, image=image)\n\n\n@app.function(gpu=GPU)\ndef installed():\n    \
         from importlib.metadata import version\n\n    for package in [{}]:\n        print(package, version(package))\n",
        packages.join(", ")
    );
    Ok(out)
}

/// The locked image, else Modal's own, with what pip installs in it. Its constructors know one page to find links on, so that
/// what tells pip where to look is handed on as it is.
fn installed(lock: &Lock, name: &str, target: &TargetLock) -> Result<String, ExportError> {
    let lines = requirements::lines(lock, name, target)?;
    let later = requirements::later(lock, name, target)?;
    if lines.is_empty() {
        return Err(own::nothing(lock, &[(name, target)]));
    }
    let has_python = images::framework_inside(lock, name, target).is_some();
    let python = wheels::python(lock, target)?.filter(|_| !has_python);
    let python =
        python.map(|python| valid::recent_python("Modal", python, OLDEST_PYTHON)).transpose()?.map(quote::json);
    let image = match &target.image {
        // There is one image only: that for building holds the compiler.
        Some(_) if later.is_some() => Some(quote::json(&images::of(name, target)?)),
        Some(_) => Some(quote::json(&images::to_run(name, target)?)),
        None => None,
    };
    let base = match (image, python) {
        (Some(image), Some(python)) => format!("from_registry({image}, add_python={python})"),
        (Some(image), None) => format!("from_registry({image})"),
        (None, Some(python)) => format!("debian_slim(python_version={python})"),
        (None, None) => "debian_slim()".to_string(),
    };
    let mut out = format!("image = modal.Image.{base}");
    // Modal's own image has a C compiler.
    if target.image.is_some() && steps::calls_compiler(lock, name, target) {
        let _ = write!(out, ".run_commands(\n    {},\n)", quote::json(&steps::INSTALL_GCC.replace("\\\n    ", "")));
    }
    out += &install(&lines, None);
    if let Some(Later { tools, variables, lines }) = later {
        out += &install(&tools, None);
        // Images are built where no GPU is seen.
        let told: Vec<String> =
            variables.iter().map(|(name, value)| format!("{}: {}", quote::json(name), quote::json(value))).collect();
        if !told.is_empty() {
            let _ = write!(out, ".env({{{}}})", told.join(", "));
        }
        out += &install(&lines, Some("--no-build-isolation"));
    }
    Ok(out + "\n")
}

fn install(lines: &[String], option: Option<&str>) -> String {
    let (options, pins): (Vec<&str>, Vec<&str>) =
        lines.iter().map(String::as_str).chain(option).partition(|line| line.starts_with("--"));
    let pins: String = pins.iter().map(|pin| format!("    {},\n", quote::json(pin))).collect();
    let extra = match options.is_empty() {
        true => String::new(),
        false => format!("    extra_options={},\n", quote::json(&options.join(" "))),
    };
    if pins.is_empty() { String::new() } else { format!(".pip_install(\n{pins}{extra})") }
}
