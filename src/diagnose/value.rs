//! What is read out of a text: the keys, what each holds, and how it is said.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::decode::*;
use crate::catalog::at_hand;
use crate::types::plain::brief;

/// A value that was read out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// A version, a name, a symbol.
    Text(String),
    /// A number that programs count or compare with.
    Number(i64),
    /// Several of the same kind, in the order of the text.
    List(Vec<String>),
}

/// Everything read out of a text, by key.
pub type Extract = BTreeMap<String, Value>;

/// What kind of value a key holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    List,
    /// Half of another key's value; it is put together and goes.
    Half,
}

/// Every key that can be read out: what it holds, and how it is said to people, in the order of importance. What is
/// said of none is a raw form of another key, or only follows from the message.
const KEYS: &[(&str, Kind, &str)] = &[
    ("gpu", Kind::Text, "GPU {}"),
    ("cc", Kind::Text, "compute capability {}"),
    ("arch", Kind::Text, "architecture {}"),
    ("cc_min", Kind::Text, "compute capability {} or higher needed"),
    ("cc_max", Kind::Text, "compute capability {} or lower needed"),
    ("arch_list", Kind::List, "code for {}"),
    ("driver", Kind::Text, "driver {}"),
    ("driver_needed", Kind::Text, "driver {} or newer needed"),
    ("cuda_found", Kind::Text, "CUDA {}"),
    ("cuda_needed", Kind::Text, "CUDA {} needed"),
    ("cuda_toolkit", Kind::Text, "CUDA toolkit {}"),
    ("cuda_torch", Kind::Text, "torch built for CUDA {}"),
    ("suggested_cuda", Kind::List, "builds suggested for CUDA {}"),
    ("torch", Kind::Text, "torch {}"),
    ("torch_needed", Kind::Text, "torch {} needed"),
    ("package", Kind::Text, "package {}"),
    ("version", Kind::Text, "version {}"),
    ("dependency", Kind::Text, "{} wanted"),
    ("dependency_needed", Kind::Text, "in release {}"),
    ("dependency_found", Kind::Text, "against it {}"),
    ("versions_offered", Kind::Text, "offered: {}"),
    ("index", Kind::List, "PyTorch's index {}"),
    ("python", Kind::Text, "Python {}"),
    ("wheel_abi", Kind::Text, "wheel for {}"),
    ("platform", Kind::Text, "platform {}"),
    ("found", Kind::Text, "{} found"),
    ("needed", Kind::Text, "{} needed"),
    ("cuda_error", Kind::Number, "CUDA error {}"),
    ("cuda_error_name", Kind::Text, "{}"),
    ("cudnn_found", Kind::Text, "cuDNN {}"),
    ("cudnn_needed", Kind::Text, "cuDNN {} needed"),
    ("cudnn_status", Kind::Text, "{}"),
    ("cublas_found", Kind::Text, "cuBLAS {}"),
    ("cublas_needed", Kind::Text, "cuBLAS {} needed"),
    ("nccl", Kind::Text, "NCCL {}"),
    ("ptx_found", Kind::Text, "PTX ISA {}"),
    ("ptx_needed", Kind::Text, "PTX ISA {} needed"),
    ("gcc", Kind::Text, "gcc {}"),
    ("gcc_max", Kind::Text, "gcc {} or older needed"),
    ("clang", Kind::Text, "clang {}"),
    ("clang_max_excl", Kind::Text, "clang older than {} needed"),
    ("glibc_needed", Kind::Text, "glibc {} needed"),
    ("glibcxx_needed", Kind::Text, "GLIBCXX_{} needed"),
    ("missing", Kind::List, "{} missing"),
    ("missing_dep", Kind::Text, "{} missing"),
    ("library", Kind::Text, "library {}"),
    ("symbol", Kind::Text, "symbol {}"),
    ("header", Kind::Text, "header {}"),
    ("line", Kind::Number, "line {}"),
    ("image", Kind::Text, "image {}"),
    ("runtime", Kind::Text, "runtime {}"),
    ("devices", Kind::List, "device {}"),
    ("capabilities", Kind::Text, "capabilities {}"),
    ("pci", Kind::Text, "PCI address {}"),
    ("xid", Kind::Text, "Xid {}"),
    ("recovery", Kind::Text, "recovery: {}"),
    ("gpu_index", Kind::Number, "GPU number {}"),
    ("device_count", Kind::Number, "{} devices"),
    ("nvml_library", Kind::Text, "NVML library {}"),
    ("searched", Kind::List, "searched: {}"),
    ("nvml_error", Kind::Number, ""),
    ("cuda_found_raw", Kind::Text, ""),
    ("device_driver", Kind::Text, ""),
    ("cc_major", Kind::Half, ""),
    ("cc_minor", Kind::Half, ""),
    // Empty: a word ends here.
    ("end", Kind::Half, ""),
];

