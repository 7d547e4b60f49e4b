//! `gpuenv fleet check`: every host of the sources against the lock, those that are alike judged once.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::fleet::{self, Host, Outcome, Tally};
use crate::report::{Exit, Failure, FleetFormat, FleetWriter, Report};
use crate::verify::{self, Against, Status};

use crate::cli::common::{Common, Format};
use crate::cli::{inputs, load_catalog, output, stale, verify as one};

use super::source;
use crate::cli::args::fleet::CheckArgs;

/// Runs the command.
pub fn run(common: &Common, args: &CheckArgs, report: &Report) -> Result<Exit, Failure> {
    inputs::enter_named(&args.sources);
    let output = output::asked(&args.output, "gpuenv fleet check", args.replace.force, common)?;
    let (lock, catalog) = match &args.against {
        Some(spec) => match one::solved(spec, report)? {
            Some(solved) => solved,
            None => return Ok(Exit::No),
        },
        None => {
            let lock = one::read_lock(common)?;
            let catalog = load_catalog::of_lock(&lock, common, report)?;
            (lock, catalog)
        }
    };
    let targets = one::chosen(&lock, args.target.as_deref())?;
    if args.against.is_none()
        && let Some(stale) = stale::reason(common, &lock, false, report)?
    {
        let is =
            if stale.is_known { "the lock is out of date" } else { "whether the lock is out of date cannot be told" };
        report.note(&format!("{is}: {}; run `gpuenv lock`, then check again", stale.reason));
    }
    let (named, known) = (args.target.is_some(), RwLock::default());
    let judge = Judge { against: Against::new(&lock, &catalog), targets, named, known };
    let mut tally = Tally::default();
    let mut writer = FleetWriter::new(report, format(common.format), output.is_some());
    let progress = report.progress();
    let take = |(name, outcome): (String, Arc<Outcome>)| {
        tally.add(&name, &outcome);
        progress.says(&format!("{} hosts judged", tally.hosts));
        writer.host(&name, &outcome)
    };
    let left_out = source::each(&args.sources, output.as_ref(), |host| judge.judged(host), take)?;
    drop(progress);
    left_out.iter().for_each(|says| report.note(says));
    let text = writer.end(&tally, args.verbose)?;
    match output {
        Some(output) => {
            output.write(common, &text, common.format.room())?;
            report.wrote(&output.name());
        }
        None => report.data(&text)?,
    }
    Ok(match (tally.count(Status::Fail), tally.count(Status::Unknown)) {
        (0, 0) => Exit::Yes,
        (0, _) => Exit::Unknown,
        _ => Exit::No,
    })
}

/// How the fleet is to be written.
fn format(format: Format) -> FleetFormat {
    match format {
        Format::Json => FleetFormat::Json,
        Format::Ndjson => FleetFormat::Lines,
        Format::Csv => FleetFormat::Csv,
        Format::Html => FleetFormat::Html,
        _ => FleetFormat::Human,
    }
}

/// What every host is held against, and how each kind of them ended so far.
struct Judge<'a> {
    against: Against<'a>,
    targets: Vec<&'a str>,
    named: bool,
    known: RwLock<HashMap<[u8; 32], Arc<Outcome>>>,
}

impl Judge<'_> {
    /// A host's name, and how it ended. Hosts are judged where they are read, side by side; two that meet with the first
    /// of their kind come to the same.
    fn judged(&self, host: Host) -> (String, Arc<Outcome>) {
        let (record, digest) = match host.record {
            Ok(record) => fleet::digest(record),
            Err(why) => return (host.name, Arc::new(Outcome::unreadable(&why))),
        };
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned();
        let outcome = known.unwrap_or_else(|| {
            let best = verify::best(&self.against, &self.targets, self.named, &record);
            let outcome = Arc::new(match best {
                Some((verdict, _)) => Outcome::of(&verdict, &record),
                None => Outcome::unreadable("the lock has no target"),
            });
            self.known.write().unwrap_or_else(PoisonError::into_inner).insert(digest, outcome.clone());
            outcome
        });
        (host.name, outcome)
    }
}
