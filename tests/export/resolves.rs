//! What installers make of the exports is what the lock says: for locks of every framework and CUDA line, `uv lock` and
//! `uv pip compile` choose the locked version, from the locked index, of everything that could be that of another CUDA.
//!
//! The indexes are folders with wheels that hold nothing but their names. Beside each wheel of another index lies a decoy:
//! the release that the default index has under that name. `GPUENV_TEST_FULL` takes all locks of the table and pip too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::{Table, Value};

use crate::common::checkout::Place;
use crate::common::tools;

/// What is asked for.
const STACKS: &[&str] = &[
    "torch = \"2.7.1+cu118\"",
    "torch = \"*\"\nvllm = \"*\"\ncuda = \"11\"",
    "torch = \"2.8.0\"",
    "torch = \"+cu126\"\ntorchvision = \"*\"",
    "torch = \"2.5.1+cu124\"\ntorchaudio = \"*\"",
    "tensorflow = \"2.18\"",
    "jax = \"*\"",
    "torch = \"*\"\nxformers = \"*\"",
    "torch = \"2.7.1+cu118\"\ntensorflow = \"2.18\"",
    "torch = \"+cu128\"",
    "torch = \"+cu130\"",
    "torch = \"2.4\"",
    "vllm = \"*\"\ntorch = \"*\"",
    "torch = \"2.6\"\nbitsandbytes = \"*\"",
    "torch = \"*\"\nflash-attn = \"*\"",
    "torch = \"+cu132\"",
    "sglang = \"*\"",
    "cudf-cu12 = \"*\"\ncupy-cuda12x = \"*\"",
    "jax = \"0.6\"\ntorch = \"2.7\"",
];
/// Where it must run.
const TARGETS: &[&str] = &[
    "gpu = \"A100-PCIE-40GB\"\nos = \"ubuntu22.04\"",
    "gpu = \"none\"\nos = \"ubuntu22.04\"",
    "gpu = \"H100 NVL\"\nimage = \"nvidia/cuda\"",
    "gpu = \"GH200 480GB\"\nos = \"ubuntu22.04\"",
    "gpu = \"Jetson AGX Orin\"",
];

#[test]
fn installers_choose_what_is_locked() {
    let (Some(uv), Some(python)) = (tools::find("uv"), tools::find("python3")) else { return };
    let full = std::env::var_os("GPUENV_TEST_FULL").is_some();
    let mut resolved = 0;
    for (at, stack) in STACKS.iter().enumerate() {
        for (of, target) in TARGETS.iter().enumerate() {
            // The share of a quick run: each stack once, each target several times.
            if full || of == [0, 0, 2, 0, 1, 0, 0, 2, 0, 3][at % 10] {
                resolved += usize::from(resolve(&uv, &python, &format!("{at}-{of}"), stack, target, full));
            }
        }
    }
    eprintln!("{resolved} locks resolved");
    assert!(resolved >= if full { 60 } else { 8 }, "{resolved}");
}

const UNCHECKED: &str = "UV_SKIP_WHEEL_FILENAME_CHECK";

struct Uv {
    program: PathBuf,
    /// Whether it takes files whose names do not say what they hold.
    is_unchecked: bool,
}

impl Uv {
    fn asked(&self) -> Command {
        let mut command = Command::new(&self.program);
        if self.is_unchecked {
            command.env(UNCHECKED, "1");
        }
        command
    }
}

