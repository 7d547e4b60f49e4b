//! Tests of `page::form`.

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
