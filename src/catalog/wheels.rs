//! The sha256 of published wheels, packed: thousands of them cost forty bytes each and nothing when gpuenv starts.
//!
//! `catalog/wheels/*.toml` holds them by file name, each with its source. Here only what a lock asks by is left: a key
//! made of package, version, index, Python tag and platform, and the digest.

use crate::types::{name, variant};
use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::rows::WheelFile;

/// Bytes of a key: enough that two of some thousand differ; the build refuses a catalog where they do not.
const KEY: usize = 6;
/// Bytes of a key and its digest.
const ENTRY: usize = KEY + 32;

/// What stands for the Python of a source distribution.
const SOURCE: &str = "source";

/// Keys and digests, in the order of the keys.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Digests(pub Cow<'static, [u8]>);

impl fmt::Debug for Digests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digests({})", self.len())
    }
}

impl Serialize for Digests {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.0)
    }
}

/// What the name of a wheel's file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileName<'a> {
    /// The package, as an index files it.
    pub package: String,
    /// The version without its label.
    pub version: &'a str,
    /// The label, `cu124`.
    pub label: Option<&'a str>,
    /// `cp311`; `abi3` and `py3` for files that serve many Pythons, `source` for what is compiled for any.
    pub python: &'a str,
    /// `x86_64`, `aarch64` or `any`.
    pub platform: &'a str,
}

impl<'a> FileName<'a> {
    /// Reads the name of a wheel for Linux or of a source distribution; none for any other file, and for free-threaded
    /// Pythons.
    pub fn parse(file: &'a str) -> Option<Self> {
        if let Some((package, version)) = file.strip_suffix(".tar.gz").and_then(|name| name.rsplit_once('-')) {
            let package = name::package(package);
            return Some(FileName { package, version, label: None, python: SOURCE, platform: "any" });
        }
        let mut parts = file.strip_suffix(".whl")?.rsplitn(4, '-');
        let (platforms, abi, python, rest) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let (package, version) = rest.split_once('-')?;
        // A build number may follow the version: `triton-3.0.0-1-cp310-…`.
        let version = version.split_once('-').map_or(version, |(version, _)| version);
        let (version, label) = variant::parts(version);
        let of = |arch: &'static str| (platforms.contains("linux") && platforms.ends_with(arch)).then_some(arch);
        let platform = of("x86_64").or(of("aarch64")).or((platforms == "any").then_some("any"))?;
        let python = match (python, abi) {
            (_, "abi3") => "abi3",
            (many, "none") if many.split('.').any(|one| one.starts_with("py3")) => "py3",
            (one, abi) if one.starts_with("cp") && !abi.ends_with('t') => one,
            _ => return None,
        };
        Some(FileName { package: name::package(package), version, label, python, platform })
    }
}

fn key(package: &str, version: &str, index: &str, python: &str, platform: &str) -> [u8; KEY] {
    let hash = Sha256::digest([package, version, index, python, platform].join(" "));
    std::array::from_fn(|at| hash[at])
}

