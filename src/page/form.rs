//! The form beside the text: its fields are read from the text, and a field that is changed changes the text and nothing
//! else in it.

use serde::Serialize;
use toml_edit::{DocumentMut, Item};

use crate::report::{Exit, Failure};
use crate::spec::{self, Runtime, Spec, tables};

use super::Answer;

/// The fields of a text.
#[derive(Debug, Serialize)]
struct Form {
    /// Whether the text can be read; if not, its fields are what could be.
    whole: bool,
    stack: Vec<Field>,
    build: bool,
    targets: Vec<Machine>,
    places: Vec<Place>,
}

/// Where a key's value stands, counted as scripts count.
#[derive(Debug, Serialize)]
struct Place {
    key: String,
    start: usize,
    end: usize,
}

/// A key and its value.
#[derive(Debug, Serialize)]
struct Field {
    key: String,
    value: String,
}

/// A target.
#[derive(Debug, Serialize)]
struct Machine {
    name: String,
    /// Whether the stack runs in a container there.
    container: bool,
    gpus: Vec<String>,
    fields: Vec<Field>,
}

/// The fields of a text, as JSON.
pub fn form(text: &str) -> String {
    let (spec, errors) = spec::parse_part(text);
    let stack = spec.stack.iter().map(|(name, written)| Field { key: name.clone(), value: written.text.clone() });
    let form = Form {
        whole: errors.is_empty(),
        stack: stack.collect(),
        build: spec.build.is_some(),
        targets: spec.targets.iter().map(|target| machine(&spec, target)).collect(),
        places: places(&spec, text),
    };
    serde_json::to_string(&form).unwrap_or_default()
}

fn machine(spec: &Spec, target: &spec::Target) -> Machine {
    let mut fields = Vec::new();
    for table in tables().iter().filter(|table| table.name == "target") {
        for key in &table.keys {
            let value = spec.text(&format!("target.{}.{}", target.name, key.name));
            fields.extend(value.map(|value| Field { key: key.name.to_string(), value }));
        }
    }
    Machine {
        name: target.name.clone(),
        container: target.runtime() == Runtime::Container,
        gpus: target.gpu.as_ref().map(|gpu| gpu.value.clone()).unwrap_or_default(),
        fields,
    }
}

fn places(spec: &Spec, text: &str) -> Vec<Place> {
    let units = |end: usize| text.get(..end).map_or(0, |before| before.encode_utf16().count());
    let mut places = Vec::new();
    for key in spec.keys() {
        if let Some(span) = spec.key_span(&key) {
            places.push(Place { key, start: units(span.start), end: units(span.end) });
        }
    }
    places
}

/// The text with a key set (`target.prod.driver` to `535`, a list as `["a", "b"]`) or removed.
pub fn change(text: &str, key: &str, value: Option<&str>) -> Answer {
    match spec::rewrite(text, &[(key.to_string(), value.map(str::to_string))]) {
        Ok(text) => Answer { exit: Exit::Yes as u8, document: String::new(), text: Some(text) },
        Err(error) => {
            // What is wrong with the value says more than that it cannot be written.
            let refused = spec::parse(text).ok().and_then(|spec| spec.with(key, value).err());
            let message = refused.unwrap_or_else(|| error.to_string());
            Answer::refused(&Failure::new(Exit::BadInput, "value", message))
        }
    }
}

/// The text with one more target, under a name that is free.
pub fn add_target(text: &str) -> String {
    let (spec, _) = spec::parse_part(text);
    let mut number = spec.targets.len() + 1;
    while spec.target(&format!("machine-{number}")).is_some() {
        number += 1;
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}\n[target.machine-{number}]\n")
}

/// The text without a target; as it was where that cannot be cut out.
pub fn remove_target(text: &str, name: &str) -> String {
    let Ok(mut tree) = text.parse::<DocumentMut>() else { return text.to_string() };
    let targets = tree.get_mut("target").and_then(Item::as_table_like_mut);
    match targets.and_then(|targets| targets.remove(name)) {
        Some(_) => tree.to_string(),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests;
