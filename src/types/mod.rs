//! L0, the words everything else is written in: versions, constraints, compute capabilities,
//! architectures and architecture lists, what images require, the specifiers of pip, the names things are published under,
//! and how work is done side by side. No facts, no I/O.

pub mod address;
pub mod arch;
pub mod arch_list;
pub mod beside;
pub mod calendar;
pub mod constraint;
mod driver_mode;
pub mod intersect;
pub mod marker;
pub mod name;
pub mod nvidia;
pub mod packed;
pub mod parts;
pub mod plain;
pub mod prose;
pub mod require;
pub mod secret;
pub mod specifier;
pub mod text;
pub mod toml_memory;
pub mod variant;
pub mod version;

use std::cmp::Ordering;
use std::collections::BTreeMap;

pub use arch::{Arch, Cc, CpuArch, Suffix};
pub use arch_list::{ArchEntry, ArchList, ArchListError};
pub use constraint::Constraint;
pub use driver_mode::DriverMode;
pub use intersect::intersect;
pub use require::Requirement;
pub use specifier::Specifier;
pub use text::{List, Text};
pub use version::Version;

/// Pairs by their keys; of two with one key the later counts. What is few is inserted one by one: `collect` sorts all of it
/// first, with code of its own for every kind of pair.
pub fn map_of<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(pairs);
    map
}

/// Some things again, those first for which something holds, each of both kinds where it stood among its like.
pub fn first<T>(of: Vec<T>, is_first: impl FnMut(&T) -> bool) -> Vec<T> {
    let (mut first, rest): (Vec<T>, Vec<T>) = of.into_iter().partition(is_first);
    first.extend(rest);
    first
}

/// Puts things in the order of their keys; what has one key stays in its order. Sorting is compiled once for all kinds of
/// things: it takes 6 KB.
pub fn sort_by_key<T, K: Ord>(of: &mut Vec<T>, mut key: impl FnMut(&T) -> K) {
    let mut places: Vec<usize> = (0..of.len()).collect();
    let keys: Vec<K> = of.iter().map(&mut key).collect();
    sort_places(&mut places, &mut |one, other| keys[one].cmp(&keys[other]));
    let mut left: Vec<Option<T>> = std::mem::take(of).into_iter().map(Some).collect();
    of.extend(places.into_iter().filter_map(|place| left[place].take()));
}

fn sort_places(places: &mut [usize], order: &mut dyn FnMut(usize, usize) -> Ordering) {
    places.sort_by(|one, other| order(*one, *other));
}

/// Things in groups of one key each, in the order in which the keys come first.
pub fn grouped<K: PartialEq, T>(pairs: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, one) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, of_key)) => of_key.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    groups
}

/// A text that the build script deflated.
pub fn inflated(packed: &[u8]) -> String {
    let bytes = miniz_oxide::inflate::decompress_to_vec(packed).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// Some things in their order, each once.
pub fn distinct<T: Ord>(of: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut each: Vec<T> = of.into_iter().collect();
    each.sort_unstable();
    each.dedup();
    each
}
