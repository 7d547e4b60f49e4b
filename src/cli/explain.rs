//! `gpuenv explain`: why this and not a better one; a rule, a warning or a fact by its name.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::catalog::{Catalog, at_hand, lint};
use crate::diagnose::{self, Finding};
use crate::explain::graph::{self, Language};
use crate::explain::topic::{Described, Topic};
use crate::explain::why::{Verdict, Why, why};
use crate::explain::{self, Explanation, topic};
use crate::lock::{Lock, Upgrade, Wheel, is_newer, keeping, locked};
use crate::meaning;
use crate::nearest::nearest;
use crate::report::{Exit, Failure, Report, SourceFile, Standing, clean};
use crate::solve::compile::Locked;
use crate::solve::engine::Steps;
use crate::solve::problem::Problem;
use crate::solve::request::Request;
use crate::solve::resolve::{Resolution, resolve};
use crate::solve::solution::Solution;
use crate::spec::{KeyDoc, Share, Spec, tables};
use crate::task::gave_up;
use crate::task::lock::Asked;
use crate::types::name::STACK_PARTS;

use super::args::{Drawn, ExplainArgs};
use super::catalog_age;
use super::common::Common;
use super::files::{self, Places};
use super::load_catalog;
use super::lock::{read, undetermined};
use super::newer;
use super::origin;
use super::project::shown;
use super::stale;

/// What is said of a name by which rows are refused.
const OF_LINT: &str = "A lint of the catalog, by which a row is refused that contradicts another one, lacks a field beside \
    another or names what does not exist. The message says which row and what is wrong with it; `gpuenv explain overlay` shows rows.";
/// So much of a word is told again.
const LONGEST: usize = 80;

/// Runs the command.
pub fn run(common: &Common, args: &ExplainArgs, report: &Report) -> Result<Exit, Failure> {
    // A name of several words is rarely quoted: `gpuenv explain RTX 5090`.
    let asked = Some(args.what.join(" ")).filter(|_| !args.what.is_empty());
    let meant = asked.as_deref().map(|name| in_project(name.trim(), common)).transpose()?;
    let what = meant.as_ref().map(|meant| &*meant.name);
    if let Some(asked) = what.filter(|_| args.graph.is_none()).and_then(|name| ordinary(name, common)) {
        let lock = files::read_lock(&files::places(common)?.lock);
        let (lock, exit) =
            lock.map_or_else(|failure| (None, left_aside(OF_SPEC, &failure, report)), |lock| (lock, Exit::Yes));
        let found = asked.topic(lock.as_ref());
        report.topics(found.as_slice())?;
        return Ok(exit);
    }
    if let Some(name) = what.filter(|_| args.graph.is_none()) {
        let catalog = if is_key(name) { Cow::Borrowed(at_hand()) } else { load_catalog::nearby(common)? };
        let mut found = topic::find(&catalog, name);
        found.extend(diagnose::of_code(name).map(of_message));
        found.extend(Topic::meant("check", meaning::CHECKS, name));
        found.extend(Topic::meant("error", meaning::ERRORS, name));
        if found.is_empty() && !is_of_targets(name) {
            let lint = lint::NAMES.iter().find(|lint| **lint == name);
            found.extend(lint.map(|lint| Topic::described("error", *lint, OF_LINT)));
        }
        let spec = spec_here(common);
        // Who has a project asks what a word means in it, too.
        if !is_key(name) && (spec.is_some() || found.is_empty()) {
            found.extend(topic::keys(spec.as_ref(), name));
        }
        if !found.is_empty() {
            let unread = meant.as_ref().and_then(|meant| meant.unread.as_ref());
            let exit = unread.map_or(Exit::Yes, |failure| left_aside(OF_CATALOG, failure, report));
            report.topics(&found)?;
            return Ok(exit);
        }
        if !is_key(name) {
            return Err(unknown(&catalog, name));
        }
    }
    let places = files::places(common)?;
    let Asked { file, spec, catalog } = read(&places.spec)?;
    // The project's choice goes first; what else is called so is told beside it.
    let is_key_meant = |word: &&str| meant.as_ref().is_some_and(|meant| meant.name != *word);
    asked.as_deref().map(str::trim).filter(is_key_meant).into_iter().for_each(|word| tell_codes(word, report));
    catalog_age::tell_age(&catalog, &spec.silences, report);
    let rules = Problem::new(&catalog);
    let (request, _) = Request::new(&spec, &rules).map_err(|errors| Failure::spec(errors, file.clone()))?;
    let project = Project { spec: &spec, file: &file, catalog: &catalog, rules: &rules };
    let without_answer = || project.found(&places, report).map(|found| report.without_answer(&found.standing));
    match resolve(&request, &Locked::new(), &Steps::default()) {
        Resolution::GaveUp => Err(gave_up()),
        Resolution::Conflict => {
            without_answer()?;
            conflict(&spec, &rules, &file, report)
        }
        Resolution::Undetermined(unknowns) => {
            without_answer()?;
            undetermined(&unknowns, &spec, &rules, &file, report)
        }
        Resolution::Solution(fresh) => match args.graph {
            Some(drawn) => project.draw(&places, (&request, &fresh), drawn, report),
            None => project.tell(&places, what, report),
        },
    }
}

