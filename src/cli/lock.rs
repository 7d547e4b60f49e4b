//! `gpuenv lock`: gpuenv.toml resolved into gpuenv.lock.

use std::fs;
use std::path::Path;

use crate::catalog::Catalog;
use crate::explain;
use crate::lock::{self, CatalogStamp, Lock, Renewed, Upgrade, renew, staleness};
use crate::report::{Exit, Failure, Fate, Report, SourceFile};
use crate::solve::engine::Steps;
use crate::solve::problem::Problem as Compiled;
use crate::solve::request::{Request, admits_nothing};
use crate::solve::suppress::heard;
use crate::solve::unknowns::Unknown;
use crate::spec::Spec;
use crate::task::lock::{Asked, Outcome};
use crate::task::{self, fix};
use crate::types::constraint::Comparison;
use crate::types::name::STACK_PARTS;
use crate::types::{Constraint, Version, name};
use crate::warning::{LockOutdated, Warning};

use super::args::LockArgs;
use super::atomic_write::{replace, replace_spec, restore_spec};
use super::catalog_age;
use super::common::Common;
use super::files::{self, Places};
use super::load_catalog;
use super::newer;
use super::origin;
use super::project::shown;
use super::turn::Turn;

/// What to do about a lock that is out of date.
const TO_UPDATE: &str = "run `gpuenv lock` to bring it up to date";

/// Runs the command.
pub fn run(common: &Common, args: &LockArgs, report: &Report) -> Result<Exit, Failure> {
    let places = files::places(common)?;
    let writes = !args.check && !args.dry_run;
    let _turn = writes.then(|| Turn::take(&places.spec, report)).transpose()?;
    let asked = read(&places.spec)?;
    let Some(number) = args.apply_fix else { return lock(&places, &asked, args, report) };
    let fixed = fix::apply(&asked, &Compiled::new(&asked.catalog), number)?;
    let edited = self::asked(SourceFile { text: fixed.text, ..asked.file.clone() }, &places.spec)?;
    if !args.dry_run {
        replace_spec(&places.spec, &asked.file.text, &edited.file.text)?;
    }
    report.edited(&asked.file, &edited.file.text, args.dry_run);
    let before = fs::read(&places.lock).ok();
    let outcome = lock(&places, &edited, args, &report.clone().after(fixed.changes));
    // Both files are written, or neither is.
    if outcome.is_err() && !args.dry_run && fs::read(&places.lock).ok() == before {
        restore_spec(&places.spec, &edited.file.text, &asked.file.text)?;
        report.note(&format!("{} is as it was before", shown(&places.spec)));
    }
    outcome
}

/// Reads a spec and its overlays.
pub(super) fn read(place: &Path) -> Result<Asked, Failure> {
    asked(files::read_spec(place)?, place)
}

/// A spec of this text that lies, or will lie, at this place.
pub(super) fn asked(file: SourceFile, place: &Path) -> Result<Asked, Failure> {
    task::lock::read(file, |spec, file| load_catalog::of_spec(spec, file, place))
}

fn lock(places: &Places, asked: &Asked, args: &LockArgs, report: &Report) -> Result<Exit, Failure> {
    let Asked { file, spec, catalog } = asked;
    catalog_age::tell_age(catalog, &spec.silences, report);
    let previous = match args.fresh {
        true => may_be_replaced(spec, places, args.force).map(|()| None)?,
        false => files::lock_text(&places.lock)?,
    };
    let rules = Compiled::new(catalog);
    let run = Run { args, report, places, origin: origin::of(places), file, spec, rules: &rules, catalog };
    match previous {
        None if args.check => {
            // A spec with mistakes is told as such, be there a lock or not.
            run.question(spec)?;
            report.no_lock(&shown(&places.lock), files::absence(&places.lock), spec, file)?;
            Ok(Exit::No)
        }
        Some(text) => match run.unchanged(&text) {
            Some((lock, warnings)) => run.keep(&lock, warnings),
            None => run.relock(&files::parse_lock(&places.lock, &text)?),
        },
        // There is nothing to keep, but a version that is asked for binds all the same.
        None => run.anew(None, &Upgrade::Nothing, pins(&args.upgrade_package, spec, None)?),
    }
}

