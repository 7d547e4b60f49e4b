//! `gpuenv diagnose`: what an error message or a log means and what to change, in gpuenv.toml where there is one.

use std::borrow::Cow;
use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::Path;

use crate::catalog::{Catalog, OsMatch, at_hand};
use crate::diagnose::{self, Verdict};
use crate::explain::host::{OnHost, Unplaced, on_host};
use crate::host::{self, Gpu, Record, System};
use crate::report::{Exit, Failure, Report};
use crate::solve::engine::Steps;
use crate::solve::problem::Problem;
use crate::spec::{Observed, ObservedGpu};

use super::args::DiagnoseArgs;
use super::common::Common;
use super::described;
use super::files::{self, reason};
use super::load_catalog;
use super::lock;
use super::project::shown;
use crate::task::diagnose::lead_with;
use crate::task::lock::Asked;
use crate::types::plain::{NAMED, shorten};

/// What is read of a longer text: its beginning, where a build says what it found …
const HEAD: usize = 1 << 20;
/// … and its end, where it says what failed.
const TAIL: usize = 3 << 20;
/// Nothing is read beyond it: some texts have no end.
const MOST: usize = 1 << 30;

/// Runs the command.
pub fn run(common: &Common, args: &DiagnoseArgs, report: &Report) -> Result<Exit, Failure> {
    let is_piped = args.text.as_deref().is_none_or(|text| text == "-");
    let is_asked = args.host.as_deref().is_some_and(files::is_stdin) && is_piped;
    files::one_stdin(if is_asked { &["TEXT", "--host -"] } else { &[] })?;
    let text = text(args, report)?;
    if text.trim().is_empty() {
        let failure = Failure::new(Exit::BadInput, "no-text", "there is no text to diagnose");
        return Err(failure.help("give the message as an argument, or pipe a log: `gpuenv diagnose < build.log`"));
    }
    // A message is told whatever is wrong with a file that happens to lie here, unless it was named.
    let (catalog, readable) = match load_catalog::nearby(common) {
        Err(failure) if common.spec.is_some() => return Err(failure),
        Err(_) => (Cow::Borrowed(at_hand()), false),
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
    if let Some(host) = &host {
        lead_with(&mut verdict, host, &catalog);
    }
    report.diagnosed(&verdict, host.as_ref())?;
    if let Some(name) = args.text.as_deref().filter(|_| verdict.findings.is_empty()) {
        let path = Path::new(name);
        if path.is_dir() {
            report.note(&format!("`{name}` is a folder; to diagnose a log in it, `gpuenv diagnose < FILE`"));
        } else if looks_like_a_file(name) && !path.exists() {
            report.note(&format!("there is no file `{name}` here; to diagnose a log, `gpuenv diagnose < FILE`"));
        }
    }
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
        Some(path) => recorded(&described::read_host(path, report)?, told, catalog),
        None => told,
    };
    let asked = common.spec.is_some() || args.target.is_some();
    if !readable && !asked {
        return Ok(None);
    }
    let Some(path) = files::spec_place(common)?.filter(|_| asked || !observed.is_empty()) else { return Ok(None) };
    // A message is told whatever is wrong with a file that happens to lie here.
    let Asked { spec, catalog, .. } = match lock::read(&path) {
        Ok(spec) => spec,
        Err(failure) if asked => return Err(failure),
        Err(_) => {
            left_aside(&path, report);
            return Ok(None);
        }
    };
    let rules = Problem::new(&catalog);
    match on_host(&spec, &observed, args.target.as_deref(), &rules, &Steps::default()) {
        Ok(host) => Ok(Some(host)),
        Err(Unplaced::NothingKnown) => Ok(None),
        Err(Unplaced::NoSuchTarget(names)) => {
            let message = format!("--target: {} has no such target", shown(&path));
            Err(Failure::new(Exit::BadInput, "unknown-target", message)
                .help(format!("the targets are: {}", shorten(&names, NAMED))))
        }
        Err(Unplaced::Ambiguous(names)) => {
            let name = shown(&path);
            report.note(&format!(
                "{name} was left aside: name one of its targets with --target: {}",
                shorten(&names, NAMED)
            ));
            Ok(None)
        }
    }
}