/// Tells what a word means between the brackets of a message.
fn tell_codes(word: &str, report: &Report) {
    for (kind, all) in [("a check", meaning::CHECKS), ("an error", meaning::ERRORS), ("a warning", meaning::WARNINGS)] {
        let says = meaning::find(all, word).map(|one| format!("`{word}` is {kind}, too: {}", one.says()));
        says.iter().for_each(|says| report.note(says));
    }
}

/// What `gpuenv diagnose` says of a message, where no text tells more.
fn of_message(one: Finding) -> Topic {
    Topic::Described(Described { kind: "message", id: one.code, says: one.meaning, remedies: one.remedies })
}

/// The same story as `gpuenv lock` tells.
fn conflict<'r>(spec: &Spec, rules: &'r Problem<'r>, file: &SourceFile, report: &Report) -> Result<Exit, Failure> {
    let found = explain::conflicts(spec, rules, &Steps::default());
    report.conflict(&found.unwrap_or(Explanation::gave_up(Steps::LIMIT)), spec, file)?;
    Ok(Exit::No)
}

/// Keys of targets, and parts of the stack, that mean the project's own choice to who has a project, asked for or not.
const OF_TARGETS: [&str; 4] = ["driver", "gpu", "image", "toolkit"];
const OF_STACK: [&str; 2] = ["cuda", "python"];

/// What a word means here.
struct Meant<'a> {
    /// The key of what the spec asks for or the lock holds, where only its name is given: who has a project means that
    /// choice. Else the word.
    name: Cow<'a, str>,
    /// Why a lock was not read that may hold it.
    unread: Option<Failure>,
}

fn in_project<'a>(name: &'a str, common: &Common) -> Result<Meant<'a>, Failure> {
    let means = |name: Cow<'a, str>| Ok(Meant { name, unread: None });
    let place = files::spec_place(common).ok().flatten().filter(|place| !is_key(name) && place.is_file());
    let Some(place) = place else { return means(name.into()) };
    if OF_TARGETS.contains(&name) {
        return means(["target.*.", name].concat().into());
    }
    let key = ["stack.", name].concat();
    let asked = || read(&place).ok()?.spec.text(&key);
    if OF_STACK.contains(&name) || asked().is_some() {
        return means(key.into());
    }
    let names_it = |asked: Asked| asked.spec.targets.iter().any(|target| target.name == name);
    if read(&place).is_ok_and(names_it) {
        return means(["target.", name].concat().into());
    }
    let places = match files::places(common) {
        Ok(places) => places,
        Err(failure) if is_of_stacks(name, common) => return Err(failure),
        Err(_) => return means(name.into()),
    };
    match files::read_lock(&places.lock) {
        Ok(lock) if lock.as_ref().is_some_and(|lock| holds(lock, name)) => means(key.into()),
        Ok(_) => means(name.into()),
        Err(failure) => Ok(Meant { name: name.into(), unread: Some(failure).filter(|_| is_of_stacks(name, common)) }),
    }
}

fn holds(lock: &Lock, name: &str) -> bool {
    let mut of_targets = lock.target.values().map(|target| lock.stack_of(target));
    lock.stack.contains_key(name) || of_targets.any(|stack| stack.contains_key(name))
}

/// Whether a lock can hold something of this name.
fn is_of_stacks(name: &str, common: &Common) -> bool {
    let is_package = |catalog: Cow<'_, Catalog>| Problem::new(&catalog).package_names().any(|known| known == name);
    STACK_PARTS.contains(&name) || load_catalog::nearby(common).is_ok_and(is_package)
}

/// A spec that has an answer.
struct Project<'a> {
    spec: &'a Spec,
    file: &'a SourceFile,
    catalog: &'a Catalog,
    rules: &'a Problem<'a>,
}

