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
mod tests {
    use super::*;

    const SPEC: &str = "# ours\n[stack]\ntorch = \"2.5\" # pinned\n\n[target.a]\ngpu = [\"A100\", \"H100\"]\n\
                        image = \"nvidia/cuda\"\n\n# old\n[target.b]\ngpu = \"L4\"\ndriver = \"535\"\n";

    fn read(text: &str) -> serde_json::Value {
        serde_json::from_str(&form(text)).unwrap()
    }

    #[test]
    fn the_fields_are_what_the_text_says() {
        let form = read(SPEC);
        assert_eq!(form["whole"], true);
        assert_eq!(form["stack"][0], serde_json::json!({ "key": "torch", "value": "2.5" }));
        assert_eq!(form["targets"][0]["gpus"], serde_json::json!(["A100", "H100"]));
        assert_eq!(form["targets"][0]["container"], true);
        let driver = serde_json::json!({ "key": "driver", "value": "535" });
        assert!(form["targets"][1]["fields"].as_array().unwrap().contains(&driver), "{form}");
        assert_eq!(read("[stack]\ntorch = 1\n")["whole"], false);
        let places = form["places"].as_array().unwrap();
        let driver = places.iter().find(|place| place["key"] == "target.b.driver").unwrap();
        assert_eq!(driver["end"].as_u64(), Some(SPEC.trim_end().len() as u64));
    }

    #[test]
    fn a_field_changes_its_value_and_nothing_else() {
        let text = change(SPEC, "target.b.driver", Some("550")).text.unwrap();
        assert_eq!(text, SPEC.replace("535", "550"));
        let text = change(SPEC, "target.a.gpu", Some("[\"A100\", \"L40S\"]")).text.unwrap();
        assert_eq!(text, SPEC.replace("H100", "L40S"));
        let refused = change(SPEC, "target.b.driver", Some("5x5"));
        assert!(refused.exit == 2 && refused.document.contains("5x5"), "{refused:?}");
    }

    #[test]
    fn machines_come_and_go() {
        let more = add_target(SPEC);
        assert_eq!(read(&more)["targets"][2]["name"], "machine-3");
        let less = remove_target(&more, "b");
        let names: Vec<_> = read(&less)["targets"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
        assert_eq!(names, ["a", "machine-3"]);
        assert!(less.starts_with("# ours\n[stack]\ntorch = \"2.5\" # pinned\n"), "{less}");
    }
}
