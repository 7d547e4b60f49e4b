//! What a value of the lock must look like before it is printed into another language.
//!
//! Each pattern is narrower than the language it protects: nothing that passes holds a blank, a quote, a
//! `$`, a `#` or a control character.

use crate::lock::GpuLock;
use crate::types::address::{self, all, is_number};
use crate::types::{ArchList, CpuArch, Specifier, Version, distinct};

use super::ExportError;

type Valid<'a> = Result<&'a str, ExportError>;

/// A Python package name.
pub fn package(name: &str) -> Valid<'_> {
    check(address::is_package(name), "package", name, "a Python package name")
}

/// A requirement specifier of pip: `>=4.50`.
pub fn specifier(text: &str) -> Result<Specifier, ExportError> {
    Specifier::parse(text).map_err(|_| bad("inputs.packages", text, "a requirement specifier such as `>=4.50`"))
}

/// A package and a requirement specifier of pip: `numpy<2`.
pub fn requirement(text: &str) -> Result<(&str, Specifier), ExportError> {
    Specifier::split(text).ok_or_else(|| bad("requirement", text, "a requirement such as `numpy<2`"))
}

/// A version that a requirement can pin: a number, then perhaps a local label.
pub fn wheel_version(version: &str) -> Valid<'_> {
    check(address::is_wheel_version(version), "version", version, "a Python package version")
}

/// The sha256 of a file, in lower case.
pub fn sha256(digest: &str) -> Valid<'_> {
    check(address::is_sha256(digest), "sha256", digest, "64 hexadecimal digits")
}

/// Numbers with dots between them.
fn are_numbers(version: &str) -> bool {
    version.len() <= 32 && version.split('.').all(is_number)
}

/// Numbers and dots, at least two numbers: a toolkit release or a Python version.
pub fn release<'a>(what: &'static str, version: &'a str) -> Valid<'a> {
    let ok = version.contains('.') && are_numbers(version);
    check(ok, what, version, "a version such as `3.11`")
}

/// A Python that whoever installs it still has.
pub fn recent_python<'a>(by: &'static str, python: &'a str, oldest: Version) -> Valid<'a> {
    let is_older = Version::parse(python).is_ok_and(|version| version < oldest);
    let too_old = || ExportError::PythonTooOld { by, python: python.to_string(), oldest: oldest.to_string() };
    if is_older { Err(too_old()) } else { Ok(python) }
}

/// The first of the numbers of a version, which may be all there is: `17`, `11.4.0`.
pub fn major<'a>(what: &'static str, version: &'a str) -> Valid<'a> {
    let version = check(are_numbers(version), what, version, "a version such as `17`")?;
    Ok(version.split('.').next().unwrap_or_default())
}

/// The address of a wheel index.
pub fn index(url: &str) -> Valid<'_> {
    check(address::is_index(url), "index", url, "the https:// address of a wheel index")
}

/// The address of a wheel itself.
pub fn wheel(url: &str) -> Valid<'_> {
    check(address::wheel(url).is_some_and(|(_, sha256)| sha256.is_none()), "url", url, "the address of a wheel")
}

/// An image reference; one that nobody could check may stand in the lock without a tag, as it was written.
pub fn image(reference: &str) -> Valid<'_> {
    check(is_image(reference), "image", reference, "an image reference")
}

/// A driver release: numbers and dots.
pub fn driver(version: &str) -> Valid<'_> {
    check(are_numbers(version), "driver.minimum", version, "a driver release such as `535.54.03`")
}

/// A compute capability: two numbers.
pub fn capability(text: &str) -> Result<Version, ExportError> {
    let parts = text.split_once('.').filter(|(major, minor)| is_number(major) && is_number(minor));
    let version = parts.and_then(|_| Version::parse(text).ok());
    version.ok_or_else(|| bad("compute-capability", text, "a compute capability such as `8.0`"))
}

/// The compute capabilities of some GPUs, each once.
pub fn capabilities(gpus: &[GpuLock]) -> Result<Vec<Version>, ExportError> {
    let each: Result<Vec<Version>, ExportError> = gpus.iter().map(|gpu| capability(&gpu.compute_capability)).collect();
    Ok(distinct(each?))
}

/// The value of an option of a format.
pub fn option<'a>(
    name: &'static str,
    value: &'a str,
    is_valid: fn(&str) -> bool,
    expected: &'static str,
) -> Result<&'a str, ExportError> {
    if is_valid(value) { Ok(value) } else { Err(ExportError::bad_option(name, value, expected)) }
}

/// A target's name: letters, digits, `-` and `_`.
pub fn target(name: &str) -> Valid<'_> {
    let ok = !name.is_empty() && name.len() <= 64 && all(name, b"-_") && !name.starts_with('-');
    check(ok, "target", name, "the name of a target")
}

/// A target's name as a part of a DNS label.
pub fn dns_label(name: &str) -> Result<String, ExportError> {
    let label = target(name)?.to_ascii_lowercase().replace('_', "-");
    Ok(label.trim_matches('-').chars().take(50).collect())
}

/// A name of lower case letters, digits and `-` that begins with a letter.
pub fn is_label(name: &str) -> bool {
    let all = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    all && name.starts_with(|first: char| first.is_ascii_lowercase()) && !name.ends_with('-') && name.len() <= 63
}

/// A name of Kubernetes: lower case letters, digits and `-` within (RFC 1123).
pub fn is_dns_label(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.len() <= 63 && name.bytes().all(fits) && !name.starts_with('-') && !name.ends_with('-')
}

