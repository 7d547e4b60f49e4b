//! Tests of `probe::platform`.

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
    // The system of a Jetson is its JetPack.
    for (release, expected) in
        [("R36 (release), REVISION: 4.3", "jetpack6.2"), ("R32 (release), REVISION: 3.1", "l4t32.3.1")]
    {
        let tree = Tree::new("os-jetson").with("etc/os-release", "ID=ubuntu\nVERSION_ID=\"22.04\"\n");
        let tree = tree.with("etc/nv_tegra_release", &format!("# {release}, GCID: 1"));
        assert_eq!(os(&tree.context()).as_deref(), Some(expected));
    }
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
