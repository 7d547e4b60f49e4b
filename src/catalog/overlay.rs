//! Overlays: a user's or site's own rows laid over the catalog, in the format of `catalog/*.toml`.
//!
//! Nothing is overridden in silence: a row that exists is an error unless it says `replace = true`, and a replacement
//! of nothing is one too. What is laid over is remembered with its place, so that locks and explanations can tell it.
//! A text in, a catalog out; where the text comes from is the desk's business.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::types::Text;
use crate::types::name::is_unseen;
use crate::types::nvidia;
use crate::types::plain::plain_types;
use crate::types::toml_memory;

use super::capture::{self, Capture};
use super::lint::{Finding, lint};
use super::lookup::{MAX_COMPARED, nearest};
use super::tables::{Catalog, Laid, Overlay, Retraction, RowName};

mod attributed;
mod row;

use row::{Fields, Unreadable};

/// No overlay is larger: four times the built-in catalog.
pub const MAX_BYTES: usize = 4 << 20;
/// Overlays have no more rows together: three times the built-in catalog.
pub const MAX_ROWS: usize = 20_000;
/// Rules are asked of every pair of things that may go together, so fewer of them are taken.
pub const MAX_RULES: usize = 500;
/// No honest value is longer.
const MAX_TEXT: usize = 4096;
/// No honest list is longer.
const MAX_ITEMS: usize = 256;
/// More mistakes of one file are not looked for.
const MAX_MISTAKES: usize = 100;

/// Kinds of rows that an overlay cannot bring, and why.
const CLOSED: &[(&str, &str)] = &[
    ("law", "a law is code: retract it with `[[retract]]`, or describe a rule with `[[rule]]`"),
    ("diagnosis", "what a message means is told by the built-in catalog alone"),
    ("clue", "what a message means is told by the built-in catalog alone"),
    ("version", "the version is the built-in catalog's; a lock names an overlay by its sha256"),
    ("reader", "write `requires-gpuenv` in gpuenv.toml"),
];

/// One thing that is wrong with an overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// What kind of mistake; of a finding, the lint's name.
    pub code: &'static str,
    /// Whether the file could be read, but says what a lint refuses.
    pub finding: bool,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where, in bytes; none for what the overlay does to rows that are not its own.
    pub span: Option<Range<usize>>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Mistake {
    fn new(code: &'static str, message: impl Into<String>, span: Range<usize>) -> Self {
        Mistake { code, finding: false, message: message.into(), span: Some(span), help: None }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// `[[retract]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Retract {
    rule: String,
    reason: String,
}

/// A row of the overlay.
struct Row {
    kind: &'static str,
    id: String,
    name: RowName,
    span: Range<usize>,
    replace: Option<Range<usize>>,
}

/// Lays an overlay over a catalog. `name` is the file's, as gpuenv.toml writes it.
pub fn lay(base: &Catalog, name: &str, text: &str) -> Result<Catalog, Vec<Mistake>> {
    if toml_memory::memory(text) > toml_memory::MOST {
        let message = "it holds more tables and values than are read";
        return Err(vec![Mistake::new("too-large", message, 0..0).help("split it: [catalog] takes several overlays")]);
    }
    let tree = DeTable::parse(text).map_err(|error| {
        let span = fit(text, error.span().unwrap_or(text.len()..text.len()));
        vec![Mistake::new("toml-syntax", format!("line {}: {}", Sheet::new(text).line(&span), error.message()), span)]
    })?;
    let mut sheet = Sheet::new(text);
    sheet.read(tree.into_inner(), base.laid.len());
    if sheet.wrong.is_empty() {
        let mut laid = base.clone();
        sheet.put(&mut laid, name);
        sheet.retract(&mut laid, name);
        if sheet.wrong.is_empty() {
            let overlay = Overlay { name: name.into(), digest: sha256(&rows_of(text)), file: sha256(text) };
            laid.overlays.to_mut().push(overlay);
            sheet.findings(lint(&laid), name);
            if sheet.wrong.is_empty() {
                let at = |row: &Row| format!("{name}:{}", sheet.line(&row.span));
                let places = sheet.rows.iter().map(|row| ((row.kind, &*row.id), at(row))).collect();
                attributed::attribute(&mut laid, &places);
                return Ok(laid);
            }
        }
    }
    sheet.wrong.sort_by_key(|mistake| mistake.span.as_ref().map_or(usize::MAX, |span| span.start));
    Err(sheet.wrong)
}

fn sha256(text: &str) -> Text {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
}

/// What an overlay says in one spelling, whatever its layout and comments.
fn rows_of(text: &str) -> String {
    let rows = toml::from_str::<toml::Table>(text).ok().and_then(|rows| serde_json::to_value(rows).ok());
    rows.map_or_else(|| text.to_string(), |rows| rows.to_string())
}

/// An overlay on its way into a catalog.
struct Sheet<'t> {
    text: &'t str,
    /// Where its lines begin.
    lines: Vec<usize>,
    rows: Vec<Row>,
    added: Catalog,
    retracts: Vec<(Retract, Range<usize>)>,
    wrong: Vec<Mistake>,
}

