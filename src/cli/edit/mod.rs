//! `gpuenv add`, `remove` and `target`: gpuenv.toml edited, its layout kept, and locked. Both files are written, or
//! neither is.

mod package;

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::catalog::{Catalog, at_hand};
use crate::cli::project::shown;
use crate::explain::{self, Change, Explanation};
use crate::init::manifest::alone;
use crate::lock::{self, Lock, Renewed, Upgrade, renew};
use crate::report::{Exit, Failure, Fate, Problem, Report, SourceFile};
use crate::solve::engine::Steps;
use crate::solve::problem::Problem as Compiled;
use crate::solve::request::{Request, is_ordinary, is_unheard_of};
use crate::solve::suppress::heard;
use crate::solve::unknowns::Unknown;
use crate::spec::{self, RewriteError, Spec, SpecError, Written, is_incomplete, list_text};
use crate::task::gave_up;
use crate::task::lock::Asked;
use crate::task::typed::typed;
use crate::types::name;
use crate::types::plain::{NAMED, shorten};
use crate::warning::Warning;

use super::args::edit::{AddArgs, RemoveArgs, TargetArgs, TargetCommand, target_keys};
use super::atomic_write::{replace, replace_spec, restore_spec};
use super::common::Common;
use super::files::{self, Places};
use super::load_catalog;
use super::lock::{asked, undetermined};
use super::newer;
use super::origin;
use super::turn::Turn;
use package::Table;

/// Adds packages, or changes what is asked of them.
pub fn add(common: &Common, args: &AddArgs, report: &Report) -> Result<Exit, Failure> {
    let begun = Begun::read(common, args.mode.dry_run, report)?;
    let catalog = begun.catalog();
    let problem = Compiled::new(&catalog);
    let (mut edits, mut named, mut notes, mut unheard_of) = (Vec::new(), BTreeSet::new(), Vec::new(), Vec::new());
    few(&args.packages)?;
    for word in &args.packages {
        let (table, name, constraint) = package::read(word, |name| begun.table_of(name, &problem))?;
        // `==` is that release for pip, and none of its post releases.
        let of_pip = alone(&catalog, &name, &constraint).filter(|_| table == Table::Stack);
        let constraint = of_pip.unwrap_or(constraint);
        let (key, of) = (table.key(&name), table.name());
        begun.refuse_own(&name)?;
        if !named.insert(key.clone()) {
            return Err(bad("duplicate", format!("`{name}` is named twice"), "name each package once"));
        }
        let was = begun.spec.text(&key);
        if let Some(was) = was.as_ref().filter(|_| constraint == "*" && !word.contains('*')) {
            let any = match table == Table::Stack && was != "*" {
                true => format!("; `{name} = \"*\"` there means any version"),
                false => String::new(),
            };
            notes.push(format!("`{name}` is in [{of}] already, as `{was}`, which stays{any}"));
            continue;
        }
        if let Some(was) = was.as_ref().filter(|was| **was != constraint) {
            notes.push(format!("`{name}` is in [{of}] already: `{was}` becomes `{constraint}`"));
        }
        if was.is_none() && table == Table::Packages && is_unheard_of(&problem, &name) {
            package::refuse_other(&catalog, word, &constraint)?;
            unheard_of.push(format!("`{name}`"));
        }
        edits.push((key, Some(constraint)));
    }
    let after = spec::rewrite(&begun.file.text, &edits).map_err(unwritable)?;
    notes.iter().for_each(|note| report.note(note));
    let exit = begun.finish(after, edits, args.mode.dry_run, report)?;
    if exit == Exit::Yes && !unheard_of.is_empty() {
        let names = unheard_of.join(", ");
        report.note(&format!(
            "not in the catalog, which is why it goes under [packages]: {names}; an overlay can describe what depends on CUDA"
        ));
    }
    Ok(exit)
}

/// More packages are not typed, and each is looked for in the file.
const MOST: usize = 500;

