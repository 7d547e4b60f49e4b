//! What all formats that install Python packages ask of the lock: pins, constraints, indexes, and what builds need.

use crate::lock::{ConstraintLock, GpuLock, Lock, TargetLock, Wheel};
use crate::types::{Version, address, distinct, name, variant};

use super::{ExportError, valid};

/// Lets uv install wheels named otherwise than their metadata says.
pub const UNCHECKED: &str = "UV_SKIP_WHEEL_FILENAME_CHECK";

/// `torch==2.5.1+cu124`, `jax[cuda13]==0.11.0`; `vllm@https://…#sha256=…` where the wheel lies on no index.
pub fn pin(wheel: &Wheel) -> Result<String, ExportError> {
    valid::package(&wheel.package)?;
    valid::wheel_version(&wheel.version)?;
    wheel.extra.as_deref().map(valid::package).transpose()?;
    wheel.url.as_deref().map(valid::wheel).transpose()?;
    let known: Vec<&str> = wheel.hashes().into_iter().flatten().collect();
    match (&wheel.url, &known[..]) {
        // One address, one file: whatever else it serves one day is refused.
        (Some(_), [sha256]) => Ok(format!("{}#sha256={}", wheel.requirement(), valid::sha256(sha256)?)),
        _ => Ok(wheel.requirement()),
    }
}

/// ` --hash=sha256:…` for each file that may be meant; none where the hash is in the address, or nobody knows it.
pub fn hashes(wheel: &Wheel) -> Result<Vec<String>, ExportError> {
    let known: Vec<&str> = wheel.hashes().into_iter().flatten().collect();
    let in_address = wheel.url.is_some() && known.len() == 1;
    let mut options = Vec::new();
    for sha256 in known.iter().filter(|_| !in_address) {
        options.push(format!("--hash=sha256:{}", valid::sha256(sha256)?));
    }
    Ok(options)
}

/// `torchvision==0.22.1+cu118`
pub fn constraint(one: &ConstraintLock) -> Result<String, ExportError> {
    Ok(format!("{}=={}", valid::package(&one.package)?, valid::wheel_version(&one.version)?))
}

/// The lock's version of a package as a constraint: without extras and addresses, which constraints cannot have.
pub fn locked(wheel: &Wheel) -> Result<String, ExportError> {
    Ok(format!("{}=={}", valid::package(&wheel.package)?, valid::wheel_version(&wheel.version)?))
}

/// The page of one package on an index: whatever is found there is that package.
pub fn page(index: &str, package: &str) -> Result<String, ExportError> {
    Ok(format!("{}/{}/", valid::index(index)?.trim_end_matches('/'), name::package(valid::package(package)?)))
}

/// What a nightly of torch asks for that no other index has: a Triton of the same days.
pub const WITH_NIGHTLIES: [&str; 2] = ["pytorch-triton", "triton"];

/// The index of nightlies that a wheel of torch lies on.
pub fn nightlies(wheel: &Wheel) -> Option<&str> {
    wheel.index.as_deref().filter(|index| wheel.package == "torch" && is_of_nightlies(index))
}

/// Whether an index holds nightlies: it has whatever they depend on, and often nothing else has it.
pub fn is_of_nightlies(index: &str) -> bool {
    index.contains("/whl/nightly/")
}

/// The indexes in use, sorted.
pub fn indexes<'a>(wheels: &[&'a Wheel]) -> Vec<&'a str> {
    distinct(wheels.iter().filter_map(|wheel| wheel.index.as_deref()))
}

