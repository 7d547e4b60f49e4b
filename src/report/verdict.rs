//! A verdict on a host for people: failures first with what to do, passes in a line each, one sentence at the end.

use crate::host::{Origin, Record};
use crate::verify::{Action, Check, Status, Verdict};

use super::screen::{Screen, clean};

/// A host that was judged: the target that matches best, the others, and what it rests on.
#[derive(Debug)]
pub struct Judged<'a> {
    /// The target that is told in full.
    pub best: Verdict,
    /// The other targets.
    pub others: Vec<Verdict>,
    /// What was seen.
    pub record: &'a Record,
}

/// The order of the table: what is wrong comes first.
const ORDER: &[Status] = &[Status::Fail, Status::Unknown, Status::Warn, Status::Pass];

/// The width of the column that holds a status, the blank behind it included.
const STATUS: usize = 8;
/// Below this, columns take the room that text needs.
const NARROW: usize = 60;

/// The whole answer.
pub(super) fn render(screen: &Screen, judged: &Judged<'_>, verbose: bool) -> String {
    let rows = rows(&judged.best.checks);
    let mut text = String::new();
    let is_told = |row: &&Row<'_>| verbose || row.check.because.is_none();
    for status in ORDER {
        for row in rows.iter().filter(|row| row.check.status == *status).filter(is_told) {
            text += &match (status, verbose) {
                (Status::Pass, false) => line(screen, row),
                _ => full(screen, row),
            };
            let folded = rows.iter().filter(|one| one.check.because == Some(row.check.id)).count();
            if folded > 0 && !verbose {
                text += &paragraph(screen, &" ".repeat(STATUS), &more(row.check, folded));
            }
        }
    }
    text += &skipped(screen, &rows, verbose);
    for other in &judged.others {
        text += &other_target(screen, other);
    }
    text + &sentence(screen, judged)
}

/// The check that says that there is no driver at all.
const NO_DRIVER: &str = "driver-present";

/// The checks that are not told one by one, below what they follow from.
fn more(cause: &Check, count: usize) -> String {
    let (one, many) = match cause.id {
        NO_DRIVER => ("needs a driver", "need a driver"),
        _ => ("follows from this", "follow from this"),
    };
    if count == 1 { format!("1 more check {one}") } else { format!("{count} more checks {many}") }
}

/// Whether there is no driver, or none that anybody has told of.
fn has_no_driver(check: &Check) -> bool {
    let found = check.found.as_deref();
    check.id == NO_DRIVER && check.status == Status::Unknown && matches!(found, Some("none" | "not told"))
}

/// A check, or several GPUs' one check.
struct Row<'a> {
    check: &'a Check,
    gpus: Vec<&'a str>,
}

/// Checks that differ in nothing but their GPU are told once.
fn rows(checks: &[Check]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for check in checks {
        let same = |row: &&mut Row<'_>| {
            let plain = |check: &Check| Check { gpu: None, ..check.clone() };
            row.check.gpu.is_some() && check.gpu.is_some() && plain(row.check) == plain(check)
        };
        match rows.iter_mut().find(same) {
            Some(row) => row.gpus.extend(check.gpu.as_deref()),
            None => rows.push(Row { check, gpus: check.gpu.as_deref().into_iter().collect() }),
        }
    }
    rows
}

impl Row<'_> {
    /// `GPU 0: NVIDIA H100 NVL`, `8 GPUs (0: NVIDIA H100 NVL …)`
    fn gpu(&self) -> Option<String> {
        match self.gpus.as_slice() {
            [] => None,
            [one] => Some(format!("GPU {one}")),
            [first, rest @ ..] => Some(format!("{} GPUs (from {first})", rest.len() + 1)),
        }
    }
}

fn head(screen: &Screen, check: &Check) -> String {
    let word = format!("{:<width$}", check.status.as_str(), width = STATUS);
    match check.status {
        Status::Fail => screen.error(&word),
        Status::Unknown | Status::Warn => screen.warning(&word),
        Status::Pass => screen.after(&word),
        Status::Skip => word,
    }
}

/// `pass    driver-minimum: 550.54.15`
fn line(screen: &Screen, row: &Row<'_>) -> String {
    let check = row.check;
    let mut text = check.id.to_string();
    if let Some(found) = &check.found {
        text += &format!(": {found}");
    } else if let Some(gpu) = row.gpu() {
        text += &format!(": {gpu}");
    }
    if row.gpus.len() > 1 {
        text += &format!(", {} GPUs", row.gpus.len());
    }
    if let Some(hint) = &check.hint {
        text += &format!(" ({hint})");
    }
    paragraph(screen, &head(screen, check), &text)
}

/// A check with everything that is known of it.
fn full(screen: &Screen, row: &Row<'_>) -> String {
    let check = row.check;
    let title = match row.gpu() {
        Some(gpu) => format!("{}, {gpu}", check.id),
        None => check.id.to_string(),
    };
    let mut text = paragraph(screen, &head(screen, check), &title);
    for (name, value) in [("expected", &check.expected), ("found", &check.found), ("evidence", &check.evidence)] {
        if let Some(value) = value {
            text += &part(screen, name, value);
        }
    }
    if let Some(hint) = &check.hint {
        let name = if check.action == Action::None { "note" } else { "do" };
        text += &part(screen, name, hint);
    }
    if check.action != Action::None {
        text += &part(screen, "action", check.action.as_str());
    }
    text
}

