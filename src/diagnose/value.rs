//! What is read out of a text: the keys, and how each way of printing a value is decoded.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// A value that was read out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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

/// The keys that hold text.
const TEXTS: &[&str] = &[
    "gpu",
    "cc",
    "cc_min",
    "cc_max",
    "arch",
    "driver",
    "cuda_found",
    "cuda_needed",
    "cuda_found_raw",
    "cuda_error_name",
    "cuda_toolkit",
    "driver_needed",
    "cudnn_found",
    "cudnn_needed",
    "cudnn_status",
    "cublas_found",
    "cublas_needed",
    "nccl",
    "gcc",
    "gcc_max",
    "clang",
    "clang_max_excl",
    "glibc_needed",
    "glibcxx_needed",
    "library",
    "missing_dep",
    "symbol",
    "torch",
    "torch_needed",
    "package",
    "version",
    "versions_offered",
    "python",
    "wheel_abi",
    "platform",
    "device_driver",
    "capabilities",
    "ptx_found",
    "ptx_needed",
    "header",
    "pci",
    "nvml_library",
    "image",
    "runtime",
    "needed",
    "found",
    "xid",
];
/// The keys that hold numbers.
const NUMBERS: &[&str] = &["gpu_index", "cuda_error", "nvml_error", "line", "device_count"];
/// The keys that hold lists.
const LISTS: &[&str] = &["arch_list", "missing", "devices", "searched", "suggested_cuda"];
/// The ways of printing that a group's name can tell after two underscores.
const FORMS: &[&str] = &[
    "base", "comma", "tuple", "packed", "cudnn", "clang", "thousand", "hundred", "ten", "loose", "module", "last",
    "path", "digits", "below",
];

