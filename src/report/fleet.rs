//! A fleet that was judged: a line a host as it comes, or at the end its groups for people, as JSON or as a page.

use std::fmt::Write;

use crate::fleet::{Group, Outcome, Tally};
use crate::verify::Status;

use super::json::{FleetGroups, FleetHost};
use super::screen::{Screen, clean};
use super::{Failure, Report, fleet_page, github};

/// How a fleet is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FleetFormat {
    /// For people.
    Human,
    /// One document.
    Json,
    /// A JSON document for each host, a line each.
    Lines,
    /// Comma-separated values under a header, a line for each host.
    Csv,
    /// A page.
    Html,
}

/// Tells each host as it comes, or keeps silent until the end.
#[derive(Debug)]
pub struct FleetWriter<'a> {
    report: &'a Report,
    format: FleetFormat,
    /// Whether it goes to a file at the end.
    kept: bool,
    text: String,
}

/// So much is gathered before it is written, in bytes.
const BUFFER: usize = 64 << 10;
/// The names of hosts that are shown where not all are asked for.
const SHOWN: usize = 5;
/// What was found and warned of that is shown of a group, the most frequent first.
const FOUND: usize = 4;
/// The width of the column before a group's text.
const INDENT: usize = 8;

impl<'a> FleetWriter<'a> {
    /// In this format; `kept`: for a file.
    pub fn new(report: &'a Report, format: FleetFormat, kept: bool) -> Self {
        let text = match format {
            FleetFormat::Csv => "host,status,target,check,found,action,do\n".to_string(),
            _ => String::new(),
        };
        FleetWriter { report, format, kept, text }
    }

    /// Tells a host.
    pub fn host(&mut self, name: &str, outcome: &Outcome) -> Result<(), Failure> {
        self.report.annotate(|| github::host(name, outcome))?;
        match self.format {
            FleetFormat::Lines => {
                let line = serde_json::to_string(&FleetHost::new(name, outcome));
                self.text += &line.map_err(|error| Failure::io("write-failed", error.to_string()))?;
                self.text.push('\n');
            }
            FleetFormat::Csv => csv(&mut self.text, name, outcome),
            _ => return Ok(()),
        }
        match self.text.len() > BUFFER && !self.kept {
            true => self.report.data(&std::mem::take(&mut self.text)),
            false => Ok(()),
        }
    }

    /// What is to be written now that all hosts are told.
    pub fn end(self, tally: &Tally, verbose: bool) -> Result<String, Failure> {
        Ok(match self.format {
            FleetFormat::Lines | FleetFormat::Csv => self.text,
            FleetFormat::Html => fleet_page::render(tally),
            FleetFormat::Json => {
                let text = super::json_text(&FleetGroups::new(tally));
                text.map_err(|error| Failure::io("write-failed", error.to_string()))? + "\n"
            }
            FleetFormat::Human => {
                let screen = if self.kept { Screen::plain() } else { self.report.stdout_screen() };
                render(&screen, tally, verbose)
            }
        })
    }
}

/// A host's line.
fn csv(text: &mut String, name: &str, outcome: &Outcome) {
    let cause = outcome.causes.first();
    let fields = [
        name,
        outcome.status.as_str(),
        outcome.target.as_deref().unwrap_or_default(),
        cause.map_or("", |cause| cause.check.as_str()),
        outcome.found.as_deref().unwrap_or_default(),
        cause.map_or("", |cause| cause.action.as_str()),
        cause.map_or("", |cause| cause.hint.as_str()),
    ];
    comma_separated(text, &fields);
}

/// A line of values; what a spreadsheet would take for a formula is none.
pub(super) fn comma_separated(text: &mut String, fields: &[&str]) {
    for (at, field) in fields.iter().enumerate() {
        let field = clean(field);
        let guard = if field.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
        let quoted = field.contains([',', '"', '\n', '\r']) || !guard.is_empty();
        let comma = if at == 0 { "" } else { "," };
        let _ = match quoted {
            true => write!(text, "{comma}\"{guard}{}\"", field.replace('"', "\"\"")),
            false => write!(text, "{comma}{field}"),
        };
    }
    text.push('\n');
}

/// The groups for people.
fn render(screen: &Screen, tally: &Tally, verbose: bool) -> String {
    let mut text = String::new();
    for group in tally.in_order() {
        text += &of_group(screen, group, verbose);
    }
    text + &sentence(screen, tally)
}

