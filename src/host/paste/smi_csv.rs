//! `nvidia-smi --query-gpu=… --format=csv`: a line of fields, then a line for each GPU.
//!
//! Seen in <https://github.com/huggingface/candle/issues/733>, <https://github.com/ggml-org/llama.cpp/pull/22519>,
//! <https://github.com/scaleway/docs-content/pull/2077>.

use super::super::record::ApiError;
use super::lines::told;
use super::seen::{Seen, compute_mode, fill, mebibytes, version};
use super::smi_failure::of_gpu;
use super::smi_table::address;
use crate::types::Cc;

/// The fields that tell a GPU's line from any other table with commas.
const TELLING: [&str; 5] = ["driver_version", "compute_cap", "memory.total [MiB]", "mig.mode.current", "gpu_uuid"];

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let mut fields: Vec<&str> = Vec::new();
    let (mut row, mut found) = (0, false);
    for line in lines {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.iter().any(|cell| TELLING.contains(cell)) && cells.iter().all(|cell| is_field(cell)) {
            (fields, row) = (cells, 0);
        } else if !fields.is_empty() && cells.len() == fields.len() && !line.trim().is_empty() {
            let index = fields.iter().zip(&cells).find(|(field, _)| **field == "index");
            let index = index.and_then(|(_, cell)| cell.parse().ok()).unwrap_or(row);
            for (field, cell) in fields.iter().zip(&cells) {
                found |= entry(index, field, cell, seen);
            }
            row += 1;
        } else {
            fields.clear();
            if without_header(&cells, row, seen) {
                (found, row) = (true, row + 1);
            }
        }
    }
    found
}

/// The makers' words that begin the names of products.
const PRODUCTS: &[&str] = &["NVIDIA ", "Tesla ", "Quadro ", "GeForce ", "GRID ", "TITAN "];

/// A GPU's line with `noheader`: a product's name and a driver's release or a capability tell what it is.
fn without_header(cells: &[&str], row: u64, seen: &mut Seen) -> bool {
    let numbers = |cell: &&&str| cell.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_driver =
        |cell: &&&str| numbers(cell) && version(cell).is_some_and(|it| it.len() > 1 && it.major() >= OLDEST);
    let is_capability = |cell: &&&str| numbers(cell) && cell.len() <= 4 && cell.matches('.').count() == 1;
    let name = cells.iter().find(|cell| PRODUCTS.iter().any(|maker| cell.starts_with(maker)));
    let driver = cells.iter().find(is_driver);
    let capability = cells.iter().find(|cell| is_capability(cell) && !is_driver(cell));
    let (Some(name), true) = (name, driver.is_some() || capability.is_some()) else { return false };
    let index = cells.iter().find_map(|cell| cell.parse().ok()).unwrap_or(row);
    seen.name(index, name);
    driver.and_then(|driver| version(driver)).into_iter().for_each(|driver| seen.driver(driver));
    let Some(gpu) = seen.gpu(index) else { return true };
    fill(&mut gpu.compute_capability, capability.and_then(|cell| Cc::parse(cell).ok()));
    fill(&mut gpu.uuid, cells.iter().find(|cell| cell.starts_with("GPU-")).map(|cell| cell.to_string()));
    // Two sizes may be total and free in either order.
    let sizes: Vec<u64> = cells.iter().filter_map(|cell| mebibytes(cell)).collect();
    fill(&mut gpu.memory, sizes.first().copied().filter(|_| sizes.len() == 1));
    true
}

/// The oldest driver branch that has this query.
const OLDEST: u64 = 300;

/// `memory.total [MiB]`
fn is_field(cell: &str) -> bool {
    let name = cell.split_once(" [").map_or(cell, |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || b"._0123456789".contains(&byte))
}

/// A GPU that does not answer says so in every cell; an unknown error in one of them may be a broken fan's.
fn lost(cell: &str) -> Option<ApiError> {
    let words = cell.strip_prefix('[')?.strip_suffix(']')?;
    of_gpu(words).filter(|fault| matches!(fault.code, Some(15 | 16)))
}

/// One cell; whether it was understood.
fn entry(index: u64, field: &str, cell: &str, seen: &mut Seen) -> bool {
    if let (Some(fault), Some(gpu)) = (lost(cell), seen.gpu(index)) {
        fill(&mut gpu.fault, Some(fault));
        return true;
    }
    let Some(value) = told(cell) else { return false };
    if field == "driver_version" {
        let driver = version(value);
        return driver.map(|driver| seen.driver(driver)).is_some();
    }
    if field == "name" || field == "gpu_name" {
        seen.name(index, value);
        return true;
    }
    let Some(gpu) = seen.gpu(index) else { return false };
    match field {
        "uuid" | "gpu_uuid" => fill(&mut gpu.uuid, Some(value.to_string())),
        "pci.bus_id" | "gpu_bus_id" => fill(&mut gpu.pci, address(value)),
        "compute_cap" => fill(&mut gpu.compute_capability, Cc::parse(value).ok()),
        "memory.total [MiB]" => fill(&mut gpu.memory, mebibytes(value)),
        "memory.used [MiB]" => fill(&mut gpu.memory_used, mebibytes(value)),
        "compute_mode" => fill(&mut gpu.compute_mode, compute_mode(value)),
        "mig.mode.current" => fill(&mut gpu.mig, Some(value == "Enabled")),
        "persistence_mode" => fill(&mut gpu.persistence, Some(value == "Enabled")),
        _ => return false,
    }
    true
}
