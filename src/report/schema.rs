//! The JSON Schemas (draft 2020-12) of every JSON document that gpuenv prints, and of gpuenv.toml itself: derived from
//! the types that are serialised, and from the keys of [`crate::spec`].

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema as Derived};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::catalog::rows::FRAMEWORKS;
use crate::host::Record;
use crate::spec::{KeyDoc, Shape, TableDoc, tables};

use super::json;

/// A schema.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[schemars(rename = "ListedSchema")]
pub struct Schema {
    /// Its name, for `gpuenv schema NAME`.
    pub name: &'static str,
    /// Which documents it describes.
    pub about: &'static str,
    #[serde(skip)]
    derive: fn() -> Value,
}

/// Every schema, by name.
pub const ALL: &[Schema] = &[
    new("catalog", "`catalog` without a command", printed::<json::Census>),
    new("catalogs", "`catalog update`", printed::<json::Catalogs>),
    new("checked", "`catalog check`, where nothing was found", printed::<json::Checked>),
    new("conflict", "`lock` and `explain`, where there is no answer", printed::<json::NoAnswer>),
    new("diagnose", "`diagnose`", printed::<json::Diagnosed>),
    new("diff", "`diff`", printed::<json::Differences>),
    new(
        "error",
        "every command, where it failed, and `catalog check`, where something was found",
        printed::<json::Errors>,
    ),
    new("explain", "`explain`, with or without a key", printed::<json::Explained>),
    new("exports", "`export` without a format", printed::<json::Exports>),
    new("fleet", "`fleet check`", printed::<json::FleetGroups>),
    new("fleet-host", "a line of `fleet check --format ndjson`", printed::<json::FleetHost>),
    new("fleet-plan", "`fleet plan`", printed::<json::FleetPlan>),
    new("graph", "`explain --graph`", printed::<json::Graph>),
    new("host", "`probe`: the record of a host", read::<Record>),
    new("init", "`init`", printed::<json::Init>),
    new("inspected", "`catalog inspect`", printed::<json::Inspected>),
    new("list", "`catalog list`", printed::<json::Listed>),
    new("lock", "`lock` and `export json`", printed::<json::Locked>),
    new("matrix", "`matrix`", printed::<json::MatrixCells>),
    new(
        "rendered",
        "`export` of other formats, `catalog inspect --overlay`, `completions`, `man` and help",
        printed::<json::Rendered>,
    ),
    new("schemas", "`schema` without a name", printed::<json::Schemas>),
    new("search", "`catalog search`", printed::<json::Found>),
    new("spec", "gpuenv.toml, read as JSON: for editors that complete and check it", spec),
    new("stale", "`lock --check` and `export --check`, where they say no", printed::<json::Stale>),
    new("topics", "`catalog show`, and `explain` of a rule, a warning, a check or a fact", printed::<json::Topics>),
    new(
        "undetermined",
        "`lock` and `explain`, where an answer depends on what nobody has read",
        printed::<json::Undetermined>,
    ),
    new("verify", "`verify`", printed::<json::Verified>),
];

const fn new(name: &'static str, about: &'static str, derive: fn() -> Value) -> Schema {
    Schema { name, about, derive }
}

/// The schema of this name.
pub fn find(name: &str) -> Option<&'static Schema> {
    ALL.iter().find(|schema| schema.name == name)
}

impl Schema {
    /// Its text.
    pub fn text(&self) -> String {
        let mut schema = (self.derive)();
        schema["title"] = format!("gpuenv {}", self.name).into();
        format!("{schema:#}\n")
    }
}

/// What is printed: what is always there is required.
fn printed<T: JsonSchema>() -> Value {
    derived::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// What is read: what may be left out is not required.
fn read<T: JsonSchema>() -> Value {
    derived::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

fn derived<T: JsonSchema>(settings: SchemaSettings) -> Value {
    settings.with_transform(Plain).into_generator().into_root_schema_for::<T>().to_value()
}

/// Leaves out what says nothing to other programs, and admits no field that is not listed.
#[derive(Debug, Clone)]
struct Plain;

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Derived) {
        transform_subschemas(self, schema);
        schema.remove("format");
        schema.remove("default");
        if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".into(), false.into());
        }
    }
}

/// gpuenv.toml.
fn spec() -> Value {
    let mut root = Map::new();
    for table in tables() {
        let object = object(&table);
        match table.name {
            "" => {
                root.extend(object["properties"].as_object().into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())))
            }
            // A table in the place of a constraint.
            "stack.torch" => or_a_table(&mut root, &object),
            "target" => drop(root.insert(
                "target".into(),
                json!({ "type": "object", "description": table.about, "additionalProperties": object }),
            )),
            "export" => drop(root.insert("export".into(), export(object))),
            name if table.header.starts_with("[[") => {
                drop(root.insert(name.into(), json!({ "type": "array", "items": object })))
            }
            name => drop(root.insert(name.into(), object)),
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": root,
        "required": ["target"],
        "additionalProperties": false,
    })
}

/// A package of `[stack]` is asked for by a constraint, or is a build of one's own.
fn or_a_table(root: &mut Map<String, Value>, own: &Value) {
    let mut own = own.clone();
    own["required"] = json!(["version"]);
    for package in FRAMEWORKS {
        let Some(key) = root.get_mut("stack").and_then(|stack| stack["properties"].get_mut(package)) else { continue };
        let about = key["description"].take();
        *key = json!({ "anyOf": [{ "type": "string" }, own], "description": about });
    }
}

/// `[export]`: a path, a table with options of the format beside its own keys, or several.
fn export(mut table: Value) -> Value {
    let about = table["description"].take();
    table["additionalProperties"] = json!({ "type": ["string", "integer", "boolean"] });
    table["required"] = json!(["file"]);
    let list = json!({ "type": "array", "items": table });
    let one = json!({ "anyOf": [{ "type": "string" }, table, list] });
    json!({ "type": "object", "description": about, "additionalProperties": one })
}

fn object(table: &TableDoc) -> Value {
    let keys: Map<String, Value> = table.keys.iter().map(|key| (key.name.to_string(), value(key))).collect();
    let required: Vec<&str> = table.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    // Which packages there are is the catalog's to know.
    let others = if ["stack", "packages"].contains(&table.name) { json!({ "type": "string" }) } else { false.into() };
    let mut object =
        json!({ "type": "object", "description": table.about, "properties": keys, "additionalProperties": others });
    if !required.is_empty() {
        object["required"] = required.into();
    }
    object
}

fn value(key: &KeyDoc) -> Value {
    let text = || json!({ "type": "string" });
    let list = || json!({ "type": "array", "items": text() });
    let mut value = match &key.shape {
        Shape::Text => text(),
        Shape::TextOrList => json!({ "anyOf": [text(), list()] }),
        Shape::List => list(),
        Shape::Switch => json!({ "type": "boolean" }),
        Shape::Choice(words) => json!({ "enum": words }),
    };
    value["description"] = key.description().into();
    value
}
