//! The machine below any GPU: kernel, distribution, C library, container; and the environment that CUDA looks at.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::catalog::{OsMatch, at_hand};
use crate::host::{Platform, Record, System};
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
    // A release that is still to come has a name and no number.
    let spellings = [Some(format!("{id}{version}")), value("VERSION_CODENAME").filter(|_| version.is_empty())];
    let known = spellings.iter().flatten().find_map(|spelling| match at_hand().os(spelling) {
        OsMatch::Found(row) => Some(row.id.to_string()),
        OsMatch::Unknown(_) => None,
    });
    known.or(Some(format!("{id}{version}")))
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
mod tests {
    use super::*;
    use crate::probe::tests::Tree;

    #[test]
    fn distributions_get_the_catalogs_names() {
        for (release, expected) in [
            ("ID=ubuntu\nVERSION_ID=\"22.04\"\n", "ubuntu22.04"),
            ("ID=\"rocky\"\nVERSION_ID=\"9.4\"\n", "rhel9"),
            ("ID=\"centos\"\nVERSION_ID=\"7\"\n", "rhel7"),
            ("ID=\"amzn\"\nVERSION_ID=\"2023\"\n", "amzn2023"),
            ("ID=\"sles\"\nVERSION_ID=\"15.4\"\n", "sles15.4"),
            ("ID=debian\nVERSION_CODENAME=forky\n", "debian14"),
            ("ID=arch\n", "arch"),
            ("ID=wolfi\nVERSION_ID=20230201\n", "wolfi20230201"),
        ] {
            let tree = Tree::new("os").with("etc/os-release", release);
            assert_eq!(os(&tree.context()).as_deref(), Some(expected));
        }
        assert_eq!(os(&Tree::new("no-os").context()), None);
    }

    #[test]
    fn systems_are_told_apart() {
        let with = |path: &str, text: &str| system(&Tree::new("system").with(path, text).context());
        assert_eq!(with("proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n"), System::Wsl);
        assert_eq!(with("usr/lib/wsl/lib/libdxcore.so", ""), System::Wsl);
        assert_eq!(with("etc/nv_tegra_release", "# R36 (release)"), System::Tegra);
        assert_eq!(with("sys/devices/soc0/family", "Tegra\n"), System::Tegra);
        assert_eq!(with("proc/sys/kernel/osrelease", "6.8.0-45-generic\n"), System::Linux);
    }

    #[test]
    fn containers_are_told_apart() {
        let with = |path: &str, text: &str| container(&Tree::new("container").with(path, text).context());
        assert_eq!(with(".dockerenv", ""), Some("docker"));
        assert_eq!(with("run/.containerenv", ""), Some("podman"));
        assert_eq!(with("proc/self/cgroup", "12:devices:/kubepods/burstable/pod1\n"), Some("kubernetes"));
        assert_eq!(with("proc/1/cgroup", "1:name=systemd:/docker/0123\n"), Some("docker"));
        assert_eq!(with("proc/sentry-meminfo", ""), Some("gvisor"));
        assert_eq!(with("run/systemd/container", "lxc\n"), Some("lxc"));
        assert_eq!(with("run/systemd/container", "systemd-nspawn\n"), Some("other"));
        assert_eq!(with("proc/self/cgroup", "0::/\n"), None);
    }

    #[test]
    fn the_c_library_names_its_own_version() {
        let text = "\x7fELF\x02 GNU C Library (Ubuntu GLIBC 2.35-0ubuntu3.8) stable release version 2.35.\nCopyright";
        let tree = Tree::new("glibc").with("lib/x86_64-linux-gnu/libc.so.6", text);
        assert_eq!(glibc(&tree.context()), Some(Version::parse("2.35").unwrap()));
        assert_eq!(glibc(&Tree::new("musl").context()), None);
    }
}