/// The lock of a later gpuenv or of another spec, and what is no lock, is not replaced by a fresh one.
fn may_be_replaced(spec: &Spec, places: &Places, force: bool) -> Result<(), Failure> {
    match files::read_lock(&places.lock) {
        Ok(None) => Ok(()),
        Ok(Some(lock)) => origin::check(&lock, spec, places, force),
        Err(failure) => {
            let is = |code: &str| failure.problems.iter().any(|problem| problem.code == code);
            let is_no_lock = is(files::NOT_A_LOCK);
            let is_spec = is_no_lock && files::holds_spec(&places.lock);
            match () {
                () if is("newer-lock") || is_spec => Err(failure),
                () if is_no_lock && !force => {
                    Err(failure.help("name another file with --lock, or replace this one with --force"))
                }
                () => Ok(()),
            }
        }
    }
}

struct Run<'a> {
    args: &'a LockArgs,
    report: &'a Report,
    places: &'a Places,
    /// What the lock says of its spec.
    origin: Option<String>,
    file: &'a SourceFile,
    spec: &'a Spec,
    rules: &'a Compiled<'a>,
    catalog: &'a Catalog,
}

impl<'a> Run<'a> {
    /// The lock of this text, if it is to the byte what would be written with no lock at hand. Solving is quicker
    /// than reading; and since the best answer stays the best when its own choices are tried first, reading
    /// could not end otherwise.
    fn unchanged(&self, text: &str) -> Option<(Box<Lock>, Vec<Warning>)> {
        let stamp = CatalogStamp::of(self.catalog);
        let upgrades = self.args.upgrade || !self.args.upgrade_package.is_empty();
        if upgrades || !text.starts_with(&lock::head(self.origin.as_deref(), &stamp, &self.spec.inputs())) {
            return None;
        }
        let (request, mut warnings) = self.question(self.spec).ok()?;
        let Renewed::Lock(mut lock, more) = renew(self.spec, &request, None, &Upgrade::Nothing, &Steps::default())
        else {
            return None;
        };
        lock.spec = self.origin.clone();
        warnings.extend(more);
        (lock::to_text(&lock) == text).then_some((lock, warnings))
    }

    /// Leaves the lock as it is.
    fn keep(&self, lock: &Lock, warnings: Vec<Warning>) -> Result<Exit, Failure> {
        self.locked(lock, Some(lock), Fate::Current, warnings)?;
        Ok(Exit::Yes)
    }

    /// With a lock at hand: it is kept if it is current and nothing is to be upgraded.
    fn relock(&self, previous: &Lock) -> Result<Exit, Failure> {
        if !self.args.check {
            origin::check(previous, self.spec, self.places, self.args.force)?;
        }
        if lock::is_newer(previous, self.catalog) {
            return self.keep_newer(previous);
        }
        if self.args.upgrade {
            return self.anew(Some(previous), &Upgrade::All, Vec::new());
        }
        if !self.args.upgrade_package.is_empty() {
            let pins = pins(&self.args.upgrade_package, self.spec, Some(previous))?;
            let packages = pins.iter().map(|pin| pin.package.clone()).collect();
            return self.anew(Some(previous), &Upgrade::Packages(packages), pins);
        }
        let (request, mut warnings) = self.question(self.spec)?;
        let other = origin::other(previous, self.spec, self.places);
        let spec = shown(&self.places.spec);
        let help = match &other {
            Some(_) => origin::instead(self.places),
            None => TO_UPDATE.to_string(),
        };
        let mut reasons: Vec<String> =
            other.into_iter().map(|other| format!("it was made from {other}, not from {spec}")).collect();
        reasons.extend(staleness(previous, &self.spec.inputs(), self.catalog));
        if reasons.is_empty() {
            let again = lock::again(self.spec, &request, previous);
            let same_catalog = previous.catalog.digest == self.catalog.digest;
            match again {
                Renewed::Lock(lock, more) if !same_catalog || lock::is_same(&lock, previous) => warnings.extend(more),
                // A later catalog may know better: that is told, but it takes the user to act on it.
                Renewed::Conflict if !same_catalog => warnings.push(outdated(self.catalog, previous)),
                Renewed::GaveUp => {}
                _ => reasons.push(format!(
                    "it does not follow from {spec}: it was edited by hand, or written by another version of gpuenv"
                )),
            }
        }
        if reasons.is_empty() {
            return self.keep(previous, warnings);
        }
        if self.args.check {
            self.report.stale(&reasons, &help, self.spec, self.file)?;
            return Ok(Exit::No);
        }
        if previous.version < lock::FORMAT {
            let (then, now) = (previous.version, lock::FORMAT);
            let lock = shown(&self.places.lock);
            self.report.note(&format!("{lock} has format {then} and is written anew in format {now}"));
        }
        self.anew(Some(previous), &Upgrade::Nothing, Vec::new())
    }

