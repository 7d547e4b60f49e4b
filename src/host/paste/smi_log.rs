//! `nvidia-smi -q`: keys and values under indented headings, GPU after GPU.
//!
//! Seen in <https://github.com/NVIDIA/nvidia-docker/issues/688> (oldest),
//! <https://github.com/MatthiasSchinzel/sysmon/issues/12>, <https://github.com/bigstack-oss/cubecos/issues/312>,
//! <https://github.com/NVIDIA/nvidia-container-toolkit/issues/271> (WSL2: the driver model is Windows' there too),
//! <https://github.com/PrismML-Eng/Bonsai-demo/pull/122> (KMD and CUDA UMD version).

use super::seen::{Seen, address, fill, mebibytes, version};
use super::smi_fact::Fact;

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    // Without its title it begins a few lines above the count of its GPUs.
    let untitled = || Some(lines.iter().position(|line| line.starts_with("Attached GPUs "))?.saturating_sub(4));
    let titled = lines.iter().position(|line| line.contains("NVSMI LOG"));
    let Some(start) = titled.or_else(untitled) else { return false };
    let mut log = Log::default();
    for line in &lines[start..] {
        log.line(line, seen);
    }
    true
}

/// Where the reading is.
#[derive(Default)]
struct Log {
    /// How many GPUs have begun, and the MIG instance of the last one, counted alike.
    gpus: u64,
    instance: Option<u64>,
    /// The headings above, each with its indentation.
    headings: Vec<(usize, String)>,
}

impl Log {
    fn line(&mut self, line: &str, seen: &mut Seen) {
        let text = line.trim();
        if text.is_empty() {
            return;
        }
        let indent = line.len() - line.trim_start().len();
        self.headings.retain(|(above, _)| *above < indent);
        let bus = text.strip_prefix("GPU ").filter(|_| indent == 0).and_then(address);
        if let Some(bus) = bus {
            (self.gpus, self.instance) = (self.gpus + 1, None);
            if let Some(gpu) = seen.gpu(self.gpus - 1) {
                fill(&mut gpu.pci, Some(bus));
            }
        } else if let Some((key, value)) = text.split_once(" :").or_else(|| text.split_once(':')) {
            self.entry(key.trim(), value.trim(), seen);
        } else {
            if text == "MIG Device" {
                self.instance = Some(self.instance.map_or(0, |number| number + 1));
            }
            self.headings.push((indent, text.to_string()));
        }
    }

    fn entry(&mut self, key: &str, value: &str, seen: &mut Seen) {
        if self.gpus == 0 {
            return about_host(key, value, seen);
        }
        let index = self.gpus - 1;
        let heading = self.headings.last().map_or("", |(_, heading)| heading.as_str());
        if self.headings.iter().any(|(_, heading)| heading == "MIG Device") {
            // One that tells nothing of its memory is one all the same.
            let place = self.instance.and_then(|number| seen.instance(index, number));
            let memory = mebibytes(value).filter(|_| heading == "FB Memory Usage" && key == "Total");
            return place.into_iter().for_each(|place| fill(&mut place.memory, memory));
        }
        if key.starts_with("MIG Device") && value == "None" {
            let gpu = seen.gpu(index).into_iter();
            return gpu.for_each(|gpu| fill(&mut gpu.instance_count, Some(0)));
        }
        seen.tell(index, fact(heading, key), value);
    }
}

/// What a line of a GPU is about. Licences and processes have a `Product Name` and a `Name` of their own.
fn fact(heading: &str, key: &str) -> Fact {
    match (heading, key) {
        ("", "Product Name") => Fact::Name,
        ("", "Product Brand") => Fact::Brand,
        ("", "GPU UUID") => Fact::Uuid,
        (_, "Persistence Mode") => Fact::Persistence,
        (_, "Performance State") => Fact::Performance,
        (_, "Compute Mode") => Fact::ComputeMode,
        ("MIG Mode", "Current") => Fact::Mig,
        ("Driver Model", "Current") => Fact::DriverModel,
        ("FB Memory Usage", "Total") => Fact::Memory,
        ("FB Memory Usage", "Used") => Fact::MemoryUsed,
        ("GPU Virtualization Mode", "Virtualization Mode" | "Virtualization mode") => Fact::Virtualization,
        ("Fabric", "State") => Fact::Fabric,
        ("Fabric", "Status") => Fact::FabricStatus,
        (_, "Reset Required") => Fact::ResetRequired,
        (_, "Drain and Reset Recommended") => Fact::ResetRecommended,
        (_, "GPU Recovery Action") => Fact::Recovery,
        (_, "Remapping Failure Occurred") => Fact::RemappingFailed,
        ("Remapped Rows", "Pending") | ("Retired Pages", "Pending Page Blacklist") => Fact::RemappingPending,
        (_, "License Status") => Fact::Licence,
        _ => Fact::Other,
    }
}

/// What stands before the first GPU.
fn about_host(key: &str, value: &str, seen: &mut Seen) {
    match key {
        "Driver Version" | "KMD Version" => seen.driver(version(value)),
        "CUDA Version" | "CUDA UMD Version" => seen.offers(value),
        "Attached GPUs" => fill(&mut seen.nvml().count, value.parse().ok()),
        _ => {}
    }
}
