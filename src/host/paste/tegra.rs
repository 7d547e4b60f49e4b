//! `/etc/nv_tegra_release`, which every Jetson has: its system, whatever distribution that is based on.
//!
//! Seen in <https://github.com/rt-net/JetsonNano_DT_SPI/issues/9>.

use super::super::record::System;
use super::super::tegra::release;

use super::seen::{Seen, fill};

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let Some((line, os)) = lines.iter().find_map(|line| Some((line, release(line)?))) else { return false };
    let platform = &mut seen.record.platform;
    fill(&mut platform.os, Some(os));
    fill(&mut platform.system, Some(System::Tegra));
    fill(&mut platform.arch, line.contains("EABI: aarch64").then(|| "aarch64".to_string()));
    true
}
