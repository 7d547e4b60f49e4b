//! `requirements`: a file for pip.
//!
//! pip has no index per package, its index options count for the whole file, and with an extra index any
//! package may come from either one: in 2022 a name that PyTorch had only on its own index was taken on the
//! public one, and got installed. So there are three cases and no extra index in any of them:
//!
//! - all wheels from pip's own default: pins alone.
//! - all from one other index: that index instead of the default. PyTorch's carry all that torch depends on.
//! - mixed: the default index, and the *page of each package* as a place to find links. Such a page can only
//!   offer the one package, and the local label in the pin (`+cu124`), which public indexes refuse, says
//!   which wheel is meant.
//!
//! What has an address of its own is asked for by that.
//!
//! With `--hashes` every pin carries the sha256 of its wheel; pip knows them for all or for none.
//!
//! The Python version is a comment: a marker would make pip skip a pin silently on another Python.

use crate::lock::{Lock, TargetLock, Wheel};

use super::{ExportError, Format, Options, Render, unisolated, valid};

/// `gpuenv export requirements`
pub const FORMAT: Format = Format {
    name: "requirements",
    help: "A requirements.txt for pip",
    per_target: true,
    render: Render::Target(render),
};

fn render(lock: &Lock, name: &str, target: &TargetLock, options: &Options) -> Result<String, ExportError> {
    let wheels: Vec<&Wheel> = lock.wheels_of(name).collect();
    let mut out = "# Written by `gpuenv export requirements`; do not edit.\n".to_string();
    if let Some(python) = lock.stack_of(target).get("python") {
        let python = valid::release("python", python)?;
        let arch = valid::cpu_arch(&target.arch)?;
        out += &format!("# For Python {python} on Linux {arch}.\n");
    }
    if options.hashes {
        out += "# Holds no dependencies, which have no sha256 here: `pip install --no-deps --require-hashes -r` this file,\n\
                # then the rest as you are used to, with these versions as constraints.\n";
        let unknown: Vec<String> = wheels.iter().filter(|wheel| wheel.hashes().is_none()).map(shown).collect();
        if !unknown.is_empty() {
            return Err(ExportError::UnknownHash(unknown));
        }
    }
    out += &compiled(&wheels)?;
    out += &sources(&wheels)?;
    for wheel in wheels {
        out += &pin(wheel)?;
        for hash in wheel.hashes().into_iter().flatten().filter(|_| options.hashes) {
            out += &format!(" \\\n    --hash=sha256:{}", valid::sha256(hash)?);
        }
        out.push('\n');
    }
    Ok(out)
}

/// What a file for pip has no option for: some packages are compiled beside what is installed already.
fn compiled(wheels: &[&Wheel]) -> Result<String, ExportError> {
    let (packages, tools) = unisolated(wheels)?;
    if packages.is_empty() {
        return Ok(String::new());
    }
    let tools = if tools.is_empty() { String::new() } else { format!(" ({})", tools.join(", ")) };
    Ok(format!(
        "# Compiled beside an installed framework, as the documentation tells: {}.\n\
         # Install the other pins first, and what such builds import{tools}; then\n\
         # `pip install --no-build-isolation -r` this file. In the isolation pip builds in otherwise they fail.\n",
        packages.join(", ")
    ))
}

fn shown(wheel: &&Wheel) -> String {
    format!("{} {}", wheel.package, wheel.version)
}

/// `torch==2.5.1+cu124`, `jax[cuda13]==0.11.0`; `vllm@https://…` where the wheel lies on no index.
pub(super) fn pin(wheel: &Wheel) -> Result<String, ExportError> {
    valid::package(&wheel.package)?;
    valid::wheel_version(&wheel.version)?;
    wheel.extra.as_deref().map(valid::package).transpose()?;
    wheel.url.as_deref().map(valid::wheel).transpose()?;
    Ok(wheel.requirement())
}

/// The lines that say where the pins come from.
fn sources(wheels: &[&Wheel]) -> Result<String, ExportError> {
    let first = wheels.first().ok_or(ExportError::NothingToInstall)?.index.as_deref();
    if wheels.iter().all(|wheel| wheel.index.as_deref() == first) {
        let Some(index) = first else { return Ok(String::new()) };
        return Ok(format!(
            "# pip takes everything here from this one index, dependencies included. Install the file by itself,\n\
             # then your other packages from your usual index, with the pins below as constraints.\n\
             --index-url {}\n",
            valid::index(index)?
        ));
    }
    let mut out =
        "# Each page below offers one package only; everything else comes from your usual index.\n".to_string();
    for wheel in wheels {
        if let Some(index) = &wheel.index {
            let package = valid::package(&wheel.package)?;
            if !wheel.version.contains('+') {
                let version = valid::wheel_version(&wheel.version)?.to_string();
                return Err(ExportError::Ambiguous { package: package.to_string(), version });
            }
            out += &format!("--find-links {}/{}/\n", valid::index(index)?.trim_end_matches('/'), normalised(package));
        }
    }
    Ok(out)
}

/// The name an index files a package under.
fn normalised(package: &str) -> String {
    let parts: Vec<&str> = package.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect();
    parts.join("-").to_ascii_lowercase()
}
