//! What torch says of itself once it is imported: its CUDA, its machine code, whether it computes. Of one that could not be
//! imported nothing else is known.

use crate::coverage::{Coverage, covers_targets};
use crate::host::{IMPORT_TORCH, Torch};
use crate::types::{Arch, Version, distinct};

use super::check::{Action, Check};
use super::context::{CheckContext, KILLED};
use super::environment;
use super::supported::LEAVE_OUT;

/// Everything that is to be said of it.
pub fn judge(context: &CheckContext<'_>) -> Vec<Check> {
    let Some(locked) = context.stack().get("torch").filter(|_| context.sees_userland()) else { return Vec::new() };
    let Some(torch) = context.record.python.as_ref().and_then(|python| python.torch.as_ref()) else {
        return Vec::new();
    };
    if !context.needs_gpu() {
        return Vec::new();
    }
    if let Some(check) = import(context, torch) {
        return vec![check];
    }
    let mut checks = vec![cuda(context, torch, locked)];
    checks.extend(code(context, torch));
    checks.extend(computes(context, torch));
    checks.extend(together(torch));
    checks.extend(mapped(torch));
    checks.extend(library(context, "cudnn", torch.cudnn.as_ref()));
    checks.extend(library(context, "nccl", torch.nccl.as_ref()));
    checks
}

/// An import that failed, or that did not come to its end: what torch has not said of itself is then not known.
fn import(context: &CheckContext<'_>, torch: &Torch) -> Option<Check> {
    // What is told first is told together, at the import's end.
    let words = torch.messages.iter().find_map(|message| message.strip_prefix(IMPORT_TORCH));
    if context.is_pasted() && words.is_none() || torch.version.is_some() || torch.cuda.is_some() {
        return None;
    }
    let check = Check::new("torch-import").expected("torch can be imported");
    if let Some(detail) = context.unfinished("torch") {
        let check = check.found(format!("`import torch` did not end: {detail}"));
        let hint = match (context.killed("torch"), context.crashed("torch")) {
            (true, _) => format!("the interpreter {KILLED}"),
            (false, true) => "the interpreter crashes while it imports torch: install the locked packages again".into(),
            (false, false) => {
                "run `python -c 'import torch'` in this environment to see what it waits for, then verify again".into()
            }
        };
        return Some(check.unknown(Action::FixEnvironment, hint));
    }
    let Some(words) = words else {
        return Some(check.found("torch said nothing of itself").unknown(
            Action::FixEnvironment,
            "run `python -c 'import torch; print(torch.__version__)'` in this environment, then verify again",
        ));
    };
    let hint = context
        .remedy(words)
        .unwrap_or_else(|| "install the locked packages again, with all that they need".to_string());
    Some(check.found(words).fail(Action::FixEnvironment, format!("torch cannot be imported: {hint}")))
}

/// The CUDA line in a variant, `12.4`.
fn line(locked: &str) -> Option<Version> {
    let digits = locked.split_once("+cu")?.1;
    let (major, minor) = digits.split_at_checked(digits.len().checked_sub(1)?)?;
    Version::parse(&format!("{major}.{minor}")).ok()
}

fn cuda(context: &CheckContext<'_>, torch: &Torch, locked: &str) -> Check {
    let wanted = line(locked);
    let check = Check::new("torch-cuda")
        .expected(wanted.as_ref().map_or("a build with CUDA".to_string(), |line| format!("CUDA {line}")));
    let check = check.evidence(torch.version.as_ref().map(|version| format!("torch {version}")));
    let Some(found) = &torch.cuda else {
        if context.is_pasted() && torch.version.as_ref().is_none_or(|version| !version.ends_with("+cpu")) {
            return check.skip("the pasted text does not tell it");
        }
        let index = context
            .lock
            .wheels_of(context.name)
            .find(|wheel| wheel.package == "torch")
            .and_then(|wheel| wheel.index.as_ref());
        let index = index.map_or(String::new(), |index| format!(" --index-url {index}"));
        return check.found("a CPU build").fail(
            Action::FixEnvironment,
            format!("the CPU build is installed: `pip install 'torch=={locked}'{index}`"),
        );
    };
    let check = check.found(format!("CUDA {found}"));
    // A build of somebody's own has no label: its major is that of the lock's CUDA, whatever toolkit stands beside it.
    let is_own = context.lock.own_builds().any(|package| package == "torch");
    let own = context.stack().get("cuda").and_then(|cuda| Version::parse(cuda).ok()).filter(|_| is_own);
    if let Some(own) = own.filter(|own| wanted.is_none() && own.major() != found.major()) {
        let hint =
            format!("the lock is for a build with CUDA {}: install that one, or correct gpuenv.toml", own.major());
        return check.expected(format!("CUDA {}", own.major())).fail(Action::FixEnvironment, hint);
    }
    match wanted {
        Some(wanted) if found.prefix(2) != wanted => {
            check.fail(Action::FixEnvironment, format!("another build is installed: take torch {locked}"))
        }
        _ => check.pass(),
    }
}

