//! `gpuenv verify`: this host, or a recorded one, held against the lock.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use crate::catalog::Catalog;
use crate::explain::{self, Explanation};
use crate::host::Record;
use crate::lock::{Lock, Renewed, TargetLock, Upgrade, renew};
use crate::probe::{Depth, ProbeOptions};
use crate::report::{Exit, Failure, Judged, Report};
use crate::solve::engine::Steps;
use crate::solve::problem::Problem;
use crate::solve::request::Request;
use crate::spec::not_an_image;
use crate::task::gave_up;
use crate::task::lock::Asked;
use crate::types::plain::{NAMED, shorten};
use crate::types::{Arch, ArchList, Version};
use crate::verify::{self, Against, Status};

use super::args::VerifyArgs;
use super::common::{Common, Format};
use super::described;
use super::files;
use super::inputs;
use super::load_catalog;
use super::lock::read;
use super::observe;
use super::output::{self, Output};
use super::stale;

/// Runs the command.
pub fn run(common: &Common, args: &VerifyArgs, report: &Report) -> Result<Exit, Failure> {
    inputs::enter_named(&args.host);
    if let (Some(junit), Some(record)) = (junit(common, args)?, recorded(common, args)?)
        && junit.is_same(&record)
    {
        let message = format!("`--junit` and `--record` both ask for {}", junit.name());
        return Err(Failure::new(Exit::BadInput, "usage", message).help("name a file of its own for each"));
    }
    if let Some(reference) = &args.image {
        if let Some(error) = not_an_image(reference) {
            return Err(Failure::new(Exit::BadInput, error.code, error.message).help(error.help.unwrap_or_default()));
        }
        let record = host(
            (common, args),
            ProbeOptions { depth: Depth::Quick, trust: args.trust_library_path, ..ProbeOptions::default() },
            report,
        )?;
        let catalog = load_catalog::told(common, report)?;
        let verdict = verify::judge_image(reference, &record, &catalog);
        return tell((common, args), &Judged { best: verdict, others: Vec::new(), record: &record }, report);
    }
    let (lock, catalog) = match &args.against {
        Some(spec) => match solved(spec, report)? {
            Some(solved) => solved,
            None => return Ok(Exit::No),
        },
        None => {
            let lock = read_lock(common)?;
            let catalog = load_catalog::of_lock(&lock, common, report)?;
            (lock, catalog)
        }
    };
    let targets = chosen(&lock, args.target.as_deref())?;
    let stale = if args.against.is_none() { stale::reason(common, &lock, args.locked, report)? } else { None };
    let record = host((common, args), options(&lock, &targets, &catalog, args), report)?;
    let judged = verify::best(&Against::new(&lock, &catalog), &targets, args.target.is_some(), &record);
    let (mut best, others) = judged.ok_or_else(no_target)?;
    if let Some(stale) = stale {
        best = best.with_first(verify::stale(&stale.spec, &stale.reason, args.locked));
    }
    tell((common, args), &Judged { best, others, record: &record }, report)
}

/// Where the checks go as JUnit XML.
fn junit<'a>(common: &Common, args: &'a VerifyArgs) -> Result<Option<Output<'a>>, Failure> {
    output::asked(&args.junit, "gpuenv verify --junit", args.replace.force, common)
}

/// Where what was observed goes.
fn recorded<'a>(common: &Common, args: &'a VerifyArgs) -> Result<Option<Output<'a>>, Failure> {
    output::asked(&args.record, "gpuenv verify --record", args.replace.force, common)
}

fn no_target() -> Failure {
    Failure::new(Exit::BadInput, "no-target", "the lock holds no target").help("run `gpuenv lock --fresh`")
}

/// Tells the verdict, writes what is to be written, and says how the run ends.
fn tell((common, args): (&Common, &VerifyArgs), judged: &Judged<'_>, report: &Report) -> Result<Exit, Failure> {
    if args.junit.is_some() && output::named(&args.junit).is_none() && common.format != Format::Human {
        let message = "`--junit -` and `--format` both ask for the standard output";
        return Err(Failure::new(Exit::BadInput, "usage", message).help("name a file for one of them"));
    }
    match junit(common, args)? {
        Some(output) => output.write(common, &judged.junit(), Format::Html.room())?,
        // What is asked for there is all that stands there.
        None if args.junit.is_some() => return report.data(&judged.junit()).map(|()| exit_of(judged)),
        None => {}
    }
    if args.record.is_some() && output::named(&args.record).is_none() {
        return report.data(&observe::text(judged.record)?).map(|()| exit_of(judged));
    }
    report.verified(judged)?;
    Ok(exit_of(judged))
}

/// How a run with this verdict ends.
fn exit_of(judged: &Judged<'_>) -> Exit {
    match judged.best.status {
        Status::Fail => Exit::No,
        Status::Unknown => Exit::Unknown,
        _ => Exit::Yes,
    }
}

