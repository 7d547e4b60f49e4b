//! GPUs that NVML shows and CUDA does not, all of them: what their own state says of it.

use crate::host::Gpu;

use super::check::Action;
use super::context::CheckContext;
use super::environment;

/// A GPU by its number and name.
pub fn label(gpu: &Gpu) -> String {
    format!("{}: {}", gpu.index, gpu.name.as_deref().unwrap_or("GPU"))
}

/// Whether MIG is on and it is known that there is no instance: NVML lists all of them, a pasted text may list none
/// because nobody asked for them.
pub fn is_empty_mig(context: &CheckContext<'_>, gpu: &Gpu) -> bool {
    let is_known = gpu.instance_count == Some(0) || !context.is_pasted();
    gpu.mig == Some(true) && gpu.instances.is_empty() && is_known
}

/// GPUs that NVML shows where CUDA answers that there is none: they are there and were given, so that their own state is
/// what comes first. Who has to do what about it.
pub fn unshown(context: &CheckContext<'_>) -> Option<(Action, String)> {
    let libcuda = context.record.libcuda.as_ref()?;
    let answers = libcuda.fault.as_ref().is_none_or(|fault| fault.code == Some(NO_DEVICE));
    let hides = environment::hides_from_cuda(context).or_else(|| environment::hides_every_gpu(context));
    let shown = &context.record.nvml.as_ref()?.gpus;
    let is_asked = !context.is_pasted() || libcuda.fault.is_some();
    if !answers || !is_asked || hides.is_some() || !libcuda.devices.is_empty() || libcuda.stub == Some(true) {
        return None;
    }
    if context.unfinished("libcuda").is_some() {
        return None;
    }
    let closed = |gpu: &Gpu| match (is_empty_mig(context, gpu), gpu.compute_mode.as_deref()) {
        (true, _) => Some("MIG is on without instances: create instances (`nvidia-smi mig -cgi … -C`) or turn MIG off"),
        (_, Some("prohibited")) => {
            Some("the compute mode is prohibited, no process may compute: set it back with `nvidia-smi -c DEFAULT`")
        }
        _ => None,
    };
    let Some(open) = shown.iter().find(|gpu| closed(gpu).is_none()) else {
        return Some((Action::AskAdmin, closed(shown.first()?)?.to_string()));
    };
    let which = format!("NVML shows {} and CUDA shows no GPU", label(open));
    Some(match context.in_container() {
        true => (
            Action::RestartContainer,
            format!("{which}: start the container again with all device nodes, /dev/nvidia-uvm among them"),
        ),
        false => (
            Action::AskAdmin,
            format!("{which}: see whether its /dev/nvidia* and /dev/nvidia-uvm open, and look into `dmesg`"),
        ),
    })
}

/// CUDA_ERROR_NO_DEVICE
const NO_DEVICE: i64 = 100;