    /// Leaves a lock that was made with a newer catalog as it is, and says so.
    fn keep_newer(&self, previous: &Lock) -> Result<Exit, Failure> {
        let mut reasons = staleness(previous, &self.spec.inputs(), self.catalog);
        let upgrades = self.args.upgrade || !self.args.upgrade_package.is_empty();
        if reasons.is_empty() && !upgrades {
            return self.keep(previous, vec![newer::kept(previous, self.catalog)]);
        }
        if self.args.check {
            reasons.push(newer::reason(previous, self.catalog));
            self.report.stale(&reasons, &newer::help(self.catalog), self.spec, self.file)?;
            return Ok(Exit::No);
        }
        Err(newer::refused(previous, self.catalog))
    }

    /// Solves and writes.
    fn anew(&self, previous: Option<&Lock>, upgrade: &Upgrade, pins: Vec<Pin>) -> Result<Exit, Failure> {
        let asked = pinned(self.spec, &pins, self.catalog)?;
        let report = if pins.is_empty() { self.report.clone() } else { self.report.clone().beyond_file() };
        let (request, mut warnings) = self.question(&asked)?;
        match task::lock::resolve(&asked, &request, self.rules, previous, upgrade)? {
            Outcome::Locked(mut lock, more) => {
                warnings.extend(more);
                if !pins.is_empty() {
                    lock.inputs = self.spec.inputs();
                }
                lock.spec = self.origin.clone();
                let text = lock::to_text(&lock);
                files::check_new_lock(&self.places.lock, &text)?;
                let fate = match (self.args.dry_run, text) {
                    (true, text) if self.is_written(&text) => Fate::Same,
                    (true, _) => Fate::Planned,
                    (false, text) if replace(&self.places.lock, &text)? => Fate::Written,
                    (false, _) => Fate::Same,
                };
                self.locked(&lock, previous, fate, warnings)?;
                Ok(Exit::Yes)
            }
            Outcome::Conflict(explanation) => {
                report.conflict(&explanation, &asked, self.file)?;
                Ok(Exit::No)
            }
            Outcome::Undetermined(unknowns, known) => {
                report.undetermined(&unknowns, known.as_ref(), &asked, self.file)?;
                Ok(Exit::Unknown)
            }
        }
    }

    /// Whether the lock on disk is this text already.
    fn is_written(&self, text: &str) -> bool {
        files::lock_text(&self.places.lock).is_ok_and(|old| old.as_deref() == Some(text))
    }

    /// Tells the lock and those of its warnings that are not silenced.
    fn locked(&self, lock: &Lock, old: Option<&Lock>, fate: Fate, warnings: Vec<Warning>) -> Result<(), Failure> {
        let warnings = heard(self.spec, warnings);
        self.report.annotations(&warnings, self.spec, self.file)?;
        self.report.locked(lock, old, fate, &warnings)
    }

    fn question(&self, spec: &Spec) -> Result<(Request<'a>, Vec<Warning>), Failure> {
        Request::new(spec, self.rules).map_err(|errors| Failure::spec(errors, self.file.clone()))
    }
}

/// Nobody has read what an answer depends on: told with the changes that do without it.
pub(super) fn undetermined<'r>(
    unknowns: &[Unknown],
    spec: &Spec,
    rules: &'r Compiled<'r>,
    file: &SourceFile,
    report: &Report,
) -> Result<Exit, Failure> {
    let known = explain::obstacles(spec, rules, &Steps::default());
    report.undetermined(unknowns, known.as_ref(), spec, file)?;
    Ok(Exit::Unknown)
}

fn outdated(catalog: &Catalog, lock: &Lock) -> Warning {
    Warning::about(&LockOutdated { made_with: &lock.catalog.version, at_hand: &catalog.version }, &[])
}

/// `--upgrade-package NAME[=V]`
struct Pin {
    package: String,
    version: Option<String>,
}