pub(super) fn read_lock(common: &Common) -> Result<Lock, Failure> {
    let place = files::lock_place(common)?;
    files::read_lock(&place)?.ok_or_else(|| {
        let help = "run `gpuenv lock` first, or judge against a spec with `--against gpuenv.toml`";
        files::missing_lock(common, &place, help)
    })
}

/// The lock that a spec would have, and the catalog it rests on; none if it has none, which is told.
pub(super) fn solved(path: &Path, report: &Report) -> Result<Option<(Lock, Cow<'static, Catalog>)>, Failure> {
    let Asked { file, spec, catalog } = read(path)?;
    let report = report.clone().of(files::named_spec(path));
    let rules = Problem::new(&catalog);
    let asked = Request::new(&spec, &rules).map_err(|errors| Failure::spec(errors, file.clone()));
    match renew(&spec, &asked?.0, None, &Upgrade::Nothing, &Steps::default()) {
        Renewed::Lock(lock, _) => Ok(Some((*lock, catalog))),
        Renewed::Undetermined(unknowns) => {
            let facts: Vec<&str> = unknowns.iter().map(|unknown| unknown.fact.as_str()).collect();
            let message = format!("not known: {}", facts.join(" and "));
            Err(Failure::new(Exit::Unknown, "undetermined", message)
                .help(report.named("run `gpuenv lock`: it tells how to find out")))
        }
        Renewed::GaveUp => Err(gave_up()),
        Renewed::Conflict => {
            let found = explain::conflicts(&spec, &rules, &Steps::default());
            report.conflict(&found.unwrap_or(Explanation::gave_up(Steps::LIMIT)), &spec, &file)?;
            Ok(None)
        }
    }
}

/// The targets to try: the one that is named, else all.
pub(super) fn chosen<'l>(lock: &'l Lock, named: Option<&str>) -> Result<Vec<&'l str>, Failure> {
    let all: Vec<&str> = lock.target.keys().map(String::as_str).collect();
    let list = || format!("the targets are: {}", shorten(&all, NAMED));
    match named {
        None if all.is_empty() => Err(no_target()),
        None => Ok(all),
        Some(named) => match all.iter().find(|name| **name == named) {
            Some(name) => Ok(vec![name]),
            None => {
                let message = format!("the lock has no target `{}`", crate::report::clean(named));
                Err(Failure::new(Exit::BadInput, "unknown-target", message).help(list()))
            }
        },
    }
}

/// What is asked of the probes: everything that the targets would run.
pub(super) fn asked(lock: &Lock, targets: &[&str], catalog: &Catalog) -> ProbeOptions {
    let targets: Vec<&TargetLock> = targets.iter().filter_map(|name| lock.target.get(*name)).collect();
    let lists = targets.iter().filter_map(|target| ArchList::parse_torch(&lock.arch_list_of(target)?.torch).ok());
    let sass: BTreeSet<Arch> = lists.flat_map(|list| list.sass().collect::<Vec<_>>()).collect();
    let cuda = targets.iter().find_map(|target| target.toolkit.as_ref().or_else(|| lock.stack_of(target).get("cuda")));
    let cuda = cuda.and_then(|cuda| Version::parse(cuda).ok());
    ProbeOptions {
        sass: sass.into_iter().collect(),
        ptx_isa: cuda.as_ref().and_then(|cuda| catalog.toolkit(cuda)).map(|row| row.ptx_isa),
        cuda: cuda.map(|cuda| cuda.prefix(2)),
        packages: targets.iter().flat_map(|target| lock.stack_of(target).keys().cloned()).collect(),
        build: targets.iter().any(|target| target.toolkit.is_some()),
        ..ProbeOptions::default()
    }
}

/// The same as deeply and with what else was typed.
fn options(lock: &Lock, targets: &[&str], catalog: &Catalog, args: &VerifyArgs) -> ProbeOptions {
    ProbeOptions {
        depth: args.depth(),
        python: args.python.clone(),
        trust: args.trust_library_path,
        limit: args.timeout.map(Duration::from_secs),
        ..asked(lock, targets, catalog)
    }
}

/// The host: somebody's record, or this machine as probes see it.
fn host((common, args): (&Common, &VerifyArgs), options: ProbeOptions, report: &Report) -> Result<Record, Failure> {
    if let Some(path) = &args.host {
        return described::read_host(path, report);
    }
    let record = observe::observe(options, args.root.as_deref(), report)?;
    if let Some(file) = recorded(common, args)? {
        observe::save(&file, &record, common)?;
    }
    Ok(record)
}

impl VerifyArgs {
    fn depth(&self) -> Depth {
        match (self.quick, self.full) {
            (true, _) => Depth::Quick,
            (_, true) => Depth::Full,
            _ => Depth::Usual,
        }
    }
}
