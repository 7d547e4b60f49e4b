//! `nvidia-smi`'s table, by its header: the driver's release and CUDA version, renamed to KMD and CUDA UMD version in
//! newer ones, the GPUs and their MIG instances.
//!
//! Seen in <https://github.com/cBio/cbio-cluster/issues/38> (oldest), <https://github.com/rossumai/nvgpu/pull/15>,
//! <https://github.com/sgl-project/sglang/issues/27487> (KMD and UMD), <https://github.com/XuehaiPan/nvitop/pull/8>
//! (MIG), <https://github.com/microsoft/WSL/issues/9134> (Windows), <https://github.com/microsoft/WSL/issues/11277>
//! (WSL2: nvidia-smi's own version is not the driver's), <https://github.com/projectbluefin/finpilot/issues/160>
//! (names cut off), <https://github.com/OE4T/linux-tegra-5.10/issues/17> and
//! <https://github.com/ollama/ollama/issues/9503> (a Jetson, whose GPU is on no bus).

use super::super::record::System;
use super::lines::field;
use super::seen::{Seen, address, fill, mebibytes, version};
use super::smi_fact::{Fact, driver_model};
use crate::types::Version;

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let mut found = false;
    let (mut gpu, mut instances, mut processes) = (None, false, false);
    let mut before = "";
    for whole in lines {
        // What somebody put before each line of the table: `# `, `INFO: `, another bar.
        let line = whole.strip_prefix(before).or_else(|| whole.strip_prefix(before.trim_end())).unwrap_or(whole);
        if header(whole, seen) {
            (found, gpu, instances, processes) = (true, None, false, false);
            before = whole.find("NVIDIA-SMI").and_then(|at| whole[..at].rfind('|')).map_or("", |bar| &whole[..bar]);
        } else if line.contains("MIG devices:") {
            (gpu, instances) = (None, true);
        } else if instances && line.contains("No MIG devices found") {
            seen.no_more_instances();
        } else if line.contains("Processes:") {
            (gpu, instances, processes) = (None, false, true);
        } else if processes && line.trim_start().starts_with('|') {
            process(line, seen);
        } else if found && line.trim_start().starts_with('|') {
            let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
            match instances {
                true => instance(&cells, seen),
                false => gpu = row(&cells, gpu, seen),
            }
        } else if !line.trim_start().starts_with('+') {
            (gpu, instances, processes) = (None, false, false);
        }
    }
    found
}

/// `nvidia-smi --version`: lines of a key and a version, as in <https://github.com/chelsea0x3b/cudarc/issues/474>.
pub(super) fn versions(lines: &[&str], seen: &mut Seen) -> bool {
    let told = |keys: &[&str]| {
        let mut fields = lines.iter().filter_map(|line| field(line));
        fields.find_map(|(key, value)| version(value).filter(|_| keys.contains(&key)))
    };
    let Some(own) = told(&["NVIDIA-SMI version"]) else { return false };
    if let Some(driver) = told(&["KMD version", "DRIVER version"]) {
        by_windows(&driver, &own, seen);
        seen.driver(Some(driver));
    }
    let offered = lines.iter().filter_map(|line| field(line));
    let mut offered = offered.filter(|(key, _)| ["CUDA UMD version", "CUDA Version"].contains(key));
    offered.next().into_iter().for_each(|(_, cuda)| seen.offers(cuda));
    true
}

fn by_windows(driver: &Version, own: &Version, seen: &mut Seen) {
    if is_driver_of_windows(driver, own) {
        fill(&mut seen.record.platform.system, Some(System::Wsl));
    }
}

/// The line with the versions.
fn header(line: &str, seen: &mut Seen) -> bool {
    let words = |label: &str| line.split_once(label).map(|(_, rest)| rest.split('|').next().unwrap_or(rest).trim());
    let told = |label: &str| words(label).map(version);
    let after = |label: &str| told(label).flatten();
    // A Jetson's may not know it.
    let Some(driver) = told("Driver Version:").or_else(|| told("KMD Version:")) else { return false };
    if !line.contains("NVIDIA-SMI") {
        return false;
    }
    if let Some((driver, own)) = driver.zip(after("NVIDIA-SMI")) {
        by_windows(&driver, &own, seen);
        seen.has_newer_smi = own.major() > driver.major();
    }
    seen.driver(driver);
    let cuda = words("CUDA UMD Version:").or_else(|| words("CUDA Version:"));
    cuda.into_iter().for_each(|cuda| seen.offers(cuda));
    true
}

