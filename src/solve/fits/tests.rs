//! Tests of `solve::fits`.

use super::*;
use crate::catalog::BUILTIN;

/// A build asks for its triton unless its metadata, or that of triton's wheels, leaves a Python out.
#[test]
fn triton_is_there_unless_a_python_is_left_out() {
    let build = |version: &str, variant: &str| {
        let builds = BUILTIN.builds.of("torch").iter();
        let mut builds = builds.filter(|row| row.version.as_str() == version && row.arch == CpuArch::X86_64);
        builds.find(|row| *row.variant == *variant).unwrap()
    };
    let triton = |build: &Build, python: Option<&str>| {
        let python = python.map(|line| Version::parse(line).unwrap());
        triton_of(&BUILTIN, &[build], python.as_ref()).map(Version::as_str).map(str::to_string)
    };
    let named = build("2.5.1", "cu124");
    assert_eq!(triton(named, Some("3.12")).as_deref(), Some("3.1.0"));
    assert_eq!(triton(named, Some("3.13")), None, "it asks for triton below Python 3.13");
    assert_eq!(triton(named, None).as_deref(), Some("3.1.0"), "of no Python nothing is left out");
    let unnamed = Build { triton_python: None, ..named.clone() };
    assert_eq!(triton(&unnamed, Some("3.8")).as_deref(), Some("3.1.0"));
    assert_eq!(triton(&unnamed, Some("3.13")), None, "triton 3.1.0 has wheels up to Python 3.12");
    let unread = Build { triton: Version::parse("0.0.1").ok(), ..unnamed };
    assert_eq!(triton(&unread, Some("3.13")).as_deref(), Some("0.0.1"), "nobody has read its wheels");
    assert_eq!(triton(build("1.13.1", "cu117"), Some("3.10")), None, "it has none");
}
