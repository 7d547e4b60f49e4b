//! `gpuenv fleet check`: every host of the sources against the lock, those that are alike judged once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use crate::catalog::Catalog;
use crate::fleet::{self, Host, Outcome, Piece, Tally};
use crate::host::Record;
use crate::lock::Lock;
use crate::report::{Exit, Failure, FleetWriter, Lines, Report};
use crate::verify::{self, Status};

use crate::cli::args::{Common, Format};
use crate::cli::replace::replace;
use crate::cli::{catalogs, verify as one};

use super::args::CheckArgs;
use super::source::{self, Batch};

/// A host's name with its record made comparable, or why there is none.
type Read = (String, Result<(Record, [u8; 32]), String>);

/// Runs the command.
pub fn run(common: &Common, args: &CheckArgs, report: &Report) -> Result<Exit, Failure> {
    let (lock, catalog) = match &args.against {
        Some(spec) => match one::solved(spec, report)? {
            Some(solved) => solved,
            None => return Ok(Exit::No),
        },
        None => {
            let lock = one::read_lock(common)?;
            let catalog = catalogs::of_lock(&lock, common, report)?;
            (lock, catalog)
        }
    };
    let targets = one::chosen(&lock, args.target.as_deref())?;
    let judge = Judge { lock: &lock, targets, named: args.target.is_some(), catalog: &catalog };
    let mut known = HashMap::new();
    let mut tally = Tally::default();
    let mut writer = FleetWriter::new(report, lines(common.format), args.output.is_some());
    let progress = report.progress();
    source::each(&args.sources, &mut |batch| {
        for (name, read) in hosts(batch) {
            let outcome = judge.outcome(read, &mut known);
            tally.add(&name, &outcome);
            progress.says(&format!("{} hosts judged", tally.hosts));
            writer.host(&name, &outcome)?;
        }
        Ok(())
    })?;
    drop(progress);
    if tally.hosts == 0 {
        let message = "the sources hold no host";
        return Err(Failure::new(Exit::BadInput, "nothing-to-judge", message).help(
            "gather records with the job that `gpuenv fleet job slurm` or `gpuenv fleet job kubernetes` prints",
        ));
    }
    let text = writer.end(&tally, common.format == Format::Html, args.verbose)?;
    match (&args.output, text) {
        (Some(path), Some(text)) => {
            replace(path, &text)?;
        }
        (None, Some(text)) => report.data(&text)?,
        (_, None) => {}
    }
    Ok(match (tally.count(Status::Fail), tally.count(Status::Unknown)) {
        (0, 0) => Exit::Yes,
        (0, _) => Exit::Unknown,
        _ => Exit::No,
    })
}

/// Which of the formats with one line a host is asked for.
fn lines(format: Format) -> Option<Lines> {
    match format {
        Format::Ndjson => Some(Lines::Json),
        Format::Csv => Some(Lines::Csv),
        _ => None,
    }
}

/// What every host is held against.
struct Judge<'a> {
    lock: &'a Lock,
    targets: Vec<&'a str>,
    named: bool,
    catalog: &'a Catalog,
}

impl Judge<'_> {
    fn outcome(
        &self,
        read: Result<(Record, [u8; 32]), String>,
        known: &mut HashMap<[u8; 32], Rc<Outcome>>,
    ) -> Rc<Outcome> {
        let (record, digest) = match read {
            Ok(read) => read,
            Err(why) => return Rc::new(Outcome::unreadable(&why)),
        };
        match known.entry(digest) {
            Entry::Occupied(entry) => entry.get().clone(),
            Entry::Vacant(entry) => {
                let best = verify::best(self.lock, &self.targets, self.named, &record, self.catalog);
                let outcome = match best {
                    Some((verdict, _)) => Outcome::of(&verdict, &record),
                    None => Outcome::unreadable("the lock has no target"),
                };
                entry.insert(Rc::new(outcome)).clone()
            }
        }
    }
}

/// The hosts of a batch, read side by side, in their order.
fn hosts(batch: Batch) -> Vec<Read> {
    match batch {
        Batch::Text(text, name) => fleet::of_text(&text, &name).into_iter().map(made_comparable).collect(),
        Batch::Documents(pieces, name, alone) => {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let part = pieces.len().div_ceil(cores).max(1);
            let read = |pieces: &[Piece]| -> Vec<Read> {
                let hosts = pieces.iter().flat_map(|piece| fleet::of_document(piece, &name, alone));
                hosts.map(made_comparable).collect()
            };
            std::thread::scope(|scope| {
                let threads: Vec<_> = pieces.chunks(part).map(|some| scope.spawn(move || read(some))).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
            })
        }
    }
}

fn made_comparable(host: Host) -> Read {
    (host.name, host.record.map(fleet::digest))
}
