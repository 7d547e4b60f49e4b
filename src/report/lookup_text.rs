//! Facts for people: things looked up by name, rows found by their words, what the catalog holds.

use serde_json::Value;

use crate::catalog::rows::SourceKind;
use crate::catalog::{Basis, Catalog, Count, FullRow, Hit, Shelf};
use crate::explain::topic::{RuleTopic, Topic};
use crate::types::first;

use super::screen::{Screen, clean};

/// More rows than this are told in a line each.
const IN_FULL: usize = 3;
/// More names than this of one kind are told where all are asked for.
const NAMED: usize = 26;
/// So many rows are shown of many.
const ROWS: usize = 15;
/// More lines than this say nothing on a screen.
const LINES: usize = 60;

/// Things looked up by name.
pub(super) fn topics(screen: &Screen, topics: &[Topic], verbose: bool) -> String {
    let rows: Vec<&FullRow> =
        topics.iter().filter_map(|topic| if let Topic::Row(row) = topic { Some(row) } else { None }).collect();
    let many = rows.len() > IN_FULL;
    // What should be known of a source is told where there is room for it.
    let notes = topics.len() == 1;
    let in_full = topics.iter().filter(|topic| !many || !matches!(topic, Topic::Row(_)));
    let each = in_full.map(|topic| match topic {
        Topic::Rule(rule) => render_rule(screen, rule),
        Topic::Warning(code) => {
            let mut text = format!("{}\n", screen.help(&format!("warning {}", code.code)));
            text += &screen.wrapped("  ", code.says());
            text += &screen.wrapped("  ", "To silence it where it is known and accepted, write in gpuenv.toml:");
            text += "\n    [[silence]]\n";
            text += &format!("    warning = \"{}\"\n    # target = \"NAME\"   only for one machine\n", code.code);
            text + "    reason = \"why it does not matter here\"\n"
        }
        Topic::Described(one) => {
            let mut text = format!("{}\n", screen.help(&format!("{} {}", one.kind, one.id)));
            text += &screen.wrapped("  ", &one.says);
            for (at, remedy) in one.remedies.iter().enumerate() {
                text += &screen.wrapped(&format!("  {}. ", at + 1), remedy);
            }
            text
        }
        Topic::Row(row) => render_row(screen, row, notes),
    });
    each.chain(many.then(|| list(screen, &rows, verbose))).collect::<Vec<_>>().join("\n")
}

/// One row: its fields in a column, then what they rest on.
fn render_row(screen: &Screen, row: &FullRow, notes: bool) -> String {
    let fields: Vec<(&String, &Value)> = row.told().collect();
    let names = fields.iter().map(|(field, _)| field.len()).chain(row.sources.iter().map(|basis| basis.field.len()));
    let width = names.chain(["digest".len()]).max().unwrap_or(0);
    let mut text = format!("{}\n", screen.help(&clean(&row.fact.id)));
    for (field, value) in fields {
        text += &screen.column(&format!("  {:width$}  ", field.replace('_', " ")), &clean(&plain(value)));
    }
    if let Some(overlay) = overlay(&row.fact.source) {
        text += &screen.column(&format!("  {:width$}  ", "from"), &clean(overlay));
    }
    for basis in &row.sources {
        text += &render_basis(screen, basis, width, notes);
    }
    if let Some(why) = row.unread {
        text += &screen.column(&format!("  {:width$}  ", "unread"), why);
    }
    text + &format!("  {:width$}  {}\n", "digest", row.fact.digest)
}

/// `arch source  pkg:pypi/torch@2.8.0 (measured, seen 2026-11-20)` and what should be known of it.
fn render_basis(screen: &Screen, basis: &Basis, width: usize, notes: bool) -> String {
    let says = format!("{} ({}, seen {})", basis.at, basis.kind.as_str(), basis.seen);
    let text = screen.column(&format!("  {:width$}  ", basis.field.replace('_', " ")), &clean(&says));
    match basis.note.as_ref().filter(|_| notes) {
        Some(note) => text + &screen.column(&" ".repeat(width + 4), &clean(note)),
        None => text,
    }
}