fn part(screen: &Screen, name: &str, value: &str) -> String {
    let indent = if screen.width < NARROW { 2 } else { STATUS };
    let head = format!("{:indent$}{name:<9} ", "");
    screen.hanging(&head, &clean(value), if screen.width < NARROW { indent + 2 } else { head.len() })
}

/// Text behind a status, its further lines below the text.
fn paragraph(screen: &Screen, head: &str, text: &str) -> String {
    screen.hanging(head, &clean(text), STATUS)
}

/// What does not apply is named, so that nobody takes silence for a pass.
fn skipped(screen: &Screen, rows: &[Row<'_>], verbose: bool) -> String {
    let skips: Vec<&Row<'_>> = rows.iter().filter(|row| row.check.status == Status::Skip).collect();
    if verbose {
        return skips.iter().map(|row| full(screen, row)).collect();
    }
    let count: usize = skips.iter().map(|row| row.gpus.len().max(1)).sum();
    match count {
        0 => String::new(),
        _ => paragraph(
            screen,
            &format!("{:<width$}", "skip", width = STATUS),
            &format!("{} skipped (`--verbose` says why)", checks(count)),
        ),
    }
}

/// `target lab: fail, gpu-supported`
fn other_target(screen: &Screen, other: &Verdict) -> String {
    let first = decisive(other).map_or(String::new(), |check| format!(", {}", check.id));
    paragraph(screen, "other   ", &format!("target {}: {}{first}", other.target, other.status.as_str()))
}

/// The first check that a verdict which is no pass rests on.
pub(super) fn decisive(verdict: &Verdict) -> Option<&Check> {
    let status = verdict.status;
    let of_status = || verdict.checks.iter().filter(|check| check.status == status && status != Status::Pass);
    of_status().find(|check| check.because.is_none()).or_else(|| of_status().next())
}

/// The check of the lock itself, which says nothing of a host.
const STALE: &str = "stale-lock";

/// The verdict and the next step.
fn sentence(screen: &Screen, judged: &Judged<'_>) -> String {
    let (best, target) = (&judged.best, &judged.best.target);
    let count = |status| best.checks.iter().filter(|check| check.status == status).count();
    let host = if judged.record.origin == Origin::Pasted { "the described host" } else { "the host" };
    let is_stale = best.checks.iter().any(|check| check.id == STALE && check.status == Status::Fail);
    let (head, says) = match best.status {
        // By this lock nothing else is wrong: the lock is what fails, and the host is not to blame.
        Status::Fail if is_stale && count(Status::Fail) == 1 => (
            screen.error("FAIL:"),
            match count(Status::Unknown) {
                0 => format!("the lock is out of date; {host} can run its `{target}`. {}", next(best)),
                unknown => format!(
                    "the lock is out of date, and whether {host} can run its `{target}` could not be determined: {} \
                     without a result. {}",
                    checks(unknown),
                    next(best)
                ),
            },
        ),
        Status::Fail => (
            screen.error("FAIL:"),
            format!("{host} cannot run `{target}`: {} failed. {}", checks(count(Status::Fail)), next(best)),
        ),
        Status::Unknown => (
            screen.warning("UNKNOWN:"),
            format!(
                "whether {host} can run `{target}` could not be determined: {} without a result. {}",
                checks(count(Status::Unknown)),
                next(best)
            ),
        ),
        _ => {
            let warned = match count(Status::Warn) {
                0 => String::new(),
                1 => " (1 warning)".to_string(),
                warned => format!(" ({warned} warnings)"),
            };
            (screen.after("PASS:"), format!("{host} can run `{target}`{warned}."))
        }
    };
    format!("\n{}", screen.wrapped(&format!("{head} "), &clean(&says)))
}

fn checks(count: usize) -> String {
    if count == 1 { "1 check".to_string() } else { format!("{count} checks") }
}

/// What to do first: the least drastic remedy is tried before others, but causes come before what follows from them.
fn next(verdict: &Verdict) -> String {
    let Some(check) = decisive(verdict) else { return "Nothing could be judged.".to_string() };
    if has_no_driver(check) && check.found.as_deref() == Some("not told") {
        return "Add the whole output of `nvidia-smi` (of a Jetson, `deviceQuery`) to the text, or record the host with `gpuenv probe -o host.json`."
            .to_string();
    }
    if has_no_driver(check) {
        return "Install the driver, or record the GPU host with `gpuenv probe -o host.json` and verify with `--host host.json`."
            .to_string();
    }
    if check.id == STALE {
        return format!("Begin with {STALE}: run `gpuenv lock`; then verify again.");
    }
    match check.action {
        Action::None => format!("See {} above.", check.id),
        Action::FixEnvironment => format!("Begin with {}: fix the environment; then verify again.", check.id),
        Action::RestartContainer => format!("Begin with {}: start the container again; then verify again.", check.id),
        Action::Reboot => {
            format!("Begin with {}: it takes a reboot or a reload of the driver; then verify again.", check.id)
        }
        Action::Drain => format!("Begin with {}: take the machine out of service.", check.id),
        Action::ChangeLock => format!("Begin with {}: change gpuenv.toml and lock again.", check.id),
        Action::AskAdmin => {
            format!("Begin with {}: ask an administrator of the machine; then verify again.", check.id)
        }
    }
}
