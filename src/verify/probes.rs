//! Probes that did not come to their end: what they would have seen is not known.

use crate::diagnose::TOOLS;
use crate::host::signs::{LISTED, NAMED, PASTE};
use crate::host::{Probe, ProbeStatus};

use super::check::{Action, Check, Status};
use super::context::CheckContext;
use super::kernels;

/// What is found where a text tells of an error beside what it lists.
pub const ERROR: &str = "the text tells of an error";

/// One check for each of them.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    let of_packages = |probe: &Probe| probe.name == LISTED || probe.name == NAMED;
    let untold = context.record.probes.iter().filter(|probe| !of_packages(probe) && !is_told(context, probe));
    let ended = untold.filter_map(|probe| {
        let (word, hint) = match probe.ended {
            ProbeStatus::Done if probe.name == PASTE && context.needs_gpu() => {
                let says = probe.detail.as_deref()?;
                let check = Check::new("probe").expected("nothing of what it tells keeps the stack from running here");
                return Some(check.found("a notice, or a fault of a program").warn(Action::None, says));
            }
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
        let (found, hint) = match (probe.ended, &probe.detail) {
            (ProbeStatus::Failed, Some(why)) if probe.name == PASTE => {
                (ERROR.into(), format!("{why} `gpuenv diagnose` of the same text tells what to change"))
            }
            (ProbeStatus::Failed, Some(why)) => (format!("{} {word}: {why}", probe.name), hint.into()),
            _ => (format!("{} {word}", probe.name), hint.into()),
        };
        let check = check.found(found).evidence(probe.detail.clone());
        Some(match (context.needs_gpu(), decides(context, probe)) {
            (true, true) => {
                let is_of_text = check.found.as_deref() == Some(ERROR);
                check.unknown(if is_of_text { Action::None } else { Action::AskAdmin }, hint)
            }
            (true, false) => check.skip("the target needs nothing of what it looks at"),
            (false, _) => check.skip("the target computes on the CPU"),
        })
    });
    ended.collect()
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
fn is_of_tools(context: &CheckContext<'_>, said: Option<&str>) -> bool {
    let told = said.and_then(|said| said.split(':').next()).unwrap_or_default();
    let (code, package) = told.split_once(" (").unwrap_or((told, ""));
    let row = context.catalog.diagnoses.iter().find(|row| row.code == code);
    row.is_some_and(|row| TOOLS.contains(&row.component.as_str()))
        && !context.stack().contains_key(package.trim_end_matches(')'))
}

/// Whether a verdict on the target rests on what a probe sees.
fn decides(context: &CheckContext<'_>, probe: &Probe) -> bool {
    match probe.name.as_str() {
        "jax" | "tensorflow" | "onnxruntime-gpu" | "xformers" => context.stack().contains_key(&probe.name),
        PASTE => context.target.toolkit.is_some() || !is_of_tools(context, probe.detail.as_deref()),
        "toolkits" | "compilers" => context.target.toolkit.is_some() && context.sees_userland(),
        "container" => context.target.is_for_container() && !context.in_container(),
        "torch" if context.is_pasted() => context.stack().contains_key("torch"),
        "libraries" | "python" | "torch" => context.sees_userland(),
        _ => true,
    }
}
