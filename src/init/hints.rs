//! What can be written where nothing is known yet, as comments.

use crate::spec::{KeyDoc, tables};

/// The keys that are told in `[stack]`.
pub(super) const STACK: &[&str] = &["torch", "torchvision", "python"];

/// The keys that are told of the target.
pub(super) const TARGET: &[&str] = &["gpu", "driver", "image", "os"];

/// The same of one without a GPU, which needs no driver.
pub(super) const TARGET_OF_CPU: &[&str] = &["gpu", "image", "os"];

/// What is told of some keys of a table.
pub(super) fn of(table: &str, names: &[&str]) -> Vec<KeyDoc> {
    let keys = tables().into_iter().filter(|doc| doc.name == table).flat_map(|doc| doc.keys);
    let mut keys: Vec<KeyDoc> = keys.filter(|key| names.contains(&key.name)).collect();
    crate::types::sort_by_key(&mut keys, |key| names.iter().position(|name| *name == key.name));
    keys
}