/// `your overlay site.toml:12`, where an overlay brought the row.
pub(super) fn overlay(source: &str) -> Option<&str> {
    source.starts_with(crate::catalog::OVERLAY).then(|| source.split(" (").next().unwrap_or(source))
}

/// Many rows, a line each: the first few, or with `verbose` all of them and then their sources once.
fn list(screen: &Screen, rows: &[&FullRow], verbose: bool) -> String {
    // What lies in an image is of use to fewer than what an index has.
    let rows = first(rows.to_vec(), |row| !row.fact.id.contains('/'));
    let shown = if verbose { &rows } else { &rows[..rows.len().min(ROWS)] };
    let widest = shown.iter().map(|row| clean(&row.fact.id).chars().count()).max().unwrap_or(0);
    let mut text: String = shown.iter().map(|row| row_line(screen, row, widest.min(screen.width / 2))).collect();
    if !verbose {
        let more = rows.len() - shown.len();
        let more = if more > 0 { format!("and {more} more rows; ") } else { String::new() };
        return text + &screen.wrapped(&more, "`--verbose` shows every row and its sources");
    }
    let mut seen: Vec<&str> = Vec::new();
    for basis in rows.iter().flat_map(|row| &row.sources) {
        if !seen.contains(&basis.id.as_str()) {
            seen.push(&basis.id);
            let head = format!("{} ", screen.help("source"));
            text += &screen.wrapped(
                &head,
                &format!("{} ({}, seen {}): {}", basis.id, basis.kind.as_str(), basis.seen, clean(&basis.at)),
            );
        }
    }
    text
}

/// A row in a line: its id, then of what it says as much as a screen has room for; whatever else reads it gets all.
fn row_line(screen: &Screen, row: &FullRow, width: usize) -> String {
    let id = clean(&row.fact.id).into_owned();
    let is_shown = |field: &str| field != "index" && !row.fact.id.starts_with(field);
    let told = row.told().filter(|(field, _)| is_shown(field)).filter_map(|(field, value)| match value {
        Value::Bool(_) => Some(field.clone()),
        // What stands in the id need not be said again.
        Value::String(value) if row.fact.id.contains(value.as_str()) => None,
        value => Some(format!("{} {}", field.replace('_', " "), plain(value))),
    });
    let mut line = format!("{id:width$}");
    let mut between = "  ";
    let room = if Screen::is_watched() { screen.width } else { usize::MAX };
    for field in told {
        let field = clean(&field);
        if line.chars().count() + between.len() + field.chars().count() <= room {
            line += between;
            line += &field;
            between = "; ";
        }
    }
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}

/// A name and what is said of it: in columns on a screen, whole and in one line for whatever else reads it.
fn entry(screen: &Screen, name: &str, says: &str) -> String {
    match Screen::is_watched() {
        true => screen.column(name, says),
        false => format!("{name}{says}").trim_end().to_string() + "\n",
    }
}