/// False where there is no such lock.
fn resolve(uv: &Path, python: &Path, name: &str, stack: &str, target: &str, full: bool) -> bool {
    // On the CPU a variant for CUDA is a conflict, and so are others of the combinations: they have no lock.
    let python_version = if target.contains("Jetson") { "3.10" } else { "3.11" };
    let spec = format!("[stack]\n{stack}\npython = \"{python_version}\"\n[target.prod]\n{target}\n");
    let place = Place::with(&format!("resolves-{name}"), &spec);
    if place.run(&["lock"]).code != 0 {
        return false;
    }
    let lock: Table = toml::from_str(&place.read("checkout/gpuenv.lock")).unwrap();
    let indexes = Indexes::publish(python, &place.path("indexes"), &lock);
    let exported = place.run(&["export", "uv"]).exits(0);
    // What comes next says so where a file is named otherwise than its metadata says.
    let uv = Uv { program: uv.to_path_buf(), is_unchecked: exported.err.contains(&format!("{UNCHECKED}=1 uv sync")) };
    let text =
        indexes.local(&exported.out).replace("dependencies = [\n    \"", "dependencies = [\n    \"consumer\",\n    \"");
    let text = text.replacen(&format!("=={python_version}.*"), ">=3.8", 1);
    place.write("uv/pyproject.toml", &text);
    let mut command = uv.asked();
    command.args(["lock", "--no-python-downloads", "--no-cache", "--default-index", &indexes.public()]);
    tools::succeed(command.current_dir(place.path("uv")));
    let found: Table = toml::from_str(&place.read("uv/uv.lock")).unwrap();
    for (package, version, index) in &indexes.wanted {
        let rows = found["package"].as_array().unwrap();
        let rows: Vec<&Value> = rows.iter().filter(|row| row["name"].as_str() == Some(package)).collect();
        assert!(!rows.is_empty(), "{name}: {package} is not in uv.lock");
        for row in rows {
            assert_eq!(row["version"].as_str(), Some(version.as_str()), "{name}: {package}\n{spec}");
            if let Some(registry) = row["source"].get("registry").and_then(Value::as_str) {
                assert!(registry.ends_with(index.as_str()), "{name}: {package} from {registry}");
            }
        }
    }
    pylock(&uv, &place, &indexes, name);
    // Of a Jetson's wheels the files are named, and for no other machine.
    let of_jetson: &[&str] = match target.contains("Jetson") {
        true => &["--python-version", python_version, "--python-platform", "aarch64-manylinux_2_35"],
        false => &[],
    };
    requirements((&uv, of_jetson), Some(python).filter(|_| full && of_jetson.is_empty()), &place, &indexes, name);
    true
}

/// The pylock.toml that uv makes of its export, as `gpuenv export pylock` tells where it knows no addresses.
fn pylock(uv: &Uv, place: &Place, indexes: &Indexes, name: &str) {
    let mut command = uv.asked();
    command.args(["export", "--frozen", "--no-cache", "--format", "pylock.toml"]);
    let output = tools::succeed(command.current_dir(place.path("uv")));
    let found: Table = toml::from_str(&String::from_utf8_lossy(&output.stdout)).unwrap();
    let rows = found["packages"].as_array().unwrap();
    for (package, version, _) in &indexes.wanted {
        let row = rows.iter().find(|row| row["name"].as_str() == Some(package));
        let row = row.unwrap_or_else(|| panic!("{name}: {package} is not in pylock.toml"));
        // A wheel that is asked for by its address is that archive.
        let is_it = row.get("version").and_then(Value::as_str) == Some(version);
        assert!(is_it || row.get("archive").is_some(), "{name}: {row}");
    }
}

/// The file for pip, as uv reads it; and pip itself where its Python is given.
fn requirements((uv, of): (&Uv, &[&str]), pip: Option<&Path>, place: &Place, indexes: &Indexes, name: &str) {
    let ran = place.run(&["export", "requirements"]);
    if ran.code == 2 && ran.err.contains("ambiguous-index") {
        return;
    }
    let text = indexes.local(&ran.exits(0).out);
    // One index alone is installed by itself: nothing else is there.
    let consumer = if text.contains("--index-url") { "" } else { "consumer\n" };
    place.write("uv/requirements.txt", &format!("{text}{consumer}"));
    let mut command = uv.asked();
    command.args(["pip", "compile", "--no-cache", "--no-header", "--no-annotate"]).args(of);
    // What is typed would count more than what the file says.
    if !consumer.is_empty() {
        command.args(["--default-index", &indexes.public()]);
    }
    let output = tools::succeed(command.arg("requirements.txt").current_dir(place.path("uv")));
    check(&String::from_utf8_lossy(&output.stdout), indexes, &format!("{name}: uv pip compile"), !consumer.is_empty());
    let has_pip = |python: &&Path| {
        Command::new(python).args(["-m", "pip", "--version"]).output().is_ok_and(|ran| ran.status.success())
    };
    if let Some(python) = pip.filter(has_pip) {
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "--isolated", "download", "--quiet", "--no-cache-dir", "--dest", "got", "--index-url"]);
        tools::succeed(pip.args([&indexes.public(), "-r", "requirements.txt"]).current_dir(place.path("uv")));
        let mut got = String::new();
        for file in std::fs::read_dir(place.path("uv/got")).unwrap() {
            let file = file.unwrap().file_name().into_string().unwrap();
            let mut parts = file.split('-');
            let package = parts.next().unwrap().replace('_', "-");
            got += &format!("{package}=={}\n", parts.next().unwrap());
        }
        check(&got, indexes, &format!("{name}: pip"), !consumer.is_empty());
    }
}

fn check(resolved: &str, indexes: &Indexes, context: &str, with_constraints: bool) {
    for (package, version, _) in indexes.wanted.iter().take(if with_constraints { usize::MAX } else { indexes.wheels })
    {
        let line = resolved.lines().find(|line| line.split(['=', ' ', '[']).next() == Some(package));
        let line = line.unwrap_or_else(|| panic!("{context}: no {package}\n{resolved}"));
        let by_address = line.contains(" @ ");
        assert!(by_address || line.split("==").nth(1).map(str::trim) == Some(version), "{context}: {line}");
    }
}