/// What is compiled without isolation, because its documentation says so, and what these builds import or ask for.
pub fn unisolated<'a>(wheels: &[&'a Wheel]) -> Result<(Vec<&'a str>, Vec<&'a str>), ExportError> {
    let valid = |names: Vec<&'a str>| -> Result<Vec<&'a str>, ExportError> {
        distinct(names).into_iter().map(|name| valid::package(name)).collect()
    };
    let beside = || wheels.iter().filter(|wheel| wheel.unisolated.is_some());
    for (_, version) in beside().filter_map(|wheel| wheel.compiled()) {
        valid::wheel_version(version)?;
    }
    let tools = valid(beside().flat_map(|wheel| wheel.tools.iter().map(String::as_str)).collect())?;
    Ok((valid(beside().filter_map(|wheel| Some(wheel.compiled()?.0)).collect())?, tools))
}

/// What has builds compile for CUDA where they see no GPU: `FORCE_CUDA=1`.
pub fn switches<'a>(wheels: &[&'a Wheel]) -> Result<Vec<&'a str>, ExportError> {
    let all = distinct(wheels.iter().filter_map(|wheel| wheel.switch.as_deref()));
    all.into_iter().map(|switch| valid::switch(switch).map(|_| switch)).collect()
}

/// Wheels whose file is named after another version than it holds, which uv refuses unless [`UNCHECKED`] is set; a label
/// that the name alone has (`+cu12torch2.8cxx11abiTRUE`) it takes.
pub fn misnamed<'a>(wheels: &[&'a Wheel]) -> Vec<&'a str> {
    let told = |wheel: &Wheel| wheel.url.as_deref().and_then(address::version_in).map(str::to_string);
    let is_other = |wheel: &&&Wheel| {
        told(wheel).is_some_and(|told| {
            let is_labelled = variant::public(&told) == wheel.version;
            !is_labelled && !address::is_same_version(&told, &wheel.version)
        })
    };
    wheels.iter().filter(is_other).map(|wheel| wheel.package.as_str()).collect()
}

/// The locked Python of a target, if there is one.
pub fn python<'a>(lock: &'a Lock, target: &'a TargetLock) -> Result<Option<&'a str>, ExportError> {
    lock.stack_of(target).get("python").map(|python| valid::release("python", python)).transpose()
}

/// The Pythons that the locked wheels take, as a requirement specifier: `==3.11.*`, `>=3.8.10,<3.9` where one of them needs a
/// patch release, or exactly what is locked.
pub fn pythons(lock: &Lock, targets: &[(&str, &TargetLock)]) -> Result<Option<String>, ExportError> {
    let Some((_, first)) = targets.first() else { return Ok(None) };
    let Some(python) = python(lock, first)? else { return Ok(None) };
    let mut from: Option<Version> = None;
    for patch in targets.iter().flat_map(|(name, _)| lock.wheels_of(name)).filter_map(|wheel| wheel.python.as_deref()) {
        from = from.max(Version::parse(valid::release("python", patch)?).ok());
    }
    let line = Version::parse(python).ok().filter(|line| line.len() == 2);
    Ok(Some(match (from, line) {
        (Some(from), Some(line)) => format!(">={from},<{}.{}", line.major(), line.minor() + 1),
        (None, Some(line)) => format!("=={line}.*"),
        _ => format!("=={python}"),
    }))
}

/// The CUDA line that whatever is installed beside a target's packages keeps to: that of their libraries, or the one that
/// somebody's own build was made for, whoever brings its libraries.
pub fn cuda_beside(lock: &Lock, name: &str, target: &TargetLock) -> Option<Version> {
    lock.cuda_line(name, target).or_else(|| {
        let stack = lock.stack_of(target);
        lock.own_builds().find(|package| stack.contains_key(*package))?;
        Version::parse(stack.get("cuda")?).ok().map(|cuda| cuda.prefix(2))
    })
}

/// The lowest compute capability of a target's GPUs.
pub fn lowest_capability(gpus: &[GpuLock]) -> Result<Option<Version>, ExportError> {
    let mut lowest: Option<Version> = None;
    for gpu in gpus {
        let own = valid::capability(&gpu.compute_capability)?;
        lowest = Some(lowest.map_or(own, |lowest| lowest.min(own)));
    }
    Ok(lowest)
}