/// What a key holds; none of a key that is not known.
fn kind(key: &str) -> Option<Kind> {
    KEYS.iter().find(|(known, ..)| *known == key).map(|(_, kind, _)| *kind)
}

/// What was read out, as it is said to people, the most important first.
pub fn in_words(extract: &Extract) -> Vec<String> {
    let said = |(key, _, words): &(&str, Kind, &str)| {
        let value = extract.get(*key).map(ToString::to_string)?;
        (!words.is_empty() && !value.is_empty()).then(|| words.replace("{}", &brief(&value)))
    };
    KEYS.iter().filter_map(said).collect()
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => f.write_str(text),
            Value::Number(number) => write!(f, "{number}"),
            Value::List(list) => f.write_str(&list.join(", ")),
        }
    }
}

/// The ways of printing that a group's name can tell after two underscores.
const FORMS: &[&str] = &[
    "base", "comma", "tuple", "packed", "cudnn", "clang", "thousand", "hundred", "ten", "loose", "module", "last",
    "path", "digits", "below", "folder",
];

/// Whether a group's name is one that can be decoded.
pub fn is_known(group: &str) -> bool {
    let (key, form) = split(group);
    kind(key).is_some() && (form.is_empty() || FORMS.contains(&form))
}

fn split(group: &str) -> (&str, &str) {
    group.split_once("__").unwrap_or((group, ""))
}

/// Adds what a group holds; of keys with one value the first stays.
pub fn add(extract: &mut Extract, group: &str, original: &str) {
    let (key, form) = split(group);
    let text = match form {
        "base" => base(&token(original)),
        "tuple" => original.split([',', '.']).map(str::trim).collect::<Vec<_>>().join("."),
        "packed" => packed(&token(original), 10_000, 100),
        "cudnn" => cudnn(&token(original)),
        "clang" => packed(&token(original), 10_000, 100),
        "thousand" => thousand(&token(original)),
        "ten" => ten(&token(original)),
        "hundred" => hundred(&token(original)),
        "module" => Some(module(&token(original))).filter(|name| is_package(name)).unwrap_or_default(),
        "folder" => token(original).replace('_', "-"),
        "digits" => digits(&token(original)),
        "below" => below(&token(original)),
        "last" => original.split_whitespace().next_back().unwrap_or_default().to_string(),
        "comma" | "path" => phrase(original),
        _ if key == "gpu" => gpu(&phrase(original)),
        _ if matches!(key, "cudnn_found" | "cudnn_needed") => cudnn(&token(original)),
        _ if key == "arch" => architecture(&phrase(original)),
        _ if matches!(key, "versions_offered" | "arch_list" | "capabilities") => phrase(original),
        _ => token(original),
    };
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | ',' | ';' | ':')).to_string();
    if text.is_empty() && key != "device_driver" {
        return;
    }
    if kind(key) == Some(Kind::List) {
        let separators: &[char] = match form {
            "path" => &[':'],
            "comma" => &[','],
            _ => &[',', ';', ' '],
        };
        // A folder may have blanks in its name; elsewhere what follows a blank is the next line.
        let first = |item: &str| item.find(char::is_whitespace).filter(|_| form != "path").unwrap_or(item.len());
        let items = text.split(separators).map(str::trim).map(|item| &item[..first(item)]);
        let items = items.filter(|item| !item.is_empty());
        let Value::List(list) = extract.entry(key.into()).or_insert_with(|| Value::List(Vec::new())) else { return };
        for item in items {
            if !list.iter().any(|known| known == item) {
                list.push(item.to_string());
            }
        }
    } else if kind(key) == Some(Kind::Number) {
        if let Ok(number) = text.parse() {
            extract.entry(key.into()).or_insert(Value::Number(number));
        }
    } else if matches!(key, "glibc_needed" | "glibcxx_needed") {
        // A library that asks for several needs the newest.
        let newest = self::text(extract, key).filter(|known| newer(known, &text)).map(str::to_string).unwrap_or(text);
        extract.insert(key.into(), Value::Text(newest));
    } else {
        extract.entry(key.into()).or_insert(Value::Text(text));
    }
}

