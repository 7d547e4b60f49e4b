//! The JSON Schemas (draft 2020-12) of every JSON document that gpuenv prints, and of gpuenv.toml itself: derived from
//! the types that are serialised, and from the keys of [`crate::spec`], and kept in docs/reference/schemas; the program
//! carries them packed.

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
    /// The schema itself, as `catalog/build.rs` packed it.
    #[serde(skip)]
    packed: &'static [u8],
}

impl Schema {
    /// The schema itself.
    pub fn text(&self) -> String {
        let bytes = miniz_oxide::inflate::decompress_to_vec(self.packed).unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// A row for each schema: its name, what it describes, and how it is derived.
macro_rules! schemas {
    ($($name:literal, $about:literal, $derive:expr;)+) => {
        /// Every schema, by name.
        pub const ALL: &[Schema] = &[$(Schema {
            name: $name,
            about: $about,
            packed: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".json.deflate")),
        }),+];

        /// The text of a schema as it is derived from the types today. What is printed is the kept text, which tests hold
        /// to this one: deriving it takes half a megabyte of program.
        pub fn derived(name: &str) -> Option<String> {
            let schema = match name {
                $($name => $derive(),)+
                _ => return None,
            };
            Some(text(name, schema))
        }
    };
}

schemas! {
    "catalog", "`catalog` without a command", printed::<json::Census>;
    "catalogs", "`catalog update`", printed::<json::Catalogs>;
    "checked", "`catalog check`, where nothing was found", printed::<json::Checked>;
    "conflict", "`lock` and `explain`, where there is no answer", printed::<json::NoAnswer>;
    "diagnose", "`diagnose`", printed::<json::Diagnosed>;
    "diff", "`diff`", printed::<json::Differences>;
    "error", "every command, where it failed, and `catalog check`, where something was found", printed::<json::Errors>;
    "explain", "`explain`, with or without a key", printed::<json::Explained>;
    "exports", "`export` without a format", printed::<json::Exports>;
    "fleet", "`fleet check`", printed::<json::FleetGroups>;
    "fleet-host", "a line of `fleet check --format ndjson`", printed::<json::FleetHost>;
    "fleet-plan", "`fleet plan`", printed::<json::FleetPlan>;
    "graph", "`explain --graph`", printed::<json::Graph>;
    "host", "`probe`: the record of a host", read::<Record>;
    "init", "`init`", printed::<json::Init>;
    "inspected", "`catalog inspect`", printed::<json::Inspected>;
    "list", "`catalog list`", printed::<json::Listed>;
    "lock", "`lock` and `export json`", printed::<json::Locked>;
    "matrix", "`matrix`", printed::<json::MatrixCells>;
    "rendered", "`export` of other formats, `catalog inspect --overlay`, `completions`, `man` and help", printed::<json::Rendered>;
    "schemas", "`schema` without a name", printed::<json::Schemas>;
    "search", "`catalog search`", printed::<json::Found>;
    "spec", "gpuenv.toml, read as JSON: for editors that complete and check it", spec;
    "stale", "`lock --check` and `export --check`, where they say no", printed::<json::Stale>;
    "topics", "`catalog show`, and `explain` of a rule, a warning, a check or a fact", printed::<json::Topics>;
    "undetermined", "`lock` and `explain`, where an answer depends on what nobody has read", printed::<json::Undetermined>;
    "verify", "`verify`", printed::<json::Verified>;
}

/// The schema of this name.
pub fn find(name: &str) -> Option<&'static Schema> {
    ALL.iter().find(|schema| schema.name == name)
}

fn text(name: &str, mut schema: Value) -> String {
    schema["title"] = format!("gpuenv {name}").into();
    format!("{schema:#}\n")
}

/// What is printed: what is always there is required.
fn printed<T: JsonSchema>() -> Value {
    of_type::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// What is read: what may be left out is not required.
fn read<T: JsonSchema>() -> Value {
    of_type::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

fn of_type<T: JsonSchema>(settings: SchemaSettings) -> Value {
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
