//! L5, the report: the one place that prints. Data goes to stdout, everything said about it to stderr.
//!
//! With `--format json` stdout holds exactly one JSON document, whatever happened.

mod catalogs;
mod changes;
mod closed;
mod conflict;
mod cut;
mod diagnosis;
mod differences;
mod draft;
mod edit;
mod exports;
mod failure;
mod fleet;
mod fleet_page;
mod fleet_plan;
mod fleet_plan_page;
mod github;
mod host;
mod inspected;
pub(crate) mod json;
mod junit;
mod lookup_text;
mod matrix;
mod matrix_picture;
mod options;
mod outcomes;
mod progress;
mod project;
pub mod schema;
mod screen;
mod setting;
mod snippet;
mod source_file;
mod undetermined;
mod verdict;
mod why;

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};

use serde::Serialize;

use crate::catalog::{Catalog, Hit, Shelf};
use crate::diagnose::Verdict;
use crate::explain::graph::{Graph, Language};
use crate::explain::host::OnHost;
use crate::explain::topic::Topic;
use crate::explain::why::Why;
use crate::explain::{Change, Explanation};
use crate::host::Record;
use crate::lock::{Difference, Lock};
use crate::solve::unknowns::Unknown;
use crate::spec::Spec;
use crate::types::plain::shorten;
use crate::verify::Status;
use crate::warning::Warning;

pub use catalogs::CatalogState;
pub use failure::{Exit, Failure, Problem};
pub use fleet::{FleetFormat, FleetWriter};
pub use fleet_plan::{PlanFormat, plan_text};
pub use inspected::Inspected;
pub use matrix::{MatrixFormat, matrix_text};
pub use matrix_picture::picture as matrix_picture;
pub use outcomes::{Drafted, Exported, Fate, Standing, Written};
pub use progress::Progress;
pub use project::ProjectFiles;
pub use screen::{Color, Screen, clean};
pub use source_file::SourceFile;
pub use verdict::Judged;

/// Where and how things are said.
#[derive(Debug, Clone)]
pub struct Report {
    json: bool,
    github: bool,
    verbose: bool,
    quiet: bool,
    color: Color,
    screen: Screen,
    applied: Vec<Change>,
    /// Whether more was asked than gpuenv.toml says.
    beyond_file: bool,
    /// What was told aside before there was an answer.
    asides: Vec<Warning>,
}

impl Report {
    /// The lock, as it is called.
    fn lock_name(&self) -> &str {
        &self.screen.project.lock
    }

    /// Whether stdout is to hold a JSON document.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// The screen that data is laid out for.
    fn stdout_screen(&self) -> Screen {
        Screen { project: self.screen.project.clone(), ..Screen::of_stdout(self.color) }
    }

    /// Data for stdout.
    pub fn data(&self, text: &str) -> Result<(), Failure> {
        self.write(&screen::plain(text, self.color.suits(&std::io::stdout())))
    }

    /// Words for a shell that completes: Bash has them parted by vertical tabs.
    pub fn for_shell(&self, words: &str) -> Result<(), Failure> {
        let each: Vec<_> = words.split('\u{b}').map(|word| screen::plain(word, false)).collect();
        self.write(&each.join("\u{b}"))
    }

