//! `deviceQuery` of the CUDA samples: the devices as CUDA sees them.
//!
//! Seen in <https://github.com/pocl/pocl/pull/890>, <https://github.com/OE4T/meta-tegra/pull/2088>,
//! <https://github.com/anduril/jetpack-nixos/issues/328> (refused).

use super::super::record::{ApiError, CudaDevice};
use super::seen::{Seen, fill, version};
use crate::types::Cc;

/// No machine has more devices.
const MAX_DEVICES: usize = 256;

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    if !lines.iter().any(|line| line.contains("CUDA Device Query")) {
        return false;
    }
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim();
        if let Some(code) = line.strip_prefix("cudaGetDeviceCount returned ") {
            let message = lines.get(at + 1).and_then(|next| next.trim().strip_prefix("-> "));
            let fault = ApiError {
                at: "cudaGetDeviceCount".to_string(),
                code: code.trim().parse().ok(),
                name: None,
                message: message.map(str::to_string),
            };
            fill(&mut seen.libcuda().fault, Some(fault));
        } else if let Some((ordinal, name)) = begins(line) {
            let devices = &mut seen.libcuda().devices;
            if devices.len() < MAX_DEVICES && devices.iter().all(|known| known.ordinal != ordinal) {
                devices.push(CudaDevice { ordinal, name: Some(name.to_string()), ..CudaDevice::default() });
            }
        } else {
            entry(line, seen);
        }
    }
    true
}

/// `Device 0: "NVIDIA Tegra X1"`
fn begins(line: &str) -> Option<(u64, &str)> {
    let (ordinal, name) = line.strip_prefix("Device ")?.split_once(": \"")?;
    Some((ordinal.parse().ok()?, name.strip_suffix('"')?))
}

fn entry(line: &str, seen: &mut Seen) {
    if let Some(both) = line.strip_prefix("CUDA Driver Version / Runtime Version") {
        // The second is that of the program itself, which brings its runtime along.
        fill(&mut seen.libcuda().cuda, version(both.trim_start()));
        return;
    }
    let Some(device) = seen.libcuda().devices.last_mut() else { return };
    let after = |label: &str| line.strip_prefix(label).map(|rest| rest.trim_start_matches(':').trim());
    if let Some(cc) = after("CUDA Capability Major/Minor version number") {
        fill(&mut device.compute_capability, Cc::parse(cc).ok());
    } else if let Some(memory) = after("Total amount of global memory") {
        let bytes = memory.split_once('(').and_then(|(_, rest)| rest.split_once(" bytes"));
        fill(&mut device.memory, bytes.and_then(|(bytes, _)| bytes.parse().ok()));
    } else if let Some(says) = after("Integrated GPU sharing Host Memory") {
        fill(&mut device.integrated, Some(says == "Yes"));
    }
}