fn pins(words: &[String], spec: &Spec, previous: Option<&Lock>) -> Result<Vec<Pin>, Failure> {
    let locked =
        |lock: &'_ Lock| lock.target.values().flat_map(|target| lock.stack_of(target).keys()).cloned().collect();
    let mut known: Vec<String> = previous.map_or_else(|| STACK_PARTS.map(String::from).to_vec(), locked);
    known.extend(spec.stack.iter().map(|(name, _)| name.clone()));
    known.sort_unstable();
    known.dedup();
    let pin = |word: &String| {
        let (name, version) = word
            .split_once('=')
            .map_or((word.as_str(), None), |(name, version)| (name, Some(version.trim_start_matches('=').to_string())));
        let name = name::package(name);
        if version.as_deref().is_some_and(|version| version.trim().is_empty()) {
            let message = format!("--upgrade-package {}: a version is missing behind `=`", crate::report::clean(word));
            return Err(Failure::new(Exit::BadInput, "usage", message)
                .help(format!("write `--upgrade-package {name}` for the newest that fits")));
        }
        if !known.contains(&name) {
            let message = format!("--upgrade-package: `{name}` is neither in the lock nor under [stack]");
            return Err(Failure::new(Exit::BadInput, "unknown-package", message)
                .help(format!("the packages are: {}", known.join(", "))));
        }
        Ok(Pin { package: name, version })
    };
    words.iter().map(pin).collect()
}

/// The spec with the versions asked for on the command line added to what it says.
fn pinned(spec: &Spec, pins: &[Pin], catalog: &Catalog) -> Result<Spec, Failure> {
    let mut spec = spec.clone();
    for pin in pins {
        let Some(version) = &pin.version else { continue };
        if spec.own.iter().any(|own| own.package == pin.package) {
            let message = format!("--upgrade-package: `{}` is a build of your own", pin.package);
            let help = "change its `version` in gpuenv.toml";
            return Err(Failure::new(Exit::BadInput, "usage", message).help(help));
        }
        let written = spec.stack.iter().find(|(name, _)| *name == pin.package).map(|(_, written)| &written.value);
        let text = match written.filter(|written| !is_within(version, written)) {
            None => version.clone(),
            // "and" binds tighter than "or": the version joins each alternative.
            Some(written) => {
                let joined = written.as_str().split("||").map(|one| format!("{one},{version}"));
                joined.filter(|one| !is_empty(one)).collect::<Vec<_>>().join("||")
            }
        };
        let is_apart = |written: &&Constraint| text.is_empty() || are_apart(&pin.package, written, version, catalog);
        if let Some(written) = written.filter(is_apart) {
            let line = format!("`{} = \"{}\"`", pin.package, written.as_str());
            let message = format!("--upgrade-package {}={version}: gpuenv.toml says {line}", pin.package);
            let asked = match version.starts_with(|c: char| c.is_ascii_digit()) {
                true => format!("{}=={version}", pin.package),
                false => format!("'{}{version}'", pin.package),
            };
            let help = format!("change that line, or type `gpuenv add {asked}`");
            return Err(Failure::new(Exit::BadInput, "usage", message).help(help));
        }
        spec = spec.typed(&pin.package, &text).map_err(|message| {
            Failure::new(Exit::BadInput, "usage", format!("--upgrade-package {}={version}: {message}", pin.package))
        })?;
    }
    Ok(spec)
}

/// Whether all that a version admits is admitted by what is written.
fn is_within(version: &str, written: &Constraint) -> bool {
    let Ok(version) = Version::parse(version) else { return written.is_any() };
    let bounds = |one: &Comparison| one.version.as_ref().is_none_or(|of| of.len() <= version.len());
    written.comparisons().all(|one| one.variant.is_none() && bounds(one)) && written.admits(&version)
}

/// Whether a constraint, of one alternative, is one that no version can meet.
fn is_empty(constraint: &str) -> bool {
    Constraint::parse(constraint).is_ok_and(|parsed| parsed.alternatives().iter().any(|all| admits_nothing(all)))
}

/// Whether what is written admits none of the releases that are asked for.
fn are_apart(package: &str, written: &Constraint, asked: &str, catalog: &Catalog) -> bool {
    let Ok(asked) = Constraint::parse(asked) else { return false };
    let builds = catalog.builds.of(package).iter().map(|row| row.version);
    let companions = catalog.companions.of(package).iter().map(|row| row.version);
    let mut of_both = builds.chain(companions).filter(|version| asked.admits(version)).peekable();
    of_both.peek().is_some() && !of_both.any(|version| written.admits(&version))
}
