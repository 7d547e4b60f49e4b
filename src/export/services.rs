//! What exports for services that lend GPUs have in common: the GPUs that are asked for.

use crate::lock::{Lock, TargetLock};

use super::format::{Opt, Options};
use super::{ExportError, valid};

/// Services name their GPUs each in their own way, and none as NVML does.
pub const ACCELERATORS: Opt = Opt::value(
    "accelerators",
    "GPUS",
    "The GPUs as the service names them, a comma between what will do: H100:8,A100-80GB:8",
);

/// `H100:8`, `A100`: each will do. Beside them the comment that says so where a GPU is needed and none was named.
pub fn accelerators<'o>(
    lock: &Lock,
    name: &str,
    target: &TargetLock,
    options: &'o Options,
) -> Result<(Vec<&'o str>, &'static str), ExportError> {
    let is_one = |one: &str| {
        let (name, count) = one.split_once(':').unwrap_or((one, "1"));
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_name && name.starts_with(|first: char| first.is_ascii_alphabetic()) && valid::is_count(count)
    };
    let Some(value) = options.get(ACCELERATORS.name) else {
        let note = "# It asks for no GPU yet: name those that will do with --accelerators.\n";
        return Ok((Vec::new(), if lock.uses_gpu(name, target) { note } else { "" }));
    };
    if !value.split(',').all(is_one) {
        let expected = "names of GPUs such as H100:8, with a comma between";
        return Err(ExportError::bad_option(ACCELERATORS.name, value, expected));
    }
    Ok((value.split(',').collect(), ""))
}