/// Folders in place of indexes.
struct Indexes {
    folder: PathBuf,
    /// The address of an index or of a wheel, and what stands for it.
    stands_for: BTreeMap<String, String>,
    /// Package, version and the folder it must come from: the wheels, then the constraints.
    wanted: Vec<(String, String, String)>,
    wheels: usize,
}

impl Indexes {
    fn publish(python: &Path, folder: &Path, lock: &Table) -> Indexes {
        let stands_for = BTreeMap::new();
        let mut indexes = Indexes { folder: folder.to_path_buf(), stands_for, wanted: Vec::new(), wheels: 0 };
        let rows = |key: &str| lock.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let mut files: Vec<(String, String, String, String)> = Vec::new();
        let constrained: Vec<String> = rows("constraint").iter().map(|row| text(row, "package")).collect();
        for (kind, row) in rows("wheel")
            .iter()
            .map(|row| ("wheel", row))
            .chain(rows("constraint").iter().map(|row| ("constraint", row)))
        {
            let (package, version) = (text(row, "package"), text(row, "version"));
            // What it needs of packages that its metadata does not name, and what it requires once it is built: the release that
            // is pinned or the oldest that is asked for, else any early one, which is below every bound.
            for asked in ["asks", "requires"].iter().flat_map(|key| row.get(*key).and_then(Value::as_array)).flatten() {
                let asked = asked.as_str().unwrap();
                let end = asked.find(['<', '>', '=', '!', '~']).unwrap_or(asked.len());
                let bound = asked[end..].strip_prefix("==").or_else(|| asked[end..].strip_prefix(">="));
                files.push(("public".into(), asked[..end].into(), bound.unwrap_or("0.1").into(), String::new()));
            }
            let public = version.split('+').next().unwrap().to_string();
            let index = row.get("index").and_then(Value::as_str);
            let place = index.map_or("public".to_string(), |index| indexes.named(index));
            if let Some(url) = row.get("url").and_then(Value::as_str) {
                indexes.stands_for.insert(url.to_string(), indexes.at_address(python, url, &package, &version));
            } else {
                files.push((place.clone(), package.clone(), version.clone(), String::new()));
            }
            if version != public || index.is_some() {
                files.push(("public".into(), package.clone(), public, String::new()));
            }
            indexes.wanted.push((package, version, place));
            indexes.wheels += usize::from(kind == "wheel");
            // What its build imports.
            for tool in row.get("tools").and_then(Value::as_array).into_iter().flatten() {
                files.push(("public".into(), tool.as_str().unwrap().into(), "1".into(), String::new()));
            }
        }
        files.push(("public".into(), "consumer".into(), "1".into(), constrained.join("\nRequires-Dist: ")));
        files.sort();
        files.dedup();
        let files: Vec<(&str, &str, &str, &str)> = files.iter().map(|(a, b, c, d)| (&**a, &**b, &**c, &**d)).collect();
        tools::publish(python, folder, &files);
        indexes
    }

    fn named(&mut self, index: &str) -> String {
        let name = format!("index-{}", index.rsplit('/').next().unwrap());
        let address = format!("file://{}", self.folder.join(&name).display());
        self.stands_for.insert(index.to_string(), address);
        name
    }

    /// A wheel of this name, and where it lies.
    fn at_address(&self, python: &Path, url: &str, package: &str, version: &str) -> String {
        tools::publish(python, &self.folder, &[("addressed", package, version, "")]);
        let stem = format!("{}-{version}-py3-none-any.whl", package.replace('-', "_"));
        let made = self.folder.join("addressed").join(package).join(stem);
        let named = self.folder.join(url.rsplit('/').next().unwrap());
        std::fs::copy(made, &named).unwrap();
        format!("file://{}", named.display())
    }

    fn public(&self) -> String {
        format!("file://{}", self.folder.join("public").display())
    }

    /// The text with folders in place of addresses, and without the digests of what was at those.
    fn local(&self, text: &str) -> String {
        let mut text = text.to_string();
        for (address, place) in self.stands_for.iter().rev() {
            text = text.replace(address.as_str(), place);
        }
        let lines: Vec<String> = text
            .lines()
            .map(|line| match line.split_once("#sha256=") {
                Some((before, digest)) => format!("{before}{}", digest.get(64..).unwrap_or_default()),
                None => line.to_string(),
            })
            .collect();
        lines.join("\n") + "\n"
    }
}

fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap().to_string()
}