fn render_rule(screen: &Screen, rule: &RuleTopic) -> String {
    let mut text = format!("{}\n", screen.help(&format!("rule {}", clean(&rule.id))));
    text += &screen.wrapped("  ", &clean(&rule.says));
    if let (Some((subject, range)), Some((object, needs))) = (&rule.range, &rule.needs) {
        text += &screen.wrapped("  ", &clean(&format!("where {subject} is {range}, {object} must be {needs}")));
    } else {
        text += &screen.wrapped("  ", "this rule is code, not a row of the catalog");
    }
    if let Some(overlay) = overlay(&rule.row.fact.source) {
        text += &screen.wrapped("  from ", &clean(overlay));
    }
    for basis in &rule.row.sources {
        text += &render_basis(screen, basis, "source".len(), true);
    }
    for (name, pairs) in [("holds", &rule.holds), ("fails", &rule.fails)] {
        if !pairs.is_empty() {
            text += &screen.wrapped(&format!("  {name} for: "), &clean(&pairs.join(", ")));
        }
    }
    match &rule.retracted {
        Some((at, reason)) => {
            text + &screen.wrapped("  ", &clean(&format!("{}{at} has set it aside: {reason}", crate::catalog::OVERLAY)))
        }
        None => text + &screen.wrapped("  ", "An `[[override]]` with its id and a reason sets it aside."),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Rows found by their words.
pub(super) fn hits(screen: &Screen, hits: &[Hit]) -> String {
    let width = hits.iter().take(LINES).map(|hit| hit.kind.len()).max().unwrap_or(0);
    let mut text = String::new();
    for hit in hits.iter().take(LINES) {
        text += &format!("{:width$}  {}\n", hit.kind, screen.help(&clean(&hit.fact.id)));
    }
    if let Some(more) = hits.len().checked_sub(LINES).filter(|more| *more > 0) {
        text += &format!("and {more} more: add a word, or `--format json` for all\n");
    }
    text
}

/// What the catalog holds and how it is known.
pub(super) fn census(catalog: &Catalog) -> String {
    let counts = catalog.census();
    let width = counts.iter().map(|count| count.name.len()).max().unwrap_or(0);
    let rows: usize = counts.iter().filter(|count| !count.kind.contains('.')).map(|count| count.rows).sum();
    let mut text = format!("catalog {}: {rows} facts, {} sources\n", catalog.version, catalog.sources.len());
    for overlay in catalog.overlays.iter() {
        text += &format!("  with {} sha256:{}\n", clean(&overlay.name), overlay.digest);
    }
    for one in catalog.retractions.iter() {
        text += &format!("  without {} ({}: {})\n", clean(&one.rule), clean(&one.at), clean(&one.reason));
    }
    text += &format!("\n{:width$}  {:>5}", "facts", "rows");
    SourceKind::ALL.iter().for_each(|kind| text += &format!("  {:>8}", kind.as_str()));
    text.push('\n');
    counts.iter().for_each(|count| text += &line(count, width));
    text +=
        "\nEach row counts by the source that says it exists; where sources disagree, the column further left wins.\n";
    let (cited, articles) = catalog.citations();
    text += &format!(
        "Rows name a source for each thing that they say: {cited} times without images, {articles} of them articles.\n"
    );
    let days = catalog.freshness();
    let told: Vec<String> = days.iter().map(|(day, sources)| format!("{sources} on {day}")).collect();
    text + &format!("sources were read: {}\nnext: `gpuenv catalog list` shows what can be written\n", told.join(", "))
}

fn line(count: &Count, width: usize) -> String {
    let kinds: String = count.by_kind.iter().map(|rows| format!("  {rows:>8}")).collect();
    format!("{:width$}  {:>5}{kinds}\n", count.name, count.rows)
}

/// Catalogs in which no lint found anything.
pub(super) fn checked(checked: &[(String, usize)]) -> String {
    checked.iter().map(|(name, rows)| format!("{}: {rows} rows, nothing found\n", clean(name))).collect()
}

/// What can be written, a paragraph for each kind; with `all` each name on a line of its own.
pub(super) fn listed(screen: &Screen, shelves: &[Shelf], all: bool) -> String {
    let mut text = String::new();
    for shelf in shelves {
        if all {
            let width = shelf.names.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
            for (name, says) in &shelf.names {
                text += &entry(screen, &format!("{name:width$}  "), &clean(says));
            }
            continue;
        }
        let head = format!("{} ({}), written as `{}`\n", shelf.kind, shelf.names.len(), shelf.written);
        text += &screen.help(&head);
        let (told, more) = shelf.summary.split_at(shelf.summary.len().min(NAMED));
        let more = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
        text += &screen.wrapped("  ", &clean(&format!("{}{more}", told.join(", "))));
    }
    if !all {
        text +=
            "next: `gpuenv catalog list gpus` lists all of a kind, `gpuenv catalog show torch@2.8` shows one thing\n";
    }
    text
}
