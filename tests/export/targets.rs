//! Which target is meant, and when that has to be said.

use gpuenv::export::{ExportError, FORMATS, format};

use crate::{locks, render, render_for};

#[test]
fn where_the_results_differ_a_target_must_be_named() {
    let needed = Err(ExportError::TargetNeeded(vec!["ci".into(), "lab".into()]));
    for name in ["env", "requirements", "dockerfile"] {
        let mut lock = locks::mixed();
        lock.target.get_mut("lab").unwrap().image = Some("nvidia/cuda:12.4.1-devel-ubuntu22.04".into());
        assert_eq!(render(name, &lock), needed, "{name}");
        assert!(render_for(name, &lock, "lab").is_ok(), "{name}");
    }
}

#[test]
fn equal_results_need_no_target() {
    let mut lock = locks::container();
    let twin = lock.target["prod"].clone();
    lock.target.insert("stage".into(), twin);
    lock.wheel[0].targets.push("stage".into());
    // These name the target, or know no address.
    let others = ["kubernetes", "slurm", "pylock"];
    for format in FORMATS.iter().filter(|format| !others.contains(&format.name)) {
        assert!(render(format.name, &lock).is_ok(), "{}", format.name);
    }
}

#[test]
fn unknown_names_come_with_suggestions() {
    let error = render_for("env", &locks::container(), "prdo").unwrap_err().to_string();
    assert!(error.contains("did you mean `prod`?"), "{error}");
    let error = render_for("env", &locks::container(), "elsewhere").unwrap_err().to_string();
    assert!(error.contains("it has prod") && !error.contains("did you mean"), "{error}");
    let error = format("dockrfile").unwrap_err().to_string();
    assert!(error.contains("did you mean `dockerfile`?"), "{error}");
}

#[test]
fn every_export_is_the_same_text_each_time() {
    for format in FORMATS.iter().filter(|format| format.name != "pylock") {
        assert_eq!(render(format.name, &locks::container()), render(format.name, &locks::container()));
        assert!(render(format.name, &locks::container()).unwrap().ends_with('\n'));
    }
}
