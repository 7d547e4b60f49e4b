//! As much of JSON Schema as the schemas of this project use; a keyword it does not know is an error.

use serde_json::Value;

/// Everything about a document that its schema does not allow.
pub fn errors(schema: &Value, document: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    check(schema, schema, document, "", &mut errors);
    errors
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
    if *schema == true {
        return;
    }
    for (keyword, says) in schema.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "$schema" | "title" | "description" | "$defs" | "properties" | "additionalProperties" => {}
            "$ref" => {
                let name = says.as_str().and_then(|name| name.strip_prefix("#/$defs/")).expect("a local reference");
                check(root, root["$defs"].get(name).expect(name), value, at, errors);
            }
            "type" => {
                let names: Vec<&str> = match says {
                    Value::String(name) => vec![name],
                    list => list.as_array().unwrap().iter().filter_map(Value::as_str).collect(),
                };
                if !names.iter().any(|name| is_of(name, value)) {
                    errors.push(format!("{at}: {value} is not {names:?}"));
                }
            }
            "const" if says == value => {}
            "enum" if says.as_array().unwrap().contains(value) => {}
            "const" | "enum" => errors.push(format!("{at}: {value} is not {says}")),
            "required" => {
                for name in says.as_array().unwrap().iter().filter_map(Value::as_str) {
                    if value.as_object().is_some_and(|object| !object.contains_key(name)) {
                        errors.push(format!("{at}: `{name}` is missing"));
                    }
                }
            }
            "items" => {
                for (position, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, says, item, &format!("{at}/{position}"), errors);
                }
            }
            "minItems" => {
                if value.as_array().is_some_and(|list| (list.len() as u64) < says.as_u64().unwrap()) {
                    errors.push(format!("{at}: too short"));
                }
            }
            "minimum" => {
                if value.as_i64().is_some_and(|number| number < says.as_i64().unwrap()) {
                    errors.push(format!("{at}: too small"));
                }
            }
            "anyOf" | "oneOf" => {
                let fits = |one: &&Value| {
                    let mut wrong = Vec::new();
                    check(root, one, value, at, &mut wrong);
                    wrong.is_empty()
                };
                let fitting = says.as_array().unwrap().iter().filter(fits).count();
                if fitting == 0 || (keyword == "oneOf" && fitting > 1) {
                    errors.push(format!("{at}: {value} fits {fitting} alternatives"));
                }
            }
            other => errors.push(format!("the schema uses `{other}`, which this test does not know")),
        }
    }
    for (name, item) in value.as_object().into_iter().flatten() {
        let at = format!("{at}/{name}");
        match (schema.get("properties").and_then(|known| known.get(name)), schema.get("additionalProperties")) {
            (Some(known), _) => check(root, known, item, &at, errors),
            (None, Some(Value::Bool(false))) => errors.push(format!("{at}: not allowed")),
            (None, Some(others)) => check(root, others, item, &at, errors),
            (None, None) => {}
        }
    }
}

fn is_of(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("`{other}` is no type"),
    }
}
