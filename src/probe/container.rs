//! What hands GPUs to containers: runtimes, NVIDIA's toolkit and its mode, docker's configuration, CDI specifications,
//! the links in /dev/char. Files first; programs are asked for their versions only where everything is looked at.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::Instant;

use crate::host::{ApiError, Cdi, Container, ProbeStatus, Record};
use crate::types::{Version, distinct, map_of};

use super::context::{Depth, ProbeContext};
use super::program::{self, LIMIT};

/// A container runtime: its name, its program, and how it is asked for its version.
const RUNTIMES: &[(&str, &str, &str)] = &[
    ("docker", "docker", "--version"),
    ("podman", "podman", "--version"),
    ("containerd", "containerd", "--version"),
    ("cri-o", "crio", "--version"),
    ("enroot", "enroot", "version"),
    ("apptainer", "apptainer", "--version"),
    ("singularity", "singularity", "--version"),
];

/// The directories CDI specifications lie in; of one name twice the later wins.
const CDI: &[&str] = &["/etc/cdi", "/var/run/cdi"];
/// Files that a specification names and that are not there: so many are told.
const MISSING: usize = 5;

/// Looks for all of it.
pub fn look(context: &ProbeContext, record: &mut Record) {
    let began = Instant::now();
    let deep = context.options.depth >= Depth::Full && context.is_here();
    let mut container =
        Container { runtimes: runtimes(context, deep), cdi: specifications(context), ..Container::default() };
    container.toolkit = packaged(context, "nvidia-container-toolkit").or_else(|| asked(context, deep, "nvidia-ctk"));
    container.mode = mode(context);
    docker(context, &mut container);
    container.cgroup_version = cgroups(context);
    container.dev_char = dev_char(context);
    let nothing = Container { cgroup_version: container.cgroup_version, ..Container::default() };
    let absent = container == nothing;
    record.probes.push(super::told("container", if absent { ProbeStatus::Absent } else { ProbeStatus::Done }, began));
    record.container = (!absent).then_some(container);
}

/// The runtimes on PATH. A version is empty where nobody asked, or where it was not told.
fn runtimes(context: &ProbeContext, deep: bool) -> BTreeMap<String, String> {
    let there = RUNTIMES.iter().filter_map(|row| Some((row, program::on_path(context, row.1)?)));
    let told = there.map(|((name, _, ask), path)| {
        let said = if deep { program::run(context, &path, &[ask], LIMIT).out } else { String::new() };
        (name.to_string(), first_version(&said).map_or(String::new(), |version| version.to_string()))
    });
    map_of(told)
}

/// `Docker version 27.3.1, build ce12230`, `containerd github.com/containerd/containerd/v2 v2.0.0 207ad71`, `3.5.0`
fn first_version(text: &str) -> Option<Version> {
    let words = text.lines().next()?.split_whitespace();
    let mut bare = words.map(|word| word.strip_prefix('v').unwrap_or(word));
    bare.find_map(program::leading_version).and_then(|text| Version::parse(text).ok())
}

/// The version that a program of NVIDIA's toolkit tells: `NVIDIA Container Toolkit CLI version 1.17.8`.
fn asked(context: &ProbeContext, deep: bool, name: &str) -> Option<Version> {
    let path = program::on_path(context, name).filter(|_| deep)?;
    first_version(&program::run(context, &path, &["--version"], LIMIT).out)
}

/// The version of a Debian package that is installed.
fn packaged(context: &ProbeContext, package: &str) -> Option<Version> {
    // The list may be larger than other texts that are read; a cut one lacks its end only.
    let text = fs::read(context.find("/var/lib/dpkg/status")?).ok()?;
    let text = String::from_utf8_lossy(&text);
    let paragraph = text.split("\n\n").find(|part| part.starts_with(&format!("Package: {package}\n")))?;
    let installed = paragraph.lines().any(|line| line == "Status: install ok installed");
    let version = paragraph.lines().find_map(|line| line.strip_prefix("Version: ")).filter(|_| installed)?;
    Version::parse(program::leading_version(version)?).ok()
}

/// The mode that the toolkit's configuration sets, whoever wrote it.
fn mode(context: &ProbeContext) -> Option<String> {
    let config = context.text("/etc/nvidia-container-runtime/config.toml")?;
    let config: toml::Table = toml::from_str(&config).ok()?;
    Some(config.get("nvidia-container-runtime")?.get("mode")?.as_str()?.to_string())
}

/// What docker's configuration says of runtimes, CDI and cgroups.
fn docker(context: &ProbeContext, container: &mut Container) {
    let Some(text) = context.text("/etc/docker/daemon.json") else { return };
    let Ok(config) = serde_json::from_str::<serde_json::Value>(&text) else { return };
    let runtimes = config.get("runtimes").and_then(|runtimes| runtimes.as_object());
    container.docker_runtimes = runtimes.map_or(Vec::new(), |runtimes| runtimes.keys().cloned().collect());
    container.docker_default = config.get("default-runtime").and_then(|name| name.as_str()).map(str::to_string);
    container.docker_cdi = config.get("features").and_then(|features| features.get("cdi")?.as_bool());
    let options = config.get("exec-opts").and_then(|options| options.as_array()).into_iter().flatten();
    let mut drivers = options.filter_map(|option| option.as_str()?.strip_prefix("native.cgroupdriver="));
    container.cgroup_driver = drivers.next().map(str::to_string);
}

