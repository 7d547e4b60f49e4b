//! What is published: the packed crate holds everything that the program is built from and nothing that cannot travel,
//! and NOTICE.md names every crate that is linked.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The systems that programs are published for, as about.toml and deny.toml list them; the last is the page.
const TARGETS: &[&str] = &[
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "wasm32-unknown-unknown",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What a command of Cargo prints. It fetches crates of other systems, which building for this one has not.
fn cargo(args: &[&str]) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo).current_dir(root()).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => found.extend(files(path.strip_prefix(root()).unwrap().to_str().unwrap())),
            false => found.push(path),
        }
    }
    found
}

#[test]
fn the_packed_crate_is_whole_and_can_travel() {
    let list = cargo(&["package", "--list", "--allow-dirty"]);
    let packed: BTreeSet<&str> = list.lines().collect();
    let mut bytes = 0;
    for name in &packed {
        assert!(!name.contains([':', '\\', '"', '*', '?', '<', '>']), "{name} is no name on other systems");
        assert!(!name.starts_with("tests/") && !name.starts_with("catalog/measure"), "{name} need not travel");
        assert!(!name.ends_with("/tests.rs") && !name.contains("/tests/"), "{name} need not travel");
        let Ok(about) = fs::symlink_metadata(root().join(name)) else { continue };
        assert!(about.is_file(), "{name} is no file");
        bytes += about.len();
    }
    // The build script reads these folders, and `include_str!` what lies in src; its tests stay behind.
    for path in files("src").into_iter().chain(files("catalog")) {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        let built = name.starts_with("src/") || [".toml", ".rs"].iter().any(|ending| name.ends_with(ending));
        let is_test = name.ends_with("/tests.rs") || name.contains("/tests/");
        if built && !is_test && !name.starts_with("catalog/measure") {
            assert!(packed.contains(name), "{name} is not packed");
        }
    }
    for name in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md", "docs/spec.md"] {
        assert!(packed.contains(name), "{name} is not packed");
    }
    // The registry takes 10 MB as they are packed, which is far less.
    assert!(bytes < 10 << 20, "{bytes} bytes before they are packed");
}

/// Names and versions of the crates that are linked into the program for a system.
fn linked(target: &str) -> BTreeSet<(String, String)> {
    let tree = cargo(&["tree", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none", "--target", target]);
    let crates = tree.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_string(), words.next()?.strip_prefix('v')?.to_string()))
    });
    crates.filter(|(name, _)| name != "gpuenv").collect()
}

#[test]
fn the_notice_names_every_linked_crate() {
    let about: toml::Table = toml::from_str(&fs::read_to_string(root().join("about.toml")).unwrap()).unwrap();
    let deny: toml::Table = toml::from_str(&fs::read_to_string(root().join("deny.toml")).unwrap()).unwrap();
    for list in [&about["targets"], &deny["graph"]["targets"]] {
        let listed: Vec<&str> = list.as_array().unwrap().iter().filter_map(toml::Value::as_str).collect();
        assert_eq!(listed, TARGETS);
    }
    assert_eq!(about["accepted"], deny["licenses"]["allow"]);
    let notice = fs::read_to_string(root().join("NOTICE.md")).unwrap();
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_string());
        Some((cells.next()?, cells.next()?))
    };
    let named: BTreeSet<_> = notice.lines().filter(|line| line.starts_with("| ")).filter_map(row).collect();
    for target in TARGETS {
        // A crate for a system that Cargo never fetched here cannot be asked for.
        let missing: Vec<_> = linked(target).difference(&named).cloned().collect();
        assert!(
            missing.is_empty(),
            "NOTICE.md lacks {missing:?}: cargo about generate --locked about.hbs -o NOTICE.md"
        );
    }
    for licence in ["Mozilla Public License", "MIT License", "Apache License"] {
        assert!(notice.contains(licence), "NOTICE.md holds no {licence}");
    }
}

/// What the standard library brings later than that is told by clippy (`incompatible_msrv`).
#[test]
fn no_crate_asks_for_a_newer_rust_than_gpuenv_does() {
    let metadata: serde_json::Value = serde_json::from_str(&cargo(&[
        "metadata",
        "--locked",
        "--format-version",
        "1",
        "--filter-platform",
        "x86_64-unknown-linux-gnu",
    ]))
    .unwrap();
    let number = |part: &str| part.parse::<u32>().unwrap();
    let oldest = |package: &serde_json::Value| -> Option<Vec<u32>> {
        Some(package["rust_version"].as_str()?.split('.').take(2).map(number).collect())
    };
    let packages = metadata["packages"].as_array().unwrap();
    let own = packages.iter().find(|package| package["name"] == "gpuenv").and_then(oldest).unwrap();
    for package in packages {
        assert!(
            oldest(package).is_none_or(|asked| asked <= own),
            "{} asks for {}",
            package["id"],
            package["rust_version"]
        );
    }
    let pages = ["README.md", "docs/install.md"].map(|page| fs::read_to_string(root().join(page)).unwrap());
    let told = format!("Rust {}.{} or later", own[0], own[1]);
    assert!(pages.iter().all(|page| page.contains(&told)), "{told} is not what README.md and docs/install.md say");
    let workflow = fs::read_to_string(root().join(".github/workflows/ci.yml")).unwrap();
    let tried = format!("cargo +{}.{} check", own[0], own[1]);
    assert!(workflow.contains(&tried), "no workflow runs `{tried}`");
}

#[test]
fn the_wheel_is_made_of_the_crate() {
    let text = fs::read_to_string(root().join("pyproject.toml")).unwrap();
    let project: toml::Table = toml::from_str(&text).unwrap();
    let cargo: toml::Table = toml::from_str(&fs::read_to_string(root().join("Cargo.toml")).unwrap()).unwrap();
    assert_eq!(project["tool"]["maturin"]["bindings"].as_str(), Some("bin"));
    assert_eq!(project["project"]["name"], cargo["package"]["name"]);
    assert_eq!(project["project"]["license"], cargo["package"]["license"]);
    let files: Vec<&str> =
        project["project"]["license-files"].as_array().unwrap().iter().filter_map(toml::Value::as_str).collect();
    assert!(files.contains(&"NOTICE.md"), "the licences of the linked crates travel in the wheel: {files:?}");
    // A program that links other crates brings another profile's size with it.
    assert!(cargo["profile"].get("dist").is_some() && text.contains("profile = \"dist\""));
}
