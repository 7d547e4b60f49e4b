//! What nvidia-smi tells of a GPU. Its table, its log, XML and CSV each have their own word for a fact; what the fact's
//! value means, and that an error stands in its place, is one law for all of them.

use super::lines::told;
use super::seen::{Seen, address, compute_mode, fill, mebibytes};
use super::smi_failure::{is_of_gpu, of_gpu};
use crate::types::Cc;

/// A fact of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fact {
    Name,
    Brand,
    Uuid,
    Pci,
    Capability,
    Memory,
    MemoryUsed,
    ComputeMode,
    Persistence,
    Mig,
    /// `P0`
    Performance,
    Virtualization,
    Fabric,
    /// How the registration ended.
    FabricStatus,
    ResetRequired,
    ResetRecommended,
    Recovery,
    RemappingFailed,
    RemappingPending,
    Licence,
    /// `WDDM`: Windows' driver has one, on Windows and in the Linux inside, which has a persistence mode as well.
    DriverModel,
    /// What a sensor measures, and whatever else there is.
    Other,
}

impl Fact {
    /// Whether every GPU that works has it. A sensor, a fan or a counter may be broken on one that computes.
    fn is_always_known(self) -> bool {
        use Fact::*;
        matches!(
            self,
            Name | Brand
                | Uuid
                | Pci
                | Capability
                | Memory
                | MemoryUsed
                | ComputeMode
                | Persistence
                | Mig
                | Performance
        )
    }
}

impl Seen {
    /// Writes down a fact of a GPU; whether it was understood.
    pub fn tell(&mut self, index: u64, fact: Fact, value: &str) -> bool {
        let is_known = fact.is_always_known() && (fact != Fact::Mig || !self.has_newer_smi);
        let fault = of_gpu(value).filter(|fault| is_known || is_of_gpu(fault));
        if let (Some(fault), Some(gpu)) = (fault, self.gpu(index)) {
            fill(&mut gpu.fault, Some(fault));
            return true;
        }
        // `None` answers what a GPU needs and how it is virtual.
        let is_none_told = matches!(fact, Fact::Recovery | Fact::Virtualization);
        let Some(value) = told(value).or(is_none_told.then_some(value)) else { return false };
        if fact == Fact::Name {
            self.name(index, value);
            return true;
        }
        if fact == Fact::DriverModel {
            let model = driver_model(value);
            fill(&mut self.driver_model, model);
            return model.is_some();
        }
        self.has_persistence |= fact == Fact::Persistence && switch(value).is_some();
        let Some(gpu) = self.gpu(index) else { return false };
        match fact {
            Fact::Uuid => fill(&mut gpu.uuid, Some(value.to_string())),
            Fact::Pci => fill(&mut gpu.pci, address(value)),
            Fact::Capability => fill(&mut gpu.compute_capability, Cc::parse(value).ok()),
            Fact::Memory => fill(&mut gpu.memory, mebibytes(value)),
            Fact::MemoryUsed => fill(&mut gpu.memory_used, mebibytes(value)),
            Fact::ComputeMode => fill(&mut gpu.compute_mode, compute_mode(value)),
            Fact::Persistence => fill(&mut gpu.persistence, switch(value)),
            Fact::Mig => fill(&mut gpu.mig, switch(value)),
            Fact::Virtualization => fill(&mut gpu.virtualization, virtualization(value)),
            Fact::Fabric => fill(&mut gpu.fabric, fabric(value)),
            // It has come to its end, which was a failure.
            Fact::FabricStatus if value != "Success" && gpu.fabric.as_deref() == Some("completed") => {
                gpu.fabric = Some(format!("failed ({value})"));
            }
            Fact::ResetRequired if value == "Yes" => fill(&mut gpu.recovery, Some("reset".to_string())),
            Fact::ResetRecommended if value == "Yes" => fill(&mut gpu.recovery, Some("drain-and-reset".to_string())),
            Fact::Recovery => {
                // `Drain P2P`
                let action = value.to_lowercase().replace(' ', "-");
                fill(&mut gpu.recovery, Some(action).filter(|action| !["none", "n/a", "[n/a]"].contains(&&**action)));
            }
            Fact::RemappingFailed => fill(&mut gpu.remapping_failed, yes(value)),
            Fact::RemappingPending => fill(&mut gpu.remapping_pending, yes(value)),
            Fact::Licence => fill(&mut gpu.licence, licence(value)),
            _ => return false,
        }
        true
    }
}

/// How Windows drives a GPU.
pub(super) fn driver_model(value: &str) -> Option<&'static str> {
    ["WDDM", "TCC", "MCDM"].into_iter().find(|model| *model == value)
}

fn yes(value: &str) -> Option<bool> {
    match value {
        "Yes" => Some(true),
        "No" => Some(false),
        _ => None,
    }
}

/// `Licensed (Expiry: 2026-4-11 10:32:26 GMT)`, `Unlicensed (Unrestricted)`
fn licence(value: &str) -> Option<String> {
    let state = match value.split_once(" (").unwrap_or((value, "")) {
        ("Licensed", _) => "licensed",
        ("Unlicensed", "Restricted)") => "unlicensed-restricted",
        ("Unlicensed", _) => "unlicensed",
        _ => return None,
    };
    Some(state.to_string())
}

fn switch(value: &str) -> Option<bool> {
    // What changes at the next reset has an asterisk.
    match value.trim_end_matches('*') {
        "Enabled" | "On" => Some(true),
        "Disabled" | "Off" => Some(false),
        _ => None,
    }
}

fn virtualization(value: &str) -> Option<String> {
    let modes = [
        ("None", "none"),
        ("Pass-Through", "pass-through"),
        ("VGPU", "vgpu"),
        ("Host VGPU", "host-vgpu"),
        ("Host VSGA", "host-vsga"),
    ];
    modes.iter().find(|(written, _)| *written == value).map(|(_, mode)| mode.to_string())
}

fn fabric(value: &str) -> Option<String> {
    let states = [
        ("Not Supported", "not-supported"),
        ("Not Started", "not-started"),
        ("In Progress", "in-progress"),
        ("Completed", "completed"),
    ];
    states.iter().find(|(written, _)| *written == value).map(|(_, state)| state.to_string())
}
