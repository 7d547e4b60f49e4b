//! The real tools, where they are installed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program, looked for in `$GPUENV_TEST_TOOLS/bin` and on PATH; says so if it is missing.
pub fn find(program: &str) -> Option<PathBuf> {
    let tools = std::env::var_os("GPUENV_TEST_TOOLS").map(|tools| Path::new(&tools).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = tools.into_iter().chain(std::env::split_paths(&path)).map(|directory| directory.join(program));
    let found = found.into_iter().find(|candidate| candidate.is_file());
    if found.is_none() {
        eprintln!("skipped: {program} is not installed");
        note(program);
    }
    found
}

/// What is missing, for who runs the tests to tell: the harness shows nothing of a test that passes.
fn note(program: &str) {
    let Some(file) = std::env::var_os("GPUENV_TEST_MISSING") else { return };
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(file).unwrap();
    file.write_all(format!("{program}\n").as_bytes()).unwrap();
}

/// A new empty folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("export").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs it and fails with all it said unless it succeeds.
pub fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Two folders that serve as indexes: PyTorch's and the public one.
pub struct Indexes {
    /// Has the locked torch, and two packages that nobody should take from it.
    pub private: String,
    /// Has another torch, and all the rest.
    pub public: String,
}

impl Indexes {
    /// Fills both with wheels that hold nothing but their names.
    pub fn publish(python: &Path, folder: &Path) -> Indexes {
        let cublas = "nvidia-cublas-cu12==12.4.5.8";
        for (index, package, version, needs) in [
            ("private", "torch", "2.5.1+cu124", cublas),
            ("private", "tensorflow", "2.18.0", ""),
            ("private", "nvidia-cublas-cu12", "99", ""),
            ("public", "torch", "2.5.1", ""),
            ("public", "tensorflow", "2.18.0", "torch"),
            ("public", "nvidia-cublas-cu12", "12.4.5.8", ""),
        ] {
            let arguments = [folder.join(index).into_os_string(), package.into(), version.into(), needs.into()];
            succeed(Command::new(python).args(["-c", PUBLISH]).args(arguments));
        }
        let address = |index: &str| format!("file://{}", folder.join(index).display());
        Indexes { private: address("private"), public: address("public") }
    }
}

/// Adds wheels: index, package, version, what it needs.
pub fn publish(python: &Path, folder: &Path, wheels: &[(&str, &str, &str, &str)]) {
    for (index, package, version, needs) in wheels {
        let arguments = [folder.join(index).into_os_string(), package.into(), version.into(), needs.into()];
        succeed(Command::new(python).args(["-c", PUBLISH]).args(arguments));
    }
}

/// Adds what comes as source, and whose build imports torch: index, package, version.
pub fn publish_source(python: &Path, folder: &Path, (index, package, version): (&str, &str, &str)) {
    let arguments = [folder.join(index).into_os_string(), package.into(), version.into()];
    succeed(Command::new(python).args(["-c", PUBLISH_SOURCE]).args(arguments));
}

/// Adds a package that brings in torchvision, with a build of that on each index.
pub fn timm(python: &Path, folder: &Path) {
    publish(
        python,
        folder,
        &[
            ("public", "timm", "1.0", "torchvision"),
            ("public", "torchvision", "0.20.1", "torch==2.5.1"),
            ("private", "torchvision", "0.20.1+cu124", "torch==2.5.1"),
        ],
    );
}

const PUBLISH: &str = r#"
import pathlib, sys, zipfile
folder, name, version, needs = sys.argv[1:]
page = pathlib.Path(folder, name)
page.mkdir(parents=True, exist_ok=True)
stem = f"{name.replace('-', '_')}-{version}"
with zipfile.ZipFile(page / f"{stem}-py3-none-any.whl", "w") as wheel:
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += f"Requires-Dist: {needs}\n" if needs else ""
    wheel.writestr(f"{stem}.dist-info/METADATA", metadata)
    wheel.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    files = "".join(f"{stem}.dist-info/{file},,\n" for file in ("METADATA", "WHEEL", "RECORD"))
    wheel.writestr(f"{stem}.dist-info/RECORD", files)
links = "".join(f'<a href="{file.name}">{file.name}</a>' for file in page.glob("*.whl"))
(page / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")
"#;

const PUBLISH_SOURCE: &str = r#"
import io, pathlib, sys, tarfile
folder, name, version = sys.argv[1:]
page = pathlib.Path(folder, name)
page.mkdir(parents=True, exist_ok=True)
stem = f"{name.replace('-', '_')}-{version}"
texts = {
    "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
    "setup.py": f"import setuptools, torch\nsetuptools.setup(name='{name}', version='{version}')\n",
}
with tarfile.open(page / f"{stem}.tar.gz", "w:gz") as archive:
    for file, text in texts.items():
        member = tarfile.TarInfo(f"{stem}/{file}")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text.encode()))
(page / "index.html").write_text(f'<!DOCTYPE html><html><body><a href="{stem}.tar.gz">{stem}.tar.gz</a></body></html>')
"#;
