//! `uv`: a pyproject.toml for uv, whole as it stands and made to be copied from.
//!
//! Every index is `explicit`: only the packages that the lock took from it are looked up there, so that
//! nothing else can come from it and nothing else is missed for its sake. `environments` keeps uv from
//! resolving for platforms that the lock says nothing about.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::lock::{Lock, Wheel};
use crate::words::CpuArch;

use super::requirements::pin;
use super::{ExportError, Format, Render, Targets, UNCHECKED, misnamed, names, quote, unisolated, valid};

/// `gpuenv export uv`
pub const FORMAT: Format = Format {
    name: "uv",
    help: "A pyproject.toml for uv, with each package tied to its index",
    per_target: true,
    render: Render::Whole(render),
};

/// One platform's wheels by package name.
type Platforms<'a> = BTreeMap<CpuArch, BTreeMap<&'a str, &'a Wheel>>;

fn render(lock: &Lock, targets: &Targets) -> Result<String, ExportError> {
    let platforms = platforms(lock, targets)?;
    let mut pythons: BTreeSet<Option<&String>> = BTreeSet::new();
    pythons.extend(targets.iter().map(|(_, target)| lock.stack_of(target).get("python")));
    if pythons.len() > 1 {
        return Err(ExportError::TargetNeeded(names(targets)));
    }
    if platforms.values().all(BTreeMap::is_empty) {
        return Err(ExportError::NothingToInstall);
    }
    let indexes = indexes(&platforms)?;

    let mut out = "# Written by `gpuenv export uv`. Copy what you need into your own pyproject.toml.\n\n".to_string();
    out += "[project]\nname = \"gpu-stack\"\nversion = \"0\"\n";
    if let Some(Some(python)) = pythons.first() {
        let _ = writeln!(out, "requires-python = {}", quote::toml(&requires_python(python)?));
    }
    out += "dependencies = [\n";
    for (wheel, marker) in distinct(&platforms, |wheel| (&wheel.package, &wheel.version, &wheel.url)) {
        let marker = marker.map_or(String::new(), |marker| format!(" ; {marker}"));
        let _ = writeln!(out, "    {},", quote::toml(&format!("{}{marker}", pin(wheel)?)));
    }
    out += "]\n";
    let wheels: Vec<&Wheel> = platforms.values().flat_map(BTreeMap::values).copied().collect();
    let named = misnamed(&wheels);
    if !named.is_empty() {
        let _ = write!(
            out,
            "\n# The file of {} is named otherwise than its metadata says: run uv with {UNCHECKED}=1.\n",
            named.join(", ")
        );
    }
    let (unisolated, tools) = unisolated(&wheels)?;
    if !unisolated.is_empty() {
        let _ = write!(out, "\n[dependency-groups]\n# What the builds below import.\nbuild = {}\n", list(&tools));
    }
    out += "\n[tool.uv]\n";
    if !unisolated.is_empty() {
        let _ = write!(
            out,
            "# Compiled beside an installed framework, as the documentation tells. uv asks them for their dependencies when\n\
             # it locks: if that fails, `uv venv` and `uv pip install` the other dependencies and the group above first.\n\
             no-build-isolation-package = {}\ndefault-groups = [\"build\"]\n",
            list(&unisolated)
        );
    }
    out += "# What the lock was made for, and nothing else.\nenvironments = [\n";
    for arch in platforms.keys() {
        let _ = writeln!(out, "    {},", quote::toml(&marker(*arch)));
    }
    out += "]\n";
    for (url, name) in &indexes {
        let _ = write!(
            out,
            "\n[[tool.uv.index]]\nname = {}\nurl = {}\n# Only for the packages that name it below.\nexplicit = true\n",
            quote::toml(name),
            quote::toml(url)
        );
    }
    out += &sources(&platforms, &indexes);
    Ok(out)
}

fn list(words: &[&str]) -> String {
    format!("[{}]", words.iter().map(|word| quote::toml(word)).collect::<Vec<_>>().join(", "))
}

