//! Things that can be looked up by their name alone: a rule, a warning, a row of the catalog.

use crate::catalog::{Catalog, Fact};
use crate::solve::codes;
use crate::spec::suggest;

/// One thing that has a name.
#[derive(Debug, Clone)]
pub enum Topic {
    /// A rule of the catalog, or a law that is code.
    Rule(RuleTopic),
    /// A kind of warning.
    Warning(&'static codes::Code),
    /// A row of the catalog and its fields.
    Row(Fact, serde_json::Value),
    /// A check of a host: its id and what it asks.
    Check(&'static str, &'static str),
}

/// A rule with its source and its own tests.
#[derive(Debug, Clone)]
pub struct RuleTopic {
    /// Its id, as overrides name it.
    pub id: String,
    /// What it says.
    pub says: String,
    /// What it speaks of and what that needs, as subject and range; none for a law.
    pub range: Option<(&'static str, String)>,
    /// See `range`.
    pub needs: Option<(&'static str, String)>,
    /// Where it can be looked up.
    pub source: String,
    /// What a reader should know about the source.
    pub note: Option<String>,
    /// Pairs that satisfy it.
    pub holds: Vec<String>,
    /// Pairs that break it.
    pub fails: Vec<String>,
}

/// Everything of this name: a rule and a warning may share one.
pub fn find(catalog: &Catalog, name: &str) -> Vec<Topic> {
    let mut found: Vec<Topic> = rule(catalog, name).map(Topic::Rule).into_iter().collect();
    found.extend(codes::find(name).map(Topic::Warning));
    if found.is_empty() {
        found.extend(catalog.row(name).map(|(fact, row)| Topic::Row(fact, row)));
    }
    found
}

/// The name that was meant, if one is near.
pub fn nearest<'a>(catalog: &'a Catalog, name: &str) -> Option<&'a str> {
    let rules = catalog.rules.iter().map(|row| &*row.id).chain(catalog.laws.iter().map(|row| &*row.id));
    suggest::nearest(name, rules.chain(codes::ALL.iter().map(|one| one.code)))
}

fn rule(catalog: &Catalog, name: &str) -> Option<RuleTopic> {
    let source = |id: &str| catalog.source_of(id, "", "", "");
    let note = |id: &str| catalog.source(id).and_then(|source| source.note.as_ref()).map(ToString::to_string);
    if let Some(row) = catalog.rules.iter().find(|row| row.id == name) {
        return Some(RuleTopic {
            id: row.id.to_string(),
            says: row.says.to_string(),
            range: Some((row.subject.as_str(), row.range.to_string())),
            needs: Some((row.object.as_str(), row.needs.to_string())),
            source: source(&row.source),
            note: note(&row.source),
            holds: row.holds.iter().map(ToString::to_string).collect(),
            fails: row.fails.iter().map(ToString::to_string).collect(),
        });
    }
    let law = catalog.laws.iter().find(|row| row.id == name)?;
    Some(RuleTopic {
        id: law.id.to_string(),
        says: law.says.to_string(),
        range: None,
        needs: None,
        source: source(&law.source),
        note: note(&law.source),
        holds: Vec::new(),
        fails: Vec::new(),
    })
}
