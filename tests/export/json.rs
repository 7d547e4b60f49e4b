//! `json`: the contract's shape.

use serde_json::{Value, json};

use crate::{locks, render, render_for};

#[test]
fn it_has_the_shape_of_the_lock_command() {
    let value: Value = serde_json::from_str(&render("json", &locks::container()).unwrap()).unwrap();
    assert_eq!(value["status"], "ok");
    assert_eq!(value["stack"], json!({ "torch": "2.5.1+cu124", "cuda": "12.4.1", "python": "3.11" }));
    assert_eq!(value["arch_list"], json!({ "torch": "9.0", "cmake": "90-real" }));
    let target = &value["targets"]["prod"];
    assert_eq!(
        target["gpus"],
        json!([{ "name": "NVIDIA H100 NVL", "compute_capability": "9.0", "coverage": "native" }])
    );
    assert_eq!(target["driver"], json!({ "minimum": "550.54.14", "mode": "native", "cuda": "12.4", "compat": null }));
    assert_eq!(target["image"], "nvidia/cuda:12.4.1-base-ubuntu22.04");
    assert!(target.get("stack").is_none(), "the common one holds");
}

#[test]
fn targets_with_stacks_of_their_own_keep_them() {
    let value: Value = serde_json::from_str(&render("json", &locks::mixed()).unwrap()).unwrap();
    assert_eq!(value["stack"], json!({ "python": "3.11" }));
    assert_eq!(value["targets"]["ci"]["stack"]["torch"], "2.5.1+cpu");
    assert_eq!(value["targets"]["ci"]["driver"], Value::Null);
}

#[test]
fn one_target_stands_alone() {
    let value: Value = serde_json::from_str(&render_for("json", &locks::mixed(), "ci").unwrap()).unwrap();
    assert_eq!(value["stack"]["torch"], "2.5.1+cpu");
    assert_eq!(value["targets"].as_object().unwrap().len(), 1);
    assert_eq!(value["wheels"].as_array().unwrap().len(), 1);
}

/// A wheel that several targets install stands in what is told of one of them.
#[test]
fn a_shared_wheel_is_each_targets() {
    let mut lock = locks::container();
    lock.target.insert("lab".into(), lock.target["prod"].clone());
    lock.wheel.iter_mut().for_each(|wheel| wheel.targets.insert(0, "lab".into()));
    for target in ["lab", "prod"] {
        let value: Value = serde_json::from_str(&render_for("json", &lock, target).unwrap()).unwrap();
        assert_eq!(value["wheels"].as_array().unwrap().len(), lock.wheel.len(), "{target}");
    }
}
