//! `nvidia-container-cli info`: the driver, then a block of keys for each GPU.
//!
//! Seen in <https://github.com/NVIDIA/nvidia-docker/issues/904>.

use super::lines::{field, told};
use super::seen::{Seen, fill, version};
use crate::types::Cc;

pub(super) fn read(lines: &[&str], seen: &mut Seen) -> bool {
    let fields: Vec<(&str, &str)> = lines.iter().filter_map(|line| field(line)).collect();
    let of = |wanted: &str| fields.iter().find(|(key, _)| *key == wanted).and_then(|(_, value)| version(value));
    let (Some(driver), Some(_)) = (of("NVRM version"), of("CUDA version")) else { return false };
    seen.driver(Some(driver));
    let mut index = None;
    for (key, value) in fields {
        match (key, index) {
            ("CUDA version", _) => seen.offers(value),
            ("Device Index", _) => index = value.parse().ok(),
            ("Model", Some(index)) => told(value).into_iter().for_each(|name| seen.name(index, name)),
            ("Architecture", Some(index)) => {
                if let Some(gpu) = seen.gpu(index) {
                    fill(&mut gpu.compute_capability, Cc::parse(value).ok());
                }
            }
            _ => {}
        }
    }
    true
}