/// The digest a row tells, with the key it is asked by; none where either means nothing.
fn entry(row: &WheelFile) -> Option<[u8; ENTRY]> {
    let name = FileName::parse(&row.file)?;
    let key = key(&name.package, name.version, row.index.as_deref().unwrap_or(""), name.python, name.platform);
    let mut entry = [0; ENTRY];
    entry[..KEY].copy_from_slice(&key);
    for (at, byte) in entry[KEY..].iter_mut().enumerate() {
        *byte = u8::from_str_radix(row.sha256.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    (row.sha256.len() == 64).then_some(entry)
}

impl Digests {
    /// These and what rows tell.
    pub fn with(&self, rows: &[WheelFile]) -> Digests {
        if rows.is_empty() {
            return self.clone();
        }
        let mut entries: Vec<[u8; ENTRY]> = rows.iter().filter_map(entry).collect();
        entries.extend(self.0.as_chunks::<ENTRY>().0);
        entries.sort_unstable();
        entries.dedup();
        Digests(entries.concat().into())
    }

    /// Why a row's digest could not be found again, if so.
    pub fn refusal(row: &WheelFile) -> Option<&'static str> {
        let Some(name) = FileName::parse(&row.file) else { return Some("is not a wheel for Linux") };
        if name.label.is_some() && name.label != row.index.as_deref() {
            return Some("carries the label of another index");
        }
        entry(row).is_none().then_some("has no sha256 of 64 hexadecimal digits")
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len() / ENTRY
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The sha256 of the wheels that serve a Python line on a platform, lower case; empty where none is known.
    /// `index` is the directory of the PyTorch index, nothing for the Python package index.
    pub fn of(&self, package: &str, version: &str, index: &str, python: &str, platform: &str) -> Vec<String> {
        let exact = format!("cp{}", python.replace('.', ""));
        let tags = [exact.as_str(), "abi3", "py3", SOURCE].into_iter().flat_map(|tag| [(tag, platform), (tag, "any")]);
        let found = tags.map(|(tag, platform)| self.under(&key(package, version, index, tag, platform)));
        found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Whether a wheel made for exactly this Python line is known.
    pub fn knows(&self, package: &str, version: &str, index: &str, python: &str, platform: &str) -> bool {
        let tag = format!("cp{}", python.replace('.', ""));
        !self.under(&key(package, version, index, &tag, platform)).is_empty()
    }

    fn under(&self, key: &[u8; KEY]) -> Vec<String> {
        let entries = self.0.as_chunks::<ENTRY>().0;
        let first = entries.partition_point(|entry| entry[..KEY] < key[..]);
        let same = entries[first..].iter().take_while(|entry| entry[..KEY] == key[..]);
        same.map(|entry| entry[KEY..].iter().map(|byte| format!("{byte:02x}")).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(file: &str, index: Option<&str>, digit: &str) -> WheelFile {
        let index = index.map(|index| index.to_string().into());
        WheelFile { file: file.to_string().into(), index, sha256: digit.repeat(64).into(), source: "s".into() }
    }

    #[test]
    fn a_file_name_says_for_whom_it_is() {
        let name = |file| FileName::parse(file).map(|name| (name.package, name.version, name.python, name.platform));
        let found = |package: &str, version, python, platform| Some((package.to_string(), version, python, platform));
        for (file, expected) in [
            ("torch-2.5.1+cu124-cp311-cp311-linux_x86_64.whl", found("torch", "2.5.1", "cp311", "x86_64")),
            ("vllm-0.9.1-cp38-abi3-manylinux1_x86_64.whl", found("vllm", "0.9.1", "abi3", "x86_64")),
            ("triton-3.0.0-1-cp310-cp310-manylinux2014_x86_64.whl", found("triton", "3.0.0", "cp310", "x86_64")),
            ("flash_attn-2.0-py2.py3-none-any.whl", found("flash-attn", "2.0", "py3", "any")),
            ("torch-1.0.0-cp27-cp27mu-manylinux1_x86_64.whl", found("torch", "1.0.0", "cp27", "x86_64")),
            ("torch-2.9.0-cp313-cp313t-manylinux_2_28_aarch64.whl", None),
            ("torch-2.9.0-cp313-cp313-win_amd64.whl", None),
            ("flash_attn-2.8.3.post2.tar.gz", found("flash-attn", "2.8.3.post2", "source", "any")),
            ("torch-2.9.0.zip", None),
            ("", None),
        ] {
            assert_eq!(name(file), expected, "{file}");
        }
    }

    #[test]
    fn a_digest_is_found_by_what_is_installed_and_by_nothing_else() {
        let rows = [
            row("torch-2.5.1+cu124-cp311-cp311-linux_x86_64.whl", Some("cu124"), "a"),
            row("torch-2.5.1-cp311-cp311-manylinux1_x86_64.whl", None, "b"),
            row("vllm-0.9.1-cp38-abi3-manylinux1_x86_64.whl", None, "c"),
            row("torch-1.0.0-cp27-cp27m-manylinux1_x86_64.whl", None, "d"),
            row("torch-1.0.0-cp27-cp27mu-manylinux1_x86_64.whl", None, "e"),
        ];
        let packed = Digests::default().with(&rows[..2]).with(&rows[1..]);
        assert_eq!(packed.len(), 5);
        assert_eq!(packed.of("torch", "2.5.1", "cu124", "3.11", "x86_64"), ["a".repeat(64)]);
        assert_eq!(packed.of("torch", "2.5.1", "", "3.11", "x86_64"), ["b".repeat(64)]);
        assert_eq!(packed.of("vllm", "0.9.1", "", "3.12", "x86_64"), ["c".repeat(64)]);
        assert_eq!(packed.of("torch", "1.0.0", "", "2.7", "x86_64"), ["d".repeat(64), "e".repeat(64)]);
        for (version, index, python, platform) in [
            ("2.5.1", "cu121", "3.11", "x86_64"),
            ("2.5.1", "cu124", "3.12", "x86_64"),
            ("2.5.1", "cu124", "3.11", "aarch64"),
            ("2.5.0", "cu124", "3.11", "x86_64"),
        ] {
            assert_eq!(packed.of("torch", version, index, python, platform), [""; 0]);
        }
    }

    #[test]
    fn a_row_that_cannot_be_found_again_is_refused() {
        let good = row("torch-2.5.1+cu124-cp311-cp311-linux_x86_64.whl", Some("cu124"), "a");
        assert_eq!(Digests::refusal(&good), None);
        let short = WheelFile { sha256: "ab".into(), ..good.clone() };
        let word = WheelFile { sha256: "xy".repeat(32).into(), ..good.clone() };
        let elsewhere = WheelFile { index: Some("cu121".into()), ..good.clone() };
        let windows = WheelFile { file: "torch-2.5.1-cp311-cp311-win_amd64.whl".into(), ..good };
        for row in [short, word, elsewhere, windows] {
            assert!(Digests::refusal(&row).is_some(), "{row:?}");
        }
    }
}
