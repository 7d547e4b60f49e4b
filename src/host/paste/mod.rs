//! Reading what people paste into bug reports: one file a format, and as many formats in one text as there are.
//!
//! A reader recognises its format by its own landmarks and writes down what is told, no more: what a text does not
//! say stays absent, and names are kept as they were written, those that nvidia-smi has cut off included. Where two
//! blocks disagree the first one counts, and the record says so.

mod collect_env;
mod device_query;
mod ds_report;
mod environment;
mod kernel_module;
mod lines;
mod nvcc;
mod packages;
mod seen;
mod smi_csv;
mod smi_failure;
mod smi_list;
mod smi_log;
mod smi_table;
mod system;

#[cfg(test)]
mod tests;

use super::record::Record;

use seen::Seen;

/// A reader: it looks for its format in a text's lines and says whether it was there.
type Reader = fn(lines: &[&str], seen: &mut Seen) -> bool;

/// Every format by the command or file that prints it. Where several tell the same, the earlier one counts.
const FORMATS: &[(&str, Reader)] = &[
    ("collect_env", collect_env::read),
    ("nvidia-smi", smi_table::read),
    ("nvidia-smi -q", smi_log::read),
    ("nvidia-smi -L", smi_list::read),
    ("nvidia-smi --query-gpu", smi_csv::read),
    ("nvidia-smi's refusal", smi_failure::read),
    ("/proc/driver/nvidia/version", kernel_module::read),
    ("deviceQuery", device_query::read),
    ("ds_report", ds_report::read),
    ("nvcc --version", nvcc::read),
    ("pip list", packages::read),
    ("uname, /etc/os-release", system::read),
];

/// Why a text describes no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no description of a host is in this text; known are the outputs of {}", known())]
pub struct Unrecognised;

fn known() -> String {
    // What fails to start and what stands beside others is nothing to ask for.
    let names = FORMATS.iter().map(|(name, _)| *name).filter(|name| !name.contains(['\'', ',']));
    names.collect::<Vec<_>>().join(", ")
}

/// The host that a text describes, as far as it goes.
pub fn read(text: &str) -> Result<Record, Unrecognised> {
    let text = lines::clean(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut seen = Seen::default();
    for (name, reader) in FORMATS {
        if reader(&lines, &mut seen) {
            seen.recognised(name);
        }
    }
    if !seen.is_any() {
        return Err(Unrecognised);
    }
    environment::read(&lines, &mut seen);
    Ok(seen.finish())
}
