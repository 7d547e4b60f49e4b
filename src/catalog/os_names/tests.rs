//! Tests of `catalog::os_names`.

use super::super::BUILTIN;
use super::*;

#[test]
fn systems_are_known_by_the_names_that_they_give_themselves() {
    for (name, id) in [
        ("CentOS Linux 7 (Core)", "rhel7"),
        ("CentOS Linux 8", "centos8"),
        ("CentOS Stream 9", "centos-stream9"),
        ("Ubuntu 16.04.7 LTS", "ubuntu16.04"),
        ("Ubuntu 18.04.6 LTS", "ubuntu18.04"),
        ("ubuntu 16.04 LTS", "ubuntu16.04"),
        ("Ubuntu 24.04 LTS (Noble Numbat)", "ubuntu24.04"),
        ("Debian GNU/Linux 9 (stretch)", "debian9"),
        ("Debian GNU/Linux trixie/sid", "debian13"),
        ("Red Hat Enterprise Linux Server 7.9 (Maipo)", "rhel7"),
        ("Red Hat Enterprise Linux 9.4 (Plow)", "rhel9"),
        ("Oracle Linux Server 7.9", "oraclelinux7"),
        ("Scientific Linux 7.9 (Nitrogen)", "rhel7"),
        ("Rocky Linux 8.10 (Green Obsidian)", "rhel8"),
        ("AlmaLinux 10.0 (Purple Lion)", "rhel10"),
        ("el7", "rhel7"),
        ("el8_10", "rhel8"),
        ("Amazon Linux 2", "amzn2"),
        ("Amazon Linux 2023.6.20241010", "amzn2023"),
        ("Fedora Linux 40 (Workstation Edition)", "fedora40"),
        ("openSUSE Leap 15.5", "opensuse-leap15.5"),
        ("SUSE Linux Enterprise Server 15 SP5", "sles15.5"),
        ("SLES 12 SP5", "sles12.5"),
        ("Alpine Linux v3.19", "alpine"),
        ("WSL Ubuntu 22.04", "ubuntu22.04"),
        ("Windows 11 Pro", "windows"),
        ("JetPack 6.2", "jetpack6.2"),
        ("ubuntu22.4", "ubuntu22.04"),
        ("DGX OS 5.5.1", "ubuntu20.04"),
        ("DGX OS 4", "ubuntu18.04"),
    ] {
        let OsName::Spelling(_, row) = BUILTIN.os_named(name) else { panic!("{name}: {:?}", BUILTIN.os_named(name)) };
        assert_eq!(row.id, *id, "{name}");
    }
}

#[test]
fn a_part_of_a_number_is_no_older_release() {
    for (name, first) in [
        ("ubuntu22", "ubuntu22.10"),
        ("ubuntu24", "ubuntu24.10"),
        ("Ubuntu", "ubuntu26.04"),
        ("jetpack6", "jetpack6.2"),
        ("openSUSE Leap", "opensuse-leap16.0"),
    ] {
        let OsName::Several(several) = BUILTIN.os_named(name) else { panic!("{name}: {:?}", BUILTIN.os_named(name)) };
        assert_eq!(several[0], first, "{name}");
    }
    for (name, id) in [("ubuntu19.10", "ubuntu18.04"), ("Ubuntu 17.10", "ubuntu16.04"), ("fedora99", "fedora44")] {
        let OsName::Relative(row) = BUILTIN.os_named(name) else { panic!("{name}: {:?}", BUILTIN.os_named(name)) };
        assert_eq!(row.id, *id, "{name}");
    }
    // A point release is another system where points have rows of their own.
    for (name, id) in [
        ("sles16.1", "sles16.0"),
        ("SUSE Linux Enterprise Server 15 SP8", "sles15.7"),
        ("leap16.1", "opensuse-leap16.0"),
        ("opensuse-leap15.7", "opensuse-leap15.6"),
        ("opensuse-leap17.0", "opensuse-leap16.0"),
    ] {
        let OsName::Relative(row) = BUILTIN.os_named(name) else { panic!("{name}: {:?}", BUILTIN.os_named(name)) };
        assert_eq!(row.id, *id, "{name}");
    }
    // What is older than all that are listed has no more than the oldest of them.
    for (name, id) in [("Ubuntu 12.04.5 LTS", "ubuntu14.04"), ("fedora20", "fedora26")] {
        let OsName::Older(row) = BUILTIN.os_named(name) else { panic!("{name}: {:?}", BUILTIN.os_named(name)) };
        assert_eq!(row.id, *id, "{name}");
    }
    for name in ["haiku1", "", ".", "22.04", "Linux", "Solaris 11"] {
        assert_eq!(BUILTIN.os_named(name), OsName::Stranger, "{name}");
    }
}
