//! `nvidia-smi --query-gpu=… --format=csv`: a line of fields, then a line for each GPU.
//!
//! Seen in <https://github.com/huggingface/candle/issues/733>, <https://github.com/ggml-org/llama.cpp/pull/22519>,
//! <https://github.com/scaleway/docs-content/pull/2077>.

use super::lines::told;
use super::seen::{Seen, compute_mode, fill, mebibytes, version};
use super::smi_table::address;
use crate::words::Cc;

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
        }
    }
    found
}

/// `memory.total [MiB]`
fn is_field(cell: &str) -> bool {
    let name = cell.split_once(" [").map_or(cell, |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || b"._0123456789".contains(&byte))
}

/// One cell; whether it was understood.
fn entry(index: u64, field: &str, cell: &str, seen: &mut Seen) -> bool {
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
