//! `/etc/nv_tegra_release`, which every Jetson has: its system, whatever distribution that is based on; and what
//! `jetson_release` of jetson-stats prints of it.
//!
//! Seen in <https://github.com/rt-net/JetsonNano_DT_SPI/issues/9>, <https://github.com/rbonghi/jetson_stats/issues/603>.

use super::super::record::System;
use super::super::tegra::{release, spelled};

use super::seen::{Seen, fill};
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
        let titled = || line.trim().trim_start_matches("- ").strip_prefix("L4T: ");
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
    for line in lines.iter().map(|line| line.trim().trim_start_matches("- ")) {
        let Some(gpu) = seen.gpu(0) else { break };
        if let Some(module) = line.strip_prefix("Module: NVIDIA ") {
            let name = module.split_once(" (").map_or(module, |(name, _)| name);
            fill(&mut gpu.name, Some(name.to_string()));
        } else if let Some(number) = line.strip_prefix("CUDA Arch BIN: ") {
            fill(&mut gpu.compute_capability, Cc::parse(number).ok());
        }
    }
    true
}

fn is_of_stats(lines: &[&str]) -> bool {
    lines.iter().any(|line| line.contains("Software part of jetson-stats"))
}