fn of_group(screen: &Screen, group: &Group, verbose: bool) -> String {
    let word = format!("{:<INDENT$}", group.status.as_str());
    let word = match group.status {
        Status::Fail => screen.error(&word),
        Status::Unknown => screen.warning(&word),
        _ => screen.after(&word),
    };
    let target = group.target.as_ref().map_or(String::new(), |target| format!(", target {target}"));
    let title = match group.causes.as_slice() {
        [] => format!("{}{target}", hosts(group.hosts.len())),
        [cause] => format!("{}: {}{target}", hosts(group.hosts.len()), cause.check),
        [cause, rest @ ..] => {
            format!("{}: {} and {} more{target}", hosts(group.hosts.len()), cause.check, rest.len())
        }
    };
    let mut text = screen.hanging(&word, &clean(&title), INDENT);
    let mut part = |name: &str, value: &str| {
        let head = format!("{:INDENT$}{name:<9} ", "");
        text += &screen.hanging(&head, &clean(value), head.len());
    };
    if let Some(cause) = group.causes.first() {
        if let Some(expected) = &group.expected {
            part("expected", expected);
        }
        part("found", &found(group));
        part("do", &cause.hint);
        part("action", cause.action.as_str());
    }
    let warnings = group.warnings();
    let told = if verbose { warnings.len() } else { warnings.len().min(FOUND) };
    for (cause, count) in &warnings[..told] {
        let of = if *count < group.hosts.len() { format!(" ({})", hosts(*count)) } else { String::new() };
        part("warn", &format!("{}{of}: {}", cause.check, cause.hint));
    }
    if told < warnings.len() {
        part("warn", &format!("{} more (`--verbose` shows them)", warnings.len() - told));
    }
    let names: Vec<&str> = group.hosts.iter().map(String::as_str).collect();
    let shown = if verbose { names.len() } else { names.len().min(SHOWN) };
    let more = if shown < names.len() { format!(" and {} more", names.len() - shown) } else { String::new() };
    part("hosts", &format!("{}{more}", names[..shown].join(", ")));
    text
}

/// What was found, the most frequent first: `535.104.05 (300 hosts)`.
fn found(group: &Group) -> String {
    let mut found: Vec<(&String, &usize)> = group.found.iter().collect();
    crate::types::sort_by_key(&mut found, |(text, count)| (std::cmp::Reverse(**count), *text));
    let kinds = found.len();
    let one = |(text, count): &(&String, &usize)| match kinds {
        1 => text.to_string(),
        _ => format!("{text} ({})", hosts(**count)),
    };
    let mut texts: Vec<String> = found.iter().take(FOUND).map(one).collect();
    if kinds > FOUND {
        texts.push(format!("{} more", kinds - FOUND));
    }
    texts.join(", ")
}

/// `1 host`, `7 hosts`
pub(super) fn hosts(count: usize) -> String {
    if count == 1 { "1 host".to_string() } else { format!("{count} hosts") }
}

fn sentence(screen: &Screen, tally: &Tally) -> String {
    let [failed, open] = [Status::Fail, Status::Unknown].map(|status| tally.count(status));
    let passed = tally.hosts - failed - open;
    let (head, says) = match (failed, open) {
        (0, 0) if tally.hosts == 1 => (screen.after("PASS:"), "the host can run the lock.".to_string()),
        (0, 0) => (screen.after("PASS:"), format!("all {} can run the lock.", hosts(tally.hosts))),
        (0, _) if tally.hosts == 1 => {
            (screen.warning("UNKNOWN:"), "whether the host can run the lock could not be determined.".to_string())
        }
        (0, open) => (
            screen.warning("UNKNOWN:"),
            format!("{passed} of {} can run the lock; {} could not be judged.", hosts(tally.hosts), hosts(open)),
        ),
        (failed, open) => {
            let open = if open > 0 { format!(", {} could not be judged", hosts(open)) } else { String::new() };
            let says = match tally.hosts {
                1 => "the host cannot run the lock.".to_string(),
                all => format!("{failed} of {} cannot run the lock{open}, {passed} can.", hosts(all)),
            };
            (screen.error("FAIL:"), says)
        }
    };
    format!("\n{}", screen.wrapped(&format!("{head} "), &clean(&says)))
}
