//! Real wheels: what a library says of itself is what its package says of it.
//!
//! `.ci/full` installs them; GPUENV_TEST_WHEELS names a directory for cudart and nvJitLink, GPUENV_TEST_NVRTC one with a
//! directory for each NVRTC.

use std::path::{Path, PathBuf};

use gpuenv::host::{Python, Record};
use gpuenv::probe::libraries;

use super::Scratch;

fn agree(site: &Path, names: &[&str]) {
    let python = Python { sites: vec![site.display().to_string()], ..Python::default() };
    let mut record = Record { python: Some(python), ..Record::default() };
    libraries::look(&Scratch::new("wheels").context(&[]), &mut record);
    for name in names {
        let inside = |path: &str| Path::new(path).starts_with(site);
        let found =
            record.libraries.iter().find(|found| found.name == *name && found.path.as_deref().is_some_and(inside));
        let found = found.unwrap_or_else(|| panic!("no {name} in {}: {record:#?}", site.display()));
        let (says, package) = (found.version.as_ref().unwrap(), found.file_version.as_ref().unwrap());
        assert!(package.cmp_prefix(says).is_eq(), "{name}: it says {says}, its package {package}");
        assert_eq!((found.found_by.as_deref(), &found.fault), (Some("python"), &None));
        if *name == "nvrtc" {
            let builtins = found.parts.iter().filter(|part| part.contains("libnvrtc-builtins")).count();
            // Those beside it, which whoever takes it out of a wheel loads first: NVRTC 13.0 names no search path.
            assert_eq!(builtins, 1, "{found:?}");
        }
    }
}

#[test]
fn cudart_and_nvjitlink_say_what_their_packages_say() {
    match std::env::var_os("GPUENV_TEST_WHEELS").map(PathBuf::from).filter(|site| site.is_dir()) {
        Some(site) => agree(&std::fs::canonicalize(site).unwrap(), &["cudart", "nvjitlink"]),
        None => println!("skipped: cudart_and_nvjitlink_say_what_their_packages_say: no GPUENV_TEST_WHEELS"),
    }
}

#[test]
fn every_nvrtc_says_what_its_package_says() {
    let folder = std::env::var_os("GPUENV_TEST_NVRTC").map(PathBuf::from);
    let sites = folder.into_iter().flat_map(std::fs::read_dir).flatten().flatten().map(|entry| entry.path());
    // Beside them lies an nvJitLink, which the kernels' tests assemble with.
    let is_nvrtc = |site: &PathBuf| {
        let name = site.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_digit())) && site.join("nvidia").is_dir()
    };
    let sites: Vec<PathBuf> = sites.filter(is_nvrtc).collect();
    if sites.is_empty() {
        println!("skipped: every_nvrtc_says_what_its_package_says: no NVRTC in GPUENV_TEST_NVRTC");
    }
    for site in sites {
        agree(&std::fs::canonicalize(site).unwrap(), &["nvrtc"]);
    }
}
