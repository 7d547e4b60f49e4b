//! The JSON documents of `gpuenv explain` and `gpuenv schema`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::catalog::rows::SourceKind;
use crate::catalog::{Basis, Catalog, Count, FullRow, Hit, Overlay, Retraction};
use crate::explain::graph::{Graph, Language};
use crate::explain::topic::Topic;
use crate::explain::why::{Choice, Opening, Rejected, Why};
use crate::explain::{Change, FactNote};

use super::schema::Schema;

fn facts(facts: &[FactNote]) -> Vec<Value> {
    facts.iter().map(|fact| json!({ "id": fact.id, "source": fact.source })).collect()
}

/// A change, as fixes and openings have it.
pub(super) fn change(change: &Change) -> Value {
    json!({ "key": change.key, "from": change.from, "to": change.to })
}

/// The choices of an answer.
pub(super) fn why(why: &Why, locked: &BTreeMap<String, String>) -> Value {
    let rejected = |one: &Rejected| json!({ "value": one.value, "culprits": one.culprits, "explanation": one.because, "facts": facts(&one.facts) });
    let choice = |one: &Choice| {
        json!({
            "key": one.key,
            "part": one.part,
            "chosen": one.chosen,
            "verdict": one.verdict.as_str(),
            "explanation": one.because,
            "rejected": one.rejected.iter().map(rejected).collect::<Vec<_>>(),
            "facts": facts(&one.facts),
            "locked": locked.get(&one.key),
        })
    };
    let opening = |one: &Opening| json!({ "change": change(&one.change), "key": one.key, "from": one.from, "to": one.to, "advice": one.advice });
    json!({
        "status": "ok",
        "choices": why.choices.iter().map(choice).collect::<Vec<_>>(),
        "openings": why.openings.iter().map(opening).collect::<Vec<_>>(),
    })
}

/// Things looked up by name.
pub(super) fn topics(topics: &[Topic]) -> Value {
    let range = |of: &Option<(String, String)>| {
        of.as_ref().map(|(subject, range)| json!({ "subject": subject, "range": range }))
    };
    let topic = |topic: &Topic| match topic {
        Topic::Rule(rule) => json!({
            "kind": "rule",
            "id": rule.id,
            "says": rule.says,
            "range": range(&rule.range),
            "needs": range(&rule.needs),
            "source": rule.row.fact.source,
            "note": rule.row.sources.first().and_then(|basis| basis.note.as_ref()),
            "sources": sources(&rule.row),
            "holds": rule.holds,
            "fails": rule.fails,
            "retracted": rule.retracted.as_ref().map(|(at, reason)| json!({ "by": at, "reason": reason })),
        }),
        Topic::Warning(code) => json!({ "kind": "warning", "id": code.code, "says": code.says }),
        Topic::Check(id, says) => json!({ "kind": "check", "id": id, "says": says }),
        Topic::Row(row) => json!({
            "kind": "fact",
            "table": row.kind,
            "id": row.fact.id,
            "source": row.fact.source,
            "sources": sources(row),
            "digest": row.fact.digest,
            "row": row.says,
        }),
    };
    json!({ "status": "ok", "topics": topics.iter().map(topic).collect::<Vec<_>>() })
}

/// Everything a row rests on.
fn sources(row: &FullRow) -> Vec<Value> {
    let one = |basis: &Basis| {
        json!({
            "field": basis.field,
            "id": basis.id,
            "at": basis.at,
            "kind": basis.kind.as_str(),
            "seen": basis.seen,
            "note": basis.note,
        })
    };
    row.sources.iter().map(one).collect()
}

/// What the catalog holds.
pub(super) fn census(catalog: &Catalog) -> Value {
    let table = |count: &Count| {
        let kinds = SourceKind::ALL.iter().zip(count.by_kind).map(|(kind, rows)| (kind.as_str(), rows));
        let kinds: BTreeMap<&str, usize> = kinds.collect();
        json!({ "kind": count.kind, "name": count.name.trim(), "rows": count.rows, "by_source": kinds })
    };
    let overlay = |one: &Overlay| json!({ "name": one.name, "digest": format!("sha256:{}", one.digest) });
    let retracted = |one: &Retraction| json!({ "rule": one.rule, "reason": one.reason, "by": one.at });
    json!({
        "status": "ok",
        "version": catalog.version,
        "digest": format!("sha256:{}", catalog.digest),
        "overlays": catalog.overlays.iter().map(overlay).collect::<Vec<_>>(),
        "retracted": catalog.retractions.iter().map(retracted).collect::<Vec<_>>(),
        "tables": catalog.census().iter().map(table).collect::<Vec<_>>(),
        "sources": { "count": catalog.sources.len(), "by_day": catalog.freshness() },
    })
}

/// Rows found by their words.
pub(super) fn hits(hits: &[Hit]) -> Value {
    let one = |hit: &Hit| json!({ "table": hit.kind, "id": hit.fact.id, "source": hit.fact.source });
    let status = if hits.is_empty() { "nothing" } else { "ok" };
    json!({ "status": status, "rows": hits.iter().map(one).collect::<Vec<_>>() })
}

/// Catalogs in which no lint found anything.
pub(super) fn checked(checked: &[(String, usize)]) -> Value {
    let one = |(name, rows): &(String, usize)| json!({ "name": name, "rows": rows });
    json!({ "status": "ok", "checked": checked.iter().map(one).collect::<Vec<_>>() })
}

#[derive(Debug, Serialize)]
struct Drawing<'a> {
    status: &'static str,
    language: &'a str,
    nodes: Vec<Value>,
    edges: Vec<Value>,
    text: String,
}

/// A drawing, and what it draws.
pub(super) fn graph(graph: &Graph, language: Language) -> Value {
    let nodes = graph.nodes.iter().map(|node| json!({ "id": node.id, "kind": node.kind, "label": node.label }));
    let edges = graph.edges.iter().map(|edge| json!({ "from": edge.from, "to": edge.to, "rule": edge.rule }));
    let drawing = Drawing {
        status: "ok",
        language: if language == Language::Dot { "dot" } else { "mermaid" },
        nodes: nodes.collect(),
        edges: edges.collect(),
        text: graph.text(language),
    };
    serde_json::to_value(drawing).unwrap_or_default()
}

/// The names of all schemas.
pub(super) fn schemas(schemas: &[Schema]) -> Value {
    let one = |schema: &Schema| json!({ "name": schema.name, "about": schema.about });
    json!({ "status": "ok", "schemas": schemas.iter().map(one).collect::<Vec<_>>() })
}
