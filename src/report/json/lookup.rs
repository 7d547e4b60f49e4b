//! What was looked up: the reasons of an answer, rules and rows, what the catalog holds, the schemas.
//!
//! These are written with their fields in the order of the alphabet.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::catalog::rows::SourceKind;
use crate::catalog::{Basis, Catalog, Hit, Shelf};
use crate::explain::graph::{self, Edge, Language, Node};
use crate::explain::topic::Topic as Named;
use crate::explain::unlocks::Opening;
use crate::explain::why::{self, Why};
use crate::report::schema::Schema;
use crate::report::{CatalogState, Standing};
use crate::types::map_of;

use super::OK;

/// Why an answer is what it is.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Explained<'a> {
    #[cfg_attr(test, schemars(extend("const" = OK)))]
    status: &'static str,
    choices: Vec<Choice<'a>>,
    /// Single changes that would make something newer possible, what opens most first.
    openings: &'a [Opening],
    /// How the lock stands to what is explained: only of a current one its own choices are.
    lock: &'a Standing,
}

/// One choice.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Choice<'a> {
    #[serde(flatten)]
    choice: &'a why::Choice,
    /// What the lock holds, where that is another.
    locked: Option<&'a str>,
}

impl<'a> Explained<'a> {
    pub fn new(why: &'a Why, locked: &'a BTreeMap<String, String>, standing: &'a Standing) -> Self {
        let choice = |choice: &'a why::Choice| {
            let locked = locked.get(&choice.key).map(String::as_str);
            Choice { choice, locked }
        };
        let choices = why.choices.iter().map(choice).collect();
        Explained { status: OK, choices, openings: &why.openings, lock: standing }
    }
}

/// Things that were looked up by name.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Topics<'a> {
    #[cfg_attr(test, schemars(extend("const" = OK)))]
    status: &'static str,
    #[cfg_attr(test, schemars(length(min = 1)))]
    topics: Vec<Topic<'a>>,
}

/// One thing that has a name.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Topic<'a> {
    Rule(Rule<'a>),
    Described(Described<'a>),
    Row(Row<'a>),
}

/// A rule of the catalog, or one that is code.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Rule<'a> {
    #[cfg_attr(test, schemars(extend("const" = "rule")))]
    kind: &'static str,
    /// Its id, as overrides name it.
    id: &'a str,
    says: &'a str,
    /// What it speaks of; null for a rule that is code.
    range: Option<Range<'a>>,
    /// What that needs.
    needs: Option<Range<'a>>,
    /// A URL or purl.
    source: &'a str,
    note: Option<&'a str>,
    sources: &'a [Basis],
    /// Pairs that satisfy it.
    holds: &'a [String],
    /// Pairs that break it.
    fails: &'a [String],
    /// The overlay that set it aside.
    retracted: Option<Retracted<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Range<'a> {
    subject: &'a str,
    range: &'a str,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Retracted<'a> {
    /// Where that stands, `site.toml:12`.
    by: &'a str,
    reason: &'a str,
}

/// A kind of warning, a check of a host, an error, a message of another program, a package of `[packages]`, a word, or a key
/// or table of gpuenv.toml.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Described<'a> {
    #[cfg_attr(test, schemars(extend("enum" = ["warning", "check", "package", "error", "message", "word", "key", "table"])))]
    kind: &'static str,
    id: &'a str,
    says: &'a str,
    /// What to change, of a message.
    remedies: &'a [String],
}

/// A row of the catalog.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Row<'a> {
    #[cfg_attr(test, schemars(extend("const" = "fact")))]
    kind: &'static str,
    /// Its kind, as catalog files write it.
    table: &'a str,
    id: &'a str,
    source: &'a str,
    sources: &'a [Basis],
    /// A short digest of the row: another one means that the row was corrected.
    digest: &'a str,
    /// What it says, by field.
    #[cfg_attr(test, schemars(with = "serde_json::Map<String, Value>"))]
    row: &'a Value,
    /// Why nobody read the GPU code of a build in its file; none where somebody did, and for other rows.
    unread: Option<&'static str>,
}

impl<'a> Topics<'a> {
    pub fn new(topics: &'a [Named]) -> Self {
        Topics { status: OK, topics: topics.iter().map(Topic::new).collect() }
    }
}

impl<'a> Topic<'a> {
    fn new(topic: &'a Named) -> Self {
        let range = |of: &'a Option<(String, String)>| {
            of.as_ref().map(|(subject, range)| Range { subject: subject.as_str(), range: range.as_str() })
        };
        match topic {
            Named::Rule(rule) => Topic::Rule(Rule {
                kind: "rule",
                id: &rule.id,
                says: &rule.says,
                range: range(&rule.range),
                needs: range(&rule.needs),
                source: &rule.row.fact.source,
                note: rule.row.sources.first().and_then(|basis| basis.note.as_deref()),
                sources: &rule.row.sources,
                holds: &rule.holds,
                fails: &rule.fails,
                retracted: rule.retracted.as_ref().map(|(by, reason)| Retracted { by, reason }),
            }),
            Named::Warning(code) => {
                Topic::Described(Described { kind: "warning", id: code.code, says: code.says(), remedies: &[] })
            }
            Named::Described(one) => {
                Topic::Described(Described { kind: one.kind, id: &one.id, says: &one.says, remedies: &one.remedies })
            }
            Named::Row(row) => Topic::Row(Row {
                kind: "fact",
                table: row.kind,
                id: &row.fact.id,
                source: &row.fact.source,
                sources: &row.sources,
                digest: &row.fact.digest,
                row: &row.says,
                unread: row.unread,
            }),
        }
    }
}

