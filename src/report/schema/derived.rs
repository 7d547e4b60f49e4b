//! Schemas derived from the types that are serialised and from the keys of [`crate::spec`], and the test that what is
//! kept in docs/reference/schemas is what they say today.

use std::path::Path;
use std::{env, fs};

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::catalog::rows::FRAMEWORKS;
use crate::export::WRITTEN;
use crate::spec::{KeyDoc, Shape, TableDoc, tables};

/// What is printed: what is always there is required.
pub fn printed<T: JsonSchema>() -> Value {
    of_type::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// What is read: what may be left out is not required.
pub fn read<T: JsonSchema>() -> Value {
    of_type::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The documents that a command writes into files, too: each says there who wrote it.
const FILED: [&str; 6] = ["fleet", "fleet-host", "fleet-plan", "host", "lock", "matrix"];

/// A schema of this name, with what stands in files beside it.
pub fn filed(name: &str, mut schema: Value) -> Value {
    if !FILED.contains(&name) {
        return schema;
    }
    schema["properties"][WRITTEN] = json!({
        "type": "string",
        "description": "In a file that gpuenv wrote: by which command, and a digest of the rest.",
    });
    schema
}

fn of_type<T: JsonSchema>(settings: SchemaSettings) -> Value {
    settings.with_transform(Plain).into_generator().into_root_schema_for::<T>().to_value()
}

/// Leaves out what says nothing to other programs, and admits no field that is not listed.
#[derive(Debug, Clone)]
struct Plain;

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        schema.remove("format");
        schema.remove("default");
        if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".into(), false.into());
        }
    }
}

/// gpuenv.toml.
pub fn spec() -> Value {
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
        let about = take_description(key);
        *key = json!({ "anyOf": [{ "type": "string" }, own], "description": about });
    }
}

/// `[export]`: a path, a table with options of the format beside its own keys, or several.
fn export(mut table: Value) -> Value {
    let about = take_description(&mut table);
    table["additionalProperties"] = json!({ "type": ["string", "integer", "boolean"] });
    table["required"] = json!(["file"]);
    let list = json!({ "type": "array", "items": table });
    let one = json!({ "anyOf": [{ "type": "string" }, table, list] });
    json!({ "type": "object", "description": about, "additionalProperties": one })
}

/// A description that stands elsewhere then; a null is none.
fn take_description(schema: &mut Value) -> Option<Value> {
    schema.as_object_mut()?.remove("description")
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

#[test]
fn the_kept_schemas_are_current() {
    let mut stale = Vec::new();
    for one in super::ALL {
        let mut schema = super::derived(one.name).expect("every schema is derived from something");
        schema["title"] = format!("gpuenv {}", one.name).into();
        let text = format!("{schema:#}\n");
        assert!(!text.contains("\"description\": null"), "{}: a description is a text", one.name);
        if env::var_os("UPDATE_EXAMPLES").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/reference/schemas/{}.json", one.name));
            fs::write(&path, &text).expect("the kept schema can be written");
        }
        if one.text() != text {
            stale.push(one.name);
        }
    }
    let how = "UPDATE_EXAMPLES=1 cargo test --lib schema:: writes them anew, for the next build";
    assert!(stale.is_empty(), "{stale:?} are not what the types say: {how}");
    assert_eq!(super::derived("nobody"), None);
}