fn few(packages: &[String]) -> Result<(), Failure> {
    if packages.len() <= MOST {
        return Ok(());
    }
    let message = format!("{} packages are named, and at most {MOST} are taken at once", packages.len());
    Err(bad("too-many", message, "write them into gpuenv.toml, or give them in several runs"))
}

/// Removes packages.
pub fn remove(common: &Common, args: &RemoveArgs, report: &Report) -> Result<Exit, Failure> {
    let begun = Begun::read(common, args.mode.dry_run, report)?;
    few(&args.packages)?;
    let mut edits = Vec::new();
    for word in &args.packages {
        let name = name::package(word);
        begun.refuse_own(&name)?;
        let keys = [Table::Stack, Table::Packages].map(|table| table.key(&name));
        let Some(key) = keys.into_iter().find(|key| begun.spec.text(key).is_some()) else {
            let Spec { stack, packages, .. } = &begun.spec;
            let of_packages = packages.iter().map(|(name, _)| name.as_str());
            let there: Vec<&str> = stack.iter().map(|(name, _)| name.as_str()).chain(of_packages).collect();
            let message =
                format!("`{}` is not in [stack] or [packages] of {}", crate::report::clean(word), begun.file.name);
            return Err(bad("unknown-package", message, &listed("what is there", &there)));
        };
        if !edits.iter().any(|(known, _)| *known == key) {
            edits.push((key, None));
        }
    }
    let after = spec::rewrite(&begun.file.text, &edits).map_err(unwritable)?;
    begun.finish(after, edits, args.mode.dry_run, report)
}

/// Adds a target or removes one.
pub fn target(common: &Common, args: &TargetArgs, report: &Report) -> Result<Exit, Failure> {
    let begun = Begun::read(common, args.mode().dry_run, report)?;
    let names: Vec<&str> = begun.spec.targets.iter().map(|target| target.name.as_str()).collect();
    match &args.command {
        TargetCommand::Add(args) => {
            let name = args.name.as_str();
            let keys: Vec<(String, String)> =
                args.keys.0.iter().map(|(key, values)| (key.to_string(), one_or_more(values))).collect();
            if names.contains(&name) {
                let message = format!("{} has a target `{name}` already", begun.file.name);
                let help = format!("choose another name, or remove that one: `gpuenv target remove {name}`");
                return Err(bad("exists", message, &help));
            }
            check_target(name, &keys)?;
            let after = spec::add_target(&begun.file.text, name, &keys).map_err(unwritable)?;
            let mut edits: Vec<_> =
                keys.into_iter().map(|(key, value)| (format!("target.{name}.{key}"), Some(value))).collect();
            if edits.is_empty() {
                edits.push((format!("target.{name}"), Some("{}".to_string())));
            }
            begun.finish(after, edits, args.mode.dry_run, report)
        }
        TargetCommand::Remove(args) => {
            let name = args.name.as_str();
            if !names.contains(&name) {
                let message = format!("{} has no target `{}`", begun.file.name, crate::report::clean(name));
                return Err(bad("unknown-target", message, &listed("the targets are", &names)));
            }
            if names.len() == 1 {
                let message =
                    format!("`{name}` is the only target of {}, which needs one: nothing was removed", begun.file.name);
                return Err(bad("missing", message, "add another one first: `gpuenv target add NAME --gpu …`"));
            }
            begun.refuse_named(name)?;
            let after = spec::remove_target(&begun.file.text, name).map_err(unwritable)?;
            let of = format!("target.{name}.");
            let keys = begun.spec.keys().into_iter().filter(|key| key.starts_with(&of));
            begun.finish(after, keys.map(|key| (key, None)).collect(), args.mode.dry_run, report)
        }
    }
}

fn bad(code: &'static str, message: String, help: &str) -> Failure {
    Failure::new(Exit::BadInput, code, message).help(help)
}

fn unwritable(error: RewriteError) -> Failure {
    bad("rewrite", error.to_string(), "edit gpuenv.toml, then run `gpuenv lock`; nothing was written")
}

fn listed(what: &str, names: &[&str]) -> String {
    if names.is_empty() { "there is none".to_string() } else { format!("{what}: {}", shorten(names, NAMED)) }
}

