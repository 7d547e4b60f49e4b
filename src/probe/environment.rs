//! The environment: what of it changes what a CUDA process sees or loads, and what a child is given.

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::host::environment::is_kept;
use crate::types::map_of;

use super::context::ProbeContext;
use super::loader;

/// The beginnings of names that a child is given beside those that a record keeps: what CUDA's own libraries read.
const FAMILIES: &[&str] = &["CUDA_", "CUDNN_", "NCCL_", "NVIDIA_", "PYTORCH_"];

/// Names that a child needs beside what matters and PATH, to find folders.
const HANDED_ON: &[&str] = &["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"];

/// The variable that says which GPUs a process sees.
pub const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

/// Sets a variable in what a child is given.
pub fn set(environment: &mut Vec<(OsString, OsString)>, name: &str, value: &str) {
    environment.retain(|(known, _)| known != name);
    environment.push((name.into(), value.into()));
}

/// What matters, for the record.
pub fn that_matters(context: &ProbeContext) -> BTreeMap<String, String> {
    let pairs = context.environment.iter().filter_map(|(name, value)| Some((name.to_str()?, value)));
    let pairs = pairs.filter(|(name, _)| is_kept(name));
    map_of(pairs.map(|(name, value)| (name.to_string(), value.to_string_lossy().into_owned())))
}

/// What a child is given: what matters, without what would run other people's code in it; messages in English.
///
/// Where root loads from safe directories only, LD_LIBRARY_PATH has no others, so that no library brings in a second
/// one from there. Neither it nor PATH has what an empty or relative entry makes of the folder we stand in.
pub fn of_child(context: &ProbeContext) -> Vec<(OsString, OsString)> {
    let given = |name: &str| {
        let family = FAMILIES.iter().any(|family| name.starts_with(family));
        (family || is_kept(name) || HANDED_ON.contains(&name) || name.starts_with("GPUENV_"))
            && !matches!(name, "LD_PRELOAD" | "LD_LIBRARY_PATH" | "CUDA_INJECTION32_PATH" | "CUDA_INJECTION64_PATH")
    };
    let pairs = context.environment.iter().filter(|(name, _)| name.to_str().is_some_and(given));
    let mut pairs: Vec<(OsString, OsString)> = pairs.cloned().collect();
    pairs.push(("LC_ALL".into(), "C".into()));
    pairs.extend(path_of_child(context).map(|path| ("PATH".into(), path)));
    let trusts = context.trusts_everywhere();
    let unnamed = context.unnamed_library_path();
    let safe = |entry: &std::path::PathBuf| {
        !unnamed.contains(entry) && (trusts || (entry.is_dir() && loader::danger(entry).is_none()))
    };
    let entries: Vec<_> = context.library_path().into_iter().filter(safe).collect();
    if let Ok(entries) = std::env::join_paths(entries)
        && !entries.is_empty()
    {
        pairs.push(("LD_LIBRARY_PATH".into(), entries));
    }
    pairs
}

/// The user's PATH without entries that depend on where one stands and without the project's: what nvcc calls by name
/// is not to come from there.
fn path_of_child(context: &ProbeContext) -> Option<OsString> {
    let path = context.variable("PATH")?.to_os_string();
    let folders = std::env::split_paths(&path);
    let ours = folders.filter(|folder| folder.is_absolute() && !context.is_folder_of_project(folder));
    std::env::join_paths(ours).ok()
}

#[cfg(test)]
mod tests;
