//! Conditions, and whether they hold on Linux.

use super::*;

#[test]
fn conditions_hold_on_linux_or_do_not_or_depend_on_more() {
    // As a public project writes it for its video decoder: it holds on x86_64.
    let long = "sys_platform != 'win32' and (sys_platform != 'linux' or (platform_machine != 'aarch64' and \
                platform_machine != 'arm64')) and (sys_platform != 'darwin' or platform_machine != 'x86_64')";
    for (marker, expected) in [
        ("sys_platform == 'linux'", Some(true)),
        ("platform_system!=\"Darwin\"", Some(true)),
        ("sys_platform=='linux' or sys_platform=='win32'", Some(true)),
        ("'linux' in sys_platform", Some(true)),
        ("sys_platform not in 'win32 darwin'", Some(true)),
        ("sys_platform == 'win32'", Some(false)),
        ("os_name == 'nt' and python_version < '3.8'", Some(false)),
        ("sys_platform == 'linux' and python_version < '3.10'", None),
        ("python_version < '3.10' or sys_platform == 'linux'", Some(true)),
        ("(sys_platform == 'darwin')", Some(false)),
        (long, None),
        ("(sys_platform == 'linux'", None),
        ("sys_platform ==", None),
        ("", None),
        ("sys_platform == 'linux", Some(true)),
    ] {
        assert_eq!(on_linux(marker), expected, "{marker}");
    }
    assert_eq!(on_linux(&"(".repeat(1 << 20)), None);
}

#[test]
fn a_line_of_python_decides_what_speaks_of_it() {
    let python = Version::parse("3.11").unwrap();
    for (marker, expected) in [
        ("python_version >= '3.10' and python_version < '3.13'", Some(true)),
        ("python_version < \"3.11\"", Some(false)),
        ("python_version == '3.11' and sys_platform == 'win32'", Some(false)),
        ("python_full_version >= '3.9.1'", Some(true)),
        ("python_full_version < '3.11.4'", None),
        ("python_version >= '3.9' and platform_machine == 'x86_64'", None),
        ("python_version in '3.10 3.11'", None),
        ("python_full_version == '3.11.*' and python_full_version != '3.10.*'", Some(true)),
        ("extra == 'a'", None),
    ] {
        let known = Known { pythons: &[python], ..Known::default() };
        assert_eq!(on(marker, &known), expected, "{marker}");
    }
    for (arch, expected) in [(CpuArch::X86_64, Some(true)), (CpuArch::Aarch64, Some(false))] {
        let known = Known { pythons: &[python], arch: Some(arch), extras: None };
        assert_eq!(on("python_version >= '3.9' and platform_machine == 'x86_64'", &known), expected);
    }
    assert_eq!(on_linux("python_version >= '3.10'"), None);
    let several = ["3.9", "3.10", "3.11"].map(|line| Version::parse(line).unwrap());
    let known = Known { pythons: &several, ..Known::default() };
    assert_eq!(on("python_version >= '3.9' and python_version < '4.0'", &known), Some(true));
    assert_eq!(on("python_version >= '3.10'", &known), None);
    // Linux calls no processor so.
    assert_eq!(on_linux("sys_platform != 'darwin' and platform_machine != 'arm64'"), Some(true));
}

#[test]
fn extras_decide_what_speaks_of_them() {
    let taken: BTreeSet<String> = ["old".to_string(), "dev".to_string()].into();
    for (marker, expected) in [
        ("extra == 'extra-4-demo-old'", Some(true)),
        ("extra == 'extra-4-demo-new' or extra != 'extra-4-demo-old'", Some(false)),
        ("extra == 'group-7-my-demo-dev'", Some(true)),
        ("extra == 'old' and extra != 'extra-9-demo'", Some(true)),
        ("extra == 'project-4-demo'", None),
    ] {
        assert_eq!(on(marker, &Known { extras: Some(&taken), ..Known::default() }), expected, "{marker}");
    }
}