/// The wheels of each platform, where its targets agree on them.
fn platforms<'a>(lock: &'a Lock, targets: &Targets<'a>) -> Result<Platforms<'a>, ExportError> {
    let mut platforms = Platforms::new();
    for (name, target) in targets {
        let wheels: BTreeMap<&str, &Wheel> =
            lock.wheels_of(name).map(|wheel| (wheel.package.as_str(), wheel)).collect();
        let what = |wheels: &BTreeMap<&str, &Wheel>| -> Vec<(String, Option<String>)> {
            wheels.values().map(|wheel| (wheel.requirement(), wheel.index.clone())).collect()
        };
        match platforms.get(&valid::cpu_arch(&target.arch)?) {
            Some(known) if what(known) != what(&wheels) => return Err(ExportError::TargetNeeded(names(targets))),
            Some(_) => {}
            None => {
                platforms.insert(valid::cpu_arch(&target.arch)?, wheels);
            }
        }
    }
    Ok(platforms)
}

/// The wheels that differ in `key`, each with the marker of its platforms; no marker if it is for all.
fn distinct<'a>(
    platforms: &Platforms<'a>,
    key: impl Fn(&'a Wheel) -> (&'a String, &'a String, &'a Option<String>),
) -> Vec<(&'a Wheel, Option<String>)> {
    let mut found: BTreeMap<_, (&Wheel, Vec<CpuArch>)> = BTreeMap::new();
    for (arch, wheels) in platforms {
        for wheel in wheels.values() {
            found.entry(key(wheel)).or_insert((wheel, Vec::new())).1.push(*arch);
        }
    }
    let marker = |arches: Vec<CpuArch>| match arches.as_slice() {
        [arch] if platforms.len() > 1 => Some(marker(*arch)),
        _ => None,
    };
    found.into_values().map(|(wheel, arches)| (wheel, marker(arches))).collect()
}

/// A name for every index in use: what follows the host, `pytorch-org-whl-cu124` without what says nothing.
fn indexes(platforms: &Platforms) -> Result<BTreeMap<String, String>, ExportError> {
    let mut named: BTreeMap<String, String> = BTreeMap::new();
    for wheel in platforms.values().flat_map(BTreeMap::values) {
        let Some(url) = &wheel.index else { continue };
        let host_and_path = valid::index(url)?.split_once("://").map_or("", |(_, rest)| rest);
        let words: Vec<&str> = host_and_path
            .split(|character: char| !character.is_ascii_alphanumeric())
            .filter(|word| !matches!(*word, "" | "download" | "www" | "org" | "com" | "whl" | "simple"))
            .collect();
        let base = if words.is_empty() { "index".to_string() } else { words.join("-") };
        // Two addresses may shorten to one name, which uv refuses.
        let taken = |name: &String| named.iter().any(|(other, taken)| other != url && taken == name);
        let name = (1..).map(|n| if n == 1 { base.clone() } else { format!("{base}-{n}") }).find(|name| !taken(name));
        named.entry(url.clone()).or_insert(name.unwrap_or(base));
    }
    Ok(named)
}

/// `[tool.uv.sources]`: which package comes from which index.
fn sources(platforms: &Platforms, indexes: &BTreeMap<String, String>) -> String {
    let mut of_package: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (wheel, marker) in distinct(platforms, |wheel| (&wheel.package, &wheel.package, &wheel.index)) {
        let Some(index) = wheel.index.as_ref().and_then(|url| indexes.get(url)) else { continue };
        let marker = marker.map_or(String::new(), |marker| format!(", marker = {}", quote::toml(&marker)));
        let source = format!("{{ index = {}{marker} }}", quote::toml(index));
        of_package.entry(&wheel.package).or_default().push(source);
    }
    if of_package.is_empty() {
        return String::new();
    }
    let lines = of_package
        .iter()
        .map(|(package, sources)| format!("{} = [{}]\n", quote::toml_key(package), sources.join(", ")));
    format!("\n[tool.uv.sources]\n{}", lines.collect::<String>())
}

fn marker(arch: CpuArch) -> String {
    format!("sys_platform == 'linux' and platform_machine == '{arch}'")
}

/// `==3.11.*`, or exactly the release that the lock names.
fn requires_python(python: &str) -> Result<String, ExportError> {
    let python = valid::release("python", python)?;
    Ok(if python.split('.').count() > 2 { format!("=={python}") } else { format!("=={python}.*") })
}