fn one_or_more(values: &[String]) -> String {
    match values {
        [one] => one.clone(),
        several => list_text(several),
    }
}

/// Refuses what no target can be called or hold, by the option that it was typed behind.
fn check_target(name: &str, keys: &[(String, String)]) -> Result<(), Failure> {
    let alone = spec::add_target("[stack]\ntorch = \"*\"\n", "x", keys);
    let named = spec::add_target("[stack]\ntorch = \"*\"\n", name, &[]);
    if alone.is_ok() && named.is_ok() {
        return Ok(());
    }
    let mut lines = format!("[stack]\ntorch = \"*\"\n[target.{}]\n", toml::Value::from(name));
    for (key, value) in keys {
        let value = if value.starts_with('[') { value.clone() } else { toml::Value::from(value.as_str()).to_string() };
        lines += &format!("{key} = {value}\n");
    }
    let (_, errors) = spec::parse_part(&lines);
    let options: Vec<&str> = target_keys().iter().map(|key| key.name).collect();
    let problems = errors.into_iter().map(|error| typed(error, &lines, &options)).collect();
    Err(Failure { exit: Exit::BadInput, problems, file: None })
}

/// A gpuenv.toml that is to be changed. It may still lack its packages or its targets.
struct Begun {
    places: Places,
    file: SourceFile,
    spec: Spec,
    is_complete: bool,
    /// Until both files are written.
    _turn: Option<Turn>,
}

/// What keeps a spec from an answer: sets of keys that cannot hold together, and what nobody has read.
type Troubles = BTreeSet<Vec<String>>;

impl Begun {
    fn read(common: &Common, dry_run: bool, report: &Report) -> Result<Begun, Failure> {
        let places = files::places(common)?;
        let turn = if dry_run { None } else { Some(Turn::take(&places.spec, report)?) };
        let file = files::read_spec(&places.spec)?;
        let (spec, errors) = spec::parse_part(&file.text);
        if !errors.iter().all(is_incomplete) {
            return Err(Failure::spec(errors, file));
        }
        Ok(Begun { places, file, spec, is_complete: errors.is_empty(), _turn: turn })
    }

