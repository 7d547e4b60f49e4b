//! The kernels that were run: whether machine code of the locked architectures loads and computes right on each GPU,
//! and whether the driver compiles PTX.

use crate::coverage::{Coverage, covers, sass_runs};
use crate::host::{Kernel, Outcome};
use crate::lock::GpuLock;
use crate::types::{Arch, distinct};

use super::check::{Action, Check};
use super::compilers::is_uncompiled;
use super::context::CheckContext;
use super::cuda_errors;
use super::seen::Seen;

/// Everything that is to be said of them.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    if !context.needs_gpu() || context.is_bare() {
        return Vec::new();
    }
    let mut checks = Vec::new();
    for gpu in context.gpus() {
        let Some(device) = gpu.cuda else { continue };
        // What was never compiled says nothing of a GPU.
        let runs = |kernel: &&Kernel| kernel.device == device.ordinal && !is_uncompiled(kernel);
        let (ptx, sass): (Vec<&Kernel>, Vec<&Kernel>) =
            context.record.kernels.iter().filter(runs).partition(|kernel| kernel.code.starts_with("compute_"));
        // Where no process is admitted beside others, gpu-compute-mode tells.
        let is_closed =
            context.gpus().len() > 1 && gpu.nvml.is_some_and(|nvml| nvml.compute_mode.as_deref() == Some("prohibited"));
        let is_left_out = context.is_beside(gpu) || is_closed && sass.is_empty() && ptx.is_empty();
        if !is_left_out {
            checks.push(native(context, gpu, &sass));
            checks.push(compiled(context, gpu, &ptx));
        }
        checks.extend(results(gpu, &[sass, ptx].concat()));
    }
    if checks.is_empty() {
        checks.push(context.untold(Check::new("kernel-native").expected("kernels that compute right"), "kernels"));
    }
    checks
}

/// Whether the GPU is to run PTX because nothing else in the lock reaches it.
fn is_jit(context: &CheckContext<'_>, gpu: &Seen<'_>) -> bool {
    let locked = gpu.product.or_else(|| {
        let same = |locked: &&GpuLock| gpu.cc.is_some_and(|cc| locked.compute_capability == cc.to_string());
        context.target.gpu.iter().find(same)
    });
    locked.is_some_and(GpuLock::compiles_ptx)
}

/// Whether what is compiled on top reaches the GPU by PTX only, whatever the frameworks hold.
fn is_built_as_ptx(context: &CheckContext<'_>, gpu: &Seen<'_>) -> bool {
    let reached = |list| gpu.cc.is_some_and(|cc| covers(&list, cc, context.tegra()) == Coverage::Jit);
    context.target.toolkit.is_some() && context.arch_list().is_some_and(reached)
}

/// The locked machine code that this GPU loads.
fn locked_sass(context: &CheckContext<'_>, gpu: &Seen<'_>) -> Vec<Arch> {
    let list = context.arch_list();
    let sass = list.iter().flat_map(|list| list.sass());
    sass.filter(|&code| gpu.cc.is_some_and(|cc| sass_runs(code, cc, context.tegra()))).collect()
}

/// Machine code. A wrong result is told by a check of its own: the code loaded and ran.
fn native(context: &CheckContext<'_>, gpu: &Seen<'_>, sass: &[&Kernel]) -> Check {
    let wanted = locked_sass(context, gpu);
    let names: Vec<String> = wanted.iter().map(|arch| format!("sm_{}", arch.code())).collect();
    let check = Check::new("kernel-native").of(&gpu.label);
    let check = check.expected(if names.is_empty() {
        "machine code that runs".to_string()
    } else {
        format!("{} runs", names.join(", "))
    });
    if is_jit(context, gpu) {
        return check.skip("the lock holds no machine code for this GPU");
    }
    if let Some(kernel) = sass
        .iter()
        .find(|kernel| kernel.outcome == Outcome::Failed && (names.is_empty() || names.contains(&kernel.code)))
    {
        return failed(context, gpu, check, kernel);
    }
    if sass.is_empty() {
        return context.untold(check, "kernels");
    }
    let mut ran: Vec<&str> =
        sass.iter().filter(|kernel| kernel.outcome != Outcome::Failed).map(|kernel| kernel.code.as_str()).collect();
    ran.dedup();
    if ran.is_empty() {
        return failed(context, gpu, check, sass[0]);
    }
    let check = check.found(format!("{} ran", ran.join(", "))).evidence(compilers(sass));
    match names.is_empty() || names.iter().any(|name| ran.contains(&name.as_str())) {
        true => check.pass(),
        false => check.warn(
            Action::None,
            format!(
                "the locked architecture itself was not tried; other machine code of this GPU's generation ran: {}",
                match context.is_pasted() {
                    true => "run `gpuenv verify` on the machine itself",
                    false => "with the NVRTC or nvcc of the locked CUDA it would be compiled here, and run",
                }
            ),
        ),
    }
}

