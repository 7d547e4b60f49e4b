//! `conda`: an environment file whose pip section installs the locked wheels.
//!
//! The wheels bring their CUDA libraries; `cuda-version` holds whatever conda itself installs to the same line, and by its
//! own metadata asks for a driver that can run it, the virtual package `__cuda`.

use std::fmt::Write;

use crate::lock::{Lock, TargetLock};

use super::format::{Format, Installs, Opt, Options, Render};
use super::{ExportError, images, own, quote, remarks, requirements, valid, wheels};

/// `gpuenv export conda`
pub const FORMAT: Format = Format {
    name: "conda",
    help: "An environment.yml for conda and mamba, with the locked wheels in its pip section",
    file: "environment.yml",
    options: &[Opt::value("name", "NAME", "The name of the environment [default: gpu-stack]")],
    next: |_, file, _| format!("conda env create -f {file}"),
    merge: None,
    installs: Installs::BY_PIP,
    render: Render::Target(render),
};

fn render(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let own = options.get("name").unwrap_or("gpu-stack");
    let own = valid::option("name", own, valid::is_environment, "a name of letters, digits, -, _ and .")?;
    let lines = requirements::lines(lock, name, target)?;
    if lines.is_empty() {
        return Err(own::nothing(lock, &[(name, target)]));
    }
    images::refuse_framework_inside(lock, name, target)?;
    let mut out = "# Written by `gpuenv export conda`; do not edit.\n".to_string();
    out += &own::comment(lock, name, target);
    out += &remarks::compiled_comment(lock, name, target)?;
    if let Some(driver) = target.driver.as_ref().filter(|driver| driver.cuda != "unknown") {
        let of_driver = valid::release("driver.cuda", &driver.cuda)?;
        // conda asks the driver, which is older than what its cuda-compat offers.
        let of_compat = wheels::cuda_beside(lock, name, target).filter(|_| driver.is_forward_compat());
        let (when, cuda) = match &of_compat {
            Some(line) => ("Where conda does not see the cuda-compat, say what it offers", line.as_str()),
            None => ("Where no driver can be seen (a login node, CI) say what the others have", of_driver),
        };
        let _ = write!(
            out,
            "# {when}, for the virtual package __cuda:\n#   CONDA_OVERRIDE_CUDA={cuda} conda env create -f {}\n",
            options.place(FORMAT.file)
        );
    }
    let _ =
        write!(out, "name: {}\nchannels:\n  - \"conda-forge\"\n  - \"nodefaults\"\ndependencies:\n", quote::json(own));
    if let Some(pythons) = wheels::pythons(lock, &[(name, target)])? {
        // conda's one `=` takes all patch releases of a line, and the very release where there is a third number.
        let asked = pythons.strip_prefix("==").map(|python| format!("={}", python.trim_end_matches(".*")));
        let _ = writeln!(out, "  - {}", quote::json(&format!("python{}", asked.unwrap_or(pythons))));
    }
    if let Some(line) = wheels::cuda_beside(lock, name, target) {
        let _ = writeln!(out, "  - {}", quote::json(&format!("cuda-version={line}")));
    }
    out += "  - \"pip\"\n  - pip:\n";
    for line in lines {
        let _ = writeln!(out, "      - {}", quote::json(&line));
    }
    Ok(out)
}
