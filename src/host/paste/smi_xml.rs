//! `nvidia-smi -q -x`: the same as `-q` in XML.
//!
//! Seen in <https://github.com/netdata/netdata/pull/2759> (oldest), <https://github.com/a0s/nvidia-smi-exporter/issues/1>,
//! <https://github.com/netdata/netdata/issues/15755>, <https://github.com/influxdata/telegraf/issues/12996>.

use super::seen::{Seen, address, fill, mebibytes, version};
use super::smi_fact::Fact;

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let Some(start) = lines.iter().position(|line| line.contains("<nvidia_smi_log>")) else { return false };
    let mut log = Log::default();
    for line in &lines[start..] {
        // Each piece begins with a tag: `product_name>NVIDIA H100 NVL`.
        for piece in line.split('<').skip(1) {
            log.piece(piece, seen);
        }
    }
    true
}

/// No element of a log lies deeper.
const DEEPEST: usize = 32;

/// Where the reading is.
#[derive(Default)]
struct Log {
    /// The elements that are open, without their attributes.
    open: Vec<String>,
    gpus: u64,
    instance: Option<u64>,
}

impl Log {
    fn piece(&mut self, piece: &str, seen: &mut Seen) {
        let Some((tag, text)) = piece.split_once('>') else { return };
        if tag.starts_with(['?', '!']) {
            return;
        }
        if let Some(name) = tag.strip_prefix('/') {
            if name == "mig_devices" && self.instance.is_none() {
                self.no_instances(seen);
            }
            if let Some(at) = self.open.iter().rposition(|open| open == name) {
                self.open.truncate(at);
            }
            return;
        }
        let name = tag.split_whitespace().next().unwrap_or(tag).trim_end_matches('/');
        if name == "gpu" {
            (self.gpus, self.instance) = (self.gpus + 1, None);
            let bus = tag.split('"').nth(1).and_then(address);
            if let Some(gpu) = seen.gpu(self.gpus - 1) {
                fill(&mut gpu.pci, bus);
            }
        }
        if name == "mig_device" {
            self.instance = Some(self.instance.map_or(0, |number| number + 1));
        }
        if !text.trim().is_empty() {
            self.entry(name, text.trim(), seen);
        }
        if !tag.ends_with('/') && self.open.len() < DEEPEST {
            self.open.push(name.to_string());
        }
    }

    /// The list of instances has come to its end and holds none.
    fn no_instances(&self, seen: &mut Seen) {
        let gpu = self.gpus.checked_sub(1).and_then(|index| seen.gpu(index));
        gpu.filter(|gpu| gpu.mig == Some(true)).into_iter().for_each(|gpu| fill(&mut gpu.instance_count, Some(0)));
    }

    fn entry(&self, name: &str, value: &str, seen: &mut Seen) {
        if self.gpus == 0 {
            match name {
                "driver_version" | "kmd_version" => seen.driver(version(value)),
                "attached_gpus" => fill(&mut seen.nvml().count, value.parse().ok()),
                "cuda_version" | "cuda_umd_version" => seen.offers(value),
                _ => {}
            }
            return;
        }
        let index = self.gpus - 1;
        let within = |element: &str| self.open.iter().any(|open| open == element);
        if let (Some(number), true) = (self.instance, within("mig_device")) {
            if let ("total", true, Some(instance)) = (name, within("fb_memory_usage"), seen.instance(index, number)) {
                fill(&mut instance.memory, mebibytes(value));
            }
            return;
        }
        seen.tell(index, self.fact(name), value);
    }

    /// What an element of a GPU is about.
    fn fact(&self, name: &str) -> Fact {
        let within = |element: &str| self.open.iter().any(|open| open == element);
        match name {
            "product_name" => Fact::Name,
            "product_brand" => Fact::Brand,
            "uuid" => Fact::Uuid,
            "compute_mode" => Fact::ComputeMode,
            "persistence_mode" => Fact::Persistence,
            "performance_state" | "pstate" => Fact::Performance,
            "current_dm" => Fact::DriverModel,
            "current_mig" => Fact::Mig,
            "total" if within("fb_memory_usage") => Fact::Memory,
            "used" if within("fb_memory_usage") => Fact::MemoryUsed,
            "state" if within("fabric") => Fact::Fabric,
            "status" if within("fabric") => Fact::FabricStatus,
            "reset_required" => Fact::ResetRequired,
            "drain_and_reset_recommended" => Fact::ResetRecommended,
            "gpu_recovery_action" => Fact::Recovery,
            "remapped_row_failure" => Fact::RemappingFailed,
            "remapped_row_pending" | "pending_blacklist" | "pending_retirement" => Fact::RemappingPending,
            "license_status" => Fact::Licence,
            _ => Fact::Other,
        }
    }
}
