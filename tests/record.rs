//! The schema of a host's record is what src/host/record.rs says: names, kinds and descriptions of its fields.
//! `UPDATE_EXAMPLES=1 cargo test --test record` writes it anew.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

/// The whole schema, from the source.
fn schema(source: &str) -> Value {
    let mut kinds = Map::new();
    let mut record = Value::Null;
    for block in source.split("\n}").filter(|block| block.contains("#[derive(")) {
        let start = block.find("#[derive(").unwrap();
        let (head, body) = block[start..].split_once(" {\n").unwrap();
        let (attributes, declared) = head.rsplit_once("pub ").unwrap();
        let (what, name) = declared.split_once(' ').unwrap();
        let kind = match what {
            "enum" => json!({ "enum": words(body) }),
            _ => structure(body, attributes.contains("serde(default")),
        };
        match name {
            "Record" => record = kind,
            _ => drop(kinds.insert(kebab(name), kind)),
        }
    }
    let title = "A host as it was observed, or as somebody described it";
    let mut schema = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "title": title });
    let fields = schema.as_object_mut().unwrap();
    fields.extend(record.as_object().unwrap().clone());
    // Without it nobody could tell which record this is.
    fields.insert("required".to_string(), json!(["format"]));
    fields.insert("$defs".to_string(), kinds.into());
    schema
}

fn words(body: &str) -> Vec<String> {
    body.lines().filter_map(|line| Some(kebab(line.strip_prefix("    ")?.strip_suffix(',')?))).collect()
}

fn structure(body: &str, all_may_lack: bool) -> Value {
    let (mut fields, mut required) = (Map::new(), Vec::new());
    let (mut description, mut may_lack) = (Vec::new(), all_may_lack);
    for line in body.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            description.push(words.trim().replace(['[', ']'], ""));
        } else if line.starts_with("#[serde(default") {
            may_lack = true;
        } else if let Some((name, kind)) = line.strip_prefix("pub ").and_then(|rest| rest.split_once(": ")) {
            let mut field = kind_of(kind.trim_end_matches(','));
            field.insert("description".to_string(), description.join(" ").into());
            fields.insert(name.to_string(), field.into());
            if !may_lack {
                required.push(name.to_string());
            }
            (description, may_lack) = (Vec::new(), all_may_lack);
        }
    }
    match required.is_empty() {
        true => json!({ "type": "object", "properties": fields, "additionalProperties": false }),
        false => json!({ "type": "object", "properties": fields, "required": required, "additionalProperties": false }),
    }
}

fn kind_of(kind: &str) -> Map<String, Value> {
    let within = |outer: &str| kind.strip_prefix(outer)?.strip_suffix('>');
    let value = if let Some(inner) = within("Option<") {
        return kind_of(inner);
    } else if let Some(inner) = within("Vec<") {
        json!({ "type": "array", "items": kind_of(inner) })
    } else if let Some(inner) = within("BTreeMap<String, ") {
        json!({ "type": "object", "additionalProperties": kind_of(inner) })
    } else {
        match kind {
            "String" | "Version" | "Cc" => json!({ "type": "string" }),
            "u64" | "u32" => json!({ "type": "integer" }),
            "bool" => json!({ "type": "boolean" }),
            other => json!({ "$ref": format!("#/$defs/{}", kebab(other)) }),
        }
    };
    value.as_object().unwrap().clone()
}

/// `kernel-module` for `KernelModule`
fn kebab(name: &str) -> String {
    let mut out = String::new();
    for (at, c) in name.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[test]
fn the_schema_is_what_the_record_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let told = schema(&fs::read_to_string(root.join("src/host/record.rs")).unwrap());
    assert!(told["$defs"].as_object().unwrap().len() > 15 && told["properties"]["nvml"]["$ref"] == "#/$defs/nvml");
    let told = serde_json::to_string_pretty(&told).unwrap() + "\n";
    let file = root.join("src/report/schemas/host.json");
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        fs::write(file, told).unwrap();
    } else {
        let kept = fs::read_to_string(file).unwrap();
        assert!(kept == told, "UPDATE_EXAMPLES=1 cargo test --test record writes the schema anew");
    }
}
