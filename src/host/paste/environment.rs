//! Variables that change what a CUDA process sees or loads, from vLLM's collect_env or anybody's `env`.

use super::seen::Seen;
use super::system::without_user;

const VARIABLES: &[&str] = &[
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VERSION",
    "CUDA_FORCE_PTX_JIT",
    "CUDA_DISABLE_PTX_JIT",
    "CUDA_CACHE_DISABLE",
    "CUDA_CACHE_PATH",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_MPS_PIPE_DIRECTORY",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_REQUIRE_CUDA",
    "NVIDIA_DISABLE_REQUIRE",
    "NVIDIA_TF32_OVERRIDE",
    "TORCH_CUDA_ARCH_LIST",
];

/// `NAME=value` on a line of its own. This alone describes no host.
pub(super) fn read(lines: &[&str], seen: &mut Seen) {
    for line in lines {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, value)) = line.split_once('=') else { continue };
        if VARIABLES.contains(&name) {
            let value = without_user(value.trim().trim_matches(['"', '\'']));
            seen.record.environment.entry(name.to_string()).or_insert(value);
        }
    }
}
