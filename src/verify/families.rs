//! GPUs in few words: those of one family by its name.

use crate::lock::GpuLock;
use crate::types::grouped;

/// More products of one family than this are told by the family.
const NAMED: usize = 3;

/// The GPUs that a lock names, family by family.
pub(super) fn in_words(gpus: &[GpuLock]) -> String {
    let each = gpus.iter().map(|gpu| {
        // Up to the first word with a number in it: `NVIDIA A100` of `NVIDIA A100-SXM4-80GB`.
        let number = gpu.name.find(|c: char| c.is_ascii_digit()).unwrap_or(gpu.name.len());
        let end = gpu.name[number..].find([' ', '-']).map_or(gpu.name.len(), |end| number + end);
        (format!("{} {}", &gpu.name[..end], gpu.compute_capability), gpu.clone())
    });
    let families = grouped(each);
    match families.is_empty() {
        true => of_family(gpus),
        false => families.iter().map(|(_, members)| of_family(members)).collect::<Vec<_>>().join(" or "),
    }
}

/// `any Tesla V100 (7.0)` for the products of a family; few are named.
fn of_family(gpus: &[GpuLock]) -> String {
    let names: Vec<&str> = gpus.iter().map(|gpu| gpu.name.as_str()).collect();
    let [first, others @ ..] = &names[..] else { return "a GPU".to_string() };
    let is_of = |family: &&str, name: &str| {
        name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '-']))
    };
    let mut starts = first.match_indices([' ', '-']).map(|(at, _)| &first[..at]).chain([*first]);
    let family = starts.rfind(|family| others.iter().all(|name| is_of(family, name)));
    let is_alike = gpus.iter().all(|gpu| gpu.compute_capability == gpus[0].compute_capability) && names.len() > NAMED;
    match family.filter(|family| is_alike && family.contains(|c: char| c.is_ascii_digit())) {
        Some(family) => format!("any {family} ({})", gpus[0].compute_capability),
        None => names.join(" or "),
    }
}

#[cfg(test)]
mod tests;