/// Whether the installed build holds code for each GPU: what it says of itself counts, not what was locked.
fn code(context: &CheckContext<'_>, torch: &Torch) -> Vec<Check> {
    let parse = |prefix: &str| -> Vec<Arch> {
        torch
            .arch_list
            .iter()
            .filter(|name| name.starts_with(prefix))
            .filter_map(|name| Arch::parse(name).ok())
            .collect()
    };
    let (sass, ptx) = (parse("sm_"), parse("compute_"));
    if torch.arch_list.is_empty() {
        return Vec::new();
    }
    let mut checks = Vec::new();
    for gpu in context.gpus() {
        let Some(cc) = gpu.cc else { continue };
        let check = Check::new("torch-arch-list").of(&gpu.label).expected(format!("code for sm_{}", cc.number()));
        let check = check.found(torch.arch_list.join(" ")).evidence(Some("torch.cuda.get_arch_list()"));
        checks.push(match covers_targets(sass.iter().copied(), ptx.iter().copied(), cc, context.tegra()) {
            Coverage::Native => check.pass(),
            Coverage::Jit => check.warn(
                Action::ChangeLock,
                "only PTX reaches this GPU: the driver compiles it at first, and the libraries beside torch may hold nothing for it",
            ),
            Coverage::None if context.is_beside(gpu) => check.warn(
                Action::None,
                format!("the installed torch holds no code for it, and the target does not name it: {LEAVE_OUT}"),
            ),
            Coverage::None => check.fail(
                Action::ChangeLock,
                format!("the installed torch holds no code for sm_{}: name this GPU in gpuenv.toml, lock again and install that build", cc.number()),
            ),
        });
    }
    checks
}

/// Whether it finds a GPU that it can use.
pub fn available(context: &CheckContext<'_>, torch: &Torch) -> Option<Check> {
    let available = torch.available?;
    let check = Check::new("torch-available").expected("torch.cuda.is_available()");
    let check = check.found(if available { "true" } else { "false" }).evidence(words(torch));
    Some(match (available, environment::hides_every_gpu(context)) {
        (true, _) => check.pass(),
        (false, Some(hides)) => check.fail(hides.action, hides.hint()),
        (false, None) => check.fail(
            Action::FixEnvironment,
            "torch finds no GPU that it can use: first repair what else fails here; `gpuenv diagnose` explains the \
             message that torch prints",
        ),
    })
}

/// What it printed meanwhile.
fn words(torch: &Torch) -> Option<String> {
    (!torch.messages.is_empty()).then(|| torch.messages.join("; "))
}

fn computes(context: &CheckContext<'_>, torch: &Torch) -> Vec<Check> {
    let mut checks: Vec<Check> = available(context, torch).into_iter().collect();
    if let Some(computed) = torch.computed {
        let check = Check::new("torch-computed").expected("a right result on each GPU").found(if computed {
            "right"
        } else {
            "wrong, or none"
        });
        let check = check.evidence(words(torch));
        checks.push(match computed {
            true => check.pass(),
            false => {
                check.fail(Action::FixEnvironment, "torch does not compute right: `gpuenv diagnose` reads its words")
            }
        });
    }
    checks
}

/// What several GPUs do together.
fn together(torch: &Torch) -> Vec<Check> {
    let one = |id, expected: &str, right: bool, hint: &str| {
        let check = Check::new(id).expected(expected).found(if right { "right" } else { "wrong, or none" });
        let check = check.evidence(words(torch));
        if right { check.pass() } else { check.fail(Action::AskAdmin, hint) }
    };
    let copied = torch.copied.map(|right| {
        let hint =
            "a copy between two GPUs does not arrive: turn ACS and the IOMMU off for them, and look into `dmesg`";
        one("torch-peers", "copies between all pairs of GPUs arrive", right, hint)
    });
    let reduced = torch.reduced.map(|right| {
        let hint = "NCCL does not add up what the GPUs hold: run again with NCCL_DEBUG=INFO, and see torch-peers";
        one("torch-allreduce", "NCCL's all-reduce over all GPUs is right", right, hint)
    });
    copied.into_iter().chain(reduced).collect()
}

/// cuDNN loads its parts by name while it computes: in the end they must be of one place all the same.
fn mapped(torch: &Torch) -> Option<Check> {
    let parts =
        torch.mapped.iter().filter(|path| path.rsplit('/').next().is_some_and(|file| file.starts_with("libcudnn")));
    let folders = distinct(parts.filter_map(|path| Some(path.rsplit_once('/')?.0)));
    let check = Check::new("library-mixed").expected("all of cudnn from one folder").found(folders.join(", "));
    let check = check.evidence(Some("what is mapped into torch's process"));
    Some(match folders.len() {
        0 => return None,
        1 => check.pass(),
        _ => check.fail(
            Action::FixEnvironment,
            "torch has parts of cudnn from several places in its process: leave one of these folders in the search path",
        ),
    })
}

/// The libraries that torch itself has loaded.
fn library(context: &CheckContext<'_>, name: &'static str, found: Option<&Version>) -> Option<Check> {
    let (locked, found) = (context.stack().get(name)?, found?);
    let wanted = Version::parse(locked).ok()?;
    let length = found.len().min(wanted.len());
    let check = Check::new("torch-libraries").expected(format!("{name} {locked}")).found(format!("{name} {found}"));
    let order = found.prefix(length).cmp(&wanted.prefix(length));
    Some(match order {
        std::cmp::Ordering::Equal => check.pass(),
        std::cmp::Ordering::Greater if found.major() == wanted.major() => {
            check.warn(Action::None, format!("torch loads a later {name} than the locked one"))
        }
        _ => check.fail(
            Action::FixEnvironment,
            format!("torch loads another {name} than the locked one: take the folder it comes from out of LD_LIBRARY_PATH, or install the locked one"),
        ),
    })
}
