//! `/etc/nv_tegra_release`, which every Jetson has: its system, whatever distribution that is based on; and what
//! `jetson_release` of jetson-stats prints of it.
//!
//! Seen in <https://github.com/rt-net/JetsonNano_DT_SPI/issues/9>, <https://github.com/rbonghi/jetson_stats/issues/603>.

use super::super::record::{Library, System, Toolkit};
use super::super::tegra::{release, spelled};

use super::seen::{Seen, fill, version};
use crate::types::Cc;

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let Some((line, os)) = lines.iter().find_map(|line| Some((line, release(line)?))) else { return false };
    let platform = &mut seen.record.platform;
    fill(&mut platform.os, Some(os));
    fill(&mut platform.system, Some(System::Tegra));
    fill(&mut platform.arch, line.contains("EABI: aarch64").then(|| "aarch64".to_string()));
    true
}

/// `Model: … - Jetpack 6.2 [L4T 36.4.3]`, or `- L4T: 36.4.3` where it does not know the JetPack.
pub(super) fn jetson_release(lines: &[&str], seen: &mut Seen) -> bool {
    let l4t = |line: &&str| {
        let titled = || item(line).strip_prefix("L4T: ");
        spelled(
            line.split_once("[L4T ").and_then(|(_, rest)| rest.split_once(']')).map(|(l4t, _)| l4t).or_else(titled)?,
        )
    };
    let Some(os) = lines.iter().find_map(l4t).filter(|_| is_of_stats(lines)) else { return false };
    let platform = &mut seen.record.platform;
    fill(&mut platform.os, Some(os));
    fill(&mut platform.system, Some(System::Tegra));
    fill(&mut platform.arch, Some("aarch64".to_string()));
    true
}

/// The module and its GPU: `- Module: NVIDIA Jetson Orin NX (16GB ram)`, `- CUDA Arch BIN: 8.7`.
pub(super) fn module(lines: &[&str], seen: &mut Seen) -> bool {
    if !is_of_stats(lines) {
        return false;
    }
    for line in lines.iter().map(item) {
        let of = |key: &str| line.strip_prefix(key).and_then(version);
        if let Some(toolkit) = of("CUDA: ") {
            let toolkits = &mut seen.record.toolkits;
            toolkits.extend(toolkits.is_empty().then(|| Toolkit { version: Some(toolkit), ..Toolkit::default() }));
        } else if let Some(cudnn) = of("cuDNN: ") {
            let soname = format!("libcudnn.so.{}", cudnn.major());
            let cudnn = Library { name: "cudnn".into(), soname, version: Some(cudnn), ..Library::default() };
            seen.record.libraries.push(cudnn);
        }
        let Some(gpu) = seen.gpu(0) else { break };
        // Before 4.0 the first line names it.
        let module = line
            .strip_prefix("Module: NVIDIA ")
            .or_else(|| line.strip_prefix("NVIDIA ").filter(|_| line.starts_with("NVIDIA Jetson")));
        if let Some(module) = module {
            let name = module.split_once(" (").map_or(module, |(name, _)| name);
            fill(&mut gpu.name, Some(name.to_string()));
        } else if let Some(number) = CAPABILITY.iter().find_map(|key| line.strip_prefix(key)) {
            fill(&mut gpu.compute_capability, Cc::parse(number).ok());
        }
    }
    true
}

/// How its lines of the capability begin, the newest first.
const CAPABILITY: &[&str] = &["CUDA Arch BIN: ", "CUDA GPU architecture (ARCH_BIN): ", "CUDA GPU architecture "];

/// A line without the mark of a list.
fn item<'t>(line: &&'t str) -> &'t str {
    line.trim().trim_start_matches(['-', '*', ' '])
}

fn is_of_stats(lines: &[&str]) -> bool {
    let marks = ["Software part of jetson-stats", "jetson_stats.service", "JETSON RAW OUTPUT"];
    lines.iter().any(|line| marks.iter().any(|mark| line.contains(mark)))
}
