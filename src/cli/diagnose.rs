//! `gpuenv diagnose`: what a pasted error message means and what to change, in gpuenv.toml where there is one.

use std::borrow::Cow;
use std::io::{IsTerminal, Read};
use std::path::Path;

use crate::catalog::{BUILTIN, Catalog, OsMatch};
use crate::diagnose::{self, Verdict};
use crate::explain::host::{OnHost, Outcome, Unplaced, on_host};
use crate::host::{Gpu, Record, System};
use crate::report::{Exit, Failure, Report};
use crate::solve::problem::Problem;
use crate::solve::engine::Steps;
use crate::spec::{Observed, ObservedGpu};

use super::args::{Common, DiagnoseArgs};
use super::catalogs;
use super::files::{self, reason};
use super::lock::{self, STEPS};

/// More text than this is not read: a log's end can be pasted instead.
const CAP: u64 = 4 << 20;

/// Runs the command.
pub fn run(common: &Common, args: &DiagnoseArgs, report: &Report) -> Result<Exit, Failure> {
    let text = match args.text.as_deref().filter(|text| *text != "-") {
        Some(text) => text.to_string(),
        None => read(report)?,
    };
    if text.len() as u64 > CAP {
        return Err(too_large());
    }
    if text.trim().is_empty() {
        let failure = Failure::new(Exit::BadInput, "no-text", "there is no text to diagnose");
        return Err(failure.help("give the message as an argument, or pipe a log: `gpuenv diagnose < build.log`"));
    }
    // A message is told whatever is wrong with a file that happens to lie here, unless it was named.
    let (catalog, readable) = match catalogs::nearby(common) {
        Err(failure) if common.spec.is_some() => return Err(failure),
        Err(_) => (Cow::Borrowed(&BUILTIN), false),
        Ok(catalog) => (catalog, true),
    };
    if !readable {
        match files::spec_place(common) {
            Ok(path) => path.iter().for_each(|path| left_aside(path, report)),
            Err(failure) => failure.problems.iter().for_each(|problem| report.note(&problem.message)),
        }
    }
    let mut verdict = diagnose::diagnose(&text, &catalog);
    let host = solved(common, args, &verdict, (&catalog, readable), report)?;
    if let (Some(first), Some(host)) = (verdict.findings.first_mut(), &host) {
        let remedies = host.remedies();
        // That nothing runs on this host is the first thing to know; that something would, the last.
        let at = if matches!(host.outcome, Outcome::Conflict(_)) { 0 } else { first.remedies.len() };
        first.remedies.splice(at..at, remedies);
    }
    report.diagnosed(&verdict, host.as_ref())?;
    Ok(if verdict.findings.is_empty() { Exit::Unknown } else { Exit::Yes })
}

/// What the spec comes to on the host that the text tells of; none where there is no spec or no such telling.
fn solved(
    common: &Common,
    args: &DiagnoseArgs,
    verdict: &Verdict,
    (catalog, readable): (&Catalog, bool),
    report: &Report,
) -> Result<Option<OnHost>, Failure> {
    let told = verdict.observed();
    let observed = match &args.host {
        // What was recorded of a host is more than what one message tells of it.
        Some(path) => recorded(&files::read_host(path, report)?, told, catalog),
        None => told,
    };
    let asked = common.spec.is_some() || args.target.is_some();
    if !readable && !asked {
        return Ok(None);
    }
    let Some(path) = files::spec_place(common)?.filter(|_| asked || !observed.is_empty()) else { return Ok(None) };
    // A message is told whatever is wrong with a file that happens to lie here.
    let lock::Asked { spec, catalog, .. } = match lock::read(&path) {
        Ok(spec) => spec,
        Err(failure) if asked => return Err(failure),
        Err(_) => {
            left_aside(&path, report);
            return Ok(None);
        }
    };
    let rules = Problem::new(&catalog);
    match on_host(&spec, &observed, args.target.as_deref(), &rules, &Steps::new(STEPS)) {
        Ok(host) => Ok(Some(host)),
        Err(Unplaced::NothingKnown) => Ok(None),
        Err(Unplaced::NoSuchTarget(names)) => {
            let message = format!("--target: {} has no such target", files::shown(&path));
            Err(Failure::new(Exit::BadInput, "unknown-target", message)
                .help(format!("the targets are: {}", names.join(", "))))
        }
        Err(Unplaced::Ambiguous(names)) => {
            let name = files::shown(&path);
            report.note(&format!("{name} was left aside: name one of its targets with --target: {}", names.join(", ")));
            Ok(None)
        }
    }
}

fn left_aside(path: &Path, report: &Report) {
    report.note(&format!("{} was left aside: `gpuenv lock` tells its mistakes", files::shown(path)));
}

/// What a record says of a host, and where it is silent what the message told.
fn recorded(record: &Record, told: Observed, catalog: &Catalog) -> Observed {
    let nvml = record.nvml.as_ref();
    // Under Windows the driver counts by itself; the CUDA version that it offers means the same everywhere.
    let counts = !matches!(record.platform.system, Some(System::Wsl | System::Windows | System::Tegra));
    let module = record.module.as_ref().and_then(|module| module.version.as_ref());
    let driver = module.or(nvml.and_then(|nvml| nvml.driver.as_ref())).filter(|_| counts).map(ToString::to_string);
    let offers = nvml.and_then(|nvml| nvml.cuda.as_ref()).map(ToString::to_string);
    let gpu = |gpu: &Gpu| ObservedGpu {
        name: gpu.name.clone(),
        compute_capability: gpu.compute_capability.map(|cc| cc.to_string()),
    };
    let gpus: Vec<ObservedGpu> = nvml.iter().flat_map(|nvml| &nvml.gpus).map(gpu).collect();
    // In a container the record tells the container's system, not the machine's.
    let own = record.platform.container.is_none();
    Observed {
        driver_cuda: offers.or(told.driver_cuda).filter(|_| driver.is_none()),
        driver: driver.or(told.driver.filter(|_| counts)),
        gpus: if gpus.is_empty() { told.gpus } else { gpus },
        os: record.platform.os.clone().filter(|os| own && matches!(catalog.os(os), OsMatch::Found(_))),
        glibc: record.platform.glibc.as_ref().filter(|_| own).map(ToString::to_string),
        python: told.python,
    }
}

/// All of stdin; logs are not always UTF-8.
fn read(report: &Report) -> Result<String, Failure> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        report.waiting("paste the error message, then press Ctrl-D on a line of its own");
    }
    let mut bytes = Vec::new();
    stdin
        .lock()
        .take(CAP + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::io("read-failed", format!("stdin cannot be read: {}", reason(&error))))?;
    if bytes.len() as u64 > CAP {
        return Err(too_large());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn too_large() -> Failure {
    let message = format!("the text is larger than {} MiB, the most that is read", CAP >> 20);
    Failure::new(Exit::BadInput, "too-large", message).help("give the part around the error")
}
