//! `uv`: each package tied to its index, each platform to its wheel.

use std::process::Command;

use toml::{Table, Value};

use crate::{locks, render, tools};

fn parse(text: &str) -> Table {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|value| value.as_str().unwrap()).collect()
}

const X86: &str = "sys_platform == 'linux' and platform_machine == 'x86_64'";

#[test]
fn one_platform() {
    let table = parse(&render("uv", &locks::container()).unwrap());
    assert_eq!(table["project"]["requires-python"].as_str(), Some("==3.11.*"));
    assert_eq!(strings(&table["project"]["dependencies"]), ["torch==2.5.1+cu124"]);
    let uv = &table["tool"]["uv"];
    assert_eq!(strings(&uv["environments"]), [X86]);
    assert_eq!(uv["index"][0]["name"].as_str(), Some("pytorch-cu124"));
    assert_eq!(uv["index"][0]["url"].as_str(), Some(locks::CU124));
    assert_eq!(uv["index"][0]["explicit"].as_bool(), Some(true));
    assert_eq!(uv["sources"]["torch"][0]["index"].as_str(), Some("pytorch-cu124"));
}

#[test]
fn the_default_index_needs_no_source() {
    let table = parse(&render("uv", &locks::public_index()).unwrap());
    assert!(table["tool"]["uv"].get("index").is_none());
    assert!(table["tool"]["uv"].get("sources").is_none());
}

#[test]
fn what_is_compiled_beside_a_framework_is_not_isolated() {
    let table = parse(&render("uv", &locks::compiled_beside()).unwrap());
    let uv = &table["tool"]["uv"];
    assert_eq!(strings(&uv["no-build-isolation-package"]), ["flash-attn", "transformer-engine-torch"]);
    assert_eq!(strings(&uv["default-groups"]), ["build"]);
    assert!(strings(&table["dependency-groups"]["build"]).contains(&"ninja"));
    let plain = parse(&render("uv", &locks::container()).unwrap());
    assert!(plain.get("dependency-groups").is_none() && plain["tool"]["uv"].get("default-groups").is_none());
    let mut lock = locks::compiled_beside();
    lock.wheel[0].unisolated = Some("x\"]\n[evil".into());
    assert!(render("uv", &lock).is_err() && render("dockerfile", &lock).is_err());
    assert!(render("requirements", &lock).is_err());
}

#[test]
fn a_file_named_otherwise_than_its_metadata_says_is_told() {
    let mut lock = locks::addressed();
    let (uv, docker) = (render("uv", &lock).unwrap(), render("dockerfile", &lock).unwrap());
    let url = lock.wheel[0].url.clone().unwrap();
    assert_eq!(strings(&parse(&uv)["project"]["dependencies"])[0], format!("torch@{url}"));
    assert!(docker.contains(&format!(" torch@{url}")), "{docker}");
    assert!(uv.contains("UV_SKIP_WHEEL_FILENAME_CHECK") && docker.contains("ENV UV_SKIP_WHEEL_FILENAME_CHECK=\"1\""));
    lock.wheel[0].version = "2.5.0a0+872d.nv24.08.17".into();
    let (uv, docker) = (render("uv", &lock).unwrap(), render("dockerfile", &lock).unwrap());
    assert!(!uv.contains("UV_SKIP") && !docker.contains("UV_SKIP"));
}

#[test]
fn platforms_with_different_wheels_get_markers() {
    let table = parse(&render("uv", &locks::two_platforms()).unwrap());
    assert_eq!(
        strings(&table["project"]["dependencies"]),
        [format!("torch==2.5.1 ; {}", X86.replace("x86_64", "aarch64")), format!("torch==2.5.1+cu124 ; {X86}")]
    );
    let sources = table["tool"]["uv"]["sources"]["torch"].as_array().unwrap();
    assert_eq!(sources.len(), 1, "the other wheel is of the default index");
    assert_eq!(sources[0]["marker"].as_str(), Some(X86));
}

#[test]
fn platforms_with_the_same_wheel_get_none() {
    let mut lock = locks::two_platforms();
    lock.wheel[1].version = "2.5.1+cu124".into();
    lock.wheel[1].index = Some(locks::CU124.into());
    let table = parse(&render("uv", &lock).unwrap());
    assert_eq!(strings(&table["project"]["dependencies"]), ["torch==2.5.1+cu124"]);
    assert!(table["tool"]["uv"]["sources"]["torch"][0].get("marker").is_none());
    assert_eq!(strings(&table["tool"]["uv"]["environments"]).len(), 2);
}

#[test]
fn indexes_with_similar_addresses_get_different_names() {
    let mut lock = locks::container();
    let other = "https://download.pytorch.org/whl/cu124/";
    lock.wheel.push(locks::wheel("torchvision", "0.20.1+cu124", Some(other), &["prod"]));
    let table = parse(&render("uv", &lock).unwrap());
    let sources = &table["tool"]["uv"]["sources"];
    assert_ne!(sources["torch"][0]["index"], sources["torchvision"][0]["index"]);
}

#[test]
fn uv_takes_each_wheel_from_its_own_index() {
    let (Some(uv), Some(python)) = (tools::find("uv"), tools::find("python3")) else { return };
    let folder = tools::folder("uv-lock");
    let indexes = tools::Indexes::publish(&python, &folder);
    let project = render("uv", &locks::two_indexes()).unwrap();
    // Locking needs some Python at hand, not the locked one.
    let project = project.replace(locks::CU124, &indexes.private).replace("==3.11.*", ">=3.8");
    std::fs::write(folder.join("pyproject.toml"), project).unwrap();
    let mut lock = Command::new(&uv);
    lock.args(["lock", "--no-python-downloads", "--no-cache", "--default-index", &indexes.public]);
    tools::succeed(lock.current_dir(&folder));

    let locked = parse(&std::fs::read_to_string(folder.join("uv.lock")).unwrap());
    let found = |name: &str| {
        let packages = locked["package"].as_array().unwrap();
        let package = packages.iter().find(|package| package["name"].as_str() == Some(name)).unwrap();
        let index = package["source"]["registry"].as_str().unwrap().rsplit('/').next().unwrap();
        format!("{} from {index}", package["version"].as_str().unwrap())
    };
    assert_eq!(found("torch"), "2.5.1+cu124 from private");
    assert_eq!(found("tensorflow"), "2.18.0 from public");
    assert_eq!(found("nvidia-cublas-cu12"), "12.4.5.8 from public");
}
