//! `nvidia-smi --query-gpu=… --format=csv`: a line of fields, then a line for each GPU.
//!
//! Seen in <https://github.com/huggingface/candle/issues/733>, <https://github.com/ggml-org/llama.cpp/pull/22519>,
//! <https://github.com/scaleway/docs-content/pull/2077>.

use super::super::record::ApiError;
use super::seen::{Seen, fill, mebibytes, version};
use super::smi_fact::{Fact, driver_model};
use super::smi_failure::{self, of_gpu};
use crate::types::Cc;

/// The fields that tell a GPU's line from any other table with commas.
const TELLING: [&str; 5] = ["driver_version", "compute_cap", "memory.total [MiB]", "mig.mode.current", "gpu_uuid"];

/// The fields of `nvidia-smi --help-query-gpu` of one word. A table with another, such as `node`, is somebody's own, whose
/// rows may be of many hosts.
const OF_ONE_WORD: [&str; 7] = ["count", "index", "name", "pstate", "serial", "timestamp", "uuid"];

fn is_of_others(field: &str) -> bool {
    !field.contains(['.', '_', ' ']) && !OF_ONE_WORD.contains(&field)
}

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    rows(lines, seen).1
}

/// The places of the lines that are a query's, and whether any told something.
pub(super) fn rows(lines: &[&str], seen: &mut Seen) -> (Vec<usize>, bool) {
    let mut fields: Vec<&str> = Vec::new();
    let (mut row, mut found, mut places) = (0, false, Vec::new());
    // The cells of a table that has other fields: which host a row of it is about is not known.
    let mut others = None;
    for (at, line) in lines.iter().enumerate() {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let is_query = cells.iter().any(|cell| TELLING.contains(cell)) && !cells.iter().any(|cell| is_of_others(cell));
        if is_query && cells.iter().all(|cell| is_field(&cell.to_ascii_lowercase())) {
            (fields, row, others) = (cells, 0, None);
            places.push(at);
        } else if !fields.is_empty() && cells.len() == fields.len() && !line.trim().is_empty() {
            let index = fields.iter().zip(&cells).find(|(field, _)| **field == "index");
            let index = index.and_then(|(_, cell)| cell.parse().ok()).unwrap_or(row);
            for (field, cell) in fields.iter().zip(&cells) {
                found |= entry(index, field, cell, seen);
            }
            row += 1;
            places.push(at);
        } else if cells.len() > 1 && cells.iter().all(|cell| is_field(cell) && !cell.starts_with(STARTS_NUMBER)) {
            fields.clear();
            others = Some(cells.len());
        } else {
            fields.clear();
            others = others.filter(|count| *count == cells.len());
            if others.is_none() && without_header(&cells, row, seen) {
                (found, row) = (true, row + 1);
                places.push(at);
            } else if !line.trim().is_empty() {
                // What stands between two rows parts two queries.
                row = 0;
            }
        }
    }
    (places, found)
}

/// What no field begins with.
const STARTS_NUMBER: fn(char) -> bool = |c| !c.is_ascii_lowercase();

/// The makers' words that begin the names of products.
const PRODUCTS: &[&str] = &["NVIDIA ", "Tesla ", "Quadro ", "GeForce ", "GRID ", "TITAN "];