/// A lock, whether it is that of the spec, and how it stands to it.
struct Found {
    lock: Option<Lock>,
    is_own: bool,
    standing: Standing,
    exit: Exit,
}

impl Project<'_> {
    /// Draws what is locked, if that is the lock of this spec; else, with a warning, what would be.
    fn draw(
        &self,
        places: &Places,
        (request, fresh): (&Request<'_>, &Solution<'_>),
        drawn: Drawn,
        report: &Report,
    ) -> Result<Exit, Failure> {
        let Found { lock, is_own, standing, exit } = self.found(places, report)?;
        let kept = lock.filter(|_| is_own).map(|lock| keeping(request, &lock, &Steps::default()));
        let drawing = match &kept {
            Some(Resolution::Solution(answer)) => graph::draw(request, answer),
            Some(Resolution::GaveUp) => return Err(gave_up()),
            _ => graph::draw(request, fresh),
        };
        let language = match drawn {
            Drawn::Mermaid => Language::Mermaid,
            Drawn::Dot => Language::Dot,
        };
        report.graph(&drawing, language, &standing)?;
        Ok(exit)
    }

    /// The lock of this project and how it stands to the spec. Of one that cannot be read people are told, and of the rest too;
    /// programs get the error alone.
    fn found(&self, places: &Places, report: &Report) -> Result<Found, Failure> {
        let mut standing = Standing { lock: shown(&places.lock), status: "missing", reason: None };
        let mut exit = Exit::Yes;
        let lock = match files::read_lock(&places.lock) {
            Err(failure) if !report.is_json() => {
                standing.status = "unreadable";
                exit = left_aside(OF_SPEC, &failure, report);
                None
            }
            read => read?,
        };
        let mut is_own = true;
        if let Some(lock) = &lock {
            if is_newer(lock, self.catalog) {
                report.aside(&newer::kept(lock, self.catalog));
            }
            let other = origin::other(lock, self.spec, places).map(|other| format!("it was made from {other}"));
            is_own = other.is_none();
            standing.reason = other.or_else(|| stale::of(lock, self.spec, &self.file.name, self.catalog));
            standing.status = if standing.reason.is_some() { "stale" } else { "current" };
        }
        Ok(Found { lock, is_own, standing, exit })
    }

    /// Explains what is locked, if that is the lock of this spec; else, with a warning, what would be.
    fn tell(&self, places: &Places, what: Option<&str>, report: &Report) -> Result<Exit, Failure> {
        let Found { lock, is_own, standing, exit } = self.found(places, report)?;
        let fresh = self.why(&Locked::new())?;
        // A lock that is out of date is what the next one is made from.
        let told = match lock.as_ref().filter(|_| is_own) {
            Some(lock) => self.kept(lock, &fresh)?,
            None => fresh,
        };
        let told = match what {
            None => told,
            Some(key) => match only(&told, key) {
                Some(told) => told,
                None => {
                    let found = if self.has_target_of(key) { topic::keys(Some(self.spec), key) } else { Vec::new() };
                    if found.is_empty() && !self.has_target_of(key) {
                        return Err(self.no_target(key));
                    }
                    if found.is_empty() {
                        return Err(self.no_part(&told, key));
                    }
                    report.topics(&found)?;
                    return Ok(exit);
                }
            },
        };
        let locked = lock.map(|lock| differing(&lock, &told)).unwrap_or_default();
        report.why(&told, &locked, &standing)?;
        Ok(exit)
    }

    /// Whether a key is of no target, or of one that there is.
    fn has_target_of(&self, key: &str) -> bool {
        let name = key.strip_prefix("target.").and_then(|rest| rest.split('.').next());
        let is_one = |name: &str| self.spec.targets.iter().any(|one| one.name == name);
        // `target.gcc` is meant of each.
        name.is_none_or(|name| ["*", "NAME"].contains(&name) || is_of_targets(name) || is_one(name))
    }

    /// A key of a target that there is not.
    fn no_target(&self, key: &str) -> Failure {
        let name = key.split('.').nth(1).unwrap_or_default();
        let known: Vec<&str> = self.spec.targets.iter().map(|target| target.name.as_str()).collect();
        let message = format!("{}: there is no target `{}`", clean(&self.file.name), clean(name));
        Failure::new(Exit::BadInput, "unknown-target", message).help(format!("there are: {}", clean(&known.join(", "))))
    }

    /// A key about which nothing was chosen.
    fn no_part(&self, told: &Why, key: &str) -> Failure {
        let mut keys: Vec<&str> = told.choices.iter().map(|choice| choice.key.as_str()).collect();
        keys.dedup();
        let what = if self.spec.text(key).is_some() { "is given, not chosen" } else { "is not part of the answer" };
        let shown = key.strip_prefix("target.*.").unwrap_or(key);
        let message = format!("{}: `{}` {what}", clean(&self.file.name), clean(shown));
        let about = doc(key).map_or(String::new(), |doc| format!("{}\n", doc.description()));
        Failure::new(Exit::BadInput, "unknown-topic", message)
            .help(format!("{about}what was chosen: {}", keys.join(", ")))
    }

    fn why(&self, kept: &Locked) -> Result<Why, Failure> {
        why(self.spec, self.rules, kept, &Steps::default()).ok_or_else(gave_up)
    }

    /// What a current lock holds. A choice that would be another today is one that it keeps.
    fn kept(&self, lock: &Lock, fresh: &Why) -> Result<Why, Failure> {
        let share = self.spec.resolve.share;
        // Targets that share nothing keep choices of one name each; they are told as they would be chosen today.
        if share == Share::None {
            return Ok(fresh.clone());
        }
        let names: Vec<&str> = self.spec.targets.iter().map(|target| target.name.as_str()).collect();
        let mut told = self.why(&locked(lock, share, &names, &Upgrade::Nothing))?;
        // What the lock alone holds back needs no other line in gpuenv.toml.
        told.openings.clone_from(&fresh.openings);
        let fresh: HashMap<_, _> = fresh.choices.iter().map(|now| ((now.key.as_str(), now.part), now)).collect();
        for choice in &mut told.choices {
            let now = fresh.get(&(choice.key.as_str(), choice.part));
            // What follows from others that are kept says so itself.
            let is_chosen = !matches!(choice.verdict, Verdict::Follows | Verdict::Minimum);
            if let Some(now) = now.filter(|now| is_chosen && now.chosen != choice.chosen) {
                let says =
                    format!("kept by the lock, since it still fits; `gpuenv lock --upgrade` takes {}", now.chosen);
                choice.because = vec![says];
                choice.rejected.clear();
            }
        }
        Ok(told)
    }
}