/// What the catalog holds and how it is known.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Census<'a> {
    #[cfg_attr(test, schemars(extend("const" = OK)))]
    status: &'static str,
    /// A date.
    version: &'a str,
    digest: String,
    overlays: Vec<Overlay<'a>>,
    /// Rules that overlays have set aside.
    retracted: Vec<RetractedRule<'a>>,
    tables: Vec<Count<'a>>,
    sources: Sources<'a>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Overlay<'a> {
    name: &'a str,
    digest: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RetractedRule<'a> {
    rule: &'a str,
    reason: &'a str,
    by: &'a str,
}

/// How many rows there are of a kind.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Count<'a> {
    kind: &'a str,
    name: &'a str,
    rows: usize,
    /// By the kind of source that says that they exist.
    by_source: BTreeMap<&'a str, usize>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Sources<'a> {
    count: usize,
    /// On which days they were read.
    by_day: BTreeMap<&'a str, usize>,
}

impl<'a> Census<'a> {
    pub fn new(catalog: &'a Catalog) -> Self {
        let digest = |digest: &str| format!("sha256:{digest}");
        let overlays = catalog.overlays.iter().map(|one| Overlay { name: &one.name, digest: digest(&one.digest) });
        let retracted = catalog.retractions.iter();
        let retracted = retracted.map(|one| RetractedRule { rule: &one.rule, reason: &one.reason, by: &one.at });
        let tables = catalog.census().into_iter().map(|count| Count {
            kind: count.kind,
            name: count.name.trim(),
            rows: count.rows,
            by_source: map_of(SourceKind::ALL.iter().map(|kind| kind.as_str()).zip(count.by_kind)),
        });
        Census {
            status: OK,
            version: &catalog.version,
            digest: digest(&catalog.digest),
            overlays: overlays.collect(),
            retracted: retracted.collect(),
            tables: tables.collect(),
            sources: Sources { count: catalog.sources.len(), by_day: catalog.freshness() },
        }
    }
}

/// The catalogs that are at hand.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Catalogs<'a> {
    /// What was done: `current` where it was there already.
    #[cfg_attr(test, schemars(extend("enum" = ["installed", "current", "rolled-back", "listed"])))]
    status: &'static str,
    /// Newest first.
    catalogs: &'a [CatalogState],
}

impl<'a> Catalogs<'a> {
    pub fn new(done: &'static str, states: &'a [CatalogState]) -> Self {
        Catalogs { status: done, catalogs: states }
    }
}

/// Facts found by the words in them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Found<'a> {
    #[cfg_attr(test, schemars(extend("enum" = ["ok", "nothing"])))]
    status: &'static str,
    rows: Vec<FoundRow<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FoundRow<'a> {
    table: &'a str,
    id: &'a str,
    source: &'a str,
}

impl<'a> Found<'a> {
    pub fn new(hits: &'a [Hit]) -> Self {
        let row = |hit: &'a Hit| FoundRow { table: hit.kind, id: &hit.fact.id, source: &hit.fact.source };
        Found { status: if hits.is_empty() { "nothing" } else { OK }, rows: hits.iter().map(row).collect() }
    }
}

/// Catalogs in which no lint found anything.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Checked<'a> {
    #[cfg_attr(test, schemars(extend("const" = OK)))]
    status: &'static str,
    checked: Vec<CheckedCatalog<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CheckedCatalog<'a> {
    name: &'a str,
    rows: usize,
}

impl<'a> Checked<'a> {
    pub fn new(checked: &'a [(String, usize)]) -> Self {
        let one = |(name, rows): &'a (String, usize)| CheckedCatalog { name, rows: *rows };
        Checked { status: OK, checked: checked.iter().map(one).collect() }
    }
}

/// Who needs what.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Graph<'a> {
    #[cfg_attr(test, schemars(extend("const" = OK)))]
    status: &'static str,
    #[cfg_attr(test, schemars(extend("enum" = ["mermaid", "dot"])))]
    language: &'static str,
    /// How the lock stands to gpuenv.toml; what is drawn is what it holds where it is current.
    lock: &'a Standing,
    nodes: &'a [Node],
    edges: &'a [Edge],
    /// The drawing.
    text: String,
}

impl<'a> Graph<'a> {
    pub fn new(graph: &'a graph::Graph, language: Language, lock: &'a Standing) -> Self {
        Graph {
            status: OK,
            language: if language == Language::Dot { "dot" } else { "mermaid" },
            lock,
            nodes: &graph.nodes,
            edges: &graph.edges,
            text: graph.text(language),
        }
    }
}

/// The schemas there are.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Schemas {
    #[cfg_attr(test, schemars(extend("const" = OK)))]
    status: &'static str,
    schemas: &'static [Schema],
}

impl Schemas {
    pub fn new(schemas: &'static [Schema]) -> Self {
        Schemas { status: OK, schemas }
    }
}

/// What can be written in gpuenv.toml.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Listed<'a> {
    #[cfg_attr(test, schemars(extend("const" = OK)))]
    status: &'static str,
    lists: Vec<List<'a>>,
}

/// Names of one kind.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct List<'a> {
    #[cfg_attr(test, schemars(extend("enum" = crate::catalog::SHELVES.iter().map(|(kind, _)| *kind).collect::<Vec<_>>())))]
    kind: &'a str,
    /// Where such a name is written.
    written: &'a str,
    names: Vec<ListedName<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ListedName<'a> {
    name: &'a str,
    says: &'a str,
}

impl<'a> Listed<'a> {
    pub fn new(shelves: &'a [Shelf]) -> Self {
        let name = |(name, says): &'a (String, String)| ListedName { name, says };
        let list = |shelf: &'a Shelf| List {
            kind: shelf.kind,
            written: shelf.written,
            names: shelf.names.iter().map(name).collect(),
        };
        Listed { status: OK, lists: shelves.iter().map(list).collect() }
    }
}