/// A GPU's line with `noheader`: a product's name and a driver's release or a capability tell what it is.
fn without_header(cells: &[&str], row: u64, seen: &mut Seen) -> bool {
    let numbers = |cell: &&&str| cell.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_driver =
        |cell: &&&str| numbers(cell) && version(cell).is_some_and(|it| it.len() > 1 && it.major() >= OLDEST);
    let is_capability = |cell: &&&str| numbers(cell) && cell.len() <= 4 && cell.matches('.').count() == 1;
    let driver = cells.iter().find(is_driver);
    // Beside bare numbers, of which one is the GPU's, it may be what any sensor measures.
    let bare = cells.iter().filter(|cell| cell.parse::<u64>().is_ok()).count();
    let mut capabilities = cells.iter().filter(|cell| is_capability(cell) && !is_driver(cell));
    let capability = capabilities.next().filter(|_| bare < 2 && capabilities.next().is_none());
    let name = cells.iter().find(|cell| PRODUCTS.iter().any(|maker| cell.starts_with(maker)));
    let name = name.or_else(|| driver.and(capability).and_then(|_| only_name(cells)));
    // A GPU that does not answer tells neither of them.
    let fault = cells.iter().find_map(|cell| in_brackets(cell));
    let is_told = name.is_some() && (driver.is_some() || capability.is_some());
    let is_of_gpu = |cell: &&str| {
        [name, driver].contains(&Some(cell))
            || cell.parse::<u64>().is_ok()
            || cell.starts_with("GPU-")
            || in_brackets(cell).is_some()
    };
    let is_sick = fault.is_some() && cells.len() > 1 && cells.iter().all(is_of_gpu);
    if !is_told && !is_sick {
        return false;
    }
    let index = cells.iter().find_map(|cell| cell.parse().ok()).unwrap_or(row);
    name.into_iter().for_each(|name| seen.name(index, name));
    seen.driver(driver.and_then(|driver| version(driver)));
    fill(&mut seen.driver_model, cells.iter().find_map(|cell| driver_model(cell)));
    let Some(gpu) = seen.gpu(index) else { return true };
    // Which fields these are is not told: one that fails on a GPU that answers may be a broken fan's.
    fill(&mut gpu.fault, fault.filter(|fault| !is_told || smi_failure::is_of_gpu(fault)));
    fill(&mut gpu.compute_capability, capability.and_then(|cell| Cc::parse(cell).ok()));
    fill(&mut gpu.uuid, cells.iter().find(|cell| cell.starts_with("GPU-")).map(|cell| cell.to_string()));
    // Two sizes may be total and free in either order.
    let sizes: Vec<u64> = cells.iter().filter_map(|cell| mebibytes(cell)).collect();
    fill(&mut gpu.memory, sizes.first().copied().filter(|_| sizes.len() == 1));
    true
}

/// The one cell of words among those with numbers: the name of a board that has none of the usual ones. A host's has no
/// blank, and one that stands before a row a colon.
fn only_name<'c, 'l>(cells: &'c [&'l str]) -> Option<&'c &'l str> {
    let is_word = |cell: &&&str| {
        cell.starts_with(|c: char| c.is_ascii_alphabetic()) && !cell.starts_with("GPU-") && in_brackets(cell).is_none()
    };
    let mut words = cells.iter().filter(is_word);
    words.next().filter(|name| words.next().is_none() && name.contains(' ') && !name.contains(':'))
}

/// An error in the place of a value.
fn in_brackets(cell: &str) -> Option<ApiError> {
    of_gpu(cell).filter(|_| cell.starts_with('['))
}

/// The oldest driver branch that has this query.
const OLDEST: u64 = 300;

/// `memory.total [MiB]`
fn is_field(cell: &str) -> bool {
    let name = cell.split_once(" [").map_or(cell, |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || b"._0123456789".contains(&byte))
}

/// One cell; whether it was understood.
fn entry(index: u64, field: &str, cell: &str, seen: &mut Seen) -> bool {
    if field == "driver_version" && of_gpu(cell).is_none() {
        seen.driver(version(cell));
        return version(cell).is_some();
    }
    seen.tell(index, fact(field), cell)
}

/// What a field is about.
fn fact(field: &str) -> Fact {
    match field {
        "name" | "gpu_name" => Fact::Name,
        "uuid" | "gpu_uuid" => Fact::Uuid,
        "pci.bus_id" | "gpu_bus_id" => Fact::Pci,
        "compute_cap" => Fact::Capability,
        "memory.total [MiB]" => Fact::Memory,
        "memory.used [MiB]" => Fact::MemoryUsed,
        "compute_mode" => Fact::ComputeMode,
        "pstate" => Fact::Performance,
        "mig.mode.current" => Fact::Mig,
        "persistence_mode" => Fact::Persistence,
        "driver_model.current" => Fact::DriverModel,
        "reset_status.reset_required" => Fact::ResetRequired,
        "reset_status.drain_and_reset_recommended" => Fact::ResetRecommended,
        "gpu_recovery_action" => Fact::Recovery,
        "remapped_rows.failure" => Fact::RemappingFailed,
        "remapped_rows.pending" | "retired_pages.pending" => Fact::RemappingPending,
        "fabric.state" => Fact::Fabric,
        "fabric.status" => Fact::FabricStatus,
        _ => Fact::Other,
    }
}