impl<'t> Sheet<'t> {
    fn new(text: &'t str) -> Self {
        let lines = [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Sheet { text, lines, rows: Vec::new(), added: Catalog::default(), retracts: Vec::new(), wrong: Vec::new() }
    }

    fn say(&mut self, mistake: Mistake) {
        if self.wrong.len() < MAX_MISTAKES {
            self.wrong.push(mistake);
        }
    }

    /// Reads all tables, beside the rows that overlays before it have laid.
    fn read(&mut self, tree: DeTable<'t>, laid: usize) {
        let length = |value: &Spanned<DeValue>| value.get_ref().as_array().map_or(0, |rows| rows.len());
        let rows: usize = laid + tree.values().map(length).sum::<usize>();
        let rules = tree.get("rule").map_or(0, length);
        let together = "all overlays together";
        for (count, what, whose, most) in
            [(rows, "rows", together, MAX_ROWS), (rules, "rules", "an overlay", MAX_RULES)]
        {
            if count > most {
                let message = format!("{count} {what} are too many: {whose} may have {most}");
                return self.say(Mistake::new("too-many", message, 0..0));
            }
        }
        for (key, value) in tree {
            let (key, at) = (key.get_ref().to_string(), key.span());
            match Catalog::KINDS.iter().find(|kind| **kind == key) {
                _ if CLOSED.iter().any(|(closed, _)| *closed == key) => {
                    let why = CLOSED.iter().find(|(closed, _)| *closed == key).map_or("", |(_, why)| why);
                    let message = format!("an overlay cannot have `{key}`");
                    self.say(Mistake::new("unknown-key", message, at).help(why));
                }
                Some(kind) => self.table(kind, value),
                None if key == "retract" => self.table("retract", value),
                None => {
                    let message = format!("there is no kind of row called `{}`", clip(&key));
                    self.say(Mistake::new("unknown-key", message, at).help(kinds_like(&key)));
                }
            }
        }
    }

    fn table(&mut self, kind: &'static str, value: Spanned<DeValue<'t>>) {
        let span = value.span();
        let rows = match value.into_inner() {
            DeValue::Array(rows) => rows,
            _ => {
                let message = format!("`{kind}` must be a list of rows");
                let help = format!("write `{kind} = [{{ … }}, … ]`, or a table `[[{kind}]]` for each row");
                return self.say(Mistake::new("type", message, span).help(help));
            }
        };
        for row in rows {
            let span = row.span();
            match row.get_ref() {
                DeValue::Table(_) if self.is_printable(kind, &row) => self.row(kind, row, span),
                DeValue::Table(_) => {}
                _ => self.say(Mistake::new("type", format!("a row of `{kind}` must be a table"), span)),
            }
        }
    }

    /// Values that would not reach a terminal or a lock as they are.
    fn is_printable(&mut self, kind: &str, row: &Spanned<DeValue<'t>>) -> bool {
        let mut wrong = Vec::new();
        let mut rest = vec![row];
        while let Some(value) = rest.pop() {
            match value.get_ref() {
                DeValue::String(text) if text.len() > MAX_TEXT => wrong.push((value.span(), "is too long")),
                DeValue::String(text) if text.chars().any(is_unseen) => {
                    wrong.push((value.span(), "holds characters that cannot be seen"));
                }
                DeValue::Array(items) if items.len() > MAX_ITEMS => wrong.push((value.span(), "has too many items")),
                DeValue::Array(items) => rest.extend(items.iter()),
                DeValue::Table(fields) => rest.extend(fields.values()),
                _ => {}
            }
        }
        for (span, what) in &wrong {
            self.say(Mistake::new("value", format!("a value of this `{kind}` row {what}"), span.clone()));
        }
        wrong.is_empty()
    }

    fn row(&mut self, kind: &'static str, row: Spanned<DeValue<'t>>, span: Range<usize>) {
        let DeValue::Table(mut fields) = row.into_inner() else { return };
        let replace = fields.remove("replace");
        let replace = match replace.as_ref().map(|value| (value.get_ref().as_bool(), value.span())) {
            None | Some((Some(false), _)) => None,
            Some((Some(true), span)) => Some(span),
            Some((None, span)) => {
                return self.say(Mistake::new("type", "`replace` must be true or false", span));
            }
        };
        let row = Fields::new(fields);
        if kind == "retract" {
            return match Retract::deserialize(row) {
                Ok(retract) => self.retracts.push((retract, span)),
                Err(error) => self.unreadable(kind, error, span),
            };
        }
        match self.added.read(kind, row) {
            Ok(entry) => {
                // A package of the name of what a part of the stack is would be chosen a second time.
                if let Some(key) = nvidia::part_of(&entry.name.head).filter(|_| kind == "companion") {
                    let message = format!("`{}` is what `{key}` of [stack] chooses: no row names it", entry.name.head);
                    let help = format!("ask for a release of it with `{key} = \"…\"` under [stack]");
                    self.say(Mistake::new("overlay-captures", message, span.clone()).help(help));
                }
                self.rows.push(Row { kind, id: entry.id, name: entry.name, span, replace });
            }
            Err(error) => self.unreadable(kind, error, span),
        }
    }

    fn unreadable(&mut self, kind: &str, error: Unreadable, row: Range<usize>) {
        let span = fit(self.text, error.span.filter(|span| row.contains(&span.start)).unwrap_or(row));
        let said = plain_types(&error.message);
        let mistake = Mistake::new("overlay-row", format!("this `{kind}` row cannot be read: {said}"), span);
        let help = match said {
            _ if said.contains("missing field `source`") => {
                "every row names the id of a source: one of the catalog's, or one of your own `[[source]]` rows"
            }
            _ if said.contains("missing field") => "`gpuenv explain overlay` shows rows",
            _ if said.contains("unknown field") => "the fields of a row are those of `catalog/*.toml`",
            _ => return self.say(mistake),
        };
        self.say(mistake.help(help));
    }

    /// Puts the rows in, those that replace others in their stead.
    fn put(&mut self, laid: &mut Catalog, name: &str) {
        let known: HashMap<String, (&'static str, usize)> = ids(laid);
        let captures = self.captures(laid);
        let mut gone: HashMap<&'static str, BTreeSet<usize>> = HashMap::new();
        let mut own: HashMap<&str, &Row> = HashMap::new();
        let mut wrong = Vec::new();
        for row in &self.rows {
            if let Some(first) = own.insert(&row.id, row) {
                let message = format!("`{}` stands twice: see line {} too", row.id, self.line(&first.span));
                wrong.push(Mistake::new("duplicate", message, row.span.clone()).help("keep one of the two"));
            }
            let captured = captures.get(&row.id);
            match (known.get(&row.id), &row.replace) {
                (Some((kind, at)), Some(_)) => {
                    gone.entry(*kind).or_default().insert(*at);
                }
                (Some(_), None) => wrong.push(self.stands_already(row, laid, name)),
                (None, Some(_)) if captured.is_some() => {
                    for (kind, at) in captured.iter().flat_map(|capture| &capture.rows) {
                        gone.entry(*kind).or_default().insert(*at);
                    }
                }
                (None, Some(span)) => wrong.push(replaces_nothing(row, span, &known)),
                (None, None) => wrong.extend(captured.map(|capture| self.would_capture(row, capture, name))),
            }
        }
        drop(own);
        wrong.into_iter().for_each(|mistake| self.say(mistake));
        if !self.wrong.is_empty() {
            return;
        }
        gone.iter().for_each(|(kind, gone)| laid.remove(kind, gone));
        self.take_over(laid);
        laid.merge(std::mem::take(&mut self.added));
        if gone.contains_key("gpu") {
            capture::forget_taken(laid);
        }
        let places: Vec<Laid> = self.rows.iter().map(|row| self.placed(row, name)).collect();
        let replaced: BTreeSet<String> = self.rows.iter().map(|row| row.id.clone()).collect();
        laid.laid.to_mut().retain(|row| !replaced.contains(&*row.id));
        laid.laid.to_mut().extend(places);
        laid.laid.to_mut().sort_by_key(|one| one.id);
    }

    /// An ordinary package of which there are releases now is solved with: what was known of it beside the others stands in
    /// these rows from here on.
    fn take_over(&self, laid: &mut Catalog) {
        let is_new = |package: &&str| laid.companions.of(package).is_empty() && laid.builds.of(package).is_empty();
        let taken: BTreeSet<&str> = self.added.companions.iter().map(|row| &*row.package).filter(is_new).collect();
        if laid.asks.iter().any(|row| taken.contains(&*row.package) || taken.contains(&*row.of)) {
            laid.asks.to_mut().retain(|row| !taken.contains(&*row.package) && !taken.contains(&*row.of));
        }
    }

    fn stands_already(&self, row: &Row, laid: &Catalog, name: &str) -> Mistake {
        let place = laid.overlaid(&row.id).map_or("the built-in catalog".to_string(), |at| at.to_string());
        let line = self.line(&row.span);
        let message = format!("`{}` is already in {place}: {name}:{line} would override it in silence", row.id);
        let help = "add `replace = true` to the row if it is to take the place of that one";
        Mistake::new("overlay-exists", message, row.span.clone()).help(help)
    }

    fn would_capture(&self, row: &Row, capture: &Capture, name: &str) -> Mistake {
        let (taken, means, line) = (&capture.name, &capture.means, self.line(&row.span));
        let message = format!("`{taken}` already means `{means}`: {name}:{line} would change that in silence");
        let help = "add `replace = true` to the row if it is to take its place, or give it another name";
        Mistake::new("overlay-captures", message, row.span.clone()).help(help)
    }

    /// What the rows would take for themselves of what has other ids, by their own ids.
    fn captures(&self, base: &Catalog) -> HashMap<String, Capture> {
        let rows: Vec<_> = self.rows.iter().map(|row| (row.kind, &row.name, row.id.as_str())).collect();
        let mut captures = capture::by_spelling(base, &rows);
        let ids = self.rows.iter().filter(|row| row.kind == "gpu").map(|row| &row.id);
        for (gpu, id) in self.added.gpus.iter().zip(ids) {
            captures.extend(capture::by_name(base, gpu, id).map(|capture| (id.clone(), capture)));
        }
        captures
    }

    fn placed(&self, row: &Row, name: &str) -> Laid {
        Laid { id: row.id.clone().into(), at: format!("{name}:{}", self.line(&row.span)).into() }
    }

    /// Sets rules aside.
    fn retract(&mut self, laid: &mut Catalog, name: &str) {
        for (retract, span) in std::mem::take(&mut self.retracts) {
            let ids = || laid.rules.iter().map(|row| &*row.id).chain(laid.laws.iter().map(|row| &*row.id));
            let code = "overlay-retract";
            if let Some(earlier) = laid.retraction(&retract.rule) {
                let message = format!("`{}` is retracted twice: {} did it already", clip(&retract.rule), earlier.at);
                self.say(Mistake::new(code, message, span));
            } else if !ids().any(|id| id == retract.rule) {
                let message = format!("there is no rule `{}` to retract", clip(&retract.rule));
                let near = nearest(&retract.rule, ids().map(|id| (id.to_string(), id)));
                let mistake = Mistake::new(code, message, span);
                self.say(match near.first() {
                    Some(near) => mistake.help(format!("did you mean `{near}`?")),
                    None => mistake.help("`gpuenv catalog search rule` lists the rules"),
                });
            } else if retract.reason.trim().is_empty() {
                let mistake = Mistake::new(code, format!("retracting `{}` needs a reason", retract.rule), span);
                self.say(mistake.help("say what was measured, or name the ticket"));
            } else {
                let at = format!("{name}:{}", self.line(&span)).into();
                let (rule, reason) = (retract.rule.into(), retract.reason.trim().to_string().into());
                laid.retractions.to_mut().push(Retraction { rule, reason, at });
            }
        }
    }

    /// What the lints say of the whole. A source of the built-in catalog that nothing rests on any more is no
    /// fault of who replaced the last row that did.
    fn findings(&mut self, findings: Vec<Finding>, name: &str) {
        let places: HashMap<String, Range<usize>> =
            self.rows.iter().map(|row| (format!("{} {}", row.kind, row.name), row.span.clone())).collect();
        let mut wrong = Vec::new();
        for finding in findings {
            let span = places.get(&finding.row).cloned();
            let message = match span {
                Some(_) => format!("{}: {}", finding.row, finding.says),
                None if finding.lint == "unused-source" => continue,
                None => format!("with {name}, the catalog contradicts itself: {}: {}", finding.row, finding.says),
            };
            wrong.push(Mistake { code: finding.lint, finding: true, message, span, help: None });
        }
        wrong.into_iter().for_each(|mistake| self.say(mistake));
    }

    /// The number of the line on which something begins, counted from one.
    fn line(&self, span: &Range<usize>) -> usize {
        self.lines.partition_point(|start| *start <= span.start)
    }
}

impl Catalog {
    /// The overlay's word that sets a rule aside.
    pub fn retraction(&self, rule: &str) -> Option<&Retraction> {
        self.retractions.iter().find(|one| one.rule == rule)
    }
}

/// Every id and where its row stands.
fn ids(catalog: &Catalog) -> HashMap<String, (&'static str, usize)> {
    let mut ids = HashMap::new();
    let (mut kind, mut at) = ("", 0);
    for row in catalog.rows() {
        at = if row.kind == kind { at + 1 } else { 0 };
        kind = row.kind;
        ids.insert(row.id, (kind, at));
    }
    ids
}

fn kinds_like(key: &str) -> String {
    let open = || Catalog::KINDS.iter().filter(|kind| CLOSED.iter().all(|(closed, _)| closed != *kind));
    match nearest(key, open().map(|kind| (kind.to_string(), *kind))).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let listed: Vec<&str> = open().copied().chain(["retract"]).collect();
            format!("an overlay holds: {}", listed.join(", "))
        }
    }
}