/// The version of the cgroup tree.
fn cgroups(context: &ProbeContext) -> Option<u64> {
    if context.has("/sys/fs/cgroup/cgroup.controllers") {
        return Some(2);
    }
    let is_first = context.has("/sys/fs/cgroup/devices") || context.has("/sys/fs/cgroup/memory");
    is_first.then_some(1)
}

/// Whether every NVIDIA device has its link in /dev/char.
fn dev_char(context: &ProbeContext) -> Option<bool> {
    let nodes = context.names("/dev").into_iter().filter(|name| name.starts_with("nvidia"));
    let numbers = nodes.filter_map(|name| {
        let about = fs::metadata(context.find(&format!("/dev/{name}"))?).ok()?;
        let number = about.rdev();
        about.file_type().is_char_device().then(|| (rustix::fs::major(number), rustix::fs::minor(number)))
    });
    let links: Vec<bool> = numbers
        .map(|(major, minor)| {
            let link = context.at(&format!("/dev/char/{major}:{minor}"));
            fs::symlink_metadata(link).is_ok()
        })
        .collect();
    (!links.is_empty()).then(|| links.iter().all(|there| *there))
}

/// The specifications of NVIDIA devices. /run/cdi is /var/run/cdi wherever the one is a link to the other.
fn specifications(context: &ProbeContext) -> Vec<Cdi> {
    let mut found = Vec::new();
    for folder in CDI {
        for name in context.names(folder) {
            let is_one = [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending));
            let path = format!("{folder}/{name}");
            if let Some(specification) = is_one.then(|| specification(context, &path)).flatten() {
                found.push(specification);
            }
        }
    }
    found
}

/// One specification; none where it is for somebody else's devices.
fn specification(context: &ProbeContext, path: &str) -> Option<Cdi> {
    let Some(text) = context.text(path) else {
        let fault = ApiError { at: path.to_string(), code: None, name: Some("EACCES".into()), message: None };
        return path.contains("nvidia").then(|| Cdi { path: path.to_string(), fault: Some(fault), ..Cdi::default() });
    };
    let outline = if path.ends_with(".json") { of_json(&text) } else { of_yaml(&text) };
    let nvidia = |kind: &String| kind.starts_with("nvidia.com/") || kind.ends_with(".nvidia.com/gpu");
    let kind = outline.kind.clone().filter(nvidia).or_else(|| {
        let message = path.contains("nvidia") && outline.kind.is_none();
        message.then(String::new)
    })?;
    let fault = kind.is_empty().then(|| {
        let message = Some("it names no kind of device".to_string());
        ApiError { at: path.to_string(), code: None, name: None, message }
    });
    let gone = outline.files.iter().filter(|file| !context.has(file));
    let mut missing = distinct(gone.cloned());
    missing.truncate(MISSING);
    Some(Cdi {
        path: path.to_string(),
        kind: Some(kind).filter(|kind| !kind.is_empty()),
        driver: outline.driver(),
        devices: outline.devices,
        missing,
        fault,
    })
}

/// What of a specification matters here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outline {
    kind: Option<String>,
    devices: Vec<String>,
    /// Every file of the host that it injects or makes a device of.
    files: Vec<String>,
}

impl Outline {
    /// The driver's release in the name of its libcuda, else of any library of the driver's.
    fn driver(&self) -> Option<Version> {
        let of = |stem: &str| {
            let names = self.files.iter().filter_map(|file| Path::new(file).file_name()?.to_str());
            names.filter_map(|name| name.strip_prefix(stem)?.split_once(".so.")).find_map(|(_, tail)| {
                // Sonames end in a small number: libcuda.so.1.
                Version::parse(tail).ok().filter(|version| version.len() > 1 && version.major() >= 100)
            })
        };
        of("libcuda").or_else(|| of("libnvidia-ml")).or_else(|| of("libnvidia-"))
    }
}

fn of_json(text: &str) -> Outline {
    let Ok(json) = serde_json::from_str::<serde_json::Value>(text) else { return Outline::default() };
    let mut outline =
        Outline { kind: json.get("kind").and_then(|kind| kind.as_str()).map(str::to_string), ..Outline::default() };
    let devices = json.get("devices").and_then(|devices| devices.as_array()).into_iter().flatten();
    outline.devices = devices.filter_map(|device| Some(device.get("name")?.as_str()?.to_string())).collect();
    collect_files(&json, &mut outline.files);
    outline
}

/// The paths of the host anywhere in a specification. serde_json bounds how deep it may be.
fn collect_files(json: &serde_json::Value, files: &mut Vec<String>) {
    match json {
        serde_json::Value::Object(entries) => {
            for (key, value) in entries {
                match value.as_str() {
                    Some(path) if key == "hostPath" => files.push(path.to_string()),
                    _ => collect_files(value, files),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect_files(item, files)),
        _ => {}
    }
}

/// YAML as nvidia-ctk writes it: one key a line, lists of mappings. Whatever is written otherwise is not seen.
fn of_yaml(text: &str) -> Outline {
    let mut outline = Outline::default();
    let mut section = "";
    for line in text.lines() {
        let indented = line.starts_with([' ', '-']);
        let entry = line.trim_start_matches([' ', '-']);
        let Some((key, value)) = entry.split_once(':') else { continue };
        let value = value.trim().trim_matches(['"', '\'']);
        if !indented {
            section = key;
        }
        match key {
            "kind" if !indented => outline.kind = Some(value.to_string()),
            "name" if section == "devices" => outline.devices.push(value.to_string()),
            "hostPath" => outline.files.push(value.to_string()),
            _ => {}
        }
    }
    outline
}

#[cfg(test)]
mod tests;
