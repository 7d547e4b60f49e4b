//! The machine below any GPU: kernel, distribution, C library, container; and the environment that CUDA looks at.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::catalog::{OsMatch, at_hand};
use crate::host::{Platform, Record, System, tegra};
use crate::types::Version;

use super::context::ProbeContext;
use super::ended;
use super::environment;
use super::loader::Loader;

/// Writes the platform and the environment.
pub fn look(context: &ProbeContext, record: &mut Record) {
    ended(record, "platform", |record| {
        record.platform = Platform {
            system: Some(system(context)),
            arch: arch(context),
            kernel: context.text("/proc/sys/kernel/osrelease"),
            os: os(context),
            glibc: glibc(context),
            container: container(context).map(str::to_string),
            root: context.is_here().then(|| rustix::process::geteuid().is_root()),
            shm: shared_memory(context),
        };
        if context.is_here() {
            record.environment = environment::that_matters(context);
        }
    });
}

/// By how the driver comes onto it.
fn system(context: &ProbeContext) -> System {
    let starts = |text: Option<String>, start| text.is_some_and(|text| text.to_lowercase().starts_with(start));
    let kernel = context.text("/proc/sys/kernel/osrelease").unwrap_or_default().to_lowercase();
    if kernel.contains("microsoft") || context.has("/usr/lib/wsl/lib/libdxcore.so") {
        System::Wsl
    } else if context.has("/etc/nv_tegra_release") || starts(context.text("/sys/devices/soc0/family"), "tegra") {
        System::Tegra
    } else {
        System::Linux
    }
}

/// The kernel says it since version 6.1; before, the loader that programs name has it in its own name.
fn arch(context: &ProbeContext) -> Option<String> {
    let told = context.text("/proc/sys/kernel/arch").filter(|arch| !arch.is_empty());
    let here = || context.is_here().then(|| std::env::consts::ARCH.to_string());
    let loaders = [("/lib64/ld-linux-x86-64.so.2", "x86_64"), ("/lib/ld-linux-aarch64.so.1", "aarch64")];
    let implied = || loaders.iter().find(|(path, _)| context.has(path)).map(|(_, arch)| (*arch).to_string());
    told.or_else(here).or_else(implied)
}

/// The distribution, as the catalog spells it where it knows it.
fn os(context: &ProbeContext) -> Option<String> {
    let text = context.text("/etc/os-release").or_else(|| context.text("/usr/lib/os-release"))?;
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
        Some(line.trim().trim_matches(['"', '\'']).to_string()).filter(|value| !value.is_empty())
    };
    let id = value("ID")?;
    let version = value("VERSION_ID").unwrap_or_default();
    // What a Jetson has is its JetPack, whatever that is based on.
    let jetson = context.text("/etc/nv_tegra_release").and_then(|text| text.lines().find_map(tegra::release));
    // A release that is still to come has a name and no number.
    let spellings = [
        jetson.clone(),
        Some(format!("{id}{version}")).filter(|_| jetson.is_none()),
        value("VERSION_CODENAME").filter(|_| version.is_empty()),
    ];
    let known = spellings.iter().flatten().find_map(|spelling| match at_hand().os(spelling) {
        OsMatch::Found(row) => Some(row.id.to_string()),
        OsMatch::Unknown(_) => None,
    });
    known.or(jetson).or(Some(format!("{id}{version}")))
}

/// What stands in a C library's own text before its version: `GNU C Library (…) stable release version 2.35.`
const RELEASE: &[u8] = b" release version ";

/// The C library names its version in its own text, in every release, here and under another root.
fn glibc(context: &ProbeContext) -> Option<Version> {
    let file = Loader::new(&context.root, &[]).find("libc.so.6")?.file;
    let bytes = fs::read(context.at(file.to_str()?)).ok()?;
    let start = bytes.windows(RELEASE.len()).position(|window| window == RELEASE)? + RELEASE.len();
    let number: String = bytes[start..].iter().map(|byte| char::from(*byte)).take_while(|c| is_numeric(*c)).collect();
    Version::parse(number.trim_end_matches('.')).ok()
}

fn is_numeric(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

/// What keeps this process apart from the machine, the innermost first.
fn container(context: &ProbeContext) -> Option<&'static str> {
    if context.has("/proc/sentry-meminfo") {
        return Some("gvisor");
    }
    let variable = |name| if context.is_here() { context.variable(name) } else { None };
    let groups = context.text("/proc/self/cgroup").or_else(|| context.text("/proc/1/cgroup")).unwrap_or_default();
    let manager = context.text("/run/systemd/container").unwrap_or_default();
    let named =
        |name: &str| groups.contains(name) || manager == name || variable("container") == Some(OsStr::new(name));
    let service_account = "/var/run/secrets/kubernetes.io";
    if variable("KUBERNETES_SERVICE_HOST").is_some() || groups.contains("kubepods") || context.has(service_account) {
        Some("kubernetes")
    } else if context.has("/run/.containerenv") || groups.contains("libpod") || named("podman") {
        Some("podman")
    } else if context.has("/.dockerenv") || named("docker") {
        Some("docker")
    } else if named("lxc") {
        Some("lxc")
    } else if !manager.is_empty() || variable("container").is_some() {
        Some("other")
    } else {
        None
    }
}

fn shared_memory(context: &ProbeContext) -> Option<u64> {
    let about = context.is_here().then(|| rustix::fs::statvfs(Path::new("/dev/shm")).ok())??;
    Some(about.f_blocks.saturating_mul(about.f_frsize))
}

#[cfg(test)]
mod tests;
