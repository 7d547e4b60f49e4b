//! Reading what people paste into bug reports: one file a format, and as many formats in one text as there are.
//!
//! A reader recognises its format by its own landmarks and writes down what is told, no more: what a text does not
//! say stays absent, and names are kept as they were written, those that nvidia-smi has cut off included. Where two
//! blocks disagree the first one counts, and the record says so.

mod collect_env;
mod container_cli;
mod device_query;
mod devices;
mod ds_report;
mod environment;
mod frameworks;
mod kernel_module;
mod labels;
mod lines;
mod nvcc;
mod packages;
mod python;
mod seen;
mod smi_csv;
mod smi_fact;
mod smi_failure;
mod smi_list;
mod smi_log;
mod smi_table;
mod smi_xml;
mod system;
mod tegra;
mod together;
mod unread;

#[cfg(test)]
mod tests;

pub use smi_table::is_driver_of_windows;
pub use together::not_one_host;

use super::record::Record;

use seen::Seen;

/// A reader: it looks for its format in a text's lines and says whether it was there.
type Reader = fn(lines: &[&str], seen: &mut Seen) -> bool;

/// Every format by the command or file that prints it. Where several tell the same, the earlier one counts.
const FORMATS: &[(&str, Reader)] = &[
    ("/etc/nv_tegra_release", tegra::read),
    ("jetson_release", tegra::jetson_release),
    ("collect_env", collect_env::read),
    ("nvidia-smi", smi_table::read),
    ("nvidia-smi --version", smi_table::versions),
    ("nvidia-smi -q", smi_log::read),
    ("nvidia-smi -q -x", smi_xml::read),
    ("nvidia-smi -L", smi_list::read),
    ("nvidia-smi --query-gpu", smi_csv::read),
    ("nvidia-smi's refusal", smi_failure::read),
    ("/proc/driver/nvidia/version", kernel_module::read),
    ("nvidia-container-cli info", container_cli::read),
    ("deviceQuery", device_query::read),
    ("ds_report", ds_report::read),
    ("detectron2's collect_env", frameworks::detectron),
    ("mmengine's collect_env", frameworks::mmengine),
    ("sglang.check_env", frameworks::sglang),
    ("transformers-cli env", frameworks::transformers),
    ("llamafactory-cli env", frameworks::llamafactory),
    ("xformers.info", frameworks::xformers),
    ("ComfyUI's report", frameworks::comfyui),
    ("labels of GPU feature discovery", labels::read),
    ("nvcc --version", nvcc::read),
    ("pip list", packages::read),
    ("Python's answers", python::read),
    ("jetson_release's module", tegra::module),
    ("uname, /etc/os-release", system::read),
];

/// No text that describes a host has more lines: a log with all that sixteen GPUs tell has a hundredth of them.
const MAX_LINES: usize = 200_000;

/// Why a text describes no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unrecognised {
    /// No reader knows it.
    #[error("this text describes no host; gpuenv reads the outputs of {}", known())]
    Unknown,
    /// It has more lines than anybody's.
    #[error("this text has more than {MAX_LINES} lines, the most that are read")]
    TooLong,
    /// A reader knows what it is, and it tells nothing.
    #[error("this is the output of {0}, but nothing could be read out of it")]
    Empty(&'static str),
}

fn known() -> String {
    // What fails to start and what stands beside others is nothing to ask for.
    let names = FORMATS.iter().map(|(name, _)| *name).filter(|name| !name.contains(['\'', ',']));
    names.collect::<Vec<_>>().join(", ")
}

/// The host that a text describes, as far as it goes.
pub fn read(text: &str) -> Result<Record, Unrecognised> {
    if text.bytes().filter(|byte| matches!(byte, b'\n' | b'\r')).count() > MAX_LINES {
        return Err(Unrecognised::TooLong);
    }
    let text = lines::clean(text);
    let text = collect_env::unfolded(&text);
    let lines: Vec<&str> = text.lines().collect();
    let mut seen = Seen::default();
    for (name, reader) in FORMATS {
        if reader(&lines, &mut seen) {
            seen.recognised(name);
        }
    }
    let Some(first) = seen.first() else { return Err(Unrecognised::Unknown) };
    environment::read(&lines, &mut seen);
    devices::note(&lines, &mut seen);
    unread::note(&lines, &mut seen);
    let record = seen.finish();
    let blank =
        Record { format: record.format, origin: record.origin, probes: record.probes.clone(), ..Record::default() };
    if record == blank { Err(Unrecognised::Empty(first)) } else { Ok(record) }
}