    fn write(&self, text: &str) -> Result<(), Failure> {
        if closed::stdout() {
            return Err(Failure::io("write-failed", "stdout cannot be written: it is closed"));
        }
        let mut stdout = std::io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            // A reader that has seen enough is no failure: `gpuenv export env | head`.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::io("write-failed", format!("stdout cannot be written: {error}"))
                    .help("write to a place that has room"))
            }
            _ => Ok(()),
        }
    }

    /// Help or a version, without colours and with: asked for, hence data.
    pub fn help(&self, plain: &str, colored: &str) -> Result<(), Failure> {
        match self.json {
            true => self.document(&json::Rendered::text(None, plain)),
            false => self.data(if self.color.suits(&std::io::stdout()) { colored } else { plain }),
        }
    }

    /// Help where something else was wanted: nothing was asked for, so it is no data.
    pub fn help_instead(&self, plain: &str, colored: &str) {
        self.say(if self.screen.color { colored } else { plain });
    }

    /// The lock, what changed in it and what should be known of it.
    pub fn locked(&self, lock: &Lock, old: Option<&Lock>, fate: Fate, warnings: &[Warning]) -> Result<(), Failure> {
        if self.json {
            let warnings = [&self.asides, warnings].concat();
            return self.document(&json::Locked::new(lock, &warnings, &self.applied));
        }
        self.warnings_among(warnings, lock.target.len());
        self.summarise(self.lock_name(), &changes::stack(lock));
        self.remark(&changes::render(&self.screen, lock, old, fate));
        Ok(())
    }

    /// What two locks choose differently: asked for, hence data.
    pub fn differences(&self, differences: &[Difference]) -> Result<(), Failure> {
        self.answer(|| json::Differences::new(differences), |screen| differences::render(screen, differences))
    }

    /// Why `gpuenv lock --check` says no, and what to do.
    pub fn stale(&self, reasons: &[String], help: &str, spec: &Spec, file: &SourceFile) -> Result<(), Failure> {
        let says = format!("{} is out of date", self.lock_name());
        self.not_current(&says, &says, reasons, help, || github::stale(reasons, spec, file))
    }

    /// That there is no lock, which `gpuenv lock --check` says no to as well.
    pub fn no_lock(&self, lock: &str, absence: String, spec: &Spec, file: &SourceFile) -> Result<(), Failure> {
        let reasons = &[absence];
        let help = "run `gpuenv lock` to create it";
        self.not_current(&format!("{lock} is missing"), &reasons[0], reasons, help, || {
            github::stale(reasons, spec, file)
        })
    }

    /// That something is not as it should be by now, why, and what to do.
    fn not_current(
        &self,
        heading: &str,
        says: &str,
        reasons: &[String],
        help: &str,
        annotations: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if self.json {
            return self.document(&json::Stale::new(reasons));
        }
        self.annotate(annotations)?;
        self.summarise(heading, reasons);
        let mut text = self.screen.wrapped(&format!("{} ", self.screen.error("error[stale]:")), &clean(says));
        for reason in reasons.iter().filter(|reason| *reason != says) {
            text += &self.screen.wrapped("  - ", &clean(reason));
        }
        self.say(&(text + &self.screen.wrapped(&self.help_head(), &clean(help))));
        Ok(())
    }

    fn help_head(&self) -> String {
        format!("  {} ", self.screen.help("help:"))
    }

    /// Why there is no answer.
    pub fn conflict(&self, explanation: &Explanation, spec: &Spec, file: &SourceFile) -> Result<(), Failure> {
        let explanation = &explanation.of_file(&file.name);
        if self.json {
            return self.document(&json::NoAnswer::new(explanation, &self.applied));
        }
        self.annotate(|| github::conflicts(explanation, spec, file))?;
        self.summarise(&format!("{} does not resolve", file.name), &conflict::listed(explanation, spec));
        self.say(&conflict::render(&self.screen, explanation, spec, file, self.verbose, self.beyond_file));
        Ok(())
    }

    /// That nobody can tell whether a spec has an answer, and which changes do without what is not known.
    pub fn undetermined(
        &self,
        unknowns: &[Unknown],
        known: Option<&Explanation>,
        spec: &Spec,
        file: &SourceFile,
    ) -> Result<(), Failure> {
        let known = &known.map(|known| known.of_file(&file.name));
        let known = known.as_ref();
        if self.json {
            return self.document(&json::Undetermined::new(unknowns, known, &self.applied));
        }
        self.annotate(|| github::unknowns(unknowns, spec, file))?;
        let detail = conflict::Detail::alone(self.verbose, self.beyond_file);
        self.say(&undetermined::render(&self.screen, unknowns, known, spec, file, detail));
        Ok(())
    }

    /// What a pasted text means: asked for, hence data.
    pub fn diagnosed(&self, verdict: &Verdict, host: Option<&OnHost>) -> Result<(), Failure> {
        self.answer(|| json::Diagnosed::new(verdict, host), |screen| diagnosis::render(screen, verdict))
    }

    /// A remark on how answers come about: on stderr in every format; see [`Report::beside`].
    pub fn aside(&self, warning: &Warning) {
        self.warnings(std::slice::from_ref(warning));
    }

    /// What else a person should know of how an answer came about.
    pub fn note(&self, text: &str) {
        if !self.json {
            self.remark(&self.screen.wrapped(&format!("{} ", self.screen.help("note:")), &clean(text)));
        }
    }

    /// What is on a host: asked for, hence data.
    pub fn host(&self, record: &Record) -> Result<(), Failure> {
        self.answer(|| record, |screen| host::render(screen, record))
    }

    /// That something was written into a file.
    pub fn saved(&self, file: &str) {
        self.remark(&format!("wrote {file}\n"));
    }

    /// How a host was judged: asked for, hence data.
    pub fn verified(&self, judged: &Judged<'_>) -> Result<(), Failure> {
        if self.json {
            return self.document(&json::Verified::new(judged));
        }
        self.annotate(|| github::verdict(&judged.best))?;
        let mut told = Vec::new();
        for check in judged.best.checks.iter().filter(|check| !matches!(check.status, Status::Pass | Status::Skip)) {
            told.push(format!("{}: {}", check.status.as_str(), check.id));
        }
        self.summarise(&format!("gpuenv verify: {}", judged.best.status.as_str()), &told);
        self.data(&verdict::render(&self.stdout_screen(), judged, self.verbose))
    }

    /// A new gpuenv.toml, and whether it has an answer.
    pub fn drafted(&self, drafted: &Drafted<'_>) -> Result<(), Failure> {
        if self.json {
            return self.document(&json::Init::new(drafted));
        }
        if drafted.is_stdout {
            self.data(&drafted.file.text)?;
        } else {
            self.remark(&format!("created {}\n", clean(&drafted.file.name)));
        }
        self.remark(&draft::left(&self.screen, drafted));
        self.warnings(drafted.warnings);
        self.remark(&draft::render(&self.screen, drafted));
        Ok(())
    }

    /// What the program waits for, where a person would wonder.
    pub fn waiting(&self, hint: &str) {
        self.remark(&format!("{hint}\n"));
    }

    /// What went wrong. Where stdout takes no document, stderr says what cannot be said there.
    pub fn failure(&self, failure: &Failure) -> Result<(), Failure> {
        if self.json {
            let told = self.document(&json::Errors::new(failure));
            if let Err(unwritten) = &told {
                self.say(&failure::render(&self.screen, failure));
                if !failure.is_same(unwritten) {
                    self.say(&failure::render(&self.screen, unwritten));
                }
            }
            return told;
        }
        let annotated = self.annotate(|| github::failure(failure));
        self.say(&failure::render(&self.screen, failure));
        if let Err(unwritten) = &annotated
            && !failure.is_same(unwritten)
        {
            self.say(&failure::render(&self.screen, unwritten));
        }
        annotated
    }

    /// That something was left aside, and why: on stderr in every format.
    pub fn left_aside(&self, what: &str, failure: &Failure) {
        self.remark(&self.screen.wrapped(&format!("{} ", self.screen.warning("warning:")), &clean(what)));
        self.remark(&failure::render(&self.screen, failure));
    }

    /// Warnings at their places in gpuenv.toml, for GitHub's log only: [`Report::locked`] tells them to people.
    pub fn annotations(&self, warnings: &[Warning], spec: &Spec, file: &SourceFile) -> Result<(), Failure> {
        self.annotate(|| github::warnings(&[&self.asides, warnings].concat(), spec, file))
    }

    /// The lines of a file that were changed.
    pub fn edited(&self, file: &SourceFile, after: &str, planned: bool) {
        if !self.json {
            self.remark(&edit::render(&self.screen, file, after, planned));
        }
    }

    /// That a change was given up, and these files are as they were.
    pub fn unchanged(&self, files: &[String]) {
        if !self.json {
            self.say(&format!("{} not changed\n", clean(&was(files))));
        }
    }

    /// That the lock is not that of a spec which has no answer, or none that is known.
    pub fn without_answer(&self, standing: &Standing) {
        self.remark(&why::outdated(
            &self.screen,
            standing,
            "what follows is not what is locked, but why `gpuenv lock` would not lock",
        ));
    }

    /// Why an answer is what it is. `locked` is what the lock holds where that is another.
    pub fn why(&self, why: &Why, locked: &BTreeMap<String, String>, standing: &Standing) -> Result<(), Failure> {
        self.remark(&why::standing(&self.screen, standing));
        self.answer(
            || sorted(&json::Explained::new(why, locked, standing)),
            |screen| why::render(screen, why, (locked, standing), self.verbose),
        )
    }

    /// Things that were looked up by name.
    pub fn topics(&self, topics: &[Topic]) -> Result<(), Failure> {
        self.answer(|| sorted(&json::Topics::new(topics)), |screen| lookup_text::topics(screen, topics, self.verbose))
    }

    /// Rows found by their words.
    pub fn hits(&self, hits: &[Hit]) -> Result<(), Failure> {
        if self.json {
            return self.document(&sorted(&json::Found::new(hits)));
        }
        if hits.is_empty() {
            self.say("no fact holds all of these words\n  help: fewer words find more; `gpuenv catalog list` shows what is known\n");
        }
        self.data(&lookup_text::hits(&self.stdout_screen(), hits))
    }

    /// What a catalog knows, by name.
    pub fn listed(&self, shelves: &[Shelf], all: bool) -> Result<(), Failure> {
        self.answer(|| sorted(&json::Listed::new(shelves)), |screen| lookup_text::listed(screen, shelves, all))
    }

    /// What a catalog holds.
    pub fn census(&self, catalog: &Catalog) -> Result<(), Failure> {
        self.answer(|| sorted(&json::Census::new(catalog)), |_| lookup_text::census(catalog))
    }

    /// Catalogs by name, with their rows, in which no lint found anything.
    pub fn checked(&self, checked: &[(String, usize)]) -> Result<(), Failure> {
        self.answer(|| sorted(&json::Checked::new(checked)), |_| lookup_text::checked(checked))
    }

    /// Which catalogs there are, after what was done; `before` is the version that answered until then.
    pub fn catalogs(&self, done: &'static str, before: Option<&str>, states: &[CatalogState]) -> Result<(), Failure> {
        match self.json {
            true => self.document(&sorted(&json::Catalogs::new(done, states))),
            false if done == "listed" => self.data(&catalogs::listed(states)),
            false => {
                self.say(&catalogs::done(&self.screen, done, before.unwrap_or_default(), states));
                Ok(())
            }
        }
    }

    /// What a library or wheel holds.
    pub fn inspected(&self, inspected: &Inspected<'_>) -> Result<(), Failure> {
        self.answer(|| json::Inspected::new(inspected), |screen| inspected::render(screen, inspected))
    }

    /// A text that somebody asked for, as it is.
    pub fn text(&self, text: &str) -> Result<(), Failure> {
        self.answer(|| json::Rendered::text(None, text), |_| text.to_string())
    }

    /// A drawing.
    pub fn graph(&self, graph: &Graph, language: Language, standing: &Standing) -> Result<(), Failure> {
        self.remark(&why::standing(&self.screen, standing));
        self.answer(|| sorted(&json::Graph::new(graph, language, standing)), |_| graph.text(language))
    }

    /// One schema, as it is in every format: it is a JSON document of its own.
    pub fn schema(&self, schema: &schema::Schema) -> Result<(), Failure> {
        self.data(&schema.text())
    }

    /// The names of all schemas.
    pub fn schemas(&self) -> Result<(), Failure> {
        let line = |schema: &schema::Schema| format!("{:<14} {}\n", schema.name, schema.about);
        self.answer(|| sorted(&json::Schemas::new(schema::ALL)), |_| schema::ALL.iter().map(line).collect())
    }

    fn warnings(&self, warnings: &[Warning]) {
        self.warnings_among(warnings, 1);
    }

    /// Warnings of an answer for so many targets: where there are several, each says of which it speaks.
    fn warnings_among(&self, warnings: &[Warning], targets: usize) {
        let mut text = String::new();
        for warning in warnings {
            let head = self.screen.warning(&format!("warning[{}]:", warning.code));
            let of = if targets > 1 { setting::targets_beside(&warning.message, &warning.keys) } else { String::new() };
            text += &self.screen.wrapped(&format!("{head} "), &clean(&format!("{}{of}", warning.message)));
        }
        self.remark(&text);
    }

    /// What was asked for: a document, or a text laid out for stdout.
    fn answer<D: Serialize>(
        &self,
        document: impl FnOnce() -> D,
        text: impl FnOnce(&Screen) -> String,
    ) -> Result<(), Failure> {
        if self.json { self.document(&document()) } else { self.data(&text(&self.stdout_screen())) }
    }

    fn document(&self, document: &impl Serialize) -> Result<(), Failure> {
        self.data(&json::text(document))
    }

    /// What is no error, and not said to who wants quiet.
    fn remark(&self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    /// A sentence on stderr.
    fn say(&self, text: &str) {
        draw(&screen::plain(text, self.screen.color));
    }
}

/// Nobody is left to tell that stderr cannot be written.
fn draw(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Files that are named one by one.
const SHOWN: usize = 5;

/// `gpuenv.toml was`, `gpuenv.toml and gpuenv.lock were`
fn was(files: &[String]) -> String {
    match files {
        [] | [_] => format!("{} was", files.concat()),
        [first, second] => format!("{first} and {second} were"),
        _ => format!("{} were", shorten(files, SHOWN)),
    }
}

/// A document whose fields are in the order of the alphabet.
fn sorted(document: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(document).unwrap_or_default()
}

/// A JSON document, wherever it is written.
pub fn json_text(document: &impl Serialize) -> serde_json::Result<String> {
    Ok(screen::plain_json(&serde_json::to_string_pretty(document)?).into_owned())
}
