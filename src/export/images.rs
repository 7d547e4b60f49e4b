//! What all formats that start from a container image ask of the lock: its full name, and what it holds already.

use crate::lock::{FRAMEWORKS, Lock, TargetLock};
use crate::types::variant;

use super::{ExportError, valid};

/// Where an image comes from whose name does not say so.
const REGISTRY: &str = "docker.io";

/// The image of a target as every engine finds it: podman and buildah look up no short names, and
/// `docker.io/nvidia/cuda` means the same to all.
pub fn of(name: &str, target: &TargetLock) -> Result<String, ExportError> {
    let is_jetson = target.os.as_deref().is_some_and(|os| os.starts_with("jetpack"));
    let image = if is_jetson { "nvcr.io/nvidia/l4t-jetpack" } else { "nvidia/cuda" };
    let none = || ExportError::NoImage { target: name.to_string(), image };
    qualified(target.image.as_deref().ok_or_else(none)?)
}

/// The image to run in: with `[build]` the smaller one.
pub fn to_run(name: &str, target: &TargetLock) -> Result<String, ExportError> {
    target.runtime_image.as_deref().map_or_else(|| of(name, target), qualified)
}

/// With the registry in front, as Docker reads it: a first part with a dot or a port is a registry already.
pub fn qualified(image: &str) -> Result<String, ExportError> {
    let image = valid::image(image)?;
    let qualified = match image.split_once('/') {
        Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => image.to_string(),
        Some(_) => format!("{REGISTRY}/{image}"),
        None => format!("{REGISTRY}/library/{image}"),
    };
    Ok(qualified)
}

/// A framework that the image holds, with its version: the lock has it, and no wheel for it.
pub fn framework_inside<'a>(lock: &'a Lock, name: &str, target: &'a TargetLock) -> Option<(&'a str, &'a str)> {
    target.image.as_ref()?;
    let has_wheel = |package: &str| lock.wheels_of(name).any(|wheel| wheel.package == package);
    // A build of one's own may lie nowhere that anybody told.
    let is_own = |package: &str| lock.own_builds().any(|own| own == package);
    let mut stack = lock.stack_of(target).iter();
    let (package, version) =
        stack.find(|(package, _)| FRAMEWORKS.contains(&package.as_str()) && !has_wheel(package) && !is_own(package))?;
    Some((package, version))
}

/// The requirement that a framework in the image meets, so that nothing replaces it: a label is its builder's own, and pip
/// takes any where none is asked for.
pub fn inside_line(lock: &Lock, name: &str, target: &TargetLock) -> Result<Option<String>, ExportError> {
    let Some((package, version)) = framework_inside(lock, name, target) else { return Ok(None) };
    let version = variant::public(version);
    Ok(Some(format!("{}=={}", valid::package(package)?, valid::wheel_version(version)?)))
}

/// For formats that make an environment of their own: what stands in the image is not in it, so what depends on it would
/// bring another.
pub fn refuse_framework_inside(lock: &Lock, name: &str, target: &TargetLock) -> Result<(), ExportError> {
    let Some((package, version)) = framework_inside(lock, name, target) else { return Ok(()) };
    Err(ExportError::InImage {
        target: name.to_string(),
        package: package.to_string(),
        version: version.to_string(),
        image: target.image.clone().unwrap_or_default(),
    })
}