/// Whether a group's name is one that can be decoded.
pub fn is_known(group: &str) -> bool {
    let (key, form) = split(group);
    let known =
        [TEXTS, NUMBERS, LISTS].iter().any(|keys| keys.contains(&key)) || matches!(key, "cc_major" | "cc_minor");
    known && (form.is_empty() || FORMS.contains(&form))
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
        "module" => module(&token(original)),
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
    if LISTS.contains(&key) {
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
    } else if NUMBERS.contains(&key) {
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

/// One word: a blank ends it, a line break inside does not, unless a sentence begins there.
fn token(original: &str) -> String {
    let mut lines = original.lines().map(str::trim);
    let first = lines.next().unwrap_or_default().to_string();
    let joined = lines.take_while(|line| !begins_sentence(line)).fold(first, |joined, line| joined + line);
    let word = joined.split_whitespace().next().unwrap_or("");
    let quotes = ['\'', '"', '`', '*', '‘', '’', '“', '”'];
    // What follows a closing quote without a blank is another word.
    word.split(quotes).find(|part| !part.is_empty()).unwrap_or_default().to_string()
}

/// `ERROR conda.cli`, `Traceback`: letters alone, and more after them or a capital before.
fn begins_sentence(line: &str) -> bool {
    let (word, more) = line.split_once(char::is_whitespace).map_or((line, false), |(word, _)| (word, true));
    let letters = word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    // Python shows the line that warned below its warning.
    let source = matches!(word, "warn" | "warnings");
    letters && (more || source || word.starts_with(|first: char| first.is_ascii_uppercase()))
}

/// Several words with single blanks.
fn phrase(original: &str) -> String {
    let text = original.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace(['"', '\'', '`'], "")
}

/// `compute_92 2`, where a numbered line followed, is `compute_92`; `sm_12 0` was broken in two, for there is no sm_12.
fn architecture(phrase: &str) -> String {
    let number = phrase.split_once('_').and_then(|(_, number)| number.split_once(' '));
    let Some((number, _)) = number else { return phrase.to_string() };
    if number.trim_end_matches(['a', 'f']).parse::<u32>().is_ok_and(|number| number >= 20) {
        phrase.split(' ').next().unwrap_or_default().to_string()
    } else {
        phrase.replace(' ', "")
    }
}

/// A product's name without the words that a sentence put before it.
fn gpu(phrase: &str) -> String {
    let makers = ["nvidia ", "geforce ", "tesla ", "quadro ", "grid ", "titan ", "rtx ", "gtx "];
    let lower = phrase.to_ascii_lowercase();
    let start = makers.iter().filter_map(|maker| lower.find(maker)).min().unwrap_or(0);
    // What follows in parentheses is its address or identity.
    phrase[start..].split(" (").next().unwrap_or_default().to_string()
}

/// The last part of a path, of either kind.
fn base(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_string()
}

/// The package behind a compiled module's name: `flash_attn_2_cuda` belongs to `flash-attn`.
fn module(name: &str) -> String {
    let name = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    let name = name.trim_start_matches('_').trim_end_matches("_cuda").trim_end_matches("_C");
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
    name.replace('_', "-")
}

fn newer(one: &str, other: &str) -> bool {
    let parts = |version: &str| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>();
    parts(one) > parts(other)
}

/// `11040`
fn thousand(raw: &str) -> String {
    match raw.parse::<u32>() {
        // PyTorch once wrote 7500 for the 7.5 that CUDA itself packs as 7050.
        Ok(number) if number % 1000 >= 100 => format!("{}.{}", number / 1000, number % 1000 / 100),
        Ok(number) => format!("{}.{}", number / 1000, number % 1000 / 10),
        Err(_) => raw.to_string(),
    }
}

/// `118`
fn ten(raw: &str) -> String {
    match raw.parse::<u32>() {
        Ok(number) => format!("{}.{}", number / 10, number % 10),
        Err(_) => raw.to_string(),
    }
}

/// `311`, as folders and modules of Python are named.
fn digits(raw: &str) -> String {
    match raw.split_at_checked(1) {
        Some((major, minor)) if !minor.is_empty() => format!("{major}.{minor}"),
        _ => raw.to_string(),
    }
}

/// What comes before `4.9`, from which on something is refused.
fn below(raw: &str) -> String {
    let (major, last) = raw.rsplit_once('.').unwrap_or(("", raw));
    let before = last.parse::<u32>().ok().and_then(|last| last.checked_sub(1));
    match before {
        Some(before) if major.is_empty() => before.to_string(),
        Some(before) => format!("{major}.{before}"),
        None => raw.to_string(),
    }
}

/// `1108`
fn hundred(raw: &str) -> String {
    match raw.parse::<u32>() {
        Ok(number) if number >= 10_000 => thousand(raw),
        Ok(number) => format!("{}.{}", number / 100, number % 100),
        Err(_) => raw.to_string(),
    }
}

fn packed(raw: &str, major: u32, minor: u32) -> String {
    match raw.parse::<u32>() {
        Ok(number) => format!("{}.{}.{}", number / major, number % major / minor, number % minor),
        Err(_) => raw.to_string(),
    }
}

/// cuDNN changed how it packs its version when its major reached two more digits of minor.
fn cudnn(raw: &str) -> String {
    match raw.len() {
        5 => packed(raw, 10_000, 100),
        4 => packed(raw, 1000, 100),
        _ => raw.to_string(),
    }
}

/// The first release whose runtime library serves every release of its major.
const ONE_RUNTIME_A_MAJOR: u32 = 11;

/// The CUDA line of a runtime library's name.
fn runtime_of(library: &str) -> Option<String> {
    let number = match library.strip_prefix("cudart64_").or_else(|| library.strip_prefix("cublas64_")) {
        Some(tail) => {
            let digits = tail.split('.').next().filter(|digits| digits.len() >= 2)?;
            let (major, minor) = digits.split_at(2);
            if minor.is_empty() { major.to_string() } else { format!("{major}.{minor}") }
        }
        None => {
            let names =
                ["libcudart.so.", "libcublas.so.", "libcublasLt.so.", "libnvrtc.so.", "libcufft.so.", "libcurand.so."];
            let (name, tail) = names.iter().find_map(|name| Some((*name, library.strip_prefix(name)?)))?;
            // These number themselves apart from CUDA since its major has one runtime.
            if name.contains("cufft") || name.contains("curand") {
                tail.contains('.').then_some(tail)?;
            }
            tail.to_string()
        }
    };
    let major: u32 = number.split('.').next()?.parse().ok()?;
    match major >= ONE_RUNTIME_A_MAJOR {
        true => Some(major.to_string()),
        false => number.contains('.').then(|| number.split('.').take(2).collect::<Vec<_>>().join(".")),
    }
}

/// The cuDNN major of a library's name.
fn cudnn_of(library: &str) -> Option<String> {
    let tail = match library.strip_prefix("libcudnn") {
        Some(rest) => rest.split(".so.").nth(1)?,
        None => library.strip_prefix("cudnn64_").or_else(|| library.split("cudnn").nth(1)?.split("64_").nth(1))?,
    };
    let major = tail.split('.').next()?;
    major.bytes().all(|byte| byte.is_ascii_digit()).then(|| major.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_versions_are_decoded() {
        assert_eq!(thousand("11040"), "11.4");
        assert_eq!(thousand("9000"), "9.0");
        assert_eq!(hundred("1108"), "11.8");
        assert_eq!((below("4.10"), below("6")), ("4.9".into(), "5".into()));
        assert_eq!(hundred("12080"), "12.8");
        assert_eq!(cudnn("7102"), "7.1.2");
        assert_eq!(cudnn("6020"), "6.0.20");
        assert_eq!(cudnn("90100"), "9.1.0");
        assert_eq!(packed("120205", 10_000, 100), "12.2.5");
    }

    #[test]
    fn library_names_tell_their_release() {
        for (name, wanted) in [
            ("libcudart.so.11.0", Some("11")),
            ("libcudart.so.10.1", Some("10.1")),
            ("libcublas.so.10", None),
            ("libcublas.so.12", Some("12")),
            ("cudart64_110.dll", Some("11")),
            ("cudart64_101.dll", Some("10.1")),
            ("libcufft.so.10", None),
        ] {
            assert_eq!(runtime_of(name).as_deref(), wanted, "{name}");
        }
        assert_eq!(cudnn_of("libcudnn_ops_infer.so.8").as_deref(), Some("8"));
        assert_eq!(cudnn_of("cudnn64_7.dll").as_deref(), Some("7"));
        assert_eq!(cudnn_of("cudnn_ops64_9.dll").as_deref(), Some("9"));
        assert_eq!(cudnn_of("libcublas.so.11"), None);
    }

    #[test]
    fn wrapped_words_are_joined_and_further_words_cut() {
        assert_eq!(token("libcudnn_ops_in\n  fer.so.8"), "libcudnn_ops_infer.so.8");
        assert_eq!(token("sm_89 a"), "sm_89");
        assert_eq!(token("_ZN3c104cuda9SetDeviceEi\nERROR conda"), "_ZN3c104cuda9SetDeviceEi");
        assert_eq!(architecture("compute_92 2"), "compute_92");
        assert_eq!(architecture("sm_12 0a"), "sm_120a");
        assert_eq!(architecture("7.5 8.0"), "7.5 8.0");
        assert_eq!(module("flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so"), "flash-attn");
    }
}
