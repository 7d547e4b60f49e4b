//! What builds read: the variables that have them compile for the locked GPUs, be there none where they run.

use std::collections::BTreeSet;

use crate::lock::{GpuLock, Lock, TargetLock, Wheel};
use crate::types::Cc;

use super::{ExportError, quote, valid, wheels};

/// Variables, and who reads them.
pub type Told<'a> = (String, Vec<(&'a str, String)>);

/// The variables that tell builds to compile for the locked GPUs, be there none where they run.
pub fn read<'a>(lock: &Lock, target: &TargetLock, wheels: &[&'a Wheel]) -> Result<Vec<Told<'a>>, ExportError> {
    let mut all = Vec::new();
    if let Some(lists) = lock.arch_list_of(target) {
        let torch = valid::torch_arch_list(&lists.torch)?.to_string();
        let cmake = valid::cmake_arch_list(&lists.cmake)?.to_string();
        let lists = vec![("TORCH_CUDA_ARCH_LIST", torch), ("CUDAARCHS", cmake)];
        all.push(("Read by PyTorch's extension builder and by CMake.".to_string(), lists));
    }
    for switch in wheels::switches(wheels)? {
        let of = wheels.iter().filter(|wheel| wheel.switch.as_deref() == Some(switch));
        let packages: Vec<&str> = of.map(|wheel| valid::package(&wheel.package)).collect::<Result<_, _>>()?;
        let (variable, value) = valid::switch(switch)?;
        let packages = packages.join(", ");
        let note = match value {
            "TRUE" => format!("Without it the build of {packages} takes a finished wheel that does not run here."),
            _ => format!("Where no GPU is seen {packages} would be built without CUDA."),
        };
        all.push((note, vec![(variable, value.to_string())]));
    }
    for (package, archs) in wheels.iter().filter_map(|wheel| Some((&wheel.package, wheel.archs.as_ref()?))) {
        let (variable, taken) = valid::arch_variable(archs)?;
        if let Some(chosen) = within(&target.gpu, &taken) {
            all.push((format!("Read by the build of {}.", valid::package(package)?), vec![(variable, chosen)]));
        }
    }
    Ok(all)
}

/// The same of what is compiled beside what is installed, for whoever writes down no notes: names with values.
pub fn variables(lock: &Lock, target: &TargetLock, wheels: &[&Wheel]) -> Result<Vec<(String, String)>, ExportError> {
    let compiled: Vec<&Wheel> = wheels.iter().copied().filter(|wheel| wheel.unisolated.is_some()).collect();
    if compiled.is_empty() {
        return Ok(Vec::new());
    }
    let told = read(lock, target, &compiled)?.into_iter().flat_map(|(_, variables)| variables);
    Ok(told.map(|(name, value)| (name.to_string(), value)).collect())
}

/// In front of a command: `FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST=8.9`.
pub fn assigned(variables: &[(String, String)]) -> String {
    let words: Vec<String> =
        variables.iter().map(|(name, value)| format!("{name}={}", quote::sh_word(value))).collect();
    words.join(" ")
}

/// Those of the architectures that a build takes which the locked GPUs need: of each GPU's major the highest that is
/// not beyond it. None if a GPU needs another, or nothing is known of the GPUs: then the build compiles for all.
fn within(gpus: &[GpuLock], taken: &[u32]) -> Option<String> {
    let need = |gpu: &GpuLock| {
        let own = Cc::parse(&gpu.compute_capability).ok()?.number();
        taken.iter().copied().filter(|taken| taken / 10 == own / 10 && *taken <= own).max()
    };
    let needed: BTreeSet<u32> = gpus.iter().map(need).collect::<Option<_>>()?;
    let words: Vec<String> = needed.iter().map(ToString::to_string).collect();
    (!words.is_empty()).then(|| words.join(";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An 8.9 runs what is compiled for 8.9 and, where that is not among them, for the next below it of its major.
    #[test]
    fn of_each_major_the_highest_that_the_gpu_reaches() {
        let gpu = |cc: &str| GpuLock { name: cc.into(), compute_capability: cc.into(), coverage: None };
        let of = |ccs: &[&str], taken: &[u32]| within(&ccs.iter().map(|cc| gpu(cc)).collect::<Vec<_>>(), taken);
        assert_eq!(of(&["8.9"], &[80, 86, 89, 90]).as_deref(), Some("89"));
        assert_eq!(of(&["8.9", "9.0"], &[80, 86, 90]).as_deref(), Some("86;90"));
        assert_eq!(of(&["8.0", "7.5"], &[80, 90]), None);
        assert_eq!(of(&[], &[80, 90]), None);
    }
}