/// PTX. It decides only where the lock reaches a GPU by nothing else.
fn compiled(context: &CheckContext<'_>, gpu: &Seen<'_>, ptx: &[&Kernel]) -> Check {
    let check = Check::new("kernel-jit").of(&gpu.label).expected("PTX that the driver compiles");
    let decides = is_jit(context, gpu) || is_built_as_ptx(context, gpu);
    let Some(bad) = ptx.iter().find(|kernel| kernel.outcome == Outcome::Failed) else {
        return match ptx.first() {
            Some(kernel) => check.found(format!("{} ran", told(kernel))).evidence(compilers(ptx)).pass(),
            None if decides && context.was_made("kernels") => {
                check.unknown(Action::None, "the lock reaches this GPU by PTX alone, and none was run")
            }
            None => context.untold(check, "kernels").ends_as_skip_unless(decides),
        };
    };
    let check = failed(context, gpu, check, bad);
    if decides {
        return check;
    }
    let hint = check.hint.clone().unwrap_or_default();
    check.warn(Action::None, format!("the lock does not need PTX on this GPU; {hint}"))
}

/// Right code that computes wrong is a fault of the hardware.
fn results(gpu: &Seen<'_>, kernels: &[&Kernel]) -> Option<Check> {
    let check = Check::new("kernel-result").of(&gpu.label).expected("the host's own results");
    if let Some(kernel) = kernels.iter().find(|kernel| kernel.outcome == Outcome::Wrong) {
        let detail = kernel
            .fault
            .as_ref()
            .and_then(|fault| fault.message.clone())
            .map_or(String::new(), |what| format!(": {what}"));
        return Some(
            check
                .found(format!("{} of {} computed wrong{detail}", kernel.program, kernel.code))
                .fail(Action::Drain, "the GPU computes wrong: take it out of service at once and have it checked"),
        );
    }
    let right = kernels.iter().filter(|kernel| kernel.outcome == Outcome::Right).count();
    (right > 0).then(|| check.found(format!("{right} kernels right")).pass())
}

/// CUDA_ERROR_NO_BINARY_FOR_GPU. Of what this program brings only code for the GPU at hand is run.
const NO_BINARY: i64 = 209;

fn failed(context: &CheckContext<'_>, gpu: &Seen<'_>, check: Check, kernel: &Kernel) -> Check {
    let what = format!("{} of {}", kernel.program, told(kernel));
    match &kernel.fault {
        Some(fault) => {
            let ended = match fault.code {
                Some(NO_BINARY) if kernel.compiler == "built-in" => check.found(cuda_errors::told(fault)).fail(
                    Action::AskAdmin,
                    "code of this GPU's own architecture is refused as another's: install the driver's libraries again, \
                     all of one release",
                ),
                _ => cuda_errors::on_gpu(context, check, gpu, fault),
            };
            Check { evidence: Some(format!("{what}, compiled by {}", kernel.compiler)), ..ended }
        }
        None => check
            .found(format!("{what} failed"))
            .fail(Action::AskAdmin, "a kernel that is right elsewhere does not run here: look into `dmesg`"),
    }
}

/// `compute_75 (PTX 7.0)`
fn told(kernel: &Kernel) -> String {
    match &kernel.ptx_isa {
        Some(isa) => format!("{} (PTX {isa})", kernel.code),
        None => kernel.code.clone(),
    }
}

fn compilers(kernels: &[&Kernel]) -> Option<String> {
    let compilers = distinct(kernels.iter().map(|kernel| kernel.compiler.as_str()));
    (!compilers.is_empty()).then(|| format!("compiled by {}", compilers.join(", ")))
}

impl Check {
    /// Silence about what decides nothing is no question that is left open.
    fn ends_as_skip_unless(self, decides: bool) -> Check {
        if decides { self } else { self.skip("no PTX was run; the lock does not need it on this GPU") }
    }
}