/// An image that can be pulled: where no tag is named that is `latest`.
pub fn is_image(reference: &str) -> bool {
    address::is_image(reference) || address::is_repository(reference)
}

/// A number from one on, in few digits.
pub fn is_count(text: &str) -> bool {
    is_number(text) && text.len() <= 6 && !text.starts_with('0')
}

/// An extended resource of Kubernetes: a domain and a name.
pub fn is_resource(text: &str) -> bool {
    let part =
        |part: &str| !part.is_empty() && all(part, b".-_") && part.starts_with(|one: char| one.is_ascii_alphanumeric());
    text.len() <= 128 && text.split_once('/').is_some_and(|(domain, name)| part(domain) && part(name))
}

/// The name of an environment of conda.
pub fn is_environment(name: &str) -> bool {
    all(name, b"-_.") && name.starts_with(|first: char| first.is_ascii_alphanumeric()) && name.len() <= 63
}

/// A time limit as Slurm reads it: minutes, `2:00:00`, `1-12`, `1-12:30:00`.
pub fn is_time(text: &str) -> bool {
    let (days, clock) = text.split_once('-').map_or((None, text), |(days, clock)| (Some(days), clock));
    let parts: Vec<&str> = clock.split(':').collect();
    days.is_none_or(is_number) && parts.len() <= 3 && parts.iter().all(|part| is_number(part) && part.len() <= 6)
}

/// Names of partitions with a comma between.
pub fn is_list(text: &str) -> bool {
    let is_name = |name: &str| all(name, b"-_.") && name.starts_with(|first: char| first.is_ascii_alphanumeric());
    text.len() <= 256 && text.split(',').all(is_name)
}

/// Generic resources of Slurm with a comma between: a name, perhaps a type, perhaps how many.
pub fn is_gres(text: &str) -> bool {
    let is_one = |one: &str| {
        let parts: Vec<&str> = one.split(':').collect();
        let is_named = parts.iter().all(|part| is_environment(part));
        let is_counted = |count: &&str| !is_number(count) || is_count(count);
        is_named && parts.len() <= 3 && !is_number(parts[0]) && parts.last().is_some_and(is_counted)
    };
    text.len() <= 256 && text.split(',').all(is_one)
}

/// What a scheduler or a module system is asked for: no blank, no quote, nothing that a shell would read.
pub fn is_request(text: &str) -> bool {
    !text.is_empty() && text.len() <= 256 && all(text, b":_-.,|&*()[]/=+%") && !text.starts_with('-')
}

/// A path on a machine: no blank, no quote, no expansion.
pub fn is_path(text: &str) -> bool {
    !text.is_empty() && text.len() <= 512 && all(text, b"/._-+@%") && !text.starts_with('-')
}

/// A user of a Unix system that can be created: the first one is there.
pub fn is_user(name: &str) -> bool {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let all = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte));
    first && all && name.len() <= 32 && name != "root"
}

/// An architecture list as PyTorch's extension builder reads it.
pub fn torch_arch_list(list: &str) -> Valid<'_> {
    let ok = all(list, b".;+") && ArchList::parse_torch(list).is_ok_and(|parsed| !parsed.is_empty());
    check(ok, "architecture list", list, "a list such as `8.0;9.0+PTX`")
}

/// An architecture list as CMake reads it.
pub fn cmake_arch_list(list: &str) -> Valid<'_> {
    check(address::is_cmake_arch_list(list), "architecture list", list, "a list such as `80-real;90`")
}

/// A variable for a build and the architectures it takes: `FLASH_ATTN_CUDA_ARCHS=80;90`.
pub fn arch_variable(text: &str) -> Result<(&str, Vec<u32>), ExportError> {
    let read = address::arch_variable(text);
    read.ok_or_else(|| bad("archs", text, "a variable with architectures, `NAME_ARCHS=80;90`"))
}

/// A variable that has a build compile, and its value: `FORCE_CUDA=1`, `FLASH_ATTENTION_FORCE_BUILD=TRUE`.
pub fn switch(text: &str) -> Result<(&str, &str), ExportError> {
    address::switch(text).ok_or_else(|| bad("switch", text, "a variable, `FORCE_CUDA=1`"))
}

/// The CUDA line of a forward compatibility package: `12.4` for `cuda-compat-12-4`.
pub fn compat_line(package: &str) -> Result<String, ExportError> {
    let line = package.strip_prefix("cuda-compat-").and_then(|line| line.split_once('-'));
    match line {
        Some((major, minor)) if is_number(major) && is_number(minor) => Ok(format!("{major}.{minor}")),
        _ => Err(bad("driver.compat", package, "a cuda-compat package")),
    }
}

/// A CPU architecture.
pub fn cpu_arch(arch: &str) -> Result<CpuArch, ExportError> {
    CpuArch::parse(arch).map_err(|_| bad("arch", arch, "a known CPU architecture"))
}

/// The error for a value that is none of the above.
fn bad(what: &'static str, value: &str, expected: &'static str) -> ExportError {
    ExportError::BadValue { what, value: value.to_string(), expected }
}

fn check<'a>(ok: bool, what: &'static str, value: &'a str, expected: &'static str) -> Valid<'a> {
    if ok { Ok(value) } else { Err(bad(what, value, expected)) }
}

#[cfg(test)]
mod tests;
