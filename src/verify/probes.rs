//! Probes that did not come to their end: what they would have seen is not known.

use crate::diagnose::TOOLS;
use crate::host::signs::{LISTED, NAMED, PASTE};
use crate::host::{Probe, ProbeStatus};

use super::check::{Action, Check, Status};
use super::context::CheckContext;
use super::kernels;

/// How what is found begins where a text tells of an error beside what it lists.
pub const ERROR: &str = "error in the text: ";

/// One check for each of them.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    let of_packages = |probe: &Probe| probe.name == LISTED || probe.name == NAMED;
    let untold = context.record.probes.iter().filter(|probe| !of_packages(probe) && !is_told(context, probe));
    let mut is_told = false;
    let ended = untold.filter_map(|probe| {
        if probe.name == PASTE && matches!(probe.ended, ProbeStatus::Done | ProbeStatus::Failed) {
            return of_text(context, probe, &mut is_told);
        }
        let (word, hint) = match probe.ended {
            ProbeStatus::Done | ProbeStatus::Absent | ProbeStatus::NotRun => return None,
            ProbeStatus::Crashed => {
                ("crashed", "the library it asked broke it off: see the evidence, and install that library again")
            }
            ProbeStatus::TimedOut => {
                ("timed out", "what it asked does not answer: look into `dmesg` and at the file system it lies on")
            }
            ProbeStatus::Garbled if context.is_pasted() => {
                ("names two hosts, or one before and after a change", "give the part that is meant")
            }
            ProbeStatus::Garbled => {
                ("answered what makes no sense", "what it asked is not what it pretends to be: install it again")
            }
            ProbeStatus::Refused => {
                ("was refused", "it was not safe to try: see the evidence, or verify as another user")
            }
            ProbeStatus::Failed => ("failed", "it could not do its work: see the evidence"),
        };
        let check = Check::new("probe").expected(format!("{} comes to its end", probe.name));
        let found = match (probe.ended, &probe.detail) {
            (ProbeStatus::Failed, Some(why)) => format!("{} {word}: {why}", probe.name),
            _ => format!("{} {word}", probe.name),
        };
        let check = check.found(found).evidence(probe.detail.clone());
        Some(match (context.needs_gpu(), decides(context, probe)) {
            (true, true) => check.unknown(Action::AskAdmin, hint),
            (true, false) => check.skip("the target needs nothing of what it looks at"),
            (false, _) => check.skip("the target computes on the CPU"),
        })
    });
    ended.collect()
}

/// What a message means that stands in a text: the first that the lock has to do with keeps it from passing.
fn of_text(context: &CheckContext<'_>, probe: &Probe, is_told: &mut bool) -> Option<Check> {
    let says = probe.detail.as_deref()?;
    let check = Check::new("probe").expected("no error in the text");
    if probe.ended == ProbeStatus::Done || is_of_others(context, says) {
        let check = check.found("a notice, or a fault of a program that is not locked");
        return context.needs_gpu().then(|| check.warn(Action::None, says));
    }
    let check = check.found(format!("{ERROR}{says}"));
    if !context.needs_gpu() {
        return Some(check.skip("the target computes on the CPU"));
    }
    if context.target.toolkit.is_none() && is_of_tools(context, says) {
        return Some(check.skip("the target needs nothing of what it tells"));
    }
    let is_first = !std::mem::replace(is_told, true);
    is_first.then(|| check.unknown(Action::None, "`gpuenv diagnose` of the same text tells what to change"))
}

/// The code of a message that a text holds, and the packages that it names.
fn named(says: &str) -> (&str, impl Iterator<Item = &str>) {
    let told = says.split(':').next().unwrap_or_default();
    let (code, packages) = told.split_once(" (").unwrap_or((told, ""));
    (code, packages.trim_end_matches(')').split(", ").filter(|name| !name.is_empty()))
}

/// Whether it is the message of packages of which the lock holds none.
fn is_of_others(context: &CheckContext<'_>, says: &str) -> bool {
    let mut packages = named(says).1.peekable();
    packages.peek().is_some() && !packages.any(|name| context.holds(name))
}

/// Whether the GPU on which a kernel's child came to an early end has a row of its own that says so.
fn is_told(context: &CheckContext<'_>, probe: &Probe) -> bool {
    let is_early = matches!(probe.ended, ProbeStatus::Crashed | ProbeStatus::TimedOut | ProbeStatus::Garbled);
    let device = probe.detail.as_deref().and_then(|detail| detail.strip_prefix("device ")?.split_once(':'));
    let Some((number, _)) = device.filter(|_| is_early && probe.name == "kernels") else { return false };
    let is_of_it = |gpu: &str| gpu.split(':').next() == Some(number);
    let says = |check: &Check| matches!(check.status, Status::Unknown | Status::Fail);
    kernels::judge(context).iter().any(|check| says(check) && check.gpu.as_deref().is_some_and(is_of_it))
}

/// Whether a text tells of what only compiles, and of no package of the lock.
fn is_of_tools(context: &CheckContext<'_>, says: &str) -> bool {
    let (code, mut packages) = named(says);
    let row = context.catalog.diagnoses.iter().find(|row| row.code == code);
    row.is_some_and(|row| TOOLS.contains(&row.component.as_str())) && !packages.any(|name| context.holds(name))
}

/// Whether a verdict on the target rests on what a probe sees.
fn decides(context: &CheckContext<'_>, probe: &Probe) -> bool {
    match probe.name.as_str() {
        "jax" | "tensorflow" | "onnxruntime-gpu" | "xformers" => context.stack().contains_key(&probe.name),
        "toolkits" | "compilers" => context.target.toolkit.is_some() && context.sees_userland(),
        "container" => context.target.is_for_container() && !context.in_container(),
        "torch" if context.is_pasted() => context.stack().contains_key("torch"),
        "libraries" | "python" | "torch" => context.sees_userland(),
        _ => true,
    }
}
