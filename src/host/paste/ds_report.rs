//! DeepSpeed's `ds_report`: keys, dots, values.
//!
//! Seen in <https://github.com/deepspeedai/DeepSpeed/pull/6762>.

use super::lines::told;
use super::seen::{Seen, fill, version};

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    if !lines.iter().any(|line| line.contains("DeepSpeed general environment info")) {
        return false;
    }
    for line in lines {
        let Some((key, value)) = dotted(line) else { continue };
        let value = told(value);
        match key {
            "torch version" => fill(&mut seen.torch().version, value.map(str::to_string)),
            "torch cuda version" => fill(&mut seen.torch().cuda, value.and_then(version)),
            "nvcc version" => seen.nvcc(value.and_then(version)),
            "deepspeed info" => {
                let number = value.and_then(|value| value.split([',', '+']).next());
                number.into_iter().for_each(|number| seen.package("deepspeed", number));
            }
            "shared memory (/dev/shm) size" => fill(&mut seen.record.platform.shm, value.and_then(gibibytes)),
            _ => {}
        }
    }
    true
}

/// `nvcc version ..................... 12.0`
fn dotted(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.trim().split_once(" ..")?;
    Some((key.trim(), rest.trim_start_matches('.').trim()))
}

/// A size in bytes, from DeepSpeed's `125.77 GB`, which are powers of two.
fn gibibytes(text: &str) -> Option<u64> {
    let number: f64 = text.strip_suffix("GB")?.trim().parse().ok()?;
    ((0.0..1e6).contains(&number)).then_some((number * f64::from(1 << 30)) as u64)
}