/// Nothing a message quotes is longer than this.
fn clip(text: &str) -> String {
    text.chars().take(60).collect()
}

/// The parser's spans may end within a character.
fn fit(text: &str, span: Range<usize>) -> Range<usize> {
    let down = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = down(span.start);
    start..down(span.end).max(start)
}

fn replaces_nothing(row: &Row, replace: &Range<usize>, known: &HashMap<String, (&'static str, usize)>) -> Mistake {
    // In the order of the alphabet, so that of several at one distance the same is named each time.
    let ids: BTreeSet<&str> = known.keys().map(String::as_str).collect();
    // An id names the package first, then its version, then the build.
    let alike = |id: &str| {
        let parts = || id.split('-').zip(row.id.split('-')).map(|(one, other)| one == other);
        (parts().filter(|is_same| *is_same).count(), parts().take_while(|is_same| *is_same).count())
    };
    let most = ids.iter().map(|id| alike(id)).max().unwrap_or_default();
    let ids = ids.into_iter().filter(|id| row.id.len() <= MAX_COMPARED && alike(id) == most);
    let near = ids.min_by_key(|id| strsim::damerau_levenshtein(id, &row.id));
    let near = nearest(&row.id, near.into_iter().map(|id| (id.to_string(), id)));
    let help = match near.first() {
        Some(near) => format!("the nearest id is `{near}`; drop `replace` if the row is new"),
        None => "drop `replace`: the row is new".to_string(),
    };
    let message = format!("there is no `{}` that this row could replace", row.id);
    Mistake::new("overlay-replaces-nothing", message, replace.clone()).help(help)
}