fn left_aside(path: &Path, report: &Report) {
    report.note(&format!("{} was left aside: `gpuenv lock` tells its mistakes", shown(path)));
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

/// One control character in so many bytes is more than a text has, but for the first few.
const ODD_IN: usize = 50;
const STRAY: usize = 8;

/// The text to diagnose: the argument, the file that it names, or stdin.
fn text(args: &DiagnoseArgs, report: &Report) -> Result<String, Failure> {
    let Some(text) = args.text.as_deref().filter(|text| *text != "-") else {
        let stdin = std::io::stdin();
        if stdin.is_terminal() {
            report.waiting("paste the error message, then press Ctrl-D on a line of its own");
        }
        return read("stdin", stdin.lock(), report);
    };
    let path = Path::new(text);
    // A pipe, such as bash makes of `<(command)`, is read like a file.
    if path.is_dir() || !path.exists() {
        return read("the message", text.as_bytes(), report);
    }
    let name = shown(path);
    if path.is_file() {
        report.note(&format!("`{name}` is a file: its text is diagnosed"));
    }
    let file = File::open(path);
    let file =
        file.map_err(|error| Failure::io("read-failed", format!("{name} cannot be read: {}", reason(&error))))?;
    read(&name, file, report)
}

/// Whether a text is a single word that people give to files.
fn looks_like_a_file(text: &str) -> bool {
    let endings = [".log", ".txt", ".out", ".err"];
    !text.contains(char::is_whitespace) && endings.iter().any(|ending| text.to_ascii_lowercase().ends_with(ending))
}

/// A text, or of a long one its beginning and its end.
fn read(name: &str, mut from: impl Read, report: &Report) -> Result<String, Failure> {
    let failed = |error| Failure::io("read-failed", format!("{name} cannot be read: {}", reason(&error)));
    let mut bytes = Vec::new();
    from.by_ref().take((HEAD + TAIL) as u64).read_to_end(&mut bytes).map_err(failed)?;
    let mut tail = bytes.split_off(bytes.len().min(HEAD));
    let mut left_out = 0;
    while left_out < MOST {
        let more = from.by_ref().take(TAIL as u64).read_to_end(&mut tail).map_err(failed)?;
        left_out += more;
        tail.drain(..tail.len().saturating_sub(TAIL));
        if more == 0 {
            break;
        }
    }
    if left_out == 0 {
        bytes.append(&mut tail);
        return refuse_binary(name, &bytes).map(|()| host::decode(&bytes));
    }
    let (all, which) = match left_out < MOST {
        true => (HEAD + TAIL, "its last"),
        false => (MOST, "the last that were read, another"),
    };
    report.note(&format!(
        "{name} is longer than {} MiB: its first {} MiB and {which} {} MiB are diagnosed",
        all >> 20,
        HEAD >> 20,
        TAIL >> 20
    ));
    bytes.push(b'\n');
    bytes.append(&mut tail);
    refuse_binary(name, &bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// In bytes that are no text every word is found somewhere. A text has no control characters but those that move the
/// cursor, colour it, or fill a file that was cut off while it was written to.
fn refuse_binary(name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    let is_odd = |byte: &&u8| matches!(**byte, 1..=6 | 14..=26 | 28..=31);
    let odd = bytes.iter().filter(is_odd).count();
    if is_utf16 || odd <= STRAY || odd * ODD_IN <= bytes.len() {
        return Ok(());
    }
    let message = format!("{name} is not text: it holds too many control characters");
    Err(Failure::new(Exit::BadInput, "unrecognised", message)
        .help("give the error message, or the log that it stands in"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_word_with_a_logs_ending_looks_like_a_file() {
        for (text, wanted) in
            [("build.log", true), ("logs/Run.TXT", true), ("see build.log", false), ("libcuda.so.1", false)]
        {
            assert_eq!(looks_like_a_file(text), wanted, "{text}");
        }
    }
}