    /// The facts that its packages are looked up in. Where its overlays cannot be read, the next step tells.
    fn catalog(&self) -> Cow<'static, Catalog> {
        let own = load_catalog::of_spec(&self.spec, &self.file, &self.places.spec);
        own.unwrap_or_else(|_| Cow::Borrowed(at_hand()))
    }

    /// Where a package stands or belongs.
    fn table_of(&self, name: &str, problem: &Compiled<'_>) -> Table {
        let is_there = self.spec.packages.iter().any(|(known, _)| known == name);
        let is_carried = is_there || is_ordinary(problem, name) || is_unheard_of(problem, name);
        if is_carried { Table::Packages } else { Table::Stack }
    }

    /// Refuses to write a constraint for a build of the user's own, or to take it away: it is a table with a meaning.
    fn refuse_own(&self, name: &str) -> Result<(), Failure> {
        let Some(own) = self.spec.own.iter().find(|own| *own.package == *name) else { return Ok(()) };
        let message = format!("`{name}` is a build of your own in {}: {}", self.file.name, own.full_version());
        let help = format!("change or remove the entry of `{name}` under [stack] by hand, then run `gpuenv lock`");
        Err(bad("rewrite", message, &help))
    }

    /// Refuses to remove a target that other tables name: each is shown at its place.
    fn refuse_named(&self, name: &str) -> Result<(), Failure> {
        let Spec { overrides, silences, exports, .. } = &self.spec;
        let named = (overrides.iter().map(|one| ("[[override]]", &one.target)))
            .chain(silences.iter().map(|one| ("[[silence]]", &one.target)))
            .chain(exports.iter().map(|one| ("[export]", &one.target)));
        let is_named = |(table, target): (&str, &Option<Written<String>>)| {
            let target = target.as_ref().filter(|target| target.value == name)?;
            Some(Problem {
                code: "target-in-use",
                message: format!("an entry of {table} names the target `{name}`, which is to be removed"),
                span: Some(target.span.clone()),
                help: Some(format!("remove that entry, or its `target`; then `gpuenv target remove {name}`")),
            })
        };
        let problems: Vec<Problem> = named.filter_map(is_named).collect();
        match problems.is_empty() {
            true => Ok(()),
            false => Err(Failure { exit: Exit::BadInput, problems, file: Some(self.file.clone()) }),
        }
    }

    /// Locks the changed text, and writes both files if that makes no new conflict.
    fn finish(
        &self,
        after: String,
        edits: Vec<(String, Option<String>)>,
        dry_run: bool,
        report: &Report,
    ) -> Result<Exit, Failure> {
        let asked = asked(SourceFile { text: after, ..self.file.clone() }, &self.places.spec).map_err(without_place)?;
        let rules = Compiled::new(&asked.catalog);
        let (request, warnings) = match Request::new(&asked.spec, &rules) {
            Ok(asked) => asked,
            Err(errors) => return Err(self.refused(errors, &asked)),
        };
        let previous = match files::lock_text(&self.places.lock)? {
            Some(text) => Some(files::parse_lock(&self.places.lock, &text)?),
            None => None,
        };
        if let Some(previous) = &previous {
            origin::check(previous, &self.spec, &self.places, false)?;
            if lock::is_newer(previous, &asked.catalog) {
                return Err(newer::refused(previous, &asked.catalog));
            }
        }
        let changes = edits.into_iter().map(|(key, to)| Change { from: self.spec.text(&key), key, to });
        let changes = changes.filter(|change| change.from != change.to).collect();
        let change = Changed { begun: self, asked: &asked, rules: &rules, dry_run, report, changes };
        match renew(&asked.spec, &request, previous.as_ref(), &Upgrade::Nothing, &Steps::default()) {
            Renewed::Lock(lock, more) => change.write(*lock, previous.as_ref(), [warnings, more].concat()),
            Renewed::Conflict => change.conflict(),
            Renewed::Undetermined(unknowns) => change.undetermined(&unknowns),
            Renewed::GaveUp => Err(gave_up()),
        }
    }

    /// Names that the catalog lacks: told at their places if they stood in the file before, else as what was typed.
    fn refused(&self, errors: Vec<SpecError>, after: &Asked) -> Failure {
        let rules = Compiled::new(&after.catalog);
        match Request::new(&self.spec, &rules) {
            Err(before) => Failure::spec(before, self.file.clone()),
            Ok(_) => without_place(Failure::spec(errors, after.file.clone())),
        }
    }

    /// What kept the spec from an answer before it was changed.
    fn troubles(&self) -> Result<Troubles, Failure> {
        let none = Troubles::new();
        if !self.is_complete {
            return Ok(none);
        }
        let asked = asked(self.file.clone(), &self.places.spec)?;
        let rules = Compiled::new(&asked.catalog);
        let Ok((request, _)) = Request::new(&asked.spec, &rules) else { return Ok(none) };
        Ok(match renew(&asked.spec, &request, None, &Upgrade::Nothing, &Steps::default()) {
            Renewed::Conflict => {
                let found = explain::conflicts(&asked.spec, &rules, &Steps::default());
                found.map_or(none, |found| troubles_of(&found).chain(found.alternatives.clone()).collect())
            }
            Renewed::Undetermined(unknowns) => unknowns.iter().map(|unknown| vec![unknown.fact.clone()]).collect(),
            Renewed::Lock(..) | Renewed::GaveUp => none,
        })
    }
}

fn troubles_of(explanation: &Explanation) -> impl Iterator<Item = Vec<String>> {
    explanation.conflicts.iter().chain(&explanation.further).map(|conflict| conflict.culprits.clone())
}

/// The text that a mistake stands in was never written, so its lines would mean nothing.
fn without_place(failure: Failure) -> Failure {
    let problems = failure.problems.into_iter().map(|problem| Problem { span: None, ..problem });
    Failure { exit: failure.exit, problems: problems.collect(), file: None }
}

