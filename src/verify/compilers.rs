//! The compilers that built the test kernels on the host: one that fails is a fault of its own, never a GPU's.

use crate::host::{ApiError, Kernel, Outcome};

use super::check::{Action, Check};
use super::context::{CheckContext, KILL, KILLED};
use super::{cuda_errors, libraries};

/// A compiler by the beginning of its name in a record, and the check that is about it.
const COMPILERS: &[(&str, &str)] = &[("nvrtc", "compile-nvrtc"), ("nvcc", "compile-nvcc")];

/// One check for each compiler that was tried.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    if !context.needs_gpu() || context.is_bare() {
        return Vec::new();
    }
    COMPILERS.iter().filter_map(|(name, id)| one(context, name, id)).collect()
}

/// Whether a kernel was never loaded, because its compiler failed.
pub fn is_uncompiled(kernel: &Kernel) -> bool {
    let by = |fault: &ApiError| COMPILERS.iter().any(|(name, _)| fault.at.starts_with(name));
    kernel.outcome == Outcome::Failed && kernel.fault.as_ref().is_some_and(by)
}

fn one(context: &CheckContext<'_>, name: &str, id: &'static str) -> Option<Check> {
    let of_it = |kernel: &&Kernel| kernel.compiler.starts_with(name);
    let kernels: Vec<&Kernel> = context.record.kernels.iter().filter(of_it).collect();
    let Some(first) = kernels.first() else { return silent(context, name, id) };
    let check = Check::new(id).expected("compiles the test kernels").evidence(Some(&*first.compiler));
    let Some(bad) = kernels.iter().find(|kernel| is_uncompiled(kernel)) else {
        return Some(check.found(&*first.compiler).pass());
    };
    let fault = bad.fault.as_ref()?;
    let check = check.evidence(Some(format!("{} to {}", bad.compiler, bad.code))).found(cuda_errors::told(fault));
    Some(match (fault.name.as_deref(), name) {
        (Some("ETIMEDOUT" | "ECANCELED"), _) => check.unknown(
            Action::FixEnvironment,
            format!("{name} did not end in time: see the disk it lies on, then verify again with a longer `--timeout`"),
        ),
        (Some(KILL), _) => check.unknown(Action::None, format!("{name} {KILLED}")),
        (Some(signal), _) if signal.starts_with("SIG") => {
            check.unknown(Action::FixEnvironment, format!("{name} crashed: install it again, all of one release"))
        }
        (Some("EPROTO"), _) => check.unknown(
            Action::FixEnvironment,
            format!("{name} ended without an answer: install it again, all of one release"),
        ),
        (_, "nvcc") => of_nvcc(context, check, fault),
        _ => of_nvrtc(check, fault),
    })
}

/// A compiler that is a library, and that did not answer when it was asked for its version: it was not tried.
fn silent(context: &CheckContext<'_>, name: &str, id: &'static str) -> Option<Check> {
    let is_loaded = libraries::loads(context);
    let library = context.record.libraries.iter().find(|library| library.name == name && is_loaded(library))?;
    let fault = library.fault.as_ref().filter(|fault| fault.name.as_deref() == Some("ETIMEDOUT"))?;
    let check = Check::new(id).expected("compiles the test kernels").evidence(library.path.clone());
    Some(check.found(cuda_errors::told(fault)).unknown(
        Action::FixEnvironment,
        format!("{name} did not answer: see the disk it lies on, or install it again, then verify again"),
    ))
}

/// By the numbers of nvrtc.h.
fn of_nvrtc(check: Check, fault: &ApiError) -> Check {
    let again = "install the locked release of NVRTC again";
    let hint = match fault.code {
        Some(1) => {
            return check.unknown(
                Action::None,
                "the host ran out of memory while NVRTC compiled: verify again when it is less busy",
            );
        }
        Some(2..=4 | 8..=10) => format!("NVRTC refuses a call that is right elsewhere: {again}"),
        Some(12 | 17) => {
            return check.unknown(
                Action::FixEnvironment,
                "NVRTC could not write a file: see TMPDIR and the room on its disk, then verify again",
            );
        }
        Some(16) => {
            return check.unknown(Action::None, "NVRTC was told to give up: verify again");
        }
        Some(5) => format!("this NVRTC does not know the architecture that the lock names: {again}"),
        Some(6) => format!("NVRTC does not compile a program that compiles elsewhere: {again}"),
        Some(7) => format!("NVRTC does not find libnvrtc-builtins of its own release: {again}, with all its files"),
        Some(_) => format!("NVRTC failed by itself: {again}"),
        None if fault.at.contains("dlopen") => format!("NVRTC cannot be loaded: {again}, with what it needs"),
        None => format!("this NVRTC is damaged or is another library: {again}"),
    };
    check.fail(Action::FixEnvironment, hint)
}

/// nvcc's words where the disk or the memory is at fault.
const NO_ROOM: &[&str] = &[
    "No space left",
    "Cannot allocate memory",
    "Could not open output file",
    "it has no place for its files",
    "no source could be written",
];

/// nvcc's words, the shell's and the host compiler's where a part of the toolkit is not there.
const PARTS: &[&str] = &[
    "cuda_runtime.h: No such file",
    "cicc: not found",
    "ptxas: not found",
    "cudafe++: not found",
    "fatbinary: not found",
    "libdevice",
];

/// By what nvcc says, as its exit status tells next to nothing.
fn of_nvcc(context: &CheckContext<'_>, check: Check, fault: &ApiError) -> Check {
    let words = fault.message.as_deref().unwrap_or_default();
    let says = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    // The compiler driver's sentence about a part of its own that was killed.
    if says(&["Killed signal terminated program", "died due to signal 9"]) {
        return check.unknown(Action::None, format!("a program that nvcc calls {KILLED}"));
    }
    if says(NO_ROOM) {
        let hint = "nvcc found no room for its files or no memory: see TMPDIR and the free memory, then verify again";
        return check.unknown(Action::FixEnvironment, hint);
    }
    if says(&["died due to signal"]) {
        let hint = "a program that nvcc calls crashed: install the locked toolkit again, then verify again";
        return check.unknown(Action::FixEnvironment, hint);
    }
    let hint = if says(PARTS) {
        "this toolkit lacks a part of its own: install the locked one whole, headers and libdevice included"
    } else if says(&["unsupported GNU version", "unsupported clang version"]) {
        "nvcc does not accept this host compiler: point NVCC_CCBIN to one that it accepts"
    } else if says(&["Failed to preprocess host compiler", "cc1plus", "g++: ", "gcc: ", "host compiler"]) {
        "nvcc finds no host compiler that works: install g++, or point NVCC_CCBIN to one"
    } else if says(&["is not defined for option", "Unsupported gpu architecture"]) {
        "this nvcc does not know the architecture that the lock names: install the locked toolkit"
    } else if let Some(remedy) = context.remedy(words) {
        return check.fail(Action::FixEnvironment, remedy);
    } else {
        "nvcc does not compile a program that compiles elsewhere: install the locked toolkit again"
    };
    check.fail(Action::FixEnvironment, hint)
}