/// Whether a driver is Windows' one, seen from the Linux inside: nvidia-smi is a program of Linux there, and has that
/// system's number of the branch. Windows numbers a branch's releases by themselves, in two parts, from the branch's own
/// number on; branches are five apart. An nvidia-smi of another branch than the driver's is only a mixed installation.
pub fn is_driver_of_windows(driver: &Version, own: &Version) -> bool {
    let branch = |version: &Version| version.major() / 5;
    driver.len() == 2 && own.len() > 1 && driver > own && branch(driver) == branch(own)
}

/// One of a GPU's three rows, in three cells: index, name and persistence; memory and compute mode; MIG mode.
fn row(cells: &[&str], gpu: Option<u64>, seen: &mut Seen) -> Option<u64> {
    let [first, second, third] = cells else { return gpu };
    if let Some((index, rest)) = first.split_once(' ')
        && let Ok(index) = index.parse::<u64>()
        && (second.contains(':') || second.starts_with("N/A"))
    {
        return named(index, rest.trim(), second, seen);
    }
    let index = gpu?;
    // The third row holds nothing else.
    if first.is_empty() && second.is_empty() {
        seen.tell(index, Fact::Mig, third);
        return gpu;
    }
    // Fan, temperature, performance state: the first two are sensors.
    if let Some(state) = first.split_whitespace().nth(2) {
        seen.tell(index, Fact::Performance, state);
    }
    match second.split_once('/') {
        Some((used, total)) => {
            seen.tell(index, Fact::MemoryUsed, used.trim());
            seen.tell(index, Fact::Memory, total.trim());
        }
        None => drop(seen.tell(index, Fact::Memory, second)),
    }
    // `0%      Default`: the load stands before the mode.
    let mode = third.split_once(' ').map_or(*third, |(_, mode)| mode.trim());
    seen.tell(index, Fact::ComputeMode, mode);
    gpu
}

/// The first row: the last word before the bar is the persistence mode, or Windows' driver model.
fn named(index: u64, rest: &str, bus: &str, seen: &mut Seen) -> Option<u64> {
    seen.gpu(index)?;
    let (name, mode) = rest.rsplit_once(' ').unwrap_or((rest, ""));
    let is_mode = ["On", "Off", "N/A", "ERR!"].contains(&mode) || driver_model(mode).is_some();
    let (name, mode) = if is_mode { (name.trim_end(), mode) } else { (rest, "") };
    seen.tell(index, Fact::Name, name);
    let fact = if driver_model(mode).is_some() { Fact::DriverModel } else { Fact::Persistence };
    seen.tell(index, fact, mode);
    let place = seen.gpu(index)?;
    fill(&mut place.pci, bus.split_whitespace().next().and_then(address));
    Some(index)
}

/// `|    0   N/A  N/A    123456      C   python3      8990MiB |`: a process that computes. The server of MPS does so for others.
fn process(line: &str, seen: &mut Seen) {
    let words: Vec<&str> = line.trim().trim_matches('|').split_whitespace().collect();
    let gpu = words.first().and_then(|word| seen.listed(word.parse().ok()?));
    let computes = words.iter().any(|word| ["C", "C+G"].contains(word)) && !line.contains("nvidia-cuda-mps-server");
    if let Some(gpu) = gpu.filter(|_| computes) {
        *gpu.processes.get_or_insert(0) += 1;
    }
}

/// `|  1    3   0   0  |  14366MiB / 19968MiB | …`: GPU, its instances' numbers, memory.
fn instance(cells: &[&str], seen: &mut Seen) {
    let [first, second, ..] = cells else { return };
    let numbers: Option<Vec<u64>> = first.split_whitespace().map(|word| word.parse().ok()).collect();
    let Some([gpu, _, _, number]) = numbers.as_deref() else { return };
    if let Some((_, total)) = second.split_once('/')
        && let Some(place) = seen.instance(*gpu, *number)
    {
        fill(&mut place.memory, mebibytes(total));
    }
}