/// Follows from what was read: a packed CUDA version, a capability in two halves, the release a library belongs to.
pub fn complete(extract: &mut Extract) {
    if let Some(raw) = text(extract, "cuda_found_raw").map(thousand) {
        extract.entry("cuda_found".into()).or_insert(Value::Text(raw));
    }
    let halves = (text(extract, "cc_major").map(str::to_string), text(extract, "cc_minor").map(str::to_string));
    extract.retain(|key, _| !matches!(key.as_str(), "cc_major" | "cc_minor"));
    if let (Some(major), Some(minor)) = halves {
        extract.entry("cc".into()).or_insert(Value::Text(format!("{major}.{minor}")));
    }
    let missing = missing(extract);
    let cuda = missing.iter().find_map(|library| runtime_of(library));
    let mut libraries = missing.iter().map(String::as_str).chain(text(extract, "library"));
    let cudnn = libraries.find_map(cudnn_of);
    for (key, version) in [("cuda_needed", cuda), ("cudnn_needed", cudnn)] {
        if let Some(version) = version {
            extract.entry(key.into()).or_insert(Value::Text(version));
        }
    }
}

/// The library that could not be loaded is the one that is missing, unless the text tells of another.
pub fn name_library(extract: &mut Extract) {
    if let Some(first) = missing(extract).first().cloned() {
        extract.entry("library".into()).or_insert(Value::Text(first));
    }
}

fn missing(extract: &Extract) -> &[String] {
    match extract.get("missing") {
        Some(Value::List(missing)) => missing,
        _ => &[],
    }
}

/// The text under a key.
pub fn text<'e>(extract: &'e Extract, key: &str) -> Option<&'e str> {
    match extract.get(key)? {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// Whether the catalog knows a package of this name: a file's name only suggests one.
fn is_package(name: &str) -> bool {
    let catalog = at_hand();
    let packages = catalog.companions.heads().into_iter();
    let mut packages = packages.chain(catalog.source_builds.iter().map(|row| &*row.package));
    packages.any(|package| package.eq_ignore_ascii_case(name))
}

fn newer(one: &str, other: &str) -> bool {
    let parts = |version: &str| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>();
    parts(one) > parts(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_said_in_words_and_in_order() {
        let mut extract = Extract::new();
        for (key, original) in [("cuda_found_raw", "11040"), ("driver", "470.82.01"), ("gpu", "NVIDIA A10G")] {
            add(&mut extract, key, original);
        }
        complete(&mut extract);
        assert_eq!(in_words(&extract), ["GPU NVIDIA A10G", "driver 470.82.01", "CUDA 11.4"]);
    }
}
