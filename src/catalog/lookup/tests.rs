//! Tests of `catalog::lookup`.

use super::super::BUILTIN;
use super::super::rows::Family;
use super::*;

fn id(spelling: &str) -> Option<&'static str> {
    match BUILTIN.os(spelling) {
        OsMatch::Found(row) => Some(&row.id),
        OsMatch::Unknown(_) => None,
    }
}

#[test]
fn a_matching_number_weighs_more_than_matching_letters() {
    let near = |name: &str| {
        assert_eq!(BUILTIN.gpu(name), crate::catalog::GpuMatch::Unknown);
        BUILTIN.near_gpus(name)[0]
    };
    assert_eq!(near("RTX 5090 Superr"), "NVIDIA GeForce RTX 5090");
    assert_eq!(near("GeFroce 1080 Tii"), "NVIDIA GeForce GTX 1080 Ti");
}

#[test]
fn systems_are_found_by_every_spelling() {
    for (spelling, wanted) in [
        ("ubuntu22.04", "ubuntu22.04"),
        ("Ubuntu22.04", "ubuntu22.04"),
        ("ubuntu22.04.3", "ubuntu22.04"),
        ("rocky8", "rhel8"),
        ("rockylinux8", "rhel8"),
        ("ubi8", "rhel8"),
        ("centos8", "centos8"),
        ("rhel8.7", "rhel8"),
        ("centos7", "rhel7"),
        ("amzn2", "amzn2"),
        ("amazonlinux2", "amzn2"),
        ("debian13", "debian13"),
        ("fedora40", "fedora40"),
        ("opensuse15.5", "opensuse-leap15.5"),
        ("sles15.4", "sles15.4"),
        ("sles15", "sles15.7"),
        ("azl3", "azl3"),
    ] {
        assert_eq!(id(spelling), Some(wanted), "{spelling}");
    }
}

#[test]
fn an_unknown_system_is_not_guessed() {
    for spelling in ["ubuntu", "ubuntu22", "ubuntu19.10", "ubuntu 22.04", "sles15.99", "haiku1", "", "."] {
        assert_eq!(id(spelling), None, "{spelling:?}");
    }
    let OsMatch::Unknown(near) = BUILTIN.os("ubunto22.04") else { panic!("found") };
    assert_eq!(near[0], "ubuntu22.04");
}

#[test]
fn jetpack_has_a_driver_of_its_own_and_windows_is_refused() {
    let OsMatch::Found(row) = BUILTIN.os("l4t36.4.3") else { panic!("unknown") };
    assert!(row.id == "jetpack6.2" && row.cuda.is_some() && row.refused.is_none());
    assert!(row.own_packages && row.cpu == Some(crate::types::CpuArch::Aarch64));
    let OsMatch::Found(row) = BUILTIN.os("jetpack7.2") else { panic!("unknown") };
    assert!(!row.own_packages, "it takes the wheels of all Arm servers");
    let OsMatch::Found(row) = BUILTIN.os("windows11") else { panic!("unknown") };
    assert!(row.refused.as_ref().is_some_and(|says| says.contains("wsl2")) && row.family == Some(Family::Windows));
    let OsMatch::Found(row) = BUILTIN.os("macOS14") else { panic!("unknown") };
    assert!(row.refused.is_some() && row.family.is_none());
}

#[test]
fn placeholders_name_the_release() {
    assert_eq!(BUILTIN.source_of("cudnn-cu12", "9.1.0.70", "", ""), "pkg:pypi/nvidia-cudnn-cu12@9.1.0.70");
    assert_eq!(BUILTIN.source_of("no-such-source", "1", "p", "a"), "no-such-source");
}

#[test]
fn branches_of_drivers() {
    let cuda = |driver| BUILTIN.branch_of(&Version::parse(driver).unwrap()).and_then(|row| row.cuda);
    assert_eq!(cuda("535.183.01"), Version::parse("12.2").ok());
    assert_eq!(cuda("535.99.99"), Version::parse("12.2").ok());
    assert_eq!(cuda("999.1"), None);
}

#[test]
fn a_month_has_ended_when_the_next_one_has_begun() {
    let catalog = Catalog { version: "2026.11.20".into(), ..Catalog::default() };
    for (end, ended) in [("2026-10", true), ("2026-11", false), ("2026-11-19", true), ("2026-11-20", false)] {
        assert_eq!(catalog.has_ended(end), ended, "{end}");
    }
    assert!(catalog.has_ended("2025") && !catalog.has_ended("2026"));
}

#[test]
fn an_unread_python_is_that_of_the_nearest_older_torch() {
    let python = |repository: &str, torch: &str| {
        let of = BUILTIN.images.iter().find(|row| row.repository == repository).unwrap();
        BUILTIN.python_nearby(&Image { torch: Some(torch.into()), python: None, ..of.clone() })
    };
    for (torch, nearest) in [("1.0.0", "3.7"), ("1.7.9", "3.8"), ("1.12.9", "3.7"), ("2.9.9", "3.11")] {
        assert_eq!(python("pytorch/pytorch", torch), Version::parse(nearest).ok(), "{torch}");
    }
    assert_eq!(python("nvidia/cuda", "1.12.9"), None, "of that repository no image holds torch");
}
