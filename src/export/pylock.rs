//! `pylock`: a pylock.toml (PEP 751), where the lock knows the address of every wheel.
//!
//! That format names files, not releases. A lock that takes wheels from an index knows their versions and digests, not
//! where the index keeps them; `uv export --format pylock.toml` of the `uv` export asks the index.

use std::fmt::Write;

use crate::lock::{Lock, TargetLock, Wheel};
use crate::types::name;

use super::format::{Format, Installs, Options, Render};
use super::{ExportError, images, ordinary, own, quote, valid, wheels};

/// `gpuenv export pylock`
pub const FORMAT: Format = Format {
    name: "pylock",
    help: "A pylock.toml, where the address of every wheel is known; else `uv` and `uv export` make one",
    file: "pylock.toml",
    options: &[],
    next: |_, file, _| format!("uv pip install -r {file}, then what `uv pip check` misses: it holds no dependencies"),
    merge: None,
    installs: Installs::IN_ORDER,
    render: Render::Target(render),
};

fn render(lock: &Lock, name: &str, target: &TargetLock, _: &Options) -> Result<String, ExportError> {
    let wheels: Vec<&Wheel> = lock.wheels_of(name).collect();
    if wheels.is_empty() {
        // What is asked for beside what stands in the image goes into that.
        if lock.packages().next().is_some() {
            images::refuse_framework_inside(lock, name, target)?;
        }
        return Err(own::nothing(lock, &[(name, target)]));
    }
    let is_known = |wheel: &&&Wheel| wheel.url.is_some() && wheel.hashes().is_some_and(|hashes| hashes.count() == 1);
    let shown = |wheel: &&Wheel| format!("{} {}", wheel.package, wheel.version);
    let unknown: Vec<&Wheel> = wheels.iter().copied().filter(|wheel| !is_known(&wheel)).collect();
    if unknown.iter().any(|wheel| wheel.url.is_none()) {
        // No index is asked by another format either, where that is refused.
        images::refuse_framework_inside(lock, name, target)?;
        return Err(ExportError::UnknownAddress(unknown.iter().map(shown).collect()));
    }
    if !unknown.is_empty() {
        return Err(ExportError::AddressWithoutHash(unknown.iter().map(shown).collect()));
    }
    let mut out = "# Written by `gpuenv export pylock`; do not edit. Holds no dependencies.\nlock-version = \"1.0\"\n"
        .to_string();
    out += &own::comment(lock, name, target);
    if let Some(pythons) = wheels::pythons(lock, &[(name, target)])? {
        let _ = writeln!(out, "requires-python = {}", quote::toml(&pythons));
    }
    let others = ordinary::lines(&ordinary::of(lock, name)?);
    if !others.is_empty() {
        // Above the first table a comment is one of the file.
        let _ = writeln!(out, "# Not in it, for no files are known of them: {}", others.join(", "));
    }
    out += "created-by = \"gpuenv\"\n";
    for wheel in wheels {
        wheels::pin(wheel)?;
        let (Some(url), Some(sha256)) = (&wheel.url, wheel.hashes().and_then(|mut hashes| hashes.next())) else {
            continue;
        };
        // Of the characters of an address that a name writes otherwise, a wheel's has only this one.
        let file = url.rsplit('/').next().unwrap_or_default().replace("%2B", "+").replace("%2b", "+");
        let _ = write!(
            out,
            "\n[[packages]]\nname = {}\nversion = {}\nwheels = [\n    {{ name = {}, url = {}, hashes = {{ sha256 = {} }} }},\n]\n",
            quote::toml(&name::package(&wheel.package)),
            quote::toml(&wheel.version),
            quote::toml(&file),
            quote::toml(valid::wheel(url)?),
            quote::toml(valid::sha256(sha256)?)
        );
    }
    Ok(out)
}