/// A changed spec that was asked.
struct Changed<'a> {
    begun: &'a Begun,
    asked: &'a Asked,
    rules: &'a Compiled<'a>,
    changes: Vec<Change>,
    dry_run: bool,
    report: &'a Report,
}

impl Changed<'_> {
    /// Writes the spec first: whoever is killed in between finds a lock that is stale, and `gpuenv lock` goes on from
    /// there. Where the lock cannot be written, the spec is what it was.
    fn write(&self, lock: Lock, previous: Option<&Lock>, warnings: Vec<Warning>) -> Result<Exit, Failure> {
        let Begun { places, file, .. } = self.begun;
        let lock = Lock { spec: origin::of(places), ..lock };
        let text = lock::to_text(&lock);
        files::check_new_lock(&places.lock, &text)?;
        let fate = if self.dry_run {
            Fate::Planned
        } else {
            replace_spec(&places.spec, &file.text, &self.asked.file.text)?;
            match replace(&places.lock, &text) {
                Ok(true) => Fate::Written,
                Ok(false) => Fate::Same,
                Err(failure) => {
                    restore_spec(&places.spec, &self.asked.file.text, &file.text)?;
                    return Err(failure);
                }
            }
        };
        self.report.edited(file, &self.asked.file.text, self.dry_run);
        let warnings = heard(&self.asked.spec, warnings);
        self.report.annotations(&warnings, &self.asked.spec, &self.asked.file)?;
        self.report.clone().after(self.changes.clone()).locked(&lock, previous, fate, &warnings)?;
        Ok(Exit::Yes)
    }

    fn conflict(&self) -> Result<Exit, Failure> {
        let found = explain::conflicts(&self.asked.spec, self.rules, &Steps::default());
        let found = found.unwrap_or(Explanation::gave_up(Steps::LIMIT));
        let is_old = self.are_old(troubles_of(&found))?;
        self.begin(is_old)?.conflict(&found, &self.asked.spec, &self.asked.file)?;
        self.end(is_old, Exit::No)
    }

    fn undetermined(&self, unknowns: &[Unknown]) -> Result<Exit, Failure> {
        let is_old = self.are_old(unknowns.iter().map(|unknown| vec![unknown.fact.clone()]))?;
        let Asked { spec, file, .. } = self.asked;
        let exit = undetermined(unknowns, spec, self.rules, file, &self.begin(is_old)?)?;
        self.end(is_old, exit)
    }

    /// Writes what is no worse than before. The report says of it that it was changed; of a change that is not written the
    /// fixes are of no file that `--apply-fix` reads.
    fn begin(&self, is_old: bool) -> Result<Report, Failure> {
        let report = self.report.clone();
        if !is_old {
            return Ok(report.beyond_file());
        }
        if !self.dry_run {
            replace_spec(&self.begun.places.spec, &self.begun.file.text, &self.asked.file.text)?;
        }
        Ok(report.after(self.changes.clone()))
    }

    /// Whether there is trouble, all of which was there before.
    fn are_old(&self, now: impl Iterator<Item = Vec<String>>) -> Result<bool, Failure> {
        let now: Troubles = now.collect();
        if now.is_empty() {
            return Ok(false);
        }
        let before = self.begun.troubles()?;
        Ok(now.is_subset(&before))
    }

    /// Tells what became of the files: a lock that has no answer to the spec cannot be written.
    fn end(&self, is_old: bool, exit: Exit) -> Result<Exit, Failure> {
        let Begun { places, file, .. } = self.begun;
        let (spec, lock) = (shown(&places.spec), shown(&places.lock));
        if !is_old {
            self.report.unchanged(&[spec, lock]);
            return Ok(exit);
        }
        self.report.edited(file, &self.asked.file.text, self.dry_run);
        self.report.note("what stands in the way of a lock was there before");
        self.report.unchanged(&[lock]);
        Ok(exit)
    }
}