const OF_SPEC: &str = "this explains gpuenv.toml alone, not compared with the lock";
const OF_CATALOG: &str = "this explains the catalog alone, not the lock";

/// A lock that cannot be read is no reason not to explain the spec, and not to be passed over either.
fn left_aside(told: &str, failure: &Failure, report: &Report) -> Exit {
    report.left_aside(told, failure);
    failure.exit
}

/// A package of `[packages]` of the spec here.
struct Ordinary<'a> {
    name: &'a str,
    spec: Spec,
    catalog: Cow<'static, Catalog>,
}

fn ordinary<'a>(name: &'a str, common: &Common) -> Option<Ordinary<'a>> {
    let place = files::spec_place(common).ok()??;
    let Asked { spec, catalog, .. } = read(&place).ok()?;
    topic::ordinary(&catalog, &spec, name, &[], &BTreeSet::new()).is_some().then_some(Ordinary { name, spec, catalog })
}

impl Ordinary<'_> {
    /// What there is to say of it.
    fn topic(&self, lock: Option<&Lock>) -> Option<Topic> {
        let wheels = lock.into_iter().flat_map(|lock| &lock.wheel);
        let asks = |wheel: &Wheel| {
            let release = wheel.version.split('+').next().unwrap_or_default();
            let package = format!("{} {release}", wheel.package);
            wheel.asks.iter().map(move |asked| (package.clone(), asked.clone())).collect::<Vec<_>>()
        };
        let needed: BTreeSet<_> = wheels.flat_map(asks).collect();
        let stacks = lock.into_iter().flat_map(|lock| lock.target.values().map(|target| lock.stack_of(target)));
        let here = stacks.flat_map(|stack| stack.keys().cloned().collect::<Vec<_>>()).collect();
        topic::ordinary(&self.catalog, &self.spec, self.name, &needed.into_iter().collect::<Vec<_>>(), &here)
    }
}

/// The spec of the project here, if it can be read.
fn spec_here(common: &Common) -> Option<Spec> {
    let place = files::spec_place(common).ok()??;
    read(&place).ok().map(|asked| asked.spec)
}

fn is_key(name: &str) -> bool {
    name == "stack" || name == "target" || name.starts_with("stack.") || name.starts_with("target.")
}

