//! The JSON documents of `gpuenv explain` and `gpuenv schema`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

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
    let range = |of: &Option<(&'static str, String)>| {
        of.as_ref().map(|(subject, range)| json!({ "subject": subject, "range": range }))
    };
    let topic = |topic: &Topic| match topic {
        Topic::Rule(rule) => json!({
            "kind": "rule",
            "id": rule.id,
            "says": rule.says,
            "range": range(&rule.range),
            "needs": range(&rule.needs),
            "source": rule.source,
            "note": rule.note,
            "holds": rule.holds,
            "fails": rule.fails,
        }),
        Topic::Warning(code) => json!({ "kind": "warning", "id": code.code, "says": code.says }),
        Topic::Check(id, says) => json!({ "kind": "check", "id": id, "says": says }),
        Topic::Row(fact, row) => {
            json!({ "kind": "fact", "id": fact.id, "source": fact.source, "digest": fact.digest, "row": row })
        }
    };
    json!({ "status": "ok", "topics": topics.iter().map(topic).collect::<Vec<_>>() })
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