/// Whether it is a key that each target can have.
fn is_of_targets(name: &str) -> bool {
    tables().iter().any(|table| table.name == "target" && table.keys.iter().any(|key| key.name == name))
}

/// What is told of a key, `target.NAME.clang`.
fn doc(key: &str) -> Option<KeyDoc> {
    let (of, name) = (key.split('.').next()?, key.rsplit('.').next()?);
    let table = tables().into_iter().find(|table| table.name == of)?;
    table.keys.into_iter().find(|key| key.name == name)
}

fn unknown(catalog: &Catalog, name: &str) -> Failure {
    let check = || nearest(name, meaning::CHECKS.iter().map(|check| check.code)).map(str::to_string);
    let near = topic::nearest(catalog, name).into_iter().find(|near| near != name).or_else(check);
    let near = near.map(|near| format!("did you mean `{}`? Else ", clean(&near)));
    let typed: String = name.chars().take(LONGEST).collect();
    let more = if typed.len() < name.len() { "..." } else { "" };
    let message = format!(
        "`{}{more}` is neither a key, nor a rule, a warning, an error, a check, a message or a fact",
        clean(&typed)
    );
    let failure = Failure::new(Exit::BadInput, "unknown-topic", message);
    if let Some(code) = message_meant(catalog, name) {
        return failure.help(format!("a message in such words is `{code}`: `gpuenv explain {code}`"));
    }
    failure.help(format!(
        "{}name a key as in `stack.torch` or `target.NAME.driver`, the word between the brackets of a message, or an \
         id that `--verbose` shows",
        near.unwrap_or_default()
    ))
}

/// The message of these words, or of the number of an Xid as the kernel writes it.
fn message_meant(catalog: &Catalog, name: &str) -> Option<String> {
    let number = name.get(..3).filter(|word| word.eq_ignore_ascii_case("xid")).map(|_| name[3..].trim());
    let text = number.map(|number| format!("NVRM: Xid (PCI:0000:00:00): {number}, "));
    let findings = diagnose::diagnose(text.as_deref().unwrap_or(name), catalog).findings;
    findings.into_iter().next().map(|first| first.code)
}

/// The part of a story that a key is about; none if it is about none.
fn only(told: &Why, key: &str) -> Option<Why> {
    let within = |of: &str| of.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    // Where each target has a stack of its own, what `[stack]` asks for is chosen there.
    let own = |of: &str| of.strip_prefix("target.")?.split_once('.').map(|(_, rest)| within(rest));
    let of_each = |of: &str| {
        let part = key.strip_prefix("target.*.")?;
        Some(of.strip_prefix("target.")?.split_once('.')?.1 == part)
    };
    let inside =
        |of: &str| within(of) || of_each(of).unwrap_or(false) || key.starts_with("stack") && own(of).unwrap_or(false);
    let choices: Vec<_> = told.choices.iter().filter(|choice| inside(&choice.key)).cloned().collect();
    let openings = told.openings.iter().filter(|one| inside(&one.key) || inside(&one.change.key)).cloned().collect();
    (!choices.is_empty()).then_some(Why { choices, openings })
}

/// What the lock holds for choices that would be made otherwise today.
fn differing(lock: &Lock, told: &Why) -> BTreeMap<String, String> {
    let mut held = BTreeMap::new();
    for choice in told.choices.iter().filter(|choice| ["version", "release", "tag", "minimum"].contains(&choice.part)) {
        let of = |name: &str| lock.target.get(name);
        let (has, plain) = match choice.key.split('.').collect::<Vec<_>>().as_slice() {
            ["stack", package] => (lock.stack.get(*package).cloned(), true),
            ["target", name, "stack", package] => {
                (of(name).and_then(|target| lock.stack_of(target).get(*package).cloned()), true)
            }
            ["target", name, "driver"] => {
                // Of releases that are left out above it a choice says nothing.
                let minimum = of(name).and_then(|target| target.driver.as_ref()?.minimum.as_ref());
                (minimum.map(|minimum| format!(">={minimum}")), false)
            }
            ["target", name, "toolkit"] => (of(name).and_then(|target| target.toolkit.clone()), false),
            ["target", name, "image"] => (of(name).and_then(|target| target.image.clone()), false),
            _ => (None, false),
        };
        let version = |text: &str| text.split('+').next().unwrap_or(text).to_string();
        let has = if plain { has.map(|has| version(&has)) } else { has };
        if let Some(has) = has.filter(|has| *has != choice.chosen) {
            held.insert(choice.key.clone(), has);
        }
    }
    held
}
